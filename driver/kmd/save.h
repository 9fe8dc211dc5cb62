/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The contents of a context-save area (docs/spec/context.yaml): its header, and the lines of executor state behind its
 * list of pages. The host reads and writes them while no engine uses the area. The list names pages of this device and
 * is not read or written. Hence a state fits any area of a device of the same geometry, whatever the area's pages are.
 * Locks: as in kmd.h.
 */
#ifndef TERN_KMD_SAVE_H
#define TERN_KMD_SAVE_H

#include "kmd/kmd.h"

#define TERN_SAVE_LINE_BYTES 64u

struct tern_save {
    bool saved;        /**< A buffer can be resumed from the area. If not, the other fields are 0. */
    uint32_t offset;   /**< Byte offset in the buffer of the packet to go on with. */
    uint32_t executor; /**< Executor to which the state belongs; 0: none, the buffer was cut between packets. */
    uint32_t lines;    /**< Number of lines of state, at most tern_save_room. */
};

/** Number of lines of state for which an area of the device has room. */
uint32_t tern_save_room(const struct tern_kmd *kmd);
/** Checks that an area of the device can hold this. -EPROTO, with a sentence. */
int tern_save_check(const struct tern_kmd *kmd, const struct tern_save *save);
/** Reads the header of the area whose pages are page[0] to page[save_pages - 1]. -EPROTO: there is no valid header;
 *  -EIO. */
int tern_save_read(struct tern_kmd *kmd, const uint32_t *page, struct tern_save *out);
/** Reads the first `lines` lines of state. -EIO. */
int tern_save_read_state(struct tern_kmd *kmd, const uint32_t *page, uint32_t lines, void *state);
/** Writes the state, then the header. -EPROTO, -EIO. */
int tern_save_write(struct tern_kmd *kmd, const uint32_t *page, const struct tern_save *save, const void *state);

#endif
