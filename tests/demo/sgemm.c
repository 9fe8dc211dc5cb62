/* SPDX-License-Identifier: Apache-2.0 */
/** The square of a matrix, as a dense product, against a BLAS. */
#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "demo.h"

/** Largest difference, in units of the largest element. */
static double difference(const float *a, const float *b, size_t n)
{
    double worst = 0, largest = 0;
    for (size_t i = 0; i < n; i++) {
        worst = fmax(worst, fabs((double)a[i] - (double)b[i]));
        largest = fmax(largest, fabs((double)b[i]));
    }
    return largest > 0 ? worst / largest : worst;
}

void demo_sgemm(struct demo *d)
{
    struct matrix m;
    if (!matrix_load(d, d->input, &m)) {
        matrix_free(&m);
        return;
    }
    const cl_int n = m.n;
    const size_t items = (size_t)n * (size_t)n, side = (size_t)(n + 15) / 16 * 16;
    const size_t global[2] = {side, side}, local[2] = {16, 16};
    float *a = calloc(items, sizeof *a), *got = calloc(items, sizeof *got), *want = calloc(items, sizeof *want);
    for (int r = 0; a && r < n; r++) {
        for (int i = m.row[r]; i < m.row[r + 1]; i++) {
            a[(size_t)r * (size_t)n + (size_t)m.col[i]] = m.value[i];
        }
    }
    cl_kernel k = demo_kernel(d, "sgemm");
    cl_mem in = demo_buffer(d, items * 4, a), out = demo_buffer(d, items * 4, NULL);
    demo_args(d, k, sizeof in, &in, sizeof in, &in, sizeof out, &out, sizeof n, &n, (size_t)0);
    demo_run(d, k, 2, global, local);
    demo_read(d, out, items * 4, got);
    if (d->ok && a && got && want) {
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1.0f, a, n, a, n, 0.0f, want, n);
        double far = difference(got, want, items);
        snprintf(d->result, sizeof d->result, "%d x %d, differs from the BLAS by %.1e", n, n, far);
        if (!(far < 1e-6)) {
            demo_fail(d, "the product differs from the BLAS by %g of its largest element", far);
        }
    }
    free(a);
    free(got);
    free(want);
    matrix_free(&m);
}
