/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Queues that the application has released, and whose threads still have to free the queue's device memory, and that of
 * its context if this was the last reference. A call that finds no device memory waits for them and tries again,
 * because memory that the program has released before must be available.
 *
 * A call waits for closings that had begun when the call was made. The call fails only if all of these had ended when
 * its last attempt began; one that ends during an attempt may have freed its memory too late for the attempt.
 */
#ifndef RT_CLOSING_H
#define RT_CLOSING_H

#include <stdbool.h>
#include <stdint.h>

/** A closing that has begun and not ended. The caller of rt_closing_begin provides the storage. */
struct rt_closing {
    struct rt_closing *next; /**< The next closing, from old to young. Guarded by the lock of closing.c. */
    /** Number of the closing, ascending with age. A closing that begins in a thread which is to end another closing
     *  gets that one's number. Guarded by the lock of closing.c. */
    uint64_t number;
    struct rt_closing *outer; /**< That other closing, or NULL. Used by the thread that ends the closing only. */
};

/** Begins a closing, because the queue's last reference is gone. */
void rt_closing_begin(struct rt_closing *c);
/** Begins a closing in a thread of the runtime that may drop the queue's last reference, and drops it before it ends
 *  the closing. */
void rt_closing_begin_here(struct rt_closing *c);
/** Moves the closing to `here`, because the queue that has its storage is freed. From here on the thread never waits
 *  for other closings, which could wait for this one: callbacks of a context that is destroyed run in this thread,
 *  and may allocate. */
void rt_closing_move(struct rt_closing *c, struct rt_closing *here);
/** Ends a closing: the queue is freed; or the reference was not the last one; or the drop has begun another closing. */
void rt_closing_end(struct rt_closing *c);

/** The state of closings when the last attempt of a call began. */
struct rt_closings {
    uint64_t begun, ended;
    bool open; /**< A closing that had begun when the call was made had not ended. */
};
struct rt_closings rt_closings_now(void);
/** Called after an attempt that found no memory. Waits, if `open`, until a closing has ended since. True: another
 *  attempt may succeed. False: none is left to wait for, or a minute has passed. */
bool rt_closings_wait(struct rt_closings *call);

#endif
