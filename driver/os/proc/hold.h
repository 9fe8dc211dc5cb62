/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Stops all processes of a device at a moment of device time: at a cycle, or when a buffer begins. They are suspended
 * by the device thread, so that no cycle passes between the moment and the requests to stop; whoever waits for
 * `reached` then saves them, and lets them go on.
 *
 * Thread: dev->lock is held.
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
    uint64_t at;         /**< Device time, or TERN_HOLD_NEVER. */
    const char *label;   /**< Of the buffers that are counted; NULL: none are. Lives as long as the device. */
    uint64_t launch;     /**< The hold is `after` cycles after that one of them begins, counted from 1 */
    uint64_t seen;       /**< as they are submitted; so many were. */
    uint64_t after;
    bool reached;        /**< The processes are suspended; engines may not have answered yet. */
    uint64_t time;       /**< Then: when. */
};

/** A job is about to be queued. The one that is waited for begins in an empty HW queue, so that its begin is known. */
void tern_hold_submitted(struct tern_device *dev, struct tern_context *c, struct tern_job *job);
/** A chunk of such a job begins now. */
void tern_hold_begins(struct tern_device *dev, const struct tern_chunk *chunk);
/** Cycles from this device time until the moment; UINT64_MAX: it is not known, or there are no processes. */
uint64_t tern_hold_left(const struct tern_device *dev, uint64_t now);
/** Is it the moment? */
void tern_hold_look(struct tern_device *dev);
/** The processes that this has suspended go on. */
void tern_hold_release(struct tern_device *dev);

#endif
