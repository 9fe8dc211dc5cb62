/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Unrolls loops whose index grows by the global size: for (i = get_global_id(0); i < n; i += get_global_size(0)). LLVM
 * does not, because it cannot compute the number of rounds: the index might wrap. Several rounds run at once if the
 * index of the last of them is below the limit, so that their loads are in flight together:
 *
 *   before: if (step < 2^28 && (ROUNDS - 1) * step <= n && i < n - (ROUNDS - 1) * step) goto fast; else goto loop;
 *   fast:   ROUNDS rounds; if (i < n - (ROUNDS - 1) * step) goto fast;
 *   behind: if (i < n) goto loop; else goto exit;
 *
 * The index has the same values as in the loop, also if it wraps between two passes. A loop over a whole range is
 * expected to have many rounds. A loop whose index grows by the local size often has one round, for which the checks
 * would cost more than they save (softmax-64).
 */
#include "cc1.h"

#include "coarse.h"
#include "tern/tern_spec.h"

#include <stdlib.h>

#define ROUNDS 8u        /* rounds at once */
#define MOST 12u         /* instructions of a loop; of longer ones the loads are a small part */
#define LARGEST (1u << 28) /* bound of steps, below which ROUNDS of them do not wrap */

struct loop {
    struct cc1 *cc;
    LLVMBuilderRef b;
    LLVMBasicBlockRef before, body, exit;
    LLVMValueRef index, next, step, limit; /* index: a phi; next = index + step */
    LLVMIntPredicate below;
    unsigned n;
    LLVMValueRef of[MOST + 1]; /* Instructions of the body but the last, phis first. */
    int waits[MOST + 1];       /* The instruction waits for a load. */
    LLVMValueRef made[MOST + 1][ROUNDS];
    LLVMValueRef phi[MOST + 1]; /* The phi of `fast` for a phi of the body. */
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
        if (l->n == MOST || coarse_is_ordered(i) || LLVMIsAStoreInst(i) || coarse_is_opaque_call(i)) {
            return 0;
        }
        loads |= LLVMIsALoadInst(i) != NULL;
        l->of[l->n++] = i;
    }
    return loads;
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
    if ((l->below != LLVMIntULT && l->below != LLVMIntSLT) || is_outside(l, l->next) || !is_outside(l, l->limit) ||
        LLVMGetInstructionOpcode(l->next) != LLVMAdd || LLVMGetIntTypeWidth(LLVMTypeOf(l->next)) != 32) {
        return 0;
    }
    const unsigned swapped = is_global_size(LLVMGetOperand(l->next, 0));
    l->step = LLVMGetOperand(l->next, !swapped);
    l->index = LLVMGetOperand(l->next, swapped);
    return is_global_size(l->step) && is_outside(l, l->step) && LLVMIsAPHINode(l->index) && !is_outside(l, l->index) &&
        read_body(l);
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

/** Connects `behind`, where the fast rounds end, to the loop and to the exit. The loop's phis are made anew, because
 *  their entries from before are now from `check` and `inside`. */
static void connect(struct loop *l, LLVMBasicBlockRef check, LLVMBasicBlockRef inside, LLVMBasicBlockRef behind)
{
    LLVMValueRef phis[MOST + 1], begin[MOST + 1], last[MOST + 1];
    for (LLVMValueRef phi = LLVMGetFirstInstruction(l->exit); LLVMIsAPHINode(phi); phi = LLVMGetNextInstruction(phi)) {
        for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
            if (LLVMGetIncomingBlock(phi, i) == l->body) {
                LLVMValueRef value = get(l, LLVMGetIncomingValue(phi, i), ROUNDS - 1);
                LLVMAddIncoming(phi, &value, &behind, 1);
                break;
            }
        }
    }
    for (unsigned i = 0; i < l->n && LLVMIsAPHINode(l->of[i]); i++) {
        begin[i] = first_of(l, l->of[i]);
        last[i] = get(l, next_of(l, l->of[i]), ROUNDS - 1);
        LLVMPositionBuilderBefore(l->b, l->of[i]);
        phis[i] = LLVMBuildPhi(l->b, LLVMTypeOf(l->of[i]), "");
    }
    for (unsigned i = 0; i < l->n && LLVMIsAPHINode(l->of[i]); i++) {
        LLVMReplaceAllUsesWith(l->of[i], phis[i]);
    }
    for (unsigned i = 0; i < l->n && LLVMIsAPHINode(l->of[i]); i++) {
        LLVMAddIncoming(phis[i], (LLVMValueRef[]){begin[i], begin[i], last[i], next_of(l, l->of[i])},
                        (LLVMBasicBlockRef[]){check, inside, behind, l->body}, 4);
    }
    for (unsigned i = 0; i < l->n && LLVMIsAPHINode(l->of[i]); i++) {
        LLVMInstructionEraseFromParent(l->of[i]);
    }
}

static LLVMBasicBlockRef add_block(const struct loop *l)
{
    return LLVMInsertBasicBlockInContext(l->cc->context, l->body, "");
}

/** Makes the phis of the fast rounds, with their values from `check`. */
static void make_phis(struct loop *l, LLVMBasicBlockRef check)
{
    for (unsigned i = 0; i < l->n && LLVMIsAPHINode(l->of[i]); i++) {
        LLVMValueRef begin = first_of(l, l->of[i]);
        l->phi[i] = LLVMBuildPhi(l->b, LLVMTypeOf(l->of[i]), "");
        LLVMAddIncoming(l->phi[i], &begin, &check, 1);
    }
}

static void unroll(struct loop *l)
{
    LLVMBasicBlockRef check = add_block(l), inside = add_block(l), fast = add_block(l), behind = add_block(l);
    LLVMValueRef begin = first_of(l, l->index), end = LLVMGetBasicBlockTerminator(l->before);
    close_values(l);
    for (unsigned i = 0; i < LLVMGetNumSuccessors(end); i++) {
        if (LLVMGetSuccessor(end, i) == l->body) {
            LLVMSetSuccessor(end, i, check);
        }
    }
    LLVMPositionBuilderAtEnd(l->b, check);
    LLVMValueRef reach = LLVMBuildMul(l->b, l->step, cc1_u32(l->cc, ROUNDS - 1), "");
    LLVMValueRef small = LLVMBuildICmp(l->b, LLVMIntULT, l->step, cc1_u32(l->cc, LARGEST), "");
    LLVMValueRef fits = LLVMBuildICmp(l->b, l->below == LLVMIntULT ? LLVMIntULE : LLVMIntSLE, reach, l->limit, "");
    LLVMValueRef limit = LLVMBuildSub(l->b, l->limit, reach, "");
    LLVMBuildCondBr(l->b, LLVMBuildAnd(l->b, small, fits, ""), inside, l->body);
    LLVMPositionBuilderAtEnd(l->b, inside);
    LLVMBuildCondBr(l->b, LLVMBuildICmp(l->b, l->below, begin, limit, ""), fast, l->body);
    LLVMPositionBuilderAtEnd(l->b, fast);
    make_phis(l, inside);
    make_rounds(l);
    LLVMValueRef next = get(l, l->next, ROUNDS - 1);
    LLVMBuildCondBr(l->b, LLVMBuildICmp(l->b, l->below, next, limit, ""), fast, behind);
    for (unsigned i = 0; i < l->n && LLVMIsAPHINode(l->of[i]); i++) {
        LLVMValueRef last = get(l, next_of(l, l->of[i]), ROUNDS - 1);
        LLVMAddIncoming(l->phi[i], &last, &fast, 1);
    }
    LLVMPositionBuilderAtEnd(l->b, behind);
    LLVMBuildCondBr(l->b, LLVMBuildICmp(l->b, l->below, next, l->limit, ""), l->body, l->exit);
    connect(l, check, inside, behind);
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
