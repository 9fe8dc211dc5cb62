/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The set of live objects. A handle is checked by a look-up, without access to the memory that it points to. Therefore
 * a stale or wild handle is an error code, and not a crash in the application. Example: a kernel argument whose buffer
 * was released before the kernel was enqueued.
 *
 * Concurrency. Every call checks handles, so a look-up takes no lock and writes nothing. The set has shards, chosen by
 * a hash of the address. A writer takes the shard's lock, and makes its version odd while it changes the table (a
 * seqlock). A reader tries again if the version was odd or has changed, and takes the lock after some tries. Outgrown
 * tables are kept, because readers may still use them; together they are no larger than the table in use. No other lock
 * is taken while a shard's lock is held.
 */
#ifndef RT_LIVE_H
#define RT_LIVE_H

#include <stdbool.h>

/** False: no memory. */
bool rt_live_add(const void *object);
void rt_live_remove(const void *object);
bool rt_live_has(const void *object);

#endif
