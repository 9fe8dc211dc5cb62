/* SPDX-License-Identifier: Apache-2.0 */
/** Binaries of programs (binary.h). */
#include "runtime/core/binary.h"

#include <errno.h>
#include <stdlib.h>

static void binary_destroy(void *object)
{
    struct rt_binary *b = object;
    rt_object_drop(b->image);
    tc_kernels_free(&b->kernels);
    free(b->blob.data);
    free(b->executors);
    pthread_mutex_destroy(&b->lock);
    free(b);
}

int rt_binary_create(struct tc_blob blob, struct rt_binary **out)
{
    struct rt_binary *b = rt_object_create(sizeof *b, 0, binary_destroy);
    if (b == NULL) {
        free(blob.data);
        return -ENOMEM;
    }
    pthread_mutex_init(&b->lock, NULL);
    b->blob = blob;
    b->kind = tc_kind(blob.data, blob.size);
    int r = b->kind == TC_UNKNOWN ? -EINVAL : 0;
    if (b->kind == TC_OBJECT) {
        r = tc_kernels_read(&b->blob, &b->kernels);
    }
    if (r != 0) {
        rt_object_drop(b);
        return r;
    }
    *out = b;
    return 0;
}

struct rt_binary *rt_binary_create_builtin(struct tc_kernels *kernels, uint32_t *executors)
{
    struct rt_binary *b = rt_object_create(sizeof *b, 0, binary_destroy);
    if (b != NULL) {
        pthread_mutex_init(&b->lock, NULL);
        b->kind = TC_UNKNOWN;
        b->kernels = *kernels;
        b->executors = executors;
    }
    return b;
}

cl_int rt_binary_image(struct rt_binary *b, cl_context ctx, struct rt_image **out)
{
    cl_int error = CL_SUCCESS;
    pthread_mutex_lock(&b->lock);
    if (b->image == NULL) {
        error = rt_image_create(ctx, &b->blob, &b->image);
    }
    if (error == CL_SUCCESS) {
        rt_object_hold(b->image);
        *out = b->image;
    }
    pthread_mutex_unlock(&b->lock);
    return error;
}
