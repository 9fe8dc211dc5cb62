/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Decides whether a kernel can be coarsened (coarse.c). The instructions of its optimized plain entry are read one by
 * one. Each must be one that can run for several work-items one after the other or interleaved: no atomics, no local
 * memory, no private variables, no ids but the global one, no loops, and only conditions under which a work-item does
 * nothing.
 */
#include "coarse.h"

#include "tern/tern_spec.h"

#include <stdio.h>
#include <string.h>

struct step *coarse_find(struct coarse *c, LLVMValueRef v)
{
    for (unsigned i = c->n; i-- > 0;) {
        if (c->steps[i].of == v) {
            return &c->steps[i];
        }
    }
    return NULL;
}

unsigned cc1_csr(LLVMValueRef call)
{
    unsigned number = 0;
    size_t length;
    char text[32] = "";
    LLVMValueRef f = LLVMGetCalledValue(call);
    if (LLVMIsAInlineAsm(f) && !LLVMGetInlineAsmHasSideEffects(f)) {
        const char *s = LLVMGetInlineAsmAsmString(f, &length);
        snprintf(text, sizeof text, "%.*s", (int)length, s);
        if (sscanf(text, "csrr $0, 0x%x", &number) != 1 && sscanf(text, "csrr $0, %u", &number) != 1) {
            number = 0;
        }
    }
    return number;
}

LLVMValueRef cc1_read_csr(const struct cc1 *cc, LLVMBuilderRef b, unsigned number)
{
    char text[32];
    const int n = snprintf(text, sizeof text, "csrr $0, 0x%x", number);
    LLVMTypeRef type = LLVMFunctionType(LLVMInt32TypeInContext(cc->context), NULL, 0, 0);
    LLVMValueRef code = LLVMGetInlineAsm(type, text, (size_t)n, "=r", 2, 0, 0, LLVMInlineAsmDialectATT, 0);
    return LLVMBuildCall2(b, type, code, NULL, 0, "");
}

LLVMValueRef cc1_build_instruction(const struct cc1 *cc, LLVMBuilderRef b, const char *code)
{
    static const char clobber[] = "~{memory}";
    LLVMTypeRef none = LLVMFunctionType(LLVMVoidTypeInContext(cc->context), NULL, 0, 0);
    LLVMValueRef f = LLVMGetInlineAsm(none, code, strlen(code), clobber, sizeof clobber - 1, 1, 0,
                                      LLVMInlineAsmDialectATT, 0);
    return LLVMBuildCall2(b, none, f, NULL, 0, "");
}

LLVMValueRef cc1_u32(const struct cc1 *cc, uint32_t value)
{
    return LLVMConstInt(LLVMInt32TypeInContext(cc->context), value, 0);
}

int coarse_is_exit(LLVMValueRef i)
{
    size_t length;
    LLVMValueRef f = LLVMIsACallInst(i) ? LLVMGetCalledValue(i) : NULL;
    return f && LLVMIsAInlineAsm(f) && LLVMGetInlineAsmHasSideEffects(f) &&
        strstr(LLVMGetInlineAsmAsmString(f, &length), CC1_EXIT) != NULL;
}

/** True: the code generator makes a call of the run-time library of it, as of arithmetic of doubles and halves, and of
 *  division of more than 32 bits. */
static int is_library(LLVMValueRef i)
{
    LLVMTypeRef types[2] = {LLVMTypeOf(i), LLVMGetNumOperands(i) ? LLVMTypeOf(LLVMGetOperand(i, 0)) : LLVMTypeOf(i)};
    int wide = 0, other = 0;
    for (int t = 0; t < 2; t++) {
        LLVMTypeRef s = LLVMGetTypeKind(types[t]) == LLVMVectorTypeKind ? LLVMGetElementType(types[t]) : types[t];
        wide = wide || (LLVMGetTypeKind(s) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(s) > 32);
        other = other || LLVMGetTypeKind(s) == LLVMDoubleTypeKind || LLVMGetTypeKind(s) == LLVMHalfTypeKind;
    }
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMFRem: return 1;
    case LLVMUDiv: case LLVMSDiv: case LLVMURem: case LLVMSRem: return wide;
    case LLVMLoad: case LLVMStore: case LLVMSelect: case LLVMBitCast: case LLVMGetElementPtr: case LLVMInsertElement:
    case LLVMExtractElement: case LLVMShuffleVector: case LLVMFreeze: return 0;
    case LLVMFPToUI: case LLVMFPToSI: case LLVMUIToFP: case LLVMSIToFP: return wide || other;
    default: return other;
    }
}

static int is_local_pointer(LLVMValueRef v)
{
    return LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMPointerTypeKind &&
        LLVMGetPointerAddressSpace(LLVMTypeOf(v)) == CC1_LOCAL_SPACE;
}

int coarse_uses_local(LLVMValueRef i)
{
    int local = is_local_pointer(i);
    for (int k = 0; k < LLVMGetNumOperands(i); k++) {
        local |= is_local_pointer(LLVMGetOperand(i, (unsigned)k));
    }
    return local;
}

int coarse_is_barrier(LLVMValueRef i)
{
    size_t length;
    LLVMValueRef f = LLVMIsACallInst(i) ? LLVMGetCalledValue(i) : NULL;
    return f && LLVMIsAInlineAsm(f) && strstr(LLVMGetInlineAsmAsmString(f, &length), CC1_BARRIER) != NULL;
}

int coarse_is_pure_call(LLVMValueRef i)
{
    LLVMValueRef f = LLVMGetCalledValue(i);
    LLVMAttributeRef memory;
    if (!LLVMIsAFunction(f) || !LLVMGetIntrinsicID(f)) {
        return 0;
    }
    memory = LLVMGetEnumAttributeAtIndex(f, CC1_FUNCTION, LLVMGetEnumAttributeKindForName("memory", 6));
    return memory && LLVMGetEnumAttributeValue(memory) == 0;
}

LLVMValueRef coarse_incoming(LLVMValueRef phi, LLVMBasicBlockRef from)
{
    unsigned i = 0;
    while (LLVMGetIncomingBlock(phi, i) != from) {
        i++;
    }
    return LLVMGetIncomingValue(phi, i);
}

/** True: the instruction may be executed even if the program would not. */
static int is_speculative(LLVMValueRef i)
{
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMAdd: case LLVMSub: case LLVMMul: case LLVMShl: case LLVMLShr: case LLVMAShr: case LLVMAnd: case LLVMOr:
    case LLVMXor: case LLVMFAdd: case LLVMFSub: case LLVMFMul: case LLVMFNeg: case LLVMICmp: case LLVMFCmp:
    case LLVMSelect: case LLVMGetElementPtr: case LLVMTrunc: case LLVMZExt: case LLVMSExt: case LLVMBitCast:
    case LLVMFPToSI: case LLVMFPToUI: case LLVMSIToFP: case LLVMUIToFP: case LLVMFreeze:
        return 1;
    case LLVMCall: return coarse_is_pure_call(i) || cc1_csr(i);
    default: return 0;
    }
}

int coarse_is_speculative(LLVMBasicBlockRef block)
{
    LLVMValueRef i = LLVMGetFirstInstruction(block), end = LLVMGetBasicBlockTerminator(block);
    while (i != end && is_speculative(i)) {
        i = LLVMGetNextInstruction(i);
    }
    return i == end && LLVMGetNumSuccessors(end) == 1;
}

int coarse_joins_only(LLVMBasicBlockRef block)
{
    LLVMValueRef i = LLVMGetFirstInstruction(block), end = LLVMGetBasicBlockTerminator(block);
    while (LLVMIsAPHINode(i)) {
        i = LLVMGetNextInstruction(i);
    }
    return i == end && LLVMGetNumSuccessors(end) == 1;
}

void coarse_move_before(LLVMBuilderRef b, LLVMBasicBlockRef block, LLVMValueRef before)
{
    LLVMPositionBuilderBefore(b, before);
    LLVMValueRef i = block ? LLVMGetFirstInstruction(block) : NULL;
    for (LLVMValueRef next; i && !LLVMIsATerminatorInst(i); i = next) {
        next = LLVMGetNextInstruction(i);
        LLVMInstructionRemoveFromParent(i);
        LLVMInsertIntoBuilder(b, i);
    }
}

int coarse_is_hint(LLVMValueRef i)
{
    static const char *const names[] = {"llvm.assume", "llvm.experimental.noalias.scope.decl"};
    LLVMValueRef f = LLVMIsACallInst(i) ? LLVMGetCalledValue(i) : NULL;
    size_t length;
    for (size_t n = 0; f && LLVMIsAFunction(f) && n < sizeof names / sizeof *names; n++) {
        if (!strcmp(LLVMGetValueName2(f, &length), names[n])) {
            return 1;
        }
    }
    return 0;
}

int coarse_is_argument(LLVMValueRef entry, LLVMValueRef v)
{
    if (LLVMIsAGetElementPtrInst(v)) {
        for (int i = 1; i < LLVMGetNumOperands(v); i++) {
            if (!LLVMIsAConstantInt(LLVMGetOperand(v, (unsigned)i))) {
                return 0;
            }
        }
        v = LLVMGetOperand(v, 0);
    }
    return v == LLVMGetParam(entry, 0);
}

/** Why the instruction is ordered; NULL: it is not. */
static const char *order(LLVMValueRef i)
{
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMAtomicRMW: case LLVMAtomicCmpXchg: return "it has an atomic operation";
    case LLVMFence: return "it has a barrier or a fence";
    case LLVMVAArg: return "it has a variable number of arguments";
    case LLVMLoad: case LLVMStore:
        return LLVMGetOrdering(i) != LLVMAtomicOrderingNotAtomic ? "it has an atomic operation"
               : LLVMGetVolatile(i)                              ? "it accesses volatile memory"
                                                                 : NULL;
    default: return NULL;
    }
}

int coarse_is_ordered(LLVMValueRef i)
{
    return order(i) != NULL;
}

int coarse_is_opaque_call(LLVMValueRef i)
{
    return LLVMIsACallInst(i) && !coarse_is_pure_call(i) && !cc1_csr(i);
}

const char *coarse_obstacle(LLVMValueRef i)
{
    return coarse_is_ordered(i) ? order(i) : coarse_uses_local(i) ? "it uses local memory" : NULL;
}

/** Sets the kind of a step that reads a CSR. 0: the coarse entry cannot provide its value. */
static int classify_csr(struct step *s, unsigned number)
{
    switch (number) {
    case TERN_CSR_GLOBAL_ID_X: s->kind = ITEM; return 1;
    case TERN_CSR_GLOBAL_SIZE_X: s->kind = SIZE; return 1;
    case TERN_CSR_GLOBAL_ID_Y: case TERN_CSR_GLOBAL_ID_Z: case TERN_CSR_GLOBAL_SIZE_Y: case TERN_CSR_GLOBAL_SIZE_Z:
    case TERN_CSR_OFFSET_X: case TERN_CSR_OFFSET_Y: case TERN_CSR_OFFSET_Z: case TERN_CSR_WORK_DIM:
        s->kind = ENTRY;
        return 1;
    default: return 0;
    }
}

/** Sets the growth of a new step (by how much its value grows from one id in x to the next) from its operands'. */
static void find_growth(struct coarse *c, struct step *s)
{
    LLVMValueRef v = s->of;
    LLVMTypeKind type = LLVMGetTypeKind(LLVMTypeOf(v));
    LLVMOpcode op = LLVMGetInstructionOpcode(v);
    uint32_t a = 0, b = 0;
    if (s->kind != EACH) {
        s->grows = 1;
        s->by = s->kind == ITEM ? 1 : 0;
        return;
    }
    const int adds = op == LLVMAdd || (op == LLVMOr && LLVMGetIsDisjoint(v));
    const int known = op == LLVMGetElementPtr || adds || op == LLVMSub || op == LLVMShl || op == LLVMMul;
    if (!known || LLVMGetNumOperands(v) != 2 ||
        (type != LLVMPointerTypeKind && (type != LLVMIntegerTypeKind || LLVMGetIntTypeWidth(LLVMTypeOf(v)) != 32)) ||
        !coarse_grows(c, LLVMGetOperand(v, 0), &a) || !coarse_grows(c, LLVMGetOperand(v, 1), &b)) {
        return;
    }
    LLVMValueRef second = LLVMGetOperand(v, 1);
    if (op == LLVMGetElementPtr) {
        s->grows = LLVMGetIntTypeWidth(LLVMTypeOf(second)) == 32;
        s->by = a + b * (uint32_t)LLVMABISizeOfType(c->cc->layout, LLVMGetGEPSourceElementType(v));
    } else if (adds || op == LLVMSub) {
        s->grows = 1;
        s->by = adds ? a + b : a - b;
    } else if (LLVMIsAConstantInt(second)) {
        const uint32_t factor = (uint32_t)LLVMConstIntGetZExtValue(second);
        s->grows = 1;
        s->by = op == LLVMMul ? a * factor : a << (factor & 31);
    }
}

int coarse_grows(struct coarse *c, LLVMValueRef v, uint32_t *by)
{
    const struct step *s = coarse_find(c, v);
    *by = s && s->grows ? s->by : 0;
    return !s || s->grows;
}

/** Why an instruction other than a call cannot be a step; NULL: it can. */
static const char *obstacle(LLVMValueRef i)
{
    return coarse_obstacle(i)                              ? coarse_obstacle(i)
           : is_library(i)                                 ? "it calls the run-time library for a double or long"
           : LLVMGetInstructionOpcode(i) == LLVMAlloca     ? "it has a private array"
           : LLVMGetInstructionOpcode(i) == LLVMPHI        ? "it has a loop, or a branch other than out of the kernel"
                                                           : NULL;
}

/** Adds an instruction that is no terminator. 0: the kernel cannot be coarsened. */
static int add_step(struct coarse *c, LLVMValueRef i)
{
    struct step s = {.of = i, .kind = ONCE};
    int waits = 0; /* the step needs a value that is made in each round, so it cannot run before the rounds */
    if (c->n == COARSE_STEPS) {
        return cc1_refuse(&c->why, i, "it has more than %u instructions", COARSE_STEPS);
    }
    if (obstacle(i)) {
        return cc1_refuse(&c->why, i, "%s", obstacle(i));
    }
    for (int k = 0; k < LLVMGetNumOperands(i); k++) {
        LLVMValueRef v = LLVMGetOperand(i, (unsigned)k);
        struct step *from = coarse_find(c, v);
        if (LLVMIsAInstruction(v) && !from) {
            return cc1_refuse(&c->why, i, "it has a loop");
        }
        if (from) {
            s.kind = from->kind == EACH || from->kind == ITEM ? EACH : s.kind;
            s.loaded |= from->loaded;
            waits |= from->kind == ONCE;
            from->used = c->n;
        }
    }
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMLoad:
        /* a place that all work-items read has one value: writing it would be a data race */
        s.loaded = !coarse_is_argument(c->plain, LLVMGetOperand(i, 0));
        s.kind = s.loaded ? s.kind : ENTRY;
        break;
    case LLVMStore:
        s.kind = EACH;
        c->stores++;
        break;
    case LLVMGetElementPtr:
        s.kind = coarse_is_argument(c->plain, i) ? ENTRY : s.kind;
        break;
    case LLVMCall:
        if (!coarse_is_pure_call(i) && !classify_csr(&s, cc1_csr(i))) {
            const char *why = cc1_call_obstacle(i);
            return why ? cc1_refuse(&c->why, i, "%s", why)
                       : cc1_refuse(&c->why, i, "it calls the function %s", cc1_function_name(LLVMGetCalledValue(i)));
        }
        break;
    default:
        break;
    }
    const LLVMOpcode op = LLVMGetInstructionOpcode(i);
    const int divides = op == LLVMUDiv || op == LLVMSDiv || op == LLVMURem || op == LLVMSRem;
    if (s.kind == ONCE && !s.loaded && !divides && !waits) {
        s.kind = ENTRY; /* runs before the rounds, whether its value is needed or not */
    }
    find_growth(c, &s);
    c->steps[c->n++] = s;
    return 1;
}

LLVMValueRef coarse_parts(LLVMValueRef condition, int passes_if, LLVMValueRef *second)
{
    *second = NULL;
    if (LLVMIsASelectInst(condition)) { /* a && b is select a, b, false; a || b is select a, true, b */
        LLVMValueRef other = LLVMGetOperand(condition, passes_if ? 2 : 1);
        if (LLVMIsAConstantInt(other) && (LLVMConstIntGetZExtValue(other) != 0) != passes_if) {
            *second = LLVMGetOperand(condition, passes_if ? 1 : 2);
        }
    } else if (LLVMIsAInstruction(condition) && LLVMGetInstructionOpcode(condition) == (passes_if ? LLVMAnd : LLVMOr)) {
        *second = LLVMGetOperand(condition, 1);
    }
    return *second ? LLVMGetOperand(condition, 0) : condition;
}

/** True: neighbouring work-items mostly pass together. That holds if ids are compared, not if some are selected (i %
 *  2 == 0). */
static int is_likely(struct coarse *c, LLVMValueRef condition, int passes_if)
{
    LLVMValueRef second, part = coarse_parts(condition, passes_if, &second);
    struct step *s = coarse_find(c, part);
    uint32_t by;
    if (second) {
        return is_likely(c, part, passes_if) && is_likely(c, second, passes_if);
    }
    if (!s || s->kind != EACH) {
        return 1;
    }
    if (!LLVMIsAICmpInst(part)) {
        return 0;
    }
    LLVMIntPredicate p = LLVMGetICmpPredicate(part);
    if (p != LLVMIntEQ && p != LLVMIntNE) {
        return 1;
    }
    return (p == LLVMIntNE) == (passes_if != 0) && coarse_grows(c, LLVMGetOperand(part, 0), &by) &&
        coarse_grows(c, LLVMGetOperand(part, 1), &by);
}

/** Why a branch is no condition after which a work-item does nothing, or none that neighbouring ones mostly pass
 *  together. NULL: it is one, with the successor `away`. */
static const char *no_guard(struct coarse *c, LLVMValueRef branch, int away)
{
    LLVMValueRef condition = LLVMGetCondition(branch);
    struct step *from = coarse_find(c, condition);
    LLVMBasicBlockRef to = LLVMGetSuccessor(branch, (unsigned)away);
    return !coarse_is_exit(LLVMGetFirstInstruction(to)) || (c->leave && c->leave != to)
               ? "it has a loop, or a branch other than out of the kernel"
           : c->stores                             ? "it has a branch after a store"
           : !from || from->loaded                 ? "a branch depends on memory"
           : c->n == COARSE_STEPS                  ? "it is too long"
           : !is_likely(c, condition, away == 1)   ? "a branch separates neighbouring work-items"
                                                   : NULL;
}

/** Adds a condition after which a work-item does nothing. Returns the next block. NULL: the condition follows a
 *  store, depends on memory or selects ids, so neighbouring work-items go different ways. */
static LLVMBasicBlockRef add_guard(struct coarse *c, LLVMValueRef branch)
{
    LLVMValueRef condition = LLVMGetCondition(branch);
    struct step *from = coarse_find(c, condition);
    LLVMBasicBlockRef to[2] = {LLVMGetSuccessor(branch, 0), LLVMGetSuccessor(branch, 1)};
    int away = coarse_is_exit(LLVMGetFirstInstruction(to[0])) ? 0 : 1;
    if (no_guard(c, branch, away)) {
        cc1_refuse(&c->why, branch, "%s", no_guard(c, branch, away));
        return NULL;
    }
    c->leave = to[away];
    from->used = c->n;
    c->steps[c->n++] = (struct step){.of = branch, .kind = GUARD, .passes_if = away == 1};
    c->behind_guards = c->n;
    return to[!away];
}

int coarse_read(struct coarse *c)
{
    LLVMBasicBlockRef block = LLVMGetEntryBasicBlock(c->plain);
    unsigned blocks = 0;
    /* the bound ends at an infinite loop of unconditional branches */
    while (block && blocks++ < LLVMCountBasicBlocks(c->plain)) {
        LLVMValueRef i = LLVMGetFirstInstruction(block);
        for (; i && !LLVMIsATerminatorInst(i) && !coarse_is_exit(i); i = LLVMGetNextInstruction(i)) {
            if (!coarse_is_hint(i) && !add_step(c, i)) {
                return 0;
            }
        }
        if (coarse_is_exit(i)) {
            c->exit = i;
            const int whole = LLVMIsAReturnInst(LLVMGetNextInstruction(i)) != NULL &&
                blocks + (c->leave && c->leave != block) == LLVMCountBasicBlocks(c->plain);
            return whole || cc1_refuse(&c->why, i, "it has several ends");
        }
        if (!LLVMIsABranchInst(i)) {
            return cc1_refuse(&c->why, i, "it has a switch, or does not end");
        }
        block = LLVMIsConditional(i) ? add_guard(c, i) : LLVMGetSuccessor(i, 0);
    }
    return cc1_refuse(&c->why, NULL, "it does not end");
}
