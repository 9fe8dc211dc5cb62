/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Processes that use up to all memory of their device and of the host move to an equal, empty device (M1). Memory is on
 * the device, pinned, evicted, or sparse. The processes are stopped, or run and replace some of their memory between
 * rounds. If the target has one page less, the move is refused, and the processes go on with all their memory.
 */
#include "migration.h"

#define HELD_MAX 64u

static const char *const config = "small,mem=16M,quantum=20000,timeout=2000000"; /* and 48 MiB of host memory */
static struct tern_allocation *held[HELD_MAX];
static uint32_t count, pages_of[HELD_MAX];

static uint32_t left(struct tern_device *d)
{
    pthread_mutex_lock(&d->lock);
    const struct tern_partition *p = &d->partition;
    const uint32_t pages = p->count + p->host - p->committed;
    pthread_mutex_unlock(&d->lock);
    return pages;
}

static uint32_t value(uint32_t i, uint32_t page)
{
    return (i * 20011 + page) * 0x9e3779b1u + 1;
}

/** Writes a different word to every page, which commits all of it. */
static void write_all(uint32_t i)
{
    for (uint32_t page = 0; page < pages_of[i]; page++) {
        const uint32_t word = value(i, page);
        ok(tern_allocation_write(held[i], 4096ull * page + page % 1024 * 4, &word, sizeof word));
    }
}

static void expect_all(void)
{
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t page = 0; page < pages_of[i]; page++) {
            uint32_t word;
            ok(tern_allocation_read(held[i], 4096ull * page + page % 1024 * 4, &word, sizeof word));
            assert_int_equal(word, value(i, page));
        }
    }
}

/** Takes so many quarters of the memory that is left. Of every four allocations `sparse` are sparse. */
static void take(const struct actor *a, uint32_t quarters, uint32_t sparse)
{
    static const uint32_t sizes[] = {1024, 1027, 300, 2500, 1024, 1};
    const uint32_t most = (uint32_t)((uint64_t)left(dev) * quarters / 4);
    count = 0;
    for (uint32_t taken = 0; taken < most; count++) {
        const uint32_t size = sizes[count % (sizeof sizes / sizeof *sizes)];
        assert_true(count < HELD_MAX);
        pages_of[count] = size < most - taken ? size : most - taken;
        ok(tern_allocation_create(a->p, 4096ull * pages_of[count],
                                  RW | (count % 4 < sparse ? TERN_MEM_SPARSE : 0), 0, &held[count]));
        write_all(count);
        if (sizes[count % (sizeof sizes / sizeof *sizes)] == 300 && count < 8) {
            ok(tern_allocation_make_resident(held[count]));
        }
        taken += pages_of[count];
    }
}

static void give(void)
{
    while (count) {
        tern_allocation_destroy(held[--count]);
    }
}

/** Between rounds: replaces an allocation by a new one. */
static void change(void *user, const struct tern_migrate_round *round)
{
    const struct actor *a = user;
    const uint32_t i = round->number % count;
    tern_allocation_destroy(held[i]);
    ok(tern_allocation_create(a->p, 4096ull * pages_of[i], RW, 0, &held[i]));
    write_all(i);
}

/** Writes the process. A live one ends by the limit of three rounds. */
static int send(struct actor *a, bool live, struct tern_stream *s, struct tern_saving **m)
{
    const struct tern_migrate_limits limits = {.downtime_ns = 1, .rounds = 3, .progress = change, .user = a};
    if (live) {
        return tern_migrate_live(&a->p, 1, s, &limits, m);
    }
    const int r = tern_migrate_stop(&a->p, 1, m);
    return r ? r : tern_migrate_write(*m, s);
}

static int receive(const struct tern_stream *from, struct tern_loading **l)
{
    struct tern_stream *s;
    size_t n;
    const void *bytes = tern_stream_memory(from, &n);
    ok(tern_stream_read_memory(bytes, n, &s));
    const int r = tern_migrate_load(there, NULL, s, NULL, l);
    tern_stream_close(s);
    return r;
}

static void move(uint32_t quarters, uint32_t sparse, bool live)
{
    struct actor a;
    struct tern_saving *m;
    struct tern_stream *s;
    struct tern_loading *l;
    struct tern_process *guest;
    struct tern_allocation *page;
    open_both(config);
    const uint32_t all = left(there);
    open_mix(&a, "full", -1);
    take(&a, quarters, sparse);
    const uint32_t here_left = left(dev);
    assert_true(quarters < 4 || !here_left);
    if (quarters == 4) { /* the target has one page less, which a guest uses */
        ok(tern_process_create(there, "guest", &guest));
        ok(tern_allocation_create(guest, 4096, RW, 0, &page));
        ok(tern_stream_write_memory(&s));
        ok(send(&a, live, s, &m));
        assert_int_equal(receive(s, &l), -ENOSPC);
        expect_says(tern_last_error(), "KiB that may be evicted or are pinned");
        tern_stream_close(s);
        tern_migrate_go_on(m);
        assert_int_equal(left(there), all - 1);
        tern_allocation_destroy(page);
        ok(tern_process_destroy(guest));
        expect_all();
        run_mix(&a, 20);
    }
    ok(tern_stream_write_memory(&s));
    ok(send(&a, live, s, &m));
    ok(receive(s, &l));
    tern_stream_close(s);
    struct tern_process *before = a.p;
    for (uint32_t i = 0; i < count; i++) {
        held[i] = tern_loading_allocation(l, 0, tern_allocation_address(held[i]));
        assert_non_null(held[i]);
    }
    actor_follow(&a, l, 0);
    tern_migrate_commit(l);
    tern_migrate_end(m);
    forget(before);
    assert_int_equal(left(there), here_left);
    expect_all();
    run_mix(&a, 20);
    give();
    actor_close(&a);
    assert_int_equal(left(there), all);
    close_both();
}

static void test_sweep(void **state)
{
    (void)state;
    for (uint32_t quarters = 1; quarters <= 4; quarters++) {
        for (uint32_t sparse = 0; sparse <= 4; sparse += 2) {
            for (int live = 0; live < 2; live++) {
                print_message("%u quarters, %u of 4 sparse, %s\n", quarters, sparse, live ? "live" : "stopped");
                move(quarters, sparse, live);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sweep)};
    return cmocka_run_group_tests_name("migrate_full", tests, NULL, NULL);
}
