/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The waveforms that devices of this process write. At the exit of the program, after its own handlers and destructors,
 * the open waveforms are ended, so that a program that does not close its device leaves a whole file as well.
 */
#ifndef TERN_HAL_WAVEFORMS_H
#define TERN_HAL_WAVEFORMS_H

#include <stdbool.h>

#include "base/list.h"
#include "tern_sim/tern_sim.h"

/** A waveform, a member of the backend's device. */
struct tern_waveform {
    struct tern_list node; /**< Node of the list of open waveforms. Guarded by the lock of waveforms.c. */
    const char *path;      /**< Constant, as are the two fields below. */
    const struct tern_sim_api *api;
    struct tern_sim *sim;
    bool inherited; /**< This process is a child of the one that began the waveform. Set at the fork only. */
};

/**
 * Begins a waveform of the device. The string `path` must be valid until its end. Errors, with a sentence:
 *   -EINVAL  the path is not that of a regular file, or is that of another waveform, or the device records none
 *   -ENOMEM
 *   other    errors of the file
 */
int tern_waveform_begin(struct tern_waveform *w, const char *path, const struct tern_sim_api *api,
                        struct tern_sim *sim);
/** Ends a waveform. Called before the device is destroyed. If a part could not be written, stderr says so. */
void tern_waveform_end(struct tern_waveform *w);

#endif
