/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The generic address space. Named address spaces are windows of one address space, so casts are free, and an address
 * shows its space.
 */
#include "base.h"
#include "spec.h"

static inline __attribute__((always_inline)) int in_local(const void *p)
{
    return (uint)(size_t)p - TERN_WIN_LOCAL_BASE < TERN_WIN_LOCAL_SIZE;
}

static inline __attribute__((always_inline)) int in_private(const void *p)
{
    return (uint)(size_t)p - TERN_WIN_PRIVATE_BASE < TERN_WIN_PRIVATE_SIZE;
}

__global void *__to_global(void *p)
{
    return in_local(p) || in_private(p) ? 0 : (__global void *)(size_t)p;
}

__local void *__to_local(void *p)
{
    return in_local(p) ? (__local void *)(size_t)p : 0;
}

__private void *__to_private(void *p)
{
    return in_private(p) ? (__private void *)(size_t)p : 0;
}

INLINE cl_mem_fence_flags get_fence(const void *p)
{
    return in_local(p) ? CLK_LOCAL_MEM_FENCE : CLK_GLOBAL_MEM_FENCE;
}

INLINE cl_mem_fence_flags get_fence(void *p)
{
    return in_local(p) ? CLK_LOCAL_MEM_FENCE : CLK_GLOBAL_MEM_FENCE;
}
