/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Explanations of a kernel's fault, which are added to the driver's sentence: the place in the source, the argument
 * that was probably meant, and advice. The driver knows only addresses; the runtime knows names, lines and the
 * language.
 */
#ifndef RT_EXPLAIN_H
#define RT_EXPLAIN_H

#include "runtime/core/loaded.h"
#include "runtime/core/memory.h"

/** A kernel as it was dispatched. */
struct rt_scene {
    const struct rt_loaded *program;
    const struct tc_kernel *kernel;
    const uint8_t *args; /**< The argument block that the device read. */
    const cl_mem *mems;  /**< The buffers in the argument block. */
    unsigned n_mems;
};

/** Appends the explanation to `text`, which is terminated and cut to its size. */
void rt_explain_kernel(const struct rt_scene *scene, const struct tern_fault *fault, char text[RT_FAULT_MORE]);

#endif
