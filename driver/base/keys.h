/* SPDX-License-Identifier: Apache-2.0 */
/** Configuration keys whose values are numbers: their names, their bounds, and the struct members that they set. */
#ifndef TERN_BASE_KEYS_H
#define TERN_BASE_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tern_key {
    const char *name;
    bool suffix;         /**< The suffixes K, M and G are allowed. */
    uint64_t low, high;  /**< Bounds of the value, inclusive. */
    size_t offset, size; /**< Bytes: position and size of the member, a uint64_t, a uint32_t or a bool. */
};

#define TERN_KEY(type, name, suffix, low, high) {#name, suffix, low, high, offsetof(type, name), \
                                                 sizeof((type *)0)->name}

/** A list of keys, and the struct whose members they set. */
struct tern_keys {
    const struct tern_key *key;
    size_t count;
    void *base;
};

/** Parses a decimal number in [low, high]. where: begin of the sentence. -EINVAL: it is no such number. */
int tern_key_number(const char *where, const char *text, bool suffix, uint64_t low, uint64_t high, uint64_t *out);
/** Does the same for the environment variable `name`. unit: for the sentence, or NULL. If the variable is unset or
 *  empty, *out does not change. */
int tern_key_environment(const char *name, const char *unit, bool suffix, uint64_t low, uint64_t high, uint64_t *out);
/** Sets the member of the key. -ENOENT, without a sentence: there is no such key; -EINVAL, with a sentence. */
int tern_key_set(const struct tern_keys *keys, const char *name, const char *value);

#endif
