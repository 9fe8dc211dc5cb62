/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A device with clients that flood it: contexts, each of which always has work queued, from completion callbacks, so
 * that what happens depends on device time alone. The first buffers are submitted by such a callback too: device time
 * stands still meanwhile. What a client got of the engines is read at two moments of device time.
 *
 * Every buffer is a kernel of sched.cl of a chosen length. In the end the clients' memory is compared with that of
 * clients which had the device to themselves.
 */
#ifndef TERN_BENCH_SCHED_RIG_H
#define TERN_BENCH_SCHED_RIG_H

#include <semaphore.h>

#include "direct.h"

#define RIG_KINDS 4u
#define RIG_ITEMS 256u
#define RIG_WORDS (RIG_ITEMS * 16u)

struct rig;

struct client {
    struct rig *rig;
    struct direct_process *process;
    struct tern_context *context;
    struct direct_call call;
    struct tern_allocation *data;
    unsigned kind;
    uint32_t turns;        /**< Of its kernel. */
    unsigned first;        /**< Buffers that it submits at the start. */
    bool flood;            /**< Submits again as long as the rig does not stop. */
    uint64_t submitted, completed;
    uint64_t from, to;     /**< Cycles it had run at the two moments. */
    /** Called at each completion, after the above; may be NULL. */
    void (*completed_fn)(struct client *c, const struct tern_completion *completion);
    void *user;
};

struct rig {
    struct tern_device *dev;
    struct tern_device_info info;
    struct direct_program program;
    struct direct_process *process;
    struct client *client;
    /** The last process is the rig's own: who has just run a lot is not a client like others. */
    unsigned processes, clients, capacity;
    double turn[RIG_KINDS], fixed[RIG_KINDS]; /**< Cycles of a turn, and of a kernel without any. */
    uint64_t begin, end;   /**< The two moments, device time. 0: has not come. */
    uint64_t begin_at, end_at; /**< When they are to be; before the start, after how many cycles. */
    bool starting, stopping, failed;
    sem_t done;
};

/** config: keys after the geometry of TERN_CONFIG, e.g. "quantum=5000". Measures how long kernels take. */
int rig_open(struct rig *r, const char *config, unsigned processes, unsigned clients);
void rig_close(struct rig *r);
/** Adds a client; engine -1: any. cycles: how long its buffers take alone. NULL: stderr says why. */
struct client *rig_add(struct rig *r, unsigned process, int engine, unsigned kind, uint64_t cycles);
/** Band and weight of a client. */
int rig_priority(struct client *c, enum tern_band band, uint32_t weight);
/** One buffer more; from any thread. */
void rig_submit(struct client *c);
/** Makes it a client that always has something queued. */
void rig_flood(struct client *c);
/** All clients submit their first buffers, at one moment of device time. */
int rig_start(struct rig *r);
/** Starts; reads what clients got `warm` cycles from now and `length` cycles later; stops and
 * waits for what is queued. */
int rig_run(struct rig *r, uint64_t warm, uint64_t length);
/** Waits for all that was submitted. */
int rig_drain(struct rig *r);
/** Compares the clients' memory with a run of each kind alone. -EBADMSG: one differs. After rig_drain. */
int rig_check(struct rig *r);

#endif
