/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The OpenCL session of commands that run kernels: Tern's device with a context and a profiling queue, found through
 * the ICD loader as by an application. Functions that fail print a message on stderr, after "tern COMMAND: ".
 */
#ifndef TERN_CLI_SESSION_H
#define TERN_CLI_SESSION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include <CL/cl_tern.h>

struct session {
    const char *command; /**< First word of each message, as "bench" or "run". */
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    clGetDeviceCountersTERN_fn counters;
    cl_tern_counters config; /**< Geometry and names of the device; its counters are not used. */
    atomic_bool lost; /**< The device has given up the context, and the runtime has printed the reason on stderr. */
};

/** Opens a session. False: there is no such device. The caller closes it in both cases, and does not move *s. */
bool session_open(struct session *s, const char *command);
void session_close(struct session *s);

enum session_code { SESSION_SOURCE, SESSION_SPIRV, SESSION_BINARY };

/** Builds a program of this kind of code. NULL: the build failed, and the log is on stderr. */
cl_program session_build(struct session *s, const void *code, size_t size, enum session_code kind, const char *options);

/** Sums of the counters of all engines; time, geometry and names of the device. */
void session_counters(struct session *s, cl_tern_counters *sum);
/** after - before, for each counter that is a sum. */
cl_tern_counters counters_between(const cl_tern_counters *before, const cl_tern_counters *after);

/** As "CL_INVALID_VALUE"; "unknown error" for values that OpenCL does not name. */
const char *error_name(cl_int error);
/** True, after a message: err is not CL_SUCCESS. */
bool session_failed(const struct session *s, cl_int err, const char *what);

/** Seconds of a monotonic clock of the host. */
double host_seconds(void);

#endif
