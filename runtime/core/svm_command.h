/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Commands of shared virtual memory that buffers do not have: freeing, and copies within the host, which run in the
 * worker.
 */
#ifndef RT_SVM_COMMAND_H
#define RT_SVM_COMMAND_H

#include "runtime/core/command.h"

/** The function that clEnqueueSVMFree calls instead of freeing. */
typedef void(CL_CALLBACK rt_svm_free_fn)(cl_command_queue queue, cl_uint n, void *pointers[], void *data);

/** Makes a command that frees n allocations, or (fn) lets the application free them. The pointers are copied. */
cl_int rt_svm_free_create(cl_command_queue queue, cl_uint n, void *const *pointers, rt_svm_free_fn *fn, void *data,
                          cl_uint n_waits, const cl_event *waits, struct rt_command **out);
/** Makes a copy of host memory, which stays valid until the command ends. The ranges do not overlap. */
cl_int rt_host_copy_create(cl_command_queue queue, void *dst, const void *src, size_t size, cl_uint n_waits,
                           const cl_event *waits, struct rt_command **out);

#endif
