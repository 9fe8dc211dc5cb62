/* SPDX-License-Identifier: Apache-2.0 */
/**
 * RV32 instruction words. Formats are named by their letters in the RISC-V specification. Immediates are taken modulo
 * their width, so negative ones are passed as unsigned. Only instructions that generators use for bookkeeping have
 * names; random ones are built from formats and function codes.
 */
#ifndef ASM_H
#define ASM_H

#include <stdint.h>

#include "tern/tern_spec.h"

enum { X0, RA, SP, X3, X4, X5, X6, X7, X8, X9, A0 };

#define ASM_NOP 0x00000013u
#define ASM_FENCE 0x0330000fu
#define ASM_FENCE_I 0x0000100fu
#define ASM_ECALL 0x00000073u
#define ASM_EBREAK 0x00100073u
#define ASM_BARRIER (0x0bu | TERN_CUSTOM_BARRIER << 12)
#define ASM_EXIT (0x0bu | TERN_CUSTOM_EXIT << 12)

enum { BEQ = 0, BNE = 1, BLT = 4, BGE = 5, BLTU = 6, BGEU = 7 };
enum { AMOADD = 0, AMOSWAP = 1, LR = 2, SC = 3, AMOXOR = 4, AMOCAS = 5, AMOOR = 8, AMOAND = 12, AMOMIN = 16,
      AMOMAX = 20, AMOMINU = 24, AMOMAXU = 28 };
enum { AQ = 2, RL = 1 };

static inline uint32_t asm_r(uint32_t op, uint32_t f3, uint32_t f7, uint32_t rd, uint32_t rs1, uint32_t rs2)
{
    return f7 << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 | rd << 7 | op;
}

static inline uint32_t asm_i(uint32_t op, uint32_t f3, uint32_t rd, uint32_t rs1, uint32_t imm)
{
    return imm << 20 | rs1 << 15 | f3 << 12 | rd << 7 | op;
}

/** A store of 1 << size bytes. */
static inline uint32_t asm_s(uint32_t size, uint32_t rs2, uint32_t imm, uint32_t rs1)
{
    return (imm >> 5 & 127u) << 25 | rs2 << 20 | rs1 << 15 | size << 12 | (imm & 31u) << 7 | 0x23u;
}

static inline uint32_t asm_b(uint32_t f3, uint32_t rs1, uint32_t rs2, uint32_t imm)
{
    return (imm >> 12 & 1u) << 31 | (imm >> 5 & 63u) << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 | (imm >> 1 & 15u) << 8 |
           (imm >> 11 & 1u) << 7 | 0x63u;
}

static inline uint32_t asm_jal(uint32_t rd, uint32_t imm)
{
    return (imm >> 20 & 1u) << 31 | (imm >> 1 & 0x3ffu) << 21 | (imm >> 11 & 1u) << 20 | (imm >> 12 & 255u) << 12 |
           rd << 7 | 0x6fu;
}

static inline uint32_t asm_jalr(uint32_t rd, uint32_t imm, uint32_t rs1)
{
    return asm_i(0x67, 0, rd, rs1, imm);
}

static inline uint32_t asm_lui(uint32_t rd, uint32_t value)
{
    return (value & 0xfffff000u) | rd << 7 | 0x37u;
}

static inline uint32_t asm_auipc(uint32_t rd, uint32_t value)
{
    return (value & 0xfffff000u) | rd << 7 | 0x17u;
}

static inline uint32_t asm_addi(uint32_t rd, uint32_t rs1, uint32_t imm)
{
    return asm_i(0x13, 0, rd, rs1, imm);
}

static inline uint32_t asm_andi(uint32_t rd, uint32_t rs1, uint32_t imm)
{
    return asm_i(0x13, 7, rd, rs1, imm);
}

static inline uint32_t asm_slli(uint32_t rd, uint32_t rs1, uint32_t n)
{
    return asm_i(0x13, 1, rd, rs1, n);
}

static inline uint32_t asm_srli(uint32_t rd, uint32_t rs1, uint32_t n)
{
    return asm_i(0x13, 5, rd, rs1, n);
}

static inline uint32_t asm_add(uint32_t rd, uint32_t rs1, uint32_t rs2)
{
    return asm_r(0x33, 0, 0, rd, rs1, rs2);
}

static inline uint32_t asm_sub(uint32_t rd, uint32_t rs1, uint32_t rs2)
{
    return asm_r(0x33, 0, 0x20, rd, rs1, rs2);
}

static inline uint32_t asm_mul(uint32_t rd, uint32_t rs1, uint32_t rs2)
{
    return asm_r(0x33, 0, 1, rd, rs1, rs2);
}

static inline uint32_t asm_remu(uint32_t rd, uint32_t rs1, uint32_t rs2)
{
    return asm_r(0x33, 7, 1, rd, rs1, rs2);
}

/** rd = rs2 + (rs1 << n), n 1 to 3. */
static inline uint32_t asm_shadd(uint32_t n, uint32_t rd, uint32_t rs1, uint32_t rs2)
{
    return asm_r(0x33, 2 * n, 0x10, rd, rs1, rs2);
}

static inline uint32_t asm_lw(uint32_t rd, uint32_t imm, uint32_t rs1)
{
    return asm_i(0x03, 2, rd, rs1, imm);
}

static inline uint32_t asm_sw(uint32_t rs2, uint32_t imm, uint32_t rs1)
{
    return asm_s(2, rs2, imm, rs1);
}

static inline uint32_t asm_amo(uint32_t op, uint32_t order, uint32_t rd, uint32_t rs2, uint32_t rs1)
{
    return asm_r(0x2f, 2, op << 2 | order, rd, rs1, rs2);
}

static inline uint32_t asm_csrr(uint32_t rd, uint32_t number)
{
    return asm_i(0x73, 2, rd, 0, number);
}

#endif
