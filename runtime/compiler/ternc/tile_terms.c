/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Addresses as sums of terms. The copies of a tile load in[((z + c) * n + y + b) * n + x + a] for several a, b and c.
 * As written, each row (b, c) has a product and a sum, and each word another sum. Products of sums become sums of
 * products if there are fewer of these. An address that is an earlier one plus a term is computed from that one. The
 * partial sum that most of the other addresses have in common is computed once for them, and so on with what remains,
 * in the greedy way (Paar 1997). For 6 rows of 3 planes and 3 columns that is 3 + 9 + 54 sums and 9 products instead of
 * 18 + 18 + 54 and 21.
 */
#include "tile.h"

#include <stdlib.h>

#define MOST_TERMS 8u
#define MOST_ADDRESSES 128u

/** An address and its terms: the first is a pointer, the others are indices of elements. */
struct sum {
    LLVMValueRef address;
    LLVMValueRef terms[MOST_TERMS];
    unsigned n;
};

struct terms {
    LLVMBuilderRef b;
    LLVMBasicBlockRef block;
    LLVMTypeRef type; /**< Of the elements. */
    struct sum sums[MOST_ADDRESSES];
    unsigned n;
};

static int is_here(const struct terms *t, LLVMValueRef v, LLVMOpcode op)
{
    return LLVMIsAInstruction(v) && LLVMGetInstructionOpcode(v) == op && LLVMGetInstructionParent(v) == t->block;
}

/** Adds the terms of an index. 0: there are too many. */
static int add_terms(const struct terms *t, struct sum *s, LLVMValueRef index)
{
    if (is_here(t, index, LLVMAdd)) {
        return add_terms(t, s, LLVMGetOperand(index, 0)) && add_terms(t, s, LLVMGetOperand(index, 1));
    }
    if (s->n == MOST_TERMS) {
        return 0;
    }
    s->terms[s->n++] = index;
    return 1;
}

/** Adds the pointer and the terms of an address. 0: there are too many. */
static int read_sum(const struct terms *t, struct sum *s, LLVMValueRef address)
{
    if (!is_here(t, address, LLVMGetElementPtr) || LLVMGetNumOperands(address) != 2 ||
        LLVMGetGEPSourceElementType(address) != t->type ||
        LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(address, 1))) != LLVMIntegerTypeKind ||
        LLVMGetIntTypeWidth(LLVMTypeOf(LLVMGetOperand(address, 1))) != 32) {
        s->terms[0] = address;
        s->n = 1;
        return 1;
    }
    return read_sum(t, s, LLVMGetOperand(address, 0)) && add_terms(t, s, LLVMGetOperand(address, 1));
}

/** True: an address of a load or store. */
static int is_accessed(LLVMValueRef address)
{
    for (LLVMUseRef u = LLVMGetFirstUse(address); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        if (LLVMIsALoadInst(user) || (LLVMIsAStoreInst(user) && LLVMGetOperand(user, 1) == address)) {
            return 1;
        }
    }
    return 0;
}

/** Reads the addresses of the block. Addresses beyond the limits stay as they are. */
static void read_sums(struct terms *t)
{
    t->n = 0;
    for (LLVMValueRef i = LLVMGetFirstInstruction(t->block); i; i = LLVMGetNextInstruction(i)) {
        if (LLVMIsAGetElementPtrInst(i) && t->n < MOST_ADDRESSES && is_accessed(i)) {
            struct sum *s = &t->sums[t->n];
            *s = (struct sum){.address = i};
            t->type = LLVMGetGEPSourceElementType(i);
            t->n += read_sum(t, s, i) && s->n > 2;
        }
    }
}

/** A product a * by in the block before `at`, or a new one. */
static LLVMValueRef product(struct terms *t, LLVMValueRef a, LLVMValueRef by, LLVMValueRef at)
{
    for (LLVMUseRef u = LLVMGetFirstUse(a); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef v = LLVMGetUser(u);
        if (is_here(t, v, LLVMMul) && LLVMGetOperand(v, 0) == a && LLVMGetOperand(v, 1) == by) {
            for (LLVMValueRef i = v; i; i = LLVMGetNextInstruction(i)) {
                if (i == at) {
                    return v;
                }
            }
        }
    }
    LLVMPositionBuilderBefore(t->b, at);
    return LLVMBuildMul(t->b, a, by, "");
}

/** Adds v to a list if it is new. */
static void add_once(LLVMValueRef *list, unsigned *n, LLVMValueRef v)
{
    for (unsigned i = 0; i < *n; i++) {
        if (list[i] == v) {
            return;
        }
    }
    list[(*n)++] = v;
}

/** Expands the terms that are products (a + b) * by, of all addresses, if there are fewer products a * by, b * by. */
static void expand(struct terms *t, LLVMValueRef by)
{
    LLVMValueRef *sums = cc1_alloc(MOST_ADDRESSES * MOST_TERMS, sizeof *sums);
    LLVMValueRef *parts = cc1_alloc(2 * MOST_ADDRESSES * MOST_TERMS, sizeof *parts);
    unsigned n_sums = 0, n_parts = 0;
    for (unsigned i = 0; i < t->n; i++) {
        for (unsigned k = 1; k < t->sums[i].n; k++) {
            LLVMValueRef v = t->sums[i].terms[k];
            if (is_here(t, v, LLVMMul) && LLVMGetOperand(v, 1) == by && is_here(t, LLVMGetOperand(v, 0), LLVMAdd)) {
                add_once(sums, &n_sums, v);
            }
        }
    }
    for (unsigned i = 0; i < n_sums; i++) {
        add_once(parts, &n_parts, LLVMGetOperand(LLVMGetOperand(sums[i], 0), 0));
        add_once(parts, &n_parts, LLVMGetOperand(LLVMGetOperand(sums[i], 0), 1));
    }
    for (unsigned i = 0; i < n_sums && n_parts < n_sums; i++) {
        LLVMValueRef a = product(t, LLVMGetOperand(LLVMGetOperand(sums[i], 0), 0), by, sums[i]);
        LLVMValueRef b = product(t, LLVMGetOperand(LLVMGetOperand(sums[i], 0), 1), by, sums[i]);
        LLVMPositionBuilderBefore(t->b, sums[i]);
        LLVMReplaceAllUsesWith(sums[i], LLVMBuildAdd(t->b, a, b, ""));
    }
    free(sums);
    free(parts);
}

/** Expands products. */
static void expand_all(struct terms *t)
{
    LLVMValueRef factors[MOST_ADDRESSES];
    unsigned n = 0;
    for (unsigned i = 0; i < t->n; i++) {
        for (unsigned k = 1; k < t->sums[i].n && n < MOST_ADDRESSES; k++) {
            LLVMValueRef v = t->sums[i].terms[k];
            if (is_here(t, v, LLVMMul)) {
                add_once(factors, &n, LLVMGetOperand(v, 1));
            }
        }
    }
    for (unsigned i = 0; i < n; i++) {
        expand(t, factors[i]);
    }
    read_sums(t);
}

/** Places of two terms in a sum. 0: it has not both. */
static int has_both(const struct sum *s, LLVMValueRef a, LLVMValueRef b, unsigned *x, unsigned *y)
{
    unsigned found = 0;
    for (unsigned k = 0; k < s->n; k++) {
        if (s->terms[k] == a && !(found & 1)) {
            *x = k;
            found |= 1;
        } else if (s->terms[k] == b && !(found & 2)) {
            *y = k;
            found |= 2;
        }
    }
    return found == 3;
}

static int is_number(LLVMValueRef v)
{
    return LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMIntegerTypeKind;
}

/** The term that sum `more` has and `less` has not, if they have all others in common; else NULL. */
static LLVMValueRef difference(const struct sum *more, const struct sum *less)
{
    LLVMValueRef found = NULL;
    unsigned used = 0; /* bits of the terms of `less` that were found */
    for (unsigned i = 0; i < more->n; i++) {
        unsigned k = 0;
        while (k < less->n && (used >> k & 1 || less->terms[k] != more->terms[i])) {
            k++;
        }
        if (k < less->n) {
            used |= 1u << k;
        } else if (found) {
            return NULL;
        } else {
            found = more->terms[i];
        }
    }
    return more->n == less->n + 1 && is_number(found) ? found : NULL;
}

/** Computes each address that is an earlier one plus a term from the last such address: one sum, and none is less. */
static void derive(struct terms *t)
{
    for (unsigned i = t->n; i-- > 0;) {
        LLVMTypeRef type = LLVMGetGEPSourceElementType(t->sums[i].address);
        LLVMValueRef term = NULL;
        unsigned k = i;
        while (!term && k-- > 0) {
            if (LLVMGetGEPSourceElementType(t->sums[k].address) == type) {
                term = difference(&t->sums[i], &t->sums[k]);
            }
        }
        if (term) {
            LLVMPositionBuilderBefore(t->b, t->sums[i].address);
            LLVMReplaceAllUsesWith(t->sums[i].address,
                                   LLVMBuildGEP2(t->b, type, t->sums[k].address, &term, 1, ""));
            for (unsigned j = i; j + 1 < t->n; j++) {
                t->sums[j] = t->sums[j + 1];
            }
            t->n--;
        }
    }
}

/** True: v is a number that an instruction shifts while it adds it (sh1add to sh3add). */
static int is_shifted(const struct terms *t, LLVMValueRef v)
{
    if (!is_here(t, v, LLVMShl) || !LLVMIsAConstantInt(LLVMGetOperand(v, 1))) {
        return 0;
    }
    const uint64_t n = LLVMConstIntGetZExtValue(LLVMGetOperand(v, 1));
    return n >= 1 && n <= 3;
}

/** True: the sum of both terms takes one instruction, and the sum of either with a pointer takes two. */
static int is_cheap(const struct terms *t, LLVMValueRef a, LLVMValueRef b)
{
    return is_number(a) && is_number(b) && (is_shifted(t, a) || is_shifted(t, b));
}

/** The two terms that most addresses have in common, or of several such pairs one whose sum is cheap. Returns the
 *  number of these addresses. */
static unsigned most_common(const struct terms *t, LLVMTypeRef type, LLVMValueRef *a, LLVMValueRef *b)
{
    unsigned best = 0; /* twice the number of addresses, and 1 if the sum is cheap */
    for (unsigned i = 0; i < t->n; i++) {
        const struct sum *s = &t->sums[i];
        for (unsigned x = 0; x < s->n && LLVMGetGEPSourceElementType(s->address) == type; x++) {
            for (unsigned y = x + 1; y < s->n; y++) {
                unsigned n = 0, at_x, at_y;
                for (unsigned k = i; k < t->n; k++) {
                    n += LLVMGetGEPSourceElementType(t->sums[k].address) == type &&
                        has_both(&t->sums[k], s->terms[x], s->terms[y], &at_x, &at_y);
                }
                const unsigned rank = 2 * n + (is_cheap(t, s->terms[x], s->terms[y]) != 0);
                if (rank > best) {
                    best = rank;
                    *a = s->terms[x];
                    *b = s->terms[y];
                }
            }
        }
    }
    return best / 2;
}

/** Makes a + b once for all addresses that contain both; a may be a pointer. */
static void merge(struct terms *t, LLVMTypeRef type, LLVMValueRef a, LLVMValueRef b)
{
    LLVMValueRef sum = NULL;
    for (unsigned i = 0; i < t->n; i++) {
        struct sum *s = &t->sums[i];
        unsigned x = 0, y = 0;
        if (LLVMGetGEPSourceElementType(s->address) != type || !has_both(s, a, b, &x, &y)) {
            continue;
        }
        if (!sum) {
            LLVMPositionBuilderBefore(t->b, s->address); /* the first address that needs it */
            sum = LLVMGetTypeKind(LLVMTypeOf(a)) == LLVMPointerTypeKind ? LLVMBuildGEP2(t->b, type, a, &b, 1, "")
                                                                         : LLVMBuildAdd(t->b, a, b, "");
        }
        s->terms[x] = sum;
        s->terms[y] = s->terms[--s->n];
        if (s->n == 1) {
            LLVMReplaceAllUsesWith(s->address, s->terms[0]);
        }
    }
}

/** Removes values that are not used any more. */
static void sweep(LLVMBasicBlockRef block)
{
    LLVMValueRef before;
    for (LLVMValueRef i = LLVMGetLastInstruction(block); i; i = before) {
        before = LLVMGetPreviousInstruction(i);
        if (!LLVMGetFirstUse(i) && (LLVMIsAGetElementPtrInst(i) || LLVMIsABinaryOperator(i))) {
            LLVMInstructionEraseFromParent(i);
        }
    }
}

void tile_share_terms(struct cc1 *cc, LLVMValueRef f)
{
    struct terms *t = cc1_alloc(1, sizeof *t);
    t->b = LLVMCreateBuilderInContext(cc->context);
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block)) {
        LLVMValueRef a = NULL, b = NULL;
        t->block = block;
        if (tile_reaches(block, block)) { /* the block is in a loop; its invariant sums stay before the loop */
            continue;
        }
        read_sums(t);
        expand_all(t);
        derive(t);
        for (unsigned i = 0; i < t->n; i++) {
            LLVMTypeRef type = LLVMGetGEPSourceElementType(t->sums[i].address);
            while (t->sums[i].n > 1 && most_common(t, type, &a, &b)) {
                merge(t, type, a, b);
            }
        }
        sweep(block);
    }
    LLVMDisposeBuilder(t->b);
    free(t);
}
