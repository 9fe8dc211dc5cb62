/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Queues that are not used any more, whose threads have still to give back what the queue had on the device, and what
 * its context had if that is the last of it. A call that finds no device memory waits for them and tries again: what
 * the program has released before must be there.
 *
 * A call waits for closings that had begun when it was made. The call fails only if all of those had ended when its
 * last attempt began. One that ends while an attempt fails may have come too late for it.
 */
#ifndef RT_CLOSING_H
#define RT_CLOSING_H

#include <stdbool.h>
#include <stdint.h>

/** One that has begun and not ended: in the storage of whoever ends it. */
struct rt_closing {
    struct rt_closing *next;
    uint64_t number;          /**< By age. One that begins while its thread is about to end another has the other's. */
    struct rt_closing *outer; /**< The other. */
};

/** The queue's last reference is gone. */
void rt_closing_begin(struct rt_closing *c);
/** This thread, which runs no code of the program, may have the last one, and gives it back before it ends the closing.
 */
void rt_closing_begin_here(struct rt_closing *c);
/** From here on this thread closes a queue, and keeps the closing in `here`, since the queue goes. The thread
 *  never waits for others, which could wait for it: the callbacks of a context that is destroyed run in it, and may
 *  allocate. */
void rt_closing_move(struct rt_closing *c, struct rt_closing *here);
/** Nothing is left of the queue; or the reference was not the last one, or has begun to close it. */
void rt_closing_end(struct rt_closing *c);

/** The closings that a call may wait for, as they were when its last attempt began. */
struct rt_closings {
    uint64_t begun, ended;
    bool open; /**< One of those that had begun when the call was made had not ended. */
};
struct rt_closings rt_closings_now(void);
/** The attempt has found no memory: waits, if some were open, until one has ended since. False: another attempt would
 *  find no more; or a minute has passed. */
bool rt_closings_wait(struct rt_closings *call);

#endif
