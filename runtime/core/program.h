/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Programs. `lock` guards what a build makes. A build runs outside the lock, marked by status CL_BUILD_IN_PROGRESS, which
 * refuses a second one; while kernels exist no build can begin, so a kernel may point into `kernels`.
 */
#ifndef RT_PROGRAM_H
#define RT_PROGRAM_H

#include "runtime/core/image.h"

typedef void(CL_CALLBACK *rt_build_notify)(cl_program, void *);

struct _cl_program {
    struct rt_object base;
    cl_context context; /**< Held. */
    char *source;       /**< NULL: made from a binary or by linking. */
    size_t source_size;
    pthread_mutex_t lock; /**< Taken before the context's lock. */
    cl_build_status status;
    char *options; /**< Of the last build. */
    char *log;
    struct tc_blob blob; /**< What the last build made, or the binary given. */
    enum tc_kind kind;   /**< Of blob. */
    bool linked;         /**< Made by clLinkProgram. */
    bool executable;     /**< Built: kernels are there. */
    struct tc_kernels kernels;
    struct rt_image *image; /**< Held; made when a kernel is first enqueued. */
    atomic_uint attached;   /**< Kernel objects. */
};

/** Copies the strings. CL_OUT_OF_HOST_MEMORY. */
cl_int rt_program_create_source(cl_context ctx, cl_uint n, const char **strings, const size_t *lengths, cl_program *out);
/** CL_INVALID_BINARY: not something that this compiler made. */
cl_int rt_program_create_binary(cl_context ctx, const void *binary, size_t size, cl_program *out);
cl_int rt_program_create_empty(cl_context ctx, cl_program *out);
cl_int rt_program_query(cl_program p, cl_program_info name, const struct rt_answer *a);
cl_int rt_program_query_build(cl_program p, cl_program_build_info name, const struct rt_answer *a);
/** The kernel of that name, or NULL; the program is executable. */
const struct tc_kernel *rt_program_kernel(cl_program p, const char *name);
bool rt_program_executable(cl_program p);
/** The image, in device memory, with a hold for the caller. */
cl_int rt_program_image(cl_program p, struct rt_image **out);

#endif
