/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Timeout detection and recovery (TDR): what the driver does when an engine does not stop (F2-F4).
 *
 * Levels:
 *   1. An engine that has not answered a request to stop within the timeout is reset by the scheduler. The process in
 *      front is guilty and goes into error; all others lose nothing (F3).
 *   2. If the engine does not come out of reset, or resets have lost paging buffers twice (F4), all engines are reset.
 *      Every process goes into error, because the page tables may be wrong; new processes begin on a clean device.
 *   3. If that fails, the device is lost.
 *
 * A process that was guilty is an offender (proc/offence.c).
 *
 * Crash dumps. A dump is composed under dev->lock when the scheduler is about to reset the engine, and is written
 * without the lock. The scheduler resets the engine and reports the fault in its next run, so a message never names a
 * file that does not exist yet. If the engine stops in these few cycles after all, the file is kept, and says so.
 *
 * Locks: functions require dev->lock.
 */
#ifndef TERN_OS_DEVICE_TDR_H
#define TERN_OS_DEVICE_TDR_H

#include "os/state/state.h"

/** The scheduler's ops->stuck: an engine is about to be reset. Composes the crash dump. True: the reset must wait
 *  until the dump is written. */
bool tern_tdr_stuck(void *dev, uint32_t engine, struct tern_job *front);
/** Writes crash dumps. Called by the device thread between runs of the scheduler. Releases dev->lock meanwhile. */
void tern_tdr_write(struct tern_device *dev);
/** Called when work of the process has caused a reset of the engine: sets the fault of the process, and records the
 *  offence. */
void tern_tdr_blame(struct tern_device *dev, uint32_t engine, struct tern_process *proc, const struct tern_job *job);
/** Called after each run of the scheduler, with its result. -ETIMEDOUT (an engine does not come out of reset) and
 *  -ENOTRECOVERABLE (F4): resets all engines, and releases dev->lock meanwhile. If that fails, and for any other
 *  error, the device is lost. */
void tern_tdr_judge(struct tern_device *dev, int r);
/** Ends processes of which a buffer has run longer than policy.limit. Returns the cycles until the next check. */
uint64_t tern_tdr_limit(struct tern_device *dev);

#endif
