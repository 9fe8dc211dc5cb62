/* SPDX-License-Identifier: Apache-2.0 */
/** The way to the device that a hal gives, for what is above kmd/ and knows no hal. */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "hal/hal.h"
#include "kmd/kmd.h"

int tern_kmd_open(const char *backend, const char *config, const struct tern_keys *more, struct tern_hal **out)
{
    struct tern_config c;
    int r = tern_config_parse(backend, config, more, &c);
    return r ? r : tern_hal_open(&c, out);
}

void tern_kmd_close(struct tern_hal *hal)
{
    hal->ops->close(hal);
}

void tern_kmd_about(const struct tern_kmd *kmd, struct tern_kmd_about *out)
{
    const struct tern_hal *h = kmd->hal;
    const struct tern_hal_memory *m = &h->memory;
    *out = (struct tern_kmd_about){h->backend, h->config, h->slow, m->name ? m->name : "", m->latency, m->bandwidth,
                                   m->reads, m->writes, m->refresh, m->refresh_cycles, m->stall};
}

int tern_kmd_memory(struct tern_kmd *kmd, bool write, uint64_t address, void *data, size_t size)
{
    int r = write ? kmd->hal->ops->mem_write(kmd->hal, address, data, size)
                  : kmd->hal->ops->mem_read(kmd->hal, address, data, size);
    if (r) {
        return tern_error(-EIO, "device memory at 0x%llx cannot be %s: %s", (unsigned long long)address,
                          write ? "written" : "read", strerror(-r));
    }
    return 0;
}

int tern_kmd_wait(struct tern_kmd *kmd, uint64_t cycles)
{
    return kmd->hal->ops->wait(kmd->hal, cycles);
}
