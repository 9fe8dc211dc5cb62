/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Buffers. A root buffer owns a device allocation, made when a command first needs it (so that an application may
 * create more than it uses); a sub-buffer is a range of its parent's. Initial contents go to the device with the
 * allocation: CL_MEM_COPY_HOST_PTR makes it at creation, since the caller's data need not outlive the call.
 *
 * A buffer made with CL_MEM_USE_HOST_PTR of shared virtual memory (svm.h) has no storage of its own: it is a range of
 * that, which is a root too.
 *
 * Mapping gives host memory of its own (the caller's with CL_MEM_USE_HOST_PTR): the map command reads into
 * it, the unmap command writes it back. The alternative, device memory mapped into the host, is not
 * something every backend has.
 */
#ifndef RT_MEMORY_H
#define RT_MEMORY_H

#include "runtime/core/context.h"
#include "runtime/core/maps.h"

#define RT_MAP_WRITES (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)

struct rt_mem_hook {
    void(CL_CALLBACK *fn)(cl_mem, void *);
    void *data;
    struct rt_mem_hook *next;
};

/** One mapping: from the map call until the unmap command has run. Counted: an unmapping that the application puts
 *  before its mapping, or makes in another thread meanwhile, does not free what the map command still uses. */
struct rt_map {
    atomic_uint refs;
    void *pointer;     /**< What the application has. */
    void *block;       /**< malloc'ed memory behind it; NULL: the caller's own. */
    size_t offset;     /**< In the buffer that was mapped. */
    size_t start;      /**< In that or, of a sub-buffer, in its parent. */
    size_t size;
    bool exclusive;    /**< Context's lock: it is in the tree `writing` of that buffer or its parent. */
    cl_map_flags flags;
    struct rt_map *next;
};

struct _cl_mem {
    struct rt_object base;
    cl_context context; /**< Held. */
    cl_mem parent;      /**< Of a sub-buffer. Held. */
    cl_mem shared;      /**< The SVM allocation that it is a range of. Held. */
    cl_mem root;        /**< Whose device memory it is: of these, or itself. */
    cl_mem_flags flags;
    size_t size;
    size_t origin;      /**< In the parent. */
    size_t at;          /**< In the root. */
    void *host_ptr;     /**< CL_MEM_USE_HOST_PTR, or an SVM allocation's own. */
    cl_mem_properties *properties;
    size_t n_properties;
    pthread_mutex_t lock;          /**< Roots: `allocation` comes into being. Taken before the context's lock. */
    struct tern_allocation *allocation;
    bool svm;                      /**< An SVM allocation, which the application knows by its pointer only. */
    bool given;                    /**< svm.c's lock: it is the application's, until it frees it. */
    struct rt_maps maps;           /**< Context's lock. */
    void *writing;                 /**< Context's lock; not of sub-buffers: tsearch's tree of mappings for writing, its
                                    *   sub-buffers' too. No two of them overlap. */
    struct rt_mem_hook *hooks;     /**< Context's lock; last registered first. */
};

/** Arguments are valid. properties (may be NULL) are copied. */
cl_int rt_mem_create(cl_context ctx, const cl_mem_properties *properties, cl_mem_flags flags, size_t size,
                     void *host_ptr, cl_mem *out);
/** A root without device memory, of which the application gets no handle (svm.c). NULL: no memory. */
cl_mem rt_mem_create_svm(cl_context ctx, cl_mem_flags flags, size_t size);
cl_int rt_mem_create_sub(cl_mem parent, cl_mem_flags flags, size_t origin, size_t size, cl_mem *out);
cl_int rt_mem_query(cl_mem mem, cl_mem_info name, const struct rt_answer *a);
cl_int rt_mem_add_hook(cl_mem mem, void(CL_CALLBACK *fn)(cl_mem, void *), void *data);

/** Sees that there is device memory. Waits for commands that give some back (flight.h).
 *  CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_OUT_OF_RESOURCES. */
cl_int rt_mem_resident(cl_mem mem);
/** Of a resident buffer. */
uint32_t rt_mem_address(cl_mem mem);
/** Host access to a resident buffer, at once. CL_OUT_OF_RESOURCES on failure. */
cl_int rt_mem_read(cl_mem mem, size_t offset, void *data, size_t size);
cl_int rt_mem_write(cl_mem mem, size_t offset, const void *data, size_t size);

/** A new mapping, in the buffer's set; the caller has a reference too. CL_OUT_OF_HOST_MEMORY; CL_INVALID_OPERATION: it
 *  is for writing, and so is another that overlaps it (which is said by rt_context_refuse; not of SVM allocations). */
cl_int rt_map_create(cl_mem mem, cl_map_flags flags, size_t offset, size_t size, struct rt_map **out);
/** Reads the buffer's bytes into the mapping, as its flags say. If the mapping is the caller's memory, bytes that
 *  another mapping for writing has too are left alone: the application may have written them. */
cl_int rt_map_load(cl_mem mem, const struct rt_map *map);
/** Unmapping is on its way: others may map the range for writing. */
void rt_map_share(cl_mem mem, struct rt_map *map);
/** Takes the mapping with this pointer from the buffer, and its reference; NULL: there is none. */
struct rt_map *rt_map_take(cl_mem mem, const void *pointer);
/** Puts back what rt_map_take gave. */
void rt_map_return(cl_mem mem, struct rt_map *map);
/** It came to nothing: takes it from the buffer, if it is still there. */
void rt_map_cancel(cl_mem mem, struct rt_map *map);
void rt_map_hold(struct rt_map *map);
void rt_map_drop(struct rt_map *map);

#endif
