/* SPDX-License-Identifier: Apache-2.0 */
/* A: each operation on a word of a single work-item in global, local and private memory; then all work-items on shared
   words. The reference has one kind of memory and runs one work-item, so it needs no barrier. */
#include "check.h"

#ifdef TERN_REFERENCE
#define barrier
.macro work_items rd
    li \rd, 1
.endm
#else
#define barrier .insn i 0x0b, 0, x0, x0, 0
.macro work_items rd
    csrr \rd, 0xcd3
.endm
#endif

    test_begin

    tern_id s5
    addi sp, sp, -512
    li s10, 0
place:
    slli t0, s5, 2
    la s6, own
    add s6, s6, t0
    beqz s10, 1f
    local_memory s6
    add s6, s6, t0
    addi t1, s10, -1
    beqz t1, 1f
    mv s6, sp
1:
/* Rows: value in memory, operand, value in memory afterwards. The result goes to another register, to that of the
 * operand, to that of the address, and to x0. */
.macro atomic insn
    rows 4
    lw a2, 0(s2)
    lw a3, 4(s2)
    lw a4, 8(s2)
    sw a2, 0(s6)
    \insn a5, a3, (s6)
    bne a5, a2, fail
    lw a5, 0(s6)
    bne a5, a4, fail
    sw a2, 0(s6)
    mv a5, a3
    \insn a5, a5, (s6)
    bne a5, a2, fail
    lw a5, 0(s6)
    bne a5, a4, fail
    sw a2, 0(s6)
    mv a5, s6
    \insn\().aqrl a5, a3, (a5)
    bne a5, a2, fail
    lw a5, 0(s6)
    bne a5, a4, fail
    sw a2, 0(s6)
    \insn\().aq x0, a3, (s6)
    is_zero
    lw a5, 0(s6)
    bne a5, a4, fail
    next_row 4
.endm
    atomic amoswap.w
    row(1, 2, 2)
    row(0xffffffff, 0, 0)
    done
    atomic amoadd.w
    row(1, 2, 3)
    row(0x7fffffff, 1, 0x80000000)
    row(0xffffffff, 1, 0)
    done
    atomic amoxor.w
    row(0xff00ff00, 0x0ff00ff0, 0xf0f0f0f0)
    done
    atomic amoand.w
    row(0xff00ff00, 0x0ff00ff0, 0x0f000f00)
    done
    atomic amoor.w
    row(0xff00ff00, 0x0ff00ff0, 0xfff0fff0)
    done
    atomic amomin.w
    row(0x80000000, 0x7fffffff, 0x80000000)
    row(0, 0xffffffff, 0xffffffff)
    row(5, 6, 5)
    done
    atomic amomax.w
    row(0x80000000, 0x7fffffff, 0x7fffffff)
    row(0, 0xffffffff, 0)
    row(5, 6, 6)
    done
    atomic amominu.w
    row(0x80000000, 0x7fffffff, 0x7fffffff)
    row(0, 0xffffffff, 0)
    row(5, 6, 5)
    done
    atomic amomaxu.w
    row(0x80000000, 0x7fffffff, 0x80000000)
    row(0, 0xffffffff, 0xffffffff)
    row(5, 6, 6)
    done

/* SC without a reservation, after another SC, and of another word than LR's fails and stores nothing. */
    li a2, 77
    sw a2, 0(s6)
    li a3, 88
    sc.w a5, a3, (s6)
    check_value(a5, 1)
    lw a5, 0(s6)
    check_value(a5, 77)
    addi s7, s6, 256
    lr.w a5, (s7)
    sc.w a5, a3, (s6)
    check_value(a5, 1)
    lw a5, 0(s6)
    check_value(a5, 77)
1:  lr.w a5, (s6)
    check(a5, a2)
    sc.w a5, a3, (s6)
    bnez a5, 1b
    lw a5, 0(s6)
    check_value(a5, 88)
    sc.w a5, a2, (s6)
    check_value(a5, 1)
    lw a5, 0(s6)
    check_value(a5, 88)

    addi s10, s10, 1
    li t0, 3
    bne s10, t0, place

/* All work-items add to one word, by amoadd and by LR and SC. Every increment counts, and all tickets differ. */
    work_items s8
    la s7, shared
    li s9, 5
2:  li a2, 1
    amoadd.w x0, a2, (s7)
    addi t0, s7, 4
1:  lr.w a5, (t0)
    addi a5, a5, 1
    sc.w a4, a5, (t0)
    bnez a4, 1b
    addi s9, s9, -1
    bnez s9, 2b
    li a2, 1
    addi t0, s7, 8
    amoadd.w a5, a2, (t0)
    la t0, tickets
    add t0, t0, a5
    sb a2, 0(t0)
    addi t0, s7, 12
    amomaxu.w x0, s5, (t0)
    sll a2, a2, s5
    addi t0, s7, 16
    amoor.w x0, a2, (t0)
    fence
    barrier
    slli a4, s8, 2
    add a4, a4, s8
    lw a5, 0(s7)
    check(a5, a4)
    lw a5, 4(s7)
    check(a5, a4)
    lw a5, 8(s7)
    check(a5, s8)
    addi a4, s8, -1
    lw a5, 12(s7)
    check(a5, a4)
    la t0, tickets
    add t0, t0, s5
    lbu a5, 0(t0)
    check_value(a5, 1)
    li a4, 32
    lw a5, 16(s7)
    minu a3, s8, a4
    cpop a5, a5
    check(a5, a3)

    test_end

    .bss
    .balign 64
own:
    .skip 64 * 4
    .skip 64 * 4
    .balign 64
shared:
    .skip 64
tickets:
    .skip 64
