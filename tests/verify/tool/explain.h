/* SPDX-License-Identifier: Apache-2.0 */
/** The study of a case that differs: the shrunk case, the first instruction that differs, and its surroundings. */
#ifndef EXPLAIN_H
#define EXPLAIN_H

#include "disassemble.h"
#include "verify.h"

/* -------------------------------------------------------------- history.c */

/** Retired warp instructions of a run, in order. */
struct history {
    struct tern_sim_retired *r;
    uint32_t count, room;
    bool lost;               /**< Out of memory: some are missing. */
};
/** A tern_sim_observer whose user is a struct history. */
void history_add(void *user, const struct tern_sim_retired *r);
void history_free(struct history *h);

enum parting_kind {
    PART_NONE,
    PART_VALUE,              /**< Another value was written to the register. */
    PART_FLOW,               /**< Another instruction. */
    PART_NOT_RUN,            /**< An expected instruction: the work-item ran no further. */
    PART_EXTRA,              /**< The work-item should have ended or faulted. */
};

/** The first difference of a work-item. [0]: the model, [1]: the RTL. */
struct parting {
    enum parting_kind kind;
    uint32_t engine, submit, group[3], warp, lane, mask;
    uint32_t pc[2], word[2], value[2], rd;
    uint64_t time[2];        /**< Device time of issue, in cycles. */
    uint32_t lanes;          /**< Lanes of the RTL's warp instruction whose values differ (PART_VALUE). */
    uint32_t expected[32], got[32];
    uint32_t before[2][32];  /**< Registers of the work-item before the instruction. */
    uint32_t known;          /**< Mask of the registers whose values are known. */
};

/**
 * Compares the instructions of each work-item. Gives the first one, in the RTL's device time, that differs although its
 * sources do not; other differences follow from it. Results that the architecture leaves open (the clock, atomics)
 * count only if nothing else differs. Returns 0 or -ENOMEM.
 */
int history_compare(const struct scene *s, const struct history *model, const struct ending *model_end,
                    const struct history *rtl, const struct ending *rtl_end, uint32_t lanes, struct parting *out);

/* -------------------------------------------------------------- explain.c */

/** A case that differs, studied. */
struct study {
    struct test_case c;      /**< The shrunk case. */
    uint32_t kept;
    struct difference difference; /**< Difference of the shrunk case. */
    bool observed;           /**< Both devices reported their instructions. */
    struct parting parting;
    uint32_t code_first, code_count, code[9]; /**< Instructions around the difference. */
    char waves[512];         /**< File; empty if there is none. */
    uint64_t waves_from, waves_to;
    char note[512];          /**< Why a step could not be done; empty: all were. */
};

/** Runs the case again, observed, and fills difference, parting, code and waves. path: of the waveform. Returns 0 or
 * -errno. */
int explain(const struct pair *p, const char *path, struct study *out);

#endif
