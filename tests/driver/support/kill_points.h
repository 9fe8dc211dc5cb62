/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Kills a process at each point of what its thread does in the driver. A kill point is a lock that the thread takes, a
 * wait, or an allocation of host memory. In run n another thread kills the process at point n while its thread goes on.
 * The runs end when one has fewer points than n. The linker wraps pthread_mutex_lock, pthread_cond_wait, malloc and
 * calloc.
 */
#ifndef SUPPORT_KILL_POINTS_H
#define SUPPORT_KILL_POINTS_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "tern/tern.h"

/** State of the current run: */
extern struct tern_process *victim;
extern sem_t kill_point_reached; /**< Posted at point n, or at the end of the victim's thread. */
extern atomic_long allocations_left; /**< Allocations until one fails; < 0: none fails. */
/** Counts a point, and returns true if the allocation there is to fail. */
bool allocation_fails(void);
/** Starts a thread with a new victim. The thread posts kill_point_reached at point n. */
pthread_t kill_point_begin(long n, int (*live)(struct tern_process *));
/** Runs a victim and kills it at point n, or at its end. The caller destroys it. Returns false if there was no point
 *  n. */
bool killed_at(long n, int (*live)(struct tern_process *));

#endif
