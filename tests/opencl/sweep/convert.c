/* SPDX-License-Identifier: Apache-2.0 */
/**
 * convert_TYPE between all pairs of types, in each rounding mode, with and without saturation, compared with MPFR. A
 * value out of the range of an integer type may give any result without saturation.
 */
#include "sweep.h"

#include <math.h>
#include <mpfr.h>
#include <stdio.h>

typedef union sweep_value value;

struct rounding {
    const char *suffix;
    mpfr_rnd_t to_integer, to_float;
};

static const struct rounding modes[] = {
    {"", MPFR_RNDZ, MPFR_RNDN},
    {"_rte", MPFR_RNDN, MPFR_RNDN},
    {"_rtz", MPFR_RNDZ, MPFR_RNDZ},
    {"_rtp", MPFR_RNDU, MPFR_RNDU},
    {"_rtn", MPFR_RNDD, MPFR_RNDD},
};

static bool is_unsigned(enum sweep_type t)
{
    return t == SWEEP_UCHAR || t == SWEEP_USHORT || t == SWEEP_UINT || t == SWEEP_ULONG;
}

static void set(mpfr_t x, enum sweep_type t, value v)
{
    if (sweep_is_float(t)) {
        mpfr_set_d(x, sweep_number(t, v), MPFR_RNDN);
    } else if (is_unsigned(t)) {
        mpfr_set_ui(x, v.u, MPFR_RNDN);
    } else {
        mpfr_set_si(x, v.i, MPFR_RNDN);
    }
}

/** Saturates x. Returns whether x was in the type's range. */
static bool integer(enum sweep_type t, mpfr_t x, value *out)
{
    const unsigned bits = 8 * sweep_sizes[t];
    out->u = 0;
    if (mpfr_nan_p(x)) {
        return false;
    }
    if (is_unsigned(t)) {
        const uint64_t most = UINT64_MAX >> (64 - bits);
        const bool over = mpfr_cmp_ui(x, most) > 0, under = mpfr_sgn(x) < 0;
        out->u = over ? most : under ? 0 : mpfr_get_ui(x, MPFR_RNDZ);
        return !over && !under;
    }
    const int64_t most = INT64_MAX >> (64 - bits), least = -most - 1;
    const bool over = mpfr_cmp_si(x, most) > 0, under = mpfr_cmp_si(x, least) < 0;
    out->i = over ? most : under ? least : mpfr_get_si(x, MPFR_RNDZ);
    return !over && !under;
}

/** Rounds x to half, whose last place is 2^-24 or more. */
static float half(mpfr_t x, mpfr_rnd_t mode)
{
    if (!mpfr_regular_p(x)) {
        return mpfr_get_flt(x, mode);
    }
    const mpfr_exp_t unit = mpfr_get_exp(x) - 11 > -24 ? mpfr_get_exp(x) - 11 : -24;
    mpfr_mul_2si(x, x, -unit, MPFR_RNDN);
    mpfr_rint(x, x, mode);
    mpfr_mul_2si(x, x, unit, MPFR_RNDN);
    const float r = mpfr_get_flt(x, MPFR_RNDN);
    const bool up = mode == MPFR_RNDN || mode == (r > 0 ? MPFR_RNDU : MPFR_RNDD);
    return fabsf(r) < 65536 ? r : copysignf(up ? INFINITY : 65504, r);
}

/** r is the plain conversion. s, for integer types only, is the saturating one. */
static double check(const struct sweep_case *c, unsigned width, const value in[3], const value got[2],
                    value expected[2])
{
    const struct rounding *mode = c->reference;
    mpfr_t x;
    double error;
    (void)width;
    mpfr_init2(x, 64);
    set(x, c->in[0], in[0]);
    if (sweep_is_float(c->out[0])) {
        if (c->out[0] == SWEEP_HALF) {
            expected[0].f = half(x, mode->to_float);
        } else if (c->out[0] == SWEEP_FLOAT) {
            expected[0].f = mpfr_get_flt(x, mode->to_float);
        } else {
            expected[0].d = mpfr_get_d(x, mode->to_float);
        }
        error = sweep_exact(c, got, expected);
    } else {
        mpfr_rint(x, x, mode->to_integer);
        if (!integer(c->out[1], x, &expected[1])) {
            expected[0] = got[0];
        } else {
            expected[0] = expected[1];
        }
        error = sweep_exact(c, got, expected);
    }
    mpfr_clear(x);
    return error;
}

static void sweep(enum sweep_type to)
{
    static char texts[SWEEP_TYPES * LENGTH(modes)][96];
    struct sweep_case cases[SWEEP_TYPES * LENGTH(modes)];
    size_t n = 0;
    const char *name = sweep_names[to];
    for (enum sweep_type from = SWEEP_CHAR; from < SWEEP_TYPES; from++) {
        for (size_t m = 0; m < LENGTH(modes); m++) {
            const bool floats = sweep_is_float(from) || sweep_is_float(to);
            if (!floats && m > 1) {
                continue; /* Without a float there is nothing to round. */
            }
            const char *suffix = modes[m].suffix;
            cases[n] = (struct sweep_case){.name = name, .code = texts[n], .in = {from}, .out = {to}, .check = check,
                                           .reference = &modes[m]};
            if (sweep_is_float(to)) {
                snprintf(texts[n], sizeof texts[n], "r = convert_%s#%s(a);", name, suffix);
            } else {
                cases[n].out[1] = to;
                snprintf(texts[n], sizeof texts[n], "r = convert_%s#%s(a); s = convert_%s#_sat%s(a);", name, suffix,
                         name, suffix);
            }
            n++;
        }
    }
    sweep_run(cases, n, "");
}

#define TEST(NAME, TYPE)                        \
    static void test_##NAME(void **state)       \
    {                                           \
        (void)state;                            \
        sweep(TYPE);                            \
    }

TEST(char, SWEEP_CHAR)
TEST(uchar, SWEEP_UCHAR)
TEST(short, SWEEP_SHORT)
TEST(ushort, SWEEP_USHORT)
TEST(int, SWEEP_INT)
TEST(uint, SWEEP_UINT)
TEST(long, SWEEP_LONG)
TEST(ulong, SWEEP_ULONG)
TEST(half, SWEEP_HALF)
TEST(float, SWEEP_FLOAT)
TEST(double, SWEEP_DOUBLE)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_char), cmocka_unit_test(test_uchar), cmocka_unit_test(test_short),
        cmocka_unit_test(test_ushort), cmocka_unit_test(test_int), cmocka_unit_test(test_uint),
        cmocka_unit_test(test_long), cmocka_unit_test(test_ulong), cmocka_unit_test(test_half),
        cmocka_unit_test(test_float), cmocka_unit_test(test_double),
    };
    return cmocka_run_group_tests(tests, clt_open, clt_close);
}
