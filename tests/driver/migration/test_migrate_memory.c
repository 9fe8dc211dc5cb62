/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Memory of processes that move (M1): evicted, sparse, copies that are stopped between their parts, memory shared by
 * handles, and a file that is loaded into a partition. test_refusals: a device that cannot take the processes, for
 * example one with another number of lanes, refuses before it makes anything (M3).
 */
#include <unistd.h>

#include "device_memory.h"
#include "migration.h"

#define ITEMS 64u

static uint32_t committed(struct tern_device *d)
{
    pthread_mutex_lock(&d->lock);
    const uint32_t n = d->partition.committed;
    pthread_mutex_unlock(&d->lock);
    return n;
}

/** Runs a kernel of 64 work-items. Each reads a word at so many places, 4 KiB apart, adds its id and stores the sum. */
static uint64_t stream(struct actor *a, uint32_t from, uint32_t to, uint32_t places)
{
    const uint32_t args[] = {from, to, places, 4096};
    ok(tern_allocation_write(a->args, 0, args, sizeof args));
    actor_dispatch(a, ITEMS);
    return work_submit(&dma, a->c, "stream");
}

static void expect_streamed(struct tern_allocation *to, uint32_t places, uint32_t from)
{
    for (uint32_t i = 0; i < places; i++) {
        uint32_t got[ITEMS];
        ok(tern_allocation_read(to, 4096ull * i, got, sizeof got));
        for (uint32_t k = 0; k < ITEMS; k++) {
            assert_int_equal(got[k], from + k);
        }
    }
}

/** A kernel reads and writes more memory than the device has and is stopped in the middle. The memory is sparse or
 * not. */
static void more_than_there_is(bool sparse)
{
    enum { BYTES = 8 * MIB };
    const char *config = "small,mem=16M,host=64M,quantum=20000,timeout=200000";
    struct actor a;
    struct tern_allocation *from, *to;
    const uint32_t flags = RW | (sparse ? TERN_MEM_SPARSE : 0);
    open_both(config);
    const uint32_t pages_here = free_pages(dev), pages_there = free_pages(there);
    actor_open(&a, "streams", -1, code_stream, sizeof code_stream);
    struct tern_process *before = a.p;
    ok(tern_allocation_create(a.p, BYTES, flags, 0, &from));
    ok(tern_allocation_create(a.p, BYTES, flags, 0, &to));
    static uint32_t words[4096 / 4];
    for (uint32_t i = 0; i < 4096 / 4; i++) {
        words[i] = 7;
    }
    for (uint32_t i = 0; i < BYTES / 4096; i += 2) { /* the pages between are never written */
        ok(tern_allocation_write(from, 4096ull * i, words, 4096));
    }
    breakpoint_set(here, dev, a.p, 40000);
    const uint64_t fence = stream(&a, tern_allocation_address(from), tern_allocation_address(to), BYTES / 4096);
    breakpoint_await(here, a.c);
    assert_true(here->paused);
    const uint32_t was = committed(dev);
    struct journey j = depart(&a.p, 1, NULL);
    assert_int_equal(committed(there), was);
    actor_follow(&a, j.loading, 0);
    from = tern_loading_allocation(j.loading, 0, tern_allocation_address(from));
    to = tern_loading_allocation(j.loading, 0, tern_allocation_address(to));
    arrive(&j);
    forget(before);
    assert_int_equal(free_pages(dev), pages_here);
    ok(tern_wait(a.c, fence, PATIENCE));
    for (uint32_t i = 0; i < BYTES / 4096; i++) {
        uint32_t got[ITEMS];
        ok(tern_allocation_read(to, 4096ull * i, got, sizeof got));
        for (uint32_t k = 0; k < ITEMS; k++) {
            assert_int_equal(got[k], (i % 2 ? 0 : 7) + k);
        }
    }
    tern_allocation_destroy(from);
    tern_allocation_destroy(to);
    actor_close(&a);
    assert_int_equal(free_pages(there), pages_there);
    assert_int_equal(committed(there), 0);
    close_both();
}

static void test_evicted(void **state)
{
    (void)state;
    more_than_there_is(false);
}

static void test_sparse(void **state)
{
    (void)state;
    more_than_there_is(true);
}

/** A copy and a fill of more memory than the device has go on between their parts, wherever they were stopped. */
static void test_parts(void **state)
{
    (void)state;
    enum { BYTES = 12 * MIB };
    static uint32_t words[MIB / 4], got[MIB / 4];
    bool parted[2] = {false};
    for (uint32_t when = 90000; when <= 590000; when += 100000) {
        struct actor a;
        struct tern_allocation *from, *to;
        open_both("small,mem=16M,host=64M,quantum=20000");
        actor_open(&a, "parts", -1, code_stream, sizeof code_stream);
        struct tern_process *before = a.p;
        ok(tern_allocation_create(a.p, BYTES, RW, 0, &from));
        ok(tern_allocation_create(a.p, BYTES, RW, 0, &to));
        for (uint32_t at = 0; at < BYTES; at += MIB) {
            for (uint32_t i = 0; i < MIB / 4; i++) {
                words[i] = (at + i) * 0x9e3779b1u;
            }
            ok(tern_allocation_write(from, at, words, MIB));
        }
        struct tern_pkt_fill fill = {.dst_lo = tern_allocation_address(from) + 5, .width = BYTES - 5, .rows = 1,
                                     .slices = 1};
        for (uint32_t i = 0; i < 64; i++) {
            ((uint8_t *)fill.pattern)[i] = (uint8_t)i;
        }
        work_copy(&dma, tern_allocation_address(to), tern_allocation_address(from), BYTES);
        ok(tern_pkt_fill_pack(&fill, work_add(&dma, 2)));
        breakpoint_set(here, dev, a.p, when);
        const uint64_t fence = work_submit(&dma, a.c, "copy, fill");
        breakpoint_await(here, a.c);
        assert_true(here->paused);
        const struct tern_job *job = TERN_LIST_ENTRY(a.c->sched.jobs.next, struct tern_job, node);
        print_message("at %u: byte %u, part of %u bytes from %u\n", when, job->sent, job->last.size[0],
                      job->last.from[0]);
        parted[job->sent != 0] = parted[job->sent != 0] || job->last.size[0];
        struct journey j = depart(&a.p, 1, NULL);
        actor_follow(&a, j.loading, 0);
        from = tern_loading_allocation(j.loading, 0, tern_allocation_address(from));
        to = tern_loading_allocation(j.loading, 0, tern_allocation_address(to));
        arrive(&j);
        forget(before);
        ok(tern_wait(a.c, fence, PATIENCE));
        for (uint32_t at = 0; at < BYTES; at += MIB) {
            ok(tern_allocation_read(to, at, got, MIB));
            for (uint32_t i = 0; i < MIB / 4; i++) {
                assert_int_equal(got[i], (at + i) * 0x9e3779b1u);
            }
            ok(tern_allocation_read(from, at, got, MIB));
            for (uint32_t i = at ? 0 : 5; i < MIB; i++) {
                assert_int_equal(((uint8_t *)got)[i], (at + i - 5) % 64);
            }
        }
        tern_allocation_destroy(from);
        tern_allocation_destroy(to);
        actor_close(&a);
        close_both();
    }
    assert_true(parted[0] && parted[1]); /* stopped between parts of the copy, and of the fill */
}

/** Two processes that share memory can only move together. Afterwards the handle of the memory is valid on the target,
 * and no more at the source. */
static void test_shared(void **state)
{
    (void)state;
    const char *config = "small,mem=32M,timeout=200000";
    struct actor makes, uses;
    struct tern_allocation *made, *used, *late;
    struct tern_saving *m;
    struct tern_stream *s;
    uint8_t rw[TERN_HANDLE_BYTES], ro[TERN_HANDLE_BYTES], got[8];
    open_both(config);
    const uint32_t pages_there = free_pages(there);
    open_spin(&makes, "makes", 0);
    actor_open(&uses, "uses", 1, code_stream, sizeof code_stream);
    ok(tern_allocation_create(makes.p, 6 * MIB, RW, 0, &made)); /* of two blocks at any address */
    ok(tern_allocation_export(made, RW, rw));
    ok(tern_allocation_export(made, TERN_MEM_READ, ro));
    ok(tern_allocation_import(uses.p, ro, TERN_MEM_READ, 0, &used));
    ok(tern_allocation_write(made, 5 * MIB, "shared", 7));
    const uint64_t fence = actor_spin(&makes);
    spins(&makes);

    ok(tern_migrate_stop(&makes.p, 1, &m));
    ok(tern_stream_write_memory(&s));
    assert_int_equal(tern_migrate_write(m, s), -EBUSY);
    expect_says(tern_last_error(), "is shared with process 'uses'");
    tern_stream_close(s);
    tern_migrate_go_on(m);
    spins(&makes);

    struct tern_process *before[] = {makes.p, uses.p};
    s = saved(before, 2, &m);
    size_t n;
    struct tern_stream *again;
    struct tern_loading *l;
    const void *bytes = tern_stream_memory(s, &n);
    ok(tern_stream_read_memory(bytes, n, &again));
    assert_int_equal(tern_migrate_load(dev, NULL, again, NULL, &l), -EEXIST); /* the memory is there already */
    expect_says(tern_last_error(), "names other memory here");
    tern_stream_close(again);
    struct journey j = {m, s, loaded(there, s, NULL)};
    actor_follow(&makes, j.loading, 0);
    actor_follow(&uses, j.loading, 1);
    made = tern_loading_allocation(j.loading, 0, tern_allocation_address(made));
    used = tern_loading_allocation(j.loading, 1, tern_allocation_address(used));
    arrive(&j);
    forget(before[0]);
    forget(before[1]);
    static uint32_t bits[6 * MIB / 4096 / 32];
    ok(tern_process_dirty(makes.p, tern_allocation_address(made), 6 * MIB, false, bits));
    for (uint32_t i = 0; i < 6 * MIB / 4096; i++) { /* pages that were sent are dirty, zero pages are not */
        assert_int_equal(bits[i / 32] >> i % 32 & 1, i == 5 * MIB / 4096);
    }
    ok(tern_allocation_read(used, 5 * MIB, got, 7));
    assert_string_equal((const char *)got, "shared");
    assert_int_equal(tern_allocation_write(used, 0, "x", 1), -EACCES);
    ok(tern_allocation_write(made, 4096, "now", 4));
    ok(tern_allocation_read(used, 4096, got, 4));
    assert_string_equal((const char *)got, "now");
    ok(tern_allocation_import(uses.p, rw, RW, 0, &late));
    ok(tern_allocation_read(late, 5 * MIB, got, 7));
    assert_string_equal((const char *)got, "shared");
    tern_allocation_destroy(made);
    assert_int_equal(tern_allocation_import(uses.p, rw, RW, 0, &made), -ENOENT);
    static const uint32_t one = 1;
    spins(&makes);
    ok(tern_allocation_write(makes.args, 0, &one, sizeof one));
    ok(tern_wait(makes.c, fence, PATIENCE));
    const uint32_t at = tern_allocation_address(used);
    struct tern_allocation *out;
    ok(tern_allocation_create(uses.p, 4 * 4096, RW, 0, &out));
    ok(tern_allocation_write(late, 0, (uint32_t[ITEMS]){0}, 4 * ITEMS));
    ok(tern_wait(uses.c, stream(&uses, at, tern_allocation_address(out), 1), PATIENCE));
    expect_streamed(out, 1, 0);
    tern_allocation_destroy(out);
    tern_allocation_destroy(used);
    tern_allocation_destroy(late);
    actor_close(&makes);
    actor_close(&uses);
    assert_int_equal(free_pages(there), pages_there);
    close_both();
}

struct refusal {
    const char *config;
    int error;
    const char *says;
};

/** A device that cannot take the processes of `from` refuses before it makes anything. */
static void refusals(const char *from, const struct refusal *wrong, uint32_t n_wrong)
{
    struct actor a;
    struct tern_allocation *big;
    struct tern_saving *m;
    dma.size = 0;
    here = breakpoint_open(NULL, from, &dev);
    open_mix(&a, "moves", (int32_t)dev->info.engines - 1);
    ok(tern_allocation_create(a.p, 24 * MIB, RW, 0, &big));
    struct tern_stream *s = saved(&a.p, 1, &m);
    for (uint32_t i = 0; i < n_wrong; i++) {
        struct tern_stream *in;
        struct tern_loading *l;
        size_t n;
        const void *bytes = tern_stream_memory(s, &n);
        open_there(wrong[i].config);
        const uint32_t pages = free_pages(there);
        ok(tern_stream_read_memory(bytes, n, &in));
        assert_int_equal(tern_migrate_load(there, "none", in, NULL, &l),
                         wrong[i].error == -EPROTO ? -EPROTO : -ENOENT);
        tern_stream_close(in);
        ok(tern_stream_read_memory(bytes, n, &in));
        assert_int_equal(tern_migrate_load(there, NULL, in, NULL, &l), wrong[i].error);
        expect_says(tern_last_error(), wrong[i].says);
        assert_true(tern_stream_counts(in).records <= 1); /* no further record was read */
        tern_stream_close(in);
        assert_int_equal(free_pages(there), pages);
        ok(tern_device_close(there));
    }
    tern_stream_close(s);
    tern_migrate_go_on(m);
    run_mix(&a, 20);
    tern_allocation_destroy(big);
    actor_close(&a);
    ok(tern_device_close(dev));
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct refusal by_others[] = {
        {"default,mem=64M", -EPROTO, "the work comes from a device with 8 lanes, and this one has 16"},
        {"tiny,mem=64M", -EPROTO, "the work comes from a device with 8 lanes, and this one has 4"},
        {"small,mem=16M,host=0", -ENOSPC, "KiB that may be evicted"},
    }, of_tiny[] = {
        {"small,mem=64M", -EPROTO, "the work comes from a device with 4 lanes, and this one has 8"},
    };
    refusals("small,mem=64M", by_others, sizeof by_others / sizeof *by_others);
    refusals("tiny,mem=64M", of_tiny, sizeof of_tiny / sizeof *of_tiny);
}

/** The processes are loaded from a file into a partition. */
static void test_file(void **state)
{
    (void)state;
    struct actor a;
    struct tern_saving *m;
    struct tern_stream *s;
    struct tern_loading *l;
    char path[] = "/tmp/tern-migrate-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0 && unlink(path) == 0);
    open_both("small,mem=64M,timeout=200000");
    const struct tern_partition_desc d = {.size = sizeof d, .name = "guest", .memory_bytes = 16 * MIB};
    ok(tern_partition_create(there, &d));
    open_spin(&a, "file", -1);
    struct tern_process *before = a.p;
    const uint64_t fence = actor_spin(&a);
    spins(&a);
    ok(tern_migrate_stop(&a.p, 1, &m));
    ok(tern_stream_write_fd(fd, &s));
    ok(tern_stream_compress(s, 3));
    ok(tern_migrate_write(m, s));
    tern_stream_close(s);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    ok(tern_stream_read_fd(fd, &s));
    ok(tern_migrate_load(there, "guest", s, NULL, &l));
    tern_stream_close(s);
    actor_follow(&a, l, 0);
    assert_string_equal(a.p->partition->name, "guest");
    tern_migrate_commit(l);
    tern_migrate_end(m);
    forget(before);
    spins(&a);
    actor_set(&a, 0, 1);
    ok(tern_wait(a.c, fence, PATIENCE));
    actor_close(&a);
    ok(tern_partition_destroy(there, "guest"));
    close(fd);
    close_both();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_evicted), cmocka_unit_test(test_sparse),   cmocka_unit_test(test_parts),
        cmocka_unit_test(test_shared),
        cmocka_unit_test(test_refusals), cmocka_unit_test(test_file),
    };
    return cmocka_run_group_tests_name("migrate_memory", tests, NULL, NULL);
}
