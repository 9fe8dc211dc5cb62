/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Teams of sub-groups (device/subgroup.h): computes for each call of a function of sub-groups which work-items of the
 * sub-group execute it together.
 *
 * The team at the begin of a kernel is the whole sub-group. A branch that work-items may take differently divides the
 * team of its place: each work-item asks the others (__tern_split) and goes on with those that go its way. Where ways
 * meet again, the team is what it was before they parted. If members have left on the way, by break, return or the
 * like, the others have to wait until each member has come or left (__tern_gather); a member that leaves says so, and
 * does not wait (__tern_leave). In a loop the team is divided in each round. Only branches are treated so that matter
 * to a call of such a function (subgroup_read.c).
 *
 * A level is the number of divisions that a team comes from. Teams of one level have no member in common. Therefore
 * all members meet before a loop that has a level of its own, because some may still be in a branch before it.
 *
 * The alternative, the lanes that the hardware runs together, was dropped. The hardware lets lanes that have left a
 * loop run ahead of those in the loop, so that teams would depend on its choices.
 */
#include "subgroup.h"

#include <stdlib.h>
#include <string.h>

/* In the assembly of device/subgroup.c and subgroup.h */
#define LANES "__tern_lanes"
#define MEMORY "__tern_sub_"
/* Functions of device/votes.cl */
#define SPLIT "__tern_split"
#define MEET "__tern_meet"
#define GATHER "__tern_gather"
#define LEAVE "__tern_leave"
/* Before the analysis: calls are inlined, branches have two ways, a loop has one block before it and one way back, and
 * no edge leads from a block with several ways to a block with several predecessors. */
#define PREPARE "always-inline,globaldce,function(lower-switch,sroa,early-cse,loop-simplify,break-crit-edges)"
#define UNITS 5u /* words of a lane before those of teams, as in device/subgroup.h */

/** True: a call of a function of sub-groups that is not linked yet. */
static int is_foreign(LLVMValueRef i)
{
    size_t length;
    LLVMValueRef f = LLVMIsACallInst(i) ? LLVMGetCalledValue(i) : NULL;
    return f && LLVMIsAFunction(f) && LLVMIsDeclaration(f) && strstr(LLVMGetValueName2(f, &length), "sub_group_");
}

int cc1_sees_lanes(LLVMValueRef i)
{
    size_t length;
    LLVMValueRef f = LLVMIsACallInst(i) ? LLVMGetCalledValue(i) : NULL;
    const char *code = f && LLVMIsAInlineAsm(f) ? LLVMGetInlineAsmAsmString(f, &length) : "";
    return strstr(code, LANES) || strstr(code, MEMORY);
}

static LLVMTypeRef type_u32(const struct cc1 *cc)
{
    return LLVMInt32TypeInContext(cc->context);
}

void cc1_sub_begin(struct cc1 *cc)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(cc->context);
    LLVMTypeRef word = type_u32(cc), type = LLVMFunctionType(word, &word, 1, 0);
    LLVMValueRef f = NULL, zero = cc1_u32(cc, 0);
    for (size_t k = 0; k < cc->n_kernels; k++) {
        if (!cc1_reaches(cc->kernels[k].entry, is_foreign)) {
            continue;
        }
        f = f ? f : LLVMAddFunction(cc->module, SUB_BEGIN, type);
        LLVMPositionBuilderBefore(b, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(cc->kernels[k].entry)));
        LLVMBuildCall2(b, type, f, &zero, 1, "");
        cc->kernels[k].sub_groups = 1;
    }
    LLVMDisposeBuilder(b);
}

static LLVMValueRef load(const struct sub_entry *e, LLVMValueRef variable)
{
    return LLVMBuildLoad2(e->b, type_u32(e->cc), variable, "");
}

/** Builds a call of a function of votes.cl with n words. */
static LLVMValueRef call(const struct sub_entry *e, const char *name, LLVMValueRef *arguments, unsigned n)
{
    LLVMValueRef f = LLVMGetNamedFunction(e->cc->module, name);
    return LLVMBuildCall2(e->b, LLVMGlobalGetValueType(f), f, arguments, n, "");
}

/** Number of the first of the two units of memory of a block where a team gathers. */
static LLVMValueRef unit_of(const struct sub_entry *e, const struct sub_block *x)
{
    return cc1_u32(e->cc, UNITS + e->levels + x->unit);
}

static void position_at_begin(const struct sub_entry *e, const struct sub_block *x)
{
    LLVMValueRef i = LLVMGetFirstInstruction(x->block);
    while (LLVMIsAPHINode(i)) {
        i = LLVMGetNextInstruction(i);
    }
    LLVMPositionBuilderBefore(e->b, i);
}

/** Builds the team at the begin of a block. */
static void begin_block(const struct sub_entry *e, const struct sub_block *x)
{
    if (x->kind == SUB_SAME) {
        return;
    }
    position_at_begin(e, x);
    LLVMValueRef team = load(e, e->block[x->base].saved);
    if (x->kind == SUB_GATHER) {
        LLVMValueRef arguments[3] = {team, unit_of(e, x), cc1_u32(e->cc, x->level)};
        team = call(e, GATHER, arguments, 3);
    }
    LLVMBuildStore(e->b, team, e->team);
}

/** Builds what happens to the team at the end of a block. */
static void end_block(const struct sub_entry *e, unsigned k)
{
    const struct sub_block *x = &e->block[k];
    LLVMValueRef end = LLVMGetBasicBlockTerminator(x->block);
    LLVMPositionBuilderBefore(e->b, end);
    if (sub_has(e->bases, k)) {
        LLVMBuildStore(e->b, load(e, e->team), x->saved);
    }
    if (sub_has(e->meets, k)) {
        LLVMValueRef arguments[2] = {load(e, e->team), cc1_u32(e->cc, x->level)};
        call(e, MEET, arguments, 2);
    }
    if (sub_has(e->divides, k)) {
        LLVMValueRef arguments[3] = {load(e, e->team), cc1_u32(e->cc, x->level),
                                     LLVMBuildZExt(e->b, LLVMGetCondition(end), type_u32(e->cc), "")};
        LLVMBuildStore(e->b, call(e, SPLIT, arguments, 3), e->team);
    }
}

/** Builds that work-items leave, on the ways from which block x is not reached any more. */
static void leave(const struct sub_entry *e, const struct sub_block *x, unsigned number)
{
    for (unsigned k = 0; x->kind == SUB_GATHER && k < e->n; k++) {
        const struct sub_block *from = &e->block[k];
        for (unsigned i = 0; sub_has(x->leaves, k) && i < from->ways; i++) {
            const unsigned to = from->way[i];
            if (to == number || (to != x->base && sub_has(x->reaches, to))) {
                continue;
            }
            if (from->ways == 1) {
                LLVMPositionBuilderBefore(e->b, LLVMGetBasicBlockTerminator(from->block));
            } else { /* the block has no other predecessor; it may wait for others only afterwards */
                position_at_begin(e, &e->block[to]);
            }
            LLVMValueRef arguments[2] = {load(e, e->block[x->base].saved), unit_of(e, x)};
            call(e, LEAVE, arguments, 2);
        }
    }
}

/** Replaces the calls in a block that ask for the team or its level. */
static void answer(const struct sub_entry *e, const struct sub_block *x)
{
    for (LLVMValueRef i = LLVMGetFirstInstruction(x->block), next; i; i = next) {
        next = LLVMGetNextInstruction(i);
        if (sub_is_mark(i)) {
            LLVMPositionBuilderBefore(e->b, i);
            LLVMReplaceAllUsesWith(i, sub_is_call_of(i, SUB_ACTIVE) ? load(e, e->team) : cc1_u32(e->cc, x->level));
            LLVMInstructionEraseFromParent(i);
        }
    }
}

/** Makes the variables, and the begin of the entry. Returns the units of memory of the kernel's teams. */
static unsigned begin_entry(struct sub_entry *e)
{
    const unsigned units = e->levels + 2 * e->gathers;
    LLVMValueRef first = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(e->kernel->entry));
    while (!sub_is_call_of(first, SUB_BEGIN)) {
        first = LLVMGetNextInstruction(first);
    }
    LLVMPositionBuilderBefore(e->b, first);
    e->team = LLVMBuildAlloca(e->b, type_u32(e->cc), "");
    for (unsigned k = 0; k < e->n; k++) {
        if (sub_has(e->bases, k)) {
            e->block[k].saved = LLVMBuildAlloca(e->b, type_u32(e->cc), "");
        }
    }
    LLVMSetOperand(first, 0, cc1_u32(e->cc, units));
    LLVMPositionBuilderBefore(e->b, LLVMGetNextInstruction(first));
    LLVMBuildStore(e->b, first, e->team);
    return units;
}

/** Computes the teams of a kernel. Returns the units of memory that they need. */
static unsigned make_teams(struct cc1 *cc, struct cc1_kernel *k)
{
    struct sub_entry e = {.cc = cc, .kernel = k, .b = LLVMCreateBuilderInContext(cc->context)};
    sub_read(&e);
    const unsigned units = begin_entry(&e);
    for (unsigned b = 0; b < e.n; b++) {
        answer(&e, &e.block[b]);
        begin_block(&e, &e.block[b]);
    }
    for (unsigned b = 0; b < e.n; b++) {
        end_block(&e, b);
    }
    for (unsigned b = 0; b < e.n; b++) {
        leave(&e, &e.block[b], b);
    }
    LLVMDisposeBuilder(e.b);
    return units;
}

void cc1_sub_teams(struct cc1 *cc)
{
    static const char text[] = "alwaysinline";
    LLVMAttributeRef always = LLVMCreateEnumAttribute(
        cc->context, LLVMGetEnumAttributeKindForName(text, sizeof text - 1), 0);
    LLVMValueRef first = LLVMGetNamedFunction(cc->module, SUB_BEGIN);
    unsigned units = 0;
    if (!first) {
        return;
    }
    for (LLVMValueRef f = LLVMGetFirstFunction(cc->module); f; f = LLVMGetNextFunction(f)) {
        if (!LLVMIsDeclaration(f) && LLVMGetLinkage(f) == LLVMInternalLinkage && cc1_reaches(f, sub_is_mark)) {
            LLVMAddAttributeAtIndex(f, CC1_FUNCTION, always);
        }
    }
    cc1_module_optimize(cc, PREPARE);
    for (size_t k = 0; k < cc->n_kernels; k++) {
        const unsigned of_kernel = cc->kernels[k].sub_groups ? make_teams(cc, &cc->kernels[k]) : 0;
        units = of_kernel > units ? of_kernel : units;
    }
    cc->sub_bytes = (UNITS + units) * 4;
    LLVMAddAttributeAtIndex(first, CC1_FUNCTION, always);
    for (size_t i = 0; i < 2; i++) {
        LLVMValueRef f = LLVMGetNamedFunction(cc->module, i ? SUB_ACTIVE : SUB_LEVEL);
        if (f && LLVMGetFirstUse(f)) {
            cc1_die(CC1_BAD_INPUT, "a function that calls itself calls a function of sub-groups");
        }
    }
}
