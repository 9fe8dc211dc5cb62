/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The model macros that riscv-arch-test needs, for a Tern work-item, or with -DTERN_REFERENCE for a process under a
 * RISC-V Linux. A test outputs its signature at its end (tern_env.h).
 */
#ifndef TERN_MODEL_TEST_H
#define TERN_MODEL_TEST_H

#include "tern_env.h"

#define RVMODEL_BOOT
#define RVMODEL_DATA_BEGIN .align 4;
#define RVMODEL_DATA_END .align 4;
#define RVMODEL_HALT \
    la x5, rvtest_sig_begin; \
    la x6, rvtest_sig_end; \
    li x7, TERN_PASSED; \
    tern_end x7, x5, x6;

#define RVMODEL_IO_INIT
#define RVMODEL_IO_WRITE_STR(scratch, text)
#define RVMODEL_IO_CHECK()
#define RVMODEL_IO_ASSERT_GPR_EQ(scratch, reg, value)
#define RVMODEL_IO_ASSERT_SFPR_EQ(scratch, reg, value)
#define RVMODEL_IO_ASSERT_DFPR_EQ(scratch, reg, value)
#endif
