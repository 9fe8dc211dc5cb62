/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The end of a test program, on Tern and, with -DTERN_REFERENCE, under a RISC-V Linux as a reference.
 *   Tern   a work-item stores {code, begin, end} at args + 16 * its global id, and executes the exit instruction.
 *   Linux  [begin, end) is written to standard output, and the exit status is the code, or 0 for TERN_PASSED.
 * The code is TERN_PASSED, or 2 * the number of the failing case + 1, as in the host interface of riscv-tests. No stack
 * and no memory is needed.
 */
#ifndef TERN_ENV_H
#define TERN_ENV_H

#define TERN_PASSED 1

#ifdef TERN_REFERENCE

.macro tern_end code, begin=x0, end=x0
    addi    s1, \code, -TERN_PASSED
    mv      a1, \begin
    sub     a2, \end, a1
    beqz    a2, 2f
    li      a0, 1
1:  li      a7, 64              /* write, which may write fewer bytes */
    ecall
    bltz    a0, 3f
    add     a1, a1, a0
    sub     a2, a2, a0
    li      a0, 1
    bnez    a2, 1b
2:  mv      a0, s1
    li      a7, 93              /* exit */
    ecall
3:  li      a0, 255
    li      a7, 93
    ecall
.endm

.macro tern_id rd               /* global id */
    li      \rd, 0
.endm

#else

.macro tern_id rd
    csrr    \rd, 0xcd0
.endm

.macro tern_end code, begin=x0, end=x0
    tern_id x30
    csrr    x31, 0xce0          /* args */
    slli    x30, x30, 4
    add     x31, x31, x30
    sw      \begin, 4(x31)
    sw      \end, 8(x31)
    sw      \code, 0(x31)
    .insn i 0x0b, 1, x0, x0, 0  /* exit */
.endm

#endif
#endif
