/* SPDX-License-Identifier: Apache-2.0 */
/** The kernels that `tern bench preempt` stops: their ranges, arguments, and initial memory. */
#ifndef TERN_BENCH_PREEMPT_CASE_H
#define TERN_BENCH_PREEMPT_CASE_H

#include "preempt_rig.h"

#define PREEMPT_ARGS 5

enum preempt_arg_kind { ARG_END, ARG_ZEROS, ARG_WORDS, ARG_FLOATS, ARG_SORTED, ARG_VALUE, ARG_REAL, ARG_LOCAL };

/** A buffer of `value` bytes with these contents, a value, or `value` bytes of local memory. */
struct preempt_arg {
    enum preempt_arg_kind kind;
    uint32_t value;
    float real;
};

struct preempt_case {
    const char *kernel;
    struct rig_range range; /**< local_bytes is computed from kernel and arguments. */
    struct preempt_arg args[PREEMPT_ARGS];
};

extern const struct preempt_case preempt_cases[];
extern const unsigned preempt_n_cases;
/** A longer case, for the cost of preemption. */
extern const struct preempt_case preempt_long_case;

/** A case in a rig's memory: its buffers, followed by their initial contents, which the device copies before each
 * run. */
struct preempt_scene {
    struct rig *rig;
    uint8_t *after, *seen; /**< Contents of the buffers after an uninterrupted run, and as last read. */
    uint32_t bytes;        /**< Bytes of all buffers. */
};

/** Writes the arguments into their block and places the buffers from r->data on. *bytes: size of all buffers; *local:
 *  size of local memory. Returns -EINVAL if the kernel has other arguments. */
int preempt_lay_out(const struct rig *r, const struct preempt_case *c, const struct tc_kernel *k, uint8_t *block,
                    uint32_t *bytes, uint32_t *local);
/** Writes the buffers' initial contents. */
void preempt_fill(const struct preempt_case *c, uint8_t *to);

/** Lays the case out. scene_reset is to be called before each run. */
int scene_open(struct rig *r, const struct preempt_case *c, struct preempt_scene *out);
void scene_close(struct preempt_scene *s);
int scene_reset(struct preempt_scene *s);
/** Reads memory as the expected contents. */
int scene_learn(struct preempt_scene *s);
/** Compares memory with the expected contents, and reports a difference. Returns 1 if equal, 0 if not, or -errno. */
int scene_compare(struct preempt_scene *s, const char *kernel);

#endif
