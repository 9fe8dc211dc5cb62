/* SPDX-License-Identifier: Apache-2.0 */
/** The scheduler on mock engines: order, depth, ends, containment and chunks (C2-C6, C9, C10, F1), and the cases of the
 * public drm_sched suite. */
#include "sched_client.h"

#define CONTEXTS 8

static struct tern_sched_process procs[CONTEXTS];
static struct client clients[CONTEXTS];

static void restart(uint32_t engines, const struct tern_sched_config *config)
{
    mock_init(&mock, engines, config);
    for (int i = 0; i < CONTEXTS; i++) {
        tern_sched_process_init(&mock.sched, &procs[i], false);
        clients[i] = (struct client){0};
    }
}

static int setup(void **state)
{
    (void)state;
    restart(1, NULL);
    return 0;
}

static void client(int i, int proc, int32_t engine, uint64_t cost)
{
    client_init(&clients[i], &procs[proc], engine, TERN_BAND_NORMAL, 100, cost);
}

static void stop_all(void)
{
    end_backlogs(clients, CONTEXTS);
    drain();
}

static void test_order_and_depth(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        client(i, i, 0, 10 + (uint64_t)i);
        for (int k = 0; k < 20; k++) {
            client_submit(&clients[i], 1);
        }
    }
    run_once();
    assert_int_equal(mock.queue[0].n, 2);
    mock_advance(&mock, 10);
    run_once();
    assert_int_equal(mock.queue[0].n, 2); /* refilled as soon as one ended (C6) */
    drain();
    for (int i = 0; i < 3; i++) {
        assert_int_equal(clients[i].results[TERN_COMPLETED], 20);
    }
    assert_int_equal(mock.deepest, 2);
    assert_int_equal(mock.preemptions, 0);
}

static void test_one_context_fills_both_places(void **state)
{
    (void)state;
    client(0, 0, 0, 10);
    for (int k = 0; k < 3; k++) {
        client_submit(&clients[0], 1);
    }
    run_once();
    assert_int_equal(mock.queue[0].n, 2);
    assert_int_not_equal(mock.queue[0].chunk[0].slot, mock.queue[0].chunk[1].slot);
    drain();
    assert_int_equal(clients[0].results[TERN_COMPLETED], 3);
}

static void test_what_is_in_flight_counts(void **state)
{
    (void)state;
    client(0, 0, 0, 1000);
    client(1, 1, 0, 900);
    client_backlog(&clients[0], 4);
    client_backlog(&clients[1], 4);
    run(5000); /* until the estimates of costs have settled, and so have earlier charges */
    /* The longer job is never twice in the HW queue, since its first submission is charged already. */
    for (int k = 0; k < 500; k++) {
        assert_true(mock.queue[0].chunk[0].context != &clients[0].mock.sched ||
                    mock.queue[0].chunk[1].context != &clients[0].mock.sched);
        run(300);
    }
    stop_all();
}

static void test_depth_keeps_engines_busy(void **state)
{
    (void)state;
    double busy[3];
    for (uint32_t depth = 1; depth <= 2; depth++) {
        struct tern_sched_config config;
        tern_sched_config_default(&config);
        config.depth = depth;
        restart(1, &config);
        client(0, 0, 0, 5000);
        client_backlog(&clients[0], 8);
        run_once();
        for (int t = 0; t < 20000; t++) { /* the scheduler runs every 230 cycles only */
            mock_advance(&mock, 230);
            run_once();
        }
        busy[depth] = (double)mock.queue[0].busy / (double)mock.now;
        assert_int_equal(mock.deepest, depth);
        stop_all();
    }
    printf("busy with depth 1: %.4f, with depth 2: %.4f\n", busy[1], busy[2]);
    assert_true(busy[2] >= 0.98);
    assert_true(busy[1] < busy[2]);
}

static void test_engines_are_independent(void **state)
{
    (void)state;
    restart(2, NULL);
    client(0, 0, 0, MOCK_HANG);
    client(1, 1, 1, 10);
    client_submit(&clients[0], 1);
    for (int k = 0; k < 50; k++) {
        client_submit(&clients[1], 1);
    }
    run(1000);
    assert_int_equal(clients[1].results[TERN_COMPLETED], 50);
    assert_int_equal(clients[0].ended, 0);
    tern_sched_abort_all(&mock.sched);
    take_ended();
    assert_int_equal(clients[0].results[TERN_ABORTED], 1);
    assert_false(tern_sched_busy(&mock.sched));
}

static void test_fault_is_contained(void **state)
{
    (void)state;
    restart(2, NULL);
    client(0, 0, 0, 10);
    client(1, 0, 1, 10); /* the same process on the other engine */
    client(2, 1, 0, 10);
    clients[0].work.fault_at = 0;
    for (int k = 0; k < 10; k++) {
        client_submit(&clients[0], 1);
        client_submit(&clients[1], 1);
        client_submit(&clients[2], 1);
    }
    drain();
    assert_true(procs[0].error);
    assert_int_equal(procs[0].faults, 1);
    assert_false(procs[1].error);
    assert_int_equal(mock.faults, 1);
    assert_int_equal(clients[0].results[TERN_FAULTED], 1);
    assert_int_equal(clients[0].results[TERN_ABORTED], 9);
    assert_int_equal(clients[1].results[TERN_FAULTED], 0);
    assert_true(clients[1].results[TERN_ABORTED] >= 8);
    assert_int_equal(clients[2].results[TERN_COMPLETED], 10);
    client_submit(&clients[0], 1); /* after the error: aborted at once */
    run_once();
    assert_int_equal(clients[0].results[TERN_ABORTED], 10);
}

static void test_buffer_behind_the_fault_is_aborted(void **state)
{
    (void)state;
    client(0, 0, 0, 10);
    clients[0].work.fault_at = 0;
    client_submit(&clients[0], 1);
    struct mock_work good = {.cost = 10, .fault_at = -1};
    struct tern_job *second = mock_job(&good, 1, ++clients[0].submitted);
    client_send(&clients[0], second);
    run_once();
    assert_int_equal(mock.queue[0].n, 2);
    mock_advance(&mock, 30);
    drain();
    /* the engine ran it before the fault was known, and it still counts as aborted (C9) */
    assert_int_equal(good.executed[0], 1);
    assert_int_equal(clients[0].results[TERN_FAULTED], 1);
    assert_int_equal(clients[0].results[TERN_ABORTED], 1);
}

static void test_fault_in_the_middle_of_a_long_job(void **state)
{
    (void)state;
    client(0, 0, 0, 2);
    clients[0].work.fault_at = 10;
    client_submit(&clients[0], 500); /* two chunks, both in the HW queue when the first faults */
    client_submit(&clients[0], 1);
    drain();
    assert_int_equal(clients[0].results[TERN_FAULTED], 1);
    assert_int_equal(clients[0].results[TERN_ABORTED], 1);
}

static void test_null_is_told_and_not_run(void **state)
{
    (void)state;
    client(0, 0, 0, 1000);
    for (int k = 0; k < 5; k++) {
        struct tern_job *job = client_job(&clients[0], 3);
        job->null = k != 2;
        client_send(&clients[0], job);
    }
    drain();
    assert_int_equal(clients[0].results[TERN_COMPLETED], 5);
    assert_int_equal(clients[0].work.executed[0], 1); /* only the job that is not null has run (C10) */
    assert_true(mock.now < 3100);
}

static void test_paging_first(void **state)
{
    (void)state;
    client(0, 0, 0, 10);
    tern_sched_process_fini(&procs[1]);
    tern_sched_process_init(&mock.sched, &procs[1], true);
    client(1, 1, 0, 10);
    for (int k = 0; k < 10; k++) {
        client_submit(&clients[0], 1);
    }
    for (int k = 0; k < 10; k++) {
        client_submit(&clients[1], 1);
    }
    run(102);
    assert_int_equal(clients[0].ended, 0);
    assert_true(clients[1].ended >= 9);
    drain();
}

static void test_paging_fault_ends_only_its_buffer(void **state)
{
    (void)state;
    tern_sched_process_fini(&procs[0]);
    tern_sched_process_init(&mock.sched, &procs[0], true);
    client(0, 0, 0, 10);
    clients[0].work.fault_at = 3;
    client_submit(&clients[0], 500);
    struct mock_work good = {.cost = 1, .fault_at = -1};
    client_send(&clients[0], mock_job(&good, 1, ++clients[0].submitted));
    drain();
    assert_false(procs[0].error);
    assert_int_equal(clients[0].results[TERN_FAULTED], 1);
    assert_int_equal(clients[0].results[TERN_COMPLETED], 1);
}

static void test_paging_fault_ends_the_last_buffer(void **state)
{
    (void)state;
    tern_sched_process_fini(&procs[0]);
    tern_sched_process_init(&mock.sched, &procs[0], true);
    mock.sched.config.depth = 1;
    client(0, 0, 0, 10);
    clients[0].work.fault_at = 3;
    client_submit(&clients[0], 500); /* its second chunk is ready, and was not preempted */
    drain();
    assert_int_equal(clients[0].results[TERN_FAULTED], 1);
    clients[0].work.fault_at = -1;
    client_submit(&clients[0], 500);
    drain();
    assert_int_equal(clients[0].results[TERN_COMPLETED], 1);
}

static void test_paging_fault_ends_what_came_back_of_its_buffer(void **state)
{
    (void)state;
    tern_sched_process_fini(&procs[0]);
    tern_sched_process_init(&mock.sched, &procs[0], true);
    client(0, 0, 0, 10);
    client_submit(&clients[0], 500);
    client_submit(&clients[0], 1);
    run(100);
    uint64_t hold = tern_sched_context_suspend(&mock.sched, &clients[0].mock.sched);
    run(100);
    assert_int_equal(clients[0].mock.sched.requeued_count, 2);
    mock.sched.config.depth = 1;
    clients[0].work.fault_at = 100; /* in the first chunk; the second has not been submitted again */
    assert_true(tern_sched_context_resume(&mock.sched, &clients[0].mock.sched, hold));
    drain();
    assert_int_equal(clients[0].results[TERN_FAULTED], 1);
    assert_int_equal(clients[0].results[TERN_COMPLETED], 1);
    assert_int_equal(clients[0].work.executed[499], 0);
}

static void test_chunks(void **state)
{
    (void)state;
    struct mock_work w = {.cost = 1, .fault_at = -1};
    struct tern_sched_signal signals[2];
    uint32_t packets;
    struct tern_job *j = mock_job(&w, 300, 1);
    assert_int_equal(tern_chunk_split(j, 0, &packets), TERN_CHUNK_BYTES);
    assert_int_equal(packets, TERN_CHUNK_BYTES / 64);
    mock_job_wait(j, 0, 0, 1);
    mock_job_wait(j, 1, 0, 1);
    mock_job_wait(j, 5, 0, 1);
    assert_int_equal(tern_chunk_split(j, 0, &packets), 5 * 64); /* leading waits stay with the packets behind them */
    assert_int_equal(tern_chunk_split(j, 5 * 64, &packets), TERN_CHUNK_BYTES);
    mock_job_signal(j, 8, 24, 1ull << 40);
    mock_job_signal(j, 9, 32, 7);
    assert_int_equal(tern_chunk_split(j, 5 * 64, &packets), 5 * 64); /* signals end a chunk */
    assert_int_equal(packets, 5);
    assert_int_equal(tern_job_signals(j, NULL), 2);
    assert_int_equal(tern_job_signals(j, signals), 2);
    assert_int_equal(signals[0].address, 24);
    assert_true(signals[0].value == 1ull << 40);
    assert_int_equal(signals[1].value, 7);
    j->packets[299 * 16] = TERN_PKT_DISPATCH | 2u << 8; /* cut short: sent to the engine, which faults */
    assert_int_equal(tern_chunk_split(j, 290 * 64, &packets), 10 * 64);
    j->packets[264 * 16] = TERN_PKT_DISPATCH | 2u << 8; /* of two lines, which stay together */
    assert_int_equal(tern_chunk_split(j, 10 * 64, &packets), 254 * 64);
    j->packets[0] = 0xff; /* unknown opcode */
    assert_true(tern_chunk_split(j, 0, &packets) > 0);
    free(j);
}

static void test_lost_device(void **state)
{
    (void)state;
    client(0, 0, 0, 10);
    for (int k = 0; k < 5; k++) {
        client_submit(&clients[0], 1);
    }
    run_once();
    mock.fail = -EIO;
    assert_int_equal(tern_sched_run(&mock.sched), -EIO);
    tern_sched_abort_all(&mock.sched);
    mock.fail = 0;
    take_ended();
    assert_int_equal(clients[0].results[TERN_ABORTED], 5);
    assert_false(tern_sched_pending(&mock.sched));
    assert_false(tern_sched_busy(&mock.sched));
}

static void test_protocol_errors_are_told(void **state)
{
    (void)state;
    const struct tern_sched_indication bad[] = {
        {.kind = TERN_SCHED_COMPLETED, .fence = 2},
        {.kind = TERN_SCHED_PREEMPTED, .fence = 1},
        {.kind = (enum tern_sched_kind)0, .fence = 1},
        {.kind = TERN_SCHED_FAULTED, .fence = 0},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        setup(NULL);
        client(0, 0, 0, 1000);
        client_submit(&clients[0], 1);
        client_submit(&clients[0], 1);
        run_once();
        mock.queue[0].ind[mock.queue[0].inds++] = bad[i];
        assert_int_equal(tern_sched_run(&mock.sched), -EPROTO);
        tern_sched_abort_all(&mock.sched);
        take_ended();
    }
}

/* ------------------------------------------------- the cases of drm_sched's suite */

static void test_drm_basic(void **state)
{
    (void)state;
    const struct {
        int contexts, jobs;
        bool in_order;
    } cases[] = {{1, 1, true}, {1, 8, true}, {4, 1, false}, {4, 8, false}, {4, 8, true}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        setup(NULL);
        for (int i = 0; i < cases[k].contexts; i++) {
            client(i, cases[k].in_order ? 0 : i, 0, 1000);
            for (int j = 0; j < cases[k].jobs; j++) {
                client_submit(&clients[i], 1);
            }
        }
        run((uint64_t)cases[k].contexts * (uint64_t)cases[k].jobs * 1000 + 10);
        for (int i = 0; i < cases[k].contexts; i++) {
            assert_int_equal(clients[i].results[TERN_COMPLETED], cases[k].jobs);
        }
    }
}

static void test_drm_cleanup(void **state)
{
    (void)state;
    client(0, 0, 0, 1000);
    client(1, 1, 0, 1000);
    for (int j = 0; j < 10; j++) { /* a client is aborted with work queued and in flight; the other is not affected */
        client_submit(&clients[0], 1);
        client_submit(&clients[1], 1);
    }
    run(500);
    procs[0].error = true;
    tern_sched_abort(&mock.sched, &procs[0]);
    drain();
    assert_int_equal(clients[0].ended, 10);
    assert_int_equal(clients[0].results[TERN_COMPLETED], 0);
    assert_int_equal(clients[1].results[TERN_COMPLETED], 10);
    assert_int_equal(clients[1].work.executed[0], 10);
    tern_sched_process_fini(&procs[0]);
}

static void test_drm_cancel(void **state)
{
    (void)state;
    client(0, 0, 0, MOCK_HANG); /* aborted before it runs, and while it runs */
    client_submit(&clients[0], 1);
    procs[0].error = true;
    tern_sched_abort(&mock.sched, &procs[0]);
    take_ended();
    assert_int_equal(clients[0].results[TERN_ABORTED], 1);
    procs[0].error = false;
    client_submit(&clients[0], 1);
    run_once();
    assert_int_equal(mock.queue[0].n, 1);
    procs[0].error = true;
    tern_sched_abort(&mock.sched, &procs[0]);
    drain();
    assert_int_equal(clients[0].results[TERN_ABORTED], 2);
    assert_int_equal(mock.resets, 0);
    assert_int_equal(mock.preemptions, 1);
}

static void test_drm_priorities(void **state)
{
    (void)state;
    const uint32_t bands[] = {TERN_BAND_IDLE, TERN_BAND_NORMAL, TERN_BAND_FOCUS, TERN_BAND_REALTIME};
    for (int i = 0; i < 4; i++) {
        client_init(&clients[i], &procs[i], 0, bands[i], 100, 1000);
        for (int j = 0; j < 8; j++) {
            client_submit(&clients[i], 1);
        }
    }
    for (int i = 3; i >= 0; i--) { /* in order of bands: each ends before the next begins */
        run(8000);
        assert_int_equal(clients[i].results[TERN_COMPLETED], 8);
        assert_int_equal(i ? clients[i - 1].ended : 0, 0);
    }
}

/** Credits of drm_sched are here the depth of the HW queue. */
static void test_drm_two_clients_and_credits(void **state)
{
    (void)state;
    for (uint32_t depth = 1; depth <= 2; depth++) {
        struct tern_sched_config config;
        tern_sched_config_default(&config);
        config.depth = depth;
        for (int equal = 0; equal < 2; equal++) {
            restart(1, &config);
            client(0, 0, 0, 1000);
            client(1, 1, 0, equal ? 1000 : 3000);
            client_backlog(&clients[0], 4);
            client_backlog(&clients[1], 4);
            run(600000);
            double a = (double)clients[0].cycles, b = (double)clients[1].cycles;
            assert_true(a / b > 0.97 && a / b < 1.03);
            assert_int_equal(mock.deepest, depth);
            stop_all();
        }
    }
}

static void test_drm_ping_pong(void **state)
{
    (void)state;
    client(0, 0, 0, 100);
    client(1, 0, 0, 100);
    for (uint64_t i = 0; i < 20; i++) { /* each job waits for the other client's last one */
        struct tern_job *job = client_job(&clients[i % 2], 2);
        mock_job_wait(job, 0, 8, i);
        mock_job_signal(job, 1, 8, i + 1);
        client_send(&clients[i % 2], job);
    }
    drain();
    assert_int_equal(mock.fence[1], 20);
    assert_int_equal(clients[0].results[TERN_COMPLETED] + clients[1].results[TERN_COMPLETED], 20);
    assert_true(mock.now < 20 * 200 + 100);
}

static void test_statistics(void **state)
{
    (void)state;
    struct tern_sched_config config;
    tern_sched_config_default(&config);
    config.band[TERN_BAND_NORMAL].quantum = 1000;
    restart(1, &config);
    client(0, 0, 0, 5000);
    client(1, 1, 0, 700);
    client_submit(&clients[0], 1);
    client_submit(&clients[1], 1);
    drain();
    const struct tern_sched_stats *a = &clients[0].mock.sched.stats, *b = &clients[1].mock.sched.stats;
    assert_int_equal(a->submitted, 1);
    assert_int_equal(a->completed, 1);
    assert_int_equal(a->preempted, 1);
    assert_int_equal(a->cycles, 5000);
    assert_int_equal(a->waited, 0);
    assert_int_equal(b->cycles, 700);
    assert_int_equal(b->waited, b->longest_wait);
    assert_true(b->waited >= 1000 && b->waited <= 1010); /* one quantum of the other */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_order_and_depth, setup),
        cmocka_unit_test_setup(test_one_context_fills_both_places, setup),
        cmocka_unit_test_setup(test_what_is_in_flight_counts, setup),
        cmocka_unit_test_setup(test_depth_keeps_engines_busy, setup),
        cmocka_unit_test_setup(test_engines_are_independent, setup),
        cmocka_unit_test_setup(test_fault_is_contained, setup),
        cmocka_unit_test_setup(test_buffer_behind_the_fault_is_aborted, setup),
        cmocka_unit_test_setup(test_fault_in_the_middle_of_a_long_job, setup),
        cmocka_unit_test_setup(test_null_is_told_and_not_run, setup),
        cmocka_unit_test_setup(test_paging_first, setup),
        cmocka_unit_test_setup(test_paging_fault_ends_only_its_buffer, setup),
        cmocka_unit_test_setup(test_paging_fault_ends_the_last_buffer, setup),
        cmocka_unit_test_setup(test_paging_fault_ends_what_came_back_of_its_buffer, setup),
        cmocka_unit_test_setup(test_chunks, setup),
        cmocka_unit_test_setup(test_lost_device, setup),
        cmocka_unit_test_setup(test_protocol_errors_are_told, setup),
        cmocka_unit_test_setup(test_drm_basic, setup),
        cmocka_unit_test_setup(test_drm_cleanup, setup),
        cmocka_unit_test_setup(test_drm_cancel, setup),
        cmocka_unit_test_setup(test_drm_priorities, setup),
        cmocka_unit_test_setup(test_drm_two_clients_and_credits, setup),
        cmocka_unit_test_setup(test_drm_ping_pong, setup),
        cmocka_unit_test_setup(test_statistics, setup),
    };
    return cmocka_run_group_tests_name("sched", tests, NULL, NULL);
}
