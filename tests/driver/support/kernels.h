/* SPDX-License-Identifier: Apache-2.0 */
/** Machine code of kernels for the tests, and what they compute. */
#ifndef SUPPORT_KERNELS_H
#define SUPPORT_KERNELS_H

#include <stdint.h>

/**
 * A kernel of one work-item, which counts in word 2 of its arguments until word 0 is not 0. The kernel then stores
 * word 0 to word 1 and ends. If word 0 is 2, the store goes to address 0 instead.
 */
extern const uint32_t code_spin[11];
/** A kernel. Each work-item mixes the squares of n, n - 1 ... 1, where n is argument 0, with its global id, and stores
 * the result to its word of the array at argument 1. */
extern const uint32_t code_mix[13];
/** A kernel. Each work-item adds its global id to a number of words. Arguments: source, target, number of words, bytes
 * between them. */
extern const uint32_t code_stream[15];
/** A kernel that counts to argument 0 and stores to address 0 in its last instruction. */
extern const uint32_t code_trap[6];
#define TRAP_STORE 16u /* offset of the store in code_trap */
/** Returns the word that work-item `id` of code_mix stores. */
uint32_t mixed(uint32_t n, uint32_t id);

#endif
