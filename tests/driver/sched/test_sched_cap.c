/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Caps: processes get at most a part of each engine, even while it is idle (M5; scheduling.md, 10). The part is exact
 * in cycles, and other work gets the rest.
 */
#include "backlogs.h"

static struct tern_sched_cap cap;
static struct tern_sched_partition other;

/** Caps processes [first, first + n) to so many eighths. */
static void capped(int first, int n, uint32_t part)
{
    tern_sched_cap_begin(&mock.sched, &cap, part);
    for (int i = first; i < first + n; i++) {
        tern_sched_cap_add(&mock.sched, &cap, &procs[i]);
    }
}

static uint64_t sum(int first, int n)
{
    uint64_t cycles = 0;
    for (int i = first; i < first + n; i++) {
        cycles += cycles_got(i);
    }
    return cycles;
}

static void setup_others(void)
{
    tern_sched_partition_init(&mock.sched, &other, 100);
}

static const uint64_t lengths[] = {200, 3000, 400000};

/** No other work wants the engines. Capped processes get exactly their part of each engine, however long their work
 * is. */
static void test_alone(void **state)
{
    (void)state;
    for (uint32_t engines = 1; engines <= 3; engines += 2) {
        for (uint32_t part = 1; part < TERN_CAP_WHOLE; part += 1 + part / 2) { /* 1, 2, 4, 7 eighths */
            for (int k = 0; k < 6; k++) {
                const int n = k < 3 ? 6 : (int)engines;
                backlogs_restart(engines);
                for (int i = 0; i < n; i++) {
                    backlog(i, i / 2, i % (int)engines, TERN_BAND_NORMAL, 100, lengths[k % 3]);
                }
                capped(0, 3, part);
                run(20000000);
                for (uint32_t e = 0; e < engines; e++) {
                    uint64_t here = 0;
                    for (int i = (int)e; i < n; i += (int)engines) {
                        here += cycles_got(i);
                    }
                    expect_ratio(here, 20000000, part / 8.0, 0.02);
                    assert_true(mock.queue[e].idle > 20000000u / 8 * (TERN_CAP_WHOLE - part) / 8 * 7);
                }
                tern_sched_cap_end(&mock.sched, &cap);
                backlogs_end(n);
            }
        }
    }
}

/** Work that uses one engine after another gets no more of all engines than of one. The same is true of a context that
 *  may run on any. */
static void test_one_after_another(void **state)
{
    (void)state;
    for (int bound = 0; bound < 2; bound++) {
        backlogs_restart(4);
        for (int i = 0; i < 4; i++) { /* polled every 100 cycles */
            client_init(&clients[i], &procs[0], bound ? i : TERN_ENGINE_ANY, TERN_BAND_NORMAL, 100, 3000);
        }
        capped(0, 1, 2);
        const uint64_t since = mock.now;
        for (int i = 0; mock.now - since < 20000000; i = (i + 1) % 4) {
            client_submit(&clients[i], 1);
            run_until_idle(&clients[i], true, 100);
        }
        expect_ratio(sum(0, 4), mock.now - since, 0.25, 0.06);
        tern_sched_cap_end(&mock.sched, &cap);
        backlogs_end(4);
    }
}

/** Sleep earns no cycles: work gets its part of the time in which it wants the engine. */
static void test_sleep(void **state)
{
    (void)state;
    backlogs_restart(1);
    client_init(&clients[0], &procs[0], 0, TERN_BAND_NORMAL, 100, 3000);
    capped(0, 1, 2);
    run(100000);
    const uint64_t since = mock.now;
    uint64_t slept = 0;
    while (mock.now - since < 20000000) {
        client_submit(&clients[0], 1);
        run_until_idle(&clients[0], true, 100);
        run(30000);
        slept += 30000;
    }
    expect_ratio(cycles_got(0), mock.now - since - slept, 0.25, 0.06);
    tern_sched_cap_end(&mock.sched, &cap);
    backlogs_end(1);
}

/** Other work gets the rest, in the same partition or another one. A fair share below the cap is not changed by it. */
static void others_get_the_rest(bool same, uint32_t part, uint64_t quantum)
{
    for (int band = 0; band < 4; band++) {
        config.band[band].quantum = quantum;
    }
    backlogs_restart(2);
    setup_others();
    for (int i = 0; i < 4; i++) { /* the other processes keep the engine for a quantum at a time */
        procs[i].partition = i < 2 || same ? &mock.sched.main : &other;
        backlog(i, i, i % 2, i < 2 || same ? TERN_BAND_FOCUS : TERN_BAND_NORMAL, 100, i < 2 ? 3000 : 20 * quantum);
    }
    capped(0, 2, part);
    run(1000 * quantum);
    const double share = part < 4 ? part / 8.0 : 0.5;
    expect_ratio(sum(0, 2), sum(0, 4), share, 0.02);
    expect_ratio(sum(2, 2), 2ull * 1000 * quantum, 1 - share, 0.02);
    tern_sched_cap_end(&mock.sched, &cap);
    backlogs_end(4);
}

static void test_others_get_the_rest(void **state)
{
    (void)state;
    for (uint32_t part = 1; part < TERN_CAP_WHOLE; part += 1 + part / 2) {
        for (uint64_t quantum = QUANTUM; quantum <= 10 * QUANTUM; quantum *= 10) {
            others_get_the_rest(false, part, quantum);
            others_get_the_rest(true, part, quantum);
        }
    }
}

/** In no interval does capped work get more than its part, plus a slice and what a wait of one quantum earns. */
static void test_never_more(void **state)
{
    (void)state;
    backlogs_restart(1);
    tern_sched_partition_init(&mock.sched, &other, 900);
    procs[1].partition = &other;
    backlog(0, 0, 0, TERN_BAND_NORMAL, 100, 400000);
    capped(0, 1, 4);
    uint64_t got_at[512], at[512];
    int n = 0;
    for (; n < 512; n++) {
        if (n % 64 == 32) { /* other work at times */
            backlog(1, 1, 0, TERN_BAND_NORMAL, 100, 3000);
        } else if (n % 64 == 48) {
            clients[1].refill = 0;
            run(20000);
        }
        at[n] = mock.now;
        got_at[n] = cycles_got(0);
        run(70000);
    }
    const uint64_t slack = 3 * TERN_CAP_SLICE + 3000;
    for (int i = 0; i < n; i++) {
        for (int k = i + 1; k < n; k++) {
            if (got_at[k] - got_at[i] > (at[k] - at[i]) / 2 + slack) {
                fail_msg("%llu of %llu cycles", (unsigned long long)(got_at[k] - got_at[i]),
                         (unsigned long long)(at[k] - at[i]));
            }
        }
    }
    tern_sched_cap_end(&mock.sched, &cap);
    backlogs_end(2);
}

/** The part is changed, and the cap ends. From then on the process gets its fair share, and no compensation for the
 * time under the cap. */
static void test_changes_and_ends(void **state)
{
    (void)state;
    backlogs_restart(1);
    setup_others();
    procs[1].partition = &other;
    backlog(0, 0, 0, TERN_BAND_NORMAL, 100, 3000);
    backlog(1, 1, 0, TERN_BAND_NORMAL, 100, 3000);
    capped(0, 1, 1);
    for (uint32_t part = 1; part < 4; part++) {
        const uint64_t before = cycles_got(0);
        tern_sched_cap_set(&cap, part);
        run(2000 * QUANTUM);
        expect_ratio(cycles_got(0) - before, 2000 * QUANTUM, part / 8.0, 0.02);
    }
    tern_sched_cap_end(&mock.sched, &cap);
    const uint64_t a = cycles_got(0), c = cycles_got(1);
    run(20 * QUANTUM);
    assert_true(cycles_got(0) - a < 10 * QUANTUM + 2 * QUANTUM && cycles_got(1) - c < 10 * QUANTUM + 2 * QUANTUM);
    run(1000 * QUANTUM);
    expect_ratio(cycles_got(0) - a, cycles_got(1) - c, 1, 0.02);
    clients[1].refill = 0;
    run(10 * QUANTUM);
    const uint64_t idle = mock.queue[0].idle;
    run(100 * QUANTUM);
    assert_int_equal(mock.queue[0].idle, idle); /* alone: all of the engine */
    backlogs_end(2);
}

/** Cycles before the cap's begin are not charged to it. */
static void test_begins(void **state)
{
    (void)state;
    backlogs_restart(1);
    backlog(0, 0, 0, TERN_BAND_NORMAL, 100, 100 * MS);
    run(50 * MS);
    const uint64_t before = cycles_got(0), since = mock.now;
    capped(0, 1, 4);
    run(8 * MS);
    expect_ratio(cycles_got(0) - before, mock.now - since, 0.5, 0.02);
    tern_sched_cap_end(&mock.sched, &cap);
    backlogs_end(1);
}

/** Work that its cap holds can be suspended, aborted and completed. The scheduler has a deadline only while a cap holds
 * work that could run. */
static void test_held_work_ends(void **state)
{
    (void)state;
    backlogs_restart(1);
    backlog(0, 0, 0, TERN_BAND_NORMAL, 100, 400000);
    backlog(1, 1, 0, TERN_BAND_NORMAL, 100, 3000);
    capped(0, 2, 1);
    run(TERN_CAP_SLICE);
    run_until_idle(&clients[0], false, 1000);
    run_until_idle(&clients[1], false, 1000);
    assert_int_equal(clients[0].mock.sched.state, TERN_SCHED_CAPPED);
    assert_true(tern_sched_busy(&mock.sched));
    const uint64_t fence = tern_sched_context_suspend(&mock.sched, &clients[0].mock.sched);
    assert_true(tern_sched_context_suspended(&clients[0].mock.sched, fence));
    clients[1].refill = 0;
    procs[1].error = true;
    tern_sched_abort(&mock.sched, &procs[1]);
    run_once();
    assert_int_equal(clients[1].results[TERN_ABORTED], clients[1].submitted - clients[1].results[TERN_COMPLETED]);
    assert_false(tern_sched_busy(&mock.sched)); /* the remaining work is suspended */
    assert_true(tern_sched_deadline(&mock.sched) > 100 * QUANTUM);
    assert_true(tern_sched_context_resume(&mock.sched, &clients[0].mock.sched, fence));
    run(10);
    assert_true(tern_sched_busy(&mock.sched));
    const uint64_t before = cycles_got(0);
    run(4000000);
    expect_ratio(cycles_got(0) - before, 4000000, 1 / 8.0, 0.1);
    clients[0].refill = 0;
    drain(); /* under the cap */
    tern_sched_cap_end(&mock.sched, &cap);
    assert_true(tern_list_empty(&mock.sched.caps) && tern_list_empty(&procs[0].capped) && !procs[0].cap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_alone, backlogs_setup),
        cmocka_unit_test_setup(test_one_after_another, backlogs_setup),
        cmocka_unit_test_setup(test_sleep, backlogs_setup),
        cmocka_unit_test_setup(test_others_get_the_rest, backlogs_setup),
        cmocka_unit_test_setup(test_never_more, backlogs_setup),
        cmocka_unit_test_setup(test_changes_and_ends, backlogs_setup),
        cmocka_unit_test_setup(test_held_work_ends, backlogs_setup),
        cmocka_unit_test_setup(test_begins, backlogs_setup),
    };
    return cmocka_run_group_tests_name("sched_cap", tests, NULL, NULL);
}
