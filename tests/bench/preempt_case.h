/* SPDX-License-Identifier: Apache-2.0 */
/** The kernels that `tern bench preempt` stops: ranges, arguments, what is in memory before. */
#ifndef TERN_BENCH_PREEMPT_CASE_H
#define TERN_BENCH_PREEMPT_CASE_H

#include "preempt_rig.h"

#define PREEMPT_ARGS 5

enum preempt_arg_kind { ARG_END, ARG_ZEROS, ARG_WORDS, ARG_FLOATS, ARG_SORTED, ARG_VALUE, ARG_REAL, ARG_LOCAL };

/** A buffer of `value` bytes with these contents, a value, or local memory of so many bytes. */
struct preempt_arg {
    enum preempt_arg_kind kind;
    uint32_t value;
    float real;
};

struct preempt_case {
    const char *kernel;
    struct rig_range range; /**< local_bytes is found out from kernel and arguments. */
    struct preempt_arg args[PREEMPT_ARGS];
};

extern const struct preempt_case preempt_cases[];
extern const unsigned preempt_n_cases;
/** For the cost of preemption: a longer one. */
extern const struct preempt_case preempt_long_case;

/** A case in the memory of a rig: its buffers, and behind them what they hold at first, from
 * where the device copies it. */
struct preempt_scene {
    struct rig *rig;
    uint8_t *after, *seen; /**< Buffers after a run without a stop, and at last. */
    uint32_t bytes;        /**< Of all buffers. */
};

/** Puts the arguments' values into their block, buffers from r->data on; *bytes: of all buffers, *local: of local
 *  memory. -EINVAL: the kernel has others. */
int preempt_lay_out(const struct rig *r, const struct preempt_case *c, const struct tc_kernel *k, uint8_t *block,
                    uint32_t *bytes, uint32_t *local);
/** What the buffers hold before. */
void preempt_fill(const struct preempt_case *c, uint8_t *to);

/** Lays the case out; before each run, scene_reset. */
int scene_open(struct rig *r, const struct preempt_case *c, struct preempt_scene *out);
void scene_close(struct preempt_scene *s);
int scene_reset(struct preempt_scene *s);
/** Remembers what memory holds now as what is right. */
int scene_learn(struct preempt_scene *s);
/** Compares memory with that; a difference is told. 1: the same, 0: not. */
int scene_compare(struct preempt_scene *s, const char *kernel);

#endif
