/* SPDX-License-Identifier: Apache-2.0 */
/** Parts of the generator of random kernels (random_kernel.h). */
#ifndef RANDOM_GENERATOR_H
#define RANDOM_GENERATOR_H

#include "clt.h"
#include "random_kernel.h"

#define MOST_VARIABLES 24u

/** Types of values. Narrower and signed types appear in casts, loads and stores. */
enum type { UINT, ULONG, FLOAT };

struct generator {
    uint32_t seed;
    char *text;
    size_t length;
    int straight; /* Expressions have no calls, and are short, so that kernels are coarsened. */
    unsigned own;                         /* Words of out, and of io, that belong to one work-item. */
    unsigned loops;                       /* Loops around the statement that is being written. */
    unsigned n, made;                     /* Variables in scope; variables made so far. */
    struct { enum type type; unsigned id; } variables[MOST_VARIABLES];
};

static inline uint32_t below(struct generator *g, uint32_t n)
{
    return clt_random(&g->seed) % n;
}

static inline const char *one_of(struct generator *g, const char *const *list, size_t n)
{
    return list[below(g, (uint32_t)n)];
}

#define ONE_OF(g, ...) one_of(g, (const char *const[]){__VA_ARGS__}, LENGTH(((const char *const[]){__VA_ARGS__})))

__attribute__((format(printf, 2, 3))) void random_put(struct generator *g, const char *format, ...);
void random_expression(struct generator *g, enum type type, unsigned depth);
/** Writes the declaration of a variable. */
void random_declare(struct generator *g);
/** Writes a store to the work-item's own words. */
void random_store(struct generator *g);
/** Writes a condition on ids. For most of them the compiler knows that neighbouring work-items usually agree. */
void random_guard(struct generator *g);
/** Writes the body of a uniform kernel. */
void random_uniform_body(struct generator *g);

#endif
