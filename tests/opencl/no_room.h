/* SPDX-License-Identifier: Apache-2.0 */
/** A driver without room, as part of a runtime of its own (no_room.c). */
#ifndef NO_ROOM_H
#define NO_ROOM_H

#include <stdbool.h>
#include <stdint.h>

enum { NO_ROOM_NAMES = 64 };

/** Counts the calls of the driver. The test reads it while its queue has no work. */
struct no_room {
    bool on;          /**< The driver has no room for all memory of a process. */
    unsigned refused; /**< Submissions that were refused. */
    unsigned named;   /**< Calls of tern_context_set_residency. */
    uint32_t count;   /**< Number of addresses that are named for the next submission; 0: none are. */
    uint32_t names[NO_ROOM_NAMES]; /**< The addresses that were named last. */
};

#endif
