/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A change that needs no work of the device is published at once, not with the next work. The device is idle in these
 * tests. Each step begins when all earlier changes have been published, so only the step itself can cause the next
 * publication.
 */
#include "dut.h"
#include "os/observe/observe.h"
#include "published_stats.h"

static char base[64];

static int setup_folder(void **state)
{
    snprintf(base, sizeof base, "/tmp/tern-test-XXXXXX");
    assert_non_null(mkdtemp(base));
    setenv("XDG_RUNTIME_DIR", base, 1);
    unsetenv("TERN_STATS");
    return device_setup(state);
}

static int teardown_folder(void **state)
{
    char folder[80];
    int r = device_teardown(state);
    tern_stats_folder(folder, sizeof folder);
    return r | rmdir(folder) | rmdir(base);
}

static struct {
    uint32_t processes, contexts, weight, band;
} want;

static bool as_wanted(void)
{
    bool good = published.processes == want.processes && published.contexts == want.contexts &&
        published.listed == want.contexts;
    for (uint32_t i = 0; good && i < want.contexts; i++) {
        good = published.context[i].weight == want.weight && published.context[i].band == want.band;
    }
    return good;
}

/** Waits until all changes, frees too, have been published. `published` is the last copy. */
static void expect(uint32_t processes, uint32_t contexts)
{
    bool busy = true;
    want.processes = processes;
    want.contexts = contexts;
    if (!published_until(as_wanted)) {
        fail_msg("published: %u processes, %u contexts, weight %u, band %u", published.processes, published.contexts,
                 published.context[0].weight, published.context[0].band);
    }
    while (busy) {
        pthread_mutex_lock(&dev->lock);
        busy = !dev->idle || dev->kick || !tern_list_empty(&dev->partition.retiring) || tern_observer_stale(dev);
        pthread_mutex_unlock(&dev->lock);
        sched_yield();
    }
    assert_true(published_until(as_wanted));
}

static struct tern_context_stats ran;

static bool as_it_ran(void)
{
    const struct tern_stats_context *c = &published.context[0];
    return published.listed == 1 && c->cycles == ran.cycles && c->engine_cycles[0] == ran.engine_cycles[0] &&
           c->engine_cycles[1] == ran.engine_cycles[1];
}

/** The engine cycles that a context has used are published as tern_context_query returns them. */
static void test_cycles_of_engines(void **state)
{
    (void)state;
    struct tern_process *p = process("share");
    struct tern_allocation *a = memory(p, 4096, TERN_MEM_WRITE);
    struct tern_context *c = context(p, 1);
    work_fill(&dma, tern_allocation_address(a), 4096, 1);
    work_run(&dma, c, "fill");
    ran.size = sizeof ran;
    tern_context_query(c, &ran);
    assert_true(ran.engine_cycles[1] > 0 && ran.engine_cycles[1] == ran.cycles && !ran.engine_cycles[0]);
    assert_true(published_until(as_it_ran));
    tern_context_destroy(c);
    tern_allocation_destroy(a);
    ok(tern_process_destroy(p));
}

static void test_idle_device(void **state)
{
    (void)state;
    want.weight = TERN_WEIGHT_NORMAL;
    want.band = TERN_BAND_NORMAL;
    expect(0, 0);
    struct tern_process *p = process("first");
    expect(1, 0);
    struct tern_process *q = process("second");
    expect(2, 0);
    struct tern_context *c = context(p, 0);
    expect(2, 1);
    /* changes follow one another faster than the statistics may be published */
    for (want.weight = 1; want.weight <= 5; want.weight++) {
        ok(tern_context_set_priority(c, TERN_BAND_NORMAL, want.weight));
        expect(2, 1);
    }
    want.weight = 3;
    want.band = TERN_BAND_FOCUS;
    ok(tern_context_set_priority(c, TERN_BAND_FOCUS, 3));
    expect(2, 1);
    ok(tern_process_destroy(q));
    expect(1, 1);
    tern_context_destroy(c);
    expect(1, 0);
    ok(tern_process_destroy(p));
    expect(0, 0);
}

static bool ended(void)
{
    const struct tern_stats_context *c = &published.context[0];
    return published.listed == 1 && c->submitted == 4 && c->completed == 1 && c->aborted == 3 && c->queued == 0;
}

/** A buffer that faults, and those behind it that are aborted, are not counted as queued any more. */
static void test_aborted(void **state)
{
    (void)state;
    struct tern_process *p = process("faults");
    struct tern_allocation *a = memory(p, 4096, TERN_MEM_READ);
    struct tern_context *c = context(p, 0);
    struct tern_fence *gate;
    uint64_t last = 0;
    ok(tern_fence_create(p, 0, &gate));
    for (int i = 0; i < 4; i++) {
        if (i == 1) {
            work_fill(&dma, tern_allocation_address(a), 64, 1); /* not writable */
        } else {
            work_wait(&dma, tern_fence_address(gate), 1); /* no buffer ends before all are queued */
        }
        last = work_submit(&dma, c, "buffer");
    }
    ok(tern_fence_signal(gate, 1));
    assert_int_equal(tern_wait(c, last, PUBLISHED_PATIENCE), -EIO);
    assert_true(published_until(ended));
    tern_context_destroy(c);
    tern_fence_destroy(gate);
    tern_allocation_destroy(a);
    ok(tern_process_destroy(p));
}

static uint64_t free_wanted;

static bool as_free(void)
{
    return published.memory_free == free_wanted;
}

/** An allocation takes free pages, and destroying it gives them back, on an idle device. */
static void test_free_memory(void **state)
{
    (void)state;
    struct tern_process *p = process("memory");
    tern_allocation_destroy(memory(p, 4096, TERN_MEM_READ)); /* leaves a second-level table */
    expect(1, 0);
    struct tern_device_info info = {.size = sizeof info};
    ok(tern_device_query(dev, &info));
    assert_true(published.memory_bytes == info.memory_bytes && published.memory_free < info.memory_bytes);
    const uint64_t before = published.memory_free;
    struct tern_allocation *a = memory(p, 13 * 4096, TERN_MEM_READ);
    free_wanted = before - 13 * 4096;
    assert_true(published_until(as_free));
    tern_allocation_destroy(a);
    free_wanted = before;
    assert_true(published_until(as_free));
    ok(tern_process_destroy(p));
}

/* --------------------------------------------------------------- partitions */

static uint32_t share_wanted, partitions_wanted;

static bool as_made(void)
{
    const struct tern_stats_partition *p = &published.partition[1];
    return published.partitions == partitions_wanted && published.listed_partitions == partitions_wanted &&
           !strcmp(published.partition[0].name, "default") &&
           (partitions_wanted < 2 || (!strcmp(p->name, "part") && p->share == share_wanted));
}

static uint64_t cycles_wanted;

static bool as_run(void)
{
    const struct tern_stats_partition *p = &published.partition[1];
    return p->cycles == cycles_wanted && p->processes == 1 && published.contexts == 1 &&
           published.context[0].partition == 1 && p->memory_bytes == 4u << 20 && p->memory_free < 4u << 20;
}

/** Partitions are created, changed and destroyed on an idle device. The cycles of one's work are published. */
static void test_partitions(void **state)
{
    (void)state;
    struct tern_partition_desc d = {.size = sizeof d, .name = "part", .memory_bytes = 2u << 20,
                                    .host_bytes = TERN_PARTITION_HOST, .share = 300};
    struct tern_process *p;
    struct tern_context_stats s = {.size = sizeof s};
    partitions_wanted = 1;
    assert_true(published_until(as_made));
    ok(tern_partition_create(dev, &d));
    partitions_wanted = 2;
    share_wanted = 300;
    assert_true(published_until(as_made));
    for (share_wanted = 1; share_wanted < 4; share_wanted++) {
        ok(tern_partition_set_share(dev, "part", share_wanted));
        assert_true(published_until(as_made));
    }
    ok(tern_partition_resize(dev, "part", 4u << 20));
    ok(tern_process_create_in(dev, "part", "inside", &p));
    struct tern_allocation *a = memory(p, 4096, TERN_MEM_WRITE);
    struct tern_context *c = context(p, 1);
    work_fill(&dma, tern_allocation_address(a), 4096, 1);
    work_run(&dma, c, "fill");
    tern_context_query(c, &s);
    cycles_wanted = s.cycles;
    assert_true(cycles_wanted > 0);
    assert_true(published_until(as_run));
    tern_context_destroy(c);
    tern_allocation_destroy(a);
    ok(tern_process_destroy(p));
    ok(tern_partition_destroy(dev, "part"));
    partitions_wanted = 1;
    assert_true(published_until(as_made));
}

static bool is_slowed(void)
{
    return published.contexts == 1 && published.context[0].state == TERN_STATS_SLOWED;
}

/** The published state of work whose cap is used up is SLOWED. */
static void test_slowed(void **state)
{
    (void)state;
    static struct tern_sched_cap cap;
    struct tern_process *p = process("moves");
    struct tern_allocation *a = memory(p, 1u << 20, TERN_MEM_WRITE);
    struct tern_context *c = context(p, 0);
    uint64_t last = 0;
    pthread_mutex_lock(&dev->lock);
    tern_sched_cap_begin(&dev->sched, &cap, 1);
    tern_sched_cap_add(&dev->sched, &cap, &p->sched);
    pthread_mutex_unlock(&dev->lock);
    for (int i = 0; i < 2000; i++) {
        work_fill(&dma, tern_allocation_address(a), 1u << 20, (uint8_t)i);
        last = work_submit(&dma, c, "fill");
    }
    assert_true(published_until(is_slowed));
    pthread_mutex_lock(&dev->lock);
    tern_sched_cap_end(&dev->sched, &cap);
    tern_device_kick(dev);
    pthread_mutex_unlock(&dev->lock);
    ok(tern_wait(c, last, PUBLISHED_PATIENCE));
    tern_context_destroy(c);
    tern_allocation_destroy(a);
    ok(tern_process_destroy(p));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_idle_device, setup_folder, teardown_folder),
        cmocka_unit_test_setup_teardown(test_free_memory, setup_folder, teardown_folder),
        cmocka_unit_test_setup_teardown(test_cycles_of_engines, setup_folder, teardown_folder),
        cmocka_unit_test_setup_teardown(test_aborted, setup_folder, teardown_folder),
        cmocka_unit_test_setup_teardown(test_partitions, setup_folder, teardown_folder),
        cmocka_unit_test_setup_teardown(test_slowed, setup_folder, teardown_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
