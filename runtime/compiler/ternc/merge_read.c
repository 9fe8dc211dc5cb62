/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Decides whether work-items of a group can be merged (merge.c), from the optimized plain entry, and finds its regions.
 *
 * A branch is divergent if its condition differs between the merged work-items: it depends on the id, on a value of
 * memory that was read at such an address, or on a phi behind another divergent branch. The region of a divergent
 * branch is what lies between it and its join, the nearest block that all its paths reach; of a loop that is left by
 * such a branch, it is the whole loop. All values that are made in a region, and the phis of its join, differ between
 * the work-items. A region is entered from one block only, and a larger region contains a smaller one or has nothing in
 * common with it.
 *
 * Merged work-items cannot wait for each other. The entry executes a barrier once for all of them, which is right
 * outside of regions, where all work-items go the same way. A loop in which a work-item may wait for a value that
 * another one writes (waits.c) is refused, and so is the call of a function that has volatile loads or atomics.
 */
#include "tile.h"

#include "coarse.h"
#include "tern/tern_spec.h"

#include <stdlib.h>
#include <string.h>

#define DEEPEST 8u /* calls of functions within each other that are followed */

static int is_named(LLVMValueRef call, const char *prefix)
{
    size_t length;
    LLVMValueRef f = LLVMGetCalledValue(call);
    return LLVMIsAFunction(f) && !strncmp(LLVMGetValueName2(f, &length), prefix, strlen(prefix));
}

/** True: the call reads a CSR that is not OpenCL's value of a merged work-item. */
static int is_own_id(const struct tile *t, LLVMValueRef call)
{
    const unsigned csr = cc1_csr(call);
    return csr == TERN_CSR_LOCAL_ID_X + t->axis || csr == TERN_CSR_GLOBAL_ID_X + t->axis ||
        csr == TERN_CSR_GLOBAL_SIZE_X + t->axis || csr == TERN_CSR_THREAD ||
        (t->y > 1 && (csr == TERN_CSR_GROUP_ID_X + t->axis || csr == TERN_CSR_NUM_GROUPS_X + t->axis));
}

unsigned merge_depends(const struct tile *t)
{
    return t->y > 1 ? TILE_BOTH : TILE_X;
}

/** True: merged work-items may call the function one after the other, also in a loop. */
static int is_free_function(const struct tile *t, LLVMValueRef f, unsigned depth)
{
    if (depth == DEEPEST) {
        return 0;
    }
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            if (waits_reads_others(i)) {
                return 0;
            }
            if (!LLVMIsACallInst(i) || coarse_is_hint(i) || coarse_is_pure_call(i)) {
                continue;
            }
            LLVMValueRef called = LLVMGetCalledValue(i);
            if (is_own_id(t, i)) {
                return 0; /* the function would have to know which work-item it runs for */
            }
            if (LLVMIsAInlineAsm(called) ? coarse_is_barrier(i) || coarse_is_exit(i) : !LLVMIsAFunction(called)) {
                return 0;
            }
            if (LLVMIsAFunction(called) && !LLVMIsDeclaration(called) && !is_free_function(t, called, depth + 1)) {
                return 0;
            }
        }
    }
    return 1;
}

/** Sets kind and own dependence of a call. 0: the kernel cannot be merged. */
static int read_call(struct tile *t, struct tile_value *v)
{
    const unsigned csr = cc1_csr(v->of);
    if (coarse_is_hint(v->of) || is_named(v->of, "llvm.lifetime.")) {
        v->kind = TILE_HINT;
    } else if (is_named(v->of, TILE_ALL_OF) || is_named(v->of, TILE_ANY_OF)) {
        v->kind = is_named(v->of, TILE_ALL_OF) ? TILE_ALL : TILE_ANY;
    } else if (coarse_is_exit(v->of)) {
        v->kind = TILE_EXIT;
    } else if (coarse_is_barrier(v->of)) {
        v->kind = TILE_BARRIER;
        t->barriers = 1;
    } else if (csr == TERN_CSR_LOCAL_ID_X + t->axis || csr == TERN_CSR_GLOBAL_ID_X + t->axis) {
        v->kind = TILE_ID_X;
        v->depends = csr == TERN_CSR_LOCAL_ID_X + t->axis ? TILE_X : merge_depends(t);
    } else if (csr == TERN_CSR_GROUP_ID_X + t->axis && t->y > 1) {
        v->kind = TILE_GROUP;
        v->depends = TILE_Y;
    } else if (csr == TERN_CSR_NUM_GROUPS_X + t->axis && t->y > 1) {
        v->kind = TILE_GROUPS;
    } else if (csr == TERN_CSR_GLOBAL_SIZE_X + t->axis) {
        v->kind = TILE_SIZE_X;
    } else if (csr == TERN_CSR_THREAD) {
        return cc1_refuse(&t->why, v->of, "it reads the number of its hardware work-item");
    } else if (!csr && !coarse_is_pure_call(v->of)) {
        LLVMValueRef f = LLVMGetCalledValue(v->of);
        v->depends = merge_depends(t);
        if (!LLVMIsAInlineAsm(f) && !LLVMIsAFunction(f)) {
            return cc1_refuse(&t->why, v->of, "it calls a function by a pointer");
        }
        if (LLVMIsAFunction(f) && !LLVMIsDeclaration(f) && !is_free_function(t, f, 0)) {
            return cc1_refuse(&t->why, v->of, "function %s, which is too long to be inlined, reads ids, has a barrier, "
                              "or may wait for another work-item", cc1_function_name(f));
        }
    }
    return 1;
}

/** Finds an address in local memory: of an argument, or of a variable (merge_find_local). */
static void read_local(struct tile *t, struct tile_value *v)
{
    const LLVMTypeRef type = LLVMTypeOf(v->of);
    if (t->y > 1 && LLVMGetTypeKind(type) == LLVMPointerTypeKind &&
        LLVMGetPointerAddressSpace(type) == CC1_LOCAL_SPACE &&
        (LLVMIsALoadInst(v->of) ? coarse_is_argument(t->plain, LLVMGetOperand(v->of, 0)) != 0
                                : LLVMIsAGlobalVariable(LLVMGetOperand(v->of, 0)) != NULL)) {
        v->kind = TILE_LOCAL;
        v->depends = TILE_Y;
    }
}

/** Sets kind and own dependence of an instruction. 0: the kernel cannot be merged. */
static int read_instruction(struct tile *t, struct tile_value *v)
{
    LLVMValueRef i = v->of;
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMAlloca:
        v->kind = TILE_PRIVATE;
        v->depends = merge_depends(t);
        if (LLVMGetInstructionParent(i) != LLVMGetEntryBasicBlock(t->plain) ||
            !LLVMIsAConstantInt(LLVMGetOperand(i, 0))) {
            return cc1_refuse(&t->why, i, "it has a private array whose size is not constant");
        }
        return 1;
    case LLVMStore: case LLVMAtomicRMW: case LLVMAtomicCmpXchg: v->depends = merge_depends(t); return 1;
    case LLVMLoad:
        v->depends = coarse_is_ordered(i) ? merge_depends(t) : 0;
        read_local(t, v);
        return 1;
    case LLVMFreeze: read_local(t, v); return 1;
    case LLVMVAArg: case LLVMIndirectBr: case LLVMUnreachable:
        return cc1_refuse(&t->why, i, "it has a place that is never reached, or a computed jump");
    case LLVMCall: return read_call(t, v);
    default: return 1;
    }
}

static unsigned *region_of(const struct tile *t, LLVMBasicBlockRef block)
{
    return &tile_find_block(t, block)->region;
}

static int has(const struct cc1_set *set, LLVMBasicBlockRef block)
{
    return cc1_set_has(set, LLVMBasicBlockAsValue(block));
}

/** The only block outside of the set from which a branch leads into it, and all whose branches lead into it or to
 *  `join`; NULL: there is no such block. */
static LLVMBasicBlockRef find_entry(const struct tile *t, const struct cc1_set *set, LLVMBasicBlockRef join)
{
    LLVMBasicBlockRef entry = NULL;
    for (unsigned n = 0; n < t->n_blocks; n++) {
        LLVMBasicBlockRef from = t->blocks[n];
        LLVMValueRef end = LLVMGetBasicBlockTerminator(from);
        unsigned into = 0, away = 0;
        for (unsigned i = 0; i < LLVMGetNumSuccessors(end) && !has(set, from); i++) {
            LLVMBasicBlockRef next = LLVMGetSuccessor(end, i);
            into += (unsigned)has(set, next);
            away += !has(set, next) && next != join;
        }
        if (into && (entry || away)) {
            return NULL;
        }
        entry = into ? from : entry;
    }
    return entry;
}

/** Marks the blocks of a set as a new region. 0: it cannot be one. */
static int add_region(struct tile *t, const struct cc1_set *set, LLVMBasicBlockRef join, LLVMValueRef branch)
{
    struct tile_region r = {.from = find_entry(t, set, join), .join = join};
    const unsigned number = t->n_regions + 1;
    if (!r.from || *region_of(t, r.from)) {
        return 0;
    }
    for (size_t k = 0; k < t->n; k++) {
        struct tile_value *v = &t->values[k];
        const int is_block = LLVMValueIsBasicBlock(v->of);
        LLVMBasicBlockRef block = is_block ? LLVMValueAsBasicBlock(v->of) : LLVMGetInstructionParent(v->of);
        int joins = 0;
        for (unsigned i = 0; !is_block && LLVMIsAPHINode(v->of) && block == join && i < LLVMCountIncoming(v->of); i++) {
            LLVMBasicBlockRef from = LLVMGetIncomingBlock(v->of, i);
            joins |= from == r.from || has(set, from);
        }
        if (!has(set, block) && !joins) {
            continue;
        }
        if (v->kind == TILE_BARRIER) {
            return cc1_refuse(&t->why, branch, "a barrier lies behind a branch that work-items may take differently");
        }
        if (v->kind == TILE_EXIT || v->kind == TILE_PRIVATE) {
            return 0;
        }
        v->region = number;
        v->depends |= is_block ? 0u : merge_depends(t);
    }
    t->regions = realloc(t->regions, number * sizeof *t->regions);
    if (!t->regions) {
        cc1_die(CC1_INTERNAL, "out of memory");
    }
    t->regions[number - 1] = r;
    t->n_regions = number;
    return 1;
}

/** True: each region that was found before is wholly in the set, or has nothing in common with it. */
static int is_nested(const struct tile *t, const struct cc1_set *set)
{
    enum { IN = 1, OUT = 2 };
    unsigned char *where = cc1_alloc(t->n_regions + 1, 1);
    int nested = 1;
    for (unsigned n = 0; n < t->n_blocks; n++) {
        where[*region_of(t, t->blocks[n])] |= has(set, t->blocks[n]) ? IN : OUT;
    }
    for (unsigned n = 1; n <= t->n_regions; n++) {
        nested = nested && where[n] != (IN | OUT);
    }
    free(where);
    return nested;
}

/** Finds the region of a divergent branch at the end of block k. 0: it has none. */
static int find_region(struct tile *t, const struct tile_joins *j, unsigned k)
{
    struct cc1_set set = {0};
    LLVMBasicBlockRef join = tile_join(t, j, k);
    int found = 0;
    if (join) {
        tile_fill(t->blocks[k], join, &set);
        if (has(&t->whole, t->blocks[k])) {
            cc1_set_add(&set, LLVMBasicBlockAsValue(t->blocks[k]));
        }
        found = is_nested(t, &set) && add_region(t, &set, join, LLVMGetBasicBlockTerminator(t->blocks[k]));
    }
    free(set.at);
    return found;
}

/** True: the branch at the end of a block is divergent, and leads into no region that is known. */
static int is_new(const struct tile *t, LLVMBasicBlockRef block)
{
    LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
    int known = *region_of(t, block) != 0;
    for (unsigned i = 0; i < t->n_regions && !known; i++) {
        known = t->regions[i].from == block;
    }
    return !known && LLVMGetNumSuccessors(end) > 1 && tile_find(t, end)->depends & TILE_BOTH;
}

/** Finds all regions. 0: a divergent branch has none. */
static int find_regions(struct tile *t, const struct tile_joins *j)
{
    int all = 1;
    for (int more = 1; more && all;) {
        more = 0;
        tile_spread(t);
        for (unsigned n = 0; n < t->n_blocks && all; n++) {
            if (is_new(t, t->blocks[n])) {
                all = find_region(t, j, n) ||
                    cc1_refuse(&t->why, LLVMGetBasicBlockTerminator(t->blocks[n]), "the paths of a branch that "
                               "work-items may take differently do not meet again");
                more = 1;
            }
        }
    }
    return all;
}

/** True: a constant is made of the address of a local variable, or is one. */
static int names_local(LLVMValueRef v)
{
    int names = LLVMIsAGlobalVariable(v) && LLVMGetPointerAddressSpace(LLVMTypeOf(v)) == CC1_LOCAL_SPACE;
    for (int o = 0; LLVMIsConstant(v) && !LLVMIsAGlobalValue(v) && !names && o < LLVMGetNumOperands(v); o++) {
        names = names_local(LLVMGetOperand(v, (unsigned)o));
    }
    return names;
}

/** Builds a constant that names a local variable as an instruction. NULL: it is no address at a constant distance from
 *  the variable. */
static LLVMValueRef build_local(LLVMBuilderRef b, LLVMValueRef v)
{
    if (LLVMIsAGlobalVariable(v)) {
        return LLVMBuildFreeze(b, v, "");
    }
    if (!LLVMIsAConstantExpr(v) || LLVMGetConstOpcode(v) != LLVMGetElementPtr || LLVMGetNumOperands(v) != 2 ||
        !LLVMIsAGlobalVariable(LLVMGetOperand(v, 0)) || !LLVMIsAConstantInt(LLVMGetOperand(v, 1))) {
        return NULL;
    }
    LLVMValueRef first = LLVMBuildFreeze(b, LLVMGetOperand(v, 0), ""), by = LLVMGetOperand(v, 1);
    return LLVMBuildGEP2(b, LLVMGetGEPSourceElementType(v), first, &by, 1, "");
}

int merge_find_local(struct tile *t)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(t->cc->context);
    int all = 1;
    for (LLVMValueRef f = LLVMGetFirstFunction(t->cc->module); f; f = LLVMGetNextFunction(f)) {
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block && all; block = LLVMGetNextBasicBlock(block)) {
            for (LLVMValueRef i = LLVMGetFirstInstruction(block); i && all; i = LLVMGetNextInstruction(i)) {
                for (int o = 0; o < LLVMGetNumOperands(i) && all; o++) {
                    LLVMValueRef v = LLVMGetOperand(i, (unsigned)o), made;
                    if (!names_local(v) || LLVMIsAFreezeInst(i)) {
                        continue;
                    }
                    LLVMPositionBuilderBefore(b, i);
                    made = f == t->plain && !LLVMIsAPHINode(i) ? build_local(b, v) : NULL;
                    all = made != NULL;
                    if (made) {
                        LLVMSetOperand(i, (unsigned)o, made);
                    }
                }
            }
        }
    }
    LLVMDisposeBuilder(b);
    return all;
}

void merge_free(struct tile *t)
{
    for (unsigned n = 0; n < t->n_regions; n++) {
        free(t->regions[n].joined);
    }
    free(t->values);
    free(t->blocks);
    free(t->regions);
}

/** Finds the addresses outside of regions that move with the local memory of a group: those of TILE_LOCAL, and at
 *  distances from them that are the same in all groups. */
static void find_moving(struct tile *t)
{
    for (int changed = 1; changed;) {
        changed = 0;
        for (size_t k = 0; k < t->n; k++) {
            struct tile_value *v = &t->values[k];
            const struct tile_value *from =
                LLVMIsAGetElementPtrInst(v->of) ? tile_find(t, LLVMGetOperand(v->of, 0)) : NULL;
            int moves = from && !v->region && (from->kind == TILE_LOCAL || from->moves);
            for (int o = 1; moves && o < LLVMGetNumOperands(v->of); o++) {
                const struct tile_value *index = tile_find(t, LLVMGetOperand(v->of, (unsigned)o));
                moves = !index || !(index->depends & TILE_Y);
            }
            changed |= moves && !v->moves;
            v->moves |= moves;
        }
    }
}

int merge_read(struct tile *t, size_t most)
{
    int exits = 0;
    if (!tile_collect(t, most)) {
        return 0;
    }
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(t->plain); b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            struct tile_value *v = tile_find(t, i);
            if (!read_instruction(t, v)) {
                return 0;
            }
            exits |= v->kind == TILE_EXIT;
        }
    }
    if (!exits) {
        return cc1_refuse(&t->why, NULL, "it does not end");
    }
    struct tile_joins j = tile_find_joins(t);
    LLVMValueRef waits = waits_find(t, &j);
    const int can = waits ? cc1_refuse(&t->why, waits, "in a loop, a work-item may wait for another one: how often it "
                                       "loops depends on volatile memory, or on the result of an atomic operation")
                          : find_regions(t, &j);
    free(j.row);
    if (!can) {
        return 0;
    }
    tile_find_growth(t);
    find_moving(t);
    return 1;
}
