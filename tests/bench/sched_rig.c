/* SPDX-License-Identifier: Apache-2.0 */
/** Clients that flood a device (sched_rig.h). */
#include "sched_rig.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "tests/lib/submit.h"

/* Buffers that a flooding client has submitted and that have not ended, as many as an HW queue holds. */
#define AHEAD 2u
#define FEW_ROUNDS 4u
#define MANY_ROUNDS 36u

__asm__(".section .rodata\nsched_source:\n.incbin \"" TERN_BENCH_SCHED_KERNELS "\"\nsched_source_end:\n.byte 0\n.text");
extern const char sched_source[], sched_source_end[];

static const char *const kernels[RIG_KINDS] = {"arithmetic", "memory", "exchange", "branches"};

static int fail(int r, const char *what)
{
    fprintf(stderr, "tern bench sched: %s: %s\n", what, tern_last_error());
    return r;
}

/* ------------------------------------------------------------------ clients */

static void snapshot(struct rig *r, bool end)
{
    for (unsigned i = 0; i < r->clients; i++) {
        struct tern_context_stats s = {.size = sizeof s};
        tern_context_query(r->client[i].context, &s);
        *(end ? &r->client[i].to : &r->client[i].from) = s.cycles;
    }
}

static void start(struct rig *r)
{
    r->starting = false;
    r->begin_at += tern_device_time(r->dev);
    r->end_at = r->end_at ? r->begin_at + r->end_at : 0;
    for (unsigned i = 0; i < r->clients; i++) {
        for (unsigned k = 0; k < r->client[i].first; k++) {
            rig_submit(&r->client[i]);
        }
    }
}

/** Called in the device's thread. */
static void completed(void *user, const struct tern_completion *done)
{
    struct client *c = user;
    struct rig *r = c->rig;
    if (r->starting) {
        start(r);
        return;
    }
    c->completed += done->result == TERN_COMPLETED;
    r->failed = r->failed || done->result != TERN_COMPLETED;
    if (r->end_at && !r->begin && done->end >= r->begin_at) {
        r->begin = done->end;
        snapshot(r, false);
    } else if (r->begin && !r->end && (done->end >= r->end_at || r->failed)) {
        r->end = done->end;
        snapshot(r, true);
        r->stopping = true;
        sem_post(&r->done);
    }
    if (c->completed_fn) {
        c->completed_fn(c, done);
    }
    if (c->flood && !r->stopping) {
        rig_submit(c);
    }
}

void rig_submit(struct client *c)
{
    if (submit_packets(c->context, c->call.packet, sizeof c->call.packet, kernels[c->kind], &c->submitted)) {
        c->rig->failed = true;
    }
}

static int fill_data(struct client *c)
{
    static uint32_t data[RIG_WORDS];
    for (uint32_t i = 0, x = 1; i < RIG_WORDS; i++) {
        data[i] = x = x * 1664525u + 1013904223u;
    }
    return tern_allocation_write(c->data, 0, data, sizeof data);
}

static void drop(struct client *c)
{
    if (c->context) {
        tern_context_destroy(c->context);
    }
    direct_call_destroy(&c->call);
    if (c->data) {
        tern_allocation_destroy(c->data);
    }
    *c = (struct client){0};
}

static int make(struct client *c, int engine)
{
    const struct direct_range range = {.dims = 1, .global = {RIG_ITEMS}, .local = {64}};
    const struct tern_context_desc desc = {.size = sizeof desc, .name = kernels[c->kind], .engine = engine,
                                           .completed = completed,
                                           .user = c};
    struct tern_process *p = c->process->proc;
    int e = tern_allocation_create(p, RIG_WORDS * 4, TERN_MEM_READ | TERN_MEM_WRITE, 0, &c->data);
    if (e == 0) {
        e = fill_data(c);
    }
    if (e) {
        return fail(e, "memory");
    }
    const uint32_t args[4] = {tern_allocation_address(c->data), c->turns};
    e = direct_call_create(c->process, kernels[c->kind], &range, args, sizeof args, &c->call);
    if (e) {
        return e;
    }
    e = tern_context_create(p, &desc, &c->context);
    return e ? fail(e, "a context") : 0;
}

static struct client *add(struct rig *r, unsigned process, int engine, unsigned kind, uint32_t turns)
{
    struct client *c = &r->client[r->clients];
    if (r->clients == r->capacity) {
        fprintf(stderr, "tern bench sched: no room for a client\n");
        return NULL;
    }
    *c = (struct client){.rig = r, .process = &r->process[process], .kind = kind, .turns = turns};
    if (make(c, engine)) {
        drop(c);
        return NULL;
    }
    r->clients++;
    return c;
}

struct client *rig_add(struct rig *r, unsigned process, int engine, unsigned kind, uint64_t cycles)
{
    const double turns = ((double)cycles - r->fixed[kind]) / r->turn[kind];
    return add(r, process, engine, kind, turns < 1 ? 1 : (uint32_t)(turns + 0.5));
}

int rig_priority(struct client *c, enum tern_band band, uint32_t weight)
{
    const int e = tern_context_set_priority(c->context, band, weight);
    return e ? fail(e, "priority") : 0;
}

/* ------------------------------------------------------------------ running */

int rig_drain(struct rig *r)
{
    for (unsigned i = 0; i < r->clients; i++) {
        const int e = tern_wait(r->client[i].context, r->client[i].submitted, -1);
        if (e) {
            return fail(e, "a buffer did not complete");
        }
    }
    return r->failed ? -EIO : 0;
}

void rig_flood(struct client *c)
{
    c->flood = true;
    c->first = AHEAD;
}

/** The callback of an empty buffer submits the first buffers. */
int rig_start(struct rig *r)
{
    uint64_t fence;
    r->starting = true;
    int e = submit_null(r->client[0].context, "start", &fence);
    if (e == 0) {
        e = tern_wait(r->client[0].context, fence, -1);
    }
    return e ? fail(e, "the start") : 0;
}

int rig_run(struct rig *r, uint64_t warm, uint64_t length)
{
    r->begin = r->end = 0;
    r->begin_at = warm;
    r->end_at = length;
    const int e = rig_start(r);
    if (e) {
        return e;
    }
    while (sem_wait(&r->done) && errno == EINTR) {
    }
    return rig_drain(r);
}

/** Measures the cycles of a buffer with nothing else on the device. */
static int measure(struct rig *r, unsigned kind, uint32_t turns, double *cycles)
{
    struct tern_context_stats before = {.size = sizeof before}, after = {.size = sizeof after};
    struct client *c = add(r, r->processes - 1, 0, kind, turns);
    int e = c ? 0 : -EIO;
    for (int i = 0; !e && i < 2; i++) { /* The first run finds the caches empty. */
        tern_context_query(c->context, &before);
        rig_submit(c);
        e = rig_drain(r);
    }
    if (!e) {
        tern_context_query(c->context, &after);
        *cycles = (double)(after.cycles - before.cycles);
    }
    if (c) {
        drop(c);
        r->clients--;
    }
    return e;
}

static int calibrate(struct rig *r)
{
    for (unsigned k = 0; k < RIG_KINDS; k++) {
        double low = 0, high = 0;
        int e = measure(r, k, FEW_ROUNDS, &low);
        if (e == 0) {
            e = measure(r, k, MANY_ROUNDS, &high);
        }
        if (e) {
            return e;
        }
        r->turn[k] = (high - low) / (MANY_ROUNDS - FEW_ROUNDS);
        r->fixed[k] = low - r->turn[k] * FEW_ROUNDS;
        if (r->turn[k] <= 0) {
            fprintf(stderr, "tern bench sched: %s takes no longer with more to do\n", kernels[k]);
            return -ERANGE;
        }
    }
    return 0;
}

/* ------------------------------------------------------------------ results */

static uint64_t hash(const struct client *c)
{
    static uint32_t data[RIG_WORDS];
    uint64_t h = 0xcbf29ce484222325u;
    if (tern_allocation_read(c->data, 0, data, sizeof data)) {
        return 0;
    }
    for (uint32_t i = 0; i < RIG_WORDS; i++) {
        h = (h ^ data[i]) * 0x100000001b3u;
    }
    return h;
}

static bool alike(const struct client *a, const struct client *b)
{
    return a->kind == b->kind && a->turns == b->turns;
}

/** Runs a client like this one alone, up to the largest count of buffers among such clients, and compares it with each
 * of them at that client's count. */
static int check_like(struct rig *r, const struct client *model)
{
    const unsigned n = r->clients;
    uint64_t most = 0;
    for (unsigned i = 0; i < n; i++) {
        const struct client *o = &r->client[i];
        most = alike(o, model) && o->completed > most ? o->completed : most;
    }
    struct client *c = add(r, r->processes - 1, -1, model->kind, model->turns);
    int e = c ? 0 : -EIO;
    for (uint64_t done = 0; !e && done <= most; done++) {
        const uint64_t h = hash(c);
        for (unsigned i = 0; i < n; i++) {
            const struct client *o = &r->client[i];
            if (alike(o, model) && o->completed == done && hash(o) != h) {
                fprintf(stderr, "tern bench sched: %s: client %u has other results after %llu buffers than one "
                        "that ran alone\n", kernels[o->kind], i, (unsigned long long)done);
                e = -EBADMSG;
            }
        }
        if (done < most && !e) {
            rig_submit(c);
            e = tern_wait(c->context, c->submitted, -1);
        }
    }
    if (c) {
        drop(c);
        r->clients--;
    }
    return e;
}

int rig_check(struct rig *r)
{
    int e = 0;
    r->begin = r->end = r->end_at = 0; /* No moment is awaited any more. */
    for (unsigned i = 0; !e && i < r->clients; i++) {
        bool first = true;
        for (unsigned k = 0; k < i; k++) {
            first = first && !alike(&r->client[k], &r->client[i]);
        }
        e = first ? check_like(r, &r->client[i]) : 0;
    }
    return e;
}

/* ------------------------------------------------------------------ life */

int rig_open(struct rig *r, const char *keys, unsigned processes, unsigned clients)
{
    char config[200], name[32];
    *r = (struct rig){.capacity = clients + 1};
    sem_init(&r->done, 0, 0);
    if (!backend_config(config, sizeof config, keys)) {
        fprintf(stderr, "tern bench sched: TERN_CONFIG is too long\n");
        return -ENAMETOOLONG;
    }
    int e = tern_device_open(NULL, config, &r->dev);
    if (e) {
        return fail(e, "no device");
    }
    r->info.size = sizeof r->info;
    tern_device_query(r->dev, &r->info);
    r->client = calloc(r->capacity, sizeof *r->client);
    r->process = calloc(processes + 1, sizeof *r->process);
    e = r->client && r->process ? direct_build(sched_source, (size_t)(sched_source_end - sched_source), &r->program)
                                : -ENOMEM;
    for (; !e && r->processes <= processes; r->processes++) {
        snprintf(name, sizeof name, "client %u", r->processes + 1);
        e = direct_process_create(r->dev, NULL, name, &r->program, &r->process[r->processes]);
    }
    return e ? e : calibrate(r);
}

void rig_close(struct rig *r)
{
    for (unsigned i = 0; i < r->clients; i++) {
        drop(&r->client[i]);
    }
    for (unsigned i = 0; i < r->processes; i++) {
        direct_process_destroy(&r->process[i]);
    }
    direct_free(&r->program);
    if (r->dev && tern_device_close(r->dev)) {
        fail(0, "the device does not close");
    }
    free(r->client);
    free(r->process);
    sem_destroy(&r->done);
    *r = (struct rig){0};
}
