/* SPDX-License-Identifier: Apache-2.0 */
/** Sessions as records of a migration stream (docs/migration-stream.md, "Records of sessions"). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "migration/format/stream.h"
#include "migration/session/internal.h"

static int write_program(const struct ternd_session *s, uint32_t number, struct tern_stream *to)
{
    uint64_t numbers[1024];
    size_t n = 0;
    TERN_LIST_EACH(node, &s->processes)
    {
        if (n < sizeof numbers / sizeof *numbers) {
            numbers[n] = tern_os_process_number(TERN_LIST_ENTRY(node, struct ternd_object, node)->it);
        }
        n++;
    }
    if (n > sizeof numbers / sizeof *numbers) {
        return tern_error(-ENOSPC, "program %d (%s) has %zu processes", (int)s->pid, s->program, n);
    }
    tern_record_begin(to, TERN_RECORD_SESSION);
    tern_put_u64(to, "number", number);
    tern_put_bytes(to, "program", s->program, strnlen(s->program, sizeof s->program));
    tern_put_text(to, "partition", s->partition);
    tern_put_bytes(to, "token", s->token, sizeof s->token);
    tern_put_u64(to, "calls", s->limits.calls);
    tern_put_u64(to, "queue", s->limits.queue);
    tern_put_u64s(to, "processes", numbers, n);
    return tern_record_end(to);
}

int ternd_move_write_programs(const struct ternd_move *m)
{
    struct tern_stream *to;
    int r = ternd_move_stream(m, true, &to);
    if (r) {
        return r;
    }
    for (uint32_t i = 0; !r && i < m->n; i++) { /* the session is held, so its processes do not change */
        r = write_program(m->sessions[i], i, to);
    }
    if (r == 0) {
        r = tern_stream_end(to);
    }
    tern_stream_close(to);
    for (uint32_t i = 0; !r && i < m->n; i++) {
        const struct ternd_session *s = m->sessions[i];
        struct tern_wire_descriptor what = {.kind = TERN_WIRE_CONNECTION, .session = i, .calls = s->limits.calls};
        const struct tern_wire_descriptor memory = {.kind = TERN_WIRE_MEMORY, .session = i, .calls = s->limits.calls};
        memcpy(what.token, s->token, sizeof what.token);
        r = ternd_move_send_fd(m, s->connection, &what);
        if (r == 0) {
            r = ternd_move_send_fd(m, s->memory, &memory);
        }
    }
    return r;
}

/** Writes the submissions of a context that were not reported. */
static int put_sent(const struct ternd_object *o, struct tern_stream *to)
{
    size_t n = 0;
    for (const struct ternd_sent *e = o->sent; e; e = e->next) {
        n++;
    }
    uint64_t *words = malloc((n + 1) * TERND_MOVE_SENT_WORDS * sizeof *words), *at = words;
    if (!words) {
        return tern_error_memory("a migration");
    }
    for (const struct ternd_sent *e = o->sent; e; e = e->next) {
        *at++ = e->told.fence;
        *at++ = e->told.cost;
        *at++ = e->refused;
    }
    tern_put_u64s(to, "sent", words, n * TERND_MOVE_SENT_WORDS);
    free(words);
    return 0;
}

_Static_assert(TERND_CONTEXT == TERND_MOVE_CONTEXT, "kinds of objects have the numbers of the stream");

static uint64_t name_of(const struct ternd_object *o)
{
    switch (o->kind) {
    case TERND_PROCESS:
        return tern_os_process_number(o->it);
    case TERND_CONTEXT:
        return tern_os_context_number(o->it);
    case TERND_ALLOCATION:
        return tern_os_allocation_address(o->it);
    default:
        return tern_os_fence_address(o->it);
    }
}

static int write_object(const struct ternd_object *o, struct tern_stream *to)
{
    int r = 0;
    tern_record_begin(to, TERN_RECORD_OBJECT);
    tern_put_u64(to, "handle", o->handle);
    tern_put_u64(to, "kind", o->kind);
    tern_put_u64(to, "process", o->proc ? o->proc->handle : 0);
    tern_put_u64(to, "name", name_of(o));
    tern_put_u64(to, "bytes", o->bytes);
    if (o->kind == TERND_CONTEXT) {
        tern_put_u64(to, "cookie", o->cookie);
        tern_put_u64(to, "fence", o->fence);
        r = put_sent(o, to);
    }
    const int end = tern_record_end(to);
    return r ? r : end;
}

/** Writes the completions for which the ring had no room. */
static int put_waiting(const struct ternd_session *s, struct tern_stream *to)
{
    size_t n = 0;
    for (const struct ternd_sent *e = s->waiting; e; e = e->next) {
        n++;
    }
    uint64_t *words = malloc((n + 1) * TERND_MOVE_TOLD_WORDS * sizeof *words), *at = words;
    if (!words) {
        return tern_error_memory("a migration");
    }
    for (const struct ternd_sent *e = s->waiting; e; e = e->next) {
        const struct tern_wire_completion *c = &e->told;
        const uint64_t told[TERND_MOVE_TOLD_WORDS] = {c->cookie, c->fence, c->result, c->engine,
                                                      c->submitted, c->begin, c->end, c->cost};
        memcpy(at, told, sizeof told);
        at += TERND_MOVE_TOLD_WORDS;
    }
    tern_put_u64s(to, "waiting", words, n * TERND_MOVE_TOLD_WORDS);
    free(words);
    return 0;
}

/** Writes a frozen session, which no other thread changes. A process comes before its objects. */
static int write_session(const struct ternd_session *s, uint32_t number, struct tern_stream *to)
{
    uint32_t objects = 0;
    for (uint32_t i = 0; i < s->objects; i++) {
        objects += s->object[i] != NULL;
    }
    tern_record_begin(to, TERN_RECORD_SESSION);
    tern_put_u64(to, "number", number);
    tern_put_u64(to, "head", s->head);
    tern_put_u64(to, "tail", s->tail);
    tern_put_u64(to, "objects", objects);
    tern_put_u64(to, "calls", s->calls);
    int r = put_waiting(s, to);
    if (r == 0) {
        r = tern_record_end(to);
    }
    for (uint32_t k = 0; k < 2; k++) {
        for (uint32_t i = 0; !r && i < s->objects; i++) {
            const struct ternd_object *o = s->object[i];
            r = o && (o->kind == TERND_PROCESS) == (k == 0) ? write_object(o, to) : 0;
        }
    }
    for (uint32_t i = 0; !r && i < TERN_WIRE_CONNECTIONS_MAX; i++) {
        if (s->call[i] >= 0) {
            tern_record_begin(to, TERN_RECORD_CALL);
            tern_put_u64(to, "slot", i);
            tern_put_bytes(to, "request", s->pending[i], s->pending[i] ? s->pending[i]->length : 0);
            r = tern_record_end(to);
        }
    }
    return r;
}

static int send_calls(const struct ternd_move *m, uint32_t session)
{
    const struct ternd_session *s = m->sessions[session];
    int r = 0;
    for (uint32_t i = 0; !r && i < TERN_WIRE_CONNECTIONS_MAX; i++) {
        const struct tern_wire_descriptor what = {.kind = TERN_WIRE_CALL, .session = session, .slot = i};
        r = s->call[i] >= 0 ? ternd_move_send_fd(m, s->call[i], &what) : 0;
    }
    return r;
}

int ternd_move_write_state(const struct ternd_move *m)
{
    struct tern_stream *to;
    int r = ternd_move_stream(m, true, &to);
    if (r) {
        return r;
    }
    for (uint32_t i = 0; !r && i < m->n; i++) {
        r = write_session(m->sessions[i], i, to);
    }
    if (r == 0) {
        r = tern_stream_end(to);
    }
    tern_stream_close(to);
    for (uint32_t i = 0; !r && i < m->n; i++) {
        r = send_calls(m, i);
    }
    return r;
}
