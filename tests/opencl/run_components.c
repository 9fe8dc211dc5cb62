/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Work-items of a group that write different components of one vector: no write loses another's. The components are
 * partitioned at random into forms (.x, .hi, .s20, [i], ...) of every size. Vectors have every element type and lie in
 * global, local and private memory, volatile or not, plain or in structures. Conditions, a switch or functions choose
 * the part. Kernels are optimized or not, and the work-items are of one warp or several.
 */
#include "clt.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 16, VECTORS = 4, PARTITIONS = 6 };

static const struct {
    const char *name;
    size_t size;
} types[] = {
    {"char", 1}, {"uchar", 1}, {"short", 2}, {"ushort", 2}, {"int", 4}, {"uint", 4}, {"float", 4}, {"long", 8},
    {"ulong", 8}, {"double", 8},
};
static const unsigned sizes[] = {2, 3, 4, 8, 16};

/** The components that one work-item writes, in this order: `n` of them, written as `text`. */
struct part {
    char text[32];
    unsigned n, at[MOST];
};

/** Parts that together contain each component once. */
struct partition {
    unsigned n;
    struct part parts[MOST];
};

static uint32_t seed = 1;

static void take(struct partition *p, const char *text, unsigned n, unsigned first, unsigned step)
{
    struct part *part = &p->parts[p->n++];
    snprintf(part->text, sizeof part->text, "%s", text);
    part->n = n;
    for (unsigned i = 0; i < n; i++) {
        part->at[i] = first + i * step;
    }
}

/** Adds parts of random components in random order, written by numbers or, where possible, by letters. */
static void take_random(struct partition *p, unsigned size)
{
    static const unsigned lengths[] = {1, 2, 3, 4, 8, 16};
    unsigned all[MOST];
    for (unsigned i = 0; i < size; i++) {
        const unsigned j = clt_random(&seed) % (i + 1);
        all[i] = all[j];
        all[j] = i;
    }
    for (unsigned done = 0; done < size;) {
        struct part *part = &p->parts[p->n++];
        unsigned n;
        do {
            n = lengths[clt_random(&seed) % LENGTH(lengths)];
        } while (n > size - done || (n == size && size > 2));
        const bool letters = size <= 4 && clt_random(&seed) % 2 == 0;
        int length = snprintf(part->text, sizeof part->text, letters ? "." : ".s");
        part->n = n;
        for (unsigned i = 0; i < n; i++) {
            part->at[i] = all[done++];
            part->text[length++] = letters ? "xyzw"[part->at[i]] : "0123456789abcdef"[part->at[i]];
        }
        part->text[length] = '\0';
    }
}

static void make_partition(struct partition *p, unsigned size, unsigned which)
{
    p->n = 0;
    if (which == 0) {
        for (unsigned i = 0; i < size; i++) {
            char text[20];
            snprintf(text, sizeof text, "[%u+z]", i); /* z is 0, which the compiler does not know. */
            take(p, text, 1, i, 1);
        }
    } else if (which == 1) {
        take(p, ".lo", (size + 1) / 2, 0, 1);
        take(p, ".hi", size / 2, (size + 1) / 2, 1);
    } else if (which == 2) {
        take(p, ".even", (size + 1) / 2, 0, 2);
        take(p, ".odd", size / 2, 1, 2);
    } else if (which == 3 && size >= 4) {
        take(p, ".lo.odd", size / 4, 1, 2);
        take(p, ".lo.even", size / 4, 0, 2);
        take(p, ".odd.hi", size / 4, size / 2 + 1, 2);
        take(p, ".even.hi", size / 4, size / 2, 2);
    } else {
        take_random(p, size);
    }
}

/** Returns the value that component c of vector v receives, which every type can represent. */
static int value_of(unsigned v, unsigned c)
{
    return (int)(v * MOST + c + 1);
}

enum space { GLOBAL, LOCAL_MEMORY, PRIVATE, SPACES };

/** Writes the statements of a part, for all vectors. */
static void write_part(FILE *f, const struct part *p, const char *type)
{
    fprintf(f, "for (int r = 0; r < %d; r++) p[r].s.v[1]%s = ", VECTORS, p->text);
    if (p->n > 1) {
        fprintf(f, "(%s%u)(", type, p->n);
    }
    for (unsigned i = 0; i < p->n; i++) {
        fprintf(f, "%s(%s)(r * %d + %u)", i == 0 ? "" : ", ", type, MOST, p->at[i] + 1);
    }
    fprintf(f, "%s;", p->n > 1 ? ")" : "");
}

/** `how` is 0 for conditions, 1 for a switch, 2 for functions. One work-item writes a private vector. */
static void write_body(FILE *f, const struct partition *p, const char *type, enum space space, unsigned how,
                       unsigned id)
{
    fprintf(f, how == 1 && space != PRIVATE ? "switch (c) {\n" : "");
    for (unsigned i = 0; i < p->n; i++) {
        if (space != PRIVATE) {
            fprintf(f, how == 1 ? "case %u: " : "if (c == %u) ", i);
        }
        if (how == 2) {
            fprintf(f, "f%u_%u(p, z);\n", id, i);
        } else {
            fprintf(f, "{ ");
            write_part(f, &p->parts[i], type);
            fprintf(f, how == 1 && space != PRIVATE ? " } break;\n" : " }\n");
        }
    }
    fprintf(f, how == 1 && space != PRIVATE ? "}\n" : "");
}

/** Writes the kernel k<id>, which writes vectors of `size` components. */
static void write_kernel(FILE *f, const struct partition *p, unsigned id, const char *type, unsigned size,
                         enum space space)
{
    const unsigned how = clt_random(&seed) % 3;
    const bool is_volatile = clt_random(&seed) % 2 == 0;
    static const char *const names[SPACES] = {"global", "local", "private"};
    char pointer[64];
    snprintf(pointer, sizeof pointer, "%s %s S%u", names[space], is_volatile ? "volatile" : "", size);
    for (unsigned i = 0; how == 2 && i < p->n; i++) {
        fprintf(f, "void f%u_%u(%s *p, int z) { ", id, i, pointer);
        write_part(f, &p->parts[i], type);
        fprintf(f, " }\n");
    }
    fprintf(f, "kernel void k%u(global S%u *g, int stride, int z) {\n"
            "int c = get_local_id(0) %% stride ? -1 : get_local_id(0) / stride;\n", id, size);
    if (space == GLOBAL) {
        fprintf(f, "%s *p = g;\n", pointer);
    } else {
        fprintf(f, "%s own[%d]; %s *p = own;\n", pointer, VECTORS, pointer);
        fprintf(f, "if (get_local_id(0) == 0) for (int r = 0; r < %d; r++) p[r].s.v[1] = g[r].s.v[1];\n", VECTORS);
        fprintf(f, "barrier(CLK_LOCAL_MEM_FENCE);\n");
    }
    write_body(f, p, type, space, how, id);
    if (space != GLOBAL) {
        fprintf(f, "barrier(CLK_LOCAL_MEM_FENCE);\n"
                "if (get_local_id(0) == 0) for (int r = 0; r < %d; r++) g[r].s.v[1] = p[r].s.v[1];\n", VECTORS);
    }
    fprintf(f, "}\n");
}

static double read_as(const char *at, size_t t)
{
    int8_t c;
    int16_t s;
    int32_t i;
    int64_t l;
    float x;
    double d;
    if (strcmp(types[t].name, "float") == 0) {
        memcpy(&x, at, sizeof x);
        return (double)x;
    }
    if (strcmp(types[t].name, "double") == 0) {
        memcpy(&d, at, sizeof d);
        return d;
    }
    switch (types[t].size) {
    case 1: memcpy(&c, at, sizeof c); return c;
    case 2: memcpy(&s, at, sizeof s); return s;
    case 4: memcpy(&i, at, sizeof i); return i;
    default: memcpy(&l, at, sizeof l); return (double)l;
    }
}

/** Runs the kernel with the work-items 0, stride, 2 * stride ... and compares every component. */
static void run(cl_kernel k, const struct partition *p, size_t t, unsigned size, unsigned stride, const char *name,
                const char *source)
{
    /* `whole` is the size of S<size>: c and three vectors. */
    const size_t vector = (size == 3 ? 4 : size) * types[t].size, whole = 4 * vector;
    static char data[VECTORS * 4 * MOST * 8];
    const int z = 0;
    memset(data, 0x5a, sizeof data);
    cl_mem m = clt_buffer(VECTORS * whole, data);
    clt_args(k, 3, ARG(m), ARG(stride), ARG(z));
    clt_run(k, p->n * stride, p->n * stride);
    clt_read(m, data, VECTORS * whole);
    for (unsigned v = 0; v < VECTORS; v++) {
        for (size_t i = 0; i < whole; i++) {
            const size_t at = v * whole + i, in = i - 2 * vector; /* v[1] lies after c and v[0]. */
            if (i < 2 * vector || in >= vector) {
                assert_int_equal(data[at], 0x5a);
            } else if (in % types[t].size == 0 && in / types[t].size < size) {
                const unsigned c = (unsigned)(in / types[t].size);
                if (read_as(&data[at], t) != value_of(v, c)) {
                    fail_msg("%s, stride %u, vector %u: component %u is %g instead of %d in\n%s", name, stride, v, c,
                             read_as(&data[at], t), value_of(v, c), source);
                }
            }
        }
    }
    OK(clReleaseMemObject(m));
}

/** Builds one program with a kernel for each size of vector and each kind of partition, because a build takes longer
 *  than the kernels do. */
static void test_type(size_t t, enum space space)
{
    static const char *const options[] = {"", "-cl-opt-disable", "-tern-no-coarsen", "-cl-std=CL3.0"};
    static struct partition partitions[LENGTH(sizes) * PARTITIONS];
    char *source = NULL, name[8];
    size_t length = 0, lanes, most;
    FILE *f = open_memstream(&source, &length);
    assert_non_null(f);
    for (unsigned i = 0; i < LENGTH(sizes); i++) {
        fprintf(f, "typedef struct { short c; struct { %s%u v[3]; } s; } S%u;\n", types[t].name, sizes[i], sizes[i]);
    }
    for (unsigned i = 0; i < LENGTH(partitions); i++) {
        const unsigned size = sizes[i / PARTITIONS];
        make_partition(&partitions[i], size, i % PARTITIONS);
        write_kernel(f, &partitions[i], i, types[t].name, size, space);
    }
    assert_int_equal(fclose(f), 0);
    cl_program program = clt_build(source, options[clt_random(&seed) % LENGTH(options)]);
    for (unsigned i = 0; i < LENGTH(partitions); i++) {
        const unsigned size = sizes[i / PARTITIONS];
        snprintf(name, sizeof name, "k%u", i);
        cl_kernel k = clCreateKernel(program, name, &clt_error);
        MADE(k);
        OK(clGetKernelWorkGroupInfo(k, clt_device, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, sizeof lanes, &lanes,
                                    NULL));
        OK(clGetKernelWorkGroupInfo(k, clt_device, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, NULL));
        run(k, &partitions[i], t, size, 1, name, source);
        if (partitions[i].n * lanes <= most) {
            run(k, &partitions[i], t, size, (unsigned)lanes, name, source);
        }
        OK(clReleaseKernel(k));
    }
    OK(clReleaseProgram(program));
    free(source);
}

static void test_space(enum space space)
{
    for (size_t t = 0; t < LENGTH(types); t++) {
        test_type(t, space);
    }
}

static void test_global(void **state)
{
    (void)state;
    test_space(GLOBAL);
}

static void test_local(void **state)
{
    (void)state;
    test_space(LOCAL_MEMORY);
}

static void test_private(void **state)
{
    (void)state;
    test_space(PRIVATE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_global), cmocka_unit_test(test_local), cmocka_unit_test(test_private),
    };
    return cmocka_run_group_tests(tests, clt_open, clt_close);
}
