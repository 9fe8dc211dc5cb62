/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Kernels that are compiled again for a local size, when they are enqueued. The object carries the modules as they were
 * linked. A second object is made from them, with one kernel, in which the local size is a constant. Loops over the
 * local size are unrolled. Work-items of a group are merged (merge.c) if the group is too large for an engine, or if
 * that needs fewer instructions.
 *
 * A kernel that does not look at its groups needs none of this: the launcher divides its range as it likes.
 */
#include "cc1.h"

#include "coarse.h"
#include "tern/tern_spec.h"
#include "tile.h"

#include <float.h>
#include <llvm-c/BitWriter.h>
#include <stdlib.h>
#include <string.h>

#define MERGE_VALUES_MAX 6000u /* instructions and blocks of a plain entry that is merged */
#define GAIN 0.95     /* cost that merged work-items may have at most, of the plain entry's for as many */
#define BETTER 0.95   /* cost that they may have at most with split loops, of that with other ones */
#define LEAST 4u      /* work-items that are merged at least, to gain */
#define JOINED 0.93   /* instructions that joined groups may have at most, of those of half as many */
#define CHANGES 2     /* changed entries that are tried */
#define JOINS 4       /* numbers of joined groups that are tried, at most: 2, 4, 8 and 16 */
#define FRACTION 4u   /* of the work-items asked for, the next number that is tried */
#define LONGEST 1800u /* instructions of a merged entry that is to gain, most of the instruction cache */

/** True: the kernel sees its groups by this instruction. */
static int sees_groups(LLVMValueRef i)
{
    const unsigned csr = LLVMIsACallInst(i) ? cc1_csr(i) : 0;
    return coarse_uses_local(i) || coarse_is_barrier(i) || cc1_sees_lanes(i) ||
        (csr >= TERN_CSR_LOCAL_ID_X && csr <= TERN_CSR_NUM_GROUPS_Z) ||
        (csr >= TERN_CSR_FULL_SIZE_X && csr <= TERN_CSR_FULL_SIZE_Z);
}

/** True: with this instruction, a kernel is not compiled for the sake of ids: it sees its groups in other ways, or has
 *  no coarse entry. */
static int needs_groups(LLVMValueRef i)
{
    LLVMValueRef called = LLVMIsACallInst(i) ? LLVMGetCalledValue(i) : NULL;
    return coarse_uses_local(i) || coarse_is_ordered(i) || (called && LLVMIsAInlineAsm(called) && !cc1_csr(i) &&
                                                            !coarse_is_exit(i));
}

/** True: function f, or one that it calls, has an instruction that `is` is true for, or calls by a pointer. */
static int reaches(LLVMValueRef f, int (*is)(LLVMValueRef i), struct cc1_set *met)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            LLVMValueRef called = LLVMIsACallInst(i) ? LLVMGetCalledValue(i) : NULL;
            if (is(i) || (called && !LLVMIsAFunction(called) && !LLVMIsAInlineAsm(called)) ||
                (called && LLVMIsAFunction(called) && cc1_set_add(met, called) && reaches(called, is, met))) {
                return 1;
            }
        }
    }
    return 0;
}

int cc1_reaches(LLVMValueRef f, int (*is)(LLVMValueRef i))
{
    struct cc1_set met = {0};
    const int found = reaches(f, is, &met);
    free(met.at);
    return found;
}

/** True: the program has variables in the global address space, of which a second object would have others. */
static int has_variables(const struct cc1 *cc)
{
    for (LLVMValueRef g = LLVMGetFirstGlobal(cc->module); g; g = LLVMGetNextGlobal(g)) {
        if (LLVMGetPointerAddressSpace(LLVMTypeOf(g)) != CC1_LOCAL_SPACE && !LLVMIsGlobalConstant(g)) {
            return 1;
        }
    }
    return 0;
}

/** How work-items of the kernel's groups can be merged, in whichever dimension. A gain is expected with
 *  barriers only. */
static enum cc1_merges can_merge(struct cc1 *cc, struct cc1_kernel *k)
{
    struct cc1 scratch = *cc;
    size_t length;
    int can = 1, barriers = 0;
    scratch.module = LLVMCloneModule(cc->module);
    cc1_module_optimize(&scratch, "function(loop-simplify)");
    for (unsigned axis = 0; axis < 3 && can; axis++) {
        struct tile t = {.cc = &scratch, .side = TILE_COPIES, .x = 2, .y = 1, .stride = 1, .axis = axis,
                         .plain = LLVMGetNamedFunction(scratch.module, LLVMGetValueName2(k->entry, &length))};
        can = merge_read(&t, MERGE_VALUES_MAX);
        barriers = t.barriers;
        k->no_merging = t.why;
        merge_free(&t);
    }
    LLVMDisposeModule(scratch.module);
    return !can ? CC1_NEVER : barriers ? CC1_TO_GAIN : CC1_IF_NEEDED;
}

void cc1_special_groups(struct cc1 *cc)
{
    cc->kernels[0].groups = cc1_reaches(cc->kernels[0].entry, sees_groups);
}

LLVMMemoryBufferRef cc1_special_keep(const struct cc1 *cc)
{
    return LLVMWriteBitcodeToMemoryBuffer(cc->module);
}

/** Adds the modules to the object, framed as on standard input. */
static void embed(struct cc1 *cc, LLVMMemoryBufferRef modules, int less)
{
    const size_t size = LLVMGetBufferSize(modules);
    const uint32_t front[2] = {(uint32_t)size, CC1_ARG_INFO | (less ? CC1_LESS : 0u)};
    char *data = cc1_alloc(sizeof front + size, 1);
    memcpy(data, front, sizeof front);
    memcpy(data + sizeof front, LLVMGetBufferStart(modules), size);
    LLVMValueRef string = LLVMConstStringInContext(cc->context, data, (unsigned)(sizeof front + size), 1);
    LLVMValueRef global = LLVMAddGlobal(cc->module, LLVMTypeOf(string), "__tern_module");
    LLVMSetInitializer(global, string);
    LLVMSetAlignment(global, 1);
    LLVMSetSection(global, ".tern.module");
}

void cc1_groups(struct cc1 *cc, LLVMMemoryBufferRef modules, int less, int plain)
{
    const int variables = has_variables(cc);
    int any = 0;
    for (size_t i = 0; i < cc->n_kernels; i++) {
        struct cc1_kernel *k = &cc->kernels[i];
        k->groups = cc1_reaches(k->entry, sees_groups);
        if (k->groups && variables) {
            cc1_refuse(&k->no_merging, NULL, "the program has variables at program scope, which it may change");
        } else if (k->groups && cc1_reaches(k->entry, cc1_sees_lanes)) {
            cc1_refuse(&k->no_merging, NULL, "it uses sub-groups, which are the rows of the hardware");
        } else if (k->groups) {
            k->merges = can_merge(cc, k);
        }
        k->merges = k->merges && plain                                               ? CC1_IF_NEEDED
                    : k->merges == CC1_IF_NEEDED && !cc1_reaches(k->entry, needs_groups) ? CC1_BY_IDS
                                                                                 : k->merges;
        any |= k->merges != CC1_NEVER;
    }
    if (any) {
        embed(cc, modules, less);
    }
}

void cc1_special_select(struct cc1 *cc, const struct cc1_special *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < cc->n_kernels; i++) {
        if (!strcmp(cc->kernels[i].name, s->name)) {
            cc->kernels[kept++] = cc->kernels[i];
        } else {
            LLVMDeleteFunction(cc->kernels[i].entry);
        }
    }
    cc->n_kernels = kept;
    if (!kept) {
        cc1_die(CC1_BAD_INPUT, "there is no kernel '%s'", s->name);
    }
}

/** The value of a CSR of groups, from the global id and size: as local id = (global id - offset) % local size. NULL:
 *  another CSR. */
static LLVMValueRef by_ids(struct cc1 *cc, LLVMBuilderRef b, const struct cc1_special *s, unsigned csr)
{
    static const unsigned bases[] = {TERN_CSR_LOCAL_ID_X, TERN_CSR_GROUP_ID_X, TERN_CSR_NUM_GROUPS_X};
    unsigned which = 0;
    while (which < 3 && (csr < bases[which] || csr > bases[which] + 2)) {
        which++;
    }
    if (which == 3) {
        return NULL;
    }
    const unsigned d = csr - bases[which];
    LLVMValueRef local = cc1_u32(cc, s->local[d]);
    if (bases[which] == TERN_CSR_NUM_GROUPS_X) {
        return LLVMBuildUDiv(b, cc1_read_csr(cc, b, TERN_CSR_GLOBAL_SIZE_X + d), local, "");
    }
    LLVMValueRef id = cc1_read_csr(cc, b, TERN_CSR_GLOBAL_ID_X + d);
    LLVMValueRef number = LLVMBuildSub(b, id, cc1_read_csr(cc, b, TERN_CSR_OFFSET_X + d), "");
    return bases[which] == TERN_CSR_LOCAL_ID_X ? LLVMBuildURem(b, number, local, "")
                                               : LLVMBuildUDiv(b, number, local, "");
}

static void make_sizes(struct cc1 *cc, LLVMBuilderRef b, const struct cc1_special *s, LLVMValueRef i)
{
    const unsigned csr = LLVMIsACallInst(i) ? cc1_csr(i) : 0;
    LLVMValueRef value = NULL;
    LLVMPositionBuilderBefore(b, i);
    if (csr >= TERN_CSR_LOCAL_SIZE_X && csr <= TERN_CSR_LOCAL_SIZE_Z) {
        value = cc1_u32(cc, s->local[csr - TERN_CSR_LOCAL_SIZE_X]);
    } else if (csr >= TERN_CSR_FULL_SIZE_X && csr <= TERN_CSR_FULL_SIZE_Z) {
        value = cc1_u32(cc, s->local[csr - TERN_CSR_FULL_SIZE_X]);
    } else if (s->n == 1) {
        value = by_ids(cc, b, s, csr);
    } else if (csr >= TERN_CSR_LOCAL_ID_X && csr <= TERN_CSR_LOCAL_ID_Z) {
        cc1_set_range(cc, i, 0, s->local[csr - TERN_CSR_LOCAL_ID_X]);
    }
    if (value) {
        LLVMReplaceAllUsesWith(i, value);
        LLVMInstructionEraseFromParent(i);
    }
}

void cc1_special_sizes(struct cc1 *cc, const struct cc1_special *s)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(cc->context);
    for (LLVMValueRef f = LLVMGetFirstFunction(cc->module); f; f = LLVMGetNextFunction(f)) {
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
            for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
                next = LLVMGetNextInstruction(i);
                make_sizes(cc, builder, s, i);
            }
        }
    }
    LLVMDisposeBuilder(builder);
    for (size_t k = 0; k < cc->n_kernels; k++) {
        cc->kernels[k].merged = 1;
    }
}

/** How the plain entry is changed before it is merged. */
enum how {
    LOCKSTEP = 1, /**< Loops that work-items leave at different rounds are split. */
    GROWN = 2     /**< Regions begin earlier. */
};

/** A way to merge work-items. */
struct way {
    struct tile *t; /**< The entry that is merged; NULL: none, it is better not to. */
    unsigned how;   /**< Bits of enum how. */
    uint32_t n;     /**< Work-items of a group for each of the hardware. */
    double cost;    /**< For each work-item, as the next. */
    double instructions;
};

static void set_number(struct tile *t, const struct cc1_special *s, uint32_t n)
{
    t->x = t->side = n;
    t->stride = s->local[s->axis] / n;
}

/** Reads the entry of the only kernel, and changes it as `how` says. joined: groups that are joined. 0: its work-items
 *  cannot be merged, see t->why. */
static int read_entry(struct cc1 *cc, const struct cc1_special *s, unsigned how, uint32_t joined, struct tile *t)
{
    size_t length;
    const char *name = LLVMGetValueName2(cc->kernels[0].entry, &length);
    struct cc1_set serial = {0}, whole = {0};
    for (;;) {
        *t = (struct tile){.cc = cc, .plain = LLVMGetNamedFunction(cc->module, name), .y = joined, .axis = s->axis,
                           .apart = s->apart, .serial = serial, .whole = whole};
        set_number(t, s, s->n);
        if ((joined > 1 && !merge_find_local(t)) || !merge_read(t, MERGE_VALUES_MAX)) {
            return 0;
        }
        if (!(how & LOCKSTEP && lockstep_split(t)) && !(how & GROWN && !whole.n && merge_grow(t))) {
            return 1;
        }
        serial = t->serial;
        whole = t->whole;
        merge_free(t);
    }
}

/** Estimates the merged entry. The serial copies of its loops are not expected to run, but they need room. If only_room
 *  is set, the caller needs no more than e.words, and the serial copies are counted like the rest. */
static struct tile_estimate estimate(struct tile *t, int only_room)
{
    struct tile_estimate e[2] = {0};
    for (int draft = t->serial.n != 0 && !only_room; draft >= 0; draft--) {
        t->draft = draft;
        LLVMValueRef made = merge_make(t, CC1_ENTRY_PREFIX CC1_COARSE_SUFFIX);
        e[draft] = tile_estimate(t->cc, made, TILE_COPIED);
        LLVMDeleteFunction(made);
    }
    e[1].words = e[0].words;
    return t->serial.n && !only_room ? e[1] : e[0];
}

/** Tries to merge the number of work-items that is asked for, and fractions of it unless the group needs that number.
 *  Changes the best way if one is better. Returns whether any of them has not enough registers in loops. */
static int choose(struct tile *t, const struct cc1_special *s, unsigned how, struct way *best)
{
    int spills = 0;
    for (uint32_t n = s->n; n == s->n || (n >= LEAST && !s->must); n /= FRACTION) {
        set_number(t, s, n);
        const struct tile_estimate e = estimate(t, s->must);
        const double each = tile_cost(&e) / n;
        spills |= e.spills != 0;
        if (e.words <= LONGEST && each < best->cost) {
            *best = (struct way){t, how, n, each, e.instructions / n};
        }
    }
    return spills;
}

/** Copies the module, for a way that changes it. */
static void clone(const struct cc1 *cc, unsigned how, struct cc1 *other)
{
    *other = *cc;
    other->module = LLVMCloneModule(cc->module);
    if (how & LOCKSTEP) {
        cc1_module_optimize(other, "function(lcssa)");
    }
}

/** Tries to join 2 groups, and twice as many while that is better. Changes the best way. other, t: JOINS elements, in
 *  which the ways are kept. A way is better if it needs fewer instructions: all ways access the same memory. */
static void join(const struct cc1 *cc, const struct cc1_special *s, struct cc1 *other, struct tile *t, struct way *best)
{
    const unsigned how = best->how;
    int better = 1;
    for (uint32_t y = 2; better && y <= s->joined && best->n * y <= TILE_COPIES; y *= 2, other++, t++) {
        clone(cc, how, other);
        better = read_entry(other, s, how, y, t);
        if (better) {
            set_number(t, s, best->n);
            const struct tile_estimate e = estimate(t, 0);
            const struct way w = {t, how, best->n, tile_cost(&e) / (best->n * y), e.instructions / (best->n * y)};
            better = e.words <= LONGEST && w.instructions < best->instructions * JOINED && w.cost <= best->cost;
            *best = better ? w : *best;
        }
    }
}

/** Replaces the entry by the merged one. */
static void take(struct cc1 *cc, const struct cc1_special *s, const struct way *w)
{
    struct cc1_kernel *k = &cc->kernels[0];
    size_t length;
    cc->module = w->t->cc->module;
    w->t->cc = cc;
    w->t->draft = 0;
    set_number(w->t, s, w->n);
    LLVMValueRef made = merge_make(w->t, CC1_ENTRY_PREFIX CC1_COARSE_SUFFIX);
    char *name = cc1_text("%s", LLVMGetValueName2(w->t->plain, &length));
    LLVMDeleteFunction(w->t->plain);
    LLVMSetValueName2(made, name, strlen(name));
    k->entry = made;
    cc1_module_optimize(cc, TILE_PASSES);
    if (s->local[0] * s->local[1] * s->local[2] == s->local[s->axis] && cc1_slots(cc, made, s->axis, w->t->stride)) {
        cc1_module_optimize(cc, "function(mem2reg)");
        cc1_module_optimize(cc, TILE_PASSES);
    }
    if (s->local[0] * s->local[1] * s->local[2] / w->n <= s->lanes) {
        cc1_barriers(cc, made);
    }
    k->merged = w->n;
    k->joined = w->t->y;
}

/** Tries the ways to merge work-items whose entry is changed. spills: merged as it is, the entry has not enough
 *  registers in loops. other, changed: CHANGES elements, in which the ways are kept. */
static void change(struct cc1 *cc, const struct cc1_special *s, int spills, struct cc1 *other, struct tile *changed,
                   struct way *best)
{
    unsigned how = LOCKSTEP;
    clone(cc, how, other);
    const int split = read_entry(other, s, how, 1, changed) && changed->serial.n;
    if (split) {
        best->cost *= best->t ? BETTER : 1;
        spills |= choose(changed, s, how, best);
    }
    const int counted = split || !s->must; /* the spills are known */
    if (counted && !spills) {
        return;
    }
    how = GROWN | (best->t ? best->how : split ? LOCKSTEP : 0);
    clone(cc, how, ++other);
    if (read_entry(other, s, how, 1, ++changed) && changed->whole.n && (counted || choose(best->t, s, 0, best))) {
        choose(changed, s, how, best);
    }
}

void cc1_special_merge(struct cc1 *cc, const struct cc1_special *s)
{
    struct cc1_kernel *k = &cc->kernels[0];
    struct cc1 others[CHANGES + JOINS];
    struct tile t = {0}, changed[CHANGES + JOINS] = {0};
    struct way best = {NULL, 0, s->n, DBL_MAX, DBL_MAX};
    int spills = 0;
    cc1_module_optimize(cc, "function(loop-simplify)");
    cc1_arms(cc, k->entry);
    const int can = read_entry(cc, s, 0, 1, &t);
    if (!can && s->must) {
        cc1_die(CC1_BAD_INPUT, "work-items of kernel '%s' cannot be merged: %s", k->name, t.why.text ? t.why.text : "");
    }
    if (!can) {
        merge_free(&t);
        return;
    }
    if (s->must) {
        best.t = &t;
    } else {
        const struct tile_estimate plain = tile_estimate(cc, t.plain, TILE_NO_COPIES);
        best.cost = tile_cost(&plain) * GAIN;
        spills = choose(&t, s, 0, &best);
    }
    change(cc, s, spills, others, changed, &best);
    if (best.t && s->joined > 1) {
        join(cc, s, others + CHANGES, changed + CHANGES, &best);
    }
    if (best.t) {
        take(cc, s, &best);
    }
    merge_free(&t);
    for (int i = 0; i < CHANGES + JOINS; i++) {
        merge_free(&changed[i]);
    }
}
