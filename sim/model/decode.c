/* SPDX-License-Identifier: Apache-2.0 */
/** RV32IMA_Zfinx_Zba_Zbb with amocas.w and Tern's custom-0 instructions, from word to operation. Volume and chapter
 *  names are those of the RISC-V unprivileged specification. */
#include "model.h"

static int32_t imm_i(uint32_t w)
{
    return (int32_t)w >> 20;
}

static int32_t imm_s(uint32_t w)
{
    return (int32_t)((uint32_t)((int32_t)w >> 25) << 5 | (w >> 7 & 31u));
}

static int32_t imm_b(uint32_t w)
{
    uint32_t sign = (uint32_t)((int32_t)w >> 31);
    return (int32_t)(sign << 12 | (w << 4 & 0x800u) | (w >> 20 & 0x7e0u) | (w >> 7 & 0x1eu));
}

static int32_t imm_j(uint32_t w)
{
    uint32_t sign = (uint32_t)((int32_t)w >> 31);
    return (int32_t)(sign << 20 | (w & 0xff000u) | (w >> 9 & 0x800u) | (w >> 20 & 0x7feu));
}

static uint16_t op_imm(uint32_t w, int32_t *imm)
{
    static const uint16_t plain[8] = {OP_ADDI, 0, OP_SLTI, OP_SLTIU, OP_XORI, 0, OP_ORI, OP_ANDI};
    uint32_t f3 = w >> 12 & 7u, f7 = w >> 25, rs2 = w >> 20 & 31u;
    *imm = imm_i(w);
    if (plain[f3]) {
        return plain[f3];
    }
    if (f3 == 1 && f7 == 0x30) {
        static const uint16_t unary[32] = {[0] = OP_CLZ, [1] = OP_CTZ, [2] = OP_CPOP, [4] = OP_SEXTB, [5] = OP_SEXTH};
        return unary[rs2];
    }
    *imm = (int32_t)rs2;
    switch (f3 << 8 | f7) {
    case 0x100:
        return OP_SLLI;
    case 0x500:
        return OP_SRLI;
    case 0x520:
        return OP_SRAI;
    case 0x530:
        return OP_RORI;
    case 0x514:
        return rs2 == 7 ? OP_ORCB : OP_ILLEGAL;
    case 0x534:
        return rs2 == 24 ? OP_REV8 : OP_ILLEGAL;
    default:
        return OP_ILLEGAL;
    }
}

static uint16_t op_reg(uint32_t w)
{
    static const uint16_t base[8] = {OP_ADD, OP_SLL, OP_SLT, OP_SLTU, OP_XOR, OP_SRL, OP_OR, OP_AND};
    static const uint16_t mul[8] = {OP_MUL, OP_MULH, OP_MULHSU, OP_MULHU, OP_DIV, OP_DIVU, OP_REM, OP_REMU};
    static const uint16_t alt[8] = {[0] = OP_SUB, [4] = OP_XNOR, [5] = OP_SRA, [6] = OP_ORN, [7] = OP_ANDN};
    static const uint16_t sh[8] = {[2] = OP_SH1ADD, [4] = OP_SH2ADD, [6] = OP_SH3ADD};
    static const uint16_t minmax[8] = {[4] = OP_MIN, [5] = OP_MINU, [6] = OP_MAX, [7] = OP_MAXU};
    static const uint16_t rot[8] = {[1] = OP_ROL, [5] = OP_ROR};
    uint32_t f3 = w >> 12 & 7u;
    switch (w >> 25) {
    case 0x00:
        return base[f3];
    case 0x01:
        return mul[f3];
    case 0x20:
        return alt[f3];
    case 0x10:
        return sh[f3];
    case 0x05:
        return minmax[f3];
    case 0x30:
        return rot[f3];
    case 0x04:
        return f3 == 4 && (w >> 20 & 31u) == 0 ? OP_ZEXTH : OP_ILLEGAL;
    default:
        return OP_ILLEGAL;
    }
}

static uint16_t op_amo(uint32_t w)
{
    static const uint16_t op[32] = {[0] = OP_AMOADD,  [1] = OP_AMOSWAP, [2] = OP_LR,      [3] = OP_SC,
                                    [4] = OP_AMOXOR,  [5] = OP_AMOCAS,  [8] = OP_AMOOR,   [12] = OP_AMOAND,
                                    [16] = OP_AMOMIN, [20] = OP_AMOMAX, [24] = OP_AMOMINU, [28] = OP_AMOMAXU};
    uint16_t o = op[w >> 27];
    if ((w >> 12 & 7u) != 2 || (o == OP_LR && (w >> 20 & 31u))) {
        return OP_ILLEGAL;
    }
    return o;
}

static uint16_t op_fp(uint32_t w, struct instruction *i)
{
    uint32_t f3 = w >> 12 & 7u, rs2 = w >> 20 & 31u;
    bool rounded = f3 < 5 || f3 == 7;
    i->rm = (uint8_t)f3;
    switch (w >> 25) {
    case 0x00:
        return rounded ? OP_FADD : OP_ILLEGAL;
    case 0x04:
        return rounded ? OP_FSUB : OP_ILLEGAL;
    case 0x08:
        return rounded ? OP_FMUL : OP_ILLEGAL;
    case 0x0c:
        return rounded ? OP_FDIV : OP_ILLEGAL;
    case 0x2c:
        return rounded && rs2 == 0 ? OP_FSQRT : OP_ILLEGAL;
    case 0x10:
        return f3 == 0 ? OP_FSGNJ : f3 == 1 ? OP_FSGNJN : f3 == 2 ? OP_FSGNJX : OP_ILLEGAL;
    case 0x14:
        return f3 == 0 ? OP_FMIN : f3 == 1 ? OP_FMAX : OP_ILLEGAL;
    case 0x50:
        return f3 == 2 ? OP_FEQ : f3 == 1 ? OP_FLT : f3 == 0 ? OP_FLE : OP_ILLEGAL;
    case 0x60:
        return !rounded ? OP_ILLEGAL : rs2 == 0 ? OP_FCVT_W_S : rs2 == 1 ? OP_FCVT_WU_S : OP_ILLEGAL;
    case 0x68:
        return !rounded ? OP_ILLEGAL : rs2 == 0 ? OP_FCVT_S_W : rs2 == 1 ? OP_FCVT_S_WU : OP_ILLEGAL;
    case 0x70:
        return f3 == 1 && rs2 == 0 ? OP_FCLASS : OP_ILLEGAL;
    default:
        return OP_ILLEGAL;
    }
}

static uint16_t op_fused(uint32_t w, struct instruction *i, uint16_t op)
{
    uint32_t f3 = w >> 12 & 7u;
    i->rm = (uint8_t)f3;
    return (w >> 25 & 3u) == 0 && (f3 < 5 || f3 == 7) ? op : OP_ILLEGAL;
}

static uint16_t op_system(uint32_t w, struct instruction *i)
{
    static const uint16_t csr[8] = {0, OP_CSRRW, OP_CSRRS, OP_CSRRC, 0, OP_CSRRWI, OP_CSRRSI, OP_CSRRCI};
    uint32_t f3 = w >> 12 & 7u;
    i->imm = (int32_t)(w >> 20);
    if (f3 == 0) {
        return (w == 0x00000073u || w == 0x00100073u) ? OP_ECALL : OP_ILLEGAL;
    }
    return csr[f3];
}

void decode(uint32_t w, struct instruction *i)
{
    static const uint16_t branch[8] = {OP_BEQ, OP_BNE, 0, 0, OP_BLT, OP_BGE, OP_BLTU, OP_BGEU};
    static const uint16_t load[8] = {OP_LOAD, OP_LOAD, OP_LOAD, 0, OP_LOADU, OP_LOADU, 0, 0};
    uint32_t f3 = w >> 12 & 7u;
    i->rd = (uint8_t)(w >> 7 & 31u);
    i->rs1 = (uint8_t)(w >> 15 & 31u);
    i->rs2 = (uint8_t)(w >> 20 & 31u);
    i->rs3 = (uint8_t)(w >> 27);
    i->size = (uint8_t)(1u << (f3 & 3u));
    i->imm = 0;
    i->rm = 0;
    i->op = OP_ILLEGAL;
    switch (w & 0x7fu) {
    case 0x37:
        i->op = OP_LUI;
        i->imm = (int32_t)(w & 0xfffff000u);
        break;
    case 0x17:
        i->op = OP_AUIPC;
        i->imm = (int32_t)(w & 0xfffff000u);
        break;
    case 0x6f:
        i->op = OP_JAL;
        i->imm = imm_j(w);
        break;
    case 0x67:
        i->op = f3 == 0 ? OP_JALR : OP_ILLEGAL;
        i->imm = imm_i(w);
        break;
    case 0x63:
        i->op = branch[f3];
        i->imm = imm_b(w);
        break;
    case 0x03:
        i->op = load[f3];
        i->imm = imm_i(w);
        break;
    case 0x23:
        i->op = f3 < 3 ? OP_STORE : OP_ILLEGAL;
        i->imm = imm_s(w);
        break;
    case 0x13:
        i->op = op_imm(w, &i->imm);
        break;
    case 0x33:
        i->op = op_reg(w);
        break;
    case 0x2f:
        i->op = op_amo(w);
        break;
    case 0x0f:
        i->op = f3 < 2 ? OP_FENCE : OP_ILLEGAL;
        break;
    case 0x73:
        i->op = op_system(w, i);
        break;
    case 0x43:
        i->op = op_fused(w, i, OP_FMADD);
        break;
    case 0x47:
        i->op = op_fused(w, i, OP_FMSUB);
        break;
    case 0x4b:
        i->op = op_fused(w, i, OP_FNMSUB);
        break;
    case 0x4f:
        i->op = op_fused(w, i, OP_FNMADD);
        break;
    case 0x53:
        i->op = op_fp(w, i);
        break;
    case 0x0b:
        if ((w & ~0x707fu) == 0 && f3 < 2) {
            i->op = f3 == TERN_CUSTOM_BARRIER ? OP_BARRIER : OP_EXIT;
        }
        break;
    default:
        break;
    }
}

bool writes_register(uint16_t op)
{
    return !(op == OP_ILLEGAL || op == OP_STORE || op == OP_FENCE || op == OP_ECALL || op == OP_BARRIER ||
             op == OP_EXIT || (op >= OP_BEQ && op <= OP_BGEU));
}
