/* SPDX-License-Identifier: Apache-2.0 */
/** Compiling and linking: headers, several modules, libraries, and all kinds of refusal, each with its message. */
#include "support.h"
#include "tc_internal.h"

#include <sys/stat.h>
#include <unistd.h>

static void test_errors(void **state)
{
    (void)state;
    expect_failure("kernel void k(global int *a) { a[0] = b; }", "", -EBADMSG,
                   "program.cl:1:39: error: use of undeclared");
    expect_failure("#include \"absent.h\"\n", "", -EBADMSG, "absent.h");
    expect_failure("void f(int x); kernel void k(global int *a) { f(a[0]); }", "", -EBADMSG, "undefined function 'f'");
}

/** Images are read-only unless a kernel says something else. */
static void test_images(void **state)
{
    (void)state;
    free(object_of("#pragma OPENCL EXTENSION cl_khr_3d_image_writes : enable\n"
                   "kernel void f(image3d_t i, write_only image3d_t o, read_only image2d_depth_t d) {\n"
                   "    write_imagef(o, (int4)(0), read_imagef(i, (int4)(1)) + read_imagef(d, (int2)(2))); }",
                   "").data);
    free(object_of("kernel void f(read_write image2d_array_t i, write_only image2d_array_depth_t d) {\n"
                   "    write_imagei(i, (int4)(0), read_imagei(i, (int4)(1))); write_imagef(d, (int4)(0), 1.0f); }",
                   "-cl-std=CL3.0").data);
    free(object_of("int f(image2d_t i) { return get_image_width(i); }\n"
                   "kernel void k(image2d_t i, write_only image2d_t o, sampler_t s, global int *a) {\n"
                   "    a[0] = f(i) + read_imagei(i, s, (float2)(a[1])).x; write_imagei(o, (int2)(a[2]), 3); }",
                   "").data);
    expect_failure("kernel void f(image2d_t i) { write_imagef(i, (int2)(0), (float4)(0)); }", "", -EBADMSG,
                   "write_imagef");
    static const char samplers[] =
        "constant sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;\n"
        "const sampler_t unused = CLK_FILTER_LINEAR;\n"
        "int three(sampler_t q, int a) { return 3 + a; }\n"
        "kernel void f(global int *a) { const sampler_t t = CLK_FILTER_LINEAR; a[0] = three(s, three(t, a[1])); }\n";
    free(object_of(samplers, "").data);
    free(object_of(samplers, "-cl-std=CL1.1 -cl-opt-disable").data);
    struct tc_blob object = object_of("typedef struct { int w; } image_t; "
                                      "kernel void f(image_t image, global int *image2d) { *image2d = image.w; }", "");
    free(object.data);
}

/** The front end of OpenCL C 2.0 knows pipes and kernels that enqueue kernels, which the device lacks. */
static void test_absent_of_2(void **state)
{
    (void)state;
    static const char std[] = "-cl-std=CL2.0";
    expect_failure("kernel void f(read_only pipe int p, global int *o) { int x; if (!read_pipe(p, &x)) o[0] = x; }",
                   std, -EBADMSG, "the device has no pipes");
    expect_failure("kernel void f(global int *o) { enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT,\n"
                   "ndrange_1D(8), ^{ o[0] = 1; }); }", std, -EBADMSG, "the device has no enqueue_kernel");
    free(object_of("kernel void f(read_write image2d_t i, global int *o) { o[0] = read_imagei(i, (int2)(0)).x; }",
                   std).data);
    free(object_of("int f(int *p) { return *p; } global int g = 3;\n"
                   "kernel void k(global int *a) { int x = 1; a[0] = f(a + 1) + f(&x) + g + work_group_any(a[2]); }",
                   std).data);
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

#define HEADER(name, text) {name, text, sizeof(text) - 1}

static void test_headers(void **state)
{
    (void)state;
    const char *source = "#include \"one.h\"\n#include <deep/er/two.h>\n"
                         "kernel void k(global int *a) { a[0] = ONE + TWO; }";
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
    static const char *const bad[] = {"", ".", "a/..", "a/.", "a/", "../../../../../../../../../x.h", "/", NULL};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const struct tc_header none = {bad[i], one, strlen(one)};
        log = NULL;
        assert_int_equal(tc_compile(source, strlen(source), "", &none, 1, &module, &log), -EINVAL);
        assert_non_null(strstr(log, "cannot name a header"));
        free(log);
    }
    const struct tc_header wrong = HEADER("../w.h", "#error oh\n");
    log = NULL;
    assert_int_equal(tc_compile("#include <../w.h>\n", 18, "", &wrong, 1, &module, &log), -EBADMSG);
    /* the message names the header as the program does, without the compiler's own folders before it */
    assert_null(strstr(log, "tern-headers/-/-/-/-/-/-/-/-"));
    free(log);
}

/** Returns the number in the name of the program's one kernel, or a negative error. */
static int number_of(const char *source, const char *options, const struct tc_header *headers, size_t n)
{
    struct tc_blob module = {0}, object = {0};
    struct tc_kernels kernels;
    char *log = NULL;
    int result = tc_compile(source, strlen(source), options, headers, n, &module, &log);
    if (result) {
        print_message("%s %s: %s", source, options, log ? log : "");
    } else {
        assert_int_equal(tc_link(&module, 1, "", 0, &object, NULL), 0);
        assert_int_equal(tc_kernels_read(&object, &kernels), 0);
        result = kernels.n == 1 ? atoi(kernels.kernels[0].name + 1) : -1000;
        tc_kernels_free(&kernels);
    }
    free(log);
    free(module.data);
    free(object.data);
    return result;
}

static void write_file(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

/** Folders and headers in every relative form, from the current directory of the process. */
static void test_relative_names(void **state)
{
    (void)state;
    char directory[4096], absolute[4200];
    snprintf(directory, sizeof directory, "%s/relative.XXXXXX",
             getenv("TERN_TEST_DIR") ? getenv("TERN_TEST_DIR") : "/tmp");
    assert_non_null(mkdtemp(directory));
    assert_int_equal(chdir(directory), 0);
    assert_true(!mkdir("sub", 0700) && !mkdir("sub/deep er", 0700));
    write_file("h.h", "kernel void k1(void) {}\n");
    write_file("sub/h.h", "kernel void k2(void) {}\n");
    write_file("sub/deep er/h.h", "kernel void k3(void) {}\n");
    write_file("sub/up.h", "#include \"../h.h\"\n");
    write_file("sub/beside.h", "#include \"./deep er/h.h\"\n");
    snprintf(absolute, sizeof absolute, "-I %s/sub", directory);
    const struct {
        const char *source, *options;
        int number;
    } cases[] = {
        {"#include \"h.h\"", "", 1},
        {"#include \"./h.h\"", "", 1},
        {"#include \"sub/h.h\"", "", 2},
        {"#include \"sub/../h.h\"", "", 1},
        {"#include <h.h>", "-I .", 1},
        {"#include <h.h>", "-I.", 1},
        {"#include <h.h>", "-I ./", 1},
        {"#include <h.h>", "-I sub/..", 1},
        {"#include <h.h>", "-I ./sub/../sub/.", 2},
        {"#include <./h.h>", "-I sub", 2},
        {"#include <./h.h>", absolute, 2},
        {"#include <../h.h>", "-I sub", 1},
        {"#include <deep er/h.h>", "-Isub", 3},
        {"#include <h.h>", "-I \"sub/deep er\"", 3},
        {"#include <h.h>", "\"-Isub/deep er\"", 3},
        {"#include <h.h>", "-I sub -I .", 2},
        {"#include <h.h>", "-I . -I sub", 1},
        {"#include <up.h>", "-I sub", 1},
        {"#include <beside.h>", "-I sub", 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int got = number_of(cases[i].source, cases[i].options, NULL, 0);
        if (got != cases[i].number) {
            fail_msg("%s with %s gives %d, not %d", cases[i].source, cases[i].options, got, cases[i].number);
        }
    }
    assert_int_equal(chdir("/"), 0);
    char command[4200];
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    assert_int_equal(system(command), 0);
}

/** A program finds no header of the host in any language version, unless its folder is named. */
static void test_host_headers(void **state)
{
    (void)state;
    static const char *const names[] = {"stdio.h", "stdlib.h", "string.h", "math.h", "unistd.h", "features.h",
                                        "sys/types.h", "CL/cl.h", "linux/types.h"};
    static const char *const options[] = {"", "-cl-std=CL3.0"};
    char source[256], message[256], option[4200];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        for (size_t o = 0; o < sizeof options / sizeof *options; o++) {
            snprintf(source, sizeof source, "#include <%s>\n", names[i]);
            snprintf(message, sizeof message, "program.cl:1:10: fatal error: '%s' file not found", names[i]);
            expect_failure(source, options[o], -EBADMSG, message);
            snprintf(source, sizeof source, "#if __has_include(<%s>)\n#error\n#endif\nkernel void k5(void) {}\n",
                     names[i]);
            assert_int_equal(number_of(source, options[o], NULL, 0), 5);
        }
    }
    char directory[4096];
    snprintf(directory, sizeof directory, "%s/host.XXXXXX",
             getenv("TERN_TEST_DIR") ? getenv("TERN_TEST_DIR") : "/tmp");
    assert_non_null(mkdtemp(directory));
    assert_int_equal(chdir(directory), 0);
    write_file("stdio.h", "kernel void k3(void) {}\n");
    snprintf(option, sizeof option, "-I %s", directory);
    assert_int_equal(number_of("#include <stdio.h>\n", option, NULL, 0), 3);
    assert_int_equal(chdir("/"), 0);
    snprintf(option, sizeof option, "rm -rf '%.4000s'", directory);
    assert_int_equal(system(option), 0);
}

/** Headers that the caller of tc_compile passes: they may lie in folders and include each other, and they hide files of
 * the same name. Of two with one name the last is used. */
static void test_given_names(void **state)
{
    (void)state;
    char directory[4096], options[4200];
    snprintf(directory, sizeof directory, "%s/given.XXXXXX",
             getenv("TERN_TEST_DIR") ? getenv("TERN_TEST_DIR") : "/tmp");
    assert_non_null(mkdtemp(directory));
    assert_int_equal(chdir(directory), 0);
    assert_int_equal(mkdir("a", 0700), 0);
    write_file("h.h", "kernel void k9(void) {}\n");
    write_file("a/b.h", "kernel void k8(void) {}\n");
    write_file("only.h", "kernel void k20(void) {}\n");
    write_file("a/only2.h", "kernel void k21(void) {}\n");
    snprintf(options, sizeof options, "-I %s -I a", directory);
    static const struct tc_header headers[] = {
        HEADER("h.h", "kernel void k1(void) {}\n"),          HEADER("a/b.h", "#include \"c.h\"\n"),
        HEADER("a/c.h", "kernel void k2(void) {}\n"),        HEADER("a/up.h", "#include \"../h.h\"\n"),
        HEADER("twice.h", "kernel void k3(void) {}\n"),      HEADER("twice.h", "kernel void k4(void) {}\n"),
        HEADER("./dot.h", "kernel void k5(void) {}\n"),      HEADER("a/x/../y.h", "kernel void k6(void) {}\n"),
        HEADER("a//slashes.h", "kernel void k7(void) {}\n"), HEADER("../outer.h", "kernel void k10(void) {}\n"),
        HEADER("../../i/far.h", "#include \"../../x/y/h.h\"\n"),
        HEADER("../x/y/h.h", "kernel void k99(void) {}\n"),  HEADER("../../x/y/h.h", "kernel void k11(void) {}\n"),
        HEADER("/tern/no/such.h", "kernel void k12(void) {}\n"),
    };
    static const struct {
        const char *source;
        int number;
    } cases[] = {
        {"#include \"h.h\"", 1},        {"#include <h.h>", 1},          {"#include \"./h.h\"", 1},
        {"#include \"a/b.h\"", 2},      {"#include <a/b.h>", 2},        {"#include \"a/../h.h\"", 1},
        {"#include \"a/up.h\"", 1},     {"#include \"twice.h\"", 4},  {"#include \"dot.h\"", 5},
        {"#include \"./dot.h\"", 5},    {"#include \"a/y.h\"", 6},    {"#include \"a/x/../y.h\"", 6},
        {"#include \"../outer.h\"", 10}, {"#include <../outer.h>", 10}, {"#include \"../../i/far.h\"", 11},
        {"#include \"/tern/no/such.h\"", 12}, {"#include \"only.h\"", 20}, {"#include <only.h>", 20},
        {"#include <only2.h>", 21},
        {"#include \"a/slashes.h\"", 7}, {"#include \"a//slashes.h\"", 7},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int got = number_of(cases[i].source, options, headers, sizeof headers / sizeof *headers);
        if (got != cases[i].number) {
            fail_msg("%s gives %d, not %d", cases[i].source, got, cases[i].number);
        }
    }
    assert_int_equal(chdir("/"), 0);
    char command[4200];
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    assert_int_equal(system(command), 0);
}

/** Headers do not take a file descriptor each: 200 of them compile. */
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
    struct tc_blob user = module_of("float half_of(float x); kernel void k(global float *a) { a[0] = half_of(a[1]); }",
                                    "");
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

/** The seal, a SHA-256 of a module, object or library, detects a flipped bit anywhere. */
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

/** Damaged data with a valid seal gives an error or an image, and never crashes this process. */
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
            if (!tc_load(&copy, 0x1000, 16, &image, &log)) {
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
        cmocka_unit_test(test_errors), cmocka_unit_test(test_images), cmocka_unit_test(test_recursion),
        cmocka_unit_test(test_absent_of_2),
        cmocka_unit_test(test_empty), cmocka_unit_test(test_headers), cmocka_unit_test(test_relative_names),
        cmocka_unit_test(test_host_headers),
        cmocka_unit_test(test_given_names), cmocka_unit_test(test_many_headers), cmocka_unit_test(test_two_modules),
        cmocka_unit_test(test_library), cmocka_unit_test(test_kinds), cmocka_unit_test(test_seal),
        cmocka_unit_test(test_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
