/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Each partition gets its share of each engine on which it has work (M5; scheduling.md, 2), whatever contexts, bands
 * and lengths of work the others have. Also tested: latency, and changes of shares.
 */
#include <math.h>

#include "backlogs.h"

static struct tern_sched_partition parts[3];

/** Makes n partitions with these shares. */
static void share_out(int n, const uint32_t *share)
{
    for (int i = 0; i < n; i++) {
        tern_sched_partition_init(&mock.sched, &parts[i], share[i]);
    }
}

static void belong(int first, int n, int part)
{
    for (int i = first; i < first + n; i++) {
        procs[i].partition = &parts[part];
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

/** Shares are kept with any number of contexts and any length of work, on one engine and on two. */
static void test_shares(void **state)
{
    (void)state;
    const uint64_t cost[] = {200, 3000, 150000};
    for (uint32_t engines = 1; engines <= 2; engines++) {
        for (int k = 0; k < 3; k++) {
            backlogs_restart(engines);
            share_out(2, (const uint32_t[]){100, 300});
            belong(0, 9, 0);
            belong(9, 2, 1);
            for (int i = 0; i < 11; i++) {
                backlog(i, i, TERN_ENGINE_ANY, TERN_BAND_NORMAL, 100, i < 9 ? cost[k] : 3000);
            }
            run(1000 * QUANTUM);
            expect_ratio(sum(9, 2), sum(0, 9), 3, 0.02);
            for (int i = 0; i < 9; i++) { /* equal shares within a partition */
                expect_ratio(cycles_got(i), sum(0, 9), 1.0 / 9, 0.1);
            }
            backlogs_end(11);
        }
    }
}

/** Two partitions with one job each, which does not end, keep their shares. The job of one is in the HW queue behind
 *  that of the other, and comes back without having run whenever the other is preempted. */
static void test_shares_of_single_jobs(void **state)
{
    static const uint32_t shares[][2] = {{100, 100}, {100, 300}, {300, 100}, {100, 700}};
    (void)state;
    for (size_t k = 0; k < sizeof shares / sizeof shares[0]; k++) {
        backlogs_restart(1);
        share_out(2, shares[k]);
        for (int i = 0; i < 2; i++) {
            belong(i, 1, i);
            client_init(&clients[i], &procs[i], 0, TERN_BAND_NORMAL, 100, 2000 * QUANTUM);
            client_submit(&clients[i], 1);
        }
        run(1000 * QUANTUM);
        expect_ratio(cycles_got(1), cycles_got(0), (double)shares[k][1] / shares[k][0], 0.02);
        drain();
    }
}

/** The same for two contexts of a process, and for two processes of a partition, with these weights. */
static void test_weights_of_single_jobs(void **state)
{
    (void)state;
    for (int processes = 1; processes <= 2; processes++) {
        backlogs_restart(1);
        for (int i = 0; i < 2; i++) {
            client_init(&clients[i], &procs[i % processes], 0, TERN_BAND_NORMAL, i ? 400 : 100, 2000 * QUANTUM);
            client_submit(&clients[i], 1);
        }
        run(1000 * QUANTUM);
        expect_ratio(cycles_got(1), cycles_got(0), processes == 1 ? 4 : 1, 0.02);
        drain();
    }
}

/** FOCUS and REALTIME of a partition take nothing of another partition's share. Both run first in their own one. */
static void test_bands(void **state)
{
    (void)state;
    for (int engines = 1; engines <= 2; engines++) {
        backlogs_restart((uint32_t)engines);
        share_out(2, (const uint32_t[]){100, 100});
        belong(0, 6, 0);
        belong(6, 4, 1);
        for (int i = 0; i < 6; i++) {
            const uint32_t bands[] = {TERN_BAND_NORMAL, TERN_BAND_FOCUS, TERN_BAND_REALTIME};
            backlog(i, i, i % engines, bands[i / 2], 100, 5000);
        }
        for (int i = 6; i < 10; i++) {
            backlog(i, i, i % engines, i < 8 ? TERN_BAND_NORMAL : TERN_BAND_IDLE, 100, 900);
        }
        run(1000 * QUANTUM);
        expect_ratio(sum(0, 6), sum(6, 4), 1, 0.02);
        expect_ratio(sum(4, 2), sum(0, 6), 1, 0.02); /* REALTIME has all of the first partition's share */
        expect_ratio(sum(6, 2), sum(6, 4), 1, 0.02); /* and NORMAL all of the second one's */
        backlogs_end(10);
    }
}

/** In each partition NORMAL keeps a tenth of what FOCUS takes there (S1). */
static void test_normal_keeps_a_tenth(void **state)
{
    (void)state;
    backlogs_restart(1);
    share_out(2, (const uint32_t[]){100, 200});
    belong(0, 2, 0);
    belong(2, 2, 1);
    for (int i = 0; i < 4; i++) {
        backlog(i, i, 0, i % 2 ? TERN_BAND_NORMAL : TERN_BAND_FOCUS, 100, 3000);
    }
    run(2000 * QUANTUM);
    expect_ratio(sum(2, 2), sum(0, 2), 2, 0.02);
    assert_true(10 * cycles_got(1) >= sum(0, 2) && 10 * cycles_got(3) >= sum(2, 2));
    assert_true(5 * cycles_got(1) < sum(0, 2) && 5 * cycles_got(3) < sum(2, 2));
    backlogs_end(4);
}

/** Other partitions get a share that is not used. Sleep earns nothing. */
static void test_sleep(void **state)
{
    (void)state;
    backlogs_restart(1);
    share_out(3, (const uint32_t[]){100, 300, 100});
    for (int i = 0; i < 3; i++) {
        belong(i, 1, i);
    }
    backlog(0, 0, 0, TERN_BAND_NORMAL, 100, 3000);
    backlog(2, 2, 0, TERN_BAND_NORMAL, 100, 3000);
    run(400 * QUANTUM);
    expect_ratio(cycles_got(0), cycles_got(2), 1, 0.02);
    assert_true(mock.queue[0].idle < QUANTUM);
    const uint64_t before = cycles_got(0) + cycles_got(2);
    backlog(1, 1, 0, TERN_BAND_NORMAL, 100, 3000); /* the second partition begins */
    run(400 * QUANTUM);
    expect_ratio(cycles_got(1), cycles_got(0) + cycles_got(2) - before, 1.5, 0.03);
    backlogs_end(3);
}

/** A partition's work waits for at most a quantum of each other partition. */
static void test_latency(void **state)
{
    (void)state;
    backlogs_restart(1);
    share_out(3, (const uint32_t[]){1000, 1, 100});
    belong(0, 20, 0);
    belong(20, 1, 1);
    belong(21, 1, 2);
    for (int i = 0; i < 20; i++) {
        backlog(i, i, 0, TERN_BAND_FOCUS, 100, 30 * QUANTUM);
    }
    backlog(20, 20, 0, TERN_BAND_FOCUS, 100, 30 * QUANTUM);
    run(50 * QUANTUM);
    for (int i = 0; i < 20; i++) {
        struct client *c = &clients[21];
        client_init(c, &procs[21], 0, TERN_BAND_NORMAL, 100, 500);
        const uint64_t at = mock.now;
        client_submit(c, 1);
        while (!c->ended) {
            run(QUANTUM / 8);
            if (mock.now - at > 3 * QUANTUM) {
                fail_msg("it has waited for %llu cycles", (unsigned long long)(mock.now - at));
            }
        }
        run((uint64_t)(i + 1) * QUANTUM);
    }
    backlogs_end(21);
}

/** A partition's share changes while all run. */
static void test_changes(void **state)
{
    (void)state;
    backlogs_restart(2);
    share_out(2, (const uint32_t[]){100, 100});
    belong(0, 2, 0);
    belong(2, 2, 1);
    for (int i = 0; i < 4; i++) {
        backlog(i, i, i % 2, TERN_BAND_NORMAL, 100, 2000);
    }
    const uint32_t share[] = {100, 5, 1000, 100};
    for (size_t k = 0; k < sizeof share / sizeof *share; k++) {
        tern_sched_partition_set(&mock.sched, &parts[1], share[k]);
        const uint64_t a = sum(0, 2), b = sum(2, 2);
        run(3000 * QUANTUM);
        expect_ratio(sum(2, 2) - b, sum(0, 2) - a, share[k] / 100.0, 0.03);
    }
    backlogs_end(4);
}

/** An idle engine takes work that waits, of any partition. */
static void test_work_conserving(void **state)
{
    (void)state;
    backlogs_restart(2);
    share_out(2, (const uint32_t[]){100, 900});
    belong(0, 2, 0);
    belong(2, 1, 1);
    backlog(0, 0, TERN_ENGINE_ANY, TERN_BAND_NORMAL, 100, 3000);
    backlog(2, 2, 0, TERN_BAND_NORMAL, 100, 3000);
    run(200 * QUANTUM);
    assert_true(mock.queue[0].idle < 2 * QUANTUM && mock.queue[1].idle < 2 * QUANTUM);
    backlogs_end(3);
}

/** Shares apply to each engine separately. A partition with a single context gets its part of one engine, whatever
 *  other partitions have on the other (docs/scheduling.md, 2). */
static void test_one_context(void **state)
{
    (void)state;
    backlogs_restart(2);
    share_out(2, (const uint32_t[]){100, 100});
    belong(0, 1, 0);
    belong(1, 3, 1);
    for (int i = 0; i < 4; i++) {
        backlog(i, i, TERN_ENGINE_ANY, TERN_BAND_NORMAL, 100, 3000);
    }
    run(2000 * QUANTUM);
    expect_ratio(sum(0, 1), sum(0, 4), 0.25, 0.02);
    backlogs_end(4);
}

/** The example of docs/scheduling.md. */
static void test_the_example(void **state)
{
    (void)state;
    backlogs_restart(1);
    share_out(2, (const uint32_t[]){100, 300});
    belong(0, 2, 0);
    belong(2, 2, 1);
    backlog(0, 0, 0, TERN_BAND_FOCUS, 100, 1000);
    backlog(1, 1, 0, TERN_BAND_NORMAL, 100, 1000);
    backlog(2, 2, 0, TERN_BAND_NORMAL, 100, 1000);
    backlog(3, 3, 0, TERN_BAND_NORMAL, 300, 1000);
    run(4000 * QUANTUM);
    const double all = (double)(sum(0, 4)), want[] = {0.22, 0.03, 0.375, 0.375};
    for (int i = 0; i < 4; i++) {
        assert_true(fabs((double)cycles_got(i) / all - want[i]) < 0.01);
    }
    backlogs_end(4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_shares, backlogs_setup),
        cmocka_unit_test_setup(test_shares_of_single_jobs, backlogs_setup),
        cmocka_unit_test_setup(test_weights_of_single_jobs, backlogs_setup),
        cmocka_unit_test_setup(test_bands, backlogs_setup),
        cmocka_unit_test_setup(test_normal_keeps_a_tenth, backlogs_setup),
        cmocka_unit_test_setup(test_sleep, backlogs_setup),
        cmocka_unit_test_setup(test_latency, backlogs_setup), cmocka_unit_test_setup(test_changes, backlogs_setup),
        cmocka_unit_test_setup(test_one_context, backlogs_setup),
        cmocka_unit_test_setup(test_work_conserving, backlogs_setup),
        cmocka_unit_test_setup(test_the_example, backlogs_setup),
    };
    return cmocka_run_group_tests_name("sched_partitions", tests, NULL, NULL);
}
