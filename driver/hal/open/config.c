/* SPDX-License-Identifier: Apache-2.0 */
#include "hal/open/open.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "tern_sim/tern_sim.h"

static const char *const geometries[] = {"default", "small", "tiny", "shell"};

static bool one_of(const char *const *list, size_t n, const char *s)
{
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(list[i], s)) {
            return true;
        }
    }
    return false;
}

static bool is_geometry(const char *s)
{
    return one_of(geometries, sizeof geometries / sizeof *geometries, s);
}

/** A copy of the configuration that begins with a geometry, which is "default" if it has keys only. NULL: no memory. */
static char *with_geometry(const char *config)
{
    char *copy;
    const bool keys_alone = config[strcspn(config, ",=")] == '=';
    return asprintf(&copy, "%s%s", keys_alone ? "default," : "", config) < 0 ? NULL : copy;
}

static const struct tern_key keys[] = {
    {"mem", true, 1ull << 20, 16ull << 30, offsetof(struct tern_config, mem_bytes), 8},
    TERN_KEY(struct tern_config, dram_latency, false, 1, 100000),
    TERN_KEY(struct tern_config, dram_bandwidth, false, 1, 64),
    TERN_KEY(struct tern_config, dram_reads, false, 1, 256),
    TERN_KEY(struct tern_config, dram_writes, false, 1, 256),
    TERN_KEY(struct tern_config, dram_refresh, false, 1000, 1000000),
    TERN_KEY(struct tern_config, dram_refresh_cycles, false, 1, 999),
    TERN_KEY(struct tern_config, dram_stall, false, 0, 255),
};

static int unknown(const char *key, const struct tern_keys *more)
{
    char known[512];
    size_t n = (size_t)snprintf(known, sizeof known, "memory, trace");
    const struct tern_keys all[] = {{keys, sizeof keys / sizeof *keys, NULL}, *more};
    for (size_t i = 0; i < 2; i++) {
        for (size_t k = 0; k < all[i].count && n < sizeof known; k++) {
            n += (size_t)snprintf(known + n, sizeof known - n, ", %s", all[i].key[k].name);
        }
    }
    return tern_error(-EINVAL, "configuration: unknown key '%s'; known are %s", key, known);
}

static int set(struct tern_config *c, const struct tern_keys *more, const char *key, const char *value)
{
    const struct tern_keys own = {keys, sizeof keys / sizeof *keys, c};
    int r = tern_key_set(&own, key, value);
    if (!r && c->mem_bytes % 4096) {
        return tern_error(-EINVAL, "configuration key 'mem': %s is not a multiple of 4096", value);
    }
    r = r == -ENOENT ? tern_key_set(more, key, value) : r;
    if (r != -ENOENT) {
        return r;
    }
    if (!strcmp(key, "trace")) {
        if (!*value || strlen(value) >= sizeof c->trace) {
            return tern_error(-EINVAL, "configuration key 'trace': a file name of 1 to %zu characters is needed",
                              sizeof c->trace - 1);
        }
        memcpy(c->trace, value, strlen(value) + 1);
        return 0;
    }
    if (!strcmp(key, "memory")) {
        for (uint32_t i = 0; i < TERN_SIM_MEMORIES; i++) {
            if (!strcmp(value, tern_config_memory_name(i))) {
                c->memory = i;
                return 0;
            }
        }
        return tern_error(-EINVAL, "configuration key 'memory': '%s' is none of ideal, hbm and ddr4", value);
    }
    return unknown(key, more);
}

/** Is one of the items before this one of the same key? The keys and values before it end with NUL bytes, which stand
 *  in place of '=' and ','. */
static bool is_again(const char *items, const char *item)
{
    for (const char *at = items; at < item; at += strlen(at) + 1) {
        at += strspn(at, ","); /* commas of empty items */
        if (at < item && !strcmp(at, item)) {
            return true;
        }
        at += strlen(at) + 1; /* skips the value */
    }
    return false;
}

static int parse_items(struct tern_config *c, const struct tern_keys *more, char *items)
{
    char *save = NULL;
    for (char *item = strtok_r(items, ",", &save); item; item = strtok_r(NULL, ",", &save)) {
        char *value = strchr(item, '=');
        if (!value) {
            return tern_error(-EINVAL, is_geometry(item) ? "configuration: '%s' must stand once, before all keys"
                                                         : "configuration: '%s' is not of the form key=value", item);
        }
        *value++ = '\0';
        if (is_again(items, item)) {
            return tern_error(-EINVAL, "configuration: the key '%s' is there twice", item);
        }
        int r = set(c, more, item, value);
        if (r) {
            return r;
        }
    }
    if (c->memory == TERN_SIM_MEMORY_IDEAL && !c->dram_refresh != !c->dram_refresh_cycles) {
        return tern_error(-EINVAL, "configuration: dram_refresh and dram_refresh_cycles belong together (memory=ideal "
                          "has no refresh)");
    }
    return 0;
}

int tern_config_parse(const char *backend, const char *config, const struct tern_keys *more, struct tern_config *out)
{
    static const struct tern_keys none;
    struct tern_config c = {0};
    int r = 0;
    backend = backend ? backend : secure_getenv("TERN_BACKEND");
    backend = backend && *backend ? backend : "rtl";
    config = config ? config : secure_getenv("TERN_CONFIG");
    config = config && *config ? config : "default";
    if (!tern_hal_find(backend)) {
        return -EINVAL;
    }
    char *copy = with_geometry(config);
    if (!copy) {
        return tern_error_memory("the configuration");
    }
    snprintf(c.text, sizeof c.text, "%.63s", copy);
    char *items = strchr(copy, ',');
    if (items) {
        *items++ = '\0';
    }
    if (!is_geometry(copy)) {
        r = tern_error(-EINVAL, "unknown configuration '%s'; it is default, small, tiny, shell, or one of these and "
                       "keys, or keys alone, as default,mem=64M (argument or TERN_CONFIG)", copy);
    } else if (items) {
        r = parse_items(&c, more ? more : &none, items);
    }
    if (!r) {
        snprintf(c.backend, sizeof c.backend, "%s", backend);
        snprintf(c.geometry, sizeof c.geometry, "%s", copy);
        *out = c;
    }
    free(copy);
    return r;
}
