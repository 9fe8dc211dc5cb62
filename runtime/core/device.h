/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The only device. The first call that needs it opens it, once per process, because loaders list platforms in programs
 * that never compute, and a simulated device is expensive to make. The device is closed when the library is unloaded,
 * unless a context exists then.
 */
#ifndef RT_DEVICE_H
#define RT_DEVICE_H

#include <tern/tern.h>

#include "runtime/core/info.h"

#define RT_ALIGN 128u                /**< Bytes of the largest OpenCL C type. */
#define RT_MAX_PARAMETERS 1024u      /**< Bytes of the arguments of a kernel that are not images, at most. */
#define RT_PRINTF_BYTES (1u << 20)   /**< Bytes of printf records of one kernel command. */
#define RT_GROUP_MERGED 4u           /**< A group has at most this many times the work-items of an engine. */
#define RT_GROUP_LARGEST 1024u       /**< Largest number of work-items of a group on any device. */
#define RT_L1_BYTES 16384u           /**< Bytes of the data cache of an engine. */

/** The fields do not change after the opening, so no lock guards them. */
struct _cl_device_id {
    struct rt_object base;
    struct tern_device *hw; /**< The device of libtern; NULL: it is not open. */
    struct tern_device_info info;
    cl_device_type type;
    cl_ulong memory;    /**< CL_DEVICE_GLOBAL_MEM_SIZE, in bytes. */
    cl_ulong max_alloc; /**< CL_DEVICE_MAX_MEM_ALLOC_SIZE, in bytes. */
    unsigned engine_items; /**< Work-items that an engine holds. */
    unsigned group_max; /**< Largest number of work-items of a group, as far as its kernel allows (special.h). */
    bool svm;           /**< Coarse-grained shared virtual memory is supported (svm.h). */
};

/** The device, opened at first use. NULL: it cannot be opened, and the reason was printed once. */
cl_device_id rt_device_get(void);
/** True: the caller is the child of a fork whose parent had opened the device, to which all objects belong. All
 *  calls but clRelease... fail in the child, because no object is found there. No lock is taken, because a thread
 *  that does not exist in the child may hold it. */
bool rt_device_inherited(void);
/** Prints on stderr, once, that the device belongs to the parent. */
void rt_device_say_inherited(void);
/** True: the handle is that of the device. */
bool rt_device_is(cl_device_id device);
/** Converts device cycles to nanoseconds. */
cl_ulong rt_device_ns(cl_device_id device, uint64_t cycles);
/** The latest device time that the driver has read, in nanoseconds. Does not access the device. */
cl_ulong rt_device_seen(cl_device_id device);
/** The device time now, in nanoseconds. Waits for the device. */
cl_ulong rt_device_now(cl_device_id device);
/** Called before and after work of the runtime's own threads: the end of a command, the end of a queue, a build. The
 *  closing of the device at exit waits for such work, for a bounded time. */
void rt_device_thread_begin(void);
void rt_device_thread_end(void);

/** clGetDeviceInfo (device_info.c). */
cl_int rt_device_query(cl_device_id device, cl_device_info name, const struct rt_answer *a);

#endif
