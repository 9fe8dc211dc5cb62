/* SPDX-License-Identifier: Apache-2.0 */
/* RV32I: register and immediate operations, upper immediates. */
#include "check.h"

    test_begin

    binary add
    row(0, 0, 0)
    row(1, 2, 3)
    row(0x7fffffff, 1, 0x80000000)
    row(0xffffffff, 1, 0)
    row(0x80000000, 0x80000000, 0)
    row(0x12345678, 0x9abcdef0, 0xacf13568)
    done
    binary sub
    row(0, 0, 0)
    row(0, 1, 0xffffffff)
    row(0x80000000, 1, 0x7fffffff)
    row(0x12345678, 0x9abcdef0, 0x77777788)
    row(0xffffffff, 0xffffffff, 0)
    done
    binary and
    row(0xff00ff00, 0x0ff00ff0, 0x0f000f00)
    row(0xffffffff, 0x12345678, 0x12345678)
    row(0xaaaaaaaa, 0x55555555, 0)
    done
    binary or
    row(0xff00ff00, 0x0ff00ff0, 0xfff0fff0)
    row(0, 0x12345678, 0x12345678)
    row(0xaaaaaaaa, 0x55555555, 0xffffffff)
    done
    binary xor
    row(0xff00ff00, 0x0ff00ff0, 0xf0f0f0f0)
    row(0xffffffff, 0x12345678, 0xedcba987)
    row(0xaaaaaaaa, 0xaaaaaaaa, 0)
    done
    binary sll
    row(1, 0, 1)
    row(1, 31, 0x80000000)
    row(0xffffffff, 4, 0xfffffff0)
    row(0x12345678, 32, 0x12345678)
    row(0x12345678, 0xffffffe4, 0x23456780)
    done
    binary srl
    row(0x80000000, 31, 1)
    row(0xffffffff, 4, 0x0fffffff)
    row(0x80000000, 32, 0x80000000)
    row(0x87654321, 0xffffffe8, 0x00876543)
    done
    binary sra
    row(0x80000000, 31, 0xffffffff)
    row(0x7fffffff, 30, 1)
    row(0x87654321, 0xffffffe8, 0xff876543)
    row(0x80000000, 32, 0x80000000)
    done
    binary slt
    row(0, 0, 0)
    row(0xffffffff, 0, 1)
    row(0, 0xffffffff, 0)
    row(0x80000000, 0x7fffffff, 1)
    row(0x7fffffff, 0x80000000, 0)
    row(5, 6, 1)
    done
    binary sltu
    row(0, 0, 0)
    row(0xffffffff, 0, 0)
    row(0, 0xffffffff, 1)
    row(0x80000000, 0x7fffffff, 0)
    row(0x7fffffff, 0x80000000, 1)
    row(5, 6, 1)
    done

    binary_same add
    row(0x40000001, 0x80000002)
    row(0xffffffff, 0xfffffffe)
    done
    binary_same sub
    row(0x40000001, 0)
    done
    binary_same slt
    row(0x80000000, 0)
    done

    unary neg
    row(1, 0xffffffff)
    row(0x80000000, 0x80000000)
    done
    unary not
    row(0x0f0f0f0f, 0xf0f0f0f0)
    done
    unary seqz
    row(0, 1)
    row(0x80000000, 0)
    done
    unary snez
    row(0, 0)
    row(0x80000000, 1)
    done

/* Immediates are parts of the instruction, so each is a case of its own. */
.macro immediate insn, a, value, want
    li a2, \a
    li a4, \want
    \insn a5, a2, \value
    bne a5, a4, fail
    mv a5, a2
    \insn a5, a5, \value
    bne a5, a4, fail
    \insn x0, a2, \value
    is_zero
.endm
#define immediate_case(...) li gp, __LINE__; immediate __VA_ARGS__

    immediate_case(addi, 0, 2047, 2047)
    immediate_case(addi, 0, -2048, 0xfffff800)
    immediate_case(addi, 0x7fffffff, 1, 0x80000000)
    immediate_case(addi, 0xffffffff, 1, 0)
    immediate_case(slti, 0xffffffff, 0, 1)
    immediate_case(slti, 0x80000000, -2048, 1)
    immediate_case(slti, 0xfffff800, -2048, 0)
    immediate_case(slti, 0x7fffffff, 2047, 0)
    immediate_case(sltiu, 0, 1, 1)
    immediate_case(sltiu, 0xfffffffe, -1, 1)
    immediate_case(sltiu, 0xffffffff, -1, 0)
    immediate_case(sltiu, 0xfffff7ff, -2048, 1)
    immediate_case(xori, 0x00ff0f0f, -1, 0xff00f0f0)
    immediate_case(xori, 0x00ff0f0f, 0x70f, 0x00ff0800)
    immediate_case(ori, 0x00ff0000, -241, 0xffffff0f)
    immediate_case(ori, 0, 0x70f, 0x70f)
    immediate_case(andi, 0xffffffff, -2048, 0xfffff800)
    immediate_case(andi, 0x12345678, 0xff, 0x78)
    immediate_case(slli, 0x80000001, 0, 0x80000001)
    immediate_case(slli, 1, 31, 0x80000000)
    immediate_case(slli, 0x12345678, 12, 0x45678000)
    immediate_case(srli, 0x80000000, 31, 1)
    immediate_case(srli, 0x87654321, 12, 0x00087654)
    immediate_case(srai, 0x80000000, 31, 0xffffffff)
    immediate_case(srai, 0x87654321, 12, 0xfff87654)
    immediate_case(srai, 0x7fffffff, 0, 0x7fffffff)

    lui a5, 0
    check_value(a5, 0)
    lui a5, 0xfffff
    check_value(a5, 0xfffff000)
    lui a5, 0x12345
    check_value(a5, 0x12345000)
    lui x0, 0x12345
    check_value(x0, 0)
1:  auipc a5, 0
    la a4, 1b
    check(a5, a4)
2:  auipc a5, 0xfffff
    la a4, 2b - 0x1000
    check(a5, a4)
3:  auipc a5, 0x12345
    la a3, 3b
    li a4, 0x12345000
    add a4, a4, a3
    check(a5, a4)

    fence
    fence rw, w
    fence.tso
    fence w, 0
    fence.i

    test_end
