/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Runs a scene on one device, with the minimum of a driver. Buffers are submitted through the registers as the HW queue
 * has room, on both engines at once. Indications are taken when the interrupt comes.
 *
 * Preemption. With stop_every the engines are preempted at random device times, at any granularity, which may become
 * finer while the engine stops. Preempted and cancelled buffers are submitted again in order, with the resume flag if
 * they had begun. No later buffer is submitted before all outstanding ones were indicated, since it would run before
 * those. Between the parts of a preempted buffer, work of another context may run. The first buffer may also be resumed
 * on the other engine, if that is idle, and is not preempted there. The interval to the next preemption of a buffer
 * grows each time, because a save and a resume take time as well. In one case in four memory exerts back-pressure.
 *
 * Gates. Work that waits at a gate is preempted, ever more finely, until it is cut there. The gate is then opened.
 *
 * Page requests. A kernel that requests a page is preempted, and resumed after a paging buffer has brought the page
 * (pager.c). In such cases buffers are submitted only to an empty HW queue, two at once: a buffer that was submitted
 * just after the first one was cut would run before that is resumed.
 *
 * A case that has taken a quarter of its limit runs to its end undisturbed: engines are preempted only for gates, and
 * the next page request brings all pages. Saves and resumes therefore do not add up until the case passes its limit.
 */
#include <errno.h>
#include <stdlib.h>

#include "device.h"
#include "pager.h"

/** The work of one engine: submit[of[i]] for i below count. Buffers [ended, submitted) were submitted and have not
 *  ended; the first `again` of these were preempted or cancelled. */
struct queue {
    uint32_t *of;
    bool *begun;
    uint32_t count, ended, submitted, again;
    bool stopping;
    bool nop;               /* the HW queue has the driver's nop */
    uint64_t rung, takes;   /* device time of the nop's doorbell; cycles that the last nop took, 0: not known */
    uint32_t brings;        /* number of packets in `words`, which bring a page before the first buffer is resumed */
    uint32_t words[16 * PAGER_PACKETS];
    uint32_t between;       /* number of buffers in the HW queue that are not of the scene */
    bool away, received;    /* the first buffer is on the other engine; the other engine's first buffer is here */
    uint32_t granularity; /* granularity of the current stop */
    uint32_t cuts;        /* number of preemptions of the first buffer since it was last the first */
    uint64_t stop_at;     /* device time of the next request; while stopping, of a finer request */
    struct rng random, meeting;
    struct seen *seen;
};

struct runner {
    const struct scene *s;
    const struct backend *backend;
    const struct tern_sim_api *api;
    struct tern_sim *sim;
    const struct watch *watch;
    bool waves_on;
    uint64_t start, limit;
    bool meets;         /* doorbells are rung near the ends of buffers */
    struct queue queue[ENGINES];
    uint64_t open;      /* bit i: gate i is open */
    struct ending end;
    uint32_t cut_room;
    struct pager pager;
};

#define HW_QUEUE 2u
#define MEETS 4u    /* with one seed in so many, doorbells are rung near the ends of buffers */
#define MEETING 12u /* cycles around the end of a buffer from which the time of such a doorbell is drawn */
#define NEVER UINT64_MAX

/** Keeps the first error of the run. */
static void note(struct runner *r, int error)
{
    r->end.error = r->end.error ? r->end.error : error;
}

static uint32_t get(struct runner *r, uint32_t offset)
{
    uint32_t v = 0;
    note(r, r->api->read32(r->sim, offset, &v));
    return v;
}

static void put(struct runner *r, uint32_t offset, uint32_t v)
{
    note(r, r->api->write32(r->sim, offset, v));
}

static uint64_t get64(struct runner *r, uint32_t lo, uint32_t hi)
{
    uint64_t low = get(r, lo);
    return low | (uint64_t)get(r, hi) << 32;
}

static uint32_t field(uint32_t v, uint32_t mask, uint32_t shift)
{
    return (v & mask) >> shift;
}

static uint64_t now(const struct runner *r)
{
    return r->api->cycles(r->sim);
}

/** Returns whether the case is to run to its end undisturbed. */
static bool undisturbed(const struct runner *r)
{
    return now(r) - r->start > r->s->limit / 4;
}

#define MOST_AT_GATE 8192u /* greatest number of cycles to the next request while work-items wait at a gate */
#define MOST_PATIENCE 8u /* log2 of the greatest factor by which intervals grow */

/** Returns the closed gate of the first buffer of a queue, or NULL. */
static const struct gate *closed(const struct runner *r, const struct queue *q)
{
    for (uint32_t i = 0; i < r->s->gates && q->ended < q->count; i++) {
        if (r->s->gate[i].submit == q->of[q->ended] && !(r->open >> i & 1u)) {
            return &r->s->gate[i];
        }
    }
    return NULL;
}

static int open_gate(struct runner *r, const struct gate *g)
{
    r->open |= 1ull << (g - r->s->gate);
    return r->api->mem_write(r->sim, g->physical, &g->value, sizeof g->value);
}

/** Returns whether all work-items that the gate awaits have counted themselves. */
static bool arrived(struct runner *r, const struct gate *g)
{
    uint32_t count = g->awaited;
    note(r, g->count ? r->api->mem_read(r->sim, g->count, &count, sizeof count) : 0);
    return count == g->awaited;
}

static uint64_t draw_stop(struct runner *r, struct queue *q)
{
    const struct gate *gate = closed(r, q);
    uint32_t most = gate && !gate->count ? 2 : MOST_PATIENCE, patience = q->cuts < most ? q->cuts : most;
    uint32_t cycles = 2 * r->s->stop_every << patience;
    if (!r->s->stop_every || (!gate && undisturbed(r))) {
        return NEVER;
    }
    cycles = gate && gate->count && cycles > MOST_AT_GATE ? MOST_AT_GATE : cycles;
    return now(r) + 1 + rng_below(&q->random, cycles);
}

/** Requests an engine to stop, or to stop at a finer granularity. */
static void stop(struct runner *r, uint32_t e)
{
    static const uint8_t first[] = {
        TERN_ENGINE_COMMAND_GRANULARITY_BUFFER,      TERN_ENGINE_COMMAND_GRANULARITY_PACKET,
        TERN_ENGINE_COMMAND_GRANULARITY_GROUP,       TERN_ENGINE_COMMAND_GRANULARITY_GROUP,
        TERN_ENGINE_COMMAND_GRANULARITY_INSTRUCTION, TERN_ENGINE_COMMAND_GRANULARITY_INSTRUCTION,
        TERN_ENGINE_COMMAND_GRANULARITY_INSTRUCTION, TERN_ENGINE_COMMAND_GRANULARITY_INSTRUCTION};
    struct queue *q = &r->queue[e];
    const struct gate *gate = closed(r, q);
    uint32_t finest = TERN_ENGINE_COMMAND_GRANULARITY_INSTRUCTION;
    bool coarse = gate && !q->stopping && rng_one_in(&q->random, 2);
    q->granularity = q->stopping ? q->granularity + 1 + rng_below(&q->random, finest - q->granularity)
                     : coarse    ? rng_below(&q->random, gate->granularity)
                                 : first[rng_below(&q->random, sizeof first)];
    q->stopping = true;
    put(r, TERN_REG_ENGINE_COMMAND(e),
        TERN_ENGINE_COMMAND_PREEMPT_MASK | q->granularity << TERN_ENGINE_COMMAND_GRANULARITY_SHIFT);
    bool again = q->granularity < finest && ((gate && q->granularity < gate->granularity) || rng_one_in(&q->random, 2));
    q->stop_at = again ? draw_stop(r, q) : NEVER;
}

/** Schedules a request if work waits at a gate and no request will cut it there soon: none is scheduled, the current
 *  one is too coarse, or the next one is far away. */
static void insist(struct runner *r, struct queue *q)
{
    const struct gate *gate = q->ended < q->submitted ? closed(r, q) : NULL;
    const bool none = q->stop_at == NEVER && (!q->stopping || (gate && q->granularity < gate->granularity));
    if (gate && (none || (!q->stopping && q->stop_at > now(r) + 4 * MOST_AT_GATE))) {
        q->stop_at = draw_stop(r, q);
    }
}

/** Submits a buffer. The doorbell is rung at device time `at`, or at once if that has passed. */
static void ring(struct runner *r, uint32_t e, const struct submit *s, bool resume, uint64_t at)
{
    put(r, TERN_REG_ENGINE_SUB_FENCE_LO(e), (uint32_t)s->fence);
    put(r, TERN_REG_ENGINE_SUB_FENCE_HI(e), (uint32_t)(s->fence >> 32));
    put(r, TERN_REG_ENGINE_SUB_BUFFER_LO(e), (uint32_t)s->buffer);
    put(r, TERN_REG_ENGINE_SUB_BUFFER_HI(e), (uint32_t)(s->buffer >> 32));
    put(r, TERN_REG_ENGINE_SUB_SIZE(e), s->size);
    put(r, TERN_REG_ENGINE_SUB_ROOT(e), s->root);
    put(r, TERN_REG_ENGINE_SUB_CONTEXT(e), s->context);
    put(r, TERN_REG_ENGINE_SUB_SAVE(e), s->save);
    put(r, TERN_REG_ENGINE_SUB_FLAGS(e), s->flags | (resume ? TERN_ENGINE_SUB_FLAGS_RESUME_MASK : 0));
    if (now(r) < at) {
        put(r, TERN_REG_DEV_IRQ_ENABLE, 0); /* so that no interrupt ends the wait */
        note(r, now(r) < at ? r->api->step(r->sim, at - now(r), NULL) : 0);
    }
    put(r, TERN_REG_ENGINE_SUB_DOORBELL(e), 1);
    if (at) {
        put(r, TERN_REG_DEV_IRQ_ENABLE, (1u << r->s->engines) - 1);
    }
}

static void submit(struct runner *r, uint32_t e, uint64_t at)
{
    struct queue *q = &r->queue[e];
    ring(r, e, &r->s->submit[q->of[q->submitted]], q->begun[q->submitted], at);
    q->submitted++;
}

/** Submits a nop to the empty HW queue, and the next buffer at about the time at which the nop ends. The end is
 *  estimated from the time that the last nop took. */
static void meet(struct runner *r, uint32_t e)
{
    struct queue *q = &r->queue[e];
    const struct submit nop = {.buffer = r->s->nop, .size = LINE, .flags = TERN_ENGINE_SUB_FLAGS_PAGING_MASK};
    ring(r, e, &nop, false, 0);
    q->rung = now(r);
    q->nop = true;
    q->between++;
    submit(r, e, q->rung + (q->takes > MEETING ? q->takes - MEETING + rng_below(&q->meeting, MEETING) : 0));
}

/** Resumes the first buffer, which was preempted, on the other engine. Returns false if it stays here. */
static bool leave(struct runner *r, uint32_t e)
{
    struct queue *q = &r->queue[e], *other = &r->queue[!e];
    bool idle = other->ended == other->submitted && !other->between && !other->away && !other->stopping;
    if (!r->s->roams || !idle || !q->begun[q->ended] || closed(r, q) || !rng_one_in(&q->random, 3)) {
        return false;
    }
    ring(r, !e, &r->s->submit[q->of[q->ended]], true, 0);
    q->submitted = q->ended + 1;
    q->away = other->received = true;
    return true;
}

/** Submits the paging buffer that brings the requested page. */
static void bring(struct runner *r, uint32_t e)
{
    struct queue *q = &r->queue[e];
    const struct submit s = {.buffer = r->s->paging + e * PAGER_PACKETS * LINE, .size = q->brings * LINE,
                             .flags = TERN_ENGINE_SUB_FLAGS_PAGING_MASK};
    note(r, r->api->mem_write(r->sim, s.buffer, q->words, s.size));
    q->brings = 0;
    q->between++;
    ring(r, e, &s, false, 0);
}

static void feed(struct runner *r, uint32_t e)
{
    struct queue *q = &r->queue[e];
    if (q->away || q->received) {
        return;
    }
    if (q->again && q->ended + q->again == q->submitted) {
        q->submitted = q->ended;
        q->again = 0;
        if (q->brings) {
            bring(r, e);
        }
        if (r->s->foreign.size && (q->between || !leave(r, e)) && rng_one_in(&q->random, 2)) {
            q->between++;
            ring(r, e, &r->s->foreign, false, 0);
        }
    }
    if (q->stopping && (q->away || q->ended == q->submitted)) {
        q->stopping = false;
        q->stop_at = draw_stop(r, q);
    }
    if (r->s->asks && q->submitted != q->ended) {
        return;
    }
    while (!q->stopping && !q->again && !q->between && !q->away && q->submitted < q->count &&
           q->submitted - q->ended < HW_QUEUE) {
        if (r->meets && q->submitted == q->ended && rng_one_in(&q->meeting, 2)) {
            meet(r, e);
        } else {
            submit(r, e, 0);
        }
    }
}

static int keep_cut(struct runner *r, const struct seen *seen)
{
    if (r->end.cut_count == r->cut_room) {
        uint32_t room = r->cut_room ? 2 * r->cut_room : 16;
        struct seen *larger = realloc(r->end.cuts, room * sizeof *larger);
        if (!larger) {
            return -ENOMEM;
        }
        r->end.cuts = larger;
        r->cut_room = room;
    }
    r->end.cuts[r->end.cut_count++] = *seen;
    return 0;
}

/** Takes one indication. The run fails with -EPROTO if no outstanding buffer explains it. */
static int take(struct runner *r, uint32_t e)
{
    struct queue *q = &r->queue[e];
    struct seen seen;
    note(r, device_indication(r->api, r->sim, e, &seen));
    if (q->received) { /* this indication belongs to the other queue */
        q->received = false;
        q = &r->queue[!e];
        q->away = false;
        seen.submit = q->of[q->ended];
        int result = keep_cut(r, &seen); /* kept with the engine that ran it */
        if (result) {
            return result;
        }
        seen.engine = !e;
    }
    if (q->between) {
        const bool nop = q->nop;
        q->between--;
        q->nop = false;
        q->takes = nop ? seen.end - q->rung : q->takes;
        seen.submit = r->s->submits;
        r->end.error = seen.kind == TERN_ENGINE_IND_INFO_KIND_COMPLETED ? r->end.error : -EPROTO;
        return nop ? 0 : keep_cut(r, &seen);
    }
    if (q->ended + q->again == q->submitted) {
        note(r, -EPROTO);
        return 0;
    }
    seen.submit = q->of[q->ended + q->again];
    if (seen.kind == TERN_ENGINE_IND_INFO_KIND_PREEMPTED) {
        const struct gate *gate = q->again == 0 ? closed(r, q) : NULL;
        if (gate && seen.begin && seen.offset == gate->offset && arrived(r, gate)) {
            note(r, open_gate(r, gate));
        }
        if (seen.fault == TERN_FAULT_PAGE_ABSENT) {
            r->pager.all = undisturbed(r);
            note(r, pager_request(&r->pager, seen.submit, seen.va, &q->brings, q->words));
        }
        q->begun[q->ended + q->again] |= seen.begin != 0;
        q->cuts += q->again == 0;
        q->again++;
        return keep_cut(r, &seen);
    }
    q->seen[q->ended++] = seen;
    q->cuts = 0;
    return pager_ended(&r->pager, seen.submit);
}

static int collect(struct runner *r, uint32_t e)
{
    uint32_t n = field(get(r, TERN_REG_ENGINE_STATUS(e)), TERN_ENGINE_STATUS_INDICATIONS_MASK,
                       TERN_ENGINE_STATUS_INDICATIONS_SHIFT);
    int result = 0;
    for (uint32_t i = 0; i < n && !result; i++) {
        result = take(r, e);
    }
    return result;
}

/** Begins or ends the waveform if its device time has come. */
static int waves(struct runner *r)
{
    const struct watch *w = r->watch;
    if (!w || !w->waves) {
        return 0;
    }
    bool on = now(r) >= w->waves_from && now(r) < w->waves_to;
    int result = on == r->waves_on ? 0 : r->api->trace(r->sim, on ? w->waves : NULL);
    r->waves_on = on;
    return result;
}

static uint64_t sooner(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/** Runs the device to the next interrupt, request to stop, waveform or the limit. */
static void advance(struct runner *r)
{
    uint64_t until = r->start + r->limit, time = now(r);
    for (uint32_t e = 0; e < r->s->engines; e++) {
        const struct queue *q = &r->queue[e];
        until = q->ended == q->submitted || q->away || q->between ? until : sooner(until, q->stop_at);
    }
    if (r->watch && r->watch->waves) {
        until = time < r->watch->waves_from ? sooner(until, r->watch->waves_from)
                : time < r->watch->waves_to ? sooner(until, r->watch->waves_to) : until;
    }
    guard_device(r->backend, r->sim);
    note(r, r->api->step(r->sim, until > time ? until - time : 1, NULL));
}

static int run(struct runner *r)
{
    struct rng random = rng_of(r->s->seed, 0x64697274ull);
    int result = 0;
    put(r, TERN_REG_DEV_IRQ_ENABLE, (1u << r->s->engines) - 1);
    for (bool working = true; working && !result && !r->end.error && !r->end.hung;) {
        working = false;
        for (uint32_t e = 0; e < r->s->engines; e++) {
            struct queue *q = &r->queue[e];
            feed(r, e);
            insist(r, q);
            working |= q->ended < q->count;
            if (q->ended < q->submitted && !q->away && !q->between && now(r) >= q->stop_at) {
                stop(r, e);
            }
        }
        if (working) {
            if (rng_one_in(&random, 8)) {
                note(r, device_ask(r->api, r->sim, &random, r->s->mem_bytes));
            }
            result = waves(r);
            advance(r);
            uint32_t pending = get(r, TERN_REG_DEV_IRQ_STATUS);
            for (uint32_t e = 0; e < r->s->engines && !result; e++) {
                result = pending >> e & 1 ? collect(r, e) : 0;
            }
            r->end.hung = now(r) - r->start > r->limit;
        }
    }
    for (uint32_t i = 0; i < r->s->gates && !result && !r->end.error; i++) { /* gates that were not reached */
        result = r->open >> i & 1u ? 0 : open_gate(r, &r->s->gate[i]);
    }
    note(r, device_counted(r->api, r->sim));
    return result;
}

static int load(struct runner *r)
{
    const struct scene *s = r->s;
    int result = 0;
    for (uint64_t p = 0; p < s->mem_bytes / PAGE && !result; p++) {
        result = s->touched[p] ? r->api->mem_write(r->sim, p * PAGE, s->memory + p * PAGE, PAGE) : 0;
    }
    for (uint32_t i = 0; i < s->submits; i++) {
        struct queue *q = &r->queue[s->submit[i].engine];
        q->of[q->count++] = i;
    }
    for (uint32_t e = 0; e < r->s->engines; e++) {
        struct queue *q = &r->queue[e];
        q->random = rng_of(s->seed, 0x73746f70ull + e);
        q->meeting = rng_of(s->seed, 0x6d656574ull + e);
        q->stop_at = draw_stop(r, q);
    }
    for (uint32_t i = 0; i < s->gates && !s->stop_every && !result; i++) {
        result = open_gate(r, &s->gate[i]);
    }
    return result;
}

/** Copies the indications to the ending, one engine after the other. */
static void gather(struct runner *r)
{
    for (uint32_t e = 0; e < r->s->engines; e++) {
        for (uint32_t i = 0; i < r->queue[e].ended; i++) {
            r->end.seen[r->end.count++] = r->queue[e].seen[i];
        }
        r->end.instructions += get64(r, TERN_REG_ENGINE_CNT_ISSUE(e), TERN_REG_ENGINE_CNT_ISSUE(e) + 4);
    }
    r->end.cycles = now(r) - r->start;
}

static int runner_make(struct runner *r, const struct scene *s, uint64_t limit)
{
    bool room = (r->end.seen = calloc(s->submits + 1, sizeof *r->end.seen)) != NULL;
    r->s = s;
    r->limit = limit;
    r->meets = s->seed % MEETS == 0;
    for (uint32_t e = 0; e < ENGINES; e++) {
        struct queue *q = &r->queue[e];
        q->of = calloc(s->submits + 1, sizeof *q->of);
        q->begun = calloc(s->submits + 1, sizeof *q->begun);
        q->seen = calloc(s->submits + 1, sizeof *q->seen);
        room = room && q->of && q->begun && q->seen;
    }
    return room ? 0 : -ENOMEM;
}

static void runner_free(struct runner *r)
{
    for (uint32_t e = 0; e < ENGINES; e++) {
        free(r->queue[e].of);
        free(r->queue[e].begun);
        free(r->queue[e].seen);
    }
    ending_free(&r->end);
    pager_free(&r->pager);
}

/** Runs the scene of a runner on its device, which exists. */
static int run_scene(struct runner *r)
{
    r->pager = (struct pager){.scene = r->s, .api = r->api, .sim = r->sim, .random = rng_of(r->s->seed, 0x70616765ull)};
    r->start = now(r);
    int result = load(r);
    return result ? result : run(r);
}

/** Runs the scene `before`, if there is one, for before_cycles, and resets the engines. */
static int run_before(struct runner *r)
{
    struct runner b = {.backend = r->backend, .api = r->api, .sim = r->sim};
    if (!r->s->before) {
        return 0;
    }
    int result = runner_make(&b, r->s->before, r->s->before_cycles);
    if (result == 0) {
        result = run_scene(&b);
    }
    r->end.error = result || b.end.error ? b.end.error : device_reset(r->api, r->sim, r->s);
    runner_free(&b);
    return result;
}

int scene_run(const struct scene *s, const struct backend *b, uint32_t mutant, const struct watch *watch,
              struct tern_sim **sim, struct ending *out)
{
    struct tern_sim_config config = {.mem_bytes = s->mem_bytes, .mutant = mutant};
    struct runner r = {.backend = b, .api = b->api, .watch = watch};
    device_memory(s->seed, &config);
    int result = runner_make(&r, s, s->limit);
    if (result == 0) {
        result = b->api->create(&config, &r.sim);
    }
    if (result) {
        goto out;
    }
    result = run_before(&r);
    result = result || !watch || !watch->observer ? result : b->api->observe(r.sim, watch->observer, watch->user);
    result = result || r.end.error ? result : run_scene(&r);
    guard_device(NULL, NULL);
    if (r.waves_on) {
        b->api->trace(r.sim, NULL);
    }
    if (result == 0) {
        gather(&r);
        r.end.requests = r.pager.requests;
        r.end.taken = r.pager.taken;
        *sim = r.sim;
        *out = r.end;
        r.sim = NULL;
        r.end = (struct ending){0};
    }
out:
    if (r.sim) {
        b->api->destroy(r.sim);
    }
    runner_free(&r);
    return result;
}

void ending_free(struct ending *e)
{
    free(e->seen);
    free(e->cuts);
    *e = (struct ending){0};
}
