/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A device whose hal can be made to fail, and programs that run on it, for the tests of preemption and of device
 * failures. A failure that is set takes effect at the hal's next access.
 */
#ifndef RIG_H
#define RIG_H

#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "hal/open/open.h"
#include "os/device/device.h"
#include "work.h"

/* ---------------------------------------------------------------- the hal */

struct rig {
    struct tern_hal hal, *real;
    atomic_uint deaf;     /* bits of engines that requests to stop do not reach */
    atomic_uint deaf_to;  /* deafness only while this context runs; 0: always */
    atomic_uint impatience; /* timeout in cycles from a request that does not reach a deaf engine to its reset, and
                             * of no other reset; 0: the device's. A test ends it by rig_be_patient(), with dev->lock
                             * held */
    uint64_t patience;      /* the device's own timeout in cycles, saved while impatience is in force; 0: it is not */
    atomic_int failing;   /* number of resets that do not end */
    atomic_uint held;     /* bits of engines that do not come out of the last reset */
    atomic_int eaten;     /* number of paging buffers that are lost on their way to engine 0 */
    atomic_bool mute;     /* interrupts are lost */
    atomic_bool gone;     /* all registers read all ones */
    atomic_bool kept;     /* the device keeps running when its driver closes it, as a card does */
    atomic_bool gated;    /* copies of host data of RIG_GATED bytes or more wait before the device is written */
    atomic_bool at_gate;  /* such a copy waits */
    atomic_bool lock_held; /* dev->lock was held while device time passed */
    atomic_uint preempts, resets; /* number of requests to stop and of resets */
    atomic_bool stubborn; /* a wait ends by a wake only, if the device is concurrent */
    atomic_bool waiting, woken;
    atomic_uint ends, bells[TERN_ENGINES_MAX]; /* number of such waits that ended; doorbells */
    uint32_t flags[TERN_ENGINES_MAX], fence[TERN_ENGINES_MAX];
    uint32_t context[TERN_ENGINES_MAX][8]; /* by the low bits of the fence id */
};

static struct rig rig;
static bool rig_no_page_requests, rig_old_memory; /* properties of the devices that are opened next */
static struct tern_device *dev;
static struct work b;

/** Returns the engine to which a register belongs; TERN_ENGINES_MAX: none. */
static inline uint32_t rig_engine(uint32_t offset)
{
    return offset < TERN_REG_ENGINE_STATUS(0) ? TERN_ENGINES_MAX : (offset - TERN_REG_ENGINE_STATUS(0)) / 0x400;
}

static inline int rig_read32(struct tern_hal *h, uint32_t offset, uint32_t *value)
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
static inline bool rig_deaf(uint32_t e)
{
    uint32_t fence = 0;
    if (!(rig.deaf >> e & 1) || !rig.deaf_to) {
        return rig.deaf >> e & 1;
    }
    ok(rig.real->ops->read32(rig.real, TERN_REG_ENGINE_RUN_FENCE_LO(e), &fence));
    return rig.context[e][fence % 8] == rig.deaf_to;
}

/** Called with dev->lock held, as the scheduler holds it when it asks an engine to stop. */
static inline void rig_be_impatient(void)
{
    if (rig.impatience && !rig.patience) {
        rig.patience = dev->sched.config.timeout;
        dev->sched.config.timeout = rig.impatience;
    }
}

static inline void rig_be_patient(void)
{
    if (rig.patience) {
        dev->sched.config.timeout = rig.patience;
        rig.patience = 0;
    }
}

/** Returns true if the write reaches the device. */
static inline bool rig_passes(uint32_t offset, uint32_t value)
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

static inline int rig_write32(struct tern_hal *h, const struct tern_hal_write *writes, size_t n)
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

static inline int rig_mem_read(struct tern_hal *h, uint64_t address, void *data, size_t size)
{
    (void)h;
    return rig.real->ops->mem_read(rig.real, address, data, size);
}

static inline void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
}

#define MOST_NAPS 1000000 /* minutes: reached only by a test that fails */

/** Returns false if dev->lock is held all the time, which is so if the calling thread holds it. */
static inline bool rig_lock_is_free(void)
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

#define RIG_GATED (1u << 20) /* bytes of a copy that stops at the gate, at least */

static inline int rig_mem_write(struct tern_hal *h, const struct tern_iovec *pieces, size_t n)
{
    (void)h;
    while (rig.gated && pieces[0].size >= RIG_GATED) {
        rig.at_gate = true;
        nap();
    }
    rig.at_gate = false;
    return rig.real->ops->mem_write(rig.real, pieces, n);
}

static inline int rig_flush(struct tern_hal *h)
{
    (void)h;
    return rig.real->ops->flush(rig.real);
}

/** A device without its interrupt lets all the given time pass. */
static inline int rig_wait(struct tern_hal *h, uint64_t cycles)
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
    r = r ? r : rig.real->ops->wait(rig.real, cycles);
    return rig.mute && r > 0 ? 0 : r;
}

static inline void rig_wake(struct tern_hal *h)
{
    (void)h;
    rig.woken = true;
    rig.real->ops->wake(rig.real);
}

static inline void rig_close(struct tern_hal *h)
{
    (void)h;
    if (!rig.kept) {
        rig.real->ops->close(rig.real);
    }
}

/** Opens a driver on the device, behind the rig. */
static inline int rig_drive(struct tern_hal *real, const struct tern_policy *policy)
{
    static const struct tern_hal_ops ops = {
        .read32 = rig_read32, .write32 = rig_write32, .mem_read = rig_mem_read, .mem_write = rig_mem_write,
        .flush = rig_flush, .wait = rig_wait, .wake = rig_wake, .close = rig_close};
    rig.real = real;
    rig.hal = *real;
    rig.hal.ops = &ops;
    return tern_device_open_hal(&rig.hal, policy, &dev);
}

/** Opens the device that the environment names, behind the rig. edit (may be NULL) changes settings that `config`
 * cannot express. */
static inline void rig_open(const char *config, void (*edit)(struct tern_config *c))
{
    struct tern_config *c;
    struct tern_policy policy;
    memset(&rig, 0, sizeof rig);
    b.size = 0;
    ok(tern_policy_parse(NULL, config, &policy, &c));
    if (edit) {
        edit(c);
    }
    struct tern_hal *real;
    ok_or_skip(tern_hal_open(c, &real));
    free(c);
    ok(rig_drive(real, &policy));
}

static inline void rig_done(void)
{
    ok(tern_device_close(dev));
    dev = NULL;
}

/** Closes the device that a failed case has left open, since it would go on using the rig of the next case. */
static inline int rig_teardown(void **state)
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

/* --------------------------------------------------------------- programs */

/**
 * A kernel of one work-item, which counts in word 2 of its arguments until word 0 is not 0. The kernel then stores
 * word 0 to word 1 and ends. If word 0 is 2, the store goes to address 0 instead.
 */
static const uint32_t code_spin[] = {
    0x00000393, /* li t2, 0 */
    0x00138393, /* loop: addi t2, t2, 1 */
    0x00752423, /* sw t2, 8(a0) */
    0x1005232f, /* lr.w t1, (a0): not from a cache, and never written back over what the host writes */
    0xfe030ae3, /* beqz t1, loop */
    0xffe30e13, /* addi t3, t1, -2 */
    0x000e0663, /* beqz t3, bad */
    0x00652223, /* sw t1, 4(a0) */
    0x0000100b, /* exit */
    0x00002023, /* bad: sw zero, 0(zero) */
    0x0000100b, /* exit */
};

/** A kernel. Each work-item mixes the squares of n, n - 1 ... 1, where n is argument 0, with its global id, and stores
 * the result to its word of the array at argument 1. */
static const uint32_t code_mix[] = {
    0x00052303, 0x00452383, 0xcd002e73, /* lw t1, 0(a0); lw t2, 4(a0); csrr t3, global_id_x */
    0x00000293,                         /* li t0, 0 */
    0x02630eb3, 0x01d282b3,             /* again: mul t4, t1, t1; add t0, t0, t4 */
    0x01c2c2b3, 0xfff30313,             /* xor t0, t0, t3; addi t1, t1, -1 */
    0xfe0318e3,                         /* bnez t1, again */
    0x002e1e13, 0x01c383b3, 0x0053a023, /* slli t3, t3, 2; add t2, t2, t3; sw t0, 0(t2) */
    0x0000100b,                         /* exit */
};

/** A kernel. Each work-item adds its global id to a number of words. Arguments: source, target, number of words, bytes
 * between them. */
static const uint32_t code_stream[] = {
    0x00052303, 0x00452383, 0x00852283, 0x00c52e03, /* lw t1, 0(a0); lw t2, 4(a0); lw t0, 8(a0); lw t3, 12(a0) */
    0xcd002f73, 0x206f4333, 0x207f43b3,             /* csrr t5, global_id_x; sh2add t1, t5, t1; sh2add t2, t5, t2 */
    0x00032e83, 0x01ee8eb3, 0x01d3a023,             /* again: lw t4, 0(t1); add t4, t4, t5; sw t4, 0(t2) */
    0x01c30333, 0x01c383b3, 0xfff28293,             /* add t1, t1, t3; add t2, t2, t3; addi t0, t0, -1 */
    0xfe0294e3, 0x0000100b,                         /* bnez t0, again; exit */
};

/** A kernel that counts to argument 0 and stores to address 0 in its last instruction. */
static const uint32_t code_trap[] = {
    0x00052f03, 0x00000313, 0x00130313, /* lw t5, 0(a0); li t1, 0; again: addi t1, t1, 1 */
    0xffe36ee3, 0x00002023, 0x0000100b, /* bltu t1, t5, again; sw zero, 0(zero); exit */
};
#define TRAP_STORE 16u

static inline uint32_t mixed(uint32_t n, uint32_t id)
{
    uint32_t x = 0;
    for (; n; n--) {
        x = (x + n * n) ^ id;
    }
    return x;
}

/** A process with one context, and its code, arguments, stacks and data. */
struct actor {
    struct tern_process *p;
    struct tern_context *c;
    struct tern_allocation *code, *args, *stack, *data;
    uint32_t n;
    uint32_t local_bytes; /* local memory of each work-group; actor_open sets 0 */
};

#define MIX_ITEMS 256u

static inline void actor_open(struct actor *a, const char *name, int32_t engine, const uint32_t *code, size_t size)
{
    const struct tern_context_desc d = {.size = sizeof d, .name = name, .engine = engine};
    *a = (struct actor){0};
    ok(tern_process_create(dev, name, &a->p));
    ok(tern_context_create(a->p, &d, &a->c));
    ok(tern_allocation_create(a->p, 4096, TERN_MEM_READ | TERN_MEM_EXEC, 0, &a->code));
    ok(tern_allocation_create(a->p, 4096, TERN_MEM_WRITE, 0, &a->args));
    ok(tern_allocation_create(a->p, 1u << 18, TERN_MEM_WRITE, 0, &a->stack));
    ok(tern_allocation_create(a->p, 4 * MIX_ITEMS, TERN_MEM_WRITE, 0, &a->data));
    ok(tern_allocation_write(a->code, 0, code, size));
}

static inline void actor_close(struct actor *a)
{
    tern_context_destroy(a->c);
    tern_allocation_destroy(a->code);
    tern_allocation_destroy(a->args);
    tern_allocation_destroy(a->stack);
    tern_allocation_destroy(a->data);
    ok(tern_process_destroy(a->p));
}

static inline void actor_set(struct actor *a, uint32_t word, uint32_t value)
{
    ok(tern_allocation_write(a->args, 4 * word, &value, sizeof value));
}

static inline uint32_t actor_get(struct actor *a, uint32_t word)
{
    uint32_t v;
    ok(tern_allocation_read(a->args, 4 * word, &v, sizeof v));
    return v;
}

/** Adds a packet that runs the actor's code in so many work-items, in groups of at most 64 or of as many as fit. */
static inline void actor_dispatch(struct actor *a, uint32_t items)
{
    const uint32_t fits = dev->info.lanes * dev->info.warps, most = fits < 64 ? fits : 64;
    const uint32_t local = items < most ? items : most, groups = (items + local - 1) / local;
    struct tern_pkt_dispatch d = {
        .entry = tern_allocation_address(a->code), .args = tern_allocation_address(a->args), .work_dim = 1,
        .stack_log2 = 6, .local_bytes = a->local_bytes, .group_warps = (local + dev->info.lanes - 1) / dev->info.lanes,
        .group_slots = 1, .stack = tern_allocation_address(a->stack), .global_x = items, .global_y = 1, .global_z = 1,
        .local_x = local, .local_y = 1, .local_z = 1, .groups_x = groups, .groups_y = 1, .groups_z = 1,
        .edge_x = items - (groups - 1) * local, .edge_y = 1, .edge_z = 1};
    ok(tern_pkt_dispatch_pack(&d, work_add(&b, 2)));
}

static inline uint64_t actor_spin(struct actor *a)
{
    actor_dispatch(a, 1);
    return work_submit(&b, a->c, "spin");
}

static inline uint64_t actor_mix(struct actor *a, uint32_t n)
{
    a->n = n;
    actor_set(a, 0, n);
    actor_set(a, 1, tern_allocation_address(a->data));
    actor_dispatch(a, MIX_ITEMS);
    return work_submit(&b, a->c, "mix");
}

static inline void expect_mixed(struct actor *a)
{
    uint32_t v[MIX_ITEMS];
    ok(tern_allocation_read(a->data, 0, v, sizeof v));
    for (uint32_t i = 0; i < MIX_ITEMS; i++) {
        assert_int_equal(v[i], mixed(a->n, i));
    }
}

static inline void open_spin(struct actor *a, const char *name, int32_t engine)
{
    actor_open(a, name, engine, code_spin, sizeof code_spin);
}

static inline void open_mix(struct actor *a, const char *name, int32_t engine)
{
    actor_open(a, name, engine, code_mix, sizeof code_mix);
}

/* ---------------------------------------------------------------- waiting */

/** Waits for a condition; a test that waits in vain names it. */
#define PATIENCE 600000 /* ms, enough for a busy host and a slow device */
#define until(condition)                                             \
    do {                                                             \
        for (int naps_ = 0; !(condition); naps_++, nap()) {          \
            if (naps_ == PATIENCE * 2) {                             \
                fail_msg("waited in vain for %s", #condition);       \
            }                                                        \
        }                                                            \
    } while (0)

/** Waits until the actor's loop has counted on, which shows that it runs. */
static inline void spins(struct actor *a)
{
    const uint32_t before = actor_get(a, 2);
    until(actor_get(a, 2) != before);
}

/** Suspends the actor's context (P8), and returns when the device has no reference to it any more. */
static inline uint64_t actor_suspend(struct actor *a)
{
    pthread_mutex_lock(&dev->lock);
    const uint64_t hold = tern_sched_context_suspend(&dev->sched, &a->c->sched);
    tern_device_kick(dev);
    bool out = false;
    while (!out) {
        out = tern_sched_context_suspended(&a->c->sched, hold);
        pthread_mutex_unlock(&dev->lock);
        nap();
        pthread_mutex_lock(&dev->lock);
    }
    pthread_mutex_unlock(&dev->lock);
    return hold;
}

static inline void actor_resume(struct actor *a, uint64_t hold)
{
    pthread_mutex_lock(&dev->lock);
    assert_true(tern_sched_context_resume(&dev->sched, &a->c->sched, hold));
    tern_device_kick(dev);
    pthread_mutex_unlock(&dev->lock);
}

/** Waits for the actor's "mix" and checks its result. */
static inline void expect_mix(struct actor *a, uint64_t fence)
{
    ok(tern_wait(a->c, fence, PATIENCE));
    expect_mixed(a);
}

static inline void run_mix(struct actor *a, uint32_t n)
{
    expect_mix(a, actor_mix(a, n));
}

static inline struct tern_context_stats stats(struct actor *a)
{
    struct tern_context_stats s = {.size = sizeof s};
    tern_context_query(a->c, &s);
    return s;
}

static inline struct tern_fault fault_of(struct actor *a)
{
    struct tern_fault f = {.size = sizeof f};
    assert_int_equal(tern_process_status(a->p, &f), -EIO);
    return f;
}

static inline void expect_says(const char *text, const char *part)
{
    if (!strstr(text, part)) {
        fail_msg("'%s' does not say '%s'", text, part);
    }
}

#endif
