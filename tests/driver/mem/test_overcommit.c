/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Programs with ten buffers of 1.9 MiB each, whose kernels use four at a time, and one program of 4 MiB, on a device of
 * 16 MiB (A6). 3, 4 and 8 of them do at least half as much work in a time as two of them. A job of the small program
 * takes at most ten times as long as beside one of them. test_mix has sixteen programs of little memory, of nearly all,
 * and of sparse memory. All results are checked.
 *
 * Times are device time. Device time of a simulator does not pass while nothing runs, even if the host copies blocks.
 * PAGE_CYCLES are therefore added for each page that is copied.
 */
#include <inttypes.h>

#include "actor.h"
#include "device_memory.h"
#include "rig.h"

#define BYTES 1992292u
#define BUFFERS 10
#define ITEMS 64u
#define ITEM_WORDS 16u /* words of each work-item */
#define PROGRAMS_MAX 17u
#define PAGE_CYCLES 64u /* cycles to copy a page, at 64 bytes a cycle */

struct program {
    struct actor a;
    struct tern_allocation *buffer[BUFFERS], *args[2];
    uint32_t buffers, bytes;
    bool names; /* gives the driver the set of each job's allocations */
    uint32_t jobs, submitted;
    uint64_t begun; /* pages that had been moved when its last job was submitted */
    uint64_t worst; /* cycles of its longest job */
};

static struct program programs[PROGRAMS_MAX];

static uint64_t pages_moved(void)
{
    pthread_mutex_lock(&dev->lock);
    const uint64_t pages = dev->pager.brought + dev->pager.evicted;
    pthread_mutex_unlock(&dev->lock);
    return pages;
}

static void ended(void *user, const struct tern_completion *told)
{
    struct program *p = user;
    const uint64_t took = told->end - told->submitted + PAGE_CYCLES * (pages_moved() - p->begun);
    p->worst = took > p->worst ? took : p->worst;
    p->jobs += told->result == TERN_COMPLETED;
}

static void program_open(struct program *p, uint32_t buffers, uint32_t bytes, uint32_t flags, bool names)
{
    static uint8_t piece[1u << 16];
    uint32_t n;
    *p = (struct program){.buffers = buffers, .bytes = bytes, .names = names};
    actor_open(&p->a, "program", -1, code_stream, sizeof code_stream);
    tern_context_destroy(p->a.c);
    const struct tern_context_desc d = {.size = sizeof d, .name = "program", .engine = -1, .completed = ended,
                                        .user = p};
    ok(tern_context_create(p->a.p, &d, &p->a.c));
    for (uint32_t i = 0; i < 2; i++) {
        ok(tern_allocation_create(p->a.p, 4096, TERN_MEM_WRITE, 0, &p->args[i]));
    }
    for (uint32_t i = 0; i < buffers; i++) {
        ok(tern_allocation_create(p->a.p, bytes, TERN_MEM_WRITE | flags, 0, &p->buffer[i]));
        for (uint32_t at = 0; at < bytes; at += n) { /* written before, so that no page is scrubbed later */
            n = bytes - at < sizeof piece ? bytes - at : (uint32_t)sizeof piece;
            memset(piece, (int)(i + at / sizeof piece), n);
            ok(tern_allocation_write(p->buffer[i], at, piece, n));
        }
    }
}

static struct tern_allocation *used(const struct program *p, uint32_t job, uint32_t i)
{
    return p->buffer[(job + i) % p->buffers];
}

/** Submits a job: two kernels, each from one buffer to another. */
static void submit(struct program *p)
{
    uint32_t names[8], n = 0;
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t from = tern_allocation_address(used(p, p->submitted, 2 * i));
        const uint32_t to = tern_allocation_address(used(p, p->submitted, 2 * i + 1));
        const uint32_t args[] = {from, to, ITEM_WORDS, p->bytes / ITEM_WORDS & ~3u};
        struct actor with = p->a;
        ok(tern_allocation_write(p->args[i], 0, args, sizeof args));
        with.args = p->args[i];
        actor_dispatch(&with, ITEMS);
        names[n++] = tern_allocation_address(p->args[i]);
        names[n++] = from;
        names[n++] = to;
    }
    names[n++] = tern_allocation_address(p->a.code);
    names[n++] = tern_allocation_address(p->a.stack);
    if (p->names) {
        ok(tern_context_set_residency(p->a.c, names, n));
    }
    p->begun = pages_moved();
    work_submit(&dma, p->a.c, "job");
    p->submitted++;
}

/** Each word that a job wrote is the word that it read plus the work-item's id. Nothing writes the source. */
static void expect_right(const struct program *p)
{
    uint32_t from[ITEMS], to[ITEMS];
    for (uint32_t i = 0; i < 2 && p->jobs; i++) {
        for (uint32_t k = 0; k < ITEM_WORDS; k++) {
            const uint64_t at = (uint64_t)k * (p->bytes / ITEM_WORDS & ~3u);
            ok(tern_allocation_read(used(p, p->jobs - 1, 2 * i), at, from, sizeof from));
            ok(tern_allocation_read(used(p, p->jobs - 1, 2 * i + 1), at, to, sizeof to));
            for (uint32_t id = 0; id < ITEMS; id++) {
                assert_int_equal(to[id], from[id] + id);
            }
        }
    }
}

static void program_close(struct program *p)
{
    for (uint32_t i = 0; i < p->buffers; i++) {
        tern_allocation_destroy(p->buffer[i]);
    }
    tern_allocation_destroy(p->args[0]);
    tern_allocation_destroy(p->args[1]);
    actor_close(&p->a);
}

struct figures {
    uint64_t jobs, time, small; /* jobs: of the large programs; small: cycles of the small one's longest job */
};

/** Runs the programs, one job after another each, for so many cycles, and then until all jobs have ended. Each runs two
 * at least. */
static struct figures run(uint32_t n, uint64_t cycles)
{
    const uint64_t begin = tern_device_time(dev), moved = pages_moved();
    for (bool busy = true; busy;) {
        const bool more = tern_device_time(dev) < begin + cycles;
        busy = false;
        for (uint32_t i = 0; i < n; i++) {
            struct program *p = &programs[i];
            const bool idle = tern_context_ended(p->a.c) == p->submitted, next = idle && (more || p->submitted < 2);
            if (next) {
                submit(p);
            }
            busy = busy || !idle || next;
        }
        nap();
    }
    struct figures f = {.time = tern_device_time(dev) - begin + PAGE_CYCLES * (pages_moved() - moved)};
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(programs[i].jobs, programs[i].submitted);
        f.jobs += programs[i].buffers == BUFFERS ? programs[i].jobs : 0;
        expect_right(&programs[i]);
    }
    return f;
}

static struct figures many(uint32_t n, bool names)
{
    rig_open("small,mem=16M,host=400M,quantum=20000,timeout=4000000", NULL);
    assert_true(dev->kmd.page_requests);
    const uint32_t pages = free_pages(dev);
    for (uint32_t i = 0; i < n; i++) {
        program_open(&programs[i], BUFFERS, BYTES, 0, names);
    }
    program_open(&programs[n], 4, MIB, 0, false); /* the small program */
    struct figures f = run(n + 1, 4000000);
    f.small = programs[n].worst;
    print_message("%u that %s: %" PRIu64 " jobs, %" PRIu64 " cycles each; the small one %u, %" PRIu64
                  " cycles at most\n", n, names ? "name" : "ask", f.jobs, f.time / f.jobs, programs[n].jobs, f.small);
    for (uint32_t i = 0; i <= n; i++) {
        program_close(&programs[i]);
    }
    assert_int_equal(free_pages(dev), pages);
    rig_done();
    return f;
}

static void test_many(void **state)
{
    static const uint32_t ns[] = {3, 4, 8};
    (void)state;
    for (int names = 0; names < 2; names++) {
        const struct figures one = many(1, names), two = many(2, names);
        for (size_t i = 0; i < sizeof ns / sizeof *ns; i++) {
            const struct figures f = many(ns[i], names);
            assert_true(2 * f.jobs * two.time >= two.jobs * f.time);
            assert_true(f.small <= 10 * one.small);
        }
    }
}

/** Sixteen programs of little memory, of nearly all, and of more than all; sparse or not; with named sets or page
 * requests. */
static void test_mix(void **state)
{
    static const struct {
        uint32_t buffers, bytes, flags;
        bool names;
    } kinds[] = {
        {4, MIB / 4, 0, false}, {4, 3 * MIB, 0, true},  {10, BYTES, 0, false},  {4, 7 * MIB, 0, false},
        {4, MIB, 0, true},      {8, 3 * MIB, 0, false}, {10, BYTES, TERN_MEM_SPARSE, false}, {6, 5 * MIB, 0, false},
    };
    (void)state;
    rig_open("small,mem=16M,host=900M,quantum=20000,timeout=4000000", NULL);
    const uint32_t pages = free_pages(dev), n = 16;
    for (uint32_t i = 0; i < n; i++) {
        const size_t k = i % (sizeof kinds / sizeof *kinds);
        program_open(&programs[i], kinds[k].buffers, kinds[k].bytes, kinds[k].flags, kinds[k].names);
    }
    const struct figures f = run(n, 2000000);
    print_message("sixteen: %" PRIu64 " cycles\n", f.time);
    for (uint32_t i = 0; i < n; i++) {
        assert_true(programs[i].jobs >= 2);
        program_close(&programs[i]);
    }
    assert_int_equal(free_pages(dev), pages);
    rig_done();
}

#define T(name) cmocka_unit_test_teardown(name, rig_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {T(test_many), T(test_mix)};
    return cmocka_run_group_tests_name("overcommit", tests, NULL, NULL);
}
