/* SPDX-License-Identifier: Apache-2.0 */
/** A migration stream that is damaged or cut off at any byte is refused with a sentence, whatever fields its reader
 * asks for. */
#include "check.h"
#include "stream_bytes.h"

#include "migration/format/stream.h"

static struct bytes sample(void)
{
    static unsigned char pages[3][TERN_PAGE_BYTES];
    struct tern_stream *s = stream_writer();
    memset(pages[2], 5, sizeof pages[2]);
    ok(tern_stream_compress(s, 1));
    tern_stream_identify(s, 1);
    tern_record_begin(s, TERN_RECORD_DEVICE);
    tern_put_u64(s, "engines", 2);
    tern_put_text(s, "name", "small");
    tern_put_u64s(s, "sizes", (const uint64_t[]){1, 300, 70000, UINT64_MAX}, 4);
    ok(tern_record_end(s));
    ok(tern_put_pages(s, 1, 0, 3, pages));
    ok(tern_record_begin_skippable(s, 999));
    tern_put_bytes(s, "future", "abc", 3);
    ok(tern_record_end(s));
    ok(tern_stream_end(s));
    return stream_take(s);
}

/** Reads the whole stream and all fields. Returns 0 if it is intact. */
static int read_all(struct bytes b)
{
    struct tern_stream *s = stream_reader(b);
    enum tern_record_type type;
    struct tern_pages p;
    struct tern_page_run run;
    size_t n;
    int r;
    while ((r = tern_record_next(s, &type)) == 1) {
        if (type == TERN_RECORD_PAGES && tern_get_pages(s, 1, 2, &p) == 0) {
            while (tern_pages_next(&p, &run)) {
            }
        } else if (type == TERN_RECORD_DEVICE) {
            tern_get_u64(s, "engines", 1, 8);
            tern_get_text(s, "name", 16);
            tern_get_u64s(s, "sizes", 4, &n);
        }
    }
    assert_true(r <= 0);
    if (r) {
        assert_memory_equal(tern_last_error(), "migration stream: ", 18);
    }
    tern_stream_close(s);
    return r;
}

static void test_whole(void **state)
{
    (void)state;
    struct bytes b = sample();
    ok(read_all(b));
    free(b.data);
}

/** Each byte is changed, in one bit and in all, also where a length or a number of fields becomes huge. */
static void test_each_byte(void **state)
{
    (void)state;
    static const unsigned char changes[] = {0x01, 0x80, 0xff};
    struct bytes b = sample();
    for (size_t i = 0; i < b.n * sizeof changes; i++) {
        const unsigned char change = changes[i % sizeof changes];
        b.data[i / sizeof changes] ^= change;
        if (read_all(b) != -EPROTO) {
            fail_msg("byte %zu, changed by %#x: %s", i / sizeof changes, change, tern_last_error());
        }
        b.data[i / sizeof changes] ^= change;
    }
    ok(read_all(b));
    free(b.data);
}

/** A stream that is cut off after any byte is not intact. The bytes are copied, so that a sanitizer sees reads beyond
 * them. */
static void test_each_length(void **state)
{
    (void)state;
    struct bytes b = sample();
    for (size_t n = 0; n < b.n; n++) {
        struct bytes cut = {malloc(n ? n : 1), n};
        memcpy(cut.data, b.data, n);
        if (read_all(cut) != -EIO) {
            fail_msg("%zu bytes: %s", n, tern_last_error());
        }
        free(cut.data);
    }
    free(b.data);
}

/** Returns the bytes of record k with its head. */
static struct bytes record(struct bytes b, unsigned k)
{
    size_t at = TERN_HEADER_BYTES;
    struct tern_record_head h;
    for (;;) {
        assert_null(tern_head_unpack(b.data + at, &h));
        if (h.number == k) {
            return (struct bytes){b.data + at, TERN_HEAD_BYTES + h.length};
        }
        at += TERN_HEAD_BYTES + h.length;
    }
}

/** Records that are missing, repeated or reordered are refused, although each is intact. */
static void test_order(void **state)
{
    (void)state;
    static const unsigned orders[][5] = {{0, 2, 3}, {1, 2, 3}, {0, 1, 1, 2, 3}, {0, 2, 1, 3}, {3}};
    static const size_t counts[] = {3, 3, 5, 4, 1};
    struct bytes b = sample();
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        struct bytes other = {malloc(b.n * 2), TERN_HEADER_BYTES};
        memcpy(other.data, b.data, TERN_HEADER_BYTES);
        for (size_t k = 0; k < counts[i]; k++) {
            const struct bytes one = record(b, orders[i][k]);
            memcpy(other.data + other.n, one.data, one.n);
            other.n += one.n;
        }
        assert_int_equal(read_all(other), -EPROTO);
        assert_non_null(strstr(tern_last_error(), "records are missing or repeated"));
        free(other.data);
    }
    free(b.data);
}

/** Fields with a right checksum that are no map of fields. */
static void test_fields(void **state)
{
    (void)state;
    static const struct {
        const char *bytes, *sentence;
        size_t n;
    } cases[] = {
#define F(text, sentence) {text, sentence, sizeof text - 1}
        F("", "no CBOR map"),
        F("\x01", "no CBOR map"),
        F("\xbf\x61" "a\x01\xff", "no CBOR map"),
        F("\xbb\xff\xff\xff\xff\xff\xff\xff\xff", "more than 128 fields"),
        F("\xb8\x81\x61" "a\x01", "more than 128 fields"),
        F("\xa1", "name"),
        F("\xa1\x01\x01", "name"),
        F("\xa1\x60\x01", "name"),
        F("\xa1\x61" "A\x01", "name"),
        F("\xa1\x78\x29" "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\x01", "name"),
        F("\xa2\x61" "a\x01\x61" "a\x01", "twice"),
        F("\xa1\x61" "a", "value"),
        F("\xa1\x61" "a\x19\x01", "value"),
        F("\xa1\x61" "a\x5b\xff\xff\xff\xff\xff\xff\xff\xff", "value"),
        F("\xa1\x61" "a\x9b\xff\xff\xff\xff\xff\xff\xff\xff\x01", "value"),
        F("\xa1\x61" "a\xbb\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01", "value"),
        F("\xa1\x61" "a\x9f\x01\xff", "value"),
        F("\xa1\x61" "a\x5f\x41" "a\xff", "value"),
        F("\xa1\x61" "a\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x01", "value"),
        F("\xa1\x61" "a\x1c", "value"),
        F("\xa1\x61" "a\xff", "value"),
        F("\xa1\x61" "a\x01\x00", "after the last field"),
#undef F
    };
    struct bytes b = sample();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tern_record_head h = {.type = TERN_RECORD_DEVICE, .length = (uint32_t)cases[i].n};
        struct bytes own = {malloc(TERN_HEADER_BYTES + TERN_HEAD_BYTES + cases[i].n), 0};
        memcpy(own.data, b.data, TERN_HEADER_BYTES);
        tern_head_pack(&h, cases[i].bytes, own.data + TERN_HEADER_BYTES);
        memcpy(own.data + TERN_HEADER_BYTES + TERN_HEAD_BYTES, cases[i].bytes, cases[i].n);
        own.n = TERN_HEADER_BYTES + TERN_HEAD_BYTES + cases[i].n;
        if (read_all(own) != -EPROTO || !strstr(tern_last_error(), cases[i].sentence)) {
            fail_msg("case %zu: %s", i, tern_last_error());
        }
        free(own.data);
    }
    free(b.data);
}

/** Types of values that this version does not know inside a field are no error: negative numbers, maps, tags,
 * floats. */
static void test_other_kinds(void **state)
{
    (void)state;
    static const char fields[] = "\xa6\x61" "a\x20\x61" "b\xa1\x01\x82\x01\x60\x61" "c\xc1\x01\x61" "d\xf9\x3c\x00"
                                 "\x61" "e\xf5\x61" "f\x82\x01\x40";
    struct bytes b = sample();
    struct tern_record_head h = {.type = TERN_RECORD_DEVICE, .length = sizeof fields - 1};
    struct bytes own = {malloc(TERN_HEADER_BYTES + TERN_HEAD_BYTES + sizeof fields), 0};
    memcpy(own.data, b.data, TERN_HEADER_BYTES);
    tern_head_pack(&h, fields, own.data + TERN_HEADER_BYTES);
    memcpy(own.data + TERN_HEADER_BYTES + TERN_HEAD_BYTES, fields, sizeof fields - 1);
    own.n = TERN_HEADER_BYTES + TERN_HEAD_BYTES + sizeof fields - 1;
    struct tern_stream *s = stream_reader(own);
    stream_next(s, TERN_RECORD_DEVICE);
    for (char name[2] = "a"; name[0] <= 'f'; name[0]++) {
        assert_true(tern_has(s, name));
    }
    tern_get_u64(s, "a", 0, 1);
    assert_int_equal(tern_record_bad(s), -EPROTO);
    assert_non_null(strstr(tern_last_error(), "field a is something else, not a number"));
    tern_stream_close(s);
    free(own.data);
    free(b.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole), cmocka_unit_test(test_each_byte), cmocka_unit_test(test_each_length),
        cmocka_unit_test(test_order), cmocka_unit_test(test_fields), cmocka_unit_test(test_other_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
