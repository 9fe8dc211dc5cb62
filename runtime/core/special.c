/* SPDX-License-Identifier: Apache-2.0 */
/** Specialised dispatches (special.h). */
#include "runtime/core/special.h"

#include <stdio.h>
#include <string.h>

#include "runtime/core/fault.h"
#include "runtime/core/frames.h"

#define MERGED_MAX 16u /* work-items that are merged at most */
#define FEWER 4u /* the part of a kernel's accesses of its frame that a known local size must save, to gain */
#define LEAST 4u /* work-items that are merged to gain, at least */
#define BUSY 2u /* times that a range must fill an engine with joined groups, so that few warps wait for the last one */

/** Finds the dimension in which n work-items of a group can be merged: the last one, so that neighbours in x stay
 *  neighbours. 0: there is none. */
static bool find_axis(const uint32_t local[3], uint32_t n, unsigned *axis)
{
    for (unsigned a = 3; a-- > 0;) {
        if (local[a] > 1 && local[a] % n == 0) {
            *axis = a;
            return true;
        }
    }
    return false;
}

/** Plans how a group that does not fit an engine is merged. */
static bool plan_large(uint32_t items, uint32_t room, struct tc_special *s)
{
    for (s->n = (items + room - 1) / room; s->n <= MERGED_MAX; s->n++) {
        if (find_axis(s->local, s->n, &s->axis)) {
            return true;
        }
    }
    return false;
}

/** True: the range still fills an engine if each work-item of the hardware runs n of its work-items. A kernel runs on
 *  one engine. */
static bool fills(const struct tern_device_info *info, const struct rt_range *r, uint32_t n)
{
    uint64_t all = 1;
    for (int i = 0; i < 3; i++) {
        all *= r->global[i];
    }
    return all >= (uint64_t)n * info->lanes * info->warps;
}

/** Plans a merge that is to gain: as many work-items as leave whole warps that fill an engine. */
static bool plan_small(const struct tern_device_info *info, uint32_t items, const struct rt_range *r,
                       struct tc_special *s)
{
    for (s->n = MERGED_MAX; s->n >= LEAST; s->n /= 2) {
        if (items % (s->n * info->lanes) == 0 && fills(info, r, s->n) && find_axis(s->local, s->n, &s->axis)) {
            return true;
        }
    }
    return false;
}

/** Plans how many groups may be joined: their number in the dimension is a multiple, they fill the engine several
 *  times, and as many warps find local memory as without. */
static void plan_joined(cl_kernel k, const struct tern_device_info *info, const struct rt_range *r,
                        struct tc_special *s)
{
    const uint32_t items = r->local[0] * r->local[1] * r->local[2];
    const uint32_t groups = r->global[s->axis] / r->local[s->axis];
    s->apart = (uint32_t)rt_kernel_local(k, items, NULL);
    const uint32_t slots = rt_use_of(info, items / s->n, s->apart).slots;
    s->joined = 1;
    while (2 * s->joined * s->n <= MERGED_MAX && groups % (2 * s->joined) == 0 &&
           fills(info, r, 2 * s->joined * s->n * BUSY) && 2ull * s->joined * s->apart <= info->local_bytes &&
           rt_use_of(info, items / s->n, 2 * s->joined * s->apart).slots == slots) {
        s->joined *= 2;
    }
}

unsigned rt_special_group_max(cl_kernel k)
{
    const cl_device_id d = k->program->context->device;
    return k->code->groups && k->code->merges == TC_MERGES_NEVER ? d->engine_items : d->group_max;
}

static cl_int refuse(cl_kernel k, const struct rt_range *r, const char *why)
{
    const cl_device_id d = k->program->context->device;
    rt_context_refuse(k->program->context, RT_REFUSED_GROUP, "kernel %s cannot run in groups of %ux%ux%u work-items, "
                      "because %s; groups of at most %u always run", k->code->name, r->local[0], r->local[1],
                      r->local[2], why, d->engine_items);
    return CL_INVALID_WORK_GROUP_SIZE;
}

/** True: a kernel whose work-items are not merged gains by its known local size. Values that follow from the size are
 *  constants then, and more of the others are in registers. Fewer instructions alone need not be a gain. */
static bool has_fewer_spills(const struct tc_kernel *plain, const struct tc_kernel *made)
{
    return made->merged == 1 && made->spills != 0 && made->spills < plain->spills - plain->spills / FEWER;
}

/** True: a kernel is there that is merged, has fewer spills, has a coarse entry or must not see its groups, and fits
 *  what was planned for the kernel itself: its block of arguments, and the local arguments, which lie behind the
 *  kernel's local variables; and its work-items have enough private memory. */
static bool is_usable(cl_kernel k, const struct tc_special *s, const struct rt_binary *b)
{
    const struct tc_kernel *made = b != NULL ? &b->kernels.kernels[0] : NULL;
    return made != NULL && (made->merged > 1 || (s->n == 1 && !made->groups && (made->coarse > 0 || s->must)) ||
                            (s->n > 1 && !s->must && has_fewer_spills(k->code, made))) &&
        made->args_size == k->code->args_size &&
        made->local_static <= k->code->local_static && rt_kernel_stack_log2(made) <= RT_STACK_LOG2_MAX;
}

/** Takes the specialised kernel from the binary. Without a program in *out, it is not to be had and not needed. */
static cl_int take(cl_kernel k, const struct tc_special *s, struct rt_special *out)
{
    const cl_context ctx = k->program->context;
    struct rt_binary *b = NULL;
    cl_int error = rt_binary_special(k->binary, s, &b);
    if (error == CL_SUCCESS && s->must && !is_usable(k, s, b)) {
        rt_context_refuse(ctx, RT_REFUSED_GROUP, "kernel %s cannot be compiled for groups of %ux%ux%u work-items",
                          k->code->name, s->local[0], s->local[1], s->local[2]);
        error = CL_OUT_OF_RESOURCES;
    }
    if (error == CL_SUCCESS && is_usable(k, s, b)) {
        error = rt_binary_load(b, ctx, &out->program);
        out->n = b->kernels.kernels[0].merged;
        out->axis = s->axis;
        out->joined = b->kernels.kernels[0].joined > 1 ? b->kernels.kernels[0].joined : 1;
    }
    rt_object_drop(b);
    return error;
}

cl_int rt_special_choose(cl_kernel k, const struct rt_range *range, struct rt_range *hardware, struct rt_special *out)
{
    const cl_device_id d = k->program->context->device;
    const uint32_t items = range->local[0] * range->local[1] * range->local[2];
    struct tc_special s = {.kernel = k->code->name, .joined = 1, .lanes = d->info.lanes};
    bool whole = true;
    memcpy(s.local, range->local, sizeof s.local);
    *hardware = *range;
    if (k->code->merges == TC_MERGES_NEVER) {
        return CL_SUCCESS;
    }
    for (int i = 0; i < 3; i++) {
        whole = whole && range->global[i] % range->local[i] == 0;
    }
    s.must = items > d->engine_items;
    if (s.must && !whole) {
        return refuse(k, range, "they do not divide the global size");
    }
    if (k->code->merges == TC_MERGES_BY_IDS) {
        s.n = 1;
        if (!s.must && (!whole || !fills(&d->info, range, 1))) {
            return CL_SUCCESS;
        }
    } else if (s.must) {
        if (!plan_large(items, d->engine_items, &s)) {
            return refuse(k, range, "no size of theirs can be divided so that they fit an engine");
        }
    } else if (k->code->merges != TC_MERGES_TO_GAIN || !whole || !plan_small(&d->info, items, range, &s)) {
        return CL_SUCCESS;
    }
    if (s.n > 1 && !s.must) {
        plan_joined(k, &d->info, range, &s);
    }
    const cl_int error = take(k, &s, out);
    if (error == CL_SUCCESS && out->program != NULL) {
        hardware->global[out->axis] /= out->n * out->joined;
        hardware->local[out->axis] /= out->n;
    }
    return error;
}

void rt_special_regroup(const struct rt_range *range, struct tern_fault *fault)
{
    uint32_t group[3];
    char text[64];
    for (int i = 0; i < 3; i++) {
        group[i] = (fault->item[i] - range->offset[i]) / range->local[i];
    }
    snprintf(text, sizeof text, " of group (%u, %u, %u)", group[0], group[1], group[2]);
    if (rt_fault_replace(fault, " of group (", text)) {
        memcpy(fault->group, group, sizeof group);
    }
}

void rt_special_explain(const struct rt_special *s, const struct rt_range *range, struct tern_fault *fault)
{
    uint32_t id[3];
    char who[240];
    memcpy(id, fault->item, sizeof id);
    const uint32_t apart = range->local[s->axis] / s->n;
    const uint32_t number = id[s->axis] - range->offset[s->axis];
    id[s->axis] += number / apart * (range->local[s->axis] * s->joined - apart);
    snprintf(who, sizeof who, "one of %u work-items that are %u apart in %c, the first of them (%u, %u, %u)", s->n,
             apart, "xyz"[s->axis], id[0], id[1], id[2]);
    if (s->joined > 1) {
        const size_t length = strlen(who);
        snprintf(who + length, sizeof who - length, ", and those in the same places of the next %u group%s in %c",
                 s->joined - 1, s->joined > 2 ? "s" : "", "xyz"[s->axis]);
    }
    rt_fault_name_items(fault, who);
}
