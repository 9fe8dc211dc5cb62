/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The memory has two channels, reads and writes. Each has slots for its transfers, and a list of the transfers that
 * wait for their time. Addresses and data of writes come independently: the one that comes first takes a slot and waits
 * in the queue of its kind, and the other one completes the oldest slot of that queue. One of the two queues is always
 * empty.
 */
#include "dram.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SLOTS (TERN_DRAM_OUTSTANDING + TERN_DRAM_AHEAD)
#define LINE 64u
#define PAGE 4096u
#define OKAY 0u
#define SLVERR 2u
#define SPREAD 64u /* bound of the random extra latency, in cycles */

struct transfer {
    uint64_t address, strobe, due;
    uint8_t id, resp;
    uint32_t data[16];
};

/** A queue of slots, oldest first. */
struct fifo {
    uint16_t slot[SLOTS];
    uint32_t head, count;
};

struct channel {
    struct transfer slot[SLOTS];
    uint16_t free[SLOTS];    /* the free slots; the last one is taken next */
    uint32_t frees;          /* number of free slots */
    uint16_t order[SLOTS];   /* transfers that wait for their time, oldest first */
    uint32_t waiting;        /* number of these */
    uint32_t outstanding;    /* number of addresses that were accepted and not answered */
    struct transfer *answer; /* transfer on the response channel; NULL: none */
};

struct tern_dram {
    struct tern_dram_config config;
    uint8_t *memory;
    bool borrowed;           /* memory belongs to another port */
    uint32_t joined;         /* number of ports that have joined this one */
    uint64_t now, bus_free;  /* cycle; time at which the data bus is free, in 1/64 cycle */
    uint64_t next_refresh;   /* cycle */
    uint64_t random, stalls; /* random generators of the extra latency and of the pauses */
    struct channel rd, wr;
    struct fifo addresses, data; /* writes that have no data yet; that have no address yet */
    struct tern_dram_out out;
};

static uint32_t draw(uint64_t *random)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return (uint32_t)(*random >> 16);
}

/** Fills memory with random contents: a file of 16 MiB is mapped again and again, and a page is copied only when it is
 *  written. Hence the contents use little host memory. */
static int fill(uint8_t *memory, uint64_t bytes)
{
    enum { NOISE = 16 << 20 };
    int fd = memfd_create("tern-dram", MFD_CLOEXEC), r = fd < 0 ? -errno : 0;
    uint64_t *noise = r ? NULL : malloc(NOISE);
    if (r == 0 && !noise) {
        r = -ENOMEM;
    }
    uint64_t random = 0x9e3779b97f4a7c15ull;
    for (size_t i = 0; i < NOISE / sizeof *noise && !r; i++) {
        noise[i] = draw(&random) | (uint64_t)draw(&random) << 32;
    }
    if (r == 0) {
        r = write(fd, noise, NOISE) == NOISE ? 0 : -ENOMEM;
    }
    for (uint64_t at = 0; at < bytes && !r; at += NOISE) {
        size_t n = bytes - at < NOISE ? (size_t)(bytes - at) : NOISE;
        void *got = mmap(memory + at, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, fd, 0);
        r = got == MAP_FAILED ? -ENOMEM : 0;
    }
    free(noise);
    if (fd >= 0) {
        close(fd);
    }
    return r;
}

static void channel_init(struct channel *c)
{
    for (c->frees = 0; c->frees < SLOTS; c->frees++) {
        c->free[c->frees] = (uint16_t)(SLOTS - 1 - c->frees);
    }
}

static bool valid(const struct tern_dram_config *c)
{
    return c->bytes && c->bytes % PAGE == 0 && c->latency && c->bandwidth && c->bandwidth <= LINE && c->reads &&
           c->reads <= TERN_DRAM_OUTSTANDING && c->writes && c->writes <= TERN_DRAM_OUTSTANDING &&
           c->ahead <= TERN_DRAM_AHEAD && c->stall < 256 &&
           (c->refresh ? c->refresh_cycles < c->refresh : !c->refresh_cycles);
}

/** Resets a port. Each port draws random numbers of its own. */
static void begin(struct tern_dram *d, const struct tern_dram_config *config, uint32_t port)
{
    d->config = *config;
    d->random = config->reorder ? config->reorder + ((uint64_t)port << 32) : 0;
    d->stalls = 0x9e3779b97f4a7c15ull ^ d->random ^ (uint64_t)port << 48;
    d->next_refresh = config->refresh;
    channel_init(&d->rd);
    channel_init(&d->wr);
    d->out = (struct tern_dram_out){.arready = true, .awready = true, .wready = config->ahead != 0};
}

int tern_dram_create(const struct tern_dram_config *config, struct tern_dram **out)
{
    if (!valid(config)) {
        return -EINVAL;
    }
    struct tern_dram *d = calloc(1, sizeof *d);
    if (!d) {
        return -ENOMEM;
    }
    begin(d, config, 0);
    void *memory = mmap(NULL, config->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                        0);
    if (memory == MAP_FAILED) {
        free(d);
        return -ENOMEM;
    }
    d->memory = memory;
    int r = config->old_contents ? fill(memory, config->bytes) : 0;
    if (r) {
        tern_dram_destroy(d);
        return r;
    }
    *out = d;
    return 0;
}

int tern_dram_join(struct tern_dram *first, struct tern_dram **out)
{
    struct tern_dram *d = calloc(1, sizeof *d);
    if (!d) {
        return -ENOMEM;
    }
    begin(d, &first->config, ++first->joined);
    d->memory = first->memory;
    d->borrowed = true;
    *out = d;
    return 0;
}

void tern_dram_destroy(struct tern_dram *d)
{
    if (d) {
        if (!d->borrowed) {
            munmap(d->memory, d->config.bytes);
        }
        free(d);
    }
}

const struct tern_dram_out *tern_dram_out(const struct tern_dram *d)
{
    return &d->out;
}

bool tern_dram_idle(const struct tern_dram *d)
{
    return d->rd.frees == SLOTS && d->wr.frees == SLOTS;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/** Returns whether a channel pauses in this cycle. */
static bool pauses(struct tern_dram *d)
{
    return d->config.stall && draw(&d->stalls) % 256 < d->config.stall;
}

static void push(struct fifo *f, uint32_t slot)
{
    f->slot[(f->head + f->count++) % SLOTS] = (uint16_t)slot;
}

static uint32_t pop(struct fifo *f)
{
    uint32_t slot = f->slot[f->head];
    f->head = (f->head + 1) % SLOTS;
    f->count--;
    return slot;
}

/** Returns the oldest slot of f, whose transfer is now complete, or a free slot. */
static uint32_t slot_of(struct channel *c, struct fifo *f, bool *complete)
{
    *complete = f->count != 0;
    return *complete ? pop(f) : c->free[--c->frees];
}

static void release(struct channel *c)
{
    c->free[c->frees++] = (uint16_t)(c->answer - c->slot);
    c->outstanding--;
    c->answer = NULL;
}

/** Schedules a complete transfer on the data bus. */
static void schedule(struct tern_dram *d, struct channel *c, uint32_t slot)
{
    uint64_t at = later(d->now * LINE, d->bus_free);
    d->bus_free = at + LINE * LINE / d->config.bandwidth;
    struct transfer *t = &c->slot[slot];
    t->due = at / LINE + d->config.latency + (d->config.reorder ? draw(&d->random) % SPREAD : 0);
    bool beyond = t->address >= d->config.bytes || d->config.bytes - t->address < LINE;
    bool bad = t->address < d->config.error_base + d->config.error_bytes && t->address + LINE > d->config.error_base;
    t->resp = beyond || (bad && d->config.error_bytes) ? SLVERR : OKAY;
    c->order[c->waiting++] = (uint16_t)slot;
}

/** Takes a transfer whose time has come: the oldest or, with reordering, the first that overtakes none of its id. */
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
    bool complete;
    if (in->arvalid && d->out.arready) {
        uint32_t slot = d->rd.free[--d->rd.frees];
        struct transfer *t = &d->rd.slot[slot];
        t->id = in->arid;
        t->address = in->araddr & ~(uint64_t)(LINE - 1);
        d->rd.outstanding++;
        schedule(d, &d->rd, slot);
        if (t->resp == OKAY) {
            memcpy(t->data, d->memory + t->address, LINE);
        } else {
            memset(t->data, 0, LINE);
        }
    }
    if (in->awvalid && d->out.awready) {
        uint32_t slot = slot_of(&d->wr, &d->data, &complete);
        d->wr.slot[slot].id = in->awid;
        d->wr.slot[slot].address = in->awaddr & ~(uint64_t)(LINE - 1);
        d->wr.outstanding++;
        if (complete) {
            schedule(d, &d->wr, slot);
        } else {
            push(&d->addresses, slot);
        }
    }
    if (in->wvalid && d->out.wready) {
        uint32_t slot = slot_of(&d->wr, &d->addresses, &complete);
        memcpy(d->wr.slot[slot].data, in->wdata, LINE);
        d->wr.slot[slot].strobe = in->wstrb;
        if (complete) {
            schedule(d, &d->wr, slot);
        } else {
            push(&d->data, slot);
        }
    }
}

static void answer(struct tern_dram *d, const struct tern_dram_in *in)
{
    struct tern_dram_out *o = &d->out;
    if (o->rvalid && in->rready) {
        release(&d->rd);
        o->rvalid = false;
    }
    if (o->bvalid && in->bready) {
        release(&d->wr);
        o->bvalid = false;
    }
    if (!o->rvalid && d->rd.waiting && !pauses(d) && (d->rd.answer = next(d, &d->rd))) {
        o->rvalid = true;
        o->rid = d->rd.answer->id;
        o->rresp = d->rd.answer->resp;
        o->rdata = d->rd.answer->data;
    }
    if (!o->bvalid && d->wr.waiting && !pauses(d) && (d->wr.answer = next(d, &d->wr))) {
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
    if (d->config.refresh && d->now == d->next_refresh) {
        d->bus_free = later(d->now * LINE, d->bus_free) + (uint64_t)d->config.refresh_cycles * LINE;
        d->next_refresh += d->config.refresh;
    }
    if (!in->arvalid && !in->awvalid && !in->wvalid && tern_dram_idle(d)) {
        return;
    }
    accept(d, in);
    answer(d, in);
    d->out.arready = d->rd.outstanding < d->config.reads && !pauses(d);
    d->out.awready = d->wr.outstanding < d->config.writes && !pauses(d);
    d->out.wready = (d->addresses.count || d->data.count < d->config.ahead) && !pauses(d);
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
