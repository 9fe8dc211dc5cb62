/* SPDX-License-Identifier: Apache-2.0 */
/** The functions `run` of the benches (bench.h), by subject. _large: the same bench on more data. */
#ifndef TERN_BENCH_CASES_H
#define TERN_BENCH_CASES_H

#include "bench.h"

/* case_stream.c: each element is accessed once. */
bool case_vecadd(struct bench_env *env);
bool case_saxpy(struct bench_env *env);
bool case_copy4(struct bench_env *env);
bool case_saxpy4(struct bench_env *env);
bool case_copy4_large(struct bench_env *env);
bool case_saxpy4_large(struct bench_env *env);
bool case_transpose(struct bench_env *env);
bool case_copy_1m(struct bench_env *env);
bool case_fill_1m(struct bench_env *env);
bool case_empty_cold(struct bench_env *env);
bool case_empty_warm(struct bench_env *env);

/* case_matrix.c: matrices and vectors of floats. */
bool case_sgemm(struct bench_env *env);
bool case_sgemm_tiled(struct bench_env *env);
bool case_sgemm_4x4(struct bench_env *env);
bool case_sgemm_4x4_large(struct bench_env *env);
bool case_sgemv(struct bench_env *env);
bool case_spmv(struct bench_env *env);
bool case_softmax(struct bench_env *env);

/* case_field.c: grids, bodies in space, and a fractal. */
bool case_stencil(struct bench_env *env);
bool case_stencil3d(struct bench_env *env);
bool case_nbody(struct bench_env *env);
bool case_mandelbrot(struct bench_env *env);

/* case_words.c: integers. */
bool case_reduce(struct bench_env *env);
bool case_histogram(struct bench_env *env);
bool case_scan(struct bench_env *env);
bool case_bitonic(struct bench_env *env);
bool case_sha256(struct bench_env *env);

/* case_learning.c: machine learning. */
bool case_conv2d(struct bench_env *env);
bool case_layernorm(struct bench_env *env);
bool case_attention(struct bench_env *env);
bool case_kmeans(struct bench_env *env);

/* case_science.c: a transform, a fluid, and paths in a graph. */
bool case_fft4(struct bench_env *env);
bool case_lbm(struct bench_env *env);
bool case_floyd(struct bench_env *env);

/* case_data.c: a table, hashes, and a sort. */
bool case_gather(struct bench_env *env);
bool case_keccak(struct bench_env *env);
bool case_radix(struct bench_env *env);

#endif
