/* SPDX-License-Identifier: Apache-2.0 */
/* RV32I: branches and jumps. Lanes of a warp have different operands, so they diverge at each branch and must converge
 * again. */
#include "check.h"

    test_begin

    branch beq
    row(0, 0, 1)
    row(0, 1, 0)
    row(0x80000000, 0x80000000, 1)
    row(0x80000000, 0, 0)
    row(0xffffffff, 0xfffffffe, 0)
    done
    branch bne
    row(0, 0, 0)
    row(0, 1, 1)
    row(0x80000000, 0x80000000, 0)
    row(0x80000000, 0, 1)
    row(0xffffffff, 0xfffffffe, 1)
    done
    branch blt
    row(0, 0, 0)
    row(0xffffffff, 0, 1)
    row(0, 0xffffffff, 0)
    row(0x80000000, 0x7fffffff, 1)
    row(0x7fffffff, 0x80000000, 0)
    row(1, 2, 1)
    done
    branch bge
    row(0, 0, 1)
    row(0xffffffff, 0, 0)
    row(0, 0xffffffff, 1)
    row(0x80000000, 0x7fffffff, 0)
    row(0x7fffffff, 0x80000000, 1)
    row(1, 2, 0)
    done
    branch bltu
    row(0, 0, 0)
    row(0xffffffff, 0, 0)
    row(0, 0xffffffff, 1)
    row(0x80000000, 0x7fffffff, 0)
    row(0x7fffffff, 0x80000000, 1)
    row(1, 2, 1)
    done
    branch bgeu
    row(0, 0, 1)
    row(0xffffffff, 0, 1)
    row(0, 0xffffffff, 0)
    row(0x80000000, 0x7fffffff, 1)
    row(0x7fffffff, 0x80000000, 0)
    row(1, 2, 0)
    done

/* jal, forward and backward: the link is the address of the next instruction. */
1:  jal a5, 2f
    j fail
3:  la a4, 2f + 4
    check(a3, a4)
    j 4f
2:  jal a3, 3b
4:  la a4, 1b + 4
    check(a5, a4)

/* jalr: bit 0 of the target is ignored, the offset is signed, and the target is read before the link is written. */
    la a2, 1f
5:  jalr a5, 1(a2)
    j fail
1:  la a4, 5b + 4
    check(a5, a4)
    la a2, 2f - 2047
6:  jalr a5, 2047(a2)
    j fail
2:  la a4, 6b + 4
    check(a5, a4)
    la a2, 3f + 2048
7:  jalr a2, -2048(a2)
    j fail
3:  la a4, 7b + 4
    check(a2, a4)
    la a2, 4f
    jalr x0, 0(a2)
    j fail
4:  check_value(x0, 0)

/* Nested calls to a depth that differs between lanes: the sum of 1 to n by recursion. */
    tern_id s0
    andi s0, s0, 15
    mv a0, s0
    call sum
    addi a4, s0, 1
    mul a4, a4, s0
    srli a4, a4, 1
    check(a0, a4)

/* Calls to a function that differs between lanes. */
    tern_id s0
    andi s0, s0, 3
    la a2, functions
    slli a3, s0, 3
    add a2, a2, a3
    jalr ra, 0(a2)
    addi a4, s0, 100
    check(a0, a4)

/* A loop with another count in each lane, left from within. */
    tern_id s0
    li a5, 0
1:  addi a5, a5, 1
    beq a5, s0, 2f
    li a4, 100
    bne a5, a4, 1b
    bnez s0, fail
    li a5, 0
2:  check(a5, s0)

    test_end

sum:
    beqz a0, 1f
    addi sp, sp, -16
    sw ra, 12(sp)
    sw a0, 8(sp)
    addi a0, a0, -1
    call sum
    lw a1, 8(sp)
    lw ra, 12(sp)
    addi sp, sp, 16
    add a0, a0, a1
1:  ret

functions:
    .irp n, 100, 101, 102, 103
    li a0, \n
    ret
    .endr
