/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Memory objects: buffers, and images (image.h), which are boxes of bytes. A root object owns a device allocation,
 * which is made when a command first needs it, so that an application may create more objects than it uses. A
 * sub-buffer, or an image that is made of a memory object, is a range of its parent. CL_MEM_COPY_HOST_PTR makes the
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

#include "runtime/core/box.h"
#include "runtime/core/context.h"
#include "runtime/core/maps.h"

struct rt_image;

#define RT_MAP_WRITES (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)

struct rt_mem_hook {
    void(CL_CALLBACK *fn)(cl_mem, void *);
    void *data;
    struct rt_mem_hook *next;
};

/** A range of bytes, relative to the outermost memory object: the buffer or image that is created from no other. */
struct rt_span {
    size_t start;
    size_t size;
};

/** A mapping, from the map call to the end of the unmap command. A reference count keeps it, because an unmap call
 *  may come before the map command has run, or in another thread meanwhile, and must not free what the map command
 *  uses. */
struct rt_map {
    atomic_uint refs;    /**< The reference count. Atomic. */
    void *pointer;       /**< The pointer that the application has. Constant, as are the fields up to `n_spans`. */
    void *block;         /**< Memory from malloc; NULL: the caller owns the memory. */
    size_t region[3];    /**< Bytes of a row, rows, and slices of the mapped box; a buffer's has one row. */
    struct rt_side at;   /**< Place of the box in the memory object. */
    struct rt_side host; /**< Place of the box relative to `pointer`. */
    cl_map_flags flags;
    struct rt_span *spans; /**< The mapped bytes, if the mapping is for writing; else NULL. Owned. */
    size_t n_spans;
    bool exclusive;      /**< `spans` are in the tree `writing`. Guarded by the context's lock. */
    struct rt_map *next; /**< Link of the table of mappings. Guarded by the context's lock. */
};

struct _cl_mem {
    struct rt_object base;
    cl_context context; /**< Held. Constant, as are the fields up to `n_properties`. */
    cl_mem parent;      /**< Memory object of which this one is a part or a view, held. */
    struct rt_image *image; /**< Shape and format of an image, owned; NULL: a buffer. */
    cl_mem shared;      /**< SVM allocation of which the buffer is a range, held. */
    cl_mem root;        /**< The object that owns the device memory: parent, shared or the object itself. */
    cl_mem_flags flags;
    size_t size;
    size_t origin;      /**< Offset in the outermost memory object. */
    size_t at;          /**< Offset in the root. */
    void *host_ptr;     /**< Memory of CL_MEM_USE_HOST_PTR, or the host part of an SVM allocation. */
    cl_mem_properties *properties;
    size_t n_properties;
    pthread_mutex_t lock; /**< In a root. Taken before the context's lock. */
    /** Device memory of a root; NULL: not made yet. Guarded by `lock` until it is made, then constant. */
    struct tern_allocation *allocation;
    bool svm;   /**< An SVM allocation, of which the application knows only the pointer. Constant. */
    bool given; /**< The application has not freed the SVM allocation. Guarded by the lock of svm.c. */
    struct rt_maps maps; /**< The mappings of the object. Guarded by the context's lock. */
    /** Spans that are mapped for writing of an outermost memory object and all objects that were created from it. Such
     *  spans do not overlap. A tree of tsearch; NULL in other objects. Guarded by the context's lock. */
    void *writing;
    struct rt_mem_hook *hooks;     /**< Destructor callbacks, last registered first. Guarded by the context's lock. */
};

/** Makes a buffer from valid arguments. properties (may be NULL) are copied. */
cl_int rt_mem_create(cl_context ctx, const cl_mem_properties *properties, cl_mem_flags flags, size_t size,
                     void *host_ptr, cl_mem *out);
/** Makes the root of an SVM allocation, without device memory and without a handle (svm.c). NULL: no memory. */
cl_mem rt_mem_create_svm(cl_context ctx, cl_mem_flags flags, size_t size);
/** Makes a range of another memory object, of which it inherits the kinds of access that the flags do not name.
 *  properties (may be NULL) are copied. */
cl_int rt_mem_create_sub(cl_mem parent, const cl_mem_properties *properties, cl_mem_flags flags, size_t origin,
                         size_t size, cl_mem *out);
cl_int rt_mem_query(cl_mem mem, cl_mem_info name, const struct rt_answer *a);
cl_int rt_mem_add_hook(cl_mem mem, void(CL_CALLBACK *fn)(cl_mem, void *), void *data);

/** Makes sure that the object has device memory. Waits for commands that free some (flight.h).
 *  CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_OUT_OF_RESOURCES. */
cl_int rt_mem_resident(cl_mem mem);
/** Device address of a resident object. */
uint32_t rt_mem_address(cl_mem mem);
/** Host access to a resident object, at once. CL_OUT_OF_RESOURCES. */
cl_int rt_mem_read(cl_mem mem, size_t offset, void *data, size_t size);
cl_int rt_mem_write(cl_mem mem, size_t offset, const void *data, size_t size);
/** Reads (to_host) or writes a box of a resident memory object at once. CL_OUT_OF_RESOURCES. */
cl_int rt_mem_move(cl_mem mem, bool to_host, const size_t region[3], const struct rt_side *at, void *host,
                   const struct rt_side *host_side);

/** Makes a mapping of a box, which is in the object's set; the caller has a reference as well. CL_OUT_OF_HOST_MEMORY;
 *  CL_INVALID_OPERATION: it is for writing and overlaps another one, which is reported by rt_context_refuse, except
 *  for SVM allocations. */
cl_int rt_map_create(cl_mem mem, cl_map_flags flags, const size_t region[3], const struct rt_side *at,
                     struct rt_map **out);
/** Reads the box into the mapping, as its flags ask for. If the memory is the caller's, bytes that another mapping for
 *  writing covers are not read, because the application may have written them. */
cl_int rt_map_load(cl_mem mem, const struct rt_map *map);
/** Writes the mapping back, if it is for writing. */
cl_int rt_map_store(cl_mem mem, const struct rt_map *map);
/** Called when an unmap is enqueued: others may map the range for writing from here on. */
void rt_map_share(cl_mem mem, struct rt_map *map);
/** Removes the mapping with this pointer from the object, and takes the set's reference; NULL: there is none. */
struct rt_map *rt_map_take(cl_mem mem, const void *pointer);
/** Undoes rt_map_take. */
void rt_map_return(cl_mem mem, struct rt_map *map);
/** Removes a mapping whose command could not be enqueued, if it is still in the object. */
void rt_map_cancel(cl_mem mem, struct rt_map *map);
void rt_map_hold(struct rt_map *map);
void rt_map_drop(struct rt_map *map);

#endif
