/* SPDX-License-Identifier: Apache-2.0 */
/** The demo's programs: each is an OpenCL program with a context, a queue and a thread of
 * its own, and knows no other. */
#ifndef TERN_DEMO_H
#define TERN_DEMO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <CL/cl_tern.h>

#define DEMO_TEXT 160

/** One program's OpenCL objects and what it used. Errors print a sentence and clear `ok`;
 * later calls then do nothing. */
struct demo {
    const char *name, *kernels;  /* file in the kernel folder */
    const char *input, *output;  /* file or folder; prefix of the results */
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    bool ok;
    cl_tern_queue_statistics ran; /* by the scheduler, until demo_close */
    char result[DEMO_TEXT];       /* one line for the table */
};

bool demo_open(struct demo *d, const char *kernel_folder);
void demo_close(struct demo *d);
void demo_fail(struct demo *d, const char *format, ...) __attribute__((format(printf, 2, 3)));

cl_kernel demo_kernel(struct demo *d, const char *name);
/** A buffer with these contents, or zeros. */
cl_mem demo_buffer(struct demo *d, size_t size, const void *data);
/** Sets arguments: (size, pointer) pairs, ended by size 0. */
void demo_args(struct demo *d, cl_kernel k, ...);
/** Runs a kernel to its end. */
void demo_run(struct demo *d, cl_kernel k, cl_uint dim, const size_t *global, const size_t *local);
void demo_read(struct demo *d, cl_mem m, size_t size, void *data);

void demo_sha256(struct demo *d);
void demo_edges(struct demo *d);
void demo_sgemm(struct demo *d);
void demo_eigen(struct demo *d);

/** A sparse matrix of a Matrix Market file (coordinate, real, general or symmetric) in CSR form. */
struct matrix {
    int n, entries, *row, *col;
    float *value;
};
bool matrix_load(struct demo *d, const char *file, struct matrix *m);
void matrix_free(struct matrix *m);

#endif
