/* SPDX-License-Identifier: Apache-2.0 */
/** Text and JSON of statistics (top_view.h). */
#include "top_view.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const bands[] = {"idle", "normal", "focus", "realtime"};
static const char *const states[] = {"idle", "waiting", "queued", "held", "running", "paging", "slowed"};
#define NAME(names, i) ((i) < sizeof(names) / sizeof(names)[0] ? (names)[i] : "?")

/** Statistics of a device at the two ends of an interval. */
struct interval {
    const struct tern_stats *now, *before; /* before: NULL for a new device */
    uint64_t passed;                       /* device cycles from `before` to `now` */
};

/** A context and the cycles that it ran on this device in the interval. */
struct row {
    const struct tern_stats_context *c;
    uint64_t ran;
};

static struct interval interval_of(const struct top_view *v, unsigned i)
{
    struct interval p = {.now = v->now->item[i]};
    p.before = v->before ? top_find(v->before, p.now) : NULL;
    p.passed = p.now->time - (p.before ? p.before->time : 0);
    return p;
}

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole * 100.0 : 0.0;
}

static double engine_percent(const struct interval *p, unsigned e)
{
    const uint64_t busy = p->now->engine[e].busy - (p->before ? p->before->engine[e].busy : 0);
    const double u = percent(busy, p->passed);
    return u > 100.0 ? 100.0 : u; /* counted at the end of work, which may have begun before the interval */
}

static double context_percent(const struct interval *p, const struct row *r)
{
    const double u = percent(r->ran, p->passed);
    return u > 100.0 ? 100.0 : u; /* as for an engine */
}

static const struct tern_stats_context *find_context(const struct tern_stats *s, uint32_t id)
{
    for (uint32_t i = 0; s && i < s->listed; i++) {
        if (s->context[i].id == id) {
            return &s->context[i];
        }
    }
    return NULL;
}

static int by_cycles(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (x->ran != y->ran) {
        return x->ran < y->ran ? 1 : -1;
    }
    return x->c->id < y->c->id ? -1 : x->c->id > y->c->id;
}

static unsigned rows_of(const struct interval *p, struct row rows[TERN_STATS_CONTEXTS])
{
    for (uint32_t i = 0; i < p->now->listed; i++) {
        const struct tern_stats_context *c = &p->now->context[i], *old = find_context(p->before, c->id);
        rows[i] = (struct row){c, c->cycles_here - (old ? old->cycles_here : 0)};
    }
    qsort(rows, p->now->listed, sizeof rows[0], by_cycles);
    return p->now->listed;
}

/** Cycles that a partition ran in the interval. A partition that replaced another of the same name began at 0. */
static uint64_t partition_ran(const struct interval *p, const struct tern_stats_partition *q)
{
    for (uint32_t i = 0; p->before && i < p->before->listed_partitions; i++) {
        const struct tern_stats_partition *old = &p->before->partition[i];
        if (strcmp(old->name, q->name) == 0 && old->cycles <= q->cycles) {
            return q->cycles - old->cycles;
        }
    }
    return q->cycles;
}

/** Percentage of the cycles of all engines in the interval. */
static double partition_percent(const struct interval *p, const struct tern_stats_partition *q)
{
    const double u = percent(partition_ran(p, q), p->passed * p->now->engines);
    return u > 100.0 ? 100.0 : u;
}

/* ------------------------------------------------------------------ text */

static void text_engines(const struct interval *p, void (*line)(void *user, bool head, const char *text), void *user)
{
    char text[200], context[64];
    line(user, true, "  ENGINE  BUSY %  HW QUEUE  PREEMPTED  RESETS  IN FRONT");
    for (uint32_t e = 0; e < p->now->engines; e++) {
        const struct tern_stats_engine *g = &p->now->engine[e];
        snprintf(context, sizeof context, " (context %u)", g->context);
        snprintf(text, sizeof text, "  %6u  %6.1f  %8u  %9" PRIu64 "  %6" PRIu64 "  %s%s", e, engine_percent(p, e),
                 g->depth, g->preemptions, g->resets, g->label, g->context ? context : "");
        line(user, false, text);
    }
}

static void text_partitions(const struct interval *p, void (*line)(void *user, bool head, const char *text), void *user)
{
    char text[200];
    line(user, true, "  PARTITION                SHARE  ENGINES %       CYCLES  FREE MIB   OF MIB  PROCESSES");
    for (uint32_t i = 0; i < p->now->listed_partitions; i++) {
        const struct tern_stats_partition *q = &p->now->partition[i];
        snprintf(text, sizeof text, "  %-23s  %5u  %9.1f  %11" PRIu64 "  %8.1f %8.1f  %9u", q->name, q->share,
                 partition_percent(p, q), q->cycles, (double)q->memory_free / 1048576,
                 (double)q->memory_bytes / 1048576, q->processes);
        line(user, false, text);
    }
    if (p->now->partitions > p->now->listed_partitions) {
        snprintf(text, sizeof text, "  and %u partitions more", p->now->partitions - p->now->listed_partitions);
        line(user, false, text);
    }
}

static void text_contexts(const struct interval *p, void (*line)(void *user, bool head, const char *text), void *user)
{
    static struct row rows[TERN_STATS_CONTEXTS];
    char text[240];
    const unsigned n = rows_of(p, rows);
    line(user, true, " CONTEXT PROCESS          NAME             ENGINE BAND     WEIGHT STATE   BUFFERS  RUN %       "
         "CYCLES       WAITED      LONGEST PREEMPTED  PAGES");
    for (unsigned i = 0; i < n; i++) {
        const struct tern_stats_context *c = rows[i].c;
        snprintf(text, sizeof text, "%8u %-16.16s %-16.16s %6u %-8s %6u %-7s %7" PRIu64 " %6.1f %12" PRIu64
                 " %12" PRIu64 " %12" PRIu64 " %9" PRIu64 " %6" PRIu64, c->id, c->process_name, c->name, c->engine,
                 NAME(bands, c->band), c->weight, NAME(states, c->state), c->queued, context_percent(p, &rows[i]),
                 c->cycles, c->waited, c->longest_wait, c->preempted,
                 c->page_requests);
        line(user, false, text);
    }
    if (p->now->contexts > n) {
        snprintf(text, sizeof text, "         and %u contexts more", p->now->contexts - n);
        line(user, false, text);
    }
}

void top_view_text(const struct top_view *v, void (*line)(void *user, bool head, const char *text), void *user)
{
    char text[512], folder[200];
    struct stat st;
    for (unsigned i = 0; i < v->now->n; i++) {
        const struct interval p = interval_of(v, i);
        const struct tern_stats *s = p.now;
        snprintf(text, sizeof text, "%s%s (process %u): %s, %s: device time %.3f ms, %.1f of %.1f MiB free, "
                 "%u process%s, %u context%s",
                 i ? "\n" : "", s->program, s->pid, s->backend, s->config,
                 s->clock_hz ? (double)s->time / (double)s->clock_hz * 1e3 : 0.0, (double)s->memory_free / 1048576,
                 (double)s->memory_bytes / 1048576, s->processes, s->processes == 1 ? "" : "es", s->contexts,
                 s->contexts == 1 ? "" : "s");
        line(user, true, text);
        text_engines(&p, line, user);
        if (s->partitions > 1) {
            text_partitions(&p, line, user);
        }
        if (s->contexts) {
            text_contexts(&p, line, user);
        }
    }
    if (v->now->n == 0) {
        tern_stats_folder(folder, sizeof folder);
        if (stat(folder, &st) == 0 && (st.st_uid != getuid() || (st.st_mode & 022))) {
            snprintf(text, sizeof text, "%s %s, so that your processes publish nothing there: remove it, or set "
                     "XDG_RUNTIME_DIR to a folder of your own.", folder, st.st_uid != getuid()
                     ? "belongs to another user" : "can be written by other users");
        } else {
            snprintf(text, sizeof text, "No process of yours has a Tern device open (nothing in %s).", folder);
        }
        line(user, false, text);
    }
    if (v->now->foreign) {
        snprintf(text, sizeof text, "%u more devices cannot be shown: their processes use another version of Tern.",
                 v->now->foreign);
        line(user, false, text);
    }
}

/* ------------------------------------------------------------------ JSON */

static void json_engines(const struct interval *p, cJSON *list)
{
    for (uint32_t e = 0; e < p->now->engines; e++) {
        const struct tern_stats_engine *g = &p->now->engine[e];
        cJSON *o = cJSON_CreateObject();
        cJSON_AddNumberToObject(o, "engine", e);
        cJSON_AddNumberToObject(o, "busy_percent", (double)(long)(engine_percent(p, e) * 100 + 0.5) / 100);
        cJSON_AddNumberToObject(o, "busy", (double)g->busy);
        cJSON_AddNumberToObject(o, "hw_queue", g->depth);
        cJSON_AddNumberToObject(o, "preemptions", (double)g->preemptions);
        cJSON_AddNumberToObject(o, "resets", (double)g->resets);
        cJSON_AddNumberToObject(o, "context", g->context);
        cJSON_AddStringToObject(o, "label", g->label);
        cJSON_AddItemToArray(list, o);
    }
}

static void json_partitions(const struct interval *p, cJSON *list)
{
    for (uint32_t i = 0; i < p->now->listed_partitions; i++) {
        const struct tern_stats_partition *q = &p->now->partition[i];
        cJSON *o = cJSON_CreateObject();
        cJSON_AddStringToObject(o, "name", q->name);
        cJSON_AddNumberToObject(o, "share", q->share);
        cJSON_AddNumberToObject(o, "run_percent", (double)(long)(partition_percent(p, q) * 100 + 0.5) / 100);
        cJSON_AddNumberToObject(o, "cycles", (double)q->cycles);
        cJSON_AddNumberToObject(o, "memory_bytes", (double)q->memory_bytes);
        cJSON_AddNumberToObject(o, "memory_free", (double)q->memory_free);
        cJSON_AddNumberToObject(o, "processes", q->processes);
        cJSON_AddItemToArray(list, o);
    }
}

static const char *partition_of(const struct tern_stats *s, const struct tern_stats_context *c)
{
    return c->partition < s->listed_partitions ? s->partition[c->partition].name : "?";
}

static void json_contexts(const struct interval *p, cJSON *list)
{
    static struct row rows[TERN_STATS_CONTEXTS];
    const unsigned n = rows_of(p, rows);
    for (unsigned i = 0; i < n; i++) {
        const struct tern_stats_context *c = rows[i].c;
        cJSON *o = cJSON_CreateObject();
        cJSON_AddNumberToObject(o, "context", c->id);
        cJSON_AddStringToObject(o, "name", c->name);
        cJSON_AddNumberToObject(o, "process", c->process);
        cJSON_AddStringToObject(o, "process_name", c->process_name);
        cJSON_AddStringToObject(o, "partition", partition_of(p->now, c));
        cJSON_AddNumberToObject(o, "engine", c->engine);
        cJSON_AddStringToObject(o, "band", NAME(bands, c->band));
        cJSON_AddNumberToObject(o, "weight", c->weight);
        cJSON_AddStringToObject(o, "state", NAME(states, c->state));
        cJSON_AddNumberToObject(o, "run_percent", (double)(long)(context_percent(p, &rows[i]) * 100 + 0.5) / 100);
        cJSON_AddNumberToObject(o, "queued", (double)c->queued);
        cJSON_AddNumberToObject(o, "submitted", (double)c->submitted);
        cJSON_AddNumberToObject(o, "completed", (double)c->completed);
        cJSON_AddNumberToObject(o, "aborted", (double)c->aborted);
        cJSON_AddNumberToObject(o, "preempted", (double)c->preempted);
        cJSON_AddNumberToObject(o, "page_requests", (double)c->page_requests);
        cJSON_AddNumberToObject(o, "cycles", (double)c->cycles);
        cJSON_AddNumberToObject(o, "cycles_here", (double)c->cycles_here);
        cJSON_AddNumberToObject(o, "waited", (double)c->waited);
        cJSON_AddNumberToObject(o, "longest_wait", (double)c->longest_wait);
        cJSON_AddItemToArray(list, o);
    }
}

cJSON *top_view_json(const struct top_view *v)
{
    cJSON *o = cJSON_CreateObject();
    cJSON *devices = cJSON_AddArrayToObject(o, "devices");
    for (unsigned i = 0; i < v->now->n; i++) {
        const struct interval p = interval_of(v, i);
        cJSON *d = cJSON_CreateObject();
        cJSON_AddNumberToObject(d, "pid", p.now->pid);
        cJSON_AddNumberToObject(d, "device", p.now->device);
        cJSON_AddStringToObject(d, "program", p.now->program);
        cJSON_AddStringToObject(d, "backend", p.now->backend);
        cJSON_AddStringToObject(d, "config", p.now->config);
        cJSON_AddNumberToObject(d, "clock_hz", (double)p.now->clock_hz);
        cJSON_AddNumberToObject(d, "time", (double)p.now->time);
        cJSON_AddNumberToObject(d, "memory_bytes", (double)p.now->memory_bytes);
        cJSON_AddNumberToObject(d, "memory_free", (double)p.now->memory_free);
        cJSON_AddNumberToObject(d, "page_requests", (double)p.now->page_requests);
        cJSON_AddNumberToObject(d, "brought_bytes", (double)p.now->brought_bytes);
        cJSON_AddNumberToObject(d, "evicted_bytes", (double)p.now->evicted_bytes);
        cJSON_AddNumberToObject(d, "processes", p.now->processes);
        cJSON_AddNumberToObject(d, "contexts_alive", p.now->contexts);
        cJSON_AddNumberToObject(d, "partitions_alive", p.now->partitions);
        json_engines(&p, cJSON_AddArrayToObject(d, "engines"));
        json_partitions(&p, cJSON_AddArrayToObject(d, "partitions"));
        json_contexts(&p, cJSON_AddArrayToObject(d, "contexts"));
        cJSON_AddItemToArray(devices, d);
    }
    cJSON_AddNumberToObject(o, "other_versions", v->now->foreign);
    return o;
}
