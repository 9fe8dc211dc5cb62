/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A context is an address space (a process of the driver) and the unit of failure. After a fault the process takes no
 * more work, so the context is lost, and every later command fails with CL_OUT_OF_RESOURCES.
 *
 * Locks. `lock` guards the queues' lists, events, maps and `lost` of the whole context. One lock suffices, because
 * events connect the queues, and critical sections are short. `changed` wakes the threads of clFinish and
 * clWaitForEvents.
 */
#ifndef RT_CONTEXT_H
#define RT_CONTEXT_H

#include <pthread.h>

#include "base/lock.h"
#include "runtime/core/device.h"

#define RT_FAULT_MORE 768u /**< Largest text, in bytes, that a command adds to the driver's sentence about its fault. */

/** Reasons of a refused call that its error code does not tell, as bits. */
enum rt_refusal {
    RT_REFUSED_WAIT = 1,      /**< The call would wait in a callback. */
    RT_REFUSED_MEMORY = 2,    /**< Too little device memory for a buffer or program. */
    RT_REFUSED_PRIVATE = 4,   /**< Too much private memory of a kernel. */
    RT_REFUSED_LOCAL = 8,     /**< Too much local memory of a kernel. */
    RT_REFUSED_ARGUMENTS = 16, /**< Too many bytes of a kernel's arguments. */
    RT_REFUSED_SHARED = 32,    /**< No shared virtual memory. */
    RT_REFUSED_GROUP = 128,    /**< A group that no engine can run. */
    RT_REFUSED_IL = 256,       /**< A module in SPIR-V that is none, or none for this device. */
    RT_REFUSED_IMAGE = 512,    /**< An image that cannot exist, or that a kernel cannot take. */
    RT_REFUSED_SAMPLER = 1024, /**< A sampler that cannot exist, or that a kernel cannot take. */
    RT_REFUSED_MAPPING = 64,   /**< A mapping for writing overlaps another one. */
};

struct rt_context_hook {
    void(CL_CALLBACK *fn)(cl_context, void *);
    void *data;
    struct rt_context_hook *next;
};

struct _cl_context {
    struct rt_object base;
    cl_device_id device; /**< Constant, as are the fields up to `notify_data`. */
    struct tern_process *process;
    cl_context_properties *properties; /**< A copy of the application's list, with its final 0. */
    size_t n_properties;               /**< Elements of the list. */
    void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *);
    void *notify_data;
    pthread_mutex_t lock;
    pthread_cond_t changed; /**< Broadcast when an event has ended, or a thread may finish commands. */
    bool lost;                     /**< The process of the driver takes no more work. Guarded by `lock`. */
    bool reported;                 /**< The application's callback was called with the reason. Guarded by `lock`. */
    unsigned refused;              /**< Bits of enum rt_refusal that were printed on stderr. Guarded by `lock`. */
    struct rt_context_hook *hooks; /**< Destructor callbacks, last registered first. Guarded by `lock`. */
    pthread_mutex_t load_lock;    /**< Held while a program's code gets its address. Taken before `lock`. */
    struct tern_allocation *locks; /**< Table of locks for atomics of 64 bits; NULL: no loaded program has any. The
                                    *   pointer is set once, before a program that needs it is loaded. Guarded by
                                    *   `load_lock`. */
    uint32_t load_cursor;         /**< Address of the next program's code (loaded.h). Guarded by `load_lock`. */
};

/** Makes a context. The properties are copied. CL_OUT_OF_HOST_MEMORY, CL_DEVICE_NOT_AVAILABLE, CL_OUT_OF_RESOURCES. */
cl_int rt_context_create(cl_device_id device, const cl_context_properties *properties,
                         void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *notify_data,
                         cl_context *out);
cl_int rt_context_query(cl_context ctx, cl_context_info name, const struct rt_answer *a);
cl_int rt_context_add_hook(cl_context ctx, void(CL_CALLBACK *fn)(cl_context, void *), void *data);
bool rt_context_lost(cl_context ctx);
/** Called when a command of the context has faulted. Reports the fault once, by the context's callback and on
 *  stderr. more: text that the command adds to the driver's sentence. Takes the context's lock. */
void rt_context_fail(cl_context ctx, const struct tern_fault *fault, const char *more);
/** Called when a command was aborted. If another command has faulted, that command's queue reports it. If the device
 *  is lost, this function reports it. */
void rt_context_abort(cl_context ctx);
/** Reports why a call is refused: to the application's callback each time, on stderr the first time for each kind.
 *  Requires that no lock is held, because the callback may make any call. */
void rt_context_refuse(cl_context ctx, enum rt_refusal kind, const char *format,
                       ...) __attribute__((format(printf, 3, 4)));
/** As tern_allocation_create, but waits for released queues that still free memory (closing.h). */
int rt_context_take(cl_context ctx, uint64_t size, uint32_t flags, uint32_t address,
                    struct tern_allocation **out);
/** Makes a device allocation with all access but execution. CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_OUT_OF_RESOURCES. */
cl_int rt_context_allocate(cl_context ctx, uint64_t size, struct tern_allocation **out);

#endif
