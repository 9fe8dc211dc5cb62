/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The sizes of groups that a kernel may assume. The kernel's own language version decides, whether the program was
 * built, loaded as a binary, or compiled and linked. OpenCL C 1.2 computes positions from get_local_size.
 */
#include "clt.h"

static const char source[] = "kernel void f(global uint *r) {"
                             "    uint i = get_group_id(0) * get_local_size(0) + get_local_id(0);"
                             "    r[get_global_id(0)] = i + (get_num_groups(0) * get_local_size(0) << 16);"
                             "}";

enum made { BUILT, BINARY, LINKED };

static cl_program again_from_binary(cl_program p)
{
    size_t size = 0;
    OK(clGetProgramInfo(p, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL));
    unsigned char *binary = malloc(size);
    OK(clGetProgramInfo(p, CL_PROGRAM_BINARIES, sizeof(unsigned char *), &binary, NULL));
    OK(clReleaseProgram(p));
    const unsigned char *given = binary;
    p = clCreateProgramWithBinary(clt_context, 1, &clt_device, &size, &given, NULL, &clt_error);
    MADE(p);
    free(binary);
    OK(clBuildProgram(p, 0, NULL, NULL, NULL, NULL));
    return p;
}

static cl_program make(enum made how, const char *options)
{
    if (how != LINKED) {
        cl_program p = clt_build(source, options);
        return how == BINARY ? again_from_binary(p) : p;
    }
    const char *text = source;
    cl_program part = clCreateProgramWithSource(clt_context, 1, &text, NULL, &clt_error);
    MADE(part);
    OK(clCompileProgram(part, 0, NULL, options, 0, NULL, NULL, NULL, NULL));
    cl_program whole = clLinkProgram(clt_context, 0, NULL, NULL, 1, &part, NULL, NULL, &clt_error);
    MADE(whole);
    OK(clReleaseProgram(part));
    return whole;
}

/** Runs n work-items. If `even`, position and total must be those of groups of one size. */
static void run(cl_kernel k, cl_uint n, size_t local, int even)
{
    cl_uint *r = calloc(n, sizeof *r);
    cl_mem m = clt_buffer(n * sizeof *r, r);
    clt_args(k, 1, ARG(m));
    clt_run(k, n, local);
    clt_read(m, r, n * sizeof *r);
    for (cl_uint i = 0; even && i < n; i++) {
        assert_int_equal(r[i], i + (n << 16));
    }
    OK(clReleaseMemObject(m));
    free(r);
}

static void refuse_sevens(cl_kernel k)
{
    const size_t n = 50, seven = 7;
    cl_mem m = clt_buffer(n * sizeof(cl_uint), NULL);
    clt_args(k, 1, ARG(m));
    FAILS(clEnqueueNDRangeKernel(clt_queue, k, 1, NULL, &n, &seven, 0, NULL, NULL), CL_INVALID_WORK_GROUP_SIZE);
    OK(clReleaseMemObject(m));
}

static void test_language(void **state)
{
    (void)state;
    static const struct {
        const char *options;
        int uniform;
    } language[] = {{"", 1}, {"-cl-std=CL1.1", 1}, {"-cl-std=CL3.0", 0},
                    {"-cl-std=CL3.0 -cl-uniform-work-group-size", 1}};
    for (size_t i = 0; i < LENGTH(language); i++) {
        for (int how = BUILT; how <= LINKED; how++) {
            cl_program p = make((enum made)how, language[i].options);
            cl_kernel k = clCreateKernel(p, "f", &clt_error);
            MADE(k);
            static const cl_uint sizes[] = {1, 63, 97, 257, 262};
            for (size_t s = 0; s < LENGTH(sizes); s++) {
                run(k, sizes[s], 0, language[i].uniform);
            }
            if (language[i].uniform) {
                refuse_sevens(k);
            } else {
                run(k, 50, 7, 0);
            }
            run(k, 56, 7, 1);
            OK(clReleaseKernel(k));
            OK(clReleaseProgram(p));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_language)};
    return cmocka_run_group_tests(tests, clt_open, clt_close);
}
