/* SPDX-License-Identifier: Apache-2.0 */
/** Monitored fences, callbacks, and many threads at once (S3, C5, C7). */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "check.h"
#include "open_device.h"
#include "tests/lib/submit.h"
#include "work.h"

static struct tern_device *dev;

static int setup(void **state)
{
    (void)state;
    dev = open_or_skip("small,mem=64M");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    ok(tern_device_close(dev));
    return 0;
}

static struct tern_context *context(struct tern_process *p, int32_t engine, tern_completion_fn fn, void *user)
{
    struct tern_context *c;
    struct tern_context_desc d = {.size = sizeof d, .name = "test", .engine = engine, .completed = fn, .user = user};
    ok(tern_context_create(p, &d, &c));
    return c;
}

static int engines(void)
{
    struct tern_device_info i = {.size = sizeof i};
    tern_device_query(dev, &i);
    return (int)i.engines;
}

/* ------------------------------------------------------------------ fences */

static void test_fence_cpu(void **state)
{
    (void)state;
    struct tern_process *p;
    struct tern_fence *f;
    uint64_t v = 0;
    ok(tern_process_create(dev, "cpu", &p));
    ok(tern_fence_create(p, 41, &f));
    ok(tern_fence_value(f, &v));
    assert_true(v == 41);
    assert_int_equal(tern_fence_address(f) % 8, 0);
    ok(tern_fence_wait(f, 41, 0));
    assert_int_equal(tern_fence_wait(f, 42, 0), -ETIMEDOUT);
    assert_int_equal(tern_fence_wait(f, 42, 20), -ETIMEDOUT);
    ok(tern_fence_signal(f, UINT64_MAX));
    ok(tern_fence_wait(f, UINT64_MAX, -1));
    assert_int_equal(tern_process_destroy(p), -EBUSY);
    tern_fence_destroy(f);
    ok(tern_process_destroy(p));
}

#define STEPS 40u

static void test_fence_orders_engines(void **state)
{
    (void)state;
    static struct work b;
    struct tern_process *p;
    struct tern_fence *f;
    struct tern_allocation *a;
    struct tern_context *c[STEPS];
    ok(tern_process_create(dev, "relay", &p));
    ok(tern_fence_create(p, 0, &f));
    ok(tern_allocation_create(p, 4096, TERN_MEM_WRITE, 0, &a));
    uint32_t at = tern_allocation_address(a), fence = tern_fence_address(f);
    /* each copies the result of the other engine; the last step is submitted first */
    for (uint32_t i = 0; i < STEPS; i++) {
        uint32_t k = STEPS - 1 - i;
        c[k] = context(p, k % 2 ? engines() - 1 : 0, NULL, NULL);
        work_wait(&b, fence, k + 1);
        work_copy(&b, at + 64 * (k + 1), at + 64 * k, 64);
        work_signal(&b, fence, k + 2);
        work_submit(&b, c[k], "step");
    }
    for (int e = 0; e < engines(); e++) { /* waits keep no engine: other work runs, and none of the steps */
        struct tern_context *other = context(p, e, NULL, NULL);
        work_fill(&b, at + 64 * (STEPS + 1), 64, 1);
        work_run(&b, other, "other");
        tern_context_destroy(other);
    }
    for (uint32_t k = 0; k < STEPS; k++) {
        struct tern_context_stats s = {.size = sizeof s};
        ok(tern_context_query(c[k], &s));
        assert_true(s.submitted == 1 && s.completed == 0 && s.cycles == 0 && s.preempted == 0);
    }
    uint8_t got[64], want[64];
    memset(want, 0x5c, sizeof want);
    ok(tern_allocation_write(a, 0, want, sizeof want));
    ok(tern_fence_signal(f, 1));
    ok(tern_fence_wait(f, STEPS + 1, -1));
    ok(tern_allocation_read(a, STEPS * 64, got, sizeof got));
    assert_memory_equal(got, want, sizeof got);
    for (uint32_t k = 0; k < STEPS; k++) {
        tern_context_destroy(c[k]);
    }
    tern_fence_destroy(f);
    tern_allocation_destroy(a);
    ok(tern_process_destroy(p));
}

/** CPU and engine answer each other 100 times. A lost wake-up would stop them for ever. */
static void test_fence_ping_pong(void **state)
{
    (void)state;
    static struct work b;
    struct tern_process *p;
    struct tern_fence *ping, *pong;
    ok(tern_process_create(dev, "pingpong", &p));
    ok(tern_fence_create(p, 0, &ping));
    ok(tern_fence_create(p, 0, &pong));
    struct tern_context *c = context(p, -1, NULL, NULL);
    for (uint64_t i = 1; i <= 100; i++) {
        work_wait(&b, tern_fence_address(ping), i);
        work_signal(&b, tern_fence_address(pong), i);
    }
    uint64_t last = work_submit(&b, c, "pong");
    for (uint64_t i = 1; i <= 100; i++) {
        uint64_t v;
        ok(tern_fence_value(pong, &v));
        assert_true(v == i - 1); /* the engine still waits */
        ok(tern_fence_signal(ping, i));
        ok(tern_fence_wait(pong, i, 200000));
    }
    ok(tern_wait(c, last, -1));
    tern_context_destroy(c);
    tern_fence_destroy(ping);
    tern_fence_destroy(pong);
    ok(tern_process_destroy(p));
}

static void test_fence_of_a_process_in_error(void **state)
{
    (void)state;
    static struct work b;
    struct tern_process *p;
    struct tern_fence *f;
    ok(tern_process_create(dev, "error", &p));
    ok(tern_fence_create(p, 0, &f));
    struct tern_context *c = context(p, 0, NULL, NULL), *blocked = context(p, 0, NULL, NULL);
    work_wait(&b, tern_fence_address(f), 1);
    uint64_t never = work_submit(&b, blocked, "never");
    work_fill(&b, 0x10000000, 64, 1);
    work_submit(&b, c, "fault");
    assert_int_equal(tern_fence_wait(f, 1, -1), -EIO); /* the process is in error, so the fence will not be signalled */
    assert_int_equal(tern_wait(blocked, never, -1), -EIO);
    tern_context_destroy(c);
    tern_context_destroy(blocked);
    tern_fence_destroy(f);
    ok(tern_process_destroy(p));
}

/* --------------------------------------------------------------- callbacks */

struct chain {
    struct tern_context *c;
    struct work b;
    atomic_uint told, wrong;
    uint64_t last_end;
};

static void chained(void *user, const struct tern_completion *done)
{
    struct chain *k = user;
    struct tern_context_stats s = {.size = sizeof s};
    unsigned n = atomic_fetch_add(&k->told, 1) + 1;
    tern_context_query(k->c, &s);
    bool fine = done->fence == n && done->result == TERN_COMPLETED && done->end > done->begin &&
        done->begin >= k->last_end &&
                done->begin >= done->submitted && tern_context_ended(k->c) == n - 1 && s.completed == n;
    k->last_end = done->end;
    if (n < 50) { /* the callback submits the next buffer */
        fine = fine && submit_packets(k->c, k->b.w, k->b.size, "next", NULL) == 0;
    }
    atomic_fetch_add(&k->wrong, fine ? 0 : 1);
}

static void test_callbacks(void **state)
{
    (void)state;
    static struct chain k;
    struct tern_process *p;
    struct tern_allocation *a;
    memset(&k, 0, sizeof k);
    ok(tern_process_create(dev, "chain", &p));
    ok(tern_allocation_create(p, 4096, TERN_MEM_WRITE, 0, &a));
    k.c = context(p, -1, chained, &k);
    work_fill(&k.b, tern_allocation_address(a), 4096, 9);
    ok(submit_packets(k.c, k.b.w, k.b.size, "first", NULL));
    tern_context_destroy(k.c); /* also waits for buffers that callbacks submit */
    assert_int_equal(atomic_load(&k.told), 50);
    assert_int_equal(atomic_load(&k.wrong), 0);
    tern_allocation_destroy(a);
    ok(tern_process_destroy(p));
}

/* ------------------------------------------------------------ many threads */

struct worker {
    pthread_t thread;
    unsigned number;
    struct work b;
    unsigned told;
    char error[300];
};

static void count(void *user, const struct tern_completion *done)
{
    struct worker *w = user;
    w->told += done->fence == w->told + 1 && done->result == TERN_COMPLETED;
}

#define TRY(call)                                                                                             \
    do {                                                                                                      \
        if (call) {                                                                                           \
            snprintf(w->error, sizeof w->error, "thread %u: %s: %.200s", w->number, #call, tern_last_error()); \
            return NULL;                                                                                      \
        }                                                                                                     \
    } while (0)

/** A process that allocates, fills, copies, frees memory with work in flight, and checks each result. */
static void *busy(void *arg)
{
    struct worker *w = arg;
    struct tern_process *p;
    struct tern_context *c;
    struct tern_context_desc d = {.size = sizeof d, .engine = -1, .completed = count, .user = w};
    struct tern_allocation *to;
    uint8_t got[5000];
    TRY(tern_process_create(dev, "busy", &p));
    TRY(tern_context_create(p, &d, &c));
    TRY(tern_allocation_create(p, sizeof got, TERN_MEM_WRITE, 0, &to));
    for (uint32_t i = 0; i < 30; i++) {
        struct tern_allocation *a;
        uint8_t value = (uint8_t)(i * 7 + w->number);
        uint64_t fence;
        TRY(tern_allocation_create(p, 50000, TERN_MEM_WRITE, 0, &a));
        work_fill(&w->b, tern_allocation_address(a), 50000, value);
        work_copy(&w->b, tern_allocation_address(to), tern_allocation_address(a) + 40000, sizeof got);
        TRY(submit_packets(c, w->b.w, w->b.size, "busy", &fence));
        w->b.size = 0;
        tern_allocation_destroy(a);
        TRY(tern_wait(c, fence, -1));
        TRY(tern_allocation_read(to, 0, got, sizeof got));
        for (size_t k = 0; k < sizeof got; k++) {
            if (got[k] != value) {
                snprintf(w->error, sizeof w->error, "thread %u: round %u, byte %zu is %u, not %u", w->number, i, k,
                         got[k], value);
                return NULL;
            }
        }
    }
    tern_context_destroy(c);
    tern_allocation_destroy(to);
    TRY(tern_process_destroy(p));
    return NULL;
}

#define WORKERS 6

static void test_many_processes(void **state)
{
    (void)state;
    static struct worker w[WORKERS];
    memset(w, 0, sizeof w);
    for (unsigned i = 0; i < WORKERS; i++) {
        w[i].number = i;
        assert_int_equal(pthread_create(&w[i].thread, NULL, busy, &w[i]), 0);
    }
    for (int i = 0; i < WORKERS; i++) {
        pthread_join(w[i].thread, NULL);
    }
    for (int i = 0; i < WORKERS; i++) {
        if (w[i].error[0]) {
            fail_msg("%s", w[i].error);
        }
        assert_int_equal(w[i].told, 30);
    }
}

#define ATTEMPTS 100 /* one must succeed; the host may not run this thread during the others */

/** Host copies proceed while an engine is busy: the device thread does not keep the hal lock. */
static void test_host_is_not_starved(void **state)
{
    (void)state;
    struct tern_device_info info = {.size = sizeof info};
    tern_device_query(dev, &info);
    const uint32_t log2_loops = strcmp(info.backend, "rtl") == 0 ? 17 : 23; /* about a second in each case */
    const uint32_t code[] = {0x00100293,                   /* li t0, 1 */
                             0x00029293 | log2_loops << 20, /* slli t0, t0, log2_loops */
                             0xfff28293,                   /* addi t0, t0, -1 */
                             0xfe029ee3,                   /* bnez t0, -4 */
                             0x0000100b /* exit */};
    static struct work b;
    struct tern_process *p;
    struct tern_allocation *text, *stack, *a;
    ok(tern_process_create(dev, "spin", &p));
    ok(tern_allocation_create(p, 4096, TERN_MEM_READ | TERN_MEM_EXEC, 0, &text));
    ok(tern_allocation_create(p, 65536, TERN_MEM_WRITE, 0, &stack));
    ok(tern_allocation_create(p, 1u << 20, TERN_MEM_WRITE, 0, &a));
    ok(tern_allocation_write(text, 0, code, sizeof code));
    struct tern_context *c = context(p, 0, NULL, NULL);
    uint8_t *data = calloc(1, 1u << 20);
    assert_non_null(data);
    int copies = 0;
    for (int i = 0; i < ATTEMPTS && copies <= 1; i++) {
        work_dispatch(&b, tern_allocation_address(text), tern_allocation_address(stack));
        const uint64_t fence = work_submit(&b, c, "spin");
        for (copies = 0; tern_context_ended(c) < fence && copies < 20; copies++) {
            ok(tern_allocation_write(a, 0, data, 1u << 20));
        }
        ok(tern_wait(c, fence, -1));
    }
    assert_true(copies > 1); /* several copies during one kernel */
    free(data);
    tern_context_destroy(c);
    tern_allocation_destroy(text);
    tern_allocation_destroy(stack);
    tern_allocation_destroy(a);
    ok(tern_process_destroy(p));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(test_fence_cpu),       T(test_fence_orders_engines), T(test_fence_ping_pong),
            T(test_fence_of_a_process_in_error),
        T(test_callbacks),       T(test_many_processes),       T(test_host_is_not_starved),
    };
    return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
