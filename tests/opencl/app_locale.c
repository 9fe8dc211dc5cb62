/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A program whose locale has a decimal comma. The library prints and reads numbers as in the C locale, and the
 * program's locale is unchanged.
 */
#include "clt.h"

#include "comma.h"

#include <unistd.h>

static const char source[] = "kernel void k(global float *out) { out[0] = V; printf(\"%f %5.2e %v2g|\", out[0], "
                             "out[0], (float2)(0.5f, 2.25f)); }";

/** Runs the kernel and copies what it printed to `text`. */
static float run(char *text, size_t size)
{
    char name[] = "/tmp/tern-locale.XXXXXX";
    const int file = mkstemp(name);
    assert_true(file >= 0);
    unlink(name);
    cl_program p = clt_build(source, "-DV=1.25f");
    cl_kernel k = clCreateKernel(p, "k", &clt_error);
    MADE(k);
    cl_mem m = clt_buffer(sizeof(float), NULL);
    clt_args(k, 1, ARG(m));
    fflush(stdout);
    const int old = dup(STDOUT_FILENO);
    assert_true(old >= 0 && dup2(file, STDOUT_FILENO) >= 0);
    clt_run(k, 1, 1);
    fflush(stdout);
    assert_true(dup2(old, STDOUT_FILENO) >= 0);
    close(old);
    const ssize_t n = pread(file, text, size - 1, 0);
    assert_true(n >= 0);
    text[n] = '\0';
    close(file);
    float value = 0;
    clt_read(m, &value, sizeof value);
    OK(clReleaseMemObject(m));
    OK(clReleaseKernel(k));
    OK(clReleaseProgram(p));
    return value;
}

static void test_comma(void **state)
{
    static const cl_device_info infos[] = {CL_DEVICE_NAME, CL_DEVICE_VERSION, CL_DRIVER_VERSION,
                                           CL_DEVICE_OPENCL_C_VERSION, CL_DEVICE_EXTENSIONS};
    static char plain[LENGTH(infos)][4096];
    char text[256], other[4096];
    assert_int_equal(clt_open(state), 0);
    for (size_t i = 0; i < LENGTH(infos); i++) {
        OK(clGetDeviceInfo(clt_device, infos[i], sizeof plain[i], plain[i], NULL));
    }
    assert_int_equal(clt_close(state), 0);
    if (comma_locale()) {
        print_message("localedef cannot make a locale here\n");
        skip();
    }
    assert_int_equal(clt_open(state), 0); /* The device is opened under that locale and reads its configuration. */
    for (size_t i = 0; i < LENGTH(infos); i++) {
        OK(clGetDeviceInfo(clt_device, infos[i], sizeof other, other, NULL));
        assert_string_equal(other, plain[i]);
    }
    assert_true(run(text, sizeof text) == 1.25f);
    assert_string_equal(text, "1.250000 1.25e+00 0.5,2.25|");
    assert_int_equal(clt_close(state), 0);
    assert_string_equal(localeconv()->decimal_point, ",");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_comma)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
