/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Brownout (M1): memory is sent while the work runs, then what it has changed meanwhile, round by round, until the rest
 * takes no longer than the blackout may. How long it takes is judged by what a page of the last round took.
 */
#include <errno.h>

#include "base/error.h"
#include "base/wait.h"
#include "os/migrate/saving.h"
#include "os/os.h"

typedef unsigned long long ull;

#define DOWNTIME_NS 300000000ull
#define ROUNDS 30u
#define STUCK 3u      /* rounds one after another that leave hardly less than the one before: it does not converge */

/** Parts of each engine that the work may not have, one level after another: a half of what it had each time, about. */
static const uint32_t levels[] = {2, 4, 6, 7};

/** The work has no more than the rest of each engine from now on; 0: all that it can get, as before. */
static void throttle(struct tern_saving *m, uint32_t from, uint32_t to)
{
    struct tern_sched *s = &m->dev->sched;
    pthread_mutex_lock(&m->dev->lock);
    if (to && from) {
        tern_sched_cap_set(&m->cap, TERN_CAP_WHOLE - to);
    } else if (to) {
        tern_sched_cap_begin(s, &m->cap, TERN_CAP_WHOLE - to);
        for (uint32_t i = 0; i < m->n; i++) {
            tern_sched_cap_add(s, &m->cap, &m->saved[i].proc->sched);
        }
    } else if (from) {
        tern_sched_cap_end(s, &m->cap);
    }
    tern_device_kick(m->dev);
    pthread_mutex_unlock(&m->dev->lock);
}

/** All that has changed, once. */
static int send_round(struct tern_saving *m)
{
    int r = 0;
    for (uint32_t i = 0; i < m->sender->count; i++) {
        for (uint32_t b = 0; !r && b < m->sender->memories[i].m->block_count; b++) {
            r = tern_sender_send(m->sender, i, b);
        }
    }
    return r;
}

static int write_round(const struct tern_migrate_round *t, struct tern_stream *s)
{
    tern_record_begin(s, TERN_RECORD_ROUND);
    tern_put_u64(s, "number", t->number);
    tern_put_u64(s, "pages", t->pages);
    tern_put_u64(s, "left", t->left);
    return tern_record_end(s);
}

static uint64_t now(const struct tern_migrate_limits *l)
{
    return l->clock ? l->clock(l->user) : tern_clock_ns();
}

/** One round, and what is left after it. */
static int do_round(struct tern_saving *m, struct tern_stream *s, const struct tern_migrate_limits *l,
                    struct tern_migrate_round *t)
{
    const uint64_t since = now(l), pages = m->sender->sent, before = t->page_ns;
    const struct tern_stream_counts old = tern_stream_counts(s);
    int r = send_round(m);
    const struct tern_stream_counts c = tern_stream_counts(s);
    t->number++;
    t->pages = m->sender->sent - pages;
    t->zero = c.pages_zero - old.pages_zero;
    t->same = c.pages_same - old.pages_same;
    t->content = c.page_bytes - old.page_bytes;
    t->bytes = c.bytes - old.bytes;
    t->ns = now(l) - since;
    t->page_ns = t->pages ? t->ns / t->pages + 1 : before;
    r = r ? r : tern_sender_left(m->sender, &t->left);
    t->expected_ns = t->left * t->page_ns;
    return r ? r : write_round(t, s);
}

/** It does not converge: 0, it is stopped all the same; 1, it goes on otherwise; or an error. */
static int not_converging(struct tern_saving *m, const struct tern_migrate_limits *l, struct tern_migrate_round *t)
{
    const uint32_t was = t->throttle;
    if (l->policy == TERN_MIGRATE_GIVE_UP) {
        return tern_error(-ETIMEDOUT, "the work writes faster than it can be moved: after round %u %llu pages are "
                          "left, which take %llu ms", t->number, (ull)t->left, (ull)(t->expected_ns / 1000000));
    }
    for (size_t i = 0; l->policy == TERN_MIGRATE_THROTTLE && i < sizeof levels / sizeof *levels; i++) {
        if (levels[i] > was) {
            t->throttle = levels[i];
            throttle(m, was, t->throttle);
            return 1;
        }
    }
    return 0;
}

/** level: by which they are slowed down when it ends, in whatever way; else untouched. */
static int run_rounds(struct tern_saving *m, struct tern_stream *s, const struct tern_migrate_limits *l,
                      uint32_t *level)
{
    const uint64_t downtime = l->downtime_ns ? l->downtime_ns : DOWNTIME_NS;
    const uint32_t most = l->rounds ? l->rounds : ROUNDS;
    struct tern_migrate_round t = {.left = UINT64_MAX};
    uint32_t stuck = 0;
    int r = 1;
    while (r > 0) {
        const uint64_t before = t.left;
        r = do_round(m, s, l, &t);
        if (!r && l->progress) {
            l->progress(l->user, &t);
        }
        if (r || t.expected_ns <= downtime) {
            break;
        }
        stuck = t.left < before - before / 8 ? 0 : stuck + 1;
        r = 1;
        if (t.number >= most || stuck >= STUCK) {
            r = t.number >= 2 * most ? 0 : not_converging(m, l, &t);
            stuck = 0;
        }
    }
    *level = t.throttle;
    return r;
}

int tern_migrate_live(struct tern_process *const *procs, uint32_t n, struct tern_stream *s,
                      const struct tern_migrate_limits *limits, struct tern_saving **out)
{
    struct tern_saving *m;
    uint32_t level = 0;
    int r = tern_saving_open(procs, n, &m);
    if (r) {
        return r;
    }
    r = tern_saving_begin(m, s);
    r = r ? r : tern_sender_follow(m->sender);
    r = r ? r : tern_stream_remember(s);
    r = r ? r : tern_saving_image(m, false, s);
    r = r ? r : run_rounds(m, s, limits, &level);
    r = r || !limits->stopping ? r : limits->stopping(limits->user);
    r = r ? r : tern_saving_suspend(m, true);
    throttle(m, level, 0); /* they have stopped, or go on as before */
    r = r ? r : tern_migrate_write(m, s);
    if (r) {
        tern_migrate_go_on(m);
    } else {
        *out = m;
    }
    return r;
}
