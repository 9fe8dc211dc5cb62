/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a build made, or a binary that was given: never changed once it is made, and counted, so that
 * what works on it (kernels, a link, a build from it) holds it and needs no lock of the program, which
 * may have got another one since. That of a program of built-in kernels (builtin.h) has no code.
 */
#ifndef RT_BINARY_H
#define RT_BINARY_H

#include "runtime/core/image.h"

struct rt_binary {
    struct rt_object base; /**< Held by the program, its kernels, and builds that read it. */
    enum tc_kind kind;
    struct tc_blob blob;
    struct tc_kernels kernels; /**< Of a TC_OBJECT. */
    uint32_t *executors;       /**< Of built-in kernels: the user executor of each; else NULL. */
    pthread_mutex_t lock;      /**< `image` comes into being. Taken before context->image_lock. */
    struct rt_image *image;    /**< lock; held. Made when a kernel is first enqueued. */
};

/** Takes the blob over, also if it fails. -ENOMEM; -EINVAL: not something that this compiler made. */
int rt_binary_create(struct tc_blob blob, struct rt_binary **out);
/** Of built-in kernels: takes both over. NULL: no memory, and they are still the caller's. */
struct rt_binary *rt_binary_create_builtin(struct tc_kernels *kernels, uint32_t *executors);
/** The image, in device memory, with a hold for the caller. Errors as rt_image_create. Blocks. */
cl_int rt_binary_image(struct rt_binary *b, cl_context ctx, struct rt_image **out);

#endif
