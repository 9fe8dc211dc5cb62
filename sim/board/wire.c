/* SPDX-License-Identifier: Apache-2.0 */
#include "wire.h"

/** Returns the next number of the generator splitmix64. */
static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static bool wrong(struct wire *w)
{
    const bool hit = w->noise && next(&w->random) % w->noise == 0;
    w->flipped += hit;
    return hit;
}

/** Runs a cycle. Returns whether a bit begins in it. */
static bool tick(struct wire *w)
{
    w->phase += w->baud;
    if (w->phase < w->clock_hz) {
        return false;
    }
    w->phase -= w->clock_hz;
    return true;
}

bool wire_send(struct wire *w, bool there, uint8_t byte, bool *taken)
{
    *taken = false;
    const bool end = w->busy && tick(w);
    if (end) {
        w->bits++;
        w->shift >>= 1;
        w->flip = wrong(w);
        w->busy = w->bits < 10;
    }
    if (!w->busy && there) {
        w->shift = (uint16_t)(byte << 1 | 0x200);
        w->bits = 0;
        w->busy = *taken = true;
        w->phase = end ? w->phase : 0;
        w->flip = wrong(w);
        w->bytes++;
    }
    return w->busy ? (w->shift & 1) != w->flip : true;
}

bool wire_receive(struct wire *w, bool level, uint8_t *byte)
{
    if (!w->busy) {
        w->busy = !level && w->level;
        w->bits = 0;
        w->phase = w->clock_hz / 2;
    } else if (tick(w)) {
        w->shift = (uint16_t)(w->shift >> 1 | (level != wrong(w) ? 0x200 : 0));
        w->busy = ++w->bits < 10;
        if (!w->busy) {
            *byte = (uint8_t)(w->shift >> 1);
            w->bytes++;
        }
        w->level = level;
        return !w->busy;
    }
    w->level = level;
    return false;
}
