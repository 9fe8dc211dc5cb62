/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The submission ring of a client. The client may change the ring at any time, so an entry is copied before it is
 * checked, first its header and then all of it. The tail is the only position of the client that is read; it is
 * checked. An entry that the library would not write ends the session. An entry that the driver refuses puts its
 * process in error (C9), and its fence ends after all earlier ones. A submission that came by a request is refused
 * there if there is no room for the memory that it uses.
 *
 * No thread waits while entries are taken. The work starts when all entries were taken. If the device thread sleeps,
 * the session's thread runs the device itself, so that a small dispatch wakes no other thread. A thread of a call does
 * not do this.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/submission.h"
#include "ternd/server.h"
#include "wire/ring.h"

/** Submits to a context. Requires session->ring. Returns as ternd_submissions_do. */
static int submit(struct ternd_session *s, const struct tern_wire_entry *e, const uint8_t *payload, const char *label,
                  bool *absent)
{
    tern_assert_held(&s->ring);
    const bool null = e->op == TERN_WIRE_ENTRY_NULL;
    int r = -EINVAL;
    struct ternd_object *o = ternd_object_get(s, e->object, TERND_CONTEXT);
    if (!o) {
        ternd_session_break(s, "it submits to context %u, which it does not have", e->object);
        return r;
    }
    if (e->fence != o->fence + 1) {
        ternd_session_break(s, "it submits fence %" PRIu64 " after %" PRIu64, e->fence, o->fence);
        goto put;
    }
    struct ternd_sent *sent = ternd_sent_add(o, e->fence, tern_wire_cost(e->size, e->data));
    if (!sent) {
        ternd_session_break(s, "there is no memory for what it submits");
        goto put;
    }
    o->fence++;
    const struct tern_submission given = {
        .size = sizeof given, .flags = (null ? TERN_SUBMISSION_NULL : 0) | (absent ? 0 : TERN_SUBMISSION_QUIET),
        .packets = payload, .packet_bytes = e->size, .data = payload + tern_wire_round(e->size), .data_bytes = e->data,
        .label = label};
    r = tern_os_submit(o->it, &given, NULL);
    if (absent) {
        *absent = tern_os_process_absent(o->proc->it);
    }
    if (r == -ENOSPC && absent) {
        o->fence--;
        ternd_sent_cancel(o, sent);
    } else if (r) {
        tern_os_process_abort(o->proc->it, tern_last_error());
        ternd_sent_refuse(o, sent);
    }
put:
    ternd_object_put(o);
    return r == -ENOSPC ? r : 0;
}

static void destroy(struct ternd_session *s, uint32_t handle, enum ternd_kind kind)
{
    struct ternd_object *o = ternd_object_get(s, handle, kind);
    if (o) {
        ternd_object_drop(o);
    } else {
        ternd_session_break(s, "it destroys object %u, which it does not have", handle);
    }
}

static void abort_process(struct ternd_session *s, uint32_t handle, const char *why)
{
    struct ternd_object *o = ternd_object_get(s, handle, TERND_PROCESS);
    if (o) {
        tern_os_process_abort(o->it, why);
        ternd_object_put(o);
    } else {
        ternd_session_break(s, "it aborts process %u, which it does not have", handle);
    }
}

/** True: the lengths of the entry's parts are in range, and their sum is the entry's length. */
static bool sound(const struct tern_wire_entry *e)
{
    return e->size <= TERN_PACKETS_MAX && e->data <= TERN_DATA_MAX && e->label <= TERN_WIRE_LABEL_MAX &&
        e->length == sizeof *e + tern_wire_round(e->size) + tern_wire_round(e->data) + tern_wire_round(e->label);
}

int ternd_submissions_do(struct ternd_session *s, const uint8_t *entry, size_t size, bool *absent)
{
    tern_assert_held(&s->ring);
    struct tern_wire_entry e;
    char label[TERN_WIRE_LABEL_MAX + 1];
    if (size < sizeof e) {
        ternd_session_break(s, "an entry of %zu bytes, which is shorter than its header", size);
        return -EINVAL;
    }
    memcpy(&e, entry, sizeof e);
    if (e.length != size || !sound(&e)) {
        ternd_session_break(s, "the lengths of an entry of %zu bytes do not fit it", size);
        return -EINVAL;
    }
    const uint8_t *payload = entry + sizeof e;
    memcpy(label, payload + tern_wire_round(e.size) + tern_wire_round(e.data), e.label);
    label[e.label] = '\0';
    switch (e.op) {
    case TERN_WIRE_ENTRY_SUBMIT:
    case TERN_WIRE_ENTRY_NULL:
        return submit(s, &e, payload, e.label ? label : NULL, absent);
    case TERN_WIRE_ENTRY_ALLOCATION_DESTROY:
        destroy(s, e.object, TERND_ALLOCATION);
        break;
    case TERN_WIRE_ENTRY_FENCE_DESTROY:
        destroy(s, e.object, TERND_FENCE);
        break;
    case TERN_WIRE_ENTRY_ABORT:
        abort_process(s, e.object, e.label ? label : NULL);
        break;
    default:
        ternd_session_break(s, "an entry of unknown kind %u", e.op);
    }
    return 0;
}

void ternd_submissions_take(struct ternd_session *s, bool drive)
{
    struct tern_wire_ring *r = &s->shared->submissions;
    pthread_mutex_lock(&s->ring);
    const uint64_t tail = atomic_load_explicit(&r->tail, memory_order_acquire);
    while (s->head != tail && !s->broken) {
        const uint64_t there = tail - s->head;
        struct tern_wire_entry e;
        if (there > TERN_WIRE_SUBMISSION_BYTES || there < sizeof e) {
            ternd_session_break(s, "the tail of its submission ring is impossible");
            break;
        }
        tern_ring_get(s->submissions, TERN_WIRE_SUBMISSION_BYTES, s->head, &e, sizeof e);
        const uint32_t length = e.length;
        if (length < sizeof e || length > sizeof s->scratch || length > there || length % 8) {
            ternd_session_break(s, "an entry of %u bytes, where %" PRIu64 " are in the ring", length, there);
            break;
        }
        tern_ring_get(s->submissions, TERN_WIRE_SUBMISSION_BYTES, s->head, s->scratch, length);
        s->head += length;
        atomic_store_explicit(&r->head, s->head, memory_order_release);
        ternd_submissions_do(s, s->scratch, length, NULL);
    }
    pthread_mutex_unlock(&s->ring);
    tern_os_device_drive(s->ternd->dev, drive);
}
