/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Shared virtual memory in programs that leave few resources for it: few or no free addresses below 4 GiB, no host
 * memory, device addresses that are taken by buffers, or a setting that turns it off. Each program is a process of its
 * own, since a process opens the device once and limits cannot be raised again.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"

#define MIB ((size_t)1 << 20)

/** Runs the function in a child, whose exit status must be 0. */
static void must_end_well(void (*run)(void), char *said, size_t size)
{
    ended_well(in_child(run, 250, said, size), said);
}

#define MUST(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "line %d: not %s\n", __LINE__, #condition); \
            _exit(1); \
        } \
    } while (0)

static cl_device_svm_capabilities capabilities(void)
{
    cl_device_svm_capabilities caps = 99;
    MUST(clGetDeviceInfo(clt_device, CL_DEVICE_SVM_CAPABILITIES, sizeof caps, &caps, NULL) == CL_SUCCESS);
    return caps;
}

/** Every call reports that there is no shared virtual memory. */
static void absent(void)
{
    void *p = &p;
    clt_open(NULL);
    MUST(capabilities() == 0);
    MUST(clSVMAlloc(clt_context, 0, 64, 0) == NULL);
    MUST(clEnqueueSVMMap(clt_queue, CL_TRUE, CL_MAP_READ, p, 4, 0, NULL, NULL) == CL_INVALID_OPERATION);
    MUST(clEnqueueSVMFree(clt_queue, 1, &p, NULL, NULL, 0, NULL, NULL) == CL_INVALID_OPERATION);
    clSVMFree(clt_context, p);
    cl_mem m = clCreateBuffer(clt_context, CL_MEM_USE_HOST_PTR, 8, p, &clt_error);
    MUST(m != NULL);
    clReleaseMemObject(m);
    clt_close(NULL);
}

/** Maps all free pages of [from, to), so that nobody else can use them. */
static void occupy(uintptr_t from, uintptr_t to)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    if (mmap((void *)from, to - from, PROT_NONE, flags, -1, 0) == MAP_FAILED && to - from > 4096) {
        const uintptr_t middle = from + (to - from) / 8192 * 4096;
        occupy(from, middle);
        occupy(middle, to);
    }
}

static void without_low_addresses(void)
{
    occupy(0, (uintptr_t)1 << 32);
    absent();
}

static void by_setting(void)
{
    setenv("TERN_CL_SVM", "0", 1);
    absent();
}

static void by_bad_setting(void)
{
    setenv("TERN_CL_SVM", "yes", 1);
    absent();
}

/** One megabyte of addresses is left. An allocation that does not fit is refused, and one that fits can be made
 * repeatedly. */
static void with_few_addresses(void)
{
    occupy(0, 0x20000000u);
    occupy(0x20000000u + MIB, (uintptr_t)1 << 32);
    clt_open(NULL);
    MUST(capabilities() == CL_DEVICE_SVM_COARSE_GRAIN_BUFFER);
    for (int i = 0; i < 3; i++) {
        MUST(clSVMAlloc(clt_context, 0, MIB + 1, 0) == NULL);
        char *a = clSVMAlloc(clt_context, 0, MIB / 2, 0), *b = clSVMAlloc(clt_context, 0, MIB / 2, 0);
        MUST(a != NULL && b != NULL);
        MUST(clSVMAlloc(clt_context, 0, 1, 0) == NULL);
        clSVMFree(clt_context, a);
        clSVMFree(clt_context, b);
    }
    clt_close(NULL);
}

/** The host has no memory for the mapping: the allocation is refused and takes no device memory. */
static void with_little_memory(void)
{
    struct rlimit limit;
    clt_open(NULL);
    void *small = clSVMAlloc(clt_context, 0, MIB, 0);
    MUST(small != NULL);
    FILE *f = fopen("/proc/self/statm", "r");
    unsigned long pages = 0;
    MUST(f != NULL && fscanf(f, "%lu", &pages) == 1);
    fclose(f);
    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = pages * 4096 + 32 * MIB;
    MUST(setrlimit(RLIMIT_AS, &limit) == 0);
    MUST(clSVMAlloc(clt_context, 0, 256 * MIB, 0) == NULL);
    void *fits = clSVMAlloc(clt_context, 0, MIB, 0);
    MUST(fits != NULL);
    clSVMFree(clt_context, fits);
    clSVMFree(clt_context, small);
    clt_close(NULL);
}

/** Buffers hold the lower device addresses, and shared memory uses the free ones above. */
static void with_device_addresses_taken(void)
{
    occupy(0, 0x10000u + 8 * MIB); /* The host has no free addresses where the device's first buffers lie. */
    occupy(0x10000u + 24 * MIB, (uintptr_t)1 << 32);
    clt_open(NULL);
    MUST(capabilities() == CL_DEVICE_SVM_COARSE_GRAIN_BUFFER);
    cl_mem m[40];
    /* 20 MiB of buffers; the driver assigns device addresses from the bottom. */
    for (unsigned i = 0; i < LENGTH(m); i++) {
        m[i] = clt_buffer(MIB / 2, NULL);
        MUST(clEnqueueFillBuffer(clt_queue, m[i], &i, 4, 0, MIB / 2, 0, NULL, NULL) == CL_SUCCESS);
    }
    MUST(clFinish(clt_queue) == CL_SUCCESS);
    cl_uint *p = clSVMAlloc(clt_context, 0, MIB, 0);
    MUST(p != NULL);
    /* The host has 16 MiB free there, but the device only the upper part of it. */
    MUST(clSVMAlloc(clt_context, 0, 8 * MIB, 0) == NULL);
    MUST(clEnqueueSVMMemFill(clt_queue, p, &(cl_uint){7}, 4, MIB, 0, NULL, NULL) == CL_SUCCESS);
    MUST(clEnqueueSVMMap(clt_queue, CL_TRUE, CL_MAP_READ, p, MIB, 0, NULL, NULL) == CL_SUCCESS);
    MUST(p[MIB / 4 - 1] == 7);
    clSVMFree(clt_context, p);
    for (cl_uint i = 0; i < LENGTH(m); i++) {
        cl_uint got = 0;
        MUST(clEnqueueReadBuffer(clt_queue, m[i], CL_TRUE, MIB / 2 - 4, 4, &got, 0, NULL, NULL) == CL_SUCCESS);
        MUST(got == i);
        clReleaseMemObject(m[i]);
    }
    p = clSVMAlloc(clt_context, 0, 8 * MIB, 0); /* The device addresses are free now. */
    MUST(p != NULL);
    clSVMFree(clt_context, p);
    clt_close(NULL);
}

static void test_absent(void **state)
{
    (void)state;
    char said[4096];
    must_end_well(without_low_addresses, said, sizeof said);
    assert_string_equal(said, "");
    must_end_well(by_setting, said, sizeof said);
    assert_string_equal(said, "");
    must_end_well(by_bad_setting, said, sizeof said);
    assert_non_null(strstr(said, "TERN_CL_SVM is 0 or 1; got 'yes'"));
}

static void test_little(void **state)
{
    (void)state;
    char said[4096];
    must_end_well(with_few_addresses, said, sizeof said);
    assert_non_null(strstr(said, "no addresses below 4 GiB"));
    must_end_well(with_little_memory, said, sizeof said);
    assert_non_null(strstr(said, "the host refuses the memory"));
    must_end_well(with_device_addresses_taken, said, sizeof said);
    assert_non_null(strstr(said, "no addresses below 4 GiB"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_absent), cmocka_unit_test(test_little)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
