/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Parses the streams that pass through the proxy at the source (docs/migration-stream.md). The parser finds the end of
 * each stream, and reads the contexts of the programs from the third stream, the state of sessions.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "migration/format/stream.h"
#include "migration/proxy/internal.h"
#include "migration/session/session.h"

#define STREAM_COUNT 3u

static int bad(const char *why)
{
    return tern_error(-EPROTO, "the stream of the source's ternd is not as it should be: %s", why);
}

/** Called when the header of a stream, or the head of a record, is complete. */
static int begin(struct proxy_parser *t)
{
    struct tern_stream_header header;
    struct tern_record_head head;
    const bool first = !t->inside;
    const char *why = first ? tern_header_unpack(t->head, &header) : tern_head_unpack(t->head, &head);
    t->have = 0;
    t->inside = true;
    t->last = !why && !first && head.type == TERN_RECORD_END;
    t->left = why || first ? 0 : head.length;
    return why ? bad(why) : 0;
}

int proxy_parse(struct proxy_parser *t, const uint8_t *bytes, size_t n)
{
    int r = 0;
    while (!r && n) {
        const size_t whole = t->inside ? TERN_HEAD_BYTES : TERN_HEADER_BYTES;
        const size_t want = t->left ? (t->left < n ? (size_t)t->left : n) : whole - t->have < n ? whole - t->have : n;
        if (t->streams == STREAM_COUNT) {
            return bad("more follows it");
        }
        if (t->streams == STREAM_COUNT - 1) {
            if (!proxy_bytes_room(&t->kept, want)) {
                return tern_error_memory("a migration");
            }
            memcpy(t->kept.data + t->kept.end, bytes, want);
            t->kept.end += want;
        }
        if (t->left) {
            t->left -= want;
        } else {
            memcpy(t->head + t->have, bytes, want);
            t->have += want;
            r = t->have == whole ? begin(t) : 0;
        }
        if (!t->left && !t->have && t->last) {
            t->streams++;
            t->inside = t->last = false;
        }
        bytes += want;
        n -= want;
    }
    return r;
}

/** Reads a context and the last submission that was reported: all but those of `sent`, and those that wait for room. */
static int read_context(struct proxy_session *s, struct tern_stream *in, const uint64_t *waiting, size_t n)
{
    size_t sent;
    const uint64_t handle = tern_get_u64(in, "handle", 1, UINT32_MAX);
    const uint64_t process = tern_get_u64(in, "process", 1, UINT32_MAX);
    const uint64_t cookie = tern_get_u64(in, "cookie", 0, UINT64_MAX);
    const uint64_t fence = tern_get_u64(in, "fence", 0, UINT64_MAX - 1);
    tern_get_u64s(in, "sent", TERN_RECORD_BYTES / 8, &sent);
    uint64_t open = sent / TERND_MOVE_SENT_WORDS;
    for (size_t i = 0; i + TERND_MOVE_TOLD_WORDS <= n; i += TERND_MOVE_TOLD_WORDS) {
        open += waiting[i] == cookie;
    }
    const int r = tern_record_bad(in);
    if (r) {
        return r;
    }
    if (open > fence) {
        return bad("a context has more submissions than it had");
    }
    return proxy_context_add(s, (uint32_t)handle, (uint32_t)process, cookie, fence - open, fence);
}

static int read_session(struct proxy_source *a, struct tern_stream *in, uint32_t i)
{
    enum tern_record_type type = TERN_RECORD_SESSION;
    uint64_t *waiting = NULL;
    size_t n = 0;
    int r = tern_record_next(in, &type);
    if (r <= 0 || type != TERN_RECORD_SESSION) {
        return r < 0 ? r : bad("a session is missing");
    }
    tern_get_u64(in, "number", i, i);
    const uint64_t objects = tern_get_u64(in, "objects", 0, 1u << 20), calls = tern_get_u64(in, "calls", 0, 1u << 20);
    const uint64_t *words = tern_get_u64s(in, "waiting", TERN_RECORD_BYTES / 8, &n);
    r = tern_record_bad(in);
    waiting = r ? NULL : malloc((n + 1) * sizeof *waiting);
    if (r == 0 && !waiting) {
        r = tern_error_memory("a migration");
    }
    if (!r && n) {
        memcpy(waiting, words, n * sizeof *waiting);
    }
    for (uint64_t k = 0; !r && k < objects + calls; k++) {
        r = tern_record_next(in, &type);
        r = r > 0 ? 0 : r < 0 ? r : bad("an object is missing");
        if (!r && type == TERN_RECORD_OBJECT && tern_get_u64(in, "kind", 0, UINT32_MAX) == TERND_MOVE_CONTEXT) {
            r = read_context(a->session[i], in, waiting, n);
        }
    }
    free(waiting);
    return r;
}

int proxy_parse_end(struct proxy_source *a)
{
    struct proxy_parser *t = &a->parser;
    struct tern_stream *in = NULL;
    int r = t->streams == STREAM_COUNT ? 0 : bad("it has no end");
    if (r == 0) {
        r = tern_stream_read_memory(t->kept.data, t->kept.end, &in);
    }
    for (uint32_t i = 0; !r && i < a->n; i++) {
        r = read_session(a, in, i);
    }
    tern_stream_close(in);
    free(t->kept.data);
    t->kept = (struct proxy_bytes){0};
    return r;
}
