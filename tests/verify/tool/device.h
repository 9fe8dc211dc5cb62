/* SPDX-License-Identifier: Apache-2.0 */
/** Simulated memory, registers and resets of a device, for the run of a scene. An int is 0 or -errno. */
#ifndef DEVICE_H
#define DEVICE_H

#include "verify.h"

/** One case in four has a memory that pushes back: a real one, or one of random numbers. */
void device_memory(uint64_t seed, struct tern_sim_config *c);
/** Reads and removes the oldest indication of an engine. */
int device_indication(const struct tern_sim_api *api, struct tern_sim *sim, uint32_t e, struct seen *out);
/** Counts dirty pages while work goes on, and at once again, as a driver may that wants to know how fast it writes.
 *  Nothing comes of it: a range beyond memory is refused, and so is a question before the answer. Not a query: the
 *  scene has no memory for its result. */
int device_ask(const struct tern_sim_api *api, struct tern_sim *sim, struct rng *random, uint64_t mem_bytes);
/** Waits for the end of what device_ask began. */
int device_counted(const struct tern_sim_api *api, struct tern_sim *sim);
/** Reads the dirty bit of each page into a byte; clear: and clears it. */
int device_dirty(const struct tern_sim_api *api, struct tern_sim *sim, uint64_t mem_bytes, bool clear, uint8_t *dirty);
/** Resets all engines, whatever they do, one after the other, as a driver does when a time is up; then memory becomes
 *  that of the scene, and no page is dirty. */
int device_reset(const struct tern_sim_api *api, struct tern_sim *sim, const struct scene *s);

#endif
