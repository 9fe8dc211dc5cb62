/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Programs with few resources: threads with small stacks, few descriptors, `ulimit -f`, no home, no environment, a full
 * disk. Calls that can work do work; the others fail with an error and a message. None crashes or hangs. Each program
 * is a process of its own, since limits cannot be raised again.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clt.h"

#define WRONG "an error that blames the program"

/** Makes every kind of call that a program makes, from the first to the last. Returns the name of the first call that
 * failed, or NULL. */
static const char *whole(void)
{
    const char *source = "kernel void k(global int *x) { x[get_global_id(0)] = (int)get_global_id(0) * 3; "
                         "printf(\"%s\", \"\"); }";
    cl_platform_id platforms[8];
    cl_uint n = 0;
    cl_device_id d = NULL;
    cl_int got[64], error;
    if (clGetPlatformIDs(8, platforms, &n) != CL_SUCCESS || n == 0 ||
        clGetDeviceIDs(platforms[0], CL_DEVICE_TYPE_ALL, 1, &d, NULL) != CL_SUCCESS) {
        return "clGetDeviceIDs";
    }
    cl_context c = clCreateContext(NULL, 1, &d, NULL, NULL, &error);
    if (c == NULL) {
        return "clCreateContext";
    }
    const char *failed = NULL;
    cl_program p = clCreateProgramWithSource(c, 1, &source, NULL, &error);
    cl_command_queue q = clCreateCommandQueue(c, d, 0, &error);
    cl_mem m = clCreateBuffer(c, CL_MEM_READ_WRITE, sizeof got, NULL, &error);
    cl_kernel k = NULL;
    if (p == NULL || q == NULL || m == NULL) {
        failed = "clCreate...";
    } else if ((error = clBuildProgram(p, 1, &d, "", NULL, NULL)) != CL_SUCCESS) {
        failed = error == CL_BUILD_PROGRAM_FAILURE || error == CL_OUT_OF_HOST_MEMORY ? "clBuildProgram" : WRONG;
    } else if ((k = clCreateKernel(p, "k", &error)) == NULL || clSetKernelArg(k, 0, sizeof m, &m) != CL_SUCCESS) {
        failed = "clCreateKernel";
    } else if (clEnqueueNDRangeKernel(q, k, 1, NULL, &(size_t){64}, NULL, 0, NULL, NULL) != CL_SUCCESS ||
               clEnqueueReadBuffer(q, m, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL) != CL_SUCCESS) {
        failed = "clEnqueue...";
    } else if (got[63] != 189) {
        failed = "the result";
    }
    if (k != NULL) {
        clReleaseKernel(k);
    }
    if (m != NULL) {
        clReleaseMemObject(m);
    }
    if (q != NULL) {
        clReleaseCommandQueue(q);
    }
    if (p != NULL) {
        clReleaseProgram(p);
    }
    clReleaseContext(c);
    return failed;
}

enum outcome { WORKED, FAILED, BLAMED, CANNOT = 77 };

static void set_limit(int what, rlim_t value)
{
    setrlimit((__rlimit_resource_t)what, &(struct rlimit){value, value});
}

/** Runs the function in a child, under an alarm and with TERN_CACHE=0, so that the compiler really runs. */
static enum outcome in_child(enum outcome (*run)(int), int value)
{
    int status;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        alarm(250);
        setenv("TERN_BACKEND", "model", 0);
        setenv("TERN_CACHE", "0", 1);
        exit((int)run(value));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status)) {
        fail_msg("with %d: ended by signal %d", value, WTERMSIG(status));
    }
    return (enum outcome)WEXITSTATUS(status);
}

static enum outcome outcome(const char *failed)
{
    if (failed != NULL) {
        fprintf(stderr, "failed: %s\n", failed);
    }
    return failed == NULL ? WORKED : strcmp(failed, WRONG) == 0 ? BLAMED : FAILED;
}

/* ------------------------------------------------------------------ stacks */

static void *thread_whole(void *out)
{
    *(const char **)out = whole();
    return NULL;
}

static enum outcome on_small_stack(int kib)
{
    pthread_attr_t attr;
    pthread_t thread;
    const char *failed = "no thread";
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, (size_t)kib << 10);
    if (pthread_create(&thread, &attr, thread_whole, &failed) == 0) {
        pthread_join(thread, NULL);
    }
    return outcome(failed);
}

static void test_small_stacks(void **state)
{
    (void)state;
    assert_int_equal(in_child(on_small_stack, 64), WORKED);
}

/** The calls that a program repeats once the device is open and the kernel has run. Returns the first call that failed,
 * or NULL. */
static void *thread_steady(void *out)
{
    cl_int got[64], error;
    cl_event e = NULL;
    const cl_int zero = 0;
    const char *failed = NULL;
    cl_mem m = clCreateBuffer(clt_context, CL_MEM_READ_WRITE, sizeof got, NULL, &error);
    if (m == NULL || clSetKernelArg(*(cl_kernel *)out, 0, sizeof m, &m) != CL_SUCCESS) {
        failed = "clCreateBuffer";
    } else if (clEnqueueFillBuffer(clt_queue, m, &zero, sizeof zero, 0, sizeof got, 0, NULL, NULL) != CL_SUCCESS ||
               clEnqueueNDRangeKernel(clt_queue, *(cl_kernel *)out, 1, NULL, &(size_t){64}, NULL, 0, NULL, &e) !=
               CL_SUCCESS || clWaitForEvents(1, &e) != CL_SUCCESS || clFinish(clt_queue) != CL_SUCCESS ||
               clEnqueueReadBuffer(clt_queue, m, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL) != CL_SUCCESS ||
               got[63] != 63) {
        failed = "clEnqueue...";
    }
    clReleaseEvent(e);
    clReleaseMemObject(m);
    *(const char **)out = failed;
    return NULL;
}

static enum outcome on_least_stack(int bytes)
{
    pthread_attr_t attr;
    pthread_t thread;
    clt_open(NULL);
    union {
        cl_kernel kernel;
        const char *failed;
    } shared = {.kernel = clt_kernel("kernel void k(global int *x) { x[get_global_id(0)] = (int)get_global_id(0); }",
                                     "k")};
    cl_mem m = clt_buffer(256, NULL);
    OK(clSetKernelArg(shared.kernel, 0, sizeof m, &m));
    clt_run(shared.kernel, 64, 0); /* The first run links and loads the program. */
    OK(clReleaseMemObject(m));
    pthread_attr_init(&attr);
    if (pthread_attr_setstacksize(&attr, (size_t)bytes) != 0 ||
        pthread_create(&thread, &attr, thread_steady, &shared) != 0) {
        return FAILED;
    }
    pthread_join(thread, NULL);
    return outcome(shared.failed);
}

static void test_least_stacks(void **state)
{
    (void)state;
    assert_int_equal(in_child(on_least_stack, (int)PTHREAD_STACK_MIN), WORKED);
}

/** `ulimit -s` sets the default stack size of all threads of a program that is started under it. */
static enum outcome under_small_stacks(int kib)
{
    set_limit(RLIMIT_STACK, (rlim_t)kib << 10);
    execl("/proc/self/exe", "app_limits", "whole", (char *)NULL);
    return FAILED;
}

static void test_small_default_stack(void **state)
{
    (void)state;
    assert_int_equal(in_child(under_small_stacks, 256), WORKED);
}

/* ------------------------------------------------------------------ descriptors, files */

static enum outcome with_descriptors(int n)
{
    set_limit(RLIMIT_NOFILE, (rlim_t)n);
    return outcome(whole());
}

static void test_few_descriptors(void **state)
{
    (void)state;
    unsigned worked = 0, failed = 0;
    for (int n = 3; n <= 24; n++) {
        const enum outcome o = in_child(with_descriptors, n);
        worked += o == WORKED;
        failed += o == FAILED;
    }
    assert_int_equal(worked + failed, 22);
    assert_true(worked > 0 && failed > 0);
}

static enum outcome with_file_size(int bytes)
{
    set_limit(RLIMIT_FSIZE, (rlim_t)bytes);
    return outcome(whole());
}

/** SIGXFSZ keeps its default action here, which would end the program. */
static void test_file_size(void **state)
{
    (void)state;
    /* The limit applies to the compiler's files in memory too. */
    assert_in_range(in_child(with_file_size, 0), WORKED, FAILED);
    assert_in_range(in_child(with_file_size, 4096), WORKED, FAILED);
    assert_int_equal(in_child(with_file_size, 4 << 20), WORKED);
}

static enum outcome without_home(int value)
{
    (void)value;
    const char *icd = getenv("OCL_ICD_VENDORS");
    if (chdir("/proc")) { /* No file can be created in this directory. */
        return CANNOT;
    }
    execle("/proc/self/exe", "app_limits", "whole", (char *)NULL,
           (char *[]){(char *)(uintptr_t)(icd - strlen("OCL_ICD_VENDORS=")), NULL});
    return FAILED;
}

static void test_no_home_and_no_environment(void **state)
{
    (void)state;
    assert_int_equal(in_child(without_home, 0), WORKED);
}

/** The folders of statistics, crash dumps and the cache are on a file system without free space. */
static enum outcome on_full_disk(int kib)
{
    char folder[] = "/tmp/tern-full-XXXXXX", options[32];
    snprintf(options, sizeof options, "size=%dk", kib);
    if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) || !mkdtemp(folder)) {
        return CANNOT;
    }
    if (mount("none", folder, "tmpfs", 0, options)) {
        rmdir(folder);
        return CANNOT;
    }
    char path[64], block[4096] = "";
    snprintf(path, sizeof path, "%s/filler", folder);
    const int filler = open(path, O_WRONLY | O_CREAT, 0600);
    while (write(filler, block, sizeof block) > 0) {
    }
    close(filler);
    setenv("XDG_RUNTIME_DIR", folder, 1);
    setenv("XDG_STATE_HOME", folder, 1);
    setenv("XDG_CACHE_HOME", folder, 1);
    setenv("HOME", folder, 1);
    unsetenv("TERN_CACHE");
    unsetenv("TERN_CACHE_DIR");
    const enum outcome o = outcome(whole());
    umount2(folder, MNT_DETACH);
    rmdir(folder);
    return o;
}

static void test_full_disk(void **state)
{
    (void)state;
    const enum outcome o = in_child(on_full_disk, 4);
    if (o == CANNOT) {
        print_message("no file system of one's own can be mounted here\n");
        skip();
    }
    assert_int_equal(o, WORKED);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_stacks),      cmocka_unit_test(test_small_default_stack),
        cmocka_unit_test(test_least_stacks),
        cmocka_unit_test(test_few_descriptors),   cmocka_unit_test(test_file_size),
        cmocka_unit_test(test_no_home_and_no_environment), cmocka_unit_test(test_full_disk),
    };
    if (argc > 1 && strcmp(argv[1], "whole") == 0) {
        setenv("TERN_BACKEND", "model", 0);
        setenv("TERN_CACHE", "0", 1);
        return (int)outcome(whole());
    }
    return cmocka_run_group_tests_name("app_limits", tests, NULL, NULL);
}
