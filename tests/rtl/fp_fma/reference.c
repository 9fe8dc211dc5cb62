// SPDX-License-Identifier: Apache-2.0
// Random operands for fp_fma, and the expected results.

#include "../lib/float_reference.h"
#include "../lib/random.h"

void fma_seed(uint32_t seed);
void fma_next(uint32_t *a, uint32_t *b, uint32_t *c, uint32_t *control, uint32_t *result, uint32_t *flags);

void fma_seed(uint32_t seed)
{
    random_seed(seed);
}

// Returns an addend whose exponent is within 30 of the product's, so that the significands overlap.
static uint32_t near_product(uint32_t a, uint32_t b, uint32_t c)
{
    int exponent = (int)(a >> 23 & 255) + (int)(b >> 23 & 255) - 127 + (int)random_below(60) - 30;
    exponent = exponent < 0 ? 0 : exponent > 254 ? 254 : exponent;
    return (c & 0x807fffff) | (uint32_t)exponent << 23;
}

// Gives the seven operations in turn: four fused ones, and add, subtract and multiply in the form that the core gives
// them: a * 1 + c, and a * b + 0 with the product's sign. control: {neg_prod, neg_add, rm}.
void fma_next(uint32_t *a, uint32_t *b, uint32_t *c, uint32_t *control, uint32_t *result, uint32_t *flags)
{
    *a = random_float();
    *b = random_float();
    *c = random_float();
    static uint32_t turn;
    enum { ADD = 4, SUB, MUL, OPS };
    uint32_t op = turn++ % OPS, rm = random_below(5);
    uint32_t neg_prod = op < ADD && op & 1, neg_add = op == SUB || (op < ADD && op & 2);
    if (op == ADD || op == SUB)
        *b = 0x3f800000;
    switch (random_below(8)) {
    case 0:
    case 1:
        *c = near_product(*a, *b, *c);
        break;
    case 2:  // the addend cancels the product except for a few units in the last place
        *c = float_fma(*a, *b, 0, RM_RTZ).bits ^ 0x80000000 ^ (neg_prod ^ neg_add) << 31;
        *c += random_below(3) - 1;
        break;
    default:
        break;
    }
    if (op == MUL)
        *c = (*a ^ *b) & 0x80000000;
    *control = neg_prod << 4 | neg_add << 3 | rm;
    struct float_result r = float_fma(*a ^ neg_prod << 31, *b, *c ^ neg_add << 31, rm);
    *result = r.bits;
    *flags = r.flags;
}
