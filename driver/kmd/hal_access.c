/* SPDX-License-Identifier: Apache-2.0 */
/** Opening a device and device memory: functions of the hal for the layers above kmd/, which do not know the hal. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "hal/open/open.h"
#include "kmd/kmd.h"

int tern_kmd_config(const char *backend, const char *config, const struct tern_keys *more, struct tern_config **out)
{
    struct tern_config *c = malloc(sizeof *c);
    if (!c) {
        return tern_error_memory("the configuration");
    }
    const int r = tern_config_parse(backend, config, more, c);
    if (r) {
        free(c);
        return r;
    }
    *out = c;
    return 0;
}

int tern_kmd_open(const struct tern_config *config, struct tern_hal **out)
{
    return tern_hal_open(config, out);
}

void tern_kmd_close(struct tern_hal *hal)
{
    hal->ops->close(hal);
}

void tern_kmd_guard(struct tern_kmd *kmd, const struct tern_ticket_lock *lock)
{
    kmd->hal->lock = lock;
}

void tern_kmd_about(const struct tern_kmd *kmd, struct tern_kmd_about *out)
{
    const struct tern_hal *h = kmd->hal;
    const struct tern_hal_memory *m = &h->memory;
    *out = (struct tern_kmd_about){h->backend, h->config, h->slow, m->name ? m->name : "", m->latency, m->bandwidth,
                                   m->reads, m->writes, m->refresh, m->refresh_cycles, m->stall};
}

/** The host's mapping of the range; NULL: there is none, and the hal reads and writes it. */
static void *mapped(struct tern_hal *hal, uint64_t address, size_t size)
{
    return hal->ops->map ? hal->ops->map(hal, address, size) : NULL;
}

/** Copies data. Aligned values of 4 and 8 bytes are copied in one access, because engines read and write values of
 *  fences at the same time. */
static void copy(void *to, const void *from, size_t size)
{
    const uintptr_t both = (uintptr_t)to | (uintptr_t)from;
    if (size == 8 && both % 8 == 0) {
        __atomic_store_n((uint64_t *)to, __atomic_load_n((const uint64_t *)from, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
    } else if (size == 4 && both % 4 == 0) {
        __atomic_store_n((uint32_t *)to, __atomic_load_n((const uint32_t *)from, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
    } else {
        memcpy(to, from, size);
    }
}

static int failed(int r, uint64_t address, const char *what)
{
    return tern_error(-EIO, "device memory at 0x%" PRIx64 " cannot be %s: %s", address, what, strerror(-r));
}

int tern_kmd_read(struct tern_kmd *kmd, uint64_t address, void *data, size_t size)
{
    tern_hal_assert_held(kmd->hal);
    const void *from = mapped(kmd->hal, address, size);
    if (from) {
        copy(data, from, size);
        return 0;
    }
    const int r = kmd->hal->ops->mem_read(kmd->hal, address, data, size);
    return r ? failed(r, address, "read") : 0;
}

int tern_kmd_write(struct tern_kmd *kmd, const struct tern_iovec *pieces, size_t n)
{
    tern_hal_assert_held(kmd->hal);
    for (size_t i = 0; i < n; i++) {
        tern_bases_wrote(kmd, pieces[i].address, pieces[i].size);
    }
    size_t first = 0; /* first of the consecutive pieces that one call of the hal is to write */
    int r = 0;
    for (size_t i = 0; !r && i <= n; i++) {
        void *to = i < n ? mapped(kmd->hal, pieces[i].address, pieces[i].size) : NULL;
        if ((to || i == n) && first < i) {
            r = kmd->hal->ops->mem_write(kmd->hal, pieces + first, i - first);
            r = r ? failed(r, pieces[first].address, "written") : 0;
        }
        if (to && !r) {
            copy(to, pieces[i].data, pieces[i].size);
            first = i + 1;
        }
    }
    return r;
}

int tern_kmd_wait(struct tern_kmd *kmd, uint64_t cycles)
{
    tern_hal_assert_waits(kmd->hal);
    return kmd->hal->ops->wait(kmd->hal, cycles);
}

bool tern_kmd_concurrent(const struct tern_kmd *kmd)
{
    return kmd->hal->concurrent;
}

void tern_kmd_wake(struct tern_kmd *kmd)
{
    kmd->hal->ops->wake(kmd->hal);
}
