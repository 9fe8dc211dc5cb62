/* SPDX-License-Identifier: Apache-2.0 */
/** Migration streams in memory for tests: a writer, its bytes, and readers of them. */
#ifndef STREAM_RIG_H
#define STREAM_RIG_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "migration/format/stream.h"
#include "tern/tern.h"

#define ok(call) assert_int_equal((call), 0)

struct bytes {
    unsigned char *data;
    size_t n;
};

/** Returns a copy of the stream's bytes and closes the stream. */
static inline struct bytes take(struct tern_stream *s)
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

static inline struct tern_stream *writer(void)
{
    struct tern_stream *s;
    ok(tern_stream_write_memory(&s));
    return s;
}

static inline struct tern_stream *reader(struct bytes b)
{
    struct tern_stream *s;
    ok(tern_stream_read_memory(b.data, b.n, &s));
    return s;
}

/** Reads the next record, which must be of this type. */
static inline void next(struct tern_stream *s, enum tern_record_type want)
{
    enum tern_record_type type;
    const int r = tern_record_next(s, &type);
    if (r != 1) {
        fail_msg("%d: %s", r, tern_last_error());
    }
    assert_int_equal(type, want);
}

#endif
