/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A device below the scheduler, to measure the engines alone: one address space with a fixed range mapped to itself, a
 * program in it, one DMA buffer with one dispatch, and one context-save area. The rig submits, stops and resumes.
 *
 * Times are readings of dev.time_lo, in cycles; their differences are right across its wrap. Functions return 0 or
 * -errno after a message on stderr.
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
    uint32_t data; /**< Address of the first byte after the program. */
    uint32_t size; /**< Bytes of the DMA buffer. */
    uint32_t issued[TERN_ENGINES_MAX]; /**< cnt_issue when the engine was last told to run. */
};

/** The suite that messages name, "preempt" or another. */
extern const char *rig_suite;

struct rig_source {
    const char *text, *end;
};

struct rig_range {
    uint32_t dims, global[3], local[3], local_bytes;
};

/** Sizes of the parts of a saved context. */
struct rig_saved {
    uint32_t bytes;     /**< Bytes of the area that were written. */
    uint32_t local;     /**< Bytes among them that are local memory of the resident groups. */
    uint32_t extra;     /**< Bytes among them that are neither local memory nor registers. */
};

int rig_open(const struct tern_config *config, const struct rig_source *sources, unsigned n, struct rig *out);
void rig_close(struct rig *r);

const struct tc_kernel *rig_kernel(const struct rig *r, const char *name);
/** Packs a dispatch of this kernel, whose private memory begins at `stack`. Returns -EINVAL if the dispatch does not
 * fit the device. */
int rig_pack(const struct rig *r, const struct tc_kernel *kernel, const struct rig_range *range, uint32_t args,
             uint32_t stack, uint32_t *packet);
/** Makes the DMA buffer a dispatch of this kernel, whose private memory begins at `stack`. */
int rig_dispatch(struct rig *r, const struct tc_kernel *kernel, const struct rig_range *range, const void *args,
                 uint32_t stack);
/** Copies by the device itself, on engine 0, which must be idle. */
int rig_copy(struct rig *r, uint32_t dst, uint32_t src, uint32_t bytes);
int rig_write(struct rig *r, uint32_t address, const void *data, size_t bytes);
int rig_read(struct rig *r, uint32_t address, void *data, size_t bytes);

int rig_now(struct rig *r, uint32_t *cycles);
/** Lets the device run. Returns early when an indication is pending. */
int rig_pass(struct rig *r, uint32_t cycles);
/** Rings the doorbell. *at: the time before. */
int rig_submit(struct rig *r, uint32_t engine, bool resume, uint32_t *at);
/** Waits until the engine has issued an instruction since it was told to run, with the time after in *at, or until an
 *  indication is pending (*ended). */
int rig_running(struct rig *r, uint32_t engine, uint32_t *at, bool *ended);
/** Requests a stop at instruction granularity. *at: the time before. */
int rig_preempt(struct rig *r, uint32_t engine, uint32_t *at);
/** Waits for the indication. Returns -EIO if it is a fault. */
int rig_wait(struct rig *r, uint32_t engine, struct tern_indication *out);
int rig_saved(struct rig *r, struct rig_saved *out);

#endif
