/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The set of live objects, so that a handle is checked without looking at what it points to: a stale or wild one is then an
 * error code, and not a crash inside the application (a kernel's argument, say, whose buffer was released before the kernel
 * was enqueued). One set for the process, behind a lock of its own that is never held while another is taken.
 */
#ifndef RT_LIVE_H
#define RT_LIVE_H

#include <stdbool.h>

/** False: no memory. */
bool rt_live_add(const void *object);
void rt_live_remove(const void *object);
bool rt_live_has(const void *object);

#endif
