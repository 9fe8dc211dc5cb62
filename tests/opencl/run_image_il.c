/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Kernels with images in SPIR-V, which another compiler made of tests/opencl/il/images.cl, give the same results as
 * from their source, and have arguments of the same types.
 */
#include "image_device.h"

#include <stdio.h>
#include <string.h>

static char *load(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    char *data = calloc(1, 1 << 20);
    assert_non_null(f);
    assert_non_null(data);
    *size = fread(data, 1, (1 << 20) - 1, f);
    assert_int_not_equal(*size, 0);
    fclose(f);
    return data;
}

/** The program from its source, or from SPIR-V that was optimized to this level. */
static cl_program program_of(int level)
{
    size_t size;
    char path[1024];
    snprintf(path, sizeof path, level < 0 ? "%s/images.cl" : "%s/images-%d.spv", level < 0 ? IL_SOURCES : IL_FOLDER,
             level);
    char *data = load(path, &size);
    cl_program p = level < 0 ? clt_build(data, "-cl-std=CL2.0 -cl-kernel-arg-info")
                             : clCreateProgramWithIL(clt_context, data, size, &clt_error);
    MADE(p);
    if (level >= 0 && clBuildProgram(p, 1, &clt_device, "-cl-kernel-arg-info", NULL, NULL) != CL_SUCCESS) {
        static char log[1 << 16];
        clGetProgramBuildInfo(p, clt_device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
        fail_msg("%s", log);
    }
    free(data);
    return p;
}

enum { ITEMS = 64, OUT = 5 * ITEMS * 4, W = 13, H = 7 };

static void run_reads(cl_program p, const struct image i[6], const struct image_sampler *s, float out[OUT])
{
    cl_kernel k = clCreateKernel(p, "reads", &clt_error);
    MADE(k);
    cl_mem results = clt_buffer(OUT * sizeof *out, NULL);
    for (cl_uint a = 0; a < 6; a++) {
        image_arg(k, a, &i[a]);
    }
    sampler_arg(k, 6, s);
    OK(clSetKernelArg(k, 7, sizeof results, &results));
    clt_run(k, ITEMS, 0);
    clt_read(results, out, OUT * sizeof *out);
    OK(clReleaseMemObject(results));
    OK(clReleaseKernel(k));
}

static void test_reads(void **state)
{
    (void)state;
    static const struct {
        enum image_kind kind;
        cl_image_format format;
        unsigned size[3];
    } made[6] = {
        {IMAGE_1D, {CL_RGBA, CL_UNORM_INT8}, {W, 1, 1}},       {IMAGE_1D_ARRAY, {CL_R, CL_HALF_FLOAT}, {W, 1, 4}},
        {IMAGE_1D_BUFFER, {CL_RG, CL_FLOAT}, {W, 1, 1}},       {IMAGE_2D, {CL_BGRA, CL_UNORM_INT8}, {W, H, 1}},
        {IMAGE_2D_ARRAY, {CL_RGBA, CL_SIGNED_INT16}, {W, H, 3}}, {IMAGE_3D, {CL_RGBA, CL_UNORM_INT8}, {W, H, 5}},
    };
    static const struct image_sampler samplers[] = {{CL_ADDRESS_CLAMP, CL_FILTER_LINEAR, false},
                                                    {CL_ADDRESS_MIRRORED_REPEAT, CL_FILTER_NEAREST, true},
                                                    {CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_NEAREST, false}};
    static float want[OUT], got[OUT];
    struct image i[6];
    uint32_t seed = 1;
    for (unsigned n = 0; n < 6; n++) {
        i[n] = image_make(made[n].kind, made[n].format, made[n].size[0], made[n].size[1], made[n].size[2],
                          CL_MEM_READ_ONLY);
        image_fill(&i[n], &seed, false);
        image_write(&i[n]);
    }
    cl_program source = program_of(-1);
    for (int level = 0; level <= 2; level += 2) {
        cl_program il = program_of(level);
        for (size_t s = 0; s < LENGTH(samplers); s++) {
            run_reads(source, i, &samplers[s], want);
            run_reads(il, i, &samplers[s], got);
            for (unsigned n = 0; n < OUT; n++) {
                if (got[n] != want[n]) {
                    fail_msg("level %d, sampler %zu: number %u of output %u is %a from SPIR-V, and %a from source",
                             level, s, n % (4 * ITEMS), n / (4 * ITEMS), (double)got[n], (double)want[n]);
                }
            }
            assert_true(got[3 * 4 * ITEMS] == (float)W && got[3 * 4 * ITEMS + 3] == 3); /* the source is right */
        }
        OK(clReleaseProgram(il));
    }
    OK(clReleaseProgram(source));
    for (unsigned n = 0; n < 6; n++) {
        image_free(&i[n]);
    }
}

static void test_writes(void **state)
{
    (void)state;
    static const struct {
        enum image_kind kind;
        cl_image_format format;
    } made[5] = {{IMAGE_2D, {CL_RGBA, CL_UNORM_INT8}}, {IMAGE_2D, {CL_RGBA, CL_SIGNED_INT8}},
                 {IMAGE_2D, {CL_RG, CL_UNSIGNED_INT16}}, {IMAGE_3D, {CL_RGBA, CL_SNORM_INT16}},
                 {IMAGE_2D_ARRAY, {CL_A, CL_UNORM_INT8}}};
    static uint8_t got[2][5][W * H * 2 * 8];
    const size_t global[] = {W, H};
    memset(got, 0, sizeof got);
    for (int level = 0; level <= 2; level += 2) {
        for (int from = 0; from < 2; from++) {
            cl_program p = program_of(from ? level : -1);
            cl_kernel k = clCreateKernel(p, "writes", &clt_error);
            MADE(k);
            struct image i[5];
            for (cl_uint n = 0; n < 5; n++) {
                i[n] = image_make(made[n].kind, made[n].format, W, H, n < 3 ? 1 : 2, CL_MEM_WRITE_ONLY);
                image_arg(k, n, &i[n]);
            }
            OK(clEnqueueNDRangeKernel(clt_queue, k, 2, NULL, global, NULL, 0, NULL, NULL));
            for (unsigned n = 0; n < 5; n++) {
                image_fetch(&i[n], got[from][n]);
                image_free(&i[n]);
            }
            OK(clReleaseKernel(k));
            OK(clReleaseProgram(p));
        }
        for (unsigned n = 0; n < 5; n++) {
            const size_t at = clt_first_difference(got[0][n], got[1][n], sizeof got[0][n]);
            if (at < sizeof got[0][n]) {
                fail_msg("level %d, image %u: byte %zu is %u from SPIR-V, and %u from source", level, n, at,
                         got[1][n][at], got[0][n][at]);
            }
            assert_true(clt_first_difference(got[0][n], (uint8_t[sizeof got[0][n]]){0}, sizeof got[0][n]) <
                        sizeof got[0][n]);
        }
    }
}

static void test_arguments(void **state)
{
    (void)state;
    static const char *const types[] = {"image1d_t", "image1d_array_t", "image1d_buffer_t", "image2d_t",
                                        "image2d_array_t", "image3d_t", "sampler_t"};
    for (int level = -1; level <= 2; level += level < 0 ? 1 : 2) {
        cl_program p = program_of(level);
        cl_kernel k = clCreateKernel(p, "reads", &clt_error);
        MADE(k);
        for (cl_uint a = 0; a < LENGTH(types); a++) {
            char type[64];
            cl_kernel_arg_access_qualifier access;
            cl_kernel_arg_address_qualifier space;
            OK(clGetKernelArgInfo(k, a, CL_KERNEL_ARG_TYPE_NAME, sizeof type, type, NULL));
            OK(clGetKernelArgInfo(k, a, CL_KERNEL_ARG_ACCESS_QUALIFIER, sizeof access, &access, NULL));
            OK(clGetKernelArgInfo(k, a, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof space, &space, NULL));
            assert_string_equal(type, types[a]);
            assert_int_equal(access, a < 6 ? CL_KERNEL_ARG_ACCESS_READ_ONLY : CL_KERNEL_ARG_ACCESS_NONE);
            assert_int_equal(space, a < 6 ? CL_KERNEL_ARG_ADDRESS_GLOBAL : CL_KERNEL_ARG_ADDRESS_PRIVATE);
        }
        OK(clReleaseKernel(k));
        OK(clReleaseProgram(p));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads),
        cmocka_unit_test(test_writes),
        cmocka_unit_test(test_arguments),
    };
    return cmocka_run_group_tests(tests, clt_open, clt_close);
}
