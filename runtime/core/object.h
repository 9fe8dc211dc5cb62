/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The header of every OpenCL object: the loader's dispatch table, a magic number for the kind, and two counts. `refs`
 * counts the application's references (clRetain, clRelease, CL_..._REFERENCE_COUNT). `holds` keeps the object alive:
 * one hold for all of the application's references together, and one for each user in the runtime. There are two counts
 * because only the application's references may show in CL_..._REFERENCE_COUNT, and for example a command holds its
 * buffers.
 *
 * Names: rt_<object>_<verb>. The handles of the API (cl_context ...) are pointers to the structs of core/.
 *
 * Locks. One lock per context (context.h) guards queues, events and maps. That lock is not held during a blocking call
 * of the driver, a call of the compiler, or a callback of the application. Lock order: mem->lock, program->lock,
 * binary->lock, context->load_lock, context->lock.
 */
#ifndef RT_OBJECT_H
#define RT_OBJECT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/icd/icd.h"

struct rt_object {
    const cl_icd_dispatch *dispatch; /**< The first member, by the loader's ABI. */
    uint32_t magic;
    atomic_uint refs;
    atomic_uint holds;
    void (*destroy)(void *object); /**< Frees the object. Called once, when the last hold is dropped. */
};

#define RT_PLATFORM 0x7e510001u
#define RT_DEVICE 0x7e510002u
#define RT_CONTEXT 0x7e510003u
#define RT_QUEUE 0x7e510004u
#define RT_MEM 0x7e510005u
#define RT_PROGRAM 0x7e510006u
#define RT_KERNEL 0x7e510007u
#define RT_EVENT 0x7e510008u
#define RT_SAMPLER 0x7e510009u

/** Zeroed memory with a header that has one reference and one hold. NULL: no memory. */
void *rt_object_create(size_t size, uint32_t magic, void (*destroy)(void *object));
/** True: the pointer, which may have any value, is a live object of this kind. In the child of a fork there is none
 *  (device.h), and no lock is taken. */
bool rt_object_is(const void *object, uint32_t magic);
/** Adds a reference of the application. */
void rt_object_retain(void *object);
/** Drops a reference of the application. False: it has none left, and only the runtime holds the object. */
bool rt_object_release(void *object);
/** clRelease...: false, if the pointer is no such object. In the child of a fork the parent's objects are not
 *  changed, and the result is true. */
bool rt_object_end(void *object, uint32_t magic);
cl_uint rt_object_refs(const void *object);
/** Takes back an object that was never handed out. The caller frees it. */
void rt_object_abandon(const void *object);
/** Adds and drops a hold of the runtime. rt_object_drop(NULL) does nothing. */
void rt_object_hold(void *object);
void rt_object_drop(void *object);

#endif
