/* SPDX-License-Identifier: Apache-2.0 */
/** A plain entry as a table of values, which tile_read.c makes and tile.c turns into an entry for tiles. */
#ifndef TERN_CC1_TILE_H
#define TERN_CC1_TILE_H

#include "cc1.h"

#define TILE_SIDE 4u                          /* largest number of copies in x, and in y */
#define TILE_COPIES (TILE_SIDE * TILE_SIDE)
#define TILE_SLOW TILE_COPIES                 /* index of the copy in the slow loop */

/** On what a value depends. */
enum tile_depends {
    TILE_X = 1,      /**< The global id in x. */
    TILE_Y = 2,      /**< The global id in y. */
    TILE_LOADED = 4, /**< Memory that may be written. */
    TILE_BOTH = TILE_X | TILE_Y
};

enum tile_kind { TILE_PLAIN, TILE_ID_X, TILE_ID_Y, TILE_SIZE_X, TILE_SIZE_Y, TILE_HINT, TILE_EXIT };

/** State of the analysis of growth: by how much a value grows from one id in x to the next. */
enum tile_growth { TILE_UNKNOWN, TILE_GROWS, TILE_NO_GROWTH };

/** An instruction or a block of the plain entry. */
struct tile_value {
    LLVMValueRef of;
    enum tile_kind kind;
    unsigned depends;        /**< Bits of enum tile_depends. */
    enum tile_growth growth;
    uint32_t by;             /**< TILE_GROWS: the growth. */
    int leaves;              /**< A branch: 1 + index of the successor in which the work-item ends; 0: no guard. */
    LLVMValueRef copy[TILE_COPIES + 1]; /**< Of a block: [0] its copy in the tile, [TILE_SLOW] that in the loop. */
    LLVMBasicBlockRef last[2]; /**< A block: last block of its copy in the tile, and of that in the loop. */
};

struct tile {
    struct cc1 *cc;
    struct cc1_why why;            /**< Why the entry cannot run as tiles. */
    LLVMValueRef branch[2];        /**< The first branches that make x, and y, divergent; or NULL. */
    LLVMValueRef plain, made;
    LLVMBuilderRef b;
    unsigned x, y;                 /**< Copies of the tile in x and in y. */
    int draft;                     /**< The entry is made to be counted, without the loop over single work-items. */
    unsigned divergent;            /**< Dimensions of which a branch depends that is no guard. */
    unsigned reads;                /**< Dimensions whose id is read. */
    size_t n;
    struct tile_value *values;     /**< In the order of their addresses. */
    unsigned n_blocks;
    LLVMBasicBlockRef *blocks;     /**< Each block comes after its predecessors, except along back edges. */
    LLVMBasicBlockRef slow;        /**< Begin of the loop over single work-items. */
};

/** Puts `values` into the order that tile_find needs. */
void tile_sort(struct tile *t);
/** The entry of an instruction or block; NULL: v is neither. */
struct tile_value *tile_find(const struct tile *t, LLVMValueRef v);
/** True: block `to` can be reached from the successors of `from`. */
int tile_reaches(LLVMBasicBlockRef from, LLVMBasicBlockRef to);
/** Reads the plain entry. 0: it cannot run as tiles, see t->why. The caller frees `values` and `blocks`. */
int tile_read(struct tile *t);
/** The tile's dimensions on which v depends. */
unsigned tile_depends(const struct tile *t, const struct tile_value *v);

/** Makes an entry for tiles of t->x times t->y work-items. */
LLVMValueRef tile_make(struct tile *t, const char *name);

/** Makes the addresses of an entry for tiles share partial sums. After cc1_addresses. */
void tile_share_terms(struct cc1 *cc, LLVMValueRef f);
/** Orders the instructions of an entry for tiles, after all other passes. */
void tile_order(struct cc1 *cc, LLVMValueRef f);

/** The lines of memory that a row of lanes accesses by the loads and stores of an entry, as estimated, with this number
 *  of rounds for each loop. After cc1_order. */
double tile_lines(struct cc1 *cc, LLVMValueRef f, double rounds);

#endif
