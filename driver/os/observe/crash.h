/* SPDX-License-Identifier: Apache-2.0 */
/** Crash dumps: the state of an engine before it is reset because it did not answer. */
#ifndef TERN_OS_CRASH_H
#define TERN_OS_CRASH_H

#include "os/os.h"

/** Composes the text of a dump of the engine, whose HW queue is still known to the scheduler. NULL: out of memory. With
 *  dev->lock held; takes the hal lock. */
char *tern_crash_compose(struct tern_device *dev, uint32_t engine, const char *why);
/**
 * Writes the text to a new file in the first of these folders that is set and can be used: TERN_CRASH_DIR,
 * $XDG_STATE_HOME/tern, ~/.local/state/tern, /tmp. said, for the fault message, becomes "crash dump: PATH", or the
 * reason why there is none. The call may take long, and must be made without a lock.
 */
void tern_crash_write(const char *text, char *said, size_t size);

#endif
