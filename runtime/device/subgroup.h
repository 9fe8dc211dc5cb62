/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Common parts of the functions of sub-groups (votes.cl, shuffles.cl, subgroups.cl).
 *
 * A team is the set of work-items of a sub-group that execute a call together, as a mask of lanes. tern-cc1 computes it
 * from the program's branches (ternc/subgroup.c), so that all members of a team have the same mask. Which lanes
 * are active does not tell the team: lanes that have left a loop may run ahead of those in the loop (docs/isa.md).
 *
 * The members exchange values in local memory and wait for each other by counters, so that no function depends on
 * which of them run at the same time. The lowest member is the leader. Words of the memory of a sub-group, in units of
 * the number of lanes:
 *
 *   0, 2    what precedes the slots: neutral elements of a scan of the whole sub-group
 *   1, 3    slots: a value of each lane, in unit 3 the high words of those with 64 bits
 *   4       first word: ballot, a bit of each lane, which that lane sets and clears
 *   5 + l   counters of teams of level l, one for each leader
 *   then    for each place where the rest of a team gathers: counters, and a word like that of ballots
 *
 * Teams of one level have no member in common, so each has its own counter. A team in a branch may have the leader of
 * the team that it is a part of, whose other members wait behind the branch already: therefore levels have counters of
 * their own. Teams use the slots at the same time, so the words of a lane's slot are the same for all types.
 */
#ifndef TERN_DEVICE_SUBGROUP_H
#define TERN_DEVICE_SUBGROUP_H

#include "base.h"

#pragma OPENCL EXTENSION cl_khr_fp16 : enable

#define SHARED inline __attribute__((always_inline))

uint __tern_lanes(void);      /* lanes of a warp */
uint __tern_lane(void);       /* sub-group local id */
local uint *__tern_sub_memory(void); /* of the sub-group */
uint __tern_active(void);     /* the team of the call */
uint __tern_level(void);      /* the level of the team */
uint OVERLOAD get_sub_group_size(void);

/** The part of the memory of the sub-group that begins at a unit. */
static SHARED local uint *unit_at(uint unit)
{
    return __tern_sub_memory() + unit * __tern_lanes();
}

/* The value of slot i. Words of index -1 and less precede the slots. */
#define SLOT_32(TYPE)                                                                    \
    static SHARED TYPE get_##TYPE(int i)                                                 \
    {                                                                                    \
        return as_##TYPE(unit_at(1)[i]);                                                 \
    }                                                                                    \
    static SHARED void put_##TYPE(int i, TYPE x)                                         \
    {                                                                                    \
        unit_at(1)[i] = as_uint(x);                                                      \
    }
#define SLOT_64(TYPE)                                                                    \
    static SHARED TYPE get_##TYPE(int i)                                                 \
    {                                                                                    \
        return as_##TYPE((uint2)(unit_at(1)[i], unit_at(3)[i]));                         \
    }                                                                                    \
    static SHARED void put_##TYPE(int i, TYPE x)                                         \
    {                                                                                    \
        const uint2 words = as_uint2(x);                                                 \
        unit_at(1)[i] = words.x;                                                         \
        unit_at(3)[i] = words.y;                                                         \
    }
SLOT_32(int)
SLOT_32(uint)
SLOT_32(float)
SLOT_64(long)
SLOT_64(ulong)
SLOT_64(double)

static SHARED uint lowest(uint team)
{
    return (uint)__builtin_ctz(team);
}

/** The number that a member adds to the counter of a team. A round adds 32: 1 by each member, and the rest by the
 *  leader. Until the last member arrives, the counter is less than the next multiple of 32. */
static SHARED uint part_of(uint team)
{
    uint leads;
    /* in assembly, because the compiler would make a branch of a comparison */
    __asm__("seqz %0, %1" : "=r"(leads) : "r"(lowest(team) ^ __tern_lane()));
    return 1 + (-leads & (32 - (uint)__builtin_popcount(team)));
}

/** Waits at the counters of a unit until all members of the team have arrived. Their earlier accesses of local memory
 *  precede later ones of the team, as the hardware keeps the order of a warp. */
static SHARED void meet_at(uint team, uint unit)
{
    uint last, now;
    __asm__ volatile("# __tern_sub_meet\n\tamoadd.w %0, %3, (%2)\n\t"
                     "ori %0, %0, 31\n"
                     "1:\tlw %1, (%2)\n\t"
                     "sub %1, %1, %0\n\t"
                     "blez %1, 1b"
                     : "=&r"(last), "=&r"(now)
                     : "r"(unit_at(unit) + lowest(team)), "r"(part_of(team))
                     : "memory");
}

static SHARED void meet(uint team, uint level)
{
    meet_at(team, 5 + level);
}

#endif
