/* SPDX-License-Identifier: Apache-2.0 */
/** printf: a kernel's records, compared with the expected text, and full and damaged buffers. */
#include "support.h"

#include "comma.h"

#include <math.h>

/* An image of strings at 0x1000, and a buffer of records. */
struct rig {
    struct tc_image image;
    uint8_t strings[1024];
    uint32_t n_strings;
    uint32_t buffer[256];
    uint32_t words;
    char text[4096];
    size_t length;
};

static void emit(void *user, const char *text, size_t length)
{
    struct rig *r = user;
    assert_true(r->length + length < sizeof r->text);
    memcpy(r->text + r->length, text, length);
    r->length += length;
    r->text[r->length] = '\0';
}

static uint32_t string(struct rig *r, const char *s)
{
    uint32_t address = 0x1000 + r->n_strings;
    memcpy(r->strings + r->n_strings, s, strlen(s) + 1);
    r->n_strings += (uint32_t)strlen(s) + 1;
    return address;
}

static void record(struct rig *r, const char *format, const char *layout, const void *data, size_t size)
{
    uint32_t *w = r->buffer + 1 + r->words;
    w[0] = 3 + (uint32_t)(size + 3) / 4;
    w[1] = string(r, format);
    w[2] = string(r, layout);
    memcpy(w + 3, data, size);
    r->words += w[0];
    r->buffer[0] = r->words * 4;
}

static const char *run(struct rig *r)
{
    r->image = (struct tc_image){.base = 0x1000, .size = 2 * sizeof r->strings, .filled = sizeof r->strings,
                                 .data = r->strings};
    r->length = 0;
    r->text[0] = '\0';
    assert_int_equal(tc_printf_format(&r->image, r->buffer, sizeof r->buffer, emit, r), 0);
    return r->text;
}

#define EXPECT(expected, format, layout, type, ...)                         \
    do {                                                                    \
        struct rig rig_ = {0};                                              \
        const type data_[] = {__VA_ARGS__};                                 \
        record(&rig_, format, layout, data_, sizeof data_);                 \
        assert_string_equal(run(&rig_), expected);                          \
    } while (0)

static void test_integers(void **state)
{
    (void)state;
    EXPECT("-5", "%d", "i4a", int32_t, -5);
    EXPECT("4294967291", "%u", "i4a", int32_t, -5);
    EXPECT("[   42|42   |00042|+42| 42]", "[%5d|%-5d|%05d|%+d|% d]", "i4ai4ai4ai4ai4a", int32_t, 42, 42, 42, 42, 42);
    EXPECT("ff FF 0xff 10 010", "%x %X %#x %o %#o", "i4ai4ai4ai4ai4a", int32_t, 255, 255, 255, 8, 8);
    EXPECT("-1 255 -1 65535", "%hhd %hhu %hd %hu", "i4ai4ai4ai4a", int32_t, -1, -1, -1, -1);
    EXPECT("-5000000000 18446744068709551616", "%ld %lu", "i8ai8a", int64_t, -5000000000ll, -5000000000ll);
    EXPECT("fedcba9876543210", "%lx", "i8a", uint64_t, 0xfedcba9876543210ull);
    EXPECT("z%", "%c%%", "i4a", int32_t, 'z');
    EXPECT("   007", "%6.3d", "i4a", int32_t, 7);
}

static void test_floats(void **state)
{
    (void)state;
    EXPECT("1.500000 1.500000e+00 1.5 0x1.8p+0 1.50", "%f %e %g %a %.2f", "f4af4af4af4af4a", float, 1.5f, 1.5f, 1.5f,
           1.5f, 1.5f);
    EXPECT("2.250000 3.1415926535897931", "%f %.17g", "f8af8a", double, 2.25, 3.14159265358979312);
    EXPECT("inf -inf nan INF", "%f %f %f %F", "f4af4af4af4a", float, INFINITY, -INFINITY, NAN, INFINITY);
    EXPECT("0x1.8p+0", "%a", "f4a", float, 1.5f);
    EXPECT("1.5 -0.25,65504", "%g %v2hg", "f2af2b", _Float16, 1.5f16, 0, -0.25f16, 65504.0f16);
    EXPECT("-3.25 +1 0001.5", "%g %+g %06.1f", "f4af4af4a", float, -3.25f, 1.0f, 1.5f);
}

static void test_vectors(void **state)
{
    (void)state;
    EXPECT("1.000000,2.000000,3.000000,4.500000", "%v4f", "f4d", float, 1, 2, 3, 4.5f);
    EXPECT("1.0,2.0", "%.1v2hlf", "f4b", float, 1, 2);
    EXPECT("1,2,-3", "%v3d", "i4c", int32_t, 1, 2, -3);
    EXPECT("1,2,255,4 1,2,-1,4", "%v4hhu %v4hhd", "i1di1d", uint8_t, 1, 2, 255, 4, 1, 2, 255, 4);
    EXPECT("1,-2", "%v2ld", "i8b", int64_t, 1, -2);
    EXPECT("0x1,0x2,0x3,0x4,0x5,0x6,0x7,0xffff", "%#v8hx", "i2h", int16_t, 1, 2, 3, 4, 5, 6, 7, -1);
    EXPECT("[  1,  2]", "[%3v2d]", "i4b", int32_t, 1, 2);
    EXPECT("1.5,2.5", "%v2lg", "f8b", double, 1.5, 2.5);
}

/** OpenCL C's printf ignores the locales of process and thread, and does not change them. */
static void test_locale(void **state)
{
    (void)state;
    if (comma_locale()) {
        print_message("localedef cannot make a locale here\n");
        skip();
    }
    const locale_t before = uselocale((locale_t)0);
    test_floats(state);
    test_vectors(state);
    EXPECT("1234567.5", "%.1f", "f8a", double, 1234567.5);
    const locale_t comma = duplocale(LC_GLOBAL_LOCALE);
    uselocale(comma);
    test_floats(state);
    assert_ptr_equal(uselocale(LC_GLOBAL_LOCALE), comma);
    freelocale(comma);
    assert_ptr_equal(before, LC_GLOBAL_LOCALE);
    assert_string_equal(localeconv()->decimal_point, ",");
    setlocale(LC_ALL, "C");
}

/** Odd sizes are padded to words, so that the next argument is at the right place. */
static void test_padding(void **state)
{
    (void)state;
    struct rig r = {0};
    uint8_t data[12] = {1, 2, 3, 0, 9, 0, 0, 0, 0, 0, 128, 63};
    record(&r, "%v3hhd %d %g\n", "i1ci4af4a", data, sizeof data);
    assert_string_equal(run(&r), "1,2,3 9 1\n");
}

static void test_strings(void **state)
{
    (void)state;
    struct rig r = {0};
    uint32_t args[4] = {string(&r, "abc"), string(&r, "de"), string(&r, "fghij"), 0x20};
    record(&r, "%s|%5s|%.2s|%s|%p\n", "p4ap4ap4ap4a", args, sizeof args);
    assert_string_equal(run(&r), "abc|   de|fg|(null)|\n");
    EXPECT("0x80001000", "%p", "p4a", uint32_t, 0x80001000);
    /* The pointer leads to a variable without an initial value. */
    EXPECT("()", "(%s)", "p4a", uint32_t, 0x1000 + sizeof r.strings + 8);
}

/** Format and arguments may disagree: the later arguments stay at their places. */
static void test_mismatch(void **state)
{
    (void)state;
    struct rig r = {0};
    struct { int64_t l; int32_t i; } data = {7, 3};
    record(&r, "%d %d", "i8ai4a", &data, 12);
    assert_string_equal(run(&r), "7 3");
    EXPECT("3 ", "%d %d", "i4a", int32_t, 3);
    EXPECT("5 %y %", "%d %y %", "i4a", int32_t, 5);
    EXPECT("%v5d", "%v5d", "i4d", int32_t, 1, 2, 3, 4);
    EXPECT("1,2", "%v4d", "i4b", int32_t, 1, 2);
}

static void test_records(void **state)
{
    (void)state;
    struct rig r = {0};
    for (int32_t i = 0; i < 5; i++) {
        record(&r, "%d;", "i4a", &i, sizeof i);
    }
    assert_string_equal(run(&r), "0;1;2;3;4;");
    r.buffer[0] = 0xfffffff0; /* The buffer has overflowed: the count exceeds it, and a zero word ends the records. */
    assert_string_equal(run(&r), "0;1;2;3;4;");
    r.buffer[1 + 12] = 0;
    assert_string_equal(run(&r), "0;1;2;");
    r.buffer[1] = 1; /* The size is less than that of any record. */
    assert_string_equal(run(&r), "");
    r.buffer[1] = 100000;
    assert_string_equal(run(&r), "");
}

static void discard(void *user, const char *text, size_t length)
{
    (void)user;
    (void)text;
    (void)length;
}

/** With any bytes in the buffer, nothing beyond buffer or image is accessed (run under a sanitizer). */
static void test_garbage(void **state)
{
    (void)state;
    static struct rig r;
    uint32_t seed = 4711;
    for (int i = 0; i < 20000; i++) {
        r = (struct rig){0};
        for (size_t k = 0; k < sizeof r.buffer / 4; k++) {
            seed = seed * 1664525u + 1013904223u;
            r.buffer[k] = k % 3 ? 0x1000 + (seed >> 20) % 1200 : seed >> 26;
        }
        for (size_t k = 0; k < sizeof r.strings; k++) {
            seed = seed * 1664525u + 1013904223u;
            r.strings[k] = (uint8_t)"%dfsvxe4ip4a1.8hl2 c"[(seed >> 16) % 21];
        }
        r.buffer[0] = seed >> 20;
        r.image = (struct tc_image){.base = 0x1000, .size = sizeof r.strings, .filled = sizeof r.strings,
                                    .data = r.strings};
        tc_printf_format(&r.image, r.buffer, sizeof r.buffer, discard, NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers), cmocka_unit_test(test_floats),   cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_padding),  cmocka_unit_test(test_strings),  cmocka_unit_test(test_mismatch),
        cmocka_unit_test(test_locale),   cmocka_unit_test(test_records),  cmocka_unit_test(test_garbage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
