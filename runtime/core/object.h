/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What every OpenCL object begins with: the loader's dispatch table, a magic number for its kind, and two
 * counts. `refs` is what the application sees (clRetain, clRelease, CL_..._REFERENCE_COUNT); `holds` keeps the memory:
 * one for all of the application's references together and one for each internal user. Two counts, because the
 * specification lets only the application's references show in the reference count (a command holds its buffers).
 *
 * Names: rt_<object>_<verb>; the handles of the API (cl_context ...) are pointers to the structs of core/. Locking: one
 * lock per context (context.h) guards queues, events and maps; it is never held across a call of the driver that
 * blocks, of the compiler, or of the application. mem->lock, program->lock, binary->lock and then context->image_lock
 * are taken before it, never after.
 */
#ifndef RT_OBJECT_H
#define RT_OBJECT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/icd/icd.h"

struct rt_object {
    const cl_icd_dispatch *dispatch; /**< First, by the loader's ABI. */
    uint32_t magic;
    atomic_uint refs;
    atomic_uint holds;
    void (*destroy)(void *object); /**< Called once, when it is not held any more; frees it. */
};

#define RT_PLATFORM 0x7e510001u
#define RT_DEVICE 0x7e510002u
#define RT_CONTEXT 0x7e510003u
#define RT_QUEUE 0x7e510004u
#define RT_MEM 0x7e510005u
#define RT_PROGRAM 0x7e510006u
#define RT_KERNEL 0x7e510007u
#define RT_EVENT 0x7e510008u

/** Zeroed memory with its header made: one reference, one hold. NULL: no memory. */
void *rt_object_create(size_t size, uint32_t magic, void (*destroy)(void *object));
/** Is this a live object of the kind? Any pointer may be asked about. In the child of a fork none is
 * (device.h), without a lock. */
bool rt_object_is(const void *object, uint32_t magic);
/** The application's references. */
void rt_object_retain(void *object);
/** False: there is none left to release, since only the runtime still holds the object. */
bool rt_object_release(void *object);
/** clRelease...: false if it is no such object. The child of a fork leaves the parent's objects as they are: true. */
bool rt_object_end(void *object, uint32_t magic);
cl_uint rt_object_refs(const void *object);
/** For an object that could not be completed and was never handed out: the caller frees it. */
void rt_object_abandon(const void *object);
/** The runtime's own. rt_object_drop(NULL) does nothing. */
void rt_object_hold(void *object);
void rt_object_drop(void *object);

#endif
