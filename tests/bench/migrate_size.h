/* SPDX-License-Identifier: Apache-2.0 */
/** What `tern bench migrate` measures of the time in which nothing runs. Functions give 0 or -errno; what went wrong
 *  is on stderr. */
#ifndef TERN_BENCH_MIGRATE_SIZE_H
#define TERN_BENCH_MIGRATE_SIZE_H

#include <stdbool.h>

#include "direct.h"

struct migrate_size {
    uint64_t blackout;   /**< Bytes of the link from the moment at which the work is to stop, to the stream's end. */
    uint64_t last_round; /**< Bytes of the pages that were written during the last round before that. */
    uint64_t brownout;   /**< Bytes of the link before. */
    uint64_t full_copy;  /**< Bytes of the link if all is sent in the blackout; 0: not measured. */
    uint32_t rounds;
    uint32_t lost;       /**< Pages that arrived as something else than they are on the source. */
};

/** A partition of so many bytes, full of memory that is not zero, with a kernel that reads 32 MiB of it at
 *  random and writes pages of 16 MiB, on a link; full: once more without a brownout. */
int migrate_size(const struct direct_program *program, uint64_t bytes, bool full, struct migrate_size *out);

#endif
