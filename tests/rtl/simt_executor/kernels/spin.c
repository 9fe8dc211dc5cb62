/* SPDX-License-Identifier: Apache-2.0 */
/* A spin lock that the lanes of a warp take one after the other, in ways that deadlock a scheduler without fairness
 * among lanes; a counter with compare and swap; one with lr/sc; and a lock in local memory. */
#include "tern_kernel.h"

static u32 swap(volatile u32 *p, u32 v)
{
    u32 old;
    __asm__ volatile("amoswap.w.aqrl %0, %2, (%1)" : "=r"(old) : "r"(p), "r"(v) : "memory");
    return old;
}

static void add_reserved(volatile u32 *p, u32 v)
{
    u32 t, failed;
    do {
        __asm__ volatile("lr.w %0, (%2)\n add %0, %0, %3\n sc.w %1, %0, (%2)"
                         : "=&r"(t), "=&r"(failed)
                         : "r"(p), "r"(v)
                         : "memory");
    } while (failed);
}

static void add_compared(volatile u32 *p, u32 v)
{
    u32 seen = *p, expected;
    do {
        expected = seen;
        __asm__ volatile(".insn r 0x2f, 2, 0x14, %0, %1, %2" : "+r"(seen) : "r"(p), "r"(expected + v) : "memory");
    } while (seen != expected);
}

KERNEL(const u32 *args)
{
    volatile u32 *lock = (volatile u32 *)args[0], *count = lock + 32;
    if (LOCAL_ID == 0) { /* local memory has the contents of the last group */
        LOCAL_MEMORY[0] = 0;
        LOCAL_MEMORY[1] = 0;
    }
    BARRIER();
    while (swap(lock, 1)) {
    }
    count[0] += 3;
    add_reserved(count + 1, 5); /* under the lock, because an engine has one reservation */
    __asm__ volatile("fence" ::: "memory");
    swap(lock, 0);

    add_compared(count + 2, GLOBAL_X);

    while (swap(LOCAL_MEMORY, 1)) {
    }
    LOCAL_MEMORY[1] += GLOBAL_X;
    swap(LOCAL_MEMORY, 0);
    BARRIER();
    if (LOCAL_ID == 0) {
        ((u32 *)args[1])[GROUP_ID] = LOCAL_MEMORY[1];
    }
    EXIT();
}
