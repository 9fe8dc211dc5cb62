/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Finds which branches of an entry divide teams of sub-groups, and where teams meet again (subgroup.c).
 *
 * Values that differ. A value is taken to differ between the work-items of a sub-group if it depends on a local or
 * global id, on memory that may be written, or on the result of a function. A branch by such a value mixes: behind it,
 * phis differ, and so do values of a loop that it leaves, outside of the loop. The branch divides the team if a
 * function of sub-groups is called in its region, between it and the nearest block that all its ways meet. Work-items
 * that a branch in a loop sends through different numbers of rounds do not meet there; its region is all that follows.
 *
 * Blocks where teams meet. Work-items come to a block from several predecessors, or from several rounds of a loop. The
 * base of the block is the last block before it that all of them have passed together. If each member of the base's
 * team comes, the team is the base's again. If some leave on the way, those that come have to find out who they are.
 */
#include "subgroup.h"

#include "coarse.h"
#include "tern/tern_spec.h"

#include <stdlib.h>
#include <string.h>

static struct blocks make_set(const struct sub_entry *e)
{
    return (struct blocks){cc1_alloc(e->words, sizeof(uint64_t))};
}

unsigned sub_has(struct blocks s, unsigned k)
{
    return s.bit[k / 64] >> k % 64 & 1;
}

static void put(struct blocks s, unsigned k)
{
    s.bit[k / 64] |= 1ull << k % 64;
}

/** The number of blocks that two sets share. */
static unsigned shared(const struct sub_entry *e, struct blocks s, struct blocks t)
{
    unsigned n = 0;
    for (unsigned w = 0; w < e->words; w++) {
        n += (unsigned)__builtin_popcountll(s.bit[w] & t.bit[w]);
    }
    return n;
}

static int compare(const void *a, const void *b)
{
    const struct sub_block *x = a, *y = b;
    return (uintptr_t)x->block < (uintptr_t)y->block ? -1 : (uintptr_t)x->block > (uintptr_t)y->block;
}

unsigned sub_number(const struct sub_entry *e, LLVMBasicBlockRef block)
{
    const struct sub_block key = {.block = block};
    const struct sub_block *at = bsearch(&key, e->block, e->n, sizeof *e->block, compare);
    return (unsigned)(at - e->block);
}

static LLVMValueRef end_of(const struct sub_entry *e, unsigned k)
{
    return LLVMGetBasicBlockTerminator(e->block[k].block);
}

static int is_way(const struct sub_entry *e, unsigned k, unsigned to)
{
    const struct sub_block *x = &e->block[k];
    return (x->ways > 0 && x->way[0] == to) || (x->ways > 1 && x->way[1] == to);
}

int sub_is_call_of(LLVMValueRef i, const char *name)
{
    size_t length;
    LLVMValueRef f = LLVMIsACallInst(i) ? LLVMGetCalledValue(i) : NULL;
    return f && LLVMIsAFunction(f) && !strcmp(LLVMGetValueName2(f, &length), name);
}

int sub_is_mark(LLVMValueRef i)
{
    return sub_is_call_of(i, SUB_ACTIVE) || sub_is_call_of(i, SUB_LEVEL);
}

/* ---------------------------------------------------------------- order of blocks */

/** Adds the blocks that are reached from block k without passing `end` to a set; `end` itself may be added. */
static void fill(const struct sub_entry *e, unsigned k, unsigned end, struct blocks s)
{
    for (unsigned i = 0; i < e->block[k].ways; i++) {
        const unsigned to = e->block[k].way[i];
        if (!sub_has(s, to)) {
            put(s, to);
            if (to != end) {
                fill(e, to, end, s);
            }
        }
    }
}

/** Appends the blocks behind k, and then k. */
static void walk(struct sub_entry *e, unsigned k, struct blocks met)
{
    put(met, k);
    for (unsigned i = 0; i < e->block[k].ways; i++) {
        if (!sub_has(met, e->block[k].way[i])) {
            walk(e, e->block[k].way[i], met);
        }
    }
    e->order[e->n_order++] = k;
}

static void find_order(struct sub_entry *e)
{
    e->order = cc1_alloc(e->n, sizeof *e->order);
    walk(e, sub_number(e, LLVMGetEntryBasicBlock(e->kernel->entry)), make_set(e));
    for (unsigned i = 0; i < e->n_order / 2; i++) {
        const unsigned k = e->order[i];
        e->order[i] = e->order[e->n_order - 1 - i];
        e->order[e->n_order - 1 - i] = k;
    }
}

/** *row = {k} and what all rows of the neighbours share, which `all` has. Returns whether it has changed. */
static int narrow(const struct sub_entry *e, struct blocks row, const uint64_t *all, unsigned k)
{
    int changed = 0;
    for (unsigned w = 0; w < e->words; w++) {
        const uint64_t bits = all[w] | (w == k / 64 ? 1ull << k % 64 : 0);
        changed |= bits != row.bit[w];
        row.bit[w] = bits;
    }
    return changed;
}

/** Finds `before` and `after` of all blocks. */
static void find_always(struct sub_entry *e)
{
    uint64_t *all = cc1_alloc(e->words, sizeof *all);
    for (unsigned k = 0; k < e->n; k++) {
        e->block[k].before = make_set(e);
        e->block[k].after = make_set(e);
        memset(e->block[k].before.bit, 0xff, e->words * sizeof(uint64_t));
        memset(e->block[k].after.bit, 0xff, e->words * sizeof(uint64_t));
    }
    for (int changed = 1; changed;) {
        changed = 0;
        for (unsigned i = 0; i < e->n_order; i++) {
            const unsigned k = e->order[i], m = e->order[e->n_order - 1 - i];
            memset(all, i == 0 ? 0 : 0xff, e->words * sizeof *all);
            for (unsigned p = 0; p < e->n_order && i > 0; p++) {
                const unsigned from = e->order[p], is = (unsigned)is_way(e, from, k);
                for (unsigned w = 0; w < e->words && is; w++) {
                    all[w] &= e->block[from].before.bit[w];
                }
            }
            changed |= narrow(e, e->block[k].before, all, k);
            memset(all, LLVMIsAReturnInst(end_of(e, m)) ? 0 : 0xff, e->words * sizeof *all);
            for (unsigned s = 0; s < e->block[m].ways; s++) {
                for (unsigned w = 0; w < e->words; w++) {
                    all[w] &= e->block[e->block[m].way[s]].after.bit[w];
                }
            }
            changed |= narrow(e, e->block[m].after, all, m);
        }
    }
    free(all);
}

/** The nearest block of those that are always before (or after) block k; e->n: there is none. */
static unsigned nearest(const struct sub_entry *e, unsigned k, int before)
{
    unsigned best = e->n, most = 0;
    const struct blocks row = before ? e->block[k].before : e->block[k].after;
    for (unsigned i = 0; i < e->n_order; i++) {
        const unsigned j = e->order[i];
        const struct blocks other = before ? e->block[j].before : e->block[j].after;
        const unsigned n = j != k && sub_has(row, j) ? shared(e, other, other) : 0;
        if (n > most) {
            most = n;
            best = j;
        }
    }
    return best;
}

/** Adds the blocks of a loop, from which block k, its end, is reached without passing the head. */
static void add_round(const struct sub_entry *e, struct blocks loop, unsigned head, unsigned k)
{
    put(loop, k);
    for (int changed = 1; changed;) {
        changed = 0;
        for (unsigned i = e->n_order; i-- > 0;) {
            const unsigned j = e->order[i];
            for (unsigned w = 0; w < e->block[j].ways && !sub_has(loop, j); w++) {
                const unsigned to = e->block[j].way[w];
                if (to != head && sub_has(loop, to)) {
                    put(loop, j);
                    changed = 1;
                }
            }
        }
    }
}

/** Finds loops. Each has one block before it and one way back, as LLVM has seen to. */
static void find_loops(struct sub_entry *e)
{
    unsigned *at = cc1_alloc(e->n, sizeof *at);
    for (unsigned i = 0; i < e->n_order; i++) {
        at[e->order[i]] = i;
    }
    for (unsigned i = 0; i < e->n_order; i++) {
        const unsigned k = e->order[i];
        for (unsigned w = 0; w < e->block[k].ways; w++) {
            const unsigned head = e->block[k].way[w];
            if (at[head] > i) {
                continue;
            }
            if (!sub_has(e->block[k].before, head)) {
                cc1_die(CC1_BAD_INPUT, "kernel '%s' calls functions of sub-groups, and has a loop that is entered in "
                        "several places by goto", e->kernel->name);
            }
            struct blocks *loop = &e->block[head].loop;
            *loop = loop->bit ? *loop : make_set(e);
            put(*loop, head);
            add_round(e, *loop, head, k);
        }
    }
    for (unsigned h = 0; h < e->n; h++) {
        for (unsigned i = 0; i < e->n_order && e->block[h].loop.bit; i++) {
            if (is_way(e, e->order[i], h) && !sub_has(e->block[h].loop, e->order[i])) {
                e->block[h].entry = e->order[i];
            }
        }
    }
    free(at);
}

/* ---------------------------------------------------------------- values that differ */

static int is_asm(LLVMValueRef call, const char *text)
{
    size_t length;
    LLVMValueRef f = LLVMGetCalledValue(call);
    return LLVMIsAInlineAsm(f) && strstr(LLVMGetInlineAsmAsmString(f, &length), text) != NULL;
}

/** True: a call whose value may differ between the work-items of a sub-group even if its operands do not. */
static int is_source(LLVMValueRef call)
{
    const unsigned csr = cc1_csr(call);
    if (csr) {
        return (csr >= TERN_CSR_LOCAL_ID_X && csr <= TERN_CSR_LOCAL_ID_Z) ||
            (csr >= TERN_CSR_GLOBAL_ID_X && csr <= TERN_CSR_GLOBAL_ID_Z) || csr == TERN_CSR_THREAD;
    }
    return !coarse_is_pure_call(call) && !cc1_sees_lanes(call) && !is_asm(call, "seqz") && !sub_is_mark(call) &&
        !sub_is_call_of(call, SUB_BEGIN);
}

static int is_invariant(LLVMValueRef load)
{
    static const char kind[] = "invariant.load";
    LLVMTypeRef pointer = LLVMTypeOf(LLVMGetOperand(load, 0));
    return !LLVMGetVolatile(load) && (LLVMGetMetadata(load, LLVMGetMDKindID(kind, sizeof kind - 1)) ||
                                      LLVMGetPointerAddressSpace(pointer) == CC1_CONSTANT_SPACE);
}

/** True: the instruction's value may differ between the work-items of a sub-group. */
static int may_differ(const struct sub_entry *e, LLVMValueRef i, unsigned block)
{
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMAlloca: case LLVMAtomicRMW: case LLVMAtomicCmpXchg: return 1;
    case LLVMLoad:
        if (!is_invariant(i)) {
            return 1;
        }
        break;
    case LLVMCall:
        if (is_asm(i, "# uniform")) { /* of device/subgroup.c */
            return 0;
        }
        if (is_source(i)) {
            return 1;
        }
        break;
    case LLVMPHI:
        if (sub_has(e->mixed, block)) {
            return 1;
        }
        for (unsigned k = 0; k < LLVMCountIncoming(i); k++) {
            if (cc1_set_has(&e->differs, LLVMGetIncomingValue(i, k))) {
                return 1;
            }
        }
        return 0;
    default: break;
    }
    for (int k = 0; k < LLVMGetNumOperands(i); k++) {
        if (cc1_set_has(&e->differs, LLVMGetOperand(i, (unsigned)k))) {
            return 1;
        }
    }
    return 0;
}

/** Adds the values of a region that are used outside of it, where work-items may come from different rounds. */
static void add_results(struct sub_entry *e, struct blocks in)
{
    for (unsigned k = 0; k < e->n; k++) {
        for (LLVMValueRef i = sub_has(in, k) ? LLVMGetFirstInstruction(e->block[k].block) : NULL; i;
             i = LLVMGetNextInstruction(i)) {
            for (LLVMUseRef u = LLVMGetFirstUse(i); u; u = LLVMGetNextUse(u)) {
                if (!sub_has(in, sub_number(e, LLVMGetInstructionParent(LLVMGetUser(u))))) {
                    cc1_set_add(&e->differs, i);
                }
            }
        }
    }
}

/** Notes what follows from the branch at the end of block k, whose ways differ. */
static void read_branch(struct sub_entry *e, unsigned k)
{
    const unsigned join = nearest(e, k, 0);
    struct blocks in = make_set(e), behind = make_set(e);
    put(e->read, k);
    fill(e, k, join, in);
    fill(e, k, e->n, behind);
    for (unsigned j = 0; j < e->n; j++) {
        if (sub_has(in, j)) {
            put(e->mixed, j);
        }
    }
    if (sub_has(in, k)) { /* rounds of a loop */
        add_results(e, in);
        struct blocks back = make_set(e);
        if (join < e->n) {
            fill(e, join, e->n, back);
        }
        if (sub_has(back, k)) { /* the ways meet within the loop, but not in the same round */
            in = behind;
            for (unsigned w = 0; w < e->words; w++) {
                e->mixed.bit[w] |= behind.bit[w];
            }
        }
        free(back.bit);
    }
    /* the block where the ways meet is no part of the region */
    const unsigned meets = join < e->n && in.bit != behind.bit && sub_has(in, join) && sub_has(e->calls, join);
    if (shared(e, in, e->calls) > meets) {
        put(e->divides, k);
    }
}

/** Finds the values that differ, and the branches that divide. */
static void find_branches(struct sub_entry *e)
{
    for (int changed = 1; changed;) {
        changed = 0;
        for (unsigned o = 0; o < e->n_order; o++) {
            const unsigned k = e->order[o];
            for (LLVMValueRef i = LLVMGetFirstInstruction(e->block[k].block); i; i = LLVMGetNextInstruction(i)) {
                if (!cc1_set_has(&e->differs, i) && may_differ(e, i, k)) {
                    changed |= cc1_set_add(&e->differs, i);
                }
            }
            if (!sub_has(e->read, k) && e->block[k].ways == 2 && e->block[k].way[0] != e->block[k].way[1] &&
                cc1_set_has(&e->differs, LLVMGetCondition(end_of(e, k)))) {
                read_branch(e, k);
                changed = 1;
            }
        }
    }
}

/* ---------------------------------------------------------------- where teams meet */

/** The base of a block: not in a loop that the block is not in. */
static unsigned find_base(const struct sub_entry *e, unsigned k)
{
    unsigned base = nearest(e, k, 1);
    for (int changed = 1; changed;) {
        changed = 0;
        for (unsigned h = 0; h < e->n; h++) {
            const struct blocks loop = e->block[h].loop;
            if (loop.bit && sub_has(loop, base) && !sub_has(loop, k)) {
                base = e->block[h].entry;
                changed = 1;
            }
        }
    }
    return base;
}

/** True: a branch on the ways from the base to block k divides the team. */
static int is_divided(const struct sub_entry *e, unsigned base, unsigned k)
{
    struct blocks from = make_set(e);
    int found = (int)sub_has(e->divides, base);
    fill(e, base, k, from);
    for (unsigned j = 0; j < e->n && !found; j++) {
        found = sub_has(from, j) && j != k && sub_has(e->divides, j);
    }
    free(from.bit);
    return found;
}

/** True: a function of sub-groups is called in block k or behind it. */
static int is_needed(const struct sub_entry *e, unsigned k)
{
    struct blocks behind = make_set(e);
    put(behind, k);
    fill(e, k, e->n, behind);
    const int found = shared(e, behind, e->calls) != 0;
    free(behind.bit);
    return found;
}

/** Finds where members of the base's team leave for good, before they reach block k. */
static void find_leaves(struct sub_entry *e, unsigned k)
{
    struct sub_block *x = &e->block[k];
    struct blocks from = make_set(e);
    x->reaches = make_set(e);
    x->leaves = make_set(e);
    for (int changed = 1; changed;) {
        changed = 0;
        for (unsigned i = e->n_order; i-- > 0;) {
            const unsigned j = e->order[i];
            for (unsigned w = 0; w < e->block[j].ways && !sub_has(x->reaches, j); w++) {
                const unsigned to = e->block[j].way[w];
                if (to == k || (to != x->base && sub_has(x->reaches, to))) {
                    put(x->reaches, j);
                    changed = 1;
                }
            }
        }
    }
    fill(e, x->base, k, from);
    put(from, x->base);
    for (unsigned j = 0; j < e->n; j++) {
        for (unsigned i = 0; sub_has(from, j) && sub_has(x->reaches, j) && j != k && i < e->block[j].ways; i++) {
            const unsigned to = e->block[j].way[i];
            if (to != k && (to == x->base || !sub_has(x->reaches, to))) {
                put(x->leaves, j);
                x->kind = SUB_GATHER;
            }
        }
    }
    free(from.bit);
}

/** Finds what happens to the team at the begin of block k, which is no head of a loop. */
static void find_kind(struct sub_entry *e, unsigned k)
{
    struct sub_block *x = &e->block[k];
    unsigned from = 0, last = 0, left = 0;
    for (unsigned i = 0; i < e->n_order; i++) {
        if (is_way(e, e->order[i], k)) {
            from++;
            last = e->order[i];
        }
    }
    x->base = from ? find_base(e, k) : 0;
    left = from && x->base != nearest(e, k, 1); /* a loop was left */
    if ((from > 1 || left) && is_divided(e, x->base, k) && is_needed(e, k)) {
        x->kind = SUB_RETURN;
        find_leaves(e, k);
        put(e->bases, x->base);
        x->unit = x->kind == SUB_GATHER ? 2 * e->gathers++ : 0;
        x->level = e->block[x->base].level + (x->kind == SUB_GATHER);
    } else if (from) {
        x->level = e->block[last].level + (from == 1 ? sub_has(e->divides, last) : 0);
    }
}

static void find_levels(struct sub_entry *e)
{
    for (unsigned o = 0; o < e->n_order; o++) {
        const unsigned k = e->order[o];
        struct sub_block *x = &e->block[k];
        if (!x->loop.bit) {
            find_kind(e, k);
        } else { /* a loop that members of the team leave in different rounds */
            int divided = 0;
            for (unsigned j = 0; j < e->n; j++) {
                for (unsigned i = 0; sub_has(x->loop, j) && sub_has(e->divides, j) && i < e->block[j].ways; i++) {
                    divided |= !sub_has(x->loop, e->block[j].way[i]);
                }
            }
            x->level = e->block[x->entry].level + (unsigned)divided;
            if (divided) {
                put(e->meets, x->entry);
            }
        }
        const unsigned last = x->level + sub_has(e->divides, k);
        e->levels = last >= e->levels ? last + 1 : e->levels;
    }
}

void sub_read(struct sub_entry *e)
{
    LLVMBasicBlockRef *list;
    struct blocks *const sets[] = {&e->calls, &e->divides, &e->bases, &e->meets, &e->mixed, &e->read};
    e->n = LLVMCountBasicBlocks(e->kernel->entry);
    e->words = (e->n + 64) / 64; /* one more than blocks, for "no block" */
    e->block = cc1_alloc(e->n, sizeof *e->block);
    list = cc1_alloc(e->n, sizeof(LLVMBasicBlockRef));
    LLVMGetBasicBlocks(e->kernel->entry, list);
    for (unsigned k = 0; k < e->n; k++) {
        e->block[k].block = list[k];
    }
    free(list);
    qsort(e->block, e->n, sizeof *e->block, compare);
    for (unsigned k = 0; k < e->n; k++) {
        e->block[k].ways = LLVMGetNumSuccessors(end_of(e, k));
        for (unsigned i = 0; i < e->block[k].ways; i++) { /* at most two */
            e->block[k].way[i] = sub_number(e, LLVMGetSuccessor(end_of(e, k), i));
        }
    }
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        *sets[i] = make_set(e);
    }
    for (unsigned b = 0; b < e->n; b++) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(e->block[b].block); i; i = LLVMGetNextInstruction(i)) {
            if (sub_is_mark(i)) {
                put(e->calls, b);
            }
        }
    }
    e->levels = 1;
    find_order(e);
    find_always(e);
    find_loops(e);
    find_branches(e);
    find_levels(e);
}
