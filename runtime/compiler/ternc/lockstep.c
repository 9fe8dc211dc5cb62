/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Loops that merged work-items leave at different rounds, for example `for (i = local id; i < n; i += local size)`.
 * Such a loop is a region (merge_read.c), so that its copies would run one after the other. Mostly, however, all
 * work-items have further rounds. Therefore a loop is preceded by a copy of itself that runs while all of them have:
 *
 *   before:              if (all(c)) goto fast; else goto rest;         c: whether the work-item enters the loop
 *   fast:                the loop's blocks; if (all(d)) goto fast;      d: whether it has another round
 *   rest (of each edge): if (any(c or d)) goto serial; else goto exit;
 *   serial:              if (c or d) goto loop; else goto exit;
 *   loop:                as it was
 *
 * The branches on `all` and `any` are uniform, so that the instructions of `fast` are interleaved as outside of
 * regions. Only `serial` and the loop are a region. If the loop is entered without a condition, `fast` is as well.
 *
 * A loop is split if it is left at its end only, and is not itself in a region. In front of it there may be a guard
 * that skips it. Instructions between the guard and the loop are then executed before the guard, and must allow that.
 */
#include "tile.h"

#include "coarse.h"

#include <stdlib.h>
#include <string.h>

#define MOST_LOOPS 8u /* of a kernel, for the time of the build */

struct loop {
    struct tile *t;
    LLVMBuilderRef b;
    LLVMBasicBlockRef head, latch, exit;
    LLVMBasicBlockRef before;  /**< The block that leads to `head`. */
    LLVMBasicBlockRef guard;   /**< The block that leads to `before` or to `join`; NULL: the loop is always entered. */
    LLVMBasicBlockRef join;    /**< Behind the guard and `exit`. */
    LLVMValueRef enter, stay;  /**< Whether the work-item enters the loop (NULL: always), or has another round. */
    struct cc1_set blocks;     /**< From head to latch. */
    LLVMBasicBlockRef serial, rest_of_guard, rest_of_fast;
    unsigned n;                /**< Instructions and blocks in `of`. */
    LLVMValueRef *of, *copy;   /**< What the loop has, and its copy in `fast`. */
};

static int has(const struct cc1_set *set, LLVMBasicBlockRef block)
{
    return cc1_set_has(set, LLVMBasicBlockAsValue(block));
}

static LLVMValueRef end_of(LLVMBasicBlockRef block)
{
    return LLVMGetBasicBlockTerminator(block);
}

static int leads_to(LLVMBasicBlockRef from, LLVMBasicBlockRef to)
{
    for (unsigned i = 0; i < LLVMGetNumSuccessors(end_of(from)); i++) {
        if (LLVMGetSuccessor(end_of(from), i) == to) {
            return 1;
        }
    }
    return 0;
}

/** The only predecessor of a block, besides `but`; NULL: it has none, or several. */
static LLVMBasicBlockRef find_before(const struct tile *t, LLVMBasicBlockRef block, LLVMBasicBlockRef but)
{
    LLVMBasicBlockRef found = NULL;
    for (unsigned n = 0; n < t->n_blocks; n++) {
        if (t->blocks[n] != but && leads_to(t->blocks[n], block)) {
            if (found) {
                return NULL;
            }
            found = t->blocks[n];
        }
    }
    return found;
}

/** Adds the blocks from which `block` is reached without l->head. */
static void fill(struct loop *l, LLVMBasicBlockRef block)
{
    if (!cc1_set_add(&l->blocks, LLVMBasicBlockAsValue(block))) {
        return;
    }
    for (unsigned n = 0; n < l->t->n_blocks; n++) {
        if (leads_to(l->t->blocks[n], block)) {
            fill(l, l->t->blocks[n]);
        }
    }
}

/** Finds the blocks of the loop. 0: it is entered or left at other places than its head and its latch. */
static int find_blocks(struct loop *l)
{
    cc1_set_add(&l->blocks, LLVMBasicBlockAsValue(l->head));
    fill(l, l->latch);
    if (has(&l->blocks, LLVMGetEntryBasicBlock(l->t->plain)) || has(&l->blocks, l->exit)) {
        return 0;
    }
    for (unsigned n = 0; n < l->t->n_blocks; n++) {
        LLVMBasicBlockRef block = l->t->blocks[n];
        for (unsigned i = 0; has(&l->blocks, block) && i < LLVMGetNumSuccessors(end_of(block)); i++) {
            LLVMBasicBlockRef next = LLVMGetSuccessor(end_of(block), i);
            if (!has(&l->blocks, next) && (block != l->latch || next != l->exit)) {
                return 0;
            }
        }
    }
    return 1;
}

/** Finds the guard, if the loop has one that is divergent. 0: the loop is in a region that is not only of its guard. */
static int find_guard(struct loop *l)
{
    if (!tile_find_block(l->t, l->before)->region) {
        return 1;
    }
    LLVMBasicBlockRef guard = find_before(l->t, l->before, NULL);
    if (!guard || tile_find_block(l->t, guard)->region || LLVMGetNumSuccessors(end_of(guard)) != 2 ||
        !LLVMIsABranchInst(end_of(guard)) || !coarse_joins_only(l->exit) || !coarse_is_speculative(l->before)) {
        return 0;
    }
    l->guard = guard;
    l->join = LLVMGetSuccessor(end_of(l->exit), 0);
    return leads_to(guard, l->join) && l->join != l->before;
}

/** Reads the loop that the branch at the end of `latch` repeats. 0: there is none, or it cannot be split. */
static int read_loop(struct loop *l)
{
    LLVMValueRef end = end_of(l->latch);
    if (!LLVMIsABranchInst(end) || LLVMGetNumSuccessors(end) != 2 || !(tile_find(l->t, end)->depends & TILE_BOTH)) {
        return 0;
    }
    for (unsigned i = 0; i < 2; i++) {
        l->head = LLVMGetSuccessor(end, i);
        l->exit = LLVMGetSuccessor(end, 1 - i);
        l->before = l->head == l->exit ? NULL : find_before(l->t, l->head, l->latch);
        free(l->blocks.at);
        l->blocks = (struct cc1_set){0};
        if (l->before && LLVMGetNumSuccessors(end_of(l->before)) == 1 && tile_reaches(l->head, l->latch) &&
            find_blocks(l) && !has(&l->blocks, l->before) && find_before(l->t, l->exit, NULL) == l->latch) {
            return find_guard(l);
        }
    }
    return 0;
}

static LLVMBasicBlockRef add_block(struct loop *l)
{
    return LLVMAppendBasicBlockInContext(l->t->cc->context, l->t->plain, "");
}

/** The copy of a value or block in `fast`; the value itself if it is made outside of the loop. */
static LLVMValueRef copy_of(const struct loop *l, LLVMValueRef v)
{
    for (unsigned k = 0; k < l->n; k++) {
        if (l->of[k] == v) {
            return l->copy[k];
        }
    }
    return v;
}

static LLVMBasicBlockRef copy_of_block(const struct loop *l, LLVMBasicBlockRef block)
{
    return LLVMValueAsBasicBlock(copy_of(l, LLVMBasicBlockAsValue(block)));
}

static void add(struct loop *l, LLVMValueRef of, LLVMValueRef copy)
{
    l->of[l->n] = of;
    l->copy[l->n++] = copy;
}

/** Copies the blocks of the loop, with the operands that they have in it. */
static void copy_blocks(struct loop *l)
{
    l->of = cc1_alloc(2 * l->t->n, sizeof *l->of); /* condition_of has added some */
    l->copy = cc1_alloc(2 * l->t->n, sizeof *l->copy);
    for (unsigned n = 0; n < l->t->n_blocks; n++) {
        if (has(&l->blocks, l->t->blocks[n])) {
            add(l, LLVMBasicBlockAsValue(l->t->blocks[n]), LLVMBasicBlockAsValue(add_block(l)));
        }
    }
    for (unsigned n = 0; n < l->t->n_blocks; n++) {
        if (!has(&l->blocks, l->t->blocks[n])) {
            continue;
        }
        LLVMPositionBuilderAtEnd(l->b, copy_of_block(l, l->t->blocks[n]));
        for (LLVMValueRef i = LLVMGetFirstInstruction(l->t->blocks[n]); i; i = LLVMGetNextInstruction(i)) {
            LLVMValueRef made;
            if (LLVMIsAPHINode(i)) {
                made = LLVMBuildPhi(l->b, LLVMTypeOf(i), "");
            } else {
                made = LLVMInstructionClone(i);
                LLVMInsertIntoBuilder(l->b, made);
            }
            add(l, i, made);
        }
    }
}

/** Gives the copies the operands of `fast`. */
static void connect_blocks(struct loop *l)
{
    LLVMBasicBlockRef enters = l->guard ? l->guard : l->before;
    for (unsigned k = 0; k < l->n; k++) {
        LLVMValueRef of = l->of[k], made = l->copy[k];
        for (unsigned i = 0; LLVMIsAPHINode(of) && i < LLVMCountIncoming(of); i++) {
            LLVMValueRef value = copy_of(l, LLVMGetIncomingValue(of, i));
            LLVMBasicBlockRef from = LLVMGetIncomingBlock(of, i);
            from = from == l->before ? enters : copy_of_block(l, from);
            LLVMAddIncoming(made, &value, &from, 1);
        }
        if (LLVMIsAPHINode(of) || LLVMValueIsBasicBlock(of)) {
            continue;
        }
        for (int o = 0; !LLVMIsATerminatorInst(of) && o < LLVMGetNumOperands(of); o++) {
            LLVMSetOperand(made, (unsigned)o, copy_of(l, LLVMGetOperand(of, (unsigned)o)));
        }
        for (unsigned i = 0; LLVMIsATerminatorInst(of) && i < LLVMGetNumSuccessors(of); i++) {
            LLVMSetSuccessor(made, i, copy_of_block(l, LLVMGetSuccessor(of, i)));
        }
        if (LLVMIsATerminatorInst(of) && LLVMGetNumSuccessors(of) > 1) {
            LLVMSetOperand(made, 0, copy_of(l, LLVMGetOperand(of, 0)));
        }
    }
}

/** The condition with which a branch leads to its successor `to`. The builder is before the branch. */
static LLVMValueRef condition_of(struct loop *l, LLVMValueRef end, LLVMBasicBlockRef to)
{
    static const unsigned char inverse[] = {
        [LLVMIntEQ] = LLVMIntNE, [LLVMIntNE] = LLVMIntEQ, [LLVMIntUGT] = LLVMIntULE, [LLVMIntULE] = LLVMIntUGT,
        [LLVMIntUGE] = LLVMIntULT, [LLVMIntULT] = LLVMIntUGE, [LLVMIntSGT] = LLVMIntSLE, [LLVMIntSLE] = LLVMIntSGT,
        [LLVMIntSGE] = LLVMIntSLT, [LLVMIntSLT] = LLVMIntSGE};
    LLVMValueRef c = LLVMGetCondition(end);
    if (LLVMGetSuccessor(end, 0) == to) {
        return c;
    }
    return LLVMIsAICmpInst(c) ? LLVMBuildICmp(l->b, (LLVMIntPredicate)inverse[LLVMGetICmpPredicate(c)],
                                              LLVMGetOperand(c, 0), LLVMGetOperand(c, 1), "")
                              : LLVMBuildNot(l->b, c, "");
}

/** Builds the call that merge_make replaces by "for all work-items" or "for any of them". */
static LLVMValueRef vote(struct loop *l, const char *name, LLVMValueRef condition)
{
    LLVMTypeRef bit = LLVMTypeOf(condition), type = LLVMFunctionType(bit, &bit, 1, 0);
    LLVMValueRef f = LLVMGetNamedFunction(l->t->cc->module, name);
    f = f ? f : LLVMAddFunction(l->t->cc->module, name, type);
    return LLVMBuildCall2(l->b, type, f, &condition, 1, "");
}

/** Builds the uniform branch at the end of a block: to `fast` if all work-items have the condition, else to a new block
 *  that leads to the serial copies if any of them has it. Returns the new block. */
static LLVMBasicBlockRef branch(struct loop *l, LLVMBasicBlockRef block, LLVMValueRef condition)
{
    LLVMBasicBlockRef rest = add_block(l);
    LLVMPositionBuilderAtEnd(l->b, block);
    LLVMBuildCondBr(l->b, vote(l, TILE_ALL_OF, condition), copy_of_block(l, l->head), rest);
    LLVMPositionBuilderAtEnd(l->b, rest);
    LLVMBuildCondBr(l->b, vote(l, TILE_ANY_OF, condition), l->serial, l->exit);
    return rest;
}

/** A value in `serial`, which has come from the guard, or from `fast`. */
static LLVMValueRef merge(struct loop *l, LLVMValueRef of_guard, LLVMValueRef of_fast)
{
    if (!l->guard || of_guard == of_fast) {
        return of_fast;
    }
    LLVMValueRef made = LLVMBuildPhi(l->b, LLVMTypeOf(of_fast), "");
    LLVMAddIncoming(made, (LLVMValueRef[]){of_guard, of_fast},
                    (LLVMBasicBlockRef[]){l->rest_of_guard, l->rest_of_fast}, 2);
    return made;
}

/** Replaces a phi, also where the loop's description has it. */
static void replace(struct loop *l, LLVMValueRef phi, LLVMValueRef by)
{
    for (unsigned k = 0; k < l->n; k++) {
        l->of[k] = l->of[k] == phi ? by : l->of[k];
    }
    l->enter = l->enter == phi ? by : l->enter;
    l->stay = l->stay == phi ? by : l->stay;
    LLVMReplaceAllUsesWith(phi, by);
    LLVMInstructionEraseFromParent(phi);
}

/** Makes the phis of the loop's head continue with the values of `serial`. */
static void change_head(struct loop *l)
{
    for (LLVMValueRef phi = LLVMGetFirstInstruction(l->head), next; LLVMIsAPHINode(phi); phi = next) {
        next = LLVMGetNextInstruction(phi);
        LLVMValueRef again = coarse_incoming(phi, l->latch);
        LLVMPositionBuilderAtEnd(l->b, l->serial);
        LLVMValueRef first = merge(l, coarse_incoming(phi, l->before), copy_of(l, again));
        LLVMPositionBuilderBefore(l->b, phi);
        LLVMValueRef made = LLVMBuildPhi(l->b, LLVMTypeOf(phi), "");
        LLVMAddIncoming(made, (LLVMValueRef[]){first, again}, (LLVMBasicBlockRef[]){l->serial, l->latch}, 2);
        replace(l, phi, made);
    }
}

/** Adds to a phi of `exit`, which has the value of the latch, those of the other ways to it. of_guard: the value if the
 *  loop is not entered. */
static void add_ways(struct loop *l, LLVMValueRef phi, LLVMValueRef of_guard)
{
    LLVMValueRef of_fast = copy_of(l, coarse_incoming(phi, l->latch));
    LLVMPositionBuilderAtEnd(l->b, l->serial);
    LLVMValueRef here = merge(l, of_guard, of_fast);
    LLVMAddIncoming(phi, (LLVMValueRef[]){of_fast, here}, (LLVMBasicBlockRef[]){l->rest_of_fast, l->serial}, 2);
    if (l->guard) {
        LLVMAddIncoming(phi, &of_guard, &l->rest_of_guard, 1);
    }
}

/** Replaces a phi of `join` by one to which the guard does not lead. */
static void change_join(struct loop *l, LLVMValueRef phi)
{
    LLVMValueRef value = coarse_incoming(phi, l->exit), of_guard = coarse_incoming(phi, l->guard);
    const int is_phi = LLVMIsAPHINode(value) && LLVMGetInstructionParent(value) == l->exit;
    LLVMPositionBuilderBefore(l->b, LLVMGetFirstInstruction(l->exit));
    LLVMValueRef ways = LLVMBuildPhi(l->b, LLVMTypeOf(phi), "");
    LLVMValueRef of_latch = is_phi ? coarse_incoming(value, l->latch) : value;
    LLVMAddIncoming(ways, &of_latch, &l->latch, 1);
    add_ways(l, ways, of_guard);
    LLVMPositionBuilderBefore(l->b, phi);
    LLVMValueRef made = LLVMBuildPhi(l->b, LLVMTypeOf(phi), "");
    for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
        LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, i);
        LLVMValueRef one = from == l->exit ? ways : LLVMGetIncomingValue(phi, i);
        if (from != l->guard) {
            LLVMAddIncoming(made, &one, &from, 1);
        }
    }
    replace(l, phi, made);
}

/** Makes the phis behind the loop know the new ways. */
static void change_exit(struct loop *l)
{
    LLVMValueRef phi = LLVMGetFirstInstruction(l->exit), next;
    if (!l->guard) {
        for (; LLVMIsAPHINode(phi); phi = LLVMGetNextInstruction(phi)) {
            add_ways(l, phi, NULL);
        }
        return;
    }
    LLVMValueRef old = phi;
    for (phi = LLVMGetFirstInstruction(l->join); LLVMIsAPHINode(phi); phi = next) {
        next = LLVMGetNextInstruction(phi);
        change_join(l, phi);
    }
    for (; LLVMIsAPHINode(old); old = next) { /* only phis of `join` have used these */
        next = LLVMGetNextInstruction(old);
        LLVMInstructionEraseFromParent(old);
    }
}

/** Whether the work-item enters the loop or has another round, in `serial`. A comparison is made there, because it is
 *  rarely needed. */
static LLVMValueRef make_condition(struct loop *l)
{
    LLVMValueRef stay = copy_of(l, l->stay), enter = l->guard ? l->enter : stay;
    if (!LLVMIsAICmpInst(stay) || !LLVMIsAICmpInst(enter) ||
        LLVMGetICmpPredicate(stay) != LLVMGetICmpPredicate(enter) ||
        LLVMTypeOf(LLVMGetOperand(stay, 0)) != LLVMTypeOf(LLVMGetOperand(enter, 0))) {
        return merge(l, enter, stay);
    }
    LLVMValueRef a = merge(l, LLVMGetOperand(enter, 0), LLVMGetOperand(stay, 0));
    LLVMValueRef b = merge(l, LLVMGetOperand(enter, 1), LLVMGetOperand(stay, 1));
    return LLVMBuildICmp(l->b, LLVMGetICmpPredicate(stay), a, b, "");
}

static void split(struct loop *l)
{
    l->b = LLVMCreateBuilderInContext(l->t->cc->context);
    if (l->guard) {
        coarse_move_before(l->b, l->before, end_of(l->guard));
        l->enter = condition_of(l, end_of(l->guard), l->before);
    }
    LLVMPositionBuilderBefore(l->b, end_of(l->latch));
    l->stay = condition_of(l, end_of(l->latch), l->head);
    copy_blocks(l);
    l->serial = add_block(l);
    LLVMBasicBlockRef enters = l->guard ? l->guard : l->before, latch = copy_of_block(l, l->latch);
    connect_blocks(l);
    LLVMInstructionEraseFromParent(end_of(enters));
    LLVMInstructionEraseFromParent(end_of(latch));
    l->rest_of_fast = branch(l, latch, copy_of(l, l->stay));
    if (l->guard) {
        l->rest_of_guard = branch(l, l->guard, l->enter);
    } else {
        LLVMPositionBuilderAtEnd(l->b, l->before);
        LLVMBuildBr(l->b, copy_of_block(l, l->head));
    }
    change_head(l);
    change_exit(l);
    LLVMPositionBuilderAtEnd(l->b, l->serial);
    LLVMBuildCondBr(l->b, make_condition(l), l->head, l->exit);
    if (l->guard) {
        LLVMDeleteBasicBlock(l->before);
    }
    LLVMDisposeBuilder(l->b);
    cc1_set_add(&l->t->serial, LLVMBasicBlockAsValue(l->serial));
}

int lockstep_split(struct tile *t)
{
    int found = 0;
    for (unsigned n = 0; n < t->n_blocks && !found && t->serial.n < MOST_LOOPS; n++) {
        struct loop l = {.t = t, .latch = t->blocks[n]};
        if (read_loop(&l) && !has(&t->serial, l.before)) {
            split(&l);
            found = 1;
        }
        free(l.blocks.at);
        free(l.of);
        free(l.copy);
    }
    return found;
}

/** The smallest, or largest, copy of a value that grows by a constant from one copy to the next and does not wrap. */
static LLVMValueRef extreme(struct tile *t, const struct tile_value *v, int largest)
{
    return tile_get(t, v->of, ((int32_t)v->by > 0) == largest ? t->x - 1 : 0);
}

/** The operand of a comparison that differs between the copies, if it grows by a constant from one to the next; the
 *  other one is the same for all. NULL: it is not so. */
static const struct tile_value *growing(const struct tile *t, LLVMValueRef v, LLVMValueRef other)
{
    const struct tile_value *x = tile_find(t, v), *limit = tile_find(t, other);
    if (!x || x->growth != TILE_GROWS || x->times || LLVMGetTypeKind(LLVMTypeOf(v)) != LLVMIntegerTypeKind ||
        x->depends & TILE_Y || (limit && limit->depends & TILE_BOTH)) {
        return NULL;
    }
    const int64_t by = (int64_t)(int32_t)x->by * t->stride * (t->x - 1);
    return by != 0 && by > INT32_MIN && by < INT32_MAX ? x : NULL;
}

/** Builds whether a comparison is true for all copies, or for any, by one comparison: x < limit is true for all if it
 *  is for the largest x, and for any if it is for the smallest. If x wraps between two copies, the smallest is above
 *  the largest; then the result is 0 for all, and 1 for any, after which each copy compares for itself. NULL: the
 *  condition is no such comparison. */
static LLVMValueRef vote_by_one(struct tile *t, LLVMValueRef c, int all)
{
    const LLVMIntPredicate is = LLVMIsAICmpInst(c) ? LLVMGetICmpPredicate(c) : LLVMIntEQ;
    const int is_signed = is >= LLVMIntSGT;
    const int less = is == LLVMIntULT || is == LLVMIntULE || is == LLVMIntSLT || is == LLVMIntSLE;
    for (unsigned o = 0; o < 2 && is != LLVMIntEQ && is != LLVMIntNE; o++) {
        LLVMValueRef other = LLVMGetOperand(c, 1 - o), of[2];
        const struct tile_value *x = growing(t, LLVMGetOperand(c, o), other);
        if (!x) {
            continue;
        }
        LLVMValueRef smallest = extreme(t, x, 0), largest = extreme(t, x, 1);
        of[o] = (less == (o == 0)) == all ? largest : smallest;
        of[1 - o] = tile_get(t, other, 0);
        LLVMValueRef one = LLVMBuildICmp(t->b, is, of[0], of[1], "");
        LLVMIntPredicate ordered = all ? is_signed ? LLVMIntSLE : LLVMIntULE : is_signed ? LLVMIntSGT : LLVMIntUGT;
        LLVMValueRef order = LLVMBuildICmp(t->b, ordered, smallest, largest, "");
        return all ? LLVMBuildAnd(t->b, one, order, "") : LLVMBuildOr(t->b, one, order, "");
    }
    return NULL;
}

void lockstep_vote(struct tile *t, struct tile_value *v)
{
    const int all = v->kind == TILE_ALL;
    LLVMValueRef c = LLVMGetOperand(v->of, 0), by_one = vote_by_one(t, c, all);
    LLVMValueRef made = by_one ? by_one : tile_get(t, c, 0);
    for (unsigned k = 1; k < t->x * t->y && !by_one; k++) {
        LLVMValueRef one = tile_get(t, c, k);
        made = all ? LLVMBuildAnd(t->b, made, one, "") : LLVMBuildOr(t->b, made, one, "");
    }
    for (unsigned k = 0; k < t->x * t->y; k++) {
        v->copy[k] = made;
    }
}
