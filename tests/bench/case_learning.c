/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Benches of machine learning. The host computes in double. The result of a float operation is wrong by at most u =
 * 2^-24 of itself. Each bound is the sum of such errors, rounded up: products of two errors do not count.
 */
#include "cases.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "job.h"

static const double u = 1.0 / (1 << 24);

bool case_conv2d(struct bench_env *env)
{
    enum { N = 128, SPAN = 3 * N - 2 };
    const int n = N;
    const size_t global[2] = {N, N}, local[2] = {16, 4};
    static float out[N][N];
    float(*in)[N] = (float(*)[N])(void *)random_floats((size_t)N * N, 30);
    float(*weight)[3] = (float(*)[3])(void *)random_floats(9, 31);
    bool right = true;
    struct job j = job_begin(env, "conv2d");
    /* A row of N elements has 3 N - 2 pairs of an element and itself or a neighbour. So there are SPAN^2 products, each
     * fused with an addition. A word of the picture and of the weights is loaded, one of the result is stored. */
    env->work = bench_work(4 * (2 * N * N + 9), SPAN * SPAN, SPAN * SPAN + 2 * N * N + 9);
    job_buffer(&j, sizeof out, in);
    job_buffer(&j, 9 * sizeof(float), weight);
    job_buffer(&j, sizeof out, NULL);
    job_arg(&j, 3, sizeof n, &n);
    job_arg(&j, 4, sizeof n, &n);
    job_launch(&j, 2, global, local);
    job_read(&j, 2, sizeof out, out);
    for (int i = 0; j.ok && i < N * N; i++) {
        double want = 0, magnitude = 0;
        for (int k = 0; k < 9; k++) {
            const int y = i / N + k / 3 - 1, x = i % N + k % 3 - 1;
            if (x >= 0 && x < N && y >= 0 && y < N) {
                const double product = (double)in[y][x] * (double)weight[k / 3][k % 3];
                want += product;
                magnitude += fabs(product);
            }
        }
        /* Each product is rounded, and then at most 8 sums of which it is a part. */
        right = right && fabs((double)out[i / N][i % N] - want) <= 10 * u * magnitude;
    }
    free(in);
    free(weight);
    return job_end(&j, right);
}

bool case_layernorm(struct bench_env *env)
{
    enum { ROWS = 64, N = 256 };
    const int n = N;
    const float epsilon = 1e-5f;
    const size_t group = group_size(env, 64), global = ROWS * group;
    static float out[ROWS][N];
    float(*in)[N] = (float(*)[N])(void *)random_floats((size_t)ROWS * N, 32);
    float *gain = random_floats(N, 33), *bias = random_floats(N, 34);
    bool right = true;
    struct job j = job_begin(env, "layernorm");
    /* An element has five float operations: an addition, the difference from the mean, a square that is fused with an
     * addition, the scale, and the gain fused with the bias. A row has two quotients, the addition of epsilon, and for
     * rsqrt a root and a quotient. */
    env->work = bench_work(4 * (2 * ROWS * N + 2 * N), 5 * ROWS * N + ROWS, 7 * ROWS * N + 2 * N + 5 * ROWS);
    job_buffer(&j, sizeof out, in);
    job_buffer(&j, N * sizeof *gain, gain);
    job_buffer(&j, N * sizeof *bias, bias);
    job_buffer(&j, sizeof out, NULL);
    job_arg(&j, 4, sizeof n, &n);
    job_arg(&j, 5, sizeof epsilon, &epsilon);
    job_arg(&j, 6, group * sizeof(float), NULL);
    job_launch(&j, 1, &global, &group);
    job_read(&j, 3, sizeof out, out);
    for (int r = 0; j.ok && r < ROWS; r++) {
        double mean = 0, variance = 0;
        for (int i = 0; i < N; i++) {
            mean += (double)in[r][i] / n;
        }
        for (int i = 0; i < N; i++) {
            variance += ((double)in[r][i] - mean) * ((double)in[r][i] - mean) / n;
        }
        const double scale = 1 / sqrt(variance + (double)epsilon);
        for (int i = 0; i < N; i++) {
            const double normal = ((double)in[r][i] - mean) * scale;
            /* Elements are at most 1/2. A sum of a row has at most 19 additions one after another, if groups have 16
             * work-items or more. So the mean is wrong by at most 10 u, and a difference d from it by 11 u. That adds
             * 2 x 11 u / d to the relative error of d^2, and 22 u x scale to that of the variance, which is 88 u as
             * scale < 4. With 22 roundings that is 110 u, of which 55 u are in the scale. rsqrt adds 4 u, as it is
             * right to 2 ulp, and the two products 2 u. */
            const double wrong = (double)fabsf(gain[i]) * (11 * scale + 62 * fabs(normal)) * u;
            const double want = normal * (double)gain[i] + (double)bias[i];
            right = right && scale < 4 && fabs((double)out[r][i] - want) <= wrong + 2 * u * fabs(want);
        }
    }
    free(in);
    free(gain);
    free(bias);
    return job_end(&j, right);
}

enum { KEYS = 64, WIDTH = 32 };

/** Returns element i of the attention of a query, and in *magnitude the sum of the magnitudes of its terms. */
static double attention(const float *query, const float *keys, const float *values, int i, double *magnitude)
{
    double all = 0, sum = 0;
    *magnitude = 0;
    for (int k = 0; k < KEYS; k++) {
        double dot = 0;
        for (int d = 0; d < WIDTH; d++) {
            dot += (double)query[d] * (double)keys[k * WIDTH + d];
        }
        const double weight = exp(dot / sqrt(WIDTH)), value = (double)values[k * WIDTH + i];
        all += weight;
        sum += weight * value;
        *magnitude += weight * fabs(value);
    }
    *magnitude /= all;
    return sum / all;
}

/** 64 keys and as many values, and 32 queries, all of 32 elements. */
bool case_attention(struct bench_env *env)
{
    enum { QUERIES = 32, OUT = QUERIES * WIDTH, KEPT = KEYS * WIDTH, SCORES = QUERIES * KEYS,
           PRODUCTS = 2 * SCORES * WIDTH, WORDS = 2 * OUT + 2 * KEPT };
    const int keys = KEYS, width = WIDTH;
    const size_t group = group_size(env, KEYS), global = QUERIES * group;
    static float out[OUT];
    float *q = random_floats(OUT, 35), *k = random_floats(KEPT, 36), *v = random_floats(KEPT, 37);
    bool right = true;
    struct job j = job_begin(env, "attention");
    /* A score has WIDTH fused products, and its weight has as many. Between them are 11 float operations: the scale,
     * the difference from the maximum, 8 of exp, and an addition. The maximum and 4 others of exp (docs/benches.md)
     * are further instructions. Each element of the result has a quotient. */
    env->work = bench_work(4 * WORDS, PRODUCTS + 11 * SCORES, PRODUCTS + (11 + 5) * SCORES + OUT + WORDS);
    job_buffer(&j, sizeof out, q);
    job_buffer(&j, KEPT * sizeof *k, k);
    job_buffer(&j, KEPT * sizeof *v, v);
    job_buffer(&j, sizeof out, NULL);
    job_arg(&j, 4, sizeof keys, &keys);
    job_arg(&j, 5, sizeof width, &width);
    job_arg(&j, 6, KEYS * sizeof(float), NULL);
    job_arg(&j, 7, group * sizeof(float), NULL);
    job_launch(&j, 1, &global, &group);
    job_read(&j, 3, sizeof out, out);
    for (int i = 0; j.ok && i < OUT; i++) {
        double magnitude = 0;
        const double want = attention(q + i / WIDTH * WIDTH, k, v, i % WIDTH, &magnitude);
        /* A score is at most sqrt(32) / 4 < 1.42 and has at most 38 roundings, 4 of them for rsqrt: 54 u. Its
         * difference from the maximum is below 2.84, and its rounding adds 3 u. exp is right to 3 ulp, 6 u. So a weight
         * is wrong by at most 63 u of itself. The sum of the weights adds 64 u, the sum of the products 65 u, and the
         * quotient u. */
        right = right && fabs((double)out[i] - want) <= (63 + 64 + 63 + 65 + 1) * u * magnitude;
    }
    free(q);
    free(k);
    free(v);
    return job_end(&j, right);
}

enum { POINTS = 1024, CLUSTERS = 8, FEATURES = 4 };

/** Returns the square of the distance of a point from a centre. */
static double distance(const float *points, int i, const float *centre)
{
    double sum = 0;
    for (int f = 0; f < FEATURES; f++) {
        const double d = (double)points[f * POINTS + i] - (double)centre[f];
        sum += d * d;
    }
    return sum;
}

/** Returns whether no centre is nearer to a point than its own, but for rounding errors: a difference of coordinates is
 * rounded, its square, and 3 additions. That makes 2 + 1 + 3 = 6 u for each of the two distances compared. */
static bool assigned(const float *points, const float *centres, const int *nearest)
{
    for (int i = 0; i < POINTS; i++) {
        double least = DBL_MAX;
        for (int c = 0; c < CLUSTERS; c++) {
            least = fmin(least, distance(points, i, centres + c * FEATURES));
        }
        if (nearest[i] < 0 || nearest[i] >= CLUSTERS ||
            distance(points, i, centres + nearest[i] * FEATURES) > least * (1 + 13 * u)) {
            return false;
        }
    }
    return true;
}

/** Returns whether feature f of a centre is the mean of its points. The sum of n terms has fewer than n additions one
 * after another, and the quotient is rounded, too. A centre without points stays. */
static bool centred(const float *points, const int *nearest, int c, int f, float before, float after)
{
    double sum = 0, magnitude = 0;
    int count = 0;
    for (int i = 0; i < POINTS; i++) {
        if (nearest[i] == c) {
            sum += (double)points[f * POINTS + i];
            magnitude += (double)fabsf(points[f * POINTS + i]);
            count++;
        }
    }
    return count ? fabs((double)after - sum / count) <= u * magnitude * (count + 1) / count : after == before;
}

/** One step of k-means: two kernels. The first points are the first centres. */
bool case_kmeans(struct bench_env *env)
{
    const int n = POINTS, clusters = CLUSTERS, features = FEATURES;
    const size_t items = POINTS, group = group_size(env, 64), global = CLUSTERS * group;
    static int nearest[POINTS];
    static float before[CLUSTERS * FEATURES], after[CLUSTERS * FEATURES];
    float *points = random_floats(POINTS * FEATURES, 38);
    for (int i = 0; i < CLUSTERS * FEATURES; i++) {
        before[i] = points[i % FEATURES * POINTS + i / FEATURES];
    }
    struct job j = job_begin(env, NULL);
    /* A point and a centre have a difference and a fused square for each feature, and a comparison. Then the features
     * of each point are added to those of one centre, and the point is counted. Each feature of a centre has a
     * quotient. */
    enum { SQUARES = POINTS * CLUSTERS * FEATURES, SUMS = POINTS * (FEATURES + 1), MEANS = CLUSTERS * FEATURES,
           WORDS = POINTS * FEATURES + POINTS + 2 * MEANS };
    env->work = bench_work(4 * WORDS, 2 * SQUARES + SUMS, 2 * SQUARES + POINTS * CLUSTERS + SUMS + MEANS + WORDS);
    job_buffer(&j, POINTS * FEATURES * sizeof *points, points);
    job_buffer(&j, sizeof before, before);
    job_buffer(&j, sizeof nearest, NULL);
    job_kernel(&j, "kmeans_assign", 3);
    job_arg(&j, 3, sizeof n, &n);
    job_arg(&j, 4, sizeof clusters, &clusters);
    job_arg(&j, 5, sizeof features, &features);
    job_launch(&j, 1, &items, &group);
    job_kernel(&j, "kmeans_centres", 3);
    job_arg(&j, 3, sizeof n, &n);
    job_arg(&j, 4, sizeof features, &features);
    job_arg(&j, 5, group * sizeof(float), NULL);
    job_launch(&j, 1, &global, &group);
    job_read(&j, 1, sizeof after, after);
    job_read(&j, 2, sizeof nearest, nearest);
    bool right = j.ok && assigned(points, before, nearest);
    for (int i = 0; right && i < CLUSTERS * FEATURES; i++) {
        right = centred(points, nearest, i / FEATURES, i % FEATURES, before[i], after[i]);
    }
    free(points);
    return job_end(&j, right);
}
