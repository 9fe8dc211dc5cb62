/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Unrolls loops whose index grows by the global size: for (i = get_global_id(0); i < n; i += get_global_size(0)). LLVM
 * does not, because it cannot compute the number of rounds: the index might wrap. Several rounds run at once if the
 * index of the last of them is below the limit, so that their loads are in flight together:
 *
 *   top:    if (step < 2^28 && (ROUNDS - 1) * step <= n && i < n - (ROUNDS - 1) * step) goto fast; else goto again;
 *   fast:   ROUNDS rounds; if (i < n - (ROUNDS - 1) * step) goto fast;
 *   again:  if (i < n) goto loop; else goto exit;
 *
 * The index has the same values as in the loop, also if it wraps between two passes. An index of size_t does not wrap
 * (counters.c); its fast rounds need n <= 2^32 - step as well. `again` takes the place of the
 * guard before the loop, if there is one. A loop that is entered without one is entered from `top` as well.
 *
 * A loop over a whole range is expected to have many rounds. A loop whose index grows by the local size often has one
 * round, for which the checks would cost more than they save (softmax-64).
 */
#include "cc1.h"

#include "coarse.h"
#include "tern/tern_spec.h"

#include <stdlib.h>

#define ROUNDS 8u        /* rounds at once */
#define LOOP_LENGTH_MAX 12u /* instructions of a loop; of longer ones the loads are a small part */
#define LARGEST (1u << 28) /* bound of steps, below which ROUNDS of them do not wrap */

struct loop {
    struct cc1 *cc;
    LLVMBuilderRef b;
    LLVMBasicBlockRef before, body, exit;
    LLVMBasicBlockRef guard; /* the block whose branch skips the loop unless index < limit; NULL: there is none */
    LLVMBasicBlockRef miss;  /* where the guard leads if it skips the loop, else `exit` */
    LLVMBasicBlockRef top, inside, fast, again;
    LLVMValueRef index, next, step, limit; /* index: a phi; next = index + step */
    LLVMIntPredicate below;
    int saturated; /* the loop goes on if index < limit - step, and not if limit < step (counters.c); next may wrap */
    unsigned n;
    LLVMValueRef of[LOOP_LENGTH_MAX + 1]; /* Instructions of the body but the last, phis first. */
    int waits[LOOP_LENGTH_MAX + 1];       /* The instruction waits for a load. */
    LLVMValueRef made[LOOP_LENGTH_MAX + 1][ROUNDS];
    LLVMValueRef phi[LOOP_LENGTH_MAX + 1]; /* The phi of `fast` for a phi of the body. */
};

static int is_outside(const struct loop *l, LLVMValueRef v)
{
    return !LLVMIsAInstruction(v) || LLVMGetInstructionParent(v) != l->body;
}

/** Number of an instruction of the body; n: it is none. */
static unsigned number(const struct loop *l, LLVMValueRef v)
{
    unsigned k = 0;
    while (k < l->n && l->of[k] != v) {
        k++;
    }
    return k;
}

static unsigned is_global_size(LLVMValueRef v)
{
    const unsigned csr = LLVMIsACallInst(v) ? cc1_csr(v) : 0;
    return csr == TERN_CSR_GLOBAL_SIZE_X || csr == TERN_CSR_GLOBAL_SIZE_Y || csr == TERN_CSR_GLOBAL_SIZE_Z;
}

/** Reads the instructions of the body. 0: it is too long, has no load, or has stores or calls other than of arithmetic,
 *  over which loads do not move. */
static int read_body(struct loop *l)
{
    int loads = 0;
    LLVMValueRef i = LLVMGetFirstInstruction(l->body);
    for (; !LLVMIsATerminatorInst(i); i = LLVMGetNextInstruction(i)) {
        if (l->n == LOOP_LENGTH_MAX || coarse_is_ordered(i) || LLVMIsAStoreInst(i) || coarse_is_opaque_call(i)) {
            return 0;
        }
        loads |= LLVMIsALoadInst(i) != NULL;
        l->of[l->n++] = i;
    }
    return loads;
}

/** The value that a phi of the body has in the first round. */
static LLVMValueRef first_of(const struct loop *l, LLVMValueRef phi)
{
    return LLVMGetIncomingValue(phi, LLVMGetIncomingBlock(phi, 0) == l->body);
}

/** The value that a phi of the body has in the next round. */
static LLVMValueRef next_of(const struct loop *l, LLVMValueRef phi)
{
    return LLVMGetIncomingValue(phi, LLVMGetIncomingBlock(phi, 1) == l->body);
}

/** True: a call of llvm.usub.sat. */
static int is_difference(LLVMValueRef v)
{
    static const char name[] = "llvm.usub.sat";
    return LLVMIsAIntrinsicInst(v) &&
        LLVMGetIntrinsicID(LLVMGetCalledValue(v)) == LLVMLookupIntrinsicID(name, sizeof name - 1);
}

/** Reads the loop that is this block. 0: it is none of those. */
static int read_loop(struct loop *l, LLVMBasicBlockRef body)
{
    LLVMValueRef end = LLVMGetBasicBlockTerminator(body);
    LLVMValueRef first = LLVMGetFirstInstruction(body);
    if (!LLVMIsABranchInst(end) || !LLVMIsConditional(end) || LLVMGetSuccessor(end, 0) != body ||
        LLVMGetSuccessor(end, 1) == body || !LLVMIsAPHINode(first) || LLVMCountIncoming(first) != 2) {
        return 0;
    }
    LLVMValueRef test = LLVMGetCondition(end);
    const unsigned back = LLVMGetIncomingBlock(first, 1) == body;
    l->body = body;
    l->exit = LLVMGetSuccessor(end, 1);
    l->before = LLVMGetIncomingBlock(first, !back);
    if (!LLVMIsAICmpInst(test) || is_outside(l, test) || l->before == body) {
        return 0;
    }
    l->below = LLVMGetICmpPredicate(test);
    l->next = LLVMGetOperand(test, 0);
    l->limit = LLVMGetOperand(test, 1);
    l->saturated = l->below == LLVMIntULT && LLVMIsAPHINode(l->next) && is_difference(l->limit);
    if (l->saturated) {
        l->next = is_outside(l, l->next) ? l->next : next_of(l, l->next);
        l->limit = LLVMGetOperand(l->limit, 0);
    }
    if ((l->below != LLVMIntULT && l->below != LLVMIntSLT) || is_outside(l, l->next) || !is_outside(l, l->limit) ||
        LLVMGetInstructionOpcode(l->next) != LLVMAdd || LLVMGetIntTypeWidth(LLVMTypeOf(l->next)) != 32) {
        return 0;
    }
    const unsigned swapped = is_global_size(LLVMGetOperand(l->next, 0));
    l->step = LLVMGetOperand(l->next, !swapped);
    l->index = LLVMGetOperand(l->next, swapped);
    if (l->saturated &&
        (LLVMGetOperand(test, 0) != l->index || LLVMGetOperand(LLVMGetOperand(test, 1), 1) != l->step)) {
        return 0;
    }
    return is_global_size(l->step) && is_outside(l, l->step) && LLVMIsAPHINode(l->index) && !is_outside(l, l->index) &&
        read_body(l);
}

/** The value of v in round k. NULL: it is not made yet. */
static LLVMValueRef get(const struct loop *l, LLVMValueRef v, unsigned k)
{
    const unsigned i = number(l, v);
    if (i == l->n) {
        return v;
    }
    if (!LLVMIsAPHINode(v)) {
        return l->made[i][k];
    }
    return k == 0 ? l->phi[i] : get(l, next_of(l, v), k - 1);
}

/** Makes an instruction of round k if its operands exist. Returns whether it did. */
static int make(struct loop *l, unsigned i, unsigned k)
{
    LLVMValueRef of = l->of[i];
    if (l->made[i][k] || LLVMIsAPHINode(of)) {
        return 0;
    }
    for (int o = 0; o < LLVMGetNumOperands(of); o++) {
        if (!get(l, LLVMGetOperand(of, (unsigned)o), k)) {
            return 0;
        }
    }
    l->made[i][k] = LLVMInstructionClone(of);
    for (int o = 0; o < LLVMGetNumOperands(of); o++) {
        LLVMSetOperand(l->made[i][k], (unsigned)o, get(l, LLVMGetOperand(of, (unsigned)o), k));
    }
    LLVMInsertIntoBuilder(l->b, l->made[i][k]);
    return 1;
}

/** Finds the instructions that wait for a load of the same round or of an earlier one. */
static void find_waiting(struct loop *l)
{
    for (int changed = 1; changed;) {
        changed = 0;
        for (unsigned i = 0; i < l->n; i++) {
            for (int o = 0; o < LLVMGetNumOperands(l->of[i]) && !l->waits[i]; o++) {
                const unsigned from = number(l, LLVMGetOperand(l->of[i], (unsigned)o));
                l->waits[i] = from < l->n && (l->waits[from] || LLVMIsALoadInst(l->of[from]));
                changed |= l->waits[i];
            }
        }
    }
}

/** Makes the rounds: first the loads of all of them, and what these need, then what waits for loads. */
static void make_rounds(struct loop *l)
{
    find_waiting(l);
    for (int waits = 0, more = 1; waits < 2; waits += !more) {
        more = 0;
        for (unsigned i = 0; i < l->n; i++) {
            for (unsigned k = 0; k < ROUNDS; k++) {
                more |= l->waits[i] == waits && make(l, i, k);
            }
        }
    }
}

/** Gives the values that are used behind the loop phis in the exit, if it has only this predecessor. */
static void close_values(struct loop *l)
{
    for (unsigned i = 0; i < l->n; i++) {
        LLVMValueRef phi = NULL;
        for (LLVMUseRef u = LLVMGetFirstUse(l->of[i]), next; u; u = next) {
            LLVMValueRef user = LLVMGetUser(u);
            next = LLVMGetNextUse(u);
            if (!is_outside(l, user) || user == phi ||
                (LLVMIsAPHINode(user) && LLVMGetInstructionParent(user) == l->exit)) {
                continue;
            }
            if (!phi) {
                LLVMPositionBuilderBefore(l->b, LLVMGetFirstInstruction(l->exit));
                phi = LLVMBuildPhi(l->b, LLVMTypeOf(l->of[i]), "");
                LLVMAddIncoming(phi, &l->of[i], &l->body, 1);
            }
            for (int o = 0; o < LLVMGetNumOperands(user); o++) {
                if (LLVMGetOperand(user, (unsigned)o) == l->of[i]) {
                    LLVMSetOperand(user, (unsigned)o, phi);
                }
            }
            next = LLVMGetFirstUse(l->of[i]); /* the list has changed */
        }
    }
}

static LLVMBasicBlockRef add_block(const struct loop *l)
{
    return LLVMInsertBasicBlockInContext(l->cc->context, l->body, "");
}

static LLVMValueRef end_of(LLVMBasicBlockRef block)
{
    return LLVMGetBasicBlockTerminator(block);
}

/** Finds the guard. Between it and the loop there may be a block, whose instructions may run in any case. */
static void find_guard(struct loop *l)
{
    LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(l->before));
    LLVMBasicBlockRef to = l->body, guard = l->before;
    if (LLVMGetNumSuccessors(end_of(guard)) == 1 && use && !LLVMGetNextUse(use) && coarse_is_speculative(guard)) {
        to = guard;
        guard = LLVMGetInstructionParent(LLVMGetUser(use));
    }
    LLVMValueRef end = end_of(guard), test;
    if (!LLVMIsABranchInst(end) || !LLVMIsConditional(end) || LLVMGetSuccessor(end, 0) != to) {
        return;
    }
    test = LLVMGetCondition(end);
    l->miss = LLVMGetSuccessor(end, 1);
    const int joins = l->miss == l->exit ||
        (coarse_joins_only(l->exit) && LLVMGetSuccessor(end_of(l->exit), 0) == l->miss);
    if (joins && l->miss != to && LLVMIsAICmpInst(test) && LLVMGetICmpPredicate(test) == l->below &&
        LLVMGetOperand(test, 0) == first_of(l, l->index) && LLVMGetOperand(test, 1) == l->limit) {
        l->guard = guard;
    }
}

/** Makes a phi in `again`. of_top: the value if the fast rounds have not run. */
static LLVMValueRef merge(struct loop *l, LLVMValueRef of_top, LLVMValueRef of_fast)
{
    LLVMPositionBuilderAtEnd(l->b, l->again);
    LLVMValueRef phi = LLVMBuildPhi(l->b, LLVMTypeOf(of_fast), "");
    LLVMAddIncoming(phi, (LLVMValueRef[]){of_top, of_top, of_fast},
                    (LLVMBasicBlockRef[]){l->top, l->inside, l->fast}, 3);
    return phi;
}

/** Makes the phis where the loop is skipped know that `again` leads there, in the place of the guard. */
static void connect_miss(struct loop *l)
{
    for (LLVMValueRef phi = LLVMGetFirstInstruction(l->miss), next; LLVMIsAPHINode(phi); phi = next) {
        LLVMValueRef last = coarse_incoming(phi, l->miss == l->exit ? l->body : l->exit);
        next = LLVMGetNextInstruction(phi);
        if (LLVMIsAPHINode(last) && LLVMGetInstructionParent(last) == l->exit) {
            last = coarse_incoming(last, l->body);
        }
        LLVMValueRef first = l->guard ? coarse_incoming(phi, l->guard) : LLVMGetUndef(LLVMTypeOf(phi));
        LLVMValueRef value = merge(l, first, get(l, last, ROUNDS - 1));
        LLVMPositionBuilderBefore(l->b, phi);
        LLVMValueRef made = LLVMBuildPhi(l->b, LLVMTypeOf(phi), "");
        LLVMAddIncoming(made, &value, &l->again, 1);
        for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
            LLVMValueRef other = LLVMGetIncomingValue(phi, i);
            LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, i);
            if (from != l->guard) {
                LLVMAddIncoming(made, &other, &from, 1);
            }
        }
        l->limit = l->limit == phi ? made : l->limit; /* where the loop is in another one */
        LLVMReplaceAllUsesWith(phi, made);
        LLVMInstructionEraseFromParent(phi);
    }
}

/** Makes the loop continue behind the fast rounds: its phis anew, because their entries from before are now from
 *  `again`. Returns the value of the index in `again`. */
static LLVMValueRef connect_loop(struct loop *l)
{
    LLVMValueRef phis[LOOP_LENGTH_MAX + 1], begin[LOOP_LENGTH_MAX + 1], at_again = NULL;
    LLVMBasicBlockRef from = l->guard && l->guard != l->before ? l->before : l->again;
    for (unsigned i = 0; i < l->n && LLVMIsAPHINode(l->of[i]); i++) {
        begin[i] = merge(l, first_of(l, l->of[i]), get(l, next_of(l, l->of[i]), ROUNDS - 1));
        at_again = l->of[i] == l->index ? begin[i] : at_again;
        LLVMPositionBuilderBefore(l->b, l->of[i]);
        phis[i] = LLVMBuildPhi(l->b, LLVMTypeOf(l->of[i]), "");
    }
    for (unsigned i = 0; i < l->n && LLVMIsAPHINode(l->of[i]); i++) {
        LLVMReplaceAllUsesWith(l->of[i], phis[i]);
    }
    for (unsigned i = 0; i < l->n && LLVMIsAPHINode(l->of[i]); i++) {
        LLVMAddIncoming(phis[i], (LLVMValueRef[]){begin[i], next_of(l, l->of[i])},
                        (LLVMBasicBlockRef[]){from, l->body}, 2);
    }
    for (unsigned i = 0; i < l->n && LLVMIsAPHINode(l->of[i]); i++) {
        LLVMInstructionEraseFromParent(l->of[i]);
    }
    return at_again;
}

/** Makes the phis of the fast rounds, with their values from `inside`. */
static void make_phis(struct loop *l)
{
    for (unsigned i = 0; i < l->n && LLVMIsAPHINode(l->of[i]); i++) {
        LLVMValueRef begin = first_of(l, l->of[i]);
        l->phi[i] = LLVMBuildPhi(l->b, LLVMTypeOf(l->of[i]), "");
        LLVMAddIncoming(l->phi[i], &begin, &l->inside, 1);
    }
}

/** Makes `top`: the end of the guard's block, or a new block before the loop. The builder is then at its end. */
static void make_top(struct loop *l)
{
    LLVMValueRef end = end_of(l->guard ? l->guard : l->before);
    if (l->guard) {
        l->top = l->guard;
        coarse_move_before(l->b, l->guard == l->before ? NULL : l->before, end);
        LLVMInstructionEraseFromParent(end);
    } else {
        l->top = add_block(l);
        l->miss = l->exit;
        for (unsigned i = 0; i < LLVMGetNumSuccessors(end); i++) {
            if (LLVMGetSuccessor(end, i) == l->body) {
                LLVMSetSuccessor(end, i, l->top);
            }
        }
    }
    LLVMPositionBuilderAtEnd(l->b, l->top);
}

static void unroll(struct loop *l)
{
    LLVMValueRef begin = first_of(l, l->index);
    close_values(l);
    find_guard(l);
    make_top(l);
    l->inside = add_block(l);
    l->fast = add_block(l);
    l->again = add_block(l);
    LLVMValueRef reach = LLVMBuildMul(l->b, l->step, cc1_u32(l->cc, ROUNDS - 1), "");
    LLVMValueRef all = LLVMBuildMul(l->b, l->step, cc1_u32(l->cc, ROUNDS), "");
    LLVMValueRef small = LLVMBuildICmp(l->b, LLVMIntULT, l->step, cc1_u32(l->cc, LARGEST), "");
    LLVMValueRef fits = LLVMBuildICmp(l->b, l->below == LLVMIntULT ? LLVMIntULE : LLVMIntSLE, reach, l->limit, "");
    LLVMValueRef limit = LLVMBuildSub(l->b, l->limit, reach, "");
    LLVMValueRef goes = LLVMBuildAnd(l->b, small, fits, "");
    if (l->saturated) { /* behind the fast rounds, the index is at most limit - 1 + step */
        LLVMValueRef most = LLVMBuildNeg(l->b, l->step, "");
        goes = LLVMBuildAnd(l->b, goes, LLVMBuildICmp(l->b, LLVMIntULE, l->limit, most, ""), "");
    }
    LLVMBuildCondBr(l->b, goes, l->inside, l->again);
    LLVMPositionBuilderAtEnd(l->b, l->inside);
    LLVMBuildCondBr(l->b, LLVMBuildICmp(l->b, l->below, begin, limit, ""), l->fast, l->again);
    LLVMPositionBuilderAtEnd(l->b, l->fast);
    make_phis(l);
    make_rounds(l);
    LLVMValueRef next = LLVMBuildAdd(l->b, get(l, l->index, 0), all, ""); /* one sum instead of eight */
    l->made[number(l, l->next)][ROUNDS - 1] = next;
    LLVMValueRef rest = l->guard ? NULL : LLVMBuildICmp(l->b, l->below, next, l->limit, "");
    LLVMBuildCondBr(l->b, LLVMBuildICmp(l->b, l->below, next, limit, ""), l->fast, l->again);
    for (unsigned i = 0; i < l->n && LLVMIsAPHINode(l->of[i]); i++) {
        LLVMValueRef last = get(l, next_of(l, l->of[i]), ROUNDS - 1);
        LLVMAddIncoming(l->phi[i], &last, &l->fast, 1);
    }
    connect_miss(l);
    LLVMValueRef index = connect_loop(l);
    rest = rest ? merge(l, LLVMConstInt(LLVMTypeOf(rest), 1, 0), rest) : NULL;
    LLVMPositionBuilderAtEnd(l->b, l->again);
    rest = rest ? rest : LLVMBuildICmp(l->b, l->below, index, l->limit, "");
    LLVMBuildCondBr(l->b, rest, l->guard && l->guard != l->before ? l->before : l->body, l->miss);
}

static void count(struct cc1 *cc, LLVMValueRef f)
{
    for (size_t i = 0; i < cc->n_kernels; i++) {
        cc->kernels[i].unrolled += cc->kernels[i].entry == f;
    }
}

void cc1_strides(struct cc1 *cc)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(cc->context);
    for (LLVMValueRef f = LLVMGetFirstFunction(cc->module); f; f = LLVMGetNextFunction(f)) {
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block)) {
            struct loop l = {.cc = cc, .b = b};
            if (read_loop(&l, block)) {
                unroll(&l);
                count(cc, f);
            }
        }
    }
    LLVMDisposeBuilder(b);
}
