/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Buffers. A root buffer owns a device allocation, which is made when a command first needs it, so that an application
 * may create more buffers than it uses. A sub-buffer is a range of its parent. CL_MEM_COPY_HOST_PTR makes the
 * allocation at creation, because the caller's data need not outlive the call.
 *
 * A buffer with CL_MEM_USE_HOST_PTR of shared virtual memory (svm.h) has no allocation of its own. Such a buffer is a
 * range of the SVM allocation, which is a root as well.
 *
 * Mapping. A mapping is host memory: memory of the runtime, or the caller's with CL_MEM_USE_HOST_PTR. The map command
 * reads the buffer into it, the unmap command writes it back. Alternative dropped: device memory mapped into the host,
 * which not every backend can do.
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

/** A mapping, from the map call to the end of the unmap command. A reference count keeps it, because an unmap call
 *  may come before the map command has run, or in another thread meanwhile, and must not free what the map command
 *  uses. */
struct rt_map {
    atomic_uint refs;  /**< The reference count. Atomic. */
    void *pointer;     /**< The pointer that the application has. Constant, as are the fields up to `size`. */
    void *block;       /**< Memory from malloc; NULL: the caller owns the memory. */
    size_t offset;     /**< Offset in the mapped buffer. */
    size_t start;      /**< Offset in the mapped buffer, or in its parent if it is a sub-buffer. */
    size_t size;
    bool exclusive;    /**< The mapping is in the tree `writing` of that buffer. Guarded by the context's lock. */
    cl_map_flags flags; /**< Constant. */
    struct rt_map *next; /**< Link of the table of mappings. Guarded by the context's lock. */
};

struct _cl_mem {
    struct rt_object base;
    cl_context context; /**< Held. Constant, as are the fields up to `n_properties`. */
    cl_mem parent;      /**< Parent of a sub-buffer, held. */
    cl_mem shared;      /**< SVM allocation of which the buffer is a range, held. */
    cl_mem root;        /**< The buffer that owns the device memory: parent, shared or the buffer itself. */
    cl_mem_flags flags;
    size_t size;
    size_t origin;      /**< Offset in the parent. */
    size_t at;          /**< Offset in the root. */
    void *host_ptr;     /**< Memory of CL_MEM_USE_HOST_PTR, or the host part of an SVM allocation. */
    cl_mem_properties *properties;
    size_t n_properties;
    pthread_mutex_t lock; /**< In a root. Taken before the context's lock. */
    /** Device memory of a root; NULL: not made yet. Guarded by `lock` until it is made, then constant. */
    struct tern_allocation *allocation;
    bool svm;   /**< An SVM allocation, of which the application knows only the pointer. Constant. */
    bool given; /**< The application has not freed the SVM allocation. Guarded by the lock of svm.c. */
    struct rt_maps maps; /**< The mappings of the buffer. Guarded by the context's lock. */
    /** Mappings for writing of a buffer and its sub-buffers, which do not overlap; a tree of tsearch. NULL for a
     *  sub-buffer. Guarded by the context's lock. */
    void *writing;
    struct rt_mem_hook *hooks;     /**< Destructor callbacks, last registered first. Guarded by the context's lock. */
};

/** Makes a buffer from valid arguments. properties (may be NULL) are copied. */
cl_int rt_mem_create(cl_context ctx, const cl_mem_properties *properties, cl_mem_flags flags, size_t size,
                     void *host_ptr, cl_mem *out);
/** Makes the root of an SVM allocation, without device memory and without a handle (svm.c). NULL: no memory. */
cl_mem rt_mem_create_svm(cl_context ctx, cl_mem_flags flags, size_t size);
cl_int rt_mem_create_sub(cl_mem parent, cl_mem_flags flags, size_t origin, size_t size, cl_mem *out);
cl_int rt_mem_query(cl_mem mem, cl_mem_info name, const struct rt_answer *a);
cl_int rt_mem_add_hook(cl_mem mem, void(CL_CALLBACK *fn)(cl_mem, void *), void *data);

/** Makes sure that the buffer has device memory. Waits for commands that free some (flight.h).
 *  CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_OUT_OF_RESOURCES. */
cl_int rt_mem_resident(cl_mem mem);
/** Device address of a resident buffer. */
uint32_t rt_mem_address(cl_mem mem);
/** Host access to a resident buffer, at once. CL_OUT_OF_RESOURCES. */
cl_int rt_mem_read(cl_mem mem, size_t offset, void *data, size_t size);
cl_int rt_mem_write(cl_mem mem, size_t offset, const void *data, size_t size);

/** Makes a mapping, which is in the buffer's set; the caller has a reference as well. CL_OUT_OF_HOST_MEMORY;
 *  CL_INVALID_OPERATION: it is for writing and overlaps another one, which is reported by rt_context_refuse, except
 *  for SVM allocations. */
cl_int rt_map_create(cl_mem mem, cl_map_flags flags, size_t offset, size_t size, struct rt_map **out);
/** Reads the buffer's bytes into the mapping, as its flags ask for. If the memory is the caller's, bytes that
 *  another mapping for writing covers are not read, because the application may have written them. */
cl_int rt_map_load(cl_mem mem, const struct rt_map *map);
/** Called when an unmap is enqueued: others may map the range for writing from here on. */
void rt_map_share(cl_mem mem, struct rt_map *map);
/** Removes the mapping with this pointer from the buffer, and takes the set's reference; NULL: there is none. */
struct rt_map *rt_map_take(cl_mem mem, const void *pointer);
/** Undoes rt_map_take. */
void rt_map_return(cl_mem mem, struct rt_map *map);
/** Removes a mapping whose command could not be enqueued, if it is still in the buffer. */
void rt_map_cancel(cl_mem mem, struct rt_map *map);
void rt_map_hold(struct rt_map *map);
void rt_map_drop(struct rt_map *map);

#endif
