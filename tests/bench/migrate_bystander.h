/* SPDX-License-Identifier: Apache-2.0 */
/** Processes that stand by while others move: they always have short buffers queued, whose ends are noted. Functions
 *  give 0 or -errno; what went wrong is on stderr by then. */
#ifndef TERN_BENCH_MIGRATE_BYSTANDER_H
#define TERN_BENCH_MIGRATE_BYSTANDER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "direct.h"

#define MIGRATE_STANDS 2u             /* contexts: one an engine */
#define MIGRATE_ENDS (1u << 20)       /* that are noted, of each */

struct migrate_stand {
    struct tern_context *context;
    struct tern_allocation *data;
    struct direct_call call;
    uint64_t *ends;          /**< Device time of each buffer's end. */
    _Atomic uint32_t ended;
    atomic_bool failed;
    pthread_mutex_t lock;
    uint64_t submitted;      /* with the lock, as the next one */
    bool stop;
};

struct migrate_bystander {
    struct direct_process process;
    struct migrate_stand stand[MIGRATE_STANDS];
};

int migrate_bystander_start(struct tern_device *dev, const char *partition, const struct direct_program *program,
                            struct migrate_bystander *out);
/** No more is submitted; waits for what is queued. *wrong: words of memory that are not as so many buffers leave them
 *  are added. */
int migrate_bystander_stop(struct migrate_bystander *b, uint32_t *wrong);
/** Buffers that ended after one moment, up to another, both before migrate_bystander_stop. After that. */
uint64_t migrate_bystander_ended(const struct migrate_bystander *b, uint64_t from, uint64_t to);
void migrate_bystander_destroy(struct migrate_bystander *b);

#endif
