/* SPDX-License-Identifier: Apache-2.0 */
/** HW queue, indications, and the execution of the packets of a buffer. */
#include "model.h"

#define PACKET_CYCLES 80u /* cycles to fetch a packet from memory */
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
    e->absent = (struct fault){0};
}

void engine_preempt(struct engine *e, uint32_t granularity)
{
    if (!engine_stops(e, granularity)) { /* a later request can only be finer */
        e->granularity = granularity;
    }
    e->stopping = e->queued != 0;
}

void engine_reset(struct engine *e)
{
    e->queued = 0;
    e->stopping = false;
    e->absent = (struct fault){0};
    e->phase = PHASE_IDLE;
    e->simt.clean = false;
    space_flush(&e->space); /* the driver may change page tables before it submits again */
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

static void begin(struct engine *e)
{
    const struct submission *s = &e->queue[0];
    e->begin = e->now;
    e->offset = 0;
    e->resume = (struct tern_ctx){.executor = TERN_CTX_EXECUTOR_NONE};
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
        struct fault f = {0};
        if (!context_load(e, &e->resume, &f)) {
            fault(e, f);
            return;
        }
        if (e->resume.offset % LINE || e->resume.offset >= s->size) {
            fault_code(e, TERN_FAULT_CONTEXT_INVALID);
            return;
        }
        e->offset = e->resume.offset;
    }
    e->phase = PHASE_FETCH;
}

/** Returns whether the running buffer can be cut at its present state. */
static bool at_cut(const struct engine *e)
{
    if (e->phase == PHASE_IDLE || e->phase == PHASE_FETCH || (e->packet[0] & 0xffu) == TERN_PKT_FENCE_WAIT) {
        return e->phase == PHASE_IDLE || engine_stops(e, TERN_ENGINE_COMMAND_GRANULARITY_PACKET);
    }
    switch (context_executor(e->packet[0] & 0xffu)) {
    case TERN_CTX_EXECUTOR_SIMT:
        return engine_stops(e, TERN_ENGINE_COMMAND_GRANULARITY_INSTRUCTION) ||
               (engine_stops(e, TERN_ENGINE_COMMAND_GRANULARITY_GROUP) && !e->simt.groups_running);
    case TERN_CTX_EXECUTOR_NONE:
        return false;
    default:
        return engine_stops(e, TERN_ENGINE_COMMAND_GRANULARITY_GROUP);
    }
}

/** Saves the state of the running buffer, and adds the cycles of the save to the engine's time. */
static void cut(struct engine *e)
{
    struct fault f = {0};
    e->now += SAVE_CYCLES + context_save(e, &f);
    e->phase = PHASE_SAVED;
    if (f.code) {
        fault(e, f);
    }
}

/** Indicates the buffer that was cut, and cancels those that wait (P3). */
static void stop(struct engine *e)
{
    if (e->phase == PHASE_SAVED) {
        const struct fault absent = e->absent;
        indicate(e, TERN_ENGINE_IND_INFO_KIND_PREEMPTED, e->begin, &absent);
    }
    while (e->queued) {
        e->offset = 0;
        indicate(e, TERN_ENGINE_IND_INFO_KIND_PREEMPTED, 0, NULL);
    }
    e->stopping = false;
}

/** Fetches the packet at the offset, and makes the checks that need no execution. */
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
    if (!lines || (opcode == TERN_PKT_DISPATCH && !SIMT)) {
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

/** Runs fence_signal, timestamp or fence_wait. *open: a fence_wait is satisfied. */
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

/** Stops the engine for a page request, like a request to stop at instruction granularity. */
static void stop_for_page(struct engine *e)
{
    if (e->absent.code) {
        engine_preempt(e, TERN_ENGINE_COMMAND_GRANULARITY_INSTRUCTION);
    }
}

/** Runs the fetched packet. Returns the cycles taken. */
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
        cycles = executor_run(e, budget, &done, &f);
        break;
    case TERN_PKT_NOP:
        break;
    case TERN_PKT_BARRIER:
        block_flush(e);
        break;
    case TERN_PKT_COPY:
    case TERN_PKT_FILL:
    case TERN_PKT_PTE_COPY:
        cycles = mover_run(e, budget, &done, &f);
        break;
    default:
        cycles = paging_run(e, &f);
        break;
    }
    e->now += cycles;
    if (f.code) {
        fault(e, f);
    } else if (done) {
        next(e);
    }
    stop_for_page(e);
    return cycles;
}

/** Starts an executor, or resumes it. */
static void start(struct engine *e, uint32_t executor, struct fault *f)
{
    struct lines lines = {.e = e, .page = e->queue[0].save, .next = 1, .end = 1 + e->resume.lines, .f = f};
    struct lines *state = e->resume.executor == TERN_CTX_EXECUTOR_NONE ? NULL : &lines;
    if (state && e->resume.executor != executor) {
        f->code = TERN_FAULT_CONTEXT_INVALID;
    } else if (executor == TERN_CTX_EXECUTOR_SIMT) {
        simt_start(e, state, f);
    } else if (executor == TERN_CTX_EXECUTOR_MOVER) {
        mover_start(e, state, f);
    } else if (executor == TERN_CTX_EXECUTOR_USER) {
        executor_start(e, state, f);
    }
    e->now += state ? SAVE_CYCLES + e->resume.lines : 0;
    e->resume.executor = TERN_CTX_EXECUTOR_NONE;
}

/** Checks reserved bits and bounds of the packet, and starts its executor. */
static void check(struct engine *e)
{
    uint32_t opcode = e->packet[0] & 0xffu;
    struct fault f = {0};
    bool plain = opcode == TERN_PKT_NOP || opcode == TERN_PKT_BARRIER;
    for (int i = plain ? 1 : 3; (plain || opcode == TERN_PKT_TIMESTAMP) && i < 16; i++) {
        f.code = e->packet[i] ? TERN_FAULT_PACKET_RESERVED : f.code;
    }
    if (!f.code) {
        start(e, context_executor(opcode), &f);
    }
    e->phase = PHASE_RUN;
    if (f.code) {
        fault(e, f);
    }
    stop_for_page(e);
}

void engine_run(struct engine *e, uint64_t end)
{
    uint64_t start = e->now;
    while (e->queued && e->now < end) {
        struct fault f;
        if (e->phase == PHASE_SAVED || (e->stopping && e->phase == PHASE_IDLE)) {
            stop(e);
        } else if (e->stopping && at_cut(e)) {
            cut(e);
        } else if (e->phase == PHASE_IDLE) {
            begin(e);
        } else if (e->phase == PHASE_FETCH) {
            e->now += PACKET_CYCLES;
            if (fetch(e, &f)) {
                check(e);
            } else {
                fault(e, f);
            }
        } else {
            device_arithmetic(e->dev);
            run_packet(e, end - e->now);
        }
    }
    e->stopping = e->stopping && e->queued;
    e->count.busy += e->now - start;
    if (e->now < end) {
        e->now = end;
    }
}
