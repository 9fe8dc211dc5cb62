/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Allocations and monitored fences of a client. Data pass through the slot of the connection, TERN_WIRE_COPY bytes at a
 * time.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "client/client.h"

#define WAIT_PIECE_MS 100 /* time after which a wait for a fence gives its connection to other threads, in ms */

/* ------------------------------------------------------------------ allocations */

/** Makes an allocation by a request to its process. */
static int make(struct tern_process *p, uint32_t op, const uint64_t values[3], struct tern_allocation **out)
{
    struct tern_wire_reply reply;
    int r = tern_client_check(p->dev);
    if (r) {
        return r;
    }
    struct tern_allocation *a = calloc(1, sizeof *a);
    if (!a) {
        return tern_error_memory("an allocation");
    }
    r = tern_call(p->dev, op, p->handle, values, NULL, &reply);
    if (r) {
        free(a);
        return r;
    }
    a->api = &tern_client_api;
    a->proc = p;
    a->handle = reply.object;
    a->address = (uint32_t)reply.value[0];
    a->size = reply.value[1];
    atomic_store(&p->absent, reply.absent != 0);
    pthread_mutex_lock(&p->dev->lock);
    tern_list_append(&p->allocations, &a->node);
    p->children++;
    pthread_mutex_unlock(&p->dev->lock);
    *out = a;
    return 0;
}

int tern_client_allocation_create(struct tern_process *p, uint64_t size, uint32_t flags, uint32_t address,
                                  struct tern_allocation **out)
{
    return make(p, TERN_WIRE_ALLOCATION_CREATE, (const uint64_t[3]){size, flags, address}, out);
}

_Static_assert(TERN_HANDLE_BYTES == 2 * sizeof(uint64_t), "a handle is two values");

int tern_client_allocation_import(struct tern_process *p, const uint8_t handle[TERN_HANDLE_BYTES], uint32_t flags,
                                  uint32_t address, struct tern_allocation **out)
{
    uint64_t values[3] = {(uint64_t)address << 32 | flags};
    memcpy(values + 1, handle, TERN_HANDLE_BYTES);
    return make(p, TERN_WIRE_ALLOCATION_IMPORT, values, out);
}

int tern_client_allocation_export(struct tern_allocation *a, uint32_t flags, uint8_t handle[TERN_HANDLE_BYTES])
{
    const uint64_t values[3] = {flags};
    struct tern_wire_reply reply;
    const int r = tern_call(a->proc->dev, TERN_WIRE_ALLOCATION_EXPORT, a->handle, values, NULL, &reply);
    if (!r) {
        memcpy(handle, reply.value, TERN_HANDLE_BYTES);
    }
    return r;
}

void tern_client_allocation_destroy(struct tern_allocation *a)
{
    struct tern_device *dev = a->proc->dev;
    if (dev->fork.inherited) {
        return;
    }
    tern_ring_post(dev, TERN_WIRE_ENTRY_ALLOCATION_DESTROY, a->handle, NULL);
    pthread_mutex_lock(&dev->lock);
    tern_list_remove(&a->node);
    a->proc->children--;
    pthread_mutex_unlock(&dev->lock);
    free(a);
}

uint32_t tern_client_allocation_address(const struct tern_allocation *a)
{
    return a->address;
}

uint64_t tern_client_allocation_size(const struct tern_allocation *a)
{
    return a->size;
}

static int check_range(const struct tern_allocation *a, uint64_t offset, size_t size)
{
    return offset > a->size || size > a->size - offset
        ? tern_error(-EFAULT, "bytes [%" PRIu64 ", +%zu) reach beyond the allocation of %" PRIu64 " bytes at 0x%08x",
                     offset, size, a->size, a->address)
        : 0;
}

static int transfer(struct tern_allocation *a, bool write, uint64_t offset, uint8_t *data, size_t size)
{
    struct tern_call call;
    int r = tern_client_check(a->proc->dev);
    if (r == 0) {
        r = check_range(a, offset, size);
    }
    if (r) {
        return r;
    }
    r = tern_call_begin(&call, a->proc->dev, write ? TERN_WIRE_ALLOCATION_WRITE : TERN_WIRE_ALLOCATION_READ, a->handle);
    if (r) {
        return r;
    }
    do {
        const size_t n = size < TERN_WIRE_COPY ? size : TERN_WIRE_COPY;
        call.request.value[0] = offset;
        call.request.value[1] = n;
        if (write) {
            memcpy(call.slot, data, n);
        }
        r = tern_call_do(&call);
        if (!r && !write) {
            memcpy(data, call.slot, n);
        }
        offset += n;
        data += n;
        size -= n;
    } while (!r && size);
    tern_call_end(&call);
    return r;
}

int tern_client_allocation_read(struct tern_allocation *a, uint64_t offset, void *data, size_t size)
{
    return transfer(a, false, offset, data, size);
}

int tern_client_allocation_write(struct tern_allocation *a, uint64_t offset, const void *data, size_t size)
{
    return transfer(a, true, offset, (uint8_t *)(uintptr_t)data, size);
}

/** Makes a request that changes which memory is on the device. */
static int move(struct tern_allocation *a, uint32_t op)
{
    struct tern_wire_reply reply = {0};
    const int r = tern_call(a->proc->dev, op, a->handle, NULL, NULL, &reply);
    atomic_store(&a->proc->absent, reply.absent != 0);
    return r;
}

int tern_client_allocation_make_resident(struct tern_allocation *a)
{
    return move(a, TERN_WIRE_ALLOCATION_RESIDENT);
}

int tern_client_allocation_evict(struct tern_allocation *a)
{
    return move(a, TERN_WIRE_ALLOCATION_EVICT);
}

/* ------------------------------------------------------------------ fences */

int tern_client_fence_create(struct tern_process *p, uint64_t initial, struct tern_fence **out)
{
    const uint64_t values[3] = {initial};
    struct tern_wire_reply reply;
    int r = tern_client_check(p->dev);
    if (r) {
        return r;
    }
    struct tern_fence *f = calloc(1, sizeof *f);
    if (!f) {
        return tern_error_memory("a fence");
    }
    r = tern_call(p->dev, TERN_WIRE_FENCE_CREATE, p->handle, values, NULL, &reply);
    if (r) {
        free(f);
        return r;
    }
    f->api = &tern_client_api;
    f->proc = p;
    f->handle = reply.object;
    f->address = (uint32_t)reply.value[0];
    pthread_mutex_lock(&p->dev->lock);
    tern_list_append(&p->fences, &f->node);
    p->children++;
    pthread_mutex_unlock(&p->dev->lock);
    *out = f;
    return 0;
}

void tern_client_fence_destroy(struct tern_fence *f)
{
    struct tern_device *dev = f->proc->dev;
    if (dev->fork.inherited) {
        return;
    }
    tern_ring_post(dev, TERN_WIRE_ENTRY_FENCE_DESTROY, f->handle, NULL);
    pthread_mutex_lock(&dev->lock);
    tern_list_remove(&f->node);
    f->proc->children--;
    pthread_mutex_unlock(&dev->lock);
    free(f);
}

uint32_t tern_client_fence_address(const struct tern_fence *f)
{
    return f->address;
}

int tern_client_fence_value(struct tern_fence *f, uint64_t *value)
{
    struct tern_wire_reply reply;
    const int r = tern_call(f->proc->dev, TERN_WIRE_FENCE_VALUE, f->handle, NULL, NULL, &reply);
    if (!r) {
        *value = reply.value[0];
    }
    return r;
}

int tern_client_fence_signal(struct tern_fence *f, uint64_t value)
{
    const uint64_t values[3] = {value};
    return tern_call(f->proc->dev, TERN_WIRE_FENCE_SIGNAL, f->handle, values, NULL, NULL);
}

/** Waits in several requests, between which other threads may use the connection. One of them may be the thread that
 *  will signal the fence. */
int tern_client_fence_wait(struct tern_fence *f, uint64_t value, int64_t timeout_ms)
{
    struct tern_device *dev = f->proc->dev;
    int64_t left = timeout_ms;
    int r;
    do {
        const int64_t piece = left < 0 || left > WAIT_PIECE_MS ? WAIT_PIECE_MS : left;
        const uint64_t values[3] = {value, (uint64_t)piece};
        r = tern_call(dev, TERN_WIRE_FENCE_WAIT, f->handle, values, NULL, NULL);
        left -= left < 0 ? 0 : piece;
        if (r == -ETIMEDOUT && left && tern_call_crowded(dev)) {
            usleep(1000);
        }
    } while (r == -ETIMEDOUT && left);
    return r == -ETIMEDOUT ? tern_error(r, "the fence has not reached %" PRIu64 " after %lld ms", value,
                                        (long long)timeout_ms)
                           : r;
}
