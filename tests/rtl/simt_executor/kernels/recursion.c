/* SPDX-License-Identifier: Apache-2.0 */
/* Calls whose depth differs from lane to lane, and nested conditions. */
#include "tern_kernel.h"

__attribute__((noinline)) static u32 fib(u32 n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

__attribute__((noinline)) static u32 collatz(u32 n)
{
    u32 steps = 0;
    while (n != 1) {
        if (n & 1u) {
            n = 3 * n + 1;
        } else {
            n >>= 1;
        }
        steps++;
    }
    return steps;
}

KERNEL(const u32 *args)
{
    u32 i = GLOBAL_X, r;
    if (i % 3 == 0) {
        r = fib(i % 7);
    } else if (i % 3 == 1) {
        r = collatz(i + 1);
    } else {
        r = fib(i % 5) + collatz(i);
    }
    switch (i % 5) {
    case 0:
        r += 100;
        break;
    case 1:
        r = fib(r % 6);
        break;
    case 3:
        EXIT();
    default:
        r ^= 0x55;
        break;
    }
    ((u32 *)args[0])[i] = r;
    EXIT();
}
