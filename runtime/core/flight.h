/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Commands of the program that will end by themselves, and so give back memory that nobody else has any more: a buffer
 * that the application has released is there until the last command that uses it has ended. A call that finds no device
 * memory waits for such commands, and tries again when one has ended. The call waits for at most as many ends as there
 * were commands when it began, and never for commands that wait for the application (for its user events).
 */
#ifndef RT_FLIGHT_H
#define RT_FLIGHT_H

#include "runtime/core/queue.h"

/** The queue's commands count from here on, and until it has none any more. */
void rt_flight_add(cl_command_queue q);
void rt_flight_remove(cl_command_queue q);

/** A command was put into a queue; has ended and given back what it used. */
void rt_flight_begin(void);
void rt_flight_end(void);

/** A call that may have to wait; zero at first. */
struct rt_flight_call {
    bool begun;
    uint64_t most;  /**< Ends that it may wait for, counted from the first command of the program. */
    uint64_t ended; /**< Ends before its last attempt began. */
};

/** An attempt has found no memory. True: another may, at once after the first, later when a command has ended. False:
 *  there is none to wait for, the thread is in a callback (which commands may wait for), or a minute has passed. Under
 *  no lock. */
bool rt_flight_wait(struct rt_flight_call *call);

#endif
