/* SPDX-License-Identifier: Apache-2.0 */
/* Zba and Zbb. */
#include "check.h"

    test_begin

    binary sh1add
    row(1, 100, 102)
    row(0x80000001, 0xffffffff, 1)
    row(0xffffffff, 1, 0xffffffff)
    done
    binary sh2add
    row(1, 100, 104)
    row(0xc0000001, 0xffffffff, 3)
    done
    binary sh3add
    row(1, 100, 108)
    row(0xe0000001, 0xffffffff, 7)
    row(0x12345678, 0x10, 0x91a2b3d0)
    done
    binary andn
    row(0xff00ff00, 0x0ff00ff0, 0xf000f000)
    row(0xffffffff, 0, 0xffffffff)
    done
    binary orn
    row(0xff00ff00, 0x0ff00ff0, 0xff0fff0f)
    row(0, 0, 0xffffffff)
    done
    binary xnor
    row(0xff00ff00, 0x0ff00ff0, 0x0f0f0f0f)
    row(0, 0, 0xffffffff)
    done
    binary min
    row(0x80000000, 0x7fffffff, 0x80000000)
    row(0, 0xffffffff, 0xffffffff)
    row(5, 6, 5)
    done
    binary minu
    row(0x80000000, 0x7fffffff, 0x7fffffff)
    row(0, 0xffffffff, 0)
    row(6, 5, 5)
    done
    binary max
    row(0x80000000, 0x7fffffff, 0x7fffffff)
    row(0, 0xffffffff, 0)
    row(5, 6, 6)
    done
    binary maxu
    row(0x80000000, 0x7fffffff, 0x80000000)
    row(0, 0xffffffff, 0xffffffff)
    row(6, 5, 6)
    done
    binary rol
    row(0x80000001, 1, 3)
    row(0x12345678, 0, 0x12345678)
    row(0x12345678, 32, 0x12345678)
    row(0x12345678, 0xffffffe8, 0x34567812)
    row(0x12345678, 31, 0x091a2b3c)
    done
    binary ror
    row(0x80000001, 1, 0xc0000000)
    row(0x12345678, 0, 0x12345678)
    row(0x12345678, 0xffffffe8, 0x78123456)
    row(0x12345678, 31, 0x2468acf0)
    done
    binary_same rol
    row(0x80000001, 3)
    done
    unary clz
    row(0, 32)
    row(1, 31)
    row(0x80000000, 0)
    row(0x00ffffff, 8)
    row(0x7fffffff, 1)
    done
    unary ctz
    row(0, 32)
    row(1, 0)
    row(0x80000000, 31)
    row(0xffffff00, 8)
    row(0xfffffffe, 1)
    done
    unary cpop
    row(0, 0)
    row(0xffffffff, 32)
    row(0x80000001, 2)
    row(0x12345678, 13)
    done
    unary sext.b
    row(0x80, 0xffffff80)
    row(0xffffff7f, 0x7f)
    done
    unary sext.h
    row(0x8000, 0xffff8000)
    row(0xffff7fff, 0x7fff)
    done
    unary zext.h
    row(0x12348000, 0x8000)
    row(0xffffffff, 0xffff)
    done
    unary orc.b
    row(0, 0)
    row(0x01000080, 0xff0000ff)
    row(0x00100200, 0x00ffff00)
    row(0x12345678, 0xffffffff)
    done
    unary rev8
    row(0x12345678, 0x78563412)
    row(0x000000ff, 0xff000000)
    done

.macro rotate by, want
    li a2, 0x12345678
    li a4, \want
    rori a5, a2, \by
    bne a5, a4, fail
    rori a2, a2, \by
    bne a2, a4, fail
.endm
#define rotate_case(...) li gp, __LINE__; rotate __VA_ARGS__
    rotate_case(0, 0x12345678)
    rotate_case(4, 0x81234567)
    rotate_case(31, 0x2468acf0)

    test_end
