/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The gamma function of double, within 16 ulp: a polynomial around 2 and the recurrence for small arguments, Stirling's
 * series for large ones, reflection for negative ones. The function of the generic library has errors of hundreds
 * of ulp, and fails near poles and overflow. The polynomials interpolate at Chebyshev nodes.
 */
#include "base.h"

double OVERLOAD exp(double x);
double OVERLOAD pow(double x, double y);
double OVERLOAD sinpi(double x);

#define POLYNOMIAL(C, X)                                           \
    ({                                                             \
        double sum_ = C[sizeof(C) / sizeof(*C) - 1];               \
        for (int i_ = sizeof(C) / sizeof(*C) - 2; i_ >= 0; i_--) { \
            sum_ = sum_ * (X) + C[i_];                             \
        }                                                          \
        sum_;                                                      \
    })

/** gamma(2 + t) for |t| <= 1/2 */
static __constant const double about_two[] = {
    0x1.0000000000000p+0, 0x1.b0ee6072093c8p-2, 0x1.a5b978b96bec2p-2, 0x1.4e239984668c9p-4, 0x1.301fbb0f24e84p-4,
    -0x1.17f37479b5bbep-12, 0x1.6d7eeacb91973p-7, -0x1.75e6e75f13738p-9, 0x1.13c448f58ed5ep-9, -0x1.e21f8deab6c31p-11,
    0x1.011b0b937ea27p-11, -0x1.f938967a1c6f4p-13, 0x1.fe44649124e8dp-14, -0x1.ffa86d8fb280fp-15,
    0x1.004ee0e20080ap-15, -0x1.e724ef1f2d153p-17, 0x1.e76e78065fb6fp-18, -0x1.5ac7b3225c686p-18,
    0x1.5ad8ce0446282p-19,
};

/** gamma(1/w) / (sqrt(2 pi) x^(x-1/2) e^-x) for x = 1/w >= 15 */
static __constant const double stirling[] = {
    0x1.0000000000000p+0, 0x1.5555555555665p-4, 0x1.c71c71c487875p-9, -0x1.5f7267bf89091p-9, -0x1.e1410daa5047ep-13,
    0x1.9b2ec800dd4cap-11, 0x1.15d2f71a9f433p-14, -0x1.2b74724d4778ep-11,
};

/** gamma(x) for x in [2^-60, 184] as a product of two finite factors; the second has nearly all of the magnitude. */
static double factors(double x, double *second)
{
    *second = 1;
    if (x >= 15.5) { /* x^(x-1/2) is the square of the second factor; its exponent is exact */
        *second = pow(x, 0.5 * x - 0.25);
        return *second * exp(-x) * (0x1.40d931ff62706p+1 * POLYNOMIAL(stirling, 1 / x));
    }
    const double n = __builtin_rint(x), t = x - n;
    double y = POLYNOMIAL(about_two, t);
    for (int i = 2; i < (int)n; i++) {
        y *= t + i;
    }
    return n == 0 ? y / (x * (1 + x)) : n == 1 ? y / x : y;
}

OVERLOAD __attribute__((const)) double tgamma(double x)
{
    const double magnitude = __builtin_fabs(x);
    if (magnitude < 0x1p-60) {
        return 1 / x;
    }
    if (!(x < 172)) { /* overflow, infinity or NaN */
        return x * __builtin_inf();
    }
    double second;
    if (x > 0) {
        const double first = factors(x, &second);
        return first * second;
    }
    if (__builtin_floor(x) == x) {
        return __builtin_nan("");
    }
    const double sine = -sinpi(magnitude); /* gamma(-x) gamma(x) = -pi / (x sin pi x) */
    if (magnitude > 184) {
        return __builtin_copysign(0.0, sine);
    }
    const double first = factors(magnitude, &second);
    return 0x1.921fb54442d18p+1 / (magnitude * sine * first) / second;
}

/* tgamma of float is that of double, rounded. */
OVERLOAD __attribute__((const)) float tgamma(float x)
{
    return (float)tgamma((double)x);
}
