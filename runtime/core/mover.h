/* SPDX-License-Identifier: Apache-2.0 */
/** Commands that the device's mover executes: copies and fills. */
#ifndef RT_MOVER_H
#define RT_MOVER_H

#include "runtime/core/box.h"
#include "runtime/core/command.h"

/** Makes a copy of a box; source and destination do not overlap. */
cl_int rt_copy_create(cl_command_queue queue, cl_command_type type, cl_mem src, cl_mem dst, const size_t region[3],
                      const struct rt_side *from, const struct rt_side *to, cl_uint n_waits, const cl_event *waits,
                      struct rt_command **out);
/** Makes a fill of a range with a pattern of 1, 2, 4 ... 128 bytes. offset and size are multiples of pattern_size. */
cl_int rt_fill_create(cl_command_queue queue, cl_command_type type, cl_mem mem, const void *pattern,
                      size_t pattern_size, size_t offset, size_t size, cl_uint n_waits, const cl_event *waits,
                      struct rt_command **out);

#endif
