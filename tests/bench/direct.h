/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Kernels directly on the driver, for benches that need more of it than OpenCL shows: hundreds of contexts, their bands
 * and weights, the moment of each submission. OpenCL C is compiled and linked once, and placed at the same address in
 * any number of processes. A call is a kernel with its range, which can be submitted repeatedly.
 *
 * Functions return 0 or -errno after a message on stderr.
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

/** A process with the program in its memory. */
struct direct_process {
    struct tern_process *proc;
    const struct direct_program *program;
    struct tern_device_info info;
    struct rt_place_parts parts;
};

struct direct_range {
    uint32_t dims, global[3], local[3];
    /** Bytes of local arguments. The kernel's own local variables lie in front of them and are added. */
    uint32_t local_bytes;
};

/** A kernel with its own arguments and private memory. Calls in one context run one after another, so they may share
 * both. */
struct direct_call {
    const struct tc_kernel *kernel;
    struct tern_allocation *block; /**< The argument block, then private memory. */
    uint32_t packet[TERN_PKT_DISPATCH_LINES * 16];
};

int direct_build(const char *source, size_t size, struct direct_program *out);
void direct_free(struct direct_program *program);

/** Creates a process with the program. partition NULL: the partition that tern_process_create chooses. */
int direct_process_create(struct tern_device *dev, const char *partition, const char *name,
                          const struct direct_program *program, struct direct_process *out);
/** The process's contexts and the caller's allocations must have been destroyed. */
void direct_process_destroy(struct direct_process *p);

/** args: the kernel's argument block, `size` bytes. Pointers in it are values of tern_allocation_address. */
int direct_call_create(const struct direct_process *p, const char *kernel, const struct direct_range *range,
                       const void *args, size_t size, struct direct_call *out);
void direct_call_destroy(struct direct_call *call);

#endif
