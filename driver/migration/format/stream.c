/* SPDX-License-Identifier: Apache-2.0 */
/** Common functions of streams that are written and of streams that are read. */
#include "migration/format/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/error.h"
#include "tern/tern_spec.h"

const char *tern_record_name(unsigned type)
{
    switch (type) {
#define X(name, number, text) \
    case TERN_RECORD_##name: \
        return text;
        TERN_RECORD_TYPES(X)
#undef X
    default:
        return NULL;
    }
}

int tern_stream_failed(const struct tern_stream *s)
{
    return s->failed ? tern_error(s->failed, "%s", s->sentence) : 0;
}

int tern_stream_fail(struct tern_stream *s, bool of_record, int error, const char *format, ...)
{
    if (!s->failed || (tern_stream_lost(s) && !tern_stream_error_of_link(error))) {
        va_list args;
        size_t at = (size_t)snprintf(s->sentence, sizeof s->sentence, "migration stream: ");
        const char *name = tern_record_name(s->head.type);
        if (of_record) {
            at += (size_t)snprintf(s->sentence + at, sizeof s->sentence - at, "record %" PRIu64,
                                   s->links[s->current].next);
            at += s->n > 1 ? (size_t)snprintf(s->sentence + at, sizeof s->sentence - at, " of link %u", s->current) : 0;
            at += name ? (size_t)snprintf(s->sentence + at, sizeof s->sentence - at, " (%s)", name) : 0;
            at += (size_t)snprintf(s->sentence + at, sizeof s->sentence - at, ": ");
        }
        va_start(args, format);
        vsnprintf(s->sentence + at, sizeof s->sentence - at, format, args);
        va_end(args);
        s->failed = error;
    }
    return tern_stream_failed(s);
}

int tern_stream_new(const int *fds, unsigned n, bool writes, struct tern_stream **out)
{
    if (n < 1 || n > TERN_STREAM_LINKS) {
        return tern_error(-EINVAL, "a migration stream has 1 to %u links, not %u", TERN_STREAM_LINKS, n);
    }
    struct tern_stream *s = calloc(1, sizeof *s);
    if (!s) {
        return tern_error_memory("a migration stream");
    }
    s->writes = writes;
    s->n = n;
    s->kept_end = &s->kept;
    s->wait = (struct tern_link_wait){.timeout = -1, .cancel = -1};
    s->header = (struct tern_stream_header){.major = TERN_FORMAT_MAJOR, .minor = TERN_FORMAT_MINOR,
                                            .spec = TERN_SPEC_HASH, .links = (uint16_t)n};
    for (unsigned i = 0; i < n; i++) {
        const int r = fds ? tern_link_open(&s->links[i].bytes, fds[i]) : 0;
        if (r) {
            free(s);
            return tern_error(r, "a migration stream: descriptor %d: %s", fds[i], strerrordesc_np(-r));
        }
    }
    if (!fds) {
        s->links[0].bytes.fd = -1;
    }
    if (writes) {
        while (getrandom(&s->header.id, sizeof s->header.id, 0) != sizeof s->header.id) { /* a signal ended it */
        }
    }
    *out = s;
    return 0;
}

int tern_stream_write_fds(const int *fds, unsigned n, struct tern_stream **out)
{
    return tern_stream_new(fds, n, true, out);
}

int tern_stream_read_fds(const int *fds, unsigned n, struct tern_stream **out)
{
    return tern_stream_new(fds, n, false, out);
}

int tern_stream_write_fd(int fd, struct tern_stream **out)
{
    return tern_stream_new(&fd, 1, true, out);
}

int tern_stream_read_fd(int fd, struct tern_stream **out)
{
    return tern_stream_new(&fd, 1, false, out);
}

int tern_stream_write_memory(struct tern_stream **out)
{
    return tern_stream_new(NULL, 1, true, out);
}

int tern_stream_read_memory(const void *data, size_t bytes, struct tern_stream **out)
{
    const int r = tern_stream_new(NULL, 1, false, out);
    if (!r) {
        (*out)->links[0].bytes.from = data;
        (*out)->links[0].bytes.size = bytes;
    }
    return r;
}

const void *tern_stream_memory(const struct tern_stream *s, size_t *bytes)
{
    *bytes = s->links[0].bytes.size;
    return s->links[0].bytes.to;
}

void tern_stream_close(struct tern_stream *s)
{
    if (!s) {
        return;
    }
    while (s->pieces) {
        struct tern_stream_piece *next = s->pieces->next;
        free(s->pieces);
        s->pieces = next;
    }
    for (unsigned i = 0; i < s->n; i++) {
        tern_link_free(&s->links[i].bytes);
    }
    tern_stream_drop_kept(s, NULL, NULL);
    tern_stream_pages_free(s->pages);
    free(s->body);
    free(s);
}

void tern_stream_timeout(struct tern_stream *s, int milliseconds)
{
    s->wait.timeout = milliseconds;
}

void tern_stream_cancel_fd(struct tern_stream *s, int fd)
{
    s->wait.cancel = fd;
}

struct tern_stream_counts tern_stream_counts(const struct tern_stream *s)
{
    struct tern_stream_counts c = s->counts;
    for (unsigned i = 0; i < s->n; i++) {
        c.bytes += s->links[i].bytes.bytes;
    }
    return c;
}

void tern_stream_identify(struct tern_stream *s, uint64_t id)
{
    s->header.id = id;
}

uint64_t tern_stream_id(const struct tern_stream *s)
{
    return s->header.id;
}

uint32_t tern_stream_spec(const struct tern_stream *s)
{
    return s->header.spec;
}
