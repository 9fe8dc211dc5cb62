/* SPDX-License-Identifier: Apache-2.0 */
/** Well-known parallel programs with local memory, barriers and atomics, each compared with a computation on the
 * host. */
#include "clt.h"

#include <math.h>
#include <stdio.h>

static void test_reduction(void **state)
{
    (void)state;
    enum { N = 1024, G = 64 };
    cl_kernel k = clt_kernel(
        "kernel void f(global const uint *a, global uint *r, local uint *t) { uint l = get_local_id(0);"
        "  t[l] = a[get_global_id(0)]; barrier(CLK_LOCAL_MEM_FENCE);"
        "  for (uint s = get_local_size(0) / 2; s > 0; s /= 2) { if (l < s) t[l] += t[l + s]; "
        "barrier(CLK_LOCAL_MEM_FENCE); }  if (l == 0) r[get_group_id(0)] = t[0]; }", "f");
    static cl_uint a[N], r[N / G];
    uint32_t seed = 3;
    for (int i = 0; i < N; i++) {
        a[i] = clt_random(&seed);
    }
    cl_mem ma = clt_buffer(sizeof a, a), mr = clt_buffer(sizeof r, NULL);
    clt_args(k, 3, ARG(ma), ARG(mr), LOCAL(G * sizeof(cl_uint)));
    clt_run(k, N, G);
    clt_read(mr, r, sizeof r);
    for (int g = 0; g < N / G; g++) {
        cl_uint want = 0;
        for (int i = 0; i < G; i++) {
            want += a[g * G + i];
        }
        assert_int_equal(r[g], want);
    }
    OK(clReleaseMemObject(ma));
    OK(clReleaseMemObject(mr));
    OK(clReleaseKernel(k));
}

static void test_transpose(void **state)
{
    (void)state;
    enum { W = 32, H = 48 };
    cl_kernel k = clt_kernel(
        "kernel void f(global const int *a, global int *r, int w, int h) { local int t[8][9];"
        "  int x = get_local_id(0), y = get_local_id(1);"
        "  t[y][x] = a[get_global_id(1) * w + get_global_id(0)]; barrier(CLK_LOCAL_MEM_FENCE);"
        "  r[(get_group_id(0) * 8 + y) * h + get_group_id(1) * 8 + x] = t[x][y]; }", "f");
    static int a[W * H], r[W * H];
    for (int i = 0; i < W * H; i++) {
        a[i] = i * 17;
    }
    cl_mem ma = clt_buffer(sizeof a, a), mr = clt_buffer(sizeof r, NULL);
    const cl_int w = W, h = H;
    clt_args(k, 4, ARG(ma), ARG(mr), ARG(w), ARG(h));
    const size_t global[2] = {W, H}, local[2] = {8, 8};
    OK(clEnqueueNDRangeKernel(clt_queue, k, 2, NULL, global, local, 0, NULL, NULL));
    clt_read(mr, r, sizeof r);
    for (int y = 0; y < H; y++) {
        for (int x = 0; x < W; x++) {
            assert_int_equal(r[x * H + y], a[y * W + x]);
        }
    }
    OK(clReleaseMemObject(ma));
    OK(clReleaseMemObject(mr));
    OK(clReleaseKernel(k));
}

static void test_sgemm(void **state)
{
    (void)state;
    enum { N = 32 };
    cl_kernel k = clt_kernel(
        "kernel __attribute__((reqd_work_group_size(8, 8, 1)))"
        "void f(global const float *a, global const float *b, global float *c, int n) {"
        "  local float ta[8][8], tb[8][8]; int x = get_local_id(0), y = get_local_id(1);"
        "  int col = get_global_id(0), row = get_global_id(1); float s = 0;"
        "  for (int t = 0; t < n; t += 8) { ta[y][x] = a[row * n + t + x]; tb[y][x] = b[(t + y) * n + col];"
        "    barrier(CLK_LOCAL_MEM_FENCE); for (int i = 0; i < 8; i++) s = fma(ta[y][i], tb[i][x], s);"
        "    barrier(CLK_LOCAL_MEM_FENCE); }"
        "  c[row * n + col] = s; }", "f");
    static float a[N * N], b[N * N], c[N * N];
    uint32_t seed = 5;
    for (int i = 0; i < N * N; i++) {
        a[i] = clt_random_float(&seed) - 0.5f;
        b[i] = clt_random_float(&seed) - 0.5f;
    }
    cl_mem ma = clt_buffer(sizeof a, a), mb = clt_buffer(sizeof b, b), mc = clt_buffer(sizeof c, NULL);
    const cl_int n = N;
    clt_args(k, 4, ARG(ma), ARG(mb), ARG(mc), ARG(n));
    const size_t global[2] = {N, N};
    OK(clEnqueueNDRangeKernel(clt_queue, k, 2, NULL, global, NULL, 0, NULL, NULL));
    clt_read(mc, c, sizeof c);
    for (int y = 0; y < N; y++) {
        for (int x = 0; x < N; x++) {
            float s = 0;
            for (int i = 0; i < N; i++) {
                s = fmaf(a[y * N + i], b[i * N + x], s);
            }
            assert_memory_equal(&c[y * N + x], &s, sizeof s); /* The host does the same operations in the same order. */
        }
    }
    OK(clReleaseMemObject(ma));
    OK(clReleaseMemObject(mb));
    OK(clReleaseMemObject(mc));
    OK(clReleaseKernel(k));
}

/** Atomics in local memory, then in global memory. */
static void test_histogram(void **state)
{
    (void)state;
    enum { N = 2000, BINS = 32 };
    cl_kernel k = clt_kernel(
        "kernel void f(global const uchar *a, uint n, global uint *h) { local uint t[32];"
        "  for (uint i = get_local_id(0); i < 32; i += get_local_size(0)) t[i] = 0; barrier(CLK_LOCAL_MEM_FENCE);"
        "  for (uint i = get_global_id(0); i < n; i += get_global_size(0)) atomic_inc(&t[a[i] % 32]);"
        "  barrier(CLK_LOCAL_MEM_FENCE);"
        "  for (uint i = get_local_id(0); i < 32; i += get_local_size(0)) atomic_add(&h[i], t[i]); }", "f");
    static cl_uchar a[N];
    cl_uint h[BINS] = {0}, want[BINS] = {0};
    uint32_t seed = 7;
    for (int i = 0; i < N; i++) {
        a[i] = (cl_uchar)(clt_random(&seed) >> 11);
        want[a[i] % BINS]++;
    }
    cl_mem ma = clt_buffer(sizeof a, a), mh = clt_buffer(sizeof h, h);
    const cl_uint n = N;
    clt_args(k, 3, ARG(ma), ARG(n), ARG(mh));
    clt_run(k, 256, 64);
    clt_read(mh, h, sizeof h);
    assert_memory_equal(h, want, sizeof h);
    OK(clReleaseMemObject(ma));
    OK(clReleaseMemObject(mh));
    OK(clReleaseKernel(k));
}

/** Every 32-bit atomic, with all work-items of one group contending. */
static void test_atomics(void **state)
{
    (void)state;
    cl_kernel k = clt_kernel(
        "kernel void f(global int *r, global uint *u) { int i = get_global_id(0);"
        "  atomic_add(&r[0], i); atomic_sub(&r[1], i); atomic_min(&r[2], 50 - i); atomic_max(&r[3], i * 3);"
        "  atomic_and(&r[4], ~(1 << (i % 32))); atomic_or(&r[5], 1 << (i % 20)); atomic_xor(&r[6], i);"
        "  atomic_inc(&r[7]); atomic_dec(&r[8]); atomic_min(&u[0], 0x80000000u + i); atomic_max(&u[1], "
        "0x80000000u + i);  if (atomic_cmpxchg(&r[9], i, i + 1) == i) atomic_inc(&r[10]);"
        "  atomic_add(&r[11], atomic_xchg(&r[12], i)); }", "f");
    enum { N = 100 };
    cl_int r[13] = {0, 0, 1000, -1000, -1, 0, 0, 0, 0, 0, 0, 0, -1};
    cl_uint u[2] = {0xffffffffu, 0};
    cl_mem mr = clt_buffer(sizeof r, r), mu = clt_buffer(sizeof u, u);
    clt_args(k, 2, ARG(mr), ARG(mu));
    clt_run(k, N, 0);
    clt_read(mr, r, sizeof r);
    clt_read(mu, u, sizeof u);
    int x = 0;
    for (int i = 0; i < N; i++) {
        x ^= i;
    }
    assert_int_equal(r[0], 4950);
    assert_int_equal(r[1], -4950);
    assert_int_equal(r[2], -49);
    assert_int_equal(r[3], 297);
    assert_int_equal(r[4], 0);
    assert_int_equal(r[5], (1 << 20) - 1);
    assert_int_equal(r[6], x);
    assert_int_equal(r[7], N);
    assert_int_equal(r[8], -N);
    assert_int_equal(r[9], r[10]); /* Each successful exchange increments the value. */
    assert_in_range(r[10], 1, N);
    assert_int_equal(r[11] + r[12], 4950 - 1); /* Every value except the last was stored once and returned once. */
    assert_int_equal(u[0], 0x80000000u);
    assert_int_equal(u[1], 0x80000000u + N - 1);
    OK(clReleaseMemObject(mr));
    OK(clReleaseMemObject(mu));
    OK(clReleaseKernel(k));
}

static void test_scan(void **state)
{
    (void)state;
    enum { N = 512, G = 64 };
    cl_program p = clt_build(
        "kernel void block(global const uint *a, global uint *r, global uint *sums) { local uint t[2][64];"
        "  uint l = get_local_id(0), now = 0; t[0][l] = a[get_global_id(0)]; barrier(CLK_LOCAL_MEM_FENCE);"
        "  for (uint d = 1; d < 64; d *= 2) { t[1 - now][l] = l >= d ? t[now][l] + t[now][l - d] : t[now][l];"
        "    now = 1 - now; barrier(CLK_LOCAL_MEM_FENCE); }"
        "  r[get_global_id(0)] = t[now][l]; if (l == 63) sums[get_group_id(0)] = t[now][l]; }"
        "kernel void add(global uint *r, global const uint *sums) { uint s = 0;"
        "  for (uint g = 0; g < get_group_id(0); g++) s += sums[g]; r[get_global_id(0)] += s; }", "");
    cl_kernel block = clCreateKernel(p, "block", &clt_error);
    MADE(block);
    cl_kernel add = clCreateKernel(p, "add", &clt_error);
    MADE(add);
    static cl_uint a[N], r[N];
    uint32_t seed = 9;
    for (int i = 0; i < N; i++) {
        a[i] = clt_random(&seed);
    }
    cl_mem ma = clt_buffer(sizeof a, a), mr = clt_buffer(sizeof r, NULL),
        ms = clt_buffer(N / G * sizeof(cl_uint), NULL);
    clt_args(block, 3, ARG(ma), ARG(mr), ARG(ms));
    clt_args(add, 2, ARG(mr), ARG(ms));
    const size_t n = N, g = G;
    OK(clEnqueueNDRangeKernel(clt_queue, block, 1, NULL, &n, &g, 0, NULL, NULL));
    /* The queue is in-order, so no wait is needed between the two. */
    OK(clEnqueueNDRangeKernel(clt_queue, add, 1, NULL, &n, &g, 0, NULL, NULL));
    clt_read(mr, r, sizeof r);
    cl_uint want = 0;
    for (int i = 0; i < N; i++) {
        want += a[i];
        assert_int_equal(r[i], want);
    }
    OK(clReleaseMemObject(ma));
    OK(clReleaseMemObject(mr));
    OK(clReleaseMemObject(ms));
    OK(clReleaseKernel(block));
    OK(clReleaseKernel(add));
    OK(clReleaseProgram(p));
}

static void test_nbody(void **state)
{
    (void)state;
    enum { N = 64 };
    cl_kernel k = clt_kernel(
        "kernel void f(global const float4 *p, global float4 *r) { float4 me = p[get_global_id(0)]; float3 a "
        "= (float3)(0);  for (int j = 0; j < (int)get_global_size(0); j++) { float3 d = p[j].xyz - me.xyz;"
        "    float q = dot(d, d) + 0.01f; float s = p[j].w / (q * sqrt(q)); a += d * s; }"
        "  r[get_global_id(0)] = (float4)(a, 0); }", "f");
    static cl_float4 p[N], r[N];
    uint32_t seed = 11;
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < 4; j++) {
            p[i].s[j] = clt_random_float(&seed);
        }
    }
    cl_mem mp = clt_buffer(sizeof p, p), mr = clt_buffer(sizeof r, NULL);
    clt_args(k, 2, ARG(mp), ARG(mr));
    clt_run(k, N, 0);
    clt_read(mr, r, sizeof r);
    for (int i = 0; i < N; i++) {
        double a[3] = {0};
        for (int j = 0; j < N; j++) {
            double d[3], q = 0.01;
            for (int c = 0; c < 3; c++) {
                d[c] = (double)p[j].s[c] - (double)p[i].s[c];
                q += d[c] * d[c];
            }
            for (int c = 0; c < 3; c++) {
                a[c] += d[c] * (double)p[j].s[3] / (q * sqrt(q));
            }
        }
        for (int c = 0; c < 3; c++) {
            assert_true(fabs((double)r[i].s[c] - a[c]) <= 1e-4 * (1 + fabs(a[c])));
        }
        assert_true(r[i].s[3] == 0);
    }
    OK(clReleaseMemObject(mp));
    OK(clReleaseMemObject(mr));
    OK(clReleaseKernel(k));
}

static int mandelbrot(float cr, float ci, int limit)
{
    float x = 0, y = 0;
    int i = 0;
    while (i < limit && fmaf(x, x, y * y) <= 4.0f) {
        const float t = fmaf(x, x, fmaf(-y, y, cr));
        y = fmaf(2.0f * x, y, ci);
        x = t;
        i++;
    }
    return i;
}

/** Neighbouring work-items diverge: each leaves its loop after a different number of rounds. */
static void test_mandelbrot(void **state)
{
    (void)state;
    enum { W = 32, H = 20 };
    cl_kernel k = clt_kernel(
        "kernel void f(global int *r, int limit) { float cr = get_global_id(0) * 0.09375f - 2.0f;"
        "  float ci = get_global_id(1) * 0.125f - 1.25f; float x = 0, y = 0; int i = 0;"
        "  while (i < limit && fma(x, x, y * y) <= 4.0f) { float t = fma(x, x, fma(-y, y, cr));"
        "    y = fma(2.0f * x, y, ci); x = t; i++; }"
        "  r[get_global_id(1) * get_global_size(0) + get_global_id(0)] = i; }", "f");
    static int r[W * H];
    cl_mem m = clt_buffer(sizeof r, NULL);
    const cl_int limit = 50;
    clt_args(k, 2, ARG(m), ARG(limit));
    const size_t global[2] = {W, H};
    OK(clEnqueueNDRangeKernel(clt_queue, k, 2, NULL, global, NULL, 0, NULL, NULL));
    clt_read(m, r, sizeof r);
    for (int y = 0; y < H; y++) {
        for (int x = 0; x < W; x++) {
            assert_int_equal(r[y * W + x], mandelbrot((float)x * 0.09375f - 2.0f, (float)y * 0.125f - 1.25f, limit));
        }
    }
    OK(clReleaseMemObject(m));
    OK(clReleaseKernel(k));
}

static int compare(const void *a, const void *b)
{
    const cl_uint x = *(const cl_uint *)a, y = *(const cl_uint *)b;
    return (x > y) - (x < y);
}

static void test_bitonic_sort(void **state)
{
    (void)state;
    enum { N = 256 };
    cl_kernel k = clt_kernel(
        "kernel void f(global uint *a, uint j, uint k) { uint i = get_global_id(0), o = i ^ j;"
        "  if (o > i) { uint x = a[i], y = a[o]; if ((x > y) == ((i & k) == 0)) { a[i] = y; a[o] = x; } } }", "f");
    static cl_uint a[N], want[N];
    uint32_t seed = 13;
    for (int i = 0; i < N; i++) {
        a[i] = want[i] = clt_random(&seed);
    }
    qsort(want, N, sizeof want[0], compare);
    cl_mem m = clt_buffer(sizeof a, a);
    const size_t n = N;
    for (cl_uint b = 2; b <= N; b *= 2) {
        for (cl_uint j = b / 2; j > 0; j /= 2) {
            clt_args(k, 3, ARG(m), ARG(j), ARG(b));
            OK(clEnqueueNDRangeKernel(clt_queue, k, 1, NULL, &n, NULL, 0, NULL, NULL));
        }
    }
    clt_read(m, a, sizeof a);
    assert_memory_equal(a, want, sizeof a);
    OK(clReleaseMemObject(m));
    OK(clReleaseKernel(k));
}

/** Quotients and remainders of sums with constants: sums that wrap, sums that cannot, and constants that the divisor
 *  divides or not. */
static void test_quotients_of_sums(void **state)
{
    (void)state;
    enum { N = 512, PAIRS = 14 };
    static const cl_uint pairs[PAIRS][2] = {
        {64, 16}, {64, 64}, {448, 32}, {8, 16}, {24, 16}, {65536, 4096}, {0xffffffc0, 64}, {0x80000000, 2},
        {0x80000000, 0x80000000}, {66, 33}, {99, 3}, {100, 3}, {7, 7}, {1000000000, 1000},
    };
    static cl_uint x[N], r[N][PAIRS][3];
    static char source[8192];
    size_t at = (size_t)sprintf(source, "kernel void f(global const uint *x, global uint *r) {"
                                "uint i = get_global_id(0), w = x[i], s = w & 1023, l = get_local_id(0);");
    for (int p = 0; p < PAIRS; p++) {
        at += (size_t)sprintf(source + at, "r[(i * %d + %d) * 3] = (w + %uu) / %uu; r[(i * %d + %d) * 3 + 1] = "
                              "(s + %uu) / %uu * 8192u + (w + %uu) %% %uu; r[(i * %d + %d) * 3 + 2] = (l | %uu) / %uu;",
                              PAIRS, p, pairs[p][0], pairs[p][1], PAIRS, p, pairs[p][0], pairs[p][1], pairs[p][0],
                              pairs[p][1], PAIRS, p, pairs[p][0], pairs[p][1]);
    }
    sprintf(source + at, "}");
    cl_kernel k = clt_kernel(source, "f");
    uint32_t seed = 11;
    for (int i = 0; i < N; i++) {
        const cl_uint any = clt_random(&seed), c = pairs[any % PAIRS][0];
        x[i] = i % 3 == 0 ? any : i % 3 == 1 ? 0u - c + (any >> 8) % 5 - 2 : any >> 27; /* in the middle: near 0 */
    }
    cl_mem mx = clt_buffer(sizeof x, x), mr = clt_buffer(sizeof r, NULL);
    clt_args(k, 2, ARG(mx), ARG(mr));
    clt_run(k, N, 64);
    clt_read(mr, r, sizeof r);
    for (cl_uint i = 0; i < N; i++) {
        for (int p = 0; p < PAIRS; p++) {
            const cl_uint c = pairs[p][0], d = pairs[p][1], s = x[i] & 1023, l = i % 64;
            assert_int_equal(r[i][p][0], (x[i] + c) / d);
            assert_int_equal(r[i][p][1], (s + c) / d * 8192u + (x[i] + c) % d);
            assert_int_equal(r[i][p][2], (l | c) / d);
        }
    }
    OK(clReleaseMemObject(mx));
    OK(clReleaseMemObject(mr));
    OK(clReleaseKernel(k));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quotients_of_sums),
        cmocka_unit_test(test_reduction),  cmocka_unit_test(test_transpose), cmocka_unit_test(test_sgemm),
        cmocka_unit_test(test_histogram),  cmocka_unit_test(test_atomics),   cmocka_unit_test(test_scan),
        cmocka_unit_test(test_nbody),      cmocka_unit_test(test_mandelbrot), cmocka_unit_test(test_bitonic_sort),
    };
    return cmocka_run_group_tests(tests, clt_open, clt_close);
}
