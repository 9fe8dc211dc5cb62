/* SPDX-License-Identifier: Apache-2.0 */
/** Coarse-grained shared virtual memory: every path of data between host and device, by commands and by mappings. */
#include <string.h>

#include "clt.h"

#define N 1024u

static void *alloc(size_t size)
{
    void *p = clSVMAlloc(clt_context, CL_MEM_READ_WRITE, size, 0);
    assert_non_null(p);
    assert_true((uintptr_t)p + size <= 0xffffffffu);
    return p;
}

static void map(cl_map_flags flags, void *p, size_t size)
{
    OK(clEnqueueSVMMap(clt_queue, CL_TRUE, flags, p, size, 0, NULL, NULL));
}

static void unmap(void *p)
{
    OK(clEnqueueSVMUnmap(clt_queue, p, 0, NULL, NULL));
}

/** Fills n ints with first, first + 1 ... */
static void put_ints(cl_int *p, size_t n, cl_int first)
{
    map(CL_MAP_WRITE_INVALIDATE_REGION, p, n * sizeof *p);
    for (size_t i = 0; i < n; i++) {
        p[i] = first + (cl_int)i;
    }
    unmap(p);
}

static const char *add = "kernel void add(global int *to, global const int *from, int k)"
                         "{ size_t i = get_global_id(0); to[i] = from[i] + k; }";

static void test_kernel(void **state)
{
    (void)state;
    cl_kernel k = clt_kernel(add, "add");
    cl_int *a = alloc(N * sizeof *a), *b = alloc(N * sizeof *b);
    const cl_int five = 5;
    put_ints(a, N, 100);
    OK(clSetKernelArgSVMPointer(k, 0, b));
    OK(clSetKernelArgSVMPointer(k, 1, a + 512)); /* The argument points into the allocation. */
    OK(clSetKernelArg(k, 2, sizeof five, &five));
    clt_run(k, 512, 0);
    map(CL_MAP_READ, b, N * sizeof *b);
    for (cl_int i = 0; i < (cl_int)N; i++) {
        assert_int_equal(b[i], i < 512 ? 100 + 512 + i + 5 : 0); /* Fresh memory is zero. */
    }
    unmap(b);
    cl_mem m = clt_buffer(N * sizeof *a, NULL); /* A buffer replaces a pointer as the argument, and the reverse. */
    OK(clSetKernelArg(k, 0, sizeof m, &m));
    clt_run(k, 512, 0);
    cl_int got[512];
    clt_read(m, got, sizeof got);
    assert_int_equal(got[511], 100 + 1023 + 5);
    OK(clSetKernelArgSVMPointer(k, 0, b + 512));
    clt_run(k, 512, 0);
    map(CL_MAP_READ, b + 1000, 4);
    assert_int_equal(b[1000], 100 + 1000 + 5);
    unmap(b + 1000);
    OK(clReleaseMemObject(m));
    OK(clFinish(clt_queue));
    clSVMFree(clt_context, a);
    clSVMFree(clt_context, b);
    OK(clReleaseKernel(k));
}

static void test_null(void **state)
{
    (void)state;
    cl_kernel k = clt_kernel("kernel void f(global int *p, global int *r) { *r = p == 0 ? 7 : 8; }", "f");
    cl_int *r = alloc(sizeof *r);
    OK(clSetKernelArgSVMPointer(k, 0, NULL));
    OK(clSetKernelArgSVMPointer(k, 1, r));
    clt_run(k, 1, 0);
    map(CL_MAP_READ, r, sizeof *r);
    assert_int_equal(*r, 7);
    unmap(r);
    OK(clFinish(clt_queue));
    clSVMFree(clt_context, r);
    OK(clReleaseKernel(k));
}

/** Each kind of mapping copies its range alone: reads when it begins, writes when it ends. */
static void test_mappings(void **state)
{
    (void)state;
    unsigned char *p = alloc(4096);
    const unsigned char one = 1, two = 2;
    OK(clEnqueueSVMMemFill(clt_queue, p, &one, 1, 4096, 0, NULL, NULL));
    map(CL_MAP_READ, p + 100, 10);
    assert_int_equal(p[100], 1);
    assert_int_equal(p[109], 1);
    p[100] = 9; /* A mapping for reading is not written back. */
    unmap(p + 100);
    /* The mapping copies the data to the host, so that unmapping keeps bytes that the host does not write. */
    map(CL_MAP_WRITE, p + 100, 4);
    assert_int_equal(p[100], 1);
    p[101] = 3;
    p[104] = 9; /* This byte is beyond the range. */
    unmap(p + 100);
    OK(clEnqueueSVMMemFill(clt_queue, p + 200, &two, 1, 100, 0, NULL, NULL));
    map(CL_MAP_WRITE_INVALIDATE_REGION, p + 200, 2);
    p[200] = 4;
    p[201] = 5;
    unmap(p + 200);
    map(CL_MAP_READ | CL_MAP_WRITE, p, 4096);
    assert_int_equal(p[100], 1);
    assert_int_equal(p[101], 3);
    assert_int_equal(p[102], 1);
    assert_int_equal(p[104], 1);
    assert_int_equal(p[199], 1);
    assert_int_equal(p[200], 4);
    assert_int_equal(p[201], 5);
    assert_int_equal(p[202], 2);
    p[0] = 6;
    unmap(p);
    /* Several mappings, two of them of one pointer, end one by one. */
    cl_event e;
    OK(clEnqueueSVMMap(clt_queue, CL_FALSE, CL_MAP_READ, p, 4096, 0, NULL, NULL));
    OK(clEnqueueSVMMap(clt_queue, CL_FALSE, CL_MAP_READ, p, 8, 0, NULL, NULL));
    OK(clEnqueueSVMMap(clt_queue, CL_FALSE, CL_MAP_READ, p + 8, 8, 0, NULL, &e));
    OK(clWaitForEvents(1, &e));
    assert_int_equal(p[0], 6);
    unmap(p);
    unmap(p + 8);
    unmap(p);
    FAILS(clEnqueueSVMUnmap(clt_queue, p, 0, NULL, NULL), CL_INVALID_VALUE);
    OK(clReleaseEvent(e));
    OK(clFinish(clt_queue));
    clSVMFree(clt_context, p);
}

/** Copies between host and shared memory in all four directions, with odd offsets and sizes. */
static void test_memcpy(void **state)
{
    (void)state;
    unsigned char host[2][600], *svm[2] = {alloc(600), alloc(600)};
    uint32_t seed = 77;
    for (unsigned way = 0; way < 4; way++) {
        unsigned char *src = (way & 1) != 0 ? svm[0] : host[0], *dst = (way & 2) != 0 ? svm[1] : host[1];
        const size_t from = clt_random(&seed) % 90, to = clt_random(&seed) % 90, size = 1 + clt_random(&seed) % 500;
        const cl_bool blocking = (way & 2) == 0;
        map(CL_MAP_WRITE, svm[0], 600);
        map(CL_MAP_WRITE, svm[1], 600);
        for (unsigned i = 0; i < 600; i++) {
            src[i] = (unsigned char)clt_random(&seed);
            dst[i] = (unsigned char)(i * 7 + way);
        }
        unmap(svm[0]);
        unmap(svm[1]);
        OK(clEnqueueSVMMemcpy(clt_queue, blocking, dst + to, src + from, size, 0, NULL, NULL));
        map(CL_MAP_READ, svm[0], 600);
        map(CL_MAP_READ, svm[1], 600);
        for (unsigned i = 0; i < 600; i++) {
            const unsigned char want = i - to < size ? src[from + i - to] : (unsigned char)(i * 7 + way);
            if (dst[i] != want) {
                fail_msg("way %u, %zu bytes from %zu to %zu: byte %u is %u and not %u", way, size, from, to, i, dst[i],
                         want);
            }
        }
        unmap(svm[0]);
        unmap(svm[1]);
    }
    /* A copy of 0 bytes does not overlap. */
    OK(clEnqueueSVMMemcpy(clt_queue, CL_TRUE, svm[0], svm[0], 0, 0, NULL, NULL));
    OK(clFinish(clt_queue));
    clSVMFree(clt_context, svm[0]);
    clSVMFree(clt_context, svm[1]);
}

static void test_fill(void **state)
{
    (void)state;
    unsigned char pattern[128], *p = alloc(1024);
    uint32_t seed = 5;
    for (unsigned i = 0; i < sizeof pattern; i++) {
        pattern[i] = (unsigned char)clt_random(&seed);
    }
    for (size_t size = 1; size <= 128; size *= 2) {
        const unsigned char zero = 0;
        OK(clEnqueueSVMMemFill(clt_queue, p, &zero, 1, 1024, 0, NULL, NULL));
        OK(clEnqueueSVMMemFill(clt_queue, p + size, pattern, size, 3 * size, 0, NULL, NULL));
        map(CL_MAP_READ, p, 1024);
        for (size_t i = 0; i < 1024; i++) {
            assert_int_equal(p[i], i >= size && i < 4 * size ? pattern[i % size] : 0);
        }
        unmap(p);
    }
    OK(clEnqueueSVMMemFill(clt_queue, p, pattern, 4, 0, 0, NULL, NULL));
    OK(clFinish(clt_queue));
    clSVMFree(clt_context, p);
}

/** A node of a list in two allocations, which has the same layout on the device. */
struct node {
    cl_int value;
    struct node *next;
};

static void test_list(void **state)
{
    (void)state;
    const char *source = "struct node { int value; global struct node *next; };"
                         "kernel void walk(global struct node *n, global int *sum)"
                         "{ *sum = 0; for (; n != 0; n = n->next) { *sum += n->value; n->value = -n->value; } }"
                         "kernel void link(global struct node *n, global struct node *other)"
                         "{ size_t i = get_global_id(0); n[i].value = (int)i; n[i].next = &other[i];"
                         "  other[i].value = 1000; other[i].next = i + 1 < get_global_size(0) ? &n[i + 1] : 0; }";
    cl_program program = clt_build(source, "");
    cl_kernel walk = clCreateKernel(program, "walk", &clt_error), link = clCreateKernel(program, "link", &clt_error);
    struct node *a = alloc(64 * sizeof *a), *b = alloc(64 * sizeof *b);
    cl_int *sum = alloc(sizeof *sum);
    map(CL_MAP_WRITE_INVALIDATE_REGION, a, 64 * sizeof *a);
    map(CL_MAP_WRITE_INVALIDATE_REGION, b, 64 * sizeof *b);
    for (unsigned i = 0; i < 64; i++) {
        a[i] = (struct node){1, &b[i]};
        b[i] = (struct node){100, i < 63 ? &a[i + 1] : NULL};
    }
    unmap(a);
    unmap(b);
    OK(clSetKernelArgSVMPointer(walk, 0, a));
    OK(clSetKernelArgSVMPointer(walk, 1, sum));
    OK(clSetKernelExecInfo(walk, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof(void *), &(void *){&b[3]}));
    clt_run(walk, 1, 0);
    map(CL_MAP_READ, sum, sizeof *sum);
    assert_int_equal(*sum, 64 * 101);
    unmap(sum);
    OK(clSetKernelArgSVMPointer(link, 0, a)); /* The device makes a list that the host walks. */
    OK(clSetKernelArgSVMPointer(link, 1, b));
    clt_run(link, 64, 0);
    map(CL_MAP_READ, a, 64 * sizeof *a);
    map(CL_MAP_READ, b, 64 * sizeof *b);
    cl_int got = 0;
    for (const struct node *n = a; n != NULL; n = n->next) {
        got += n->value;
    }
    assert_int_equal(got, 63 * 64 / 2 + 64 * 1000);
    unmap(a);
    unmap(b);
    /* A clone has the allocations that clSetKernelExecInfo named for the kernel. */
    cl_kernel clone = clCloneKernel(walk, &clt_error);
    MADE(clone);
    clt_run(clone, 1, 0);
    map(CL_MAP_READ, sum, sizeof *sum);
    assert_int_equal(*sum, 63 * 64 / 2 + 64 * 1000);
    unmap(sum);
    OK(clSetKernelExecInfo(walk, CL_KERNEL_EXEC_INFO_SVM_PTRS, 0, NULL));
    /* A command keeps the allocations that clSetKernelExecInfo named. */
    cl_event gate = clCreateUserEvent(clt_context, &clt_error);
    MADE(gate);
    OK(clEnqueueNDRangeKernel(clt_queue, clone, 1, NULL, &(size_t){1}, NULL, 1, &gate, NULL));
    clSVMFree(clt_context, b);
    OK(clSetUserEventStatus(gate, CL_COMPLETE));
    map(CL_MAP_READ, sum, sizeof *sum);
    assert_int_equal(*sum, -(63 * 64 / 2 + 64 * 1000)); /* The walk before negated the values. */
    unmap(sum);
    OK(clReleaseEvent(gate));
    OK(clSetKernelArgSVMPointer(clone, 0, NULL));
    /* A freed allocation among those that clSetKernelExecInfo named is no error if the kernel does not use it. */
    clt_run(clone, 1, 0);
    clSVMFree(clt_context, a);
    FAILS(clEnqueueNDRangeKernel(clt_queue, walk, 1, NULL, &(size_t){1}, NULL, 0, NULL, NULL), CL_INVALID_KERNEL_ARGS);
    clSVMFree(clt_context, sum);
    OK(clReleaseKernel(clone));
    OK(clReleaseKernel(walk));
    OK(clReleaseKernel(link));
    OK(clReleaseProgram(program));
}

/** Buffers and sub-buffers whose storage is shared memory. */
static void test_buffers(void **state)
{
    (void)state;
    cl_kernel k = clt_kernel(add, "add");
    cl_int *p = alloc(N * sizeof *p), got[64];
    const cl_int five = 5, zero = 0;
    const cl_buffer_region second = {128, 256};
    cl_bool shared = CL_FALSE;
    void *host = NULL;
    size_t offset = 0;
    cl_mem parent = (cl_mem)p;
    put_ints(p, N, 0);
    cl_mem m = clCreateBuffer(clt_context, CL_MEM_USE_HOST_PTR, 512 * sizeof *p, p + 32, &clt_error);
    MADE(m);
    cl_mem sub = clCreateSubBuffer(m, 0, CL_BUFFER_CREATE_TYPE_REGION, &second, &clt_error);
    MADE(sub);
    OK(clGetMemObjectInfo(m, CL_MEM_USES_SVM_POINTER, sizeof shared, &shared, NULL));
    assert_int_equal(shared, CL_TRUE);
    OK(clGetMemObjectInfo(m, CL_MEM_HOST_PTR, sizeof host, &host, NULL));
    assert_ptr_equal(host, p + 32);
    OK(clGetMemObjectInfo(m, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof parent, &parent, NULL));
    assert_null(parent);
    OK(clGetMemObjectInfo(sub, CL_MEM_USES_SVM_POINTER, sizeof shared, &shared, NULL));
    assert_int_equal(shared, CL_TRUE);
    OK(clGetMemObjectInfo(sub, CL_MEM_HOST_PTR, sizeof host, &host, NULL));
    assert_ptr_equal(host, p + 64);
    OK(clGetMemObjectInfo(sub, CL_MEM_OFFSET, sizeof offset, &offset, NULL));
    assert_int_equal(offset, 128);
    OK(clGetMemObjectInfo(sub, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof parent, &parent, NULL));
    assert_ptr_equal(parent, m);
    clt_read(sub, got, 4 * 64); /* The host's writes are visible at once. */
    assert_int_equal(got[63], 127);
    OK(clSetKernelArg(k, 0, sizeof sub, &sub)); /* The kernel computes p[64 + i] = p[500 + i] + 5. */
    OK(clSetKernelArgSVMPointer(k, 1, p + 500));
    OK(clSetKernelArg(k, 2, sizeof five, &five));
    clt_run(k, 64, 0);
    cl_int *mapped = clEnqueueMapBuffer(clt_queue, m, CL_TRUE, CL_MAP_READ, 128, 256, 0, NULL, NULL, &clt_error);
    MADE(mapped);
    assert_ptr_equal(mapped, p + 64);
    assert_int_equal(p[64 + 63], 500 + 63 + 5);
    OK(clEnqueueUnmapMemObject(clt_queue, m, mapped, 0, NULL, NULL));
    OK(clEnqueueFillBuffer(clt_queue, sub, &zero, 4, 4, 8, 0, NULL, NULL)); /* This fills p[65] and p[66]. */
    OK(clEnqueueWriteBuffer(clt_queue, m, CL_TRUE, 0, 4, &five, 0, NULL, NULL)); /* This writes p[32]. */
    FAILS(clEnqueueCopyBuffer(clt_queue, m, sub, 130, 0, 8, 0, NULL, NULL), CL_MEM_COPY_OVERLAP);
    OK(clEnqueueCopyBuffer(clt_queue, m, sub, 0, 252, 4, 0, NULL, NULL)); /* This copies p[32] to p[127]. */
    map(CL_MAP_READ, p, N * sizeof *p);
    assert_int_equal(p[31], 31);
    assert_int_equal(p[32], 5);
    assert_int_equal(p[33], 33);
    assert_int_equal(p[64], 505);
    assert_int_equal(p[65], 0);
    assert_int_equal(p[66], 0);
    assert_int_equal(p[67], 508);
    assert_int_equal(p[127], 5);
    unmap(p);
    /* The buffer shares p[32] to p[63] with m. */
    cl_mem other = clCreateBuffer(clt_context, CL_MEM_USE_HOST_PTR, 256, p, &clt_error);
    MADE(other);
    FAILS(clEnqueueCopyBuffer(clt_queue, other, m, 128, 4, 8, 0, NULL, NULL), CL_MEM_COPY_OVERLAP);
    OK(clEnqueueCopyBuffer(clt_queue, other, m, 128, 8, 8, 0, NULL, NULL)); /* This writes p[34] and p[35]. */
    clt_read(m, got, 16);
    assert_int_equal(got[2], 5);
    assert_int_equal(got[3], 33);
    REFUSED(clCreateBuffer(clt_context, CL_MEM_USE_HOST_PTR, N * 4 + 1, p, &clt_error), CL_INVALID_BUFFER_SIZE);
    REFUSED(clCreateBuffer(clt_context, CL_MEM_COPY_HOST_PTR, N * 4, p + 1, &clt_error), CL_INVALID_BUFFER_SIZE);
    OK(clFinish(clt_queue));
    clSVMFree(clt_context, p); /* The buffers keep the allocation alive. */
    clt_read(sub, got, 4);
    assert_int_equal(got[0], 505);
    OK(clReleaseMemObject(other));
    OK(clReleaseMemObject(m));
    OK(clReleaseMemObject(sub));
    OK(clReleaseKernel(k));
}

static cl_command_type type_of(cl_event e)
{
    cl_command_type type = 0;
    cl_ulong t[4];
    OK(clWaitForEvents(1, &e));
    OK(clGetEventInfo(e, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL));
    for (cl_uint i = 0; i < 4; i++) {
        OK(clGetEventProfilingInfo(e, CL_PROFILING_COMMAND_QUEUED + i, sizeof t[i], &t[i], NULL));
        assert_true(i == 0 || t[i - 1] <= t[i]);
    }
    OK(clReleaseEvent(e));
    return type;
}

static void test_events(void **state)
{
    (void)state;
    cl_int *p = alloc(4096), *q = alloc(4096), host[4];
    cl_event e;
    OK(clEnqueueSVMMap(clt_queue, CL_TRUE, CL_MAP_READ, p, 16, 0, NULL, &e));
    assert_int_equal(type_of(e), CL_COMMAND_SVM_MAP);
    OK(clEnqueueSVMUnmap(clt_queue, p, 0, NULL, &e));
    assert_int_equal(type_of(e), CL_COMMAND_SVM_UNMAP);
    OK(clEnqueueSVMMemFill(clt_queue, p, &host[0], 4, 16, 0, NULL, &e));
    assert_int_equal(type_of(e), CL_COMMAND_SVM_MEMFILL);
    OK(clEnqueueSVMMemFill(clt_queue, p, &host[0], 4, 0, 0, NULL, &e));
    assert_int_equal(type_of(e), CL_COMMAND_SVM_MEMFILL);
    void *const from[] = {p, host, p, host}, *const to[] = {q, q, host, host + 2};
    for (unsigned i = 0; i < 4; i++) {
        OK(clEnqueueSVMMemcpy(clt_queue, CL_FALSE, to[i], from[i], i == 3 ? 8 : 16, 0, NULL, &e));
        assert_int_equal(type_of(e), CL_COMMAND_SVM_MEMCPY);
    }
    OK(clEnqueueSVMMemcpy(clt_queue, CL_FALSE, p, q, 0, 0, NULL, &e));
    assert_int_equal(type_of(e), CL_COMMAND_SVM_MEMCPY);
    OK(clEnqueueSVMMigrateMem(clt_queue, 1, (const void *[]){p}, NULL, 0, 0, NULL, &e));
    assert_int_equal(type_of(e), CL_COMMAND_SVM_MIGRATE_MEM);
    OK(clEnqueueSVMFree(clt_queue, 2, (void *[]){p, q}, NULL, NULL, 0, NULL, &e));
    assert_int_equal(type_of(e), CL_COMMAND_SVM_FREE);
    FAILS(clEnqueueSVMMap(clt_queue, CL_TRUE, CL_MAP_READ, p, 16, 0, NULL, NULL), CL_INVALID_VALUE);
}

/** An out-of-order queue and a second queue: events alone order maps, kernels, copies and frees. */
static void test_order(void **state)
{
    (void)state;
    cl_kernel k = clt_kernel(add, "add");
    cl_int *p = alloc(N * sizeof *p), *r = alloc(N * sizeof *r);
    const cl_int one = 1;
    cl_event gate = clCreateUserEvent(clt_context, &clt_error), e[5];
    MADE(gate);
    cl_command_queue q = clCreateCommandQueue(clt_context, clt_device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE,
                                              &clt_error);
    MADE(q);
    OK(clEnqueueSVMMap(q, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, p, N * sizeof *p, 0, NULL, NULL));
    OK(clEnqueueSVMUnmap(q, p, 1, &gate, &e[0])); /* Unmapping includes what the host writes until the gate opens. */
    OK(clSetKernelArgSVMPointer(k, 0, r));
    OK(clSetKernelArgSVMPointer(k, 1, p));
    OK(clSetKernelArg(k, 2, sizeof one, &one));
    OK(clEnqueueNDRangeKernel(clt_queue, k, 1, NULL, &(size_t){N}, NULL, 1, &e[0], &e[1]));
    OK(clEnqueueSVMMemcpy(q, CL_FALSE, p, r, N * sizeof *p, 1, &e[1], &e[2]));
    OK(clEnqueueSVMMap(q, CL_FALSE, CL_MAP_READ, p, N * sizeof *p, 1, &e[2], &e[3]));
    for (cl_int i = 0; i < (cl_int)N; i++) {
        p[i] = 3 * i;
    }
    OK(clSetUserEventStatus(gate, CL_COMPLETE));
    OK(clWaitForEvents(1, &e[3]));
    for (cl_int i = 0; i < (cl_int)N; i++) {
        assert_int_equal(p[i], 3 * i + 1);
    }
    OK(clEnqueueSVMUnmap(q, p, 0, NULL, NULL));
    cl_event never = clCreateUserEvent(clt_context, &clt_error); /* A command that fails frees nothing. */
    OK(clEnqueueSVMFree(q, 1, (void *[]){r}, NULL, NULL, 1, &never, &e[4]));
    OK(clSetUserEventStatus(never, -7));
    FAILS(clWaitForEvents(1, &e[4]), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    OK(clEnqueueSVMMap(q, CL_TRUE, CL_MAP_READ, r, 4, 0, NULL, NULL));
    FAILS(clEnqueueSVMMap(q, CL_TRUE, CL_MAP_READ, p, 4, 1, &never, NULL),
          CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    FAILS(clEnqueueSVMUnmap(q, p, 0, NULL, NULL), CL_INVALID_VALUE); /* The mapping failed. */
    FAILS(clEnqueueSVMMemcpy(q, CL_TRUE, p, r, 4, 1, &never, NULL), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    cl_event late = clCreateUserEvent(clt_context, &clt_error); /* Here an unmapping runs before its mapping. */
    OK(clEnqueueSVMMap(q, CL_FALSE, CL_MAP_READ, p, N * sizeof *p, 1, &late, NULL));
    OK(clEnqueueSVMUnmap(q, p, 0, NULL, NULL));
    OK(clEnqueueSVMMemFill(q, r, &one, sizeof one, 4, 0, NULL, NULL));
    clSVMFree(clt_context, p);
    OK(clSetUserEventStatus(late, CL_COMPLETE));
    OK(clFinish(q));
    OK(clReleaseEvent(late));
    for (unsigned i = 0; i < LENGTH(e); i++) {
        OK(clReleaseEvent(e[i]));
    }
    clSVMFree(clt_context, r);
    OK(clReleaseEvent(never));
    OK(clReleaseEvent(gate));
    OK(clReleaseCommandQueue(q));
    OK(clReleaseKernel(k));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernel),  cmocka_unit_test(test_null), cmocka_unit_test(test_mappings),
        cmocka_unit_test(test_memcpy),  cmocka_unit_test(test_fill), cmocka_unit_test(test_list),
        cmocka_unit_test(test_buffers), cmocka_unit_test(test_events), cmocka_unit_test(test_order),
    };
    return cmocka_run_group_tests(tests, clt_open, clt_close);
}
