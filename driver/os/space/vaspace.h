/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Virtual address ranges of one process, in pages, within [64 KiB, 3.5 GiB - 64 KiB). The guard below catches a null
 * pointer with a small offset. The guard above catches negative indices into local memory, which with the other windows
 * of kernels begins at 3.5 GiB. The ranges in use are a sorted array: a range is found by bisection, a gap by one pass.
 * Locks: none; the caller serialises.
 */
#ifndef TERN_OS_SPACE_VASPACE_H
#define TERN_OS_SPACE_VASPACE_H

#include <stdint.h>

#define TERN_VA_FIRST 0x10u     /**< The first page that may be used. */
#define TERN_VA_END 0xdfff0u    /**< The page after the last one that may be used. */

struct tern_range {
    uint32_t first, count; /**< First page and number of pages. */
    void *owner;
};

struct tern_vaspace {
    struct tern_range *range;
    uint32_t n, capacity;
};

enum tern_place { TERN_PLACE_LOW, TERN_PLACE_HIGH };

void tern_vaspace_free(struct tern_vaspace *v);
/** Takes `count` pages at the lowest or highest address that is a multiple of `align` pages, a power of two.
 *  -ENOSPC, -ENOMEM. */
int tern_vaspace_take(struct tern_vaspace *v, uint32_t count, uint32_t align, enum tern_place place, void *owner,
                      uint32_t *first);
/** As tern_vaspace_take with TERN_PLACE_LOW, but the first page is `offset` pages above a multiple of `align`. */
int tern_vaspace_take_offset(struct tern_vaspace *v, uint32_t count, uint32_t align, uint32_t offset, void *owner,
                             uint32_t *first);
/** Takes exactly [first, first + count). -EEXIST: some page is taken; -ENOSPC: outside of the space; -ENOMEM. */
int tern_vaspace_take_at(struct tern_vaspace *v, uint32_t first, uint32_t count, void *owner);
void tern_vaspace_give(struct tern_vaspace *v, uint32_t first);
/** The range that holds the page, else the nearest one below it, else NULL. */
const struct tern_range *tern_vaspace_find(const struct tern_vaspace *v, uint32_t page);

#endif
