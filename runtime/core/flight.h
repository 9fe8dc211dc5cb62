/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Commands of the program that will end by themselves, and then free memory: a buffer that the application has released
 * exists until the last command that uses it has ended. A call that finds no device memory waits for such commands, and
 * tries again when one has ended. The call waits for at most as many ends as there were commands when it began, and
 * never for commands that wait for the application (user events).
 */
#ifndef RT_FLIGHT_H
#define RT_FLIGHT_H

#include "runtime/core/queue.h"

/** Add a queue whose commands count, and remove it when it has no command left. */
void rt_flight_add(cl_command_queue q);
void rt_flight_remove(cl_command_queue q);

/** Count a command that was put into a queue, and one that has ended and freed what it used. */
void rt_flight_begin(void);
void rt_flight_end(void);

/** State of a call that may have to wait; zero at first. */
struct rt_flight_call {
    bool begun;
    uint64_t most;  /**< Number of ends, counted from the program's first command, up to which the call waits. */
    uint64_t ended; /**< Number of ends when the last attempt began. */
};

/** Called after an attempt that found no memory. True: the caller tries again, at once after the first attempt,
 *  later when a command has ended. False: there is no command to wait for, the thread is in a callback, for which
 *  commands may wait, or a minute has passed. Requires that no lock is held. */
bool rt_flight_wait(struct rt_flight_call *call);

#endif
