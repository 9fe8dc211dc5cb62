/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Every fault that a work-item can cause, each in a program of its own, with the expected report.
 *
 * fault NAME, ITEM, CODE, ACCESS, VA, PC: work-item ITEM runs the code up to end_fault, and the others end at once.
 * fault_of_all: all work-items run the code, and ITEM is the one that the fault names.
 * VA and PC may be labels. tests/isa/run runs the rows of section .faults, which have the loader's entry and the
 * expected report.
 */
#include "tern_env.h"

#define READ 0
#define WRITE 1
#define EXECUTE 2
#define ATOMIC 3
#define PAGE 1
#define PROTECTION 2
#define ILLEGAL 4
#define MISALIGNED 5
#define STACK 6
#define LOCAL 7
#define BARRIER 8
#define CALL 9

#define UNMAPPED 0x40000000
#define LOCAL_END 0xe0000400    /* the loader allocates 1 KiB of local and of private memory */
#define PRIVATE_END 0xf0000400
#define GUARD_END 0xeffffffc

.macro fault_of_all name, item, code, access, va, pc
    .pushsection .faults
    .word 70f, \item, \code, \access, \va, \pc
75: .ascii "\name"
    .fill 24 - (. - 75b), 1, 0
    .popsection
    .balign 4
70:
.endm
.macro fault name, item, code, access, va, pc
    fault_of_all "\name", \item, \code, \access, \va, \pc
    tern_id t0
    li t1, \item
    beq t0, t1, 71f
    j passed
71:
.endm
.macro end_fault
    j missed
.endm
/* A fault of an access to va by the instruction at label 1. */
.macro access_fault name, item, code, access, va, insn:vararg
    fault "\name", \item, \code, \access, \va, 1f
    li a0, \va
1:  \insn
    end_fault
.endm
/* A fault of the instruction at label 1 itself. */
.macro illegal name, item, word
    fault "\name", \item, ILLEGAL, EXECUTE, 1f, 1f
1:  .word \word
    end_fault
.endm

    .section .text.init, "ax"
    .globl rvtest_entry_point
rvtest_entry_point:
passed:
    li gp, TERN_PASSED
    tern_end gp
missed:
    li gp, 3
    tern_end gp

    access_fault "load, unmapped", 0, PAGE, READ, UNMAPPED, lw a1, 0(a0)
    access_fault "byte load, unmapped", 3, PAGE, READ, UNMAPPED + 3, lbu a1, 0(a0)
    access_fault "store, unmapped", 9, PAGE, WRITE, UNMAPPED, sw a1, 0(a0)
    access_fault "amo, unmapped", 0, PAGE, ATOMIC, UNMAPPED, amoadd.w a1, a1, (a0)
    access_fault "lr, unmapped", 10, PAGE, ATOMIC, UNMAPPED, lr.w a1, (a0)
    access_fault "load of null", 0, PAGE, READ, 0, lw a1, 0(a0)

    fault "store to code", 2, PROTECTION, WRITE, rvtest_entry_point, 1f
    la a0, rvtest_entry_point
1:  sw a1, 0(a0)
    end_fault
    fault "amo on code", 0, PROTECTION, ATOMIC, rvtest_entry_point, 1f
    la a0, rvtest_entry_point
1:  amoswap.w a1, a1, (a0)
    end_fault
    fault "jump to data", 1, PROTECTION, EXECUTE, data, data
    la a0, data
    jr a0
    end_fault
    fault "jump, unmapped", 8, PAGE, EXECUTE, UNMAPPED, UNMAPPED
    li a0, UNMAPPED
    jr a0
    end_fault

    fault "lw at 2", 0, MISALIGNED, READ, data + 2, 1f
    la a0, data
1:  lw a1, 2(a0)
    end_fault
    fault "lw at 1", 5, MISALIGNED, READ, data + 1, 1f
    la a0, data
1:  lw a1, 1(a0)
    end_fault
    fault "lh at 1", 0, MISALIGNED, READ, data + 1, 1f
    la a0, data
1:  lh a1, 1(a0)
    end_fault
    fault "lhu at 3", 0, MISALIGNED, READ, data + 3, 1f
    la a0, data
1:  lhu a1, 3(a0)
    end_fault
    fault "sw at 3", 0, MISALIGNED, WRITE, data + 3, 1f
    la a0, data
1:  sw a1, 3(a0)
    end_fault
    fault "sh at 1", 7, MISALIGNED, WRITE, data + 1, 1f
    la a0, data
1:  sh a1, 1(a0)
    end_fault
    fault "amo at 2", 0, MISALIGNED, ATOMIC, data + 2, 1f
    la a0, data + 2
1:  amoor.w a1, a1, (a0)
    end_fault
    fault "sc at 1", 0, MISALIGNED, ATOMIC, data + 1, 1f
    la a0, data + 1
1:  sc.w a1, a1, (a0)
    end_fault
    fault "jalr to 2", 0, MISALIGNED, EXECUTE, passed + 2, 1f
    la a0, passed
1:  jalr a1, 2(a0)
    end_fault
    fault "jal to 2", 4, MISALIGNED, EXECUTE, 2f, 1f
1:  .word 0x006005ef           /* jal a1, . + 6 */
    .half 1
2:  .half 0
    end_fault
    fault "branch to 2", 0, MISALIGNED, EXECUTE, 2f, 1f
1:  .word 0x00000363           /* beq x0, x0, . + 6 */
    .half 1
2:  .half 0
    end_fault

    access_fault "beyond private", 0, STACK, READ, PRIVATE_END, lw a1, 0(a0)
    access_fault "store beyond private", 6, STACK, WRITE, PRIVATE_END, sw a1, 0(a0)
    access_fault "stack too deep", 0, STACK, WRITE, GUARD_END, sw a1, 0(a0)
    access_fault "end of addresses", 0, STACK, READ, 0xfffffffc, lw a1, 0(a0)
    access_fault "beyond local", 0, LOCAL, READ, LOCAL_END, lw a1, 0(a0)
    access_fault "store beyond local", 11, LOCAL, WRITE, LOCAL_END, sw a1, 0(a0)
    access_fault "amo beyond local", 0, LOCAL, ATOMIC, LOCAL_END, amoadd.w a1, a1, (a0)

    fault "ecall", 0, CALL, EXECUTE, 1f, 1f
1:  ecall
    end_fault
    fault "ebreak", 13, CALL, EXECUTE, 1f, 1f
1:  ebreak
    end_fault

    illegal "zero", 0, 0
    illegal "ones", 12, 0xffffffff
    illegal "compressed nop", 0, 0x00010001
    illegal "mret", 0, 0x30200073
    illegal "wfi", 0, 0x10500073
    illegal "ld", 0, 0x00053583
    illegal "sd", 0, 0x00b53023
    illegal "flw", 0, 0x00052507
    illegal "fsw", 0, 0x00a52027
    illegal "fmv.x.w", 0, 0xe0050553
    illegal "fmv.w.x", 0, 0xf0050553
    illegal "fadd.d", 0, 0x02b57553
    illegal "fadd.s of mode 5", 0, 0x00b55553
    illegal "fmadd.s of mode 6", 0, 0x60b56543
    illegal "fcvt.l.s", 0, 0xc0257553
    illegal "slli by 32", 0, 0x02051513
    illegal "amoadd.d", 0, 0x00b5352f
    illegal "lr.w with rs2", 0, 0x10b5252f
    illegal "bset (Zbs)", 0, 0x28b51533
    illegal "clmul (Zbc)", 0, 0x0ab51533
    illegal "bseti (Zbs)", 0, 0x28655513
    illegal "pack (Zbkb)", 0, 0x08b54533
    illegal "brev8 (Zbkb)", 0, 0x68755513
    illegal "rev8 of 25", 0, 0x69955513
    illegal "third of clz, ctz", 0, 0x60351513
    illegal "srai by 32", 0, 0x42055513
    illegal "mulw", 0, 0x02b5053b
    illegal "jalr funct3 1", 0, 0x00051567
    illegal "cbo", 0, 0x0005200f
    illegal "sfence.vma", 0, 0x12000073
    illegal "amo funct5 6", 0, 0x30b5252f
    illegal "fsqrt.s with rs2", 0, 0x58157553
    illegal "fsgnj funct3 3", 0, 0x20b53553
    illegal "fmin funct3 2", 0, 0x28b52553
    illegal "fle funct3 3", 0, 0xa0b53553
    illegal "fcvt.s.l", 0, 0xd0257553
    illegal "custom-1", 0, 0x0000002b
    illegal "custom-0 funct3 2", 0, 0x0000200b
    illegal "barrier with rd", 0, 0x0000008b
    illegal "branch funct3 2", 0, 0x00002463
    illegal "csr of no such number", 5, 0xcff02573
    illegal "instret", 0, 0xc0202573
    illegal "mstatus", 0, 0x30002573
    illegal "write of cycle", 0, 0xc0051073
    illegal "set bits of global_id_x", 0, 0xcd01e073

    fault "dynamic mode 5", 2, ILLEGAL, EXECUTE, 1f, 1f
    csrwi frm, 5
1:  fadd.s a1, a1, a1
    end_fault
    fault "dynamic mode 7", 0, ILLEGAL, EXECUTE, 1f, 1f
    csrwi frm, 7
1:  fcvt.w.s a1, a1
    end_fault

/* If several lanes of a warp fault at one instruction, the lowest is named. */
    fault_of_all "many illegal", 3, ILLEGAL, EXECUTE, 1f, 1f
    tern_id t0
    addi t1, t0, -3
    sltiu t1, t1, 4             /* 3 to 6 */
    beqz t1, passed
1:  .word 0
    end_fault
    fault_of_all "many unmapped", 3, PAGE, READ, UNMAPPED + 3 * 64, 1f
    tern_id t0
    addi t1, t0, -3
    sltiu t1, t1, 4
    beqz t1, passed
    slli t0, t0, 6
    li a0, UNMAPPED
    add a0, a0, t0
1:  lw a1, 0(a0)
    end_fault

/* A barrier that cannot open: all other work-items have ended, or one waits at a lower or higher barrier. */
    fault "barrier", 3, BARRIER, EXECUTE, 1f, 1f
1:  .insn i 0x0b, 0, x0, x0, 0
    end_fault
    fault_of_all "one at a lower barrier", 5, BARRIER, EXECUTE, 1f, 1f
    tern_id t0
    li t1, 5
    bne t0, t1, 2f
1:  .insn i 0x0b, 0, x0, x0, 0
    j missed
2:  .insn i 0x0b, 0, x0, x0, 0
    end_fault
    fault_of_all "one at a higher barrier", 0, BARRIER, EXECUTE, 1f, 1f
    tern_id t0
    li t1, 5
    beq t0, t1, 2f
1:  .insn i 0x0b, 0, x0, x0, 0
    j missed
2:  .insn i 0x0b, 0, x0, x0, 0
    end_fault

    .data
    .balign 64
data:
    .word 0, 0
