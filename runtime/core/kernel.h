/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Kernels: a program's function with its arguments. Values are kept as the device takes them, in an argument block;
 * buffers and local memory get their addresses when the kernel is enqueued. By the specification a kernel does not keep
 * its buffers alive; commands do.
 */
#ifndef RT_KERNEL_H
#define RT_KERNEL_H

#include "runtime/core/command.h"
#include "runtime/core/program.h"

struct rt_arg {
    bool set;
    cl_mem mem;          /**< Pointer to global or constant memory: a buffer. Not held. */
    const void *svm;     /**< Or shared virtual memory. Both NULL: a null pointer. */
    uint64_t local_size; /**< Pointer to local memory. */
};

struct _cl_kernel {
    struct rt_object base;
    cl_program program;           /**< Held, and counted there as attached. */
    struct rt_binary *binary;     /**< Held. */
    const struct tc_kernel *code; /**< Of the binary. */
    struct rt_arg *args;
    uint8_t *values; /**< The argument block, without addresses. */
    const void **reach; /**< CL_KERNEL_EXEC_INFO_SVM_PTRS: what it uses besides its arguments. */
    size_t n_reach;
};

/** CL_INVALID_PROGRAM_EXECUTABLE, CL_INVALID_KERNEL_NAME, CL_OUT_OF_HOST_MEMORY. */
cl_int rt_kernel_create(cl_program p, const char *name, cl_kernel *out);
/** All kernels of the program's binary, unless `all` is NULL, and (count may be NULL) how many. CL_INVALID_VALUE: cap
 *  is too small; errors as rt_kernel_create. */
cl_int rt_kernel_create_all(cl_program p, cl_uint cap, cl_kernel *all, cl_uint *count);
cl_int rt_kernel_clone(cl_kernel from, cl_kernel *out);
cl_int rt_kernel_set_arg(cl_kernel k, cl_uint index, size_t size, const void *value);
/** CL_INVALID_ARG_INDEX; CL_INVALID_ARG_VALUE: not in an SVM allocation of the context, or not for this argument. */
cl_int rt_kernel_set_svm(cl_kernel k, cl_uint index, const void *pointer);
/** CL_INVALID_VALUE: one is in no SVM allocation of the context; CL_OUT_OF_HOST_MEMORY. */
cl_int rt_kernel_set_reach(cl_kernel k, size_t n, const void *const *pointers);
cl_int rt_kernel_query(cl_kernel k, cl_kernel_info name, const struct rt_answer *a);
cl_int rt_kernel_query_arg(cl_kernel k, cl_uint index, cl_kernel_arg_info name, const struct rt_answer *a);
cl_int rt_kernel_query_group(cl_kernel k, cl_kernel_work_group_info name, const struct rt_answer *a);
bool rt_kernel_complete(cl_kernel k); /**< Is every argument set, and its memory still there? */
/** The device address of a pointer to global or constant memory, which the command then uses. As rt_command_use, and
 *  CL_INVALID_KERNEL_ARGS: it has been freed. */
cl_int rt_kernel_use_arg(cl_kernel k, cl_uint index, struct rt_command *c, uint32_t *address);
/** The command uses what the kernel reaches besides its arguments. */
cl_int rt_kernel_use_reach(cl_kernel k, struct rt_command *c);
/** Local memory of a group: the kernel's own, then its arguments'. at[i] (may be NULL): offset of argument i. */
uint64_t rt_kernel_local(cl_kernel k, uint32_t *at);
unsigned rt_kernel_stack_log2(cl_kernel k);
/** Does the device have what it needs? CL_OUT_OF_RESOURCES, after having said what and how much. */
cl_int rt_kernel_fits(cl_kernel k);

#endif
