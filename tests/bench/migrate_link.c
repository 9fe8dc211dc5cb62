/* SPDX-License-Identifier: Apache-2.0 */
/** A device whose time passes with the bytes of a link (migrate_link.h). */
#include "migrate_link.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "backend.h"
#include "base/error.h"
#include "base/thread.h"
#include "base/ticket_lock.h"
#include "base/wait.h"
#include "hal/open/open.h"
#include "tern/tern_hw.h"

#define STEP 4096u         /* Maximum cycles of one step. Other threads can use the device between steps. */
#define PIECE (64u << 10)  /* Maximum bytes that the link takes at once. */
#define READER (1u << 20)  /* Bytes that may wait for the reader. */
#define LITTLE 64u         /* Cycles that pass in a millisecond of the host while time is paused. */
#define STOPPING 4096u     /* Cycles that pass at once, while time is paused, when an engine has to stop. */

/** How device time passes. PAUSED: LITTLE cycles a millisecond of the host, and at once up to `allowed`. */
enum mode { BY_ITSELF, BY_LINK, PAUSED };

/** hal_lock guards `real` and `seen`. `lock` guards the state below it and is held briefly. */
struct migrate_device {
    struct tern_hal hal, *real;
    struct tern_ticket_lock hal_lock;
    uint32_t seen; /* The register of device time, as last read. */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t now;          /* Cycles since the device was opened. */
    bool waited_for;       /* The driver waits for the device. */
    uint64_t until;        /* The cycle up to which the driver waits. */
    enum mode mode;
    uint64_t allowed;      /* The cycle up to which time may pass at once while it is PAUSED. */
    bool woken, raised;    /* A running wait has to end. */
    int failed;
};

static struct migrate_device *device_of(struct tern_hal *h)
{
    return (struct migrate_device *)(void *)h;
}

static int fail(int r, const char *what)
{
    fprintf(stderr, "tern bench migrate: %s: %s\n", what, strerror(-r));
    return r;
}

/* ------------------------------------------------------------------ device time */

/** Lets at most this many cycles pass, or fewer if an interrupt comes. Called with the lock, which is released
 * meanwhile. */
static void step(struct migrate_device *d, uint64_t cycles)
{
    uint32_t time = 0;
    pthread_mutex_unlock(&d->lock);
    tern_ticket_lock(&d->hal_lock);
    const int r = d->real->ops->wait(d->real, cycles < STEP ? cycles : STEP);
    const int e = d->real->ops->read32(d->real, TERN_REG_DEV_TIME_LO, &time);
    const uint32_t passed = time - d->seen;
    d->seen = time;
    tern_ticket_unlock(&d->hal_lock);
    pthread_mutex_lock(&d->lock);
    d->now += passed;
    d->raised = d->raised || r > 0;
    d->failed = r < 0 ? r : e;
    if (d->raised || d->failed || d->now >= d->until) {
        pthread_cond_broadcast(&d->changed);
    }
}

static void wait_a_moment(struct migrate_device *d)
{
    const struct timespec soon = tern_deadline(1);
    pthread_cond_timedwait(&d->changed, &d->lock, &soon);
}

/** Returns whether an engine works. Called with the lock, which is released meanwhile. */
static bool works(struct migrate_device *d)
{
    uint32_t status = 0;
    bool any = false;
    pthread_mutex_unlock(&d->lock);
    tern_ticket_lock(&d->hal_lock);
    for (uint32_t e = 0; e < TERN_REG_ENGINE_COUNT && !any; e++) {
        any = d->real->ops->read32(d->real, TERN_REG_ENGINE_STATUS(e), &status) == 0 &&
              status & TERN_ENGINE_STATUS_BUSY_MASK;
    }
    tern_ticket_unlock(&d->hal_lock);
    pthread_mutex_lock(&d->lock);
    return any;
}

/** Lets the link's cycles pass, while the driver waits for the device or if no engine works. The driver's own work
 *  takes no device time, as with other simulated devices. */
static void pass(struct migrate_device *d, uint64_t cycles)
{
    pthread_mutex_lock(&d->lock);
    d->mode = BY_LINK;
    const uint64_t end = d->now + cycles;
    while (!d->failed && d->now < end) {
        if (d->waited_for && !d->raised && !d->woken && d->now < d->until) {
            step(d, (end < d->until ? end : d->until) - d->now);
        } else if (works(d)) {
            wait_a_moment(d);
        } else {
            step(d, end - d->now);
        }
    }
    pthread_mutex_unlock(&d->lock);
}

static void set_mode(struct migrate_device *d, enum mode mode)
{
    pthread_mutex_lock(&d->lock);
    d->mode = mode;
    pthread_cond_broadcast(&d->changed);
    pthread_mutex_unlock(&d->lock);
}

/* ------------------------------------------------------------------- operations */

static struct tern_hal *use(struct tern_hal *h)
{
    tern_ticket_lock(&device_of(h)->hal_lock);
    return device_of(h)->real;
}

static int used(struct tern_hal *h, int r)
{
    tern_ticket_unlock(&device_of(h)->hal_lock);
    return r;
}

static int link_read32(struct tern_hal *h, uint32_t offset, uint32_t *value)
{
    struct tern_hal *real = use(h);
    return used(h, real->ops->read32(real, offset, value));
}

/** A write that stops an engine allows the time that the stop needs. */
static int link_write32(struct tern_hal *h, const struct tern_hal_write *writes, size_t n)
{
    struct migrate_device *d = device_of(h);
    struct tern_hal *real = use(h);
    const int r = used(h, real->ops->write32(real, writes, n));
    bool stops = false;
    for (size_t i = 0; i < n; i++) {
        for (uint32_t e = 0; e < TERN_REG_ENGINE_COUNT; e++) {
            stops = stops || (writes[i].offset == TERN_REG_ENGINE_COMMAND(e) &&
                              writes[i].value & TERN_ENGINE_COMMAND_PREEMPT_MASK);
        }
    }
    pthread_mutex_lock(&d->lock);
    if (stops) {
        d->allowed = d->now + STOPPING;
        pthread_cond_broadcast(&d->changed);
    }
    pthread_mutex_unlock(&d->lock);
    return r;
}

static int link_mem_read(struct tern_hal *h, uint64_t address, void *data, size_t size)
{
    struct tern_hal *real = use(h);
    return used(h, real->ops->mem_read(real, address, data, size));
}

static int link_mem_write(struct tern_hal *h, const struct tern_iovec *pieces, size_t n)
{
    struct tern_hal *real = use(h);
    return used(h, real->ops->mem_write(real, pieces, n));
}

static int link_flush(struct tern_hal *h)
{
    struct tern_hal *real = use(h);
    return used(h, real->ops->flush(real));
}

static int link_wait(struct tern_hal *h, uint64_t cycles)
{
    struct migrate_device *d = device_of(h);
    pthread_mutex_lock(&d->lock);
    const uint64_t until = d->until = d->now + cycles;
    d->waited_for = true;
    pthread_cond_broadcast(&d->changed);
    while (!d->failed && !d->woken && !d->raised && d->now < until) {
        if (d->mode == BY_LINK) {
            pthread_cond_wait(&d->changed, &d->lock);
        } else if (d->mode == BY_ITSELF || d->now < d->allowed) {
            const uint64_t end = d->mode == BY_ITSELF || d->allowed > until ? until : d->allowed;
            step(d, end - d->now);
        } else {
            wait_a_moment(d);
            step(d, LITTLE);
        }
    }
    const int r = d->failed ? d->failed : d->woken || d->raised;
    d->woken = d->raised = d->waited_for = false;
    pthread_cond_broadcast(&d->changed);
    pthread_mutex_unlock(&d->lock);
    return r;
}

static void link_wake(struct tern_hal *h)
{
    struct migrate_device *d = device_of(h);
    pthread_mutex_lock(&d->lock);
    d->woken = true;
    pthread_cond_broadcast(&d->changed);
    pthread_mutex_unlock(&d->lock);
}

static void link_close(struct tern_hal *h)
{
    struct migrate_device *d = device_of(h);
    d->real->ops->close(d->real);
    tern_ticket_lock_destroy(&d->hal_lock);
    pthread_mutex_destroy(&d->lock);
    pthread_cond_destroy(&d->changed);
    free(d);
}

/* ------------------------------------------------------------------- the device */

static int open_real(const char *keys, struct tern_policy *policy, struct tern_hal **out)
{
    char text[200];
    struct tern_config *c;
    int r = backend_config(text, sizeof text, keys) ? tern_policy_parse(NULL, text, policy, &c)
                                                    : tern_error(-ENAMETOOLONG, "TERN_CONFIG is too long");
    if (!r) {
        r = tern_hal_open(c, out);
        free(c);
    }
    return r;
}

static int begin(struct migrate_device *d)
{
    pthread_condattr_t monotonic;
    int r = tern_ticket_lock_init(&d->hal_lock);
    pthread_mutex_init(&d->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&d->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    return r ? r : d->real->ops->read32(d->real, TERN_REG_DEV_TIME_LO, &d->seen);
}

int migrate_device_open(const char *keys, struct migrate_device **out, struct tern_device **dev)
{
    static const struct tern_hal_ops ops = {
        .read32 = link_read32, .write32 = link_write32, .mem_read = link_mem_read, .mem_write = link_mem_write,
        .map = NULL, .flush = link_flush, .wait = link_wait, .wake = link_wake, .close = link_close};
    struct tern_policy policy;
    struct migrate_device *d = calloc(1, sizeof *d);
    int r = d ? open_real(keys, &policy, &d->real) : tern_error_memory("a device");
    if (r == 0) {
        r = begin(d);
    }
    if (!r) {
        d->hal = *d->real;
        d->hal.ops = &ops;
        d->hal.concurrent = true;
        r = tern_device_open_hal(&d->hal, &policy, dev);
    }
    if (r) {
        fprintf(stderr, "tern bench migrate: no device: %s\n", tern_last_error());
        if (d && d->real) {
            link_close(&d->hal);
        } else {
            free(d);
        }
        return r;
    }
    *out = d;
    return 0;
}

/* --------------------------------------------------------------------- the link */

/** Writes the bytes. If the reader has gone, the rest is dropped. */
static void give(int fd, const char *data, size_t bytes)
{
    for (ssize_t n; bytes; data += n, bytes -= (size_t)n) {
        n = write(fd, data, bytes);
        if (n < 0 && errno != EINTR) {
            return;
        }
        n = n < 0 ? 0 : n;
    }
}

static void *run(void *user)
{
    struct migrate_link *l = user;
    char *piece = malloc(PIECE);
    uint64_t rest = 0;
    ssize_t n;
    while (piece && ((n = read(l->taken, piece, PIECE)) > 0 || (n < 0 && errno == EINTR))) {
        n = n < 0 ? 0 : n;
        rest += (uint64_t)n;
        pass(l->device, rest / MIGRATE_LINK_BYTES);
        rest %= MIGRATE_LINK_BYTES;
        give(l->given, piece, (size_t)n);
        pthread_mutex_lock(&l->device->lock);
        l->bytes += (uint64_t)n;
        pthread_cond_broadcast(&l->device->changed);
        pthread_mutex_unlock(&l->device->lock);
    }
    free(piece);
    close(l->taken); /* Without memory for the buffer, this tells the writer. */
    close(l->given);
    return NULL;
}

int migrate_link_open(struct migrate_device *device, struct migrate_link *out)
{
    int to[2], from[2];
    if (pipe(to)) {
        return fail(-errno, "a link");
    }
    if (pipe(from)) {
        const int r = -errno;
        close(to[0]);
        close(to[1]);
        return fail(r, "a link");
    }
    *out = (struct migrate_link){.device = device, .writer = to[1], .taken = to[0], .reader = from[0],
                                 .given = from[1], .bytes = 0};
    fcntl(from[1], F_SETPIPE_SZ, READER); /* The host may give the pipe less. */
    set_mode(device, BY_LINK);
    const int r = tern_thread_start(&out->thread, run, out);
    if (r) {
        set_mode(device, BY_ITSELF);
        close(to[0]);
        close(to[1]);
        close(from[0]);
        close(from[1]);
        return fail(r, "the thread of a link");
    }
    return 0;
}

void migrate_link_pause(struct migrate_link *l, uint64_t bytes)
{
    pthread_mutex_lock(&l->device->lock);
    while (!l->device->failed && l->bytes < bytes) {
        pthread_cond_wait(&l->device->changed, &l->device->lock);
    }
    pthread_mutex_unlock(&l->device->lock);
    set_mode(l->device, PAUSED);
}

void migrate_link_finish(struct migrate_link *l)
{
    close(l->writer);
    pthread_join(l->thread, NULL);
    set_mode(l->device, BY_ITSELF);
}

void migrate_link_close(struct migrate_link *l)
{
    close(l->reader);
}

uint64_t migrate_link_ns(const struct migrate_link *l)
{
    return l->bytes / MIGRATE_LINK_GB;
}
