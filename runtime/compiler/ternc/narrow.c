/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Makes a store to components of a vector in memory write these components only.
 *
 * The front end compiles `p->x = v` to a load of the whole vector, an insertion, and a store of the whole vector. If
 * another work-item writes another component between the load and the store, its value is lost. This pass runs before
 * any optimization, because later passes move and merge loads and stores.
 */
#include "cc1.h"

/** A store whose vector differs only in some components from what `load` read at the same address. */
struct narrow {
    LLVMValueRef store, load;
    LLVMValueRef made; /**< The stored value: an insertion into the load's result, or a shuffle of it with others. */
};

/** The load whose result is the first operand of an insertion or shuffle, if only such instructions are between load
 *  and store, and both access the same vector. NULL: there is none. */
static LLVMValueRef load_of(LLVMValueRef store, LLVMValueRef made)
{
    LLVMValueRef load = LLVMGetOperand(made, 0), i = LLVMGetPreviousInstruction(store);
    if (!LLVMIsALoadInst(load) || LLVMGetOperand(load, 0) != LLVMGetOperand(store, 1) ||
        LLVMTypeOf(load) != LLVMTypeOf(made)) {
        return NULL;
    }
    while (i && (LLVMIsAInsertElementInst(i) || LLVMIsAShuffleVectorInst(i))) {
        i = LLVMGetPreviousInstruction(i);
    }
    return i == load ? load : NULL;
}

/** True: the store is one that struct narrow describes; fills *n. */
static int match(LLVMValueRef store, struct narrow *n)
{
    LLVMValueRef made = LLVMIsAStoreInst(store) ? LLVMGetOperand(store, 0) : NULL;
    if (!made || (!LLVMIsAInsertElementInst(made) && !LLVMIsAShuffleVectorInst(made))) {
        return 0;
    }
    *n = (struct narrow){store, load_of(store, made), made};
    return n->load != NULL;
}

/** Builds a store of one component; `index` may be no constant. */
static void store_component(struct cc1 *cc, LLVMBuilderRef b, const struct narrow *n, LLVMValueRef index,
                            LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    const uint64_t size = LLVMABISizeOfType(cc->layout, type);
    uint64_t align = LLVMGetAlignment(n->store);
    /* a component's offset is a multiple of its size; with a constant index it is known */
    uint64_t offset = LLVMIsAConstantInt(index) ? LLVMConstIntGetZExtValue(index) * size : size;
    while (offset % align) {
        align /= 2;
    }
    LLVMValueRef at = LLVMBuildInBoundsGEP2(b, type, LLVMGetOperand(n->store, 1), &index, 1, "");
    LLVMValueRef made = LLVMBuildStore(b, value, at);
    LLVMSetAlignment(made, (unsigned)align);
    LLVMSetVolatile(made, LLVMGetVolatile(n->store));
}

/** Stores each component of the shuffle that is not the same component of the load's result. */
static void store_shuffled(struct cc1 *cc, LLVMBuilderRef b, const struct narrow *n)
{
    LLVMTypeRef word = LLVMInt32TypeInContext(cc->context);
    const int inputs = (int)LLVMGetVectorSize(LLVMTypeOf(n->load));
    const unsigned outputs = LLVMGetNumMaskElements(n->made);
    for (unsigned i = 0; i < outputs; i++) {
        const int from = LLVMGetMaskValue(n->made, i);
        if (from == (int)i || from == LLVMGetUndefMaskElem()) {
            continue;
        }
        LLVMValueRef source = LLVMGetOperand(n->made, from < inputs ? 0 : 1);
        LLVMValueRef lane = LLVMConstInt(word, (unsigned)(from < inputs ? from : from - inputs), 0);
        store_component(cc, b, n, LLVMConstInt(word, i, 0), LLVMBuildExtractElement(b, source, lane, ""));
    }
}

static void narrow_one(struct cc1 *cc, LLVMBuilderRef b, const struct narrow *n)
{
    LLVMPositionBuilderBefore(b, n->store); /* new instructions get the store's line of source */
    if (LLVMIsAInsertElementInst(n->made)) {
        store_component(cc, b, n, LLVMGetOperand(n->made, 2), LLVMGetOperand(n->made, 1));
    } else {
        store_shuffled(cc, b, n);
    }
    LLVMInstructionEraseFromParent(n->store);
    if (!LLVMGetFirstUse(n->made)) {
        LLVMInstructionEraseFromParent(n->made);
    }
    if (!LLVMGetFirstUse(n->load)) { /* also if volatile: the source does not read the other components */
        LLVMInstructionEraseFromParent(n->load);
    }
}

void cc1_narrow(struct cc1 *cc, LLVMModuleRef module)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(cc->context);
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block)) {
            for (LLVMValueRef i = LLVMGetFirstInstruction(block), next; i; i = next) {
                struct narrow n;
                next = LLVMGetNextInstruction(i);
                if (match(i, &n)) {
                    narrow_one(cc, b, &n);
                }
            }
        }
    }
    LLVMDisposeBuilder(b);
}
