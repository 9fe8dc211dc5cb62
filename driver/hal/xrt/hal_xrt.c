/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The backend of cards, by XRT (docs/xrt.md).
 *
 *   variable          default  meaning
 *   TERN_XCLBIN       none     the xclbin.
 *   TERN_XRT_DEVICE   0        number or PCI address of the card.
 *   TERN_XRT_TIMEOUT  20       seconds that a call of XRT may take.
 *   TERN_XRT_POLL     1        milliseconds between two polls of a card whose interrupts arrive.
 *
 * Memory. One buffer of XRT covers the device's memory. The kernel adds its addresses to the begin of the bank to which
 * it is connected, so the buffer begins there (docs/decisions/card-memory.md). Reads and writes go through the buffer's
 * copy in the host and are moved before the call returns. Therefore flush does nothing.
 *
 * Interrupts. Where XRT has an interrupt for the kernel, it wakes a waiting thread (interrupts.c). An interrupt may be
 * lost, so `wait` polls dev.irq_status as well, and dev.time_lo, which latches time_hi. A poll between a caller's reads
 * of both halves would spoil them. Therefore a read of time_lo reads both, and a read of time_hi returns the half that
 * was read then.
 */
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/build_tree.h"
#include "base/error.h"
#include "base/file.h"
#include "hal/hal_sim.h"
#include "hal/polled.h"
#include "hal/xrt/caller.h"
#include "hal/xrt/hal_xrt.h"
#include "hal/xrt/interrupts.h"
#include "hal/xrt/output.h"
#include "hal/xrt/signals.h"
#include "tern/tern_hw.h"
#include "tern/tern_spec.h"

#define PAGE_BYTES 4096u
#define XCLBIN_BYTES_MAX (1ull << 30)
#define TIMEOUT_S 20u /* a card answers within microseconds, a simulator on a busy host within seconds */
#define OPEN_TIMEOUT_FACTOR 3 /* opening and closing take longer: XRT's emulation sleeps for 10 s in each */
#define POLL_NS_MIN 20000u
#define POLL_NS_MAX 1000000u

/** An open card. Fields are constant once it is open, except where a comment says otherwise. */
struct hal_xrt {
    struct tern_hal hal;
    struct tern_caller *caller;         /* Guarded by locks of its own. */
    /* NULL: not started, or stopped. Changed by the open, and by the close or at_exit, of which only one runs. */
    struct tern_interrupts *interrupts;
    int64_t timeout_ms;   /* Time that a call of XRT may take, in ms. */
    uint64_t look_ns;     /* Time between two polls if interrupts arrive, in ns. */
    pthread_mutex_t copy; /* Taken after the caller's lock (hal.h). */
    uint8_t *map;         /* The host's copy of device memory; NULL: XRT has closed the card. Guarded by `copy`. */
    uint64_t bytes;       /* Size of device memory, in bytes. */
    /* Value of dev.time_hi, in 2^32 cycles, when dev.time_lo was last read. Guarded by the caller's lock (hal.h). */
    uint32_t time_hi;
    uint32_t enabled;     /* The value of dev.irq_enable. Atomic. */
    bool come;            /* Interrupts arrive. Atomic. */
    bool told;            /* stderr has said why the card was given up. Atomic. */
    struct tern_polled polled; /* Guarded by a lock of its own. */
    pid_t owner;          /* The process that opened the card. */
    struct hal_xrt *next; /* The next card in the list `cards`. Guarded by cards_lock. */
};

/* List of the open cards, which at_exit closes. Guarded by cards_lock. */
static pthread_mutex_t cards_lock = PTHREAD_MUTEX_INITIALIZER;
static struct hal_xrt *cards;
static bool lost; /* A thread of XRT's calls has been left behind. Atomic. */

static struct hal_xrt *of(struct tern_hal *hal)
{
    return (struct hal_xrt *)(void *)hal;
}

/** The error of a lost card. stderr says once why it was given up. */
static int given_up(struct hal_xrt *h, const char *why)
{
    if (!__atomic_exchange_n(&h->told, true, __ATOMIC_RELAXED)) {
        fprintf(stderr, "tern: the card is given up: %s\n", why);
    }
    return tern_error(-EIO, "the card is given up: %s", why);
}

static int checked(struct hal_xrt *h, struct tern_call *call)
{
    return tern_caller_call(h->caller, call, h->timeout_ms) ? given_up(h, call->why) : 0;
}

/** Reads n registers. -EIO also if one of them and the id register read all ones, as those of a removed card do. */
static int read_registers(struct hal_xrt *h, const uint32_t *offset, uint32_t *value, size_t n)
{
    struct tern_call k = {.op = TERN_CALL_READ, .count = n};
    bool ones = false;
    for (size_t i = 0; i < n; i++) {
        k.at[i].offset = offset[i];
    }
    int r = checked(h, &k);
    for (size_t i = 0; i < n && !r; i++) {
        value[i] = k.at[i].value;
        ones = ones || value[i] == UINT32_MAX;
    }
    if (!r && ones) {
        struct tern_call id = {.op = TERN_CALL_READ, .count = 1, .at = {{.offset = TERN_REG_DEV_ID}}};
        r = checked(h, &id);
        if (!r && id.at[0].value == UINT32_MAX) {
            r = given_up(h, "its registers read all ones");
        }
    }
    return r;
}

static int xrt_read32(struct tern_hal *hal, uint32_t offset, uint32_t *value)
{
    tern_hal_assert_held(hal);
    struct hal_xrt *h = of(hal);
    if (offset == TERN_REG_DEV_TIME_HI) {
        *value = h->time_hi;
        return 0;
    }
    const uint32_t at[2] = {offset, TERN_REG_DEV_TIME_HI};
    uint32_t v[2] = {0};
    const bool time = offset == TERN_REG_DEV_TIME_LO;
    const int r = read_registers(h, at, v, time ? 2 : 1);
    if (!r) {
        *value = v[0];
        h->time_hi = time ? v[1] : h->time_hi;
    }
    return r;
}

static int xrt_write32(struct tern_hal *hal, const struct tern_hal_write *writes, size_t n)
{
    tern_hal_assert_held(hal);
    struct hal_xrt *h = of(hal);
    int r = 0;
    for (size_t i = 0; i < n && !r;) {
        struct tern_call k = {.op = TERN_CALL_WRITE};
        for (; i < n && k.count < TERN_CALL_WRITES; i++, k.count++) {
            k.at[k.count].offset = writes[i].offset;
            k.at[k.count].value = writes[i].value;
            if (writes[i].offset == TERN_REG_DEV_IRQ_ENABLE) {
                __atomic_store_n(&h->enabled, writes[i].value, __ATOMIC_RELAXED);
            }
        }
        r = checked(h, &k);
    }
    return r;
}

static int move(struct hal_xrt *h, bool to_device, uint64_t address, size_t size)
{
    struct tern_call k = {.op = TERN_CALL_SYNC, .to_device = to_device, .address = address, .bytes = size};
    return size ? checked(h, &k) : 0;
}

static bool there(const struct hal_xrt *h, uint64_t address, size_t size)
{
    return address <= h->bytes && size <= h->bytes - address;
}

/** Copies `in` to the host's copy of device memory, or, if `in` is NULL, from there to `out`. -EIO: at_exit has closed
 *  the card. */
static int copy(struct hal_xrt *h, uint64_t address, const void *in, void *out, size_t size)
{
    pthread_mutex_lock(&h->copy);
    uint8_t *at = h->map ? h->map + address : NULL;
    if (at && in) {
        memcpy(at, in, size);
    } else if (at) {
        memcpy(out, at, size);
    }
    pthread_mutex_unlock(&h->copy);
    return at ? 0 : given_up(h, "the program ends");
}

static int xrt_mem_read(struct tern_hal *hal, uint64_t address, void *data, size_t size)
{
    tern_hal_assert_held(hal);
    struct hal_xrt *h = of(hal);
    if (!there(h, address, size)) {
        return -EFAULT;
    }
    const int r = move(h, false, address, size);
    return r || !size ? r : copy(h, address, NULL, data, size);
}

static int xrt_mem_write(struct tern_hal *hal, const struct tern_iovec *pieces, size_t n)
{
    tern_hal_assert_held(hal);
    struct hal_xrt *h = of(hal);
    int r = 0;
    for (size_t i = 0; i < n && !r; i++) {
        r = there(h, pieces[i].address, pieces[i].size) ? 0 : -EFAULT;
        if (!r && pieces[i].size) {
            r = copy(h, pieces[i].address, pieces[i].data, NULL, pieces[i].size);
            if (r == 0) {
                r = move(h, true, pieces[i].address, pieces[i].size);
            }
        }
    }
    return r;
}

static int xrt_flush(struct tern_hal *hal)
{
    tern_hal_assert_held(hal);
    (void)hal; /* mem_write returns when the data are in the card */
    return 0;
}

static int look(void *user, bool timed, uint32_t *now)
{
    static const uint32_t at[2] = {TERN_REG_DEV_IRQ_STATUS, TERN_REG_DEV_TIME_LO};
    struct hal_xrt *h = user;
    uint32_t v[2] = {0, *now};
    const int r = read_registers(h, at, v, timed ? 2 : 1);
    *now = v[1];
    return r ? r : (v[0] & __atomic_load_n(&h->enabled, __ATOMIC_RELAXED)) != 0;
}

static int xrt_wait(struct tern_hal *hal, uint64_t cycles)
{
    tern_hal_assert_waits(hal);
    struct hal_xrt *h = of(hal);
    const bool come = __atomic_load_n(&h->come, __ATOMIC_RELAXED);
    return tern_polled_wait(&h->polled, cycles, come ? h->look_ns : POLL_NS_MIN, come ? h->look_ns : POLL_NS_MAX, look,
                            h);
}

/** Takes the result of a wait for the interrupt (tern_interrupts_start). */
static void interrupted(void *user, int r)
{
    struct hal_xrt *h = user;
    __atomic_store_n(&h->come, r >= 0, __ATOMIC_RELAXED);
    if (r) {
        tern_polled_raise(&h->polled);
    }
}

static void xrt_wake(struct tern_hal *hal)
{
    tern_polled_wake(&of(hal)->polled);
}

/** Closes XRT's card, unless a thread is in a call of it. */
static void close_card(struct hal_xrt *h)
{
    struct tern_call k = {.op = TERN_CALL_CLOSE};
    const bool free_of = !h->interrupts || tern_interrupts_stop(h->interrupts, h->timeout_ms);
    h->interrupts = NULL;
    pthread_mutex_lock(&h->copy);
    h->map = NULL; /* threads of a device that the program has left open may write until the process ends */
    pthread_mutex_unlock(&h->copy);
    if (!free_of || tern_caller_call(h->caller, &k, OPEN_TIMEOUT_FACTOR * h->timeout_ms)) {
        __atomic_store_n(&lost, true, __ATOMIC_RELAXED);
    }
}

/**
 * Closes the open cards at the end of the process. Handlers run in reverse order, so this one runs before those that
 * free XRT's objects: a device that the program has left open would use freed objects otherwise. If a call of XRT has
 * not returned, XRT's handlers may not return either, so the process ends here, with its status. A child of a fork
 * closes nothing, because it has no thread that makes calls.
 */
static void at_exit(int status, void *unused)
{
    (void)unused;
    pthread_mutex_lock(&cards_lock);
    for (struct hal_xrt *h = cards; h; h = h->next) {
        __atomic_store_n(&h->told, true, __ATOMIC_RELAXED); /* failures from now on are expected */
        if (h->owner == getpid()) {
            close_card(h);
        }
    }
    pthread_mutex_unlock(&cards_lock);
    if (__atomic_load_n(&lost, __ATOMIC_RELAXED)) {
        fflush(NULL);
        _exit(status);
    }
}

/** Adds a card to the list of open ones. -ENOMEM. */
static int add(struct hal_xrt *h)
{
    static bool handled;
    pthread_mutex_lock(&cards_lock);
    const int r = handled || !on_exit(at_exit, NULL) ? 0 : -ENOMEM;
    handled = handled || !r;
    if (!r) {
        h->owner = getpid();
        h->next = cards;
        cards = h;
    }
    pthread_mutex_unlock(&cards_lock);
    return r ? tern_error_memory("the end of the process with a card open") : 0;
}

static void xrt_close(struct tern_hal *hal)
{
    struct hal_xrt *h = of(hal);
    pthread_mutex_lock(&cards_lock);
    for (struct hal_xrt **p = &cards; *p; p = &(*p)->next) {
        if (*p == h) {
            *p = h->next;
            break;
        }
    }
    pthread_mutex_unlock(&cards_lock);
    if (h->caller) {
        close_card(h);
        if (!tern_caller_stop(h->caller)) {
            __atomic_store_n(&lost, true, __ATOMIC_RELAXED);
        }
    }
    tern_polled_end(&h->polled);
    pthread_mutex_destroy(&h->copy);
    free(h);
}

static const struct tern_hal_ops ops = {.read32 = xrt_read32, .write32 = xrt_write32, .mem_read = xrt_mem_read,
                                        .mem_write = xrt_mem_write, .flush = xrt_flush, .wait = xrt_wait,
                                        .wake = xrt_wake, .close = xrt_close};

/** Loads libtern_xrt.so, which is looked for as the simulators are (hal_sim.c), in the folder tern of theirs. XRT has
 *  threads and handlers of its own, so the object is never unloaded. */
static int load(const struct tern_xrt_api **out)
{
    char near[2048], path[4096];
    const char *forced = secure_getenv("TERN_LIB_DIR");
    tern_hal_beside(near, sizeof near);
    const char *dirs[] = {forced && *forced ? forced : near, forced && *forced ? "" : tern_build_tree()};
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/tern/libtern_xrt.so", dirs[i]);
        if (!*dirs[i] || access(path, R_OK)) {
            continue;
        }
        if (tern_file_check(path, UINT64_MAX)) { /* the loader would wait for a named pipe */
            return -EINVAL;
        }
        void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        if (!object) {
            return tern_error(-ENOENT, "XRT cannot be loaded: %s. Install it: on Debian the package libxrt1, else that "
                              "of the card's maker", dlerror());
        }
        const struct tern_xrt_api *api = dlsym(object, TERN_XRT_API_SYMBOL);
        if (!api || api->version != TERN_XRT_API_VERSION) {
            return tern_error(-EPROTO, "%s has no %s of version %u: build it again together with this driver", path,
                              TERN_XRT_API_SYMBOL, TERN_XRT_API_VERSION);
        }
        *out = api;
        return 0;
    }
    return tern_error(-ENOENT, "tern/libtern_xrt.so is not in '%s'%s%s%s: build it (it needs libxrt-dev: scripts/setup "
                      "xrt), or set TERN_LIB_DIR to the directory that `tern` is in", dirs[0],
                      *dirs[1] ? " nor in '" : "", dirs[1], *dirs[1] ? "'" : "");
}

static int times(struct hal_xrt *h)
{
    uint64_t s = TIMEOUT_S, ms = POLL_NS_MAX / 1000000;
    int r = tern_key_environment("TERN_XRT_TIMEOUT", "seconds", false, 1, 3600, &s);
    if (r == 0) {
        r = tern_key_environment("TERN_XRT_POLL", "milliseconds", false, 1, 60000, &ms);
    }
    h->timeout_ms = (int64_t)s * 1000;
    h->look_ns = ms * 1000000;
    return r;
}

/** Allocates the device's memory. A device with another interface is accepted without: the probe refuses it with a
 *  sentence that says what it is. */
static int memory(struct hal_xrt *h, const struct tern_config *config, const struct tern_xrt_bank *bank)
{
    struct tern_call k = {.op = TERN_CALL_READ, .count = 3, .at = {{.offset = TERN_REG_DEV_ID},
                          {.offset = TERN_REG_DEV_SPEC_HASH}, {.offset = TERN_REG_DEV_MEM_PAGES}}};
    int r = tern_caller_call(h->caller, &k, h->timeout_ms);
    if (r) {
        return tern_error(r, "the card does not answer: %s", k.why);
    }
    if (k.at[0].value == UINT32_MAX) {
        return tern_error(-EIO, "the card does not answer: its registers read all ones. Reset it (xbutil reset), or "
                          "load its xclbin anew");
    }
    if (k.at[1].value != TERN_SPEC_HASH) {
        return 0;
    }
    const uint64_t bytes = (uint64_t)k.at[2].value * PAGE_BYTES;
    if (!bytes || bytes > bank->bytes) {
        return tern_error(-EPROTO, "the device says that it has %" PRIu64 " bytes of memory, but the xclbin connects "
                          "it to a bank of %" PRIu64 ": build the xclbin with the right MEM_PAGES", bytes, bank->bytes);
    }
    if (config->mem_bytes && config->mem_bytes != bytes) {
        return tern_error(-EINVAL, "configuration key 'mem': the device has %" PRIu64 " bytes, as its xclbin was "
                          "built: leave the key out", bytes);
    }
    struct tern_call m = {.op = TERN_CALL_MEMORY, .bytes = bytes};
    r = tern_caller_call(h->caller, &m, OPEN_TIMEOUT_FACTOR * h->timeout_ms);
    if (r) {
        return tern_error(r, "%s: the device needs all of it (another program may use the card)", m.why);
    }
    if (m.address != bank->address) {
        return tern_error(-EBUSY, "XRT gives the card's memory at 0x%" PRIx64 ", and the device's begins at 0x%" PRIx64
                          ": another program uses memory of this bank", m.address, bank->address);
    }
    h->map = m.map;
    h->bytes = bytes;
    return 0;
}

static int open_card(struct hal_xrt *h, const struct tern_config *config)
{
    const struct tern_xrt_api *api = NULL;
    const char *device = secure_getenv("TERN_XRT_DEVICE");
    struct tern_call k = {.op = TERN_CALL_OPEN, .device = device && *device ? device : "0",
                          .xclbin = secure_getenv("TERN_XCLBIN")};
    int r = tern_polled_config(config, "card");
    if (r == 0) {
        r = times(h);
    }
    if (r) {
        return r;
    }
    r = load(&api);
    if (r) {
        return r;
    }
    if (!k.xclbin || !*k.xclbin) {
        return tern_error(-EINVAL, "TERN_XCLBIN is not set: it names the xclbin with which a card becomes a Tern");
    }
    r = tern_file_check(k.xclbin, XCLBIN_BYTES_MAX);
    if (r) {
        char why[256];
        snprintf(why, sizeof why, "%s", tern_error_sentence());
        return tern_error(r == -EINVAL ? r : -ENOENT, "the xclbin cannot be read: %s", why);
    }
    r = tern_caller_start(api, &h->caller);
    if (r) {
        return tern_error(r, "the thread for XRT's calls cannot be started: %s", strerror(-r));
    }
    if (h->hal.slow) {
        tern_xrt_signals_keep();
    }
    const int kept = h->hal.slow ? tern_output_divert() : -1;
    r = tern_caller_call(h->caller, &k, OPEN_TIMEOUT_FACTOR * h->timeout_ms);
    tern_output_restore(kept);
    if (h->hal.slow) {
        tern_xrt_signals_restore();
    }
    const int added = add(h); /* even if XRT's call has not returned */
    r = r ? tern_error(r, "%s", k.why) : added;
    if (r == 0) {
        r = memory(h, config, &k.bank);
    }
    if (!r) {
        r = tern_interrupts_start(api, tern_caller_card(h->caller), interrupted, h, &h->interrupts);
        r = r ? tern_error(r, "the thread for the card's interrupt cannot be started: %s", strerror(-r)) : 0;
    }
    return r;
}

static int open_xrt(const struct tern_config *config, struct tern_hal **out)
{
    struct hal_xrt *h = calloc(1, sizeof *h);
    if (!h) {
        return tern_error_memory("a card");
    }
    tern_polled_begin(&h->polled);
    pthread_mutex_init(&h->copy, NULL);
    h->hal.ops = &ops;
    h->hal.concurrent = true;
    h->hal.slow = secure_getenv("XCL_EMULATION_MODE") != NULL; /* XRT's card is a simulator */
    const int r = open_card(h, config);
    if (r) {
        xrt_close(&h->hal);
        return r;
    }
    *out = &h->hal;
    return 0;
}

const struct tern_hal_backend tern_hal_xrt = {"xrt", open_xrt};
