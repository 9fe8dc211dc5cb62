/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Decides whether a kernel can run as tiles (tile.c), from its optimized plain entry. Work-items of a tile are
 * interleaved, so no instruction may let one of them wait for another or observe their order: no atomics, no fences, no
 * local memory, no volatile accesses, no ids but the global one. Their branches go the same way: a condition does not
 * depend on an id in a dimension of the tile; or it compares ids, before any store and outside of loops. Such a
 * condition is a guard if a work-item that does not pass it does nothing, or skips something. Any other such condition
 * is voted on. A tile whose work-items do not all pass a guard, or vote differently, begins anew and runs its
 * work-items one after the other.
 */
#include "tile.h"

#include "coarse.h"
#include "tern/tern_spec.h"

#include <stdlib.h>
#include <string.h>

#define TILE_VALUES_MAX 1500u /* instructions of a plain entry */

static int compare(const void *a, const void *b)
{
    const uintptr_t x = (uintptr_t)((const struct tile_value *)a)->of;
    const uintptr_t y = (uintptr_t)((const struct tile_value *)b)->of;
    return x < y ? -1 : x > y;
}

void tile_sort(struct tile *t)
{
    qsort(t->values, t->n, sizeof *t->values, compare);
}

struct tile_value *tile_find(const struct tile *t, LLVMValueRef v)
{
    const struct tile_value key = {.of = v};
    return bsearch(&key, t->values, t->n, sizeof key, compare);
}

struct tile_value *tile_find_block(const struct tile *t, LLVMBasicBlockRef block)
{
    return tile_find(t, LLVMBasicBlockAsValue(block));
}

unsigned tile_depends(const struct tile *t, const struct tile_value *v)
{
    return v->depends & ((t->x > 1 ? TILE_X : 0u) | (t->y > 1 ? TILE_Y : 0u));
}

/** Adds the blocks that are reachable from `block` in reverse order of completion, from the end of the list. */
static void visit(struct tile *t, LLVMBasicBlockRef block, unsigned *left)
{
    struct tile_value *v = tile_find_block(t, block);
    if (v->by) {
        return;
    }
    v->by = 1; /* visited; blocks do not grow */
    LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
    for (unsigned i = LLVMGetNumSuccessors(end); i-- > 0;) {
        visit(t, LLVMGetSuccessor(end, i), left);
    }
    t->blocks[--*left] = block;
}

int tile_collect(struct tile *t, size_t most)
{
    const unsigned n_blocks = LLVMCountBasicBlocks(t->plain);
    t->n = n_blocks;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(t->plain); b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            t->n++;
        }
    }
    if (t->n > most) {
        return cc1_refuse(&t->why, NULL, "it has %zu instructions before code is generated, and at most %zu are read",
                          t->n, most);
    }
    t->values = cc1_alloc(t->n, sizeof *t->values);
    t->blocks = cc1_alloc(n_blocks, sizeof *t->blocks);
    size_t n = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(t->plain); b; b = LLVMGetNextBasicBlock(b)) {
        t->values[n++].of = LLVMBasicBlockAsValue(b);
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            t->values[n++].of = i;
        }
    }
    tile_sort(t);
    unsigned left = n_blocks;
    visit(t, LLVMGetEntryBasicBlock(t->plain), &left);
    t->n_blocks = n_blocks - left; /* the others are not reachable */
    memmove(t->blocks, t->blocks + left, t->n_blocks * sizeof *t->blocks);
    return 1;
}

/** True: the call of a function may be executed once for each work-item, in any order of them. *writes: it may change
 *  memory. */
static int is_plain_function(struct tile *t, LLVMValueRef f, unsigned depth, int *writes)
{
    if (depth == 8) {
        return cc1_refuse(&t->why, NULL, "its functions call each other over more than 8 steps");
    }
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            if (coarse_obstacle(i)) {
                return cc1_refuse(&t->why, i, "%s, in the function %s", coarse_obstacle(i), cc1_function_name(f));
            }
            *writes |= LLVMIsAStoreInst(i) != NULL;
            if (LLVMIsACallInst(i) && !coarse_is_hint(i) && !coarse_is_pure_call(i)) {
                LLVMValueRef called = LLVMGetCalledValue(i);
                if (cc1_call_obstacle(i) || LLVMIsDeclaration(called)) {
                    return cc1_refuse(&t->why, i, "%s, in the function %s",
                                      cc1_call_obstacle(i) ? cc1_call_obstacle(i) : "it calls the run-time library",
                                      cc1_function_name(f));
                }
                if (!is_plain_function(t, called, depth + 1, writes)) {
                    return 0;
                }
            }
        }
    }
    return 1;
}

static int read_call(struct tile *t, struct tile_value *v)
{
    if (coarse_is_hint(v->of)) {
        v->kind = TILE_HINT;
        return 1;
    }
    if (coarse_is_exit(v->of)) {
        v->kind = TILE_EXIT;
        return 1;
    }
    if (coarse_is_pure_call(v->of)) {
        return 1;
    }
    switch (cc1_csr(v->of)) {
    case TERN_CSR_GLOBAL_ID_X: v->kind = TILE_ID_X; v->depends = TILE_X; break;
    case TERN_CSR_GLOBAL_ID_Y: v->kind = TILE_ID_Y; v->depends = TILE_Y; break;
    case TERN_CSR_GLOBAL_SIZE_X: v->kind = TILE_SIZE_X; break;
    case TERN_CSR_GLOBAL_SIZE_Y: v->kind = TILE_SIZE_Y; break;
    case TERN_CSR_GLOBAL_ID_Z: case TERN_CSR_GLOBAL_SIZE_Z: case TERN_CSR_OFFSET_X: case TERN_CSR_OFFSET_Y:
    case TERN_CSR_OFFSET_Z: case TERN_CSR_WORK_DIM: break;
    default: {
        LLVMValueRef f = LLVMGetCalledValue(v->of);
        int writes = 0;
        if (cc1_call_obstacle(v->of) || LLVMIsDeclaration(f)) {
            return cc1_refuse(&t->why, v->of, "%s",
                              cc1_call_obstacle(v->of) ? cc1_call_obstacle(v->of) : "it calls the run-time library");
        }
        if (!is_plain_function(t, f, 0, &writes)) {
            return 0;
        }
        v->depends = writes ? TILE_BOTH | TILE_LOADED : TILE_LOADED;
        return 1;
    }
    }
    t->reads |= v->depends;
    return 1;
}

/** Sets kind and own dependence of an instruction. 0: it does not allow tiles. */
static int read_instruction(struct tile *t, struct tile_value *v)
{
    LLVMValueRef i = v->of;
    if (coarse_obstacle(i)) {
        return cc1_refuse(&t->why, i, "%s", coarse_obstacle(i));
    }
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMAlloca: return cc1_refuse(&t->why, i, "it has a private array");
    case LLVMLoad:
        v->depends = coarse_is_argument(t->plain, LLVMGetOperand(i, 0)) ? 0 : TILE_LOADED;
        return 1;
    case LLVMStore: v->depends = TILE_BOTH; return 1;
    case LLVMCall: return read_call(t, v);
    case LLVMBr: case LLVMSwitch: case LLVMRet: case LLVMUnreachable: return 1;
    default: return !LLVMIsATerminatorInst(i) || cc1_refuse(&t->why, i, "it has a jump to a computed address");
    }
}

void tile_spread(struct tile *t)
{
    for (int changed = 1; changed;) {
        changed = 0;
        for (size_t k = 0; k < t->n; k++) {
            struct tile_value *v = &t->values[k];
            unsigned depends = v->depends;
            const int passes_on = LLVMIsAInstruction(v->of) && v->kind != TILE_ALL && v->kind != TILE_ANY;
            for (int o = 0; passes_on && o < LLVMGetNumOperands(v->of); o++) {
                const struct tile_value *from = tile_find(t, LLVMGetOperand(v->of, (unsigned)o));
                depends |= from ? from->depends : 0;
            }
            changed |= depends != v->depends;
            v->depends = depends;
        }
    }
}

/** A growth: by * times. */
struct growth {
    enum tile_growth is;
    uint32_t by;
    LLVMValueRef times; /* NULL: 1 */
};

static const struct growth no_growth = {TILE_NO_GROWTH, 0, NULL};

/** The growth of an operand. */
static struct growth operand(const struct tile *t, LLVMValueRef v)
{
    const struct tile_value *from = tile_find(t, v);
    return from ? (struct growth){from->growth, from->by, from->times} : (struct growth){TILE_GROWS, 0, NULL};
}

/** The growth of a phi: its operands', of which some may still be unknown. */
static struct growth of_phi(const struct tile *t, LLVMValueRef v)
{
    struct growth all = {TILE_UNKNOWN, 0, NULL};
    for (unsigned i = 0; i < LLVMCountIncoming(v); i++) {
        const struct growth one = operand(t, LLVMGetIncomingValue(v, i));
        if (one.is == TILE_NO_GROWTH ||
            (one.is == TILE_GROWS && all.is == TILE_GROWS && (one.by != all.by || one.times != all.times))) {
            return no_growth;
        }
        all = one.is == TILE_GROWS ? one : all;
    }
    return all;
}

/** The growth of a product with a value that does not depend on x. */
static struct growth of_product(const struct tile *t, LLVMValueRef v, struct growth a, struct growth b)
{
    const int shifts = LLVMGetInstructionOpcode(v) == LLVMShl, second = shifts || a.by != 0;
    LLVMValueRef factor = LLVMGetOperand(v, second ? 1 : 0);
    const struct tile_value *from = tile_find(t, factor);
    struct growth all = second ? a : b;
    if (LLVMIsAConstantInt(factor)) {
        const uint32_t by = (uint32_t)LLVMConstIntGetZExtValue(factor);
        all.by = shifts ? all.by << (by & 31) : all.by * by;
        return all;
    }
    if (shifts || all.times || (from && from->depends & TILE_X)) {
        return no_growth;
    }
    all.times = factor;
    return all;
}

/** The growth of an instruction that depends on x, from its operands'. */
static struct growth growth(const struct tile *t, LLVMValueRef v)
{
    const LLVMTypeKind type = LLVMGetTypeKind(LLVMTypeOf(v));
    const LLVMOpcode op = LLVMGetInstructionOpcode(v);
    if (type != LLVMPointerTypeKind && (type != LLVMIntegerTypeKind || LLVMGetIntTypeWidth(LLVMTypeOf(v)) != 32)) {
        return no_growth;
    }
    if (op == LLVMPHI) {
        return of_phi(t, v);
    }
    const int adds = op == LLVMAdd || (op == LLVMOr && LLVMGetIsDisjoint(v));
    if ((op != LLVMGetElementPtr && !adds && op != LLVMSub && op != LLVMShl && op != LLVMMul) ||
        LLVMGetNumOperands(v) != 2) {
        return no_growth;
    }
    struct growth a = operand(t, LLVMGetOperand(v, 0)), b = operand(t, LLVMGetOperand(v, 1));
    if (a.is == TILE_NO_GROWTH || b.is == TILE_NO_GROWTH) {
        return no_growth;
    }
    if (a.is == TILE_UNKNOWN || b.is == TILE_UNKNOWN) {
        return (struct growth){TILE_UNKNOWN, 0, NULL};
    }
    if (op == LLVMMul || op == LLVMShl) {
        return of_product(t, v, a, b);
    }
    if (a.by && b.by && a.times != b.times) {
        return no_growth;
    }
    if (op == LLVMGetElementPtr) {
        if (LLVMGetIntTypeWidth(LLVMTypeOf(LLVMGetOperand(v, 1))) != 32) {
            return no_growth;
        }
        b.by *= (uint32_t)LLVMABISizeOfType(t->cc->layout, LLVMGetGEPSourceElementType(v));
    }
    a.times = a.by ? a.times : b.times;
    a.by = op == LLVMSub ? a.by - b.by : a.by + b.by;
    return a;
}

/** A value begins as unknown, which is compatible with any growth, so that a pointer that a loop advances grows as it
 *  does before the loop. */
void tile_find_growth(struct tile *t)
{
    for (size_t k = 0; k < t->n; k++) {
        struct tile_value *v = &t->values[k];
        v->by = v->kind == TILE_ID_X;
        v->growth = v->region ? TILE_NO_GROWTH
                    : v->depends & TILE_X && v->kind != TILE_ID_X ? TILE_UNKNOWN : TILE_GROWS;
    }
    for (int changed = 1; changed;) {
        changed = 0;
        for (size_t k = 0; k < t->n; k++) {
            struct tile_value *v = &t->values[k];
            if (!(v->depends & TILE_X) || v->kind == TILE_ID_X || v->growth == TILE_NO_GROWTH) {
                continue;
            }
            struct growth now = growth(t, v->of);
            if (v->growth == TILE_GROWS && (now.is != TILE_GROWS || now.by != v->by || now.times != v->times)) {
                now = no_growth;
            }
            changed |= now.is != v->growth;
            v->growth = now.is;
            v->by = now.by;
            v->times = now.times;
        }
    }
}

/** True: block `to` can be reached from the successors of `from` by blocks that are not in `met`. */
static int reaches(LLVMBasicBlockRef from, LLVMBasicBlockRef to, struct cc1_set *met)
{
    LLVMValueRef end = LLVMGetBasicBlockTerminator(from);
    for (unsigned i = 0; i < LLVMGetNumSuccessors(end); i++) {
        LLVMBasicBlockRef next = LLVMGetSuccessor(end, i);
        if (next == to || (cc1_set_add(met, LLVMBasicBlockAsValue(next)) && reaches(next, to, met))) {
            return 1;
        }
    }
    return 0;
}

int tile_reaches(LLVMBasicBlockRef from, LLVMBasicBlockRef to)
{
    struct cc1_set met = {0};
    const int yes = reaches(from, to, &met);
    free(met.at);
    return yes;
}

/** True: neighbouring work-items mostly pass together. That holds if ids are compared, not if some are selected. */
static int is_likely(const struct tile *t, LLVMValueRef condition, int passes_if)
{
    LLVMValueRef second, part = coarse_parts(condition, passes_if, &second);
    if (second) {
        return is_likely(t, part, passes_if) && is_likely(t, second, passes_if);
    }
    const struct tile_value *v = tile_find(t, part);
    if (!v || !(v->depends & TILE_BOTH)) {
        return 1;
    }
    return LLVMIsAICmpInst(part) && LLVMGetICmpPredicate(part) != LLVMIntEQ &&
        LLVMGetICmpPredicate(part) != LLVMIntNE;
}

/** True: the condition consists of comparisons of ids by their order, and of conditions that are the same for all. */
static int compares_ids(const struct tile *t, LLVMValueRef condition)
{
    const struct tile_value *v = tile_find(t, condition);
    int all = 1;
    if (!v || !(v->depends & TILE_BOTH)) {
        return 1;
    }
    switch (LLVMGetInstructionOpcode(condition)) {
    case LLVMICmp:
        return LLVMGetICmpPredicate(condition) != LLVMIntEQ && LLVMGetICmpPredicate(condition) != LLVMIntNE &&
            LLVMTypeOf(condition) == LLVMInt1TypeInContext(t->cc->context);
    case LLVMAnd: case LLVMOr: case LLVMXor: case LLVMSelect:
        for (int o = 0; o < LLVMGetNumOperands(condition); o++) {
            all = all && compares_ids(t, LLVMGetOperand(condition, (unsigned)o));
        }
        return all;
    default: return 0;
    }
}

/** True: at the end of the block, nothing has happened that a work-item may do only once. */
static int is_before_stores(const struct tile *t, LLVMBasicBlockRef block)
{
    for (size_t k = 0; k < t->n; k++) {
        LLVMValueRef i = t->values[k].of;
        const int acts = LLVMIsAInstruction(i) &&
            (LLVMIsAStoreInst(i) || (t->values[k].kind == TILE_PLAIN && coarse_is_opaque_call(i)));
        if (acts && (LLVMGetInstructionParent(i) == block || tile_reaches(LLVMGetInstructionParent(i), block))) {
            return 0;
        }
    }
    return 1;
}

/** 1 + index of the successor that skips the other one, as after `if (x > 0) left = a[x - 1];`. 0: neither does. */
static int skips(LLVMValueRef branch)
{
    LLVMBasicBlockRef first = LLVMGetSuccessor(branch, 0), second = LLVMGetSuccessor(branch, 1);
    const int over_second = tile_reaches(second, first), over_first = tile_reaches(first, second);
    return over_second == over_first ? 0 : over_second ? 1 : 2;
}

/** Decides how a tile treats a divergent branch: sets `leaves` of a guard, else `votes` if all work-items of most tiles
 *  take the same way. That holds if ids are compared. In a loop, most tiles may meet a round in which it does not. A
 *  branch that skips something is a guard, because such conditions mostly hold: they are for the borders of a range. */
static void find_guard(const struct tile *t, struct tile_value *branch)
{
    LLVMValueRef condition = LLVMGetCondition(branch->of);
    const struct tile_value *from = tile_find(t, condition);
    LLVMBasicBlockRef block = LLVMGetInstructionParent(branch->of);
    const int away = coarse_is_exit(LLVMGetFirstInstruction(LLVMGetSuccessor(branch->of, 0)))   ? 0
                     : coarse_is_exit(LLVMGetFirstInstruction(LLVMGetSuccessor(branch->of, 1))) ? 1
                                                                                                : -1;
    if (!from || from->depends & TILE_LOADED || tile_reaches(block, block) || !is_before_stores(t, block)) {
        return;
    }
    if (away >= 0 && is_likely(t, condition, away == 1)) {
        branch->leaves = away + 1;
    } else if (away < 0 && compares_ids(t, condition)) {
        branch->leaves = skips(branch->of);
        branch->votes = !branch->leaves;
    }
}

int tile_read(struct tile *t)
{
    int stores = 0, exits = 0;
    if (!tile_collect(t, TILE_VALUES_MAX)) {
        return 0;
    }
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(t->plain); b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            struct tile_value *v = tile_find(t, i);
            if (!read_instruction(t, v)) {
                return 0;
            }
            stores |= LLVMIsAStoreInst(i) != NULL;
            exits |= v->kind == TILE_EXIT;
        }
    }
    if (!stores || !exits || !t->reads) {
        return cc1_refuse(&t->why, NULL, !stores  ? "it stores nothing"
                                         : !exits ? "it does not end"
                                                  : "it uses no global id in x or y");
    }
    tile_spread(t);
    tile_find_growth(t);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(t->plain); b; b = LLVMGetNextBasicBlock(b)) {
        struct tile_value *v = tile_find(t, LLVMGetBasicBlockTerminator(b));
        if (!(v->depends & TILE_BOTH)) {
            continue;
        }
        if (LLVMIsABranchInst(v->of)) {
            find_guard(t, v);
        }
        const int uniform = v->leaves || v->votes;
        const unsigned away = v->leaves == 2;
        const int ends = v->leaves && coarse_is_exit(LLVMGetFirstInstruction(LLVMGetSuccessor(v->of, away)));
        t->borders |= uniform && !ends ? v->depends & TILE_BOTH : 0;
        t->divergent |= uniform ? 0 : v->depends & TILE_BOTH;
        for (unsigned d = 0; d < 2 && !uniform; d++) {
            t->branch[d] = v->depends & (d ? TILE_Y : TILE_X) && !t->branch[d] ? v->of : t->branch[d];
        }
    }
    return (t->divergent & TILE_BOTH) != TILE_BOTH ||
           cc1_refuse(&t->why, t->branch[0], "a branch depends on the id in x, and one on that in y");
}
