/* SPDX-License-Identifier: Apache-2.0 */
/** Medians of measured values. Cycles are exact in a double up to 2^53. */
#ifndef TERN_BENCH_MEDIAN_H
#define TERN_BENCH_MEDIAN_H

#include <stdlib.h>

static inline int median_order(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/** Sorts the values, least first. */
static inline void median_sort(double *v, size_t n)
{
    qsort(v, n, sizeof *v, median_order);
}

/** Returns the median, the mean of the middle two for an even n, or 0 for n = 0. */
static inline double median_mean(const double *sorted, size_t n)
{
    return n ? (sorted[(n - 1) / 2] + sorted[n / 2]) / 2 : 0;
}

/** Returns the median, the greater of the middle two for an even n, which was measured, or 0 for n = 0. */
static inline double median_upper(const double *sorted, size_t n)
{
    return n ? sorted[n / 2] : 0;
}

#endif
