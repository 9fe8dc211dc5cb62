/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A driver that has no room for all memory of a process (A6) refuses submissions until the queue names the memory that
 * each of them uses. The runtime then names it and submits again, and names it at once for all later commands of the
 * queue. Devices that answer page requests never refuse, so the runtime of this test has a driver that does
 * (no_room.c).
 */
#include "clt.h"

#include <dlfcn.h>
#include <string.h>

#include "no_room.h"

static struct no_room *driver;

static bool is_named(uint32_t address)
{
    for (uint32_t i = 0; i < NO_ROOM_NAMES; i++) {
        if (driver->names[i] == address) {
            return true;
        }
    }
    return false;
}

/** A buffer of one word, and its device address. */
static cl_mem make(cl_kernel where, cl_uint *address)
{
    cl_mem m = clCreateBuffer(clt_context, 0, sizeof(cl_uint), NULL, &clt_error);
    MADE(m);
    clt_args(where, 1, ARG(m));
    clt_run(where, 1, 0);
    OK(clEnqueueReadBuffer(clt_queue, m, CL_TRUE, 0, sizeof *address, address, 0, NULL, NULL));
    return m;
}

static void test_names(void **state)
{
    (void)state;
    cl_kernel where = clt_kernel("kernel void where(global uint *p) { *p = (uint)(uintptr_t)p; }", "where");
    cl_kernel add = clt_kernel("kernel void add(global uint *to, global const uint *from) { *to += *from; }", "add");
    cl_uint at[3], got = 0;
    cl_mem m[3];
    driver = dlsym(dlopen(getenv("TERN_NO_ROOM"), RTLD_NOW | RTLD_NOLOAD), "no_room");
    assert_non_null(driver);
    for (unsigned i = 0; i < 3; i++) {
        m[i] = make(where, &at[i]);
    }
    assert_int_equal(driver->named, 0);
    driver->on = true;
    for (unsigned i = 0; i < 2; i++) { /* The first command is refused, and not the second. */
        memset(driver->names, 0, sizeof driver->names);
        clt_args(add, 2, ARG(m[i]), ARG(m[i + 1]));
        clt_run(add, 1, 0);
        assert_int_equal(driver->refused, 1);
        assert_int_equal(driver->named, i + 1);
        assert_true(is_named(at[i]) && is_named(at[i + 1]) && !is_named(at[i == 0 ? 2 : 0]));
    }
    driver->on = false;
    OK(clEnqueueReadBuffer(clt_queue, m[1], CL_TRUE, 0, sizeof got, &got, 0, NULL, NULL));
    assert_int_equal(got, at[1] + at[2]);
    for (unsigned i = 0; i < 3; i++) {
        OK(clReleaseMemObject(m[i]));
    }
    OK(clReleaseKernel(where));
    OK(clReleaseKernel(add));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_names)};
    return cmocka_run_group_tests(tests, clt_open, clt_close);
}
