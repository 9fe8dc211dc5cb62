/* SPDX-License-Identifier: Apache-2.0 */
/** Buffer calls with wrong arguments. Each is refused with its own error and changes nothing. */
#include "clt.h"

static char host[4096];

static void test_create(void **state)
{
    (void)state;
    REFUSED(clCreateBuffer(clt_context, 0, 0, NULL, &clt_error), CL_INVALID_BUFFER_SIZE);
    REFUSED(clCreateBuffer(clt_context, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, 16, NULL, &clt_error), CL_INVALID_VALUE);
    REFUSED(clCreateBuffer(clt_context, CL_MEM_HOST_NO_ACCESS | CL_MEM_HOST_READ_ONLY, 16, NULL, &clt_error),
            CL_INVALID_VALUE);
    REFUSED(clCreateBuffer(clt_context, CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR, 16, host, &clt_error),
            CL_INVALID_VALUE);
    REFUSED(clCreateBuffer(clt_context, 1u << 30, 16, NULL, &clt_error), CL_INVALID_VALUE);
    REFUSED(clCreateBuffer(clt_context, CL_MEM_COPY_HOST_PTR, 16, NULL, &clt_error), CL_INVALID_HOST_PTR);
    REFUSED(clCreateBuffer(clt_context, CL_MEM_READ_WRITE, 16, host, &clt_error), CL_INVALID_HOST_PTR);
    REFUSED(clCreateBuffer((cl_context)clt_queue, 0, 16, NULL, &clt_error), CL_INVALID_CONTEXT);
    const cl_mem_properties none[] = {0}, unknown[] = {0x7777, 1, 0};
    REFUSED(clCreateBufferWithProperties(clt_context, unknown, 0, 16, NULL, &clt_error), CL_INVALID_PROPERTY);
    cl_mem m = clCreateBufferWithProperties(clt_context, none, CL_MEM_READ_ONLY, 16, NULL, &clt_error);
    MADE(m);
    cl_mem_flags flags = 0;
    size_t size = 0;
    cl_mem_properties back[2];
    OK(clGetMemObjectInfo(m, CL_MEM_FLAGS, sizeof flags, &flags, NULL));
    OK(clGetMemObjectInfo(m, CL_MEM_PROPERTIES, sizeof back, back, &size));
    assert_int_equal(flags, CL_MEM_READ_ONLY);
    assert_int_equal(size, sizeof none);
    OK(clGetMemObjectInfo(m, CL_MEM_SIZE, sizeof size, &size, NULL));
    assert_int_equal(size, 16);
    FAILS(clGetMemObjectInfo(m, 0, sizeof size, &size, NULL), CL_INVALID_VALUE);
    FAILS(clSetMemObjectDestructorCallback(m, NULL, NULL), CL_INVALID_VALUE);
    OK(clReleaseMemObject(m));
}

static cl_mem sub(cl_mem m, cl_mem_flags flags, size_t origin, size_t size)
{
    const cl_buffer_region r = {origin, size};
    return clCreateSubBuffer(m, flags, CL_BUFFER_CREATE_TYPE_REGION, &r, &clt_error);
}

static void test_sub_buffer(void **state)
{
    (void)state;
    cl_mem m = clCreateBuffer(clt_context, CL_MEM_READ_ONLY | CL_MEM_HOST_READ_ONLY, 1024, NULL, &clt_error);
    MADE(m);
    REFUSED(sub(m, 0, 64, 64), CL_MISALIGNED_SUB_BUFFER_OFFSET);
    REFUSED(sub(m, 0, 128, 0), CL_INVALID_BUFFER_SIZE);
    REFUSED(sub(m, 0, 1024, 1), CL_INVALID_VALUE);
    REFUSED(sub(m, 0, 128, 1000), CL_INVALID_VALUE);
    REFUSED(sub(m, CL_MEM_READ_WRITE, 0, 64), CL_INVALID_VALUE);
    REFUSED(sub(m, CL_MEM_HOST_WRITE_ONLY, 0, 64), CL_INVALID_VALUE);
    REFUSED(sub(m, CL_MEM_COPY_HOST_PTR, 0, 64), CL_INVALID_VALUE);
    REFUSED(clCreateSubBuffer(m, 0, 0x7777, host, &clt_error), CL_INVALID_VALUE);
    REFUSED(clCreateSubBuffer(m, 0, CL_BUFFER_CREATE_TYPE_REGION, NULL, &clt_error), CL_INVALID_VALUE);
    cl_mem s = sub(m, 0, 128, 256);
    MADE(s);
    cl_mem_flags flags = 0;
    OK(clGetMemObjectInfo(s, CL_MEM_FLAGS, sizeof flags, &flags, NULL));
    assert_int_equal(flags, CL_MEM_READ_ONLY | CL_MEM_HOST_READ_ONLY); /* The sub-buffer inherits the flags. */
    REFUSED(sub(s, 0, 0, 64), CL_INVALID_MEM_OBJECT);
    OK(clReleaseMemObject(s));
    OK(clReleaseMemObject(m));
}

static void test_read_write(void **state)
{
    (void)state;
    cl_mem m = clt_buffer(1024, NULL);
    FAILS(clEnqueueReadBuffer(clt_queue, m, CL_TRUE, 1000, 25, host, 0, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clEnqueueReadBuffer(clt_queue, m, CL_TRUE, (size_t)-1, 2, host, 0, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clEnqueueReadBuffer(clt_queue, m, CL_TRUE, 0, 4, NULL, 0, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clEnqueueWriteBuffer(clt_queue, m, CL_TRUE, 1025, 0, host, 0, NULL, NULL), CL_INVALID_VALUE);
    OK(clEnqueueReadBuffer(clt_queue, m, CL_TRUE, 1024, 0, host, 0, NULL, NULL));
    FAILS(clEnqueueReadBuffer(clt_queue, m, CL_TRUE, 0, 4, host, 1, NULL, NULL), CL_INVALID_EVENT_WAIT_LIST);
    const cl_event wrong = (cl_event)m;
    FAILS(clEnqueueReadBuffer(clt_queue, m, CL_TRUE, 0, 4, host, 0, &wrong, NULL), CL_INVALID_EVENT_WAIT_LIST);
    FAILS(clEnqueueReadBuffer(clt_queue, m, CL_TRUE, 0, 4, host, 1, &wrong, NULL), CL_INVALID_EVENT_WAIT_LIST);
    FAILS(clEnqueueReadBuffer((cl_command_queue)m, m, CL_TRUE, 0, 4, host, 0, NULL, NULL), CL_INVALID_COMMAND_QUEUE);
    FAILS(clEnqueueReadBuffer(clt_queue, (cl_mem)clt_queue, CL_TRUE, 0, 4, host, 0, NULL, NULL), CL_INVALID_MEM_OBJECT);
    OK(clReleaseMemObject(m));
}

/** CL_MEM_HOST_... flags decide which transfers and maps are allowed. */
static void test_host_access(void **state)
{
    (void)state;
    static const struct {
        cl_mem_flags flag;
        cl_int read, write;
    } cases[] = {
        {CL_MEM_HOST_READ_ONLY, CL_SUCCESS, CL_INVALID_OPERATION},
        {CL_MEM_HOST_WRITE_ONLY, CL_INVALID_OPERATION, CL_SUCCESS},
        {CL_MEM_HOST_NO_ACCESS, CL_INVALID_OPERATION, CL_INVALID_OPERATION},
    };
    const size_t origin[3] = {0, 0, 0}, region[3] = {4, 1, 1};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        cl_mem m = clCreateBuffer(clt_context, cases[i].flag, 64, NULL, &clt_error);
        MADE(m);
        FAILS(clEnqueueReadBuffer(clt_queue, m, CL_TRUE, 0, 4, host, 0, NULL, NULL), cases[i].read);
        FAILS(clEnqueueWriteBuffer(clt_queue, m, CL_TRUE, 0, 4, host, 0, NULL, NULL), cases[i].write);
        FAILS(clEnqueueReadBufferRect(clt_queue, m, CL_TRUE, origin, origin, region, 0, 0, 0, 0, host, 0, NULL, NULL),
              cases[i].read);
        FAILS(clEnqueueWriteBufferRect(clt_queue, m, CL_TRUE, origin, origin, region, 0, 0, 0, 0, host, 0, NULL, NULL),
              cases[i].write);
        for (int w = 0; w < 2; w++) {
            void *p = clEnqueueMapBuffer(clt_queue, m, CL_TRUE, w ? CL_MAP_WRITE : CL_MAP_READ, 0, 4, 0, NULL, NULL,
                                         &clt_error);
            assert_int_equal(clt_error, w ? cases[i].write : cases[i].read);
            if (p != NULL) {
                OK(clEnqueueUnmapMemObject(clt_queue, m, p, 0, NULL, NULL));
            }
        }
        OK(clFinish(clt_queue));
        OK(clReleaseMemObject(m));
    }
}

static void test_rect(void **state)
{
    (void)state;
    cl_mem m = clt_buffer(1024, NULL);
    const size_t zero[3] = {0, 0, 0}, region[3] = {16, 4, 4}, flat[3] = {16, 0, 1}, far[3] = {0, 60, 0};
    FAILS(clEnqueueReadBufferRect(clt_queue, m, CL_TRUE, zero, zero, flat, 0, 0, 0, 0, host, 0, NULL, NULL),
          CL_INVALID_VALUE);
    FAILS(clEnqueueReadBufferRect(clt_queue, m, CL_TRUE, far, zero, region, 0, 0, 0, 0, host, 0, NULL, NULL),
          CL_INVALID_VALUE);
    FAILS(clEnqueueReadBufferRect(clt_queue, m, CL_TRUE, zero, zero, region, 15, 0, 0, 0, host, 0, NULL, NULL),
          CL_INVALID_VALUE);
    FAILS(clEnqueueReadBufferRect(clt_queue, m, CL_TRUE, zero, zero, region, 16, 63, 0, 0, host, 0, NULL, NULL),
          CL_INVALID_VALUE);
    FAILS(clEnqueueReadBufferRect(clt_queue, m, CL_TRUE, zero, zero, region, 16, 72, 0, 0, host, 0, NULL, NULL),
          CL_INVALID_VALUE); /* The slice pitch is no multiple of the row pitch. */
    FAILS(clEnqueueReadBufferRect(clt_queue, m, CL_TRUE, NULL, zero, region, 0, 0, 0, 0, host, 0, NULL, NULL),
          CL_INVALID_VALUE);
    FAILS(clEnqueueReadBufferRect(clt_queue, m, CL_TRUE, zero, zero, region, 0, 0, 0, 0, NULL, 0, NULL, NULL),
          CL_INVALID_VALUE);
    FAILS(clEnqueueCopyBufferRect(clt_queue, m, m, zero, far, region, 0, 0, 0, 0, 0, NULL, NULL), CL_INVALID_VALUE);
    const size_t huge[3] = {1, (size_t)1 << 40, (size_t)1 << 40};
    FAILS(clEnqueueCopyBufferRect(clt_queue, m, m, zero, zero, huge, 0, 0, 0, 0, 0, NULL, NULL), CL_INVALID_VALUE);
    OK(clReleaseMemObject(m));
}

static void test_copy_and_fill(void **state)
{
    (void)state;
    cl_mem m = clt_buffer(1024, NULL), o = clt_buffer(512, NULL);
    FAILS(clEnqueueCopyBuffer(clt_queue, m, o, 0, 0, 513, 0, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clEnqueueCopyBuffer(clt_queue, m, o, 1000, 0, 25, 0, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clEnqueueCopyBuffer(clt_queue, m, NULL, 0, 0, 1, 0, NULL, NULL), CL_INVALID_MEM_OBJECT);
    FAILS(clEnqueueFillBuffer(clt_queue, m, host, 3, 0, 12, 0, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clEnqueueFillBuffer(clt_queue, m, host, 256, 0, 256, 0, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clEnqueueFillBuffer(clt_queue, m, host, 4, 2, 4, 0, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clEnqueueFillBuffer(clt_queue, m, host, 4, 0, 6, 0, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clEnqueueFillBuffer(clt_queue, m, NULL, 4, 0, 4, 0, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clEnqueueFillBuffer(clt_queue, m, host, 4, 1020, 8, 0, NULL, NULL), CL_INVALID_VALUE);
    OK(clEnqueueFillBuffer(clt_queue, m, host, 4, 1024, 0, 0, NULL, NULL));
    FAILS(clEnqueueMigrateMemObjects(clt_queue, 0, NULL, 0, 0, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clEnqueueMigrateMemObjects(clt_queue, 1, &m, 1u << 9, 0, NULL, NULL), CL_INVALID_VALUE);
    OK(clFinish(clt_queue));
    OK(clReleaseMemObject(m));
    OK(clReleaseMemObject(o));
}

static void test_map(void **state)
{
    (void)state;
    cl_mem m = clt_buffer(64, NULL);
    REFUSED(clEnqueueMapBuffer(clt_queue, m, CL_TRUE, CL_MAP_READ, 0, 65, 0, NULL, NULL, &clt_error), CL_INVALID_VALUE);
    REFUSED(clEnqueueMapBuffer(clt_queue, m, CL_TRUE, CL_MAP_READ, 0, 0, 0, NULL, NULL, &clt_error), CL_INVALID_VALUE);
    REFUSED(clEnqueueMapBuffer(clt_queue, m, CL_TRUE, 1u << 9, 0, 4, 0, NULL, NULL, &clt_error), CL_INVALID_VALUE);
    REFUSED(clEnqueueMapBuffer(clt_queue, m, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE_INVALIDATE_REGION, 0, 4, 0, NULL, NULL,
                               &clt_error), CL_INVALID_VALUE);
    FAILS(clEnqueueUnmapMemObject(clt_queue, m, host, 0, NULL, NULL), CL_INVALID_VALUE);
    cl_uint n = 9;
    OK(clGetMemObjectInfo(m, CL_MEM_MAP_COUNT, sizeof n, &n, NULL));
    assert_int_equal(n, 0);
    OK(clReleaseMemObject(m));
}

/** Objects of different contexts cannot be used together. */
static void test_two_contexts(void **state)
{
    (void)state;
    cl_context c = clCreateContext(NULL, 1, &clt_device, NULL, NULL, &clt_error);
    MADE(c);
    cl_mem foreign = clCreateBuffer(c, 0, 64, NULL, &clt_error), own = clt_buffer(64, NULL);
    cl_event e = clCreateUserEvent(c, &clt_error), mine = clCreateUserEvent(clt_context, &clt_error);
    const cl_event both[] = {e, mine};
    FAILS(clEnqueueReadBuffer(clt_queue, foreign, CL_TRUE, 0, 4, host, 0, NULL, NULL), CL_INVALID_CONTEXT);
    FAILS(clEnqueueCopyBuffer(clt_queue, own, foreign, 0, 0, 4, 0, NULL, NULL), CL_INVALID_CONTEXT);
    FAILS(clEnqueueReadBuffer(clt_queue, own, CL_TRUE, 0, 4, host, 1, &e, NULL), CL_INVALID_CONTEXT);
    FAILS(clWaitForEvents(2, both), CL_INVALID_CONTEXT);
    cl_kernel k = clt_kernel("kernel void f(global int *r) { *r = 1; }", "f");
    FAILS(clSetKernelArg(k, 0, ARG(foreign)), CL_INVALID_MEM_OBJECT);
    OK(clReleaseKernel(k));
    OK(clReleaseEvent(e));
    OK(clReleaseEvent(mine));
    OK(clReleaseMemObject(own));
    OK(clReleaseMemObject(foreign));
    OK(clReleaseContext(c));
}

/** An object that only a command still holds counts as released: another release is an error and does not take the
 * command's reference. */
static void test_released_too_often(void **state)
{
    (void)state;
    int v = 5, r[2] = {0};
    const char *source = "kernel void f(global int *r) { r[0] = 7; }";
    const size_t one = 1;
    cl_uint refs = 99;
    cl_mem kept = clt_buffer(sizeof v, NULL), m = clt_buffer(sizeof v, &v);
    cl_program p = clCreateProgramWithSource(clt_context, 1, &source, NULL, &clt_error);
    OK(clBuildProgram(p, 0, NULL, NULL, NULL, NULL));
    cl_kernel k = clCreateKernel(p, "f", &clt_error);
    MADE(k);
    clt_args(k, 1, ARG(kept));
    cl_event user = clCreateUserEvent(clt_context, &clt_error), e;
    MADE(user);
    OK(clEnqueueReadBuffer(clt_queue, m, CL_FALSE, 0, sizeof v, &r[0], 1, &user, &e));
    OK(clEnqueueNDRangeKernel(clt_queue, k, 1, NULL, &one, NULL, 0, NULL, NULL));
    OK(clReleaseEvent(e));
    OK(clReleaseMemObject(m));
    OK(clReleaseKernel(k));
    OK(clReleaseProgram(p));
    for (int i = 0; i < 2; i++) {
        FAILS(clReleaseEvent(e), CL_INVALID_EVENT);
        FAILS(clReleaseMemObject(m), CL_INVALID_MEM_OBJECT);
        FAILS(clReleaseKernel(k), CL_INVALID_KERNEL);
        FAILS(clReleaseProgram(p), CL_INVALID_PROGRAM);
    }
    OK(clGetMemObjectInfo(m, CL_MEM_REFERENCE_COUNT, sizeof refs, &refs, NULL));
    assert_int_equal(refs, 0);
    OK(clSetUserEventStatus(user, CL_COMPLETE));
    OK(clReleaseEvent(user));
    clt_read(kept, &r[1], sizeof v);
    assert_true(r[0] == 5 && r[1] == 7);
    OK(clReleaseMemObject(kept));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_create),      cmocka_unit_test(test_sub_buffer), cmocka_unit_test(test_read_write),
        cmocka_unit_test(test_host_access), cmocka_unit_test(test_rect),       cmocka_unit_test(test_copy_and_fill),
        cmocka_unit_test(test_map),         cmocka_unit_test(test_two_contexts),
        cmocka_unit_test(test_released_too_often),
    };
    return cmocka_run_group_tests(tests, clt_open, clt_close);
}
