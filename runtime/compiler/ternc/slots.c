/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Words of local memory that only their own work-item writes stay in registers. In a reduction, as
 *
 *   part[l] = x;  for (s = size / 2; s; s /= 2) { barrier(); if (l < s) part[l] += part[l + s]; }
 *
 * each work-item stores to part[l] alone. If work-items are merged, part[l + s] is such a word as well while s is at
 * least the number of hardware work-items. The optimizer loads all of them again, because a barrier may change memory.
 *
 * A slot is a word for each hardware work-item of a group: the address base + 4 * LOCAL_ID + c, where base is that of a
 * local variable or a local argument. This pass changes an entry if all its stores to local memory are to slots. Two
 * slots of a base must be the same, or have no word in common. Then each word has one writer, in the order of its code,
 * and a load from a slot behind a store to it has the value of the last store. Stores to a slot are removed if no load
 * that is left reads one of its words.
 */
#include "cc1.h"

#include "coarse.h"
#include "tern/tern_spec.h"

#include <stdlib.h>

#define WORD 4

/** An address in local memory. */
struct place {
    LLVMValueRef variable; /**< Its base; NULL: an argument. */
    int64_t argument;      /**< Offset of the argument in the block of arguments. */
    int by_id;             /**< 4 * LOCAL_ID is added. */
    int64_t c;             /**< Bytes. */
};

/** A load or a store of local memory. */
struct access {
    LLVMValueRef of;
    struct place at;
    int known;        /**< `at` is known. */
    uint32_t below;   /**< A load is executed for LOCAL_IDs below this number. */
    LLVMValueRef own; /**< The variable that has the value of the slot; NULL: none. */
};

struct slots {
    struct cc1 *cc;
    LLVMValueRef f;
    unsigned id;    /**< The CSR of LOCAL_ID. */
    uint32_t items; /**< Hardware work-items of a group. */
    struct access *stores, *loads;
    size_t n_stores, n_loads;
    int unknown;    /**< Local memory may be read in other ways. */
};

static int is_id(const struct slots *s, LLVMValueRef v)
{
    return LLVMIsACallInst(v) && cc1_csr(v) == s->id;
}

/** Adds an index of elements of `size` bytes. 0: it is none of a slot. */
static int add_index(const struct slots *s, struct place *p, LLVMValueRef index, int64_t size)
{
    if (LLVMIsAConstantInt(index)) {
        p->c += LLVMConstIntGetSExtValue(index) * size;
        return 1;
    }
    if (LLVMIsAInstruction(index) && LLVMGetInstructionOpcode(index) == LLVMAdd && LLVMGetNSW(index) &&
        LLVMGetNUW(index) && LLVMIsAConstantInt(LLVMGetOperand(index, 1))) {
        p->c += LLVMConstIntGetSExtValue(LLVMGetOperand(index, 1)) * size;
        index = LLVMGetOperand(index, 0);
    }
    const int first = !p->by_id;
    p->by_id = 1;
    return first && size == WORD && is_id(s, index);
}

/** The offset of an argument from the address of the block of arguments; negative: v is none. */
static int64_t argument_of(const struct slots *s, LLVMValueRef v)
{
    LLVMValueRef block = LLVMGetParam(s->f, 0);
    if (v == block) {
        return 0;
    }
    if (!LLVMIsAGetElementPtrInst(v) || LLVMGetNumOperands(v) != 2 || LLVMGetOperand(v, 0) != block ||
        !LLVMIsAConstantInt(LLVMGetOperand(v, 1))) {
        return -1;
    }
    return LLVMConstIntGetSExtValue(LLVMGetOperand(v, 1)) *
        (int64_t)LLVMABISizeOfType(s->cc->layout, LLVMGetGEPSourceElementType(v));
}

/** Finds the place of an address. 0: it is not known. */
static int find_place(const struct slots *s, LLVMValueRef v, struct place *p)
{
    *p = (struct place){0};
    while (LLVMIsAGetElementPtrInst(v) || (LLVMIsAConstantExpr(v) && LLVMGetConstOpcode(v) == LLVMGetElementPtr)) {
        LLVMTypeRef type = LLVMGetGEPSourceElementType(v);
        const int n = LLVMGetNumOperands(v);
        if (n == 3 && LLVMGetTypeKind(type) == LLVMArrayTypeKind && LLVMIsAConstantInt(LLVMGetOperand(v, 1))) {
            const int64_t first = LLVMConstIntGetSExtValue(LLVMGetOperand(v, 1));
            p->c += first * (int64_t)LLVMABISizeOfType(s->cc->layout, type);
            type = LLVMGetElementType(type);
        } else if (n != 2) {
            return 0;
        }
        if (!add_index(s, p, LLVMGetOperand(v, (unsigned)n - 1), (int64_t)LLVMABISizeOfType(s->cc->layout, type))) {
            return 0;
        }
        v = LLVMGetOperand(v, 0);
    }
    if (LLVMIsAGlobalVariable(v)) {
        p->variable = v;
        return 1;
    }
    p->argument = LLVMIsALoadInst(v) && !coarse_is_ordered(v) ? argument_of(s, LLVMGetOperand(v, 0)) : -1;
    return p->argument >= 0;
}

/** True: the places have the same base. */
static int have_base(const struct place *a, const struct place *b)
{
    return a->variable == b->variable && (a->variable || a->argument == b->argument);
}

static int are_same(const struct place *a, const struct place *b)
{
    return have_base(a, b) && a->by_id == b->by_id && a->c == b->c;
}

/** True: the address may be one in local memory. */
static int may_be_local(LLVMValueRef address)
{
    const unsigned space = LLVMGetPointerAddressSpace(LLVMTypeOf(address));
    while (LLVMIsAGetElementPtrInst(address)) {
        address = LLVMGetOperand(address, 0);
    }
    return space == CC1_LOCAL_SPACE || (space == 0 && !LLVMIsAAllocaInst(address));
}

/** The number that LOCAL_ID is below in a block, by the only branch to it. */
static uint32_t bound_of(const struct slots *s, LLVMBasicBlockRef block)
{
    LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(block));
    LLVMValueRef end = use && !LLVMGetNextUse(use) ? LLVMGetUser(use) : NULL;
    if (!end || !LLVMIsABranchInst(end) || !LLVMIsConditional(end) || LLVMGetSuccessor(end, 0) != block) {
        return s->items;
    }
    LLVMValueRef c = LLVMGetCondition(end);
    if (!LLVMIsAICmpInst(c) || !is_id(s, LLVMGetOperand(c, 0)) || !LLVMIsAConstantInt(LLVMGetOperand(c, 1))) {
        return s->items;
    }
    const uint64_t limit = LLVMConstIntGetZExtValue(LLVMGetOperand(c, 1));
    const LLVMIntPredicate is = LLVMGetICmpPredicate(c);
    const uint64_t below = is == LLVMIntULT ? limit : is == LLVMIntEQ && limit == 0 ? 1 : s->items;
    return below < s->items ? (uint32_t)below : s->items;
}

static void add(struct access **list, size_t *n, const struct access *a)
{
    *list = realloc(*list, (*n + 1) * sizeof **list);
    if (!*list) {
        cc1_die(CC1_INTERNAL, "out of memory");
    }
    (*list)[(*n)++] = *a;
}

/** Reads an instruction. 0: it may write local memory, and not to a slot. */
static int read_instruction(struct slots *s, LLVMValueRef i)
{
    const int stores = LLVMIsAStoreInst(i) != NULL;
    struct access a = {.of = i, .below = s->items};
    if (LLVMIsACallInst(i)) {
        return coarse_is_hint(i) || coarse_is_pure_call(i) || cc1_csr(i) || coarse_is_barrier(i) || coarse_is_exit(i);
    }
    if (LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i)) {
        return !may_be_local(LLVMGetOperand(i, 0));
    }
    if (!stores && !LLVMIsALoadInst(i)) {
        return !LLVMIsAFenceInst(i) && LLVMGetInstructionOpcode(i) != LLVMVAArg;
    }
    LLVMValueRef address = LLVMGetOperand(i, (unsigned)stores);
    if (!may_be_local(address)) {
        return 1;
    }
    LLVMTypeRef type = LLVMTypeOf(stores ? LLVMGetOperand(i, 0) : i);
    a.known = find_place(s, address, &a.at) && !coarse_is_ordered(i) && a.at.c % WORD == 0 &&
        LLVMStoreSizeOfType(s->cc->layout, type) == WORD && LLVMGetAlignment(i) >= WORD;
    if (stores) {
        add(&s->stores, &s->n_stores, &a);
        return a.known && a.at.by_id;
    }
    a.below = bound_of(s, LLVMGetInstructionParent(i));
    s->unknown |= !a.known;
    add(&s->loads, &s->n_loads, &a);
    return 1;
}

static int read_entry(struct slots *s)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(s->f); b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            if (!read_instruction(s, i)) {
                return 0;
            }
        }
    }
    return s->n_stores != 0;
}

/** True: no word of one slot is one of another, and all stores to a slot are of one type. */
static int are_apart(const struct slots *s)
{
    const int64_t size = (int64_t)s->items * WORD;
    for (size_t i = 0; i < s->n_stores; i++) {
        for (size_t k = 0; k < i; k++) {
            const struct place *a = &s->stores[i].at, *b = &s->stores[k].at;
            if (have_base(a, b) && (a->c == b->c ? LLVMTypeOf(LLVMGetOperand(s->stores[i].of, 0)) !=
                                                       LLVMTypeOf(LLVMGetOperand(s->stores[k].of, 0))
                                                 : llabs(a->c - b->c) < size)) {
                return 0;
            }
        }
    }
    return 1;
}

/** True: block `to` is reached from `from` without `avoid`. */
static int reaches(LLVMBasicBlockRef from, LLVMBasicBlockRef to, LLVMBasicBlockRef avoid, struct cc1_set *met)
{
    if (from == avoid || !cc1_set_add(met, LLVMBasicBlockAsValue(from))) {
        return 0;
    }
    LLVMValueRef end = LLVMGetBasicBlockTerminator(from);
    int found = from == to;
    for (unsigned i = 0; i < LLVMGetNumSuccessors(end) && !found; i++) {
        found = reaches(LLVMGetSuccessor(end, i), to, avoid, met);
    }
    return found;
}

/** True: all paths to the load meet the store. */
static int comes_before(const struct slots *s, LLVMValueRef store, LLVMValueRef load)
{
    LLVMBasicBlockRef first = LLVMGetInstructionParent(store), block = LLVMGetInstructionParent(load);
    struct cc1_set met = {0};
    if (first == block) {
        LLVMValueRef i = store;
        while (i && i != load) {
            i = LLVMGetNextInstruction(i);
        }
        return i != NULL;
    }
    const int other = reaches(LLVMGetEntryBasicBlock(s->f), block, first, &met);
    free(met.at);
    return !other;
}

/** The variable for the slot of a store, which all stores to it set. */
static LLVMValueRef own_of(struct slots *s, LLVMBuilderRef b, size_t store)
{
    LLVMValueRef own = NULL;
    if (s->stores[store].own) {
        return s->stores[store].own;
    }
    for (size_t k = 0; k < s->n_stores; k++) {
        struct access *a = &s->stores[k];
        if (are_same(&a->at, &s->stores[store].at)) {
            if (!own) {
                LLVMPositionBuilderBefore(b, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(s->f)));
                own = LLVMBuildAlloca(b, LLVMTypeOf(LLVMGetOperand(a->of, 0)), "");
            }
            LLVMPositionBuilderBefore(b, a->of);
            LLVMBuildStore(b, LLVMGetOperand(a->of, 0), own);
            a->own = own;
        }
    }
    return own;
}

/** Replaces a load by the value of its slot, if it has one. */
static void replace(struct slots *s, LLVMBuilderRef b, struct access *load)
{
    for (size_t k = 0; k < s->n_stores; k++) {
        LLVMValueRef store = s->stores[k].of;
        LLVMTypeRef type = LLVMTypeOf(load->of);
        if (load->known && are_same(&load->at, &s->stores[k].at) && type == LLVMTypeOf(LLVMGetOperand(store, 0)) &&
            comes_before(s, store, load->of)) {
            LLVMValueRef own = own_of(s, b, k);
            LLVMPositionBuilderBefore(b, load->of);
            LLVMReplaceAllUsesWith(load->of, LLVMBuildLoad2(b, type, own, ""));
            LLVMInstructionEraseFromParent(load->of);
            load->of = NULL;
            return;
        }
    }
}

/** True: a load that is left may read a word of a slot. */
static int is_read(const struct slots *s, const struct place *p)
{
    for (size_t k = 0; k < s->n_loads; k++) {
        const struct access *a = &s->loads[k];
        const int64_t end = a->at.c + WORD * (a->at.by_id ? (int64_t)a->below : 1);
        if (a->of && have_base(&a->at, p) && a->at.c < p->c + (int64_t)s->items * WORD && p->c < end) {
            return 1;
        }
    }
    return 0;
}

int cc1_slots(struct cc1 *cc, LLVMValueRef f, unsigned axis, uint32_t items)
{
    struct slots s = {.cc = cc, .f = f, .id = TERN_CSR_LOCAL_ID_X + axis, .items = items};
    int changed = 0;
    if (read_entry(&s) && are_apart(&s)) {
        LLVMBuilderRef b = LLVMCreateBuilderInContext(cc->context);
        for (size_t k = 0; k < s.n_loads; k++) {
            replace(&s, b, &s.loads[k]);
            changed |= !s.loads[k].of;
        }
        for (size_t k = 0; k < s.n_stores && !s.unknown; k++) {
            if (!is_read(&s, &s.stores[k].at)) {
                LLVMInstructionEraseFromParent(s.stores[k].of);
                changed = 1;
            }
        }
        LLVMDisposeBuilder(b);
    }
    free(s.stores);
    free(s.loads);
    return changed;
}
