/* SPDX-License-Identifier: Apache-2.0 */
/** Processes that move from one device, `dev`, to another: opens both, and has streams in memory between them. For
 *  programs that have dev and b, of rig.h or fixture.h. */
#ifndef MOVING_H
#define MOVING_H

#include "free_pages.h"
#include "migration/state/migrate.h"
#include "pausing.h"

/** Single pages of a device that are taken, with gaps between them, so that arriving memory lies elsewhere and in
 * pieces. */
struct taken {
    struct tern_run run[4096];
    uint32_t n;
};

static inline void scatter(struct tern_device *d, struct taken *t, uint32_t most)
{
    struct tern_run gap[4096];
    uint32_t gaps = 0;
    t->n = 0;
    pthread_mutex_lock(&d->lock);
    while (t->n < most && tern_pages_take(d->partition.pages, 1, &t->run[t->n]) == 0) {
        t->n++;
        if (tern_pages_take(d->partition.pages, 1 + t->n % 3, &gap[gaps]) == 0) {
            gaps++;
        }
    }
    while (gaps) {
        tern_pages_give(d->partition.pages, &gap[--gaps]);
    }
    pthread_mutex_unlock(&d->lock);
}

static inline void gather(struct tern_device *d, struct taken *t)
{
    pthread_mutex_lock(&d->lock);
    while (t->n) {
        tern_pages_give(d->partition.pages, &t->run[--t->n]);
    }
    pthread_mutex_unlock(&d->lock);
}

/** The target of migrations from `dev`, with the same backend unless TERN_TEST_THERE names another. */
static struct tern_device *there;
static struct pausing *here;

static inline void open_there(const char *config)
{
    const char *other = getenv("TERN_TEST_THERE");
    ok_or_skip(tern_device_open(other ? other : getenv("TERN_BACKEND"), config, &there));
}

static inline void open_both(const char *config)
{
    b.size = 0;
    here = pausing_open(NULL, of_geometry(config), &dev);
    open_there(of_geometry(config));
}

static inline void close_both(void)
{
    ok(tern_device_close(there));
    ok(tern_device_close(dev));
}

/** Stops the processes and writes them to a stream in memory. */
static inline struct tern_stream *saved(struct tern_process *const *procs, uint32_t n, struct tern_saving **m)
{
    struct tern_stream *s;
    ok(tern_migrate_stop(procs, n, m));
    ok(tern_stream_write_memory(&s));
    ok(tern_migrate_write(*m, s));
    return s;
}

/** Loads what was written to a stream in memory. */
static inline struct tern_loading *loaded(struct tern_device *to, const struct tern_stream *from,
                                          const struct tern_migrate_owner *owner)
{
    struct tern_loading *l;
    struct tern_stream *s;
    size_t n;
    const void *bytes = tern_stream_memory(from, &n);
    ok(tern_stream_read_memory(bytes, n, &s));
    ok(tern_migrate_load(to, NULL, s, owner, &l));
    tern_stream_close(s);
    return l;
}

/** Processes between source and target: stopped at the source, and not running at the target yet. */
struct journey {
    struct tern_saving *saving;
    struct tern_stream *stream;
    struct tern_loading *loading;
};

static inline struct journey depart(struct tern_process *const *procs, uint32_t n,
                                    const struct tern_migrate_owner *owner)
{
    struct journey j;
    j.stream = saved(procs, n, &j.saving);
    j.loading = loaded(there, j.stream, owner);
    return j;
}

/** The processes run on the target. The source's objects remain to be destroyed (forget). */
static inline void arrive(struct journey *j)
{
    tern_migrate_commit(j->loading);
    tern_migrate_end(j->saving);
    tern_stream_close(j->stream);
}

/** Destroys the source's process after it has moved. */
static inline void forget(struct tern_process *p)
{
    assert_int_equal(tern_process_status(p, NULL), -EIO);
    ok(tern_process_destroy(p));
}

#endif
