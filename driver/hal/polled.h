/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What backends of real hardware share: they wait by looking at the device again and again, less and less often, and
 * what a simulator can be told they cannot.
 */
#ifndef TERN_HAL_POLLED_H
#define TERN_HAL_POLLED_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "hal/config.h"

/** Between two looks: what wakes who waits. All functions of it may be called by any thread. */
struct tern_polled {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* of CLOCK_MONOTONIC */
    bool woken, raised;
};

void tern_polled_begin(struct tern_polled *p);
void tern_polled_end(struct tern_polled *p);
/** The wait that goes on, or else the next one, ends. */
void tern_polled_wake(struct tern_polled *p);
/** The device is looked at now. */
void tern_polled_raise(struct tern_polled *p);

/** A look: 1, the interrupt is raised; 0, it is not; -errno. timed: *now becomes dev.time_lo; else it may be left. */
typedef int tern_polled_look(void *user, bool timed, uint32_t *now);
/** The hal's operation `wait`. The first look is at once, the next after `first` ns, then twice as many each time, up
 *  to `most`. */
int tern_polled_wait(struct tern_polled *p, uint64_t cycles, uint64_t first, uint64_t most, tern_polled_look *look,
                     void *user);

/** -EINVAL, with a sentence: the configuration has what only a simulator can be told. what: "card", "board". */
int tern_polled_config(const struct tern_config *config, const char *what);

#endif
