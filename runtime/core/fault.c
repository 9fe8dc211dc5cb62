/* SPDX-License-Identifier: Apache-2.0 */
/** Work-items in the driver's sentence about a fault (fault.h). */
#include "runtime/core/fault.h"

#include <stdio.h>
#include <string.h>

bool rt_fault_replace(struct tern_fault *fault, const char *from, const char *by)
{
    char *begin = strstr(fault->message, from);
    char *end = begin != NULL ? strstr(begin, "): ") : NULL;
    char text[sizeof fault->message];
    if (!fault->has_item || end == NULL) {
        return false;
    }
    snprintf(text, sizeof text, "%.*s%s%s", (int)(begin - fault->message), fault->message, by, end + 1);
    memcpy(fault->message, text, sizeof text);
    return true;
}

bool rt_fault_name_items(struct tern_fault *fault, const char *who)
{
    if (!rt_fault_replace(fault, "work-item (", who)) {
        return false;
    }
    fault->has_item = false;
    fault->warp = fault->lane = 0;
    memset(fault->group, 0, sizeof fault->group);
    memset(fault->item, 0, sizeof fault->item);
    return true;
}
