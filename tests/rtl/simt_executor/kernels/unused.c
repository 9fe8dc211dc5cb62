/* SPDX-License-Identifier: Apache-2.0 */
/* Atomics and loads whose results are not read. The results go to eight registers or, if the second argument is not 0,
   all to x0. A read of fflags waits for a floating-point instruction even if that writes x0. */
#define EACH(op) op(7) op(8) op(9) op(11) op(12) op(13) op(14) op(15)
#define ADD(r) " amoadd.w x" #r ", x6, (x5)\n"
#define LOAD(r) " lw x" #r ", 256(x5)\n"
#define DROP_ADD(r) " amoadd.w x0, x6, (x5)\n"
#define DROP_LOAD(r) " lw x0, 256(x5)\n"

__asm__(".section .text.start, \"ax\"\n"
        ".globl _start\n"
        "_start:\n"
        " lw x5, 0(x10)\n"
        " lw x16, 4(x10)\n"
        " csrr x6, 0xcd0\n"
        " slli x6, x6, 2\n"
        " add x5, x5, x6\n"
        " csrw fflags, x0\n"
        " li x17, 1\n"
        " bnez x16, 1f\n"
        EACH(ADD) EACH(LOAD) EACH(ADD)
        EACH(ADD)
        " fdiv.s x18, x17, x0\n"
        " j 2f\n"
        "1:\n"
        EACH(DROP_ADD) EACH(DROP_LOAD) EACH(DROP_ADD)
        EACH(DROP_ADD)
        " fdiv.s x0, x17, x0\n"
        "2:\n"
        " csrr x19, fflags\n"
        " sw x19, 1024(x5)\n"
        " .insn i 0x0b, 1, x0, x0, 0\n");
