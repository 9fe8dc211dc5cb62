/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The file of a trace belongs to the process that opened it, and children of a fork do not change it. A program
 * that writes events waits for no reader. Readers may come late, be slow, or close; dropped events are counted, and the
 * rest is complete. No link is followed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/observe/trace_out.h"

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

static void read_file(const char *name, char *got, size_t size)
{
    FILE *f = fopen(name, "r");
    assert_non_null(f);
    got[fread(got, 1, size - 1, f)] = '\0';
    fclose(f);
}

/** Waits until the file has this text, since a thread of the trace writes it. */
static void expect_file(const char *want)
{
    char got[256] = "";
    for (int i = 0; i < 60000 && strcmp(got, want) != 0; i++) {
        poll(NULL, 0, i ? 10 : 0);
        read_file(path, got, sizeof got);
    }
    assert_string_equal(got, want);
}

/** Turns the leak sanitizer off in the child of a fork, which reports memory held by threads that the child does not
 * have. */
__attribute__((visibility("default"))) int __lsan_is_turned_off(void);
static bool is_child;

int __lsan_is_turned_off(void)
{
    return is_child;
}

enum way { CLOSES, EXITS, FLUSHES, WAYS };

/** Forks a child that closes, flushes or exits, and must end with status 0. An alarm kills one that hangs. */
static void run_child(struct tern_trace_out *o, enum way way)
{
    int status;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        is_child = true;
        alarm(250);
        if (way == CLOSES) {
            tern_trace_out_close(o);
        } else if (way == FLUSHES) {
            tern_trace_put(o, "\"child\"");
            tern_trace_flush(o);
        }
        if (way == EXITS) {
            exit(0); /* runs exit handlers, also the library's */
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
        expect_file("[\n\"written\"");
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

/** The child does not wait for a lock that a thread of the parent held at the fork. */
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

/* ------------------------------------------------------------------ FIFOs */

static int setup_fifo(void **state)
{
    setup(state);
    unlink(path);
    return mkfifo(path, 0600);
}

/** Reads to the end of the file, or until text is full. Returns the number of bytes. */
static size_t drain(int fd, char *text, size_t size)
{
    size_t n = 0;
    fcntl(fd, F_SETFL, 0);
    for (ssize_t r; (r = read(fd, text + n, size - 1 - n)) > 0;) {
        n += (size_t)r;
    }
    text[n] = '\0';
    return n;
}

/** The program does not wait for the reader, and no event is lost that the buffer holds. */
static void test_reader_comes_later(void **state)
{
    (void)state;
    char got[64];
    alarm(250);
    struct tern_trace_out *o = tern_trace_out_open(path);
    assert_non_null(o);
    assert_true(tern_trace_put(o, "1"));
    tern_trace_flush(o);
    assert_true(tern_trace_put(o, "2"));
    const int fd = open(path, O_RDONLY | O_NONBLOCK);
    assert_true(fd >= 0);
    tern_trace_out_close(o);
    drain(fd, got, sizeof got);
    assert_string_equal(got, "[\n1,\n2\n]\n");
    close(fd);
    alarm(0);
}

/** The reader closes. SIGPIPE has its default action, which would end this program. */
static void test_reader_goes(void **state)
{
    (void)state;
    char byte;
    alarm(250);
    const int fd = open(path, O_RDONLY | O_NONBLOCK);
    struct tern_trace_out *o = tern_trace_out_open(path);
    assert_non_null(o);
    tern_trace_put(o, "1");
    tern_trace_flush(o);
    fcntl(fd, F_SETFL, 0);
    assert_int_equal(read(fd, &byte, 1), 1); /* the pipe has data, so the thread has started to write */
    close(fd);
    for (int i = 0; i < 100000; i++) {
        tern_trace_put(o, "%d", i);
    }
    tern_trace_out_close(o);
    alarm(0);
}

static atomic_bool late;

ssize_t __real_write(int fd, const void *data, size_t size);
ssize_t __wrap_write(int fd, const void *data, size_t size);

ssize_t __wrap_write(int fd, const void *data, size_t size)
{
    if (atomic_exchange(&late, false)) {
        poll(NULL, 0, 3000);
    }
    return __real_write(fd, data, size);
}

/** A thread that runs late is not taken for a refused write: the file gets its end. (Linked with --wrap.) */
static void test_writer_is_late(void **state)
{
    (void)state;
    char got[64];
    struct tern_trace_out *o = tern_trace_out_open(path);
    assert_non_null(o);
    tern_trace_put(o, "1");
    atomic_store(&late, true);
    tern_trace_out_close(o);
    read_file(path, got, sizeof got);
    assert_string_equal(got, "[\n1\n]\n");
}

static void *closer(void *o)
{
    tern_trace_out_close(o);
    return NULL;
}

#define OBJECT "\"%01000d\"" /* about a kilobyte */

/** The buffer is bounded. Events that do not fit are dropped, counted, and reported in the file. The buffer has room
 * again afterwards. */
static void test_reader_is_slow(void **state)
{
    (void)state;
    const size_t size = 2u * TERN_TRACE_BYTES;
    char *text = malloc(size), byte;
    int taken = 0, n = 0;
    alarm(250);
    assert_non_null(text);
    const int fd = open(path, O_RDONLY | O_NONBLOCK);
    struct tern_trace_out *o = tern_trace_out_open(path);
    assert_non_null(o);
    while (tern_trace_put(o, OBJECT, taken)) {
        taken++;
        assert_in_range(taken, 1, size / 1000);
    }
    assert_in_range(taken, TERN_TRACE_BYTES / 1100, size / 1000);
    for (n = 1; n < 10; n++) {
        assert_false(tern_trace_put(o, OBJECT, n));
    }
    assert_int_equal(tern_trace_dropped(o), 0); /* the buffer is still full */
    fcntl(fd, F_SETFL, 0);
    size_t got = 0;
    uint64_t dropped = 0;
    while (!(dropped = tern_trace_dropped(o))) {
        const ssize_t r = read(fd, text + got, 4096);
        assert_true(r > 0);
        got += (size_t)r;
    }
    assert_int_equal(dropped, 10);
    assert_true(tern_trace_put(o, "\"again\""));
    assert_int_equal(tern_trace_dropped(o), 0);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, closer, o), 0);
    got += drain(fd, text + got, size - got);
    pthread_join(thread, NULL);
    assert_non_null(strstr(text + got - 200, "\"again\",\n{\"ph\":\"M\",\"name\":\"dropped_events\""));
    assert_non_null(strstr(text + got - 200, "{\"events\":10}}\n]\n"));
    int objects = 0;
    for (size_t i = 0; i + 3 <= got; i++) {
        objects += text[i] == '\n' && text[i + 1] == '"' && text[i + 2] == '0';
    }
    assert_int_equal(objects, taken);
    assert_int_equal(read(fd, &byte, 1), 0);
    close(fd);
    free(text);
    alarm(0);
}

/** A reader that reads nothing does not delay the end of a program for ever. */
static void test_reader_takes_nothing(void **state)
{
    (void)state;
    alarm(250);
    const int fd = open(path, O_RDONLY | O_NONBLOCK);
    struct tern_trace_out *o = tern_trace_out_open(path);
    assert_non_null(o);
    for (int i = 0; i < 1000; i++) {
        assert_true(tern_trace_put(o, OBJECT, i)); /* more than a pipe holds */
    }
    tern_trace_out_close(o);
    close(fd);
    alarm(0);
}

/* ------------------------------------------------------------------ links */

static void expect_refused(const char *name, const char *target)
{
    char got[64];
    assert_null(tern_trace_out_open(name));
    read_file(target, got, sizeof got);
    assert_string_equal(got, "precious");
}

static void test_links(void **state)
{
    (void)state;
    char name[80];
    struct stat s;
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs("precious", f);
    fclose(f);
    snprintf(name, sizeof name, "%s.link", path);
    assert_int_equal(symlink(path, name), 0);
    expect_refused(name, path);
    unlink(name);
    snprintf(name, sizeof name, "%s.nothing", path);
    char link_name[96];
    snprintf(link_name, sizeof link_name, "%s.link", path);
    assert_int_equal(symlink(name, link_name), 0); /* a link to a missing file, which must not be created */
    assert_null(tern_trace_out_open(link_name));
    assert_int_equal(stat(name, &s), -1);
    unlink(link_name);
    assert_int_equal(link(path, link_name), 0);
    expect_refused(link_name, path);
    expect_refused(path, path);
    unlink(link_name);
    if (geteuid() == 0) {
        assert_int_equal(chown(path, 12345, 12345), 0);
        expect_refused(path, path);
        assert_int_equal(chown(path, 0, 0), 0);
    }
    struct tern_trace_out *o = tern_trace_out_open(path);
    assert_non_null(o);
    tern_trace_out_close(o);
    expect_file("[]\n");
}

/** The program's own descriptors are links too, but no other user can make them. */
static void test_own_descriptors(void **state)
{
    (void)state;
    char name[64];
    const int fd = open(path, O_WRONLY);
    assert_true(fd >= 0);
    snprintf(name, sizeof name, "/dev/fd/%d", fd);
    struct tern_trace_out *o = tern_trace_out_open(name);
    assert_non_null(o);
    tern_trace_put(o, "1");
    tern_trace_out_close(o);
    expect_file("[\n1\n]\n");
    assert_int_equal(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_fork, setup, teardown),
        cmocka_unit_test(test_fork_while_another_thread_writes),
        cmocka_unit_test_setup_teardown(test_writer_is_late, setup, teardown),
        cmocka_unit_test_setup_teardown(test_reader_comes_later, setup_fifo, teardown),
        cmocka_unit_test_setup_teardown(test_reader_goes, setup_fifo, teardown),
        cmocka_unit_test_setup_teardown(test_reader_is_slow, setup_fifo, teardown),
        cmocka_unit_test_setup_teardown(test_reader_takes_nothing, setup_fifo, teardown),
        cmocka_unit_test_setup_teardown(test_links, setup, teardown),
        cmocka_unit_test_setup_teardown(test_own_descriptors, setup, teardown),
    };
    return cmocka_run_group_tests_name("trace_out", tests, NULL, NULL);
}
