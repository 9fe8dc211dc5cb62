/* SPDX-License-Identifier: Apache-2.0 */
/** The text of a refusal for lack of memory: it says how much was asked for and how much there is. The whole text is
 *  compared; '#' stands for any number. */
#include "clt.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define MEGABYTE ((size_t)1 << 20)

static char told[1024];
static int tellings;
static cl_context context;
static cl_command_queue queue;
static unsigned items; /* Work-items that an engine holds. */

static void CL_CALLBACK tell(const char *text, const void *info, size_t size, void *data)
{
    (void)data;
    assert_null(info);
    assert_int_equal(size, 0);
    tellings++;
    snprintf(told, sizeof told, "%s", text);
}

static int matches(const char *text, const char *pattern)
{
    for (; *pattern != '\0' && (*pattern == *text || (*pattern == '#' && isdigit((unsigned char)*text))); pattern++) {
        while (*pattern == '#' && isdigit((unsigned char)text[1])) {
            text++;
        }
        text++;
    }
    return *pattern == '\0' && *text == '\0';
}

static void expect(const char *pattern)
{
    if (tellings != 1 || !matches(told, pattern)) {
        fail_msg("told %d times, last\n%s\nexpected\n%s", tellings, told, pattern);
    }
    tellings = 0;
}

static int open_context(void **state)
{
    size_t most = 0;
    clt_open(state);
    /* a group of this kernel, whose work-items wait for each other, is at most as large as an engine */
    cl_kernel waits = clt_kernel("kernel void f(volatile global uint *a) { while (*a != get_local_id(0)) ; }", "f");
    OK(clGetKernelWorkGroupInfo(waits, clt_device, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, NULL));
    OK(clReleaseKernel(waits));
    items = (unsigned)most;
    context = clCreateContext(NULL, 1, &clt_device, tell, NULL, &clt_error);
    MADE(context);
    queue = clCreateCommandQueue(context, clt_device, 0, &clt_error);
    MADE(queue);
    return 0;
}

static int close_context(void **state)
{
    OK(clReleaseCommandQueue(queue));
    OK(clReleaseContext(context));
    return clt_close(state);
}

static cl_kernel kernel(const char *source)
{
    cl_program p = clCreateProgramWithSource(context, 1, &source, NULL, &clt_error);
    MADE(p);
    OK(clBuildProgram(p, 0, NULL, NULL, NULL, NULL));
    cl_kernel k = clCreateKernel(p, "f", &clt_error);
    MADE(k);
    OK(clReleaseProgram(p));
    return k;
}

static cl_int enqueue(cl_kernel k)
{
    const size_t one = 1;
    return clEnqueueNDRangeKernel(queue, k, 1, NULL, &one, NULL, 0, NULL, NULL);
}

static void test_local_memory(void **state)
{
    (void)state;
    char pattern[512];
    cl_ulong most = 0;
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_LOCAL_MEM_SIZE, sizeof most, &most, NULL));
    cl_kernel k = kernel("kernel void f(global int *r, local int *t) { local int own[256]; own[r[0]] = 1; t[0] = 2; "
                         "r[1] = own[r[2]] + t[r[3]]; }");
    cl_mem m = clCreateBuffer(context, 0, 64, NULL, &clt_error);
    clt_args(k, 2, ARG(m), LOCAL(most));
    FAILS(enqueue(k), CL_OUT_OF_RESOURCES);
    snprintf(pattern, sizeof pattern, "kernel f needs %u bytes of local memory for a work-group (1024 of its own "
                                      "variables, the rest of its arguments), and an engine has %u",
                                      (unsigned)most + 1024, (unsigned)most);
    expect(pattern);
    clt_args(k, 2, ARG(m), LOCAL(most - 1024));
    OK(enqueue(k));
    OK(clFinish(queue));
    OK(clReleaseKernel(k));
    OK(clReleaseMemObject(m));
}

static void test_private_memory(void **state)
{
    (void)state;
    char pattern[512];
    cl_mem m = clCreateBuffer(context, 0, 64, NULL, &clt_error);
    cl_kernel k = kernel("kernel void f(global int *r) { int p[500000]; for (int i = 0; i < 500000; i++) p[i] = r[i & "
                         "7]; r[1] = p[r[2]]; }");
    clt_args(k, 1, ARG(m));
    FAILS(enqueue(k), CL_OUT_OF_RESOURCES);
    expect("kernel f needs # bytes of private memory for a work-item, and 1048576 are the most");
    OK(clReleaseKernel(k));
    k = kernel("kernel void f(global int *r) { int p[250000]; for (int i = 0; i < 250000; i++) p[i] = r[i & 7]; "
               "r[1] = p[r[2]]; }");
    clt_args(k, 1, ARG(m));
    FAILS(enqueue(k), CL_OUT_OF_RESOURCES);
    snprintf(pattern, sizeof pattern, "no device memory for kernel f: # bytes of private memory for each of the %u "
                                      "work-items that an engine holds, in powers of two, are %u KiB: process "
                                      "'opencl_run_refusals': # KiB of device memory do not fit: # of 16384 KiB are "
                                      "free, or the address space is full", items, items * 1024);
    expect(pattern);
    OK(clReleaseKernel(k));
    OK(clReleaseMemObject(m));
}

static void test_device_memory(void **state)
{
    (void)state;
    cl_mem m[3];
    const int zero = 0;
    for (int i = 0; i < 3; i++) {
        m[i] = clCreateBuffer(context, 0, 8 * MEGABYTE, NULL, &clt_error);
        MADE(m[i]);
    }
    OK(clEnqueueFillBuffer(queue, m[0], &zero, sizeof zero, 0, 64, 0, NULL, NULL));
    static const char pattern[] = "no device memory for a buffer of 8388608 bytes: process 'opencl_run_refusals': 8192 "
                                  "KiB of device memory do not fit: # of 16384 KiB are free, or the address "
                                  "space is full";
    for (int i = 1; i < 3; i++) { /* Every command is refused, not only the first. */
        FAILS(clEnqueueFillBuffer(queue, m[i], &zero, sizeof zero, 0, 64, 0, NULL, NULL),
              CL_MEM_OBJECT_ALLOCATION_FAILURE);
        expect(pattern);
    }
    unsigned char *data = calloc(8, MEGABYTE);
    cl_mem copy = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, 8 * MEGABYTE, data, &clt_error);
    REFUSED(copy, CL_MEM_OBJECT_ALLOCATION_FAILURE);
    expect(pattern);
    const cl_image_format format = {CL_RGBA, CL_UNORM_INT8};
    const cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 2048, .image_height = 1024};
    const size_t origin[3] = {0}, region[3] = {1, 1, 1};
    cl_mem picture = clCreateImage(context, 0, &format, &desc, NULL, &clt_error);
    MADE(picture);
    FAILS(clEnqueueFillImage(queue, picture, (cl_float[4]){0}, origin, region, 0, NULL, NULL),
          CL_MEM_OBJECT_ALLOCATION_FAILURE);
    expect("no device memory for an image of 8388608 bytes: process 'opencl_run_refusals': 8192 KiB of device memory "
           "do not fit: # of 16384 KiB are free, or the address space is full");
    OK(clReleaseMemObject(picture));
    OK(clFinish(queue));
    for (int i = 0; i < 3; i++) {
        OK(clReleaseMemObject(m[i]));
    }
    free(data);
    OK(clFinish(queue));
    assert_int_equal(tellings, 0);
}

static void test_arguments(void **state)
{
    (void)state;
    cl_kernel k = kernel("struct s { int v[270]; }; kernel void f(global int *r, struct s a) { r[0] = a.v[r[1]]; }");
    static const char value[1080];
    cl_mem m = clCreateBuffer(context, 0, 64, NULL, &clt_error);
    clt_args(k, 2, ARG(m), sizeof value, value);
    FAILS(enqueue(k), CL_OUT_OF_RESOURCES);
    expect("kernel f takes # bytes of arguments, and 1024 are the most");
    OK(clReleaseKernel(k));
    OK(clReleaseMemObject(m));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_local_memory),
        cmocka_unit_test(test_private_memory),
        cmocka_unit_test(test_device_memory),
        cmocka_unit_test(test_arguments),
    };
    char config[256];
    const char *given = getenv("TERN_CONFIG");
    snprintf(config, sizeof config, "%s,mem=16M,host=0", given != NULL ? given : "default");
    setenv("TERN_CONFIG", config, 1);
    return cmocka_run_group_tests(tests, open_context, close_context);
}
