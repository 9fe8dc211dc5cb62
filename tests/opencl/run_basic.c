/* SPDX-License-Identifier: Apache-2.0 */
/** Kernels over ranges of every shape, with arguments of every kind. */
#include "clt.h"

static void test_vector_add(void **state)
{
    (void)state;
    enum { N = 1000 }; /* No multiple of any group size. */
    static int a[N], b[N], c[N];
    for (int i = 0; i < N; i++) {
        a[i] = i * 7;
        b[i] = 1000000 - i * 3;
    }
    cl_kernel k = clt_kernel("kernel void add(global const int *a, global const int *b, global int *c)"
                             "{ size_t i = get_global_id(0); c[i] = a[i] + b[i]; }", "add");
    cl_mem ma = clt_buffer(sizeof a, a), mb = clt_buffer(sizeof b, b), mc = clt_buffer(sizeof c, NULL);
    clt_args(k, 3, ARG(ma), ARG(mb), ARG(mc));
    clt_run(k, N, 0);
    clt_read(mc, c, sizeof c);
    for (int i = 0; i < N; i++) {
        assert_int_equal(c[i], a[i] + b[i]);
    }
    OK(clReleaseMemObject(ma));
    OK(clReleaseMemObject(mb));
    OK(clReleaseMemObject(mc));
    OK(clReleaseKernel(k));
}

static void test_saxpy(void **state)
{
    (void)state;
    enum { N = 512 };
    static float x[N], y[N], r[N];
    uint32_t seed = 1;
    for (int i = 0; i < N; i++) {
        x[i] = clt_random_float(&seed);
        y[i] = clt_random_float(&seed);
    }
    cl_kernel k = clt_kernel("kernel void saxpy(float a, global const float *x, global float *y)"
                             "{ size_t i = get_global_id(0); y[i] = fma(a, x[i], y[i]); }", "saxpy");
    cl_mem mx = clt_buffer(sizeof x, x), my = clt_buffer(sizeof y, y);
    const float a = 1.75f;
    clt_args(k, 3, ARG(a), ARG(mx), ARG(my));
    clt_run(k, N, 64);
    clt_read(my, r, sizeof r);
    for (int i = 0; i < N; i++) {
        const float want = __builtin_fmaf(a, x[i], y[i]);
        assert_memory_equal(&r[i], &want, sizeof want);
    }
    OK(clReleaseMemObject(mx));
    OK(clReleaseMemObject(my));
    OK(clReleaseKernel(k));
}

/** Every size from 1 to beyond a warp and a group. Each work-item counts itself once. */
static void test_sizes(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 2, 15, 16, 17, 63, 64, 65, 127, 255, 256, 257, 300, 509};
    cl_kernel k = clt_kernel("kernel void one(global uint *n) { atomic_inc(&n[get_global_id(0)]); }", "one");
    for (size_t s = 0; s < LENGTH(sizes); s++) {
        static cl_uint zero[520], n[520];
        cl_mem m = clt_buffer(sizeof zero, zero);
        clt_args(k, 1, ARG(m));
        clt_run(k, sizes[s], 0);
        clt_read(m, n, sizeof n);
        for (size_t i = 0; i < LENGTH(n); i++) {
            assert_int_equal(n[i], i < sizes[s]);
        }
        OK(clReleaseMemObject(m));
    }
    OK(clReleaseKernel(k));
}

/** All work-item functions in 3 dimensions with an offset, compared with a computation on the host. */
static void test_ids_3d(void **state)
{
    (void)state;
    const size_t global[3] = {12, 6, 4}, local[3] = {4, 3, 2}, offset[3] = {100, 20, 3};
    enum { N = 12 * 6 * 4, W = 10 };
    static cl_uint r[N * W];
    cl_kernel k = clt_kernel(
        "kernel void ids(global uint *r) {"
        "  uint x = get_global_id(0) - get_global_offset(0), y = get_global_id(1) - get_global_offset(1);"
        "  uint z = get_global_id(2) - get_global_offset(2);"
        "  global uint *o = r + 10 * (x + get_global_size(0) * (y + get_global_size(1) * z));"
        "  for (uint d = 0; d < 3; d++) { o[d] = get_global_id(d); o[3 + d] = get_local_id(d); o[6 + d] = "
        "get_group_id(d); }  o[9] = get_num_groups(0) + 100 * get_num_groups(1) + 10000 * get_num_groups(2) + 100000 * "
        "get_work_dim()       + 1000000 * (uint)get_local_size(0) + 10000000 * (uint)get_local_size(2);"
        "}", "ids");
    cl_mem m = clt_buffer(sizeof r, NULL);
    clt_args(k, 1, ARG(m));
    OK(clEnqueueNDRangeKernel(clt_queue, k, 3, offset, global, local, 0, NULL, NULL));
    clt_read(m, r, sizeof r);
    for (unsigned i = 0; i < N; i++) {
        const size_t at[3] = {i % 12, i / 12 % 6, i / 72};
        for (unsigned d = 0; d < 3; d++) {
            assert_int_equal(r[i * W + d], offset[d] + at[d]);
            assert_int_equal(r[i * W + 3 + d], at[d] % local[d]);
            assert_int_equal(r[i * W + 6 + d], at[d] / local[d]);
        }
        assert_int_equal(r[i * W + 9], 3 + 200 + 20000 + 300000 + 4000000 + 20000000);
    }
    OK(clReleaseMemObject(m));
    OK(clReleaseKernel(k));
}

/** Non-uniform work-groups: a CL3.0 program may have a local size that does not divide the global size. A group at the
 * edge reports its own size. */
static void test_uneven_groups(void **state)
{
    (void)state;
    cl_program p = clt_build("kernel void s(global uint *r) { r[get_global_id(0)] = get_local_size(0) * 1000 +"
                             " get_enqueued_local_size(0); }", "-cl-std=CL3.0");
    cl_kernel k = clCreateKernel(p, "s", &clt_error);
    MADE(k);
    cl_uint r[50];
    cl_mem m = clt_buffer(sizeof r, NULL);
    clt_args(k, 1, ARG(m));
    clt_run(k, 50, 32);
    clt_read(m, r, sizeof r);
    for (unsigned i = 0; i < 50; i++) {
        assert_int_equal(r[i], (i < 32 ? 32 : 18) * 1000 + 32);
    }
    OK(clReleaseMemObject(m));
    OK(clReleaseKernel(k));
    OK(clReleaseProgram(p));
}

static void test_zero_size(void **state)
{
    (void)state;
    cl_kernel k = clt_kernel("kernel void f(global int *r) { r[0] = 1; }", "f");
    int r = 5;
    cl_mem m = clt_buffer(sizeof r, &r);
    clt_args(k, 1, ARG(m));
    const size_t zero[2] = {4, 0};
    cl_event e;
    cl_int status = 1;
    OK(clEnqueueNDRangeKernel(clt_queue, k, 2, NULL, zero, NULL, 0, NULL, &e));
    OK(clWaitForEvents(1, &e));
    OK(clGetEventInfo(e, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    assert_int_equal(status, CL_COMPLETE);
    clt_read(m, &r, sizeof r);
    assert_int_equal(r, 5);
    OK(clReleaseEvent(e));
    OK(clReleaseMemObject(m));
    OK(clReleaseKernel(k));
}

struct mixed {
    cl_char c;
    cl_short s;
    cl_int i;
    cl_float f;
    cl_long l;
};

static void test_scalar_and_struct_args(void **state)
{
    (void)state;
    cl_kernel k = clt_kernel(
        "struct mixed { char c; short s; int i; float f; long l; };"
        "kernel void f(char c, uchar uc, short s, ushort us, int i, uint u, long l, ulong ul, float f, struct mixed m,"
        "              global long *r) {"
        "  r[0] = c; r[1] = uc; r[2] = s; r[3] = us; r[4] = i; r[5] = u; r[6] = l; r[7] = ul; r[8] = (long)(f * 4);"
        "  r[9] = m.c; r[10] = m.s; r[11] = m.i; r[12] = (long)(m.f * 4); r[13] = m.l; r[14] = l * (long)ul;"
        "  r[15] = l / 7; r[16] = ul % 1000; }", "f");
    const cl_char c = -5;
    const cl_uchar uc = 250;
    const cl_short s = -30000;
    const cl_ushort us = 60000;
    const cl_int i = -2000000000;
    const cl_uint u = 4000000000u;
    const cl_long l = -5000000000000000000ll;
    const cl_ulong ul = 15000000000000000000ull;
    const cl_float f = 2.75f;
    const struct mixed m = {-1, -2, -3, 4.5f, 1ll << 40};
    cl_mem out = clt_buffer(17 * sizeof(cl_long), NULL);
    clt_args(k, 11, ARG(c), ARG(uc), ARG(s), ARG(us), ARG(i), ARG(u), ARG(l), ARG(ul), ARG(f), ARG(m), ARG(out));
    clt_run(k, 1, 1);
    cl_long r[17];
    clt_read(out, r, sizeof r);
    const cl_long want[17] = {-5, 250, -30000, 60000, -2000000000, 4000000000ll, l, (cl_long)ul, 11, -1, -2, -3, 18,
                              1ll << 40, (cl_long)((cl_ulong)l * ul), l / 7, (cl_long)(ul % 1000)};
    for (unsigned n = 0; n < 17; n++) {
        assert_true(r[n] == want[n]);
    }
    OK(clReleaseMemObject(out));
    OK(clReleaseKernel(k));
}

static void test_vector_types(void **state)
{
    (void)state;
    cl_kernel k = clt_kernel(
        "kernel void f(float4 a, global const char4 *c, global short8 *s, global float4 *r, int3 t, global int *q) {"
        "  size_t i = get_global_id(0);"
        "  r[i] = a * (float)i + convert_float4(c[i]);"
        "  s[i] = s[i].s76543210 + (short8)(short)i;"
        "  if (i == 0) { vstore3(t.zyx, 0, q); q[3] = t.x + t.y + t.z; } }", "f");
    enum { N = 40 };
    cl_char4 c[N];
    cl_short8 s[N];
    cl_float4 r[N];
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < 4; j++) {
            c[i].s[j] = (cl_char)(i - 20 * j);
        }
        for (int j = 0; j < 8; j++) {
            s[i].s[j] = (cl_short)(100 * i + j);
        }
    }
    const cl_float4 a = {{0.5f, -1, 2, 1024}};
    const cl_int3 t = {{11, 22, 33}};
    cl_int q[4];
    cl_mem mc = clt_buffer(sizeof c, c), ms = clt_buffer(sizeof s, s), mr = clt_buffer(sizeof r, NULL);
    cl_mem mq = clt_buffer(sizeof q, NULL);
    clt_args(k, 6, ARG(a), ARG(mc), ARG(ms), ARG(mr), ARG(t), ARG(mq));
    clt_run(k, N, 0);
    clt_read(ms, s, sizeof s);
    clt_read(mr, r, sizeof r);
    clt_read(mq, q, sizeof q);
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < 4; j++) {
            assert_true(r[i].s[j] == a.s[j] * (float)i + (float)c[i].s[j]);
        }
        for (int j = 0; j < 8; j++) {
            assert_int_equal(s[i].s[j], 100 * i + 7 - j + i);
        }
    }
    assert_int_equal(q[0], 33);
    assert_int_equal(q[1], 22);
    assert_int_equal(q[2], 11);
    assert_int_equal(q[3], 66);
    OK(clReleaseMemObject(mc));
    OK(clReleaseMemObject(ms));
    OK(clReleaseMemObject(mr));
    OK(clReleaseMemObject(mq));
    OK(clReleaseKernel(k));
}

/** Two local arguments and a local variable do not overlap. */
static void test_local_args(void **state)
{
    (void)state;
    cl_kernel k = clt_kernel(
        "kernel void f(local int *a, global int *r, local char *b) { local int own[64]; uint i = get_local_id(0);"
        "  a[i] = i; b[i] = (char)(2 * i); own[i] = 3 * i; barrier(CLK_LOCAL_MEM_FENCE); uint j = 63 - i;"
        "  r[get_global_id(0)] = a[j] * 1000000 + b[j] * 1000 + own[j]; }", "f");
    int r[128];
    cl_mem m = clt_buffer(sizeof r, NULL);
    clt_args(k, 3, LOCAL(64 * sizeof(int)), ARG(m), LOCAL(64));
    clt_run(k, 128, 64);
    clt_read(m, r, sizeof r);
    for (int i = 0; i < 128; i++) {
        const int j = 63 - i % 64;
        assert_int_equal(r[i], j * 1000000 + 2 * j * 1000 + 3 * j);
    }
    cl_ulong size = 0;
    OK(clGetKernelWorkGroupInfo(k, clt_device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof size, &size, NULL));
    assert_true(size >= 64 * 4 + 64 * 4 + 64);
    OK(clReleaseMemObject(m));
    OK(clReleaseKernel(k));
}

/** A kernel that needs a private array. */
static void test_private_array(void **state)
{
    (void)state;
    cl_kernel k = clt_kernel("kernel void f(global int *r, int n) { int a[96]; for (int i = 0; i < n; i++) "
                             "a[i] = i * i; int s = 0; for (int i = n; i-- > 0;) s += a[(i * 5 + "
                             "(int)get_global_id(0)) % n]; r[get_global_id(0)] = s; }", "f");
    int r[48];
    const cl_int n = 96;
    cl_mem m = clt_buffer(sizeof r, NULL);
    clt_args(k, 2, ARG(m), ARG(n));
    clt_run(k, 48, 16);
    clt_read(m, r, sizeof r);
    for (int g = 0; g < 48; g++) {
        int s = 0;
        for (int i = 0; i < 96; i++) {
            const int j = (i * 5 + g) % 96;
            s += j * j;
        }
        assert_int_equal(r[g], s);
    }
    cl_ulong size = 0;
    OK(clGetKernelWorkGroupInfo(k, clt_device, CL_KERNEL_PRIVATE_MEM_SIZE, sizeof size, &size, NULL));
    assert_true(size >= 96 * 4);
    OK(clReleaseMemObject(m));
    OK(clReleaseKernel(k));
}

/** Two programs and two queues, where the second reads the first's result. */
static void test_two_programs_two_queues(void **state)
{
    (void)state;
    enum { N = 200 };
    cl_command_queue other = clCreateCommandQueue(clt_context, clt_device, 0, &clt_error);
    MADE(other);
    cl_kernel twice = clt_kernel("kernel void f(global int *r) { r[get_global_id(0)] *= 2; }", "f");
    cl_kernel plus = clt_kernel("kernel void f(global int *r) { r[get_global_id(0)] += 1; }", "f");
    int r[N];
    for (int i = 0; i < N; i++) {
        r[i] = i;
    }
    cl_mem m = clt_buffer(sizeof r, r);
    clt_args(twice, 1, ARG(m));
    clt_args(plus, 1, ARG(m));
    const size_t n = N;
    cl_event e[4];
    OK(clEnqueueNDRangeKernel(clt_queue, twice, 1, NULL, &n, NULL, 0, NULL, &e[0]));
    OK(clEnqueueNDRangeKernel(other, plus, 1, NULL, &n, NULL, 1, &e[0], &e[1]));
    OK(clEnqueueNDRangeKernel(clt_queue, twice, 1, NULL, &n, NULL, 1, &e[1], &e[2]));
    OK(clEnqueueNDRangeKernel(other, plus, 1, NULL, &n, NULL, 1, &e[2], &e[3]));
    OK(clEnqueueReadBuffer(clt_queue, m, CL_TRUE, 0, sizeof r, r, 1, &e[3], NULL));
    for (int i = 0; i < N; i++) {
        assert_int_equal(r[i], (2 * i + 1) * 2 + 1);
    }
    for (int i = 0; i < 4; i++) {
        OK(clReleaseEvent(e[i]));
    }
    OK(clReleaseMemObject(m));
    OK(clReleaseKernel(twice));
    OK(clReleaseKernel(plus));
    OK(clReleaseCommandQueue(other));
}

/** Many small kernels in a row, more than can be in flight at once. Each sees the result of the one before. */
static void test_long_chain(void **state)
{
    (void)state;
    cl_kernel k = clt_kernel("kernel void f(global uint *r, uint i) { r[0] = r[0] * 3 + i; }", "f");
    cl_uint r = 1, want = 1;
    cl_mem m = clt_buffer(sizeof r, &r);
    const size_t one = 1;
    for (cl_uint i = 0; i < 60; i++) {
        clt_args(k, 2, ARG(m), ARG(i)); /* The arguments' values are taken when the kernel is enqueued. */
        OK(clEnqueueNDRangeKernel(clt_queue, k, 1, NULL, &one, NULL, 0, NULL, NULL));
        want = want * 3 + i;
    }
    clt_read(m, &r, sizeof r);
    assert_int_equal(r, want);
    OK(clReleaseMemObject(m));
    OK(clReleaseKernel(k));
}

static void test_required_group_size_and_null_pointer(void **state)
{
    (void)state;
    cl_kernel k = clt_kernel("kernel __attribute__((reqd_work_group_size(8, 4, 1))) void f(global uint *r, "
                             "global int *none){ if (none == 0) r[get_global_id(0) + 16 * get_global_id(1)] = "
                             "get_local_size(0) * 10 + get_local_size(1); }", "f");
    cl_uint r[128];
    cl_mem m = clt_buffer(sizeof r, NULL);
    clt_args(k, 2, ARG(m), sizeof(cl_mem), NULL);
    const size_t global[2] = {16, 8};
    OK(clEnqueueNDRangeKernel(clt_queue, k, 2, NULL, global, NULL, 0, NULL, NULL));
    clt_read(m, r, sizeof r);
    for (int i = 0; i < 128; i++) {
        assert_int_equal(r[i], 84);
    }
    OK(clReleaseMemObject(m));
    OK(clReleaseKernel(k));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vector_add),
        cmocka_unit_test(test_saxpy),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_ids_3d),
        cmocka_unit_test(test_uneven_groups),
        cmocka_unit_test(test_zero_size),
        cmocka_unit_test(test_scalar_and_struct_args),
        cmocka_unit_test(test_vector_types),
        cmocka_unit_test(test_local_args),
        cmocka_unit_test(test_private_array),
        cmocka_unit_test(test_two_programs_two_queues),
        cmocka_unit_test(test_long_chain),
        cmocka_unit_test(test_required_group_size_and_null_pointer),
    };
    return cmocka_run_group_tests(tests, clt_open, clt_close);
}
