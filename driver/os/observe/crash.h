/* SPDX-License-Identifier: Apache-2.0 */
/** Crash dumps: what an engine was doing when it had to be reset. */
#ifndef TERN_OS_CRASH_H
#define TERN_OS_CRASH_H

#include "os/os.h"

/** The text of a dump of the engine, whose HW queue the scheduler still has; NULL: no memory.
 * dev->lock held; takes the hal lock. */
char *tern_crash_compose(struct tern_device *dev, uint32_t engine, const char *why);
/**
 * Writes the text into a new file: in TERN_CRASH_DIR if that is set and not empty; else in $XDG_STATE_HOME/tern or
 * ~/.local/state/tern; else in /tmp. said: for the fault message, "crash dump: PATH", or why there is none.
 * It may take long: to be called with no lock held.
 */
void tern_crash_write(const char *text, char *said, size_t size);

#endif
