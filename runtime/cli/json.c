/* SPDX-License-Identifier: Apache-2.0 */
/** JSON of several commands (json.h). */
#include "json.h"

#include <stdio.h>

#include "cli.h"

void json_add_config(cJSON *object, const cl_tern_counters *c)
{
    cJSON *config = cJSON_AddObjectToObject(object, "config");
    cJSON_AddStringToObject(config, "backend", c->backend);
    cJSON_AddStringToObject(config, "name", c->config);
    cJSON_AddNumberToObject(config, "engines", c->engines);
    cJSON_AddNumberToObject(config, "lanes", c->lanes);
    cJSON_AddNumberToObject(config, "warps", c->warps);
    cJSON_AddNumberToObject(config, "clock_hz", (double)c->clock_hz);
}

void json_add_counters(cJSON *object, const cl_tern_counters *between)
{
    cJSON *k = cJSON_AddObjectToObject(object, "counters");
#define PUT(field) cJSON_AddNumberToObject(k, #field, (double)between->field);
    PUT(busy) PUT(issue) PUT(lanes_active) PUT(stall_use) PUT(stall_unit) PUT(stall_idle) PUT(fma) PUT(l1_hit)
        PUT(l1_miss)
    PUT(ic_miss) PUT(tlb_hit) PUT(tlb_miss) PUT(rd_lines) PUT(wr_lines) PUT(buffers)
#undef PUT
}

int json_print(const char *command, cJSON *object)
{
    char *text = cJSON_Print(object);
    cJSON_Delete(object);
    if (!text) {
        fprintf(stderr, "tern %s: out of memory\n", command);
        return EXIT_FAILED;
    }
    puts(text);
    cJSON_free(text);
    return EXIT_OK;
}
