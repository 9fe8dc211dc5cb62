/* SPDX-License-Identifier: Apache-2.0 */
/** clGetKernelSubGroupInfo: a sub-group is a warp of the device. */
#include <string.h>

#include "runtime/core/builtin.h"
#include "runtime/core/kernel.h"
#include "runtime/core/special.h"

/** Work-items of a local size of n dimensions; 0: it is no local size of the kernel. */
static size_t count_items(cl_kernel k, size_t n, const size_t *local)
{
    const size_t most = rt_special_group_max(k);
    size_t items = 1;
    for (size_t i = 0; i < n; i++) {
        items = local[i] > most ? 0 : items * local[i];
    }
    return items > most ? 0 : items;
}

/** The local size of n dimensions that has this number of sub-groups; zeros: there is none. */
static cl_int answer_local_size(cl_kernel k, size_t sub_groups, size_t n, const struct rt_answer *a)
{
    const size_t lanes = k->program->context->device->info.lanes;
    const uint32_t *required = k->code->required_size;
    size_t local[3] = {0};
    if (sub_groups != 0 && sub_groups <= rt_special_group_max(k) / lanes) {
        const size_t whole[3] = {sub_groups * lanes, 1, 1};
        memcpy(local, whole, sizeof local);
    }
    if (required[0] != 0) {
        const size_t fixed[3] = {required[0], required[1], required[2]};
        const size_t items = fixed[0] * fixed[1] * fixed[2];
        const bool fits = (items + lanes - 1) / lanes == sub_groups && (n > 2 || fixed[2] == 1) &&
            (n > 1 || fixed[1] == 1);
        memcpy(local, fits ? fixed : (const size_t[3]){0}, sizeof local);
    }
    return rt_answer_bytes(a, local, n * sizeof local[0]);
}

cl_int rt_kernel_query_sub_group(cl_kernel k, cl_kernel_sub_group_info name, size_t size, const void *input,
                                 const struct rt_answer *a)
{
    const size_t lanes = k->program->context->device->info.lanes, dims = size / sizeof(size_t);
    const bool by_range = name == CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE ||
        name == CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE;
    size_t local[3], count;
    if (rt_builtin_is(k)) { /* it has one work-item, and no code that knows of sub-groups */
        return CL_INVALID_KERNEL;
    }
    if (by_range) {
        if (input == NULL || size % sizeof(size_t) != 0 || dims < 1 || dims > 3) {
            return CL_INVALID_VALUE;
        }
        memcpy(local, input, size);
        const size_t items = count_items(k, dims, local);
        if (items == 0) {
            return CL_INVALID_VALUE;
        }
        return rt_answer_size(a, name == CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE ? (items + lanes - 1) / lanes : lanes);
    }
    switch (name) {
    case CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT:
        if (input == NULL || size != sizeof count || (a->dst != NULL && a->cap % sizeof count != 0)) {
            return CL_INVALID_VALUE;
        }
        memcpy(&count, input, sizeof count);
        return answer_local_size(k, count, a->dst == NULL || a->cap > sizeof local ? 3 : a->cap / sizeof count, a);
    case CL_KERNEL_MAX_NUM_SUB_GROUPS:
        return rt_answer_size(a, rt_special_group_max(k) / lanes);
    case CL_KERNEL_COMPILE_NUM_SUB_GROUPS: /* OpenCL C has no attribute for it */
        return rt_answer_size(a, 0);
    default:
        return CL_INVALID_VALUE;
    }
}
