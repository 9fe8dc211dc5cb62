/* SPDX-License-Identifier: Apache-2.0 */
/**
 * All work-items of a group but those of one warp spin on a flag, which that warp raises after it has done something.
 * The group fills the device, so that a warp which others pass for ever shows: the case does not end.
 */
#include "program.h"

#define LINES 160u /* lines of 16 instructions: more than the instruction cache holds */

enum { ACT_LOAD, ACT_STORE, ACT_ATOMIC, ACT_SWAP, ACT_FENCE, ACT_STACK, ACT_DIVIDE, ACT_FAR, ACTS };

/** Instructions of the warp that raises the flag, before it does. */
static void act(struct code *c, uint32_t kind)
{
    uint32_t base = rng_one_in(c->r, 2) ? X4 : X3, n = 1 + rng_below(c->r, 3); /* its own, global or local */
    for (; n; n--) {
        switch (kind) {
        case ACT_LOAD:
            emit(c, asm_lw(any_value(c), 4 * rng_below(c->r, AREA / 4), base));
            break;
        case ACT_STORE:
            emit(c, asm_sw(any_source(c), 4 * rng_below(c->r, AREA / 4), base));
            break;
        case ACT_ATOMIC:
            plain_atomic(c, base);
            break;
        case ACT_SWAP:
            emit(c, asm_addi(X7, base, 0));
            emit(c, asm_amo(AMOCAS, 0, any_value(c), any_source(c), X7));
            break;
        case ACT_FENCE:
            emit(c, asm_sw(any_source(c), 0, base));
            emit(c, ASM_FENCE);
            break;
        case ACT_STACK:
            emit(c, asm_lw(any_value(c), 4 * rng_below(c->r, AREA / 4), SP));
            break;
        case ACT_DIVIDE:
            emit(c, asm_remu(any_value(c), any_source(c), any_source(c)));
            break;
        default: /* a jump from line to line */
            for (uint32_t i = 0; i < LINES; i++) {
                emit(c, asm_jal(X0, 64));
                for (uint32_t w = 1; w < 16; w++) {
                    emit(c, asm_addi(X0, X0, 0));
                }
            }
            return;
        }
    }
}

/** X7 is the flag: x8 = what it holds. */
static void look(struct code *c, uint32_t kind)
{
    emit(c, asm_addi(X8, X0, 0));
    switch (kind) {
    case 0:
        emit(c, asm_amo(AMOADD, rng_below(c->r, 4), X8, X0, X7));
        break;
    case 1:
        emit(c, asm_lw(X8, 0, X7));
        break;
    case 2:
        emit(c, asm_amo(AMOCAS, rng_below(c->r, 4), X8, X0, X7));
        break;
    case 3:
        emit(c, ASM_FENCE);
        emit(c, asm_lw(X8, 0, X7));
        break;
    case 4:
        emit(c, asm_amo(LR, 0, X8, X0, X7));
        break;
    default:
        emit(c, asm_sw(any_source(c), 0, X4));
        emit(c, asm_lw(X8, 0, X7));
        break;
    }
}

/** x8 = its address. */
static void flag(struct code *c, bool local)
{
    if (local) {
        share_local(c, X8, 0);
    } else {
        emit_li(c, X8, kernel_va(c->plan, c->index, KERNEL_EXCHANGE));
    }
}

void item_spin(struct code *c)
{
    static const char *const acts[ACTS] = {"loads", "stores", "does an atomic", "swaps", "fences", "uses its stack",
                                           "divides", "jumps far"};
    static const char *const looks[] = {"by an atomic", "by a load", "by a swap", "behind a fence", "by LR",
                                        "after a store"};
    uint32_t what = rng_below(c->r, ACTS), how = rng_below(c->r, 6), warp = rng_below(c->r, c->plan->g.warps),
        lanes_log2 = 0, skip, others, end, top;
    bool local = c->kernel->local && rng_one_in(c->r, 2);
    code_say(c, "warp %u %s, all others look at a %s flag %s until it is raised", warp, acts[what],
             local ? "local" : "global", looks[how]);
    while (1u << lanes_log2 < c->plan->g.lanes) {
        lanes_log2++;
    }
    flag(c, local);
    emit(c, asm_lw(X7, RECORD_LID, X5));
    skip = code_hole(c);
    emit(c, asm_sw(X0, 0, X8));
    code_branch(c, skip, BNE, X7, X0);
    emit(c, ASM_BARRIER);
    emit(c, asm_srli(X6, X7, lanes_log2));
    emit(c, asm_addi(X6, X6, 0u - warp));
    emit(c, asm_addi(X7, X8, 0));
    emit(c, asm_b(BEQ, X6, X0, 8));
    others = code_hole(c);
    act(c, what);
    flag(c, local);
    emit(c, asm_addi(X7, X0, 1));
    emit(c, asm_amo(AMOSWAP, RL, X0, X7, X8));
    end = code_hole(c);
    code_jump(c, others, X0);
    top = c->n;
    look(c, how);
    emit(c, asm_b(BEQ, X8, X0, (top - c->n) * 4));
    code_jump(c, end, X0);
    emit(c, ASM_BARRIER);
}
