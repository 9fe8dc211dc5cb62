/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A device with clients that flood it: contexts that always have work queued, submitted from completion callbacks, so
 * that the result depends on device time alone. The first buffers too are submitted by a callback, during which device
 * time does not pass. The cycles that each client got are read at two moments of device time.
 *
 * Every buffer is a kernel of sched.cl of a chosen length. In the end the clients' memory is compared with that of
 * clients that ran alone.
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
    uint32_t turns;        /**< Rounds of its kernel. */
    unsigned first;        /**< Buffers that the client submits at the start. */
    bool flood;            /**< The client submits again at each completion until the rig stops. */
    uint64_t submitted, completed;
    uint64_t from, to;     /**< Cycles that the client had run at the two moments. */
    /** Called at each completion after the rig's own work; may be NULL. */
    void (*completed_fn)(struct client *c, const struct tern_completion *completion);
    void *user;
};

struct rig {
    struct tern_device *dev;
    struct tern_device_info info;
    struct direct_program program;
    struct direct_process *process;
    struct client *client;
    /** The last process is the rig's own, since a process that has just run much would not be equal to the others. */
    unsigned processes, clients, capacity;
    double turn[RIG_KINDS], fixed[RIG_KINDS]; /**< Cycles of a round, and of a kernel without rounds. */
    uint64_t begin, end;   /**< Device time of the two moments; 0: not reached. */
    /** Planned device time of the two moments. Before the start: cycles from the start to the first, and from the first
     *  to the second. */
    uint64_t begin_at, end_at;
    bool starting, stopping, failed;
    sem_t done;
};

/** Opens a device with the geometry of TERN_CONFIG and these keys, e.g. "quantum=5000", and measures how long kernels
 * take. */
int rig_open(struct rig *r, const char *config, unsigned processes, unsigned clients);
void rig_close(struct rig *r);
/** Adds a client whose buffers take this many cycles alone; engine -1: any. Returns NULL after a message on stderr. */
struct client *rig_add(struct rig *r, unsigned process, int engine, unsigned kind, uint64_t cycles);
/** Sets a client's band and weight. */
int rig_priority(struct client *c, enum tern_band band, uint32_t weight);
/** Submits one more buffer, from any thread. */
void rig_submit(struct client *c);
/** Makes the client always have work queued. */
void rig_flood(struct client *c);
/** Makes all clients submit their first buffers at one moment of device time. */
int rig_start(struct rig *r);
/** Starts the clients, reads their cycles `warm` cycles from now and `length` cycles later, then stops and waits for
 * the queued buffers. */
int rig_run(struct rig *r, uint64_t warm, uint64_t length);
/** Waits for all submitted buffers. */
int rig_drain(struct rig *r);
/** Compares the clients' memory with a run of each kind alone, after rig_drain. Returns -EBADMSG if one differs. */
int rig_check(struct rig *r);

#endif
