/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Corner values, at which functions are likely to be wrong: the ends and middles of formats, and the limits of ranges
 * of arguments and results.
 */
#include "sweep.h"

#include <math.h>
#include <string.h>

static const double common[] = {0, 1, INFINITY, NAN, 0.5, 2, 3, 0x1.8p0};
static const double both[] = {
    0.25, 0.75, 1.25, 2.5, 3.5, 4, 5, 7, 10, 16, 33, 100, 127, 127.5, 128, 1e4, 1e10, 0x1p23, 0x1.000002p23, 0x1p31,
    0x1p32, 0x1p63, 0x1p64, 126.5, 127.75, 255, 255.5, 0x1.fffep14, 0x1p15, 0x1.ffffp15, 0x1p16, 0x1p-10, 0x1p-24,
    0x1.8p-24, 1e-10, 0x1.921fb6p0, 0x1.921fb6p1, 0x1.2d97c8p1, 0x1.62e43p-1, 0x1.5bf0a8p1, 0.1,
};
static const double few_floats[] = {
    0x1p-149, 0x1.fffffcp-127, 0x1p-126, 0x1.fffffep127, 0x1.fffffep-1, 0x1.000002p0, 0x1p64,
};
static const double floats[] = {
    0x1.8p-148, 0x1.8p-140, 0x1p-127, 0x1.fffffep-126, 0x1p-100, 0x1p-64, 0x1.000002p-63, 0x1p22, 0x1.fffffep22,
    0x1.fffffep23, 0x1.fffffep62, 0x1p100, 0x1p126, 0x1p127, 0x1.62e42ep6, 0x1.65a9f8p6, 0x1.9fe368p6, 0x1.9d1d9fp6,
    149.5, 150, 0x1.1819d2p5, 0x1.fffffep30, 0x1.fffffep31, 0x1.fffffep63,
};
static const double few_doubles[] = {
    0x1p-1074, 0x1.ffffffffffffep-1023, 0x1p-1022, 0x1.fffffffffffffp1023, 0x1.fffffffffffffp-1, 0x1.0000000000001p0,
    0x1p64,
};
static const double doubles[] = {
    0x1.8p-1073, 0x1.8p-1060, 0x1p-1023, 0x1.fffffffffffffp-1022, 0x1p-1000, 0x1p-300, 0x1p-53, 0x1p51,
    0x1.fffffffffffffp51, 0x1p52, 0x1.0000000000001p52, 0x1.fffffffffffffp62, 0x1p500, 0x1p1022, 0x1p1023,
    0x1.62e42fefa39efp9, 0x1.74910d52d3051p9, 1022.5, 1074.5, 1075, 0x1.571f7693ab6b5p7, 0x1.921fb54442d18p0,
    0x1.fffffffffffffp1022, 0x1p-149, 0x1.34413509f79ffp8, 0x1.fffffffep30, 0x1.ffffffff8p30, 0x1.fffffffep31,
    0x1.fffffffffp31, 0x1.fffffffffffffp63, 0x1.fffffefp127, 0x1.ffffffp127, 0x1.8p-149, 0x1.8p-150, 0x1p-150,
    0x1.4p-151, 0x1.000001p0, 0x1.0000010000001p0, 0x1.fffffdp-127,
};

static const double few_halves[] = {
    0x1p-24, 0x1.ff8p-15, 0x1p-14, 0x1.ffcp15, 0x1.ffcp-1, 0x1.004p0, 0x1p6,
};
static const double halves[] = {
    0x1.8p-23, 0x1.8p-20, 0x1p-15, 0x1.ffcp-14, 0x1p-12, 0x1p-8, 0x1.004p-7, 0x1p10, 0x1.ffcp9, 0x1.ffcp10, 0x1p11,
    0x1.004p11, 0x1p14, 0x1.ffcp14, 0x1.628p3, 0x1.63p3, 0x1.344p2, 0x1.388p3, 0x1.09p3, 0x1.1p4, 0x1.8p4, 0x1.ffp7,
    0x1.ff8p-2, 0x1.ffcp-12,
};

static const int64_t few_integers[] = {0, 1, -1, 2, -2, 3, 7, INT64_MAX, INT64_MIN};
static const int64_t integers[] = {
    -3, 4, 5, 10, 15, 16, 31, 32, 33, 63, 64, 65, 100, -100, 126, 127, 128, -126, -127, -149, 150, 255, 256, 1000,
    1023, 1024, -1022, -1074, -1075, 2097, -2200, 0x5555555555555555, 0x3333333333333333,
};

const char *const sweep_names[SWEEP_TYPES] = {"",     "char", "uchar", "short", "ushort", "int",
                                              "uint", "long", "ulong", "half", "float", "double"};
const unsigned sweep_sizes[SWEEP_TYPES] = {0, 1, 1, 2, 2, 4, 4, 8, 8, 2, 4, 8};

bool sweep_is_float(enum sweep_type t)
{
    return t == SWEEP_HALF || t == SWEEP_FLOAT || t == SWEEP_DOUBLE;
}

double sweep_number(enum sweep_type t, union sweep_value v)
{
    return t == SWEEP_DOUBLE ? v.d : (double)v.f;
}

float sweep_half(double x)
{
    int e;
    if (x == 0 || isnan(x) || isinf(x)) {
        return (float)x;
    }
    (void)frexp(x, &e);
    const int unit = e - 11 > -24 ? e - 11 : -24;
    const double r = ldexp(nearbyint(ldexp(x, -unit)), unit);
    return fabs(r) < 0x1p16 ? copysignf((float)r, (float)x) : copysignf(INFINITY, (float)x);
}

bool sweep_is_nan(enum sweep_type t, union sweep_value v)
{
    return sweep_is_float(t) && isnan(sweep_number(t, v));
}

bool sweep_same(enum sweep_type t, union sweep_value a, union sweep_value b)
{
    if (!sweep_is_float(t)) {
        return a.i == b.i;
    }
    const double x = sweep_number(t, a), y = sweep_number(t, b);
    return isnan(x) ? isnan(y) : x == y && signbit(x) == signbit(y);
}

double sweep_exact(const struct sweep_case *c, const union sweep_value got[2], const union sweep_value expected[2])
{
    const bool same = sweep_same(c->out[0], got[0], expected[0]) &&
                      (c->out[1] == SWEEP_NONE || sweep_same(c->out[1], got[1], expected[1]));
    return same ? 0 : INFINITY;
}

/** Returns an integer as the type stores it: truncated, then extended. */
static union sweep_value fit(enum sweep_type t, int64_t x)
{
    const unsigned drop = 64 - 8 * sweep_sizes[t];
    const bool is_unsigned = t == SWEEP_UCHAR || t == SWEEP_USHORT || t == SWEEP_UINT || t == SWEEP_ULONG;
    const uint64_t shifted = (uint64_t)x << drop;
    return is_unsigned ? (union sweep_value){.u = shifted >> drop} : (union sweep_value){.i = (int64_t)shifted >> drop};
}

static size_t add_floats(enum sweep_type t, const double *from, size_t n, union sweep_value *to)
{
    for (size_t i = 0; i < n; i++) {
        to[2 * i].u = to[2 * i + 1].u = 0;
        if (t != SWEEP_DOUBLE) {
            to[2 * i].f = t == SWEEP_HALF ? sweep_half(from[i]) : (float)from[i];
            to[2 * i + 1].f = -to[2 * i].f;
        } else {
            to[2 * i].d = from[i];
            to[2 * i + 1].d = -from[i];
        }
    }
    return 2 * n;
}

/** Adds each number, and the number shifted so that the ends of 64 bits become those of the type. Repeated values are
 * added once. */
static size_t add_integers(enum sweep_type t, const int64_t *from, size_t n, union sweep_value *to, size_t have)
{
    for (size_t i = 0; i < 2 * n; i++) {
        const union sweep_value v = fit(t, i < n ? from[i] : from[i - n] >> (64 - 8 * sweep_sizes[t]));
        size_t j = 0;
        while (j < have && to[j].i != v.i) {
            j++;
        }
        to[j] = v;
        have += j == have;
    }
    return have;
}

size_t sweep_corners(enum sweep_type t, bool few, union sweep_value *to)
{
    if (sweep_is_float(t)) {
        const double *small = t == SWEEP_HALF ? few_halves : t == SWEEP_FLOAT ? few_floats : few_doubles;
        size_t n = add_floats(t, common, LENGTH(common), to);
        n += add_floats(t, small, LENGTH(few_floats), to + n);
        if (!few) {
            n += add_floats(t, both, LENGTH(both), to + n);
            n += t == SWEEP_HALF    ? add_floats(t, halves, LENGTH(halves), to + n)
                 : t == SWEEP_FLOAT ? add_floats(t, floats, LENGTH(floats), to + n)
                                    : add_floats(t, doubles, LENGTH(doubles), to + n);
        }
        return n;
    }
    const size_t n = add_integers(t, few_integers, LENGTH(few_integers), to, 0);
    return few ? n : add_integers(t, integers, LENGTH(integers), to, n);
}

/** Returns the element that these low bits are. */
static union sweep_value from_bits(enum sweep_type t, uint64_t bits)
{
    union sweep_value v = {.u = bits};
    if (t == SWEEP_HALF) {
        _Float16 h;
        memcpy(&h, &bits, sizeof h);
        v = (union sweep_value){.f = (float)h};
    }
    return v;
}

union sweep_value sweep_random(enum sweep_type t, uint32_t *state)
{
    const uint32_t kind = clt_random(state) % 4;
    const uint64_t high = clt_random(state), bits = high << 32 | clt_random(state);
    union sweep_value v = {.u = 0};
    const double unit = (double)(bits >> 11) * 0x1p-53, sign = bits & 1 ? -1 : 1;
    if (!sweep_is_float(t)) {
        return fit(t, kind == 0 ? (int64_t)bits >> (high & 63) : (int64_t)bits);
    }
    const double near = kind == 1 ? sign * (1 + unit) : kind == 2 ? sign * unit * 16
                                                                  : sign * ldexp(1 + unit, (int)(bits & 63) - 32);
    if (kind == 0) {
        return from_bits(t, t == SWEEP_HALF ? high >> 16 : t == SWEEP_FLOAT ? high : bits);
    }
    if (t == SWEEP_DOUBLE) {
        v.d = near;
    } else {
        v.f = t == SWEEP_HALF ? sweep_half(near) : (float)near;
    }
    return v;
}

union sweep_value sweep_part(enum sweep_type t, size_t i, size_t n, uint32_t *state)
{
    const uint64_t part = UINT64_MAX / n, high = clt_random(state);
    const uint64_t bits = i * part + (high << 32 | clt_random(state)) % part;
    return sweep_is_float(t) ? from_bits(t, bits >> (64 - 8 * sweep_sizes[t]))
                             : fit(t, (int64_t)(bits >> (64 - 8 * sweep_sizes[t])));
}
