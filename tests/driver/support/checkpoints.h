/* SPDX-License-Identifier: Apache-2.0 */
/** Helpers of the tests of checkpoints: the file, the cycle at which work is held, and queries of a loaded
 * checkpoint. */
#ifndef CHECKPOINTS_H
#define CHECKPOINTS_H

#include <sys/stat.h>

#include "moving_actors.h"
#include "tern/tern_checkpoint.h"

#define CONFIG "small,mem=32M,timeout=200000"
#define RW (TERN_MEM_READ | TERN_MEM_WRITE)

static char folder[] = "/tmp/tern-checkpoint-XXXXXX";
static char file[64];

static inline bool exists(const char *name)
{
    struct stat s;
    return stat(name, &s) == 0;
}

static inline int setup_folder(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(file, sizeof file, "%s/file", folder);
    return 0;
}

static inline int teardown_folder(void **state)
{
    (void)state;
    unlink(file);
    return rmdir(folder);
}

/** Returns the index of the memory of process i that lies at the allocation's address and has its size. */
static inline uint32_t memory_at(struct tern_checkpoint *c, uint32_t i, const struct tern_allocation *a)
{
    struct tern_checkpoint_memory m = {.size = sizeof m};
    uint32_t k = 0;
    while (tern_checkpoint_memory(c, i, k, &m) == 0 && m.address != tern_allocation_address(a)) {
        k++;
    }
    assert_int_equal(m.address, tern_allocation_address(a));
    assert_int_equal(m.bytes, tern_allocation_size(a));
    return k;
}

static inline struct tern_checkpoint_context context_at(struct tern_checkpoint *c, uint32_t i)
{
    struct tern_checkpoint_context x = {.size = sizeof x};
    ok(tern_checkpoint_context(c, i, 0, &x));
    return x;
}

static inline enum tern_checkpoint_end end_of(struct tern_checkpoint *c)
{
    enum tern_checkpoint_end end;
    ok(tern_checkpoint_wait(c, PATIENCE, &end));
    return end;
}

/** Holds the processes of dev `after` cycles after a launch of "mix" begins. */
static inline void hold_at(uint64_t launch, uint64_t after)
{
    pthread_mutex_lock(&dev->lock);
    dev->hold = (struct tern_hold){.at = TERN_HOLD_NEVER, .label = "mix", .launch = launch, .after = after};
    pthread_mutex_unlock(&dev->lock);
}

static inline bool reached(void)
{
    pthread_mutex_lock(&dev->lock);
    const bool yes = dev->hold.reached;
    pthread_mutex_unlock(&dev->lock);
    return yes;
}

static atomic_bool over;

/** Thread: saves dev again and again until `over` is set. */
static inline void *keep_saving(void *arg)
{
    while (!atomic_load(&over)) {
        const int r = tern_checkpoint_save(dev, arg);
        if (r && r != -ENOENT) { /* -ENOENT: between two programs there may be no process */
            fail_msg("%s", tern_last_error());
        }
    }
    return NULL;
}

#endif
