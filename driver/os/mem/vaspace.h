/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Virtual address ranges of one process, in pages, within [64 KiB, 3.5 GiB - 64 KiB): below lies the null page and what
 * a null pointer with an offset hits; above, what a negative index into local memory hits, and the kernels' windows. A
 * sorted array of the ranges in use: found by bisection, gaps by one pass. No locks: the owner serialises.
 */
#ifndef TERN_OS_VASPACE_H
#define TERN_OS_VASPACE_H

#include <stdint.h>

#define TERN_VA_FIRST 0x10u     /**< First page that may be used. */
#define TERN_VA_END 0xdfff0u    /**< First page beyond. */

struct tern_range {
    uint32_t first, count; /**< Pages. */
    void *owner;
};

struct tern_vaspace {
    struct tern_range *range;
    uint32_t n, capacity;
};

enum tern_place { TERN_PLACE_LOW, TERN_PLACE_HIGH };

void tern_vaspace_free(struct tern_vaspace *v);
/**
 * Takes `count` pages, aligned to `align` pages (a power of two), as low or as high as possible. -ENOSPC, -ENOMEM.
 */
int tern_vaspace_take(struct tern_vaspace *v, uint32_t count, uint32_t align, enum tern_place place, void *owner,
                      uint32_t *first);
/** The same, as low as possible, from a page on that is `offset` more than a multiple of `align`. */
int tern_vaspace_take_offset(struct tern_vaspace *v, uint32_t count, uint32_t align, uint32_t offset, void *owner,
                             uint32_t *first);
/** Takes exactly [first, first + count). -EEXIST: some of it is taken; -ENOSPC: outside of the space; -ENOMEM. */
int tern_vaspace_take_at(struct tern_vaspace *v, uint32_t first, uint32_t count, void *owner);
void tern_vaspace_give(struct tern_vaspace *v, uint32_t first);
/** The range that holds the page, or else the nearest one below it, or NULL. */
const struct tern_range *tern_vaspace_find(const struct tern_vaspace *v, uint32_t page);

#endif
