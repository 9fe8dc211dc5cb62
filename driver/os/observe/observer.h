/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The observers: the trace of a device (trace.h) and the statistics that it publishes (tern/tern_stats.h). Both are
 * optional, and neither changes what the device does or makes a call fail.
 *
 * Thread: dev->lock is held, except in open and close.
 */
#ifndef TERN_OS_OBSERVER_H
#define TERN_OS_OBSERVER_H

#include "os/os.h"

#define TERN_PUBLISH_NS 100000000u /**< Not more often than this. */

/** dev->observer: NULL if neither is on. Before the device's thread starts. */
void tern_observer_open(struct tern_device *dev);
/** After the device's thread has ended. */
void tern_observer_close(struct tern_device *dev);

/** In the child of a fork: lets go of the parent's statistics, without a lock. The trace does so by itself. */
void tern_observer_inherited(struct tern_device *dev);

/** The scheduler's ops->event; user is the device. */
void tern_observer_event(void *user, const struct tern_sched_event *event);
/** A job of a context has come back. */
void tern_observer_ended(struct tern_device *dev, const struct tern_job *job);
/** Publishes if it is due. The device's thread calls it in each round, and before and after it sleeps. */
void tern_observer_look(struct tern_device *dev);
/** What is published has changed, without an event of the scheduler. */
void tern_observer_changed(struct tern_device *dev);
/** Something may have happened that is not published yet. */
bool tern_observer_stale(const struct tern_device *dev);

#endif
