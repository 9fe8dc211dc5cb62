/* SPDX-License-Identifier: Apache-2.0 */
/**
 * riscv-arch-test's arch_test.h, with two differences for Tern: there is no mstatus, and Zfinx replaces F.
 *
 * The suite has no tests of Zfinx. The tests of F keep their operands, rounding modes, flags and signature. Only the
 * macros that issue an instruction are changed: they replace each register of F by an integer register, equal ones by
 * equal ones. Therefore the signature must equal that of F, which the reference runs (-DTERN_REFERENCE).
 */
#include_next "arch_test.h"

#ifndef TERN_ARCH_TEST_H
#define TERN_ARCH_TEST_H

#undef RVTEST_FP_ENABLE
#define RVTEST_FP_ENABLE() csrwi fcsr, 0

#ifdef __riscv_zfinx

#undef FLREG
#undef FSREG
#define FLREG lw
#define FSREG sw

#undef TEST_FPSR_OP
#undef TEST_FPRR_OP
#undef TEST_FPRR_OP_NRM
#undef TEST_FPR4_OP
#undef TEST_FPID_OP
#undef TEST_FPID_OP_NRM
#undef TEST_FPIO_OP
#undef TEST_FCMP_OP

/* Issues inst rd, r1, r2, r3 with the values at val. x16, x17, x18 are the operands, x19 the result if it is no
 * operand.
   These tests use x1 to x4 for everything else. A missing operand is "none", and so may be rm. */
.macro zfinx_issue inst, rd, n, a, b, c, rm, fcsr, val, flags, test
    lw \a, 0(\val)
    .ifgt \n-1
    lw \b, 4(\val)
    .endif
    .ifgt \n-2
    lw \c, 8(\val)
    .endif
    li \test, \fcsr
    csrw fcsr, \test
    .ifc \rm,none
    \inst \rd, \a, \b
    .else
    .ifeq \n-1
    \inst \rd, \a, \rm
    .endif
    .ifeq \n-2
    \inst \rd, \a, \b, \rm
    .endif
    .ifeq \n-3
    \inst \rd, \a, \b, \c, \rm
    .endif
    .endif
    csrr \flags, fcsr
    mv x19, \rd
.endm

.macro zfinx_result inst, fd, n, fa, fb, fc, a, b, c, rm:vararg
    .ifc \fd,\fc
    zfinx_issue \inst, \c, \n, \a, \b, \c, \rm
    .else
    .ifc \fd,\fb
    zfinx_issue \inst, \b, \n, \a, \b, \c, \rm
    .else
    .ifc \fd,\fa
    zfinx_issue \inst, \a, \n, \a, \b, \c, \rm
    .else
    zfinx_issue \inst, x19, \n, \a, \b, \c, \rm
    .endif
    .endif
    .endif
.endm

.macro zfinx inst, fd, n, fa, fb, fc, rm:vararg
    .ifc \fb,\fc
    .ifc \fa,\fc
    zfinx_result \inst, \fd, \n, \fa, \fb, \fc, x18, x18, x18, \rm
    .else
    zfinx_result \inst, \fd, \n, \fa, \fb, \fc, x16, x18, x18, \rm
    .endif
    .else
    .ifc \fa,\fc
    zfinx_result \inst, \fd, \n, \fa, \fb, \fc, x18, x17, x18, \rm
    .else
    .ifc \fa,\fb
    zfinx_result \inst, \fd, \n, \fa, \fb, \fc, x17, x17, x18, \rm
    .else
    zfinx_result \inst, \fd, \n, \fa, \fb, \fc, x16, x17, x18, \rm
    .endif
    .endif
    .endif
.endm

/* x20 = base + offset. The offset may need more than the 12 bits of a load. */
#define ZFINX_VALUES(base, offset, test) LI(test, offset); add x20, base, test

#define TEST_FPSR_OP(inst, fd, fa, rm, fcsr_val, want, base, offset, flags, sw, test) \
    ZFINX_VALUES(base, offset, test); \
    zfinx inst, fd, 1, fa, none2, none3, rm, fcsr_val, x20, flags, test; \
    RVTEST_SIGUPD_F(sw, x19, flags)
#define TEST_FPRR_OP(inst, fd, fa, fb, rm, fcsr_val, want, base, offset, flags, sw, test) \
    ZFINX_VALUES(base, offset, test); \
    zfinx inst, fd, 2, fa, fb, none3, rm, fcsr_val, x20, flags, test; \
    RVTEST_SIGUPD_F(sw, x19, flags)
#define TEST_FPRR_OP_NRM(inst, fd, fa, fb, fcsr_val, want, base, offset, flags, sw, test) \
    TEST_FPRR_OP(inst, fd, fa, fb, none, fcsr_val, want, base, offset, flags, sw, test)
#define TEST_FPR4_OP(inst, fd, fa, fb, fc, rm, fcsr_val, want, base, offset, flags, sw, test) \
    ZFINX_VALUES(base, offset, test); \
    zfinx inst, fd, 3, fa, fb, fc, rm, fcsr_val, x20, flags, test; \
    RVTEST_SIGUPD_F(sw, x19, flags)

/* Instructions between an integer register, which the test chooses, and a float. The float goes to a register that is
   free then: that of the flags if the float is the source, that of the integer source if it is the result. x0 cannot
   hold a float, and x30 replaces it: no test uses x30 otherwise when x0 is the destination or source. */
.macro zfinx_to_x inst, rd, fa, flags, rm
    .ifc \rm,none
    \inst \rd, \flags
    .else
    \inst \rd, \flags, \rm
    .endif
    csrr \flags, fcsr
.endm
#define TEST_FPID_OP(inst, rd, fa, rm, fcsr_val, want, base, offset, flags, sw, test, load) \
    LOAD_MEM_VAL(lw, base, flags, offset, test); \
    li test, fcsr_val; csrw fcsr, test; \
    zfinx_to_x inst, rd, fa, flags, rm; \
    RVTEST_SIGUPD_FID(sw, rd, flags)
#define TEST_FPID_OP_NRM(inst, rd, fa, fcsr_val, want, base, offset, flags, sw, test) \
    TEST_FPID_OP(inst, rd, fa, none, fcsr_val, want, base, offset, flags, sw, test, lw)

.macro zfinx_from_x inst, rs, rm, sig, flags
    .ifc \rs,x0
    \inst x30, \rs, \rm
    csrr \flags, fcsr
    mv \rs, x30
    .else
    \inst \rs, \rs, \rm
    csrr \flags, fcsr
    .endif
.endm
#define TEST_FPIO_OP(inst, fd, rs, rm, fcsr_val, want, base, offset, flags, sw, test, load) \
    LOAD_MEM_VAL(lw, base, rs, offset, test); \
    li test, fcsr_val; csrw fcsr, test; \
    zfinx_from_x inst, rs, rm, sw, flags; \
    RVTEST_SIGUPD_F(sw, rs, flags)

.macro zfinx_compare inst, rd, fa, fb, flags, second
    .ifc \fa,\fb
    \inst \rd, \second, \second
    .else
    \inst \rd, \flags, \second
    .endif
    csrr \flags, fcsr
.endm
.macro zfinx_compare_at inst, rd, fa, fb, flags, base, test, fcsr
    lw \flags, 0(\base)
    .ifc \rd,x0
    lw x30, 4(\base)
    .else
    lw \rd, 4(\base)
    .endif
    li \test, \fcsr
    csrw fcsr, \test
    .ifc \rd,x0
    zfinx_compare \inst, \rd, \fa, \fb, \flags, x30
    .else
    zfinx_compare \inst, \rd, \fa, \fb, \flags, \rd
    .endif
.endm
#define TEST_FCMP_OP(inst, rd, fa, fb, fcsr_val, want, base, offset, flags, sw, test) \
    LI(test, offset); add base, base, test; \
    zfinx_compare_at inst, rd, fa, fb, flags, base, test, fcsr_val; \
    LI(test, offset); sub base, base, test; \
    RVTEST_SIGUPD_FID(sw, rd, flags)

#endif
#endif
