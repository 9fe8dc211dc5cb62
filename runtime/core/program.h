/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Programs. `lock` guards the fields that a build changes. A build runs without the lock. The status
 * CL_BUILD_IN_PROGRESS marks it, and refuses a second one. The build works on what it took under the lock: the source,
 * which never changes, and binaries, which never change either and are held (binary.h). No build begins while kernel
 * objects exist. A kernel counts itself and takes the binary in one critical section.
 */
#ifndef RT_PROGRAM_H
#define RT_PROGRAM_H

#include "runtime/core/binary.h"

typedef void(CL_CALLBACK *rt_build_notify)(cl_program, void *);

struct _cl_program {
    struct rt_object base;
    cl_context context; /**< Held. Constant, as are the fields up to `linked`. */
    char *source;       /**< NULL: the program was made otherwise than from source. */
    size_t source_size; /**< Bytes of `source`. */
    void *il;           /**< A module in SPIR-V; NULL: the program was made otherwise. */
    size_t il_size;     /**< Bytes of `il`. */
    size_t n_constants; /**< Specialization constants of `il`. */
    bool linked; /**< Made by clLinkProgram. */

    pthread_mutex_t lock;   /**< Taken before the context's lock. */
    cl_build_status status; /**< Status of the last build. Guarded by `lock`. */
    char *options;          /**< Options of the last build. Guarded by `lock`. */
    char *log;              /**< Log of the last build; NULL: none. Guarded by `lock`. */
    /** Result of the last build, or the given binary, held; NULL: none. Guarded by `lock`. */
    struct rt_binary *binary;
    bool executable;        /**< `binary` has kernels that can be used. Guarded by `lock`. */
    struct tc_constant *constants; /**< n_constants. Their values are guarded by `lock`. */
    unsigned attached;      /**< Number of kernel objects. Guarded by `lock`. */
};

/** Makes a program from copies of the strings. CL_OUT_OF_HOST_MEMORY. */
cl_int rt_program_create_source(cl_context ctx, cl_uint n, const char **strings, const size_t *lengths,
                                cl_program *out);
/** Makes a program from a copy of a module in SPIR-V. CL_INVALID_OPERATION: the tools for SPIR-V are not installed;
 *  CL_INVALID_VALUE: the module is none, or none for this device, which the context's callback and stderr are told. */
cl_int rt_program_create_il(cl_context ctx, const void *il, size_t size, cl_program *out);
/** Sets a specialization constant for the next build. CL_INVALID_PROGRAM: the program is not made from SPIR-V;
 *  CL_INVALID_SPEC_ID; CL_INVALID_VALUE: no constant of this number has this size. */
cl_int rt_program_set_constant(cl_program p, cl_uint id, size_t size, const void *value);
/** True: the program has a source or a module, which a build compiles. */
bool rt_program_compiles(cl_program p);
/** Makes a program from a binary. CL_INVALID_BINARY: this compiler has not made it. */
cl_int rt_program_create_binary(cl_context ctx, const void *binary, size_t size, cl_program *out);
/** Makes a program of built-in kernels, which needs no build. Takes b, also on failure. CL_OUT_OF_HOST_MEMORY. */
cl_int rt_program_create_builtin(cl_context ctx, struct rt_binary *b, cl_program *out);
/** Makes the program of clLinkProgram. */
cl_int rt_program_create_linked(cl_context ctx, cl_program *out);
cl_int rt_program_query(cl_program p, cl_program_info name, const struct rt_answer *a);
cl_int rt_program_query_build(cl_program p, cl_program_build_info name, const struct rt_answer *a);
/** Counts a kernel object, so that no build begins, and returns the binary, held. CL_INVALID_PROGRAM_EXECUTABLE. */
cl_int rt_program_attach(cl_program p, struct rt_binary **out);
void rt_program_detach(cl_program p);
/** The program's binary, held, as the input of a link. CL_INVALID_OPERATION: it is not compiled, or a build is under
 *  way. */
cl_int rt_program_take_compiled(cl_program p, struct rt_binary **out);

#endif
