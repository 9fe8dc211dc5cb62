/* SPDX-License-Identifier: Apache-2.0 */
/** Access to the contents of a memory, on the device or on the host. The pager may move blocks between two pieces. */
#include "migration/state/internal.h"

#include <errno.h>

#include "base/error.h"
#include "os/mem/mem.h"

/** bytes copied before the hal lock is released */
#define COPY_BYTES_MAX (1u << 20)

static struct tern_block *block_of(const struct tern_memory *m, uint32_t page)
{
    return &m->blocks[(m->offset + page) / TERN_PAGES_SPAN];
}

bool tern_content_gone(const struct tern_memory *m)
{
    tern_assert_held(&m->dev->lock);
    return m->mapping_count == m->leaving;
}

/** -ESTALE, if tern_content_gone. Requires dev->hal_lock, during which the pages stay: paging buffers that would
 *  free them are not submitted. */
static int check(const struct tern_memory *m)
{
    tern_assert_held(&m->dev->hal_lock);
    pthread_mutex_lock(&m->dev->lock);
    const bool gone = tern_content_gone(m);
    pthread_mutex_unlock(&m->dev->lock);
    return gone ? tern_error(-ESTALE, "nothing maps the memory any more") : 0;
}

static int transfer(struct tern_memory *m, bool write, uint32_t page, uint32_t count, uint8_t *data)
{
    uint64_t at = (uint64_t)page * TERN_PAGE, left = (uint64_t)count * TERN_PAGE;
    int r = 0;
    while (!r && left) {
        tern_ticket_lock(&m->dev->hal_lock);
        r = check(m);
        for (uint64_t held = 0, n; !r && left && held < COPY_BYTES_MAX; held += n) {
            struct tern_block *b = block_of(m, (uint32_t)(at / TERN_PAGE));
            n = 0;
            r = tern_block_transfer(b, write, at - (uint64_t)b->first * TERN_PAGE, data,
                                    left < COPY_BYTES_MAX ? left : COPY_BYTES_MAX, &n);
            at += n;
            data += n;
            left -= n;
        }
        tern_ticket_unlock(&m->dev->hal_lock);
    }
    return r;
}

int tern_content_read(struct tern_memory *m, uint32_t page, uint32_t count, void *data)
{
    return transfer(m, false, page, count, data);
}

int tern_content_write(struct tern_memory *m, uint32_t page, uint32_t count, const void *data)
{
    return transfer(m, true, page, count, (uint8_t *)(uintptr_t)data);
}
