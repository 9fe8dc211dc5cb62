/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Kernels straight on the driver, for benches that need more of it than OpenCL shows: contexts by the hundred, their
 * bands and weights, the moment of each submission. OpenCL C is compiled and linked once, and placed at the same
 * address in as many processes as wanted; a call is a kernel with its range, ready to be submitted again and again.
 *
 * Functions give 0 or -errno; what went wrong is on stderr by then.
 */
#ifndef TERN_BENCH_DIRECT_H
#define TERN_BENCH_DIRECT_H

#include <stdint.h>

#include "runtime/core/place.h"
#include "tern/tern.h"
#include "tern/tern_spec.h"

#define DIRECT_ARGS_BYTES 4096u

struct direct_program {
    struct tc_image image;
};

/** A process with the program in it. */
struct direct_process {
    struct tern_process *proc;
    const struct direct_program *program;
    struct tern_device_info info;
    struct rt_place_parts parts;
};

struct direct_range {
    uint32_t dims, global[3], local[3];
    uint32_t local_bytes; /**< Of local arguments; the kernel's own local variables come on top, in front of them. */
};

/** A kernel with arguments and private memory of its own. Calls that run in one context, so one after
 * the other, may share both. */
struct direct_call {
    const struct tc_kernel *kernel;
    struct tern_allocation *block; /**< Arguments, then private memory. */
    uint32_t packet[TERN_PKT_DISPATCH_LINES * 16];
};

int direct_build(const char *source, size_t size, struct direct_program *out);
void direct_free(struct direct_program *program);

/** partition NULL: that of tern_process_create. */
int direct_process_create(struct tern_device *dev, const char *partition, const char *name,
                          const struct direct_program *program, struct direct_process *out);
/** Its contexts and the caller's allocations are gone. */
void direct_process_destroy(struct direct_process *p);

/** args: the argument block as the kernel's arguments lie in it, `size` bytes; addresses
 * are tern_allocation_address. */
int direct_call_create(const struct direct_process *p, const char *kernel, const struct direct_range *range,
                       const void *args, size_t size, struct direct_call *out);
void direct_call_destroy(struct direct_call *call);

#endif
