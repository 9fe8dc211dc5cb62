/* SPDX-License-Identifier: Apache-2.0 */
/** Benches of fields and bodies in space. */
#include "cases.h"

#include <math.h>
#include <stdlib.h>

#include "job.h"

bool case_stencil(struct bench_env *env)
{
    const int n = 256;
    const float keep = 0.2f, take = 0.2f;
    const size_t side = (size_t)n, cells = side * side, global[2] = {side, side}, local[2] = {16, 4};
    float *in = random_floats(cells, 17), *out = job_memory(cells * sizeof *out);
    bool right = true;
    struct job j = job_begin(env, "stencil");
    env->work = bench_work(8.0 * (double)cells, 5.0 * (double)cells, 7.0 * (double)cells);
    job_buffer(&j, cells * 4, in);
    job_buffer(&j, cells * 4, NULL);
    job_arg(&j, 2, sizeof n, &n);
    job_arg(&j, 3, sizeof keep, &keep);
    job_arg(&j, 4, sizeof take, &take);
    job_launch(&j, 2, global, local);
    job_read(&j, 1, cells * 4, out);
    for (int y = 0; j.ok && y < n; y++) {
        for (int x = 0; x < n; x++) {
            const float *at = in + y * n + x;
            const bool inside = x > 0 && y > 0 && x < n - 1 && y < n - 1;
            const float want = inside ? fmaf(take, (at[-n] + at[n]) + (at[-1] + at[1]), keep * at[0]) : at[0];
            right = right && out[y * n + x] == want;
        }
    }
    free(in);
    free(out);
    return job_end(&j, right);
}

static int within(int x, int n)
{
    return x < 0 ? 0 : x < n ? x : n - 1;
}

static float mean27(const float *in, int n, int x, int y, int z)
{
    float sum = 0;
    for (int k = 0; k < 27; k++) {
        const int at_x = within(x + k % 3 - 1, n), at_y = within(y + k / 3 % 3 - 1, n), at_z = within(z + k / 9 - 1, n);
        sum += in[(at_z * n + at_y) * n + at_x];
    }
    return sum * (1.0f / 27.0f);
}

bool case_stencil3d(struct bench_env *env)
{
    const int n = 32;
    const size_t side = (size_t)n, cells = side * side * side;
    const size_t global[3] = {side, side, side}, local[3] = {16, 4, 1};
    float *in = random_floats(cells, 18), *out = job_memory(cells * sizeof *out);
    bool right = true;
    struct job j = job_begin(env, "stencil3d");
    env->work = bench_work(8.0 * (double)cells, 27.0 * (double)cells, 29.0 * (double)cells);
    job_buffer(&j, cells * 4, in);
    job_buffer(&j, cells * 4, NULL);
    job_arg(&j, 2, sizeof n, &n);
    job_launch(&j, 3, global, local);
    job_read(&j, 1, cells * 4, out);
    for (int i = 0; j.ok && i < n * n * n; i++) {
        right = right && out[i] == mean27(in, n, i % n, i / n % n, i / n / n);
    }
    free(in);
    free(out);
    return job_end(&j, right);
}

/** Returns the force of all n bodies on body i along axis c, and in *magnitude the sum of the magnitudes of its
 * terms. */
static double pull_on(const float *body, int n, int i, int c, double *magnitude)
{
    double sum = 0;
    *magnitude = 0;
    for (int k = 0; k < n; k++) {
        double d[3], square = 0.01;
        for (int a = 0; a < 3; a++) {
            d[a] = (double)body[4 * k + a] - (double)body[4 * i + a];
            square += d[a] * d[a];
        }
        const double part = (double)body[4 * k + 3] * d[c] / (square * sqrt(square));
        sum += part;
        *magnitude += fabs(part);
    }
    return sum;
}

bool case_nbody(struct bench_env *env)
{
    enum { N = 256 };
    const int n = N;
    static float force[4 * N];
    const size_t items = N, group = group_size(env, 64);
    float *body = random_floats(4 * items, 19);
    bool right = true;
    struct job j = job_begin(env, "nbody");
    env->work = bench_work(32 * N, 12 * N * N, 14 * N * N + 8 * N);
    job_buffer(&j, sizeof force, body);
    job_buffer(&j, sizeof force, NULL);
    job_arg(&j, 2, sizeof n, &n);
    job_launch(&j, 1, &items, &group);
    job_read(&j, 1, sizeof force, force);
    for (int i = 0; j.ok && i < 4 * N; i++) {
        double magnitude = 0;
        const double want = i % 4 < 3 ? pull_on(body, N, i / 4, i % 4, &magnitude) : 0;
        /* This bound allows 8 rounding errors a term. */
        right = right && fabs((double)force[i] - want) <= 2e-6 * magnitude;
    }
    free(body);
    return job_end(&j, right);
}

bool case_mandelbrot(struct bench_env *env)
{
    enum { N = 64 };
    const size_t global[2] = {N, N}, local[2] = {8, 8};
    const float x0 = -2.0f, y0 = -1.25f, step = 0.0390625f;
    const cl_uint limit = 64;
    static uint32_t out[N * N];
    struct job j = job_begin(env, "mandelbrot");
    job_buffer(&j, sizeof out, NULL);
    job_arg(&j, 1, 4, &x0);
    job_arg(&j, 2, 4, &y0);
    job_arg(&j, 3, 4, &step);
    job_arg(&j, 4, 4, &limit);
    job_launch(&j, 2, global, local);
    job_read(&j, 0, sizeof out, out);
    long differ = 0;
    double steps = 0;
    for (int i = 0; j.ok && i < N * N; i++) {
        float cx = x0 + (float)(i % N) * step, cy = y0 + (float)(i / N) * step, x = 0, y = 0;
        uint32_t n = 0;
        while (n < limit && x * x + y * y < 4.0f) {
            float t = fmaf(x, x, fmaf(-y, y, cx));
            y = fmaf(2.0f * x, y, cy);
            x = t;
            n++;
        }
        differ += out[i] != n;
        steps += n;
    }
    env->work = bench_work(sizeof out, 6 * steps, 8 * steps + N * N);
    /* The compiler may contract x * x + y * y, which moves a few border pixels. */
    return job_end(&j, differ <= N * N / 100);
}
