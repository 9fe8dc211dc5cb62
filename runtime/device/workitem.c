/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Work-item functions, each of which reads a CSR. The source is C, not OpenCL C, in which every function is convergent,
 * so that reads could neither be hoisted out of loops nor merged. The reads are not volatile, because the ids of a
 * work-item never change.
 */
#include "csr.h"

typedef unsigned long long size; /* size_t of OpenCL C */

/* Defines a function of a dimension; `beyond` is its value for dimensions of 3 and more. */
#define BY_DIMENSION(symbol, name, beyond)                                                             \
    PURE size symbol(unsigned d)                                                                       \
    {                                                                                                  \
        return d == 0 ? CSR(name##_X) : d == 1 ? CSR(name##_Y) : d == 2 ? CSR(name##_Z) : (beyond);    \
    }

BY_DIMENSION(_Z12get_local_idj, LOCAL_ID, 0)
BY_DIMENSION(_Z12get_group_idj, GROUP_ID, 0)
BY_DIMENSION(_Z14get_local_sizej, LOCAL_SIZE, 1)
BY_DIMENSION(_Z23get_enqueued_local_sizej, FULL_SIZE, 1)
BY_DIMENSION(_Z14get_num_groupsj, NUM_GROUPS, 1)
BY_DIMENSION(_Z17get_global_offsetj, OFFSET, 0)
BY_DIMENSION(_Z13get_global_idj, GLOBAL_ID, 0)
BY_DIMENSION(_Z15get_global_sizej, GLOBAL_SIZE, 1)

PURE unsigned _Z12get_work_dimv(void)
{
    return CSR(WORK_DIM);
}

PURE size _Z20get_global_linear_idv(void)
{
    unsigned x = CSR(GLOBAL_ID_X) - CSR(OFFSET_X);
    unsigned y = CSR(GLOBAL_ID_Y) - CSR(OFFSET_Y);
    unsigned z = CSR(GLOBAL_ID_Z) - CSR(OFFSET_Z);
    return (z * CSR(GLOBAL_SIZE_Y) + y) * CSR(GLOBAL_SIZE_X) + x;
}

PURE size _Z19get_local_linear_idv(void)
{
    return (CSR(LOCAL_ID_Z) * CSR(LOCAL_SIZE_Y) + CSR(LOCAL_ID_Y)) * CSR(LOCAL_SIZE_X) + CSR(LOCAL_ID_X);
}

/* For other sources of the device library. */

PURE unsigned __tern_items(void)
{
    return CSR(LOCAL_SIZE_X) * CSR(LOCAL_SIZE_Y) * CSR(LOCAL_SIZE_Z);
}

PURE unsigned __tern_user0(void)
{
    return CSR(USER0);
}

PURE unsigned __tern_user1(void)
{
    return CSR(USER1);
}

/* Address of the table of locks (atomics64.cl), a page. */
PURE unsigned __tern_locks_at(void)
{
    unsigned at;
    __asm__("lui %0, %%hi(__tern_locks)" : "=r"(at)); /* TC_LOCKS of tc_elf.h */
    return at;
}
