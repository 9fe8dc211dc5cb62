/* SPDX-License-Identifier: Apache-2.0 */
/* c[i] = a[i] + b[i]; args has the addresses of a, b and c. */
#include "tern_kernel.h"

KERNEL(const u32 *args)
{
    u32 i = GLOBAL_X;
    ((float *)args[2])[i] = ((const float *)args[0])[i] + ((const float *)args[1])[i];
    EXIT();
}
