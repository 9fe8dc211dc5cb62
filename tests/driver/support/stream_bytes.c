/* SPDX-License-Identifier: Apache-2.0 */
#include "stream_bytes.h"

#include "check.h"

struct bytes stream_take(struct tern_stream *s)
{
    struct bytes b;
    const void *from = tern_stream_memory(s, &b.n);
    b.data = malloc(b.n + 1);
    assert_non_null(b.data);
    if (b.n) {
        memcpy(b.data, from, b.n);
    }
    tern_stream_close(s);
    return b;
}

struct tern_stream *stream_writer(void)
{
    struct tern_stream *s;
    ok(tern_stream_write_memory(&s));
    return s;
}

struct tern_stream *stream_reader(struct bytes b)
{
    struct tern_stream *s;
    ok(tern_stream_read_memory(b.data, b.n, &s));
    return s;
}

void stream_next(struct tern_stream *s, enum tern_record_type want)
{
    enum tern_record_type type;
    const int r = tern_record_next(s, &type);
    if (r != 1) {
        fail_msg("%d: %s", r, tern_last_error());
    }
    assert_int_equal(type, want);
}
