/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Control flow that differs by lane: nested conditions and loops, switches, calls, recursion, early ends. The numbers
 * of trips and levels are bounded by construction. x6 counts outer loops, x8 inner ones, and plain code uses x7.
 */
#include "program.h"

#define DEPTH 2u          /* depth of nested blocks: branches reach over 4 KiB */
#define FAR_BYTES 0x2000u /* distance of functions that share a line of the instruction cache */
#define FRAME 16u         /* bytes of a recursive call */

enum { LOOPS_NONE, LOOPS_INNER, LOOPS_BOTH }; /* counters that are free */

static void block(struct code *c, uint32_t depth, uint32_t loops);

static void two_blocks(struct code *c, uint32_t depth, uint32_t loops)
{
    block(c, depth, loops);
    if (rng_one_in(c->r, 2)) {
        block(c, depth, loops);
    }
}

static void if_else(struct code *c, uint32_t depth, uint32_t loops)
{
    uint32_t skip = code_hole(c), condition = any_condition(c), a = any_source(c), b = any_source(c);
    code_say(c, " if(");
    two_blocks(c, depth, loops);
    if (rng_one_in(c->r, 2)) {
        uint32_t end = code_hole(c);
        code_branch(c, skip, condition, a, b);
        code_say(c, " else");
        two_blocks(c, depth, loops);
        code_jump(c, end, X0);
    } else {
        code_branch(c, skip, condition, a, b);
    }
    code_say(c, ")");
}

/** A loop of up to 8 trips, as many as a lane's register says; at times with a break in the middle. */
static void loop(struct code *c, uint32_t depth, uint32_t loops)
{
    uint32_t counter = loops == LOOPS_BOTH ? X6 : X8, mask = rng_one_in(c->r, 3) ? 7 : 3, leave = 0, condition = 0,
        a = 0, b = 0;
    bool leaves = rng_one_in(c->r, 2), uniform = rng_one_in(c->r, 4);
    if (uniform) {
        emit(c, asm_addi(counter, X0, 1 + rng_below(c->r, mask)));
    } else {
        emit(c, asm_andi(counter, any_source(c), mask));
    }
    code_say(c, " loop%s to %u%s(", uniform ? "" : ", by lane", mask + 1, leaves ? ", break" : "");
    uint32_t top = c->n;
    block(c, depth, loops - 1);
    if (leaves) {
        condition = any_condition(c);
        a = any_source(c);
        b = any_source(c);
        leave = code_hole(c);
        block(c, depth, loops - 1);
    }
    emit(c, asm_addi(counter, counter, UINT32_MAX));
    emit(c, asm_b(BGE, counter, X0, (top - c->n) * 4));
    if (leaves) {
        code_branch(c, leave, condition, a, b);
    }
    code_say(c, ")");
}

/** A branch that is not taken may have a misaligned target. */
static void branch_nowhere(struct code *c)
{
    emit(c, asm_b(BNE, X0, X0, 4 * rng_below(c->r, 500) + 2));
}

static void few(struct code *c)
{
    uint32_t n = 1 + rng_below(c->r, 4);
    code_say(c, " %u", n);
    straight(c, n);
}

static void block(struct code *c, uint32_t depth, uint32_t loops)
{
    switch (depth ? rng_below(c->r, 6) : 0) {
    case 1:
    case 2:
        if_else(c, depth - 1, loops);
        break;
    case 3:
        if (loops) {
            loop(c, depth - 1, loops);
            break;
        }
        few(c);
        break;
    case 4:
        if (rng_one_in(c->r, 6)) {
            branch_nowhere(c);
            break;
        }
        few(c);
        break;
    default:
        few(c);
        break;
    }
}

void item_flow(struct code *c)
{
    code_say(c, "nested:");
    if_else(c, DEPTH, LOOPS_INNER);
}

void item_loop(struct code *c)
{
    code_say(c, "nested:");
    loop(c, DEPTH - 1, LOOPS_BOTH);
}

/** A jump to one of four cases, by a register or by a table of addresses in memory. */
void item_switch(struct code *c)
{
    uint32_t size_log2 = 2 + rng_below(c->r, 2), size = 1u << size_log2, ends[4], stub;
    bool table = rng_one_in(c->r, 2);
    code_say(c, "switch over 4 cases by %s", table ? "a table of addresses" : "a computed address");
    emit(c, asm_andi(X8, any_source(c), 3));
    if (table) {
        emit_li(c, X7, c->pool_va);
        emit(c, asm_shadd(2, X7, X8, X7));
        emit(c, asm_lw(X7, 0, X7));
        stub = code_hole(c);
        c->word[stub] = asm_jalr(X0, 0, X7);
    } else {
        emit(c, asm_slli(X8, X8, size_log2 + 2));
        emit(c, asm_auipc(X7, 0));
        emit(c, asm_add(X7, X7, X8));
        stub = code_hole(c);
        /* the lowest bit is ignored */
        c->word[stub] = asm_jalr(rng_one_in(c->r, 2) ? X0 : X8, 12 + rng_below(c->r, 2), X7);
    }
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t begin = c->n;
        c->pool[i] = c->va + 4 * c->n;
        while (c->n - begin < size - 1) {
            plain_integer(c);
        }
        ends[i] = code_hole(c);
    }
    for (uint32_t i = 0; i < 4; i++) {
        code_jump(c, ends[i], X0);
    }
}

/** Generates a function, which straight code must jump around. Returns its place. */
static uint32_t function(struct code *c, uint32_t link)
{
    uint32_t at = c->n;
    straight(c, 1 + rng_below(c->r, 3));
    if (rng_one_in(c->r, 2)) {
        if_else(c, 1, LOOPS_NONE);
    }
    emit(c, asm_jalr(X0, 0, link));
    return at;
}

/** Calls, direct or by a pointer that differs by lane, perhaps in a condition or a loop. */
void item_call(struct code *c)
{
    uint32_t skip = code_hole(c), link = rng_one_in(c->r, 4) ? X6 : RA;
    code_say(c, "call,");
    uint32_t a = function(c, link), b = function(c, link);
    code_jump(c, skip, X0);
    bool conditional = rng_one_in(c->r, 2), pointer = rng_one_in(c->r, 2), twice = link == RA && rng_one_in(c->r, 2);
    uint32_t over = 0, top;
    if (conditional) {
        over = code_hole(c);
    }
    if (twice) {
        emit(c, asm_andi(X6, any_source(c), 3));
    }
    top = c->n;
    if (pointer) {
        emit_li(c, X7, c->va + 4 * a);
        emit(c, asm_andi(X8, any_source(c), 1));
        emit(c, asm_sub(X8, X0, X8));
        emit(c, asm_andi(X8, X8, (b - a) * 4));
        emit(c, asm_add(X7, X7, X8));
        emit(c, asm_jalr(link, rng_below(c->r, 2), X7));
    } else {
        emit(c, asm_jal(link, (a - c->n) * 4));
        straight(c, 1);
        emit(c, asm_jal(link, (b - c->n) * 4));
    }
    if (twice) {
        emit(c, asm_addi(X6, X6, UINT32_MAX));
        emit(c, asm_b(BGE, X6, X0, (top - c->n) * 4));
    }
    if (conditional) {
        code_branch(c, over, any_condition(c), any_source(c), any_source(c));
    }
    code_say(c, " %s%s%s%s", pointer ? "by a pointer that differs by lane" : "direct",
             conditional ? ", under a condition" : "", twice ? ", in a loop" : "", link == RA ? "" : ", link in x6");
}

/** A recursive function: f(n) calls f(n - 1), with plain code before and after, if n is not 0. The stack of the
 *  function is below that of plain code. */
void item_recursion(struct code *c)
{
    uint32_t room = (1u << c->kernel->packet.stack_log2) - AREA, mask = 7;
    while (mask && (mask + 1) * FRAME > room) {
        mask >>= 1;
    }
    code_say(c, "recursion to %u levels, by lane", mask + 1);
    uint32_t skip = code_hole(c), at = c->n, value = any_value(c), end = code_hole(c);
    c->deep = true;
    emit(c, asm_addi(SP, SP, 0u - FRAME));
    emit(c, asm_sw(RA, 0, SP));
    emit(c, asm_sw(value, 4, SP));
    emit(c, asm_sw(X6, 8, SP));
    emit(c, asm_addi(X6, X6, UINT32_MAX));
    straight(c, 1 + rng_below(c->r, 3));
    emit(c, asm_jal(RA, (at - c->n) * 4));
    emit(c, asm_lw(RA, 0, SP));
    emit(c, asm_lw(any_value(c), 4, SP));
    emit(c, asm_lw(X6, 8, SP));
    emit(c, asm_addi(SP, SP, FRAME));
    straight(c, 1);
    c->deep = false;
    code_branch(c, end, BEQ, X6, X0);
    emit(c, asm_jalr(X0, 0, RA));
    code_jump(c, skip, X0);
    if (mask) {
        emit(c, asm_andi(X6, any_source(c), mask));
        emit(c, asm_jal(RA, (at - c->n) * 4));
    }
}

/** Blocks that run in another order than they have in memory. Some lanes leave early. */
void item_zigzag(struct code *c)
{
    uint32_t to_a, to_b, to_c, out, condition = any_condition(c), a = any_source(c), b = any_source(c);
    code_say(c, "blocks out of order:");
    to_a = code_hole(c);
    uint32_t at_b = c->n;
    block(c, 1, LOOPS_NONE);
    to_c = code_hole(c);
    code_jump(c, to_a, X0);
    block(c, 1, LOOPS_NONE);
    out = code_hole(c);
    to_b = code_hole(c);
    c->word[to_b] = asm_jal(X0, (at_b - to_b) * 4);
    code_jump(c, to_c, X0);
    block(c, 1, LOOPS_NONE);
    code_branch(c, out, condition, a, b);
}

/** A loop over two functions, as far apart as the instruction cache is large. The words between are never run. */
void item_far(struct code *c)
{
    code_say(c, "a loop over functions %u bytes apart:", FAR_BYTES);
    uint32_t skip = code_hole(c), a = function(c, RA), b;
    while (c->n < a + FAR_BYTES / 4) {
        emit(c, rng_next(c->r));
    }
    b = function(c, RA);
    code_jump(c, skip, X0);
    emit(c, asm_andi(X6, any_source(c), 3));
    uint32_t top = c->n;
    emit(c, asm_jal(RA, (a - c->n) * 4));
    emit(c, asm_jal(RA, (b - c->n) * 4));
    emit(c, asm_addi(X6, X6, UINT32_MAX));
    emit(c, asm_b(BGE, X6, X0, (top - c->n) * 4));
}

/** Jumps to the last words of a page of code, and runs across its end. */
void item_page_end(struct code *c)
{
    uint32_t before = 1 + rng_below(c->r, 3), n = 6 + rng_below(c->r, 4), hole = code_hole(c);
    code_say(c, "%u plain instructions across the end of a page of code", n);
    while (((c->va + 4 * c->n) & (PAGE - 1)) != PAGE - 4 * before) {
        emit(c, 0);
    }
    code_jump(c, hole, X0);
    straight(c, n);
}

/** Some work-items end here. */
void item_exit(struct code *c)
{
    code_say(c, "some lanes end early");
    emit(c, asm_andi(X7, any_source(c), 7));
    emit(c, asm_b(BNE, X7, X0, 8));
    if (c->n_exits < sizeof c->exits / sizeof *c->exits) {
        c->exits[c->n_exits++] = c->n;
    }
    emit(c, ASM_NOP); /* replaced by the jump when the end is known */
}
