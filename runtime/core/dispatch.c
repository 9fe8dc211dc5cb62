/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Kernel commands (dispatch.h). The packet is built when the command is submitted, because the queue's stack may be
 * replaced until then. The arguments are data of the same DMA buffer. Output of printf is formatted to stdout when the
 * kernel has ended.
 */
#include "runtime/core/dispatch.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tern/tern_spec.h>

#include "runtime/core/coarse.h"
#include "runtime/core/explain.h"
#include "runtime/core/frames.h"
#include "runtime/core/group.h"
#include "runtime/core/queue.h"
#include "runtime/core/special.h"

struct dispatch {
    struct rt_command base;
    cl_kernel kernel;       /**< Held. */
    struct rt_loaded *program; /**< Held. */
    struct rt_range range;    /**< Range as enqueued. */
    struct rt_range hardware; /**< Range as dispatched. */
    bool coarse;              /**< The two ranges differ (coarse.h). */
    struct rt_special special; /**< If it has a program: compiled for this local size; that program is `program`. */
    const struct tc_kernel *loaded; /**< The kernel of `program`, with its entry address. */
    struct rt_use use;        /**< How the dispatch uses an engine. */
    bool in_local;            /**< Frames of work-items are in local memory (frames.h). */
    unsigned stack_log2;
    bool prints; /**< The command uses the queue's printf buffer. */
    /** Memory for arguments that are too many for the data of a DMA buffer: those of kernels with over a hundred
     *  images. NULL: they are data. */
    struct tern_allocation *block;
    uint32_t frames[TC_FRAMES_WORDS]; /**< in_local: the words before the argument block. */
    uint8_t args[]; /**< The argument block. */
};
_Static_assert(offsetof(struct dispatch, args) == offsetof(struct dispatch, frames) + 4 * TC_FRAMES_WORDS,
               "both are sent to the device as one piece");

/** The entry of the kernel that the dispatch runs. */
static uint32_t entry(const struct dispatch *d)
{
    return d->coarse ? d->loaded->coarse_entry : d->loaded->entry;
}

static void give_back(struct dispatch *d)
{
    if (d->prints) {
        d->base.queue->print_busy = false;
        d->prints = false;
    }
}

static cl_int pack(const struct dispatch *d, uint32_t *words)
{
    const struct rt_range *r = &d->hardware;
    const cl_command_queue q = d->base.queue;
    uint32_t groups[3];
    uint32_t edge[3];
    for (int i = 0; i < 3; i++) {
        groups[i] = rt_group_count(r->global[i], r->local[i]);
        edge[i] = r->global[i] - (groups[i] - 1) * r->local[i];
    }
    const struct tern_pkt_dispatch packet = {
        .entry = d->in_local ? d->program->image.frames_entry : entry(d),
        /* without an address: the offset in the buffer's data, which the driver resolves to an address */
        .args = d->block != NULL ? tern_allocation_address(d->block) : d->in_local ? sizeof d->frames : 0,
        .work_dim = r->dims,
        .group_warps = d->use.warps,
        .group_slots = d->use.slots,
        .stack_log2 = d->stack_log2,
        .global_x = r->global[0], .global_y = r->global[1], .global_z = r->global[2],
        .local_x = r->local[0], .local_y = r->local[1], .local_z = r->local[2],
        .offset_x = r->offset[0], .offset_y = r->offset[1], .offset_z = r->offset[2],
        .local_bytes = d->use.local_bytes,
        .stack = tern_allocation_address(q->stack),
        .user0 = d->coarse ? d->range.offset[0] + d->range.global[0]
                           : d->prints ? tern_allocation_address(q->print) : 0,
        .user1 = d->coarse ? rt_coarse_user1(d->loaded, &d->range, r) : d->prints ? RT_PRINTF_BYTES : 0,
        .groups_x = groups[0], .groups_y = groups[1], .groups_z = groups[2],
        .edge_x = edge[0], .edge_y = edge[1], .edge_z = edge[2],
    };
    return tern_pkt_dispatch_pack(&packet, words) == 0 ? CL_SUCCESS : CL_OUT_OF_RESOURCES;
}

static cl_int dispatch_build(struct rt_command *c, struct rt_packets *out)
{
    tern_assert_held(&c->queue->memory_lock);
    struct dispatch *d = (struct dispatch *)c;
    cl_command_queue q = c->queue;
    const bool prints = d->program->image.prints;
    if (prints && q->print_busy) {
        return RT_AGAIN;
    }
    const uint32_t empty = 0;
    if (prints) {
        q->print_busy = true;
        d->prints = true;
        if (tern_allocation_write(q->print, 0, &empty, sizeof empty) != 0) {
            give_back(d);
            return CL_OUT_OF_RESOURCES;
        }
    }
    const cl_int error = pack(d, out->words);
    if (error != CL_SUCCESS) {
        give_back(d);
        return error;
    }
    out->size = TERN_PKT_DISPATCH_LINES * TERN_PKT_LINE_BYTES;
    out->uses[0] = q->stack;
    out->uses[1] = d->prints ? q->print : NULL;
    for (int i = 0; i < 3; i++) {
        out->uses[2 + i] = d->program->parts.part[i];
    }
    out->uses[5] = d->program->image.locks ? q->context->locks : NULL;
    if (d->block == NULL) {
        const size_t before = d->in_local ? sizeof d->frames : 0;
        out->data = (const uint8_t *)d + offsetof(struct dispatch, args) - before;
        out->data_size = before + d->loaded->args_size;
    } else {
        out->uses[6] = d->block;
    }
    return CL_SUCCESS;
}

static void emit(void *user, const char *text, size_t length)
{
    (void)user;
    fwrite(text, 1, length, stdout);
}

/** Prints the records that the kernel wrote. */
static void print(struct dispatch *d)
{
    cl_command_queue q = d->base.queue;
    uint32_t used = 0;
    if (tern_allocation_read(q->print, 0, &used, sizeof used) != 0 || used == 0) {
        return;
    }
    const size_t size = used < RT_PRINTF_BYTES - sizeof used ? used + sizeof used : RT_PRINTF_BYTES;
    void *records = malloc(size);
    if (records != NULL && tern_allocation_read(q->print, 0, records, size) == 0) {
        tc_printf_format(&d->program->image, records, size, emit, NULL);
        fflush(stdout);
    }
    free(records);
}

static void dispatch_release(struct rt_command *c)
{
    struct dispatch *d = (struct dispatch *)c;
    if (d->prints && c->ended) {
        print(d);
    }
    give_back(d);
}

static void dispatch_explain(const struct rt_command *c, struct tern_fault *fault, char text[RT_FAULT_MORE])
{
    const struct dispatch *d = (const struct dispatch *)c;
    rt_explain_kernel(&(struct rt_scene){d->program, d->loaded, d->args, c->mems, c->n_mems}, fault, text);
    if (d->special.program != NULL && d->special.n > 1) {
        rt_special_explain(&d->special, &d->range, fault);
    } else if (d->coarse) {
        rt_coarse_explain(d->loaded, &d->range, &d->hardware, fault, text);
    } else if (memcmp(d->hardware.local, d->range.local, sizeof d->range.local) != 0) {
        rt_special_regroup(&d->range, fault);
    }
}

static void dispatch_clear(struct rt_command *c)
{
    struct dispatch *d = (struct dispatch *)c;
    if (d->block != NULL) {
        tern_allocation_destroy(d->block);
    }
    rt_object_drop(d->program);
    rt_object_drop(d->kernel);
}

static const struct rt_command_ops ops = {
    .build = dispatch_build, .release = dispatch_release, .explain = dispatch_explain, .clear = dispatch_clear};

/** Fills one argument that is not a value. */
static cl_int take_arg(struct dispatch *d, cl_kernel k, uint32_t i, uint32_t local_at)
{
    const struct tc_arg *t = &k->code->args[i];
    struct tern_image image;
    uint32_t address = TERN_WIN_LOCAL_BASE + local_at;
    cl_int error = CL_SUCCESS;
    if (t->kind == TC_IMAGE) {
        error = rt_kernel_use_image(k, i, &d->base, &image);
        if (error == CL_SUCCESS) {
            memcpy(d->args + t->offset, &image, sizeof image);
        }
        return error;
    }
    if (t->space != TC_LOCAL) {
        error = rt_kernel_use_arg(k, i, &d->base, &address);
    }
    if (error == CL_SUCCESS) {
        memcpy(d->args + t->offset, &address, sizeof address);
    }
    return error;
}

/** Puts the argument block into memory of its own. */
static cl_int take_block(struct dispatch *d, cl_kernel k)
{
    const uint32_t size = k->code->args_size;
    cl_int error = rt_context_allocate(k->program->context, size, &d->block);
    if (error == CL_MEM_OBJECT_ALLOCATION_FAILURE) {
        rt_context_refuse(k->program->context, RT_REFUSED_MEMORY, "no device memory for %u bytes of arguments of "
                          "kernel %s: %s", size, k->code->name, tern_last_error());
        error = CL_OUT_OF_RESOURCES;
    }
    if (error == CL_SUCCESS && tern_allocation_write(d->block, 0, d->args, size) != 0) {
        error = CL_OUT_OF_RESOURCES;
    }
    return error;
}

/** Fills the argument block: values and samplers, addresses of buffers and descriptors of images, which the command
 *  then holds, and offsets in local memory. */
static cl_int take_args(struct dispatch *d, cl_kernel k)
{
    const uint32_t *local = d->range.local, items = local[0] * local[1] * local[2];
    uint32_t local_at[TC_MAX_ARGS] = {0};
    d->use.local_bytes = (uint32_t)rt_kernel_local(k, items, local_at);
    memcpy(d->args, k->values, k->code->args_size);
    for (uint32_t i = 0; i < k->code->n_args; i++) {
        const enum tc_arg_kind kind = k->code->args[i].kind;
        const bool is_value = kind == TC_VALUE || kind == TC_SAMPLER;
        const cl_int error = is_value ? CL_SUCCESS : take_arg(d, k, i, local_at[i]);
        if (error != CL_SUCCESS) {
            return error;
        }
    }
    if (k->code->args_size > TERN_DATA_MAX) {
        const cl_int error = take_block(d, k);
        if (error != CL_SUCCESS) {
            return error;
        }
    }
    return rt_kernel_use_svm_pointers(k, &d->base);
}

static const struct tc_kernel *find(const struct rt_loaded *im, const char *name)
{
    for (size_t i = 0; i < im->image.kernels.n; i++) {
        if (strcmp(im->image.kernels.kernels[i].name, name) == 0) {
            return &im->image.kernels.kernels[i];
        }
    }
    return NULL;
}

/** Takes the code that the dispatch runs, and chooses the range of the hardware. */
static cl_int take_code(struct dispatch *d, cl_kernel k, const struct rt_range *range)
{
    const cl_context ctx = k->program->context;
    const cl_device_id device = ctx->device;
    cl_int error = rt_special_choose(k, range, &d->hardware, &d->special);
    d->program = d->special.program;
    if (error == CL_SUCCESS && d->program == NULL) {
        error = rt_binary_load(k->binary, ctx, &d->program);
    }
    if (error == CL_MEM_OBJECT_ALLOCATION_FAILURE) { /* the specification allows this error for buffers only */
        rt_context_refuse(ctx, RT_REFUSED_MEMORY, "no device memory for the program of kernel %s: %s", k->code->name,
                          tern_last_error());
        error = CL_OUT_OF_RESOURCES;
    }
    if (error != CL_SUCCESS) {
        return error;
    }
    d->loaded = find(d->program, k->code->name);
    if (d->loaded == NULL) {
        return CL_INVALID_PROGRAM_EXECUTABLE;
    }
    if (d->special.program != NULL && d->special.n > 1) {
        return CL_SUCCESS;
    }
    d->coarse = rt_coarse_choose(d->loaded, device->info.lanes, device->info.warps, device->engine_items, range,
                                 &d->hardware);
    if (!d->coarse && range->local[0] * range->local[1] * range->local[2] > device->engine_items) {
        /* the kernel does not see its groups */
        rt_group_choose(device->info.lanes, device->engine_items, range->dims, false, range->global, d->hardware.local);
    }
    return CL_SUCCESS;
}

/** Chooses how many groups are resident, and where frames are. The ranges and the code are known. */
static void take_engine(struct dispatch *d, const struct tern_device_info *info)
{
    const struct rt_range *r = &d->hardware;
    const uint32_t items = r->local[0] * r->local[1] * r->local[2];
    uint64_t groups = 1;
    for (int i = 0; i < 3; i++) {
        groups *= rt_group_count(r->global[i], r->local[i]);
    }
    d->use = rt_use_of(info, items, d->use.local_bytes * (d->special.program != NULL ? d->special.joined : 1));
    d->in_local = d->program->image.frames_entry != 0 && d->block == NULL &&
        d->loaded->args_size + sizeof d->frames <= TERN_DATA_MAX &&
        rt_frames_choose(info, d->coarse ? d->loaded->coarse_spills : d->loaded->spills, d->loaded->stack, items,
                         groups, &d->use, d->frames);
    d->frames[TC_FRAMES_WORDS - 1] = entry(d);
}

cl_int rt_dispatch_create(cl_command_queue queue, cl_command_type type, cl_kernel kernel, const struct rt_range *range,
                          cl_uint n_waits, const cl_event *waits, struct rt_command **out)
{
    const struct tern_device_info *info = &queue->context->device->info;
    const uint64_t threads = (uint64_t)info->warps * info->lanes;
    struct dispatch *d;
    const size_t bytes = sizeof(struct dispatch) + kernel->code->args_size;
    cl_int error = rt_command_create(bytes, &ops, queue, type, n_waits, waits, &d);
    if (error != CL_SUCCESS) {
        return error;
    }
    rt_object_hold(kernel);
    d->kernel = kernel;
    d->base.label = kernel->code->name;
    d->range = *range;
    error = take_args(d, kernel);
    if (error == CL_SUCCESS) {
        error = take_code(d, kernel, range);
    }
    if (error != CL_SUCCESS) {
        goto fail;
    }
    take_engine(d, info);
    d->stack_log2 = rt_kernel_stack_log2(d->loaded);
    error = rt_queue_reserve(queue, threads << d->stack_log2, d->program->image.prints);
    if (error == CL_MEM_OBJECT_ALLOCATION_FAILURE) {
        rt_context_refuse(queue->context, RT_REFUSED_PRIVATE, "no device memory for kernel %s: %u bytes of private "
                          "memory for each of the %" PRIu64 " work-items that an engine holds, in powers of two, are %"
                          PRIu64 " KiB: %s", kernel->code->name, d->loaded->stack, threads,
                          threads << d->stack_log2 >> 10, tern_last_error());
        error = CL_OUT_OF_RESOURCES;
    }
    if (error != CL_SUCCESS) {
        goto fail;
    }
    d->base.quick = !d->program->image.prints;
    *out = &d->base;
    return CL_SUCCESS;
fail:
    rt_command_free(&d->base);
    return error;
}
