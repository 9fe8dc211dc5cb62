/* SPDX-License-Identifier: Apache-2.0 */
/** The scheduler at the limits of its settings: times of up to 2^62 cycles, preempted chunks of two jobs, and long
 * resets. */
#include <errno.h>

#include "backlogs.h"

#define LARGEST (1ull << 62)
#define TIMEOUT 3000

static void set_quanta(uint64_t quantum, uint64_t grace)
{
    for (int b = 0; b < 4; b++) {
        config.band[b].quantum = quantum;
        config.band[b].grace = grace;
    }
}

/** With a quantum that never ends, work runs in order of arrival. No work is preempted, and none is moved to balance
 * engines. */
static void test_quantum_that_never_ends(void **state)
{
    (void)state;
    const uint64_t quanta[] = {1ull << 40, 1ull << 43, 1ull << 44, 1ull << 47, 1ull << 56, 1ull << 58, 1ull << 59,
                               1ull << 61, LARGEST};
    for (size_t i = 0; i < sizeof quanta / sizeof *quanta; i++) {
        set_quanta(quanta[i], i % 2 ? LARGEST : 0);
        backlogs_restart(2);
        for (int c = 0; c < 8; c++) {
            backlog(c, c / 2, c < 4 ? c % 2 : -1, TERN_BAND_NORMAL, c % 2 ? 1 : TERN_WEIGHT_MAX, 5000);
        }
        run(40 * QUANTUM);
        for (int c = 0; c < 8; c++) { /* changing weights changes all virtual times */
            tern_sched_context_set(&mock.sched, &clients[c].mock.sched, TERN_BAND_NORMAL, c % 2 ? TERN_WEIGHT_MAX : 1);
        }
        run(40 * QUANTUM);
        assert_int_equal(mock.preemptions, 0);
        backlogs_end(8);
        for (int c = 0; c < 8; c++) {
            assert_true(clients[c].ended == clients[c].submitted && clients[c].ended > 0);
        }
    }
}

/** FOCUS leaves NORMAL its part (S1) only after half a quantum of NORMAL, which never passes here. */
static void test_focus_owes_nothing_yet(void **state)
{
    (void)state;
    const uint64_t quanta[] = {1ull << 57, 1ull << 58, 1ull << 60, LARGEST};
    for (size_t i = 0; i < sizeof quanta / sizeof *quanta; i++) {
        set_quanta(quanta[i], 0);
        backlogs_restart(1);
        backlog(0, 0, 0, TERN_BAND_FOCUS, TERN_WEIGHT_NORMAL, 5000);
        backlog(1, 1, 0, TERN_BAND_NORMAL, TERN_WEIGHT_NORMAL, 5000);
        run(200 * QUANTUM);
        assert_int_equal(mock.preemptions, 0);
        assert_int_equal(clients[1].ended, 0);
        backlogs_end(2);
    }
}

/** If forced preemption comes more often than a restore takes, its interval is doubled until the chunk makes progress.
 */
static void test_forced_preemption_lets_work_end(void **state)
{
    (void)state;
    set_quanta(QUANTUM, 0);
    config.force_preempt = 200;
    backlogs_restart(2);
    mock.restore_cycles = 1000;
    client_init(&clients[0], &procs[0], TERN_ENGINE_ANY, TERN_BAND_NORMAL, TERN_WEIGHT_NORMAL, 4000);
    client_submit(&clients[0], 1);
    /* 64 times 200, 400 and 800 cycles are spent in restores; then each interval leaves 600 cycles of progress */
    run(500000);
    assert_int_equal(clients[0].ended, 1);
    assert_in_range(mock.preemptions, 3 * 64, 3 * 64 + 8);
    assert_true(mock.moved > 0);
}

/** The interval of forced preemption is doubled often without a 64-bit overflow, after which the chunk would be
 * preempted at once. */
static void test_forced_preemption_that_never_comes(void **state)
{
    (void)state;
    const uint64_t after[] = {1ull << 60, 1ull << 61, LARGEST};
    for (size_t i = 0; i < sizeof after / sizeof *after; i++) {
        set_quanta(QUANTUM, 0);
        config.force_preempt = after[i];
        backlogs_restart(1);
        client_init(&clients[0], &procs[0], 0, TERN_BAND_NORMAL, TERN_WEIGHT_NORMAL, 4000000);
        client_init(&clients[1], &procs[1], 0, TERN_BAND_REALTIME, TERN_WEIGHT_NORMAL, 10);
        client_submit(&clients[0], 1);
        for (uint32_t n = 1; n <= 400; n++) {
            run(100);
            client_submit(&clients[1], 1);
            run(5000);
            assert_int_equal(mock.preemptions, n);
        }
        drain();
        assert_int_equal(mock.preemptions, 400);
    }
}

/** With a timeout that never ends, an engine that does not answer is not reset. If it answers later, all results are
 * right. */
static void test_timeout_that_never_ends(void **state)
{
    (void)state;
    set_quanta(QUANTUM, LARGEST);
    config.timeout = LARGEST;
    backlogs_restart(1);
    backlog(0, 0, 0, TERN_BAND_NORMAL, TERN_WEIGHT_NORMAL, 5000);
    backlog(1, 1, 0, TERN_BAND_REALTIME, TERN_WEIGHT_NORMAL, 10);
    mock.deaf = true;
    run_once();
    for (int i = 0; i < 8; i++) {
        mock_advance(&mock, 1ull << 40);
        run_once();
        assert_int_equal(mock.resets, 0);
    }
    mock.deaf = false;
    backlogs_end(2);
    assert_int_equal(clients[0].ended, clients[0].submitted);
    assert_int_equal(clients[1].ended, clients[1].submitted);
}

/** One engine; client 0 pages, in packets of so many cycles. */
static void restart_paging(uint64_t cost)
{
    backlogs_restart(1);
    tern_sched_process_fini(&procs[0]);
    tern_sched_process_init(&mock.sched, &procs[0], true);
    client_init(&clients[0], &procs[0], 0, TERN_BAND_NORMAL, TERN_WEIGHT_NORMAL, cost);
}

/** A paging job faults while chunks of it and of the next job are requeued. Only its own chunks are dropped. */
static void test_chunks_of_the_next_job_stay(void **state)
{
    (void)state;
    struct client *c = &clients[0];
    restart_paging(500);
    c->work.fault_at = 0;
    struct tern_job *first = client_submit(c, 300), *second = client_submit(c, 1); /* two chunks, and one */
    config.depth = 1;
    mock.sched.config.depth = 1;
    run_once(); /* the first chunk runs; the others are requeued by hand, as after a preemption */
    struct tern_sched_context *s = &c->mock.sched;
    assert_true(s->inflight == 1 && tern_sched_next_job(s) == first && first->sent < first->size);
    const struct tern_chunk rest = {.context = s, .job = first, .start = first->sent, .size = first->size - first->sent,
                                    .packets = 300 - first->sent / TERN_PKT_LINE_BYTES, .slot = 1,
                                    .seq = ++s->chunks};
    const struct tern_chunk next = {.context = s, .job = second, .size = second->size, .packets = 1,
                                    .slot = 0, .seq = ++s->chunks};
    s->requeued[0] = rest;
    s->requeued[1] = next;
    s->requeued_count = 2;
    first->sent = first->size;
    second->sent = second->size;
    run(600); /* it has faulted */
    c->work.fault_at = -1;
    drain();
    assert_int_equal(c->ended, 2);
    assert_int_equal(c->results[TERN_FAULTED], 1);
    assert_int_equal(c->results[TERN_COMPLETED], 1);
}

/** The first of three chunks of a paging job faults while the second is in flight. The third is not dispatched. */
static void test_rest_of_a_faulted_job(void **state)
{
    (void)state;
    struct client *c = &clients[0];
    restart_paging(500);
    c->work.fault_at = 0;
    client_submit(c, 700);
    run(600);
    c->work.fault_at = -1;
    drain();
    assert_int_equal(c->results[TERN_FAULTED], 1);
    assert_int_equal(mock.sched.engine[0].next_id - 1, 2);
}

/** A paging buffer that was resumed and then lost to a reset starts again, because its save area has been consumed. */
static void test_paging_lost_after_a_resumption(void **state)
{
    (void)state;
    struct client *c = &clients[0];
    config.timeout = TIMEOUT;
    restart_paging(MOCK_HANG);
    client_submit(c, 1);
    run(TIMEOUT + 1500); /* so long a paging buffer is preempted and resumed */
    assert_true(mock.resumed == 1 && mock.queue[0].running);
    c->work.unstoppable = true;
    run(TIMEOUT);
    assert_int_equal(mock.resets, 0);
    c->work.cost = 50;
    drain();
    assert_int_equal(mock.resets, 1);
    assert_int_equal(c->results[TERN_COMPLETED], 1);
    assert_int_equal(c->work.executed[0], 1);
}

/** A reset takes long. Nothing is submitted to the engine meanwhile. A reset that never ends is reported. */
static void test_reset_takes_its_time(void **state)
{
    (void)state;
    for (int ends = 1; ends >= 0; ends--) {
        config.timeout = TIMEOUT;
        backlogs_restart(1);
        mock.reset_cycles = ends ? 300000 : FOR_EVER;
        client_init(&clients[0], &procs[0], 0, TERN_BAND_NORMAL, TERN_WEIGHT_NORMAL, MOCK_HANG);
        client_init(&clients[1], &procs[1], 0, TERN_BAND_NORMAL, TERN_WEIGHT_NORMAL, 5000);
        clients[0].work.unstoppable = true;
        client_submit(&clients[0], 1);
        run(10);
        client_submit(&clients[1], 1);
        tern_sched_abort(&mock.sched, &procs[0]); /* an aborted process's work must stop, and does not */
        procs[0].error = true;
        run(2 * TIMEOUT);
        assert_true(mock.sched.engine[0].resetting);
        assert_int_equal(mock.resets, 0);
        assert_int_equal(clients[0].ended + clients[1].ended, 0);
        if (ends) {
            drain();
            assert_int_equal(mock.resets, 1);
            assert_true(clients[0].ended == 1 && clients[1].ended == 1);
            assert_int_equal(clients[1].results[TERN_COMPLETED], 1);
            continue;
        }
        mock_advance(&mock, 1u << 21);
        assert_int_equal(tern_sched_run(&mock.sched), -ETIMEDOUT);
        tern_sched_abort_all(&mock.sched);
        take_ended();
        assert_false(mock.sched.engine[0].resetting);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_quantum_that_never_ends, backlogs_setup),
        cmocka_unit_test_setup(test_focus_owes_nothing_yet, backlogs_setup),
        cmocka_unit_test_setup(test_forced_preemption_lets_work_end, backlogs_setup),
        cmocka_unit_test_setup(test_forced_preemption_that_never_comes, backlogs_setup),
        cmocka_unit_test_setup(test_timeout_that_never_ends, backlogs_setup),
        cmocka_unit_test_setup(test_rest_of_a_faulted_job, backlogs_setup),
        cmocka_unit_test_setup(test_paging_lost_after_a_resumption, backlogs_setup),
        cmocka_unit_test_setup(test_reset_takes_its_time, backlogs_setup),
        cmocka_unit_test_setup(test_chunks_of_the_next_job_stay, backlogs_setup),
    };
    return cmocka_run_group_tests_name("sched_limits", tests, NULL, NULL);
}
