/* SPDX-License-Identifier: Apache-2.0 */
/** Building programs in every way, queries of programs, and printf. */
#include "clt.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char doubler[] = "kernel void f(global int *r) { r[get_global_id(0)] *= 2; }";

static cl_program source(const char *text)
{
    cl_program p = clCreateProgramWithSource(clt_context, 1, &text, NULL, &clt_error);
    MADE(p);
    return p;
}

static cl_build_status status_of(cl_program p)
{
    cl_build_status s = 99;
    OK(clGetProgramBuildInfo(p, clt_device, CL_PROGRAM_BUILD_STATUS, sizeof s, &s, NULL));
    return s;
}

static cl_program_binary_type type_of(cl_program p)
{
    cl_program_binary_type t = 99;
    OK(clGetProgramBuildInfo(p, clt_device, CL_PROGRAM_BINARY_TYPE, sizeof t, &t, NULL));
    return t;
}

/** The program's kernel f must turn 21 into `want`. */
static void check_runs(cl_program p, int want)
{
    int v = 21;
    cl_kernel k = clCreateKernel(p, "f", &clt_error);
    MADE(k);
    cl_mem m = clt_buffer(sizeof v, &v);
    clt_args(k, 1, ARG(m));
    clt_run(k, 1, 0);
    clt_read(m, &v, sizeof v);
    assert_int_equal(v, want);
    OK(clReleaseMemObject(m));
    OK(clReleaseKernel(k));
}

static void test_build_error(void **state)
{
    (void)state;
    char log[4096] = "";
    cl_program p = source("kernel void f(global int *r) {\n  r[0] = undefined_name;\n}\n");
    assert_int_equal(status_of(p), CL_BUILD_NONE);
    FAILS(clBuildProgram(p, 0, NULL, NULL, NULL, NULL), CL_BUILD_PROGRAM_FAILURE);
    assert_int_equal(status_of(p), CL_BUILD_ERROR);
    OK(clGetProgramBuildInfo(p, clt_device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL));
    assert_non_null(strstr(log, "undefined_name"));
    cl_kernel k = clCreateKernel(p, "f", &clt_error);
    REFUSED(k, CL_INVALID_PROGRAM_EXECUTABLE);
    size_t n;
    FAILS(clGetProgramInfo(p, CL_PROGRAM_NUM_KERNELS, sizeof n, &n, NULL), CL_INVALID_PROGRAM_EXECUTABLE);
    OK(clReleaseProgram(p));
    p = source("int missing(int); kernel void f(global int *r) { r[0] = missing(1); }");
    FAILS(clBuildProgram(p, 0, NULL, NULL, NULL, NULL), CL_BUILD_PROGRAM_FAILURE);
    OK(clGetProgramBuildInfo(p, clt_device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL));
    assert_non_null(strstr(log, "missing"));
    FAILS(clBuildProgram(p, 0, NULL, "-no-such-option", NULL, NULL), CL_INVALID_BUILD_OPTIONS);
    OK(clReleaseProgram(p));
    p = source("kernel void f(global int *r) { r[0] = 1; }");
    FAILS(clBuildProgram(p, 0, NULL, "-cl-std=CLC++", NULL, NULL), CL_BUILD_PROGRAM_FAILURE);
    OK(clGetProgramBuildInfo(p, clt_device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL));
    assert_non_null(strstr(log, "-cl-std=CLC++ is not supported"));
    FAILS(clCompileProgram(p, 0, NULL, "-cl-std=CLC++", 0, NULL, NULL, NULL, NULL), CL_COMPILE_PROGRAM_FAILURE);
    OK(clBuildProgram(p, 0, NULL, "-cl-std=CL2.0", NULL, NULL)); /* PyFR passes this option. */
    OK(clBuildProgram(p, 0, NULL, "-cl-std=CL3.0", NULL, NULL));
    OK(clReleaseProgram(p));
}

static void test_options(void **state)
{
    (void)state;
    char text[64] = "";
    cl_program p = source("kernel void f(global int *r) { r[0] = SCALE(*r) + N; }");
    OK(clBuildProgram(p, 1, &clt_device, "-DN=5 -D \"SCALE(x)=((x)*2)\" -cl-fast-relaxed-math -Werror", NULL, NULL));
    OK(clGetProgramBuildInfo(p, clt_device, CL_PROGRAM_BUILD_OPTIONS, sizeof text, text, NULL));
    assert_memory_equal(text, "-DN=5 -D ", 9);
    check_runs(p, 47);
    /* The program is built again with other options. */
    OK(clBuildProgram(p, 1, &clt_device, "-DN=6 -D \"SCALE(x)=((x)*3)\"", NULL, NULL));
    check_runs(p, 69);
    OK(clReleaseProgram(p));
}

static void test_several_strings_and_kernels(void **state)
{
    (void)state;
    const char *parts[] = {"kernel void a(int x) {}", "kernel void f(global int *r) { *r = 1; } garbage",
                           "kernel __attribute__((reqd_work_group_size(4, 2, 1))) void c() {}"};
    const size_t lengths[] = {0, 40, 0};
    cl_program p = clCreateProgramWithSource(clt_context, 3, parts, lengths, &clt_error);
    MADE(p);
    OK(clBuildProgram(p, 1, &clt_device, "", NULL, NULL));
    size_t n = 0;
    char text[256] = "";
    OK(clGetProgramInfo(p, CL_PROGRAM_NUM_KERNELS, sizeof n, &n, NULL));
    assert_int_equal(n, 3);
    OK(clGetProgramInfo(p, CL_PROGRAM_KERNEL_NAMES, sizeof text, text, NULL));
    assert_true(strstr(text, "a") != NULL && strstr(text, "f") != NULL && strstr(text, "c") != NULL);
    assert_int_equal(strlen(text), 5);
    cl_kernel all[3];
    cl_uint count = 0;
    FAILS(clCreateKernelsInProgram(p, 2, all, &count), CL_INVALID_VALUE);
    OK(clCreateKernelsInProgram(p, 3, all, &count));
    assert_int_equal(count, 3);
    for (int i = 0; i < 3; i++) {
        size_t required[3] = {9, 9, 9};
        OK(clGetKernelInfo(all[i], CL_KERNEL_FUNCTION_NAME, sizeof text, text, NULL));
        OK(clGetKernelWorkGroupInfo(all[i], NULL, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof required, required, NULL));
        assert_int_equal(required[0], text[0] == 'c' ? 4 : 0);
        assert_int_equal(required[1], text[0] == 'c' ? 2 : 0);
        assert_int_equal(required[2], text[0] == 'c' ? 1 : 0);
    }
    FAILS(clBuildProgram(p, 1, &clt_device, "", NULL, NULL), CL_INVALID_OPERATION); /* Kernels of the program exist. */
    for (int i = 0; i < 3; i++) {
        OK(clReleaseKernel(all[i]));
    }
    OK(clBuildProgram(p, 1, &clt_device, "", NULL, NULL));
    OK(clReleaseProgram(p));
}

static void test_compile_and_link(void **state)
{
    (void)state;
    cl_program header = source("#define FACTOR 3\nint scale(int x);\n");
    cl_program main_part = source("#include \"scale.h\"\nkernel void f(global int *r) { *r = scale(*r); }");
    cl_program library_part = source("#include <scale.h>\nint scale(int x) { return x * FACTOR; }");
    const char *name = "scale.h";
    OK(clCompileProgram(main_part, 1, &clt_device, "", 1, &header, &name, NULL, NULL));
    OK(clCompileProgram(library_part, 0, NULL, NULL, 1, &header, &name, NULL, NULL));
    assert_int_equal(type_of(main_part), CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT);
    cl_program library = clLinkProgram(clt_context, 1, &clt_device, "-create-library", 1, &library_part, NULL, NULL,
                                       &clt_error);
    MADE(library);
    assert_int_equal(type_of(library), CL_PROGRAM_BINARY_TYPE_LIBRARY);
    const cl_program inputs[] = {main_part, library};
    cl_program whole = clLinkProgram(clt_context, 0, NULL, NULL, 2, inputs, NULL, NULL, &clt_error);
    MADE(whole);
    assert_int_equal(type_of(whole), CL_PROGRAM_BINARY_TYPE_EXECUTABLE);
    check_runs(whole, 63);
    FAILS(clBuildProgram(whole, 0, NULL, NULL, NULL, NULL), CL_INVALID_OPERATION);
    FAILS(clCompileProgram(whole, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL), CL_INVALID_OPERATION);
    cl_program broken = clLinkProgram(clt_context, 0, NULL, NULL, 1, &main_part, NULL, NULL, &clt_error);
    assert_int_equal(clt_error, CL_LINK_PROGRAM_FAILURE);
    assert_non_null(broken); /* The program exists, so that its log can be read. */
    char log[2048] = "";
    OK(clGetProgramBuildInfo(broken, clt_device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL));
    assert_non_null(strstr(log, "scale"));
    cl_program bad = source("kernel void f( {");
    FAILS(clCompileProgram(bad, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL), CL_COMPILE_PROGRAM_FAILURE);
    cl_program none = clLinkProgram(clt_context, 0, NULL, NULL, 1, &bad, NULL, NULL, &clt_error);
    REFUSED(none, CL_INVALID_OPERATION);
    cl_program all[] = {header, main_part, library_part, library, whole, broken, bad};
    for (size_t i = 0; i < LENGTH(all); i++) {
        OK(clReleaseProgram(all[i]));
    }
}

/** A program's binary makes the same program again, executable or compiled. */
static void test_binaries(void **state)
{
    (void)state;
    for (int compiled = 0; compiled < 2; compiled++) {
        cl_program p = source(doubler);
        if (compiled) {
            OK(clCompileProgram(p, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL));
        } else {
            OK(clBuildProgram(p, 0, NULL, NULL, NULL, NULL));
        }
        size_t size = 0;
        OK(clGetProgramInfo(p, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL));
        assert_true(size > 0);
        unsigned char *binary = malloc(size);
        OK(clGetProgramInfo(p, CL_PROGRAM_BINARIES, sizeof(unsigned char *), &binary, NULL));
        OK(clReleaseProgram(p));
        cl_int status = 1;
        const unsigned char *given = binary;
        p = clCreateProgramWithBinary(clt_context, 1, &clt_device, &size, &given, &status, &clt_error);
        MADE(p);
        OK(status);
        assert_int_equal(type_of(p), compiled ? CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT
                                              : CL_PROGRAM_BINARY_TYPE_EXECUTABLE);
        OK(clBuildProgram(p, 1, &clt_device, NULL, NULL, NULL));
        check_runs(p, 42);
        FAILS(clCompileProgram(p, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL), CL_INVALID_OPERATION);
        OK(clReleaseProgram(p));
        for (size_t at = 0; at < size; at += size / 20) { /* A binary with one flipped bit is refused. */
            binary[at] ^= 0x10;
            p = clCreateProgramWithBinary(clt_context, 1, &clt_device, &size, &given, &status, &clt_error);
            REFUSED(p, CL_INVALID_BINARY);
            FAILS(status, CL_INVALID_BINARY);
            binary[at] ^= 0x10;
        }
        free(binary);
    }
    const unsigned char garbage[64] = "this is no program of ours";
    const unsigned char *given = garbage;
    const size_t size = sizeof garbage;
    cl_int status = 0;
    cl_program none = clCreateProgramWithBinary(clt_context, 1, &clt_device, &size, &given, &status, &clt_error);
    REFUSED(none, CL_INVALID_BINARY);
    FAILS(status, CL_INVALID_BINARY);
}

struct told {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    cl_program program;
    int n;
};

static void CL_CALLBACK tell(cl_program p, void *data)
{
    struct told *t = data;
    pthread_mutex_lock(&t->lock);
    t->program = p;
    t->n++;
    pthread_cond_signal(&t->changed);
    pthread_mutex_unlock(&t->lock);
}

static void wait_told(struct told *t, int n)
{
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 200; /* Only a failing test waits this long. */
    int r = 0;
    pthread_mutex_lock(&t->lock);
    while (t->n < n && r == 0) {
        r = pthread_cond_timedwait(&t->changed, &t->lock, &end);
    }
    pthread_mutex_unlock(&t->lock);
    assert_int_equal(r, 0);
}

static void test_asynchronous_builds(void **state)
{
    (void)state;
    struct told t = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    cl_program p = source(doubler);
    OK(clBuildProgram(p, 1, &clt_device, "", tell, &t));
    wait_told(&t, 1);
    assert_ptr_equal(t.program, p);
    assert_int_equal(status_of(p), CL_BUILD_SUCCESS);
    check_runs(p, 42);
    cl_program bad = source("kernel nonsense");
    OK(clBuildProgram(bad, 1, &clt_device, "", tell, &t));
    wait_told(&t, 2);
    assert_int_equal(status_of(bad), CL_BUILD_ERROR);
    cl_program part = source(doubler);
    OK(clCompileProgram(part, 0, NULL, NULL, 0, NULL, NULL, tell, &t));
    wait_told(&t, 3);
    cl_program whole = clLinkProgram(clt_context, 0, NULL, NULL, 1, &part, tell, &t, &clt_error);
    MADE(whole);
    wait_told(&t, 4);
    assert_ptr_equal(t.program, whole);
    check_runs(whole, 42);
    cl_program all[] = {p, bad, part, whole};
    for (size_t i = 0; i < LENGTH(all); i++) {
        OK(clReleaseProgram(all[i]));
    }
}

static void check_arg(cl_kernel k, cl_uint i, const char *name, const char *type, cl_kernel_arg_address_qualifier space,
                      cl_kernel_arg_type_qualifier qualifier)
{
    char text[64] = "";
    cl_kernel_arg_address_qualifier s = 0;
    cl_kernel_arg_type_qualifier q = 99;
    cl_kernel_arg_access_qualifier a = 0;
    OK(clGetKernelArgInfo(k, i, CL_KERNEL_ARG_NAME, sizeof text, text, NULL));
    assert_string_equal(text, name);
    OK(clGetKernelArgInfo(k, i, CL_KERNEL_ARG_TYPE_NAME, sizeof text, text, NULL));
    assert_string_equal(text, type);
    OK(clGetKernelArgInfo(k, i, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof s, &s, NULL));
    assert_int_equal(s, space);
    OK(clGetKernelArgInfo(k, i, CL_KERNEL_ARG_TYPE_QUALIFIER, sizeof q, &q, NULL));
    assert_int_equal(q, qualifier);
    OK(clGetKernelArgInfo(k, i, CL_KERNEL_ARG_ACCESS_QUALIFIER, sizeof a, &a, NULL));
    assert_int_equal(a, CL_KERNEL_ARG_ACCESS_NONE);
}

static void test_arg_info(void **state)
{
    (void)state;
    cl_kernel k = clt_kernel("kernel void f(global const float4 *restrict in, local int *tmp, constant uchar *c, "
                             "unsigned int n, volatile global int *v) {}", "f");
    check_arg(k, 0, "in", "float4*", CL_KERNEL_ARG_ADDRESS_GLOBAL,
              CL_KERNEL_ARG_TYPE_CONST | CL_KERNEL_ARG_TYPE_RESTRICT);
    check_arg(k, 1, "tmp", "int*", CL_KERNEL_ARG_ADDRESS_LOCAL, CL_KERNEL_ARG_TYPE_NONE);
    check_arg(k, 2, "c", "uchar*", CL_KERNEL_ARG_ADDRESS_CONSTANT, CL_KERNEL_ARG_TYPE_CONST);
    check_arg(k, 3, "n", "uint", CL_KERNEL_ARG_ADDRESS_PRIVATE, CL_KERNEL_ARG_TYPE_NONE);
    check_arg(k, 4, "v", "int*", CL_KERNEL_ARG_ADDRESS_GLOBAL, CL_KERNEL_ARG_TYPE_VOLATILE);
    char text[8];
    FAILS(clGetKernelArgInfo(k, 5, CL_KERNEL_ARG_NAME, sizeof text, text, NULL), CL_INVALID_ARG_INDEX);
    FAILS(clGetKernelArgInfo(k, 0, 0, sizeof text, text, NULL), CL_INVALID_VALUE);
    OK(clReleaseKernel(k));
}

/** OpenCL 3.0, 5.9.3: argument information exists only in a program built with the option. The information is kept for
 *  each compiled module, through libraries and binaries. */
static void test_no_arg_info(void **state)
{
    (void)state;
    static const char *const sources[] = {"kernel void told(int x) {}", "kernel void hidden(int x) {}"};
    cl_program parts[2];
    for (int i = 0; i < 2; i++) {
        const char *text = sources[i];
        parts[i] = clCreateProgramWithSource(clt_context, 1, &text, NULL, &clt_error);
        MADE(parts[i]);
        OK(clCompileProgram(parts[i], 0, NULL, i ? "-w" : "-cl-kernel-arg-info", 0, NULL, NULL, NULL, NULL));
    }
    cl_program library = clLinkProgram(clt_context, 0, NULL, "-create-library", 2, parts, NULL, NULL, &clt_error);
    MADE(library);
    cl_program linked = clLinkProgram(clt_context, 0, NULL, NULL, 1, &library, NULL, NULL, &clt_error);
    MADE(linked);
    size_t size = 0;
    OK(clGetProgramInfo(linked, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL));
    unsigned char *binary = malloc(size);
    OK(clGetProgramInfo(linked, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL));
    const unsigned char *given = binary;
    cl_program again = clCreateProgramWithBinary(clt_context, 1, &clt_device, &size, &given, NULL, &clt_error);
    MADE(again);
    free(binary);
    OK(clBuildProgram(again, 0, NULL, NULL, NULL, NULL));
    cl_program both = clt_build("kernel void hidden(int x) {}", "");
    const struct {
        cl_program program;
        const char *name;
        cl_int error;
    } cases[] = {
        {linked, "told", CL_SUCCESS},
        {linked, "hidden", CL_KERNEL_ARG_INFO_NOT_AVAILABLE},
        {again, "told", CL_SUCCESS},
        {again, "hidden", CL_KERNEL_ARG_INFO_NOT_AVAILABLE},
        {both, "hidden", CL_KERNEL_ARG_INFO_NOT_AVAILABLE},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        char text[8];
        cl_uint n = 0;
        cl_kernel k = clCreateKernel(cases[i].program, cases[i].name, &clt_error);
        MADE(k);
        FAILS(clGetKernelArgInfo(k, 0, CL_KERNEL_ARG_NAME, sizeof text, text, NULL), cases[i].error);
        FAILS(clGetKernelArgInfo(k, 0, CL_KERNEL_ARG_TYPE_NAME, sizeof text, text, NULL), cases[i].error);
        FAILS(clGetKernelArgInfo(k, 1, CL_KERNEL_ARG_NAME, sizeof text, text, NULL), CL_INVALID_ARG_INDEX);
        OK(clGetKernelInfo(k, CL_KERNEL_NUM_ARGS, sizeof n, &n, NULL));
        assert_int_equal(n, 1);
        OK(clReleaseKernel(k));
    }
    cl_program all[] = {parts[0], parts[1], library, linked, again, both};
    for (size_t i = 0; i < LENGTH(all); i++) {
        OK(clReleaseProgram(all[i]));
    }
}

static void check_variables(cl_program p, size_t expected)
{
    size_t size = 99;
    OK(clGetProgramBuildInfo(p, clt_device, CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE, sizeof size, &size, NULL));
    assert_int_equal(size, expected);
    OK(clReleaseProgram(p));
}

/** Variables in the global address space count. Constants, __local variables and unused variables do not. */
static void test_variables(void **state)
{
    (void)state;
    size_t most = 0;
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE, sizeof most, &most, NULL));
    assert_true(most >= 65536); /* OpenCL 3.0, 4.2: the minimum for a device that supports such variables. */
    check_variables(clt_build("constant int t[4] = {1, 2, 3, 4}; kernel void k(global int *o) { local int l; l = o[1]; "
                              "o[0] = t[l & 3]; }", NULL), 0);
    const char *text = "global int count = 5; global float4 sums[10]; constant int t[3] = {1, 2, 3};\n"
                       "kernel void k(global int *o) { static global char hits; hits += t[o[1] % 3]; o[0] = "
                       "count++ + hits;\n"
                       "sums[o[2] & 7].x += o[0]; }";
    check_variables(clt_build(text, "-cl-std=CL3.0"), 4 + 160 + 1);
    char *large = NULL;
    assert_true(asprintf(&large, "global uchar store[%zu]; kernel void k(global uchar *o, uint i) { o[0] = "
                         "store[i]++; }", most) > 0);
    check_variables(clt_build(large, "-cl-std=CL3.0"), most);
    free(large);
    cl_program unbuilt = clCreateProgramWithSource(clt_context, 1, &text, NULL, &clt_error);
    MADE(unbuilt);
    check_variables(unbuilt, 0);
}

static void test_clone_kernel(void **state)
{
    (void)state;
    cl_kernel k = clt_kernel("kernel void f(global int *r, int v) { *r = v; }", "f");
    int r = 0;
    const cl_int one = 1, two = 2;
    cl_mem m = clt_buffer(sizeof r, &r);
    clt_args(k, 2, ARG(m), ARG(one));
    cl_kernel c = clCloneKernel(k, &clt_error);
    MADE(c);
    OK(clSetKernelArg(k, 1, sizeof two, &two));
    clt_run(c, 1, 0);
    clt_read(m, &r, sizeof r);
    assert_int_equal(r, 1);
    clt_run(k, 1, 0);
    clt_read(m, &r, sizeof r);
    assert_int_equal(r, 2);
    OK(clReleaseKernel(c));
    OK(clReleaseKernel(k));
    OK(clReleaseMemObject(m));
}

/** Calls `run` and returns what it printed to stdout. */
static void capture(void (*run)(cl_kernel), cl_kernel k, char *text, size_t size)
{
    char path[] = "/tmp/tern-printf-XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    fflush(stdout);
    const int saved = dup(1);
    dup2(file, 1);
    run(k);
    fflush(stdout);
    dup2(saved, 1);
    close(saved);
    lseek(file, 0, SEEK_SET);
    const ssize_t n = read(file, text, size - 1);
    text[n < 0 ? 0 : n] = '\0';
    close(file);
    unlink(path);
}

static void run_three(cl_kernel k)
{
    const size_t one = 1;
    for (cl_int i = 0; i < 3; i++) {
        OK(clSetKernelArg(k, 0, sizeof i, &i));
        OK(clEnqueueNDRangeKernel(clt_queue, k, 1, NULL, &one, NULL, 0, NULL, NULL));
    }
    OK(clFinish(clt_queue));
}

static void run_many(cl_kernel k)
{
    clt_run(k, 40, 0);
}

static void test_printf(void **state)
{
    (void)state;
    char text[4096];
    cl_kernel k = clt_kernel("kernel void f(int i) { printf(\"%d: %5.2f %x %s %c %v4d|%ld\\n\", i, 1.5f * i, 255u, "
                             "\"str\", 'c', (int4)(1, 2, 3, i), 1234567890123L); }", "f");
    capture(run_three, k, text, sizeof text);
    assert_string_equal(text, "0:  0.00 ff str c 1,2,3,0|1234567890123\n1:  1.50 ff str c 1,2,3,1|1234567890123\n"
                              "2:  3.00 ff str c 1,2,3,2|1234567890123\n");
    OK(clReleaseKernel(k));
    k = clt_kernel("kernel void f() { printf(\"<%u>\", (uint)get_global_id(0)); }", "f");
    capture(run_many, k, text, sizeof text);
    for (unsigned i = 0; i < 40; i++) { /* Each is printed once, in any order. */
        char one[16];
        snprintf(one, sizeof one, "<%u>", i);
        const char *at = strstr(text, one);
        assert_non_null(at);
        assert_null(strstr(at + 1, one));
    }
    OK(clReleaseKernel(k));
}

/** A program-scope variable lives as long as its program: each kernel sees the value that the one before left. */
static void test_program_variable(void **state)
{
    (void)state;
    cl_program p = clt_build("global int count = 40; kernel void f(global int *r) { count++; *r = count; }",
                             "-cl-std=CL3.0");
    check_runs(p, 41);
    check_runs(p, 42);
    OK(clReleaseProgram(p));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_build_error),     cmocka_unit_test(test_options),
        cmocka_unit_test(test_several_strings_and_kernels),
        cmocka_unit_test(test_compile_and_link), cmocka_unit_test(test_binaries),
        cmocka_unit_test(test_asynchronous_builds), cmocka_unit_test(test_arg_info), cmocka_unit_test(test_no_arg_info),
        cmocka_unit_test(test_variables),
        cmocka_unit_test(test_clone_kernel),    cmocka_unit_test(test_printf),
        cmocka_unit_test(test_program_variable),
    };
    return cmocka_run_group_tests(tests, clt_open, clt_close);
}
