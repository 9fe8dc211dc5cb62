/* SPDX-License-Identifier: Apache-2.0 */
/** A plain entry as a list of steps: what coarse_read.c finds in it, and coarse.c makes a coarse entry of. */
#ifndef TERN_CC1_COARSE_H
#define TERN_CC1_COARSE_H

#include "cc1.h"

#define STRIDE CC1_COARSE_STRIDE
#define MOST 16u      /* copies in a round */
#define SLOW MOST     /* the copy in the loop */
#define MAX_STEPS 160u
#define WORDS 4u /* of vectors that are split, under way at once */

/** What becomes of an instruction of the plain entry. */
enum kind {
    ENTRY, /**< Once, at the beginning: arguments and CSRs. */
    ONCE,  /**< Once where all copies run: the same in all of them. */
    EACH,  /**< In each copy. */
    ITEM,  /**< The global id in x: it is what copies differ in. */
    SIZE,  /**< The global size in x. */
    GUARD  /**< A branch away from the rest of the kernel. */
};

struct step {
    LLVMValueRef of;
    enum kind kind;
    int loaded;     /**< Depends on memory. */
    int passes_if;  /**< GUARD: what its condition is for those that go on. */
    unsigned used;  /**< The last step that needs its value. */
    int grows;      /**< It is known by how much the value grows from one id in x to the next. */
    uint32_t by;    /**< By that. */
    int is_index;   /**< Needed only for addresses, which are made from those of copy 0. */
    LLVMValueRef copy[MOST + 1];
    int split;                /**< EACH: done with words (coarse_split.c). */
    LLVMValueRef word[WORDS]; /**< And what it is for those at hand. */
    LLVMValueRef first;       /**< Of an address: that of the lane's first word in the round. */
};

struct coarse {
    struct cc1 *cc;
    LLVMValueRef plain, made;
    LLVMBasicBlockRef leave; /**< The plain entry's: those go there who do nothing. */
    LLVMValueRef exit;       /**< The plain entry's exit instruction. */
    LLVMBuilderRef b;
    unsigned n, behind_guards, stores, copies;
    int again; /**< A round may pass a condition that one before it has not passed: small ids are not all that do. */
    unsigned parts;        /**< Components of the vectors that are split; 0: none are. */
    LLVMValueRef to_word;  /**< From the address of a lane's first vector to that of its first word, bytes. */
    LLVMValueRef to_last;  /**< From a lane's work-item to the row's last. */
    struct step steps[MAX_STEPS];
};

/** The step of an instruction of the plain entry; NULL: it is none. */
struct step *coarse_find(struct coarse *c, LLVMValueRef v);
/** By how much a value of 32 bits grows from one id in x to the next. 0: that is not known, or not constant. */
int coarse_grows(struct coarse *c, LLVMValueRef v, uint32_t *by);
/** The parts of which all must hold (passes_if 1) or none may (0), so that a condition does; else *second is NULL. */
LLVMValueRef coarse_parts(LLVMValueRef condition, int passes_if, LLVMValueRef *second);
/** Follows the plain entry from its beginning to its exit and fills the steps. 0: the kernel cannot be coarsened, since
 *  it is not a straight line, or not of the right steps. */
int coarse_read(struct coarse *c);
/** Can rounds do words instead of vectors? Then sets `parts` and which steps are split; is_index is known. */
void coarse_choose_split(struct coarse *c);
/** The split steps of a round, at the builder's place; the others' copies 0 are there. */
void coarse_make_words(struct coarse *c);

#endif
