/* SPDX-License-Identifier: Apache-2.0 */
/** The inner loop of a function (loop.h). tern-cc1 keeps the blocks of a loop together (ternc/order.c). */
#include "loop.h"

#include <stdlib.h>
#include <string.h>

#include "tc_code.h"
#include "tc_loops.h"

#define FIRST_ARGUMENT 10u /* registers a0 to a7, x10 to x17 */
#define LAST_ARGUMENT 17u

/** Where a result ends. */
enum { ENDS_IN_ADDRESS = 1, ENDS_IN_DATA = 2 };

/** How an instruction uses a register. */
enum use { UNUSED, PASSED_ON, AS_ADDRESS, AS_DATA };

static uint32_t rd(uint32_t w)
{
    const uint32_t opcode = tc_code_opcode(w);
    return opcode == TC_STORE || opcode == TC_BRANCH || opcode == TC_FENCE || opcode == TC_CUSTOM_0 ? 0 : w >> 7 & 31;
}

static bool is_floating(uint32_t w)
{
    const uint32_t opcode = tc_code_opcode(w);
    return opcode == TC_FLOAT || (opcode >= TC_FMA_FIRST && opcode <= TC_FMA_LAST && opcode % 4 == 3);
}

static bool is_integer(uint32_t w)
{
    switch (tc_code_opcode(w)) {
    case TC_OP: case TC_OP_IMMEDIATE: case TC_LUI: case TC_AUIPC: case TC_SYSTEM: return true;
    default: return false;
    }
}

static enum use use(uint32_t w, uint32_t reg)
{
    const bool first = (w >> 15 & 31) == reg, second = (w >> 20 & 31) == reg;
    switch (tc_code_opcode(w)) {
    case TC_LOAD: return first ? AS_ADDRESS : UNUSED;
    case TC_STORE: case TC_ATOMIC: return second ? AS_DATA : first ? AS_ADDRESS : UNUSED;
    case TC_BRANCH: return first || second ? AS_ADDRESS : UNUSED;
    case TC_OP: return first || second ? PASSED_ON : UNUSED;
    case TC_OP_IMMEDIATE: return first ? PASSED_ON : UNUSED;
    case TC_SYSTEM: return first && !(w >> 14 & 1) ? AS_DATA : UNUSED;
    default: break;
    }
    if (tc_code_is_call(w)) {
        return reg >= FIRST_ARGUMENT && reg <= LAST_ARGUMENT ? AS_DATA : first ? AS_ADDRESS : UNUSED;
    }
    /* the second operand of conversions and square roots is no register, but then its number is small */
    return is_floating(w) && (first || second || (tc_code_opcode(w) != TC_FLOAT && w >> 27 == reg)) ? AS_DATA : UNUSED;
}

/** Collects where the result of word `from` ends: follows it through the span until its register gets another value.
 *  ends: what is known of the other words. */
static unsigned follow(const uint32_t *code, const struct tc_loop *span, const uint8_t *ends, uint32_t from,
                       uint32_t *met, uint32_t *stack)
{
    const uint32_t reg = rd(code[from]), mark = from + 1;
    unsigned found = 0;
    uint32_t n = 0;
    stack[n++] = from;
    while (n > 0) {
        const uint32_t at = stack[--n];
        const int32_t by = tc_code_target(code[at]) / 4;
        const bool falls = tc_code_falls_through(code[at]);
        const bool jumps = by && !tc_code_is_call(code[at]);
        const int64_t next[2] = {falls ? (int64_t)at + 1 : -1, jumps ? (int64_t)at + by : -1};
        for (int k = 0; k < 2; k++) {
            const uint32_t to = (uint32_t)next[k];
            if (next[k] < span->from || next[k] > span->to || met[to] == mark) {
                continue;
            }
            met[to] = mark;
            const enum use as = use(code[to], reg);
            found |= as == AS_DATA      ? ENDS_IN_DATA
                     : as == AS_ADDRESS ? ENDS_IN_ADDRESS
                     : as == PASSED_ON  ? ends[to]
                                        : 0u;
            if (rd(code[to]) != reg) {
                stack[n++] = to;
            }
        }
    }
    return found;
}

/** Fills the classes. span: the loop with the loops in it. */
static bool classify(const uint32_t *code, uint32_t words, const struct tc_loop *span, struct loop *l)
{
    uint8_t *ends = calloc(words, 1);
    uint32_t *met = calloc(words, sizeof *met); /* 1 + the word that was followed last to here */
    uint32_t *stack = calloc(2 * (size_t)words + 1, sizeof *stack);
    const bool ok = ends && met && stack;
    for (bool changed = ok; changed;) {
        changed = false;
        memset(met, 0, words * sizeof *met);
        for (uint32_t i = span->to + 1; i-- > span->from;) {
            if (is_integer(code[i]) && rd(code[i])) {
                const unsigned now = ends[i] | follow(code, span, ends, i, met, stack);
                changed |= now != ends[i];
                ends[i] = (uint8_t)now;
            }
        }
    }
    for (uint32_t i = 0; ok && i < words; i++) {
        if (!l->inside[i]) {
            continue;
        }
        const uint32_t opcode = tc_code_opcode(code[i]);
        const bool accesses = opcode == TC_LOAD || opcode == TC_STORE || opcode == TC_ATOMIC;
        l->of[is_floating(code[i])                                                                   ? LOOP_COMPUTE
              : tc_code_is_on_stack(code[i])                                                         ? LOOP_STACK
              : accesses                                                                             ? LOOP_ACCESS
              : is_integer(code[i]) ? ends[i] == ENDS_IN_ADDRESS || !rd(code[i]) ? LOOP_ADDRESS : LOOP_COMPUTE
                                    : LOOP_CONTROL]++;
        l->n++;
    }
    free(ends);
    free(met);
    free(stack);
    return ok;
}

static bool contains(const struct tc_loop *outer, const struct tc_loop *inner)
{
    return outer != inner && outer->from <= inner->from && inner->to <= outer->to;
}

/** Number of loops around a loop. */
static uint32_t depth(const struct tc_loop *spans, uint32_t n, const struct tc_loop *s)
{
    uint32_t d = 0;
    for (uint32_t k = 0; k < n; k++) {
        d += contains(&spans[k], s);
    }
    return d;
}

/** Sets `inside` for a loop without the loops in it. Returns its number of instructions. */
static uint32_t own(const struct tc_loop *spans, uint32_t n, const struct tc_loop *s, bool *inside, uint32_t words)
{
    uint32_t all = 0;
    for (uint32_t i = 0; i < words; i++) {
        inside[i] = i >= s->from && i <= s->to;
        for (uint32_t k = 0; k < n && inside[i]; k++) {
            inside[i] = !contains(s, &spans[k]) || i < spans[k].from || i > spans[k].to;
        }
        all += inside[i];
    }
    return all;
}

bool loop_find(const uint32_t *code, uint32_t words, bool rounds, struct loop *loop)
{
    struct loop l = {.inside = calloc((size_t)words + 1, sizeof *l.inside)};
    struct tc_loop *spans = calloc((size_t)words + 1, sizeof *spans);
    const struct tc_loop *best = NULL;
    uint8_t *scratch = malloc((size_t)words + 1);
    bool ok = l.inside && spans && scratch;
    const uint32_t n = ok ? tc_find_loops(code, words, spans, scratch) : 0;
    uint64_t most = 0;
    for (uint32_t k = 0; k < n; k++) {
        const uint64_t length = spans[k].to - spans[k].from + 1;
        const uint64_t value = rounds ? own(spans, n, &spans[k], l.inside, words)
                                      : (uint64_t)depth(spans, n, &spans[k]) << 32 | length;
        if (value > most) {
            most = value;
            best = &spans[k];
        }
    }
    if (best) {
        own(spans, n, best, l.inside, words);
    }
    for (uint32_t i = 0; ok && !best && i < words; i++) {
        l.inside[i] = true;
    }
    l.whole = !best;
    const struct tc_loop all = {0, words - 1};
    ok = ok && (words == 0 || classify(code, words, best ? best : &all, &l));
    free(scratch);
    free(spans);
    if (ok) {
        *loop = l;
    } else {
        free(l.inside);
    }
    return ok;
}
