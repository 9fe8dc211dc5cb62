/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Merged groups: an entry in which each hardware work-item runs n work-items of the same group. A group of 1,024
 * work-items fits an engine that holds 256, and a small group becomes a single warp. The work-items that a hardware
 * work-item runs differ in one dimension, the axis, by H = (local size) / n, so that the lanes of a warp still access
 * neighbouring words. Example: with a local size of 64 and n = 4, hardware work-item 3 runs the local ids 3, 19, 35,
 * 51.
 *
 * The launcher divides the global and the local size of the axis by n (compiler.h). The CSRs of the axis have the
 * values of the hardware's groups, and the entry computes OpenCL's from them:
 *
 *   local id k  = LOCAL_ID + k * H
 *   global id k = OFFSET + GROUP_ID * n * H + local id k
 *   global size = GLOBAL_SIZE * n
 *
 * Groups may be joined: each hardware work-item runs its n work-items of y neighbouring groups of the axis. Group l of
 * them is GROUP_ID * y + l. Copy (k, l) of an instruction has index l * n + k, as in tiles. All groups pass a barrier
 * together. Each has its own local memory, t->apart bytes behind that of the group before it.
 *
 * An instruction has a copy for each k if its value depends on one of these ids, else one for all. A barrier is
 * executed once. Regions (merge_read.c) are copied as a whole, one work-item after the other:
 *
 *   from: branch to region of work-item 0 or join 0;  join 0: branch to region of work-item 1 or join 1; ...
 */
#include "tile.h"

#include "coarse.h"
#include "tern/tern_spec.h"

#include <stdlib.h>

/** Blocks in which the copies of a region begin and end. */
struct copy_of_region {
    struct tile_region *region;
    unsigned number, k;
    LLVMBasicBlockRef from, join;
};

/** Number of the copies of an instruction that depends on all ids. */
static unsigned count_copies(const struct tile *t)
{
    return t->x * t->y;
}

static unsigned region_of(const struct tile *t, LLVMBasicBlockRef block)
{
    return tile_find_block(t, block)->region;
}

/** Number of the region into which a branch leads; 0: it leads into none. */
static unsigned leads_into(const struct tile *t, LLVMValueRef end)
{
    for (unsigned i = 0; i < LLVMGetNumSuccessors(end); i++) {
        const unsigned number = region_of(t, LLVMGetSuccessor(end, i));
        if (number) {
            return number;
        }
    }
    return 0;
}

/** The block of copy k in which a value of `from` is known, as the predecessor of a phi in the region or its join. */
static LLVMBasicBlockRef incoming(struct tile *t, const struct copy_of_region *c, LLVMBasicBlockRef from)
{
    return from == c->region->from ? c->from : tile_block(t, from, c->k);
}

/** Builds the branch of a block in the region, or of the block before it. */
static void make_branch(struct tile *t, const struct copy_of_region *c, LLVMValueRef end)
{
    LLVMValueRef made = tile_clone(t, end, c->k);
    for (unsigned i = 0; i < LLVMGetNumSuccessors(end); i++) {
        LLVMBasicBlockRef to = LLVMGetSuccessor(end, i);
        LLVMSetSuccessor(made, i, to == c->region->join ? c->join : tile_block(t, to, c->k));
    }
}

/** Builds copy k of an address in local memory. */
static LLVMValueRef local_address(struct tile *t, LLVMValueRef i, unsigned k)
{
    LLVMValueRef first = LLVMIsALoadInst(i) ? tile_clone(t, i, k) : LLVMGetOperand(i, 0);
    LLVMValueRef by = cc1_u32(t->cc, k / t->side * t->apart);
    return k / t->side ? LLVMBuildGEP2(t->b, LLVMInt8TypeInContext(t->cc->context), first, &by, 1, "") : first;
}

/** Builds copy k of a block of the region. complete_block completes the phis. */
static void make_block(struct tile *t, const struct copy_of_region *c, LLVMBasicBlockRef block)
{
    LLVMPositionBuilderAtEnd(t->b, tile_block(t, block, c->k));
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
        struct tile_value *v = tile_find(t, i);
        if (LLVMIsATerminatorInst(i)) {
            make_branch(t, c, i);
        } else if (LLVMIsAPHINode(i)) {
            v->copy[c->k] = LLVMBuildPhi(t->b, LLVMTypeOf(i), "");
        } else if (v->kind == TILE_PLAIN) {
            v->copy[c->k] = tile_clone(t, i, c->k);
        } else if (v->kind == TILE_LOCAL) {
            v->copy[c->k] = local_address(t, i, c->k);
        }
    }
}

static void complete_block(struct tile *t, const struct copy_of_region *c, LLVMBasicBlockRef block)
{
    for (LLVMValueRef phi = LLVMGetFirstInstruction(block); LLVMIsAPHINode(phi); phi = LLVMGetNextInstruction(phi)) {
        for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
            LLVMValueRef value = tile_get(t, LLVMGetIncomingValue(phi, i), c->k);
            LLVMBasicBlockRef from = incoming(t, c, LLVMGetIncomingBlock(phi, i));
            LLVMAddIncoming(tile_find(t, phi)->copy[c->k], &value, &from, 1);
        }
    }
}

/** Number of the region from which a block is left, as its block or the one before it; 0: from none. */
static unsigned leaves(const struct tile *t, LLVMBasicBlockRef block)
{
    const unsigned inside = region_of(t, block);
    return inside ? inside : leads_into(t, LLVMGetBasicBlockTerminator(block));
}

/** Builds copy k of the phis of the region's join, as far as they concern the region. The phis of the join itself take
 *  their values (complete_phi). */
static void make_join(struct tile *t, struct copy_of_region *c)
{
    LLVMPositionBuilderAtEnd(t->b, c->join);
    LLVMValueRef phi = LLVMGetFirstInstruction(c->region->join);
    for (size_t p = 0; LLVMIsAPHINode(phi); phi = LLVMGetNextInstruction(phi), p++) {
        LLVMValueRef made = LLVMBuildPhi(t->b, LLVMTypeOf(phi), "");
        for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
            LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, i);
            if (leaves(t, from) == c->number) {
                LLVMValueRef value = tile_get(t, LLVMGetIncomingValue(phi, i), c->k);
                from = incoming(t, c, from);
                LLVMAddIncoming(made, &value, &from, 1);
            }
        }
        c->region->joined[p * TILE_COPIES + c->k] = made;
    }
}

/** Allocates room for the phis of the region's join. */
static void make_room(struct tile_region *r)
{
    size_t n = 0;
    for (LLVMValueRef i = LLVMGetFirstInstruction(r->join); LLVMIsAPHINode(i); i = LLVMGetNextInstruction(i)) {
        n++;
    }
    free(r->joined);
    r->joined = cc1_alloc(n * TILE_COPIES, sizeof(LLVMValueRef));
}

/** Builds nothing but the way around a region. */
static void skip_region(struct tile *t, struct tile_region *r)
{
    LLVMValueRef phi = LLVMGetFirstInstruction(r->join);
    for (size_t p = 0; LLVMIsAPHINode(phi); phi = LLVMGetNextInstruction(phi), p++) {
        for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
            for (unsigned k = 0; k < count_copies(t) && LLVMGetIncomingBlock(phi, i) == r->from; k++) {
                r->joined[p * TILE_COPIES + k] = tile_get(t, LLVMGetIncomingValue(phi, i), k);
            }
        }
    }
    r->last = LLVMGetInsertBlock(t->b);
    LLVMBuildBr(t->b, tile_block(t, r->join, 0));
}

/** Builds all copies of a region. The builder is at the end of the block before it. */
static void make_region(struct tile *t, unsigned number)
{
    struct tile_region *r = &t->regions[number - 1];
    struct copy_of_region c = {.region = r, .number = number, .from = LLVMGetInsertBlock(t->b)};
    make_room(r);
    if (t->draft && cc1_set_has(&t->serial, LLVMBasicBlockAsValue(r->from))) {
        skip_region(t, r);
        return;
    }
    for (c.k = 0; c.k < count_copies(t); c.k++) {
        c.join = tile_add_block(t);
        for (unsigned n = 0; n < t->n_blocks; n++) {
            if (region_of(t, t->blocks[n]) == number) {
                tile_find_block(t, t->blocks[n])->copy[c.k] =
                    LLVMBasicBlockAsValue(tile_add_block(t));
            }
        }
        LLVMPositionBuilderAtEnd(t->b, c.from);
        make_branch(t, &c, LLVMGetBasicBlockTerminator(r->from));
        for (unsigned n = 0; n < t->n_blocks; n++) {
            if (region_of(t, t->blocks[n]) == number) {
                make_block(t, &c, t->blocks[n]);
            }
        }
        for (unsigned n = 0; n < t->n_blocks; n++) {
            if (region_of(t, t->blocks[n]) == number) {
                complete_block(t, &c, t->blocks[n]);
            }
        }
        make_join(t, &c);
        c.from = c.join;
    }
    r->last = c.join;
    LLVMBuildBr(t->b, tile_block(t, r->join, 0));
}

static void make_end(struct tile *t, LLVMValueRef end)
{
    const unsigned number = leads_into(t, end);
    if (number) {
        make_region(t, number);
        return;
    }
    LLVMValueRef made = tile_clone(t, end, 0);
    for (unsigned i = 0; i < LLVMGetNumSuccessors(end); i++) {
        LLVMSetSuccessor(made, i, tile_block(t, LLVMGetSuccessor(end, i), 0));
    }
}

/** Builds a block outside of regions. */
static void make_uniform(struct tile *t, LLVMBasicBlockRef block)
{
    LLVMPositionBuilderAtEnd(t->b, tile_block(t, block, 0));
    for (LLVMValueRef i = tile_make_phis(t, block); i; i = LLVMGetNextInstruction(i)) {
        struct tile_value *v = tile_find(t, i);
        if (LLVMIsAReturnInst(i)) {
            LLVMBuildRetVoid(t->b);
        } else if (LLVMIsATerminatorInst(i)) {
            make_end(t, i);
        } else if (v->kind == TILE_EXIT || v->kind == TILE_BARRIER) {
            LLVMInsertIntoBuilder(t->b, LLVMInstructionClone(i));
        } else if (v->kind == TILE_ALL || v->kind == TILE_ANY) {
            lockstep_vote(t, v);
        } else if (v->kind == TILE_LOCAL) {
            for (unsigned k = 0; k < count_copies(t); k++) {
                v->copy[k] = k % t->side ? v->copy[k - 1] : local_address(t, i, k);
            }
        } else if (v->kind == TILE_PLAIN) {
            tile_make_copies(t, v, 0);
            tile_make_copies(t, v, 1);
        }
    }
}

/** Completes copy k of a phi outside of regions. A region adds one value, whichever of its blocks it comes from. */
static void complete_phi(struct tile *t, const struct tile_value *v, unsigned k)
{
    size_t p = 0; /* number of the phi in its block */
    for (LLVMValueRef i = v->of; (i = LLVMGetPreviousInstruction(i)) != NULL;) {
        p++;
    }
    for (unsigned i = 0; i < LLVMCountIncoming(v->of); i++) {
        LLVMBasicBlockRef from = LLVMGetIncomingBlock(v->of, i);
        LLVMValueRef value = tile_get(t, LLVMGetIncomingValue(v->of, i), k);
        const unsigned number = leaves(t, from);
        unsigned first = 0;
        while (leaves(t, LLVMGetIncomingBlock(v->of, first)) != number) {
            first++;
        }
        if (number && first < i) {
            continue;
        }
        if (number) {
            value = t->regions[number - 1].joined[p * TILE_COPIES + k];
        }
        from = number ? t->regions[number - 1].last : tile_block(t, from, 0);
        LLVMAddIncoming(v->copy[k], &value, &from, 1);
    }
}

static void complete_phis(struct tile *t)
{
    for (size_t n = 0; n < t->n; n++) {
        struct tile_value *v = &t->values[n];
        const int outside = LLVMIsAPHINode(v->of) && !region_of(t, LLVMGetInstructionParent(v->of));
        for (unsigned k = 0; k < count_copies(t) && outside; k++) {
            if (LLVMIsAPHINode(v->copy[k]) && LLVMCountIncoming(v->copy[k]) == 0) {
                complete_phi(t, v, k);
            }
        }
    }
}

/** Sets the ids and sizes of the work-items. */
static void make_ids(struct tile *t)
{
    const unsigned a = t->axis;
    LLVMValueRef local = cc1_read_csr(t->cc, t->b, TERN_CSR_LOCAL_ID_X + a);
    cc1_set_range(t->cc, local, 0, t->stride);
    LLVMValueRef offset = cc1_read_csr(t->cc, t->b, TERN_CSR_OFFSET_X + a);
    LLVMValueRef group = cc1_read_csr(t->cc, t->b, TERN_CSR_GROUP_ID_X + a);
    LLVMValueRef before = LLVMBuildMul(t->b, group, cc1_u32(t->cc, count_copies(t) * t->stride), "");
    LLVMValueRef global = LLVMBuildAdd(t->b, LLVMBuildAdd(t->b, offset, before, ""), local, "");
    LLVMValueRef hardware = cc1_read_csr(t->cc, t->b, TERN_CSR_GLOBAL_SIZE_X + a);
    LLVMValueRef size = LLVMBuildMul(t->b, hardware, cc1_u32(t->cc, count_copies(t)), "");
    LLVMValueRef groups = LLVMBuildMul(t->b, cc1_read_csr(t->cc, t->b, TERN_CSR_NUM_GROUPS_X + a),
                                       cc1_u32(t->cc, t->y), "");
    LLVMValueRef first = LLVMBuildMul(t->b, group, cc1_u32(t->cc, t->y), "");
    for (size_t n = 0; n < t->n; n++) {
        struct tile_value *v = &t->values[n];
        const int is_local = v->kind == TILE_ID_X && cc1_csr(v->of) == TERN_CSR_LOCAL_ID_X + a;
        for (unsigned k = 0; k < count_copies(t); k++) {
            const uint32_t number = is_local ? k % t->side : k; /* work-items that are joined follow each other */
            LLVMValueRef by = cc1_u32(t->cc, number * t->stride), id = is_local ? local : global;
            if (v->kind == TILE_ID_X) {
                v->copy[k] = number == 0 ? id : LLVMBuildAdd(t->b, id, by, "");
                if (number && is_local) {
                    LLVMSetNUW(v->copy[k], 1);
                    LLVMSetNSW(v->copy[k], 1);
                }
            } else if (v->kind == TILE_SIZE_X) {
                v->copy[k] = size;
            } else if (v->kind == TILE_GROUPS) {
                v->copy[k] = groups;
            } else if (v->kind == TILE_GROUP) {
                v->copy[k] = LLVMBuildAdd(t->b, first, cc1_u32(t->cc, k / t->side), "");
            } else if (v->kind == TILE_PRIVATE) {
                v->copy[k] = tile_clone(t, v->of, k);
            }
        }
    }
}

LLVMValueRef merge_make(struct tile *t, const char *name)
{
    t->made = LLVMAddFunction(t->cc->module, name, LLVMGlobalGetValueType(t->plain));
    coarse_copy_attributes(t->plain, t->made);
    t->b = LLVMCreateBuilderInContext(t->cc->context);
    LLVMBasicBlockRef begin = tile_add_block(t);
    for (unsigned n = 0; n < t->n_blocks; n++) {
        if (!region_of(t, t->blocks[n])) {
            tile_find_block(t, t->blocks[n])->copy[0] = LLVMBasicBlockAsValue(tile_add_block(t));
        }
    }
    LLVMPositionBuilderAtEnd(t->b, begin);
    make_ids(t);
    LLVMBuildBr(t->b, tile_block(t, t->blocks[0], 0));
    for (unsigned n = 0; n < t->n_blocks; n++) {
        if (!region_of(t, t->blocks[n])) {
            make_uniform(t, t->blocks[n]);
        }
    }
    complete_phis(t);
    LLVMDisposeBuilder(t->b);
    return t->made;
}
