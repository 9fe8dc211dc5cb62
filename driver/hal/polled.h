/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Common parts of the backends of real hardware: waiting by polling the device at growing intervals, and refusing the
 * configuration keys that only simulators have.
 */
#ifndef TERN_HAL_POLLED_H
#define TERN_HAL_POLLED_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "hal/config.h"

/** State by which a thread that sleeps between two polls is woken. Any thread may call the functions. */
struct tern_polled {
    pthread_mutex_t lock;   /**< No other lock is taken while it is held. */
    pthread_cond_t changed; /**< Signalled, by CLOCK_MONOTONIC, when `woken` or `raised` is set. */
    /** tern_polled_wake, and tern_polled_raise, was called since the last sleep. Guarded by `lock`. */
    bool woken, raised;
};

void tern_polled_begin(struct tern_polled *p);
void tern_polled_end(struct tern_polled *p);
/** Ends the wait under way, or the next one if there is none. */
void tern_polled_wake(struct tern_polled *p);
/** Makes the wait under way, or the next one, poll the device at once. */
void tern_polled_raise(struct tern_polled *p);

/** Polls the device. 1: the interrupt is raised; 0: it is not; or -errno. timed: *now is set to dev.time_lo; without it
 *  that is optional. */
typedef int tern_polled_look(void *user, bool timed, uint32_t *now);
/** The hal's operation `wait`: polls at once, again after `first` ns, and then at intervals that double up to `most`
 *  ns. */
int tern_polled_wait(struct tern_polled *p, uint64_t cycles, uint64_t first, uint64_t most, tern_polled_look *look,
                     void *user);

/** Checks that the configuration has no key that only a simulator has. -EINVAL, with a sentence. what: "card" or
 *  "board". */
int tern_polled_config(const struct tern_config *config, const char *what);

#endif
