/* SPDX-License-Identifier: Apache-2.0 */
/** Floods of work with given weights, and the engine cycles that each has got: helpers of the tests of fairness. */
#ifndef FLOODS_H
#define FLOODS_H

#include "mock_client.h"

#include <math.h>

#define CLIENTS 256
#define QUANTUM 20000

static struct tern_sched_process procs[CLIENTS];
static struct client clients[CLIENTS];
static struct tern_sched_config config;

static inline void restart(uint32_t engines)
{
    mock_init(&m, engines, &config);
    m.save_cycles = m.restore_cycles = 700;
    for (int i = 0; i < CLIENTS; i++) {
        tern_sched_process_init(&m.sched, &procs[i], false);
    }
}

static inline int setup(void **state)
{
    (void)state;
    tern_sched_config_default(&config);
    for (int b = 0; b < 4; b++) {
        config.band[b].quantum = QUANTUM;
    }
    restart(1);
    return 0;
}

static inline void flood(int i, int proc, int32_t engine, uint32_t band, uint32_t weight, uint64_t cost)
{
    client_init(&clients[i], &procs[proc], engine, band, weight, cost);
    client_flood(&clients[i], 4);
}

/** Engine cycles of client i, including those of its running chunk. */
static inline uint64_t got(int i)
{
    const struct tern_sched_context *c = &clients[i].mock.sched;
    const struct tern_sched_engine *e = &m.sched.engine[c->engine];
    const bool runs = e->n && e->inflight[0].context == c && m.sched.now > e->front_since;
    return c->stats.cycles + (runs ? m.sched.now - e->front_since : 0);
}

static inline void near_ratio(uint64_t a, uint64_t b, double ratio, double tolerance)
{
    double r = (double)a / (double)b;
    if (fabs(r / ratio - 1) > tolerance) {
        fail_msg("shares %llu : %llu are %.3f, not %.3f", (unsigned long long)a, (unsigned long long)b, r, ratio);
    }
}

static inline void finish(int n)
{
    stop_floods(clients, (size_t)n);
    drain();
}

#endif
