/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Processes whose memory is sent while they run (M1). Work, host and pager change memory between rounds; allocations
 * are made, freed, or get the address of a freed one. Of much memory few pages are left for the blackout. A clock that
 * the test sets measures the rounds. The policies decide what happens to a migration that does not converge.
 */
#include "device_memory.h"
#include "migration.h"

#include "migration/state/internal.h"

#define CONFIG "small,mem=64M,timeout=200000"

/** The actor whose arguments the host writes whenever pages are sent, so that each round leaves a dirty page. NULL:
 * none. */
static struct actor *hot;

int __real_tern_put_pages(struct tern_stream *s, uint64_t memory, uint64_t first, uint64_t count, const void *data);
int __wrap_tern_put_pages(struct tern_stream *s, uint64_t memory, uint64_t first, uint64_t count, const void *data);

int __wrap_tern_put_pages(struct tern_stream *s, uint64_t memory, uint64_t first, uint64_t count, const void *data)
{
    static uint32_t number;
    if (hot && !hot->p->suspended) {
        actor_set(hot, 7, ++number);
    }
    return __real_tern_put_pages(s, memory, first, count, data);
}

/** All rounds so far, and what the test does between rounds. */
struct seen {
    struct tern_migrate_round round[64];
    uint32_t n;
    void (*between)(struct seen *s);
    void *user;
};

static void note(void *user, const struct tern_migrate_round *r)
{
    struct seen *s = user;
    assert_true(s->n < 64);
    s->round[s->n++] = *r;
    if (s->between) {
        s->between(s);
    }
}

static int live(struct tern_process *const *procs, uint32_t n, struct tern_stream *s, struct seen *seen,
                struct tern_migrate_limits limits, struct tern_saving **m)
{
    limits.progress = note;
    limits.user = seen;
    return tern_migrate_live(procs, n, s, &limits, m);
}

static struct journey depart_live(struct tern_process *const *procs, uint32_t n, struct seen *seen,
                                  struct tern_migrate_limits limits)
{
    struct journey j;
    ok(tern_stream_write_memory(&j.stream));
    ok(live(procs, n, j.stream, seen, limits, &j.saving));
    j.loading = loaded(there, j.stream, NULL);
    return j;
}

/** Returns true if a memory basis is left over from the migration. */
static bool follows(void)
{
    tern_ticket_lock(&dev->hal_lock);
    uint64_t id;
    const struct tern_basis_range page = {0, 4096};
    const int r = tern_basis_create(&dev->kmd, &page, 1, &id);
    bool more = false;
    for (uint64_t i = dev->dirty_basis + 1; !r && i < id; i++) {
        uint64_t count;
        more = more || tern_basis_count(&dev->kmd, i, &(struct tern_basis_part){0, 0, 0}, &count) != -EBADF;
    }
    ok(r ? r : tern_basis_destroy(&dev->kmd, id));
    tern_ticket_unlock(&dev->hal_lock);
    return more;
}

static void expect_numbers(struct tern_allocation *a, uint32_t first, uint32_t pages, uint32_t number)
{
    uint32_t got[1024];
    for (uint32_t i = first; i < first + pages; i++) {
        ok(tern_allocation_read(a, 4096ull * i, got, sizeof got));
        for (uint32_t k = 0; k < 1024; k++) {
            assert_int_equal(got[k], number + i * 1024 + k);
        }
    }
}

static void put_numbers(struct tern_allocation *a, uint32_t first, uint32_t pages, uint32_t number)
{
    uint32_t words[1024];
    for (uint32_t i = first; i < first + pages; i++) {
        for (uint32_t k = 0; k < 1024; k++) {
            words[k] = number + i * 1024 + k;
        }
        ok(tern_allocation_write(a, 4096ull * i, words, sizeof words));
    }
}

/** A kernel writes one page beside much memory. The pages left for the blackout are few, however much memory there
 * is. */
static void test_few_are_left(void **state)
{
    (void)state;
    uint64_t last[2];
    for (uint32_t big = 0; big < 2; big++) {
        struct seen seen = {.n = 0};
        struct actor a;
        struct tern_allocation *much;
        open_both(CONFIG);
        const uint32_t pages_here = free_pages(dev), pages_there = free_pages(there);
        open_spin(&a, "counts", -1);
        struct tern_process *before = a.p;
        ok(tern_allocation_create(a.p, big ? 16 * MIB : 2 * MIB, RW, 0, &much));
        put_numbers(much, 0, big ? 4096 : 512, 5);
        const uint64_t fence = actor_spin(&a);
        spins(&a);
        const uint32_t count = actor_get(&a, 2);
        struct journey j = depart_live(&a.p, 1, &seen, (struct tern_migrate_limits){.downtime_ns = 1000000000000});
        assert_int_equal(seen.n, 1);
        assert_in_range(seen.round[0].pages, big ? 4096 : 512, 4096 + 128);
        last[big] = seen.round[0].left;
        actor_follow(&a, j.loading, 0);
        much = tern_loading_allocation(j.loading, 0, tern_allocation_address(much));
        arrive(&j);
        forget(before);
        assert_int_equal(free_pages(dev), pages_here);
        assert_true(actor_get(&a, 2) >= count);
        spins(&a);
        expect_numbers(much, 0, big ? 4096 : 512, 5);
        actor_set(&a, 0, 1);
        ok(tern_wait(a.c, fence, PATIENCE));
        tern_allocation_destroy(much);
        actor_close(&a);
        assert_int_equal(free_pages(there), pages_there);
        close_both();
    }
    print_message("left: %llu pages of 2 MiB, %llu of 16 MiB\n", (unsigned long long)last[0],
                  (unsigned long long)last[1]);
    assert_true(last[0] <= 8 && last[1] <= 8);
}

static uint64_t steps(void *user)
{
    (void)user;
    static uint64_t now;
    return now += 5000000;
}

/** Rounds are measured by the given clock, by which each takes 5 ms. */
static void test_clock(void **state)
{
    (void)state;
    struct seen seen = {.n = 0};
    struct actor a;
    open_both(CONFIG);
    open_mix(&a, "still", -1);
    struct tern_process *before = a.p;
    struct journey j = depart_live(&a.p, 1, &seen, (struct tern_migrate_limits){.clock = steps});
    assert_int_equal(seen.n, 1);
    assert_int_equal(seen.round[0].ns, 5000000);
    assert_int_equal(seen.round[0].page_ns, 5000000 / seen.round[0].pages + 1);
    actor_follow(&a, j.loading, 0);
    arrive(&j);
    forget(before);
    run_mix(&a, 30);
    actor_close(&a);
    close_both();
}

/* ---------------------------------------------------------------- what changes meanwhile */

static struct changing {
    struct actor runs, a; /* one counts all the time, the other's memory changes */
    struct tern_allocation *stays, *goes, *comes, *moves, *shared, *import;
    uint32_t at; /* address of `goes`, and later of `moves` */
} c;

/** After each round memory changes in another way: the host or the device writes it, it is freed, made at a freed
 * address, imported, or cleared. */
static void change(struct seen *s)
{
    uint8_t handle[TERN_HANDLE_BYTES];
    static const uint8_t zeros[4096];
    switch (s->n) {
    case 1:
        put_numbers(c.stays, 100, 30, 77);
        tern_allocation_destroy(c.goes);
        break;
    case 2:
        ok(tern_allocation_create(c.a.p, 3 * MIB, RW, c.at, &c.moves)); /* at the address of a freed allocation */
        put_numbers(c.moves, 700, 5, 1234);
        ok(tern_allocation_create(c.a.p, 5 * MIB, RW, 0, &c.comes));
        put_numbers(c.comes, 0, 1280, 9);
        ok(tern_allocation_write(c.stays, 4096 * 10, zeros, 4096)); /* a page becomes zero again */
        break;
    case 3: /* a second mapping is made, and the first one is destroyed */
        ok(tern_allocation_export(c.shared, RW, handle));
        ok(tern_allocation_import(c.a.p, handle, RW, 0, &c.import));
        tern_allocation_destroy(c.shared);
        work_fill(&dma, tern_allocation_address(c.stays) + 4096 * 200, 4096, 0x5a);
        work_submit(&dma, c.a.c, "fill");
        break;
    default:
        put_numbers(c.comes, 2 * s->n, 1, 70);
    }
}

static void test_changes(void **state)
{
    (void)state;
    struct seen seen = {.between = change};
    uint8_t got[4096], want[4096];
    open_both(CONFIG);
    const uint32_t pages_here = free_pages(dev), pages_there = free_pages(there);
    open_spin(&c.runs, "runs", 0);
    open_mix(&c.a, "changes", 1);
    struct tern_process *before[] = {c.runs.p, c.a.p};
    ok(tern_allocation_create(c.a.p, 6 * MIB, RW, 0, &c.stays));
    ok(tern_allocation_create(c.a.p, 3 * MIB, RW, 0, &c.goes));
    ok(tern_allocation_create(c.a.p, 64 << 10, RW, 0, &c.shared));
    c.at = tern_allocation_address(c.goes);
    put_numbers(c.stays, 0, 1536, 1);
    put_numbers(c.goes, 0, 768, 2);
    put_numbers(c.shared, 0, 16, 3);
    const uint64_t fence = actor_spin(&c.runs);
    spins(&c.runs);
    hot = &c.runs;
    struct journey j = depart_live(before, 2, &seen, (struct tern_migrate_limits){
        .downtime_ns = 1, .rounds = 6, .policy = TERN_MIGRATE_FORCE});
    hot = NULL;
    assert_true(seen.n >= 3);
    assert_false(follows());
    actor_follow(&c.runs, j.loading, 0);
    actor_follow(&c.a, j.loading, 1);
    struct tern_allocation *stays = tern_loading_allocation(j.loading, 1, tern_allocation_address(c.stays)),
                           *moves = tern_loading_allocation(j.loading, 1, c.at),
                           *comes = tern_loading_allocation(j.loading, 1, tern_allocation_address(c.comes)),
                           *import = tern_loading_allocation(j.loading, 1, tern_allocation_address(c.import));
    arrive(&j);
    forget(before[0]);
    forget(before[1]);
    assert_int_equal(free_pages(dev), pages_here);
    spins(&c.runs);
    actor_set(&c.runs, 0, 1);
    ok(tern_wait(c.runs.c, fence, PATIENCE));
    run_mix(&c.a, 30);
    expect_numbers(stays, 0, 10, 1);
    expect_numbers(stays, 11, 89, 1);
    expect_numbers(stays, 100, 30, 77);
    expect_numbers(stays, 130, 70, 1);
    expect_numbers(stays, 201, 1335, 1);
    memset(want, 0, sizeof want);
    ok(tern_allocation_read(stays, 4096 * 10, got, sizeof got));
    assert_memory_equal(got, want, sizeof got);
    ok(tern_allocation_read(moves, 0, got, sizeof got)); /* nothing of the freed allocation */
    assert_memory_equal(got, want, sizeof got);
    memset(want, 0x5a, sizeof want);
    ok(tern_allocation_read(stays, 4096 * 200, got, sizeof got));
    assert_memory_equal(got, want, sizeof got);
    expect_numbers(moves, 700, 5, 1234);
    expect_numbers(comes, 100, 1180, 9);
    expect_numbers(import, 0, 16, 3);
    tern_allocation_destroy(stays);
    tern_allocation_destroy(moves);
    tern_allocation_destroy(comes);
    tern_allocation_destroy(import);
    actor_close(&c.a);
    actor_close(&c.runs);
    assert_int_equal(free_pages(there), pages_there);
    close_both();
}

/* -------------------------------------------------------------------- more than there is */

static struct actor other;
static struct tern_allocation *others;

/** Another process takes the device's memory, so blocks of the moving process are evicted and come back. */
static void take_turns(struct seen *s)
{
    work_fill(&dma, tern_allocation_address(others), 10 * MIB, (uint8_t)s->n);
    ok(tern_wait(other.c, work_submit(&dma, other.c, "fills"), PATIENCE));
}

static void test_evicted_meanwhile(void **state)
{
    (void)state;
    struct seen seen = {.between = take_turns};
    struct actor a;
    struct tern_allocation *mem;
    open_both("small,mem=16M,quantum=20000,timeout=200000");
    open_mix(&a, "moves", 0);
    open_mix(&other, "other", 1);
    ok(tern_allocation_create(other.p, 10 * MIB, RW, 0, &others));
    ok(tern_allocation_create(a.p, 10 * MIB, RW, 0, &mem));
    struct tern_process *before = a.p;
    put_numbers(mem, 0, 2560, 11);
    /* copies all over the memory, for the whole migration */
    for (uint32_t i = 0; i < 400; i++) {
        const uint32_t at = tern_allocation_address(mem) + i % 40 * 64 * 4096;
        work_copy(&dma, at + 32 * 4096, at, 4096);
        work_submit(&dma, a.c, "copy");
    }
    hot = &a;
    struct journey j = depart_live(&a.p, 1, &seen, (struct tern_migrate_limits){
        .downtime_ns = 1, .rounds = 5, .policy = TERN_MIGRATE_FORCE});
    hot = NULL;
    assert_true(seen.n >= 3);
    actor_follow(&a, j.loading, 0);
    mem = tern_loading_allocation(j.loading, 0, tern_allocation_address(mem));
    arrive(&j);
    forget(before);
    ok(tern_wait(a.c, 400, PATIENCE));
    for (uint32_t i = 0; i < 40; i++) {
        uint32_t from[1024], to[1024];
        ok(tern_allocation_read(mem, i * 64 * 4096, from, sizeof from));
        ok(tern_allocation_read(mem, (i * 64 + 32) * 4096, to, sizeof to));
        assert_memory_equal(from, to, sizeof from);
        expect_numbers(mem, i * 64, 32, 11);
        expect_numbers(mem, i * 64 + 33, 31, 11);
    }
    tern_allocation_destroy(mem);
    actor_close(&a);
    tern_allocation_destroy(others);
    actor_close(&other);
    close_both();
}

/* ---------------------------------------------------------------------- no convergence */

/** The work writes all the time, and no downtime is allowed. The migration ends as the policy says, within its bound of
 * rounds. */
static void test_policies(void **state)
{
    (void)state;
    open_both(CONFIG);
    const uint32_t pages_there = free_pages(there);
    for (enum tern_migrate_policy policy = TERN_MIGRATE_GIVE_UP; policy <= TERN_MIGRATE_THROTTLE; policy++) {
        const struct tern_migrate_limits limits = {.downtime_ns = 1, .rounds = 4, .policy = policy};
        struct seen seen = {.n = 0};
        struct actor a;
        struct tern_saving *m;
        struct tern_stream *s;
        open_spin(&a, "hot", 0);
        struct tern_process *before = a.p;
        const uint64_t fence = actor_spin(&a);
        spins(&a);
        ok(tern_stream_write_memory(&s));
        hot = &a;
        const int r = live(&a.p, 1, s, &seen, limits, &m);
        hot = NULL;
        assert_true(seen.n <= 8);
        if (policy == TERN_MIGRATE_GIVE_UP) {
            struct tern_stream *in;
            struct tern_loading *l;
            size_t n;
            assert_int_equal(r, -ETIMEDOUT);
            expect_says(tern_last_error(), "writes faster than it can be moved");
            const void *bytes = tern_stream_memory(s, &n);
            ok(tern_stream_read_memory(bytes, n, &in));
            assert_int_equal(tern_migrate_load(there, NULL, in, NULL, &l), -EIO); /* the stream is not complete */
            tern_stream_close(in);
            assert_int_equal(free_pages(there), pages_there);
        } else {
            ok(r);
            assert_int_equal(seen.round[seen.n - 1].throttle > 0, policy == TERN_MIGRATE_THROTTLE);
            struct journey j = {m, s, loaded(there, s, NULL)};
            actor_follow(&a, j.loading, 0);
            tern_migrate_commit(j.loading);
            tern_migrate_end(j.saving);
            forget(before);
        }
        tern_stream_close(s);
        spins(&a);
        actor_set(&a, 0, 1);
        ok(tern_wait(a.c, fence, PATIENCE));
        actor_close(&a);
    }
    assert_int_equal(free_pages(there), pages_there);
    close_both();
}

static uint32_t references(const struct tern_memory *m)
{
    pthread_mutex_lock(&dev->lock);
    const uint32_t n = m->refs;
    pthread_mutex_unlock(&dev->lock);
    return n;
}

/** Memory that is destroyed between the capture of an image and its use stays in the image. */
static void test_destroyed_after_the_image(void **state)
{
    (void)state;
    struct tern_image *image;
    struct tern_process *p;
    struct tern_allocation *a;
    open_both(CONFIG);
    ok(tern_process_create(dev, "destroys", &p));
    ok(tern_allocation_create(p, MIB, RW, 0, &a));
    const struct tern_memory *m = a->mem;
    ok(tern_capture(&p, 1, false, &image));
    assert_int_equal(references(m), 2);
    tern_allocation_destroy(a);
    until(references(m) == 1); /* only the image has a reference */
    assert_ptr_equal(image->memories[0].real, m);
    assert_int_equal(m->pages, MIB / 4096);
    tern_image_free(image);
    ok(tern_process_destroy(p));
    close_both();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_few_are_left), cmocka_unit_test(test_clock), cmocka_unit_test(test_changes),
        cmocka_unit_test(test_evicted_meanwhile), cmocka_unit_test(test_policies),
        cmocka_unit_test(test_destroyed_after_the_image),
    };
    return cmocka_run_group_tests_name("migrate_live", tests, NULL, NULL);
}
