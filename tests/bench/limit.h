/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The limit of a bench: cycles below which one engine cannot do its work, whatever code the compiler makes and however
 * the executor is built, with this port and so many lanes (docs/benches.md). The largest of
 *   port    bytes / 64: the port takes 64 bytes a cycle, reads and writes together
 *   fma     float operations / lanes: each lane begins one a cycle
 *   issue   instructions of work-items / lanes: a cycle issues one instruction, to all lanes
 */
#ifndef TERN_BENCH_LIMIT_H
#define TERN_BENCH_LIMIT_H

#include "bench.h"

#define PORT_BYTES 64.0

struct bench_limit {
    double port, fma, issue; /**< Cycles. */
    double cycles;           /**< The largest; 0: the work has no limit. */
    const char *by;          /**< "port", "fma" or "issue", the first of equal ones; "" without a limit. */
};

struct bench_limit bench_limit(const struct bench_work *work, unsigned lanes);

/** Returns the geometric mean of n positive values, or 0 for n = 0. */
double geometric_mean(const double *values, unsigned n);

#endif
