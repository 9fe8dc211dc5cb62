/* SPDX-License-Identifier: Apache-2.0 */
/** The plan of a case of kind STREAM, made before any item is drawn: its buffers, their kinds, and how many items each
 * has. */
#include "stream.h"

static enum buffer_kind draw_kind(struct rng *r, bool faulty, bool stopped, uint32_t mails)
{
    uint32_t k = rng_below(r, 32);
    return k < 2                    ? BUFFER_NULL
           : k < 6 && mails < MAILS ? BUFFER_RENDEZVOUS
           : k < 8 && faulty        ? BUFFER_MALFORMED
           : k < 10 && faulty       ? BUFFER_NO_CONTEXT
           : k < 13                 ? BUFFER_PROBE
           : k < 16 && stopped      ? BUFFER_GATE
           : k < 20                 ? BUFFER_PAGING
                                    : BUFFER_USER;
}

/** Draws the number of buffers: mostly few, sometimes many. In some cases there are many short buffers that end in
 * faults. */
static uint32_t draw_buffers(struct rng *r, bool sweep)
{
    return sweep ? 8 + rng_below(r, 17) : rng_one_in(r, 32) ? 20 + rng_below(r, BUFFERS - 19) : 2 + rng_below(r, 8);
}

struct plan stream_plan(uint64_t seed, uint32_t engines)
{
    struct rng r = rng_of(seed, RNG_PLAN);
    bool faulty = rng_one_in(&r, 3), sweep = faulty && rng_one_in(&r, 2);
    struct plan p = {.faults = sweep ? 16 : faulty ? 6 : 0};
    uint32_t stop = 150u << rng_below(&r, 5), mails = 0;
    p.stop_every = rng_one_in(&r, 4) ? stop : 0;
    p.buffers = draw_buffers(&r, sweep);
    for (uint32_t i = 0; i < p.buffers; i++) {
        enum buffer_kind kind = draw_kind(&r, faulty, p.stop_every, mails);
        bool many = kind == BUFFER_USER || kind == BUFFER_PAGING;
        uint32_t items = sweep ? 1 + rng_below(&r, 3) : rng_one_in(&r, 5) ? 1 + rng_below(&r, PER_BUFFER)
                                                                          : 1 + rng_below(&r, 4);
        p.buffer[i].kind = kind;
        p.buffer[i].engine = rng_below(&r, ENGINES) % engines;
        p.buffer[i].first = p.items;
        p.buffer[i].items = many ? items : 1;
        p.buffer[i].mail = kind == BUFFER_RENDEZVOUS ? mails++ : 0;
        p.items += p.buffer[i].items;
    }
    p.items += faulty; /* other_roots */
    return p;
}

uint32_t stream_items(uint64_t seed, const struct geometry *g)
{
    return stream_plan(seed, g->engines).items;
}
