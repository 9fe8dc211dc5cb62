/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A device without SIMT executor, which it reports. Tested are copies, fills and fences of two processes whose memory
 * has the same addresses; three processes that are preempted within calls of a user executor; and calls that are
 * preempted and resumed on another such device, from the model to the RTL and back. A kernel fails its process with a
 * sentence, and no other process.
 */
#include "migration.h"
#include "open_device.h"

#define CONFIG "shell,mem=32M,timeout=200000,quantum=2000"
#define PATIENCE 600000 /* ms, enough for a busy host and a slow device */
#define N 40000u        /* elements of a call, which takes many quanta */

/** A process that computes y = 2 x + y by the user executor, on numbers of its own that float32 represents exactly. */
struct caller {
    struct tern_process *p;
    struct tern_context *c;
    struct tern_allocation *x, *y;
    uint32_t own;
    uint64_t fence;
};

static float *numbers(uint32_t own, uint32_t step)
{
    float *v = malloc(N * sizeof *v);
    assert_non_null(v);
    for (uint32_t i = 0; i < N; i++) {
        v[i] = (float)(i * step % 65521u + own);
    }
    return v;
}

static void caller_open(struct caller *k, uint32_t own)
{
    float *x = numbers(own, 1), *y = numbers(own, 7);
    *k = (struct caller){.p = process("calls"), .own = own};
    k->c = context(k->p, -1);
    k->x = memory(k->p, N * sizeof *x, TERN_MEM_READ);
    k->y = memory(k->p, N * sizeof *y, TERN_MEM_READ | TERN_MEM_WRITE);
    ok(tern_allocation_write(k->x, 0, x, N * sizeof *x));
    ok(tern_allocation_write(k->y, 0, y, N * sizeof *y));
    free(x);
    free(y);
}

static void caller_begin(struct caller *k)
{
    const float a = 2;
    struct tern_pkt_user_call call = {.executor = TERN_EXECUTOR_ID_SAXPY};
    call.payload[TERN_USER_SAXPY_N] = N;
    memcpy(&call.payload[TERN_USER_SAXPY_A], &a, sizeof a);
    call.payload[TERN_USER_SAXPY_X] = tern_allocation_address(k->x);
    call.payload[TERN_USER_SAXPY_Y] = tern_allocation_address(k->y);
    ok(tern_pkt_user_call_pack(&call, work_add(&dma, 2)));
    k->fence = work_submit(&dma, k->c, "saxpy");
}

/** Waits for the call and checks its result. */
static void caller_expect(struct caller *k)
{
    float *x = numbers(k->own, 1), *y = numbers(k->own, 7), *got = malloc(N * sizeof *got);
    assert_non_null(got);
    ok(tern_wait(k->c, k->fence, PATIENCE));
    ok(tern_allocation_read(k->y, 0, got, N * sizeof *got));
    for (uint32_t i = 0; i < N; i++) {
        y[i] += 2 * x[i];
    }
    assert_memory_equal(got, y, N * sizeof *got);
    free(x);
    free(y);
    free(got);
}

static void caller_close(struct caller *k)
{
    tern_context_destroy(k->c);
    tern_allocation_destroy(k->x);
    tern_allocation_destroy(k->y);
    ok(tern_process_destroy(k->p));
}

static struct tern_context_stats context_stats(struct tern_context *c)
{
    struct tern_context_stats s = {.size = sizeof s};
    tern_context_query(c, &s);
    return s;
}

static void test_info(void **state)
{
    (void)state;
    struct tern_device_info i = {.size = sizeof i};
    dev = open_or_skip(CONFIG);
    ok(tern_device_query(dev, &i));
    assert_true(i.engines == 1 && i.lanes == 0 && i.warps == 0 && i.local_bytes == 0);
    assert_true(i.executors == TERN_EXECUTORS && i.executors > 0);
    assert_string_equal(i.config, CONFIG);
    ok(tern_device_close(dev));
}

/** Copies, fills, fences and data of two processes whose memory has the same virtual addresses. */
static void test_copies(void **state)
{
    (void)state;
    enum { BYTES = 300000 };
    struct tern_process *p[2];
    struct tern_context *c[2];
    struct tern_allocation *from[2], *to[2];
    struct tern_fence *gate[2];
    uint64_t fence[2];
    dev = open_or_skip(CONFIG);
    dma.size = 0;
    for (uint32_t i = 0; i < 2; i++) {
        p[i] = process("copies");
        c[i] = context(p[i], 0);
        ok(tern_allocation_create(p[i], BYTES, TERN_MEM_WRITE, 0x40000000, &from[i]));
        ok(tern_allocation_create(p[i], BYTES, TERN_MEM_WRITE, 0x50000000, &to[i]));
        ok(tern_fence_create(p[i], 0, &gate[i]));
        work_wait(&dma, tern_fence_address(gate[i]), 1);
        work_fill(&dma, tern_allocation_address(from[i]), BYTES, (uint8_t)(0x11 + i));
        work_copy(&dma, tern_allocation_address(to[i]) + 5, tern_allocation_address(from[i]) + 3, BYTES - 5);
        work_signal(&dma, tern_fence_address(gate[i]), 2);
        fence[i] = work_submit(&dma, c[i], "copy");
    }
    for (uint32_t i = 2; i-- > 0;) { /* the second one first: it does not wait behind the first */
        uint64_t value;
        ok(tern_fence_signal(gate[i], 1));
        ok(tern_wait(c[i], fence[i], PATIENCE));
        ok(tern_fence_value(gate[i], &value));
        assert_int_equal(value, 2);
        expect_bytes(to[i], 5, BYTES - 5, (uint8_t)(0x11 + i));
        expect_bytes(to[i], 0, 5, 0);
    }
    for (uint32_t i = 0; i < 2; i++) {
        tern_fence_destroy(gate[i]);
        tern_context_destroy(c[i]);
        tern_allocation_destroy(from[i]);
        tern_allocation_destroy(to[i]);
        ok(tern_process_destroy(p[i]));
    }
    ok(tern_device_close(dev));
}

/** Three processes share the user executor and are preempted within their calls. */
static void test_preempt(void **state)
{
    (void)state;
    struct caller k[3];
    uint64_t cuts = 0;
    dev = open_or_skip(CONFIG);
    dma.size = 0;
    for (uint32_t i = 0; i < 3; i++) {
        caller_open(&k[i], 1000 * i);
    }
    for (uint32_t i = 0; i < 3; i++) {
        caller_begin(&k[i]);
    }
    for (uint32_t i = 0; i < 3; i++) {
        caller_expect(&k[i]);
        cuts += context_stats(k[i].c).preempted;
        caller_close(&k[i]);
    }
    print_message("preempted: %llu times\n", (unsigned long long)cuts);
    assert_true(cuts > 3);
    ok(tern_device_close(dev));
}

/** A call that is preempted within its work goes on on another such device. */
static void test_migrate(void **state)
{
    (void)state;
    uint32_t cuts = 0;
    open_both(CONFIG);
    for (uint32_t i = 0; i < 6; i++) {
        uint32_t n;
        struct caller k;
        caller_open(&k, 77 * i);
        breakpoint_set(here, dev, k.p, 500 + 1700 * i);
        caller_begin(&k);
        breakpoint_await(here, k.c);
        struct journey j = depart(&k.p, 1, NULL);
        struct tern_process *before = k.p;
        cuts += k.c->sched.requeued_count && k.c->sched.requeued[0].resume;
        k.x = tern_loading_allocation(j.loading, 0, tern_allocation_address(k.x));
        k.y = tern_loading_allocation(j.loading, 0, tern_allocation_address(k.y));
        k.c = tern_loading_context(j.loading, 0, 0, &n);
        k.p = tern_loading_process(j.loading, 0, &n);
        arrive(&j);
        forget(before);
        caller_expect(&k);
        caller_close(&k);
    }
    print_message("stopped in the middle: %u of 6\n", cuts);
    assert_true(cuts >= 3);
    close_both();
}

/** A dispatch, also behind a copy in its buffer, fails its process with a sentence. The other process is not
 * affected. */
static void test_kernel(void **state)
{
    (void)state;
    struct caller k;
    dev = open_or_skip(CONFIG);
    dma.size = 0;
    caller_open(&k, 5);
    for (uint32_t behind = 0; behind < 2; behind++) {
        struct tern_fault f = {.size = sizeof f};
        struct tern_process *p = process("kernel");
        struct tern_context *c = context(p, 0);
        struct tern_allocation *m = memory(p, 65536, TERN_MEM_WRITE);
        if (behind) {
            work_copy(&dma, tern_allocation_address(m) + 4096, tern_allocation_address(m), 4096);
        }
        work_dispatch(&dma, tern_allocation_address(m), tern_allocation_address(m));
        const uint64_t fence = work_submit(&dma, c, "vector_add");
        caller_begin(&k);
        assert_int_equal(tern_wait(c, fence, PATIENCE), -EIO);
        assert_int_equal(tern_process_status(p, &f), -EIO);
        assert_int_equal(f.code, TERN_FAULT_PACKET_UNKNOWN);
        assert_int_equal(f.offset, 64 * behind);
        if (!strstr(f.message, "vector_add") || !strstr(f.message, "no SIMT executor")) {
            fail_msg("'%s' does not say what is missing", f.message);
        }
        ok(tern_wait(k.c, k.fence, PATIENCE));
        tern_context_destroy(c);
        tern_allocation_destroy(m);
        ok(tern_process_destroy(p));
    }
    caller_close(&k);
    ok(tern_device_close(dev));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_info), cmocka_unit_test(test_copies),
                                       cmocka_unit_test(test_preempt), cmocka_unit_test(test_migrate),
                                       cmocka_unit_test(test_kernel)};
    return cmocka_run_group_tests_name("shell", tests, NULL, NULL);
}
