/* SPDX-License-Identifier: Apache-2.0 */
/** Monitored fences (S3, P7). A wait keeps no engine, no wake-up is lost, and the work that is waited for inherits the
 * band. */
#include "sched_client.h"

#define CLIENTS 12

static struct tern_sched_process procs[CLIENTS];
static struct client clients[CLIENTS];
static struct tern_sched_config config;

static void restart(uint32_t engines)
{
    mock_init(&mock, engines, &config);
    mock.save_cycles = mock.restore_cycles = 100;
    for (int i = 0; i < CLIENTS; i++) {
        tern_sched_process_init(&mock.sched, &procs[i], false);
    }
}

static int setup(void **state)
{
    (void)state;
    tern_sched_config_default(&config);
    restart(1);
    return 0;
}

static void client(int i, int proc, uint32_t band, uint64_t cost)
{
    client_init(&clients[i], &procs[proc], 0, band, 100, cost);
}

/** Submits a job: wait (if wait_value), nops, signal (if signal_value). */
static void send(int i, uint32_t packets, uint32_t wait, uint64_t wait_value, uint32_t signal, uint64_t signal_value)
{
    struct tern_job *job = client_job(&clients[i], packets);
    if (wait_value) {
        mock_job_wait(job, 0, wait, wait_value);
    }
    if (signal_value) {
        mock_job_signal(job, packets - 1, signal, signal_value);
    }
    client_send(&clients[i], job);
}

static void host_signal(int proc, uint32_t address, uint64_t value)
{
    mock.fence[address / 8] = value;
    tern_sched_signalled(&mock.sched, &procs[proc]);
}

static void test_wait_keeps_no_engine(void **state)
{
    (void)state;
    client(0, 0, TERN_BAND_NORMAL, 10);
    client(1, 1, TERN_BAND_NORMAL, 10);
    struct tern_job *job = client_job(&clients[0], 4);
    mock_job_wait(job, 2, 8, 7);
    client_send(&clients[0], job);
    client_submit(&clients[0], 1);
    for (int k = 0; k < 20; k++) {
        client_submit(&clients[1], 1);
    }
    run(1000);
    assert_int_equal(clients[0].work.executed[1], 1); /* ran up to the wait */
    assert_int_equal(clients[0].work.executed[2], 0); /* and not into it */
    assert_int_equal(clients[0].ended, 0);
    assert_int_equal(clients[1].results[TERN_COMPLETED], 20);
    assert_false(tern_sched_busy(&mock.sched));
    assert_true(tern_sched_deadline(&mock.sched) == UINT64_MAX);
    host_signal(0, 8, 6); /* less than it waits for */
    run(100);
    assert_int_equal(clients[0].ended, 0);
    host_signal(0, 8, 8);
    drain();
    assert_int_equal(clients[0].results[TERN_COMPLETED], 2);
}

static void test_waits_are_read_only_when_something_happened(void **state)
{
    (void)state;
    client(0, 0, TERN_BAND_NORMAL, 10);
    client(1, 1, TERN_BAND_NORMAL, 10);
    for (int i = 2; i < CLIENTS; i++) {
        client(i, 0, TERN_BAND_NORMAL, 10);
        send(i, 2, 8, 5, 0, 0);
    }
    run_once();
    uint32_t before = mock.reads;
    client_backlog(&clients[1], 4);
    run(10000); /* another process's work cannot write these fences */
    assert_int_equal(mock.reads, before);
    client_submit(&clients[0], 1);
    run(1000);
    assert_int_equal(mock.reads, before + 1); /* one read for ten waits of one fence */
    clients[1].refill = 0;
    mock.fence[1] = 5;
    tern_sched_signalled(&mock.sched, &procs[0]);
    drain();
}

static void test_what_only_the_engine_can_judge(void **state)
{
    (void)state;
    client(0, 0, TERN_BAND_NORMAL, 10);
    clients[0].work.fault_at = 0;
    send(0, 2, 8 * MOCK_FENCES, 1, 0, 0); /* not mapped: it runs, so that the engine faults */
    drain();
    assert_int_equal(clients[0].results[TERN_FAULTED], 1);
}

static void test_malformed_waits_are_run(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        client(k, k, TERN_BAND_NORMAL, 10);
        clients[k].work.fault_at = 0;
        struct tern_job *job = client_job(&clients[k], 1);
        mock_job_wait(job, 0, k ? 8 : 12, 1);
        job->packets[2] = (uint32_t)k; /* unaligned, or beyond the address space */
        client_send(&clients[k], job);
    }
    drain();
    assert_int_equal(clients[0].results[TERN_FAULTED] + clients[1].results[TERN_FAULTED], 2);
}

static void test_death_ends_waits(void **state)
{
    (void)state;
    client(0, 0, TERN_BAND_NORMAL, 10);
    client(1, 0, TERN_BAND_NORMAL, 10);
    send(0, 3, 8, 1, 16, 1);
    send(1, 3, 16, 1, 8, 1); /* a deadlock */
    run(1000);
    assert_int_equal(clients[0].ended + clients[1].ended, 0);
    procs[0].error = true;
    tern_sched_abort(&mock.sched, &procs[0]);
    drain();
    assert_int_equal(clients[0].results[TERN_ABORTED] + clients[1].results[TERN_ABORTED], 2);
}

static void test_engines_wait_for_each_other(void **state)
{
    (void)state;
    restart(4);
    for (int i = 0; i < 4; i++) {
        client_init(&clients[i], &procs[0], i, TERN_BAND_NORMAL, 100, 50);
        for (uint64_t k = 0; k < 50; k++) { /* a ring: each job waits for the previous engine's */
            uint64_t wait = i ? k + 1 : k;
            send(i, 3, 8 * (uint32_t)((i + 3) % 4), wait, 8 * (uint32_t)i, k + 1);
        }
    }
    drain();
    for (int i = 0; i < 4; i++) {
        assert_int_equal(clients[i].results[TERN_COMPLETED], 50);
        assert_int_equal(mock.fence[i], 50);
    }
}

/* ------------------------------------------------------------------- inheritance */

/** Returns how long high waits for low's signal while mid floods the engine. */
static uint64_t inversion(uint32_t low, uint32_t mid, uint32_t high, int chain)
{
    setup(NULL);
    for (int i = 0; i <= chain; i++) {
        client(i, 0, low, 1000);
    }
    for (int i = 0; i < chain; i++) { /* the last of the chain signals first */
        send(i, 3, 8 * (uint32_t)(i + 1), 1, 8 * (uint32_t)i, 1);
    }
    send(chain, 3, 0, 0, 8 * (uint32_t)chain, 1);
    for (int i = 6; i < 10; i++) {
        client(i, i, mid, 5000);
        client_backlog(&clients[i], 4);
    }
    run(2000);
    client(11, 0, high, 100);
    send(11, 2, 0, 1, 0, 0);
    run(400000);
    assert_int_equal(clients[11].ended, 1);
    uint64_t waited = clients[11].mock.sched.stats.longest_wait;
    for (int i = 0; i <= chain; i++) {
        assert_int_equal(clients[i].mock.sched.band, low); /* the inherited band ends with the wait */
        assert_int_equal(clients[i].results[TERN_COMPLETED], 1);
    }
    end_backlogs(clients, CLIENTS);
    drain();
    return waited;
}

static void test_inversion(void **state)
{
    (void)state;
    const uint32_t bands[][3] = {{TERN_BAND_NORMAL, TERN_BAND_FOCUS, TERN_BAND_REALTIME},
                                 {TERN_BAND_IDLE, TERN_BAND_NORMAL, TERN_BAND_FOCUS},
                                 {TERN_BAND_IDLE, TERN_BAND_FOCUS, TERN_BAND_REALTIME}};
    for (size_t k = 0; k < 3; k++) {
        for (int chain = 0; chain < 4; chain++) {
            uint64_t waited = inversion(bands[k][0], bands[k][1], bands[k][2], chain);
            uint64_t work = 3000 * (uint64_t)(chain + 1); /* the work before it, and a save and a restore or two */
            if (waited > work + 1000) {
                fail_msg("bands %zu, chain %d: waited %llu for work of %llu", k, chain, (unsigned long long)waited,
                         (unsigned long long)work);
            }
        }
    }
}

static void test_inheritance_follows_later_signals_and_bands(void **state)
{
    (void)state;
    client(0, 0, TERN_BAND_FOCUS, 100);
    client(1, 0, TERN_BAND_NORMAL, 1000);
    client(2, 0, TERN_BAND_IDLE, 1000);
    send(0, 2, 8, 3, 0, 0);
    run_once();
    send(1, 2, 0, 0, 8, 2); /* a lower value than the wait's */
    run_once();
    assert_int_equal(clients[1].mock.sched.band, TERN_BAND_NORMAL);
    send(2, 2, 16, 1, 8, 3); /* submitted after the wait */
    run_once();
    assert_int_equal(clients[2].mock.sched.band, TERN_BAND_FOCUS);
    tern_sched_context_set(&mock.sched, &clients[0].mock.sched, TERN_BAND_REALTIME, 100);
    assert_int_equal(clients[2].mock.sched.band, TERN_BAND_REALTIME);
    tern_sched_context_set(&mock.sched, &clients[0].mock.sched, TERN_BAND_IDLE, 100);
    assert_int_equal(clients[2].mock.sched.band, TERN_BAND_IDLE);
    tern_sched_context_set(&mock.sched, &clients[0].mock.sched, TERN_BAND_FOCUS, 100);
    uint64_t hold = tern_sched_context_suspend(&mock.sched, &clients[0].mock.sched);
    run_once();
    assert_int_equal(clients[2].mock.sched.band, TERN_BAND_IDLE); /* a suspended context waits for none */
    assert_true(tern_sched_context_resume(&mock.sched, &clients[0].mock.sched, hold));
    run_once();
    assert_int_equal(clients[2].mock.sched.band, TERN_BAND_FOCUS);
    host_signal(0, 8, 3); /* the host signals instead */
    run_once();
    assert_int_equal(clients[2].mock.sched.band, TERN_BAND_IDLE);
    host_signal(0, 16, 1);
    drain();
}

static void test_inheritance_ends_with_the_job(void **state)
{
    (void)state;
    client(0, 0, TERN_BAND_FOCUS, 100);
    client(1, 0, TERN_BAND_IDLE, 1000);
    struct tern_job *job = client_job(&clients[1], 1);
    mock_job_signal(job, 0, 8, 1);
    job->null = true; /* ends without its signal (C10) */
    client_send(&clients[1], job);
    client_submit(&clients[1], 1);
    send(0, 2, 8, 1, 0, 0);
    run_once();
    assert_int_equal(clients[1].mock.sched.band, TERN_BAND_FOCUS);
    run(10);
    assert_int_equal(clients[1].ended, 1);
    assert_int_equal(clients[1].mock.sched.band, TERN_BAND_IDLE);
    host_signal(0, 8, 1);
    drain();
}

static void test_circle_of_waits(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        client(i, 0, (uint32_t)i, 10);
        send(i, 3, 8 * (uint32_t)i, 1, 8 * (uint32_t)((i + 1) % 3), 1);
    }
    run_once();
    host_signal(0, 0, 1);
    drain();
    for (int i = 0; i < 3; i++) {
        assert_int_equal(clients[i].results[TERN_COMPLETED], 1);
        assert_int_equal(clients[i].mock.sched.band, i);
    }
}

/* ------------------------------------------------------------------- lost wake-ups */

#define HOST_FENCES 2u

/**
 * Random jobs with fences, on random engines, in random bands, with and without forced preemption. Each fence is
 * signalled by one context or by the host. A job waits only for jobs that were sent before it, or for a signal of the
 * host, so all jobs must end. A lost wake-up would leave a job that never ends. Fences must not be read without a
 * reason.
 */
static void hunt(void)
{
    uint64_t value[MOCK_FENCES] = {0}; /* value that each fence reaches when all jobs so far have run */
    for (int i = 0; i < CLIENTS; i++) {
        int32_t engine = rand() % 2 ? TERN_ENGINE_ANY : (int32_t)((uint32_t)rand() % mock.sched.engines);
        client_init(&clients[i], &procs[i % 2], engine, (uint32_t)rand() % 4, 1 + (uint32_t)rand() % 1000,
                    1 + (uint64_t)rand() % 300);
    }
    for (int k = 0; k < 150; k++) {
        uint32_t i = (uint32_t)rand() % CLIENTS, packets = 2 + (uint32_t)rand() % 6;
        struct tern_job *job = client_job(&clients[i], packets);
        for (uint32_t p = 0; p < packets; p++) {
            uint32_t other = 2 * ((uint32_t)rand() % (CLIENTS / 2 + HOST_FENCES)) + i % 2; /* of the same process */
            uint64_t known = other < CLIENTS ? value[other] : 20;
            if (rand() % 4 == 0) {
                mock_job_wait(job, p, 8 * other, (uint64_t)rand() % (known + 1));
            } else if (rand() % 3 == 0) {
                mock_job_signal(job, p, 8 * i, ++value[i]);
            }
        }
        client_send(&clients[i], job);
        if (rand() % 4 == 0) {
            run((uint64_t)rand() % 400);
        }
        if (rand() % 8 == 0) {
            uint32_t f = CLIENTS + (uint32_t)rand() % (2 * HOST_FENCES);
            host_signal((int)(f % 2), 8 * f, mock.fence[f] + 1);
        }
    }
    for (uint32_t f = CLIENTS; f < CLIENTS + 2 * HOST_FENCES; f++) {
        run((uint64_t)rand() % 40000);
        host_signal((int)(f % 2), 8 * f, 20);
    }
    drain();
    for (int i = 0; i < CLIENTS; i++) {
        assert_int_equal(clients[i].results[TERN_COMPLETED], clients[i].submitted);
        assert_int_equal(clients[i].mock.sched.band, clients[i].mock.sched.base_band);
        assert_int_equal(mock.fence[i], value[i]);
    }
}

static void test_hunt_for_lost_wakeups(void **state)
{
    (void)state;
    const char *given = getenv("TERN_TEST_SEED");
    unsigned seed = given ? (unsigned)strtoul(given, NULL, 0) : 1;
    printf("seed %u (rerun: TERN_TEST_SEED=%u)\n", seed, seed);
    for (unsigned round = 0; round < 400; round++) {
        srand(seed + round);
        tern_sched_config_default(&config);
        config.force_preempt = rand() % 3 ? 0 : 700;
        config.band[TERN_BAND_NORMAL].quantum = 1000;
        config.depth = 1 + (uint32_t)rand() % 2;
        restart(1 + (uint32_t)rand() % 3);
        hunt();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_wait_keeps_no_engine, setup),
        cmocka_unit_test_setup(test_waits_are_read_only_when_something_happened, setup),
        cmocka_unit_test_setup(test_what_only_the_engine_can_judge, setup),
        cmocka_unit_test_setup(test_malformed_waits_are_run, setup),
        cmocka_unit_test_setup(test_death_ends_waits, setup),
        cmocka_unit_test_setup(test_engines_wait_for_each_other, setup),
        cmocka_unit_test_setup(test_inversion, setup),
        cmocka_unit_test_setup(test_inheritance_follows_later_signals_and_bands, setup),
        cmocka_unit_test_setup(test_inheritance_ends_with_the_job, setup),
        cmocka_unit_test_setup(test_circle_of_waits, setup),
        cmocka_unit_test_setup(test_hunt_for_lost_wakeups, setup),
    };
    return cmocka_run_group_tests_name("sched_wait", tests, NULL, NULL);
}
