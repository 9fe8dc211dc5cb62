/* SPDX-License-Identifier: Apache-2.0 */
/** Integer functions of all eight types, select, bitselect, any and all, compared with arithmetic of 128 bits. */
#include "sweep.h"

#include <math.h>
#include <string.h>

typedef union sweep_value value;
__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 uwide;

static bool is_unsigned(enum sweep_type t)
{
    return t == SWEEP_UCHAR || t == SWEEP_USHORT || t == SWEEP_UINT || t == SWEEP_ULONG;
}

static unsigned bits_of(enum sweep_type t)
{
    return 8 * sweep_sizes[t];
}

static wide number(enum sweep_type t, value v)
{
    return is_unsigned(t) ? (wide)v.u : (wide)v.i;
}

/** Returns the value's bits within the type. */
static uint64_t plain(enum sweep_type t, value v)
{
    return v.u << (64 - bits_of(t)) >> (64 - bits_of(t));
}

/** Returns x modulo 2^bits. */
static value wrapped(enum sweep_type t, wide x)
{
    const unsigned drop = 64 - bits_of(t);
    const uint64_t low = (uint64_t)(uwide)x << drop;
    return is_unsigned(t) ? (value){.u = low >> drop} : (value){.i = (int64_t)low >> drop};
}

static value saturated(enum sweep_type t, wide x)
{
    const wide least = is_unsigned(t) ? 0 : -((wide)1 << (bits_of(t) - 1));
    const wide most = ((wide)1 << (bits_of(t) - !is_unsigned(t))) - 1;
    return wrapped(t, x < least ? least : x > most ? most : x);
}

/** t is the first input's type, r the result's. Returns false if any result is right. */
typedef bool integer_fn(enum sweep_type t, enum sweep_type r, const value *in, value *out);

#define REFERENCE(NAME, ...)                                                                       \
    static bool ref_##NAME(enum sweep_type t, enum sweep_type r, const value *in, value *out)      \
    {                                                                                              \
        const wide a = number(t, in[0]), b = number(t, in[1]), c = number(t, in[2]);               \
        (void)a, (void)b, (void)c, (void)r;                                                              \
        __VA_ARGS__;                                                                               \
        return true;                                                                               \
    }

REFERENCE(abs, *out = wrapped(r, a < 0 ? -a : a))
REFERENCE(abs_diff, *out = wrapped(r, a < b ? b - a : a - b))
REFERENCE(add_sat, *out = saturated(r, a + b))
REFERENCE(sub_sat, *out = saturated(r, a - b))
REFERENCE(hadd, *out = wrapped(r, (a + b) >> 1))
REFERENCE(rhadd, *out = wrapped(r, (a + b + 1) >> 1))
REFERENCE(max, *out = a < b ? in[1] : in[0])
REFERENCE(min, *out = b < a ? in[1] : in[0])
REFERENCE(mul_hi, *out = wrapped(r, is_unsigned(t) ? (wide)((uwide)a * (uwide)b >> bits_of(t)) : a * b >> bits_of(t)))
REFERENCE(mad_hi, ref_mul_hi(t, r, in, out); *out = wrapped(r, number(r, *out) + c))
REFERENCE(mad24, *out = wrapped(r, a * b + c))
REFERENCE(mul24, *out = wrapped(r, a * b))
REFERENCE(add, *out = wrapped(r, a + b))
REFERENCE(subtract, *out = wrapped(r, a - b))
REFERENCE(multiply, *out = wrapped(r, (wide)((uwide)a * (uwide)b)))
REFERENCE(any, out->i = a < 0)
REFERENCE(all, out->i = a < 0)
REFERENCE(bitselect, out->u = (in[0].u & ~in[2].u) | (in[1].u & in[2].u))

/** A product of unsigned 64-bit values may exceed `wide`, which has a sign bit. */
static bool ref_mad_sat(enum sweep_type t, enum sweep_type r, const value *in, value *out)
{
    const wide a = number(t, in[0]), b = number(t, in[1]), c = number(t, in[2]);
    const bool beyond = is_unsigned(t) && (uwide)a * (uwide)b >> 64 != 0;
    *out = saturated(r, beyond ? (wide)1 << 100 : a * b + c);
    return true;
}

static bool ref_clamp(enum sweep_type t, enum sweep_type r, const value *in, value *out)
{
    const wide a = number(t, in[0]), least = number(t, in[1]), most = number(t, in[2]);
    (void)r;
    *out = a < least ? in[1] : a > most ? in[2] : in[0];
    return least <= most;
}

static bool ref_clz(enum sweep_type t, enum sweep_type r, const value *in, value *out)
{
    const uint64_t x = plain(t, in[0]);
    (void)r;
    out->u = x == 0 ? bits_of(t) : (unsigned)__builtin_clzll(x) - (64 - bits_of(t));
    return true;
}

static bool ref_ctz(enum sweep_type t, enum sweep_type r, const value *in, value *out)
{
    const uint64_t x = plain(t, in[0]);
    (void)r;
    out->u = x == 0 ? bits_of(t) : (unsigned)__builtin_ctzll(x);
    return true;
}

static bool ref_popcount(enum sweep_type t, enum sweep_type r, const value *in, value *out)
{
    (void)r;
    out->u = (unsigned)__builtin_popcountll(plain(t, in[0]));
    return true;
}

static bool ref_rotate(enum sweep_type t, enum sweep_type r, const value *in, value *out)
{
    const unsigned n = bits_of(t), by = (unsigned)(plain(t, in[1]) & (n - 1));
    const uint64_t x = plain(t, in[0]);
    *out = wrapped(r, (wide)(by == 0 ? x : x << by | x >> (n - by)));
    return true;
}

/** The first operand is the upper half of the result. */
static bool ref_upsample(enum sweep_type t, enum sweep_type r, const value *in, value *out)
{
    *out = wrapped(r, (wide)(plain(t, in[0]) << bits_of(t) | plain(t, in[1])));
    return true;
}

static bool ref_divide(enum sweep_type t, enum sweep_type r, const value *in, value *out)
{
    const wide a = number(t, in[0]), b = number(t, in[1]);
    *out = wrapped(r, b == 0 ? 0 : a / b);
    return b != 0;
}

static bool ref_modulo(enum sweep_type t, enum sweep_type r, const value *in, value *out)
{
    const wide a = number(t, in[0]), b = number(t, in[1]);
    *out = wrapped(r, b == 0 ? 0 : a % b);
    return b != 0 && !(b == -1 && a == -((wide)1 << (bits_of(t) - 1)));
}

static double check(const struct sweep_case *c, unsigned width, const value in[3], const value got[2],
                    value expected[2])
{
    integer_fn *const *fn = c->reference;
    (void)width;
    return (*fn)(c->in[0], c->out[0], in, expected) ? sweep_exact(c, got, expected) : 0;
}

/** For operands that exceed 24 bits any result is right. */
static double check_24(const struct sweep_case *c, unsigned width, const value in[3], const value got[2],
                       value expected[2])
{
    const wide limit = is_unsigned(c->in[0]) ? 1 << 24 : 1 << 23;
    for (unsigned k = 0; k < 2; k++) {
        const wide x = number(c->in[k], in[k]);
        if (x >= limit || x < (is_unsigned(c->in[0]) ? 0 : -limit)) {
            return 0;
        }
    }
    return check(c, width, in, got, expected);
}

/** The shift count is taken modulo the width of the first operand. The scalar form promotes a narrow operand to int. */
static double check_shift(const struct sweep_case *c, unsigned width, const value in[3], const value got[2],
                          value expected[2])
{
    const enum sweep_type t = c->in[0];
    const unsigned bits = width == 1 && bits_of(t) < 32 ? 32 : bits_of(t), by = (unsigned)in[1].u & (bits - 1);
    const wide a = number(t, in[0]);
    const bool left = strchr(c->code, '<') != NULL;
    expected[0] = wrapped(t, left ? (wide)((uwide)a << by) : a >> by);
    return sweep_exact(c, got, expected);
}

/** The condition is `not zero` in the scalar form, and the upper bit in vectors. */
static double check_select(const struct sweep_case *c, unsigned width, const value in[3], const value got[2],
                           value expected[2])
{
    const bool second = width == 1 ? in[2].u != 0 : plain(c->in[2], in[2]) >> (bits_of(c->in[2]) - 1) != 0;
    expected[0] = in[second];
    return sweep_exact(c, got, expected);
}

static double check_float_bits(const struct sweep_case *c, unsigned width, const value in[3], const value got[2],
                               value expected[2])
{
    (void)width;
    ref_bitselect(c->in[0], c->out[0], in, expected);
    return sweep_exact(c, got, expected);
}

#define HOW(NAME) (&(integer_fn *const){ref_##NAME})
#define ONE(NAME, T, R) {#NAME, "r = " #NAME "(a);", {T}, {R}, .check = check, .reference = HOW(NAME)}
#define TWO(NAME, T, R) {#NAME, "r = " #NAME "(a, b);", {T, T}, {R}, .check = check, .reference = HOW(NAME)}
#define THREE(NAME, T) {#NAME, "r = " #NAME "(a, b, c);", {T, T, T}, {T}, .check = check, .reference = HOW(NAME)}
#define OPERATOR(NAME, SIGN, T) {#NAME, "r = a " #SIGN " b;", {T, T}, {T}, .check = check, .reference = HOW(NAME)}

#define SHIFT(SIGN, T) {#SIGN, "r = a " #SIGN " b;", {T, T}, {T}, .check = check_shift}

#define ALL(T, S, U)                                                                                    \
    ONE(abs, T, U), TWO(abs_diff, T, U), TWO(add_sat, T, T), TWO(sub_sat, T, T), TWO(hadd, T, T), TWO(rhadd, T, T), \
    ONE(clz, T, T), ONE(ctz, T, T), ONE(popcount, T, T), TWO(max, T, T), TWO(min, T, T),                \
    TWO(mul_hi, T, T), TWO(rotate, T, T), THREE(mad_hi, T), THREE(mad_sat, T), THREE(clamp, T),         \
    {"max", "r = max(a, b);", {T, T}, {T}, .scalar = 2, .check = check, .reference = HOW(max)},         \
    {"min", "r = min(a, b);", {T, T}, {T}, .scalar = 2, .check = check, .reference = HOW(min)},         \
    {"clamp", "r = clamp(a, b, c);", {T, T, T}, {T}, .scalar = 6, .check = check, .reference = HOW(clamp)}, \
    THREE(bitselect, T),                                                                                \
    {"select", "r = select(a, b, c);", {T, T, S}, {T}, .check = check_select},                          \
    {"select", "r = select(a, b, c);", {T, T, U}, {T}, .check = check_select},                          \
    OPERATOR(add, +, T), OPERATOR(subtract, -, T), OPERATOR(multiply, *, T), OPERATOR(divide, /, T),    \
    OPERATOR(modulo, %, T), SHIFT(<<, T), SHIFT(>>, T)

static const struct sweep_case of_char[] = {
    ALL(SWEEP_CHAR, SWEEP_CHAR, SWEEP_UCHAR), ALL(SWEEP_UCHAR, SWEEP_CHAR, SWEEP_UCHAR)};
static const struct sweep_case of_short[] = {
    ALL(SWEEP_SHORT, SWEEP_SHORT, SWEEP_USHORT), ALL(SWEEP_USHORT, SWEEP_SHORT, SWEEP_USHORT)};
static const struct sweep_case of_int[] = {
    ALL(SWEEP_INT, SWEEP_INT, SWEEP_UINT), ALL(SWEEP_UINT, SWEEP_INT, SWEEP_UINT)};
static const struct sweep_case of_long[] = {
    ALL(SWEEP_LONG, SWEEP_LONG, SWEEP_ULONG), ALL(SWEEP_ULONG, SWEEP_LONG, SWEEP_ULONG)};

#define UPSAMPLE(HIGH, LOW, R) \
    {"upsample", "r = upsample(a, b);", {HIGH, LOW}, {R}, .check = check, .reference = HOW(upsample)}
#define OF_24(T)                                                                                        \
    {"mul24", "r = mul24(a, b);", {T, T}, {T}, .check = check_24, .reference = HOW(mul24)},             \
    {"mad24", "r = mad24(a, b, c);", {T, T, T}, {T}, .check = check_24, .reference = HOW(mad24)}
#define ANY(NAME, T) \
    {#NAME, "r = " #NAME "(a);", {T}, {SWEEP_INT}, .no_vectors = true, .check = check, .reference = HOW(NAME)}
#define SELECT(T, C) {"select", "r = select(a, b, c);", {T, T, C}, {T}, .check = check_select}

static const struct sweep_case others[] = {
    UPSAMPLE(SWEEP_CHAR, SWEEP_UCHAR, SWEEP_SHORT),
    UPSAMPLE(SWEEP_UCHAR, SWEEP_UCHAR, SWEEP_USHORT),
    UPSAMPLE(SWEEP_SHORT, SWEEP_USHORT, SWEEP_INT),
    UPSAMPLE(SWEEP_USHORT, SWEEP_USHORT, SWEEP_UINT),
    UPSAMPLE(SWEEP_INT, SWEEP_UINT, SWEEP_LONG),
    UPSAMPLE(SWEEP_UINT, SWEEP_UINT, SWEEP_ULONG),
    OF_24(SWEEP_INT),
    OF_24(SWEEP_UINT),
    ANY(any, SWEEP_CHAR),
    ANY(any, SWEEP_SHORT),
    ANY(any, SWEEP_INT),
    ANY(any, SWEEP_LONG),
    ANY(all, SWEEP_CHAR),
    ANY(all, SWEEP_SHORT),
    ANY(all, SWEEP_INT),
    ANY(all, SWEEP_LONG),
    SELECT(SWEEP_FLOAT, SWEEP_INT),
    SELECT(SWEEP_FLOAT, SWEEP_UINT),
    SELECT(SWEEP_DOUBLE, SWEEP_LONG),
    SELECT(SWEEP_DOUBLE, SWEEP_ULONG),
    {"bitselect", "r = bitselect(a, b, c);", {SWEEP_FLOAT, SWEEP_FLOAT, SWEEP_FLOAT}, {SWEEP_FLOAT},
     .check = check_float_bits},
    {"bitselect", "r = bitselect(a, b, c);", {SWEEP_DOUBLE, SWEEP_DOUBLE, SWEEP_DOUBLE}, {SWEEP_DOUBLE},
     .check = check_float_bits},
};

/** any and all of vectors, in which one element has its upper bit set and the others clear, or the reverse. */
static void test_any_all(void **state)
{
    static const char source[] =
        "kernel void f(global const TYPE *in, global int *r) {"
        "    size_t i = get_global_id(0); r += i * 20;"
        "    r[0] = any(vload2(i * 8, in)); r[1] = any(vload3(0, in + i * 16)); r[2] = any(vload4(i * 4, in));"
        "    r[3] = any(vload8(i * 2, in)); r[4] = any(vload16(i, in));"
        "    r[5] = all(vload2(i * 8, in)); r[6] = all(vload3(0, in + i * 16)); r[7] = all(vload4(i * 4, in));"
        "    r[8] = all(vload8(i * 2, in)); r[9] = all(vload16(i, in));"
        "}";
    static const char *const options[] = {"-DTYPE=char", "-DTYPE=short", "-DTYPE=int", "-DTYPE=long"};
    static const unsigned widths[] = {2, 3, 4, 8, 16};
    (void)state;
    for (unsigned t = 0; t < 4; t++) {
        enum { VECTORS = 34 };
        const unsigned size = 1u << t;
        unsigned char in[VECTORS * 16 * 8];
        int32_t r[VECTORS * 20];
        /* First the v-th element is clear and the others set, then the reverse. The last two vectors have all and none
         * set. */
        for (unsigned v = 0; v < VECTORS; v++) {
            for (unsigned e = 0; e < 16; e++) {
                const bool set = v < 16 ? e != v : v < 32 ? e == v - 16 : v == 32;
                memset(in + (v * 16 + e) * size, set ? 0x00 : 0xff, size);
                in[(v * 16 + e) * size + size - 1] = set ? 0x80 : 0x7f;
            }
        }
        cl_program p = clt_build(source, options[t]);
        cl_kernel k = clCreateKernel(p, "f", &clt_error);
        MADE(k);
        cl_mem from = clt_buffer((size_t)VECTORS * 16 * size, in), to = clt_buffer(sizeof r, NULL);
        clt_args(k, 2, ARG(from), ARG(to));
        clt_run(k, VECTORS, 0);
        clt_read(to, r, sizeof r);
        for (unsigned v = 0; v < VECTORS; v++) {
            for (unsigned w = 0; w < 5; w++) {
                bool any = false, all = true;
                for (unsigned e = 0; e < widths[w]; e++) {
                    const bool set = (in[(v * 16 + e) * size + size - 1] & 0x80) != 0;
                    any |= set;
                    all &= set;
                }
                if (r[v * 20 + w] != any || r[v * 20 + 5 + w] != all) {
                    fail_msg("%s, vector %u of %u elements: any %d, all %d", options[t], v, widths[w], r[v * 20 + w],
                             r[v * 20 + 5 + w]);
                }
            }
        }
        OK(clReleaseMemObject(from));
        OK(clReleaseMemObject(to));
        OK(clReleaseKernel(k));
        OK(clReleaseProgram(p));
    }
}

#define TEST(NAME)                             \
    static void test_##NAME(void **state)      \
    {                                          \
        (void)state;                           \
        sweep_run(NAME, LENGTH(NAME), "-cl-std=CL3.0");         \
    }

TEST(of_char)
TEST(of_short)
TEST(of_int)
TEST(of_long)
TEST(others)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_of_char), cmocka_unit_test(test_of_short), cmocka_unit_test(test_of_int),
        cmocka_unit_test(test_of_long), cmocka_unit_test(test_others),   cmocka_unit_test(test_any_all),
    };
    return cmocka_run_group_tests(tests, clt_open, clt_close);
}
