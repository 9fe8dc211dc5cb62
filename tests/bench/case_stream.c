/* SPDX-License-Identifier: Apache-2.0 */
/** Benches that access each element once (vectors, copies), and the start of an empty kernel. */
#include "cases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "job.h"

/** n floats: vecadd, or saxpy, whose multiplication and addition the compiler may fuse. */
static bool stream(struct bench_env *env, const char *kernel, size_t n)
{
    const size_t group = group_size(env, 256);
    bool add = strcmp(kernel, "vecadd") == 0, right = true;
    const float scale = 2.5f;
    float *a = random_floats(n, 1), *b = random_floats(n, 2), *c = job_memory(n * sizeof *c);
    struct job j = job_begin(env, kernel);
    env->work = bench_work(12.0 * (double)n, (double)n, 4.0 * (double)n);
    job_buffer(&j, n * 4, a);
    job_buffer(&j, n * 4, b);
    if (add) {
        job_buffer(&j, n * 4, NULL);
    } else {
        job_arg(&j, 2, sizeof scale, &scale);
    }
    job_launch(&j, 1, &n, &group);
    job_read(&j, add ? 2 : 1, n * 4, c);
    for (size_t i = 0; j.ok && i < n; i++) {
        float fused = fmaf(scale, a[i], b[i]), split = scale * a[i] + b[i];
        right = right && (add ? c[i] == a[i] + b[i] : c[i] == fused || c[i] == split);
    }
    free(a);
    free(b);
    free(c);
    return job_end(&j, right);
}

bool case_vecadd(struct bench_env *env)
{
    return stream(env, "vecadd", 16384);
}

bool case_saxpy(struct bench_env *env)
{
    return stream(env, "saxpy", 65536);
}

/** n elements of float4: a copy, or saxpy. */
static bool stream4(struct bench_env *env, bool copy, size_t n)
{
    const size_t group = group_size(env, 256), floats = 4 * n, words = copy ? 2 : 3;
    const float scale = 2.5f;
    bool right = true;
    float *a = random_floats(floats, 9), *b = random_floats(floats, 10), *c = job_memory(floats * sizeof *c);
    struct job j = job_begin(env, copy ? "copy4" : "saxpy4");
    env->work = bench_work(4.0 * (double)(words * floats), copy ? 0 : (double)floats,
                           (copy ? 2.0 : 4.0) * (double)floats);
    job_buffer(&j, floats * 4, a);
    job_buffer(&j, floats * 4, b);
    if (!copy) {
        job_arg(&j, 2, sizeof scale, &scale);
    }
    job_launch(&j, 1, &n, &group);
    job_read(&j, 1, floats * 4, c);
    for (size_t i = 0; j.ok && i < floats; i++) {
        float fused = fmaf(scale, a[i], b[i]), split = scale * a[i] + b[i];
        right = right && (copy ? c[i] == a[i] : c[i] == fused || c[i] == split);
    }
    free(a);
    free(b);
    free(c);
    return job_end(&j, right);
}

bool case_copy4(struct bench_env *env)
{
    return stream4(env, true, 16384);
}

bool case_saxpy4(struct bench_env *env)
{
    return stream4(env, false, 16384);
}

bool case_copy4_large(struct bench_env *env)
{
    return stream4(env, true, 262144);
}

bool case_saxpy4_large(struct bench_env *env)
{
    return stream4(env, false, 262144);
}

bool case_transpose(struct bench_env *env)
{
    const int n = 128;
    const size_t items = (size_t)n * (size_t)n, global[2] = {(size_t)n, (size_t)n}, local[2] = {8, 8};
    float *a = random_floats(items, 5), *c = job_memory(items * sizeof *c);
    bool right = true;
    struct job j = job_begin(env, "transpose");
    env->work = bench_work(8.0 * (double)items, 0, 2.0 * (double)items);
    job_buffer(&j, items * 4, a);
    job_buffer(&j, items * 4, NULL);
    job_arg(&j, 2, sizeof n, &n);
    job_launch(&j, 2, global, local);
    job_read(&j, 1, items * 4, c);
    for (size_t i = 0; j.ok && i < items; i++) {
        right = right && c[i] == a[i % (size_t)n * (size_t)n + i / (size_t)n];
    }
    free(a);
    free(c);
    return job_end(&j, right);
}

/** A copy or a fill of 1 MiB by the mover, the device's copy engine. */
static bool mover(struct bench_env *env, bool copy)
{
    const size_t n = 262144;
    const cl_uint pattern = 0x5eed5eedu;
    bool right = true;
    float *a = random_floats(n, 8);
    uint32_t *c = job_memory(n * sizeof *c);
    cl_event event = NULL;
    struct job j = job_begin(env, NULL);
    env->work = bench_work((copy ? 8.0 : 4.0) * (double)n, 0, 0);
    job_buffer(&j, n * 4, a);
    job_buffer(&j, n * 4, NULL);
    job_before(&j);
    if (j.ok) {
        job_expect(&j, copy ? clEnqueueCopyBuffer(env->queue, j.buffer[0], j.buffer[1], 0, 0, n * 4, 0, NULL, &event)
                            : clEnqueueFillBuffer(env->queue, j.buffer[1], &pattern, 4, 0, n * 4, 0, NULL, &event),
                   "copy or fill");
        job_after(&j, event);
    }
    job_read(&j, 1, n * 4, c);
    for (size_t i = 0; j.ok && !copy && i < n; i++) {
        right = right && c[i] == pattern;
    }
    right = right && (!copy || memcmp(a, c, n * 4) == 0);
    free(a);
    free(c);
    return job_end(&j, right);
}

bool case_copy_1m(struct bench_env *env)
{
    return mover(env, true);
}

bool case_fill_1m(struct bench_env *env)
{
    return mover(env, false);
}

/** 64 work-items that do nothing measure the cost of a dispatch. Warm: the second dispatch, with code and tables in
 * caches. */
static bool empty(struct bench_env *env, bool warm)
{
    const size_t n = 64, group = group_size(env, 64);
    struct job j = job_begin(env, "empty");
    if (warm) {
        job_launch(&j, 1, &n, &group);
        job_forget(&j);
    }
    job_launch(&j, 1, &n, &group);
    return job_end(&j, true);
}

bool case_empty_cold(struct bench_env *env)
{
    return empty(env, false);
}

bool case_empty_warm(struct bench_env *env)
{
    return empty(env, true);
}
