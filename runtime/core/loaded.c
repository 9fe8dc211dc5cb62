/* SPDX-License-Identifier: Apache-2.0 */
/** Placing programs in device memory (loaded.h). */
#include "runtime/core/loaded.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define STEP (1u << 20)        /* bytes from an address in use to the next one that is tried */
#define TRIES 512u             /* addresses that are tried for a program */

static void loaded_destroy(void *object)
{
    struct rt_loaded *im = object;
    rt_place_end(&im->parts);
    tc_image_free(&im->image);
    rt_object_drop(im->context);
    free(im);
}

static int take(void *user, uint64_t size, uint32_t flags, uint32_t address, struct tern_allocation **out)
{
    return rt_context_take(user, size, flags, address, out);
}

/** Makes the table of locks, if the context has none. Requires ctx->load_lock. */
static int make_locks(cl_context ctx)
{
    tern_assert_held(&ctx->load_lock);
    if (ctx->locks != NULL) {
        return 0;
    }
    const int r = rt_context_take(ctx, TC_LOCKS_BYTES, TERN_MEM_READ | TERN_MEM_WRITE, TC_LOCKS_ADDRESS, &ctx->locks);
    if (r == -EEXIST) {
        fprintf(stderr, "tern: OpenCL: a program with atomics of 64 bits cannot be loaded: other memory of the context "
                        "has the address 0x%08x, where its locks must be\n", TC_LOCKS_ADDRESS);
        return -EIO; /* -EEXIST has another meaning in load_at */
    }
    return r;
}

/** Tries one address. Requires context->load_lock. -EEXIST: it is in use. */
static int load_at(struct rt_loaded *im, const struct tc_blob *object, uint32_t base)
{
    tern_assert_held(&im->context->load_lock);
    char *log = NULL;
    int r = tc_load(object, base, im->context->device->info.lanes, &im->image, &log);
    if (r != 0) {
        fprintf(stderr, "tern: OpenCL: a program cannot be loaded: %s\n", log == NULL ? "no reason given" : log);
        free(log);
        return r == -EEXIST ? -EIO : r; /* -EEXIST has a meaning here */
    }
    free(log);
    r = im->image.size > RT_LOADED_END - base ? -EEXIST : rt_place_image(&im->image, take, im->context, &im->parts);
    if (r == 0 && im->image.locks) {
        r = make_locks(im->context);
    }
    if (r != 0) {
        rt_place_end(&im->parts);
        tc_image_free(&im->image);
        im->image = (struct tc_image){0};
    }
    return r;
}

cl_int rt_loaded_create(cl_context ctx, const struct tc_blob *object, struct rt_loaded **out)
{
    struct rt_loaded *im = rt_object_create(sizeof *im, 0, loaded_destroy);
    if (im == NULL) {
        return CL_OUT_OF_HOST_MEMORY;
    }
    rt_object_hold(ctx);
    im->context = ctx;
    pthread_mutex_lock(&ctx->load_lock);
    int r = -EEXIST;
    for (unsigned i = 0; i < TRIES && r == -EEXIST; i++) {
        const uint32_t base = ctx->load_cursor;
        r = load_at(im, object, base);
        const uint32_t next = r == 0 ? base + ((im->image.size + 4095u) & ~4095u) : base + STEP;
        ctx->load_cursor = next < RT_LOADED_END - STEP ? next : RT_LOADED_FIRST;
    }
    pthread_mutex_unlock(&ctx->load_lock);
    if (r != 0) {
        rt_object_drop(im);
        return r == -ENOMEM ? CL_OUT_OF_HOST_MEMORY : r == -ENOSPC ? CL_MEM_OBJECT_ALLOCATION_FAILURE
                                                                   : CL_OUT_OF_RESOURCES;
    }
    *out = im;
    return CL_SUCCESS;
}
