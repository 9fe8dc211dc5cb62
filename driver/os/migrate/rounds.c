/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Brownout (M1): memory is sent while the work runs, then what it has changed meanwhile, round by round, until the rest
 * takes no longer than the blackout may. How long it takes is judged by what a page of the last round took.
 */
#include <errno.h>

#include "base/error.h"
#include "base/wait.h"
#include "os/migrate/saving.h"

typedef unsigned long long ull;

#define DOWNTIME_NS 300000000ull
#define ROUNDS 30u
#define STUCK 3u      /* rounds one after another that leave hardly less than the one before: it does not converge */
#define LEVELS 8u     /* of throttling: of each 8 blocks that are sent, so many while the work stands still */
#define LEVEL_STEP 2u

/** The work runs, or stands still, while block number k is sent. */
static int throttle(struct tern_saving *m, uint32_t level, uint64_t k)
{
    if (!level || (k % LEVELS && k % LEVELS != level)) {
        return 0;
    }
    return tern_saving_suspend(m, k % LEVELS < level);
}

/** All that has changed, once. */
static int send_round(struct tern_saving *m, uint32_t level)
{
    uint64_t k = 0;
    int r = 0;
    for (uint32_t i = 0; i < m->sender->count; i++) {
        for (uint32_t b = 0; !r && b < m->sender->memories[i].m->block_count; b++) {
            r = throttle(m, level, k++);
            r = r ? r : tern_sender_send(m->sender, i, b);
        }
    }
    const int back = level ? tern_saving_suspend(m, false) : 0;
    return r ? r : back;
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
    int r = send_round(m, t->throttle);
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
static int not_converging(const struct tern_migrate_limits *l, struct tern_migrate_round *t)
{
    if (l->policy == TERN_MIGRATE_GIVE_UP) {
        return tern_error(-ETIMEDOUT, "the work writes faster than it can be moved: after round %u %llu pages are "
                          "left, which take %llu ms", t->number, (ull)t->left, (ull)(t->expected_ns / 1000000));
    }
    if (l->policy == TERN_MIGRATE_FORCE || t->throttle + LEVEL_STEP >= LEVELS) {
        return 0;
    }
    t->throttle += LEVEL_STEP;
    return 1;
}

static int run_rounds(struct tern_saving *m, struct tern_stream *s, const struct tern_migrate_limits *l)
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
            return r;
        }
        stuck = t.left < before - before / 8 ? 0 : stuck + 1;
        r = 1;
        if (t.number >= most || stuck >= STUCK) {
            r = t.number >= 2 * most ? 0 : not_converging(l, &t);
            stuck = 0;
        }
    }
    return r;
}

int tern_migrate_live(struct tern_process *const *procs, uint32_t n, struct tern_stream *s,
                      const struct tern_migrate_limits *limits, struct tern_saving **out)
{
    struct tern_saving *m;
    int r = tern_saving_open(procs, n, &m);
    if (r) {
        return r;
    }
    r = tern_saving_begin(m, s);
    r = r ? r : tern_sender_follow(m->sender);
    r = r ? r : tern_stream_remember(s);
    r = r ? r : tern_saving_image(m, false, s);
    r = r ? r : run_rounds(m, s, limits);
    r = r || !limits->stopping ? r : limits->stopping(limits->user);
    r = r ? r : tern_saving_suspend(m, true);
    r = r ? r : tern_migrate_write(m, s);
    if (r) {
        tern_migrate_go_on(m);
    } else {
        *out = m;
    }
    return r;
}
