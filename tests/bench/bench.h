/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A bench: work on one command queue whose events give the cycles, a check of the result on the host, and the minimum
 * work, from which its limit follows (limit.h). docs/benches.md describes each bench.
 */
#ifndef TERN_BENCH_H
#define TERN_BENCH_H

#include <stdbool.h>

#include <CL/cl.h>

/** Minimum work of a bench, over all work-items. All 0: it has no limit. */
struct bench_work {
    double bytes;        /**< Bytes between engine and memory: each input is read once, each output written once. */
    double fma;          /**< Float additions, multiplications and fused multiply-adds. */
    double instructions; /**< The instructions above, other arithmetic, loads and stores. 0: the work is no kernel's. */
};

static inline struct bench_work bench_work(double bytes, double fma, double instructions)
{
    return (struct bench_work){.bytes = bytes, .fma = fma, .instructions = instructions};
}

struct bench_env {
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    void (*sample)(void *user, bool after); /**< Called before the first measured command with false, and after each
                                             * measured command with true. The last call with true counts. */
    void *user;
    bool measured;          /**< A command was measured. */
    cl_ulong ns;            /**< Output: device time of the measured commands, in ns. */
    struct bench_work work; /**< Output: the minimum work. */
};

/** OpenCL C sources that the benches build: kernels.cl, workloads.cl, SHA-256 of the demo, and further.cl. */
enum bench_source { SOURCE_KERNELS, SOURCE_WORKLOADS, SOURCE_SHA256, SOURCE_FURTHER, N_SOURCES };

/** Groups of benches. Each has its own mean, so that the mean of the standard benches stays comparable. The further
 * ones came later: they show whether what makes the standard ones fast helps other programs, too. */
enum bench_group { GROUP_STANDARD, GROUP_FURTHER, N_GROUPS };

struct bench {
    const char *name;
    /** Runs the bench and checks its result. Returns false on a wrong result or an OpenCL error, with a message on
     * stderr. */
    bool (*run)(struct bench_env *env);
    enum bench_source source;
    bool full;        /**< The bench takes long, and runs only by its name or with --full. */
    unsigned kcycles; /**< Approximate thousands of cycles on the default device. The progress bar uses them. */
    enum bench_group group;
};

extern const struct bench tern_benches[];
extern const unsigned tern_n_benches;

/** Returns "standard" or "further". */
const char *bench_group_name(enum bench_group group);

/** Returns the text of a source, and its size. */
const char *bench_text(enum bench_source source, size_t *size);

#endif
