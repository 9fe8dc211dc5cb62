/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Coarsened kernels, compared with the same kernels built with -tern-no-coarsen. A hardware work-item of a coarsened
 * kernel runs several work-items of the range, one in each round (docs/decisions/coarsening.md). Ranges are random: one
 * to three dimensions, with offsets, of any size. Coarsened kernels must execute fewer instructions, and the report of
 * a fault must name the work-items. The test also runs preempted (run_coarse_preempted) and through ternd.
 *
 * The seed is printed. TERN_TEST_SEED sets it, TERN_TEST_STEPS the number of ranges.
 */
#include "clt.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { ITEMS_MAX = 1 << 14, BYTES = ITEMS_MAX * 16 }; /* work-items of the largest range; bytes of a buffer */

/* j is the work-item's number in the range, so each work-item has elements of its own at j. */
static const char source[] =
    "#define PLACE uint x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);"
    "    uint j = ((z - get_global_offset(2)) * get_global_size(1) + y - get_global_offset(1)) * get_global_size(0)"
    "             + x - get_global_offset(0);\n"
    "#define ARGS (global const uint *in, global uint *out, constant uint *table, uint n, uint m)\n"
    "kernel void ids ARGS { PLACE out[j] = in[j] + x * 3 + y * 1000 + z * 100000; }\n"
    "kernel void sizes ARGS { PLACE out[j] = get_global_size(0) * 31 + get_global_size(1) * 37"
    "    + get_global_size(2) * 41 + get_global_offset(0) * 43 + get_global_offset(1) * 47"
    "    + get_work_dim() + get_global_size(3) * 53; }\n"
    "kernel void below ARGS { PLACE if (x < n) out[j] = in[j] ^ x; }\n"
    "kernel void above ARGS { PLACE if (x < n) return; out[j] = in[j] ^ x; }\n"
    "kernel void within ARGS { PLACE int i = x, k = y; if (i >= (int)n || k > (int)m) return; out[j] = in[j] * 5; }\n"
    "kernel void inner ARGS { PLACE if (x > 0 && x != n && y + x < m) out[j] = in[j] + 1; }\n"
    "kernel void linear ARGS { PLACE if (j < n) out[j] = ~in[j]; }\n"
    "kernel void divided ARGS { PLACE if (m != 0 && x / m < n) out[j] = in[j] / m; }\n"
    "kernel void ratio ARGS { PLACE uint q = n / (m | 1) + 1; if (x < q * 100 + n) out[j] = q * x; }\n"
    "kernel void share ARGS { PLACE out[j] = in[j] + (m != 0 ? n % m * 3 : 1) + table[n / (m | 1) * 5 & 7]; }\n"
    "kernel void wide ARGS { PLACE ((global uint4 *)out)[j] = ((global const uint4 *)in)[j] * 3 + j; }\n"
    "#define WIDE(type, n) global const type##n *i##n = (global const type##n *)in; global type##n *o##n ="
    "    (global type##n *)out;\n"
    "kernel void four ARGS { PLACE WIDE(float, 4) float4 v = i4[j]; o4[j] = fabs(v) * as_float(n | 1) + v; }\n"
    "kernel void two ARGS { PLACE WIDE(int, 2) o2[j] = max(i2[j] - (int)m, o2[j]) ^ (i2[j] << (int2)3); }\n"
    "kernel void three ARGS { PLACE vstore3(convert_uint3(convert_float3(vload3(j, in))), j, out); }\n"
    "kernel void chosen ARGS { PLACE WIDE(uint, 4) if (m > 4) return; uint4 a = i4[j], b = o4[j];"
    "    o4[j] = a > b ? a - *table : b * n; }\n"
    "kernel void turned ARGS { PLACE WIDE(uint, 4) o4[j] = i4[j].yzwx + (uint4)(n, m, n, m); }\n"
    "kernel void gather ARGS { PLACE uint a = in[(j * 17 + n) & 4095]; out[j] = a; out[j] += in[a & 4095] + out[j]; }\n"
    "kernel void tables ARGS { PLACE out[j] = table[0] * in[j] + table[m & 7] + table[j & 7]; }\n"
    "kernel void bytes ARGS { PLACE global uchar *o = (global uchar *)out; o[j] = ((global const char *)in)[j] > 5; }\n"
    "kernel void longs ARGS { PLACE global ulong *o = (global ulong *)out; o[j] = ((global const long *)in)[j] * x; }\n"
    "kernel void back ARGS { PLACE uint last = get_global_size(0) * get_global_size(1) * get_global_size(2) - 1;"
    "    global float *o = (global float *)out; o[last - j] = sqrt((float)(in[j] & 0xffff)) * 0.5f; }\n"
    "kernel void product ARGS { PLACE uint s = j; for (uint k = 0; k < (n & 63); k++)"
    "    s += in[(y * 64 + k) & 4095] * in[k * 64 + (x & 63)]; out[j] = s; }\n"
    "kernel void floats ARGS { PLACE float s = 0;"
    "    for (int k = 0; k < (int)(m & 31); k++)"
    "    s = fma((float)(in[y % 61 + k] & 255), (float)(in[x % 67 + k] >> 20), s);"
    "    ((global float *)out)[j] = s; }\n"
    "kernel void bounded ARGS { PLACE if (x >= n || y > m) return; uint s = 0; for (uint k = 0; k < 9; k++)"
    "    s = s * 3 + in[(k * x + y) & 4095]; out[j] = s; }\n"
    "kernel void beyond ARGS { PLACE if (x < n || y < m) return; uint s = 1; for (uint k = 0; k < 9; k++)"
    "    s = s * 5 + in[(k + x) & 4095] + in[(k * 9 + y) & 4095]; out[j] = s; }\n"
    "kernel void nested ARGS { PLACE uint s = x ^ y; for (uint k = 0; k < (n & 7); k++) {"
    "    if (m & k) s += in[k + y % 9]; for (uint i = 0; i <= k; i++) s = s * in[i] + in[(i * 16 + x) & 1023];"
    "    out[j] += s; } out[j] ^= s; }\n"
    "kernel void walk ARGS { PLACE global const uint *p = in + (x & 1023), *q = in + (y & 1023); uint s = 1;"
    "    for (uint k = 0; k < (m & 15); k++) { s = (s ^ *p) * *q; p += n & 31; q++; } out[j] = s; }\n"
    "kernel void around ARGS { PLACE int w = get_global_size(0), h = get_global_size(1), c = x - get_global_offset(0),"
    "    r = y - get_global_offset(1); uint s = 0; for (int b = -1; b < 2; b++) for (int a = -1; a < 2; a++)"
    "    s = s * 5 + in[(clamp(r + b, 0, h - 1) * w + clamp(c + a, 0, w - 1)) & 16383]; out[j] = s; }\n"
    "kernel void data ARGS { PLACE uint s = 0, t = 0; while (t < (table[m & 7] & 15)) {"
    "    s += in[(x + t) & 255] ^ y; t++; } do { s = s * 7 + in[t + y % 5]; t += 3; }"
    "    while (t < (in[n & 63] & 31)); out[j] = s; }\n"
    "kernel void choice ARGS { PLACE uint s = 3; for (uint k = 0; k < 12; k++) switch ((n + k) & 3) {"
    "    case 0: s += in[k] * x; break; case 1: s ^= in[y & 15]; case 2: s *= 5; break; default: if (m > k) continue;"
    "    s += table[k & 7]; } out[j] = s; }\n"
    "kernel void divides ARGS { PLACE ulong s = x; for (uint k = 0; k < (n & 7); k++)"
    "    s = s * 0x100000001ul / (in[(y + k) & 255] | 1) + in[(x + k) & 255]; out[j] = (uint)(s ^ s >> 32); }\n"
    "kernel void columns ARGS { PLACE if (y < m) { uint s = 0; for (uint k = 0; k < (n & 31); k++)"
    "    s += in[(k + y) & 4095] ^ table[k & 7]; out[j] = s + get_global_size(1) * 3 + get_global_offset(1); } }\n"
    "kernel void forked ARGS { PLACE uint s = 1, i; for (uint k = 0; k < (m & 15); k++) {"
    "    if (table[k & 7] & 1) { s ^= in[k]; i = x; } else { s = s * in[k + 1] + 1; i = x * 3; }"
    "    s += in[(i + k) & 4095] ^ in[(y + k) & 4095]; } out[j] = s; }\n"
    /* m is below 2^31, which the compiler does not know. */
    "kernel void renewed ARGS { PLACE uint s = 1; for (uint k = 0; k < (n & 7); k++) { out[j] = s ^ k;"
    "    s += out[j ^ (m >> 31)] * in[k * 64 + (x & 63)] + in[k * 64 + (y & 63)]; } out[j] = s; }\n"
    /* Words and bytes at the same sums of indices. */
    "kernel void mixed ARGS { PLACE global const uchar *bytes = (global const uchar *)in; uint s = 0,"
    "    w = (n & 31) + 1, h = (m & 15) + 1, c = x - get_global_offset(0), r = y - get_global_offset(1);"
    "    for (int b = 0; b < 3; b++) for (int a = 0; a < 3; a++)"
    "    s = s * 5 + (in[(r + b) * w + c + a * h] ^ bytes[(r + b) * w + c + a * h]); out[j] = s; }\n"
    /* Conditions that most work-items of a tile pass together, and that they do not. */
    "kernel void edges ARGS { PLACE int w = get_global_size(0), h = get_global_size(1), c = x - get_global_offset(0),"
    "    r = y - get_global_offset(1); uint s = 0; for (int b = -1; b < 2; b++) for (int a = -1; a < 2; a++)"
    "    if (c + a >= 0 && c + a < w && r + b >= 0 && r + b < h) s = s * 5 + in[((r + b) * w + c + a) & 16383];"
    "    out[j] = s; }\n"
    "kernel void sides ARGS { PLACE uint s, i = 0; if (x < n) s = in[x & 4095] * 3; else { s = in[y & 4095] + 7;"
    "    i = 5; } if (y > m) s ^= in[(x + y) & 4095]; for (uint k = 0; k < 5; k++)"
    "    s = s * 3 + in[(s + k + i) & 4095]; out[j] = s; }\n"
    "kernel void corners ARGS { PLACE uint s = 1; if (x < n || y < m) { s = in[x & 255]; if (x - n < 40u) s *= 3;"
    "    else if (y + x >= m) s -= in[y & 255]; } else if (!(x > y)) s = in[(x ^ y) & 1023];"
    "    if (x - 20 < 70u && n > 9) s ^= in[y * 3 & 1023]; for (uint k = 0; k < 9; k++)"
    "    s = s * 7 + in[(y + k) & 63]; out[j] = s; }\n"
    "kernel void stored ARGS { PLACE uint s = in[x & 63]; out[j] = s; if (x >= n) out[j] += in[y & 63]; else s = n;"
    "    for (uint k = 0; k < 5; k++) s = s * 7 + in[(x + k) & 63]; out[j] += s; }\n"
    "kernel void apart(global const uint *restrict in, global uint *restrict out, constant uint *restrict table,"
    "    uint n, uint m) { PLACE out[j] = max(in[j], n) - min(in[j], m); }\n";

static const char *const names[] = {"ids", "sizes", "below", "above", "within", "inner", "linear", "divided", "ratio",
                                    "share", "wide", "four", "two", "three", "chosen", "turned", "gather", "tables",
                                    "bytes", "longs", "back", "apart", "product", "floats", "bounded", "nested",
                                    "walk", "around", "data", "choice", "divides", "columns", "beyond",
                                    "forked", "renewed", "mixed", "edges", "sides", "corners", "stored"};

struct range {
    cl_uint dims;
    size_t global[3], offset[3];
    cl_uint n, m;
};

static uint32_t seed;

/** A random number below n. */
static size_t below(size_t n)
{
    return clt_random(&seed) % n;
}

/** Returns a random range, mostly long in x, since short ranges are not coarsened. n and m mostly lie in it. */
static struct range any_range(void)
{
    struct range r = {.dims = (cl_uint)below(3) + 1, .global = {1, 1, 1}};
    const int rows = below(3) == 0; /* many short ones */
    r.global[0] = rows ? below(200) + 1
                  : below(4) == 0 ? below(300) + 1
                  : below(4) == 0 ? (below(31) + 1) << 8 : below(8000) + 1;
    for (cl_uint i = 1; i < r.dims; i++) {
        const size_t room = ITEMS_MAX / (r.global[0] * r.global[1]);
        const size_t most = rows ? 200 : 9;
        r.global[i] = below(room < most ? room : most) + 1;
    }
    for (cl_uint i = 0; i < r.dims; i++) {
        r.offset[i] = below(2) == 0 ? 0 : below(2) == 0 ? below(100) : below(1u << 30);
    }
    r.n = (cl_uint)(r.offset[0] + below(r.global[0] + r.global[0] / 8 + 1));
    r.m = (cl_uint)(below(2) == 0 ? below(9) : below(2) == 0 ? r.offset[0] + below(r.global[0] + 9)
                                                             : r.offset[1] + below(r.global[1] + 9));
    return r;
}

static void run(cl_program p, const char *name, const struct range *r, cl_mem in, cl_mem table, uint8_t *result)
{
    const uint32_t fill = 0xa5c3e1f7u;
    cl_kernel k = clCreateKernel(p, name, &clt_error);
    MADE(k);
    cl_mem out = clt_buffer(BYTES, NULL);
    OK(clEnqueueFillBuffer(clt_queue, out, &fill, sizeof fill, 0, BYTES, 0, NULL, NULL));
    clt_args(k, 5, ARG(in), ARG(out), ARG(table), ARG(r->n), ARG(r->m));
    OK(clEnqueueNDRangeKernel(clt_queue, k, r->dims, r->offset, r->global, NULL, 0, NULL, NULL));
    clt_read(out, result, BYTES);
    OK(clReleaseMemObject(out));
    OK(clReleaseKernel(k));
}

static void fill_random(uint32_t *data, size_t words)
{
    for (size_t i = 0; i < words; i++) {
        data[i] = clt_random(&seed);
    }
}

static void test_random(void **state)
{
    (void)state;
    static uint32_t data[BYTES / 4], table[8];
    static uint8_t coarse[BYTES], plain[BYTES];
    /* The RTL is simulated cycle by cycle, so fewer ranges run there. */
    unsigned long steps;
    seed = clt_seed(20261123, clt_on_rtl() ? 2 : 60, &steps);
    fill_random(data, LENGTH(data));
    fill_random(table, LENGTH(table));
    cl_mem in = clt_buffer(sizeof data, data), constants = clt_buffer(sizeof table, table);
    cl_program programs[2] = {clt_build(source, "-cl-std=CL3.0"), clt_build(source, "-cl-std=CL3.0 -tern-no-coarsen")};
    for (unsigned long step = 0; step < steps; step++) {
        const struct range r = any_range();
        for (size_t i = 0; i < LENGTH(names); i++) {
            run(programs[0], names[i], &r, in, constants, coarse);
            run(programs[1], names[i], &r, in, constants, plain);
            size_t at = 0;
            while (at < BYTES && coarse[at] == plain[at]) {
                at++;
            }
            if (at < BYTES) {
                fail_msg("step %lu: %s over %zu x %zu x %zu from (%zu, %zu, %zu), n %u, m %u: byte %zu is 0x%02x, "
                         "without coarsening 0x%02x", step, names[i], r.global[0], r.global[1], r.global[2],
                         r.offset[0], r.offset[1], r.offset[2], r.n, r.m, at, coarse[at], plain[at]);
            }
        }
    }
    OK(clReleaseProgram(programs[0]));
    OK(clReleaseProgram(programs[1]));
    OK(clReleaseMemObject(in));
    OK(clReleaseMemObject(constants));
}

/** Returns the thread instructions that a kernel executes over a range. */
static cl_ulong cost(const char *name, const char *options, const struct range *r)
{
    static uint8_t result[BYTES];
    cl_mem in = clt_buffer(BYTES, NULL), table = clt_buffer(32, NULL);
    const cl_uint zero = 0;
    OK(clEnqueueFillBuffer(clt_queue, in, &zero, sizeof zero, 0, BYTES, 0, NULL, NULL));
    OK(clEnqueueFillBuffer(clt_queue, table, &zero, sizeof zero, 0, 32, 0, NULL, NULL));
    cl_program p = clt_build(source, options);
    const cl_ulong before = clt_instructions();
    run(p, name, r, in, table, result);
    OK(clReleaseProgram(p));
    OK(clReleaseMemObject(in));
    OK(clReleaseMemObject(table));
    return clt_instructions() - before;
}

/** Kernels with loops over a square of work-items, of which tiles load shared words once. The instructions are at most
 *  these percentages of those without tiles. */
static void test_tiles_save(void **state)
{
    (void)state;
    const struct range square = {.dims = 2, .global = {128, 128, 1}, .n = 63, .m = 31};
    static const struct {
        const char *name;
        unsigned percent;
    } cases[] = {{"product", 60}, {"floats", 60}, {"columns", 50}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        const cl_ulong tiles = cost(cases[i].name, "", &square);
        const cl_ulong plain = cost(cases[i].name, "-tern-no-coarsen", &square);
        if (tiles * 100 > plain * cases[i].percent) {
            fail_msg("%s: %llu thread instructions in tiles, %llu without", cases[i].name, (unsigned long long)tiles,
                     (unsigned long long)plain);
        }
    }
}

/** Coarsening saves a quarter of the instructions of a long range, and costs none on a short range. */
static void test_saves(void **state)
{
    (void)state;
    const struct range large = {.dims = 1, .global = {ITEMS_MAX, 1, 1}, .n = ITEMS_MAX - 1000, .m = ITEMS_MAX};
    const struct range small = {.dims = 1, .global = {64, 1, 1}, .n = 64, .m = 64};
    static const char *const cheap[] = {"ids", "below", "within", "inner", "apart", "tables"};
    for (size_t i = 0; i < LENGTH(cheap); i++) {
        const cl_ulong coarse = cost(cheap[i], "", &large), plain = cost(cheap[i], "-tern-no-coarsen", &large);
        if (coarse >= plain * 3 / 4) {
            fail_msg("%s: %llu thread instructions coarsened, %llu not", cheap[i], (unsigned long long)coarse,
                     (unsigned long long)plain);
        }
        assert_int_equal(cost(cheap[i], "", &small), cost(cheap[i], "-tern-no-coarsen", &small));
    }
    /* `above` returns early in the first rounds; the work-items of the later rounds run in step again. */
    const struct range late = {.dims = 1, .global = {ITEMS_MAX, 1, 1}, .n = ITEMS_MAX / 4, .m = ITEMS_MAX};
    const cl_ulong coarse = cost("above", "", &late), plain = cost("above", "-tern-no-coarsen", &late);
    if (coarse >= plain * 3 / 4) {
        fail_msg("above: %llu thread instructions coarsened, %llu not", (unsigned long long)coarse,
                 (unsigned long long)plain);
    }
    assert_int_equal(cost("ids", "-g", &large), cost("ids", "-tern-no-coarsen", &large));
    assert_int_equal(cost("ids", "-cl-opt-disable", &large) > cost("ids", "", &large), 1);
}

static const char *report; /* what the runtime last reported */

/** Runs a kernel without loops over a large range in x, of which work-item `bad` faults. */
static void fault(const char *options, size_t offset, cl_uint bad)
{
    const size_t global = ITEMS_MAX;
    report = clt_fault("kernel void f(global uint *a, uint bad) { uint i = get_global_id(0);"
              "    a[i - get_global_offset(0) + ((i == bad) << 28)] = 1; }", options, 1, &offset, &global,
                       NULL, 0, bad);
}

/** The report names the tile of which a work-item faulted, whole or at the end of the range, and with -g that
 *  work-item. */
static void test_tile_faults(void **state)
{
    (void)state;
    static const char text[] = "kernel void f(global uint *a, uint bad) { uint x = get_global_id(0),"
        "    y = get_global_id(1), s = 0; for (uint k = 0; k < get_work_dim() * 20; k++) s += a[y + k] ^ a[x + k];"
        "    a[4096 + (y & 63) + ((x * 1000 + y == bad) << 28)] = s; }";
    static const size_t offset[] = {32, 8}, global[] = {145, 123};
    static const struct {
        cl_uint x, y;
    } places[] = {{32 + 79, 8 + 66}, {32 + 144, 8 + 122}};
    for (size_t i = 0; i < LENGTH(places); i++) {
        const cl_uint bad = places[i].x * 1000 + places[i].y;
        unsigned n = 0, x = 0, y = 0;
        char exact[64];
        report = clt_fault(text, "", 2, offset, global, NULL, 0, bad);
        const char *who = strstr(report, "kernel f: one of ");
        assert_non_null(who);
        assert_int_equal(sscanf(who, "kernel f: one of %u work-items (x, y, 0), the first with x = %u, y = %u: store",
                                &n, &x, &y), 3);
        assert_in_range(n, 1, 16);
        assert_true(x <= places[i].x && (places[i].x - x) % 16 == 0 && places[i].x - x < 64);
        assert_true(y <= places[i].y && places[i].y - y < 4);
        snprintf(exact, sizeof exact, "kernel f: work-item (%u, %u, 0) of group (", places[i].x, places[i].y);
        report = clt_fault(text, "-g", 2, offset, global, NULL, 0, bad);
        assert_non_null(strstr(report, exact));
    }
}

/** The report names the work-items of which one faulted, and with -g the faulting one. */
static void test_faults(void **state)
{
    (void)state;
    static const size_t offsets[] = {0, 1000003};
    for (size_t i = 0; i < LENGTH(offsets); i++) {
        const cl_uint bad = (cl_uint)offsets[i] + 12345;
        unsigned n = 0, first = 0;
        char exact[64];
        fault("", offsets[i], bad);
        const char *who = strstr(report, "kernel f: one of ");
        assert_non_null(who);
        assert_int_equal(sscanf(who, "kernel f: one of %u work-items (x, 0, 0), the first with x = %u: store to", &n,
                                &first), 2);
        assert_in_range(n, 2, ITEMS_MAX / 16);
        assert_true(first >= offsets[i] && first <= bad && (bad - first) % 16 == 0);
        assert_non_null(strstr(report, " Built with -g, "));
        snprintf(exact, sizeof exact, "kernel f: work-item (%u, 0, 0) of group (", bad);
        fault("-g", offsets[i], bad);
        assert_non_null(strstr(report, exact));
        fault("-tern-no-coarsen", offsets[i], bad);
        assert_non_null(strstr(report, exact));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_saves),
        cmocka_unit_test(test_tiles_save),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_tile_faults),
    };
    return cmocka_run_group_tests(tests, clt_open, clt_close);
}
