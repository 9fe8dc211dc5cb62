// SPDX-License-Identifier: Apache-2.0
// What RISC-V says a binary32 operation gives, from the host's floating point.
//
// Four rounding modes are the host's own. Round to nearest, ties away (RMM), which no host has, is decided exactly: the
// result is one of the two neighbours that the directed modes give, and the value is compared with their midpoint,
// which a double holds, by evaluating the operation in double rounded down and rounded up. Flags as RISC-V orders them.

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
struct float_result float_from_int(int64_t value, uint32_t rm);  // value of 32 bits, signed or not
struct float_result float_to_int(uint32_t a, int is_unsigned, uint32_t rm);
struct float_result float_min_max(uint32_t a, uint32_t b, int is_max);
struct float_result float_compare(uint32_t a, uint32_t b, int less, int equal);
uint32_t float_class(uint32_t a);

#endif
