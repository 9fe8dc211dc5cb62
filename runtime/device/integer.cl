/* SPDX-License-Identifier: Apache-2.0 */
/** Integer functions that the generic library lacks. */
#include "base.h"

#define DECLARE(TYPE)                                 \
    TYPE OVERLOAD mul_hi(TYPE a, TYPE b);             \
    TYPE OVERLOAD popcount(TYPE a);

#define DEFINE(TYPE)                                  \
    DECLARE(TYPE)                                     \
    CONST TYPE mad_hi(TYPE a, TYPE b, TYPE c)         \
    {                                                 \
        return mul_hi(a, b) + c;                      \
    }                                                 \
    CONST TYPE ctz(TYPE a)                            \
    {                                                 \
        return popcount((TYPE)(~a & (a - (TYPE)1)));  \
    }

#define WIDTHS(TYPE) DEFINE(TYPE) DEFINE(TYPE##2) DEFINE(TYPE##3) DEFINE(TYPE##4) DEFINE(TYPE##8) DEFINE(TYPE##16)

WIDTHS(char)
WIDTHS(uchar)
WIDTHS(short)
WIDTHS(ushort)
WIDTHS(int)
WIDTHS(uint)
WIDTHS(long)
WIDTHS(ulong)
