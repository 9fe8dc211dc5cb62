/* SPDX-License-Identifier: Apache-2.0 */
/** Measurements of moves between two devices, and of a partition that stands by, for `tern bench migrate`. Functions
 *  return 0 or -errno after a message on stderr. */
#ifndef TERN_BENCH_MIGRATE_MOVES_H
#define TERN_BENCH_MIGRATE_MOVES_H

#include "migrate_work.h"
#include "progress.h"

struct migrate_moves {
    uint32_t moves;     /**< Moves that were made. */
    uint32_t lost;      /**< Pages that differed on target and source after a move, or had a wrong value in the end. */
    uint32_t wrong;     /**< Wrong words in the memory of those who stand by. */
    /** Buffers of the bystander that ended while nothing moved, and the cycles of that time. */
    uint64_t alone, alone_cycles;
    uint64_t beside, beside_cycles; /**< The bystander's buffers and their cycles while a process was sent and ran. */
};

/**
 * Moves a process with this work back and forth between two devices over a link, `times` times in both directions. On
 * the first device another partition stands by, which always has buffers for both engines.
 */
int migrate_moves(const struct direct_program *program, const struct migrate_work *work, uint32_t times,
                  struct progress *progress, struct migrate_moves *out);

#endif
