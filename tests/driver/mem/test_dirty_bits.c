/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Memory bases on a whole device (D2, D3, D6, D7).
 *
 * test_every_way: every way to write sets bits: stores, atomics, fills, copies, signals, timestamps, page tables,
 * zeroing, context save, and the host. test_random: random writes against the oracle of basis_oracle.h. test_stamps:
 * kernels write stamps all the time on both engines, while bases of 8 KiB to 256 MiB are queried, whole and in part,
 * into buffers that need not be aligned.
 */
#include "actor.h"
#include "basis_oracle.h"
#include "device_memory.h"
#include "rig.h"

static bool backend_is(const char *name)
{
    const char *backend = getenv("TERN_BACKEND");
    return backend && strcmp(backend, name) == 0;
}

/** Returns `many` on the model. On other backends each step takes much longer. */
static uint32_t turns(uint32_t many, uint32_t few)
{
    return backend_is("model") ? many : few;
}

static void lock(void)
{
    tern_ticket_lock(&dev->hal_lock);
}

static void unlock(void)
{
    tern_ticket_unlock(&dev->hal_lock);
}

static uint32_t page_of(const struct tern_allocation *a, uint64_t offset)
{
    uint64_t contiguous;
    return (uint32_t)(physical_of(a, offset, &contiguous) / 4096);
}

/* ------------------------------------------------------------------ every way */

static uint64_t everything;

/** Returns whether the page was written since the last call, and clears its bit. */
static bool written(uint32_t page)
{
    const struct tern_basis_part part = {0, page * 4096ull, 4096};
    uint8_t bit = 0;
    lock();
    ok(tern_basis_query(&dev->kmd, everything, &part, true, &bit, 0));
    unlock();
    return bit;
}

/** A kernel. Each work-item stores to a word of its own, or adds to it. Arguments: address, bytes between words,
 * whether to add. */
static const uint32_t code_store[] = {
    0x00052303, 0x00452383, 0x00852f03, /* lw t1, 0(a0); lw t2, 4(a0); lw t5, 8(a0) */
    0xcd002e73, 0x027e0e33, 0x01c30333, /* csrr t3, global_id_x; mul t3, t3, t2; add t1, t1, t3 */
    0x000f0663,                         /* beqz t5, store */
    0x00732eaf, 0x0000100b,             /* amoadd.w t4, t2, (t1); exit */
    0x01c32023, 0x0000100b,             /* store: sw t3, 0(t1); exit */
};

static void store(struct actor *a, uint32_t address, uint32_t stride, uint32_t items, bool add)
{
    actor_set(a, 0, address);
    actor_set(a, 1, stride);
    actor_set(a, 2, add);
    actor_dispatch(a, items);
    ok(tern_wait(a->c, work_submit(&dma, a->c, add ? "add" : "store"), PATIENCE));
}

#define sets(page, action)                                                      \
    do {                                                                        \
        const uint32_t page_ = (page);                                          \
        written(page_);                                                         \
        assert_false(written(page_));                                           \
        action;                                                                 \
        if (!written(page_)) {                                                  \
            fail_msg("line %d: no bit of page %u: %s", __LINE__, page_, #action); \
        }                                                                       \
    } while (0)

static void run(struct actor *a)
{
    ok(tern_wait(a->c, work_submit(&dma, a->c, "packets"), PATIENCE));
}

static void test_every_way(void **state)
{
    (void)state;
    struct actor a, spin;
    struct tern_allocation *m, *late = NULL;
    struct tern_fence *f;
    struct tern_dirty_caps caps;
    rig_old_memory = true;
    rig_open("small,mem=64M", NULL);
    rig_old_memory = false;
    tern_kmd_dirty_caps(&dev->kmd, &caps);
    const struct tern_basis_range whole = {0, caps.segment[0].bytes};
    lock();
    ok(tern_basis_create(&dev->kmd, &whole, 1, &everything));
    ok(tern_basis_start(&dev->kmd, everything));
    unlock();
    actor_open(&a, "writes", 0, code_store, sizeof code_store);
    open_spin(&spin, "spins", 1);
    ok(tern_fence_create(a.p, 0, &f));
    ok(tern_allocation_create(a.p, 16 * 4096, TERN_MEM_WRITE, 0, &m));
    const uint32_t at = tern_allocation_address(m);
    uint32_t word = 7;
    sets(page_of(m, 4 * 4096), store(&a, at, 4096, 8, false));
    sets(page_of(m, 7 * 4096), store(&a, at, 4096, 8, false));
    sets(page_of(m, 5 * 4096), store(&a, at, 4096, 8, true));
    sets(page_of(m, 9 * 4096), (work_fill(&dma, at + 10 * 4096 - 1, 1, 1), run(&a)));
    sets(page_of(m, 11 * 4096), (work_copy(&dma, at + 11 * 4096 - 4, at, 5), run(&a)));
    sets(page_of(f->page, 0), (work_signal(&dma, tern_fence_address(f), 3), run(&a)));
    struct tern_pkt_timestamp time = {.address_lo = at + 12 * 4096};
    sets(page_of(m, 12 * 4096), (ok(tern_pkt_timestamp_pack(&time, work_add(&dma, 1))), run(&a)));
    sets(page_of(m, 13 * 4096), ok(tern_allocation_write(m, 13 * 4096 + 4092, &word, 4)));
    sets(page_of(f->page, 0), ok(tern_fence_signal(f, 9)));
    /* page-table entries */
    sets(a.p->tables[at >> 22], ok(tern_allocation_create(a.p, 4096, TERN_MEM_WRITE, 0, &late)));
    assert_int_equal(tern_allocation_address(late) >> 22, at >> 22);
    assert_true(written(page_of(late, 0))); /* and zeroing */
    const uint64_t fence = actor_spin(&spin);
    spins(&spin);
    sets(spin.c->save[0].page, ok(tern_process_suspend(spin.p))); /* saved state of a kernel */
    ok(tern_process_resume(spin.p));
    actor_set(&spin, 0, 1);
    ok(tern_wait(spin.c, fence, PATIENCE));
    tern_allocation_destroy(late);
    tern_allocation_destroy(m);
    tern_fence_destroy(f);
    actor_close(&spin);
    actor_close(&a);
    rig_done();
}

/* --------------------------------------------------------------------- random */

#define FIELD 1024u /* pages */

static void random_write(struct basis_oracle *s, struct actor *a, struct tern_allocation *m)
{
    static const uint8_t data[20000];
    const uint32_t at = oracle_random(s, FIELD * 4096 - 20000) & ~3u, va = tern_allocation_address(m) + at;
    const uint32_t bytes = 1 + oracle_random(s, 20000), stride = 4 + 4 * oracle_random(s, 300);
    const uint32_t items = 1 + bytes / stride;
    const uint32_t what = oracle_random(s, 5);
    uint32_t from = at, to = at + bytes - 1;
    switch (what) {
    case 0:
        work_fill(&dma, va, bytes, (uint8_t)bytes);
        run(a);
        break;
    case 1:
        work_copy(&dma, va, tern_allocation_address(m) + (at < FIELD * 2048 ? FIELD * 4096 - 20000 : 0), bytes);
        run(a);
        break;
    case 2:
        ok(tern_allocation_write(m, at, data, bytes));
        break;
    default:
        store(a, va, stride, items, what == 3);
        for (uint32_t i = 0; i < items; i++) {
            oracle_wrote(s, s->first + (at + i * stride) / 4096, 1);
        }
        return;
    }
    oracle_wrote(s, s->first + from / 4096, to / 4096 - from / 4096 + 1);
}

static void test_random(void **state)
{
    (void)state;
    struct basis_oracle s;
    struct actor a;
    struct tern_allocation *m;
    uint64_t contiguous;
    rig_open("small,mem=64M", NULL);
    actor_open(&a, "random", -1, code_store, sizeof code_store);
    ok(tern_allocation_create(a.p, FIELD * 4096, TERN_MEM_WRITE, 0, &m));
    const uint32_t first = page_of(m, 0);
    physical_of(m, 0, &contiguous);
    assert_true(contiguous >= FIELD * 4096);
    oracle_open(&s, &dev->kmd, first, FIELD, 1);
    for (uint32_t i = 0; i < turns(3000, 150); i++) {
        if (oracle_random(&s, 3) == 0) {
            random_write(&s, &a, m);
        }
        lock();
        oracle_step(&s);
        unlock();
    }
    lock();
    oracle_close(&s);
    unlock();
    tern_allocation_destroy(m);
    actor_close(&a);
    rig_done();
}

/* --------------------------------------------------------------------- stamps */

/**
 * A kernel. Each work-item has a page in each of 256 rows, and stores a number of times to one after the other. The
 * word is the current stamp in bits 31:20 and the number of the store below. A page thus never holds the same word
 * twice, and is not written most of the time, so that no later store hides a lost bit. Each work-item reads the stamp,
 * past the caches, before every 8 stores. Arguments: end, stamp, address, bytes between rows, log2 of stores to a page.
 */
static const uint32_t code_stamp[] = {
    0x00852303, 0x00c52383, 0xcd002e73, /* lw t1, 8(a0); lw t2, 12(a0); csrr t3, global_id_x */
    0x00ce1e93, 0x01d30333, 0x01052583, /* slli t4, t3, 12; add t1, t1, t4; lw a1, 16(a0) */
    0x005e1f13, 0x00000293, 0x00450693, /* slli t5, t3, 5; li t0, 0; addi a3, a0, 4 */
    0x1006a62f, 0x01461613, 0x00800793, /* again: lr.w a2, (a3); slli a2, a2, 20; li a5, 8 */
    0x01e28eb3, 0x00bedeb3, 0x00000013, /* store: add t4, t0, t5; srl t4, t4, a1; nop */
    0x0ffefe93, 0x027e8eb3, 0x006e8eb3, /* andi t4, t4, 255; mul t4, t4, t2; add t4, t4, t1 */
    0x00128293, 0x00c29713, 0x00c75713, /* addi t0, t0, 1; slli a4, t0, 12; srli a4, a4, 12 */
    0x00c76733, 0x00eea023, 0xfff78793, /* or a4, a4, a2; sw a4, 0(t4); addi a5, a5, -1 */
    0xfc0798e3, 0x1005272f, 0xfa070ee3, /* bnez a5, store; lr.w a4, (a0); beqz a4, again */
    0x0000100b,                         /* exit */
};

#define ITEMS 64u
#define ROWS 256u
#define HOST_PAGES 16u
#define ENGINES 2u
#define HOT (ENGINES * ITEMS * ROWS + HOST_PAGES)
#define STAY 6u /* log2 of stores to a page: some pages change between two queries, not all */
#define STAY_RTL 0u
#define APART 4000u /* cycles between queries, at least: more than 8 stores of all work-items take */

static struct {
    uint32_t page[HOT]; /* pages of the device */
    uint32_t stamp;
    uint64_t asked; /* device time of the last query */
    struct actor actor[ENGINES];
    struct tern_allocation *field[ENGINES], *host;
} stamps;

/** State of a hot page in a basis. */
struct seen {
    uint32_t word, stamp; /* at the last query: the word, and the stamp of that time */
    bool changed;         /* the word differed from that of the query before */
    bool due;             /* the page was written after the query, so its bit must be reported */
};

struct watch {
    uint64_t id;
    uint32_t first, pages; /* pages of the device */
    struct seen of[HOT];
    uint32_t asked, bits, lost, spurious, stale;
};

static uint32_t word_of(uint32_t hot)
{
    uint32_t word = 0;
    ok(tern_device_read(dev, stamps.page[hot] * 4096ull, &word, 4));
    return word;
}

/** Checks the bit of a hot page against its word, which is read right after the query. */
static void judge(struct watch *w, uint32_t hot, bool dirty)
{
    struct seen *s = &w->of[hot];
    const uint32_t word = word_of(hot);
    const bool changed = word != s->word;
    w->asked++;
    w->bits += dirty;
    w->lost += !dirty && (s->due || (changed && word >> 20 < stamps.stamp)); /* the word was stored before the query */
    w->spurious += dirty && !changed && !s->changed;
    w->stale += dirty && word >> 20 < s->stamp; /* the word is from before the page was last clean */
    s->due = !dirty && changed; /* written between the query and the read (D2) */
    s->word = word;
    s->stamp = stamps.stamp;
    s->changed = changed;
}

/** Queries a part of a basis and checks its hot pages. */
static void ask(struct watch *w, uint32_t first, uint32_t count, uint32_t at, bool look_first)
{
    const struct tern_basis_part part = {0, first * 4096ull, count * 4096ull};
    const size_t size = (at + count + 7) / 8;
    uint8_t *const bits = calloc(size, 1), *const before = calloc(size, 1);
    assert_true(bits && before);
    if (look_first) {
        ok(tern_basis_query(&dev->kmd, w->id, &part, false, before, at));
    }
    ok(tern_basis_query(&dev->kmd, w->id, &part, true, bits, at));
    for (size_t i = 0; i < size; i++) {
        assert_false(before[i] & ~bits[i]); /* a query without clear removes no bit */
    }
    for (uint32_t h = 0; h < HOT; h++) {
        const uint32_t bit = stamps.page[h] - w->first - first;
        if (stamps.page[h] >= w->first + first && bit < count) {
            judge(w, h, bits[(at + bit) / 8] >> (at + bit) % 8 & 1);
        }
    }
    free(bits);
    free(before);
}

/** Gives the next stamp to kernels in their arguments, where it is visible at once. Called with the hal lock held. */
static void next_stamp(void)
{
    stamps.stamp++;
    for (uint32_t e = 0; e < ENGINES; e++) {
        const struct tern_iovec piece = {page_of(stamps.actor[e].args, 0) * 4096ull + 4, &stamps.stamp, 4};
        ok(tern_device_write(dev, &piece, 1));
    }
    ok(dev->kmd.hal->ops->flush(dev->kmd.hal));
}

static void open_field(uint32_t e)
{
    struct actor *a = &stamps.actor[e];
    actor_open(a, e ? "stamps 1" : "stamps 0", (int32_t)e, code_stamp, sizeof code_stamp);
    ok(tern_allocation_create(a->p, ITEMS * ROWS * 4096, TERN_MEM_WRITE, 0, &stamps.field[e]));
    const uint32_t args[] = {0, stamps.stamp, tern_allocation_address(stamps.field[e]), ITEMS * 4096,
                             backend_is("rtl") ? STAY_RTL : STAY};
    ok(tern_allocation_write(a->args, 0, args, sizeof args));
    for (uint32_t i = 0; i < ITEMS * ROWS; i++) {
        stamps.page[e * ITEMS * ROWS + i] = page_of(stamps.field[e], i * 4096ull);
    }
}

/** Opens a basis of so many pages around a random hot page. */
static void open_watch(struct watch *w, struct basis_oracle *random, uint32_t pages)
{
    const uint32_t hot = stamps.page[oracle_random(random, HOT)], back = oracle_random(random, pages);
    w->pages = pages;
    w->first = hot < back ? 0 : hot - back;
    w->first = w->first + pages > dev->kmd.mem_pages ? dev->kmd.mem_pages - pages : w->first;
    const struct tern_basis_range range = {w->first * 4096ull, pages * 4096ull};
    ok(tern_basis_create(&dev->kmd, &range, 1, &w->id));
    ok(tern_basis_start(&dev->kmd, w->id));
    for (uint32_t h = 0; h < HOT; h++) {
        w->of[h] = (struct seen){.word = word_of(h), .stamp = stamps.stamp};
    }
}

/** Lets device time pass, and writes a page from the host. */
static void meanwhile(struct basis_oracle *random)
{
    const uint32_t word = stamps.stamp << 20 | (oracle_random(random, 1u << 20));
    ok(tern_allocation_write(stamps.host, oracle_random(random, HOST_PAGES) * 4096ull, &word, 4));
    until(tern_device_time(dev) >= stamps.asked + APART);
}

/**
 * No bit is lost, and none comes without a write. The page of a bit holds a word that was written since the last query.
 * There are six overlapping bases, of the sizes of the iommufd tests; they are queried whole and in part, into buffers
 * that are not aligned.
 */
static void test_stamps(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {2, 16, 128, 1024, 8192, 65536}; /* pages: 8 KiB to 256 MiB */
    static struct watch watch[sizeof sizes / sizeof *sizes];
    const uint32_t n = sizeof sizes / sizeof *sizes;
    struct basis_oracle random = {.random = 1};
    uint64_t fence[ENGINES], bits = 0;
    rig_open("small,mem=512M", NULL);
    stamps.stamp = 1;
    for (uint32_t e = 0; e < ENGINES; e++) {
        open_field(e);
    }
    ok(tern_allocation_create(stamps.actor[0].p, HOST_PAGES * 4096, TERN_MEM_WRITE, 0, &stamps.host));
    for (uint32_t i = 0; i < HOST_PAGES; i++) {
        stamps.page[HOT - HOST_PAGES + i] = page_of(stamps.host, i * 4096ull);
    }
    lock();
    for (uint32_t i = 0; i < n; i++) {
        open_watch(&watch[i], &random, sizes[i]);
    }
    unlock();
    stamps.asked = tern_device_time(dev);
    for (uint32_t e = 0; e < ENGINES; e++) {
        actor_dispatch(&stamps.actor[e], ITEMS);
        fence[e] = work_submit(&dma, stamps.actor[e].c, "stamps");
    }
    for (uint32_t i = 0; i < turns(240, 40); i++) {
        struct watch *w = &watch[i % 2 ? n - 1 - i / 2 % 2 : i / 2 % n]; /* the largest ones most often */
        meanwhile(&random);
        const bool whole = oracle_random(&random, 2);
        const uint32_t first = whole ? 0 : oracle_random(&random, w->pages);
        const uint32_t count = whole ? w->pages : 1 + oracle_random(&random, w->pages - first);
        lock();
        ask(w, first, count, oracle_random(&random, 70), oracle_random(&random, 2));
        next_stamp();
        ok(tern_kmd_time(&dev->kmd, &stamps.asked));
        unlock();
    }
    for (uint32_t e = 0; e < ENGINES; e++) {
        actor_set(&stamps.actor[e], 0, 1);
        ok(tern_wait(stamps.actor[e].c, fence[e], PATIENCE));
    }
    for (uint32_t i = 0; i < n; i++) {
        struct watch *w = &watch[i];
        lock();
        ask(w, 0, w->pages, 0, true); /* nothing writes any more: each bit that is due comes now */
        for (uint32_t h = 0; h < HOT; h++) { /* bits that are still due are lost */
            w->lost += w->of[h].due;
        }
        ok(tern_basis_stop(&dev->kmd, w->id));
        ok(tern_basis_destroy(&dev->kmd, w->id));
        unlock();
        bits += w->bits;
        if (w->lost || w->spurious || w->stale) {
            fail_msg("%u pages: of %u bits, %u were lost, %u without a write, %u with an old stamp", w->pages, w->bits,
                     w->lost, w->spurious, w->stale);
        }
    }
    assert_true(bits > 1000); /* most are of the largest two */
    tern_allocation_destroy(stamps.host);
    for (uint32_t e = 0; e < ENGINES; e++) {
        tern_allocation_destroy(stamps.field[e]);
        actor_close(&stamps.actor[e]);
    }
    rig_done();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_way),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_stamps),
    };
    return cmocka_run_group_tests_name("dirty_bits", tests, NULL, NULL);
}
