/* SPDX-License-Identifier: Apache-2.0 */
/** Frames of work-items in local memory (compiler.h). */
#ifndef RT_FRAMES_H
#define RT_FRAMES_H

#include <stdbool.h>
#include <tern/tern.h>

#include "compiler.h"

/** How a dispatch uses an engine. */
struct rt_use {
    uint32_t warps;       /**< Warps of a full group. */
    uint32_t slots;       /**< Groups that are resident at a time. */
    uint32_t local_bytes; /**< Local memory of a group, a multiple of 64. */
};

/** The use of an engine by groups of so many work-items with local memory of so many bytes, a multiple of 64. */
struct rt_use rt_use_of(const struct tern_device_info *info, uint32_t items, uint32_t local_bytes);

/**
 * Puts the frames of work-items into local memory if that pays, and no fewer groups are then resident, of `groups` in
 * all. True: *use has the local memory of the frames, too, and words[0] to [2] are those of TC_FRAMES_WORDS. spills,
 * stack: of the entry, as in struct tc_kernel.
 */
bool rt_frames_choose(const struct tern_device_info *info, uint32_t spills, uint32_t stack, uint32_t items,
                      uint64_t groups, struct rt_use *use, uint32_t words[TC_FRAMES_WORDS]);

#endif
