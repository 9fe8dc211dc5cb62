/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Attacks of one process on another (A7). The attacker accesses the victim's memory with kernels, packets and paging
 * operations, and looks for data that the victim has left in local memory, registers, save areas and pages.
 * tests/attacks/list.yaml lists all attacks and the tests that must detect each.
 */
#include "device_memory.h"
#include "dut.h"
#include "open_device.h"

#define SECRET 0x5ec2e000u     /* a value that one lui can load */
#define HIDDEN 0x50000000u     /* virtual address of the secret in the victim */
#define OWN 0x40000000u        /* a page of the attacker's, readable and writable; its code is behind it */
#define STACK (OWN + 0x10000)
#define LOCAL_WORDS 16u
#define EXIT 0x0000100bu
#define LOOP 0x0000006fu       /* j . */

/* ------------------------------------------------------------------ kernels */

static uint32_t lui(uint32_t rd, uint32_t value)
{
    return 0x37u | rd << 7 | (value & 0xfffff000u);
}

static uint32_t lw(uint32_t rd, uint32_t rs1, uint32_t offset)
{
    return 0x03u | rd << 7 | 2u << 12 | rs1 << 15 | offset << 20;
}

static uint32_t sw(uint32_t rs2, uint32_t rs1, uint32_t offset)
{
    return 0x23u | (offset & 31) << 7 | 2u << 12 | rs1 << 15 | rs2 << 20 | offset >> 5 << 25;
}

static uint32_t amoswap(uint32_t rd, uint32_t rs2, uint32_t rs1)
{
    return 0x0800202fu | rd << 7 | rs1 << 15 | rs2 << 20;
}

static uint32_t jalr(uint32_t rs1)
{
    return 0x67u | rs1 << 15;
}

/** Adds a dispatch of one work-item with local memory. */
static void dispatch(void)
{
    struct tern_pkt_dispatch d;
    work_dispatch(&dma, OWN + 4096, STACK);
    uint32_t *const w = dma.w + dma.size / 4 - 32;
    assert_int_equal(tern_pkt_dispatch_unpack(&d, w), 0);
    d.local_bytes = LOCAL_WORDS * 4;
    assert_int_equal(tern_pkt_dispatch_pack(&d, w), 0);
}

/* ---------------------------------------------------------------- processes */

struct one {
    struct tern_process *p;
    struct tern_context *c;
    struct tern_allocation *own, *code, *stack;
};

static struct one begin(const char *name, const uint32_t *code, size_t bytes)
{
    struct one o = {.p = process(name)};
    o.c = context(o.p, 0);
    ok(tern_allocation_create(o.p, 4096, TERN_MEM_READ | TERN_MEM_WRITE, OWN, &o.own));
    ok(tern_allocation_create(o.p, 4096, TERN_MEM_READ | TERN_MEM_EXEC, OWN + 4096, &o.code));
    ok(tern_allocation_create(o.p, 4096, TERN_MEM_READ | TERN_MEM_WRITE, STACK, &o.stack));
    ok(tern_allocation_write(o.code, 0, code, bytes));
    return o;
}

static void end(struct one *o)
{
    tern_context_destroy(o->c);
    tern_allocation_destroy(o->own);
    tern_allocation_destroy(o->code);
    tern_allocation_destroy(o->stack);
    ok(tern_process_destroy(o->p));
}

/** Makes the victim, whose memory holds the secret. Engine 0 has just accessed it, so its translation is in the TLB. */
static struct one hide(struct tern_allocation **hidden)
{
    static const uint32_t none[] = {EXIT};
    struct one v = begin("victim", none, sizeof none);
    uint32_t words[1024];
    for (uint32_t i = 0; i < 1024; i++) {
        words[i] = SECRET;
    }
    ok(tern_allocation_create(v.p, 4096, TERN_MEM_READ | TERN_MEM_WRITE | TERN_MEM_EXEC, HIDDEN, hidden));
    ok(tern_allocation_write(*hidden, 0, words, sizeof words));
    return v;
}

static void touch(struct one *v)
{
    work_copy(&dma, HIDDEN + 64, HIDDEN, 64);
    work_run(&dma, v->c, "touch");
}

static void untouched(struct one *v, struct tern_allocation *hidden)
{
    uint32_t words[1024];
    ok(tern_allocation_read(hidden, 0, words, sizeof words));
    for (uint32_t i = 0; i < 1024; i++) {
        assert_int_equal(words[i], SECRET);
    }
    ok(tern_process_status(v->p, NULL));
}

/** Checks that the attacker's buffer fails with this fault code, and that the attacker has read nothing. */
static void refused(struct one *a, uint32_t code)
{
    struct tern_fault f = {.size = sizeof f};
    uint32_t got[16];
    assert_int_equal(tern_wait(a->c, work_submit(&dma, a->c, "attack"), -1), -EIO);
    assert_int_equal(tern_process_status(a->p, &f), -EIO);
    assert_int_equal(f.code, code);
    ok(tern_allocation_read(a->own, 0, got, sizeof got));
    for (uint32_t i = 0; i < 16; i++) {
        assert_int_equal(got[i], 0);
    }
}

/* ------------------------------------------------------------------ reaching */

/** An address at which an attacker may look for the secret: the victim's virtual address, the physical address, or
 * 0. */
static uint32_t place(const struct tern_allocation *hidden, int way)
{
    uint64_t n;
    return way == 0 ? HIDDEN : way == 1 ? (uint32_t)physical_of(hidden, 0, &n) : 0;
}

static void test_kernel(void **state)
{
    (void)state;
    struct tern_allocation *hidden;
    struct one v = hide(&hidden);
    for (int way = 0; way < 3; way++) {
        const uint32_t at = place(hidden, way);
        const uint32_t tries[][5] = {
            {lui(5, at), lui(6, OWN), lw(7, 5, 0), sw(7, 6, 0), EXIT},
            {lui(5, at), sw(5, 5, 0), EXIT},
            {lui(5, at), lui(6, OWN), amoswap(7, 6, 5), sw(7, 6, 0), EXIT},
            {lui(5, at), jalr(5)},
        };
        for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
            struct one a = begin("attacker", tries[i], sizeof tries[i]);
            touch(&v);
            dispatch();
            refused(&a, TERN_FAULT_PAGE);
            end(&a);
            untouched(&v, hidden);
        }
    }
    tern_allocation_destroy(hidden);
    end(&v);
}

static void test_packets(void **state)
{
    (void)state;
    enum { COPY_FROM, COPY_TO, FILL, SIGNAL, WAIT, TIMESTAMP, USER_FROM, USER_TO, CODE, TRIES };
    static const uint32_t none[] = {EXIT};
    struct tern_allocation *hidden;
    struct one v = hide(&hidden);
    for (int i = 0; i < 3 * TRIES; i++) {
        const uint32_t at = place(hidden, i / TRIES);
        struct one a = begin("attacker", none, sizeof none);
        struct tern_pkt_user_call u = {TERN_EXECUTOR_ID_SAXPY, {[TERN_USER_SAXPY_N] = 8, [TERN_USER_SAXPY_X] = OWN,
                                                                [TERN_USER_SAXPY_Y] = OWN}};
        touch(&v);
        switch (i % TRIES) {
        case COPY_FROM: work_copy(&dma, OWN, at, 64); break;
        case COPY_TO: work_copy(&dma, at, OWN, 64); break;
        case FILL: work_fill(&dma, at, 64, 1); break;
        case SIGNAL: work_signal(&dma, at, 1); break;
        case WAIT: work_wait(&dma, at, 0); break;
        case TIMESTAMP: {
            const struct tern_pkt_timestamp t = {.address_lo = at};
            assert_int_equal(tern_pkt_timestamp_pack(&t, work_add(&dma, 1)), 0);
            break;
        }
        case CODE: work_dispatch(&dma, at, STACK); break;
        default:
            u.payload[i % TRIES == USER_TO ? TERN_USER_SAXPY_Y : TERN_USER_SAXPY_X] = at;
            assert_int_equal(tern_pkt_user_call_pack(&u, work_add(&dma, 2)), 0);
        }
        refused(&a, TERN_FAULT_PAGE);
        end(&a);
        untouched(&v, hidden);
    }
    tern_allocation_destroy(hidden);
    end(&v);
}

/** Each packet of a paging buffer is refused. The packets would map the victim's page, or change its tables or its save
 * area. */
static void test_paging_operations(void **state)
{
    (void)state;
    static const uint32_t none[] = {EXIT};
    struct tern_allocation *hidden;
    struct one v = hide(&hidden);
    for (int i = 0; i < 5; i++) {
        struct one a = begin("attacker", none, sizeof none);
        const uint32_t rights = TERN_PTE_VALID_MASK | TERN_PTE_READ_MASK | TERN_PTE_WRITE_MASK;
        const uint32_t page = place(hidden, 1) / 4096, root = a.p->root;
        const struct tern_pkt_pte_update map = {.table_lo = (root << 12) + (HIDDEN >> 22) * 4, .table_hi = root >> 20,
                                                .count = 1, .pte = (page & ~1023u) << TERN_PTE_PPN_SHIFT | rights};
        const struct tern_pkt_pte_update clear = {.table_lo = v.p->root << 12, .table_hi = v.p->root >> 20,
                                                  .count = 1024};
        const struct tern_pkt_pte_copy copy = {.src_lo = (v.p->root << 12) + (HIDDEN >> 22) * 4, .count = 1,
                                               .src_hi = v.p->root >> 20, .dst_hi = root >> 20,
                                               .dst_lo = (root << 12) + (HIDDEN >> 22) * 4};
        const struct tern_pkt_context_init init = {.save = page};
        switch (i) {
        case 0: assert_int_equal(tern_pkt_pte_update_pack(&map, work_add(&dma, 1)), 0); break;
        case 1: assert_int_equal(tern_pkt_pte_update_pack(&clear, work_add(&dma, 1)), 0); break;
        case 2: assert_int_equal(tern_pkt_pte_copy_pack(&copy, work_add(&dma, 1)), 0); break;
        case 3: assert_int_equal(tern_pkt_context_init_pack(&init, work_add(&dma, 1)), 0); break;
        default: ok(tern_pkt_tlb_flush_pack(&(struct tern_pkt_tlb_flush){.all = 1}, work_add(&dma, 1)));
        }
        work_copy(&dma, OWN, HIDDEN + (page % 1024) * 4096 * (i == 0), 64);
        refused(&a, TERN_FAULT_PACKET_PRIVILEGED);
        end(&a);
        touch(&v);
        untouched(&v, hidden);
    }
    tern_allocation_destroy(hidden);
    end(&v);
}

/* ------------------------------------------------------------------ what is left */

/** A victim leaves the secret in all registers and in local memory. `last` is its last instruction. */
static struct one leave(uint32_t last)
{
    uint32_t code[64], n = 0;
    code[n++] = lui(1, TERN_WIN_LOCAL_BASE);
    for (uint32_t r = 2; r < 32; r++) {
        code[n++] = lui(r, SECRET);
    }
    for (uint32_t i = 0; i < LOCAL_WORDS; i++) {
        code[n++] = sw(5, 1, 4 * i);
    }
    code[n++] = last;
    struct one v = begin("victim", code, sizeof code);
    dispatch();
    return v;
}

/** The attacker reads registers and local memory that it has not written. The victim ran before: it still exists, or it
 *  was destroyed and the attacker's root table is in the same page. */
static void test_local_memory_and_registers(void **state)
{
    (void)state;
    uint32_t code[64], n = 0, got[32 + LOCAL_WORDS];
    code[n++] = lui(1, OWN);
    for (uint32_t r = 2; r < 32; r++) {
        code[n++] = sw(r, 1, 4 * r);
    }
    code[n++] = lui(2, TERN_WIN_LOCAL_BASE);
    for (uint32_t i = 0; i < LOCAL_WORDS / 2; i++) {
        code[n++] = lw(5, 2, 8 * i);
        code[n++] = sw(5, 1, 4 * (32 + i));
    }
    code[n++] = EXIT;
    for (int ended = 0; ended < 2; ended++) {
        struct one v = leave(EXIT), a;
        const uint32_t root = v.p->root;
        if (!ended) {
            a = begin("attacker", code, sizeof code);
        }
        work_run(&dma, v.c, "leave");
        if (ended) {
            end(&v);
            a = begin("attacker", code, sizeof code);
            assert_int_equal(a.p->root, root);
        }
        dispatch();
        work_run(&dma, a.c, "look");
        ok(tern_allocation_read(a.own, 0, got, sizeof got));
        for (uint32_t i = 0; i < 32 + LOCAL_WORDS / 2; i++) {
            if (i != 2 && i != 10) { /* sp and a0 hold the attacker's own stack and arguments */
                assert_int_equal(got[i], 0);
            }
        }
        end(&a);
        if (!ended) {
            end(&v);
        }
    }
}

/** Takes all memory that a process can get, and checks that no page has the secret. */
static void expect_no_secret(void)
{
    struct tern_device_info info = {.size = sizeof info};
    static uint32_t got[1 << 18];
    struct tern_process *p = process("attacker");
    tern_device_query(dev, &info);
    struct tern_allocation *a[1024], *big = NULL;
    uint32_t n = 0;
    for (uint64_t size = 1u << 20; size >= 4096; size /= 16) { /* down to single pages: all free memory */
        while (n < 1024 && tern_allocation_create(p, size, TERN_MEM_READ, 0, &big) == 0) {
            a[n++] = big;
            ok(tern_allocation_read(big, 0, got, size));
            for (uint64_t i = 0; i < size / 4; i++) {
                assert_int_not_equal(got[i], SECRET);
            }
        }
    }
    assert_true(n > 10 && n < 1024);
    while (n) {
        tern_allocation_destroy(a[--n]);
    }
    ok(tern_process_destroy(p));
}

/** The memory of a process is looked at after the process was destroyed or killed. A second process is suspended in a
 * kernel, so that its registers are in its save area, and then killed. */
static void test_pages(void **state)
{
    (void)state;
    ok(tern_device_close(dev));
    dev = open_or_skip("small,mem=16M,timeout=200000,host=0");
    for (int killed = 0; killed < 2; killed++) {
        struct tern_allocation *hidden;
        struct one v = hide(&hidden), stopped = leave(LOOP);
        const uint64_t fence = work_submit(&dma, stopped.c, "loop");
        struct tern_engine_counters c = {.size = sizeof c};
        uint64_t before = 0;
        for (ok(tern_device_counters(dev, 0, &c)), before = c.issue; c.issue < before + 200;) {
            ok(tern_device_counters(dev, 0, &c)); /* wait until its loop has run */
        }
        ok(tern_process_suspend(stopped.p));
        ok(tern_process_kill(stopped.p));
        assert_int_equal(tern_wait(stopped.c, fence, -1), -EIO);
        end(&stopped);
        if (killed) {
            ok(tern_process_kill(v.p));
        }
        tern_allocation_destroy(hidden);
        end(&v);
        expect_no_secret();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_kernel, device_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_packets, device_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_paging_operations, device_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_local_memory_and_registers, device_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_pages, device_setup, device_teardown),
    };
    return cmocka_run_group_tests_name("attacks", tests, NULL, NULL);
}
