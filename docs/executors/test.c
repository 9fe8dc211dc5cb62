/* SPDX-License-Identifier: Apache-2.0 */
/** The user executor NAME through OpenCL: ctest runs it at rest and preempted. */
#include "../clt.h"

static void test_results(void **state)
{
    (void)state;
    enum { MOST = 20000 };
    static const size_t lengths[] = {1, 16, 17, 1000, MOST};
    static cl_uint src[MOST], dst[MOST];
    const cl_uint key = 0x5a0ff0a5;
    const char *name = "NAME";
    cl_program p = clCreateProgramWithBuiltInKernels(clt_context, 1, &clt_device, name, &clt_error);
    MADE(p);
    cl_kernel k = clCreateKernel(p, name, &clt_error);
    MADE(k);
    for (size_t l = 0; l < LENGTH(lengths); l++) {
        for (cl_uint i = 0; i < MOST; i++) {
            src[i] = i * 2654435761u;
            dst[i] = i;
        }
        cl_mem from = clt_buffer(sizeof src, src), to = clt_buffer(sizeof dst, dst);
        clt_args(k, 3, ARG(key), ARG(from), ARG(to));
        clt_run(k, lengths[l], 0);
        clt_read(to, dst, sizeof dst);
        for (cl_uint i = 0; i < MOST; i++) {
            assert_int_equal(dst[i], i < lengths[l] ? src[i] ^ key : i);
        }
        OK(clReleaseMemObject(from));
        OK(clReleaseMemObject(to));
    }
    OK(clReleaseKernel(k));
    OK(clReleaseProgram(p));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_results)};
    return cmocka_run_group_tests_name("NAME", tests, clt_open, clt_close);
}
