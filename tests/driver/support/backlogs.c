/* SPDX-License-Identifier: Apache-2.0 */
#include "backlogs.h"

#include <math.h>

struct tern_sched_process procs[CLIENTS];

struct client clients[CLIENTS];

struct tern_sched_config config;

void backlogs_restart(uint32_t engines)
{
    mock_init(&mock, engines, &config);
    mock.save_cycles = mock.restore_cycles = 700;
    for (int i = 0; i < CLIENTS; i++) {
        tern_sched_process_init(&mock.sched, &procs[i], false);
    }
}

int backlogs_setup(void **state)
{
    (void)state;
    tern_sched_config_default(&config);
    for (int b = 0; b < 4; b++) {
        config.band[b].quantum = QUANTUM;
    }
    backlogs_restart(1);
    return 0;
}

void backlog(int i, int proc, int32_t engine, uint32_t band, uint32_t weight, uint64_t cost)
{
    client_init(&clients[i], &procs[proc], engine, band, weight, cost);
    client_backlog(&clients[i], 4);
}

uint64_t cycles_got(int i)
{
    const struct tern_sched_context *c = &clients[i].mock.sched;
    const struct tern_sched_engine *e = &mock.sched.engine[c->engine];
    const bool runs = e->n && e->inflight[0].context == c && mock.sched.now > e->front_since;
    return c->stats.cycles + (runs ? mock.sched.now - e->front_since : 0);
}

void expect_ratio(uint64_t a, uint64_t b, double ratio, double tolerance)
{
    double r = (double)a / (double)b;
    if (fabs(r / ratio - 1) > tolerance) {
        fail_msg("shares %llu : %llu are %.3f, not %.3f", (unsigned long long)a, (unsigned long long)b, r, ratio);
    }
}

void backlogs_end(int n)
{
    end_backlogs(clients, (size_t)n);
    drain();
}
