/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Queues that are not used any more, whose threads have still to give back what the queue had on the device, and what
 * its context had if that is the last of it. A call that finds no device memory waits for them and tries again: what
 * the program has released before must be there.
 */
#ifndef RT_CLOSING_H
#define RT_CLOSING_H

#include <stdbool.h>

/** The queue's last reference is gone; or a thread that runs no code of the program may have the last one. */
void rt_closing_begin(void);
/** From here on this thread closes a queue. It never waits for others, which could wait for it: the callbacks of a
 *  context that is destroyed run in it, and may allocate. */
void rt_closing_here(void);
/** Nothing is left of the queue. */
void rt_closing_end(void);
/** Waits until one more queue has closed. False: none is about to, or 5 s have passed. */
bool rt_closing_wait(void);

#endif
