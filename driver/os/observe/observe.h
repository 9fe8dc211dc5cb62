/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The observer of a device: its trace (trace.h) and the statistics that it publishes (tern/tern_stats.h). Both are
 * optional. Neither changes the behaviour of the device or makes a call fail.
 *
 * Locks. All functions of the observer except open, close and inherited are called with dev->lock held.
 */
#ifndef TERN_OS_OBSERVE_OBSERVE_H
#define TERN_OS_OBSERVE_OBSERVE_H

#include "os/state/state.h"

#define TERN_PUBLISH_NS 100000000u /**< Shortest time, in ns, between two publications. */

/** Sets dev->observer, which is NULL if neither part is on. Called before the device's thread starts. */
void tern_observer_open(struct tern_device *dev);
/** Called after the device's thread has ended. */
void tern_observer_close(struct tern_device *dev);

/** Closes the parent's statistics in the child of a fork. The trace has a fork handler of its own. */
void tern_observer_inherited(struct tern_device *dev);

/** The scheduler's operation `event`; user is the device. */
void tern_observer_event(void *user, const struct tern_sched_event *event);
/** Called when a job of a context has ended. */
void tern_observer_ended(struct tern_device *dev, const struct tern_job *job);
/** Publishes the statistics if that is due. The device's thread calls it in each round, and before and after a
 *  sleep. */
void tern_observer_look(struct tern_device *dev);
/** Called when published values have changed without an event of the scheduler. */
void tern_observer_changed(struct tern_device *dev);
/** True: there may be changes that have not been published. */
bool tern_observer_stale(const struct tern_device *dev);

/* crash.c: crash dumps, the state of an engine before it is reset because it did not answer */
/** Composes the text of a dump of the engine, whose HW queue is still known to the scheduler. Requires dev->hal_lock
 *  and dev->lock. NULL: out of memory. */
char *tern_crash_compose(struct tern_device *dev, uint32_t engine, const char *why);
/**
 * Writes the text to a new file in the first of these folders that is set and can be used: TERN_CRASH_DIR,
 * $XDG_STATE_HOME/tern, ~/.local/state/tern, /tmp. said, for the fault message, becomes "crash dump: PATH", or the
 * reason why there is none. The call may take long, and must be made without a lock.
 */
void tern_crash_write(const char *text, char *said, size_t size);

#endif
