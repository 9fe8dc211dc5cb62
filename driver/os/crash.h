/* SPDX-License-Identifier: Apache-2.0 */
/** Crash dumps: what an engine was doing when it had to be reset. */
#ifndef TERN_OS_CRASH_H
#define TERN_OS_CRASH_H

#include "os/os.h"

/**
 * Writes a dump of the engine, whose HW queue the scheduler still shows, into a new file: in TERN_CRASH_DIR if that is set and not
 * empty; else in $XDG_STATE_HOME/tern or ~/.local/state/tern; else in /tmp. said: for the fault message, "crash dump: PATH", or
 * why there is none. dev->lock held; takes the turn.
 */
void tern_crash_dump(struct tern_device *dev, uint32_t engine, const char *why, char *said, size_t size);

#endif
