/* SPDX-License-Identifier: Apache-2.0 */
/** Benches of matrices and vectors of floats. */
#include "cases.h"

#include <math.h>
#include <stdlib.h>

#include "job.h"

/** Multiplies two n x n matrices, each x each elements of the product a work-item. */
static bool gemm(struct bench_env *env, const char *kernel, int n, int each, size_t gx, size_t gy)
{
    const size_t items = (size_t)n * (size_t)n, side = (size_t)(n / each);
    const size_t global[2] = {side, side}, local[2] = {gx, gy};
    const double sums = (double)n * (double)items;
    float *a = random_floats(items, 3), *b = random_floats(items, 4), *c = job_memory(items * sizeof *c);
    bool right = true;
    struct job j = job_begin(env, kernel);
    env->work = bench_work(12.0 * (double)items, sums, sums + 3.0 * (double)items);
    job_buffer(&j, items * 4, a);
    job_buffer(&j, items * 4, b);
    job_buffer(&j, items * 4, NULL);
    job_arg(&j, 3, sizeof n, &n);
    job_launch(&j, 2, global, local);
    job_read(&j, 2, items * 4, c);
    for (int y = 0; j.ok && y < n; y++) {
        for (int x = 0; x < n; x++) {
            float sum = 0;
            for (int k = 0; k < n; k++) {
                sum = fmaf(a[y * n + k], b[k * n + x], sum);
            }
            right = right && sum == c[y * n + x];
        }
    }
    free(a);
    free(b);
    free(c);
    return job_end(&j, right);
}

bool case_sgemm(struct bench_env *env)
{
    return gemm(env, "sgemm", 128, 1, 16, 4);
}

bool case_sgemm_tiled(struct bench_env *env)
{
    return gemm(env, "sgemm_tiled", 128, 1, 8, 8);
}

bool case_sgemm_4x4(struct bench_env *env)
{
    return gemm(env, "sgemm_4x4", 128, 4, 8, 8);
}

bool case_sgemm_4x4_large(struct bench_env *env)
{
    return gemm(env, "sgemm_4x4", 256, 4, 8, 8);
}

bool case_sgemv(struct bench_env *env)
{
    const int n = 512;
    const size_t rows = (size_t)n, items = rows * rows, group = group_size(env, 64);
    float *a = random_floats(items, 11), *x = random_floats(rows, 12), *y = job_memory(rows * sizeof *y);
    bool right = true;
    struct job j = job_begin(env, "sgemv");
    env->work = bench_work(4.0 * (double)(items + 2 * rows), (double)items, 2.0 * (double)(items + rows));
    job_buffer(&j, items * 4, a);
    job_buffer(&j, rows * 4, x);
    job_buffer(&j, rows * 4, NULL);
    job_arg(&j, 3, sizeof n, &n);
    job_launch(&j, 1, &rows, &group);
    job_read(&j, 2, rows * 4, y);
    for (size_t r = 0; j.ok && r < rows; r++) {
        float sum = 0;
        for (size_t k = 0; k < rows; k++) {
            sum = fmaf(a[r * rows + k], x[k], sum);
        }
        right = right && sum == y[r];
    }
    free(a);
    free(x);
    free(y);
    return job_end(&j, right);
}

/** 2,048 rows and columns, with 0 to 31 elements a row, 15.5 on average, in random columns: one element of 132 is not
 * zero. */
bool case_spmv(struct bench_env *env)
{
    enum { N = 2048, MOST = 31 };
    static uint32_t start[N + 1], column[N * MOST];
    static float y[N];
    const size_t rows = N, group = group_size(env, 64);
    uint32_t seed = 13, n = 0;
    for (uint32_t r = 0; r < N; r++) {
        const uint32_t length = random32(&seed) >> 27;
        for (uint32_t k = 0; k < length; k++) { /* Columns ascend within a row, one in each part of it. */
            column[n++] = (uint32_t)(((uint64_t)k * N + (random32(&seed) >> 21)) / length);
        }
        start[r + 1] = n;
    }
    float *value = random_floats(n, 14), *x = random_floats(N, 15);
    bool right = true;
    struct job j = job_begin(env, "spmv");
    env->work = bench_work(8 * n + 12 * N, n, 4 * n + 2 * N);
    job_buffer(&j, sizeof start, start);
    job_buffer(&j, n * sizeof *column, column);
    job_buffer(&j, n * sizeof *value, value);
    job_buffer(&j, N * sizeof *x, x);
    job_buffer(&j, sizeof y, NULL);
    job_launch(&j, 1, &rows, &group);
    job_read(&j, 4, sizeof y, y);
    for (uint32_t r = 0; j.ok && r < N; r++) {
        float sum = 0;
        for (uint32_t i = start[r]; i < start[r + 1]; i++) {
            sum = fmaf(value[i], x[column[i]], sum);
        }
        right = right && sum == y[r];
    }
    free(value);
    free(x);
    return job_end(&j, right);
}

bool case_softmax(struct bench_env *env)
{
    enum { N = 64 };
    const int n = N;
    static float out[N][N];
    const size_t group = group_size(env, N), global = N * group;
    float(*in)[N] = (float(*)[N])(void *)random_floats((size_t)N * N, 16);
    bool right = true;
    struct job j = job_begin(env, "softmax");
    env->work = bench_work(8 * N * N, 11 * N * N, 18 * N * N);
    job_buffer(&j, sizeof out, in);
    job_buffer(&j, sizeof out, NULL);
    job_arg(&j, 2, sizeof n, &n);
    job_arg(&j, 3, group * sizeof(float), NULL);
    job_launch(&j, 1, &global, &group);
    job_read(&j, 1, sizeof out, out);
    for (int r = 0; j.ok && r < N; r++) {
        double sum = 0;
        for (int i = 0; i < N; i++) {
            sum += exp((double)in[r][i]);
        }
        for (int i = 0; i < N; i++) {
            const double want = exp((double)in[r][i]) / sum;
            right = right && fabs((double)out[r][i] - want) <= 1e-6 * want;
        }
    }
    free(in);
    return job_end(&j, right);
}
