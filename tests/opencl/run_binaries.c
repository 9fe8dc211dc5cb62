/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Program binaries that were changed and sealed again. Whatever the numbers in their metadata say, an invalid binary is
 * refused before anything uses it.
 */
#include "clt.h"

#include "tc_internal.h"

#include <string.h>

static const char source[] =
    "__attribute__((reqd_work_group_size(4, 1, 1)))\n"
    "kernel void first(global int *out, char c, local int *scratch, int4 v) { scratch[0] = c; out[0] = "
    "scratch[0] + v.y; }\n"
    "kernel void third(global int *out, char c, local int *scratch, int4 v) { scratch[0] = c; out[0] = v.y; }\n"
    "kernel void second(global int *out) { out[0] = 2; }\n"
    "kernel void fourth(global int *out, read_only image2d_t i) { out[0] = 4; }\n";

static unsigned char *made;
static size_t made_size;

static int open_all(void **state)
{
    const int failed = clt_open(state);
    if (failed) {
        return failed;
    }
    cl_program p = clt_build(source, NULL);
    OK(clGetProgramInfo(p, CL_PROGRAM_BINARY_SIZES, sizeof made_size, &made_size, NULL));
    made = malloc(made_size);
    OK(clGetProgramInfo(p, CL_PROGRAM_BINARIES, sizeof made, &made, NULL));
    return clReleaseProgram(p);
}

static int close_all(void **state)
{
    free(made);
    return clt_close(state);
}

/** Replaces the first `from` after `after` in the metadata text. The spaces behind "stack" keep the text's length. */
static void change(char *text, size_t size, const char *after, const char *from, const char *to)
{
    char *start = memmem(text, size, after, strlen(after));
    assert_non_null(start);
    char *at = memmem(start, size - (size_t)(start - text), from, strlen(from));
    assert_non_null(at);
    char *tail = at + strlen(from);
    static char copy[1 << 16];
    const size_t rest = size - (size_t)(tail - text);
    memcpy(copy, tail, rest);
    const char *gap = memmem(copy, rest, "\"stack\":", 8);
    assert_non_null(gap);
    const size_t head = (size_t)(gap - copy) + 8;
    const long more = (long)strlen(to) - (long)strlen(from);
    for (long i = 0; i < more; i++) {
        assert_int_equal(copy[head + (size_t)i], ' ');
    }
    at = stpcpy(at, to);
    memcpy(at, copy, head);
    at += head;
    for (long i = more; i < 0; i++) {
        *at++ = ' ';
    }
    const size_t skip = more > 0 ? (size_t)more : 0;
    memcpy(at, copy + head + skip, rest - head - skip);
}

/** Returns the program of a binary changed in this way, or NULL and clt_error if it is refused. */
static cl_program load(const char *after, const char *from, const char *to)
{
    struct tc_blob blob = {0};
    const size_t content = tc_sealed_size(made, made_size);
    assert_true(content > 0);
    blob.data = malloc(content);
    memcpy(blob.data, made, content);
    blob.size = content;
    char *text = memmem(blob.data, content, "{\"version\"", 10);
    assert_non_null(text);
    change(text, content - (size_t)(text - (char *)blob.data), after, from, to);
    assert_int_equal(tc_seal(&blob), 0);
    cl_int status = 99;
    const unsigned char *given = blob.data;
    cl_program p = clCreateProgramWithBinary(clt_context, 1, &clt_device, &blob.size, &given, &status, &clt_error);
    assert_int_equal(status, clt_error);
    free(blob.data);
    return p;
}

static void test_harmless(void **state)
{
    (void)state;
    cl_program p = load("\"second\"", "\"args_size\":16", "\"args_size\": 16");
    MADE(p);
    OK(clBuildProgram(p, 0, NULL, NULL, NULL, NULL));
    cl_kernel k = clCreateKernel(p, "second", &clt_error);
    MADE(k);
    cl_int out = 0;
    cl_mem m = clt_buffer(sizeof out, &out);
    clt_args(k, 1, ARG(m));
    clt_run(k, 1, 1);
    clt_read(m, &out, sizeof out);
    assert_int_equal(out, 2);
    OK(clReleaseMemObject(m));
    OK(clReleaseKernel(k));
    OK(clReleaseProgram(p));
}

#define ATTRIBUTES "\"attributes\":\"reqd_work_group_size(4,1,1)\""

/** The metadata names an entry for several work-items that does not exist. No kernel of the program runs. */
static void test_missing_entry(void **state)
{
    (void)state;
    const size_t four = 4;
    const cl_char value = 1;
    const cl_int4 v = {{0}};
    cl_program p = load("\"first\"", ATTRIBUTES, "\"attributes\":\"\",\"coarse\":16");
    MADE(p);
    OK(clBuildProgram(p, 0, NULL, NULL, NULL, NULL));
    cl_kernel k = clCreateKernel(p, "first", &clt_error);
    MADE(k);
    cl_mem m = clt_buffer(4, NULL);
    clt_args(k, 4, ARG(m), ARG(value), LOCAL(4), ARG(v));
    FAILS(clEnqueueNDRangeKernel(clt_queue, k, 1, NULL, &four, NULL, 0, NULL, NULL), CL_OUT_OF_RESOURCES);
    OK(clReleaseMemObject(m));
    OK(clReleaseKernel(k));
    OK(clReleaseProgram(p));
}

/** The metadata has a larger block of arguments than the kernel in the modules. The kernel runs in groups that fit an
 *  engine, and not in larger ones, for which it is compiled from the modules. */
static void test_other_arguments(void **state)
{
    (void)state;
    size_t most = 0;
    const size_t four = 4;
    const cl_char value = 1;
    const cl_int4 v = {{0}};
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof most, &most, NULL));
    for (int forged = 0; forged < 2; forged++) {
        cl_program p = load("\"third\"", "\"args_size\":32", forged ? "\"args_size\":48" : "\"args_size\":32");
        MADE(p);
        OK(clBuildProgram(p, 0, NULL, NULL, NULL, NULL));
        cl_kernel k = clCreateKernel(p, "third", &clt_error);
        MADE(k);
        cl_mem m = clt_buffer(4, NULL);
        clt_args(k, 4, ARG(m), ARG(value), LOCAL(4), ARG(v));
        OK(clEnqueueNDRangeKernel(clt_queue, k, 1, NULL, &four, &four, 0, NULL, NULL));
        FAILS(clEnqueueNDRangeKernel(clt_queue, k, 1, NULL, &most, &most, 0, NULL, NULL),
              forged ? CL_OUT_OF_RESOURCES : CL_SUCCESS);
        OK(clFinish(clt_queue));
        OK(clReleaseMemObject(m));
        OK(clReleaseKernel(k));
        OK(clReleaseProgram(p));
    }
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *after, *from, *to;
    } changes[] = {
        /* A pointer that would be written beyond the argument block, although an argument of 0 bytes fits there. */
        {"\"scratch\"", "\"size\":4,\"offset\":8", "\"size\":0,\"offset\":1024"},
        {"\"scratch\"", "\"size\":4,\"offset\":8", "\"size\":0,\"offset\":32"},
        {"\"scratch\"", "\"offset\":8", "\"offset\":32"},
        {"\"scratch\"", "\"offset\":8", "\"offset\":10"}, /* The offset is not aligned. */
        {"\"scratch\"", "\"offset\":8", "\"offset\":4"},  /* The argument overlaps the one before it. */
        {"\"scratch\"", "\"offset\":8", "\"offset\":8.5"},
        {"\"scratch\"", "\"offset\":8", "\"offset\":-8"},
        {"\"scratch\"", "\"offset\":8", "\"offset\":\"8\""},
        {"\"scratch\"", "\"size\":4", "\"size\":8"}, /* The size is not that of a pointer. */
        {"\"scratch\"", "\"size\":4", "\"size\":1"},
        {"\"c\"", "\"kind\":0", "\"kind\":1"}, /* A char is no pointer, image or sampler. */
        {"\"c\"", "\"kind\":0", "\"kind\":2"},
        {"\"c\"", "\"kind\":0", "\"kind\":3"},
        {"\"c\"", "\"kind\":0", "\"kind\":4"},
        {"\"c\"", "\"kind\":0", "\"kind\":false"},
        {"\"i\"", "\"kind\":2", "\"kind\":0"}, /* An image is nothing else, and is of a known type. */
        {"\"i\"", "\"kind\":2", "\"kind\":1"},
        {"\"i\"", "\"image\":4", "\"image\":0"},
        {"\"i\"", "\"image\":4", "\"image\":9"},
        {"\"i\"", "\"image\":4,\"size\":64", "\"image\":4,\"size\":48"},
        {"\"i\"", "\"offset\":16", "\"offset\":24"},
        {"{", "\"access\":1", "\"access\":0"}, /* An image has an access qualifier. */
        {"\"v\"", "\"size\":16", "\"size\":17"},
        {"\"v\"", "\"size\":16", "\"size\":4294967295"},
        {"{", "\"space\":1", "\"space\":0"}, /* A pointer to private memory. */
        {"{", "\"space\":1", "\"space\":4"},
        {"{", "\"access\":0", "\"access\":4"},
        {"{", "\"qualifiers\":0", "\"qualifiers\":8"},
        {"\"first\"", "\"args_size\":32", "\"args_size\":16"},
        {"\"first\"", "\"args_size\":32", "\"args_size\":33"},
        {"\"first\"", "\"args_size\":32", "\"args_size\":0"},
        {"\"first\"", "\"args_size\":32", "\"args_size\":1048592"},
        {"\"first\"", "[4,1,1]", "[4,0,1]"},
        {"\"first\"", "[4,1,1]", "[4,1]"},
        {"\"first\"", "[4,1,1]", "[4,1,.5]"},
        {"\"first\"", "\"stack\":", "\"stack\":-"},
        {"\"first\"", "\"stack\":         0", "\"stack\":2147483648"},
        {"\"first\"", "\"local_static\":0", "\"local_static\":-1"},
        {"\"first\"", ATTRIBUTES, "\"attributes\":\"\",\"coarse\":257"},
        {"\"first\"", ATTRIBUTES, "\"attributes\":\"\",\"coarse\":-1"},
        {"\"first\"", ATTRIBUTES, "\"attributes\":\"\",\"coarse\":true"},
        {"\"first\"", ATTRIBUTES, "\"attributes\":\"\",\"coarse\":4,\"tile\":257"},
        {"\"first\"", ATTRIBUTES, "\"attributes\":\"\",\"coarse\":4,\"tile\":0"},
        {"\"first\"", ATTRIBUTES, "\"attributes\":\"\",\"coarse\":4,\"tile\":\"4\""},
        {"\"first\"", ATTRIBUTES, "\"attributes\":\"\",\"merged\":257"},
        {"\"first\"", ATTRIBUTES, "\"attributes\":\"\",\"sub_bytes\":6"},
        {"\"first\"", ATTRIBUTES, "\"attributes\":\"\",\"sub_bytes\":8192"},
        {"\"first\"", ATTRIBUTES, "\"attributes\":\"\",\"sub_bytes\":true"},
        {"\"first\"", ATTRIBUTES, "\"attributes\":\"\",\"merged\":0"},
        {"\"first\"", ATTRIBUTES, "\"attributes\":\"\",\"merged\":4,\"joined\":1"},
        {"\"first\"", ATTRIBUTES, "\"attributes\":\"\",\"merged\":4,\"joined\":257"},
        {"\"first\"", ATTRIBUTES, "\"attributes\":\"\",\"joined\":2"},
        {"\"first\"", "\"groups\":true", "\"groups\":1"},
        {"\"first\"", "\"merges\":1", "\"merges\":4"},
        {"\"first\"", "\"merges\":1", "\"merges\":true"},
        {"\"first\"", "\"uniform\":true", "\"uniform\":1"},
        {"{", "\"name\":\"second\"", "\"name\":\"first\""}, /* Two kernels of one name. */
        {"{", "\"name\":\"second\"", "\"name\":\"a;b\""},
        {"{", "\"name\":\"second\"", "\"name\":\"\""},
        {"{", "\"version\":10", "\"version\":9"},
    };
    for (size_t i = 0; i < LENGTH(changes); i++) {
        cl_program p = load(changes[i].after, changes[i].from, changes[i].to);
        if (p != NULL || clt_error != CL_INVALID_BINARY) {
            fail_msg("%s instead of %s behind %s: program %p, error %d", changes[i].to, changes[i].from,
                     changes[i].after, (void *)p, clt_error);
        }
    }
}

/** A kernel with the maximum size of arguments, and valid arguments of 0 bytes. */
static void test_many_arguments(void **state)
{
    (void)state;
    static char text[1 << 15];
    for (int n = 1024; n <= 1025; n++) {
        char *at = text + sprintf(text, "struct nothing {};\nkernel void k(global int *out, int value");
        for (int i = 2; i < n; i++) {
            at += sprintf(at, ", struct nothing n%d", i);
        }
        sprintf(at, ") { out[0] = value; }");
        const char *given = text;
        cl_program p = clCreateProgramWithSource(clt_context, 1, &given, NULL, &clt_error);
        MADE(p);
        const cl_int error = clBuildProgram(p, 0, NULL, NULL, NULL, NULL);
        assert_int_equal(error, n == 1024 ? CL_SUCCESS : CL_BUILD_PROGRAM_FAILURE);
        if (error == CL_SUCCESS) {
            cl_kernel k = clCreateKernel(p, "k", &clt_error);
            MADE(k);
            cl_uint count = 0;
            OK(clGetKernelInfo(k, CL_KERNEL_NUM_ARGS, sizeof count, &count, NULL));
            assert_int_equal(count, n);
            OK(clReleaseKernel(k));
        } else {
            char log[256] = "";
            OK(clGetProgramBuildInfo(p, clt_device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL));
            assert_non_null(strstr(log, "more than 1024 arguments"));
        }
        OK(clReleaseProgram(p));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_harmless),
        cmocka_unit_test(test_missing_entry), cmocka_unit_test(test_other_arguments), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_many_arguments),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
