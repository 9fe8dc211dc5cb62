/* SPDX-License-Identifier: Apache-2.0 */
/** Names of partitions. */
#ifndef TERN_BASE_NAME_H
#define TERN_BASE_NAME_H

#include <stddef.h>

/** Is what stands in `size` bytes, with its NUL, a partition's name? 0; -EINVAL, with a sentence that says what one
 *  is. */
int tern_name_check(const char *name, size_t size);

#endif
