/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What the driver does when an engine does not stop: the dump, the process in error, and what comes
 * after a reset that fails (F2-F4).
 *
 * Levels. The scheduler resets an engine that has not answered a request to stop within the timeout; the process in
 * front is guilty, all others lose nothing (F3). If the engine does not come back, or paging buffers were lost to
 * resets twice (F4), *all* engines are reset: every process is in error, because what the page tables say is in doubt,
 * and new ones begin on a clean device. If that fails too, the device is lost.
 *
 * A process that is started again after each reset and hangs again makes all others wait for the timeout each time. So
 * a process that was guilty of TERN_OFFENCES resets within TERN_OFFENCE_NS is refused until the first of them is that
 * long ago. It is known by its name, which is all that the driver in a process has; host time, because device time
 * stands still while no engine works.
 *
 * A dump is composed under dev->lock, when the scheduler is about to reset the engine; it is written without the
 * lock, and only then does the scheduler, in its next run, reset the engine and report the fault: a message
 * never names a file that is not there yet. If the engine stops after all in these few cycles, the file stays,
 * and says how close that was.
 *
 * dev->lock is held in all of these.
 */
#ifndef TERN_OS_TDR_H
#define TERN_OS_TDR_H

#include "kmd/kmd.h"

#define TERN_OFFENCES 5u
#define TERN_OFFENCE_NS 600000000000ull
#define TERN_OFFENDERS 16u   /**< Remembered at a time. */

struct tern_device;
struct tern_process;
struct tern_job;

struct tern_offender {
    char name[64];
    char partition[TERN_PARTITION_NAME]; /**< Of that name: what is done in one refuses nothing in another (M5). */
    uint32_t owner;             /**< As of the process. */
    uint64_t at[TERN_OFFENCES]; /**< CLOCK_MONOTONIC, ns; oldest first. */
    uint32_t n;
};

/** Of an engine: its last crash dump. The device thread's own. */
struct tern_tdr_dump {
    char said[320];    /**< For messages: where it is, or why there is none. */
    char *text;        /**< Not NULL: to be written. */
    uint64_t stop;     /**< Of which request to stop it is: time + 1; 0: of none. */
};

struct tern_tdr {
    struct tern_tdr_dump dump[TERN_ENGINES_MAX];
    struct tern_offender offender[TERN_OFFENDERS];
    uint32_t adapter_resets;
};

/** The scheduler's ops->stuck: an engine is about to be reset. Composes the crash dump, and lets the reset
 * wait until it is written. */
bool tern_tdr_stuck(void *dev, uint32_t engine, struct tern_job *front);
/** The device thread, between runs of the scheduler: writes crash dumps. Releases dev->lock meanwhile. */
void tern_tdr_write(struct tern_device *dev);
/** Its work has made the engine be reset: the fault, and the book of offences. */
void tern_tdr_blame(struct tern_device *dev, uint32_t engine, struct tern_process *proc, const struct tern_job *job);
/** May a process of this name begin? -EACCES says why not, and for how long. */
int tern_tdr_admit(struct tern_device *dev, const struct tern_process *proc);
/**
 * After each run of the scheduler, with its result. -ETIMEDOUT (an engine does not come out of reset) and
 * -ENOTRECOVERABLE (F4): all engines are reset, with dev->lock released meanwhile. Any other error, and if
 * that fails: the device is lost.
 */
void tern_tdr_judge(struct tern_device *dev, int r);
/** Ends processes of which a buffer has run longer than the configuration's limit. Cycles
 * until it has to look again. */
uint64_t tern_tdr_limit(struct tern_device *dev);

#endif
