/* SPDX-License-Identifier: Apache-2.0 */
/** Images and samplers as arguments of kernels: what a kernel may take, what it finds in them, and how many. */
#include "refused.h"

#include <stdbool.h>

enum { KINDS = 8, ACCESSES = 3 };

/** A kind of image, by the name that it has in OpenCL C. */
struct kind {
    const char *name;
    cl_mem_object_type type;
    bool depth;
    size_t width, height, slices, layers; /**< 0: it has no such size. */
};

static const struct kind kinds[KINDS] = {
    {"image1d_t", CL_MEM_OBJECT_IMAGE1D, false, 7, 0, 0, 0},
    {"image1d_buffer_t", CL_MEM_OBJECT_IMAGE1D_BUFFER, false, 9, 0, 0, 0},
    {"image1d_array_t", CL_MEM_OBJECT_IMAGE1D_ARRAY, false, 7, 0, 0, 3},
    {"image2d_t", CL_MEM_OBJECT_IMAGE2D, false, 7, 5, 0, 0},
    {"image2d_array_t", CL_MEM_OBJECT_IMAGE2D_ARRAY, false, 7, 5, 0, 3},
    {"image2d_depth_t", CL_MEM_OBJECT_IMAGE2D, true, 7, 5, 0, 0},
    {"image2d_array_depth_t", CL_MEM_OBJECT_IMAGE2D_ARRAY, true, 7, 5, 0, 3},
    {"image3d_t", CL_MEM_OBJECT_IMAGE3D, false, 7, 5, 2, 0},
};
static const char *const qualifiers[ACCESSES] = {"read_only", "write_only", "read_write"};
static const cl_mem_flags accesses[ACCESSES] = {CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY, CL_MEM_READ_WRITE};

static cl_mem make(const struct kind *k, cl_mem_flags flags)
{
    const cl_image_format format = {k->depth ? CL_DEPTH : CL_RG, k->depth ? CL_FLOAT : CL_UNSIGNED_INT16};
    cl_image_desc desc = {.image_type = k->type, .image_width = k->width, .image_height = k->height,
                          .image_depth = k->slices, .image_array_size = k->layers};
    if (k->type == CL_MEM_OBJECT_IMAGE1D_BUFFER) {
        desc.buffer = clCreateBuffer(context, 0, 64, NULL, &clt_error);
        MADE(desc.buffer);
    }
    cl_mem m = clCreateImage(context, flags, &format, &desc, NULL, &clt_error);
    MADE(m);
    if (desc.buffer != NULL) {
        OK(clReleaseMemObject(desc.buffer));
    }
    return m;
}

static cl_program build(const char *source, const char *options)
{
    cl_program p = clCreateProgramWithSource(context, 1, &source, NULL, &clt_error);
    MADE(p);
    if (clBuildProgram(p, 0, NULL, options, NULL, NULL) != CL_SUCCESS) {
        static char log[8192];
        clGetProgramBuildInfo(p, clt_device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
        fail_msg("%s", log);
    }
    return p;
}

static cl_kernel kernel(cl_program p, const char *name)
{
    cl_kernel k = clCreateKernel(p, name, &clt_error);
    MADE(k);
    return k;
}

/** Every kind of image for every kind of argument, with every access. */
static void test_types_and_access(void **state)
{
    (void)state;
    static char source[16384];
    cl_mem images[KINDS][ACCESSES];
    cl_mem buffer = clCreateBuffer(context, 0, 64, NULL, &clt_error), none = NULL;
    MADE(buffer);
    for (int i = 0; i < KINDS; i++) {
        for (int a = 0; a < ACCESSES; a++) {
            images[i][a] = make(&kinds[i], accesses[a]);
            sprintf(source + strlen(source), "kernel void f%d(%s %s i, sampler_t s, global int *r) { *r = 1; }\n",
                    i * ACCESSES + a, qualifiers[a], kinds[i].name);
        }
    }
    cl_program p = build(source, "-cl-std=CL3.0 -cl-kernel-arg-info");
    for (int i = 0; i < KINDS; i++) {
        for (int a = 0; a < ACCESSES; a++) {
            char name[8], text[128], type[64] = "";
            sprintf(name, "f%d", i * ACCESSES + a);
            cl_kernel k = kernel(p, name);
            for (int j = 0; j < KINDS; j++) {
                for (int b = 0; b < ACCESSES; b++) {
                    const cl_int got = clSetKernelArg(k, 0, sizeof(cl_mem), &images[j][b]);
                    if (j != i) {
                        sprintf(text, "argument 'i' of kernel %s is %s, and cannot be a ", name, kinds[i].name);
                        told_is(got, CL_INVALID_MEM_OBJECT, text);
                    } else if (b != a && b != 2) {
                        sprintf(text, "is %s %s, and the image was made with CL_MEM_%s", qualifiers[a], kinds[i].name,
                                b == 0 ? "READ_ONLY" : "WRITE_ONLY");
                        told_is(got, CL_INVALID_ARG_VALUE, text);
                    } else {
                        OK(got);
                    }
                }
            }
            FAILS(clSetKernelArg(k, 0, sizeof(cl_mem), &buffer), CL_INVALID_MEM_OBJECT);
            FAILS(clSetKernelArg(k, 0, sizeof(cl_mem), &none), CL_INVALID_MEM_OBJECT);
            FAILS(clSetKernelArg(k, 0, sizeof(cl_mem), NULL), CL_INVALID_MEM_OBJECT);
            FAILS(clSetKernelArg(k, 0, 64, &images[i][a]), CL_INVALID_ARG_SIZE);
            FAILS(clSetKernelArg(k, 2, sizeof(cl_mem), &images[i][a]), CL_INVALID_MEM_OBJECT);
            FAILS(clSetKernelArgSVMPointer(k, 0, NULL), CL_INVALID_ARG_VALUE);
            cl_kernel_arg_access_qualifier access = 0;
            cl_kernel_arg_address_qualifier space = 0;
            OK(clGetKernelArgInfo(k, 0, CL_KERNEL_ARG_ACCESS_QUALIFIER, sizeof access, &access, NULL));
            OK(clGetKernelArgInfo(k, 0, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof space, &space, NULL));
            OK(clGetKernelArgInfo(k, 0, CL_KERNEL_ARG_TYPE_NAME, sizeof type, type, NULL));
            assert_int_equal(access, a == 0   ? CL_KERNEL_ARG_ACCESS_READ_ONLY
                                     : a == 1 ? CL_KERNEL_ARG_ACCESS_WRITE_ONLY
                                              : CL_KERNEL_ARG_ACCESS_READ_WRITE);
            assert_int_equal(space, CL_KERNEL_ARG_ADDRESS_GLOBAL);
            assert_string_equal(type, kinds[i].name);
            OK(clReleaseKernel(k));
        }
    }
    told[0] = '\0';
    for (int i = 0; i < KINDS; i++) {
        for (int a = 0; a < ACCESSES; a++) {
            OK(clReleaseMemObject(images[i][a]));
        }
    }
    OK(clReleaseMemObject(buffer));
    OK(clReleaseProgram(p));
}

static void test_samplers(void **state)
{
    (void)state;
    const size_t one = 1;
    cl_program p = build("kernel void f(read_only image2d_t i, sampler_t s, global uint *r) "
                         "{ r[0] = read_imageui(i, s, (float2)(7.5f, 0.5f)).x; }", "");
    cl_kernel k = kernel(p, "f");
    cl_sampler s = clCreateSampler(context, CL_FALSE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_NEAREST, &clt_error);
    MADE(s);
    cl_sampler foreign = clCreateSampler(clt_context, CL_FALSE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_NEAREST,
                                         &clt_error);
    cl_sampler none = NULL;
    const cl_ushort pixels[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT16};
    const cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 2, .image_height = 1};
    cl_mem m = clCreateImage(context, CL_MEM_COPY_HOST_PTR, &format, &desc, (void *)(uintptr_t)pixels, &clt_error);
    MADE(m);
    cl_mem r = clCreateBuffer(context, 0, 64, NULL, &clt_error);
    MADE(r);
    FAILS(clSetKernelArg(k, 1, sizeof s, &none), CL_INVALID_SAMPLER);
    FAILS(clSetKernelArg(k, 1, sizeof s, NULL), CL_INVALID_SAMPLER);
    FAILS(clSetKernelArg(k, 1, sizeof s, &m), CL_INVALID_SAMPLER);
    FAILS(clSetKernelArg(k, 1, sizeof s, &foreign), CL_INVALID_SAMPLER);
    FAILS(clSetKernelArg(k, 1, 4, &s), CL_INVALID_ARG_SIZE);
    FAILS(clSetKernelArg(k, 0, sizeof m, &s), CL_INVALID_MEM_OBJECT);
    clt_args(k, 1, ARG(m));
    OK(clSetKernelArg(k, 2, sizeof r, &r));
    FAILS(clEnqueueNDRangeKernel(queue, k, 1, NULL, &one, NULL, 0, NULL, NULL), CL_INVALID_KERNEL_ARGS);
    OK(clSetKernelArg(k, 1, sizeof s, &s));
    OK(clReleaseSampler(s)); /* The kernel has its value. */
    cl_kernel copy = clCloneKernel(k, &clt_error);
    MADE(copy);
    cl_uint got = 0;
    OK(clEnqueueNDRangeKernel(queue, copy, 1, NULL, &one, NULL, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(queue, r, CL_TRUE, 0, sizeof got, &got, 0, NULL, NULL));
    assert_int_equal(got, 5);
    OK(clEnqueueNDRangeKernel(queue, k, 1, NULL, &one, NULL, 0, NULL, NULL));
    OK(clReleaseMemObject(m)); /* The command holds the image, and the kernel does not. */
    OK(clFinish(queue));
    FAILS(clEnqueueNDRangeKernel(queue, k, 1, NULL, &one, NULL, 0, NULL, NULL), CL_INVALID_KERNEL_ARGS);
    OK(clReleaseSampler(foreign));
    OK(clReleaseMemObject(r));
    OK(clReleaseKernel(copy));
    OK(clReleaseKernel(k));
    OK(clReleaseProgram(p));
}

/** What kernels find: sizes, channel order and data type of every kind of image. */
static void test_queries(void **state)
{
    (void)state;
    static char source[8192];
    source[0] = '\0';
    for (int i = 0; i < KINDS; i++) {
        sprintf(source + strlen(source), "kernel void f%d(read_only %s i, global int *r) {\n"
                "r[0] = get_image_width(i); r[1] = %s; r[2] = %s; r[3] = %s; r[4] = get_image_channel_order(i); "
                "r[5] = get_image_channel_data_type(i); }\n", i, kinds[i].name,
                kinds[i].height != 0 ? "get_image_height(i)" : "0", kinds[i].slices != 0 ? "get_image_depth(i)" : "0",
                kinds[i].layers != 0 ? "(int)get_image_array_size(i)" : "0");
    }
    cl_program p = build(source, "-cl-std=CL3.0");
    cl_mem r = clCreateBuffer(context, 0, 64, NULL, &clt_error);
    MADE(r);
    for (int i = 0; i < KINDS; i++) {
        char name[8];
        const size_t one = 1;
        cl_int got[6] = {0};
        sprintf(name, "f%d", i);
        cl_kernel k = kernel(p, name);
        cl_mem m = make(&kinds[i], 0);
        clt_args(k, 2, ARG(m), ARG(r));
        OK(clEnqueueNDRangeKernel(queue, k, 1, NULL, &one, NULL, 0, NULL, NULL));
        OK(clEnqueueReadBuffer(queue, r, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL));
        const cl_int want[6] = {(cl_int)kinds[i].width,  (cl_int)kinds[i].height, (cl_int)kinds[i].slices,
                                (cl_int)kinds[i].layers, kinds[i].depth ? CL_DEPTH : CL_RG,
                                kinds[i].depth ? CL_FLOAT : CL_UNSIGNED_INT16};
        for (int n = 0; n < 6; n++) {
            if (got[n] != want[n]) {
                fail_msg("%s, query %d: %d instead of %d", kinds[i].name, n, got[n], want[n]);
            }
        }
        OK(clReleaseKernel(k));
        OK(clReleaseMemObject(m));
    }
    OK(clReleaseMemObject(r));
    OK(clReleaseProgram(p));
}

/** Builds a kernel with so many images to read and to write. The reads are added with different weights. */
static cl_program build_many(unsigned reads, unsigned writes)
{
    static char source[65536];
    char *at = source;
    at += sprintf(at, "kernel void f(");
    for (unsigned i = 0; i < reads; i++) {
        at += sprintf(at, "read_only image2d_t r%u, ", i);
    }
    for (unsigned i = 0; i < writes; i++) {
        at += sprintf(at, "write_only image2d_t w%u, ", i);
    }
    at += sprintf(at, "sampler_t s, global uint *sum) {\nuint t = 0;\n");
    for (unsigned i = 0; i < reads; i++) {
        at += sprintf(at, "t += %u * read_imageui(r%u, s, (int2)(0, 0)).x;\n", i + 1, i);
    }
    for (unsigned i = 0; i < writes; i++) {
        at += sprintf(at, "write_imageui(w%u, (int2)(0, 0), (uint4)(%u));\n", i, 7 * i);
    }
    sprintf(at, "*sum = t; }\n");
    return build(source, "");
}

/** As many images as the queries promise, of which each is its own, and one more. */
static void test_most_images(void **state)
{
    (void)state;
    enum { READS = 128, WRITES = 64 };
    const cl_image_format format = {CL_R, CL_UNSIGNED_INT16};
    const cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 1, .image_height = 1};
    const size_t one = 1, zero[3] = {0, 0, 0}, region[3] = {1, 1, 1};
    cl_mem images[READS + WRITES];
    cl_uint reads = 0, writes = 0, both = 0, samplers = 0, sum = 0, want = 0;
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_MAX_READ_IMAGE_ARGS, sizeof reads, &reads, NULL));
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_MAX_WRITE_IMAGE_ARGS, sizeof writes, &writes, NULL));
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS, sizeof both, &both, NULL));
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_MAX_SAMPLERS, sizeof samplers, &samplers, NULL));
    assert_true(reads == READS && writes == WRITES && both == WRITES && samplers >= 16);
    cl_program p = build_many(READS, WRITES);
    cl_kernel k = kernel(p, "f");
    cl_sampler s = clCreateSampler(context, CL_FALSE, CL_ADDRESS_NONE, CL_FILTER_NEAREST, &clt_error);
    MADE(s);
    cl_mem r = clCreateBuffer(context, 0, 64, NULL, &clt_error);
    MADE(r);
    for (unsigned i = 0; i < READS + WRITES; i++) {
        cl_ushort value = (cl_ushort)(i * 37 % 101);
        images[i] = clCreateImage(context, CL_MEM_COPY_HOST_PTR, &format, &desc, &value, &clt_error);
        MADE(images[i]);
        OK(clSetKernelArg(k, i, sizeof(cl_mem), &images[i]));
        want += i < READS ? (i + 1) * value : 0;
    }
    OK(clSetKernelArg(k, READS + WRITES, sizeof s, &s));
    OK(clSetKernelArg(k, READS + WRITES + 1, sizeof r, &r));
    for (int round = 0; round < 3; round++) {
        OK(clEnqueueNDRangeKernel(queue, k, 1, NULL, &one, NULL, 0, NULL, NULL));
    }
    OK(clEnqueueReadBuffer(queue, r, CL_TRUE, 0, sizeof sum, &sum, 0, NULL, NULL));
    assert_int_equal(sum, want);
    for (unsigned i = 0; i < READS + WRITES; i++) {
        cl_ushort value = 9;
        OK(clEnqueueReadImage(queue, images[i], CL_TRUE, zero, region, 0, 0, &value, 0, NULL, NULL));
        assert_int_equal(value, i < READS ? i * 37 % 101 : 7 * (i - READS));
    }
    OK(clReleaseKernel(k));
    OK(clReleaseProgram(p));
    p = build_many(READS + 1, 1);
    k = kernel(p, "f");
    for (unsigned i = 0; i < READS + 2; i++) {
        OK(clSetKernelArg(k, i, sizeof(cl_mem), &images[i]));
    }
    OK(clSetKernelArg(k, READS + 2, sizeof s, &s));
    OK(clSetKernelArg(k, READS + 3, sizeof r, &r));
    told_is(clEnqueueNDRangeKernel(queue, k, 1, NULL, &one, NULL, 0, NULL, NULL), CL_OUT_OF_RESOURCES,
            "kernel f takes 129 images that it reads and 1 that it writes, and 128 and 64 are the most");
    OK(clReleaseKernel(k));
    OK(clReleaseProgram(p));
    for (unsigned i = 0; i < READS + WRITES; i++) {
        OK(clReleaseMemObject(images[i]));
    }
    OK(clReleaseSampler(s));
    OK(clReleaseMemObject(r));
}

/** A kernel sees an image through every object that shares its bytes. */
static void test_shared_bytes(void **state)
{
    (void)state;
    const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
    const size_t range[2] = {5, 3};
    unsigned char got[3 * 24];
    cl_program p = build("kernel void f(write_only image2d_t i) { const int2 at = (int2)(get_global_id(0), "
                         "get_global_id(1)); write_imageui(i, at, (uint4)(at.x, at.y, 7, 9)); }\n"
                         "kernel void g(read_only image1d_buffer_t i, global uint4 *r) "
                         "{ r[0] = read_imageui(i, 6 + 6 + 4); }", "");
    cl_kernel f = kernel(p, "f"), g = kernel(p, "g");
    memset(got, 0x11, sizeof got);
    cl_mem b = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof got, got, &clt_error);
    MADE(b);
    cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 5, .image_height = 3,
                          .image_row_pitch = 24, .buffer = b};
    cl_mem flat = clCreateImage(context, 0, &format, &desc, NULL, &clt_error);
    MADE(flat);
    const cl_image_desc line = {.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER, .image_width = 18, .buffer = b};
    cl_mem row = clCreateImage(context, 0, &format, &line, NULL, &clt_error);
    MADE(row);
    cl_mem r = clCreateBuffer(context, 0, 64, NULL, &clt_error);
    MADE(r);
    clt_args(f, 1, ARG(flat));
    clt_args(g, 2, ARG(row), ARG(r));
    OK(clEnqueueNDRangeKernel(queue, f, 2, NULL, range, NULL, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(queue, b, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL));
    for (unsigned y = 0; y < 3; y++) {
        for (unsigned x = 0; x < 6; x++) {
            const unsigned char want[4] = {(unsigned char)x, (unsigned char)y, 7, 9}, old[4] = {17, 17, 17, 17};
            assert_memory_equal(got + y * 24 + x * 4, x < 5 ? want : old, 4);
        }
    }
    cl_uint pixel[4] = {0};
    OK(clEnqueueNDRangeKernel(queue, g, 1, NULL, (size_t[]){1}, NULL, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(queue, r, CL_TRUE, 0, sizeof pixel, pixel, 0, NULL, NULL));
    assert_true(pixel[0] == 4 && pixel[1] == 2 && pixel[2] == 7 && pixel[3] == 9);
    OK(clReleaseMemObject(row));
    OK(clReleaseMemObject(flat));
    OK(clReleaseMemObject(b));
    OK(clReleaseMemObject(r));
    OK(clReleaseKernel(f));
    OK(clReleaseKernel(g));
    OK(clReleaseProgram(p));
}

/** A fault beyond an image names it. The image is in shared virtual memory, so that its address is known. */
static void test_fault(void **state)
{
    (void)state;
    const size_t one = 1;
    const cl_image_format format = {CL_RGBA, CL_UNORM_INT8};
    const cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 8, .image_height = 4};
    cl_context c = clCreateContext(NULL, 1, &clt_device, tell, NULL, &clt_error);
    MADE(c);
    cl_command_queue q = clCreateCommandQueue(c, clt_device, 0, &clt_error);
    MADE(q);
    char *memory = clSVMAlloc(c, CL_MEM_READ_WRITE, 4096, 0);
    if (memory == NULL) {
        print_message("no shared virtual memory\n");
    } else {
        const char *source = "kernel void f(write_only image2d_t i, uint a) { *(global int *)a = 1; }";
        cl_program p = clCreateProgramWithSource(c, 1, &source, NULL, &clt_error);
        MADE(p);
        OK(clBuildProgram(p, 0, NULL, NULL, NULL, NULL));
        cl_kernel k = kernel(p, "f");
        cl_mem m = clCreateImage(c, CL_MEM_USE_HOST_PTR, &format, &desc, memory, &clt_error);
        MADE(m);
        const cl_uint address = (cl_uint)(uintptr_t)memory + 128 + 65536;
        clt_args(k, 2, ARG(m), ARG(address));
        OK(clEnqueueNDRangeKernel(q, k, 1, NULL, &one, NULL, 0, NULL, NULL));
        clFinish(q);
        told_is(CL_SUCCESS, CL_SUCCESS,
                "That is 65536 bytes beyond the end of argument 'i', an image of 8 x 4 pixels in 128 bytes.");
        OK(clReleaseMemObject(m));
        OK(clReleaseKernel(k));
        OK(clReleaseProgram(p));
        clSVMFree(c, memory);
    }
    OK(clReleaseCommandQueue(q));
    OK(clReleaseContext(c));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types_and_access), cmocka_unit_test(test_samplers),
        cmocka_unit_test(test_queries),          cmocka_unit_test(test_most_images),
        cmocka_unit_test(test_shared_bytes),     cmocka_unit_test(test_fault),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
