/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What the benches share on the host: pseudo-random inputs with a fixed seed, and a job, which is kernels with their
 * buffers and the cycles that they took. The first OpenCL error of a job is told on stderr; from then on its functions
 * do nothing, and job_end returns false. One thread.
 */
#ifndef TERN_BENCH_JOB_H
#define TERN_BENCH_JOB_H

#include <stdint.h>

#include "bench.h"

#define JOB_BUFFERS 5

/** A kernel with its buffers: argument i < n_buffers is buffer i; further arguments are set by the caller. */
struct job {
    struct bench_env *env;
    cl_kernel kernel; /**< NULL: there is none, or it could not be made. */
    cl_mem buffer[JOB_BUFFERS];
    int n_buffers;
    bool ok;
};

uint32_t random32(uint32_t *state);
/** Zeroed bytes, which the caller frees. Without memory the process ends with 1 and says so. */
void *job_memory(size_t size);
/** n words; n floats from -0.5 to 0.5; in job_memory. */
uint32_t *random_words(size_t n, uint32_t seed);
float *random_floats(size_t n, uint32_t seed);

/** Begins with a kernel of env's program; NULL: without one. */
struct job job_begin(struct bench_env *env, const char *kernel);
/** Releases buffers and kernel. False: an OpenCL call failed, or `right` is false. */
bool job_end(struct job *j, bool right);

/** Adds a buffer of `size` bytes with these contents (NULL: zeros) and sets it as the next argument. */
void job_buffer(struct job *j, size_t size, const void *data);
/** Sets an argument, as clSetKernelArg does. */
void job_arg(struct job *j, cl_uint index, size_t size, const void *value);
/** Another kernel of env's program, with the first n of the buffers as its first arguments. */
void job_kernel(struct job *j, const char *kernel, int n);
/** Runs the kernel and waits. Its cycles are added to those measured. */
void job_launch(struct job *j, cl_uint dim, const size_t *global, const size_t *local);
/** Before a command that is measured and no kernel; after it, with its event, which is released. */
void job_before(struct job *j);
void job_after(struct job *j, cl_event event);
/** Forgets what was measured until now, as of a launch that only warms caches. */
void job_forget(struct job *j);
void job_read(struct job *j, int buffer, size_t size, void *data);
/** Tells an OpenCL error, once a job. */
void job_expect(struct job *j, cl_int err, const char *what);

/** The group size wanted, or what the device has room for. */
size_t group_size(const struct bench_env *env, size_t wanted);

#endif
