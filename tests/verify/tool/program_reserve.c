/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Reservations: guarantees of LR and SC that do not depend on order. A loop of LR and SC on a word that no other
 * work-item accesses succeeds in the end. An SC fails without LR, for another word, and after another work-item has
 * stored to the word. An SC that the architecture allows to succeed may also fail, so its result alone is never
 * compared.
 */
#include "program.h"

/** LR and SC on a word that no other work-item accesses: SC succeeds in the end, and a second SC fails. */
void item_reserve(struct code *c)
{
    static const char *const texts[] = {"once more", "after a store in between", "elsewhere, then here"};
    /* the work-item's word of this item in the scatter region, next to those of others */
    bool row = rng_one_in(c->r, 4);
    uint32_t base = row ? X4 : (uint32_t[]){SP, X3, X4}[rng_below(c->r, 3)], kind = row ? 0 : rng_below(c->r, 3);
    uint32_t rd = rng_one_in(c->r, 6) ? X0 : any_value(c);
    code_say(c, "LR and SC on a private word of %s memory, then SC %s",
             base == X4 ? "global" : base == X3 && c->kernel->local ? "local" : "private", texts[kind]);
    if (row) {
        emit_li(c, X7, kernel_va(c->plan, c->index, KERNEL_SCATTER) +
                           ((c->item - c->kernel->first_item) << (c->kernel->records_log2 + 2)));
        emit(c, asm_shadd(2, X7, X9, X7));
    } else {
        plain_address(c, base, 2);
    }
    emit(c, asm_i(0x13, 4, X6, X7, 4u << rng_below(c->r, 3))); /* another word of the same region */
    uint32_t top = c->n;
    emit(c, asm_amo(LR, rng_below(c->r, 4), rd, X0, X7));
    emit(c, asm_amo(SC, rng_below(c->r, 4), X8, any_value(c), X7));
    emit(c, asm_b(BNE, X8, X0, (top - c->n) * 4));
    if (kind == 1) {
        emit(c, asm_amo(LR, 0, any_value(c), X0, X7));
        emit(c, asm_sw(any_value(c), 0, X6));
        emit(c, asm_amo(SC, 0, X8, any_value(c), X6)); /* not the reserved word */
    } else if (kind == 2) {
        emit(c, asm_amo(LR, 0, any_dest(c), X0, X7));
        emit(c, asm_amo(SC, 0, X8, any_value(c), X6));
    }
    if (rng_one_in(c->r, 3)) { /* the result overwrites the address, or is dropped */
        emit(c, asm_amo(SC, 0, rng_one_in(c->r, 2) ? X7 : X0, any_value(c), X7));
        emit(c, asm_r(0x33, 3, 0, X7, X0, X7));
    } else {
        emit(c, asm_amo(SC, 0, X6, any_value(c), X7));
    }
    emit(c, asm_r(0x33, 3, 0, X6, X0, X6)); /* the code of a failure is open */
    emit(c, asm_r(0x33, 3, 0, X8, X0, X8));
}

/** word = address of word `index` of a line that the group has alone. */
static void group_line(struct code *c, uint32_t word, uint32_t index)
{
    emit(c, asm_lw(X7, RECORD_LID, X5));
    emit(c, asm_sub(X7, X9, X7));
    emit_li(c, X8, c->kernel->full);
    emit(c, asm_r(0x33, 5, 1, X7, X7, X8)); /* divu: the group's number */
    emit(c, asm_slli(X7, X7, 6));
    emit_li(c, word, kernel_va(c->plan, c->index, KERNEL_EXCHANGE) + GROUP_LINES(c->kernel->records) + 4 * index);
    emit(c, asm_add(word, word, X7));
}

/** Work-items that do not reserve store to a word of the line; the one with x8 not 0 stores to the reserved word
 *  itself. This is one store instruction for each warp. x6 is 0 in that work-item and counts on in the order of
 *  work-items. */
static void disturb_row(struct code *c, uint32_t word, uint32_t index)
{
    uint32_t size = rng_below(c->r, 3);
    emit(c, asm_lw(X7, RECORD_LID, X5));
    uint32_t skip = code_hole(c);
    emit(c, asm_addi(X7, X6, index));
    emit(c, asm_andi(X7, X7, 15));
    emit(c, asm_slli(X7, X7, 2));
    emit(c, asm_add(X7, X7, word));
    emit(c, asm_s(size, X0, 0u - 4 * index, X7));
    code_branch(c, skip, BEQ, X7, X0);
}

/** The work-item with x8 not 0 stores to the word. */
static void disturb(struct code *c, uint32_t word)
{
    uint32_t skip = code_hole(c), top = c->n, size = rng_below(c->r, 2), value = any_value(c);
    switch (rng_below(c->r, 6)) {
    case 0: /* a part of the word */
        emit(c, asm_s(size, value, size ? 2 * rng_below(c->r, 2) : rng_below(c->r, 4), word));
        break;
    case 1:
        emit(c, asm_amo(AMOSWAP, rng_below(c->r, 4), X0, value, word));
        break;
    case 2:
        emit(c, asm_amo(LR, 0, X7, X0, word));
        emit(c, asm_amo(SC, 0, X7, value, word));
        emit(c, asm_b(BNE, X7, X0, (top - c->n) * 4));
        break;
    default: /* the same value or another one */
        emit(c, asm_sw(rng_one_in(c->r, 4) ? X0 : value, 0, word));
        break;
    }
    code_branch(c, skip, BEQ, X8, X0);
}

/** Work-items reserve a word of their group, another one stores to it, and barriers order both: no SC succeeds. */
void item_reservation_lost(struct code *c)
{
    bool local = c->kernel->local && rng_one_in(c->r, 2), all = rng_one_in(c->r, 3), last = rng_one_in(c->r, 2);
    uint32_t word = FIRST_VALUE + rng_below(c->r, 7), flag = word + 7, old = word + 14, value = any_value(c), skip;
    uint32_t index = rng_below(c->r, LINE / 4);
    code_say(c, "%s of a group reserve a word in %s memory, the %s one stores to it: SC fails", all ? "all" : "one",
             local ? "local" : "global", last ? "last" : "second");
    if (local) {
        share_local(c, word, 4 * index);
    } else {
        group_line(c, word, index);
    }
    emit(c, asm_lw(X7, RECORD_LID, X5));
    emit(c, asm_lw(X8, RECORD_SIZE, X5));
    if (last) {
        emit(c, asm_addi(X6, X8, UINT32_MAX));
    } else { /* in a group of one, that one */
        emit(c, asm_addi(X6, X0, 1));
        emit(c, asm_r(0x33, 3, 0, X6, X6, X8));
    }
    emit(c, asm_sub(X6, X7, X6)); /* 0: the one that stores */
    skip = code_hole(c);
    emit(c, asm_sw(value, 0, word));
    code_branch(c, skip, BNE, X7, X0);
    emit(c, ASM_BARRIER);
    if (all) {
        emit(c, asm_amo(LR, rng_below(c->r, 4), old, X0, word));
    } else { /* only the first one reserves */
        skip = code_hole(c);
        emit(c, asm_amo(LR, rng_below(c->r, 4), old, X0, word));
        code_branch(c, skip, BNE, X7, X0);
    }
    emit(c, ASM_BARRIER);
    emit(c, asm_i(0x13, 3, X8, X6, 1));
    if (!all && rng_one_in(c->r, 2)) {
        disturb_row(c, word, index);
    } else {
        disturb(c, word);
    }
    emit(c, ASM_BARRIER);
    emit(c, asm_addi(flag, X0, 1));
    emit(c, asm_lw(X7, RECORD_LID, X5));
    skip = code_hole(c);
    uint32_t others = all ? skip : code_hole(c);
    emit(c, asm_amo(SC, rng_below(c->r, 4), flag, value, word));
    code_branch(c, others, BNE, X7, X0);
    code_branch(c, skip, BEQ, X6, X0); /* the one that has stored may succeed */
    emit(c, asm_r(0x33, 3, 0, flag, X0, flag)); /* the code of a failure is open */
    emit(c, ASM_BARRIER);
    emit(c, asm_lw(old, 0, word));
    emit(c, ASM_BARRIER);
}
