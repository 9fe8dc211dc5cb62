/* SPDX-License-Identifier: Apache-2.0 */
/** Algorithms of public samples, each compared with the host: radix sort, two-level scan, FFT, SHA-1, breadth-first
 * search. */
#include "clt.h"

#include <math.h>
#include <string.h>

static int by_value(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/** Eight passes of four bits: private counters indexed by data, a serial scan, a stable scatter. */
static void test_radix_sort(void **state)
{
    (void)state;
    enum { N = 300, WORKERS = 32, PER = (N + WORKERS - 1) / WORKERS };
    cl_program p = clt_build(
        "kernel void count(global const uint *k, global uint *h, uint shift, uint per, uint n) {"
        "    uint g = get_global_id(0), c[16];"
        "    for (int i = 0; i < 16; i++) c[i] = 0;"
        "    for (uint i = g * per; i < min((g + 1) * per, n); i++) c[k[i] >> shift & 15]++;"
        "    for (int i = 0; i < 16; i++) h[i * get_global_size(0) + g] = c[i]; }"
        "kernel void scan(global uint *h, uint n) { uint s = 0; for (uint i = 0; i < n; i++) { uint v = h[i]; h[i] = "
        "s; s += v; } }kernel void move(global const uint *k, global uint *o, global const uint *h, uint shift, uint "
        "per, uint n) {    uint g = get_global_id(0), c[16];"
        "    for (int i = 0; i < 16; i++) c[i] = h[i * get_global_size(0) + g];"
        "    for (uint i = g * per; i < min((g + 1) * per, n); i++) o[c[k[i] >> shift & 15]++] = k[i]; }", "");
    cl_kernel k[3];
    static const char *const names[] = {"count", "scan", "move"};
    for (int i = 0; i < 3; i++) {
        k[i] = clCreateKernel(p, names[i], &clt_error);
        MADE(k[i]);
    }
    uint32_t keys[N], seed = 5;
    for (int i = 0; i < N; i++) {
        keys[i] = clt_random(&seed);
    }
    cl_mem from = clt_buffer(sizeof keys, keys), to = clt_buffer(sizeof keys, NULL),
        h = clt_buffer(16 * WORKERS * 4, NULL);
    const cl_uint n = N, per = PER, cells = 16 * WORKERS;
    for (cl_uint shift = 0; shift < 32; shift += 4) {
        clt_args(k[0], 5, ARG(from), ARG(h), ARG(shift), ARG(per), ARG(n));
        clt_args(k[1], 2, ARG(h), ARG(cells));
        clt_args(k[2], 6, ARG(from), ARG(to), ARG(h), ARG(shift), ARG(per), ARG(n));
        clt_run(k[0], WORKERS, 0);
        clt_run(k[1], 1, 1);
        clt_run(k[2], WORKERS, 0);
        cl_mem t = from;
        from = to;
        to = t;
    }
    uint32_t got[N];
    clt_read(from, got, sizeof got);
    qsort(keys, N, sizeof keys[0], by_value);
    assert_memory_equal(got, keys, sizeof keys);
    for (int i = 0; i < 3; i++) {
        OK(clReleaseKernel(k[i]));
    }
    OK(clReleaseMemObject(from));
    OK(clReleaseMemObject(to));
    OK(clReleaseMemObject(h));
    OK(clReleaseProgram(p));
}

/** Blelloch's exclusive scan. The kernel writes the sums of the blocks if their buffer is not NULL. */
static void test_scan(void **state)
{
    (void)state;
    enum { N = 450, HALF = 32, BLOCK = 2 * HALF, BLOCKS = (N + BLOCK - 1) / BLOCK };
    cl_program p = clt_build(
        "kernel void scan(global uint *a, global uint *sums, local uint *t, uint n) {"
        "    uint l = get_local_id(0), size = get_local_size(0) * 2, at = get_group_id(0) * size + 2 * l, step = 1;"
        "    t[2 * l] = at < n ? a[at] : 0; t[2 * l + 1] = at + 1 < n ? a[at + 1] : 0;"
        "    for (uint d = size >> 1; d > 0; d >>= 1, step <<= 1) { barrier(CLK_LOCAL_MEM_FENCE);"
        "        if (l < d) t[step * (2 * l + 2) - 1] += t[step * (2 * l + 1) - 1]; }"
        "    if (l == 0) { if (sums) sums[get_group_id(0)] = t[size - 1]; t[size - 1] = 0; }"
        "    for (uint d = 1; d < size; d <<= 1) { step >>= 1; barrier(CLK_LOCAL_MEM_FENCE);"
        "        if (l < d) { uint x = step * (2 * l + 1) - 1, y = step * (2 * l + 2) - 1, v = t[x]; t[x] = t[y]; "
        "t[y] += v; } }    barrier(CLK_LOCAL_MEM_FENCE);"
        "    if (at < n) a[at] = t[2 * l]; if (at + 1 < n) a[at + 1] = t[2 * l + 1]; }"
        "kernel void add(global uint *a, global const uint *sums, uint block) {"
        "    a[get_global_id(0)] += sums[get_global_id(0) / block]; }", "");
    cl_kernel scan = clCreateKernel(p, "scan", &clt_error), add = clCreateKernel(p, "add", &clt_error);
    MADE(add);
    uint32_t v[N], got[N], sum = 0, seed = 9;
    for (int i = 0; i < N; i++) {
        v[i] = clt_random(&seed);
    }
    cl_mem a = clt_buffer(sizeof v, v), sums = clt_buffer(BLOCKS * 4, NULL), none = NULL;
    const cl_uint n = N, blocks = BLOCKS, block = BLOCK;
    clt_args(scan, 4, ARG(a), ARG(sums), LOCAL(BLOCK * 4), ARG(n));
    clt_run(scan, BLOCKS * HALF, HALF);
    clt_args(scan, 4, ARG(sums), ARG(none), LOCAL(BLOCK * 4), ARG(blocks));
    clt_run(scan, HALF, HALF);
    clt_args(add, 3, ARG(a), ARG(sums), ARG(block));
    clt_run(add, N, 0);
    clt_read(a, got, sizeof got);
    for (int i = 0; i < N; i++) {
        assert_int_equal(got[i], sum);
        sum += v[i];
    }
    OK(clReleaseMemObject(a));
    OK(clReleaseMemObject(sums));
    OK(clReleaseKernel(scan));
    OK(clReleaseKernel(add));
    OK(clReleaseProgram(p));
}

static void test_fft(void **state)
{
    (void)state;
    enum { N = 64, SETS = 2 };
    cl_kernel k = clt_kernel(
        "kernel void fft(global float2 *data) { local float2 t[64]; int l = get_local_id(0);"
        "    global float2 *b = data + get_group_id(0) * 64;"
        "    for (int i = l; i < 64; i += 32) { uint r = 0, v = i; for (int n = 0; n < 6; n++) { r = r << 1 | v & 1; v "
        ">>= 1; } t[r] = b[i]; }    for (int s = 1; s < 64; s <<= 1) { barrier(CLK_LOCAL_MEM_FENCE);"
        "        int j = l % s, at = l / s * s * 2 + j; float angle = -M_PI_F * j / s; float2 w = "
        "(float2)(cos(angle), sin(angle));        float2 x = t[at], y = t[at + s], z = (float2)(w.x * y.x - w.y * y.y, "
        "w.x * y.y + w.y * y.x);        t[at] = x + z; t[at + s] = x - z; }"
        "    barrier(CLK_LOCAL_MEM_FENCE); for (int i = l; i < 64; i += 32) b[i] = t[i]; }", "fft");
    float v[SETS][N][2], got[SETS][N][2];
    uint32_t seed = 3;
    for (int i = 0; i < SETS * N * 2; i++) {
        (&v[0][0][0])[i] = clt_random_float(&seed) - 0.5f;
    }
    cl_mem m = clt_buffer(sizeof v, v);
    clt_args(k, 1, ARG(m));
    clt_run(k, SETS * N / 2, N / 2);
    clt_read(m, got, sizeof got);
    for (int s = 0; s < SETS; s++) {
        for (int f = 0; f < N; f++) {
            double re = 0, im = 0;
            for (int i = 0; i < N; i++) {
                const double c = cos(-2 * 3.14159265358979323846 * f * i / (double)N),
                    d = sin(-2 * 3.14159265358979323846 * f * i / (double)N);
                re += v[s][i][0] * c - v[s][i][1] * d;
                im += v[s][i][0] * d + v[s][i][1] * c;
            }
            assert_true(fabs(got[s][f][0] - re) < 2e-5 && fabs(got[s][f][1] - im) < 2e-5);
        }
    }
    OK(clReleaseMemObject(m));
    OK(clReleaseKernel(k));
}

/** SHA-1 of "abc", whose value is published, and of messages that differ in one bit, whose hashes must all differ. */
static void test_sha1(void **state)
{
    (void)state;
    enum { N = 20 };
    cl_kernel k = clt_kernel(
        "kernel void sha1(uint first, global uint *o) { uint w[16]; for (int i = 1; i < 15; i++) w[i] = 0;"
        "    int g = get_global_id(0); w[0] = first ^ (g ? 0x80u << g : 0); w[15] = 24;"
        "    uint a = 0x67452301, b = 0xefcdab89, c = 0x98badcfe, d = 0x10325476, e = 0xc3d2e1f0;"
        "    for (int i = 0; i < 80; i++) { uint f;"
        "        if (i >= 16) w[i & 15] = rotate(w[i + 13 & 15] ^ w[i + 8 & 15] ^ w[i + 2 & 15] ^ w[i & 15], 1u);"
        "        switch (i / 20) { case 0: f = bitselect(d, c, b) + 0x5a827999; break; case 1: f = (b ^ c ^ d) + "
        "0x6ed9eba1; break;            case 2: f = (b & c | d & (b | c)) + 0x8f1bbcdc; break; default: f = (b ^ c ^ d) "
        "+ 0xca62c1d6; }        uint t = rotate(a, 5u) + f + e + w[i & 15]; e = d; d = c; c = rotate(b, 30u); b "
        "= a; a = t; }    vstore4((uint4)(a, b, c, d) + (uint4)(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476), "
        "0, o + 5 * g);    o[5 * g + 4] = e + 0xc3d2e1f0; }", "sha1");
    static const uint32_t known[5] = {0xa9993e36, 0x4706816a, 0xba3e2571, 0x7850c26c, 0x9cd0d89d};
    const cl_uint first = 0x61626380;
    uint32_t got[N][5];
    cl_mem m = clt_buffer(sizeof got, NULL);
    clt_args(k, 2, ARG(first), ARG(m));
    clt_run(k, N, 0);
    clt_read(m, got, sizeof got);
    assert_memory_equal(got[0], known, sizeof known);
    for (int i = 1; i < N; i++) {
        for (int j = 0; j < i; j++) {
            assert_memory_not_equal(got[i], got[j], sizeof known);
        }
    }
    OK(clReleaseMemObject(m));
    OK(clReleaseKernel(k));
}

/** Levels of a random graph. Work-items claim nodes by compare-and-exchange until a pass finds no new node. */
static void test_breadth_first(void **state)
{
    (void)state;
    enum { N = 90 };
    cl_kernel k = clt_kernel(
        "kernel void bfs(global const int *rows, global const int *to, global int *level, int now, global int *more) {"
        "    int r = get_global_id(0); if (level[r] != now) return;"
        "    for (int i = rows[r]; i < rows[r + 1]; i++) if (atomic_cmpxchg(&level[to[i]], -1, now + 1) == "
        "-1) *more = 1; }", "bfs");
    int rows[N + 1] = {0}, to[4 * N], level[N], want[N], line[N], tail = 1;
    uint32_t seed = 12;
    for (int r = 0; r < N; r++) {
        rows[r + 1] = rows[r] + 1 + (int)(clt_random(&seed) % 3);
        for (int i = rows[r]; i < rows[r + 1]; i++) {
            to[i] = (int)(clt_random(&seed) % N);
        }
        level[r] = want[r] = r == 0 ? 0 : -1;
    }
    line[0] = 0;
    for (int head = 0; head < tail; head++) {
        for (int i = rows[line[head]]; i < rows[line[head] + 1]; i++) {
            if (want[to[i]] < 0) {
                want[to[i]] = want[line[head]] + 1;
                line[tail++] = to[i];
            }
        }
    }
    assert_in_range(tail, N / 4, N);
    cl_mem r = clt_buffer(sizeof rows, rows), t = clt_buffer(sizeof to, to), l = clt_buffer(sizeof level, level);
    cl_mem m = clt_buffer(4, NULL);
    int more = 1;
    for (cl_int now = 0; more != 0; now++) {
        more = 0;
        OK(clEnqueueWriteBuffer(clt_queue, m, CL_FALSE, 0, 4, &more, 0, NULL, NULL));
        clt_args(k, 5, ARG(r), ARG(t), ARG(l), ARG(now), ARG(m));
        clt_run(k, N, 0);
        clt_read(m, &more, 4);
        assert_in_range(now, 0, N);
    }
    clt_read(l, level, sizeof level);
    assert_memory_equal(level, want, sizeof want);
    OK(clReleaseMemObject(r));
    OK(clReleaseMemObject(t));
    OK(clReleaseMemObject(l));
    OK(clReleaseMemObject(m));
    OK(clReleaseKernel(k));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_radix_sort), cmocka_unit_test(test_scan), cmocka_unit_test(test_fft),
        cmocka_unit_test(test_sha1),       cmocka_unit_test(test_breadth_first),
    };
    return cmocka_run_group_tests(tests, clt_open, clt_close);
}
