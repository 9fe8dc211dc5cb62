/* SPDX-License-Identifier: Apache-2.0 */
/** Integer operations: RV32IM, Zba, Zbb. All lanes are computed at once; the active ones keep the result. */
#include "model.h"

typedef int32_t svec __attribute__((vector_size(LANES * 4)));

#define SIGNED(v) ((svec)(v))

/* Defines a handler for `expression`, of the vectors a and b and the number imm. */
#define OP(name, expression)                                                         \
    static int name(struct core *c, struct warp *w, const struct op *o)              \
    {                                                                                \
        const vec a = w->x[o->rs1], b = w->x[o->rs2], on = w->on;                    \
        const uint32_t imm = o->imm;                                                 \
        (void)c, (void)a, (void)b, (void)imm;                                        \
        const vec r = (vec)(expression);                                             \
        w->x[o->rd] = (r & on) | (w->x[o->rd] & ~on);                                \
        return STEP_NEXT;                                                            \
    }

/* Defines a handler for an expression of a[l] and b[l], a lane at a time. */
#define LANE_OP(name, expression)                                                    \
    static int name(struct core *c, struct warp *w, const struct op *o)              \
    {                                                                                \
        const vec a = w->x[o->rs1], b = w->x[o->rs2], on = w->on;                    \
        vec r;                                                                       \
        (void)c, (void)b;                                                            \
        for (int l = 0; l < LANES; l++) {                                            \
            r[l] = (uint32_t)(expression);                                           \
        }                                                                            \
        w->x[o->rd] = (r & on) | (w->x[o->rd] & ~on);                                \
        return STEP_NEXT;                                                            \
    }

#define PICK(condition, p, q) (((vec)(condition) & (p)) | (~(vec)(condition) & (q)))
#define ROL(x, n) (((x) << ((n) & 31u)) | ((x) >> (-(n) & 31u)))

OP(run_constant, (vec){0} + imm)
OP(run_addi, a + imm)
OP(run_slti, (SIGNED(a) < (int32_t)imm) & 1)
OP(run_sltiu, (a < imm) & 1)
OP(run_xori, a ^ imm)
OP(run_ori, a | imm)
OP(run_andi, a & imm)
OP(run_slli, a << imm)
OP(run_srli, a >> imm)
OP(run_srai, SIGNED(a) >> (int32_t)imm)
OP(run_add, a + b)
OP(run_sub, a - b)
OP(run_sll, a << (b & 31u))
OP(run_slt, (SIGNED(a) < SIGNED(b)) & 1)
OP(run_sltu, (a < b) & 1)
OP(run_xor, a ^ b)
OP(run_srl, a >> (b & 31u))
OP(run_sra, SIGNED(a) >> SIGNED(b & 31u))
OP(run_or, a | b)
OP(run_and, a & b)
OP(run_mul, a * b)
OP(run_sh1add, (a << 1) + b)
OP(run_sh2add, (a << 2) + b)
OP(run_sh3add, (a << 3) + b)
OP(run_andn, a & ~b)
OP(run_orn, a | ~b)
OP(run_xnor, ~(a ^ b))
OP(run_max, PICK(SIGNED(a) > SIGNED(b), a, b))
OP(run_maxu, PICK(a > b, a, b))
OP(run_min, PICK(SIGNED(a) < SIGNED(b), a, b))
OP(run_minu, PICK(a < b, a, b))
OP(run_sextb, SIGNED(a << 24) >> 24)
OP(run_sexth, SIGNED(a << 16) >> 16)
OP(run_zexth, a & 0xffffu)
OP(run_rol, ROL(a, b))
OP(run_ror, ROL(a, -b))
OP(run_rori, ROL(a, -imm))
OP(run_rev8, a << 24 | (a & 0xff00u) << 8 | (a >> 8 & 0xff00u) | a >> 24)
OP(run_fsgnj, (a & 0x7fffffffu) | (b & 0x80000000u))
OP(run_fsgnjn, (a & 0x7fffffffu) | (~b & 0x80000000u))
OP(run_fsgnjx, a ^ (b & 0x80000000u))

static uint32_t orcb(uint32_t x)
{
    uint32_t r = 0;
    for (uint32_t i = 0; i < 32; i += 8) {
        r |= x >> i & 0xffu ? 0xffu << i : 0;
    }
    return r;
}

static uint32_t quotient(uint32_t a, uint32_t b)
{
    bool overflow = a == 0x80000000u && b == UINT32_MAX;
    return b == 0 ? UINT32_MAX : overflow ? a : (uint32_t)((int32_t)a / (int32_t)b);
}

static uint32_t rest(uint32_t a, uint32_t b)
{
    bool overflow = a == 0x80000000u && b == UINT32_MAX;
    return b == 0 ? a : overflow ? 0 : (uint32_t)((int32_t)a % (int32_t)b);
}

LANE_OP(run_mulh, (uint64_t)((int64_t)(int32_t)a[l] * (int32_t)b[l]) >> 32)
LANE_OP(run_mulhsu, (uint64_t)((int64_t)(int32_t)a[l] * (int64_t)b[l]) >> 32)
LANE_OP(run_mulhu, (uint64_t)a[l] * b[l] >> 32)
LANE_OP(run_div, quotient(a[l], b[l]))
LANE_OP(run_divu, b[l] ? a[l] / b[l] : UINT32_MAX)
LANE_OP(run_rem, rest(a[l], b[l]))
LANE_OP(run_remu, b[l] ? a[l] % b[l] : a[l])
LANE_OP(run_clz, a[l] ? __builtin_clz(a[l]) : 32)
LANE_OP(run_ctz, a[l] ? __builtin_ctz(a[l]) : 32)
LANE_OP(run_cpop, __builtin_popcount(a[l]))
LANE_OP(run_orcb, orcb(a[l]))

static int run_nothing(struct core *c, struct warp *w, const struct op *o)
{
    (void)c, (void)w, (void)o;
    return STEP_NEXT;
}

handler *int_handler(const struct instruction *i)
{
    static handler *const run[] = {
        [OP_LUI] = run_constant, [OP_AUIPC] = run_constant, [OP_ADDI] = run_addi, [OP_SLTI] = run_slti,
        [OP_SLTIU] = run_sltiu, [OP_XORI] = run_xori, [OP_ORI] = run_ori, [OP_ANDI] = run_andi, [OP_SLLI] = run_slli,
        [OP_SRLI] = run_srli, [OP_SRAI] = run_srai, [OP_ADD] = run_add, [OP_SUB] = run_sub, [OP_SLL] = run_sll,
        [OP_SLT] = run_slt, [OP_SLTU] = run_sltu, [OP_XOR] = run_xor, [OP_SRL] = run_srl, [OP_SRA] = run_sra,
        [OP_OR] = run_or, [OP_AND] = run_and, [OP_MUL] = run_mul, [OP_MULH] = run_mulh, [OP_MULHSU] = run_mulhsu,
        [OP_MULHU] = run_mulhu, [OP_DIV] = run_div, [OP_DIVU] = run_divu, [OP_REM] = run_rem, [OP_REMU] = run_remu,
        [OP_SH1ADD] = run_sh1add, [OP_SH2ADD] = run_sh2add, [OP_SH3ADD] = run_sh3add, [OP_ANDN] = run_andn,
        [OP_ORN] = run_orn, [OP_XNOR] = run_xnor, [OP_CLZ] = run_clz, [OP_CTZ] = run_ctz, [OP_CPOP] = run_cpop,
        [OP_MAX] = run_max, [OP_MAXU] = run_maxu, [OP_MIN] = run_min, [OP_MINU] = run_minu, [OP_SEXTB] = run_sextb,
        [OP_SEXTH] = run_sexth, [OP_ZEXTH] = run_zexth, [OP_ROL] = run_rol, [OP_ROR] = run_ror, [OP_RORI] = run_rori,
        [OP_ORCB] = run_orcb, [OP_REV8] = run_rev8, [OP_FENCE] = run_nothing, [OP_FSGNJ] = run_fsgnj,
        [OP_FSGNJN] = run_fsgnjn, [OP_FSGNJX] = run_fsgnjx,
    };
    return i->op < sizeof run / sizeof run[0] ? run[i->op] : NULL;
}
