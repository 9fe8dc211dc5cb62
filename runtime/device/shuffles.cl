/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Functions of sub-groups that return the value of another work-item: broadcasts, shuffles and rotations. Vectors go
 * one component after the other. The value of a work-item that does not exist, or that does not take part in the call,
 * is undefined.
 */
#include "subgroup.h"

/* The value of lane `from`, which is below 32. SLOT: the type in memory. */
#define FETCH(TYPE, SLOT)                                                                \
    static SHARED __attribute__((overloadable)) TYPE fetch(uint team, uint level, TYPE x, uint from) \
    {                                                                                    \
        put_##SLOT((int)__tern_lane(), (SLOT)x);                                         \
        meet(team, level);                                                               \
        const SLOT y = get_##SLOT((int)(from & (__tern_lanes() - 1)));                   \
        meet(team, level);                                                               \
        return (TYPE)y;                                                                  \
    }

/* A function whose other argument is ARGUMENT, from which FROM is the lane. */
#define FUNCTION(TYPE, NAME, ARGUMENT, FROM)                                             \
    INLINE TYPE NAME(TYPE x, ARGUMENT)                                                   \
    {                                                                                    \
        const uint lane = __tern_lane();                                                 \
        (void)lane;                                                                      \
        return fetch(__tern_active(), __tern_level(), x, FROM);                          \
    }

#define VECTOR(TYPE, N, NAME)                                                            \
    INLINE TYPE##N NAME(TYPE##N x, uint from)                                            \
    {                                                                                    \
        const uint team = __tern_active(), level = __tern_level();                       \
        TYPE##N y = x;                                                                   \
        for (int i = 0; i < N; i++) {                                                    \
            y[i] = fetch(team, level, (TYPE)x[i], from);                                 \
        }                                                                                \
        return y;                                                                        \
    }

#define WIDTHS(TYPE, NAME) \
    VECTOR(TYPE, 2, NAME) VECTOR(TYPE, 3, NAME) VECTOR(TYPE, 4, NAME) VECTOR(TYPE, 8, NAME) VECTOR(TYPE, 16, NAME)

/** The lane from which a rotation takes its value in a cluster, whose size is a power of two. The whole
 *  sub-group counts as one of the largest size. */
static SHARED uint turned(uint lane, int delta, uint cluster)
{
    return (lane & -cluster) | ((lane + (uint)delta) & (cluster - 1));
}

#define ALL(TYPE, SLOT)                                                                  \
    FETCH(TYPE, SLOT)                                                                    \
    FUNCTION(TYPE, sub_group_broadcast, uint from, from)                                 \
    WIDTHS(TYPE, sub_group_broadcast)                                                    \
    FUNCTION(TYPE, sub_group_non_uniform_broadcast, uint from, from)                     \
    WIDTHS(TYPE, sub_group_non_uniform_broadcast)                                        \
    INLINE TYPE sub_group_broadcast_first(TYPE x)                                        \
    {                                                                                    \
        const uint team = __tern_active();                                               \
        return fetch(team, __tern_level(), x, lowest(team));                             \
    }                                                                                    \
    FUNCTION(TYPE, sub_group_shuffle, uint from, from)                                   \
    FUNCTION(TYPE, sub_group_shuffle_xor, uint mask, lane ^ mask)                        \
    FUNCTION(TYPE, sub_group_shuffle_up, uint delta, lane - delta)                       \
    FUNCTION(TYPE, sub_group_shuffle_down, uint delta, lane + delta)                     \
    FUNCTION(TYPE, sub_group_rotate, int delta, turned(lane, delta, __tern_lanes()))               \
    INLINE TYPE sub_group_clustered_rotate(TYPE x, int delta, uint cluster)              \
    {                                                                                    \
        return fetch(__tern_active(), __tern_level(), x, turned(__tern_lane(), delta, cluster)); \
    }

ALL(char, int)
ALL(uchar, uint)
ALL(short, int)
ALL(ushort, uint)
ALL(int, int)
ALL(uint, uint)
ALL(long, long)
ALL(ulong, ulong)
ALL(float, float)
ALL(double, double)
ALL(half, float)
