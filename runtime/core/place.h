/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The parts of a program's image in device memory: code, constants and variables, each with its access rights. This
 * module knows nothing of OpenCL, because tern bench uses it as well.
 */
#ifndef RT_PLACE_H
#define RT_PLACE_H

#include <tern/tern.h>

#include "runtime/compiler/compiler.h"

struct rt_place_parts {
    struct tern_allocation *part[3]; /**< NULL: the part is empty. */
};

/** Allocates device memory of a process, as tern_allocation_create. */
typedef int rt_place_take(void *user, uint64_t size, uint32_t flags, uint32_t address, struct tern_allocation **out);

/** Takes memory for an image at its address and writes it. New memory reads zero. On failure nothing is taken: the
 *  error of `take`, or of tern_allocation_write. */
int rt_place_image(const struct tc_image *image, rt_place_take *take, void *user, struct rt_place_parts *out);
/** Gives the memory back. */
void rt_place_end(struct rt_place_parts *parts);

#endif
