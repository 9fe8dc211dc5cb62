/* SPDX-License-Identifier: Apache-2.0 */
#include "hal/xrt/caller.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/thread.h"
#include "base/wait.h"
#include "hal/xrt/signals.h"

struct tern_caller {
    const struct tern_xrt_api *api; /* Constant. */
    struct tern_xrt *xrt;  /* The open card. Used by the thread while `pending`, else guarded by `lock`. */
    pthread_mutex_t turn;  /* Held by a caller until its call has ended. Taken before `lock`. */
    pthread_mutex_t lock;  /* Guards all fields below, unless a comment says otherwise. */
    pthread_cond_t asked, answered; /* Signalled when `pending` or `stop` is set, and when `pending` is reset. */
    pthread_t thread;         /* The thread that makes the calls. Constant. */
    pid_t tid;                /* The number of the thread, for its scheduling class. */
    bool pending;             /* A call is to be made, or is under way. */
    bool stop;                /* The thread is to end. */
    bool lost;                /* A call has taken longer than its time. */
    int result;               /* 0 or -errno of the last call. */
    struct tern_call call;         /* The call. Used by the thread while `pending`, as are the two strings. */
    char device[64], xclbin[4096]; /* Copies of the strings of TERN_CALL_OPEN. */
};

/** Makes a call, in the thread. The card must be open, except for the calls that open and close it: else -EIO. */
static int make_call(struct tern_caller *c, struct tern_call *k)
{
    int r = c->xrt || k->op == TERN_CALL_OPEN || k->op == TERN_CALL_CLOSE ? 0 : -EIO;
    switch (r ? TERN_CALL_CLOSE : k->op) {
    case TERN_CALL_OPEN:
        return c->api->open(c->device, c->xclbin, &c->xrt, &k->bank, k->why);
    case TERN_CALL_READ:
        for (size_t i = 0; i < k->count && !r; i++) {
            r = c->api->read32(c->xrt, k->at[i].offset, &k->at[i].value, k->why);
        }
        return r;
    case TERN_CALL_WRITE:
        for (size_t i = 0; i < k->count && !r; i++) {
            r = c->api->write32(c->xrt, k->at[i].offset, k->at[i].value, k->why);
        }
        return r;
    case TERN_CALL_MEMORY:
        return c->api->memory(c->xrt, k->bytes, &k->address, &k->map, k->why);
    case TERN_CALL_SYNC:
        return c->api->sync(c->xrt, k->to_device, k->address, k->bytes, k->why);
    case TERN_CALL_CLOSE:
        if (c->xrt) {
            c->api->close(c->xrt);
        }
        c->xrt = NULL;
    }
    return r;
}

static void *run(void *arg)
{
    struct tern_caller *c = arg;
    tern_xrt_signals_caller();
    pthread_mutex_lock(&c->lock);
    c->tid = gettid();
    for (;;) {
        while (!c->pending && !c->stop) {
            pthread_cond_wait(&c->asked, &c->lock);
        }
        if (!c->pending) {
            break;
        }
        pthread_mutex_unlock(&c->lock);
        const int r = make_call(c, &c->call);
        pthread_mutex_lock(&c->lock);
        c->result = r;
        c->pending = false;
        pthread_cond_signal(&c->answered);
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

int tern_caller_start(const struct tern_xrt_api *api, struct tern_caller **out)
{
    struct tern_caller *c = calloc(1, sizeof *c);
    if (!c) {
        return -ENOMEM;
    }
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&c->turn, NULL);
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->asked, NULL);
    pthread_cond_init(&c->answered, &monotonic);
    pthread_condattr_destroy(&monotonic);
    c->api = api;
    const int r = tern_thread_start(&c->thread, run, c);
    if (r) {
        free(c);
        return r;
    }
    *out = c;
    return 0;
}

/** Waits for the end of the call for at most `ms`. Requires `turn` and `lock`. */
static int wait_for_result(struct tern_caller *c, struct tern_call *call, int64_t ms)
{
    tern_assert_held(&c->turn);
    tern_assert_held(&c->lock);
    const struct timespec until = tern_deadline(ms);
    int r = 0;
    while (c->pending && !r) {
        r = tern_wait_changed(&c->answered, &c->lock, ms, &until);
    }
    if (c->pending) {
        c->lost = true;
        sched_setscheduler(c->tid, SCHED_IDLE, &(struct sched_param){0}); /* the thread may spin */
        snprintf(call->why, sizeof call->why, "XRT has not come back for %lld ms (in emulation: its simulator has "
                 "ended or stopped, or what it has answered is wrong)", (long long)ms);
        return -ETIMEDOUT;
    }
    *call = c->call;
    return c->result;
}

int tern_caller_call(struct tern_caller *c, struct tern_call *call, int64_t ms)
{
    int r = -EIO;
    pthread_mutex_lock(&c->turn);
    pthread_mutex_lock(&c->lock);
    if (c->lost) {
        snprintf(call->why, sizeof call->why, "XRT has not come back from an earlier call");
    } else {
        c->call = *call;
        if (call->op == TERN_CALL_OPEN) {
            snprintf(c->device, sizeof c->device, "%s", call->device);
            snprintf(c->xclbin, sizeof c->xclbin, "%s", call->xclbin);
        }
        c->pending = true;
        pthread_cond_signal(&c->asked);
        r = wait_for_result(c, call, ms);
    }
    pthread_mutex_unlock(&c->lock);
    pthread_mutex_unlock(&c->turn);
    return r;
}

struct tern_xrt *tern_caller_card(struct tern_caller *c)
{
    pthread_mutex_lock(&c->lock);
    struct tern_xrt *card = c->pending ? NULL : c->xrt;
    pthread_mutex_unlock(&c->lock);
    return card;
}

bool tern_caller_stop(struct tern_caller *c)
{
    pthread_mutex_lock(&c->lock);
    const bool lost = c->lost;
    c->stop = true;
    pthread_cond_signal(&c->asked);
    pthread_mutex_unlock(&c->lock);
    if (lost) { /* the thread may still use c, which is not freed */
        pthread_detach(c->thread);
        return false;
    }
    pthread_join(c->thread, NULL);
    pthread_cond_destroy(&c->answered);
    pthread_cond_destroy(&c->asked);
    pthread_mutex_destroy(&c->lock);
    pthread_mutex_destroy(&c->turn);
    free(c);
    return true;
}
