/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Floating point where one bit decides: sums that are exactly zero, whose sign the rounding mode gives; sums halfway
 * between two numbers; quotients a unit of the remainder away from exact; operands of each class of numbers with each
 * other, one pair a lane; fused operations whose sources arrive at different times. Random operands hardly ever give
 * these.
 */
#include "program.h"

#define QUOTIENT_BITS 25u /* bits of a binary32 quotient, with the rounding bit */

enum { ADD = 0x00, SUB = 0x04, MUL = 0x08, DIV = 0x0c, SQRT = 0x2c };
enum { RNE = 0, DYNAMIC = 7 };

static uint32_t real(uint32_t rm, uint32_t f7, uint32_t rd, uint32_t a, uint32_t b)
{
    return asm_r(0x53, rm, f7, rd, a, b);
}

/** fmadd, fmsub, fnmsub or fnmadd for k from 0 to 3. */
static uint32_t fused(uint32_t k, uint32_t rm, uint32_t rd, uint32_t a, uint32_t b, uint32_t addend)
{
    return asm_r(0x43 + 4 * k, rm, addend << 2, rd, a, b);
}

/** Any rounding mode, also by frm. Modes that distinguish signs of zero and halves are more frequent. */
static uint32_t rounding(struct code *c)
{
    static const uint8_t modes[] = {0, 0, 1, 2, 2, 3, 4};
    uint32_t rm = modes[rng_below(c->r, COUNT(modes))];
    if (rng_one_in(c->r, 3)) {
        emit(c, asm_i(0x73, 5, X0, rm, TERN_CSR_FRM));
        return DYNAMIC;
    }
    return rm;
}

/** x - x in all its forms, for a finite x. */
static void cancel(struct code *c)
{
    uint32_t x = any_value(c), y = any_value(c), rd = any_dest(c), rm = rounding(c), kind = rng_below(c->r, 5);
    emit(c, asm_andi(X8, any_source(c), 0x7ff));
    emit(c, asm_slli(X8, X8, rng_below(c->r, 20)));
    emit(c, asm_addi(x, X8, rng_below(c->r, 2)));
    if (rng_one_in(c->r, 2)) { /* makes x negative */
        emit_li(c, X8, 0x80000000u);
        emit(c, asm_r(0x33, 6, 0, x, x, X8));
    }
    y = y == x ? X7 : y;
    switch (kind) {
    case 0:
        emit(c, real(rm, SUB, rd, x, x));
        break;
    case 1:
        emit(c, asm_r(0x53, 1, 0x10, y, x, x));
        emit(c, real(rm, ADD, rd, x, y));
        break;
    default: /* x * 1 and x: cancels or doubles it */
        emit_li(c, y, 0x3f800000u | (rng_one_in(c->r, 2) ? 0x80000000u : 0));
        emit(c, fused(rng_below(c->r, 4), rm, rd, kind == 2 ? x : y, kind == 2 ? y : x, x));
        break;
    }
}

/** x + half a unit in its last place. */
static void tie(struct code *c)
{
    uint32_t x = any_value(c), y = any_value(c), rd = any_dest(c), rm = rng_one_in(c->r, 2) ? RNE : rounding(c);
    uint32_t exponent = 40 + rng_below(c->r, 200), sign = rng_next(c->r) & 0x80000000u;
    y = y == x ? X7 : y;
    emit_li(c, x, sign | exponent << 23 | (rng_next(c->r) & 0x7fffffu));
    emit_li(c, y, (rng_one_in(c->r, 4) ? sign ^ 0x80000000u : sign) | (exponent - 24) << 23);
    if (rng_one_in(c->r, 2)) {
        emit(c, real(rm, ADD, rd, x, y));
    } else {
        bool swap = rng_one_in(c->r, 2);
        emit_li(c, X8, 0x3f800000u);
        emit(c, fused(0, rm, rd, swap ? y : x, X8, swap ? x : y));
    }
}

/** a / b such that the remainder of a * 2^25 is 1 or b - 1: a is the inverse of 2^25 modulo b. */
static void quotient(struct code *c)
{
    uint32_t a = 0, b = 0, x = any_value(c), y = any_value(c), rd = any_dest(c), rm = rounding(c);
    for (uint32_t tries = 0; tries < 16 && a < 1u << 23; tries++) {
        b = 1u << 23 | (rng_next(c->r) & 0x7fffffu) | 1u;
        a = 1;
        for (uint32_t i = 0; i < QUOTIENT_BITS; i++) {
            a = a & 1u ? (a + b) / 2 : a / 2;
        }
        a = rng_one_in(c->r, 4) ? b - a : a;
    }
    y = y == x ? X7 : y;
    emit_li(c, x, (rng_next(c->r) & 0x80000000u) | (100 + rng_below(c->r, 56)) << 23 | (a & 0x7fffffu));
    emit_li(c, y, (100 + rng_below(c->r, 56)) << 23 | (b & 0x7fffffu));
    emit(c, real(rm, DIV, rd, x, y));
}

/** A fused operation whose sources are all in flight when it issues: from memory, from the divider, from an earlier
 * operation. */
static void chain(struct code *c)
{
    uint32_t source[3], n = 2 + rng_below(c->r, 2), k = rng_below(c->r, 3), rm = rounding(c);
    for (uint32_t i = 0; i < 3; i++) {
        source[i] = FIRST_VALUE + 7 * i + rng_below(c->r, 7);
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t rd = source[(k + i) % 3], a = any_source(c), b = any_source(c);
        switch (rng_below(c->r, 4)) {
        case 0:
            emit(c, asm_lw(rd, RECORD_VALUES + 4 * rng_below(c->r, 32 - FIRST_VALUE), X5));
            break;
        case 1:
            emit(c, rng_one_in(c->r, 2) ? real(rm, DIV, rd, a, b) : real(rm, SQRT, rd, a, 0));
            break;
        case 2:
            emit(c, asm_mul(rd, a, b));
            break;
        default:
            emit(c, real(rm, MUL, rd, a, b));
            break;
        }
    }
    emit(c, fused(rng_below(c->r, 4), rm, any_dest(c), source[0], source[1], source[2]));
}

void item_exact(struct code *c)
{
    static void (*const kinds[])(struct code *) = {cancel, cancel, tie, tie, quotient, chain};
    uint32_t n = 2 + rng_below(c->r, 4);
    code_say(c, "%u times sums or quotients at the edge of exact", n);
    while (n--) {
        kinds[rng_below(c->r, COUNT(kinds))](c);
        if (rng_one_in(c->r, 2)) { /* only the flags of the last operation */
            emit(c, asm_i(0x73, 1, any_dest(c), X0, TERN_CSR_FFLAGS));
        }
    }
}

/** Registers a and b, by lane: words of the item's constants in two orders, which give other pairs each time. */
static void pair(struct code *c, uint32_t a, uint32_t b, bool both)
{
    emit_li(c, X8, c->pool_va);
    if (both) {
        emit(c, asm_andi(X7, X9, POOL / 8 - 1));
        emit(c, asm_shadd(2, X7, X7, X8));
        emit(c, asm_lw(a, 0, X7));
    }
    emit(c, asm_srli(X7, X9, 3));
    emit(c, asm_add(X7, X7, X9));
    emit(c, asm_addi(X7, X7, rng_below(c->r, POOL / 8)));
    emit(c, asm_andi(X7, X7, POOL / 8 - 1));
    emit(c, asm_shadd(2, X7, X7, X8));
    emit(c, asm_lw(b, POOL / 2, X7));
}

/** One operation on two registers. */
static void two_sources(struct code *c, bool is_real, uint32_t rd, uint32_t a, uint32_t b)
{
    /* funct7 * 16 + funct3 */
    static const uint16_t integer[] = {0x000, 0x001, 0x002, 0x003, 0x004, 0x005, 0x006, 0x007, 0x200, 0x205, 0x204,
                                       0x206, 0x207, 0x102, 0x104, 0x106, 0x054, 0x055, 0x056, 0x057, 0x301, 0x305,
                                       0x010, 0x011, 0x012, 0x013, 0x014, 0x015, 0x016, 0x017};
    static const uint16_t reals[] = {0x000, 0x040, 0x080, 0x0c0, 0x100, 0x101, 0x102, 0x140, 0x141, 0x500, 0x501,
                                     0x502};
    uint32_t k = is_real ? reals[rng_below(c->r, COUNT(reals))] : integer[rng_below(c->r, COUNT(integer))];
    uint32_t rm = is_real && k <= 0x0c0 ? rng_below(c->r, 5) : k & 7u;
    emit(c, asm_r(is_real ? 0x53 : 0x33, rm, k >> 4, rd, a, b));
}

void item_classes(struct code *c)
{
    static const uint32_t integers[] = {0, 1, UINT32_MAX, 0x80000000u, 0x7fffffffu};
    static const uint32_t reals[] = {0x00000000u, 0x00000001u, 0x007fffffu, 0x3f800000u, 0x4f7fffffu, 0x7f7fffffu,
                                     0x7f800000u, 0x7f800000u, 0x7fc00000u, 0x7fc00001u, 0x7f800001u, 0x7fbfffffu};
    bool is_real = rng_one_in(c->r, 3);
    uint32_t n = 5 + rng_below(c->r, 6), a = any_value(c), b = FIRST_VALUE + (a - FIRST_VALUE + 7) % (32 - FIRST_VALUE);
    code_say(c, "%u %s operations on corner values, other ones in each lane", n,
             is_real ? "floating-point" : "integer");
    for (uint32_t i = 0; i < POOL / 4; i++) {
        uint32_t sign = rng_next(c->r) & 0x80000000u;
        c->pool[i] = is_real              ? sign | reals[rng_below(c->r, COUNT(reals))]
                     : rng_one_in(c->r, 8) ? corner_value(c->r)
                                           : integers[rng_below(c->r, COUNT(integers))];
    }
    pair(c, a, b, true);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t rd = rng_one_in(c->r, 10) ? X0 : FIRST_VALUE + (a - FIRST_VALUE + 1 + rng_below(c->r, 6)) %
                                                                (32 - FIRST_VALUE);
        bool swap = rng_one_in(c->r, 2);
        if (i == n / 2) {
            pair(c, a, b, false);
        }
        if (!is_real && rng_one_in(c->r, 4)) { /* sometimes overwrites a source */
            emit(c, asm_b(any_condition(c), swap ? b : a, swap ? a : b, 8));
        }
        two_sources(c, is_real, rd, swap ? b : a, swap ? a : b);
    }
}
