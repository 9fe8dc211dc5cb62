/* SPDX-License-Identifier: Apache-2.0 */
/** Memory objects (memory.h). */
#include "runtime/core/memory.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/core/callback.h"
#include "runtime/core/flight.h"
#include "runtime/core/image.h"
#include "runtime/core/svm.h"

#define HOST_ACCESS (CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS)
#define DEVICE_ACCESS (CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY)
#define HOST_POINTER (CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR)

static void mem_destroy(void *object)
{
    cl_mem m = object;
    const char *before = rt_callback_begin("clSetMemObjectDestructorCallback");
    for (struct rt_mem_hook *h = m->hooks, *next; h != NULL; h = next) {
        next = h->next;
        h->fn(m, h->data);
        free(h);
    }
    rt_callback_end(before);
    for (struct rt_map *map; (map = rt_maps_empty(&m->maps)) != NULL;) {
        rt_map_share(m, map);
        rt_map_drop(map);
    }
    if (m->allocation != NULL) {
        tern_allocation_destroy(m->allocation);
    }
    if (m->svm) {
        rt_svm_unmap(m);
    }
    rt_object_drop(m->parent);
    rt_object_drop(m->shared);
    rt_object_drop(m->context);
    pthread_mutex_destroy(&m->lock);
    free(m->image);
    free(m->properties);
    free(m);
}

static cl_mem mem_new(cl_context ctx, cl_mem_flags flags, size_t size)
{
    cl_mem m = rt_object_create(sizeof(struct _cl_mem), RT_MEM, mem_destroy);
    if (m != NULL) {
        rt_object_hold(ctx);
        m->context = ctx;
        m->flags = (flags & DEVICE_ACCESS) == 0 ? flags | CL_MEM_READ_WRITE : flags;
        m->size = size;
        m->root = m;
        pthread_mutex_init(&m->lock, NULL);
    }
    return m;
}

cl_mem rt_mem_create_svm(cl_context ctx, cl_mem_flags flags, size_t size)
{
    cl_mem m = mem_new(ctx, flags, size);
    if (m != NULL) {
        m->svm = true;
    }
    return m;
}

/** Uses the caller's memory. If it is an SVM allocation, that is the buffer's device storage as well. */
static void use_host_memory(cl_mem m, void *host_ptr)
{
    m->host_ptr = host_ptr;
    m->shared = rt_svm_find(m->context, host_ptr);
    if (m->shared != NULL) {
        m->root = m->shared;
        m->at = (size_t)((char *)host_ptr - (char *)m->shared->host_ptr);
    }
}

cl_int rt_mem_create(cl_context ctx, const cl_mem_properties *properties, cl_mem_flags flags, size_t size,
                     void *host_ptr, cl_mem *out)
{
    cl_mem m = mem_new(ctx, flags, size);
    if (m == NULL) {
        return CL_OUT_OF_HOST_MEMORY;
    }
    cl_int error = rt_properties_copy(properties, &m->properties, &m->n_properties);
    if (error != CL_SUCCESS) {
        goto fail;
    }
    if ((flags & CL_MEM_USE_HOST_PTR) != 0) {
        use_host_memory(m, host_ptr);
    } else if ((flags & CL_MEM_COPY_HOST_PTR) != 0) {
        error = rt_mem_resident(m);
        if (error == CL_SUCCESS) {
            error = rt_mem_write(m, 0, host_ptr, size);
        }
        if (error != CL_SUCCESS) {
            goto fail;
        }
    }
    *out = m;
    return CL_SUCCESS;
fail:
    rt_object_release(m);
    return error;
}

cl_int rt_mem_create_sub(cl_mem parent, const cl_mem_properties *properties, cl_mem_flags flags, size_t origin,
                         size_t size, cl_mem *out)
{
    const cl_mem_flags own = (flags & DEVICE_ACCESS) != 0 ? flags & DEVICE_ACCESS : parent->flags & DEVICE_ACCESS;
    const cl_mem_flags host = (flags & HOST_ACCESS) != 0 ? flags & HOST_ACCESS : parent->flags & HOST_ACCESS;
    cl_mem m = mem_new(parent->context, own | host | (parent->flags & HOST_POINTER), size);
    if (m == NULL) {
        return CL_OUT_OF_HOST_MEMORY;
    }
    const cl_int error = rt_properties_copy(properties, &m->properties, &m->n_properties);
    if (error != CL_SUCCESS) {
        rt_object_release(m);
        return error;
    }
    rt_object_hold(parent);
    m->parent = parent;
    m->root = parent->root;
    m->origin = parent->origin + origin;
    m->at = parent->at + origin;
    m->host_ptr = parent->host_ptr == NULL ? NULL : (char *)parent->host_ptr + origin;
    *out = m;
    return CL_SUCCESS;
}

static cl_uint map_count(cl_mem m)
{
    pthread_mutex_lock(&m->context->lock);
    const cl_uint n = (cl_uint)m->maps.n;
    pthread_mutex_unlock(&m->context->lock);
    return n;
}

cl_int rt_mem_query(cl_mem m, cl_mem_info name, const struct rt_answer *a)
{
    switch (name) {
    case CL_MEM_TYPE:
        return rt_answer_uint(a, m->image == NULL ? CL_MEM_OBJECT_BUFFER : m->image->type);
    case CL_MEM_FLAGS:
        return rt_answer_ulong(a, m->flags);
    case CL_MEM_SIZE:
        return rt_answer_size(a, m->size);
    case CL_MEM_HOST_PTR:
        return rt_answer_pointer(a, m->host_ptr);
    case CL_MEM_MAP_COUNT:
        return rt_answer_uint(a, map_count(m));
    case CL_MEM_REFERENCE_COUNT:
        return rt_answer_uint(a, rt_object_refs(m));
    case CL_MEM_CONTEXT:
        return rt_answer_pointer(a, m->context);
    case CL_MEM_ASSOCIATED_MEMOBJECT:
        return rt_answer_pointer(a, m->parent);
    case CL_MEM_OFFSET:
        return rt_answer_size(a, m->image == NULL ? m->origin : 0);
    case CL_MEM_USES_SVM_POINTER:
        return rt_answer_uint(a, m->root->svm);
    case CL_MEM_PROPERTIES:
        return rt_answer_bytes(a, m->properties, m->n_properties * sizeof *m->properties);
    default:
        return CL_INVALID_VALUE;
    }
}

cl_int rt_mem_add_hook(cl_mem m, void(CL_CALLBACK *fn)(cl_mem, void *), void *data)
{
    struct rt_mem_hook *h = malloc(sizeof *h);
    if (h == NULL) {
        return CL_OUT_OF_HOST_MEMORY;
    }
    h->fn = fn;
    h->data = data;
    pthread_mutex_lock(&m->context->lock);
    h->next = m->hooks;
    m->hooks = h;
    pthread_mutex_unlock(&m->context->lock);
    return CL_SUCCESS;
}

/** Makes one attempt to allocate a root's device memory. */
static cl_int allocate(cl_mem m)
{
    cl_int error = CL_SUCCESS;
    pthread_mutex_lock(&m->lock);
    if (m->allocation == NULL) {
        struct tern_allocation *made = NULL;
        error = rt_context_allocate(m->context, m->size, &made);
        if (error == CL_SUCCESS && m->host_ptr != NULL && tern_allocation_write(made, 0, m->host_ptr, m->size) != 0) {
            tern_allocation_destroy(made);
            error = CL_OUT_OF_RESOURCES;
        }
        if (error == CL_SUCCESS) {
            m->allocation = made;
        }
    }
    pthread_mutex_unlock(&m->lock);
    return error;
}

cl_int rt_mem_resident(cl_mem mem)
{
    cl_mem m = mem->root;
    struct rt_flight_call call = {0};
    cl_int error;
    do {
        error = allocate(m);
    } while (error == CL_MEM_OBJECT_ALLOCATION_FAILURE && rt_flight_wait(&call));
    if (error == CL_MEM_OBJECT_ALLOCATION_FAILURE) {
        rt_context_refuse(m->context, RT_REFUSED_MEMORY, "no device memory for %s of %zu bytes: %s",
                          m->image == NULL ? "a buffer" : "an image", m->size, tern_last_error());
    }
    return error;
}

uint32_t rt_mem_address(cl_mem m)
{
    return tern_allocation_address(m->root->allocation) + (uint32_t)m->at;
}

cl_int rt_mem_read(cl_mem m, size_t offset, void *data, size_t size)
{
    const int r = tern_allocation_read(m->root->allocation, m->at + offset, data, size);
    return r == 0 ? CL_SUCCESS : CL_OUT_OF_RESOURCES;
}

cl_int rt_mem_write(cl_mem m, size_t offset, const void *data, size_t size)
{
    const int r = tern_allocation_write(m->root->allocation, m->at + offset, data, size);
    return r == 0 ? CL_SUCCESS : CL_OUT_OF_RESOURCES;
}

cl_int rt_mem_move(cl_mem m, bool to_host, const size_t region[3], const struct rt_side *at, void *host,
                   const struct rt_side *host_side)
{
    size_t size[3];
    struct rt_side device = *at, outside = *host_side;
    cl_int error = CL_SUCCESS;
    memcpy(size, region, sizeof size);
    rt_box_join(size, &device, &outside);
    for (size_t z = 0; z < size[2] && error == CL_SUCCESS; z++) {
        for (size_t y = 0; y < size[1] && error == CL_SUCCESS; y++) {
            const size_t offset = device.start + z * device.slice + y * device.row;
            char *data = (char *)host + outside.start + z * outside.slice + y * outside.row;
            error = to_host ? rt_mem_read(m, offset, data, size[0]) : rt_mem_write(m, offset, data, size[0]);
        }
    }
    return error;
}
