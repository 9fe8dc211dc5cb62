/* SPDX-License-Identifier: Apache-2.0 */
/** One instruction for the active lanes of a warp. */
#include "model.h"

#define FOR_ACTIVE(l) \
    for (uint32_t rest_ = w->active, l = 0; rest_ && (l = (uint32_t)__builtin_ctz(rest_), true); rest_ &= rest_ - 1)

/* d[l] = expression of a[l], b[l] for the active lanes; the whole-warp loop is what compilers vectorise */
#define LANES_DO(expression)                                \
    do {                                                    \
        if (w->active == ALL_LANES) {                       \
            for (uint32_t l = 0; l < LANES; l++) {          \
                d[l] = (uint32_t)(expression);              \
            }                                               \
        } else {                                            \
            FOR_ACTIVE(l)                                   \
            {                                               \
                d[l] = (uint32_t)(expression);              \
            }                                               \
        }                                                   \
        return STEP_NEXT;                                   \
    } while (0)

#define SA ((int32_t)a[l])
#define SB ((int32_t)b[l])

static uint32_t clz(uint32_t x)
{
    return x ? (uint32_t)__builtin_clz(x) : 32;
}

static uint32_t ctz(uint32_t x)
{
    return x ? (uint32_t)__builtin_ctz(x) : 32;
}

static uint32_t rol(uint32_t x, uint32_t n)
{
    n &= 31u;
    return n ? x << n | x >> (32 - n) : x;
}

static uint32_t orcb(uint32_t x)
{
    uint32_t r = 0;
    for (uint32_t i = 0; i < 32; i += 8) {
        r |= x >> i & 0xffu ? 0xffu << i : 0;
    }
    return r;
}

static uint32_t divide(uint16_t op, uint32_t a, uint32_t b)
{
    bool overflow = a == 0x80000000u && b == UINT32_MAX;
    switch (op) {
    case OP_DIV:
        return b == 0 ? UINT32_MAX : overflow ? a : (uint32_t)((int32_t)a / (int32_t)b);
    case OP_DIVU:
        return b == 0 ? UINT32_MAX : a / b;
    case OP_REM:
        return b == 0 ? a : overflow ? 0 : (uint32_t)((int32_t)a % (int32_t)b);
    default:
        return b == 0 ? a : a % b;
    }
}

static int fail(struct fault *f, uint32_t code, uint32_t access, uint32_t va, uint32_t lane)
{
    *f = (struct fault){.code = code, .access = access, .va = va, .lane = lane};
    return STEP_FAULT;
}

/* ------------------------------------------------------------------ memory */

struct place {
    uint8_t *host;
    uint64_t pa; /* physical, or offset in local memory */
    bool local;
};

/** Where (lane, va) lives. false: f filled. */
static bool locate(struct engine *e, struct warp *w, uint32_t index, uint32_t l, uint32_t va, uint32_t size,
                   uint32_t access, struct place *p, struct fault *f)
{
    struct simt *s = &e->simt;
    uint64_t page;
    uint32_t code = 0, at = va;
    if (va % size) {
        return fail(f, TERN_FAULT_MISALIGNED, access, va, l), false;
    }
    if (va >= TERN_WIN_PRIVATE_BASE) {
        uint32_t off = va - TERN_WIN_PRIVATE_BASE;
        if (off >> s->p.stack_log2) {
            return fail(f, TERN_FAULT_STACK_OVERFLOW, access, va, l), false;
        }
        at = s->p.stack + (index * LANES << s->p.stack_log2) + ((off >> 2) * LANES + l) * 4 + (off & 3u);
    } else if (va >= TERN_WIN_GUARD_BASE) {
        return fail(f, TERN_FAULT_STACK_OVERFLOW, access, va, l), false;
    } else if (va >= TERN_WIN_LOCAL_BASE) {
        uint32_t off = va - TERN_WIN_LOCAL_BASE;
        if (off >= s->p.local_bytes) {
            return fail(f, TERN_FAULT_LOCAL_OVERRUN, access, va, l), false;
        }
        p->pa = w->slot * s->p.local_bytes + off;
        p->host = s->lmem + p->pa;
        p->local = true;
        return true;
    }
    p->host = memory_map(&e->dev->mem, &e->space, at, access == ACCESS_ATOMIC ? ACCESS_ATOMIC : access, &page, &code);
    if (!p->host) {
        return fail(f, code, access, va, l), false;
    }
    p->pa = page * PAGE + at % PAGE;
    p->local = false;
    return true;
}

static void written(struct engine *e, const struct place *p)
{
    if (!p->local) {
        memory_written(&e->dev->mem, p->pa, 4);
    } else if (e->simt.lres_valid && e->simt.lres_word == (p->pa & ~3ull)) {
        e->simt.lres_valid = false;
    }
}

static uint32_t load_value(const uint8_t *p, const struct instruction *i)
{
    uint32_t v = 0;
    memcpy(&v, p, i->size);
    if (i->op == OP_LOAD && i->size == 1) {
        return (uint32_t)(int32_t)(int8_t)v;
    }
    if (i->op == OP_LOAD && i->size == 2) {
        return (uint32_t)(int32_t)(int16_t)v;
    }
    return v;
}

static uint32_t amo_value(uint16_t op, uint32_t old, uint32_t b)
{
    switch (op) {
    case OP_AMOADD:
        return old + b;
    case OP_AMOXOR:
        return old ^ b;
    case OP_AMOAND:
        return old & b;
    case OP_AMOOR:
        return old | b;
    case OP_AMOMIN:
        return (int32_t)old < (int32_t)b ? old : b;
    case OP_AMOMAX:
        return (int32_t)old > (int32_t)b ? old : b;
    case OP_AMOMINU:
        return old < b ? old : b;
    case OP_AMOMAXU:
        return old > b ? old : b;
    default:
        return b;
    }
}

/** LR: takes the engine's one reservation; SC: 0, and gives it up, if this thread still holds it for this word. */
static uint32_t reserve(struct engine *e, const struct place *p, uint32_t thread, bool take)
{
    struct reservation *r = &e->dev->mem.reserved[e->index];
    struct simt *s = &e->simt;
    if (take && p->local) {
        s->lres_valid = true;
        s->lres_word = (uint32_t)p->pa;
        s->lres_thread = thread;
        return 0;
    }
    if (take) {
        *r = (struct reservation){.valid = true, .word = p->pa, .thread = thread};
        return 0;
    }
    bool held = p->local ? s->lres_valid && s->lres_word == p->pa && s->lres_thread == thread
                          : r->valid && r->word == p->pa && r->thread == thread;
    if (held && p->local) {
        s->lres_valid = false;
    } else if (held) {
        r->valid = false;
    }
    return !held;
}

static void amo(struct engine *e, struct warp *w, uint32_t thread, uint32_t l, const struct instruction *i,
                const struct place *p)
{
    uint32_t old, b = w->x[i->rs2][l], result;
    memcpy(&old, p->host, 4);
    result = old;
    bool store = true;
    if (i->op == OP_LR) {
        reserve(e, p, thread, true);
        store = false;
    } else if (i->op == OP_SC) {
        result = reserve(e, p, thread, false);
        store = !result;
    } else if (i->op == OP_AMOCAS) {
        store = old == w->x[i->rd][l];
    }
    if (store) {
        uint32_t v = amo_value(i->op, old, b);
        memcpy(p->host, &v, 4);
        written(e, p);
    }
    if (i->rd) {
        w->x[i->rd][l] = result;
    }
}

static int memory(struct engine *e, struct warp *w, uint32_t index, const struct instruction *i, struct fault *f)
{
    struct place p[LANES];
    bool is_amo = i->op >= OP_LR && i->op <= OP_AMOCAS;
    uint32_t size = is_amo ? 4 : i->size;
    uint32_t access = is_amo ? ACCESS_ATOMIC : i->op == OP_STORE ? ACCESS_WRITE : ACCESS_READ;
    FOR_ACTIVE(l)
    {
        uint32_t va = w->x[i->rs1][l] + (uint32_t)i->imm;
        if (!locate(e, w, index, l, va, size, access, &p[l], f)) {
            return STEP_FAULT;
        }
    }
    FOR_ACTIVE(l)
    {
        if (is_amo) {
            amo(e, w, index * LANES + l, l, i, &p[l]);
        } else if (i->op == OP_STORE) {
            memcpy(p[l].host, &w->x[i->rs2][l], size);
            written(e, &p[l]);
        } else if (i->rd) {
            w->x[i->rd][l] = load_value(p[l].host, i);
        }
    }
    return STEP_NEXT;
}

/* -------------------------------------------------------------------- CSRs */

static bool csr_read(struct engine *e, struct warp *w, uint32_t index, uint32_t number, uint32_t l, uint32_t *v)
{
    const struct tern_pkt_dispatch *p = &e->simt.p;
    const struct group *g = &e->simt.group[w->slot];
    const uint32_t groups[3] = {p->groups_x, p->groups_y, p->groups_z};
    const uint32_t offset[3] = {p->offset_x, p->offset_y, p->offset_z};
    const uint32_t global[3] = {p->global_x, p->global_y, p->global_z};
    const uint32_t local[3] = {p->local_x, p->local_y, p->local_z};
    uint32_t d = number >= TERN_CSR_LOCAL_ID_X ? (number - TERN_CSR_LOCAL_ID_X) % 3 : 0;
    if (number >= TERN_CSR_GLOBAL_ID_X && number <= TERN_CSR_FULL_SIZE_Z) {
        d = (number - TERN_CSR_GLOBAL_ID_X) % 3;
    }
    switch (number) {
    case TERN_CSR_FFLAGS:
        *v = w->fflags[l];
        return true;
    case TERN_CSR_FRM:
        *v = w->frm[l];
        return true;
    case TERN_CSR_FCSR:
        *v = (uint32_t)w->frm[l] << 5 | w->fflags[l];
        return true;
    case TERN_CSR_CYCLE:
    case TERN_CSR_TIME:
        *v = (uint32_t)e->now;
        return true;
    case TERN_CSR_CYCLEH:
    case TERN_CSR_TIMEH:
        *v = (uint32_t)(e->now >> 32);
        return true;
    case TERN_CSR_LOCAL_ID_X ... TERN_CSR_LOCAL_ID_Z:
        *v = w->lid[d][l];
        return true;
    case TERN_CSR_GROUP_ID_X ... TERN_CSR_GROUP_ID_Z:
        *v = g->id[d];
        return true;
    case TERN_CSR_LOCAL_SIZE_X ... TERN_CSR_LOCAL_SIZE_Z:
        *v = g->size[d];
        return true;
    case TERN_CSR_NUM_GROUPS_X ... TERN_CSR_NUM_GROUPS_Z:
        *v = groups[d];
        return true;
    case TERN_CSR_OFFSET_X ... TERN_CSR_OFFSET_Z:
        *v = offset[d];
        return true;
    case TERN_CSR_WORK_DIM:
        *v = p->work_dim;
        return true;
    case TERN_CSR_GLOBAL_ID_X ... TERN_CSR_GLOBAL_ID_Z:
        *v = g->base[d] + w->lid[d][l];
        return true;
    case TERN_CSR_GLOBAL_SIZE_X ... TERN_CSR_GLOBAL_SIZE_Z:
        *v = global[d];
        return true;
    case TERN_CSR_FULL_SIZE_X ... TERN_CSR_FULL_SIZE_Z:
        *v = local[d];
        return true;
    case TERN_CSR_ARGS:
        *v = p->args;
        return true;
    case TERN_CSR_STACK_TOP:
        *v = TERN_WIN_PRIVATE_BASE + (1u << p->stack_log2);
        return true;
    case TERN_CSR_USER0:
        *v = p->user0;
        return true;
    case TERN_CSR_USER1:
        *v = p->user1;
        return true;
    case TERN_CSR_THREAD:
        *v = index * LANES + l;
        return true;
    default:
        return false;
    }
}

static void csr_write(struct warp *w, uint32_t number, uint32_t l, uint32_t v)
{
    if (number != TERN_CSR_FRM) {
        w->fflags[l] = v & 31u;
    }
    if (number != TERN_CSR_FFLAGS) {
        w->frm[l] = (number == TERN_CSR_FRM ? v : v >> 5) & 7u;
    }
}

static int csr(struct engine *e, struct warp *w, uint32_t index, const struct instruction *i, struct fault *f)
{
    uint32_t number = (uint32_t)i->imm;
    bool immediate = i->op >= OP_CSRRWI, swap = i->op == OP_CSRRW || i->op == OP_CSRRWI;
    bool clear = i->op == OP_CSRRC || i->op == OP_CSRRCI;
    bool writes = swap || i->rs1 != 0;
    FOR_ACTIVE(l)
    {
        uint32_t old, arg = immediate ? i->rs1 : w->x[i->rs1][l];
        if (!csr_read(e, w, index, number, l, &old) || (writes && number > TERN_CSR_FCSR)) {
            return fail(f, TERN_FAULT_ILLEGAL_INSTRUCTION, ACCESS_EXECUTE, w->at, l);
        }
        if (writes) {
            csr_write(w, number, l, swap ? arg : clear ? old & ~arg : old | arg);
        }
        if (i->rd) {
            w->x[i->rd][l] = old;
        }
    }
    return STEP_NEXT;
}

/* ---------------------------------------------------------------- floating */

static int floating(struct engine *e, struct warp *w, const struct instruction *i, struct fault *f)
{
    uint32_t r[LANES];
    uint8_t rm[LANES];
    bool rounds = (i->op >= OP_FMADD && i->op <= OP_FSQRT) || (i->op >= OP_FCVT_W_S && i->op <= OP_FCVT_S_WU);
    uint32_t ones = (uint32_t)__builtin_popcount(w->active);
    FOR_ACTIVE(l)
    {
        rm[l] = i->rm == 7 ? w->frm[l] : i->rm;
        if (rounds && rm[l] > 4) {
            return fail(f, TERN_FAULT_ILLEGAL_INSTRUCTION, ACCESS_EXECUTE, w->at, l);
        }
    }
    e->count.fma += i->op >= OP_FMADD && i->op <= OP_FMUL ? ones : 0;
    fp_lanes(i->op, w->active, w->x[i->rs1], w->x[i->rs2], w->x[i->rs3], rm, r, w->fflags);
    if (i->rd) {
        FOR_ACTIVE(l)
        {
            w->x[i->rd][l] = r[l];
        }
    }
    return STEP_NEXT;
}

/* ---------------------------------------------------------------- branches */

static bool compare(uint16_t op, uint32_t a, uint32_t b)
{
    switch (op) {
    case OP_BEQ:
        return a == b;
    case OP_BNE:
        return a != b;
    case OP_BLT:
        return (int32_t)a < (int32_t)b;
    case OP_BGE:
        return (int32_t)a >= (int32_t)b;
    case OP_BLTU:
        return a < b;
    default:
        return a >= b;
    }
}

static int jump(struct warp *w, const struct instruction *i, uint32_t *target, struct fault *f)
{
    FOR_ACTIVE(l)
    {
        uint32_t a = w->x[i->rs1][l], link = w->at + 4;
        switch (i->op) {
        case OP_JAL:
            target[l] = w->at + (uint32_t)i->imm;
            break;
        case OP_JALR:
            target[l] = (a + (uint32_t)i->imm) & ~1u;
            break;
        default:
            target[l] = compare(i->op, a, w->x[i->rs2][l]) ? w->at + (uint32_t)i->imm : link;
            break;
        }
        if (target[l] & 2u) {
            return fail(f, TERN_FAULT_MISALIGNED, ACCESS_EXECUTE, target[l], l);
        }
    }
    if (i->op != OP_JAL && i->op != OP_JALR) {
        return STEP_BRANCH;
    }
    bool returns = i->op == OP_JALR && i->rd == 0 && i->rs1 == 1;
    FOR_ACTIVE(l)
    {
        if (i->rd) {
            w->x[i->rd][l] = w->at + 4;
        }
        if (i->rd == 1 && w->depth[l] < UINT16_MAX) {
            w->depth[l]++;
        } else if (returns && w->depth[l]) {
            w->depth[l]--;
        }
    }
    return STEP_BRANCH;
}

int exec(struct engine *e, struct warp *w, uint32_t index, const struct instruction *i, uint32_t *target, struct fault *f)
{
    uint32_t sink[LANES];
    const uint32_t *a = w->x[i->rs1], *b = w->x[i->rs2];
    uint32_t *d = i->rd ? w->x[i->rd] : sink, imm = (uint32_t)i->imm;
    switch (i->op) {
    case OP_LUI: LANES_DO(imm);
    case OP_AUIPC: LANES_DO(w->at + imm);
    case OP_ADDI: LANES_DO(a[l] + imm);
    case OP_SLTI: LANES_DO(SA < i->imm);
    case OP_SLTIU: LANES_DO(a[l] < imm);
    case OP_XORI: LANES_DO(a[l] ^ imm);
    case OP_ORI: LANES_DO(a[l] | imm);
    case OP_ANDI: LANES_DO(a[l] & imm);
    case OP_SLLI: LANES_DO(a[l] << imm);
    case OP_SRLI: LANES_DO(a[l] >> imm);
    case OP_SRAI: LANES_DO(SA >> imm);
    case OP_ADD: LANES_DO(a[l] + b[l]);
    case OP_SUB: LANES_DO(a[l] - b[l]);
    case OP_SLL: LANES_DO(a[l] << (b[l] & 31u));
    case OP_SLT: LANES_DO(SA < SB);
    case OP_SLTU: LANES_DO(a[l] < b[l]);
    case OP_XOR: LANES_DO(a[l] ^ b[l]);
    case OP_SRL: LANES_DO(a[l] >> (b[l] & 31u));
    case OP_SRA: LANES_DO(SA >> (b[l] & 31u));
    case OP_OR: LANES_DO(a[l] | b[l]);
    case OP_AND: LANES_DO(a[l] & b[l]);
    case OP_MUL: LANES_DO(a[l] * b[l]);
    case OP_MULH: LANES_DO((uint64_t)((int64_t)SA * SB) >> 32);
    case OP_MULHSU: LANES_DO((uint64_t)((int64_t)SA * (int64_t)b[l]) >> 32);
    case OP_MULHU: LANES_DO((uint64_t)a[l] * b[l] >> 32);
    case OP_DIV:
    case OP_DIVU:
    case OP_REM:
    case OP_REMU: LANES_DO(divide(i->op, a[l], b[l]));
    case OP_SH1ADD: LANES_DO((a[l] << 1) + b[l]);
    case OP_SH2ADD: LANES_DO((a[l] << 2) + b[l]);
    case OP_SH3ADD: LANES_DO((a[l] << 3) + b[l]);
    case OP_ANDN: LANES_DO(a[l] & ~b[l]);
    case OP_ORN: LANES_DO(a[l] | ~b[l]);
    case OP_XNOR: LANES_DO(~(a[l] ^ b[l]));
    case OP_CLZ: LANES_DO(clz(a[l]));
    case OP_CTZ: LANES_DO(ctz(a[l]));
    case OP_CPOP: LANES_DO(__builtin_popcount(a[l]));
    case OP_MAX: LANES_DO(SA > SB ? a[l] : b[l]);
    case OP_MAXU: LANES_DO(a[l] > b[l] ? a[l] : b[l]);
    case OP_MIN: LANES_DO(SA < SB ? a[l] : b[l]);
    case OP_MINU: LANES_DO(a[l] < b[l] ? a[l] : b[l]);
    case OP_SEXTB: LANES_DO((int32_t)(int8_t)a[l]);
    case OP_SEXTH: LANES_DO((int32_t)(int16_t)a[l]);
    case OP_ZEXTH: LANES_DO(a[l] & 0xffffu);
    case OP_ROL: LANES_DO(rol(a[l], b[l]));
    case OP_ROR: LANES_DO(rol(a[l], 32 - (b[l] & 31u)));
    case OP_RORI: LANES_DO(rol(a[l], 32 - imm));
    case OP_ORCB: LANES_DO(orcb(a[l]));
    case OP_REV8: LANES_DO(__builtin_bswap32(a[l]));
    case OP_FSGNJ: LANES_DO((a[l] & 0x7fffffffu) | (b[l] & 0x80000000u));
    case OP_FSGNJN: LANES_DO((a[l] & 0x7fffffffu) | (~b[l] & 0x80000000u));
    case OP_FSGNJX: LANES_DO(a[l] ^ (b[l] & 0x80000000u));
    case OP_JAL ... OP_BGEU:
        return jump(w, i, target, f);
    case OP_LOAD ... OP_STORE:
    case OP_LR ... OP_AMOCAS:
        return memory(e, w, index, i, f);
    case OP_FENCE:
        return STEP_NEXT;
    case OP_CSRRW ... OP_CSRRCI:
        return csr(e, w, index, i, f);
    case OP_FMADD ... OP_FSQRT:
    case OP_FMIN ... OP_FCLASS:
        return floating(e, w, i, f);
    case OP_BARRIER:
        return STEP_BARRIER;
    case OP_EXIT:
        return STEP_EXIT;
    case OP_ECALL:
        return fail(f, TERN_FAULT_ENVIRONMENT_CALL, ACCESS_EXECUTE, w->at, (uint32_t)__builtin_ctz(w->active));
    default:
        return fail(f, TERN_FAULT_ILLEGAL_INSTRUCTION, ACCESS_EXECUTE, w->at, (uint32_t)__builtin_ctz(w->active));
    }
}
