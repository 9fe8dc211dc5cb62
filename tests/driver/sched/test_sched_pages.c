/* SPDX-License-Identifier: Apache-2.0 */
/** Page requests: a chunk stops because it needs a page (A6). The tests check what the scheduler does until the page is
 *  there, and with other events meanwhile. The engines check that nothing of a waiting context is submitted, and that
 *  saved state is resumed. */
#include "sched_client.h"

#define COST 1000

enum { ASKS, OTHER, URGENT, PAGING, CLIENTS };

static struct tern_sched_process procs[CLIENTS];
static struct client clients[CLIENTS];

static int setup(void **state)
{
    struct tern_sched_config config;
    (void)state;
    tern_sched_config_default(&config);
    config.timeout = 3000;
    mock_init(&mock, 1, &config);
    mock.save_cycles = mock.restore_cycles = 100;
    for (int i = 0; i < CLIENTS; i++) {
        tern_sched_process_init(&mock.sched, &procs[i], i == PAGING);
        client_init(&clients[i], &procs[i], 0, i == URGENT ? TERN_BAND_REALTIME : TERN_BAND_NORMAL, 100, COST);
    }
    return 0;
}

/** Submits a job of client ASKS, which needs `asks` pages, one after the other, and waits for the first. */
static void reach(uint32_t packets, uint32_t asks)
{
    clients[ASKS].work.asks = asks;
    client_submit(&clients[ASKS], packets);
    run(10);
    assert_int_equal(clients[ASKS].mock.sched.state, TERN_SCHED_ABSENT);
    assert_int_equal(mock.asked, 1);
}

static void page_comes(void)
{
    assert_true(clients[ASKS].mock.absent);
    mock_page_comes(&mock, &clients[ASKS].mock);
}

/** Waits for all work. Each packet of each job ran once. */
static void judge(void)
{
    drain();
    for (int i = 0; i < CLIENTS; i++) {
        assert_int_equal(clients[i].results[TERN_COMPLETED], clients[i].submitted);
        assert_int_equal(procs[i].faults, 0);
        for (uint32_t k = 0; k < 3; k++) {
            assert_in_range(clients[i].work.executed[k], 0, clients[i].submitted);
        }
    }
    assert_int_equal(clients[ASKS].work.executed[0], clients[ASKS].submitted);
}

/* Other work runs while a context waits. The context resumes where it stopped, page by page. */
static void test_others_run(void **state)
{
    (void)state;
    reach(3, 3);
    for (int i = 0; i < 3; i++) {
        client_submit(&clients[OTHER], 1);
        run(20 * COST);
        assert_int_equal(clients[OTHER].ended, i + 1);
        assert_int_equal(clients[ASKS].ended, 0);
        assert_false(tern_sched_busy(&mock.sched)); /* no engine is kept busy during the wait */
        page_comes();
        run(10 + 100 + (i == 2 ? 0 : 10));
    }
    judge();
    assert_int_equal(mock.asked, 3);
    assert_int_equal(clients[ASKS].mock.sched.stats.page_requests, 3);
    assert_int_equal(clients[ASKS].mock.sched.stats.preempted, 0);
    assert_int_equal(mock.resumed, 3);
}

/* Chunks behind the one that requests a page are returned from the HW queue. Chunks of another context run at once,
 * chunks of the same context behind it. */
static void test_behind(void **state)
{
    (void)state;
    clients[ASKS].work.asks = 1;
    client_submit(&clients[ASKS], 1);
    client_submit(&clients[ASKS], 1);
    client_submit(&clients[OTHER], 1);
    run(2 * COST);
    assert_int_equal(clients[OTHER].ended, 1);
    assert_int_equal(clients[ASKS].ended, 0);
    page_comes();
    judge();
}

/* A chunk requests a page while the context's next work is on its way to the engine, which is empty then. */
static void test_asks_just_then(void **state)
{
    (void)state;
    mock.returns = true;
    mock.post = 5;
    clients[ASKS].work.asks = 1;
    client_submit(&clients[ASKS], 1);
    client_submit(&clients[ASKS], 1);
    run(2 * COST);
    assert_int_equal(mock.asked, 1);
    assert_int_equal(clients[ASKS].ended, 0);
    page_comes();
    judge();
    assert_int_equal(mock.asked, 1);
}

/* A request to stop, made for more urgent work or for paging, crosses the page request. */
static void test_crossed(void **state)
{
    (void)state;
    for (int by = URGENT; by <= PAGING; by++) {
        setup(NULL);
        clients[ASKS].work.asks = 1;
        client_submit(&clients[ASKS], 2);
        run_once(); /* in the HW queue, not begun */
        client_submit(&clients[by], 1);
        mock_advance(&mock, 5);   /* it has requested the page, and the scheduler does not know it yet */
        assert_true(mock.queue[0].inds);
        /* requests the stop before the scheduler knows of the page request */
        assert_int_equal(mock.sched.ops->preempt(mock.sched.user, 0, mock.sched.engine[0].preemption =
                                                 ++mock.sched.engine[0].next_preemption, 3), 0);
        run(2 * COST);
        assert_int_equal(clients[by].ended, 1);
        assert_int_equal(clients[ASKS].ended, 0);
        assert_int_equal(mock.asked, 1);
        page_comes();
        judge();
    }
}

/* The context is suspended while it waits, and resumed before or after the page comes. */
static void test_suspended(void **state)
{
    (void)state;
    for (int first = 0; first < 2; first++) {
        setup(NULL);
        reach(2, 1);
        const uint64_t fence = tern_sched_context_suspend(&mock.sched, &clients[ASKS].mock.sched);
        run(COST);
        assert_true(tern_sched_context_suspended(&clients[ASKS].mock.sched, fence));
        if (first) {
            page_comes();
        }
        run(COST);
        assert_int_equal(clients[ASKS].mock.sched.state, TERN_SCHED_SUSPENDED);
        assert_true(tern_sched_context_resume(&mock.sched, &clients[ASKS].mock.sched, fence));
        run(first ? 3 * COST : COST);
        assert_int_equal(clients[ASKS].ended, first);
        if (!first) {
            page_comes();
        }
        judge();
    }
}

/* The process is aborted while it waits. Each of its jobs ends once. */
static void test_death(void **state)
{
    (void)state;
    reach(2, 1);
    client_submit(&clients[ASKS], 1);
    procs[ASKS].error = true;
    tern_sched_abort(&mock.sched, &procs[ASKS]);
    drain();
    assert_int_equal(clients[ASKS].results[TERN_ABORTED], 2);
    client_submit(&clients[OTHER], 1);
    drain();
    assert_int_equal(clients[OTHER].results[TERN_COMPLETED], 1);
}

/* The page does not exist: only its own process gets a fault. */
static void test_no_page(void **state)
{
    (void)state;
    mock.no_page = true;
    clients[ASKS].work.asks = 1;
    client_submit(&clients[ASKS], 1);
    client_submit(&clients[OTHER], 1);
    drain();
    assert_int_equal(clients[ASKS].results[TERN_FAULTED], 1);
    assert_int_equal(procs[ASKS].faults, 1);
    assert_int_equal(mock.faults, 1);
    assert_int_equal(clients[OTHER].results[TERN_COMPLETED], 1);
}

/* An engine is reset while a context waits. The context has nothing there. */
static void test_reset(void **state)
{
    (void)state;
    reach(2, 1);
    client_submit(&clients[OTHER], 1);
    run_once();
    mock.deaf = true;
    client_submit(&clients[URGENT], 1);
    run(10000);
    assert_int_equal(mock.resets, 1);
    assert_int_equal(clients[OTHER].results[TERN_FAULTED], 1);
    page_comes();
    drain();
    assert_int_equal(clients[ASKS].results[TERN_COMPLETED], 1);
    assert_int_equal(clients[URGENT].results[TERN_COMPLETED], 1);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup(name, setup)
    const struct CMUnitTest tests[] = {T(test_others_run), T(test_behind),    T(test_asks_just_then), T(test_crossed),
                                       T(test_suspended),  T(test_death),     T(test_no_page),        T(test_reset)};
    return cmocka_run_group_tests_name("sched_pages", tests, NULL, NULL);
}
