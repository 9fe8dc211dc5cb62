/* SPDX-License-Identifier: Apache-2.0 */
/** A kernel that never ends: others run beside it and after it (F2), and it is ended if the driver was given a
 * limit. */
#include "clt.h"

#include <stdio.h>
#include <string.h>

static char told[512];

static void CL_CALLBACK tell(const char *text, const void *info, size_t size, void *data)
{
    (void)info;
    (void)size;
    (void)data;
    snprintf(told, sizeof told, "%s", text);
}

static void test_endless_kernel(void **state)
{
    (void)state;
    const char *source = "kernel void endless(global volatile int *r) { while (r[0] == 0) r[1]++; }";
    cl_context c = clCreateContext(NULL, 1, &clt_device, tell, NULL, &clt_error);
    MADE(c);
    cl_command_queue q = clCreateCommandQueue(c, clt_device, 0, &clt_error);
    MADE(q);
    cl_program p = clCreateProgramWithSource(c, 1, &source, NULL, &clt_error);
    OK(clBuildProgram(p, 0, NULL, NULL, NULL, NULL));
    cl_kernel k = clCreateKernel(p, "endless", &clt_error), quick;
    MADE(k);
    cl_mem m = clCreateBuffer(c, 0, 64, NULL, &clt_error);
    const size_t one = 1;
    clt_args(k, 1, ARG(m));
    OK(clEnqueueNDRangeKernel(q, k, 1, NULL, &one, NULL, 0, NULL, NULL));

    quick = clt_kernel("kernel void f(global int *r) { r[get_global_id(0)] += 1; }", "f");
    int v[4] = {0};
    cl_mem n = clt_buffer(sizeof v, v);
    clt_args(quick, 1, ARG(n));
    clt_run(quick, 4, 0); /* This kernel runs beside the endless one. */
    FAILS(clFinish(q), CL_OUT_OF_RESOURCES);
    assert_non_null(strstr(told, ": kernel endless: ran longer than 400000 cycles"));
    assert_non_null(strstr(told, "TERN_LIMIT_CYCLES"));
    clt_run(quick, 4, 0); /* This kernel runs after the endless one. */
    clt_read(n, v, sizeof v);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(v[i], 2);
    }
    OK(clReleaseMemObject(n));
    OK(clReleaseKernel(quick));
    OK(clReleaseMemObject(m));
    OK(clReleaseKernel(k));
    OK(clReleaseProgram(p));
    OK(clReleaseCommandQueue(q));
    OK(clReleaseContext(c));
}

int main(void)
{
    setenv("TERN_LIMIT_CYCLES", "400000", 1);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_endless_kernel)};
    return cmocka_run_group_tests(tests, clt_open, clt_close);
}
