/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Asynchronous copies, executed at once by the whole work-group. Of n work-items, work-item i copies elements i, i + n,
 * i + 2n ..., so neighbours access neighbouring words, which the hardware combines. Waiting is a barrier. A vector of
 * three elements counts as one of four.
 */
#include "base.h"

void OVERLOAD barrier(cl_mem_fence_flags flags);
size_t OVERLOAD get_local_linear_id(void);
uint __tern_items(void);

#define COPY(TO, FROM, TYPE)                                                                                        \
    OVERLOAD event_t async_work_group_copy(TO TYPE *to, const FROM TYPE *from, size_t n, event_t event)             \
    {                                                                                                               \
        for (uint i = get_local_linear_id(); i < n; i += __tern_items()) {                                          \
            to[i] = from[i];                                                                                        \
        }                                                                                                           \
        return event;                                                                                               \
    }

#define COPIES(TYPE)                                                                                                \
    COPY(__local, __global, TYPE)                                                                                   \
    COPY(__global, __local, TYPE)                                                                                   \
    OVERLOAD event_t async_work_group_strided_copy(__local TYPE *to, const __global TYPE *from, size_t n,           \
                                                   size_t stride, event_t event)                                    \
    {                                                                                                               \
        for (uint i = get_local_linear_id(); i < n; i += __tern_items()) {                                          \
            to[i] = from[i * stride];                                                                               \
        }                                                                                                           \
        return event;                                                                                               \
    }                                                                                                               \
    OVERLOAD event_t async_work_group_strided_copy(__global TYPE *to, const __local TYPE *from, size_t n,           \
                                                   size_t stride, event_t event)                                    \
    {                                                                                                               \
        for (uint i = get_local_linear_id(); i < n; i += __tern_items()) {                                          \
            to[i * stride] = from[i];                                                                               \
        }                                                                                                           \
        return event;                                                                                               \
    }                                                                                                               \
    INLINE void prefetch(const __global TYPE *p, size_t n)                                                          \
    {                                                                                                               \
        (void)p;                                                                                                    \
        (void)n;                                                                                                    \
    }

#define WIDTHS(TYPE) COPIES(TYPE) COPIES(TYPE##2) COPIES(TYPE##3) COPIES(TYPE##4) COPIES(TYPE##8) COPIES(TYPE##16)

WIDTHS(char)
WIDTHS(uchar)
WIDTHS(short)
WIDTHS(ushort)
WIDTHS(int)
WIDTHS(uint)
WIDTHS(long)
WIDTHS(ulong)
WIDTHS(float)
WIDTHS(double)

OVERLOAD void wait_group_events(int n, event_t *list)
{
    (void)n;
    (void)list;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
}
