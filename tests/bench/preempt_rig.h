/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A device below the scheduler, for measuring what the engines themselves do: one address space in which
 * all of a fixed range is mapped to itself, a program in it, one DMA buffer with one dispatch, one
 * context-save area; submit, stop, resume.
 *
 * Times are readings of dev.time_lo, in cycles; differences of two are right across its wrap. Functions give 0 or
 * -errno, and what went wrong is on stderr by then.
 */
#ifndef TERN_BENCH_PREEMPT_RIG_H
#define TERN_BENCH_PREEMPT_RIG_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler.h"
#include "hal/config.h"
#include "kmd/kmd.h"

struct rig {
    struct tern_hal *hal;
    struct tern_kmd kmd;
    struct tc_image image;
    uint32_t data; /**< Address of the first byte behind the program. */
    uint32_t size; /**< Of the DMA buffer. */
    uint32_t issued[TERN_ENGINES_MAX]; /**< cnt_issue when the engine was last told to run. */
};

/** Whose messages these are: "preempt", or the name of another suite. */
extern const char *rig_suite;

struct rig_source {
    const char *text, *end;
};

struct rig_range {
    uint32_t dims, global[3], local[3], local_bytes;
};

/** What a saved context consists of. */
struct rig_saved {
    uint32_t bytes;     /**< Of the area that were written. */
    uint32_t local;     /**< Of them: local memory of the resident groups. */
    uint32_t extra;     /**< Of them: neither that nor registers. */
};

int rig_open(const struct tern_config *config, const struct rig_source *sources, unsigned n, struct rig *out);
void rig_close(struct rig *r);

const struct tc_kernel *rig_kernel(const struct rig *r, const char *name);
/** A dispatch of this kernel, whose private memory begins at `stack`. -EINVAL: it does not fit the device. */
int rig_pack(const struct rig *r, const struct tc_kernel *kernel, const struct rig_range *range, uint32_t args,
             uint32_t stack, uint32_t *packet);
/** The buffer becomes a dispatch of this kernel; stack: where its private memory begins. */
int rig_dispatch(struct rig *r, const struct tc_kernel *kernel, const struct rig_range *range, const void *args,
                 uint32_t stack);
/** By the device itself, on engine 0, which must be idle. */
int rig_copy(struct rig *r, uint32_t dst, uint32_t src, uint32_t bytes);
int rig_write(struct rig *r, uint32_t address, const void *data, size_t bytes);
int rig_read(struct rig *r, uint32_t address, void *data, size_t bytes);

int rig_now(struct rig *r, uint32_t *cycles);
/** Lets the device run; ends early when an indication waits. */
int rig_pass(struct rig *r, uint32_t cycles);
/** Rings the doorbell; *at: the moment before. */
int rig_submit(struct rig *r, uint32_t engine, bool resume, uint32_t *at);
/** Until the engine has issued an instruction since it was told to run, *at: the moment after; or until an
 *  indication waits (*ended). */
int rig_running(struct rig *r, uint32_t engine, uint32_t *at, bool *ended);
/** Asks for a stop at instruction granularity; *at: the moment before. */
int rig_preempt(struct rig *r, uint32_t engine, uint32_t *at);
/** Waits for the indication. -EIO: it is a fault. */
int rig_wait(struct rig *r, uint32_t engine, struct tern_indication *out);
int rig_saved(struct rig *r, struct rig_saved *out);

#endif
