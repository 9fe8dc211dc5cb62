/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The environment that the tests of riscv-tests (isa/rv32u*) need, for a Tern work-item.
 *
 * A test runs once, without traps, and ends by tern_env.h. The tests of F test Zfinx: the names of F's registers stand
 * for integer registers that these tests do not use otherwise, and F's loads, stores and moves for integer ones.
 */
#ifndef TERN_RISCV_TEST_H
#define TERN_RISCV_TEST_H

#include "tern_env.h"

#define TESTNUM gp

#define RVTEST_RV32U
#define RVTEST_RV64U RVTEST_RV32U
#define RVTEST_RV32UF csrwi fcsr, 0;
#define RVTEST_RV64UF RVTEST_RV32UF

#define RVTEST_CODE_BEGIN \
    .section .text.init; \
    .globl rvtest_entry_point; \
rvtest_entry_point: \
    li TESTNUM, 0;
#define RVTEST_CODE_END unimp
#define RVTEST_PASS li TESTNUM, TERN_PASSED; tern_end TESTNUM;
#define RVTEST_FAIL slli TESTNUM, TESTNUM, 1; ori TESTNUM, TESTNUM, 1; tern_end TESTNUM;
#define RVTEST_DATA_BEGIN .align 4;
#define RVTEST_DATA_END
#define EXTRA_DATA

/* Tests that rv32u* shares with rv64u* load constants of 64 bits, of which RV32 uses the low half. */
.macro li rd, value:vararg
    lui \rd, (((\value) + 0x800) >> 12) & 0xfffff
    addi \rd, \rd, (((\value) & 0xfff) ^ 0x800) - 0x800
.endm

#ifdef __riscv_zfinx
#define f0 x24
#define f1 x25
#define f2 x26
#define f10 x18
#define f11 x19
#define f12 x20
#define f13 x21

.macro fmv.x.s rd, rs
    mv \rd, \rs
.endm
.macro fmv.s.x rd, rs
    mv \rd, \rs
.endm
.macro fsflags rd, rs
    .ifb \rs
    csrw fflags, \rd
    .else
    csrrw \rd, fflags, \rs
    .endif
.endm
.macro fssr rd, rs
    csrrw \rd, fcsr, \rs
.endm
.macro frsr rd
    csrr \rd, fcsr
.endm
.macro frflags rd
    csrr \rd, fflags
.endm
.macro flw rd, place, scratch
    lw \rd, \place
.endm
.macro fsw rs, place
    sw \rs, \place
.endm
#endif
#endif
