/* SPDX-License-Identifier: Apache-2.0 */
/** Built-in kernels (builtin.h). */
#include "runtime/core/builtin.h"

#include <stdlib.h>
#include <string.h>
#include <tern/tern_spec.h>

#include "runtime/core/queue.h"

#define PAYLOAD_WORDS 16u

struct call {
    struct rt_command base;
    cl_kernel kernel; /**< Held. */
    struct tern_pkt_user_call packet;
};

cl_int rt_builtin_names(cl_device_id d, const struct rt_answer *a)
{
    size_t size = 1;
    for (uint32_t i = 0; i < d->info.executors; i++) {
        size += strlen(tern_executor_find(i)->name) + 1;
    }
    char *all = calloc(1, size);
    if (all == NULL) {
        return CL_OUT_OF_HOST_MEMORY;
    }
    for (uint32_t i = 0; i < d->info.executors; i++) {
        strcat(strcat(all, i == 0 ? "" : ";"), tern_executor_find(i)->name);
    }
    const cl_int error = rt_answer_string(a, all);
    free(all);
    return error;
}

cl_int rt_builtin_versions(cl_device_id d, const struct rt_answer *a)
{
    cl_name_version all[TERN_EXECUTORS];
    for (uint32_t i = 0; i < d->info.executors; i++) {
        const struct tern_executor *x = tern_executor_find(i);
        const uint32_t v = x->version;
        all[i] = rt_name_version(x->name, CL_VERSION_MAJOR(v), CL_VERSION_MINOR(v), CL_VERSION_PATCH(v));
    }
    return rt_answer_bytes(a, all, d->info.executors * sizeof *all);
}

/** Describes a kernel as the compiler would; its argument block is the payload of the packet. */
static bool describe(const struct tern_executor *x, struct tc_kernel *out)
{
    out->name = strdup(x->name);
    out->attributes = strdup("");
    out->args = calloc(x->n_args + (size_t)1, sizeof *out->args);
    if (out->name == NULL || out->attributes == NULL || out->args == NULL) {
        return false;
    }
    out->args_size = PAYLOAD_WORDS * 4;
    out->arg_info = 1;
    for (uint32_t i = 0; i < x->n_args; i++) {
        const struct tern_executor_arg *from = &x->args[i];
        struct tc_arg *to = &out->args[out->n_args++];
        *to = (struct tc_arg){
            .name = strdup(from->name),
            .type = strdup(from->type),
            .space = from->pointer ? TC_GLOBAL : TC_PRIVATE,
            .type_qualifier = from->constant ? CL_KERNEL_ARG_TYPE_CONST : CL_KERNEL_ARG_TYPE_NONE,
            .kind = from->pointer ? TC_POINTER : TC_VALUE,
            .size = from->words * 4u,
            .offset = from->word * 4u,
        };
        if (to->name == NULL || to->type == NULL) {
            return false;
        }
    }
    return true;
}

/** Marks the executor of this name as chosen. False: there is none. */
static bool choose(const struct tern_device_info *info, const char *name, size_t length, bool chosen[TERN_EXECUTORS])
{
    for (uint32_t i = 0; i < info->executors; i++) {
        const char *known = tern_executor_find(i)->name;
        if (strlen(known) == length && memcmp(known, name, length) == 0) {
            chosen[i] = true;
            return true;
        }
    }
    return false;
}

cl_int rt_builtin_program(cl_context ctx, const char *names, cl_program *out)
{
    bool chosen[TERN_EXECUTORS] = {false};
    for (const char *at = names;; at++) {
        const size_t length = strcspn(at, ";");
        if (!choose(&ctx->device->info, at, length, chosen)) {
            return CL_INVALID_VALUE;
        }
        at += length;
        if (*at == '\0') {
            break;
        }
    }
    struct tc_kernels kernels = {.kernels = calloc(TERN_EXECUTORS, sizeof *kernels.kernels)};
    uint32_t *ids = calloc(TERN_EXECUTORS, sizeof *ids);
    bool ok = kernels.kernels != NULL && ids != NULL;
    for (uint32_t i = 0; i < TERN_EXECUTORS && ok; i++) {
        if (chosen[i]) {
            ids[kernels.n] = i;
            ok = describe(tern_executor_find(i), &kernels.kernels[kernels.n++]);
        }
    }
    struct rt_binary *b = ok ? rt_binary_create_builtin(&kernels, ids) : NULL;
    if (b == NULL) {
        tc_kernels_free(&kernels);
        free(ids);
        return CL_OUT_OF_HOST_MEMORY;
    }
    return rt_program_create_builtin(ctx, b, out);
}

static uint32_t id_of(cl_kernel k)
{
    return k->binary->executors[k->code - k->binary->kernels.kernels];
}

bool rt_builtin_is(cl_kernel k)
{
    return k->binary->executors != NULL;
}

void rt_builtin_most(cl_kernel k, size_t most[3])
{
    for (int i = 0; i < 3; i++) {
        most[i] = tern_executor_find(id_of(k))->global_max[i];
    }
}

cl_int rt_builtin_shape(cl_kernel k, const size_t *local, struct rt_range *range)
{
    const struct tern_executor *x = tern_executor_find(id_of(k));
    for (unsigned i = 0; i < 3; i++) {
        if (range->global[i] > x->global_max[i]) {
            return CL_INVALID_GLOBAL_WORK_SIZE;
        }
        if (range->offset[i] > x->offset_max[i]) {
            return CL_INVALID_GLOBAL_OFFSET;
        }
    }
    for (unsigned i = 0; i < 3; i++) {
        const size_t l = i < range->dims && local != NULL ? local[i] : 1;
        if (l > k->program->context->device->group_max) {
            return CL_INVALID_WORK_ITEM_SIZE;
        }
        if (l != 1) {
            return CL_INVALID_WORK_GROUP_SIZE;
        }
        range->local[i] = 1;
    }
    return CL_SUCCESS;
}

static cl_int call_build(struct rt_command *c, struct rt_packets *out)
{
    tern_assert_held(&c->queue->memory_lock);
    const struct call *d = (const struct call *)c;
    if (tern_pkt_user_call_pack(&d->packet, out->words) != 0) {
        return CL_OUT_OF_RESOURCES;
    }
    out->size = TERN_PKT_USER_CALL_LINES * TERN_PKT_LINE_BYTES;
    return CL_SUCCESS;
}

static void call_clear(struct rt_command *c)
{
    rt_object_drop(((struct call *)c)->kernel);
}

static const struct rt_command_ops ops = {.build = call_build, .clear = call_clear};

/** Fills the payload: values, addresses of buffers, which the command then holds, and the members that depend on the
 *  range. */
static cl_int take_payload(struct call *d, cl_kernel k, const struct rt_range *range)
{
    const struct tern_executor *x = tern_executor_find(d->packet.executor);
    uint32_t *payload = d->packet.payload;
    _Static_assert(sizeof d->packet.payload == 4 * PAYLOAD_WORDS, "the payload is the argument block");
    memcpy(payload, k->values, 4 * PAYLOAD_WORDS);
    for (uint32_t i = 0; i < x->n_args; i++) {
        if (x->args[i].pointer) {
            const cl_int error = rt_kernel_use_arg(k, i, &d->base, &payload[x->args[i].word]);
            if (error != CL_SUCCESS) {
                return error;
            }
        }
    }
    for (uint32_t i = 0; i < x->n_ranges; i++) {
        const struct tern_executor_range *r = &x->ranges[i];
        payload[r->word] = r->offset ? range->offset[r->dim] : range->global[r->dim];
    }
    return rt_kernel_use_svm_pointers(k, &d->base);
}

cl_int rt_builtin_create(cl_command_queue queue, cl_command_type type, cl_kernel k, const struct rt_range *range,
                         cl_uint n_waits, const cl_event *waits, struct rt_command **out)
{
    struct call *d;
    cl_int error = rt_command_create(sizeof *d, &ops, queue, type, n_waits, waits, &d);
    if (error != CL_SUCCESS) {
        return error;
    }
    rt_object_hold(k);
    d->kernel = k;
    d->base.label = k->code->name;
    d->base.quick = true;
    d->packet.executor = id_of(k);
    error = take_payload(d, k, range);
    if (error != CL_SUCCESS) {
        rt_command_free(&d->base);
        return error;
    }
    *out = &d->base;
    return CL_SUCCESS;
}
