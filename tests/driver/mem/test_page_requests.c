/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Kernels that use more memory than the device has request pages while they run (A6, os/mem/demand.c): streams and
 * random accesses, two processes, and copies beside kernels. Also violations, and events while work waits for a page.
 */
#include "device_memory.h"
#include "published_stats.h"
#include "rig.h"
#include "snapshot.h"
#include "tests/lib/submit.h"

static const char *const small = "small,mem=32M,host=224M,quantum=20000,timeout=200000";

/** Each work-item adds up words of the source at random offsets, and adds its id to the words at the same offsets of
 *  another array. Arguments: source, sums, number of words, mask of offsets, other array. */
static const uint32_t code_gather[] = {
    0x00052303, 0x00452383, 0x00852283, 0x00c52e03, /* lw t1, 0(a0); lw t2, 4(a0); lw t0, 8(a0); lw t3, 12(a0) */
    0xcd002f73, 0x01052783,                         /* csrr t5, global_id_x; lw a5, 16(a0) */
    0x207f43b3, 0x00000f93, 0x000f0593,             /* sh2add t2, t5, t2; li t6, 0; mv a1, t5 */
    0x19660637, 0x60d60613,                         /* lui a2, 0x19660; addi a2, a2, 0x60d */
    0x3c6ef6b7, 0x35f68693,                         /* lui a3, 0x3c6ef; addi a3, a3, 0x35f */
    0x02c585b3, 0x00d585b3,                         /* again: mul a1, a1, a2; add a1, a1, a3 */
    0x01c5f733, 0x00670733,                         /* and a4, a1, t3; add a4, a4, t1 */
    0x00072e83, 0x01df8fb3, 0x40670733, 0x00f70733, /* lw t4, 0(a4); add t6, t6, t4; sub a4, a4, t1; add a4, a4, a5 */
    0x01e7202f, 0xfff28293, 0xfc029ce3,             /* amoadd.w zero, t5, (a4); addi t0, t0, -1; bnez t0, again */
    0x01f3a023, 0x0000100b,                         /* sw t6, 0(t2); exit */
};

/** A kernel that stores its id to the address in argument 0. */
static const uint32_t code_store[] = {0x00052303, 0xcd002f73, 0x01e32023, 0x0000100b};

#define ITEMS 64u

static uint32_t value_of(uint32_t i)
{
    return i * 0x9e3779b1u;
}

/** Two arrays of half of the bytes each. The first one is filled. */
struct arrays {
    struct tern_allocation *from, *to;
    uint32_t bytes;
};

static void arrays_open(struct arrays *x, struct actor *a, uint32_t bytes)
{
    uint32_t piece[MIB / 4];
    x->bytes = bytes / 2;
    ok(tern_allocation_create(a->p, x->bytes, TERN_MEM_WRITE, 0, &x->from));
    ok(tern_allocation_create(a->p, x->bytes, TERN_MEM_WRITE, 0, &x->to));
    for (uint32_t at = 0; at < x->bytes; at += MIB) {
        for (uint32_t i = 0; i < MIB / 4; i++) {
            piece[i] = value_of(at / 4 + i);
        }
        ok(tern_allocation_write(x->from, at, piece, MIB));
    }
}

static void arrays_close(struct arrays *x)
{
    tern_allocation_destroy(x->from);
    tern_allocation_destroy(x->to);
}

static uint64_t stream(struct actor *a, const struct arrays *x, const char *label)
{
    actor_set(a, 0, tern_allocation_address(x->from));
    actor_set(a, 1, tern_allocation_address(x->to));
    actor_set(a, 2, x->bytes / 4 / ITEMS);
    actor_set(a, 3, 4 * ITEMS);
    actor_dispatch(a, ITEMS);
    return work_submit(&dma, a->c, label);
}

static void expect_streamed(const struct arrays *x)
{
    uint32_t piece[MIB / 4];
    for (uint32_t at = 0; at < x->bytes; at += MIB) {
        ok(tern_allocation_read(x->to, at, piece, MIB));
        for (uint32_t i = 0; i < MIB / 4; i++) {
            if (piece[i] != value_of(at / 4 + i) + i % ITEMS) {
                fail_msg("word %u is 0x%08x, not 0x%08x", at / 4 + i, piece[i], value_of(at / 4 + i) + i % ITEMS);
            }
        }
    }
}

static uint64_t requests(void)
{
    pthread_mutex_lock(&dev->lock);
    const uint64_t n = dev->pager.requests;
    pthread_mutex_unlock(&dev->lock);
    return n;
}

/** Opens a device with page requests, or skips the test. */
static void open_device(const char *config)
{
    rig_open(config, NULL);
    if (!dev->kmd.page_requests && !rig_no_page_requests) {
        print_message("skipped: the device has no page requests\n");
        rig_done();
        exit(77);
    }
}

/** Returns the device time that the stream takes, in cycles. */
static uint64_t run_stream(const char *config, uint32_t bytes, uint64_t *asked)
{
    struct actor a;
    struct arrays x;
    open_device(config);
    actor_open(&a, "stream", -1, code_stream, sizeof code_stream);
    arrays_open(&x, &a, bytes);
    const uint64_t before = tern_device_time(dev);
    ok(tern_wait(a.c, stream(&a, &x, "stream"), PATIENCE));
    const uint64_t took = tern_device_time(dev) - before;
    expect_streamed(&x);
    *asked = requests();
    arrays_close(&x);
    actor_close(&a);
    rig_done();
    return took;
}

/** A kernel streams through twice and four times the device's memory, in at most three times the cycles of memory that
 * fits. */
static void test_stream(void **state)
{
    (void)state;
    uint64_t none, asked;
    for (uint32_t times = 2; times <= 4; times += 2) {
        const uint64_t resident = run_stream("small,mem=256M", times * 32 * MIB, &none);
        const uint64_t took = run_stream(small, times * 32 * MIB, &asked);
        print_message("%u times the memory: %llu cycles, %llu page requests; resident %llu\n", times,
                      (unsigned long long)took, (unsigned long long)asked, (unsigned long long)resident);
        assert_int_equal(none, 0);
        assert_in_range(asked, times * 8, times * 8 * 4);
        /* the bound does not hold if device time passes while the host brings pages */
        assert_true(rig.hal.concurrent || took <= 3 * resident);
    }
}

enum { GATHER_ITEMS = 16, STEPS = 6, ACCESSES = 2 * GATHER_ITEMS * STEPS };

/** Offset that a work-item accesses next, from its random state *r. */
static uint32_t place(uint32_t *r, uint32_t bytes)
{
    *r = *r * 0x1966060du + 0x3c6ef35fu;
    return *r & (bytes - 4);
}

static uint64_t gather(struct actor *a, const struct arrays *x)
{
    const uint32_t args[] = {tern_allocation_address(x->from), tern_allocation_address(a->data), STEPS, x->bytes - 4,
                             tern_allocation_address(x->to)};
    ok(tern_allocation_write(a->args, 0, args, sizeof args));
    actor_dispatch(a, GATHER_ITEMS);
    return work_submit(&dma, a->c, "gather");
}

static void expect_gathered(struct actor *a, const struct arrays *x)
{
    uint32_t sum[GATHER_ITEMS], v, *added = calloc(x->bytes / 4, 4);
    assert_non_null(added);
    ok(tern_allocation_read(a->data, 0, sum, sizeof sum));
    for (uint32_t i = 0; i < GATHER_ITEMS; i++) {
        uint32_t want = 0;
        for (uint32_t k = 0, r = i; k < STEPS; k++) {
            const uint32_t at = place(&r, x->bytes);
            want += value_of(at / 4);
            added[at / 4] += i;
        }
        assert_int_equal(sum[i], want);
    }
    for (uint32_t i = 0; i < GATHER_ITEMS; i++) {
        for (uint32_t k = 0, r = i; k < STEPS; k++) {
            const uint32_t at = place(&r, x->bytes);
            ok(tern_allocation_read(x->to, at, &v, 4));
            assert_int_equal(v, added[at / 4]);
        }
    }
    free(added);
}

/** Makes another context of the same process on engine 1, with arguments, stacks and results of its own. */
static void actor_twin(struct actor *twin, const struct actor *of)
{
    const struct tern_context_desc d = {.size = sizeof d, .name = "twin", .engine = 1};
    *twin = *of;
    ok(tern_context_create(of->p, &d, &twin->c));
    ok(tern_allocation_create(of->p, 4096, TERN_MEM_WRITE, 0, &twin->args));
    ok(tern_allocation_create(of->p, 1u << 18, TERN_MEM_WRITE, 0, &twin->stack));
    ok(tern_allocation_create(of->p, 4096, TERN_MEM_WRITE, 0, &twin->data));
}

static void twin_close(struct actor *twin)
{
    tern_context_destroy(twin->c);
    tern_allocation_destroy(twin->args);
    tern_allocation_destroy(twin->stack);
    tern_allocation_destroy(twin->data);
}

/** Random accesses to twice the memory, and to eight times with room for one block. Each access requests its block at
 *  most once, also if another context does the same. */
static void test_gather(void **state)
{
    (void)state;
    static const char *const config[] = {"small,mem=16M", "small,mem=8M,host=120M"};
    for (int n = 1; n <= 2; n++) {
        struct actor a[2];
        struct arrays x[2];
        uint64_t fence[2];
        open_device(config[n - 1]);
        for (int i = 0; i < n; i++) {
            if (i) {
                actor_twin(&a[i], &a[0]);
            } else {
                actor_open(&a[i], "gather", 0, code_gather, sizeof code_gather);
            }
            arrays_open(&x[i], &a[i], 32 * MIB);
        }
        for (int i = 0; i < n; i++) {
            fence[i] = gather(&a[i], &x[i]);
        }
        for (int i = 0; i < n; i++) {
            ok(tern_wait(a[i].c, fence[i], PATIENCE));
            expect_gathered(&a[i], &x[i]);
        }
        print_message("%s: %llu page requests\n", config[n - 1], (unsigned long long)requests());
        assert_in_range(requests(), 20, 2 * n * ACCESSES);
        for (int i = n; i--;) {
            arrays_close(&x[i]);
            (i ? twin_close : actor_close)(&a[i]);
        }
        rig_done();
    }
}

/** Copies and fills never wait for a page: their pages are brought before they run, whatever a kernel in the same
 * buffer needs. */
static void test_packets(void **state)
{
    (void)state;
    struct actor a;
    struct arrays x;
    struct tern_allocation *copy;
    open_device(small);
    actor_open(&a, "packets", -1, code_stream, sizeof code_stream);
    arrays_open(&x, &a, 40 * MIB);
    ok(tern_allocation_create(a.p, 4 * MIB, TERN_MEM_WRITE, 0, &copy));
    const uint32_t to = tern_allocation_address(x.to);
    actor_set(&a, 0, tern_allocation_address(x.from));
    actor_set(&a, 1, to);
    actor_set(&a, 2, x.bytes / 4 / ITEMS);
    actor_set(&a, 3, 4 * ITEMS);
    actor_dispatch(&a, ITEMS);
    work_copy(&dma, tern_allocation_address(copy), to + 5 * MIB, 3 * MIB); /* of two blocks */
    work_fill(&dma, tern_allocation_address(copy) + 3 * MIB, MIB, 0x77);
    ok(tern_wait(a.c, work_submit(&dma, a.c, "kernel, copy, fill"), PATIENCE));
    expect_streamed(&x);
    uint32_t got[1024], want[1024];
    for (uint32_t at = 0; at < 3 * MIB; at += sizeof got) {
        ok(tern_allocation_read(copy, at, got, sizeof got));
        ok(tern_allocation_read(x.to, 5 * MIB + at, want, sizeof want));
        assert_memory_equal(got, want, sizeof got);
    }
    ok(tern_allocation_read(copy, 4 * MIB - 4, got, 4));
    assert_int_equal(got[0], 0x77777777);
    tern_allocation_destroy(copy);
    arrays_close(&x);
    actor_close(&a);
    rig_done();
}

/** Two processes with more memory than the device has both end with right results. In a second run no lease ends, and
 *  one process requests pages while the other waits for memory. */
static void test_two(void **state)
{
    (void)state;
    static const char *const config[] = {"small,mem=32M,host=112M,timeout=200000",
                                         "small,mem=32M,host=112M,lease=100000000000,timeout=200000"};
    const struct tern_context_desc d = {.size = sizeof d, .engine = -1};
    for (int k = 0; k < 2; k++) {
        struct actor a[2];
        struct arrays x[2];
        uint64_t fence[2];
        open_device(config[k]);
        const uint32_t pages = free_pages(dev);
        for (int i = 0; i < 2; i++) {
            actor_open(&a[i], i ? "one" : "other", -1, code_stream, sizeof code_stream);
            arrays_open(&x[i], &a[i], 40 * MIB);
        }
        for (int i = 0; i < 2; i++) {
            fence[i] = stream(&a[i], &x[i], "stream");
        }
        for (int i = 0; i < 4; i++) { /* pinned memory, like a save area, finds room */
            struct tern_context *c;
            ok(tern_context_create(a[1].p, &d, &c));
            tern_context_destroy(c);
        }
        for (int i = 0; i < 2; i++) {
            ok(tern_wait(a[i].c, fence[i], PATIENCE));
            expect_streamed(&x[i]);
            arrays_close(&x[i]);
            actor_close(&a[i]);
        }
        assert_int_equal(free_pages(dev), pages);
        rig_done();
    }
}

/** Waits until the actor's work waits for a page, which cannot come while copies stop at the gate. */
static void until_waits(struct actor *a)
{
    rig.gated = true;
    until(rig.at_gate);
    pthread_mutex_lock(&dev->lock);
    assert_int_equal(a->c->sched.state, TERN_SCHED_ABSENT);
    pthread_mutex_unlock(&dev->lock);
}

/** A kernel that streams through more than the device's memory leaves it to other work after its lease, however often
 *  it requests pages. */
static void test_lease(void **state)
{
    (void)state;
    struct actor a, other;
    struct arrays x;
    struct tern_allocation *set;
    struct snapshot at = {.other = {&a}};
    open_device("small,mem=32M,host=224M,lease=1000000,timeout=200000");
    actor_open(&a, "streams", 0, code_stream, sizeof code_stream);
    open_mix(&other, "waits", 1);
    snapshot_at_end(&at, &other, 1);
    arrays_open(&x, &a, 128 * MIB);
    ok(tern_allocation_create(other.p, 30 * MIB, TERN_MEM_WRITE, 0, &set));
    actor_set(&other, 0, 10);
    actor_set(&other, 1, tern_allocation_address(other.data));
    const uint64_t fence = stream(&a, &x, "stream");
    until_waits(&a);
    actor_dispatch(&other, MIX_ITEMS);
    const uint64_t waits = work_submit(&dma, other.c, "mix");
    rig.gated = false;
    ok(tern_wait(other.c, waits, PATIENCE));
    print_message("%llu cycles before it leaves room\n", (unsigned long long)at.cycles[0]);
    assert_in_range(at.cycles[0], 500000, 6000000);
    assert_int_equal(at.ended[0], 0);
    ok(tern_wait(a.c, fence, PATIENCE));
    expect_streamed(&x);
    assert_true(stats(&a).cycles > 8000000);
    tern_allocation_destroy(set);
    arrays_close(&x);
    actor_close(&a);
    actor_close(&other);
    rig_done();
}

/** A violation is reported as one and ends only its process: a null pointer, an address beyond an allocation, read-only
 *  memory, memory that was destroyed before. */
static void test_violations(void **state)
{
    (void)state;
    struct actor good;
    struct arrays x;
    open_device(small);
    actor_open(&good, "good", -1, code_stream, sizeof code_stream);
    arrays_open(&x, &good, 40 * MIB);
    const uint64_t fence = stream(&good, &x, "stream");
    for (int kind = 0; kind < 4; kind++) {
        struct actor a;
        struct tern_allocation *large, *only;
        actor_open(&a, "bad", -1, code_store, sizeof code_store);
        ok(tern_allocation_create(a.p, 24 * MIB, TERN_MEM_WRITE, 0, &large));
        ok(tern_allocation_create(a.p, 4 * MIB, TERN_MEM_READ, 0, &only));
        const uint32_t end = tern_allocation_address(only) + 4 * MIB, at = tern_allocation_address(only);
        const uint32_t where[] = {0, end, at, tern_allocation_address(large)};
        actor_set(&a, 0, where[kind]);
        if (kind == 3) {
            tern_allocation_destroy(large);
        }
        actor_dispatch(&a, 1);
        assert_int_equal(tern_wait(a.c, work_submit(&dma, a.c, "store"), PATIENCE), -EIO);
        const struct tern_fault f = fault_of(&a);
        assert_int_equal(f.code, kind == 2 ? TERN_FAULT_PROTECTION : TERN_FAULT_PAGE);
        assert_int_equal(f.address, where[kind]);
        expect_says(f.message, kind == 2 ? "may not be written" : "is not mapped");
        if (kind != 3) {
            tern_allocation_destroy(large);
        }
        tern_allocation_destroy(only);
        actor_close(&a);
    }
    ok(tern_wait(good.c, fence, PATIENCE));
    expect_streamed(&x);
    arrays_close(&x);
    actor_close(&good);
    rig_done();
}

enum meanwhile { KILL, DESTROY, SUSPEND, RESET, EVERYTHING };

/** While work waits for a page, its process is killed, the memory is destroyed, its context is suspended, or engines
 *  are reset. */
static void test_meanwhile(void **state)
{
    (void)state;
    static const char *const names[] = {"kill", "destroy", "suspend", "reset"};
    for (enum meanwhile what = KILL; what < EVERYTHING; what++) {
        struct actor a, spin;
        struct arrays x;
        uint64_t hold = 0;
        open_device(small);
        const uint32_t pages = free_pages(dev);
        print_message("%s\n", names[what]);
        open_spin(&spin, "spin", 0);
        actor_open(&a, "waits", 1, code_stream, sizeof code_stream);
        arrays_open(&x, &a, 64 * MIB); /* no block is on the device at first */
        const uint64_t spins_on = actor_spin(&spin);
        spins(&spin);
        rig.deaf = what == RESET;
        const uint64_t fence = stream(&a, &x, "stream");
        if (what != RESET) {
            until_waits(&a);
        }
        switch (what) {
        case KILL:
            rig.gated = false;
            tern_process_kill(a.p);
            break;
        case DESTROY:
            arrays_close(&x);
            break;
        case SUSPEND:
            hold = actor_suspend(&a);
            break;
        default:
            until(rig.resets); /* engine 0, which does not stop, must drop translations of the page's victim */
            rig.deaf = 0;
            break;
        }
        rig.gated = false;
        if (what == SUSPEND) {
            spins(&spin);
            assert_int_not_equal(tern_context_ended(a.c), fence);
            actor_resume(&a, hold);
        }
        assert_int_equal(tern_wait(a.c, fence, PATIENCE), what == KILL ? -EIO : 0);
        if (what == SUSPEND || what == RESET) {
            expect_streamed(&x);
        }
        actor_set(&spin, 0, 1);
        assert_int_equal(tern_wait(spin.c, spins_on, PATIENCE), what == RESET ? -EIO : 0);
        if (what != DESTROY) {
            arrays_close(&x);
        }
        actor_close(&a);
        actor_close(&spin);
        assert_int_equal(free_pages(dev), pages);
        rig_done();
    }
}

static uint64_t told;

static bool as_told(void)
{
    return published.page_requests == told && published.contexts == 1 && published.context[0].page_requests == told &&
           published.evicted_bytes && published.evicted_bytes == dev->pager.evicted * 4096 &&
           published.brought_bytes && published.brought_bytes == dev->pager.brought * 4096;
}

/** Page requests are counted for the context and the device. Each is in the trace with its address. */
static void test_told(void **state)
{
    (void)state;
    struct actor a;
    struct arrays x;
    char folder[] = "/tmp/tern-test-XXXXXX", trace[64], line[1024];
    assert_non_null(mkdtemp(folder));
    snprintf(trace, sizeof trace, "%s/trace", folder);
    setenv("XDG_RUNTIME_DIR", folder, 1);
    setenv("TERN_TRACE", trace, 1);
    unsetenv("TERN_STATS");
    open_device(small);
    assert_true(dev->info.page_requests);
    actor_open(&a, "told", -1, code_stream, sizeof code_stream);
    arrays_open(&x, &a, 64 * MIB);
    ok(tern_wait(a.c, stream(&a, &x, "stream"), PATIENCE));
    told = requests();
    assert_true(told >= 8);
    assert_int_equal(stats(&a).page_requests, told);
    if (!published_until(as_told)) {
        fail_msg("published: %llu page requests, of the context %llu; it made %llu",
                 (unsigned long long)published.page_requests, (unsigned long long)published.context[0].page_requests,
                 (unsigned long long)told);
    }
    const uint32_t from = tern_allocation_address(x.from), to = tern_allocation_address(x.to), bytes = x.bytes;
    arrays_close(&x);
    actor_close(&a);
    rig_done();
    FILE *f = fopen(trace, "r");
    assert_non_null(f);
    uint64_t marks = 0, places = 0, ends = 0, waits = 0;
    while (fgets(line, sizeof line, f)) {
        unsigned address;
        const char *at = strstr(line, "\"name\":\"page request\"") ? strstr(line, "\"address\":\"0x") : NULL;
        if (at && sscanf(at, "\"address\":\"%x\"", &address) == 1) {
            places += address - from < bytes || address - to < bytes; /* the others are for the actor's own memory */
            marks++;
        }
        ends += strstr(line, "\"ended\":\"page request\"") != NULL;
        waits += strstr(line, "\"name\":\"waiting for a page\"") != NULL;
    }
    fclose(f);
    assert_int_equal(marks, told);
    assert_in_range(places, 2 * bytes / (4 * MIB), told);
    assert_int_equal(ends, told);
    assert_int_equal(waits, told);
    unsetenv("TERN_TRACE");
    unsetenv("XDG_RUNTIME_DIR");
    unlink(trace);
    snprintf(trace, sizeof trace, "%s/tern", folder);
    assert_int_equal(rmdir(trace) | rmdir(folder), 0);
}

/** A device without page requests refuses such work. */
static void test_without(void **state)
{
    (void)state;
    struct actor a;
    struct arrays x;
    uint64_t fence;
    rig_no_page_requests = true;
    open_device(small);
    assert_false(dev->info.page_requests);
    actor_open(&a, "without", -1, code_stream, sizeof code_stream);
    arrays_open(&x, &a, 40 * MIB);
    actor_dispatch(&a, ITEMS);
    assert_int_equal(submit_packets(a.c, dma.w, dma.size, "stream", &fence), -ENOSPC);
    expect_says(tern_last_error(), "tern_context_set_residency");
    arrays_close(&x);
    actor_close(&a);
    rig_done();
    rig_no_page_requests = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stream),     cmocka_unit_test(test_gather),    cmocka_unit_test(test_packets),
        cmocka_unit_test(test_two),        cmocka_unit_test(test_lease),     cmocka_unit_test(test_violations),
        cmocka_unit_test(test_meanwhile),  cmocka_unit_test(test_without),
        cmocka_unit_test(test_told),
    };
    return cmocka_run_group_tests_name("page_requests", tests, NULL, NULL);
}
