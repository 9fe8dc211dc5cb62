/* SPDX-License-Identifier: Apache-2.0 */
/** HW queue, indications, and the packets of a buffer one after another. */
#include "model.h"

#define PACKET_CYCLES 80u /* fetch of a packet from memory */
#define POLL_CYCLES 64u

static bool flag(const struct engine *e, uint32_t mask)
{
    return e->queue[0].flags & mask;
}

void engine_doorbell(struct engine *e)
{
    e->refused = e->queued == HW_QUEUE || e->queued + e->n_ind >= INDICATIONS;
    if (!e->refused) {
        e->queue[e->queued++] = e->regs;
    }
}

void engine_pop(struct engine *e)
{
    if (e->n_ind) {
        e->n_ind--;
        memmove(&e->ind[0], &e->ind[1], e->n_ind * sizeof e->ind[0]);
    }
}

static void indicate(struct engine *e, uint32_t kind, uint64_t begin, const struct fault *f)
{
    struct indication *i = &e->ind[e->n_ind++];
    *i = (struct indication){
        .kind = kind, .offset = e->offset, .fence = e->queue[0].fence, .begin = begin, .end = e->now};
    if (f) {
        i->fault = *f;
    }
    e->queued--;
    e->queue[0] = e->queue[1];
    e->phase = PHASE_IDLE;
}

void engine_preempt(struct engine *e, uint32_t granularity)
{
    e->stopping = e->queued != 0;
    e->granularity = granularity;
}

void engine_reset(struct engine *e)
{
    e->queued = 0;
    e->stopping = false;
    e->phase = PHASE_IDLE;
    e->simt.clean = false;
    simt_reset(e);
    e->now = e->dev->time;
}

static void fault(struct engine *e, struct fault f)
{
    indicate(e, TERN_ENGINE_IND_INFO_KIND_FAULTED, e->begin, &f);
    e->simt.clean = false;
}

static void fault_code(struct engine *e, uint32_t code)
{
    fault(e, (struct fault){.code = code});
}

/** The context-save area is physical. */
static bool save_access(struct engine *e, struct tern_ctx *c, bool write, struct fault *f)
{
    struct space s = {.physical = true}; /* with translations of its own */
    uint32_t w[16] = {0};
    uint64_t pa = (uint64_t)e->queue[0].save * PAGE;
    if (write) {
        return tern_ctx_pack(c, w) == 0 && memory_write(&e->dev->mem, &s, pa, w, sizeof w, f);
    }
    if (!memory_read(&e->dev->mem, &s, pa, w, sizeof w, f)) {
        return false;
    }
    if (tern_ctx_unpack(c, w) || c->magic != TERN_CTX_MAGIC_VALUE || c->state != TERN_CTX_STATE_SAVED ||
        c->executor != TERN_CTX_EXECUTOR_NONE || c->lines) {
        *f = (struct fault){.code = TERN_FAULT_CONTEXT_INVALID};
        return false;
    }
    return true;
}

static void begin(struct engine *e)
{
    const struct submission *s = &e->queue[0];
    e->begin = e->now;
    e->offset = 0;
    if (flag(e, TERN_ENGINE_SUB_FLAGS_NULL_MASK)) {
        indicate(e, TERN_ENGINE_IND_INFO_KIND_COMPLETED, e->begin, NULL);
        return;
    }
    bool paging = flag(e, TERN_ENGINE_SUB_FLAGS_PAGING_MASK);
    if (e->space.root != s->root || e->space.physical != paging) {
        space_flush(&e->space);
    }
    e->space.root = s->root;
    e->space.physical = paging;
    if (s->size == 0 || s->size % LINE || s->buffer % LINE || (paging ? s->buffer >> 34 : s->buffer >> 32)) {
        fault_code(e, TERN_FAULT_BUFFER_MALFORMED);
        return;
    }
    if (flag(e, TERN_ENGINE_SUB_FLAGS_RESUME_MASK)) {
        struct tern_ctx c;
        struct fault f;
        if (!save_access(e, &c, false, &f)) {
            fault(e, f);
            return;
        }
        if (c.offset % LINE || c.offset >= s->size) {
            fault_code(e, TERN_FAULT_CONTEXT_INVALID);
            return;
        }
        e->offset = c.offset;
    }
    e->phase = PHASE_FETCH;
}

/** Stops what runs at this packet boundary, and cancels what waits (P3). */
static void stop(struct engine *e)
{
    struct tern_ctx c = {.magic = TERN_CTX_MAGIC_VALUE, .state = TERN_CTX_STATE_SAVED, .offset = e->offset};
    struct fault f;
    if (e->phase != PHASE_IDLE && !save_access(e, &c, true, &f)) {
        fault(e, f);
    } else if (e->phase != PHASE_IDLE) {
        indicate(e, TERN_ENGINE_IND_INFO_KIND_PREEMPTED, e->begin, NULL);
    }
    while (e->queued) {
        e->offset = 0;
        indicate(e, TERN_ENGINE_IND_INFO_KIND_PREEMPTED, 0, NULL);
    }
    e->stopping = false;
}

/** Reads the packet at the offset and checks what can be checked without running it. */
static bool fetch(struct engine *e, struct fault *f)
{
    const struct submission *s = &e->queue[0];
    uint32_t *w = e->packet;
    memset(w, 0, sizeof e->packet);
    if (!memory_read(&e->dev->mem, &e->space, s->buffer + e->offset, w, LINE, f)) {
        return false;
    }
    *f = (struct fault){0};
    uint32_t opcode = w[0] & 0xffu, lines = tern_pkt_lines(opcode);
    if (!lines) {
        f->code = TERN_FAULT_PACKET_UNKNOWN;
    } else if ((w[0] >> 8 & 0xffu) != lines || w[0] >> 16) {
        f->code = TERN_FAULT_PACKET_RESERVED;
    } else if (opcode >= TERN_PKT_PTE_UPDATE && !e->space.physical) {
        f->code = TERN_FAULT_PACKET_PRIVILEGED;
    } else if (e->offset + lines * LINE > s->size) {
        f->code = TERN_FAULT_BUFFER_MALFORMED;
    }
    if (f->code) {
        return false;
    }
    return lines == 1 || memory_read(&e->dev->mem, &e->space, s->buffer + e->offset + LINE, w + 16, LINE, f);
}

static void next(struct engine *e)
{
    e->offset += (e->packet[0] >> 8 & 0xffu) * LINE;
    e->phase = PHASE_FETCH;
    if (e->offset == e->queue[0].size) {
        indicate(e, TERN_ENGINE_IND_INFO_KIND_COMPLETED, e->begin, NULL);
    }
}

/** fence_signal and timestamp; fence_wait gives its answer in *open. */
static bool fence(struct engine *e, uint32_t opcode, bool *open, struct fault *f)
{
    struct tern_pkt_fence_wait p;
    uint64_t value, now;
    if (tern_pkt_fence_wait_unpack(&p, e->packet)) {
        f->code = TERN_FAULT_PACKET_RESERVED;
        return false;
    }
    uint64_t address = p.address_lo | (uint64_t)p.address_hi << 32;
    if (address % 8 || (p.address_hi && !e->space.physical)) {
        f->code = TERN_FAULT_PACKET_BOUNDS;
        return false;
    }
    value = opcode == TERN_PKT_TIMESTAMP ? e->now : p.value_lo | (uint64_t)p.value_hi << 32;
    *open = true;
    if (opcode != TERN_PKT_FENCE_WAIT) {
        return memory_write(&e->dev->mem, &e->space, address, &value, 8, f);
    }
    if (!memory_read(&e->dev->mem, &e->space, address, &now, 8, f)) {
        return false;
    }
    *open = now >= value;
    return true;
}

static uint64_t user_call(struct engine *e, uint64_t budget, bool *done, struct fault *f)
{
    struct tern_pkt_user_call p;
    if (tern_pkt_user_call_unpack(&p, e->packet)) {
        f->code = TERN_FAULT_PACKET_RESERVED;
        return 0;
    }
    if (p.executor != 0) {
        f->code = TERN_FAULT_PACKET_BOUNDS;
        return 0;
    }
    uint32_t n = p.payload[0], bad = p.payload[2] % 4 ? p.payload[2] : p.payload[3] % 4 ? p.payload[3] : 0;
    if (bad || n >> 30) {
        *f = (struct fault){.code = TERN_FAULT_EXECUTOR, .va = bad};
        return 0;
    }
    uint64_t cycles = 0;
    for (uint32_t part; !(*done = e->at.x == n) && cycles < budget; e->at.x += part, cycles += part) {
        uint32_t xa = p.payload[2] + 4 * e->at.x, ya = p.payload[3] + 4 * e->at.x, left = n - e->at.x;
        uint32_t x[LINE / 4], y[LINE / 4]; /* a line of y is written when all its elements have been read */
        part = (LINE - ya % LINE) / 4 < left ? (LINE - ya % LINE) / 4 : left;
        for (uint32_t i = 0; i < part; i++) {
            uint8_t fl = 0;
            if (!memory_read(&e->dev->mem, &e->space, (uint32_t)(xa + 4 * i), &x[i], 4, f) ||
                !memory_read(&e->dev->mem, &e->space, ya + 4 * i, &y[i], 4, f)) {
                return cycles;
            }
            y[i] = fp_exact(FP_FMA, p.payload[1], x[i], y[i], 0, &fl);
        }
        if (!memory_write(&e->dev->mem, &e->space, ya, y, 4ull * part, f)) {
            return cycles;
        }
    }
    return cycles;
}

/** Runs the packet that was fetched; cycles taken. */
static uint64_t run_packet(struct engine *e, uint64_t budget)
{
    uint32_t opcode = e->packet[0] & 0xffu;
    struct fault f = {0};
    uint64_t cycles = 0;
    bool done = true;
    switch (opcode) {
    case TERN_PKT_DISPATCH:
        cycles = simt_run(e, budget, &done, &f);
        break;
    case TERN_PKT_FENCE_WAIT:
    case TERN_PKT_FENCE_SIGNAL:
    case TERN_PKT_TIMESTAMP:
        cycles = POLL_CYCLES;
        if (!fence(e, opcode, &done, &f)) {
            done = true;
        }
        break;
    case TERN_PKT_USER_CALL:
        cycles = user_call(e, budget, &done, &f);
        break;
    case TERN_PKT_NOP:
        break;
    case TERN_PKT_BARRIER:
        block_flush(e);
        break;
    default:
        cycles = mover_run(e, e->packet, budget, &done, &f);
        break;
    }
    e->now += cycles;
    if (f.code) {
        fault(e, f);
    } else if (done) {
        next(e);
    }
    return cycles;
}

/** Reserved bits and bounds of the packet; starts a dispatch. */
static uint32_t check(struct engine *e)
{
    uint32_t opcode = e->packet[0] & 0xffu;
    if (opcode == TERN_PKT_DISPATCH) {
        struct tern_pkt_dispatch p;
        if (tern_pkt_dispatch_unpack(&p, e->packet)) {
            return TERN_FAULT_PACKET_RESERVED;
        }
        uint32_t code = simt_check(&p);
        if (!code) {
            simt_start(e, e->packet);
        }
        return code;
    }
    for (int i = 1; (opcode == TERN_PKT_NOP || opcode == TERN_PKT_BARRIER) && i < 16; i++) {
        if (e->packet[i]) {
            return TERN_FAULT_PACKET_RESERVED;
        }
    }
    for (int i = 3; opcode == TERN_PKT_TIMESTAMP && i < 16; i++) {
        if (e->packet[i]) {
            return TERN_FAULT_PACKET_RESERVED;
        }
    }
    return TERN_FAULT_NONE;
}

void engine_run(struct engine *e, uint64_t end)
{
    uint64_t start = e->now;
    while (e->queued && e->now < end) {
        struct fault f;
        uint32_t opcode = e->packet[0] & 0xffu;
        bool cut = e->phase == PHASE_IDLE || (e->granularity != TERN_ENGINE_COMMAND_GRANULARITY_BUFFER &&
                                              (e->phase == PHASE_FETCH || opcode == TERN_PKT_FENCE_WAIT));
        if (e->stopping && cut) {
            stop(e);
        } else if (e->phase == PHASE_IDLE) {
            begin(e);
        } else if (e->phase == PHASE_FETCH) {
            e->now += PACKET_CYCLES;
            if (!fetch(e, &f)) {
                fault(e, f);
            } else {
                uint32_t code = check(e);
                e->phase = PHASE_WAIT;
                memset(&e->at, 0, sizeof e->at);
                if (code) {
                    fault_code(e, code);
                }
            }
        } else {
            run_packet(e, end - e->now);
        }
    }
    e->stopping = e->stopping && e->queued;
    e->count.busy += e->now - start;
    if (e->now < end) {
        e->now = end;
    }
}
