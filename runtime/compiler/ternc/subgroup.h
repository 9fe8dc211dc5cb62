/* SPDX-License-Identifier: Apache-2.0 */
/** Teams of sub-groups (subgroup.c): what subgroup_read.c finds in an entry. */
#ifndef TERN_CC1_SUBGROUP_H
#define TERN_CC1_SUBGROUP_H

#include "cc1.h"

#define SUB_ACTIVE "__tern_active" /* of device/votes.cl */
#define SUB_LEVEL "__tern_level"
#define SUB_BEGIN "__tern_sub_begin"

/** A set of blocks by their numbers. */
struct blocks {
    uint64_t *bit;
};

/** The change of the team at the begin of a block. */
enum sub_kind {
    SUB_SAME,   /**< The team is that of the predecessor, as its branch has left it. */
    SUB_RETURN, /**< All members of the base's team come: it is that team again. */
    SUB_GATHER  /**< Members that have left on the way do not come; the others find out who they are. */
};

struct sub_block {
    LLVMBasicBlockRef block;
    unsigned ways, way[2]; /**< Number of blocks to which its branch leads, and these. */
    enum sub_kind kind;
    unsigned base;         /**< The block whose team, before its branch, is returned to; not for SUB_SAME. */
    unsigned level;        /**< Level of the team. */
    unsigned unit;         /**< SUB_GATHER: number of its two units of memory, from 0. */
    struct blocks leaves;  /**< SUB_GATHER: the blocks from which a way leads where this block is not reached. */
    struct blocks reaches; /**< SUB_GATHER: the blocks from which this block is reached without the base between. */
    struct blocks before;  /**< Blocks that are on all ways to this one, and itself. */
    struct blocks after;   /**< Blocks that are on all ways from this one to the end, and itself. */
    struct blocks loop;    /**< If it is the header of a loop: the blocks of the loop; else NULL. */
    unsigned entry;        /**< If it is the header of a loop: the block before the loop. */
    LLVMValueRef saved;    /**< If it is a base: variable with its team. */
};

struct sub_entry {
    struct cc1 *cc;
    struct cc1_kernel *kernel;
    struct sub_block *block; /**< Sorted by the address of the block. */
    unsigned n, words;       /**< Blocks, and words of a set of them. */
    unsigned *order;         /**< The blocks, each behind those on its ways, but for the ways back in loops. */
    unsigned n_order;
    struct blocks calls;     /**< Blocks with calls of functions of sub-groups. */
    struct blocks divides;   /**< Blocks whose branch divides the team. */
    struct blocks bases;     /**< Blocks whose team is returned to. */
    struct blocks meets;     /**< Blocks before loops in which the team has another level. */
    struct blocks mixed;     /**< Blocks whose phis differ between work-items. */
    struct blocks read;      /**< Blocks whose branch has been found to differ. */
    struct cc1_set differs;  /**< Values that differ between the work-items of a sub-group. */
    unsigned levels, gathers;
    LLVMValueRef team;       /**< Variable with the team. */
    LLVMBuilderRef b;
};

unsigned sub_has(struct blocks s, unsigned k);
/** Number of a block. */
unsigned sub_number(const struct sub_entry *e, LLVMBasicBlockRef block);
int sub_is_call_of(LLVMValueRef i, const char *name);
/** True: a call that asks for the team or its level. */
int sub_is_mark(LLVMValueRef i);
/** Reads the entry of a kernel: sets all but variables and the builder. */
void sub_read(struct sub_entry *e);

#endif
