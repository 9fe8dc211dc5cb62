/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Random kernels (random_kernel.h) over random ranges, built in four ways: with default options, without coarsening,
 * without optimization, and with barriers in groups that are larger than an engine, whose work-items are merged. Some
 * kernels are straight; others have loops of the same number of rounds for all work-items; others have loops, branches,
 * switches, early returns, private arrays, calls and atomics. The results must be equal bit for bit, and the same lines
 * must be printed. The test also runs preempted (run_random_kernels_preempted).
 *
 * The seed is printed. TERN_TEST_SEED sets it, TERN_TEST_STEPS the number of programs (200 in the nightly tier). A
 * failure prints seed, range and kernel.
 */
#include "clt.h"
#include "random_kernel.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { KERNELS = 6, BYTES = RANDOM_ITEMS * RANDOM_OWN, WAYS = 4, GROUPS = 3 };

static const char *const ways[WAYS] = {"-cl-std=CL3.0", "-cl-std=CL3.0 -tern-no-coarsen",
                                       "-cl-std=CL3.0 -cl-opt-disable", "-cl-std=CL3.0 -DGROUPS"};

/** Amounts of work; smaller where each cycle is simulated. */
struct amount {
    unsigned long programs;
    unsigned ranges;      /* Ranges of each kernel. */
    size_t items[2];      /* Maximum work-items of a range: for kernels with loops, and for straight ones. */
};

static const struct amount whole = {.programs = 8, .ranges = 5, .items = {600, RANDOM_ITEMS}};
static const struct amount small = {.programs = 1, .ranges = 1, .items = {60, RANDOM_ITEMS / 8}};

static const struct amount *amount(void)
{
    return clt_on_rtl() ? &small : &whole;
}

struct result {
    uint8_t out[BYTES], io[BYTES];
    uint32_t counters[RANDOM_COUNTERS];
};

static struct {
    cl_mem out, io, in, reals, counters;
    uint8_t data[BYTES];
} device;

static void open_buffers(uint32_t *seed)
{
    static uint32_t words[RANDOM_WORDS];
    static float reals[RANDOM_WORDS];
    for (size_t i = 0; i < RANDOM_WORDS; i++) {
        words[i] = clt_random(seed) >> (clt_random(seed) % 4 == 0 ? clt_random(seed) % 32 : 0);
        reals[i] = (clt_random_float(seed) - 0.5f) * (clt_random(seed) % 4 == 0 ? 1e20f : 100.0f);
    }
    for (size_t i = 0; i < BYTES; i++) {
        device.data[i] = (uint8_t)clt_random(seed);
    }
    device.out = clt_buffer(BYTES, NULL);
    device.io = clt_buffer(BYTES, NULL);
    device.counters = clt_buffer(RANDOM_COUNTERS * 4, NULL);
    device.in = clt_buffer(sizeof words, words);
    device.reals = clt_buffer(sizeof reals, reals);
}

static void close_buffers(void)
{
    const cl_mem all[] = {device.out, device.io, device.in, device.reals, device.counters};
    for (size_t i = 0; i < LENGTH(all); i++) {
        OK(clReleaseMemObject(all[i]));
    }
}

/** Makes the range one of groups, of more work-items than an engine holds. `most`: work-items of the range; `group`: of
 *  a group. */
static void divide(uint32_t *state, size_t most, size_t group, struct random_range *r, size_t local[3])
{
    group = group <= most && clt_random(state) % 2 == 0 ? group : group / 2;
    r->dims = clt_random(state) % 3 + 1;
    for (unsigned d = 0; d < 3; d++) {
        const size_t part = group >> clt_random(state) % 6;
        local[d] = d + 1 == r->dims ? group : d < r->dims && part > 0 ? part : 1; /* the last one takes the rest */
        group /= local[d];
        r->global[d] = local[d];
        r->offset[d] = d < r->dims ? r->offset[d] : 0;
    }
    const size_t groups = most / (local[0] * local[1] * local[2]);
    r->global[clt_random(state) % r->dims] *= groups > 0 ? clt_random(state) % groups + 1 : 1;
}

/** Runs a kernel in groups of `local`, unless it is NULL or the kernel cannot. Returns whether it could. */
static unsigned run(cl_program p, const char *name, const struct random_range *r, const size_t *local, cl_long w,
                    struct result *result)
{
    size_t most = 0;
    const cl_uint zero = 0;
    cl_kernel k = clCreateKernel(p, name, &clt_error);
    MADE(k);
    OK(clEnqueueWriteBuffer(clt_queue, device.out, CL_FALSE, 0, BYTES, device.data, 0, NULL, NULL));
    OK(clEnqueueWriteBuffer(clt_queue, device.io, CL_FALSE, 0, BYTES, device.data, 0, NULL, NULL));
    OK(clEnqueueFillBuffer(clt_queue, device.counters, &zero, sizeof zero, 0, RANDOM_COUNTERS * 4, 0, NULL, NULL));
    clt_args(k, 9, ARG(device.out), ARG(device.io), ARG(device.io), ARG(device.in), ARG(device.reals),
             ARG(device.counters), ARG(r->n), ARG(r->m), ARG(w));
    OK(clGetKernelWorkGroupInfo(k, clt_device, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, NULL));
    local = local != NULL && local[0] * local[1] * local[2] <= most ? local : NULL;
    OK(clEnqueueNDRangeKernel(clt_queue, k, r->dims, r->offset, r->global, local, 0, NULL, NULL));
    clt_read(device.out, result->out, BYTES);
    clt_read(device.io, result->io, BYTES);
    clt_read(device.counters, result->counters, sizeof result->counters);
    OK(clReleaseKernel(k));
    return local != NULL;
}

/** Returns the first byte that differs, or n. */
static size_t difference(const void *a, const void *b, size_t n)
{
    size_t at = 0;
    while (at < n && ((const uint8_t *)a)[at] == ((const uint8_t *)b)[at]) {
        at++;
    }
    return at;
}

static void compare(const struct result *a, const struct result *b, const char *way, const struct random_range *r,
                    uint32_t seed, unsigned kernel, const char *text)
{
    static const char *const names[] = {"out", "io", "counters"};
    const void *const left[] = {a->out, a->io, a->counters}, *const right[] = {b->out, b->io, b->counters};
    const size_t sizes[] = {BYTES, BYTES, sizeof a->counters};
    for (size_t i = 0; i < LENGTH(names); i++) {
        const size_t at = difference(left[i], right[i], sizes[i]);
        if (at < sizes[i]) {
            printf("%s%s", random_kernel_head, text);
            fail_msg("kernel k%u over %zu x %zu x %zu from (%zu, %zu, %zu), n %u, m %u, with '%s': byte %zu of %s is "
                     "0x%02x, without options 0x%02x\nagain: TERN_TEST_SEED=%u TERN_TEST_STEPS=1", kernel,
                     r->global[0], r->global[1], r->global[2], r->offset[0], r->offset[1], r->offset[2], r->n, r->m,
                     way, at, names[i], ((const uint8_t *)right[i])[at], ((const uint8_t *)left[i])[at], seed);
        }
    }
}

/** Returns how often a binary of the program contains the mark of a property of kernels. */
static unsigned coarsened(cl_program p, const char *mark)
{
    size_t size;
    unsigned char *binary;
    unsigned n = 0;
    OK(clGetProgramInfo(p, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL));
    binary = malloc(size);
    assert_non_null(binary);
    OK(clGetProgramInfo(p, CL_PROGRAM_BINARIES, sizeof binary, (void *)&binary, NULL));
    const size_t length = strlen(mark);
    for (size_t at = 0; at + length <= size; at++) {
        n += memcmp(binary + at, mark, length) == 0;
    }
    free(binary);
    return n;
}

/** How many kernels are coarsened, how many of them run in tiles, and how often work-items were merged. */
struct seen {
    unsigned coarse, tiles, merged;
};

/** Runs one program with kernels of all kinds over a few ranges each. Adds to *seen. */
static void test_program(uint32_t seed, struct seen *seen)
{
    static char texts[KERNELS][RANDOM_SOURCE], source[KERNELS * RANDOM_SOURCE + 4096];
    static struct result results[WAYS];
    uint32_t state = seed;
    size_t group = 0;
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof group, &group, NULL));
    cl_program programs[WAYS];
    size_t length = (size_t)snprintf(source, sizeof source, "%s", random_kernel_head);
    for (unsigned k = 0; k < KERNELS; k++) {
        char name[16];
        snprintf(name, sizeof name, "k%u", k);
        state = random_kernel(state, name, (enum random_kind)(k % 3), texts[k]);
        length += (size_t)snprintf(source + length, sizeof source - length, "%s", texts[k]);
    }
    open_buffers(&state);
    for (unsigned way = 0; way < WAYS; way++) {
        programs[way] = clt_build(source, ways[way]);
    }
    for (unsigned k = 0; k < KERNELS * amount()->ranges; k++) {
        const unsigned kernel = k / amount()->ranges;
        const size_t most = amount()->items[kernel % 3 != 2];
        const bool divided = clt_random(&state) % 4 == 0 && most >= group / 2;
        struct random_range r = random_range(&state, most);
        size_t local[3];
        if (divided) {
            divide(&state, most, group, &r, local);
        }
        const cl_long w = (cl_long)(int32_t)clt_random(&state) * 12345;
        char name[16];
        snprintf(name, sizeof name, "k%u", kernel);
        for (unsigned way = 0; way < WAYS; way++) {
            const size_t *groups = divided && way == GROUPS ? local : NULL;
            seen->merged += run(programs[way], name, &r, groups, w, &results[way]);
            if (way > 0) {
                compare(&results[0], &results[way], ways[way], &r, seed, kernel, texts[kernel]);
            }
        }
    }
    seen->coarse += coarsened(programs[0], "\"coarse\":");
    seen->tiles += coarsened(programs[0], "\"tile\":");
    assert_int_equal(coarsened(programs[1], "\"coarse\":"), 0);
    for (unsigned way = 0; way < WAYS; way++) {
        OK(clReleaseProgram(programs[way]));
    }
    close_buffers();
}

/** Returns the seed of program i. The first program's seed is the given one, so that any program can be run alone. */
static uint32_t seed_of(uint32_t seed, unsigned long i)
{
    const uint32_t s = seed + (uint32_t)i * 2654435761u;
    return s != 0 ? s : 1; /* The generator gives only zeros from seed 0. */
}

static void test_random(void **state)
{
    (void)state;
    unsigned long steps;
    const uint32_t seed = clt_seed(20261124, amount()->programs, &steps);
    struct seen seen = {0};
    for (unsigned long i = 0; i < steps; i++) {
        test_program(seed_of(seed, i), &seen);
    }
    printf("%u of %lu kernels were coarsened, %u of them in tiles; merged were %u of %lu ranges\n", seen.coarse,
           steps * KERNELS, seen.tiles, seen.merged, steps * KERNELS * amount()->ranges);
    /* With fewer coarsened kernels the test would compare nothing. */
    assert_true(steps < 8 || (seen.coarse > steps * KERNELS / 6 && seen.tiles > steps * KERNELS / 20 &&
                              seen.merged > steps * KERNELS * amount()->ranges / 16));
}

/** Runs a kernel that prints, with standard output redirected to a file. Returns the number of lines, and them as
 * numbers x + 16 y. */
static size_t printed(const char *options, const struct random_range *r, cl_mem out, uint32_t numbers[RANDOM_ITEMS])
{
    static const char source[] =
        "kernel void p(global uint *out, uint n) { uint x = get_global_id(0), y = get_global_id(1);"
        "    if (x < n) { out[y * get_global_size(0) + x] = x; if (x % 7u == 0) printf(\"%u\\n\", x * 16u + y); } }";
    cl_program p = clt_build(source, options);
    cl_kernel k = clCreateKernel(p, "p", &clt_error);
    MADE(k);
    clt_args(k, 2, ARG(out), ARG(r->n));
    FILE *file = tmpfile();
    assert_non_null(file);
    fflush(stdout);
    const int before = dup(STDOUT_FILENO);
    assert_true(before >= 0 && dup2(fileno(file), STDOUT_FILENO) >= 0);
    OK(clEnqueueNDRangeKernel(clt_queue, k, r->dims, NULL, r->global, NULL, 0, NULL, NULL));
    OK(clFinish(clt_queue));
    fflush(stdout);
    assert_true(dup2(before, STDOUT_FILENO) >= 0);
    close(before);
    rewind(file);
    size_t n = 0;
    char line[64];
    while (n < RANDOM_ITEMS && fgets(line, sizeof line, file) != NULL) {
        numbers[n++] = (uint32_t)strtoul(line, NULL, 10);
    }
    fclose(file);
    OK(clReleaseKernel(k));
    OK(clReleaseProgram(p));
    return n;
}

/** Each work-item that shall print does so once. */
static void test_printf(void **state)
{
    (void)state;
    static uint32_t numbers[RANDOM_ITEMS];
    static uint8_t times[RANDOM_ITEMS * 16];
    const struct random_range r = {.dims = 2, .global = {1001, 2, 1}, .n = 990};
    cl_mem out = clt_buffer(BYTES * 4, NULL);
    for (unsigned way = 0; way < WAYS; way++) {
        const size_t n = printed(ways[way], &r, out, numbers);
        memset(times, 0, sizeof times);
        for (size_t i = 0; i < n; i++) {
            assert_in_range(numbers[i], 0, sizeof times - 1);
            times[numbers[i]]++;
        }
        for (uint32_t i = 0; i < sizeof times; i++) {
            assert_int_equal(times[i], i / 16 < r.n && i / 16 % 7 == 0 && i % 16 < 2);
        }
    }
    OK(clReleaseMemObject(out));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_printf),
    };
    return cmocka_run_group_tests(tests, clt_open, clt_close);
}
