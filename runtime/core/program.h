/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Programs. `lock` guards what a build changes: no such field is read or written without it. A build runs outside the
 * lock, marked by status CL_BUILD_IN_PROGRESS, which refuses a second one, and works on what it took under the lock:
 * the source, which never changes, and binaries, which never change either and are held (binary.h). While kernel
 * objects exist no build begins; a kernel counts itself and takes its binary in one step under the lock.
 */
#ifndef RT_PROGRAM_H
#define RT_PROGRAM_H

#include "runtime/core/binary.h"

typedef void(CL_CALLBACK *rt_build_notify)(cl_program, void *);

struct _cl_program {
    struct rt_object base;
    cl_context context; /**< Held. */
    char *source;       /**< NULL: made from a binary, by linking, or of built-in kernels. */
    size_t source_size;
    bool linked; /**< Made by clLinkProgram. */

    pthread_mutex_t lock; /**< Of all that follows. Taken before the context's lock. */
    cl_build_status status;
    char *options; /**< Of the last build. */
    char *log;
    struct rt_binary *binary; /**< Held: what the last build made, or was given; NULL: nothing. */
    bool executable;          /**< Built: `binary` has kernels to offer. */
    unsigned attached;        /**< Kernel objects. */
};

/** Copies the strings. CL_OUT_OF_HOST_MEMORY. */
cl_int rt_program_create_source(cl_context ctx, cl_uint n, const char **strings, const size_t *lengths,
                                cl_program *out);
/** CL_INVALID_BINARY: not something that this compiler made. */
cl_int rt_program_create_binary(cl_context ctx, const void *binary, size_t size, cl_program *out);
/** Of built-in kernels: there is nothing to build. Takes b over, also if it fails. CL_OUT_OF_HOST_MEMORY. */
cl_int rt_program_create_builtin(cl_context ctx, struct rt_binary *b, cl_program *out);
/** For clLinkProgram. */
cl_int rt_program_create_linked(cl_context ctx, cl_program *out);
cl_int rt_program_query(cl_program p, cl_program_info name, const struct rt_answer *a);
cl_int rt_program_query_build(cl_program p, cl_program_build_info name, const struct rt_answer *a);
/** Counts a kernel object, so that no build begins, and gives its binary, held. CL_INVALID_PROGRAM_EXECUTABLE. */
cl_int rt_program_attach(cl_program p, struct rt_binary **out);
void rt_program_detach(cl_program p);
/** The program's binary, held, for a link. CL_INVALID_OPERATION: not compiled, or a build is under way. */
cl_int rt_program_take_compiled(cl_program p, struct rt_binary **out);

#endif
