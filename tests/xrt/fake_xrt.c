/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A libtern_xrt.so without XRT. The card is the functional model, whose time passes when registers are polled. The
 * variable FAKE_XRT=WHAT or FAKE_XRT=WHAT=N, read when the card is opened, selects an error of the card:
 *   absent, busy, foreign    opening fails with this error.
 *   slow                     opening never returns.
 *   prints                   opening prints a line, as XRT's emulation does.
 *   id, hash                 the register reads another value.
 *   bank                     the bank is smaller than the memory.
 *   elsewhere, nothing       the buffer is not at the beginning of the bank; there is no buffer.
 *   interrupts=N             time passes only in waits for the interrupt, which comes N times and is lost then. In all
 *                            other cases the card has no interrupt.
 *   stuck                    a wait for the interrupt never returns.
 *   signals                  opening installs signal handlers that end the process, as XRT's emulation does.
 *   ones=N, fail=N, hang=N   from the Nth call on registers read all ones, calls fail, calls never return.
 *   abort=N                  the Nth call fails an assertion, as in XRT's emulation.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "hal/xrt/tern_xrt.h"
#include "tern/tern_hw.h"
#include "tern_sim/tern_sim.h"

#ifndef FAKE_VERSION
#define FAKE_VERSION TERN_XRT_API_VERSION
#endif
#define MEMORY (64u << 20)
#define BASE 0x4000000000u
#define STEP 2000u /* cycles that pass at each poll of the interrupt */

struct tern_xrt {
    const struct tern_sim_api *api;
    struct tern_sim *sim;
    uint8_t *map;
    char what[32];
    unsigned long at, calls; /* number of the call from which on the error occurs; number of calls so far */
    unsigned long come;      /* number of interrupts so far */
    pthread_mutex_t lock;    /* guards the simulator */
};

static int told(int code, char *why, const char *what)
{
    snprintf(why, TERN_XRT_WHY, "%s", what);
    return code;
}

static bool is(const struct tern_xrt *x, const char *what)
{
    return !strcmp(x->what, what);
}

/** Never returns. */
static void hang(void)
{
    for (;;) {
        pause();
    }
}

static void die(int number)
{
    _exit(number);
}

/** Counts a call, and makes it fail, hang or abort if FAKE_XRT says so. 0, or the error of the call. */
static int counted(struct tern_xrt *x, char *why)
{
    if (++x->calls < x->at) {
        return 0;
    }
    if (is(x, "hang")) {
        hang();
    }
    if (is(x, "abort")) {
        abort();
    }
    return is(x, "fail") ? told(-EIO, why, "the link to the card is down") : 0;
}

static int fake_open(const char *device, const char *xclbin, struct tern_xrt **out, struct tern_xrt_bank *bank,
                     char *why)
{
    struct tern_xrt *x = calloc(1, sizeof *x);
    const char *what = getenv("FAKE_XRT"), *at = what ? strchr(what, '=') : NULL;
    void *object = dlopen(FAKE_SIMULATOR, RTLD_NOW | RTLD_LOCAL);
    if (!x || !object) {
        free(x);
        return told(-ENOMEM, why, object ? "no memory" : dlerror());
    }
    snprintf(x->what, sizeof x->what, "%.*s", at ? (int)(at - what) : 31, what ? what : "");
    pthread_mutex_init(&x->lock, NULL);
    x->at = at ? strtoul(at + 1, NULL, 0) : 1;
    int r = 0;
    if (is(x, "slow")) {
        hang();
    } else if (is(x, "absent") || strcmp(device, "0") != 0) {
        r = told(-ENODEV, why, "there is no card");
    } else if (is(x, "busy")) {
        r = told(-EBUSY, why, "the kernel cannot be had alone");
    } else if (is(x, "foreign")) {
        r = told(-EPROTO, why, "the xclbin has no kernel " TERN_XRT_KERNEL);
    } else if (access(xclbin, R_OK)) {
        r = told(-ENOENT, why, "the xclbin cannot be read");
    }
    if (is(x, "prints")) {
        puts("configuring penguin scheduler mode");
    }
    if (is(x, "signals") || is(x, "abort")) {
        signal(SIGABRT, die);
        signal(SIGSEGV, die);
        signal(SIGFPE, die);
    }
    x->api = dlsym(object, TERN_SIM_API_SYMBOL);
    if (r == 0) {
        r = x->api->create(&(struct tern_sim_config){.mem_bytes = MEMORY}, &x->sim);
    }
    if (r) {
        free(x);
        return r;
    }
    *bank = (struct tern_xrt_bank){BASE, is(x, "bank") ? MEMORY / 2 : MEMORY, 0};
    *out = x;
    return 0;
}

static int fake_read32(struct tern_xrt *x, uint32_t offset, uint32_t *value, char *why)
{
    int r = counted(x, why);
    pthread_mutex_lock(&x->lock);
    if (offset == TERN_REG_DEV_IRQ_STATUS && !r && !is(x, "interrupts")) {
        r = x->api->step(x->sim, STEP, NULL);
    }
    if (r == 0) {
        r = x->api->read32(x->sim, offset, value);
    }
    pthread_mutex_unlock(&x->lock);
    if ((is(x, "ones") && x->calls >= x->at) || (is(x, "id") && offset == TERN_REG_DEV_ID) ||
        (is(x, "hash") && offset == TERN_REG_DEV_SPEC_HASH)) {
        *value = is(x, "ones") ? UINT32_MAX : *value ^ 1;
    }
    return r;
}

static int fake_write32(struct tern_xrt *x, uint32_t offset, uint32_t value, char *why)
{
    int r = counted(x, why);
    pthread_mutex_lock(&x->lock);
    if (r == 0) {
        r = x->api->write32(x->sim, offset, value);
    }
    pthread_mutex_unlock(&x->lock);
    return r;
}

static int fake_memory(struct tern_xrt *x, uint64_t bytes, uint64_t *address, void **map, char *why)
{
    x->map = is(x, "nothing") ? NULL : malloc(bytes);
    if (!x->map) {
        return told(-ENOMEM, why, "XRT gives no buffer");
    }
    *address = is(x, "elsewhere") ? BASE + 4096 : BASE;
    *map = x->map;
    return 0;
}

static int fake_sync(struct tern_xrt *x, bool to_device, uint64_t offset, uint64_t bytes, char *why)
{
    int r = counted(x, why);
    pthread_mutex_lock(&x->lock);
    if (r == 0) {
        r = to_device ? x->api->mem_write(x->sim, offset, x->map + offset, bytes)
                      : x->api->mem_read(x->sim, offset, x->map + offset, bytes);
    }
    pthread_mutex_unlock(&x->lock);
    return r;
}

static int fake_interrupt(struct tern_xrt *x, uint32_t ms, char *why)
{
    bool raised = false;
    if (is(x, "stuck")) {
        hang();
    }
    if (!is(x, "interrupts")) {
        return told(-ENOTSUP, why, "this card has no interrupts");
    }
    for (uint32_t i = 0; i < ms * 10 && !raised; i++) {
        pthread_mutex_lock(&x->lock);
        x->api->step(x->sim, STEP, &raised);
        pthread_mutex_unlock(&x->lock);
        nanosleep(&(struct timespec){.tv_sec = 0, .tv_nsec = 100000}, NULL);
    }
    return raised && x->come++ < x->at;
}

static void fake_close(struct tern_xrt *x)
{
    x->api->destroy(x->sim);
    free(x->map);
    free(x);
}

extern __attribute__((visibility("default"))) const struct tern_xrt_api tern_xrt_api;
const struct tern_xrt_api tern_xrt_api = {FAKE_VERSION, fake_open, fake_read32, fake_write32, fake_memory,
                                          fake_sync, fake_interrupt, fake_close};
