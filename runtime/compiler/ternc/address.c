/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Addresses off one base. Where a loop is unrolled, its copies compute the same index or address plus a constant, or
 * plus a constant number of strides. LLVM's passes for straight-line code make the first copy's value the base of the
 * others; GPU targets run them, riscv32 does not. Loads and stores then have the constant as their offset. Without
 * these passes each address is a value of its own, hoisted out of the loop and spilled.
 *
 * The passes do not look through a quotient. Therefore (x + c) / d becomes x / d + c / d first, if d divides c and the
 * sum does not wrap: the row of element `l + 64 * k` of a tile.
 */
#include "cc1.h"

/* NaryReassociate computes a sum from one that exists, which gives slsr products to compute from each other. A sum with
 * several uses stays as it is until slsr has removed the other uses. Therefore both run twice. */
#define ROUND ",nary-reassociate,slsr,early-cse"
#define PASSES "function(separate-const-offset-from-gep,early-cse" ROUND ROUND ",nary-reassociate,early-cse)"

static int is(LLVMValueRef v, LLVMOpcode op)
{
    return LLVMIsAInstruction(v) && LLVMGetInstructionOpcode(v) == op;
}

/** True: v is a number in one register. */
static int is_word(LLVMValueRef v)
{
    return LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(LLVMTypeOf(v)) <= 32;
}

/** Makes an `or` that adds, because its operands have no bit in common, an addition, which the passes know. */
static LLVMValueRef to_sum(LLVMBuilderRef b, LLVMValueRef i)
{
    if (!is(i, LLVMOr) || !LLVMGetIsDisjoint(i)) {
        return i;
    }
    LLVMPositionBuilderBefore(b, i);
    LLVMValueRef sum = LLVMBuildNUWAdd(b, LLVMGetOperand(i, 0), LLVMGetOperand(i, 1), "");
    if (is(sum, LLVMAdd)) {
        LLVMSetNSW(sum, 1);
    }
    LLVMReplaceAllUsesWith(i, sum);
    LLVMInstructionEraseFromParent(i);
    return sum;
}

/** Divides both parts of a sum, if i is such a quotient. */
static void split(LLVMBuilderRef b, LLVMValueRef i)
{
    if (!is(i, LLVMLShr) && !is(i, LLVMUDiv)) {
        return;
    }
    LLVMValueRef sum = LLVMGetOperand(i, 0), by = LLVMGetOperand(i, 1);
    if (!LLVMIsAConstantInt(by) || !is(sum, LLVMAdd) || !LLVMGetNUW(sum) ||
        !LLVMIsAConstantInt(LLVMGetOperand(sum, 1))) {
        return;
    }
    const uint64_t c = LLVMConstIntGetZExtValue(LLVMGetOperand(sum, 1)), n = LLVMConstIntGetZExtValue(by);
    const uint64_t divisor = is(i, LLVMUDiv) ? n : n < 32 ? (uint64_t)1 << n : 0;
    if (divisor == 0 || c % divisor) {
        return;
    }
    LLVMValueRef first = LLVMInstructionClone(i);
    LLVMSetOperand(first, 0, LLVMGetOperand(sum, 0));
    LLVMPositionBuilderBefore(b, i);
    LLVMInsertIntoBuilder(b, first);
    LLVMValueRef second = LLVMConstInt(LLVMTypeOf(i), c / divisor, 0);
    LLVMReplaceAllUsesWith(i, LLVMBuildNUWAdd(b, first, second, ""));
}

void cc1_addresses(struct cc1 *cc)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(cc->context);
    for (LLVMValueRef f = LLVMGetFirstFunction(cc->module); f; f = LLVMGetNextFunction(f)) {
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block)) {
            for (LLVMValueRef i = LLVMGetFirstInstruction(block), next; i; i = next) {
                next = LLVMGetNextInstruction(i);
                if (is_word(i)) {
                    split(b, to_sum(b, i));
                }
            }
        }
    }
    LLVMDisposeBuilder(b);
    cc1_module_optimize(cc, PASSES);
}
