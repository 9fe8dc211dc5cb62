/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Ranges of ids in a group and of sizes of groups, which are at most the work-items of an engine. The optimizer then
 * knows that they are not negative: it divides them by shifts, and counts loops that begin at one of them.
 */
#include "cc1.h"

#include "tern/tern_spec.h"

#define MOST_ITEMS 1024u /* work-items of a group: 32 warps of 32 lanes */

/** Sets *first and *end to the range of a CSR. 0: it may have any value. */
static int range_of(unsigned number, uint32_t *first, uint32_t *end)
{
    switch (number) {
    case TERN_CSR_LOCAL_ID_X: case TERN_CSR_LOCAL_ID_Y: case TERN_CSR_LOCAL_ID_Z:
        *first = 0;
        *end = MOST_ITEMS;
        return 1;
    case TERN_CSR_LOCAL_SIZE_X: case TERN_CSR_LOCAL_SIZE_Y: case TERN_CSR_LOCAL_SIZE_Z: case TERN_CSR_FULL_SIZE_X:
    case TERN_CSR_FULL_SIZE_Y: case TERN_CSR_FULL_SIZE_Z:
        *first = 1;
        *end = MOST_ITEMS + 1;
        return 1;
    default: return 0;
    }
}

void cc1_set_range(struct cc1 *cc, LLVMValueRef i, uint32_t first, uint32_t end)
{
    LLVMMetadataRef bounds[2] = {LLVMValueAsMetadata(cc1_u32(cc, first)), LLVMValueAsMetadata(cc1_u32(cc, end))};
    LLVMMetadataRef node = LLVMMDNodeInContext2(cc->context, bounds, 2);
    LLVMSetMetadata(i, LLVMGetMDKindIDInContext(cc->context, "range", 5), LLVMMetadataAsValue(cc->context, node));
}

void cc1_ids(struct cc1 *cc)
{
    LLVMTypeRef type = LLVMInt32TypeInContext(cc->context);
    for (LLVMValueRef f = LLVMGetFirstFunction(cc->module); f; f = LLVMGetNextFunction(f)) {
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
                uint32_t first, end;
                if (LLVMIsACallInst(i) && LLVMTypeOf(i) == type && range_of(cc1_csr(i), &first, &end)) {
                    cc1_set_range(cc, i, first, end);
                }
            }
        }
    }
}
