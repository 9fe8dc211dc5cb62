/* SPDX-License-Identifier: Apache-2.0 */
/** Benches of integers. */
#include "cases.h"

#include <stdlib.h>
#include <string.h>

#include "job.h"
#include "tc_internal.h"

bool case_reduce(struct bench_env *env)
{
    const cl_uint n = 65536;
    const size_t global = 1024, local = 64;
    uint32_t sum = 0, got = 0, *in = random_words(n, 6);
    for (cl_uint i = 0; i < n; i++) {
        sum += in[i];
    }
    struct job j = job_begin(env, "reduce");
    env->work = bench_work(4.0 * n, 0, 2.0 * n);
    job_buffer(&j, n * 4, in);
    job_buffer(&j, 4, NULL);
    job_arg(&j, 2, local * 4, NULL);
    job_arg(&j, 3, sizeof n, &n);
    job_launch(&j, 1, &global, &local);
    job_read(&j, 1, 4, &got);
    free(in);
    return job_end(&j, got == sum);
}

bool case_histogram(struct bench_env *env)
{
    const cl_uint n = 32768;
    const size_t global = 512, local = 64;
    uint32_t seed = 7, want[256] = {0}, got[256] = {0};
    uint8_t *in = job_memory(n);
    for (cl_uint i = 0; i < n; i++) {
        in[i] = (uint8_t)(random32(&seed) >> 24);
        want[in[i]]++;
    }
    struct job j = job_begin(env, "histogram");
    env->work = bench_work(n + sizeof got, 0, 2.0 * n);
    job_buffer(&j, n, in);
    job_buffer(&j, sizeof got, NULL);
    job_arg(&j, 2, sizeof n, &n);
    job_launch(&j, 1, &global, &local);
    job_read(&j, 1, sizeof got, got);
    free(in);
    return job_end(&j, memcmp(want, got, sizeof got) == 0);
}

/** Exclusive prefix sums by three kernels: within blocks, of the blocks' sums, and the addition of these. */
bool case_scan(struct bench_env *env)
{
    enum { N = 65536, GROUP = 64, BLOCK = 4 * GROUP, BLOCKS = N / BLOCK };
    _Static_assert(BLOCKS <= BLOCK, "one group sums up all blocks");
    const size_t items = N / 4, group = GROUP, second = GROUP;
    uint32_t *in = random_words(N, 20), *out = job_memory(N * 4), sum = 0;
    bool right = true;
    struct job j = job_begin(env, NULL);
    env->work = bench_work(8 * N, 0, 3 * N);
    job_buffer(&j, N * 4, in);
    job_buffer(&j, N * 4, NULL);
    job_buffer(&j, BLOCK * 4, NULL); /* The blocks' sums. */
    job_buffer(&j, 4, NULL);         /* The total. */
    job_kernel(&j, "scan_blocks", 3);
    job_arg(&j, 3, GROUP * 4, NULL);
    job_launch(&j, 1, &items, &group);
    job_arg(&j, 0, sizeof j.buffer[2], &j.buffer[2]);
    job_arg(&j, 1, sizeof j.buffer[2], &j.buffer[2]);
    job_arg(&j, 2, sizeof j.buffer[3], &j.buffer[3]);
    job_launch(&j, 1, &second, &group);
    job_kernel(&j, "scan_add", 0);
    job_arg(&j, 0, sizeof j.buffer[2], &j.buffer[2]);
    job_arg(&j, 1, sizeof j.buffer[1], &j.buffer[1]);
    job_launch(&j, 1, &items, &group);
    job_read(&j, 1, N * 4, out);
    for (int i = 0; j.ok && i < N; i++) {
        right = right && out[i] == sum;
        sum += in[i];
    }
    free(in);
    free(out);
    return job_end(&j, right);
}

static int word_order(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/** Blocks of two keys a work-item are sorted in local memory. Each step beyond a block is a kernel. */
bool case_bitonic(struct bench_env *env)
{
    enum { N = 4096, LOG = 12, STEPS = LOG * (LOG + 1) / 2 };
    const size_t items = N / 2, group = group_size(env, 256);
    const cl_uint block = (cl_uint)(2 * group), two = 2;
    uint32_t *keys = random_words(N, 21), *got = job_memory(N * 4);
    struct job j = job_begin(env, "bitonic_local");
    env->work = bench_work(8 * N, 0, 2 * N + STEPS * N);
    job_buffer(&j, N * 4, keys);
    job_arg(&j, 1, sizeof two, &two);
    job_arg(&j, 2, sizeof block, &block);
    job_arg(&j, 3, block * 4, NULL);
    job_launch(&j, 1, &items, &group);
    for (cl_uint k = 2 * block; k <= N; k *= 2) {
        job_kernel(&j, "bitonic_step", 1);
        job_arg(&j, 1, sizeof k, &k);
        for (cl_uint step = k / 2; step >= block; step /= 2) {
            job_arg(&j, 2, sizeof step, &step);
            job_launch(&j, 1, &items, &group);
        }
        job_kernel(&j, "bitonic_local", 1);
        job_arg(&j, 1, sizeof k, &k);
        job_arg(&j, 2, sizeof k, &k);
        job_arg(&j, 3, block * 4, NULL);
        job_launch(&j, 1, &items, &group);
    }
    job_read(&j, 0, N * 4, got);
    qsort(keys, N, sizeof *keys, word_order);
    const bool right = memcmp(keys, got, N * 4) == 0;
    free(keys);
    free(got);
    return job_end(&j, right);
}

/** Messages of 64 bytes, each two blocks with its padding. */
bool case_sha256(struct bench_env *env)
{
    enum { N = 1024, SIZE = 64, ROUNDS = 64 * 25, SCHEDULE = 48 * 13, WORDS = 16 * 2, SUMS = 8 };
    static uint8_t padded[N][2 * SIZE];
    static uint32_t offset[N], blocks[N], digest[N][8];
    const cl_uint n = N;
    const size_t items = N, group = group_size(env, 64);
    uint32_t seed = 22;
    bool right = true;
    for (uint32_t m = 0; m < N; m++) {
        for (int i = 0; i < SIZE; i++) {
            padded[m][i] = (uint8_t)(random32(&seed) >> 24);
        }
        padded[m][SIZE] = 0x80;
        padded[m][2 * SIZE - 2] = SIZE * 8 >> 8;
        offset[m] = m * 2 * SIZE / 4;
        blocks[m] = 2;
    }
    struct job j = job_begin(env, "sha256");
    env->work = bench_work((2 * SIZE + 8 + 32) * N, 0, (2 * (ROUNDS + SCHEDULE + WORDS + SUMS) + 10) * N);
    job_buffer(&j, sizeof padded, padded);
    job_buffer(&j, sizeof offset, offset);
    job_buffer(&j, sizeof blocks, blocks);
    job_buffer(&j, sizeof digest, NULL);
    job_arg(&j, 4, sizeof n, &n);
    job_launch(&j, 1, &items, &group);
    job_read(&j, 3, sizeof digest, digest);
    for (int m = 0; j.ok && m < N; m++) {
        struct tc_sha256 hash;
        uint8_t want[32];
        tc_sha256_init(&hash);
        tc_sha256_add(&hash, padded[m], SIZE);
        tc_sha256_end(&hash, want);
        for (int i = 0; i < 32; i++) {
            right = right && (uint8_t)(digest[m][i / 4] >> (24 - i % 4 * 8)) == want[i];
        }
    }
    return job_end(&j, right);
}
