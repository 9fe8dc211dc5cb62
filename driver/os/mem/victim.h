/* SPDX-License-Identifier: Apache-2.0 */
/** Which block is evicted (residency.h): the cheapest, to whom it is dearest, of those that may go. With dev->lock. */
#ifndef TERN_OS_VICTIM_H
#define TERN_OS_VICTIM_H

#include <stdbool.h>
#include <stdint.h>

#include "os/mem/residency.h"

/** How dear a block is: less is evicted first. */
struct tern_price {
    bool in_use, stays; /* stays: work that uses it keeps it from who wants room */
    uint32_t band;
    uint64_t used, in_process; /* of two with one time of use, which process-wide work gives: which was used first */
};

/** What tern_victim_find looks for, and has found. */
struct tern_search {
    const struct tern_process *proc; /* that wants room; */
    const struct tern_job *job;      /* what the job uses stays. NULL: none */
    struct tern_wants wants;
    uint32_t wanted;                 /* a page that stays as well; 0: none */
    struct tern_block *best;
    struct tern_price least;
    bool later; /* there is one that may only later */
};

/** Looks for the cheapest block that may go. */
void tern_victim_find(struct tern_device *dev, struct tern_search *s);

#endif
