/* SPDX-License-Identifier: Apache-2.0 */
/** Reads, writes, copies, fills and maps of buffers, whole, in part and in boxes, compared with the same work on the
 * host. */
#include "clt.h"

#include <string.h>

static void pattern(unsigned char *p, size_t n, unsigned seed)
{
    uint32_t s = seed;
    for (size_t i = 0; i < n; i++) {
        p[i] = (unsigned char)(clt_random(&s) >> 13);
    }
}

static void test_partial_transfers(void **state)
{
    (void)state;
    unsigned char host[5000], part[777], back[5000];
    pattern(host, sizeof host, 1);
    pattern(part, sizeof part, 2);
    cl_mem m = clt_buffer(sizeof host, host);
    OK(clEnqueueWriteBuffer(clt_queue, m, CL_FALSE, 1235, sizeof part, part, 0, NULL, NULL));
    memcpy(host + 1235, part, sizeof part);
    OK(clEnqueueReadBuffer(clt_queue, m, CL_TRUE, 3, sizeof back - 3, back, 0, NULL, NULL));
    assert_memory_equal(back, host + 3, sizeof host - 3);
    OK(clReleaseMemObject(m));
}

/** A buffer that was never written reads as zero (A7). */
static void test_fresh_memory(void **state)
{
    (void)state;
    unsigned char back[4096 + 100];
    memset(back, 1, sizeof back);
    cl_mem m = clt_buffer(sizeof back, NULL);
    clt_read(m, back, sizeof back);
    for (size_t i = 0; i < sizeof back; i++) {
        assert_int_equal(back[i], 0);
    }
    OK(clReleaseMemObject(m));
}

static void test_copy(void **state)
{
    (void)state;
    unsigned char a[3000], b[3000], back[3000];
    pattern(a, sizeof a, 3);
    pattern(b, sizeof b, 4);
    cl_mem ma = clt_buffer(sizeof a, a), mb = clt_buffer(sizeof b, b);
    OK(clEnqueueCopyBuffer(clt_queue, ma, mb, 17, 1001, 1500, 0, NULL, NULL));
    OK(clEnqueueCopyBuffer(clt_queue, mb, mb, 0, 2600, 399, 0, NULL, NULL));
    OK(clEnqueueCopyBuffer(clt_queue, ma, mb, 0, 0, 0, 0, NULL, NULL));
    memcpy(b + 1001, a + 17, 1500);
    memcpy(b + 2600, b, 399);
    clt_read(mb, back, sizeof back);
    assert_memory_equal(back, b, sizeof b);
    FAILS(clEnqueueCopyBuffer(clt_queue, mb, mb, 0, 99, 100, 0, NULL, NULL), CL_MEM_COPY_OVERLAP);
    FAILS(clEnqueueCopyBuffer(clt_queue, mb, mb, 99, 0, 100, 0, NULL, NULL), CL_MEM_COPY_OVERLAP);
    OK(clEnqueueCopyBuffer(clt_queue, mb, mb, 100, 0, 100, 0, NULL, NULL));
    OK(clFinish(clt_queue));
    OK(clReleaseMemObject(ma));
    OK(clReleaseMemObject(mb));
}

/** Atomic operations see what the host wrote to the same line since the last atomic operation. */
static void test_write_between_atomics(void **state)
{
    (void)state;
    cl_kernel k = clt_kernel("kernel void f(global uint *p) { atomic_add(p, 1u); }", "f");
    cl_mem m = clt_buffer(sizeof(cl_uint), NULL);
    clt_args(k, 1, ARG(m));
    for (cl_uint i = 0; i < 4; i++) {
        cl_uint value = 1000 * i;
        OK(clEnqueueWriteBuffer(clt_queue, m, CL_TRUE, 0, sizeof value, &value, 0, NULL, NULL));
        clt_run(k, 64, 0);
        clt_read(m, &value, sizeof value);
        assert_int_equal(value, 1000 * i + 64);
    }
    OK(clReleaseMemObject(m));
    OK(clReleaseKernel(k));
}

/** Fills with every pattern size, at an offset that is no multiple of a line if the pattern size allows. */
static void test_fill(void **state)
{
    (void)state;
    for (size_t size = 1; size <= 128; size *= 2) {
        unsigned char p[128], want[2048], back[2048];
        pattern(want, sizeof want, 5);
        pattern(p, size, (unsigned)size + 1);
        cl_mem m = clt_buffer(sizeof want, want);
        const size_t offset = 3 * size, length = 1024 - 1024 % size - size;
        OK(clEnqueueFillBuffer(clt_queue, m, p, size, offset, length, 0, NULL, NULL));
        memset(p + size, 0, sizeof p - size);
        for (size_t i = 0; i < length; i++) {
            want[offset + i] = p[i % size];
        }
        clt_read(m, back, sizeof back);
        assert_memory_equal(back, want, sizeof want);
        OK(clReleaseMemObject(m));
    }
}

/** Does on the host what a ...Rect command does. */
static void box(unsigned char *dst, const size_t to[3], size_t to_row, size_t to_slice, const unsigned char *src,
                const size_t from[3], size_t from_row, size_t from_slice, const size_t region[3])
{
    for (size_t z = 0; z < region[2]; z++) {
        for (size_t y = 0; y < region[1]; y++) {
            memcpy(dst + (to[2] + z) * to_slice + (to[1] + y) * to_row + to[0],
                   src + (from[2] + z) * from_slice + (from[1] + y) * from_row + from[0], region[0]);
        }
    }
}

static void test_rect(void **state)
{
    (void)state;
    enum { N = 8192 };
    static unsigned char host[N], device[N], other[N], back[N];
    const size_t at[3] = {5, 2, 1}, from[3] = {3, 1, 2}, region[3] = {37, 6, 3};
    pattern(host, N, 6);
    pattern(device, N, 7);
    pattern(other, N, 8);
    cl_mem m = clt_buffer(N, device), o = clt_buffer(N, other);
    OK(clEnqueueWriteBufferRect(clt_queue, m, CL_TRUE, at, from, region, 64, 640, 50, 550, host, 0, NULL, NULL));
    box(device, at, 64, 640, host, from, 50, 550, region);
    clt_read(m, back, N);
    assert_memory_equal(back, device, N);
    OK(clEnqueueCopyBufferRect(clt_queue, m, o, at, from, region, 64, 640, 50, 550, 0, NULL, NULL));
    box(other, from, 50, 550, device, at, 64, 640, region);
    clt_read(o, back, N);
    assert_memory_equal(back, other, N);
    memset(back, 0, N);
    memset(host, 0, N);
    OK(clEnqueueReadBufferRect(clt_queue, o, CL_TRUE, from, at, region, 50, 550, 0, 0, back, 0, NULL, NULL));
    box(host, at, 37, 37 * 6, other, from, 50, 550, region);
    assert_memory_equal(back, host, N);
    OK(clReleaseMemObject(m));
    OK(clReleaseMemObject(o));
}

/** Two boxes of one buffer that interleave without sharing a byte, and two that share one. */
static void test_rect_overlap(void **state)
{
    (void)state;
    static unsigned char a[4096], back[4096];
    pattern(a, sizeof a, 9);
    cl_mem m = clt_buffer(sizeof a, a);
    const size_t left[3] = {0, 0, 0}, right[3] = {32, 0, 0}, below[3] = {31, 7, 0}, region[3] = {32, 8, 1};
    OK(clEnqueueCopyBufferRect(clt_queue, m, m, left, right, region, 64, 0, 64, 0, 0, NULL, NULL));
    box(a, right, 64, 0, a, left, 64, 0, region);
    clt_read(m, back, sizeof back);
    assert_memory_equal(back, a, sizeof a);
    FAILS(clEnqueueCopyBufferRect(clt_queue, m, m, left, below, region, 64, 0, 64, 0, 0, NULL, NULL),
          CL_MEM_COPY_OVERLAP);
    const size_t next[3] = {31, 8, 0};
    OK(clEnqueueCopyBufferRect(clt_queue, m, m, left, next, region, 64, 0, 64, 0, 0, NULL, NULL));
    FAILS(clEnqueueCopyBufferRect(clt_queue, m, m, left, right, region, 64, 0, 128, 0, 0, NULL, NULL),
          CL_INVALID_VALUE);
    OK(clFinish(clt_queue));
    OK(clReleaseMemObject(m));
}

static void test_sub_buffers(void **state)
{
    (void)state;
    cl_int a[256], want[256];
    for (int i = 0; i < 256; i++) {
        a[i] = want[i] = i;
    }
    cl_mem m = clt_buffer(sizeof a, a);
    const cl_buffer_region low = {128, 256}, high = {512, 128};
    cl_mem s = clCreateSubBuffer(m, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &low, &clt_error);
    MADE(s);
    cl_mem t = clCreateSubBuffer(m, 0, CL_BUFFER_CREATE_TYPE_REGION, &high, &clt_error);
    MADE(t);
    cl_kernel k = clt_kernel("kernel void f(global int *a, global int *b) { int i = get_global_id(0); a[i] = "
                             "-a[i]; b[i] = 7; }", "f");
    clt_args(k, 2, ARG(s), ARG(t));
    clt_run(k, 32, 0);
    for (int i = 0; i < 32; i++) {
        want[32 + i] = -(32 + i);
        want[128 + i] = 7;
    }
    const cl_int v = 99;
    OK(clEnqueueWriteBuffer(clt_queue, s, CL_TRUE, 63 * 4, 4, &v, 0, NULL, NULL));
    want[32 + 63] = 99;
    clt_read(m, a, sizeof a);
    assert_memory_equal(a, want, sizeof a);
    cl_mem parent = NULL;
    size_t offset = 0;
    OK(clGetMemObjectInfo(t, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof(cl_mem), &parent, NULL));
    OK(clGetMemObjectInfo(t, CL_MEM_OFFSET, sizeof offset, &offset, NULL));
    assert_ptr_equal(parent, m);
    assert_int_equal(offset, 512);
    FAILS(clEnqueueCopyBuffer(clt_queue, m, s, 200, 0, 100, 0, NULL, NULL), CL_MEM_COPY_OVERLAP);
    OK(clReleaseMemObject(m)); /* The sub-buffers keep the parent alive. */
    cl_int x = 0;
    OK(clEnqueueReadBuffer(clt_queue, t, CL_TRUE, 0, 4, &x, 0, NULL, NULL));
    assert_int_equal(x, 7);
    OK(clReleaseMemObject(s));
    OK(clReleaseMemObject(t));
    OK(clReleaseKernel(k));
}

static cl_uint maps_of(cl_mem m)
{
    cl_uint n = 99;
    OK(clGetMemObjectInfo(m, CL_MEM_MAP_COUNT, sizeof n, &n, NULL));
    return n;
}

static void test_map(void **state)
{
    (void)state;
    cl_int a[300], back[300];
    for (int i = 0; i < 300; i++) {
        a[i] = i;
    }
    cl_mem m = clt_buffer(sizeof a, a);
    cl_int *r = clEnqueueMapBuffer(clt_queue, m, CL_TRUE, CL_MAP_READ, 40, 400, 0, NULL, NULL, &clt_error);
    MADE(r);
    assert_memory_equal(r, a + 10, 400);
    cl_int *w = clEnqueueMapBuffer(clt_queue, m, CL_TRUE, CL_MAP_WRITE, 800, 100, 0, NULL, NULL, &clt_error);
    MADE(w);
    assert_int_equal(maps_of(m), 2);
    w[3] = -1; /* Bytes that are not written keep their values. */
    OK(clEnqueueUnmapMemObject(clt_queue, m, w, 0, NULL, NULL));
    OK(clEnqueueUnmapMemObject(clt_queue, m, r, 0, NULL, NULL));
    FAILS(clEnqueueUnmapMemObject(clt_queue, m, r, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(maps_of(m), 0);
    cl_int *v = clEnqueueMapBuffer(clt_queue, m, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, 0, 80, 0, NULL, NULL,
                                   &clt_error);
    MADE(v);
    memset(v, 5, 80);
    OK(clEnqueueUnmapMemObject(clt_queue, m, v, 0, NULL, NULL));
    a[203] = -1;
    memset(a, 5, 80);
    clt_read(m, back, sizeof back);
    assert_memory_equal(back, a, sizeof a);
    OK(clReleaseMemObject(m));
}

/** CL_MEM_USE_HOST_PTR: maps return the application's own memory, before and after a kernel. */
static void test_use_host_ptr(void **state)
{
    (void)state;
    static cl_int a[64];
    for (int i = 0; i < 64; i++) {
        a[i] = i;
    }
    cl_mem m = clCreateBuffer(clt_context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, sizeof a, a, &clt_error);
    MADE(m);
    cl_kernel k = clt_kernel("kernel void f(global int *a) { a[get_global_id(0)] *= 3; }", "f");
    clt_args(k, 1, ARG(m));
    clt_run(k, 64, 0);
    cl_int *p = clEnqueueMapBuffer(clt_queue, m, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 16, 64, 0, NULL, NULL,
                                   &clt_error);
    assert_ptr_equal(p, a + 4);
    for (int i = 4; i < 20; i++) {
        assert_int_equal(a[i], 3 * i);
        a[i] = 1000 + i;
    }
    OK(clEnqueueUnmapMemObject(clt_queue, m, p, 0, NULL, NULL));
    clt_run(k, 64, 0);
    cl_int back[64];
    clt_read(m, back, sizeof back);
    for (int i = 0; i < 64; i++) {
        assert_int_equal(back[i], i >= 4 && i < 20 ? 3 * (1000 + i) : 9 * i);
    }
    void *host = NULL;
    OK(clGetMemObjectInfo(m, CL_MEM_HOST_PTR, sizeof host, &host, NULL));
    assert_ptr_equal(host, a);
    OK(clReleaseMemObject(m));
    OK(clReleaseKernel(k));
}

static void test_migrate(void **state)
{
    (void)state;
    int v = 42, back = 0;
    cl_mem m = clt_buffer(sizeof v, &v);
    cl_event e;
    OK(clEnqueueMigrateMemObjects(clt_queue, 1, &m, CL_MIGRATE_MEM_OBJECT_HOST, 0, NULL, NULL));
    OK(clEnqueueMigrateMemObjects(clt_queue, 1, &m, 0, 0, NULL, &e));
    OK(clWaitForEvents(1, &e));
    clt_read(m, &back, sizeof back);
    assert_int_equal(back, 42);
    OK(clReleaseEvent(e));
    OK(clReleaseMemObject(m));
}

static void CL_CALLBACK note(cl_mem m, void *data)
{
    (void)m;
    char **at = data;
    *(*at)++ = 'x';
}

static void CL_CALLBACK note_other(cl_mem m, void *data)
{
    (void)m;
    char **at = data;
    *(*at)++ = 'y';
}

static void test_destructor_callbacks(void **state)
{
    (void)state;
    char order[4] = "", *at = order;
    cl_mem m = clt_buffer(16, NULL);
    OK(clSetMemObjectDestructorCallback(m, note, &at));
    OK(clSetMemObjectDestructorCallback(m, note_other, &at));
    OK(clRetainMemObject(m));
    OK(clReleaseMemObject(m));
    assert_string_equal(order, "");
    OK(clReleaseMemObject(m));
    assert_string_equal(order, "yx"); /* Callbacks run in the reverse order of registration. */
}

/** In an out-of-order queue, an unmapping may run before its mapping. The runtime keeps what both need. */
static void test_unmapped_too_early(void **state)
{
    (void)state;
    cl_mem m = clt_buffer(1 << 20, NULL);
    cl_command_queue q = clCreateCommandQueue(clt_context, clt_device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE,
                                              &clt_error);
    MADE(q);
    for (unsigned i = 0; i < 8; i++) {
        cl_event gate = clCreateUserEvent(clt_context, &clt_error), mapped, unmapped;
        void *p = clEnqueueMapBuffer(q, m, CL_FALSE, CL_MAP_READ | CL_MAP_WRITE, 0, 1 << 20, 1, &gate, &mapped,
                                     &clt_error);
        MADE(p);
        OK(clEnqueueUnmapMemObject(q, m, p, 0, NULL, &unmapped));
        OK(clWaitForEvents(1, &unmapped));
        OK(clSetUserEventStatus(gate, CL_COMPLETE));
        OK(clWaitForEvents(1, &mapped));
        OK(clReleaseEvent(gate));
        OK(clReleaseEvent(mapped));
        OK(clReleaseEvent(unmapped));
    }
    OK(clReleaseCommandQueue(q));
    OK(clReleaseMemObject(m));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unmapped_too_early),
        cmocka_unit_test(test_partial_transfers), cmocka_unit_test(test_fresh_memory),
        cmocka_unit_test(test_copy),              cmocka_unit_test(test_fill),
        cmocka_unit_test(test_write_between_atomics),
        cmocka_unit_test(test_rect),              cmocka_unit_test(test_rect_overlap),
        cmocka_unit_test(test_sub_buffers),       cmocka_unit_test(test_map),
        cmocka_unit_test(test_use_host_ptr),      cmocka_unit_test(test_migrate),
        cmocka_unit_test(test_destructor_callbacks),
    };
    return cmocka_run_group_tests(tests, clt_open, clt_close);
}
