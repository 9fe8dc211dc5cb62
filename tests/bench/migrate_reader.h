/* SPDX-License-Identifier: Apache-2.0 */
/** Reads a migration as a target does, but keeps of each page no more than a hash: so that what arrived of any amount
 *  of memory can be compared with what the source has. Functions give 0 or -errno, and stderr says what went wrong. */
#ifndef TERN_BENCH_MIGRATE_READER_H
#define TERN_BENCH_MIGRATE_READER_H

#include <pthread.h>

#include "migrate_work.h"

#define MIGRATE_SLOTS 256u
#define MIGRATE_MAPPINGS 512u

struct migrate_reader {
    int fd;
    pthread_t thread;
    int result;
    struct migrate_slot {
        uint64_t *hash; /* of each page; 0: it has not come, and holds zeros */
        uint64_t pages;
    } slot[MIGRATE_SLOTS];
    struct migrate_mapping {
        uint32_t process, page, slot;
    } mapping[MIGRATE_MAPPINGS];
    uint32_t mappings;
};

/** Begins to read, to the stream's end, in a thread of its own. */
int migrate_reader_start(int fd, struct migrate_reader *out);
/** Waits for the end: what reading gave. */
int migrate_reader_wait(struct migrate_reader *r);
/** Compares with a process that is stopped; *lost: pages that hold something else than what arrived are added. */
int migrate_reader_compare(const struct migrate_reader *r, const struct migrate_process *p, uint32_t *lost);
void migrate_reader_free(struct migrate_reader *r);

#endif
