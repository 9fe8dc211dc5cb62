/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A sweep runs built-in functions of OpenCL C over all combinations of corner values, and over random ones, in scalar
 * and vector forms, and compares each result with a reference computed on the host.
 *
 * A case is one function with fixed element types, given by a statement over the inputs a, b, c and the outputs r, s.
 * In the form of width N these are vectors of N elements, or scalars where the case says so. References compute with
 * scalars only.
 *
 * Functions of one argument of at most 16 bits run with all of its values; those of a half with one in 23, unless
 * TERN_SWEEP is set.
 *
 * TERN_SWEEP=N       N random combinations a case and all vector widths (default: 96, two widths)
 * TERN_SWEEP_SEED=N  seed of the random values (default 1)
 * TERN_SWEEP_ONLY=F  only functions whose name begins with F
 * TERN_SWEEP_RANGE=FIRST+COUNT  instead, of functions of one argument of 32 bits, the COUNT arguments from bit pattern
 *                    FIRST on, scalar form only; "list" only prints which functions these are. For sweep/ranges.
 * TERN_SWEEP_CASE=C  only the case that a list or a message calls C
 */
#ifndef SWEEP_H
#define SWEEP_H

#include "../clt.h"

#include <stdbool.h>

enum sweep_type {
    SWEEP_NONE,
    SWEEP_CHAR,
    SWEEP_UCHAR,
    SWEEP_SHORT,
    SWEEP_USHORT,
    SWEEP_INT,
    SWEEP_UINT,
    SWEEP_LONG,
    SWEEP_ULONG,
    SWEEP_HALF,
    SWEEP_FLOAT,
    SWEEP_DOUBLE,
    SWEEP_TYPES
};

/** An element. Integers narrower than 64 bits are sign-extended, or zero-extended if they are unsigned. A half is the
 *  float of the same value. */
union sweep_value {
    int64_t i;
    uint64_t u;
    float f;
    double d;
};

struct sweep_case {
    const char *name; /**< The function's name. */
    const char *code; /**< The statement that is run, such as "r = f(a, b);". */
    enum sweep_type in[3], out[2]; /**< Unused inputs and outputs are SWEEP_NONE. */
    unsigned scalar; /**< Bit i: input i is a scalar in vector forms too. */
    bool no_vectors; /**< Only the scalar form exists. */
    double bound; /**< Maximum value that check may return. */
    /** Returns the error of got in units in the last place: 0 if it is right, infinity if it is not near. width: of the
     *  form. */
    double (*check)(const struct sweep_case *c, unsigned width, const union sweep_value in[3],
                    const union sweep_value got[2], union sweep_value expected[2]);
    const void *reference; /**< Data of check. */
};

extern const char *const sweep_names[SWEEP_TYPES];
extern const unsigned sweep_sizes[SWEEP_TYPES];

/**
 * Runs the cases, built with these options, and prints the first wrong results of each. The test fails if there are
 * any.
 */
void sweep_run(const struct sweep_case *cases, size_t n, const char *options);

/** Returns the corner values of a type. With `few`, a smaller set for functions of three arguments. */
size_t sweep_corners(enum sweep_type t, bool few, union sweep_value *values);
enum { SWEEP_MOST_CORNERS = 160 };
/** Returns a random value: any bits, a value near one, or a small one. */
union sweep_value sweep_random(enum sweep_type t, uint32_t *state);
/** Returns a random value of part i of n equal parts of all bit patterns. */
union sweep_value sweep_part(enum sweep_type t, size_t i, size_t n, uint32_t *state);

/** Returns whether a range is swept. A reference may then use the host's double function for speed where that
 * decides. */
bool sweep_is_range(void);

/** Returns x rounded to half, to nearest even. */
float sweep_half(double x);

bool sweep_is_float(enum sweep_type t);
bool sweep_is_nan(enum sweep_type t, union sweep_value v);
double sweep_number(enum sweep_type t, union sweep_value v);
/** Returns whether the values are equal, with zeros compared by sign and all NaNs equal. */
bool sweep_same(enum sweep_type t, union sweep_value a, union sweep_value b);
/** A result for check: 0 if got equals expected (both outputs), else infinity. */
double sweep_exact(const struct sweep_case *c, const union sweep_value got[2], const union sweep_value expected[2]);

#endif
