/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Barriers in every control flow that OpenCL C allows. However the compiler transforms it, the work-items of a group
 * meet at the same instruction (otherwise the device reports a divergence), and see each other's memory after it.
 *
 * Each kernel passes values around its group: a turn gives a work-item the value of its right neighbour plus one. After
 * r turns a work-item holds the value from r places away, plus r.
 */
#include "clt.h"

#include <stdio.h>

#define GROUPS 4u
#define MAX_SIZE 250u

static const char prelude[] =
    "#define TURN { t[l] = v; barrier(CLK_LOCAL_MEM_FENCE); v = t[(l + 1) % s] + 1; barrier(CLK_LOCAL_MEM_FENCE); }\n"
    "#define DIVERGE { uint x = l + 1; while (x > 1) x = x & 1 ? x * 3 + 1 : x / 2; if (x != 1) v = 0; }\n"
    "int turn(int v, local int *t, uint l, uint s) { TURN return v; }\n"
    "int turns(int v, local int *t, uint l, uint s, int n) { if (n <= 0) return v; for (;;) { TURN if (--n == 0) "
    "return v; } }\n"
    "kernel void once(global const int *in, global int *out, local int *t, int n) {\n"
    "    uint g = get_global_id(0), l = get_local_id(0), s = get_local_size(0); int v = in[g]; TURN out[g] = v; }\n";

/** The body of a kernel with argument n = 3, and the number of turns that it makes in even and in odd groups. */
static const struct {
    const char *name, *options, *body;
    unsigned even, odd;
} cases[] = {
    {"straight", "", "TURN", 1, 1},
    {"loop", "", "for (int k = 0; k < n; k++) TURN", 3, 3},
    {"unrolled", "", "for (int k = 0; k < 5; k++) TURN", 5, 5},
    {"half unrolled", "", "for (int k = 0; k < 4 * n; k++) { if (k & 1) TURN else DIVERGE }", 6, 6},
    {"one iteration of a constant loop", "", "for (int k = 0; k < 8; k++) { v += k; if (k == n) TURN v -= k; }", 1, 1},
    {"called twice", "", "v = turn(v, t, l, s); v = turn(v, t, l, s);", 2, 2},
    {"called in both arms", "", "if (n == 3) v = turn(v, t, l, s); else { v = turn(v, t, l, s); v = "
     "turn(v, t, l, s); }", 1, 1},
    {"both arms alike", "", "if (in[0] == 1) { v += 1; TURN } else { v += 2; TURN } v -= in[0] == 1 ? 1 : 2;", 1, 1},
    {"by group", "", "if (get_group_id(0) & 1) { TURN TURN } else TURN", 1, 2},
    {"returns in a loop", "", "v = turns(v, t, l, s, n); v = turns(v, t, l, s, n - 3);", 3, 3},
    {"a group returns", "", "if (get_group_id(0) & 1) { out[g] = v; return; } TURN", 1, 0},
    {"switch", "", "switch (n) { case 1: TURN break; case 3: TURN case 4: TURN break; case 5: v = 0; default: "
     "TURN TURN TURN }", 2, 2},
    {"switch by group", "", "switch (get_group_id(0) & 1) { case 0: TURN TURN break; default: TURN }", 2, 1},
    {"break and continue", "", "for (int k = 0;; k++) { if (k == n) break; if (k == 1) continue; TURN }", 2, 2},
    {"nested loops", "", "for (int j = 0; j < n; j++) { DIVERGE for (int k = 0; k <= j; k++) TURN }", 6, 6},
    {"behind divergent loops", "", "DIVERGE TURN DIVERGE TURN", 2, 2},
    {"between divergent branches", "", "int w; if (l & 1) w = 1; else w = 2; TURN if (w == 1) out[g] = v + n; else "
                                       "out[g] = v - n; TURN v += w == 1 ? n : -n; v -= out[g] - t[l];", 2, 2},
    {"divergent switch", "", "int w = 0; switch (l % 5) { case 0: w = 4; break; case 1: w = in[g]; break; case 3: w "
                             "= 7; } TURN\n"
                             "switch (l % 5) { case 0: v += w - 4; break; case 1: v += w - in[g]; break; case 3: "
                             "v += w - 7; }", 1, 1},
    {"divergent continue", "", "for (uint k = 0; k < 4; k++) { for (uint j = 0; j < 8; j++) { if (j > l) continue; v "
     "^= j; v ^= j; } TURN }", 4, 4},
    {"decided in local memory", "", "local int go; do { barrier(CLK_LOCAL_MEM_FENCE); if (l == 0) go = --n; TURN } "
     "while (go > 0);", 3, 3},
    {"short circuit", "", "if (n == 3 && in[0] == 1 && get_num_groups(0) == 4) TURN", 1, 1},
    {"kernel calls kernel", "", "out[g] = v; once(in, out, t, n); v = out[g];", 1, 1},
    {"asynchronous copy", "", "event_t e = async_work_group_copy(t, in + get_group_id(0) * s, s, 0); "
                              "wait_group_events(1, &e); v = t[(l + 1) % s] + 1; barrier(CLK_LOCAL_MEM_FENCE);", 1, 1},
    {"copies there and back", "", "for (int k = 0; k < n; k++) { TURN t[l] = v; barrier(CLK_LOCAL_MEM_FENCE);\n"
                                  "event_t e = async_work_group_copy(out + get_group_id(0) * s, t, s, 0); "
                                  "wait_group_events(1, &e); v = out[g]; }", 3, 3},
    {"two fences", "", "out[g] = v; barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE); v = out[g - l + (l "
                       "+ 1) % s] + 1; barrier(CLK_GLOBAL_MEM_FENCE);", 1, 1},
    {"OpenCL C 3.0", "-cl-std=CL3.0", "for (int k = 0; k < n; k++) { t[l] = v; "
                                      "work_group_barrier(CLK_LOCAL_MEM_FENCE); v = t[(l + 1) % s] + 1; "
                                      "work_group_barrier(CLK_LOCAL_MEM_FENCE, memory_scope_work_group); }", 3, 3},
};

static void check(cl_kernel k, const char *name, const char *options, cl_mem in, const int *values, unsigned even,
                  unsigned odd)
{
    static const size_t sizes[] = {1, 7, 16, 48, MAX_SIZE};
    static int got[GROUPS * MAX_SIZE];
    size_t most = 0;
    OK(clGetKernelWorkGroupInfo(k, clt_device, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, NULL));
    for (size_t z = 0; z < LENGTH(sizes); z++) {
        const size_t size = sizes[z] < most ? sizes[z] : most, n = GROUPS * size;
        const int three = 3;
        cl_mem out = clt_buffer(n * sizeof *got, NULL);
        clt_args(k, 4, ARG(in), ARG(out), LOCAL(size * sizeof *got), ARG(three));
        clt_run(k, n, size);
        clt_read(out, got, n * sizeof *got);
        for (size_t i = 0; i < n; i++) {
            const size_t group = i / size;
            const unsigned turns = group & 1 ? odd : even;
            const int expected = values[group * size + (i % size + turns) % size] + (int)turns;
            if (got[i] != expected) {
                fail_msg("%s%s, groups of %zu: work-item %zu has %d, not %d", name, options, size, i, got[i], expected);
            }
        }
        OK(clReleaseMemObject(out));
    }
}

static void run_all(const char *options)
{
    int values[GROUPS * MAX_SIZE];
    uint32_t seed = 5;
    for (size_t i = 0; i < LENGTH(values); i++) {
        values[i] = i == 0 ? 1 : (int)(clt_random(&seed) >> 8);
    }
    cl_mem in = clt_buffer(sizeof values, values);
    for (size_t c = 0; c < LENGTH(cases); c++) {
        char source[4096], all[64];
        snprintf(source, sizeof source, "%skernel void f(global const int *in, global int *out, local int "
                 "*t, int n) {\n"
                 "uint g = get_global_id(0), l = get_local_id(0), s = get_local_size(0); int v = "
                 "in[g];\n%s\nout[g] = v; }\n", prelude, cases[c].body);
        snprintf(all, sizeof all, "%s %s", cases[c].options, options);
        cl_program p = clt_build(source, all);
        cl_kernel k = clCreateKernel(p, "f", &clt_error);
        MADE(k);
        check(k, cases[c].name, all, in, values, cases[c].even, cases[c].odd);
        OK(clReleaseKernel(k));
        OK(clReleaseProgram(p));
    }
    OK(clReleaseMemObject(in));
}

static void test_optimized(void **state)
{
    (void)state;
    run_all("");
}

static void test_less_optimized(void **state)
{
    (void)state;
    run_all("-cl-opt-disable");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_optimized), cmocka_unit_test(test_less_optimized)};
    return cmocka_run_group_tests(tests, clt_open, clt_close);
}
