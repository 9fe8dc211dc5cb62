/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Accesses to the device that fail during a migration (M5). Each access of the migration's thread fails, once or from
 * then on for ever. In another test any thread's access fails. The source then goes on and ends right, or its processes
 * get the error of a lost device. Nothing is left on the target. A sanitized build also checks for leaks.
 */
#include "device_memory.h"
#include "hal/open/open.h"
#include "migration.h"
#include "migration_scene.h"
#include "open_device.h"

#define PAGES 300u

/* -------------------------------------------------------------------------- the hal */

enum { READ = 1, WRITE = 2, MEMORY_READ = 4, MEMORY_WRITE = 8, FLUSH = 16, WAIT = 32, ALL = 63 };

struct flaky {
    struct tern_hal hal, *real;
    atomic_long left;  /* accesses until one fails; < 0: none */
    atomic_uint which; /* kinds of access that count */
    atomic_bool any;   /* accesses of any thread count; otherwise those of watched threads */
    atomic_bool stays; /* after the first failure every access fails */
    atomic_bool gone;
    atomic_uint failed;
};

static __thread bool watched;

static struct flaky *flaky_of(struct tern_hal *h)
{
    return TERN_LIST_ENTRY(h, struct flaky, hal);
}

static int fails(struct tern_hal *h, unsigned access)
{
    struct flaky *f = flaky_of(h);
    if (f->gone) {
        return -EIO;
    }
    if (!(f->which & access) || !(f->any || watched) || f->left < 0 || f->left-- != 0) {
        return 0;
    }
    f->failed++;
    f->gone = f->stays;
    return -EIO;
}

#define REAL(h) flaky_of(h)->real

static int flaky_read32(struct tern_hal *h, uint32_t offset, uint32_t *value)
{
    const int r = fails(h, READ);
    return r ? r : REAL(h)->ops->read32(REAL(h), offset, value);
}

static int flaky_write32(struct tern_hal *h, const struct tern_hal_write *writes, size_t n)
{
    const int r = fails(h, WRITE);
    return r ? r : REAL(h)->ops->write32(REAL(h), writes, n);
}

static int flaky_mem_read(struct tern_hal *h, uint64_t address, void *data, size_t size)
{
    const int r = fails(h, MEMORY_READ);
    return r ? r : REAL(h)->ops->mem_read(REAL(h), address, data, size);
}

static int flaky_mem_write(struct tern_hal *h, const struct tern_iovec *pieces, size_t n)
{
    const int r = fails(h, MEMORY_WRITE);
    return r ? r : REAL(h)->ops->mem_write(REAL(h), pieces, n);
}

static int flaky_flush(struct tern_hal *h)
{
    const int r = fails(h, FLUSH);
    return r ? r : REAL(h)->ops->flush(REAL(h));
}

static int flaky_wait(struct tern_hal *h, uint64_t cycles)
{
    const int r = fails(h, WAIT);
    return r ? r : REAL(h)->ops->wait(REAL(h), cycles);
}

static void flaky_wake(struct tern_hal *h)
{
    REAL(h)->ops->wake(REAL(h));
}

static void flaky_close(struct tern_hal *h)
{
    REAL(h)->ops->close(REAL(h));
    free(flaky_of(h));
}

static struct flaky *flaky_open(struct tern_device **out)
{
    static const struct tern_hal_ops ops = {
        .read32 = flaky_read32, .write32 = flaky_write32, .mem_read = flaky_mem_read, .mem_write = flaky_mem_write,
        .flush = flaky_flush, .wait = flaky_wait, .wake = flaky_wake, .close = flaky_close};
    struct flaky *f = calloc(1, sizeof *f);
    struct tern_config *c;
    struct tern_policy policy;
    assert_non_null(f);
    ok(tern_policy_parse(NULL, SCENE_CONFIG, &policy, &c));
    ok_or_skip(tern_hal_open(c, &f->real));
    free(c);
    f->left = -1;
    f->hal = *f->real;
    f->hal.ops = &ops;
    ok(tern_device_open_hal(&f->hal, &policy, out));
    return f;
}

static void arm(struct flaky *f, unsigned which, long after, bool any, bool stays)
{
    f->which = which;
    f->any = any;
    f->stays = stays;
    f->left = after;
}

/** Ends the failures, unless the device is gone. Returns true if an access failed. */
static bool disarm(struct flaky *f)
{
    f->left = -1;
    return f->failed;
}

/* ----------------------------------------------------------------------- the program */

static struct actor a;
static struct tern_allocation *data;
static uint64_t fence;
static struct flaky *source, *target;
static uint32_t pages_there;

static void open_moving(void)
{
    uint32_t words[1024];
    source = flaky_open(&dev);
    target = flaky_open(&there);
    pages_there = free_pages(there);
    open_spin(&a, "counts", 0);
    ok(tern_allocation_create(a.p, PAGES * 4096, RW, 0, &data));
    for (uint32_t i = 0; i < PAGES; i++) {
        for (uint32_t k = 0; k < 1024; k++) {
            words[k] = i * 1024 + k + 1;
        }
        ok(tern_allocation_write(data, 4096 * i, words, sizeof words));
    }
    fence = actor_spin(&a);
    spins(&a);
}

/** The process goes on and ends right, on whichever device it is. */
static void ends_right(void)
{
    uint32_t words[1024];
    spins(&a);
    actor_set(&a, 0, 1);
    ok(tern_wait(a.c, fence, PATIENCE));
    assert_int_equal(actor_get(&a, 1), 1);
    for (uint32_t i = 0; i < PAGES; i++) {
        ok(tern_allocation_read(data, 4096 * i, words, sizeof words));
        for (uint32_t k = 0; k < 1024; k++) {
            assert_int_equal(words[k], i * 1024 + k + 1);
        }
    }
}

/** The process gets the error of a lost device, and no call waits for ever. */
static void ends_lost(void)
{
    assert_int_equal(tern_wait(a.c, fence, PATIENCE), -EIO);
    assert_int_equal(tern_process_status(a.p, NULL), -EIO);
    assert_true(tern_last_error()[0]);
}

static void close_moving(void)
{
    tern_allocation_destroy(data);
    actor_close(&a);
    ok(tern_device_close(dev));
    ok(tern_device_close(there));
}

/** Writes the process with rounds. Accesses of this thread are watched. */
static int write_live(struct tern_stream **s, struct tern_saving **m)
{
    const struct tern_migrate_limits limits = {.downtime_ns = 1, .rounds = 2, .policy = TERN_MIGRATE_FORCE};
    ok(tern_stream_write_memory(s));
    watched = true;
    const int r = tern_migrate_live(&a.p, 1, *s, &limits, m);
    watched = false;
    return r;
}

static int load(const struct tern_stream *s, struct tern_loading **l)
{
    struct tern_stream *in;
    size_t n;
    const void *bytes = tern_stream_memory(s, &n);
    ok(tern_stream_read_memory(bytes, n, &in));
    watched = true;
    const int r = tern_migrate_load(there, NULL, in, NULL, l);
    watched = false;
    tern_stream_close(in);
    return r;
}

/** Ends the migration, after which the process ends right on the target. */
static void goes_on_there(struct tern_saving *m, struct tern_stream *s, struct tern_loading *l)
{
    struct tern_process *before = a.p;
    const uint32_t at = tern_allocation_address(data);
    actor_follow(&a, l, 0);
    data = tern_loading_allocation(l, 0, at);
    tern_migrate_commit(l);
    tern_migrate_end(m);
    tern_stream_close(s);
    const int r = tern_process_destroy(before);
    assert_true(!r);
    ends_right();
}

/** The n-th access of the source fails. Returns what became of the process. */
enum { UNHARMED, MOVED, WENT_ON, LOST };

static unsigned source_fails(unsigned which, long n, bool any, bool stays)
{
    struct tern_saving *m;
    struct tern_stream *s;
    struct tern_loading *l;
    unsigned is;
    open_moving();
    arm(source, which, n, any, stays);
    const int r = write_live(&s, &m);
    const bool failed = disarm(source);
    if (!r) {
        ok(load(s, &l));
        goes_on_there(m, s, l);
        is = failed ? MOVED : UNHARMED;
    } else {
        assert_true(failed);
        if (r != -EIO) {
            fail_msg("access %ld of kinds %u: %d, %s", n, which, r, tern_last_error());
        }
        assert_true(load(s, &l) != 0); /* the stream must not load */
        expect_no_memory(there, pages_there);
        tern_stream_close(s);
        is = stays || tern_process_status(a.p, NULL) ? LOST : WENT_ON;
        if (is == LOST) {
            ends_lost();
        } else { /* a second migration, without failures, works */
            spins(&a);
            ok(write_live(&s, &m));
            ok(load(s, &l));
            goes_on_there(m, s, l);
        }
    }
    close_moving();
    return is;
}

/** The n-th access of the target fails during the load. */
static unsigned target_fails(unsigned which, long n, bool any, bool stays)
{
    struct tern_saving *m;
    struct tern_stream *s;
    struct tern_loading *l;
    unsigned is;
    open_moving();
    ok(write_live(&s, &m));
    arm(target, which, n, any, stays);
    int r = load(s, &l);
    const bool failed = disarm(target);
    if (r) {
        assert_true(failed);
        if (r != -EIO) {
            fail_msg("access %ld of kinds %u: %d, %s", n, which, r, tern_last_error());
        }
        pthread_mutex_lock(&there->lock);
        is = there->lost || stays ? LOST : WENT_ON;
        pthread_mutex_unlock(&there->lock);
        if (is != LOST) { /* the target is unchanged and takes the processes now */
            expect_no_memory(there, pages_there);
            ok(load(s, &l));
            goes_on_there(m, s, l);
        } else {
            assert_int_equal(load(s, &l), -EIO);
            tern_migrate_go_on(m);
            tern_stream_close(s);
            ends_right();
        }
    } else if (failed && any) { /* another thread's access failed, so the device may be lost */
        is = MOVED;
        tern_migrate_drop(l);
        tern_migrate_go_on(m);
        tern_stream_close(s);
        ends_right();
    } else {
        is = failed ? MOVED : UNHARMED;
        goes_on_there(m, s, l);
    }
    close_moving();
    return is;
}

struct kind {
    unsigned which;
    const char *name;
    uint32_t harmless; /* number of failures that may leave the move intact */
};

static void each(const struct kind *kinds, uint32_t count, unsigned (*fails_at)(unsigned, long, bool, bool))
{
    for (uint32_t k = 0; k < count; k++) {
        for (int stays = 0; stays < 2; stays++) {
            uint32_t n[4] = {0}, tried = 0;
            for (long at = 0, end = 0; !end; at += 1 + at / 6, tried++) {
                const unsigned is = fails_at(kinds[k].which, at, false, stays);
                end = is == UNHARMED;
                n[is]++;
            }
            print_message("%s that fail%s: %u, it moved %u times, went on %u times, was lost %u times\n",
                          kinds[k].name, stays ? ", and all behind them" : "", tried - 1, n[MOVED], n[WENT_ON],
                          n[LOST]);
            assert_true(tried > 3 && n[MOVED] <= kinds[k].harmless);
        }
    }
}

static void test_source(void **state)
{
    (void)state;
    static const struct kind kinds[] = {
        {MEMORY_READ, "reads of memory", 0}, {READ, "reads of registers", 0}, {WRITE, "writes of registers", 0}};
    each(kinds, sizeof kinds / sizeof *kinds, source_fails);
}

static void test_target(void **state)
{
    (void)state;
    static const struct kind kinds[] = {
        {MEMORY_WRITE, "writes of memory", 0}, {ALL, "accesses of the target", 2}}; /* the clock's two words */
    each(kinds, sizeof kinds / sizeof *kinds, target_fails);
}

/** A random access of any thread fails, also of the scheduler's, which submits and pages. */
static void test_any_thread(void **state)
{
    (void)state;
    const char *given = getenv("TERN_TEST_SEED");
    uint32_t seed = given ? (uint32_t)strtoul(given, NULL, 0) : 1, n[2][4] = {{0}};
    print_message("seed %u (rerun: TERN_TEST_SEED=%u)\n", seed, seed);
    for (uint32_t i = 0; i < 60; i++) {
        seed = seed * 1664525 + 1013904223;
        const bool there_too = seed >> 30 & 1, stays = seed >> 29 & 1;
        const long at = 1l << (seed >> 24) % 11, more = (long)(seed >> 8) % at;
        n[there_too][(there_too ? target_fails : source_fails)(ALL, at + more, true, stays)]++;
    }
    for (uint32_t i = 0; i < 2; i++) {
        print_message("of the %s: unharmed %u, moved %u, went on %u, lost %u\n", i ? "target" : "source",
                      n[i][UNHARMED], n[i][MOVED], n[i][WENT_ON], n[i][LOST]);
        assert_true(n[i][LOST]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_source), cmocka_unit_test(test_target),
                                       cmocka_unit_test(test_any_thread)};
    return cmocka_run_group_tests_name("migrate_hal", tests, NULL, NULL);
}
