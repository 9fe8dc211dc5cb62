/* SPDX-License-Identifier: Apache-2.0 */
/** splitmix64: a counter through a mixing function. All seeds are equally good, and streams of neighbouring seeds are
 *  independent, unlike those of a linear generator. */
#include "verify.h"

static uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

struct rng rng_of(uint64_t seed, uint64_t stream)
{
    return (struct rng){.state = mix(mix(seed + 0x9e3779b97f4a7c15ull) + stream)};
}

uint32_t rng_next(struct rng *r)
{
    r->state += 0x9e3779b97f4a7c15ull;
    return (uint32_t)(mix(r->state) >> 32);
}

uint32_t rng_below(struct rng *r, uint32_t n)
{
    return (uint32_t)((uint64_t)rng_next(r) * n >> 32);
}

bool rng_one_in(struct rng *r, uint32_t n)
{
    return rng_below(r, n) == 0;
}
