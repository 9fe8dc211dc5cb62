/* SPDX-License-Identifier: Apache-2.0 */
/** Built-in kernels, which are the device's user executors: what queries report, what is refused, and the results. */
#include "clt.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static cl_program program(const char *names)
{
    cl_program p = clCreateProgramWithBuiltInKernels(clt_context, 1, &clt_device, names, &clt_error);
    MADE(p);
    return p;
}

static cl_kernel saxpy(void)
{
    cl_program p = program("saxpy");
    cl_kernel k = clCreateKernel(p, "saxpy", &clt_error);
    MADE(k);
    OK(clReleaseProgram(p));
    return k;
}

static void test_the_device_lists_them(void **state)
{
    (void)state;
    char names[256] = "";
    cl_name_version all[16];
    size_t size = 0;
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_BUILT_IN_KERNELS, sizeof names, names, &size));
    assert_int_equal(size, strlen(names) + 1);
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION, sizeof all, all, &size));
    assert_true(size >= sizeof *all && size % sizeof *all == 0);
    const char *at = names; /* The device's list has the same names in the same order. */
    for (size_t i = 0; i < size / sizeof *all; i++) {
        const size_t length = strcspn(at, ";");
        assert_int_equal(strlen(all[i].name), length);
        assert_memory_equal(all[i].name, at, length);
        at += length + (at[length] == ';');
    }
    assert_string_equal(at, "");
    assert_string_equal(all[0].name, "saxpy");
    assert_int_equal(all[0].version, CL_MAKE_VERSION(1, 0, 0));
    OK(clReleaseProgram(program(names))); /* Every listed kernel can be created. */
}

static void test_names_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"", ";", "saxpy;", ";saxpy", "saxpy;;saxpy", "saxp", "saxpyy", "saxpy;none",
                                      " saxpy", "SAXPY"};
    cl_program p;
    for (size_t i = 0; i < LENGTH(bad); i++) {
        p = clCreateProgramWithBuiltInKernels(clt_context, 1, &clt_device, bad[i], &clt_error);
        REFUSED(p, CL_INVALID_VALUE);
    }
    p = clCreateProgramWithBuiltInKernels(clt_context, 1, &clt_device, NULL, &clt_error);
    REFUSED(p, CL_INVALID_VALUE);
    p = clCreateProgramWithBuiltInKernels(clt_context, 0, &clt_device, "saxpy", &clt_error);
    REFUSED(p, CL_INVALID_VALUE);
    p = clCreateProgramWithBuiltInKernels(clt_context, 1, NULL, "saxpy", &clt_error);
    REFUSED(p, CL_INVALID_VALUE);
    p = clCreateProgramWithBuiltInKernels(NULL, 1, &clt_device, "saxpy", &clt_error);
    REFUSED(p, CL_INVALID_CONTEXT);
    const cl_device_id none = (cl_device_id)clt_queue;
    p = clCreateProgramWithBuiltInKernels(clt_context, 1, &none, "saxpy", &clt_error);
    REFUSED(p, CL_INVALID_DEVICE);
}

static void test_the_program(void **state)
{
    (void)state;
    cl_program p = program("saxpy;saxpy");
    char text[64] = "x";
    size_t size = 99, n = 0;
    cl_build_status status = 99;
    cl_program_binary_type type = 99;
    unsigned char byte = 7, *binaries[1] = {&byte};
    OK(clGetProgramInfo(p, CL_PROGRAM_NUM_KERNELS, sizeof n, &n, NULL));
    assert_int_equal(n, 1);
    OK(clGetProgramInfo(p, CL_PROGRAM_KERNEL_NAMES, sizeof text, text, NULL));
    assert_string_equal(text, "saxpy");
    OK(clGetProgramInfo(p, CL_PROGRAM_SOURCE, sizeof text, text, NULL));
    assert_string_equal(text, "");
    OK(clGetProgramInfo(p, CL_PROGRAM_IL, 0, NULL, &size));
    assert_int_equal(size, 0);
    OK(clGetProgramInfo(p, CL_PROGRAM_BINARY_SIZES, sizeof n, &n, NULL));
    assert_int_equal(n, 0);
    OK(clGetProgramInfo(p, CL_PROGRAM_BINARIES, sizeof binaries, binaries, NULL));
    assert_int_equal(byte, 7);
    OK(clGetProgramBuildInfo(p, clt_device, CL_PROGRAM_BUILD_STATUS, sizeof status, &status, NULL));
    assert_int_equal(status, CL_BUILD_NONE);
    OK(clGetProgramBuildInfo(p, clt_device, CL_PROGRAM_BINARY_TYPE, sizeof type, &type, NULL));
    assert_int_equal(type, CL_PROGRAM_BINARY_TYPE_NONE);
    OK(clGetProgramBuildInfo(p, clt_device, CL_PROGRAM_BUILD_LOG, sizeof text, text, NULL));
    assert_string_equal(text, "");
    /* There is nothing to build, and a refused build leaves the program as it was. */
    FAILS(clBuildProgram(p, 1, &clt_device, "", NULL, NULL), CL_INVALID_OPERATION);
    FAILS(clCompileProgram(p, 1, &clt_device, "", 0, NULL, NULL, NULL, NULL), CL_INVALID_OPERATION);
    cl_program linked = clLinkProgram(clt_context, 1, &clt_device, "", 1, &p, NULL, NULL, &clt_error);
    REFUSED(linked, CL_INVALID_OPERATION);
    cl_kernel k = clCreateKernel(p, "saxp", &clt_error);
    REFUSED(k, CL_INVALID_KERNEL_NAME);
    cl_uint count = 0;
    OK(clCreateKernelsInProgram(p, 1, &k, &count));
    assert_int_equal(count, 1);
    OK(clReleaseProgram(p));
    OK(clReleaseKernel(k));
}

static void check_arg(cl_kernel k, cl_uint i, const char *name, const char *type, cl_uint space, cl_ulong qualifier)
{
    char text[32] = "";
    cl_uint word = 0;
    cl_ulong has = 99;
    OK(clGetKernelArgInfo(k, i, CL_KERNEL_ARG_NAME, sizeof text, text, NULL));
    assert_string_equal(text, name);
    OK(clGetKernelArgInfo(k, i, CL_KERNEL_ARG_TYPE_NAME, sizeof text, text, NULL));
    assert_string_equal(text, type);
    OK(clGetKernelArgInfo(k, i, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof word, &word, NULL));
    assert_int_equal(word, space);
    OK(clGetKernelArgInfo(k, i, CL_KERNEL_ARG_ACCESS_QUALIFIER, sizeof word, &word, NULL));
    assert_int_equal(word, CL_KERNEL_ARG_ACCESS_NONE);
    OK(clGetKernelArgInfo(k, i, CL_KERNEL_ARG_TYPE_QUALIFIER, sizeof has, &has, NULL));
    assert_int_equal(has, qualifier);
}

static size_t group_size(cl_kernel k, cl_kernel_work_group_info what)
{
    size_t n = 99;
    OK(clGetKernelWorkGroupInfo(k, clt_device, what, sizeof n, &n, NULL));
    return n;
}

static cl_ulong group_bytes(cl_kernel k, cl_kernel_work_group_info what)
{
    cl_ulong n = 99;
    OK(clGetKernelWorkGroupInfo(k, NULL, what, sizeof n, &n, NULL));
    return n;
}

static void test_the_kernel(void **state)
{
    (void)state;
    cl_kernel k = saxpy();
    char text[32] = "x";
    cl_uint n = 0;
    size_t three[3] = {0}, none[3] = {9, 9, 9};
    OK(clGetKernelInfo(k, CL_KERNEL_FUNCTION_NAME, sizeof text, text, NULL));
    assert_string_equal(text, "saxpy");
    OK(clGetKernelInfo(k, CL_KERNEL_ATTRIBUTES, sizeof text, text, NULL));
    assert_string_equal(text, "");
    OK(clGetKernelInfo(k, CL_KERNEL_NUM_ARGS, sizeof n, &n, NULL));
    assert_int_equal(n, 3);
    check_arg(k, 0, "a", "float", CL_KERNEL_ARG_ADDRESS_PRIVATE, CL_KERNEL_ARG_TYPE_NONE);
    check_arg(k, 1, "x", "float*", CL_KERNEL_ARG_ADDRESS_GLOBAL, CL_KERNEL_ARG_TYPE_CONST);
    check_arg(k, 2, "y", "float*", CL_KERNEL_ARG_ADDRESS_GLOBAL, CL_KERNEL_ARG_TYPE_NONE);
    FAILS(clGetKernelArgInfo(k, 3, CL_KERNEL_ARG_NAME, sizeof text, text, NULL), CL_INVALID_ARG_INDEX);
    OK(clGetKernelWorkGroupInfo(k, clt_device, CL_KERNEL_GLOBAL_WORK_SIZE, sizeof three, three, NULL));
    assert_int_equal(three[0], 0x3fffffff);
    assert_int_equal(three[1], 1);
    assert_int_equal(three[2], 1);
    OK(clGetKernelWorkGroupInfo(k, clt_device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof none, none, NULL));
    assert_true(none[0] == 0 && none[1] == 0 && none[2] == 0);
    assert_int_equal(group_size(k, CL_KERNEL_WORK_GROUP_SIZE), 1);
    assert_int_equal(group_size(k, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE), 1);
    assert_int_equal(group_bytes(k, CL_KERNEL_LOCAL_MEM_SIZE), 0);
    assert_int_equal(group_bytes(k, CL_KERNEL_PRIVATE_MEM_SIZE), 0);
    OK(clReleaseKernel(k));
}

static void test_arguments_refused(void **state)
{
    (void)state;
    cl_kernel k = saxpy();
    cl_mem m = clt_buffer(64, NULL);
    const float a = 1;
    const size_t n = 4;
    const cl_ulong wide = 0;
    FAILS(clSetKernelArg(k, 0, sizeof wide, &wide), CL_INVALID_ARG_SIZE);
    FAILS(clSetKernelArg(k, 0, sizeof a, NULL), CL_INVALID_ARG_VALUE);
    FAILS(clSetKernelArg(k, 1, sizeof a, &a), CL_INVALID_ARG_SIZE);
    FAILS(clSetKernelArg(k, 1, sizeof clt_queue, &clt_queue), CL_INVALID_MEM_OBJECT);
    FAILS(clSetKernelArg(k, 3, sizeof m, &m), CL_INVALID_ARG_INDEX);
    clt_args(k, 2, ARG(a), ARG(m));
    FAILS(clEnqueueNDRangeKernel(clt_queue, k, 1, NULL, &n, NULL, 0, NULL, NULL), CL_INVALID_KERNEL_ARGS);
    OK(clReleaseMemObject(m));
    OK(clReleaseKernel(k));
}

static cl_int range(cl_kernel k, cl_uint dims, const size_t *offset, const size_t *global, const size_t *local)
{
    return clEnqueueNDRangeKernel(clt_queue, k, dims, offset, global, local, 0, NULL, NULL);
}

/** The range has one dimension, no offset and no work-groups. */
static void test_ranges(void **state)
{
    (void)state;
    cl_kernel k = saxpy();
    float y[16];
    for (int i = 0; i < 16; i++) {
        y[i] = 1;
    }
    cl_mem m = clt_buffer(sizeof y, y);
    const float a = 1; /* With a = 1 a run doubles y. */
    const size_t g1[] = {4, 1, 1}, g2[] = {4, 2, 1}, g3[] = {4, 1, 2}, much[] = {0x40000000}, zero[] = {0};
    const size_t o0[] = {0, 0, 0}, o1[] = {1}, l1[] = {1, 1, 1}, l2[] = {2, 1, 1}, l0[] = {0}, huge[] = {1 << 20};
    clt_args(k, 3, ARG(a), ARG(m), ARG(m));
    FAILS(range(k, 0, NULL, g1, NULL), CL_INVALID_WORK_DIMENSION);
    FAILS(range(k, 4, NULL, g1, NULL), CL_INVALID_WORK_DIMENSION);
    FAILS(range(k, 2, NULL, g2, NULL), CL_INVALID_GLOBAL_WORK_SIZE);
    FAILS(range(k, 3, NULL, g3, NULL), CL_INVALID_GLOBAL_WORK_SIZE);
    FAILS(range(k, 1, NULL, much, NULL), CL_INVALID_GLOBAL_WORK_SIZE);
    FAILS(range(k, 1, o1, g1, NULL), CL_INVALID_GLOBAL_OFFSET);
    FAILS(range(k, 1, NULL, g1, l2), CL_INVALID_WORK_GROUP_SIZE);
    FAILS(range(k, 1, NULL, g1, l0), CL_INVALID_WORK_GROUP_SIZE);
    FAILS(range(k, 1, NULL, g1, huge), CL_INVALID_WORK_ITEM_SIZE);
    OK(range(k, 1, NULL, zero, NULL)); /* An empty range runs nothing. */
    OK(range(k, 1, NULL, NULL, NULL));
    clt_read(m, y, sizeof y);
    for (int i = 0; i < 16; i++) {
        assert_true(y[i] == 1);
    }
    OK(range(k, 1, NULL, g1, NULL));
    OK(range(k, 3, o0, g1, l1));
    OK(clEnqueueTask(clt_queue, k, 0, NULL, NULL)); /* A task runs the first element alone. */
    clt_read(m, y, sizeof y);
    for (int i = 0; i < 16; i++) {
        assert_true(y[i] == (i == 0 ? 8 : i < 4 ? 4 : 1));
    }
    OK(clReleaseMemObject(m));
    OK(clReleaseKernel(k));
}

/** Streams of any length, over parts of buffers, in order with compiled kernels. */
static void test_results(void **state)
{
    (void)state;
    enum { MOST = 5000 };
    static float x[MOST], y[MOST], seen[MOST];
    static const size_t lengths[] = {1, 15, 16, 17, 1000, 4990};
    uint32_t seed = 41;
    cl_kernel k = saxpy(), negate = clt_kernel("kernel void negate(global float *y) { size_t i = get_global_id(0); "
                                               "y[i] = -y[i]; }", "negate");
    for (size_t l = 0; l < LENGTH(lengths); l++) {
        const size_t n = lengths[l];
        const float a = clt_random_float(&seed) * 8 - 4;
        for (size_t i = 0; i < MOST; i++) {
            x[i] = clt_random_float(&seed) - 0.5f;
            y[i] = clt_random_float(&seed) - 0.5f;
        }
        cl_mem mx = clt_buffer(sizeof x, x), my = clt_buffer(sizeof y, y);
        const cl_buffer_region region = {128, n * sizeof *y < sizeof y - 128 ? n * sizeof *y : sizeof y - 128};
        cl_mem part = l % 2 ? clCreateSubBuffer(my, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &clt_error) : my;
        const size_t at = l % 2 ? 32 : 0, count = l % 2 ? region.size / sizeof *y : n;
        cl_event e;
        cl_ulong begin = 0, end = 0;
        clt_args(k, 3, ARG(a), ARG(mx), ARG(part));
        clt_args(negate, 1, ARG(my));
        OK(clEnqueueNDRangeKernel(clt_queue, k, 1, NULL, &count, NULL, 0, NULL, &e));
        OK(clEnqueueNDRangeKernel(clt_queue, negate, 1, NULL, &(size_t){MOST}, NULL, 0, NULL, NULL));
        cl_kernel clone = clCloneKernel(k, &clt_error);
        MADE(clone);
        OK(clEnqueueNDRangeKernel(clt_queue, clone, 1, NULL, &count, NULL, 0, NULL, NULL));
        clt_read(my, seen, sizeof seen);
        for (size_t i = 0; i < MOST; i++) {
            const float first = i >= at && i < at + count ? fmaf(a, x[i - at], y[i]) : y[i];
            y[i] = i >= at && i < at + count ? fmaf(a, x[i - at], -first) : -first;
        }
        assert_memory_equal(seen, y, sizeof y);
        OK(clGetEventProfilingInfo(e, CL_PROFILING_COMMAND_START, sizeof begin, &begin, NULL));
        OK(clGetEventProfilingInfo(e, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL));
        assert_true(end > begin);
        OK(clReleaseEvent(e));
        OK(clReleaseKernel(clone));
        OK(part == my ? CL_SUCCESS : clReleaseMemObject(part));
        OK(clReleaseMemObject(mx));
        OK(clReleaseMemObject(my));
    }
    OK(clReleaseKernel(k));
    OK(clReleaseKernel(negate));
}

static void CL_CALLBACK tell(const char *text, const void *info, size_t size, void *data)
{
    (void)info;
    (void)size;
    snprintf(data, 512, "%s", text);
}

/** An executor takes pointers of shared virtual memory as kernels do, also into the middle of an allocation. */
static void test_shared_memory(void **state)
{
    (void)state;
    cl_kernel k = saxpy();
    const cl_float two = 2;
    cl_float *p = clSVMAlloc(clt_context, 0, 4096, 0);
    assert_non_null(p);
    OK(clEnqueueSVMMap(clt_queue, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, p, 4096, 0, NULL, NULL));
    for (int i = 0; i < 1024; i++) {
        p[i] = (cl_float)i;
    }
    OK(clEnqueueSVMUnmap(clt_queue, p, 0, NULL, NULL));
    OK(clSetKernelArg(k, 0, sizeof two, &two));
    OK(clSetKernelArgSVMPointer(k, 1, p + 64));
    OK(clSetKernelArgSVMPointer(k, 2, p + 512));
    clt_run(k, 100, 0);
    OK(clEnqueueSVMMap(clt_queue, CL_TRUE, CL_MAP_READ, p, 4096, 0, NULL, NULL));
    for (int i = 0; i < 1024; i++) {
        assert_float_equal(p[i], (cl_float)(i >= 512 && i < 612 ? i + 2 * (i - 512 + 64) : i), 0);
    }
    OK(clEnqueueSVMUnmap(clt_queue, p, 0, NULL, NULL));
    OK(clFinish(clt_queue));
    clSVMFree(clt_context, p);
    FAILS(clEnqueueNDRangeKernel(clt_queue, k, 1, NULL, &(size_t){1}, NULL, 0, NULL, NULL), CL_INVALID_KERNEL_ARGS);
    OK(clReleaseKernel(k));
}

/** An access beyond the buffer: the application is told, with the executor's name, and other contexts go on. */
static void test_fault(void **state)
{
    (void)state;
    static char told[512];
    cl_context context = clCreateContext(NULL, 1, &clt_device, tell, told, &clt_error);
    MADE(context);
    cl_command_queue q = clCreateCommandQueue(context, clt_device, 0, &clt_error);
    MADE(q);
    cl_program p = clCreateProgramWithBuiltInKernels(context, 1, &clt_device, "saxpy", &clt_error);
    MADE(p);
    cl_kernel k = clCreateKernel(p, "saxpy", &clt_error);
    MADE(k);
    cl_mem m = clCreateBuffer(context, CL_MEM_READ_WRITE, 4096, NULL, &clt_error);
    MADE(m);
    const float a = 0;
    const size_t n = 1 << 20;
    cl_event e;
    clt_args(k, 3, ARG(a), ARG(m), ARG(m));
    FAILS(range(k, 1, NULL, &n, NULL), CL_INVALID_CONTEXT); /* The queue belongs to another context. */
    OK(clEnqueueNDRangeKernel(q, k, 1, NULL, &n, NULL, 0, NULL, &e));
    FAILS(clWaitForEvents(1, &e), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    FAILS(clFinish(q), CL_OUT_OF_RESOURCES);
    assert_non_null(strstr(told, "saxpy"));
    assert_non_null(strstr(told, "not mapped"));
    OK(clReleaseEvent(e));
    OK(clReleaseMemObject(m));
    OK(clReleaseKernel(k));
    OK(clReleaseProgram(p));
    OK(clReleaseCommandQueue(q));
    OK(clReleaseContext(context));
    test_ranges(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_device_lists_them), cmocka_unit_test(test_names_refused),
        cmocka_unit_test(test_the_program),           cmocka_unit_test(test_the_kernel),
        cmocka_unit_test(test_arguments_refused),     cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_results),               cmocka_unit_test(test_shared_memory),
        cmocka_unit_test(test_fault),
    };
    return cmocka_run_group_tests_name("run_builtins", tests, clt_open, clt_close);
}
