// SPDX-License-Identifier: Apache-2.0
// RISC-V semantics of the instructions of simt_alu and int_mul in C.

#include "../lib/float_reference.h"
#include "../lib/random.h"

// simt_op_pkg::ALU_*
enum {
    ADD = 000, SH1ADD = 001, SH2ADD = 002, SH3ADD = 003, SUB = 004,
    SLT = 010, SLTU = 011, MIN = 012, MINU = 013, MAX = 014, MAXU = 015,
    SRL = 020, SRA = 021, ROR = 022, SLL = 024, ROL = 026,
    XOR = 030, OR = 031, AND = 032, PASS_B = 033, XNOR = 034, ORN = 035, ANDN = 036,
    CLZ = 040, CTZ = 041, CPOP = 042,
    SEXTB = 050, SEXTH = 051, ZEXTH = 052, ORCB = 053, REV8 = 054, FSGNJ = 055, FSGNJN = 056, FSGNJX = 057,
    FMIN = 060, FMAX = 061, FEQ = 062, FCLASS = 064, FLE = 066, FLT = 067,
    BEQ = 070, BNE = 071, BLT = 074, BGE = 075, BLTU = 076, BGEU = 077,
};

void int_seed(uint32_t seed);
uint32_t int_operand(void);
uint32_t alu_operation(uint32_t number);
uint32_t alu_float(uint32_t number);
void alu_operands(uint32_t op, uint32_t *a, uint32_t *b);
uint32_t alu_reference(uint32_t op, uint32_t a, uint32_t b);
uint32_t alu_invalid(uint32_t op, uint32_t a, uint32_t b);
uint32_t alu_taken(uint32_t op, uint32_t a, uint32_t b);
uint32_t mul_reference(uint32_t op, uint32_t a, uint32_t b);

void int_seed(uint32_t seed)
{
    random_seed(seed);
}

uint32_t int_operand(void)
{
    return random_word();
}

uint32_t alu_operation(uint32_t number)
{
    static const uint8_t all[] = {ADD, SH1ADD, SH2ADD, SH3ADD, SUB, SLT, SLTU, MIN, MINU, MAX, MAXU, SRL, SRA, ROR, SLL,
                                  ROL, XOR, OR, AND, PASS_B, XNOR, ORN, ANDN, CLZ, CTZ, CPOP, SEXTB, SEXTH, ZEXTH, ORCB,
                                  REV8, FSGNJ, FSGNJN, FSGNJX, FMIN, FMAX, FEQ, FCLASS, FLE, FLT, BEQ, BNE, BLT,
                                  BGE, BLTU, BGEU};
    return all[number % (sizeof all / sizeof all[0])];
}

// Returns an operation on floats; six successive numbers give all of them.
uint32_t alu_float(uint32_t number)
{
    static const uint8_t all[] = {FMIN, FMAX, FEQ, FCLASS, FLE, FLT};
    return all[number % (sizeof all / sizeof all[0])];
}

// Draws the operands of an operation; half of those that are compared are equal but for their sign.
void alu_operands(uint32_t op, uint32_t *a, uint32_t *b)
{
    int is_float = op >= FMIN && op <= FLT;
    *a = is_float ? random_float() : random_word();
    *b = is_float ? random_float() : random_word();
    if (op >= FMIN && random_below(2))
        *b = *a ^ random_below(2) << 31;
}

static uint32_t or_combine(uint32_t a)
{
    uint32_t r = 0;
    for (int i = 0; i < 32; i += 8)
        if (a >> i & 0xff)
            r |= 0xffu << i;
    return r;
}

static struct float_result float_operation(uint32_t op, uint32_t a, uint32_t b)
{
    struct float_result none = {0, 0};

    switch (op) {
    case FMIN:
    case FMAX: return float_min_max(a, b, op == FMAX);
    case FEQ: return float_compare(a, b, 0, 1);
    case FLT: return float_compare(a, b, 1, 0);
    case FLE: return float_compare(a, b, 1, 1);
    default: return none;
    }
}

uint32_t alu_reference(uint32_t op, uint32_t a, uint32_t b)
{
    int32_t sa = (int32_t)a, sb = (int32_t)b;
    uint32_t n = b & 31, m = (32 - n) & 31;

    switch (op) {
    case ADD: return a + b;
    case SUB: return a - b;
    case SLL: return a << n;
    case SLT: return sa < sb;
    case SLTU: return a < b;
    case XOR: return a ^ b;
    case SRL: return a >> n;
    case SRA: return (uint32_t)(sa >> n);
    case OR: return a | b;
    case AND: return a & b;
    case PASS_B: return b;
    case SH1ADD: return 2 * a + b;
    case SH2ADD: return 4 * a + b;
    case SH3ADD: return 8 * a + b;
    case ANDN: return a & ~b;
    case ORN: return a | ~b;
    case XNOR: return ~(a ^ b);
    case CLZ: return a ? (uint32_t)__builtin_clz(a) : 32;
    case CTZ: return a ? (uint32_t)__builtin_ctz(a) : 32;
    case CPOP: return (uint32_t)__builtin_popcount(a);
    case MAX: return sa > sb ? a : b;
    case MAXU: return a > b ? a : b;
    case MIN: return sa < sb ? a : b;
    case MINU: return a < b ? a : b;
    case SEXTB: return (uint32_t)(int8_t)a;
    case SEXTH: return (uint32_t)(int16_t)a;
    case ZEXTH: return (uint16_t)a;
    case ROL: return a << n | a >> m;
    case ROR: return a >> n | a << m;
    case ORCB: return or_combine(a);
    case REV8: return __builtin_bswap32(a);
    case FSGNJ: return (a & 0x7fffffff) | (b & 0x80000000);
    case FSGNJN: return (a & 0x7fffffff) | (~b & 0x80000000);
    case FSGNJX: return a ^ (b & 0x80000000);
    case FCLASS: return float_class(a);
    default: return float_operation(op, a, b).bits;
    }
}

// Returns whether the operation raises NV. It raises no other flag.
uint32_t alu_invalid(uint32_t op, uint32_t a, uint32_t b)
{
    return float_operation(op, a, b).flags == FLAG_NV;
}

uint32_t alu_taken(uint32_t op, uint32_t a, uint32_t b)
{
    switch (op) {
    case BEQ: return a == b;
    case BNE: return a != b;
    case BLT: return (int32_t)a < (int32_t)b;
    case BGE: return (int32_t)a >= (int32_t)b;
    case BLTU: return a < b;
    default: return a >= b;
    }
}

uint32_t mul_reference(uint32_t op, uint32_t a, uint32_t b)
{
    int64_t sa = (int32_t)a, sb = (int32_t)b;
    switch (op) {
    case 0: return a * b;
    case 1: return (uint32_t)((uint64_t)(sa * sb) >> 32);
    case 2: return (uint32_t)((uint64_t)(sa * (int64_t)b) >> 32);
    default: return (uint32_t)((uint64_t)a * b >> 32);
    }
}
