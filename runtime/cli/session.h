/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What the commands that run kernels share: the OpenCL device of Tern with a context and a profiling
 * queue, found through the ICD loader as any application finds it. Functions that can fail say what on
 * stderr, after "tern COMMAND: ".
 */
#ifndef TERN_CLI_SESSION_H
#define TERN_CLI_SESSION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include <CL/cl_tern.h>

struct session {
    const char *command; /**< "bench", "run": begins each message. */
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    clGetDeviceCountersTERN_fn counters;
    cl_tern_counters config; /**< Geometry and names; the counters in it are of no use. */
    atomic_bool lost;        /**< The device gave up the context, and the runtime has said why on stderr. */
};

/** False: there is no such device. Release with session_close in either case; *s must stay where it is. */
bool session_open(struct session *s, const char *command);
void session_close(struct session *s);

/** Builds from OpenCL C text, or from a program binary. NULL: it does not; the log is on stderr. */
cl_program session_build(struct session *s, const void *code, size_t size, bool binary, const char *options);

/** Counters of all engines added up; time, geometry and names of the device. */
void session_counters(struct session *s, cl_tern_counters *sum);
/** after - before, for each counter that is a sum. */
cl_tern_counters counters_between(const cl_tern_counters *before, const cl_tern_counters *after);

/** "CL_INVALID_VALUE"; "unknown error" for what OpenCL does not name. */
const char *error_name(cl_int error);
/** True, with a message, if err is not CL_SUCCESS. */
bool session_failed(const struct session *s, cl_int err, const char *what);

/** Seconds on the host's clock, from any zero. */
double host_seconds(void);

#endif
