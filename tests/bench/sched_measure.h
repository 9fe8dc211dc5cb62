/* SPDX-License-Identifier: Apache-2.0 */
/** The measurements of `tern bench sched`. Each gives 0 or -errno, after a message on stderr;
 * results are in device cycles. */
#ifndef TERN_BENCH_SCHED_MEASURE_H
#define TERN_BENCH_SCHED_MEASURE_H

#include <stdint.h>

#include "tern/tern.h"

struct measure_options {
    uint64_t quantum;  /**< Cycles. */
    unsigned quanta;   /**< How many each client gets. */
    unsigned samples;  /**< Of REALTIME submissions. */
    unsigned buffers;  /**< Of the measurements of a busy engine. */
    unsigned flood;    /**< Clients that REALTIME work has to get past. */
    unsigned weights;  /**< How many of high, normal and low: the lowest one sets how long it takes. */
    struct tern_device_info info; /**< Out: the device that was used. */
};

struct measure_fairness {
    double jain, min_to_median, max_to_median;
};

/** Equal clients with kernels of four kinds and of a quarter to four quanta: how alike their cycles are. */
int measure_fairness(struct measure_options *o, unsigned contexts, struct measure_fairness *out);
/** Clients of different weights in one process: the largest deviation of a share from what its
 * weight says, as a part of it. */
int measure_weights(struct measure_options *o, double *error);
/** What NORMAL gets of the engines' cycles while FOCUS wants all. */
int measure_focus(struct measure_options *o, double *share);
/** Cycles from submission to begin of REALTIME buffers on engines that NORMAL clients flood. */
int measure_realtime(struct measure_options *o, uint64_t *median, uint64_t *max);
/** The share of time that an engine runs one of 5,000-cycle buffers of a full SW queue, with
 * so many HW-queue entries. */
int measure_busy(struct measure_options *o, unsigned depth, double *share);
#endif
