/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The set of live objects, so that a handle is checked without looking at what it points to: a stale or wild one is
 * then an error code, and not a crash inside the application (a kernel's argument, say, whose buffer was released
 * before the kernel was enqueued).
 *
 * Every call checks handles, so a check locks nothing and writes nothing: threads do not meet there. The set is in
 * shards by a hash of the address. A writer of a shard holds its lock and makes its version odd meanwhile; a reader
 * tries again if the version was odd or is another afterwards, and after some such tries takes the lock. Tables that
 * were outgrown stay, since readers may still be in them: all together they are no larger than the one in use. The
 * locks are never held while another is taken.
 */
#ifndef RT_LIVE_H
#define RT_LIVE_H

#include <stdbool.h>

/** False: no memory. */
bool rt_live_add(const void *object);
void rt_live_remove(const void *object);
bool rt_live_has(const void *object);

#endif
