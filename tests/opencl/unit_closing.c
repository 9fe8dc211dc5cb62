/* SPDX-License-Identifier: Apache-2.0 */
/** A call that finds no device memory waits for the queues that were being closed when it began, and for no others. */
#include "clt.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "runtime/core/closing.h"

static atomic_uint waits; /* calls of pthread_cond_timedwait */

int __real_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *t);
int __wrap_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *t);

int __wrap_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *t)
{
    atomic_fetch_add(&waits, 1);
    return __real_pthread_cond_timedwait(c, m, t);
}

static void test_none(void **state)
{
    (void)state;
    struct rt_closings call = rt_closings_now();
    assert_false(rt_closings_wait(&call));
    assert_int_equal(atomic_load(&waits), 0);
}

/** A queue was closed during the attempt, perhaps too late for it. The call must try again. */
static void test_ended_during_the_attempt(void **state)
{
    (void)state;
    struct rt_closing a;
    rt_closing_begin(&a);
    struct rt_closings call = rt_closings_now();
    rt_closing_end(&a);
    assert_true(rt_closings_wait(&call));
    assert_false(rt_closings_wait(&call));
}

/** Each closing is waited for, in whatever order they end. */
static void test_each_is_waited_for(void **state)
{
    (void)state;
    struct rt_closing a, c;
    rt_closing_begin(&a);
    rt_closing_begin(&c);
    struct rt_closings call = rt_closings_now();
    rt_closing_end(&c);
    assert_true(rt_closings_wait(&call));
    rt_closing_end(&a);
    assert_true(rt_closings_wait(&call));
    assert_false(rt_closings_wait(&call));
}

/** Later closings are not waited for. Otherwise a program whose threads close queues all the time would get no
 * answer. */
static void test_later_ones_do_not_count(void **state)
{
    (void)state;
    struct rt_closing a, later;
    rt_closing_begin(&a);
    struct rt_closings call = rt_closings_now();
    rt_closing_begin(&later);
    rt_closing_end(&a);
    assert_true(rt_closings_wait(&call));
    rt_closing_end(&later);
    assert_false(rt_closings_wait(&call));
}

/** A closing that a thread begins while it closes another queue counts as begun with the first one. */
static void test_one_that_follows(void **state)
{
    (void)state;
    struct rt_closing a, follows, after;
    rt_closing_begin_here(&a);
    struct rt_closings call = rt_closings_now();
    rt_closing_begin(&follows);
    rt_closing_end(&a);
    assert_true(rt_closings_wait(&call));
    rt_closing_begin(&after); /* This closing does not belong to the first one. */
    rt_closing_end(&follows);
    assert_true(rt_closings_wait(&call));
    assert_false(rt_closings_wait(&call));
    rt_closing_end(&after);
}

static void *end(void *closing)
{
    while (atomic_load(&waits) == 0) {
        sched_yield();
    }
    rt_closing_end(closing);
    return NULL;
}

static void test_another_thread(void **state)
{
    (void)state;
    struct rt_closing a;
    pthread_t thread;
    rt_closing_begin(&a);
    struct rt_closings call = rt_closings_now();
    atomic_store(&waits, 0);
    assert_int_equal(pthread_create(&thread, NULL, end, &a), 0);
    assert_true(rt_closings_wait(&call));
    pthread_join(thread, NULL);
}

static void *close_queue(void *closing)
{
    struct rt_closing here;
    rt_closing_move(closing, &here);
    struct rt_closings call = rt_closings_now();
    const bool again = rt_closings_wait(&call);
    rt_closing_end(&here);
    return again ? closing : NULL;
}

/** A thread that closes a queue does not wait for other closings. */
static void test_no_circle(void **state)
{
    (void)state;
    struct rt_closing a, c;
    pthread_t thread;
    void *again;
    rt_closing_begin(&a);
    rt_closing_begin(&c);
    atomic_store(&waits, 0);
    assert_int_equal(pthread_create(&thread, NULL, close_queue, &c), 0);
    pthread_join(thread, &again);
    assert_null(again);
    assert_int_equal(atomic_load(&waits), 0);
    rt_closing_end(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_ended_during_the_attempt),
        cmocka_unit_test(test_each_is_waited_for),
        cmocka_unit_test(test_later_ones_do_not_count),
        cmocka_unit_test(test_one_that_follows),
        cmocka_unit_test(test_another_thread),
        cmocka_unit_test(test_no_circle),
    };
    return cmocka_run_group_tests_name("closing", tests, NULL, NULL);
}
