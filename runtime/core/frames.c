/* SPDX-License-Identifier: Apache-2.0 */
/** Frames of work-items in local memory (frames.h). */
#include "runtime/core/frames.h"

#include <tern/tern_spec.h>

#define LEAST 64u /* accesses of a frame that pay for the start at frames_entry and for clearing local memory */

struct rt_use rt_use_of(const struct tern_device_info *info, uint32_t items, uint32_t local_bytes)
{
    struct rt_use use = {.warps = (items + info->lanes - 1) / info->lanes, .local_bytes = local_bytes};
    use.slots = info->warps / use.warps;
    if (local_bytes != 0 && info->local_bytes / local_bytes < use.slots) {
        use.slots = info->local_bytes / local_bytes;
    }
    return use;
}

bool rt_frames_choose(const struct tern_device_info *info, uint32_t spills, uint32_t stack, uint32_t items,
                      uint64_t groups, struct rt_use *use, uint32_t words[TC_FRAMES_WORDS])
{
    const uint64_t apart = ((stack + 3ull) / 4 | 1) * 4;
    const uint64_t bytes = (use->local_bytes + apart * items + 63) & ~63ull;
    if (spills < LEAST || bytes > info->local_bytes || (use->warps & (use->warps - 1)) != 0) {
        return false;
    }
    const struct rt_use then = rt_use_of(info, items, (uint32_t)bytes);
    if (then.slots < use->slots && then.slots < groups) {
        return false;
    }
    words[0] = use->warps * info->lanes - 1;
    words[1] = (uint32_t)apart;
    words[2] = TERN_WIN_LOCAL_BASE + use->local_bytes + (uint32_t)apart;
    *use = then;
    return true;
}
