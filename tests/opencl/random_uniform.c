/* SPDX-License-Identifier: Apache-2.0 */
/** Random kernels whose branches are uniform (random_kernel.h). */
#include "random_generator.h"

/** Writes a number that is the same for all work-items of a row, a column, or the range, as `free` says. */
static void uniform_number(struct generator *g, const char *free)
{
    static const char *const counters[] = {"c0", "c1", "c2"};
    switch (below(g, 7)) {
    case 0: random_put(g, "in[%uu]", below(g, 64)); break;
    case 1: random_put(g, "(m ^ %uu)", below(g, 9)); break;
    case 2: random_put(g, "(n >> %uu)", below(g, 5)); break;
    case 3: random_put(g, "(n + %s)", g->loops ? counters[below(g, g->loops)] : "m"); break;
    case 4: random_put(g, "(%s)", *free ? free : "(uint)w"); break;
    case 5: random_put(g, "(in[(%s + %uu) & 63u] >> %uu)", *free ? free : "n", below(g, 64), below(g, 9)); break;
    default: random_put(g, "%s", g->loops ? counters[below(g, g->loops)] : "n"); break;
    }
}

static void uniform_block(struct generator *g, unsigned depth, const char *free);

static void uniform_statement(struct generator *g, unsigned depth, const char *free)
{
    switch (below(g, depth ? 10 : 6)) {
    case 0: case 1: random_declare(g); break;
    case 2: random_store(g); break;
    case 3: case 4: case 5:
        if (g->n > 0) {
            const unsigned i = below(g, g->n);
            random_put(g, "v%u %s ", g->variables[i].id, ONE_OF(g, "=", "+=", "-="));
            random_expression(g, g->variables[i].type, 2);
            random_put(g, ";\n");
        }
        break;
    case 6:
        random_put(g, "if ((");
        uniform_number(g, free);
        random_put(g, " & %uu) %s) {\n", below(g, 7) + 1, ONE_OF(g, "== 0u", "!= 0u", "< 2u"));
        uniform_block(g, depth - 1, free);
        if (g->loops && below(g, 3) == 0) {
            random_put(g, "%s;\n", ONE_OF(g, "break", "continue"));
        } else if (below(g, 2)) {
            random_put(g, "} else {\n");
            uniform_block(g, depth - 1, free);
        }
        random_put(g, "}\n");
        break;
    default:
        random_put(g, "for (uint c%u = 0; c%u < (", g->loops, g->loops);
        uniform_number(g, free);
        random_put(g, " & %uu); c%u++) {\n", below(g, 2) ? 7u : 15u, g->loops);
        g->loops++;
        uniform_block(g, depth - 1, free);
        g->loops--;
        random_put(g, "}\n");
        break;
    }
}

static void uniform_block(struct generator *g, unsigned depth, const char *free)
{
    const unsigned n = g->n;
    for (uint32_t i = below(g, 3) + 1; i > 0; i--) {
        uniform_statement(g, depth, free);
    }
    g->n = n;
}

void random_uniform_body(struct generator *g)
{
    const char *free = ONE_OF(g, "", "", "x", "y");
    for (uint32_t guards = below(g, 3); guards > 0; guards--) {
        random_put(g, "if (");
        random_guard(g);
        random_put(g, ") return;\n");
    }
    for (uint32_t i = below(g, 3) + 2; i > 0; i--) {
        random_declare(g);
    }
    for (uint32_t i = below(g, 3) + 1; i > 0; i--) {
        uniform_statement(g, 3, free);
    }
    for (unsigned i = 0; i < g->n; i++) {
        random_put(g, "out[j * %uu] ^= whole(v%u);\n", g->own, g->variables[i].id);
    }
    random_store(g);
}
