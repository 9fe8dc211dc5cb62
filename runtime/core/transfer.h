/* SPDX-License-Identifier: Apache-2.0 */
/** Commands that copy bytes between the host and a memory object, and commands that only keep order. All run in the
 *  worker. */
#ifndef RT_TRANSFER_H
#define RT_TRANSFER_H

#include "runtime/core/box.h"
#include "runtime/core/command.h"

/** Makes a command that reads (to_host) or writes a box. `host` is the base of the caller's memory, which stays
 *  valid until the command ends. */
cl_int rt_transfer_create(cl_command_queue queue, cl_command_type type, cl_mem mem, bool to_host,
                          const size_t region[3], const struct rt_side *buffer, const struct rt_side *host_side,
                          void *host, cl_uint n_waits, const cl_event *waits, struct rt_command **out);
/** Makes a command that reads the memory object into a mapping, or (unmap) writes it back. The unmap command takes the
 *  reference to the mapping if the call succeeds. */
cl_int rt_map_command_create(cl_command_queue queue, cl_mem mem, struct rt_map *map, bool unmap, cl_uint n_waits,
                             const cl_event *waits, struct rt_command **out);
/** Makes a command without work. all: it runs after all earlier commands; fence: later commands run after it. */
cl_int rt_marker_create(cl_command_queue queue, cl_command_type type, bool all, bool fence, cl_uint n_waits,
                        const cl_event *waits, struct rt_command **out);

#endif
