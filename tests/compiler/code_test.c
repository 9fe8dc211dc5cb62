/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The machine code of kernels, counted in instructions. Local ids and sizes need no sign correction, coarsened entries
 * access vectors word by word, entries save no registers, addresses have common bases, limits need no branches.
 */
#include "support.h"
#include "tc_elf.h"

/** Returns the instructions of an entry of an object, which it frees, malloc'ed, and their number in *words. */
static uint32_t *entry_in(struct tc_blob object, const char *entry, unsigned *words)
{
    struct tc_elf elf;
    Elf32_Shdr table, section;
    size_t symbols;
    uint32_t *code = NULL;
    assert_int_equal(tc_elf_open(&elf, object.data, object.size), 0);
    assert_int_equal(tc_elf_symbols(&elf, &table, &symbols), 0);
    for (size_t i = 0; i < symbols; i++) {
        const Elf32_Sym s = tc_elf_symbol(&elf, &table, i);
        if (strcmp(tc_elf_string(&elf, table.sh_link, s.st_name), entry)) {
            continue;
        }
        assert_null(code);
        assert_int_equal(tc_elf_section(&elf, s.st_shndx, &section), 0);
        code = malloc(s.st_size);
        assert_non_null(code);
        memcpy(code, (const char *)object.data + section.sh_offset + s.st_value, s.st_size);
        *words = s.st_size / 4;
    }
    assert_non_null(code);
    free(object.data);
    return code;
}

static uint32_t *entry_of(const char *entry, const char *source, unsigned *words)
{
    return entry_in(object_of(source, ""), entry, words);
}

/** Returns how many words of an entry of an object, which it frees, are `value` under `mask`. */
static unsigned count_object(struct tc_blob object, const char *entry, uint32_t mask, uint32_t value)
{
    unsigned n = 0, words = 0;
    uint32_t *code = entry_in(object, entry, &words);
    for (unsigned i = 0; i < words; i++) {
        n += (code[i] & mask) == value;
    }
    free(code);
    return n;
}

static unsigned count_in(const char *entry, const char *source, uint32_t mask, uint32_t value)
{
    return count_object(object_of(source, ""), entry, mask, value);
}

static unsigned count(const char *source, uint32_t mask, uint32_t value)
{
    return count_in("__entry_k", source, mask, value);
}

#define BRANCHES 0x0000007fu, 0x00000063u /* Conditional branches. */
#define MOVES 0xfff0707fu, 0x00000013u    /* The instruction mv. */

/** Values that one condition selects are stored by one branch, without moves. */
static void test_selected_stores(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "p[i] = n > 0 ? a : b; q[i] = n > 0 ? b : a;",
        "p[i] = a < b ? a : b; p[i + m] = a < b ? b : a;",
        "p[i] = n > 0 ? a : b; p[i + m] = n > 0 ? b : n; q[i] = n > 0 ? n : a;",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        char source[400];
        snprintf(source, sizeof source, "kernel void k(global float *p, global float *q, float n, int m) {"
                 "    int i = get_local_id(0) * m; float a = p[i] * n, b = q[i] + n; %s }", bodies[i]);
        assert_int_equal(count(source, BRANCHES), 1);
        assert_int_equal(count(source, MOVES), 0);
    }
}

#define ALL_BITS 0xffffffffu
#define BARRIER 0x0000000bu /* The instruction barrier. */

/** A function `far` that is too long to be inlined. */
#define FAR "#define STEP v = v * 3 + (v >> 5); v ^= v << 7;\n" \
    "#define STEPS STEP STEP STEP STEP STEP STEP STEP STEP STEP STEP STEP STEP STEP STEP STEP STEP\n" \
    "int far(int v) { STEPS STEPS STEPS STEPS STEPS STEPS STEPS STEPS STEPS STEPS return v; }\n"

/** Returns the barriers of a kernel that is compiled for groups of 64 work-items, of which a hardware work-item runs
 *  four, for warps of `lanes`. */
static unsigned barriers(const char *body, uint32_t lanes)
{
    char source[1000];
    snprintf(source, sizeof source, FAR "kernel void k(global int *a, global long *b, local int *t, int n) {"
             "    int l = get_local_id(0), s = a[l]; %s a[get_global_id(0)] = s; }", body);
    struct tc_blob object = object_of(source, ""), made;
    const struct tc_special s = {.kernel = "k", .local = {64, 1, 1}, .n = 4, .must = 1, .joined = 1, .lanes = lanes};
    char *log = NULL;
    if (tc_specialise(&object, &s, &made, &log)) {
        fail_msg("%s: %s", body, log);
    }
    free(log);
    free(object.data);
    return count_object(made, "__entry_k", ALL_BITS, BARRIER);
}

/** In groups of a single warp, a barrier remains where lanes may have gone ahead since the one before it. */
static void test_barriers(void **state)
{
    (void)state;
#define MEET "barrier(CLK_LOCAL_MEM_FENCE); "
    static const struct {
        const char *body;
        unsigned written, left;
    } cases[] = {
        {"t[l] = s; " MEET "s = t[l ^ 1]; " MEET "t[l] = max(s, n) * 3; " MEET "s += t[63 - l];", 3, 1},
        {"t[l] = s; " MEET "if (l < n) s = t[l ^ 1] * n; " MEET "t[l] = s;", 2, 2},
        {"t[l] = s; " MEET "for (int k = 0; k < l; k++) s += t[k] * s; " MEET "t[l] = s;", 2, 2},
        {"t[l] = s; " MEET "s = t[l ^ 1]; b[l] = b[l] / s; " MEET "t[l] = s;", 2, 2}, /* a division of long is a call */
        {"t[l] = s; " MEET "s = far(t[l ^ 1]); " MEET "t[l] = far(s);", 2, 2},
        {"for (int k = 0; k < n; k++) { t[l] = s; " MEET "s = t[l ^ 1]; " MEET "}", 2, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(barriers(cases[i].body, 8), cases[i].written);
        assert_int_equal(barriers(cases[i].body, 16), cases[i].left);
    }
}

#define ARITHMETIC_SHIFTS 0xfe00707fu, 0x40005013u /* The instruction srai. */

/** A signed quotient of a local id or size by a power of two needs no sign correction. */
static void test_group_ids(void **state)
{
    (void)state;
    static const char *const ids[] = {"get_local_id(0)", "get_local_id(2)", "get_local_size(1)"};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        char source[256];
        snprintf(source, sizeof source, "kernel void k(global int *a) { int l = %s; a[l] = l / 16; }", ids[i]);
        assert_int_equal(count(source, ARITHMETIC_SHIFTS), 0);
    }
    /* A global id may be negative as a signed number. */
    assert_int_not_equal(count("kernel void k(global int *a) { int l = get_global_id(0); a[l] = l / 16; }",
                               ARITHMETIC_SHIFTS), 0);
}

/** Loads at 4 bytes after a multiple of 64, which read the second component of a work-item's vector. */
#define SECOND_COMPONENTS 0x03f0707fu, 0x00402003u

/** Lanes of coarsened entries access adjacent words of vectors, unless components are used differently. The loop over
 *  single items has one load of each component. */
static void test_vectors(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        int split;
    } cases[] = {
        {"b[i] = a[i];", 1},
        {"b[i] = fma(a[i], (float4)n, b[i] * 2.0f);", 1},
        {"b[i] = n * a[i] + b[i];", 1},
        {"if (n > 3) b[i] = a[i];", 1},
        {"if (i < get_global_size(0) - 3) b[i] = a[i];", 0}, /* The lanes of a row might diverge. */
        {"b[i] = a[i].wzyx;", 0},
        {"b[i] = a[i] + (float4)(n, n, n, 0);", 0},
        {"b[i] = a[i] * i;", 0},
        {"b[i] = a[i] * a[i].x;", 0},
        {"b[2 * i] = a[i];", 0},
        {"b[i] = a[i] + ((global float *)a)[3];", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char source[512];
        snprintf(source, sizeof source, "kernel void k(global float4 *a, global float4 *b, float n)"
                 "{ uint i = get_global_id(0); %s }", cases[i].body);
        const unsigned n = count_in("__entry_k.coarse", source, SECOND_COMPONENTS);
        if (cases[i].split != (n <= 3)) { /* These are the loop's loads of both vectors, and an argument's. */
            fail_msg("%s: %u loads of second components", cases[i].body, n);
        }
    }
}

/** Registers that an entry stores on the stack without having written them: it saves them for a caller. */
static unsigned saves_of(const char *source)
{
    unsigned saves = 0, words = 0;
    uint32_t written = 0, *code = entry_of("__entry_k", source, &words);
    for (unsigned i = 0; i < words; i++) {
        const uint32_t opcode = code[i] & 0x7f, rd = code[i] >> 7 & 31, rs1 = code[i] >> 15 & 31;
        if (opcode == 0x23) { /* a store */
            saves += rs1 == 2 && !(written >> (code[i] >> 20 & 31) & 1);
        } else if (opcode != 0x63) { /* no branch */
            written |= 1u << rd;
        }
    }
    free(code);
    return saves;
}

/** Entries save no register, wherever their code needs the first of the callee-saved ones. */
static void test_no_saves(void **state)
{
    (void)state;
    static const char *const before[] = {
        "", "if (i >= n) return;", "if (i < 3 || i >= n) { a[i] = n; return; }",
        "int lo = i < n ? i : n - 1, hi = lo > 3 ? lo : a[0]; i = hi + lo;",
        "if (n > 4) a[0] = 1; else a[n] = 2; if (i > n) return;",
        "while (a[i] < n) i++; if (a[i] == n) return;",
    };
    static const char *const work[] = {
        "int v[24]; for (int k = 0; k < 24; k++) v[k] = a[i + k * n]; barrier(CLK_LOCAL_MEM_FENCE);"
        "for (int k = 0; k < 24; k++) a[i * k] = v[k] * v[23 - k];",
        "global float *f = (global float *)a; for (int k = i; k < n; k++) f[k] = pow(f[k], f[i]) * sin(f[k + 1]);",
        "int v[40]; for (int k = 0; k < 40; k++) v[k] = a[i + k]; for (int k = 0; k < n; k++) v[k] += v[a[k]];"
        "for (int k = 0; k < 40; k++) a[i + k] = v[k];",
    };
    for (size_t b = 0; b < sizeof before / sizeof *before; b++) {
        for (size_t w = 0; w < sizeof work / sizeof *work; w++) {
            char source[1024];
            snprintf(source, sizeof source, "kernel void k(global int *a, int n) { int i = get_global_id(0); %s %s }",
                     before[b], work[w]);
            const unsigned saves = saves_of(source);
            if (saves) {
                fail_msg("%u registers are saved: %s", saves, source);
            }
        }
    }
}

/** An entry has a frame only if it uses it: for variables, spilled values, or arguments of calls, not for saves. */
static void test_frames(void **state)
{
    (void)state;
    static const char start[] = "kernel void k(global int *a, int n) { int i = get_global_id(0);";
    static const struct {
        const char *body;
        unsigned frames;
    } cases[] = {
        {"int v[14]; for (int k = 0; k < 14; k++) v[k] = a[i + k * n]; barrier(CLK_LOCAL_MEM_FENCE);"
         "for (int k = 0; k < 14; k++) a[i * k] = v[k] * v[13 - k]; }", 0},
        {"int v[14]; for (int k = 0; k < 14; k++) v[k] = a[i + k]; a[i] = v[n] + v[a[i]]; }", 1},
        {"int v[60]; for (int k = 0; k < 60; k++) v[k] = a[i + k * n]; barrier(CLK_LOCAL_MEM_FENCE);"
         "for (int k = 0; k < 60; k++) a[i * k] = v[k] * v[59 - k]; }", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char source[512];
        snprintf(source, sizeof source, "%s %s", start, cases[i].body);
        assert_int_equal(saves_of(source), 0);
        assert_int_equal(count(source, 0x800fffff, 0x80010113), cases[i].frames); /* addi sp, sp, -x */
    }
}

#define MULTIPLICATIONS 0xfe00707fu, 0x02000033u /* The instruction mul. */
#define SHIFTS_RIGHT 0xfe00707fu, 0x00005013u    /* The instruction srli. */

/** The copies of an unrolled loop that are a constant number of rows apart share one row's quotient and product. */
static void test_one_base(void **state)
{
    (void)state;
    for (unsigned width = 8; width <= 32; width *= 2) {
        for (unsigned step = 32; step <= 128; step *= 2) {
            char source[512];
            snprintf(source, sizeof source, "kernel void k(global const float *a, global float *b, int n) {"
                     "local float t[%u]; int l = get_local_id(0), g = get_group_id(0);"
                     "for (int i = l; i < %u; i += %u) t[i / %u * 33 + i %% %u] = a[(g + i / %u) * n + i %% %u];"
                     "barrier(CLK_LOCAL_MEM_FENCE); b[l] = t[l * n]; }",
                     33 * 8 * step / width, 8 * step, step, width, width, width, width);
            const unsigned products = count(source, MULTIPLICATIONS), quotients = count(source, SHIFTS_RIGHT);
            if (products > 3 || quotients > 1) {
                fail_msg("width %u, step %u: %u products, %u quotients", width, step, products, quotients);
            }
        }
    }
}

#define LOADS 0x0000707fu, 0x00002003u          /* The instruction lw. */
#define STACK_LOADS 0x000ff07fu, 0x00012003u    /* The same from the stack. */
#define PRODUCTS 0xfe00707fu, 0x02000033u       /* The instruction mul. */

/** Four work-items of a stencil, one below the other, load each word once, keep them in registers, and share what the
 *  rows' addresses have in common. The stencil has 2 r + 1 points in each dimension. */
static void test_stencils(void **state)
{
    (void)state;
    for (unsigned dims = 2; dims <= 3; dims++) {
        for (unsigned r = dims == 2 ? 2 : 1; r <= (dims == 2 ? 3 : 1); r++) { /* shorter ones run in rounds */
            char source[640];
            snprintf(source, sizeof source, "kernel void k(global const float *in, global float *out, int n) {"
                     "int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2); float s = 0;"
                     "for (int c = %d; c <= %u; c++) for (int b = -%u; b <= %u; b++) for (int a = -%u; a <= %u; a++)"
                     "s += in[(clamp(z + c, 0, n - 1) * n + clamp(y + b, 0, n - 1)) * n + clamp(x + a, 0, n - 1)];"
                     "out[(z * n + y) * n + x] = s; }", dims == 3 ? -(int)r : 0, dims == 3 ? r : 0, r, r, r, r);
            /* The limits of rows above the first one have several forms, so that a few are loaded again. */
            const unsigned side = 2 * r + 1, planes = dims == 3 ? side : 1, rows = side + 3 + r * (r - 1) / 2;
            const unsigned stack = count_in("__entry_k.coarse", source, STACK_LOADS);
            const unsigned loads = count_in("__entry_k.coarse", source, LOADS) - stack - 3; /* without arguments */
            const unsigned products = count_in("__entry_k.coarse", source, PRODUCTS);
            if (loads > planes * rows * side || stack > loads / 8 || products > rows + 2 * planes + 6) {
                fail_msg("%u dimensions, radius %u: %u loads, %u of the stack, %u products", dims, r, loads, stack,
                         products);
            }
        }
    }
}

/** Loops at the distance of the global size have eight loads in flight. Others, which may be short, have not, nor have
 *  those that store or have atomics. */
static void test_strides(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        int unrolled;
    } cases[] = {
        {"for (uint i = get_global_id(0); i < n; i += get_global_size(0)) s += a[i];", 1},
        {"for (int i = get_global_id(1); i < (int)n; i += get_global_size(1)) s = max(s, a[i]);", 1},
        {"for (uint i = get_global_id(0); i < n; i += get_local_size(0)) s += a[i];", 0},
        {"for (uint i = get_global_id(0); i < n; i += get_global_size(0)) atomic_add(&b[a[i] & 7], i);", 0},
        {"for (uint i = get_global_id(0); i < n; i += get_global_size(0)) b[i] = a[i];", 0},
        {"for (uint i = get_global_id(0); i < n; i += get_global_size(0))"
         "s += *(volatile global uint *)&a[i];", 0},
        {"for (uint i = get_global_id(0); i < a[n]; i += get_global_size(0)) s += i;", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char source[512];
        snprintf(source, sizeof source, "kernel void k(global uint *a, global uint *b, uint n)"
                 "{ uint s = 0; %s b[get_global_id(0)] = s; }", cases[i].body);
        const unsigned loads = count(source, LOADS);
        if (cases[i].unrolled ? loads != 3 + 9 : loads > 3 + 2) { /* three are of arguments */
            fail_msg("%s: %u loads", cases[i].body, loads);
        }
    }
}

/** Limits and exponentials take the same instructions for all work-items. */
static void test_no_branches(void **state)
{
    (void)state;
    static const char *const types[] = {"char", "uchar2", "short3", "ushort", "int", "int4", "uint", "uint2", "float",
                                        "float2", "float3", "float4"};
    static const char *const calls[] = {"clamp(x, y, z)", "max(x, y)", "min(x, y)", "clamp(x, (T)(s), (T)(t))",
                                        "clamp(x, s, t)", "max(x, s)", "min(x, s)", "exp(x)", "exp2(x)",
                                        "native_exp(x)"};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        char scalar[8];
        snprintf(scalar, sizeof scalar, "%.*s", (int)strcspn(types[t], "234"), types[t]);
        for (size_t c = 0; c < sizeof calls / sizeof *calls; c++) {
            char source[512];
            if (strstr(calls[c], "exp") && strncmp(types[t], "float", 5)) {
                continue;
            }
            snprintf(source, sizeof source, "#define T %s\nkernel void k(global T *a, %s s, %s t) { "
                     "int i = get_global_id(0); T x = a[i], y = a[i + 64], z = a[i + 128]; a[i] = %s; }",
                     types[t], scalar, scalar, calls[c]);
            if (count(source, BRANCHES)) {
                fail_msg("branches in %s", source);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_group_ids), cmocka_unit_test(test_selected_stores), cmocka_unit_test(test_barriers),
        cmocka_unit_test(test_vectors), cmocka_unit_test(test_no_saves),
        cmocka_unit_test(test_frames), cmocka_unit_test(test_one_base),
        cmocka_unit_test(test_stencils), cmocka_unit_test(test_strides),
        cmocka_unit_test(test_no_branches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
