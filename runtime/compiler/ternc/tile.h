/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A plain entry as a table of values, which tile_read.c makes and tile.c turns into an entry for tiles. merge_read.c
 * and merge.c do the same for groups of which each hardware work-item runs several work-items.
 */
#ifndef TERN_CC1_TILE_H
#define TERN_CC1_TILE_H

#include "cc1.h"

#define TILE_SIDE 4u                          /* largest number of copies of a tile in x, and in y */
#define TILE_COPIES (TILE_SIDE * TILE_SIDE)   /* largest number of copies, all of them in x for merged groups */
#define TILE_SLOW TILE_COPIES                 /* index of the copy in the slow loop */

/** On what a value depends. */
enum tile_depends {
    TILE_X = 1,      /**< The global id in x. */
    TILE_Y = 2,      /**< The global id in y. */
    TILE_LOADED = 4, /**< Memory that may be written. */
    TILE_BOTH = TILE_X | TILE_Y
};

enum tile_kind {
    TILE_PLAIN,
    TILE_ID_X,
    TILE_ID_Y,
    TILE_SIZE_X,
    TILE_SIZE_Y,
    TILE_GROUP,  /**< Merged groups that are joined: the id of the group. */
    TILE_GROUPS, /**< The number of groups. */
    TILE_LOCAL,  /**< An address in local memory, of which each group has another one. */
    TILE_HINT,
    TILE_EXIT,
    TILE_BARRIER, /**< Of merged groups, as the next ones. */
    TILE_PRIVATE, /**< A private variable. */
    TILE_ALL,     /**< Whether the operand is true for all work-items that are merged (lockstep.c). */
    TILE_ANY      /**< Whether it is true for any of them. */
};

/** State of the analysis of growth: by how much a value grows from one id in x to the next. */
enum tile_growth { TILE_UNKNOWN, TILE_GROWS, TILE_NO_GROWTH };

/** An instruction or a block of the plain entry. */
struct tile_value {
    LLVMValueRef of;
    enum tile_kind kind;
    unsigned depends;        /**< Bits of enum tile_depends. */
    enum tile_growth growth;
    uint32_t by;             /**< TILE_GROWS: the growth, in units of `times`. */
    LLVMValueRef times;      /**< A value that does not depend on x; NULL: 1. */
    int leaves;              /**< A branch: 1 + index of the successor to which no work-item of a tile goes; 0: none. */
    int votes;               /**< A branch: the work-items of a tile all go its way, or one after the other. */
    int moves;               /**< Joined groups: an address that is `apart` bytes further in the next group. */
    unsigned region;         /**< Number of the region that has the value, or a phi of whose join it is; 0: none. */
    LLVMValueRef copy[TILE_COPIES + 1]; /**< Of a block: [0] its copy in the tile, [TILE_SLOW] that in the loop. */
    LLVMBasicBlockRef last[2]; /**< A block: last block of its copy in the tile, and of that in the loop. */
};

/** Blocks that work-items of a merged group enter or not, or repeat differently often (merge_read.c). Their copies run
 *  one after the other. */
struct tile_region {
    LLVMBasicBlockRef from;      /**< The block before the region, whose branch leads into it or to `join`. */
    LLVMBasicBlockRef join;      /**< The block in which all paths meet again. */
    LLVMBasicBlockRef last;      /**< Last block of the last copy; NULL: not made yet. */
    LLVMValueRef *joined;        /**< [p * TILE_COPIES + k]: the value of phi p of `join` behind copy k; NULL: none. */
};

struct tile {
    struct cc1 *cc;
    struct cc1_why why;            /**< Why the entry cannot run as tiles. */
    LLVMValueRef branch[2];        /**< The first branches that make x, and y, divergent; or NULL. */
    LLVMValueRef plain, made;
    LLVMBuilderRef b;
    unsigned x, y;                 /**< Copies of the tile in x and in y. */
    unsigned side;                 /**< Copy (k, l) has index l * side + k. */
    uint32_t stride;               /**< Distance of the copies in x, in work-items. */
    int barriers;                  /**< Merged groups: there are barriers. */
    unsigned axis;                 /**< Merged groups: the dimension in which the copies differ, which counts as x;
                                    *   groups that are joined, of which there are `y`, count as y. */
    uint32_t apart;                /**< Distance of the local memory of groups that are joined, in bytes. */
    unsigned n_regions;
    struct tile_region *regions;   /**< Region number n is element n - 1. */
    struct cc1_set serial;         /**< Merged groups: the blocks before the serial copies of loops (lockstep.c). */
    struct cc1_set whole;          /**< Merged groups: blocks that are a part of the region behind them
                                    *   (merge_grow.c). */
    int rows;                      /**< The lanes of a row load words for each other (tile_rows.c). */
    LLVMValueRef row[2];           /**< The ids in x of the first and the last work-item of the row. */
    int draft;                     /**< The entry is made to be counted, without the loop over single work-items, and
                                    *   without the serial copies. */
    unsigned divergent;            /**< Dimensions of which a branch depends that is no guard. */
    unsigned borders;              /**< Dimensions of which a vote depends, or a guard that does not end work-items. */
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
/** The entry of a block. */
struct tile_value *tile_find_block(const struct tile *t, LLVMBasicBlockRef block);
/** True: block `to` can be reached from the successors of `from`. */
int tile_reaches(LLVMBasicBlockRef from, LLVMBasicBlockRef to);
/** Reads the plain entry. 0: it cannot run as tiles, see t->why. The caller frees `values` and `blocks`. */
int tile_read(struct tile *t);
/** The tile's dimensions on which v depends. */
unsigned tile_depends(const struct tile *t, const struct tile_value *v);

/** Fills `values` and `blocks`. 0: the entry has more than `most` instructions and blocks. */
int tile_collect(struct tile *t, size_t most);
/** Passes dependences on from operands to users. */
void tile_spread(struct tile *t);
/** Finds the growth of all values. */
void tile_find_growth(struct tile *t);

/** Appends an empty block to the entry that is being made. */
LLVMBasicBlockRef tile_add_block(const struct tile *t);
/** The value that copy k uses for an operand of the plain entry. */
LLVMValueRef tile_get(struct tile *t, LLVMValueRef v, unsigned k);
/** Builds copy k of an instruction. */
LLVMValueRef tile_clone(struct tile *t, LLVMValueRef of, unsigned k);
/** The copy of a block. */
LLVMBasicBlockRef tile_block(struct tile *t, LLVMBasicBlockRef block, unsigned k);
/** Builds all copies of an instruction in the tile. derived: only those that are another copy and a constant distance;
 *  else only the others. */
void tile_make_copies(struct tile *t, struct tile_value *v, int derived);
/** Builds the copies of the phis at the begin of a block. Returns the first instruction behind them. */
LLVMValueRef tile_make_phis(struct tile *t, LLVMBasicBlockRef block);
/** Sets the copies of the steps of one kind to first + each_x * k + each_y * l for copy (k, l). */
void tile_set(struct tile *t, enum tile_kind kind, LLVMValueRef first, unsigned each_x, unsigned each_y);

/** The blocks that all paths from each block to the end of the kernel meet (joins.c): bit n of row k is set if block n
 *  of t->blocks is on all paths from block k. A row has `words` words of 64 bits. The user frees `row`. */
struct tile_joins {
    size_t words;
    uint64_t *row;
};
struct tile_joins tile_find_joins(struct tile *t);
/** The number of a block in t->blocks, between tile_find_joins and tile_find_growth. */
unsigned tile_block_number(const struct tile *t, LLVMBasicBlockRef block);
/** The nearest block that all paths from block k meet; NULL: there is none. */
LLVMBasicBlockRef tile_join(const struct tile *t, const struct tile_joins *j, unsigned k);
/** Adds the blocks that are reached from the successors of `from` before `join`. */
void tile_fill(LLVMBasicBlockRef from, LLVMBasicBlockRef join, struct cc1_set *set);

/** The instruction by which a work-item may wait in a loop for another one (waits.c); NULL: there is none. */
LLVMValueRef waits_find(const struct tile *t, const struct tile_joins *j);
/** True: the result of the instruction may depend on what another work-item does at the same time. */
int waits_reads_others(LLVMValueRef i);

/** Reads the plain entry for merged groups whose axis is t->axis. 0: its work-items cannot be merged, or it has more
 *  than `most` instructions and blocks. The caller calls merge_free. */
int merge_read(struct tile *t, size_t most);
void merge_free(struct tile *t);
/** Makes the addresses of local variables instructions of the plain entry, so that groups can be joined. 0: there are
 *  addresses that are not. */
int merge_find_local(struct tile *t);
/** On what a value depends that differs between all copies. */
unsigned merge_depends(const struct tile *t);
/** Makes an entry for merged groups, of which each hardware work-item runs t->x work-items of t->y groups. */
LLVMValueRef merge_make(struct tile *t, const char *name);

/** Divides blocks of t->plain, after merge_read, and adds to t->whole, so that regions begin earlier. 0: there is none
 *  to divide; else `t` must be read anew. */
int merge_grow(struct tile *t);

/** Calls in a plain entry, from a bit to a bit, which merge_make replaces: TILE_ALL and TILE_ANY. */
#define TILE_ALL_OF "tern.all"
#define TILE_ANY_OF "tern.any"
/** Splits a loop of t->plain, after merge_read, and adds a block to t->serial; loops have single latches, and values of
 *  a loop are used behind it by phis of its exit. 0: there is none to split; else `t` must be read anew. */
int lockstep_split(struct tile *t);
/** Builds the copies of TILE_ALL and TILE_ANY. */
void lockstep_vote(struct tile *t, struct tile_value *v);

/** Makes an entry for tiles of t->x times t->y work-items. */
LLVMValueRef tile_make(struct tile *t, const char *name);

/** Passes that find what copies have in common. By default, instcombine ends the process if a second run of it would
 *  find more. */
#define TILE_COMBINE "instcombine<no-verify-fixpoint>"
#define TILE_PASSES                                                                                        \
    "function(correlated-propagation,early-cse<memssa>," TILE_COMBINE ",gvn,simplifycfg," TILE_COMBINE "," \
    "early-cse<memssa>)"
/** Runs passes on one function of the module. */
void tile_optimize(struct cc1 *cc, LLVMValueRef only, const char *passes);

/** True: entries may be made whose lanes load words for each other. After tile_read. */
int tile_may_load_rows(const struct tile *t);
/** Builds whether all work-items of the row pass a part of a guard that depends on x. */
LLVMValueRef tile_row_passes(struct tile *t, LLVMValueRef part, int passes_if);
/** Makes the lanes of a row load words for each other in an entry for tiles of 1 work-item in x, after cc1_addresses.
 *  The entry then needs groups of CC1_COARSE_STRIDE x 1 x 1. Returns how often. */
unsigned tile_load_rows(struct cc1 *cc, LLVMValueRef f);
/** The lines that an access of tile_load_rows takes. 0: it is another access. */
int tile_known_lines(struct cc1 *cc, LLVMValueRef access, double *lines);

/** An entry whose work-items are single, one for tiles or merged work-items, and one with tile_load_rows. */
enum tile_entry { TILE_NO_COPIES, TILE_COPIED, TILE_ROWS };

/** An estimate of what an entry executes and accesses, and the number of its instructions. */
struct tile_estimate {
    double instructions, lines;
    uint32_t words;
    uint32_t spills; /**< Instructions that access the stack in loops. */
    unsigned rows; /**< TILE_ROWS: how often lanes load words for each other. */
};

/** Estimates an entry. If it has copies, TILE_PASSES come before. The module stays as it is. */
struct tile_estimate tile_estimate(struct cc1 *cc, LLVMValueRef entry, enum tile_entry is);
/** Cycles: the engine executes an instruction a cycle, and accesses a line of memory a cycle for other warps at the
 *  same time. */
double tile_cost(const struct tile_estimate *e);

/** Makes the addresses of an entry for tiles share partial sums. After cc1_addresses. */
void tile_share_terms(struct cc1 *cc, LLVMValueRef f);
/** Orders the instructions of an entry for tiles, after all other passes. */
void tile_order(struct cc1 *cc, LLVMValueRef f);

/** The lines of memory that a row of lanes accesses by the loads and stores of an entry, as estimated, with this number
 *  of rounds for each loop. After cc1_order. */
double tile_lines(struct cc1 *cc, LLVMValueRef f, double rounds);

#endif
