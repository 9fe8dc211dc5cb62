/* SPDX-License-Identifier: Apache-2.0 */
/** Shares of an engine among processes, contexts, weights and bands, and the cost of a decision (C4, S1, S2). */
#include "backlogs.h"

static void test_processes_are_equal_however_many_contexts(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        backlog(i, i ? 1 : 0, 0, TERN_BAND_NORMAL, 100, 500);
    }
    run(1000000);
    expect_ratio(cycles_got(0), cycles_got(1) + cycles_got(2) + cycles_got(3), 1.0, 0.02);
    expect_ratio(cycles_got(1), cycles_got(3), 1.0, 0.02);
    backlogs_end(4);
}

static void test_cycles_are_shared_not_buffers(void **state)
{
    (void)state;
    backlog(0, 0, 0, TERN_BAND_NORMAL, 100, 20);
    backlog(1, 1, 0, TERN_BAND_NORMAL, 100, 700);
    run(300000);
    expect_ratio(cycles_got(0), cycles_got(1), 1.0, 0.02);
    backlogs_end(2);
}

static void test_weights(void **state)
{
    (void)state;
    const uint32_t weight[] = {TERN_WEIGHT_LOW, TERN_WEIGHT_NORMAL, TERN_WEIGHT_HIGH, 1000, 1};
    for (int kernel = 0; kernel < 3; kernel++) { /* short, long, much longer than a quantum */
        const uint64_t cost[] = {30, 3000, 250000};
        backlogs_restart(1);
        for (int i = 0; i < 5; i++) {
            backlog(i, 0, 0, TERN_BAND_NORMAL, weight[i], cost[kernel]);
        }
        run(100000000);
        for (int i = 0; i < 4; i++) {
            expect_ratio(cycles_got(i), cycles_got(1), weight[i] / 100.0, 0.1);
        }
        end_backlogs(clients, 5);
        tern_sched_abort_all(&mock.sched);
        take_ended();
    }
}

static void test_sleep_earns_nothing(void **state)
{
    (void)state;
    for (int other = 0; other < 2; other++) { /* compared with a context of the same process, and of another one */
        backlogs_restart(1);
        backlog(0, 0, 0, TERN_BAND_NORMAL, 100, 30);
        client_init(&clients[1], &procs[other], 0, TERN_BAND_NORMAL, 100, 30);
        run(100000);
        uint64_t before = cycles_got(0);
        client_backlog(&clients[1], 4);
        run(20000);
        expect_ratio(cycles_got(0) - before, cycles_got(1), 1.0, 0.03);
        backlogs_end(2);
    }
}

static void test_changing_bands_earns_nothing(void **state)
{
    (void)state;
    backlog(0, 0, 0, TERN_BAND_NORMAL, 100, 300);
    backlog(1, 0, 0, TERN_BAND_NORMAL, 100, 300);
    backlog(2, 0, 0, TERN_BAND_NORMAL, 100, 300);
    for (int i = 0; i < 2000; i++) {
        run(500);
        tern_sched_context_set(&mock.sched, &clients[0].mock.sched, TERN_BAND_IDLE, 100);
        tern_sched_context_set(&mock.sched, &clients[0].mock.sched, TERN_BAND_NORMAL, 100);
    }
    expect_ratio(cycles_got(0), cycles_got(1) + cycles_got(2), 0.5, 0.05);
    backlogs_end(3);
}

static void test_weights_do_not_cost_preemptions(void **state)
{
    (void)state;
    backlog(0, 0, 0, TERN_BAND_NORMAL, 400, MOCK_HANG);
    backlog(1, 0, 0, TERN_BAND_NORMAL, 100, MOCK_HANG);
    run(100 * QUANTUM);
    expect_ratio(cycles_got(0), cycles_got(1), 4.0, 0.1);
    assert_true(mock.preemptions < 50); /* four quanta in a row are not preempted */
    end_backlogs(clients, 2);
    tern_sched_abort_all(&mock.sched);
    take_ended();
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/** The cases of gem_exec_fair, and Jain's index: 2 to 256 contexts with jobs from 500 cycles to seven quanta. */
static void test_many_equal_contexts(void **state)
{
    (void)state;
    const uint64_t cost[] = {500, 5000, 19000, 40000, 140000};
    for (int processes = 0; processes < 2; processes++) {
        for (int n = 2; n <= CLIENTS; n *= 2) {
            double share[CLIENTS], sum = 0;
            backlogs_restart(1);
            for (int i = 0; i < n; i++) {
                backlog(i, processes ? i : 0, 0, TERN_BAND_NORMAL, 100, cost[i % 5]);
            }
            run((uint64_t)n * 50 * QUANTUM);
            for (int i = 0; i < n; i++) {
                share[i] = (double)cycles_got(i);
                sum += share[i];
            }
            double index = jain(share, (size_t)n);
            qsort(share, (size_t)n, sizeof *share, by_value);
            double median = (share[n / 2] + share[(n - 1) / 2]) / 2, mean = sum / n;
            if (index < 0.99 || mean < median * 3 / 4 || mean > median * 4 / 3 || share[0] < median * 3 / 4 ||
                share[n - 1] > median * 4 / 3) {
                fail_msg("%d contexts: Jain %.4f, median %.0f, mean %.0f, from %.0f to %.0f", n, index, median,
                         mean, share[0], share[n - 1]);
            }
            end_backlogs(clients, (size_t)n);
            tern_sched_abort_all(&mock.sched);
            take_ended();
        }
    }
}

static void test_normal_keeps_a_tenth(void **state)
{
    (void)state;
    const uint64_t cost[] = {500, 5000, 200000};
    for (int focus = 0; focus < 3; focus++) {
        for (int normal = 0; normal < 3; normal++) {
            backlogs_restart(1);
            for (int i = 0; i < 8; i++) {
                backlog(i, i, 0, TERN_BAND_FOCUS, 100, cost[focus]);
            }
            backlog(8, 8, 0, TERN_BAND_NORMAL, 100, cost[normal]);
            backlog(9, 9, 0, TERN_BAND_IDLE, 100, 500);
            uint64_t begin = mock.now;
            run(200 * QUANTUM);
            double share = (double)cycles_got(8) / (double)(mock.now - begin);
            if (share < 0.10 || share > 0.16) {
                fail_msg("FOCUS %llu, NORMAL %llu: share %.3f", (unsigned long long)cost[focus],
                         (unsigned long long)cost[normal], share);
            }
            assert_int_equal(cycles_got(9), 0);
            end_backlogs(clients, 9);
            run(40 * 200000 + 10000);
            assert_true(cycles_got(9) > 0); /* IDLE runs when no other work is ready */
            end_backlogs(clients, 10);
            drain();
        }
    }
}

/** Cycles that NORMAL ran while FOCUS had no work are not charged to it: FOCUS leaves NORMAL the usual part. */
static void test_normal_owes_nothing(void **state)
{
    (void)state;
    backlog(0, 0, 0, TERN_BAND_NORMAL, 100, 5000);
    run(300 * QUANTUM);
    const uint64_t alone = cycles_got(0);
    backlog(1, 1, 0, TERN_BAND_FOCUS, 100, 5000);
    run(200 * QUANTUM);
    const double share = (double)(cycles_got(0) - alone) / (200.0 * QUANTUM);
    if (share < 0.10 || share > 0.16) {
        fail_msg("NORMAL's share is %.3f after it was alone", share);
    }
    backlogs_end(2);
}

static void test_no_turn_without_need(void **state)
{
    (void)state;
    backlog(0, 0, 0, TERN_BAND_FOCUS, 100, 200000);
    run(300 * QUANTUM);
    assert_int_equal(mock.preemptions, 0); /* no other work */
    client_init(&clients[1], &procs[1], 0, TERN_BAND_NORMAL, 100, 100);
    client_submit(&clients[1], 1);
    run(2 * QUANTUM);
    assert_int_equal(clients[1].ended, 0); /* NORMAL earns nothing while it has no work */
    backlogs_end(2);
}

static void test_realtime_starts_at_once(void **state)
{
    (void)state;
    for (int i = 0; i < 64; i++) {
        const uint32_t bands[] = {TERN_BAND_IDLE, TERN_BAND_NORMAL, TERN_BAND_FOCUS};
        backlog(i, i % 20, 0, bands[i % 3], 100, 300 + 10000u * (unsigned)(i % 7));
    }
    client_init(&clients[64], &procs[64], 0, TERN_BAND_REALTIME, 100, 300);
    uint64_t worst = 0;
    for (int k = 0; k < 500; k++) {
        run(5000 + (unsigned)k * 37 % 5000);
        client_submit(&clients[64], 1);
        run(2000);
        assert_int_equal(clients[64].ended, k + 1);
    }
    worst = clients[64].mock.sched.stats.longest_wait;
    printf("REALTIME: at most %llu cycles from submission to start, of which a save takes %llu\n",
           (unsigned long long)worst, (unsigned long long)mock.save_cycles);
    assert_true(worst <= mock.save_cycles + 500);
    backlogs_end(65);
}

/** Returns the comparisons that a chunk costs, with n contexts in so many processes. */
static double decisions(int n, int processes)
{
    struct client *many = calloc((size_t)n, sizeof *many);
    struct tern_sched_process *p = calloc((size_t)processes, sizeof *p);
    assert_non_null(many);
    assert_non_null(p);
    mock_init(&mock, 1, NULL);
    for (int i = 0; i < processes; i++) {
        tern_sched_process_init(&mock.sched, &p[i], false);
    }
    for (int i = 0; i < n; i++) {
        client_init(&many[i], &p[i % processes], 0, TERN_BAND_NORMAL, 100, 100 + (unsigned)i * 7919u % 1000);
        client_backlog(&many[i], 2);
    }
    run((uint64_t)n * 2000);
    uint64_t before = mock.sched.comparisons, ids = mock.sched.engine[0].next_id;
    run((uint64_t)n * 4000 + 100000);
    double each = (double)(mock.sched.comparisons - before) / (double)(mock.sched.engine[0].next_id - ids);
    tern_sched_abort_all(&mock.sched);
    end_backlogs(many, (size_t)n);
    take_ended();
    free(many);
    free(p);
    return each;
}

static void test_decisions_are_logarithmic(void **state)
{
    (void)state;
    double few = decisions(10, 1), many = decisions(10000, 1), few_p = decisions(10, 3), many_p = decisions(10000, 100);
    printf("comparisons a chunk: 10 contexts %.1f, 10,000 %.1f; in 3 and 100 processes %.1f, %.1f\n", few, many,
           few_p, many_p);
    assert_true(many <= 4.5 * few); /* log 10,000 is four times log 10 */
    assert_true(many_p <= 4.5 * few_p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_processes_are_equal_however_many_contexts, backlogs_setup),
        cmocka_unit_test_setup(test_cycles_are_shared_not_buffers, backlogs_setup),
        cmocka_unit_test_setup(test_weights, backlogs_setup),
        cmocka_unit_test_setup(test_sleep_earns_nothing, backlogs_setup),
        cmocka_unit_test_setup(test_changing_bands_earns_nothing, backlogs_setup),
        cmocka_unit_test_setup(test_weights_do_not_cost_preemptions, backlogs_setup),
        cmocka_unit_test_setup(test_many_equal_contexts, backlogs_setup),
        cmocka_unit_test_setup(test_normal_keeps_a_tenth, backlogs_setup),
        cmocka_unit_test_setup(test_normal_owes_nothing, backlogs_setup),
        cmocka_unit_test_setup(test_no_turn_without_need, backlogs_setup),
        cmocka_unit_test_setup(test_realtime_starts_at_once, backlogs_setup),
        cmocka_unit_test_setup(test_decisions_are_logarithmic, backlogs_setup),
    };
    return cmocka_run_group_tests_name("sched_fair", tests, NULL, NULL);
}
