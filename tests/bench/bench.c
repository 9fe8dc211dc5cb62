/* SPDX-License-Identifier: Apache-2.0 */
/** The list of the benches, and the OpenCL C that they build (bench.h). */
#include "bench.h"

#include "cases.h"

#define TEXT(name, path) \
    __asm__(".section .rodata\n.globl tern_bench_" name "\n.hidden tern_bench_" name "\n" \
            ".globl tern_bench_" name "_end\n.hidden tern_bench_" name "_end\n" \
            "tern_bench_" name ":\n.incbin \"" path "\"\ntern_bench_" name "_end:\n.byte 0\n.text")
TEXT("kernels", TERN_BENCH_KERNELS);
TEXT("workloads", TERN_BENCH_WORKLOADS);
TEXT("sha256", TERN_BENCH_SHA256);
TEXT("further", TERN_BENCH_FURTHER);
extern const char tern_bench_kernels[], tern_bench_kernels_end[], tern_bench_workloads[], tern_bench_workloads_end[],
    tern_bench_sha256[], tern_bench_sha256_end[], tern_bench_further[], tern_bench_further_end[];

const char *bench_text(enum bench_source source, size_t *size)
{
    static const char *const texts[N_SOURCES][2] = {
        [SOURCE_KERNELS] = {tern_bench_kernels, tern_bench_kernels_end},
        [SOURCE_WORKLOADS] = {tern_bench_workloads, tern_bench_workloads_end},
        [SOURCE_SHA256] = {tern_bench_sha256, tern_bench_sha256_end},
        [SOURCE_FURTHER] = {tern_bench_further, tern_bench_further_end},
    };
    *size = (size_t)(texts[source][1] - texts[source][0]);
    return texts[source][0];
}

const char *bench_group_name(enum bench_group group)
{
    static const char *const names[N_GROUPS] = {[GROUP_STANDARD] = "standard", [GROUP_FURTHER] = "further"};
    return names[group];
}

const struct bench tern_benches[] = {
    {"empty-64-cold", case_empty_cold, SOURCE_WORKLOADS, false, 1, GROUP_STANDARD},
    {"empty-64-warm", case_empty_warm, SOURCE_WORKLOADS, false, 1, GROUP_STANDARD},
    {"vecadd-16384", case_vecadd, SOURCE_KERNELS, false, 7, GROUP_STANDARD},
    {"saxpy-65536", case_saxpy, SOURCE_KERNELS, false, 23, GROUP_STANDARD},
    {"copy-float4-16k", case_copy4, SOURCE_WORKLOADS, false, 13, GROUP_STANDARD},
    {"saxpy-float4-16k", case_saxpy4, SOURCE_WORKLOADS, false, 22, GROUP_STANDARD},
    {"copy-float4-256k", case_copy4_large, SOURCE_WORKLOADS, true, 215, GROUP_STANDARD},
    {"saxpy-float4-256k", case_saxpy4_large, SOURCE_WORKLOADS, true, 374, GROUP_STANDARD},
    {"transpose-128", case_transpose, SOURCE_KERNELS, false, 34, GROUP_STANDARD},
    {"sgemm-128", case_sgemm, SOURCE_KERNELS, true, 685, GROUP_STANDARD},
    {"sgemm-tiled-128", case_sgemm_tiled, SOURCE_KERNELS, true, 722, GROUP_STANDARD},
    {"sgemm-4x4-128", case_sgemm_4x4, SOURCE_WORKLOADS, false, 350, GROUP_STANDARD},
    {"sgemm-4x4-256", case_sgemm_4x4_large, SOURCE_WORKLOADS, true, 3572, GROUP_STANDARD},
    {"sgemv-512", case_sgemv, SOURCE_WORKLOADS, false, 414, GROUP_STANDARD},
    {"spmv-2048", case_spmv, SOURCE_WORKLOADS, false, 139, GROUP_STANDARD},
    {"softmax-64", case_softmax, SOURCE_WORKLOADS, false, 58, GROUP_STANDARD},
    {"stencil-256", case_stencil, SOURCE_WORKLOADS, false, 139, GROUP_STANDARD},
    {"stencil3d-32", case_stencil3d, SOURCE_WORKLOADS, false, 375, GROUP_STANDARD},
    {"nbody-256", case_nbody, SOURCE_WORKLOADS, false, 132, GROUP_STANDARD},
    {"mandelbrot-64", case_mandelbrot, SOURCE_KERNELS, false, 89, GROUP_STANDARD},
    {"reduce-65536", case_reduce, SOURCE_KERNELS, false, 35, GROUP_STANDARD},
    {"histogram-32768", case_histogram, SOURCE_KERNELS, false, 19, GROUP_STANDARD},
    {"scan-65536", case_scan, SOURCE_WORKLOADS, false, 152, GROUP_STANDARD},
    {"bitonic-4096", case_bitonic, SOURCE_WORKLOADS, false, 246, GROUP_STANDARD},
    {"sha256-1024", case_sha256, SOURCE_SHA256, false, 371, GROUP_STANDARD},
    {"copy-1m", case_copy_1m, SOURCE_KERNELS, false, 36, GROUP_STANDARD},
    {"fill-1m", case_fill_1m, SOURCE_KERNELS, false, 20, GROUP_STANDARD},
    {"conv2d-128", case_conv2d, SOURCE_FURTHER, false, 104, GROUP_FURTHER},
    {"layernorm-64", case_layernorm, SOURCE_FURTHER, false, 46, GROUP_FURTHER},
    {"attention-64", case_attention, SOURCE_FURTHER, false, 141, GROUP_FURTHER},
    {"kmeans-1024", case_kmeans, SOURCE_FURTHER, false, 62, GROUP_FURTHER},
    {"fft4-4096", case_fft4, SOURCE_FURTHER, false, 50, GROUP_FURTHER},
    {"lbm-64", case_lbm, SOURCE_FURTHER, false, 58, GROUP_FURTHER},
    {"floyd-32", case_floyd, SOURCE_FURTHER, false, 65, GROUP_FURTHER},
    {"gather-32768", case_gather, SOURCE_FURTHER, false, 54, GROUP_FURTHER},
    {"keccak-128", case_keccak, SOURCE_FURTHER, false, 143, GROUP_FURTHER},
    {"radix-8192", case_radix, SOURCE_FURTHER, false, 68, GROUP_FURTHER},
};
const unsigned tern_n_benches = sizeof tern_benches / sizeof tern_benches[0];
