/* SPDX-License-Identifier: Apache-2.0 */
/** Users: the processes of a user together get the user's share, however many they are and whatever they do (S2). */
#include "backlogs.h"

#define USERS 64

static struct tern_sched_user users[USERS];

static int setup_users(void **state)
{
    for (int u = 0; u < USERS; u++) {
        users[u] = (struct tern_sched_user){.share = TERN_WEIGHT_NORMAL};
    }
    return backlogs_setup(state);
}

/** Makes clients [first, first + n) processes of the user, each with one context. */
static void belong(int first, int n, int user)
{
    for (int i = first; i < first + n; i++) {
        procs[i].user = &users[user];
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

static void floods(int first, int n, int32_t engine, uint64_t cost)
{
    for (int i = first; i < first + n; i++) {
        backlog(i, i, engine, TERN_BAND_NORMAL, 100, cost);
    }
}

static void test_however_many_processes(void **state)
{
    (void)state;
    const uint64_t cost[] = {200, 3000, 150000}; /* short, long, much longer than a quantum */
    const int many = 12;
    for (uint32_t engines = 1; engines <= 2; engines++) {
        for (int k = 0; k < 3; k++) {
            backlogs_restart(engines);
            belong(0, 2, 0);
            belong(2, many, 1);
            floods(0, 2, TERN_ENGINE_ANY, 3000);
            floods(2, many, TERN_ENGINE_ANY, cost[k]);
            run(500 * QUANTUM);
            expect_ratio(sum(0, 2), sum(2, many), 1, 0.05);
            for (int i = 2; i < 2 + many; i++) {
                expect_ratio(cycles_got(i), sum(2, many), 1.0 / many, 0.15);
            }
            backlogs_end(2 + many);
        }
    }
}

static void test_shares(void **state)
{
    (void)state;
    users[0].share = 300;
    users[2].share = 25;
    belong(0, 2, 0);
    belong(2, 5, 1);
    belong(7, 1, 2); /* process 8 has no user: it gets the normal share */
    for (int i = 0; i < 9; i++) {
        backlog(i, i, 0, TERN_BAND_NORMAL, 100, 300 + 2000u * (unsigned)(i % 4));
    }
    run(1000 * QUANTUM);
    expect_ratio(sum(0, 2), sum(2, 5), 3, 0.05);
    expect_ratio(cycles_got(7), sum(2, 5), 0.25, 0.05);
    expect_ratio(cycles_got(8), sum(2, 5), 1, 0.05);
    backlogs_end(9);
}

/** Processes with one job at a time, which sleep in between, beside a process that always has work. */
static void test_processes_that_sleep(void **state)
{
    (void)state;
    belong(0, 1, 0);
    belong(1, 8, 1);
    backlog(0, 0, 0, TERN_BAND_NORMAL, 100, 2000);
    for (int i = 1; i < 9; i++) {
        client_init(&clients[i], &procs[i], 0, TERN_BAND_NORMAL, 100, 500 + 700u * (unsigned)i);
        client_backlog(&clients[i], 1);
    }
    run(1000 * QUANTUM);
    expect_ratio(sum(1, 8), cycles_got(0), 1, 0.1);
    backlogs_end(9);
}

/** Weights of contexts are shares within a process. Processes start and end. */
static void test_within(void **state)
{
    (void)state;
    belong(0, 20, 0);
    belong(20, 1, 1);
    backlog(0, 0, 0, TERN_BAND_NORMAL, 400, 700);
    backlog(1, 0, 0, TERN_BAND_NORMAL, 100, 900);
    backlog(20, 20, 0, TERN_BAND_NORMAL, 100, 1500);
    run(300 * QUANTUM);
    expect_ratio(cycles_got(0), cycles_got(1), 4, 0.05);
    expect_ratio(cycles_got(0) + cycles_got(1), cycles_got(20), 1, 0.05);
    uint64_t others = 0;
    for (int i = 2; i < 20; i++) { /* each for some quanta */
        client_init(&clients[i], &procs[i], 0, TERN_BAND_NORMAL, 100, 1100);
        client_backlog(&clients[i], 4);
        run(30 * QUANTUM);
        end_backlogs(&clients[i], 1);
        run(10 * QUANTUM);
        others += clients[i].mock.sched.stats.cycles;
    }
    expect_ratio(cycles_got(0) + cycles_got(1) + others, cycles_got(20), 1, 0.05);
    expect_ratio(cycles_got(0), cycles_got(1), 4, 0.05);
    backlogs_end(21);
}

static void expect_fair(const double *share, size_t n)
{
    const double index = jain(share, n);
    if (index < 0.99) {
        fail_msg("%zu users: Jain %.4f", n, index);
    }
}

/** Jain's index over 64 users of one process each, and over four users of 1 to 40 processes, on two engines. */
static void test_many_users(void **state)
{
    (void)state;
    const int processes[] = {1, 3, 12, 40};
    double share[USERS];
    backlogs_restart(2);
    for (int i = 0; i < USERS; i++) {
        belong(i, 1, i);
        backlog(i, i, TERN_ENGINE_ANY, TERN_BAND_NORMAL, 100, 500 + 4000u * (unsigned)(i % 5));
    }
    run(USERS * 40 * QUANTUM);
    for (int i = 0; i < USERS; i++) {
        share[i] = (double)cycles_got(i);
    }
    expect_fair(share, USERS);
    backlogs_end(USERS);
    backlogs_restart(2);
    for (int u = 0, first = 0; u < 4; first += processes[u++]) {
        belong(first, processes[u], u);
        for (int i = first; i < first + processes[u]; i++) {
            backlog(i, i, TERN_ENGINE_ANY, TERN_BAND_NORMAL, 100, 1000 + 5000u * (unsigned)u);
        }
    }
    run(USERS * 40 * QUANTUM);
    for (int u = 0, first = 0; u < 4; first += processes[u++]) {
        share[u] = (double)sum(first, processes[u]);
    }
    expect_fair(share, 4);
    backlogs_end(56);
}

/** Returns the comparisons that a chunk costs when processes sleep and wake up all the time. */
static double decisions(int processes, int of_users)
{
    backlogs_restart(1);
    for (int i = 0; i < processes; i++) {
        if (of_users) {
            belong(i, 1, i % of_users);
        }
        client_init(&clients[i], &procs[i], 0, TERN_BAND_NORMAL, 100, 100 + 37u * (unsigned)(i % 20));
        client_backlog(&clients[i], 1);
    }
    run(4000000);
    const double each = (double)mock.sched.comparisons / (double)mock.sched.engine[0].next_id;
    backlogs_end(processes);
    return each;
}

static void test_decisions_cost_the_same(void **state)
{
    (void)state;
    const double without = decisions(200, 0), few = decisions(200, 2), many = decisions(200, 50);
    printf("comparisons a chunk, 200 processes: %.1f without users, %.1f with 2, %.1f with 50\n", without, few, many);
    assert_true(few <= 1.2 * without && many <= 1.2 * without);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_however_many_processes, setup_users),
        cmocka_unit_test_setup(test_shares, setup_users),
        cmocka_unit_test_setup(test_processes_that_sleep, setup_users),
        cmocka_unit_test_setup(test_within, setup_users),
        cmocka_unit_test_setup(test_many_users, setup_users),
        cmocka_unit_test_setup(test_decisions_cost_the_same, setup_users),
    };
    return cmocka_run_group_tests_name("sched_users", tests, NULL, NULL);
}
