/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Addresses that differ in exactly one bit, in every bit position over the cases, and in two bits PAIR_APART places
 * apart, which hashed indexes map to one place. A comparison of addresses, tags or page numbers that leaves out a bit
 * confuses them. The pages also differ in such bits physically, and each has its own contents, code and data.
 */
#include "program.h"

#define LINE_WORDS (LINE / 4u)
#define PAIR_STREAM (1ull << 35)
#define PAIR_APART 8u
#define MEMORY_BITS 14u /* bits of a physical page number */

/** Returns mask number i of whole pages; 0: there are no more. */
static uint32_t page_mask(uint32_t i)
{
    const uint32_t first = 12, single = 32 - first, two = 32 - PAIR_APART - first;
    return i < single         ? 1u << (first + i)
           : i < single + two ? 1u << (first + i - single) | 1u << (first + i - single + PAIR_APART)
                              : 0;
}

static uint32_t physical_page(const struct plan *p, uint32_t mask)
{
    uint32_t page = p->pair_page;
    for (uint32_t bit = 12; bit < 32; bit++) {
        page ^= (mask >> bit & 1u) << (bit - 12) % MEMORY_BITS;
    }
    return page;
}

bool pairs_at(const struct plan *p, uint32_t i, uint32_t *va, uint32_t *page)
{
    uint32_t mask = i ? page_mask(i - 1) : 0;
    *va = p->pair_va ^ mask;
    *page = physical_page(p, mask);
    return i == 0 || mask;
}

void pairs_fill(const struct plan *p, uint32_t page, uint32_t words[PAGE / 4])
{
    struct rng r = rng_of(p->seed, PAIR_STREAM + page);
    for (uint32_t i = 0; i < PAGE / 4; i++) {
        bool function = i % LINE_WORDS >= LINE_WORDS - 2;
        words[i] = !function                         ? rng_next(&r)
                   : i % LINE_WORDS < LINE_WORDS - 1 ? asm_addi(X7, X0, rng_next(&r) & 0x7ffu)
                                                     : asm_i(0x67, 0, X0, RA, 0);
    }
}

/** Returns one bit, or two, not below `least` and within the address space. */
static uint32_t draw_mask(const struct code *c, uint32_t least)
{
    uint32_t most = c->plan->physical ? 12 + MEMORY_BITS : 32, low = least < 6 ? 6 : least;
    if (rng_one_in(c->r, 4)) {
        uint32_t bit = low + rng_below(c->r, most - PAIR_APART - low);
        return 1u << bit | 1u << (bit + PAIR_APART);
    }
    return 1u << (least + rng_below(c->r, most - least));
}

/** x7 = place, or place ^ mask where a bit of the work-item's number is set, or everywhere. Uses x6. */
static void address(struct code *c, uint32_t place, uint32_t mask, bool by_lane)
{
    if (by_lane) {
        emit(c, asm_srli(X7, X9, rng_below(c->r, 3)));
        emit(c, asm_andi(X7, X7, 1));
        emit(c, asm_sub(X7, X0, X7));
        emit_li(c, X6, mask);
        emit(c, asm_r(0x33, 7, 0, X7, X7, X6));
        emit_li(c, X6, place);
        emit(c, asm_r(0x33, 4, 0, X7, X7, X6));
    } else {
        emit_li(c, X7, place ^ mask);
    }
}

static void load_pair(struct code *c, uint32_t place, uint32_t mask, bool by_lane)
{
    uint32_t rd = any_value(c);
    address(c, place, mask, by_lane);
    emit(c, asm_lw(rd, 0, X7));
    if (rng_one_in(c->r, 2)) { /* waits, so that the next load finds this line in the cache */
        emit(c, asm_b(BEQ, rd, rd, 4));
    }
}

static void call_pair(struct code *c, uint32_t place, uint32_t mask, bool by_lane)
{
    uint32_t offset = rng_one_in(c->r, 2) ? 0 : rng_below(c->r, 0xfff) - 0x7ffu;
    address(c, (place & ~(LINE - 1)) + LINE - 8, mask, by_lane);
    emit(c, asm_addi(X7, X7, 0u - offset));
    emit(c, asm_i(0x67, 0, RA, X7, offset));
    emit(c, asm_add(any_value(c), X7, any_source(c)));
}

/** LR of one word and SC of the other: the SC fails in any case. In local memory other work-items may write the word
 * that LR reads. */
static void reserve_pair(struct code *c, bool local, uint32_t place, uint32_t other)
{
    uint32_t rd = local ? X6 : any_value(c), flag = any_value(c);
    emit_li(c, X7, place);
    emit_li(c, X8, other);
    emit(c, asm_amo(LR, rng_below(c->r, 4), rd, X0, X7));
    emit(c, asm_amo(SC, rng_below(c->r, 4), X6, any_value(c), X8));
    emit(c, asm_r(0x33, 3, 0, X6, X0, X6)); /* the code of a failure is open */
    emit(c, asm_add(flag, flag, X6));
}

void item_pairs(struct code *c)
{
    uint32_t n = 1 + rng_below(c->r, 4), place = c->plan->pair_va + 4 * rng_below(c->r, PAGE / 4);
    bool code = rng_one_in(c->r, 3);
    code_say(c, "%u times %s two addresses that differ in a bit or two:", n, code ? "calls of" : "loads from");
    for (; n; n--) {
        uint32_t mask = draw_mask(c, code ? 6 : 2), turn = rng_below(c->r, 2);
        bool by_lane = rng_one_in(c->r, 2);
        code_say(c, " %x", mask);
        for (uint32_t i = 0; i < 2; i++) {
            (code ? call_pair : load_pair)(c, place, by_lane || i == turn ? mask : 0, by_lane);
        }
    }
    emit(c, asm_addi(RA, X0, 0));
    emit(c, asm_addi(X6, X0, 0));
    emit(c, asm_addi(X7, X0, 0));
}

void item_reserve_pairs(struct code *c)
{
    uint32_t n = 1 + rng_below(c->r, 4), least = TERN_WIN_LOCAL_BASE, bytes = c->kernel->packet.local_bytes;
    bool local = c->kernel->local && rng_one_in(c->r, 2);
    code_say(c, "%u times LR in %s memory, then SC where a bit or two of the address differ", n,
             local ? "local" : "global");
    for (; n; n--) {
        uint32_t place = 4 * rng_below(c->r, local ? bytes / 4 : PAGE / 4), mask;
        do {
            mask = local ? 4u << rng_below(c->r, 16) : draw_mask(c, 2);
        } while (local && (place ^ mask) >= bytes);
        reserve_pair(c, local, local ? least + place : c->plan->pair_va + place,
                     local ? least + (place ^ mask) : (c->plan->pair_va + place) ^ mask);
    }
    emit(c, asm_addi(X6, X0, 0));
    emit(c, asm_addi(X7, X0, 0));
    emit(c, asm_addi(X8, X0, 0));
}
