/* SPDX-License-Identifier: Apache-2.0 */
/** Frames of the link of a board (hal/uart/frame.c): the example of docs/board.md, escapes, and bytes that are not
 * frames. */
#include "check.h"
#include "hal/uart/frame.h"

/** Decodes bytes of the line. Returns the number of frames; the last one is in `in`. */
static unsigned taken(struct tern_frame_in *in, const uint8_t *line, size_t size, size_t *n)
{
    unsigned frames = 0;
    for (size_t i = 0; i < size; i++) {
        frames += tern_frame_take(in, line[i], n);
    }
    return frames;
}

static void test_example(void **state)
{
    (void)state;
    static const uint8_t request[] = {2, 2, 4, 0, 0, 0, 0, 0}, answer[] = {0x82, 2, 0, 3, 0x4e, 0x52, 0x45, 0x54};
    static const uint8_t out[] = {0x7e, 2, 2, 4, 0, 0, 0, 0, 0, 0x2b, 0x8b, 0x09, 0x2b, 0x7e};
    static const uint8_t back[] = {0x7e, 0x82, 2, 0, 3, 0x4e, 0x52, 0x45, 0x54, 0x4a, 0xcd, 0xf8, 0x51, 0x7e};
    uint8_t line[TERN_FRAME_CODED(sizeof request)];
    struct tern_frame_in in = {0};
    size_t n = 0;
    assert_int_equal(tern_frame_code(request, sizeof request, line), sizeof out);
    assert_memory_equal(line, out, sizeof out);
    assert_int_equal(taken(&in, back, sizeof back, &n), 1);
    assert_int_equal(n, sizeof answer);
    assert_memory_equal(in.bytes, answer, n);
    assert_true(in.frames == 1 && in.damaged == 0);
}

/** Frames of each length, with all byte values. */
static void test_lengths(void **state)
{
    (void)state;
    static uint8_t bytes[TERN_FRAME_MAX - 4], line[TERN_FRAME_CODED(sizeof bytes)];
    struct tern_frame_in in = {0};
    for (size_t size = 1; size <= sizeof bytes; size++) {
        for (size_t i = 0; i < size; i++) {
            bytes[i] = (uint8_t)(i * 7 + size);
        }
        size_t n = 0;
        const size_t sent = tern_frame_code(bytes, size, line);
        assert_true(sent <= TERN_FRAME_CODED(size));
        assert_int_equal(taken(&in, line, sent, &n), 1);
        assert_int_equal(n, size);
        assert_memory_equal(in.bytes, bytes, n);
    }
    assert_int_equal(in.damaged, 0);
}

/** A frame with an inverted bit, a byte too many or a byte too few is dropped. The next frame is decoded. */
static void test_damage(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {1, 0x7e, 0x7d, 4, 5};
    static const size_t size = sizeof bytes;
    uint8_t line[TERN_FRAME_CODED(sizeof bytes)], other[sizeof line + 1];
    const size_t sent = tern_frame_code(bytes, size, line);
    for (size_t bit = 0; bit < 8 * (sent - 2); bit++) {
        struct tern_frame_in in = {0};
        size_t n = 0;
        memcpy(other, line, sent);
        other[1 + bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_int_equal(taken(&in, other, sent, &n), 0);
        assert_int_equal(taken(&in, line, sent, &n), 1);
        assert_int_equal(n, size);
        assert_memory_equal(in.bytes, bytes, n);
    }
    for (size_t at = 1; at < sent; at++) {
        struct tern_frame_in in = {0};
        size_t n = 0;
        memcpy(other, line, at); /* one byte too many */
        other[at] = 0x55;
        memcpy(other + at + 1, line + at, sent - at);
        assert_int_equal(taken(&in, other, sent + 1, &n), 0);
        memcpy(other, line, at); /* one byte too few, between the flags */
        memcpy(other + at, line + at + 1, sent - at - 1);
        other[sent - 2] = 0x7e;
        assert_int_equal(taken(&in, other, sent - 1, &n), 0);
        assert_true(in.damaged > 0);
    }
}

/** A frame that is longer than the limit is dropped, whatever its length. */
static void test_too_long(void **state)
{
    (void)state;
    static uint8_t bytes[TERN_FRAME_MAX], line[TERN_FRAME_CODED(sizeof bytes)];
    struct tern_frame_in in = {0};
    size_t n = 0;
    for (size_t more = 0; more < 4; more++) {
        const size_t sent = tern_frame_code(bytes, TERN_FRAME_MAX - 3 + more, line);
        assert_int_equal(taken(&in, line, sent, &n), 0);
    }
    assert_int_equal(in.damaged, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_example),
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_too_long),
    };
    return cmocka_run_group_tests_name("frame", tests, NULL, NULL);
}
