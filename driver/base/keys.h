/* SPDX-License-Identifier: Apache-2.0 */
/** Numbers of a configuration, by key: which there are, between what bounds, and where each goes. */
#ifndef TERN_BASE_KEYS_H
#define TERN_BASE_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tern_key {
    const char *name;
    bool suffix;         /**< K, M or G may follow. */
    uint64_t low, high;
    size_t offset, size; /**< Of the member of the struct: a uint64_t, a uint32_t or a bool. */
};

#define TERN_KEY(type, name, suffix, low, high) {#name, suffix, low, high, offsetof(type, name), \
                                                 sizeof((type *)0)->name}

/** Keys and the struct that they fill. */
struct tern_keys {
    const struct tern_key *key;
    size_t count;
    void *base;
};

/** A decimal number in [low, high]. where: for the sentence. -EINVAL: it is none. */
int tern_key_number(const char *where, const char *text, bool suffix, uint64_t low, uint64_t high, uint64_t *out);
/** The same of the variable `name` of the environment, and its unit for the sentence (NULL: none). Unset or empty: *out
 *  is left as it is. */
int tern_key_environment(const char *name, const char *unit, bool suffix, uint64_t low, uint64_t high, uint64_t *out);
/** Sets the member that the key names. -ENOENT, without a sentence: no such key; -EINVAL. */
int tern_key_set(const struct tern_keys *keys, const char *name, const char *value);

#endif
