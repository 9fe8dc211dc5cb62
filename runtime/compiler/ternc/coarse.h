/* SPDX-License-Identifier: Apache-2.0 */
/** A plain entry as a list of steps, which coarse_read.c makes and coarse.c turns into a coarse entry. */
#ifndef TERN_CC1_COARSE_H
#define TERN_CC1_COARSE_H

#include "cc1.h"

#define COARSE_COPIES 16u         /* largest number of copies in a round */
#define COARSE_SLOW COARSE_COPIES /* index of the copy in the slow loop */
#define COARSE_STEPS 160u         /* largest number of steps */
#define COARSE_WORDS 4u           /* words of a split vector that are processed together */

/** Where an instruction of the plain entry goes. */
enum kind {
    ENTRY, /**< Once at the begin: arguments and CSRs. */
    ONCE,  /**< Once in a round: its value is the same in all copies. */
    EACH,  /**< In each copy. */
    ITEM,  /**< The global id in x, in which the copies differ. */
    SIZE,  /**< The global size in x. */
    GUARD  /**< A branch that skips the rest of the kernel. */
};

struct step {
    LLVMValueRef of;
    enum kind kind;
    int loaded;     /**< The value depends on memory. */
    int passes_if;  /**< GUARD: value of the condition with which work-items continue. */
    unsigned used;  /**< Index of the last step that uses the value. */
    int grows;      /**< The growth of the value from one id in x to the next is known. */
    uint32_t by;    /**< That growth. */
    int is_index;   /**< The value is used for addresses only, which are computed from those of copy 0. */
    LLVMValueRef copy[COARSE_COPIES + 1];
    int split;                /**< EACH: executed with words (coarse_split.c). */
    int in_row;               /**< EACH: the value is the same for the work-items of a row (coarse_split.c). */
    LLVMValueRef word[COARSE_WORDS]; /**< Values of the words that are processed now. */
    LLVMValueRef first;       /**< An address: the address of the lane's first word in the round. */
};

struct coarse {
    struct cc1 *cc;
    struct cc1_why why;      /**< Why the kernel cannot be coarsened. */
    LLVMValueRef plain, made;
    LLVMBasicBlockRef leave; /**< Block of the plain entry to which work-items go that do nothing. */
    LLVMValueRef exit;       /**< Exit instruction of the plain entry. */
    LLVMBuilderRef b;
    unsigned n, behind_guards, stores, copies;
    /** A later round may pass a condition that an earlier one has not passed, because not only small ids pass. */
    int again;
    unsigned parts;        /**< Components of the split vectors; 0: none are split. */
    LLVMValueRef to_word;  /**< Bytes from the address of a lane's first vector to that of its first word. */
    LLVMValueRef to_last;  /**< Distance from a lane's work-item to the last one of its row. */
    struct step steps[COARSE_STEPS];
};

/** The step of an instruction of the plain entry; NULL: it has none. */
struct step *coarse_find(struct coarse *c, LLVMValueRef v);
/** The growth of a 32-bit value from one id in x to the next. 0: unknown, or not constant. */
int coarse_grows(struct coarse *c, LLVMValueRef v, uint32_t *by);
/** The two parts of a condition that passes if both are true (passes_if 1) or both are false (passes_if 0); *second
 *  is NULL if it has one part. */
LLVMValueRef coarse_parts(LLVMValueRef condition, int passes_if, LLVMValueRef *second);
/** True: the exit instruction of an entry. */
int coarse_is_exit(LLVMValueRef i);
/** True: a barrier. */
int coarse_is_barrier(LLVMValueRef i);
/** True: the instruction has a pointer to local memory. */
int coarse_uses_local(LLVMValueRef i);
/** True: an intrinsic that neither reads nor writes memory. */
int coarse_is_pure_call(LLVMValueRef call);
/** True: the instruction only informs the optimizer, and is not copied. */
int coarse_is_hint(LLVMValueRef i);
/** True: an argument of the entry, or its address: the entry's only parameter, or a constant distance from it. */
int coarse_is_argument(LLVMValueRef entry, LLVMValueRef v);
/** True: the instruction is atomic, volatile or a fence. */
int coarse_is_ordered(LLVMValueRef i);
/** Why work-items may not execute the instruction in any order: it is ordered, or has a pointer to local memory. NULL:
 *  they may. Calls are not examined. */
const char *coarse_obstacle(LLVMValueRef i);
/** True: a call that may change memory, as far as is known. */
int coarse_is_opaque_call(LLVMValueRef i);
/** The value of a phi for a predecessor of its block. */
LLVMValueRef coarse_incoming(LLVMValueRef phi, LLVMBasicBlockRef from);
/** True: the instructions of the block may be executed even if the program would not, and one block follows. */
int coarse_is_speculative(LLVMBasicBlockRef block);
/** True: the block only joins paths to the next one. */
int coarse_joins_only(LLVMBasicBlockRef block);
/** Moves the instructions of a block (NULL: none) but the last before an instruction. */
void coarse_move_before(LLVMBuilderRef b, LLVMBasicBlockRef block, LLVMValueRef before);
/** Gives `to` the attributes of the entry `from`. */
void coarse_copy_attributes(LLVMValueRef from, LLVMValueRef to);
/** Follows the plain entry from begin to exit, and fills the steps. 0: the kernel cannot be coarsened, see c->why. */
int coarse_read(struct coarse *c);
/** Decides whether rounds can use words instead of vectors. If so sets `parts`, and `split` of the steps. Requires
 *  is_index. */
void coarse_choose_split(struct coarse *c);
/** Builds the split steps of a round. Copy 0 of all other steps exists. */
void coarse_make_words(struct coarse *c);

#endif
