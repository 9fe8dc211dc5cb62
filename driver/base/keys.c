/* SPDX-License-Identifier: Apache-2.0 */
#include "base/keys.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

int tern_key_number(const char *where, const char *text, bool suffix, uint64_t low, uint64_t high, uint64_t *out)
{
    char *end = NULL;
    uint64_t scale = 1;
    errno = 0;
    unsigned long long v = text[0] >= '0' && text[0] <= '9' ? strtoull(text, &end, 10) : 0;
    if (end && suffix && *end) {
        const char *k = strchr("KMG", *end);
        if (k) {
            scale = 1ull << (10 * (k - "KMG" + 1));
            end++;
        }
    }
    if (!end || *end) {
        return tern_error(-EINVAL, "%s: '%s' is not a number from %" PRIu64 " to %" PRIu64 "%s", where, text, low,
                          high, suffix ? ", behind which K, M or G may stand" : "");
    }
    if (errno || v > UINT64_MAX / scale || v * scale < low || v * scale > high) {
        return tern_error(-EINVAL, "%s: %s is out of range, %" PRIu64 " to %" PRIu64, where, text, low, high);
    }
    *out = v * scale;
    return 0;
}

int tern_key_environment(const char *name, const char *unit, bool suffix, uint64_t low, uint64_t high, uint64_t *out)
{
    const char *text = secure_getenv(name);
    char where[64];
    snprintf(where, sizeof where, "%s%s%s", name, unit ? ", " : "", unit ? unit : "");
    return text && *text ? tern_key_number(where, text, suffix, low, high, out) : 0;
}

static void put(char *at, size_t size, uint64_t value)
{
    if (size == sizeof(uint64_t)) {
        memcpy(at, &value, sizeof value);
    } else if (size == sizeof(uint32_t)) {
        memcpy(at, &(uint32_t){(uint32_t)value}, sizeof(uint32_t));
    } else {
        *(bool *)(void *)at = value != 0;
    }
}

int tern_key_set(const struct tern_keys *keys, const char *name, const char *value)
{
    for (size_t i = 0; i < keys->count; i++) {
        const struct tern_key *k = &keys->key[i];
        if (!strcmp(name, k->name)) {
            char where[64];
            uint64_t v = 0;
            snprintf(where, sizeof where, "configuration key '%s'", name);
            int r = tern_key_number(where, value, k->suffix, k->low, k->high, &v);
            if (!r) {
                put((char *)keys->base + k->offset, k->size, v);
            }
            return r;
        }
    }
    return -ENOENT;
}
