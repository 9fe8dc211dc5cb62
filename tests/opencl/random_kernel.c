/* SPDX-License-Identifier: Apache-2.0 */
/** The generator of random kernels (random_kernel.h). */
#include "clt.h"
#include "random_generator.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const type_names[] = {"uint", "ulong", "float"};

const char random_kernel_head[] =
    "#pragma OPENCL FP_CONTRACT OFF\n"
    "#ifdef GROUPS\n#define MEET barrier(CLK_LOCAL_MEM_FENCE);\n#else\n#define MEET\n#endif\n"
    "#define ALIAS(type) typedef type __attribute__((may_alias)) any_##type\n"
    "ALIAS(uchar); ALIAS(char); ALIAS(ushort); ALIAS(short); ALIAS(uint); ALIAS(int); ALIAS(ulong); ALIAS(float);\n"
    "ALIAS(uint4); ALIAS(int4); ALIAS(uchar16); ALIAS(short8); ALIAS(ulong2);\n"
    "float plain(float f) { return f != f ? 7.0f : f == 0.0f ? 0.0f : f; }\n"
    "uint whole(float f) { return f >= -1000000.0f && f <= 1000000.0f ? (uint)(int)f : 77u; }\n"
    "__attribute__((noinline)) uint mix(uint a, uint b) { return a < b ? rotate(a, 5u) ^ b : a * 3u - b; }\n"
    "__attribute__((noinline)) uint steps(uint a) {\n"
    "    uint k = 0; a &= 1023u; while (a > 1u && k < 20u) { a = (a & 1u) ? a * 3u + 1u : a / 2u; k++; } return k; }\n";

void random_put(struct generator *g, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    const int n = vsnprintf(g->text + g->length, RANDOM_SOURCE - g->length, format, list);
    va_end(list);
    g->length += (size_t)n;
    if (g->length >= RANDOM_SOURCE) {
        fail_msg("a random kernel is longer than %d bytes", RANDOM_SOURCE);
    }
}

/** Writes a variable of this type and returns 1, or returns 0 if none is found in a few tries. */
static int variable(struct generator *g, enum type type)
{
    for (unsigned tries = 0; g->n > 0 && tries < 4; tries++) {
        const unsigned i = below(g, g->n);
        if (g->variables[i].type == type) {
            random_put(g, "v%u", g->variables[i].id);
            return 1;
        }
    }
    return 0;
}

/** Writes an index into an array of RANDOM_WORDS elements. */
static void index_of_input(struct generator *g, unsigned depth)
{
    switch (below(g, 6)) {
    case 0: random_put(g, "j %s %uu", ONE_OF(g, "+", "+", "|", "^"), below(g, 64)); break;
    case 1: random_put(g, "(j * %uu + %uu) & %uu", below(g, 7) + 1, below(g, 64), RANDOM_WORDS - 1); break;
    case 2: random_put(g, "(x + y * %uu) & %uu", below(g, 300), RANDOM_WORDS - 1); break;
    case 3: random_put(g, "%uu", below(g, 64)); break;
    case 4: random_put(g, "(n - x) & %uu", RANDOM_WORDS - 1); break;
    default:
        random_put(g, "(");
        random_expression(g, UINT, depth);
        random_put(g, ") & %uu", RANDOM_WORDS - 1);
        break;
    }
}

/** Writes a load of the input, with elements of any size, or of the work-item's own words. */
static void load(struct generator *g, unsigned depth)
{
    if (below(g, 4) == 0) {
        random_put(g, "%s[j * %uu + %uu]", ONE_OF(g, "io", "io2", "out"), g->own, below(g, g->own));
        return;
    }
    random_put(g, "((global const %s *)in)[", ONE_OF(g, "uint", "uint", "int", "uchar", "char", "ushort", "short"));
    index_of_input(g, depth);
    random_put(g, "]");
}

static void leaf(struct generator *g, enum type type)
{
    const uint32_t choice = below(g, 8);
    if (choice < 3 && variable(g, type)) {
        return;
    }
    if (type == FLOAT) {
        if (choice < 5) {
            random_put(g, "reals[");
            index_of_input(g, 0);
            random_put(g, "]");
        } else if (choice == 5) {
            random_put(g, "(float)(int)(%s)", ONE_OF(g, "x", "y", "j", "n", "m"));
        } else {
            random_put(g, "%d.%uf", (int)below(g, 19) - 9, below(g, 999));
        }
    } else if (choice < 6) {
        random_put(g, "(%s)", type_names[type]);
        load(g, 0);
    } else if (choice == 6) {
        random_put(g, "(%s)%s", type_names[type],
            ONE_OF(g, "x", "y", "z", "j", "n", "m", "w", "get_global_size(0)", "get_global_size(1)",
                   "get_global_offset(0)", "get_global_offset(2)", "get_work_dim()", "get_global_size(2)"));
    } else {
        random_put(g, "%u%s", below(g, 2) ? below(g, 9) : clt_random(&g->seed) >> below(g, 32),
                   type == ULONG ? "ul" : "u");
    }
}

static void condition(struct generator *g, unsigned depth)
{
    const char *cast = "";
    enum type type = (enum type)below(g, 3);
    if (type != FLOAT && below(g, 2)) {
        cast = type == UINT ? ONE_OF(g, "(int)", "(char)", "(ushort)") : "(long)";
    }
    random_put(g, "(%s", cast);
    random_expression(g, type, depth);
    random_put(g, " %s %s", ONE_OF(g, "<", "<=", ">", ">=", "==", "!="), cast);
    random_expression(g, type, depth);
    random_put(g, ")");
}

/** Writes f(a, b) or (a op b), given the text before, between and behind the operands. */
static void both(struct generator *g, enum type type, unsigned depth, const char *before, const char *between,
                 const char *behind)
{
    random_put(g, "%s", before);
    random_expression(g, type, depth);
    random_put(g, "%s", between);
    random_expression(g, type, depth);
    random_put(g, "%s", behind);
}

static void choice_of_two(struct generator *g, enum type type, unsigned depth)
{
    random_put(g, "(");
    condition(g, depth);
    both(g, type, depth, " ? ", " : ", ")");
}

static void of_floats(struct generator *g, unsigned depth)
{
    switch (below(g, 9)) {
    case 0:
        both(g, FLOAT, depth, "fma(", ", ", ", ");
        random_expression(g, FLOAT, depth);
        random_put(g, ")");
        break;
    case 1: both(g, FLOAT, depth, below(g, 2) ? "fmin(" : "fmax(", ", ", ")"); break;
    case 2:
        random_put(g, "%s(", ONE_OF(g, "fabs", "floor", "trunc", "rint", "sqrt"));
        random_expression(g, FLOAT, depth);
        random_put(g, ")");
        break;
    case 3:
        random_put(g, "(float)(%s)(", ONE_OF(g, "int", "uint", "short", "uchar"));
        random_expression(g, UINT, depth);
        random_put(g, ")");
        break;
    case 4: choice_of_two(g, FLOAT, depth); break;
    default: both(g, FLOAT, depth, "(", ONE_OF(g, " + ", " - ", " * "), ")"); break;
    }
}

static void of_integers(struct generator *g, enum type type, unsigned depth)
{
    const int wide = type == ULONG;
    char text[64];
    switch (below(g, g->straight ? 11 : 14)) {
    case 0:
        snprintf(text, sizeof text, below(g, 2) ? " << %uu)" : " >> %uu)", below(g, wide ? 64 : 32));
        random_put(g, "(");
        random_expression(g, type, depth);
        random_put(g, "%s", text);
        break;
    case 1:
        random_put(g, "(%s)((%s)", type_names[type], wide ? "long" : ONE_OF(g, "int", "short", "char"));
        random_expression(g, type, depth);
        random_put(g, " >> %uu)", below(g, wide ? 64 : 8));
        break;
    case 2:
        snprintf(text, sizeof text, "%s(", ONE_OF(g, "min", "max", "mul_hi", "hadd", "add_sat", "sub_sat", "abs_diff",
                                                  "rotate"));
        both(g, type, depth, text, ", ", ")");
        break;
    case 3: choice_of_two(g, type, depth); break;
    case 4:
        random_put(g, "%s(", ONE_OF(g, "popcount", "clz"));
        random_expression(g, type, depth);
        random_put(g, ")");
        break;
    case 5:
        random_put(g, "(%s)(%s)(", type_names[type], ONE_OF(g, "uchar", "char", "ushort", "short", "uint", "int"));
        random_expression(g, wide && below(g, 2) ? UINT : type, depth);
        random_put(g, ")");
        break;
    case 6:
        if (wide) {
            random_put(g, "(ulong)");
            both(g, UINT, depth, "(", ONE_OF(g, " * ", " + ", " ^ "), ")");
        } else {
            random_put(g, "(uint)(");
            random_expression(g, ULONG, depth);
            random_put(g, " >> %uu)", below(g, 40));
        }
        break;
    case 7:
        if (wide) {
            both(g, ULONG, depth, "(", " - ", ")");
        } else {
            both(g, UINT, depth, "(", below(g, 2) ? " / (" : " % (", " | 1u))");
        }
        break;
    case 8:
        random_put(g, "(%s)whole(", type_names[type]);
        random_expression(g, FLOAT, depth);
        random_put(g, ")");
        break;
    case 11: both(g, UINT, depth, wide ? "(ulong)mix(" : "mix(", ", ", ")"); break;
    case 12:
        random_put(g, "(%s)steps(", type_names[type]);
        random_expression(g, UINT, depth);
        random_put(g, ")");
        break;
    case 13:
        random_put(g, "(%s)own[", type_names[type]);
        random_expression(g, UINT, depth);
        random_put(g, " & 7u]");
        break;
    default: both(g, type, depth, "(", ONE_OF(g, " + ", " - ", " * ", " & ", " | ", " ^ "), ")"); break;
    }
}

void random_expression(struct generator *g, enum type type, unsigned depth)
{
    if (depth == 0 || below(g, 5) == 0) {
        leaf(g, type);
    } else if (type == FLOAT) {
        of_floats(g, depth - 1);
    } else {
        of_integers(g, type, depth - 1);
    }
}

void random_guard(struct generator *g)
{
    const char *op = ONE_OF(g, "<", "<=", ">", ">=", "!=");
    switch (below(g, 9)) {
    case 0: case 1: random_put(g, "(x %s n)", op); break;
    case 2: random_put(g, "((int)x %s (int)m)", op); break;
    case 3: random_put(g, "(n %s x)", op); break;
    case 4: random_put(g, "(j %s m)", op); break;
    case 5: random_put(g, "((int)(x - %uu) %s (int)(n - %uu))", below(g, 99), op, below(g, 99)); break;
    case 6: random_put(g, "(y %s %uu)", op, below(g, 9)); break;
    case 7: random_put(g, "((long)x * %u %s n)", below(g, 9) + 1, op); break;
    default: random_put(g, "(x - %uu < m)", below(g, 99)); break;
    }
    if (below(g, 3) == 0) {
        random_put(g, " %s ", ONE_OF(g, "&&", "&&", "||", "&", "|"));
        random_guard(g);
    }
}

void random_declare(struct generator *g)
{
    if (g->n == MOST_VARIABLES) {
        return;
    }
    const enum type type = (enum type)below(g, 3);
    random_put(g, "%s v%u = ", type_names[type], g->made);
    random_expression(g, type, below(g, g->straight ? 3 : 4));
    random_put(g, ";\n");
    g->variables[g->n].type = type;
    g->variables[g->n++].id = g->made++;
}

void random_store(struct generator *g)
{
    static const struct { const char *name; unsigned n; } narrow[] = { /* n elements make a word. */
        {"uchar", 4}, {"char", 4}, {"ushort", 2}, {"short", 2}, {"uint", 1}, {"int", 1}};
    const char *to = ONE_OF(g, "out", "io", "io2");
    const uint32_t kind = below(g, g->own == 1 ? 4 : 6);
    const unsigned depth = g->straight ? below(g, 3) + 1 : 3; /* Long kernels without loops are not coarsened. */
    if (kind < 3) {
        const uint32_t t = below(g, LENGTH(narrow));
        random_put(g, "((global any_%s *)%s)[j * %uu + %uu] %s ", narrow[t].name, to, narrow[t].n * g->own,
            below(g, narrow[t].n * g->own), ONE_OF(g, "=", "=", "+=", "^="));
        random_expression(g, UINT, depth);
    } else if (kind == 3) {
        random_put(g, "((global any_float *)%s)[j * %uu + %uu] = plain(", to, g->own, below(g, g->own));
        random_expression(g, FLOAT, depth);
        random_put(g, ")");
    } else if (kind == 4) {
        random_put(g, "((global any_ulong *)%s)[j * 2u + %uu] %s ", to, below(g, 2), ONE_OF(g, "=", "-="));
        random_expression(g, ULONG, depth);
    } else if (below(g, 2)) {
        const unsigned n = below(g, 3) + 2;
        random_put(g, "vstore%u((uint%u)(", n, n);
        for (unsigned i = 0; i < n; i++) {
            random_put(g, i ? ", " : "");
            random_expression(g, UINT, 1);
        }
        random_put(g, "), 0, %s + j * 4u)", to);
    } else {
        const char *type = ONE_OF(g, "uint4", "int4", "uchar16", "short8", "ulong2");
        random_put(g, "((global any_%s *)%s)[j] %s ((global const %s *)in)[(j * %uu + %uu) & %uu] %s (%s)(%u)", type,
                   to, ONE_OF(g, "=", "+=", "^="), type, below(g, 3) + 1, below(g, 20), RANDOM_WORDS / 4 - 1,
            ONE_OF(g, "*", "-", "|"), type, below(g, 9));
    }
    random_put(g, ";\n");
}

static void atomic(struct generator *g)
{
    static const char *const calls[] = {"atomic_add", "atomic_or", "atomic_xor", "atomic_max"};
    const uint32_t which = below(g, LENGTH(calls));
    random_put(g, "%s(&counters[%uu + ((", calls[which], which * 64);
    random_expression(g, UINT, 1);
    random_put(g, ") & 63u)], ");
    random_expression(g, UINT, 2);
    random_put(g, ");\n");
}

static void block(struct generator *g, unsigned depth);

static void loop(struct generator *g, unsigned depth)
{
    const unsigned id = g->made++;
    const int once = (int)below(g, 3);
    random_put(g, once ? "for (uint t%u = 0; t%u < (" : "uint t%u = 0; do { if (t%u >= (", id, id);
    random_expression(g, UINT, 2);
    random_put(g, once ? " & 7u); t%u++) {\n" : " & 7u)) break; t%u++;\n", id);
    g->loops++;
    block(g, depth);
    g->loops--;
    random_put(g, once ? "}\n" : "} while (");
    if (!once) {
        condition(g, 1);
        random_put(g, ");\n");
    }
}

static void choose_case(struct generator *g, unsigned depth)
{
    const unsigned n = below(g, 5) + 2, loops = g->loops;
    random_put(g, "switch ((");
    random_expression(g, UINT, 2);
    random_put(g, ") & 7u) {\n");
    /* No `break` or `continue` of an outer loop is written here, since it would leave the switch. */
    g->loops = 0;
    for (unsigned i = 0; i < n; i++) {
        random_put(g, i + 1 < n ? "case %u: {\n" : "default: {\n", i);
        block(g, depth);
        random_put(g, below(g, 4) ? "} break;\n" : "}\n");
    }
    random_put(g, "}\n");
    g->loops = loops;
}

static void statement(struct generator *g, unsigned depth)
{
    switch (below(g, depth ? 16 : 9)) {
    case 0: case 1: case 2: random_declare(g); break;
    case 3: case 4: random_store(g); break;
    case 5:
        random_put(g, "own[");
        random_expression(g, UINT, 1);
        random_put(g, " & 7u] %s ", ONE_OF(g, "=", "+="));
        random_expression(g, UINT, 2);
        random_put(g, ";\n");
        break;
    case 6: atomic(g); break;
    case 7: case 8:
        if (g->n > 0) {
            const unsigned i = below(g, g->n);
            random_put(g, "v%u %s ", g->variables[i].id, ONE_OF(g, "=", "+=", "-="));
            random_expression(g, g->variables[i].type, 2);
            random_put(g, ";\n");
        }
        break;
    case 9:
        random_put(g, "if (");
        condition(g, 2);
        random_put(g, ") %s;\n", g->loops > 0 ? ONE_OF(g, "break", "continue", "return") : "return");
        break;
    case 10: case 11: case 12:
        random_put(g, "if (");
        condition(g, 2);
        random_put(g, ") {\n");
        block(g, depth - 1);
        if (below(g, 2)) {
            random_put(g, "} else {\n");
            block(g, depth - 1);
        }
        random_put(g, "}\n");
        break;
    case 13: choose_case(g, depth - 1); break;
    default: loop(g, depth - 1); break;
    }
}

static void block(struct generator *g, unsigned depth)
{
    const unsigned n = g->n;
    for (uint32_t i = below(g, 4) + 1; i > 0; i--) {
        statement(g, depth);
    }
    g->n = n;
}

static void straight_body(struct generator *g)
{
    unsigned open = 0;
    for (uint32_t guards = below(g, 8) * below(g, 2) / 2; guards > 0; guards--) {
        if (below(g, 3) == 0) {
            random_declare(g);
        }
        random_put(g, "if (");
        random_guard(g);
        if (below(g, 2)) {
            random_put(g, ") return;\n");
        } else {
            random_put(g, ") {\n");
            open++;
        }
    }
    for (uint32_t i = below(g, 3) + 1; i > 0; i--) {
        if (below(g, 3) == 0) {
            random_declare(g);
        }
        random_store(g);
    }
    for (; open > 0; open--) {
        random_put(g, "}\n");
    }
}

uint32_t random_kernel(uint32_t seed, const char *name, enum random_kind kind, char text[RANDOM_SOURCE])
{
    const int straight = kind != RANDOM_LOOPS;
    struct generator *g = &(struct generator){.seed = seed, .text = text, .straight = straight, .own = 4};
    if (straight && below(g, 2)) {
        g->own = 1; /* With fewer own words, more copies of the work-item fit into the offset range of a load. */
    }
    random_put(g, "kernel void %s(global uint *%sout, global uint *io, global uint *io2, global const uint *%sin,\n"
        "    global const float *reals, global uint *counters, uint n, uint m, long w)\n{\n"
        "uint x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);\n"
        "uint j = ((z - get_global_offset(2)) * get_global_size(1) + y - get_global_offset(1)) * get_global_size(0)\n"
        "    + x - get_global_offset(0);\nMEET\n", name, ONE_OF(g, "", "restrict "), ONE_OF(g, "", "restrict "));
    if (kind == RANDOM_UNIFORM) {
        random_uniform_body(g);
    } else if (straight) {
        straight_body(g);
    } else {
        random_put(g, "uint own[8] = {x, n, m, j, 1u, 2u, 3u, 4u};\n");
        for (uint32_t i = below(g, 5) + 3; i > 0; i--) {
            statement(g, 3);
        }
        random_put(g, "for (uint k = 0; k < 8u; k++) out[j * 4u + (k & 3u)] ^= own[k];\n");
    }
    random_put(g, "}\n");
    return g->seed;
}

static size_t part(uint32_t *seed, size_t n)
{
    return clt_random(seed) % n;
}

struct random_range random_range(uint32_t *seed, size_t most)
{
    struct random_range r = {.dims = (cl_uint)part(seed, 3) + 1, .global = {1, 1, 1}};
    const bool rows = part(seed, 3) == 0;
    r.global[0] = rows || part(seed, 4) == 0 ? part(seed, 300) + 1 : part(seed, most) + 1;
    r.global[0] = part(seed, 4) == 0 ? (r.global[0] + 255) / 256 * 256 : r.global[0];
    r.global[0] = r.global[0] < most ? r.global[0] : most;
    for (cl_uint i = 1; i < r.dims; i++) {
        const size_t room = most / (r.global[0] * r.global[1]);
        const size_t rows_most = rows ? 150 : 9;
        r.global[i] = part(seed, room < rows_most ? room : rows_most) + 1;
        r.global[i] = r.global[i] < room ? r.global[i] : room;
    }
    for (cl_uint i = 0; i < r.dims; i++) {
        r.offset[i] = part(seed, 2) == 0 ? 0 : part(seed, 2) == 0 ? part(seed, 100) : part(seed, 1u << 30);
    }
    r.n = (cl_uint)(r.offset[0] + part(seed, r.global[0] + r.global[0] / 8 + 1));
    r.m = (cl_uint)(part(seed, 2) == 0 ? part(seed, 9) : r.offset[0] + part(seed, r.global[0] + 9));
    return r;
}
