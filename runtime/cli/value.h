/* SPDX-License-Identifier: Apache-2.0 */
/** Scalars and vectors of OpenCL C: their names, and their values as text. */
#ifndef TERN_CLI_VALUE_H
#define TERN_CLI_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum kind { SIGNED, UNSIGNED, FLOATING, OPAQUE };

/** A type. An element in memory has `width` components of `bytes` bytes each; if width is 3, followed by padding for
 *  a fourth. */
struct type {
    enum kind kind;   /**< OPAQUE: another type, as a structure; bytes and width are 0. */
    unsigned bytes, width;
};

/** The type with this name ("uint", "float4"); OPAQUE: unknown. */
struct type type_of(const char *name);
size_t type_size(struct type t);

#define VALUE_TEXT 40 /**< Largest size of a component as text. */

/** Reads one component. NULL: success; else the reason, for the message "is uint; got 'x'"; "" if the text is no
 *  number. */
const char *value_read(struct type t, const char *text, void *component);
/** The shortest decimal text that reads back as the same component. */
void value_print(struct type t, const void *component, char text[VALUE_TEXT]);
/** Reads a count, decimal or 0x, with K, M or G for powers of 1024. False: it is none. */
bool value_count(const char *text, size_t length, size_t *out);
/** A whole number as a component; integers wrap around. */
void value_from(struct type t, uint64_t i, void *component);
/** A random component from 64 random bits: an integer of any value, a floating-point number uniform in [0, 1). */
void value_random(struct type t, uint64_t bits, void *component);

#endif
