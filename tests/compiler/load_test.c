/* SPDX-License-Identifier: Apache-2.0 */
/** Images: their layout, relocations at several addresses, entries, and the order of code. */
#include "support.h"

static uint32_t word(const struct tc_image *image, uint32_t address)
{
    uint32_t w;
    assert_true(address >= image->base && address - image->base + 4 <= image->size);
    memcpy(&w, image->data + (address - image->base), 4);
    return w;
}

static const char program[] =
    "constant int table[4] = {11, 22, 33, 44}; global int counter = 5; constant int *global where = &table[2];\n"
    "kernel void a(global int *o) { o[0] = table[o[1] & 3] + counter++; }\n"
    "kernel void b(global ulong *o) { o[0] = o[1] / o[2]; }\n"
    "kernel void c(global int *o) { o[0] = *where; if (o[5]) where = 0; switch (o[1]) { "
    "case 0: o[2] = 3; break; case 1: o[3] = 5; break;\n"
    "    case 2: o[4] = 9; break; case 3: o[1] = 7; break; case 4: o[9] = 11; break; case 5: o[8] = 13; } }\n";

static void check_image(uint32_t base)
{
    struct tc_image image = image_of(program, "-cl-std=CL3.0", base);
    assert_int_equal(image.base, base);
    assert_true(image.code_size % 4096 == 0 && image.code_size > 0 && image.code_size <= image.size);
    assert_int_equal(image.kernels.n, 3);
    int found = 0;
    for (uint32_t at = image.code_size; at + 16 <= image.size; at += 4) {
        if (word(&image, base + at) == 11 && word(&image, base + at + 12) == 44) {
            /* A relocated pointer to the variable's third element is somewhere in the data. */
            for (uint32_t p = image.code_size; p + 4 <= image.size; p += 4) {
                found += word(&image, base + p) == base + at + 8;
            }
        }
    }
    assert_int_equal(found, 1);
    for (size_t i = 0; i < image.kernels.n; i++) {
        uint32_t entry = image.kernels.kernels[i].entry;
        assert_true(entry % 4 == 0 && entry >= base && entry < base + image.code_size);
        assert_int_equal(word(&image, entry) & 3, 3);
        for (size_t k = 0; k < i; k++) {
            assert_true(entry != image.kernels.kernels[k].entry);
        }
    }
    /* Zero words follow the code, which are illegal instructions. */
    assert_int_equal(word(&image, base + image.code_size - 4), 0);
    tc_image_free(&image);
}

static void test_bases(void **state)
{
    (void)state;
    check_image(0x1000);
    check_image(0x10000000);
    check_image(0x7ffff000);
    check_image(0xd0000000);
}

/** The same object loaded at another address differs only in relocated data: this code is position-independent. */
static void test_same_code(void **state)
{
    (void)state;
    struct tc_image a = image_of("kernel void k(global float *x) { x[0] = sin(x[1]); }", "", 0x10000000);
    struct tc_image b = image_of("kernel void k(global float *x) { x[0] = sin(x[1]); }", "", 0x40000000);
    assert_int_equal(a.size, b.size);
    assert_int_equal(a.code_size, b.code_size);
    assert_memory_equal(a.data, b.data, a.code_size);
    assert_int_equal(b.kernels.kernels[0].entry - a.kernels.kernels[0].entry, 0x30000000);
    tc_image_free(&a);
    tc_image_free(&b);
}

/** The run-time library lies below the kernels that call it. */
static void test_order(void **state)
{
    (void)state;
    struct tc_image image = image_of("kernel void k(global ulong *x) { x[0] = x[1] / x[2]; }", "", 0x1000);
    assert_true(image.kernels.kernels[0].entry > 0x1000 + 64);
    tc_image_free(&image);
}

static void test_large(void **state)
{
    (void)state;
    enum { LINES = 3000 };
    static char source[LINES * 40 + 256];
    size_t at = (size_t)sprintf(source, "kernel void k(global float *x) { float y = x[0];\n");
    for (int i = 0; i < LINES; i++) {
        at += (size_t)sprintf(source + at, "y = y * x[%d] + x[%d];\n", i * 7 % 5000, i);
    }
    sprintf(source + at, "x[0] = y; }");
    struct tc_image image = image_of(source, "", 0x1000);
    assert_true(image.code_size > LINES * 8);
    tc_image_free(&image);
}

/** An entry allocates its frame and saves no callee-saved register, since it has no caller. */
static void test_entry_saves_nothing(void **state)
{
    (void)state;
    struct tc_image image = image_of(
        "kernel void k(global float *x, int n) { float t[8]; for (int i = 0; i < n; i++) "
        "t[i & 7] = sin(x[i]) * cos(x[i + 1]);\n"
        "    for (int i = 0; i < n; i++) x[i] = pow(t[i & 7], x[i + n]) + exp(x[i]); }", "", 0x1000);
    uint32_t entry = image.kernels.kernels[0].entry;
    assert_int_equal(word(&image, entry) & 0xfffff, 0x10113); /* addi sp, sp */
    assert_int_not_equal(word(&image, entry + 4) & 0xff07f, 0x12023); /* sw to sp */
    assert_int_equal(word(&image, entry - 4), 0); /* The removed stores were here. */
    tc_image_free(&image);
}

/** Each entry begins at a line of 64 bytes, whatever the size of those before it. */
static void test_entries_begin_at_lines(void **state)
{
    (void)state;
    struct tc_image image = image_of("kernel void a(global int *x) { x[0] = 1; }"
                                     "kernel void b(global int *x) { x[1] = 2; x[2] = 3; }"
                                     "kernel void c(global int *x, int n) { x[n] = n * n; }"
                                     "kernel void d(global int *x) { x[get_local_id(0)] = 5; }", "", 0x1000);
    assert_int_equal(image.kernels.n, 4);
    for (size_t k = 0; k < image.kernels.n; k++) {
        assert_int_equal(image.kernels.kernels[k].entry % 64, 0);
    }
    tc_image_free(&image);
}

/** A small function that is called twice is inlined, in the kernel's last block too. */
static void test_small_functions_are_inlined(void **state)
{
    (void)state;
    struct tc_image image = image_of("float poly(float x) { "
                                     "return ((((x * 3 + 4) * x - 7) * x + x / 3) * x - 2) * x + 9 / (x + 1); }\n"
                                     "kernel void k(global float *x) { x[0] = poly(x[1]); x[3] = poly(x[4]); }",
                                     "", 0x1000);
    for (uint32_t at = 0; at < image.code_size; at += 4) {
        assert_int_not_equal(word(&image, 0x1000 + at) & 0xfff, 0x0e7); /* jalr ra */
    }
    tc_image_free(&image);
}

/** Variables without an initial value take device memory, 512 MiB here, and no host memory. */
static void test_zeroed_variables(void **state)
{
    (void)state;
    struct tc_image image = image_of("global uchar store[1u << 29]; kernel void k(global uchar *o, uint i) { o[0] = "
                                     "store[i]++; }", "-cl-std=CL3.0", 0x1000);
    assert_int_equal(image.size, image.code_size + image.constant_size + (1u << 29));
    assert_int_equal(image.filled, image.code_size + image.constant_size);
    tc_image_free(&image);
    image = image_of("global int store[64]; global int value = 7; kernel void k(global int *o, uint i) { o[0] = "
                     "store[i]++ + value++; }", "-cl-std=CL3.0", 0x1000);
    assert_int_equal(image.filled, image.size);
    tc_image_free(&image);
}

static void test_errors(void **state)
{
    (void)state;
    struct tc_blob object = object_of("kernel void k(void) {}", ""), module = module_of("kernel void k(void) {}", "");
    struct tc_image image;
    char *log = NULL;
    assert_int_equal(tc_load(&object, 0x1010, 16, &image, &log), -EINVAL);
    assert_non_null(log);
    free(log);
    assert_int_equal(tc_load(&module, 0x1000, 16, &image, NULL), -EINVAL);
    free(object.data);
    free(module.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bases), cmocka_unit_test(test_same_code), cmocka_unit_test(test_order),
        cmocka_unit_test(test_large), cmocka_unit_test(test_entry_saves_nothing), cmocka_unit_test(test_errors),
        cmocka_unit_test(test_entries_begin_at_lines), cmocka_unit_test(test_small_functions_are_inlined),
        cmocka_unit_test(test_zeroed_variables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
