/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Processes whose memory does not fit on the device together alternate, however short `lease` is (A6, os/mem/lease.c).
 * Two and three of them do so while other work keeps the engines busy. Moves and cycles are counted. NORMAL also gets
 * stays beside FOCUS (S1).
 */
#include <inttypes.h>

#include "device_memory.h"
#include "os/mem/mem.h"
#include "rig.h"
#include "snapshot.h"

#define ITEMS 64u

/** A process with a kernel that adds its work-item's id to the words of one array and stores them to another. */
struct streamer {
    struct actor a;
    struct tern_allocation *from, *to;
    uint32_t words; /* words of each array */
    uint64_t fence;
};

static uint32_t value_of(uint32_t i)
{
    return i * 0x9e3779b1u;
}

/** Opens a streamer. bytes: of both arrays together. */
static void streamer_open(struct streamer *s, const char *name, uint32_t bytes)
{
    uint32_t piece[MIB / 4];
    actor_open(&s->a, name, -1, code_stream, sizeof code_stream);
    s->words = bytes / 8;
    ok(tern_allocation_create(s->a.p, bytes / 2, TERN_MEM_WRITE, 0, &s->from));
    ok(tern_allocation_create(s->a.p, bytes / 2, TERN_MEM_WRITE, 0, &s->to));
    for (uint32_t at = 0; at < s->words; at += MIB / 4) {
        for (uint32_t i = 0; i < MIB / 4; i++) {
            piece[i] = value_of(at + i);
        }
        ok(tern_allocation_write(s->from, 4 * (uint64_t)at, piece, MIB));
    }
}

static void streamer_begin(struct streamer *s)
{
    const uint32_t args[] = {tern_allocation_address(s->from), tern_allocation_address(s->to), s->words / ITEMS,
                             4 * ITEMS};
    ok(tern_allocation_write(s->a.args, 0, args, sizeof args));
    actor_dispatch(&s->a, ITEMS);
    s->fence = work_submit(&dma, s->a.c, "stream");
}

static void streamer_end(struct streamer *s)
{
    uint32_t piece[MIB / 4];
    ok(tern_wait(s->a.c, s->fence, PATIENCE));
    for (uint32_t at = 0; at < s->words; at += MIB / 4) {
        ok(tern_allocation_read(s->to, 4 * (uint64_t)at, piece, MIB));
        for (uint32_t i = 0; i < MIB / 4; i++) {
            assert_int_equal(piece[i], value_of(at + i) + (at + i) % ITEMS);
        }
    }
}

static void streamer_close(struct streamer *s)
{
    tern_allocation_destroy(s->from);
    tern_allocation_destroy(s->to);
    actor_close(&s->a);
}

struct cost {
    uint64_t cycles, blocks; /* device time in cycles; blocks brought */
};

/** Opens an endless kernel whose memory is pinned. */
static void open_pinned_spin(struct actor *a, int32_t engine)
{
    open_spin(a, "spins", engine);
    struct tern_allocation *const all[] = {a->code, a->args, a->stack, a->data};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        ok(tern_allocation_make_resident(all[i]));
    }
}

/** Keep both engines busy. */
static struct actor spin[2];
static uint64_t spun[2];

static void spin_open(void)
{
    for (int e = 0; e < 2; e++) {
        open_pinned_spin(&spin[e], e);
        spun[e] = actor_spin(&spin[e]);
    }
}

static void spin_close(void)
{
    for (int e = 0; e < 2; e++) {
        actor_set(&spin[e], 0, 1);
        ok(tern_wait(spin[e].c, spun[e], PATIENCE));
        actor_close(&spin[e]);
    }
}

/** Runs n streamers of so many MiB each at once, while other work keeps the engines busy. Returns what they cost. */
static struct cost run(const char *config, uint32_t n, uint32_t mib)
{
    struct streamer s[3];
    rig_open(config, NULL);
    if (!dev->kmd.page_requests) {
        print_message("skipped: the device has no page requests\n");
        rig_done();
        exit(77);
    }
    const uint32_t pages = free_pages(dev);
    for (uint32_t i = 0; i < n; i++) {
        streamer_open(&s[i], "takes turns", mib * MIB);
    }
    spin_open();
    const uint64_t before = tern_device_time(dev);
    for (uint32_t i = 0; i < n; i++) {
        streamer_begin(&s[i]);
    }
    for (uint32_t i = 0; i < n; i++) {
        streamer_end(&s[i]);
    }
    const struct cost c = {tern_device_time(dev) - before, dev->pager.brought * 4096 / (4 * MIB)};
    spin_close();
    for (uint32_t i = 0; i < n; i++) {
        streamer_close(&s[i]);
    }
    assert_int_equal(free_pages(dev), pages);
    rig_done();
    print_message("%s: %u of %u MiB: %" PRIu64 " cycles, %" PRIu64 " blocks brought\n", config, n, mib, c.cycles,
                  c.blocks);
    return c;
}

/** Two and three processes whose sets do not fit together all end with right results. The time is not much more than
 *  that of one after the other, and each process brings its memory only a few times. */
static void test_sets(void **state)
{
    (void)state;
    static const char *const config[] = {"small,mem=32M,host=224M,lease=1,quantum=20000,timeout=200000",
                                         "small,mem=32M,host=224M,lease=1000,quantum=20000,timeout=200000"};
    const struct cost alone = run("small,mem=128M,quantum=20000,timeout=200000", 1, 20);
    assert_int_equal(alone.blocks, 0);
    for (uint32_t k = 0; k < 2; k++) {
        for (uint32_t n = 2; n <= 3; n++) {
            const struct cost c = run(config[k], n, 20);
            assert_in_range(c.cycles, alone.cycles, 6 * n * alone.cycles);
            assert_in_range(c.blocks, n - 1, 150 * n);
        }
    }
}

/** Two processes that each use more memory than the device has, with page requests. */
static void test_pages(void **state)
{
    (void)state;
    const struct cost c = run("small,mem=32M,host=224M,lease=1,quantum=20000,timeout=200000", 2, 40);
    assert_in_range(c.blocks, 6, 300);
}

/** Two processes with page requests all the time do not keep out one that needs all of its memory at once. It ends
 * first. */
static void test_set_beside_pages(void **state)
{
    (void)state;
    struct streamer s[2], set;
    struct snapshot at = {.other = {&s[0].a, &s[1].a}};
    rig_open("small,mem=32M,host=480M,lease=1,quantum=20000,timeout=200000", NULL);
    for (int i = 0; i < 2; i++) {
        streamer_open(&s[i], "asks", 128 * MIB);
    }
    streamer_open(&set, "set", 24 * MIB);
    snapshot_at_end(&at, &set.a, -1);
    for (int i = 0; i < 2; i++) {
        streamer_begin(&s[i]);
        until(stats(&s[i].a).page_requests > 2);
    }
    const uint64_t before = dev->pager.brought;
    streamer_begin(&set);
    streamer_end(&set);
    print_message("%" PRIu64 " blocks brought until it ended\n", (at.brought - before) * 4096 / (4 * MIB));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(at.ended[i], 0);
    }
    for (int i = 0; i < 2; i++) {
        streamer_end(&s[i]);
        streamer_close(&s[i]);
    }
    streamer_close(&set);
    rig_done();
}

enum { CROWD = 24 };

/** The alternating processes run although more work than there are quanta in eight leases was queued before theirs. */
static void test_crowd(void **state)
{
    (void)state;
    struct actor crowd[CROWD], a[2];
    struct tern_allocation *large[2];
    uint64_t spins_on[CROWD], fence[2];
    rig_open("small,mem=32M,host=224M,lease=1,quantum=20000,timeout=200000", NULL);
    for (int i = 0; i < CROWD; i++) {
        open_pinned_spin(&crowd[i], i % 2);
        spins_on[i] = actor_spin(&crowd[i]);
    }
    for (int i = 0; i < 2; i++) {
        open_mix(&a[i], "takes turns", i);
        ok(tern_allocation_create(a[i].p, 18 * MIB, TERN_MEM_WRITE, 0, &large[i]));
    }
    const uint64_t before = tern_device_time(dev);
    for (int i = 0; i < 2; i++) {
        fence[i] = actor_mix(&a[i], 2000);
    }
    for (int i = 0; i < 2; i++) {
        ok(tern_wait(a[i].c, fence[i], PATIENCE));
        expect_mixed(&a[i]);
    }
    const uint64_t blocks = dev->pager.brought * 4096 / (4 * MIB);
    print_message("%" PRIu64 " cycles, %" PRIu64 " blocks brought\n", tern_device_time(dev) - before, blocks);
    assert_in_range(blocks, 1, 80);
    for (int i = 0; i < CROWD; i++) {
        actor_set(&crowd[i], 0, 1);
        ok(tern_wait(crowd[i].c, spins_on[i], PATIENCE));
        actor_close(&crowd[i]);
    }
    for (int i = 0; i < 2; i++) {
        tern_allocation_destroy(large[i]);
        actor_close(&a[i]);
    }
    rig_done();
}

static const uint64_t lease = 100000;

/** Returns the length of the last boosted lease in cycles. */
static uint64_t boost_lease(const struct actor *a)
{
    pthread_mutex_lock(&dev->lock);
    const uint64_t last = a->p->partition->boost_lease;
    pthread_mutex_unlock(&dev->lock);
    return last;
}

/** An endless FOCUS process that uses most of the memory keeps NORMAL out for eight leases at a time, and not for
 * ever. */
static void test_focus(void **state)
{
    (void)state;
    struct actor focus;
    struct tern_allocation *large;
    struct streamer normal;
    rig_open("small,mem=32M,host=224M,lease=100000,quantum=20000,timeout=200000", NULL);
    open_spin(&focus, "focus", 0);
    ok(tern_context_set_priority(focus.c, TERN_BAND_FOCUS, 0));
    ok(tern_allocation_create(focus.p, 20 * MIB, TERN_MEM_WRITE, 0, &large));
    const uint64_t fence = actor_spin(&focus);
    spins(&focus);
    streamer_open(&normal, "normal", 20 * MIB);
    streamer_begin(&normal);
    streamer_end(&normal);
    const uint64_t theirs = stats(&focus).cycles, ours = stats(&normal.a).cycles, last = boost_lease(&normal.a);
    print_message("FOCUS ran %" PRIu64 " cycles, NORMAL %" PRIu64 ", its last lease had %" PRIu64 "\n", theirs, ours,
                  last);
    assert_true(last >= lease);
    assert_true(theirs >= 8 * lease); /* NORMAL may run longer than its lease, since a thread takes its memory */
    assert_int_equal(tern_context_ended(focus.c), 0);
    spins(&focus);
    actor_set(&focus, 0, 1);
    ok(tern_wait(focus.c, fence, PATIENCE));
    tern_allocation_destroy(large);
    streamer_close(&normal);
    actor_close(&focus);
    rig_done();
}

/** Returns true when NORMAL has ended. FOCUS, which requests its pages, is given more work before it has none. */
static bool ends_beside(struct streamer *focus, const struct actor *normal, uint64_t fence)
{
    while (tern_context_ended(focus->a.c) + 2 >= focus->fence) {
        streamer_begin(focus);
    }
    return tern_context_ended(normal->c) >= fence;
}

/** A FOCUS process that requests its pages keeps NORMAL out in the same way, and not for ever. */
static void test_focus_pages(void **state)
{
    (void)state;
    struct streamer focus;
    struct actor normal;
    struct tern_allocation *large;
    rig_open("small,mem=32M,host=224M,lease=100000,quantum=20000,timeout=200000", NULL);
    streamer_open(&focus, "focus", 128 * MIB);
    ok(tern_context_set_priority(focus.a.c, TERN_BAND_FOCUS, 0));
    open_mix(&normal, "normal", -1);
    ok(tern_allocation_create(normal.p, 20 * MIB, TERN_MEM_WRITE, 0, &large));
    streamer_begin(&focus);
    until(stats(&focus.a).page_requests > 4);
    const uint64_t fence = actor_mix(&normal, 2000);
    until(ends_beside(&focus, &normal, fence));
    const uint64_t theirs = stats(&focus.a).cycles, ours = stats(&normal).cycles, last = boost_lease(&normal);
    print_message("FOCUS ran %" PRIu64 " cycles, NORMAL %" PRIu64 ", its last lease had %" PRIu64 "\n", theirs, ours,
                  last);
    assert_true(last >= lease && theirs >= 8 * lease);
    expect_mixed(&normal);
    streamer_end(&focus);
    tern_allocation_destroy(large);
    actor_close(&normal);
    streamer_close(&focus);
    rig_done();
}

/** The memory that a waiting context keeps from another, by band and ticket. */
static void test_ticket(void **state)
{
    (void)state;
    enum { OWN = 100 };
    static const struct {
        struct tern_precedence precedence;
        bool keeps;
    } cases[] = {
        {{TERN_BAND_NORMAL, {OWN - 1, 9}}, false},
        {{TERN_BAND_NORMAL, {OWN, 4}}, false},
        {{TERN_BAND_NORMAL, {OWN, 5}}, false},
        {{TERN_BAND_NORMAL, {OWN, 6}}, true},
        {{TERN_BAND_NORMAL, {OWN + 1, 1}}, true},
        {{TERN_BAND_IDLE, {OWN - 1, 1}}, true},
        {{TERN_BAND_FOCUS, {OWN + 1, 9}}, false},
    };
    struct actor a;
    rig_open("small,mem=32M,lease=100000,quantum=20000,timeout=200000", NULL);
    open_mix(&a, "waits", 0);
    pthread_mutex_lock(&dev->lock); /* nobody else sees these values */
    const struct tern_lease before = a.c->lease;
    a.c->lease = (struct tern_lease){0};
    const bool nothing = tern_lease_keeps(a.c, &cases[3].precedence);
    a.c->lease = (struct tern_lease){.ticket = {OWN, 5}, .held = 1};
    bool keeps[sizeof cases / sizeof *cases];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        keeps[i] = tern_lease_keeps(a.c, &cases[i].precedence);
    }
    a.c->lease.boosted = true;
    const bool boosted = tern_lease_keeps(a.c, &cases[6].precedence);
    a.c->lease = before;
    pthread_mutex_unlock(&dev->lock);
    assert_false(nothing);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(keeps[i], cases[i].keeps);
    }
    assert_true(boosted);
    actor_close(&a);
    rig_done();
}

#define T(name) cmocka_unit_test_teardown(name, rig_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_focus), /* first: tests/attacks checks whether it hangs */
        T(test_ticket),
        T(test_focus_pages),
        T(test_sets),
        T(test_pages),
        T(test_crowd),
        T(test_set_beside_pages),
    };
    return cmocka_run_group_tests_name("thrashing", tests, NULL, NULL);
}
