/* SPDX-License-Identifier: Apache-2.0 */
/** ternd is killed during any call. All calls end with an error message, and all objects can be destroyed. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/driver/support/check.h"
#include "tests/driver/support/work.h"
#include "tests/lib/submit.h"

static const char *ternd;
static char folder[32], path[64];
static pid_t daemon_pid;
static struct tern_device *dev;
static struct tern_process *p;
static struct work b;

static void begin_ternd(void)
{
    daemon_pid = fork();
    assert_true(daemon_pid >= 0);
    if (!daemon_pid) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execl(ternd, ternd, "--socket", path, "--backend", "model", "--config", "small,mem=64M", (char *)NULL);
        _exit(127);
    }
    struct stat s;
    while (stat(path, &s)) {
        assert_int_equal(waitpid(daemon_pid, NULL, WNOHANG), 0);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

static int setup(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/ternd-gone-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/sock", folder);
    setenv("TERND_SOCKET", path, 1);
    begin_ternd();
    ok(tern_device_open(NULL, NULL, &dev));
    ok(tern_process_create(dev, "gone", &p));
    return 0;
}

static void kill_ternd(void)
{
    assert_int_equal(kill(daemon_pid, SIGKILL), 0);
    assert_int_equal(waitpid(daemon_pid, NULL, 0), daemon_pid);
}

static int teardown(void **state)
{
    (void)state;
    char lock[80];
    snprintf(lock, sizeof lock, "%s.lock", path);
    unlink(path);
    unlink(lock);
    rmdir(folder);
    return 0;
}

static void is_gone(int r)
{
    assert_int_equal(r, -EIO);
    if (!strstr(tern_last_error(), "is gone") || !strstr(tern_last_error(), path)) {
        print_error("'%s'\n", tern_last_error());
        fail();
    }
}

/* ------------------------------------------------------------------ threads in calls */

static struct tern_fence *fence;
static struct tern_context *waits, *ends;
static struct tern_allocation *m;
static atomic_uint begun, told;

static void *in_wait(void *last)
{
    begun++;
    is_gone(tern_wait(waits, *(uint64_t *)last, -1));
    return NULL;
}

static void *in_fence_wait(void *user)
{
    (void)user;
    begun++;
    is_gone(tern_fence_wait(fence, 1, -1));
    return NULL;
}

static void *in_destroy(void *user)
{
    (void)user;
    begun++;
    tern_context_destroy(ends);
    return NULL;
}

static void *in_copies(void *user)
{
    uint8_t *data = calloc(1, 4u << 20);
    int r = 0;
    begun++;
    while (!r) {
        r = tern_allocation_write(m, 0, data, 4u << 20);
    }
    is_gone(r);
    free(data);
    return user;
}

static void *in_submissions(void *context)
{
    int r = 0;
    begun++;
    while (!r || r == -ENOMEM) {
        r = submit_null(context, "null", NULL);
    }
    assert_int_equal(r, -EIO);
    return NULL;
}

static void count(void *user, const struct tern_completion *c)
{
    (void)user;
    told += c->result == TERN_ABORTED;
}

static void test_in_the_middle_of_calls(void **state)
{
    (void)state;
    pthread_t t[5];
    struct tern_context_desc d = {.size = sizeof d, .engine = 0, .completed = count};
    struct tern_context *busy;
    struct tern_completion_queue *q;
    uint64_t last = 0;
    ok(tern_fence_create(p, 0, &fence));
    ok(tern_allocation_create(p, 4u << 20, TERN_MEM_READ | TERN_MEM_WRITE, 0, &m));
    ok(tern_context_create(p, &d, &waits));
    ok(tern_context_create(p, &d, &ends));
    d.completed = NULL;
    ok(tern_completion_queue_create(dev, &q));
    d.completions = q;
    ok(tern_context_create(p, &d, &busy));
    for (int i = 0; i < 3; i++) {
        b.size = 0;
        work_wait(&b, tern_fence_address(fence), 1);
        ok(submit_packets(waits, b.w, b.size, "waits", &last));
        ok(submit_packets(ends, b.w, b.size, "ends", NULL));
    }
    assert_int_equal(pthread_create(&t[0], NULL, in_wait, &last), 0);
    assert_int_equal(pthread_create(&t[1], NULL, in_fence_wait, NULL), 0);
    assert_int_equal(pthread_create(&t[2], NULL, in_destroy, NULL), 0);
    assert_int_equal(pthread_create(&t[3], NULL, in_copies, NULL), 0);
    assert_int_equal(pthread_create(&t[4], NULL, in_submissions, busy), 0);
    while (begun < 5) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
    kill_ternd();
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(pthread_join(t[i], NULL), 0);
    }
    assert_int_equal(told, 6); /* Each submission's end is reported once, here too. */
    struct tern_fault f = {.size = sizeof f};
    assert_int_equal(tern_process_status(p, &f), -EIO);
    assert_int_equal(f.code, TERN_FAULT_DEVICE);
    struct tern_process *other;
    is_gone(tern_process_create(dev, "late", &other));
    uint64_t value;
    is_gone(tern_fence_value(fence, &value));
    assert_int_equal(tern_process_destroy(p), -EBUSY); /* A process with objects is busy, as with a running ternd. */
    tern_context_destroy(waits);
    tern_context_destroy(busy);
    ok(tern_completion_queue_destroy(q));
    tern_fence_destroy(fence);
    tern_allocation_destroy(m);
    ok(tern_process_destroy(p));
    ok(tern_device_close(dev));
}

/** One thread waits, and no other call of its program is in progress. */
static void test_while_one_waits(void **state)
{
    (void)state;
    pthread_t t;
    const struct tern_context_desc d = {.size = sizeof d, .engine = 0};
    uint64_t last = 0;
    ok(tern_fence_create(p, 0, &fence));
    ok(tern_context_create(p, &d, &waits));
    b.size = 0;
    work_wait(&b, tern_fence_address(fence), 1);
    ok(submit_packets(waits, b.w, b.size, "waits", &last));
    assert_int_equal(pthread_create(&t, NULL, in_wait, &last), 0);
    nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
    kill_ternd();
    assert_int_equal(pthread_join(t, NULL), 0);
    ok(tern_process_kill(p));
    ok(tern_process_destroy(p));
    ok(tern_device_close(dev));
}

/** After a client has closed its objects of a dead ternd, a new ternd at the same path serves the same program. */
static void test_again(void **state)
{
    (void)state;
    kill_ternd();
    ok(tern_process_kill(p));
    ok(tern_process_destroy(p));
    ok(tern_device_close(dev));
    /* begin_ternd() waits for a new socket. The new ternd would otherwise replace the stale one. */
    assert_int_equal(unlink(path), 0);
    begin_ternd();
    ok(tern_device_open(NULL, NULL, &dev));
    ok(tern_process_create(dev, "again", &p));
    ok(tern_process_destroy(p));
    ok(tern_device_close(dev));
    kill_ternd();
    assert_int_equal(tern_device_open(NULL, NULL, &dev), -ECONNREFUSED);
    assert_non_null(strstr(tern_last_error(), path));
}

int main(int argc, char **argv)
{
    assert_int_equal(argc, 2);
    ternd = argv[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_in_the_middle_of_calls, setup, teardown),
        cmocka_unit_test_setup_teardown(test_while_one_waits, setup, teardown),
        cmocka_unit_test_setup_teardown(test_again, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
