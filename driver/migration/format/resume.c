/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Resuming a stream after its links were lost. The writer keeps copies of the records that the reader has not
 * acknowledged, up to a limit. The reader tells the numbers of the records that it wants next over the next connection.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "migration/format/internal.h"

bool tern_stream_error_of_link(int error)
{
    return error == -EIO || error == -EPIPE || error == -ETIMEDOUT;
}

bool tern_stream_lost(const struct tern_stream *s)
{
    return s->keep && tern_stream_error_of_link(s->failed);
}

void tern_stream_drop_kept(struct tern_stream *s, bool (*drop)(const struct tern_stream_kept *k, const uint64_t *next),
                           const uint64_t *next)
{
    struct tern_stream_kept **at = &s->kept;
    while (*at) {
        struct tern_stream_kept *k = *at;
        if (!drop || drop(k, next)) {
            s->kept_bytes -= k->size;
            *at = k->next;
            free(k);
        } else {
            at = &k->next;
        }
    }
    s->kept_end = at;
}

void tern_stream_keep_record(struct tern_stream *s, const void *data, size_t n)
{
    struct tern_stream_kept *k = s->keep ? malloc(sizeof *k + n) : NULL;
    if (!k) {
        return; /* if the record is needed, have_kept fails */
    }
    *k = (struct tern_stream_kept){.link = s->current, .number = s->head.number, .size = n};
    memcpy(k->data, data, n);
    *s->kept_end = k;
    s->kept_end = &k->next;
    s->kept_bytes += n;
    while (s->kept_bytes > s->keep) {
        struct tern_stream_kept *oldest = s->kept;
        s->kept = oldest->next;
        s->kept_end = s->kept ? s->kept_end : &s->kept;
        s->kept_bytes -= oldest->size;
        free(oldest);
    }
}

void tern_stream_keep(struct tern_stream *s, size_t bytes)
{
    s->keep = bytes;
}

static bool is_before(const struct tern_stream_kept *k, const uint64_t *next)
{
    return k->number < next[k->link];
}

void tern_stream_acknowledged(struct tern_stream *s, const uint64_t *next)
{
    tern_stream_drop_kept(s, is_before, next);
}

void tern_stream_numbers(const struct tern_stream *s, uint64_t *next)
{
    for (unsigned i = 0; i < s->n; i++) {
        next[i] = s->links[i].next + (!s->writes && s->open && i == s->current);
    }
}

int tern_put_numbers(struct tern_stream *answers, enum tern_record_type type, const struct tern_stream *reader)
{
    uint64_t next[TERN_STREAM_LINKS];
    tern_stream_numbers(reader, next);
    tern_record_begin(answers, type);
    if (reader->known) {
        tern_put_u64(answers, "migration", reader->header.id);
    }
    tern_put_u64s(answers, "next", next, reader->n);
    return tern_record_end(answers);
}

int tern_get_numbers(struct tern_stream *answers, const struct tern_stream *writer, uint64_t *next)
{
    size_t n;
    const bool known = tern_has(answers, "migration");
    const uint64_t id = known ? tern_get_u64(answers, "migration", 0, UINT64_MAX) : writer->header.id;
    const uint64_t *told = tern_get_u64s(answers, "next", TERN_STREAM_LINKS, &n);
    if (!tern_record_bad(answers) && (id != writer->header.id || n != writer->n)) {
        return tern_record_refuse(answers, "it is of migration %016" PRIx64 " with %zu links, not of %016" PRIx64
                                  " with %u", id, n, writer->header.id, writer->n);
    }
    for (size_t i = 0; i < n && !tern_record_bad(answers); i++) {
        if (told[i] > (known ? writer->links[i].next : 0)) {
            tern_record_refuse(answers, "the reader has record %" PRIu64 " of link %zu, which was not sent",
                               told[i] - 1, i);
        }
    }
    if (!tern_record_bad(answers)) {
        memcpy(next, told, n * sizeof *next);
    }
    return tern_record_bad(answers);
}

/** Checks that copies of all records from the numbers `next` on are kept. -EPROTO, -ESTALE, with a sentence. */
static int have_kept(const struct tern_stream *s, const uint64_t *next)
{
    for (unsigned i = 0; i < s->n; i++) {
        uint64_t there = 0;
        if (next[i] > s->links[i].next) {
            return tern_error(-EPROTO, "the migration's target has record %" PRIu64 " of link %u, which was not sent",
                              next[i] - 1, i);
        }
        for (const struct tern_stream_kept *k = s->kept; k; k = k->next) {
            there += k->link == i && k->number >= next[i];
        }
        if (there != s->links[i].next - next[i]) {
            return tern_error(-ESTALE, "records of link %u from %" PRIu64 " on are not kept any more: "
                              "the migration must start anew", i, next[i]);
        }
    }
    return 0;
}

/** Writes headers that name the next records, then the records that the reader lacks, in their first order. */
static int write_again(struct tern_stream *s, const uint64_t *next)
{
    uint64_t last[TERN_STREAM_LINKS];
    for (unsigned i = 0; i < s->n; i++) {
        last[i] = s->links[i].next;
        s->links[i].next = next[i];
    }
    int r = tern_stream_write_headers(s);
    for (const struct tern_stream_kept *k = s->kept; k && !r; k = k->next) {
        r = k->number >= next[k->link] ? tern_stream_write_link(s, k->link, k->data, k->size) : 0;
    }
    for (unsigned i = 0; i < s->n; i++) {
        s->links[i].next = last[i];
    }
    return r;
}

int tern_stream_resume(struct tern_stream *s, const int *fds, const uint64_t *next)
{
    int r = 0;
    if (!tern_stream_error_of_link(s->failed) && s->failed) {
        return tern_stream_failed(s); /* new links do not mend this error */
    }
    r = s->writes ? have_kept(s, next) : 0;
    for (unsigned i = 0; i < s->n && !r; i++) {
        struct tern_link now;
        r = tern_link_open(&now, fds[i]);
        if (r) {
            return tern_error(r, "a migration stream: descriptor %d: %s", fds[i], strerrordesc_np(-r));
        }
        now.bytes = s->links[i].bytes.bytes;
        s->links[i].bytes = now;
        s->links[i].begun = false;
    }
    if (r) {
        return r;
    }
    s->failed = 0;
    return s->writes ? write_again(s, next) : 0;
}

void tern_stream_again(struct tern_stream *s, int (*again)(void *user, struct tern_stream *s, const char **why),
                       void *user)
{
    s->again = again;
    s->again_user = user;
}

int tern_stream_mend(struct tern_stream *s)
{
    const char *why = "";
    int r = 0;
    while (!r && s->again && (s->writes ? tern_stream_lost(s) : tern_stream_error_of_link(s->failed))) {
        r = s->again(s->again_user, s, &why);
    }
    if (r) {
        const size_t n = strlen(s->sentence);
        snprintf(s->sentence + n, sizeof s->sentence - n, "; and it was not made again: %s", why);
        s->failed = r;
    }
    return tern_stream_failed(s);
}
