/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The functions that all work-items of a group call together (OpenCL C, 6.15.16). The work-items exchange values in
 * local memory. Each function ends with a barrier, so that calls may follow each other.
 */
#include "base.h"

void OVERLOAD barrier(cl_mem_fence_flags flags);
size_t OVERLOAD get_local_linear_id(void);
size_t OVERLOAD get_local_size(uint d);
local uint *__tern_words(void);
local ulong *__tern_double_words(void);
uint __tern_items(void); /* work-items of the group, also of the last, smaller one (workitem.c) */

/** Returns whether `value` is set in all work-items or, with `any`, in one of them. */
static inline int vote(int value, int any)
{
    local int *flag = (local int *)__tern_words();
    if (get_local_linear_id() == 0) {
        *flag = !any;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if ((value != 0) == any) {
        *flag = any;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const int result = *flag;
    barrier(CLK_LOCAL_MEM_FENCE);
    return result;
}

INLINE int work_group_all(int value)
{
    return vote(value, 0);
}

INLINE int work_group_any(int value)
{
    return vote(value, 1);
}

#define ADD(a, b) ((a) + (b))
#define MIN(a, b) ((b) < (a) ? (b) : (a))
#define MAX(a, b) ((a) < (b) ? (b) : (a))

/* Steps of the scan: after the step of distance d, a work-item has the result of the 2 * d values up to its own.
 * Example with ADD and the values 1 2 3 4: 1 3 5 7 after the first step, 1 3 6 10 after the second. */
#define SCAN(TYPE, place, NAME, OP, FIRST)                                                \
    static inline TYPE scan_##NAME##_##TYPE(TYPE x)                                       \
    {                                                                                     \
        local TYPE *all = (local TYPE *)place();                                          \
        const size_t l = get_local_linear_id(), n = __tern_items();                       \
        all[l] = x;                                                                       \
        barrier(CLK_LOCAL_MEM_FENCE);                                                     \
        for (size_t d = 1; d < n; d *= 2) {                                               \
            const TYPE before = all[l < d ? l : l - d];                                   \
            barrier(CLK_LOCAL_MEM_FENCE);                                                 \
            x = l < d ? x : OP(before, x);                                                \
            all[l] = x;                                                                   \
            barrier(CLK_LOCAL_MEM_FENCE);                                                 \
        }                                                                                 \
        return x;                                                                         \
    }                                                                                     \
    INLINE TYPE work_group_scan_inclusive_##NAME(TYPE x)                                  \
    {                                                                                     \
        x = scan_##NAME##_##TYPE(x);                                                      \
        barrier(CLK_LOCAL_MEM_FENCE);                                                     \
        return x;                                                                         \
    }                                                                                     \
    INLINE TYPE work_group_scan_exclusive_##NAME(TYPE x)                                  \
    {                                                                                     \
        const size_t l = get_local_linear_id();                                           \
        scan_##NAME##_##TYPE(x);                                                          \
        x = l == 0 ? (TYPE)(FIRST) : ((local TYPE *)place())[l - 1];                      \
        barrier(CLK_LOCAL_MEM_FENCE);                                                     \
        return x;                                                                         \
    }                                                                                     \
    INLINE TYPE work_group_reduce_##NAME(TYPE x)                                          \
    {                                                                                     \
        scan_##NAME##_##TYPE(x);                                                          \
        x = ((local TYPE *)place())[__tern_items() - 1];                                  \
        barrier(CLK_LOCAL_MEM_FENCE);                                                     \
        return x;                                                                         \
    }

/* The value of the work-item with this linear id. */
#define BROADCAST(TYPE, place)                                                            \
    static inline TYPE from_##TYPE(TYPE x, size_t item)                                   \
    {                                                                                     \
        local TYPE *one = (local TYPE *)place();                                          \
        if (get_local_linear_id() == item) {                                              \
            *one = x;                                                                     \
        }                                                                                 \
        barrier(CLK_LOCAL_MEM_FENCE);                                                     \
        x = *one;                                                                         \
        barrier(CLK_LOCAL_MEM_FENCE);                                                     \
        return x;                                                                         \
    }                                                                                     \
    INLINE TYPE work_group_broadcast(TYPE a, size_t x)                                    \
    {                                                                                     \
        return from_##TYPE(a, x);                                                         \
    }                                                                                     \
    INLINE TYPE work_group_broadcast(TYPE a, size_t x, size_t y)                          \
    {                                                                                     \
        return from_##TYPE(a, y * get_local_size(0) + x);                                 \
    }                                                                                     \
    INLINE TYPE work_group_broadcast(TYPE a, size_t x, size_t y, size_t z)                \
    {                                                                                     \
        return from_##TYPE(a, (z * get_local_size(1) + y) * get_local_size(0) + x);       \
    }

#define ALL(TYPE, place, LEAST, GREATEST)                                                 \
    SCAN(TYPE, place, add, ADD, 0)                                                        \
    SCAN(TYPE, place, min, MIN, GREATEST)                                                 \
    SCAN(TYPE, place, max, MAX, LEAST)                                                    \
    BROADCAST(TYPE, place)

ALL(int, __tern_words, INT_MIN, INT_MAX)
ALL(uint, __tern_words, 0, UINT_MAX)
ALL(float, __tern_words, -INFINITY, INFINITY)
ALL(long, __tern_double_words, LONG_MIN, LONG_MAX)
ALL(ulong, __tern_double_words, 0, ULONG_MAX)
ALL(double, __tern_double_words, -INFINITY, INFINITY)
