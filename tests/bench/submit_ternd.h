/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The ternd side of tern bench submit: a ternd, a second program that dispatches through it, and round trips of empty
 * requests over the same socket. The second program is this one with --dispatches, because a program has one device.
 */
#ifndef TERN_BENCH_SUBMIT_TERND_H
#define TERN_BENCH_SUBMIT_TERND_H

#include <stdbool.h>
#include <sys/types.h>

struct tern_device;

struct through_ternd {
    pid_t ternd, program;
    int ask, answer; /**< Pipes to the program, with the number of dispatches, and from it, with the time of each. */
    struct tern_device *device;
    char folder[32];
};

/** Opens all of it, after the program's own device. Prints a message on failure. */
bool through_ternd_open(struct through_ternd *t);
void through_ternd_close(struct through_ternd *t);
/** Ends ternd and removes its folder, and does nothing else: async-signal-safe. */
void through_ternd_end(struct through_ternd *t);
/** Measures n dispatches by the second program, in microseconds each. */
bool through_ternd_dispatches(struct through_ternd *t, double *us, unsigned n);
/** Measures n empty requests, in microseconds each. */
bool through_ternd_requests(struct through_ternd *t, double *us, unsigned n);

#endif
