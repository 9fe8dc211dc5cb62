/* SPDX-License-Identifier: Apache-2.0 */
/** The queues of the program, and the number of commands that have begun and ended (flight.h). */
#include "runtime/core/flight.h"

#include <stdatomic.h>
#include <time.h>

#include "runtime/core/callback.h"

#define PATIENCE_S 60 /* longest wait for one command, because a kernel may hang */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* Taken before the lock of any context. */
static cl_command_queue queues; /* The queues of the program, linked by queue->next. Guarded by `lock`. */
/* Held by threads that begin or end a wait. This lock guards no field, and is taken alone. */
static pthread_mutex_t wait_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER; /* Broadcast when a command has ended. */
static atomic_uint waiting;         /* Number of threads that wait. Atomic. */
static atomic_ullong begun, ended;  /* Numbers of commands so far. Atomic. */

void rt_flight_add(cl_command_queue q)
{
    pthread_mutex_lock(&lock);
    q->next = queues;
    q->previous = NULL;
    if (queues != NULL) {
        queues->previous = q;
    }
    queues = q;
    pthread_mutex_unlock(&lock);
}

void rt_flight_remove(cl_command_queue q)
{
    pthread_mutex_lock(&lock);
    if (q->next != NULL) {
        q->next->previous = q->previous;
    }
    if (q->previous != NULL) {
        q->previous->next = q->next;
    } else if (queues == q) {
        queues = q->next;
    }
    pthread_mutex_unlock(&lock);
}

void rt_flight_begin(void)
{
    atomic_fetch_add(&begun, 1);
}

/** Sequentially consistent counts: either a thread that begins to wait sees the new count, or this thread sees that
 *  it waits. */
void rt_flight_end(void)
{
    atomic_fetch_add(&ended, 1);
    if (atomic_load(&waiting) != 0) {
        pthread_mutex_lock(&wait_lock);
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&wait_lock);
    }
}

/** True: a command is on a device, is being started or finished, or can start. All other commands wait for these, or
 *  for the application. */
static bool any_active(void)
{
    bool active = false;
    pthread_mutex_lock(&lock);
    for (cl_command_queue q = queues; q != NULL && !active; q = q->next) {
        pthread_mutex_lock(&q->context->lock);
        active = q->in_flight != 0 || q->working || q->finishing != 0 || rt_backlog_free(&q->backlog);
        pthread_mutex_unlock(&q->context->lock);
    }
    pthread_mutex_unlock(&lock);
    return active;
}

static void wait_for_end(uint64_t before)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_S;
    pthread_mutex_lock(&wait_lock);
    atomic_fetch_add(&waiting, 1);
    for (int r = 0; atomic_load(&ended) == before && r == 0;) {
        r = pthread_cond_timedwait(&changed, &wait_lock, &until);
    }
    atomic_fetch_sub(&waiting, 1);
    pthread_mutex_unlock(&wait_lock);
}

bool rt_flight_wait(struct rt_flight_call *call)
{
    const uint64_t before = call->ended;
    if (rt_callback_inside()) {
        return false;
    }
    if (!call->begun) { /* commands that ended during the first attempt may have freed memory too late for it */
        call->begun = true;
        call->most = atomic_load(&begun);
        call->ended = atomic_load(&ended);
        return true;
    }
    if (atomic_load(&ended) == before && before < call->most && any_active()) {
        wait_for_end(before);
    }
    call->ended = atomic_load(&ended);
    return call->ended != before && before < call->most;
}
