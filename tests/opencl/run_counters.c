/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Loops that count in size_t, whose counters the compiler keeps in 32 bits (compiler/ternc/counters.c). Kernels sum up
 * the values of such counters, with bounds and steps drawn at random, many of them next to 2^32, and the host counts in
 * 64 bits. Such a loop takes as many instructions as one that counts in uint.
 *
 * The seed is printed. TERN_TEST_SEED sets it, TERN_TEST_STEPS the number of draws.
 */
#include "clt.h"

#include <stdio.h>
#include <stdlib.h>

enum { WORDS = 1024, ITEMS = 64, ROUNDS_MAX = 200 };

#define ARGS (global const uint *in, global ulong *out, uint a, uint n, uint s, int m)
#define TEXT_(...) #__VA_ARGS__
#define TEXT(...) TEXT_(__VA_ARGS__)

static const char source[] =
    "#define ARGS " TEXT(ARGS) "\n"
    "#define PUT(value) out[get_global_id(0) - get_global_offset(0)] = value\n"
    "#define ADD sum = sum * 3 + i + (i >> 20) + in[i & 1023]\n"
    "kernel void up ARGS { ulong sum = 0; for (size_t i = a; i < n; i += s) ADD; PUT(sum); }\n"
    "kernel void one ARGS { ulong sum = 0; for (size_t i = a; i < n; i++) ADD; PUT(sum); }\n"
    "kernel void zero ARGS { ulong sum = 0; for (size_t i = 0; i < m; i++) ADD; PUT(sum); }\n"
    "kernel void threes ARGS { ulong sum = 0; for (size_t i = a; i < n; i += 3) ADD; PUT(sum); }\n"
    "kernel void last ARGS { ulong sum = 0; size_t i = a; do { ADD; i += s; } while (i < n); PUT(sum); }\n"
    "kernel void leave ARGS { ulong sum = 0; size_t i; for (i = a; i < n; i += s) { ADD;\n"
    "  if ((i & 31) == 7) break; } PUT(sum + i); }\n"
    "kernel void skip ARGS { ulong sum = 0; for (size_t i = a; i < n; i += s) { if (i & 4) continue; ADD; }\n"
    "  PUT(sum); }\n"
    "kernel void behind ARGS { ulong sum = 0; size_t i = a; while (i < n) { ADD; i += s; } PUT(sum ^ i << 8); }\n"
    "kernel void ahead ARGS { ulong sum = 0; for (size_t i = a; i < n; i += s) { ADD; if (i + s < n) sum ^= 5; }\n"
    "  PUT(sum); }\n"
    "kernel void nested ARGS { ulong sum = 0; for (size_t k = a; k < n; k += s)\n"
    "  for (size_t i = k; i < k + (k & 3); i++) ADD; PUT(sum); }\n"
    "kernel void fixed ARGS { ulong sum = 0; for (size_t i = 0xffffff80; i < n; i += 7) ADD; PUT(sum); }\n"
    "kernel void brim ARGS { ulong sum = 0; for (size_t i = 0xfffffff0; i < n; i++) ADD; PUT(sum); }\n"
    "kernel void once ARGS { ulong sum = 0; size_t i = a; do { ADD; i++; } while (i < n); PUT(sum); }\n"
    "kernel void out_of ARGS { ulong sum = 0; size_t i = a; for (;;) { ADD; i += s; if (i >= n) break; } PUT(sum); }\n"
    "kernel void sums ARGS { ulong sum = 0; int k = 0; for (size_t i = (size_t)a + s; i < n; i++) { ADD;\n"
    "  if (++k > 50) break; } PUT(sum); }\n"
    "kernel void far ARGS { ulong sum = 0; int k = 0; for (size_t i = a; i < (size_t)n + s; i += s) { ADD;\n"
    "  if (++k > 50) break; } PUT(sum); }\n"
    "kernel void drift ARGS { ulong sum = 0; uint e = n; for (size_t i = a; i < e; i += s) { ADD; e -= i & 1; }\n"
    "  PUT(sum); }\n"
    "kernel void wider ARGS { ulong sum = 0; uint e = s & 63 | 1; for (size_t i = a; i < n; i += e) {\n"
    "  ADD; e += i & 3; } PUT(sum); }\n"
    "kernel void items ARGS { ulong sum = 0; for (size_t i = get_global_id(0); i < n; i += get_global_size(0)) ADD;\n"
    "  PUT(sum); }\n"
    "kernel void others ARGS { uint t = 0, i = get_global_id(0); int more; do { t += in[i & 1023];\n"
    "  more = i < sub_sat(n, 100u); i += get_global_size(0); } while (more); PUT(t); }\n"
    "kernel void loads ARGS { uint t = 0; for (size_t i = get_global_id(0); i < n; i += get_global_size(0))\n"
    "  t += in[i & 1023]; PUT(t); }\n"
    "kernel void words ARGS { uint t = 0; for (uint i = get_global_id(0); i < n; i += get_global_size(0))\n"
    "  t += in[i & 1023]; PUT(t); }\n"
    "kernel void rows ARGS { uint t = 0; for (size_t i = 0; i < n; i++) t = t * 3 + in[i * 8 & 1023]; PUT(t); }\n"
    "kernel void rows_of_words ARGS { uint t = 0; for (uint i = 0; i < n; i++) t = t * 3 + in[i * 8 & 1023];\n"
    "  PUT(t); }\n";

static uint32_t seed, in[WORDS];
static unsigned long steps;
static cl_mem buffer, result;
static cl_program program;

/** Arguments of a kernel, as its parameters. */
struct arguments {
    cl_uint a, n, s;
    cl_int m;
};

#define ADD sum = sum * 3 + i + (i >> 20) + in[i & 1023]

static cl_ulong up(const struct arguments *x, cl_ulong first, cl_ulong step)
{
    cl_ulong sum = 0;
    for (cl_ulong i = first; i < x->n; i += step) {
        ADD;
    }
    return sum;
}

/** The result of a kernel for the work-item with this id. */
static cl_ulong expect(unsigned which, const struct arguments *x, cl_ulong id)
{
    cl_ulong sum = 0, i = x->a;
    switch (which) {
    case 0: return up(x, x->a, x->s);
    case 1: return up(x, x->a, 1);
    case 2:
        for (i = 0; i < (cl_ulong)x->m; i++) {
            ADD;
        }
        return sum;
    case 3: return up(x, x->a, 3);
    case 4:
        do {
            ADD;
            i += x->s;
        } while (i < x->n);
        return sum;
    case 5:
        for (; i < x->n; i += x->s) {
            ADD;
            if ((i & 31) == 7) {
                break;
            }
        }
        return sum + i;
    case 6:
        for (; i < x->n; i += x->s) {
            if ((i & 4) == 0) {
                ADD;
            }
        }
        return sum;
    case 7:
        for (; i < x->n; i += x->s) {
            ADD;
        }
        return sum ^ i << 8;
    case 8:
        for (; i < x->n; i += x->s) {
            ADD;
            sum ^= i + x->s < x->n ? 5 : 0;
        }
        return sum;
    case 9:
        for (cl_ulong k = x->a; k < x->n; k += x->s) {
            for (i = k; i < k + (k & 3); i++) {
                ADD;
            }
        }
        return sum;
    case 10:
        for (i = 0xffffff80; i < x->n; i += 7) {
            ADD;
        }
        return sum;
    case 11: return up(x, 0xfffffff0, 1);
    case 12:
        do {
            ADD;
            i++;
        } while (i < x->n);
        return sum;
    case 13:
        do {
            ADD;
            i += x->s;
        } while (i < x->n);
        return sum;
    case 14: case 15: {
        int k = 0;
        for (i += which == 14 ? x->s : 0; i < (cl_ulong)x->n + (which == 14 ? 0 : x->s) && k <= 50; k++) {
            ADD;
            i += which == 14 ? 1 : x->s;
        }
        return sum;
    }
    case 16: {
        cl_uint e = x->n;
        for (; i < e; i += x->s) {
            ADD;
            e -= i & 1;
        }
        return sum;
    }
    case 17: {
        cl_uint e = (x->s & 63) | 1;
        for (; i < x->n; i += e) {
            ADD;
            e += i & 3;
        }
        return sum;
    }
    case 18: return up(x, id, ITEMS);
    case 19: {
        const cl_uint most = x->n > 100 ? x->n - 100 : 0;
        int more;
        do {
            sum += in[id & 1023];
            more = (cl_uint)id < most;
            id = (cl_uint)(id + ITEMS);
        } while (more);
        return sum & UINT32_MAX;
    }
    default:
        for (i = id; i < x->n; i += ITEMS) {
            sum += in[i & 1023];
        }
        return sum & UINT32_MAX;
    }
}

static const char *const names[] = {"up", "one", "zero", "threes", "last", "leave", "skip", "behind", "ahead", "nested",
                                    "fixed", "brim", "once", "out_of", "sums", "far", "drift", "wider", "items",
                                    "others", "loads"};

/** Arguments with few rounds: a below n, or not, and n up to 2^32 - 1. */
static struct arguments draw(void)
{
    const uint32_t r = clt_random(&seed);
    struct arguments x = {.s = r & 1 ? 1 + clt_random(&seed) % 9 : clt_random(&seed) | 1};
    const cl_uint far = (cl_uint)(((cl_ulong)x.s * (clt_random(&seed) % ROUNDS_MAX)) & UINT32_MAX) % ROUNDS_MAX;
    x.n = r & 2 ? UINT32_MAX - clt_random(&seed) % 10 : r & 4 ? clt_random(&seed) % ROUNDS_MAX : clt_random(&seed);
    const cl_uint past = clt_random(&seed) % 3;
    x.a = r & 16                          ? UINT32_MAX - past
          : r & 8 && x.n < UINT32_MAX - 2 ? x.n + past
          : x.n < far                     ? 0
                                          : x.n - far;
    x.m = (cl_int)(clt_random(&seed) % ROUNDS_MAX);
    return x;
}

static void run(const char *name, const struct arguments *x, size_t offset)
{
    cl_kernel k = clCreateKernel(program, name, &clt_error);
    MADE(k);
    clt_args(k, 6, sizeof buffer, &buffer, sizeof result, &result, sizeof x->a, &x->a, sizeof x->n, &x->n, sizeof x->s,
             &x->s, sizeof x->m, &x->m);
    OK(clEnqueueNDRangeKernel(clt_queue, k, 1, &offset, &(size_t){ITEMS}, NULL, 0, NULL, NULL));
    OK(clFinish(clt_queue));
    OK(clReleaseKernel(k));
}

static void test_values(void **state)
{
    (void)state;
    for (unsigned long step = 0; step < steps; step++) {
        const struct arguments x = draw();
        const size_t most = x.n > UINT32_MAX - ITEMS ? UINT32_MAX - ITEMS : x.n, back = clt_random(&seed) % 2048;
        const size_t offset = most > back ? most - back : 0;
        for (unsigned k = 0; k < LENGTH(names); k++) {
            cl_ulong got[ITEMS];
            run(names[k], &x, offset);
            clt_read(result, got, sizeof got);
            for (unsigned i = 0; i < ITEMS; i++) {
                if (got[i] != expect(k, &x, offset + i)) {
                    fail_msg("%s with a = %u, n = %u, s = %u, m = %d, id %zu: %llu", names[k], x.a, x.n, x.s, x.m,
                             offset + i, (unsigned long long)got[i]);
                }
            }
        }
    }
}

/** Instructions of a kernel that makes many rounds. */
static cl_ulong cost(const char *name)
{
    const struct arguments x = {.n = 8192, .s = 1};
    const cl_ulong before = clt_instructions();
    run(name, &x, 0);
    return clt_instructions() - before;
}

static void test_cost(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {{"loads", "words"}, {"rows", "rows_of_words"}};
    for (unsigned i = 0; i < LENGTH(pairs); i++) {
        const cl_ulong size = cost(pairs[i][0]), word = cost(pairs[i][1]);
        printf("%s: %llu instructions, %s: %llu\n", pairs[i][0], (unsigned long long)size, pairs[i][1],
               (unsigned long long)word);
        assert_in_range(size, 1, word + word / 20);
    }
}

static int begin(void **state)
{
    const int error = clt_open(state);
    for (unsigned i = 0; i < WORDS && error == 0; i++) {
        in[i] = clt_random(&seed);
    }
    buffer = clt_buffer(sizeof in, in);
    result = clt_buffer(ITEMS * sizeof(cl_ulong), NULL);
    program = clt_build(source, "");
    return error;
}

static int end(void **state)
{
    OK(clReleaseMemObject(buffer));
    OK(clReleaseMemObject(result));
    OK(clReleaseProgram(program));
    return clt_close(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_cost),
    };
    seed = clt_seed(20261128, 40, &steps);
    return cmocka_run_group_tests(tests, begin, end);
}
