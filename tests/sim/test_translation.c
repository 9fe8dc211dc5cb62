/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The cost of translation in device cycles (A1): of a switch to another address space, of a miss, and of random pages.
 * test_translation LIBRARY. RTL devices only, because the model has no timing. Cycles repeat exactly. The bounds are
 * those of docs/hardware/memory.md.
 */
#include <stdio.h>
#include <stdlib.h>

#include "kernel.h"

#define V TERN_PTE_VALID_MASK
#define OTHER_ROOT (ROOT + 8)
#define LATENCY 60 /* cycles of memory's latency (docs/hardware/memory.md) */
#define CYCLE 0xc00

/* 64 MiB that are mapped twice: in scattered pages of 4 KiB, and in pages of 4 MiB */
#define SMALL_VA 0x04000000u
#define LARGE_VA 0x08000000u
#define DATA 0x04000000u
#define TABLES 0x02000000u
enum { REGIONS = 16, BYTES = REGIONS << 22, MEMORY = 128 << 20 };

static uint32_t srli(uint32_t rd, uint32_t rs1, int32_t by)
{
    return itype(0x13, 5, rd, rs1, by);
}
static uint32_t slli(uint32_t rd, uint32_t rs1, int32_t by)
{
    return itype(0x13, 1, rd, rs1, by);
}
static uint32_t xor(uint32_t rd, uint32_t rs1, uint32_t rs2)
{
    return rtype(0, 4, rd, rs1, rs2);
}
static uint32_t jal(int32_t o)
{
    const uint32_t u = (uint32_t)o;
    return 0x6fu | (u >> 12 & 255u) << 12 | (u >> 11 & 1u) << 20 | (u >> 1 & 1023u) << 21 | (u >> 20 & 1u) << 31;
}

static int setup(void **state)
{
    struct device *d = malloc(sizeof *d);
    assert_non_null(d);
    device_open(d, &(struct tern_sim_config){.mem_bytes = MEMORY});
    *state = d;
    return 0;
}

static void flush(struct device *d)
{
    assert_int_equal(tern_pkt_tlb_flush_pack(&(struct tern_pkt_tlb_flush){.all = 1}, packet(d, 1)), 0);
    run_paging(d);
}

/* ---------------------------------------------------------------- another address space */
enum work { NOTHING, COPY, KERNEL, LOCAL_KERNEL };

static void add_work(struct device *d, enum work work)
{
    const struct range one = {{8, 1, 1}, {8, 1, 1}, work == LOCAL_KERNEL ? 4096 : 0};
    if (work == NOTHING) {
        packet_nop(d);
    } else if (work == COPY) {
        packet_copy(d, VA + OUT, VA + IN, LINE);
    } else {
        packet_dispatch(d, one);
    }
}

/** Cycles from the end of a buffer of one address space to the end of the buffer behind it, of another one. */
static uint64_t follow(struct device *d, enum work work, uint32_t first, uint32_t second)
{
    uint64_t ended[2];
    add_work(d, work);
    for (int i = 0; i < 20; i++) {
        packet_nop(d); /* so that the second buffer is queued in time */
    }
    submit(d, 0, (struct submission){.buffer = VA, .fence = 1, .root = first}, BASE);
    add_work(d, work);
    submit(d, 0, (struct submission){.buffer = VA + 0x10000, .fence = 2, .root = second}, BASE + 0x10000);
    for (uint64_t i = 0; i < 2; i++) {
        struct indication done = indication(d, 0, SOON);
        expect(done, TERN_ENGINE_IND_INFO_KIND_COMPLETED, TERN_FAULT_NONE, i + 1);
        ended[i] = done.end;
    }
    return ended[1] - ended[0];
}

/* Buffers of two processes in turn take at most 100 cycles more each than those of one process, and no flush of the MMU
 * is needed. Both processes have run before. Local memory is cleared between processes, a line per cycle, which is
 * charged to a kernel with local memory. */
static void test_switch(void **state)
{
    struct device *d = *state;
    static const struct {
        const char *name;
        enum work work;
        uint64_t most;
    } cases[] = {{"nothing", NOTHING, 0}, {"a copy of 64 bytes", COPY, 0}, {"a kernel of a work-group", KERNEL, 100},
                 {"the same with local memory", LOCAL_KERNEL, 100 + 1024}};
    const uint32_t code[] = {EXIT};
    poke(d, CODE, code, sizeof code);
    map(d, ROOT, VA, BASE, PAGES, RWX);
    map(d, OTHER_ROOT, VA, BASE, PAGES, RWX);
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        uint64_t same = UINT64_MAX, other = 0;
        follow(d, cases[c].work, ROOT, ROOT);
        follow(d, cases[c].work, OTHER_ROOT, OTHER_ROOT);
        for (int round = 0; round < 4; round++) {
            const uint32_t from = round % 2 ? ROOT : OTHER_ROOT, to = round % 2 ? OTHER_ROOT : ROOT;
            const uint64_t a = follow(d, cases[c].work, to, to), b = follow(d, cases[c].work, from, to);
            same = a < same ? a : same;
            other = b > other ? b : other;
        }
        printf("    %-28s %5llu cycles in the same address space, %5llu in another\n", cases[c].name,
               (unsigned long long)same, (unsigned long long)other);
        assert_true(other <= same + cases[c].most);
    }
}

/* ---------------------------------------------------------------- one miss */

/** Cycles of a load, by one work-item, of a line that is in no cache. */
static uint32_t load_cycles(struct device *d, uint32_t page, uint32_t line)
{
    uint32_t took;
    poke(d, IN, &(uint32_t){SMALL_VA + page * PAGE + line * LINE}, 4);
    packet_dispatch(d, (struct range){{1, 1, 1}, {1, 1, 1}, 0});
    submit(d, 0, (struct submission){.buffer = VA, .fence = 3, .root = ROOT}, BASE);
    expect_completed(d, 0, 3);
    peek(d, OUT, &took, sizeof took);
    return took;
}

/** The frame of page p of 4 KiB of the 64 MiB. */
static uint32_t frame(uint32_t p)
{
    return DATA / PAGE + p * 2731 % (BYTES / PAGE); /* the factor is odd: each frame occurs once */
}

static void map_all(struct device *d)
{
    static uint32_t table[1024];
    clear(d, (uint64_t)ROOT * PAGE, PAGE);
    for (uint32_t r = 0; r < REGIONS; r++) {
        for (uint32_t i = 0; i < 1024; i++) {
            table[i] = frame(1024 * r + i) << TERN_PTE_PPN_SHIFT | V | TERN_PTE_READ_MASK;
        }
        assert_int_equal(api->mem_write(d->sim, TABLES + r * PAGE, table, sizeof table), 0);
        const uint32_t small = (TABLES / PAGE + r) << TERN_PTE_PPN_SHIFT | V;
        const uint32_t large = (DATA / PAGE + 1024 * r) << TERN_PTE_PPN_SHIFT | V | TERN_PTE_READ_MASK;
        const uint64_t root = (uint64_t)ROOT * PAGE;
        assert_int_equal(api->mem_write(d->sim, root + ((SMALL_VA >> 22) + r) * 4, &small, 4), 0);
        assert_int_equal(api->mem_write(d->sim, root + ((LARGE_VA >> 22) + r) * 4, &large, 4), 0);
    }
    d->root[0] = ROOT, d->roots = 1; /* map() keeps the existing tables of this root */
    clear(d, (uint64_t)(ROOT + 1) * PAGE, PAGE);
    map(d, ROOT, VA, BASE, PAGES, RWX);
}

/* A miss costs at most 1.5 times the latency of memory if the first level is in the walk cache, and nearly nothing if
 * the line of the second level is there as well. The kernel's own pages have been translated before its load. */
static void test_miss(void **state)
{
    struct device *d = *state;
    const uint32_t args[] = {VA + IN, VA + OUT};
    const uint32_t code[] = {
        lw(T0, 0, A0), lw(T1, 4, A0), lw(T0, 0, T0), add(T2, T0, ZERO), csrr(T3, CYCLE), lw(T4, 0, T0),
        add(T5, T4, T4), csrr(T6, CYCLE), rtype(0x20, 0, T6, T6, T3), sw(T6, 0, T1), EXIT,
    };
    map_all(d);
    poke(d, ARGS, args, sizeof args);
    poke(d, CODE, code, sizeof code);
    load_cycles(d, 0, 0);
    const uint32_t hit = load_cycles(d, 0, 1), second = load_cycles(d, 1, 2), walk = load_cycles(d, 40, 3);
    flush(d);
    const uint32_t nothing = load_cycles(d, 1024 * 9, 4);
    printf("    a load: %u cycles; %u more if the line of the second level is cached, %u if that of the first is, "
           "%u if neither is\n", hit, second - hit, walk - hit, nothing - hit);
    assert_true(hit >= LATENCY && hit < 2 * LATENCY);
    assert_true(second >= hit && second - hit <= 8);
    assert_true(walk - hit <= LATENCY * 3 / 2);
    assert_true(nothing - hit <= LATENCY * 3);
}

/* ---------------------------------------------------------------- random reads */
enum { ROUNDS = 24, WORDS_LOG2 = 24 };
static uint32_t data[BYTES / 4];

static uint32_t step(uint32_t x)
{
    x ^= x << 13;
    x ^= x >> 17;
    return x ^ x << 5;
}

/** The word with this index in the mapping of the data at `base`. */
static uint32_t word_at(uint32_t base, uint32_t index)
{
    const uint32_t page = index / (PAGE / 4), at = index % (PAGE / 4);
    return base == LARGE_VA ? data[index] : data[(frame(page) - DATA / PAGE) * (PAGE / 4) + at];
}

/** Cycles in which a full engine of work-items reads random words. */
static uint64_t scatter(struct device *d, uint32_t base)
{
    const uint32_t warps = (reg_read(d, TERN_REG_DEV_CONFIG0) & TERN_DEV_CONFIG0_WARPS_MASK) >>
        TERN_DEV_CONFIG0_WARPS_SHIFT, items = lanes(d) * warps, group = lanes(d);
    static uint32_t out[4096];
    poke(d, IN, &base, 4);
    packet_dispatch(d, (struct range){{items, 1, 1}, {group, 1, 1}, 0});
    submit(d, 0, (struct submission){.buffer = VA, .fence = 4, .root = ROOT}, BASE);
    struct indication done = indication(d, 0, SOON);
    expect(done, TERN_ENGINE_IND_INFO_KIND_COMPLETED, TERN_FAULT_NONE, 4);
    peek(d, OUT, out, items * 4);
    for (uint32_t i = 0; i < items; i++) {
        uint32_t x = (i + 1) * 0x9e3u, sum = 0;
        for (uint32_t k = 0; k < 4 * ROUNDS; k++) {
            x = step(x);
            sum += word_at(base, x >> (32 - WORDS_LOG2));
        }
        assert_int_equal(out[i], sum);
    }
    return done.end - done.begin;
}

/* Random words of 64 MiB in pages of 4 KiB are read at 40 % or more of the rate with pages of 4 MiB, even with empty
 * caches. */
static void test_random(void **state)
{
    struct device *d = *state;
    enum { X = 11, BASE_R, SUM, COUNT, A, B, C, D, T };
#define NEXT(to)                                                                                                      \
    slli(T, X, 13), xor(X, X, T), srli(T, X, 17), xor(X, X, T), slli(T, X, 5), xor(X, X, T),                          \
        srli(to, X, 32 - WORDS_LOG2), sh2add(to, to, BASE_R), lw(to, 0, to)
    const uint32_t args[] = {VA + IN, VA + OUT};
    const uint32_t code[] = {
        lw(T0, 0, A0), lw(BASE_R, 0, T0), csrr(T1, 0xcd0), addi(X, T1, 1), addi(T2, ZERO, 0x4f1), add(T2, T2, T2),
        addi(T2, T2, 1), mul(X, X, T2), addi(SUM, ZERO, 0), addi(COUNT, ZERO, ROUNDS),
        NEXT(A), NEXT(B), NEXT(C), NEXT(D),
        add(SUM, SUM, A), add(SUM, SUM, B), add(SUM, SUM, C), add(SUM, SUM, D),
        addi(COUNT, COUNT, -1), beq(COUNT, ZERO, 8), jal(-4 * 42),
        lw(T0, 4, A0), sh2add(T0, T1, T0), sw(SUM, 0, T0), EXIT,
    };
#undef NEXT
    uint32_t seed = 4711;
    for (uint32_t i = 0; i < BYTES / 4; i++) {
        data[i] = next_random(&seed);
    }
    assert_int_equal(api->mem_write(d->sim, DATA, data, sizeof data), 0);
    map_all(d);
    poke(d, ARGS, args, sizeof args);
    poke(d, CODE, code, sizeof code);
    const uint64_t large = (scatter(d, LARGE_VA), scatter(d, LARGE_VA));
    flush(d);
    const uint64_t cold = scatter(d, SMALL_VA), warm = scatter(d, SMALL_VA);
    printf("    %u random reads a work-item over 64 MiB: %llu cycles in pages of 4 MiB; of 4 KiB %llu from empty "
           "caches (%llu %%), then %llu (%llu %%)\n",
           4 * ROUNDS, (unsigned long long)large, (unsigned long long)cold, (unsigned long long)(large * 100 / cold),
           (unsigned long long)warm, (unsigned long long)(large * 100 / warm));
    assert_true(large * 10 >= cold * 4);
    assert_true(large * 10 >= warm * 4);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_switch, setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_miss, setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_random, setup, device_teardown),
    };
    const int r = library_load(argc, argv);
    return r ? r : cmocka_run_group_tests(tests, NULL, NULL);
}
