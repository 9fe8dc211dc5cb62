/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Callbacks of the application. Callbacks of events, contexts and memory objects mostly run in the worker of a queue,
 * which does nothing else meanwhile. A call in such a callback that waits for a queue could wait for itself for ever.
 * The specification leaves this undefined; here the call is refused in all such callbacks, so that the behaviour does
 * not depend on the thread. The notify functions of builds run in threads of their own, and may make any call.
 */
#ifndef RT_CALLBACK_H
#define RT_CALLBACK_H

#include "runtime/core/context.h"

/** Enclose a callback. `what` is the function that registered it, as "clSetEventCallback". Returns the argument of
 *  rt_callback_end. */
const char *rt_callback_begin(const char *what);
void rt_callback_end(const char *before);
/** True: this thread is in a callback. */
bool rt_callback_inside(void);
/** True: `call`, which would wait, must return CL_INVALID_OPERATION because it is made in a callback. Reports that
 *  then. */
bool rt_callback_refuses(cl_context ctx, const char *call);

#endif
