/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Chooses the sides of tiles. Each candidate is compiled, and its machine code counted with 8 rounds for each loop, so
 * that registers, spilled values and what the optimizer finds in common count as they are. The lines of memory that it
 * accesses are counted as well (tile_lines.c), and the larger number is its cost. The tile that costs least for each of
 * its work-items is taken, if it costs clearly less than the plain entry.
 */
#include "tile.h"

#include "coarse.h"

#include "../tc_code.h"
#include "../tc_elf.h"

#include <llvm-c/DebugInfo.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 8.0      /* assumed rounds of a loop */
#define CALL 30.0       /* assumed instructions of a call */
#define STACK 4.0       /* of an access of the stack in a loop: the words of all lanes may lie in different lines */
#define GAIN 0.8        /* cost that a tile may have at most, of the plain entry's for the same work-items */
#define BETTER 0.95     /* cost that a larger tile may have at most, of a smaller one's */
#define SIDE 512.0      /* assumed work-items of a range in x, and in y */
#define SINGLE 1.5      /* cost of a work-item that a tile runs by itself, in that of the plain entry */
#define LONGEST 1800u   /* instructions of an entry, most of the instruction cache */
#define LARGEST 7200u   /* instructions of a tile before common ones are found, for the time of the build */

/** Counts the instructions that the code executes, and those of them that access the stack in loops. */
static double count(const uint8_t *bytes, uint32_t words, uint32_t *spills)
{
    double *weight = cc1_code_weights(bytes, words, ROUNDS), sum = 0;
    for (uint32_t i = 0; i < words; i++) {
        const uint32_t word = cc1_code_word(bytes, i);
        const int spilled = weight[i] > 1 && tc_code_is_on_stack(word);
        *spills += (uint32_t)spilled;
        sum += weight[i] * (tc_code_is_call(word) ? CALL : spilled ? STACK : 1);
    }
    free(weight);
    return sum;
}

/** Removes all entries but one, and what only they use. */
static void keep_only(struct cc1 *cc, const char *keep)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(cc->module), next; f; f = next) {
        size_t length;
        const char *name = LLVMGetValueName2(f, &length);
        next = LLVMGetNextFunction(f);
        if (!strncmp(name, CC1_ENTRY_PREFIX, strlen(CC1_ENTRY_PREFIX)) && strcmp(name, keep) != 0) {
            LLVMDeleteFunction(f);
        }
    }
    cc1_module_optimize(cc, "globaldce");
}

double tile_cost(const struct tile_estimate *e)
{
    return e->instructions > e->lines ? e->instructions : e->lines;
}

struct tile_estimate tile_estimate(struct cc1 *cc, LLVMValueRef entry, enum tile_entry is)
{
    struct cc1 scratch = *cc;
    struct tile_estimate e = {0};
    size_t length;
    char *name = cc1_text("%s", LLVMGetValueName2(entry, &length));
    struct tc_elf elf;
    scratch.module = LLVMCloneModule(cc->module);
    keep_only(&scratch, name);
    if (is != TILE_NO_COPIES) {
        cc1_module_optimize(&scratch, TILE_PASSES);
    }
    cc1_addresses(&scratch);
    if (is == TILE_ROWS) {
        e.rows = tile_load_rows(&scratch, LLVMGetNamedFunction(scratch.module, name));
    }
    if (is != TILE_NO_COPIES) {
        tile_share_terms(&scratch, LLVMGetNamedFunction(scratch.module, name));
        tile_order(&scratch, LLVMGetNamedFunction(scratch.module, name));
    }
    cc1_arms(&scratch, LLVMGetNamedFunction(scratch.module, name));
    cc1_entry_end(&scratch, LLVMGetNamedFunction(scratch.module, name));
    cc1_order(&scratch);
    e.lines = tile_lines(&scratch, LLVMGetNamedFunction(scratch.module, name), ROUNDS);
    if (scratch.explain) {
        LLVMStripModuleDebugInfo(scratch.module);
    }
    LLVMMemoryBufferRef object = cc1_emit(&scratch);
    if (tc_elf_open(&elf, LLVMGetBufferStart(object), LLVMGetBufferSize(object))) {
        cc1_die(CC1_INTERNAL, "not an object");
    }
    const uint8_t *code = cc1_code_find(&elf, name, &e.words);
    if (!code) {
        cc1_die(CC1_INTERNAL, "entry '%s' is lost", name);
    }
    e.instructions = count(code, e.words, &e.spills);
    LLVMDisposeMemoryBuffer(object);
    LLVMDisposeModule(scratch.module);
    free(name);
    return e;
}

/** The cost of a tile for each of its work-items. A tile at a border of the range, of which not all work-items pass the
 *  guards, runs its work-items one after the other, and lets the other lanes of its row wait. */
static double cost_of_each(const struct tile *t, const struct tile_estimate *tile, const struct tile_estimate *plain)
{
    const double at_x = t->borders & TILE_X ? 2.0 * CC1_COARSE_STRIDE * t->x / SIDE : 0;
    const double at_y = t->borders & TILE_Y ? 2.0 * t->y / SIDE : 0;
    return tile_cost(tile) / (t->x * t->y) + (at_x + at_y) * tile_cost(plain) * SINGLE;
}

/** A way to make tiles. */
struct way {
    unsigned x, y;
    int rows; /**< The lanes of a row load words for each other. */
};

/** True: the way is allowed, and worth a try: a tile has copies in a dimension only if the id is read. Larger tiles are
 *  tried only while larger ones are better. */
static int is_candidate(const struct tile *t, const struct way *w, const struct way *best)
{
    const unsigned sides = (w->x > 1 ? TILE_X : 0u) | (w->y > 1 ? TILE_Y : 0u), free = t->reads & ~t->divergent;
    const unsigned n = w->x * w->y;
    if ((sides & ~free) != 0 || t->n * n > LARGEST) {
        return 0;
    }
    if (w->rows) {
        return tile_may_load_rows(t) && (n == 1 || best->y == w->y || (best->rows && best->y >= n / 2));
    }
    return (n > 2 || free != TILE_BOTH) && (n <= 4 || best->x * best->y >= n / 2);
}

/** Says why no tile was taken. least: the best one of those that were made, or NULL. */
static int refuse(struct tile *t, const struct tile_estimate *plain, const struct tile_estimate *least, unsigned x,
                  unsigned y)
{
    if (t->reads == (t->divergent & t->reads)) {
        const int in_y = (t->divergent & TILE_Y) != 0;
        return cc1_refuse(&t->why, t->branch[in_y], "a branch depends on the id in %s, and it uses no global id in %s",
                          in_y ? "y" : "x", in_y ? "x" : "y");
    }
    if (!least) {
        return cc1_refuse(&t->why, NULL, "it has %zu instructions before code is generated, too many for a tile", t->n);
    }
    if (least->words + plain->words > LONGEST) {
        return cc1_refuse(&t->why, NULL, "with a tile of %u x %u work-items, both entries would have %u instructions, "
                          "and the instruction cache has room for %u", x, y, least->words + plain->words, LONGEST);
    }
    t->x = x;
    t->y = y;
    return cc1_refuse(&t->why, NULL, "a tile of %u x %u work-items would need %.0f %s, the plain entry needs %.0f, and "
                      "a tile pays up to %.0f %% of that (with %.0f rounds for each loop)", x, y,
                      cost_of_each(t, least, plain),
                      plain->lines > plain->instructions ? "lines of memory for 16 work-items in x"
                                                         : "instructions for each work-item",
                      tile_cost(plain), 100 * GAIN, ROUNDS);
}

static void set_way(struct tile *t, const struct way *w)
{
    t->x = w->x;
    t->y = w->y;
    t->rows = w->rows;
}

/** Chooses the sides of the tile, and whether lanes load words for each other. 0: no tile pays. single: no
 *  lanes load words for each other. */
static int choose(struct tile *t, int single)
{
    static const struct way ways[] = {{2, 1, 0}, {1, 2, 0}, {2, 2, 0}, {1, 4, 0}, {4, 1, 0}, {2, 4, 0}, {4, 2, 0},
                                      {4, 4, 0}, {1, 1, 1}, {1, 2, 1}, {1, 4, 1}};
    const struct tile_estimate plain = tile_estimate(t->cc, t->plain, TILE_NO_COPIES);
    struct tile_estimate least = {0};
    double lowest = tile_cost(&plain) * GAIN, nearest = 0;
    struct way best = {0}, near = {0};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        const struct way *w = &ways[i];
        if (!is_candidate(t, w, &best) || (w->rows && single)) {
            continue;
        }
        set_way(t, w);
        t->draft = 1;
        LLVMValueRef made = tile_make(t, CC1_ENTRY_PREFIX CC1_COARSE_SUFFIX);
        const struct tile_estimate e = tile_estimate(t->cc, made, w->rows ? TILE_ROWS : TILE_COPIED);
        const double each = cost_of_each(t, &e, &plain);
        LLVMDeleteFunction(made);
        if (w->rows && !e.rows) {
            break;
        }
        if (!near.x || each < nearest) {
            least = e;
            nearest = each;
            near = *w;
        }
        if (e.words + plain.words <= LONGEST && each < lowest * (best.x ? BETTER : 1)) {
            lowest = each;
            best = *w;
        }
    }
    set_way(t, &best);
    t->draft = 0;
    return best.x != 0 || refuse(t, &plain, near.x ? &least : NULL, near.x, near.y);
}

void cc1_tile(struct cc1 *cc, struct cc1_kernel *k)
{
    struct tile t = {.cc = cc, .plain = k->entry, .side = TILE_SIDE, .stride = CC1_COARSE_STRIDE};
    size_t length;
    if (tile_read(&t) && choose(&t, k->merged != 0)) {
        k->coarse = tile_make(&t, cc1_text("%s" CC1_COARSE_SUFFIX, LLVMGetValueName2(k->entry, &length)));
        k->copies = t.x;
        k->tile = t.y;
        k->rows = t.rows;
    }
    k->no_tiles = t.why;
    free(t.values);
    free(t.blocks);
}

/** Lets passes skip all functions but one, or no longer. */
static void skip_others(struct cc1 *cc, LLVMValueRef only, int skip)
{
    static const char *const names[] = {"optnone", "noinline"};
    for (LLVMValueRef f = LLVMGetFirstFunction(cc->module); f; f = LLVMGetNextFunction(f)) {
        for (int a = 0; a < 2 && !LLVMIsDeclaration(f) && f != only; a++) {
            const unsigned kind = LLVMGetEnumAttributeKindForName(names[a], strlen(names[a]));
            if (skip) {
                LLVMAddAttributeAtIndex(f, CC1_FUNCTION, LLVMCreateEnumAttribute(cc->context, kind, 0));
            } else {
                LLVMRemoveEnumAttributeAtIndex(f, CC1_FUNCTION, kind);
            }
        }
    }
}

void tile_optimize(struct cc1 *cc, LLVMValueRef only, const char *passes)
{
    skip_others(cc, only, 1);
    cc1_module_optimize(cc, passes);
    skip_others(cc, only, 0);
}

void cc1_tiles_optimize(struct cc1 *cc)
{
    for (size_t i = 0; i < cc->n_kernels; i++) {
        if (cc->kernels[i].tile) {
            tile_optimize(cc, cc->kernels[i].coarse, TILE_PASSES);
        }
    }
}

void cc1_tiles_load_rows(struct cc1 *cc)
{
    for (size_t i = 0; i < cc->n_kernels; i++) {
        if (cc->kernels[i].tile && cc->kernels[i].rows) {
            tile_load_rows(cc, cc->kernels[i].coarse);
        }
    }
}

void cc1_tiles_order(struct cc1 *cc)
{
    for (size_t i = 0; i < cc->n_kernels; i++) {
        const struct cc1_kernel *k = &cc->kernels[i];
        LLVMValueRef copied = k->tile ? k->coarse : k->merged > 1 ? k->entry : NULL;
        if (copied) {
            tile_share_terms(cc, copied);
            tile_order(cc, copied);
        }
    }
}
