/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Orders the instructions of tiles for few live values. The copies of an instruction follow each other after tile.c, so
 * that a word which several work-items use in different places of the kernel stays in a register from the first of them
 * to the last: those of a stencil need more registers than there are. Here each load comes when most of its uses can
 * follow at once. The code generator does not move instructions that far.
 *
 * Between two stores, the next instruction is one that is ready and ends the life of an operand. If there is none, it
 * is the load that leaves the fewest uses for later, and before it come the instructions that make its address.
 */
#include "tile.h"

#include "coarse.h"
#include "tern/tern_spec.h"

#include <stdlib.h>

struct node {
    LLVMValueRef of;
    unsigned first, n;      /**< Operands that this part computes: where they begin in `operands`, and how many. */
    unsigned users_first, n_users;
    unsigned waits;         /**< Operands that are not placed yet. */
    unsigned left;          /**< Users that are not placed yet; one more if it is used elsewhere. */
    int loads, placed;
    int blocked;            /**< The value waits for a load that is not placed yet. */
    int depends;            /**< The value depends on a load of this part. */
    int ends;               /**< The value is the only user of one from before this part, such as a sum. */
};

struct order {
    LLVMBuilderRef b;
    LLVMValueRef end; /**< The instructions are moved before this one. */
    const struct cc1_set *varying; /**< Values that depend on the id in x. */
    struct node *nodes;
    unsigned n, *operands, *users, n_operands;
};

static void place(struct order *o, unsigned k)
{
    struct node *node = &o->nodes[k];
    if (node->placed) {
        return;
    }
    for (unsigned i = 0; i < node->n; i++) {
        place(o, o->operands[node->first + i]);
    }
    node->placed = 1;
    for (unsigned i = 0; i < node->n; i++) {
        o->nodes[o->operands[node->first + i]].left--;
    }
    for (unsigned i = 0; i < node->n_users; i++) {
        o->nodes[o->users[node->users_first + i]].waits--;
    }
    LLVMInstructionRemoveFromParent(node->of);
    LLVMPositionBuilderBefore(o->b, o->end);
    LLVMInsertIntoBuilder(o->b, node->of);
}

/** True: no later use of one of its operands remains. */
static int ends_one(const struct order *o, const struct node *node)
{
    for (unsigned i = 0; i < node->n; i++) {
        if (o->nodes[o->operands[node->first + i]].left == 1) {
            return 1;
        }
    }
    return 0;
}

/** Finds the instructions that wait for a load. Operands come before their users. */
static void find_blocked(struct order *o)
{
    for (unsigned k = 0; k < o->n; k++) {
        struct node *node = &o->nodes[k];
        node->blocked = 0;
        for (unsigned i = 0; i < node->n && !node->placed && !node->blocked; i++) {
            const struct node *from = &o->nodes[o->operands[node->first + i]];
            node->blocked = !from->placed && (from->loads || from->blocked);
        }
    }
}

/** Places the instructions that are ready and end the life of an operand. */
static void place_ready(struct order *o)
{
    for (int more = 1; more;) {
        more = 0;
        for (unsigned k = 0; k < o->n; k++) {
            const struct node *node = &o->nodes[k];
            if (!node->placed && !node->loads && node->depends && node->waits == 0 &&
                (node->ends || ends_one(o, node))) {
                place(o, k);
                more = 1;
            }
        }
    }
}

/** The load that leaves fewest uses for later; o->n: there are no loads left. Of several the first one of which lanes
 *  access different words, because it takes longer. */
static unsigned next_load(struct order *o)
{
    unsigned best = o->n, least = 0;
    find_blocked(o);
    for (unsigned k = 0; k < o->n; k++) {
        const struct node *node = &o->nodes[k];
        if (node->placed || !node->loads || node->blocked) {
            continue;
        }
        unsigned later = node->left - node->n_users;
        for (unsigned i = 0; i < node->n_users; i++) {
            later += o->nodes[o->users[node->users_first + i]].waits > 1;
        }
        later = 2 * later + !cc1_set_has(o->varying, node->of);
        if (best == o->n || later < least) {
            best = k;
            least = later;
        }
    }
    return best;
}

/** Fills the nodes of `n` instructions from `first` on. */
static void read_part(struct order *o, LLVMValueRef first, unsigned n)
{
    struct tile table = {.n = n, .values = cc1_alloc(n, sizeof *table.values)}; /* `by`: number of the node */
    LLVMValueRef i = first;
    o->n = n;
    o->nodes = cc1_alloc(n, sizeof *o->nodes);
    for (unsigned k = 0; k < n; k++, i = LLVMGetNextInstruction(i)) {
        o->nodes[k] = (struct node){.of = i, .loads = LLVMIsALoadInst(i) != NULL};
        table.values[k] = (struct tile_value){.of = i, .by = k};
        o->n_operands += (unsigned)LLVMGetNumOperands(i);
    }
    tile_sort(&table);
    o->operands = cc1_alloc(o->n_operands, sizeof *o->operands);
    o->users = cc1_alloc(o->n_operands, sizeof *o->users);
    unsigned at = 0;
    for (unsigned k = 0; k < n; k++) {
        struct node *node = &o->nodes[k];
        node->first = at;
        node->depends = node->loads;
        for (int v = 0; v < LLVMGetNumOperands(node->of); v++) {
            LLVMValueRef operand = LLVMGetOperand(node->of, (unsigned)v);
            const struct tile_value *from = tile_find(&table, operand);
            int again = 0;
            LLVMUseRef use = LLVMIsAInstruction(operand) ? LLVMGetFirstUse(operand) : NULL;
            node->ends |= !from && use && !LLVMGetNextUse(use);
            for (unsigned w = node->first; from && w < at; w++) {
                again |= o->operands[w] == from->by;
            }
            if (from && !again) {
                o->operands[at++] = from->by;
                o->nodes[from->by].n_users++;
                node->depends |= o->nodes[from->by].depends;
            }
        }
        node->waits = node->n = at - node->first;
    }
    at = 0;
    for (unsigned k = 0; k < n; k++) {
        o->nodes[k].users_first = at;
        at += o->nodes[k].n_users;
        o->nodes[k].n_users = 0;
    }
    for (unsigned k = 0; k < n; k++) {
        for (unsigned v = 0; v < o->nodes[k].n; v++) {
            struct node *from = &o->nodes[o->operands[o->nodes[k].first + v]];
            o->users[from->users_first + from->n_users++] = k;
        }
    }
    for (unsigned k = 0; k < n; k++) {
        struct node *node = &o->nodes[k];
        node->left = node->n_users;
        for (LLVMUseRef u = LLVMGetFirstUse(node->of); u && node->left == node->n_users; u = LLVMGetNextUse(u)) {
            node->left += tile_find(&table, LLVMGetUser(u)) == NULL;
        }
    }
    free(table.values);
}

/** Orders `n` instructions from `first` on, none of which changes memory. */
static void order_part(struct cc1 *cc, LLVMValueRef first, unsigned n, LLVMValueRef end, const struct cc1_set *varying)
{
    struct order o = {.b = LLVMCreateBuilderInContext(cc->context), .end = end, .varying = varying};
    read_part(&o, first, n);
    for (unsigned k = 0; k < n;) {
        place_ready(&o);
        k = next_load(&o);
        if (k < n) {
            place(&o, k);
        }
    }
    for (unsigned k = 0; k < n; k++) {
        place(&o, k);
    }
    LLVMDisposeBuilder(o.b);
    free(o.nodes);
    free(o.operands);
    free(o.users);
}

/** True: the instruction stays where it is, and no load moves over it. */
static int is_fixed(LLVMValueRef i)
{
    return LLVMIsAStoreInst(i) || LLVMIsATerminatorInst(i) || LLVMIsAPHINode(i) || coarse_is_opaque_call(i) ||
        coarse_is_ordered(i);
}

/** Adds the values that depend on v. */
static void add_users(struct cc1_set *set, LLVMValueRef v)
{
    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
        if (cc1_set_add(set, LLVMGetUser(u))) {
            add_users(set, LLVMGetUser(u));
        }
    }
}

void tile_order(struct cc1 *cc, LLVMValueRef f)
{
    struct cc1_set varying = {0};
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            if (LLVMIsACallInst(i) && cc1_csr(i) == TERN_CSR_GLOBAL_ID_X) {
                add_users(&varying, i);
            }
        }
    }
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
        LLVMValueRef first = NULL, next;
        unsigned n = 0;
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = next) {
            next = LLVMGetNextInstruction(i);
            if (!is_fixed(i)) {
                first = n++ ? first : i;
            } else {
                if (n > 2) {
                    order_part(cc, first, n, i, &varying);
                }
                n = 0;
            }
        }
    }
    free(varying.at);
}
