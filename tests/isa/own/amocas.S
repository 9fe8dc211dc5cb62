/* SPDX-License-Identifier: Apache-2.0 */
/* Zacas's amocas.w: rd has the expected value and gets the old one; memory changes if they are equal. */
#include "check.h"

    test_begin

    tern_id s5
    la s6, own
    slli t0, s5, 2
    add s6, s6, t0

/* Rows: value in memory, expected value, new value, value in memory afterwards. */
    rows 5
    lw a1, 0(s2)
    lw a2, 4(s2)
    lw a3, 8(s2)
    lw a4, 12(s2)
    sw a1, 0(s6)
    mv a5, a2
    amocas.w a5, a3, (s6)
    bne a5, a1, fail
    lw a5, 0(s6)
    bne a5, a4, fail
    sw a1, 0(s6)
    mv a5, a2
    amocas.w.aqrl a5, a5, (s6)
    bne a5, a1, fail
    lw a5, 0(s6)
    bne a5, a1, fail
    next_row 5
    row(1, 1, 2, 2)
    row(1, 3, 2, 1)
    row(0, 0, 0xffffffff, 0xffffffff)
    row(0x80000000, 0, 5, 0x80000000)
    row(0xffffffff, 0xffffffff, 0, 0)
    done

/* With x0 as rd, the expected value is 0, the old value is dropped, and x0 stays 0. */
    li a2, 9
    sw a2, 0(s6)
    amocas.w x0, a2, (s6)
    check_value(x0, 0)
    lw a5, 0(s6)
    check_value(a5, 9)
    sw x0, 0(s6)
    amocas.w x0, a2, (s6)
    check_value(x0, 0)
    lw a5, 0(s6)
    check_value(a5, 9)
/* x0 is the new value. */
    li a5, 9
    amocas.w a5, x0, (s6)
    check_value(a5, 9)
    lw a5, 0(s6)
    check_value(a5, 0)

/* All work-items increment one word. */
    la s7, shared
    li s9, 5
2:  lw a2, 0(s7)
1:  addi a3, a2, 1
    mv a5, a2
    amocas.w a5, a3, (s7)
    beq a5, a2, 3f
    mv a2, a5
    j 1b
3:  addi s9, s9, -1
    bnez s9, 2b
    fence
    .insn i 0x0b, 0, x0, x0, 0
    csrr a4, 0xcd3
    li a5, 5
    mul a4, a4, a5
    lw a5, 0(s7)
    check(a5, a4)

    test_end

    .bss
    .balign 64
own:
    .skip 64 * 4
shared:
    .skip 64
