/* SPDX-License-Identifier: Apache-2.0 */
/** Kernels whose pages are absent (docs/spec/pte.yaml), on a simulated device, RTL or model: test_page_requests
 *  LIBRARY. The tests answer each request: they map the page and resume the buffer, on the two engines in turn. */

#include "victim.h"

#define RESUME TERN_ENGINE_SUB_FLAGS_RESUME_MASK
#define TABLE (ROOT + 1)
#define PAGING_AT 0x00a00000u

/* offsets from VA of arrays with a word for each work-item (word_at), and of single pages */
enum {
    GATHER = 0x100000, SCATTER = 0x110000, SWAP = 0x120000, COUNT = 0x130000, RESERVE = 0x140000, CODE_2 = 0x150000,
    RESULT = 0x160000, RESULT_BYTES = 32, MOST = 4096 / RESULT_BYTES
};
enum { A1 = 11, A2, A3, A4, A5, NEVER = ~0u };

static uint32_t jal(int32_t o)
{
    const uint32_t u = (uint32_t)o;
    return 0x6fu | (u >> 12 & 255u) << 12 | (u >> 11 & 1u) << 20 | (u >> 1 & 1023u) << 21 | (u >> 20 & 1u) << 31;
}

static uint32_t amo(uint32_t funct5, uint32_t rd, uint32_t rs2, uint32_t rs1)
{
    return amoadd(rd, rs2, rs1) | funct5 << 27;
}

static uint32_t slli(uint32_t rd, uint32_t rs1, int32_t by)
{
    return itype(0x13, 1, rd, rs1, by);
}

static uint32_t andi(uint32_t rd, uint32_t rs1, int32_t mask)
{
    return itype(0x13, 7, rd, rs1, mask);
}

/** Instructions of a loop that does nothing, `times` plus the value of register `more` times. */
#define LOOP(r, more, times) addi(r, more, times), addi(r, r, -1), beq(r, ZERO, 8), jal(-8)

/** A kernel with every kind of access. For most of them each lane accesses another page. EXIT is in a page of its
 *  own. */
static void put_kernel(struct device *d)
{
    const uint32_t code[] = {
        csrr(T0, 0xcd0), andi(T1, T0, 15), slli(T1, T1, 12), sh2add(T1, T0, T1), /* T1: where its words are */
        lw(T6, 20, A0), slli(A1, T0, 5), add(T6, T6, A1), addi(A5, ZERO, 1),
        lw(T2, 0, A0), add(T2, T2, T1), lw(T3, 0, T2), itype(0x03, 4, T4, T2, 1) /* lbu */,
        itype(0x03, 1, T5, T2, 2) /* lh */, LOOP(A1, T0, 1500), sw(T3, 0, T6), sw(T4, 4, T6), sw(T5, 8, T6),
        lw(T2, 4, A0), add(T2, T2, T1), sw(T3, 0, T2), lw(A1, 0, T2), sw(A1, 12, T6),
        sw(T3, -8, SP), lw(A1, -8, SP), add(A1, A1, T0), sw(A1, 16, T6),
        lw(T2, 8, A0), add(T2, T2, T1), add(A2, T0, ZERO), amo(5, A2, T3, T2) /* cas */, amo(1, A3, T0, T2) /* swap */,
        LOOP(A1, T0, 1500), sw(A2, 20, T6), sw(A3, 24, T6),
        lw(T2, 12, A0), andi(A4, T0, 3), slli(A4, A4, 12), add(T2, T2, A4), amo(0, ZERO, A5, T2),
        BARRIER,
        lw(T2, 4, A0), itype(0x13, 4, A1, T0, 1) /* xori */, andi(A2, A1, 15), slli(A2, A2, 12), sh2add(A2, A1, A2),
        add(T2, T2, A2), lw(A1, 0, T2), sw(A1, 28, T6),
        lw(T2, 16, A0), beq(T0, ZERO, 8), jal(24),
        amo(2, A1, ZERO, T2) /* lr */, add(A1, A1, A5), amo(3, A2, A1, T2) /* sc */, beq(A2, ZERO, 8), jal(-16),
        lui(A1, VA + CODE_2), itype(0x67, 0, ZERO, A1, 0) /* jr */,
    };
    const uint32_t code_2[] = {addi(A5, A5, 1), EXIT};
    const uint32_t args[] = {VA + GATHER, VA + SCATTER, VA + SWAP, VA + COUNT, VA + RESERVE, VA + RESULT};
    poke(d, CODE, code, sizeof code);
    poke(d, CODE_2, code_2, sizeof code_2);
    poke(d, ARGS, args, sizeof args);
}

static uint32_t word_at(uint32_t area, uint32_t i)
{
    return area + i % 16 * PAGE + 4 * i;
}

static uint32_t input(uint32_t i)
{
    return i * 0x9e3779b1u + 0x7001;
}

static void put_data(struct device *d, uint32_t n)
{
    clear(d, BASE + GATHER, RESULT + PAGE - GATHER);
    put_kernel(d);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t v = input(i);
        poke(d, word_at(GATHER, i), &v, 4);
        poke(d, word_at(SWAP, i), &i, 4);
    }
}

static void check_data(struct device *d, uint32_t n)
{
    uint32_t v, got[MOST][8];
    peek(d, RESULT, got, sizeof got);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t x = input(i), want[8] = {x, x >> 8 & 255u, (uint32_t)((int32_t)x >> 16), x, x + i, i, x,
                                                input(i ^ 1)};
        assert_memory_equal(got[i], want, sizeof want);
        peek(d, word_at(SWAP, i), &v, 4);
        assert_int_equal(v, i);
    }
    for (uint32_t i = 0; i < 4; i++) {
        peek(d, COUNT + i * PAGE, &v, 4);
        assert_int_equal(v, n / 4);
    }
    peek(d, RESERVE, &v, 4);
    assert_int_equal(v, 1);
}

/* ------------------------------------------------------------------- pages */

/** Sets the entries [first, first + count) of the region to absent or present, and flushes the TLBs of both engines. */
static void set_pages(struct device *d, uint32_t first, uint32_t count, bool absent)
{
    const uint32_t there = (BASE / PAGE + first) << TERN_PTE_PPN_SHIFT;
    packet_pte(d, (uint64_t)TABLE * PAGE + 4 * first, count,
               absent ? there | RWX | TERN_PTE_ABSENT_MASK : there | RWX | TERN_PTE_VALID_MASK,
               1u << TERN_PTE_PPN_SHIFT);
    for (uint32_t e = 0; e < 2; e++) {
        assert_int_equal(tern_pkt_tlb_flush_pack(&(struct tern_pkt_tlb_flush){.all = 1}, packet(d, 1)), 0);
        submit(d, e, (struct submission){.buffer = PAGING_AT, .fence = 78, .flags = TERN_ENGINE_SUB_FLAGS_PAGING_MASK},
               PAGING_AT);
        expect_completed(d, e, 78);
    }
}

/** The address space with all that the kernel uses absent, but for the buffer itself. */
static void all_absent(struct device *d)
{
    map(d, ROOT, VA, BASE, PAGES, RWX);
    set_pages(d, 1, PAGES - 1, true);
}

/** The way in which a dispatch is run to its end. */
struct way {
    uint32_t frames; /* largest number of present pages; the one that came first is taken away first */
    uint32_t every;  /* cycles, about, between requests to stop; or NEVER */
    uint32_t seed;
};

struct count {
    uint32_t requests, stops, execute, atomic, write, read;
};

/** The page that an indication requests, which must be absent. */
static uint32_t wanted(const struct indication *seen, const uint32_t *present, uint32_t n)
{
    assert_int_equal(seen->fault, TERN_FAULT_PAGE_ABSENT);
    assert_in_range(seen->va, VA + PAGE, VA + PAGES * PAGE - 1);
    const uint32_t page = (seen->va - VA) / PAGE;
    for (uint32_t i = 0; i < n; i++) {
        assert_int_not_equal(present[i], page);
    }
    assert_in_range(seen->pc, VA + CODE, VA + CODE_2 + PAGE);
    return page;
}

static struct count carry(struct device *d, struct submission s, struct way w)
{
    struct count c = {0};
    uint32_t present[PAGES], n = 0;
    s.size = d->used * 4;
    for (uint32_t e = 0;; e ^= 1) {
        submit(d, e, s, BASE);
        if (w.every != NEVER) {
            assert_int_equal(api->step(d->sim, next_random(&w.seed) % (2 * w.every) + 1, NULL), 0);
            preempt(d, e, next_random(&w.seed) % 8 ? INSTRUCTION : next_random(&w.seed) % 3);
        }
        const struct indication seen = indication(d, e, SOON);
        assert_int_equal(seen.fence, s.fence);
        assert_int_equal(reg_read(d, TERN_REG_ENGINE_STATUS(e)), 0); /* there was one indication, and no work is left */
        if (seen.kind == TERN_ENGINE_IND_INFO_KIND_COMPLETED) {
            return c;
        }
        assert_int_equal(seen.kind, TERN_ENGINE_IND_INFO_KIND_PREEMPTED);
        s.flags |= seen.begin ? RESUME : 0;
        if (!seen.fault) {
            assert_true(w.every != NEVER && c.stops++ < 100000);
            continue;
        }
        c.execute += seen.access == 2;
        c.atomic += seen.access == 3;
        c.write += seen.access == 1;
        c.read += seen.access == 0;
        assert_true(c.requests++ < 100000);
        if (n == w.frames) {
            set_pages(d, present[0], 1, true);
            memmove(present, present + 1, --n * sizeof present[0]);
        }
        present[n] = wanted(&seen, present, n);
        set_pages(d, present[n++], 1, false);
    }
}

static void build(struct device *d, uint32_t n, uint32_t groups)
{
    put_data(d, n);
    packet_dispatch(d, (struct range){{n, 1, 1}, {n / groups, 1, 1}, 0});
}

static const struct submission submission = {.buffer = VA, .fence = 9, .root = ROOT, .save = SAVE / PAGE};

/* ------------------------------------------------------------------- tests */

/* Each kind of access requests its pages, each once if pages stay. Each access is done exactly once. */
static void test_all_kinds(void **state)
{
    struct device *d = *state;
    const uint32_t n = 4 * lanes(d);
    all_absent(d);
    build(d, n, 2);
    const struct count c = carry(d, submission, (struct way){PAGES, NEVER, 1});
    check_data(d, n);
    assert_int_equal(c.execute, 2);                             /* CODE, CODE_2 */
    assert_int_equal(c.read + c.write + c.atomic, c.requests - 2);
    assert_in_range(c.read, 16 + 1, 2 * 16 + 2);                /* ARGS, GATHER; none after the barrier */
    assert_in_range(c.write, 16 + 1 + 1, 2 * 16 + 2 + 16);      /* RESULT, SCATTER, the stack */
    assert_int_equal(c.atomic, 16 + 4 + 1);                     /* SWAP, COUNT, RESERVE */
}

/* With room for few pages the kernel still makes progress: a page is used before it is taken away. */
static void test_few_frames(void **state)
{
    struct device *d = *state;
    const uint32_t n = 2 * lanes(d);
    static const uint32_t frames[] = {1, 2, 5};
    for (uint32_t i = 0; i < sizeof frames / sizeof frames[0]; i++) {
        all_absent(d);
        build(d, n, 1);
        const struct count c = carry(d, submission, (struct way){frames[i], NEVER, 1});
        check_data(d, n);
        assert_true(c.requests > 60);
    }
}

/* Requests to stop at any time: before, during and after a page request. */
static void test_crossed(void **state)
{
    struct device *d = *state;
    const uint32_t n = 2 * lanes(d);
    uint32_t stops = 0;
    static const uint32_t every[] = {200, 300, 700};
    for (uint32_t i = 0; i < sizeof every / sizeof every[0]; i++) {
        all_absent(d);
        build(d, n, 2);
        const uint32_t seed = 4711 * (i + 1);
        print_message("every %u cycles, seed %u\n", every[i], seed);
        const struct count c = carry(d, submission, (struct way){PAGES, every[i], seed});
        check_data(d, n);
        assert_true(c.requests > 50);
        stops += c.stops;
    }
    assert_true(stops > 5);
}

/* The buffer that waits in the HW queue is cancelled as by a preemption. Both buffers are submitted again. */
static void test_queue(void **state)
{
    struct device *d = *state;
    const uint32_t n = 2 * lanes(d);
    all_absent(d);
    build(d, n, 2);
    struct submission s = submission;
    s.size = d->used * 4;
    submit(d, 0, s, BASE);
    submit(d, 0, (struct submission){.fence = 10, .size = 64, .flags = TERN_ENGINE_SUB_FLAGS_NULL_MASK}, 0);
    const struct indication first = indication(d, 0, SOON), second = indication(d, 0, SOON);
    expect(first, TERN_ENGINE_IND_INFO_KIND_PREEMPTED, TERN_FAULT_PAGE_ABSENT, 9);
    assert_int_equal(first.access, 2);
    assert_int_equal(first.va / PAGE, (VA + CODE) / PAGE);
    assert_int_equal(first.pc, VA + CODE);
    expect(second, TERN_ENGINE_IND_INFO_KIND_PREEMPTED, TERN_FAULT_NONE, 10);
    assert_int_equal(second.begin, 0);
    preempt(d, 0, INSTRUCTION); /* with an empty queue there is no answer (P4) */
    assert_int_equal(api->step(d->sim, 5000, NULL), 0);
    assert_int_equal(reg_read(d, TERN_REG_ENGINE_STATUS(0)), 0);
    set_pages(d, 1, PAGES - 1, false);
    s.flags = RESUME;
    submit(d, 1, s, BASE);
    expect_completed(d, 1, 9);
    check_data(d, n);
}

/* An entry of the first level may be absent as well, which stands for 4 MiB. */
static void test_first_level(void **state)
{
    struct device *d = *state;
    const uint32_t n = lanes(d), far = VA + 2 * PAGES * PAGE, at = far / PAGE / 1024;
    const uint32_t code[] = {csrr(T0, 0xcd0), lui(T1, far), sh2add(T1, T0, T1), lw(T2, 0, T1), lw(T3, 4, A0),
                             sh2add(T3, T0, T3), sw(T2, 0, T3), EXIT};
    const uint32_t args[] = {VA + IN, VA + OUT};
    uint32_t in[32], out[32];
    for (uint32_t i = 0; i < 32; i++) {
        in[i] = input(i);
    }
    map(d, ROOT, VA, BASE, PAGES, RWX);
    poke(d, CODE, code, sizeof code);
    poke(d, ARGS, args, sizeof args);
    poke(d, PAGES * PAGE, in, sizeof in); /* the 4 MiB behind */
    for (uint32_t there = 0; there < 2; there++) {
        const uint32_t pte = (BASE / PAGE + PAGES) << TERN_PTE_PPN_SHIFT | RWX;
        packet_pte(d, (uint64_t)ROOT * PAGE + 4 * at, 1, pte | (there ? TERN_PTE_VALID_MASK : TERN_PTE_ABSENT_MASK), 0);
        assert_int_equal(tern_pkt_tlb_flush_pack(&(struct tern_pkt_tlb_flush){.all = 1}, packet(d, 1)), 0);
        run_paging(d);
        packet_dispatch(d, (struct range){{n, 1, 1}, {n, 1, 1}, 0});
        struct submission s = submission;
        s.flags = there ? RESUME : 0;
        submit(d, 0, s, BASE);
        if (there) {
            expect_completed(d, 0, 9);
        } else {
            const struct indication seen = indication(d, 0, SOON);
            expect(seen, TERN_ENGINE_IND_INFO_KIND_PREEMPTED, TERN_FAULT_PAGE_ABSENT, 9);
            assert_int_equal(seen.va / PAGE, far / PAGE);
            assert_int_equal(seen.access, 0);
        }
    }
    peek(d, OUT, out, sizeof out);
    assert_memory_equal(out, in, 4ull * n);
}

/* A violation ends the buffer, even if pages of other lanes of the instruction are absent. If the device stops before
 * it sees the violation, the buffer ends after the resume. An access that the requested page does not allow when it is
 * there ends the buffer as well. */
static void test_violation(void **state)
{
    struct device *d = *state;
    const uint32_t n = lanes(d);
    /* lane 0 accesses SCATTER, which is absent, the others the pages behind it; the last one has no entry */
    const uint32_t code[] = {csrr(T0, 0xcd0), slli(T1, T0, 12), lw(T2, 0, A0), add(T2, T2, T1), sw(T0, 0, T2), EXIT};
    const uint32_t args[] = {VA + SCATTER};
    for (uint32_t kind = 0; kind < 2; kind++) {
        map(d, ROOT, VA, BASE, PAGES, RWX);
        poke(d, CODE, code, sizeof code);
        poke(d, ARGS, args, sizeof args);
        set_pages(d, SCATTER / PAGE, 1, true);
        if (kind == 0) {
            packet_pte(d, (uint64_t)TABLE * PAGE + 4 * (SCATTER / PAGE + n - 1), 1, 0, 0);
            run_paging(d);
        }
        packet_dispatch(d, (struct range){{n, 1, 1}, {n, 1, 1}, 0});
        struct submission s = submission;
        s.size = d->used * 4;
        submit(d, 0, s, BASE);
        if (kind == 0) {
            struct indication seen = indication(d, 0, SOON);
            if (seen.kind == TERN_ENGINE_IND_INFO_KIND_PREEMPTED) {
                assert_int_equal(seen.va, VA + SCATTER);
                set_pages(d, SCATTER / PAGE, 1, false);
                s.flags = RESUME;
                submit(d, 0, s, BASE);
                seen = indication(d, 0, SOON);
            }
            expect(seen, TERN_ENGINE_IND_INFO_KIND_FAULTED, TERN_FAULT_PAGE, 9);
            assert_int_equal(seen.va, VA + SCATTER + (n - 1) * PAGE);
            continue;
        }
        const struct indication seen = indication(d, 0, SOON);
        expect(seen, TERN_ENGINE_IND_INFO_KIND_PREEMPTED, TERN_FAULT_PAGE_ABSENT, 9);
        assert_int_equal(seen.va, VA + SCATTER);
        packet_pte(d, (uint64_t)TABLE * PAGE + 4 * (SCATTER / PAGE), 1,
                   (BASE + SCATTER) / PAGE << TERN_PTE_PPN_SHIFT | TERN_PTE_READ_MASK | TERN_PTE_VALID_MASK, 0);
        run_paging(d);
        s.flags = RESUME;
        submit(d, 0, s, BASE);
        expect(indication(d, 0, SOON), TERN_ENGINE_IND_INFO_KIND_FAULTED, TERN_FAULT_PROTECTION, 9);
    }
}

/* Only kernels wait for pages. The buffer itself, copies, fences and a user executor fault. */
static void test_others(void **state)
{
    struct device *d = *state;
    const struct tern_pkt_user_call call = {TERN_EXECUTOR_ID_SAXPY, {16, 0, VA + IN, VA + OUT}};
    for (uint32_t kind = 0; kind < (has_saxpy(d) ? 5 : 4); kind++) {
        map(d, ROOT, VA, BASE, PAGES, RWX);
        set_pages(d, kind ? 1 : 0, PAGES - 1, true);
        if (kind == 0) {
            packet_nop(d);
        } else if (kind == 1) {
            packet_copy(d, VA + OUT, VA + IN, 64);
        } else if (kind == 2) {
            packet_fill(d, VA + OUT, 64, 1);
        } else if (kind == 3) {
            packet_signal(d, VA + OUT, 1);
        } else {
            assert_int_equal(tern_pkt_user_call_pack(&call, packet(d, 2)), 0);
        }
        submit(d, 0, submission, BASE);
        expect(indication(d, 0, SOON), TERN_ENGINE_IND_INFO_KIND_FAULTED, TERN_FAULT_PAGE_ABSENT, 9);
    }
}

static bool has_page_requests(void)
{
    struct device d;
    device_open(&d, &(struct tern_sim_config){.mem_bytes = 64u << 20});
    const uint32_t config = reg_read(&d, TERN_REG_DEV_CONFIG1);
    device_close(&d);
    return config & TERN_DEV_CONFIG1_PAGE_REQUESTS_MASK;
}

int main(int argc, char **argv)
{
    int refused = library_load(argc, argv);
    if (refused) {
        return refused;
    }
    if (!has_page_requests()) {
        print_message("this device has no page requests (dev.config1)\n");
        return 77;
    }
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_all_kinds, save_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_few_frames, save_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_crossed, save_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_queue, save_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_first_level, save_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_violation, save_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_others, save_setup, device_teardown),
    };
    return cmocka_run_group_tests_name("page_requests", tests, NULL, NULL) ? 1 : 0;
}
