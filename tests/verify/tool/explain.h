/* SPDX-License-Identifier: Apache-2.0 */
/** Why a case differs: what the studied case is, where the devices part, and what to look at. */
#ifndef EXPLAIN_H
#define EXPLAIN_H

#include "disassemble.h"
#include "verify.h"

/* -------------------------------------------------------------- history.c */

/** Warp instructions of a run, as they came. */
struct history {
    struct tern_sim_retired *r;
    uint32_t count, room;
    bool lost;               /**< Out of memory: some are missing. */
};
/** A tern_sim_observer; user is a struct history. */
void history_add(void *user, const struct tern_sim_retired *r);
void history_free(struct history *h);

enum parting_kind {
    PART_NONE,
    PART_VALUE,              /**< Another value into the register. */
    PART_FLOW,               /**< Another instruction. */
    PART_NOT_RUN,            /**< Expected, but the work-item ran no further. */
    PART_EXTRA,              /**< The work-item should have ended, or faulted. */
};

/** Where a work-item parts from what was expected. [0]: the model, [1]: the RTL. */
struct parting {
    enum parting_kind kind;
    uint32_t engine, submit, group[3], warp, lane, mask;
    uint32_t pc[2], word[2], value[2], rd;
    uint64_t time[2];        /**< Device time of issue. */
    uint32_t lanes;          /**< Lanes of the RTL's warp instruction whose values differ (PART_VALUE). */
    uint32_t expected[32], got[32];
    uint32_t before[2][32];  /**< Registers of the work-item before, as far as known. */
    uint32_t known;          /**< Which. */
};

/**
 * Compares the instructions work-item by work-item and gives the first, in the RTL's device time, that differs though
 * what it reads does not: others follow from it. Results that the architecture leaves open (the clock, atomics) count
 * only if there is nothing else. 0, or -ENOMEM.
 */
int history_compare(const struct scene *s, const struct history *model, const struct ending *model_end,
                    const struct history *rtl, const struct ending *rtl_end, uint32_t lanes, struct parting *out);

/* -------------------------------------------------------------- explain.c */

/** A case that differs, studied. */
struct study {
    struct test_case c;      /**< Shrunk. */
    uint32_t kept;
    struct difference difference; /**< Of the shrunk case. */
    bool observed;           /**< Both devices told their instructions. */
    struct parting parting;
    uint32_t code_first, code_count, code[9]; /**< Instructions around it. */
    char waves[512];         /**< File; empty if there is none. */
    uint64_t waves_from, waves_to;
    char note[512];          /**< The step that could not be done, and why. */
};

/** Runs the case again, watched, and fills difference, parting, code and waves. path: of the waveform. 0 or -errno. */
int explain(const struct pair *p, const char *path, struct study *out);

#endif
