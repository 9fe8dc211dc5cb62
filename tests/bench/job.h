/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Common host code of the benches: pseudo-random inputs with a fixed seed, and a job, which is kernels with their
 * buffers and measured cycles. The first OpenCL error of a job is reported on stderr; after it the job's functions do
 * nothing, and job_end returns false. A job belongs to one thread.
 */
#ifndef TERN_BENCH_JOB_H
#define TERN_BENCH_JOB_H

#include <stdint.h>

#include "bench.h"

#define JOB_BUFFERS 5

/** A kernel with its buffers: argument i < n_buffers is buffer i. The caller sets further arguments. */
struct job {
    struct bench_env *env;
    cl_kernel kernel; /**< NULL: the job has no kernel, or the kernel could not be created. */
    cl_mem buffer[JOB_BUFFERS];
    int n_buffers;
    bool ok;
};

uint32_t random32(uint32_t *state);
/** Returns zeroed bytes, which the caller frees. Without memory the process ends with status 1 and a message. */
void *job_memory(size_t size);
/** Return n words, and n floats from -0.5 to 0.5, from job_memory. */
uint32_t *random_words(size_t n, uint32_t seed);
float *random_floats(size_t n, uint32_t seed);

/** Begins a job with a kernel of env's program, or without one if `kernel` is NULL. */
struct job job_begin(struct bench_env *env, const char *kernel);
/** Releases buffers and kernel. Returns false if an OpenCL call failed or `right` is false. */
bool job_end(struct job *j, bool right);

/** Adds a buffer of `size` bytes with these contents (NULL: zeros) and sets it as the next argument. */
void job_buffer(struct job *j, size_t size, const void *data);
/** Sets an argument, as clSetKernelArg does. */
void job_arg(struct job *j, cl_uint index, size_t size, const void *value);
/** Replaces the kernel by another one of env's program, and sets the first n buffers as its first arguments. */
void job_kernel(struct job *j, const char *kernel, int n);
/** Runs the kernel, waits for it, and adds its cycles to the measured ones. */
void job_launch(struct job *j, cl_uint dim, const size_t *global, const size_t *local);
/** Enclose a measured command that is no kernel. job_after takes its event and releases it. */
void job_before(struct job *j);
void job_after(struct job *j, cl_event event);
/** Forgets the cycles measured so far, for example of a launch that only warms caches. */
void job_forget(struct job *j);
void job_read(struct job *j, int buffer, size_t size, void *data);
/** Reports an OpenCL error, once a job. */
void job_expect(struct job *j, cl_int err, const char *what);

/** Returns the group size wanted, or the device's maximum if that is less. */
size_t group_size(const struct bench_env *env, size_t wanted);

#endif
