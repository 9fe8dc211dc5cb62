/* SPDX-License-Identifier: Apache-2.0 */
/** A device whose time stops at a given cycle until a process is suspended, so that its work is preempted at that
 * cycle. */
#ifndef PAUSING_H
#define PAUSING_H

#include <stdatomic.h>
#include <time.h>

#include "hal/open/open.h"
#include "kmd/regs.h"
#include "os/device/device.h"
#include "work.h"

struct pausing {
    struct tern_hal hal, *real;
    atomic_uint at;          /* device time at which it stops, in cycles; 0: never */
    atomic_bool paused;      /* time has stopped: no call that touches the device returns */
    struct tern_process *_Atomic proc;
};

static inline struct pausing *pausing_of(struct tern_hal *h)
{
    return TERN_LIST_ENTRY(h, struct pausing, hal);
}

static inline int pausing_read32(struct tern_hal *h, uint32_t offset, uint32_t *value)
{
    return pausing_of(h)->real->ops->read32(pausing_of(h)->real, offset, value);
}

static inline int pausing_write32(struct tern_hal *h, const struct tern_hal_write *writes, size_t n)
{
    return pausing_of(h)->real->ops->write32(pausing_of(h)->real, writes, n);
}

static inline int pausing_mem_read(struct tern_hal *h, uint64_t address, void *data, size_t size)
{
    return pausing_of(h)->real->ops->mem_read(pausing_of(h)->real, address, data, size);
}

static inline int pausing_mem_write(struct tern_hal *h, const struct tern_iovec *pieces, size_t n)
{
    return pausing_of(h)->real->ops->mem_write(pausing_of(h)->real, pieces, n);
}

static inline int pausing_flush(struct tern_hal *h)
{
    return pausing_of(h)->real->ops->flush(pausing_of(h)->real);
}

static inline void pausing_wake(struct tern_hal *h)
{
    pausing_of(h)->real->ops->wake(pausing_of(h)->real);
}

static inline void pausing_close(struct tern_hal *h)
{
    struct pausing *p = pausing_of(h);
    p->real->ops->close(p->real);
    free(p);
}

static inline bool pausing_may_go(const struct pausing *p)
{
    const volatile struct tern_process *proc = p->proc;
    return !p->at || (proc && proc->suspended);
}

static inline int pausing_wait(struct tern_hal *h, uint64_t cycles)
{
    struct pausing *p = pausing_of(h);
    uint32_t now = 0;
    int r = p->at ? p->real->ops->read32(p->real, TERN_REG_DEV_TIME_LO, &now) : 0;
    const uint32_t at = p->at;
    if (r || !at || now + cycles < at) {
        return r ? r : p->real->ops->wait(p->real, cycles);
    }
    if (now < at) {
        r = p->real->ops->wait(p->real, at - now);
        return r ? r : 1;
    }
    p->paused = true;
    while (!pausing_may_go(p)) {
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    }
    p->at = 0;
    p->paused = false;
    return 1;
}

/** Opens a device (backend NULL: the environment's), or skips the test. */
static inline struct pausing *pausing_open(const char *backend, const char *config, struct tern_device **out)
{
    static const struct tern_hal_ops ops = {
        .read32 = pausing_read32, .write32 = pausing_write32, .mem_read = pausing_mem_read,
        .mem_write = pausing_mem_write, .flush = pausing_flush, .wait = pausing_wait, .wake = pausing_wake,
        .close = pausing_close};
    struct pausing *p = calloc(1, sizeof *p);
    struct tern_config *c;
    struct tern_policy policy;
    assert_non_null(p);
    ok(tern_policy_parse(backend, config, &policy, &c));
    ok_or_skip(tern_hal_open(c, &p->real));
    free(c);
    p->hal = *p->real;
    p->hal.ops = &ops;
    ok(tern_device_open_hal(&p->hal, &policy, out));
    return p;
}

/** Device time stops in so many cycles until the process is suspended. */
static inline void pausing_set(struct pausing *p, struct tern_device *d, struct tern_process *proc, uint32_t cycles)
{
    p->proc = proc;
    p->at = (uint32_t)tern_device_time(d) + cycles;
}

/** Waits until device time has stopped, or all work of the context has ended. */
static inline void pausing_await(struct pausing *p, const struct tern_context *c)
{
    while (!p->paused && tern_context_ended((struct tern_context *)(uintptr_t)c) < c->submitted) {
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    }
    if (!p->paused) {
        p->at = 0;
    }
}

#endif
