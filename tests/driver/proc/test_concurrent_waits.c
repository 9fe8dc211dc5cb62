/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Threads that wait beside each other for any context, beside callbacks of both kinds. Each completion is reported once
 * and in order, each callback runs in a thread where it may, and no thread waits for longer than for its own work. A
 * test waits for the events that it needs; ctest's time limit ends it if they do not come.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#include "dut.h"
#include "tests/lib/submit.h"

/** A context and the completions that its callback has seen. */
struct seen {
    struct tern_context *c;
    struct tern_process *kills;
    atomic_ulong told, misplaced;
    atomic_bool by_main;
    bool any;
};

static pthread_t main_thread;

static void note(void *user, const struct tern_completion *told)
{
    struct seen *s = user;
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    const bool mine = pthread_equal(pthread_self(), main_thread);
    if (told->fence != atomic_fetch_add(&s->told, 1) + 1 || (!s->any && (mine || !sigismember(&blocked, SIGUSR1))) ||
        (s->kills && tern_process_kill(s->kills) != -EDEADLK)) {
        atomic_fetch_add(&s->misplaced, 1);
    }
    if (mine) {
        atomic_store(&s->by_main, true);
    }
}

static void seen_open(struct seen *s, struct tern_process *p, bool any)
{
    const struct tern_context_desc d = {.size = sizeof d, .engine = -1, .completed = note, .user = s,
                                        .flags = any ? TERN_CONTEXT_ANY_THREAD : 0};
    *s = (struct seen){.any = any};
    ok(tern_context_create(p, &d, &s->c));
}

static void seen_close(struct seen *s, uint64_t told)
{
    tern_context_destroy(s->c);
    assert_int_equal(s->told, told);
    assert_int_equal(s->misplaced, 0);
}

static bool through_ternd(void)
{
    struct tern_device_info info = {.size = sizeof info};
    ok(tern_device_query(dev, &info));
    return info.service[0] != '\0';
}

/** Through ternd, a waiting thread runs callbacks of contexts that allow any thread. On a local device it does not. */
static void test_told_where_it_is_waited_for(void **state)
{
    (void)state;
    struct tern_process *p = process("waits");
    struct seen s;
    uint64_t fence = 0;
    seen_open(&s, p, true);
    s.kills = p;
    do {
        ok(submit_null(s.c, "null", &fence));
        ok(tern_wait(s.c, fence, -1));
        assert_int_equal(s.told, fence);
    } while (through_ternd() ? !s.by_main : fence < 100);
    assert_int_equal(s.by_main, through_ternd());
    seen_close(&s, fence);
    ok(tern_process_destroy(p));
}

/** Contexts of both kinds, and one without a callback, with much work in flight that ends in any order. */
static void test_both_kinds(void **state)
{
    (void)state;
    enum { N = 300, KINDS = 4 };
    struct tern_process *p = process("kinds");
    struct seen s[KINDS];
    struct tern_context *silent;
    const struct tern_context_desc d = {.size = sizeof d, .engine = -1};
    ok(tern_context_create(p, &d, &silent));
    for (int k = 0; k < KINDS; k++) {
        seen_open(&s[k], p, k % 2);
    }
    for (unsigned i = 1; i <= N; i++) {
        for (int k = 0; k < KINDS; k++) {
            ok(submit_null(s[k].c, "null", NULL));
        }
        ok(submit_null(silent, "null", NULL));
        if (i % 50 == 0) {
            ok(tern_wait(s[i / 50 % KINDS].c, i, -1));
            assert_true(s[i / 50 % KINDS].told >= i);
        }
        if (i % 70 == 0) {
            ok(tern_wait(silent, i, -1));
        }
    }
    for (int k = KINDS - 1; k >= 0; k--) {
        ok(tern_wait(s[k].c, N, -1));
        seen_close(&s[k], N);
    }
    tern_context_destroy(silent);
    ok(tern_process_destroy(p));
}

/** Completions are reported even if no thread waits. */
static void test_nobody_waits(void **state)
{
    (void)state;
    struct tern_process *p = process("nobody");
    struct seen s[2];
    for (int k = 0; k < 2; k++) {
        seen_open(&s[k], p, k);
    }
    for (unsigned long i = 1; i <= 200; i++) {
        for (int k = 0; k < 2; k++) {
            ok(submit_null(s[k].c, "null", NULL));
        }
        if (i % 3 == 0) {
            ok(tern_wait(s[i % 2].c, i, -1)); /* the other context's completions are left for the next thread */
        }
        while (s[0].told < i || s[1].told < i) {
            nanosleep(&(struct timespec){.tv_nsec = 10000}, NULL);
        }
    }
    seen_close(&s[0], 200);
    seen_close(&s[1], 200);
    ok(tern_process_destroy(p));
}

struct waiter {
    pthread_t thread;
    struct seen s;
    struct tern_fence *gate;
    unsigned rounds;
};

static void *wait_often(void *user)
{
    struct waiter *w = user;
    uint64_t fence = 0;
    for (unsigned i = 0; i < w->rounds; i++) {
        for (unsigned k = 0; k <= i % 4; k++) {
            ok(submit_null(w->s.c, "null", &fence));
        }
        ok(tern_wait(w->s.c, fence - i % 2 * (i % 4 > 0), i % 3 ? -1 : 60000));
    }
    ok(tern_wait(w->s.c, fence, -1));
    return NULL;
}

static void test_many_wait(void **state)
{
    (void)state;
    enum { WAITERS = 6, ROUNDS = 200 };
    struct tern_process *p = process("many");
    struct waiter w[WAITERS] = {0};
    for (unsigned i = 0; i < WAITERS; i++) {
        seen_open(&w[i].s, p, i % 3);
        w[i].rounds = ROUNDS;
        assert_int_equal(pthread_create(&w[i].thread, NULL, wait_often, &w[i]), 0);
    }
    for (unsigned i = 0; i < WAITERS; i++) {
        assert_int_equal(pthread_join(w[i].thread, NULL), 0);
        seen_close(&w[i].s, ROUNDS / 4 * (1 + 2 + 3 + 4));
    }
    ok(tern_process_destroy(p));
}

/** A thread whose waits time out while another thread's work ends, and which then waits for its own work. */
static void *wait_for_gate(void *user)
{
    struct waiter *w = user;
    static struct work work;
    uint64_t fence;
    work.size = 0;
    work_wait(&work, tern_fence_address(w->gate), 1);
    ok(submit_packets(w->s.c, work.w, work.size, "gate", &fence));
    assert_int_equal(tern_wait(w->s.c, fence, 0), -ETIMEDOUT);
    assert_int_equal(tern_wait(w->s.c, fence, 30), -ETIMEDOUT);
    ok(tern_fence_signal(w->gate, 1));
    ok(tern_wait(w->s.c, fence, -1));
    return NULL;
}

static void test_timeouts(void **state)
{
    (void)state;
    struct tern_process *p = process("timeouts");
    struct waiter w[2] = {{.rounds = 300}, {0}};
    ok(tern_fence_create(p, 0, &w[1].gate));
    for (int i = 0; i < 2; i++) {
        seen_open(&w[i].s, p, true);
        assert_int_equal(pthread_create(&w[i].thread, NULL, i ? wait_for_gate : wait_often, &w[i]), 0);
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_join(w[i].thread, NULL), 0);
        seen_close(&w[i].s, i ? 1 : 750);
    }
    tern_fence_destroy(w[1].gate);
    ok(tern_process_destroy(p));
}

static void test_flags(void **state)
{
    (void)state;
    struct tern_process *p = process("flags");
    struct tern_context *c;
    const struct tern_context_desc d = {.size = sizeof d, .engine = -1, .flags = 2};
    assert_int_equal(tern_context_create(p, &d, &c), -EINVAL);
    assert_non_null(strstr(tern_last_error(), "0x2"));
    ok(tern_process_destroy(p));
}

int main(void)
{
    main_thread = pthread_self();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_told_where_it_is_waited_for), cmocka_unit_test(test_both_kinds),
        cmocka_unit_test(test_nobody_waits), cmocka_unit_test(test_many_wait), cmocka_unit_test(test_timeouts),
        cmocka_unit_test(test_flags),
    };
    return cmocka_run_group_tests(tests, device_setup, device_teardown);
}
