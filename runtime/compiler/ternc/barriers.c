/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Barriers that a group of a single warp does not need. Behind a barrier all lanes of a warp go on together. The lanes
 * execute each instruction at the same time until they diverge, and accesses of a byte take effect in the order of the
 * instructions. A second barrier therefore has nothing to wait for if no lane can have gone ahead since the first one:
 * both are in one block, and no instruction between them is or becomes a call. A barrier of the compiler, which keeps
 * the order of accesses, replaces the second one.
 *
 * A select between two barriers becomes a short branch forward, behind which the lanes meet again. A backward branch is
 * another matter: lanes that leave a loop may go ahead of the others (rtl/simt/simt_flow.sv).
 */
#include "cc1.h"

#include "coarse.h"

#include <string.h>

#define LARGEST 32u /* bits of numbers for which there are instructions */

/** True: the code generator may need calls for values of the type. */
static int is_large(LLVMTypeRef type)
{
    if (LLVMGetTypeKind(type) == LLVMVectorTypeKind) {
        type = LLVMGetElementType(type);
    }
    switch (LLVMGetTypeKind(type)) {
    case LLVMVoidTypeKind: case LLVMFloatTypeKind: case LLVMPointerTypeKind: case LLVMLabelTypeKind: return 0;
    case LLVMIntegerTypeKind: return LLVMGetIntTypeWidth(type) > LARGEST;
    default: return 1;
    }
}

/** True: a call for which there is an instruction, or none is needed. */
static int is_instruction(LLVMValueRef call)
{
    static const char *const names[] = {"llvm.umin.", "llvm.umax.", "llvm.smin.", "llvm.smax.", "llvm.abs.",
                                        "llvm.minnum.", "llvm.maxnum.", "llvm.fma.", "llvm.fmuladd.", "llvm.fabs."};
    size_t length;
    const char *name = LLVMGetValueName2(LLVMGetCalledValue(call), &length);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!strncmp(name, names[i], strlen(names[i]))) {
            return 1;
        }
    }
    return coarse_is_hint(call) || cc1_csr(call);
}

/** True: lanes that come to the instruction together may leave it one after the other. */
static int may_part(LLVMValueRef i)
{
    int large = is_large(LLVMTypeOf(i));
    const int operands = LLVMIsACallInst(i) ? (int)LLVMGetNumArgOperands(i) : LLVMGetNumOperands(i);
    for (int o = 0; o < operands && !LLVMIsAPHINode(i); o++) {
        large = large || is_large(LLVMTypeOf(LLVMGetOperand(i, (unsigned)o)));
    }
    return large || LLVMGetInstructionOpcode(i) == LLVMFRem || (LLVMIsACallInst(i) && !is_instruction(i));
}

void cc1_barriers(struct cc1 *cc, LLVMValueRef f)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(cc->context);
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block)) {
        int together = 0; /* all lanes */
        for (LLVMValueRef i = LLVMGetFirstInstruction(block), next; i; i = next) {
            next = LLVMGetNextInstruction(i);
            if (!LLVMIsACallInst(i) || !coarse_is_barrier(i)) {
                together = together && !may_part(i);
            } else if (together) {
                LLVMPositionBuilderBefore(b, i);
                cc1_build_instruction(cc, b, "");
                LLVMInstructionEraseFromParent(i);
            } else {
                together = 1;
            }
        }
    }
    LLVMDisposeBuilder(b);
}
