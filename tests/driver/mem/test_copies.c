/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Copies and fills of more memory than the device has (A6). Buffers run in steps and packets in parts (os/mem/steps.c).
 * The tests have single copies and many in a buffer, boxes with strides of all kinds, faults in a part, contexts whose
 * copies exclude each other, kernels between copies, and sparse memory.
 */
#include "actor.h"
#include "device_memory.h"
#include "rig.h"
#include "tests/lib/submit.h"

#define BLOCK (4 * MIB)

/** 16 MiB of device memory: fewer than four blocks of 4 MiB fit at once. */
static const char *const small = "small,mem=16M,host=160M,quantum=20000";

static void open_device(const char *config)
{
    rig_open(config, NULL);
    if (!dev->kmd.page_requests) {
        print_message("skipped: the device has no page requests\n");
        rig_done();
        exit(77);
    }
}

/** A process with a source array and a target array, and the bytes that both must have. */
struct arrays {
    struct actor a;
    struct tern_allocation *from, *to;
    uint32_t bytes, src, dst;
    uint8_t *has, *wants;
};

static void arrays_fill(struct arrays *x, uint32_t seed)
{
    uint32_t *word = (uint32_t *)(void *)x->has;
    for (uint32_t i = 0; i < x->bytes / 4; i++) {
        word[i] = (i ^ seed) * 0x9e3779b1u;
    }
    ok(tern_allocation_write(x->from, 0, x->has, x->bytes));
}

static void arrays_open(struct arrays *x, const char *name, int32_t engine, uint32_t bytes)
{
    *x = (struct arrays){.bytes = bytes, .has = malloc(bytes), .wants = calloc(1, bytes)};
    assert_true(x->has && x->wants);
    actor_open(&x->a, name, engine, code_stream, sizeof code_stream);
    ok(tern_allocation_create(x->a.p, bytes, RW, 0, &x->from));
    ok(tern_allocation_create(x->a.p, bytes, RW, 0, &x->to));
    x->src = tern_allocation_address(x->from);
    x->dst = tern_allocation_address(x->to);
    arrays_fill(x, 1);
}

static void arrays_close(struct arrays *x)
{
    tern_allocation_destroy(x->from);
    tern_allocation_destroy(x->to);
    actor_close(&x->a);
    free(x->has);
    free(x->wants);
}

static void expect_target(const struct arrays *x)
{
    uint8_t *got = malloc(MIB);
    assert_non_null(got);
    for (uint32_t at = 0; at < x->bytes; at += MIB) {
        ok(tern_allocation_read(x->to, at, got, MIB));
        for (uint32_t i = 0; i < MIB && memcmp(got, x->wants + at, MIB); i++) {
            if (got[i] != x->wants[at + i]) {
                fail_msg("byte %u is 0x%02x, not 0x%02x", at + i, got[i], x->wants[at + i]);
            }
        }
    }
    free(got);
}

/** A box: bytes of a row, rows of a slice, slices; offsets and the strides of rows and slices, in bytes. */
struct shape {
    uint32_t size[3];
    uint32_t src, src_row, src_slice, dst, dst_row, dst_slice; /* offsets in the arrays */
};

/** Adds a copy of a box, and does the same copy on the host. */
static void copy_box(struct arrays *x, const struct shape *s)
{
    const struct tern_pkt_copy c = {
        .src_lo = x->src + s->src, .src_row = s->src_row, .src_slice = s->src_slice, .dst_lo = x->dst + s->dst,
        .dst_row = s->dst_row, .dst_slice = s->dst_slice, .width = s->size[0], .rows = s->size[1],
        .slices = s->size[2]};
    ok(tern_pkt_copy_pack(&c, work_add(&dma, 1)));
    for (uint32_t k = 0; k < s->size[2]; k++) {
        for (uint32_t j = 0; j < s->size[1]; j++) {
            const uint32_t to = s->dst + k * s->dst_slice + j * s->dst_row,
                           from = s->src + k * s->src_slice + j * s->src_row;
            assert_true(to <= x->bytes - s->size[0] && from <= x->bytes - s->size[0]);
            memcpy(x->wants + to, x->has + from, s->size[0]);
        }
    }
}

static void copy_row(struct arrays *x, uint32_t to, uint32_t from, uint32_t bytes)
{
    copy_box(x, &(struct shape){.size = {bytes, 1, 1}, .src = from, .dst = to});
}

/** Adds a fill of a box with a pattern of 64 different bytes, and does the same fill on the host. */
static void fill_box(struct arrays *x, const struct shape *s)
{
    struct tern_pkt_fill f = {.dst_lo = x->dst + s->dst, .dst_row = s->dst_row, .dst_slice = s->dst_slice,
                              .width = s->size[0], .rows = s->size[1], .slices = s->size[2]};
    uint8_t *pattern = (uint8_t *)f.pattern;
    for (uint32_t i = 0; i < sizeof f.pattern; i++) {
        pattern[i] = (uint8_t)(3 * i + 1);
    }
    ok(tern_pkt_fill_pack(&f, work_add(&dma, 2)));
    for (uint32_t k = 0; k < s->size[2]; k++) {
        for (uint32_t j = 0; j < s->size[1]; j++) {
            for (uint32_t i = 0; i < s->size[0]; i++) {
                x->wants[s->dst + k * s->dst_slice + j * s->dst_row + i] = pattern[i % sizeof f.pattern];
            }
        }
    }
}

/** Eleven copies of 4 MiB in one buffer, each of which fits alone, with signals, timestamps, and a wait that only the
 *  host ends. */
static void test_buffer(void **state)
{
    (void)state;
    struct arrays x;
    struct tern_fence *f;
    struct tern_allocation *times;
    uint64_t stamp[2];
    open_device(small);
    const uint32_t pages = free_pages(dev);
    arrays_open(&x, "buffer", -1, 11 * BLOCK);
    ok(tern_fence_create(x.a.p, 0, &f));
    ok(tern_allocation_create(x.a.p, 4096, RW, 0, &times));
    const uint32_t fence = tern_fence_address(f), at = tern_allocation_address(times);
    for (uint32_t i = 0; i < 11; i++) {
        if (i == 2) {
            ok(tern_pkt_timestamp_pack(&(struct tern_pkt_timestamp){.address_lo = at}, work_add(&dma, 1)));
            work_signal(&dma, fence, 1);
            work_wait(&dma, fence, 2);
        }
        copy_row(&x, (10 - i) * BLOCK, i * BLOCK, BLOCK);
    }
    ok(tern_pkt_timestamp_pack(&(struct tern_pkt_timestamp){.address_lo = at + 8}, work_add(&dma, 1)));
    const uint64_t id = work_submit(&dma, x.a.c, "copies");
    ok(tern_fence_wait(f, 1, PATIENCE));
    assert_int_equal(tern_context_ended(x.a.c), 0);
    ok(tern_fence_signal(f, 2));
    ok(tern_wait(x.a.c, id, PATIENCE));
    expect_target(&x);
    ok(tern_allocation_read(times, 0, stamp, sizeof stamp));
    assert_true(stamp[0] && stamp[1] > stamp[0]);
    assert_true(dev->pager.evicted);
    tern_allocation_destroy(times);
    tern_fence_destroy(f);
    arrays_close(&x);
    assert_int_equal(free_pages(dev), pages);
    rig_done();
}

/** Returns the device time of one copy of 32 MiB and one fill, in cycles. */
static uint64_t large(const char *config, uint32_t shift)
{
    struct arrays x;
    open_device(config);
    arrays_open(&x, "large", -1, 32 * MIB);
    work_fill(&dma, x.dst, x.bytes, 0);
    ok(tern_wait(x.a.c, work_submit(&dma, x.a.c, "once"), PATIENCE)); /* memory is scrubbed at its first use */
    const uint64_t before = tern_device_time(dev);
    copy_row(&x, shift, 0, x.bytes - shift);
    ok(tern_wait(x.a.c, work_submit(&dma, x.a.c, "copy"), PATIENCE));
    expect_target(&x);
    fill_box(&x, &(struct shape){.size = {x.bytes - 99, 1, 1}, .dst = 99});
    ok(tern_wait(x.a.c, work_submit(&dma, x.a.c, "fill"), PATIENCE));
    const uint64_t took = tern_device_time(dev) - before;
    expect_target(&x);
    arrays_close(&x);
    rig_done();
    return took;
}

/** One copy of twice the device's memory, and one fill. Source and target have the same offset in their blocks, or
 *  different ones. The work is also preempted again and again, and goes on on the other engine. */
static void test_large(void **state)
{
    (void)state;
    static const uint32_t shift[] = {0, MIB + 61};
    const uint64_t took = large(small, shift[1]);
    if (rig.hal.concurrent) { /* device time passes while the host copies, so the bound does not hold */
        return;
    }
    for (int i = 0; i < 2; i++) {
        const uint64_t resident = large("small,mem=128M", shift[i]), stepwise = i ? took : large(small, shift[i]);
        print_message("shifted by %u: %llu cycles, resident %llu\n", shift[i], (unsigned long long)stepwise,
                      (unsigned long long)resident);
        assert_true(stepwise < resident + resident / 10);
    }
    large("small,mem=16M,host=160M,preempt=9000", MIB + 61);
}

/** Boxes of all kinds: rows that are blocks apart, slices between the rows of others, negative strides. */
static void test_boxes(void **state)
{
    (void)state;
    static const struct shape shapes[] = {
        {{MIB + 5, 5, 1}, 3, 4 * MIB, 0, 7, 5 * MIB, 0},                              /* rows of a block each */
        {{MIB, 2, 6}, 0, 12 * MIB, 2 * MIB, 1, 2 * MIB, 4 * MIB},                     /* slices between rows */
        {{4096, 1, 1500}, 0, 0, 16384, 64, 0, 4096},                                  /* small slices */
        {{MIB - 3, 5, 1}, 0, 4 * MIB, 0, 20 * MIB, (uint32_t)-(int32_t)(4 * MIB), 0}, /* last row first */
        {{100, 30000, 1}, 20 * MIB, (uint32_t)-128, 0, 0, 700, 0},                    /* many rows, backward */
        {{9 * MIB, 2, 1}, 1, 12 * MIB, 0, 2, 13 * MIB, 0},                            /* a row does not fit */
        {{9 * MIB, 1, 2}, 1, 0, 3 * MIB, 9, 0, 12 * MIB},                             /* the source overlaps itself */
        {{0, 3, 3}, 0, 4 * MIB, 4 * MIB, 0, 4 * MIB, 4 * MIB},                        /* empty */
    };
    struct arrays x;
    open_device(small);
    arrays_open(&x, "boxes", -1, 24 * MIB);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        print_message("box %zu\n", i);
        arrays_fill(&x, (uint32_t)i);
        copy_box(&x, &shapes[i]);
        ok(tern_wait(x.a.c, work_submit(&dma, x.a.c, "copy"), PATIENCE));
        expect_target(&x);
        if (i != 6) { /* the rows of its target overlap */
            fill_box(&x, &shapes[i]);
            ok(tern_wait(x.a.c, work_submit(&dma, x.a.c, "fill"), PATIENCE));
            expect_target(&x);
        }
    }
    arrays_close(&x);
    rig_done();
}

/** A copy leaves its allocation after some of its parts have run. The fault names the packet of the program's buffer.
 *  The packets before it and the parts before the fault are done, and the packets behind it are not. */
static void test_fault(void **state)
{
    (void)state;
    struct arrays x;
    open_device(small);
    arrays_open(&x, "fault", -1, 20 * MIB);
    copy_row(&x, 0, 8 * MIB, 5 * MIB);
    work_copy(&dma, x.dst + 5 * MIB, x.src, 16 * MIB); /* 1 MiB beyond the end */
    work_copy(&dma, x.dst, x.src, 64);
    assert_int_equal(tern_wait(x.a.c, work_submit(&dma, x.a.c, "copies"), PATIENCE), -EIO);
    const struct tern_fault f = fault_of(&x.a);
    assert_int_equal(f.code, TERN_FAULT_PAGE);
    assert_int_equal(f.address, x.dst + x.bytes);
    assert_int_equal(f.offset, 64);
    memcpy(x.wants + 5 * MIB, x.has, 15 * MIB);
    expect_target(&x);
    arrays_close(&x);
    rig_done();
}

/** Two contexts, of one process or of two, have copies that exclude each other, and share the engine with other work. A
 *  block that was brought for a copy stays until the copy has run, so few blocks are brought twice. */
static void test_exclude(void **state)
{
    (void)state;
    enum { PIECE = 3 * MIB, EACH = 12 * MIB, BLOCKS = 2 * 2 * EACH / BLOCK };
    for (int processes = 1; processes <= 2; processes++) {
        struct actor spin;
        struct arrays x[2];
        struct tern_context *c[2];
        uint64_t fence[2];
        open_device(small);
        const uint32_t pages = free_pages(dev);
        const struct tern_context_desc d = {.size = sizeof d, .name = "second", .engine = 0};
        open_spin(&spin, "spin", 0);
        const uint64_t spinning = actor_spin(&spin);
        arrays_open(&x[0], "one", 0, 2 * EACH);
        if (processes == 2) {
            arrays_open(&x[1], "other", 0, 2 * EACH);
        }
        const uint64_t brought = dev->pager.brought;
        for (int i = 0; i < 2; i++) {
            struct arrays *const own = &x[processes == 2 ? i : 0];
            c[i] = own->a.c;
            if (i && processes == 1) {
                ok(tern_context_create(own->a.p, &d, &c[i]));
            }
            for (uint32_t at = i ? EACH : 0; at < (i ? 2u : 1u) * EACH; at += PIECE) {
                copy_row(own, at, at, PIECE);
            }
            fence[i] = work_submit(&dma, c[i], "copies");
        }
        for (int i = 0; i < 2; i++) {
            ok(tern_wait(c[i], fence[i], PATIENCE));
        }
        const uint64_t blocks = (dev->pager.brought - brought) / (BLOCK / 4096);
        for (int i = 0; i < processes; i++) {
            expect_target(&x[i]);
        }
        print_message("%d process(es): %llu blocks brought, of %d\n", processes, (unsigned long long)blocks, BLOCKS);
        assert_true(blocks <= 2 * BLOCKS);
        actor_set(&spin, 0, 1);
        ok(tern_wait(spin.c, spinning, PATIENCE));
        actor_close(&spin);
        if (processes == 1) {
            tern_context_destroy(c[1]);
        }
        for (int i = 0; i < processes; i++) {
            arrays_close(&x[i]);
        }
        assert_int_equal(free_pages(dev), pages);
        rig_done();
    }
}

/** Between the parts of a copy its process is killed or suspended, or its source is destroyed, which waits for the
 * copy. */
static void test_meanwhile(void **state)
{
    (void)state;
    enum { KILL, SUSPEND, DESTROY, ALL };
    for (int what = KILL; what < ALL; what++) {
        struct arrays x;
        struct tern_allocation *other;
        open_device(small);
        const uint32_t pages = free_pages(dev);
        arrays_open(&x, "meanwhile", -1, 32 * MIB);
        ok(tern_allocation_create(x.a.p, 4096, RW, 0, &other));
        copy_row(&x, 5, 0, x.bytes - 5);
        const uint64_t brought = dev->pager.brought;
        const uint64_t fence = work_submit(&dma, x.a.c, "copy");
        until(dev->pager.brought > brought + 3 * BLOCK / 4096); /* the copy has begun */
        rig.gated = true;
        until(rig.at_gate);
        if (what == KILL) {
            rig.gated = false;
            tern_process_kill(x.a.p);
            assert_int_equal(tern_wait(x.a.c, fence, PATIENCE), -EIO);
        } else if (what == SUSPEND) {
            const uint64_t hold = actor_suspend(&x.a);
            rig.gated = false;
            assert_int_equal(tern_context_ended(x.a.c), 0);
            actor_resume(&x.a, hold);
        } else {
            tern_allocation_destroy(x.from);
            x.from = other;
            rig.gated = false;
        }
        if (what != KILL) {
            ok(tern_wait(x.a.c, fence, PATIENCE));
            expect_target(&x);
        }
        if (what != DESTROY) {
            tern_allocation_destroy(other);
        }
        arrays_close(&x);
        assert_int_equal(free_pages(dev), pages);
        rig_done();
    }
}

/** A kernel between copies asks for its pages and finds room for them. Sparse memory is committed step by step. */
static void test_mixed(void **state)
{
    (void)state;
    struct arrays x;
    open_device(small);
    arrays_open(&x, "mixed", -1, 20 * MIB);
    copy_row(&x, 0, 0, 4 * MIB);
    actor_set(&x.a, 0, x.src);
    actor_set(&x.a, 1, x.dst + 4 * MIB);
    actor_set(&x.a, 2, 12 * MIB / 4 / 64);
    actor_set(&x.a, 3, 4 * 64);
    actor_dispatch(&x.a, 64);
    for (uint32_t i = 0; i < 12 * MIB / 4; i++) {
        ((uint32_t *)(void *)x.wants)[MIB + i] = ((uint32_t *)(void *)x.has)[i] + i % 64;
    }
    copy_row(&x, 16 * MIB, 16 * MIB, 4 * MIB);
    ok(tern_wait(x.a.c, work_submit(&dma, x.a.c, "copy, kernel, copy"), PATIENCE));
    expect_target(&x);
    struct tern_allocation *s;
    ok(tern_allocation_create(x.a.p, 512 * MIB, RW | TERN_MEM_SPARSE, 0, &s));
    work_copy(&dma, tern_allocation_address(s) + 100 * MIB, x.src, x.bytes);
    work_copy(&dma, x.dst, tern_allocation_address(s) + 100 * MIB, x.bytes);
    memcpy(x.wants, x.has, x.bytes);
    ok(tern_wait(x.a.c, work_submit(&dma, x.a.c, "by way of sparse memory"), PATIENCE));
    expect_target(&x);
    tern_allocation_destroy(s);
    arrays_close(&x);
    rig_done();
}

/** Work that cannot be split is refused: a copy on a device without room for a block of each side, and a call of a user
 *  executor. */
static void test_refused(void **state)
{
    (void)state;
    struct arrays x;
    uint64_t fence;
    open_device("small,mem=8M,host=64M");
    arrays_open(&x, "refused", -1, 12 * MIB);
    work_copy(&dma, x.dst, x.src, x.bytes);
    assert_int_equal(submit_packets(x.a.c, dma.w, dma.size, "copy", &fence), -ENOSPC);
    expect_says(tern_last_error(), "in one packet");
    dma.size = 0;
    struct tern_pkt_user_call call = {.executor = TERN_EXECUTOR_ID_SAXPY};
    const struct tern_executor *e = tern_executor_find(0);
    for (uint32_t i = 0; i < e->n_args; i++) {
        call.payload[e->args[i].word] = e->args[i].pointer ? x.dst : 1; /* the call's reach is unknown */
    }
    ok(tern_pkt_user_call_pack(&call, work_add(&dma, 2)));
    assert_int_equal(submit_packets(x.a.c, dma.w, dma.size, "call", &fence), -ENOSPC);
    expect_says(tern_last_error(), "in one packet");
    dma.size = 0;
    fill_box(&x, &(struct shape){.size = {x.bytes, 1, 1}});
    ok(tern_wait(x.a.c, work_submit(&dma, x.a.c, "fill"), PATIENCE));
    expect_target(&x);
    arrays_close(&x);
    rig_done();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_buffer),  cmocka_unit_test(test_large),     cmocka_unit_test(test_boxes),
        cmocka_unit_test(test_fault),   cmocka_unit_test(test_exclude),   cmocka_unit_test(test_meanwhile),
        cmocka_unit_test(test_mixed),   cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests_name("copies", tests, NULL, NULL);
}
