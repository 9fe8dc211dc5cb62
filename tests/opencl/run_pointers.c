/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Pointers in memory have 8 bytes, as on the host, so structures with pointers lie as the host has them. Random
 * structures of integers, vectors, pointers, arrays and structures are declared in a program. The test computes the
 * offsets of their members from the rules of C and compares them with the device's. Kernels store such structures
 * member by member, as copies through private memory and functions, and as arguments; the test compares the bytes.
 * Program-scope variables have addresses as initial values.
 *
 * The seed is printed. TERN_TEST_SEED sets it, TERN_TEST_STEPS the number of structures.
 */
#include "clt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAVES = 48, DEPTH = 3, PADDING = 0xa5, BYTES = 1 << 14, ITEMS = 3 };

/** A member that is neither structure nor array. */
struct leaf {
    char path[96]; /**< As ".m1.m0[2]". */
    size_t offset; /**< In the structure, in bytes. */
    size_t size;   /**< In bytes; 16 for a vector. */
    const char *pointer; /**< Type of a pointer; NULL: it is none. */
};

/** A structure that is being drawn, with the text of its declarations. */
struct draw {
    struct leaf leaves[LEAVES];
    size_t n;
    char text[1 << 14];
    size_t length;
    unsigned structures; /**< Names given so far. */
};

static uint32_t seed;
static unsigned long steps;

static unsigned below(unsigned n)
{
    return clt_random(&seed) % n;
}

static const struct {
    const char *name;
    size_t size;
    int pointer;
} scalars[] = {
    {"uchar", 1, 0}, {"ushort", 2, 0}, {"uint", 4, 0}, {"ulong", 8, 0}, {"uint4", 16, 0},
    {"global uint *", 8, 1}, {"constant uchar *", 8, 1}, {"global uint4 *", 8, 1}, {"local ushort *", 8, 1},
};

static size_t rounded(size_t n, size_t align)
{
    return (n + align - 1) / align * align;
}

/** Draws a type. Stores its declaration's beginning, size and alignment, and appends its leaves below `path`, with
 *  offsets from `base`. room: the leaves that it may have. */
static void draw_type(struct draw *d, unsigned depth, const char *path, size_t room, char name[32], size_t *size,
                      size_t *align)
{
    const size_t first = d->n;
    if (depth == 0 || room < 2 || below(3) > 0) {
        const size_t k = below(LENGTH(scalars));
        snprintf(name, 32, "%s", scalars[k].name);
        snprintf(d->leaves[first].path, sizeof d->leaves[first].path, "%s", path);
        d->leaves[first].offset = 0;
        d->leaves[first].size = *size = *align = scalars[k].size;
        d->leaves[first].pointer = scalars[k].pointer ? scalars[k].name : NULL;
        d->n = first + 1;
        return;
    }
    char members[2048] = "";
    size_t at = 0, end = 0, most = 1;
    const unsigned n = 1 + below(4), packed = below(4) == 0;
    for (unsigned m = 0; m < n && d->n - first < room; m++) {
        char member[96], type[32];
        size_t one, its, count = below(3) ? 1 : 2 + below(2);
        const size_t from = d->n;
        snprintf(member, sizeof member, "%s.m%u%s", path, m, count > 1 ? "[0]" : "");
        draw_type(d, depth - 1, member, room - (d->n - first), type, &one, &its);
        const size_t leaves = d->n - from;
        its = packed ? 1 : its;
        if (leaves * count > room - (from - first)) { /* no room for an array: the path has an index all the same */
            count = count > 1 ? 1 : count;
        }
        end = rounded(end, its);
        for (size_t i = 0; i < leaves; i++) {
            d->leaves[from + i].offset += end;
        }
        for (size_t c = 1; c < count; c++) {
            for (size_t i = 0; i < leaves; i++) {
                struct leaf *l = &d->leaves[d->n++];
                *l = d->leaves[from + i];
                l->offset += c * one;
                l->path[strlen(member) - 2] = (char)('0' + c);
            }
        }
        const int array = strchr(member + strlen(path), '[') != NULL;
        at += (size_t)snprintf(members + at, sizeof members - at, array ? " %s m%u[%zu];" : " %s m%u;", type, m, count);
        end += one * count;
        most = its > most ? its : most;
    }
    snprintf(name, 32, "struct s%u", d->structures++);
    d->length += (size_t)snprintf(d->text + d->length, sizeof d->text - d->length, "%s {%s }%s;\n", name, members,
                                  packed ? " __attribute__((packed))" : "");
    *size = rounded(end, most);
    *align = most;
}

/** The value of a member; a pointer's has 32 bits. */
static cl_ulong value_of(const struct leaf *l, size_t i)
{
    const cl_ulong v = (i + 1) * 0x9e3779b97f4a7c15u;
    return l->pointer ? v >> 32 | 1 : v;
}

/** Stores the member's bytes as they lie in memory. */
static void expect(unsigned char *image, const struct leaf *l, size_t i)
{
    const cl_ulong v = value_of(l, i);
    if (l->size <= 8) {
        memcpy(image + l->offset, &v, l->size);
    } else {
        const cl_uint x[4] = {(cl_uint)v, (cl_uint)v, (cl_uint)v, (cl_uint)v};
        memcpy(image + l->offset, x, sizeof x);
    }
}

/** The program: f stores all members, g returns a copy, and the variable `first` has an initial value with the address
 *  of a variable in each pointer. */
static void write_program(char *out, size_t room, const struct draw *d, const char *type)
{
    FILE *f = fmemopen(out, room, "w");
    assert_non_null(f);
    fprintf(f, "%s", d->text);
    fprintf(f, "kernel void offsets(global %s *a, global ulong *out) { uint i = 0; out[i++] = sizeof(%s);\n", type,
            type);
    for (size_t i = 0; i < d->n; i++) {
        fprintf(f, "  out[i++] = (ulong)&a[2]%s - (ulong)a;\n", d->leaves[i].path);
    }
    fprintf(f, "}\nkernel void store(global %s *a, global ulong *v) { uint k = get_global_id(0);\n",
            type);
    for (size_t i = 0; i < d->n; i++) {
        const struct leaf *l = &d->leaves[i];
        if (l->pointer != NULL) {
            fprintf(f, "  a[k]%s = (%s)v[%zu];\n", l->path, l->pointer, i);
        } else {
            fprintf(f, l->size == 16 ? "  a[k]%s = (uint4)(uint)v[%zu];\n" : "  a[k]%s = v[%zu];\n", l->path, i);
        }
    }
    fprintf(f, "}\n%s same(%s s) { return s; }\n"
               "%s chosen(global const %s *a, private %s *p, int n) {\n"
               "  p[n] = a[1]; %s s = p[n]; return n ? same(s) : *a; }\n"
               "kernel void copy(global const %s *a, global %s *b, int n) {\n"
               "  %s p[3]; b[0] = chosen(a, p, n); b[1] = p[n]; p[n ^ 1] = same(p[n]); b[2] = p[n ^ 1]; }\n",
            type, type, type, type, type, type, type, type, type);
    fprintf(f, "kernel void by_value(%s s, global %s *b) { b[0] = s; b[1] = same(s); }\n", type, type);
    fclose(f);
}

static cl_mem buffer(const void *data, size_t size)
{
    cl_mem m = clCreateBuffer(clt_context, CL_MEM_COPY_HOST_PTR, size, (void *)(uintptr_t)data, &clt_error);
    MADE(m);
    return m;
}

static void set(cl_kernel k, cl_mem a, cl_mem b)
{
    OK(clSetKernelArg(k, 0, sizeof a, &a));
    OK(clSetKernelArg(k, 1, sizeof b, &b));
}

/** Compares the members of structure n in the buffer with their values. */
static void check(cl_mem m, const struct draw *d, size_t size, unsigned n, const char *what)
{
    static unsigned char got[BYTES];
    unsigned char want[BYTES / ITEMS];
    OK(clEnqueueReadBuffer(clt_queue, m, CL_TRUE, n * size, size, got, 0, NULL, NULL));
    memcpy(want, got, size);
    for (size_t i = 0; i < d->n; i++) {
        expect(want, &d->leaves[i], i);
        if (memcmp(want + d->leaves[i].offset, got + d->leaves[i].offset, d->leaves[i].size)) {
            fail_msg("%s: member %s of\n%sis wrong", what, d->leaves[i].path, d->text);
        }
    }
}

static void test_one(void)
{
    static struct draw d;
    static char source[1 << 16];
    static cl_ulong got[LEAVES + 1];
    static unsigned char bytes[BYTES];
    char type[32];
    size_t size, align;
    do {
        d = (struct draw){0};
        draw_type(&d, DEPTH, "", LEAVES, type, &size, &align);
    } while (d.structures == 0);
    assert_in_range(size, 1, BYTES / ITEMS);
    write_program(source, sizeof source, &d, type);
    cl_program p = clt_build(source, "-cl-std=CL3.0 -Werror");
    memset(bytes, PADDING, sizeof bytes);
    cl_ulong values[LEAVES];
    for (size_t i = 0; i < d.n; i++) {
        values[i] = value_of(&d.leaves[i], i);
    }
    cl_mem a = buffer(bytes, ITEMS * size), b = buffer(bytes, ITEMS * size), v = buffer(values, sizeof values);
    cl_mem out = buffer(bytes, sizeof got);

    cl_kernel k = clCreateKernel(p, "offsets", &clt_error);
    MADE(k);
    set(k, a, out);
    clt_run(k, 1, 0);
    OK(clEnqueueReadBuffer(clt_queue, out, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL));
    assert_int_equal(got[0], size);
    for (size_t i = 0; i < d.n; i++) {
        if (got[i + 1] != 2 * size + d.leaves[i].offset) {
            fail_msg("member %s of\n%sis at %llu, and the host has it at %zu", d.leaves[i].path, d.text,
                     (unsigned long long)(got[i + 1] - 2 * size), d.leaves[i].offset);
        }
    }
    OK(clReleaseKernel(k));

    k = clCreateKernel(p, "store", &clt_error);
    MADE(k);
    set(k, a, v);
    clt_run(k, ITEMS, 0);
    OK(clEnqueueReadBuffer(clt_queue, a, CL_TRUE, 0, ITEMS * size, bytes, 0, NULL, NULL));
    static unsigned char want[BYTES];
    memset(want, PADDING, sizeof want);
    for (unsigned n = 0; n < ITEMS; n++) {
        for (size_t i = 0; i < d.n; i++) {
            expect(want + n * size, &d.leaves[i], i);
        }
    }
    assert_memory_equal(bytes, want, ITEMS * size); /* padding keeps its bytes */
    OK(clReleaseKernel(k));

    k = clCreateKernel(p, "copy", &clt_error);
    MADE(k);
    set(k, a, b);
    const cl_int one = 1;
    OK(clSetKernelArg(k, 2, sizeof one, &one));
    clt_run(k, 1, 0);
    for (unsigned n = 0; n < ITEMS; n++) {
        check(b, &d, size, n, "copy");
    }
    OK(clReleaseKernel(k));

    k = clCreateKernel(p, "by_value", &clt_error);
    MADE(k);
    OK(clSetKernelArg(k, 0, size, want));
    OK(clSetKernelArg(k, 1, sizeof a, &a));
    clt_run(k, 1, 0);
    check(a, &d, size, 0, "argument");
    check(a, &d, size, 1, "argument");
    OK(clReleaseKernel(k));

    OK(clReleaseMemObject(a));
    OK(clReleaseMemObject(b));
    OK(clReleaseMemObject(v));
    OK(clReleaseMemObject(out));
    OK(clReleaseProgram(p));
}

static void test_layouts(void **state)
{
    (void)state;
    for (unsigned long n = 0; n < steps; n++) {
        test_one();
    }
}

/** Initial values of variables hold addresses of variables and of their elements. */
static void test_variables(void **state)
{
    (void)state;
    static const char source[] =
        "struct inner { uchar c; global int *p[2]; };\n"
        "struct node { int v; global struct node *next; struct inner in; constant char *name; };\n"
        "constant char *constant names[3] = {\"ab\", \"cd\", \"ef\"};\n"
        "global int numbers[4] = {10, 20, 30, 40};\n"
        "global int *global third = &numbers[2];\n"
        "global struct node nodes[2] = {{7, &nodes[1], {1, {&numbers[1], numbers}}, \"xyz\"}, {8, nodes}};\n"
        "global struct node *global within = &nodes[1];\n"
        "global uchar *global byte = (global uchar *)&nodes[1].in.c;\n"
        "global ulong place = (ulong)&nodes[1].in.p[1];\n"
        "kernel void read(global int *out, int n) { *byte = 99;\n"
        "  out[0] = names[n][1]; out[1] = *third; out[2] = nodes[0].next->v; out[3] = nodes[1].next->v;\n"
        "  out[4] = *nodes[0].in.p[0]; out[5] = nodes[0].in.p[1][n]; out[6] = nodes[0].name[2]; out[7] = within->v;\n"
        "  out[8] = nodes[1].in.c; out[9] = nodes[1].name == 0;\n"
        "  out[10] = place - (ulong)nodes; out[11] = sizeof nodes;\n"
        "  out[12] = (global char *)&nodes[n].in.p[n] - (global char *)nodes; nodes[n].in.p[n] = third;\n"
        "  out[13] = nodes[1].in.p[1] - numbers; out[14] = ((global ulong *)place)[0] - (ulong)numbers;\n"
        "  nodes[1] = nodes[0]; out[15] = nodes[1].next == within; }\n";
    static const cl_int want[16] = {'d', 30, 8, 7, 20, 20, 'z', 8, 99, 1, 48 + 32, 96, 48 + 32, 2, 8, 1};
    cl_program p = clt_build(source, "-cl-std=CL3.0");
    cl_kernel k = clCreateKernel(p, "read", &clt_error);
    cl_mem out = clCreateBuffer(clt_context, 0, sizeof want, NULL, &clt_error);
    const cl_int one = 1;
    cl_int got[16];
    MADE(k);
    MADE(out);
    OK(clSetKernelArg(k, 0, sizeof out, &out));
    OK(clSetKernelArg(k, 1, sizeof one, &one));
    clt_run(k, 1, 0);
    OK(clEnqueueReadBuffer(clt_queue, out, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL));
    for (unsigned i = 0; i < 16; i++) {
        if (got[i] != want[i]) {
            fail_msg("out[%u] is %d, not %d", i, got[i], want[i]);
        }
    }
    OK(clReleaseMemObject(out));
    OK(clReleaseKernel(k));
    OK(clReleaseProgram(p));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_variables),
        cmocka_unit_test(test_layouts),
    };
    seed = clt_seed(20261128, 20, &steps);
    return cmocka_run_group_tests(tests, clt_open, clt_close);
}
