/* SPDX-License-Identifier: Apache-2.0 */
/** The list of closings that have not ended, oldest first, and the number of those that have (closing.h). */
#include "runtime/core/closing.h"

#include <pthread.h>
#include <stddef.h>
#include <time.h>

#include "base/lock.h"

/* a long limit: a thread that the host schedules late must not be taken for one that waits for the caller */
#define PATIENCE_S 60

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct rt_closing *oldest; /* The list of closings that have not ended. Guarded by `lock`. */
static uint64_t begun, ended;     /* Numbers of closings so far. Guarded by `lock`. */
static _Thread_local struct rt_closing *outer; /* the closing that this thread is about to end, or NULL */
static _Thread_local bool closes;              /* this thread closes a queue, so it waits for no other closing */

/** The link that points to c; for NULL the end of the list. Requires `lock`. */
static struct rt_closing **place_of(const struct rt_closing *c)
{
    tern_assert_held(&lock);
    struct rt_closing **at = &oldest;
    while (*at != c) {
        at = &(*at)->next;
    }
    return at;
}

void rt_closing_begin(struct rt_closing *c)
{
    pthread_mutex_lock(&lock);
    struct rt_closing **at = outer == NULL ? place_of(NULL) : &outer->next;
    *c = (struct rt_closing){.next = *at, .number = outer == NULL ? ++begun : outer->number};
    *at = c;
    pthread_mutex_unlock(&lock);
}

void rt_closing_begin_here(struct rt_closing *c)
{
    rt_closing_begin(c);
    c->outer = outer;
    outer = c;
}

void rt_closing_move(struct rt_closing *c, struct rt_closing *here)
{
    pthread_mutex_lock(&lock);
    *here = *c;
    *place_of(c) = here;
    pthread_mutex_unlock(&lock);
    outer = here;
    closes = true;
}

void rt_closing_end(struct rt_closing *c)
{
    outer = c->outer;
    pthread_mutex_lock(&lock);
    *place_of(c) = c->next;
    ended++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

struct rt_closings rt_closings_now(void)
{
    pthread_mutex_lock(&lock);
    const struct rt_closings now = {.begun = begun, .ended = ended, .open = oldest != NULL};
    pthread_mutex_unlock(&lock);
    return now;
}

bool rt_closings_wait(struct rt_closings *call)
{
    struct timespec until;
    if (!call->open) {
        return false;
    }
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_S;
    pthread_mutex_lock(&lock);
    for (int r = 0; !closes && ended == call->ended && r == 0;) {
        r = pthread_cond_timedwait(&changed, &lock, &until);
    }
    const bool again = ended != call->ended;
    call->ended = ended;
    call->open = oldest != NULL && oldest->number <= call->begun;
    pthread_mutex_unlock(&lock);
    return again;
}
