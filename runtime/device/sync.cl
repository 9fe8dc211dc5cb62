/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Barriers and fences. The barrier instruction also orders memory for the whole work-group, because an executor sends
 * its accesses to memory in order. A fence is the RISC-V instruction.
 */
#include "base.h"

#define BARRIER() __asm__ volatile(".insn i 0x0b, 0, x0, x0, 0" ::: "memory")

INLINE void barrier(cl_mem_fence_flags flags)
{
    (void)flags;
    BARRIER();
}

INLINE void work_group_barrier(cl_mem_fence_flags flags)
{
    (void)flags;
    BARRIER();
}

INLINE void work_group_barrier(cl_mem_fence_flags flags, memory_scope scope)
{
    (void)flags;
    (void)scope;
    BARRIER();
}

INLINE void mem_fence(cl_mem_fence_flags flags)
{
    (void)flags;
    __asm__ volatile("fence rw, rw" ::: "memory");
}

INLINE void read_mem_fence(cl_mem_fence_flags flags)
{
    (void)flags;
    __asm__ volatile("fence r, r" ::: "memory");
}

INLINE void write_mem_fence(cl_mem_fence_flags flags)
{
    (void)flags;
    __asm__ volatile("fence w, w" ::: "memory");
}
