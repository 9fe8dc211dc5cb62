/* SPDX-License-Identifier: Apache-2.0 */
/** Pages in the migration stream. The reader gets the pages that were written, whichever are zero, unchanged, or
 * compressed. */
#include "check.h"
#include "stream_bytes.h"

enum { PAGES = 300 };

static unsigned char source[PAGES][TERN_PAGE_BYTES], target[PAGES][TERN_PAGE_BYTES];
static uint64_t rng;

static uint64_t random_number(void)
{
    rng = rng * 6364136223846793005u + 1442695040888963407u;
    return rng >> 33;
}

enum content { ZERO, TEXT, NOISE };

static void fill(unsigned char *page, enum content kind)
{
    for (size_t i = 0; i < TERN_PAGE_BYTES; i++) {
        page[i] = kind == ZERO ? 0 : (unsigned char)(kind == TEXT ? i / 64 + 1 : random_number());
    }
}

/** Applies all page records of a stream to the target. Returns their number. */
static unsigned apply(struct bytes b)
{
    struct tern_stream *s = stream_reader(b);
    enum tern_record_type type;
    unsigned records = 0;
    int r;
    while ((r = tern_record_next(s, &type)) == 1) {
        struct tern_pages p;
        struct tern_page_run run;
        assert_int_equal(type, TERN_RECORD_PAGES);
        ok(tern_get_pages(s, 7, PAGES - 1, &p));
        assert_int_equal(p.memory, 7);
        while (tern_pages_next(&p, &run)) {
            assert_true(run.count && run.first + run.count <= PAGES);
            if (run.data) {
                memcpy(target[run.first], run.data, run.count * TERN_PAGE_BYTES);
            } else {
                memset(target[run.first], 0, run.count * TERN_PAGE_BYTES);
            }
        }
        records++;
    }
    ok(r);
    tern_stream_close(s);
    return records;
}

/** Four rounds of random pages in one stream. All arrive, and no page is sent that need not be. */
static void test_rounds(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        struct tern_stream *s = stream_writer();
        const bool remember = kind & 1;
        uint64_t same = 0;
        rng = 1 + (uint64_t)kind;
        ok(tern_stream_compress(s, kind & 2 ? 1 : 0));
        if (remember) {
            ok(tern_stream_remember(s));
        }
        memset(source, 0, sizeof source);
        memset(target, 0xee, sizeof target);
        for (int round = 0; round < 4; round++) {
            for (unsigned i = 0; i < PAGES; i++) {
                if (random_number() % 3 == 0) {
                    fill(source[i], random_number() % 3);
                } else {
                    same += round > 0;
                }
            }
            ok(tern_put_pages(s, 7, 0, 100, source));
            ok(tern_put_pages(s, 7, 100, PAGES - 100, source + 100));
        }
        ok(tern_stream_end(s));
        const struct tern_stream_counts c = tern_stream_counts(s);
        assert_int_equal(c.pages_sent + c.pages_zero + c.pages_same, 4 * PAGES);
        assert_true(remember ? c.pages_same >= same : c.pages_same == 0);
        assert_true(kind & 2 ? c.page_bytes < c.pages_sent * TERN_PAGE_BYTES * 3 / 4
                             : c.page_bytes == c.pages_sent * TERN_PAGE_BYTES);
        struct bytes b = stream_take(s);
        assert_true(apply(b));
        assert_memory_equal(source, target, sizeof source);
        free(b.data);
    }
}

/** Any number of zero pages is one record. Noise is not compressed. */
static void test_what_is_sent(void **state)
{
    (void)state;
    struct tern_stream *s = stream_writer();
    assert_int_equal(tern_stream_compress(s, 20), -EINVAL);
    ok(tern_stream_compress(s, 3));
    memset(source, 0, sizeof source);
    memset(target, 0xee, sizeof target);
    ok(tern_put_pages(s, 7, 0, PAGES, source));
    ok(tern_stream_end(s));
    assert_int_equal(tern_stream_counts(s).pages_zero, PAGES);
    assert_true(tern_stream_counts(s).bytes < 256);
    struct bytes b = stream_take(s);
    assert_int_equal(apply(b), 1);
    assert_memory_equal(source, target, sizeof source);
    free(b.data);

    for (unsigned i = 0; i < PAGES; i++) {
        fill(source[i], i == 64 ? ZERO : NOISE);
    }
    s = stream_writer();
    ok(tern_stream_compress(s, 3));
    ok(tern_put_pages(s, 7, 0, PAGES, source));
    ok(tern_stream_end(s));
    assert_int_equal(tern_stream_counts(s).page_bytes, (PAGES - 1) * TERN_PAGE_BYTES);
    b = stream_take(s);
    assert_int_equal(apply(b), (PAGES + 63) / 64);
    assert_memory_equal(source, target, sizeof source);
    free(b.data);
}

/** A page that is zero, then not, then zero again is reported each time. */
static void test_back_to_zero(void **state)
{
    (void)state;
    struct tern_stream *s = stream_writer();
    ok(tern_stream_remember(s));
    memset(source, 0, sizeof source);
    memset(target, 0xee, sizeof target);
    for (int round = 0; round < 6; round++) {
        fill(source[0], round / 2 % 2 ? NOISE : ZERO);
        ok(tern_put_pages(s, 7, 0, 1, source));
    }
    ok(tern_stream_end(s));
    assert_int_equal(tern_stream_counts(s).pages_same, 2); /* the zeros; noise differs each time */
    assert_int_equal(tern_stream_counts(s).pages_zero, 2);
    struct bytes b = stream_take(s);
    apply(b);
    assert_memory_equal(source[0], target[0], TERN_PAGE_BYTES);
    free(b.data);
}

/** Writes a `pages` record with these fields. UINT64_MAX: without the field. */
static struct bytes pages(uint64_t first, uint64_t count, uint64_t encoding, const void *zero, size_t zero_bytes,
                          const void *same, size_t same_bytes, size_t content)
{
    struct tern_stream *s = stream_writer();
    tern_record_begin(s, TERN_RECORD_PAGES);
    tern_put_u64(s, "memory", 7);
    tern_put_u64(s, "first", first);
    tern_put_u64(s, "count", count);
    tern_put_u64(s, "encoding", encoding);
    if (zero) {
        tern_put_bytes(s, "zero", zero, zero_bytes);
    }
    if (same) {
        tern_put_bytes(s, "same", same, same_bytes);
    }
    tern_put_bytes(s, "content", source, content);
    ok(tern_record_end(s));
    ok(tern_stream_end(s));
    return stream_take(s);
}

static void refused(struct bytes b, const char *sentence)
{
    struct tern_stream *s = stream_reader(b);
    struct tern_pages p;
    stream_next(s, TERN_RECORD_PAGES);
    assert_int_equal(tern_get_pages(s, 7, PAGES - 1, &p), -EPROTO);
    assert_non_null(strstr(tern_last_error(), sentence));
    tern_stream_close(s);
    free(b.data);
}

static void test_refusals(void **state)
{
    (void)state;
    const unsigned char all = 0xff, low = 0x0f, high = 0xf0;
    refused(pages(0, 0, 0, 0, 0, 0, 0, 0), "field count is 0, at least 1");
    refused(pages(0, 65, 0, 0, 0, 0, 0, 65 * TERN_PAGE_BYTES), "field count is 65, at most 64");
    refused(pages(PAGES, 1, 0, 0, 0, 0, 0, TERN_PAGE_BYTES), "field first is 300, at most 299");
    refused(pages(PAGES - 1, 2, 2, 0, 0, 0, 0, 0), "field count is 2, at most 1");
    refused(pages(0, UINT64_MAX, 2, 0, 0, 0, 0, 0), "at most 300");
    refused(pages(0, 1, 3, 0, 0, 0, 0, 0), "field encoding is 3, at most 2");
    refused(pages(0, 2, 0, 0, 0, 0, 0, TERN_PAGE_BYTES), "field content has 4096 bytes, its pages 8192");
    refused(pages(0, 1, 0, 0, 0, 0, 0, TERN_PAGE_BYTES + 1), "field content has 4097 bytes, at most 4096");
    refused(pages(0, 8, 0, &all, 1, &low, 1, 0), "page 0 is zero and as it was before");
    refused(pages(0, 4, 0, &high, 1, 0, 0, 4 * TERN_PAGE_BYTES), "field zero is no bitmap of 4 pages");
    refused(pages(0, 8, 0, 0, 0, &all, 0, 8 * TERN_PAGE_BYTES), "field same is no bitmap of 8 pages");
    refused(pages(0, 2, 1, 0, 0, 0, 0, 100), "field content cannot be decompressed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rounds), cmocka_unit_test(test_what_is_sent), cmocka_unit_test(test_back_to_zero),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
