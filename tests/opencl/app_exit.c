/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Ways in which a program ends, each in a process of its own (this program, started again with the name of the case).
 * Objects may be left, or be released by an atexit handler or a destructor that runs before or after the library's own.
 * Work may be in flight. The library may be unloaded while its threads run. No process may crash or hang, and each ends
 * with the exit status that it asked for.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clt.h"

#include <CL/cl_icd.h>

static const char endless[] = "kernel void k(global volatile int *x) { while (x[0] == 0) { } }";
static const char brief[] = "kernel void k(global int *x) { x[get_global_id(0)] = 7; }";

static cl_kernel kernel;
static cl_mem buffer;
static bool in_destructor;

/** Enqueues a kernel and keeps every object that it needs. */
static void begin(const char *source)
{
    clt_open(NULL);
    kernel = clt_kernel(source, "k");
    buffer = clt_buffer(4096, NULL);
    const cl_int zero = 0;
    OK(clEnqueueFillBuffer(clt_queue, buffer, &zero, sizeof zero, 0, 4096, 0, NULL, NULL));
    OK(clFinish(clt_queue));
    OK(clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
    OK(clEnqueueNDRangeKernel(clt_queue, kernel, 1, NULL, &(size_t){64}, NULL, 0, NULL, NULL));
}

static void expect(bool good, const char *what)
{
    if (!good) {
        fprintf(stderr, "at the end of the program: %s\n", what);
        _exit(99);
    }
}

static void finish(void)
{
    cl_int got = 0;
    expect(clFinish(clt_queue) == CL_SUCCESS, "clFinish");
    expect(clEnqueueReadBuffer(clt_queue, buffer, CL_TRUE, 0, sizeof got, &got, 0, NULL, NULL) == CL_SUCCESS &&
           got == 7, "the result");
    expect(clReleaseMemObject(buffer) == CL_SUCCESS && clReleaseKernel(kernel) == CL_SUCCESS, "clRelease...");
    expect(clReleaseCommandQueue(clt_queue) == CL_SUCCESS && clReleaseContext(clt_context) == CL_SUCCESS,
           "clRelease...");
}

/** After every object is released, perhaps the device too, a call still answers, with success or an error. */
static void ask_again(void)
{
    cl_int error = CL_SUCCESS;
    cl_context c = clCreateContext(NULL, 1, &clt_device, NULL, NULL, &error);
    expect((c != NULL) == (error == CL_SUCCESS), "clCreateContext");
    if (c != NULL) {
        clReleaseContext(c);
    }
}

__attribute__((destructor)) static void of_the_program(void)
{
    if (in_destructor) {
        finish();
        ask_again();
    }
}

static void end_leaving_all(void)
{
    begin(brief);
}

static void end_in_flight(void)
{
    begin(endless);
}

static void end_atexit_first(void)
{
    atexit(ask_again);
    atexit(finish);
    begin(brief);
}

static void end_atexit_last(void)
{
    begin(brief);
    atexit(ask_again);
    atexit(finish);
}

static void end_destructor(void)
{
    begin(brief);
    in_destructor = true;
}

static void end_released(void)
{
    begin(brief);
    finish();
}

static void CL_CALLBACK leave(cl_event e, cl_int status, void *data)
{
    (void)e;
    (void)status;
    (void)data;
    exit(7);
}

static void end_in_a_callback(void)
{
    cl_event e;
    begin(brief);
    OK(clEnqueueMarkerWithWaitList(clt_queue, 0, NULL, &e));
    OK(clSetEventCallback(e, CL_COMPLETE, leave, NULL));
    for (;;) {
        pause();
    }
}

/** Unloads the library itself, with a kernel in flight and its threads running. The ICD loader is not used, because it
 * might keep the library loaded. */
static void end_unloaded(void)
{
    char path[4096];
    cl_platform_id platform = NULL;
    cl_device_id device;
    cl_mem mem;
    FILE *icd = fopen(getenv("OCL_ICD_VENDORS"), "r");
    expect(icd != NULL && fgets(path, sizeof path, icd) != NULL, "tern.icd");
    fclose(icd);
    path[strcspn(path, "\n")] = '\0';
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    expect(library != NULL, "dlopen");
    clIcdGetPlatformIDsKHR_fn get = (clIcdGetPlatformIDsKHR_fn)dlsym(library, "clIcdGetPlatformIDsKHR");
    expect(get != NULL && get(1, &platform, NULL) == CL_SUCCESS, "clIcdGetPlatformIDsKHR");
    const cl_icd_dispatch *cl = *(cl_icd_dispatch *const *)platform;
    expect(cl->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) == CL_SUCCESS, "clGetDeviceIDs");
    cl_context c = cl->clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    cl_command_queue q = cl->clCreateCommandQueue(c, device, 0, NULL);
    mem = cl->clCreateBuffer(c, CL_MEM_READ_WRITE, 1u << 20, NULL, NULL);
    for (cl_uint i = 0; i < 100; i++) {
        expect(cl->clEnqueueFillBuffer(q, mem, &i, sizeof i, 0, 1u << 20, 0, NULL, NULL) == CL_SUCCESS,
               "clEnqueueFillBuffer");
    }
    expect(dlclose(library) == 0, "dlclose");
    usleep(100000); /* The library's threads run on. */
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    expect(library != NULL, "dlopen again");
    expect(cl->clFinish(q) == CL_SUCCESS, "clFinish");
    dlclose(library);
}

static const struct end {
    const char *name;
    void (*run)(void);
    int status;
} ends[] = {
    {"leaving_all", end_leaving_all, 0},
    {"in_flight", end_in_flight, 0},
    {"atexit_first", end_atexit_first, 0},
    {"atexit_last", end_atexit_last, 0},
    {"destructor", end_destructor, 0},
    {"released", end_released, 0},
    {"in_a_callback", end_in_a_callback, 7},
    {"unloaded", end_unloaded, 0},
};

#define REPEATS 5u

static void test_ends(void **state)
{
    (void)state;
    const size_t repeats = clt_on_rtl() ? 1 : REPEATS; /* an RTL device takes long to create */
    for (size_t i = 0; i < LENGTH(ends) * repeats; i++) {
        const struct end *e = &ends[i % LENGTH(ends)];
        int status;
        fflush(NULL);
        const pid_t child = fork();
        if (child == 0) {
            alarm(250);
            execl("/proc/self/exe", "app_exit", e->name, (char *)NULL);
            _exit(127);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != e->status) {
            fail_msg("the end '%s': status %#x", e->name, status);
        }
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ends)};
    for (size_t i = 0; argc > 1 && i < LENGTH(ends); i++) {
        if (strcmp(argv[1], ends[i].name) == 0) {
            setenv("TERN_BACKEND", "model", 0);
            ends[i].run();
            return ends[i].status;
        }
    }
    return cmocka_run_group_tests_name("app_exit", tests, NULL, NULL);
}
