/* SPDX-License-Identifier: Apache-2.0 */
/** The memory model. A beat, read or write, takes DRAM_BEAT units of a budget that grows by `bandwidth` each cycle. */
#include "dram.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define SLOTS 512u /* answers under way in each direction */
#define OKAY 0u
#define SLVERR 2u
#define DECERR 3u

/** An answer that is due at some time; a burst of reads is one entry a beat. */
struct entry {
    uint64_t due, address;
    uint32_t id;
    uint8_t resp;
    bool last;
};

/** Entries in order of arrival. `pick` is the index of the one offered, when `offered`. */
struct queue {
    struct entry e[SLOTS];
    uint32_t n, pick;
    bool offered;
};

struct dram {
    struct dram_config c;
    uint8_t *memory;
    uint64_t now;
    uint32_t budget, random;
    bool write_turn, read_in_this_cycle; /* after a read beat, a write that waits goes first */
    struct queue r, b, aw; /* aw: bursts whose data is still to come */
    uint32_t aw_beats[SLOTS], w_done;
    uint8_t zeros[DRAM_BEAT];
};

struct dram *dram_create(const struct dram_config *config)
{
    struct dram *d = calloc(1, sizeof *d);
    if (!d) {
        return NULL;
    }
    void *p = mmap(NULL, config->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) {
        free(d);
        return NULL;
    }
    d->c = *config;
    d->memory = p;
    d->random = config->reorder_seed;
    d->budget = DRAM_BEAT;
    return d;
}

void dram_destroy(struct dram *d)
{
    if (d) {
        munmap(d->memory, d->c.bytes);
        free(d);
    }
}

uint8_t *dram_memory(struct dram *d)
{
    return d->memory;
}

static uint8_t response(const struct dram *d, uint64_t address)
{
    if (address >= d->c.bytes) {
        return DECERR;
    }
    return address - d->c.error_base < d->c.error_bytes ? SLVERR : OKAY;
}

static void push(struct queue *q, const struct entry *e)
{
    q->e[q->n++] = *e;
}

static void take(struct queue *q)
{
    q->n--;
    memmove(&q->e[q->pick], &q->e[q->pick + 1], (q->n - q->pick) * sizeof q->e[0]);
    q->offered = false;
}

static uint32_t next_random(struct dram *d)
{
    d->random = d->random * 1664525u + 1013904223u;
    return d->random >> 8;
}

/** No earlier entry of the same id stands before entry i. */
static bool first_of_id(const struct queue *q, uint32_t i)
{
    for (uint32_t k = 0; k < i; k++) {
        if (q->e[k].id == q->e[i].id) {
            return false;
        }
    }
    return true;
}

/** Chooses the answer to offer: the oldest, or with a seed any due one that its id allows. */
static bool offer(struct dram *d, struct queue *q)
{
    if (q->offered || q->n == 0 || q->e[0].due > d->now) {
        return q->offered;
    }
    q->pick = 0;
    if (d->c.reorder_seed) {
        uint32_t due = 0;
        while (due < q->n && q->e[due].due <= d->now) {
            due++;
        }
        uint32_t i = next_random(d) % due;
        q->pick = first_of_id(q, i) ? i : 0;
    }
    q->offered = true;
    return true;
}

bool dram_ar_ready(const struct dram *d)
{
    return d->r.n < SLOTS - 256;
}

bool dram_aw_ready(const struct dram *d)
{
    return d->aw.n < SLOTS && d->b.n + d->aw.n < SLOTS;
}

bool dram_w_ready(const struct dram *d)
{
    return d->aw.n != 0 && d->budget >= DRAM_BEAT && !d->r.offered;
}

void dram_ar(struct dram *d, uint32_t id, uint64_t address, uint32_t beats)
{
    for (uint32_t i = 0; i < beats; i++) {
        uint64_t a = address + (uint64_t)i * DRAM_BEAT;
        struct entry e = {
            .due = d->now + d->c.latency, .address = a, .id = id, .resp = response(d, a), .last = i + 1 == beats};
        push(&d->r, &e);
    }
}

void dram_aw(struct dram *d, uint32_t id, uint64_t address, uint32_t beats)
{
    struct entry e = {.address = address, .id = id};
    d->aw_beats[d->aw.n] = beats;
    push(&d->aw, &e);
}

static void store(uint8_t *p, const uint8_t *data, uint64_t strobe)
{
    if (strobe == UINT64_MAX) {
        memcpy(p, data, DRAM_BEAT);
        return;
    }
    for (uint32_t i = 0; strobe; i++, strobe >>= 1) {
        if (strobe & 1u) {
            p[i] = data[i];
        }
    }
}

void dram_w(struct dram *d, const void *data, uint64_t strobe, bool last)
{
    struct entry *a = &d->aw.e[0];
    uint64_t address = a->address + (uint64_t)d->w_done++ * DRAM_BEAT;
    uint8_t resp = response(d, address);
    d->budget -= DRAM_BEAT;
    a->resp = resp > a->resp ? resp : a->resp;
    if (resp == OKAY) {
        store(d->memory + address, data, strobe);
    }
    if (last) {
        struct entry e = {.due = d->now + d->c.latency, .id = a->id, .resp = a->resp, .last = true};
        push(&d->b, &e);
        d->w_done = 0;
        d->aw.pick = 0;
        take(&d->aw);
        memmove(&d->aw_beats[0], &d->aw_beats[1], d->aw.n * sizeof d->aw_beats[0]);
    }
}

static void answer(struct dram *d, const struct queue *q, struct dram_answer *out)
{
    const struct entry *e = &q->e[q->pick];
    *out = (struct dram_answer){
        .id = e->id, .resp = e->resp, .last = e->last, .data = e->resp ? d->zeros : d->memory + e->address};
}

bool dram_r(struct dram *d, struct dram_answer *out)
{
    if (!d->r.offered && (d->budget < DRAM_BEAT || (d->write_turn && d->aw.n) || !offer(d, &d->r))) {
        return false;
    }
    answer(d, &d->r, out);
    return true;
}

bool dram_b(struct dram *d, struct dram_answer *out)
{
    if (!offer(d, &d->b)) {
        return false;
    }
    answer(d, &d->b, out);
    return true;
}

void dram_r_take(struct dram *d)
{
    take(&d->r);
    d->budget -= DRAM_BEAT;
    d->write_turn = d->read_in_this_cycle = true;
}

void dram_b_take(struct dram *d)
{
    take(&d->b);
}

void dram_tick(struct dram *d)
{
    d->now++;
    if (!d->read_in_this_cycle) {
        d->write_turn = false;
    }
    d->read_in_this_cycle = false;
    d->budget += d->c.bandwidth;
    if (d->budget > 2 * DRAM_BEAT - 1) {
        d->budget = 2 * DRAM_BEAT - 1; /* unused cycles are not saved up, the rest of a division is */
    }
}
