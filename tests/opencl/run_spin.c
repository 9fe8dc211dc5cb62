/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Work-items that spin until another work-item acts: the spinning warps must not starve that one, however many spin
 * and whatever they access. One group has as many work-items as the device holds, so that all run at the same time.
 * Every kernel has a limit of device cycles, which it exceeds if a warp starves.
 */
#include "clt.h"

#include <stdbool.h>
#include <stdio.h>

#define LIMIT "200000" /* device cycles of a kernel */
#define COUNT_MAX 8    /* value to which the holders of a lock count */

static size_t group_max; /* work-items of the largest group of the kernel, which fills an engine */

/** The expressions by which work-items poll the flag F until it is not 0. D is another word of the same memory. */
static const char *const polls[] = {
    "atomic_add(F, 0)", "*F", "atomic_cmpxchg(F, 0, 0)", "atomic_or(F, 0)", "(mem_fence(FENCE), *F)",
    "(*D = 1, *F)", "(v = v / (*F | 1), *F)",
};

/** Statements of the 16 work-items that the others wait for, before one of the 16 raises the flag. */
static const char *const acts[] = {
    "v += c[i & 7];",
    "c[16 + (i & 15)] = i;",
    "c[16 + (i & 15)] = i; mem_fence(CLK_GLOBAL_MEM_FENCE);",
    "v += l[16 + (i & 15)];",
    "l[16 + (i & 15)] = i; mem_fence(CLK_LOCAL_MEM_FENCE);",
    "v += atomic_add(&c[32], 1);",
    "while (atomic_cmpxchg(&c[33], 0, 1) != 0) ; atomic_xchg(&c[33], 0);",
    "volatile int p[4] = {v, v, v, v}; v += p[i & 3];",
    "v = v / (v | 1);",
    /* more instructions than the instruction cache holds */
    "X(X(X(STEP))) X(X(X(STEP)))",
};

static const char prelude[] =
    "#define X(s) s s s s s s s s\n"
    "#define STEP v = (v ^ (v >> 3)) * 5 + 1;\n"
    "kernel void spin(volatile global int *f, volatile global int *c, volatile local int *l, int who, int act) {\n"
    "    int i = get_local_id(0), v = i + who;\n"
    "    if (i < 64) l[i] = 0;\n"
    "    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n";

static void run(cl_kernel k, const char *what, size_t size)
{
    OK(clEnqueueNDRangeKernel(clt_queue, k, 1, NULL, &size, &size, 0, NULL, NULL));
    if (clFinish(clt_queue) != CL_SUCCESS) {
        fail_msg("%s: not done within " LIMIT " cycles", what);
    }
}

/** Runs every second entry of `acts` with one entry of `polls`. The next call runs the others, to save time. */
static void spin(size_t poll, bool local)
{
    const char *expression = polls[poll];
    static char source[8192], what[128];
    size_t n = (size_t)snprintf(source, sizeof source,
                                "#define F %s\n#define D %s\n#define FENCE %s\n%s    if (i / 16 == who) {\n"
                                "        switch (act) {\n",
                                local ? "(&l[1])" : "f", local ? "(&l[2 + i % 8])" : "(&c[40 + i % 8])",
                                local ? "CLK_LOCAL_MEM_FENCE" : "CLK_GLOBAL_MEM_FENCE", prelude);
    for (size_t a = 0; a < LENGTH(acts); a++) {
        n += (size_t)snprintf(source + n, sizeof source - n, "case %zu: { %s break; }\n", a, acts[a]);
    }
    n += (size_t)snprintf(source + n, sizeof source - n,
                          "}\n    if (i %% 16 == 0) { c[64] = v; atomic_xchg(F, 1); } }\n"
                          "    else while (%s == 0) ;\n    c[128 + i] = v;\n}", expression);
    assert_true(n < sizeof source);
    cl_kernel k = clt_kernel(source, "spin");
    OK(clGetKernelWorkGroupInfo(k, clt_device, CL_KERNEL_WORK_GROUP_SIZE, sizeof group_max, &group_max, NULL));
    const int zeros[2048] = {0};
    for (int act = (poll + local) % 2; act < (int)LENGTH(acts); act += 2) {
        const int who = act / 2 % 2 ? (int)(group_max / 16) - 1 : 0; /* the last ones, or the first */
        cl_mem f = clt_buffer(64, zeros), c = clt_buffer(sizeof zeros, zeros);
        int raised = 0;
        clt_args(k, 5, ARG(f), ARG(c), LOCAL(64 * sizeof(int)), ARG(who), ARG(act));
        snprintf(what, sizeof what, "%s in %s memory, then %s", expression, local ? "local" : "global", acts[act]);
        run(k, what, group_max);
        clt_read(f, &raised, sizeof raised);
        assert_int_equal(raised, !local); /* a flag in local memory is not in this buffer */
        OK(clReleaseMemObject(f));
        OK(clReleaseMemObject(c));
    }
    OK(clReleaseKernel(k));
}

static void test_spin(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(polls); i++) {
        spin(i, false);
        spin(i, true);
    }
}

/** All work-items contend for a lock. COUNT_MAX holders increment N; the next one sets CLOSED, and all end. */
static void test_lock(void **state)
{
    (void)state;
    static const char *const takes[] = {"atomic_cmpxchg(L, 0, 1)", "atomic_xchg(L, 1)", "atomic_or(L, 1)"};
    static char source[1024], what[128];
    for (size_t t = 0; t < LENGTH(takes); t++) {
        for (int local = 0; local < 2; local++) {
            const char *memory = local ? "l" : "f";
            snprintf(source, sizeof source,
                     "#define L (&%s[0])\n#define N %s[1]\n#define CLOSED %s[2]\n#define FENCE %s\n"
                     "kernel void lock(volatile global int *f, volatile local int *l) {\n"
                     "    if (get_local_id(0) < 3) l[get_local_id(0)] = 0;\n"
                     "    barrier(CLK_LOCAL_MEM_FENCE);\n"
                     "    while (!CLOSED)\n"
                     "        if (%s == 0) {\n"
                     "            if (N < %d) N = N + 1; else CLOSED = 1;\n"
                     "            mem_fence(FENCE);\n"
                     "            atomic_xchg(L, 0);\n"
                     "        }\n"
                     "    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n"
                     "    if (get_local_id(0) == 0) f[3] = N;\n}",
                     memory, memory, memory, local ? "CLK_LOCAL_MEM_FENCE" : "CLK_GLOBAL_MEM_FENCE", takes[t],
                     COUNT_MAX);
            cl_kernel k = clt_kernel(source, "lock");
            OK(clGetKernelWorkGroupInfo(k, clt_device, CL_KERNEL_WORK_GROUP_SIZE, sizeof group_max, &group_max, NULL));
            /* all warps full; the last ones with few work-items or none */
            const size_t sizes[] = {group_max, group_max * 15 / 16 + 1, group_max * 15 / 16, group_max * 7 / 8};
            for (size_t s = 0; s < LENGTH(sizes); s++) {
                int got[16] = {0};
                cl_mem f = clt_buffer(sizeof got, got);
                clt_args(k, 2, ARG(f), LOCAL(12));
                snprintf(what, sizeof what, "%zu work-items at a lock in %s memory, by %s", sizes[s],
                         local ? "local" : "global", takes[t]);
                run(k, what, sizes[s]);
                clt_read(f, got, sizeof got);
                assert_int_equal(got[3], COUNT_MAX);
                OK(clReleaseMemObject(f));
            }
            OK(clReleaseKernel(k));
        }
    }
}

int main(void)
{
    setenv("TERN_LIMIT_CYCLES", LIMIT, 1);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_spin), cmocka_unit_test(test_lock)};
    return cmocka_run_group_tests(tests, clt_open, clt_close);
}
