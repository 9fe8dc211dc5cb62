/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Counts the lines of memory that an entry accesses. The load/store unit takes an instruction a cycle if all lanes
 * access one line, else a line a cycle (rtl/simt/lsu/simt_lsu.sv). A loop whose lanes each read a row of their own,
 * as in the product of a matrix and a vector, therefore takes the cycles of its lines, however few instructions it has.
 *
 * The distance of a value between neighbouring lanes is estimated: 0 if all lanes have the same value, 1 for the id in
 * x, and for others from their operands. A distance that is not known counts as a line or more.
 */
#include "tile.h"

#include "coarse.h"
#include "tern/tern_spec.h"

#include <stdlib.h>
#include <string.h>

#define LINE 64u  /* bytes; distances from here on are not told apart */
#define WORD 4u

struct value {
    LLVMValueRef of;
    uint32_t apart; /* distance between neighbouring lanes, at most LINE */
};

struct lines {
    struct cc1 *cc;
    size_t n;
    struct value *values; /* instructions in the order of their addresses */
};

static int compare(const void *a, const void *b)
{
    const uintptr_t x = (uintptr_t)((const struct value *)a)->of, y = (uintptr_t)((const struct value *)b)->of;
    return x < y ? -1 : x > y;
}

static struct value *find(const struct lines *l, LLVMValueRef v)
{
    const struct value key = {.of = v};
    return bsearch(&key, l->values, l->n, sizeof key, compare);
}

static void collect(struct lines *l, LLVMValueRef f)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            l->n++;
        }
    }
    l->values = cc1_alloc(l->n, sizeof *l->values);
    size_t n = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            l->values[n++].of = i;
        }
    }
    qsort(l->values, n, sizeof *l->values, compare);
}

static uint32_t operand(const struct lines *l, LLVMValueRef v, unsigned o)
{
    const struct value *from = find(l, LLVMGetOperand(v, o));
    return from ? from->apart : 0;
}

/** The largest distance of operands `from` and later. */
static uint32_t most(const struct lines *l, LLVMValueRef v, unsigned from)
{
    uint32_t all = 0;
    for (unsigned o = from; o < (unsigned)LLVMGetNumOperands(v); o++) {
        const uint32_t one = operand(l, v, o);
        all = one > all ? one : all;
    }
    return all;
}

/** The amount of a constant operand of at most 32 bits; 0: it is none. */
static uint32_t constant(LLVMValueRef v, unsigned o)
{
    LLVMValueRef c = LLVMGetOperand(v, o);
    if (!LLVMIsAConstantInt(c) || LLVMGetIntTypeWidth(LLVMTypeOf(c)) > 32) {
        return 0;
    }
    const int64_t value = LLVMConstIntGetSExtValue(c);
    return (uint32_t)(value < 0 ? -value : value);
}

/** The distance of a sum of two operands, the second times `factor`. */
static uint32_t sum(const struct lines *l, LLVMValueRef v, uint64_t factor)
{
    const uint64_t all = operand(l, v, 0) + operand(l, v, 1) * factor;
    return all < LINE ? (uint32_t)all : LINE;
}

/** The distance of a product with a constant, a quotient or a remainder. */
static uint32_t by_constant(LLVMOpcode op, uint32_t apart, uint32_t by)
{
    const uint64_t amount = op == LLVMMul || op == LLVMUDiv ? by : 1ull << (by & 31);
    const uint64_t all = op == LLVMURem                   ? apart
                         : op == LLVMMul || op == LLVMShl ? apart * amount
                                                          : (apart + amount - 1) / amount;
    return all < LINE ? (uint32_t)all : LINE;
}

/** The distance of an intrinsic: that of one of its arguments if it is a minimum or a maximum. */
static uint32_t call(const struct lines *l, LLVMValueRef v)
{
    static const char *const names[] = {"llvm.smin.", "llvm.smax.", "llvm.umin.", "llvm.umax."};
    size_t length;
    const char *name = LLVMGetValueName2(LLVMGetCalledValue(v), &length);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!strncmp(name, names[i], strlen(names[i]))) {
            return most(l, v, 0);
        }
    }
    const unsigned csr = cc1_csr(v);
    return csr == TERN_CSR_GLOBAL_ID_X || csr == TERN_CSR_LOCAL_ID_X ? 1 : csr || !most(l, v, 0) ? 0 : LINE;
}

/** The distance of a bitwise operation. If all lanes share an operand, neighbouring values mostly stay close. */
static uint32_t bitwise(const struct lines *l, LLVMValueRef v)
{
    const uint32_t a = operand(l, v, 0), b = operand(l, v, 1), by = constant(v, 1);
    if (LLVMGetInstructionOpcode(v) == LLVMOr && LLVMGetIsDisjoint(v)) {
        return sum(l, v, 1);
    }
    if (LLVMGetInstructionOpcode(v) == LLVMAnd && a <= 1 && by && by % CC1_COARSE_STRIDE == 0) {
        return 0; /* the number of the first lane of a row is a multiple of the row's length */
    }
    return a && b ? LINE : a + b;
}

/** The distance of an instruction's value, from its operands'. */
static uint32_t apart(const struct lines *l, LLVMValueRef v)
{
    const uint32_t by = LLVMGetNumOperands(v) == 2 ? constant(v, 1) : 0;
    switch (LLVMGetInstructionOpcode(v)) {
    case LLVMPHI: case LLVMZExt: case LLVMSExt: case LLVMTrunc: case LLVMFreeze: return most(l, v, 0);
    case LLVMSelect: return most(l, v, 1); /* lanes mostly choose the same, as in a clamp */
    case LLVMAdd: case LLVMSub: return sum(l, v, 1);
    case LLVMGetElementPtr:
        return most(l, v, 2) ? LINE : sum(l, v, LLVMABISizeOfType(l->cc->layout, LLVMGetGEPSourceElementType(v)));
    case LLVMCall: return call(l, v);
    case LLVMAnd: case LLVMOr: case LLVMXor: return bitwise(l, v);
    case LLVMMul: case LLVMShl: case LLVMUDiv: case LLVMLShr: case LLVMAShr: case LLVMURem:
        if (by) {
            return by_constant(LLVMGetInstructionOpcode(v), operand(l, v, 0), by);
        }
        break;
    default: break;
    }
    return most(l, v, 0) ? LINE : 0;
}

/** Computes the distances, which only grow, until none changes. */
static void spread(const struct lines *l, LLVMValueRef f)
{
    for (int changed = 1; changed;) {
        changed = 0;
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
                struct value *v = find(l, i);
                const uint32_t now = apart(l, i);
                changed |= now > v->apart;
                v->apart = now > v->apart ? now : v->apart;
            }
        }
    }
}

/** Lines that an instruction of a row of lanes accesses; 0: it accesses no memory. */
static double accessed(const struct lines *l, LLVMValueRef i)
{
    if (!LLVMIsALoadInst(i) && !LLVMIsAStoreInst(i)) {
        return 0;
    }
    double known;
    if (tile_known_lines(l->cc, i, &known)) {
        return known;
    }
    const int stores = LLVMIsAStoreInst(i) != NULL;
    LLVMTypeRef type = LLVMTypeOf(stores ? LLVMGetOperand(i, 0) : i);
    const double words = (double)((LLVMStoreSizeOfType(l->cc->layout, type) + WORD - 1) / WORD);
    const uint32_t bytes = operand(l, i, (unsigned)stores) * CC1_COARSE_STRIDE;
    return words * (bytes > LINE ? (bytes + LINE - 1) / LINE : 1);
}

/** Multiplies the weights of the blocks of each loop by `rounds`. Blocks are in the order of cc1_order, in which a loop
 *  is from the target of a branch back to that branch. */
static void weigh(const LLVMBasicBlockRef *blocks, double *weight, unsigned n, double rounds)
{
    for (unsigned b = 0; b < n; b++) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(blocks[b]);
        weight[b] = 1;
        for (unsigned s = 0; s < LLVMGetNumSuccessors(end); s++) {
            unsigned from = 0;
            while (from <= b && blocks[from] != LLVMGetSuccessor(end, s)) {
                from++;
            }
            for (; from <= b; from++) {
                weight[from] *= rounds;
            }
        }
    }
}

double tile_lines(struct cc1 *cc, LLVMValueRef f, double rounds)
{
    struct lines l = {.cc = cc};
    const unsigned n = LLVMCountBasicBlocks(f);
    LLVMBasicBlockRef *blocks = cc1_alloc(n, sizeof *blocks);
    double *weight = cc1_alloc(n, sizeof *weight), all = 0;
    LLVMGetBasicBlocks(f, blocks);
    weigh(blocks, weight, n, rounds);
    collect(&l, f);
    spread(&l, f);
    for (unsigned b = 0; b < n; b++) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(blocks[b]); i; i = LLVMGetNextInstruction(i)) {
            all += weight[b] * accessed(&l, i);
        }
    }
    free(l.values);
    free(blocks);
    free(weight);
    return all;
}
