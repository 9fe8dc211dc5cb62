/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A context is an address space: a process of the driver. It is also the unit of failure: after a fault the process
 * takes no more work, so the context is lost, and every later command fails with CL_OUT_OF_RESOURCES.
 *
 * `lock` guards the queues' lists, events, maps and `lost` of everything in the context; one lock, because events
 * tie the queues together and the critical sections are short. `changed` wakes waiters (clFinish,
 * clWaitForEvents).
 */
#ifndef RT_CONTEXT_H
#define RT_CONTEXT_H

#include <pthread.h>

#include "runtime/core/device.h"

#define RT_FAULT_MORE 768u /**< Bytes of what a command adds to the driver's sentence about its fault. */

/** What a call can be refused for that its error code does not tell; bits. */
enum rt_refusal {
    RT_REFUSED_WAIT = 1,      /**< It would wait in a callback. */
    RT_REFUSED_MEMORY = 2,    /**< Device memory for a buffer or program. */
    RT_REFUSED_PRIVATE = 4,   /**< Private memory of a kernel. */
    RT_REFUSED_LOCAL = 8,     /**< Local memory of a kernel. */
    RT_REFUSED_ARGUMENTS = 16, /**< Bytes of a kernel's arguments. */
    RT_REFUSED_SHARED = 32,    /**< Shared virtual memory. */
    RT_REFUSED_MAPPING = 64,   /**< A mapping for writing, over another. */
};

struct rt_context_hook {
    void(CL_CALLBACK *fn)(cl_context, void *);
    void *data;
    struct rt_context_hook *next;
};

struct _cl_context {
    struct rt_object base;
    cl_device_id device;
    struct tern_process *process;
    cl_context_properties *properties;
    size_t n_properties;
    void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *);
    void *notify_data;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool lost;                     /**< lock */
    bool reported;                 /**< lock; the application has been called, with the reason. */
    unsigned refused;              /**< lock; bits of enum rt_refusal that stderr has heard of. */
    struct rt_context_hook *hooks; /**< lock; last registered first. */
    pthread_mutex_t image_lock;    /**< Taken before lock; held while an image is linked and placed. */
    uint32_t image_cursor;         /**< image_lock; where the next image goes (image.h). */
};

/** CL_SUCCESS, CL_OUT_OF_HOST_MEMORY, CL_DEVICE_NOT_AVAILABLE, CL_OUT_OF_RESOURCES. properties are copied. */
cl_int rt_context_create(cl_device_id device, const cl_context_properties *properties,
                         void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *notify_data,
                         cl_context *out);
cl_int rt_context_query(cl_context ctx, cl_context_info name, const struct rt_answer *a);
cl_int rt_context_add_hook(cl_context ctx, void(CL_CALLBACK *fn)(cl_context, void *), void *data);
bool rt_context_lost(cl_context ctx);
/** A command of the context faulted: reports it once, through its callback and on stderr. more: what the
 *  command adds to the driver's sentence. Not under the lock. */
void rt_context_fail(cl_context ctx, const struct tern_fault *fault, const char *more);
/** A command was aborted: another one has faulted, and its queue reports that; or the device is lost, which is reported
 *  here. */
void rt_context_abort(cl_context ctx);
/** Says why a call is refused and how much there is: to the application's callback each time, and on stderr the first
 *  time for each kind. Not under a lock: the application may call anything. */
void rt_context_refuse(cl_context ctx, enum rt_refusal kind, const char *format,
                       ...) __attribute__((format(printf, 3, 4)));
/** tern_allocation_create, which waits for what is being given back already. */
int rt_context_take(cl_context ctx, uint64_t size, uint32_t flags, uint32_t address,
                    struct tern_allocation **out);
/** A device allocation, all access but execution. CL_MEM_OBJECT_ALLOCATION_FAILURE or
 * CL_OUT_OF_RESOURCES on failure. */
cl_int rt_context_allocate(cl_context ctx, uint64_t size, struct tern_allocation **out);

#endif
