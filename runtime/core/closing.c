/* SPDX-License-Identifier: Apache-2.0 */
/** Counts the queues that have begun to close, and those that have ended (closing.h). */
#include "runtime/core/closing.h"

#include <pthread.h>
#include <stdint.h>
#include <time.h>

#define PATIENCE_S 5

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static uint64_t begun, ended;
static _Thread_local bool here;

void rt_closing_begin(void)
{
    pthread_mutex_lock(&lock);
    begun++;
    pthread_mutex_unlock(&lock);
}

void rt_closing_here(void)
{
    here = true;
}

void rt_closing_end(void)
{
    pthread_mutex_lock(&lock);
    ended++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

bool rt_closing_wait(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_S;
    pthread_mutex_lock(&lock);
    const uint64_t before = ended;
    const bool any = !here && before != begun;
    for (int r = 0; any && ended == before && r == 0;) {
        r = pthread_cond_timedwait(&changed, &lock, &until);
    }
    const bool closed = ended != before;
    pthread_mutex_unlock(&lock);
    return any && closed;
}
