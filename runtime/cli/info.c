/* SPDX-License-Identifier: Apache-2.0 */
/** tern info: properties of the device. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "json.h"
#include "tern/tern.h"
#include "tern/tern_spec.h"

static const char *const granularities[] = {"buffer", "packet", "work-group", "instruction"};
static const char *const bands[] = {"idle", "normal", "focus", "realtime"}; /* indexed by enum tern_band */

static const char *granularity(const struct tern_device_info *i)
{
    return i->granularity < sizeof granularities / sizeof granularities[0] ? granularities[i->granularity] : "unknown";
}

/** Prints the settings of a simulated memory, in cycles and in bytes per cycle. */
static void print_memory(const struct tern_device_info *i)
{
    if (!i->memory[0]) {
        return;
    }
    printf("simulated memory   %s: %u cycles, %u bytes a cycle, %u reads and %u writes outstanding", i->memory,
           i->memory_latency, i->memory_bandwidth, i->memory_reads, i->memory_writes);
    if (i->memory_refresh) {
        printf(", %u of %u cycles refreshed", i->memory_refresh_cycles, i->memory_refresh);
    }
    if (i->memory_stall) {
        printf(", channels stalled %u of 256 cycles", i->memory_stall);
    }
    putchar('\n');
}

static void print_text(const struct tern_device_info *i)
{
    printf("backend            %s\n", i->backend);
    printf("configuration      %s\n", i->config);
    printf("shared by          %s\n", i->service[0] ? i->service : "no other process: it is this program's own");
    printf("hardware version   %u.%u.%u\n", i->version >> 16 & 0xffu, i->version >> 8 & 0xffu, i->version & 0xffu);
    printf("interface          0x%08x\n", TERN_SPEC_HASH);
    printf("engines            %u\n", i->engines);
    if (i->lanes) {
        printf("lanes x warps      %u x %u (%u work-items an engine)\n", i->lanes, i->warps, i->lanes * i->warps);
        printf("local memory       %u bytes an engine\n", i->local_bytes);
    } else {
        printf("SIMT executor      none: copies and user executors, by tern.h; no kernels, so no OpenCL device\n");
    }
    printf("device memory      %" PRIu64 " bytes, %" PRIu64 " allocatable\n", i->memory_bytes, i->allocatable_bytes);
    printf("memory ports       %u of 64 bytes a cycle\n", i->ports);
    print_memory(i);
    printf("clock              %" PRIu64 " Hz (nominal)\n", i->clock_hz);
    printf("dirty bit covers   %u bytes\n", i->dirty_page_bytes);
    printf("address spaces     %s\n", i->single_use ? "one at a time" : "many");
    if (i->lanes) {
        printf("page requests      %s\n", i->page_requests ? "yes: kernels may use more than device memory" : "no");
    }
    printf("work stops at      any %s\n", granularity(i));
    printf("bands             ");
    for (size_t b = 0; b < sizeof bands / sizeof bands[0]; b++) {
        printf(" %s", bands[b]);
    }
    printf("\nuser executors    ");
    for (uint32_t x = 0; x < i->executors; x++) {
        printf(" %s", tern_executor_find(x)->name);
    }
    printf(i->executors ? "\n" : " none\n");
}

/** The user executors, each with its arguments in the order of clSetKernelArg. */
static cJSON *executors_json(const struct tern_device_info *i)
{
    cJSON *all = cJSON_CreateArray();
    for (uint32_t x = 0; x < i->executors; x++) {
        const struct tern_executor *e = tern_executor_find(x);
        char version[32];
        snprintf(version, sizeof version, "%u.%u.%u", e->version >> 22, e->version >> 12 & 0x3ffu, e->version & 0xfffu);
        cJSON *o = cJSON_CreateObject(), *args = cJSON_CreateArray();
        cJSON_AddNumberToObject(o, "id", x);
        cJSON_AddStringToObject(o, "name", e->name);
        cJSON_AddStringToObject(o, "version", version);
        cJSON_AddNumberToObject(o, "dimensions", e->dims);
        for (uint32_t n = 0; n < e->n_args; n++) {
            cJSON *arg = cJSON_CreateObject();
            cJSON_AddStringToObject(arg, "name", e->args[n].name);
            cJSON_AddStringToObject(arg, "type", e->args[n].type);
            cJSON_AddBoolToObject(arg, "constant", e->args[n].constant);
            cJSON_AddItemToArray(args, arg);
        }
        cJSON_AddItemToObject(o, "arguments", args);
        cJSON_AddItemToArray(all, o);
    }
    return all;
}

static int print_json(const struct tern_device_info *i)
{
    char version[32], interface[16];
    snprintf(version, sizeof version, "%u.%u.%u", i->version >> 16 & 0xffu, i->version >> 8 & 0xffu,
             i->version & 0xffu);
    snprintf(interface, sizeof interface, "0x%08x", TERN_SPEC_HASH);
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "backend", i->backend);
    cJSON_AddStringToObject(o, "config", i->config);
    if (i->service[0]) {
        cJSON_AddStringToObject(o, "service", i->service);
    } else {
        cJSON_AddNullToObject(o, "service");
    }
    cJSON_AddStringToObject(o, "version", version);
    cJSON_AddStringToObject(o, "interface", interface);
    cJSON_AddNumberToObject(o, "engines", i->engines);
    cJSON_AddNumberToObject(o, "lanes", i->lanes);
    cJSON_AddNumberToObject(o, "warps", i->warps);
    cJSON_AddNumberToObject(o, "local_bytes", i->local_bytes);
    cJSON_AddNumberToObject(o, "memory_bytes", (double)i->memory_bytes);
    cJSON_AddNumberToObject(o, "allocatable_bytes", (double)i->allocatable_bytes);
    cJSON_AddNumberToObject(o, "memory_ports", i->ports);
    if (i->memory[0]) {
        cJSON *m = cJSON_AddObjectToObject(o, "simulated_memory");
        cJSON_AddStringToObject(m, "name", i->memory);
        cJSON_AddNumberToObject(m, "latency", i->memory_latency);
        cJSON_AddNumberToObject(m, "bandwidth", i->memory_bandwidth);
        cJSON_AddNumberToObject(m, "reads", i->memory_reads);
        cJSON_AddNumberToObject(m, "writes", i->memory_writes);
        cJSON_AddNumberToObject(m, "refresh", i->memory_refresh);
        cJSON_AddNumberToObject(m, "refresh_cycles", i->memory_refresh_cycles);
        cJSON_AddNumberToObject(m, "stall", i->memory_stall);
    }
    cJSON_AddNumberToObject(o, "clock_hz", (double)i->clock_hz);
    cJSON_AddNumberToObject(o, "dirty_page_bytes", i->dirty_page_bytes);
    cJSON_AddBoolToObject(o, "page_requests", i->page_requests);
    cJSON_AddBoolToObject(o, "single_use", i->single_use);
    cJSON_AddStringToObject(o, "preempt_granularity", granularity(i));
    cJSON_AddItemToObject(o, "bands", cJSON_CreateStringArray(bands, sizeof bands / sizeof bands[0]));
    cJSON_AddItemToObject(o, "executors", executors_json(i));
    return json_print("info", o);
}

int cmd_info(int argc, char **argv)
{
    bool json = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            json = true;
        } else if (strcmp(argv[i], "--help") == 0) {
            printf("usage: tern info [--json]\n\nOpens the device (TERN_BACKEND, TERN_CONFIG) and prints what it is.\n"
                   "Exit: 0; 1 the device cannot be opened; 2 wrong usage.\n");
            return EXIT_OK;
        } else {
            return usage_error("info", "unknown argument '%s'", argv[i]);
        }
    }
    struct tern_device *dev;
    struct tern_device_info info = {.size = sizeof info};
    if (tern_device_open(NULL, NULL, &dev)) {
        fprintf(stderr, "tern info: %s\n", tern_last_error());
        return EXIT_FAILED;
    }
    tern_device_query(dev, &info);
    int status = EXIT_OK;
    if (json) {
        status = print_json(&info);
    } else {
        print_text(&info);
    }
    tern_device_close(dev);
    return status;
}
