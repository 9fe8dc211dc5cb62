/* SPDX-License-Identifier: Apache-2.0 */
/** What the commands' JSON has in common. */
#ifndef TERN_CLI_JSON_H
#define TERN_CLI_JSON_H

#include <CL/cl_tern.h>
#include <cjson/cJSON.h>

/** Adds "config": what the device is. */
void json_add_config(cJSON *object, const cl_tern_counters *c);
/** Prints and frees the object. EXIT_OK, or EXIT_FAILED with a message: there is no memory. */
int json_print(const char *command, cJSON *object);

#endif
