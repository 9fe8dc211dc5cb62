/* SPDX-License-Identifier: Apache-2.0 */
/** An OpenCL session (session.h). */
#include "session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "external.h"

#define MAX_PLATFORMS 16

#define NAMED(X) \
    X(CL_DEVICE_NOT_FOUND) X(CL_DEVICE_NOT_AVAILABLE) X(CL_COMPILER_NOT_AVAILABLE) X(CL_MEM_OBJECT_ALLOCATION_FAILURE) \
    X(CL_OUT_OF_RESOURCES) X(CL_OUT_OF_HOST_MEMORY) X(CL_PROFILING_INFO_NOT_AVAILABLE) X(CL_BUILD_PROGRAM_FAILURE) \
    X(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) X(CL_LINK_PROGRAM_FAILURE) X(CL_KERNEL_ARG_INFO_NOT_AVAILABLE) \
    X(CL_INVALID_VALUE) X(CL_INVALID_DEVICE) X(CL_INVALID_CONTEXT) X(CL_INVALID_MEM_OBJECT) X(CL_INVALID_BINARY) \
    X(CL_INVALID_BUILD_OPTIONS) X(CL_INVALID_PROGRAM) X(CL_INVALID_PROGRAM_EXECUTABLE) X(CL_INVALID_KERNEL_NAME) \
    X(CL_INVALID_ARG_INDEX) X(CL_INVALID_ARG_VALUE) X(CL_INVALID_ARG_SIZE) X(CL_INVALID_KERNEL_ARGS) \
    X(CL_INVALID_WORK_DIMENSION) X(CL_INVALID_WORK_GROUP_SIZE) X(CL_INVALID_WORK_ITEM_SIZE) \
    X(CL_INVALID_GLOBAL_OFFSET) X(CL_IMAGE_FORMAT_NOT_SUPPORTED) X(CL_INVALID_IMAGE_SIZE) \
    X(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR) X(CL_INVALID_IMAGE_DESCRIPTOR) X(CL_INVALID_SAMPLER) \
    X(CL_INVALID_OPERATION) X(CL_INVALID_BUFFER_SIZE) X(CL_INVALID_GLOBAL_WORK_SIZE) X(CL_MAX_SIZE_RESTRICTION_EXCEEDED)

const char *error_name(cl_int error)
{
#define CASE(name) \
    case name: \
        return #name;
    switch (error) {
        NAMED(CASE)
    default:
        return "unknown error";
    }
}

bool session_failed(const struct session *s, cl_int err, const char *what)
{
    if (err != CL_SUCCESS) {
        fprintf(stderr, "tern %s: %s: OpenCL error %d, %s\n", s->command, what, err, error_name(err));
    }
    return err != CL_SUCCESS;
}

/** The file that names this Tern to the ICD loader, in a build or an installation. False: there is none. */
static bool icd_file(char path[PATH_MAX])
{
    return (external_path("tern.icd", path) && access(path, R_OK) == 0) ||
           (external_path("etc/OpenCL/vendors/tern.icd", path) && access(path, R_OK) == 0);
}

/** Finds Tern among the platforms of the loader. */
static bool find_device(struct session *s)
{
    cl_platform_id platforms[MAX_PLATFORMS];
    cl_uint n = 0;
    clGetPlatformIDs(MAX_PLATFORMS, platforms, &n); /* an error of the loader means that there is no platform */
    for (cl_uint i = 0; i < n && i < MAX_PLATFORMS; i++) {
        s->counters = (clGetDeviceCountersTERN_fn)clGetExtensionFunctionAddressForPlatform(platforms[i],
                                                                                          "clGetDeviceCountersTERN");
        if (s->counters) {
            return !session_failed(s, clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &s->device, NULL),
                                   "clGetDeviceIDs") &&
                   !session_failed(s, s->counters(s->device, 0, &s->config), "clGetDeviceCountersTERN");
        }
    }
    const char *set = getenv("OCL_ICD_VENDORS");
    char own[PATH_MAX];
    fprintf(stderr, "tern %s: no Tern platform among the %u that the OpenCL loader finds with OCL_ICD_VENDORS%s%s; "
            "Tern's is %s\n", s->command, n, set ? "=" : " not set", set ? set : "", icd_file(own) ? own
            : "not installed beside this program");
    return false;
}

static void CL_CALLBACK on_lost(const char *message, const void *fault, size_t size, void *user)
{
    struct session *s = user;
    (void)message; /* the runtime has printed the message on stderr */
    (void)fault;
    (void)size;
    atomic_store(&s->lost, true);
}

bool session_open(struct session *s, const char *command)
{
    cl_int err;
    *s = (struct session){.command = command};
    char own[PATH_MAX];
    if (icd_file(own)) { /* otherwise the system's folder of ICDs is used */
        setenv("OCL_ICD_VENDORS", own, 0);
    }
    if (!find_device(s)) {
        return false;
    }
    s->context = clCreateContext(NULL, 1, &s->device, on_lost, s, &err);
    if (session_failed(s, err, "clCreateContext")) {
        return false;
    }
    const cl_queue_properties props[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0};
    s->queue = clCreateCommandQueueWithProperties(s->context, s->device, props, &err);
    return !session_failed(s, err, "clCreateCommandQueueWithProperties");
}

void session_close(struct session *s)
{
    if (s->queue) {
        clReleaseCommandQueue(s->queue);
    }
    if (s->context) {
        clReleaseContext(s->context);
    }
}

static void print_log(const struct session *s, cl_program program)
{
    size_t size = 0;
    clGetProgramBuildInfo(program, s->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
    char *log = calloc(1, size + 1);
    if (log && clGetProgramBuildInfo(program, s->device, CL_PROGRAM_BUILD_LOG, size, log, NULL) == CL_SUCCESS && *log) {
        fprintf(stderr, "%s%s", log, log[strlen(log) - 1] == '\n' ? "" : "\n");
    }
    free(log);
}

cl_program session_build(struct session *s, const void *code, size_t size, enum session_code kind, const char *options)
{
    static const char *const failed[] = {
        [SESSION_SOURCE] = "clCreateProgramWithSource",
        [SESSION_SPIRV] = "this is no SPIR-V that the device takes",
        [SESSION_BINARY] = "this is no program binary of this version of Tern",
    };
    cl_int err, status = CL_SUCCESS;
    const unsigned char *bytes = code;
    const char *text = code;
    cl_program p = kind == SESSION_BINARY
        ? clCreateProgramWithBinary(s->context, 1, &s->device, &size, &bytes, &status, &err)
        : kind == SESSION_SPIRV ? clCreateProgramWithIL(s->context, code, size, &err)
                                : clCreateProgramWithSource(s->context, 1, &text, &size, &err);
    if (session_failed(s, err, failed[kind])) {
        return NULL;
    }
    err = clBuildProgram(p, 1, &s->device, options, NULL, NULL);
    print_log(s, p); /* prints warnings as well */
    if (session_failed(s, err, "the program does not build")) {
        clReleaseProgram(p);
        return NULL;
    }
    return p;
}

/** Applies X to each counter that is a sum. */
#define SUMS(X) \
    X(busy) X(issue) X(lanes_active) X(stall_use) X(stall_unit) X(stall_idle) X(fma) X(l1_hit) X(l1_miss) X(ic_miss) \
    X(tlb_hit) X(tlb_miss) X(rd_lines) X(wr_lines) X(buffers)

void session_counters(struct session *s, cl_tern_counters *sum)
{
    *sum = s->config;
#define ZERO(field) sum->field = 0;
    SUMS(ZERO)
    for (cl_uint e = 0; e < s->config.engines; e++) {
        cl_tern_counters c;
        if (s->counters(s->device, e, &c) == CL_SUCCESS) {
#define ADD(field) sum->field += c.field;
            SUMS(ADD)
            sum->time = c.time;
        }
    }
}

cl_tern_counters counters_between(const cl_tern_counters *before, const cl_tern_counters *after)
{
    cl_tern_counters d = *after;
#define SUBTRACT(field) d.field -= before->field;
    SUMS(SUBTRACT)
    return d;
}

double host_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
