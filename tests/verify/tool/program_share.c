/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Work-items that share memory, only where the result does not depend on their order. Values cross a barrier;
 * accumulations commute, and no partial sum is read; counters are incremented by any work-item. An item that begins
 * with a barrier also ends with one, so that the next item may use the same words.
 */
#include "program.h"

#define SHARED_COUNTERS 64u  /* byte offset in the shared region of words that are only incremented */
#define LOCK_SAME 1024u      /* byte offset in the lock region of words that all write with one value */
#define LOCAL_SAME (SHARED_WORDS * 4u)
#define LOCAL_EXCHANGE (LOCAL_SAME + SAME_WORDS * 4u)

static const uint8_t commutative[] = {AMOADD, AMOXOR, AMOAND, AMOOR, AMOMIN, AMOMAX, AMOMINU, AMOMAXU};

void share_local(struct code *c, uint32_t rd, uint32_t offset)
{
    emit_li(c, rd, TERN_WIN_LOCAL_BASE + c->kernel->area_at + offset);
}

void share_global(struct code *c, uint32_t rd)
{
    emit_li(c, rd, kernel_va(c->plan, c->index, KERNEL_EXCHANGE));
    emit(c, asm_lw(X7, RECORD_LID, X5));
    emit(c, asm_sub(X7, X9, X7));
    emit(c, asm_shadd(2, rd, X7, rd));
}

/** x7 = number of a work-item of the group, perhaps its own. */
static void partner(struct code *c)
{
    uint32_t k = rng_below(c->r, 4);
    emit(c, asm_lw(X7, RECORD_LID, X5));
    emit(c, asm_lw(X8, RECORD_SIZE, X5));
    switch (k) {
    case 0: /* all read one word */
        emit(c, asm_addi(X7, X8, UINT32_MAX));
        break;
    case 1: /* in reverse order */
        emit(c, asm_sub(X7, X8, X7));
        emit(c, asm_addi(X7, X7, UINT32_MAX));
        break;
    default:
        emit(c, asm_addi(X7, X7, 1 + rng_below(c->r, 40)));
        if (k == 3) { /* far apart, for bank conflicts */
            emit(c, asm_slli(X7, X7, 1 + rng_below(c->r, 4)));
        }
        emit(c, asm_remu(X7, X7, X8));
        break;
    }
}

bool come_late(struct code *c)
{
    bool late = c->plan->stop_every && rng_one_in(c->r, 2);
    if (late) {
        emit(c, asm_lw(X7, RECORD_LID, X5));
        emit(c, asm_i(0x13, 4, X7, X7, rng_below(c->r, 64)));
        emit(c, asm_andi(X7, X7, rng_one_in(c->r, 2) ? 15 : 63));
        emit(c, asm_slli(X7, X7, rng_below(c->r, 4)));
        emit(c, asm_addi(X7, X7, UINT32_MAX));
        emit(c, asm_b(BGE, X7, X0, 0u - 4));
    }
    return late;
}

/** Some work-items come late to a barrier; the item's text says so. */
static void arrive_late(struct code *c)
{
    if (come_late(c)) {
        code_say(c, ", some come late");
    }
}

/** The barrier of item_barrier: plain, in a function, or at the end of a path that some lanes take later. */
static void wait_for_all(struct code *c, uint32_t how)
{
    uint32_t to_function, to_rest, function, condition = any_condition(c), a = any_source(c), b = any_source(c);
    if (how == 0) {
        emit(c, ASM_BARRIER);
        return;
    }
    to_function = code_hole(c);
    function = c->n;
    emit(c, ASM_BARRIER);
    if (how == 1) {
        emit(c, asm_jalr(X0, 0, RA));
        code_jump(c, to_function, X0);
        emit(c, asm_jal(RA, (function - c->n) * 4));
        return;
    }
    to_rest = code_hole(c);
    code_jump(c, to_function, X0);
    emit(c, asm_b(condition, a, b, (function - c->n) * 4));
    straight(c, 2);
    emit(c, asm_jal(X0, (function - c->n) * 4));
    code_jump(c, to_rest, X0);
}

void item_barrier(struct code *c)
{
    static const char *const texts[] = {"", " in a function", " that lanes reach one after the other"};
    uint32_t trips = 1 + rng_below(c->r, 4), how = rng_below(c->r, 3);
    code_say(c, "%u times a barrier%s", trips, texts[how]);
    emit(c, asm_addi(X6, X0, trips));
    uint32_t top = c->n;
    straight(c, 1 + rng_below(c->r, 2));
    wait_for_all(c, how);
    emit(c, asm_addi(X6, X6, UINT32_MAX));
    emit(c, asm_b(BNE, X6, X0, (top - c->n) * 4));
}

/** Loads near the words that work-items of the group wrote, of 1 << most bytes each: adjacent, one for all, or
 * apart. */
static void look_around(struct code *c, uint32_t base, uint32_t most)
{
    uint32_t size = rng_below(c->r, most + 1), kind = rng_below(c->r, 3);
    if (kind == 0) {
        emit(c, asm_addi(X7, base, 0));
    } else {
        emit(c, asm_lw(X7, RECORD_LID, X5));
        emit(c, asm_slli(X7, X7, kind == 1 ? size : most));
        emit(c, asm_add(X7, X7, base));
    }
    emit(c, asm_i(0x03, size == 2 ? 2 : size + 4 * rng_below(c->r, 2), any_dest(c), X7, 0));
}

/** All work-items store the same value to the same place. Each item has a place of its own. */
void item_same(struct code *c)
{
    bool local = c->kernel->local && rng_one_in(c->r, 2);
    uint32_t size = rng_below(c->r, 3), value = corner_value(c->r), offset = 4 * (c->item - c->kernel->first_item);
    code_say(c, "all, or some, store the same %u bytes to one place in %s memory", 1u << size,
             local ? "local" : "global");
    if (local) {
        share_local(c, X7, LOCAL_SAME + offset);
    } else {
        emit_li(c, X7, kernel_va(c->plan, c->index, KERNEL_LOCK) + LOCK_SAME + offset);
    }
    emit_li(c, X8, value);
    bool some = rng_one_in(c->r, 2);
    uint32_t skip = some ? code_hole(c) : 0;
    emit(c, asm_s(size, X8, 0, X7));
    if (rng_one_in(c->r, 4)) {
        emit(c, asm_amo(AMOSWAP, 0, X0, X8, X7));
    }
    emit(c, asm_i(0x03, 0, any_dest(c), X7, 0));
    if (some) {
        code_branch(c, skip, any_condition(c), any_value(c), any_value(c));
    }
}

/** Each work-item writes a word or less, and reads that of another one behind a barrier. */
void item_exchange(struct code *c)
{
    bool local = c->kernel->local && rng_one_in(c->r, 2);
    uint32_t trips = rng_one_in(c->r, 3) ? 2 + rng_below(c->r, 2) : 1,
        size = rng_one_in(c->r, 2) ? 2 : rng_below(c->r, 2);
    uint32_t base = any_value(c), other = any_value(c), top = 0;
    code_say(c, "exchange %u bytes through %s memory, %u times", 1u << size, local ? "local" : "global", trips);
    emit(c, asm_addi(X6, X0, trips));
    top = c->n;
    if (local) {
        share_local(c, base, LOCAL_EXCHANGE);
    } else {
        share_global(c, base);
    }
    if (local && size != 2) { /* clears what look_around may read besides; other groups have used the memory */
        emit(c, asm_lw(X7, RECORD_LID, X5));
        emit(c, asm_shadd(2, X7, X7, base));
        emit(c, asm_sw(X0, 0, X7));
        emit(c, ASM_BARRIER);
    }
    emit(c, asm_lw(X7, RECORD_LID, X5));
    emit(c, asm_slli(X7, X7, size));
    emit(c, asm_add(X7, X7, base));
    emit(c, asm_s(size, any_value(c), 0, X7));
    for (uint32_t n = size == 2 ? rng_below(c->r, 3) : 0; n; n--) { /* before the barrier the word is still its own */
        uint32_t op = rng_one_in(c->r, 8)   ? AMOCAS
                      : rng_one_in(c->r, 8) ? AMOSWAP
                                            : commutative[rng_below(c->r, COUNT(commutative))];
        emit(c, asm_amo(op, rng_below(c->r, 4), other == base ? X0 : other, any_value(c), X7));
    }
    arrive_late(c);
    emit(c, ASM_BARRIER);
    partner(c);
    emit(c, asm_slli(X7, X7, size));
    emit(c, asm_add(X7, X7, base));
    emit(c, asm_i(0x03, size == 2 ? 2 : size + 4 * rng_below(c->r, 2), other == base ? X8 : other, X7, 0));
    look_around(c, base, size);
    emit(c, ASM_BARRIER);
    emit(c, asm_addi(X6, X6, UINT32_MAX));
    emit(c, asm_b(BNE, X6, X0, (top - c->n) * 4));
}

void gate_wait(struct code *c)
{
    emit_li(c, X8, kernel_va(c->plan, c->index, KERNEL_LOCK) + GATE);
    emit(c, asm_amo(AMOOR, 0, X6, X0, X8));
    emit(c, asm_b(BEQ, X6, X0, 0u - 4));
}

void gate_count(struct code *c)
{
    emit_li(c, X8, kernel_va(c->plan, c->index, KERNEL_LOCK) + GATE + 8);
    emit(c, asm_addi(X6, X0, 1));
    emit(c, asm_amo(AMOADD, 0, X0, X6, X8));
}

/** Part of a group waits at a barrier while the others wait at the gate, which opens when a stop has found that. The
 *  others then write a word each and come to the barrier; behind it everybody reads the word of another work-item. */
void item_gate(struct code *c)
{
    const struct kernel_plan *k = c->kernel;
    bool local = k->local && rng_one_in(c->r, 2), below = rng_one_in(c->r, 2);
    uint32_t group = any_group(c), items = group_items(k, group), first = group * k->full, lanes = c->plan->g.lanes,
        bound = first + (items > 1 ? 1 + rng_below(c->r, items - 1) : 1), base = any_value(c), other = any_value(c);
    if (items > lanes && rng_one_in(c->r, 2)) { /* whole warps */
        bound = first + lanes * (1 + rng_below(c->r, (items - 1) / lanes));
    }
    c->awaited = below ? first + items - bound : bound - first;
    code_say(c, "%u work-items of group %u wait at a barrier, the others at a gate before it", c->awaited, group);
    local ? share_local(c, base, LOCAL_EXCHANGE) : share_global(c, base);
    emit(c, asm_lw(X7, RECORD_LID, X5));
    emit(c, asm_shadd(2, X7, X7, base));
    emit(c, asm_sw(X0, 0, X7));
    emit(c, ASM_BARRIER);
    emit_li(c, X7, first);
    emit_li(c, X8, first + items);
    uint32_t before = code_hole(c), behind = code_hole(c);
    emit_li(c, X7, bound);
    uint32_t part = code_hole(c);
    gate_wait(c);
    uint32_t late = code_hole(c);
    code_branch(c, part, below ? BGEU : BLTU, X9, X7);
    gate_count(c);
    code_branch(c, before, BLTU, X9, X7);
    code_branch(c, behind, BGEU, X9, X8);
    code_jump(c, late, X0);
    emit(c, asm_lw(X7, RECORD_LID, X5));
    emit(c, asm_shadd(2, X7, X7, base));
    emit(c, asm_sw(any_value(c), 0, X7));
    emit(c, ASM_BARRIER);
    partner(c);
    emit(c, asm_shadd(2, X7, X7, base));
    emit(c, asm_lw(other == base ? X8 : other, 0, X7));
    emit(c, ASM_BARRIER);
}

/** The group accumulates into local words, and reads them behind a barrier. */
void item_histogram(struct code *c)
{
    uint32_t op = commutative[rng_below(c->r, COUNT(commutative))], value = any_value(c), at = any_value(c);
    code_say(c, "accumulate in %u local words, up to four times", SHARED_WORDS);
    emit(c, asm_lw(X7, RECORD_LID, X5));
    uint32_t other = code_hole(c);
    share_local(c, X7, 0);
    for (uint32_t i = 0; i < SHARED_WORDS; i++) {
        emit(c, asm_sw(any_source(c), 4 * i, X7));
    }
    code_branch(c, other, BNE, X7, X0);
    emit(c, ASM_BARRIER);
    share_local(c, X8, 0);
    for (uint32_t n = 1 + rng_below(c->r, 4); n; n--) {
        const uint32_t where = rng_below(c->r, 4);
        if (where >= 2) { /* each fourth word, for instance: a unit for atomics then serves one lane after the other */
            emit(c, asm_lw(X7, RECORD_LID, X5));
            emit(c, asm_slli(X7, X7, rng_below(c->r, 4)));
        }
        emit(c, asm_andi(X7, where >= 2 ? X7 : value, where == 0 ? 0 : SHARED_WORDS - 1));
        emit(c, asm_shadd(2, X7, X7, X8));
        emit(c, asm_amo(op, rng_below(c->r, 4), X0, any_source(c), X7));
    }
    arrive_late(c);
    emit(c, ASM_BARRIER);
    emit(c, asm_lw(X7, RECORD_LID, X5));
    emit(c, asm_andi(X7, X7, SHARED_WORDS - 1));
    emit(c, asm_shadd(2, X7, X7, X8));
    emit(c, asm_lw(at, 0, X7));
    emit(c, ASM_BARRIER);
}

/** Word i of the shared region takes only the i-th operation, from all kernels and both engines. */
void item_shared(struct code *c)
{
    uint32_t n = 1 + rng_below(c->r, 3), i = 0;
    code_say(c, "%u atomic accumulations in memory that all share", n);
    for (; n; n--) {
        i = rng_below(c->r, SHARED_WORDS);
        emit_li(c, X7, c->plan->va[REGION_SHARED] + 4 * i);
        emit(c, asm_amo(commutative[i % COUNT(commutative)], rng_below(c->r, 4), X0, any_source(c), X7));
    }
}

/** Some work-items increment a shared word, in a loop of LR and SC or of compare-and-swap. */
void item_counter(struct code *c)
{
    bool local = c->kernel->barriers && c->kernel->local && rng_one_in(c->r, 2), swap = rng_one_in(c->r, 2);
    uint32_t mask = rng_one_in(c->r, 2) ? 3 : 7, which = rng_below(c->r, mask + 1), old = any_value(c), skip;
    code_say(c, "every %uth counts a %s word up by %s", mask + 1, local ? "local" : "shared",
             swap ? "compare and swap" : "LR and SC");
    if (local) {
        emit(c, asm_lw(X7, RECORD_LID, X5));
        skip = code_hole(c);
        share_local(c, X8, 0);
        emit(c, asm_sw(X0, 0, X8));
        code_branch(c, skip, BNE, X7, X0);
        emit(c, ASM_BARRIER);
    }
    emit(c, asm_andi(old, X9, mask));
    emit(c, asm_addi(old, old, 0u - which));
    skip = code_hole(c);
    if (local) {
        share_local(c, X7, 0);
    } else {
        emit_li(c, X7, c->plan->va[REGION_SHARED] + SHARED_COUNTERS + 4 * rng_below(c->r, SHARED_WORDS));
    }
    if (swap) {
        emit(c, asm_lw(old, 0, X7));
        uint32_t top = c->n;
        emit(c, asm_addi(X6, old, 0));
        emit(c, asm_addi(X8, old, 1));
        emit(c, asm_amo(AMOCAS, rng_below(c->r, 4), old, X8, X7));
        emit(c, asm_b(BNE, old, X6, (top - c->n) * 4));
    } else {
        uint32_t top = c->n;
        emit(c, asm_amo(LR, rng_below(c->r, 4), old, X0, X7));
        emit(c, asm_addi(old, old, 1));
        emit(c, asm_amo(SC, rng_below(c->r, 4), X8, old, X7));
        emit(c, asm_b(BNE, X8, X0, (top - c->n) * 4));
    }
    code_branch(c, skip, BNE, old, X0);
    for (uint32_t i = X6; i <= X8; i++) {
        emit(c, asm_addi(i, X0, 0));
    }
    emit(c, asm_addi(old, X0, 0));
    if (local) {
        emit(c, ASM_BARRIER);
        share_local(c, X7, 0);
        emit(c, asm_lw(old, 0, X7));
        emit(c, ASM_BARRIER);
    }
}

/** Some work-items add to a word that a spin lock guards. */
void item_lock(struct code *c)
{
    uint32_t mask = rng_one_in(c->r, 2) ? 3 : 7, which = rng_below(c->r, mask + 1), place = 64 * rng_below(c->r, 4),
        skip, top;
    bool reserve = rng_one_in(c->r, 2);
    code_say(c, "every %uth adds under a spin lock by %s", mask + 1, reserve ? "LR and SC" : "swap");
    emit(c, asm_andi(X7, X9, mask));
    emit(c, asm_addi(X7, X7, 0u - which));
    skip = code_hole(c);
    emit_li(c, X7, kernel_va(c->plan, c->index, KERNEL_LOCK) + place);
    top = c->n;
    if (reserve) {
        emit(c, asm_amo(LR, AQ, X8, X0, X7));
        emit(c, asm_b(BNE, X8, X0, (top - c->n) * 4));
        emit(c, asm_addi(X8, X0, 1));
        emit(c, asm_amo(SC, 0, X8, X8, X7));
        emit(c, asm_b(BNE, X8, X0, (top - c->n) * 4));
    } else {
        emit(c, asm_addi(X8, X0, 1));
        emit(c, asm_amo(AMOSWAP, AQ, X8, X8, X7));
        emit(c, asm_b(BNE, X8, X0, (top - c->n) * 4));
    }
    emit(c, ASM_FENCE);
    emit(c, asm_lw(X8, 4, X7));
    emit(c, asm_add(X8, X8, any_value(c)));
    emit(c, asm_sw(X8, 4, X7));
    emit(c, ASM_FENCE);
    emit(c, asm_amo(AMOSWAP, RL, X0, X0, X7));
    code_branch(c, skip, BNE, X7, X0);
    emit(c, asm_addi(X7, X0, 0));
    emit(c, asm_addi(X8, X0, 0));
}
