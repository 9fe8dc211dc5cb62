/* SPDX-License-Identifier: Apache-2.0 */
/** The set of live objects: members are found in every thread while others add and remove, and a lookup takes no
 * lock. */
#include "clt.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "runtime/core/live.h"

enum { OBJECTS = 4096, THREADS = 4, CHECKS = 50000, STEPS = 50000 };

static char space[16 * OBJECTS * THREADS]; /* Objects lie 16 bytes apart. */
static atomic_uint locks;

int __real_pthread_mutex_lock(pthread_mutex_t *m);
int __wrap_pthread_mutex_lock(pthread_mutex_t *m);

int __wrap_pthread_mutex_lock(pthread_mutex_t *m)
{
    atomic_fetch_add(&locks, 1);
    return __real_pthread_mutex_lock(m);
}

static const void *object(unsigned i)
{
    return &space[16 * i];
}

/** Random changes, compared with a table of the members. */
static void test_against_a_table(void **state)
{
    (void)state;
    static bool in[OBJECTS];
    uint32_t seed = 5;
    assert_false(rt_live_has(NULL));
    for (unsigned n = 0; n < 200000; n++) {
        const unsigned i = clt_random(&seed) % OBJECTS;
        if (clt_random(&seed) % 2 == 0) {
            assert_int_equal(rt_live_has(object(i)), in[i]);
        } else if (in[i]) {
            rt_live_remove(object(i));
            in[i] = false;
        } else {
            assert_true(rt_live_add(object(i)));
            in[i] = true;
        }
    }
    for (unsigned i = 0; i < OBJECTS; i++) {
        assert_int_equal(rt_live_has(object(i)), in[i]);
        if (in[i]) {
            rt_live_remove(object(i));
        }
    }
}

static void test_checks_lock_nothing(void **state)
{
    (void)state;
    for (unsigned i = 0; i < OBJECTS; i += 2) {
        assert_true(rt_live_add(object(i)));
    }
    atomic_store(&locks, 0);
    for (unsigned n = 0; n < CHECKS; n++) {
        assert_int_equal(rt_live_has(object(n % OBJECTS)), n % 2 == 0);
    }
    assert_int_equal(atomic_load(&locks), 0);
    for (unsigned i = 0; i < OBJECTS; i += 2) {
        rt_live_remove(object(i));
    }
}

static atomic_uint mistakes;

/** Adds and removes objects of its own, and checks that lookups agree. Of the first OBJECTS objects, the even ones are
 *  always members and the odd ones never. */
static void *churn(void *arg)
{
    const unsigned first = OBJECTS * (unsigned)(uintptr_t)arg;
    uint32_t seed = first + 77;
    for (unsigned n = 0; n < STEPS; n++) {
        const void *mine = object(first + clt_random(&seed) % OBJECTS);
        const unsigned other = clt_random(&seed) % OBJECTS;
        const bool good = rt_live_add(mine) && rt_live_has(mine) && rt_live_has(object(other)) == (other % 2 == 0);
        rt_live_remove(mine);
        atomic_fetch_add(&mistakes, !good || rt_live_has(mine));
    }
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    for (unsigned i = 0; i < OBJECTS; i += 2) {
        assert_true(rt_live_add(object(i)));
    }
    for (uintptr_t i = 1; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, churn, (void *)i), 0);
    }
    for (uintptr_t i = 1; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(atomic_load(&mistakes), 0);
    for (unsigned i = 0; i < OBJECTS; i += 2) {
        rt_live_remove(object(i));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_a_table),
        cmocka_unit_test(test_checks_lock_nothing),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
