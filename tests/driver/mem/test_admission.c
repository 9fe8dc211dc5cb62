/* SPDX-License-Identifier: Apache-2.0 */
/** tern_submit refuses work whose memory does not fit on the device at once. A refusal changes nothing, also through
 * ternd. */
#include "dut.h"
#include "open_device.h"
#include "tests/lib/submit.h"

static int setup_small(void **state)
{
    (void)state;
    dev = open_or_skip("small,mem=16M,host=48M,timeout=200000");
    dma.size = 0;
    return 0;
}

static atomic_uint told;

static void count(void *user, const struct tern_completion *c)
{
    (void)user;
    told++;
    assert_int_equal(c->fence, told);
    assert_int_equal(c->result, TERN_COMPLETED);
}

static void refused(struct tern_context *c, const char *why)
{
    uint64_t fence = 77;
    assert_int_equal(submit_packets(c, dma.w, dma.size, "refused", &fence), -ENOSPC);
    assert_int_equal(fence, 77);
    if (!strstr(tern_last_error(), why)) {
        print_error("'%s'\n", tern_last_error());
        fail();
    }
}

/** Adds a call of a user executor on these allocations. The driver does not know how far a call reaches, so it needs
 *  all of them at once. */
static void call_on(struct tern_allocation **a)
{
    const struct tern_executor *e = tern_executor_find(0);
    struct tern_pkt_user_call call = {.executor = TERN_EXECUTOR_ID_SAXPY};
    for (uint32_t i = 0, n = 0; i < e->n_args; i++) {
        call.payload[e->args[i].word] = e->args[i].pointer ? tern_allocation_address(a[n++]) : 1;
    }
    dma.size = 0;
    ok(tern_pkt_user_call_pack(&call, work_add(&dma, 2)));
}

static void test_refused(void **state)
{
    (void)state;
    struct tern_process *p = process("much");
    struct tern_allocation *a[3];
    struct tern_context *c[2];
    struct tern_completion_queue *q;
    struct tern_completion got[4] = {{.size = sizeof *got}};
    ok(tern_completion_queue_create(dev, &q));
    const struct tern_context_desc d[2] = {{.size = sizeof *d, .engine = -1, .completed = count},
                                           {.size = sizeof *d, .engine = -1, .completions = q}};
    for (int i = 0; i < 2; i++) {
        ok(tern_context_create(p, &d[i], &c[i]));
        assert_int_equal(tern_pkt_nop_pack(&(struct tern_pkt_nop){0}, work_add(&dma, 1)), 0);
        assert_int_equal(work_submit(&dma, c[i], "fits"), 1);
    }
    for (int i = 0; i < 3; i++) {
        a[i] = memory(p, 8 * MIB, TERN_MEM_READ | TERN_MEM_WRITE);
    }
    const uint32_t last = tern_allocation_address(a[2]);
    for (int i = 0; i < 2; i++) {
        ok(tern_wait(c[i], 1, -1));
        call_on(a + 1);
        for (int k = 0; k < 20; k++) {
            refused(c[i], "16384 KiB");
        }
        dma.size = 0;
        work_fill(&dma, last, MIB, 0x5a);
        assert_int_equal(tern_context_ended(c[i]), 1);
        ok(submit_null(c[i], "null", NULL)); /* a null submission uses no memory */
        ok(tern_context_set_residency(c[i], &last, 1));
        assert_int_equal(work_submit(&dma, c[i], "one"), 3);
        ok(tern_wait(c[i], 3, -1));
        ok(tern_process_status(p, NULL));
    }
    expect_bytes(a[2], 0, MIB, 0x5a);
    assert_int_equal(tern_completion_queue_take(q, got, 4), 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(got[i].fence, i + 1);
    }
    ok(tern_context_set_residency(c[0], NULL, 0)); /* all memory again, which is taken as soon as it fits */
    call_on(a + 1);
    refused(c[0], "16384 KiB");
    dma.size = 0;
    work_fill(&dma, last, MIB, 0x6b);
    tern_allocation_destroy(a[0]);
    tern_allocation_destroy(a[1]);
    ok(tern_wait(c[0], work_submit(&dma, c[0], "all"), -1));
    expect_bytes(a[2], 0, MIB, 0x6b);
    tern_allocation_destroy(a[2]);
    tern_context_destroy(c[0]);
    tern_context_destroy(c[1]);
    ok(tern_completion_queue_destroy(q));
    ok(tern_process_destroy(p));
}

/** Two processes that do not fit beside each other are never refused, whatever was evicted. */
static void test_taken_turns(void **state)
{
    (void)state;
    struct tern_process *p[2];
    struct tern_context *c[2];
    struct tern_allocation *a[2];
    for (int i = 0; i < 2; i++) {
        p[i] = process("turns");
        c[i] = context(p[i], -1);
        a[i] = memory(p[i], 10 * MIB, TERN_MEM_READ | TERN_MEM_WRITE);
    }
    for (unsigned round = 1; round <= 3; round++) {
        uint64_t fence[2];
        for (unsigned i = 0; i < 2; i++) {
            dma.size = 0;
            work_fill(&dma, tern_allocation_address(a[i]), 10 * MIB, (uint8_t)(2 * round + i));
            fence[i] = work_submit(&dma, c[i], "turn");
        }
        for (unsigned i = 0; i < 2; i++) {
            ok(tern_wait(c[i], fence[i], -1));
            expect_bytes(a[i], 0, 10 * MIB, (uint8_t)(2 * round + i));
        }
    }
    for (int i = 0; i < 2; i++) {
        tern_allocation_destroy(a[i]);
        tern_context_destroy(c[i]);
        ok(tern_process_destroy(p[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_refused, setup_small, device_teardown),
        cmocka_unit_test_setup_teardown(test_taken_turns, setup_small, device_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
