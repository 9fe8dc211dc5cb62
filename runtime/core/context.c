/* SPDX-License-Identifier: Apache-2.0 */
/** Contexts (context.h). */
#include "runtime/core/context.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/core/callback.h"
#include "runtime/core/closing.h"
#include "runtime/core/loaded.h"

static void context_destroy(void *object)
{
    cl_context ctx = object;
    const char *before = rt_callback_begin("clSetContextDestructorCallback");
    for (struct rt_context_hook *h = ctx->hooks, *next; h != NULL; h = next) {
        next = h->next;
        h->fn(ctx, h->data);
        free(h);
    }
    rt_callback_end(before);
    if (ctx->locks != NULL) {
        tern_allocation_destroy(ctx->locks);
    }
    tern_process_destroy(ctx->process);
    pthread_mutex_destroy(&ctx->lock);
    pthread_mutex_destroy(&ctx->load_lock);
    pthread_cond_destroy(&ctx->changed);
    free(ctx->properties);
    free(ctx);
}

cl_int rt_context_create(cl_device_id device, const cl_context_properties *properties,
                         void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *notify_data,
                         cl_context *out)
{
    cl_context ctx = rt_object_create(sizeof *ctx, RT_CONTEXT, context_destroy);
    if (ctx == NULL) {
        return CL_OUT_OF_HOST_MEMORY;
    }
    cl_ulong *copy;
    cl_int error = rt_properties_copy((const cl_ulong *)properties, &copy, &ctx->n_properties);
    if (error != CL_SUCCESS) {
        goto fail;
    }
    ctx->properties = (cl_context_properties *)copy;
    struct rt_closings before = rt_closings_now();
    int r;
    do {
        r = tern_process_create(device->hw, program_invocation_short_name, &ctx->process);
    } while (r == -ENOSPC && rt_closings_wait(&before));
    if (r != 0) {
        fprintf(stderr, "tern: OpenCL: no context: %s\n", tern_last_error());
        error = r == -EBUSY ? CL_DEVICE_NOT_AVAILABLE : r == -ENOMEM ? CL_OUT_OF_HOST_MEMORY : CL_OUT_OF_RESOURCES;
        goto fail;
    }
    ctx->device = device;
    ctx->notify = notify;
    ctx->notify_data = notify_data;
    ctx->load_cursor = RT_LOADED_FIRST;
    pthread_mutex_init(&ctx->lock, NULL);
    pthread_mutex_init(&ctx->load_lock, NULL);
    pthread_cond_init(&ctx->changed, NULL);
    *out = ctx;
    return CL_SUCCESS;
fail:
    rt_object_abandon(ctx);
    free(ctx->properties);
    free(ctx);
    return error;
}

cl_int rt_context_query(cl_context ctx, cl_context_info name, const struct rt_answer *a)
{
    switch (name) {
    case CL_CONTEXT_REFERENCE_COUNT:
        return rt_answer_uint(a, rt_object_refs(ctx));
    case CL_CONTEXT_NUM_DEVICES:
        return rt_answer_uint(a, 1);
    case CL_CONTEXT_DEVICES:
        return rt_answer_pointer(a, ctx->device);
    case CL_CONTEXT_PROPERTIES:
        return rt_answer_bytes(a, ctx->properties, ctx->n_properties * sizeof *ctx->properties);
    default:
        return CL_INVALID_VALUE;
    }
}

cl_int rt_context_add_hook(cl_context ctx, void(CL_CALLBACK *fn)(cl_context, void *), void *data)
{
    struct rt_context_hook *h = malloc(sizeof *h);
    if (h == NULL) {
        return CL_OUT_OF_HOST_MEMORY;
    }
    h->fn = fn;
    h->data = data;
    pthread_mutex_lock(&ctx->lock);
    h->next = ctx->hooks;
    ctx->hooks = h;
    pthread_mutex_unlock(&ctx->lock);
    return CL_SUCCESS;
}

bool rt_context_lost(cl_context ctx)
{
    pthread_mutex_lock(&ctx->lock);
    const bool lost = ctx->lost;
    pthread_mutex_unlock(&ctx->lock);
    return lost;
}

static void notify(cl_context ctx, const char *text, const void *info, size_t size)
{
    if (ctx->notify != NULL) {
        const char *before = rt_callback_begin("clCreateContext");
        ctx->notify(text, info, size, ctx->notify_data);
        rt_callback_end(before);
    }
}

void rt_context_fail(cl_context ctx, const struct tern_fault *fault, const char *more)
{
    char text[sizeof fault->message + RT_FAULT_MORE];
    pthread_mutex_lock(&ctx->lock);
    const bool first = !ctx->reported;
    ctx->lost = true;
    ctx->reported = true;
    pthread_mutex_unlock(&ctx->lock);
    if (!first) {
        return;
    }
    snprintf(text, sizeof text, "%s%s", fault->message, more);
    fprintf(stderr, "tern: OpenCL: %s\n", text);
    notify(ctx, text, fault, sizeof *fault);
}

void rt_context_refuse(cl_context ctx, enum rt_refusal kind, const char *format, ...)
{
    char text[RT_FAULT_MORE];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    pthread_mutex_lock(&ctx->lock);
    const bool first = (ctx->refused & kind) == 0;
    ctx->refused |= kind;
    pthread_mutex_unlock(&ctx->lock);
    if (first) {
        fprintf(stderr, "tern: OpenCL: %s\n", text);
    }
    notify(ctx, text, NULL, 0);
}

void rt_context_abort(cl_context ctx)
{
    struct tern_fault fault = {.size = sizeof fault, .code = TERN_FAULT_DEVICE,
                               .message = "the device gave up the process, without a fault record"};
    tern_process_status(ctx->process, &fault);
    if (fault.code == TERN_FAULT_DEVICE) {
        rt_context_fail(ctx, &fault, "");
        return;
    }
    pthread_mutex_lock(&ctx->lock);
    ctx->lost = true;
    pthread_mutex_unlock(&ctx->lock);
}

int rt_context_take(cl_context ctx, uint64_t size, uint32_t flags, uint32_t address, struct tern_allocation **out)
{
    struct rt_closings before = rt_closings_now();
    int r;
    do {
        r = tern_allocation_create(ctx->process, size, flags, address, out);
    } while (r == -ENOSPC && rt_closings_wait(&before));
    return r;
}

cl_int rt_context_allocate(cl_context ctx, uint64_t size, struct tern_allocation **out)
{
    switch (rt_context_take(ctx, size, TERN_MEM_READ | TERN_MEM_WRITE, 0, out)) {
    case 0:
        return CL_SUCCESS;
    case -ENOSPC:
    case -ENOMEM:
        return CL_MEM_OBJECT_ALLOCATION_FAILURE;
    default:
        return CL_OUT_OF_RESOURCES;
    }
}
