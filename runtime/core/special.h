/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Dispatches of kernels that are compiled for their local size (compiler.h). Several work-items of a group are merged
 * into one of the hardware: a group that is larger than an engine runs in no other way, and a smaller one runs so if
 * that fills the engine and needs fewer instructions. A kernel that sees its groups by ids only no longer sees them.
 */
#ifndef RT_SPECIAL_H
#define RT_SPECIAL_H

#include "runtime/core/dispatch.h"
#include "runtime/core/loaded.h"
#include "runtime/core/kernel.h"

/** How a dispatch is specialised. */
struct rt_special {
    /** The specialised kernel, of which the caller of rt_special_choose drops the hold. NULL: the kernel is
     *  not specialised. */
    struct rt_loaded *program;
    uint32_t n;    /**< Work-items that a hardware work-item runs; 1: the kernel does not see its groups. */
    unsigned axis; /**< Dimension in which they differ. */
    uint32_t joined; /**< Groups of which it runs n work-items each, neighbours in this dimension. */
};

/** Largest number of work-items of a group of a kernel. */
unsigned rt_special_group_max(cl_kernel k);

/** Specialises a kernel for a range if it must be, or if it pays; compiles it at the first time. *hardware is the
 *  range that the hardware runs. CL_INVALID_WORK_GROUP_SIZE: the group is larger than an engine, and does not divide
 *  the range or cannot be divided (the reason was reported). CL_OUT_OF_RESOURCES: the compiler failed, which was
 *  reported, or errors of rt_loaded_create. Blocks. */
cl_int rt_special_choose(cl_kernel k, const struct rt_range *range, struct rt_range *hardware, struct rt_special *out);

/** Explains a fault of a kernel that does not see its groups, which the hardware runs in others than OpenCL's: names
 *  OpenCL's group in the driver's sentence and in *fault. */
void rt_special_regroup(const struct rt_range *range, struct tern_fault *fault);

/** Explains a fault. Replaces the work-item in the driver's sentence by the work-items that the hardware's work-item
 *  ran, and clears the work-item of *fault. */
void rt_special_explain(const struct rt_special *s, const struct rt_range *range, struct tern_fault *fault);

#endif
