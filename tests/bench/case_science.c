/* SPDX-License-Identifier: Apache-2.0 */
/** Benches of a transform, a fluid, and paths in a graph. Bounds are in u = 2^-24, as in case_learning.c. */
#include "cases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "job.h"

static const double u = 1.0 / (1 << 24);

enum { LEVELS = 6, POINTS = 1 << 2 * LEVELS };

/** Gives exp(-2 pi i m / POINTS). */
static void factor(int m, double out[2])
{
    const double angle = 2 * acos(-1.0) * m * (1.0 / (1 << 2 * LEVELS));
    out[0] = cos(angle);
    out[1] = -sin(angle);
}

/** Returns whether the spectrum is that of the points, by the sum that defines it. The bound is on the Euclidean norm.
 * A pass multiplies by factors and then adds, twice. Except for rounding it doubles the norm of every vector, so the
 * relative errors of the passes add up. A product of complex numbers is wrong by at most sqrt(8) u < 3 u, the factor
 * from the table by u, its square by (2 + 3) u, and its cube by (1 + 5 + 3) u. So a pass adds at most (9 + 3) u by the
 * products, and 2 u by the additions. */
static bool is_spectrum(const float *points, const float *spectrum)
{
    static double turn[POINTS][2];
    double error = 0, norm = 0;
    for (int m = 0; m < POINTS; m++) {
        factor(m, turn[m]);
    }
    for (int k = 0; k < POINTS; k++) {
        double re = 0, im = 0;
        for (int i = 0; i < POINTS; i++) {
            const double *t = turn[i * k % POINTS], x = (double)points[2 * i], y = (double)points[2 * i + 1];
            re += x * t[0] - y * t[1];
            im += x * t[1] + y * t[0];
        }
        norm += re * re + im * im;
        error += pow((double)spectrum[2 * k] - re, 2) + pow((double)spectrum[2 * k + 1] - im, 2);
    }
    return sqrt(error) <= LEVELS * (9 + 3 + 2) * u * sqrt(norm);
}

/** Six passes of radix 4, a kernel each. */
bool case_fft4(struct bench_env *env)
{
    enum { QUARTER = POINTS / 4, BUTTERFLIES = LEVELS * QUARTER, WORDS = 4 * POINTS + 2 * QUARTER };
    static float turn[2 * QUARTER], spectrum[2 * POINTS];
    const size_t items = QUARTER, group = group_size(env, 64);
    float *points = random_floats(2 * POINTS, 40);
    for (int m = 0; m < QUARTER; m++) {
        double exact[2];
        factor(m, exact);
        turn[2 * m] = (float)exact[0];
        turn[2 * m + 1] = (float)exact[1];
    }
    struct job j = job_begin(env, NULL);
    /* A butterfly of radix 4 has 8 additions of complex numbers, which are 2 operations each, and 5 products, which are
     * 2 products and 2 fused operations each: 3 with elements, 2 of factors. The passes count together: an element is
     * loaded once and stored once. */
    env->work = bench_work(4 * WORDS, 36 * BUTTERFLIES, 36 * BUTTERFLIES + WORDS);
    job_buffer(&j, sizeof spectrum, points);
    job_buffer(&j, sizeof spectrum, NULL);
    job_buffer(&j, sizeof turn, turn);
    job_kernel(&j, "fft4", 3);
    int from = 0;
    for (int p = 1; p < POINTS; p *= 4) {
        job_arg(&j, 0, sizeof j.buffer[from], &j.buffer[from]);
        job_arg(&j, 1, sizeof j.buffer[!from], &j.buffer[!from]);
        job_arg(&j, 3, sizeof p, &p);
        job_launch(&j, 1, &items, &group);
        from = !from;
    }
    job_read(&j, from, sizeof spectrum, spectrum);
    const bool right = j.ok && is_spectrum(points, spectrum);
    free(points);
    return job_end(&j, right);
}

enum { SIDE = 64, CELLS = SIDE * SIDE };

static const int step_x[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, step_y[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};

static double weight(int q)
{
    return q == 0 ? 4.0 / 9 : q < 5 ? 1.0 / 9 : 1.0 / 36;
}

/** Computes the density of a cell after a step, in all nine directions, and returns the sum of them all. */
static double flow(const float *in, int x, int y, double omega, double *out)
{
    double f[9], rho = 0, ux = 0, uy = 0;
    for (int q = 0; q < 9; q++) {
        const int from_x = (x - step_x[q] + SIDE) % SIDE, from_y = (y - step_y[q] + SIDE) % SIDE;
        f[q] = (double)in[q * CELLS + from_y * SIDE + from_x];
        rho += f[q];
        ux += step_x[q] * f[q];
        uy += step_y[q] * f[q];
    }
    ux /= rho;
    uy /= rho;
    for (int q = 0; q < 9; q++) {
        const double speed = step_x[q] * ux + step_y[q] * uy;
        const double equal = weight(q) * rho * (1 + 3 * speed + 4.5 * speed * speed - 1.5 * (ux * ux + uy * uy));
        out[q] = f[q] + omega * (equal - f[q]);
    }
    return rho;
}

bool case_lbm(struct bench_env *env)
{
    const int n = SIDE;
    const float omega = 1.25f;
    const size_t global[2] = {SIDE, SIDE}, local[2] = {16, 4};
    float *in = random_floats((size_t)9 * CELLS, 41), *out = job_memory(9 * CELLS * sizeof *out);
    bool right = true;
    for (int i = 0; i < 9 * CELLS; i++) {
        in[i] = (float)(weight(i / CELLS) * (1 + 0.2 * (double)in[i])); /* Within a tenth of a fluid at rest. */
    }
    struct job j = job_begin(env, "lbm");
    /* A cell has 60 float operations: 8 + 5 + 5 additions for density and momentum; 3 for the squares of the speeds,
     * two of them fused; 3 weighted densities; 2 speeds along diagonals, as opposite ones differ in sign; 4 fused ones
     * for each of 8 directions; and 2 for the density at rest. The two quotients are further instructions. */
    env->work = bench_work(2 * 9 * 4 * CELLS, 60 * CELLS, (60 + 2 + 18) * CELLS);
    job_buffer(&j, 9 * CELLS * sizeof *in, in);
    job_buffer(&j, 9 * CELLS * sizeof *out, NULL);
    job_arg(&j, 2, sizeof n, &n);
    job_arg(&j, 3, sizeof omega, &omega);
    job_launch(&j, 2, global, local);
    job_read(&j, 1, 9 * CELLS * sizeof *out, out);
    for (int i = 0; j.ok && i < CELLS; i++) {
        double want[9];
        const double rho = flow(in, i % SIDE, i / SIDE, (double)omega, want);
        for (int q = 0; q < 9; q++) {
            /* The bound is in u x weight x density. The sums of density and momentum have at most 8 roundings of terms
             * whose magnitudes add up to the density at most. Speeds are at most 0.1 in x and y, so they are wrong by
             * at most 8 + 0.1 x 8 + 0.1 < 9, and along a diagonal by 19. The polynomial is 1 + 3 s + 4.5 s^2 - 1.5 v^2
             * with s < 0.2 and v^2 < 0.02. It is below 1.8, and wrong by at most (3 + 9 x 0.2) x 19 + 1.5 x 2 x 0.2 x 9
             * and its own roundings of 6, in all 103. The product with weight and density adds 1.8 x (8 + 3). omega
             * makes 1.25 x 123 of it, and the relaxation has 3 roundings of numbers below 3.6: 165. */
            right = right && fabs((double)out[q * CELLS + i] - want[q]) <= 165 * u * weight(q) * rho;
        }
    }
    free(in);
    free(out);
    return job_end(&j, right);
}

/** The shortest paths between 32 nodes, a kernel for each node. A quarter of all pairs have an edge. */
bool case_floyd(struct bench_env *env)
{
    enum { N = 32, FAR = 1 << 28 };
    const int n = N;
    const size_t global[2] = {N, N}, local[2] = {8, 8};
    static int distance[N][N], via[N][N], got_distance[N][N], got_via[N][N];
    uint32_t seed = 42;
    int shorter = 0;
    for (int i = 0; i < N * N; i++) {
        const bool edge = random32(&seed) >> 30 == 0;
        const int length = 1 + (int)(random32(&seed) >> 22);
        distance[i / N][i % N] = i / N == i % N ? 0 : edge ? length : FAR;
        via[i / N][i % N] = -1;
    }
    struct job j = job_begin(env, "floyd_warshall");
    job_buffer(&j, sizeof distance, distance);
    job_buffer(&j, sizeof via, via);
    job_arg(&j, 2, sizeof n, &n);
    for (int k = 0; k < N; k++) {
        job_arg(&j, 3, sizeof k, &k);
        job_launch(&j, 2, global, local);
    }
    job_read(&j, 0, sizeof got_distance, got_distance);
    job_read(&j, 1, sizeof got_via, got_via);
    for (int k = 0; k < N; k++) {
        int row[N], column[N];
        for (int i = 0; i < N; i++) {
            row[i] = distance[k][i];
            column[i] = distance[i][k];
        }
        for (int i = 0; i < N * N; i++) {
            const int way = column[i / N] + row[i % N], *old = &distance[i / N][i % N];
            via[i / N][i % N] = way < *old ? k : via[i / N][i % N];
            distance[i / N][i % N] = way < *old ? way : *old;
        }
    }
    for (int i = 0; i < N * N; i++) {
        shorter += via[i / N][i % N] >= 0;
    }
    /* A pair of nodes has an addition and a comparison for each node. Its distance is loaded once. If it got shorter,
     * it is stored once, and so is the node. */
    env->work = bench_work(4 * N * N + 8 * shorter, 0, 2 * N * N * N + N * N + 2 * shorter);
    return job_end(&j, memcmp(distance, got_distance, sizeof distance) == 0 && memcmp(via, got_via, sizeof via) == 0);
}
