/* SPDX-License-Identifier: Apache-2.0 */
/** Freeing of shared virtual memory in a queue, and copies within the host (svm_command.h). */
#include "runtime/core/svm_command.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/core/callback.h"
#include "runtime/core/queue.h"
#include "runtime/core/svm.h"

struct freeing {
    struct rt_command base;
    rt_svm_free_fn *fn; /**< NULL: the runtime frees the allocations. */
    void *data;
    cl_uint n;
    void **pointers;
};

struct host_copy {
    struct rt_command base;
    void *dst;
    const void *src;
    size_t size;
};

static cl_int free_run(struct rt_command *c)
{
    const struct freeing *f = (const struct freeing *)c;
    if (f->fn != NULL) {
        const char *before = rt_callback_begin("clEnqueueSVMFree");
        f->fn(c->queue, f->n, f->pointers, f->data);
        rt_callback_end(before);
        return CL_SUCCESS;
    }
    for (cl_uint i = 0; i < f->n; i++) {
        rt_svm_free(c->queue->context, f->pointers[i]);
    }
    return CL_SUCCESS;
}

static void free_clear(struct rt_command *c)
{
    free(((struct freeing *)c)->pointers);
}

static const struct rt_command_ops free_ops = {.run = free_run, .clear = free_clear};

cl_int rt_svm_free_create(cl_command_queue queue, cl_uint n, void *const *pointers, rt_svm_free_fn *fn, void *data,
                          cl_uint n_waits, const cl_event *waits, struct rt_command **out)
{
    struct freeing *f;
    const cl_int error = rt_command_create(sizeof *f, &free_ops, queue, CL_COMMAND_SVM_FREE, n_waits, waits, &f);
    if (error != CL_SUCCESS) {
        return error;
    }
    f->pointers = malloc((n + (size_t)1) * sizeof(void *));
    if (f->pointers == NULL) {
        rt_command_free(&f->base);
        return CL_OUT_OF_HOST_MEMORY;
    }
    for (cl_uint i = 0; i < n; i++) {
        f->pointers[i] = pointers[i];
    }
    f->n = n;
    f->fn = fn;
    f->data = data;
    *out = &f->base;
    return CL_SUCCESS;
}

static cl_int host_copy_run(struct rt_command *c)
{
    const struct host_copy *k = (const struct host_copy *)c;
    memcpy(k->dst, k->src, k->size);
    return CL_SUCCESS;
}

static const struct rt_command_ops host_copy_ops = {.run = host_copy_run};

cl_int rt_host_copy_create(cl_command_queue queue, void *dst, const void *src, size_t size, cl_uint n_waits,
                           const cl_event *waits, struct rt_command **out)
{
    struct host_copy *k;
    const cl_int error = rt_command_create(sizeof *k, &host_copy_ops, queue, CL_COMMAND_SVM_MEMCPY, n_waits, waits, &k);
    if (error == CL_SUCCESS) {
        k->dst = dst;
        k->src = src;
        k->size = size;
        *out = &k->base;
    }
    return error;
}
