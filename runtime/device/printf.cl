/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Returns room for a printf record of `bytes` bytes, or NULL. CSR user0 has the address of the buffer, CSR user1 its
 * size in bytes. Word 0 of the buffer counts the requested bytes. The first work-item without room writes a zero where
 * the host would look for the next record. When the buffer is full no work-item adds to the counter, so it cannot wrap.
 */
#include "base.h"

uint __tern_user0(void);
uint __tern_user1(void);

__global uint *__tern_printf_begin(uint bytes)
{
    __global uint *buffer = (__global uint *)(size_t)__tern_user0();
    uint room = __tern_user1();
    if (room < 8 || *(volatile __global uint *)buffer > room - 4) {
        return 0;
    }
    room -= 4;
    uint at = __atomic_fetch_add(buffer, bytes, __ATOMIC_RELAXED);
    if (at <= room && bytes <= room - at) {
        return buffer + 1 + at / 4;
    }
    if (at <= room - 4) {
        buffer[1 + at / 4] = 0;
    }
    return 0;
}
