/* SPDX-License-Identifier: Apache-2.0 */
/** What an evicted allocation is on the host. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "os/os.h"

int tern_host_pages_make(struct tern_allocation *a)
{
    uint32_t *const written = a->written ? a->written : calloc((a->pages + 31) / 32, sizeof *written);
    uint8_t *const host = a->host || !written ? a->host : calloc(a->pages, TERN_PAGE);
    a->written = written;
    a->host = host;
    return written && host ? 0 : tern_error(-ENOMEM, "the host has no memory for %llu KiB of device memory that is to "
                                            "be evicted", (unsigned long long)a->pages * 4);
}

int tern_host_pages_read(const struct tern_allocation *a, uint64_t offset, void *data, uint64_t size)
{
    if (a->host) {
        memcpy(data, a->host + offset, size);
    } else {
        memset(data, 0, size);
    }
    return 0;
}

int tern_host_pages_write(struct tern_allocation *a, uint64_t offset, const void *data, uint64_t size)
{
    const int r = tern_host_pages_make(a);
    if (!r) {
        memcpy(a->host + offset, data, size);
        for (uint64_t p = offset / TERN_PAGE; p <= (offset + size - 1) / TERN_PAGE; p++) {
            a->written[p / 32] |= 1u << p % 32;
        }
    }
    return r;
}
