/* SPDX-License-Identifier: Apache-2.0 */
/** Registers of the interface for a program in C++, for which tern_hw.h is not made: offsets in bytes. */
#ifndef TERN_TEST_XRT_USER_H
#define TERN_TEST_XRT_USER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

extern const struct user_registers {
    uint32_t id, hash, mem_pages, irq_enable, time_lo;
    uint32_t is_hash; /**< What the register hash reads. */
} user_registers;

#ifdef __cplusplus
}
#endif

#endif
