/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Sub-groups and the place of their memory. A sub-group is a warp: the hardware fills warps with work-items in the
 * order of their linear local ids. tc_load defines the symbol __tern_lanes, the lanes of a warp. tern-cc1 defines
 * __tern_sub_base, the begin of the memory in the local window, and __tern_sub_bytes, its bytes for each lane
 * (ternc/local.c). A kernel that reads one of them uses sub-groups.
 */
#include "csr.h"

/** Tells ternc/subgroup.c that all work-items of a sub-group have this value. */
#define UNIFORM(v) ({ unsigned u_ = (v); __asm__("# uniform" : "+r"(u_)); u_; })

#define LOCAL __attribute__((address_space(3)))
#define SYMBOL(name) ({ unsigned v_; __asm__("addi %0, zero, %%lo(" name ")" : "=r"(v_)); v_; })

PURE unsigned __tern_lanes(void)
{
    return SYMBOL("__tern_lanes");
}

PURE unsigned __tern_lane(void)
{
    return CSR(THREAD) & (__tern_lanes() - 1);
}

/** Linear local id of the first work-item of the sub-group. */
static PURE unsigned first(void)
{
    const unsigned row = CSR(LOCAL_ID_Z) * CSR(LOCAL_SIZE_Y) + CSR(LOCAL_ID_Y);
    return (row * CSR(LOCAL_SIZE_X) + CSR(LOCAL_ID_X)) & -__tern_lanes();
}

/** The memory of the sub-group. */
PURE LOCAL unsigned *__tern_sub_memory(void)
{
    unsigned base;
    __asm__("lui %0, %%hi(__tern_sub_base)\n\taddi %0, %0, %%lo(__tern_sub_base)" : "=r"(base));
    return (LOCAL unsigned *)(base + first() * SYMBOL("__tern_sub_bytes"));
}

PURE unsigned _Z22get_sub_group_local_idv(void)
{
    return __tern_lane();
}

PURE unsigned _Z16get_sub_group_idv(void)
{
    return UNIFORM(first() >> __builtin_ctz(__tern_lanes()));
}

PURE unsigned _Z18get_sub_group_sizev(void)
{
    const unsigned left = CSR(LOCAL_SIZE_X) * CSR(LOCAL_SIZE_Y) * CSR(LOCAL_SIZE_Z) - first(), lanes = __tern_lanes();
    return UNIFORM(left < lanes ? left : lanes);
}

PURE unsigned _Z22get_max_sub_group_sizev(void)
{
    return __tern_lanes();
}

/** Sub-groups of a group with this number of work-items. */
static PURE unsigned sub_groups(unsigned items)
{
    return (items + __tern_lanes() - 1) >> __builtin_ctz(__tern_lanes());
}

PURE unsigned _Z18get_num_sub_groupsv(void)
{
    return sub_groups(CSR(LOCAL_SIZE_X) * CSR(LOCAL_SIZE_Y) * CSR(LOCAL_SIZE_Z));
}

PURE unsigned _Z27get_enqueued_num_sub_groupsv(void)
{
    return sub_groups(CSR(FULL_SIZE_X) * CSR(FULL_SIZE_Y) * CSR(FULL_SIZE_Z));
}
