/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Commands of shared virtual memory. Where section 5.6 of the OpenCL API specification leaves the behaviour of a
 * pointer undefined, the result is CL_INVALID_VALUE.
 */
#include "runtime/api/check.h"
#include "runtime/core/mover.h"
#include "runtime/core/svm.h"
#include "runtime/core/svm_command.h"
#include "runtime/core/transfer.h"

static cl_int check_queue(cl_command_queue queue)
{
    if (!rt_object_is(queue, RT_QUEUE)) {
        return CL_INVALID_COMMAND_QUEUE;
    }
    return queue->context->device->svm ? CL_SUCCESS : CL_INVALID_OPERATION;
}

static size_t offset_in(cl_mem mem, const void *pointer)
{
    return (size_t)((const char *)pointer - (const char *)mem->host_ptr);
}

/** The allocation of the queue's context that contains the range, held; NULL: there is none. */
static cl_mem find_range(cl_command_queue queue, const void *pointer, size_t size)
{
    cl_mem mem = rt_svm_find(queue->context, pointer);
    if (mem != NULL && size > mem->size - offset_in(mem, pointer)) {
        rt_object_drop(mem);
        return NULL;
    }
    return mem;
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueSVMFree(cl_command_queue queue, cl_uint n, void *pointers[],
                                                 void(CL_CALLBACK *fn)(cl_command_queue, cl_uint, void *[], void *),
                                                 void *data, cl_uint n_waits, const cl_event *waits, cl_event *event)
{
    struct rt_command *c = NULL;
    cl_int error = check_queue(queue);
    if (error != CL_SUCCESS) {
        return error;
    }
    if ((n == 0) != (pointers == NULL)) {
        return CL_INVALID_VALUE;
    }
    for (cl_uint i = 0; fn == NULL && i < n; i++) { /* fn may get any pointers, since it frees them itself */
        if (pointers[i] != NULL && !rt_svm_begins(queue->context, pointers[i])) {
            return CL_INVALID_VALUE;
        }
    }
    error = rt_svm_free_create(queue, n, pointers, fn, data, n_waits, waits, &c);
    return rt_command_submit(error, c, false, event);
}

/** One side of a copy: an SVM allocation of the context, or host memory. */
struct copy_side {
    cl_mem mem; /**< The allocation, held; NULL: host memory. */
    struct rt_side side;
    bool inside; /**< False: the range begins in an allocation and ends beyond it. */
};

static struct copy_side side_of(cl_command_queue queue, const void *pointer, size_t size)
{
    cl_mem mem = rt_svm_find(queue->context, pointer);
    const size_t start = mem == NULL ? 0 : offset_in(mem, pointer);
    return (struct copy_side){mem, {start, size, size}, mem == NULL || size <= mem->size - start};
}

static bool overlap(const void *a, const void *b, size_t size)
{
    const uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;
    return x < y ? y - x < size : x - y < size;
}

/** Makes a command that copies between two ranges that do not overlap. */
static cl_int create_copy(cl_command_queue queue, const struct copy_side *to, void *dst, const struct copy_side *from,
                          const void *src, size_t size, cl_uint n_waits, const cl_event *waits, struct rt_command **out)
{
    const size_t region[3] = {size, 1, 1};
    const cl_command_type type = CL_COMMAND_SVM_MEMCPY;
    const struct rt_side host = {0};
    if (to->mem != NULL && from->mem != NULL) {
        return rt_copy_create(queue, type, from->mem, to->mem, region, &from->side, &to->side, n_waits, waits, out);
    }
    if (to->mem != NULL) {
        return rt_transfer_create(queue, type, to->mem, false, region, &to->side, &host, (void *)(uintptr_t)src,
                                  n_waits, waits, out);
    }
    if (from->mem != NULL) {
        return rt_transfer_create(queue, type, from->mem, true, region, &from->side, &host, dst, n_waits, waits, out);
    }
    return rt_host_copy_create(queue, dst, src, size, n_waits, waits, out);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueSVMMemcpy(cl_command_queue queue, cl_bool blocking, void *dst, const void *src,
                                                   size_t size, cl_uint n_waits, const cl_event *waits, cl_event *event)
{
    struct rt_command *c = NULL;
    cl_int error = check_queue(queue);
    if (error != CL_SUCCESS) {
        return error;
    }
    if (dst == NULL || src == NULL) {
        return CL_INVALID_VALUE;
    }
    const struct copy_side to = side_of(queue, dst, size);
    const struct copy_side from = side_of(queue, src, size);
    if (!to.inside || !from.inside) {
        error = CL_INVALID_VALUE;
    } else if (size == 0) {
        error = rt_marker_create(queue, CL_COMMAND_SVM_MEMCPY, false, false, n_waits, waits, &c);
    } else if (overlap(dst, src, size)) {
        error = CL_MEM_COPY_OVERLAP;
    } else {
        error = create_copy(queue, &to, dst, &from, src, size, n_waits, waits, &c);
    }
    rt_object_drop(to.mem);
    rt_object_drop(from.mem);
    return rt_command_submit(error, c, blocking, event);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueSVMMemFill(cl_command_queue queue, void *pointer, const void *pattern,
                                                    size_t pattern_size, size_t size, cl_uint n_waits,
                                                    const cl_event *waits, cl_event *event)
{
    struct rt_command *c = NULL;
    cl_int error = check_queue(queue);
    if (error != CL_SUCCESS) {
        return error;
    }
    if (pattern == NULL || pattern_size == 0 || pattern_size > 128 || (pattern_size & (pattern_size - 1)) != 0 ||
        (uintptr_t)pointer % pattern_size != 0 || size % pattern_size != 0) {
        return CL_INVALID_VALUE;
    }
    cl_mem mem = find_range(queue, pointer, size);
    if (mem == NULL) {
        return CL_INVALID_VALUE;
    }
    if (size == 0) {
        error = rt_marker_create(queue, CL_COMMAND_SVM_MEMFILL, false, false, n_waits, waits, &c);
    } else {
        const size_t region[3] = {size, 1, 1};
        const struct rt_side at = {offset_in(mem, pointer), size, size};
        error = rt_fill_create(queue, CL_COMMAND_SVM_MEMFILL, mem, pattern, pattern_size, region, &at, n_waits, waits,
                               &c);
    }
    rt_object_drop(mem);
    return rt_command_submit(error, c, false, event);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueSVMMap(cl_command_queue queue, cl_bool blocking, cl_map_flags flags,
                                                void *pointer, size_t size, cl_uint n_waits, const cl_event *waits,
                                                cl_event *event)
{
    struct rt_command *c = NULL;
    struct rt_map *map = NULL;
    cl_int error = check_queue(queue);
    if (error != CL_SUCCESS) {
        return error;
    }
    cl_mem mem = size == 0 || !rt_check_map_flags(flags) ? NULL : find_range(queue, pointer, size);
    if (mem == NULL) {
        return CL_INVALID_VALUE;
    }
    const size_t region[3] = {size, 1, 1};
    const struct rt_side at = {offset_in(mem, pointer), size, size};
    error = rt_map_create(mem, flags, region, &at, &map);
    if (error == CL_SUCCESS) {
        error = rt_map_command_create(queue, mem, map, false, n_waits, waits, &c);
        error = rt_command_submit(error, c, blocking, event);
        if (error != CL_SUCCESS) {
            rt_map_cancel(mem, map);
        }
        rt_map_drop(map);
    }
    rt_object_drop(mem);
    return error;
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueSVMUnmap(cl_command_queue queue, void *pointer, cl_uint n_waits,
                                                  const cl_event *waits, cl_event *event)
{
    struct rt_command *c = NULL;
    cl_int error = check_queue(queue);
    if (error != CL_SUCCESS) {
        return error;
    }
    cl_mem mem = rt_svm_find(queue->context, pointer);
    struct rt_map *map = mem == NULL ? NULL : rt_map_take(mem, pointer);
    if (map == NULL) {
        rt_object_drop(mem);
        return CL_INVALID_VALUE;
    }
    error = rt_map_command_create(queue, mem, map, true, n_waits, waits, &c);
    if (error != CL_SUCCESS) {
        rt_map_return(mem, map);
    }
    rt_object_drop(mem);
    return rt_command_submit(error, c, false, event);
}

/** Has no effect: there is one device, and the driver moves to the host only memory for which the device has no
 *  room. */
CL_API_ENTRY cl_int CL_API_CALL clEnqueueSVMMigrateMem(cl_command_queue queue, cl_uint n, const void **pointers,
                                                       const size_t *sizes, cl_mem_migration_flags flags,
                                                       cl_uint n_waits, const cl_event *waits, cl_event *event)
{
    const cl_mem_migration_flags known = CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
    struct rt_command *c = NULL;
    cl_int error = check_queue(queue);
    if (error != CL_SUCCESS) {
        return error;
    }
    if (n == 0 || pointers == NULL || (flags & ~known) != 0) {
        return CL_INVALID_VALUE;
    }
    for (cl_uint i = 0; i < n; i++) {
        cl_mem mem = find_range(queue, pointers[i], sizes == NULL ? 0 : sizes[i]);
        if (mem == NULL) {
            return CL_INVALID_VALUE;
        }
        rt_object_drop(mem);
    }
    error = rt_marker_create(queue, CL_COMMAND_SVM_MIGRATE_MEM, false, false, n_waits, waits, &c);
    return rt_command_submit(error, c, false, event);
}
