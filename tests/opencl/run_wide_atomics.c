/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Atomics of 64 bits, which are sequences under a lock (docs/decisions/wide-atomics.md), and atomics of floats.
 *
 * wide_values.c: results and objects for pairs of values in which carries, signs and either word decide. The other
 * tests let work-items contend: within warps, between warps and groups, between queues, which run on several engines at
 * once or preempt each other on one, and for memory that does not fit the device. Every old value is checked: those of
 * additions must be all multiples of the step, each once. test_killed ends kernels by a fault in the middle of their
 * operations. test_faults compares messages with those of 32-bit atomics. The last argument of the program, if it is a
 * number, is the seed.
 */
#include "wide_atomics.h"

#include <CL/cl_ext.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { QUEUES = 2 };

static uint32_t seed = 1;

uint32_t wide_word(void)
{
    return clt_random(&seed);
}

uint64_t wide_random(void)
{
    const uint64_t high = wide_word();
    return high << 32 | wide_word();
}

cl_kernel wide_kernel(const char *source, const char *options, const char *name)
{
    cl_program p = clt_build(source, options);
    cl_kernel k = clCreateKernel(p, name, &clt_error);
    MADE(k);
    OK(clReleaseProgram(p));
    return k;
}

/* ---------------------------------------------------------------- contention */

/* The object of a work-item in a round, for host and device. */
#define PLACE                                                                           \
    "uint place(uint g, uint r, uint objects, uint how) {\n"                            \
    "    if (how < 2) return g / (how ? 16 : 1) % objects;\n"                           \
    "    uint h = (g * 2654435761u ^ r * 2246822519u) * 3266489917u; return (h ^ h >> 15) % objects; }\n"

static uint32_t place(uint32_t g, uint32_t r, uint32_t objects, uint32_t how)
{
    if (how < 2) {
        return g / (how ? 16 : 1) % objects;
    }
    const uint32_t h = (g * 2654435761u ^ r * 2246822519u) * 3266489917u;
    return (h ^ h >> 15) % objects;
}

static const char contend_source[] =
    PLACE
    "kernel void add(global ulong *x, global ulong *old, uint objects, uint how, uint rounds, ulong step) {\n"
    "    uint g = get_global_id(0), at = g - get_global_offset(0);\n"
    "    for (uint r = 0; r < rounds; r++)\n"
    "        old[at * rounds + r] = atom_add(&x[place(g, r, objects, how)], step); }\n"
    "kernel void swap(global ulong *x, global ulong *old, uint objects, uint how, uint rounds, ulong step) {\n"
    "    uint g = get_global_id(0), at = g - get_global_offset(0);\n"
    "    for (uint r = 0; r < rounds; r++) {\n"
    "        global ulong *p = &x[place(g, r, objects, how)]; ulong seen = atom_or(p, 0), before;\n"
    "        do { before = seen; seen = atom_cmpxchg(p, before, before + step); } while (seen != before);\n"
    "        old[at * rounds + r] = seen; } }\n"
    "kernel void inner(global ulong *x, global ulong *old, uint objects, uint how, uint rounds, ulong step) {\n"
    "    local ulong s[8]; uint g = get_global_id(0), at = g - get_global_offset(0), l = get_local_id(0);\n"
    "    if (l < 8) s[l] = 0xfffffff000000000ul;\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    for (uint r = 0; r < rounds; r++) {\n"
    "        local ulong *p = &s[place(l, r, objects, how)];\n"
    "#if __OPENCL_C_VERSION__ >= 300\n" /* a generic pointer to the object takes the same lock */
    "        if ((l ^ r) & 1) { old[at * rounds + r] = atomic_fetch_add_explicit((volatile atomic_ulong *)p, step, "
    "memory_order_relaxed); continue; }\n"
    "#endif\n"
    "        old[at * rounds + r] = atom_add(p, step); }\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    if (l < 8) x[8 * get_group_id(0) + l] = s[l]; }\n";

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

#define STEP 0x70000003ull     /* An addition changes the low word, and often carries into the high one. */
#define START 0xfffffff000000000ull

/** Additions of STEP to an object that was START: n old values. */
static void check_steps(const char *what, uint64_t *old, size_t n, uint64_t last)
{
    for (size_t i = 0; i < n; i++) {
        old[i] -= START;
    }
    qsort(old, n, sizeof *old, by_value);
    for (size_t i = 0; i < n; i++) {
        if (old[i] != i * STEP) {
            fail_msg("%s: old value %zu of %zu is the start + %" PRIx64 " instead of + %" PRIx64, what, i, n, old[i],
                     (uint64_t)(i * STEP));
        }
    }
    if (last - START != n * STEP) {
        fail_msg("%s: %zu additions give the start + %" PRIx64, what, n, (uint64_t)(last - START));
    }
}

struct contention {
    const char *kernel;
    unsigned queues;
    uint32_t items, local, objects, how, rounds;
};

static cl_command_queue queues[QUEUES];

static cl_command_queue make_queue(cl_context c, cl_queue_properties priority)
{
    const cl_queue_properties list[] = {CL_QUEUE_PRIORITY_KHR, priority, 0};
    cl_command_queue q = clCreateCommandQueueWithProperties(c, clt_device, list, &clt_error);
    MADE(q);
    return q;
}

/** All queues run the kernel at once, on the same objects. */
static void contend(const struct contention *c)
{
    const uint32_t per_item = c->rounds, all = c->items * per_item * c->queues;
    uint64_t *x = malloc(c->objects * sizeof *x), *old = malloc(all * sizeof *old), *of = malloc(all * sizeof *of);
    assert_true(x && old && of);
    for (uint32_t i = 0; i < c->objects; i++) {
        x[i] = START;
    }
    cl_kernel k = wide_kernel(contend_source, "", c->kernel);
    cl_mem mx = clt_buffer(c->objects * sizeof *x, x), mo[QUEUES];
    const uint64_t step = STEP;
    const size_t global = c->items, local = c->local;
    for (unsigned q = 0; q < c->queues; q++) {
        const size_t offset = q * c->items;
        mo[q] = clt_buffer(c->items * per_item * sizeof *old, NULL);
        clt_args(k, 6, ARG(mx), ARG(mo[q]), ARG(c->objects), ARG(c->how), ARG(c->rounds), ARG(step));
        OK(clEnqueueNDRangeKernel(queues[q], k, 1, &offset, &global, local ? &local : NULL, 0, NULL, NULL));
    }
    for (unsigned q = 0; q < c->queues; q++) {
        OK(clFlush(queues[q]));
    }
    for (unsigned q = 0; q < c->queues; q++) {
        OK(clFinish(queues[q]));
        clt_read(mo[q], old + (size_t)q * c->items * per_item, c->items * per_item * sizeof *old);
        OK(clReleaseMemObject(mo[q]));
    }
    clt_read(mx, x, c->objects * sizeof *x);
    char what[128];
    for (uint32_t o = 0; o < c->objects; o++) {
        size_t n = 0;
        for (uint32_t i = 0; i < all; i++) {
            if (place(i / per_item, i % per_item, c->objects, c->how) == o) {
                of[n++] = old[i];
            }
        }
        snprintf(what, sizeof what, "%s, %u queues, %u work-items in groups of %u, object %u of %u, way %u", c->kernel,
                 c->queues, c->items, c->local, o, c->objects, c->how);
        check_steps(what, of, n, x[o]);
    }
    OK(clReleaseMemObject(mx));
    OK(clReleaseKernel(k));
    free(x);
    free(old);
    free(of);
}

static void test_contention(void **state)
{
    (void)state;
    static const struct contention cases[] = {
        {"add", 1, 16, 16, 1, 0, 4},    /* lanes of a warp, one object */
        {"add", 1, 16, 16, 3, 0, 4},    /* and three, whose lanes wait for each other */
        {"add", 1, 61, 0, 1, 0, 2},     /* warps and groups, and one that is not whole */
        {"add", 1, 256, 16, 16, 1, 2},  /* an object for each warp */
        {"add", 1, 256, 16, 5, 2, 3},   /* others each time */
        {"swap", 1, 48, 16, 2, 2, 2},
        {"add", 2, 128, 16, 1, 0, 1},   /* two engines, if there are two */
        {"add", 2, 256, 16, 40, 2, 3},
        {"swap", 2, 64, 16, 3, 2, 2},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        contend(&cases[i]);
    }
}

/** Objects in local memory: each group has its own, at the same addresses. */
static void local_objects(uint32_t local)
{
    enum { ITEMS = 1024, ROUNDS = 2, OBJECTS = 3 };
    static uint64_t x[8 * ITEMS / WIDE_GROUP], old[ITEMS * ROUNDS], of[ITEMS * ROUNDS];
    const cl_uint objects = OBJECTS, how = 2, rounds = ROUNDS;
    const uint64_t step = STEP;
    const size_t items = local > 256 ? local : 256;
    cl_kernel k = wide_kernel(contend_source, "-cl-std=CL3.0", "inner");
    cl_mem mx = clt_buffer(sizeof x, NULL), mo = clt_buffer(sizeof old, NULL);
    clt_args(k, 6, ARG(mx), ARG(mo), ARG(objects), ARG(how), ARG(rounds), ARG(step));
    clt_run(k, items, local);
    clt_read(mx, x, sizeof x);
    clt_read(mo, old, items * ROUNDS * sizeof *old);
    for (uint32_t g = 0; g < items / local; g++) {
        for (uint32_t o = 0; o < OBJECTS; o++) {
            size_t n = 0;
            for (uint32_t i = 0; i < local * ROUNDS; i++) {
                if (place(i / ROUNDS, i % ROUNDS, OBJECTS, how) == o) {
                    of[n++] = old[g * local * ROUNDS + i];
                }
            }
            check_steps("local memory", of, n, x[8 * g + o]);
        }
    }
    OK(clReleaseMemObject(mx));
    OK(clReleaseMemObject(mo));
    OK(clReleaseKernel(k));
}

static void test_local(void **state)
{
    (void)state;
    local_objects(16);
    size_t most = 0;
    cl_kernel k = wide_kernel(contend_source, "-cl-std=CL3.0", "inner");
    OK(clGetKernelWorkGroupInfo(k, clt_device, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, NULL));
    OK(clReleaseKernel(k));
    local_objects((uint32_t)most);
}

/** Work-items of large groups are merged: a hardware work-item does the operations of several. */
static void test_merged(void **state)
{
    (void)state;
    enum { ITEMS = 512 };
    static uint64_t x[2], old[2 * ITEMS];
    static const char source[] =
        "kernel void f(global ulong *x, global ulong *old) {\n"
        "    local ulong s; uint l = get_local_id(0);\n"
        "    if (l == 0) s = 0xfffffff000000000ul;\n"
        "    barrier(CLK_LOCAL_MEM_FENCE);\n"
        "    old[l] = atom_add(x, 0x70000003ul);\n"
        "    old[get_local_size(0) + l] = atom_add(&s, 0x70000003ul);\n"
        "    barrier(CLK_LOCAL_MEM_FENCE);\n"
        "    if (l == 0) x[1] = s; }\n";
    size_t most = 0;
    x[0] = START;
    cl_kernel k = wide_kernel(source, "", "f");
    OK(clGetKernelWorkGroupInfo(k, clt_device, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, NULL));
    most = most < ITEMS ? most : ITEMS;
    cl_mem mx = clt_buffer(sizeof x, x), mo = clt_buffer(sizeof old, NULL);
    clt_args(k, 2, ARG(mx), ARG(mo));
    clt_run(k, most, most);
    clt_read(mx, x, sizeof x);
    clt_read(mo, old, 2 * most * sizeof *old);
    check_steps("merged, global memory", old, most, x[0]);
    check_steps("merged, local memory", old + most, most, x[1]);
    OK(clReleaseMemObject(mx));
    OK(clReleaseMemObject(mo));
    OK(clReleaseKernel(k));
}

/** Every value is exchanged away once; values are whole, also for those who load and store; minima, maxima and bits. */
static void test_whole(void **state)
{
    (void)state;
    enum { ITEMS = 96, ALL = 4 * ITEMS };
    static const char source[] =
        "#define V(n) ((ulong)(n) << 32 | (uint)~(n))\n"
        "#define A(i) ((volatile atomic_ulong *)(x + (i)))\n"
        "kernel void f(global ulong *x, global const ulong *v, global ulong *old, global uint *torn) {\n"
        "    uint g = get_global_id(0);\n"
        "    for (uint r = 0; r < 4; r++) {\n"
        "        old[4 * g + r] = atomic_exchange(A(0), V(4 * g + r + 1));\n"
        "        if ((g ^ r) & 1) atomic_store_explicit(A(1), V(4 * g + r), memory_order_relaxed);\n"
        "        ulong seen = atomic_load_explicit(A(1), memory_order_relaxed);\n"
        "        if ((uint)(seen >> 32) != ~(uint)seen) atomic_inc(torn);\n"
        "        ulong w = v[4 * g + r];\n"
        "        atomic_fetch_min(A(2), w); atomic_fetch_max(A(3), w); atomic_fetch_xor(A(4), w);\n"
        "        atomic_fetch_or(A(5), w & w << 1 & w >> 1); atomic_fetch_and(A(6), w | w << 1 | w >> 1);\n"
        "        atomic_fetch_min((volatile atomic_long *)(x + 7), (long)w);\n"
        "        atomic_fetch_max((volatile atomic_long *)(x + 8), (long)w);\n"
        "    }\n"
        "}\n";
    static uint64_t v[ALL], old[ALL + 1];
    uint64_t x[9] = {0xffffffffu, 0xffffffffu, ~0ull, 0, 0, 0, ~0ull, INT64_MAX, (uint64_t)INT64_MIN};
    uint64_t want[9];
    memcpy(want, x, sizeof x);
    for (unsigned i = 0; i < ALL; i++) {
        const uint64_t w = v[i] = wide_random();
        want[2] = w < want[2] ? w : want[2];
        want[3] = w > want[3] ? w : want[3];
        want[4] ^= w;
        want[5] |= w & w << 1 & w >> 1;
        want[6] &= w | w << 1 | w >> 1;
        want[7] = (int64_t)w < (int64_t)want[7] ? w : want[7];
        want[8] = (int64_t)w > (int64_t)want[8] ? w : want[8];
    }
    cl_uint torn = 0;
    cl_kernel k = wide_kernel(source, "-cl-std=CL3.0", "f");
    cl_mem mx = clt_buffer(sizeof x, x), mv = clt_buffer(sizeof v, v), mo = clt_buffer(sizeof old, NULL),
           mt = clt_buffer(sizeof torn, &torn);
    clt_args(k, 4, ARG(mx), ARG(mv), ARG(mo), ARG(mt));
    clt_run(k, ITEMS, 0);
    clt_read(mx, x, sizeof x);
    clt_read(mo, old, ALL * sizeof *old);
    clt_read(mt, &torn, sizeof torn);
    assert_int_equal(torn, 0);
    old[ALL] = x[0];
    qsort(old, ALL + 1, sizeof *old, by_value);
    for (uint32_t i = 0; i <= ALL; i++) {
        assert_int_equal(old[i], (uint64_t)i << 32 | ~i);
    }
    for (unsigned i = 2; i < LENGTH(x); i++) {
        assert_int_equal(x[i], want[i]);
    }
    cl_mem all[] = {mx, mv, mo, mt};
    for (unsigned i = 0; i < LENGTH(all); i++) {
        OK(clReleaseMemObject(all[i]));
    }
    OK(clReleaseKernel(k));
}

/** Work-items that load until another one has stored, in the same warp or another one. */
static void test_waiting(void **state)
{
    (void)state;
    static const char source[] =
        "kernel void f(volatile global ulong *x, uint who) {\n"
        "    uint l = get_local_id(0);\n"
        "    if (l == who) { for (int i = 0; i < 20; i++) atom_add(x + 1, 1); atom_xchg(x, 1ul << 40); }\n"
        "    else while (atom_or(x, 0) == 0) ;\n"
        "    atom_inc(x + 2); }\n";
    cl_kernel k = wide_kernel(source, "", "f");
    size_t most = 0;
    OK(clGetKernelWorkGroupInfo(k, clt_device, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, NULL));
    most = most < 64 ? most : 64;
    const cl_uint who[] = {0, 7, (cl_uint)most - 1};
    for (unsigned i = 0; i < LENGTH(who); i++) {
        uint64_t x[3] = {0};
        cl_mem m = clt_buffer(sizeof x, x);
        clt_args(k, 2, ARG(m), ARG(who[i]));
        clt_run(k, most, most);
        clt_read(m, x, sizeof x);
        assert_int_equal(x[0], 1ull << 40);
        assert_int_equal(x[1], 20);
        assert_int_equal(x[2], most);
        OK(clReleaseMemObject(m));
    }
    OK(clReleaseKernel(k));
}

/* ---------------------------------------------------------------- memory, faults */

/** Two queues add to a buffer that does not fit a device of 16 MiB, so that a work-item that holds a lock may have to
 *  wait for a page. */
static void test_pages(void **state)
{
    (void)state;
    enum { BUFFERS = 3, EACH = 1 << 20, LONGS = BUFFERS * EACH, ITEMS = 64, ROUNDS = 2 };
    static const char source[] =
        PLACE
        "kernel void f(global ulong *x, global ulong *y, global ulong *z, uint each) {\n"
        "    for (uint r = 0; r < 2; r++) {\n"
        "        uint at = place(get_global_id(0), r, 3 * each, 2);\n"
        "        atom_add((at < each ? x : at < 2 * each ? y : z) + at % each, 0x100000001ul); } }\n";
    const cl_uint each = EACH;
    const uint64_t zero = 0;
    uint64_t *x = malloc(EACH * sizeof *x), *want = calloc(LONGS, sizeof *want);
    assert_true(x && want);
    cl_kernel k = wide_kernel(source, "", "f");
    cl_mem m[BUFFERS];
    for (unsigned i = 0; i < BUFFERS; i++) {
        m[i] = clCreateBuffer(clt_context, 0, EACH * sizeof *x, NULL, &clt_error);
        MADE(m[i]);
        OK(clEnqueueFillBuffer(clt_queue, m[i], &zero, sizeof zero, 0, EACH * sizeof *x, 0, NULL, NULL));
    }
    OK(clFinish(clt_queue));
    clt_args(k, 4, ARG(m[0]), ARG(m[1]), ARG(m[2]), ARG(each));
    for (unsigned q = 0; q < QUEUES; q++) {
        const size_t n = ITEMS, offset = q * ITEMS / 2; /* half of the additions are made twice */
        OK(clEnqueueNDRangeKernel(queues[q], k, 1, &offset, &n, NULL, 0, NULL, NULL));
        OK(clFlush(queues[q]));
        for (uint32_t i = 0; i < ITEMS * ROUNDS; i++) {
            want[place((uint32_t)offset + i / ROUNDS, i % ROUNDS, LONGS, 2)] += 0x100000001ull;
        }
    }
    for (unsigned q = 0; q < QUEUES; q++) {
        OK(clFinish(queues[q]));
    }
    for (unsigned i = 0; i < BUFFERS; i++) {
        clt_read(m[i], x, EACH * sizeof *x);
        assert_memory_equal(x, want + (size_t)i * EACH, EACH * sizeof *x);
        OK(clReleaseMemObject(m[i]));
    }
    OK(clReleaseKernel(k));
    free(x);
    free(want);
}

/** A kernel that ends by a fault while all its work-items contend for locks. The context is lost with its locks: others
 *  and new ones work. */
static void test_killed(void **state)
{
    (void)state;
    static const char source[] =
        "kernel void f(global ulong *x, uint after) {\n"
        "    uint g = get_global_id(0);\n"
        "    for (uint i = 0; i < 100000; i++) {\n"
        "        if (g == 5 && i == after) *(volatile global int *)4 = 1;\n"
        "        atom_add(x + g % 3, 1); } }\n";
    static const struct contention beside = {"add", 1, 64, 16, 3, 2, 2};
    for (cl_uint after = 0; after < 12; after += 1 + after / 3) {
        const char *told = clt_fault(source, "", 1, NULL, (size_t[]){64}, (size_t[]){WIDE_GROUP}, 0, after);
        assert_non_null(strstr(told, "work-item (5, 0, 0) of group (0, 0, 0): store to 0x00000004"));
        contend(&beside);
    }
}

/** The text of a fault up to the place in the code. */
static void fault_text(char *out, size_t size, const char *type, const char *space, const char *call, cl_uint bad,
                       bool is_offset)
{
    char source[512];
    snprintf(source, sizeof source,
             "kernel void f(global char *m, local char *l, uint bad) {\n"
             "    uint g = get_global_id(0); m += 8 * g; l += 8 * get_local_id(0);\n"
             "    volatile %s %s *p = (volatile %s %s *)(g == 37 ? (%s char *)(%s + bad) : %s);\n"
             "    %s; }\n", space, type, space, type, space, !is_offset ? "0" : strcmp(space, "local") == 0 ? "l" : "m",
             strcmp(space, "local") == 0 ? "l" : "m", call);
    const char *text = clt_fault(source, "", 1, NULL, (size_t[]){64}, (size_t[]){WIDE_GROUP}, 8 * WIDE_GROUP, bad);
    const char *end = strstr(text, " (pc ");
    snprintf(out, size, "%.*s", (int)(end == NULL ? strlen(text) : (size_t)(end - text)), text);
}

static void test_faults(void **state)
{
    (void)state;
    static const struct {
        cl_uint bad;
        bool is_offset;
    } cases[] = {{0, false}, {8, false}, {0x40000000, false}, {0x80000000, false}, {1, true}, {3, true}};
    static const char *const spaces[] = {"global", "local"};
    static const char *const calls[] = {"atom_add(p, 1)", "atom_max(p, 5)", "atom_cmpxchg(p, 1, 2)"};
    char wide[1024], word[1024];
    for (size_t i = 0; i < LENGTH(cases); i++) {
        const char *space = spaces[i % 2], *call = calls[i % LENGTH(calls)];
        fault_text(wide, sizeof wide, "ulong", space, call, cases[i].bad, cases[i].is_offset);
        fault_text(word, sizeof word, "uint", space, call, cases[i].bad, cases[i].is_offset);
        assert_non_null(strstr(wide, "work-item (37, 0, 0) of group (2, 0, 0): "));
        assert_non_null(strstr(wide, "atomic access to 0x"));
        assert_string_equal(wide, word);
    }
    /* A multiple of 4 that is none of 8 is aligned for each of the two words. */
    for (size_t i = 0; i < 2 * LENGTH(calls); i++) {
        fault_text(wide, sizeof wide, "ulong", spaces[i % 2], calls[i / 2], 4, true);
        assert_non_null(strstr(wide, "work-item (37, 0, 0) of group (2, 0, 0): misaligned atomic access to 0x"));
    }
}

/* ---------------------------------------------------------------- the program */

/** The device reports what the compiler has. The numbers are those of cl_ext_float_atomics. */
static void test_queries(void **state)
{
    (void)state;
    char extensions[1024];
    cl_ulong caps = 1;
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_EXTENSIONS, sizeof extensions, extensions, NULL));
    assert_non_null(strstr(extensions, "cl_khr_int64_base_atomics"));
    assert_non_null(strstr(extensions, "cl_khr_int64_extended_atomics"));
    assert_non_null(strstr(extensions, "cl_ext_float_atomics"));
    for (cl_device_info name = 0x4231; name <= 0x4233; name++) { /* single, double, half */
        OK(clGetDeviceInfo(clt_device, name, sizeof caps, &caps, NULL));
        assert_int_equal(caps, name == 0x4233 ? 0 : 0x70007); /* load and store, add, minimum and maximum */
    }
}

static int open_queues(void **state)
{
    const int r = clt_open(state);
    /* If there is one engine, the queue of high priority preempts the other one's holders of locks, and then spins. */
    queues[0] = make_queue(clt_context, CL_QUEUE_PRIORITY_LOW_KHR);
    queues[1] = make_queue(clt_context, CL_QUEUE_PRIORITY_HIGH_KHR);
    return r;
}

static int close_queues(void **state)
{
    for (unsigned q = 0; q < QUEUES; q++) {
        clReleaseCommandQueue(queues[q]);
    }
    return clt_close(state);
}

int main(int argc, char **argv)
{
    seed = argc > 1 ? (uint32_t)strtoul(argv[argc - 1], NULL, 0) : seed;
    printf("seed %u\n", seed);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wide_test_values), cmocka_unit_test(test_contention), cmocka_unit_test(test_local),
        cmocka_unit_test(test_merged), cmocka_unit_test(test_whole), cmocka_unit_test(test_waiting),
        cmocka_unit_test(test_pages), cmocka_unit_test(test_killed), cmocka_unit_test(test_faults),
        cmocka_unit_test(wide_test_floats), cmocka_unit_test(test_queries),
    };
    return cmocka_run_group_tests(tests, open_queues, close_queues);
}
