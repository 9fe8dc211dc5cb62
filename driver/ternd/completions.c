/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Completions to clients. The record of a completion is made with its submission, so that reporting cannot fail. A
 * completion for which the ring has no room waits in ternd's memory, which counts against limits.queue. The client
 * wakes the session's thread when there is room again.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "ternd/server.h"
#include "wire/futex.h"
#include "wire/ring.h"
#include "wire/socket.h"

struct ternd_sent *ternd_sent_add(struct ternd_object *context, uint64_t fence, uint64_t cost)
{
    struct ternd_session *s = context->session;
    struct ternd_sent *e = calloc(1, sizeof *e);
    if (!e) {
        return NULL;
    }
    e->told = (struct tern_wire_completion){
        .cookie = context->cookie, .fence = fence, .result = TERN_ABORTED, .cost = cost};
    pthread_mutex_lock(&s->done);
    const bool room = cost <= s->limits.queue - s->queued;
    if (room) {
        s->queued += cost;
        *context->sent_end = e;
        context->sent_end = &e->next;
    }
    pthread_mutex_unlock(&s->done);
    if (!room) {
        free(e);
        ternd_session_break(s, "it queues more bytes of submissions than its limit of %" PRIu64, s->limits.queue);
        return NULL;
    }
    return e;
}

/** Entries that the client has not taken. More than the size of the ring: the client's head is invalid. Requires
 *  session->done. */
static uint64_t in_ring(const struct ternd_session *s)
{
    tern_assert_held(&s->done);
    return s->tail - atomic_load(&s->shared->completions.head);
}

/** Writes waiting completions as long as there is room. Requires session->done. */
static void flush(struct ternd_session *s)
{
    tern_assert_held(&s->done);
    struct tern_wire_shared *shared = s->shared;
    const uint64_t before = s->tail;
    while (s->waiting) {
        const uint64_t used = in_ring(s);
        if (used > TERN_WIRE_COMPLETIONS) {
            ternd_session_break(s, "the head of its completion ring is impossible");
            break;
        }
        if (used == TERN_WIRE_COMPLETIONS) {
            atomic_store(&shared->backlog, 1);
            if (in_ring(s) == TERN_WIRE_COMPLETIONS) {
                break;
            }
            continue;
        }
        struct ternd_sent *e = s->waiting;
        s->waiting = e->next;
        if (!s->waiting) {
            s->waiting_end = &s->waiting;
        }
        s->completions[s->tail % TERN_WIRE_COMPLETIONS] = e->told;
        s->queued -= e->told.cost;
        atomic_store_explicit(&shared->completions.tail, ++s->tail, memory_order_release);
        free(e);
    }
    if (s->tail != before) {
        atomic_store_explicit(&shared->now, tern_os_device_time_seen(s->ternd->dev) + s->shift,
                              memory_order_relaxed);
        const uint32_t how = tern_ring_wakes(&shared->completions);
        if (how == TERN_WIRE_FUTEX) {
            tern_futex_wake(&shared->completions.sleeping);
        } else if (how != TERN_WIRE_AWAKE) {
            tern_socket_wake(s->connection);
        }
    }
}

/** Moves the oldest record of the context to the list of waiting completions. Requires session->done. */
static void tell_first(struct ternd_object *context)
{
    tern_assert_held(&context->session->done);
    struct ternd_session *s = context->session;
    struct ternd_sent *e = context->sent;
    context->sent = e->next;
    if (!context->sent) {
        context->sent_end = &context->sent;
    }
    e->next = NULL;
    *s->waiting_end = e;
    s->waiting_end = &e->next;
}

void ternd_completed(void *object, const struct tern_completion *told)
{
    struct ternd_object *context = object;
    struct ternd_session *s = context->session;
    pthread_mutex_lock(&s->done);
    struct tern_wire_completion *c = &context->sent->told;
    c->result = told->result;
    c->engine = told->engine;
    c->submitted = told->submitted;
    c->begin = told->begin;
    c->end = told->end;
    tell_first(context);
    while (context->sent && context->sent->refused) {
        tell_first(context);
    }
    flush(s);
    pthread_mutex_unlock(&s->done);
}

void ternd_sent_cancel(struct ternd_object *context, struct ternd_sent *sent)
{
    struct ternd_session *s = context->session;
    pthread_mutex_lock(&s->done);
    struct ternd_sent **at = &context->sent;
    while (*at != sent) {
        at = &(*at)->next;
    }
    *at = NULL;
    context->sent_end = at;
    s->queued -= sent->told.cost;
    pthread_mutex_unlock(&s->done);
    free(sent);
}

void ternd_sent_refuse(struct ternd_object *context, struct ternd_sent *sent)
{
    struct ternd_session *s = context->session;
    pthread_mutex_lock(&s->done);
    sent->refused = true;
    while (context->sent && context->sent->refused) {
        tell_first(context);
    }
    flush(s);
    pthread_mutex_unlock(&s->done);
}

void ternd_completions_flush(struct ternd_session *s)
{
    pthread_mutex_lock(&s->done);
    flush(s);
    pthread_mutex_unlock(&s->done);
}
