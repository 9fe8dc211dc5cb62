/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Tables of cases for one instruction, and a loop over them.
 *
 *     binary add            the instruction, and what is done with its rows
 *     row(1, 2, 3)          operands and what must come out; its line in the source is what a failure reports
 *     done
 *
 * Every work-item goes through all rows, each starting at another, so that lanes of a warp hold different operands. An
 * instruction is tried with a register of its own for the result, with the result over each operand, and into x0.
 * Registers: s0 to s4 the loop, a1 to a3 operands, a4 what is wanted, a5 the result, gp the line.
 */
#ifndef TERN_CHECK_H
#define TERN_CHECK_H

#include "tern_env.h"

#define row(...) .word __VA_ARGS__, __LINE__
/* One case in a line of its own: leaves with the line if the registers differ. */
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

/* s2 walks the rows between 77 and 78 from row (global id) mod rows on, s4 bytes are left. */
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

/* Local memory, which a reference has as memory like any other. */
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

/* Both operands in one register. */
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

/* Taken forward, and taken backward or not: a4 is 1 if it must be taken. */
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

/* a5 and the flags t3 of an instruction that began with flags t4. */
.macro float_check
    csrr t3, fflags
    or t5, t4, t6
    bne a5, a4, fail
    bne t3, t5, fail
.endm

/* In each mode (t1, with its results at t2 and flags from t0): by frm and by the instruction's own field, with flags
   clear and with all set, with the result over each operand. */
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
