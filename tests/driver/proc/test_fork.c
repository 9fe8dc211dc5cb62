/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The child of a fork. Objects of its parent fail at once in every call, can be destroyed, and keep no file of the
 * parent's open. A device of its own works. The parent is not affected.
 */
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/completions.h"
#include "descriptors.h"
#include "dut.h"
#include "open_device.h"
#include "tern/tern_checkpoint.h"
#include "tests/lib/submit.h"

/** One object of each kind, with work that is queued behind a fence that is not signalled. */
struct all {
    struct tern_process *p;
    struct tern_context *c;
    struct tern_allocation *a;
    struct tern_fence *f;
    struct tern_completion_queue *q;
    uint64_t last;
    struct tern_checkpoint *k; /* checkpoint of all objects; NULL through ternd, which has no checkpoints */
};

/** Saves the device to a checkpoint, and loads it to the same device. */
static struct tern_checkpoint *loaded_again(void)
{
    struct tern_checkpoint *k;
    char folder[] = "/tmp/tern-fork-XXXXXX", file[64];
    assert_non_null(mkdtemp(folder));
    snprintf(file, sizeof file, "%s/file", folder);
    ok(tern_checkpoint_save(dev, file));
    ok(tern_checkpoint_load(dev, file, &k));
    ok(unlink(file));
    ok(rmdir(folder));
    return k;
}

static struct all make_all(void)
{
    struct all o = {.p = process("parent")};
    o.c = context(o.p, -1);
    o.a = memory(o.p, 65536, TERN_MEM_READ | TERN_MEM_WRITE);
    ok(tern_fence_create(o.p, 0, &o.f));
    ok(tern_completion_queue_create(dev, &o.q));
    dma.size = 0;
    work_wait(&dma, tern_fence_address(o.f), 1);
    work_fill(&dma, tern_allocation_address(o.a), 65536, 0x5a);
    ok(submit_packets(o.c, dma.w, dma.size, "held", &o.last));
    o.k = getenv("TERND_SOCKET") ? NULL : loaded_again();
    return o;
}

static void finish_all(struct all *o)
{
    if (o->k) {
        ok(tern_checkpoint_close(o->k));
    }
    ok(tern_fence_signal(o->f, 1));
    ok(tern_wait(o->c, o->last, -1));
    expect_bytes(o->a, 0, 65536, 0x5a);
    tern_context_destroy(o->c);
    tern_allocation_destroy(o->a);
    tern_fence_destroy(o->f);
    ok(tern_process_destroy(o->p));
    ok(tern_completion_queue_destroy(o->q));
}

/** Runs a function in a child, which must end with status 0. exits: by exit(), so that libraries run their exit
 * handlers. */
static void in_child(void (*run)(struct all *), struct all *o, bool exits)
{
    int status;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        alarm(250);
        run(o);
        if (exits) {
            exit(0);
        }
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

#define REFUSED(call) refused((call), #call)

static void refused(int r, const char *what)
{
    if (r != -ENODEV || !strstr(tern_last_error(), "forked")) {
        fprintf(stderr, "%s: %d, %s\n", what, r, tern_last_error());
        _exit(1);
    }
}

static void call_checkpoint(struct tern_checkpoint *k)
{
    struct tern_checkpoint_process p = {.size = sizeof p};
    struct tern_checkpoint_context c = {.size = sizeof c};
    struct tern_checkpoint_memory m = {.size = sizeof m};
    enum tern_checkpoint_end end;
    char byte;
    REFUSED(tern_checkpoint_process(k, 0, &p));
    REFUSED(tern_checkpoint_context(k, 0, 0, &c));
    REFUSED(tern_checkpoint_memory(k, 0, 0, &m));
    REFUSED(tern_checkpoint_read(k, 0, 0, 0, &byte, 1));
    REFUSED(tern_checkpoint_start(k, 0));
    REFUSED(tern_checkpoint_wait(k, -1, &end));
    REFUSED(tern_checkpoint_close(k));
}

static void call_everything(struct all *o)
{
    struct tern_context_desc desc = {.size = sizeof desc, .engine = -1};
    const struct tern_submission work = {.size = sizeof work, .packets = dma.w, .packet_bytes = dma.size};
    struct tern_engine_counters counters = {.size = sizeof counters};
    struct tern_context_stats stats = {.size = sizeof stats};
    struct tern_device_info info = {.size = sizeof info};
    struct tern_process *p = NULL;
    struct tern_context *c = NULL;
    struct tern_allocation *a = NULL;
    struct tern_fence *f = NULL;
    struct tern_completion_queue *q = NULL;
    struct tern_checkpoint *k = NULL;
    struct tern_completion done = {.size = sizeof done};
    struct tern_fault fault = {.size = sizeof fault};
    uint64_t value = 0;
    uint32_t bits[1];
    const uint32_t at = tern_allocation_address(o->a);
    uint8_t handle[TERN_HANDLE_BYTES] = {0};
    const struct tern_partition_desc part = {.size = sizeof part, .name = "child", .memory_bytes = 1u << 20};

    if (!tern_device_inherited(dev)) {
        _exit(2);
    }
    tern_device_query(dev, &info); /* constant properties can be queried */
    tern_device_time(dev);
    tern_device_time_seen(dev);
    tern_context_query(o->c, &stats);
    if (info.engines == 0 || tern_context_ended(o->c) != 0 || tern_allocation_size(o->a) != 65536) {
        _exit(3);
    }
    REFUSED(tern_device_counters(dev, 0, &counters));
    REFUSED(tern_process_create(dev, "child", &p));
    REFUSED(tern_process_create_in(dev, "default", "child", &p));
    REFUSED(tern_partition_create(dev, &part));
    REFUSED(tern_partition_resize(dev, "child", 1u << 20));
    REFUSED(tern_partition_set_share(dev, "child", 1));
    REFUSED(tern_partition_destroy(dev, "child"));
    REFUSED(tern_partition_list(dev, NULL, 0));
    REFUSED(tern_checkpoint_save(dev, "/nowhere"));
    REFUSED(tern_checkpoint_load(dev, "/nowhere", &k));
    if (o->k) {
        call_checkpoint(o->k);
    }
    REFUSED(tern_process_status(o->p, &fault));
    REFUSED(tern_allocation_create(o->p, 4096, TERN_MEM_READ, 0, &a));
    REFUSED(tern_allocation_read(o->a, 0, &value, sizeof value));
    REFUSED(tern_allocation_write(o->a, 0, &value, sizeof value));
    REFUSED(tern_allocation_export(o->a, TERN_MEM_READ, handle));
    REFUSED(tern_allocation_import(o->p, handle, TERN_MEM_READ, 0, &a));
    REFUSED(tern_allocation_make_resident(o->a));
    REFUSED(tern_allocation_evict(o->a));
    REFUSED(tern_context_set_residency(o->c, &at, 1));
    REFUSED(tern_context_create(o->p, &desc, &c));
    REFUSED(tern_context_set_priority(o->c, TERN_BAND_IDLE, 0));
    REFUSED(tern_submit(o->c, &work, &value));
    REFUSED(submit_null(o->c, "child", &value));
    REFUSED(tern_context_take_data(o->c));
    REFUSED(submit_data(o->c, dma.w, dma.size, &value, sizeof value, "child", &value));
    REFUSED(tern_wait(o->c, o->last, -1));
    REFUSED(tern_fence_create(o->p, 0, &f));
    REFUSED(tern_fence_value(o->f, &value));
    REFUSED(tern_fence_signal(o->f, 1));
    REFUSED(tern_fence_wait(o->f, 1, -1));
    tern_process_abort(o->p, "by the child");
    tern_fence_destroy(o->f);
    tern_allocation_destroy(o->a);
    tern_context_destroy(o->c);
    REFUSED(tern_completion_queue_create(dev, &q));
    REFUSED(tern_completion_queue_fd(o->q));
    REFUSED(tern_completion_queue_take(o->q, &done, 1));
    REFUSED(tern_completion_queue_destroy(o->q));
    if (fcntl(o->q->fd, F_GETFD) != -1) {
        _exit(5); /* the device is closed */
    }
    REFUSED(tern_process_suspend(o->p));
    REFUSED(tern_process_resume(o->p));
    REFUSED(tern_process_allocations(o->p, NULL, 0));
    REFUSED(tern_process_dirty(o->p, tern_allocation_address(o->a), 4096, false, bits));
    REFUSED(tern_process_kill(o->p));
    REFUSED(tern_process_destroy(o->p));
    REFUSED(tern_device_close(dev));
    if (p || c || a || f || q || k) {
        _exit(4);
    }
}

static void test_every_call(void **state)
{
    (void)state;
    struct all o = make_all();
    for (int i = 0; i < 2; i++) {
        in_child(call_everything, &o, i);
    }
    assert_false(tern_device_inherited(dev));
    finish_all(&o);
}

static void fork_again(struct all *o)
{
    in_child(call_everything, o, true);
}

static void test_grandchild(void **state)
{
    (void)state;
    struct all o = make_all();
    in_child(fork_again, &o, true);
    finish_all(&o);
}

/** The child opens a device of its own, which must work although it also has its parent's. */
static void use_own_device(struct all *o)
{
    (void)o;
    struct tern_device *parents = dev;
    if (tern_device_open(NULL, "small,mem=64M", &dev) || tern_device_inherited(dev) ||
        !tern_device_inherited(parents)) {
        _exit(1);
    }
    struct all own = make_all();
    finish_all(&own);
    ok(tern_device_close(dev));
}

static void test_own_device(void **state)
{
    (void)state;
    struct all o = make_all();
    in_child(use_own_device, &o, true);
    finish_all(&o);
}

/** The file of the statistics was created as "/.new-...", which is its path. */
static void expect_nothing_open(struct all *o)
{
    (void)o;
    if (open_descriptors("/.new-") || open_descriptors("tern-fork-trace")) {
        _exit(1);
    }
}

/** The child keeps no file of the driver open. Otherwise a reader of the trace would see no end of file, and the lock
 * on the statistics would not be released, as long as the child lives. */
static void test_nothing_stays_open(void **state)
{
    (void)state;
    char path[] = "/tmp/tern-fork-trace-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(setenv("TERN_TRACE", path, 1), 0);
    if (getenv("TERND_SOCKET")) {
        skip(); /* the trace is ternd's, not this process's */
    }
    struct tern_device *traced = open_or_skip("small,mem=64M");
    assert_int_equal(unsetenv("TERN_TRACE"), 0);
    assert_true(open_descriptors("tern-fork-trace") > 0);
    if (!open_descriptors("/.new-")) {
        print_message("statistics are not published here: only the trace is looked at\n");
    }
    in_child(expect_nothing_open, NULL, true);
    ok(tern_device_close(traced));
    unlink(path);
}

static atomic_bool over;

static void *work_on(void *context)
{
    uint64_t fence;
    while (!atomic_load(&over)) {
        ok(submit_null(context, "busy", &fence));
        ok(tern_wait(context, fence, -1));
    }
    return NULL;
}

static void destroy_and_ask(struct all *o)
{
    uint64_t value;
    REFUSED(tern_wait(o->c, 1, -1));
    REFUSED(tern_fence_value(o->f, &value));
    tern_context_destroy(o->c);
    REFUSED(tern_device_close(dev));
}

/** The child does not wait for locks that the parent's threads held at the fork, whatever these did then. */
static void test_at_any_moment(void **state)
{
    (void)state;
    pthread_t thread;
    struct all o = make_all();
    struct tern_context *busy = context(o.p, -1);
    atomic_store(&over, false);
    assert_int_equal(pthread_create(&thread, NULL, work_on, busy), 0);
    for (int i = 0; i < 100; i++) {
        in_child(destroy_and_ask, &o, true);
    }
    atomic_store(&over, true);
    pthread_join(thread, NULL);
    tern_context_destroy(busy);
    finish_all(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_every_call, device_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_grandchild, device_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_own_device, device_setup, device_teardown),
        cmocka_unit_test(test_nothing_stays_open),
        cmocka_unit_test_setup_teardown(test_at_any_moment, device_setup, device_teardown),
    };
    return cmocka_run_group_tests_name("fork", tests, NULL, NULL);
}
