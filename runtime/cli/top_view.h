/* SPDX-License-Identifier: Apache-2.0 */
/** The output of `tern top` from the statistics at two times, as text or JSON. */
#ifndef TERN_CLI_TOP_VIEW_H
#define TERN_CLI_TOP_VIEW_H

#include <cjson/cJSON.h>

#include "top_read.h"

/** Statistics `now`. Shares are of the device time since `before`, or of all time for a device that is not in
 *  `before`. */
struct top_view {
    const struct top_list *now, *before;
};

/** Calls `line` with each line of the output; head: it is a heading. */
void top_view_text(const struct top_view *v, void (*line)(void *user, bool head, const char *text), void *user);
/** NULL: no memory. */
cJSON *top_view_json(const struct top_view *v);

#endif
