/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The one device: opened at the first call that needs it, once per process, and closed when the library is unloaded
 * if every context is gone by then. Opening is lazy because loaders list platforms in programs that never compute, and
 * a simulated device is expensive to make.
 */
#ifndef RT_DEVICE_H
#define RT_DEVICE_H

#include <tern/tern.h>

#include "runtime/core/info.h"

#define RT_ALIGN 128u                /**< Bytes: the largest OpenCL C type. */
#define RT_MAX_PARAMETERS 1024u      /**< Bytes of an argument block. */
#define RT_PRINTF_BYTES (1u << 20)   /**< What one kernel command may print, as records. */
#define RT_L1_BYTES 16384u            /**< Data cache of an engine. */

struct _cl_device_id {
    struct rt_object base;
    struct tern_device *hw;
    struct tern_device_info info;
    cl_device_type type;
    cl_ulong memory;    /**< CL_DEVICE_GLOBAL_MEM_SIZE. */
    cl_ulong max_alloc; /**< CL_DEVICE_MAX_MEM_ALLOC_SIZE. */
    unsigned group_max; /**< Work-items of the largest group. */
    bool svm;           /**< Coarse-grained shared virtual memory (svm.h). */
};

/** Opens at first use. NULL: it cannot be opened; the reason has been printed (once). */
cl_device_id rt_device_get(void);
/** In the child of a fork whose parent had opened the device: it and all objects are the parent's. Every call but
 *  clRelease... fails there at once, since no object is found; nothing is locked, because a thread that the child does
 *  not have may hold the lock. */
bool rt_device_inherited(void);
/** Says so on stderr, once. */
void rt_device_say_inherited(void);
/** A device handle of this library (opened, so). */
bool rt_device_is(cl_device_id device);
/** Device cycles as nanoseconds. */
cl_ulong rt_device_ns(cl_device_id device, uint64_t cycles);
/** The latest device time that the driver has read, in nanoseconds: costs nothing. */
cl_ulong rt_device_seen(cl_device_id device);
/** Device time now, in nanoseconds: waits for the device. */
cl_ulong rt_device_now(cl_device_id device);
/** Around what a thread of ours does on its own (a command's end, winding up a queue, building): closing at exit waits
 *  for it, for a bounded time. */
void rt_device_thread_begin(void);
void rt_device_thread_end(void);

/** clGetDeviceInfo (device_info.c). */
cl_int rt_device_query(cl_device_id device, cl_device_info name, const struct rt_answer *a);

#endif
