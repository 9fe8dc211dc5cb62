/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Finds loops in which a work-item may wait for another one, which merged work-items cannot do.
 *
 * A loop waits if it reads what others write, by a volatile load or an atomic operation, and how often it runs depends
 * on what it has read. `while (!*flag);` waits; `for (k = n; k; k /= 2) m = max(m, shared[i + k]);` does not, although
 * `shared` is volatile. The analysis follows, for each such read, all that depends on it:
 *
 * - each instruction that has it as an operand, and so on;
 * - a phi where the paths of a branch meet again whose condition depends on it, and the phis between;
 * - if it, or whether and where something is stored, depends on it: all loads that a loop repeats, since the loop may
 *   read there what it has stored. Arguments of the kernel are never stored.
 */
#include "coarse.h"
#include "tile.h"

#include <stdlib.h>
#include <string.h>

static int is_asm(LLVMValueRef call, const char *text)
{
    size_t length;
    LLVMValueRef f = LLVMGetCalledValue(call);
    return LLVMIsAInlineAsm(f) && strstr(LLVMGetInlineAsmAsmString(f, &length), text) != NULL;
}

int waits_reads_others(LLVMValueRef i)
{
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMCall: /* inline assembly, as of an exchange after a comparison */
        return LLVMIsAInlineAsm(LLVMGetCalledValue(i)) && LLVMGetInlineAsmHasSideEffects(LLVMGetCalledValue(i)) &&
            !coarse_is_barrier(i) && !is_asm(i, "fence") && !coarse_is_exit(i);
    case LLVMAtomicRMW: return LLVMGetFirstUse(i) != NULL;
    case LLVMLoad: case LLVMAtomicCmpXchg: return coarse_is_ordered(i);
    default: return 0;
    }
}

/** The blocks of each loop: byte b of row h, of t->n_blocks bytes, is set if block b of t->blocks is in the loop whose
 *  header is block h. */
struct loops {
    unsigned n;
    unsigned char *row;
};

/** A block is in a loop if it leads back to the header through blocks that come behind the header. */
static int is_member(const struct tile *t, const unsigned char *row, unsigned header, unsigned b)
{
    LLVMValueRef end = LLVMGetBasicBlockTerminator(t->blocks[b]);
    for (unsigned n = 0; n < LLVMGetNumSuccessors(end); n++) {
        const unsigned next = tile_block_number(t, LLVMGetSuccessor(end, n));
        if (next == header || row[next]) {
            return 1;
        }
    }
    return 0;
}

static struct loops find_loops(const struct tile *t)
{
    struct loops l = {.n = t->n_blocks, .row = cc1_alloc((size_t)t->n_blocks * t->n_blocks, 1)};
    for (unsigned h = 0; h < l.n; h++) {
        unsigned char *row = l.row + (size_t)h * l.n;
        for (int more = 1; more;) {
            more = 0;
            for (unsigned b = l.n; b-- > h;) {
                if (!row[b] && is_member(t, row, h, b)) {
                    row[b] = 1;
                    more = 1;
                }
            }
        }
    }
    return l;
}

/** The instructions and places that depend on a read. */
struct taint {
    const struct tile *t;
    const struct tile_joins *joins;
    const struct loops *loops;
    unsigned read_in;          /**< Number of the block of the read. */
    struct cc1_set values;     /**< Instructions. */
    struct cc1_set inside;     /**< Blocks between a branch and its join. */
    struct cc1_set met;        /**< Joins of branches. */
    int stored;                /**< Memory depends on the read. */
    int waits;                 /**< How often a loop of the read runs depends on it. */
};

static int in_set(const struct cc1_set *set, LLVMBasicBlockRef block)
{
    return cc1_set_has(set, LLVMBasicBlockAsValue(block));
}

/** True: the instruction may read what the loop has stored. */
static int may_reload(const struct taint *d, LLVMValueRef i, LLVMBasicBlockRef block)
{
    const int is_load = LLVMIsALoadInst(i) && !coarse_is_argument(d->t->plain, LLVMGetOperand(i, 0));
    return d->stored && (is_load || coarse_is_opaque_call(i)) && tile_reaches(block, block);
}

static int depends(const struct taint *d, LLVMValueRef i, LLVMBasicBlockRef block)
{
    for (int n = 0; n < LLVMGetNumOperands(i); n++) {
        if (cc1_set_has(&d->values, LLVMGetOperand(i, (unsigned)n))) {
            return 1;
        }
    }
    return may_reload(d, i, block) || (LLVMIsAPHINode(i) && (in_set(&d->inside, block) || in_set(&d->met, block)));
}

/** True: the branch at the end of block k leaves a loop of the read. */
static int leaves(const struct taint *d, LLVMValueRef end, unsigned k)
{
    for (unsigned h = 0; h < d->loops->n; h++) {
        const unsigned char *row = d->loops->row + (size_t)h * d->loops->n;
        for (unsigned n = 0; row[k] && row[d->read_in] && n < LLVMGetNumSuccessors(end); n++) {
            if (!row[tile_block_number(d->t, LLVMGetSuccessor(end, n))]) {
                return 1;
            }
        }
    }
    return 0;
}

/** Follows a branch whose condition depends on the read. */
static void add_branch(struct taint *d, LLVMValueRef end, unsigned k)
{
    LLVMBasicBlockRef join = tile_join(d->t, d->joins, k);
    d->waits |= !join || leaves(d, end, k);
    if (join) {
        tile_fill(d->t->blocks[k], join, &d->inside);
        cc1_set_add(&d->met, LLVMBasicBlockAsValue(join));
    }
}

/** Adds what depends on the read in a block. Returns whether there was something. */
static int spread(struct taint *d, unsigned k)
{
    LLVMBasicBlockRef block = d->t->blocks[k];
    int more = 0;
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
        const LLVMOpcode code = LLVMGetInstructionOpcode(i);
        const int writes = code == LLVMStore || code == LLVMAtomicRMW || code == LLVMAtomicCmpXchg ||
            coarse_is_opaque_call(i);
        const int is = cc1_set_has(&d->values, i) || depends(d, i, block);
        if (writes && !d->stored && (is || in_set(&d->inside, block))) {
            d->stored = 1;
            more = 1;
        }
        if (is && cc1_set_add(&d->values, i)) {
            more = 1;
            if (LLVMGetNumSuccessors(LLVMGetBasicBlockTerminator(block)) > 1 && LLVMIsATerminatorInst(i)) {
                add_branch(d, i, k);
            }
        }
    }
    return more;
}

/** True: how often a loop runs depends on what the instruction of it reads. */
static int waits_by(const struct tile *t, const struct tile_joins *j, const struct loops *l, LLVMValueRef read)
{
    struct taint d = {.t = t, .joins = j, .loops = l,
                      .read_in = tile_block_number(t, LLVMGetInstructionParent(read))};
    cc1_set_add(&d.values, read);
    for (int more = 1; more && !d.waits;) {
        more = 0;
        for (unsigned k = 0; k < t->n_blocks; k++) {
            more |= spread(&d, k);
        }
    }
    free(d.values.at);
    free(d.inside.at);
    free(d.met.at);
    return d.waits;
}

LLVMValueRef waits_find(const struct tile *t, const struct tile_joins *j)
{
    struct loops l = {.n = t->n_blocks};
    LLVMValueRef found = NULL;
    for (unsigned k = 0; k < t->n_blocks && !found; k++) {
        LLVMBasicBlockRef block = t->blocks[k];
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i && !found; i = LLVMGetNextInstruction(i)) {
            if (waits_reads_others(i)) {
                l = l.row ? l : find_loops(t); /* few kernels need it */
                found = waits_by(t, j, &l, i) ? i : NULL;
            }
        }
    }
    free(l.row);
    return found;
}
