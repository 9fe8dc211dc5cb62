/* SPDX-License-Identifier: Apache-2.0 */
/** The instructions of Tern as match and mask, from the RISC-V unprivileged specification (chapter "instruction set
 *  listings") and docs/spec/simt.yaml. This table is independent of the decoders of model and RTL, so that a mistake
 *  there is found. */
#include "cover.h"

#define F3(f3) ((uint32_t)(f3) << 12)
#define F7(f7) ((uint32_t)(f7) << 25)
#define R2(f) ((uint32_t)(f) << 20)

#define TWO (HAS_RD | HAS_RS1 | HAS_RS2 | HAS_CROSS)
#define ONE (HAS_RD | HAS_RS1)
#define REG(n, f3, f7) {n, 0xfe00707fu, F7(f7) | F3(f3) | 0x33u, TWO}
#define UNARY(n, f7, rs2) {n, 0xfff0707fu, F7(f7) | R2(rs2) | F3(1) | 0x13u, ONE}
#define IMM(n, f3) {n, 0x0000707fu, F3(f3) | 0x13u, ONE | HAS_IMM}
#define SHIFT(n, f3, f7) {n, 0xfe00707fu, F7(f7) | F3(f3) | 0x13u, ONE}
#define LOAD(n, f3) {n, 0x0000707fu, F3(f3) | 0x03u, HAS_RD | HAS_ADDRESS}
#define STORE(n, f3) {n, 0x0000707fu, F3(f3) | 0x23u, HAS_RS2 | HAS_ADDRESS | HAS_STORE}
#define BRANCH(n, f3) {n, 0x0000707fu, F3(f3) | 0x63u, HAS_RS1 | HAS_RS2 | HAS_CROSS | HAS_BRANCH}
#define AMO(n, f5) {n, 0xf800707fu, (uint32_t)(f5) << 27 | F3(2) | 0x2fu, HAS_RD | HAS_RS2 | HAS_ADDRESS | HAS_AMO}
#define FP2(n, f7) {n, 0xfe00007fu, F7(f7) | 0x53u, TWO | HAS_FP1 | HAS_FP2 | HAS_RM}
#define FP2F(n, f7, f3) {n, 0xfe00707fu, F7(f7) | F3(f3) | 0x53u, TWO | HAS_FP1 | HAS_FP2}
#define FUSED(n, op) {n, 0x0600007fu, op, HAS_RD | HAS_RS1 | HAS_RS2 | HAS_RS3 | HAS_FP1 | HAS_FP2 | HAS_RM}
#define CVT(n, f7, rs2, fp) {n, 0xfff0007fu, F7(f7) | R2(rs2) | 0x53u, ONE | HAS_RM | (fp)}
#define CSR(n, f3) {n, 0x0000707fu, F3(f3) | 0x73u, HAS_RD}

const struct cover_op cover_ops[] = {
    {"lui", 0x7fu, 0x37u, HAS_RD}, {"auipc", 0x7fu, 0x17u, HAS_RD}, {"jal", 0x7fu, 0x6fu, HAS_RD},
    {"jalr", 0x707fu, 0x67u, HAS_RD | HAS_IMM},
    BRANCH("beq", 0), BRANCH("bne", 1), BRANCH("blt", 4), BRANCH("bge", 5), BRANCH("bltu", 6), BRANCH("bgeu", 7),
    LOAD("lb", 0), LOAD("lh", 1), LOAD("lw", 2), LOAD("lbu", 4), LOAD("lhu", 5), STORE("sb", 0), STORE("sh", 1),
    STORE("sw", 2), IMM("addi", 0), IMM("slti", 2), IMM("sltiu", 3), IMM("xori", 4), IMM("ori", 6), IMM("andi", 7),
    SHIFT("slli", 1, 0x00), SHIFT("srli", 5, 0x00), SHIFT("srai", 5, 0x20), SHIFT("rori", 5, 0x30),
    REG("add", 0, 0x00), REG("sub", 0, 0x20), REG("sll", 1, 0x00), REG("slt", 2, 0x00), REG("sltu", 3, 0x00),
    REG("xor", 4, 0x00), REG("srl", 5, 0x00), REG("sra", 5, 0x20), REG("or", 6, 0x00), REG("and", 7, 0x00),
    REG("mul", 0, 0x01), REG("mulh", 1, 0x01), REG("mulhsu", 2, 0x01), REG("mulhu", 3, 0x01),
    REG("div", 4, 0x01), REG("divu", 5, 0x01), REG("rem", 6, 0x01), REG("remu", 7, 0x01),
    REG("sh1add", 2, 0x10), REG("sh2add", 4, 0x10), REG("sh3add", 6, 0x10),
    REG("andn", 7, 0x20), REG("orn", 6, 0x20), REG("xnor", 4, 0x20), REG("rol", 1, 0x30), REG("ror", 5, 0x30),
    REG("min", 4, 0x05), REG("minu", 5, 0x05), REG("max", 6, 0x05), REG("maxu", 7, 0x05),
    UNARY("clz", 0x30, 0), UNARY("ctz", 0x30, 1), UNARY("cpop", 0x30, 2), UNARY("sext.b", 0x30, 4),
    UNARY("sext.h", 0x30, 5),
    {"zext.h", 0xfff0707fu, F7(4) | F3(4) | 0x33u, ONE},
    {"orc.b", 0xfff0707fu, F7(0x14) | R2(7) | F3(5) | 0x13u, ONE},
    {"rev8", 0xfff0707fu, F7(0x34) | R2(24) | F3(5) | 0x13u, ONE},
    {"lr.w", 0xf9f0707fu, 2u << 27 | F3(2) | 0x2fu, HAS_RD | HAS_ADDRESS | HAS_AMO},
    AMO("sc.w", 3), AMO("amoswap.w", 1), AMO("amoadd.w", 0), AMO("amoxor.w", 4), AMO("amoand.w", 12),
    AMO("amoor.w", 8), AMO("amomin.w", 16), AMO("amomax.w", 20), AMO("amominu.w", 24), AMO("amomaxu.w", 28),
    AMO("amocas.w", 5),
    {"fence", 0x707fu, 0x0fu, 0}, {"fence.i", 0x707fu, 0x100fu, 0},
    CSR("csrrw", 1), CSR("csrrs", 2), CSR("csrrc", 3), CSR("csrrwi", 5), CSR("csrrsi", 6), CSR("csrrci", 7),
    FP2("fadd.s", 0x00), FP2("fsub.s", 0x04), FP2("fmul.s", 0x08), FP2("fdiv.s", 0x0c),
    CVT("fsqrt.s", 0x2c, 0, HAS_FP1), FUSED("fmadd.s", 0x43u), FUSED("fmsub.s", 0x47u), FUSED("fnmsub.s", 0x4bu),
    FUSED("fnmadd.s", 0x4fu),
    FP2F("fsgnj.s", 0x10, 0), FP2F("fsgnjn.s", 0x10, 1), FP2F("fsgnjx.s", 0x10, 2), FP2F("fmin.s", 0x14, 0),
    FP2F("fmax.s", 0x14, 1), FP2F("fle.s", 0x50, 0), FP2F("flt.s", 0x50, 1), FP2F("feq.s", 0x50, 2),
    CVT("fcvt.w.s", 0x60, 0, HAS_FP1), CVT("fcvt.wu.s", 0x60, 1, HAS_FP1), CVT("fcvt.s.w", 0x68, 0, 0),
    CVT("fcvt.s.wu", 0x68, 1, 0),
    {"fclass.s", 0xfff0707fu, F7(0x70) | F3(1) | 0x53u, ONE | HAS_FP1},
    {"tern.barrier", 0xffffffffu, 0x0000000bu, 0}, {"tern.exit", 0xffffffffu, 0x0000100bu, 0},
};
const uint32_t cover_op_count = sizeof cover_ops / sizeof cover_ops[0];
