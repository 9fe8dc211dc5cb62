/* SPDX-License-Identifier: Apache-2.0 */
/** What a bench is: work on one command queue whose events give the cycles, and a check of the result on the host. */
#ifndef TERN_BENCH_H
#define TERN_BENCH_H

#include <stdbool.h>

#include <CL/cl.h>

struct bench_env {
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    void (*sample)(void *user, bool after); /**< Called before and after the measured command. */
    void *user;
    cl_ulong ns; /**< Out: device time of the measured command. */
};

struct bench {
    const char *name;
    /** Runs and checks; false: wrong result or an OpenCL error (a sentence is on stderr). */
    bool (*run)(struct bench_env *env);
};

extern const struct bench tern_benches[];
extern const unsigned tern_n_benches;
extern const char tern_bench_source[], tern_bench_source_end[];

#endif
