/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Kernel metadata: arguments of every unusual kind, attributes, local and private memory, and which kernels get a
 * second entry for coarsened dispatches. Long chains of ids or constants and long names do not prevent a build.
 */
#include "support.h"

#include "../../runtime/device/image.h"

static struct tc_kernels read_kernels(const char *source, const char *options)
{
    struct tc_blob object = object_of(source, options);
    struct tc_kernels kernels;
    assert_int_equal(tc_kernels_read(&object, &kernels), 0);
    free(object.data);
    return kernels;
}

static const struct tc_kernel *find(const struct tc_kernels *kernels, const char *name)
{
    for (size_t i = 0; i < kernels->n; i++) {
        if (!strcmp(kernels->kernels[i].name, name)) {
            return &kernels->kernels[i];
        }
    }
    fail_msg("no kernel %s", name);
    return NULL;
}

static void test_arguments(void **state)
{
    (void)state;
    static const struct {
        const char *declaration, *type;
        enum tc_address_space space;
        unsigned qualifiers;
        int is_pointer;
        uint32_t size, align;
    } cases[] = {
        {"global const float4 *restrict p", "float4*", TC_GLOBAL, 3, 1, 4, 4},
        {"char c", "char", TC_PRIVATE, 0, 0, 1, 1},
        {"global volatile uint *v", "uint*", TC_GLOBAL, 4, 1, 4, 4},
        {"uchar3 u", "uchar3", TC_PRIVATE, 0, 0, 4, 4},
        {"short s", "short", TC_PRIVATE, 0, 0, 2, 2},
        {"local int *l", "int*", TC_LOCAL, 0, 1, 4, 4},
        {"constant struct pair *k", "struct pair*", TC_CONSTANT, 1, 1, 4, 4},
        {"double d", "double", TC_PRIVATE, 0, 0, 8, 8},
        {"struct pair q", "struct pair", TC_PRIVATE, 0, 0, 8, 4},
        {"float3 f3", "float3", TC_PRIVATE, 0, 0, 16, 16},
        {"long16 big", "long16", TC_PRIVATE, 0, 0, 128, 128},
        {"const ulong ul", "ulong", TC_PRIVATE, 0, 0, 8, 8},
        {"wide w", "wide", TC_PRIVATE, 0, 0, 32, 16},
        {"global int *global *n", "__global int **", TC_GLOBAL, 0, 1, 4, 4},
        {"uint last", "uint", TC_PRIVATE, 0, 0, 4, 4},
    };
    enum { N = sizeof cases / sizeof *cases };
    char source[2048] = "struct pair { char a; int b; }; typedef struct { float4 v; char c; } wide;\nkernel void k(";
    for (size_t i = 0; i < N; i++) {
        strcat(strcat(source, i ? ", " : ""), cases[i].declaration);
    }
    strcat(source, ") { p; v[0] = c + u.y + s + l[0] + k->b + (int)d + q.b + (int)f3.z + (int)big.sf + (int)ul "
           "+ w.c + last; }");
    struct tc_kernels kernels = read_kernels(source, "-cl-std=CL3.0");
    const struct tc_kernel *k = find(&kernels, "k");
    assert_int_equal(k->n_args, N);
    uint32_t end = 0;
    for (size_t i = 0; i < N; i++) {
        const struct tc_arg *a = &k->args[i];
        const char *space = strrchr(cases[i].declaration, ' ');
        const char *star = strrchr(cases[i].declaration, '*');
        const char *name = (star > space ? star : space) + 1;
        assert_string_equal(a->type, cases[i].type);
        assert_int_equal(a->space, cases[i].space);
        assert_int_equal(a->kind == TC_POINTER, cases[i].is_pointer);
        assert_int_equal(a->type_qualifier, cases[i].qualifiers);
        assert_int_equal(a->size, cases[i].size);
        assert_int_equal(a->offset % cases[i].align, 0);
        assert_true(a->offset >= end && a->offset < end + cases[i].align);
        assert_string_equal(a->name, strcmp(name, "p") ? name : "p");
        end = a->offset + a->size;
    }
    assert_true(k->args_size >= end && k->args_size % 16 == 0);
    tc_kernels_free(&kernels);
}

/** Images are descriptors in the argument block, and samplers are words, whatever the program calls their types. */
static void test_images(void **state)
{
    (void)state;
    static const struct {
        const char *declaration, *type;
        enum tc_arg_kind kind;
        enum tc_image_type image;
        unsigned access;
    } cases[] = {
        {"char c", "char", TC_VALUE, TC_NO_IMAGE, 0},
        {"image1d_t a", "image1d_t", TC_IMAGE, TC_IMAGE_1D, 1},
        {"write_only image1d_array_t b", "image1d_array_t", TC_IMAGE, TC_IMAGE_1D_ARRAY, 2},
        {"sampler_t s", "sampler_t", TC_SAMPLER, TC_NO_IMAGE, 0},
        {"read_only image1d_buffer_t d", "image1d_buffer_t", TC_IMAGE, TC_IMAGE_1D_BUFFER, 1},
        {"read_write image2d_t e", "image2d_t", TC_IMAGE, TC_IMAGE_2D, 3},
        {"read_only image2d_array_t f", "image2d_array_t", TC_IMAGE, TC_IMAGE_2D_ARRAY, 1},
        {"global int *p", "int*", TC_POINTER, TC_NO_IMAGE, 0},
        {"read_only image2d_depth_t g", "image2d_depth_t", TC_IMAGE, TC_IMAGE_2D_DEPTH, 1},
        {"write_only image2d_array_depth_t h", "image2d_array_depth_t", TC_IMAGE, TC_IMAGE_2D_ARRAY_DEPTH, 2},
        {"read_only image3d_t i", "image3d_t", TC_IMAGE, TC_IMAGE_3D, 1},
        {"picture j", "picture", TC_IMAGE, TC_IMAGE_2D, 1},
        {"filter k", "filter", TC_SAMPLER, TC_NO_IMAGE, 0},
    };
    enum { N = sizeof cases / sizeof *cases };
    char source[1024] = "typedef image2d_t picture; typedef sampler_t filter; kernel void k(";
    for (size_t i = 0; i < N; i++) {
        strcat(strcat(source, i ? ", " : ""), cases[i].declaration);
    }
    strcat(source, ") { p[0] = c; }");
    struct tc_kernels kernels = read_kernels(source, "-cl-std=CL2.0");
    const struct tc_kernel *k = find(&kernels, "k");
    assert_int_equal(k->n_args, N);
    for (size_t i = 0; i < N; i++) {
        const struct tc_arg *a = &k->args[i];
        assert_string_equal(a->type, cases[i].type);
        assert_int_equal(a->kind, cases[i].kind);
        assert_int_equal(a->image, cases[i].image);
        assert_int_equal(a->access_qualifier, cases[i].access);
        assert_int_equal(a->space, a->kind == TC_IMAGE || a->kind == TC_POINTER ? TC_GLOBAL : TC_PRIVATE);
        assert_int_equal(a->size, i == 0 ? 1 : a->kind == TC_IMAGE ? sizeof(struct tern_image) : 4);
        assert_int_equal(a->offset % (i == 0 ? 1 : a->kind == TC_IMAGE ? TERN_IMAGE_ALIGN : 4), 0);
        assert_true(i == 0 || a->offset >= a[-1].offset + a[-1].size);
    }
    tc_kernels_free(&kernels);
}

/** Kernels with images have second entries, and work-items of their groups are merged, as those of others. */
static void test_images_in_large_ranges(void **state)
{
    (void)state;
    struct tc_kernels kernels = read_kernels(
        "kernel void sum(read_only image2d_t a, global float *b, int n) {\n"
        "    int x = get_global_id(0), y = get_global_id(1); float s = 0;\n"
        "    for (int i = 0; i < n; i++) s += read_imagef(a, (int2)(x, i)).x * b[y * n + i];\n"
        "    b[(y + n) * get_global_size(0) + x] = s; }", "");
    assert_true(find(&kernels, "sum")->coarse > 0);
    tc_kernels_free(&kernels);
    kernels = read_kernels(
        "kernel void exchange(read_only image1d_t a, write_only image1d_t b) {\n"
        "    local float4 t[256]; int x = get_global_id(0), l = get_local_id(0);\n"
        "    t[l] = read_imagef(a, x); barrier(1); write_imagef(b, x, t[l ^ 1]); }", "");
    assert_int_not_equal(find(&kernels, "exchange")->merges, TC_MERGES_NEVER);
    tc_kernels_free(&kernels);
}

static void test_attributes(void **state)
{
    (void)state;
    struct tc_kernels kernels = read_kernels(
        "__attribute__((reqd_work_group_size(8, 4, 2))) kernel void a(void) {}\n"
        "__attribute__((work_group_size_hint(64, 1, 1))) __attribute__((vec_type_hint(uint4))) kernel void b(void) {}\n"
        "kernel void c(void) {}\n"
        "__attribute__((vec_type_hint(float))) kernel void d(void) {}\n", "");
    const struct tc_kernel *a = find(&kernels, "a");
    assert_string_equal(a->attributes, "reqd_work_group_size(8,4,2)");
    assert_int_equal(a->required_size[0], 8);
    assert_int_equal(a->required_size[1], 4);
    assert_int_equal(a->required_size[2], 2);
    assert_string_equal(find(&kernels, "b")->attributes, "work_group_size_hint(64,1,1) vec_type_hint(uint4)");
    assert_int_equal(find(&kernels, "b")->required_size[0], 0);
    assert_string_equal(find(&kernels, "c")->attributes, "");
    assert_string_equal(find(&kernels, "d")->attributes, "vec_type_hint(float)");
    assert_int_equal(find(&kernels, "c")->n_args, 0);
    tc_kernels_free(&kernels);
}

/** Each kernel's __local variables begin at 0. A variable that two kernels use through a call has room in both. */
static void test_local(void **state)
{
    (void)state;
    struct tc_kernels kernels = read_kernels(
        "kernel void none(global int *a) { a[0] = 1; }\n"
        "kernel void one(global int *a) { local int x; x = a[1]; barrier(1); a[0] = x; }\n"
        "kernel void arrays(global float4 *a) { local float4 t[16]; local char c; int i = get_local_id(0);\n"
        "    t[i] = a[i]; c = i; barrier(1); a[i] = t[15 - i] + c; }\n"
        "kernel void caller(global int *a) { local int y[4]; y[get_local_id(0)] = a[2]; barrier(1); "
        "one(a); a[3] = y[1]; }\n", "");
    assert_int_equal(find(&kernels, "none")->local_static, 0);
    assert_int_equal(find(&kernels, "one")->local_static, 4);
    assert_in_range(find(&kernels, "arrays")->local_static, 257, 272);
    assert_in_range(find(&kernels, "caller")->local_static, 20, 32);
    tc_kernels_free(&kernels);
}

static void test_stack(void **state)
{
    (void)state;
    struct tc_kernels kernels = read_kernels(
        "kernel void none(global int *a) { a[0] = 1; }\n"
        "kernel void array(global int *a) { int t[100]; for (int i = 0; i < 100; i++) t[i] = a[i];\n"
        "    for (int i = 0; i < 100; i++) a[i] = t[a[i] & 63]; }\n"
        "kernel void huge(global int *a) { int t[5000]; for (int i = 0; i < 5000; i++) t[i] = a[i];\n"
        "    for (int i = 0; i < 100; i++) a[i] = t[a[i] & 4095]; }\n"
        "kernel void aligned(global int *a, int n) { float16 t[4]; for (int i = 0; i < n; i++) t[i & 3] = a[i];\n"
        "    a[0] = t[n & 3].s3; }\n"
        "kernel void soft(global double *a) { a[0] = sqrt(a[1]) / a[2]; }\n", "");
    assert_int_equal(find(&kernels, "none")->stack, 0);
    assert_in_range(find(&kernels, "array")->stack, 400, 600);
    assert_in_range(find(&kernels, "huge")->stack, 20000, 20300);
    assert_in_range(find(&kernels, "aligned")->stack, 256, 500);
    assert_in_range(find(&kernels, "soft")->stack, 16, 256); /* The run-time library's frames are included. */
    tc_kernels_free(&kernels);
}

/** A program may define functions with names of the run-time library. */
static void test_clashing_names(void **state)
{
    (void)state;
    struct tc_kernels kernels = read_kernels(
        "int memcpy(int x) { return x * 3; } int __adddf3(int x) { return x + 7; }\n"
        "kernel void memset(global int *a, global double *d) { a[0] = memcpy(__adddf3(a[1])); d[0] = d[1] + d[2]; }\n"
        "kernel void main_(global int *a) { a[0] = memcpy(a[1]); }\n", "");
    assert_int_equal(kernels.n, 2);
    find(&kernels, "memset");
    tc_kernels_free(&kernels);
}

static void test_not_an_object(void **state)
{
    (void)state;
    struct tc_kernels kernels;
    struct tc_blob module = module_of("kernel void k(void) {}", ""), nothing = {NULL, 0};
    assert_int_equal(tc_kernels_read(&module, &kernels), -EINVAL);
    assert_int_equal(tc_kernels_read(&nothing, &kernels), -EINVAL);
    free(module.data);
}

/** A kernel gets an entry for several work-items if its work-items cannot observe their order and use only the global
 *  id. */
static void test_coarse(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        int coarse;
    } cases[] = {
        {"a[i] = a[i] + n;", 1},
        {"if (i < n) a[i] = n;", 1},
        {"if (i >= n || get_global_id(1) > n) return; a[i] = b[i];", 1},
        {"if (i != n) a[i] = 2;", 1},
        {"a[i] = select(b[i], n, i > n);", 1},
        {"a[i] = sqrt((float)b[i]);", 1},
        {"a[i] = i / (n | 1) + (n + 7) / (*b | 1) * 3;", 1},
        {"a[i] = b[100 / (n | 1) & 7] + i;", 1}, /* The division is done once, and an address depends on it. */
        {"", 0}, /* The kernel does nothing. */
        {"if (i % 2) a[i] = 1;", 0}, /* Every second work-item runs: no round runs all copies. */
        {"if (i == n) a[i] = 1;", 0},
        {"if (b[i]) a[i] = 1;", 0},
        {"if (b[i] > n) a[i] = 1;", 0},
        {"a[i] = 1; if (i < n) a[i + n] = 1;", 0},
        {"for (uint k = 0; k < n; k++) a[k * n + i] = k * b[i];", 1},
        {"for (uint k = 0; k < i; k++) a[i] += k * b[k];", 0}, /* Work-items have different numbers of rounds. */
        {"for (uint k = 0; k < n; k++) a[k * n + i] = atomic_inc(b);", 0},
        {"for (uint k = 0; k < n; k++) { a[k * n + i] = k; barrier(CLK_GLOBAL_MEM_FENCE); }", 0},
        {"for (uint k = 0; k < n; k++) { l[i & 7] = k; a[k * n + i] = l[k & 7]; }", 0},
        {"for (uint k = 0; k < n; k++) a[k * n + i] = get_local_id(1) * k;", 0},
        {"for (volatile global uint *v = b; *v < n;) a[i] += 1;", 0},
        {"a[i] = 1; while (n) ;", 1},
        {"while (1) ;", 0},
        {"a[i] = 1; atomic_inc(&b[n]);", 0},
        {"a[i] = atomic_cmpxchg(&b[n], 1, 2);", 0},
        {"volatile global uint *v = a; v[i] = 1;", 0},
        {"a[i] = 1; mem_fence(CLK_GLOBAL_MEM_FENCE);", 0},
        {"a[i] = 1; barrier(CLK_GLOBAL_MEM_FENCE); b[i] = 1;", 0},
        {"a[i] = get_local_id(0);", 0},
        {"a[i] = get_group_id(0);", 0},
        {"a[i] = get_local_size(0);", 0},
        {"a[i] = get_num_groups(1);", 0},
        {"l[0] = n; a[i] = l[n];", 0},
        {"local uint t[8]; t[i & 7] = n; a[i] = t[n & 7];", 0},
        {"local uint t[8]; uint *p = t; p[i & 7] = n; a[i] = p[n & 7];", 0}, /* No pointer to local memory remains. */
        {"uint *p = l; p[i & 7] = n; a[i] = p[n & 7];", 0},
        {"uint t[8]; for (uint k = 0; k < 8; k++) t[k] = b[k + i]; a[i] = t[n & 7];", 0},
        {"printf(\"%u\", i); a[i] = 1;", 0},
        {"global double *d = (global double *)a; d[i] *= 3;", 0}, /* A call of the run-time library. */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char source[512];
        snprintf(source, sizeof source,
                 "kernel void k(global uint *a, global uint *b, uint n, local uint *l)"
                 "{ uint i = get_global_id(0); %s }", cases[i].body);
        static const struct {
            const char *text;
            int allow;
        } options[] = {{"-cl-std=CL3.0", 1}, {"-cl-std=CL3.0 -tern-no-coarsen", 0}, {"-cl-std=CL3.0 -g", 0},
                     {"-cl-std=CL3.0 -cl-opt-disable", 0}};
        for (size_t o = 0; o < sizeof options / sizeof *options; o++) {
            struct tc_kernels kernels = read_kernels(source, options[o].text);
            const uint32_t coarse = find(&kernels, "k")->coarse;
            if ((coarse != 0) != (cases[i].coarse && options[o].allow)) {
                fail_msg("%s with '%s': coarse is %u", cases[i].body, options[o].text, coarse);
            }
            tc_kernels_free(&kernels);
        }
    }
}

/** Kernels with loops get an entry for tiles of work-items if it shares work: in x, in y, or in both. Branches must go
 *  the same way in the whole tile. */
static void test_tiles(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        int x, y; /* The tile has several work-items in x, in y. */
    } cases[] = {
        {"uint s = 0; for (uint k = 0; k < n; k++) s += a[y * n + k] * b[k * n + x]; a[y * n + x] = s;", 1, 1},
        {"if (x >= n || y >= n) return; uint s = 0; for (uint k = 0; k < n; k++) s += a[y * n + k] * b[k * n + x];"
         "a[y * n + x] = s;", 1, 1},
        /* The number of rounds depends on x, or on y. */
        {"uint s = 0; for (uint k = 0; k < x; k++) s += a[y * n + k] * b[k * n + x]; a[y * n + x] = s;", 0, 1},
        {"uint s = 0; for (uint k = 0; k < y; k++) s += a[y * n + k] * b[k * n + x]; a[y * n + x] = s;", 1, 0},
        {"uint s = 0; for (uint k = 0; k < x + y; k++) s += a[y * n + k] * b[k * n + x]; a[y * n + x] = s;", 0, 0},
        {"uint s = 0; for (uint k = 0; b[x] != k; k++) s += a[y * n + k] * b[k * n + x]; a[y * n + x] = s;", 0, 1},
        {"uint s = 0; for (uint k = 0; k < n; k++) if (a[y * n + k] > n) s ^= b[s & 7]; a[y * n + x] = s;", 1, 0},
        /* A condition after a store is no guard. */
        {"uint s = 0; a[x] = 1; if (x + y >= n) return; for (uint k = 0; k < n; k++) s += a[y * n + k] * b[k * n + x];"
         "a[y * n + x] = s;", 0, 0},
        /* Nothing is shared. */
        {"uint s = 0; for (uint k = 0; k < n; k++) s = s * a[s & 7] + b[s & 15]; a[y * n + x] = s + x * y;", 1, 1},
        {"for (uint k = 0; k < n; k++) atomic_add(&a[y * n + k], b[k * n + x]);", 0, 0},
        {"local uint t[8]; uint s = 0; for (uint k = 0; k < n; k++) { t[x & 7] = k; s += t[y & 7] * b[k * n + x]; }"
         "a[y * n + x] = s;", 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char source[512];
        snprintf(source, sizeof source, "kernel void k(global uint *restrict a, global uint *restrict b, uint n)"
                 "{ uint x = get_global_id(0), y = get_global_id(1); %s }", cases[i].body);
        struct tc_kernels kernels = read_kernels(source, "");
        const struct tc_kernel *k = find(&kernels, "k");
        if ((k->coarse > 1) != cases[i].x || (k->tile > 1) != cases[i].y) {
            fail_msg("%s: coarse is %u, tile %u", cases[i].body, k->coarse, k->tile);
        }
        tc_kernels_free(&kernels);
    }
}

/** A tile must lessen what limits the kernel. If each lane of a row accesses a line of memory of its own, these lines
 *  take longer than the instructions, and only a tile whose work-items share them pays. */
static void test_tile_lines(void **state)
{
    (void)state;
    static const struct {
        const char *address;
        int x, y; /* The tile has several work-items in x, in y. */
    } cases[] = {
        {"x * n + k", 0, 1}, {"(x * x + k) & 1023", 0, 1}, {"b[x] + k", 0, 1}, {"(x % n) * 100 + k", 0, 1},
        {"(x * n + y * m + k) & 1023", 0, 0}, {"x * n + k + (y ^ m)", 0, 0},
        /* Neighbouring lanes mostly access neighbouring words. */
        {"k * n + x", 1, 1}, {"k * n - x", 1, 1}, {"k * n + x / 2", 1, 1}, {"k * n + x % 100", 1, 1},
        {"k * n + min(x, n)", 1, 1}, {"k * n + clamp((int)x - 1, 0, 99)", 1, 1}, {"(k * n + x) ^ (m & 1)", 1, 1},
        {"(x & 63) | k << 6", 1, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char source[512];
        snprintf(source, sizeof source, "kernel void k(global uint *restrict a, global uint *restrict b, uint n,"
                 "uint m) { uint x = get_global_id(0), y = get_global_id(1), s = 0;"
                 "  for (uint k = 0; k < n; k++) s += a[%s] * b[y * n + k]; a[y * n + x] = s; }", cases[i].address);
        struct tc_kernels kernels = read_kernels(source, "");
        const struct tc_kernel *k = find(&kernels, "k");
        if ((k->coarse > 1) != cases[i].x || (k->tile > 1) != cases[i].y) {
            fail_msg("a[%s]: coarse is %u, tile %u", cases[i].address, k->coarse, k->tile);
        }
        tc_kernels_free(&kernels);
    }
}

/** The same for loads and stores of each distance between lanes, in words. */
static void test_tile_distances(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        unsigned most; /* Up to this distance the instructions limit the kernel. */
    } bodies[] = {{"s += a[(k * n + x) * %u] * b[k]; b[x] = s;", 4}, {"s += a[k * n - x * %u] * b[k]; b[x] = s;", 4},
                  {"a[(k * n + x) * %u] = b[k];", 2}};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        for (unsigned by = 1; by < 100000; by += by < 4 ? 1 : by * 2 + 1) {
            char source[512], body[128];
            snprintf(body, sizeof body, bodies[i].body, by);
            snprintf(source, sizeof source, "kernel void k(global uint *restrict a, global uint *restrict b, uint n)"
                     "{ uint x = get_global_id(0), s = 0; for (uint k = 0; k < n; k++) %s }", body);
            struct tc_kernels kernels = read_kernels(source, "");
            const uint32_t coarse = find(&kernels, "k")->coarse;
            if ((coarse > 1) != (by <= bodies[i].most)) {
                fail_msg("%s: coarse is %u", body, coarse);
            }
            tc_kernels_free(&kernels);
        }
    }
}

/** A chain of ids in which each value is used twice, so that millions of paths lead from the first to the last. The
 *  compiler must not visit each path. */
static void test_coarse_chain(void **state)
{
    (void)state;
    char source[1024] = "kernel void k(global uint *o, uint n) { uint i = get_global_id(0), a = i, b = i * 5 + n; ";
    for (unsigned k = 0; k < 17; k++) {
        strcat(source, "a += b; b += a; ");
    }
    struct tc_kernels kernels = read_kernels(strcat(source, "o[i] = a ^ b; }"), "");
    assert_int_not_equal(find(&kernels, "k")->coarse, 0);
    tc_kernels_free(&kernels);
}

/** The same in the address of a load of a kernel in tiles, whose loads are ordered by what their addresses wait for. */
static void test_tile_chain(void **state)
{
    (void)state;
    char source[2048] = "kernel void k(global const uint *in, global uint *o, uint n) { uint x = get_global_id(0),"
                        "y = get_global_id(1), a = y, b = x * 5 + n, s; ";
    for (unsigned k = 0; k < 30; k++) {
        strcat(source, "a += b; b ^= a; ");
    }
    struct tc_kernels kernels = read_kernels(strcat(source, "s = in[(a ^ b) & 1023]; for (uint k = 0; k < n; k++)"
                                             "s += in[y * n + k] * in[k * n + x]; o[y * n + x] = s; }"), "");
    assert_int_not_equal(find(&kernels, "k")->tile, 0);
    tc_kernels_free(&kernels);
}

/** Names of any length: of kernels with both entries, and of functions whose frames are counted. */
static void test_long_names(void **state)
{
    (void)state;
    static const size_t lengths[] = {1000, 1009, 1016, 1023, 1024, 5000};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        static char kernel[5002], function[5001], source[32768];
        memset(kernel, 'k', sizeof kernel);
        memset(function, 'f', sizeof function);
        kernel[lengths[i]] = function[lengths[i]] = '\0';
        snprintf(source, sizeof source, "__attribute__((noinline)) int %s(global int *a) { int t[500];"
                 "    for (int i = 0; i < 500; i++) t[i] = a[i]; return t[a[0] & 255]; }"
                 "kernel void %s(global uint *o) { o[get_global_id(0)] = 1; }"
                 "kernel void %s2(global int *o) { o[0] = %s(o); }", function, kernel, kernel, function);
        struct tc_kernels kernels = read_kernels(source, "");
        assert_int_equal(kernels.n, 2);
        assert_int_not_equal(find(&kernels, kernel)->coarse, 0);
        assert_in_range(find(&kernels, strcat(kernel, "2"))->stack, 2000, 2300);
        tc_kernels_free(&kernels);
    }
}

/** A chain of constants, each used twice by the next. The compiler must not visit each path. */
static void test_local_chain(void **state)
{
    (void)state;
    char source[2048] = "kernel void k(global uint *o) { local uint l[4]; uint a = (uint)l, b = (uint)&l[2];\n";
    for (int i = 0; i < 34; i++) {
        snprintf(source + strlen(source), sizeof source - strlen(source), "a ^= b + %du; b += a;\n", i * 7 + 1);
    }
    struct tc_kernels kernels = read_kernels(strcat(source, "o[get_global_id(0)] = a ^ b; }"), "");
    assert_int_equal(find(&kernels, "k")->coarse, 0);
    assert_int_equal(find(&kernels, "k")->local_static, 16);
    tc_kernels_free(&kernels);
}

/** Returns the accesses of a kernel's frame. coarse: those of its second entry, which it must have. */
static uint32_t spills_of(const char *body, int coarse)
{
    char source[4096];
    snprintf(source, sizeof source, "#define ALL _Pragma(\"unroll\") for (int k = 0; k < 44; k++)\n"
             "#define LIVE uint s[44]; ALL s[k] = in[k] * i; for (uint r = 0; r < n; r++)"
             " ALL s[k] = rotate(s[k], 5u) + (s[(k + 1) %% 44] ^ s[(k + 17) %% 44]);"
             " uint t = 0; ALL t = t * 5 + s[k];\n"
             "kernel void k(global const uint *in, global uint *out, uint n)"
             " { uint i = get_global_id(0); %s }", body);
    struct tc_kernels kernels = read_kernels(source, "");
    const struct tc_kernel *k = find(&kernels, "k");
    assert_true(!coarse || k->coarse);
    const uint32_t spills = coarse ? k->coarse_spills : k->spills;
    tc_kernels_free(&kernels);
    return spills;
}

/** Frames can be in local memory only if all accesses of them are loads and stores at sp and a constant. */
static void test_spills(void **state)
{
    (void)state;
    assert_int_equal(spills_of("out[i] = in[i] * n;", 0), 0);
    assert_in_range(spills_of("LIVE out[i] = t;", 0), 200, 2000);
    /* An address of the frame: an array with an index that is not known. */
    assert_int_equal(spills_of("LIVE uint a[8]; for (int k = 0; k < 8; k++) a[k] = in[k + i];"
                               "out[i] = t + a[in[i] & 7];", 0), 0);
    /* A call of the run-time library, and calls that are inlined. */
    assert_int_equal(spills_of("LIVE out[i] = t + (uint)((ulong)in[i + 1] * in[i] / (t | 1ul << 40));", 0), 0);
    assert_in_range(spills_of("LIVE out[i] = max(t, in[i]);", 0), 200, 2000);
    /* A second entry, which calls a function for work-items at the border. */
    assert_in_range(spills_of("float f[4] = {0}; global const float *g = (global const float *)in; uint y ="
                              "get_global_id(1); for (uint k = 0; k < n; k++) f[0] = fma(g[i + k * n], g[y * n + k],"
                              "f[0]); out[y * n + i] = (uint)f[0];", 1), 1, 2000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spills), cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_images), cmocka_unit_test(test_images_in_large_ranges),
        cmocka_unit_test(test_attributes), cmocka_unit_test(test_local),
        cmocka_unit_test(test_coarse), cmocka_unit_test(test_tiles), cmocka_unit_test(test_tile_lines),
        cmocka_unit_test(test_tile_distances), cmocka_unit_test(test_coarse_chain), cmocka_unit_test(test_tile_chain),
        cmocka_unit_test(test_long_names), cmocka_unit_test(test_local_chain),
        cmocka_unit_test(test_stack), cmocka_unit_test(test_clashing_names), cmocka_unit_test(test_not_an_object),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
