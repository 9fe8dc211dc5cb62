/* SPDX-License-Identifier: Apache-2.0 */
/** Shared virtual memory in many allocations, in many threads and up to the limit, and reuse of what was freed. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "clt.h"

#define MANY 1000u
#define MIB ((size_t)1 << 20)

static const char *sum = "kernel void sum(global uint *list, uint n, global uint *out)"
                         "{ *out = 0; for (uint i = 0; i < n; i++) { *out += *(global uint *)list[i]; } }";

/** A kernel reaches all allocations by pointers in memory; half of them are then freed and allocated again. */
static void test_many(void **state)
{
    (void)state;
    static cl_uint *a[MANY];
    cl_kernel k = clt_kernel(sum, "sum");
    cl_uint *list = clSVMAlloc(clt_context, 0, MANY * sizeof *list, 0), *out = clSVMAlloc(clt_context, 0, 4, 0);
    const cl_uint n = MANY;
    assert_non_null(list);
    assert_non_null(out);
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned i = 0; i < MANY; i++) {
            if (round != 0 && i % 2 == 0) {
                clSVMFree(clt_context, a[i]);
                a[i] = NULL;
            }
        }
        cl_uint want = 0;
        for (cl_uint i = 0; i < MANY; i++) {
            a[i] = a[i] != NULL ? a[i] : clSVMAlloc(clt_context, 0, 4 + i % 7 * 1000, 0);
            assert_non_null(a[i]);
            const cl_uint value = i * 3 + round;
            OK(clEnqueueSVMMemFill(clt_queue, a[i], &value, 4, 4, 0, NULL, NULL));
            want += value;
        }
        OK(clEnqueueSVMMap(clt_queue, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, list, MANY * sizeof *list, 0, NULL,
                           NULL));
        for (unsigned i = 0; i < MANY; i++) {
            list[i] = (cl_uint)(uintptr_t)a[i];
        }
        OK(clEnqueueSVMUnmap(clt_queue, list, 0, NULL, NULL));
        OK(clSetKernelArgSVMPointer(k, 0, list));
        OK(clSetKernelArg(k, 1, sizeof n, &n));
        OK(clSetKernelArgSVMPointer(k, 2, out));
        OK(clSetKernelExecInfo(k, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof a, a));
        clt_run(k, 1, 0);
        OK(clEnqueueSVMMap(clt_queue, CL_TRUE, CL_MAP_READ, out, 4, 0, NULL, NULL));
        assert_int_equal(*out, want);
        OK(clEnqueueSVMUnmap(clt_queue, out, 0, NULL, NULL));
    }
    OK(clEnqueueSVMFree(clt_queue, MANY, (void **)a, NULL, NULL, 0, NULL, NULL));
    OK(clFinish(clt_queue));
    clSVMFree(clt_context, list);
    clSVMFree(clt_context, out);
    OK(clReleaseKernel(k));
}

/** Freed memory is zero when it is allocated again, on host and device, even if a command used it until then. */
static void test_reuse(void **state)
{
    (void)state;
    const cl_uint all = 0xffffffffu;
    uintptr_t first = 0;
    unsigned same = 0;
    for (unsigned i = 0; i < 20; i++) {
        unsigned char *p = clSVMAlloc(clt_context, 0, 65536, 0);
        assert_non_null(p);
        first = i == 0 ? (uintptr_t)p : first;
        same += (uintptr_t)p == first;
        OK(clEnqueueSVMMap(clt_queue, CL_TRUE, CL_MAP_READ, p, 65536, 0, NULL, NULL));
        for (unsigned k = 0; k < 65536; k++) {
            assert_int_equal(p[k], 0);
        }
        memset(p, 255, 65536);
        OK(clEnqueueSVMUnmap(clt_queue, p, 0, NULL, NULL));
        OK(clEnqueueSVMMemFill(clt_queue, p, &all, 4, 65536, 0, NULL, NULL));
        if (i % 2 == 0) {
            OK(clFinish(clt_queue));
        }
        clSVMFree(clt_context, p);
    }
    assert_true(same > 5); /* Without reused addresses the test would show nothing. */
}

/** An allocation beyond the limit is refused and leaves nothing behind. The same amount can be allocated again after
 * the frees. */
static void test_limits(void **state)
{
    (void)state;
    static void *p[4096];
    unsigned n[2];
    for (unsigned round = 0; round < 2; round++) {
        for (n[round] = 0; n[round] < LENGTH(p); n[round]++) {
            p[n[round]] = clSVMAlloc(clt_context, 0, MIB, 0);
            if (p[n[round]] == NULL) {
                break;
            }
        }
        /* In MiB: the limit is 16 MiB on the device plus the host memory that may back evicted allocations. */
        assert_in_range(n[round], 8, 512);
        assert_null(clSVMAlloc(clt_context, 0, MIB, 0));
        for (unsigned i = 0; i < n[round]; i++) {
            clSVMFree(clt_context, p[i]);
        }
    }
    assert_int_equal(n[0], n[1]);
}

#define THREADS 6u
#define ROUNDS 40u

struct job {
    unsigned index;
    const char *failed;
};

#define WANT(condition) \
    do { \
        if (!(condition)) { \
            job->failed = #condition; \
            goto end; \
        } \
    } while (0)

/** Allocates, maps, copies and frees in a queue of its own. Every second thread has a context of its own. */
static void *work(void *user)
{
    struct job *job = user;
    cl_int error;
    cl_context c = job->index % 2 != 0 ? clCreateContext(NULL, 1, &clt_device, NULL, NULL, &error) : clt_context;
    cl_command_queue q = clCreateCommandQueue(c, clt_device, 0, &error);
    uint32_t seed = job->index + 1;
    cl_uint *p = NULL, *r = NULL;
    for (unsigned i = 0; i < ROUNDS; i++) {
        const size_t n = 1 + clt_random(&seed) % 5000;
        const cl_uint value = clt_random(&seed);
        WANT(q != NULL && (p = clSVMAlloc(c, 0, n * 4, 0)) != NULL && (r = clSVMAlloc(c, 0, n * 4, 0)) != NULL);
        WANT(clEnqueueSVMMap(q, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, p, n * 4, 0, NULL, NULL) == CL_SUCCESS);
        for (size_t k = 0; k < n; k++) {
            p[k] = value + (cl_uint)k;
        }
        WANT(clEnqueueSVMUnmap(q, p, 0, NULL, NULL) == CL_SUCCESS);
        WANT(clEnqueueSVMMemcpy(q, CL_FALSE, r, p, n * 4, 0, NULL, NULL) == CL_SUCCESS);
        clSVMFree(c, &seed);
        WANT(clEnqueueSVMFree(q, 1, (void *[]){p}, NULL, NULL, 0, NULL, NULL) == CL_SUCCESS);
        p = NULL;
        WANT(clEnqueueSVMMap(q, CL_TRUE, CL_MAP_READ, r, n * 4, 0, NULL, NULL) == CL_SUCCESS);
        for (size_t k = 0; k < n; k++) {
            WANT(r[k] == value + (cl_uint)k);
        }
        WANT(clEnqueueSVMUnmap(q, r, 0, NULL, NULL) == CL_SUCCESS);
        clSVMFree(c, r); /* The unmapping may not have run. */
        r = NULL;
    }
end:
    clFinish(q);
    clReleaseCommandQueue(q);
    if (c != clt_context) {
        clReleaseContext(c);
    }
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    pthread_t thread[THREADS];
    struct job job[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        job[i] = (struct job){i, NULL};
        assert_int_equal(pthread_create(&thread[i], NULL, work, &job[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        if (job[i].failed != NULL) {
            fail_msg("thread %u: %s", i, job[i].failed);
        }
    }
}

int main(void)
{
    const char *config = getenv("TERN_CONFIG");
    char text[256];
    snprintf(text, sizeof text, "%s,mem=16M", config == NULL ? "default" : config);
    setenv("TERN_CONFIG", text, 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_reuse),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, clt_open, clt_close);
}
