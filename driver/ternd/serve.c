/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Requests of clients. The client can write its slot at any time. Therefore a request is a private copy, and values of
 * the slot are copied before they are checked; only data from and to the device are used in place. An object that is
 * missing or of another kind is an error of the call, not of the protocol: another thread may have destroyed it.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ternd/server.h"

#define PAGE 4096u
#define POSTPONED INT_MIN    /* status of a request that must be served again */
#define SLICE_MS 20u         /* a wait for a fence looks after so many ms whether it must be postponed */
#define SPARSE_BYTES (2 * PAGE) /* page tables at both ends; committed blocks are counted later */

struct request {
    struct ternd_session *session;
    struct ternd_object *object;
    struct tern_wire_request *q; /* private copy of the request */
    struct tern_wire_reply *reply;
    void *slot;
};

/* ------------------------------------------------------------------ the device */

static int nop(struct request *r)
{
    (void)r;
    return 0;
}

static int device_time(struct request *r)
{
    r->reply->value[0] = tern_os_device_time(r->session->ternd->dev) + r->session->shift;
    return 0;
}

static int device_time_seen(struct request *r)
{
    r->reply->value[0] = tern_os_device_time_seen(r->session->ternd->dev) + r->session->shift;
    return 0;
}

static int device_counters(struct request *r)
{
    struct tern_engine_counters c = {.size = sizeof c};
    const uint64_t engine = r->q->value[0];
    const int e = tern_os_device_counters(r->session->ternd->dev, engine > UINT32_MAX ? UINT32_MAX : (uint32_t)engine,
                                          &c);
    memcpy(r->slot, &c, sizeof c);
    return e;
}

/* ------------------------------------------------------------------ processes */

/** Gives the object a handle. On failure the caller destroys the driver's object `it`. */
static int add(struct request *r, struct ternd_object *o, void *it)
{
    o->it = it;
    const int e = ternd_object_add(o);
    r->reply->object = o->handle;
    return e;
}

static int process_create(struct request *r)
{
    struct tern_process *it;
    struct ternd_object *o = ternd_object_create(r->session, NULL, TERND_PROCESS);
    char partition[sizeof r->q->value + 1] = {0};
    memcpy(partition, r->q->value, sizeof r->q->value);
    struct tern_owner owner = r->session->owner;
    owner.partition = *partition ? partition : r->session->partition;
    owner.shift = r->session->shift;
    int e = !o ? -ENOMEM : *partition ? ternd_partition_may_use(r->session, partition) : 0;
    if (e == 0) {
        e = tern_os_process_create_for(r->session->ternd->dev, r->q->text, &owner, &it);
    }
    if (e) {
        free(o);
        return e;
    }
    e = add(r, o, it);
    if (e) {
        tern_os_process_destroy(it);
        free(o);
    }
    return e;
}

static int process_destroy(struct request *r)
{
    struct ternd_object *o = r->object;
    r->object = NULL;
    return ternd_process_end(o);
}

static int process_kill(struct request *r)
{
    pthread_mutex_lock(&r->session->lock);
    r->object->killed = true;
    pthread_mutex_unlock(&r->session->lock);
    return tern_os_process_kill(r->object->it);
}

static int process_status(struct request *r)
{
    struct tern_fault f = {.size = sizeof f};
    const int e = tern_os_process_status(r->object->it, &f);
    memcpy(r->slot, &f, sizeof f);
    return e;
}

static int process_suspend(struct request *r)
{
    return tern_os_process_suspend(r->object->it);
}

static int process_resume(struct request *r)
{
    return tern_os_process_resume(r->object->it);
}

static int process_allocations(struct request *r)
{
    const uint64_t room = TERN_WIRE_SLOT / sizeof(struct tern_allocation_info);
    const uint32_t max = (uint32_t)(r->q->value[0] < room ? r->q->value[0] : room);
    struct tern_allocation_info *infos = calloc(max ? max : 1, sizeof *infos);
    if (!infos) {
        return tern_error_memory("a list of allocations");
    }
    infos->size = sizeof *infos;
    const int n = tern_os_process_allocations(r->object->it, infos, max);
    if (n > 0) {
        memcpy(r->slot, infos, ((uint32_t)n < max ? (uint32_t)n : max) * sizeof *infos);
        r->reply->value[0] = (uint64_t)n;
    }
    free(infos);
    return n < 0 ? n : 0;
}

static int process_dirty(struct request *r)
{
    const uint64_t address = r->q->value[0], bytes = r->q->value[1];
    if (address > UINT32_MAX || bytes > UINT32_MAX) {
        return tern_error(-EINVAL, "pages beyond the address space");
    }
    const size_t size = (bytes / PAGE + 31) / 32 * sizeof(uint32_t);
    uint32_t *bits = malloc(size ? size : 1);
    if (!bits) {
        return tern_error_memory("dirty bits");
    }
    const int e = tern_os_process_dirty(r->object->it, (uint32_t)address, (uint32_t)bytes, r->q->value[2] != 0, bits);
    if (!e) {
        memcpy(r->slot, bits, size);
    }
    free(bits);
    return e;
}

/* ------------------------------------------------------------------ partitions */

static int partition_create(struct request *r)
{
    return ternd_partition_create(r->session, r->q);
}

static int partition_resize(struct request *r)
{
    return ternd_partition_resize(r->session, r->q);
}

static int partition_set_share(struct request *r)
{
    return ternd_partition_set_share(r->session, r->q);
}

static int partition_destroy(struct request *r)
{
    return ternd_partition_destroy(r->session, r->q);
}

static int partition_list(struct request *r)
{
    return ternd_partition_list(r->session, r->q, r->slot, &r->reply->value[0]);
}

/* ------------------------------------------------------------------ allocations, fences */

/** Begins an object of a process: counts its memory against the user's limits and makes the object. */
static int begin(struct request *r, enum ternd_kind kind, uint64_t bytes, struct ternd_object **out)
{
    struct ternd_session *s = r->session;
    int e = ternd_user_take(s->ternd, s->user, bytes, kind == TERND_CONTEXT, 0);
    struct ternd_object *o = e ? NULL : ternd_object_create(s, r->object, kind);
    if (!e && !o) {
        ternd_user_give(s->ternd, s->user, bytes, kind == TERND_CONTEXT, 0);
        e = -ENOMEM;
    }
    if (!e) {
        o->bytes = bytes;
        *out = o;
    }
    return e;
}

static int cancel(struct ternd_object *o, int e)
{
    ternd_object_give(o);
    free(o);
    return e;
}

static int allocation_create(struct request *r)
{
    const uint64_t size = r->q->value[0], flags = r->q->value[1], address = r->q->value[2];
    struct tern_allocation *it;
    struct ternd_object *o;
    if (flags > UINT32_MAX || address > UINT32_MAX) {
        return tern_error(-EINVAL, "an allocation beyond the address space");
    }
    const uint64_t whole = size > UINT64_MAX - PAGE ? size : (size + PAGE - 1) / PAGE * PAGE;
    int e = begin(r, TERND_ALLOCATION, flags & TERN_MEM_SPARSE ? SPARSE_BYTES : whole, &o);
    if (e) {
        return e;
    }
    e = tern_os_allocation_create(r->object->it, size, (uint32_t)flags, (uint32_t)address, &it);
    if (!e) {
        r->reply->value[0] = tern_os_allocation_address(it);
        r->reply->value[1] = tern_os_allocation_size(it);
        e = add(r, o, it);
        if (e) {
            tern_os_allocation_destroy(it);
        }
    }
    return e ? cancel(o, e) : 0;
}

static int allocation_export(struct request *r)
{
    const uint64_t flags = r->q->value[0];
    if (flags > UINT32_MAX) {
        return tern_error(-EINVAL, "export flags 0x%" PRIx64, flags);
    }
    return tern_os_allocation_export(r->object->it, (uint32_t)flags, (uint8_t *)r->reply->value);
}

/** The size is known only after the import. The memory then counts for this user as well, whoever made it. */
static int allocation_import(struct request *r)
{
    const uint64_t how = r->q->value[0];
    uint8_t handle[TERN_HANDLE_BYTES];
    struct tern_allocation *it;
    struct ternd_object *o;
    memcpy(handle, r->q->value + 1, sizeof handle);
    int e = tern_os_allocation_import(r->object->it, handle, (uint32_t)how, (uint32_t)(how >> 32), &it);
    if (e) {
        return e;
    }
    e = begin(r, TERND_ALLOCATION, tern_os_allocation_size(it), &o);
    if (!e) {
        r->reply->value[0] = tern_os_allocation_address(it);
        r->reply->value[1] = tern_os_allocation_size(it);
        e = add(r, o, it);
        e = e ? cancel(o, e) : 0;
    }
    if (e) {
        tern_os_allocation_destroy(it);
    }
    return e;
}

static int copy(struct request *r, bool write)
{
    const uint64_t offset = r->q->value[0], size = r->q->value[1];
    if (size > TERN_WIRE_COPY) {
        return tern_error(-EINVAL, "a copy of %" PRIu64 " bytes at once", size);
    }
    return write ? tern_os_allocation_write(r->object->it, offset, r->slot, size)
                 : tern_os_allocation_read(r->object->it, offset, r->slot, size);
}

static int allocation_read(struct request *r)
{
    return copy(r, false);
}

static int allocation_write(struct request *r)
{
    return copy(r, true);
}

static int allocation_resident(struct request *r)
{
    return ternd_object_make_resident(r->object);
}

static int allocation_evict(struct request *r)
{
    return ternd_object_evict(r->object);
}

static int fence_create(struct request *r)
{
    struct tern_fence *it;
    struct ternd_object *o;
    int e = begin(r, TERND_FENCE, PAGE, &o);
    if (e) {
        return e;
    }
    e = tern_os_fence_create(r->object->it, r->q->value[0], &it);
    if (!e) {
        r->reply->value[0] = tern_os_fence_address(it);
        e = add(r, o, it);
        if (e) {
            tern_os_fence_destroy(it);
        }
    }
    return e ? cancel(o, e) : 0;
}

static int fence_value(struct request *r)
{
    return tern_os_fence_value(r->object->it, &r->reply->value[0]);
}

static int fence_signal(struct request *r)
{
    return tern_os_fence_signal(r->object->it, r->q->value[0]);
}

static int fence_wait(struct request *r)
{
    uint64_t *ms = &r->q->value[1];
    int e;
    *ms = *ms < INT32_MAX ? *ms : INT32_MAX;
    do {
        const uint64_t slice = *ms < SLICE_MS ? *ms : SLICE_MS;
        e = tern_os_fence_wait(r->object->it, r->q->value[0], (int64_t)slice);
        *ms -= slice;
        if (e == -ETIMEDOUT && *ms && atomic_load(&r->session->frozen)) {
            return POSTPONED;
        }
    } while (e == -ETIMEDOUT && *ms && !atomic_load(&r->session->broken));
    return e;
}

/* ------------------------------------------------------------------ contexts */

static int context_create(struct request *r)
{
    const int64_t engine = (int64_t)r->q->value[0];
    const uint64_t weight = r->q->value[1];
    struct tern_context *it;
    struct ternd_object *o;
    int e = begin(r, TERND_CONTEXT, 0, &o);
    if (e) {
        return e;
    }
    o->cookie = r->q->value[2];
    const struct tern_context_desc d = {
        .size = sizeof d, .name = r->q->text, .engine = engine < -1 || engine > INT32_MAX ? INT32_MAX : (int32_t)engine,
        .weight = weight > UINT32_MAX ? UINT32_MAX : (uint32_t)weight, .completed = ternd_completed, .user = o};
    e = tern_os_context_create(r->object->it, &d, &it);
    if (!e) {
        e = add(r, o, it);
        if (e) {
            tern_os_context_destroy(it);
        }
    }
    return e ? cancel(o, e) : 0;
}

static int context_destroy(struct request *r)
{
    struct ternd_object *o = r->object;
    r->object = NULL;
    ternd_context_end(o);
    return 0;
}

static int context_take_data(struct request *r)
{
    return tern_os_context_take_data(r->object->it);
}

/** The user's limits decide about bands, not the privileges of ternd. */
static int context_priority(struct request *r)
{
    const uint64_t band = r->q->value[0], weight = r->q->value[1];
    const struct ternd_limits *l = &r->session->limits;
    if ((band == TERN_BAND_REALTIME && !l->realtime) || (band == TERN_BAND_FOCUS && !l->focus)) {
        return tern_error(-EPERM, "user %u may not have contexts in the band %s: ternd's limits file has to say so",
                          (unsigned)r->session->uid, band == TERN_BAND_FOCUS ? "FOCUS" : "REALTIME");
    }
    const int known = band > TERN_BAND_REALTIME ? -1 : (int)band; /* the driver refuses -1 with a sentence */
    return tern_os_context_set_priority(r->object->it, (enum tern_band)known,
                                        weight > UINT32_MAX ? UINT32_MAX : (uint32_t)weight);
}

static int context_residency(struct request *r)
{
    const uint64_t named = r->q->value[0], count = r->q->value[1];
    uint32_t *addresses = NULL;
    if (count > TERN_WIRE_SLOT / sizeof *addresses) {
        return tern_error(-EINVAL, "a working set has at most %zu addresses, and %" PRIu64 " were given",
                          TERN_WIRE_SLOT / sizeof *addresses, count);
    }
    if (named) {
        addresses = malloc(count ? count * sizeof *addresses : 1);
        if (!addresses) {
            return tern_error_memory("a working set");
        }
        memcpy(addresses, r->slot, count * sizeof *addresses);
    }
    const int e = tern_os_context_set_residency(r->object->it, addresses, (uint32_t)count);
    free(addresses);
    return e;
}

static int context_query(struct request *r)
{
    struct tern_context_stats s = {.size = sizeof s};
    const int e = tern_os_context_query(r->object->it, &s);
    memcpy(r->slot, &s, sizeof s);
    return e;
}

/** The entry names its objects itself. The request holds none, because the entry may destroy them. */
static int context_submit(struct request *r)
{
    const uint64_t size = r->q->value[0];
    if (size > TERN_WIRE_SLOT) {
        return tern_error(-EINVAL, "an entry of %" PRIu64 " bytes", size);
    }
    uint8_t *entry = malloc(size ? size : 1);
    if (!entry) {
        ternd_session_break(r->session, "there is no memory for what it submits");
        return -ENOMEM;
    }
    memcpy(entry, r->slot, size);
    bool absent = false;
    pthread_mutex_lock(&r->session->ring);
    const int e = ternd_submissions_do(r->session, entry, size, &absent);
    pthread_mutex_unlock(&r->session->ring);
    tern_os_device_drive(r->session->ternd->dev, false);
    free(entry);
    r->reply->absent = absent;
    return e;
}

/* ------------------------------------------------------------------ all requests */

static const struct {
    enum ternd_kind kind;
    int (*serve)(struct request *r);
    bool changes; /* begins, ends, suspends or resumes a process, which waits while the session is held */
} ops[TERN_WIRE_OPS] = {
    [TERN_WIRE_NOP] = {TERND_ANY, nop, false},
    [TERN_WIRE_TIME] = {TERND_ANY, device_time, false},
    [TERN_WIRE_TIME_SEEN] = {TERND_ANY, device_time_seen, false},
    [TERN_WIRE_COUNTERS] = {TERND_ANY, device_counters, false},
    [TERN_WIRE_PROCESS_CREATE] = {TERND_ANY, process_create, true},
    [TERN_WIRE_PROCESS_DESTROY] = {TERND_PROCESS, process_destroy, true},
    [TERN_WIRE_PROCESS_KILL] = {TERND_PROCESS, process_kill, true},
    [TERN_WIRE_PROCESS_STATUS] = {TERND_PROCESS, process_status, false},
    [TERN_WIRE_PROCESS_SUSPEND] = {TERND_PROCESS, process_suspend, true},
    [TERN_WIRE_PROCESS_RESUME] = {TERND_PROCESS, process_resume, true},
    [TERN_WIRE_PROCESS_ALLOCATIONS] = {TERND_PROCESS, process_allocations, false},
    [TERN_WIRE_PROCESS_DIRTY] = {TERND_PROCESS, process_dirty, false},
    [TERN_WIRE_ALLOCATION_CREATE] = {TERND_PROCESS, allocation_create, false},
    [TERN_WIRE_ALLOCATION_READ] = {TERND_ALLOCATION, allocation_read, false},
    [TERN_WIRE_ALLOCATION_WRITE] = {TERND_ALLOCATION, allocation_write, false},
    [TERN_WIRE_ALLOCATION_RESIDENT] = {TERND_ALLOCATION, allocation_resident, false},
    [TERN_WIRE_ALLOCATION_EVICT] = {TERND_ALLOCATION, allocation_evict, false},
    [TERN_WIRE_ALLOCATION_EXPORT] = {TERND_ALLOCATION, allocation_export, false},
    [TERN_WIRE_ALLOCATION_IMPORT] = {TERND_PROCESS, allocation_import, false},
    [TERN_WIRE_CONTEXT_CREATE] = {TERND_PROCESS, context_create, false},
    [TERN_WIRE_CONTEXT_DESTROY] = {TERND_CONTEXT, context_destroy, false},
    [TERN_WIRE_CONTEXT_TAKE_DATA] = {TERND_CONTEXT, context_take_data, false},
    [TERN_WIRE_CONTEXT_PRIORITY] = {TERND_CONTEXT, context_priority, false},
    [TERN_WIRE_CONTEXT_RESIDENCY] = {TERND_CONTEXT, context_residency, false},
    [TERN_WIRE_CONTEXT_QUERY] = {TERND_CONTEXT, context_query, false},
    [TERN_WIRE_CONTEXT_SUBMIT] = {TERND_ANY, context_submit, false},
    [TERN_WIRE_PARTITION_CREATE] = {TERND_ANY, partition_create, false},
    [TERN_WIRE_PARTITION_RESIZE] = {TERND_ANY, partition_resize, false},
    [TERN_WIRE_PARTITION_SHARE] = {TERND_ANY, partition_set_share, false},
    [TERN_WIRE_PARTITION_DESTROY] = {TERND_ANY, partition_destroy, false},
    [TERN_WIRE_PARTITION_LIST] = {TERND_ANY, partition_list, false},
    [TERN_WIRE_FENCE_CREATE] = {TERND_PROCESS, fence_create, false},
    [TERN_WIRE_FENCE_VALUE] = {TERND_FENCE, fence_value, false},
    [TERN_WIRE_FENCE_SIGNAL] = {TERND_FENCE, fence_signal, false},
    [TERN_WIRE_FENCE_WAIT] = {TERND_FENCE, fence_wait, false},
};

static int serve(struct request *r)
{
    const struct tern_wire_request *q = r->q;
    if (q->op >= TERN_WIRE_OPS || !ops[q->op].serve) {
        ternd_session_break(r->session, "a request of unknown kind %u", q->op);
        return tern_error(-EINVAL, "there is no request of kind %u", q->op);
    }
    if (ops[q->op].kind != TERND_ANY) {
        r->object = ternd_object_get(r->session, q->object, ops[q->op].kind);
        if (!r->object) {
            return tern_error(-EINVAL, "this program has no such object as %u", q->object);
        }
    }
    if (ops[q->op].changes && !ternd_session_change_begin(r->session)) {
        if (r->object) {
            ternd_object_put(r->object);
        }
        return POSTPONED;
    }
    const int e = ops[q->op].serve(r);
    if (ops[q->op].changes) {
        ternd_session_change_end(r->session);
    }
    if (r->object) {
        const struct ternd_object *proc = r->object->proc ? r->object->proc : r->object;
        r->reply->absent = tern_os_process_absent(proc->it);
        ternd_object_put(r->object);
    }
    return e;
}

bool ternd_serve(struct ternd_session *s, void *message, size_t size, void *slot, struct tern_wire_reply *reply)
{
    struct tern_wire_request q = {0};
    const size_t head = offsetof(struct tern_wire_request, text);
    memset(reply, 0, sizeof *reply);
    memcpy(&q, message, size < sizeof q ? size : sizeof q);
    if (size < head || size > sizeof q || q.length != size) {
        ternd_session_break(s, "a request of %zu bytes that says %u", size, q.length);
        reply->status = -EINVAL;
        reply->length = offsetof(struct tern_wire_reply, text);
        return true;
    }
    q.text[sizeof q.text - 1] = '\0';
    ternd_submissions_take(s, false);
    struct request r = {.session = s, .q = &q, .reply = reply, .slot = slot};
    const int e = serve(&r);
    if (e == POSTPONED) {
        memcpy(message, &q, size);
        return false;
    }
    reply->op = q.op;
    reply->status = e;
    if (e < 0) {
        snprintf(reply->text, sizeof reply->text, "%s", tern_last_error());
    }
    reply->length = (uint32_t)(offsetof(struct tern_wire_reply, text) + strlen(reply->text));
    return true;
}
