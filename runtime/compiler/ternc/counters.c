/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Counters of loops in 32 bits. size_t has 64 bits (pointers.c), and LLVM keeps a counter's width: in
 *
 *   for (size_t i = a; i < n; i += s)
 *
 * each round would add and compare in several instructions. Where a, n and s are numbers of 32 bits that are extended,
 * the counter is less than n in every round, so 32 bits hold it. Only its value behind the last round may be larger:
 * the loop then asks whether i is less than n - s, or 0 if n is less than s, before it adds:
 *
 *   do { ... more = i < (n > s ? n - s : 0); i += s; } while (more);
 *
 * For a = 0xfffffff0, n = 0xffffffff and s = 7 the rounds have i = 0xfffffff0, 0xfffffff7 and 0xfffffffe. If s is 1 and
 * a is a constant, i + 1 is at most n, and i + 1 < n stays as it is.
 *
 * An int n that is negative stands for a number near 2^64, so nobody sees such a loop end. Here it is taken for the
 * number of 32 bits: the loop has 2^31 rounds at least, with the same low half of i in each of them.
 *
 * The pass runs before optimization, on a copy of the module that has been brought into the form that the loops above
 * have. Without such a loop the copy is dropped.
 */
#include "cc1.h"

#include <stdlib.h>
#include <string.h>

#define FORM "always-inline,function(sroa,early-cse,simplifycfg,instcombine<no-verify-fixpoint>,loop-simplify," \
             "loop-mssa(loop-rotate,licm),instcombine<no-verify-fixpoint>,simplifycfg)"
#define MOST_BLOCKS 512u

/** A loop with a counter. */
struct counter {
    struct cc1 *cc;
    LLVMValueRef phi;                 /**< The counter. */
    LLVMValueRef first, next, step;   /**< next = phi + step. */
    LLVMValueRef test, limit;         /**< The loop goes on if next < limit, which `test` compares. */
    LLVMBasicBlockRef head, latch, before;
};

/** True: a number below 2^32. */
static int fits(LLVMValueRef v)
{
    if (LLVMIsAConstantInt(v)) {
        return LLVMConstIntGetZExtValue(v) <= UINT32_MAX;
    }
    return LLVMIsAZExtInst(v) != NULL && LLVMGetIntTypeWidth(LLVMTypeOf(LLVMGetOperand(v, 0))) <= 32;
}

/** True: a number that this pass takes for one below 2^32: also an int. */
static int fits_limit(LLVMValueRef v)
{
    return fits(v) || (LLVMIsASExtInst(v) && LLVMGetIntTypeWidth(LLVMTypeOf(LLVMGetOperand(v, 0))) == 32);
}

static int is_in(LLVMBasicBlockRef b, LLVMBasicBlockRef const *blocks, unsigned n)
{
    unsigned i = 0;
    while (i < n && blocks[i] != b) {
        i++;
    }
    return i < n;
}

/** Finds the blocks of the loop: those from which the latch is reached without the head. 0: there are too many. */
static unsigned loop_blocks(const struct counter *c, LLVMBasicBlockRef blocks[MOST_BLOCKS])
{
    unsigned n = 0;
    blocks[n++] = c->head;
    if (c->latch != c->head) {
        blocks[n++] = c->latch;
    }
    for (int more = 1; more;) {
        more = 0;
        LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(LLVMGetBasicBlockParent(c->head));
        for (; b; b = LLVMGetNextBasicBlock(b)) {
            LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
            for (unsigned s = 0; s < LLVMGetNumSuccessors(end); s++) {
                LLVMBasicBlockRef to = LLVMGetSuccessor(end, s);
                if (to == c->head || is_in(b, blocks, n) || !is_in(to, blocks, n)) {
                    continue;
                }
                if (n == MOST_BLOCKS) {
                    return 0;
                }
                blocks[n++] = b;
                more = 1;
            }
        }
    }
    return n;
}

/** Reads the comparison at the end of the loop. 0: it is another one. */
static int read_test(struct counter *c)
{
    LLVMValueRef end = LLVMGetBasicBlockTerminator(c->latch);
    if (!LLVMIsABranchInst(end) || !LLVMIsConditional(end) || LLVMGetSuccessor(end, 0) != c->head ||
        LLVMGetSuccessor(end, 1) == c->head) {
        return 0;
    }
    c->test = LLVMGetCondition(end);
    if (!LLVMIsAICmpInst(c->test)) {
        return 0;
    }
    const unsigned swapped = LLVMGetOperand(c->test, 1) == c->next;
    c->limit = LLVMGetOperand(c->test, !swapped);
    return LLVMGetICmpPredicate(c->test) == (swapped ? LLVMIntUGT : LLVMIntULT) &&
        LLVMGetOperand(c->test, swapped) == c->next && fits_limit(c->limit);
}

/** True: `next` is used only by the phi and the test. */
static int next_is_unused(const struct counter *c)
{
    for (LLVMUseRef u = LLVMGetFirstUse(c->next); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        if (user != c->phi && user != c->test) {
            return 0;
        }
    }
    return 1;
}

/** True: next is at most the limit, so it has 32 bits. */
static int is_exact(const struct counter *c)
{
    return LLVMIsAConstantInt(c->step) && LLVMConstIntGetZExtValue(c->step) == 1 && LLVMIsAConstantInt(c->first) &&
           LLVMConstIntGetZExtValue(c->first) < UINT32_MAX;
}

/** Reads the loop of which the phi is the counter. 0: it is none. */
static int read_counter(struct counter *c)
{
    LLVMBasicBlockRef blocks[MOST_BLOCKS];
    if (LLVMTypeOf(c->phi) != LLVMInt64TypeInContext(c->cc->context) || LLVMCountIncoming(c->phi) != 2) {
        return 0;
    }
    c->head = LLVMGetInstructionParent(c->phi);
    for (unsigned back = 0; back < 2; back++) {
        c->latch = LLVMGetIncomingBlock(c->phi, back);
        c->before = LLVMGetIncomingBlock(c->phi, !back);
        c->next = LLVMGetIncomingValue(c->phi, back);
        c->first = LLVMGetIncomingValue(c->phi, !back);
        if (!LLVMIsAInstruction(c->next) || LLVMGetInstructionOpcode(c->next) != LLVMAdd || !fits(c->first)) {
            continue;
        }
        const unsigned swapped = LLVMGetOperand(c->next, 1) == c->phi;
        c->step = LLVMGetOperand(c->next, !swapped);
        if (LLVMGetOperand(c->next, swapped) != c->phi || !fits(c->step) || !read_test(c)) {
            continue;
        }
        const unsigned n = loop_blocks(c, blocks);
        return n != 0 && (is_exact(c) || next_is_unused(c)) &&
               (!LLVMIsAInstruction(c->step) || !is_in(LLVMGetInstructionParent(c->step), blocks, n)) &&
               (!LLVMIsAInstruction(c->limit) || !is_in(LLVMGetInstructionParent(c->limit), blocks, n));
    }
    return 0;
}

static LLVMValueRef build_less_step(const struct counter *c, LLVMBuilderRef b, LLVMValueRef limit, LLVMValueRef step)
{
    static const char name[] = "llvm.usub.sat";
    LLVMTypeRef word = LLVMTypeOf(limit);
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(c->cc->module, LLVMLookupIntrinsicID(name, sizeof name - 1), &word, 1);
    LLVMValueRef args[2] = {limit, step};
    return LLVMBuildCall2(b, LLVMGlobalGetValueType(f), f, args, 2, "");
}

static void narrow(const struct counter *c)
{
    LLVMTypeRef word = LLVMInt32TypeInContext(c->cc->context), wide = LLVMTypeOf(c->phi);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(c->cc->context);
    LLVMPositionBuilderBefore(b, LLVMGetBasicBlockTerminator(c->before));
    LLVMValueRef first = LLVMBuildTrunc(b, c->first, word, ""), step = LLVMBuildTrunc(b, c->step, word, "");
    LLVMValueRef limit = LLVMBuildTrunc(b, c->limit, word, "");
    LLVMValueRef last = is_exact(c) ? limit : build_less_step(c, b, limit, step);

    LLVMPositionBuilderBefore(b, c->phi);
    LLVMValueRef phi = LLVMBuildPhi(b, word, "");
    LLVMPositionBuilderBefore(b, c->next);
    LLVMValueRef next = LLVMBuildNUWAdd(b, phi, step, ""); /* if it wraps, the loop ends and nobody reads it */
    LLVMValueRef values[2] = {first, next};
    LLVMBasicBlockRef blocks[2] = {c->before, c->latch};
    LLVMAddIncoming(phi, values, blocks, 2);

    LLVMPositionBuilderBefore(b, c->test);
    LLVMValueRef test = LLVMBuildICmp(b, LLVMIntULT, is_exact(c) ? next : phi, last, "");
    LLVMReplaceAllUsesWith(c->test, test);

    LLVMValueRef at = LLVMGetFirstInstruction(c->head);
    while (LLVMIsAPHINode(at)) {
        at = LLVMGetNextInstruction(at);
    }
    LLVMPositionBuilderBefore(b, at);
    LLVMReplaceAllUsesWith(c->phi, LLVMBuildZExt(b, phi, wide, ""));
    LLVMPositionBuilderBefore(b, c->next);
    LLVMReplaceAllUsesWith(c->next, LLVMBuildZExt(b, next, wide, ""));
    LLVMInstructionEraseFromParent(c->test);
    LLVMInstructionEraseFromParent(c->phi);
    LLVMInstructionEraseFromParent(c->next);
    LLVMDisposeBuilder(b);
}

/** Finds a counter in a function. Returns whether there is one. */
static int find(struct counter *c, LLVMValueRef f)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); LLVMIsAPHINode(i); i = LLVMGetNextInstruction(i)) {
            c->phi = i;
            if (read_counter(c)) {
                return 1;
            }
        }
    }
    return 0;
}

/** True: the function has a variable of 64 bits and a branch back to an earlier block, so it may have a counter. */
static int may_count(LLVMValueRef f, LLVMTypeRef wide)
{
    struct cc1_set before = {0};
    int variable = 0, loop = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
        cc1_set_add(&before, LLVMBasicBlockAsValue(b));
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i && !variable; i = LLVMGetNextInstruction(i)) {
            variable = (LLVMIsAAllocaInst(i) && LLVMGetAllocatedType(i) == wide) ||
                (LLVMIsAPHINode(i) && LLVMTypeOf(i) == wide);
        }
        LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
        for (unsigned s = 0; s < LLVMGetNumSuccessors(end) && !loop; s++) {
            loop = cc1_set_has(&before, LLVMBasicBlockAsValue(LLVMGetSuccessor(end, s)));
        }
    }
    free(before.at);
    return variable && loop;
}

void cc1_counters(struct cc1 *cc)
{
    struct cc1 other = *cc;
    unsigned found = 0;
    LLVMValueRef f = LLVMGetFirstFunction(cc->module);
    while (f && !may_count(f, LLVMInt64TypeInContext(cc->context))) {
        f = LLVMGetNextFunction(f);
    }
    if (!f) {
        return;
    }
    other.module = LLVMCloneModule(cc->module);
    cc1_module_optimize(&other, FORM);
    for (f = LLVMGetFirstFunction(other.module); f; f = LLVMGetNextFunction(f)) {
        for (struct counter c = {.cc = &other}; find(&c, f); found++) {
            narrow(&c);
        }
    }
    if (!found) {
        LLVMDisposeModule(other.module);
        return;
    }
    cc->module = other.module;
    for (size_t i = 0; i < cc->n_kernels; i++) {
        struct cc1_kernel *k = &cc->kernels[i];
        size_t length;
        k->function = LLVMGetNamedFunction(cc->module, LLVMGetValueName2(k->function, &length));
        k->entry = LLVMGetNamedFunction(cc->module, LLVMGetValueName2(k->entry, &length));
    }
}
