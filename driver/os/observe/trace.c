/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The events of the scheduler as tracks (trace.h).
 *
 * Groups. The format calls groups of tracks processes. Group 1 has the engines, group 2 the driver's own contexts, and
 * groups from 3 on the processes of the device.
 *
 * Order. A slice of an engine (the format's word, here for a chunk that ran) is written when it ends, with both times.
 * A track of a context gets a begin and an end for each state. Indications come late, so a change may have a time
 * before events that were already written. Readers sort events, but the changes of one track must be in order.
 * Therefore a time of a track is never set before the last one.
 *
 * Dropped objects. Any object may be dropped (trace_out.h), so this file records which objects were accepted:
 *   - a name is written again until it is accepted;
 *   - a state is ended only if its begin was accepted;
 *   - when there is room again, all states in the file are ended, a mark says how many events are missing, and the
 *     present states begin.
 */
#include "os/observe/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/sched/sched.h"
#include "os/observe/trace_out.h"

#define GROUP_ENGINES 1u
#define GROUP_DRIVER 2u
#define GROUP_FIRST 3u

enum state { IDLE, QUEUED, PREEMPTED, WAITING, PAGING, RUNNING, STATES };
static const char *const state_names[STATES] = {"", "queued", "preempted", "waiting for a fence",
                                                "waiting for a page", "running"};
static const char *const band_names[TERN_BANDS] = {"IDLE", "NORMAL", "FOCUS", "REALTIME", "paging"};

/** A context's track. */
struct track {
    bool named, waiting;
    uint32_t group, id;
    enum state state;
    bool unwritten;     /* the begin of the state is not written yet: the state may end at the same time */
    bool open;          /* the file has the begin of a state, and no end */
    uint64_t last;      /* time of the last change, in cycles */
    uint64_t begun;     /* time at which the running chunk began, in cycles */
    uint64_t submitted, ended; /* fence ids of the last jobs whose arrows have begun, and have ended */
    bool resumed;       /* the running chunk was resumed */
};

struct tern_trace {
    struct tern_trace_out *out;
    uint64_t clock_hz, last_count;
    uint64_t queued; /* number of jobs that have not ended */
    uint32_t tracks, processes; /* sizes of the two arrays */
    struct track *track; /* indexed by context id */
    bool *process;       /* indexed by process id: the name was written */
    struct track system[TERN_ENGINES_MAX + 1];
};

/** A time as text, in microseconds with at least three digits behind the point. */
struct stamp {
    char text[32];
};

static uint64_t nanoseconds(const struct tern_trace *t, uint64_t cycles)
{
    return cycles / t->clock_hz * 1000000000u + cycles % t->clock_hz * 1000000000u / t->clock_hz;
}

static struct stamp microseconds(uint64_t ns, const char *more)
{
    struct stamp s;
    snprintf(s.text, sizeof s.text, "%" PRIu64 ".%03u%s", ns / 1000, (unsigned)(ns % 1000), more);
    return s;
}

/**
 * A time of an event, 0.1 ns late. Readers convert a double to whole nanoseconds by truncation: 0.291 us would become
 * 290 ns, and an event that begins at the end of another would begin before it.
 */
static struct stamp at(const struct tern_trace *t, uint64_t cycles)
{
    return microseconds(nanoseconds(t, cycles), "1");
}

static uint32_t group(const struct tern_trace_ctx *w)
{
    return w->system ? GROUP_DRIVER : GROUP_FIRST + w->process_id;
}

/* Numbers of tracks are unique over all groups, because some readers ignore the group. No track is 0, which some
 * readers take for the idle task. */

static uint32_t engine_track(uint32_t engine)
{
    return 1 + engine;
}

static uint32_t track_of(const struct tern_trace_ctx *w)
{
    return 1 + TERN_ENGINES_MAX + w->context_id + (w->system ? 0 : TERN_ENGINES_MAX);
}

/* ------------------------------------------------------------------ names */

/** Writes a name. what is "process" for a group, or "thread" for a track; place is its position among the others.
 *  False: dropped. */
static bool put_name(struct tern_trace *t, const char *what, uint32_t pid, uint32_t tid, uint32_t place,
                     const char *name)
{
    char text[160];
    const bool taken = tern_trace_put(t->out, "{\"ph\":\"M\",\"name\":\"%s_name\",\"pid\":%u,\"tid\":%u,"
                                      "\"args\":{\"name\":\"%s\"}}", what, pid, tid,
                   tern_trace_escape(name, text, sizeof text));
    tern_trace_put(t->out, "{\"ph\":\"M\",\"name\":\"%s_sort_index\",\"pid\":%u,\"tid\":%u,"
                   "\"args\":{\"sort_index\":%u}}", what, pid, tid, place);
    return taken;
}

/** Names a group. tid is any track of the group; without one, readers invent a track with the number of the group. */
static bool name_group(struct tern_trace *t, uint32_t pid, uint32_t tid, const char *name)
{
    return put_name(t, "process", pid, tid, pid, name);
}

static bool name_track(struct tern_trace *t, uint32_t pid, uint32_t tid, const char *name)
{
    return put_name(t, "thread", pid, tid, tid, name);
}

/** Makes an array large enough for an id. False: out of memory. */
static bool reach(void **array, uint32_t *n, uint32_t id, size_t size)
{
    if (id < *n) {
        return true;
    }
    const uint32_t more = id + 1 > *n * 2 ? id + 1 : *n * 2;
    char *bigger = realloc(*array, more * size);
    if (!bigger) {
        return false;
    }
    memset(bigger + *n * size, 0, (more - *n) * size);
    *array = bigger;
    *n = more;
    return true;
}

/** The context's track, whose names are written at its first event. NULL: out of memory. */
static struct track *find(struct tern_trace *t, const struct tern_trace_ctx *w)
{
    struct track *k;
    if (w->system) {
        k = &t->system[w->context_id < TERN_ENGINES_MAX ? w->context_id : TERN_ENGINES_MAX];
    } else {
        void *tracks = t->track, *processes = t->process;
        const bool room = reach(&tracks, &t->tracks, w->context_id, sizeof *k) &&
            reach(&processes, &t->processes, w->process_id, sizeof(bool));
        t->track = tracks;
        t->process = processes;
        if (!room) {
            return NULL;
        }
        k = &t->track[w->context_id];
        if (!t->process[w->process_id]) {
            t->process[w->process_id] = name_group(t, group(w), track_of(w), w->process);
        }
    }
    if (!k->named) {
        k->group = group(w);
        k->id = track_of(w);
        k->named = name_track(t, k->group, k->id, w->context);
    }
    return k;
}

/* ------------------------------------------------------------------ arrows, counters, states */

/** Writes a point of the arrow of a job: its start 's', a step 't', or its end 'f'. Readers attach the point to the
 *  slice of the track at that time. */
static void arrow(struct tern_trace *t, char phase, uint32_t pid, uint32_t tid, uint64_t time,
                  const struct tern_trace_ctx *w, uint64_t job)
{
    tern_trace_put(t->out, "{\"ph\":\"%c\",\"name\":\"buffer\",\"cat\":\"buffer\",\"id\":\"0x%x%08" PRIx64
                   "\",\"pid\":%u,\"tid\":%u,\"ts\":%s%s}", phase, (w->system ? 0x80000000u : 0) | w->context_id,
                   job & 0xffffffffu, pid, tid, at(t, time).text, phase == 'f' ? ",\"bp\":\"e\"" : "");
}

static void count(struct tern_trace *t, uint64_t time)
{
    t->last_count = time > t->last_count ? time : t->last_count;
    tern_trace_put(t->out, "{\"ph\":\"C\",\"name\":\"buffers queued\",\"pid\":%u,\"tid\":%u,\"ts\":%s,"
                   "\"args\":{\"buffers\":%" PRIu64 "}}", GROUP_ENGINES, engine_track(0), at(t, t->last_count).text,
                   t->queued);
}

/** Writes the begin of the state. Marks and arrows of the state must come behind it. */
static void settle(struct tern_trace *t, struct track *k, const struct tern_trace_ctx *w)
{
    if (k->unwritten && !k->open) { /* open here: the last end was dropped, and mend() writes it */
        k->open = tern_trace_put(t->out, "{\"ph\":\"B\",\"name\":\"%s\",\"pid\":%u,\"tid\":%u,\"ts\":%s}",
                                 state_names[k->state], group(w), track_of(w), at(t, k->last).text);
    }
    k->unwritten = false;
}

/** Ends the state that is in the file. */
static void end_state(struct tern_trace *t, struct track *k, uint64_t time)
{
    if (k->open) {
        k->open = !tern_trace_put(t->out, "{\"ph\":\"E\",\"pid\":%u,\"tid\":%u,\"ts\":%s}", k->group, k->id,
                                  at(t, time > k->last ? time : k->last).text);
    }
}

static void change(struct tern_trace *t, struct track *k, const struct tern_trace_ctx *w, enum state to, uint64_t time)
{
    if (to == k->state) {
        return;
    }
    if (k->state != IDLE && !(k->unwritten && time <= k->last)) {
        settle(t, k, w);
        end_state(t, k, time);
    }
    k->last = time > k->last ? time : k->last;
    k->state = to;
    k->unwritten = to != IDLE;
}

static void mark(struct tern_trace *t, const char *name, uint32_t pid, uint32_t tid, uint64_t time, const char *args)
{
    tern_trace_put(t->out, "{\"ph\":\"i\",\"s\":\"t\",\"name\":\"%s\",\"pid\":%u,\"tid\":%u,\"ts\":%s,\"args\":{%s}}",
                   name, pid, tid, at(t, time).text, args);
}

/* ------------------------------------------------------------------ after dropped objects */

/** Ends the state in the file, which may have changed since. The present state begins with the next event of the
 *  context. */
static void mend_track(struct tern_trace *t, struct track *k, uint64_t time)
{
    end_state(t, k, time);
    k->last = time > k->last ? time : k->last;
    k->unwritten = k->state != IDLE && !k->open;
}

/** Restores the tracks after objects were dropped, as soon as there is room. */
static void mend(struct tern_trace *t, uint64_t time)
{
    const uint64_t dropped = tern_trace_dropped(t->out);
    if (!dropped) {
        return;
    }
    for (uint32_t i = 0; i < t->tracks; i++) {
        mend_track(t, &t->track[i], time);
    }
    for (uint32_t i = 0; i <= TERN_ENGINES_MAX; i++) {
        mend_track(t, &t->system[i], time);
    }
    tern_trace_put(t->out, "{\"ph\":\"i\",\"s\":\"g\",\"name\":\"%" PRIu64 " events are missing before "
                   "this\",\"pid\":%u,\"tid\":%u,\"ts\":%s}", dropped, GROUP_ENGINES,
                   engine_track(0), at(t, time).text);
    count(t, time);
}

/* ------------------------------------------------------------------ events */

static void submitted(struct tern_trace *t, const struct tern_sched_event *e, const struct tern_trace_ctx *w,
                      struct track *k, const char *label)
{
    char text[96], args[200];
    t->queued++;
    k->submitted = e->job;
    change(t, k, w, k->state == IDLE ? (k->waiting ? WAITING : QUEUED) : k->state, e->time);
    const uint64_t time = e->time > k->last ? e->time : k->last;
    snprintf(args, sizeof args, "\"label\":\"%s\",\"buffer\":%" PRIu64 ",\"cycle\":%" PRIu64,
             tern_trace_escape(label, text, sizeof text), e->job, e->time);
    settle(t, k, w);
    mark(t, "submit", group(w), track_of(w), time, args);
    arrow(t, 's', group(w), track_of(w), time, w, e->job);
    count(t, e->time);
}

static void ended(struct tern_trace *t, struct track *k, uint64_t job, uint64_t time)
{
    k->ended = job;
    t->queued--;
    count(t, time);
}

/** Writes the slice of a chunk that ran on an engine from k->begun on. */
static void engine_slice(struct tern_trace *t, const struct tern_sched_event *e, const struct tern_trace_ctx *w,
                         const struct track *k, const char *label, const char *why)
{
    char name[96], process[96], context[96];
    const uint64_t end = e->time > k->begun ? e->time : k->begun;
    const struct stamp begin = at(t, k->begun),
        length = microseconds(nanoseconds(t, end) - nanoseconds(t, k->begun), "");
    tern_trace_put(t->out,
                   "{\"ph\":\"X\",\"name\":\"%s\",\"cat\":\"run\",\"pid\":%u,\"tid\":%u,\"ts\":%s,\"dur\":%s,"
                   "\"args\":{\"process\":\"%s\",\"context\":\"%s\",\"id\":%u,\"band\":\"%s\",\"weight\":%u,"
                   "\"buffer\":%" PRIu64 ",\"offset\":%u,\"begin\":%" PRIu64 ",\"cycles\":%" PRIu64 ",\"resumed\":%s,"
                   "\"ended\":\"%s\"}}",
                   tern_trace_escape(label, name, sizeof name), GROUP_ENGINES, engine_track(e->engine), begin.text,
                   length.text, tern_trace_escape(w->process, process, sizeof process),
                   tern_trace_escape(w->context, context, sizeof context), w->context_id,
                   band_names[e->band < TERN_BANDS ? e->band : 0], w->weight, e->job, e->offset, k->begun,
                   end - k->begun, k->resumed ? "true" : "false", why);
}

static void stopped(struct tern_trace *t, const struct tern_sched_event *e, const struct tern_trace_ctx *w,
                    struct track *k, const char *label, const char *why)
{
    const bool last = e->kind == TERN_EV_FAULTED || (e->kind == TERN_EV_COMPLETED && e->last);
    if (k->state == RUNNING) {
        engine_slice(t, e, w, k, label, why);
        arrow(t, last ? 'f' : 't', GROUP_ENGINES, engine_track(e->engine), k->begun, w, e->job);
    } else if (last) {
        settle(t, k, w);
        arrow(t, 'f', group(w), track_of(w), e->time > k->last ? e->time : k->last, w, e->job);
    }
    if (last) {
        ended(t, k, e->job, e->time);
    }
    const bool more = k->ended != k->submitted;
    const enum state then = e->kind == TERN_EV_PREEMPTED      ? PREEMPTED
                            : e->kind == TERN_EV_PAGE_REQUEST ? PAGING
                                                              : QUEUED;
    change(t, k, w, !more ? IDLE : k->waiting ? WAITING : then, e->time);
}

static void began(struct tern_trace *t, const struct tern_sched_event *e, const struct tern_trace_ctx *w,
                  struct track *k)
{
    change(t, k, w, RUNNING, e->time);
    k->begun = e->time;
    k->resumed = e->kind == TERN_EV_RESUMED;
}

/** Handles a page request. The context's track gets a mark with the page's address. */
static void asked(struct tern_trace *t, const struct tern_sched_event *e, const struct tern_trace_ctx *w,
                  struct track *k, const char *label)
{
    char args[96];
    stopped(t, e, w, k, label, "page request");
    snprintf(args, sizeof args, "\"address\":\"0x%08x\",\"buffer\":%" PRIu64 ",\"engine\":%u", e->address,
             e->job, e->engine);
    settle(t, k, w);
    mark(t, "page request", group(w), track_of(w), e->time > k->last ? e->time : k->last, args);
}

static void of_engine(struct tern_trace *t, const struct tern_sched_event *e, const struct tern_trace_ctx *w)
{
    char context[96], args[160] = "";
    if (w) {
        snprintf(args, sizeof args, "\"context\":\"%s\",\"id\":%u,\"buffer\":%" PRIu64,
                 tern_trace_escape(w->context, context, sizeof context), w->context_id, e->job);
    }
    mark(t, e->kind == TERN_EV_RESET ? "engine reset" : "asked to stop", GROUP_ENGINES, engine_track(e->engine),
         e->time, args);
}

void tern_trace_event(struct tern_trace *t, const struct tern_sched_event *e, const struct tern_trace_ctx *ctx,
                      const char *label)
{
    mend(t, e->time);
    struct track *k = ctx ? find(t, ctx) : NULL;
    label = label && *label ? label : "buffer";
    if (e->kind == TERN_EV_PREEMPT_REQUEST || e->kind == TERN_EV_RESET) {
        of_engine(t, e, ctx);
    }
    if (!k) {
        return;
    }
    switch (e->kind) {
    case TERN_EV_SUBMIT:
        submitted(t, e, ctx, k, label);
        break;
    case TERN_EV_START:
    case TERN_EV_RESUMED:
        began(t, e, ctx, k);
        break;
    case TERN_EV_COMPLETED:
        stopped(t, e, ctx, k, label, "completed");
        break;
    case TERN_EV_FAULTED:
        stopped(t, e, ctx, k, label, "faulted");
        break;
    case TERN_EV_PREEMPTED:
        stopped(t, e, ctx, k, label, "preempted");
        break;
    case TERN_EV_PAGE_REQUEST:
        asked(t, e, ctx, k, label);
        break;
    case TERN_EV_WAIT:
    case TERN_EV_WAKE:
        k->waiting = e->kind == TERN_EV_WAIT;
        if (k->state != IDLE && k->state != RUNNING && !ctx->inflight) {
            change(t, k, ctx, k->waiting ? WAITING : QUEUED, e->time);
        }
        break;
    default:
        break;
    }
}

void tern_trace_ended(struct tern_trace *t, const struct tern_trace_ctx *ctx, uint64_t job, int result, uint64_t now)
{
    mend(t, now);
    struct track *k = find(t, ctx);
    if (!k || job <= k->ended || job > k->submitted) {
        return;
    }
    const uint64_t time = now > k->last ? now : k->last;
    settle(t, k, ctx);
    mark(t, result == TERN_ABORTED ? "aborted" : result == TERN_FAULTED ? "faulted" : "ended", group(ctx),
         track_of(ctx), time, "");
    arrow(t, 'f', group(ctx), track_of(ctx), time, ctx, job);
    ended(t, k, job, now);
    if (k->ended == k->submitted) {
        change(t, k, ctx, IDLE, now);
    }
}

/* ------------------------------------------------------------------ life */

struct tern_trace *tern_trace_open(const struct tern_trace_device *device)
{
    const char *file = secure_getenv("TERN_TRACE");
    if (!file || !*file) {
        return NULL;
    }
    struct tern_trace *t = calloc(1, sizeof *t);
    struct tern_trace_out *out = t ? tern_trace_out_open(file) : NULL;
    if (!out) {
        free(t);
        return NULL;
    }
    const struct tern_trace_ctx paging = {.system = true};
    t->out = out;
    t->clock_hz = device->clock_hz ? device->clock_hz : 1000000000u;
    name_group(t, GROUP_ENGINES, engine_track(0), device->name);
    for (uint32_t e = 0; e < device->engines; e++) {
        char name[32];
        snprintf(name, sizeof name, "engine %u", e);
        name_track(t, GROUP_ENGINES, engine_track(e), name);
    }
    name_group(t, GROUP_DRIVER, track_of(&paging), "driver: paging");
    return t;
}

void tern_trace_idle(struct tern_trace *t)
{
    tern_trace_flush(t->out);
}

void tern_trace_close(struct tern_trace *t)
{
    if (t) {
        tern_trace_out_close(t->out);
        free(t->track);
        free(t->process);
        free(t);
    }
}
