// SPDX-License-Identifier: Apache-2.0
// Results and flags of binary32 operations as RISC-V defines them, computed with the host's floating point.
//
// Four rounding modes are those of the host. No host has round to nearest, ties away (RMM). Its result is one of the
// two neighbours that the directed modes give. The exact value is compared with their midpoint, which a double
// represents exactly: the operation is evaluated in double, rounded down and rounded up. Flags have RISC-V's order.

#ifndef TERN_TESTS_RTL_FLOAT_REFERENCE_H
#define TERN_TESTS_RTL_FLOAT_REFERENCE_H

#include <stdint.h>

enum { FLAG_NX = 1, FLAG_UF = 2, FLAG_OF = 4, FLAG_DZ = 8, FLAG_NV = 16 };
enum { RM_RNE, RM_RTZ, RM_RDN, RM_RUP, RM_RMM };

#define FLOAT_NAN 0x7fc00000u

struct float_result {
    uint32_t bits;
    uint32_t flags;
};

struct float_result float_fma(uint32_t a, uint32_t b, uint32_t c, uint32_t rm);
struct float_result float_div(uint32_t a, uint32_t b, uint32_t rm);
struct float_result float_sqrt(uint32_t a, uint32_t rm);
struct float_result float_from_int(int64_t value, uint32_t rm);  // value: an int32_t or a uint32_t
struct float_result float_to_int(uint32_t a, int is_unsigned, uint32_t rm);
struct float_result float_min_max(uint32_t a, uint32_t b, int is_max);
struct float_result float_compare(uint32_t a, uint32_t b, int less, int equal);
uint32_t float_class(uint32_t a);

#endif
