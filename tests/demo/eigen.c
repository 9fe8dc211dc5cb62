/* SPDX-License-Identifier: Apache-2.0 */
/** The largest eigenvalue of a sparse symmetric matrix by power iteration; eigen.txt holds it
 * for an independent check. */
#include <stdio.h>
#include <stdlib.h>

#include "demo.h"

#define STEPS 60

void demo_eigen(struct demo *d)
{
    struct matrix m;
    float lambda = 0;
    if (!matrix_load(d, d->input, &m)) {
        matrix_free(&m);
        return;
    }
    const cl_int n = m.n;
    const size_t rows = (size_t)n, entries = (size_t)m.entries, local = 64, group = 256;
    const size_t global = (rows + local - 1) / local * local;
    float *ones = calloc(rows, sizeof *ones);
    for (size_t i = 0; ones && i < rows; i++) {
        ones[i] = 1.0f;
    }
    cl_kernel spmv = demo_kernel(d, "spmv"), normalise = demo_kernel(d, "normalise");
    cl_mem row = demo_buffer(d, (rows + 1) * 4, m.row), col = demo_buffer(d, entries * 4, m.col);
    cl_mem value = demo_buffer(d, entries * 4, m.value), x = demo_buffer(d, rows * 4, ones);
    cl_mem y = demo_buffer(d, rows * 4, NULL), out = demo_buffer(d, 4, NULL);
    demo_args(d, spmv, sizeof row, &row, sizeof col, &col, sizeof value, &value, sizeof x, &x, sizeof y, &y,
              sizeof n, &n, (size_t)0);
    demo_args(d, normalise, sizeof x, &x, sizeof y, &y, sizeof out, &out, sizeof n, &n, (size_t)0);
    for (int i = 0; i < STEPS; i++) {
        demo_run(d, spmv, 1, &global, &local);
        demo_run(d, normalise, 1, &group, &group);
    }
    demo_read(d, out, 4, &lambda);
    char path[4096];
    snprintf(path, sizeof path, "%s/eigen.txt", d->output);
    FILE *f = d->ok ? fopen(path, "w") : NULL;
    if (d->ok && (!f || fprintf(f, "%.9g\n", (double)lambda) < 0)) {
        demo_fail(d, "cannot write %s", path);
    }
    if (f) {
        fclose(f);
    }
    if (d->ok) {
        snprintf(d->result, sizeof d->result, "%d rows, %d entries, eigenvalue %.6g", n, m.entries, (double)lambda);
    }
    free(ones);
    matrix_free(&m);
}
