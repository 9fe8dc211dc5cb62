/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Sizes and ids of sub-groups, their barriers, what the API tells of them, and the kernels and groups that are refused.
 */
#include "sub_groups.h"

#include <CL/cl_ext.h>
#include <stdio.h>
#include <string.h>

static const char shape[] =
    "kernel void f(global uint *out, uint n) {\n"
    "  const uint i = get_global_linear_id();\n"
    "  out[i] = get_sub_group_size(); out[n + i] = get_max_sub_group_size(); out[2 * n + i] = get_num_sub_groups();\n"
    "  out[3 * n + i] = get_enqueued_num_sub_groups(); out[4 * n + i] = get_sub_group_id();\n"
    "  out[5 * n + i] = get_sub_group_local_id(); out[6 * n + i] = get_sub_group_eq_mask().x;\n"
    "  out[7 * n + i] = get_sub_group_ge_mask().x; out[8 * n + i] = get_sub_group_gt_mask().x;\n"
    "  out[9 * n + i] = get_sub_group_le_mask().x; out[10 * n + i] = get_sub_group_lt_mask().x;\n"
    "  const uint4 b = (uint4)(i * 0x9e3779b1 | 1, 7, 7, 7);\n"
    "  out[11 * n + i] = sub_group_inverse_ballot(b); out[12 * n + i] = sub_group_ballot_bit_extract(b, i & 31);\n"
    "  out[13 * n + i] = sub_group_ballot_bit_count(b); out[14 * n + i] = sub_group_ballot_inclusive_scan(b);\n"
    "  out[15 * n + i] = sub_group_ballot_exclusive_scan(b); out[16 * n + i] = sub_group_ballot_find_lsb(b);\n"
    "  out[17 * n + i] = sub_group_ballot_find_msb(b);\n"
    "}\n";

static const char barriers[] =
    "kernel void f(global uint *out, global uint *tmp, local uint *l, uint n) {\n"
    "  const uint i = get_global_linear_id(), s = get_sub_group_size(), me = get_sub_group_local_id();\n"
    "  local uint *own = l + get_sub_group_id() * get_max_sub_group_size();\n"
    "  global uint *far = tmp + (i - me);\n"
    "  uint sum = 0;\n"
    "  for (uint k = 0; k < 5; k++) {\n"
    "    for (uint j = 0; j < (i * 7 + k) % 41; j++) sum = sum * 3 + 1;\n"
    "    own[me] = i * 16 + k; far[me] = i * 32 + k;\n"
    "    sub_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n"
    "    sum = sum % 1000 * 5 + own[s - 1 - me] + ((global volatile uint *)far)[(me + k) % s];\n"
    "    sub_group_barrier(CLK_LOCAL_MEM_FENCE, memory_scope_work_group);\n"
    "  }\n"
    "  out[i] = sum;\n"
    "}\n";

enum { WORDS = 18 };

static uint32_t want_shape[WORDS][MOST];

static void want_of_shape(const struct sub *s, unsigned at)
{
    const uint32_t top = ~0u >> (32 - lanes);
    (void)at;
    for (unsigned l = 0; l < s->n; l++) {
        const unsigned i = s->item[l];
        const uint32_t bit = 1u << l, b = i * 0x9e3779b1u | 1, in = b & top;
        const uint32_t all[WORDS] = {
            s->n, lanes, s->of, s->enqueued, s->id, l, bit, top & ~(bit - 1), top & ~(bit - 1) & ~bit, (bit - 1) | bit,
            bit - 1, b >> l & 1, b >> (i & 31) & 1, (uint32_t)__builtin_popcount(in),
            (uint32_t)__builtin_popcount(b & ((bit - 1) | bit)), (uint32_t)__builtin_popcount(b & (bit - 1)), 0,
            31 - (uint32_t)__builtin_clz(in)};
        for (unsigned w = 0; w < WORDS; w++) {
            want_shape[w][i] = all[w];
        }
    }
}

static void run_shape(cl_kernel k, const struct range *r)
{
    static uint32_t got[WORDS * MOST];
    const cl_uint n = (cl_uint)(r->global[0] * r->global[1] * r->global[2]);
    cl_mem out = clt_buffer(WORDS * n * sizeof got[0], NULL);
    sub_groups_each(r, want_of_shape, 0);
    clt_args(k, 2, ARG(out), ARG(n));
    OK(clEnqueueNDRangeKernel(clt_queue, k, r->dims, NULL, r->global, r->local, 0, NULL, NULL));
    clt_read(out, got, WORDS * n * sizeof got[0]);
    for (unsigned w = 0; w < WORDS; w++) {
        for (unsigned i = 0; i < n; i++) {
            if (got[w * n + i] != want_shape[w][i]) {
                fail_msg("%zux%zux%zu in groups of %zux%zux%zu: word %u of work-item %u is %x, not %x", r->global[0],
                         r->global[1], r->global[2], r->local[0], r->local[1], r->local[2], w, i, got[w * n + i],
                         want_shape[w][i]);
            }
        }
    }
    OK(clReleaseMemObject(out));
}

static void test_shapes(void **state)
{
    uint32_t seed = 5;
    (void)state;
    cl_program p = clt_build(shape, "-cl-std=CL3.0");
    cl_kernel k = sub_groups_kernel(p);
    for (size_t size = 1; size <= most; size += clt_on_rtl() ? 23 : size < 70 || size + 37 > most ? 1 : 37) {
        run_shape(k, &(struct range){1, {size + size / 2, 1, 1}, {size, 1, 1}});
    }
    for (int i = 0; i < (clt_on_rtl() ? 3 : 40); i++) {
        const struct range r = sub_groups_range(&seed);
        run_shape(k, &r);
    }
    OK(clReleaseKernel(k));
    OK(clReleaseProgram(p));
}

static uint32_t want_sum[MOST];

static void want_barriers(const struct sub *s, unsigned at)
{
    (void)at;
    for (unsigned l = 0; l < s->n; l++) {
        const uint32_t i = s->item[l], first = i - l;
        uint32_t sum = 0;
        for (uint32_t k = 0; k < 5; k++) {
            for (uint32_t j = 0; j < (i * 7 + k) % 41; j++) {
                sum = sum * 3 + 1;
            }
            sum = sum % 1000 * 5 + (first + s->n - 1 - l) * 16 + k + (first + (l + k) % s->n) * 32 + k;
        }
        want_sum[i] = sum;
    }
}

static void test_barriers(void **state)
{
    static uint32_t got[MOST];
    (void)state;
    cl_program p = clt_build(barriers, "-cl-std=CL2.0");
    cl_kernel k = sub_groups_kernel(p);
    for (size_t size = 1; size <= most; size += clt_on_rtl() ? 17 : size < 20 ? 1 : 11) {
        const struct range r = {1, {clt_on_rtl() ? 93 : MOST / 2 - 3, 1, 1}, {size, 1, 1}};
        const cl_uint n = (cl_uint)r.global[0];
        cl_mem out = clt_buffer(n * sizeof got[0], NULL), tmp = clt_buffer(n * sizeof got[0], NULL);
        sub_groups_each(&r, want_barriers, 0);
        clt_args(k, 4, ARG(out), ARG(tmp), LOCAL(4 * (size + 32)), ARG(n));
        OK(clEnqueueNDRangeKernel(clt_queue, k, 1, NULL, r.global, r.local, 0, NULL, NULL));
        clt_read(out, got, n * sizeof got[0]);
        for (unsigned i = 0; i < n; i++) {
            if (got[i] != want_sum[i]) {
                fail_msg("groups of %zu: work-item %u has %x, not %x", size, i, got[i], want_sum[i]);
            }
        }
        OK(clReleaseMemObject(out));
        OK(clReleaseMemObject(tmp));
    }
    OK(clReleaseKernel(k));
    OK(clReleaseProgram(p));
}

/** A group that does not fit an engine is refused, also if the kernel has no barrier and uses no local id. */
static void test_refused(void **state)
{
    const size_t over = 2 * most, global = 4 * most;
    const cl_uint n = (cl_uint)global;
    (void)state;
    cl_program p = clt_build("kernel void f(global uint *o, uint n) { o[get_global_id(0)] = get_num_sub_groups(); }",
                             "-cl-std=CL3.0");
    cl_kernel k = sub_groups_kernel(p);
    cl_uint warps;
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_MAX_NUM_SUB_GROUPS, sizeof warps, &warps, NULL));
    assert_int_equal(most, warps * lanes);
    cl_mem out = clt_buffer(n * sizeof(cl_uint), NULL);
    clt_args(k, 2, ARG(out), ARG(n));
    FAILS(clEnqueueNDRangeKernel(clt_queue, k, 1, NULL, &global, &over, 0, NULL, NULL), CL_INVALID_WORK_GROUP_SIZE);
    OK(clReleaseMemObject(out));
    OK(clReleaseKernel(k));
    OK(clReleaseProgram(p));
}

/** Asks for a size_t of a local size or a number of sub-groups. */
static size_t ask(cl_kernel k, cl_kernel_sub_group_info name, size_t size, const size_t *input)
{
    size_t v = 0, bytes = 0;
    OK(clGetKernelSubGroupInfo(k, clt_device, name, size, input, sizeof v, &v, &bytes));
    assert_int_equal(bytes, sizeof v);
    return v;
}

static void test_queries(void **state)
{
    const size_t dims3[3] = {5, 3, 7}, one = 1, over = most + 1, none = 0, two = 2, many = 1000000;
    size_t local[3], bytes, v;
    cl_uint count;
    cl_bool progress;
    char text[4096];
    (void)state;
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_MAX_NUM_SUB_GROUPS, sizeof count, &count, NULL));
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS, sizeof progress, &progress, NULL));
    assert_true(progress);
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_EXTENSIONS, sizeof text, text, NULL));
    static const char *const names[] = {"cl_khr_subgroups", "cl_khr_subgroup_extended_types",
        "cl_khr_subgroup_non_uniform_vote", "cl_khr_subgroup_ballot", "cl_khr_subgroup_non_uniform_arithmetic",
        "cl_khr_subgroup_shuffle", "cl_khr_subgroup_shuffle_relative", "cl_khr_subgroup_clustered_reduce",
        "cl_khr_subgroup_rotate"};
    for (size_t i = 0; i < LENGTH(names); i++) {
        assert_non_null(strstr(text, names[i]));
    }
    cl_program p = clt_build("kernel void f(global uint *o) { o[0] = sub_group_reduce_add(1); }\n"
                             "kernel __attribute__((reqd_work_group_size(2, 3, 4))) void g(global uint *o) { *o = 1; }",
                             "-cl-std=CL3.0");
    cl_kernel k = sub_groups_kernel(p), g = clCreateKernel(p, "g", &clt_error);
    MADE(g);
    assert_int_equal(ask(k, CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, sizeof one, &one), lanes);
    assert_int_equal(ask(k, CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE, sizeof one, &one), 1);
    if (most >= 105) {
        assert_int_equal(ask(k, CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE, sizeof dims3, dims3), (105 + lanes - 1) / lanes);
    }
    assert_int_equal(ask(k, CL_KERNEL_MAX_NUM_SUB_GROUPS, 0, NULL), count);
    assert_int_equal(ask(k, CL_KERNEL_COMPILE_NUM_SUB_GROUPS, 0, NULL), 0);
    assert_int_equal(ask(k, CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT, sizeof two, &two), 2 * lanes);
    assert_int_equal(ask(k, CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT, sizeof many, &many), 0);
    assert_int_equal(ask(k, CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT, sizeof none, &none), 0);
    OK(clGetKernelSubGroupInfo(k, NULL, CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT, sizeof two, &two, sizeof local, local,
                               &bytes));
    assert_int_equal(bytes, sizeof local);
    assert_true(local[0] == 2 * lanes && local[1] == 1 && local[2] == 1);
    const size_t required = (24 + lanes - 1) / lanes;
    OK(clGetKernelSubGroupInfo(g, NULL, CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT, sizeof required, &required,
                               sizeof local, local, NULL));
    assert_true(local[0] == 2 && local[1] == 3 && local[2] == 4);
    assert_int_equal(ask(g, CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT, sizeof required, &required), 0);
    FAILS(clGetKernelSubGroupInfo(k, clt_device, CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE, sizeof over, &over,
                                                 sizeof v, &v, NULL), CL_INVALID_VALUE);
    FAILS(clGetKernelSubGroupInfo(k, clt_device, CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE, sizeof none, &none,
                                                 sizeof v, &v, NULL), CL_INVALID_VALUE);
    FAILS(clGetKernelSubGroupInfo(k, clt_device, CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE, 0, NULL,
                                                 sizeof v, &v, NULL), CL_INVALID_VALUE);
    FAILS(clGetKernelSubGroupInfo(k, clt_device, CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE,
                                                 sizeof one + 1, &one, sizeof v, &v, NULL), CL_INVALID_VALUE);
    FAILS(clGetKernelSubGroupInfo(k, clt_device, CL_KERNEL_MAX_NUM_SUB_GROUPS, 0, NULL, 1, &v, NULL), CL_INVALID_VALUE);
    FAILS(clGetKernelSubGroupInfo(k, clt_device, 0, 0, NULL, sizeof v, &v, NULL), CL_INVALID_VALUE);
    FAILS(clGetKernelSubGroupInfo(NULL, clt_device, CL_KERNEL_MAX_NUM_SUB_GROUPS, 0, NULL, sizeof v, &v,
                                                  NULL), CL_INVALID_KERNEL);
    clGetKernelSubGroupInfoKHR_fn khr =
        (clGetKernelSubGroupInfoKHR_fn)clGetExtensionFunctionAddressForPlatform(clt_platform,
                                                                                "clGetKernelSubGroupInfoKHR");
    assert_non_null(khr);
    OK(khr(k, clt_device, CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE_KHR, sizeof one, &one, sizeof v, &v, NULL));
    assert_int_equal(v, 1);
    OK(clReleaseKernel(k));
    OK(clReleaseKernel(g));
    OK(clReleaseProgram(p));
}

/** A loop that is entered in two places, in a kernel with functions of sub-groups. */
static void test_refused_loop(void **state)
{
    char log[4096];
    static const char source[] =
        "kernel void f(global uint *o) {\n"
        "  uint i = get_global_id(0), r = 0;\n"
        "  if (o[i] & 1) goto b;\n"
        "a: r += sub_group_reduce_add(i);\n"
        "b: r += o[i + r];\n"
        "  if (r < 1000) goto a;\n"
        "  o[i] = r;\n"
        "}\n";
    (void)state;
    cl_program p = clCreateProgramWithSource(clt_context, 1, (const char *[]){source}, NULL, &clt_error);
    MADE(p);
    FAILS(clBuildProgram(p, 1, &clt_device, "-cl-std=CL3.0", NULL, NULL), CL_BUILD_PROGRAM_FAILURE);
    OK(clGetProgramBuildInfo(p, clt_device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL));
    assert_non_null(strstr(log, "kernel 'f' calls functions of sub-groups, and has a loop"));
    OK(clReleaseProgram(p));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes), cmocka_unit_test(test_barriers), cmocka_unit_test(test_queries),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_refused_loop),
    };
    return cmocka_run_group_tests(tests, sub_groups_open, clt_close);
}
