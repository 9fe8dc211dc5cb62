/* SPDX-License-Identifier: Apache-2.0 */
/** Settings by environment variables. Each case runs in a process of its own, because a process opens the device
 * once. */
#include "clt.h"

#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/** Runs in a child: exits with the error of clGetDeviceIDs, and with whether the device has the type. */
static int look(cl_device_type type)
{
    cl_platform_id p;
    cl_device_id d;
    cl_device_type t = 0;
    if (clGetPlatformIDs(1, &p, NULL) != CL_SUCCESS) {
        return 100;
    }
    const cl_int error = clGetDeviceIDs(p, CL_DEVICE_TYPE_ALL, 1, &d, NULL);
    if (error != CL_SUCCESS) {
        return -error;
    }
    if (clGetDeviceInfo(d, CL_DEVICE_TYPE, sizeof t, &t, NULL) != CL_SUCCESS) {
        return 101;
    }
    return t == type ? 0 : 102;
}

/** Runs `look` in a child with a variable set. *told receives the number of bytes that the child wrote to stderr. */
static int ask(const char *name, const char *value, cl_device_type type, size_t *told)
{
    int out[2], status = 0;
    char text[4096];
    assert_int_equal(pipe(out), 0);
    const pid_t child = fork();
    if (child == 0) {
        dup2(out[1], 2);
        close(out[0]);
        setenv("TERN_BACKEND", "model", 0);
        setenv(name, value, 1);
        _exit(look(type));
    }
    assert_true(child > 0);
    close(out[1]);
    const ssize_t n = read(out[0], text, sizeof text);
    close(out[0]);
    *told = n > 0 ? (size_t)n : 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void test_device_type(void **state)
{
    (void)state;
    size_t told;
    assert_int_equal(ask("TERN_CL_DEVICE_TYPE", "gpu", CL_DEVICE_TYPE_GPU, &told), 0);
    assert_int_equal(ask("TERN_CL_DEVICE_TYPE", "accelerator", CL_DEVICE_TYPE_ACCELERATOR, &told), 0);
    assert_int_equal(ask("TERN_CL_DEVICE_TYPE", "", CL_DEVICE_TYPE_GPU, &told), 0);
    assert_int_equal(told, 0);
    assert_int_equal(ask("TERN_CL_DEVICE_TYPE", "foo", 0, &told), -CL_DEVICE_NOT_FOUND);
    assert_true(told > 0);
}

/** If the device cannot be opened, the platform exists without a device, and stderr says why. */
static void test_no_device(void **state)
{
    (void)state;
    const bool through = getenv("TERND_SOCKET"); /* Backend and configuration are then those of the ternd. */
    size_t told;
    assert_int_equal(ask("TERND_SOCKET", "/nowhere/sock", 0, &told), -CL_DEVICE_NOT_FOUND);
    assert_true(told > 0);
    assert_int_equal(ask("TERN_BACKEND", "no-such-backend", 0, &told), through ? 102 : -CL_DEVICE_NOT_FOUND);
    assert_int_equal(told > 0, !through);
    assert_int_equal(ask("TERN_CONFIG", "default,mem=nonsense", 0, &told), through ? 102 : -CL_DEVICE_NOT_FOUND);
    assert_int_equal(told > 0, !through);
}

static const char *wanted_name, *wanted_driver;

/** Compares the device's name, and the rest of its driver's version behind the versions of runtime and compiler. */
static int look_at_names(void)
{
    cl_platform_id p;
    cl_device_id d;
    char name[256], driver[256], version[256];
    if (clGetPlatformIDs(1, &p, NULL) || clGetDeviceIDs(p, CL_DEVICE_TYPE_ALL, 1, &d, NULL) ||
        clGetDeviceInfo(d, CL_DEVICE_NAME, sizeof name, name, NULL) ||
        clGetDeviceInfo(d, CL_DRIVER_VERSION, sizeof driver, driver, NULL) ||
        clGetPlatformInfo(p, CL_PLATFORM_VERSION, sizeof version, version, NULL)) {
        return 100;
    }
    const size_t number = strspn(driver, "0123456789."), compiler = number + 1;
    if (!number || driver[number] != '+' || strspn(driver + compiler, "0123456789abcdef") != 8) {
        return 103;
    }
    return strcmp(name, wanted_name) ? 101 : strcmp(driver + compiler + 8, wanted_driver) ? 102 : 0;
}

/** The device's name contains the geometry and the backend. Keys of the configuration are in the driver's version,
 *  because they may be many and may contain file names. */
static void test_names(void **state)
{
    (void)state;
    static const struct {
        const char *config, *name, *driver;
    } cases[] = {
        {"default", "Tern default (model)", ""},
        {"small", "Tern small (model)", ""},
        {"tiny,mem=16M", "Tern tiny (model)", " tiny,mem=16M"},
        {"mem=32M", "Tern default (model)", " default,mem=32M"},
        {"small,mem=16M,quantum=9000,depth=1,dram_latency=7", "Tern small (model)",
         " small,mem=16M,quantum=9000,depth=1,dram_latency=7"},
    };
    if (getenv("TERND_SOCKET")) {
        skip(); /* Backend and configuration are those of the ternd. */
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int status = 0;
        wanted_name = cases[i].name;
        wanted_driver = cases[i].driver;
        const pid_t child = fork();
        if (child == 0) {
            setenv("TERN_BACKEND", "model", 1);
            setenv("TERN_CONFIG", cases[i].config, 1);
            _exit(look_at_names());
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        if (WEXITSTATUS(status)) {
            fail_msg("%s: %d", cases[i].config, WEXITSTATUS(status));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_device_type),
        cmocka_unit_test(test_no_device),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
