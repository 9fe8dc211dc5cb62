/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Memory bases (D4-D6): collections of ranges of device memory, each with dirty bits of its own.
 *
 * The hardware has one plane, with one bit per page. Several parts of the driver want to know which pages were written:
 * a migration of a partition, a checkpoint of a process, the pager. Each has a basis. Whenever the driver takes bits
 * out of the plane, which clears them, it adds them to every started basis that has the page. A host write, which the
 * plane does not see, is added in the same way (D7). A query takes the bits of its pages out of the plane, and then
 * reads those of its basis. Hence a clear through one basis loses nothing for another (D6).
 *
 *     host writes --------------------+--> bits of basis 1 --> query
 *     engines --> plane --(query)-----+--> bits of basis 2 --> query
 *
 * Alternative dropped: bits stay in the plane until the last basis has asked for them. That needs a record of who has
 * asked for which bits, which is as large as the bits of the bases. Cost of the bases: one bit per page of each basis,
 * and no time while none is started, although the plane itself is always on (D1).
 *
 * Errors. Functions return 0 or -errno, with a sentence (tern_last_error). Out-parameters are untouched on failure.
 * After a failure of the hal, pages whose bits the plane may have lost count as written in every started basis.
 * Locks. The caller serialises all calls with tern_kmd_write and all other uses of the device (the driver: hal_lock).
 * Unit. A page is what one bit stands for (tern_kmd_dirty_caps), 4 KiB or more.
 */
#ifndef TERN_KMD_MEMORY_BASIS_H
#define TERN_KMD_MEMORY_BASIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tern_kmd;

/** Capabilities of the device (D1). */
struct tern_dirty_caps {
    bool supported;     /**< The device has a dirty plane. */
    bool performant;    /**< Tracking costs nothing: it is always on, and needs no full copy before it. */
    uint32_t segments;  /**< Number of segments of device memory, which is 1. */
    struct {
        uint64_t address, bytes; /**< Physical range; bytes is rounded up to whole pages. */
        uint64_t page_bytes;     /**< Bytes for which one bit stands: a power of two, at least 4096. */
    } segment[1];
};
void tern_kmd_dirty_caps(const struct tern_kmd *kmd, struct tern_dirty_caps *out);

struct tern_basis_range {
    uint64_t address, bytes; /**< Physical range of whole pages. */
};

/**
 * Makes a basis of n ranges, in any order, and does not start it. *id is its name, which no other basis ever gets.
 *   -EINVAL  there is no range, or an empty one
 *   -EDOM    an address or a size is not a multiple of the page
 *   -ERANGE  a range is not in device memory
 *   -EEXIST  two ranges overlap
 *   -ENOMEM
 */
int tern_basis_create(struct tern_kmd *kmd, const struct tern_basis_range *ranges, uint32_t n, uint64_t *id);

/** Destroys a basis. -EBADF: there is no such basis; -EBUSY: the basis is started. */
int tern_basis_destroy(struct tern_kmd *kmd, uint64_t id);

/**
 * Starts to track writes to the basis's pages, with all bits 0. Starts nest: a basis that is started already keeps its
 * bits, and tracks until it has been stopped as often as it was started. The call takes the bits of the basis's ranges
 * out of the plane, for the other bases.
 *   -EBADF   there is no such basis
 *   other    errors of the hal; the basis is not started
 */
int tern_basis_start(struct tern_kmd *kmd, uint64_t id);

/** Starts to track without reading the plane: earlier writes count as well, if no other basis has taken their bits. For
 *  bases that exist from the opening of the device on. -EBADF; -EALREADY: the basis is started. */
int tern_basis_start_late(struct tern_kmd *kmd, uint64_t id);

/** Undoes one start. Other bases do not change. -EBADF; -ENOENT: the basis is not started. */
int tern_basis_stop(struct tern_kmd *kmd, uint64_t id);

#define TERN_BASIS_ALL UINT32_MAX
/** A part of a basis: pages of one range, by its number at creation, or of all ranges, in the order of creation. */
struct tern_basis_part {
    uint32_t range;  /**< Number of the range, or TERN_BASIS_ALL. */
    uint64_t offset; /**< Bytes from the beginning of the range, or of the first one; whole pages. */
    uint64_t bytes;  /**< Length in bytes, whole pages; 0: all from offset on. */
};

/**
 * Copies the dirty bits of a part, and with `clear` makes them 0. No write is lost in between (D2), and no other bit of
 * this or another basis changes (D3, D6).
 *
 * The bit of page i of the part goes to bit at + i of the caller's array `bits`; bit k is bit k % 8 of byte k / 8.
 * Ranges follow each other without a gap. No other bit of the array changes. The array needs no alignment.
 *   -EBADF   there is no such basis
 *   -ENOENT  the basis is not started
 *   -ENXIO   the basis has no such range
 *   -EDOM    offset or bytes is not a multiple of the page
 *   -ERANGE  offset, or offset + bytes, is beyond the end
 *   other    errors of the hal; no bit is lost
 */
int tern_basis_query(struct tern_kmd *kmd, uint64_t id, const struct tern_basis_part *part, bool clear, void *bits,
                    uint64_t at);

/** Counts the set bits that a query would return, and clears none. Errors as of tern_basis_query. */
int tern_basis_count(struct tern_kmd *kmd, uint64_t id, const struct tern_basis_part *part, uint64_t *count);

/* ------------------------------------------------------- for the rest of kmd/ */

struct tern_basis;
/** The memory bases of a device. Guarded by the caller's lock. */
struct tern_bases {
    struct tern_basis *first; /**< The bases, the youngest first. */
    uint64_t last_id;         /**< Name of the youngest basis that was ever made. */
    uint32_t *taken;      /**< Buffer for bits that are taken out of the plane. */
    uint32_t taken_pages; /**< Number of pages for which `taken` has room: that of the largest range of all bases. */
};

/** Adds a host write, complete or not, to every started basis. */
void tern_bases_wrote(struct tern_kmd *kmd, uint64_t address, size_t size);
/** Frees all bases, started or not. */
void tern_bases_free(struct tern_kmd *kmd);

#endif
