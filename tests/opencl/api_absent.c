/* SPDX-License-Identifier: Apache-2.0 */
/** Features that this device does not have, shared virtual memory among them when a setting turns it off. Every call of
 *  an absent feature returns an error, and none crashes. */
#include "clt.h"

static void test_svm_and_pipes(void **state)
{
    (void)state;
    void *p = &p;
    const int v = 0;
    cl_kernel k = clt_kernel("kernel void f(global int *r) { *r = 1; }", "f");
    cl_device_svm_capabilities caps = 1;
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_SVM_CAPABILITIES, sizeof caps, &caps, NULL));
    assert_int_equal(caps, 0);
    assert_null(clSVMAlloc(clt_context, CL_MEM_READ_WRITE, 64, 0));
    clSVMFree(clt_context, NULL);
    FAILS(clSetKernelArgSVMPointer(k, 0, p), CL_INVALID_OPERATION);
    FAILS(clSetKernelExecInfo(k, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof p, &p), CL_INVALID_OPERATION);
    FAILS(clEnqueueSVMFree(clt_queue, 1, &p, NULL, NULL, 0, NULL, NULL), CL_INVALID_OPERATION);
    FAILS(clEnqueueSVMMemcpy(clt_queue, CL_TRUE, p, p, 0, 0, NULL, NULL), CL_INVALID_OPERATION);
    FAILS(clEnqueueSVMMemFill(clt_queue, p, &v, sizeof v, 4, 0, NULL, NULL), CL_INVALID_OPERATION);
    FAILS(clEnqueueSVMMap(clt_queue, CL_TRUE, CL_MAP_READ, p, 4, 0, NULL, NULL), CL_INVALID_OPERATION);
    FAILS(clEnqueueSVMUnmap(clt_queue, p, 0, NULL, NULL), CL_INVALID_OPERATION);
    FAILS(clEnqueueSVMMigrateMem(clt_queue, 1, (const void **)&p, NULL, 0, 0, NULL, NULL), CL_INVALID_OPERATION);
    REFUSED(clCreatePipe(clt_context, 0, 4, 4, NULL, &clt_error), CL_INVALID_OPERATION);
    cl_mem b = clt_buffer(64, NULL);
    cl_uint u;
    FAILS(clGetPipeInfo(b, CL_PIPE_PACKET_SIZE, sizeof u, &u, NULL), CL_INVALID_MEM_OBJECT);
    OK(clReleaseMemObject(b));
    OK(clReleaseKernel(k));
}

static void CL_CALLBACK native(void *data)
{
    (void)data;
}

static void CL_CALLBACK released(cl_program p, void *data)
{
    (void)p;
    (void)data;
}

static void test_programs_and_queues(void **state)
{
    (void)state;
    const unsigned il[4] = {0x07230203};
    REFUSED(clCreateProgramWithIL(clt_context, il, sizeof il, &clt_error), CL_INVALID_OPERATION);
    REFUSED(clCreateProgramWithIL(clt_context, NULL, 0, &clt_error), CL_INVALID_VALUE);
    cl_program p = clt_build("kernel void f() {}", "");
    FAILS(clSetProgramSpecializationConstant(p, 0, sizeof il, il), CL_INVALID_OPERATION);
    FAILS(clSetProgramReleaseCallback(p, released, NULL), CL_INVALID_OPERATION);
    OK(clReleaseProgram(p));
    FAILS(clEnqueueNativeKernel(clt_queue, native, NULL, 0, 0, NULL, NULL, 0, NULL, NULL), CL_INVALID_OPERATION);
    FAILS(clSetDefaultDeviceCommandQueue(clt_context, clt_device, clt_queue), CL_INVALID_OPERATION);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_svm_and_pipes),
        cmocka_unit_test(test_programs_and_queues),
    };
    setenv("TERN_CL_SVM", "0", 1);
    setenv("TERN_SPIRV_DIR", "/nowhere", 1);
    return cmocka_run_group_tests(tests, clt_open, clt_close);
}
