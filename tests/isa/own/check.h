/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Tables of cases for one instruction, and a loop over them.
 *
 *     binary add            the kind of test, and the instruction
 *     row(1, 2, 3)          operands and expected result; a failure reports the row's line in the source
 *     done
 *
 * Every work-item runs all rows and begins at another one, so that lanes of a warp have different operands. An
 * instruction is tested with a separate register for the result, with the result in each operand, and with x0.
 * Registers: s0 to s4 loop, a1 to a3 operands, a4 expected result, a5 result, gp line.
 */
#ifndef TERN_CHECK_H
#define TERN_CHECK_H

#include "tern_env.h"

#define row(...) .word __VA_ARGS__, __LINE__
/* A case of one line: fails with the line if the registers differ. */
#define check(a, b) li gp, __LINE__; bne a, b, fail
#define check_value(reg, value) li a4, value; check(reg, a4)

.macro test_begin
    .section .text.init, "ax"
    .globl rvtest_entry_point
rvtest_entry_point:
    li gp, 0
    j test_start
fail:
    slli gp, gp, 1
    ori gp, gp, 1
    tern_end gp
test_start:
.endm

.macro test_end
    li gp, TERN_PASSED
    tern_end gp
.endm

/* s2 is the current row between 77 and 78, at first row (global id) mod rows. s4 is the number of bytes left. */
.macro rows words
    la s0, 77f
    la s1, 78f
    sub s4, s1, s0
    mv s2, s0
    tern_id t0
71: beqz t0, 73f
    addi t0, t0, -1
    addi s2, s2, 4 * \words
    bne s2, s1, 71b
    mv s2, s0
    j 71b
73: lw gp, (4 * \words - 4)(s2)
.endm
.macro next_row words
    addi s2, s2, 4 * \words
    bne s2, s1, 76f
    mv s2, s0
76: addi s4, s4, -4 * \words
    bnez s4, 73b
    .pushsection .rodata
    .balign 4
77:
.endm
.macro done
78: .popsection
.endm

/* Address of local memory, which is ordinary memory in a reference. */
.macro local_memory rd
#ifdef TERN_REFERENCE
    la \rd, 79f
    .pushsection .bss
    .balign 4
79: .skip 1024
    .popsection
#else
    li \rd, 0xe0000000
#endif
.endm

.macro is_zero
    mv a5, x0
    bnez a5, fail
.endm

.macro binary insn
    rows 4
    lw a2, 0(s2)
    lw a3, 4(s2)
    lw a4, 8(s2)
    \insn a5, a2, a3
    bne a5, a4, fail
    mv a5, a2
    \insn a5, a5, a3
    bne a5, a4, fail
    mv a5, a3
    \insn a5, a2, a5
    bne a5, a4, fail
    \insn x0, a2, a3
    is_zero
    next_row 4
.endm

/* An instruction with one register for both operands. */
.macro binary_same insn
    rows 3
    lw a2, 0(s2)
    lw a4, 4(s2)
    \insn a5, a2, a2
    bne a5, a4, fail
    \insn a2, a2, a2
    bne a2, a4, fail
    next_row 3
.endm

.macro unary insn
    rows 3
    lw a2, 0(s2)
    lw a4, 4(s2)
    \insn a5, a2
    bne a5, a4, fail
    mv a5, a2
    \insn a5, a5
    bne a5, a4, fail
    \insn x0, a2
    is_zero
    next_row 3
.endm

/* A branch forward and backward. a4 is 1 if the branch must be taken. */
.macro branch insn
    rows 4
    lw a2, 0(s2)
    lw a3, 4(s2)
    lw a4, 8(s2)
    li a5, 1
    \insn a2, a3, 61f
    li a5, 0
61: bne a5, a4, fail
    li a5, 0
    j 63f
62: li a5, 1
    j 64f
63: \insn a2, a3, 62b
64: bne a5, a4, fail
    next_row 4
.endm

/* ------------------------------------------------------------------ floats */

#define NX 1
#define UF 2
#define OF 4
#define DZ 8
#define NV 16
/* Results and flags in the modes RNE, RTZ, RDN, RUP, RMM. */
#define all(x) x, x, x, x, x
#define modes(rne, rtz, rdn, rup, rmm) rne, rtz, rdn, rup, rmm
#define all_flags(x) (x) * 0x108421
#define flags(rne, rtz, rdn, rup, rmm) (rne) | (rtz) << 5 | (rdn) << 10 | (rup) << 15 | (rmm) << 20

.macro float_issue insn, n, rd, x, y, z, rm:vararg
    .ifeq \n - 1
    \insn \rd, \x \rm
    .endif
    .ifeq \n - 2
    \insn \rd, \x, \y \rm
    .endif
    .ifeq \n - 3
    \insn \rd, \x, \y, \z \rm
    .endif
.endm

/* Checks a5, and the flags t3 of an instruction that began with the flags t4. */
.macro float_check
    csrr t3, fflags
    or t5, t4, t6
    bne a5, a4, fail
    bne t3, t5, fail
.endm

/* An instruction in each rounding mode: by frm and by its own field, with all flags clear and all set, and with the
   result in each operand. t1 is the mode, t2 the address of the results, t0 has the flags. */
.macro float insn, n, rounds=1
    rows (\n + 7)
    lw a2, 0(s2)
    .ifgt \n - 1
    lw a3, 4(s2)
    .endif
    .ifgt \n - 2
    lw a1, 8(s2)
    .endif
    addi t2, s2, 4 * \n
    lw t0, 4 * \n + 20(s2)
    li t1, 0
74: lw a4, 0(t2)
    andi t6, t0, 31
    csrw frm, t1
    li t4, 0
    csrw fflags, t4
    float_issue \insn, \n, a5, a2, a3, a1
    float_check
    mv a5, a2
    csrw fflags, t4
    float_issue \insn, \n, a5, a5, a3, a1
    float_check
    li t4, 31
    csrw fflags, t4
    .ifgt \n - 1
    mv a5, a3
    float_issue \insn, \n, a5, a2, a5, a1
    float_check
    li t4, 0
    csrw fflags, t4
    .endif
    .ifgt \n - 2
    mv a5, a1
    float_issue \insn, \n, a5, a2, a3, a5
    float_check
    .endif
    csrr a5, frm
    bne a5, t1, fail
    .if \rounds
    seqz a5, t1
    csrw frm, a5
    li t4, 0
    csrw fflags, t4
    float_static \insn, \n, 0, rne
    float_static \insn, \n, 1, rtz
    float_static \insn, \n, 2, rdn
    float_static \insn, \n, 3, rup
    float_static \insn, \n, 4, rmm
    float_check
    .endif
    float_issue \insn, \n, x0, a2, a3, a1
    is_zero
    addi t2, t2, 4
    srli t0, t0, 5
    addi t1, t1, 1
    li a5, 5
    bne t1, a5, 74b
    next_row (\n + 7)
.endm
.macro float_static insn, n, number, mode
    li t3, \number
    bne t1, t3, 75f
    float_issue \insn, \n, a5, a2, a3, a1, , \mode
75:
.endm
#endif
