/* SPDX-License-Identifier: Apache-2.0 */
/** Parts of --mutants: one mutant (mutant_try.c), several at a time (mutant_pool.c), and hints (mutant_hints.c). */
#ifndef MUTANTS_H
#define MUTANTS_H

#include "command.h"
#include "preempt.h"

/** The mutants of a library. names and tests end with NULL; tests may be NULL. */
struct list {
    const char *const *names, *const *tests;
};

/* --------------------------------------------------------- mutant_hints.c */

/** A test that has caught a mutant: a case, or the stop of a kernel at a cycle. */
struct hint {
    char geometry[16], name[64], kind[16], kernel[32]; /**< kernel: for kind preempt. */
    uint64_t at;                                       /**< Seed, or cycle. */
};

struct hints {
    struct hint *hint;
    uint32_t count;
};

/** Reads the hints; a missing file has none. Returns 0, -ENOMEM, or -EINVAL with a message. */
int hints_read(const char *path, struct hints *out);
void hints_free(struct hints *h);
/** Returns NULL if there is no hint. */
const struct hint *hints_find(const struct hints *h, const char *geometry, const char *name);
/** Adds a hint, or replaces that of the same geometry and name. Returns 0 or -ENOMEM. */
int hints_put(struct hints *h, const struct hint *hint);
/** Writes the hints sorted by geometry and name. Returns 0 or -errno. */
int hints_write(const char *path, struct hints *h);

/* ----------------------------------------------------------- mutant_try.c */

struct trial {
    uint32_t mutant;
    bool preempt;             /**< The mutant was tried by the signature test (preempt.h). */
    bool hinted;              /**< The hint caught the mutant. */
    bool caught, interrupted;
    /** A case was too slow: with the mutant, which was not caught; or without it, the case that caught the mutant. */
    bool slow;
    bool false_alarm;         /**< The test that caught the mutant fails without it as well. */
    struct campaign campaign; /**< The trial by seeds. */
    struct campaign unchanged;/**< The test that caught the mutant, on the unchanged RTL: sums only. */
    uint64_t unchanged_stops;
    bool studied;
    struct study study;
    struct preempt_end end;
};

/** Returns the name of a mutant, or of the unchanged RTL (0). */
const char *mutant_name(const struct list *l, uint32_t mutant);
/** Returns true if the mutant was asked for. */
bool mutant_wanted(const struct options *o, const char *name);
/** Tries a mutant on its hint, which may be NULL, and if that does not catch it, on the tests that options and list
 *  give. The test that catches the mutant is also run on the unchanged RTL. mutant 0: the unchanged RTL by --kind
 *  preempt. Returns 0, or -errno with nothing to free. */
int mutant_try(const struct options *o, struct pair *p, const struct list *l, uint32_t mutant, const struct hint *hint,
               struct trial *out);

/* ---------------------------------------------------------- mutant_pool.c */

/** Tries many mutants, each in a process of its own, as many at a time as there are jobs. hint[i] is that of mutant[i].
 *  take gets them in order, with the result of mutant_try; when it returns false, the remaining processes are ended.
 *  Returns 0, -EINTR if interrupted, or -errno. */
int mutants_pool(const struct options *o, struct pair *p, const struct list *l, const uint32_t *mutant,
                 const struct hint *const *hint, uint32_t count, bool (*take)(void *user, struct trial *t, int r),
                 void *user);

#endif
