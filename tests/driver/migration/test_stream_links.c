/* SPDX-License-Identifier: Apache-2.0 */
/** The migration stream over several links: order, and links that are lost and made again. */
#include "check.h"
#include "stream_bytes.h"
#include "stream_relay.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>


enum { PAGES = 500, ROUNDS = 4 };

static unsigned char source[ROUNDS][PAGES][TERN_PAGE_BYTES], target[PAGES][TERN_PAGE_BYTES];

/** Writes rounds of all pages, with a record between them that has the round's number. */
static void write_rounds(struct tern_stream *s)
{
    for (unsigned round = 0; round < ROUNDS; round++) {
        tern_record_begin(s, TERN_RECORD_ROUND);
        tern_put_u64(s, "round", round);
        ok(tern_record_end(s));
        ok(tern_put_pages(s, 1, 0, PAGES, source[round]));
    }
    tern_record_begin(s, TERN_RECORD_STATE);
    ok(tern_record_end(s));
    ok(tern_stream_end(s));
}

static void *write_thread(void *ends)
{
    const struct links *e = ends;
    struct tern_stream *s;
    ok(tern_stream_write_fds(e->to, e->n, &s));
    write_rounds(s);
    tern_stream_close(s);
    return NULL;
}

static void apply(struct tern_stream *s)
{
    struct tern_pages p;
    struct tern_page_run run;
    ok(tern_get_pages(s, 1, PAGES - 1, &p));
    while (tern_pages_next(&p, &run)) {
        if (run.data) {
            memcpy(target[run.first], run.data, run.count * TERN_PAGE_BYTES);
        } else {
            memset(target[run.first], 0, run.count * TERN_PAGE_BYTES);
        }
    }
}

/** State of a reader. */
struct seen {
    unsigned rounds;
    bool state;
};

/** Reads to the end or to an error. At each record between rounds, all pages must be as the round before wrote them. */
static int read_rounds(struct tern_stream *s, struct seen *seen)
{
    enum tern_record_type type;
    int r;
    while ((r = tern_record_next(s, &type)) == 1) {
        if (type == TERN_RECORD_PAGES) {
            assert_false(seen->state);
            apply(s);
            continue;
        }
        if (seen->rounds) {
            assert_memory_equal(target, source[seen->rounds - 1], sizeof target);
        }
        if (type == TERN_RECORD_ROUND) {
            assert_int_equal(tern_get_u64(s, "round", 0, ROUNDS), seen->rounds);
            seen->rounds++;
        } else {
            assert_int_equal(type, TERN_RECORD_STATE);
            seen->state = true;
        }
    }
    return r;
}

static void test_order(void **state)
{
    (void)state;
    static const unsigned counts[] = {1, 2, 3, TERN_STREAM_LINKS};
    for (size_t i = 0; i < 2 * sizeof counts / sizeof counts[0]; i++) {
        struct links e = links_open(counts[i / 2], i % 2);
        struct tern_stream *s;
        struct seen seen = {0};
        pthread_t thread;
        memset(target, 0xee, sizeof target);
        ok(pthread_create(&thread, NULL, write_thread, &e));
        ok(tern_stream_read_fds(e.from, e.n, &s));
        ok(read_rounds(s, &seen));
        assert_int_equal(seen.rounds, ROUNDS);
        assert_true(seen.state);
        ok(pthread_join(thread, NULL));
        tern_stream_close(s);
        links_close(e.from, e.n);
        links_close(e.to, e.n);
    }
}

/** A stream over two links in files is read. Twice the same link, links of two streams, and too few links fail. */
static void test_wrong_links(void **state)
{
    (void)state;
    char names[4][32];
    int fds[4];
    enum tern_record_type type;
    struct tern_stream *s;
    for (int i = 0; i < 4; i++) {
        snprintf(names[i], sizeof names[i], "/tmp/tern-links-XXXXXX");
        fds[i] = mkstemp(names[i]);
        unlink(names[i]);
    }
    for (int i = 0; i < 4; i += 2) {
        ok(tern_stream_write_fds(fds + i, 2, &s));
        tern_record_begin(s, TERN_RECORD_STATE);
        ok(tern_record_end(s));
        ok(tern_put_pages(s, 1, 0, PAGES, source[0]));
        ok(tern_stream_end(s));
        tern_stream_close(s);
    }
    const struct {
        int fds[2];
        unsigned n;
        const char *sentence;
    } cases[] = {
        {{fds[0], fds[0]}, 2, NULL}, /* one file twice: its second header is missing */
        {{fds[0], fds[2]}, 2, "a link is there twice"},
        {{fds[0], fds[3]}, 2, "the links are not of one migration"},
        {{fds[0]}, 1, "it has 2 links, and 1 are here"},
        {{fds[1], fds[0]}, 2, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int k = 0; k < 4; k++) {
            lseek(fds[k], 0, SEEK_SET);
        }
        ok(tern_stream_read_fds(cases[i].fds, cases[i].n, &s));
        int r;
        while ((r = tern_record_next(s, &type)) == 1) {
        }
        const bool good = cases[i].sentence && !*cases[i].sentence;
        assert_int_equal(r, good ? 0 : -EPROTO);
        if (r && cases[i].sentence) {
            assert_non_null(strstr(tern_last_error(), cases[i].sentence));
        }
        tern_stream_close(s);
    }
    assert_int_equal(tern_stream_read_fds(fds, 0, &s), -EINVAL);
    assert_int_equal(tern_stream_read_fds(fds, TERN_STREAM_LINKS + 1, &s), -EINVAL);
    links_close(fds, 4);
}

/** The reader's side, which answers with the records that it has when its links are lost. */
struct side {
    struct tern_stream *s;
    struct seen seen;
    int result;
};

static void *read_thread(void *arg)
{
    struct side *side = arg;
    side->result = read_rounds(side->s, &side->seen);
    return NULL;
}

/** Writes the whole stream from step *at on. On an error, *at is the step to go on with when the links were made
 * again. */
static int write_from(struct tern_stream *s, unsigned *at)
{
    int r = 0;
    for (; *at < 2 * ROUNDS + 2 && !r; *at += !r || *at % 2 == 0 || *at > 2 * ROUNDS) {
        if (*at == 2 * ROUNDS + 1) {
            r = tern_stream_end(s);
        } else if (*at % 2) {
            r = tern_put_pages(s, 1, 0, PAGES, source[*at / 2]);
        } else {
            tern_record_begin(s, *at == 2 * ROUNDS ? TERN_RECORD_STATE : TERN_RECORD_ROUND);
            tern_put_u64(s, "round", *at / 2);
            r = tern_record_end(s);
        }
    }
    return r;
}

static void lost_links(unsigned n, uint64_t seed)
{
    struct relay y;
    struct tern_stream *w;
    struct side side = {0};
    pthread_t thread;
    unsigned at = 0, cuts = 0;
    memset(target, 0xee, sizeof target);
    size_t bytes = 1 + (size_t)(seed * 0x9e3779b97f4a7c15u >> 44);
    relay_start(&y, n, bytes);
    ok(tern_stream_write_fds(y.in.to, n, &w));
    tern_stream_keep(w, 64u << 20);
    ok(tern_stream_read_fds(y.out.from, n, &side.s));
    ok(pthread_create(&thread, NULL, read_thread, &side));
    for (;; cuts++) {
        int r = write_from(w, &at);
        for (unsigned i = 0; i < n && !r; i++) {
            shutdown(y.in.to[i], SHUT_WR);
        }
        ok(pthread_join(thread, NULL));
        relay_stop(&y);
        links_close(y.in.to, n);
        links_close(y.out.from, n);
        if (side.result == 0) {
            break;
        }
        assert_int_equal(side.result, -EIO);
        uint64_t next[TERN_STREAM_LINKS];
        relay_answer(side.s, w, next);
        bytes = bytes * 3 / 2 + 1;
        relay_start(&y, n, bytes);
        ok(tern_stream_resume(side.s, y.out.from, NULL));
        ok(pthread_create(&thread, NULL, read_thread, &side));
        if (cuts % 2) {
            tern_stream_acknowledged(w, next);
        }
        r = tern_stream_resume(w, y.in.to, next);
        assert_true(r == 0 || r == -EPIPE);
    }
    if (!cuts || side.seen.rounds != ROUNDS || !side.seen.state) {
        fail_msg("%u links, seed %llu: %u cuts, %u rounds", n, (unsigned long long)seed, cuts, side.seen.rounds);
    }
    tern_stream_close(w);
    tern_stream_close(side.s);
}

static void test_lost_links(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        lost_links(1, seed);
        lost_links(3, seed);
    }
}

/** Pages that a call did not reach before its link was lost do not count as sent. */
static void test_lost_pages(void **state)
{
    (void)state;
    enum { SOME = 200 }; /* three records and a part of one */
    static unsigned char pages[SOME][TERN_PAGE_BYTES];
    for (unsigned zeros = 0; zeros <= 2 * TERN_PAGES_OF_RECORD; zeros += TERN_PAGES_OF_RECORD) {
        struct links e = links_open(1, true), again = links_open(1, true);
        struct tern_stream *w, *r;
        enum tern_record_type type;
        memset(pages, 0, sizeof pages);
        memset(pages[zeros], 7, sizeof *pages * (SOME - zeros - 1)); /* the last one is zero too */
        memset(target, 0xee, sizeof target);
        ok(tern_stream_write_fds(e.to, 1, &w));
        tern_stream_keep(w, 4u << 20);
        ok(tern_stream_compress(w, 1)); /* all fits in the socket */
        ok(tern_stream_remember(w));
        links_close(e.from, 1);
        assert_int_equal(tern_put_pages(w, 1, 0, SOME, pages), -EPIPE);
        ok(tern_stream_resume(w, again.to, (uint64_t[]){0}));
        ok(tern_put_pages(w, 1, 0, SOME, pages));
        ok(tern_stream_end(w));
        tern_stream_close(w);
        ok(tern_stream_read_fds(again.from, 1, &r));
        while (tern_record_next(r, &type) == 1) {
            apply(r);
        }
        ok(tern_record_bad(r));
        assert_memory_equal(target, pages, sizeof pages);
        tern_stream_close(r);
        links_close(e.to, 1);
        links_close(again.to, 1);
        links_close(again.from, 1);
    }
}

/** Records that are no longer kept cannot be sent again, and a reader cannot have records that were not sent. The
 * stream is not changed by such an answer. */
static void test_not_kept(void **state)
{
    (void)state;
    struct links e = links_open(1, true), other = links_open(1, true);
    struct tern_stream *w;
    ok(tern_stream_write_fds(e.to, 1, &w));
    tern_stream_keep(w, 3000);
    for (unsigned i = 0; i < 5; i++) { /* two of them fit */
        tern_record_begin(w, TERN_RECORD_STATE);
        tern_put_bytes(w, "area", source, 1000);
        ok(tern_record_end(w));
    }
    assert_int_equal(tern_stream_resume(w, other.to, (uint64_t[]){2}), -ESTALE);
    assert_string_equal(tern_last_error(), "records of link 0 from 2 on are not kept any more: "
                                           "the migration must start anew");
    assert_int_equal(tern_stream_resume(w, other.to, (uint64_t[]){6}), -EPROTO);
    ok(tern_stream_resume(w, other.to, (uint64_t[]){3}));
    ok(tern_stream_end(w));
    tern_stream_close(w);
    links_close(e.to, 1);
    links_close(e.from, 1);
    /* a reader of another stream does not accept it, since it begins with record 3 */
    struct tern_stream *r;
    enum tern_record_type type;
    ok(tern_stream_read_fds(other.from, 1, &r));
    assert_int_equal(tern_record_next(r, &type), -EPROTO);
    assert_non_null(strstr(tern_last_error(), "a link does not begin with the record that comes next"));
    tern_stream_close(r);
    links_close(other.to, 1);
    links_close(other.from, 1);
}

/** Answers of another migration, and answers with records that were not sent. */
static void test_answers(void **state)
{
    (void)state;
    static const struct {
        uint64_t id, next[2];
        size_t n;
        const char *sentence;
    } cases[] = {
        {8, {0, 0}, 2, NULL}, {8, {1, 0}, 2, NULL}, {0, {0, 0}, 2, NULL},
        {9, {0, 0}, 2, "it is of migration 0000000000000009 with 2 links, not of 0000000000000008 with 2"},
        {8, {0}, 1, "with 1 links"}, {8, {2, 0}, 2, "the reader has record 1 of link 0, which was not sent"},
        {8, {1, 1}, 2, "the reader has record 0 of link 1, which was not sent"},
        {0, {1, 0}, 2, "the reader has record 0 of link 0, which was not sent"},
    };
    struct links e = links_open(2, true);
    struct tern_stream *w;
    ok(tern_stream_write_fds(e.to, 2, &w));
    tern_stream_identify(w, 8);
    tern_record_begin(w, TERN_RECORD_STATE);
    ok(tern_record_end(w));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tern_stream *answers = stream_writer();
        uint64_t got[TERN_STREAM_LINKS] = {77, 77};
        tern_record_begin(answers, TERN_RECORD_ACKNOWLEDGED);
        if (cases[i].id) { /* else it has read no header */
            tern_put_u64(answers, "migration", cases[i].id);
        }
        tern_put_u64s(answers, "next", cases[i].next, cases[i].n);
        ok(tern_record_end(answers));
        struct bytes b = stream_take(answers);
        answers = stream_reader(b);
        stream_next(answers, TERN_RECORD_ACKNOWLEDGED);
        const int r = tern_get_numbers(answers, w, got);
        assert_int_equal(r, cases[i].sentence ? -EPROTO : 0);
        if (r) {
            assert_non_null(strstr(tern_last_error(), cases[i].sentence));
            assert_int_equal(got[0], 77);
        } else {
            assert_memory_equal(got, cases[i].next, sizeof cases[i].next);
        }
        tern_stream_close(answers);
        free(b.data);
    }
    tern_stream_close(w);
    links_close(e.to, 2);
    links_close(e.from, 2);
}

int main(void)
{
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < PAGES; i++) {
            memset(source[round][i], (int)((round * 7 + i) % 5 ? round * 31 + i : 0), TERN_PAGE_BYTES);
        }
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order), cmocka_unit_test(test_wrong_links), cmocka_unit_test(test_lost_links),
        cmocka_unit_test(test_lost_pages), cmocka_unit_test(test_not_kept), cmocka_unit_test(test_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
