/* SPDX-License-Identifier: Apache-2.0 */
/** Measurements of the brownout and blackout of a migration (docs/migration.md) for `tern bench migrate`: the processes
 *  run in the former and are stopped in the latter. Functions return 0 or -errno after a message on stderr. */
#ifndef TERN_BENCH_MIGRATE_SIZE_H
#define TERN_BENCH_MIGRATE_SIZE_H

#include <stdbool.h>

#include "direct.h"

struct migrate_size {
    uint64_t blackout;   /**< Bytes over the link from the stop of the processes to the stream's end. */
    uint64_t last_round; /**< Bytes of the pages written during the last round before the stop. */
    uint64_t brownout;   /**< Bytes over the link before the stop. */
    uint64_t full_copy;  /**< Bytes over the link if everything is sent in the blackout; 0: not measured. */
    uint32_t rounds;     /**< Rounds of the brownout, each of which sends the pages that were written meanwhile. */
    uint32_t lost;       /**< Pages that arrived with other contents than on the source. */
};

/** Measures a partition of this many bytes, full of nonzero memory, over a link. A kernel of the partition reads 32 MiB
 *  at random and writes pages of 16 MiB. full: measures a migration without a brownout as well. */
int migrate_size(const struct direct_program *program, uint64_t bytes, bool full, struct migrate_size *out);

#endif
