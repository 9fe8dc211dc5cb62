/* SPDX-License-Identifier: Apache-2.0 */
/** Kernels for tests of a simulated device: instruction words, an address space for them, and a dispatch. */
#ifndef TESTS_SIM_KERNEL_H
#define TESTS_SIM_KERNEL_H

#include "device.h"

/* physical address of the memory that the address space has at VA, a region of 4 MiB */
#define BASE 0x01000000u
#define CODE 0x00001000u /* offsets from BASE or VA */
#define ARGS 0x00002000u
#define IN 0x00003000u
#define OUT 0x00013000u
#define STACK 0x00080000u
#define PAGES 1024u
#define VA 0x00400000u
#define ROOT 0x00b00u
#define RWX (TERN_PTE_READ_MASK | TERN_PTE_WRITE_MASK | TERN_PTE_EXEC_MASK)

/* ------------------------------------------------------------ instructions */
enum { ZERO = 0, SP = 2, T0 = 5, T1 = 6, T2 = 7, A0 = 10, T3 = 28, T4 = 29, T5 = 30, T6 = 31 };

static inline uint32_t itype(uint32_t opcode, uint32_t funct3, uint32_t rd, uint32_t rs1, int32_t imm)
{
    return opcode | rd << 7 | funct3 << 12 | rs1 << 15 | (uint32_t)imm << 20;
}
static inline uint32_t rtype(uint32_t funct7, uint32_t funct3, uint32_t rd, uint32_t rs1, uint32_t rs2)
{
    return 0x33u | rd << 7 | funct3 << 12 | rs1 << 15 | rs2 << 20 | funct7 << 25;
}
static inline uint32_t csrr(uint32_t rd, int32_t csr)
{
    return itype(0x73, 2, rd, 0, csr);
}
static inline uint32_t lw(uint32_t rd, int32_t off, uint32_t rs1)
{
    return itype(0x03, 2, rd, rs1, off);
}
static inline uint32_t sw(uint32_t rs2, int32_t off, uint32_t rs1)
{
    uint32_t o = (uint32_t)off;
    return 0x23u | (o & 31) << 7 | 2u << 12 | rs1 << 15 | rs2 << 20 | (o >> 5) << 25;
}
static inline uint32_t addi(uint32_t rd, uint32_t rs1, int32_t imm)
{
    return itype(0x13, 0, rd, rs1, imm);
}
static inline uint32_t sh2add(uint32_t rd, uint32_t rs1, uint32_t rs2)
{
    return rtype(0x10, 4, rd, rs1, rs2);
}
static inline uint32_t mul(uint32_t rd, uint32_t rs1, uint32_t rs2)
{
    return rtype(1, 0, rd, rs1, rs2);
}
static inline uint32_t add(uint32_t rd, uint32_t rs1, uint32_t rs2)
{
    return rtype(0, 0, rd, rs1, rs2);
}
static inline uint32_t lui(uint32_t rd, uint32_t value)
{
    return 0x37u | rd << 7 | (value & 0xfffff000u);
}
static inline uint32_t beq(uint32_t rs1, uint32_t rs2, uint32_t forward) /* forward: bytes, below 2048 */
{
    return 0x63u | rs1 << 15 | rs2 << 20 | (forward >> 1 & 15) << 8 | (forward >> 5 & 63) << 25;
}
static inline uint32_t amoadd(uint32_t rd, uint32_t rs2, uint32_t rs1)
{
    return 0x2fu | rd << 7 | 2u << 12 | rs1 << 15 | rs2 << 20;
}
#define BARRIER 0x0000000bu
#define EXIT 0x0000100bu
#define ECALL 0x00000073u

/* ---------------------------------------------------------------- dispatch */
struct range {
    uint32_t global[3], local[3], local_bytes;
};

uint32_t lanes(struct device *d);
void packet_dispatch(struct device *d, struct range r);
/** Write and read memory at an offset from BASE. */
void poke(struct device *d, uint32_t offset, const void *data, size_t size);
void peek(struct device *d, uint32_t offset, void *data, size_t size);
/** Writes code and arguments, makes the address space, whose page 0 holds the DMA buffer, and submits the dispatch. */
void launch(struct device *d, uint32_t root, const uint32_t *code, size_t size, struct range r);
/** Launches in an address space that exists already, so that no paging buffer runs. */
void launch_mapped(struct device *d, uint32_t root, const uint32_t *code, size_t size, struct range r);
#define LAUNCH(d, code, ...) launch(d, ROOT, code, sizeof code, (struct range){__VA_ARGS__})

#endif
