/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Preemption as seen from the driver (P1-P7, F1-F3). Each state of the HW queue meets each event. Work never ends,
 * faults in its last instruction, or waits for a fence that nobody signals. In each case other processes lose nothing.
 * Also tested: the privilege that REALTIME needs.
 */
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "actor.h"
#include "rig.h"
#include "tests/lib/submit.h"

#define CONFIG "small,mem=64M,quantum=2000,timeout=20000"

/* ------------------------------------- states of the HW queue and events */

enum state { IDLE, RUNS, RUNS_ALONE_TWICE, RUNS_BEFORE_OTHER, RUNS_BEHIND_OTHER, SUSPENDED, RESUMED, WAITS, STATES };
enum event { PREEMPT, FAULT, RESET, DEATH, EVENTS };

static const char *const state_name[] = {"idle", "runs", "runs, its next behind it", "runs, another behind it",
                                         "behind another", "suspended, another runs", "resumed", "waits for a fence"};
static const char *const event_name[] = {"preempt", "fault", "reset", "death"};

struct scene {
    struct actor victim, other, quick;
    struct tern_fence *gate;
    uint64_t victims, others; /* fences of the last submissions */
    uint64_t hold;            /* suspend fence of the victim; 0: it is not suspended */
};

static void let_go(struct scene *s)
{
    if (s->hold) {
        actor_resume(&s->victim, s->hold);
        s->hold = 0;
    }
}

/** Brings engine 0 into the state. The work spins, so the state lasts, except for preemptions at the quantum. */
static void enter(struct scene *s, enum state state)
{
    switch (state) {
    case IDLE:
    case STATES:
        break;
    case WAITS:
        work_wait(&dma, tern_fence_address(s->gate), 1);
        s->victims = actor_spin(&s->victim);
        break;
    case RUNS_BEHIND_OTHER:
        s->others = actor_spin(&s->other);
        spins(&s->other);
        s->victims = actor_spin(&s->victim);
        break;
    case RUNS:
    case RUNS_ALONE_TWICE:
    case RUNS_BEFORE_OTHER:
        s->victims = actor_spin(&s->victim);
        spins(&s->victim);
        if (state == RUNS_ALONE_TWICE) {
            s->victims = actor_spin(&s->victim);
        } else if (state == RUNS_BEFORE_OTHER) {
            s->others = actor_spin(&s->other);
        }
        break;
    case SUSPENDED:
    case RESUMED:
        s->victims = actor_spin(&s->victim);
        spins(&s->victim);
        s->hold = actor_suspend(&s->victim);
        assert_true(s->victim.c->sched.requeued_count && s->victim.c->sched.requeued[0].resume);
        s->others = actor_spin(&s->other);
        spins(&s->other);
        if (state == RESUMED) {
            let_go(s);
            spins(&s->victim);
        }
        break;
    }
}

static void release(struct actor *a, uint64_t fence, int result)
{
    actor_set(a, 0, 1);
    assert_int_equal(tern_wait(a->c, fence, PATIENCE), result);
    assert_true(result || !fence || actor_get(a, 1) == 1);
}

/** Causes the event. The victim must end with its fault code, and all other work as if nothing had happened. */
static void event(struct scene *s, enum state state, enum event event)
{
    bool hurt = event != PREEMPT && s->victims;
    uint32_t code = 0;
    switch (event) {
    case PREEMPT:
    case EVENTS:
        break;
    case FAULT:
        code = TERN_FAULT_PAGE;
        actor_set(&s->victim, 0, 2);
        ok(tern_fence_signal(s->gate, 1));
        let_go(s);
        break;
    case RESET:
        /* Requests to stop do not reach the engine while the victim runs, which makes the victim the guilty process. */
        if (state == IDLE || state == WAITS) {
            hurt = false;
            break;
        }
        code = TERN_FAULT_TIMEOUT;
        rig.deaf_to = s->victim.c->id;
        rig.deaf = 1;
        let_go(s);
        break;
    case DEATH:
        code = TERN_FAULT_ABORTED;
        tern_process_abort(s->victim.p, "told to");
        break;
    }
    if (event == RESET && hurt) {
        ok(tern_wait(s->quick.c, actor_mix(&s->quick, 20), PATIENCE)); /* other work wants the engine */
        until(tern_process_status(s->victim.p, NULL));
    } else {
        ok(tern_wait(s->quick.c, actor_mix(&s->quick, 50), PATIENCE));
    }
    expect_mixed(&s->quick);
    if (hurt) {
        assert_int_equal(tern_wait(s->victim.c, s->victims, PATIENCE), -EIO);
        assert_int_equal(fault_of(&s->victim).code, code);
    }
    ok(tern_process_status(s->other.p, NULL));
    ok(tern_process_status(s->quick.p, NULL));
    ok(tern_fence_signal(s->gate, 1));
    let_go(s);
    if (!hurt && event != DEATH) {
        release(&s->victim, s->victims, 0);
        ok(tern_process_status(s->victim.p, NULL));
    }
    release(&s->other, s->others, 0);
}

static void test_states_and_events(void **unused)
{
    (void)unused;
    for (enum state state = IDLE; state < STATES; state++) {
        for (enum event e = PREEMPT; e < EVENTS; e++) {
            struct scene s = {0};
            print_message("  %s, %s\n", state_name[state], event_name[e]);
            rig_open(CONFIG, NULL);
            open_spin(&s.victim, "victim", 0);
            open_spin(&s.other, "other", 0);
            open_mix(&s.quick, "quick", 0);
            ok(tern_fence_create(s.victim.p, 0, &s.gate));
            enter(&s, state);
            event(&s, state, e);
            tern_fence_destroy(s.gate);
            actor_close(&s.victim);
            actor_close(&s.other);
            actor_close(&s.quick);
            rig_done();
        }
    }
}

/* ------------------------------------------------------------ kinds of work */

/** Kernels that never end do not keep others from the engines, and are not killed (F2). */
static void test_endless_beside_others(void **state)
{
    (void)state;
    struct actor endless[3], worker[3];
    uint64_t fence[3], last[3] = {0};
    rig_open(CONFIG, NULL);
    for (int i = 0; i < 3; i++) {
        open_spin(&endless[i], "endless", i == 2 ? -1 : i);
        fence[i] = actor_spin(&endless[i]);
        spins(&endless[i]);
        open_mix(&worker[i], "worker", i == 2 ? -1 : i);
    }
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < 3; i++) {
            last[i] = actor_mix(&worker[i], 300);
            expect_mix(&worker[i], last[i]);
        }
    }
    for (int i = 0; i < 3; i++) {
        ok(tern_process_status(endless[i].p, NULL));
        spins(&endless[i]); /* each still gets its share */
        assert_true(stats(&endless[i]).preempted > 0);
        assert_int_equal(tern_context_ended(endless[i].c), 0);
    }
    assert_int_equal(rig.resets, 0);
    release(&endless[0], fence[0], 0); /* one ends when it is told to */
    tern_process_abort(endless[1].p, "enough");
    assert_int_equal(tern_wait(endless[1].c, fence[1], PATIENCE), -EIO);
    expect_says(fault_of(&endless[1]).message, "process 'endless': its work was aborted: enough");
    tern_process_abort(endless[2].p, NULL);
    for (int i = 0; i < 3; i++) {
        actor_close(&endless[i]);
        actor_close(&worker[i]);
    }
    assert_int_equal(rig.resets, 0);
    rig_done();
}

/** Checks the cycles of each engine in the statistics. A context that has moved as often as here has run on both. */
static void expect_cycles_of_engines(struct actor *a)
{
    const struct tern_context_stats s = stats(a);
    uint64_t sum = 0;
    for (uint32_t e = 0; e < TERN_ENGINES_MAX; e++) {
        assert_true(e < dev->info.engines ? s.engine_cycles[e] > 0 || !s.moved : !s.engine_cycles[e]);
        sum += s.engine_cycles[e];
    }
    assert_true(sum == s.cycles && sum > 0);
}

/** Work that is preempted again and again, on both engines, has the results of undisturbed work. */
static void test_results_under_preemption(void **state)
{
    (void)state;
    struct actor a[6];
    uint64_t f[6], moved = 0;
    rig_open("small,mem=64M,preempt=3000,timeout=100000", NULL);
    for (int i = 0; i < 6; i++) {
        open_mix(&a[i], "mix", -1);
        f[i] = actor_mix(&a[i], 600 + 37 * (uint32_t)i);
    }
    for (int i = 0; i < 6; i++) {
        expect_mix(&a[i], f[i]);
        /* a concurrent device may end it before it is preempted */
        assert_true(rig.hal.concurrent || stats(&a[i]).preempted > 0);
        moved += stats(&a[i]).moved;
        expect_cycles_of_engines(&a[i]);
    }
    print_message("went on on another engine: %llu times\n", (unsigned long long)moved);
    assert_true(rig.hal.concurrent || moved > 0);
    for (int i = 0; i < 6; i++) {
        actor_close(&a[i]);
    }
    rig_done();
}

/** A kernel that was preempted many times faults in its last instruction. The fault is the same as without
 * preemption. */
static void test_fault_at_the_end(void **state)
{
    (void)state;
    struct actor trap, neighbour;
    rig_open("small,mem=64M,preempt=3000,timeout=100000", NULL);
    actor_open(&trap, "trap", 0, code_trap, sizeof code_trap);
    open_mix(&neighbour, "neighbour", 0);
    uint64_t n = actor_mix(&neighbour, 800);
    actor_set(&trap, 0, 6000);
    ok(tern_pkt_nop_pack(&(struct tern_pkt_nop){0}, work_add(&dma, 1)));
    actor_dispatch(&trap, 1);
    const uint64_t f = work_submit(&dma, trap.c, "trap");
    assert_int_equal(tern_wait(trap.c, f, PATIENCE), -EIO);
    const struct tern_fault fault = fault_of(&trap);
    assert_true(fault.code == TERN_FAULT_PAGE && fault.address == 0 && fault.has_item && fault.offset == 64 &&
                fault.fence == f);
    assert_int_equal(fault.pc, tern_allocation_address(trap.code) + TRAP_STORE);
    assert_true(rig.hal.concurrent || stats(&trap).preempted > 2);
    expect_mix(&neighbour, n);
    actor_close(&trap);
    actor_close(&neighbour);
    rig_done();
}

/** Work that waits for a fence that nobody signals keeps no engine, and can be aborted. */
static void test_fence_nobody_signals(void **state)
{
    (void)state;
    struct actor waits, works;
    struct tern_fence *f;
    rig_open(CONFIG, NULL);
    open_spin(&waits, "waits", 0);
    open_mix(&works, "works", 0);
    ok(tern_fence_create(waits.p, 0, &f));
    work_fill(&dma, tern_allocation_address(waits.data), 64, 1);
    work_wait(&dma, tern_fence_address(f), 1);
    const uint64_t fence = work_submit(&dma, waits.c, "waits");
    for (uint32_t i = 0; i < 5; i++) {
        run_mix(&works, 100);
    }
    assert_int_equal(tern_wait(waits.c, fence, 20), -ETIMEDOUT);
    tern_process_abort(waits.p, "nobody signals");
    assert_int_equal(tern_wait(waits.c, fence, PATIENCE), -EIO);
    tern_fence_destroy(f);
    actor_close(&waits);
    actor_close(&works);
    rig_done();
}

/** The key `limit` ends work that runs too long, also if it is preempted again and again. */
static void test_limit(void **state)
{
    (void)state;
    struct actor endless, works;
    rig_open("small,mem=64M,quantum=2000,limit=100000", NULL);
    open_spin(&endless, "endless", 0);
    open_mix(&works, "works", 0);
    const uint64_t f = actor_spin(&endless);
    for (uint32_t i = 0; i < 5; i++) {
        ok(tern_wait(works.c, actor_mix(&works, 100), PATIENCE));
    }
    assert_int_equal(tern_wait(endless.c, f, PATIENCE), -EIO);
    const struct tern_fault fault = fault_of(&endless);
    assert_true(fault.code == TERN_FAULT_LIMIT && fault.fence == f);
    assert_string_equal(fault.message, "process 'endless': kernel spin: ran longer than 100000 cycles; "
                                       "TERN_LIMIT_CYCLES or the key limit of the configuration allows more");
    const uint64_t ran = stats(&endless).cycles;
    /* The scheduler counts from the submission, the statistics from the begin on the engine. On a concurrent device the
     * host determines the time between, and the time until it looks. */
    assert_in_range(ran, rig.hal.concurrent ? 1 : 99500, rig.hal.concurrent ? UINT64_MAX : 120000);
    assert_int_equal(rig.resets, 0);
    ok(tern_process_status(works.p, NULL));
    actor_close(&endless);
    actor_close(&works);
    rig_done();
}

#define RUNNERS 4u

struct span {
    uint64_t begin, end;
};

static void note(void *user, const struct tern_completion *c)
{
    *(struct span *)user = (struct span){c->begin, c->end};
}

static bool waiting(struct tern_context *c)
{
    pthread_mutex_lock(&dev->lock);
    const bool r = c->sched.state == TERN_SCHED_WAITING;
    pthread_mutex_unlock(&dev->lock);
    return r;
}

/** Queues all work before any of it can begin, and destroys no context before all of it has ended. In between, only the
 * device and the scheduler determine the schedule. */
static void run_queued(struct span *span, uint64_t *preempted)
{
    struct actor a;
    struct tern_context *c[RUNNERS];
    struct tern_fence *gate;
    rig_open(CONFIG, NULL);
    open_mix(&a, "repeat", 0);
    ok(tern_fence_create(a.p, 0, &gate));
    actor_set(&a, 0, 300);
    actor_set(&a, 1, tern_allocation_address(a.data));
    for (uint32_t i = 0; i < RUNNERS; i++) {
        const struct tern_context_desc d = {.size = sizeof d, .engine = -1, .weight = 50 + 100 * i, .completed = note,
                                            .user = &span[i]};
        ok(tern_context_create(a.p, &d, &c[i]));
        work_wait(&dma, tern_fence_address(gate), 1);
        actor_dispatch(&a, MIX_ITEMS);
        work_submit(&dma, c[i], "repeat");
        until(waiting(c[i]));
    }
    ok(tern_fence_signal(gate, 1));
    uint64_t first = UINT64_MAX;
    for (uint32_t i = 0; i < RUNNERS; i++) {
        struct tern_context_stats s = {.size = sizeof s};
        ok(tern_wait(c[i], 1, PATIENCE));
        tern_context_query(c[i], &s);
        preempted[i] = s.preempted;
        first = span[i].begin < first ? span[i].begin : first;
    }
    for (uint32_t i = 0; i < RUNNERS; i++) {
        span[i].begin -= first;
        span[i].end -= first;
        tern_context_destroy(c[i]);
    }
    tern_fence_destroy(gate);
    actor_close(&a);
    rig_done();
}

/** The schedule is the same in each run, however fast the host is and however it divides its time. */
static void test_schedules_repeat(void **state)
{
    (void)state;
    struct span span[5][RUNNERS];
    uint64_t preempted[5][RUNNERS], sum = 0;
    for (uint32_t i = 0; i < 5; i++) {
        run_queued(span[i], preempted[i]);
        if (rig.hal.concurrent) {
            skip(); /* its time does not wait for the host */
        }
        assert_memory_equal(span[i], span[0], sizeof span[0]);
        assert_memory_equal(preempted[i], preempted[0], sizeof preempted[0]);
        sum += preempted[i][i % RUNNERS];
    }
    assert_true(sum > 0);
}

/** New contexts, queues and memory wait for no kernel and no grace: paging preempts work. */
static void test_paging_does_not_wait(void **state)
{
    (void)state;
    struct actor endless[2], other;
    uint64_t fence[2];
    rig_open("small,mem=64M,grace=1000000000", NULL);
    for (int i = 0; i < 2; i++) {
        open_spin(&endless[i], "endless", i);
        fence[i] = actor_spin(&endless[i]);
        spins(&endless[i]);
    }
    const uint32_t before = rig.preempts;
    for (int i = 0; i < 4; i++) {
        open_mix(&other, "other", -1);
        actor_close(&other);
    }
    for (int i = 0; i < 2; i++) {
        const struct tern_sched_stats *s = &dev->paging[i].stats;
        print_message("engine %d: %llu paging buffers, which began after %llu cycles in the mean, %llu at most\n", i,
                      (unsigned long long)s->completed, (unsigned long long)(s->waited / s->completed),
                      (unsigned long long)s->longest_wait);
        /* a stop and a step of the device thread; while it does not run, a concurrent device may let any time pass */
        assert_true(rig.hal.concurrent || s->longest_wait <= 2500 + 2 * 65536);
    }
    assert_true(rig.preempts > before);
    for (int i = 0; i < 2; i++) {
        spins(&endless[i]);
        release(&endless[i], fence[i], 0);
        actor_close(&endless[i]);
    }
    rig_done();
}

/** A null submission costs almost no time (C10). */
static void test_null(void **state)
{
    (void)state;
    struct actor a;
    uint64_t f;
    rig_open(CONFIG, NULL);
    open_mix(&a, "null", 0);
    for (int i = 0; i < 20; i++) {
        ok(submit_null(a.c, "null", &f));
    }
    ok(tern_wait(a.c, f, PATIENCE));
    assert_true(stats(&a).completed == 20 && stats(&a).cycles < 20 * 200);
    actor_close(&a);
    rig_done();
}

/* ---------------------------------------------------------------- privilege */

static void set_effective(uint32_t mask)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {{0}};
    assert_int_equal(syscall(SYS_capget, &head, data), 0);
    data[0].effective = data[0].permitted & mask;
    assert_int_equal(syscall(SYS_capset, &head, data), 0);
}

static void test_realtime_needs_privilege(void **state)
{
    (void)state;
    struct actor a;
    rig_open(CONFIG, NULL);
    open_mix(&a, "rt", 0);
    set_effective(~CAP_TO_MASK(CAP_SYS_NICE));
    assert_int_equal(tern_context_set_priority(a.c, TERN_BAND_REALTIME, 0), -EPERM);
    expect_says(tern_last_error(), "CAP_SYS_NICE");
    set_effective(UINT32_MAX);
    ok(tern_context_set_priority(a.c, TERN_BAND_FOCUS, 400));
    assert_true(stats(&a).band == TERN_BAND_FOCUS && stats(&a).weight == 400);
    assert_int_equal(tern_context_set_priority(a.c, (enum tern_band)7, 0), -EINVAL);
    assert_int_equal(tern_context_set_priority(a.c, TERN_BAND_IDLE, 1001), -EINVAL);
    ok(tern_context_set_priority(a.c, TERN_BAND_IDLE, 0));
    assert_true(stats(&a).band == TERN_BAND_IDLE && stats(&a).weight == 100);
    actor_close(&a);
    rig_done();
    rig_open(CONFIG ",realtime=1", NULL);
    open_mix(&a, "rt", 0);
    set_effective(~CAP_TO_MASK(CAP_SYS_NICE));
    ok(tern_context_set_priority(a.c, TERN_BAND_REALTIME, 0));
    set_effective(UINT32_MAX);
    run_mix(&a, 100);
    actor_close(&a);
    rig_done();
}

/* ------------------------------------------------------ save areas in scattered pages */

/** No two free pages are adjacent. Contexts are still created, and their work is preempted and resumed. */
static void test_scattered(void **state)
{
    (void)state;
    enum { ACTORS = 3, PAGES = (64 << 20) / 4096 };
    static struct tern_run held[PAGES];
    struct actor a[ACTORS];
    uint64_t fence[ACTORS];
    uint32_t n = 0;
    rig_open("small,mem=64M,preempt=3000,timeout=100000", NULL);
    pthread_mutex_lock(&dev->lock);
    struct tern_pages *pages = dev->partition.pages;
    while (n < PAGES && tern_pages_take(pages, 1, &held[n]) == 0) {
        n++;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (held[i].page % 2) {
            tern_pages_give(pages, &held[i]);
            held[i].count = 0;
        }
    }
    pthread_mutex_unlock(&dev->lock);
    for (uint32_t i = 0; i < ACTORS; i++) {
        open_mix(&a[i], "scattered", 0);
        assert_int_equal(a[i].c->save_runs, dev->kmd.save_pages);
        a[i].local_bytes = 8192; /* more state than two pages */
    }
    const uint32_t rounds = rig.hal.concurrent ? 1000 : 1; /* rounds until a concurrent device has preempted all */
    bool cut = false;
    for (uint32_t round = 0; round < rounds && !cut; round++) {
        for (uint32_t i = 0; i < ACTORS; i++) {
            fence[i] = actor_mix(&a[i], 300 + i + ACTORS * round);
        }
        cut = true;
        for (uint32_t i = 0; i < ACTORS; i++) {
            expect_mix(&a[i], fence[i]);
            cut = cut && stats(&a[i]).preempted > 0;
        }
    }
    assert_true(cut);
    for (uint32_t i = 0; i < ACTORS; i++) {
        actor_close(&a[i]);
    }
    pthread_mutex_lock(&dev->lock);
    for (uint32_t i = 0; i < n; i++) {
        if (held[i].count) {
            tern_pages_give(pages, &held[i]);
        }
    }
    pthread_mutex_unlock(&dev->lock);
    rig_done();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_states_and_events), cmocka_unit_test(test_endless_beside_others),
        cmocka_unit_test(test_results_under_preemption), cmocka_unit_test(test_fault_at_the_end),
        cmocka_unit_test(test_fence_nobody_signals), cmocka_unit_test(test_limit),
        cmocka_unit_test(test_schedules_repeat), cmocka_unit_test(test_paging_does_not_wait),
        cmocka_unit_test(test_null), cmocka_unit_test(test_realtime_needs_privilege),
        cmocka_unit_test(test_scattered),
    };
    return cmocka_run_group_tests_name("preempt", tests, NULL, NULL);
}
