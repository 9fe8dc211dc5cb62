/* SPDX-License-Identifier: Apache-2.0 */
/** Parts of run_wide_atomics. */
#ifndef WIDE_ATOMICS_H
#define WIDE_ATOMICS_H

#include "clt.h"

#define WIDE_GROUP 16 /* work-items of a group that every device has */

/** Returns the kernel `name` of a program built with these options. The program is released with the kernel. */
cl_kernel wide_kernel(const char *source, const char *options, const char *name);
/** Random numbers from the seed of the program. */
uint32_t wide_word(void);
uint64_t wide_random(void);

void wide_test_values(void **state); /**< Results and objects for pairs of values, for each operation. */
void wide_test_floats(void **state); /**< Sums and extremes of floats and doubles. */

#endif
