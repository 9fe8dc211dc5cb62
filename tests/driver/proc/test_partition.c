/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Partitions (M2, M5). Memory moves between partitions scrubbed, and only the memory that was asked for.
 * Oversubscribed, killed or shared work of one partition takes no page of another. The default partition's commitments
 * are kept. Work that faults, hangs, is killed or causes a reset of an engine changes no result in another partition.
 */
#include <string.h>

#include "actor.h"
#include "device_memory.h"
#include "os/part/part.h"
#include "rig.h"
#include "tests/lib/submit.h"

static const char *const small = "small,mem=64M,quantum=20000,timeout=200000";

static int create(const char *name, uint64_t bytes, uint64_t host)
{
    struct tern_partition_desc d = {.size = sizeof d, .memory_bytes = bytes, .host_bytes = host};
    memcpy(d.name, name, strnlen(name, sizeof d.name));
    return tern_partition_create(dev, &d);
}

static struct tern_partition_info info(const char *name)
{
    struct tern_partition_info all[8] = {{.size = sizeof *all}};
    const int n = tern_partition_list(dev, all, 8);
    assert_in_range(n, 1, 8);
    assert_string_equal(all[0].name, "default");
    for (int i = 0; i < n; i++) {
        if (!strcmp(all[i].name, name)) {
            return all[i];
        }
    }
    fail_msg("there is no partition %s", name);
    return all[0];
}

static struct tern_partition *find(const char *name)
{
    pthread_mutex_lock(&dev->lock);
    struct tern_partition *p = tern_partition_find(dev, name);
    pthread_mutex_unlock(&dev->lock);
    return p;
}

static struct tern_process *process_in(const char *partition, const char *name)
{
    struct tern_process *p;
    ok(tern_process_create_in(dev, partition, name, &p));
    return p;
}

static int fill(struct tern_context *c, struct tern_allocation *a, uint8_t value)
{
    const uint32_t at = tern_allocation_address(a);
    uint64_t fence = 0;
    ok(tern_context_set_residency(c, &at, 1));
    work_fill(&dma, at, (uint32_t)tern_allocation_size(a), value);
    ok(submit_packets(c, dma.w, dma.size, "fill", &fence));
    dma.size = 0;
    return tern_wait(c, fence, PATIENCE);
}

/** Waits until all frees of the process have ended. */
static void settle(const struct tern_process *p)
{
    pthread_mutex_lock(&dev->lock);
    while (p->retiring) {
        pthread_cond_wait(&dev->changed, &dev->lock);
    }
    pthread_mutex_unlock(&dev->lock);
}

/** Checks that each page of the device, except the reserved ones, is in the range of exactly one partition, and that no
 * partition has more free pages than its ranges. */
static void check_ranges(void)
{
    const uint32_t reserved = tern_reserved_pages(dev), end = dev->kmd.mem_pages;
    uint8_t *seen = calloc(end, 1);
    assert_non_null(seen);
    pthread_mutex_lock(&dev->lock);
    TERN_LIST_EACH(node, &dev->partitions)
    {
        const struct tern_partition *p = TERN_LIST_ENTRY(node, struct tern_partition, node);
        uint32_t sum = 0;
        for (uint32_t i = 0; i < p->range_count; i++) {
            const struct tern_run *r = &p->ranges[i];
            assert_true(r->count && r->page + r->count <= end);
            assert_true(i == 0 || p->ranges[i - 1].page + p->ranges[i - 1].count < r->page);
            for (uint32_t k = 0; k < r->count; k++) {
                assert_int_equal(seen[r->page + k]++, 0);
            }
            sum += r->count;
        }
        assert_int_equal(sum, p->count);
        assert_true(tern_pages_free_count(p->pages) <= sum);
    }
    pthread_mutex_unlock(&dev->lock);
    for (uint32_t i = 0; i < end; i++) {
        assert_int_equal(seen[i], i >= reserved);
    }
    free(seen);
}

static void test_errors(void **state)
{
    (void)state;
    struct tern_process *p;
    rig_open(small, NULL);
    const uint32_t pages = free_pages(dev);
    const struct {
        const char *name;
        uint64_t bytes, host;
        int error;
    } bad[] = {
        {"", MIB, 0, -EINVAL}, {"a b", MIB, 0, -EINVAL}, {"abcdefghijklmnopqrstuvwx", MIB, 0, -EINVAL},
        {"a/b", MIB, 0, -EINVAL}, {"a", MIB + 1, 0, -EINVAL}, {"a", 252 << 10, 0, -EINVAL}, {"a", 0, 0, -EINVAL},
        {"a", UINT64_MAX & ~4095ull, 0, -EINVAL}, {"a", 1ull << 40, 0, -ENOSPC}, {"a", MIB, 4095, -EINVAL},
        {"a", MIB, 1ull << 40, -ENOSPC}, {"a", 65 * MIB, 0, -ENOSPC}, {"default", MIB, 0, -EEXIST},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(create(bad[i].name, bad[i].bytes, bad[i].host), bad[i].error);
    }
    assert_int_equal(tern_partition_destroy(dev, "a"), -ENOENT);
    assert_int_equal(tern_partition_resize(dev, "a", MIB), -ENOENT);
    assert_int_equal(tern_partition_destroy(dev, "default"), -EINVAL);
    assert_int_equal(tern_partition_resize(dev, "default", MIB), -EINVAL);
    assert_int_equal(tern_process_create_in(dev, "a", "p", &p), -ENOENT);
    assert_int_equal(create("abcdefghijklmnopqrstuvw", 256 << 10, 0), 0);
    assert_int_equal(create("abcdefghijklmnopqrstuvw", MIB, 0), -EEXIST);
    p = process_in("abcdefghijklmnopqrstuvw", "p");
    assert_int_equal(tern_partition_destroy(dev, "abcdefghijklmnopqrstuvw"), -EBUSY);
    assert_int_equal(tern_partition_resize(dev, "abcdefghijklmnopqrstuvw", MIB), -EBUSY);
    ok(tern_process_destroy(p));
    assert_int_equal(tern_partition_resize(dev, "abcdefghijklmnopqrstuvw", 252 << 10), -EINVAL);
    ok(tern_partition_destroy(dev, "abcdefghijklmnopqrstuvw"));
    assert_int_equal(free_pages(dev), pages);
    check_ranges();
    rig_done();
}

/** A new partition gets superpages first. All of its memory returns to the default partition. */
static void test_ranges(void **state)
{
    (void)state;
    rig_open(small, NULL);
    const uint32_t pages = free_pages(dev), host = dev->partition.host;
    ok(create("a", 16 * MIB, 8 * MIB));
    const struct tern_partition *a = find("a");
    assert_int_equal(tern_pages_free_blocks(a->pages, TERN_PAGES_ORDERS - 1), 4);
    struct tern_partition_info i = info("a");
    assert_true(i.memory_bytes == 16 * MIB && i.free_bytes == 16 * MIB && i.host_bytes == 8 * MIB && !i.processes);
    assert_int_equal(i.ranges, 1);
    assert_int_equal(free_pages(dev), pages - 16 * MIB / 4096);
    assert_int_equal(dev->partition.host, host - 8 * MIB / 4096);
    check_ranges();
    struct tern_process *p = process_in(NULL, "in the way"); /* fragments the memory that is left */
    struct tern_allocation *m[64];
    for (int k = 0; k < 64; k++) {
        m[k] = memory(p, 256 << 10, RW);
    }
    for (int k = 0; k < 64; k += 2) {
        tern_allocation_destroy(m[k]);
    }
    settle(p);
    const uint32_t left = free_pages(dev);
    ok(create("b", (uint64_t)(left - 16) * 4096, TERN_PARTITION_HOST));
    i = info("b");
    assert_true(i.ranges > 8); /* in several ranges */
    check_ranges();
    assert_int_equal(create("c", MIB, 0), -ENOSPC);
    ok(tern_partition_resize(dev, "a", 4 * MIB));
    assert_true(info("a").host_bytes == 2 * MIB);
    ok(create("c", 10 * MIB, 0));
    ok(tern_partition_resize(dev, "a", 5 * MIB));
    check_ranges();
    for (int k = 1; k < 64; k += 2) {
        tern_allocation_destroy(m[k]);
    }
    ok(tern_process_destroy(p));
    ok(tern_partition_destroy(dev, "b"));
    ok(tern_partition_destroy(dev, "a"));
    check_ranges();
    ok(tern_partition_destroy(dev, "c"));
    check_ranges();
    assert_int_equal(free_pages(dev), pages);
    assert_int_equal(dev->partition.host, host);
    assert_int_equal(dev->partition.count, pages);
    assert_int_equal(dev->partition.range_count, 1);
    rig_done();
}

/** The next owner of a page, in any partition, reads zeros (A7). The page's dirty bit shows that it was scrubbed. */
static void test_no_leak(void **state)
{
    (void)state;
    static uint32_t bits[64 * MIB / 4096 / 32];
    rig_open(small, NULL);
    const char *const owner[] = {NULL, "a", NULL, "b", "a"};
    for (int round = 0; round < 5; round++) {
        if (owner[round]) {
            ok(create(owner[round], 48 * MIB, 0));
        }
        struct tern_process *p = process_in(owner[round], "p");
        struct tern_context *c = context(p, -1);
        struct tern_allocation *a = memory(p, 44 * MIB, RW);
        expect_filled(a, 0);
        ok(tern_process_dirty(p, tern_allocation_address(a), 44 * MIB, false, bits));
        uint32_t dirty = 0;
        for (uint32_t i = 0; i < 44 * MIB / 4096; i++) {
            dirty += bits[i / 32] >> i % 32 & 1u;
        }
        /* used pages are scrubbed, which sets their bits */
        assert_true(round == 0 ? dirty == 0 : dirty > 8 * MIB / 4096);
        assert_int_equal(fill(c, a, (uint8_t)(0xa0 + round)), 0);
        expect_filled(a, (uint8_t)(0xa0 + round));
        tern_context_destroy(c);
        if (round % 2) {
            tern_allocation_destroy(a);
        } else {
            ok(tern_process_kill(p));
        }
        ok(tern_process_destroy(p));
        if (owner[round]) {
            ok(tern_partition_destroy(dev, owner[round]));
        }
    }
    check_ranges();
    rig_done();
}

/** A process that needs more memory than its partition has takes no page of another partition and evicts nothing there.
 *  Only its own partition's commitment refuses it. */
static void test_bystander(void **state)
{
    (void)state;
    struct tern_allocation *mine[3], *theirs[12], *too_much;
    rig_open(small, NULL);
    ok(create("a", 16 * MIB, 48 * MIB));
    ok(create("b", 20 * MIB, 4 * MIB));
    struct tern_process *b = process_in("b", "bystander"), *a = process_in("a", "oversubscribed");
    struct tern_context *cb = context(b, -1), *ca = context(a, -1);
    for (int i = 0; i < 3; i++) {
        mine[i] = memory(b, 4 * MIB, RW);
        assert_int_equal(fill(cb, mine[i], (uint8_t)(1 + i)), 0);
    }
    const uint64_t was_free = info("b").free_bytes, was_default = info("default").free_bytes;
    for (int i = 0; i < 12; i++) {
        theirs[i] = memory(a, 4 * MIB, RW);
    }
    for (int i = 0; i < 24; i++) {
        assert_int_equal(fill(ca, theirs[i % 12], (uint8_t)(0x10 + i)), 0);
    }
    assert_true(dev->pager.evicted > 12 * 1024);
    assert_int_equal(tern_allocation_create(a, 24 * MIB, RW, 0, &too_much), -ENOSPC);
    assert_true(info("a").committed_bytes == 48 * MIB && info("b").committed_bytes == 12 * MIB);
    assert_true(info("b").free_bytes == was_free && info("default").free_bytes == was_default);
    for (int i = 0; i < 3; i++) {
        assert_true(tern_list_empty(&mine[i]->mem->away));
        expect_filled(mine[i], (uint8_t)(1 + i));
    }
    for (int i = 0; i < 12; i++) {
        expect_filled(theirs[i], (uint8_t)(0x1c + i));
    }
    ok(tern_process_kill(a));
    assert_true(info("a").free_bytes == 16 * MIB);
    ok(tern_process_destroy(a));
    assert_int_equal(fill(cb, mine[0], 9), 0);
    expect_filled(mine[0], 9);
    ok(tern_process_kill(b));
    ok(tern_process_destroy(b));
    ok(tern_partition_destroy(dev, "a"));
    ok(tern_partition_destroy(dev, "b"));
    check_ranges();
    rig_done();
}

/** Opens an actor in a partition. */
static void open_in(struct actor *a, const char *partition, const uint32_t *code, size_t size, const char *name)
{
    snprintf(dev->own_partition, sizeof dev->own_partition, "%s", partition); /* as TERN_PARTITION does */
    actor_open(a, name, 0, code, size);
    dev->own_partition[0] = '\0';
}

/** Work of one partition faults, never ends, is killed, or causes a reset of the engine. In the other partition every
 *  result is right, nothing is aborted, and no memory changes (M5). */
static void test_misbehaviour(void **state)
{
    (void)state;
    char folder[] = "/tmp/tern-part-XXXXXX", command[64];
    assert_non_null(mkdtemp(folder));
    setenv("TERN_CRASH_DIR", folder, 1);
    struct actor good, bad;
    uint64_t fence[8];
    rig_open("small,mem=64M,quantum=2000,timeout=20000", NULL);
    ok(create("a", 16 * MIB, 0));
    ok(create("b", 16 * MIB, 0));
    open_in(&good, "b", code_mix, sizeof code_mix, "good");
    const uint64_t was_free = info("b").free_bytes;
    for (int round = 0; round < 4; round++) {
        if (round == 0) {
            open_in(&bad, "a", code_trap, sizeof code_trap, "traps");
        } else {
            open_in(&bad, "a", code_spin, sizeof code_spin, "spins");
        }
        uint64_t f = 0;
        if (round == 0) {
            actor_set(&bad, 0, 100);
            actor_dispatch(&bad, 16);
            f = work_submit(&dma, bad.c, "trap");
        } else {
            f = actor_spin(&bad);
            spins(&bad);
        }
        rig.deaf_to = round == 3 ? bad.c->id : 0;
        rig.deaf = round == 3;
        for (int i = 0; i < 8; i++) { /* equal work: the last result stands for all */
            fence[i] = actor_mix(&good, 50 + (uint32_t)round);
        }
        if (round == 1) {
            ok(tern_process_kill(bad.p));
        } else if (round == 2) {
            tern_process_abort(bad.p, "test");
        }
        for (int i = 0; i < 8; i++) {
            ok(tern_wait(good.c, fence[i], PATIENCE));
        }
        expect_mixed(&good);
        if (round != 1) {
            assert_int_equal(tern_wait(bad.c, f, PATIENCE), -EIO);
            ok(tern_process_kill(bad.p));
        }
        rig.deaf = 0;
        ok(tern_process_destroy(bad.p));
        assert_true(info("a").free_bytes == 16 * MIB && info("b").free_bytes == was_free);
        assert_int_equal(tern_process_status(good.p, NULL), 0);
    }
    assert_int_equal(dev->sched.engine[0].resets, 1);
    /* the actor that spins, which is refused after TERN_OFFENCES resets */
    struct tern_offender *o = &dev->tdr.offender[0];
    assert_int_equal(o->n, 1);
    while (o->n < TERN_OFFENCES) {
        o->at[o->n] = o->at[0];
        o->n++;
    }
    struct tern_process *again;
    assert_int_equal(tern_process_create_in(dev, "a", "spins", &again), -EACCES);
    ok(tern_process_create_in(dev, "b", "spins", &again));
    ok(tern_process_destroy(again));
    assert_int_equal(stats(&good).completed, 32);
    assert_true(info("b").cycles > 0);
    actor_close(&good);
    ok(tern_partition_destroy(dev, "a"));
    ok(tern_partition_destroy(dev, "b"));
    rig_done();
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
    unsetenv("TERN_CRASH_DIR");
}

/** A user's processes in two partitions have separate scheduler users. A partition's share can be changed at any
 * time. */
static void test_shares(void **state)
{
    (void)state;
    struct tern_process *p[3];
    struct tern_partition_desc d = {.size = sizeof d, .name = "a", .memory_bytes = MIB, .share = TERN_WEIGHT_MAX + 1};
    rig_open(small, NULL);
    assert_int_equal(tern_partition_create(dev, &d), -EINVAL);
    d.share = 300;
    ok(tern_partition_create(dev, &d));
    assert_true(info("a").share == 300 && info("default").share == 100);
    struct tern_owner owner = {.uid = 1000, .share = 200, .partition = "a"};
    ok(tern_os_process_create_for(dev, "p", &owner, &p[0]));
    ok(tern_os_process_create_for(dev, "q", &owner, &p[1]));
    owner.partition = NULL;
    ok(tern_os_process_create_for(dev, "r", &owner, &p[2]));
    assert_true(p[0]->sched.user == p[1]->sched.user && p[0]->sched.user != p[2]->sched.user);
    assert_true(p[0]->sched.partition == find("a")->sched && p[2]->sched.partition == &dev->sched.main);
    assert_int_equal(tern_partition_set_share(dev, "a", 0), -EINVAL);
    assert_int_equal(tern_partition_set_share(dev, "a", TERN_WEIGHT_MAX + 1), -EINVAL);
    assert_int_equal(tern_partition_set_share(dev, "b", 1), -ENOENT);
    ok(tern_partition_set_share(dev, "a", 7));
    ok(tern_partition_set_share(dev, "default", 1000));
    assert_true(info("a").share == 7 && info("default").share == 1000);
    for (int i = 0; i < 3; i++) {
        ok(tern_process_destroy(p[i]));
    }
    ok(tern_partition_destroy(dev, "a"));
    rig_done();
}

/** Memory can only be shared within a partition. */
static void test_shared(void **state)
{
    (void)state;
    uint8_t handle[TERN_HANDLE_BYTES];
    struct tern_allocation *m, *i;
    rig_open(small, NULL);
    ok(create("a", 8 * MIB, 0));
    struct tern_process *p = process_in("a", "p"), *q = process_in("a", "q"), *other = process_in(NULL, "other");
    m = memory(p, MIB, RW);
    ok(tern_allocation_export(m, RW, handle));
    assert_int_equal(tern_allocation_import(other, handle, RW, 0, &i), -EXDEV);
    ok(tern_allocation_import(q, handle, RW, 0, &i));
    tern_allocation_destroy(i);
    tern_allocation_destroy(m);
    ok(tern_process_destroy(p));
    ok(tern_process_destroy(q));
    ok(tern_process_destroy(other));
    ok(tern_partition_destroy(dev, "a"));
    rig_done();
}

/** A new partition cannot take memory that the default partition has promised: memory that a process's work may use at
 * once, and host memory for evictions. */
static void test_promise(void **state)
{
    (void)state;
    rig_open("small,mem=64M,host=32M,quantum=20000,timeout=200000", NULL);
    struct tern_process *p = process_in(NULL, "p");
    struct tern_allocation *m[32];
    int n = 0;
    for (; n < 10; n++) {
        m[n] = memory(p, 4 * MIB, RW);
    }
    assert_int_equal(create("a", 32 * MIB, 0), -ENOSPC); /* so much is not free */
    ok(create("a", 4 * MIB, 0));
    while (n < 32 && tern_allocation_create(p, 4 * MIB, RW, 0, &m[n]) == 0) {
        n++;
    }
    assert_true(n > 15 && n < 32);
    assert_int_equal(create("b", MIB, 0), -ENOSPC);
    for (int i = 0; i < 4; i++) { /* some memory is free again, and all of it is promised */
        tern_allocation_destroy(m[i]);
    }
    settle(p);
    assert_int_equal(create("b", MIB, 32 * MIB), -ENOSPC);
    assert_non_null(strstr(tern_last_error(), "promised"));
    assert_int_equal(create("b", 8 * MIB, 0), -ENOSPC);
    assert_non_null(strstr(tern_last_error(), "may use at once"));
    while (n > 4) {
        tern_allocation_destroy(m[--n]);
    }
    ok(tern_process_destroy(p));
    ok(create("b", 32 * MIB, 32 * MIB));
    ok(tern_partition_destroy(dev, "a"));
    ok(tern_partition_destroy(dev, "b"));
    check_ranges();
    rig_done();
}

/** Free memory that a process's work may use at once cannot be taken: the process is evicted and must fit again. */
static void test_room_to_come_back(void **state)
{
    (void)state;
    struct tern_allocation *m[2][10];
    struct tern_process *p[2];
    struct tern_context *c[2];
    rig_open(small, NULL);
    for (int u = 0; u < 2; u++) { /* the second process evicts the first */
        p[u] = process_in(NULL, u ? "second" : "first");
        c[u] = context(p[u], -1);
        for (int i = 0; i < 10; i++) {
            m[u][i] = memory(p[u], 4 * MIB, RW);
            assert_int_equal(fill(c[u], m[u][i], (uint8_t)i), 0);
        }
    }
    ok(tern_process_kill(p[1]));
    ok(tern_process_destroy(p[1]));
    assert_int_equal(create("a", 32 * MIB, 0), -ENOSPC);
    assert_non_null(strstr(tern_last_error(), "process 'first' of the partition 'default' has 40960 KiB"));
    ok(create("a", 8 * MIB, 0));
    ok(tern_context_set_residency(c[0], NULL, 0)); /* no set: all of it */
    uint64_t fence;
    for (uint32_t i = 0; i < 10; i++) {
        work_fill(&dma, tern_allocation_address(m[0][i]), 4096, 0x55);
    }
    ok(submit_packets(c[0], dma.w, dma.size, "all", &fence));
    dma.size = 0;
    ok(tern_wait(c[0], fence, PATIENCE));
    ok(tern_process_kill(p[0]));
    ok(tern_process_destroy(p[0]));
    ok(tern_partition_destroy(dev, "a"));
    check_ranges();
    rig_done();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors), cmocka_unit_test(test_ranges), cmocka_unit_test(test_no_leak),
        cmocka_unit_test(test_bystander), cmocka_unit_test(test_shared), cmocka_unit_test(test_promise),
        cmocka_unit_test(test_room_to_come_back), cmocka_unit_test(test_misbehaviour),
        cmocka_unit_test(test_shares),
    };
    return cmocka_run_group_tests_name("partition", tests, NULL, NULL);
}
