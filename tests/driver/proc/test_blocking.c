/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Calls do not depend on the progress of another process (F1). A process that runs for ever and holds memory that it
 * has freed blocks no call of another one. Each call is watched in device time, which passes because the other process
 * runs.
 */
#include "actor.h"
#include "device_memory.h"
#include "rig.h"

#define CONFIG "small,mem=64M,quantum=20000,timeout=200000,host=0"
#define WATCH (1ull << 30) /* cycles, half a minute or more; a call that does not wait takes none */

static struct actor hog; /* runs until it is told to end */
static struct tern_allocation *held; /* memory of the hog, whose free waits for the hog's work */
static uint64_t spinning;
static struct {
    pthread_t thread;
    atomic_bool done, late;
} watch;

static void *watchdog(void *arg)
{
    (void)arg;
    const uint64_t begin = tern_device_time(dev);
    while (!watch.done && tern_device_time(dev) - begin < WATCH) {
        nap();
    }
    if (!watch.done) {
        watch.late = true;
        tern_process_abort(hog.p, "somebody waits for it");
    }
    return NULL;
}

/** Makes a call that must not depend on the hog. Returns its result. */
#define at_once(call) (watch_begin(), watch_end((call), #call))

static void watch_begin(void)
{
    watch.done = watch.late = false;
    assert_int_equal(pthread_create(&watch.thread, NULL, watchdog, NULL), 0);
}

static int watch_end(int r, const char *what)
{
    watch.done = true;
    pthread_join(watch.thread, NULL);
    if (watch.late) {
        fail_msg("%s waits for the work of another process", what);
    }
    return r;
}

static int setup(void **state)
{
    (void)state;
    rig_open(CONFIG, NULL);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    rig_done();
    return 0;
}

/** Starts the hog on engine 0. The hog frees so many bytes, which its work holds. */
static void hog_begin(uint64_t size)
{
    open_spin(&hog, "hog", 0);
    ok(tern_allocation_create(hog.p, size, TERN_MEM_WRITE, 0, &held));
    spinning = actor_spin(&hog);
    tern_allocation_destroy(held);
    spins(&hog);
}

static void hog_end(void)
{
    actor_set(&hog, 0, 1);
    ok(tern_wait(hog.c, spinning, PATIENCE));
    actor_close(&hog);
}

/** Allocates the free memory down to so many pages. Returns the number of allocations. */
static uint32_t fill_memory(struct tern_process *p, struct tern_allocation **a, uint32_t left)
{
    uint32_t n = 0;
    while (free_pages(dev) > left + 8) { /* an allocation may need a page table */
        const uint32_t much = free_pages(dev) - left - 4;
        ok(tern_allocation_create(p, (much < 1024 ? much : 1023) * 4096ull, TERN_MEM_WRITE, 0, &a[n++]));
    }
    while (free_pages(dev) > left) {
        ok(tern_allocation_create(p, 4096, TERN_MEM_WRITE, 0, &a[n++]));
    }
    return n;
}

static void test_memory_of_others(void **state)
{
    (void)state;
    struct tern_allocation *taken, *more, *fill[64];
    struct tern_process *p, *q;
    const struct tern_context_desc d = {.size = sizeof d, .name = "late", .engine = 1};
    struct tern_context *c;
    ok(tern_process_create(dev, "other", &p));
    hog_begin(8u << 20);
    ok(tern_allocation_create(p, 8192, TERN_MEM_WRITE, 0x40000000, &taken));
    assert_int_equal(at_once(tern_allocation_create(p, 4096, TERN_MEM_WRITE, 0x40001000, &more)), -EEXIST);
    assert_int_equal(at_once(tern_allocation_create(p, 56u << 20, TERN_MEM_WRITE, 0, &more)), -ENOSPC);
    assert_int_equal(at_once(tern_allocation_create(p, 1ull << 40, TERN_MEM_WRITE, 0, &more)), -ENOSPC);
    const uint32_t n = fill_memory(p, fill, 0);
    assert_int_equal(at_once(tern_allocation_create(p, 4096, TERN_MEM_WRITE, 0, &more)), -ENOSPC);
    assert_int_equal(at_once(tern_process_create(dev, "late", &q)), -ENOSPC);
    assert_int_equal(at_once(tern_context_create(p, &d, &c)), -ENOSPC);
    assert_int_equal(tern_context_ended(hog.c), 0); /* the hog has run all the time */
    hog_end();
    /* memory is free again, since the hog's free was pending */
    ok(tern_allocation_create(p, 4096, TERN_MEM_WRITE, 0, &more));
    tern_allocation_destroy(more);
    tern_allocation_destroy(taken);
    for (uint32_t i = 0; i < n; i++) {
        tern_allocation_destroy(fill[i]);
    }
    ok(tern_process_destroy(p));
}

/** Memory that another process has freed, with no work that holds it, can be allocated at once. */
static void test_frees_that_have_begun(void **state)
{
    (void)state;
    struct tern_process *p, *q;
    struct tern_allocation *a, *other;
    ok(tern_process_create(dev, "frees", &p));
    ok(tern_process_create(dev, "takes", &q));
    open_spin(&hog, "hog", 0);
    spinning = actor_spin(&hog);
    for (int i = 0; i < 20; i++) {
        ok(tern_allocation_create(p, 40u << 20, TERN_MEM_WRITE, 0, &a));
        tern_allocation_destroy(a);
        ok(tern_allocation_create(q, 40u << 20, TERN_MEM_WRITE, 0, &other));
        tern_allocation_destroy(other);
    }
    hog_end();
    ok(tern_process_destroy(p));
    ok(tern_process_destroy(q));
}

/** A process's allocation waits for memory that its own work holds, since the work ends. */
static void test_own_work(void **state)
{
    (void)state;
    struct actor own;
    struct tern_allocation *a, *again;
    open_mix(&own, "own", 1);
    for (int i = 0; i < 5; i++) {
        ok(tern_allocation_create(own.p, 40u << 20, TERN_MEM_WRITE, 0x40000000, &a));
        const uint64_t f = actor_mix(&own, 500);
        tern_allocation_destroy(a);
        ok(tern_allocation_create(own.p, 40u << 20, TERN_MEM_WRITE, i % 2 ? 0 : 0x40000000, &again));
        tern_allocation_destroy(again);
        expect_mix(&own, f);
    }
    actor_close(&own);
}

/** An allocation does not wait for own work that waits for the CPU, directly or behind other work of the process. */
static void test_own_work_that_waits(void **state)
{
    (void)state;
    struct actor own;
    struct tern_allocation *a, *again;
    struct tern_fence *f;
    const struct tern_context_desc d = {.size = sizeof d, .name = "second", .engine = 1};
    struct tern_context *second;
    hog_begin(4096);
    open_mix(&own, "own", 1);
    ok(tern_context_create(own.p, &d, &second));
    ok(tern_fence_create(own.p, 0, &f));
    ok(tern_allocation_create(own.p, 40u << 20, TERN_MEM_WRITE, 0x40000000, &a));
    work_wait(&dma, tern_fence_address(f), 1);
    work_signal(&dma, tern_fence_address(f), 2);
    work_submit(&dma, second, "for the CPU");
    work_wait(&dma, tern_fence_address(f), 2);
    const uint64_t last = work_submit(&dma, own.c, "for the first");
    tern_allocation_destroy(a);
    assert_int_equal(at_once(tern_allocation_create(own.p, 40u << 20, TERN_MEM_WRITE, 0, &again)), -ENOSPC);
    assert_int_equal(at_once(tern_allocation_create(own.p, 4096, TERN_MEM_WRITE, 0x40000000, &again)), -EEXIST);
    ok(tern_fence_signal(f, 1));
    ok(tern_allocation_create(own.p, 4096, TERN_MEM_WRITE, 0x40000000, &again));
    ok(tern_wait(own.c, last, PATIENCE));
    tern_allocation_destroy(again);
    tern_context_destroy(second);
    tern_fence_destroy(f);
    actor_close(&own);
    hog_end();
}

static void *copy_much(void *arg)
{
    static uint8_t data[4u << 20];
    ok(tern_allocation_write(arg, 0, data, sizeof data));
    return NULL;
}

/** The device thread waits for a long copy. Other threads still get dev->lock. */
static void test_behind_a_copy(void **state)
{
    (void)state;
    struct actor own;
    struct tern_allocation *a;
    pthread_t thread;
    open_mix(&own, "own", 0);
    ok(tern_allocation_create(own.p, 4u << 20, TERN_MEM_WRITE, 0, &a));
    actor_set(&own, 0, 10);
    actor_set(&own, 1, tern_allocation_address(own.data));
    own.n = 10;
    rig.gated = true;
    assert_int_equal(pthread_create(&thread, NULL, copy_much, a), 0);
    until(rig.at_gate);
    actor_dispatch(&own, MIX_ITEMS);
    const uint64_t f = work_submit(&dma, own.c, "behind the copy");
    for (uint64_t waiting = 0; waiting < 2; nap()) { /* holders and waiters: the copy, and the device thread */
        pthread_mutex_lock(&dev->hal_lock.lock);
        waiting = dev->hal_lock.next - dev->hal_lock.serving;
        pthread_mutex_unlock(&dev->hal_lock.lock);
    }
    const bool good = rig_lock_is_free();
    rig.gated = false;
    pthread_join(thread, NULL);
    assert_true(good);
    expect_mix(&own, f);
    tern_allocation_destroy(a);
    actor_close(&own);
}

static void *take_much(void *process)
{
    struct tern_allocation *a = NULL;
    const int r = tern_allocation_create(process, 8u << 20, TERN_MEM_WRITE, 0, &a);
    tern_allocation_destroy(a);
    return r ? process : NULL;
}

/** Memory that is freed while a call waits for evictions is used, even if nothing can be evicted. */
static void test_free_while_room_is_made(void **state)
{
    (void)state;
    struct tern_process *p, *q;
    struct tern_allocation *copied, *small, *large, *fill[64];
    pthread_t copies, takes;
    void *failed;
    ok(tern_process_create(dev, "takes", &q));
    ok(tern_process_create(dev, "frees", &p));
    ok(tern_allocation_create(p, 4u << 20, TERN_MEM_WRITE, 0, &copied));
    ok(tern_allocation_create(p, 1u << 20, TERN_MEM_WRITE, 0, &small));
    ok(tern_allocation_create(p, 12u << 20, TERN_MEM_WRITE, 0, &large));
    const uint32_t n = fill_memory(p, fill, 0);
    rig.gated = true; /* no free ends while the copy waits at the gate */
    assert_int_equal(pthread_create(&copies, NULL, copy_much, copied), 0);
    until(rig.at_gate);
    tern_allocation_destroy(small);
    assert_int_equal(pthread_create(&takes, NULL, take_much, q), 0);
    for (bool waits = false; !waits; nap()) {
        pthread_mutex_lock(&dev->lock);
        waits = !tern_list_empty(&dev->partition.reclaim_requests);
        pthread_mutex_unlock(&dev->lock);
    }
    tern_allocation_destroy(large);
    rig.gated = false;
    pthread_join(copies, NULL);
    pthread_join(takes, &failed);
    assert_null(failed);
    tern_allocation_destroy(copied);
    for (uint32_t i = 0; i < n; i++) {
        tern_allocation_destroy(fill[i]);
    }
    ok(tern_process_destroy(p));
    ok(tern_process_destroy(q));
}

static uint64_t looked(void)
{
    pthread_mutex_lock(&dev->lock);
    const uint64_t n = dev->frees_looked;
    pthread_mutex_unlock(&dev->lock);
    return n;
}

#define MANY 200u
#define CONTEXTS 20u
#define ROUNDS 100u

/** The end of a buffer looks at one pending free at most, however many there are, and with however many contexts. */
static void test_cost_of_frees(void **state)
{
    (void)state;
    struct actor own;
    struct tern_allocation *a[MANY];
    struct tern_context *c[CONTEXTS];
    hog_begin(4096);
    open_mix(&own, "own", 1);
    for (uint32_t i = 0; i < MANY; i++) {
        ok(tern_allocation_create(hog.p, 4096, TERN_MEM_WRITE, 0, &a[i]));
    }
    for (uint32_t i = 0; i < CONTEXTS; i++) {
        const struct tern_context_desc d = {.size = sizeof d, .name = "idle", .engine = 1};
        ok(tern_context_create(hog.p, &d, &c[i]));
    }
    const uint64_t before = looked();
    for (uint32_t i = 0; i < MANY; i++) {
        tern_allocation_destroy(a[i]);
    }
    for (uint32_t i = 0; i < ROUNDS; i++) {
        run_mix(&own, 1);
    }
    assert_true(looked() - before <= MANY + ROUNDS);
    for (uint32_t i = 0; i < CONTEXTS; i++) {
        tern_context_destroy(c[i]); /* 20 more frees */
    }
    hog_end();
    assert_true(looked() - before <= 2 * (MANY + ROUNDS + CONTEXTS + 10));
    actor_close(&own);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(test_memory_of_others), T(test_frees_that_have_begun), T(test_own_work), T(test_own_work_that_waits),
            T(test_behind_a_copy), T(test_free_while_room_is_made), T(test_cost_of_frees),
    };
    return cmocka_run_group_tests_name("blocking", tests, NULL, NULL);
}
