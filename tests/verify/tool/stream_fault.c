/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Packets that fault on purpose. Each has exactly one error, since it is open which of two is reported.
 *
 * Memory faults need no special care: a packet whose operand is drawn from bad places is admitted like any other.
 */
#include <string.h>

#include "stream.h"

/** Emits a packet that faults before it has any effect. */
static void put(struct buffer *b, const uint32_t *w, uint32_t lines)
{
    struct packet p = {.lines = lines, .faults = true};
    stream_admit(b, &p, true);
    stream_emit(b, w, lines);
}

static int unpack(const uint32_t *w)
{
    union {
        struct tern_pkt_nop nop;
        struct tern_pkt_dispatch dispatch;
        struct tern_pkt_copy copy;
        struct tern_pkt_fill fill;
        struct tern_pkt_fence_signal signal;
        struct tern_pkt_fence_wait wait;
        struct tern_pkt_timestamp timestamp;
        struct tern_pkt_barrier barrier;
        struct tern_pkt_user_call user_call;
        struct tern_pkt_pte_update pte_update;
        struct tern_pkt_pte_copy pte_copy;
        struct tern_pkt_tlb_flush tlb_flush;
        struct tern_pkt_context_init context_init;
    } u;
    switch (w[0] & TERN_PKT_OPCODE_MASK) {
    case TERN_PKT_NOP:
        return tern_pkt_nop_unpack(&u.nop, w);
    case TERN_PKT_DISPATCH:
        return tern_pkt_dispatch_unpack(&u.dispatch, w);
    case TERN_PKT_COPY:
        return tern_pkt_copy_unpack(&u.copy, w);
    case TERN_PKT_FILL:
        return tern_pkt_fill_unpack(&u.fill, w);
    case TERN_PKT_FENCE_SIGNAL:
        return tern_pkt_fence_signal_unpack(&u.signal, w);
    case TERN_PKT_FENCE_WAIT:
        return tern_pkt_fence_wait_unpack(&u.wait, w);
    case TERN_PKT_TIMESTAMP:
        return tern_pkt_timestamp_unpack(&u.timestamp, w);
    case TERN_PKT_BARRIER:
        return tern_pkt_barrier_unpack(&u.barrier, w);
    case TERN_PKT_USER_CALL:
        return tern_pkt_user_call_unpack(&u.user_call, w);
    case TERN_PKT_PTE_UPDATE:
        return tern_pkt_pte_update_unpack(&u.pte_update, w);
    case TERN_PKT_PTE_COPY:
        return tern_pkt_pte_copy_unpack(&u.pte_copy, w);
    case TERN_PKT_TLB_FLUSH:
        return tern_pkt_tlb_flush_unpack(&u.tlb_flush, w);
    default:
        return tern_pkt_context_init_unpack(&u.context_init, w);
    }
}

/** Draws a well-formed packet of any opcode that the buffer may have. */
static void draw(struct buffer *b, struct rng *r, uint32_t item, struct packet *p)
{
    stream_draw(b, r, item, stream_opcodes[rng_below(r, b->paging ? 13 : 9)], AIM_GOOD, p);
}

/** A packet with a wrong header. Two nops behind it make the buffer long enough for any length that the header
 * claims. */
static void wrong_header(struct buffer *b, struct rng *r, uint32_t item)
{
    struct packet p;
    uint32_t lines = rng_below(r, 256), opcode;
    draw(b, r, item, &p);
    switch (rng_below(r, 3)) {
    case 0:
        do {
            opcode = rng_one_in(r, 2) ? rng_below(r, 256) : stream_opcodes[rng_below(r, 13)] ^ 1u << rng_below(r, 8);
        } while (tern_pkt_lines(opcode));
        p.w[0] = (p.w[0] & ~TERN_PKT_OPCODE_MASK) | opcode;
        break;
    case 1:
        lines = rng_one_in(r, 2) ? 3 - p.lines : lines;
        lines = lines == p.lines ? 0 : lines;
        p.w[0] = (p.w[0] & ~TERN_PKT_LINES_MASK) | lines << 8;
        break;
    default:
        p.w[0] |= 1u << (16 + rng_below(r, 16));
        break;
    }
    put(b, p.w, p.lines);
    stream_nop(b);
    stream_nop(b);
}

static void reserved(struct buffer *b, struct rng *r, uint32_t item)
{
    struct packet p;
    draw(b, r, item, &p);
    for (;;) {
        uint32_t w[32], bit = 32 + rng_below(r, p.lines * LINE * 8 - 32);
        memcpy(w, p.w, sizeof w);
        w[bit / 32] ^= 1u << bit % 32;
        if (unpack(w)) {
            put(b, w, p.lines);
            return;
        }
    }
}

static void privileged(struct buffer *b, struct rng *r, uint32_t item)
{
    struct packet p;
    stream_draw(b, r, item, stream_opcodes[9 + rng_below(r, 4)], AIM_GOOD, &p);
    put(b, p.w, p.lines);
}

/** Makes the address in words 1 and 2, which most packets have, unaligned or, if virtual, sets high bits of it. */
static void wrong_address(const struct buffer *b, struct rng *r, uint32_t *w)
{
    if (b->paging || rng_one_in(r, 2)) {
        w[1] += 1 + rng_below(r, 7);
    } else {
        w[2] = 1 + rng_below(r, 3);
    }
}

/** Entries of a table: none, too many, beyond the table's end, or unaligned. */
static void wrong_entries(struct rng *r, uint32_t *address, uint32_t *count)
{
    switch (rng_below(r, 4)) {
    case 0:
        *count = 0;
        break;
    case 1:
        *count = 1025 + rng_below(r, 1023);
        break;
    case 2:
        *count = *count == 1 ? 2 : *count;
        *address = (*address & ~(PAGE - 1)) + PAGE - 4 * (*count - 1);
        break;
    default:
        *address += 1 + rng_below(r, 3);
        break;
    }
}

static void bounds(struct buffer *b, struct rng *r, uint32_t item)
{
    static const uint8_t user[] = {TERN_PKT_COPY, TERN_PKT_FILL, TERN_PKT_FENCE_SIGNAL, TERN_PKT_FENCE_WAIT,
                                   TERN_PKT_TIMESTAMP, TERN_PKT_USER_CALL};
    static const uint8_t paging[] = {TERN_PKT_FENCE_SIGNAL, TERN_PKT_FENCE_WAIT, TERN_PKT_TIMESTAMP, TERN_PKT_USER_CALL,
                                     TERN_PKT_PTE_UPDATE, TERN_PKT_PTE_COPY, TERN_PKT_TLB_FLUSH};
    struct packet p;
    uint32_t opcode = b->paging ? paging[rng_below(r, sizeof paging)] : user[rng_below(r, sizeof user)];
    stream_draw(b, r, item, opcode, AIM_GOOD, &p);
    switch (opcode) {
    case TERN_PKT_COPY:
        p.w[2 + 2 * rng_below(r, 2)] = 1 + rng_below(r, 3);
        break;
    case TERN_PKT_FILL:
        p.w[2] = 1 + rng_below(r, 3);
        break;
    case TERN_PKT_USER_CALL:
        p.w[1] = 1 + rng_below(r, 255);
        break;
    case TERN_PKT_PTE_UPDATE:
        wrong_entries(r, &p.w[1], &p.w[3]);
        break;
    case TERN_PKT_PTE_COPY:
        wrong_entries(r, &p.w[1 + 2 * rng_below(r, 2)], &p.w[5]);
        break;
    case TERN_PKT_TLB_FLUSH:
        p.w[1] = 1;
        p.w[2 + rng_below(r, 3)] |= 1u << rng_below(r, 20);
        break;
    default:
        wrong_address(b, r, p.w);
        break;
    }
    put(b, p.w, p.lines);
}

/** The buffer ends in the middle of a packet. */
static void cut(struct buffer *b, struct rng *r, uint32_t item)
{
    static const uint8_t two[] = {TERN_PKT_DISPATCH, TERN_PKT_FILL, TERN_PKT_USER_CALL};
    struct packet p;
    stream_draw(b, r, item, two[rng_below(r, 3)], AIM_GOOD, &p);
    if (b->skipped) { /* something must be left to resume */
        stream_nop(b);
        return;
    }
    put(b, p.w, 1);
    b->closed = true;
}

static void wrong_dispatch(struct buffer *b, struct rng *r, uint32_t item)
{
    const struct geometry *g = b->st->g;
    struct tern_pkt_dispatch d;
    struct packet p;
    stream_dispatch(b, r, item, AIM_GOOD, &d, &p);
    uint32_t *const groups[3] = {&d.groups_x, &d.groups_y, &d.groups_z},
        *const global[3] = {&d.global_x, &d.global_y, &d.global_z};
    uint32_t *const edge[3] = {&d.edge_x, &d.edge_y, &d.edge_z}, *const local[3] = {&d.local_x, &d.local_y, &d.local_z};
    uint32_t dimension = rng_below(r, 3);
    switch (rng_below(r, 16)) {
    case 0:
        d.work_dim = 0;
        break;
    case 1:
        d.group_warps = rng_one_in(r, 2) ? d.group_warps - 1 : d.group_warps + 1;
        break;
    case 2:
        d.group_slots = 0;
        break;
    case 3:
        d.group_slots = g->warps / d.group_warps + 1;
        break;
    case 4:
        d.stack_log2 = rng_one_in(r, 2) ? rng_below(r, 6) : 21 + rng_below(r, 11);
        break;
    case 5:
        *global[dimension] = rng_one_in(r, 2) ? 0 : *global[dimension] + 1;
        break;
    case 6:
        *groups[dimension] = rng_one_in(r, 2) ? 0 : *groups[dimension] + 1;
        break;
    case 7:
        *groups[dimension] ^= 1u << rng_below(r, 32);
        break;
    case 8:
        *edge[dimension] = rng_one_in(r, 2) ? 0 : *edge[dimension] + 1;
        break;
    case 9:
        *local[dimension] = 0;
        break;
    case 10: /* the edge of a range that would be right, but larger than a group */
        *edge[dimension] = *local[dimension] + 1;
        *global[dimension] = *groups[dimension] * *local[dimension] + 1;
        break;
    case 11:
        d.local_bytes += 1u << rng_below(r, 6);
        break;
    case 12:
        d.group_slots = 1;
        d.local_bytes = g->local_bytes + 64;
        break;
    case 13:
        d.stack += 1u << rng_below(r, 6);
        break;
    case 14:
        d.entry += 1 + rng_below(r, 3);
        break;
    default: /* a group larger than the device */
        d.local_x = 2047, d.groups_x = 1, d.edge_x = d.global_x = 2047;
        d.group_warps = (d.local_x * d.local_y * d.local_z + g->lanes - 1) / g->lanes & 255u;
        break;
    }
    int bad = tern_pkt_dispatch_pack(&d, p.w);
    b->st->error = b->st->error ? b->st->error : bad;
    put(b, p.w, p.lines);
}

/** Arguments that the example executor refuses. */
static void wrong_arguments(struct buffer *b, struct rng *r, uint32_t item)
{
    struct packet p;
    stream_draw(b, r, item, TERN_PKT_USER_CALL, AIM_GOOD, &p);
    if (rng_one_in(r, 3)) {
        p.w[16] = 1u << 30 | rng_next(r);
    } else {
        p.w[18 + rng_below(r, 2)] += 1 + rng_below(r, 3);
    }
    put(b, p.w, p.lines);
}

static void memory_fault(struct buffer *b, struct rng *r, uint32_t item)
{
    static const uint8_t opcodes[] = {TERN_PKT_COPY, TERN_PKT_COPY, TERN_PKT_FILL, TERN_PKT_FILL, TERN_PKT_FENCE_SIGNAL,
                                      TERN_PKT_FENCE_WAIT, TERN_PKT_TIMESTAMP, TERN_PKT_USER_CALL, TERN_PKT_USER_CALL,
                                      TERN_PKT_DISPATCH, TERN_PKT_DISPATCH, TERN_PKT_COPY, TERN_PKT_PTE_UPDATE,
                                      TERN_PKT_PTE_COPY, TERN_PKT_CONTEXT_INIT};
    stream_put(b, r, item, opcodes[rng_below(r, b->paging ? 15 : 12)], AIM_WILD);
}

void stream_fault(struct buffer *b, struct rng *r, uint32_t item)
{
    switch (rng_below(r, 20)) {
    case 0:
    case 1:
        wrong_header(b, r, item);
        break;
    case 2:
        reserved(b, r, item);
        break;
    case 3:
        (b->paging ? reserved : privileged)(b, r, item);
        break;
    case 4:
    case 5:
        bounds(b, r, item);
        break;
    case 6:
        cut(b, r, item);
        break;
    case 7:
    case 8:
        wrong_dispatch(b, r, item);
        break;
    case 9:
        wrong_arguments(b, r, item);
        break;
    default:
        memory_fault(b, r, item);
        break;
    }
}
