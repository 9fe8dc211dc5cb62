/* SPDX-License-Identifier: Apache-2.0 */
/** Program, kernel, NDRange and event calls with wrong arguments. */
#include "clt.h"

static const char text[] = "kernel void f(global int *a, local int *t, int n, float4 v, constant int *c) { a[n] = "
                           "t[0] + c[0]; }";

static void test_programs(void **state)
{
    (void)state;
    const char *none = NULL, *source = text;
    int data = 0;
    REFUSED(clCreateProgramWithSource(clt_context, 0, &source, NULL, &clt_error), CL_INVALID_VALUE);
    REFUSED(clCreateProgramWithSource(clt_context, 1, NULL, NULL, &clt_error), CL_INVALID_VALUE);
    REFUSED(clCreateProgramWithSource(clt_context, 1, &none, NULL, &clt_error), CL_INVALID_VALUE);
    cl_program p = clCreateProgramWithSource(clt_context, 1, &source, NULL, &clt_error);
    MADE(p);
    FAILS(clBuildProgram(p, 1, NULL, NULL, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clBuildProgram(p, 0, &clt_device, NULL, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clBuildProgram(p, 0, NULL, NULL, NULL, &data), CL_INVALID_VALUE);
    const cl_device_id wrong = (cl_device_id)clt_context;
    FAILS(clBuildProgram(p, 1, &wrong, NULL, NULL, NULL), CL_INVALID_DEVICE);
    FAILS(clCompileProgram(p, 0, NULL, NULL, 1, NULL, NULL, NULL, NULL), CL_INVALID_VALUE);
    REFUSED(clLinkProgram(clt_context, 0, NULL, NULL, 0, NULL, NULL, NULL, &clt_error), CL_INVALID_VALUE);
    REFUSED(clLinkProgram(clt_context, 0, NULL, NULL, 1, &p, NULL, NULL, &clt_error), CL_INVALID_OPERATION);
    REFUSED(clCreateKernel(p, "f", &clt_error), CL_INVALID_PROGRAM_EXECUTABLE);
    char back[256];
    size_t size = 9;
    OK(clGetProgramInfo(p, CL_PROGRAM_SOURCE, sizeof back, back, NULL));
    assert_string_equal(back, text);
    OK(clGetProgramInfo(p, CL_PROGRAM_IL, 0, NULL, &size));
    assert_int_equal(size, 0);
    FAILS(clGetProgramInfo(p, 0, sizeof back, back, NULL), CL_INVALID_VALUE);
    FAILS(clGetProgramBuildInfo(p, clt_device, 0, sizeof back, back, NULL), CL_INVALID_VALUE);
    FAILS(clGetProgramBuildInfo(p, wrong, CL_PROGRAM_BUILD_LOG, sizeof back, back, NULL), CL_INVALID_DEVICE);
    OK(clBuildProgram(p, 0, NULL, NULL, NULL, NULL));
    REFUSED(clCreateKernel(p, "g", &clt_error), CL_INVALID_KERNEL_NAME);
    REFUSED(clCreateKernel(p, NULL, &clt_error), CL_INVALID_VALUE);
    OK(clReleaseProgram(p));
    size = 4;
    const unsigned char *bytes = NULL;
    cl_int status = 0;
    REFUSED(clCreateProgramWithBinary(clt_context, 1, &clt_device, &size, &bytes, &status, &clt_error),
            CL_INVALID_VALUE);
    FAILS(status, CL_INVALID_VALUE);
}

static void test_arguments(void **state)
{
    (void)state;
    cl_kernel k = clt_kernel(text, "f");
    cl_mem m = clt_buffer(64, NULL);
    const cl_int n = 0;
    const cl_float4 v = {{0}};
    const size_t one = 1;
    FAILS(clSetKernelArg(k, 5, ARG(n)), CL_INVALID_ARG_INDEX);
    FAILS(clSetKernelArg(k, 0, 4, &m), CL_INVALID_ARG_SIZE);
    FAILS(clSetKernelArg(k, 0, sizeof k, &k), CL_INVALID_MEM_OBJECT);
    FAILS(clSetKernelArg(k, 1, 64, &n), CL_INVALID_ARG_VALUE);
    FAILS(clSetKernelArg(k, 1, 0, NULL), CL_INVALID_ARG_SIZE);
    FAILS(clSetKernelArg(k, 2, 8, &n), CL_INVALID_ARG_SIZE);
    FAILS(clSetKernelArg(k, 2, 4, NULL), CL_INVALID_ARG_VALUE);
    FAILS(clSetKernelArg(k, 3, 12, &v), CL_INVALID_ARG_SIZE);
    FAILS(clEnqueueNDRangeKernel(clt_queue, k, 1, NULL, &one, NULL, 0, NULL, NULL), CL_INVALID_KERNEL_ARGS);
    clt_args(k, 4, ARG(m), LOCAL(64), ARG(n), ARG(v));
    FAILS(clEnqueueNDRangeKernel(clt_queue, k, 1, NULL, &one, NULL, 0, NULL, NULL), CL_INVALID_KERNEL_ARGS);
    OK(clSetKernelArg(k, 4, ARG(m)));
    OK(clEnqueueNDRangeKernel(clt_queue, k, 1, NULL, &one, NULL, 0, NULL, NULL));
    OK(clFinish(clt_queue));
    OK(clReleaseMemObject(m));
    OK(clReleaseKernel(k));
}

/** Handles of released objects, and pointers that never were handles, are refused without a read of what they point
 * to. */
static void test_stale_handles(void **state)
{
    (void)state;
    cl_kernel k = clt_kernel("kernel void f(global int *r) { r[0] = 1; }", "f");
    const size_t one = 1;
    const cl_mem wild = (cl_mem)(uintptr_t)0x1234560;
    const cl_event lost = (cl_event)(uintptr_t)0x7654320;
    FAILS(clSetKernelArg(k, 0, ARG(wild)), CL_INVALID_MEM_OBJECT);
    FAILS(clEnqueueMarkerWithWaitList(clt_queue, 1, &lost, NULL), CL_INVALID_EVENT_WAIT_LIST);
    cl_mem m = clt_buffer(64, NULL);
    clt_args(k, 1, ARG(m));
    OK(clEnqueueNDRangeKernel(clt_queue, k, 1, NULL, &one, NULL, 0, NULL, NULL));
    OK(clReleaseMemObject(m)); /* The command still holds the buffer. */
    OK(clFinish(clt_queue));
    FAILS(clEnqueueNDRangeKernel(clt_queue, k, 1, NULL, &one, NULL, 0, NULL, NULL), CL_INVALID_KERNEL_ARGS);
    OK(clReleaseKernel(k));
}

/** Creates enough live objects for the set of objects to grow, and releases them in another order. */
static void test_many_objects(void **state)
{
    (void)state;
    enum { N = 3000 };
    static cl_event all[N];
    for (int i = 0; i < N; i++) {
        all[i] = clCreateUserEvent(clt_context, &clt_error);
        MADE(all[i]);
    }
    for (int step = 0; step < 7; step++) {
        for (int i = step; i < N; i += 7) {
            OK(clReleaseEvent(all[i]));
            all[i] = NULL;
        }
        for (int i = 0; i < N; i++) {
            cl_uint refs = 0;
            if (all[i] != NULL) {
                OK(clGetEventInfo(all[i], CL_EVENT_REFERENCE_COUNT, sizeof refs, &refs, NULL));
                assert_int_equal(refs, 1);
            }
        }
    }
}

static void test_queries(void **state)
{
    (void)state;
    cl_kernel k = clt_kernel("kernel void f(int n) {}", "f");
    char name[8] = "";
    cl_uint n = 0;
    size_t size = 0;
    OK(clGetKernelInfo(k, CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL));
    assert_string_equal(name, "f");
    OK(clGetKernelInfo(k, CL_KERNEL_NUM_ARGS, sizeof n, &n, NULL));
    assert_int_equal(n, 1);
    FAILS(clGetKernelInfo(k, 0, sizeof n, &n, NULL), CL_INVALID_VALUE);
    OK(clGetKernelWorkGroupInfo(k, clt_device, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, sizeof size, &size, NULL));
    size_t max = 0;
    OK(clGetKernelWorkGroupInfo(k, NULL, CL_KERNEL_WORK_GROUP_SIZE, sizeof max, &max, NULL));
    assert_true(size > 1 && max % size == 0);
    FAILS(clGetKernelWorkGroupInfo(k, clt_device, CL_KERNEL_GLOBAL_WORK_SIZE, sizeof size, &size, NULL),
          CL_INVALID_VALUE);
    FAILS(clGetKernelWorkGroupInfo(k, (cl_device_id)clt_queue, CL_KERNEL_WORK_GROUP_SIZE, sizeof max, &max, NULL),
          CL_INVALID_DEVICE);
    cl_kernel none = clCloneKernel((cl_kernel)clt_queue, &clt_error);
    REFUSED(none, CL_INVALID_KERNEL);
    OK(clReleaseKernel(k));
}

static cl_int range(cl_kernel k, cl_uint dims, const size_t *offset, const size_t *global, const size_t *local)
{
    return clEnqueueNDRangeKernel(clt_queue, k, dims, offset, global, local, 0, NULL, NULL);
}

static void test_ranges(void **state)
{
    (void)state;
    cl_program p = clt_build("kernel void f() {} kernel __attribute__((reqd_work_group_size(8, 2, 1))) void g() {}"
                             "kernel void big(local int *t) { t[0] = 1; }", "");
    cl_kernel f = clCreateKernel(p, "f", NULL), g = clCreateKernel(p, "g", NULL), big = clCreateKernel(p, "big", NULL);
    size_t max = 0;
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof max, &max, NULL));
    const size_t n[3] = {64, 64, 64}, odd[3] = {60, 64, 64}, wide[3] = {2 * max, 2, 2};
    const size_t l16[3] = {16, 1, 1}, l0[3] = {0, 1, 1}, many[3] = {max, 2, 1}, l82[3] = {8, 2, 1};
    const size_t too_wide[3] = {2 * max, 1, 1}, five_g = (size_t)5 << 30, three_g = (size_t)3 << 30,
        four_g = (size_t)1 << 32;
    FAILS(range(f, 0, NULL, n, NULL), CL_INVALID_WORK_DIMENSION);
    FAILS(range(f, 4, NULL, n, NULL), CL_INVALID_WORK_DIMENSION);
    FAILS(range(f, 1, NULL, &five_g, NULL), CL_INVALID_GLOBAL_WORK_SIZE);
    FAILS(range(f, 1, &four_g, n, NULL), CL_INVALID_GLOBAL_OFFSET);
    FAILS(range(f, 1, &three_g, &three_g, NULL), CL_INVALID_GLOBAL_OFFSET);
    /* OpenCL C 1.2: the local size must divide the global size. */
    FAILS(range(f, 1, NULL, odd, l16), CL_INVALID_WORK_GROUP_SIZE);
    FAILS(range(f, 1, NULL, n, l0), CL_INVALID_WORK_GROUP_SIZE);
    FAILS(range(f, 2, NULL, wide, many), CL_INVALID_WORK_GROUP_SIZE);
    FAILS(range(f, 1, NULL, wide, too_wide), CL_INVALID_WORK_ITEM_SIZE);
    FAILS(range(g, 2, NULL, n, l16), CL_INVALID_WORK_GROUP_SIZE);
    FAILS(range(g, 1, NULL, n, l16), CL_INVALID_WORK_GROUP_SIZE);
    OK(range(g, 2, NULL, n, l82));
    OK(range(g, 2, NULL, n, NULL));
    cl_ulong local = 0;
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_LOCAL_MEM_SIZE, sizeof local, &local, NULL));
    OK(clSetKernelArg(big, 0, local + 1, NULL));
    FAILS(range(big, 1, NULL, n, NULL), CL_OUT_OF_RESOURCES);
    OK(clSetKernelArg(big, 0, local, NULL));
    OK(range(big, 1, NULL, n, NULL));
    OK(clEnqueueTask(clt_queue, f, 0, NULL, NULL));
    OK(clFinish(clt_queue));
    FAILS(clEnqueueNDRangeKernel(clt_queue, (cl_kernel)p, 1, NULL, n, NULL, 0, NULL, NULL), CL_INVALID_KERNEL);
    FAILS(clEnqueueNDRangeKernel(clt_queue, f, 1, NULL, n, NULL, 1, NULL, NULL), CL_INVALID_EVENT_WAIT_LIST);
    OK(clReleaseKernel(f));
    OK(clReleaseKernel(g));
    OK(clReleaseKernel(big));
    OK(clReleaseProgram(p));
}

/** Arguments up to CL_DEVICE_MAX_PARAMETER_SIZE work, more are refused. */
static void test_large_arguments(void **state)
{
    (void)state;
    static const char *const options[] = {"-DN=250", "-DN=300"};
    for (int i = 0; i < 2; i++) {
        cl_program p = clt_build("struct s { int a[N]; }; kernel void f(struct s s, global int *r) { *r = s.a[N - "
                                 "1] + s.a[7]; }", options[i]);
        cl_kernel k = clCreateKernel(p, "f", &clt_error);
        MADE(k);
        cl_int a[300], r = 0;
        for (int j = 0; j < 300; j++) {
            a[j] = 1000 + j;
        }
        const size_t one = 1, size = i == 0 ? 1000 : 1200;
        cl_mem m = clt_buffer(sizeof r, &r);
        clt_args(k, 2, size, a, ARG(m));
        FAILS(range(k, 1, NULL, &one, NULL), i == 0 ? CL_SUCCESS : CL_OUT_OF_RESOURCES);
        clt_read(m, &r, sizeof r);
        assert_int_equal(r, i == 0 ? 1249 + 1007 : 0);
        OK(clReleaseMemObject(m));
        OK(clReleaseKernel(k));
        OK(clReleaseProgram(p));
    }
}

static void CL_CALLBACK ignore(cl_event e, cl_int status, void *data)
{
    (void)e;
    (void)status;
    (void)data;
}

static void test_events(void **state)
{
    (void)state;
    cl_event user = clCreateUserEvent(clt_context, &clt_error), marker;
    MADE(user);
    const cl_event wrong = (cl_event)clt_queue;
    cl_uint v = 0;
    FAILS(clWaitForEvents(0, NULL), CL_INVALID_VALUE);
    FAILS(clWaitForEvents(1, NULL), CL_INVALID_VALUE);
    FAILS(clWaitForEvents(1, &wrong), CL_INVALID_EVENT);
    FAILS(clSetUserEventStatus(user, CL_RUNNING), CL_INVALID_VALUE);
    FAILS(clSetEventCallback(user, CL_QUEUED, ignore, NULL), CL_INVALID_VALUE);
    FAILS(clSetEventCallback(user, CL_COMPLETE, NULL, NULL), CL_INVALID_VALUE);
    FAILS(clGetEventInfo(user, 0, sizeof v, &v, NULL), CL_INVALID_VALUE);
    REFUSED(clCreateUserEvent((cl_context)clt_queue, &clt_error), CL_INVALID_CONTEXT);
    OK(clEnqueueMarkerWithWaitList(clt_queue, 0, NULL, &marker));
    FAILS(clSetUserEventStatus(marker, CL_COMPLETE), CL_INVALID_EVENT);
    FAILS(clEnqueueMarker(clt_queue, NULL), CL_INVALID_VALUE);
    FAILS(clEnqueueWaitForEvents(clt_queue, 0, NULL), CL_INVALID_VALUE);
    FAILS(clEnqueueWaitForEvents(clt_queue, 1, &wrong), CL_INVALID_EVENT);
    FAILS(clEnqueueBarrierWithWaitList(clt_queue, 1, &wrong, NULL), CL_INVALID_EVENT_WAIT_LIST);
    cl_command_queue q = (cl_command_queue)user;
    OK(clGetEventInfo(user, CL_EVENT_COMMAND_QUEUE, sizeof(cl_command_queue), &q, NULL));
    assert_null(q);
    OK(clGetEventInfo(marker, CL_EVENT_COMMAND_QUEUE, sizeof(cl_command_queue), &q, NULL));
    assert_ptr_equal(q, clt_queue);
    OK(clRetainEvent(marker));
    OK(clGetEventInfo(marker, CL_EVENT_REFERENCE_COUNT, sizeof v, &v, NULL));
    assert_int_equal(v, 2);
    OK(clReleaseEvent(marker));
    OK(clReleaseEvent(marker));
    OK(clSetUserEventStatus(user, CL_COMPLETE));
    OK(clReleaseEvent(user));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_programs), cmocka_unit_test(test_arguments), cmocka_unit_test(test_queries),
        cmocka_unit_test(test_ranges),   cmocka_unit_test(test_large_arguments), cmocka_unit_test(test_stale_handles),
        cmocka_unit_test(test_many_objects), cmocka_unit_test(test_events),
    };
    return cmocka_run_group_tests(tests, clt_open, clt_close);
}
