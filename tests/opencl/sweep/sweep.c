/* SPDX-License-Identifier: Apache-2.0 */
/** Runs the cases of a sweep on the device (sweep.h). */
#include "sweep.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BATCH = 16, SHOWN = 6 };
enum { GRAIN = 48 }; /* A multiple of every width. */
enum { CHUNK = 1 << 18 }; /* Arguments of a range that run at once. */

static const unsigned widths[] = {1, 2, 3, 4, 8, 16};

/** The combinations of a case: inputs[k][i] for i < n, where n is a multiple of GRAIN. */
struct combinations {
    union sweep_value *inputs[3];
    size_t n;
};

static unsigned long setting(const char *name, unsigned long otherwise)
{
    const char *s = getenv(name);
    return s == NULL ? otherwise : strtoul(s, NULL, 0);
}

static unsigned count_of(const enum sweep_type *types, unsigned most)
{
    unsigned n = 0;
    while (n < most && types[n] != SWEEP_NONE) {
        n++;
    }
    return n;
}

bool sweep_is_range(void)
{
    return getenv("TERN_SWEEP_RANGE") != NULL;
}

static union sweep_value unpack(enum sweep_type t, const void *from, size_t i);

/** Returns n values with consecutive bit patterns from `first` on, of a type of at most 32 bits. The last value is
 * repeated up to a multiple of GRAIN. */
static struct combinations patterns(enum sweep_type t, uint64_t first, size_t n)
{
    struct combinations made = {.n = (n + GRAIN - 1) / GRAIN * GRAIN};
    made.inputs[0] = malloc(made.n * sizeof(union sweep_value));
    assert_non_null(made.inputs[0]);
    for (size_t i = 0; i < made.n; i++) {
        const uint64_t bits = first + (i < n ? i : n - 1); /* The host is little-endian, so the low bytes are used. */
        made.inputs[0][i] = unpack(t, &bits, 0);
    }
    return made;
}

/** Returns the corner values of half, and every 23rd of all halves. */
static struct combinations some_halves(void)
{
    enum { STEP = 23, SOME = ((1 << 16) / STEP + SWEEP_MOST_CORNERS + GRAIN) / GRAIN * GRAIN };
    struct combinations made = {.n = SOME};
    union sweep_value corners[SWEEP_MOST_CORNERS];
    const size_t n = sweep_corners(SWEEP_HALF, false, corners);
    made.inputs[0] = malloc(SOME * sizeof(union sweep_value));
    assert_non_null(made.inputs[0]);
    for (size_t i = 0; i < SOME; i++) {
        const uint16_t bits = (uint16_t)((i - n) * STEP);
        made.inputs[0][i] = i < n ? corners[i] : unpack(SWEEP_HALF, &bits, 0);
    }
    return made;
}

static struct combinations combine(const struct sweep_case *c, uint32_t *seed)
{
    union sweep_value corners[3][SWEEP_MOST_CORNERS];
    size_t each[3] = {1, 1, 1};
    const unsigned inputs = count_of(c->in, 3);
    if (inputs == 1 && c->in[0] == SWEEP_HALF && getenv("TERN_SWEEP") == NULL) {
        return some_halves();
    }
    if (inputs == 1 && sweep_sizes[c->in[0]] <= 2) {
        return patterns(c->in[0], 0, (size_t)1 << 8 * sweep_sizes[c->in[0]]);
    }
    for (unsigned k = 0; k < inputs; k++) {
        each[k] = sweep_corners(c->in[k], inputs == 3, corners[k]);
    }
    const size_t product = each[0] * each[1] * each[2], wanted = product + setting("TERN_SWEEP", 96);
    struct combinations made = {.n = (wanted + GRAIN - 1) / GRAIN * GRAIN};
    for (unsigned k = 0; k < inputs; k++) {
        made.inputs[k] = malloc(made.n * sizeof(union sweep_value));
        assert_non_null(made.inputs[k]);
    }
    for (size_t i = 0; i < made.n; i++) {
        const size_t at[3] = {i % each[0], i / each[0] % each[1], i / each[0] / each[1] % each[2]};
        const bool mixed = (i & 1) != 0; /* Every second combination mixes corners with random values. */
        if (inputs == 1 && i >= product && mixed) { /* The values of a single argument cover all bit patterns evenly. */
            made.inputs[0][i] = sweep_part(c->in[0], i - product, made.n - product, seed);
            continue;
        }
        for (unsigned k = 0; k < inputs; k++) {
            const bool corner = i < product || (mixed && inputs > 1 && clt_random(seed) % 3 == 0);
            const size_t which = i < product ? at[k] : clt_random(seed) % each[k];
            made.inputs[k][i] = corner ? corners[k][which] : sweep_random(c->in[k], seed);
        }
    }
    return made;
}

/** Appends the kernel of a case for one width to text. */
static void write_kernel(FILE *text, const struct sweep_case *c, unsigned number, unsigned width)
{
    const unsigned inputs = count_of(c->in, 3), outputs = count_of(c->out, 2);
    char suffix[12] = "";
    if (width > 1) {
        snprintf(suffix, sizeof suffix, "%u", width);
    }
    fprintf(text, "kernel void k%u_%u(", number, width);
    for (unsigned k = 0; k < inputs; k++) {
        fprintf(text, "global const %s *in%u, ", sweep_names[c->in[k]], k);
    }
    for (unsigned k = 0; k < outputs; k++) {
        fprintf(text, "global %s *out%u%s", sweep_names[c->out[k]], k,
                k + 1 < outputs ? ", " : ") { size_t i = get_global_id(0); ");
    }
    for (unsigned k = 0; k < inputs; k++) {
        const char *type = sweep_names[c->in[k]];
        if (width == 1 || c->scalar >> k & 1) {
            fprintf(text, "%s %c = in%u[i * %u]; ", type, 'a' + (int)k, k, width);
        } else {
            fprintf(text, "%s%s %c = vload%s(i, in%u); ", type, suffix, 'a' + (int)k, suffix, k);
        }
    }
    for (unsigned k = 0; k < outputs; k++) {
        fprintf(text, "%s%s %c; ", sweep_names[c->out[k]], suffix, 'r' + (int)k);
    }
    for (const char *p = c->code; *p != 0; p++) { /* '#' stands for the width. */
        if (*p == '#') {
            fputs(suffix, text);
        } else {
            fputc(*p, text);
        }
    }
    for (unsigned k = 0; k < outputs; k++) {
        if (width == 1) {
            fprintf(text, " out%u[i] = %c;", k, 'r' + (int)k);
        } else {
            fprintf(text, " vstore%s(%c, i, out%u);", suffix, 'r' + (int)k, k);
        }
    }
    fputs(" }\n", text);
}

static void *pack(enum sweep_type t, const union sweep_value *from, size_t n)
{
    const size_t size = sweep_sizes[t]; /* The host is little-endian, so the low bytes come first. */
    unsigned char *to = malloc(n * size);
    assert_non_null(to);
    for (size_t i = 0; i < n; i++) {
        const _Float16 h = (_Float16)from[i].f;
        memcpy(to + i * size, t == SWEEP_HALF ? (const void *)&h : (const void *)&from[i], size);
    }
    return to;
}

static union sweep_value unpack(enum sweep_type t, const void *from, size_t i)
{
    switch (t) {
    case SWEEP_CHAR:
        return (union sweep_value){.i = ((const int8_t *)from)[i]};
    case SWEEP_UCHAR:
        return (union sweep_value){.u = ((const uint8_t *)from)[i]};
    case SWEEP_SHORT:
        return (union sweep_value){.i = ((const int16_t *)from)[i]};
    case SWEEP_USHORT:
        return (union sweep_value){.u = ((const uint16_t *)from)[i]};
    case SWEEP_INT:
        return (union sweep_value){.i = ((const int32_t *)from)[i]};
    case SWEEP_HALF:
        return (union sweep_value){.f = (float)((const _Float16 *)from)[i]};
    case SWEEP_UINT:
    case SWEEP_FLOAT:
        return (union sweep_value){.u = ((const uint32_t *)from)[i]};
    default:
        return (union sweep_value){.u = ((const uint64_t *)from)[i]};
    }
}

static void show(enum sweep_type t, union sweep_value v)
{
    if (sweep_is_float(t)) {
        printf("%a", sweep_number(t, v));
    } else if (t == SWEEP_ULONG) {
        printf("%llu", (unsigned long long)v.u);
    } else {
        printf("%lld", (long long)v.i);
    }
}

static void show_wrong(const struct sweep_case *c, unsigned width, const union sweep_value in[3],
                       const union sweep_value got[2], const union sweep_value expected[2], double error)
{
    printf("  %s [%s, width %u]:", c->name, c->code, width);
    for (unsigned k = 0; k < count_of(c->in, 3); k++) {
        printf(" %c = (%s) ", 'a' + (int)k, sweep_names[c->in[k]]);
        show(c->in[k], in[k]);
    }
    for (unsigned k = 0; k < count_of(c->out, 2); k++) {
        printf(", %c = (%s) ", 'r' + (int)k, sweep_names[c->out[k]]);
        show(c->out[k], got[k]);
        printf(" instead of ");
        show(c->out[k], expected[k]);
    }
    printf(", error %.3g\n", error);
}

/** Compares the results of one form and returns how many are wrong. */
static size_t compare(const struct sweep_case *c, unsigned width, const struct combinations *data,
                      void *const results[2], double *worst)
{
    size_t wrong = 0;
    for (size_t i = 0; i < data->n; i++) {
        union sweep_value in[3] = {{.u = 0}}, got[2] = {{.u = 0}}, expected[2] = {{.u = 0}};
        for (unsigned k = 0; k < count_of(c->in, 3); k++) {
            in[k] = data->inputs[k][c->scalar >> k & 1 ? i / width * width : i];
        }
        for (unsigned k = 0; k < count_of(c->out, 2); k++) {
            got[k] = unpack(c->out[k], results[k], i);
        }
        const double error = c->check(c, width, in, got, expected);
        *worst = error > *worst ? error : *worst;
        if (!(error <= c->bound) && wrong++ < SHOWN) {
            show_wrong(c, width, in, got, expected, error);
        }
    }
    return wrong;
}

/** Runs one form of a case. */
static size_t run_form(cl_kernel k, const struct sweep_case *c, unsigned width, const struct combinations *data,
                       double *worst)
{
    cl_mem buffers[5];
    void *results[2] = {NULL, NULL};
    cl_uint used = 0;
    for (unsigned i = 0; i < count_of(c->in, 3); i++, used++) {
        void *packed = pack(c->in[i], data->inputs[i], data->n);
        buffers[used] = clt_buffer(data->n * sweep_sizes[c->in[i]], packed);
        free(packed);
    }
    const unsigned outputs = count_of(c->out, 2), first = used;
    for (unsigned i = 0; i < outputs; i++, used++) {
        buffers[used] = clt_buffer(data->n * sweep_sizes[c->out[i]], NULL);
    }
    for (cl_uint i = 0; i < used; i++) {
        OK(clSetKernelArg(k, i, sizeof(cl_mem), &buffers[i]));
    }
    clt_run(k, data->n / width, 0);
    for (unsigned i = 0; i < outputs; i++) {
        results[i] = malloc(data->n * sweep_sizes[c->out[i]]);
        assert_non_null(results[i]);
        clt_read(buffers[first + i], results[i], data->n * sweep_sizes[c->out[i]]);
    }
    const size_t wrong = compare(c, width, data, results, worst);
    for (cl_uint i = 0; i < used; i++) {
        OK(clReleaseMemObject(buffers[i]));
    }
    free(results[0]);
    free(results[1]);
    return wrong;
}

/** A case runs in its scalar form and in one vector form, which differs from case to case. With TERN_SWEEP it runs in
 * all. */
static bool has_form(const struct sweep_case *c, size_t number, unsigned width_index)
{
    if (width_index == 0 || sweep_is_range()) {
        return width_index == 0;
    }
    return !c->no_vectors && (getenv("TERN_SWEEP") != NULL || 1 + number % 5 == width_index);
}

static size_t run_case(cl_program p, const struct sweep_case *c, size_t number, unsigned in_batch)
{
    uint32_t seed = (uint32_t)setting("TERN_SWEEP_SEED", 1) * 2654435761u + (uint32_t)number * 40503u + 1;
    struct combinations data = combine(c, &seed);
    size_t wrong = 0;
    double worst = 0;
    for (unsigned w = 0; w < LENGTH(widths); w++) {
        if (!has_form(c, number, w)) {
            continue;
        }
        char name[32];
        snprintf(name, sizeof name, "k%u_%u", in_batch, widths[w]);
        cl_kernel k = clCreateKernel(p, name, &clt_error);
        MADE(k);
        wrong += run_form(k, c, widths[w], &data, &worst);
        OK(clReleaseKernel(k));
    }
    if (wrong != 0 || getenv("TERN_SWEEP") != NULL) {
        printf("%s %s(%s): %zu combinations, worst error %.3g, bound %g: %zu wrong\n", sweep_names[c->out[0]], c->name,
               sweep_names[c->in[0]], data.n, worst, c->bound, wrong);
    }
    for (unsigned k = 0; k < 3; k++) {
        free(data.inputs[k]);
    }
    return wrong;
}

/** Returns the case's name as in TERN_SWEEP_CASE. */
static const char *label(const struct sweep_case *c)
{
    static char text[160];
    snprintf(text, sizeof text, "%s(%s): %s", c->name, sweep_names[c->in[0]], c->code);
    return text;
}

/** Runs the range of a case up to the first chunk with a wrong result. */
static size_t run_range(cl_program p, const struct sweep_case *c, unsigned in_batch)
{
    char *end, name[32];
    const uint64_t first = strtoull(getenv("TERN_SWEEP_RANGE"), &end, 0);
    const uint64_t count = *end == '+' ? strtoull(end + 1, NULL, 0) : 0;
    if (count == 0 || first >= 1ull << 32 || count > (1ull << 32) - first) {
        fail_msg("TERN_SWEEP_RANGE=%s is not FIRST+COUNT within 32 bits", getenv("TERN_SWEEP_RANGE"));
    }
    double worst = 0;
    size_t wrong = 0;
    uint64_t at = first, n;
    snprintf(name, sizeof name, "k%u_1", in_batch);
    cl_kernel k = clCreateKernel(p, name, &clt_error);
    MADE(k);
    for (; at < first + count && wrong == 0; at += n) {
        n = first + count - at < CHUNK ? first + count - at : CHUNK;
        struct combinations data = patterns(c->in[0], at, n);
        wrong = run_form(k, c, 1, &data, &worst);
        free(data.inputs[0]);
        if (wrong != 0) {
            printf("wrong: %zu; again: TERN_SWEEP_RANGE=0x%08llx+%llu TERN_SWEEP_CASE='%s'\n", wrong,
                   (unsigned long long)at, (unsigned long long)n, label(c));
        }
    }
    OK(clReleaseKernel(k));
    printf("range: 0x%08llx+%llu, worst error %.4g, bound %g: %s\n", (unsigned long long)first,
           (unsigned long long)(at - first), worst, c->bound, label(c));
    return wrong;
}

static size_t run_batch(const struct sweep_case *const *cases, const size_t *numbers, unsigned n, const char *options)
{
    char *source = NULL;
    size_t size = 0, wrong = 0;
    FILE *text = open_memstream(&source, &size);
    assert_non_null(text);
    fputs("#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n", text);
    for (unsigned i = 0; i < n; i++) {
        for (unsigned w = 0; w < LENGTH(widths); w++) {
            if (has_form(cases[i], numbers[i], w)) {
                write_kernel(text, cases[i], i, widths[w]);
            }
        }
    }
    fclose(text);
    cl_program p = clt_build(source, options);
    for (unsigned i = 0; i < n; i++) {
        wrong += sweep_is_range() ? run_range(p, cases[i], i) : run_case(p, cases[i], numbers[i], i);
    }
    OK(clReleaseProgram(p));
    free(source);
    return wrong;
}

static bool is_wanted(const struct sweep_case *c)
{
    const char *only = getenv("TERN_SWEEP_ONLY"), *one = getenv("TERN_SWEEP_CASE"), *range = getenv("TERN_SWEEP_RANGE");
    if ((only != NULL && strncmp(c->name, only, strlen(only)) != 0) || (one != NULL && strcmp(label(c), one) != 0)) {
        return false;
    }
    if (range != NULL && (count_of(c->in, 3) != 1 || sweep_sizes[c->in[0]] != 4)) {
        return false;
    }
    if (range != NULL && strcmp(range, "list") == 0) {
        printf("case: %s\n", label(c));
        return false;
    }
    return true;
}

void sweep_run(const struct sweep_case *cases, size_t n, const char *options)
{
    const struct sweep_case *batch[BATCH];
    size_t numbers[BATCH], wrong = 0;
    unsigned have = 0;
    for (size_t i = 0; i < n; i++) {
        if (is_wanted(&cases[i])) {
            batch[have] = &cases[i];
            numbers[have++] = i;
        }
        if (have == BATCH || (have > 0 && i + 1 == n)) {
            wrong += run_batch(batch, numbers, have, options);
            have = 0;
        }
    }
    if (wrong != 0 && sweep_is_range()) {
        fail_msg("%zu results are wrong", wrong);
    }
    if (wrong != 0) {
        fail_msg("%zu results are wrong; again: TERN_SWEEP_SEED=%lu%s%s with TERN_SWEEP_ONLY=<function>", wrong,
                 setting("TERN_SWEEP_SEED", 1), getenv("TERN_SWEEP") ? " TERN_SWEEP=" : "",
                 getenv("TERN_SWEEP") ? getenv("TERN_SWEEP") : "");
    }
}
