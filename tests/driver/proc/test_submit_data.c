/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Data in DMA buffers (struct tern_submission). Every kernel finds its own data, in every chunk, on both engines, while
 * it is preempted all the time. Kernels cannot write the data.
 */
#include "dut.h"
#include "open_device.h"
#include "tests/lib/submit.h"

/** Counts argument 0 down, then stores argument 2 to the address in argument 1. */
static const uint32_t code_store[] = {
    0x00052303,             /* lw t1, 0(a0) */
    0xfff30313, 0xfe031ee3, /* again: addi t1, t1, -1; bnez t1, again */
    0x00452383, 0x00852e03, /* lw t2, 4(a0); lw t3, 8(a0) */
    0x01c3a023, 0x0000100b, /* sw t3, 0(t2); exit */
};

/** Stores to its own arguments. */
static const uint32_t code_vandal[] = {0x00052023, 0x0000100b}; /* sw zero, 0(a0); exit */

#define ARGS 3u
#define DISPATCHES_MAX (TERN_DATA_MAX / (ARGS * 4))

struct scene {
    struct tern_process *p;
    struct tern_allocation *text, *stack, *out;
    uint32_t data[DISPATCHES_MAX][ARGS]; /* data of the buffer under construction */
    uint32_t n;                /* dispatches of that buffer */
};

static struct scene scene_open(const char *name)
{
    struct scene s = {.p = process(name)};
    s.text = memory(s.p, 4096, TERN_MEM_READ | TERN_MEM_EXEC);
    s.stack = memory(s.p, 1 << 20, TERN_MEM_WRITE);
    s.out = memory(s.p, 65536, TERN_MEM_WRITE);
    return s;
}

/** Makes a context that takes data. */
static struct tern_context *taker(struct tern_process *p, int32_t engine)
{
    struct tern_context *c = context(p, engine);
    ok(tern_context_take_data(c));
    ok(tern_context_take_data(c)); /* a second call changes nothing */
    return c;
}

static void scene_close(struct scene *s)
{
    tern_allocation_destroy(s->out);
    tern_allocation_destroy(s->stack);
    tern_allocation_destroy(s->text);
    ok(tern_process_destroy(s->p));
}

static void load(struct scene *s, const void *code, size_t size)
{
    ok(tern_allocation_write(s->text, 0, code, size));
}

/** Adds a dispatch that counts to n and stores the value to a word of the output. */
static void add(struct scene *s, uint32_t n, uint32_t word, uint32_t value)
{
    assert_true(s->n < DISPATCHES_MAX);
    uint32_t *args = s->data[s->n];
    args[0] = n;
    args[1] = tern_allocation_address(s->out) + 4 * word;
    args[2] = value;
    work_dispatch(&dma, tern_allocation_address(s->text), tern_allocation_address(s->stack));
    dma.w[dma.size / 4 - 32 + 2] = s->n++ * ARGS * 4; /* struct tern_pkt_dispatch: args */
}

static uint64_t send(struct scene *s, struct tern_context *c)
{
    uint64_t fence = 0;
    ok(submit_data(c, dma.w, dma.size, s->data, s->n * sizeof s->data[0], "store", &fence));
    memset(s->data, 0xee, sizeof s->data); /* the driver has copied them */
    dma.size = 0;
    s->n = 0;
    return fence;
}

static void expect_words(struct scene *s, uint32_t n, uint32_t first)
{
    uint32_t *got = calloc(n, sizeof *got);
    assert_non_null(got);
    ok(tern_allocation_read(s->out, 0, got, n * sizeof *got));
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(got[i], first + i);
    }
    free(got);
}

/** A buffer with fences that does not fit in one chunk: each chunk has the data. */
static void test_chunks(void **state)
{
    (void)state;
    struct scene s = scene_open("chunks");
    struct tern_context *c = taker(s.p, 0);
    struct tern_fence *f;
    load(&s, code_store, sizeof code_store);
    ok(tern_fence_create(s.p, 0, &f));
    for (uint32_t i = 0; i < 120; i++) {
        add(&s, 1 + i % 3, i, 1000 + i);
        if (i > 100 && i % 10 == 5) {
            work_signal(&dma, tern_fence_address(f), i);
            work_wait(&dma, tern_fence_address(f), i);
        }
    }
    while (s.n < DISPATCHES_MAX) { /* as much data as a buffer may have */
        s.n++;
    }
    ok(tern_wait(c, send(&s, c), -1));
    expect_words(&s, 120, 1000);
    tern_context_destroy(c);
    tern_fence_destroy(f);
    scene_close(&s);
}

/** Many buffers in a row on two contexts that share the engines and are preempted all the time. */
static void crowd(uint32_t buffers, uint32_t count)
{
    struct scene s = scene_open("crowd");
    struct tern_context *c[2] = {taker(s.p, -1), taker(s.p, -1)};
    uint64_t last[2] = {0};
    load(&s, code_store, sizeof code_store);
    for (uint32_t i = 0; i < buffers; i++) {
        add(&s, count, 2 * i, 7000 + 2 * i);
        add(&s, count, 2 * i + 1, 7000 + 2 * i + 1);
        last[i % 2] = send(&s, c[i % 2]);
    }
    ok(tern_wait(c[0], last[0], -1));
    ok(tern_wait(c[1], last[1], -1));
    expect_words(&s, 2 * buffers, 7000);
    tern_context_destroy(c[0]);
    tern_context_destroy(c[1]);
    scene_close(&s);
}

static void test_one_after_another(void **state)
{
    (void)state;
    crowd(40, 3);
}

static void test_preempted(void **state)
{
    (void)state;
    ok(tern_device_close(dev));
    dev = open_or_skip("small,mem=64M,preempt=700");
    crowd(12, 300);
}

/** A kernel cannot write its arguments. */
static void test_read_only(void **state)
{
    (void)state;
    struct scene s = scene_open("vandal");
    struct tern_context *c = taker(s.p, 0);
    struct tern_fault fault = {.size = sizeof fault};
    load(&s, code_vandal, sizeof code_vandal);
    add(&s, 1, 0, 0);
    assert_int_equal(tern_wait(c, send(&s, c), -1), -EIO);
    assert_int_equal(tern_process_status(s.p, &fault), -EIO);
    assert_int_equal(fault.code, TERN_FAULT_PROTECTION);
    assert_int_equal(fault.access, 1);
    assert_int_equal(fault.address % 128, 0);
    tern_context_destroy(c);
    scene_close(&s);
}

static void test_errors(void **state)
{
    (void)state;
    static const uint8_t big[TERN_DATA_MAX + 1];
    struct scene s = scene_open("errors");
    struct tern_context *c = context(s.p, 0);
    uint64_t fence = 77;
    load(&s, code_store, sizeof code_store);
    add(&s, 1, 0, 5);
    assert_int_equal(submit_data(c, dma.w, dma.size, s.data, 12, "not ready", &fence), -EINVAL);
    assert_non_null(strstr(tern_last_error(), "tern_context_take_data"));
    ok(tern_context_take_data(c));
    assert_int_equal(submit_data(c, dma.w, dma.size, big, sizeof big, "big", &fence), -EINVAL);
    dma.w[2] = 12;
    assert_int_equal(submit_data(c, dma.w, dma.size, s.data, 12, "beyond", &fence), -EINVAL);
    assert_non_null(strstr(tern_last_error(), "byte 12 of 12"));
    dma.w[2] = UINT32_MAX;
    assert_int_equal(submit_data(c, dma.w, dma.size, s.data, 12, "far beyond", &fence), -EINVAL);
    assert_int_equal(fence, 77);
    dma.w[2] = 0;
    ok(tern_wait(c, send(&s, c), -1));
    expect_words(&s, 1, 5);
    tern_context_destroy(c);
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_chunks, device_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_one_after_another, device_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_preempted, device_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_read_only, device_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_errors, device_setup, device_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
