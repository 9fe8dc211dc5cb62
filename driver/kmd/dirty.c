/* SPDX-License-Identifier: Apache-2.0 */
/** The dirty plane: commands of at most 8192 pages, read out of the window. */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "hal/hal.h"
#include "kmd/kmd.h"

#define PAGES_MAX 8192u
#define BUSY_POLLS 100000

static int command(struct tern_kmd *k, uint32_t first, uint32_t count, bool clear)
{
    struct tern_hal *hal = k->hal;
    uint32_t status = TERN_DIRTY_STATUS_BUSY_MASK;
    const struct tern_hal_write writes[] = {
        {TERN_REG_DIRTY_FIRST, first},
        {TERN_REG_DIRTY_COUNT, count},
        {TERN_REG_DIRTY_COMMAND, clear ? TERN_DIRTY_COMMAND_OP_QUERY_CLEAR : TERN_DIRTY_COMMAND_OP_QUERY},
    };
    int r = hal->ops->write32(hal, writes, sizeof writes / sizeof *writes);
    for (int i = 0; !r && status & TERN_DIRTY_STATUS_BUSY_MASK; i++) {
        if (i == BUSY_POLLS) {
            return tern_error(-EIO, "the dirty plane does not end its query of %u pages from page %u", count, first);
        }
        r = hal->ops->read32(hal, TERN_REG_DIRTY_STATUS, &status);
    }
    if (!r && status & TERN_DIRTY_STATUS_ERROR_MASK) {
        r = tern_error(-EINVAL, "the dirty plane refused a query of %u pages from page %u", count, first);
    }
    return r;
}

int tern_kmd_dirty(struct tern_kmd *kmd, uint32_t first, uint32_t count, bool clear, uint32_t *bits)
{
    uint64_t pages = ((uint64_t)kmd->mem_pages * TERN_PAGE + (1ull << kmd->dirty_page_log2) - 1) >>
        kmd->dirty_page_log2;
    if (first > pages || count > pages - first) {
        return tern_error(-EINVAL, "dirty query of %u pages from page %u, but the device has %llu", count, first,
                          (unsigned long long)pages);
    }
    memset(bits, 0, (count + 31ull) / 32 * 4);
    for (uint32_t done = 0, n; done < count; done += n) {
        uint32_t at = first + done, skew = at % 32;
        n = count - done < PAGES_MAX ? count - done : PAGES_MAX;
        int r = command(kmd, at, n, clear);
        if (r) {
            return r;
        }
        for (uint32_t i = 0, word = 0; i < n; i++) {
            uint32_t bit = skew + i, to = done + i;
            if (i == 0 || bit % 32 == 0) {
                r = kmd->hal->ops->read32(kmd->hal, TERN_REG_DIRTY_WINDOW_WORD(bit / 32), &word);
                if (r) {
                    return r;
                }
            }
            bits[to / 32] |= (word >> bit % 32 & 1u) << to % 32;
        }
    }
    return 0;
}
