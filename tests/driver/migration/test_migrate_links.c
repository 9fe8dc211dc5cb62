/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Memory that processes send while they run (M1), and links that are lost during the migration. Unchanged pages and
 * zeros are not sent, and the rest is compressed. One to three links are cut at random bytes, again and again, and the
 * processes arrive on the target. If links stay lost, the processes go on at the source.
 */
#include <sys/socket.h>

#include "device_memory.h"
#include "migration.h"
#include "stream_relay.h"

#define CONFIG "small,mem=64M,timeout=200000"

enum { PAGES = 512 };

static uint64_t random_number(uint64_t *rng)
{
    *rng = *rng * 6364136223846793005u + 1442695040888963407u;
    return *rng >> 33;
}

/** Fills a page with zeros, few different values, or noise. */
static void fill(uint32_t *words, uint32_t page)
{
    uint64_t rng = page * 77ull;
    for (uint32_t i = 0; i < 1024; i++) {
        words[i] = page % 4 == 0 ? 0 : page % 4 == 3 ? (uint32_t)random_number(&rng) : page << 16 | i / 100;
    }
}

static void put_pages(struct tern_allocation *a, uint32_t first, uint32_t count)
{
    uint32_t words[1024];
    for (uint32_t i = first; i < first + count; i++) {
        fill(words, i);
        ok(tern_allocation_write(a, 4096ull * i, words, sizeof words));
    }
}

static void expect_pages(struct tern_allocation *a)
{
    uint32_t want[1024], got[1024];
    for (uint32_t i = 0; i < PAGES; i++) {
        fill(want, i);
        ok(tern_allocation_read(a, 4096ull * i, got, sizeof got));
        if (memcmp(want, got, sizeof want)) {
            fail_msg("page %u is another one", i);
        }
    }
}

/** A process that runs, and memory whose pages fill() gives. */
struct subject {
    struct actor a;
    struct tern_allocation *mem;
    uint64_t fence;
};

static void begin(struct subject *x)
{
    open_both(CONFIG);
    open_spin(&x->a, "moves", -1);
    ok(tern_allocation_create(x->a.p, PAGES * 4096, RW, 0, &x->mem));
    put_pages(x->mem, 0, PAGES);
    x->fence = actor_spin(&x->a);
    spins(&x->a);
}

/** Commits the move. The process goes on on the target. */
static void arrived(struct subject *x, struct tern_loading *l, struct tern_saving *saving)
{
    struct tern_process *before = x->a.p;
    actor_follow(&x->a, l, 0);
    x->mem = tern_loading_allocation(l, 0, tern_allocation_address(x->mem));
    tern_migrate_commit(l);
    tern_migrate_end(saving);
    forget(before);
}

static void end(struct subject *x)
{
    spins(&x->a);
    expect_pages(x->mem);
    actor_set(&x->a, 0, 1);
    ok(tern_wait(x->a.c, x->fence, PATIENCE));
    tern_allocation_destroy(x->mem);
    actor_close(&x->a);
    close_both();
}

/* ----------------------------------------------------------------------- what is sent */

static struct subject *subject;
static struct tern_migrate_round rounds[8];
static uint32_t round_count;

/** Between rounds: rewrites all pages with the same values, so that they are dirty and unchanged. Round 1 also changes
 * two pages, which the next call restores. */
static void rewrite(void *user, const struct tern_migrate_round *r)
{
    static const uint32_t other[1024] = {1, 2, 3};
    (void)user;
    assert_true(round_count < 8);
    rounds[round_count++] = *r;
    put_pages(subject->mem, 0, PAGES);
    if (round_count == 1) {
        ok(tern_allocation_write(subject->mem, 4096 * 5, other, sizeof other));
        ok(tern_allocation_write(subject->mem, 4096 * 8, other, sizeof other));
    }
}

/** Unchanged pages and zeros are not sent. The rest is compressed if that was asked for. */
static void test_what_is_sent(void **state)
{
    (void)state;
    for (int level = 0; level < 2; level++) {
        struct subject x;
        struct tern_stream *s;
        struct tern_saving *m;
        begin(&x);
        subject = &x;
        round_count = 0;
        ok(tern_stream_write_memory(&s));
        ok(tern_stream_compress(s, level));
        ok(tern_migrate_live(&x.a.p, 1, s, &(struct tern_migrate_limits){
            .downtime_ns = 1, .rounds = 4, .policy = TERN_MIGRATE_FORCE, .progress = rewrite}, &m));
        assert_true(round_count >= 4);
        const struct tern_stream_counts c = tern_stream_counts(s);
        const struct tern_migrate_round *first = &rounds[0], *second = &rounds[1], *third = &rounds[2];
        assert_in_range(first->zero, PAGES / 4, first->pages - PAGES / 4 * 3);
        const uint64_t sent = first->pages - first->zero - first->same;
        assert_in_range(sent, PAGES / 4 * 3, PAGES);
        assert_true(level ? first->content < (sent - PAGES / 4) * 4096 / 8 + PAGES / 4 * 4096 + sent * 16
                          : first->content == sent * 4096);
        assert_in_range(second->same, PAGES - 2, second->pages - 2);
        assert_in_range(third->same, PAGES - 2, third->pages - 2); /* the two pages are restored */
        assert_in_range(third->zero, 1, third->pages);
        assert_true(second->content < 64 * 4096 && second->bytes < first->bytes / 2);
        assert_true(c.pages_same >= 4 * (PAGES - 2) && c.bytes < 2 * first->bytes);
        struct tern_loading *l = loaded(there, s, NULL);
        tern_stream_close(s);
        arrived(&x, l, m);
        end(&x);
    }
}

/* ------------------------------------------------------------------------- lost links */

/** State that the writer's and the reader's thread share. Each thread comes here when it has lost its links. */
static struct meeting {
    pthread_mutex_t lock;
    pthread_cond_t met;
    struct relay relay;
    struct tern_stream *writer, *reader;
    uint64_t rng;
    bool reader_waits, read; /* read: the reader has ended */
    unsigned n, generation, cuts, most; /* most: cuts after which new links are made */
    struct tern_loading *loading;
    int result;
} meeting = {.lock = PTHREAD_MUTEX_INITIALIZER, .met = PTHREAD_COND_INITIALIZER};

/** Bytes until the next cut. The bound grows with each cut; at first it is less than the memory to send. */
static size_t some_bytes(struct meeting *g)
{
    return 1 + (size_t)(random_number(&g->rng) % 65536u) * (1 + g->cuts);
}

static int lost_for_good(const char **why)
{
    *why = "no other link has come";
    return -ETIMEDOUT;
}

static int reader_lost(void *user, struct tern_stream *s, const char **why)
{
    struct meeting *g = user;
    pthread_mutex_lock(&g->lock);
    const unsigned generation = g->generation;
    g->reader_waits = true;
    pthread_cond_broadcast(&g->met);
    while (g->generation == generation) {
        pthread_cond_wait(&g->met, &g->lock);
    }
    const int r = g->cuts > g->most ? lost_for_good(why) : tern_stream_resume(s, g->relay.out.from, NULL);
    pthread_mutex_unlock(&g->lock);
    return r;
}

/** Makes new links when both sides have lost theirs. */
static int writer_lost(void *user, struct tern_stream *s, const char **why)
{
    struct meeting *g = user;
    uint64_t next[TERN_STREAM_LINKS];
    pthread_mutex_lock(&g->lock);
    while (!g->reader_waits && !g->read) {
        pthread_cond_wait(&g->met, &g->lock);
    }
    int r = g->read || g->cuts++ >= g->most ? lost_for_good(why) : 0;
    if (!r) {
        relay_stop(&g->relay);
        links_close(g->relay.in.to, g->n);
        links_close(g->relay.out.from, g->n);
        relay_start(&g->relay, g->n, some_bytes(g));
        relay_answer(g->reader, s, next);
    }
    g->reader_waits = false;
    g->generation++;
    pthread_cond_broadcast(&g->met);
    pthread_mutex_unlock(&g->lock);
    if (r == 0) {
        r = tern_stream_resume(s, g->relay.in.to, next);
    }
    return r == -EPIPE ? 0 : r; /* -EPIPE: the new links are lost too, so this is called again */
}

static void *read_thread(void *arg)
{
    struct meeting *g = arg;
    const int r = tern_migrate_load(there, NULL, g->reader, NULL, &g->loading);
    pthread_mutex_lock(&g->lock);
    g->result = r;
    g->read = true;
    pthread_cond_broadcast(&g->met);
    pthread_mutex_unlock(&g->lock);
    return NULL;
}

/** Makes new links until the reader has read all, since the last bytes may be cut off after the writer has ended. */
static void until_read(struct meeting *g)
{
    bool read = false;
    while (!read) {
        pthread_mutex_lock(&g->lock);
        while (!g->read && !g->reader_waits) {
            pthread_cond_wait(&g->met, &g->lock);
        }
        read = g->read;
        pthread_mutex_unlock(&g->lock);
        if (!read) {
            const char *why = "";
            ok(writer_lost(g, g->writer, &why));
        }
    }
}

static int move_over(struct meeting *g, struct subject *x, unsigned n, unsigned most, struct tern_saving **m)
{
    pthread_t thread;
    g->n = n;
    g->most = most;
    g->reader_waits = g->read = false;
    g->cuts = 0;
    g->loading = NULL;
    relay_start(&g->relay, n, some_bytes(g));
    ok(tern_stream_write_fds(g->relay.in.to, n, &g->writer));
    ok(tern_stream_read_fds(g->relay.out.from, n, &g->reader));
    tern_stream_keep(g->writer, 16u << 20);
    ok(tern_stream_compress(g->writer, 1));
    tern_stream_again(g->writer, writer_lost, g);
    tern_stream_again(g->reader, reader_lost, g);
    ok(pthread_create(&thread, NULL, read_thread, g));
    const int r = tern_migrate_live(&x->a.p, 1, g->writer, &(struct tern_migrate_limits){
        .downtime_ns = 1, .rounds = 3, .policy = TERN_MIGRATE_FORCE}, m);
    if (!r) {
        until_read(g);
    }
    ok(pthread_join(thread, NULL));
    for (unsigned i = 0; i < n; i++) {
        shutdown(g->relay.in.to[i], SHUT_WR);
    }
    relay_stop(&g->relay);
    links_close(g->relay.in.to, n);
    links_close(g->relay.out.from, n);
    return r;
}

/** Links are cut at random bytes. The processes arrive with all their memory. */
static void test_links_that_are_cut(void **state)
{
    (void)state;
    const char *given = getenv("TERN_TEST_SEED");
    const uint64_t seed = given ? strtoull(given, NULL, 0) : 1;
    unsigned cuts = 0;
    for (unsigned i = 0; i < 6; i++) {
        struct subject x;
        struct tern_saving *m;
        print_message("TERN_TEST_SEED=%llu\n", (unsigned long long)seed + i);
        begin(&x);
        meeting.rng = (seed + i) * 0x9e3779b97f4a7c15u;
        ok(move_over(&meeting, &x, 1 + i % 3, UINT32_MAX, &m));
        ok(meeting.result);
        cuts += meeting.cuts;
        tern_stream_close(meeting.writer);
        tern_stream_close(meeting.reader);
        arrived(&x, meeting.loading, m);
        end(&x);
    }
    print_message("%u cuts\n", cuts);
    assert_true(cuts >= 6);
}

/** No new links are made, from the first cut on or after some. The processes go on at the source, and nothing is left
 * on the target. */
static void test_links_that_stay_lost(void **state)
{
    (void)state;
    for (unsigned most = 0; most < 3; most++) {
        struct subject x;
        struct tern_saving *m;
        begin(&x);
        const uint32_t pages_there = free_pages(there);
        meeting.rng = most;
        assert_int_equal(move_over(&meeting, &x, 1 + most, most, &m), -ETIMEDOUT);
        assert_int_equal(meeting.cuts, most + 1);
        assert_int_equal(meeting.result, -ETIMEDOUT);
        assert_int_equal(tern_stream_end(meeting.writer), -ETIMEDOUT);
        assert_non_null(strstr(tern_last_error(), "; and it was not made again: no other link has come"));
        tern_stream_close(meeting.writer);
        tern_stream_close(meeting.reader);
        assert_int_equal(free_pages(there), pages_there);
        end(&x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_sent), cmocka_unit_test(test_links_that_are_cut),
        cmocka_unit_test(test_links_that_stay_lost),
    };
    return cmocka_run_group_tests_name("migrate_links", tests, NULL, NULL);
}
