/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Kernels that treat all components of vectors alike, as y[i] = a * x[i] + y[i] of float4. A load of the hardware is
 * one word. A load of one component by 16 work-items accesses as many cache lines as the vector has components, and the
 * load of the next component accesses the same lines again. Therefore, in the rounds of a coarse entry, lane l of 16
 * does not process the components of its own work-item, but word l of each 16 words of the row's vectors: every load
 * accesses one line. The lane that computes a word makes no difference: all operands of the word are words at the same
 * place in vectors of the same work-item, or values that all work-items and components share.
 *
 * A number that is the same for the 16 work-items of a row is an operand as well: it is computed for each row. That is
 * so for what follows from the id of a group whose size is a multiple of 16.
 *
 * Example: float4, 16 work-items, 64 words. Lane 3 processes words 3, 19, 35 and 51, which are component 3 of
 * work-items 0, 4, 8 and 12.
 */
#include "coarse.h"
#include "tern/tern_spec.h"

#include <string.h>

#define WORD 4u /* bytes */

static int is_word(LLVMTypeRef type)
{
    return LLVMGetTypeKind(type) == LLVMFloatTypeKind ||
        (LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) == 32);
}

/** Number of components of a vector of words, or of results of comparing them; 0: another type. */
static unsigned components(LLVMTypeRef type)
{
    if (LLVMGetTypeKind(type) != LLVMVectorTypeKind) {
        return 0;
    }
    LLVMTypeRef element = LLVMGetElementType(type);
    const int bit = LLVMGetTypeKind(element) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(element) == 1;
    return bit || is_word(element) ? LLVMGetVectorSize(type) : 0;
}

/** The value of all components of a vector that is the same for all work-items; NULL: the components differ. */
static LLVMValueRef splat(LLVMValueRef v)
{
    if (LLVMIsAShuffleVectorInst(v)) {
        LLVMValueRef from = LLVMGetOperand(v, 0);
        for (unsigned i = 0; i < LLVMGetNumMaskElements(v); i++) {
            if (LLVMGetMaskValue(v, i) != 0) {
                return NULL;
            }
        }
        LLVMValueRef place = LLVMIsAInsertElementInst(from) ? LLVMGetOperand(from, 2) : NULL;
        return place && LLVMIsAConstantInt(place) && LLVMConstIntGetZExtValue(place) == 0 ? LLVMGetOperand(from, 1)
                                                                                         : NULL;
    }
    LLVMValueRef first = LLVMIsConstant(v) ? LLVMGetAggregateElement(v, 0) : NULL;
    for (unsigned i = 1; first && i < LLVMGetVectorSize(LLVMTypeOf(v)); i++) {
        if (LLVMGetAggregateElement(v, i) != first) {
            return NULL;
        }
    }
    return first;
}

/** True: the operand has one value for each word. */
static int is_of_words(struct coarse *c, LLVMValueRef v)
{
    struct step *s = coarse_find(c, v);
    if (components(LLVMTypeOf(v)) != c->parts) {
        return 0;
    }
    return s && s->kind == EACH && !s->in_row ? s->split : splat(v) != NULL;
}

/** True: the number of the work-item in x, which is its id without the offset. */
static int is_number(struct coarse *c, LLVMValueRef v)
{
    if (!LLVMIsAInstruction(v) || LLVMGetInstructionOpcode(v) != LLVMSub) {
        return 0;
    }
    struct step *id = coarse_find(c, LLVMGetOperand(v, 0));
    LLVMValueRef offset = LLVMGetOperand(v, 1);
    return id && id->kind == ITEM && LLVMIsACallInst(offset) && cc1_csr(offset) == TERN_CSR_OFFSET_X;
}

/** True: number / d, where d is a multiple of the row's length. */
static int is_number_of_rows(struct coarse *c, LLVMValueRef v)
{
    const LLVMOpcode op = LLVMGetInstructionOpcode(v);
    LLVMValueRef by = op == LLVMLShr || op == LLVMUDiv ? LLVMGetOperand(v, 1) : NULL;
    if (!by || !LLVMIsAConstantInt(by) || !is_number(c, LLVMGetOperand(v, 0))) {
        return 0;
    }
    const unsigned long long d = LLVMConstIntGetZExtValue(by);
    return op == LLVMUDiv ? d % CC1_COARSE_STRIDE == 0 : 1u << d % 32 >= CC1_COARSE_STRIDE;
}

/** True: a number whose uses are quotients that are the same for the work-items of a row. */
static int is_for_rows(struct coarse *c, LLVMValueRef v)
{
    LLVMUseRef use = is_number(c, v) ? LLVMGetFirstUse(v) : NULL;
    int all = use != NULL;
    for (; use && all; use = LLVMGetNextUse(use)) {
        all = is_number_of_rows(c, LLVMGetUser(use));
    }
    return all;
}

/** True: the value is the same for the work-items of a row, or for such values only. stores: one has stored before. */
static int is_in_row(struct coarse *c, LLVMValueRef v, int stores)
{
    if (is_number_of_rows(c, v) || is_for_rows(c, v)) {
        return 1;
    }
    if (LLVMIsAStoreInst(v) || (LLVMIsALoadInst(v) && stores) || LLVMIsATerminatorInst(v)) {
        return 0; /* what is computed for a row comes before all words */
    }
    for (int o = 0; o < LLVMGetNumOperands(v); o++) {
        struct step *from = coarse_find(c, LLVMGetOperand(v, (unsigned)o));
        if (from && (from->kind == ITEM || from->kind == GUARD || (from->kind == EACH && !from->in_row))) {
            return 0;
        }
    }
    return 1;
}

/** True: the address is that of consecutive vectors. */
static int is_of_vectors(struct coarse *c, LLVMValueRef address)
{
    struct step *s = coarse_find(c, address);
    uint32_t by;
    return s && s->kind == EACH && LLVMIsAGetElementPtrInst(address) && coarse_grows(c, address, &by) &&
        by == c->parts * WORD;
}

/** True: an intrinsic that treats all components alike, and is named by one type. */
static int is_of_components(LLVMValueRef call)
{
    static const char *const names[] = {"llvm.fma.", "llvm.fmuladd.", "llvm.fabs.", "llvm.minnum.", "llvm.maxnum.",
                                        "llvm.smin.", "llvm.smax.", "llvm.umin.", "llvm.umax."};
    size_t length;
    const char *name = LLVMGetValueName2(LLVMGetCalledValue(call), &length);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!strncmp(name, names[i], strlen(names[i]))) {
            return 1;
        }
    }
    return 0;
}

/** True: the step can be executed with words. The operands are decided already. */
static int can_split(struct coarse *c, LLVMValueRef i)
{
    const LLVMOpcode op = LLVMGetInstructionOpcode(i);
    int values = LLVMGetNumOperands(i);
    if (op == LLVMLoad) {
        return components(LLVMTypeOf(i)) == c->parts && is_word(LLVMGetElementType(LLVMTypeOf(i))) &&
            is_of_vectors(c, LLVMGetOperand(i, 0));
    }
    if (op == LLVMStore) {
        LLVMValueRef v = LLVMGetOperand(i, 0);
        return is_of_words(c, v) && is_word(LLVMGetElementType(LLVMTypeOf(v))) &&
            is_of_vectors(c, LLVMGetOperand(i, 1));
    }
    if (op == LLVMCall) {
        values = is_of_components(i) ? values - 1 : 0; /* the last operand is the function */
    } else if (!LLVMIsABinaryOperator(i) && op != LLVMFNeg && op != LLVMICmp && op != LLVMFCmp && op != LLVMSelect &&
               op != LLVMSIToFP && op != LLVMUIToFP && op != LLVMFPToSI && op != LLVMFPToUI && op != LLVMZExt &&
               op != LLVMSExt) {
        return 0;
    }
    int all = values > 0 && components(LLVMTypeOf(i)) == c->parts;
    for (int k = 0; k < values; k++) {
        all = all && is_of_words(c, LLVMGetOperand(i, (unsigned)k));
    }
    return all;
}

void coarse_choose_split(struct coarse *c)
{
    for (unsigned i = 0; i < c->n && !c->parts; i++) {
        c->parts = LLVMIsALoadInst(c->steps[i].of) ? components(LLVMTypeOf(c->steps[i].of)) : 0;
    }
    int all = c->parts >= 2 && c->parts <= 4, stores = 0;
    for (unsigned i = 0; all && i < c->n; i++) {
        struct step *s = &c->steps[i];
        s->in_row = s->kind == EACH && is_in_row(c, s->of, stores);
        s->split = s->kind == EACH && !s->in_row && can_split(c, s->of);
        stores |= LLVMIsAStoreInst(s->of) != NULL;
        struct step *condition = s->kind == GUARD ? coarse_find(c, LLVMGetCondition(s->of)) : NULL;
        all = s->kind == EACH ? s->split || s->in_row || s->is_index : !condition || condition->kind != EACH;
    }
    if (!all) {
        c->parts = 0;
        for (unsigned i = 0; i < c->n; i++) {
            c->steps[i].split = c->steps[i].in_row = 0;
        }
    }
}

/** The value of word t of the lane's words in a round. */
static LLVMValueRef word(struct coarse *c, LLVMValueRef v, unsigned t)
{
    struct step *s = coarse_find(c, v);
    if (s && s->split) {
        return s->word[t % COARSE_WORDS];
    }
    LLVMValueRef one = splat(v);
    s = coarse_find(c, one);
    return !s ? one : s->copy[s->in_row ? t / c->parts : 0];
}

/** The address of the lane's word t of the round; consecutive ones are 16 words apart. */
static LLVMValueRef address(struct coarse *c, LLVMValueRef vectors, unsigned t)
{
    LLVMTypeRef byte = LLVMInt8TypeInContext(c->cc->context);
    LLVMValueRef at = cc1_u32(c->cc, t * CC1_COARSE_STRIDE * WORD);
    struct step *s = coarse_find(c, vectors);
    if (!s->first) {
        s->first = LLVMBuildGEP2(c->b, byte, s->copy[0], &c->to_word, 1, "");
    }
    return LLVMBuildGEP2(c->b, byte, s->first, &at, 1, "");
}

static LLVMValueRef make_call(struct coarse *c, LLVMValueRef of, unsigned t)
{
    const int n = LLVMGetNumOperands(of) - 1;
    LLVMValueRef values[3];
    LLVMTypeRef type = LLVMGetElementType(LLVMTypeOf(of));
    for (int k = 0; k < n; k++) {
        values[k] = word(c, LLVMGetOperand(of, (unsigned)k), t);
    }
    const unsigned id = LLVMGetIntrinsicID(LLVMGetCalledValue(of));
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(c->cc->module, id, &type, 1);
    return LLVMBuildCall2(c->b, LLVMGlobalGetValueType(f), f, values, (unsigned)n, "");
}

/** Builds word t of a step. */
static LLVMValueRef make_word(struct coarse *c, LLVMValueRef of, unsigned t)
{
    const LLVMOpcode op = LLVMGetInstructionOpcode(of);
    LLVMValueRef made;
    switch (op) {
    case LLVMLoad:
        made = LLVMBuildLoad2(c->b, LLVMGetElementType(LLVMTypeOf(of)), address(c, LLVMGetOperand(of, 0), t), "");
        LLVMSetAlignment(made, WORD);
        return made;
    case LLVMStore:
        made = LLVMBuildStore(c->b, word(c, LLVMGetOperand(of, 0), t), address(c, LLVMGetOperand(of, 1), t));
        LLVMSetAlignment(made, WORD);
        return made;
    case LLVMCall: made = make_call(c, of, t); break;
    case LLVMFNeg: made = LLVMBuildFNeg(c->b, word(c, LLVMGetOperand(of, 0), t), ""); break;
    case LLVMICmp:
        return LLVMBuildICmp(c->b, LLVMGetICmpPredicate(of), word(c, LLVMGetOperand(of, 0), t),
                             word(c, LLVMGetOperand(of, 1), t), "");
    case LLVMFCmp:
        made = LLVMBuildFCmp(c->b, LLVMGetFCmpPredicate(of), word(c, LLVMGetOperand(of, 0), t),
                             word(c, LLVMGetOperand(of, 1), t), "");
        break;
    case LLVMSelect:
        made = LLVMBuildSelect(c->b, word(c, LLVMGetOperand(of, 0), t), word(c, LLVMGetOperand(of, 1), t),
                               word(c, LLVMGetOperand(of, 2), t), "");
        break;
    case LLVMSIToFP: case LLVMUIToFP: case LLVMFPToSI: case LLVMFPToUI: case LLVMZExt: case LLVMSExt:
        return LLVMBuildCast(c->b, op, word(c, LLVMGetOperand(of, 0), t), LLVMGetElementType(LLVMTypeOf(of)), "");
    default:
        made = LLVMBuildBinOp(c->b, op, word(c, LLVMGetOperand(of, 0), t), word(c, LLVMGetOperand(of, 1), t), "");
        break;
    }
    if (LLVMCanValueUseFastMathFlags(of) && LLVMIsAInstruction(made)) {
        LLVMSetFastMathFlags(made, LLVMGetFastMathFlags(of));
    }
    return made;
}

void coarse_make_words(struct coarse *c)
{
    for (unsigned i = 0; i < c->n; i++) {
        c->steps[i].first = NULL;
    }
    for (unsigned first = 0; first < c->copies * c->parts; first += COARSE_WORDS) {
        for (unsigned i = 0; i < c->n; i++) {
            struct step *s = &c->steps[i];
            for (unsigned t = 0; s->split && t < COARSE_WORDS; t++) {
                s->word[t] = make_word(c, s->of, first + t);
            }
        }
    }
}
