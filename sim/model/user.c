/* SPDX-License-Identifier: Apache-2.0 */
/** The shipped user executor, saxpy_stream: y[i] += a * x[i], in order, a line of y at a time. */
#include "model.h"

enum { ARG_COUNT, ARG_A, ARG_X, ARG_Y };

static const uint32_t *arguments(const struct engine *e)
{
    return &e->packet[16];
}

void user_start(struct engine *e, struct lines *state, struct fault *f)
{
    struct tern_pkt_user_call p;
    struct tern_ctx_user_state s = {0};
    uint32_t line[16];
    if (tern_pkt_user_call_unpack(&p, e->packet)) {
        f->code = TERN_FAULT_PACKET_RESERVED;
        return;
    }
    if (p.executor != 0) {
        f->code = TERN_FAULT_PACKET_BOUNDS;
        return;
    }
    uint32_t n = p.payload[ARG_COUNT], x = p.payload[ARG_X], y = p.payload[ARG_Y], bad = x % 4 ? x : y % 4 ? y : 0;
    if (bad || n >> 30) {
        *f = (struct fault){.code = TERN_FAULT_EXECUTOR, .va = bad};
        return;
    }
    if (state) {
        lines_get(state, line);
        if (tern_ctx_user_state_unpack(&s, line) || s.done > n) {
            f->code = f->code ? f->code : TERN_FAULT_CONTEXT_INVALID;
        }
    }
    e->user_done = s.done;
}

uint64_t user_run(struct engine *e, uint64_t budget, bool *done, struct fault *f)
{
    const uint32_t *p = arguments(e);
    uint64_t cycles = 0;
    for (uint32_t part; !(*done = e->user_done == p[ARG_COUNT]) && cycles < budget; e->user_done += part,
         cycles += part) {
        uint32_t xa = p[ARG_X] + 4 * e->user_done, ya = p[ARG_Y] + 4 * e->user_done, left = p[ARG_COUNT] - e->user_done;
        uint32_t x[LINE / 4], y[LINE / 4]; /* a line of y is written when all its elements have been read */
        part = (LINE - ya % LINE) / 4 < left ? (LINE - ya % LINE) / 4 : left;
        for (uint32_t i = 0; i < part; i++) {
            uint8_t fl = 0;
            if (!memory_read(&e->dev->mem, &e->space, (uint32_t)(xa + 4 * i), &x[i], 4, f) ||
                !memory_read(&e->dev->mem, &e->space, ya + 4 * i, &y[i], 4, f)) {
                return cycles;
            }
            y[i] = fp_exact(FP_FMA, p[ARG_A], x[i], y[i], 0, &fl);
        }
        if (!memory_write(&e->dev->mem, &e->space, ya, y, 4ull * part, f)) {
            return cycles;
        }
    }
    return cycles;
}

void user_save(const struct engine *e, struct lines *state)
{
    uint32_t line[16];
    tern_ctx_user_state_pack(&(struct tern_ctx_user_state){.done = e->user_done}, line);
    lines_put(state, line);
}
