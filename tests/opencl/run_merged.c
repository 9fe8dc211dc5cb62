/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Groups whose work-items are merged (runtime/compiler/ternc/merge.c): of up to 1,024 work-items, more than an engine
 * holds, and smaller ones that gain by it. The kernels of merged_kernels.inc are compiled for the device and, as C, for
 * the host, where each work-item is a context of its own that runs until it meets a barrier. Shapes of groups are
 * random, in one to three dimensions, with offsets. Small groups of ranges that fill an engine several times are also
 * joined. The test also runs preempted (run_merged_preempted).
 *
 * The seed is printed. TERN_TEST_SEED sets it, TERN_TEST_STEPS the number of ranges.
 */
#include "clt.h"
#include "merged_kernels.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t seed;
static size_t most_items, room; /* work-items of the largest group, and of an engine */
static size_t items_max = MERGED_ITEMS; /* work-items of a random range */

static size_t below(size_t n)
{
    return clt_random(&seed) % n;
}

/** A divisor of v, any with the same probability. */
static size_t divisor(size_t v)
{
    size_t d = below(v) + 1;
    while (v % d != 0) {
        d = d % v + 1;
    }
    return d;
}

/** True: the group fits an engine if one of its sizes is divided by a number of at most 16. */
static bool fits(const size_t local[3])
{
    const size_t items = local[0] * local[1] * local[2];
    for (size_t n = (items + room - 1) / room; n <= 16; n++) {
        if (n == 1 || local[0] % n == 0 || local[1] % n == 0 || local[2] % n == 0) {
            return true;
        }
    }
    return false;
}

/** Returns a random range. Groups have at most `most` work-items, and mostly nearly as many. */
static struct merged_range any_range(size_t most)
{
    const cl_uint dims = below(2) == 0 ? 1 : (cl_uint)below(3) + 1;
    struct merged_range r = {.dims = dims, .global = {1, 1, 1}, .local = {1, 1, 1}};
    do {
        size_t items = below(3) == 0 ? below(most) + 1 : most >> below(3);
        for (cl_uint d = 0; d < r.dims; d++) { /* the last dimension takes what is left */
            r.local[d] = d + 1 == r.dims ? items : divisor(items);
            items /= r.local[d];
        }
    } while (!fits(r.local));
    size_t groups = items_max / (r.local[0] * r.local[1] * r.local[2]);
    groups = below(2) == 0 ? groups : below(groups) + 1;
    for (cl_uint d = 0; d < r.dims; d++) {
        const size_t n = d + 1 == r.dims ? groups : divisor(groups);
        groups /= n;
        r.global[d] = r.local[d] * n;
        r.offset[d] = below(2) == 0 ? 0 : below(1000);
    }
    r.n = (cl_uint)below(1u << 31);
    r.m = (cl_uint)below(1u << 31);
    return r;
}

static size_t size_of(cl_kernel k)
{
    size_t size = 0;
    OK(clGetKernelWorkGroupInfo(k, clt_device, CL_KERNEL_WORK_GROUP_SIZE, sizeof size, &size, NULL));
    return size;
}

static void run_device(cl_kernel k, const struct merged_range *r, cl_mem in, uint32_t *result)
{
    static const uint32_t fill = 0xa5c3e1f7u;
    const size_t items = r->local[0] * r->local[1] * r->local[2];
    cl_mem out = clt_buffer(MERGED_ITEMS * 4, NULL);
    OK(clEnqueueFillBuffer(clt_queue, out, &fill, sizeof fill, 0, MERGED_ITEMS * 4, 0, NULL, NULL));
    clt_args(k, 2, ARG(in), ARG(out));
    OK(clSetKernelArg(k, 2, items * 8, NULL));
    OK(clSetKernelArg(k, 3, sizeof r->n, &r->n));
    OK(clSetKernelArg(k, 4, sizeof r->m, &r->m));
    OK(clEnqueueNDRangeKernel(clt_queue, k, r->dims, r->offset, r->global, r->local, 0, NULL, NULL));
    clt_read(out, result, MERGED_ITEMS * 4);
    OK(clReleaseMemObject(out));
}

/** Returns a random range of small groups, whose number is even, of about `items` work-items in all. */
static struct merged_range small_groups(size_t items)
{
    const cl_uint dims = below(2) == 0 ? 1 : (cl_uint)below(3) + 1;
    struct merged_range r = {.dims = dims, .global = {1, 1, 1}, .local = {1, 1, 1}};
    size_t left = room >> below(3);
    size_t groups = items / left;
    for (cl_uint d = 0; d < r.dims; d++) {
        const size_t part = (size_t)1 << below(4);
        r.local[d] = d + 1 == r.dims ? left : part < left ? part : 1;
        left /= r.local[d];
    }
    for (cl_uint d = 0; d < r.dims; d++) { /* the last dimension of the groups has an even number */
        const size_t n = d + 1 == r.dims ? groups & ~(size_t)1 : below(3) + 1;
        groups /= n;
        r.global[d] = r.local[d] * n;
        r.offset[d] = below(2) == 0 ? 0 : below(1000);
    }
    r.n = (cl_uint)below(1u << 31);
    r.m = (cl_uint)below(1u << 31);
    return r;
}

/** Runs a kernel over a range on the device and on the host. */
static void compare(cl_program p, size_t which, cl_mem in, const uint32_t *data, const struct merged_range *r)
{
    static uint32_t device[MERGED_ITEMS], expected[MERGED_ITEMS];
    for (size_t i = 0; i < MERGED_ITEMS; i++) {
        expected[i] = 0xa5c3e1f7u;
    }
    cl_kernel k = clCreateKernel(p, merged_kernels[which].name, &clt_error);
    MADE(k);
    run_device(k, r, in, device);
    merged_run_host(&merged_kernels[which], r, data, expected);
    for (size_t i = 0; i < MERGED_ITEMS; i++) {
        if (device[i] != expected[i]) {
            fail_msg("%s in groups of %zux%zux%zu of %zux%zux%zu from (%zu, %zu, %zu), n %u, m %u: element %zu is "
                     "0x%08x instead of 0x%08x", merged_kernels[which].name, r->local[0], r->local[1], r->local[2],
                     r->global[0], r->global[1], r->global[2], r->offset[0], r->offset[1], r->offset[2], r->n, r->m, i,
                     device[i], expected[i]);
        }
    }
    OK(clReleaseKernel(k));
}

static void run_random(uint32_t first, bool small)
{
#ifdef __SANITIZE_THREAD__
    skip(); /* the thread sanitizer does not follow contexts; the other tests compile and run merged groups, too */
#endif
    static uint32_t data[MERGED_WORDS];
    /* The RTL is simulated cycle by cycle, so one short range for each kernel runs there. */
    const bool slow = clt_on_rtl();
    unsigned long steps;
    items_max = slow && !small ? 2 * most_items : slow ? 32 * room : MERGED_ITEMS;
    seed = clt_seed(first, slow || small ? 1 : 3, &steps);
    for (size_t i = 0; i < MERGED_WORDS; i++) {
        data[i] = clt_random(&seed);
    }
    cl_mem in = clt_buffer(sizeof data, data);
    cl_program p = clt_build(merged_source, "-cl-std=CL3.0");
    for (unsigned long s = 0; s < steps; s++) {
        for (size_t i = 0; i < merged_n_kernels; i++) {
            cl_kernel k = clCreateKernel(p, merged_kernels[i].name, &clt_error);
            MADE(k);
            const struct merged_range r = small ? small_groups(items_max) : any_range(size_of(k));
            OK(clReleaseKernel(k));
            compare(p, i, in, data, &r);
        }
    }
    OK(clReleaseProgram(p));
    OK(clReleaseMemObject(in));
}

/** Words of local memory that one work-item writes, or several, ids of groups, and stores behind divergent branches, in
 *  small groups and in groups larger than an engine. */
static void test_writers(void **state)
{
    (void)state;
#ifdef __SANITIZE_THREAD__
    skip(); /* as in run_random */
#endif
    static const char *const names[] = {"shifts", "either", "pairs", "few", "edges", "single", "taken", "halves",
                                        "placed", "swaps", "takes", "meets"};
    static uint32_t data[MERGED_WORDS];
    const size_t local[2] = {room < 64 ? room : 64, most_items};
    seed = 1;
    for (size_t i = 0; i < MERGED_WORDS; i++) {
        data[i] = clt_random(&seed);
    }
    cl_mem in = clt_buffer(sizeof data, data);
    cl_program p = clt_build(merged_source, "-cl-std=CL3.0");
    for (size_t i = 0; i < merged_n_kernels; i++) {
        bool named = false;
        for (size_t n = 0; n < LENGTH(names); n++) {
            named |= strcmp(merged_kernels[i].name, names[n]) == 0;
        }
        for (int l = 0; l < 2 && named; l++) {
            const struct merged_range r = {.dims = 1, .global = {8 * most_items, 1, 1}, .local = {local[l], 1, 1},
                                           .n = 13, .m = 29};
            compare(p, i, in, data, &r);
        }
    }
    OK(clReleaseProgram(p));
    OK(clReleaseMemObject(in));
}

static void test_random(void **state)
{
    (void)state;
    run_random(20261127, false);
}

static void test_random_joined(void **state)
{
    (void)state;
    run_random(20261128, true);
}

/** Fails unless groups of a kernel of this body have at most so many work-items. */
static void check_room(const char *body, size_t expected)
{
    char text[512];
    snprintf(text, sizeof text, "kernel void f(volatile global int *a, global int *b) { int l = get_local_id(0); %s }",
             body);
    cl_kernel k = clt_kernel(text, "f");
    if (size_of(k) != expected) {
        fail_msg("groups of %zu instead of %zu for %s", size_of(k), expected, body);
    }
    OK(clReleaseKernel(k));
}

/** All kernels of the test but `names` can run in the largest groups of the device. `names` calls a function that reads
 *  an id. Kernels in which a work-item may wait for another one, or whose barrier lies behind a divergent branch,
 *  cannot run in them either. */
static void test_sizes(void **state)
{
    (void)state;
    const size_t most = most_items;
    cl_program p = clt_build(merged_source, "-cl-std=CL3.0");
    for (size_t i = 0; i < merged_n_kernels; i++) {
        cl_kernel k = clCreateKernel(p, merged_kernels[i].name, &clt_error);
        MADE(k);
        assert_int_equal(size_of(k), strcmp(merged_kernels[i].name, "names") == 0 ? room : most);
        OK(clReleaseKernel(k));
    }
    OK(clReleaseProgram(p));
    static const char *const bodies[] = {
        "while (atomic_add(a, 0) == 0) ; a[1] = l;",
        "while (!*a) ; a[1] = l;",
        "for (int k = 0; k < b[0]; k++) a[2] = atomic_inc(a) + l;",
        "for (int k = 0; k < b[0]; k++) a[2] = atomic_cmpxchg(a, k, l);",
        "int s = 0; do { if (*a & 1) { a[l] = 5; s++; } else { a[l + 1] = a[3]; s += 2; } } while (s < 9);",
        "int k = 0; do { b[l] = *a; } while (b[l + k++] == 0);",
        "int k = 0; do { b[*a] = 1; } while (b[l + k++] == 0);",
        "int k = 0; do { if (*a) b[l] = k; } while (b[l + k++] == 0);",
        "for (int k = 0; k < 1000; k++) { int v = 0; while (v == 0) { v = atomic_inc(a); b[k] = v + l; } }",
        "for (int k = 0; k < 1000; k++) { b[k] = k; if (a[k] == l) break; }",
        "if (l < b[0]) { barrier(CLK_LOCAL_MEM_FENCE); a[l] = 1; }",
        "for (int k = 0; k < b[l]; k++) { barrier(CLK_LOCAL_MEM_FENCE); a[k] = l; }",
    };
    for (size_t i = 0; i < LENGTH(bodies); i++) {
        check_room(bodies[i], room);
    }
    /* How often these loops run does not depend on what other work-items write. */
    static const char *const free_bodies[] = {
        "for (int k = 0; k < 1000; k++) a[2] = atomic_inc(a) + l;",
        "for (int k = 0; k < 1000; k++) b[l] = b[l] * 3 + a[k];",
        "for (int k = 0; k < 1000; k++) { int at = atomic_inc(a + 1); if (at < 64) b[at] = k; }",
        "for (int k = 0; k < 1000; k++) { int v = a[k]; for (int j = 0; j < v; j++) b[l] = b[l] * 3 + j; }",
    };
    for (size_t i = 0; i < LENGTH(free_bodies); i++) {
        check_room(free_bodies[i], most);
    }
}

/** Instructions that a kernel executes in groups of 64 work-items, or less if an engine has less, over `items`
 *  work-items. */
static cl_ulong cost(const char *name, const char *options, size_t items)
{
    static uint32_t result[MERGED_ITEMS];
    static const uint32_t zeros[MERGED_WORDS];
    struct merged_range r = {.dims = 1, .global = {items, 1, 1}, .n = 100, .m = 100,
                      .local = {room < 64 ? room : 64, 1, 1}};
    cl_program p = clt_build(merged_source, options);
    cl_kernel k = clCreateKernel(p, name, &clt_error);
    MADE(k);
    cl_mem in = clt_buffer(sizeof zeros, zeros);
    const cl_ulong before = clt_instructions();
    run_device(k, &r, in, result);
    const cl_ulong after = clt_instructions();
    OK(clReleaseMemObject(in));
    OK(clReleaseKernel(k));
    OK(clReleaseProgram(p));
    return after - before;
}

/** Merging saves a quarter of the instructions of kernels with barriers, which fit an engine without it. */
static void test_saves(void **state)
{
    (void)state;
    static const char *const names[] = {"halves", "scan", "turned", "sum"};
    for (size_t i = 0; i < LENGTH(names); i++) {
        const cl_ulong merged = cost(names[i], "-cl-std=CL3.0", MERGED_ITEMS);
        const cl_ulong plain = cost(names[i], "-cl-std=CL3.0 -tern-no-coarsen", MERGED_ITEMS);
        if (merged * 4 > plain * 3) {
            fail_msg("%s: %llu thread instructions merged, %llu not", names[i], (unsigned long long)merged,
                     (unsigned long long)plain);
        }
    }
}

/** Joined groups save instructions where their number is even. */
static void test_joined(void **state)
{
    (void)state;
    static const char *const names[] = {"turned", "placed"};
    const size_t group = room < 64 ? room : 64, odd = MERGED_ITEMS - group;
    for (size_t i = 0; i < LENGTH(names); i++) {
        const cl_ulong joined = cost(names[i], "-cl-std=CL3.0", MERGED_ITEMS);
        const cl_ulong single = cost(names[i], "-cl-std=CL3.0", odd);
        if (joined * odd * 20 > single * MERGED_ITEMS * 19) {
            fail_msg("%s: %llu thread instructions for %d work-items in an even number of groups, %llu for %zu in an "
                     "odd one", names[i], (unsigned long long)joined, MERGED_ITEMS, (unsigned long long)single, odd);
        }
    }
}

/** The report names the work-items of which one faulted. */
static void test_faults(void **state)
{
    (void)state;
    static const char text[] = "kernel void f(global uint *a, local uint *t, uint bad) {"
        "    uint l = get_local_id(0) + get_local_id(1) * get_local_size(0); t[l] = l; barrier(CLK_LOCAL_MEM_FENCE);"
        "    a[(t[l ^ 1] & 1023) + ((get_global_id(0) * 4096 + get_global_id(1) == bad) << 28)] = l; }";
    const size_t most = most_items;
    const size_t global[2][2] = {{most * 3, 1}, {32, most / 4}}, local[2][2] = {{most, 1}, {8, most / 8}};
    static const size_t offset[] = {32, 5};
    for (int d = 0; d < 2; d++) {
        const cl_uint id[2] = {(cl_uint)(offset[0] + global[d][0] - 3), (cl_uint)(offset[1] + global[d][1] - 1)};
        unsigned n = 0, apart = 0, x = 0, y = 0;
        char axis = 0;
        const char *report = clt_fault(text, "", 2, offset, global[d], local[d], most * 4, id[0] * 4096 + id[1]);
        const char *who = strstr(report, "kernel f: one of ");
        assert_non_null(who);
        assert_int_equal(sscanf(who, "kernel f: one of %u work-items that are %u apart in %c, the first of them (%u, "
                                "%u, 0): store", &n, &apart, &axis, &x, &y), 5);
        assert_int_equal(axis, "xy"[d]);
        const unsigned first[2] = {x, y};
        assert_int_equal(first[!d], id[!d]);
        assert_true(first[d] <= id[d] && (id[d] - first[d]) % apart == 0 && (id[d] - first[d]) / apart < n);
        assert_int_equal(apart * n, local[d][d]);
    }
    /* The hardware has other groups for a kernel that does not see them. */
    const size_t wide = most * 3;
    const cl_uint bad = (cl_uint)(offset[0] + most * 2 + 3);
    char exact[96];
    const char *report = clt_fault("kernel void f(global uint *a, uint bad) {"
                                   "    a[(get_global_id(0) & 63) + ((get_global_id(0) == bad) << 28)] = 1; }",
                                   "-tern-no-coarsen", 1, offset, &wide, &most, 0, bad);
    snprintf(exact, sizeof exact, "kernel f: work-item (%u, 0, 0) of group (2, 0, 0): store", bad);
    if (strstr(report, exact) == NULL) {
        fail_msg("reported \"%s\"", report);
    }
}

/** The report of joined groups names those of which a work-item faulted. */
static void test_faults_joined(void **state)
{
    (void)state;
    static const char text[] = "kernel void f(global uint *a, local uint *t, uint bad) {"
        "    uint l = get_local_id(0); t[l] = l; barrier(CLK_LOCAL_MEM_FENCE);"
        "    a[(t[l ^ 1] & 1023) + ((get_global_id(0) == bad) << 28)] = l; }";
    const size_t local = room < 64 ? room : 64, global = 64 * room, offset = 7;
    const cl_uint id = (cl_uint)(offset + global - local - 2);
    unsigned n = 0, apart = 0, first = 0, next = 0;
    const char *report = clt_fault(text, "", 1, &offset, &global, &local, local * 4, id);
    const char *who = strstr(report, "kernel f: one of ");
    assert_non_null(who);
    assert_int_equal(sscanf(who, "kernel f: one of %u work-items that are %u apart in x, the first of them (%u, 0, 0), "
                            "and those in the same places of the next %u group", &n, &apart, &first, &next), 4);
    assert_int_equal(apart * n, local);
    assert_int_equal((first - offset) / local % (next + 1), 0);
    assert_true(id >= first && (id - first) / local <= next && (id - first) % local % apart == 0);
}

static char told[2048]; /* what the runtime last reported */

static void CL_CALLBACK tell(const char *text, const void *info, size_t size, void *data)
{
    (void)info;
    (void)size;
    (void)data;
    snprintf(told, sizeof told, "%s", text);
}

/** A kernel runs in more sizes of groups than the runtime keeps compiled, and in the first ones again. */
static void test_many_sizes(void **state)
{
    (void)state;
    enum { SIZES = 11 };
    static uint32_t data[MERGED_WORDS], result[MERGED_ITEMS];
    cl_program p = clt_build(merged_source, "-cl-std=CL3.0");
    cl_kernel k = clCreateKernel(p, "turned", &clt_error);
    MADE(k);
    for (size_t i = 0; i < MERGED_WORDS; i++) {
        data[i] = (uint32_t)i;
    }
    cl_mem in = clt_buffer(sizeof data, data);
    for (size_t i = 0; i < 2 * SIZES; i++) {
        const size_t items = room + 4 * (i % SIZES + 1);
        const struct merged_range r = {.dims = 1, .global = {2 * items, 1, 1}, .local = {items, 1, 1}};
        run_device(k, &r, in, result);
        for (size_t j = 0; j < 2 * items; j++) {
            assert_int_equal(result[j], j + j % items * 3);
        }
    }
    OK(clReleaseMemObject(in));
    OK(clReleaseKernel(k));
    OK(clReleaseProgram(p));
}

/** Groups that cannot be divided so that they fit an engine, or that do not divide the range, are refused with a
 *  reason. */
static void test_refusals(void **state)
{
    (void)state;
    const size_t most = most_items;
    cl_context c = clCreateContext(NULL, 1, &clt_device, tell, NULL, &clt_error);
    MADE(c);
    cl_command_queue q = clCreateCommandQueue(c, clt_device, 0, &clt_error);
    MADE(q);
    const char *text = merged_source;
    cl_program p = clCreateProgramWithSource(c, 1, &text, NULL, &clt_error);
    MADE(p);
    OK(clBuildProgram(p, 0, NULL, "-cl-std=CL3.0", NULL, NULL));
    cl_kernel k = clCreateKernel(p, "scan", &clt_error);
    MADE(k);
    cl_mem m = clCreateBuffer(c, 0, 1 << 18, NULL, &clt_error);
    MADE(m);
    const cl_uint zero = 0;
    clt_args(k, 5, ARG(m), ARG(m), LOCAL(most * 4), ARG(zero), ARG(zero));
    size_t prime = most, d = 2;
    while (d < prime) { /* the largest prime number that is at most `most` */
        const bool divides = prime % d == 0;
        prime -= divides;
        d = divides ? 2 : d + 1;
    }
    const size_t twice = 2 * prime, odd = most + most / 4;
    const struct {
        size_t global, local;
        const char *why;
    } cases[] = {
        {twice, prime, "no size of theirs can be divided so that they fit an engine"},
        {odd, most / 2, "they do not divide the global size"},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        told[0] = '\0';
        FAILS(clEnqueueNDRangeKernel(q, k, 1, NULL, &cases[i].global, &cases[i].local, 0, NULL, NULL),
              CL_INVALID_WORK_GROUP_SIZE);
        if (strstr(told, cases[i].why) == NULL) {
            fail_msg("told \"%s\"", told);
        }
    }
    OK(clEnqueueNDRangeKernel(q, k, 1, NULL, &most, &most, 0, NULL, NULL));
    OK(clFinish(q));
    OK(clReleaseMemObject(m));
    OK(clReleaseKernel(k));
    OK(clReleaseCommandQueue(q));
    OK(clReleaseProgram(p));
    OK(clReleaseContext(c));
}

static int open_device(void **state)
{
    const int result = clt_open(state);
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof most_items, &most_items, NULL));
    /* the group of this kernel, whose work-items wait for each other, fits an engine */
    cl_kernel k = clt_kernel("kernel void f(volatile global uint *a) { while (*a != get_local_id(0)) ; }", "f");
    room = size_of(k);
    assert_true(room < most_items);
    OK(clReleaseKernel(k));
    return result;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_writers),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_random_joined),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_saves),
        cmocka_unit_test(test_joined),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_faults_joined),
        cmocka_unit_test(test_many_sizes),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, open_device, clt_close);
}
