/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The dirty plane. The device writes the result of a query to memory (docs/spec/registers.yaml, block dirty): a bitmap
 * of the blocks of 512 pages that have a dirty page, and behind it a line of bits for each block. Only the lines of the
 * blocks in the bitmap are valid, and only these are read.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/minmax.h"
#include "hal/hal.h"
#include "kmd/bits.h"
#include "kmd/kmd.h"

#define LINE_BYTES 64u
#define LINE_BITS (8 * LINE_BYTES) /* a line has a bit for each page, or for each block of so many pages */
#define LINES_PER_READ 64u
#define BUSY_POLLS_MAX 1000000

static uint32_t lines_for(uint64_t n)
{
    return (uint32_t)((n + LINE_BITS - 1) / LINE_BITS);
}

static uint64_t device_pages(const struct tern_kmd *kmd)
{
    return ((uint64_t)kmd->mem_pages * TERN_PAGE + (1ull << kmd->dirty_page_log2) - 1) >> kmd->dirty_page_log2;
}

uint32_t tern_kmd_dirty_area(const struct tern_kmd *kmd)
{
    const uint32_t blocks = lines_for(device_pages(kmd));
    return (lines_for(blocks) + blocks) * LINE_BYTES;
}

/** Runs a command to its end. *status is the status register at that time. */
static int command(struct tern_kmd *k, uint32_t first, uint32_t count, uint32_t op, uint32_t *status)
{
    struct tern_hal *hal = k->hal;
    const struct tern_hal_write writes[] = {
        {TERN_REG_DIRTY_FIRST, first},
        {TERN_REG_DIRTY_COUNT, count},
        {TERN_REG_DIRTY_TARGET_LO, (uint32_t)k->dirty_area},
        {TERN_REG_DIRTY_TARGET_HI, (uint32_t)(k->dirty_area >> 32)},
        {TERN_REG_DIRTY_COMMAND, op},
    };
    int r = hal->ops->write32(hal, writes, sizeof writes / sizeof *writes);
    *status = TERN_DIRTY_STATUS_BUSY_MASK;
    for (int i = 0; !r && *status & TERN_DIRTY_STATUS_BUSY_MASK; i++) {
        if (i == BUSY_POLLS_MAX) {
            return tern_error(-EIO, "the dirty plane does not end its query of %u pages from page %u", count, first);
        }
        r = hal->ops->read32(hal, TERN_REG_DIRTY_STATUS, status);
    }
    if (!r && *status & TERN_DIRTY_STATUS_ERROR_MASK) {
        r = tern_error(-EINVAL, "the dirty plane refused a query of %u pages from page %u", count, first);
    }
    return r;
}

static int check_range(const struct tern_kmd *kmd, uint32_t first, uint32_t count)
{
    const uint64_t pages = device_pages(kmd);
    if (first > pages || count > pages - first) {
        return tern_error(-EINVAL, "dirty query of %u pages from page %u, but the device has %" PRIu64, count, first,
                          pages);
    }
    return 0;
}

/** Reads the lines of the blocks in the bitmap; consecutive lines are read at once. The function allocates nothing: if
 *  an allocation failed here, the bits that the device has cleared would be lost. */
static int collect(struct tern_kmd *k, uint32_t first, uint32_t count, uint32_t *bits)
{
    const uint32_t block = first / LINE_BITS, blocks = (first + count - 1) / LINE_BITS - block + 1;
    const uint32_t end = first + count; /* at most 2^22 */
    const uint64_t lines_at = k->dirty_area + (uint64_t)lines_for(blocks) * LINE_BYTES;
    uint32_t lines[LINES_PER_READ][LINE_BYTES / 4], named[LINE_BYTES / 4]; /* named: of LINE_BITS blocks */
    int r = 0;
    for (uint32_t b = 0, n; !r && b < blocks; b += n ? n : 1) {
        r = b % LINE_BITS ? 0 : tern_kmd_read(k, k->dirty_area + b / LINE_BITS * LINE_BYTES, named, LINE_BYTES);
        const uint32_t left = tern_min_u32(blocks - b, LINE_BITS - b % LINE_BITS);
        for (n = 0; !r && n < LINES_PER_READ && n < left && tern_bits_get(named, b % LINE_BITS + n, 1); n++) {
        }
        r = n ? tern_kmd_read(k, lines_at + (uint64_t)b * LINE_BYTES, lines, (size_t)n * LINE_BYTES) : r;
        for (uint32_t i = 0; !r && i < n; i++) {
            const uint32_t start = (block + b + i) * LINE_BITS, from = tern_max_u32(start, first),
                           to = tern_min_u32(start + LINE_BITS, end);
            tern_bits_add(bits, from - first, lines[i], from - start, to - from);
        }
    }
    return r;
}

int tern_kmd_dirty(struct tern_kmd *kmd, uint32_t first, uint32_t count, bool clear, uint32_t *bits)
{
    tern_hal_assert_held(kmd->hal);
    uint32_t status;
    int r = check_range(kmd, first, count);
    if (r) {
        return r;
    }
    memset(bits, 0, tern_bits_bytes(count));
    r = command(kmd, first, count, clear ? TERN_DIRTY_COMMAND_OP_QUERY_CLEAR : TERN_DIRTY_COMMAND_OP_QUERY, &status);
    if (r == 0 && count) {
        r = collect(kmd, first, count, bits);
    }
    if (!r && status & TERN_DIRTY_STATUS_BUS_ERROR_MASK) {
        r = tern_error(-EIO, "memory refused the dirty bits of some of %u pages from page %u", count, first);
    }
    return r;
}

int tern_kmd_dirty_count(struct tern_kmd *kmd, uint32_t first, uint32_t count, uint32_t *dirty)
{
    tern_hal_assert_held(kmd->hal);
    uint32_t status;
    int r = check_range(kmd, first, count);
    if (r == 0) {
        r = command(kmd, first, count, TERN_DIRTY_COMMAND_OP_COUNT, &status);
    }
    return r ? r : kmd->hal->ops->read32(kmd->hal, TERN_REG_DIRTY_FOUND, dirty);
}
