/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Events during a migration (M5): it is cancelled, the reader dies, a process is killed, memory is freed. Another
 * thread does each when the source has written n records, for every n. The linker wraps tern_record_end.
 */
#include <semaphore.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "device_memory.h"
#include "migration.h"
#include "migration_scene.h"
#include "open_device.h"

#define PAGES 500u

enum act { CANCEL, READER_DIES, KILL, FREES, ACTS };

static __thread bool watched;
static atomic_long records = -1; /* records until the event; < 0: none is due */
static atomic_bool acted;
static sem_t now;

int __real_tern_record_end(struct tern_stream *s);
int __wrap_tern_record_end(struct tern_stream *s);

/** Starts the event in another thread, and sleeps so that it can proceed beside this one. */
int __wrap_tern_record_end(struct tern_stream *s)
{
    if (watched && records >= 0 && records-- == 0) {
        acted = true;
        sem_post(&now);
        nap();
    }
    return __real_tern_record_end(s);
}

static struct actor counts, fills;
static struct tern_allocation *data, *freed;
static uint64_t spin;
static int cancel, ends[2];
static enum act act;

static void *does(void *unused)
{
    (void)unused;
    while (sem_wait(&now)) {
    }
    if (!acted) { /* the event was not due */
        return NULL;
    }
    switch (act) {
    case CANCEL:
        ok(eventfd_write(cancel, 1));
        break;
    case READER_DIES:
        shutdown(ends[1], SHUT_RDWR);
        break;
    case KILL:
        ok(tern_process_kill(fills.p));
        break;
    default:
        tern_allocation_destroy(freed);
    }
    return NULL;
}

static struct tern_loading *loading;
static int loads_as;

/** Thread of the target: loads the stream while it is written. */
static void *loads(void *unused)
{
    (void)unused;
    struct tern_stream *in;
    loading = NULL;
    loads_as = tern_stream_read_fd(ends[1], &in);
    if (loads_as == 0) {
        loads_as = tern_migrate_load(there, NULL, in, NULL, &loading);
    }
    tern_stream_close(in);
    return NULL;
}

static void put_pattern(struct tern_allocation *a, uint32_t n)
{
    uint32_t words[1024];
    for (uint32_t i = 0; i < PAGES; i++) {
        for (uint32_t k = 0; k < 1024; k++) {
            words[k] = n + i * 1024 + k;
        }
        ok(tern_allocation_write(a, 4096 * i, words, sizeof words));
    }
}

static void expect_pattern(struct tern_allocation *a, uint32_t n)
{
    uint32_t words[1024];
    for (uint32_t i = 0; i < PAGES; i++) {
        ok(tern_allocation_read(a, 4096 * i, words, sizeof words));
        for (uint32_t k = 0; k < 1024; k++) {
            assert_int_equal(words[k], n + i * 1024 + k);
        }
    }
}

static void open_programs(void)
{
    open_spin(&counts, "counts", 0);
    open_mix(&fills, "fills", 1);
    ok(tern_allocation_create(counts.p, PAGES * 4096, RW, 0, &data));
    ok(tern_allocation_create(fills.p, PAGES * 4096, RW, 0, &freed));
    put_pattern(data, 1);
    put_pattern(freed, 7);
    spin = actor_spin(&counts);
    spins(&counts);
}

/** Ends the programs that are left, which are on `dev`. */
static void end_programs(bool killed)
{
    spins(&counts);
    actor_set(&counts, 0, 1);
    ok(tern_wait(counts.c, spin, PATIENCE));
    expect_pattern(data, 1);
    if (killed) {
        assert_int_equal(tern_process_status(fills.p, NULL), -EIO);
    } else {
        run_mix(&fills, 20);
    }
    tern_allocation_destroy(data);
    actor_close(&counts);
    actor_close(&fills);
}

/** Exchanges source and target after a move. */
static void swap_devices(void)
{
    struct tern_device *d = dev;
    dev = there;
    there = d;
}

/** Migrates with the event after n records. Returns false if there were fewer. */
static bool done_after(long n, uint32_t *moved)
{
    const struct tern_migrate_limits limits = {.downtime_ns = 1, .rounds = 3, .policy = TERN_MIGRATE_FORCE};
    struct tern_saving *m = NULL;
    struct tern_stream *s;
    pthread_t actor, target;
    const uint32_t pages[2] = {free_pages(dev), free_pages(there)};
    open_programs();
    struct tern_process *const procs[] = {counts.p, fills.p};
    const uint32_t at = tern_allocation_address(data), freed_at = tern_allocation_address(freed);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    cancel = eventfd(0, 0);
    assert_true(cancel >= 0 && sem_init(&now, 0, 0) == 0);
    acted = false;
    ok(pthread_create(&actor, NULL, does, NULL));
    ok(pthread_create(&target, NULL, loads, NULL));
    ok(tern_stream_write_fd(ends[0], &s));
    tern_stream_cancel_fd(s, cancel);
    records = n;
    watched = true;
    const int r = tern_migrate_live(procs, 2, s, &limits, &m);
    watched = false;
    records = -1;
    const bool was = acted;
    tern_stream_close(s);
    shutdown(ends[0], SHUT_RDWR);
    if (!was) {
        sem_post(&now);
    }
    if (act != KILL) { /* a kill ends only after the migration */
        ok(pthread_join(actor, NULL));
    }
    ok(pthread_join(target, NULL));
    close(ends[0]);
    close(ends[1]);
    close(cancel);
    const int may = act == CANCEL ? -ECANCELED : act == READER_DIES ? -EPIPE : act == KILL ? -EIO : 0;
    if (r && (r != may || !was)) {
        fail_msg("act %d after record %ld: %d, %s", act, n, r, tern_last_error());
    }
    const bool frees = act == FREES && was, kills = act == KILL && was;
    if (act == KILL && !was) {
        ok(pthread_join(actor, NULL));
    }
    if (!r && !loads_as && !kills) { /* the event came too late, or does not concern the migration */
        struct tern_process *before[] = {counts.p, fills.p};
        struct tern_allocation *const left = tern_loading_allocation(loading, 1, freed_at);
        actor_follow(&counts, loading, 0);
        actor_follow(&fills, loading, 1);
        data = tern_loading_allocation(loading, 0, at);
        tern_migrate_commit(loading);
        tern_migrate_end(m);
        forget(before[0]);
        forget(before[1]);
        swap_devices();
        if (left) {
            expect_pattern(left, 7);
            tern_allocation_destroy(left);
        }
        assert_true(left || frees);
        ++*moved;
    } else {
        assert_true(was && act != FREES);
        if (loading) {
            tern_migrate_drop(loading);
        }
        if (m) {
            tern_migrate_go_on(m);
        }
        expect_no_memory(there, pages[1]);
        if (act == KILL) {
            ok(pthread_join(actor, NULL));
        } else {
            expect_pattern(freed, 7);
        }
        tern_allocation_destroy(freed);
    }
    end_programs(kills);
    sem_destroy(&now);
    until(free_pages(dev) + free_pages(there) == pages[0] + pages[1]);
    return was;
}

static void test_acts(void **state)
{
    (void)state;
    static const char *const name[] = {"cancelled", "reader dies", "process killed", "memory freed"};
    dma.size = 0;
    ok_or_skip(tern_device_open(NULL, SCENE_CONFIG, &dev));
    ok_or_skip(tern_device_open(NULL, SCENE_CONFIG, &there));
    for (act = CANCEL; act < ACTS; act++) {
        uint32_t times = 0, moved = 0;
        for (long n = 0; done_after(n, &moved); n += 1 + n / 12, times++) {
        }
        print_message("%s: %u times, of which %u moved\n", name[act], times, moved);
        assert_true(times > 8);
    }
    ok(tern_device_close(dev));
    ok(tern_device_close(there));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_acts)};
    return cmocka_run_group_tests_name("migrate_stopped", tests, NULL, NULL);
}
