/* SPDX-License-Identifier: Apache-2.0 */
/** Compiling and linking: headers, several modules, libraries, and every way to be refused, each with its message. */
#include "support.h"
#include "tc_internal.h"

static void test_errors(void **state)
{
    (void)state;
    expect_failure("kernel void k(global int *a) { a[0] = b; }", "", -EBADMSG, "program.cl:1:39: error: use of undeclared");
    expect_failure("#include \"absent.h\"\n", "", -EBADMSG, "absent.h");
    expect_failure("void f(int x); kernel void k(global int *a) { f(a[0]); }", "", -EBADMSG, "undefined function 'f'");
}

/** Images are no part of the device: 1.x's front end knows them all the same. */
static void test_images(void **state)
{
    (void)state;
    static const char image[] = "kernel void f(read_only image2d_t i, global int *o) { o[0] = 1; }", none[] = "the device has no images";
    expect_failure(image, "", -EBADMSG, none);
    expect_failure(image, "-cl-std=CL3.0", -EBADMSG, "__opencl_c_images");
    expect_failure("kernel void f(sampler_t s, global int *o) { o[0] = 1; }", "", -EBADMSG, none);
    expect_failure("int f(image2d_t i) { return get_image_width(i); }", "", -EBADMSG, none);
    struct tc_blob object = object_of("typedef struct { int w; } image_t; kernel void f(image_t image, global int *image2d) { *image2d = image.w; }", "");
    free(object.data);
}

static void test_recursion(void **state)
{
    (void)state;
    expect_failure("int f(int x, global int *a); int g(int x, global int *a) { a[x] = f(x - 1, a); return a[1] * 3; }\n"
                   "int f(int x, global int *a) { return x > 0 ? g(x / 2, a) + g(x - 1, a) : a[2]; }\n"
                   "kernel void k(global int *a) { a[0] = f(a[0], a); }",
                   "", -EBADMSG, "is recursive");
}

static void test_empty(void **state)
{
    (void)state;
    struct tc_blob object = object_of("", "");
    struct tc_kernels kernels;
    assert_int_equal(tc_kernels_read(&object, &kernels), 0);
    assert_int_equal(kernels.n, 0);
    tc_kernels_free(&kernels);
    free(object.data);
}

static void test_headers(void **state)
{
    (void)state;
    const char *source = "#include \"one.h\"\n#include <deep/er/two.h>\nkernel void k(global int *a) { a[0] = ONE + TWO; }";
    const char *one = "#define ONE 1\n#include \"deep/er/two.h\"\n", *two = "#pragma once\n#define TWO 2\n";
    const struct tc_header headers[] = {{"one.h", one, strlen(one)}, {"deep/er/two.h", two, strlen(two)}};
    struct tc_blob module = {0};
    char *log = NULL;
    int result = tc_compile(source, strlen(source), "-Werror", headers, 2, &module, &log);
    if (result) {
        fail_msg("%d %s", result, log ? log : "");
    }
    free(module.data);
    free(log);
    module = (struct tc_blob){0};
    log = NULL;
    assert_int_equal(tc_compile(source, strlen(source), "", headers, 1, &module, &log), -EBADMSG);
    assert_non_null(strstr(log, "deep/er/two.h"));
    free(log);
    const struct tc_header outside = {"../x.h", one, strlen(one)};
    log = NULL;
    assert_int_equal(tc_compile(source, strlen(source), "", &outside, 1, &module, &log), -EINVAL);
    free(log);
}

/** Many headers: more than a descriptor each of a small table would take. */
static void test_many_headers(void **state)
{
    (void)state;
    enum { N = 200 };
    static char names[N][16], sources[N][32];
    static struct tc_header headers[N];
    static char program[N * 32 + 128];
    size_t at = 0;
    for (int i = 0; i < N; i++) {
        snprintf(names[i], sizeof names[i], "h%d.h", i);
        snprintf(sources[i], sizeof sources[i], "#define H%d %d\n", i, i);
        headers[i] = (struct tc_header){names[i], sources[i], strlen(sources[i])};
        at += (size_t)sprintf(program + at, "#include \"h%d.h\"\n", i);
    }
    strcpy(program + at, "#if H199 != 199\n#error\n#endif\nkernel void k(void) {}\n");
    struct tc_blob module = {0};
    char *log = NULL;
    assert_int_equal(tc_compile(program, strlen(program), "", headers, N, &module, &log), 0);
    free(module.data);
    free(log);
}

static void test_two_modules(void **state)
{
    (void)state;
    struct tc_blob modules[2] = {
        module_of("float twice(float x); kernel void k(global float *a) { a[0] = twice(a[1]); }", ""),
        module_of("float twice(float x) { return 2 * x; } kernel void other(void) {}", "")};
    struct tc_blob object = {0};
    struct tc_kernels kernels;
    char *log = NULL;
    assert_int_equal(tc_link(modules, 2, "", 0, &object, &log), 0);
    assert_int_equal(tc_kernels_read(&object, &kernels), 0);
    assert_int_equal(kernels.n, 2);
    tc_kernels_free(&kernels);
    free(object.data);
    object = (struct tc_blob){0};
    assert_int_equal(tc_link(modules, 1, "", 0, &object, &log), -EBADMSG);
    assert_non_null(strstr(log, "undefined function 'twice'"));
    free(log);
    log = NULL;
    const struct tc_blob twice[3] = {modules[0], modules[1], modules[1]};
    assert_int_equal(tc_link(twice, 3, "", 0, &object, &log), -EBADMSG);
    assert_non_null(strstr(log, "multiply defined"));
    free(log);
    free(modules[0].data);
    free(modules[1].data);
}

static void test_library(void **state)
{
    (void)state;
    struct tc_blob part = module_of("float half_of(float x) { return x / 2; }", "");
    struct tc_blob user = module_of("float half_of(float x); kernel void k(global float *a) { a[0] = half_of(a[1]); }", "");
    struct tc_blob library = {0}, object = {0};
    char *log = NULL;
    assert_int_equal(tc_link(&part, 1, "-create-library -enable-link-options", 1, &library, &log), 0);
    assert_int_equal(tc_kind(library.data, library.size), TC_LIBRARY);
    const struct tc_blob both[2] = {user, library};
    assert_int_equal(tc_link(both, 2, "", 0, &object, &log), 0);
    assert_int_equal(tc_kind(object.data, object.size), TC_OBJECT);
    const struct tc_blob wrong[2] = {user, object};
    struct tc_blob none = {0};
    assert_int_equal(tc_link(wrong, 2, "", 0, &none, &log), -EINVAL);
    free(log);
    free(part.data);
    free(user.data);
    free(library.data);
    free(object.data);
}

static void test_kinds(void **state)
{
    (void)state;
    struct tc_blob module = module_of("kernel void k(void) {}", "");
    struct tc_blob object = object_of("kernel void k(void) {}", "");
    assert_int_equal(tc_kind(module.data, module.size), TC_MODULE);
    assert_int_equal(tc_kind(object.data, object.size), TC_OBJECT);
    for (size_t n = 0; n < module.size; n += 97) {
        assert_int_equal(tc_kind(module.data, n), TC_UNKNOWN);
    }
    for (size_t n = 0; n < object.size; n += 31) {
        assert_int_equal(tc_kind(object.data, n), TC_UNKNOWN);
    }
    assert_int_equal(tc_kind(NULL, 0), TC_UNKNOWN);
    assert_int_equal(tc_kind("#!/bin/sh\n", 10), TC_UNKNOWN);
    free(module.data);
    free(object.data);
}

/** Whatever bit is wrong, it is noticed. */
static void test_seal(void **state)
{
    (void)state;
    struct tc_blob blobs[3] = {module_of("kernel void k(void) {}", ""), object_of("kernel void k(void) {}", ""), {0}};
    assert_int_equal(tc_link(&blobs[0], 1, "", 1, &blobs[2], NULL), 0);
    for (int i = 0; i < 3; i++) {
        uint8_t *bytes = blobs[i].data;
        const enum tc_kind kind = tc_kind(bytes, blobs[i].size);
        assert_int_not_equal(kind, TC_UNKNOWN);
        for (size_t at = 0; at < blobs[i].size; at += 1 + at / 50) {
            bytes[at] ^= (uint8_t)(1u << (at & 7));
            assert_int_equal(tc_kind(bytes, blobs[i].size), TC_UNKNOWN);
            bytes[at] ^= (uint8_t)(1u << (at & 7));
        }
        assert_int_equal(tc_kind(bytes, blobs[i].size), kind);
        free(bytes);
    }
}

/** Damage under a fitting seal may give any error, but only an error, or an image: never a crash of this process. */
static void test_damage(void **state)
{
    (void)state;
    struct tc_blob module = module_of("kernel void k(global int *a) { a[0] = a[1] * 3; }", "");
    struct tc_blob object = object_of("kernel void k(global int *a) { a[0] = a[1] * 3; }", "");
    unsigned seed = 12345;
    for (int i = 0; i < 24; i++) {
        struct tc_blob copy = {malloc(object.size > module.size ? object.size : module.size), 0}, out = {0};
        const struct tc_blob *from = i % 2 ? &object : &module;
        memcpy(copy.data, from->data, copy.size = tc_sealed_size(from->data, from->size));
        for (int k = 0; k < 8; k++) {
            seed = seed * 1664525u + 1013904223u;
            ((uint8_t *)copy.data)[(seed >> 8) % copy.size] ^= (uint8_t)(1u << (seed & 7));
        }
        assert_int_equal(tc_seal(&copy), 0);
        struct tc_image image = {0};
        char *log = NULL;
        if (i % 2) {
            if (!tc_load(&copy, 0x1000, &image, &log)) {
                tc_image_free(&image);
            }
        } else if (!tc_link(&copy, 1, "", 0, &out, &log)) {
            free(out.data);
        }
        free(log);
        free(copy.data);
    }
    free(module.data);
    free(object.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors), cmocka_unit_test(test_images),       cmocka_unit_test(test_recursion),    cmocka_unit_test(test_empty),
        cmocka_unit_test(test_headers),      cmocka_unit_test(test_many_headers), cmocka_unit_test(test_two_modules),
        cmocka_unit_test(test_library),      cmocka_unit_test(test_kinds),        cmocka_unit_test(test_seal),         cmocka_unit_test(test_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
