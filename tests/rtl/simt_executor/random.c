/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Random programs: every instruction of the ISA with random operands, forward branches, loops whose count differs from
 * lane to lane, direct calls and calls through a pointer, all under divergence. Work-items share no data, so the result
 * is defined.
 *
 *     register  use
 *     x1        link
 *     x2        stack
 *     x3        local memory of the work-item
 *     x4        scratch of the work-item in global memory
 *     x5        outputs of the work-item
 *     x6        loop count
 *     x7        temporary
 *     x8-x31    random values
 */
#include "bench.h"

#define BODY 120u
#define FUNCTIONS 4u
#define FUNCTION_WORDS 16u
#define FIRST 8u

static uint32_t *at;

static uint32_t below(uint32_t n)
{
    return (uint32_t)(bench_random() >> 33) % n;
}

static void emit(uint32_t word)
{
    *at++ = word;
}

static uint32_t r_type(uint32_t op, uint32_t f3, uint32_t f7, uint32_t rd, uint32_t rs1, uint32_t rs2)
{
    return f7 << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 | rd << 7 | op;
}

static uint32_t i_type(uint32_t op, uint32_t f3, uint32_t rd, uint32_t rs1, uint32_t imm)
{
    return imm << 20 | rs1 << 15 | f3 << 12 | rd << 7 | op;
}

static uint32_t s_type(uint32_t f3, uint32_t rs1, uint32_t rs2, uint32_t imm)
{
    return (imm >> 5 & 127u) << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 | (imm & 31u) << 7 | 0x23;
}

static uint32_t b_type(uint32_t f3, uint32_t rs1, uint32_t rs2, uint32_t imm)
{
    return (imm >> 12 & 1u) << 31 | (imm >> 5 & 63u) << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 | (imm >> 1 & 15u) << 8 |
           (imm >> 11 & 1u) << 7 | 0x63;
}

static uint32_t j_type(uint32_t rd, uint32_t imm)
{
    return (imm >> 20 & 1u) << 31 | (imm >> 1 & 0x3ffu) << 21 | (imm >> 11 & 1u) << 20 |
        (imm >> 12 & 255u) << 12 | rd << 7 |
           0x6f;
}

static uint32_t any(void)
{
    return FIRST + below(32 - FIRST);
}

/* Returns a source register: x0, or one whose value is the same in hardware and model. */
static uint32_t source(void)
{
    return below(16) ? any() : 0;
}

static uint32_t dest(void)
{
    return below(24) ? any() : 0;
}

static void alu(void)
{
    static const uint16_t reg[] = {0x000, 0x001, 0x002, 0x003, 0x004, 0x005, 0x006, 0x007, 0x200, 0x205, 0x204,
                                   /* funct7 * 16 + funct3 */
                                   0x206, 0x207, 0x102, 0x104, 0x106, 0x054, 0x055, 0x056, 0x057, 0x301, 0x305};
    static const uint16_t unary[] = {0x600, 0x601, 0x602, 0x604, 0x605};
    static const uint16_t imm[] = {0, 2, 3, 4, 6, 7};
    uint32_t k;
    switch (below(8)) {
    case 0:
        emit(i_type(0x13, 1, dest(), source(), unary[below(5)]));
        break;
    case 1: /* shifts by a constant */
        k = below(4);
        emit(i_type(0x13, k ? 5 : 1, dest(), source(), below(32) | (k < 2 ? 0 : k == 2 ? 0x400u : 0x600u)));
        break;
    case 2:
        k = below(3);
        emit(k == 0 ? i_type(0x13, 5, dest(), source(), 0x287) : k == 1 ? i_type(0x13, 5, dest(), source(), 0x698)
                                                                     : r_type(0x33, 4, 4, dest(), source(), 0));
        break;
    case 3:
    case 4:
        emit(i_type(0x13, imm[below(6)], dest(), source(), below(4096)));
        break;
    case 5:
        emit(below(8) << 12 | below(0xfff) << 20 | dest() << 7 | 0x37); /* lui; not auipc, which gives a code address */
        break;
    default:
        k = reg[below(sizeof reg / sizeof *reg)];
        emit(r_type(0x33, k & 15u, k >> 4, dest(), source(), source()));
        break;
    }
}

static void floating(void)
{
    static const uint8_t modes[] = {0, 0, 0, 7, 7, 1, 2, 3, 4};
    uint32_t rm = modes[below(sizeof modes)], k;
    switch (below(6)) {
    case 0:
        emit(r_type(0x43 + 4 * below(4), rm, source() << 2, dest(), source(), source()));
        break;
    case 1:
        emit(r_type(0x53, rm, below(3) * 4, dest(), source(), source()));
        break;
    case 2: /* sign injection, minimum, comparison */
        k = below(3);
        emit(r_type(0x53, below(k == 1 ? 2 : 3), k == 0 ? 0x10 : k == 1 ? 0x14 : 0x50, dest(), source(), source()));
        break;
    case 3:
        k = below(3);
        emit(k == 2 ? r_type(0x53, 1, 0x70, dest(), source(), 0)
                    : r_type(0x53, rm, k ? 0x60 : 0x68, dest(), source(), below(2)));
        break;
    case 4:
        k = below(3);
        emit(k ? r_type(0x53, rm, 0x0c, dest(), source(), source()) : r_type(0x53, rm, 0x2c, dest(), source(), 0));
        break;
    default: /* fflags, frm, fcsr; the rounding mode stays legal */
        k = below(4);
        emit(k == 0   ? i_type(0x73, 2, dest(), 0, 1 + below(3))
             : k == 1 ? i_type(0x73, 5, dest(), below(5), 2)
             : k == 2 ? i_type(0x73, 1 + below(3), dest(), source(), 1)
                      : i_type(0x73, 5 + below(3), dest(), below(32), below(2) ? 1 : 3));
        if (k == 3) {
            emit(i_type(0x73, 5, 0, below(5), 2));
        }
        break;
    }
}

static void memory(void)
{
    static const uint8_t bases[] = {2, 3, 4};
    static const uint8_t amos[] = {0, 1, 4, 8, 12, 16, 20, 24, 28, 5};
    uint32_t base = bases[below(3)], size = below(3), offset = below(64) & ~((1u << size) - 1);
    switch (below(5)) {
    case 0:
    case 1:
        emit(i_type(0x03, size == 2 ? 2 : size + 4 * below(2), dest(), base, offset));
        break;
    case 2:
    case 3:
        emit(s_type(size, base, source(), offset));
        break;
    default: /* atomics on the words of global and local scratch */
        emit(i_type(0x13, 0, 7, base, below(16) * 4));
        emit(r_type(0x2f, 2, (uint32_t)amos[below(sizeof amos)] << 2, any(), 7, source()));
        break;
    }
}

static void csr(void)
{
    static const uint16_t numbers[] = {0xcc0, 0xcc1, 0xcc2, 0xcc3, 0xcc4, 0xcc5, 0xcc6, 0xcc7, 0xcc8, 0xcc9,
                                       0xcca, 0xccb, 0xccc, 0xccd, 0xcce, 0xccf, 0xcd0, 0xcd1, 0xcd2, 0xcd3, 0xcd4,
                                       0xcd5, 0xcd6, 0xcd7, 0xcd8, 0xce0, 0xce1, 0xce2, 0xce3};
    emit(i_type(0x73, 2, dest(), 0, numbers[below(sizeof numbers / sizeof *numbers)]));
}

static void plain(void)
{
    switch (below(12)) {
    case 0:
        csr();
        break;
    case 1:
        emit(r_type(0x33, below(8), 1, dest(), source(), source()));
        break;
    case 2:
    case 3:
    case 4:
        memory();
        break;
    case 5:
    case 6:
    case 7:
        floating();
        break;
    default:
        alu();
        break;
    }
}

static void straight(uint32_t n)
{
    while (n--) {
        plain();
    }
}

static void branch_over(uint32_t n)
{
    static const uint8_t conditions[] = {0, 1, 4, 5, 6, 7};
    uint32_t *here = at++;
    straight(n);
    *here = b_type(conditions[below(6)], source(), source(), (uint32_t)(at - here) * 4);
}

static void block(uint32_t level, const uint32_t *functions, const uint32_t *code)
{
    switch (below(6)) {
    case 0: { /* loop */
        if (level) {
            straight(3);
            break;
        }
        emit(i_type(0x13, 7, 6, any(), 7));
        uint32_t *top = at;
        block(1, functions, code);
        block(1, functions, code);
        emit(i_type(0x13, 0, 6, 6, 0xfff));
        emit(b_type(5, 6, 0, (uint32_t)(top - at) * 4));
        break;
    }
    case 1: /* call */
        emit(j_type(1, (uint32_t)(functions + below(FUNCTIONS) * FUNCTION_WORDS - at) * 4));
        break;
    case 2: /* call through a pointer; the two low bits of a value select the function */
        emit(i_type(0x13, 7, 7, any(), FUNCTIONS - 1));
        emit(i_type(0x13, 1, 7, 7, 6));
        emit((CODE & 0xfffff000u) | 1u << 7 | 0x37);
        emit(r_type(0x33, 0, 0, 7, 7, 1));
        emit(i_type(0x67, 0, 1, 7, (uint32_t)(functions - code) * 4));
        break;
    default:
        branch_over(1 + below(6));
        break;
    }
    straight(below(6));
}

void bench_random_program(uint8_t *memory_, uint32_t *args)
{
    uint32_t *code = (uint32_t *)(void *)(memory_ + CODE), *functions = code + 16;
    uint32_t *in = (uint32_t *)(void *)(memory_ + DATA);
    for (uint32_t i = 0; i < 0x20000; i++) {
        uint64_t r = bench_random();
        uint32_t v = (uint32_t)(r >> 32);
        switch (r & 7u) { /* small; shifted; near one; exponents near those of integers; infinities and NaNs; any */
        case 0:
            v >>= r >> 8 & 31u;
            break;
        case 1:
            v <<= r >> 8 & 31u;
            break;
        case 2:
            v = (v & 0x80000003u) | 0x3f800000u;
            break;
        case 3:
            v = (v & 0x807fffffu) | ((uint32_t)(r >> 8) % 68 + 95) << 23;
            break;
        case 4:
            v = (v & (r & 8u ? 0x80000000u : UINT32_MAX)) | 0x7f800000u;
            break;
        default:
            break;
        }
        in[i] = v;
    }
    args[0] = DATA;
    at = code;
    emit(j_type(0, (16 + FUNCTIONS * FUNCTION_WORDS) * 4));
    for (uint32_t f = 0; f < FUNCTIONS; f++) {
        at = functions + f * FUNCTION_WORDS;
        straight(2);
        branch_over(1 + f);
        at = at > functions + (f + 1) * FUNCTION_WORDS - 1 ? functions + (f + 1) * FUNCTION_WORDS - 1 : at;
        emit(i_type(0x67, 0, 0, 1, 0));
    }
    at = functions + FUNCTIONS * FUNCTION_WORDS;
    emit(i_type(0x03, 2, 4, 10, 0));      /* DATA */
    emit(i_type(0x73, 2, 7, 0, 0xcd0));   /* id = x + size_x * y */
    emit(i_type(0x73, 2, 8, 0, 0xcd1));
    emit(i_type(0x73, 2, 9, 0, 0xcd3));
    emit(r_type(0x33, 0, 1, 8, 8, 9));
    emit(r_type(0x33, 0, 0, 7, 7, 8));
    emit(i_type(0x13, 1, 7, 7, 8));       /* 256 bytes a work-item: 128 in and out, 64 scratch */
    emit(r_type(0x33, 0, 0, 5, 4, 7));
    emit(i_type(0x13, 0, 4, 5, 128));
    emit(i_type(0x73, 2, 3, 0, 0xcc0));   /* local memory: 64 bytes a work-item */
    emit(i_type(0x73, 2, 8, 0, 0xcc1));
    emit(i_type(0x73, 2, 9, 0, 0xcc6));
    emit(r_type(0x33, 0, 1, 8, 8, 9));
    emit(r_type(0x33, 0, 0, 3, 3, 8));
    emit(i_type(0x13, 1, 3, 3, 6));
    emit(0xe0000037u | 8u << 7);
    emit(r_type(0x33, 0, 0, 3, 3, 8));
    emit(i_type(0x13, 0, 2, 2, 0xfc0));   /* 64 bytes of stack */
    for (uint32_t i = FIRST; i < 32; i++) {
        emit(i_type(0x03, 2, i, 5, (i - FIRST) * 4));
    }
    for (uint32_t i = 0; i < 16; i++) {
        emit(s_type(2, 2, 16 + i, i * 4));
        emit(s_type(2, 3, 16 + (i + 3) % 16, i * 4));
    }
    while (at < functions + FUNCTIONS * FUNCTION_WORDS + BODY) {
        block(0, functions, code);
    }
    for (uint32_t i = FIRST; i < 32; i++) {
        emit(s_type(2, 5, i, (i - FIRST) * 4));
    }
    emit(i_type(0x73, 2, 7, 0, 3));
    emit(s_type(2, 5, 7, 100));
    emit(0x0000100bu);                    /* exit */
}
