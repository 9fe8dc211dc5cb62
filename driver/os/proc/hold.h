/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Stops all processes of a device at a given device time: at a cycle, or when a certain buffer begins. The device
 * thread suspends them, so that no cycle passes between that time and the requests to stop. The thread that waits for
 * `reached` then saves the processes and releases them.
 *
 * Locks. dev->lock is held in all functions, and guards all fields.
 */
#ifndef TERN_OS_HOLD_H
#define TERN_OS_HOLD_H

#include <stdbool.h>
#include <stdint.h>

struct tern_chunk;
struct tern_context;
struct tern_device;
struct tern_job;

#define TERN_HOLD_NEVER UINT64_MAX

struct tern_hold {
    uint64_t at;         /**< Device time of the hold, in cycles, or TERN_HOLD_NEVER. */
    const char *label;   /**< Label of the buffers that are counted; NULL: none. Valid as long as the device. */
    uint64_t launch;     /**< Number of the counted buffer, from 1 in order of submission, that sets `at`. */
    uint64_t seen;       /**< Number of counted buffers that were submitted. */
    uint64_t after;      /**< Cycles from the begin of that buffer to the hold. */
    bool reached;        /**< The processes were suspended; engines may not have answered yet. */
    uint64_t time;       /**< Device time at which they were suspended. */
};

/** Called before a job is queued. The job with the number `launch` is made to begin in an empty HW queue, so that the
 *  time of its begin is known. */
void tern_hold_submitted(struct tern_device *dev, struct tern_context *c, struct tern_job *job);
/** Called when a chunk of that job begins. */
void tern_hold_begins(struct tern_device *dev, const struct tern_chunk *chunk);
/** Cycles from the device time `now` to the hold; UINT64_MAX: its time is not known, or there are no processes. */
uint64_t tern_hold_left(const struct tern_device *dev, uint64_t now);
/** Suspends the processes if the time of the hold has come. */
void tern_hold_look(struct tern_device *dev);
/** Resumes the processes that the hold has suspended. */
void tern_hold_release(struct tern_device *dev);

#endif
