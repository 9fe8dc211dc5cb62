/* SPDX-License-Identifier: Apache-2.0 */
/** Calling the application (callback.h). */
#include "runtime/core/callback.h"

/* the function that registered the callback that this thread is in; NULL: none */
static _Thread_local const char *inside;

const char *rt_callback_begin(const char *what)
{
    const char *before = inside;
    inside = what;
    return before;
}

void rt_callback_end(const char *before)
{
    inside = before;
}

bool rt_callback_inside(void)
{
    return inside != NULL;
}

bool rt_callback_refuses(cl_context ctx, const char *call)
{
    if (inside == NULL) {
        return false;
    }
    rt_context_refuse(ctx, RT_REFUSED_WAIT,
                      "%s waits, which a callback of %s must not: the queue would wait for itself. Refused "
                      "(CL_INVALID_OPERATION); use calls that do not block, and events.",
                      call, inside);
    return true;
}
