/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The choice of the block to evict (mem.h). Each block has a price in each process that maps it. The price of a
 * memory is its highest price in any process. The block with the lowest price is evicted. Requires dev->lock.
 */
#ifndef TERN_OS_VICTIM_H
#define TERN_OS_VICTIM_H

#include <stdbool.h>
#include <stdint.h>

#include "os/mem/mem.h"

/** Price of a block in one process. Compared are, in this order: in_use, band, used, in_process. The lowest price is
 *  evicted first. */
struct tern_price {
    /* in_use: runnable work uses the block; leased: some of that work keeps it from the caller (tern_lease_keeps) */
    bool in_use, leased;
    uint32_t band;
    /* values of dev->pager.uses: in_process is the last use of the memory or block; used is that, or the last use of
     * all memory of the process if that is later */
    uint64_t used, in_process;
};

/** Input and result of tern_victim_find. */
struct tern_search {
    const struct tern_process *proc; /* the process that wants room */
    const struct tern_job *job;      /* memory that this job needs is not evicted; NULL: none */
    struct tern_precedence precedence;
    uint32_t wanted;                 /* page whose block is not evicted either; 0: none */
    struct tern_block *best;
    struct tern_price least;
    bool later; /* a block that may not be evicted now may be evicted later */
};

/** Finds the block with the lowest price among those that may be evicted. s->best is NULL if there is none. */
void tern_victim_find(struct tern_device *dev, struct tern_search *s);

#endif
