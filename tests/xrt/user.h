/* SPDX-License-Identifier: Apache-2.0 */
/** Byte offsets of registers for a program in C++, which tern_hw.h does not support. */
#ifndef TERN_TEST_XRT_USER_H
#define TERN_TEST_XRT_USER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

extern const struct user_registers {
    uint32_t id, hash, mem_pages, irq_enable, time_lo;
    uint32_t is_hash; /**< Value of the register `hash`. */
} user_registers;

#ifdef __cplusplus
}
#endif

#endif
