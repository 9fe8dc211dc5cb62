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
/** Makes a fill of a box with a pattern of 1, 2, 4 ... 128 bytes, of which each row begins with the first and has a
 *  whole number. A box that is filled with a pattern of 128 bytes has one row. */
cl_int rt_fill_create(cl_command_queue queue, cl_command_type type, cl_mem mem, const void *pattern,
                      size_t pattern_size, const size_t region[3], const struct rt_side *at, cl_uint n_waits,
                      const cl_event *waits, struct rt_command **out);

#endif
