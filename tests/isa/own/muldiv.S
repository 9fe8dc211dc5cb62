/* SPDX-License-Identifier: Apache-2.0 */
/* M: products and quotients. A division by zero gives all ones, and the dividend as the remainder.
   An overflow gives the dividend, and 0 as the
   remainder. Neither traps. */
#include "check.h"

    test_begin

    binary mul
    row(0, 0xffffffff, 0)
    row(3, 7, 21)
    row(0xffffffff, 0xffffffff, 1)
    row(0x80000000, 0x80000000, 0)
    row(0x12345678, 0x9abcdef0, 0x242d2080)
    row(0x10001, 0x10001, 0x00020001)
    done
    binary mulh
    row(0, 0xffffffff, 0)
    row(0xffffffff, 0xffffffff, 0)
    row(0xffffffff, 1, 0xffffffff)
    row(0x80000000, 0x80000000, 0x40000000)
    row(0x80000000, 0x7fffffff, 0xc0000000)
    row(0x7fffffff, 0x7fffffff, 0x3fffffff)
    done
    binary mulhu
    row(0xffffffff, 0xffffffff, 0xfffffffe)
    row(0xffffffff, 1, 0)
    row(0x80000000, 0x80000000, 0x40000000)
    row(0x80000000, 2, 1)
    row(0x12345678, 0x9abcdef0, 0x0b00ea4e)
    done
    binary mulhsu
    row(0xffffffff, 0xffffffff, 0xffffffff)
    row(0xffffffff, 1, 0xffffffff)
    row(1, 0xffffffff, 0)
    row(0x80000000, 0x80000000, 0xc0000000)
    row(0x80000000, 0xffffffff, 0x80000000)
    row(0x7fffffff, 0xffffffff, 0x7ffffffe)
    done
    binary div
    row(20, 6, 3)
    row(0xffffffec, 6, 0xfffffffd)
    row(20, 0xfffffffa, 0xfffffffd)
    row(0xffffffec, 0xfffffffa, 3)
    row(0x80000000, 1, 0x80000000)
    row(0x80000000, 0xffffffff, 0x80000000)
    row(0x80000000, 0, 0xffffffff)
    row(1, 0, 0xffffffff)
    row(0, 0, 0xffffffff)
    row(0, 0x80000000, 0)
    row(0x80000000, 0x80000000, 1)
    row(0x7fffffff, 0x80000000, 0)
    row(0x80000000, 3, 0xd5555556)
    done
    binary divu
    row(20, 6, 3)
    row(0xffffffec, 6, 0x2aaaaaa7)
    row(0x80000000, 1, 0x80000000)
    row(0x80000000, 0xffffffff, 0)
    row(0xffffffff, 0xffffffff, 1)
    row(0x80000000, 0, 0xffffffff)
    row(0, 0, 0xffffffff)
    row(0xffffffff, 0x80000000, 1)
    done
    binary rem
    row(20, 6, 2)
    row(0xffffffec, 6, 0xfffffffe)
    row(20, 0xfffffffa, 2)
    row(0xffffffec, 0xfffffffa, 0xfffffffe)
    row(0x80000000, 1, 0)
    row(0x80000000, 0xffffffff, 0)
    row(0x80000000, 0, 0x80000000)
    row(1, 0, 1)
    row(0, 0, 0)
    row(0x7fffffff, 0x80000000, 0x7fffffff)
    done
    binary remu
    row(20, 6, 2)
    row(0xffffffec, 6, 2)
    row(0x80000000, 0xffffffff, 0x80000000)
    row(0x80000000, 0, 0x80000000)
    row(0, 0, 0)
    row(0xffffffff, 0x80000000, 0x7fffffff)
    done
    binary_same div
    row(0x80000000, 1)
    row(0, 0xffffffff)
    done
    binary_same mul
    row(0xffff, 0xfffe0001)
    done
    binary_same remu
    row(0, 0)
    row(7, 0)
    done

    test_end
