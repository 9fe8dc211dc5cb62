/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Calling the application. Callbacks of events, contexts and memory objects mostly come from the worker of a
 * queue, which does nothing else meanwhile: a call in them that waits for a queue would wait for itself, for ever.
 * The specification leaves undefined what such a call does; here it is refused, in these callbacks always, so that
 * it does not depend on which thread happens to call. The notify functions of builds come from threads of their
 * own and may do what they like.
 */
#ifndef RT_CALLBACK_H
#define RT_CALLBACK_H

#include "runtime/core/context.h"

/** Around a callback: `what` registered it ("clSetEventCallback"). Gives what rt_callback_end takes. */
const char *rt_callback_begin(const char *what);
void rt_callback_end(const char *before);
/** Is this thread in one? */
bool rt_callback_inside(void);
/** Must this call (as the application knows it), which is going to wait, be refused
 * (CL_INVALID_OPERATION)? Says so, then. */
bool rt_callback_refuses(cl_context ctx, const char *call);

#endif
