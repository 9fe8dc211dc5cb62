/* SPDX-License-Identifier: Apache-2.0 */
/* Zicsr: all forms of its instructions on fcsr, frm and fflags, of which each work-item has its own. */
#include "check.h"

    test_begin

/* Only the 8 existing bits are kept. frm and fflags are parts of fcsr. */
    li a2, -1
    csrw fcsr, a2
    csrr a5, fcsr
    check_value(a5, 0xff)
    csrr a5, fflags
    check_value(a5, 31)
    csrr a5, frm
    check_value(a5, 7)
    csrw fflags, x0
    csrr a5, fcsr
    check_value(a5, 0xe0)
    li a2, 0xffffffea
    csrw frm, a2
    csrr a5, fcsr
    check_value(a5, 0x40)

/* A read and a write at once: rd gets the old value, even if it is the register with the new one. */
    li a2, 0x15
    csrrw a5, fflags, a2
    check_value(a5, 0)
    csrrw a2, fflags, a2
    check_value(a2, 0x15)
    csrr a5, fflags
    check_value(a5, 0x15)

/* Set and clear bits; x0 and 0 change nothing. */
    csrw fcsr, x0
    li a2, 0x0a
    csrrs a5, fflags, a2
    check_value(a5, 0)
    li a2, 0x03
    csrrs a5, fflags, a2
    check_value(a5, 0x0a)
    li a2, 0x09
    csrrc a5, fflags, a2
    check_value(a5, 0x0b)
    csrrc a5, fflags, x0
    check_value(a5, 0x02)
    csrrs a5, fflags, x0
    check_value(a5, 0x02)
    csrrwi a5, fflags, 0x1f
    check_value(a5, 0x02)
    csrrci a5, fflags, 0x11
    check_value(a5, 0x1f)
    csrrsi a5, fflags, 0x01
    check_value(a5, 0x0e)
    csrrsi a5, fflags, 0
    check_value(a5, 0x0f)
    csrrci a5, fflags, 0
    check_value(a5, 0x0f)
    csrrwi x0, frm, 3
    csrr a5, fcsr
    check_value(a5, 0x6f)

/* frm may have the reserved modes 5 to 7. Only an instruction that rounds by frm faults then (faults.S); others ignore
 * it. */
    csrwi fcsr, 0
    csrwi frm, 5
    csrr a5, frm
    check_value(a5, 5)
    li a2, 0x3f800000
    li a3, 0x40000000
    fadd.s a5, a2, a3, rne
    check_value(a5, 0x40400000)
    feq.s a5, a2, a3
    check_value(a5, 0)
    fmin.s a5, a2, a3
    check_value(a5, 0x3f800000)
    fsgnjn.s a5, a2, a3
    check_value(a5, 0xbf800000)
    fclass.s a5, a2
    check_value(a5, 64)

/* Each lane has flags and a mode of its own. */
    tern_id s5
    andi s6, s5, 3
    csrw frm, s6
    andi s7, s5, 31
    csrw fflags, s7
    csrr a5, frm
    check(a5, s6)
    csrr a5, fflags
    check(a5, s7)
    csrwi fflags, 0
    li a2, 0x3f800000
    li a3, 0x40400000
    andi s7, s5, 1
    beqz s7, 1f
    fdiv.s a5, a2, a3
1:  csrr a5, fflags
    check(a5, s7)

/* A write of frm in a branch leaves the mode of the work-items that do not take the branch. */
    csrwi frm, 1
    beqz s7, 1f
    csrwi frm, 0
1:  fdiv.s a5, a2, a3
    li a4, 0x3eaaaaaa
    add a4, a4, s7
    check(a5, a4)

/* Time advances, and the high half is read without a trap. */
    csrr a2, cycle
    li a5, 100000
1:  addi a5, a5, -1
    csrr a3, cycle
    sub a3, a3, a2
    slt a4, x0, a3
    bnez a4, 2f
    bnez a5, 1b
2:  mv a5, a4
    check_value(a5, 1)
    csrr a2, time
    csrr a2, timeh
    csrr a3, cycleh

    test_end
