/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The waveforms that devices of this process write. A program that ends without closing its device still leaves a whole
 * file: exit ends those that are left, behind the program's own handlers and destructors.
 */
#ifndef TERN_HAL_WAVEFORMS_H
#define TERN_HAL_WAVEFORMS_H

#include <stdbool.h>

#include "base/list.h"
#include "tern_sim/tern_sim.h"

/** A waveform, in what has the device. */
struct tern_waveform {
    struct tern_list node;
    const char *path;
    const struct tern_sim_api *api;
    struct tern_sim *sim;
    bool inherited; /**< This process is a child of the one that began it; constant from the fork on. */
};

/**
 * From now on the device writes one to `path`, which must stay as long. 0, or with its sentence -EINVAL: the path is
 * not that of a regular file, or of another waveform, or this device has none; -ENOMEM; errno of the file.
 */
int tern_waveform_begin(struct tern_waveform *w, const char *path, const struct tern_sim_api *api,
                        struct tern_sim *sim);
/** Of one that has begun; before the device goes. What is lost is said on stderr. */
void tern_waveform_end(struct tern_waveform *w);

#endif
