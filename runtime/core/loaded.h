/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A program's code and data in device memory. Code is linked for its address. The runtime chooses addresses in a region
 * that the driver uses last, one program after the other, and skips addresses that are in use.
 */
#ifndef RT_LOADED_H
#define RT_LOADED_H

#include "runtime/compiler/compiler.h"
#include "runtime/core/context.h"
#include "runtime/core/place.h"

#define RT_LOADED_FIRST 0xd0000000u /**< Device addresses of the region. */
#define RT_LOADED_END 0xdfff0000u

struct rt_loaded {
    struct rt_object base; /**< Held by the program and by commands that run it. */
    cl_context context;    /**< Held. */
    struct tc_image image;
    struct rt_place_parts parts;
};

/** Links and places an object, and makes the context's table of locks if the program needs it.
 *  CL_MEM_OBJECT_ALLOCATION_FAILURE: no device memory (tern_last_error); CL_OUT_OF_RESOURCES, CL_OUT_OF_HOST_MEMORY.
 *  Takes context->load_lock. Blocks. */
cl_int rt_loaded_create(cl_context ctx, const struct tc_blob *object, struct rt_loaded **out);

#endif
