/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The pager on programs whose memory does not fit at once, in the simulation of pager_sim.h. Checked:
 *
 * - progress: while a program has work, an engine runs or a block moves. Between two jobs that end at most four times
 *   as many blocks move as all programs and a ticket's stops for pages need (A6);
 * - no starvation: a job takes no longer than the leases, moves and work of all programs;
 * - no block is evicted while work on an engine names it;
 * - mutants of the rule that decides which process keeps memory from which violate these.
 */
#include <inttypes.h>

#include "pager_sim.h"

struct figures {
    uint64_t jobs, moved, small; /* small: cycles of the longest job of the one that fits */
};

/** n programs with ten buffers of 1.9 MiB, of which a job uses four, and one program of 4 MiB, on 16 MiB. */
static struct figures many(uint32_t n, enum kind kind, uint32_t stride, uint64_t cycles)
{
    static const uint32_t four = 4 * MIB;
    program_count = n + 1;
    memset(programs, 0, sizeof programs);
    programs_open("small,mem=16M,host=400M,lease=20000,quantum=20000,timeout=4000000");
    for (uint32_t i = 0; i < program_count; i++) {
        struct program *p = &programs[i];
        p->kind = i < n ? kind : ALL;
        p->work = (struct mock_work){.cost = 2000, .group = 200, .fault_at = -1};
        p->uses = i < n ? 4 : 1;
        p->packets = 1;
        p->stride = stride;
        p->think = 100;
        program_buffers(p, i < n ? 10 : 1, i < n ? NULL : &four);
    }
    move_cycles = 2;
    simulate(cycles);
    struct figures f = {.moved = moved, .small = programs[n].worst};
    for (uint32_t i = 0; i < n; i++) {
        f.jobs += programs[i].jobs;
        expect(programs[i].jobs, "a program did nothing");
    }
    print_message("%u %s, stride %u: %" PRIu64 " jobs, %" PRIu64 " blocks moved, at most %" PRIu64 " for a job; "
                  "the small one: %" PRIu64 " jobs, the worst %" PRIu64 " cycles%s%s\n", n,
                  kind == ASKS ? "ask" : "name", stride, f.jobs, moved, longest, programs[n].jobs, f.small,
                  wrong ? ": " : "", wrong ? wrong : "");
    programs_close();
    return f;
}

static void test_many(void **unused)
{
    (void)unused;
    static const uint32_t ns[] = {3, 4, 8, 16};
    for (enum kind kind = NAMES; kind <= ASKS; kind++) {
        const struct figures one = many(1, kind, 1, 4000000), two = many(2, kind, 1, 4000000);
        assert_null(wrong);
        for (size_t i = 0; i < sizeof ns / sizeof *ns; i++) {
            const struct figures f = many(ns[i], kind, 1, 4000000);
            assert_null(wrong);
            assert_true(2 * f.jobs >= two.jobs);
            assert_true(2 * f.jobs * two.moved >= two.jobs * f.moved);
            assert_true(f.small <= 10 * one.small);
        }
    }
}

/** Each job uses other buffers than the one before: within one lease, many jobs would each move all of their memory. */
static void test_strides(void **unused)
{
    (void)unused;
    static const uint32_t ns[] = {2, 4, 8, 16};
    const struct figures one = many(1, NAMES, 1, 4000000);
    assert_null(wrong);
    for (size_t i = 0; i < sizeof ns / sizeof *ns; i++) {
        const struct figures f = many(ns[i], NAMES, 4, 4000000);
        assert_null(wrong);
        assert_true(f.small <= 10 * one.small);
    }
}

/** Simulates random programs of all kinds and sizes. */
static void mix(uint64_t seed)
{
    char config[100];
    pick_state = seed;
    memset(programs, 0, sizeof programs);
    program_count = 2 + pick(PROGRAMS - 1);
    const uint32_t lease = pick(2) ? LEASE : 1 + pick(100000);
    snprintf(config, sizeof config, "small,mem=%uM,host=900M,lease=%u,quantum=20000,timeout=400000000", 12 + pick(8),
             lease);
    programs_open(config);
    uint32_t blocks = 0;
    uint64_t work = 0;
    for (uint32_t i = 0; i < program_count; i++) {
        struct program *p = &programs[i];
        uint32_t bytes[BUFFERS];
        const uint32_t n = 1 + pick(BUFFERS), most = pick(4) ? 2 * MIB : 8 * MIB;
        for (uint32_t k = 0; k < n; k++) {
            bytes[k] = 1 + pick(most);
        }
        program_buffers(p, n, bytes);
    }
    const uint32_t there = capacity();
    for (uint32_t i = 0; i < program_count; i++) {
        struct program *p = &programs[i];
        p->kind = pick(3);
        p->packets = 1 + pick(4);
        p->stride = 1;
        p->think = pick(3) ? pick(1000) : pick(100000);
        p->work = (struct mock_work){.group = 50 + pick(400), .fault_at = -1};
        p->work.cost = 100 + pick(pick(3) ? 3000 : 30000);
        for (p->uses = p->kind == ALL ? p->buffers : 1 + pick(p->buffers); most_used(p) > there; p->uses--) {
            p->kind = p->kind == ALL ? NAMES : p->kind;
        }
        blocks += blocks_of(p);
        work += p->packets * p->work.cost;
    }
    move_cycles = pick(4);
    simulate(1000000);
    uint64_t worst = 0, jobs = 0;
    for (uint32_t i = 0; i < program_count; i++) {
        worst = programs[i].worst > worst ? programs[i].worst : worst;
        jobs += programs[i].jobs;
    }
    const uint64_t bound = 8 * (lease > LEASE ? lease : LEASE) + 4 * there * move_cycles; /* cycles of a ticket */
    /* cycles of tickets that overtake a job's */
    const uint64_t lower = (1 + work / program_count / lease) * 64 * there * move_cycles;
    expect(longest <= 4 * (blocks + 64), "blocks move, and no job ends");
    expect(worst <= work + program_count * bound + lower, "a job waits too long");
    print_message("seed %" PRIu64 ": %s, %u programs of %u blocks: %" PRIu64 " jobs, the worst %" PRIu64 " cycles; "
                  "%" PRIu64 " blocks moved, at most %" PRIu64 " for a job%s%s\n", seed, config, program_count, blocks,
                  jobs, worst, moved, longest, wrong ? ": " : "", wrong ? wrong : "");
    programs_close();
}

static void test_random(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        mix(seed);
        assert_null(wrong);
    }
}

static void test_mutants(void **unused)
{
    (void)unused;
    for (enum mutant i = NOBODY_KEEPS; i < MUTANTS; i++) {
        uint32_t found = 0;
        mutant = i;
        for (uint64_t seed = 1; seed <= 12; seed++) {
            mix(seed);
            found += wrong != NULL;
        }
        mutant = NONE;
        print_message("mutant %d: found by %u of 12\n", i, found);
        assert_true(found >= 3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_many, programs_teardown),
        cmocka_unit_test_teardown(test_strides, programs_teardown),
        cmocka_unit_test_teardown(test_random, programs_teardown),
        cmocka_unit_test_teardown(test_mutants, programs_teardown),
    };
    return cmocka_run_group_tests_name("pager", tests, NULL, NULL);
}
