/* SPDX-License-Identifier: Apache-2.0 */
/* RV32I: loads and stores of each size at each position in a word, in global, local and private memory. */
#include "check.h"

    test_begin

/* 16 bytes for each work-item: at s7 in global, s8 in local, sp in private memory. */
    tern_id s6
    slli t0, s6, 4
    la s7, own
    add s7, s7, t0
    local_memory s8
    add s8, s8, t0
    addi sp, sp, -64

/* Loads from shared data, and from copies that stores of words have made. */
    la s5, bytes
    .irp at, 0, 4, 8
    lw a5, \at(s5)
    sw a5, \at(sp)
    sw a5, \at(s7)
    sw a5, \at(s8)
    .endr

.macro load insn, at, want
    li a4, \want
    .irp base, s5, s7, s8, sp
    \insn a5, \at(\base)
    bne a5, a4, fail
    .endr
    addi a5, sp, 2044
    \insn a5, (\at - 2044)(a5)
    bne a5, a4, fail
    addi a5, s5, -2036
    \insn a5, (\at + 2036)(a5)
    bne a5, a4, fail
.endm
#define load_case(...) li gp, __LINE__; load __VA_ARGS__
    load_case(lb, 0, 0x01)
    load_case(lb, 1, 0xffffff82)
    load_case(lb, 2, 0x7f)
    load_case(lb, 3, 0xffffff80)
    load_case(lbu, 0, 0x01)
    load_case(lbu, 1, 0x82)
    load_case(lbu, 2, 0x7f)
    load_case(lbu, 3, 0x80)
    load_case(lh, 0, 0xffff8201)
    load_case(lh, 2, 0xffff807f)
    load_case(lh, 4, 0x7654)
    load_case(lh, 6, 0xffff8765)
    load_case(lhu, 0, 0x8201)
    load_case(lhu, 2, 0x807f)
    load_case(lhu, 4, 0x7654)
    load_case(lw, 0, 0x807f8201)
    load_case(lw, 4, 0x87657654)
    load_case(lw, 8, 0xdeadbeef)

/* Stores do not change the rest of the word. */
.macro store insn, at, value, want
    li a2, 0xaaaaaaaa
    li a3, \value
    li a4, \want
    .irp base, s7, s8, sp
    sw a2, 12(\base)
    \insn a3, (12 + \at)(\base)
    lw a5, 12(\base)
    bne a5, a4, fail
    .endr
.endm
#define store_case(...) li gp, __LINE__; store __VA_ARGS__
    store_case(sb, 0, 0x12345678, 0xaaaaaa78)
    store_case(sb, 1, 0x12345678, 0xaaaa78aa)
    store_case(sb, 2, 0x12345678, 0xaa78aaaa)
    store_case(sb, 3, 0x12345678, 0x78aaaaaa)
    store_case(sh, 0, 0x12345678, 0xaaaa5678)
    store_case(sh, 2, 0x12345678, 0x5678aaaa)
    store_case(sw, 0, 0x12345678, 0x12345678)

/* A load into x0 changes nothing. A load may overwrite its address register. */
    lw x0, 0(s5)
    check_value(x0, 0)
    mv a5, s5
    lw a5, 8(a5)
    check_value(a5, 0xdeadbeef)

/* Many outstanding loads, whose results are used late and out of order. */
    lw a0, 0(s5)
    lw a1, 4(s5)
    lw a2, 8(s5)
    lbu a3, 1(s5)
    lh t0, 6(s5)
    check_value(t0, 0xffff8765)
    check_value(a3, 0x82)
    check_value(a2, 0xdeadbeef)
    check_value(a1, 0x87657654)
    check_value(a0, 0x807f8201)

/* Each work-item still finds its own values. */
    .irp base, s7, s8, sp
    sw s6, 4(\base)
    .endr
#ifndef TERN_REFERENCE
    .insn i 0x0b, 0, x0, x0, 0  /* barrier */
#endif
    .irp base, s7, s8, sp
    lw a5, 4(\base)
    check(a5, s6)
    .endr

/* Each work-item has words, halves and bytes in shared memory next to those of others. */
    la s7, words
    slli t0, s6, 2
    add s7, s7, t0
    addi t1, s6, 0x123
    sw t1, 0(s7)
    la s8, halves
    slli t0, s6, 1
    add s8, s8, t0
    sh t1, 0(s8)
    la s9, single
    add s9, s9, s6
    sb t1, 0(s9)
    fence
    lw a5, 0(s7)
    check(a5, t1)
    lhu a5, 0(s8)
    check(a5, t1)
    lbu a5, 0(s9)
    andi a4, t1, 255
    check(a5, a4)

    addi sp, sp, 64
    test_end

    .section .rodata
    .balign 64
bytes:
    .byte 0x01, 0x82, 0x7f, 0x80
    .half 0x7654, 0x8765
    .word 0xdeadbeef

    .bss
    .balign 64
own:
    .skip 64 * 16
words:
    .skip 64 * 4
halves:
    .skip 64 * 2
single:
    .skip 64
