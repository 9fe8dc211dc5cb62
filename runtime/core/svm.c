/* SPDX-License-Identifier: Apache-2.0 */
/** Allocations of shared virtual memory (svm.h). */
#include "runtime/core/svm.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/core/flight.h"
#include "runtime/core/low.h"
#include "runtime/core/queue.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct rt_low low; /* The host addresses in use, whose owners are cl_mem. Guarded by `lock`. */

bool rt_svm_possible(void)
{
    const char *s = secure_getenv("TERN_CL_SVM");
    uint32_t address;
    if (s != NULL && *s != '\0' && strcmp(s, "1") != 0) {
        if (strcmp(s, "0") != 0) {
            fprintf(stderr, "tern: OpenCL: no shared virtual memory: TERN_CL_SVM is 0 or 1; got '%s'\n", s);
        }
        return false;
    }
    pthread_mutex_lock(&lock);
    const int r = rt_low_take(&low, 1, RT_LOW_END, &low, &address);
    if (r == 0) {
        rt_low_give(&low, address);
    }
    pthread_mutex_unlock(&lock);
    return r == 0;
}

static int take_host(cl_mem m, uint32_t below, uint32_t *address)
{
    pthread_mutex_lock(&lock);
    const int r = rt_low_take(&low, m->size, below, m, address);
    pthread_mutex_unlock(&lock);
    if (r == 0) {
        m->host_ptr = (void *)(uintptr_t)*address;
    }
    return r;
}

void rt_svm_unmap(cl_mem m)
{
    if (m->host_ptr != NULL) {
        pthread_mutex_lock(&lock);
        rt_low_give(&low, (uint32_t)(uintptr_t)m->host_ptr);
        pthread_mutex_unlock(&lock);
        m->host_ptr = NULL;
    }
}

/** Takes addresses that are free on host and device. If the device uses a range, a lower one is tried. */
static int take_both(cl_mem m, bool *on_host)
{
    const uint64_t pages = (m->size + RT_LOW_PAGE - 1) / RT_LOW_PAGE * RT_LOW_PAGE;
    uint32_t below = RT_LOW_END;
    for (;;) {
        uint32_t address;
        int r = take_host(m, below, &address);
        *on_host = r == 0;
        if (r != 0) {
            return r;
        }
        r = rt_context_take(m->context, m->size, TERN_MEM_READ | TERN_MEM_WRITE, address, &m->allocation);
        if (r == 0) {
            return 0;
        }
        rt_svm_unmap(m);
        if (r != -EEXIST) {
            return r;
        }
        below = address + (uint32_t)(pages > RT_LOW_STEP ? pages - RT_LOW_STEP : 0);
    }
}

static void refuse(cl_mem m, int r, bool on_host)
{
    const char *why = on_host ? tern_last_error()
        : r == -ENOMEM        ? "the host refuses the memory"
                              : "no addresses below 4 GiB are free on both sides";
    rt_context_refuse(m->context, RT_REFUSED_SHARED, "no shared virtual memory of %zu bytes: %s", m->size, why);
}

void *rt_svm_alloc(cl_context ctx, cl_mem_flags flags, size_t size)
{
    cl_mem m = rt_mem_create_svm(ctx, flags, size);
    bool on_host;
    if (m == NULL) {
        return NULL;
    }
    struct rt_flight_call call = {0};
    int r;
    do {
        r = take_both(m, &on_host);
    } while (r == -ENOSPC && on_host && rt_flight_wait(&call));
    if (r != 0) {
        refuse(m, r, on_host);
        rt_object_release(m);
        return NULL;
    }
    pthread_mutex_lock(&lock);
    m->given = true;
    pthread_mutex_unlock(&lock);
    return m->host_ptr;
}

/** The allocation of the context that contains the address and that the application has not freed. Requires `lock`. */
static cl_mem find(cl_context ctx, const void *pointer)
{
    tern_assert_held(&lock);
    cl_mem m = rt_low_find(&low, pointer);
    const bool found = m != NULL && m->given && m->context == ctx &&
        (size_t)((const char *)pointer - (const char *)m->host_ptr) < m->size;
    return found ? m : NULL;
}

bool rt_svm_free(cl_context ctx, const void *pointer)
{
    pthread_mutex_lock(&lock);
    cl_mem m = find(ctx, pointer);
    const bool begins = m != NULL && m->host_ptr == pointer;
    if (begins) {
        m->given = false;
    }
    pthread_mutex_unlock(&lock);
    return begins && rt_object_release(m);
}

bool rt_svm_begins(cl_context ctx, const void *pointer)
{
    pthread_mutex_lock(&lock);
    cl_mem m = find(ctx, pointer);
    const bool begins = m != NULL && m->host_ptr == pointer;
    pthread_mutex_unlock(&lock);
    return begins;
}

cl_mem rt_svm_find(cl_context ctx, const void *pointer)
{
    if ((uintptr_t)pointer >= RT_LOW_END) { /* most host pointers end here, without the lock */
        return NULL;
    }
    pthread_mutex_lock(&lock);
    cl_mem m = find(ctx, pointer);
    if (m != NULL) {
        rt_object_hold(m);
    }
    pthread_mutex_unlock(&lock);
    return m;
}

bool rt_svm_is(cl_context ctx, const void *pointer)
{
    cl_mem m = rt_svm_find(ctx, pointer);
    rt_object_drop(m);
    return m != NULL;
}

cl_int rt_svm_use(struct rt_command *c, const void *pointer)
{
    cl_mem m = rt_svm_find(c->queue->context, pointer);
    if (m == NULL) {
        return CL_INVALID_VALUE;
    }
    const cl_int error = rt_command_use(c, m);
    rt_object_drop(m);
    return error;
}
