/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Delta debugging (Zeller's ddmin): tries to leave out halves, then quarters, ... then single items, and starts again
 * with larger pieces when a piece could be left out.
 *
 * Only the complement of a piece is tried, not the piece alone: work that builds on earlier work seldom differs without
 * it, and each trial is a run of both devices.
 */
#include "verify.h"

/** Lists the indexes of the kept items. Returns their number. */
static uint32_t kept(const bool *keep, uint32_t items, uint32_t *out)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < items; i++) {
        if (keep[i]) {
            out[n++] = i;
        }
    }
    return n;
}

uint32_t shrink(bool *keep, uint32_t items, uint32_t runs, bool (*differs)(void *user), void *user)
{
    uint32_t index[MAX_ITEMS];
    uint32_t n = kept(keep, items, index), pieces = 2;
    while (n > 0 && runs > 0) {
        pieces = pieces > n ? n : pieces;
        bool smaller = false;
        for (uint32_t p = 0; p < pieces && runs > 0 && !smaller; p++) {
            uint32_t first = (uint32_t)((uint64_t)n * p / pieces), end = (uint32_t)((uint64_t)n * (p + 1) / pieces);
            for (uint32_t i = first; i < end; i++) {
                keep[index[i]] = false;
            }
            runs--;
            smaller = differs(user);
            for (uint32_t i = first; i < end && !smaller; i++) {
                keep[index[i]] = true;
            }
        }
        if (smaller) {
            n = kept(keep, items, index);
            pieces = pieces > 2 ? pieces - 1 : 2;
        } else if (pieces >= n) {
            break;
        } else {
            pieces = pieces * 2;
        }
    }
    return n;
}
