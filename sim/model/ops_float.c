/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Floating point of all lanes at once. Results and flags are exact on any host.
 *
 *   operands                  method
 *   finite, round to nearest  double precision, then a rounding to float
 *   the same, and inexact     the host's float operation, if its result is a normal number: no other flag can be
 *   was raised in all lanes   raised then
 *   all others                lane by lane, by fp.c
 *
 * Rounding twice is correct. The product of two floats is exact in a double. A sum is rounded to odd in the double (its
 * error is known by Knuth's two-sum), and rounding such a value again is exact. A quotient or root may be rounded
 * twice, because 53 >= 2 * 24 + 2. The flag inexact is raised if the float differs from the double, and underflow is
 * seen in the double.
 */
#include <math.h>

#include "model.h"

#define NV 16u
#define DZ 8u
#define OF 4u
#define UF 2u
#define NX 1u
#define MINUS 0x80000000u
#define QNAN 0x7fc00000u
#define TINY (0x1p-126 - 0x1p-151) /* results below this are tiny after rounding to nearest, exponent unbounded */

struct floats {
    float f[LANES];
};

static struct floats to_floats(const vec *v)
{
    struct floats r;
    memcpy(&r, v, sizeof r);
    return r;
}

/* ------------------------------------------------------------ common parts */

/** Computes each lane by itself. */
static int slowly(struct core *c, struct warp *w, const struct op *o)
{
    for (uint32_t m = w->active; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m), rm = o->rm == 7 ? w->frm[l] : o->rm;
        uint8_t fl = 0;
        uint32_t r = fp_lane(o->code, w->x[o->rs1][l], w->x[o->rs2][l], w->x[o->rs3][l], rm, &fl);
        w->x[o->rd][l] = r;
        w->fflags[l] |= fl;
    }
    (void)c;
    return STEP_NEXT;
}

/** Returns the lowest lane with an invalid rounding mode, or LANES. */
static uint32_t bad_rounding(const struct warp *w, const struct op *o)
{
    uint32_t m = o->rm == 7 && w->any_frm ? w->active : 0;
    for (; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        if (w->frm[l] > 4) {
            return l;
        }
    }
    return LANES;
}

static int illegal(struct core *c, const struct op *o, uint32_t lane)
{
    uint32_t pc = c->block->pc + 4 * (uint32_t)(o - c->block->op);
    return fail(c, TERN_FAULT_ILLEGAL_INSTRUCTION, ACCESS_EXECUTE, pc, lane);
}

static bool to_nearest(const struct warp *w, const struct op *o)
{
    return o->rm == 0 || (o->rm == 7 && !w->any_frm);
}

static void finish(struct warp *w, const struct op *o, const struct floats *result, const uint32_t *flags)
{
    vec r;
    memcpy(&r, result, sizeof r);
    w->x[o->rd] = (r & w->on) | (w->x[o->rd] & ~w->on);
    for (int l = 0; l < LANES; l++) {
        w->fflags[l] |= flags[l] & w->on[l];
    }
}

/** Returns whether all active lanes of v are finite. */
static bool all_finite(const struct warp *w, const vec *v)
{
    const vec bad = (vec)((*v & 0x7f800000u) == 0x7f800000u) & w->on;
    uint32_t r = 0;
    for (int l = 0; l < LANES; l++) {
        r |= bad[l];
    }
    return !r;
}

/** Returns whether inexact is raised in all active lanes and no result has an exponent with which another flag could be
 *  raised. */
static bool ordinary(const struct warp *w, const struct floats *result)
{
    uint32_t bits[LANES], r = 0;
    memcpy(bits, result, sizeof bits);
    for (int l = 0; l < LANES; l++) {
        uint32_t e = bits[l] & 0x7f800000u;
        r |= ((e - 0x1000000u >= 0x7e800000u) | (~w->fflags[l] & NX)) & w->on[l];
    }
    return !r;
}

static void finish_ordinary(struct warp *w, const struct op *o, const struct floats *result)
{
    vec r;
    memcpy(&r, result, sizeof r);
    w->x[o->rd] = (r & w->on) | (w->x[o->rd] & ~w->on);
}

/** Flags of a result r. `exact` is on the same side of TINY as the exact value. */
static uint32_t raised(uint32_t inexact, double exact, float r)
{
    return inexact * NX | (inexact & (fabs(exact) < TINY)) * UF | (uint32_t)(fabsf(r) > 0x1.fffffep127f) * OF;
}

/** Flags of a result r, if s is the exact value or lies between the same two floats. */
static uint32_t flags_of(double s, float r)
{
    return raised((double)r != s, s, r);
}

/** p + c rounded to odd: an inexact sum becomes that of the two nearest doubles whose last bit is 1. */
static double sum_to_odd(double p, double c)
{
    double s = p + c, q = s - p, rest = (p - (s - q)) + (c - q);
    int64_t bits, towards;
    memcpy(&bits, &s, 8);
    memcpy(&towards, &rest, 8);
    int64_t outwards = (towards ^ bits) < 0 ? -1 : 1;
    bits += rest != 0 && !(bits & 1) ? outwards : 0;
    memcpy(&s, &bits, 8);
    return s;
}

/* -------------------------------------------------------------- arithmetic */

/** Operands with the signs that the operation uses: a + b, a * b, a / b, a * b + k. */
struct operands {
    struct floats a, b, k;
    vec bits[3];
};

/** The functions by which an operation is computed in all lanes. */
struct method {
    uint32_t operands;
    /* the operation counts as a multiply-add */
    bool counts;
    /* operands that go to fp.c, besides those that are not finite */
    bool (*special)(const struct warp *w, const struct operands *v);
    void (*quick)(const struct operands *v, struct floats *r);                     /* in floats; NULL: none */
    void (*exact)(const struct operands *v, struct floats *r, uint32_t *flags);
};

static inline __attribute__((always_inline)) int arithmetic(struct core *c, struct warp *w, const struct op *o,
                                                            const struct method *m, uint32_t a_sign, uint32_t b_sign,
                                                            uint32_t k_sign)
{
    struct operands v = {.bits = {w->x[o->rs1] ^ a_sign, w->x[o->rs2] ^ b_sign, w->x[o->rs3] ^ k_sign}};
    struct floats r;
    uint32_t flags[LANES], bad = bad_rounding(w, o);
    if (bad < LANES) {
        return illegal(c, o, bad);
    }
    c->e->count.fma += m->counts ? (uint32_t)__builtin_popcount(w->active) : 0;
    if (!to_nearest(w, o)) {
        return slowly(c, w, o);
    }
    v.a = to_floats(&v.bits[0]);
    v.b = to_floats(&v.bits[1]);
    v.k = to_floats(&v.bits[2]);
    if (m->quick) {
        m->quick(&v, &r);
        if (ordinary(w, &r)) {
            finish_ordinary(w, o, &r);
            return STEP_NEXT;
        }
    }
    for (uint32_t i = 0; i < m->operands; i++) {
        if (!all_finite(w, &v.bits[i])) {
            return slowly(c, w, o);
        }
    }
    if (m->special && m->special(w, &v)) {
        return slowly(c, w, o);
    }
    m->exact(&v, &r, flags);
    finish(w, o, &r, flags);
    return STEP_NEXT;
}

#define ALL_LANES_DO(name, statement)                                                \
    static void name(const struct operands *v, struct floats *r)                     \
    {                                                                                \
        for (int l = 0; l < LANES; l++) {                                            \
            r->f[l] = (statement);                                                   \
        }                                                                            \
    }
ALL_LANES_DO(quick_add, v->a.f[l] + v->b.f[l])
ALL_LANES_DO(quick_mul, v->a.f[l] * v->b.f[l])
ALL_LANES_DO(quick_div, v->a.f[l] / v->b.f[l])
ALL_LANES_DO(quick_sqrt, sqrtf(v->a.f[l]))
#ifdef FP_FAST_FMAF
ALL_LANES_DO(quick_fma, fmaf(v->a.f[l], v->b.f[l], v->k.f[l]))
#else
#define quick_fma NULL /* fmaf is a library function here, slower than the exact method */
#endif

static void exact_add(const struct operands *v, struct floats *r, uint32_t *flags)
{
    for (int l = 0; l < LANES; l++) {
        double s = sum_to_odd((double)v->a.f[l], (double)v->b.f[l]);
        r->f[l] = (float)s;
        flags[l] = flags_of(s, r->f[l]);
    }
}

static void exact_mul(const struct operands *v, struct floats *r, uint32_t *flags)
{
    for (int l = 0; l < LANES; l++) {
        double p = (double)v->a.f[l] * (double)v->b.f[l];
        r->f[l] = (float)p;
        flags[l] = flags_of(p, r->f[l]);
    }
}

static void exact_fma(const struct operands *v, struct floats *r, uint32_t *flags)
{
    for (int l = 0; l < LANES; l++) {
        double s = sum_to_odd((double)v->a.f[l] * (double)v->b.f[l], (double)v->k.f[l]);
        r->f[l] = (float)s;
        flags[l] = flags_of(s, r->f[l]);
    }
}

/** Division. A result is inexact if result * divisor, which is exact in a double, is not the dividend. */
static void exact_div(const struct operands *v, struct floats *r, uint32_t *flags)
{
    for (int l = 0; l < LANES; l++) {
        double q = (double)v->a.f[l] / (double)v->b.f[l];
        r->f[l] = (float)q;
        uint32_t inexact = (double)r->f[l] * (double)v->b.f[l] != (double)v->a.f[l];
        flags[l] = raised(inexact, q, r->f[l]);
    }
}

static void exact_sqrt(const struct operands *v, struct floats *r, uint32_t *flags)
{
    for (int l = 0; l < LANES; l++) {
        r->f[l] = (float)sqrt((double)v->a.f[l]);
        flags[l] = (double)r->f[l] * (double)r->f[l] != (double)v->a.f[l] ? NX : 0;
    }
}

static bool by_zero(const struct warp *w, const struct operands *v)
{
    uint32_t r = 0;
    for (int l = 0; l < LANES; l++) {
        r |= (v->bits[1][l] << 1 == 0) & w->on[l];
    }
    return r;
}

static bool of_negative(const struct warp *w, const struct operands *v)
{
    uint32_t r = 0;
    for (int l = 0; l < LANES; l++) {
        r |= (v->bits[0][l] > MINUS) & w->on[l];
    }
    return r;
}

static const struct method add = {2, true, NULL, quick_add, exact_add}, mul = {2, true, NULL, quick_mul, exact_mul},
                           fused = {3, true, NULL, quick_fma, exact_fma},
                           division = {2, false, by_zero, quick_div, exact_div},
                           root = {1, false, of_negative, quick_sqrt, exact_sqrt};

#define ARITHMETIC(name, method, a_sign, b_sign, k_sign)                             \
    static int name(struct core *c, struct warp *w, const struct op *o)              \
    {                                                                                \
        return arithmetic(c, w, o, &(method), a_sign, b_sign, k_sign);               \
    }
ARITHMETIC(run_fadd, add, 0, 0, 0)
ARITHMETIC(run_fsub, add, 0, MINUS, 0)
ARITHMETIC(run_fmul, mul, 0, 0, 0)
ARITHMETIC(run_fdiv, division, 0, 0, 0)
ARITHMETIC(run_fsqrt, root, 0, 0, 0)
ARITHMETIC(run_fmadd, fused, 0, 0, 0)
ARITHMETIC(run_fmsub, fused, 0, 0, MINUS)
ARITHMETIC(run_fnmsub, fused, MINUS, 0, 0)
ARITHMETIC(run_fnmadd, fused, MINUS, 0, MINUS)

/* ------------------------------------------------------------- conversions */

/* Conversion from an integer, which a double holds exactly. */
#define FROM_INTEGER(name, type)                                                     \
    static int name(struct core *c, struct warp *w, const struct op *o)              \
    {                                                                                \
        uint32_t bad = bad_rounding(w, o), flags[LANES];                             \
        struct floats r;                                                             \
        const vec a = w->x[o->rs1];                                                  \
        if (bad < LANES) {                                                           \
            return illegal(c, o, bad);                                               \
        }                                                                            \
        if (!to_nearest(w, o)) {                                                     \
            return slowly(c, w, o);                                                  \
        }                                                                            \
        for (int l = 0; l < LANES; l++) {                                            \
            double d = (double)(type)a[l];                                           \
            r.f[l] = (float)d;                                                       \
            flags[l] = (double)r.f[l] != d ? NX : 0;                                 \
        }                                                                            \
        finish(w, o, &r, flags);                                                     \
        return STEP_NEXT;                                                            \
    }

FROM_INTEGER(run_from_int, int32_t)
FROM_INTEGER(run_from_uint, uint32_t)

/** Conversion to an integer in the modes that compilers use, to nearest and towards zero. */
static int run_to_integer(struct core *c, struct warp *w, const struct op *o)
{
    uint32_t bad = bad_rounding(w, o), flags[LANES], beyond = 0;
    bool nearest = to_nearest(w, o);
    const vec va = w->x[o->rs1];
    const struct floats a = to_floats(&va);
    vec r;
    if (bad < LANES) {
        return illegal(c, o, bad);
    }
    if (!nearest && o->rm != 1) {
        return slowly(c, w, o);
    }
    double low = o->code == OP_FCVT_W_S ? -0x1p31 : 0, high = 0x1p31 - 1; /* only the lower half of unsigned numbers */
    for (int l = 0; l < LANES; l++) {
        double d = (double)a.f[l], i = nearest ? rint(d) : trunc(d);
        uint32_t outside = !((i >= low) & (i <= high)); /* also for NaN */
        beyond |= outside & w->on[l];
        r[l] = (uint32_t)(int32_t)(outside ? 0 : i);
        flags[l] = i != d ? NX : 0;
    }
    if (beyond) {
        return slowly(c, w, o);
    }
    struct floats bits;
    memcpy(&bits, &r, sizeof bits);
    finish(w, o, &bits, flags);
    return STEP_NEXT;
}

/* ------------------------------------------------------------- comparisons */

static uint32_t is_nan(uint32_t x)
{
    return (x & ~MINUS) > 0x7f800000u;
}

static uint32_t is_signaling(uint32_t x)
{
    return is_nan(x) & !(x & 0x400000u);
}

/** The rank of a number in the order of all numbers; -0 is below +0. */
static int32_t rank(uint32_t x)
{
    return (int32_t)(x ^ (uint32_t)((int32_t)x >> 31) >> 1);
}

/* Defines a handler that computes r, and `invalid`, from x and y. */
#define COMPARISON(name, result, invalid)                                            \
    static int name(struct core *c, struct warp *w, const struct op *o)              \
    {                                                                                \
        const vec a = w->x[o->rs1], b = w->x[o->rs2];                                \
        const struct floats fa = to_floats(&a), fb = to_floats(&b);                  \
        vec r;                                                                       \
        uint32_t flags[LANES];                                                       \
        (void)c, (void)fa, (void)fb;                                                 \
        for (int l = 0; l < LANES; l++) {                                            \
            uint32_t x = a[l], y = b[l];                                             \
            r[l] = (result);                                                         \
            flags[l] = (invalid) * NV;                                               \
        }                                                                            \
        struct floats bits;                                                          \
        memcpy(&bits, &r, sizeof bits);                                              \
        finish(w, o, &bits, flags);                                                  \
        return STEP_NEXT;                                                            \
    }

#define EITHER_NAN (is_nan(x) | is_nan(y))
#define EITHER_SIGNALING (is_signaling(x) | is_signaling(y))
#define LESSER(p, q) (is_nan(x) ? (is_nan(y) ? QNAN : y) : is_nan(y) ? x : rank(p) < rank(q) ? x : y)
COMPARISON(run_feq, fa.f[l] == fb.f[l], EITHER_SIGNALING)
COMPARISON(run_flt, fa.f[l] < fb.f[l], EITHER_NAN)
COMPARISON(run_fle, fa.f[l] <= fb.f[l], EITHER_NAN)
COMPARISON(run_fmin, LESSER(x, y), EITHER_SIGNALING)
COMPARISON(run_fmax, LESSER(y, x), EITHER_SIGNALING)

handler *float_handler(const struct instruction *i)
{
    static handler *const arithmetic[] = {run_fmadd, run_fmsub, run_fnmsub, run_fnmadd, run_fadd,
                                          run_fsub,  run_fmul,  run_fdiv,   run_fsqrt};
    static handler *const other[] = {run_fmin,     run_fmax,      run_to_integer, run_to_integer, run_from_int,
                                     run_from_uint, run_feq,       run_flt,        run_fle,        slowly};
    if (i->op >= OP_FMADD && i->op <= OP_FSQRT) {
        return arithmetic[i->op - OP_FMADD];
    }
    return i->op >= OP_FMIN && i->op <= OP_FCLASS ? other[i->op - OP_FMIN] : NULL;
}
