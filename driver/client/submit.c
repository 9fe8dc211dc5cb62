/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Submission by entries of the submission ring. Errors of a submission are found here, because ternd reports them only
 * by aborting it. While some memory of the process is absent from the device, a submission is a request instead, which
 * ternd may refuse (A6). If the ring is full, the thread makes a request, for which ternd empties the ring without
 * waiting for work. The amount of queued work is limited by this program's share of ternd's memory.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/completions.h"
#include "base/error.h"
#include "base/submission.h"
#include "client/client.h"
#include "tern/tern_spec.h"
#include "wire/ring.h"
#include "wire/socket.h"

struct piece {
    const void *bytes;
    uint32_t size;
};

/** Submits by a request. Requires dev->submit. -ENOSPC: refused. 0 also if ternd is gone, which the pump reports. */
static int send_by_slot(struct tern_device *dev, const struct tern_wire_entry *e, const struct piece *pieces,
                        atomic_bool *absent)
{
    tern_assert_held(&dev->submit);
    struct tern_call call;
    if (tern_call_begin(&call, dev, TERN_WIRE_CONTEXT_SUBMIT, e->object)) {
        return 0;
    }
    uint8_t *to = call.slot;
    memcpy(to, e, sizeof *e);
    to += sizeof *e;
    for (int i = 0; i < 3; i++) {
        memcpy(to, pieces[i].size ? pieces[i].bytes : "", pieces[i].size);
        to += tern_wire_round(pieces[i].size);
    }
    call.request.value[0] = e->length;
    const int r = tern_call_do(&call);
    atomic_store(absent, call.reply.absent != 0);
    tern_call_end(&call);
    return r == -ENOSPC ? r : 0;
}

/** Writes the entry into the ring, and waits for room. Requires dev->submit. */
static void send_by_ring(struct tern_device *dev, const struct tern_wire_entry *e, const struct piece *pieces)
{
    tern_assert_held(&dev->submit);
    struct tern_wire_ring *r = &dev->shared->submissions;
    uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
    while (tail + e->length - atomic_load_explicit(&r->head, memory_order_acquire) > TERN_WIRE_SUBMISSION_BYTES) {
        if (tern_call(dev, TERN_WIRE_NOP, 0, NULL, NULL, NULL)) {
            return;
        }
    }
    tern_ring_put(dev->submissions, TERN_WIRE_SUBMISSION_BYTES, tail, e, sizeof *e);
    uint64_t at = tail + sizeof *e;
    for (int i = 0; i < 3; i++) {
        tern_ring_put(dev->submissions, TERN_WIRE_SUBMISSION_BYTES, at, pieces[i].size ? pieces[i].bytes : "",
                      pieces[i].size);
        at += tern_wire_round(pieces[i].size);
    }
    atomic_store_explicit(&r->tail, at, memory_order_release);
    if (tern_ring_wakes(r)) {
        tern_socket_wake(dev->session);
    }
}

/** Submits an entry. absent: flag of the process; NULL: the entry is never refused. Requires dev->submit. -ENOSPC:
 *  refused. */
static int send_entry(struct tern_device *dev, struct tern_wire_entry *e, const struct piece *pieces,
                      atomic_bool *absent)
{
    tern_assert_held(&dev->submit);
    e->size = pieces[0].size;
    e->data = pieces[1].size;
    e->label = pieces[2].size;
    e->length = (uint32_t)sizeof *e + tern_wire_round(e->size) + tern_wire_round(e->data) + tern_wire_round(e->label);
    if (absent && (atomic_load(absent) || e->length > TERN_WIRE_ENTRY_MAX)) {
        return send_by_slot(dev, e, pieces, absent);
    }
    send_by_ring(dev, e, pieces);
    return 0;
}

static struct piece text_piece(const char *text)
{
    return (struct piece){text, text ? (uint32_t)strnlen(text, TERN_WIRE_LABEL_MAX) : 0};
}

void tern_ring_post(struct tern_device *dev, uint32_t op, uint32_t object, const char *text)
{
    struct tern_wire_entry e = {.op = op, .object = object};
    const struct piece pieces[3] = {[2] = text_piece(text)};
    pthread_mutex_lock(&dev->submit);
    if (!atomic_load(&dev->gone)) {
        send_entry(dev, &e, pieces, NULL);
    }
    pthread_mutex_unlock(&dev->submit);
}

/** Undoes the context's youngest submission, which ternd has refused. Requires dev->submit, so that abort_all does
 *  not end the submission meanwhile. */
static void take_back(struct tern_context *c, uint64_t cost)
{
    tern_assert_held(&c->proc->dev->submit);
    struct tern_device *dev = c->proc->dev;
    pthread_mutex_lock(&dev->lock);
    c->submitted--;
    dev->queued -= cost;
    if (c->completions) {
        struct tern_completion_entry *e = TERN_LIST_ENTRY(c->reserved.prev, struct tern_completion_entry, node);
        tern_list_remove(&e->node);
        free(e);
    }
    pthread_cond_broadcast(&dev->changed);
    pthread_mutex_unlock(&dev->lock);
}

static int submit(struct tern_context *c, uint32_t op, const struct piece pieces[3], uint64_t *fence)
{
    struct tern_device *dev = c->proc->dev;
    const uint64_t cost = tern_wire_cost(pieces[0].size, pieces[1].size);
    struct tern_wire_entry e = {.op = op, .object = c->handle};
    struct tern_completion_entry *place = NULL;
    int r = tern_client_check(dev);
    if (r == 0) {
        r = tern_client_process_check(c->proc);
    }
    if (!r && c->completions) {
        place = tern_completion_reserve(c->proc->number);
        r = place ? 0 : tern_error_memory("a completion");
    }
    if (r) {
        return r;
    }
    pthread_mutex_lock(&dev->submit);
    pthread_mutex_lock(&dev->lock);
    const bool gone = atomic_load(&dev->gone), error = atomic_load(&c->proc->error);
    if (!gone && !error && cost > dev->queue_max - dev->queued) {
        r = tern_error(-ENOMEM, "context '%s': %" PRIu64 " bytes of submissions that have not ended are queued in "
                       "ternd, which keeps %" PRIu64 " for this program", c->name, dev->queued, dev->queue_max);
    } else if (!gone && !error) {
        e.fence = ++c->submitted;
        dev->queued += cost;
        if (place) {
            tern_list_append(&c->reserved, &place->node);
            place = NULL;
        }
    }
    pthread_mutex_unlock(&dev->lock);
    if (e.fence) {
        r = send_entry(dev, &e, pieces, &c->proc->absent);
        if (r) {
            take_back(c, cost);
        } else if (fence) {
            *fence = e.fence;
        }
    }
    pthread_mutex_unlock(&dev->submit);
    free(place);
    return r ? r : e.fence ? 0 : gone ? tern_client_gone(dev) : tern_client_process_check(c->proc);
}

int tern_client_submit(struct tern_context *c, const struct tern_submission *given, uint64_t *fence)
{
    struct tern_submission s;
    int r = tern_submission_take(&s, given, TERN_SUBMISSION_NULL);
    if (!r && s.data_bytes && !atomic_load(&c->takes_data)) {
        r = tern_client_check(c->proc->dev);
        if (r == 0) {
            r = tern_client_process_check(c->proc);
        }
        if (r == 0) {
            r = tern_error(-EINVAL, "context '%s' takes no data before tern_context_take_data", c->name);
        }
    }
    if (r) {
        return r;
    }
    const struct piece pieces[3] = {
        {s.packets, (uint32_t)s.packet_bytes}, {s.data, (uint32_t)s.data_bytes}, text_piece(s.label)};
    return submit(c, s.flags & TERN_SUBMISSION_NULL ? TERN_WIRE_ENTRY_NULL : TERN_WIRE_ENTRY_SUBMIT, pieces, fence);
}
