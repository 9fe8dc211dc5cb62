/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a context-save area holds (docs/spec/context.yaml), read and written by the host while no engine uses it: its
 * header, and the lines of executor state behind the list of pages. The list itself is of this device's pages and
 * stays; so the state of one device fits the area of another one of the same geometry, in whatever pages it is.
 */
#ifndef TERN_KMD_SAVE_H
#define TERN_KMD_SAVE_H

#include "kmd/kmd.h"

#define TERN_SAVE_LINE_BYTES 64u

struct tern_save {
    bool saved;        /**< A buffer can go on from here; else the rest is 0. */
    uint32_t offset;   /**< Of the packet to go on with, in the buffer. */
    uint32_t executor; /**< Whose state it is; 0: between packets. */
    uint32_t lines;    /**< Of state, at most tern_save_room. */
};

/** Lines of state that an area of the device has room for. */
uint32_t tern_save_room(const struct tern_kmd *kmd);
/** Could an area of the device hold this? -EPROTO, with a sentence. */
int tern_save_check(const struct tern_kmd *kmd, const struct tern_save *save);
/** The header of the area whose pages are page[0] to page[save_pages - 1]. -EPROTO: it is none; -EIO. */
int tern_save_read(struct tern_kmd *kmd, const uint32_t *page, struct tern_save *out);
/** Its lines of state. */
int tern_save_read_state(struct tern_kmd *kmd, const uint32_t *page, uint32_t lines, void *state);
/** Writes the state, then the header. */
int tern_save_write(struct tern_kmd *kmd, const uint32_t *page, const struct tern_save *save, const void *state);

#endif
