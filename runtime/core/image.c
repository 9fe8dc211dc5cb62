/* SPDX-License-Identifier: Apache-2.0 */
/** Placing programs in device memory (image.h). */
#include "runtime/core/image.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define STEP (1u << 20) /* how far to go on when an address is taken */
#define TRIES 512u

/** Gives the device memory back. */
static void displace(struct rt_image *im)
{
    struct tern_allocation **const parts[] = {&im->code, &im->constants, &im->data};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (*parts[i] != NULL) {
            tern_allocation_destroy(*parts[i]);
            *parts[i] = NULL;
        }
    }
}

static void image_destroy(void *object)
{
    struct rt_image *im = object;
    displace(im);
    tc_image_free(&im->image);
    rt_object_drop(im->context);
    free(im);
}

/** Device memory for one part of the image, at its address, with its contents; memory is zero before. */
static int place(cl_context ctx, const struct tc_image *image, uint32_t from, uint32_t to, uint32_t flags,
                 struct tern_allocation **out)
{
    if (from == to) {
        return 0;
    }
    struct tern_allocation *a;
    int r = rt_context_take(ctx, to - from, flags, image->base + from, &a);
    if (r != 0) {
        return r;
    }
    r = tern_allocation_write(a, 0, image->data + from, tc_image_filled(image, from, to));
    if (r != 0) {
        tern_allocation_destroy(a);
        return r;
    }
    *out = a;
    return 0;
}

/** One try at one address. -EEXIST: something is there. */
static int load_at(struct rt_image *im, const struct tc_blob *object, uint32_t base)
{
    char *log = NULL;
    int r = tc_load(object, base, &im->image, &log);
    if (r != 0) {
        fprintf(stderr, "tern: OpenCL: a program cannot be loaded: %s\n", log == NULL ? "no reason given" : log);
        free(log);
        return r == -EEXIST ? -EIO : r;
    }
    free(log);
    const struct tc_image *t = &im->image;
    if (t->size > RT_IMAGE_END - base) {
        r = -EEXIST;
    } else {
        r = place(im->context, t, 0, t->code_size, TERN_MEM_READ | TERN_MEM_EXEC, &im->code);
    }
    const uint32_t variables = t->code_size + t->constant_size;
    if (r == 0) {
        r = place(im->context, t, t->code_size, variables, TERN_MEM_READ, &im->constants);
    }
    if (r == 0) {
        r = place(im->context, t, variables, t->size, TERN_MEM_READ | TERN_MEM_WRITE, &im->data);
    }
    if (r != 0) {
        displace(im);
        tc_image_free(&im->image);
        im->image = (struct tc_image){0};
    }
    return r;
}

cl_int rt_image_create(cl_context ctx, const struct tc_blob *object, struct rt_image **out)
{
    struct rt_image *im = rt_object_create(sizeof *im, 0, image_destroy);
    if (im == NULL) {
        return CL_OUT_OF_HOST_MEMORY;
    }
    rt_object_hold(ctx);
    im->context = ctx;
    pthread_mutex_lock(&ctx->image_lock);
    int r = -EEXIST;
    for (unsigned i = 0; i < TRIES && r == -EEXIST; i++) {
        const uint32_t base = ctx->image_cursor;
        r = load_at(im, object, base);
        const uint32_t next = r == 0 ? base + ((im->image.size + 4095u) & ~4095u) : base + STEP;
        ctx->image_cursor = next < RT_IMAGE_END - STEP ? next : RT_IMAGE_FIRST;
    }
    pthread_mutex_unlock(&ctx->image_lock);
    if (r != 0) {
        rt_object_drop(im);
        return r == -ENOMEM ? CL_OUT_OF_HOST_MEMORY : r == -ENOSPC ? CL_MEM_OBJECT_ALLOCATION_FAILURE
                                                                   : CL_OUT_OF_RESOURCES;
    }
    *out = im;
    return CL_SUCCESS;
}
