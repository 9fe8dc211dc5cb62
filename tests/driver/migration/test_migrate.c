/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Processes that are stopped in the middle of their work and go on on another device (M1 to M4), with the same results.
 * Nothing is left at the source. The processes have kernels that are stopped at random cycles, copies, user executors,
 * queues with waits and signals, and data. A process may be in error, and many may move at once. test_onward: a process
 * that has moved moves again and again (M4).
 */
#include "device_memory.h"
#include "migration.h"
#include "tests/lib/submit.h"

#define CONFIG "small,mem=64M,timeout=200000"

static bool cut_in_the_middle(const struct tern_context *c)
{
    return c->sched.requeued_count && c->sched.requeued[0].resume;
}

/** A kernel is stopped in the middle and ends on the target, where its memory has other physical pages. */
static void test_kernel(void **state)
{
    (void)state;
    uint32_t cuts = 0;
    open_both(CONFIG);
    const uint32_t pages_here = free_pages(dev);
    for (uint32_t i = 0; i < 16; i++) {
        static struct taken taken;
        struct actor a;
        pages_scatter(there, &taken, 700 + 13 * i);
        const uint32_t pages_there = free_pages(there);
        open_mix(&a, "moves", -1);
        a.local_bytes = i % 3 * 4096;
        struct tern_process *before = a.p;
        breakpoint_set(here, dev, a.p, 300 + 997 * i);
        const uint64_t fence = actor_mix(&a, 200);
        breakpoint_await(here, a.c);
        struct journey j = depart(&a.p, 1, NULL);
        cuts += cut_in_the_middle(a.c);
        actor_follow(&a, j.loading, 0);
        arrive(&j);
        forget(before);
        assert_int_equal(free_pages(dev), pages_here);
        expect_mix(&a, fence);
        run_mix(&a, 20);
        actor_close(&a);
        assert_int_equal(free_pages(there), pages_there);
        pages_give_back(there, &taken);
    }
    print_message("stopped in the middle: %u of 16\n", cuts);
    assert_true(cuts > 8);
    close_both();
}

/** A copy, a fill and a call of a user executor are each stopped in the middle of a packet and go on on the target. */
static void test_executors(void **state)
{
    (void)state;
    enum { BYTES = 1 << 20 };
    static uint8_t bytes[BYTES], got[BYTES];
    uint32_t cuts = 0;
    open_both(CONFIG);
    for (uint32_t i = 0; i < BYTES; i++) {
        bytes[i] = (uint8_t)(i * 7 + i / 253);
    }
    for (uint32_t cut = 0; cut < 8; cut++) {
        uint32_t n;
        struct tern_process *p;
        struct tern_context *c;
        struct tern_allocation *from, *to;
        const struct tern_context_desc d = {.size = sizeof d, .name = "copies",
                                            .engine = (int32_t)(cut % dev->info.engines)};
        ok(tern_process_create(dev, "copies", &p));
        ok(tern_context_create(p, &d, &c));
        ok(tern_allocation_create(p, BYTES, TERN_MEM_READ, 0, &from));
        ok(tern_allocation_create(p, BYTES, TERN_MEM_WRITE, 0, &to));
        ok(tern_allocation_write(from, 0, bytes, BYTES));
        const struct tern_pkt_copy copy = {
            .src_lo = tern_allocation_address(from), .dst_lo = tern_allocation_address(to) + 64, .width = 4096,
            .rows = BYTES / 4096 - 1, .slices = 1, .src_row = 4096, .dst_row = 4096};
        ok(tern_pkt_copy_pack(&copy, work_add(&dma, 1)));
        work_fill(&dma, tern_allocation_address(to), 64, 0xaa);
        breakpoint_set(here, dev, p, 800 + 3100 * cut);
        const uint64_t fence = work_submit(&dma, c, "copy");
        breakpoint_await(here, c);
        struct journey j = depart(&p, 1, NULL);
        cuts += cut_in_the_middle(c);
        from = tern_loading_allocation(j.loading, 0, tern_allocation_address(from));
        to = tern_loading_allocation(j.loading, 0, tern_allocation_address(to));
        c = tern_loading_context(j.loading, 0, 0, &n);
        struct tern_process *after = tern_loading_process(j.loading, 0, &n);
        arrive(&j);
        forget(p);
        ok(tern_wait(c, fence, PATIENCE));
        ok(tern_allocation_read(to, 0, got, BYTES));
        for (uint32_t i = 0; i < BYTES - 4096; i++) {
            assert_int_equal(got[i], i < 64 ? 0xaa : bytes[i - 64]);
        }
        tern_context_destroy(c);
        tern_allocation_destroy(from);
        tern_allocation_destroy(to);
        ok(tern_process_destroy(after));
    }
    print_message("stopped in the middle: %u of 8\n", cuts);
    assert_true(cuts > 4);
    close_both();
}

/* ------------------------------------------------------------------------ queues */

#define JOBS 40u

/** Completions that the owner of a context has got, on either device. */
struct told {
    struct tern_completion got[JOBS + 8];
    atomic_uint n;
};

static void tell(void *user, const struct tern_completion *c)
{
    struct told *t = user;
    t->got[t->n] = *c;
    t->n++;
}

static void follow_told(void *user, uint32_t process, uint32_t context, struct tern_context_desc *desc)
{
    (void)process;
    (void)context;
    desc->completed = tell;
    desc->user = user;
}

/** Each completion comes once and in order. Times of a completion are in order, and none is before that of an earlier
 * one. */
static void expect_told(const struct told *t, uint32_t n)
{
    assert_int_equal(t->n, n);
    for (uint32_t i = 0; i < n; i++) {
        const struct tern_completion *c = &t->got[i];
        assert_int_equal(c->fence, i + 1);
        assert_int_equal(c->result, TERN_COMPLETED);
        assert_true(c->submitted <= c->begin && c->begin <= c->end);
        assert_true(!i || (c->submitted >= c[-1].submitted && c->begin >= c[-1].begin && c->end >= c[-1].end));
    }
}

/** Fills a queue with copies between neighbouring pages, so that the result shows their order. Each job signals a
 * fence, and some wait for the CPU. */
static void queue_up(struct tern_context *c, struct tern_allocation *a, const struct tern_fence *gate,
                     const struct tern_fence *done)
{
    for (uint32_t i = 0, waits = 0; i < JOBS; i++) {
        if (i / 8 > waits) {
            work_wait(&dma, tern_fence_address(gate), ++waits);
        }
        work_fill(&dma, tern_allocation_address(a) + 4096 * i, 4096, (uint8_t)(i + 1));
        work_copy(&dma, tern_allocation_address(a) + 4096 * (i + 1), tern_allocation_address(a) + 4096 * i, 2048);
        work_signal(&dma, tern_fence_address(done), i + 1);
        if (i % 5 == 4) {
            ok(submit_null(c, "null", NULL));
            i++;
            dma.size = 0;
            work_fill(&dma, tern_allocation_address(a) + 4096 * i, 4096, (uint8_t)(i + 1));
        }
        work_submit(&dma, c, "step");
    }
}

/** Gives the memory that the same queue leaves on one device. */
static void learn(uint8_t *want)
{
    struct tern_process *p;
    struct tern_context *c;
    struct tern_allocation *a;
    struct tern_fence *gate, *done;
    const struct tern_context_desc d = {.size = sizeof d, .name = "stays", .engine = -1};
    ok(tern_process_create(dev, "stays", &p));
    ok(tern_context_create(p, &d, &c));
    ok(tern_allocation_create(p, 4096 * (JOBS + 4), TERN_MEM_WRITE, 0, &a));
    ok(tern_fence_create(p, JOBS, &gate));
    ok(tern_fence_create(p, 0, &done));
    queue_up(c, a, gate, done);
    ok(tern_wait(c, c->submitted, PATIENCE));
    ok(tern_allocation_read(a, 0, want, 4096 * (JOBS + 4)));
    tern_fence_destroy(gate);
    tern_fence_destroy(done);
    tern_context_destroy(c);
    tern_allocation_destroy(a);
    ok(tern_process_destroy(p));
}

/** A queue with waits that the CPU ends, partly at the source and partly on the target. Memory that was destroyed while
 * work uses it does not move. */
static void test_queue(void **state)
{
    (void)state;
    static uint8_t want[4096 * (JOBS + 4)], got[sizeof want];
    open_both(CONFIG);
    learn(want);
    for (uint32_t opened = 0; opened < 4; opened++) {
        static struct told told;
        uint32_t n;
        uint64_t value;
        struct tern_process *p;
        struct tern_context *c;
        struct tern_allocation *a, *gone;
        struct tern_fence *gate, *done;
        const struct tern_context_desc d = {.size = sizeof d, .name = "queue", .engine = -1, .completed = tell,
                                            .user = &told, .weight = 321};
        const uint32_t pages_here = free_pages(dev), pages_there = free_pages(there);
        memset(&told, 0, sizeof told);
        ok(tern_process_create(dev, "queue", &p));
        ok(tern_context_create(p, &d, &c));
        ok(tern_context_set_priority(c, TERN_BAND_FOCUS, 321));
        ok(tern_allocation_create(p, sizeof want, TERN_MEM_WRITE, 0, &a));
        ok(tern_fence_create(p, opened, &gate));
        ok(tern_fence_create(p, 0, &done));
        ok(tern_allocation_create(p, 8192, TERN_MEM_WRITE, 0, &gone));
        queue_up(c, a, gate, done);
        const uint64_t jobs = c->submitted;
        tern_allocation_destroy(gone); /* freed when the queued work has ended */
        until(told.n >= 8 + 8 * opened); /* the queue waits for the gate here */
        const struct tern_migrate_owner owner = {.context = follow_told, .user = &told};
        struct journey j = depart(&p, 1, &owner);
        gate = tern_loading_fence(j.loading, 0, tern_fence_address(gate));
        done = tern_loading_fence(j.loading, 0, tern_fence_address(done));
        a = tern_loading_allocation(j.loading, 0, tern_allocation_address(a));
        assert_null(tern_loading_allocation(j.loading, 0, tern_allocation_address(gone)));
        c = tern_loading_context(j.loading, 0, 0, &n);
        struct tern_process *after = tern_loading_process(j.loading, 0, &n);
        arrive(&j);
        forget(p);
        assert_int_equal(free_pages(dev), pages_here);
        struct tern_context_stats s = {.size = sizeof s};
        ok(tern_context_query(c, &s));
        assert_true(s.weight == 321 && s.band == TERN_BAND_FOCUS && s.submitted == jobs);
        assert_int_equal(tern_wait(c, jobs, 5), -ETIMEDOUT); /* the gate is still closed */
        ok(tern_fence_signal(gate, JOBS));
        ok(tern_wait(c, jobs, PATIENCE));
        ok(tern_fence_value(done, &value));
        assert_true(value > JOBS - 8);
        expect_told(&told, (uint32_t)jobs);
        ok(tern_allocation_read(a, 0, got, sizeof got));
        assert_memory_equal(got, want, sizeof got);
        ok(tern_context_query(c, &s));
        assert_int_equal(s.completed, jobs);
        tern_fence_destroy(gate);
        tern_fence_destroy(done);
        tern_context_destroy(c);
        tern_allocation_destroy(a);
        ok(tern_process_destroy(after));
        assert_int_equal(free_pages(there), pages_there);
    }
    close_both();
}

/** Data of a DMA buffer have the same address on the target, where the preempted kernel has a pointer to them. */
static void test_data(void **state)
{
    (void)state;
    open_both(CONFIG);
    for (uint32_t i = 0; i < 6; i++) {
        struct actor a;
        uint64_t fence;
        open_mix(&a, "data", 0);
        struct tern_process *before = a.p;
        ok(tern_context_take_data(a.c));
        a.n = 150;
        const uint32_t args[] = {0, a.n, tern_allocation_address(a.data)};
        actor_dispatch(&a, MIX_ITEMS);
        dma.w[2] = 4;
        breakpoint_set(here, dev, a.p, 400 + 1500 * i);
        ok(submit_data(a.c, dma.w, dma.size, args, sizeof args, "first", &fence));
        ok(submit_data(a.c, dma.w, dma.size, args, sizeof args, "second", &fence));
        dma.size = 0;
        breakpoint_await(here, a.c);
        struct journey j = depart(&a.p, 1, NULL);
        actor_follow(&a, j.loading, 0);
        arrive(&j);
        forget(before);
        expect_mix(&a, fence);
        actor_close(&a);
    }
    close_both();
}

/* --------------------------------------------------------------------- processes */

/** A process in error is in the same error on the target and refuses work. */
static void test_fault(void **state)
{
    (void)state;
    struct actor trap;
    open_both(CONFIG);
    actor_open(&trap, "trap", 0, code_trap, sizeof code_trap);
    struct tern_process *before = trap.p;
    actor_set(&trap, 0, 10);
    actor_dispatch(&trap, 1);
    const uint64_t f = work_submit(&dma, trap.c, "trap");
    assert_int_equal(tern_wait(trap.c, f, PATIENCE), -EIO);
    const struct tern_fault was = fault_of(&trap);
    struct journey j = depart(&trap.p, 1, NULL);
    actor_follow(&trap, j.loading, 0);
    arrive(&j);
    forget(before);
    const struct tern_fault is = fault_of(&trap);
    assert_memory_equal(&is, &was, sizeof is);
    assert_int_equal(tern_wait(trap.c, f, 0), -EIO);
    assert_int_equal(submit_null(trap.c, NULL, NULL), -EIO);
    actor_close(&trap);
    close_both();
}

/** Nine processes move at once. Some run, some wait for an engine, and one is suspended by its owner. */
static void test_many(void **state)
{
    (void)state;
    enum { N = 9 };
    struct actor a[N];
    struct tern_process *p[N];
    uint64_t fence[N];
    open_both("small,mem=64M,timeout=200000,quantum=3000");
    const uint32_t pages_there = free_pages(there);
    for (uint32_t i = 0; i < N; i++) {
        open_mix(&a[i], "many", i % 3 ? -1 : (int32_t)(i / 3 % dev->info.engines));
        p[i] = a[i].p;
    }
    ok(tern_process_suspend(p[N - 1]));
    for (uint32_t i = 0; i < N; i++) {
        a[i].n = 400 + 9 * i;
    }
    for (uint32_t i = 0; i < N; i++) {
        const uint32_t args[] = {a[i].n, tern_allocation_address(a[i].data)};
        ok(tern_allocation_write(a[i].args, 0, args, sizeof args));
    }
    breakpoint_set(here, dev, p[0], 9000);
    for (uint32_t i = 0; i < N; i++) {
        actor_dispatch(&a[i], MIX_ITEMS);
        fence[i] = work_submit(&dma, a[i].c, "mix");
    }
    breakpoint_await(here, a[0].c);
    struct journey j = depart(p, N, NULL);
    uint32_t cuts = 0;
    for (uint32_t i = 0; i < N; i++) {
        cuts += cut_in_the_middle(a[i].c);
        actor_follow(&a[i], j.loading, i);
    }
    arrive(&j);
    print_message("stopped in the middle: %u of %u\n", cuts, N);
    assert_true(cuts > 2);
    for (uint32_t i = 0; i < N; i++) {
        forget(p[i]);
    }
    for (uint32_t i = 0; i < N - 1; i++) {
        expect_mix(&a[i], fence[i]);
    }
    assert_int_equal(tern_wait(a[N - 1].c, fence[N - 1], 5), -ETIMEDOUT);
    ok(tern_process_resume(a[N - 1].p));
    expect_mix(&a[N - 1], fence[N - 1]);
    for (uint32_t i = 0; i < N; i++) {
        actor_close(&a[i]);
    }
    assert_int_equal(free_pages(there), pages_there);
    close_both();
}

/** A process moves between the two devices 20 times while its kernel counts. */
static void test_onward(void **state)
{
    (void)state;
    enum { HOPS = 20 };
    struct actor a;
    uint32_t count = 0;
    open_both(CONFIG);
    struct tern_device *const first = dev;
    open_spin(&a, "onward", -1);
    const uint64_t fence = actor_spin(&a);
    for (uint32_t i = 0; i < HOPS; i++) {
        struct tern_process *before = a.p;
        spins(&a);
        struct journey j = depart(&a.p, 1, NULL);
        actor_follow(&a, j.loading, 0);
        arrive(&j);
        forget(before);
        struct tern_device *to = there;
        there = dev;
        dev = to;
        const uint32_t now = actor_get(&a, 2);
        assert_true(now > count);
        count = now;
    }
    assert_int_equal(stats(&a).preempted, HOPS);
    spins(&a);
    actor_set(&a, 0, 1);
    ok(tern_wait(a.c, fence, PATIENCE));
    assert_int_equal(actor_get(&a, 1), 1);
    actor_close(&a);
    ok(tern_device_close(first == dev ? there : dev));
    ok(tern_device_close(first));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernel), cmocka_unit_test(test_executors), cmocka_unit_test(test_queue),
        cmocka_unit_test(test_data),   cmocka_unit_test(test_fault),     cmocka_unit_test(test_many),
        cmocka_unit_test(test_onward),
    };
    return cmocka_run_group_tests_name("migrate", tests, NULL, NULL);
}
