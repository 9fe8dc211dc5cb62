/* SPDX-License-Identifier: Apache-2.0 */
/** Structs that begin with their size (tern.h): between programs and a library of another age. */
#ifndef TERN_BASE_SIZED_H
#define TERN_BASE_SIZED_H

#include <stddef.h>
#include <stdint.h>

/** Gives *own, of own_size bytes, to a caller: as much as *out has room for, by its first word. -EINVAL. */
int tern_sized_give(void *out, const void *own, size_t own_size);
/** The same for element i of an array of the caller's, whose elements are of `stride` bytes each. */
int tern_sized_give_at(void *out, uint32_t stride, size_t i, const void *own, size_t own_size);
/** Reads *in, as much as is known of it; what it lacks is zero in *own. -EINVAL, -E2BIG. */
int tern_sized_take(void *own, size_t own_size, const void *in);

#endif
