/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What the runtime adds to the driver's sentence about a kernel's fault: where in the source, which argument was meant,
 * and what to do. The driver knows addresses; names, lines and the language are the runtime's.
 */
#ifndef RT_EXPLAIN_H
#define RT_EXPLAIN_H

#include "runtime/core/image.h"
#include "runtime/core/memory.h"

/** The kernel as it ran. */
struct rt_scene {
    const struct rt_image *image;
    const struct tc_kernel *kernel;
    const uint8_t *args; /**< The argument block that the device read. */
    const cl_mem *mems;  /**< The buffers in it. */
    unsigned n_mems;
};

void rt_explain_kernel(const struct rt_scene *scene, const struct tern_fault *fault, char text[RT_FAULT_MORE]);

#endif
