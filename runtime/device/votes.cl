/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Barriers, votes and ballots of sub-groups, and what ternc/subgroup.c calls: the begin of a kernel, and the division
 * of a team at a branch and its return.
 */
#include "subgroup.h"

/** The members of the team whose value is not zero. */
static SHARED uint ballot(uint team, uint level, int value)
{
    local uint *word = unit_at(4);
    const uint bit = (uint)(value != 0) << __tern_lane();
    __atomic_fetch_or((volatile local uint *)word, bit, __ATOMIC_RELAXED);
    meet(team, level);
    uint all = *word & team;
    __asm__("# uniform" : "+r"(all)); /* as UNIFORM of subgroup.c */
    meet(team, level);
    __atomic_fetch_and((volatile local uint *)word, ~bit, __ATOMIC_RELAXED);
    return all;
}

/** Clears the units of teams before the first branch, where all lanes of a warp run together. Returns the team of all
 *  work-items. */
uint __tern_sub_begin(uint units)
{
    volatile local uint *own = unit_at(5) + __tern_lane();
    *(volatile local uint *)unit_at(4) = 0;
    for (uint i = 0; i < units; i++) {
        own[i * __tern_lanes()] = 0;
    }
    return ~0u >> (32 - get_sub_group_size());
}

/** The members of the team that go the same way at a branch. */
uint __tern_split(uint team, uint level, uint way)
{
    return team & (ballot(team, level, (int)way) ^ (way - 1));
}

/** The members of a team wait for each other before a loop in which it has another level. */
void __tern_meet(uint team, uint level)
{
    meet(team, level);
}

/** A member of the team says that it will not come to the place of __tern_gather with this unit. */
void __tern_leave(uint team, uint unit)
{
    __atomic_fetch_add((volatile local uint *)unit_at(unit) + lowest(team), part_of(team), __ATOMIC_RELAXED);
}

/** Waits until all members of the team have come, or have left. Returns those that have come, which are of a level. */
uint __tern_gather(uint team, uint unit, uint level)
{
    volatile local uint *word = unit_at(unit + 1);
    const uint bit = 1u << __tern_lane();
    __atomic_fetch_or(word, bit, __ATOMIC_RELAXED);
    meet_at(team, unit);
    const uint come = *word & team;
    meet(come, level);
    __atomic_fetch_and(word, ~bit, __ATOMIC_RELAXED);
    return come;
}

/* ternc/subgroup.c replaces the calls of these two functions. Each names the function that is called instead, so that
 * it is linked. */
uint __tern_active(void)
{
    return __tern_split(0, 0, 0) + __tern_gather(0, 0, 0);
}

uint __tern_level(void)
{
    __tern_meet(0, 0);
    __tern_leave(0, 0);
    return 0;
}

INLINE void sub_group_barrier(cl_mem_fence_flags flags)
{
    if (flags & CLK_GLOBAL_MEM_FENCE) {
        __asm__ volatile("fence rw, rw" ::: "memory");
    }
    meet(__tern_active(), __tern_level());
}

INLINE void sub_group_barrier(cl_mem_fence_flags flags, memory_scope scope)
{
    (void)scope;
    sub_group_barrier(flags);
}

static SHARED int all_of(int value)
{
    const uint team = __tern_active();
    return ballot(team, __tern_level(), value) == team;
}

static SHARED int any_of(int value)
{
    return ballot(__tern_active(), __tern_level(), value) != 0;
}

INLINE int sub_group_all(int value)
{
    return all_of(value);
}

INLINE int sub_group_any(int value)
{
    return any_of(value);
}

INLINE int sub_group_non_uniform_all(int value)
{
    return all_of(value);
}

INLINE int sub_group_non_uniform_any(int value)
{
    return any_of(value);
}

INLINE int sub_group_elect(void)
{
    return lowest(__tern_active()) == __tern_lane();
}

#define EQUAL(TYPE)                                                                      \
    TYPE OVERLOAD sub_group_broadcast_first(TYPE x);                                     \
    INLINE int sub_group_non_uniform_all_equal(TYPE x)                                   \
    {                                                                                    \
        return all_of(x == sub_group_broadcast_first(x));                                \
    }

EQUAL(char)
EQUAL(uchar)
EQUAL(short)
EQUAL(ushort)
EQUAL(int)
EQUAL(uint)
EQUAL(long)
EQUAL(ulong)
EQUAL(float)
EQUAL(double)
EQUAL(half)

/* A ballot has bits in its first word only, since a sub-group has at most 32 work-items. */

INLINE uint4 sub_group_ballot(int value)
{
    return (uint4)(ballot(__tern_active(), __tern_level(), value), 0, 0, 0);
}

CONST int sub_group_inverse_ballot(uint4 value)
{
    return value.x >> __tern_lane() & 1;
}

CONST int sub_group_ballot_bit_extract(uint4 value, uint index)
{
    const uint word = index >> 5;
    const uint bits = word == 0 ? value.x : word == 1 ? value.y : word == 2 ? value.z : value.w;
    return bits >> (index & 31) & 1;
}

/** Bits 0 to n - 1, for n of 1 to 32. */
static SHARED uint bits_to(uint n)
{
    return ~0u >> (32 - n);
}

CONST uint sub_group_ballot_bit_count(uint4 value)
{
    return (uint)__builtin_popcount(value.x & bits_to(__tern_lanes()));
}

INLINE uint sub_group_ballot_inclusive_scan(uint4 value)
{
    return (uint)__builtin_popcount(value.x & bits_to(__tern_lane() + 1));
}

INLINE uint sub_group_ballot_exclusive_scan(uint4 value)
{
    return (uint)__builtin_popcount(value.x & ((1u << __tern_lane()) - 1));
}

INLINE uint sub_group_ballot_find_lsb(uint4 value)
{
    return (uint)__builtin_ctz(value.x & bits_to(__tern_lanes()));
}

INLINE uint sub_group_ballot_find_msb(uint4 value)
{
    return 31 - (uint)__builtin_clz(value.x & bits_to(__tern_lanes()));
}

#define MASK(NAME, BITS)                                                                 \
    CONST uint4 get_sub_group_##NAME##_mask(void)                                        \
    {                                                                                    \
        return (uint4)(BITS, 0, 0, 0);                                                   \
    }

MASK(eq, 1u << __tern_lane())
MASK(ge, bits_to(__tern_lanes()) & ~0u << __tern_lane())
MASK(gt, bits_to(__tern_lanes()) & ~1u << __tern_lane())
MASK(le, bits_to(__tern_lane() + 1))
MASK(lt, (1u << __tern_lane()) - 1)
