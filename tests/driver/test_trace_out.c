/* SPDX-License-Identifier: Apache-2.0 */
/** The file of a trace belongs to the process that opened it: the children of a fork leave it as it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/trace_out.h"

static char path[64];

static int setup(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "/tmp/tern-trace-XXXXXX");
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    return close(fd);
}

static int teardown(void **state)
{
    (void)state;
    return unlink(path);
}

static void expect_file(const char *want)
{
    char got[256];
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    got[fread(got, 1, sizeof got - 1, f)] = '\0';
    fclose(f);
    assert_string_equal(got, want);
}

enum way { CLOSES, EXITS, FLUSHES, WAYS };

/** A child that adds something, and ends. One that hangs is killed. */
static void run_child(struct tern_trace_out *o, enum way way)
{
    int status;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
        if (way == CLOSES) {
            tern_trace_out_close(o);
        } else if (way == FLUSHES) {
            tern_trace_put(o, "\"child\"");
            tern_trace_flush(o);
        }
        if (way == EXITS) {
            exit(0); /* with what the library does at the end */
        }
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void test_fork(void **state)
{
    (void)state;
    for (enum way way = CLOSES; way < WAYS; way++) {
        struct tern_trace_out *o = tern_trace_out_open(path);
        assert_non_null(o);
        tern_trace_put(o, "\"written\"");
        tern_trace_flush(o);
        tern_trace_put(o, "\"in the buffer\"");
        run_child(o, way);
        expect_file("[\n\"written\"");
        tern_trace_put(o, "\"after\"");
        tern_trace_out_close(o);
        expect_file("[\n\"written\",\n\"in the buffer\",\n\"after\"\n]\n");
    }
}

static atomic_bool over;

static void *writer(void *o)
{
    while (!atomic_load(&over)) {
        tern_trace_put(o, "1");
    }
    return NULL;
}

/** A thread of the parent may hold the lock for ever, in the child. */
static void test_fork_while_another_thread_writes(void **state)
{
    (void)state;
    pthread_t thread;
    struct tern_trace_out *o = tern_trace_out_open("/dev/null");
    assert_non_null(o);
    assert_int_equal(pthread_create(&thread, NULL, writer, o), 0);
    for (int i = 0; i < 200; i++) {
        run_child(o, i % 2 ? EXITS : CLOSES);
    }
    atomic_store(&over, true);
    pthread_join(thread, NULL);
    tern_trace_out_close(o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_fork, setup, teardown),
        cmocka_unit_test(test_fork_while_another_thread_writes),
    };
    return cmocka_run_group_tests_name("trace_out", tests, NULL, NULL);
}
