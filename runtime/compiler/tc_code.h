/* SPDX-License-Identifier: Apache-2.0 */
/** Kinds of words of machine code (docs/isa.md), for programs that count or print instructions. */
#ifndef TC_CODE_H
#define TC_CODE_H

#include "tern/tern_spec.h"

#include <stdint.h>

/** Opcodes: the low seven bits of a word. */
enum tc_opcode {
    TC_LOAD = 0x03, TC_CUSTOM_0 = 0x0b, TC_FENCE = 0x0f, TC_OP_IMMEDIATE = 0x13, TC_AUIPC = 0x17, TC_STORE = 0x23,
    TC_ATOMIC = 0x2f, TC_OP = 0x33, TC_LUI = 0x37, TC_FMA_FIRST = 0x43, TC_FMA_LAST = 0x4f, TC_FLOAT = 0x53,
    TC_BRANCH = 0x63, TC_JALR = 0x67, TC_JAL = 0x6f, TC_SYSTEM = 0x73
};

static inline uint32_t tc_code_opcode(uint32_t word)
{
    return word & 0x7f;
}

/** Distance, in bytes, to the target of a branch or jump without relocation; 0: the word is neither. */
static inline int32_t tc_code_target(uint32_t w)
{
    if (tc_code_opcode(w) == TC_BRANCH) {
        return (int32_t)((w >> 31 ? 0xfffff000u : 0) | (w << 4 & 0x800) | (w >> 20 & 0x7e0) | (w >> 7 & 0x1e));
    }
    if (tc_code_opcode(w) == TC_JAL) {
        return (int32_t)((w >> 31 ? 0xfff00000u : 0) | (w & 0xff000) | (w >> 9 & 0x800) | (w >> 20 & 0x7fe));
    }
    return 0;
}

/** True: a load or store whose address is sp and a constant. */
static inline int tc_code_is_on_stack(uint32_t w)
{
    return (tc_code_opcode(w) == TC_LOAD || tc_code_opcode(w) == TC_STORE) && (w >> 15 & 31) == 2;
}

static inline int tc_code_is_call(uint32_t w)
{
    return tc_code_opcode(w) == TC_JALR || (tc_code_opcode(w) == TC_JAL && (w >> 7 & 31) == 1);
}

/** True: the next word is executed after this one, if it is a branch that is not taken, or no branch. */
static inline int tc_code_falls_through(uint32_t w)
{
    const uint32_t exit = TC_CUSTOM_0 | TERN_CUSTOM_EXIT << 12;
    return (tc_code_opcode(w) != TC_JAL || tc_code_is_call(w)) && w != exit;
}

#endif
