/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The explanation of kernels for `tern run --explain`: which entries a kernel has and why not others, as tern-cc1 wrote
 * it into the object (ternc/why.c); when the launcher takes the second entry; memory and code; and the inner loop of
 * the entry that long ranges run, with what its instructions are for (loop.h).
 */
#ifndef TERN_EXPLAIN_H
#define TERN_EXPLAIN_H

#include "listing.h"

struct explain_options {
    bool json;
    uint32_t threads; /**< Work-items that an engine runs at a time; 0: not known. */
};

/** Explains the named kernel, or all (NULL), of a program binary on standard output. NULL: done; else what is wrong. */
const char *explain_print(const struct listing *l, const void *binary, size_t size, const char *kernel,
                          const struct explain_options *how);

#endif
