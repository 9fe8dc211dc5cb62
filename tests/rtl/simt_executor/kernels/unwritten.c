/* SPDX-License-Identifier: Apache-2.0 */
/* Stores registers that were never written, registers that only odd lanes write, and local memory that no work-item
   writes. All of these read as zero. The kernel is in assembler because C cannot read an unwritten register. */
#define STORE(r) " sw x" #r ", 4 * " #r "(x5)\n"

__asm__(".section .text.start, \"ax\"\n"
        ".globl _start\n"
        "_start:\n"
        " lw x5, 0(x10)\n"
        " csrr x6, 0xcd0\n"
        " slli x6, x6, 8\n"
        " add x5, x5, x6\n"
        STORE(1) STORE(3) STORE(4) STORE(7) STORE(8) STORE(9) STORE(11) STORE(12) STORE(13) STORE(14)
        STORE(15) STORE(16)
        STORE(17) STORE(18) STORE(19) STORE(20) STORE(21) STORE(22) STORE(23) STORE(24) STORE(25) STORE(26) STORE(27)
        STORE(28) STORE(29) STORE(30) STORE(31)
        " fmadd.s x9, x11, x12, x13\n"
        " sw x9, 124(x5)\n"
        " csrr x6, 0xcc0\n"
        " andi x6, x6, 1\n"
        " beqz x6, 1f\n"
        " li x31, 77\n"
        " lw x30, 0(x10)\n"
        " div x29, x5, x6\n"
        " mul x28, x5, x5\n"
        " fcvt.s.w x27, x5\n"
        " fadd.s x26, x5, x5\n"
        " amoadd.w x25, x6, (x5)\n"
        " csrr x24, 0xcd0\n"
        "1:\n"
        " sw x31, 128(x5)\n"
        " sw x30, 132(x5)\n"
        " sw x29, 136(x5)\n"
        " sw x28, 140(x5)\n"
        " sw x27, 144(x5)\n"
        " sw x26, 148(x5)\n"
        " sw x25, 152(x5)\n"
        " sw x24, 156(x5)\n"
        " lui x1, 0xe0000\n"
        " csrr x3, 0xcc0\n"
        " slli x3, x3, 2\n"
        " add x1, x1, x3\n"
        " lw x3, 0(x1)\n"
        " sw x3, 160(x5)\n"
        " lw x3, 1024(x1)\n"
        " sw x3, 164(x5)\n"
        " .insn i 0x0b, 1, x0, x0, 0\n");
