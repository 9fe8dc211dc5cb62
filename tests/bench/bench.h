/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a bench is: work on one command queue whose events give the cycles, a check of the result on the host, and what
 * the work needs at least, from which its limit follows (limit.h). docs/benches.md tells all of them.
 */
#ifndef TERN_BENCH_H
#define TERN_BENCH_H

#include <stdbool.h>

#include <CL/cl.h>

/** What the work needs at least, over all work-items; all 0: it has no limit. */
struct bench_work {
    double bytes;        /**< Between engine and memory: each input read once, each output written once. */
    double fma;          /**< Additions, multiplications and fused ones of floats. */
    double instructions; /**< Those, other arithmetic, loads and stores; 0: no kernel does it. */
};

static inline struct bench_work bench_work(double bytes, double fma, double instructions)
{
    return (struct bench_work){.bytes = bytes, .fma = fma, .instructions = instructions};
}

struct bench_env {
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    void (*sample)(void *user, bool after); /**< Called before and after each measured command, the first time only
                                                 before; the last call counts. */
    void *user;
    bool measured;          /**< There was a measured command. */
    cl_ulong ns;            /**< Out: device time of the measured commands. */
    struct bench_work work; /**< Out. */
};

/** OpenCL C that the benches build: kernels.cl, workloads.cl, and SHA-256 of the demo. */
enum bench_source { SOURCE_KERNELS, SOURCE_WORKLOADS, SOURCE_SHA256, N_SOURCES };

struct bench {
    const char *name;
    /** Runs and checks; false: wrong result or an OpenCL error (a sentence is on stderr). */
    bool (*run)(struct bench_env *env);
    enum bench_source source;
    bool full;        /**< It takes long: only by its name, or with --full. */
    unsigned kcycles; /**< Thousands of cycles on the default device, about: what part of the time it takes. */
};

extern const struct bench tern_benches[];
extern const unsigned tern_n_benches;

/** The text of a source. */
const char *bench_text(enum bench_source source, size_t *size);

#endif
