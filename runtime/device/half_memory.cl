/* SPDX-License-Identifier: Apache-2.0 */
/** Functions of half that move values: those of ushort, which has the same bits; and those of a group, by float. */
#include "half_base.h"

#define LOAD_N(SPACE, N)                                                     \
    ushort##N OVERLOAD vload##N(size_t i, const SPACE ushort *p);            \
    INLINE half##N vload##N(size_t i, const SPACE half *p)                   \
    {                                                                        \
        return as_half##N(vload##N(i, (const SPACE ushort *)p));             \
    }
#define STORE_N(SPACE, N)                                                    \
    void OVERLOAD vstore##N(ushort##N v, size_t i, SPACE ushort *p);         \
    INLINE void vstore##N(half##N v, size_t i, SPACE half *p)                \
    {                                                                        \
        vstore##N(as_ushort##N(v), i, (SPACE ushort *)p);                    \
    }
VECTORS_1(LOAD_N, __private)
VECTORS_1(LOAD_N, __local)
VECTORS_1(LOAD_N, __global)
VECTORS_1(LOAD_N, __constant)
VECTORS_1(STORE_N, __private)
VECTORS_1(STORE_N, __local)
VECTORS_1(STORE_N, __global)

#define COPY_N(TO, FROM, N)                                                                                            \
    event_t OVERLOAD async_work_group_copy(TO ushort##N *to, const FROM ushort##N *from, size_t n, event_t event);    \
    event_t OVERLOAD async_work_group_strided_copy(TO ushort##N *to, const FROM ushort##N *from, size_t n,            \
                                                   size_t stride, event_t event);                                     \
    INLINE event_t async_work_group_copy(TO half##N *to, const FROM half##N *from, size_t n, event_t event)           \
    {                                                                                                                  \
        return async_work_group_copy((TO ushort##N *)to, (const FROM ushort##N *)from, n, event);                     \
    }                                                                                                                  \
    INLINE event_t async_work_group_strided_copy(TO half##N *to, const FROM half##N *from, size_t n, size_t stride,   \
                                                 event_t event)                                                       \
    {                                                                                                                  \
        return async_work_group_strided_copy((TO ushort##N *)to, (const FROM ushort##N *)from, n, stride, event);     \
    }
WIDTHS_2(COPY_N, __local, __global)
WIDTHS_2(COPY_N, __global, __local)

#define PREFETCH_N(N)                                                        \
    INLINE void prefetch(const __global half##N *p, size_t n)                \
    {                                                                        \
        (void)p;                                                             \
        (void)n;                                                             \
    }
WIDTHS(PREFETCH_N)

#define CHOOSE_N(N)                                                          \
    ushort##N OVERLOAD __attribute__((const)) bitselect(ushort##N x, ushort##N y, ushort##N c); \
    ushort##N OVERLOAD __attribute__((const)) select(ushort##N x, ushort##N y, ushort##N c); \
    CONST half##N bitselect(half##N x, half##N y, half##N c)                 \
    {                                                                        \
        return as_half##N(bitselect(as_ushort##N(x), as_ushort##N(y), as_ushort##N(c))); \
    }                                                                        \
    CONST half##N select(half##N x, half##N y, ushort##N c)                  \
    {                                                                        \
        return as_half##N(select(as_ushort##N(x), as_ushort##N(y), c));      \
    }                                                                        \
    CONST half##N select(half##N x, half##N y, short##N c)                   \
    {                                                                        \
        return as_half##N(select(as_ushort##N(x), as_ushort##N(y), as_ushort##N(c))); \
    }
WIDTHS(CHOOSE_N)

#define SHUFFLE_N(N, M)                                                      \
    ushort##N OVERLOAD __attribute__((const)) shuffle(ushort##M x, ushort##N mask); \
    ushort##N OVERLOAD __attribute__((const)) shuffle2(ushort##M x, ushort##M y, ushort##N mask); \
    CONST half##N shuffle(half##M x, ushort##N mask)                         \
    {                                                                        \
        return as_half##N(shuffle(as_ushort##M(x), mask));                   \
    }                                                                        \
    CONST half##N shuffle2(half##M x, half##M y, ushort##N mask)             \
    {                                                                        \
        return as_half##N(shuffle2(as_ushort##M(x), as_ushort##M(y), mask)); \
    }
#define SHUFFLES(N) SHUFFLE_N(N, 2) SHUFFLE_N(N, 4) SHUFFLE_N(N, 8) SHUFFLE_N(N, 16)
SHUFFLES(2)
SHUFFLES(4)
SHUFFLES(8)
SHUFFLES(16)

/* A sum is rounded once, at its end. */
#define GROUP(NAME)                                                          \
    float OVERLOAD work_group_##NAME(float x);                               \
    INLINE half work_group_##NAME(half x)                                    \
    {                                                                        \
        return thin(work_group_##NAME(wide(x)));                             \
    }
#define GROUPS(OP) GROUP(reduce_##OP) GROUP(scan_inclusive_##OP) GROUP(scan_exclusive_##OP)
GROUPS(add)
GROUPS(min)
GROUPS(max)

uint OVERLOAD work_group_broadcast(uint a, size_t x);
uint OVERLOAD work_group_broadcast(uint a, size_t x, size_t y);
uint OVERLOAD work_group_broadcast(uint a, size_t x, size_t y, size_t z);
INLINE half work_group_broadcast(half a, size_t x)
{
    return as_half((ushort)work_group_broadcast((uint)as_ushort(a), x));
}

INLINE half work_group_broadcast(half a, size_t x, size_t y)
{
    return as_half((ushort)work_group_broadcast((uint)as_ushort(a), x, y));
}

INLINE half work_group_broadcast(half a, size_t x, size_t y, size_t z)
{
    return as_half((ushort)work_group_broadcast((uint)as_ushort(a), x, y, z));
}
