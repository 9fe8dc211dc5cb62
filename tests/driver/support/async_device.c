/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The backend `async`: the functional model behind a transport like that of a card. Device time passes in a thread of
 * its own, whatever the host does. Writes are posted. Registers (several in one message) and memory travel on different
 * paths, and memory arrives later than any register unless it is flushed. There is no interrupt line: the thread polls
 * dev.irq_status and reports an interrupt with a random delay. TERN_TEST_SEED (1 if unset) is the seed of all that is
 * random.
 *
 * hal_lock guards the simulator and the writes in flight to it. `lock` guards the state of wait and wake, and is not
 * held while device time passes.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/thread.h"
#include "base/ticket_lock.h"
#include "hal/open/open.h"
#include "posted.h"
#include "tern/tern_hw.h"

#define ROUND 512u     /* cycles that pass at once, at most */
#define ALONE 32768u   /* cycles, at most, that pass while the host neither waits nor uses the device */
#define LATE 16u       /* rounds that an interrupt is late, at most */
#define MEMORY_LATE 8u /* memory that is not flushed arrives in one of so many rounds */

struct async {
    struct tern_hal hal, *sim;
    struct posted posted;
    pthread_t thread;
    struct tern_ticket_lock hal_lock;
    uint32_t enabled; /* dev.irq_enable as the host has set it; the simulator's own interrupts are off */
    unsigned seed, late; /* late: rounds until the interrupt is reported; 0: it is not raised */
    uint64_t alone;   /* cycles since the host last waited or used the device */
    pthread_mutex_t lock;
    pthread_cond_t passed;
    uint64_t now, until; /* device time, and the time at which the current wait ends, in cycles */
    bool waiting, told, woken, failed, stop, started;
};

static unsigned random_of(struct async *a, unsigned n)
{
    return (unsigned)rand_r(&a->seed) % n;
}

/* ---------------------------------------------------------- called with hal_lock held */

/** Lets device time pass. Returns true if an engine is busy or an interrupt is raised. */
static bool let_pass(struct async *a, uint64_t cycles)
{
    uint32_t raised = 0, status = 0;
    bool busy = false;
    posted_registers_arrive(&a->posted);
    if (random_of(a, MEMORY_LATE) == 0) {
        posted_memory_arrives(&a->posted);
    }
    int r = a->sim->ops->wait(a->sim, cycles);
    r = r < 0 ? r : a->sim->ops->read32(a->sim, TERN_REG_DEV_IRQ_STATUS, &raised);
    for (uint32_t e = 0; r >= 0 && e < TERN_REG_ENGINE_COUNT && !busy; e++) {
        r = a->sim->ops->read32(a->sim, TERN_REG_ENGINE_STATUS(e), &status);
        busy = status & TERN_ENGINE_STATUS_BUSY_MASK;
    }
    posted_keep(&a->posted, r < 0 ? r : 0);
    if (!(raised & a->enabled)) {
        a->late = 0;
    } else if (a->late != 1) {
        a->late = a->late ? a->late - 1 : 1 + random_of(a, LATE);
    }
    return busy || raised;
}

/* ------------------------------------------------------------------- the thread */

/** Returns true if the current wait must go on. Called with the lock held. */
static bool waits(const struct async *a)
{
    return !a->failed && !a->told && !a->woken && a->now < a->until;
}

static void *run(void *arg)
{
    struct async *a = arg;
    bool stop = false, waiting = false;
    while (!stop) {
        tern_ticket_lock(&a->hal_lock);
        a->alone = waiting ? 0 : a->alone;
        const uint64_t cycles = a->alone < ALONE ? 1 + random_of(a, ROUND) : 0;
        const bool busy = cycles && let_pass(a, cycles), told = a->late == 1, failed = a->posted.error;
        a->alone += cycles;
        tern_ticket_unlock(&a->hal_lock);
        pthread_mutex_lock(&a->lock);
        a->now += cycles;
        a->told = told;
        a->failed = failed;
        stop = a->stop;
        waiting = a->waiting && waits(a);
        pthread_cond_broadcast(&a->passed);
        pthread_mutex_unlock(&a->lock);
        if (!busy) { /* an idle device leaves the CPU to the host's threads */
            nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
        }
    }
    return NULL;
}

/* ------------------------------------------------------------------ the operations */

static struct async *use(struct tern_hal *hal)
{
    struct async *a = (struct async *)(void *)hal;
    tern_ticket_lock(&a->hal_lock);
    a->alone = 0;
    return a;
}

/** Ends an operation. Returns the first error so far: the error of a posted write is reported by the next operation. */
static int used(struct async *a)
{
    const int r = a->posted.error;
    tern_ticket_unlock(&a->hal_lock);
    return r;
}

static int async_read32(struct tern_hal *hal, uint32_t offset, uint32_t *value)
{
    uint32_t v = 0;
    struct async *a = use(hal);
    posted_registers_arrive(&a->posted);
    posted_keep(&a->posted, a->sim->ops->read32(a->sim, offset, &v));
    *value = offset == TERN_REG_DEV_IRQ_ENABLE ? a->enabled : v;
    return used(a);
}

static int async_write32(struct tern_hal *hal, const struct tern_hal_write *writes, size_t n)
{
    struct async *a = use(hal);
    for (size_t i = 0; i < n; i++) {
        if (writes[i].offset == TERN_REG_DEV_IRQ_ENABLE) {
            a->enabled = writes[i].value;
        } else {
            posted_register(&a->posted, writes[i].offset, writes[i].value);
        }
    }
    return used(a);
}

static int async_mem_read(struct tern_hal *hal, uint64_t address, void *data, size_t size)
{
    struct async *a = use(hal);
    posted_memory_arrives(&a->posted);
    posted_keep(&a->posted, a->sim->ops->mem_read(a->sim, address, data, size));
    return used(a);
}

static int async_mem_write(struct tern_hal *hal, const struct tern_iovec *pieces, size_t n)
{
    struct async *a = use(hal);
    for (size_t i = 0; i < n; i++) {
        posted_memory(&a->posted, &pieces[i]);
    }
    return used(a);
}

static int async_flush(struct tern_hal *hal)
{
    struct async *a = use(hal);
    posted_memory_arrives(&a->posted);
    return used(a);
}

static int async_wait(struct tern_hal *hal, uint64_t cycles)
{
    struct async *a = (struct async *)(void *)hal;
    pthread_mutex_lock(&a->lock);
    a->until = cycles < UINT64_MAX - a->now ? a->now + cycles : UINT64_MAX;
    a->waiting = true;
    while (waits(a)) {
        pthread_cond_wait(&a->passed, &a->lock);
    }
    a->waiting = false;
    const int r = a->failed ? -EIO : a->told || a->woken;
    a->woken = false;
    pthread_mutex_unlock(&a->lock);
    return r;
}

static void async_wake(struct tern_hal *hal)
{
    struct async *a = (struct async *)(void *)hal;
    pthread_mutex_lock(&a->lock);
    a->woken = true;
    pthread_cond_broadcast(&a->passed);
    pthread_mutex_unlock(&a->lock);
}

static void async_close(struct tern_hal *hal)
{
    struct async *a = (struct async *)(void *)hal;
    pthread_mutex_lock(&a->lock);
    a->stop = true;
    pthread_mutex_unlock(&a->lock);
    if (a->started) {
        pthread_join(a->thread, NULL);
    }
    a->sim->ops->close(a->sim);
    pthread_cond_destroy(&a->passed);
    pthread_mutex_destroy(&a->lock);
    tern_ticket_lock_destroy(&a->hal_lock);
    free(a);
}

static int async_open(const struct tern_config *config, struct tern_hal **out)
{
    static const struct tern_hal_ops ops = {
        .read32 = async_read32, .write32 = async_write32, .mem_read = async_mem_read, .mem_write = async_mem_write,
        .flush = async_flush, .wait = async_wait, .wake = async_wake, .close = async_close};
    struct tern_config model = *config;
    struct async *a = calloc(1, sizeof *a);
    const char *seed = getenv("TERN_TEST_SEED");
    if (!a) {
        return tern_error_memory("an asynchronous device");
    }
    snprintf(model.backend, sizeof model.backend, "model");
    int r = tern_hal_open(&model, &a->sim);
    if (r) {
        free(a);
        return r;
    }
    a->posted.to = a->sim;
    a->hal = *a->sim;
    a->hal.ops = &ops;
    a->hal.concurrent = true;
    snprintf(a->hal.backend, sizeof a->hal.backend, "%s", config->backend);
    a->seed = seed ? (unsigned)strtoul(seed, NULL, 0) : 1;
    tern_ticket_lock_init(&a->hal_lock);
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->passed, NULL);
    r = tern_thread_start(&a->thread, run, a);
    a->started = !r;
    if (r) {
        async_close(&a->hal);
        return tern_error(r, "the thread of an asynchronous device cannot be started: %s", strerror(-r));
    }
    *out = &a->hal;
    return 0;
}

/** Registers the backend, for tests that are linked with this file and run with TERN_BACKEND=async. */
__attribute__((constructor)) static void known(void)
{
    static const struct tern_hal_backend backend = {"async", async_open};
    if (tern_hal_register(&backend)) {
        abort();
    }
}
