/* SPDX-License-Identifier: Apache-2.0 */
/** Structs that begin with their size (tern.h), so that a program and a library of different versions understand each
 *  other. */
#ifndef TERN_BASE_SIZED_H
#define TERN_BASE_SIZED_H

#include <stddef.h>
#include <stdint.h>

/** Copies *own, of own_size bytes, to a caller's struct *out, whose first word is its size in bytes. Bytes that *own
 *  lacks become 0, and the first word becomes the number of bytes copied. -EINVAL: the size is invalid. */
int tern_sized_give(void *out, const void *own, size_t own_size);
/** Does the same for element i of an array of the caller, whose elements have `stride` bytes. */
int tern_sized_give_at(void *out, uint32_t stride, size_t i, const void *own, size_t own_size);
/** Copies a caller's struct *in, whose first word is its size, to *own. Bytes that *in lacks become 0. -EINVAL: the
 *  size is invalid; -E2BIG: bytes are set that *own does not have. */
int tern_sized_take(void *own, size_t own_size, const void *in);

#endif
