/* SPDX-License-Identifier: Apache-2.0 */
/** Jumps, CSRs, barrier and exit, and illegal instructions. */
#include "model.h"

typedef int32_t svec __attribute__((vector_size(LANES * 4)));

static uint32_t first_lane(uint32_t mask)
{
    return (uint32_t)__builtin_ctz(mask);
}

/** The lanes of `mask` in which v is not 0. Each lane of v is 0 or all ones. */
static uint32_t to_mask(const vec *v, uint32_t mask)
{
    uint32_t r = 0;
    for (int l = 0; l < LANES; l++) {
        r |= (*v)[l] & 1u << l;
    }
    return r & mask;
}

/* ------------------------------------------------------------------- jumps */

#define BRANCH(name, condition)                                                      \
    static int name(struct core *c, struct warp *w, const struct op *o)              \
    {                                                                                \
        const vec a = w->x[o->rs1], b = w->x[o->rs2], t = (vec)(condition);          \
        c->taken = to_mask(&t, w->active);                                           \
        return c->taken && (o->imm & 2u)                                             \
                   ? fail(c, TERN_FAULT_MISALIGNED, ACCESS_EXECUTE, o->imm, first_lane(c->taken)) \
                   : STEP_JUMP;                                                      \
    }

BRANCH(run_beq, a == b)
BRANCH(run_bne, a != b)
BRANCH(run_blt, (svec)a < (svec)b)
BRANCH(run_bge, (svec)a >= (svec)b)
BRANCH(run_bltu, a < b)
BRANCH(run_bgeu, a >= b)

static uint32_t pc_of(const struct core *c, const struct op *o)
{
    return c->block->pc + 4 * (uint32_t)(o - c->block->op);
}

static void link(struct core *c, struct warp *w, const struct op *o)
{
    w->x[o->rd] = ((pc_of(c, o) + 4) & w->on) | (w->x[o->rd] & ~w->on);
}

static int run_jal(struct core *c, struct warp *w, const struct op *o)
{
    c->taken = w->active;
    if (o->imm & 2u) {
        return fail(c, TERN_FAULT_MISALIGNED, ACCESS_EXECUTE, o->imm, first_lane(w->active));
    }
    link(c, w, o);
    return STEP_JUMP;
}

static int run_jalr(struct core *c, struct warp *w, const struct op *o)
{
    c->taken = w->active;
    c->target = (w->x[o->rs1] + o->imm) & ~1u;
    const vec odd = (vec)((c->target & 2u) != 0);
    uint32_t bad = to_mask(&odd, w->active);
    if (bad) {
        return fail(c, TERN_FAULT_MISALIGNED, ACCESS_EXECUTE, c->target[first_lane(bad)], first_lane(bad));
    }
    link(c, w, o);
    return STEP_JUMP;
}

static int run_barrier(struct core *c, struct warp *w, const struct op *o)
{
    (void)c, (void)w, (void)o;
    return STEP_BARRIER;
}

static int run_exit(struct core *c, struct warp *w, const struct op *o)
{
    (void)c, (void)w, (void)o;
    return STEP_EXIT;
}

static int run_illegal(struct core *c, struct warp *w, const struct op *o)
{
    uint32_t code = o->code == OP_ECALL ? TERN_FAULT_ENVIRONMENT_CALL : TERN_FAULT_ILLEGAL_INSTRUCTION;
    return fail(c, code, ACCESS_EXECUTE, pc_of(c, o), first_lane(w->active));
}

/* -------------------------------------------------------------------- CSRs */

/** The value of a CSR in each lane. */
static bool csr_read(const struct core *c, const struct warp *w, uint32_t number, uint64_t now, vec *v)
{
    const struct tern_pkt_dispatch *p = &c->e->simt.p;
    const struct group *g = &c->e->simt.group[w->slot];
    const uint32_t groups[3] = {p->groups_x, p->groups_y, p->groups_z};
    const uint32_t offset[3] = {p->offset_x, p->offset_y, p->offset_z};
    const uint32_t global[3] = {p->global_x, p->global_y, p->global_z};
    const uint32_t local[3] = {p->local_x, p->local_y, p->local_z};
    uint32_t all = 0, d = number >= TERN_CSR_LOCAL_ID_X ? (number - TERN_CSR_LOCAL_ID_X) % 3 : 0;
    const uint32_t *each = NULL; /* values to be added, by lane */
    if (number >= TERN_CSR_GLOBAL_ID_X && number <= TERN_CSR_FULL_SIZE_Z) {
        d = (number - TERN_CSR_GLOBAL_ID_X) % 3;
    }
    switch (number) {
    case TERN_CSR_FFLAGS:
        each = w->fflags;
        break;
    case TERN_CSR_FRM:
        each = w->frm;
        break;
    case TERN_CSR_FCSR:
        for (int l = 0; l < LANES; l++) {
            (*v)[l] = w->frm[l] << 5 | w->fflags[l];
        }
        return true;
    case TERN_CSR_CYCLE:
    case TERN_CSR_TIME:
        all = (uint32_t)now;
        break;
    case TERN_CSR_CYCLEH:
    case TERN_CSR_TIMEH:
        all = (uint32_t)(now >> 32);
        break;
    case TERN_CSR_LOCAL_ID_X ... TERN_CSR_LOCAL_ID_Z:
        each = w->lid[d];
        break;
    case TERN_CSR_GROUP_ID_X ... TERN_CSR_GROUP_ID_Z:
        all = g->id[d];
        break;
    case TERN_CSR_LOCAL_SIZE_X ... TERN_CSR_LOCAL_SIZE_Z:
        all = g->size[d];
        break;
    case TERN_CSR_NUM_GROUPS_X ... TERN_CSR_NUM_GROUPS_Z:
        all = groups[d];
        break;
    case TERN_CSR_OFFSET_X ... TERN_CSR_OFFSET_Z:
        all = offset[d];
        break;
    case TERN_CSR_WORK_DIM:
        all = p->work_dim;
        break;
    case TERN_CSR_GLOBAL_ID_X ... TERN_CSR_GLOBAL_ID_Z:
        all = g->base[d];
        each = w->lid[d];
        break;
    case TERN_CSR_GLOBAL_SIZE_X ... TERN_CSR_GLOBAL_SIZE_Z:
        all = global[d];
        break;
    case TERN_CSR_FULL_SIZE_X ... TERN_CSR_FULL_SIZE_Z:
        all = local[d];
        break;
    case TERN_CSR_ARGS:
        all = p->args;
        break;
    case TERN_CSR_STACK_TOP:
        all = TERN_WIN_PRIVATE_BASE + (1u << p->stack_log2);
        break;
    case TERN_CSR_USER0:
        all = p->user0;
        break;
    case TERN_CSR_USER1:
        all = p->user1;
        break;
    case TERN_CSR_THREAD:
        for (uint32_t l = 0; l < LANES; l++) {
            (*v)[l] = c->index * LANES + l;
        }
        return true;
    default:
        return false;
    }
    for (int l = 0; l < LANES; l++) {
        (*v)[l] = all + (each ? each[l] : 0);
    }
    return true;
}

static void csr_write(struct warp *w, uint32_t number, const vec *v)
{
    w->any_frm = 0;
    for (int l = 0; l < LANES; l++) {
        if (w->active >> l & 1u && number != TERN_CSR_FRM) {
            w->fflags[l] = (*v)[l] & 31u;
        }
        if (w->active >> l & 1u && number != TERN_CSR_FFLAGS) {
            w->frm[l] = (number == TERN_CSR_FRM ? (*v)[l] : (*v)[l] >> 5) & 7u;
        }
        w->any_frm |= w->frm[l];
    }
}

static int run_csr(struct core *c, struct warp *w, const struct op *o)
{
    bool immediate = o->code >= OP_CSRRWI, swap = o->code == OP_CSRRW || o->code == OP_CSRRWI;
    bool clear = o->code == OP_CSRRC || o->code == OP_CSRRCI, writes = swap || o->rs1 != 0;
    vec old, arg = immediate ? (vec){0} + o->rs1 : w->x[o->rs1];
    uint64_t now = c->time + (uint64_t)(o - c->block->op);
    if (!csr_read(c, w, o->imm, now, &old) || (writes && o->imm > TERN_CSR_FCSR)) {
        return fail(c, TERN_FAULT_ILLEGAL_INSTRUCTION, ACCESS_EXECUTE, pc_of(c, o), first_lane(w->active));
    }
    if (writes) {
        const vec v = swap ? arg : clear ? old & ~arg : old | arg;
        csr_write(w, o->imm, &v);
    }
    w->x[o->rd] = (old & w->on) | (w->x[o->rd] & ~w->on);
    return STEP_NEXT;
}

handler *flow_handler(const struct instruction *i)
{
    switch (i->op) {
    case OP_JAL:
        return run_jal;
    case OP_JALR:
        return run_jalr;
    case OP_BEQ:
        return run_beq;
    case OP_BNE:
        return run_bne;
    case OP_BLT:
        return run_blt;
    case OP_BGE:
        return run_bge;
    case OP_BLTU:
        return run_bltu;
    case OP_BGEU:
        return run_bgeu;
    case OP_CSRRW ... OP_CSRRCI:
        return run_csr;
    case OP_BARRIER:
        return run_barrier;
    case OP_EXIT:
        return run_exit;
    default:
        return run_illegal;
    }
}
