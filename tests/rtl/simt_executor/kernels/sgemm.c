/* SPDX-License-Identifier: Apache-2.0 */
/* C = A * B of square matrices, one work-item for each element. */
#include "tern_kernel.h"

KERNEL(const u32 *args)
{
    u32 n = args[3], x = GLOBAL_X, y = GLOBAL_Y;
    const float *a = (const float *)args[0] + y * n, *b = (const float *)args[1] + x;
    float sum = 0;
#pragma clang loop unroll_count(4)
    for (u32 k = 0; k < n; k++) {
        sum += a[k] * b[k * n];
    }
    ((float *)args[2])[y * n + x] = sum;
    EXIT();
}
