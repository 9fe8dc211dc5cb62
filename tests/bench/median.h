/* SPDX-License-Identifier: Apache-2.0 */
/** Medians of what a bench has measured. Cycles are exact in a double up to 2^53. */
#ifndef TERN_BENCH_MEDIAN_H
#define TERN_BENCH_MEDIAN_H

#include <stdlib.h>

static inline int median_order(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/** Sorts, the least first. */
static inline void median_sort(double *v, size_t n)
{
    qsort(v, n, sizeof *v, median_order);
}

/** Of an even number, the mean of the two in the middle; 0 of none. */
static inline double median_mean(const double *sorted, size_t n)
{
    return n ? (sorted[(n - 1) / 2] + sorted[n / 2]) / 2 : 0;
}

/** Of an even number, the greater of the two in the middle: a value that was measured; 0 of none. */
static inline double median_upper(const double *sorted, size_t n)
{
    return n ? sorted[n / 2] : 0;
}

#endif
