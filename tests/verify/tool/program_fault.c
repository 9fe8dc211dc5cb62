/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Faults on purpose. One work-item of the range, or all lanes of its warp in lockstep (of which the lowest is
 * reported), meet the faulting instruction. The indicated fault therefore does not depend on what runs first. Only
 * diverged barriers need a whole group.
 */
#include "program.h"

#define DIVERGE_STREAM (1ull << 36)

#define PICK(c, a) ((a)[rng_below((c)->r, COUNT(a))])

enum access { READ, WRITE, ATOMIC, EXECUTE, ACCESSES };
static const char *const access_text[ACCESSES] = {"load from", "store to", "atomic on", "jump to"};

/** Returns the work-items of group n of a range (x fastest). */
uint32_t group_items(const struct kernel_plan *k, uint32_t n)
{
    const struct tern_pkt_dispatch *p = &k->packet;
    uint32_t x = n % p->groups_x, y = n / p->groups_x % p->groups_y, z = n / p->groups_x / p->groups_y;
    return (x == p->groups_x - 1 ? p->edge_x : p->local_x) * (y == p->groups_y - 1 ? p->edge_y : p->local_y) *
           (z == p->groups_z - 1 ? p->edge_z : p->local_z);
}

uint32_t any_group(struct code *c)
{
    const struct tern_pkt_dispatch *p = &c->kernel->packet;
    uint32_t groups = p->groups_x * p->groups_y * p->groups_z, group = rng_below(c->r, groups);
    for (uint32_t tries = 0; tries < groups && group_items(c->kernel, group) < 2; tries++) {
        group = (group + 1) % groups;
    }
    return group;
}

/* ----------------------------------------------------------- illegal words */

/** Returns a word that RV32IMA_Zfinx_Zba_Zbb, amocas.w and the custom instructions of simt.yaml leave reserved. */
static uint32_t illegal_word(struct code *c)
{
    static const uint32_t fixed[] = {
        0x00000000u, 0xffffffffu, 0x30200073u /* mret */, 0x10200073u /* sret */, 0x10500073u /* wfi */,
        0x12000073u /* sfence.vma */, 0x00200073u /* uret */, 0x7b200073u /* dret */,
        0x0000200fu /* cbo.inval */, 0x000000f3u /* ecall with rd */, 0x00004073u};
    static const uint8_t opcodes[] = {0x07, 0x27, 0x1b, 0x3b, 0x2b, 0x5b, 0x7b, 0x57, 0x77, 0x6b, 0x1f, 0x3f, 0x5f,
                                      0x7f};
    static const uint16_t read_only[] = {TERN_CSR_CYCLE, TERN_CSR_LOCAL_ID_X, TERN_CSR_GROUP_ID_Y,
                                         TERN_CSR_GLOBAL_SIZE_X, TERN_CSR_WORK_DIM, TERN_CSR_ARGS, TERN_CSR_USER1,
                                         TERN_CSR_THREAD};
    static const uint16_t absent[] = {0x000, 0x004, 0x300, 0x341, 0x305, 0xf14, 0xc02, 0xc82, 0xcbf, 0xcd9, 0xcdf,
                                      0xce5, 0xfff, 0x001 ^ 0x400, 0x7c0, 0x180};
    static const uint8_t funct7[] = {0x02, 0x03, 0x06, 0x08, 0x11, 0x21, 0x31, 0x40, 0x7f, 0x60};
    static const uint8_t amos[] = {6, 7, 9, 10, 11, 13, 17, 21, 25, 29, 31};
    static const uint8_t float7[] = {0x01, 0x05, 0x09, 0x0d, 0x2d, 0x02, 0x11, 0x15, 0x51, 0x61, 0x69, 0x70, 0x71, 0x78,
                                     0x20, 0x21, 0x18, 0x7c};
    uint32_t rd = any_dest(c), a = any_source(c), b = any_source(c), v = rng_next(c->r);
    switch (rng_below(c->r, 26)) {
    case 0:
    case 20:
        return PICK(c, fixed);
    case 1: /* compressed instructions do not exist */
        return (v & ~3u) | rng_below(c->r, 3);
    case 2: /* whole opcodes: loads and stores of floating-point registers, RV64, custom, vectors */
        return (v & ~0x7fu) | PICK(c, opcodes);
    case 3:
    case 21:
    case 22: /* loads of 8 bytes, and unsigned ones of 4 or 8 */
        return asm_i(0x03, (uint32_t[]){3, 6, 7}[rng_below(c->r, 3)], rd, X5, 0);
    case 4:
    case 23:
        return asm_s(3 + rng_below(c->r, 5), b, 0, X5);
    case 5:
    case 24:
        return asm_b(2 + rng_below(c->r, 2), a, b, 8);
    case 6:
        return asm_i(0x67, 1 + rng_below(c->r, 7), rd, a, v);
    case 7:
        return asm_r(0x33, rng_below(c->r, 8), PICK(c, funct7), rd, a, b);
    case 8: /* halves of Zbb, Zba and the base without another funct3 */
        return asm_r(0x33, (uint32_t[]){1, 2, 3}[rng_below(c->r, 3)], 0x20, rd, a, b);
    case 9: /* shifts by 32 and more */
        return asm_i(0x13, rng_one_in(c->r, 2) ? 1 : 5, rd, a, (v & 0x41fu) | 0x20u);
    case 10: /* unary operations with another second source */
        return asm_i(0x13, 1, rd, a, 0x600u | (uint32_t[]){3, 6, 7, 8, 24, 31}[rng_below(c->r, 6)]);
    case 11:
        return asm_i(0x13, 5, rd, a, rng_one_in(c->r, 2) ? 0x280u | (rng_below(c->r, 7))
                                                         : 0x680u | rng_below(c->r, 24));
    case 12: /* atomics */
        return asm_amo(PICK(c, amos), rng_below(c->r, 4), rd, b, X5);
    case 13: /* LR with a second source, or of another width */
        return rng_one_in(c->r, 2) ? asm_amo(LR, 0, rd, 1 + rng_below(c->r, 31), X5)
                                   : asm_r(0x2f, (uint32_t[]){0, 1, 3, 4}[rng_below(c->r, 4)], AMOADD, rd, X5, b);
    case 14: /* reserved rounding modes */
        return rng_one_in(c->r, 2) ? asm_r(0x53, 5 + rng_below(c->r, 2), 4 * rng_below(c->r, 4), rd, a, b)
                                   : asm_r(0x43 + 4 * rng_below(c->r, 4), 5 + rng_below(c->r, 2), a << 2, rd, a, b);
    case 15: /* other formats, moves between register files, reserved functions */
        return rng_one_in(c->r, 2) ? asm_r(0x53, 0, PICK(c, float7), rd, a, 0)
                                   : asm_r(0x43 + 4 * rng_below(c->r, 4), 0, a << 2 | (1 + rng_below(c->r, 3)),
                                           rd, a, b);
    case 16:
        switch (rng_below(c->r, 5)) {
        case 0:
            return asm_r(0x53, 3 + rng_below(c->r, 5), 0x10, rd, a, b);
        case 1:
            return asm_r(0x53, 2 + rng_below(c->r, 6), 0x14, rd, a, b);
        case 2:
            return asm_r(0x53, 3 + rng_below(c->r, 5), 0x50, rd, a, b);
        case 3:
            return asm_r(0x53, 0, rng_one_in(c->r, 2) ? 0x60 : 0x68, rd, a, 2 + rng_below(c->r, 30));
        default:
            return asm_r(0x53, 0, rng_one_in(c->r, 2) ? 0x70 : 0x2c, rd, a, 1 + rng_below(c->r, 31));
        }
    case 17: /* CSRs that do not exist, or writes to read-only ones */
        return rng_one_in(c->r, 2) ? asm_i(0x73, 1 + rng_below(c->r, 3), rd, a, PICK(c, absent))
                                   : asm_i(0x73, rng_one_in(c->r, 2) ? 1 : 5, rd, a, PICK(c, read_only));
    case 18:
        /* setting and clearing bits of a read-only CSR: with a register other than x0 this is a write, whatever its
         * value */
        return asm_i(0x73, (uint32_t[]){2, 3, 6, 7}[rng_below(c->r, 4)], rd, 1 + rng_below(c->r, 31),
                     PICK(c, read_only));
    default: /* custom-0: fields that must be zero, functions that do not exist */
        return rng_one_in(c->r, 2) ? 0x0bu | (2 + rng_below(c->r, 6)) << 12
                                   : 0x0bu | rng_below(c->r, 2) << 12 |
                                         1u << (uint32_t[]){7, 9, 15, 19, 20, 25, 31}[rng_below(c->r, 7)];
    }
}

/* ------------------------------------------------------------ faulting code */

/** The faulting access. Mixed: x8 is 0 in the lanes that fault; the others access their scratch memory. */
static void access_at(struct code *c, enum access access, uint32_t va, uint32_t size)
{
    uint32_t offset = c->mixed || rng_one_in(c->r, 2) ? 0 : rng_below(c->r, 0x700) - 0x380u;
    access = c->mixed && access == EXECUTE ? READ : access;
    code_say(c, ", %s %08x", access_text[access], va);
    emit_li(c, X7, va - offset);
    if (c->mixed) {
        emit(c, asm_b(BEQ, X8, X0, 8));
        emit(c, asm_addi(X7, X4, 0));
    }
    switch (access) {
    case READ:
        emit(c, asm_i(0x03, size, any_dest(c), X7, offset));
        break;
    case WRITE:
        emit(c, asm_s(size, any_source(c), offset, X7));
        break;
    case ATOMIC:
        emit(c, asm_addi(X7, X7, offset));
        emit(c, asm_amo(AMOADD, 0, any_dest(c), any_source(c), X7));
        break;
    default:
        emit(c, asm_jalr(rng_one_in(c->r, 2) ? X0 : RA, offset, X7));
        break;
    }
}

static void misaligned(struct code *c)
{
    uint32_t size = 1 + rng_below(c->r, 2), data = kernel_va(c->plan, c->index, KERNEL_DATA);
    switch (c->mixed ? 3 + rng_below(c->r, 3) : rng_below(c->r, 6)) {
    case 0: /* a jump by an odd number of halfwords */
        code_say(c, ", jal");
        emit(c, asm_jal(rng_one_in(c->r, 2) ? X0 : RA, 6));
        break;
    case 1:
        code_say(c, ", taken branch");
        emit(c, asm_b(BEQ, X5, X5, 10));
        break;
    case 2:
        access_at(c, EXECUTE, c->va + 4 * c->n + 2 + rng_below(c->r, 2), 0);
        break;
    case 3:
        access_at(c, ATOMIC, (c->kernel->local ? TERN_WIN_LOCAL_BASE : data) + 1 + rng_below(c->r, 3), 2);
        break;
    case 4:
        access_at(c, rng_below(c->r, 2), TERN_WIN_PRIVATE_BASE + 2 * size - 1, size);
        break;
    default:
        access_at(c, rng_below(c->r, 2), data + RECORD + (size == 2 ? 1 + rng_below(c->r, 3) : 1), size);
        break;
    }
}

static void stack(struct code *c)
{
    static const uint32_t guard[] = {TERN_WIN_GUARD_BASE, TERN_WIN_PRIVATE_BASE - 4, TERN_WIN_PRIVATE_BASE - 64,
                                     TERN_WIN_GUARD_BASE + 0x123450u};
    uint32_t above = TERN_WIN_PRIVATE_BASE + (1u << c->kernel->packet.stack_log2);
    uint32_t beyond[] = {above, above + 4, above + 0x1000, 0xfffffffcu, above | 0x8000000u};
    access_at(c, rng_below(c->r, 3), rng_one_in(c->r, 2) ? PICK(c, guard) : PICK(c, beyond), 2);
}

static void local(struct code *c)
{
    uint32_t bytes = c->kernel->packet.local_bytes;
    uint32_t places[] = {bytes, bytes, bytes, bytes + 4, bytes + 0x10000, bytes + 60, TERN_WIN_LOCAL_SIZE - 4};
    access_at(c, rng_below(c->r, 3), TERN_WIN_LOCAL_BASE + PICK(c, places), 2);
}

static void page(struct code *c)
{
    uint32_t at = c->plan->va[REGION_HOLE] + 4 * rng_below(c->r, 1024);
    if (rng_one_in(c->r, 3)) { /* no entry in the first level */
        at = rng_one_in(c->r, 2) ? 4 * rng_below(c->r, 0x1000) : TERN_WIN_LOCAL_BASE - 4 - 4 * rng_below(c->r, 0x1000);
    }
    access_at(c, rng_below(c->r, ACCESSES), at, 2);
}

static void protection(struct code *c)
{
    const struct plan *p = c->plan;
    uint32_t at = 4 * rng_below(c->r, 1024), data = kernel_va(p, c->index, KERNEL_DATA);
    switch (rng_below(c->r, c->mixed ? 5 : 6)) {
    case 0:
        access_at(c, READ, p->va[REGION_CODE], 2);
        break;
    case 1:
        access_at(c, 1 + rng_below(c->r, 2), p->va[REGION_CODE], 2);
        break;
    case 2:
        access_at(c, 1 + rng_below(c->r, 2), p->va[REGION_TABLE] + at, 2);
        break;
    case 3:
        access_at(c, 1 + rng_below(c->r, 2), p->va[REGION_ZERO] + at, 2);
        break;
    case 4:
        access_at(c, 1 + rng_below(c->r, 2), p->va[REGION_READONLY] + at, 2);
        break;
    default:
        access_at(c, EXECUTE, rng_one_in(c->r, 2) ? p->va[REGION_ZERO] + at : data, 0);
        break;
    }
}

static void malformed(struct code *c)
{
    static const uint8_t regions[] = {REGION_BAD_FIRST, REGION_BAD_SECOND, REGION_BLACK};
    access_at(c, rng_below(c->r, ACCESSES), c->plan->va[PICK(c, regions)] + 4 * rng_below(c->r, 1024), 2);
}

static void beyond(struct code *c)
{
    uint32_t memory = (uint32_t)c->plan->g.mem_bytes, room = TERN_WIN_LOCAL_BASE - memory;
    uint32_t places[] = {memory, memory + LINE, TERN_WIN_LOCAL_BASE - 4, memory + (rng_below(c->r, room) & ~3u)};
    access_at(c, rng_below(c->r, ACCESSES), PICK(c, places), 2);
}

/** Work-items of a group from number `bound` on wait at a barrier. The others come later, to a barrier at a lower
 * address. */
static void diverge_back(struct code *c, uint32_t group, uint32_t bound, uint32_t last)
{
    uint32_t first = group * c->kernel->full, over = code_hole(c), low = c->n, out[2];
    uint32_t delay = 1 + rng_below(c->r, c->plan->stop_every ? 500 : 63);
    bool gate = c->item == c->kernel->gate_item;
    code_say(c, ", part of group %u waits at a lower address", group);
    emit(c, ASM_BARRIER);
    out[0] = code_hole(c);
    code_jump(c, over, X0);
    emit_li(c, X7, first);
    emit_li(c, X8, last);
    uint32_t below = code_hole(c), behind = code_hole(c);
    emit_li(c, X7, bound);
    uint32_t part = code_hole(c);
    if (gate) { /* all of these wait; now and then all but one where the others come */
        code_say(c, ", behind a gate");
        c->awaited = last - bound;
        gate_count(c);
        if (rng_one_in(c->r, 2)) {
            emit(c, asm_b(BNE, X9, X7, (low - c->n) * 4));
        }
    }
    emit(c, ASM_BARRIER);
    out[1] = code_hole(c);
    code_branch(c, part, BLTU, X9, X7);
    if (gate) {
        gate_wait(c);
    } else {
        emit(c, asm_addi(X8, X0, delay));
        emit(c, asm_addi(X8, X8, UINT32_MAX));
        emit(c, asm_b(BNE, X8, X0, 0u - 4));
    }
    emit(c, asm_jal(X0, (low - c->n) * 4));
    code_branch(c, below, BLTU, X9, X7);
    code_branch(c, behind, BGEU, X9, X8);
    code_jump(c, out[0], X0);
    code_jump(c, out[1], X0);
}

/** Work-items of a group from number `bound` on wait at a barrier, or end. A stop finds all of them there; the others
 *  then come to a barrier behind it. Thus only the save has which work-item waited first, and who has ended. */
static void diverge_later(struct code *c, uint32_t group, uint32_t bound, uint32_t last, bool ends)
{
    const uint32_t first = group * c->kernel->full;
    code_say(c, ", part of group %u %s before the others leave a gate", group, ends ? "ends" : "waits");
    emit_li(c, X7, first);
    emit_li(c, X8, last);
    const uint32_t below = code_hole(c), behind = code_hole(c);
    emit_li(c, X7, bound);
    const uint32_t part = code_hole(c);
    c->awaited = last - bound;
    gate_count(c);
    emit(c, ends ? ASM_EXIT : ASM_BARRIER);
    const uint32_t out = code_hole(c);
    code_branch(c, part, BLTU, X9, X7);
    gate_wait(c);
    emit(c, ASM_BARRIER);
    code_branch(c, below, BLTU, X9, X7);
    code_branch(c, behind, BGEU, X9, X8);
    code_jump(c, out, X0);
}

/** A barrier fault with a gate. The draws are apart from those of the item, which are the same without a gate. */
static void diverge_at_gate(struct code *c, uint32_t group, uint32_t bound, uint32_t last)
{
    struct rng r = rng_of(c->plan->seed, DIVERGE_STREAM + c->item);
    const uint32_t first = group * c->kernel->full, lanes = c->plan->g.lanes, how = rng_below(&r, 3);
    if (last - first > lanes && rng_one_in(&r, 2)) { /* whole warps */
        bound = first + lanes * (1 + rng_below(&r, (last - first - 1) / lanes));
    }
    if (how == 0) {
        diverge_back(c, group, bound, last);
    } else {
        diverge_later(c, group, bound, last, how == 1);
    }
}

/** Some work-items of a group wait at a barrier that the others never reach. */
static void diverge(struct code *c)
{
    const struct kernel_plan *k = c->kernel;
    uint32_t group = any_group(c);
    uint32_t items = group_items(k, group), bound = group * k->full + 1 + rng_below(c->r, items > 1 ? items - 1 : 1);
    uint32_t kind = rng_below(c->r, 3), last = group * k->full + items;
    const bool back = rng_one_in(c->r, 2);
    if (c->item == k->gate_item) {
        diverge_at_gate(c, group, bound, last);
        return;
    }
    if (back) {
        diverge_back(c, group, bound, last);
        return;
    }
    static const char *const texts[] = {"ends", "waits elsewhere", "waits once more"};
    code_say(c, ", part of group %u %s", group, texts[kind]);
    emit_li(c, X7, group * k->full);
    emit_li(c, X8, bound);
    uint32_t below = code_hole(c);
    uint32_t behind = code_hole(c);
    if (kind == 0) {
        c->exits[c->n_exits++] = c->n;
        emit(c, ASM_NOP);
    } else {
        emit(c, ASM_BARRIER);
        straight(c, kind);
    }
    code_branch(c, below, BLTU, X9, X7);
    code_branch(c, behind, BGEU, X9, X8);
    emit_li(c, X8, last);
    below = code_hole(c);
    behind = code_hole(c);
    if (kind == 2) {
        code_branch(c, below, BLTU, X9, X7);
        code_branch(c, behind, BGEU, X9, X8);
        emit(c, ASM_BARRIER);
    } else {
        emit(c, ASM_BARRIER);
        code_branch(c, below, BLTU, X9, X7);
        code_branch(c, behind, BGEU, X9, X8);
    }
}

static void faulting_code(struct code *c)
{
    switch (c->kernel->fault) {
    case FAULT_ILLEGAL:
        if (rng_one_in(c->r, 10)) {
            code_say(c, ", dynamic rounding mode");
            emit(c, asm_i(0x73, 5, X0, 5 + rng_below(c->r, 3), TERN_CSR_FRM));
            emit(c, asm_r(0x53, 7, 4 * rng_below(c->r, 3), any_dest(c), any_source(c), any_source(c)));
        } else {
            uint32_t word = illegal_word(c);
            code_say(c, " %08x", word);
            emit(c, word);
        }
        break;
    case FAULT_MISALIGNED:
        misaligned(c);
        break;
    case FAULT_STACK:
        stack(c);
        break;
    case FAULT_LOCAL:
        local(c);
        break;
    case FAULT_PAGE:
        page(c);
        break;
    case FAULT_PROTECTION:
        protection(c);
        break;
    case FAULT_MALFORMED:
        malformed(c);
        break;
    case FAULT_BUS:
        beyond(c);
        break;
    default:
        emit(c, rng_one_in(c->r, 2) ? ASM_ECALL : ASM_EBREAK);
        break;
    }
}

void item_fault(struct code *c)
{
    static const char *const texts[FAULT_CLASSES] = {"illegal instruction", "misaligned", "stack overflow",
                                                     "local overrun", "page fault", "protection", "malformed entry",
                                                     "environment call", "diverged barriers", "bus error"};
    const struct kernel_plan *k = c->kernel;
    uint32_t groups = k->packet.groups_x * k->packet.groups_y * k->packet.groups_z, group = rng_below(c->r, groups);
    uint32_t items = group_items(k, group), lanes = c->plan->g.lanes, first = rng_below(c->r, items), last = first;
    bool memory = c->kernel->fault != FAULT_ILLEGAL && c->kernel->fault != FAULT_CALL;
    bool together = k->barriers || c->item == k->first_item; /* the lanes of a warp are together */
    if (c->kernel->fault != FAULT_BARRIER && rng_one_in(c->r, 3) && together) { /* the rest of its warp faults too */
        last = (first / lanes + 1) * lanes - 1;
        last = last < items ? last : items - 1;
    }
    code_say(c, "%s", texts[c->kernel->fault]);
    if (c->kernel->fault == FAULT_BARRIER) {
        diverge(c);
        return;
    }
    code_say(c, " of work-items %u to %u of group %u", first, last, group);
    if (k->barriers) {
        emit(c, ASM_BARRIER);
    }
    if (rng_one_in(c->r, 4)) { /* one call deep */
        emit(c, asm_jal(RA, 4));
    }
    emit_li(c, X7, group * k->full + first);
    emit_li(c, X8, group * k->full + last);
    c->mixed = memory && first == last && rng_one_in(c->r, 3);
    if (c->mixed) {
        code_say(c, " beside others without");
        emit(c, asm_r(0x33, 3, 0, X7, X9, X7));
        emit(c, asm_r(0x33, 3, 0, X8, X8, X9));
        emit(c, asm_r(0x33, 6, 0, X8, X8, X7));
        faulting_code(c);
        c->mixed = false;
        return;
    }
    uint32_t below = code_hole(c), behind = code_hole(c);
    faulting_code(c);
    code_branch(c, below, BLTU, X9, X7);
    code_branch(c, behind, BLTU, X8, X9);
}
