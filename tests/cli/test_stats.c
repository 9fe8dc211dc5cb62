/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The statistics file: the driver's writer and the reader of `tern top`, also while the writer writes without pause.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/observe/stats_file.h"
#include "top_read.h"

static char base[64], folder[80];

static int setup(void **state)
{
    (void)state;
    snprintf(base, sizeof base, "/tmp/tern-test-XXXXXX");
    assert_non_null(mkdtemp(base));
    setenv("XDG_RUNTIME_DIR", base, 1);
    unsetenv("TERN_STATS");
    tern_stats_folder(folder, sizeof folder);
    return 0;
}

static unsigned files(void)
{
    DIR *d = opendir(folder);
    unsigned n = 0;
    for (struct dirent *e; d && (e = readdir(d));) {
        n += e->d_name[0] != '.';
    }
    if (d) {
        closedir(d);
    }
    return n;
}

static int teardown(void **state)
{
    char command[120];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", base);
    return system(command);
}

static unsigned seen(unsigned *foreign)
{
    struct top_list list;
    assert_true(top_read(&list));
    const unsigned n = list.n;
    if (foreign) {
        *foreign = list.foreign;
    }
    top_free(&list);
    return n;
}

static void publish(struct tern_stats_file *f, uint64_t time)
{
    tern_stats_begin(f)->time = time;
    tern_stats_end(f);
}

static void test_what_is_written_is_read(void **state)
{
    struct top_list list;
    (void)state;
    assert_int_equal(seen(NULL), 0);
    struct tern_stats_file *f = tern_stats_file_create(), *g = tern_stats_file_create();
    assert_true(f && g);
    assert_int_equal(files(), 2);
    assert_int_equal(seen(NULL), 0); /* Nothing has been published. */
    publish(f, 42);
    assert_true(top_read(&list));
    assert_int_equal(list.n, 1);
    assert_int_equal(list.item[0]->time, 42);
    assert_int_equal(list.item[0]->pid, getpid());
    assert_string_equal(list.item[0]->program, program_invocation_short_name);
    assert_ptr_equal(top_find(&list, list.item[0]), list.item[0]);
    publish(g, 43);
    struct top_list later;
    assert_true(top_read(&later));
    assert_int_equal(later.n, 2);
    assert_ptr_equal(top_find(&list, later.item[0]), list.item[0]);
    assert_null(top_find(&list, later.item[1]));
    top_free(&list);
    top_free(&later);
    tern_stats_file_destroy(f);
    assert_int_equal(seen(NULL), 1);
    tern_stats_file_destroy(g);
    tern_stats_file_destroy(NULL);
    assert_int_equal(files(), 0);
}

/** A new device of a process is not taken for its earlier one, so its time does not seem to go backwards. */
static void test_a_new_device_is_not_the_old_one(void **state)
{
    struct top_list before, now;
    (void)state;
    struct tern_stats_file *f = tern_stats_file_create();
    publish(f, 42);
    assert_true(top_read(&before));
    tern_stats_file_destroy(f);
    f = tern_stats_file_create();
    publish(f, 7);
    assert_true(top_read(&now));
    assert_int_equal(now.item[0]->device, before.item[0]->device);
    assert_null(top_find(&before, now.item[0]));
    publish(f, 8);
    top_free(&before);
    before = now;
    assert_true(top_read(&now));
    assert_ptr_equal(top_find(&before, now.item[0]), before.item[0]);
    top_free(&before);
    top_free(&now);
    tern_stats_file_destroy(f);
}

/** A process that dies leaves a file. Readers ignore it, and the next writer removes it. */
static void test_the_dead(void **state)
{
    int status;
    (void)state;
    const pid_t child = fork();
    if (child == 0) {
        publish(tern_stats_file_create(), 1);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(files(), 1);
    assert_int_equal(seen(NULL), 0);
    struct tern_stats_file *f = tern_stats_file_create();
    assert_int_equal(files(), 1);
    publish(f, 2);
    assert_int_equal(seen(NULL), 1);
    tern_stats_file_destroy(f);
}

/** The child of a fork neither removes its parent's file nor keeps it alive. */
static void test_fork(void **state)
{
    int status, wait_for[2];
    char c;
    (void)state;
    assert_int_equal(pipe(wait_for), 0);
    const pid_t parent = fork();
    if (parent == 0) {
        struct tern_stats_file *f = tern_stats_file_create();
        publish(f, 1);
        if (fork() == 0) {
            tern_stats_file_destroy(f);
            _exit(0);
        }
        wait(NULL);
        const bool still = files() == 1 && seen(NULL) == 1;
        if (fork() == 0) { /* This child outlives its parent and inherits the lock. */
            close(wait_for[1]);
            _exit(read(wait_for[0], &c, 1) < 0);
        }
        _exit(still ? 0 : 1);
    }
    assert_int_equal(waitpid(parent, &status, 0), parent);
    assert_int_equal(status, 0);
    assert_int_equal(seen(NULL), 0);
    close(wait_for[1]);
    close(wait_for[0]);
}

/** Writes a file as another program might. lock: its writer seems to be alive. */
static int strange_file(const char *name, const void *data, size_t size, bool lock)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, size), size);
    assert_true(!lock || flock(fd, LOCK_EX) == 0);
    return fd;
}

static void test_what_is_no_statistics(void **state)
{
    static struct tern_stats s;
    unsigned foreign;
    (void)state;
    struct tern_stats_file *f = tern_stats_file_create(); /* This creates the folder. */
    s = (struct tern_stats){.magic = TERN_STATS_MAGIC, .version = TERN_STATS_VERSION, .size = sizeof s,
                            .pid = (uint32_t)getpid()};
    int fd = strange_file("1-0.stats", &s, sizeof s, true);
    assert_int_equal(seen(&foreign), 1);
    close(fd); /* Without a lock its writer counts as dead. */
    assert_int_equal(seen(&foreign), 0);

    static const struct {
        size_t offset;
        uint32_t value;
        size_t size;
        unsigned foreign;
    } wrong[] = {
        {offsetof(struct tern_stats, magic), 1, sizeof s, 0},
        {offsetof(struct tern_stats, version), TERN_STATS_VERSION + 1, sizeof s, 1},
        {offsetof(struct tern_stats, size), 100, sizeof s, 1},
        {offsetof(struct tern_stats, version), TERN_STATS_VERSION, sizeof s - 4096, 1},
        {offsetof(struct tern_stats, version), TERN_STATS_VERSION, 0, 0},
        {offsetof(struct tern_stats, version), TERN_STATS_VERSION, 7, 0},
        {offsetof(struct tern_stats, sequence), 1, sizeof s, 0}, /* The writer never ends its update. */
        {offsetof(struct tern_stats, engines), TERN_STATS_ENGINES + 1, sizeof s, 0},
        {offsetof(struct tern_stats, listed), TERN_STATS_CONTEXTS + 1, sizeof s, 0},
        {offsetof(struct tern_stats, listed_partitions), TERN_STATS_PARTITIONS + 1, sizeof s, 0},
        {offsetof(struct tern_stats, pid), 0x3fffffff, sizeof s, 0}, /* No process has this number. */
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        static struct tern_stats bad;
        memcpy(&bad, &s, sizeof bad);
        memcpy((char *)&bad + wrong[i].offset, &wrong[i].value, sizeof wrong[i].value);
        fd = strange_file("1-0.stats", &bad, wrong[i].size, true);
        assert_int_equal(seen(&foreign), 0);
        assert_int_equal(foreign, wrong[i].foreign);
        close(fd);
    }
    tern_stats_file_destroy(f);
}

/** Where no file can be made, nobody can read statistics, and nothing else changes. */
static void test_where_it_cannot_be(void **state)
{
    (void)state;
    setenv("TERN_STATS", "0", 1);
    assert_null(tern_stats_file_create());
    unsetenv("TERN_STATS");
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_int_equal(chmod(folder, 0777), 0); /* Others may put files there. */
    assert_null(tern_stats_file_create());
    assert_int_equal(rmdir(folder), 0);
    assert_int_equal(symlink("/tmp", folder), 0);
    assert_null(tern_stats_file_create());
    assert_int_equal(unlink(folder), 0);
    setenv("XDG_RUNTIME_DIR", "/no/such/folder", 1);
    assert_null(tern_stats_file_create());
    assert_int_equal(seen(NULL), 0);
}

#define COPIES 300u

static atomic_bool over;

/** All numbers of an update are equal. A reader that sees two numbers got parts of two updates. */
static void *write_rounds(void *user)
{
    for (uint64_t i = 1; !atomic_load(&over); i++) {
        struct tern_stats *s = tern_stats_begin(user);
        s->time = s->host_ns = s->clock_hz = i;
        for (unsigned k = 0; k < TERN_STATS_CONTEXTS; k++) {
            s->context[k].cycles = i;
        }
        tern_stats_end(user);
        if (i % 16 == 0) {
            usleep(50);
        }
    }
    return NULL;
}

static void test_a_copy_is_of_one_moment(void **state)
{
    pthread_t writer;
    uint64_t first = 0, last = 0;
    (void)state;
    struct tern_stats_file *f = tern_stats_file_create();
    assert_int_equal(pthread_create(&writer, NULL, write_rounds, f), 0);
    /* The loop also goes on until the writer has written meanwhile. */
    for (unsigned copies = 0; copies < COPIES || last <= first + COPIES / 10;) {
        struct top_list list;
        assert_true(top_read(&list));
        for (unsigned i = 0; i < list.n; i++, copies++) {
            const struct tern_stats *s = list.item[i];
            assert_true(s->time >= last);
            first = first ? first : s->time;
            last = s->time;
            assert_int_equal(s->host_ns, s->time);
            for (unsigned k = 0; k < TERN_STATS_CONTEXTS; k++) {
                assert_int_equal(s->context[k].cycles, s->time);
            }
        }
        top_free(&list);
    }
    atomic_store(&over, true);
    pthread_join(writer, NULL);
    tern_stats_file_destroy(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_what_is_written_is_read, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_new_device_is_not_the_old_one, setup, teardown),
        cmocka_unit_test_setup_teardown(test_the_dead, setup, teardown),
        cmocka_unit_test_setup_teardown(test_fork, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_is_no_statistics, setup, teardown),
        cmocka_unit_test_setup_teardown(test_where_it_cannot_be, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_copy_is_of_one_moment, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
