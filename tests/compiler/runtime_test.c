/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The device's run-time library, compiled for the host and compared with the host's own arithmetic: every operation on
 * millions of operands, half of them near special values. Usage: runtime_test [seed].
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The host's operations, defined before the library's names hide them. */
static double host_sqrt(double a) { return sqrt(a); }
static double host_fma(double a, double b, double c) { return fma(a, b, c); }
static double host_floor(double a) { return floor(a); }
static double host_ceil(double a) { return ceil(a); }
static double host_trunc(double a) { return trunc(a); }
static double host_rint(double a) { return rint(a); }
static double host_round(double a) { return round(a); }
static double host_fmin(double a, double b) { return fmin(a, b); }
static double host_fmax(double a, double b) { return fmax(a, b); }
static double host_fmod(double a, double b) { return fmod(a, b); }
static float host_fmodf(float a, float b) { return fmodf(a, b); }

#define sqrt rt_sqrt
#define fma rt_fma
#define floor rt_floor
#define ceil rt_ceil
#define trunc rt_trunc
#define rint rt_rint
#define nearbyint rt_nearbyint
#define roundeven rt_roundeven
#define round rt_round
#define fmin rt_fmin
#define fmax rt_fmax
#define fmod rt_fmod
#define fmodf rt_fmodf
#define __extendhfsf2 rt_extendhfsf2
#define __truncsfhf2 rt_truncsfhf2
#define __truncdfhf2 rt_truncdfhf2
#include "../../runtime/device/rt_convert.c"
#include "../../runtime/device/rt_double.c"
#include "../../runtime/device/rt_half.c"
#include "../../runtime/device/rt_math.c"
#include "../../runtime/device/rt_int64.c"

static uint64_t state;
static unsigned failures;

static uint64_t random64(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * 0x2545f4914f6cdd1dull;
}

/** Returns any bits, or a few bits set at both ends, or a special exponent. */
static uint64_t operand(void)
{
    uint64_t r = random64();
    switch (random64() % 6) {
    case 0: return r & 0x800fffffffffffffull;                                   /* Zero or subnormal. */
    case 1: return (r & 0x800fffffffffffffull) | (0x3f0ull + r % 96 % 32) << 52; /* Near one. */
    case 2: return (r & 0x8000000000000000ull) | (r & 1 ? 0x7ff0000000000000ull : 0x7fefffffffffffffull - r % 4);
    case 3: return (r & 0xfff0000000000000ull) | (r % 3 == 0 ? 0 : r % 3 == 1 ? 0xfffffffffffffull : 1ull << r % 52);
    case 4: return (r & 0x800fffffffffffffull) | (0x3feull + random64() % 70) << 52;
    default: return r;
    }
}

static int same(double a, double b)
{
    return isnan(a) ? isnan(b) : !memcmp(&a, &b, sizeof a);
}

static void check(const char *what, uint64_t x, uint64_t y, uint64_t z, int equal)
{
    if (!equal && failures++ < 20) {
        printf("FAIL %s of %016llx %016llx %016llx\n", what, (unsigned long long)x, (unsigned long long)y,
               (unsigned long long)z);
    }
}

#define ONE(name, mine, host) check(name, x, 0, 0, same(mine, host))
#define TWO(name, mine, host) check(name, x, y, 0, same(mine, host))

static void check_double(void)
{
    uint64_t x = operand(), y = operand(), z = operand();
    if (random64() % 4 == 0) {
        y = x ^ (random64() & 0x8000000000000007ull); /* The operands nearly cancel. */
    }
    double a, b, c;
    memcpy(&a, &x, 8);
    memcpy(&b, &y, 8);
    if (random64() % 4 == 0) {
        c = -a * b;
        memcpy(&z, &c, 8);
        z ^= random64() & 3;
    }
    memcpy(&c, &z, 8);
    TWO("add", __adddf3(a, b), a + b);
    TWO("sub", __subdf3(a, b), a - b);
    TWO("mul", __muldf3(a, b), a * b);
    TWO("div", __divdf3(a, b), a / b);
    check("fma", x, y, z, same(rt_fma(a, b, c), host_fma(a, b, c)));
    ONE("sqrt", rt_sqrt(a), host_sqrt(a));
    ONE("floor", rt_floor(a), host_floor(a));
    ONE("ceil", rt_ceil(a), host_ceil(a));
    ONE("trunc", rt_trunc(a), host_trunc(a));
    ONE("rint", rt_rint(a), host_rint(a));
    ONE("round", rt_round(a), host_round(a));
    check("fmin", x, y, 0, same(rt_fmin(a, b), host_fmin(a, b)) || a == b);
    check("fmax", x, y, 0, same(rt_fmax(a, b), host_fmax(a, b)) || a == b);
    check("eq", x, y, 0, (__eqdf2(a, b) == 0) == (a == b) && (__nedf2(a, b) != 0) == (a != b));
    check("lt", x, y, 0, (__ltdf2(a, b) < 0) == (a < b) && (__ledf2(a, b) <= 0) == (a <= b));
    check("gt", x, y, 0, (__gtdf2(a, b) > 0) == (a > b) && (__gedf2(a, b) >= 0) == (a >= b));
    check("unord", x, y, 0, (__unorddf2(a, b) != 0) == (isnan(a) || isnan(b)));
    float f = (float)a, mine = __truncdfsf2(a);
    check("truncdfsf", x, 0, 0, isnan(f) ? isnan(mine) : !memcmp(&f, &mine, 4));
    if (a > -9.2e18 && a < 9.2e18) {
        check("fixdfdi", x, 0, 0, __fixdfdi(a) == (int64_t)a && (fabs(a) > 2e9 || __fixdfsi(a) == (int32_t)a));
    }
    if (a >= 0 && a < 1.8e19) {
        check("fixunsdfdi", x, 0, 0, __fixunsdfdi(a) == (uint64_t)a && (a > 4e9 || __fixunsdfsi(a) == (uint32_t)a));
    }
    ONE("floatundidf", __floatundidf(x), (double)x);
    ONE("floatdidf", __floatdidf((int64_t)x), (double)(int64_t)x);
    ONE("floatsidf", __floatsidf((int32_t)x), (double)(int32_t)x);
    ONE("floatunsidf", __floatunsidf((uint32_t)x), (double)(uint32_t)x);
    uint64_t i = x >> (random64() % 64);
    check("floatundisf", i, 0, 0, __floatundisf(i) == (float)i && __floatdisf((int64_t)i) == (float)(int64_t)i);
}

static void check_single(void)
{
    uint32_t i = (uint32_t)random64(), j = (uint32_t)random64();
    uint64_t x = i, y = j;
    if (random64() % 3 == 0) {
        i &= 0x80ffffffu;
    }
    if (random64() % 3 == 0) {
        j &= 0x80ffffffu;
    }
    float a, b;
    memcpy(&a, &i, 4);
    memcpy(&b, &j, 4);
    double d = (double)a;
    check("extendsfdf", x, 0, 0, same(__extendsfdf2(a), d));
    float mine = rt_fmodf(a, b), host = host_fmodf(a, b);
    check("fmodf", x, y, 0, isnan(host) ? isnan(mine) : !memcmp(&mine, &host, 4));
    if (fabsf(a) < 9e18f) {
        check("fixsfdi", x, 0, 0, __fixsfdi(a) == (int64_t)a && (a < 0 || __fixunssfdi(a) == (uint64_t)a));
    }
    _Float16 h = (_Float16)a;
    uint16_t bits, got = __truncsfhf2(a);
    memcpy(&bits, &h, 2);
    check("truncsfhf", i, got, bits, isnan(a) ? (got & 0x7fff) > 0x7c00 : got == bits);
    _Float16 hd;
    uint64_t r = operand();
    memcpy(&d, &r, 8);
    if (random64() & 1) {
        d = (double)(float)h * (1.0 + (double)(int64_t)(random64() % 5 - 2) * 0x1p-12);
        memcpy(&r, &d, 8);
    }
    hd = (_Float16)d;
    memcpy(&bits, &hd, 2);
    got = __truncdfhf2(d);
    check("truncdfhf", r, got, bits, isnan(d) ? (got & 0x7fff) > 0x7c00 : got == bits);
}

static void check_integer(void)
{
    uint64_t a = random64() >> random64() % 64, b = random64() >> random64() % 64;
    if (random64() % 4 == 0) {
        a = b * (random64() >> random64() % 64) + random64() % 3 - 1;
    }
    if (b == 0) {
        check("udiv by 0", a, b, 0, __udivdi3(a, b) == ~0ull && __umoddi3(a, b) == a);
        return;
    }
    check("udivdi", a, b, __udivdi3(a, b), __udivdi3(a, b) == a / b);
    check("umoddi", a, b, __umoddi3(a, b), __umoddi3(a, b) == a % b);
    int64_t s = (int64_t)a, t = (int64_t)b;
    if (random64() & 1) {
        t = (int64_t)-b;
    }
    if (!(t == -1 && s == INT64_MIN)) {
        check("divdi", (uint64_t)s, (uint64_t)t, 0, __divdi3(s, t) == s / t && __moddi3(s, t) == s % t);
    }
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 20240229;
    state = seed * 2 + 1;
    for (uint32_t h = 0; h < 65536; h++) {
        uint16_t bits = (uint16_t)h;
        _Float16 x;
        memcpy(&x, &bits, 2);
        float host = (float)x, mine = __extendhfsf2(bits);
        check("extendhfsf", h, 0, 0, isnan(host) ? isnan(mine) : !memcmp(&host, &mine, 4));
    }
    for (int i = 0; i < 1000000; i++) {
        check_double();
        check_single();
        check_integer();
        if (i % 50 == 0) {
            uint64_t x = operand(), y = operand();
            double a, b;
            memcpy(&a, &x, 8);
            memcpy(&b, &y, 8);
            TWO("fmod", rt_fmod(a, b), host_fmod(a, b));
        }
    }
    printf("%s seed %llu, %u failures\n", failures ? "FAIL" : "PASS", (unsigned long long)seed, failures);
    return failures != 0;
}
