/* SPDX-License-Identifier: Apache-2.0 */
/** Queries of platform, device, context and queue, and the queries that are refused. */
#include "clt.h"

#include <stdbool.h>
#include <string.h>

#include "CL/cl_tern.h"

static void test_platform(void **state)
{
    (void)state;
    cl_platform_id p;
    cl_uint n;
    char text[256];
    size_t size = 0;
    FAILS(clGetPlatformIDs(0, &p, NULL), CL_INVALID_VALUE);
    FAILS(clGetPlatformIDs(0, NULL, NULL), CL_INVALID_VALUE);
    OK(clGetPlatformIDs(0, NULL, &n));
    OK(clGetPlatformInfo(clt_platform, CL_PLATFORM_VERSION, sizeof text, text, &size));
    assert_memory_equal(text, "OpenCL 3.0 ", 11);
    assert_int_equal(size, strlen(text) + 1);
    OK(clGetPlatformInfo(clt_platform, CL_PLATFORM_EXTENSIONS, sizeof text, text, NULL));
    assert_non_null(strstr(text, "cl_khr_icd"));
    FAILS(clGetPlatformInfo(clt_platform, CL_PLATFORM_NAME, 2, text, NULL), CL_INVALID_VALUE);
    FAILS(clGetPlatformInfo(clt_platform, 0x1234, sizeof text, text, NULL), CL_INVALID_VALUE);
    OK(clUnloadPlatformCompiler(clt_platform));
    assert_null(clGetExtensionFunctionAddressForPlatform(clt_platform, "clNoSuchFunction"));
}

static void test_device_ids(void **state)
{
    (void)state;
    cl_device_id d = NULL;
    cl_uint n = 9;
    OK(clGetDeviceIDs(clt_platform, CL_DEVICE_TYPE_DEFAULT, 1, &d, &n));
    assert_ptr_equal(d, clt_device);
    assert_int_equal(n, 1);
    FAILS(clGetDeviceIDs(clt_platform, CL_DEVICE_TYPE_CPU, 1, &d, NULL), CL_DEVICE_NOT_FOUND);
    OK(clGetDeviceIDs(clt_platform, (cl_device_type)-1, 1, &d, NULL)); /* OpenCV asks for devices with this type. */
    FAILS(clGetDeviceIDs(clt_platform, 0, 1, &d, NULL), CL_INVALID_DEVICE_TYPE);
    for (unsigned bit = 5; bit < 64; bit++) {
        const cl_device_type unknown = (cl_device_type)1 << bit, all = CL_DEVICE_TYPE_ALL;
        FAILS(clGetDeviceIDs(clt_platform, unknown, 1, &d, NULL), CL_INVALID_DEVICE_TYPE);
        FAILS(clGetDeviceIDs(clt_platform, unknown | CL_DEVICE_TYPE_ACCELERATOR, 1, &d, NULL), CL_INVALID_DEVICE_TYPE);
        FAILS(clGetDeviceIDs(clt_platform, all ^ unknown, 1, &d, NULL), CL_INVALID_DEVICE_TYPE);
    }
    FAILS(clGetDeviceIDs(clt_platform, CL_DEVICE_TYPE_ALL, 0, &d, NULL), CL_INVALID_VALUE);
    FAILS(clGetDeviceIDs(clt_platform, CL_DEVICE_TYPE_ALL, 0, NULL, NULL), CL_INVALID_VALUE);
    OK(clRetainDevice(clt_device));
    OK(clReleaseDevice(clt_device));
    const cl_device_partition_property equally[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
    FAILS(clCreateSubDevices(clt_device, equally, 1, &d, NULL), CL_INVALID_VALUE);
}

/** Every parameter of OpenCL 3.0 has an answer whose size is as announced. Any other parameter is refused. */
static void test_device_info(void **state)
{
    (void)state;
    static const cl_device_info absent[] = {0x105F, 0x106A}; /* Values of the range that were never assigned. */
    unsigned answered = 0;
    for (cl_device_info name = CL_DEVICE_TYPE; name <= CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED; name++) {
        unsigned char value[4096];
        size_t size = 0, again = 0;
        if (clGetDeviceInfo(clt_device, name, 0, NULL, &size) != CL_SUCCESS) {
            continue;
        }
        answered++;
        assert_in_range(size, 0, sizeof value);
        OK(clGetDeviceInfo(clt_device, name, sizeof value, value, &again));
        assert_int_equal(size, again);
        if (size > 0) {
            FAILS(clGetDeviceInfo(clt_device, name, size - 1, value, NULL), CL_INVALID_VALUE);
        }
    }
    assert_int_equal(answered, 109); /* The number of parameters that the specification names in this range. */
    static const char format[] = "v####-##-##-##"; /* year, month, day, number */
    char passed[64] = "";
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED, sizeof passed, passed, NULL));
    assert_int_equal(strlen(passed), strlen(format));
    for (size_t i = 0; i < strlen(format); i++) {
        assert_true(format[i] == '#' ? passed[i] >= '0' && passed[i] <= '9' : passed[i] == format[i]);
    }
    for (size_t i = 0; i < LENGTH(absent); i++) {
        size_t size;
        FAILS(clGetDeviceInfo(clt_device, absent[i], 0, NULL, &size), CL_INVALID_VALUE);
    }
}

static void test_device_limits(void **state)
{
    (void)state;
    size_t group = 0, sizes[3] = {0}, parameters = 0;
    cl_uint dims = 0, units = 0, align = 0;
    cl_ulong local = 0, alloc = 0, memory = 0;
    cl_bool images = CL_FALSE;
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof group, &group, NULL));
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof sizes, sizes, NULL));
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, sizeof dims, &dims, NULL));
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL));
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof align, &align, NULL));
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_LOCAL_MEM_SIZE, sizeof local, &local, NULL));
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof alloc, &alloc, NULL));
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof memory, &memory, NULL));
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_MAX_PARAMETER_SIZE, sizeof parameters, &parameters, NULL));
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_IMAGE_SUPPORT, sizeof images, &images, NULL));
    assert_int_equal(dims, 3);
    assert_int_equal(units, 1); /* A kernel runs on one engine, however many engines the device has. */
    assert_true(group >= 1 && sizes[0] == group && sizes[1] == group && sizes[2] == group);
    assert_true(align >= 1024 && local >= 32768 && parameters >= 1024); /* The full profile's minimum values. */
    assert_true(alloc >= memory / 4 && alloc <= memory);
    assert_true(images);
}

/** The limits of images are at least those of the full profile, and the extensions and features say what there is. */
static void test_image_limits(void **state)
{
    (void)state;
    static const struct {
        cl_device_info name;
        size_t least;
    } sizes[] = {
        {CL_DEVICE_IMAGE2D_MAX_WIDTH, 16384},  {CL_DEVICE_IMAGE2D_MAX_HEIGHT, 16384},
        {CL_DEVICE_IMAGE3D_MAX_WIDTH, 2048},   {CL_DEVICE_IMAGE3D_MAX_HEIGHT, 2048},
        {CL_DEVICE_IMAGE3D_MAX_DEPTH, 2048},   {CL_DEVICE_IMAGE_MAX_BUFFER_SIZE, 65536},
        {CL_DEVICE_IMAGE_MAX_ARRAY_SIZE, 2048},
    }, numbers[] = {
        {CL_DEVICE_MAX_READ_IMAGE_ARGS, 128},  {CL_DEVICE_MAX_WRITE_IMAGE_ARGS, 64},
        {CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS, 64}, {CL_DEVICE_MAX_SAMPLERS, 16}, {CL_DEVICE_IMAGE_PITCH_ALIGNMENT, 1},
        {CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT, 1},
    };
    static const char *const names[] = {"cl_khr_3d_image_writes", "cl_khr_depth_images", "cl_khr_image2d_from_buffer"};
    static const char *const features[] = {"__opencl_c_images", "__opencl_c_3d_image_writes",
                                           "__opencl_c_read_write_images"};
    for (size_t i = 0; i < LENGTH(sizes); i++) {
        size_t value = 0;
        OK(clGetDeviceInfo(clt_device, sizes[i].name, sizeof value, &value, NULL));
        assert_true(value >= sizes[i].least);
    }
    for (size_t i = 0; i < LENGTH(numbers); i++) {
        cl_uint value = 0;
        OK(clGetDeviceInfo(clt_device, numbers[i].name, sizeof value, &value, NULL));
        assert_true(value >= numbers[i].least && (i < 4 || (value & (value - 1)) == 0));
    }
    char text[4096];
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_EXTENSIONS, sizeof text, text, NULL));
    for (size_t i = 0; i < LENGTH(names); i++) {
        assert_non_null(strstr(text, names[i]));
    }
    cl_name_version list[64];
    size_t bytes = 0;
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_OPENCL_C_FEATURES, sizeof list, list, &bytes));
    for (size_t i = 0; i < LENGTH(features); i++) {
        bool there = false;
        for (size_t n = 0; n < bytes / sizeof list[0]; n++) {
            there = there || strcmp(list[n].name, features[i]) == 0;
        }
        assert_true(there);
    }
}

static void CL_CALLBACK count(cl_context c, void *data)
{
    (void)c;
    ++*(int *)data;
}

static void CL_CALLBACK ignore(const char *text, const void *info, size_t size, void *data)
{
    (void)text;
    (void)info;
    (void)size;
    (void)data;
}

static void test_context(void **state)
{
    (void)state;
    const cl_context_properties good[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)clt_platform, 0};
    const cl_context_properties unknown[] = {0x7777, 1, 0};
    const cl_context_properties twice[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)clt_platform,
                                           CL_CONTEXT_PLATFORM, (cl_context_properties)clt_platform, 0};
    int deleted = 0;
    cl_uint refs = 0;
    cl_device_id d = NULL;
    cl_context_properties back[3] = {0};
    size_t size = 0;
    cl_context c = clCreateContext(good, 1, &clt_device, ignore, NULL, &clt_error);
    MADE(c);
    OK(clGetContextInfo(c, CL_CONTEXT_PROPERTIES, sizeof back, back, &size));
    assert_int_equal(size, sizeof good);
    assert_memory_equal(back, good, sizeof good);
    OK(clGetContextInfo(c, CL_CONTEXT_DEVICES, sizeof(cl_device_id), &d, NULL));
    assert_ptr_equal(d, clt_device);
    OK(clRetainContext(c));
    OK(clGetContextInfo(c, CL_CONTEXT_REFERENCE_COUNT, sizeof refs, &refs, NULL));
    assert_int_equal(refs, 2);
    FAILS(clGetContextInfo(c, 0, sizeof refs, &refs, NULL), CL_INVALID_VALUE);
    FAILS(clSetContextDestructorCallback(c, NULL, NULL), CL_INVALID_VALUE);
    OK(clSetContextDestructorCallback(c, count, &deleted));
    OK(clReleaseContext(c));
    assert_int_equal(deleted, 0);
    OK(clReleaseContext(c));
    assert_int_equal(deleted, 1);
    REFUSED(clCreateContext(unknown, 1, &clt_device, NULL, NULL, &clt_error), CL_INVALID_PROPERTY);
    REFUSED(clCreateContext(twice, 1, &clt_device, NULL, NULL, &clt_error), CL_INVALID_PROPERTY);
    REFUSED(clCreateContext(NULL, 0, &clt_device, NULL, NULL, &clt_error), CL_INVALID_VALUE);
    REFUSED(clCreateContext(NULL, 1, &clt_device, NULL, &deleted, &clt_error), CL_INVALID_VALUE);
    c = clCreateContextFromType(good, CL_DEVICE_TYPE_ALL, NULL, NULL, &clt_error);
    MADE(c);
    OK(clReleaseContext(c));
    REFUSED(clCreateContextFromType(good, CL_DEVICE_TYPE_CUSTOM, NULL, NULL, &clt_error), CL_DEVICE_NOT_FOUND);
}

/** Objects of the wrong kind are refused, each with its own error. */
static void test_wrong_kinds(void **state)
{
    (void)state;
    void *c = clt_context, *q = clt_queue;
    cl_uint v;
    FAILS(clGetContextInfo((cl_context)q, CL_CONTEXT_REFERENCE_COUNT, sizeof v, &v, NULL), CL_INVALID_CONTEXT);
    FAILS(clGetCommandQueueInfo((cl_command_queue)c, CL_QUEUE_REFERENCE_COUNT, sizeof v, &v, NULL),
          CL_INVALID_COMMAND_QUEUE);
    FAILS(clGetMemObjectInfo((cl_mem)c, CL_MEM_REFERENCE_COUNT, sizeof v, &v, NULL), CL_INVALID_MEM_OBJECT);
    FAILS(clGetProgramInfo((cl_program)c, CL_PROGRAM_REFERENCE_COUNT, sizeof v, &v, NULL), CL_INVALID_PROGRAM);
    FAILS(clGetKernelInfo((cl_kernel)c, CL_KERNEL_REFERENCE_COUNT, sizeof v, &v, NULL), CL_INVALID_KERNEL);
    FAILS(clGetEventInfo((cl_event)c, CL_EVENT_REFERENCE_COUNT, sizeof v, &v, NULL), CL_INVALID_EVENT);
    FAILS(clGetDeviceInfo((cl_device_id)c, CL_DEVICE_VENDOR_ID, sizeof v, &v, NULL), CL_INVALID_DEVICE);
    FAILS(clReleaseMemObject((cl_mem)q), CL_INVALID_MEM_OBJECT);
    FAILS(clFinish((cl_command_queue)c), CL_INVALID_COMMAND_QUEUE);
    FAILS(clFlush((cl_command_queue)c), CL_INVALID_COMMAND_QUEUE);
}

static void test_queue(void **state)
{
    (void)state;
    const cl_queue_properties both[] = {CL_QUEUE_PROPERTIES,
                                        CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE, 0};
    const cl_queue_properties unknown[] = {CL_QUEUE_PROPERTIES, 1u << 20, 0}, strange[] = {0x7777, 0, 0};
    const cl_queue_properties device[] = {CL_QUEUE_PROPERTIES,
                                          CL_QUEUE_ON_DEVICE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0};
    cl_queue_properties back[3] = {0};
    cl_command_queue_properties p = 0;
    size_t size = 0;
    cl_uint v = 0;
    cl_command_queue q = clCreateCommandQueueWithProperties(clt_context, clt_device, both, &clt_error);
    MADE(q);
    OK(clGetCommandQueueInfo(q, CL_QUEUE_PROPERTIES_ARRAY, sizeof back, back, &size));
    assert_memory_equal(back, both, sizeof both);
    OK(clGetCommandQueueInfo(q, CL_QUEUE_PROPERTIES, sizeof p, &p, NULL));
    assert_int_equal(p, both[1]);
    OK(clGetCommandQueueInfo(clt_queue, CL_QUEUE_PROPERTIES_ARRAY, 0, NULL, &size));
    assert_int_equal(size, 0);
    FAILS(clGetCommandQueueInfo(q, CL_QUEUE_SIZE, sizeof v, &v, NULL), CL_INVALID_COMMAND_QUEUE);
    FAILS(clGetCommandQueueInfo(q, 0, sizeof v, &v, NULL), CL_INVALID_VALUE);
    OK(clReleaseCommandQueue(q));
    REFUSED(clCreateCommandQueueWithProperties(clt_context, clt_device, unknown, &clt_error), CL_INVALID_VALUE);
    REFUSED(clCreateCommandQueueWithProperties(clt_context, clt_device, strange, &clt_error), CL_INVALID_VALUE);
    REFUSED(clCreateCommandQueueWithProperties(clt_context, clt_device, device, &clt_error),
            CL_INVALID_QUEUE_PROPERTIES);
    REFUSED(clCreateCommandQueue(clt_context, (cl_device_id)clt_context, 0, &clt_error), CL_INVALID_DEVICE);
}

static void test_timers(void **state)
{
    (void)state;
    cl_ulong d = 5, h = 6, resolution = 7;
    OK(clGetPlatformInfo(clt_platform, CL_PLATFORM_HOST_TIMER_RESOLUTION, sizeof resolution, &resolution, NULL));
    /* The host's and the device's clocks are not related, so no timer resolution is reported. */
    assert_int_equal(resolution, 0);
    FAILS(clGetDeviceAndHostTimer(clt_device, &d, &h), CL_INVALID_OPERATION);
    FAILS(clGetHostTimer(clt_device, &h), CL_INVALID_OPERATION);
    FAILS(clGetHostTimer((cl_device_id)clt_context, &h), CL_INVALID_DEVICE);
    FAILS(clGetDeviceAndHostTimer(NULL, &d, &h), CL_INVALID_DEVICE);
    assert_true(d == 5 && h == 6);
}

static void test_counters(void **state)
{
    (void)state;
    clGetDeviceCountersTERN_fn get =
        (clGetDeviceCountersTERN_fn)clGetExtensionFunctionAddressForPlatform(clt_platform, "clGetDeviceCountersTERN");
    assert_non_null(get);
    cl_tern_counters before = {0}, after = {0};
    cl_uint engine = 99;
    OK(clGetCommandQueueInfo(clt_queue, CL_QUEUE_ENGINE_TERN, sizeof engine, &engine, NULL));
    OK(get(clt_device, engine, &before));
    assert_in_range(engine, 0, before.engines - 1);
    cl_kernel k = clt_kernel("kernel void f(global int *r) { r[get_global_id(0)] = 1; }", "f");
    cl_mem m = clt_buffer(1024, NULL);
    clt_args(k, 1, ARG(m));
    clt_run(k, 256, 0);
    OK(get(clt_device, engine, &after));
    assert_true(after.issue > before.issue && after.buffers > before.buffers && after.time >= before.time);
    assert_true(after.lanes_active >= before.lanes_active + 256);
    FAILS(get(clt_device, before.engines, &after), CL_INVALID_VALUE);
    OK(clReleaseMemObject(m));
    OK(clReleaseKernel(k));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_platform),    cmocka_unit_test(test_device_ids), cmocka_unit_test(test_device_info),
        cmocka_unit_test(test_device_limits),
        cmocka_unit_test(test_image_limits), cmocka_unit_test(test_context),  cmocka_unit_test(test_wrong_kinds),
        cmocka_unit_test(test_queue),       cmocka_unit_test(test_timers),     cmocka_unit_test(test_counters),
    };
    return cmocka_run_group_tests(tests, clt_open, clt_close);
}
