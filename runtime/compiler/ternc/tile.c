/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Tiles of work-items: a second entry of a kernel with loops. Each hardware work-item runs a tile of OpenCL work-items,
 * x in x and y in y. An instruction that does not depend on an id is executed once for the tile, and one that depends
 * on one id once for each row or column of it. Thus a product of matrices loads x + y words for x * y operations, and
 * has its sums in registers; a stencil loads once what neighbours share.
 *
 * Work-items of a tile are 1 apart in y, and S = CC1_COARSE_STRIDE apart in x, so that lanes access neighbouring words.
 * The first work-item of hardware work-item (h, v) is (h / S * S * x + h % S, v * y), without the offsets. Tiles beyond
 * the range do not run. CSRs user0 and user1 have the ends of the ids in x and y, with the offset, at most 2^31.
 * The launcher chooses between this entry and the plain one (compiler.h, runtime/core/coarse.h).
 *
 * The entry has the kernel's blocks twice. The tile has a copy of an instruction for each id on which it depends; its
 * branches are uniform (tile_read.c). A tile at the end of the range, or in which a work-item does not pass a guard,
 * runs its work-items one after the other, in a function. tile_choose.c chooses the sides of the tile.
 */
#include "tile.h"

#include "coarse.h"
#include "tern/tern_spec.h"

#include <stdlib.h>
#include <string.h>

LLVMBasicBlockRef tile_add_block(const struct tile *t)
{
    return LLVMAppendBasicBlockInContext(t->cc->context, t->made, "");
}

LLVMValueRef tile_get(struct tile *t, LLVMValueRef v, unsigned k)
{
    const struct tile_value *of = tile_find(t, v);
    return of && LLVMIsAInstruction(v) ? of->copy[k] : LLVMIsAArgument(v) ? LLVMGetParam(t->made, 0) : v;
}

LLVMValueRef tile_clone(struct tile *t, LLVMValueRef of, unsigned k)
{
    LLVMValueRef i = LLVMInstructionClone(of);
    for (int o = 0; o < LLVMGetNumOperands(of); o++) {
        LLVMSetOperand(i, (unsigned)o, tile_get(t, LLVMGetOperand(of, (unsigned)o), k));
    }
    LLVMInsertIntoBuilder(t->b, i);
    return i;
}

/** True: copy k of v is that of its row's first copy plus a constant, or that of the first row plus one. */
static int is_derived(const struct tile *t, const struct tile_value *v, unsigned k)
{
    if (v->moves && k >= t->side) {
        return 1;
    }
    return k % t->side > 0 && tile_depends(t, v) & TILE_X && v->growth == TILE_GROWS && !v->times &&
        v->kind == TILE_PLAIN;
}

static LLVMValueRef derive(struct tile *t, const struct tile_value *v, unsigned k)
{
    const unsigned row = k / t->side;
    const int moved = v->moves && row > 0;
    LLVMValueRef first = v->copy[moved ? k % t->side : row * t->side];
    LLVMValueRef by = cc1_u32(t->cc, moved ? row * t->apart : v->by * t->stride * (k % t->side));
    if (!moved && v->by == 0) {
        return first;
    }
    return LLVMGetTypeKind(LLVMTypeOf(first)) == LLVMPointerTypeKind
               ? LLVMBuildGEP2(t->b, LLVMInt8TypeInContext(t->cc->context), first, &by, 1, "")
               : LLVMBuildAdd(t->b, first, by, "");
}

/** Makes copy k of a step, or takes over that of the row or column, which does not depend on the other id. */
static void make_copy(struct tile *t, struct tile_value *v, unsigned k, int derived)
{
    const unsigned depends = tile_depends(t, v);
    const unsigned from = (depends & TILE_X ? k % t->side : 0) + (depends & TILE_Y ? k / t->side * t->side : 0);
    if (is_derived(t, v, from) != derived) {
        return;
    }
    if (from != k) {
        v->copy[k] = v->copy[from];
    } else if (derived) {
        v->copy[k] = derive(t, v, k);
    } else if (LLVMIsAPHINode(v->of)) {
        v->copy[k] = LLVMBuildPhi(t->b, LLVMTypeOf(v->of), "");
    } else {
        v->copy[k] = tile_clone(t, v->of, k);
    }
}

void tile_make_copies(struct tile *t, struct tile_value *v, int derived)
{
    for (unsigned l = 0; l < t->y; l++) {
        for (unsigned k = 0; k < t->x; k++) {
            make_copy(t, v, l * t->side + k, derived);
        }
    }
}

/** Builds a branch to the slow loop unless all copies pass; the builder continues in a new block. */
static void make_guard(struct tile *t, LLVMValueRef condition, int passes_if)
{
    LLVMValueRef second, part = coarse_parts(condition, passes_if, &second), all;
    if (second) {
        make_guard(t, part, passes_if);
        make_guard(t, second, passes_if);
        return;
    }
    const struct tile_value *v = tile_find(t, part);
    const unsigned depends = v ? tile_depends(t, v) : 0;
    const int ends = t->rows && v && v->depends & TILE_X;
    all = ends ? tile_row_passes(t, part, passes_if) : NULL;
    for (unsigned l = 0; !ends && l < (depends & TILE_Y ? t->y : 1); l++) {
        for (unsigned k = 0; k < (depends & TILE_X ? t->x : 1); k++) {
            LLVMValueRef one = tile_get(t, part, l * t->side + k);
            all = !all ? one : passes_if ? LLVMBuildAnd(t->b, all, one, "") : LLVMBuildOr(t->b, all, one, "");
        }
    }
    LLVMBasicBlockRef next = tile_add_block(t);
    LLVMBuildCondBr(t->b, all, passes_if ? next : t->slow, passes_if ? t->slow : next);
    LLVMPositionBuilderAtEnd(t->b, next);
}

/** True: the branch is a guard of this tile. */
static int is_guard(const struct tile *t, const struct tile_value *branch)
{
    return branch->leaves && (tile_depends(t, branch) || (t->rows && branch->depends & TILE_X));
}

/** Builds a branch to the slow loop unless the condition is the same for all copies. */
static void make_vote(struct tile *t, LLVMValueRef condition)
{
    const unsigned depends = tile_depends(t, tile_find(t, condition));
    LLVMValueRef first = tile_get(t, condition, 0), mixed = NULL;
    for (unsigned l = 0; l < (depends & TILE_Y ? t->y : 1); l++) {
        for (unsigned k = 0; k < (depends & TILE_X ? t->x : 1); k++) {
            LLVMValueRef differs = LLVMBuildXor(t->b, first, tile_get(t, condition, l * t->side + k), "");
            mixed = !mixed ? differs : LLVMBuildOr(t->b, mixed, differs, "");
        }
    }
    LLVMBasicBlockRef next = tile_add_block(t);
    LLVMBuildCondBr(t->b, mixed, t->slow, next);
    LLVMPositionBuilderAtEnd(t->b, next);
}

LLVMBasicBlockRef tile_block(struct tile *t, LLVMBasicBlockRef block, unsigned k)
{
    return LLVMValueAsBasicBlock(tile_find_block(t, block)->copy[k]);
}

/** Builds the branch at the end of a block. k: 0 in the tile, or TILE_SLOW. */
static void make_end(struct tile *t, const struct tile_value *v, unsigned k)
{
    LLVMValueRef end = v->of;
    if (k == 0 && is_guard(t, v)) {
        make_guard(t, LLVMGetCondition(end), v->leaves == 2);
        LLVMBuildBr(t->b, tile_block(t, LLVMGetSuccessor(end, v->leaves == 2 ? 0 : 1), k));
        return;
    }
    if (k == 0 && v->votes && tile_depends(t, v)) {
        make_vote(t, LLVMGetCondition(end));
    }
    LLVMValueRef made = tile_clone(t, end, k);
    for (unsigned i = 0; i < LLVMGetNumSuccessors(end); i++) {
        LLVMSetSuccessor(made, i, tile_block(t, LLVMGetSuccessor(end, i), k));
    }
}

/** True: the branch at the end of a block leads to another one in a tile. */
static int leads_to(struct tile *t, LLVMBasicBlockRef from, LLVMBasicBlockRef to)
{
    const struct tile_value *end = tile_find(t, LLVMGetBasicBlockTerminator(from));
    return !is_guard(t, end) || LLVMGetSuccessor(end->of, end->leaves == 2 ? 0 : 1) == to;
}

static void add_incoming(struct tile *t, const struct tile_value *v, unsigned k)
{
    const int slow = k == TILE_SLOW;
    for (unsigned i = 0; i < LLVMCountIncoming(v->of); i++) {
        LLVMBasicBlockRef block = LLVMGetIncomingBlock(v->of, i);
        LLVMValueRef value = tile_get(t, LLVMGetIncomingValue(v->of, i), k);
        LLVMBasicBlockRef last = tile_find_block(t, block)->last[slow];
        if (last && (slow || leads_to(t, block, LLVMGetInstructionParent(v->of)))) { /* the block is reachable */
            LLVMAddIncoming(v->copy[k], &value, &last, 1);
        }
    }
}

/** Completes the phis of a copy of the blocks. */
static void complete(struct tile *t, int slow)
{
    for (size_t n = 0; n < t->n; n++) {
        struct tile_value *v = &t->values[n];
        if (!LLVMIsAPHINode(v->of)) {
            continue;
        }
        for (unsigned k = slow ? TILE_SLOW : 0; k < (slow ? TILE_SLOW + 1 : TILE_COPIES); k++) {
            if (v->copy[k] && LLVMIsAPHINode(v->copy[k]) && LLVMCountIncoming(v->copy[k]) == 0) {
                add_incoming(t, v, k);
            }
        }
    }
}

/** Tells the optimizer that an id is below 2^31, so that it drops limits to it: max(id + 1, 0). */
static void assume_id(struct tile *t, LLVMValueRef id)
{
    static const char name[] = "llvm.assume";
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(t->cc->module, LLVMLookupIntrinsicID(name, sizeof name - 1), NULL, 0);
    LLVMValueRef small = LLVMBuildICmp(t->b, LLVMIntSGE, id, cc1_u32(t->cc, 0), "");
    LLVMBuildCall2(t->b, LLVMGlobalGetValueType(f), f, &small, 1, "");
}

static void assume_ids(struct tile *t)
{
    for (size_t n = 0; n < t->n; n++) {
        const enum tile_kind kind = t->values[n].kind;
        for (unsigned k = 0; k < TILE_COPIES && (kind == TILE_ID_X || kind == TILE_ID_Y); k++) {
            if (t->values[n].copy[k] && (k == 0 || (kind == TILE_ID_X ? k < t->side : k % t->side == 0))) {
                assume_id(t, t->values[n].copy[k]);
            }
        }
    }
}

LLVMValueRef tile_make_phis(struct tile *t, LLVMBasicBlockRef block)
{
    LLVMValueRef first = LLVMGetFirstInstruction(block), i = first;
    for (; LLVMIsAPHINode(i); i = LLVMGetNextInstruction(i)) {
        tile_make_copies(t, tile_find(t, i), 0);
    }
    for (LLVMValueRef phi = first; phi != i; phi = LLVMGetNextInstruction(phi)) {
        tile_make_copies(t, tile_find(t, phi), 1);
    }
    return i;
}

/** Builds the blocks of the tile. */
static void make_fast(struct tile *t)
{
    for (unsigned n = 0; n < t->n_blocks; n++) {
        struct tile_value *block = tile_find_block(t, t->blocks[n]);
        LLVMPositionBuilderAtEnd(t->b, LLVMValueAsBasicBlock(block->copy[0]));
        for (LLVMValueRef i = tile_make_phis(t, t->blocks[n]); i; i = LLVMGetNextInstruction(i)) {
            struct tile_value *v = tile_find(t, i);
            block->last[0] = LLVMGetInsertBlock(t->b);
            if (LLVMIsATerminatorInst(i)) {
                make_end(t, v, 0);
                break;
            }
            if (v->kind == TILE_EXIT) {
                LLVMInsertIntoBuilder(t->b, LLVMInstructionClone(i));
            } else if (v->kind == TILE_PLAIN) {
                tile_make_copies(t, v, 0);
                tile_make_copies(t, v, 1);
                if (LLVMIsACallInst(i) && cc1_csr(i) == TERN_CSR_GLOBAL_ID_Z) {
                    assume_id(t, v->copy[0]);
                }
            }
        }
        block->last[0] = LLVMGetInsertBlock(t->b);
    }
    complete(t, 0);
}

/** Builds the blocks again for one work-item, which continues at `latch`. */
static void make_single(struct tile *t, LLVMBasicBlockRef latch)
{
    for (unsigned n = 0; n < t->n_blocks; n++) {
        struct tile_value *block = tile_find_block(t, t->blocks[n]);
        block->last[1] = LLVMValueAsBasicBlock(block->copy[TILE_SLOW]);
        LLVMPositionBuilderAtEnd(t->b, block->last[1]);
        for (LLVMValueRef i = LLVMGetFirstInstruction(t->blocks[n]); i; i = LLVMGetNextInstruction(i)) {
            struct tile_value *v = tile_find(t, i);
            if (v->kind == TILE_EXIT) {
                LLVMBuildBr(t->b, latch);
                break;
            }
            if (LLVMIsATerminatorInst(i)) {
                make_end(t, v, TILE_SLOW);
            } else if (v->kind == TILE_PLAIN && LLVMIsAPHINode(i)) {
                v->copy[TILE_SLOW] = LLVMBuildPhi(t->b, LLVMTypeOf(i), "");
            } else if (v->kind == TILE_PLAIN) {
                v->copy[TILE_SLOW] = tile_clone(t, i, TILE_SLOW);
            }
        }
    }
    complete(t, 1);
}

void tile_set(struct tile *t, enum tile_kind kind, LLVMValueRef first, unsigned each_x, unsigned each_y)
{
    LLVMValueRef copy[TILE_COPIES];
    for (unsigned l = 0; l < t->y; l++) {
        for (unsigned k = 0; k < t->x; k++) {
            const uint32_t by = each_x * k + each_y * l;
            copy[l * t->side + k] = by ? LLVMBuildNUWAdd(t->b, first, cc1_u32(t->cc, by), "") : first;
            if (by) {
                LLVMSetNSW(copy[l * t->side + k], 1);
            }
        }
    }
    for (size_t n = 0; n < t->n; n++) {
        for (unsigned k = 0; k < TILE_COPIES && t->values[n].kind == kind; k++) {
            t->values[n].copy[k] = k / t->side < t->y && k % t->side < t->x ? copy[k] : NULL;
        }
    }
}

static void set_slow(struct tile *t, enum tile_kind kind, LLVMValueRef v)
{
    for (size_t n = 0; n < t->n; n++) {
        if (t->values[n].kind == kind) {
            t->values[n].copy[TILE_SLOW] = v;
        }
    }
}

static LLVMValueRef below(struct tile *t, LLVMValueRef a, LLVMValueRef b)
{
    return LLVMBuildICmp(t->b, LLVMIntULT, a, b, "");
}

static void make_exit(struct tile *t)
{
    for (size_t n = 0; n < t->n; n++) {
        if (t->values[n].kind == TILE_EXIT) {
            LLVMInsertIntoBuilder(t->b, LLVMInstructionClone(t->values[n].of));
            break;
        }
    }
    LLVMBuildRetVoid(t->b);
}

/** Builds function `f` of the arguments' address, x and y: a loop over the work-items of the tile that begins at
 *  (x, y), as far as they are in the range. */
static void make_slow(struct tile *t, LLVMValueRef f)
{
    t->made = f;
    LLVMBasicBlockRef begin = tile_add_block(t), head = tile_add_block(t), latch = tile_add_block(t);
    LLVMBasicBlockRef leave = tile_add_block(t), body;
    for (unsigned n = 0; n < t->n_blocks; n++) {
        tile_find_block(t, t->blocks[n])->copy[TILE_SLOW] = LLVMBasicBlockAsValue(tile_add_block(t));
    }
    LLVMValueRef x = LLVMGetParam(f, 1), y = LLVMGetParam(f, 2);
    LLVMPositionBuilderAtEnd(t->b, begin);
    LLVMValueRef end_x = cc1_read_csr(t->cc, t->b, TERN_CSR_USER0), end_y = cc1_read_csr(t->cc, t->b, TERN_CSR_USER1);
    set_slow(t, TILE_SIZE_X, LLVMBuildSub(t->b, end_x, cc1_read_csr(t->cc, t->b, TERN_CSR_OFFSET_X), ""));
    set_slow(t, TILE_SIZE_Y, LLVMBuildSub(t->b, end_y, cc1_read_csr(t->cc, t->b, TERN_CSR_OFFSET_Y), ""));
    LLVMBuildBr(t->b, head);
    LLVMPositionBuilderAtEnd(t->b, head);
    LLVMValueRef item = LLVMBuildPhi(t->b, LLVMTypeOf(x), "");
    LLVMValueRef k = LLVMBuildAnd(t->b, item, cc1_u32(t->cc, t->x - 1), "");
    LLVMValueRef l = LLVMBuildUDiv(t->b, item, cc1_u32(t->cc, t->x), "");
    LLVMValueRef at_x = LLVMBuildAdd(t->b, x, LLVMBuildMul(t->b, k, cc1_u32(t->cc, CC1_COARSE_STRIDE), ""), "");
    LLVMValueRef at_y = LLVMBuildAdd(t->b, y, l, "");
    LLVMValueRef in = LLVMBuildAnd(t->b, below(t, at_x, end_x), below(t, at_y, end_y), "");
    set_slow(t, TILE_ID_X, at_x);
    set_slow(t, TILE_ID_Y, at_y);
    body = tile_block(t, t->blocks[0], TILE_SLOW);
    LLVMBuildCondBr(t->b, in, body, latch);
    make_single(t, latch);
    LLVMPositionBuilderAtEnd(t->b, latch);
    LLVMValueRef next = LLVMBuildAdd(t->b, item, cc1_u32(t->cc, 1), "");
    LLVMBuildCondBr(t->b, below(t, next, cc1_u32(t->cc, t->x * t->y)), head, leave);
    LLVMAddIncoming(item, (LLVMValueRef[]){cc1_u32(t->cc, 0), next}, (LLVMBasicBlockRef[]){begin, latch}, 2);
    LLVMPositionBuilderAtEnd(t->b, leave);
    LLVMBuildRetVoid(t->b);
}

/** Builds the call of the function that runs the tile's work-items one after the other. The slow path is a function of
 *  its own, so that its values and branches do not take registers from the tile. */
static LLVMValueRef call_slow(struct tile *t, const char *name, LLVMValueRef x, LLVMValueRef y)
{
    LLVMValueRef args[3] = {LLVMGetParam(t->made, 0), x, y};
    LLVMTypeRef types[3] = {LLVMTypeOf(args[0]), LLVMTypeOf(x), LLVMTypeOf(y)};
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(t->cc->context), types, 3, 0);
    LLVMValueRef f = LLVMAddFunction(t->cc->module, name, type);
    LLVMSetLinkage(f, LLVMInternalLinkage);
    coarse_copy_attributes(t->plain, f);
    LLVMBuildCall2(t->b, type, f, args, 3, "");
    return f;
}

/** The number of the hardware work-item's first work-item, in x and in y. */
static LLVMValueRef first_x(struct tile *t, LLVMValueRef offset)
{
    LLVMValueRef id = cc1_read_csr(t->cc, t->b, TERN_CSR_GLOBAL_ID_X);
    LLVMValueRef number = LLVMBuildSub(t->b, id, offset, "");
    LLVMValueRef row = LLVMBuildAnd(t->b, number, cc1_u32(t->cc, ~(CC1_COARSE_STRIDE - 1)), "");
    return LLVMBuildAdd(t->b, id, LLVMBuildMul(t->b, row, cc1_u32(t->cc, t->x - 1), ""), "");
}

static LLVMValueRef first_y(struct tile *t, LLVMValueRef offset)
{
    LLVMValueRef id = cc1_read_csr(t->cc, t->b, TERN_CSR_GLOBAL_ID_Y);
    LLVMValueRef before = LLVMBuildMul(t->b, LLVMBuildSub(t->b, id, offset, ""), cc1_u32(t->cc, t->y), "");
    return LLVMBuildAdd(t->b, offset, before, "");
}

/** Builds the ids of the first and the last work-item of the row of a work-item. Returns that of the last one. */
static LLVMValueRef make_row(struct tile *t, LLVMValueRef x, LLVMValueRef offset)
{
    LLVMValueRef others = cc1_u32(t->cc, CC1_COARSE_STRIDE - 1);
    LLVMValueRef lane = LLVMBuildAnd(t->b, LLVMBuildSub(t->b, x, offset, ""), others, "");
    t->row[0] = LLVMBuildSub(t->b, x, lane, "");
    return t->row[1] = LLVMBuildAdd(t->b, t->row[0], others, "");
}

/** The name u.k.coarse for entry __entry_k.coarse, so that faults name the kernel. */
static const char *slow_name(const char *entry)
{
    return cc1_text(CC1_USER_PREFIX "%s", entry + strlen(CC1_ENTRY_PREFIX));
}

LLVMValueRef tile_make(struct tile *t, const char *name)
{
    t->made = LLVMAddFunction(t->cc->module, name, LLVMGlobalGetValueType(t->plain));
    coarse_copy_attributes(t->plain, t->made);
    t->b = LLVMCreateBuilderInContext(t->cc->context);
    LLVMBasicBlockRef begin = tile_add_block(t);
    for (size_t n = 0; n < t->n; n++) {
        for (unsigned k = 0; k <= TILE_SLOW; k++) {
            t->values[n].copy[k] = NULL;
        }
        t->values[n].last[0] = t->values[n].last[1] = NULL;
    }
    for (unsigned n = 0; n < t->n_blocks; n++) {
        struct tile_value *block = tile_find_block(t, t->blocks[n]);
        block->copy[0] = LLVMBasicBlockAsValue(tile_add_block(t));
    }
    t->slow = tile_add_block(t);
    LLVMPositionBuilderAtEnd(t->b, begin);
    LLVMValueRef offset_x = cc1_read_csr(t->cc, t->b, TERN_CSR_OFFSET_X);
    LLVMValueRef offset_y = cc1_read_csr(t->cc, t->b, TERN_CSR_OFFSET_Y);
    LLVMValueRef end_x = cc1_read_csr(t->cc, t->b, TERN_CSR_USER0), end_y = cc1_read_csr(t->cc, t->b, TERN_CSR_USER1);
    LLVMValueRef x = first_x(t, offset_x), y = first_y(t, offset_y);
    LLVMValueRef size_x = LLVMBuildSub(t->b, end_x, offset_x, ""), size_y = LLVMBuildSub(t->b, end_y, offset_y, "");
    tile_set(t, TILE_ID_X, x, CC1_COARSE_STRIDE, 0);
    tile_set(t, TILE_ID_Y, y, 0, 1);
    tile_set(t, TILE_SIZE_X, size_x, 0, 0);
    tile_set(t, TILE_SIZE_Y, size_y, 0, 0);
    LLVMValueRef last_x = t->rows ? make_row(t, x, offset_x)
                                  : LLVMBuildAdd(t->b, x, cc1_u32(t->cc, CC1_COARSE_STRIDE * (t->x - 1)), "");
    LLVMValueRef last_y = LLVMBuildAdd(t->b, y, cc1_u32(t->cc, t->y - 1), "");
    LLVMValueRef whole = LLVMBuildAnd(t->b, below(t, last_x, end_x), below(t, last_y, end_y), "");
    LLVMBasicBlockRef inside = tile_add_block(t);
    LLVMBuildCondBr(t->b, whole, inside, t->slow);
    LLVMPositionBuilderAtEnd(t->b, inside);
    assume_ids(t);
    LLVMBuildBr(t->b, tile_block(t, t->blocks[0], 0));
    make_fast(t);
    LLVMPositionBuilderAtEnd(t->b, t->slow);
    LLVMValueRef made = t->made, f = t->draft ? NULL : call_slow(t, slow_name(name), x, y);
    make_exit(t);
    if (f) {
        make_slow(t, f);
    }
    LLVMDisposeBuilder(t->b);
    return t->made = made;
}
