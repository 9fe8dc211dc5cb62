/* SPDX-License-Identifier: Apache-2.0 */
/* Visibility of writes to other work-items (RVWMO). Each work-item publishes rounds of data with a flag, and reads its
   neighbour's. If the flag is of round n, the data must be of round n or later, for each way of ordering the two. No
   word may return to an earlier value. Data and flags have lines of their own, and no work-item waits for another. */
#include "check.h"

#ifdef TERN_REFERENCE
.macro neighbour rd, id
    li \rd, 0
.endm
#else
.macro neighbour rd, id     /* the next work-item; after the last comes the first */
    csrr \rd, 0xcd3
    addi t0, \id, 1
    sltu t1, t0, \rd
    neg t1, t1
    and \rd, t0, t1
.endm
#endif

/* Runs 16 rounds from s3 on. publish stores s3 to (s1) after the store to (s0); look loads the flag at (s5) into a2,
 * before the data at (s4). */
#define rounds(publish, look) \
    li gp, __LINE__; \
    addi s9, s3, 16; \
51: sw s3, 0(s0); \
    publish; \
    look; \
    lw a3, 0(s4); \
    bltu a3, a2, fail;      /* the data are older than the flag */ \
    bltu a2, s7, fail;      /* the flag has returned to an earlier value */ \
    bltu a3, s8, fail;      /* the data have returned to an earlier value */ \
    mv s7, a2; \
    mv s8, a3; \
    addi s3, s3, 1; \
    bne s3, s9, 51b

.macro store_fence
    fence rw, w
    sw s3, 0(s1)
.endm
.macro fence_load
    lw a2, 0(s5)
    fence r, rw
.endm
.macro swap_fence
    fence
    amoswap.w x0, s3, (s1)
.endm
.macro fence_or
    amoor.w a2, x0, (s5)
    fence
.endm
.macro swap_rl
    amoswap.w.rl x0, s3, (s1)
.endm
.macro or_aq
    amoor.w.aq a2, x0, (s5)
.endm
.macro swap_aqrl
    amoswap.w.aqrl a5, s3, (s1)
.endm
.macro lr_aq
    lr.w.aq a2, (s5)
.endm
.macro store_tso
    fence.tso
    sw s3, 0(s1)
.endm
.macro load_tso
    lw a2, 0(s5)
    fence.tso
.endm

    test_begin

    tern_id s2
    neighbour s6, s2
    la s0, data
    la s1, flags
    slli t0, s2, 6
    slli t1, s6, 6
    add s4, s0, t1
    add s5, s1, t1
    add s0, s0, t0
    add s1, s1, t0
    li s3, 1
    li s7, 0
    li s8, 0

    rounds(store_fence, fence_load)
    rounds(swap_fence, fence_or)
    rounds(swap_rl, or_aq)
    rounds(swap_aqrl, lr_aq)
    rounds(store_tso, load_tso)

/* A work-item sees its own write at once, also by a load of another size and after an atomic. */
    la s0, own
    slli t0, s2, 2
    add s0, s0, t0
    sw s3, 0(s0)
    lhu a5, 0(s0)
    check(a5, s3)
    amoadd.w a5, s3, (s0)
    check(a5, s3)
    lw a5, 0(s0)
    slli a4, s3, 1
    check(a5, a4)
    sb x0, 0(s0)
    lw a5, 0(s0)
    andi a4, a4, -256
    check(a5, a4)

    test_end

    .bss
    .balign 64
data:
    .skip 64 * 64
flags:
    .skip 64 * 64
own:
    .skip 64 * 4
