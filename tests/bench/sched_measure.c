/* SPDX-License-Identifier: Apache-2.0 */
/** The scheduler's measurements on a device (sched_measure.h). */
#include "sched_measure.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "median.h"
#include "sched_rig.h"

#define PROCESSES 16u
#define BUSY_CYCLES 5000u

static int open_rig(struct measure_options *o, struct rig *r, const char *more, unsigned processes, unsigned clients)
{
    char keys[90];
    snprintf(keys, sizeof keys, "quantum=%llu%s", (unsigned long long)o->quantum, more);
    const int e = rig_open(r, keys, processes, clients);
    if (!o->info.engines) {
        o->info = r->info; /* The first device's information. The later devices only have more keys. */
    }
    return e;
}

/** Compares the results and closes the rig. */
static int finish(struct rig *r, int e)
{
    if (e == 0) {
        e = rig_check(r);
    }
    rig_close(r);
    return e;
}

static uint64_t got(const struct client *c)
{
    return c->to - c->from;
}

static void judge(const struct rig *r, double *sorted, struct measure_fairness *out)
{
    const unsigned n = r->clients;
    double sum = 0, squares = 0;
    for (unsigned i = 0; i < n; i++) {
        sorted[i] = (double)got(&r->client[i]);
        sum += sorted[i];
        squares += sorted[i] * sorted[i];
    }
    median_sort(sorted, n);
    const double median = median_mean(sorted, n);
    *out = (struct measure_fairness){
        .jain = squares > 0 ? sum * sum / (n * squares) : 0,
        .min_to_median = median > 0 ? sorted[0] / median : 0,
        .max_to_median = median > 0 ? sorted[n - 1] / median : 0,
    };
}

int measure_fairness(struct measure_options *o, unsigned contexts, struct measure_fairness *out)
{
    static const double lengths[] = {0.25, 2, 0.5, 4}; /* Lengths of buffers, in quanta. */
    struct rig r;
    unsigned processes = contexts < PROCESSES ? contexts : PROCESSES;
    while (contexts % processes) {
        processes--; /* All processes have the same number of contexts, since shares are fair among processes first. */
    }
    double *sorted = calloc(contexts, sizeof *sorted);
    int e = sorted ? open_rig(o, &r, "", processes, contexts) : -ENOMEM;
    if (!sorted) {
        return e;
    }
    for (unsigned i = 0; !e && i < contexts; i++) {
        struct client *c = rig_add(&r, i % processes, -1, (i / 4) % RIG_KINDS,
                                   (uint64_t)((double)o->quantum * lengths[i % 4]));
        e = c ? 0 : -EIO;
        if (c) {
            rig_flood(c);
        }
    }
    if (!e) {
        /* The cycles in which each context gets one quantum. */
        const uint64_t turn = o->quantum * ((contexts + o->info.engines - 1) / o->info.engines);
        e = rig_run(&r, 2 * turn, o->quanta * turn);
        judge(&r, sorted, out);
    }
    free(sorted);
    return finish(&r, e);
}

int measure_weights(struct measure_options *o, double *error)
{
    static const uint32_t weights[] = {400, 100, 12};
    const unsigned n = o->weights;
    struct rig r;
    double sum = 0, all = 0, worst = 0;
    int e = open_rig(o, &r, "", 1, n);
    for (unsigned i = 0; !e && i < n; i++) {
        struct client *c = rig_add(&r, 0, 0, i, 2 * o->quantum);
        e = c ? rig_priority(c, TERN_BAND_NORMAL, weights[i]) : -EIO;
        if (c) {
            rig_flood(c);
        }
        sum += weights[i];
    }
    /* Long enough for the lowest weight to get its quanta. */
    if (e == 0) {
        e = rig_run(&r, 20 * o->quantum, (uint64_t)(2.0 * (double)o->quantum * o->quanta * sum / weights[n - 1]));
    }
    for (unsigned i = 0; !e && i < n; i++) {
        all += (double)got(&r.client[i]);
    }
    for (unsigned i = 0; !e && i < n; i++) {
        const double share = (double)got(&r.client[i]) / all, wanted = weights[i] / sum;
        worst = fmax(worst, fabs(share / wanted - 1));
    }
    *error = worst;
    return finish(&r, e);
}

int measure_focus(struct measure_options *o, double *share)
{
    struct rig r;
    double normal = 0, all = 0;
    int e = open_rig(o, &r, "", 4, 16);
    for (unsigned i = 0; !e && i < 4 * r.info.engines && i < 16; i++) {
        const bool focus = i / r.info.engines != 0; /* Three contexts of four. */
        struct client *c = rig_add(&r, focus ? 1 + i % 3 : 0, (int)(i % r.info.engines), i % RIG_KINDS, o->quantum);
        e = c ? rig_priority(c, focus ? TERN_BAND_FOCUS : TERN_BAND_NORMAL, 100) : -EIO;
        if (c) {
            rig_flood(c);
        }
    }
    if (e == 0) {
        e = rig_run(&r, 20 * o->quantum, 10ull * o->quanta * o->quantum);
    }
    for (unsigned i = 0; !e && i < r.clients; i++) {
        all += (double)got(&r.client[i]);
        normal += i < r.info.engines ? (double)got(&r.client[i]) : 0;
    }
    *share = all > 0 ? normal / all : 0;
    return finish(&r, e);
}

/* ------------------------------------------------------------------ REALTIME */

struct realtime {
    struct client *client;
    double *wait;
    unsigned n, wanted;
    uint64_t next, seed, gap;
    bool out; /* A buffer has been submitted and has not ended. */
};

/** Called when a flooding client's buffer ends. Submits a REALTIME buffer if its time has come. These times are random
 * with respect to the other engines' work. */
static void flood_completed(struct client *c, const struct tern_completion *done)
{
    struct realtime *t = c->user;
    if (!t->out && t->n < t->wanted && done->end >= t->next) {
        t->out = true;
        rig_submit(t->client);
    }
}

static void realtime_completed(struct client *c, const struct tern_completion *done)
{
    struct realtime *t = c->user;
    t->wait[t->n++] = (double)(done->begin - done->submitted);
    t->seed = t->seed * 6364136223846793005u + 1442695040888963407u;
    t->next = done->end + t->gap / 4 + (t->seed >> 33) % t->gap;
    t->out = false;
    if (t->n == t->wanted) {
        c->rig->end_at = done->end; /* The last sample ends the measurement. */
    }
}

int measure_realtime(struct measure_options *o, uint64_t *median, uint64_t *max)
{
    struct rig r;
    struct realtime t = {.wait = calloc(o->samples, sizeof(double)), .wanted = o->samples, .seed = 1,
                         .gap = o->quantum};
    int e = t.wait ? open_rig(o, &r, ",realtime=1", 9, o->flood + 1) : -ENOMEM;
    if (!t.wait) {
        return e;
    }
    for (unsigned i = 0; !e && i < o->flood; i++) {
        struct client *c = rig_add(&r, i % 8, -1, i % RIG_KINDS, o->quantum * (i % 5 + 1));
        e = c ? 0 : -EIO;
        if (c) {
            rig_flood(c);
            c->completed_fn = flood_completed;
            c->user = &t;
        }
    }
    t.client = e ? NULL : rig_add(&r, 8, -1, 0, o->quantum / 8);
    e = !e && t.client ? rig_priority(t.client, TERN_BAND_REALTIME, 100) : -EIO;
    if (!e) {
        t.client->completed_fn = realtime_completed;
        t.client->user = &t;
        e = rig_run(&r, 0, UINT64_MAX / 4);
    }
    if (!e) {
        median_sort(t.wait, t.n);
        *median = (uint64_t)median_upper(t.wait, t.n);
        *max = (uint64_t)t.wait[t.n - 1];
    }
    e = finish(&r, e);
    free(t.wait);
    return e;
}

/* ------------------------------------------------------------------ a busy engine */

struct busy {
    uint64_t first, last, ran;
};

static void busy_completed(struct client *c, const struct tern_completion *done)
{
    struct busy *b = c->user;
    b->first = b->first ? b->first : done->begin;
    b->last = done->end;
    b->ran += done->end - done->begin;
}

int measure_busy(struct measure_options *o, unsigned depth, double *share)
{
    char keys[24];
    struct rig r;
    struct busy b = {0};
    snprintf(keys, sizeof keys, ",depth=%u", depth);
    int e = open_rig(o, &r, keys, 1, 1);
    struct client *c = e ? NULL : rig_add(&r, 0, 0, 0, BUSY_CYCLES);
    e = c ? 0 : -EIO;
    if (c) {
        c->completed_fn = busy_completed;
        c->user = &b;
        c->first = o->buffers;
        e = rig_start(&r);
        if (e == 0) {
            e = rig_drain(&r);
        }
    }
    *share = b.last > b.first ? (double)b.ran / (double)(b.last - b.first) : 0;
    return finish(&r, e);
}
