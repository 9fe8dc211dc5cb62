/* SPDX-License-Identifier: Apache-2.0 */
/** Reads the statistics that processes with a device publish (tern/tern_stats.h). */
#ifndef TERN_CLI_TOP_READ_H
#define TERN_CLI_TOP_READ_H

#include <stdbool.h>

#include "tern/tern_stats.h"

/** Copies of the statistics, one of each device, by process id. */
struct top_list {
    struct tern_stats **item;
    unsigned n;
    unsigned foreign; /**< Files of running processes in a format of another version of Tern. */
};

/** Reads all statistics that are published now; files of processes that have ended are ignored. The caller calls
 *  top_free in any case. False: no memory. */
bool top_read(struct top_list *out);
void top_free(struct top_list *list);
/** The copy of the same device in an earlier list, or NULL. */
const struct tern_stats *top_find(const struct top_list *list, const struct tern_stats *same);

#endif
