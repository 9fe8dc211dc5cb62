/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Kernels that run on the device and on the host, where each work-item is a context of its own that runs until it meets
 * a barrier. Their parameters are (in, out, part, n, m): MERGED_WORDS words, MERGED_ITEMS words of which each work-item
 * writes its own, two words of local memory for each work-item of a group, and two numbers.
 */
#ifndef MERGED_KERNELS_H
#define MERGED_KERNELS_H

#include <stddef.h>
#include <stdint.h>

enum {
    MERGED_ITEMS = 1 << 14,             /**< Work-items of a range, at most. */
    MERGED_GROUP = 1024,                /**< Work-items of a group, at most. */
    MERGED_WORDS = MERGED_ITEMS + 4096
};

/** A range whose global size the local size divides. Sizes of unused dimensions are 1, offsets 0. */
struct merged_range {
    uint32_t dims;
    size_t offset[3], global[3], local[3];
    uint32_t n, m;
};

struct merged_kernel {
    const char *name;
    void (*host)(const uint32_t *in, uint32_t *out, uint32_t *part, uint32_t n, uint32_t m);
};

extern const char merged_source[]; /**< All kernels in OpenCL C. */
extern const struct merged_kernel merged_kernels[];
extern const size_t merged_n_kernels;

/** Runs a kernel on the host, one group after the other. Not reentrant. */
void merged_run_host(const struct merged_kernel *kernel, const struct merged_range *r, const uint32_t *in,
                     uint32_t *out);

#endif
