/* SPDX-License-Identifier: Apache-2.0 */
/** Dispatches whose hardware work-items run several OpenCL work-items (compiler.h, docs/decisions/coarsening.md). */
#ifndef RT_COARSE_H
#define RT_COARSE_H

#include "compiler.h"
#include "runtime/core/dispatch.h"

/**
 * Is a dispatch of r to run the kernel's coarse entry? Then *hardware is the range that the hardware runs, with so many
 * rounds for each of its work-items that ids and arguments cost little, and so few that the engine is full. false: the
 * kernel or the range does not allow it or it does not pay, and *hardware is r. lanes, warps: of an engine; max:
 * work-items of a group.
 */
bool rt_coarse_choose(const struct tc_kernel *k, uint32_t lanes, uint32_t warps, uint32_t max, const struct rt_range *r,
                      struct rt_range *hardware);

/** Names, in the driver's sentence about a fault, the work-items of r which the hardware's work-item ran, adds to the
 *  runtime's part (`more`) how to learn which of them it was, and clears the work-item of *fault. */
void rt_coarse_explain(const struct tc_kernel *k, const struct rt_range *r, const struct rt_range *hardware,
                       struct tern_fault *fault, char more[RT_FAULT_MORE]);

#endif
