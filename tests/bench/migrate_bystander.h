/* SPDX-License-Identifier: Apache-2.0 */
/** Processes that stand by while others move. Each always has short buffers queued, and records the end of each one.
 *  Functions return 0 or -errno after a message on stderr. */
#ifndef TERN_BENCH_MIGRATE_BYSTANDER_H
#define TERN_BENCH_MIGRATE_BYSTANDER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "direct.h"

#define MIGRATE_STANDS 2u             /* Contexts, one for each engine. */
#define MIGRATE_ENDS (1u << 20)       /* Maximum recorded ends of each context. */

struct migrate_stand {
    struct tern_context *context;
    struct tern_allocation *data;
    struct direct_call call;
    uint64_t *ends;          /**< Device time of each buffer's end. */
    _Atomic uint32_t ended;
    atomic_bool failed;
    pthread_mutex_t lock;
    uint64_t submitted;      /* Guarded by `lock`. */
    bool stop;
};

struct migrate_bystander {
    struct direct_process process;
    struct migrate_stand stand[MIGRATE_STANDS];
};

int migrate_bystander_start(struct tern_device *dev, const char *partition, const struct direct_program *program,
                            struct migrate_bystander *out);
/** Stops submitting and waits for the queued buffers. Adds to *wrong the words of memory that differ from those that
 *  this number of buffers leaves. */
int migrate_bystander_stop(struct migrate_bystander *b, uint32_t *wrong);
/** Returns the number of buffers that ended in (from, to], two moments before migrate_bystander_stop. To be called
 * after that function. */
uint64_t migrate_bystander_ended(const struct migrate_bystander *b, uint64_t from, uint64_t to);
void migrate_bystander_destroy(struct migrate_bystander *b);

#endif
