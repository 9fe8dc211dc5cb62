/* SPDX-License-Identifier: Apache-2.0 */
/** Migration streams in memory: a writer, its bytes, and readers of them. */
#ifndef SUPPORT_STREAM_BYTES_H
#define SUPPORT_STREAM_BYTES_H

#include <stddef.h>

#include "migration/format/stream.h"

struct bytes {
    unsigned char *data;
    size_t n;
};

/** Returns a copy of the stream's bytes and closes the stream. */
struct bytes stream_take(struct tern_stream *s);
/** Opens a stream for writing. */
struct tern_stream *stream_writer(void);
/** Opens a stream that reads the bytes. */
struct tern_stream *stream_reader(struct bytes b);
/** Reads the next record, which must be of this type. */
void stream_next(struct tern_stream *s, enum tern_record_type want);

#endif
