/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Programs in SPIR-V. Kernels of tests/opencl/il give bit for bit the same results from their source and from SPIR-V
 * that another compiler made of it. Further: specialization constants, links of SPIR-V with OpenCL C, binaries,
 * queries, and modules that are damaged or for another device, which are refused with a sentence.
 */
#include "clt.h"

#include <CL/cl_ext.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ITEMS = 64, GROUP = 16, WORDS = 256 };

static char said[1024]; /**< The last text that the callback of `heard` got. */
static cl_context heard;

static void CL_CALLBACK hear(const char *text, const void *info, size_t size, void *data)
{
    (void)info;
    (void)size;
    (void)data;
    snprintf(said, sizeof said, "%s", text);
}

/** Returns the contents of a file, followed by a 0. */
static char *load(const char *folder, const char *name, size_t *size)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "rb");
    char *data = calloc(1, 1 << 20);
    assert_non_null(f);
    assert_non_null(data);
    *size = fread(data, 1, (1 << 20) - 1, f);
    assert_int_not_equal(*size, 0);
    fclose(f);
    return data;
}

/** Makes a program of a module, which must be good; it is not built. */
static cl_program create(const char *name)
{
    size_t size;
    char *il = load(IL_FOLDER, name, &size);
    cl_program p = clCreateProgramWithIL(clt_context, il, size, &clt_error);
    MADE(p);
    free(il);
    return p;
}

/** Builds a program, and prints the log if that fails. */
static void build(cl_program p, const char *options)
{
    static char log[1 << 16];
    if (clBuildProgram(p, 1, &clt_device, options, NULL, NULL) != CL_SUCCESS) {
        clGetProgramBuildInfo(p, clt_device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
        fail_msg("%s", log);
    }
}

static void test_device(void **state)
{
    (void)state;
    char text[4096];
    cl_name_version v[8];
    size_t size;
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_IL_VERSION, sizeof text, text, NULL));
    assert_string_equal(text, "SPIR-V_1.2 SPIR-V_1.1 SPIR-V_1.0");
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_ILS_WITH_VERSION, sizeof v, v, &size));
    assert_int_equal(size, 3 * sizeof v[0]);
    for (cl_uint i = 0; i < 3; i++) {
        assert_string_equal(v[i].name, "SPIR-V");
        assert_int_equal(v[i].version, CL_MAKE_VERSION(1, 2 - i, 0));
    }
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_EXTENSIONS, sizeof text, text, NULL));
    assert_non_null(strstr(text, "cl_khr_il_program"));
    assert_non_null(clGetExtensionFunctionAddressForPlatform(clt_platform, "clCreateProgramWithILKHR"));
}

/** Runs a kernel of numbers from its source and from SPIR-V, and compares. */
static void compare(cl_program source, cl_program il, const char *what, const char *kernel, cl_mem in)
{
    static uint32_t want[ITEMS], got[ITEMS];
    for (cl_uint m = 0; m < 4; m++) {
        const struct clt_range r = {.dims = 1, .global = {ITEMS}, .local = {GROUP}, .n = WORDS, .m = m};
        OK(clt_run_range(source, kernel, &r, in, want, sizeof want));
        OK(clt_run_range(il, kernel, &r, in, got, sizeof got));
        for (unsigned i = 0; i < ITEMS; i++) {
            if (got[i] != want[i]) {
                fail_msg("%s, %s, m = %u: work-item %u gives %#x from SPIR-V, and %#x from source", what, kernel, m, i,
                         got[i], want[i]);
            }
        }
    }
}

static void test_results(void **state)
{
    (void)state;
    static const struct {
        const char *name, *options, *kernels[9];
    } programs[] = {
        {"plain", "-cl-std=CL1.2", {"numbers", "floats", "vectors", "groups", "meets", "copies", "counters",
                                    "halves"}},
        {"generic", "-cl-std=CL3.0", {"pointers", "ordered"}},
    };
    uint32_t words[WORDS], seed = 1;
    for (unsigned i = 0; i < WORDS; i++) {
        words[i] = clt_random(&seed);
    }
    cl_mem in = clt_buffer(sizeof words, words);
    for (size_t i = 0; i < LENGTH(programs); i++) {
        char name[64];
        size_t size;
        snprintf(name, sizeof name, "%s.cl", programs[i].name);
        char *text = load(IL_SOURCES, name, &size);
        cl_program source = clt_build(text, programs[i].options);
        for (unsigned level = 0; level <= 2; level += 2) {
            snprintf(name, sizeof name, "%s-%u.spv", programs[i].name, level);
            cl_program il = create(name);
            build(il, level ? "" : "-cl-opt-disable");
            for (unsigned k = 0; programs[i].kernels[k] != NULL; k++) {
                compare(source, il, name, programs[i].kernels[k], in);
            }
            OK(clReleaseProgram(il));
        }
        OK(clReleaseProgram(source));
        free(text);
    }
    OK(clReleaseMemObject(in));
}

/** Runs the kernel `required`, whose arguments are of every kind. */
static void run_required(cl_program p, cl_uchar out[ITEMS])
{
    const struct {
        cl_short a;
        cl_float4 b;
        cl_uchar c[3];
    } pair = {11, {{1, 2, 33, 4}}, {5, 66, 7}};
    const cl_float3 three = {{1, 2, 50}};
    const cl_uchar small = 9;
    const cl_uint numbers[4] = {1, 20, 3, 40};
    cl_kernel k = clCreateKernel(p, "required", &clt_error);
    MADE(k);
    size_t group[3];
    OK(clGetKernelWorkGroupInfo(k, clt_device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof group, group, NULL));
    assert_int_equal(group[0], 8);
    cl_mem bytes = clt_buffer(ITEMS, NULL), words = clt_buffer(sizeof numbers, numbers);
    clt_args(k, 4, ARG(bytes), ARG(pair), ARG(three), ARG(small));
    OK(clSetKernelArg(k, 4, 8 * sizeof(cl_ushort), NULL));
    OK(clSetKernelArg(k, 5, sizeof words, &words));
    clt_run(k, ITEMS, 8);
    clt_read(bytes, out, ITEMS);
    OK(clReleaseMemObject(bytes));
    OK(clReleaseMemObject(words));
    OK(clReleaseKernel(k));
}

/** Runs the kernel `prints`, and stores its output in `text`. */
static void run_prints(cl_program p, char *text, size_t size)
{
    const cl_int a = 7;
    const cl_float b = 2.5f;
    cl_kernel k = clCreateKernel(p, "prints", &clt_error);
    MADE(k);
    clt_args(k, 2, ARG(a), ARG(b));
    const int file = memfd_create("printed", 0), old = dup(STDOUT_FILENO);
    fflush(stdout);
    dup2(file, STDOUT_FILENO);
    clt_run(k, 1, 1);
    fflush(stdout);
    dup2(old, STDOUT_FILENO);
    close(old);
    const ssize_t n = pread(file, text, size - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    close(file);
    OK(clReleaseKernel(k));
}

static void test_arguments(void **state)
{
    (void)state;
    size_t size;
    char *text = load(IL_SOURCES, "plain.cl", &size), printed[256];
    cl_uchar want[ITEMS], got[ITEMS];
    cl_program source = clt_build(text, "-cl-std=CL1.2"), il = create("plain-2.spv");
    build(il, NULL);
    run_required(source, want);
    run_required(il, got);
    assert_memory_equal(got, want, sizeof want);
    run_prints(il, printed, sizeof printed);
    assert_string_equal(printed, "7 2.50 7,2,3,4 text\n");
    cl_kernel k = clCreateKernel(il, "numbers", &clt_error);
    MADE(k);
    cl_uint n;
    cl_kernel_arg_address_qualifier space;
    OK(clGetKernelInfo(k, CL_KERNEL_NUM_ARGS, sizeof n, &n, NULL));
    assert_int_equal(n, 4);
    FAILS(clGetKernelArgInfo(k, 0, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof space, &space, NULL),
          CL_KERNEL_ARG_INFO_NOT_AVAILABLE);
    OK(clReleaseKernel(k));
    build(il, "-cl-kernel-arg-info");
    k = clCreateKernel(il, "numbers", &clt_error);
    MADE(k);
    OK(clGetKernelArgInfo(k, 0, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof space, &space, NULL));
    assert_int_equal(space, CL_KERNEL_ARG_ADDRESS_GLOBAL);
    OK(clReleaseKernel(k));
    OK(clReleaseProgram(source));
    OK(clReleaseProgram(il));
    free(text);
}

static void expect_values(cl_program p, const cl_uint want[9])
{
    cl_uint got[9];
    cl_mem out = clt_buffer(sizeof got, NULL);
    cl_kernel k = clCreateKernel(p, "values", &clt_error);
    MADE(k);
    clt_args(k, 1, ARG(out));
    clt_run(k, 1, 1);
    clt_read(out, got, sizeof got);
    for (int i = 0; i < 9; i++) {
        assert_int_equal(got[i], want[i]);
    }
    OK(clReleaseKernel(k));
    OK(clReleaseMemObject(out));
}

static void test_constants(void **state)
{
    (void)state;
    const cl_uint word = 99;
    const cl_float real = -1.5f;
    const cl_uchar no = 0, byte = 255;
    const cl_ushort half = 1;
    const cl_ulong big = 0xfedcba9876543210u;
    cl_program p = create("constants.spv"), plain = clt_build("kernel void f() {}", "");
    build(p, "");
    expect_values(p, (const cl_uint[9]){5, 0x40200000, 1, 200, 50000, 0x9abcdef0, 0x12345678, 6, 3});
    FAILS(clSetProgramSpecializationConstant(p, 8, sizeof word, &word), CL_INVALID_SPEC_ID);
    FAILS(clSetProgramSpecializationConstant(p, 7, sizeof half, &half), CL_INVALID_VALUE);
    FAILS(clSetProgramSpecializationConstant(p, 7, sizeof word, NULL), CL_INVALID_VALUE);
    FAILS(clSetProgramSpecializationConstant(p, 10, sizeof word, &word), CL_INVALID_VALUE);
    FAILS(clSetProgramSpecializationConstant(NULL, 7, sizeof word, &word), CL_INVALID_PROGRAM);
    FAILS(clSetProgramSpecializationConstant(plain, 7, sizeof word, &word), CL_INVALID_PROGRAM);
    OK(clSetProgramSpecializationConstant(p, 7, sizeof word, &word));
    OK(clSetProgramSpecializationConstant(p, 9, sizeof real, &real));
    OK(clSetProgramSpecializationConstant(p, 10, sizeof no, &no));
    OK(clSetProgramSpecializationConstant(p, 11, sizeof byte, &byte));
    OK(clSetProgramSpecializationConstant(p, 12, sizeof half, &half));
    OK(clSetProgramSpecializationConstant(p, 13, sizeof big, &big));
    /* values are those of the last build */
    expect_values(p, (const cl_uint[9]){5, 0x40200000, 1, 200, 50000, 0x9abcdef0, 0x12345678, 6, 3});
    build(p, "");
    expect_values(p, (const cl_uint[9]){99, 0xbfc00000, 0, 255, 1, 0x76543210, 0xfedcba98, 99, 3});
    /* The long and the byte have one number; a value is for those of its size. */
    OK(clSetProgramSpecializationConstant(p, 13, sizeof byte, &byte));
    FAILS(clSetProgramSpecializationConstant(p, 13, sizeof half, &half), CL_INVALID_VALUE);
    build(p, "");
    expect_values(p, (const cl_uint[9]){99, 0xbfc00000, 0, 255, 1, 0x76543210, 0xfedcba98, 99, 255});
    OK(clReleaseProgram(p));
    OK(clReleaseProgram(plain));
}

/** SPIR-V and OpenCL C call each other's functions. The linked program also runs from its binary. */
static void test_link(void **state)
{
    (void)state;
    const char *text = "uint ours(uint b); uint theirs(uint a) { return a * 3; }\n"
                       "kernel void second(global uint *out) { *out = ours(*out); }";
    cl_program parts[2] = {create("linked.spv"), clCreateProgramWithSource(clt_context, 1, &text, NULL, &clt_error)};
    MADE(parts[1]);
    for (int i = 0; i < 2; i++) {
        OK(clCompileProgram(parts[i], 1, &clt_device, "", 0, NULL, NULL, NULL, NULL));
    }
    cl_program linked = clLinkProgram(clt_context, 1, &clt_device, "", 2, parts, NULL, NULL, &clt_error);
    MADE(linked);
    size_t size;
    OK(clGetProgramInfo(linked, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL));
    unsigned char *binary = malloc(size);
    assert_non_null(binary);
    OK(clGetProgramInfo(linked, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL));
    cl_program again = clCreateProgramWithBinary(clt_context, 1, &clt_device, &size, (const unsigned char **)&binary,
                                                 NULL, &clt_error);
    MADE(again);
    build(again, "");
    for (int i = 0; i < 2; i++) {
        cl_uint value = 7;
        cl_mem out = clt_buffer(sizeof value, &value);
        for (int which = 0; which < 2; which++) {
            cl_kernel k = clCreateKernel(i ? again : linked, which ? "second" : "first", &clt_error);
            MADE(k);
            clt_args(k, 1, ARG(out));
            clt_run(k, 1, 1);
            OK(clReleaseKernel(k));
        }
        clt_read(out, &value, sizeof value);
        assert_int_equal(value, 7 * 3 + 11);
        OK(clReleaseMemObject(out));
    }
    free(binary);
    OK(clReleaseProgram(again));
    OK(clReleaseProgram(linked));
    FAILS(clBuildProgram(parts[0], 1, &clt_device, "", NULL, NULL), CL_BUILD_PROGRAM_FAILURE); /* without `theirs` */
    OK(clReleaseProgram(parts[0]));
    OK(clReleaseProgram(parts[1]));
}

static void test_queries(void **state)
{
    (void)state;
    size_t size, length, text_length;
    char *il = load(IL_FOLDER, "constants.spv", &size), *got = malloc(size);
    cl_program p = clCreateProgramWithIL(clt_context, il, size, &clt_error);
    MADE(p);
    assert_non_null(got);
    OK(clGetProgramInfo(p, CL_PROGRAM_IL, size, got, &length));
    assert_int_equal(length, size);
    assert_memory_equal(got, il, size);
    OK(clGetProgramInfo(p, CL_PROGRAM_SOURCE, 0, NULL, &text_length));
    assert_int_equal(text_length, 1); /* an empty string */
    FAILS(clBuildProgram(p, 1, &clt_device, "-no-such-option", NULL, NULL), CL_INVALID_BUILD_OPTIONS);
    OK(clReleaseProgram(p));
    free(il);
    free(got);
}

/** The module must be refused, and the sentence must have this part. */
static void refuse(const void *il, size_t size, const char *part)
{
    said[0] = '\0';
    REFUSED(clCreateProgramWithIL(heard, il, size, &clt_error), CL_INVALID_VALUE);
    if (strstr(said, part) == NULL) {
        fail_msg("'%s' does not say '%s'", said, part);
    }
}

static void test_other_modules(void **state)
{
    (void)state;
    size_t size;
    char *il = load(IL_FOLDER, "constants.spv", &size);
    uint32_t *words = (uint32_t *)(void *)il;
    refuse(il, size - 1, "not a number of words");
    refuse(il, 16, "not a number of words");
    refuse("kernel void f() {}  ", 20, "first word");
    words[0] = __builtin_bswap32(words[0]);
    refuse(il, size, "order of another machine");
    words[0] = __builtin_bswap32(words[0]);
    words[1] = 0x00010400;
    refuse(il, size, "SPIR-V 1.4");
    words[1] = 0x00010000;
    size_t at = 5;
    while ((words[at] & 0xffff) != 14) { /* OpMemoryModel */
        at += words[at] >> 16;
    }
    words[at + 1] = 1;
    refuse(il, size, "Physical32");
    words[at + 1] = 0;
    refuse(il, size, "Logical");
    words[at + 1] = 2;
    REFUSED(clCreateProgramWithIL(clt_context, NULL, size, &clt_error), CL_INVALID_VALUE);
    REFUSED(clCreateProgramWithIL(clt_context, il, 0, &clt_error), CL_INVALID_VALUE);
    REFUSED(clCreateProgramWithIL(NULL, il, size, &clt_error), CL_INVALID_CONTEXT);
    cl_program p = clCreateProgramWithIL(clt_context, il, size, &clt_error);
    MADE(p);
    OK(clReleaseProgram(p));
    free(il);
}

/** A damaged module is refused with a sentence, does not build, for which there is a log, or is another good module. */
static void take_damaged(const void *il, size_t size, uint32_t seed)
{
    char log[4096] = "";
    said[0] = '\0';
    cl_program p = clCreateProgramWithIL(heard, il, size, &clt_error);
    if (p == NULL) {
        if (clt_error != CL_INVALID_VALUE || said[0] == '\0') {
            fail_msg("seed %u: error %d, '%s'", seed, clt_error, said);
        }
        return;
    }
    const cl_int error = clBuildProgram(p, 1, &clt_device, "", NULL, NULL);
    const cl_int got = clGetProgramBuildInfo(p, clt_device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
    if (error != CL_SUCCESS && (error != CL_BUILD_PROGRAM_FAILURE || (got == CL_SUCCESS && strlen(log) < 8))) {
        fail_msg("seed %u: error %d, log '%s'", seed, error, log);
    }
    OK(clReleaseProgram(p));
}

static void test_damaged(void **state)
{
    (void)state;
    size_t size;
    char *il = load(IL_FOLDER, "generic-2.spv", &size);
    uint32_t *words = (uint32_t *)(void *)il;
    for (uint32_t seed = 1; seed <= 40; seed++) {
        uint32_t random = seed * 2654435761u;
        const size_t at = 5 + clt_random(&random) % (size / 4 - 5);
        if (seed % 4 == 0) {
            take_damaged(il, 4 * at, seed);
            continue;
        }
        const uint32_t was = words[at];
        words[at] = seed % 4 == 1 ? was ^ 1u << clt_random(&random) % 32 : clt_random(&random) % 200;
        take_damaged(il, size, seed);
        words[at] = was;
    }
    free(il);
}

/** A translator that is not there, crashes, or writes less than all of its output. */
static void test_failing_translator(void **state)
{
    (void)state;
    static const struct {
        const char *script, *sentence;
    } failures[] = {
        {"#!/bin/sh\nkill -SEGV $$\n", "crashed (signal 11)"},
        {"#!/bin/sh\necho it is Monday >&2\nexit 5\n", "it is Monday"},
        {"#!/bin/sh\n/usr/bin/llvm-spirv-15 \"$@\" | head -c 500\n", "not complete"},
        {"#!/bin/sh\n", "not complete"},
    };
    char folder[] = "/tmp/tern-il-XXXXXX", tool[64], text[64];
    size_t size;
    char *il = load(IL_FOLDER, "constants.spv", &size);
    assert_non_null(mkdtemp(folder));
    snprintf(tool, sizeof tool, "%s/llvm-spirv-15", folder);
    setenv("TERN_SPIRV_DIR", folder, 1);
    setenv("TERN_CACHE", "0", 1);
    REFUSED(clCreateProgramWithIL(heard, il, size, &clt_error), CL_INVALID_OPERATION);
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_IL_VERSION, sizeof text, text, NULL));
    assert_string_equal(text, "");
    for (size_t i = 0; i < LENGTH(failures); i++) {
        FILE *f = fopen(tool, "w");
        assert_non_null(f);
        assert_true(fputs(failures[i].script, f) >= 0);
        assert_int_equal(fclose(f), 0);
        assert_int_equal(chmod(tool, 0700), 0);
        refuse(il, size, failures[i].sentence);
        unlink(tool);
    }
    rmdir(folder);
    unsetenv("TERN_CACHE");
    unsetenv("TERN_SPIRV_DIR");
    free(il);
}

static int open_all(void **state)
{
    if (clt_open(state) != 0) {
        return -1;
    }
    heard = clCreateContext(NULL, 1, &clt_device, hear, NULL, &clt_error);
    return heard == NULL;
}

static int close_all(void **state)
{
    OK(clReleaseContext(heard));
    return clt_close(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_device),    cmocka_unit_test(test_results),       cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_constants), cmocka_unit_test(test_link),          cmocka_unit_test(test_queries),
        cmocka_unit_test(test_other_modules), cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_failing_translator),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
