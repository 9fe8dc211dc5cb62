/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Removes `convergent` from functions and calls that cannot reach a barrier or fence.
 *
 * clang marks every OpenCL function and call as convergent, because it does not see which of them reach a barrier.
 * After linking this is known. The attribute costs speed: a loop with a convergent call, even of fma, is not unrolled.
 */
#include "cc1.h"

static unsigned convergent;

static LLVMValueRef callee(LLVMValueRef call)
{
    LLVMValueRef f = LLVMGetCalledValue(call);
    return LLVMIsAFunction(f) ? f : NULL;
}

static int on_call(LLVMValueRef call)
{
    return LLVMGetCallSiteEnumAttribute(call, CC1_FUNCTION, convergent) != NULL;
}

static int on_function(LLVMValueRef f)
{
    return LLVMGetEnumAttributeAtIndex(f, CC1_FUNCTION, convergent) != NULL;
}

/** True: the call must stay convergent: inline assembly, or a call of a convergent function. */
static int keeps(LLVMValueRef call)
{
    LLVMValueRef f = callee(call);
    return on_call(call) && (!f || on_function(f));
}

static int has_keeper(LLVMValueRef f)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            LLVMValueRef f_called = LLVMIsACallInst(i) ? callee(i) : NULL;
            if (LLVMIsACallInst(i) && f_called != f && keeps(i)) {
                return 1;
            }
        }
    }
    return 0;
}

void cc1_converge(struct cc1 *cc)
{
    convergent = LLVMGetEnumAttributeKindForName("convergent", 10);
    for (int changed = 1; changed;) { /* a callee that changes changes its callers */
        changed = 0;
        for (LLVMValueRef f = LLVMGetFirstFunction(cc->module); f; f = LLVMGetNextFunction(f)) {
            if (!LLVMIsDeclaration(f) && on_function(f) && !has_keeper(f)) {
                LLVMRemoveEnumAttributeAtIndex(f, CC1_FUNCTION, convergent);
                changed = 1;
            }
        }
    }
    for (LLVMValueRef f = LLVMGetFirstFunction(cc->module); f; f = LLVMGetNextFunction(f)) {
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
                if (LLVMIsACallInst(i) && on_call(i) && !keeps(i)) {
                    LLVMRemoveCallSiteEnumAttribute(i, CC1_FUNCTION, convergent);
                }
            }
        }
    }
}
