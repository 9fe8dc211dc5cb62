/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Kernels: a function of a program with its arguments. Values are stored as the device reads them, in an argument
 * block; buffers and local memory get their addresses when the kernel is enqueued. As the specification says, a kernel
 * does not keep its buffers alive; commands do.
 */
#ifndef RT_KERNEL_H
#define RT_KERNEL_H

#include "runtime/core/command.h"
#include "runtime/core/image.h"
#include "runtime/core/program.h"

#define RT_STACK_LOG2_MAX 20u /**< Binary logarithm of the bytes of private memory of a work-item, at most. */

struct rt_arg {
    bool set;
    cl_mem mem;          /**< Buffer of a pointer to global or constant memory, or image; not held. */
    const void *svm;     /**< Pointer to shared virtual memory; `mem` and `svm` NULL: a null pointer. */
    uint64_t local_size; /**< Bytes for a pointer to local memory. */
};

/** A kernel. Fields up to `code` are constant. No lock guards the others: the application serialises the calls that set
 *  them (OpenCL 3.0, appendix A.2). */
struct _cl_kernel {
    struct rt_object base;
    cl_program program;           /**< Held, and counted in program->attached. */
    struct rt_binary *binary;     /**< Held. */
    const struct tc_kernel *code; /**< Description in the binary. */
    struct rt_arg *args;
    uint8_t *values; /**< The argument block, without addresses and images. */
    const void **svm_pointers; /**< CL_KERNEL_EXEC_INFO_SVM_PTRS: memory that the kernel uses besides its arguments. */
    size_t n_svm_pointers;
};

/** Makes a kernel. CL_INVALID_PROGRAM_EXECUTABLE, CL_INVALID_KERNEL_NAME, CL_OUT_OF_HOST_MEMORY. */
cl_int rt_kernel_create(cl_program p, const char *name, cl_kernel *out);
/** Makes all kernels of the program's binary, unless `all` is NULL, and stores their number (count may be NULL).
 *  CL_INVALID_VALUE: cap is too small; errors of rt_kernel_create. */
cl_int rt_kernel_create_all(cl_program p, cl_uint cap, cl_kernel *all, cl_uint *count);
cl_int rt_kernel_clone(cl_kernel from, cl_kernel *out);
cl_int rt_kernel_set_arg(cl_kernel k, cl_uint index, size_t size, const void *value);
/** Sets an argument to an SVM pointer. CL_INVALID_ARG_INDEX; CL_INVALID_ARG_VALUE: the pointer is in no SVM
 *  allocation of the context, or the argument is no such pointer. */
cl_int rt_kernel_set_svm(cl_kernel k, cl_uint index, const void *pointer);
/** Sets `svm_pointers`. CL_INVALID_VALUE: a pointer is in no SVM allocation of the context; CL_OUT_OF_HOST_MEMORY. */
cl_int rt_kernel_set_svm_pointers(cl_kernel k, size_t n, const void *const *pointers);
cl_int rt_kernel_query(cl_kernel k, cl_kernel_info name, const struct rt_answer *a);
cl_int rt_kernel_query_arg(cl_kernel k, cl_uint index, cl_kernel_arg_info name, const struct rt_answer *a);
cl_int rt_kernel_query_group(cl_kernel k, cl_kernel_work_group_info name, const struct rt_answer *a);
/** clGetKernelSubGroupInfo, with its input value. */
cl_int rt_kernel_query_sub_group(cl_kernel k, cl_kernel_sub_group_info name, size_t size, const void *input,
                                 const struct rt_answer *a);
bool rt_kernel_complete(cl_kernel k); /**< True: every argument is set, and its memory still exists. */
/** Device address of a pointer to global or constant memory, which the command then holds. Errors of rt_command_use;
 *  CL_INVALID_KERNEL_ARGS: the memory was freed. */
cl_int rt_kernel_use_arg(cl_kernel k, cl_uint index, struct rt_command *c, uint32_t *address);
/** Descriptor of an image argument, which the command then holds. Errors of rt_command_use. */
cl_int rt_kernel_use_image(cl_kernel k, cl_uint index, struct rt_command *c, struct tern_image *out);
/** Makes the command hold the memory that the kernel uses besides its arguments. */
cl_int rt_kernel_use_svm_pointers(cl_kernel k, struct rt_command *c);
/** Bytes of local memory of a group of this number of work-items: the kernel's own, then its sub-groups', then its
 *  arguments'. at[i] (`at` may be NULL): offset of argument i. */
uint64_t rt_kernel_local(cl_kernel k, uint32_t items, uint32_t *at);
/** Binary logarithm of the bytes of private memory of a work-item. */
unsigned rt_kernel_stack_log2(const struct tc_kernel *code);
/** Checks that the device has the resources that the kernel needs for groups of this number of work-items.
 *  CL_OUT_OF_RESOURCES, after a report of what is missing. */
cl_int rt_kernel_fits(cl_kernel k, uint32_t items);

#endif
