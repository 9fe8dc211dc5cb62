/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Coarse-grained shared virtual memory: memory of the host and memory of the device at the same addresses, so that a
 * pointer means the same on both sides. Devices have 32-bit addresses, so the host's part lies below 4 GiB (low.h),
 * where the context's process of the driver has the range free as well.
 *
 * An allocation is a root buffer without a handle (memory.h): commands hold it, name it to the driver and copy it as
 * any other. What the application writes and reads is the host's part; mapping reads the device's part into it, and
 * unmapping writes it back, both only the range that is mapped and only what the flags ask for. The host's part stays
 * accessible when it is not mapped: what is there then is undefined, but see docs/runtime.md.
 *
 * The table of allocations is one for the program, since the host's addresses are. Its lock is a leaf, but for that of
 * live.h.
 */
#ifndef RT_SVM_H
#define RT_SVM_H

#include "runtime/core/command.h"

/** Can the host have memory at a device's addresses, and does the setting TERN_CL_SVM allow it? */
bool rt_svm_possible(void);

/** NULL: there is no such memory, which has been said (rt_context_refuse). Arguments are valid. Blocks. */
void *rt_svm_alloc(cl_context ctx, cl_mem_flags flags, size_t size);
/** Ends the application's use; memory and addresses go when no command and no buffer has them any more. False: the
 *  pointer is none that rt_svm_alloc gave in this context. */
bool rt_svm_free(cl_context ctx, const void *pointer);
/** Is it a pointer that rt_svm_free would take? */
bool rt_svm_begins(cl_context ctx, const void *pointer);

/** The context's allocation that the pointer points into, held; NULL: there is none. */
cl_mem rt_svm_find(cl_context ctx, const void *pointer);
bool rt_svm_is(cl_context ctx, const void *pointer);
/** rt_command_use of the allocation that the pointer points into. CL_INVALID_VALUE: there is none. */
cl_int rt_svm_use(struct rt_command *c, const void *pointer);
/** Gives back the host's part; the device's is gone. Called by the end of the object. */
void rt_svm_unmap(cl_mem mem);

#endif
