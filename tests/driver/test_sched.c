/* SPDX-License-Identifier: Apache-2.0 */
/** The scheduler on mock engines: order, fairness, weights, containment, preemption, timeouts (C2-C6, P3, S2, S3, F1, F3). */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "mock_engine.h"

#define CONTEXTS 8
#define FOR_EVER ((uint64_t)1 << 40)

struct client {
    struct tern_sched_process *proc;
    struct tern_sched_context ctx;
    uint64_t submitted, ended, cycles;
    uint32_t results[3];
    struct mock_work work;
    bool refill;
};

static struct mock m;
static struct tern_sched_process procs[CONTEXTS];
static struct client clients[CONTEXTS];

static int setup(void **state)
{
    (void)state;
    for (int i = 0; i < CONTEXTS; i++) {
        procs[i] = (struct tern_sched_process){0};
        clients[i] = (struct client){0};
    }
    mock_init(&m, 1, FOR_EVER, FOR_EVER);
    return 0;
}

static void client(int i, int proc, uint32_t engine, uint32_t weight, uint64_t cost)
{
    clients[i].proc = &procs[proc];
    clients[i].work = (struct mock_work){.cost = cost, .fault_at = -1};
    tern_sched_context_init(&clients[i].ctx, &procs[proc], engine, weight);
}

static struct tern_job *submit(int i, uint32_t packets)
{
    struct tern_job *job = mock_job(&clients[i].work, packets, ++clients[i].submitted);
    tern_sched_submit(&m.sched, &clients[i].ctx, job);
    return job;
}

/** Runs the scheduler and takes what has ended, in order within each context. */
static void turn(void)
{
    struct tern_job *job;
    assert_int_equal(tern_sched_run(&m.sched), 0);
    while ((job = tern_sched_ended(&m.sched))) {
        struct client *c = TERN_LIST_ENTRY(job->context, struct client, ctx);
        assert_int_equal(job->fence, c->ended + 1);
        c->ended = job->fence;
        c->results[job->result]++;
        c->cycles += job->cycles;
        free(job);
    }
}

static void run(uint64_t cycles, uint64_t step)
{
    for (uint64_t t = 0; t < cycles; t += step) {
        for (int i = 0; i < CONTEXTS; i++) {
            while (clients[i].refill && clients[i].submitted - clients[i].ended < 4) {
                submit(i, 1);
            }
        }
        turn();
        mock_advance(&m, step);
    }
    turn();
}

static void drain(void)
{
    for (int i = 0; i < CONTEXTS; i++) {
        clients[i].refill = false;
    }
    for (int i = 0; tern_sched_pending(&m.sched); i++) {
        assert_true(i < 100000);
        turn();
        mock_advance(&m, 16);
    }
    turn();
}

static void near_ratio(uint64_t a, uint64_t b, double ratio)
{
    double r = (double)a / (double)b;
    if (r < ratio * 0.93 || r > ratio * 1.07) {
        fail_msg("shares %llu : %llu are %.3f, not %.3f", (unsigned long long)a, (unsigned long long)b, r, ratio);
    }
}

static void test_order_and_depth(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        client(i, i, 0, 100, 10 + (uint64_t)i);
        for (int k = 0; k < 20; k++) {
            submit(i, 1);
        }
    }
    turn();
    assert_int_equal(m.queue[0].n, 2);
    mock_advance(&m, 10);
    turn();
    assert_int_equal(m.queue[0].n, 2); /* filled up as soon as one ended (C6) */
    drain();
    for (int i = 0; i < 3; i++) {
        assert_int_equal(clients[i].results[TERN_COMPLETED], 20);
    }
    assert_int_equal(m.deepest, 2);
}

static void test_one_context_fills_both_places(void **state)
{
    (void)state;
    client(0, 0, 0, 100, 10);
    submit(0, 1);
    submit(0, 1);
    submit(0, 1);
    turn();
    assert_int_equal(m.queue[0].n, 2);
    assert_int_not_equal(m.queue[0].slice[0].slot, m.queue[0].slice[1].slot);
    drain();
    assert_int_equal(clients[0].results[TERN_COMPLETED], 3);
}

static void test_processes_are_equal_however_many_contexts(void **state)
{
    (void)state;
    client(0, 0, 0, 100, 50);
    for (int i = 1; i < 4; i++) {
        client(i, 1, 0, 100, 50);
    }
    for (int i = 0; i < 4; i++) {
        clients[i].refill = true;
    }
    run(100000, 10);
    near_ratio(clients[0].cycles, clients[1].cycles + clients[2].cycles + clients[3].cycles, 1.0);
    near_ratio(clients[1].cycles, clients[3].cycles, 1.0);
    drain();
}

static void test_cycles_are_shared_not_buffers(void **state)
{
    (void)state;
    client(0, 0, 0, 100, 20);
    client(1, 1, 0, 100, 700);
    clients[0].refill = clients[1].refill = true;
    run(300000, 5);
    near_ratio(clients[0].cycles, clients[1].cycles, 1.0);
    drain();
}

static void test_weights(void **state)
{
    (void)state;
    client(0, 0, 0, 100, 30);
    client(1, 0, 0, 400, 30);
    clients[0].refill = clients[1].refill = true;
    run(200000, 10);
    near_ratio(clients[1].cycles, clients[0].cycles, 4.0);
    drain();
}

static void test_sleep_earns_nothing(void **state)
{
    (void)state;
    client(0, 0, 0, 100, 30);
    client(1, 1, 0, 100, 30);
    clients[0].refill = true;
    run(100000, 10);
    uint64_t before = clients[0].cycles;
    clients[1].refill = true;
    run(20000, 10);
    near_ratio(clients[0].cycles - before, clients[1].cycles, 1.0);
    drain();
}

static void test_engines_are_independent(void **state)
{
    (void)state;
    mock_init(&m, 2, FOR_EVER, FOR_EVER);
    client(0, 0, 0, 100, MOCK_HANG);
    client(1, 1, 1, 100, 10);
    submit(0, 1);
    for (int k = 0; k < 50; k++) {
        submit(1, 1);
    }
    run(1000, 10);
    assert_int_equal(clients[1].results[TERN_COMPLETED], 50);
    assert_int_equal(clients[0].ended, 0);
    tern_sched_abort_all(&m.sched);
    m.queue[0].n = 0;
    struct tern_job *job = tern_sched_ended(&m.sched);
    assert_int_equal(job->result, TERN_ABORTED);
    free(job);
}

static void test_fault_is_contained(void **state)
{
    (void)state;
    mock_init(&m, 2, FOR_EVER, FOR_EVER);
    client(0, 0, 0, 100, 10);
    client(1, 0, 1, 100, 10); /* the same process on the other engine */
    client(2, 1, 0, 100, 10);
    clients[0].work.fault_at = 0;
    for (int k = 0; k < 10; k++) {
        submit(0, 1);
        submit(1, 1);
        submit(2, 1);
    }
    drain();
    assert_true(procs[0].error);
    assert_false(procs[1].error);
    assert_int_equal(m.faults, 1);
    assert_int_equal(clients[0].results[TERN_FAULTED], 1);
    assert_int_equal(clients[0].results[TERN_ABORTED], 9);
    assert_int_equal(clients[1].results[TERN_FAULTED], 0);
    assert_true(clients[1].results[TERN_ABORTED] >= 8);
    assert_int_equal(clients[2].results[TERN_COMPLETED], 10);
    submit(0, 1); /* after the error: aborted at once */
    turn();
    assert_int_equal(clients[0].results[TERN_ABORTED], 10);
}

static void test_buffer_behind_the_fault_is_aborted(void **state)
{
    (void)state;
    client(0, 0, 0, 100, 10);
    clients[0].work.fault_at = 0;
    submit(0, 1);
    struct mock_work good = {.cost = 10, .fault_at = -1};
    struct tern_job *second = mock_job(&good, 1, ++clients[0].submitted);
    tern_sched_submit(&m.sched, &clients[0].ctx, second);
    turn();
    assert_int_equal(m.queue[0].n, 2);
    drain();
    assert_int_equal(good.executed[0], 1); /* the engine ran it; it counts as aborted all the same */
    assert_int_equal(clients[0].results[TERN_FAULTED], 1);
    assert_int_equal(clients[0].results[TERN_ABORTED], 1);
}

static void test_fault_in_the_middle_of_a_long_job(void **state)
{
    (void)state;
    client(0, 0, 0, 100, 2);
    clients[0].work.fault_at = 10;
    submit(0, 500); /* two slices; both are in the HW queue when the first faults */
    submit(0, 1);
    drain();
    assert_int_equal(clients[0].results[TERN_FAULTED], 1);
    assert_int_equal(clients[0].results[TERN_ABORTED], 1);
}

static void test_timeout_resets_and_spares_the_innocent(void **state)
{
    (void)state;
    mock_init(&m, 1, 10000, FOR_EVER);
    client(0, 0, 0, 100, MOCK_HANG);
    client(1, 1, 0, 100, 10);
    submit(0, 1);
    submit(0, 1);
    submit(1, 3);
    submit(1, 3);
    run(9000, 100);
    assert_int_equal(m.resets, 0);
    run(3000, 100);
    assert_int_equal(m.resets, 1);
    drain();
    assert_int_equal(clients[0].results[TERN_FAULTED], 1);
    assert_int_equal(clients[0].results[TERN_ABORTED], 1);
    assert_int_equal(clients[1].results[TERN_COMPLETED], 2);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(clients[1].work.executed[i], 2); /* each packet of both buffers once */
    }
}

static void test_long_work_that_can_stop_is_not_killed(void **state)
{
    (void)state;
    mock_init(&m, 1, 1000, FOR_EVER);
    client(0, 0, 0, 100, 50);
    submit(0, 200); /* ten timeouts long */
    drain();
    assert_int_equal(m.resets, 0);
    assert_true(m.preemptions > 0);
    assert_int_equal(clients[0].results[TERN_COMPLETED], 1);
    for (int i = 0; i < 200; i++) {
        assert_int_equal(clients[0].work.executed[i], 1);
    }
}

static void test_quantum(void **state)
{
    (void)state;
    mock_init(&m, 1, FOR_EVER, 300);
    client(0, 0, 0, 100, 100);
    client(1, 1, 0, 100, 10);
    submit(0, 100);
    submit(0, 100);
    run(200, 10); /* both places hold the long one */
    submit(1, 1);
    run(600, 10);
    assert_int_equal(clients[1].results[TERN_COMPLETED], 1); /* not after 20,000 cycles */
    drain();
    for (int i = 0; i < 100; i++) {
        assert_int_equal(clients[0].work.executed[i], 2);
    }
}

static void test_wait_keeps_no_engine(void **state)
{
    (void)state;
    client(0, 0, 0, 100, 10);
    client(1, 1, 0, 100, 10);
    struct tern_job *job = mock_job(&clients[0].work, 4, ++clients[0].submitted);
    mock_job_wait(job, 2, 7);
    tern_sched_submit(&m.sched, &clients[0].ctx, job);
    submit(0, 1);
    for (int k = 0; k < 20; k++) {
        submit(1, 1);
    }
    run(1000, 10);
    assert_int_equal(clients[0].work.executed[1], 1); /* ran up to the wait, */
    assert_int_equal(clients[0].work.executed[2], 0); /* but not into it */
    assert_int_equal(clients[0].ended, 0);
    assert_int_equal(clients[1].results[TERN_COMPLETED], 20);
    assert_false(tern_sched_busy(&m.sched));
    m.value = 7;
    drain();
    assert_int_equal(clients[0].results[TERN_COMPLETED], 2);
}

static void test_paging_first(void **state)
{
    (void)state;
    client(0, 0, 0, 100, 10);
    client(1, 1, 0, 100, 10);
    procs[1].system = true;
    for (int k = 0; k < 10; k++) {
        submit(0, 1);
    }
    for (int k = 0; k < 10; k++) {
        submit(1, 1);
    }
    run(100, 1);
    assert_int_equal(clients[0].ended, 0);
    assert_true(clients[1].ended >= 9);
    drain();
}

static void test_paging_fault_ends_only_its_buffer(void **state)
{
    (void)state;
    client(0, 0, 0, 100, 10);
    procs[0].system = true;
    clients[0].work.fault_at = 3;
    submit(0, 500);
    struct mock_work good = {.cost = 1, .fault_at = -1};
    tern_sched_submit(&m.sched, &clients[0].ctx, mock_job(&good, 1, ++clients[0].submitted));
    drain();
    assert_false(procs[0].error);
    assert_int_equal(clients[0].results[TERN_FAULTED], 1);
    assert_int_equal(clients[0].results[TERN_COMPLETED], 1);
}

static void test_slices(void **state)
{
    (void)state;
    struct mock_work w = {.cost = 1, .fault_at = -1};
    uint32_t packets;
    struct tern_job *j = mock_job(&w, 300, 1);
    assert_int_equal(tern_slice_cut(j, 0, &packets), TERN_SLICE_BYTES);
    assert_int_equal(packets, TERN_SLICE_BYTES / 64);
    mock_job_wait(j, 0, 1);
    mock_job_wait(j, 1, 1);
    mock_job_wait(j, 5, 1);
    assert_int_equal(tern_slice_cut(j, 0, &packets), 5 * 64); /* leading waits stay with what follows */
    assert_int_equal(tern_slice_cut(j, 5 * 64, &packets), TERN_SLICE_BYTES);
    j->packets[299 * 16] = TERN_PKT_DISPATCH | 2u << 8; /* cut short: the engine is to see it and fault */
    assert_int_equal(tern_slice_cut(j, 290 * 64, &packets), 10 * 64);
    j->packets[254 * 16] = TERN_PKT_DISPATCH | 2u << 8; /* two lines: not torn */
    j->packets[5 * 16] = TERN_PKT_NOP | 1u << 8;
    assert_int_equal(tern_slice_cut(j, 0, &packets), 254 * 64);
    j->packets[0] = 0xff; /* unknown */
    assert_true(tern_slice_cut(j, 0, &packets) > 0);
    free(j);
}

static void test_lost_device(void **state)
{
    (void)state;
    client(0, 0, 0, 100, 10);
    for (int k = 0; k < 5; k++) {
        submit(0, 1);
    }
    turn();
    m.fail = -EIO;
    assert_int_equal(tern_sched_run(&m.sched), -EIO);
    tern_sched_abort_all(&m.sched);
    m.fail = 0;
    turn();
    assert_int_equal(clients[0].results[TERN_ABORTED], 5);
    assert_false(tern_sched_pending(&m.sched));
}

static void test_random(void **state)
{
    (void)state;
    const char *given = getenv("TERN_TEST_SEED");
    unsigned seed = given ? (unsigned)strtoul(given, NULL, 0) : 1;
    printf("seed %u (rerun: TERN_TEST_SEED=%u)\n", seed, seed);
    for (int round = 0; round < 40; round++) {
        srand(seed + (unsigned)round);
        setup(NULL);
        mock_init(&m, 2, 4000, 200);
        static struct mock_work work[CONTEXTS][64];
        for (int i = 0; i < CONTEXTS; i++) {
            client(i, i % 5, (uint32_t)i % 2, 1 + (uint32_t)rand() % 1000, 1);
            for (int k = 0; k < 60; k++) {
                struct mock_work *w = &work[i][k];
                int kind = rand() % 200;
                *w = (struct mock_work){.cost = 1 + (uint64_t)rand() % 30, .fault_at = -1};
                if (kind == 0 && i % 5 < 2) {
                    w->fault_at = 0;
                } else if (kind == 1 && i % 5 < 2) {
                    w->cost = MOCK_HANG;
                }
                uint32_t packets = 1 + (uint32_t)(rand() % 10 ? rand() % 8 : rand() % 400);
                struct tern_job *job = mock_job(w, packets, ++clients[i].submitted);
                if (rand() % 10 == 0) {
                    mock_job_wait(job, (uint32_t)rand() % packets, (uint32_t)rand() % 100);
                }
                tern_sched_submit(&m.sched, &clients[i].ctx, job);
            }
        }
        for (int t = 0; tern_sched_pending(&m.sched); t++) {
            assert_true(t < 2000000);
            m.value = (uint64_t)t / 10;
            turn();
            mock_advance(&m, 1 + (uint64_t)rand() % 40);
        }
        for (int i = 0; i < CONTEXTS; i++) {
            assert_int_equal(clients[i].ended, 60);
            assert_true(procs[i % 5].error || clients[i].results[TERN_COMPLETED] == 60);
            assert_true(clients[i].results[TERN_FAULTED] <= 1);
            for (int k = 0; k < 60 && !procs[i % 5].error; k++) {
                assert_int_equal(work[i][k].executed[0], 1);
            }
            assert_int_equal(procs[i % 5].live[0], 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_order_and_depth, setup),
        cmocka_unit_test_setup(test_one_context_fills_both_places, setup),
        cmocka_unit_test_setup(test_processes_are_equal_however_many_contexts, setup),
        cmocka_unit_test_setup(test_cycles_are_shared_not_buffers, setup),
        cmocka_unit_test_setup(test_weights, setup),
        cmocka_unit_test_setup(test_sleep_earns_nothing, setup),
        cmocka_unit_test_setup(test_engines_are_independent, setup),
        cmocka_unit_test_setup(test_fault_is_contained, setup),
        cmocka_unit_test_setup(test_buffer_behind_the_fault_is_aborted, setup),
        cmocka_unit_test_setup(test_fault_in_the_middle_of_a_long_job, setup),
        cmocka_unit_test_setup(test_timeout_resets_and_spares_the_innocent, setup),
        cmocka_unit_test_setup(test_long_work_that_can_stop_is_not_killed, setup),
        cmocka_unit_test_setup(test_quantum, setup),
        cmocka_unit_test_setup(test_wait_keeps_no_engine, setup),
        cmocka_unit_test_setup(test_paging_first, setup),
        cmocka_unit_test_setup(test_paging_fault_ends_only_its_buffer, setup),
        cmocka_unit_test_setup(test_slices, setup),
        cmocka_unit_test_setup(test_lost_device, setup),
        cmocka_unit_test_setup(test_random, setup),
    };
    return cmocka_run_group_tests_name("sched", tests, NULL, NULL);
}
