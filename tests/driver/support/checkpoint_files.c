/* SPDX-License-Identifier: Apache-2.0 */
#include "checkpoint_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include "dut.h"
#include "waiting.h"

char checkpoint_folder[] = "/tmp/tern-checkpoint-XXXXXX";

char checkpoint_file[64];

int checkpoint_setup(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(checkpoint_folder));
    snprintf(checkpoint_file, sizeof checkpoint_file, "%s/file", checkpoint_folder);
    return 0;
}

int checkpoint_teardown(void **state)
{
    (void)state;
    unlink(checkpoint_file);
    return rmdir(checkpoint_folder);
}

bool file_exists(const char *name)
{
    struct stat s;
    return stat(name, &s) == 0;
}

uint32_t memory_at(struct tern_checkpoint *c, uint32_t i, const struct tern_allocation *a)
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

struct tern_checkpoint_context context_at(struct tern_checkpoint *c, uint32_t i)
{
    struct tern_checkpoint_context x = {.size = sizeof x};
    ok(tern_checkpoint_context(c, i, 0, &x));
    return x;
}

enum tern_checkpoint_end end_of(struct tern_checkpoint *c)
{
    enum tern_checkpoint_end end;
    ok(tern_checkpoint_wait(c, PATIENCE, &end));
    return end;
}

void hold_at(uint64_t launch, uint64_t after)
{
    pthread_mutex_lock(&dev->lock);
    dev->hold = (struct tern_hold){.at = TERN_HOLD_NEVER, .label = "mix", .launch = launch, .after = after};
    pthread_mutex_unlock(&dev->lock);
}

bool reached(void)
{
    pthread_mutex_lock(&dev->lock);
    const bool yes = dev->hold.reached;
    pthread_mutex_unlock(&dev->lock);
    return yes;
}

atomic_bool stop_saving;

void *keep_saving(void *arg)
{
    while (!atomic_load(&stop_saving)) {
        const int r = tern_checkpoint_save(dev, arg);
        if (r && r != -ENOENT) { /* -ENOENT: between two programs there may be no process */
            fail_msg("%s", tern_last_error());
        }
    }
    return NULL;
}
