/* SPDX-License-Identifier: Apache-2.0 */
/**
 * One program in several threads: while one builds it, others create kernels of it, link it and query it. Every call
 * either succeeds or is refused as the specification says, and returned data stays valid. The test is also run with the
 * thread and address sanitizers, which detect wrong accesses that have no visible effect.
 */
#include "clt.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { ROUNDS = 40, ROUNDS_MOST = 100000 };

static const char text[] = "int twice(int x) { return 2 * x; }\n"
                           "kernel void f(global int *first) { first[get_global_id(0)] = "
                           "twice(first[get_global_id(0)]); }\n"
                           "kernel void g(global int *second, int n) { second[0] = n; }\n";

static cl_program shared;
static atomic_bool over;
static atomic_uint made;             /**< Objects that the readers obtained. */
/** The first unexpected error. Only the main thread may call cmocka. */
static atomic_int wrong;
static const char *_Atomic wrong_at;

static void expect(bool good, cl_int error, const char *where)
{
    int none = CL_SUCCESS;
    if (!good && atomic_compare_exchange_strong(&wrong, &none, error == CL_SUCCESS ? 1 : error)) {
        atomic_store(&wrong_at, where);
    }
}

/** Returns whether another round is needed. On a busy machine a reader may start only after all rounds, so the rounds
 * go on until one reader obtained something. */
static bool goes_on(int round)
{
    return round < ROUNDS ||
        (round < ROUNDS_MOST && atomic_load(&made) == 0 && atomic_load(&wrong) == CL_SUCCESS);
}

static void *build_again(void *arg)
{
    (void)arg;
    for (int i = 0; goes_on(i); i++) {
        const cl_int error = clBuildProgram(shared, 1, &clt_device, i % 2 == 0 ? "" : "-DODD", NULL, NULL);
        expect(error == CL_SUCCESS || error == CL_INVALID_OPERATION, error, "clBuildProgram");
    }
    atomic_store(&over, true);
    return NULL;
}

static void *compile_again(void *arg)
{
    (void)arg;
    for (int i = 0; goes_on(i); i++) {
        const cl_int error = clCompileProgram(shared, 1, &clt_device, i % 2 == 0 ? "" : "-DODD", 0, NULL, NULL,
                                              NULL, NULL);
        expect(error == CL_SUCCESS || error == CL_INVALID_OPERATION, error, "clCompileProgram");
    }
    atomic_store(&over, true);
    return NULL;
}

/** The kernel keeps the name and arguments of its source, whatever happens to the program. */
static void look_at(cl_kernel k)
{
    char name[16] = "";
    cl_uint n = 99;
    cl_int error = clGetKernelInfo(k, CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL);
    expect(error == CL_SUCCESS && (strcmp(name, "f") == 0 || strcmp(name, "g") == 0), error, "CL_KERNEL_FUNCTION_NAME");
    error = clGetKernelInfo(k, CL_KERNEL_NUM_ARGS, sizeof n, &n, NULL);
    expect(error == CL_SUCCESS && n == (name[0] == 'f' ? 1 : 2), error, "CL_KERNEL_NUM_ARGS");
    cl_int error2;
    cl_kernel twin = clCloneKernel(k, &error2);
    expect(twin != NULL, error2, "clCloneKernel");
    clReleaseKernel(k);
    clReleaseKernel(twin);
    atomic_fetch_add(&made, 1);
}

static void *make_kernels(void *arg)
{
    (void)arg;
    while (!atomic_load(&over)) {
        cl_int error;
        cl_kernel k = clCreateKernel(shared, "f", &error);
        expect(k != NULL || error == CL_INVALID_PROGRAM_EXECUTABLE, error, "clCreateKernel");
        if (k != NULL) {
            look_at(k);
        }
    }
    return NULL;
}

static void *make_all_kernels(void *arg)
{
    (void)arg;
    while (!atomic_load(&over)) {
        cl_kernel all[2];
        cl_uint n = 0;
        const cl_int error = clCreateKernelsInProgram(shared, 2, all, &n);
        expect((error == CL_SUCCESS && n == 2) || error == CL_INVALID_PROGRAM_EXECUTABLE, error,
               "clCreateKernelsInProgram");
        for (cl_uint i = 0; error == CL_SUCCESS && i < n; i++) {
            look_at(all[i]);
        }
    }
    return NULL;
}

static void *link_it(void *arg)
{
    (void)arg;
    while (!atomic_load(&over)) {
        cl_int error;
        cl_program p = clLinkProgram(clt_context, 1, &clt_device, "", 1, &shared, NULL, NULL, &error);
        expect((p != NULL && error == CL_SUCCESS) || (p == NULL && error == CL_INVALID_OPERATION), error,
               "clLinkProgram");
        if (p != NULL) {
            cl_kernel k = clCreateKernel(p, "f", &error);
            expect(k != NULL, error, "clCreateKernel of what was linked");
            clReleaseProgram(p);
            if (k != NULL) {
                look_at(k);
            }
        }
    }
    return NULL;
}

static void *ask(void *arg)
{
    static unsigned char binary[1 << 20];
    unsigned char *const binaries[] = {binary};
    static const cl_program_build_info build_names[] = {CL_PROGRAM_BUILD_STATUS, CL_PROGRAM_BUILD_OPTIONS,
                                                        CL_PROGRAM_BUILD_LOG, CL_PROGRAM_BINARY_TYPE,
                                                        CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE};
    static const cl_program_info names[] = {CL_PROGRAM_NUM_KERNELS, CL_PROGRAM_KERNEL_NAMES, CL_PROGRAM_BINARY_SIZES,
                                            CL_PROGRAM_SOURCE};
    char answer[4096];
    (void)arg;
    while (!atomic_load(&over)) {
        for (size_t i = 0; i < LENGTH(build_names); i++) {
            const cl_int error = clGetProgramBuildInfo(shared, clt_device, build_names[i], sizeof answer, answer, NULL);
            expect(error == CL_SUCCESS, error, "clGetProgramBuildInfo");
        }
        for (size_t i = 0; i < LENGTH(names); i++) {
            const cl_int error = clGetProgramInfo(shared, names[i], sizeof answer, answer, NULL);
            expect(error == CL_SUCCESS || error == CL_INVALID_PROGRAM_EXECUTABLE, error, "clGetProgramInfo");
        }
        const cl_int error = clGetProgramInfo(shared, CL_PROGRAM_BINARIES, sizeof binaries,
                                              (void *)(uintptr_t)binaries, NULL);
        expect(error == CL_SUCCESS, error, "CL_PROGRAM_BINARIES");
        atomic_fetch_add(&made, 1);
    }
    return NULL;
}

/** Runs these readers until `work` has ended in the calling thread. */
static void race(void *(*work)(void *), unsigned n, void *(*const readers[])(void *))
{
    pthread_t threads[4];
    const char *source = text;
    shared = clCreateProgramWithSource(clt_context, 1, &source, NULL, &clt_error);
    MADE(shared);
    OK(work == compile_again ? clCompileProgram(shared, 1, &clt_device, "", 0, NULL, NULL, NULL, NULL)
                             : clBuildProgram(shared, 1, &clt_device, "", NULL, NULL));
    atomic_store(&over, false);
    atomic_store(&made, 0);
    atomic_store(&wrong, CL_SUCCESS);
    for (unsigned i = 0; i < n; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, readers[i], NULL), 0);
    }
    work(NULL);
    for (unsigned i = 0; i < n; i++) {
        pthread_join(threads[i], NULL);
    }
    if (atomic_load(&wrong) != CL_SUCCESS) {
        fail_msg("%s: %d", atomic_load(&wrong_at), atomic_load(&wrong));
    }
    assert_true(atomic_load(&made) != 0);
    OK(clReleaseProgram(shared));
}

static void test_kernels_against_build(void **state)
{
    (void)state;
    race(build_again, 2, (void *(*const[])(void *)){make_kernels, make_kernels});
}

static void test_all_kernels_against_build(void **state)
{
    (void)state;
    race(build_again, 2, (void *(*const[])(void *)){make_all_kernels, ask});
}

static void test_link_against_compile(void **state)
{
    (void)state;
    race(compile_again, 2, (void *(*const[])(void *)){link_it, ask});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernels_against_build),
        cmocka_unit_test(test_all_kernels_against_build),
        cmocka_unit_test(test_link_against_compile),
    };
    return cmocka_run_group_tests(tests, clt_open, clt_close);
}
