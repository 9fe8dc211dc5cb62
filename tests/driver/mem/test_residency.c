/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Allocations that are evicted to the host and come back (A6). Their data are right, work runs in order, and every
 * process makes progress. There is up to four times as much memory as the device has. Refusals and pins are tested too.
 */
#include "actor.h"
#include "device_memory.h"
#include "os/mem/mem.h"
#include "rig.h"
#include "tests/lib/submit.h"

static const char *const small = "small,mem=16M,quantum=20000,timeout=200000";

/** A process with a context and allocations of one size. */
struct user {
    struct tern_process *p;
    struct tern_context *c;
    struct tern_allocation *a[64];
    uint32_t n;
};

static void user_open(struct user *u, const char *name, uint32_t n, uint32_t bytes)
{
    const struct tern_context_desc d = {.size = sizeof d, .name = name, .engine = -1};
    *u = (struct user){.n = n};
    ok(tern_process_create(dev, name, &u->p));
    ok(tern_context_create(u->p, &d, &u->c));
    for (uint32_t i = 0; i < n; i++) {
        ok(tern_allocation_create(u->p, bytes, TERN_MEM_WRITE, 0, &u->a[i]));
    }
}

static void user_close(struct user *u)
{
    tern_context_destroy(u->c);
    for (uint32_t i = 0; i < u->n; i++) {
        tern_allocation_destroy(u->a[i]);
    }
    ok(tern_process_destroy(u->p));
}

static uint32_t at(const struct user *u, uint32_t i)
{
    return tern_allocation_address(u->a[i]);
}

static void name(struct user *u, uint32_t i, uint32_t k)
{
    const uint32_t set[] = {at(u, i), at(u, k)};
    ok(tern_context_set_residency(u->c, set, 2));
}

static uint64_t brought(void)
{
    pthread_mutex_lock(&dev->lock);
    const uint64_t n = dev->pager.brought;
    pthread_mutex_unlock(&dev->lock);
    return n;
}

/** 16 buffers with four times the device's memory, two of which are used at a time. */
static void test_stream(void **state)
{
    (void)state;
    struct user u;
    struct tern_device_info info = {.size = sizeof info};
    rig_open(small, NULL);
    const uint32_t pages = free_pages(dev);
    ok(tern_device_query(dev, &info));
    const uint32_t size = (uint32_t)(info.allocatable_bytes / 16) & ~4095u;
    assert_true(16ull * size > 39ull * info.resident_bytes / 10 && info.resident_bytes < info.memory_bytes);
    user_open(&u, "stream", 16, size);
    for (uint32_t i = 0; i < 16; i++) {
        name(&u, i, i);
        work_fill(&dma, at(&u, i), size, (uint8_t)(i + 1));
        work_submit(&dma, u.c, "fill");
    }
    for (uint32_t i = 0; i < 16; i++) { /* each buffer gets its neighbour's values */
        name(&u, i, (i + 1) % 16);
        work_copy(&dma, at(&u, i), at(&u, (i + 1) % 16), 64);
        work_copy(&dma, at(&u, i) + 64, at(&u, (i + 1) % 16) + 64, size - 64);
        work_submit(&dma, u.c, "copy");
    }
    ok(tern_wait(u.c, 32, PATIENCE));
    const uint64_t before = brought();
    for (uint32_t i = 0; i < 16; i++) {
        /* The first had changed when it was copied to the last. */
        expect_filled(u.a[i], i == 15 ? 2 : (uint8_t)(i + 2));
    }
    assert_int_equal(brought(), before); /* the host reads evicted memory where it is */
    user_close(&u);
    assert_int_equal(free_pages(dev), pages);
    rig_done();
}

/** Two processes, each with three quarters of the memory, make progress, without an eviction at every switch. */
static void test_alternate(void **state)
{
    (void)state;
    struct user u[2];
    uint64_t last[2] = {0};
    const uint64_t lease = 1000000;
    rig_open("small,mem=16M,lease=1000000", NULL);
    const uint32_t pages = free_pages(dev), size = 12 * MIB;
    user_open(&u[0], "one", 1, size);
    user_open(&u[1], "two", 1, size);
    for (uint32_t i = 0; i < 60; i++) {
        for (uint32_t k = 0; k < 2; k++) {
            work_fill(&dma, at(&u[k], 0), size / 4, (uint8_t)(i + k * 100));
            work_copy(&dma, at(&u[k], 0) + size / 4, at(&u[k], 0), size / 4);
            work_copy(&dma, at(&u[k], 0) + size / 2, at(&u[k], 0), size / 2);
            last[k] = work_submit(&dma, u[k].c, "turn");
        }
    }
    for (uint32_t k = 0; k < 2; k++) {
        ok(tern_wait(u[k].c, last[k], PATIENCE));
        expect_filled(u[k].a[0], (uint8_t)(59 + k * 100));
    }
    const uint64_t times = brought() * 4096 / size;
    print_message("%llu times brought in within %llu cycles\n", (unsigned long long)times,
                  (unsigned long long)tern_device_time(dev));
    assert_true(times >= 4 && times <= tern_device_time(dev) / lease + 3);
    user_close(&u[0]);
    user_close(&u[1]);
    assert_int_equal(free_pages(dev), pages);
    rig_done();
}

/** An endless kernel that fills the memory is preempted, evicted and resumed, so that other processes run. */
static void test_endless(void **state)
{
    (void)state;
    struct actor spin;
    struct tern_allocation *large;
    struct user u;
    rig_open(small, NULL);
    open_spin(&spin, "spin", 0);
    ok(tern_allocation_create(spin.p, 12 * MIB, TERN_MEM_WRITE, 0, &large));
    const uint64_t fence = actor_spin(&spin);
    spins(&spin);
    user_open(&u, "comes", 1, 12 * MIB);
    for (int i = 0; i < 3; i++) {
        work_fill(&dma, at(&u, 0), 12 * MIB, (uint8_t)(i + 7));
        ok(tern_wait(u.c, work_submit(&dma, u.c, "comes"), PATIENCE));
        expect_filled(u.a[0], (uint8_t)(i + 7));
        spins(&spin);
    }
    actor_set(&spin, 0, 1);
    ok(tern_wait(spin.c, fence, PATIENCE));
    assert_int_equal(actor_get(&spin, 1), 1);
    tern_allocation_destroy(large);
    user_close(&u);
    actor_close(&spin);
    rig_done();
}

/** Work whose memory does not fit at once is refused with the sizes. With a smaller set it runs. */
static void test_too_much(void **state)
{
    (void)state;
    struct user u;
    uint64_t fence = 0;
    rig_open(small, NULL);
    user_open(&u, "much", 3, 8 * MIB);
    work_fill(&dma, at(&u, 2), MIB, 1);
    assert_int_equal(submit_packets(u.c, dma.w, dma.size, "all", &fence), -ENOSPC);
    expect_says(tern_last_error(), "24576 KiB");
    expect_says(tern_last_error(), "tern_context_set_residency");
    uint32_t set[] = {at(&u, 0), at(&u, 1) + 4096, at(&u, 2)};
    ok(tern_context_set_residency(u.c, set, 3));
    assert_int_equal(submit_packets(u.c, dma.w, dma.size, "all", &fence), -ENOSPC);
    expect_says(tern_last_error(), "it cannot run");
    ok(tern_context_set_residency(u.c, set + 2, 1));
    work_run(&dma, u.c, "one");
    set[0] = 0x90000000;
    assert_int_equal(tern_context_set_residency(u.c, set, 1), -EFAULT);
    assert_int_equal(tern_allocation_create(u.p, 64 * MIB, TERN_MEM_WRITE, 0, &u.a[3]), -ENOSPC);
    work_fill(&dma, at(&u, 0), 64, 1); /* not in the set and not on the device */
    work_fill(&dma, at(&u, 1), 64, 1);
    fence = work_submit(&dma, u.c, "wild");
    assert_int_equal(tern_wait(u.c, fence, PATIENCE), -EIO);
    expect_says(tern_last_error(), "evicted, and not in the working set");
    user_close(&u);
    rig_done();
}

/** Work needs the memory that existed at its submission. Memory that was made later or destroyed before does not
 * count. */
static void test_made_later(void **state)
{
    (void)state;
    struct user u;
    rig_open(small, NULL);
    user_open(&u, "later", 1, 12 * MIB);
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < 3; k++) {
            work_fill(&dma, at(&u, 0), 12 * MIB, (uint8_t)(3 * i + k + 1));
            work_submit(&dma, u.c, "fill");
        }
        ok(tern_allocation_create(u.p, 12 * MIB, TERN_MEM_WRITE, 0, &u.a[1]));
        if (i % 2) {
            ok(tern_wait(u.c, (uint64_t)i * 4 + 3, PATIENCE));
            expect_filled(u.a[0], (uint8_t)(3 * i + 3));
        }
        tern_allocation_destroy(u.a[0]);
        u.a[0] = u.a[1];
        work_fill(&dma, at(&u, 0), 1, 9);
        work_submit(&dma, u.c, "new");
    }
    ok(tern_wait(u.c, 16, PATIENCE));
    uint8_t got[2];
    ok(tern_allocation_read(u.a[0], 0, got, 2));
    assert_true(got[0] == 9 && got[1] == 0);
    user_close(&u);
    rig_done();
}

/** New memory reads zero wherever it is, and no data of another process can be read (A7). */
static void test_zero(void **state)
{
    (void)state;
    struct user u, other;
    rig_open(small, NULL);
    user_open(&u, "first", 1, 12 * MIB);
    work_fill(&dma, at(&u, 0), 12 * MIB, 0xee);
    work_run(&dma, u.c, "fill");
    user_open(&other, "second", 2, 6 * MIB);
    expect_filled(other.a[0], 0);
    ok(tern_allocation_write(other.a[1], 5 * MIB, "x", 1)); /* on the host; the rest of the block is brought with it */
    work_copy(&dma, at(&other, 0), at(&other, 1), 6 * MIB);
    work_run(&dma, other.c, "copy");
    uint8_t got = 0;
    ok(tern_allocation_read(other.a[0], 5 * MIB, &got, 1));
    assert_int_equal(got, 'x');
    ok(tern_allocation_write(other.a[0], 5 * MIB, "", 1));
    expect_filled(other.a[0], 0);
    expect_filled(u.a[0], 0xee);
    user_close(&other);
    user_close(&u);
    rig_done();
}

static uint32_t written(struct user *u, bool clear)
{
    static uint32_t bits[8 * 256 / 32];
    uint32_t n = 0;
    ok(tern_process_dirty(u->p, at(u, 0), 8 * MIB, clear, bits));
    for (uint32_t i = 0; i < 8 * 256; i++) {
        n += bits[i / 32] >> i % 32 & 1;
    }
    return n;
}

/** Dirty bits stay with the pages: a move neither sets nor loses bits (D7). */
static void test_dirty(void **state)
{
    (void)state;
    struct user u, other;
    rig_open(small, NULL);
    user_open(&u, "first", 1, 8 * MIB);
    user_open(&other, "second", 1, 12 * MIB);
    for (int round = 0; round < 3; round++) {
        written(&u, true);
        assert_int_equal(written(&u, false), 0);
        work_fill(&dma, at(&u, 0) + 3 * 4096, 2 * 4096, 1);
        work_run(&dma, u.c, "fill");
        work_fill(&dma, at(&other, 0), 12 * MIB, 2); /* evicts it */
        work_run(&dma, other.c, "evict");
        assert_int_equal(written(&u, false), 2);
        ok(tern_allocation_write(u.a[0], 4 * MIB - 1, "xy", 2));
        assert_int_equal(written(&u, false), 4);
        work_fill(&dma, at(&u, 0) + 7 * 4096, 64, 1); /* brings it back */
        work_run(&dma, u.c, "fill");
        assert_int_equal(written(&u, false), 5);
        assert_int_equal(written(&u, true), 5);
        assert_int_equal(written(&u, true), 0);
    }
    user_close(&u);
    user_close(&other);
    rig_done();
}

struct maker {
    struct tern_process *p;
    struct tern_allocation *a;
};

static void *make(void *arg)
{
    struct maker *m = arg;
    ok(tern_allocation_create(m->p, 6 * MIB, TERN_MEM_WRITE, 0, &m->a));
    return NULL;
}

/** An allocation whose page-table entries are being written is no victim yet. Engines that do not stop delay the
 * writing here. */
static void test_being_made(void **state)
{
    (void)state;
    struct actor spin[2];
    struct user u;
    struct maker m = {0};
    pthread_t makes;
    rig_open("small,mem=16M,quantum=20000,timeout=2000000", NULL);
    for (int e = 0; e < 2; e++) {
        open_spin(&spin[e], "deaf", e);
    }
    user_open(&u, "wants", 1, 12 * MIB);
    ok(tern_process_create(dev, "makes", &m.p));
    pthread_mutex_lock(&dev->lock);
    ok(tern_move_out(&u.a[0]->mem->blocks[0]));
    ok(tern_pager_start(dev));
    pthread_mutex_unlock(&dev->lock);
    for (int e = 0; e < 2; e++) {
        actor_spin(&spin[e]);
        spins(&spin[e]);
    }
    rig.deaf = 3;
    assert_int_equal(pthread_create(&makes, NULL, make, &m), 0);
    until(m.p->va.n == 1 && (m.p->paging_out || m.a)); /* on a busy host it may have ended already */
    work_fill(&dma, at(&u, 0), 12 * MIB, 5);
    const uint64_t fence = work_submit(&dma, u.c, "fill");
    until(!tern_list_empty(&u.c->absent) || tern_context_ended(u.c) >= fence);
    pthread_join(makes, NULL);
    rig.deaf = 0;
    for (int e = 0; e < 2; e++) {
        actor_set(&spin[e], 0, 1); /* ends, unless a request that it did not hear has caused its reset */
    }
    ok(tern_wait(u.c, fence, PATIENCE));
    expect_filled(u.a[0], 5);
    expect_filled(m.a, 0);
    pthread_mutex_lock(&dev->lock);
    assert_int_equal(m.p->absent, !m.a->mem->blocks[0].resident);
    pthread_mutex_unlock(&dev->lock);
    tern_allocation_destroy(m.a);
    ok(tern_process_destroy(m.p));
    user_close(&u);
    actor_close(&spin[0]);
    actor_close(&spin[1]);
    rig_done();
}

static void test_pins(void **state)
{
    (void)state;
    struct user u, other;
    uint64_t fence;
    rig_open(small, NULL);
    user_open(&u, "pins", 2, 6 * MIB);
    user_open(&other, "other", 1, 12 * MIB);
    ok(tern_allocation_make_resident(u.a[1]));
    ok(tern_allocation_make_resident(u.a[1]));
    work_fill(&dma, at(&other, 0), MIB, 1);
    assert_int_equal(submit_packets(other.c, dma.w, dma.size, "no room", &fence), -ENOSPC);
    ok(tern_allocation_evict(u.a[1]));
    assert_int_equal(submit_packets(other.c, dma.w, dma.size, "no room", &fence), -ENOSPC);
    ok(tern_allocation_evict(u.a[1]));
    assert_int_equal(tern_allocation_evict(u.a[1]), -EINVAL);
    work_run(&dma, other.c, "room");
    ok(tern_allocation_make_resident(u.a[1])); /* brought back */
    assert_true(tern_list_empty(&u.a[1]->mem->away));
    assert_int_equal(tern_allocation_make_resident(other.a[0]), -ENOSPC);
    ok(tern_allocation_evict(u.a[1]));
    ok(tern_allocation_make_resident(other.a[0]));
    user_close(&u);
    user_close(&other);
    rig_done();
}

/** Contexts and fences find room where allocations were. */
static void test_room_for_contexts(void **state)
{
    (void)state;
    struct user u;
    struct tern_context *c[40];
    struct tern_fence *f;
    const struct tern_context_desc d = {.size = sizeof d, .engine = -1};
    rig_open(small, NULL);
    user_open(&u, "full", 30, MIB);
    for (int i = 0; i < 40; i++) {
        ok(tern_context_create(u.p, &d, &c[i]));
    }
    ok(tern_fence_create(u.p, 7, &f));
    const uint32_t set = at(&u, 29);
    ok(tern_context_set_residency(c[39], &set, 1));
    work_wait(&dma, tern_fence_address(f), 7);
    work_fill(&dma, set, MIB, 3);
    work_run(&dma, c[39], "fill");
    expect_filled(u.a[29], 3);
    for (int i = 0; i < 40; i++) {
        tern_context_destroy(c[i]);
    }
    tern_fence_destroy(f);
    user_close(&u);
    rig_done();
}

/* -------------------------------------------------------------------- random */

static uint64_t random_state;

static uint32_t below(uint32_t n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)((random_state >> 11) % n);
}

#define USERS 3u
#define PIECES 4u
#define PIECE (6u * MIB)

static const uint32_t piece[PIECES] = {1 * MIB, 3 * MIB, 5 * MIB, 6 * MIB}; /* some in one block, some in two */

/** Random fills, copies, host accesses, frees and suspensions, against a copy of all memory on the host. */
static void test_random(void **state)
{
    (void)state;
    const char *given = getenv("TERN_TEST_SEED");
    const uint64_t seed = given ? strtoull(given, NULL, 0) : 1;
    static uint8_t shadow[USERS][PIECES][PIECE], got[PIECE];
    struct user u[USERS];
    uint64_t last[USERS] = {0};
    random_state = seed * 0x9e3779b97f4a7c15ull + 1;
    print_message("seed %llu (rerun: TERN_TEST_SEED=%llu)\n", (unsigned long long)seed, (unsigned long long)seed);
    memset(shadow, 0, sizeof shadow);
    rig_open(small, NULL);
    const uint32_t pages = free_pages(dev);
    for (uint32_t k = 0; k < USERS; k++) {
        user_open(&u[k], "random", 0, 0);
        for (u[k].n = 0; u[k].n < PIECES; u[k].n++) {
            ok(tern_allocation_create(u[k].p, piece[u[k].n], TERN_MEM_WRITE, 0, &u[k].a[u[k].n]));
        }
    }
    for (int step = 0; step < 600; step++) {
        const uint32_t k = below(USERS), i = below(PIECES), j = (i + 1 + below(PIECES - 1)) % PIECES;
        const uint32_t most = piece[i] < piece[j] ? piece[i] : piece[j];
        const uint32_t size = (1 + below(most / 4096)) * 4096, from = below((most - size) / 4096 + 1) * 4096;
        switch (below(8)) {
        case 0:
        case 1:
        case 2:
            name(&u[k], i, i);
            work_fill(&dma, at(&u[k], i) + from, size, (uint8_t)step);
            memset(shadow[k][i] + from, (uint8_t)step, size);
            last[k] = work_submit(&dma, u[k].c, "fill");
            break;
        case 3:
        case 4:
            name(&u[k], i, j);
            work_copy(&dma, at(&u[k], i) + from, at(&u[k], j) + from, size);
            memcpy(shadow[k][i] + from, shadow[k][j] + from, size);
            last[k] = work_submit(&dma, u[k].c, "copy");
            break;
        case 5:
            ok(tern_wait(u[k].c, last[k], PATIENCE));
            memset(shadow[k][i] + from, (uint8_t)~step, size);
            ok(tern_allocation_write(u[k].a[i], from, shadow[k][i] + from, size));
            break;
        case 6:
            ok(tern_wait(u[k].c, last[k], PATIENCE));
            ok(tern_allocation_read(u[k].a[i], from, got, size));
            assert_memory_equal(got, shadow[k][i] + from, size);
            break;
        default:
            if (below(2)) {
                ok(tern_process_suspend(u[k].p));
                ok(tern_process_resume(u[k].p));
            } else { /* freed while work may be queued for it */
                tern_allocation_destroy(u[k].a[i]);
                ok(tern_allocation_create(u[k].p, piece[i], TERN_MEM_WRITE, 0, &u[k].a[i]));
                memset(shadow[k][i], 0, piece[i]);
            }
        }
    }
    for (uint32_t k = 0; k < USERS; k++) {
        ok(tern_wait(u[k].c, last[k], PATIENCE));
        for (uint32_t i = 0; i < PIECES; i++) {
            ok(tern_allocation_read(u[k].a[i], 0, got, piece[i]));
            assert_memory_equal(got, shadow[k][i], piece[i]);
        }
        user_close(&u[k]);
    }
    assert_int_equal(free_pages(dev), pages);
    assert_int_equal(dev->partition.committed, 0);
    assert_int_equal(dev->partition.movable, 0);
    rig_done();
}

/** The tests run on a device without page requests, and on the device as it is. */
static int no_page_requests(void **state)
{
    (void)state;
    rig_no_page_requests = true;
    return 0;
}

static int page_requests(void **state)
{
    rig_no_page_requests = *state != NULL;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stream),   cmocka_unit_test(test_alternate), cmocka_unit_test(test_endless),
        cmocka_unit_test(test_zero),       cmocka_unit_test(test_dirty),     cmocka_unit_test(test_room_for_contexts),
        cmocka_unit_test_setup_teardown(test_too_much, no_page_requests, page_requests),
        cmocka_unit_test_setup_teardown(test_pins, no_page_requests, page_requests),
        cmocka_unit_test(test_made_later), cmocka_unit_test(test_random), cmocka_unit_test(test_being_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
