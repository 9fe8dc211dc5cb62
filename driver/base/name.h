/* SPDX-License-Identifier: Apache-2.0 */
/** Names of partitions. */
#ifndef TERN_BASE_NAME_H
#define TERN_BASE_NAME_H

#include <stddef.h>

/** Checks that `size` bytes have a partition's name with its NUL. -EINVAL, with a sentence that says what a name is. */
int tern_name_check(const char *name, size_t size);

#endif
