/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The brownout of a live migration (M1): pre-copy in rounds. The first round sends all memory while the work runs; each
 * later round sends what was written during the round before. The rounds end when sending the rest is expected to take
 * no longer than limits->downtime_ns. The estimate is the number of pages left times the time of a page in the last
 * round.
 */
#include <errno.h>
#include <inttypes.h>

#include "base/error.h"
#include "base/wait.h"
#include "migration/state/internal.h"
#include "os/state/state.h"

#define DOWNTIME_DEFAULT_NS 300000000ull
#define ROUNDS_DEFAULT 30u
/* consecutive rounds that reduce the rest by less than an eighth, after which the migration does not converge */
#define STALLED_ROUNDS_MAX 3u

/** Eighths of each engine that are withheld, level by level: each level leaves about half of the level before. */
static const uint32_t levels[] = {2, 4, 6, 7};

/** Changes the cap of the work from level `from` to level `to`; level 0 is no cap. Takes dev->lock. */
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

/** Sends all changed pages once. */
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

/** Runs one round, and counts the pages that are left. */
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
    if (r == 0) {
        r = tern_sender_left(m->sender, &t->left);
    }
    t->expected_ns = t->left * t->page_ns;
    return r ? r : write_round(t, s);
}

/** Applies the policy to work that does not converge. 1: continue with a lower cap; 0: stop the work now;
 *  -ETIMEDOUT. */
static int not_converging(struct tern_saving *m, const struct tern_migrate_limits *l, struct tern_migrate_round *t)
{
    const uint32_t was = t->throttle;
    if (l->policy == TERN_MIGRATE_GIVE_UP) {
        return tern_error(-ETIMEDOUT, "the work writes faster than it can be moved: after round %u %" PRIu64
                          " pages are left, which take %" PRIu64 " ms", t->number, t->left, t->expected_ns / 1000000);
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

/** Runs rounds until the rest fits the downtime, or the policy ends them. *level: the cap in effect at the end, also
 *  on failure. */
static int run_rounds(struct tern_saving *m, struct tern_stream *s, const struct tern_migrate_limits *l,
                      uint32_t *level)
{
    const uint64_t downtime = l->downtime_ns ? l->downtime_ns : DOWNTIME_DEFAULT_NS;
    const uint32_t most = l->rounds ? l->rounds : ROUNDS_DEFAULT;
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
        if (t.number >= most || stuck >= STALLED_ROUNDS_MAX) {
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
    if (r == 0) {
        r = tern_sender_follow(m->sender);
    }
    if (r == 0) {
        r = tern_stream_remember(s);
    }
    if (r == 0) {
        r = tern_saving_image(m, false, s);
    }
    if (r == 0) {
        r = run_rounds(m, s, limits, &level);
    }
    if (r == 0 && limits->stopping) {
        r = limits->stopping(limits->user);
    }
    if (r == 0) {
        r = tern_saving_suspend(m, true);
    }
    throttle(m, level, 0); /* the work is suspended, or is to run without a cap after a failure */
    if (r == 0) {
        r = tern_migrate_write(m, s);
    }
    if (r) {
        tern_migrate_go_on(m);
    } else {
        *out = m;
    }
    return r;
}
