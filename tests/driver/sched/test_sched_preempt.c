/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Preemption, resets and aborts. A table combines each state of the HW queue with each event. Further tests are for the
 * single rules (P1-P8, F2-F4). The engines check that saved state is resumed where it was preempted and nowhere else.
 */
#include <errno.h>

#include "sched_client.h"

#define CLIENTS 4
#define COST 5000
#define TIMEOUT 3000

static struct tern_sched_process procs[CLIENTS];
static struct client clients[CLIENTS];
static struct tern_sched_config config;

static void restart(uint32_t engines)
{
    mock_init(&mock, engines, &config);
    mock.save_cycles = mock.restore_cycles = 300;
    for (int i = 0; i < CLIENTS; i++) {
        tern_sched_process_init(&mock.sched, &procs[i], i == 3); /* 3: paging */
        client_init(&clients[i], &procs[i], 0, i == 2 ? TERN_BAND_REALTIME : TERN_BAND_NORMAL, 100,
                    i == 2 ? 100 : i == 3 ? 500 : COST);
    }
}

static int setup(void **state)
{
    (void)state;
    tern_sched_config_default(&config);
    config.timeout = TIMEOUT;
    restart(1);
    return 0;
}

/* --------------------------------------------------------------------- the table */

enum phase { NOT_BEGUN, RUNNING, GRACE, SAVING, RESTORING, ENDED, PHASES };
enum second { NONE, SAME_CONTEXT, OTHER_PROCESS, PAGING, SECONDS };
enum event { PREEMPT, FAULT, RESET, DEATH, SUSPEND, EVENTS };

static const char *const phase_names[] = {"not begun", "running", "in grace", "saving", "restoring", "ended, not told"};
static const char *const second_names[] = {"none", "the same context", "another process", "paging"};
static const char *const event_names[] = {"preempt", "fault", "reset", "death", "suspend"};

/** Puts client 0 in front of the queue in the given phase, and the second behind it. */
static void reach(enum phase phase, enum second second)
{
    client_submit(&clients[0], 1);
    run_once();
    if (second != NONE) {
        client_submit(&clients[second == SAME_CONTEXT ? 0 : second == OTHER_PROCESS ? 1 : 3], 1);
    }
    if (second != PAGING) {
        run_once();
    } /* paging preempts as soon as the scheduler sees it, so it is not run yet */
    mock_advance(&mock, phase == NOT_BEGUN ? 0 : phase == ENDED ? COST : 1000);
    if (phase == GRACE) {
        config.band[TERN_BAND_NORMAL].grace = 4000;
        mock.sched.config = config;
        tern_sched_context_set(&mock.sched, &clients[2].mock.sched, TERN_BAND_FOCUS, 100);
    }
    if (phase == GRACE || phase == SAVING || phase == RESTORING) {
        client_submit(&clients[2], 1);
        run_once();
        mock_advance(&mock, 100);
    }
    if (phase == RESTORING) {
        for (int cycles = 0; !mock.queue[0].restoring; cycles++, mock_advance(&mock, 1)) {
            assert_true(cycles < 1000000);
            run_once();
        }
        mock_advance(&mock, 100);
    }
}

static void happen(enum event event)
{
    switch (event) {
    case PREEMPT:
        client_submit(&clients[2], 1);
        break;
    case FAULT:
        clients[0].work.fault_at = 0;
        break;
    case RESET:
        mock.deaf = true;
        client_submit(&clients[2], 1);
        break;
    case DEATH:
        procs[0].error = true;
        tern_sched_abort(&mock.sched, &procs[0]);
        break;
    default:
        break;
    }
}

static void suspend_and_resume(void)
{
    uint64_t fence = tern_sched_context_suspend(&mock.sched, &clients[0].mock.sched);
    run(2 * COST);
    assert_true(tern_sched_context_suspended(&clients[0].mock.sched, fence));
    assert_int_not_equal(clients[0].mock.sched.inflight, 1);
    run(3 * COST);
    assert_true(clients[1].ended == clients[1].submitted && clients[3].ended == clients[3].submitted);
    assert_true(tern_sched_context_resume(&mock.sched, &clients[0].mock.sched, fence));
    assert_false(tern_sched_context_resume(&mock.sched, &clients[0].mock.sched, fence));
}

/** Checks that only client 0 lost work, and that it has the result of the event. */
static void judge(enum event event)
{
    for (int i = 0; i < CLIENTS; i++) {
        assert_int_equal(clients[i].ended, clients[i].submitted);
        if (i || event == PREEMPT || event == SUSPEND) {
            assert_int_equal(clients[i].results[TERN_COMPLETED], clients[i].submitted);
            assert_int_equal(clients[i].work.executed[0], clients[i].submitted);
            assert_int_equal(procs[i].faults, 0);
        }
    }
    if (event == FAULT || event == RESET) {
        assert_int_equal(clients[0].results[TERN_FAULTED], 1);
        assert_int_equal(procs[0].faults, 1);
        assert_int_equal(mock.faults, 1);
    }
    if (event == FAULT || event == RESET || event == DEATH) {
        assert_true(clients[0].results[TERN_COMPLETED] == 0);
        assert_true(procs[0].error);
    }
    assert_int_equal(mock.resets, event == RESET);
    assert_int_equal(mock.stucks, event == RESET);
}

static void test_every_state_and_event(void **state)
{
    int count = 0;
    for (enum phase phase = 0; phase < PHASES; phase++) {
        for (enum second second = 0; second < SECONDS; second++) {
            for (enum event event = 0; event < EVENTS; event++) {
                if (phase == ENDED && (event == FAULT || event == RESET)) {
                    continue; /* ended work neither faults nor hangs */
                }
                setup(state);
                print_message("front %s, behind it %s: %s\n", phase_names[phase], second_names[second],
                              event_names[event]);
                reach(phase, second);
                happen(event);
                if (event == SUSPEND) {
                    suspend_and_resume();
                }
                drain();
                judge(event);
                count++;
            }
        }
    }
    assert_int_equal(count, ((int)PHASES * (int)EVENTS - 2) * (int)SECONDS);
}

/* --------------------------------------------------------------------- one by one */

static void test_quantum(void **state)
{
    (void)state;
    config.band[TERN_BAND_NORMAL].quantum = 2000;
    restart(1);
    client_submit(&clients[0], 20);
    client_submit(&clients[0], 20);
    run(500); /* the long work has both places */
    client_submit(&clients[1], 1);
    run(2000 + 300 + 300); /* the rest of the quantum, a save, and it runs; not after 200,000 cycles */
    assert_true(clients[1].mock.sched.stats.submitted == 1 && mock.queue[0].chunk[0].context == &clients[1].mock.sched);
    drain();
    for (int i = 0; i < 20; i++) {
        assert_int_equal(clients[0].work.executed[i], 2);
    }
}

static void test_grace(void **state)
{
    (void)state;
    for (int urgent = 0; urgent < 2; urgent++) {
        for (uint64_t group = 0; group <= 1000; group += 500) {
            setup(NULL);
            config.band[TERN_BAND_NORMAL].grace = 1500;
            config.band[TERN_BAND_FOCUS] = config.band[TERN_BAND_NORMAL];
            restart(1);
            clients[0].work.group = group;
            client_submit(&clients[0], 1);
            run(1250);
            tern_sched_context_set(&mock.sched, &clients[2].mock.sched, urgent ? TERN_BAND_REALTIME : TERN_BAND_FOCUS,
                                   100);
            client_submit(&clients[2], 1);
            run(2500);
            uint64_t waited = clients[2].mock.sched.stats.longest_wait;
            /* to the end of the group or of the grace, or at once */
            uint64_t expected = urgent ? 0 : group ? group - 1250 % group : 1500;
            if (waited < expected + 300 || waited > expected + 305) {
                fail_msg("group %u, urgent %d: %u cycles", (unsigned)group, urgent, (unsigned)waited);
            }
            assert_int_equal(mock.finer, !urgent && !group);
            drain();
        }
    }
}

static void test_an_urgent_one_ends_the_grace(void **state)
{
    (void)state;
    config.band[TERN_BAND_NORMAL].grace = 4000;
    restart(1);
    client_submit(&clients[0], 1);
    run(100);
    tern_sched_context_set(&mock.sched, &clients[1].mock.sched, TERN_BAND_FOCUS, 100);
    client_submit(&clients[1], 1);
    run(1000);
    assert_int_equal(mock.finer, 0);
    client_submit(&clients[2], 1);
    run(300 + 100 + 10);
    assert_int_equal(clients[2].ended, 1);
    assert_int_equal(mock.finer, 1);
    drain();
}

static void test_long_work_is_not_killed(void **state)
{
    (void)state;
    config.band[TERN_BAND_NORMAL].quantum = 1000;
    restart(1);
    clients[0].work.cost = clients[1].work.cost = 1000 * TIMEOUT; /* F2 */
    client_submit(&clients[0], 1);
    run(100 * TIMEOUT);
    assert_int_equal(mock.preemptions, 0);
    client_submit(&clients[1], 1);
    drain();
    assert_int_equal(mock.resets, 0);
    assert_int_equal(clients[0].results[TERN_COMPLETED] + clients[1].results[TERN_COMPLETED], 2);
    assert_int_equal(clients[0].work.executed[0], 1);
}

static void test_endless_work_shares(void **state)
{
    (void)state;
    config.band[TERN_BAND_NORMAL].quantum = 10000;
    restart(1);
    clients[0].work.cost = MOCK_HANG;
    client_submit(&clients[0], 1);
    client_backlog(&clients[1], 4);
    run(1000000);
    double share = (double)clients[1].cycles / 1000000;
    assert_true(share > 0.45 && share < 0.55);
    assert_int_equal(mock.resets, 0);
    clients[1].refill = 0;
    procs[0].error = true;
    tern_sched_abort(&mock.sched, &procs[0]);
    drain();
}

static void test_reset_spares_the_innocent(void **state)
{
    (void)state;
    clients[0].work = (struct mock_work){.cost = MOCK_HANG, .unstoppable = true, .fault_at = -1};
    client_submit(&clients[0], 1);
    client_submit(&clients[0], 1);
    client_submit(&clients[1], 3);
    client_submit(&clients[1], 3);
    run(TERN_QUANTUM_DEFAULT + TIMEOUT - 100);
    mock.later = 2;
    assert_int_equal(mock.resets, 0);
    assert_int_equal(mock.preemptions, 1);
    run(200);
    assert_int_equal(mock.resets, 1);
    assert_int_equal(mock.stucks, 3);
    assert_int_equal(mock.sched.engine[0].resets, 1);
    drain();
    assert_int_equal(clients[0].results[TERN_FAULTED], 1);
    assert_int_equal(clients[0].results[TERN_ABORTED], 1);
    assert_int_equal(clients[1].results[TERN_COMPLETED], 2);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(clients[1].work.executed[i], 2); /* each packet of both buffers once */
    }
}

static void test_dependent_engines_are_resubmitted(void **state)
{
    (void)state;
    restart(3);
    mock.dependent[0] = 1u << 2;
    client_init(&clients[0], &procs[0], 0, TERN_BAND_NORMAL, 100, MOCK_HANG);
    clients[0].work.unstoppable = true;
    client_init(&clients[1], &procs[1], 2, TERN_BAND_NORMAL, 100, 50 * COST);
    client_submit(&clients[0], 1);
    client_submit(&clients[1], 1);
    client_submit(&clients[1], 1);
    run(1000);
    client_submit(&clients[2], 1); /* bound to engine 0 */
    drain();
    assert_int_equal(mock.resets, 1);
    assert_int_equal(clients[1].results[TERN_COMPLETED], 2);
    assert_int_equal(procs[1].faults, 0);
    assert_int_equal(clients[1].work.executed[0], 2);
}

static void test_a_failed_reset_loses_the_device(void **state)
{
    (void)state;
    clients[0].work = (struct mock_work){.cost = MOCK_HANG, .unstoppable = true, .fault_at = -1};
    client_submit(&clients[0], 1);
    run(100);
    mock.refuse_reset = true;
    client_submit(&clients[2], 1);
    int r = 0;
    for (int i = 0; !r && i < 2 * TIMEOUT; i++) {
        mock_advance(&mock, 1);
        r = tern_sched_run(&mock.sched);
    }
    assert_int_equal(r, -ENOTRECOVERABLE);
    tern_sched_abort_all(&mock.sched);
    take_ended();
    assert_int_equal(clients[0].results[TERN_ABORTED], 1);
    assert_int_equal(clients[2].results[TERN_ABORTED], 1);
}

static void test_two_paging_buffers_lost_escalate(void **state)
{
    (void)state;
    clients[3].work.cost = MOCK_HANG; /* F4 */
    clients[3].work.unstoppable = true;
    client_submit(&clients[3], 1);
    client_submit(&clients[1], 1);
    int r = 0;
    uint64_t i = 0;
    for (run_once(); !r && i < 10 * TIMEOUT; i++) {
        mock_advance(&mock, 1);
        r = tern_sched_run(&mock.sched);
    }
    assert_int_equal(r, -ENOTRECOVERABLE);
    assert_int_equal(mock.resets, 2);
    assert_true(i >= 4 * TIMEOUT); /* each: as long alone, and as long to stop */
    assert_false(procs[3].error);
    tern_sched_abort_all(&mock.sched);
    take_ended();
}

static void test_one_paging_buffer_lost_is_repeated(void **state)
{
    (void)state;
    clients[3].work.cost = MOCK_HANG;
    clients[3].work.unstoppable = true;
    client_submit(&clients[3], 1);
    run(2 * TIMEOUT - 10);
    assert_int_equal(mock.resets, 0);
    clients[3].work.cost = 50;
    drain();
    assert_int_equal(mock.resets, 1);
    assert_int_equal(clients[3].results[TERN_COMPLETED], 1);
    assert_int_equal(clients[3].work.executed[0], 1);
}

/** P6: paging is resubmitted first and with its old fence id. Other buffers get new ids. */
static void test_fence_ids_of_resubmission(void **state)
{
    (void)state;
    client_submit(&clients[3], 1);
    run_once();
    client_submit(&clients[0], 1);
    run_once();
    mock_advance(&mock, 500 + 100); /* the paging buffer ends; the other is in front */
    run_once();
    assert_int_equal(mock.queue[0].chunk[0].id, 2);
    client_submit(&clients[3], 1);
    run_once(); /* paging preempts the other */
    assert_int_equal(mock.preemptions, 1);
    run(310);
    assert_true(mock.queue[0].chunk[0].context->process->system);
    assert_int_equal(mock.queue[0].chunk[0].id, 3);
    assert_int_equal(mock.queue[0].chunk[1].id, 4);
    assert_true(mock.queue[0].chunk[1].resume && mock.queue[0].chunk[1].resubmitted);
    assert_false(mock.queue[0].chunk[0].resubmitted);
    /* both are preempted: paging is first and keeps its id, the other gets a new one */
    uint64_t hold = tern_sched_context_suspend(&mock.sched, &clients[0].mock.sched);
    run(350);
    assert_true(tern_sched_context_resume(&mock.sched, &clients[0].mock.sched, hold));
    run_once();
    assert_int_equal(mock.queue[0].chunk[0].id, 3);
    assert_true(mock.queue[0].chunk[0].resubmitted && mock.queue[0].chunk[0].resume);
    assert_int_equal(mock.queue[0].chunk[1].id, 5);
    drain();
    assert_int_equal(clients[0].work.executed[0], 1);
    assert_int_equal(clients[3].work.executed[0], 2);
}

/** P4: the last buffer ends at the moment of the request. */
static void test_request_finds_nothing(void **state)
{
    (void)state;
    client_submit(&clients[0], 1);
    run_once();
    mock_advance(&mock, COST); /* ended, not indicated yet */
    struct tern_sched_indication kept = mock.queue[0].ind[0];
    mock.queue[0].inds = 0; /* the indication is late */
    client_submit(&clients[2], 1);
    run_once();
    assert_int_equal(mock.preemptions, 1);
    assert_int_equal(mock.queue[0].inds, 1);
    mock.queue[0].ind[1] = mock.queue[0].ind[0];
    mock.queue[0].ind[0] = kept;
    mock.queue[0].inds = 2;
    drain();
    assert_int_equal(clients[0].results[TERN_COMPLETED], 1);
    assert_int_equal(clients[2].results[TERN_COMPLETED], 1);
    assert_int_equal(mock.resumed, 0);
    /* the same with nothing left: the scheduler still waits for the answer */
    client_submit(&clients[0], 1);
    run(COST - 100);
    (void)tern_sched_context_suspend(&mock.sched, &clients[0].mock.sched);
    run_once();
    struct tern_sched_indication answer = {.kind = TERN_SCHED_PREEMPTED, .fence = mock.queue[0].stopping};
    mock.queue[0].stopping = 0;
    mock_advance(&mock, 100);
    run_once();
    assert_int_equal(clients[0].ended, 2);
    assert_true(tern_sched_pending(&mock.sched) && tern_sched_busy(&mock.sched));
    answer.last_completed = mock.queue[0].last_completed;
    mock.queue[0].ind[mock.queue[0].inds++] = answer;
    run_once();
    assert_false(tern_sched_pending(&mock.sched) || tern_sched_busy(&mock.sched));
}

static void test_suspend_fences_are_monotonic(void **state)
{
    (void)state;
    struct tern_sched_context *c = &clients[0].mock.sched;
    client_submit(&clients[0], 1);
    run(1000);
    uint64_t first = tern_sched_context_suspend(&mock.sched, c);
    assert_false(tern_sched_context_suspended(c, first)); /* still running */
    uint64_t second = tern_sched_context_suspend(&mock.sched, c);
    run(400);
    assert_true(second > first);
    assert_false(tern_sched_context_suspended(c, first)); /* P8: a stale answer */
    assert_true(tern_sched_context_suspended(c, second));
    assert_false(tern_sched_context_resume(&mock.sched, c, first));
    run(100000);
    assert_int_equal(clients[0].ended, 0);
    assert_true(tern_sched_context_resume(&mock.sched, c, second));
    drain();
    assert_int_equal(clients[0].work.executed[0], 1);
}

/** All work is preempted again and again, and resumed on the next engine. */
static void test_forced_preemption(void **state)
{
    (void)state;
    for (uint32_t engines = 1; engines <= 4; engines++) {
        config.force_preempt = 1000;
        restart(engines);
        client_init(&clients[0], &procs[0], TERN_ENGINE_ANY, TERN_BAND_NORMAL, 100, 100 * 1000);
        client_submit(&clients[0], 3);
        drain();
        assert_int_equal(clients[0].results[TERN_COMPLETED], 1);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(clients[0].work.executed[i], 1);
        }
        assert_true(mock.resumed > 150);
        assert_true(engines == 1 ? mock.moved == 0 : mock.moved > mock.resumed * 9 / 10);
    }
}

static void test_work_gets_on_however_short_the_quantum(void **state)
{
    (void)state;
    config.band[TERN_BAND_NORMAL].quantum = 100; /* a third of a restore */
    restart(1);
    client_submit(&clients[0], 3);
    client_submit(&clients[1], 3);
    drain();
    assert_int_equal(clients[0].results[TERN_COMPLETED] + clients[1].results[TERN_COMPLETED], 2);
    assert_true(mock.resumed > 20);
}

static void test_forced_preemption_lets_work_end(void **state)
{
    (void)state;
    config.force_preempt = 100; /* a third of a restore */
    restart(1);
    client_submit(&clients[0], 3);
    drain();
    assert_int_equal(clients[0].results[TERN_COMPLETED], 1);
    assert_true(mock.resumed > 100);
}

static int events[16];
static uint64_t event_time[TERN_ENGINES_MAX];

static void count_event(struct mock *m, const struct tern_sched_event *e)
{
    (void)m;
    events[e->kind]++;
    assert_true(e->engine < TERN_ENGINES_MAX);
    if (e->kind == TERN_EV_START || e->kind == TERN_EV_RESUMED) {
        assert_true(e->time >= event_time[e->engine]); /* chunks of an engine do not overlap */
    }
    if (e->kind == TERN_EV_COMPLETED || e->kind == TERN_EV_PREEMPTED) {
        assert_true(e->time >= event_time[e->engine]);
        event_time[e->engine] = e->time;
    }
}

static void test_events(void **state)
{
    (void)state;
    mock.event = count_event;
    client_submit(&clients[0], 1);
    run(1000);
    struct tern_job *job = client_job(&clients[1], 2);
    mock_job_wait(job, 0, 8, 1);
    client_send(&clients[1], job);
    client_submit(&clients[2], 1);
    run(1000);
    mock.fence[1] = 1;
    tern_sched_signalled(&mock.sched, &procs[1]);
    drain();
    assert_int_equal(events[TERN_EV_SUBMIT], 3);
    assert_int_equal(events[TERN_EV_PREEMPT_REQUEST], 1);
    assert_int_equal(events[TERN_EV_PREEMPTED], 1);
    assert_int_equal(events[TERN_EV_START], 3);
    assert_int_equal(events[TERN_EV_RESUMED], 1);
    assert_int_equal(events[TERN_EV_COMPLETED], 3);
    assert_int_equal(events[TERN_EV_WAIT], 1);
    assert_int_equal(events[TERN_EV_WAKE], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_every_state_and_event, setup),
        cmocka_unit_test_setup(test_quantum, setup),
        cmocka_unit_test_setup(test_grace, setup),
        cmocka_unit_test_setup(test_an_urgent_one_ends_the_grace, setup),
        cmocka_unit_test_setup(test_long_work_is_not_killed, setup),
        cmocka_unit_test_setup(test_endless_work_shares, setup),
        cmocka_unit_test_setup(test_reset_spares_the_innocent, setup),
        cmocka_unit_test_setup(test_dependent_engines_are_resubmitted, setup),
        cmocka_unit_test_setup(test_a_failed_reset_loses_the_device, setup),
        cmocka_unit_test_setup(test_two_paging_buffers_lost_escalate, setup),
        cmocka_unit_test_setup(test_one_paging_buffer_lost_is_repeated, setup),
        cmocka_unit_test_setup(test_fence_ids_of_resubmission, setup),
        cmocka_unit_test_setup(test_request_finds_nothing, setup),
        cmocka_unit_test_setup(test_suspend_fences_are_monotonic, setup),
        cmocka_unit_test_setup(test_forced_preemption, setup),
        cmocka_unit_test_setup(test_work_gets_on_however_short_the_quantum, setup),
        cmocka_unit_test_setup(test_forced_preemption_lets_work_end, setup), cmocka_unit_test_setup(test_events, setup),
    };
    return cmocka_run_group_tests_name("sched_preempt", tests, NULL, NULL);
}
