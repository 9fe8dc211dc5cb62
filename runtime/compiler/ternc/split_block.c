/* SPDX-License-Identifier: Apache-2.0 */
/** Divides blocks, which LLVM-C does not. */
#include "cc1.h"

/** Makes the phis at the begin of a block take from `to` what they took from `from`. */
static void replace_incoming(LLVMBuilderRef b, LLVMBasicBlockRef block, LLVMBasicBlockRef from, LLVMBasicBlockRef to)
{
    for (LLVMValueRef phi = LLVMGetFirstInstruction(block), next; phi && LLVMIsAPHINode(phi); phi = next) {
        next = LLVMGetNextInstruction(phi);
        LLVMPositionBuilderBefore(b, phi);
        LLVMValueRef made = LLVMBuildPhi(b, LLVMTypeOf(phi), "");
        for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
            LLVMValueRef value = LLVMGetIncomingValue(phi, i);
            LLVMBasicBlockRef of = LLVMGetIncomingBlock(phi, i) == from ? to : LLVMGetIncomingBlock(phi, i);
            LLVMAddIncoming(made, &value, &of, 1);
        }
        LLVMReplaceAllUsesWith(phi, made);
        LLVMInstructionEraseFromParent(phi);
    }
}

LLVMBasicBlockRef cc1_split_block(struct cc1 *cc, LLVMValueRef first)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(cc->context);
    LLVMBasicBlockRef block = LLVMGetInstructionParent(first);
    LLVMBasicBlockRef rest = LLVMAppendBasicBlockInContext(cc->context, LLVMGetBasicBlockParent(block), "");
    LLVMMoveBasicBlockAfter(rest, block);
    LLVMPositionBuilderAtEnd(b, rest);
    for (LLVMValueRef i = first, next; i; i = next) {
        next = LLVMGetNextInstruction(i);
        LLVMInstructionRemoveFromParent(i);
        LLVMInsertIntoBuilder(b, i);
    }
    LLVMValueRef end = LLVMGetBasicBlockTerminator(rest);
    for (unsigned i = 0; i < LLVMGetNumSuccessors(end); i++) {
        replace_incoming(b, LLVMGetSuccessor(end, i), block, rest);
    }
    LLVMDisposeBuilder(b);
    return rest;
}
