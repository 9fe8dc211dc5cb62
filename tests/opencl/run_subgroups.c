/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Functions of sub-groups, for every type, in groups of all shapes, smaller ones at the ends of the range among them,
 * and compared with the host. Whole sub-groups call them, and parts of sub-groups: in branches, loops that
 * work-items leave in different rounds, behind such loops, and behind the early end of some work-items. A loop of a
 * random length before the calls makes lanes arrive at different times.
 */
#include "sub_groups.h"

#include <CL/cl_half.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { FORMS = 64 };

static const struct type {
    const char *name;
    unsigned bytes;
    bool is_signed, is_float;
} types[] = {
    {"char", 1, true, false}, {"uchar", 1, false, false}, {"short", 2, true, false}, {"ushort", 2, false, false},
    {"int", 4, true, false},  {"uint", 4, false, false},  {"long", 8, true, false},  {"ulong", 8, false, false},
    {"float", 4, true, true}, {"double", 8, true, true},  {"half", 2, true, true},
};

/* DELAY: lanes arrive at different times. how: random bits of each work-item. */
#define HEAD                                                                                                  \
    "#define DELAY for (uint j = 0; j < (how[i] >> 24 & 63); j++) w = w * 5 + x;\n"                           \
    "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"                                                         \
    "kernel void f(global const T *in, global const uint *how, global T *out, global uint *words, uint n,\n"  \
    "              uint at) {\n"                                                                              \
    "  const uint i = get_global_linear_id(), h = how[i];\n"                                                  \
    "  const T v = in[i], f = (T)(1 + (h >> 20 & 1));\n"                                                      \
    "  uint w = h, x = at, k = 0;\n"                                                                          \
    "#define R(e) out[k++ * n + i] = (T)(e)\n"                                                                \
    "  DELAY\n"

#define FOLDS(p, o, v) \
    "R(" p "reduce_" o "(" v ")); R(" p "scan_inclusive_" o "(" v ")); R(" p "scan_exclusive_" o "(" v "));\n"

static const char whole[] = HEAD
    FOLDS("sub_group_", "add", "v") FOLDS("sub_group_", "min", "v") FOLDS("sub_group_", "max", "v")
    "R(sub_group_broadcast(v, at % get_sub_group_size()));\n"
    "DELAY\n"
    "R(sub_group_all(h & 3) + 2 * sub_group_any((h & 63) == 0));\n"
    "words[i] = w;\n"
    "}\n";

/* Both ways of the branch call the functions. */
static const char parts[] = HEAD
    "#define BODY "
    "  R(sub_group_shuffle(v, h >> 8 & (get_max_sub_group_size() - 1)));"
    "  R(sub_group_shuffle_xor(v, at & 3)); R(sub_group_shuffle_up(v, at & 3)); R(sub_group_shuffle_down(v, at & 3));"
    "  R(sub_group_rotate(v, (int)at - 9)); R(sub_group_clustered_rotate(v, (int)at - 9, 4));"
    "  R(sub_group_broadcast_first(v)); R(sub_group_non_uniform_all_equal((T)(h >> 22 & 3)));"
    "  { const uint4 b = sub_group_ballot(h & 4); R(sub_group_non_uniform_broadcast(v, sub_group_ballot_find_lsb("
    "      sub_group_ballot(1)))); words[n + i] = b.x; words[2 * n + i] = b.y | b.z | b.w; }"
    "  words[3 * n + i] = sub_group_elect() + 2 * sub_group_non_uniform_all(h & 3) +"
    "      4 * sub_group_non_uniform_any((h & 63) == 0);\n"
    "#define ARITHMETIC(o, v) R(sub_group_non_uniform_reduce_##o(v)); R(sub_group_non_uniform_scan_inclusive_##o(v));"
    "  R(sub_group_non_uniform_scan_exclusive_##o(v)); R(sub_group_clustered_reduce_##o(v, 4));\n"
    "  if (h & 1) { DELAY BODY ARITHMETIC(add, v) ARITHMETIC(mul, f) ARITHMETIC(min, v) ARITHMETIC(max, v) BITS }\n"
    "  else { BODY DELAY ARITHMETIC(add, v) ARITHMETIC(mul, f) ARITHMETIC(min, v) ARITHMETIC(max, v) BITS }\n"
    "  words[i] = w;\n"
    "}\n";

/* Loops and branches within each other. */
static const char nested[] = HEAD
    "  T s = 0, t = 0;\n"
    "  for (uint j = 0; j < (h & 7); j++) {\n"
    "    s += sub_group_non_uniform_reduce_max(v);\n"
    "    if (h >> (8 + j) & 1) { t += sub_group_non_uniform_reduce_min(v); DELAY }\n"
    "    if (j % 3 == 1) {\n"
    "      if (h >> 7 & 1) { t += sub_group_broadcast_first(v); }\n"
    "      else { DELAY x += (uint)sub_group_shuffle((ulong)h * 3, j) + sub_group_shuffle((uchar)h, j); }\n"
    "    }\n"
    "  }\n"
    "  R(s); R(t);\n"
    "  R(sub_group_reduce_max(s));\n"
    "  uint count = 0, j = 0;\n"
    "  while (1) {\n"
    "    if (j >= (h >> 16 & 7)) break;\n"
    "    switch (h >> (2 * j) & 3) {\n"
    "    case 0: count += sub_group_ballot(1).x; break;\n"
    "    case 1: DELAY count += 3 * sub_group_ballot(h & 4).x; break;\n"
    "    default: break;\n"
    "    }\n"
    "    j++;\n"
    "  }\n"
    "  words[n + i] = count;\n"
    "  words[i] = w;\n"
    "  if (h >> 19 & 1) return;\n"
    "  R(sub_group_reduce_min(v));\n"
    "  if (h >> 20 & 1) { if (h >> 21 & 1) return; R(sub_group_reduce_max(v)); }\n"
    "}\n";

/* Ways that leave loops, branches and the kernel before they meet others. */
static const char ways[] = HEAD
    "  uint count = 0, r = 0;\n"
    "  for (uint j = 0; j < 8; j++) {\n"
    "    if (h >> j & 1) { w++; if (h >> (8 + j) & 1) break; DELAY }\n"
    "    else if (h >> (16 + j) & 1) continue;\n"
    "    count += sub_group_ballot(1).x * (j + 1);\n"
    "  }\n"
    "  R(sub_group_reduce_max(v));\n"
    "  if ((h & 3) == 0 || (((global const volatile uint *)how)[i] >> 5 & 7) < 3) {\n"
    "    r = sub_group_ballot(1).x;\n"
    "    DELAY\n"
    "  }\n"
    "  words[n + i] = count;\n"
    "  words[2 * n + i] = r;\n"
    "  if (h & 1) { if (h & 2) goto x; r = 3; } else { DELAY if (h & 4) goto x; r = 4; }\n"
    "  goto y;\n"
    "x: r += 2 * sub_group_ballot(1).x;\n"
    "y: for (uint j = 0; j < 5; j++) {\n"
    "    if (h >> (16 + j) & 1) { DELAY if (h >> (22 + j) & 1) { words[3 * n + i] = r; return; } }\n"
    "    r += sub_group_ballot(1).x;\n"
    "  }\n"
    "  R(sub_group_reduce_min(v));\n"
    "  words[3 * n + i] = r;\n"
    "  words[i] = w;\n"
    "}\n";

static const struct type *type;
static int64_t value[MOST];
static uint32_t how[MOST];
static int64_t want[FORMS][MOST];
static bool known[FORMS][MOST];
static uint32_t want_words[4][MOST];
static unsigned form;

/** Converts a value to the type. Floats have small whole numbers. */
static int64_t cut(int64_t v)
{
    const unsigned bits = 64 - 8 * type->bytes;
    const uint64_t u = (uint64_t)v << bits;
    return type->is_float ? v : type->is_signed ? (int64_t)u >> bits : (int64_t)(u >> bits);
}

enum op { ADD, MUL, MIN, MAX, AND, OR, XOR };

static bool less(int64_t a, int64_t b)
{
    return type->is_signed ? a < b : (uint64_t)a < (uint64_t)b;
}

static int64_t combine(enum op op, int64_t a, int64_t b)
{
    switch (op) {
    case ADD: return cut((int64_t)((uint64_t)a + (uint64_t)b));
    case MUL: return cut((int64_t)((uint64_t)a * (uint64_t)b));
    case MIN: return less(b, a) ? b : a;
    case MAX: return less(a, b) ? b : a;
    case AND: return cut(a & b);
    case OR: return cut(a | b);
    default: return cut(a ^ b);
    }
}

/** The neutral element; a float's is infinite, which INT64_MIN and INT64_MAX stand for. */
static int64_t neutral(enum op op)
{
    const int64_t ones = cut(-1), top = type->is_signed ? (int64_t)(1ull << (8 * type->bytes - 1)) : 0;
    switch (op) {
    case MUL: return 1;
    case AND: return ones;
    case MIN: return type->is_float ? INT64_MAX : type->is_signed ? ~cut(top) : ones;
    case MAX: return type->is_float ? INT64_MIN : type->is_signed ? cut(top) : 0;
    default: return 0;
    }
}

/** Expects the result of an operation over the members of a team up to lane `end`, in each member. */
static int64_t fold(const struct sub *s, uint32_t team, enum op op, const int64_t *of, unsigned end)
{
    int64_t r = neutral(op);
    for (unsigned l = 0; l < end && l < s->n; l++) {
        r = team >> l & 1 ? combine(op, r, of[s->item[l]]) : r;
    }
    return r;
}

static void expect(const struct sub *s, unsigned l, int64_t v, bool is_known)
{
    want[form][s->item[l]] = v;
    known[form++][s->item[l]] = is_known;
}

static uint32_t team_of(const struct sub *s, uint32_t among, uint32_t mask, uint32_t bits)
{
    uint32_t team = 0;
    for (unsigned l = 0; l < s->n; l++) {
        team |= (uint32_t)(among >> l & 1 && (how[s->item[l]] & mask) == bits) << l;
    }
    return team;
}

static uint32_t all_of(const struct sub *s)
{
    return ~0u >> (32 - s->n);
}

static void want_whole(const struct sub *s, unsigned at)
{
    const uint32_t all = all_of(s);
    for (unsigned l = 0; l < s->n; l++) {
        static const enum op ops[3] = {ADD, MIN, MAX};
        form = 0;
        for (int o = 0; o < 3; o++) {
            expect(s, l, fold(s, all, ops[o], value, 32), true);
            expect(s, l, fold(s, all, ops[o], value, l + 1), true);
            expect(s, l, fold(s, all, ops[o], value, l), true);
        }
        expect(s, l, value[s->item[at % s->n]], true);
        expect(s, l, (team_of(s, all, 3, 0) == 0) + 2 * (team_of(s, all, 63, 0) != 0), true);
    }
}

static void expect_from(const struct sub *s, unsigned l, uint32_t team, unsigned from)
{
    const bool there = from < s->n && team >> from & 1;
    expect(s, l, there ? value[s->item[from]] : 0, there);
}

static void want_team(const struct sub *s, uint32_t team, unsigned at, const int64_t *factor)
{
    const unsigned first = (unsigned)__builtin_ctz(team);
    for (unsigned l = 0; l < s->n; l++) {
        const unsigned i = s->item[l];
        if (!(team >> l & 1)) {
            continue;
        }
        form = 0;
        expect_from(s, l, team, how[i] >> 8 & (lanes - 1));
        expect_from(s, l, team, l ^ (at & 3));
        expect_from(s, l, team, l - (at & 3));
        expect_from(s, l, team, l + (at & 3));
        expect_from(s, l, team, (l + at - 9) & (lanes - 1));
        expect_from(s, l, team, (l & ~3u) | ((l + at - 9) & 3));
        expect_from(s, l, team, first);
        bool equal = true;
        for (unsigned o = 0; o < s->n; o++) {
            equal = equal && (!(team >> o & 1) || (how[s->item[o]] >> 22 & 3) == (how[i] >> 22 & 3));
        }
        expect(s, l, equal, true);
        expect_from(s, l, team, first);
        want_words[1][i] = team_of(s, team, 4, 4);
        want_words[2][i] = 0;
        want_words[3][i] = (uint32_t)((first == l) + 2 * (team_of(s, team, 3, 0) == 0) +
                                      4 * (team_of(s, team, 63, 0) != 0));
        for (enum op op = ADD; op <= (type->is_float ? MAX : XOR); op++) {
            const int64_t *of = op == MUL ? factor : value;
            expect(s, l, fold(s, team, op, of, 32), true);
            expect(s, l, fold(s, team, op, of, l + 1), true);
            expect(s, l, fold(s, team, op, of, l), true);
            expect(s, l, fold(s, team & 15u << (l & ~3u), op, of, 32), true);
        }
    }
}

static void want_parts(const struct sub *s, unsigned at)
{
    int64_t factor[MOST];
    for (unsigned l = 0; l < s->n; l++) {
        factor[s->item[l]] = 1 + (how[s->item[l]] >> 20 & 1);
    }
    for (uint32_t side = 0; side < 2; side++) {
        const uint32_t team = team_of(s, all_of(s), 1, side);
        if (team) {
            want_team(s, team, at, factor);
        }
    }
}

static void want_nested(const struct sub *s, unsigned at)
{
    int64_t sum[MOST], other[MOST];
    uint32_t count[32] = {0}, inside = all_of(s);
    (void)at;
    for (unsigned l = 0; l < s->n; l++) {
        sum[s->item[l]] = other[s->item[l]] = 0;
    }
    for (uint32_t j = 0; j < 8; j++) {
        uint32_t in = 0;
        for (unsigned l = 0; l < s->n; l++) {
            in |= (uint32_t)((how[s->item[l]] & 7) > j) << l;
        }
        const uint32_t odd = team_of(s, in, 1u << (8 + j), 1u << (8 + j)), seven = team_of(s, in, 128, 128);
        for (unsigned l = 0; l < s->n; l++) {
            const unsigned i = s->item[l];
            sum[i] = in >> l & 1 ? combine(ADD, sum[i], fold(s, in, MAX, value, 32)) : sum[i];
            other[i] = odd >> l & 1 ? combine(ADD, other[i], fold(s, odd, MIN, value, 32)) : other[i];
            other[i] = j % 3 == 1 && seven >> l & 1
                ? combine(ADD, other[i], value[s->item[__builtin_ctz(seven)]]) : other[i];
        }
    }
    for (uint32_t j = 0; j < 8; j++) {
        for (unsigned l = 0; l < s->n; l++) {
            inside &= ~((uint32_t)(j >= (how[s->item[l]] >> 16 & 7)) << l);
        }
        const uint32_t zero = team_of(s, inside, 3u << 2 * j, 0), one = team_of(s, inside, 3u << 2 * j, 1u << 2 * j);
        for (unsigned l = 0; l < s->n; l++) {
            count[l] += zero >> l & 1 ? zero : one >> l & 1 ? 3 * team_of(s, one, 4, 4) : 0;
        }
    }
    const uint32_t stay = team_of(s, all_of(s), 1u << 19, 0), last = team_of(s, stay, 3u << 20, 1u << 20);
    for (unsigned l = 0; l < s->n; l++) {
        form = 0;
        expect(s, l, sum[s->item[l]], true);
        expect(s, l, other[s->item[l]], true);
        expect(s, l, fold(s, all_of(s), MAX, sum, 32), true);
        want_words[1][s->item[l]] = count[l];
        expect(s, l, fold(s, stay, MIN, value, 32), stay >> l & 1);
        expect(s, l, fold(s, last, MAX, value, 32), last >> l & 1);
    }
}

static void want_ways(const struct sub *s, unsigned at)
{
    uint32_t inside = all_of(s), first = 0, at_x = 0, r[32], count[32] = {0};
    (void)at;
    for (uint32_t j = 0; j < 8; j++) {
        const uint32_t odd = team_of(s, inside, 1u << j, 1u << j), out = team_of(s, odd, 256u << j, 256u << j);
        const uint32_t skip = team_of(s, inside & ~odd, 0x10000u << j, 0x10000u << j);
        inside &= ~out;
        for (unsigned l = 0; l < s->n; l++) {
            count[l] += (inside & ~skip) >> l & 1 ? (inside & ~skip) * (j + 1) : 0;
        }
    }
    for (unsigned l = 0; l < s->n; l++) {
        const uint32_t h = how[s->item[l]];
        first |= (uint32_t)((h & 3) == 0 || (h >> 5 & 7) < 3) << l;
        at_x |= (h & 1 ? h >> 1 & 1 : h >> 2 & 1) << l;
    }
    inside = all_of(s);
    for (unsigned l = 0; l < s->n; l++) {
        want_words[2][s->item[l]] = r[l] = first >> l & 1 ? first : 0;
        r[l] = at_x >> l & 1 ? r[l] + 2 * at_x : how[s->item[l]] & 1 ? 3 : 4;
    }
    for (uint32_t j = 0; j < 5; j++) {
        inside &= ~team_of(s, inside, 0x410000u << j, 0x410000u << j);
        for (unsigned l = 0; l < s->n; l++) {
            r[l] += inside >> l & 1 ? inside : 0;
        }
    }
    for (unsigned l = 0; l < s->n; l++) {
        form = 0;
        expect(s, l, fold(s, all_of(s), MAX, value, 32), true);
        expect(s, l, fold(s, inside, MIN, value, 32), inside >> l & 1);
        want_words[1][s->item[l]] = count[l];
        want_words[3][s->item[l]] = r[l];
    }
}

static void store(void *to, int64_t v)
{
    if (type->is_float && type->bytes == 2) {
        const cl_half h = cl_half_from_float((float)v, CL_HALF_RTE);
        memcpy(to, &h, sizeof h);
    } else if (type->is_float && type->bytes == 4) {
        *(float *)to = (float)v;
    } else if (type->is_float) {
        *(double *)to = (double)v;
    } else {
        memcpy(to, &v, type->bytes);
    }
}

/** The bits of a result that is expected. */
static uint64_t bits_of(int64_t v)
{
    uint64_t bits = 0;
    const bool low = v == INT64_MIN, high = v == INT64_MAX;
    if (type->is_float && (low || high)) {
        const double d = low ? -HUGE_VAL : HUGE_VAL;
        const float f = low ? -HUGE_VALF : HUGE_VALF;
        const cl_half h = low ? 0xfc00 : 0x7c00;
        memcpy(&bits, type->bytes == 8 ? (const void *)&d : type->bytes == 4 ? (const void *)&f : &h, type->bytes);
    } else {
        store(&bits, v);
    }
    return bits;
}

static void fill(unsigned n, uint32_t *seed)
{
    const unsigned kind = clt_random(seed) % 3; /* also groups in which votes are unanimous */
    for (unsigned i = 0; i < n; i++) {
        const uint64_t v = (uint64_t)clt_random(seed) << 32 ^ clt_random(seed);
        value[i] = type->is_float ? (int64_t)(v % 101) - 50 : cut((int64_t)v);
        how[i] = clt_random(seed);
        how[i] = kind == 0 ? how[i] | 3u | 3u << 22 : kind == 1 ? how[i] & ~1u : how[i];
    }
}

static void run(cl_kernel k, void (*each)(const struct sub *, unsigned), const struct range *r, uint32_t *seed,
                const char *what)
{
    static unsigned char in[8 * MOST], got[8 * MOST * FORMS];
    static uint32_t words[4 * MOST];
    const cl_uint n = (cl_uint)(r->global[0] * r->global[1] * r->global[2]), at = clt_random(seed) % 64;
    assert_true(n <= MOST);
    const uint32_t from = *seed;
    fill(n, seed);
    memset(in, 0, sizeof in);
    for (unsigned i = 0; i < n; i++) {
        store(in + i * type->bytes, value[i]);
    }
    memset(known, 0, sizeof known);
    memset(want_words, 0xff, sizeof want_words);
    sub_groups_each(r, each, at);
    memset(words, 0xff, sizeof words);
    cl_mem a = clt_buffer(n * type->bytes, in), b = clt_buffer(n * sizeof how[0], how);
    cl_mem c = clt_buffer(FORMS * n * type->bytes, NULL), d = clt_buffer(4 * n * sizeof words[0], words);
    clt_args(k, 6, ARG(a), ARG(b), ARG(c), ARG(d), ARG(n), ARG(at));
    OK(clEnqueueNDRangeKernel(clt_queue, k, r->dims, NULL, r->global, r->local, 0, NULL, NULL));
    clt_read(c, got, FORMS * n * type->bytes);
    clt_read(d, words, 4 * n * sizeof words[0]);
    for (unsigned j = 0; j < FORMS; j++) {
        for (unsigned i = 0; i < n; i++) {
            uint64_t bits = 0;
            memcpy(&bits, got + ((size_t)j * n + i) * type->bytes, type->bytes);
            if (known[j][i] && bits != bits_of(want[j][i])) {
                fail_msg("%s, seed %u, %zux%zux%zu in groups of %zux%zux%zu: form %u of work-item %u is %llx, not %llx",
                         what, from, r->global[0], r->global[1], r->global[2], r->local[0], r->local[1], r->local[2], j,
                         i, (unsigned long long)bits, (unsigned long long)bits_of(want[j][i]));
            }
            if (j > 0 && j < 4 && words[j * n + i] != want_words[j][i]) {
                fail_msg("%s, seed %u, %zux%zux%zu in groups of %zux%zux%zu: word %u of work-item %u is %x, not %x",
                         what, from, r->global[0], r->global[1], r->global[2], r->local[0], r->local[1], r->local[2], j,
                         i, words[j * n + i], want_words[j][i]);
            }
        }
    }
    OK(clReleaseMemObject(a));
    OK(clReleaseMemObject(b));
    OK(clReleaseMemObject(c));
    OK(clReleaseMemObject(d));
}

/** All kernels of a type over all ranges; on an RTL device one kernel of each type over two ranges. */
static void test_type(size_t t, const char *options)
{
    static const struct {
        const char *text;
        void (*each)(const struct sub *, unsigned);
    } kernels[] = {{whole, want_whole}, {parts, want_parts}, {nested, want_nested},
                 {ways, want_ways}};
    uint32_t seed = (uint32_t)t * 11 + 1;
    type = &types[t];
    for (size_t p = clt_on_rtl() ? t % LENGTH(kernels) : 0; p < LENGTH(kernels);
         p += clt_on_rtl() ? LENGTH(kernels) : 1) {
        char all[400], what[480];
        snprintf(all, sizeof all, "%s -DT=%s -DBITS=%s", options, type->name, type->is_float ? ""
                 : "ARITHMETIC(and,v)ARITHMETIC(or,v)ARITHMETIC(xor,v)");
        snprintf(what, sizeof what, "kernel %zu, %s", p, all);
        cl_program program = clt_build(kernels[p].text, all);
        cl_kernel k = sub_groups_kernel(program);
        const size_t some = most < 64 ? most : 64;
        const struct range fixed[] = {
            {2, {9, 5, 1}, {4, 2, 1}}, {3, {5, 4, 3}, {2, 2, 2}}, {1, {1, 1, 1}, {1, 1, 1}},
            {1, {2 * most, 1, 1}, {most, 1, 1}}, {1, {2 * some - 1, 1, 1}, {some, 1, 1}},
        };
        for (size_t i = 0; i < (clt_on_rtl() ? 1 : LENGTH(fixed)); i++) {
            run(k, kernels[p].each, &fixed[i], &seed, what);
        }
        for (int i = 0; i < (clt_on_rtl() ? 1 : 6); i++) {
            const struct range r = sub_groups_range(&seed);
            run(k, kernels[p].each, &r, &seed, what);
        }
        OK(clReleaseKernel(k));
        OK(clReleaseProgram(program));
    }
}

static void test_types(void **state)
{
    static const char *const options[] = {"-cl-std=CL3.0", "-cl-std=CL2.0", "-cl-std=CL3.0 -g",
                                          "-cl-std=CL2.0 -cl-opt-disable"};
    (void)state;
    for (size_t t = 0; t < LENGTH(types); t++) {
        test_type(t, options[t % LENGTH(options)]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_types)};
    return cmocka_run_group_tests(tests, sub_groups_open, clt_close);
}
