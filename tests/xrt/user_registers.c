/* SPDX-License-Identifier: Apache-2.0 */
#include "user.h"

#include "tern/tern_hw.h"
#include "tern/tern_spec.h"

const struct user_registers user_registers = {TERN_REG_DEV_ID, TERN_REG_DEV_SPEC_HASH, TERN_REG_DEV_MEM_PAGES,
                                              TERN_REG_DEV_IRQ_ENABLE, TERN_REG_DEV_TIME_LO, TERN_SPEC_HASH};
