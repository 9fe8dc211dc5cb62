/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Arithmetic of half as arithmetic of float and a few integer instructions, without a branch or a call, for scalars and
 * vectors. The code generator alone calls the run-time library for each operand and each result.
 *
 * A value of type half has up to two forms: a `word`, its 16 bits, and a `wide`, a float of the same value. Memory,
 * arguments and calls have words. An operation takes wides, and rounds its float result to a wide that is a half; a
 * chain of operations therefore converts only its inputs and its last result. Sum, difference, product, quotient and
 * square root of float, rounded again, are those of half, because float has more than twice half's digits.
 * fma needs more (half_fused). fmuladd is a product and a sum, each rounded, so that contraction does not change
 * results.
 *
 * Values that are only moved (phi, select, vectors made of elements) keep the form of what they are made of.
 * Instructions that this file does not know keep the type half, and the code generator lowers them.
 */
#include "half.h"

#include <stdlib.h>
#include <string.h>

/* After the lowering: loads and stores of words, and what became equal or unused. */
#define PASSES "function(instcombine<no-verify-fixpoint>,early-cse<memssa>,instcombine<no-verify-fixpoint>,adce)"

/** The forms of a value of type half, or of a vector of them. */
struct forms {
    LLVMValueRef of;
    LLVMValueRef word, wide; /**< The forms; NULL: not made. */
    /** With `from`: the magnitude of the wide, which has the sign of `from`. NULL: `wide` is made otherwise. */
    LLVMValueRef rounded, from;
    int is_wide; /**< The value is made as a wide. */
    int made;    /**< The value's own form is made, or a phi of it without operands. */
    int known;   /**< This file lowers the instruction, which is removed at the end. */
};

static int by_address(const void *x, const void *y)
{
    const LLVMValueRef a = ((const struct forms *)x)->of, b = ((const struct forms *)y)->of;
    return a < b ? -1 : a > b;
}

/** NULL: v is a constant. */
static struct forms *find(const struct half *h, LLVMValueRef v)
{
    const struct forms key = {.of = v};
    return h->n ? bsearch(&key, h->values, h->n, sizeof key, by_address) : NULL;
}

/** The intrinsic functions that are lowered. */
enum kind { OTHER, EXACT, ROUNDED, SUM, FUSED, MAGNITUDE, SIGN };

/** Kind of an intrinsic function, from its name "llvm.KIND.f16". *length: of the name without the type. */
static enum kind kind_of(LLVMValueRef i, size_t *length)
{
    static const struct {
        const char *name;
        enum kind kind;
    } kinds[] = {
        {"llvm.fabs", MAGNITUDE}, {"llvm.copysign", SIGN},  {"llvm.sqrt", ROUNDED},     {"llvm.fma", FUSED},
        {"llvm.fmuladd", SUM},    {"llvm.floor", EXACT},    {"llvm.ceil", EXACT},       {"llvm.trunc", EXACT},
        {"llvm.rint", EXACT},     {"llvm.round", EXACT},    {"llvm.nearbyint", EXACT},  {"llvm.roundeven", EXACT},
        {"llvm.minnum", EXACT},   {"llvm.maxnum", EXACT},   {"llvm.minimum", EXACT},    {"llvm.maximum", EXACT},
    };
    LLVMValueRef f = LLVMIsACallInst(i) ? LLVMGetCalledValue(i) : NULL;
    if (!f || !LLVMIsAFunction(f) || !LLVMGetIntrinsicID(f)) {
        return OTHER;
    }
    const char *name = LLVMGetValueName2(f, length), *type = strchr(name + strlen("llvm."), '.');
    *length = type ? (size_t)(type - name) : *length;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        if (strlen(kinds[k].name) == *length && !strncmp(name, kinds[k].name, *length)) {
            return kinds[k].kind;
        }
    }
    return OTHER;
}

/** True: the instruction moves its operands of type half, or changes their sign only. */
static int is_move(LLVMValueRef i)
{
    size_t length;
    const enum kind kind = kind_of(i, &length);
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMPHI: case LLVMSelect: case LLVMFreeze: case LLVMExtractElement: case LLVMInsertElement:
    case LLVMShuffleVector: case LLVMFNeg: return 1;
    default: return kind == MAGNITUDE || kind == SIGN;
    }
}

/** True: the instruction computes a wide. */
static int is_computed(LLVMValueRef i)
{
    size_t length;
    const enum kind kind = kind_of(i, &length);
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMFAdd: case LLVMFSub: case LLVMFMul: case LLVMFDiv: case LLVMFRem: case LLVMUIToFP: case LLVMSIToFP:
        return 1;
    case LLVMFPTrunc: {
        LLVMTypeRef from = LLVMTypeOf(LLVMGetOperand(i, 0));
        return LLVMGetTypeKind(LLVMGetTypeKind(from) == LLVMVectorTypeKind ? LLVMGetElementType(from) : from) ==
            LLVMFloatTypeKind;
    }
    default: return kind == EXACT || kind == ROUNDED || kind == SUM || kind == FUSED;
    }
}

/** Positions the builder where a form of a value can be made of another one: before the instruction of type half, which
 *  follows what replaces it, or behind the word of one that stays. */
static void place(const struct half *h, const struct forms *v)
{
    LLVMValueRef at = v->of;
    if (!v->known && v->word) {
        at = LLVMGetNextInstruction(v->word);
    } else if (LLVMIsAArgument(v->of)) {
        at = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(LLVMGetParamParent(v->of)));
    } else if (LLVMIsAPHINode(v->of)) {
        at = LLVMGetFirstInstruction(LLVMGetInstructionParent(v->of));
        while (LLVMIsAPHINode(at)) {
            at = LLVMGetNextInstruction(at);
        }
    } else if (!v->known) {
        at = LLVMGetNextInstruction(v->of);
    }
    LLVMPositionBuilderBefore(h->b, at);
}

/** Where a value's own form is kept. */
static LLVMValueRef *form(struct forms *v)
{
    return v->is_wide ? &v->wide : &v->word;
}

static void make(struct half *h, struct forms *v);

static LLVMValueRef word_of(struct half *h, LLVMValueRef value)
{
    struct forms *v = find(h, value);
    if (!v) {
        return LLVMConstBitCast(value, half_word_type(h, LLVMTypeOf(value)));
    }
    make(h, v);
    if (!v->word) {
        place(h, v);
        v->word = v->rounded ? half_narrow(h, v->rounded, v->from) : half_narrow(h, v->wide, v->wide);
    }
    return v->word;
}

static LLVMValueRef wide_of(struct half *h, LLVMValueRef value)
{
    struct forms *v = find(h, value);
    if (!v) {
        return LLVMBuildFPExt(h->b, value, half_wide_type(h, LLVMTypeOf(value)), ""); /* of a constant, is one */
    }
    make(h, v);
    if (!v->wide) {
        place(h, v);
        v->wide = v->rounded ? half_call_2(h, "llvm.copysign", v->rounded, v->from) : half_widen(h, v->word);
    }
    return v->wide;
}

static LLVMValueRef form_of(struct half *h, LLVMValueRef value, int wide)
{
    return wide ? wide_of(h, value) : word_of(h, value);
}

/** Builds a move, other than a phi, in the form that it has. */
static LLVMValueRef move(struct half *h, const struct forms *v)
{
    LLVMValueRef i = v->of, in[3] = {0};
    LLVMTypeRef t = LLVMTypeOf(i);
    size_t length;
    const LLVMOpcode op = LLVMGetInstructionOpcode(i);
    for (unsigned k = 0; k < 3 && k < (unsigned)LLVMGetNumOperands(i); k++) {
        in[k] = LLVMGetOperand(i, k);
        in[k] = half_is(LLVMTypeOf(in[k])) ? form_of(h, in[k], v->is_wide) : in[k];
    }
    LLVMPositionBuilderBefore(h->b, i);
    switch (op) {
    case LLVMSelect: return LLVMBuildSelect(h->b, in[0], in[1], in[2], "");
    case LLVMFreeze: return LLVMBuildFreeze(h->b, in[0], "");
    case LLVMExtractElement: return LLVMBuildExtractElement(h->b, in[0], in[1], "");
    case LLVMInsertElement: return LLVMBuildInsertElement(h->b, in[0], in[1], in[2], "");
    case LLVMShuffleVector: {
        const unsigned n = LLVMGetNumMaskElements(i);
        LLVMTypeRef word = LLVMInt32TypeInContext(h->cc->context);
        LLVMValueRef *mask = cc1_alloc(n, sizeof *mask);
        for (unsigned k = 0; k < n; k++) {
            const int from = LLVMGetMaskValue(i, k);
            mask[k] = from == LLVMGetUndefMaskElem() ? LLVMGetPoison(word) : cc1_u32(h->cc, (uint32_t)from);
        }
        LLVMValueRef made = LLVMBuildShuffleVector(h->b, in[0], in[1], LLVMConstVector(mask, n), "");
        free(mask);
        return made;
    }
    default: break;
    }
    const enum kind kind = kind_of(i, &length);
    if (v->is_wide) {
        return op == LLVMFNeg       ? LLVMBuildFNeg(h->b, in[0], "")
               : kind == MAGNITUDE ? half_call(h, "llvm.fabs", half_wide_type(h, t), in, 1)
                                   : half_call_2(h, "llvm.copysign", in[0], in[1]);
    }
    LLVMTypeRef word = LLVMInt16TypeInContext(h->cc->context);
    LLVMValueRef sign = half_splat(t, LLVMConstInt(word, 0x8000, 0));
    LLVMValueRef size = half_splat(t, LLVMConstInt(word, 0x7fff, 0));
    if (op == LLVMFNeg) {
        return LLVMBuildXor(h->b, in[0], sign, "");
    }
    LLVMValueRef magnitude = LLVMBuildAnd(h->b, in[0], size, "");
    return kind == MAGNITUDE ? magnitude : LLVMBuildOr(h->b, magnitude, LLVMBuildAnd(h->b, in[1], sign, ""), "");
}

/** Makes the wide of an operation. */
static void compute(struct half *h, struct forms *v)
{
    LLVMValueRef i = v->of, in[3] = {0}, r;
    LLVMTypeRef wide = half_wide_type(h, LLVMTypeOf(i));
    size_t length = 0;
    int exact = 0;
    const LLVMOpcode op = LLVMGetInstructionOpcode(i);
    const enum kind kind = kind_of(i, &length);
    const unsigned n = (unsigned)LLVMGetNumOperands(i) - (LLVMIsACallInst(i) ? 1 : 0);
    for (unsigned k = 0; k < n; k++) {
        in[k] = LLVMGetOperand(i, k);
        in[k] = half_is(LLVMTypeOf(in[k])) ? wide_of(h, in[k]) : in[k];
    }
    LLVMPositionBuilderBefore(h->b, i);
    if (op == LLVMFPTrunc) {
        r = in[0];
    } else if (op == LLVMSIToFP || op == LLVMUIToFP) {
        r = half_from_integer(h, i);
    } else if (op != LLVMCall) {
        r = LLVMBuildBinOp(h->b, op, in[0], in[1], "");
        exact = op == LLVMFRem;
    } else if (kind == FUSED) {
        r = half_fused(h, in[0], in[1], in[2]);
    } else if (kind == SUM) {
        LLVMValueRef product = LLVMBuildFMul(h->b, in[0], in[1], "");
        product = half_call_2(h, "llvm.copysign", half_round(h, product, 0), product);
        r = LLVMBuildFAdd(h->b, product, in[2], "");
    } else {
        char *name = cc1_text("%.*s", (int)length, LLVMGetValueName2(LLVMGetCalledValue(i), &(size_t){0}));
        r = half_call(h, name, wide, in, n);
        free(name);
        exact = kind == EXACT;
    }
    if (exact) {
        v->wide = r;
    } else {
        v->rounded = half_round(h, r, op == LLVMFPTrunc);
        v->from = r;
    }
}

/** Makes the form that a value has by itself. */
static void make(struct half *h, struct forms *v)
{
    if (v->made) {
        return;
    }
    v->made = 1;
    if (!v->known) {
        place(h, v);
        v->word = LLVMBuildBitCast(h->b, v->of, half_word_type(h, LLVMTypeOf(v->of)), "");
    } else if (LLVMGetInstructionOpcode(v->of) == LLVMBitCast) {
        LLVMPositionBuilderBefore(h->b, v->of);
        v->word = LLVMBuildBitCast(h->b, LLVMGetOperand(v->of, 0), half_word_type(h, LLVMTypeOf(v->of)), "");
    } else if (!is_move(v->of)) {
        compute(h, v);
    } else if (LLVMIsAPHINode(v->of)) { /* its operands come last, in fill */
        LLVMTypeRef t = LLVMTypeOf(v->of);
        LLVMPositionBuilderBefore(h->b, v->of);
        *form(v) = LLVMBuildPhi(h->b, v->is_wide ? half_wide_type(h, t) : half_word_type(h, t), "");
    } else {
        *form(v) = move(h, v);
    }
}

/** Gives the phis that were made their operands, which may make more phis. */
static void fill(struct half *h)
{
    for (size_t filled = 1; filled;) {
        filled = 0;
        for (size_t k = 0; k < h->n; k++) {
            struct forms *v = &h->values[k];
            if (!v->made || !LLVMIsAPHINode(v->of) || LLVMCountIncoming(*form(v))) {
                continue;
            }
            for (unsigned i = 0; i < LLVMCountIncoming(v->of); i++) {
                LLVMValueRef in = form_of(h, LLVMGetIncomingValue(v->of, i), v->is_wide);
                LLVMBasicBlockRef from = LLVMGetIncomingBlock(v->of, i);
                LLVMAddIncoming(*form(v), &in, &from, 1);
            }
            filled = 1;
        }
    }
}

/** Finds the values of type half of a function, and which forms they have. */
static void collect(struct half *h, LLVMValueRef f)
{
    size_t room = 0;
    h->n = 0;
    for (unsigned k = 0; k < LLVMCountParams(f); k++) {
        room += half_is(LLVMTypeOf(LLVMGetParam(f, k))) ? 1 : 0;
    }
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
            room += half_is(LLVMTypeOf(i)) ? 1 : 0;
        }
    }
    h->values = cc1_alloc(room, sizeof *h->values);
    for (unsigned k = 0; k < LLVMCountParams(f); k++) {
        if (half_is(LLVMTypeOf(LLVMGetParam(f, k)))) {
            h->values[h->n++].of = LLVMGetParam(f, k);
        }
    }
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
            if (half_is(LLVMTypeOf(i))) {
                const int computed = is_computed(i);
                const int known = computed || is_move(i) || LLVMGetInstructionOpcode(i) == LLVMBitCast;
                h->values[h->n++] = (struct forms){.of = i, .is_wide = computed, .known = known};
            }
        }
    }
    qsort(h->values, h->n, sizeof *h->values, by_address);
    for (int changed = 1; changed;) {
        changed = 0;
        for (size_t k = 0; k < h->n; k++) {
            struct forms *v = &h->values[k];
            for (int o = 0; v->known && !v->is_wide && is_move(v->of) && o < LLVMGetNumOperands(v->of); o++) {
                const struct forms *in = find(h, LLVMGetOperand(v->of, (unsigned)o));
                v->is_wide = in && in->is_wide;
                changed |= v->is_wide;
            }
        }
    }
}

/** The replacement of an instruction with an operand of type half and a result of another type; NULL: none. */
static LLVMValueRef instead(struct half *h, LLVMValueRef i)
{
    LLVMValueRef x = LLVMGetOperand(i, 0);
    LLVMTypeRef t = LLVMTypeOf(i);
    LLVMValueRef wide[2] = {0}, word;
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMFCmp: case LLVMFPExt: case LLVMFPToSI: case LLVMFPToUI:
        wide[0] = wide_of(h, x);
        wide[1] = LLVMIsAFCmpInst(i) ? wide_of(h, LLVMGetOperand(i, 1)) : NULL;
        LLVMPositionBuilderBefore(h->b, i);
        return LLVMIsAFCmpInst(i)   ? LLVMBuildFCmp(h->b, LLVMGetFCmpPredicate(i), wide[0], wide[1], "")
            : LLVMIsAFPExtInst(i)   ? (LLVMTypeOf(wide[0]) == t ? wide[0] : LLVMBuildFPExt(h->b, wide[0], t, ""))
            : LLVMIsAFPToSIInst(i)  ? LLVMBuildFPToSI(h->b, wide[0], t, "")
                                    : LLVMBuildFPToUI(h->b, wide[0], t, "");
    case LLVMBitCast:
        word = word_of(h, x);
        LLVMPositionBuilderBefore(h->b, i);
        return LLVMBuildBitCast(h->b, word, t, "");
    default: return NULL;
    }
}

/** Rewrites an instruction that this file does not remove but whose operands it may. */
static void rewrite(struct half *h, LLVMValueRef i)
{
    const int count = LLVMGetNumOperands(i);
    LLVMValueRef other = count && half_is(LLVMTypeOf(LLVMGetOperand(i, 0))) ? instead(h, i) : NULL;
    if (other == i) { /* a word that was made before the block was reached */
        return;
    }
    if (other) {
        LLVMReplaceAllUsesWith(i, other);
        LLVMInstructionEraseFromParent(i);
        return;
    }
    const int stored = LLVMIsAStoreInst(i) && LLVMGetOrdering(i) == LLVMAtomicOrderingNotAtomic;
    for (int k = 0; k < count; k++) {
        LLVMValueRef x = LLVMGetOperand(i, (unsigned)k);
        const struct forms *v = find(h, x);
        if (v && (v->known || stored)) {
            LLVMValueRef word = word_of(h, x);
            LLVMPositionBuilderBefore(h->b, i);
            LLVMSetOperand(i, (unsigned)k, stored ? word : LLVMBuildBitCast(h->b, word, LLVMTypeOf(x), ""));
        }
    }
}

/** Lowers a function. 0: it has no halves. */
static int lower(struct half *h, LLVMValueRef f)
{
    collect(h, f);
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(block), next; i; i = next) {
            const struct forms *v = find(h, i);
            next = LLVMGetNextInstruction(i);
            if (!v || !v->known) {
                rewrite(h, i);
            }
        }
    }
    fill(h);
    for (size_t k = 0; k < h->n; k++) {
        if (h->values[k].known) {
            LLVMReplaceAllUsesWith(h->values[k].of, LLVMGetPoison(LLVMTypeOf(h->values[k].of)));
        }
    }
    for (size_t k = 0; k < h->n; k++) {
        if (h->values[k].known) {
            LLVMInstructionEraseFromParent(h->values[k].of);
        }
    }
    free(h->values);
    return h->n != 0;
}

void cc1_half(struct cc1 *cc)
{
    struct half h = {.cc = cc, .b = LLVMCreateBuilderInContext(cc->context)};
    int found = 0;
    for (LLVMValueRef f = LLVMGetFirstFunction(cc->module); f; f = LLVMGetNextFunction(f)) {
        found |= !LLVMIsDeclaration(f) && lower(&h, f);
    }
    LLVMDisposeBuilder(h.b);
    if (found) {
        cc1_module_optimize(cc, PASSES);
    }
}
