// SPDX-License-Identifier: Apache-2.0
// Random operands for simt_convert, and the expected results.

#include "../lib/float_reference.h"
#include "../lib/random.h"

// the order of simt_op_pkg::CVT_*
enum { CVT_W_S, CVT_WU_S, CVT_S_W, CVT_S_WU };

void convert_seed(uint32_t seed);
void convert_next(uint32_t op, uint32_t *a, uint32_t *rm, uint32_t *result, uint32_t *flags);

void convert_seed(uint32_t seed)
{
    random_seed(seed);
}

void convert_next(uint32_t op, uint32_t *a, uint32_t *rm, uint32_t *result, uint32_t *flags)
{
    struct float_result r;
    *rm = random_below(5);
    *a = op == CVT_S_W || op == CVT_S_WU ? random_word() : random_float();
    switch (op) {
    case CVT_W_S:
    case CVT_WU_S: r = float_to_int(*a, op == CVT_WU_S, *rm); break;
    case CVT_S_W: r = float_from_int((int32_t)*a, *rm); break;
    default: r = float_from_int(*a, *rm); break;
    }
    *result = r.bits;
    *flags = r.flags;
}
