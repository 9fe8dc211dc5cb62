/* SPDX-License-Identifier: Apache-2.0 */
#include "breakpoint.h"

#include <time.h>

#include "check.h"
#include "hal/open/open.h"
#include "kmd/regs.h"
#include "open_device.h"

static struct breakpoint *breakpoint_of(struct tern_hal *h)
{
    return TERN_LIST_ENTRY(h, struct breakpoint, hal);
}

static int breakpoint_read32(struct tern_hal *h, uint32_t offset, uint32_t *value)
{
    return breakpoint_of(h)->real->ops->read32(breakpoint_of(h)->real, offset, value);
}

static int breakpoint_write32(struct tern_hal *h, const struct tern_hal_write *writes, size_t n)
{
    return breakpoint_of(h)->real->ops->write32(breakpoint_of(h)->real, writes, n);
}

static int breakpoint_mem_read(struct tern_hal *h, uint64_t address, void *data, size_t size)
{
    return breakpoint_of(h)->real->ops->mem_read(breakpoint_of(h)->real, address, data, size);
}

static int breakpoint_mem_write(struct tern_hal *h, const struct tern_iovec *pieces, size_t n)
{
    return breakpoint_of(h)->real->ops->mem_write(breakpoint_of(h)->real, pieces, n);
}

static int breakpoint_flush(struct tern_hal *h)
{
    return breakpoint_of(h)->real->ops->flush(breakpoint_of(h)->real);
}

static void breakpoint_wake(struct tern_hal *h)
{
    breakpoint_of(h)->real->ops->wake(breakpoint_of(h)->real);
}

static void breakpoint_close(struct tern_hal *h)
{
    struct breakpoint *p = breakpoint_of(h);
    p->real->ops->close(p->real);
    free(p);
}

static bool breakpoint_may_go(const struct breakpoint *p)
{
    const volatile struct tern_process *proc = p->proc;
    return !p->at || (proc && proc->suspended);
}

static int breakpoint_wait(struct tern_hal *h, uint64_t cycles)
{
    struct breakpoint *p = breakpoint_of(h);
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
    while (!breakpoint_may_go(p)) {
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    }
    p->at = 0;
    p->paused = false;
    return 1;
}

struct breakpoint *breakpoint_open(const char *backend, const char *config, struct tern_device **out)
{
    static const struct tern_hal_ops ops = {
        .read32 = breakpoint_read32, .write32 = breakpoint_write32, .mem_read = breakpoint_mem_read,
        .mem_write = breakpoint_mem_write, .flush = breakpoint_flush, .wait = breakpoint_wait, .wake = breakpoint_wake,
        .close = breakpoint_close};
    struct breakpoint *p = calloc(1, sizeof *p);
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

void breakpoint_set(struct breakpoint *p, struct tern_device *d, struct tern_process *proc, uint32_t cycles)
{
    p->proc = proc;
    p->at = (uint32_t)tern_device_time(d) + cycles;
}

void breakpoint_await(struct breakpoint *p, const struct tern_context *c)
{
    while (!p->paused && tern_context_ended((struct tern_context *)(uintptr_t)c) < c->submitted) {
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    }
    if (!p->paused) {
        p->at = 0;
    }
}
