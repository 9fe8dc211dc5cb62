/* SPDX-License-Identifier: Apache-2.0 */
/**
 * tern_assert_held ends a process if the calling thread does not hold the lock: because nobody does, because another
 * thread does, or because the thread has released it. Builds without TERN_CHECK_LOCKS check nothing.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/lock.h"

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define SANITIZED
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#endif
#if defined SANITIZED && !defined TERN_CHECK_LOCKS
#error "builds with sanitizers check locks"
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;

static void *check(void *unused)
{
    (void)unused;
    tern_assert_held(&lock);
    return NULL;
}

static void *turn(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    pthread_cond_signal(&turned);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void in_thread(void *(*run)(void *))
{
    pthread_t t;
    assert_int_equal(pthread_create(&t, NULL, run, NULL), 0);
    pthread_join(t, NULL);
}

static void nobody_holds_it(void)
{
    check(NULL);
}

static void it_was_held_before(void)
{
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    check(NULL);
}

static void another_thread_holds_it(void)
{
    pthread_mutex_lock(&lock);
    in_thread(check);
}

static void this_thread_holds_it(void)
{
    pthread_mutex_lock(&lock);
    check(NULL);
}

static void this_thread_has_waited(void)
{
    pthread_t t;
    pthread_mutex_lock(&lock);
    assert_int_equal(pthread_create(&t, NULL, turn, NULL), 0);
    pthread_cond_wait(&turned, &lock);
    check(NULL);
    pthread_mutex_unlock(&lock);
    pthread_join(t, NULL);
}

/** Returns the signal that ends a child which runs the function, or 0, and what the child printed as errors. */
static int end_of(void (*run)(void), char said[400])
{
    int status, fds[2];
    assert_int_equal(pipe(fds), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        const struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        dup2(fds[1], STDERR_FILENO);
        run();
        _exit(0);
    }
    close(fds[1]);
    const ssize_t n = read(fds[0], said, 399);
    said[n > 0 ? n : 0] = '\0';
    close(fds[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

static void test_held(void **unused)
{
    char said[400];
    (void)unused;
    assert_int_equal(end_of(this_thread_holds_it, said), 0);
    assert_int_equal(end_of(this_thread_has_waited, said), 0);
}

static void test_not_held(void **unused)
{
    static void (*const wrong[])(void) = {nobody_holds_it, it_was_held_before, another_thread_holds_it};
    (void)unused;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char said[400];
#ifdef TERN_CHECK_LOCKS
        assert_int_equal(end_of(wrong[i], said), SIGABRT);
        assert_non_null(strstr(said, "check needs &lock, which this thread does not hold"));
#else
        assert_int_equal(end_of(wrong[i], said), 0);
#endif
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_held), cmocka_unit_test(test_not_held)};
    return cmocka_run_group_tests_name("lock", tests, NULL, NULL);
}
