/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The functions that all work-items of a group call together, for every type, in groups of all shapes, smaller ones at
 * the ends of the range among them, and compared with the host. Their calls follow each other without barriers, and
 * are in loops. OpenCL C 2.0 has the functions too.
 */
#include "clt.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { REDUCE_ADD, REDUCE_MIN, REDUCE_MAX, INCLUSIVE_ADD, INCLUSIVE_MIN, INCLUSIVE_MAX, EXCLUSIVE_ADD, EXCLUSIVE_MIN,
       EXCLUSIVE_MAX, BROADCAST, VOTES, LOOP, FORMS };
enum { MOST = 4096 };

/* Values are small whole numbers, which every type represents, and whose sums are exact in any order. */
static const struct {
    const char *name, *least, *greatest;
    size_t size;
} types[] = {
    {"int", "INT_MIN", "INT_MAX", 4},          {"uint", "0", "UINT_MAX", 4},  {"float", "-INFINITY", "INFINITY", 4},
    {"long", "LONG_MIN", "LONG_MAX", 8},       {"ulong", "0", "ULONG_MAX", 8}, {"double", "-INFINITY", "INFINITY", 8},
};

/* The exclusive minimum and maximum of the first work-item must be the limits of the type: the kernel then writes 77.
 */
static const char text[] =
    "kernel void f(global const int *in, global int *out, uint n, uint x, uint y, uint z, uint m) {\n"
    "  const uint i = get_global_linear_id();\n"
    "  const T v = (T)in[i];\n"
    "  T r[12];\n"
    "  r[0] = work_group_reduce_add(v); r[1] = work_group_reduce_min(v); r[2] = work_group_reduce_max(v);\n"
    "  r[3] = work_group_scan_inclusive_add(v); r[4] = work_group_scan_inclusive_min(v);\n"
    "  r[5] = work_group_scan_inclusive_max(v); r[6] = work_group_scan_exclusive_add(v);\n"
    "  r[7] = work_group_scan_exclusive_min(v); r[8] = work_group_scan_exclusive_max(v);\n"
    "  if (get_local_linear_id() == 0) r[7] = r[7] == (T)(GREATEST) ? 77 : 78;\n"
    "  if (get_local_linear_id() == 0) r[8] = r[8] == (T)(LEAST) ? 77 : 78;\n"
    "  const uint d = get_work_dim();\n"
    "  r[9] = d == 1 ? work_group_broadcast(v, x) : d == 2 ? work_group_broadcast(v, x, y)\n"
    "                                                      : work_group_broadcast(v, x, y, z);\n"
    "  r[10] = work_group_all(v > 1) + 2 * work_group_any(v > 18) + 4 * work_group_all(v < 100) +\n"
    "      8 * work_group_any(v > 100);\n"
    "  T s = v;\n"
    "  for (uint k = 0; k < m; k++) s = (T)(work_group_scan_inclusive_max(s) + (T)(work_group_any(s > 20) ? 1 : k));\n"
    "  r[11] = s;\n"
    "  for (int k = 0; k < 12; k++) out[k * n + i] = (int)r[k];\n"
    "}\n";

struct range {
    cl_uint dims;
    size_t global[3], local[3];
};

/** The work-items of a group as linear global ids, in the order of their linear local ids. Returns their number. */
static unsigned items_of(const struct range *r, const size_t group[3], unsigned *items)
{
    unsigned n = 0;
    size_t end[3];
    for (int d = 0; d < 3; d++) {
        const size_t last = (group[d] + 1) * r->local[d];
        end[d] = last < r->global[d] ? last : r->global[d];
    }
    for (size_t z = group[2] * r->local[2]; z < end[2]; z++) {
        for (size_t y = group[1] * r->local[1]; y < end[1]; y++) {
            for (size_t x = group[0] * r->local[0]; x < end[0]; x++) {
                items[n++] = (unsigned)((z * r->global[1] + y) * r->global[0] + x);
            }
        }
    }
    return n;
}

/** Computes the results of one group on the host. of: the linear local id of the work-item that broadcasts. */
static void reference(const int *in, const unsigned *items, unsigned n, unsigned of, unsigned loops, unsigned all,
                      int *want)
{
    int sum = 0, least = 77, greatest = 77, state[1024];
    bool every_1 = true, any_18 = false, every_100 = true, any_100 = false;
    for (unsigned i = 0; i < n; i++) {
        const int v = in[items[i]];
        state[i] = v;
        want[EXCLUSIVE_ADD * all + items[i]] = sum;
        want[EXCLUSIVE_MIN * all + items[i]] = least;
        want[EXCLUSIVE_MAX * all + items[i]] = greatest;
        sum += v;
        least = i == 0 || v < least ? v : least;
        greatest = i == 0 || v > greatest ? v : greatest;
        want[INCLUSIVE_ADD * all + items[i]] = sum;
        want[INCLUSIVE_MIN * all + items[i]] = least;
        want[INCLUSIVE_MAX * all + items[i]] = greatest;
        every_1 = every_1 && v > 1;
        any_18 = any_18 || v > 18;
        every_100 = every_100 && v < 100;
        any_100 = any_100 || v > 100;
    }
    for (unsigned k = 0; k < loops; k++) {
        bool over = false;
        for (unsigned i = 0; i < n; i++) {
            over = over || state[i] > 20;
        }
        for (unsigned i = 0; i < n; i++) {
            state[i] = i > 0 && state[i - 1] > state[i] ? state[i - 1] : state[i];
        }
        for (unsigned i = 0; i < n; i++) {
            state[i] += over ? 1 : (int)k;
        }
    }
    for (unsigned i = 0; i < n; i++) {
        want[REDUCE_ADD * all + items[i]] = sum;
        want[REDUCE_MIN * all + items[i]] = least;
        want[REDUCE_MAX * all + items[i]] = greatest;
        want[BROADCAST * all + items[i]] = in[items[of]];
        want[VOTES * all + items[i]] = every_1 + 2 * any_18 + 4 * every_100 + 8 * any_100;
        want[LOOP * all + items[i]] = state[i];
    }
}

static void run(cl_kernel k, const struct range *r, uint32_t *seed, const char *what)
{
    static int in[MOST], got[FORMS * MOST], want[FORMS * MOST];
    static unsigned items[1024];
    const cl_uint n = (cl_uint)(r->global[0] * r->global[1] * r->global[2]), m = clt_random(seed) % 4;
    const bool low = clt_random(seed) % 2 == 0; /* all votes come out both ways */
    cl_uint from[3];
    assert_true(n <= MOST);
    for (unsigned i = 0; i < n; i++) {
        in[i] = (int)(clt_random(seed) % (low ? 18 : 20)) + (clt_random(seed) % 400 == 0 ? 100 : low ? 0 : 2);
    }
    for (int d = 0; d < 3; d++) { /* a work-item that each group has, also the last */
        const size_t rest = r->global[d] % r->local[d];
        from[d] = clt_random(seed) % (cl_uint)(rest ? rest : r->local[d]);
    }
    cl_mem a = clt_buffer(n * sizeof in[0], in), b = clt_buffer(FORMS * n * sizeof in[0], NULL);
    clt_args(k, 7, ARG(a), ARG(b), ARG(n), ARG(from[0]), ARG(from[1]), ARG(from[2]), ARG(m));
    OK(clEnqueueNDRangeKernel(clt_queue, k, r->dims, NULL, r->global, r->local, 0, NULL, NULL));
    clt_read(b, got, FORMS * n * sizeof in[0]);
    for (size_t z = 0; z * r->local[2] < r->global[2]; z++) {
        for (size_t y = 0; y * r->local[1] < r->global[1]; y++) {
            for (size_t x = 0; x * r->local[0] < r->global[0]; x++) {
                const unsigned size = items_of(r, (const size_t[3]){x, y, z}, items);
                const size_t width = r->global[0] - x * r->local[0], height = r->global[1] - y * r->local[1];
                const size_t across = width < r->local[0] ? width : r->local[0];
                const size_t down = height < r->local[1] ? height : r->local[1];
                reference(in, items, size, (unsigned)((from[2] * down + from[1]) * across + from[0]), m, n, want);
            }
        }
    }
    for (unsigned i = 0; i < FORMS * n; i++) {
        if (got[i] != want[i]) {
            fail_msg("%s, %u dimensions, %zux%zux%zu in groups of %zux%zux%zu: form %u of work-item %u is %d, not %d",
                     what, r->dims, r->global[0], r->global[1], r->global[2], r->local[0], r->local[1], r->local[2],
                     i / n, i % n, got[i], want[i]);
        }
    }
    OK(clReleaseMemObject(a));
    OK(clReleaseMemObject(b));
}

static void test_type(size_t t, const char *options)
{
    char all[256], what[320];
    uint32_t seed = (uint32_t)t * 7 + 1;
    size_t most;
    snprintf(all, sizeof all, "%s -DT=%s -DLEAST=%s -DGREATEST=%s", options, types[t].name, types[t].least,
             types[t].greatest);
    snprintf(what, sizeof what, "%s %s", types[t].name, options);
    cl_program p = clt_build(text, all);
    cl_kernel k = clCreateKernel(p, "f", &clt_error);
    MADE(k);
    OK(clGetKernelWorkGroupInfo(k, clt_device, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, NULL));
    const size_t plain = most >= 1024 ? 64 : 16; /* such groups need not divide the range on any device */
    const struct range fixed[] = {
        {1, {1, 1, 1}, {1, 1, 1}},  {1, {3 * most, 1, 1}, {most, 1, 1}}, {1, {2 * plain - 1, 1, 1}, {plain, 1, 1}},
        {2, {20, 6, 1}, {8, 4, 1}}, {3, {6, 5, 4}, {4, 2, 2}},           {3, {4, 4, 4}, {4, 4, 2}},
    };
    for (size_t i = 0; i < LENGTH(fixed); i++) {
        if (i == 1 || fixed[i].local[0] * fixed[i].local[1] * fixed[i].local[2] <= plain) {
            run(k, &fixed[i], &seed, what);
        }
    }
    for (int i = 0; i < 4; i++) {
        struct range r = {.dims = 1 + clt_random(&seed) % 3, .global = {1, 1, 1}, .local = {1, 1, 1}};
        size_t left = plain;
        for (cl_uint d = 0; d < r.dims; d++) {
            r.local[d] = 1 + clt_random(&seed) % (left < 9 ? left : 9);
            r.global[d] = 1 + clt_random(&seed) % (2 * r.local[d]);
            left /= r.local[d];
        }
        run(k, &r, &seed, what);
    }
    OK(clReleaseKernel(k));
    OK(clReleaseProgram(p));
}

static void test_types(void **state)
{
    (void)state;
    static const char *const options[] = {"-cl-std=CL3.0", "-cl-std=CL2.0", "-cl-std=CL3.0 -tern-no-coarsen",
                                          "-cl-std=CL2.0 -cl-opt-disable"};
    for (size_t t = 0; t < LENGTH(types); t++) {
        test_type(t, options[t % LENGTH(options)]);
    }
    test_type(0, options[2]);
    test_type(5, options[3]);
}

static void test_reported(void **state)
{
    (void)state;
    cl_bool there;
    cl_name_version features[32];
    size_t size;
    bool named = false;
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT, sizeof there, &there, NULL));
    assert_true(there);
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_OPENCL_C_FEATURES, sizeof features, features, &size));
    for (size_t i = 0; i < size / sizeof features[0]; i++) {
        named = named || strcmp(features[i].name, "__opencl_c_work_group_collective_functions") == 0;
    }
    assert_true(named);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reported), cmocka_unit_test(test_types)};
    return cmocka_run_group_tests(tests, clt_open, clt_close);
}
