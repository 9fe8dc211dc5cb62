/* SPDX-License-Identifier: Apache-2.0 */
/** What `tern bench migrate` measures of moves between two devices, and of a partition that stands by. Functions give 0
 *  or -errno; what went wrong is on stderr. */
#ifndef TERN_BENCH_MIGRATE_MOVES_H
#define TERN_BENCH_MIGRATE_MOVES_H

#include "migrate_work.h"
#include "progress.h"

struct migrate_moves {
    uint32_t moves;     /**< That were made. */
    uint32_t lost;      /**< Pages that were not on the target as on the source, or in the end not as they must be. */
    uint32_t wrong;     /**< Words of those who stand by that are not what they must be. */
    uint64_t alone, alone_cycles;   /**< Buffers that stood by and ended while nothing moved, in so many cycles; */
    uint64_t beside, beside_cycles; /**< and while the others were sent and ran. */
};

/**
 * Moves a process with this work back and forth between two devices, `times` times both ways, over a link. On the first
 * one another partition stands by, which has buffers for both engines all the time.
 */
int migrate_moves(const struct direct_program *program, const struct migrate_work *work, uint32_t times,
                  struct progress *progress, struct migrate_moves *out);

#endif
