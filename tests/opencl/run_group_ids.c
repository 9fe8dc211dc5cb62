/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Kernels that see their groups by ids and sizes only. For a local size they are compiled again, so that these come
 * from global ids, and then run in rounds or tiles (compiler.h, TC_MERGES_BY_IDS). They are compared with the same
 * kernels built with -tern-no-coarsen, which read the hardware's ids. Ranges are random, in one to three dimensions,
 * with offsets, in groups of any size up to the device's, larger ones than an engine among them. The test also runs
 * preempted (run_group_ids_preempted).
 *
 * The seed is printed. TERN_TEST_SEED sets it, TERN_TEST_STEPS the number of ranges.
 */
#include "clt.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS_MAX = 1 << 14, BYTES = ITEMS_MAX * 16 }; /* work-items of the largest range; bytes of a buffer */

/* j is the work-item's number in the range. G is a number of its group, L one of the work-item in it. */
static const char source[] =
    "#define PLACE uint j = ((get_global_id(2) - get_global_offset(2)) * get_global_size(1) + get_global_id(1) -"
    "    get_global_offset(1)) * get_global_size(0) + get_global_id(0) - get_global_offset(0);"
    "    uint g = (get_group_id(2) * get_num_groups(1) + get_group_id(1)) * get_num_groups(0) + get_group_id(0);"
    "    uint l = (get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0);\n"
    "#define WIDE(type, n) global const type##n *i##n = (global const type##n *)in; global type##n *o##n ="
    "    (global type##n *)out;\n"
    "#define ARGS (global const uint *in, global uint *out, uint n, uint m)\n"
    "kernel void places ARGS { PLACE out[j] = in[j] + g * 1000 + l * 7; }\n"
    "kernel void sizes ARGS { PLACE uint s = 0; for (uint d = 0; d < 4; d++) s = s * 31 + get_group_id(d) +"
    "    get_num_groups(d) * 3 + get_local_id(d) * 5 + get_local_size(d) * 7 + get_enqueued_local_size(d) * 11;"
    "    out[j] = s + get_local_linear_id(); }\n"
    "kernel void own ARGS { uint j = get_group_id(0) * get_local_size(0) + get_local_id(0); out[j] = in[j] * 3; }\n"
    "kernel void add ARGS { PLACE WIDE(uint, 4) o4[j] = i4[j] + in[g & 1023]; }\n"
    "kernel void scale ARGS { PLACE WIDE(float, 2) o2[j] = i2[j] * (float)(get_group_id(0) * 3 + n) + o2[j]; }\n"
    "kernel void thirds ARGS { uint j = get_global_id(0) - get_global_offset(0);"
    "    vstore3(vload3(j, in) ^ (in[get_group_id(0) & 63] + (uint)get_group_id(0)), j, out); }\n"
    "kernel void later ARGS { uint j = get_global_id(0) - get_global_offset(0); WIDE(uint, 4)"
    "    o4[j] = i4[j] + m; o4[j] = o4[j] * in[get_group_id(0) & 63] + (uint)get_group_id(0); }\n"
    "kernel void halves ARGS { uint j = get_global_id(0) - get_global_offset(0); WIDE(uint, 4)"
    "    o4[j] = i4[j] * ((j >> 3) + 1) + ((uint)get_group_id(0) >> 1) + (j / 48); }\n"
    "kernel void within ARGS { PLACE if (get_group_id(0) > (n & 15)) return; out[j] = in[j] ^ g; }\n"
    "kernel void sums ARGS { PLACE uint s = g; for (uint k = 0; k < (m & 31); k++)"
    "    s = s * 3 + in[(get_group_id(1) * 64 + k) & 4095] * in[(k * 64 + get_local_id(0)) & 4095]; out[j] = s; }\n"
    "kernel void lone ARGS { PLACE uint s = 0; if (l == 0) for (uint k = 0; k < (m & 7); k++) s += in[g + k];"
    "    out[j] = s + l; }\n";

static const char *const names[] = {"places", "sizes", "own", "add", "scale", "thirds", "later", "halves", "within",
                                    "sums", "lone"};

static uint32_t seed;
static size_t most_items; /* work-items of the largest group */

static size_t below(size_t n)
{
    return clt_random(&seed) % n;
}

static const size_t usual[] = {64, 16, 48, 32, 20}; /* sizes of groups; 20 are no whole rows of 16 */

/** Returns a long range in x, in groups of this size. */
static struct clt_range usual_range(size_t size)
{
    const size_t group = size < most_items ? size : most_items;
    return (struct clt_range){.dims = 1, .global = {ITEMS_MAX / group * group, 1, 1}, .local = {group, 1, 1},
                              .offset = {below(2) == 0 ? 0 : below(1000)}, .n = (cl_uint)below(1u << 31),
                              .m = (cl_uint)below(1u << 31)};
}

/** Returns a random range in groups that divide it. */
static struct clt_range any_range(void)
{
    struct clt_range r = {.dims = (cl_uint)below(3) + 1, .global = {1, 1, 1}, .local = {1, 1, 1}};
    size_t items = 1, left;
    for (cl_uint d = 0; d < r.dims; d++) {
        const size_t most = most_items / items, side = d == 0 && below(2) == 0 ? usual[below(5)] : below(most) + 1;
        r.local[d] = side > most ? most : d == 0 || below(2) == 0 ? side : below(most < 4 ? most : 4) + 1;
        items *= r.local[d];
    }
    left = ITEMS_MAX / items;
    for (cl_uint d = 0; d < r.dims; d++) {
        const size_t groups = d == 0 || below(2) == 0 ? left - below(left / 4 + 1) : below(left) + 1;
        r.global[d] = r.local[d] * groups;
        left /= groups;
        r.offset[d] = below(2) == 0 ? 0 : below(2) == 0 ? below(100) : below(1u << 30);
    }
    r.n = (cl_uint)below(1u << 31);
    r.m = (cl_uint)below(1u << 31);
    return r;
}

/** Runs a kernel over a range. False: it cannot run so, and says it: no size of the group can be divided so that the
 *  rest fits an engine. */
static bool run(cl_program p, const char *name, const struct clt_range *r, cl_mem in, uint8_t *result)
{
    return clt_run_range(p, name, r, in, result, BYTES) == CL_SUCCESS;
}

static void test_random(void **state)
{
    (void)state;
    static uint32_t data[BYTES / 4];
    static uint8_t by_ids[BYTES], plain[BYTES];
    /* The RTL is simulated cycle by cycle, so fewer ranges run there. */
    const bool slow = clt_on_rtl();
    const unsigned long fixed = slow ? 1 : LENGTH(usual);
    unsigned long steps;
    seed = clt_seed(20261127, slow ? 1 : 3, &steps);
    for (size_t i = 0; i < LENGTH(data); i++) {
        data[i] = clt_random(&seed) % 1000 < 3 ? 0x7f800000u : clt_random(&seed);
    }
    cl_mem in = clt_buffer(sizeof data, data);
    cl_program programs[2] = {clt_build(source, "-cl-std=CL3.0"), clt_build(source, "-cl-std=CL3.0 -tern-no-coarsen")};
    for (unsigned long step = 0; step < fixed + steps; step++) {
        struct clt_range r = usual_range(usual[step % LENGTH(usual)]);
        while (step >= fixed) { /* merged work-items need a size that can be divided, ids do not */
            r = any_range();
            if (run(programs[1], names[0], &r, in, plain)) {
                break;
            }
        }
        for (size_t i = 0; i < LENGTH(names); i++) {
            if (r.dims > 1 && strstr("own thirds later halves", names[i])) {
                continue; /* several work-items would have the same element */
            }
            assert_true(run(programs[0], names[i], &r, in, by_ids));
            assert_true(run(programs[1], names[i], &r, in, plain));
            const size_t at = clt_first_difference(by_ids, plain, BYTES);
            if (at < BYTES) {
                fail_msg("step %lu: %s over %zu x %zu x %zu in groups of %zu x %zu x %zu from (%zu, %zu, %zu), n %u, "
                         "m %u: byte %zu is 0x%02x, without coarsening 0x%02x", step, names[i], r.global[0],
                         r.global[1], r.global[2], r.local[0], r.local[1], r.local[2], r.offset[0], r.offset[1],
                         r.offset[2], r.n, r.m, at, by_ids[at], plain[at]);
            }
        }
    }
    OK(clReleaseProgram(programs[0]));
    OK(clReleaseProgram(programs[1]));
    OK(clReleaseMemObject(in));
}

/** Returns the thread instructions that a kernel executes over a long range in groups. */
static cl_ulong cost(const char *name, const char *options, size_t group)
{
    static uint8_t result[BYTES];
    const size_t items = ITEMS_MAX / group * group;
    const struct clt_range r = {.dims = 1, .global = {items, 1, 1}, .local = {group, 1, 1}, .n = 9, .m = 9};
    cl_mem in = clt_buffer(BYTES, NULL);
    cl_program p = clt_build(source, options);
    const cl_ulong before = clt_instructions();
    assert_true(run(p, name, &r, in, result));
    OK(clReleaseProgram(p));
    OK(clReleaseMemObject(in));
    return clt_instructions() - before;
}

/** Kernels that run in rounds execute at most these percentages of their instructions, on the smallest device, too. */
static void test_saves(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        unsigned percent;
    } cases[] = {{"places", 80}, {"own", 90}, {"add", 70}, {"thirds", 90}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        const cl_ulong by_ids = cost(cases[i].name, "-cl-std=CL3.0", 16);
        const cl_ulong plain = cost(cases[i].name, "-cl-std=CL3.0 -tern-no-coarsen", 16);
        if (by_ids * 100 > plain * cases[i].percent) {
            fail_msg("%s: %llu thread instructions by ids, %llu else", cases[i].name, (unsigned long long)by_ids,
                     (unsigned long long)plain);
        }
    }
}

/** The report names the work-items of which one faulted; with -g the faulting one, with its group, also in groups that
 *  are larger than an engine. */
static void test_faults(void **state)
{
    (void)state;
    static const char text[] = "kernel void f(global uint *a, uint bad) {"
        "    uint i = get_group_id(0) * get_local_size(0) + get_local_id(0); a[i + ((i == bad) << 28)] = 1; }";
    const size_t global = ITEMS_MAX, offset = 0, locals[] = {64, most_items};
    for (size_t i = 0; i < LENGTH(locals); i++) {
        const cl_uint bad = 12345;
        char exact[96];
        const char *who = strstr(clt_fault(text, "", 1, &offset, &global, &locals[i], 0, bad), "kernel f: one of ");
        unsigned n = 0, first = 0;
        assert_non_null(who);
        assert_int_equal(sscanf(who, "kernel f: one of %u work-items (x, 0, 0), the first with x = %u: store to", &n,
                                &first), 2);
        assert_in_range(n, 2, ITEMS_MAX / 16);
        assert_true(first <= bad && (bad - first) % 16 == 0);
        snprintf(exact, sizeof exact, "kernel f: work-item (%u, 0, 0) of group (%zu, 0, 0): store", bad,
                 bad / locals[0]);
        assert_non_null(strstr(clt_fault(text, "-g", 1, &offset, &global, &locals[0], 0, bad), exact));
    }
}

static int open_device(void **state)
{
    const int result = clt_open(state);
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof most_items, &most_items, NULL));
    return result;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_saves),
        cmocka_unit_test(test_faults),
    };
    return cmocka_run_group_tests(tests, open_device, clt_close);
}
