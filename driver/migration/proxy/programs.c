/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Programs at the source: the proxy takes the place of their ternd (proxy.h). ternd checks what they write; the proxy
 * checks only positions and lengths, which it needs itself.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "migration/proxy/internal.h"
#include "wire/futex.h"
#include "wire/hello.h"
#include "wire/ring.h"
#include "wire/socket.h"

#define ACKNOWLEDGE_EVERY (TERN_WIRE_COMPLETIONS / 4) /* completions taken by the program before the target is told */
/* completions not taken, beyond which the program wakes the proxy when it takes some */
#define BACKLOG_MAX (TERN_WIRE_COMPLETIONS / 2)

static int add_connection(struct proxy_source *a, const struct tern_wire_descriptor *what, int fd)
{
    struct ucred who;
    socklen_t size = sizeof who;
    if (what->session != a->n || a->n == PROXY_SESSIONS || !what->calls || what->calls > TERN_WIRE_CONNECTIONS_MAX ||
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size)) {
        return tern_error(-EPROTO, "ternd sends a connection of a session that cannot be");
    }
    struct proxy_session **more = realloc(a->session, (a->n + 1) * sizeof *more);
    a->session = more ? more : a->session;
    struct proxy_session *s = more ? proxy_session_create() : NULL;
    if (!s) {
        return tern_error_memory("a session");
    }
    s->calls = what->calls;
    s->uid = who.uid;
    s->connection = fd;
    memcpy(s->token, what->token, sizeof s->token);
    a->session[a->n++] = s;
    return 0;
}

int proxy_program_add(struct proxy_source *a, const struct tern_wire_descriptor *what, int fd)
{
    struct proxy_session *s = what->session < a->n ? a->session[what->session] : NULL;
    if (what->kind == TERN_WIRE_MEMORY && s) {
        return proxy_session_map(s, fd, what->calls);
    }
    int r = what->kind == TERN_WIRE_CONNECTION ? add_connection(a, what, fd) : -EPROTO;
    if (what->kind == TERN_WIRE_CALL && s && what->slot < s->calls && s->call[what->slot].fd < 0) {
        s->call[what->slot].fd = fd;
        r = 0;
    }
    if (r) {
        close(fd);
    }
    return r == -EPROTO ? tern_error(r, "ternd sends a descriptor that is not expected") : r;
}

static struct proxy_frame frame(const struct proxy_source *a, enum proxy_type type, uint32_t session, uint32_t slot)
{
    return (struct proxy_frame){.type = type, .session = session, .slot = slot, .head = a->session[session]->seen};
}

void proxy_program_end(struct proxy_source *a, uint32_t session, bool tell)
{
    if (a->session[session]->there && tell) {
        proxy_send(&a->link, frame(a, PROXY_END, session, 0), NULL, 0, NULL, 0);
    }
    proxy_pending_end(a, session);
    proxy_session_end(a->session[session]);
}

void proxy_programs_start(struct proxy_source *a)
{
    for (uint32_t i = 0; i < a->n; i++) {
        struct proxy_session *s = a->session[i];
        s->there = true;
        s->tail = s->taken = atomic_load(&s->shared->submissions.head); /* written by ternd, which is frozen */
        s->done = atomic_load(&s->shared->completions.tail);
        s->seen = atomic_load(&s->shared->completions.head);
        /* the pump ends the session for an invalid position */
        s->seen = s->done - s->seen <= TERN_WIRE_COMPLETIONS ? s->seen : s->done;
        const struct proxy_start start = {
            .submissions = s->tail, .completions_head = s->seen, .completions_tail = s->done};
        proxy_send(&a->link, frame(a, PROXY_START, i, 0), &start, sizeof start, NULL, 0);
        tern_hello_publish(s->shared, a->where);
    }
}

/** Sends new bytes of the submission ring. False: the ring's tail is invalid. */
static bool send_submissions(struct proxy_source *a, uint32_t session)
{
    struct proxy_session *s = a->session[session];
    const uint64_t tail = atomic_load_explicit(&s->shared->submissions.tail, memory_order_acquire), n = tail - s->tail;
    if (tail - s->taken > TERN_WIRE_SUBMISSION_BYTES) {
        return false;
    }
    if (n) {
        tern_ring_get(s->submissions, TERN_WIRE_SUBMISSION_BYTES, s->tail, a->scratch, (uint32_t)n);
        if (!proxy_contexts_submit(s, a->scratch, (size_t)n)) {
            return false;
        }
        proxy_send(&a->link, frame(a, PROXY_SUBMISSIONS, session, 0), a->scratch, (size_t)n, NULL, 0);
        s->tail = tail;
    }
    return true;
}

/** Sends the position up to which the program has taken completions. False: the position is invalid. */
static bool send_head(struct proxy_source *a, uint32_t session)
{
    struct proxy_session *s = a->session[session];
    uint64_t head = atomic_load(&s->shared->completions.head);
    if (s->done - s->seen >= BACKLOG_MAX) {
        atomic_store(&s->shared->backlog, 1);
        head = atomic_load(&s->shared->completions.head);
    }
    if (head - s->seen > s->done - s->seen) {
        return false;
    }
    if (head - s->seen >= ACKNOWLEDGE_EVERY || (head != s->seen && s->done - s->seen >= BACKLOG_MAX)) {
        s->seen = head;
        proxy_send(&a->link, frame(a, PROXY_HEAD, session, 0), NULL, 0, NULL, 0);
    }
    return true;
}

bool proxy_programs_pump(struct proxy_source *a)
{
    bool sleeps = true;
    for (uint32_t i = 0; i < a->n; i++) {
        struct proxy_session *s = a->session[i];
        if (s->there && proxy_bytes_left(&a->link.sending) < PROXY_QUEUE) {
            if (!send_submissions(a, i) || !send_head(a, i)) {
                proxy_program_end(a, i, true);
            } else if (!tern_ring_sleeps(&s->shared->submissions, s->tail, TERN_WIRE_MESSAGE)) {
                sleeps = false;
            }
        }
    }
    return sleeps;
}

void proxy_programs_watch(struct proxy_source *a)
{
    const short events = proxy_bytes_left(&a->link.sending) < PROXY_QUEUE ? POLLIN : 0;
    for (uint32_t i = 0; a->gone && i < a->n; i++) {
        const struct proxy_session *s = a->session[i];
        proxy_watch_add(&a->watch, s->connection, POLLIN, PROXY_CONNECTION, i, 0);
        for (uint32_t k = 0; s->there && k < s->calls; k++) {
            proxy_watch_add(&a->watch, s->call[k].fd, s->call[k].busy ? 0 : events, PROXY_CALL, i, k);
        }
    }
}

static void end_call(struct proxy_source *a, uint32_t session, uint32_t slot)
{
    struct proxy_call *c = &a->session[session]->call[slot];
    close(c->fd);
    c->fd = -1;
    c->busy = false;
    proxy_send(&a->link, frame(a, PROXY_CLOSE, session, slot), NULL, 0, NULL, 0);
}

/** Receives a request, and sends it after all bytes that are in the ring. */
static void receive_request(struct proxy_source *a, uint32_t session, uint32_t slot)
{
    struct proxy_session *s = a->session[session];
    struct proxy_call *c = &s->call[slot];
    const size_t least = offsetof(struct tern_wire_request, text);
    struct tern_wire_request q = {0};
    if (c->busy) { /* the program has closed the connection, because it sends nothing while a request waits */
        end_call(a, session, slot);
        return;
    }
    const ssize_t n = tern_socket_receive(c->fd, &q, sizeof q, NULL);
    if (n == 0 || (n < 0 && n != -EMSGSIZE)) {
        end_call(a, session, slot);
        return;
    }
    if (n < (ssize_t)least || q.length != (size_t)n || !send_submissions(a, session)) {
        proxy_program_end(a, session, true); /* no library sends such a request */
        return;
    }
    const void *data = proxy_session_slot(s, slot);
    const size_t size = proxy_request_data(&q);
    c->busy = true;
    c->request = q;
    if (proxy_contexts_request(s, c, data, size)) {
        proxy_send(&a->link, frame(a, PROXY_REQUEST, session, slot), &q, (size_t)n, data, size);
    } else {
        proxy_program_end(a, session, true);
    }
}

void proxy_program_ready(struct proxy_source *a, const struct proxy_tag *t, int fd)
{
    struct proxy_session *s = a->session[t->session];
    if (t->what == PROXY_CALL && s->there && s->call[t->slot].fd == fd) {
        receive_request(a, t->session, t->slot);
    } else if (t->what == PROXY_CONNECTION && s->connection == fd && !tern_socket_sleep(fd)) {
        proxy_program_end(a, t->session, true);
    }
}

/** Puts completions into the ring. False: there is no room, as far as the target can know. */
static bool put_completions(struct proxy_session *s, const uint8_t *bytes, size_t size)
{
    const size_t n = size / sizeof *s->completions;
    if (size % sizeof *s->completions || n > TERN_WIRE_COMPLETIONS - (s->done - s->seen)) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        struct tern_wire_completion e;
        memcpy(&e, bytes + i * sizeof e, sizeof e);
        if (!proxy_contexts_complete(s, &e)) {
            return false;
        }
        s->completions[(s->done + i) % TERN_WIRE_COMPLETIONS] = e;
    }
    s->done += n;
    atomic_store_explicit(&s->shared->completions.tail, s->done, memory_order_release);
    const uint32_t how = tern_ring_wakes(&s->shared->completions);
    if (how == TERN_WIRE_FUTEX) {
        tern_futex_wake(&s->shared->completions.sleeping);
    } else if (how != TERN_WIRE_AWAKE) {
        tern_socket_wake(s->connection);
    }
    return true;
}

static bool give_reply(struct proxy_source *a, const struct proxy_frame *f, const uint8_t *bytes)
{
    struct proxy_session *s = a->session[f->session];
    const size_t least = offsetof(struct tern_wire_reply, text);
    struct tern_wire_reply reply;
    if (f->slot >= s->calls || f->length < least) {
        return false;
    }
    memcpy(&reply, bytes, f->length < sizeof reply ? f->length : sizeof reply);
    if (reply.length < least || reply.length > sizeof reply || reply.length > f->length ||
        f->length - reply.length > TERN_WIRE_SLOT) {
        return false;
    }
    struct proxy_call *c = &s->call[f->slot];
    if (!proxy_contexts_reply(s, c, &reply)) {
        return false;
    }
    if (c->fd >= 0) { /* the program may have closed the connection */
        memcpy(proxy_session_slot(s, f->slot), bytes + reply.length, f->length - reply.length);
        c->busy = false;
        /* a program that does not receive is disconnected */
        if (tern_socket_send(c->fd, &reply, reply.length, -1, false)) {
            end_call(a, f->session, f->slot);
        }
    }
    return true;
}

void proxy_program_frame(struct proxy_source *a, const struct proxy_frame *f, const uint8_t *bytes)
{
    struct proxy_session *s = a->gone && f->session < a->n ? a->session[f->session] : NULL;
    if (!s) {
        proxy_lose(&a->link, "what comes over it cannot be: type %u of session %u", f->type, f->session);
    } else if (s->there) {
        bool sound = f->head - s->taken <= s->tail - s->taken;
        if (sound && f->head != s->taken) {
            s->taken = f->head;
            atomic_store_explicit(&s->shared->submissions.head, f->head, memory_order_release);
        }
        atomic_store_explicit(&s->shared->now, f->now, memory_order_relaxed);
        if (sound && f->type == PROXY_COMPLETIONS) {
            sound = put_completions(s, bytes, f->length);
        } else if (sound && f->type == PROXY_REPLY) {
            sound = give_reply(a, f, bytes);
        } else if (sound && f->type == PROXY_OPENED && f->length == sizeof(struct proxy_opened)) {
            struct proxy_opened o;
            memcpy(&o, bytes, sizeof o);
            proxy_pending_opened(a, f, &o);
        } else if (sound && f->type == PROXY_END) {
            proxy_program_end(a, f->session, false);
        } else {
            sound = false;
        }
        if (!sound) { /* only this session ends, because the program itself may have caused the error */
            proxy_program_end(a, f->session, true);
        }
    }
}

uint32_t proxy_programs_left(const struct proxy_source *a)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < a->n; i++) {
        n += a->session[i]->there;
    }
    return n;
}
