// SPDX-License-Identifier: Apache-2.0
// Random operands for div_unit, and the expected results.

#include "../lib/float_reference.h"
#include "../lib/random.h"

// the order of simt_op_pkg::DIV_*
enum { DIV, DIVU, REM, REMU, FDIV, FSQRT, OPS };

void div_seed(uint32_t seed);
uint32_t div_random(uint32_t bound);
void div_next(uint32_t op, uint32_t *a, uint32_t *b, uint32_t *rm, uint32_t *result, uint32_t *flags);

void div_seed(uint32_t seed)
{
    random_seed(seed);
}

uint32_t div_random(uint32_t bound)
{
    return random_below(bound);
}

static uint32_t divide(uint32_t op, uint32_t a, uint32_t b)
{
    int64_t sa = (int32_t)a, sb = (int32_t)b;
    switch (op) {
    case DIV: return b ? (uint32_t)(sa / sb) : 0xffffffff;
    case DIVU: return b ? a / b : 0xffffffff;
    case REM: return b ? (uint32_t)(sa % sb) : a;
    default: return b ? a % b : a;
    }
}

void div_next(uint32_t op, uint32_t *a, uint32_t *b, uint32_t *rm, uint32_t *result, uint32_t *flags)
{
    struct float_result r = {0, 0};
    *rm = random_below(5);
    if (op < FDIV) {
        *a = random_word();
        *b = random_word();
        r.bits = divide(op, *a, *b);
    } else {
        *a = random_float();
        *b = random_float();
        // 7 of 8 operands of a square root are not negative
        if (op == FSQRT && random_below(8))
            *a &= 0x7fffffff;
        // quotients near the smallest normal number
        if (op == FDIV && random_below(8) == 0) {
            *a = (*a & 0x807fffff) | (1 + random_below(30)) << 23;
            *b = (*b & 0x807fffff) | (127 + random_below(30)) << 23;
        }
        r = op == FDIV ? float_div(*a, *b, *rm) : float_sqrt(*a, *rm);
    }
    *result = r.bits;
    *flags = r.flags;
}
