/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The result of a build, or a binary that the application gave. A binary never changes once made, and has a reference
 * count. Kernels, links and builds hold the binary that they use, so they need no lock of the program, which may have
 * another binary by then. The binary of a program of built-in kernels (builtin.h) has no code.
 */
#ifndef RT_BINARY_H
#define RT_BINARY_H

#include "runtime/core/loaded.h"

struct rt_binary {
    struct rt_object base; /**< Held by the program, its kernels, and builds that read it. */
    enum tc_kind kind; /**< Constant, as are the fields up to `executors`. */
    struct tc_blob blob;
    struct tc_kernels kernels; /**< Kernels of a TC_OBJECT. */
    uint32_t *executors;       /**< User executor of each built-in kernel; NULL: the kernels have code. */
    pthread_mutex_t lock;      /**< Taken before context->load_lock. */
    struct rt_binary_special *specials; /**< Kernels for one local size (rt_binary_special). Guarded by `lock`. */
    struct rt_loaded *loaded;  /**< Held; NULL until a kernel is first enqueued. Guarded by `lock`. */
};

/** Makes a binary. Takes the blob, also on failure. -ENOMEM; -EINVAL: this compiler has not made the blob. */
int rt_binary_create(struct tc_blob blob, struct rt_binary **out);
/** Makes a binary of built-in kernels. Takes kernels and executors. NULL: no memory, and they stay the caller's. */
struct rt_binary *rt_binary_create_builtin(struct tc_kernels *kernels, uint32_t *executors);
/** The program in device memory, with a hold for the caller; makes it if needed. Errors of rt_loaded_create. Blocks. */
cl_int rt_binary_load(struct rt_binary *b, cl_context ctx, struct rt_loaded **out);

/** The binary of a kernel for one local size, with a hold for the caller; compiles it at the first time. *out is NULL
 *  if the compiler failed, which is printed once. CL_OUT_OF_HOST_MEMORY. Blocks. */
cl_int rt_binary_special(struct rt_binary *b, const struct tc_special *s, struct rt_binary **out);

#endif
