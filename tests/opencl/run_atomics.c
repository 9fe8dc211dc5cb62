/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Atomic functions: every form of each, on each type of atomic object. Objects lie in global and local memory and are
 * also accessed by generic pointers. Operands have every arithmetic type. All calls must compile, and results and
 * objects are compared. Objects of other types are refused, since the operation would change 32 or 64 bits.
 */
#include "clt.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { FIRST = 12, OPERAND = 5 };

#define HEAD "kernel void k%u(global int *r, global void *g, local void *l) {\n"

static const char *const operands[] = {"char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "float",
                                       "double", "bool", "size_t", "ptrdiff_t", "intptr_t", "uintptr_t"};
static const char *const objects[] = {"atomic_int", "atomic_uint", "atomic_intptr_t", "atomic_uintptr_t",
                                      "atomic_size_t", "atomic_ptrdiff_t", "atomic_long", "atomic_ulong",
                                      "atomic_float", "atomic_double"};
enum { OBJECTS = LENGTH(objects), FLOAT_OBJECT = OBJECTS - 2 };
static const char *const spaces[] = {"global", "local", ""};

/** Kinds of functions, which `after` distinguishes by the new value of an object that held FIRST. */
enum kind { LOAD, STORE, EXCHANGE, ADD, SUB, AND, OR, XOR, MIN, MAX, COMPARE };

static const struct {
    const char *legacy, *name; /**< The name in OpenCL C 1.x after "atomic_", and the name in 3.0. */
    enum kind kind;
} functions[] = {
    {NULL, "load", LOAD},           {NULL, "store", STORE},         {"xchg", "exchange", EXCHANGE},
    {"add", "fetch_add", ADD},      {"sub", "fetch_sub", SUB},      {"and", "fetch_and", AND},
    {"or", "fetch_or", OR},         {"xor", "fetch_xor", XOR},      {"min", "fetch_min", MIN},
    {"max", "fetch_max", MAX},      {"cmpxchg", "compare_exchange_strong", COMPARE},
    {NULL, "compare_exchange_weak", COMPARE},
};

/** Returns an object's value after the call. boolean: the operand has type bool, so its value is 1. */
static int after(enum kind kind, bool boolean)
{
    const int operand = boolean ? 1 : OPERAND;
    switch (kind) {
    case LOAD: return FIRST;
    case STORE: case EXCHANGE: case COMPARE: return operand;
    case ADD: return FIRST + operand;
    case SUB: return FIRST - operand;
    case AND: return FIRST & operand;
    case OR: return FIRST | operand;
    case XOR: return FIRST ^ operand;
    case MIN: return operand;
    default: return FIRST;
    }
}

/** The type of an object's value. */
static const char *value_type(const char *object)
{
    const char *name = object + strlen("atomic_");
    const bool is_plain = strstr(name, "_t") == NULL;
    return is_plain ? name : strchr(name, 'u') || strstr(name, "size") ? "ulong" : "long";
}

/** True: the object has 64 bits. */
static bool is_wide(const char *object)
{
    const char *type = value_type(object);
    return strstr(type, "long") != NULL || strcmp(type, "double") == 0;
}

/** Writes one call in its form 0, 1 or 2. r[*n] receives the function's result, the next element the object's value. */
static void write_call(FILE *f, size_t function, unsigned form, size_t object, const char *operand, unsigned *n)
{
    static const char *const orders[] = {"relaxed", "acquire", "release", "acq_rel", "seq_cst"};
    const enum kind kind = functions[function].kind;
    /* A load has no release order, a store no acquire order. */
    const char *order = orders[kind == LOAD ? *n % 2 : kind == STORE ? *n % 2 * 2 : *n % LENGTH(orders)];
    char give[64] = "";
    if (kind != LOAD) {
        snprintf(give, sizeof give, ", (%s)%d", operand, OPERAND);
    }
    fprintf(f, "{ %s e = %d; ", value_type(objects[object]), FIRST);
    fprintf(f, "atomic_init(p, (%s)1); atomic_store(p, %d); %satomic_%s%s(p%s%s", operand, FIRST,
            kind == STORE ? "" : "int old = ", functions[function].name, form == 0 ? "" : "_explicit",
            kind == COMPARE ? ", &e" : "", give);
    if (form > 0) {
        fprintf(f, ", memory_order_%s", order);
        fprintf(f, kind == COMPARE ? ", memory_order_relaxed" : "");
    }
    fprintf(f, form == 2 ? ", memory_scope_device" : "");
    fprintf(f, "); r[%u] = %s; r[%u] = atomic_load(p); }\n", *n, kind == STORE ? "12" : "old", *n + 1);
    *n += 2;
}

/** Runs the kernels k0, k1 ..., which together write n results, and compares these. */
static void run(const char *source, const char *options, unsigned n_kernels, unsigned n, const int *want)
{
    cl_program program = clt_build(source, options);
    cl_mem result = clt_buffer(n * sizeof(int), NULL), object = clt_buffer(64, NULL);
    int *got = malloc(n * sizeof(int));
    assert_non_null(got);
    for (unsigned i = 0; i < n_kernels; i++) {
        char name[16];
        snprintf(name, sizeof name, "k%u", i);
        cl_kernel k = clCreateKernel(program, name, &clt_error);
        MADE(k);
        clt_args(k, 3, ARG(result), ARG(object), LOCAL(64));
        clt_run(k, 1, 1);
        OK(clReleaseKernel(k));
    }
    clt_read(result, got, n * sizeof(int));
    for (unsigned i = 0; i < n; i++) {
        if (got[i] != want[i]) {
            fail_msg("result %u is %d instead of %d in\n%.20000s", i, got[i], want[i], source);
        }
    }
    free(got);
    OK(clReleaseMemObject(result));
    OK(clReleaseMemObject(object));
    OK(clReleaseProgram(program));
}

static int want[8192];

static void expect(unsigned n, enum kind kind, const char *operand)
{
    want[n] = kind == COMPARE ? 1 : FIRST;
    want[n + 1] = after(kind, strcmp(operand, "bool") == 0);
}

static void test_function(size_t function)
{
    const enum kind kind = functions[function].kind;
    char *source = NULL;
    size_t length = 0;
    unsigned n = 0, n_kernels = 0;
    FILE *f = open_memstream(&source, &length);
    assert_non_null(f);
    for (size_t object = 0; object < OBJECTS; object++) {
        for (size_t space = 0; space < LENGTH(spaces); space++) {
            if (strstr(objects[object], "_t") != NULL && space != (object + function) % LENGTH(spaces)) {
                continue; /* The type is another name of long or ulong. */
            }
            fprintf(f, HEAD "volatile %s %s *p = (%s %s *)%s;\n", n_kernels++, spaces[space],
                    objects[object], spaces[space], objects[object], space == 0 ? "g" : "l");
            for (size_t i = 0; i < 3 * LENGTH(operands); i++) {
                const char *operand = operands[i / 3];
                if (object >= FLOAT_OBJECT && (kind == AND || kind == OR || kind == XOR)) {
                    continue;
                }
                if (is_wide(objects[object]) && i % 3 != (i / 3 + object) % 3) {
                    continue; /* Their code is long, so each operand has one form. */
                }
                assert_true(n + 2 <= LENGTH(want));
                expect(n, kind, operand);
                write_call(f, function, (unsigned)i % 3, object, operand, &n);
            }
            fprintf(f, "}\n");
        }
    }
    assert_int_equal(fclose(f), 0);
    run(source, "-cl-std=CL3.0", n_kernels, n, want);
    free(source);
}

static void test_functions(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(functions); i++) {
        test_function(i);
    }
}

/** The functions of OpenCL C 1.x under both prefixes, in each language version. */
static void test_legacy(const char *options, bool has_atomic)
{
    char *source = NULL;
    size_t length = 0;
    unsigned n = 0, n_kernels = 0;
    FILE *f = open_memstream(&source, &length);
    assert_non_null(f);
    for (size_t i = 0; i < LENGTH(functions); i++) {
        fprintf(f, HEAD, n_kernels++);
        for (size_t operand = 0; operand < LENGTH(operands) && functions[i].legacy != NULL; operand++) {
            for (unsigned way = 0; way < (has_atomic ? 12u : 8u); way++) {
                /* ways 0 to 7 have the prefix atom_, which is the only one of long and ulong */
                static const char *const types[] = {"int", "uint", "long", "ulong"};
                const char *type = types[way / 8 ? way & 1 : (way & 1) + way / 4 * 2];
                const char *space = way & 2 ? "local" : "global";
                assert_true(n + 2 <= LENGTH(want));
                want[n] = FIRST;
                want[n + 1] = after(functions[i].kind, strcmp(operands[operand], "bool") == 0);
                fprintf(f, "{ volatile %s %s *p = (%s %s *)%s; *p = %d; r[%u] = %s%s(p%s, (%s)%d); r[%u] = *p; }\n",
                        space, type, space, type, way & 2 ? "l" : "g", FIRST, n, way & 8 ? "atomic_" : "atom_",
                        functions[i].legacy, functions[i].kind == COMPARE ? ", (short)12" : "", operands[operand],
                        OPERAND, n + 1);
                n += 2;
            }
        }
        fprintf(f, "}\n");
    }
    assert_int_equal(fclose(f), 0);
    run(source, options, n_kernels, n, want);
    free(source);
}

static void test_legacies(void **state)
{
    (void)state;
    test_legacy("-cl-std=CL1.0", false);
    test_legacy("", true);
    test_legacy("-cl-std=CL3.0", true);
}

/** Increment and decrement, which have no operand, and the exchange of floats. */
static void test_others(void **state)
{
    (void)state;
    const int wanted[] = {FIRST, FIRST + 1, FIRST + 1, FIRST, FIRST, OPERAND, FIRST, 7, 0, -1, -1, 1, -1, 0};
    run("kernel void k0(global int *r, global int *g, local uint *l) {\n"
        "*g = *l = 12; r[0] = atomic_inc(g); r[1] = atom_dec(g) ; *l = 13; r[2] = atomic_dec(l); r[3] = atom_inc(l);\n"
        "global float *f = (global float *)g; *f = 12; r[4] = atomic_xchg(f, 5); r[5] = *f;\n"
        "local float *h = (local float *)l; *h = 12; r[6] = atomic_xchg(h, (char)7); r[7] = atomic_xchg(h, 1l);\n"
        "global long *w = (global long *)g; *w = 0xffffffffl; r[8] = atom_inc(w) >> 32;\n"
        "r[9] = atom_dec(w) >> 32 ? -1 : 0; r[10] = (int)*w;\n"
        "local ulong *x = (local ulong *)l; *x = 0; atom_dec(x); r[11] = *x == ~0ul; r[12] = atom_inc(x);\n"
        "r[13] = *x != 0; }\n",
        "", 1, 14, wanted);
}

/** Builds a program that must be refused, with a build log that gives this reason n times, once for each call. */
static void refused(const char *source, const char *options, const char *reason, unsigned n)
{
    static char log[1 << 18];
    unsigned found = 0;
    cl_program p = clCreateProgramWithSource(clt_context, 1, &source, NULL, &clt_error);
    MADE(p);
    FAILS(clBuildProgram(p, 0, NULL, options, NULL, NULL), CL_BUILD_PROGRAM_FAILURE);
    OK(clGetProgramBuildInfo(p, clt_device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL));
    for (const char *at = log; (at = strstr(at, reason)) != NULL; at += strlen(reason)) {
        found++;
    }
    if (found != n) {
        fail_msg("%s: '%s' is %u times in the log instead of %u times:\n%s", source, reason, found, n, log);
    }
    OK(clReleaseProgram(p));
}

static const char unavailable[] = "is unavailable: this atomic operation is on ";

/** All functions on one type of object, in global or local memory. */
static void refuse_type(const char *type, unsigned way)
{
    static const char *const legacies[] = {"add(p, 1)", "sub(p, 1u)", "xchg(p, 1)", "inc(p)", "dec(p)",
                                           "cmpxchg(p, 1, 2)", "min(p, 1l)", "max(p, (ulong)1)", "and(p, (char)1)",
                                           "or(p, 1.0f)", "xor(p, true)"};
    const bool is_long = strcmp(type, "long") == 0 || strcmp(type, "ulong") == 0; /* which has the functions atom_... */
    char source[4096];
    size_t at = (size_t)snprintf(source, sizeof source, "kernel void k(%s %s *p) {",
                                way % 2 ? "global" : "local", type);
    for (size_t i = 0; i < LENGTH(legacies); i++) {
        const bool is_short = (i + way) % 2 && !is_long;
        at += (size_t)snprintf(source + at, sizeof source - at, " %s%s;", is_short ? "atom_" : "atomic_", legacies[i]);
    }
    snprintf(source + at, sizeof source - at, " }");
    refused(source, way % 3 ? "" : "-cl-std=CL3.0", unavailable, LENGTH(legacies));
    at = (size_t)snprintf(source, sizeof source, "kernel void k(%s %s *p) { %s e;", way % 2 ? "global" : "local", type,
                          type);
    for (size_t i = 0; i < LENGTH(functions); i++) {
        const enum kind kind = functions[i].kind;
        const bool is_explicit = (i + way) % 3 != 0;
        at += (size_t)snprintf(source + at, sizeof source - at, " atomic_%s%s(p%s%s%s%s);", functions[i].name,
                               is_explicit ? "_explicit" : "", kind == COMPARE ? ", &e" : "", kind == LOAD ? "" : ", 1",
                               !is_explicit ? "" : kind == COMPARE ? ", memory_order_relaxed, memory_order_relaxed"
                                                                   : ", memory_order_relaxed",
                               is_explicit && (i + way) % 3 == 2 ? ", memory_scope_device" : "");
    }
    snprintf(source + at, sizeof source - at, " }");
    refused(source, "-cl-std=CL3.0", unavailable, LENGTH(functions));
}

static void test_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {"long", "ulong", "double", "short", "uchar", "int2", "ulong4"};
    for (unsigned way = 0; way < 3 * LENGTH(wrong); way++) {
        refuse_type(wrong[way / 3], way);
    }
    refused("kernel void k(global atomic_float *p) { atomic_fetch_or(p, 1.0f); }", "-cl-std=CL3.0", unavailable, 1);
    refused("kernel void k(global atomic_float *p) { atomic_fetch_add(p, 1.0f); }", "-cl-std=CL2.0", unavailable, 1);
    refused("kernel void k(global atomic_half *p) { atomic_load(p); }", "-cl-std=CL3.0", unavailable, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions), cmocka_unit_test(test_legacies), cmocka_unit_test(test_others),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, clt_open, clt_close);
}
