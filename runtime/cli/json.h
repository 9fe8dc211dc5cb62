/* SPDX-License-Identifier: Apache-2.0 */
/** JSON that several commands print. */
#ifndef TERN_CLI_JSON_H
#define TERN_CLI_JSON_H

#include <CL/cl_tern.h>
#include <cjson/cJSON.h>

/** Adds the member "config", the properties of the device. */
void json_add_config(cJSON *object, const cl_tern_counters *c);
/** Adds the member "counters": counts of the device's events between two readings. */
void json_add_counters(cJSON *object, const cl_tern_counters *between);
/** Prints and frees the object. EXIT_OK, or EXIT_FAILED after a message: no memory. */
int json_print(const char *command, cJSON *object);

#endif
