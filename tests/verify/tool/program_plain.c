/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Straight code: every instruction of RV32IMA_Zfinx_Zba_Zbb that neither branches nor waits, with operands biased to
 * corner values. Memory instructions access only the work-item's own memory, so their result is defined.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"


void emit(struct code *c, uint32_t word)
{
    if (c->n == MAX_CODE) {
        fprintf(stderr, "program: an item is longer than the room for code\n");
        abort();
    }
    c->word[c->n++] = word;
}

void emit_li(struct code *c, uint32_t rd, uint32_t value)
{
    uint32_t low = value & 0xfffu, high = (value + 0x800u) & 0xfffff000u;
    if (high) {
        emit(c, asm_lui(rd, high));
    }
    if (low || !high) {
        emit(c, asm_addi(rd, high ? rd : X0, low));
    }
}

uint32_t code_hole(struct code *c)
{
    emit(c, 0);
    return c->n - 1;
}

void code_branch(struct code *c, uint32_t hole, uint32_t condition, uint32_t rs1, uint32_t rs2)
{
    if (c->n - hole >= 1024) {
        fprintf(stderr, "program: a branch over %u instructions\n", c->n - hole);
        abort();
    }
    c->word[hole] = asm_b(condition, rs1, rs2, (c->n - hole) * 4);
}

void code_jump(struct code *c, uint32_t hole, uint32_t rd)
{
    c->word[hole] = asm_jal(rd, (c->n - hole) * 4);
}

void code_say(struct code *c, const char *format, ...)
{
    if (!c->text) {
        return;
    }
    va_list list;
    size_t used = strlen(c->text);
    va_start(list, format);
    vsnprintf(c->text + used, c->text_size - used, format, list);
    va_end(list);
}

uint32_t any_value(struct code *c)
{
    return FIRST_VALUE + rng_below(c->r, 32 - FIRST_VALUE);
}

uint32_t any_source(struct code *c)
{
    if (c->only_fresh || rng_one_in(c->r, 3)) {
        return c->fresh[rng_below(c->r, 2)];
    }
    if (rng_one_in(c->r, 4)) { /* a result that may be in flight */
        return c->last[rng_below(c->r, 2)];
    }
    return rng_one_in(c->r, 8) ? rng_below(c->r, FIRST_VALUE) : any_value(c);
}

uint32_t any_dest(struct code *c)
{
    uint32_t rd = rng_one_in(c->r, 24) ? X0 : any_value(c);
    c->last[1] = c->last[0];
    c->last[0] = rd;
    return rd;
}

uint32_t any_condition(struct code *c)
{
    static const uint8_t conditions[] = {BEQ, BNE, BLT, BGE, BLTU, BGEU};
    return conditions[rng_below(c->r, COUNT(conditions))];
}

/** A destination and two sources; at times the same register twice. */
struct three {
    uint32_t rd, rs1, rs2;
};

static struct three any_three(struct code *c)
{
    struct three t = {any_dest(c), any_source(c), any_source(c)};
    switch (rng_below(c->r, 8)) {
    case 0:
        t.rs1 = t.rd;
        break;
    case 1:
        t.rs2 = t.rd;
        break;
    case 2:
        t.rs2 = t.rs1;
        break;
    default:
        break;
    }
    return t;
}

/* ------------------------------------------------------------------ values */

static uint32_t corner_integer(struct rng *r)
{
    uint32_t v = rng_next(r), n = rng_below(r, 32);
    switch (rng_below(r, 11)) {
    case 8:
    case 9:
    case 10:
    case 0:
        return rng_below(r, 3) - 1;               /* -1, 0, 1 */
    case 7:
    case 1:
        return 0x80000000u - rng_below(r, 2);     /* INT_MIN, INT_MAX */
    case 2:
        return (1u << n) + rng_below(r, 3) - 1;   /* about a power of two */
    case 3:
        return v >> n;
    case 4:
        return v << n;
    case 5:
        return rng_below(r, 65);                  /* counts of shifts */
    default:
        return rng_one_in(r, 2) ? (uint32_t)((int32_t)v >> n) : v;
    }
}

static uint32_t corner_float(struct rng *r)
{
    static const uint32_t special[] = {
        0x00000000u, 0x3f800000u, 0x7f800000u, 0x7fc00000u, 0x7f800001u, 0x7fa55555u, 0x7fffffffu, 0x00000001u,
        0x00000002u, 0x007fffffu, 0x00400000u, 0x00800000u, 0x00800001u, 0x7f7fffffu, 0x7f7ffffeu, 0x7f000000u,
        0x34000000u, 0x33800000u, 0x33800001u, 0x337fffffu, 0x4b000000u, 0x4b800000u, 0x4b7fffffu, 0x4effffffu,
        0x4f000000u, 0x4f7fffffu, 0x4f800000u, 0x3f000000u, 0x3effffffu, 0x3f000001u, 0x3fc00000u, 0x3f7fffffu,
        0x3f800001u, 0x40000000u, 0x1f800000u, 0x5f800000u, 0x20000000u, 0x1fffffffu};
    uint32_t sign = rng_next(r) & 0x80000000u, v = rng_next(r) & 0x7fffffu, exponent;
    switch (rng_below(r, 9)) {
    case 8: /* infinities, NaNs of both kinds */
        return sign | 0x7f800000u | (rng_next(r) & (uint32_t[]){0, 0x7fffffu, 0x400000u, 0x3fffffu}[rng_below(r, 4)]);
    case 0:
    case 1:
        return sign | special[rng_below(r, COUNT(special))];
    case 2: /* near one: cancellation */
        return sign | 0x3f800000u | (v & 7u);
    case 3: /* exponents that differ by at most the width of a significand */
        exponent = 115 + rng_below(r, 26);
        break;
    case 4: /* few bits: sums and products that are exact, or halfway */
        v &= rng_one_in(r, 2) ? 0x700000u : 0x000003u;
        exponent = 100 + rng_below(r, 56);
        break;
    case 5: /* products that overflow or become subnormal */
        exponent = rng_one_in(r, 2) ? 1 + rng_below(r, 70) : 185 + rng_below(r, 70);
        break;
    case 6: /* subnormal */
        return sign | v >> rng_below(r, 23);
    default: /* about the size of integers */
        exponent = 120 + rng_below(r, 42);
        break;
    }
    return sign | exponent << 23 | v;
}

uint32_t corner_value(struct rng *r)
{
    return rng_one_in(r, 2) ? corner_float(r) : corner_integer(r);
}

/* -------------------------------------------------------------- arithmetic */

void plain_integer(struct code *c)
{
    /* funct7 * 16 + funct3 */
    static const uint16_t reg[] = {0x000, 0x001, 0x002, 0x003, 0x004, 0x005, 0x006, 0x007, 0x200, 0x205, 0x204, 0x206,
                                   0x207, 0x102, 0x104, 0x106, 0x054, 0x055, 0x056, 0x057, 0x301, 0x305};
    static const uint16_t unary[] = {0x600, 0x601, 0x602, 0x604, 0x605};
    static const uint16_t imm[] = {0, 2, 3, 4, 6, 7};
    static const uint16_t limits[] = {0, 1, 0x7ff, 0x800, 0xfff};
    struct three t = any_three(c);
    uint32_t k, value;
    switch (rng_below(c->r, 10)) {
    case 0:
        emit(c, asm_i(0x13, 1, t.rd, t.rs1, unary[rng_below(c->r, COUNT(unary))]));
        break;
    case 1: /* shifts and rotation by a constant */
        k = rng_below(c->r, 4);
        value = rng_below(c->r, 32);
        emit(c, asm_i(0x13, k ? 5 : 1, t.rd, t.rs1, value | (k < 2 ? 0 : k == 2 ? 0x400u : 0x600u)));
        break;
    case 2: /* orc.b, rev8, zext.h */
        k = rng_below(c->r, 3);
        emit(c, k == 0   ? asm_i(0x13, 5, t.rd, t.rs1, 0x287)
                : k == 1 ? asm_i(0x13, 5, t.rd, t.rs1, 0x698)
                         : asm_r(0x33, 4, 4, t.rd, t.rs1, 0));
        break;
    case 3:
    case 4:
        k = imm[rng_below(c->r, COUNT(imm))];
        value = rng_one_in(c->r, 3) ? limits[rng_below(c->r, COUNT(limits))] : rng_below(c->r, 4096);
        emit(c, asm_i(0x13, k, t.rd, t.rs1, value));
        break;
    case 5:
        value = rng_next(c->r);
        emit(c, rng_one_in(c->r, 2) ? asm_auipc(t.rd, value) : asm_lui(t.rd, value));
        break;
    case 6:
    case 7:
        emit(c, asm_r(0x33, rng_below(c->r, 8), 1, t.rd, t.rs1, t.rs2));
        break;
    default:
        k = reg[rng_below(c->r, COUNT(reg))];
        emit(c, asm_r(0x33, k & 15u, k >> 4, t.rd, t.rs1, t.rs2));
        break;
    }
}

/** Accesses to fflags, frm and fcsr. At the end the rounding mode is a legal one. */
static void float_status(struct code *c)
{
    uint32_t number = 1 + rng_below(c->r, 3);
    switch (rng_below(c->r, 5)) {
    case 0:
        emit(c, asm_csrr(any_dest(c), number));
        break;
    case 1:
        emit(c, asm_i(0x73, 5, any_dest(c), rng_below(c->r, 5), TERN_CSR_FRM));
        break;
    case 2:
        emit(c, asm_i(0x73, 1 + rng_below(c->r, 3), any_dest(c), any_source(c), TERN_CSR_FFLAGS));
        break;
    case 3: /* writes any value, reads it, and makes it legal again */
        emit(c, asm_i(0x73, 1 + rng_below(c->r, 3), any_dest(c), any_source(c), number));
        emit(c, asm_csrr(any_dest(c), 1 + rng_below(c->r, 3)));
        emit(c, asm_i(0x73, 5, X0, rng_below(c->r, 5), TERN_CSR_FRM));
        break;
    default:
        emit(c, asm_i(0x73, 5 + rng_below(c->r, 3), any_dest(c), rng_below(c->r, 32), number));
        emit(c, asm_i(0x73, 5, any_dest(c), rng_below(c->r, 5), TERN_CSR_FRM));
        break;
    }
}

void plain_float(struct code *c)
{
    static const uint8_t modes[] = {0, 0, 0, 7, 7, 7, 1, 2, 3, 4};
    uint32_t rm = modes[rng_below(c->r, COUNT(modes))], k, kind = rng_below(c->r, 12);
    struct three t = any_three(c);
    switch (kind) {
    case 0:
    case 1:
    case 2: /* fused operations */
        k = rng_below(c->r, 4);
        emit(c, asm_r(0x43 + 4 * k, rm, any_source(c) << 2, t.rd, t.rs1, t.rs2));
        break;
    case 3:
    case 4:
    case 5:
        emit(c, asm_r(0x53, rm, rng_below(c->r, 3) * 4, t.rd, t.rs1, t.rs2));
        break;
    case 6: /* sign injection, minimum, comparison */
    case 7:
        k = rng_below(c->r, 3);
        emit(c, asm_r(0x53, rng_below(c->r, k == 1 ? 2 : 3), k == 0 ? 0x10 : k == 1 ? 0x14 : 0x50, t.rd, t.rs1, t.rs2));
        break;
    case 8: /* conversions, fclass */
    case 9:
        k = rng_below(c->r, 5);
        emit(c, k == 4 ? asm_r(0x53, 1, 0x70, t.rd, t.rs1, 0)
                       : asm_r(0x53, rm, k & 1u ? 0x60 : 0x68, t.rd, t.rs1, k >> 1));
        break;
    case 10:
        emit(c, rng_one_in(c->r, 3) ? asm_r(0x53, rm, 0x2c, t.rd, t.rs1, 0)
                                    : asm_r(0x53, rm, 0x0c, t.rd, t.rs1, t.rs2));
        break;
    default:
        float_status(c);
        break;
    }
}

/* ------------------------------------------------------------------ memory */

void plain_address(struct code *c, uint32_t base, uint32_t size)
{
    uint32_t mask = ((base == X4 ? SCRATCH : AREA) - 1) & ~((1u << size) - 1);
    uint32_t by = rng_below(c->r, 3) ? X9 : any_value(c),
        shift = by == X9 ? size + rng_below(c->r, 2) : rng_below(c->r, 8);
    if (by == X9 && rng_one_in(c->r, 2)) { /* counts lanes from the first or from the last */
        emit(c, asm_lw(X7, RECORD_LID, X5));
        by = X7;
    }
    emit(c, asm_slli(X7, by, shift));
    emit(c, asm_andi(X7, X7, mask));
    if (by == X7 && rng_one_in(c->r, 2)) {
        emit(c, asm_i(0x13, 4, X7, X7, mask));
    }
    emit(c, asm_add(X7, X7, base));
}

static const uint8_t amos[] = {AMOADD, AMOSWAP, AMOXOR, AMOOR, AMOAND, AMOMIN, AMOMAX, AMOMINU, AMOMAXU,
                               AMOCAS, AMOCAS};

void plain_atomic(struct code *c, uint32_t base)
{
    plain_address(c, base, 2);
    emit(c, asm_amo(amos[rng_below(c->r, COUNT(amos))], rng_below(c->r, 4), any_dest(c), any_source(c), X7));
}

void plain_memory(struct code *c)
{
    static const uint8_t bases[] = {SP, X3, X4, X4};
    uint32_t base = bases[c->deep + rng_below(c->r, COUNT(bases) - c->deep)], kind = rng_below(c->r, 5);
    uint32_t size = kind == 4 ? 2 : rng_below(c->r, 3), rd = any_dest(c), op;
    uint32_t offset = rng_below(c->r, base == X4 ? SCRATCH : AREA) & ~((1u << size) - 1);
    if (rng_one_in(c->r, kind == 4 ? 2 : 4)) {
        plain_address(c, base, size);
        base = X7;
        offset = 0;
    } else if (kind == 4 || rng_one_in(c->r, 4)) { /* an address of its own, before or behind the place */
        uint32_t ahead = kind == 4 ? 0 : (rng_below(c->r, 0x700) - 0x380u) & ~3u;
        emit(c, asm_addi(X7, base, offset + ahead));
        base = X7;
        offset = 0u - ahead;
    }
    if (base == X7 && rng_one_in(c->r, 6)) {
        rd = X7;
    }
    switch (kind) {
    case 0:
    case 1:
        emit(c, asm_i(0x03, size == 2 ? 2 : size + 4 * rng_below(c->r, 2), rd, base, offset));
        break;
    case 2:
    case 3:
        emit(c, asm_s(size, any_source(c), offset, base));
        break;
    default: /* amocas with the memory's value, or another one */
        op = amos[rng_below(c->r, COUNT(amos))];
        if (op == AMOCAS && rd != X7 && rng_one_in(c->r, 2)) {
            emit(c, asm_lw(rd, 0, X7));
        }
        emit(c, asm_amo(op, rng_below(c->r, 4), rd, any_source(c), X7));
        break;
    }
}

static void plain_csr(struct code *c)
{
    static const uint16_t unequal[] = {TERN_CSR_CYCLE, TERN_CSR_TIME, TERN_CSR_CYCLEH, TERN_CSR_TIMEH, TERN_CSR_THREAD};
    uint32_t number = TERN_CSR_LOCAL_ID_X + rng_below(c->r, TERN_CSR_FULL_SIZE_Z - TERN_CSR_LOCAL_ID_X + 1);
    switch (rng_below(c->r, 8)) {
    case 0:
        number = TERN_CSR_ARGS + rng_below(c->r, TERN_CSR_USER1 - TERN_CSR_ARGS + 1);
        break;
    case 1: /* values that differ by run are not kept */
        emit(c, asm_csrr(X0, unequal[rng_below(c->r, COUNT(unequal))]));
        return;
    default:
        break;
    }
    uint32_t how = rng_below(c->r, 4);  /* all ways to read without a write */
    emit(c, asm_i(0x73, how == 0 ? 2 : how == 1 ? 3 : how == 2 ? 6 : 7, any_dest(c), X0, number));
}

/** Gives a register a new value: the same in all lanes, or one by lane. */
static void plain_value(struct code *c)
{
    uint32_t rd = any_value(c);
    if (rng_one_in(c->r, 2)) {
        emit_li(c, rd, corner_value(c->r));
    } else {
        emit(c, asm_lw(rd, RECORD_VALUES + 4 * rng_below(c->r, 32 - FIRST_VALUE), X5));
    }
    c->fresh[rng_below(c->r, 2)] = rd;
}

void plain(struct code *c)
{
    uint32_t k = rng_below(c->r, 16);
    if (k == 0 && rng_one_in(c->r, 4)) { /* fence.i, or a fence with any set of predecessors and successors */
        emit(c, rng_one_in(c->r, 3) ? ASM_FENCE_I : asm_i(0x0f, 0, X0, X0, rng_below(c->r, 256)));
    } else if (k == 0) {
        plain_csr(c);
    } else if (k < 3) {
        plain_value(c);
    } else if (k < 6) {
        plain_memory(c);
    } else if (k < 10) {
        plain_float(c);
    } else {
        plain_integer(c);
    }
}

void straight(struct code *c, uint32_t n)
{
    while (n--) {
        plain(c);
    }
}

/* ------------------------------------------------------------------- items */

void item_straight(struct code *c)
{
    uint32_t n = 4 + rng_below(c->r, 12);
    code_say(c, "%u plain instructions", n);
    while (n--) {
        if (rng_one_in(c->r, 3)) {
            plain_value(c);
        }
        plain(c);
    }
}

/** Reads and clears the accumulated flags at times, so that the flags of each operation show. */
static void look_at_flags(struct code *c)
{
    if (rng_one_in(c->r, 3)) {
        emit(c, asm_i(0x73, 1, any_dest(c), X0, TERN_CSR_FFLAGS));
    }
}

void item_float(struct code *c)
{
    uint32_t n = 3 + rng_below(c->r, 8);
    code_say(c, "%u floating-point instructions on special values", n);
    while (n--) {
        if (rng_one_in(c->r, 2)) {
            plain_value(c);
        }
        plain_float(c);
        look_at_flags(c);
    }
}

/** Both sources are corner values, in all combinations over the cases. */
void item_corner(struct code *c)
{
    static const uint32_t integers[] = {0, 1, UINT32_MAX, 0x80000000u, 0x7fffffffu};
    static const uint32_t floats[] = {0x00000000u, 0x00000001u, 0x007fffffu, 0x00800000u, 0x3f800000u,
                                      0x4f000000u, 0x4f800000u, 0x7f7fffffu, 0x7f800000u, 0x7fc00000u, 0x7f800001u};
    uint32_t n = 4 + rng_below(c->r, 6), real = rng_one_in(c->r, 2), value[2];
    code_say(c, "%u %s instructions on corner values", n, real ? "floating-point" : "integer");
    c->only_fresh = true;
    while (n--) {
        c->fresh[0] = any_value(c);
        c->fresh[1] = any_value(c);
        for (uint32_t i = 0; i < 2; i++) {
            value[i] = real ? (rng_next(c->r) & 0x80000000u) | floats[rng_below(c->r, COUNT(floats))]
                            : integers[rng_below(c->r, COUNT(integers))];
            emit_li(c, c->fresh[i], value[i]);
        }
        if (real) {
            plain_float(c);
            look_at_flags(c);
        } else {
            plain_integer(c);
        }
    }
    c->only_fresh = false;
}

void item_csr(struct code *c)
{
    uint32_t n = 2 + rng_below(c->r, 5);
    code_say(c, "%u CSR accesses", n);
    while (n--) {
        if (rng_one_in(c->r, 3)) {
            float_status(c);
        } else {
            plain_csr(c);
        }
    }
}
