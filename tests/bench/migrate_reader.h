/* SPDX-License-Identifier: Apache-2.0 */
/** Reads a migration as a target does, but keeps only a hash of each page, so that any amount of memory can be compared
 *  with the source. Functions return 0 or -errno after a message on stderr. */
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
    /** The memories, by their numbers in the stream. */
    struct migrate_slot {
        uint64_t *hash; /* Hash of each page; 0: the page has not arrived and is zero. */
        uint64_t pages;
    } slot[MIGRATE_SLOTS];
    struct migrate_mapping {
        uint32_t process, page, slot;
    } mapping[MIGRATE_MAPPINGS];
    uint32_t mappings;
};

/** Starts a thread that reads to the stream's end. */
int migrate_reader_start(int fd, struct migrate_reader *out);
/** Waits for the thread and returns its result. */
int migrate_reader_wait(struct migrate_reader *r);
/** Compares with a stopped process. Adds to *lost the pages whose contents differ from what arrived. */
int migrate_reader_compare(const struct migrate_reader *r, const struct migrate_process *p, uint32_t *lost);
void migrate_reader_free(struct migrate_reader *r);

#endif
