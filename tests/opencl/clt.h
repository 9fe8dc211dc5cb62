/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Common parts of the OpenCL tests: a context and a queue on Tern's device, through the ICD loader, and short forms of
 * frequent calls. TERN_BACKEND selects the device; the default is the functional model.
 */
#ifndef CLT_H
#define CLT_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/** The call must succeed (OK), or fail with exactly this error (FAILS). */
#define OK(call) assert_int_equal((call), CL_SUCCESS)
#define FAILS(call, error) assert_int_equal((call), (error))
/** For calls with errcode_ret, which are given &clt_error. */
#define MADE(p) (assert_int_equal(clt_error, CL_SUCCESS), assert_non_null(p))
#define REFUSED(p, error) (assert_null(p), assert_int_equal(clt_error, (error)))

extern cl_platform_id clt_platform;
extern cl_device_id clt_device;
extern cl_context clt_context;
extern cl_command_queue clt_queue; /**< An in-order queue with profiling. */
extern cl_int clt_error;

/** Set-up and tear-down of a cmocka test group. */
int clt_open(void **state);
int clt_close(void **state);

/** Builds a program with these options. If the build fails, prints its log and fails the test. */
cl_program clt_build(const char *source, const char *options);
/** Returns the kernel `name` of a program built for it alone. The program is released with the kernel. */
cl_kernel clt_kernel(const char *source, const char *name);
/** Creates a buffer with a copy of data, or with undefined contents if data is NULL. */
cl_mem clt_buffer(size_t size, const void *data);
/** Sets arguments 0 .. n-1, each given as size and pointer. */
void clt_args(cl_kernel k, unsigned n, ...);
/** Enqueues a 1-D range and waits. With local 0 the runtime chooses the local size. */
void clt_run(cl_kernel k, size_t global, size_t local);
/** Reads the buffer's first `size` bytes, blocking. */
void clt_read(cl_mem m, void *data, size_t size);
/** A range for a kernel (global const uint *in, global uint *out, uint n, uint m). */
struct clt_range {
    cl_uint dims;
    size_t global[3], offset[3];
    size_t local[3]; /**< local[0] = 0: the runtime chooses the local size. */
    cl_uint n, m;
};

/** Runs kernel `name` with an output of `bytes` bytes, which a pattern fills before, and copies the output to result.
 *  Returns CL_SUCCESS or CL_INVALID_WORK_GROUP_SIZE; other errors fail the test. */
cl_int clt_run_range(cl_program p, const char *name, const struct clt_range *r, cl_mem in, void *result, size_t bytes);
/** Returns the place of the first byte that differs, or `bytes`. */
size_t clt_first_difference(const uint8_t *a, const uint8_t *b, size_t bytes);
/** Returns the thread instructions that all engines have executed. */
cl_ulong clt_instructions(void);
/** Runs kernel f of `text`, which must fault, in a context of its own. The kernel's arguments are a buffer of 256 KiB,
 *  local_bytes of local memory unless they are 0, and `bad`. local: NULL, or the size of groups. Returns what the
 *  runtime reported, until the next call. */
const char *clt_fault(const char *text, const char *options, cl_uint dims, const size_t *offset, const size_t *global,
                      const size_t *local, size_t local_bytes, cl_uint bad);

/** True: the device is simulated cycle by cycle (TERN_BACKEND=rtl), so tests do less. */
bool clt_on_rtl(void);
/** Returns the seed of a random test, TERN_TEST_SEED or `usual`, and stores the number of its steps, TERN_TEST_STEPS or
 *  `usual_steps`. Prints both. */
uint32_t clt_seed(uint32_t usual, unsigned long usual_steps, unsigned long *steps);
/** Returns the next value of a small deterministic random number generator. */
uint32_t clt_random(uint32_t *state);
float clt_random_float(uint32_t *state); /**< In [0, 1). */

#define ARG(v) sizeof(v), &(v)
#define LOCAL(n) ((size_t)(n)), NULL
#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))

#endif
