/* SPDX-License-Identifier: Apache-2.0 */
/** Moves between two devices (migrate_moves.h). */
#include "migrate_moves.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/thread.h"
#include "migrate_bystander.h"
#include "migrate_link.h"
#include "migration/state/internal.h"
#include "migration/state/migrate.h"

#define MIB (1u << 20)
#define MOVES "moves"
#define STAYS "stays"
#define DEVICES 2u
#define QUANTUM 2500u
#define SPARE (8u * MIB)    /* Bytes of the partition for its program, tables, fences and save areas. */
#define DOWNTIME_NS 30000u  /* 240 KB of the link. */
#define PAGES 64u           /* Pages that are compared at once. */

struct run {
    struct {
        struct migrate_device *device;
        struct tern_device *dev;
    } side[DEVICES];
    const struct migrate_work *work;
    struct migrate_process process;
    struct migrate_bystander bystander; /* Runs on the first device. */
    struct window {
        uint64_t from, to; /* Device time, in cycles. */
    } *alone, *beside;
    struct progress *progress;
    struct migrate_moves *out;
};

/** State of one move, shared by its threads. */
struct move {
    struct run *run;
    uint32_t to;
    struct window *window; /* Ends when the process is told to stop. */
    struct migrate_link link;
    struct tern_stream *stream;
    pthread_t loader;
    struct tern_loading *loading;
    int loaded;
    char why[200];
};

static int fail(int r, const char *what, const char *why)
{
    fprintf(stderr, "tern bench migrate: %s: %s\n", what, why);
    return r;
}

/* ------------------------------------------------------------------------- one move */

static void *load(void *user)
{
    struct move *m = user;
    struct tern_stream *s;
    char rest[4096];
    m->loaded = tern_stream_read_fd(m->link.reader, &s);
    if (!m->loaded) {
        m->loaded = tern_migrate_load(m->run->side[m->to].dev, MOVES, s, NULL, &m->loading);
        snprintf(m->why, sizeof m->why, "%s", m->loaded ? tern_last_error() : "");
        tern_stream_close(s);
    }
    /* Reads the rest, so that the writer comes to its end. */
    while (m->loaded && read(m->link.reader, rest, sizeof rest) > 0) {
    }
    return NULL;
}

static uint64_t clock_of(void *user)
{
    return migrate_link_ns(&((struct move *)user)->link);
}

static int stopping(void *user)
{
    struct move *m = user;
    migrate_link_pause(&m->link, tern_stream_counts(m->stream).bytes);
    m->window->to = tern_device_time(m->run->side[1 - m->to].dev);
    return 0;
}

/** Adds to *lost the pages that differ between the two. */
static int compare(const struct migrate_process *a, const struct migrate_process *b, uint32_t *lost)
{
    unsigned char *of_a = malloc((size_t)PAGES * TERN_PAGE), *of_b = malloc((size_t)PAGES * TERN_PAGE);
    int r = of_a && of_b ? 0 : -ENOMEM;
    for (uint32_t i = 0; !r && i < a->memories; i++) {
        for (uint32_t at = 0, n; !r && at < a->memory[i].pages; at += n) {
            n = a->memory[i].pages - at < PAGES ? a->memory[i].pages - at : PAGES;
            r = tern_content_read(a->memory[i].allocation->mem, at, n, of_a);
            if (r == 0) {
                r = tern_content_read(b->memory[i].allocation->mem, at, n, of_b);
            }
            for (uint32_t k = 0; !r && k < n; k++) {
                *lost += memcmp(of_a + (size_t)k * TERN_PAGE, of_b + (size_t)k * TERN_PAGE, TERN_PAGE) != 0;
            }
        }
    }
    free(of_a);
    free(of_b);
    return r ? fail(r, "comparing memory", tern_last_error()) : 0;
}

/** Finds the process's objects on the target. */
static int follow(const struct tern_loading *l, const struct migrate_process *from, struct migrate_process *to)
{
    uint32_t number;
    *to = *from;
    to->proc = tern_loading_process(l, 0, &number);
    to->context = tern_loading_context(l, 0, 0, &number);
    bool all = to->proc && to->context;
    for (uint32_t i = 0; i < to->memories; i++) {
        to->memory[i].allocation = tern_loading_allocation(l, 0, to->memory[i].address);
        all = all && to->memory[i].allocation;
    }
    return all ? 0 : fail(-ENOENT, "a move", "the target lacks an object of the process");
}

/** Called when the source has stopped and the target has loaded. Compares both, and continues on the target. */
static int hand_over(struct move *m, struct tern_saving *saving)
{
    struct run *x = m->run;
    struct migrate_process there;
    int r = follow(m->loading, &x->process, &there);
    if (r == 0) {
        r = compare(&x->process, &there, &x->out->lost);
    }
    if (r) {
        tern_migrate_drop(m->loading);
        tern_migrate_go_on(saving);
        return r;
    }
    tern_migrate_commit(m->loading);
    tern_migrate_end(saving);
    migrate_process_destroy(&x->process);
    x->process = there;
    x->out->moves++;
    return migrate_work_goes_on(&x->process);
}

static int send(struct move *m, struct tern_saving **saving)
{
    const struct tern_migrate_limits limits = {.downtime_ns = DOWNTIME_NS, .clock = clock_of, .stopping = stopping,
                                               .user = m};
    int r = tern_stream_write_fd(m->link.writer, &m->stream);
    if (!r) {
        r = tern_migrate_live(&m->run->process.proc, 1, m->stream, &limits, saving);
        tern_stream_close(m->stream);
    }
    return r ? fail(r, "a move", tern_last_error()) : 0;
}

static int move(struct run *x, uint32_t from, struct window *w)
{
    struct move m = {.run = x, .to = 1 - from, .window = w};
    struct tern_saving *saving = NULL;
    w->from = tern_device_time(x->side[from].dev);
    int r = migrate_link_open(x->side[from].device, &m.link);
    if (r) {
        return r;
    }
    const int started = tern_thread_start(&m.loader, load, &m);
    r = started ? fail(started, "a thread", strerror(-started)) : send(&m, &saving);
    migrate_link_finish(&m.link);
    if (!started) {
        pthread_join(m.loader, NULL);
        if (r == 0 && m.loaded) {
            r = fail(m.loaded, "the target", m.why);
        }
    }
    migrate_link_close(&m.link);
    if (!r) {
        return hand_over(&m, saving);
    }
    if (m.loading) {
        tern_migrate_drop(m.loading);
    }
    if (saving) {
        tern_migrate_go_on(saving);
    }
    return r;
}

/* -------------------------------------------------------------------------- all of it */

/** Waits for this many cycles, in which nothing moves. */
static void stand(struct run *x, uint64_t cycles, struct window *w)
{
    struct tern_device *dev = x->side[0].dev;
    w->from = tern_device_time(dev);
    while (tern_device_time_seen(dev) < w->from + cycles) {
        nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
    }
    w->to = tern_device_time(dev);
}

static int run(struct run *x, uint32_t times)
{
    const uint64_t bytes = x->work->data_bytes + (uint64_t)x->work->hot_pages * TERN_PAGE;
    uint64_t cycles = bytes / MIGRATE_LINK_BYTES;
    struct window ignored;
    int r = 0;
    for (uint32_t i = 0; !r && i < times; i++) {
        stand(x, cycles, &x->alone[i]);
        r = move(x, 0, &x->beside[i]);
        cycles = x->beside[i].to - x->beside[i].from;
        if (r == 0) {
            r = move(x, 1, &ignored);
        }
        progress_part(x->progress, (i + 1.0) / times);
    }
    if (r == 0) {
        r = migrate_work_end(&x->process, x->work, &x->out->lost);
    }
    if (r == 0) {
        r = migrate_bystander_stop(&x->bystander, &x->out->wrong);
    }
    for (uint32_t i = 0; !r && i < times; i++) {
        x->out->alone += migrate_bystander_ended(&x->bystander, x->alone[i].from, x->alone[i].to);
        x->out->alone_cycles += x->alone[i].to - x->alone[i].from;
        x->out->beside += migrate_bystander_ended(&x->bystander, x->beside[i].from, x->beside[i].to);
        x->out->beside_cycles += x->beside[i].to - x->beside[i].from;
    }
    return r;
}

static int open_side(struct run *x, uint32_t i)
{
    const uint64_t hot = (uint64_t)x->work->hot_pages * TERN_PAGE;
    const struct tern_partition_desc moves = {.size = sizeof moves, .name = MOVES,
                                              .memory_bytes = x->work->data_bytes + hot + SPARE};
    const struct tern_partition_desc stays = {.size = sizeof stays, .name = STAYS, .memory_bytes = SPARE};
    char keys[80];
    snprintf(keys, sizeof keys, "mem=%lluM,quantum=%u",
             (unsigned long long)((moves.memory_bytes + stays.memory_bytes) / MIB + 32), QUANTUM);
    int r = migrate_device_open(keys, &x->side[i].device, &x->side[i].dev);
    if (r) {
        return r;
    }
    r = tern_partition_create(x->side[i].dev, &moves);
    if (r == 0) {
        r = tern_partition_create(x->side[i].dev, &stays);
    }
    return r ? fail(r, "a partition", tern_last_error()) : 0;
}

static int close_all(struct run *x)
{
    int r = 0;
    migrate_process_destroy(&x->process);
    migrate_bystander_destroy(&x->bystander);
    for (uint32_t i = 0; i < DEVICES; i++) {
        if (x->side[i].dev && tern_device_close(x->side[i].dev)) {
            r = fail(-EBUSY, "the device does not close", tern_last_error());
        }
    }
    free(x->alone);
    free(x->beside);
    free(x);
    return r;
}

int migrate_moves(const struct direct_program *program, const struct migrate_work *work, uint32_t times,
                  struct progress *progress, struct migrate_moves *out)
{
    struct run *x = calloc(1, sizeof *x);
    if (!x) {
        return -ENOMEM;
    }
    *out = (struct migrate_moves){.moves = 0};
    x->work = work;
    x->progress = progress;
    x->out = out;
    x->alone = calloc(times, sizeof *x->alone);
    x->beside = calloc(times, sizeof *x->beside);
    int r = x->alone && x->beside ? 0 : -ENOMEM;
    for (uint32_t i = 0; !r && i < DEVICES; i++) {
        r = open_side(x, i);
    }
    if (r == 0) {
        r = migrate_work_start(x->side[0].dev, MOVES, program, work, 0, &x->process);
    }
    if (r == 0) {
        r = migrate_bystander_start(x->side[0].dev, STAYS, program, &x->bystander);
    }
    if (r == 0) {
        r = run(x, times);
    }
    const int left = close_all(x);
    return r ? r : left;
}
