/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Checkpoints (tern_checkpoint.h, M1, M3). Work that was saved gives the same results after it was loaded on another
 * device. Saved are a single launch, a launch among several and a launch that was itself loaded, at any cycle; a queue
 * of two processes; and work that waits for its program.
 */
#include <unistd.h>

#include "checkpoint_files.h"
#include "device_memory.h"
#include "migration.h"
#include "open_device.h"

/* ------------------------------------------------------ at a moment given by the environment */

static struct tern_device *open_armed(const char *launch, const char *after)
{
    setenv("TERN_CHECKPOINT", checkpoint_file, 1);
    setenv("TERN_CHECKPOINT_KERNEL", "mix", 1);
    setenv("TERN_CHECKPOINT_LAUNCH", launch, 1);
    setenv("TERN_CHECKPOINT_AFTER", after, 1);
    struct tern_device *d = open_or_skip(CHECKPOINT_CONFIG);
    unsetenv("TERN_CHECKPOINT");
    return d;
}

/** Submits a "mix" of the actor's data, a copy of the data to `out`, and a fill that clears the data. */
static uint64_t mix_and_take(struct actor *a, uint32_t n, struct tern_allocation *out)
{
    const uint32_t data = tern_allocation_address(a->data);
    actor_mix(a, n);
    work_copy(&dma, tern_allocation_address(out), data, 4 * MIX_ITEMS);
    work_submit(&dma, a->c, "take");
    work_fill(&dma, data, 4 * MIX_ITEMS, 0);
    return work_submit(&dma, a->c, "clear");
}

static void expect_taken(const uint32_t *v, uint32_t n)
{
    for (uint32_t i = 0; i < MIX_ITEMS; i++) {
        assert_int_equal(v[i], mixed(n, i));
    }
}

/** Two processes with queues are saved while one is in the middle of a kernel. */
static void test_queues(void **state)
{
    (void)state;
    enum { TIMES = 200 };
    struct actor a[2];
    struct tern_allocation *out[2];
    uint64_t last[2];
    uint32_t v[MIX_ITEMS];
    struct tern_checkpoint *c;
    struct tern_checkpoint_process p = {.size = sizeof p};
    unlink(checkpoint_file);
    dev = open_armed("2", "3000");
    for (int i = 0; i < 2; i++) {
        open_mix(&a[i], i ? "second" : "first", i);
        out[i] = NULL;
        ok(tern_allocation_create(a[i].p, 4 * MIX_ITEMS, RW, 0, &out[i]));
    }
    for (int i = 0; i < 2; i++) {
        last[i] = mix_and_take(&a[i], TIMES + (uint32_t)i, out[i]);
    }
    for (int i = 0; i < 2; i++) { /* the program itself goes on */
        ok(tern_wait(a[i].c, last[i], PATIENCE));
        ok(tern_allocation_read(out[i], 0, v, sizeof v));
        expect_taken(v, TIMES + (uint32_t)i);
    }
    until(file_exists(checkpoint_file));
    open_there(CHECKPOINT_CONFIG);
    ok(tern_checkpoint_load(there, checkpoint_file, &c));
    ok(tern_checkpoint_process(c, 0, &p));
    assert_string_equal(p.name, "first");
    ok(tern_checkpoint_process(c, 1, &p));
    assert_string_equal(p.name, "second");
    assert_int_equal(tern_checkpoint_process(c, 2, &p), -ENOENT);
    const struct tern_checkpoint_context x = context_at(c, 1);
    assert_int_equal(x.saved, 3);
    assert_int_equal(x.left, 3);
    assert_string_equal(x.label, "mix");
    ok(tern_checkpoint_start(c, 0));
    assert_int_equal(end_of(c), TERN_CHECKPOINT_ENDED);
    for (uint32_t i = 0; i < 2; i++) {
        ok(tern_checkpoint_read(c, i, memory_at(c, i, out[i]), 0, v, sizeof v));
        expect_taken(v, TIMES + i);
        ok(tern_checkpoint_read(c, i, memory_at(c, i, a[i].data), 0, v, sizeof v));
        assert_int_equal(v[MIX_ITEMS - 1], 0);
        assert_int_equal(context_at(c, i).left, 0);
    }
    ok(tern_checkpoint_close(c));
    ok(tern_device_close(there));
    for (int i = 0; i < 2; i++) {
        tern_allocation_destroy(out[i]);
        actor_close(&a[i]);
    }
    ok(tern_device_close(dev));
}

/* --------------------------------------------------------------------- at a launch */

/** Saves dev when its processes are held. The saved work then also ends on dev, with `last`. */
static void save_held(struct actor *a, uint64_t last)
{
    until(reached());
    unlink(checkpoint_file);
    ok(tern_checkpoint_save(dev, checkpoint_file));
    expect_mix(a, last);
}

/** When a launch is held, all launches before it have ended and it has not, wherever it is in the queue. */
static void test_launches(void **state)
{
    (void)state;
    enum { LAUNCHES = 6 };
    struct actor a;
    dev = open_or_skip(CHECKPOINT_CONFIG);
    open_mix(&a, "launches", 0);
    const uint64_t first = actor_mix(&a, 50);
    ok(tern_wait(a.c, first, PATIENCE));
    for (uint64_t launch = 1; launch <= LAUNCHES; launch++) {
        struct tern_checkpoint *c;
        uint64_t last = 0;
        hold_at(launch, launch % 2 ? 0 : 200);
        for (uint32_t i = 0; i < LAUNCHES; i++) {
            last = actor_mix(&a, 50);
        }
        save_held(&a, last);
        open_there(CHECKPOINT_CONFIG);
        ok(tern_checkpoint_load(there, checkpoint_file, &c));
        assert_int_equal(context_at(c, 0).saved, LAUNCHES + 1 - launch);
        ok(tern_checkpoint_start(c, 0));
        assert_int_equal(end_of(c), TERN_CHECKPOINT_ENDED);
        assert_int_equal(context_at(c, 0).aborted, 0);
        ok(tern_checkpoint_close(c));
        ok(tern_device_close(there));
    }
    actor_close(&a);
    ok(tern_device_close(dev));
}

/** A hold counts the launches of a loaded process that had not begun. */
static void test_launches_that_were_loaded(void **state)
{
    (void)state;
    struct actor a;
    struct tern_device *source = open_or_skip(CHECKPOINT_CONFIG);
    struct tern_checkpoint *c, *again;
    uint64_t last = 0;
    dev = source;
    open_mix(&a, "loaded", 0);
    hold_at(1, 100);
    for (uint32_t i = 0; i < 4; i++) {
        last = actor_mix(&a, 50);
    }
    save_held(&a, last);
    open_there(CHECKPOINT_CONFIG);
    dev = there;
    hold_at(2, 0); /* the second of three that had not begun */
    ok(tern_checkpoint_load(there, checkpoint_file, &c));
    ok(tern_checkpoint_start(c, 0));
    until(reached());
    enum tern_checkpoint_end end;
    assert_int_equal(tern_checkpoint_wait(c, 20, &end), -ETIMEDOUT); /* the work has not ended */
    assert_int_equal(context_at(c, 0).left, 2);
    ok(tern_checkpoint_save(there, checkpoint_file));
    assert_int_equal(end_of(c), TERN_CHECKPOINT_ENDED);
    ok(tern_checkpoint_load(there, checkpoint_file, &again));
    assert_int_equal(context_at(again, 0).saved, 2);
    ok(tern_checkpoint_close(again));
    ok(tern_checkpoint_close(c));
    ok(tern_device_close(there));
    dev = source;
    actor_close(&a);
    ok(tern_device_close(dev));
}

/* ------------------------------------------------------------------ work that does not end */

/** Work that waits for its program cannot end after a load: work behind a fence, and work of a suspended process. */
static void test_waits(void **state)
{
    (void)state;
    struct actor a, held;
    struct tern_fence *f;
    struct tern_checkpoint *c;
    uint64_t value;
    dev = open_or_skip(CHECKPOINT_CONFIG);
    open_mix(&a, "waits", 0);
    open_mix(&held, "held", 1);
    ok(tern_fence_create(a.p, 7, &f));
    ok(tern_process_suspend(held.p));
    const uint64_t other = actor_mix(&held, 20);
    work_wait(&dma, tern_fence_address(f), 8);
    work_fill(&dma, tern_allocation_address(a.data), 4, 0xff);
    const uint64_t last = work_submit(&dma, a.c, "behind the fence");
    unlink(checkpoint_file);
    ok(tern_checkpoint_save(dev, checkpoint_file));
    assert_true(held.p->suspended); /* still suspended after the save */
    assert_int_equal(tern_wait(held.c, other, 20), -ETIMEDOUT);
    ok(tern_fence_signal(f, 8));
    ok(tern_wait(a.c, last, PATIENCE));
    open_there(CHECKPOINT_CONFIG);
    ok(tern_checkpoint_load(there, checkpoint_file, &c));
    ok(tern_checkpoint_start(c, 0));
    assert_int_equal(end_of(c), TERN_CHECKPOINT_WAITS);
    assert_string_equal(context_at(c, 0).label, "behind the fence");
    assert_int_equal(context_at(c, 0).left, 1);
    assert_int_equal(context_at(c, 1).left, 1);
    struct tern_checkpoint_memory m = {.size = sizeof m};
    uint32_t fences = 0;
    for (uint32_t k = 0; tern_checkpoint_memory(c, 0, k, &m) == 0; k++) {
        if (m.fence) {
            fences++;
            ok(tern_checkpoint_read(c, 0, k, 0, &value, sizeof value));
        }
    }
    assert_int_equal(fences, 1);
    assert_int_equal(value, 7);
    ok(tern_checkpoint_close(c));
    ok(tern_device_close(there));
    ok(tern_process_resume(held.p));
    expect_mix(&held, other);
    tern_fence_destroy(f);
    actor_close(&a);
    actor_close(&held);
    ok(tern_device_close(dev));
}

/** Waits for work on a device that is saved all the time must not report that the work has ended. */
static void expect_goes_on(struct tern_checkpoint *c)
{
    struct tern_device *other = dev;
    pthread_t saver;
    char second[80];
    enum tern_checkpoint_end end;
    snprintf(second, sizeof second, "%s/second", checkpoint_folder);
    dev = there;
    atomic_store(&stop_saving, false);
    ok(-pthread_create(&saver, NULL, keep_saving, second));
    for (int i = 0; i < 30; i++) {
        assert_int_equal(tern_checkpoint_wait(c, 10, &end), -ETIMEDOUT);
    }
    atomic_store(&stop_saving, true);
    pthread_join(saver, NULL);
    ok(unlink(second));
    dev = other;
}

/** An endless kernel is loaded and runs for a number of cycles, or until its checkpoint is closed. */
static void test_cycles(void **state)
{
    (void)state;
    static const uint32_t one = 1;
    struct actor a;
    struct tern_checkpoint *c;
    enum tern_checkpoint_end end;
    dev = open_or_skip(CHECKPOINT_CONFIG);
    open_spin(&a, "spins", -1);
    const uint64_t fence = actor_spin(&a);
    spins(&a);
    unlink(checkpoint_file);
    ok(tern_checkpoint_save(dev, checkpoint_file));
    spins(&a);
    open_there(CHECKPOINT_CONFIG);
    const uint32_t pages = free_pages(there);
    ok(tern_checkpoint_load(there, checkpoint_file, &c));
    assert_int_equal(tern_checkpoint_wait(c, 0, &end), -EINVAL);
    const uint64_t began = tern_device_time(there);
    ok(tern_checkpoint_start(c, 30000));
    assert_int_equal(tern_checkpoint_start(c, 30000), -EALREADY);
    assert_int_equal(end_of(c), TERN_CHECKPOINT_STOPPED);
    const uint64_t ended = tern_device_time(there);
    assert_true(ended >= began + 30000 && ended < began + 60000);
    uint32_t count[2], byte;
    const uint32_t args = memory_at(c, 0, a.args);
    for (int i = 0; i < 2; i++) { /* the kernel is stopped: its count does not change */
        ok(tern_checkpoint_read(c, 0, args, 8, &count[i], sizeof count[i]));
    }
    assert_int_equal(count[0], count[1]);
    assert_int_equal(tern_checkpoint_read(c, 0, args, 4096, &byte, 1), -EFAULT);
    assert_int_equal(tern_checkpoint_read(c, 0, 99, 0, &byte, 1), -ENOENT);
    assert_int_equal(tern_checkpoint_read(c, 1, 0, 0, &byte, 1), -ENOENT);
    assert_int_equal(tern_checkpoint_context(c, 0, 1, &(struct tern_checkpoint_context){.size = 8}), -ENOENT);
    ok(tern_checkpoint_close(c));
    ok(tern_checkpoint_load(there, checkpoint_file, &c)); /* the device is empty again */
    ok(tern_checkpoint_start(c, 0));
    expect_goes_on(c);
    ok(tern_checkpoint_close(c));
    ok(tern_checkpoint_load(there, checkpoint_file, &c));
    ok(tern_checkpoint_close(c)); /* closed before it was started */
    assert_int_equal(free_pages(there), pages);
    ok(tern_device_close(there));
    ok(tern_allocation_write(a.args, 0, &one, sizeof one));
    ok(tern_wait(a.c, fence, PATIENCE));
    actor_close(&a);
    ok(tern_device_close(dev));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_queues), cmocka_unit_test(test_launches),
        cmocka_unit_test(test_launches_that_were_loaded), cmocka_unit_test(test_waits), cmocka_unit_test(test_cycles),
    };
    return cmocka_run_group_tests_name("checkpoint", tests, checkpoint_setup, checkpoint_teardown);
}
