/* SPDX-License-Identifier: Apache-2.0 */
/** Source locations of code: lines with -g, functions without it. Line tables do not change the code. */
#include "support.h"

#define BASE 0x10000000u

static const char program[] = "float helper(global float *p, int i)\n"
                              "{\n"
                              "    p[i] = 2;\n"
                              "    return p[i + 1] / 3;\n"
                              "}\n"
                              "kernel void vecadd(global float *a, global const float *b, local float *t)\n"
                              "{\n"
                              "    int i = get_global_id(0);\n"
                              "    t[i & 7] = b[i];\n"
                              "    barrier(CLK_LOCAL_MEM_FENCE);\n"
                              "    a[i] = t[i & 3] + helper(a, i * 3);\n"
                              "}\n"
                              "#line 77 \"other.cl\"\n"
                              "ulong far(ulong a, ulong b) { return a / b; }\n"
                              "kernel void second(global ulong *a) { printf(\"%d\\n\", 3); a[0] = far(a[1], a[2]); }\n";

/** Returns the locations of all words of the image, one a line. */
static char *places(const struct tc_image *image)
{
    char *all = calloc(1, image->code_size / 4 * 256 + 1), *at = all;
    assert_non_null(all);
    for (uint32_t offset = 0; offset < image->code_size; offset += 4) {
        uint32_t word;
        char text[256];
        memcpy(&word, image->data + offset, sizeof word);
        if (word) {
            tc_locate(image, image->base + offset, text, sizeof text);
            at += sprintf(at, "%s\n", text);
        }
    }
    return all;
}

static void expect_places(const char *all, const char *const *wanted, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!strstr(all, wanted[i])) {
            fail_msg("no code is '%s' among:\n%s", wanted[i], all);
        }
    }
}

static void test_lines(void **state)
{
    (void)state;
    struct tc_image image = image_of(program, "-g", BASE);
    char *all = places(&image);
    static const char *const wanted[] = {
        "in helper at program.cl:3:10, called from vecadd at program.cl:11:23\n",
        "in helper at program.cl:4:", "in vecadd at program.cl:9:14\n", "in vecadd at program.cl:10:5\n",
        "in vecadd at program.cl:11:10\n", "in far at other.cl:77:", "in second at other.cl:78:",
        "in __udivdi3+0x", /* The run-time library has no lines. */
    };
    expect_places(all, wanted, sizeof wanted / sizeof *wanted);
    assert_null(strstr(all, "__entry"));
    assert_null(strstr(all, "<stdin>"));
    assert_null(strstr(all, "\n\n"));
    free(all);
    tc_image_free(&image);
}

static void test_symbols(void **state)
{
    (void)state;
    struct tc_image image = image_of(program, "", BASE);
    char *all = places(&image), text[64];
    static const char *const wanted[] = {"in vecadd+0x0\n", "in vecadd+0x4\n", "in second+0x0\n", "in __udivdi3+0x0\n"};
    expect_places(all, wanted, sizeof wanted / sizeof *wanted);
    assert_null(strstr(all, ".cl"));
    assert_null(strstr(all, "\n\n"));
    const uint32_t elsewhere[] = {0, BASE - 4, BASE + image.code_size - 4, BASE + image.code_size, 0xfffffffc};
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++) {
        tc_locate(&image, elsewhere[i], text, sizeof text);
        assert_string_equal(text, "");
    }
    tc_locate(&image, image.kernels.kernels[0].entry, text, 9); /* Text that does not fit is cut. */
    assert_string_equal(text, "in vecad");
    free(all);
    tc_image_free(&image);
}

static struct tc_image linked(const struct tc_blob *modules, size_t n)
{
    struct tc_blob object = {0};
    struct tc_image image = {0};
    char *log = NULL;
    if (tc_link(modules, n, "", 0, &object, &log) || tc_load(&object, BASE, 16, &image, &log)) {
        fail_msg("%s", log ? log : "no log");
    }
    free(log);
    free(object.data);
    return image;
}

/** Parts compiled with and without -g, a library, a header, and a kernel that calls a kernel. */
static void test_parts(void **state)
{
    (void)state;
    static const char part[] = "int plain(int x) { return x * 7; }",
        tail[] = "int\ntail(global int *a, int x)\n{ a[x] = 5; return a[3]; }";
    static const char user[] = "#include \"some/put.h\"\nint plain(int x); int tail(global int *a, int x);\n"
                               "kernel void inner(global int *a) { a[1] = plain(a[2]); }\n"
                               "kernel void outer(global int *a) {\n    inner(a);\n    put(a, tail(a, 4)); }\n";
    static const char put[] = "\nvoid put(global int *a, int v)\n{\n    a[7] = v;\n}\n";
    const struct tc_header header = {"some/put.h", put, strlen(put)};
    struct tc_blob modules[3] = {module_of(part, ""), {0}, {0}}, library = module_of(tail, "-g");
    assert_int_equal(tc_link(&library, 1, "-create-library", 1, &modules[1], NULL), 0);
    assert_int_equal(tc_compile(user, strlen(user), "-g", &header, 1, &modules[2], NULL), 0);
    struct tc_image image = linked(modules, 3);
    char *all = places(&image);
    static const char *const wanted[] = {
        "in put at some/put.h:4:10, called from outer at program.cl:6:5\n", "in inner at program.cl:3:",
        "in inner at program.cl:3:41, called from outer at program.cl:5:5\n",
        "in tail at program.cl:3:8, called from outer at program.cl:6:12\n",
    };
    expect_places(all, wanted, sizeof wanted / sizeof *wanted);
    free(all);
    tc_image_free(&image);
    for (int i = 0; i < 3; i++) {
        free(modules[i].data);
    }
    free(library.data);
}

/** A program binary contains its line table. A damaged one does no harm. */
static void test_damaged(void **state)
{
    (void)state;
    struct tc_image image = image_of(program, "-g", BASE);
    uint8_t *const whole = malloc(image.linked.size);
    uint32_t seed = 1;
    char text[256];
    assert_non_null(whole);
    memcpy(whole, image.linked.data, image.linked.size);
    for (int round = 0; round < 60; round++) {
        for (int i = 0; i < 40; i++) {
            seed = seed * 1664525u + 1013904223u;
            ((uint8_t *)image.linked.data)[seed % image.linked.size] ^= (uint8_t)(1u << (seed >> 29));
        }
        tc_locate(&image, image.kernels.kernels[0].entry + 16, text, sizeof text);
        assert_true(strlen(text) < sizeof text);
        memcpy(image.linked.data, whole, image.linked.size);
    }
    free(whole);
    tc_image_free(&image);
}

static void expect_same_code(const char *source, const char *options)
{
    char with[128];
    snprintf(with, sizeof with, "%s -g", options);
    struct tc_image a = image_of(source, options, BASE), b = image_of(source, with, BASE);
    assert_int_equal(a.size, b.size);
    assert_int_equal(a.code_size, b.code_size);
    assert_memory_equal(a.data, b.data, a.size);
    for (size_t i = 0; i < a.kernels.n; i++) {
        assert_int_equal(a.kernels.kernels[i].entry, b.kernels.kernels[i].entry);
        assert_int_equal(a.kernels.kernels[i].stack, b.kernels.kernels[i].stack);
    }
    tc_image_free(&a);
    tc_image_free(&b);
}

static void test_lines_change_no_code(void **state)
{
    (void)state;
    static const char busy[] =
        "kernel void k(global float *x, int n) { float t[8]; for (int i = 0; i < n; i++) "
        "t[i & 7] = sin(x[i]) * cos(x[i + 1]);\n"
        "    for (int i = 0; i < n; i++) x[i] = pow(t[i & 7], x[i + n]) + exp(x[i]); barrier(CLK_GLOBAL_MEM_FENCE);\n"
        "    switch (n) { case 1: x[3] = 1; break; case 2: x[4] += x[1]; break; default: "
        "for (int i = 0; i < 5; i++) x[i] *= 2; } }\n";
    expect_same_code(program, "");
    expect_same_code(program, "-cl-opt-disable");
    expect_same_code(busy, "");
    expect_same_code(busy, "-cl-fast-relaxed-math -cl-std=CL3.0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines), cmocka_unit_test(test_symbols), cmocka_unit_test(test_parts),
        cmocka_unit_test(test_damaged), cmocka_unit_test(test_lines_change_no_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
