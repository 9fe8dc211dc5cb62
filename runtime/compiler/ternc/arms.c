/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Stores of values that one condition selects become stores behind a branch:
 *
 *   *p = c ? x : y; *q = c ? y : x;   ->   if (c) { *p = x; *q = y; } else { *p = y; *q = x; }
 *
 * The instruction set has no select, so the code generator makes a branch and moves of each one, of which two share a
 * branch only if they follow each other and registers allow it. In exchange, with a store of each value in either way,
 * there is one branch and no move. This is a step of a bitonic sort, or a rotation by a condition.
 *
 * A branch whose ways differ between work-items would prevent tiles, so that they are made before. Such a branch
 * is a region of merged groups (merge_read.c).
 */
#include "cc1.h"

#include "coarse.h"

#include <stdlib.h>

#define LEAST 2u /* selects that become a branch: a single one costs as much */
#define MOST 16u /* stores behind a branch */

/** Stores of a block that are moved into two ways. */
struct arms {
    struct cc1 *cc;
    LLVMBuilderRef b;
    LLVMValueRef condition;
    LLVMValueRef store[MOST]; /**< In the order of the block. */
    unsigned n;
};

/** The select that a store stores, with the condition (NULL: any). NULL: there is none, or the code generator needs no
 *  branch for it, or the value has other users. */
static LLVMValueRef select_of(LLVMValueRef store, LLVMValueRef condition)
{
    LLVMValueRef s = LLVMIsAStoreInst(store) && !coarse_is_ordered(store) ? LLVMGetOperand(store, 0) : NULL;
    if (!s || !LLVMIsASelectInst(s) || LLVMGetInstructionParent(s) != LLVMGetInstructionParent(store) ||
        (condition && LLVMGetOperand(s, 0) != condition) || LLVMIsConstant(LLVMGetOperand(s, 0)) ||
        LLVMIsConstant(LLVMGetOperand(s, 1)) || LLVMIsConstant(LLVMGetOperand(s, 2))) {
        return NULL;
    }
    LLVMUseRef use = LLVMGetFirstUse(s);
    return LLVMGetNextUse(use) ? NULL : s;
}

/** True: a store does not move over the instruction. */
static int is_fixed(LLVMValueRef i)
{
    return LLVMIsATerminatorInst(i) || LLVMIsALoadInst(i) || LLVMIsAStoreInst(i) || coarse_is_opaque_call(i) ||
        coarse_is_ordered(i);
}

/** Finds the stores that can move down to the last one of them, of which `first` is the first. 0: too few. */
static int find(struct arms *a, LLVMValueRef first)
{
    LLVMValueRef s = select_of(first, NULL);
    a->condition = s ? LLVMGetOperand(s, 0) : NULL;
    a->n = 0;
    for (LLVMValueRef i = first; s && i && a->n < MOST; i = LLVMGetNextInstruction(i)) {
        if (select_of(i, a->condition)) {
            a->store[a->n++] = i;
        } else if (is_fixed(i)) {
            break;
        }
    }
    return a->n >= LEAST;
}

/** Makes the block with the stores of one way: of operand `way` of the selects. */
static LLVMBasicBlockRef make_way(struct arms *a, LLVMBasicBlockRef rest, unsigned way)
{
    LLVMBasicBlockRef made = LLVMInsertBasicBlockInContext(a->cc->context, rest, "");
    LLVMPositionBuilderAtEnd(a->b, made);
    for (unsigned k = 0; k < a->n; k++) {
        LLVMValueRef store = LLVMInstructionClone(a->store[k]);
        LLVMSetOperand(store, 0, LLVMGetOperand(LLVMGetOperand(a->store[k], 0), way));
        LLVMInsertIntoBuilder(a->b, store);
    }
    LLVMBuildBr(a->b, rest);
    return made;
}

/** Makes the branch. */
static void make(struct arms *a)
{
    LLVMBasicBlockRef block = LLVMGetInstructionParent(a->store[0]);
    LLVMBasicBlockRef rest = cc1_split_block(a->cc, LLVMGetNextInstruction(a->store[a->n - 1]));
    LLVMBasicBlockRef then = make_way(a, rest, 1), otherwise = make_way(a, rest, 2);
    for (unsigned k = 0; k < a->n; k++) {
        LLVMValueRef selected = LLVMGetOperand(a->store[k], 0);
        LLVMInstructionEraseFromParent(a->store[k]);
        LLVMInstructionEraseFromParent(selected);
    }
    LLVMPositionBuilderAtEnd(a->b, block);
    LLVMBuildCondBr(a->b, a->condition, then, otherwise);
}

void cc1_arms(struct cc1 *cc, LLVMValueRef f)
{
    struct arms a = {.cc = cc, .b = LLVMCreateBuilderInContext(cc->context)};
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
            if (find(&a, i)) {
                make(&a); /* the block behind it comes later in the list */
                break;
            }
        }
    }
    LLVMDisposeBuilder(a.b);
}
