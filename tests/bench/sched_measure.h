/* SPDX-License-Identifier: Apache-2.0 */
/** The measurements of `tern bench sched`. Each returns 0 or -errno after a message on stderr. Results are in device
 * cycles. */
#ifndef TERN_BENCH_SCHED_MEASURE_H
#define TERN_BENCH_SCHED_MEASURE_H

#include <stdint.h>

#include "tern/tern.h"

struct measure_options {
    uint64_t quantum;  /**< Cycles. */
    unsigned quanta;   /**< Quanta that each client gets. */
    unsigned samples;  /**< Number of REALTIME submissions. */
    unsigned buffers;  /**< Number of buffers in the measurements of a busy engine. */
    unsigned flood;    /**< Number of clients that flood the engines beside REALTIME work. */
    /** Number of weights among high, normal and low. The lowest one determines how long the measurement takes. */
    unsigned weights;
    struct tern_device_info info; /**< Output: the device that was used. */
};

struct measure_fairness {
    double jain, min_to_median, max_to_median;
};

/** Measures how equal the cycles are of equal clients, with kernels of four kinds and of a quarter to four quanta. */
int measure_fairness(struct measure_options *o, unsigned contexts, struct measure_fairness *out);
/** Measures clients of different weights in one process. *error: the largest relative deviation of a share from that of
 * its weight. */
int measure_weights(struct measure_options *o, double *error);
/** Measures the share of the engines' cycles that NORMAL gets while FOCUS wants all. */
int measure_focus(struct measure_options *o, double *share);
/** Measures the cycles from submission to begin of REALTIME buffers on engines that NORMAL clients flood. */
int measure_realtime(struct measure_options *o, uint64_t *median, uint64_t *max);
/** Measures the share of time for which an engine runs 5,000-cycle buffers from a full SW queue, with this many entries
 * in its HW queue. */
int measure_busy(struct measure_options *o, unsigned depth, double *share);
#endif
