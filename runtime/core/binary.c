/* SPDX-License-Identifier: Apache-2.0 */
/** Binaries of programs (binary.h). */
#include "runtime/core/binary.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPECIALS 8u /* local sizes of each kernel that a binary keeps compiled, the ones used last */

/** A kernel for one local size, as an element of a list. */
struct rt_binary_special {
    struct rt_binary_special *next;
    struct tc_special key;    /**< The name is the binary's. */
    struct rt_binary *binary; /**< Held; NULL: the compiler failed. */
};

static void binary_destroy(void *object)
{
    struct rt_binary *b = object;
    while (b->specials != NULL) {
        struct rt_binary_special *first = b->specials;
        b->specials = first->next;
        rt_object_drop(first->binary);
        free(first);
    }
    rt_object_drop(b->loaded);
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

cl_int rt_binary_load(struct rt_binary *b, cl_context ctx, struct rt_loaded **out)
{
    cl_int error = CL_SUCCESS;
    pthread_mutex_lock(&b->lock);
    if (b->loaded == NULL) {
        error = rt_loaded_create(ctx, &b->blob, &b->loaded);
    }
    if (error == CL_SUCCESS) {
        rt_object_hold(b->loaded);
        *out = b->loaded;
    }
    pthread_mutex_unlock(&b->lock);
    return error;
}

static bool is_same(const struct tc_special *a, const struct tc_special *b)
{
    return strcmp(a->kernel, b->kernel) == 0 && memcmp(a->local, b->local, sizeof a->local) == 0 && a->n == b->n &&
        a->axis == b->axis && a->must == b->must && a->lanes == b->lanes && a->joined == b->joined &&
        (a->joined == 1 || a->apart == b->apart);
}

/** Compiles a kernel for one local size. NULL: the compiler failed. Requires b->lock. */
static struct rt_binary *specialise(struct rt_binary *b, const struct tc_special *s)
{
    tern_assert_held(&b->lock);
    struct tc_blob blob = {0};
    struct rt_binary *made = NULL;
    char *log = NULL;
    int r = tc_specialise(&b->blob, s, &blob, &log);
    if (r == 0) {
        r = rt_binary_create(blob, &made);
    }
    if (r == 0 && (made->kernels.n != 1 || made->kernels.kernels[0].merged == 0)) {
        rt_object_drop(made);
        made = NULL;
    }
    if (made == NULL) {
        fprintf(stderr, "tern: OpenCL: kernel %s cannot be compiled for groups of %ux%ux%u work-items: %s\n", s->kernel,
                s->local[0], s->local[1], s->local[2], log == NULL ? "no reason given" : log);
    }
    free(log);
    return made;
}

/** Takes the kernel for a local size out of the list. If it is not there, compiles it, in place of the one that was
 *  used longest ago if the kernel has many. NULL: no memory. Requires b->lock. */
static struct rt_binary_special *take_special(struct rt_binary *b, const struct tc_special *s)
{
    tern_assert_held(&b->lock);
    struct rt_binary_special **at = &b->specials, **last = NULL;
    unsigned n = 0;
    for (; *at != NULL && !is_same(&(*at)->key, s); at = &(*at)->next) {
        if (strcmp((*at)->key.kernel, s->kernel) == 0) {
            n++;
            last = at;
        }
    }
    if (*at == NULL && n >= SPECIALS) {
        at = last;
    }
    struct rt_binary_special *found = *at;
    if (found != NULL) {
        *at = found->next;
        if (is_same(&found->key, s)) {
            return found;
        }
        rt_object_drop(found->binary);
    } else {
        found = malloc(sizeof *found);
    }
    if (found != NULL) {
        *found = (struct rt_binary_special){.key = *s, .binary = specialise(b, s)};
    }
    return found;
}

cl_int rt_binary_special(struct rt_binary *b, const struct tc_special *s, struct rt_binary **out)
{
    pthread_mutex_lock(&b->lock);
    struct rt_binary_special *first = take_special(b, s);
    *out = NULL;
    if (first != NULL) {
        first->next = b->specials;
        b->specials = first;
        *out = first->binary;
    }
    if (*out != NULL) {
        rt_object_hold(*out);
    }
    pthread_mutex_unlock(&b->lock);
    return first != NULL ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
}
