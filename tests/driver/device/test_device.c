/* SPDX-License-Identifier: Apache-2.0 */
/** The driver on a whole device: refused arguments, long work, and faults (C2, C5, F1, F2). */
#include "dut.h"
#include "tests/lib/submit.h"

static void test_query(void **state)
{
    (void)state;
    struct tern_device_info i = {.size = sizeof i};
    struct tern_engine_counters c = {.size = sizeof c};
    tern_device_query(dev, &i);
    assert_true(i.engines >= 1 && i.lanes == 8 && i.warps == 8 && i.local_bytes && i.clock_hz &&
                i.dirty_page_bytes >= 4096);
    assert_true(i.memory_bytes == 64u << 20 && i.resident_bytes < i.memory_bytes && i.resident_bytes > 60u << 20 &&
                i.allocatable_bytes == i.resident_bytes + (192u << 20));
    assert_string_equal(i.config, "small,mem=64M,timeout=200000");
    uint64_t t = tern_device_time(dev);
    assert_true(tern_device_time(dev) > t);
    ok(tern_device_counters(dev, i.engines - 1, &c));
    assert_int_equal(tern_device_counters(dev, i.engines, &c), -EINVAL);
}

static void note_time(void *user, const struct tern_completion *c)
{
    *(uint64_t *)user = c->end;
}

/** tern_device_time_seen needs no access to the device, and is never before the end of a completed buffer. */
static void test_time_seen(void **state)
{
    (void)state;
    uint64_t end = 0, t = tern_device_time(dev);
    assert_int_equal(tern_device_time_seen(dev), t);
    assert_int_equal(tern_device_time_seen(dev), t);
    struct tern_process *p = process("time");
    struct tern_context *c = NULL;
    struct tern_context_desc d = {.size = sizeof d, .name = "time", .engine = 0, .completed = note_time, .user = &end};
    ok(tern_context_create(p, &d, &c));
    struct tern_allocation *a = memory(p, 4096, TERN_MEM_WRITE);
    for (int i = 0; i < 50; i++) {
        work_fill(&dma, tern_allocation_address(a), 64, (uint8_t)i);
        work_run(&dma, c, "time");
        assert_true(end > t);
        t = tern_device_time_seen(dev);
        assert_true(t >= end);
    }
    tern_context_destroy(c);
    tern_allocation_destroy(a);
    ok(tern_process_destroy(p));
}

static void test_invalid_arguments(void **state)
{
    (void)state;
    struct tern_process *p = process("args");
    struct tern_context *c = context(p, 0);
    struct tern_allocation *a = (void *)1;
    struct tern_context_desc d = {.size = sizeof d, .engine = 99};
    assert_int_equal(tern_allocation_create(p, 0, TERN_MEM_READ, 0, &a), -EINVAL);
    assert_int_equal(tern_allocation_create(p, 1, 0, 0, &a), -EINVAL);
    assert_int_equal(tern_allocation_create(p, 1, 8, 0, &a), -EINVAL);
    assert_int_equal(tern_allocation_create(p, 1, TERN_MEM_READ, 0x12345, &a), -EINVAL);
    assert_int_equal(tern_allocation_create(p, 1, TERN_MEM_READ, 0x1000, &a), -EINVAL);
    assert_int_equal(tern_allocation_create(p, 1, TERN_MEM_READ, 0xdfff0000u, &a), -EINVAL);
    assert_int_equal(tern_allocation_create(p, 0x2000, TERN_MEM_READ, 0xdffef000u, &a), -ENOSPC);
    assert_int_equal(tern_allocation_create(p, UINT64_MAX, TERN_MEM_READ, 0, &a), -ENOSPC);
    assert_ptr_equal(a, (void *)1);
    assert_int_equal(tern_context_create(p, &d, &c), -EINVAL);
    d = (struct tern_context_desc){.size = sizeof d, .weight = 1001};
    assert_int_equal(tern_context_create(p, &d, &c), -EINVAL);
    assert_int_equal(tern_wait(c, 1, -1), -EINVAL);
    assert_int_equal(tern_process_destroy(p), -EBUSY);
    assert_int_equal(tern_device_close(dev), -EBUSY);
    tern_context_destroy(c);
    ok(tern_process_destroy(p));
}

/** A submission with a field out of its range is refused, and the sentence names the field. Nothing is queued. */
static void test_invalid_submissions(void **state)
{
    (void)state;
    struct tern_process *p = process("args");
    struct tern_context *c = context(p, 0);
    uint64_t fence = 77;
    work_fill(&dma, 0x10000, 64, 1);
    const uint32_t size = sizeof(struct tern_submission);
    const struct {
        struct tern_submission s;
        const char *says;
    } bad[] = {
        {{0, .packets = dma.w, .packet_bytes = 64}, "the field size of a struct is 0"},
        {{3, .packets = dma.w, .packet_bytes = 64}, "the field size of a struct is 3"},
        {{size, .flags = 2, .packets = dma.w, .packet_bytes = 64}, "no flags 0x2"},
        {{size, .flags = 1u << 31, .packets = dma.w, .packet_bytes = 64}, "no flags 0x80000000"},
        {{size, .flags = UINT32_MAX}, "no flags 0xfffffffe"},
        {{size, .packets = dma.w}, "a DMA buffer of 0 bytes"},
        {{size, .packets = dma.w, .packet_bytes = 65}, "a DMA buffer of 65 bytes"},
        {{size, .packets = dma.w, .packet_bytes = TERN_PACKETS_MAX + 64}, "a DMA buffer of 1048640 bytes"},
        {{.size = size}, "a DMA buffer of 0 bytes"},
        {{size, .packet_bytes = 64}, "packets of a submission are NULL, and packet_bytes is 64"},
        {{size, .packets = dma.w, .packet_bytes = 64, .data_bytes = 8}, "data of a submission are NULL"},
        {{size, .packets = dma.w, .packet_bytes = 64, .data = dma.w, .data_bytes = TERN_DATA_MAX + 1}, "8193 bytes"},
        {{size, .packets = dma.w, .packet_bytes = 64, .data = dma.w, .data_bytes = 8}, "tern_context_take_data"},
        {{size, .flags = TERN_SUBMISSION_NULL, .packets = dma.w, .packet_bytes = 64}, "64 bytes of packets"},
        {{size, .flags = TERN_SUBMISSION_NULL, .data = dma.w, .data_bytes = 8}, "8 of data"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(tern_submit(c, &bad[i].s, &fence), -EINVAL);
        if (!strstr(tern_last_error(), bad[i].says)) {
            fail_msg("'%s' does not say '%s'", tern_last_error(), bad[i].says);
        }
    }
    struct {
        struct tern_submission s;
        uint32_t later; /* a field of a later version */
    } wide = {.s = {.size = sizeof wide, .flags = TERN_SUBMISSION_NULL}, .later = 1};
    assert_int_equal(tern_submit(c, &wide.s, &fence), -E2BIG);
    assert_int_equal(fence, 77);
    wide.later = 0;
    ok(tern_submit(c, &wide.s, &fence));
    assert_int_equal(fence, 1);
    ok(tern_wait(c, fence, -1));
    /* The engine does not fetch it (C10), so that it takes less time than a buffer whose packet does nothing. */
    struct tern_context_stats null = {.size = sizeof null}, both = {.size = sizeof both};
    ok(tern_context_query(c, &null));
    ok(tern_pkt_nop_pack(&(struct tern_pkt_nop){0}, dma.w));
    ok(submit_packets(c, dma.w, 64, "nop", &fence));
    ok(tern_wait(c, fence, -1));
    ok(tern_context_query(c, &both));
    assert_true(null.cycles < both.cycles - null.cycles);
    dma.size = 0;
    tern_context_destroy(c);
    ok(tern_process_destroy(p));
}

static void test_long_buffer(void **state)
{
    (void)state;
    struct tern_process *p = process("long");
    struct tern_context *c = context(p, -1);
    struct tern_allocation *a = memory(p, 16384 * 8, TERN_MEM_WRITE);
    for (uint32_t i = 0; i < 16384; i++) { /* 1 MiB of packets */
        work_signal(&dma, tern_allocation_address(a) + 8 * i, i + 1);
    }
    work_run(&dma, c, "long");
    uint64_t *v = malloc(16384 * 8);
    assert_non_null(v);
    ok(tern_allocation_read(a, 0, v, 16384 * 8));
    for (uint32_t i = 0; i < 16384; i++) {
        assert_true(v[i] == i + 1);
    }
    free(v);
    struct tern_context_stats s = {.size = sizeof s};
    tern_context_query(c, &s);
    assert_true(s.submitted == 1 && s.completed == 1 && s.cycles > 16384);
    tern_context_destroy(c);
    tern_allocation_destroy(a);
    ok(tern_process_destroy(p));
}

/* ------------------------------------------------------------------ faults */

static void test_fault(void **state)
{
    (void)state;
    struct tern_process *bad = process("culprit"), *good = process("bystander");
    struct tern_context *cb = context(bad, 0), *cg = context(good, 0);
    struct tern_allocation *ab = memory(bad, 4096, TERN_MEM_READ), *ag = memory(good, 4096, TERN_MEM_WRITE);
    uint64_t last = 0, lastg = 0;
    struct tern_fence *gate;
    ok(tern_fence_create(bad, 0, &gate));
    for (uint32_t i = 0; i < 20; i++) {
        work_fill(&dma, tern_allocation_address(ag), 4096, (uint8_t)i);
        lastg = work_submit(&dma, cg, "good");
        if (i == 3) {
            work_fill(&dma, tern_allocation_address(ab), 64, 1); /* not writable */
        } else {
            work_wait(&dma, tern_fence_address(gate), 1); /* no packet begins before all are queued */
        }
        last = work_submit(&dma, cb, i == 3 ? "naughty" : "harmless");
    }
    ok(tern_fence_signal(gate, 1));
    assert_int_equal(tern_wait(cb, last, -1), -EIO);
    ok(tern_wait(cb, 3, -1)); /* completed before the fault */
    assert_int_equal(tern_wait(cb, 4, -1), -EIO);
    ok(tern_wait(cg, lastg, -1));
    expect_bytes(ag, 0, 4096, 19);
    struct tern_fault f = {.size = sizeof f};
    assert_int_equal(tern_process_status(bad, &f), -EIO);
    assert_int_equal(f.code, TERN_FAULT_PROTECTION);
    assert_int_equal(f.access, 1);
    assert_int_equal(f.fence, 4);
    assert_int_equal(f.offset, 0);
    assert_int_equal(f.address, tern_allocation_address(ab));
    char address[16];
    snprintf(address, sizeof address, "0x%08x", f.address);
    const char *parts[] = {"culprit", "naughty", "write to", address, "which may not be written"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (!strstr(f.message, parts[i])) {
            fail_msg("'%s' does not say %s", f.message, parts[i]);
        }
    }
    assert_int_equal(submit_packets(cb, dma.w, 64, NULL, NULL), -EIO);
    struct tern_allocation *none;
    assert_int_equal(tern_allocation_create(bad, 4096, TERN_MEM_READ, 0, &none), -EIO);
    ok(tern_process_status(good, NULL));
    struct tern_context_stats s = {.size = sizeof s};
    tern_context_query(cb, &s);
    assert_true(s.submitted == 20 && s.completed == 3 && s.aborted == 17);
    tern_context_destroy(cb);
    tern_context_destroy(cg);
    tern_fence_destroy(gate);
    tern_allocation_destroy(ab);
    tern_allocation_destroy(ag);
    ok(tern_process_destroy(bad));
    ok(tern_process_destroy(good));
}

static void test_malformed_packets(void **state)
{
    (void)state;
    const struct {
        uint32_t word0, word1, word15;
        uint32_t code;
    } bad[] = {
        {0xff | 1u << 8, 0, 0, TERN_FAULT_PACKET_UNKNOWN},
        {TERN_PKT_NOP | 1u << 8, 0, 1, TERN_FAULT_PACKET_RESERVED},
        {TERN_PKT_TLB_FLUSH | 1u << 8, 1, 0, TERN_FAULT_PACKET_PRIVILEGED}, /* A7 */
        {TERN_PKT_DISPATCH | 2u << 8, 0, 0, TERN_FAULT_BUFFER_MALFORMED},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct tern_process *p = process("malformed");
        struct tern_context *c = context(p, -1);
        struct tern_fault f = {.size = sizeof f};
        uint32_t w[301 * 16] = {0}; /* longer than a chunk */
        for (int line = 0; line < 300; line++) {
            ok(tern_pkt_nop_pack(&(struct tern_pkt_nop){0}, w + 16 * line));
        }
        w[4800] = bad[i].word0;
        w[4801] = bad[i].word1;
        w[4815] = bad[i].word15;
        ok(submit_packets(c, w, sizeof w, NULL, NULL));
        assert_int_equal(tern_wait(c, 1, -1), -EIO);
        assert_int_equal(tern_process_status(p, &f), -EIO);
        assert_int_equal(f.code, bad[i].code);
        assert_int_equal(f.offset, 300 * 64);
        tern_context_destroy(c);
        ok(tern_process_destroy(p));
    }
}

struct ended {
    uint64_t at;
};

static void note_end(void *user, const struct tern_completion *c)
{
    ((struct ended *)user)->at = c->result == TERN_COMPLETED ? c->end : 0;
}

/** Work far longer than quantum and timeout that can be preempted between packets lets other work run, and is not
 * killed (F2). */
static void test_long_work_lets_others_pass(void **state)
{
    (void)state;
    struct tern_process *p = process("long");
    struct tern_fence *f;
    struct ended end[2] = {{0}, {0}};
    struct tern_context *c[2];
    struct tern_allocation *a[2];
    ok(tern_fence_create(p, 0, &f));
    for (int i = 0; i < 2; i++) {
        struct tern_context_desc d = {.size = sizeof d, .engine = 0, .completed = note_end, .user = &end[i]};
        ok(tern_context_create(p, &d, &c[i]));
        a[i] = memory(p, 1u << 20, TERN_MEM_WRITE | TERN_MEM_EXEC);
    }
    /* 1000 rounds take 2,000 to 10,000 cycles, which is below the grace of the timeout. A slice of such packets takes
     * more than the timeout. */
    /* bnez t0, -4 */
    static const uint32_t loop[] = {0x3e800293, /* li t0, 1000 */ 0xfff28293, /* addi t0, t0, -1 */ 0xfe029ee3,
                                    0x0000100b /* exit */};
    ok(tern_allocation_write(a[0], 0, loop, sizeof loop));
    uint32_t code = tern_allocation_address(a[0]), gate = tern_fence_address(f);
    work_wait(&dma, gate, 1);
    work_fill(&dma, tern_allocation_address(a[1]), 64, 1);
    work_submit(&dma, c[1], "short");
    for (int i = 0; i < 300; i++) {
        work_dispatch(&dma, code, code + 65536);
        if (i == 0) {
            /* from here on the short one wants the engine, at a known point of the long one */
            work_signal(&dma, gate, 1);
        }
    }
    work_fill(&dma, code + 4096, 4096, 0x99);
    uint64_t fence = work_submit(&dma, c[0], "long");
    ok(tern_wait(c[0], fence, -1));
    tern_context_destroy(c[0]);
    tern_context_destroy(c[1]);
    assert_true(end[1].at && end[1].at < end[0].at);
    assert_true(end[0].at - end[1].at > 200000);
    ok(tern_process_status(p, NULL)); /* the long work was not reset */
    expect_bytes(a[0], 4096, 4096, 0x99);
    tern_allocation_destroy(a[0]);
    tern_allocation_destroy(a[1]);
    tern_fence_destroy(f);
    ok(tern_process_destroy(p));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, device_setup, device_teardown)
    const struct CMUnitTest tests[] = {
        T(test_query), T(test_time_seen),
        T(test_invalid_arguments), T(test_invalid_submissions),
        T(test_long_buffer),
        T(test_fault),
        T(test_malformed_packets),
        T(test_long_work_lets_others_pass),
    };
    return cmocka_run_group_tests_name("device", tests, NULL, NULL);
}
