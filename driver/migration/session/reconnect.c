/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Continues the processes' stream of a migration over other links when links are lost (session.h). Each ternd closes
 * its links, so that the other one notices as well, tells the tool, and waits for other links. Over the first of these
 * the target says which records it has (`ready`), and the source sends the others again.
 *
 * A source that has written everything does not know how much has arrived. Therefore it waits until the target says
 * that it has everything (`acknowledged`, or `ready` with all records). From then on nothing of this stream is in
 * flight, and a lost link ends the migration.
 */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "migration/session/internal.h"
#include "wire/socket.h"

/* bytes kept for each link, more than the buffers of sockets and relays between the two hold */
#define RESEND_BUFFER_BYTES (16u << 20)
#define RECONNECTS_MAX 5u /* losses in a row without progress that end the migration */

static bool is_loss(int r)
{
    return r == -EIO || r == -EPIPE || r == -ETIMEDOUT;
}

/** Receives other links. -ECANCELED, -ETIMEDOUT; -EPIPE: the tool has none. */
static int other_links(struct ternd_move *m)
{
    const struct tern_wire_progress p = {.kind = TERN_WIRE_LOST};
    struct tern_wire_migrate how;
    const uint32_t n = m->link_count;
    ternd_move_close_links(m);
    tern_socket_send(m->control, &p, sizeof p, -1, false); /* if the message is lost no links come, which times out */
    const int r = ternd_move_receive_links(m, &how);
    return r || m->link_count == n ? r : tern_error(-EPROTO, "%u links came for %u", m->link_count, n);
}

/* ---------------------------------------------------------------------- what the target has */

static int say(struct ternd_move *m, enum tern_record_type type, const struct tern_stream *s)
{
    struct tern_stream *to;
    int r = ternd_move_stream(m, true, &to);
    if (!r) {
        r = tern_put_numbers(to, type, s);
        if (r == 0) {
            r = tern_stream_end(to);
        }
        tern_stream_close(to);
    }
    return r;
}

static int hear(struct ternd_move *m, const struct tern_stream *s, uint64_t *next)
{
    enum tern_record_type type;
    struct tern_stream *from;
    int r = ternd_move_stream(m, false, &from);
    if (!r) {
        r = tern_record_next(from, &type);
        r = r < 0 ? r : r && (type == TERN_RECORD_READY || type == TERN_RECORD_ACKNOWLEDGED)
            ? tern_get_numbers(from, s, next) : tern_error(-EPROTO, "the target does not say what it has");
        if (r == 0) {
            r = tern_record_next(from, &type);
        }
        tern_stream_close(from);
    }
    return r <= 0 ? r : tern_error(-EPROTO, "the target says more than what it has");
}

/* ------------------------------------------------------------------------------ losses */

/** Counts losses without progress since the last one. -EPIPE: too many. */
static int came(struct ternd_move *m, const uint64_t *next)
{
    const bool more = memcmp(m->next, next, m->link_count * sizeof *next) != 0;
    memcpy(m->next, next, m->link_count * sizeof *next);
    m->stuck = more ? 0 : m->stuck + 1;
    return m->stuck < RECONNECTS_MAX ? 0 : tern_error(-EPIPE, "links were lost %u times before anything came over them",
                                                      RECONNECTS_MAX);
}

/** Source: gets other links, and the records that the target needs next. *told false: the links were lost again. */
static int source_lost(struct ternd_move *m, struct tern_stream *s, uint64_t *next, bool *told)
{
    int r = other_links(m);
    if (r) {
        return r;
    }
    r = hear(m, s, next);
    *told = !r;
    return *told || is_loss(r) ? came(m, *told ? next : m->next) : r;
}

/** True: these are all records that were written. */
static bool is_all(const struct ternd_move *m, const struct tern_stream *s, const uint64_t *next)
{
    uint64_t all[TERN_STREAM_LINKS];
    tern_stream_numbers(s, all);
    return memcmp(all, next, m->link_count * sizeof *next) == 0;
}

/** Sends the records that the target lacks. A loss shows at the next use. */
static int go_on(struct ternd_move *m, struct tern_stream *s, const uint64_t *next)
{
    const int r = tern_stream_resume(s, m->links, next);
    return is_loss(r) ? 0 : r;
}

static int source_again(void *user, struct tern_stream *s, const char **why)
{
    struct ternd_move *m = user;
    uint64_t next[TERN_STREAM_LINKS] = {0};
    bool told = false;
    int r = source_lost(m, s, next, &told);
    if (r == 0 && told) {
        r = go_on(m, s, next);
    }
    *why = r ? tern_last_error() : "";
    return r;
}

static int target_again(void *user, struct tern_stream *s, const char **why)
{
    struct ternd_move *m = user;
    int r = other_links(m);
    if (!r) {
        r = say(m, TERN_RECORD_READY, s);
        if (r == 0) {
            r = tern_stream_resume(s, m->links, NULL);
        }
        r = is_loss(r) ? 0 : r;
    }
    *why = r ? tern_last_error() : "";
    return r;
}

/* ------------------------------------------------------------------------------- calls */

int ternd_move_links_stream(struct ternd_move *m, bool writes, struct tern_stream **out)
{
    const int r = writes ? tern_stream_write_fds(m->links, m->link_count, out)
                         : tern_stream_read_fds(m->links, m->link_count, out);
    if (r) {
        return r;
    }
    tern_stream_timeout(*out, m->t->patience_ms);
    tern_stream_cancel_fd(*out, m->control);
    if (m->again) {
        tern_stream_keep(*out, writes ? (size_t)RESEND_BUFFER_BYTES * m->link_count : 0);
        tern_stream_again(*out, writes ? source_again : target_again, m);
    }
    return 0;
}

int ternd_move_read_to_end(struct ternd_move *m, struct tern_stream *s)
{
    uint64_t next[TERN_STREAM_LINKS] = {0};
    int r = m->again ? hear(m, s, next) : 0;
    while (is_loss(r)) {
        bool told = false;
        r = source_lost(m, s, next, &told);
        if (r || (told && is_all(m, s, next))) {
            return r;
        }
        r = told ? go_on(m, s, next) : 0;
        if (r == 0) {
            r = hear(m, s, next);
        }
    }
    return r || !m->again || is_all(m, s, next) ? r : tern_error(-EPROTO, "the target has not read all");
}

int ternd_move_has_read(struct ternd_move *m, const struct tern_stream *s)
{
    int r = m->again ? say(m, TERN_RECORD_ACKNOWLEDGED, s) : 0;
    while (is_loss(r)) {
        r = other_links(m);
        if (r) {
            return r;
        }
        r = say(m, TERN_RECORD_READY, s);
    }
    return r;
}
