/* SPDX-License-Identifier: Apache-2.0 */
/** Where the paths of a branch meet again: post-dominators of a plain entry, which LLVM-C does not offer. */
#include "tile.h"

#include <stdlib.h>
#include <string.h>

unsigned tile_block_number(const struct tile *t, LLVMBasicBlockRef block)
{
    return tile_find_block(t, block)->by; /* blocks do not grow */
}

/** row[k] = {k} and what the rows of all successors have in common. Returns whether it has changed. */
static int update_row(const struct tile *t, const struct tile_joins *j, unsigned k)
{
    LLVMValueRef end = LLVMGetBasicBlockTerminator(t->blocks[k]);
    int changed = 0;
    for (size_t w = 0; w < j->words; w++) {
        uint64_t all = LLVMGetNumSuccessors(end) ? ~0ull : 0;
        for (unsigned i = 0; i < LLVMGetNumSuccessors(end); i++) {
            all &= j->row[tile_block_number(t, LLVMGetSuccessor(end, i)) * j->words + w];
        }
        all |= w == k / 64 ? 1ull << k % 64 : 0;
        changed |= all != j->row[k * j->words + w];
        j->row[k * j->words + w] = all;
    }
    return changed;
}

struct tile_joins tile_find_joins(struct tile *t)
{
    struct tile_joins j = {.words = (t->n_blocks + 63u) / 64};
    j.row = cc1_alloc(t->n_blocks, j.words * sizeof *j.row);
    memset(j.row, 0xff, t->n_blocks * j.words * sizeof *j.row);
    for (unsigned k = 0; k < t->n_blocks; k++) {
        tile_find_block(t, t->blocks[k])->by = k;
    }
    for (int changed = 1; changed;) {
        changed = 0;
        for (unsigned k = t->n_blocks; k-- > 0;) {
            changed |= update_row(t, &j, k);
        }
    }
    return j;
}

LLVMBasicBlockRef tile_join(const struct tile *t, const struct tile_joins *j, unsigned k)
{
    LLVMBasicBlockRef best = NULL;
    int most = 0;
    for (unsigned n = 0; n < t->n_blocks; n++) {
        int bits = 0; /* the nearest is the one that itself meets most of them */
        for (size_t w = 0; w < j->words && n != k && j->row[k * j->words + n / 64] >> n % 64 & 1; w++) {
            bits += __builtin_popcountll(j->row[n * j->words + w]);
        }
        if (bits > most) {
            most = bits;
            best = t->blocks[n];
        }
    }
    return best;
}

void tile_fill(LLVMBasicBlockRef from, LLVMBasicBlockRef join, struct cc1_set *set)
{
    LLVMValueRef end = LLVMGetBasicBlockTerminator(from);
    for (unsigned i = 0; i < LLVMGetNumSuccessors(end); i++) {
        LLVMBasicBlockRef next = LLVMGetSuccessor(end, i);
        if (next != join && cc1_set_add(set, LLVMBasicBlockAsValue(next))) {
            tile_fill(next, join, set);
        }
    }
}
