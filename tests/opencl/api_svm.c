/* SPDX-License-Identifier: Apache-2.0 */
/** Calls of shared virtual memory: each error of section 5.6 of the specification, and Tern's answer where the
 * specification leaves the behaviour undefined. */
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "clt.h"

#define SIZE 4096u

static char *p; /* SIZE bytes of clt_context. */
static cl_context other_context;
static char *other; /* An allocation of another context. */
static cl_event other_event;

static int open_all(void **state)
{
    clt_open(state);
    other_context = clCreateContext(NULL, 1, &clt_device, NULL, NULL, &clt_error);
    MADE(other_context);
    other_event = clCreateUserEvent(other_context, &clt_error);
    MADE(other_event);
    p = clSVMAlloc(clt_context, CL_MEM_READ_WRITE, SIZE, 0);
    other = clSVMAlloc(other_context, 0, SIZE, 0);
    assert_non_null(p);
    assert_non_null(other);
    return 0;
}

static int close_all(void **state)
{
    clSVMFree(clt_context, p);
    clSVMFree(other_context, other);
    OK(clReleaseEvent(other_event));
    OK(clReleaseContext(other_context));
    return clt_close(state);
}

static void test_device(void **state)
{
    (void)state;
    cl_device_svm_capabilities caps = 0;
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_SVM_CAPABILITIES, sizeof caps, &caps, NULL));
    assert_int_equal(caps, CL_DEVICE_SVM_COARSE_GRAIN_BUFFER);
}

static void test_alloc(void **state)
{
    (void)state;
    const cl_svm_mem_flags good[] = {0, CL_MEM_READ_WRITE, CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY};
    const cl_svm_mem_flags bad[] = {
        CL_MEM_SVM_FINE_GRAIN_BUFFER, CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER, CL_MEM_SVM_ATOMICS,
        CL_MEM_SVM_FINE_GRAIN_BUFFER | CL_MEM_SVM_ATOMICS, CL_MEM_READ_WRITE | CL_MEM_READ_ONLY,
        CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY, CL_MEM_USE_HOST_PTR, CL_MEM_ALLOC_HOST_PTR, CL_MEM_COPY_HOST_PTR,
        CL_MEM_HOST_NO_ACCESS, (cl_svm_mem_flags)1 << 40,
    };
    cl_ulong most = 0;
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof most, &most, NULL));
    for (unsigned i = 0; i < LENGTH(good); i++) {
        void *a = clSVMAlloc(clt_context, good[i], 100, 0);
        assert_non_null(a);
        assert_int_equal((uintptr_t)a % 128, 0);
        clSVMFree(clt_context, a);
    }
    for (unsigned i = 0; i < LENGTH(bad); i++) {
        assert_null(clSVMAlloc(clt_context, bad[i], 100, 0));
    }
    for (cl_uint align = 1; align <= 4096; align *= 2) {
        void *a = clSVMAlloc(clt_context, 0, 1, align);
        assert_non_null(a);
        assert_int_equal((uintptr_t)a % align, 0);
        clSVMFree(clt_context, a);
    }
    assert_null(clSVMAlloc(clt_context, 0, 100, 3));
    assert_null(clSVMAlloc(clt_context, 0, 100, 129));
    assert_null(clSVMAlloc(clt_context, 0, 100, 8192));
    assert_null(clSVMAlloc(clt_context, 0, 100, 0x80000000u));
    assert_null(clSVMAlloc(clt_context, 0, 0, 0));
    assert_null(clSVMAlloc(clt_context, 0, most + 1, 0));
    assert_null(clSVMAlloc(clt_context, 0, SIZE_MAX, 0));
    assert_null(clSVMAlloc(NULL, 0, 100, 0));
    assert_null(clSVMAlloc((cl_context)clt_queue, 0, 100, 0));
}

/** Wrong calls of clSVMFree have no effect: a pointer that is no allocation or lies inside one, a second free, and the
 * wrong context. */
static void test_wrong_frees(void **state)
{
    (void)state;
    char *a = clSVMAlloc(clt_context, 0, SIZE, 0);
    int here = 0;
    clSVMFree(clt_context, NULL);
    clSVMFree(clt_context, &here);
    clSVMFree(clt_context, a + 128);
    clSVMFree(other_context, a);
    clSVMFree(NULL, a);
    OK(clEnqueueSVMMap(clt_queue, CL_TRUE, CL_MAP_WRITE, a, SIZE, 0, NULL, NULL)); /* The allocation still exists. */
    memset(a, 1, SIZE);
    clSVMFree(clt_context, a); /* The allocation is freed while it is mapped. */
    clSVMFree(clt_context, a);
    FAILS(clEnqueueSVMUnmap(clt_queue, a, 0, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clEnqueueSVMMap(clt_queue, CL_TRUE, CL_MAP_READ, a, 1, 0, NULL, NULL), CL_INVALID_VALUE);

    cl_event gate = clCreateUserEvent(clt_context, &clt_error);
    MADE(gate);
    a = clSVMAlloc(clt_context, 0, SIZE, 0);
    OK(clEnqueueSVMMemFill(clt_queue, a, &here, sizeof here, SIZE, 1, &gate, NULL));
    clSVMFree(clt_context, a); /* Only a command still uses the allocation. */
    FAILS(clEnqueueSVMMap(clt_queue, CL_FALSE, CL_MAP_READ, a, 1, 0, NULL, NULL), CL_INVALID_VALUE);
    clSVMFree(clt_context, a);
    OK(clSetUserEventStatus(gate, CL_COMPLETE));
    OK(clFinish(clt_queue));
    OK(clReleaseEvent(gate));
}

static void test_map(void **state)
{
    (void)state;
    char host[16];
    const cl_map_flags bad[] = {8, CL_MAP_READ | 16, CL_MAP_READ | CL_MAP_WRITE_INVALIDATE_REGION,
                                CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION};
    FAILS(clEnqueueSVMMap(NULL, CL_TRUE, CL_MAP_READ, p, 1, 0, NULL, NULL), CL_INVALID_COMMAND_QUEUE);
    FAILS(clEnqueueSVMMap(clt_queue, CL_TRUE, CL_MAP_READ, NULL, 1, 0, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clEnqueueSVMMap(clt_queue, CL_TRUE, CL_MAP_READ, p, 0, 0, NULL, NULL), CL_INVALID_VALUE);
    for (unsigned i = 0; i < LENGTH(bad); i++) {
        FAILS(clEnqueueSVMMap(clt_queue, CL_TRUE, bad[i], p, 1, 0, NULL, NULL), CL_INVALID_VALUE);
    }
    FAILS(clEnqueueSVMMap(clt_queue, CL_TRUE, CL_MAP_READ, p, SIZE + 1, 0, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clEnqueueSVMMap(clt_queue, CL_TRUE, CL_MAP_READ, p + 1, SIZE, 0, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clEnqueueSVMMap(clt_queue, CL_TRUE, CL_MAP_READ, p + 1, SIZE_MAX, 0, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clEnqueueSVMMap(clt_queue, CL_TRUE, CL_MAP_READ, p + SIZE, 1, 0, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clEnqueueSVMMap(clt_queue, CL_TRUE, CL_MAP_READ, p - 1, 1, 0, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clEnqueueSVMMap(clt_queue, CL_TRUE, CL_MAP_READ, host, 1, 0, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clEnqueueSVMMap(clt_queue, CL_TRUE, CL_MAP_READ, other, 1, 0, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clEnqueueSVMMap(clt_queue, CL_TRUE, CL_MAP_READ, p, 1, 1, NULL, NULL), CL_INVALID_EVENT_WAIT_LIST);
    FAILS(clEnqueueSVMMap(clt_queue, CL_TRUE, CL_MAP_READ, p, 1, 0, &other_event, NULL), CL_INVALID_EVENT_WAIT_LIST);
    FAILS(clEnqueueSVMMap(clt_queue, CL_TRUE, CL_MAP_READ, p, 1, 1, &other_event, NULL), CL_INVALID_CONTEXT);
    OK(clEnqueueSVMMap(clt_queue, CL_TRUE, CL_MAP_READ, p + SIZE - 1, 1, 0, NULL, NULL));
    FAILS(clEnqueueSVMUnmap(NULL, p + SIZE - 1, 0, NULL, NULL), CL_INVALID_COMMAND_QUEUE);
    FAILS(clEnqueueSVMUnmap(clt_queue, NULL, 0, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clEnqueueSVMUnmap(clt_queue, p, 0, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clEnqueueSVMUnmap(clt_queue, host, 0, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clEnqueueSVMUnmap(clt_queue, p + SIZE - 1, 1, NULL, NULL), CL_INVALID_EVENT_WAIT_LIST);
    FAILS(clEnqueueSVMUnmap(clt_queue, p + SIZE - 1, 1, &other_event, NULL), CL_INVALID_CONTEXT);
    /* The pointer is still mapped after the refused calls. */
    OK(clEnqueueSVMUnmap(clt_queue, p + SIZE - 1, 0, NULL, NULL));
    FAILS(clEnqueueSVMUnmap(clt_queue, p + SIZE - 1, 0, NULL, NULL), CL_INVALID_VALUE);
    OK(clFinish(clt_queue));
}

static void test_memcpy(void **state)
{
    (void)state;
    char host[64] = {0};
    FAILS(clEnqueueSVMMemcpy(NULL, CL_TRUE, p, host, 1, 0, NULL, NULL), CL_INVALID_COMMAND_QUEUE);
    FAILS(clEnqueueSVMMemcpy(clt_queue, CL_TRUE, NULL, p, 1, 0, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clEnqueueSVMMemcpy(clt_queue, CL_TRUE, p, NULL, 1, 0, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clEnqueueSVMMemcpy(clt_queue, CL_TRUE, p, p, 1, 0, NULL, NULL), CL_MEM_COPY_OVERLAP);
    FAILS(clEnqueueSVMMemcpy(clt_queue, CL_TRUE, p + 15, p, 16, 0, NULL, NULL), CL_MEM_COPY_OVERLAP);
    FAILS(clEnqueueSVMMemcpy(clt_queue, CL_TRUE, p, p + 15, 16, 0, NULL, NULL), CL_MEM_COPY_OVERLAP);
    FAILS(clEnqueueSVMMemcpy(clt_queue, CL_TRUE, host, host + 15, 16, 0, NULL, NULL), CL_MEM_COPY_OVERLAP);
    OK(clEnqueueSVMMemcpy(clt_queue, CL_TRUE, p, p + 16, 16, 0, NULL, NULL));
    OK(clEnqueueSVMMemcpy(clt_queue, CL_TRUE, host + 16, host, 16, 0, NULL, NULL));
    FAILS(clEnqueueSVMMemcpy(clt_queue, CL_TRUE, p + SIZE - 8, host, 9, 0, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clEnqueueSVMMemcpy(clt_queue, CL_TRUE, host, p + SIZE - 8, 9, 0, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clEnqueueSVMMemcpy(clt_queue, CL_TRUE, p, host, SIZE_MAX, 0, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clEnqueueSVMMemcpy(clt_queue, CL_TRUE, p, host, 1, 1, NULL, NULL), CL_INVALID_EVENT_WAIT_LIST);
    FAILS(clEnqueueSVMMemcpy(clt_queue, CL_TRUE, host, host + 8, 1, 1, &other_event, NULL), CL_INVALID_CONTEXT);
    FAILS(clEnqueueSVMMemcpy(clt_queue, CL_TRUE, p, p + 8, 1, 1, &other_event, NULL), CL_INVALID_CONTEXT);
}

static void test_fill(void **state)
{
    (void)state;
    char pattern[256] = {0};
    FAILS(clEnqueueSVMMemFill(NULL, p, pattern, 4, 4, 0, NULL, NULL), CL_INVALID_COMMAND_QUEUE);
    FAILS(clEnqueueSVMMemFill(clt_queue, NULL, pattern, 4, 4, 0, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clEnqueueSVMMemFill(clt_queue, p + 2, pattern, 4, 4, 0, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clEnqueueSVMMemFill(clt_queue, p, NULL, 4, 4, 0, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clEnqueueSVMMemFill(clt_queue, p, pattern, 0, 4, 0, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clEnqueueSVMMemFill(clt_queue, p, pattern, 12, 24, 0, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clEnqueueSVMMemFill(clt_queue, p, pattern, 256, 256, 0, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clEnqueueSVMMemFill(clt_queue, p, pattern, 4, 6, 0, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clEnqueueSVMMemFill(clt_queue, p, pattern, 4, SIZE + 4, 0, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clEnqueueSVMMemFill(clt_queue, p + SIZE, pattern, 4, 4, 0, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clEnqueueSVMMemFill(clt_queue, &pattern[128 - (uintptr_t)pattern % 128], pattern, 4, 4, 0, NULL, NULL),
          CL_INVALID_VALUE);
    FAILS(clEnqueueSVMMemFill(clt_queue, other, pattern, 4, 4, 0, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clEnqueueSVMMemFill(clt_queue, p, pattern, 4, 4, 1, NULL, NULL), CL_INVALID_EVENT_WAIT_LIST);
    FAILS(clEnqueueSVMMemFill(clt_queue, p, pattern, 4, 4, 1, &other_event, NULL), CL_INVALID_CONTEXT);
}

static void test_migrate(void **state)
{
    (void)state;
    const void *const two[] = {p, p + 100};
    const void **all = (const void **)(uintptr_t)two;
    const void *bad = &bad;
    size_t sizes[] = {SIZE, SIZE - 100};
    FAILS(clEnqueueSVMMigrateMem(NULL, 2, all, sizes, 0, 0, NULL, NULL), CL_INVALID_COMMAND_QUEUE);
    FAILS(clEnqueueSVMMigrateMem(clt_queue, 0, all, sizes, 0, 0, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clEnqueueSVMMigrateMem(clt_queue, 2, NULL, sizes, 0, 0, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clEnqueueSVMMigrateMem(clt_queue, 2, all, sizes, 4, 0, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clEnqueueSVMMigrateMem(clt_queue, 1, &bad, NULL, 0, 0, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clEnqueueSVMMigrateMem(clt_queue, 2, all, sizes, 0, 1, &other_event, NULL), CL_INVALID_CONTEXT);
    OK(clEnqueueSVMMigrateMem(clt_queue, 2, all, sizes, 0, 0, NULL, NULL));
    OK(clEnqueueSVMMigrateMem(clt_queue, 2, all, NULL, CL_MIGRATE_MEM_OBJECT_HOST, 0, NULL, NULL));
    OK(clEnqueueSVMMigrateMem(clt_queue, 2, all, (size_t[]){0, 0}, CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED, 0, NULL,
                              NULL));
    sizes[1]++;
    FAILS(clEnqueueSVMMigrateMem(clt_queue, 2, all, sizes, 0, 0, NULL, NULL), CL_INVALID_VALUE);
    OK(clFinish(clt_queue));
}

struct freed {
    atomic_uint n;
    cl_command_queue queue;
    void *pointers[3];
    cl_int finish, blocking;
};

static void CL_CALLBACK free_them(cl_command_queue queue, cl_uint n, void *pointers[], void *data)
{
    struct freed *f = data;
    cl_context context = NULL;
    f->queue = queue;
    f->finish = clFinish(queue);
    f->blocking = clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, pointers[0], 1, 0, NULL, NULL);
    clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
    for (cl_uint i = 0; i < n && i < 3; i++) {
        f->pointers[i] = pointers[i];
        clSVMFree(context, pointers[i]);
    }
    f->n = n;
}

static void test_enqueue_free(void **state)
{
    (void)state;
    char host[4];
    void *a[3], *copy[3];
    struct freed f = {.n = 99};
    cl_event e;
    for (unsigned i = 0; i < 3; i++) {
        a[i] = clSVMAlloc(clt_context, 0, 64, 0);
        assert_non_null(a[i]);
    }
    FAILS(clEnqueueSVMFree(NULL, 3, a, NULL, NULL, 0, NULL, NULL), CL_INVALID_COMMAND_QUEUE);
    FAILS(clEnqueueSVMFree(clt_queue, 0, a, NULL, NULL, 0, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clEnqueueSVMFree(clt_queue, 3, NULL, NULL, NULL, 0, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clEnqueueSVMFree(clt_queue, 1, (void *[]){host}, NULL, NULL, 0, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clEnqueueSVMFree(clt_queue, 2, (void *[]){a[0], (char *)a[1] + 1}, NULL, NULL, 0, NULL, NULL),
          CL_INVALID_VALUE);
    FAILS(clEnqueueSVMFree(clt_queue, 1, (void *[]){other}, NULL, NULL, 0, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clEnqueueSVMFree(clt_queue, 3, a, NULL, NULL, 1, NULL, NULL), CL_INVALID_EVENT_WAIT_LIST);
    FAILS(clEnqueueSVMFree(clt_queue, 3, a, NULL, NULL, 1, &other_event, NULL), CL_INVALID_CONTEXT);
    OK(clEnqueueSVMFree(clt_queue, 0, NULL, NULL, NULL, 0, NULL, NULL));
    memcpy(copy, a, sizeof a);
    OK(clEnqueueSVMFree(clt_queue, 3, copy, free_them, &f, 0, NULL, &e));
    memset(copy, 0, sizeof copy); /* The caller owns the list again after the call. */
    OK(clWaitForEvents(1, &e));
    assert_int_equal(f.n, 3);
    assert_ptr_equal(f.queue, clt_queue);
    assert_memory_equal(f.pointers, a, sizeof a);
    assert_int_equal(f.finish, CL_INVALID_OPERATION); /* Blocking calls are refused in a callback. */
    assert_int_equal(f.blocking, CL_INVALID_OPERATION);
    FAILS(clEnqueueSVMMap(clt_queue, CL_TRUE, CL_MAP_READ, a[2], 1, 0, NULL, NULL), CL_INVALID_VALUE);
    OK(clReleaseEvent(e));
    /* An allocation that is twice in one list, and is freed before the command runs, is freed once. */
    a[0] = clSVMAlloc(clt_context, 0, 64, 0);
    cl_event gate = clCreateUserEvent(clt_context, &clt_error);
    OK(clEnqueueSVMFree(clt_queue, 3, (void *[]){a[0], NULL, a[0]}, NULL, NULL, 1, &gate, NULL));
    clSVMFree(clt_context, a[0]);
    OK(clSetUserEventStatus(gate, CL_COMPLETE));
    OK(clFinish(clt_queue));
    OK(clReleaseEvent(gate));
}

static void test_kernels(void **state)
{
    (void)state;
    const cl_bool yes = CL_TRUE, no = CL_FALSE;
    void *list[2] = {p, other};
    char host[4];
    cl_kernel k = clt_kernel("kernel void f(global int *a, constant int *b, local int *c, int d)"
                             "{ *a = *b + d; *c = 0; }", "f");
    FAILS(clSetKernelArgSVMPointer(NULL, 0, p), CL_INVALID_KERNEL);
    FAILS(clSetKernelArgSVMPointer(k, 4, p), CL_INVALID_ARG_INDEX);
    FAILS(clSetKernelArgSVMPointer(k, 2, p), CL_INVALID_ARG_VALUE);
    FAILS(clSetKernelArgSVMPointer(k, 3, p), CL_INVALID_ARG_VALUE);
    FAILS(clSetKernelArgSVMPointer(k, 0, host), CL_INVALID_ARG_VALUE);
    FAILS(clSetKernelArgSVMPointer(k, 0, p + SIZE), CL_INVALID_ARG_VALUE);
    FAILS(clSetKernelArgSVMPointer(k, 0, other), CL_INVALID_ARG_VALUE);
    OK(clSetKernelArg(k, 2, 4, NULL));
    OK(clSetKernelArg(k, 3, 4, &(cl_int){1}));
    OK(clSetKernelArgSVMPointer(k, 1, p));
    FAILS(clEnqueueNDRangeKernel(clt_queue, k, 1, NULL, &(size_t){1}, NULL, 0, NULL, NULL), CL_INVALID_KERNEL_ARGS);
    OK(clSetKernelArgSVMPointer(k, 0, p + 8));
    /* The refused call leaves the argument as it was. */
    FAILS(clSetKernelArgSVMPointer(k, 0, other), CL_INVALID_ARG_VALUE);
    clt_run(k, 1, 0);
    FAILS(clSetKernelExecInfo(NULL, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof p, list), CL_INVALID_KERNEL);
    FAILS(clSetKernelExecInfo(k, 0, sizeof p, list), CL_INVALID_VALUE);
    FAILS(clSetKernelExecInfo(k, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof p, NULL), CL_INVALID_VALUE);
    FAILS(clSetKernelExecInfo(k, CL_KERNEL_EXEC_INFO_SVM_PTRS, 0, list), CL_INVALID_VALUE);
    FAILS(clSetKernelExecInfo(k, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof p - 1, list), CL_INVALID_VALUE);
    FAILS(clSetKernelExecInfo(k, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof list, list), CL_INVALID_VALUE);
    OK(clSetKernelExecInfo(k, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof p, list));
    OK(clSetKernelExecInfo(k, CL_KERNEL_EXEC_INFO_SVM_PTRS, 0, NULL));
    FAILS(clSetKernelExecInfo(k, CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM, sizeof yes, &yes), CL_INVALID_OPERATION);
    OK(clSetKernelExecInfo(k, CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM, sizeof no, &no));
    FAILS(clSetKernelExecInfo(k, CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM, 1, &no), CL_INVALID_VALUE);
    FAILS(clSetKernelExecInfo(k, CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM, sizeof no, NULL), CL_INVALID_VALUE);
    OK(clReleaseKernel(k));
}

static void CL_CALLBACK note(cl_context c, void *data)
{
    (void)c;
    *(atomic_bool *)data = true;
}

/** A context exists as long as its allocations, which can be freed after the context's last release. */
static void test_context(void **state)
{
    (void)state;
    atomic_bool gone = false;
    cl_context c = clCreateContext(NULL, 1, &clt_device, NULL, NULL, &clt_error);
    MADE(c);
    OK(clSetContextDestructorCallback(c, note, &gone));
    char *a = clSVMAlloc(c, 0, SIZE, 0);
    assert_non_null(a);
    OK(clReleaseContext(c));
    a[0] = 1;
    assert_false(gone);
    clSVMFree(c, a);
    assert_true(gone);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_device), cmocka_unit_test(test_alloc),  cmocka_unit_test(test_wrong_frees),
        cmocka_unit_test(test_map),    cmocka_unit_test(test_memcpy), cmocka_unit_test(test_fill),
        cmocka_unit_test(test_migrate), cmocka_unit_test(test_enqueue_free), cmocka_unit_test(test_kernels),
        cmocka_unit_test(test_context),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
