/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Reductions and scans of sub-groups. Each member of the team stores its value, and then reads those that it needs. If
 * the team is the whole sub-group, all lanes read the same number of values; a scan then reads neutral elements that
 * precede the slots. Other teams are read by their mask. The functions are computed in int, uint, long, ulong, float
 * and double, and the others by these.
 */
#include "subgroup.h"

#define ADD(a, b) ((a) + (b))
#define MUL(a, b) ((a) * (b))
#define AND(a, b) ((a) & (b))
#define OR(a, b) ((a) | (b))
#define XOR(a, b) ((a) ^ (b))
#define MIN(a, b) __builtin_elementwise_min(a, b)
#define MAX(a, b) __builtin_elementwise_max(a, b)
#define LESS(a, b) ((b) < (a) ? (b) : (a))
#define GREATER(a, b) ((a) < (b) ? (b) : (a))

/** True: the team is the whole sub-group. No other team then uses its memory. */
static SHARED int is_whole(uint team)
{
    return team == ~0u >> (32 - get_sub_group_size());
}

/* fold_: the values of the lanes in `of`, in ascending order. scan_: those of the members up to the own lane or, with
 * skip = 1, below it. reduce_: those of all members. first: the neutral element. */
#define FOLD(TYPE, NAME, OP)                                                             \
    static TYPE fold_##NAME##_##TYPE(uint of, TYPE first)                                \
    {                                                                                    \
        TYPE r = first;                                                                  \
        for (; of != 0; of &= of - 1) {                                                  \
            r = OP(r, get_##TYPE(__builtin_ctz(of)));                                    \
        }                                                                                \
        return r;                                                                        \
    }                                                                                    \
    static TYPE reduce_##NAME##_##TYPE(uint team, uint level, TYPE x, TYPE first)        \
    {                                                                                    \
        const int n = __builtin_popcount(team);                                          \
        put_##TYPE((int)__tern_lane(), x);                                               \
        meet(team, level);                                                               \
        if (is_whole(team)) {                                                            \
            x = get_##TYPE(0);                                                           \
            _Pragma("unroll 3") /* it divides 15 and 3 */                                \
            for (int i = 1; i < n; i++) {                                                \
                x = OP(x, get_##TYPE(i));                                                \
            }                                                                            \
        } else {                                                                         \
            x = fold_##NAME##_##TYPE(team, first);                                       \
        }                                                                                \
        meet(team, level);                                                               \
        return x;                                                                        \
    }                                                                                    \
    static TYPE scan_##NAME##_##TYPE(uint team, uint level, TYPE x, TYPE first, uint skip) \
    {                                                                                    \
        const int n = __builtin_popcount(team), lane = (int)__tern_lane(), end = lane - (int)skip; \
        put_##TYPE(lane, x);                                                             \
        if (is_whole(team)) {                                                            \
            put_##TYPE(lane - n, first);                                                 \
            meet(team, level);                                                           \
            x = get_##TYPE(end);                                                         \
            _Pragma("unroll 3")                                                          \
            for (int i = 1; i < n; i++) {                                                \
                x = OP(get_##TYPE(end - i), x);                                          \
            }                                                                            \
        } else {                                                                         \
            meet(team, level);                                                           \
            x = fold_##NAME##_##TYPE(team & (((2u - skip) << lane) - 1), first);         \
        }                                                                                \
        meet(team, level);                                                               \
        return x;                                                                        \
    }                                                                                    \
    static TYPE cluster_##NAME##_##TYPE(uint team, uint level, TYPE x, TYPE first, uint size) \
    {                                                                                    \
        const uint bits = size < 32 ? (1u << size) - 1 : ~0u;                            \
        put_##TYPE((int)__tern_lane(), x);                                               \
        meet(team, level);                                                               \
        x = fold_##NAME##_##TYPE(team & bits << (__tern_lane() & -size), first);         \
        meet(team, level);                                                               \
        return x;                                                                        \
    }

#define NUMBERS(TYPE, LEAST, GREATEST) \
    FOLD(TYPE, add, ADD) FOLD(TYPE, mul, MUL) FOLD(TYPE, min, LEAST) FOLD(TYPE, max, GREATEST)
#define BITS(TYPE) FOLD(TYPE, and, AND) FOLD(TYPE, or, OR) FOLD(TYPE, xor, XOR)

NUMBERS(int, MIN, MAX)
NUMBERS(uint, MIN, MAX)
NUMBERS(long, MIN, MAX)
NUMBERS(ulong, MIN, MAX)
NUMBERS(float, MIN, MAX)
NUMBERS(double, LESS, GREATER)
BITS(int)
BITS(uint)
BITS(long)
BITS(ulong)

/* The functions of an operation. TYPE: as the program sees it; IN: as it is computed. */
#define PLAIN(PREFIX, TYPE, IN, NAME, FIRST)                                             \
    INLINE TYPE PREFIX##reduce_##NAME(TYPE x)                                            \
    {                                                                                    \
        return (TYPE)reduce_##NAME##_##IN(__tern_active(), __tern_level(), x, FIRST);    \
    }                                                                                    \
    INLINE TYPE PREFIX##scan_inclusive_##NAME(TYPE x)                                    \
    {                                                                                    \
        return (TYPE)scan_##NAME##_##IN(__tern_active(), __tern_level(), x, FIRST, 0);   \
    }                                                                                    \
    INLINE TYPE PREFIX##scan_exclusive_##NAME(TYPE x)                                    \
    {                                                                                    \
        return (TYPE)scan_##NAME##_##IN(__tern_active(), __tern_level(), x, FIRST, 1);   \
    }

#define SOME(TYPE, IN, NAME, FIRST)                                                      \
    PLAIN(sub_group_non_uniform_, TYPE, IN, NAME, FIRST)                                 \
    INLINE TYPE sub_group_clustered_reduce_##NAME(TYPE x, uint size)                     \
    {                                                                                    \
        return (TYPE)cluster_##NAME##_##IN(__tern_active(), __tern_level(), x, FIRST, size); \
    }

#define ALL(TYPE, IN, LEAST, GREATEST)                                                   \
    PLAIN(sub_group_, TYPE, IN, add, 0)                                                  \
    PLAIN(sub_group_, TYPE, IN, min, GREATEST)                                           \
    PLAIN(sub_group_, TYPE, IN, max, LEAST)                                              \
    SOME(TYPE, IN, add, 0)                                                               \
    SOME(TYPE, IN, mul, 1)                                                               \
    SOME(TYPE, IN, min, GREATEST)                                                        \
    SOME(TYPE, IN, max, LEAST)

#define WHOLE(TYPE, IN, LEAST, GREATEST)                                                 \
    ALL(TYPE, IN, LEAST, GREATEST)                                                       \
    SOME(TYPE, IN, and, (IN)-1)                                                          \
    SOME(TYPE, IN, or, 0)                                                                \
    SOME(TYPE, IN, xor, 0)

WHOLE(char, int, CHAR_MIN, CHAR_MAX)
WHOLE(uchar, uint, 0, UCHAR_MAX)
WHOLE(short, int, SHRT_MIN, SHRT_MAX)
WHOLE(ushort, uint, 0, USHRT_MAX)
WHOLE(int, int, INT_MIN, INT_MAX)
WHOLE(uint, uint, 0, UINT_MAX)
WHOLE(long, long, LONG_MIN, LONG_MAX)
WHOLE(ulong, ulong, 0, ULONG_MAX)
ALL(float, float, -INFINITY, INFINITY)
ALL(double, double, -INFINITY, INFINITY)
ALL(half, float, -INFINITY, INFINITY)

#define LOGICAL(NAME, FIRST)                                                             \
    INLINE int sub_group_non_uniform_reduce_logical_##NAME(int x)                        \
    {                                                                                    \
        return reduce_##NAME##_int(__tern_active(), __tern_level(), x != 0, FIRST);      \
    }                                                                                    \
    INLINE int sub_group_non_uniform_scan_inclusive_logical_##NAME(int x)                \
    {                                                                                    \
        return scan_##NAME##_int(__tern_active(), __tern_level(), x != 0, FIRST, 0);     \
    }                                                                                    \
    INLINE int sub_group_non_uniform_scan_exclusive_logical_##NAME(int x)                \
    {                                                                                    \
        return scan_##NAME##_int(__tern_active(), __tern_level(), x != 0, FIRST, 1);     \
    }                                                                                    \
    INLINE int sub_group_clustered_reduce_logical_##NAME(int x, uint size)               \
    {                                                                                    \
        return cluster_##NAME##_int(__tern_active(), __tern_level(), x != 0, FIRST, size); \
    }

LOGICAL(and, 1)
LOGICAL(or, 0)
LOGICAL(xor, 0)
