/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Coarsening of work-items: a second entry of a kernel, in which each hardware work-item runs several OpenCL
 * work-items. Ids, arguments, addresses and the launch of a warp are then paid once for all of them, and their loads
 * overlap.
 *
 * A round of the code runs `copies` work-items, S = CC1_COARSE_STRIDE apart in x, so that lanes access neighbouring
 * words, and the address of copy k is that of copy 0 plus a constant. Hardware work-item h in x, without the offset,
 * begins its first round at
 *
 *   h / S * S * copies + h % S
 *
 * and each further round `step` later, while that is less than the global size. Thus the warps of an engine access
 * neighbouring memory at any time. CSR user0 has the end of the ids in x, with the offset, at most 2^31; user1 has
 * `step`. The launcher chooses between this entry and the plain one (compiler.h, runtime/core/coarse.h).
 *
 * Kernels. Coarsened are kernels that after optimization are a straight line, except conditions under which a work-item
 * does nothing ("if (i < n)"), and that read no id but the global one (coarse_read.c). OpenCL does not order
 * work-items, and a kernel without atomics cannot order them. Therefore the copies are interleaved: the same
 * instruction of several copies, and loads before the instructions that wait for them. Rounds at the end of the range,
 * and rounds in which not all copies pass a condition, run in a loop, one work-item after the other.
 * docs/decisions/coarsening.md has the reasons and measurements.
 */
#include "coarse.h"

#include "tern/tern_spec.h"

#include <llvm-c/DebugInfo.h>
#include <stdlib.h>

#define ALL_COPIES_MAX 12u  /* up to this many instructions of a copy, without addresses: COARSE_COPIES copies */
#define HALF_COPIES_MAX 40u /* up to this many: half as many copies */
#define REACH 2048u   /* offset range of a load or store, in bytes */
#define MOST_BATCH 4u /* copies whose loads overlap; more would exceed the cache */
#define REGISTERS 20u /* registers for values of copies; the others hold addresses and values that all copies share */

static int is_address(LLVMValueRef v)
{
    return LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMPointerTypeKind;
}

/** Sets is_index of all steps, from the last to the first, so that each step is visited once however often it is
 *  used. */
static void find_indices(struct coarse *c)
{
    for (unsigned i = c->n; i-- > 0;) {
        struct step *s = &c->steps[i];
        s->is_index = s->grows;
        for (LLVMUseRef u = LLVMGetFirstUse(s->of); u && s->is_index && !is_address(s->of); u = LLVMGetNextUse(u)) {
            LLVMValueRef user = LLVMGetUser(u);
            struct step *by = coarse_find(c, user);
            s->is_index = is_address(user) || !by || by->is_index;
        }
    }
}

/** Number of registers of a value. */
static unsigned words(struct coarse *c, LLVMValueRef v)
{
    return (unsigned)(LLVMABISizeOfType(c->cc->layout, LLVMTypeOf(v)) + 3) / 4;
}

/** Largest number of registers that the values of one copy need at the same time. */
static unsigned most_live(struct coarse *c)
{
    unsigned most = 1;
    find_indices(c);
    for (unsigned at = 0; at < c->n; at++) {
        unsigned live = 0;
        for (unsigned i = 0; i <= at; i++) {
            const struct step *s = &c->steps[i];
            if (s->kind == EACH && s->used > at && !s->is_index) {
                live += words(c, s->of);
            }
        }
        most = live > most ? live : most;
    }
    return most;
}

/** The value that an operand of the plain entry has in copy k. */
static LLVMValueRef get(struct coarse *c, LLVMValueRef v, unsigned k)
{
    struct step *s = coarse_find(c, v);
    if (s) {
        return s->copy[k];
    }
    return LLVMIsAArgument(v) ? LLVMGetParam(c->made, 0) : v;
}

static LLVMValueRef clone(struct coarse *c, LLVMValueRef of, unsigned k)
{
    LLVMValueRef i = LLVMInstructionClone(of);
    for (int o = 0; o < LLVMGetNumOperands(of); o++) {
        LLVMSetOperand(i, (unsigned)o, get(c, LLVMGetOperand(of, (unsigned)o), k));
    }
    LLVMInsertIntoBuilder(c->b, i);
    return i;
}

/** Makes copy k of a step, where all copies run. The address of a copy is that of copy 0 plus a constant, which fits
 *  the offset of loads and stores. */
static void make_copy(struct coarse *c, struct step *s, unsigned k)
{
    uint32_t by;
    if (s->kind == ONCE && k > 0) {
        s->copy[k] = s->copy[0];
    } else if (k > 0 && LLVMIsAGetElementPtrInst(s->of) && coarse_grows(c, s->of, &by)) {
        LLVMValueRef distance = cc1_u32(c->cc, by * CC1_COARSE_STRIDE * k);
        s->copy[k] = LLVMBuildGEP2(c->b, LLVMInt8TypeInContext(c->cc->context), s->copy[0], &distance, 1, "");
    } else {
        s->copy[k] = clone(c, s->of, k);
    }
}

/** The copies that decide for all whether a condition passes: first copy, and their number *n. If the condition
 *  compares the id itself, the first or the last copy decides, because ids are below 2^31. */
static unsigned deciders(struct coarse *c, LLVMValueRef condition, int passes_if, unsigned *n)
{
    struct step *s = coarse_find(c, condition);
    *n = 1;
    if (!s || s->kind != EACH) {
        return 0;
    }
    if (LLVMIsAICmpInst(condition)) {
        LLVMIntPredicate p = LLVMGetICmpPredicate(condition);
        struct step *left = coarse_find(c, LLVMGetOperand(condition, 0));
        struct step *right = coarse_find(c, LLVMGetOperand(condition, 1));
        const int less = p == LLVMIntULT || p == LLVMIntULE || p == LLVMIntSLT || p == LLVMIntSLE;
        const int more = p == LLVMIntUGT || p == LLVMIntUGE || p == LLVMIntSGT || p == LLVMIntSGE;
        const int id_left = left && left->kind == ITEM && (!right || (right->kind != EACH && right->kind != ITEM));
        const int id_right = right && right->kind == ITEM && (!left || left->kind != EACH);
        if ((less || more) && (id_left || (id_right && (!left || left->kind != ITEM)))) {
            const int below = (less == id_left) == passes_if; /* true: small ids pass */
            return below ? c->copies - 1 : 0;
        }
    }
    *n = c->copies;
    return 0;
}

/** Builds a branch to `slow` unless all copies pass; the builder continues in a new block. */
static void make_guard(struct coarse *c, LLVMValueRef condition, int passes_if, LLVMBasicBlockRef slow)
{
    LLVMValueRef second, part = coarse_parts(condition, passes_if, &second), all = NULL;
    if (second) {
        make_guard(c, part, passes_if, slow);
        make_guard(c, second, passes_if, slow);
        return;
    }
    unsigned n, first = deciders(c, condition, passes_if, &n);
    const struct step *of = coarse_find(c, condition);
    c->again = c->again || (of && of->kind == EACH && first == 0);
    for (unsigned k = first; k < first + n; k++) {
        LLVMValueRef one = get(c, condition, k);
        all = !all ? one : passes_if ? LLVMBuildAnd(c->b, all, one, "") : LLVMBuildOr(c->b, all, one, "");
    }
    LLVMBasicBlockRef next = LLVMAppendBasicBlockInContext(c->cc->context, c->made, "");
    LLVMBuildCondBr(c->b, all, passes_if ? next : slow, passes_if ? slow : next);
    LLVMPositionBuilderAtEnd(c->b, next);
}

/** Builds the steps of kernels whose vectors are split into words: unsplit steps once, or once for
 *  each row; then the words. */
static void make_split(struct coarse *c, LLVMBasicBlockRef slow)
{
    for (unsigned i = 0; i < c->n; i++) {
        struct step *s = &c->steps[i];
        if (s->kind == GUARD) {
            make_guard(c, LLVMGetCondition(s->of), s->passes_if, slow);
        }
        const unsigned n = s->kind == ONCE || s->in_row ? c->copies : s->kind == EACH && !s->split;
        for (unsigned k = 0; k < n; k++) {
            make_copy(c, s, k);
        }
    }
    coarse_make_words(c);
}

/** Builds a round in which all copies run: conditions for all copies at once, then one batch of copies after the
 *  other. */
static void make_fast(struct coarse *c, LLVMBasicBlockRef slow)
{
    const unsigned fit = REGISTERS / most_live(c);
    if (c->parts) {
        make_split(c, slow);
        return;
    }
    const unsigned batch = fit >= MOST_BATCH ? MOST_BATCH : fit >= 2 ? 2 : 1;
    for (unsigned i = 0; i < c->behind_guards; i++) {
        struct step *s = &c->steps[i];
        for (unsigned k = 0; k < c->copies && (s->kind == ONCE || s->kind == EACH); k++) {
            make_copy(c, s, k);
        }
        if (s->kind == GUARD) {
            make_guard(c, LLVMGetCondition(s->of), s->passes_if, slow);
        }
    }
    for (unsigned first = 0; first < c->copies; first += batch) {
        for (unsigned i = c->behind_guards; i < c->n; i++) {
            struct step *s = &c->steps[i];
            for (unsigned k = first; k < first + batch && (s->kind == ONCE || s->kind == EACH); k++) {
                make_copy(c, s, k);
            }
        }
    }
}

static LLVMBasicBlockRef add_block(struct coarse *c)
{
    return LLVMAppendBasicBlockInContext(c->cc->context, c->made, "");
}

/** Builds a branch on a < b. */
static void build_below(struct coarse *c, LLVMValueRef a, LLVMValueRef b, LLVMBasicBlockRef yes, LLVMBasicBlockRef no)
{
    LLVMBuildCondBr(c->b, LLVMBuildICmp(c->b, LLVMIntULT, a, b, ""), yes, no);
}

static void make_exit(struct coarse *c)
{
    LLVMInsertIntoBuilder(c->b, LLVMInstructionClone(c->exit));
    LLVMBuildRetVoid(c->b);
}

/** Builds block `slow`, a loop that runs one work-item after the other up to `end`: those of the round that begins
 *  at id `begin` and, unless step is NULL, of all later rounds at distance `step`. Continues at `behind`. */
static void make_slow(struct coarse *c, LLVMBasicBlockRef slow, LLVMValueRef begin, LLVMValueRef step, LLVMValueRef end,
                      LLVMBasicBlockRef behind)
{
    const uint32_t length = CC1_COARSE_STRIDE * c->copies;
    LLVMBasicBlockRef body = add_block(c), latch = add_block(c);
    LLVMPositionBuilderAtEnd(c->b, slow);
    LLVMValueRef first = LLVMBuildAdd(c->b, begin, cc1_u32(c->cc, length), ""), skip = NULL, limit = NULL;
    if (step) {
        skip = LLVMBuildSub(c->b, step, cc1_u32(c->cc, length), "");
    } else {
        end = LLVMBuildSelect(c->b, LLVMBuildICmp(c->b, LLVMIntULT, first, end, ""), first, end, "");
    }
    build_below(c, begin, end, body, behind);
    LLVMPositionBuilderAtEnd(c->b, body);
    LLVMValueRef item = LLVMBuildPhi(c->b, LLVMTypeOf(begin), "");
    if (step) {
        limit = LLVMBuildPhi(c->b, LLVMTypeOf(begin), "");
    }
    for (unsigned i = 0; i < c->n; i++) {
        struct step *s = &c->steps[i];
        if (s->kind == ITEM) {
            s->copy[COARSE_SLOW] = item;
        } else if (s->kind == GUARD) {
            LLVMBasicBlockRef next = add_block(c);
            LLVMValueRef condition = get(c, LLVMGetCondition(s->of), COARSE_SLOW);
            LLVMBuildCondBr(c->b, condition, s->passes_if ? next : latch, s->passes_if ? latch : next);
            LLVMPositionBuilderAtEnd(c->b, next);
        } else if (s->kind == ONCE || s->kind == EACH) {
            s->copy[COARSE_SLOW] = clone(c, s->of, COARSE_SLOW);
        }
    }
    LLVMBuildBr(c->b, latch);

    LLVMPositionBuilderAtEnd(c->b, latch);
    LLVMValueRef next = LLVMBuildAdd(c->b, item, cc1_u32(c->cc, CC1_COARSE_STRIDE), "");
    if (step) {
        LLVMValueRef over = LLVMBuildICmp(c->b, LLVMIntEQ, next, limit, "");
        next = LLVMBuildSelect(c->b, over, LLVMBuildAdd(c->b, next, skip, ""), next, "");
        LLVMValueRef next_limit = LLVMBuildSelect(c->b, over, LLVMBuildAdd(c->b, limit, step, ""), limit, "");
        LLVMAddIncoming(limit, (LLVMValueRef[]){first, next_limit}, (LLVMBasicBlockRef[]){slow, latch}, 2);
    }
    build_below(c, next, end, body, behind);
    LLVMAddIncoming(item, (LLVMValueRef[]){begin, next}, (LLVMBasicBlockRef[]){slow, latch}, 2);
}

/** Builds the loop over rounds, from id `begin` to `end` at distance `step`. Rounds in which not all copies can run
 *  go to the slow loop, which returns to the next round; if only small ids pass the conditions, it runs all later
 *  rounds as well. */
static void make_rounds(struct coarse *c, LLVMValueRef begin, LLVMValueRef step, LLVMValueRef end)
{
    LLVMBasicBlockRef before = LLVMGetInsertBlock(c->b), head = add_block(c), fast = add_block(c), slow = add_block(c);
    LLVMBasicBlockRef leave = add_block(c);
    LLVMBuildBr(c->b, head);
    LLVMPositionBuilderAtEnd(c->b, head);
    LLVMValueRef round = LLVMBuildPhi(c->b, LLVMTypeOf(begin), ""), last = round;
    for (unsigned k = 0; k < c->copies; k++) {
        last = k == 0 ? round : LLVMBuildAdd(c->b, round, cc1_u32(c->cc, k * CC1_COARSE_STRIDE), "");
        for (unsigned i = 0; i < c->n; i++) {
            if (c->steps[i].kind == ITEM) {
                c->steps[i].copy[k] = last;
            }
        }
    }
    build_below(c, c->parts ? LLVMBuildAdd(c->b, last, c->to_last, "") : last, end, fast, slow);
    LLVMPositionBuilderAtEnd(c->b, fast);
    make_fast(c, slow);
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(c->b), behind = NULL;
    if (c->again) {
        LLVMBuildBr(c->b, latch = behind = add_block(c));
        LLVMPositionBuilderAtEnd(c->b, latch);
    }
    LLVMValueRef next = LLVMBuildAdd(c->b, round, step, "");
    LLVMAddIncoming(round, (LLVMValueRef[]){begin, next}, (LLVMBasicBlockRef[]){before, latch}, 2);
    build_below(c, next, end, head, leave);
    LLVMPositionBuilderAtEnd(c->b, leave);
    make_exit(c);
    if (!behind) {
        LLVMPositionBuilderAtEnd(c->b, behind = add_block(c));
        make_exit(c);
    }
    make_slow(c, slow, round, c->again ? NULL : step, end, behind);
}

/** Builds the entry: reads ids, ends, CSRs and arguments, whatever the range is; then the rounds. */
static void make_entry(struct coarse *c)
{
    LLVMPositionBuilderAtEnd(c->b, add_block(c));
    LLVMValueRef id = cc1_read_csr(c->cc, c->b, TERN_CSR_GLOBAL_ID_X);
    LLVMValueRef offset = cc1_read_csr(c->cc, c->b, TERN_CSR_OFFSET_X);
    LLVMValueRef end = cc1_read_csr(c->cc, c->b, TERN_CSR_USER0), step = cc1_read_csr(c->cc, c->b, TERN_CSR_USER1);
    LLVMValueRef row = LLVMBuildSub(c->b, id, offset, "");
    row = LLVMBuildAnd(c->b, row, cc1_u32(c->cc, ~(CC1_COARSE_STRIDE - 1)), "");
    LLVMValueRef begin = LLVMBuildAdd(c->b, id, LLVMBuildMul(c->b, row, cc1_u32(c->cc, c->copies - 1), ""), "");
    LLVMValueRef size = LLVMBuildSub(c->b, end, offset, "");
    if (c->parts) { /* the lanes of a row execute each other's words, so a round runs for all of them or for none */
        LLVMValueRef lane = LLVMBuildSub(c->b, LLVMBuildSub(c->b, id, offset, ""), row, "");
        c->to_word = LLVMBuildMul(c->b, lane, cc1_u32(c->cc, 0u - 4 * (c->parts - 1)), "");
        c->to_last = LLVMBuildSub(c->b, cc1_u32(c->cc, CC1_COARSE_STRIDE - 1), lane, "");
    }
    for (unsigned i = 0; i < c->n; i++) {
        struct step *s = &c->steps[i];
        if (s->kind == ENTRY || s->kind == SIZE) {
            LLVMValueRef v = s->kind == SIZE ? size : clone(c, s->of, 0);
            for (unsigned k = 0; k <= COARSE_SLOW; k++) {
                s->copy[k] = v;
            }
        }
    }
    make_rounds(c, begin, step, end);
}

/** True: the addresses of all copies are within the offset range of a load or store from the first. */
static int in_reach(struct coarse *c, unsigned copies)
{
    for (unsigned i = 0; i < c->n; i++) {
        uint32_t by;
        if (LLVMIsAGetElementPtrInst(c->steps[i].of) && coarse_grows(c, c->steps[i].of, &by) &&
            (uint64_t)by * CC1_COARSE_STRIDE * copies > REACH && by >> 31 == 0) {
            return 0;
        }
    }
    return 1;
}

/** The number of copies that pays: fewer for long kernels, where ids and arguments are a small part; 0 if nothing is
 *  stored. */
static unsigned choose(struct coarse *c)
{
    unsigned own = 0;
    for (unsigned i = 0; i < c->n; i++) {
        LLVMValueRef v = c->steps[i].of;
        if (c->steps[i].kind == EACH && !is_address(v)) {
            own += LLVMIsAStoreInst(v) ? words(c, LLVMGetOperand(v, 0)) : words(c, v);
        }
    }
    if (c->stores == 0) {
        return (unsigned)cc1_refuse(&c->why, NULL, "it stores nothing");
    }
    if (own > HALF_COPIES_MAX) {
        return (unsigned)cc1_refuse(&c->why, NULL, "it computes %u words for a work-item, and rounds pay up to %u", own,
                                    HALF_COPIES_MAX);
    }
    return own > ALL_COPIES_MAX || !in_reach(c, COARSE_COPIES) ? COARSE_COPIES / 2 : COARSE_COPIES;
}

void coarse_copy_attributes(LLVMValueRef from, LLVMValueRef to)
{
    for (unsigned at = 0; at < 2; at++) { /* attributes of the function, then of its parameter */
        const LLVMAttributeIndex index = at ? 1 : CC1_FUNCTION;
        const unsigned n = LLVMGetAttributeCountAtIndex(from, index);
        LLVMAttributeRef *list = cc1_alloc(n, sizeof *list);
        LLVMGetAttributesAtIndex(from, index, list);
        for (unsigned i = 0; i < n; i++) {
            LLVMAddAttributeAtIndex(to, index, list[i]);
        }
        free(list);
    }
}

/** Decides whether the kernel may have a second entry of any kind. */
static int is_allowed(struct cc1 *cc, struct cc1_kernel *k)
{
    const char *why = NULL;
    if (cc->explain ? cc->keep_lines : LLVMGetSubprogram(k->entry) != NULL) {
        why = "-g is given, with which a fault names the work-item";
    } else if (cc1_local_used(cc, k->entry)) {
        why = "it uses local memory";
    }
    if (why) {
        cc1_refuse(&k->no_rounds, NULL, "%s", why);
        cc1_refuse(&k->no_tiles, NULL, "%s", why);
    }
    return why == NULL;
}

void cc1_coarsen(struct cc1 *cc)
{
    for (size_t i = 0; i < cc->n_kernels; i++) {
        struct cc1_kernel *k = &cc->kernels[i];
        struct coarse *c = cc1_alloc(1, sizeof *c);
        *c = (struct coarse){.cc = cc, .plain = k->entry};
        size_t length;
        const char *name = LLVMGetValueName2(k->entry, &length);
        if (!is_allowed(cc, k)) {
            free(c);
            continue;
        }
        if (!coarse_read(c) || (c->copies = choose(c)) == 0) {
            k->no_rounds = c->why;
            cc1_tile(cc, k);
            free(c);
            continue;
        }
        find_indices(c);
        coarse_choose_split(c);
        c->made = LLVMAddFunction(cc->module, cc1_text("%s" CC1_COARSE_SUFFIX, name),
                                  LLVMGlobalGetValueType(k->entry));
        coarse_copy_attributes(k->entry, c->made);
        c->b = LLVMCreateBuilderInContext(cc->context);
        make_entry(c);
        LLVMDisposeBuilder(c->b);
        k->coarse = c->made;
        k->copies = c->copies;
        k->rows = c->parts != 0;
        free(c);
    }
    cc1_tiles_optimize(cc);
}
