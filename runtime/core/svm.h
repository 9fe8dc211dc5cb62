/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Coarse-grained shared virtual memory: host memory and device memory at the same addresses, so that a pointer has the
 * same meaning on both sides. Devices have 32-bit addresses, so the host part lies below 4 GiB (low.h), in a range that
 * is free in the context's process of the driver as well.
 *
 * An allocation is a root buffer without a handle (memory.h). Commands hold it, name it to the driver and copy it like
 * other buffers. The application accesses the host part. Mapping reads the device part into the host part, and
 * unmapping writes it back, only the mapped range and only as the flags ask for. The host part stays accessible while
 * it is not mapped; its contents are then undefined, but see docs/runtime.md.
 *
 * Locks. The table of allocations is one for the program, because host addresses are. While its lock is held, no other
 * lock but those of live.h is taken.
 */
#ifndef RT_SVM_H
#define RT_SVM_H

#include "runtime/core/command.h"

/** True: the host can map memory at the device's addresses, and TERN_CL_SVM allows it. */
bool rt_svm_possible(void);

/** Allocates from valid arguments. NULL: no memory, which was reported (rt_context_refuse). Blocks. */
void *rt_svm_alloc(cl_context ctx, cl_mem_flags flags, size_t size);
/** Ends the application's use of an allocation, which is freed when no command and no buffer uses it. False:
 *  rt_svm_alloc did not return this pointer in this context. */
bool rt_svm_free(cl_context ctx, const void *pointer);
/** True: rt_svm_free would accept the pointer. */
bool rt_svm_begins(cl_context ctx, const void *pointer);

/** The allocation of the context that contains the address, held; NULL: there is none. */
cl_mem rt_svm_find(cl_context ctx, const void *pointer);
bool rt_svm_is(cl_context ctx, const void *pointer);
/** rt_command_use of the allocation that contains the address. CL_INVALID_VALUE: there is none. */
cl_int rt_svm_use(struct rt_command *c, const void *pointer);
/** Frees the host part, after the device part. Called when the object is destroyed. */
void rt_svm_unmap(cl_mem mem);

#endif
