/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Memory bases (D4-D6): collections of ranges of device memory whose dirty bits somebody follows.
 *
 * The hardware has one plane, with one bit a page, and many may want to know what was written: a partition that
 * migrates, a process that is saved, the pager. So each started basis keeps bits of its own. Whenever the driver takes
 * bits out of the plane, which clears them, it adds them to every started basis that has the page; a host write, which
 * the plane does not see, is added in the same way (D7). A query takes the bits of its pages out of the plane, then
 * reads those of its basis. So a clear through one basis loses nothing for another (D6), and there is no bit that only
 * one of two mechanisms knows.
 *
 *     host writes --------------------+--> bits of basis 1 --> query
 *     engines --> plane --(query)-----+--> bits of basis 2 --> query
 *
 * Alternative: bits of the plane that stay where they are until the last basis has asked. That needs a record of who
 * has asked for what: the same bits again. Cost: a bit a page for each basis; nothing while none is started, though
 * the plane itself is always on (D1).
 *
 * Functions give 0 or -errno, and a sentence (tern_last_error). What they give through pointers is untouched on
 * failure. Threads: none of their own, one call at a time; the caller serialises them with tern_kmd_write and all else
 * of this device (os/: the hal lock). A hal that fails: what the plane may have lost counts as written for everybody.
 * A page here is what one bit stands for (tern_kmd_dirty_caps), 4 KiB or more.
 */
#ifndef TERN_KMD_BASE_H
#define TERN_KMD_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tern_kmd;

/** What the device can do (D1). */
struct tern_dirty_caps {
    bool supported;     /**< There is a plane. */
    bool performant;    /**< Tracking costs nothing: it is on from the start, no full copy is needed before it. */
    uint32_t segments;  /**< Of device memory: one. */
    struct {
        uint64_t address, bytes; /**< bytes: rounded up to whole pages. */
        uint64_t page_bytes;     /**< Of one bit: a power of two, at least 4096. */
    } segment[1];
};
void tern_kmd_dirty_caps(const struct tern_kmd *kmd, struct tern_dirty_caps *out);

struct tern_base_range {
    uint64_t address, bytes; /**< Physical; whole pages. */
};

/**
 * Makes a basis of n ranges, in any order; *id: its name, which is never used again. It is not started.
 *   -EINVAL  there is no range, or an empty one
 *   -EDOM    an address or a size is not a multiple of the page
 *   -ERANGE  a range is not in device memory
 *   -EEXIST  two ranges overlap
 *   -ENOMEM
 */
int tern_base_create(struct tern_kmd *kmd, const struct tern_base_range *ranges, uint32_t n, uint64_t *id);

/** -EBADF: there is no such basis, or not any more. -EBUSY: it is started. */
int tern_base_destroy(struct tern_kmd *kmd, uint64_t id);

/**
 * From now on writes to its pages are known; all its bits are zero. Starts nest: a basis that is started already goes
 * on with the bits that it has, until it was stopped as often as it was started. Reads the plane of its ranges.
 *   -EBADF   there is no such basis
 *   other    of the hal; it is not started
 */
int tern_base_start(struct tern_kmd *kmd, uint64_t id);

/** Starts it, but does not read the plane: writes of before count as well, as far as nobody has taken their bits. For
 *  who follows a device from its beginning. -EBADF; -EALREADY: it is started. */
int tern_base_start_late(struct tern_kmd *kmd, uint64_t id);

/** Undoes one start. Other bases are not touched. -EBADF; -ENOENT: it is not started. */
int tern_base_stop(struct tern_kmd *kmd, uint64_t id);

#define TERN_BASE_ALL UINT32_MAX
/** Which bits: of one range, by its number at creation, or of all, one after another in the order of creation. */
struct tern_base_part {
    uint32_t range;  /**< Or TERN_BASE_ALL. */
    uint64_t offset; /**< Bytes from its beginning; whole pages. */
    uint64_t bytes;  /**< Whole pages; 0: all from offset on. */
};

/**
 * Copies dirty bits, the first page's first, and with `clear` makes them zero: no write is lost in between (D2), and no
 * other bit changes, of this basis or of another (D3, D6). The first goes to bit `at` of `bits`, least significant
 * first, byte after byte (bit i is bit i % 8 of byte i / 8): ranges follow each other without a gap, and nothing else
 * of the caller's memory is read for its value or changed. It may lie anywhere.
 *   -EBADF   there is no such basis
 *   -ENOENT  it is not started
 *   -ENXIO   it has no such range
 *   -EDOM    offset or bytes is not a multiple of the page
 *   -ERANGE  offset, or offset + bytes, is beyond the end
 *   other    of the hal; no bit is lost
 */
int tern_base_query(struct tern_kmd *kmd, uint64_t id, const struct tern_base_part *part, bool clear, void *bits,
                    uint64_t at);

/** How many bits a query would give as set; clears none. Errors of tern_base_query. */
int tern_base_count(struct tern_kmd *kmd, uint64_t id, const struct tern_base_part *part, uint64_t *count);

/* ------------------------------------------------------- for the rest of kmd/ */

struct tern_base;
struct tern_bases {
    struct tern_base *first;
    uint64_t last_id;
    uint32_t *taken;      /**< Bits on their way from the plane, */
    uint32_t taken_pages; /**< of at most so many pages: the largest range of all bases. */
};

/** The host writes, or has written a part of it: every started basis is told. */
void tern_bases_wrote(struct tern_kmd *kmd, uint64_t address, size_t size);
/** Frees all, started or not. */
void tern_bases_free(struct tern_kmd *kmd);

#endif
