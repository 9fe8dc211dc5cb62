/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Regions that begin earlier. The copies of instructions outside of regions are interleaved (merge.c), so that their
 * values live at the same time. If a divergent branch is preceded by instructions whose values are for its region
 * alone, these may be copied with the region instead, one work-item after the other, with the registers of one
 * work-item:
 *
 *   a, b of 0 to 3; stores of 0; stores of 1; ...   ->   a, b, stores of 0; a, b, stores of 1; ...
 *
 * Between two barriers this is an order that OpenCL allows. What is the same for all work-items stays where it is.
 *
 * The block before the branch is divided, and its second part, which t->whole has, becomes a part of the region when
 * the entry is read again.
 */
#include "tile.h"

#include "coarse.h"

#include <stdlib.h>

/** Instructions of a block that move into the region behind it. */
struct growth {
    struct tile *t;
    struct tile_region *region;
    unsigned number;
    struct cc1_set moved;
};

/** True: no load moves down over the instruction. */
static int is_fixed(LLVMValueRef i)
{
    return LLVMIsAStoreInst(i) || LLVMIsAPHINode(i) || coarse_is_opaque_call(i) || coarse_is_ordered(i);
}

/** True: the region alone uses the value. */
static int is_for_region(const struct growth *g, LLVMValueRef i)
{
    for (LLVMUseRef u = LLVMGetFirstUse(i); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        LLVMBasicBlockRef block = LLVMGetInstructionParent(user);
        if (tile_find_block(g->t, block)->region != g->number && !cc1_set_has(&g->moved, user)) {
            return 0;
        }
    }
    return 1;
}

static int can_move(const struct growth *g, LLVMValueRef i)
{
    const struct tile_value *v = tile_find(g->t, i);
    return v->kind == TILE_PLAIN && v->depends && (!LLVMIsACallInst(i) || coarse_is_pure_call(i)) &&
        is_for_region(g, i);
}

/** Divides the block before a region. 0: nothing moves. */
static int grow(struct growth *g)
{
    struct tile *t = g->t;
    LLVMBasicBlockRef block = g->region->from;
    LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
    if (!(tile_find(t, end)->depends & TILE_BOTH)) {
        return 0; /* the region is a loop, which begins at its head */
    }
    cc1_set_add(&g->moved, end);
    for (LLVMValueRef i = LLVMGetPreviousInstruction(end); i && !is_fixed(i); i = LLVMGetPreviousInstruction(i)) {
        if (can_move(g, i)) {
            cc1_set_add(&g->moved, i);
        }
    }
    if (g->moved.n < 2) {
        return 0;
    }
    LLVMBasicBlockRef whole = cc1_split_block(t->cc, end);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(t->cc->context);
    LLVMPositionBuilderBefore(b, end);
    for (LLVMValueRef i = LLVMGetFirstInstruction(block), next; i; i = next) {
        next = LLVMGetNextInstruction(i);
        if (cc1_set_has(&g->moved, i)) {
            LLVMInstructionRemoveFromParent(i);
            LLVMInsertIntoBuilder(b, i);
        }
    }
    LLVMPositionBuilderAtEnd(b, block);
    LLVMBuildBr(b, whole);
    LLVMDisposeBuilder(b);
    cc1_set_add(&t->whole, LLVMBasicBlockAsValue(whole));
    return 1;
}

int merge_grow(struct tile *t)
{
    int grown = 0;
    for (unsigned n = 0; n < t->n_regions; n++) {
        struct growth g = {.t = t, .region = &t->regions[n], .number = n + 1};
        LLVMBasicBlockRef from = g.region->from;
        if (!tile_find_block(t, from)->region && !cc1_set_has(&t->serial, LLVMBasicBlockAsValue(from))) {
            grown += grow(&g);
        }
        free(g.moved.at);
    }
    return grown;
}
