/* SPDX-License-Identifier: Apache-2.0 */
#include "hal/config.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "tern_sim/tern_sim.h"

static const char *const backends[] = {"rtl", "model"};
static const char *const geometries[] = {"default", "small"};
static const char *const memories[] = {[TERN_SIM_MEMORY_IDEAL] = "ideal", [TERN_SIM_MEMORY_HBM] = "hbm",
                                       [TERN_SIM_MEMORY_DDR4] = "ddr4"};
_Static_assert(sizeof memories / sizeof *memories == TERN_SIM_MEMORIES, "every memory has a name");

const char *tern_config_memory_name(uint32_t memory)
{
    return memory < TERN_SIM_MEMORIES ? memories[memory] : NULL;
}

static bool one_of(const char *const *list, size_t n, const char *s)
{
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(list[i], s)) {
            return true;
        }
    }
    return false;
}

/** A decimal number in [low, high], with suffix K, M or G where sizes are meant. where: for the sentence. */
static int number(const char *where, const char *text, bool suffix, uint64_t low, uint64_t high, uint64_t *out)
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
        return tern_error(-EINVAL, "%s: '%s' is not a number%s", where, text,
                          suffix ? " (bytes, or with K, M or G)" : "");
    }
    if (errno || v > UINT64_MAX / scale || v * scale < low || v * scale > high) {
        return tern_error(-EINVAL, "%s: %s is out of range, %llu to %llu", where, text, (unsigned long long)low,
                          (unsigned long long)high);
    }
    *out = v * scale;
    return 0;
}

/** A key whose value is a number. */
struct key {
    const char *name;
    bool suffix;
    uint64_t low, high;
    size_t offset, size; /**< Where it goes in struct tern_config. */
};

#define KEY(name, suffix, low, high) {#name, suffix, low, high, offsetof(struct tern_config, name), \
                                      sizeof((struct tern_config *)0)->name}
static const struct key keys[] = {
    {"mem", true, 1ull << 20, 16ull << 30, offsetof(struct tern_config, mem_bytes), 8},
    KEY(dram_latency, false, 1, 100000),
    KEY(dram_bandwidth, false, 1, 64),
    KEY(dram_reads, false, 1, 256),
    KEY(dram_writes, false, 1, 256),
    KEY(dram_refresh, false, 1000, 1000000),
    KEY(dram_refresh_cycles, false, 1, 999),
    KEY(dram_stall, false, 0, 255),
    KEY(timeout, true, 1000, 1ull << 62),
    KEY(limit, true, 1000, 1ull << 62),
    KEY(quantum, true, 100, 1ull << 62),
    KEY(grace, true, 1, 1ull << 62),
    KEY(preempt, true, 100, 1ull << 62),
    KEY(depth, false, 1, 2),
    KEY(realtime, false, 0, 1),
};

static int set_number(struct tern_config *c, const struct key *k, const char *value)
{
    char where[64];
    uint64_t v = 0;
    snprintf(where, sizeof where, "configuration key '%s'", k->name);
    int r = number(where, value, k->suffix, k->low, k->high, &v);
    if (!r && k->offset == offsetof(struct tern_config, mem_bytes) && v % 4096) {
        r = tern_error(-EINVAL, "%s: %s is not a multiple of 4096", where, value);
    }
    if (r) {
        return r;
    }
    char *at = (char *)c + k->offset;
    if (k->size == sizeof(uint64_t)) {
        memcpy(at, &v, sizeof v);
    } else if (k->size == sizeof(uint32_t)) {
        memcpy(at, &(uint32_t){(uint32_t)v}, sizeof(uint32_t));
    } else {
        *(bool *)(void *)at = v != 0;
    }
    return 0;
}

static int set(struct tern_config *c, const char *key, const char *value)
{
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (!strcmp(key, keys[i].name)) {
            return set_number(c, &keys[i], value);
        }
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
            if (!strcmp(value, memories[i])) {
                c->memory = i;
                return 0;
            }
        }
        return tern_error(-EINVAL, "configuration key 'memory': '%s' is none of ideal, hbm and ddr4", value);
    }
    return tern_error(-EINVAL, "configuration: unknown key '%s'; known are mem, memory, dram_latency, "
                      "dram_bandwidth, dram_reads, dram_writes, dram_refresh, dram_refresh_cycles, dram_stall, "
                      "timeout, limit, quantum, grace, preempt, depth, realtime, trace", key);
}

static int parse_items(struct tern_config *c, char *items)
{
    char *save = NULL;
    for (char *item = strtok_r(items, ",", &save); item; item = strtok_r(NULL, ",", &save)) {
        char *value = strchr(item, '=');
        if (!value) {
            return tern_error(-EINVAL, "configuration: '%s' is not of the form key=value", item);
        }
        *value++ = '\0';
        int r = set(c, item, value);
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

static int from_environment(const char *name, uint64_t *cycles)
{
    const char *value = secure_getenv(name);
    return value ? number(name, value, true, 1000, 1ull << 62, cycles) : 0;
}

int tern_config_parse(const char *backend, const char *config, struct tern_config *out)
{
    struct tern_config c = {.depth = 2};
    backend = backend ? backend : secure_getenv("TERN_BACKEND");
    backend = backend && *backend ? backend : "rtl";
    config = config ? config : secure_getenv("TERN_CONFIG");
    config = config && *config ? config : "default";
    if (!one_of(backends, sizeof backends / sizeof *backends, backend)) {
        return tern_error(-EINVAL, "unknown backend '%s'; known are rtl and model (argument or TERN_BACKEND)", backend);
    }
    int r = from_environment("TERN_TIMEOUT_CYCLES", &c.timeout);
    r = r ? r : from_environment("TERN_LIMIT_CYCLES", &c.limit);
    if (r) {
        return r;
    }
    char *copy = strdup(config);
    if (!copy) {
        return tern_error_memory("the configuration");
    }
    char *items = strchr(copy, ',');
    if (items) {
        *items++ = '\0';
    }
    if (!one_of(geometries, sizeof geometries / sizeof *geometries, copy)) {
        r = tern_error(-EINVAL, "unknown configuration '%s'; known are default and small (argument or TERN_CONFIG)",
                       copy);
    } else if (items) {
        r = parse_items(&c, items);
    }
    if (!r) {
        snprintf(c.backend, sizeof c.backend, "%s", backend);
        c.slow = !strcmp(backend, "rtl");
        snprintf(c.geometry, sizeof c.geometry, "%s", copy);
        snprintf(c.text, sizeof c.text, "%.63s", config);
        *out = c;
    }
    free(copy);
    return r;
}
