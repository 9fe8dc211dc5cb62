/* SPDX-License-Identifier: Apache-2.0 */
/** Reading the statistics that processes with a device publish (tern/tern_stats.h). */
#ifndef TERN_CLI_TOP_READ_H
#define TERN_CLI_TOP_READ_H

#include <stdbool.h>

#include "tern/tern_stats.h"

/** Copies, one of each device, by process id. */
struct top_list {
    struct tern_stats **item;
    unsigned n;
    unsigned foreign; /**< Files of living processes that this program does not understand: another version of Tern. */
};

/** Everything published now. False: no memory. Files of processes that have ended are passed over. Freed by top_free in
 *  either case. */
bool top_read(struct top_list *out);
void top_free(struct top_list *list);
/** The copy of the same device in an earlier list, or NULL. */
const struct tern_stats *top_find(const struct top_list *list, const struct tern_stats *same);

#endif
