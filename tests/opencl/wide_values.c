/* SPDX-License-Identifier: Apache-2.0 */
/** Parts of run_wide_atomics: values of atomics of 64 bits, and atomics of floats. */
#include "wide_atomics.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { PAIRS = 512, OPS = 9 };

/* ---------------------------------------------------------------- values */

static const char values_source[] =
    "#if GENERIC\n"
    "#define A(p) ((volatile ATOMIC *)(p))\n"
    "#define add(p, v) atomic_fetch_add(A(p), v)\n"
    "#define sub(p, v) atomic_fetch_sub_explicit(A(p), v, memory_order_relaxed)\n"
    "#define xchg(p, v) atomic_exchange(A(p), v)\n"
    "#define least(p, v) atomic_fetch_min_explicit(A(p), v, memory_order_acq_rel, memory_scope_work_group)\n"
    "#define most(p, v) atomic_fetch_max(A(p), v)\n"
    "#define both(p, v) atomic_fetch_and(A(p), v)\n"
    "#define any(p, v) atomic_fetch_or(A(p), v)\n"
    "#define odd(p, v) atomic_fetch_xor(A(p), v)\n"
    "T cas(volatile T *p, T e, T v) {\n"
    "    T seen = e; return atomic_compare_exchange_strong(A(p), &seen, v) ? e : seen == e ? ~e : seen; }\n"
    "#else\n"
    "#define add atom_add\n#define sub atom_sub\n#define xchg atom_xchg\n#define least atom_min\n"
    "#define most atom_max\n#define both atom_and\n#define any atom_or\n#define odd atom_xor\n"
    "#define cas atom_cmpxchg\n"
    "#endif\n"
    "kernel void values(global T *x, global const T *v, global const T *e, global T *old) {\n"
    "    size_t g = get_global_id(0), n = get_global_size(0);\n"
    "#if LOCAL\n"
    "    local T s[9 * 16];\n"
    "    for (int i = 0; i < 9; i++) s[16 * i + g % 16] = x[i * n + g];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "#define P(i) (s + 16 * i + g % 16)\n"
    "#else\n"
    "#define P(i) (x + i * n + g)\n"
    "#endif\n"
    "    old[g] = add(P(0), v[g]);\n"
    "    old[n + g] = sub(P(1), v[g]);\n"
    "    old[2 * n + g] = xchg(P(2), v[g]);\n"
    "    old[3 * n + g] = least(P(3), v[g]);\n"
    "    old[4 * n + g] = most(P(4), v[g]);\n"
    "    old[5 * n + g] = both(P(5), v[g]);\n"
    "    old[6 * n + g] = any(P(6), v[g]);\n"
    "    old[7 * n + g] = odd(P(7), v[g]);\n"
    "    old[8 * n + g] = cas(P(8), e[g], v[g]);\n"
    "#if LOCAL\n"
    "    for (int i = 0; i < 9; i++) x[i * n + g] = s[16 * i + g % 16];\n"
    "#endif\n"
    "}\n";

static uint64_t after(unsigned op, bool is_signed, uint64_t x, uint64_t v, uint64_t e)
{
    const bool less = is_signed ? (int64_t)v < (int64_t)x : v < x;
    switch (op) {
    case 0: return x + v;
    case 1: return x - v;
    case 2: return v;
    case 3: return less ? v : x;
    case 4: return less ? x : v;
    case 5: return x & v;
    case 6: return x | v;
    case 7: return x ^ v;
    default: return x == e ? v : x;
    }
}

static void values(unsigned way)
{
    static const uint64_t corners[] = {0, 1, ~0ull, 1ull << 63, ~0ull >> 1, 1ull << 31, ~0u, 1ull << 32,
                                       ~0ull << 32, (1ull << 63) + 1, 0x7fffffffffffffffull - (1u << 31)};
    static uint64_t x[OPS * PAIRS], v[PAIRS], e[PAIRS], got[OPS * PAIRS], old[OPS * PAIRS];
    const bool is_signed = way & 1, generic = way & 2, local = way & 4;
    char options[128];
    snprintf(options, sizeof options, "-DT=%s -DATOMIC=atomic_%s -DGENERIC=%d -DLOCAL=%d%s",
             is_signed ? "long" : "ulong", is_signed ? "long" : "ulong", generic, local,
             generic ? " -cl-std=CL3.0" : "");
    for (unsigned i = 0; i < PAIRS; i++) {
        const unsigned n = LENGTH(corners);
        uint64_t first = i < n * n ? corners[i / n] : wide_random();
        v[i] = i < n * n ? corners[i % n] : wide_random();
        if (i >= n * n && i % 4 < 2) { /* one word is the same */
            v[i] = i % 4 == 0 ? (v[i] & ~0u) | (first & ~0ull << 32) : (v[i] & ~0ull << 32) | (first & ~0u);
        }
        static const uint64_t differences[] = {0, 0, 0, 1, 1ull << 32, 1ull << 63, 1u << 31, 5};
        e[i] = first ^ differences[wide_word() % LENGTH(differences)];
        for (unsigned op = 0; op < OPS; op++) {
            x[op * PAIRS + i] = first;
        }
    }
    cl_kernel k = wide_kernel(values_source, options, "values");
    cl_mem mx = clt_buffer(sizeof x, x), mv = clt_buffer(sizeof v, v), me = clt_buffer(sizeof e, e),
           mo = clt_buffer(sizeof old, NULL);
    clt_args(k, 4, ARG(mx), ARG(mv), ARG(me), ARG(mo));
    clt_run(k, PAIRS, WIDE_GROUP);
    clt_read(mx, got, sizeof got);
    clt_read(mo, old, sizeof old);
    for (unsigned i = 0; i < OPS * PAIRS; i++) {
        const unsigned at = i % PAIRS;
        const uint64_t want = after(i / PAIRS, is_signed, x[i], v[at], e[at]);
        if (old[i] != x[i] || got[i] != want) {
            fail_msg("%s: operation %u of %" PRIx64 " and %" PRIx64 " (expected %" PRIx64 "): old %" PRIx64 ", new %"
                     PRIx64 " instead of %" PRIx64, options, i / PAIRS, x[i], v[at], e[at], old[i], got[i], want);
        }
    }
    cl_mem all[] = {mx, mv, me, mo};
    for (unsigned i = 0; i < LENGTH(all); i++) {
        OK(clReleaseMemObject(all[i]));
    }
    OK(clReleaseKernel(k));
}

void wide_test_values(void **state)
{
    (void)state;
    for (unsigned way = 0; way < 8; way++) {
        values(way);
    }
}

/* ---------------------------------------------------------------- floats */

/** Sums of small integers, which are exact in any order, and extremes. */
static void floats(const char *type, const char *space)
{
    enum { ITEMS = 64 };
    char source[1024];
    snprintf(source, sizeof source,
             "kernel void f(global %s *out, global const %s *v, local %s *l) {\n"
             "    volatile %s atomic_%s *a = (volatile %s atomic_%s *)%s; uint g = get_global_id(0);\n"
             "    if (get_local_id(0) == 0 && (g == 0 || %d)) for (int i = 0; i < 4; i++) atomic_store(a + i, i == 2 ? "
             "INFINITY : i == 3 ? -INFINITY : 0);\n"
             "    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n"
             "    atomic_fetch_add(a, v[g]); atomic_fetch_sub_explicit(a + 1, v[g], memory_order_relaxed);\n"
             "    atomic_fetch_min(a + 2, v[g]); atomic_fetch_max_explicit(a + 3, v[g], memory_order_relaxed, "
             "memory_scope_work_group);\n"
             "    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n"
             "    if (g < 4) out[4 + g] = atomic_load(a + g); }\n", type, type, type, space, type, space, type,
             strcmp(space, "local") == 0 ? "l" : "out", strcmp(space, "local") == 0);
    const bool is_double = strcmp(type, "double") == 0;
    const size_t size = is_double ? sizeof(double) : sizeof(float);
    cl_kernel k = wide_kernel(source, "-cl-std=CL3.0", "f");
    size_t items = 0;
    OK(clGetKernelWorkGroupInfo(k, clt_device, CL_KERNEL_WORK_GROUP_SIZE, sizeof items, &items, NULL));
    items = items < ITEMS ? items : ITEMS;
    double v[ITEMS], want[4] = {0, 0, 1e9, -1e9}, got[8];
    float vf[ITEMS], gotf[8];
    for (size_t i = 0; i < items; i++) {
        v[i] = (double)(wide_word() % 2000) - 1000;
        v[i] += is_double ? 1099511627776.0 * (wide_word() % 3) : 0;
        vf[i] = (float)v[i];
        want[0] += v[i];
        want[1] -= v[i];
        want[2] = v[i] < want[2] ? v[i] : want[2];
        want[3] = v[i] > want[3] ? v[i] : want[3];
    }
    cl_mem mv = clt_buffer(items * size, is_double ? (void *)v : vf), mo = clt_buffer(8 * size, NULL);
    clt_args(k, 3, ARG(mo), ARG(mv), LOCAL(4 * size));
    clt_run(k, items, items);
    clt_read(mo, is_double ? (void *)got : gotf, 8 * size);
    for (unsigned i = 0; i < 4; i++) {
        const double is = is_double ? got[4 + i] : (double)gotf[4 + i];
        if (is != want[i]) {
            fail_msg("%s in %s memory: result %u is %g instead of %g", type, space, i, is, want[i]);
        }
    }
    OK(clReleaseMemObject(mv));
    OK(clReleaseMemObject(mo));
    OK(clReleaseKernel(k));
}

void wide_test_floats(void **state)
{
    (void)state;
    floats("float", "global");
    floats("float", "local");
    floats("double", "global");
    floats("double", "local");
}
