/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Coarse dispatches, in which a work-item of the hardware runs several OpenCL work-items (compiler.h,
 * docs/decisions/coarsening.md).
 */
#ifndef RT_COARSE_H
#define RT_COARSE_H

#include "compiler.h"
#include "runtime/core/dispatch.h"

/**
 * Chooses between the kernel's plain and coarse entry. True: coarse, and *hardware is the range that the hardware runs.
 * The work-items of that range have enough rounds to make ids and arguments cheap, and few enough to fill the engine.
 * False: *hardware is r, because the kernel or the range does not allow coarsening, or it would not pay. lanes, warps:
 * of an engine; max: largest number of work-items of a group.
 */
bool rt_coarse_choose(const struct tc_kernel *k, uint32_t lanes, uint32_t warps, uint32_t max, const struct rt_range *r,
                      struct rt_range *hardware);

/** The value of user1 of a coarse dispatch (compiler.h). */
uint32_t rt_coarse_user1(const struct tc_kernel *k, const struct rt_range *r, const struct rt_range *hardware);

/** Explains a fault of a coarse dispatch. Replaces the work-item in the driver's sentence by the work-items of r
 *  that the hardware's work-item ran, adds to `more` how to find out which of them it was, and clears the work-item
 *  of *fault. */
void rt_coarse_explain(const struct tc_kernel *k, const struct rt_range *r, const struct rt_range *hardware,
                       struct tern_fault *fault, char more[RT_FAULT_MORE]);

#endif
