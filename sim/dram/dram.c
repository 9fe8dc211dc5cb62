/* SPDX-License-Identifier: Apache-2.0 */
/** Two channels, reads and writes, each a table of transfers and a list of their indexes in order of acceptance. */
#include "dram.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define SLOTS 256u
#define LINE 64u
#define PAGE 4096u
#define OKAY 0u
#define SLVERR 2u
#define SPREAD 64u /* random extra latency */

struct transfer {
    uint64_t address, strobe, due;
    uint8_t id, resp;
    bool used;
    uint32_t data[16];
};

struct channel {
    struct transfer slot[SLOTS];
    uint16_t order[SLOTS]; /* transfers that wait for their time, oldest first */
    uint32_t waiting;
    uint32_t tail; /* slot of the next transfer */
    struct transfer *answer; /* on the response channel */
};

struct tern_dram {
    struct tern_dram_config config;
    uint8_t *memory;
    uint64_t now, bus_free; /* bus_free in 1/64 cycle */
    uint64_t random;
    struct channel rd, wr;
    uint32_t w_tail; /* slot of the next write data */
    struct tern_dram_out out;
};

int tern_dram_create(const struct tern_dram_config *config, struct tern_dram **out)
{
    if (!config->bytes || config->bytes % PAGE || !config->latency || !config->bandwidth || config->bandwidth > LINE) {
        return -EINVAL;
    }
    struct tern_dram *d = calloc(1, sizeof *d);
    if (!d) {
        return -ENOMEM;
    }
    void *memory = mmap(NULL, config->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        free(d);
        return -ENOMEM;
    }
    d->memory = memory;
    d->config = *config;
    d->random = config->reorder;
    d->out = (struct tern_dram_out){.arready = true, .awready = true, .wready = true};
    *out = d;
    return 0;
}

void tern_dram_destroy(struct tern_dram *d)
{
    if (d) {
        munmap(d->memory, d->config.bytes);
        free(d);
    }
}

const struct tern_dram_out *tern_dram_out(const struct tern_dram *d)
{
    return &d->out;
}

bool tern_dram_idle(const struct tern_dram *d)
{
    return !d->rd.waiting && !d->wr.waiting && !d->rd.answer && !d->wr.answer && d->wr.tail == d->w_tail;
}

static uint32_t draw(struct tern_dram *d)
{
    d->random ^= d->random << 13;
    d->random ^= d->random >> 7;
    d->random ^= d->random << 17;
    return (uint32_t)(d->random >> 16);
}

/** Gives a complete transfer its turn on the data bus. */
static void schedule(struct tern_dram *d, struct channel *c, uint32_t slot)
{
    uint64_t at = d->now * LINE > d->bus_free ? d->now * LINE : d->bus_free;
    d->bus_free = at + LINE * LINE / d->config.bandwidth;
    struct transfer *t = &c->slot[slot];
    t->due = at / LINE + d->config.latency + (d->config.reorder ? draw(d) % SPREAD : 0);
    bool beyond = t->address >= d->config.bytes || d->config.bytes - t->address < LINE;
    bool bad = t->address < d->config.error_base + d->config.error_bytes && t->address + LINE > d->config.error_base;
    t->resp = beyond || (bad && d->config.error_bytes) ? SLVERR : OKAY;
    c->order[c->waiting++] = (uint16_t)slot;
}

/** The oldest transfer, or with reordering any one, whose time has come and that overtakes none of its id. */
static struct transfer *next(struct tern_dram *d, struct channel *c)
{
    for (uint32_t i = 0; i < c->waiting; i++) {
        struct transfer *t = &c->slot[c->order[i]];
        bool blocked = t->due > d->now;
        for (uint32_t j = 0; j < i && !blocked; j++) {
            blocked = c->slot[c->order[j]].id == t->id;
        }
        if (!blocked) {
            c->waiting--;
            memmove(&c->order[i], &c->order[i + 1], (c->waiting - i) * sizeof c->order[0]);
            return t;
        }
        if (!d->config.reorder) {
            break;
        }
    }
    return NULL;
}

static void apply(struct tern_dram *d, const struct transfer *t)
{
    uint8_t *p = d->memory + t->address;
    const uint8_t *data = (const uint8_t *)t->data;
    if (t->strobe == UINT64_MAX) {
        memcpy(p, data, LINE);
        return;
    }
    for (uint32_t i = 0; i < LINE; i++) {
        if (t->strobe >> i & 1) {
            p[i] = data[i];
        }
    }
}

static void accept(struct tern_dram *d, const struct tern_dram_in *in)
{
    if (in->arvalid && d->out.arready) {
        struct transfer *t = &d->rd.slot[d->rd.tail];
        t->used = true;
        t->id = in->arid;
        t->address = in->araddr & ~(uint64_t)(LINE - 1);
        schedule(d, &d->rd, d->rd.tail);
        if (t->resp == OKAY) {
            memcpy(t->data, d->memory + t->address, LINE);
        } else {
            memset(t->data, 0, LINE);
        }
        d->rd.tail = (d->rd.tail + 1) % SLOTS;
    }
    /* Address and data of a write may come in any order; both together make a transfer. */
    uint32_t aw = d->wr.tail, w = d->w_tail;
    bool ahead = aw != w && d->wr.slot[w].used; /* the address came first */
    if (in->awvalid && d->out.awready) {
        struct transfer *t = &d->wr.slot[aw];
        t->used = true;
        t->id = in->awid;
        t->address = in->awaddr & ~(uint64_t)(LINE - 1);
        d->wr.tail = (aw + 1) % SLOTS;
    }
    if (in->wvalid && d->out.wready) {
        struct transfer *t = &d->wr.slot[w];
        memcpy(t->data, in->wdata, LINE);
        t->strobe = in->wstrb;
        d->w_tail = (w + 1) % SLOTS;
    }
    bool aw_moved = d->wr.tail != aw, w_moved = d->w_tail != w;
    if (aw == w ? aw_moved && w_moved : ahead ? w_moved : aw_moved) {
        schedule(d, &d->wr, aw == w || !ahead ? aw : w);
    }
}

static void answer(struct tern_dram *d, const struct tern_dram_in *in)
{
    struct tern_dram_out *o = &d->out;
    if (o->rvalid && in->rready) {
        d->rd.answer->used = false;
        d->rd.answer = NULL;
        o->rvalid = false;
    }
    if (o->bvalid && in->bready) {
        d->wr.answer->used = false;
        d->wr.answer = NULL;
        o->bvalid = false;
    }
    if (!o->rvalid && d->rd.waiting && (d->rd.answer = next(d, &d->rd))) {
        o->rvalid = true;
        o->rid = d->rd.answer->id;
        o->rresp = d->rd.answer->resp;
        o->rdata = d->rd.answer->data;
    }
    if (!o->bvalid && d->wr.waiting && (d->wr.answer = next(d, &d->wr))) {
        o->bvalid = true;
        o->bid = d->wr.answer->id;
        o->bresp = d->wr.answer->resp;
        if (o->bresp == OKAY) {
            apply(d, d->wr.answer);
        }
    }
}

void tern_dram_clock(struct tern_dram *d, const struct tern_dram_in *in)
{
    d->now++;
    if (!in->arvalid && !in->awvalid && !in->wvalid && tern_dram_idle(d)) {
        return;
    }
    accept(d, in);
    answer(d, in);
    d->out.arready = !d->rd.slot[d->rd.tail].used;
    d->out.awready = !d->wr.slot[d->wr.tail].used;
    /* data goes before its address by one transfer at most */
    d->out.wready = d->wr.slot[d->w_tail].used == (d->w_tail != d->wr.tail);
}

static bool outside(const struct tern_dram *d, uint64_t address, size_t size)
{
    return address > d->config.bytes || size > d->config.bytes - address;
}

int tern_dram_read(const struct tern_dram *d, uint64_t address, void *data, size_t size)
{
    if (outside(d, address, size)) {
        return -EFAULT;
    }
    memcpy(data, d->memory + address, size);
    return 0;
}

int tern_dram_write(struct tern_dram *d, uint64_t address, const void *data, size_t size)
{
    if (outside(d, address, size)) {
        return -EFAULT;
    }
    memcpy(d->memory + address, data, size);
    return 0;
}
