/* SPDX-License-Identifier: Apache-2.0 */
/** Scalars and vectors of OpenCL C: their names, and their values as text. */
#ifndef TERN_CLI_VALUE_H
#define TERN_CLI_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum kind { SIGNED, UNSIGNED, FLOATING, OPAQUE };

/** In memory, an element has `width` components of `bytes` bytes back to back, and then, if
 * width is 3, room for a fourth. */
struct type {
    enum kind kind;   /**< OPAQUE (a structure, say): bytes and width are 0. */
    unsigned bytes, width;
};

/** The type of this name ("uint", "float4"); OPAQUE if it is none of these. */
struct type type_of(const char *name);
size_t type_size(struct type t);

#define VALUE_TEXT 40 /**< Room for any component as text. */

/** Reads one component. NULL: done; else why not, to follow "is uint; got 'x'": "" if it is no number at all. */
const char *value_read(struct type t, const char *text, void *component);
/** The shortest decimal text that reads back as the same component. */
void value_print(struct type t, const void *component, char text[VALUE_TEXT]);
/** Reads a count: decimal or 0x, and K, M or G for powers of 1024. False: it is none. */
bool value_count(const char *text, size_t length, size_t *out);
/** A whole number as a component; integers wrap. */
void value_from(struct type t, uint64_t i, void *component);
/** Random from 64 random bits: integers over all values, floating numbers even over [0, 1). */
void value_random(struct type t, uint64_t bits, void *component);

#endif
