/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Programs that move back and forth between two devices while they run, many times (M1). The eight programs have
 * kernels; copies and fills in an order that fences make; sparse memory, and more memory than the device has; memory
 * that two processes share; and memory that is made and freed. Each byte is compared with that of the same work on the
 * host. Each completion comes once and in order. Moves are of three kinds: stopped at a random cycle, live with rounds,
 * and dropped when all is on the target.
 *
 * The programs move 40 times, or 4 times if a side is the RTL. TERN_TEST_MOVES sets the number (1,000 and 20 in the
 * nightly tier), and TERN_TEST_SEED chooses other moves.
 */
#include "device_memory.h"
#include "migration.h"

#define CONFIG "small,mem=16M,host=256M,quantum=3000,timeout=2000000"
#define MOVES 40u
#define MOVES_RTL 4u
#define QUEUED 24u /* submissions of a program that are queued, at most */

static uint32_t seed;

static uint32_t up_to(uint32_t n)
{
    seed = seed * 1664525 + 1013904223;
    return (uint32_t)(((uint64_t)(seed >> 4) * n) >> 28);
}

/* ------------------------------------------------------------------------- programs */

enum { MIXES, COUNTS, CHAIN, LENDS, BORROWS, SPARSE, BIG, LARGE, PROGRAMS };

static const struct {
    const char *name;
    const uint32_t *code;
    size_t code_bytes;
    uint32_t bytes; /* bytes of memory that copies and fills change; 0: none */
    uint32_t flags;
} kinds[PROGRAMS] = {
    [MIXES] = {"mixes", code_mix, sizeof code_mix, 0, RW},
    [COUNTS] = {"counts", code_spin, sizeof code_spin, 0, RW},
    [CHAIN] = {"chain", code_mix, sizeof code_mix, 256 << 10, RW},
    [LENDS] = {"lends", code_mix, sizeof code_mix, MIB, RW},
    [BORROWS] = {"borrows", code_mix, sizeof code_mix, MIB, RW},
    [SPARSE] = {"sparse", code_mix, sizeof code_mix, 24 * MIB, RW | TERN_MEM_SPARSE},
    [BIG] = {"big", code_mix, sizeof code_mix, 7 * MIB, RW},
    [LARGE] = {"large", code_mix, sizeof code_mix, 9 * MIB, RW},
};

/** Completions of a context, on any device. */
struct told {
    atomic_ullong n, end;
    atomic_uint wrong;
};

struct program {
    struct actor a;
    struct tern_context *second;
    struct tern_allocation *mem, *loose; /* loose: is made and freed again and again; NULL: not there */
    struct tern_fence *fence;
    uint8_t *shadow; /* copy of mem on the host */
    uint64_t step;   /* value of the fence when all submitted work has ended */
    uint32_t pattern;
    struct told told[2];
};

static struct program programs[PROGRAMS];
static struct tern_process *procs[PROGRAMS];
static uint8_t *got;

static void tell(void *user, const struct tern_completion *c)
{
    struct told *t = user;
    t->wrong += c->fence != t->n + 1 || c->result != TERN_COMPLETED || c->end < t->end;
    t->end = c->end;
    t->n++;
}

static void tell_there(void *user, uint32_t process, uint32_t context, struct tern_context_desc *desc)
{
    (void)user;
    for (uint32_t i = 0; i < PROGRAMS; i++) {
        struct program *g = &programs[i];
        if (g->a.p->id == process) {
            desc->completed = tell;
            desc->user = &g->told[g->a.c->id != context];
        }
    }
}

static const struct tern_migrate_owner owner = {.context = tell_there};

static void open_program(uint32_t i)
{
    struct program *g = &programs[i];
    struct tern_context_desc d = {.size = sizeof d, .name = kinds[i].name, .engine = -1, .completed = tell,
                                  .user = &g->told[0]};
    *g = (struct program){0};
    actor_open(&g->a, kinds[i].name, -1, kinds[i].code, kinds[i].code_bytes);
    tern_context_destroy(g->a.c);
    ok(tern_context_create(g->a.p, &d, &g->a.c));
    d.user = &g->told[1];
    ok(tern_context_create(g->a.p, &d, &g->second));
    ok(tern_fence_create(g->a.p, 0, &g->fence));
    procs[i] = g->a.p;
    if (i == BORROWS) {
        uint8_t handle[TERN_HANDLE_BYTES];
        ok(tern_allocation_export(programs[LENDS].mem, RW, handle));
        ok(tern_allocation_import(g->a.p, handle, RW, 0, &g->mem));
        g->shadow = programs[LENDS].shadow;
    } else if (kinds[i].bytes) {
        ok(tern_allocation_create(g->a.p, kinds[i].bytes, kinds[i].flags, 0, &g->mem));
        g->shadow = calloc(1, kinds[i].bytes);
        assert_non_null(g->shadow);
    }
    if (i == BIG || i == LARGE) {
        for (uint32_t k = 0; k < kinds[i].bytes; k++) {
            g->shadow[k] = (uint8_t)(k * 7 + k / 251);
        }
        ok(tern_allocation_write(g->mem, 0, g->shadow, kinds[i].bytes));
    }
}

static void close_program(uint32_t i)
{
    struct program *g = &programs[i];
    tern_allocation_destroy(g->mem);
    tern_allocation_destroy(g->loose);
    tern_fence_destroy(g->fence);
    tern_context_destroy(g->second);
    actor_close(&g->a);
    if (i != BORROWS) {
        free(g->shadow);
    }
}

/** Draws an aligned offset of n bytes. */
static uint32_t place(uint32_t bytes, uint32_t n)
{
    return up_to((bytes - n) / 64 + 1) * 64;
}

/** Submits copies and fills on one of the two contexts, behind all earlier ones. Does the same on the host. */
static void change(struct program *g, uint32_t bytes)
{
    const uint32_t at = tern_allocation_address(g->mem), ops = 1 + up_to(3);
    work_wait(&dma, tern_fence_address(g->fence), g->step++);
    for (uint32_t k = 0; k < ops; k++) {
        const uint32_t n = (1 + up_to(512)) * 64, to = place(bytes, n), from = place(bytes, n);
        if (up_to(2) || (from < to + n && to < from + n)) {
            const uint8_t value = (uint8_t)up_to(256);
            work_fill(&dma, at + to, n, value);
            memset(g->shadow + to, value, n);
        } else {
            work_copy(&dma, at + to, at + from, n);
            memcpy(g->shadow + to, g->shadow + from, n);
        }
    }
    work_signal(&dma, tern_fence_address(g->fence), g->step);
    work_submit(&dma, up_to(2) ? g->a.c : g->second, "change");
}

static uint64_t waiting(const struct program *g)
{
    return g->a.c->submitted - tern_context_ended(g->a.c) + g->second->submitted - tern_context_ended(g->second);
}

/** Submits more work for each program that has little queued. Makes or frees the loose memory of one. */
static void more_work(void)
{
    for (uint32_t i = 0; i < PROGRAMS; i++) {
        struct program *g = &programs[i];
        while (i != LENDS && kinds[i].bytes && waiting(g) < QUEUED && up_to(8)) {
            change(g, kinds[i].bytes);
        }
    }
    struct program *g = &programs[MIXES];
    if (!waiting(g)) {
        if (g->a.n) {
            expect_mixed(&g->a);
        }
        actor_mix(&g->a, 50 + up_to(400));
    }
    g = &programs[up_to(PROGRAMS)];
    if (!g->loose) {
        g->pattern = up_to(1u << 28);
        ok(tern_allocation_create(g->a.p, 4096 * (1 + up_to(300)), RW, 0, &g->loose));
        ok(tern_allocation_write(g->loose, 2048, &g->pattern, sizeof g->pattern));
    } else {
        uint32_t is;
        ok(tern_allocation_read(g->loose, 2048, &is, sizeof is));
        assert_int_equal(is, g->pattern);
        tern_allocation_destroy(g->loose);
        g->loose = NULL;
    }
}

/** Waits for all work of program i, and checks its completions and its memory. */
static void expect_done(uint32_t i)
{
    struct program *g = &programs[i == LENDS ? BORROWS : i];
    ok(tern_wait(g->a.c, g->a.c->submitted, PATIENCE));
    ok(tern_wait(g->second, g->second->submitted, PATIENCE));
    until(g->told[0].n == g->a.c->submitted && g->told[1].n == g->second->submitted);
    assert_int_equal(g->told[0].wrong + g->told[1].wrong, 0);
    if (i == MIXES) {
        expect_mixed(&g->a);
        return;
    }
    ok(tern_allocation_read(programs[i].mem, 0, got, kinds[i].bytes));
    for (uint32_t k = 0; k < kinds[i].bytes; k++) {
        if (got[k] != g->shadow[k]) {
            fail_msg("%s: byte 0x%x is 0x%02x, and must be 0x%02x", kinds[i].name, k, got[k], g->shadow[k]);
        }
    }
}

/* ---------------------------------------------------------------------------- moves */

static struct breakpoint *pausing_there;
static uint32_t idle_pages[2]; /* free pages of each device without a process */
static uint32_t in_the_middle, rounds;

static void while_it_runs(void *user, const struct tern_migrate_round *r)
{
    (void)user;
    (void)r;
    rounds++;
    more_work();
}

static void follow(const struct tern_loading *l)
{
    for (uint32_t i = 0; i < PROGRAMS; i++) {
        struct program *g = &programs[i];
        uint32_t number;
        const uint32_t at = g->loose ? tern_allocation_address(g->loose) : 0;
        const uint64_t jobs = g->second->submitted;
        g->second = tern_loading_context(l, i, 1, &number);
        assert_int_equal(g->second->submitted, jobs);
        g->mem = g->mem ? tern_loading_allocation(l, i, tern_allocation_address(g->mem)) : NULL;
        g->loose = g->loose ? tern_loading_allocation(l, i, at) : NULL;
        g->fence = tern_loading_fence(l, i, tern_fence_address(g->fence));
        assert_true(g->fence && !g->mem == !kinds[i].bytes && !g->loose == !at);
        actor_follow(&g->a, l, i);
        procs[i] = g->a.p;
    }
}

static uint32_t is_cut(const struct tern_context *c)
{
    return c->sched.requeued_count && c->sched.requeued[0].resume;
}

static void swap_devices(void)
{
    struct tern_device *d = dev;
    struct breakpoint *p = here;
    const uint32_t pages = idle_pages[0];
    dev = there;
    there = d;
    here = pausing_there;
    pausing_there = p;
    idle_pages[0] = idle_pages[1];
    idle_pages[1] = pages;
}

/** Checks that nothing is left on the device that is not the current one. */
static void expect_nothing_there(void)
{
    until(free_pages(there) == idle_pages[1]);
    pthread_mutex_lock(&there->lock);
    assert_int_equal(there->process_count, 0);
    assert_int_equal(there->partition.committed, 0);
    pthread_mutex_unlock(&there->lock);
}

enum { STOPPED, LIVE, GIVEN_UP };

static void move(uint32_t how)
{
    struct journey j;
    if (how == LIVE) {
        const struct tern_migrate_limits limits = {.downtime_ns = 1, .rounds = 2, .policy = TERN_MIGRATE_FORCE,
                                                   .progress = while_it_runs};
        ok(tern_stream_write_memory(&j.stream));
        ok(tern_migrate_live(procs, PROGRAMS, j.stream, &limits, &j.saving));
        j.loading = loaded(there, j.stream, &owner);
    } else {
        breakpoint_set(here, dev, procs[0], 1 + up_to(12000)); /* the process that is suspended first */
        breakpoint_await(here, programs[COUNTS].a.c);
        j = depart(procs, PROGRAMS, &owner);
    }
    for (uint32_t i = 0; i < PROGRAMS; i++) {
        in_the_middle += is_cut(programs[i].a.c) + is_cut(programs[i].second);
    }
    if (how == GIVEN_UP) {
        tern_migrate_drop(j.loading);
        tern_migrate_go_on(j.saving);
        tern_stream_close(j.stream);
        expect_nothing_there();
        return;
    }
    struct tern_process *before[PROGRAMS];
    memcpy(before, procs, sizeof before);
    follow(j.loading);
    arrive(&j);
    for (uint32_t i = 0; i < PROGRAMS; i++) {
        forget(before[i]);
    }
    swap_devices();
    expect_nothing_there();
}

static void test_back_and_forth(void **state)
{
    (void)state;
    const char *text = getenv("TERN_TEST_MOVES"), *given = getenv("TERN_TEST_SEED");
    const char *to = getenv("TERN_TEST_THERE");
    const uint32_t usual = to && strcmp(to, "rtl") == 0 ? MOVES_RTL : MOVES;
    const uint32_t moves = text ? (uint32_t)strtoul(text, NULL, 0) : usual;
    uint32_t done[3] = {0}, count = 0;
    seed = given ? (uint32_t)strtoul(given, NULL, 0) : 1;
    print_message("seed %u (rerun: TERN_TEST_MOVES=%u TERN_TEST_SEED=%u)\n", seed, moves, seed);
    dma.size = 0;
    got = malloc(24 * MIB);
    assert_non_null(got);
    here = breakpoint_open(NULL, CONFIG, &dev);
    pausing_there = breakpoint_open(to, CONFIG, &there);
    struct tern_device *const first = dev, *const second = there;
    idle_pages[0] = free_pages(dev);
    idle_pages[1] = free_pages(there);
    for (uint32_t i = 0; i < PROGRAMS; i++) {
        open_program(i);
    }
    const uint64_t spin = actor_spin(&programs[COUNTS].a);
    while (done[STOPPED] + done[LIVE] < moves) {
        const uint32_t kind = up_to(8), how = kind < 5 ? STOPPED : kind < 7 ? LIVE : GIVEN_UP;
        uint32_t check;
        more_work();
        move(how);
        done[how]++;
        spins(&programs[COUNTS].a);
        const uint32_t now = actor_get(&programs[COUNTS].a, 2);
        assert_true(now > count);
        count = now;
        do {
            check = up_to(PROGRAMS);
        } while (check == COUNTS);
        expect_done(check);
    }
    for (uint32_t i = 0; i < PROGRAMS; i++) {
        if (i != COUNTS) {
            expect_done(i);
        }
    }
    actor_set(&programs[COUNTS].a, 0, 1);
    ok(tern_wait(programs[COUNTS].a.c, spin, PATIENCE));
    until(programs[COUNTS].told[0].n == 1);
    const uint32_t stopped = (uint32_t)stats(&programs[COUNTS].a).preempted;
    assert_true(stopped >= moves);
    print_message("%u stopped, %u while the work ran in %u rounds, %u given up; %u contexts cut in the middle of their "
                  "work\n", done[STOPPED], done[LIVE], rounds, done[GIVEN_UP], in_the_middle);
    assert_true(in_the_middle > moves);
    for (uint32_t i = 0; i < PROGRAMS; i++) {
        close_program(i);
    }
    assert_int_equal(free_pages(dev), idle_pages[0]);
    ok(tern_device_close(first));
    ok(tern_device_close(second));
    free(got);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_back_and_forth)};
    return cmocka_run_group_tests_name("migrate_many", tests, NULL, NULL);
}
