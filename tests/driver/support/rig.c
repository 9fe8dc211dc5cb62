/* SPDX-License-Identifier: Apache-2.0 */
#include "rig.h"

#include "hal/open/open.h"
#include "open_device.h"
#include "waiting.h"

struct rig rig;

bool rig_no_page_requests, rig_old_memory;

/** Returns the engine to which a register belongs; TERN_ENGINES_MAX: none. */
static uint32_t rig_engine(uint32_t offset)
{
    return offset < TERN_REG_ENGINE_STATUS(0) ? TERN_ENGINES_MAX : (offset - TERN_REG_ENGINE_STATUS(0)) / 0x400;
}

static int rig_read32(struct tern_hal *h, uint32_t offset, uint32_t *value)
{
    (void)h;
    const uint32_t e = rig_engine(offset);
    int r = rig.real->ops->read32(rig.real, offset, value);
    if (e < TERN_ENGINES_MAX && offset == TERN_REG_ENGINE_STATUS(e) && rig.held >> e & 1) {
        *value |= TERN_ENGINE_STATUS_RESET_MASK;
    }
    if (offset == TERN_REG_DEV_CONFIG1 && rig_no_page_requests) {
        *value &= ~TERN_DEV_CONFIG1_PAGE_REQUESTS_MASK;
    }
    if (offset == TERN_REG_DEV_CONFIG1 && rig_old_memory) { /* memory is not known to read zero after power-on */
        *value &= ~TERN_DEV_CONFIG1_MEM_CLEAR_MASK;
    }
    *value = rig.gone ? UINT32_MAX : *value;
    return r;
}

/** Returns true if requests to stop do not reach the engine now. */
static bool rig_deaf(uint32_t e)
{
    uint32_t fence = 0;
    if (!(rig.deaf >> e & 1) || !rig.deaf_to) {
        return rig.deaf >> e & 1;
    }
    ok(rig.real->ops->read32(rig.real, TERN_REG_ENGINE_RUN_FENCE_LO(e), &fence));
    return rig.context[e][fence % 8] == rig.deaf_to;
}

/** Called with dev->lock held, as the scheduler holds it when it asks an engine to stop. */
static void rig_be_impatient(void)
{
    if (rig.impatience && !rig.patience) {
        rig.patience = dev->sched.config.timeout;
        dev->sched.config.timeout = rig.impatience;
    }
}

void rig_be_patient(void)
{
    if (rig.patience) {
        dev->sched.config.timeout = rig.patience;
        rig.patience = 0;
    }
}

/** Returns true if the write reaches the device. */
static bool rig_passes(uint32_t offset, uint32_t value)
{
    const uint32_t e = rig_engine(offset);
    if (e < TERN_ENGINES_MAX && offset == TERN_REG_ENGINE_SUB_FLAGS(e)) {
        rig.flags[e] = value;
    } else if (e < TERN_ENGINES_MAX && offset == TERN_REG_ENGINE_SUB_FENCE_LO(e)) {
        rig.fence[e] = value;
    } else if (e < TERN_ENGINES_MAX && offset == TERN_REG_ENGINE_SUB_CONTEXT(e)) {
        rig.context[e][rig.fence[e] % 8] = value;
    }
    if (offset == TERN_REG_ENGINE_SUB_DOORBELL(0) && rig.flags[0] & TERN_ENGINE_SUB_FLAGS_PAGING_MASK &&
        rig.eaten > 0) {
        rig.eaten--;
        return false;
    }
    if (e < TERN_ENGINES_MAX && offset == TERN_REG_ENGINE_SUB_DOORBELL(e)) {
        rig.bells[e]++;
    }
    if (e < TERN_ENGINES_MAX && offset == TERN_REG_ENGINE_COMMAND(e)) {
        rig.preempts += (value & TERN_ENGINE_COMMAND_PREEMPT_MASK) != 0;
        if (value & TERN_ENGINE_COMMAND_RESET_MASK) {
            rig.resets++;
            rig_be_patient();
            rig.held = rig.failing > 0 ? rig.held | 1u << e : rig.held & ~(1u << e);
            rig.failing -= rig.failing > 0;
        }
        if (value & TERN_ENGINE_COMMAND_PREEMPT_MASK && rig_deaf(e)) {
            rig_be_impatient();
            return false;
        }
    }
    return true;
}

static int rig_write32(struct tern_hal *h, const struct tern_hal_write *writes, size_t n)
{
    struct tern_hal_write passed[16];
    size_t count = 0;
    (void)h;
    assert_true(n <= sizeof passed / sizeof *passed);
    for (size_t i = 0; i < n; i++) {
        if (rig_passes(writes[i].offset, writes[i].value)) {
            passed[count++] = writes[i];
        }
    }
    return count ? rig.real->ops->write32(rig.real, passed, count) : 0;
}

static int rig_mem_read(struct tern_hal *h, uint64_t address, void *data, size_t size)
{
    (void)h;
    return rig.real->ops->mem_read(rig.real, address, data, size);
}

#define MOST_NAPS 1000000 /* minutes: reached only by a test that fails */

bool rig_lock_is_free(void)
{
    int naps = 0;
    while (pthread_mutex_trylock(&dev->lock) && ++naps < MOST_NAPS) {
        nap();
    }
    if (naps < MOST_NAPS) {
        pthread_mutex_unlock(&dev->lock);
    }
    return naps < MOST_NAPS;
}

static int rig_mem_write(struct tern_hal *h, const struct tern_iovec *pieces, size_t n)
{
    (void)h;
    while (rig.gated && pieces[0].size >= RIG_GATED) {
        rig.at_gate = true;
        nap();
    }
    rig.at_gate = false;
    return rig.real->ops->mem_write(rig.real, pieces, n);
}

static int rig_flush(struct tern_hal *h)
{
    (void)h;
    return rig.real->ops->flush(rig.real);
}

/** A device without its interrupt lets all the given time pass. */
static int rig_wait(struct tern_hal *h, uint64_t cycles)
{
    (void)h;
    int r = 0;
    if (rig.held && !rig.lock_held) { /* an engine is in reset */
        rig.lock_held = !rig_lock_is_free();
    }
    if (rig.mute) {
        r = tern_hal_write32(rig.real, TERN_REG_DEV_IRQ_ENABLE, 0);
    }
    if (rig.stubborn) {
        for (rig.waiting = true; rig.stubborn && !rig.woken;) {
            nap();
        }
        rig.woken = rig.waiting = false;
        rig.ends++;
        return 1;
    }
    if (r == 0) {
        r = rig.real->ops->wait(rig.real, cycles);
    }
    return rig.mute && r > 0 ? 0 : r;
}

static void rig_wake(struct tern_hal *h)
{
    (void)h;
    rig.woken = true;
    rig.real->ops->wake(rig.real);
}

static void rig_close(struct tern_hal *h)
{
    (void)h;
    if (!rig.kept) {
        rig.real->ops->close(rig.real);
    }
}

int rig_drive(struct tern_hal *real, const struct tern_policy *policy)
{
    static const struct tern_hal_ops ops = {
        .read32 = rig_read32, .write32 = rig_write32, .mem_read = rig_mem_read, .mem_write = rig_mem_write,
        .flush = rig_flush, .wait = rig_wait, .wake = rig_wake, .close = rig_close};
    rig.real = real;
    rig.hal = *real;
    rig.hal.ops = &ops;
    return tern_device_open_hal(&rig.hal, policy, &dev);
}

void rig_open(const char *config, void (*edit)(struct tern_config *c))
{
    struct tern_config *c;
    struct tern_policy policy;
    memset(&rig, 0, sizeof rig);
    dma.size = 0;
    ok(tern_policy_parse(NULL, config, &policy, &c));
    if (edit) {
        edit(c);
    }
    struct tern_hal *real;
    ok_or_skip(tern_hal_open(c, &real));
    free(c);
    ok(rig_drive(real, &policy));
}

void rig_done(void)
{
    ok(tern_device_close(dev));
    dev = NULL;
}

int rig_teardown(void **state)
{
    (void)state;
    if (!dev) {
        return 0;
    }
    rig.deaf = rig.held = 0;
    rig.failing = rig.eaten = 0;
    rig.mute = rig.gone = rig.gated = rig.stubborn = false;
    while (!tern_list_empty(&dev->processes)) {
        struct tern_process *p = TERN_LIST_ENTRY(dev->processes.next, struct tern_process, node);
        tern_process_kill(p);
        ok(tern_process_destroy(p));
    }
    rig_done();
    return 0;
}
