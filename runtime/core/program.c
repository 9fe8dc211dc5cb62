/* SPDX-License-Identifier: Apache-2.0 */
/** Programs, except builds (program.h, build.c). */
#include "runtime/core/program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void program_destroy(void *object)
{
    cl_program p = object;
    rt_object_drop(p->binary);
    free(p->source);
    free(p->il);
    free(p->constants);
    free(p->options);
    free(p->log);
    rt_object_drop(p->context);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

static cl_int create_empty(cl_context ctx, cl_program *out)
{
    cl_program p = rt_object_create(sizeof *p, RT_PROGRAM, program_destroy);
    if (p == NULL) {
        return CL_OUT_OF_HOST_MEMORY;
    }
    rt_object_hold(ctx);
    p->context = ctx;
    p->status = CL_BUILD_NONE;
    pthread_mutex_init(&p->lock, NULL);
    *out = p;
    return CL_SUCCESS;
}

cl_int rt_program_create_linked(cl_context ctx, cl_program *out)
{
    const cl_int error = create_empty(ctx, out);
    if (error == CL_SUCCESS) {
        (*out)->linked = true;
    }
    return error;
}

cl_int rt_program_create_source(cl_context ctx, cl_uint n, const char **strings, const size_t *lengths, cl_program *out)
{
    size_t size = 0;
    for (cl_uint i = 0; i < n; i++) {
        const size_t part = lengths != NULL && lengths[i] != 0 ? lengths[i] : strlen(strings[i]);
        if (__builtin_add_overflow(size, part, &size) || size == SIZE_MAX) { /* leaves room for a NUL */
            return CL_OUT_OF_HOST_MEMORY;
        }
    }
    cl_program p;
    const cl_int error = create_empty(ctx, &p);
    if (error != CL_SUCCESS) {
        return error;
    }
    p->source = malloc(size + 1);
    if (p->source == NULL) {
        rt_object_release(p);
        return CL_OUT_OF_HOST_MEMORY;
    }
    for (cl_uint i = 0; i < n; i++) {
        const size_t part = lengths != NULL && lengths[i] != 0 ? lengths[i] : strlen(strings[i]);
        memcpy(p->source + p->source_size, strings[i], part);
        p->source_size += part;
    }
    p->source[size] = '\0';
    *out = p;
    return CL_SUCCESS;
}

cl_int rt_program_create_il(cl_context ctx, const void *il, size_t size, cl_program *out)
{
    struct tc_constant *constants = NULL;
    size_t n = 0;
    char *log = NULL;
    cl_program p;
    if (!tc_il_present()) {
        return CL_INVALID_OPERATION;
    }
    const int r = tc_il_read(il, size, &constants, &n, &log);
    if (r != 0 && r != -ENOMEM && log != NULL) {
        const char *sentence = strncmp(log, "error: ", 7) == 0 ? log + 7 : log;
        rt_context_refuse(ctx, RT_REFUSED_IL, "clCreateProgramWithIL: %.*s", (int)strcspn(sentence, "\n"), sentence);
    }
    free(log);
    if (r != 0) {
        return r == -ENOMEM ? CL_OUT_OF_HOST_MEMORY : CL_INVALID_VALUE;
    }
    const cl_int error = create_empty(ctx, &p);
    if (error != CL_SUCCESS) {
        free(constants);
        return error;
    }
    p->constants = constants;
    p->n_constants = n;
    p->il = malloc(size);
    if (p->il == NULL) {
        rt_object_release(p);
        return CL_OUT_OF_HOST_MEMORY;
    }
    memcpy(p->il, il, size);
    p->il_size = size;
    *out = p;
    return CL_SUCCESS;
}

cl_int rt_program_set_constant(cl_program p, cl_uint id, size_t size, const void *value)
{
    cl_int error = p->il == NULL ? CL_INVALID_PROGRAM : CL_INVALID_SPEC_ID;
    pthread_mutex_lock(&p->lock);
    for (size_t i = 0; i < p->n_constants; i++) {
        struct tc_constant *c = &p->constants[i];
        if (c->id == id && c->size == size) {
            c->value = 0;
            memcpy(&c->value, value, size); /* the host is little-endian */
            c->given = 1;
            error = CL_SUCCESS;
        } else if (c->id == id && error == CL_INVALID_SPEC_ID) {
            error = CL_INVALID_VALUE;
        }
    }
    pthread_mutex_unlock(&p->lock);
    return error;
}

bool rt_program_compiles(cl_program p)
{
    return p->source != NULL || p->il != NULL;
}

cl_int rt_program_create_binary(cl_context ctx, const void *binary, size_t size, cl_program *out)
{
    struct tc_blob blob = {malloc(size), size};
    struct rt_binary *b;
    cl_program p;
    if (blob.data == NULL) {
        return CL_OUT_OF_HOST_MEMORY;
    }
    memcpy(blob.data, binary, size);
    const int r = rt_binary_create(blob, &b);
    if (r != 0) {
        return r == -ENOMEM ? CL_OUT_OF_HOST_MEMORY : CL_INVALID_BINARY;
    }
    const cl_int error = create_empty(ctx, &p);
    if (error != CL_SUCCESS) {
        rt_object_drop(b);
        return error;
    }
    p->binary = b;
    *out = p;
    return CL_SUCCESS;
}

cl_int rt_program_create_builtin(cl_context ctx, struct rt_binary *b, cl_program *out)
{
    cl_program p;
    const cl_int error = create_empty(ctx, &p);
    if (error != CL_SUCCESS) {
        rt_object_drop(b);
        return error;
    }
    p->binary = b;
    p->executable = true;
    *out = p;
    return CL_SUCCESS;
}

static cl_program_binary_type binary_type(enum tc_kind kind)
{
    switch (kind) {
    case TC_MODULE:
        return CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT;
    case TC_LIBRARY:
        return CL_PROGRAM_BINARY_TYPE_LIBRARY;
    case TC_OBJECT:
        return CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
    default:
        return CL_PROGRAM_BINARY_TYPE_NONE;
    }
}

static cl_int answer_names(const struct tc_kernels *all, const struct rt_answer *a)
{
    size_t size = 1;
    for (size_t i = 0; i < all->n; i++) {
        size += strlen(all->kernels[i].name) + 1;
    }
    char *names = calloc(1, size);
    if (names == NULL) {
        return CL_OUT_OF_HOST_MEMORY;
    }
    char *at = names;
    for (size_t i = 0; i < all->n; i++) {
        at = stpcpy(stpcpy(at, i == 0 ? "" : ";"), all->kernels[i].name);
    }
    const cl_int error = rt_answer_string(a, names);
    free(names);
    return error;
}

/** CL_PROGRAM_BINARIES: an array of pointers, one for each device; NULL: this binary is not wanted. */
static cl_int answer_binaries(cl_program p, const struct rt_answer *a)
{
    if (a->dst != NULL) {
        if (a->cap < sizeof(void *)) {
            return CL_INVALID_VALUE;
        }
        void *to;
        memcpy(&to, a->dst, sizeof to);
        if (to != NULL && p->binary != NULL && p->binary->blob.size != 0) {
            memcpy(to, p->binary->blob.data, p->binary->blob.size);
        }
    }
    if (a->size != NULL) {
        *a->size = sizeof(void *);
    }
    return CL_SUCCESS;
}

static cl_int query_locked(cl_program p, cl_program_info name, const struct rt_answer *a)
{
    tern_assert_held(&p->lock);
    switch (name) {
    case CL_PROGRAM_REFERENCE_COUNT:
        return rt_answer_uint(a, rt_object_refs(p));
    case CL_PROGRAM_CONTEXT:
        return rt_answer_pointer(a, p->context);
    case CL_PROGRAM_NUM_DEVICES:
        return rt_answer_uint(a, 1);
    case CL_PROGRAM_DEVICES:
        return rt_answer_pointer(a, p->context->device);
    case CL_PROGRAM_SOURCE:
        return rt_answer_string(a, p->source);
    case CL_PROGRAM_IL:
        return rt_answer_bytes(a, p->il, p->il_size);
    case CL_PROGRAM_BINARY_SIZES:
        return rt_answer_size(a, p->binary == NULL ? 0 : p->binary->blob.size);
    case CL_PROGRAM_BINARIES:
        return answer_binaries(p, a);
    case CL_PROGRAM_NUM_KERNELS:
        return p->executable ? rt_answer_size(a, p->binary->kernels.n) : CL_INVALID_PROGRAM_EXECUTABLE;
    case CL_PROGRAM_KERNEL_NAMES:
        return p->executable ? answer_names(&p->binary->kernels, a) : CL_INVALID_PROGRAM_EXECUTABLE;
    case CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT:
    case CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT:
        return rt_answer_uint(a, CL_FALSE);
    default:
        return CL_INVALID_VALUE;
    }
}

cl_int rt_program_query(cl_program p, cl_program_info name, const struct rt_answer *a)
{
    pthread_mutex_lock(&p->lock);
    const cl_int error = query_locked(p, name, a);
    pthread_mutex_unlock(&p->lock);
    return error;
}

static cl_int query_build_locked(cl_program p, cl_program_build_info name, const struct rt_answer *a)
{
    tern_assert_held(&p->lock);
    switch (name) {
    case CL_PROGRAM_BUILD_STATUS:
        return rt_answer_uint(a, (cl_uint)p->status);
    case CL_PROGRAM_BUILD_OPTIONS:
        return rt_answer_string(a, p->options);
    case CL_PROGRAM_BUILD_LOG:
        return rt_answer_string(a, p->log);
    case CL_PROGRAM_BINARY_TYPE:
        return rt_answer_uint(a, binary_type(p->binary == NULL ? TC_UNKNOWN : p->binary->kind));
    case CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE:
        return rt_answer_size(a, p->executable ? (size_t)p->binary->kernels.variables : 0);
    default:
        return CL_INVALID_VALUE;
    }
}

cl_int rt_program_query_build(cl_program p, cl_program_build_info name, const struct rt_answer *a)
{
    pthread_mutex_lock(&p->lock);
    const cl_int error = query_build_locked(p, name, a);
    pthread_mutex_unlock(&p->lock);
    return error;
}

cl_int rt_program_attach(cl_program p, struct rt_binary **out)
{
    cl_int error = CL_INVALID_PROGRAM_EXECUTABLE;
    pthread_mutex_lock(&p->lock);
    if (p->executable) {
        rt_object_hold(p->binary);
        *out = p->binary;
        p->attached++;
        error = CL_SUCCESS;
    }
    pthread_mutex_unlock(&p->lock);
    return error;
}

void rt_program_detach(cl_program p)
{
    pthread_mutex_lock(&p->lock);
    p->attached--;
    pthread_mutex_unlock(&p->lock);
}

cl_int rt_program_take_compiled(cl_program p, struct rt_binary **out)
{
    cl_int error = CL_INVALID_OPERATION;
    pthread_mutex_lock(&p->lock);
    if (p->status != CL_BUILD_IN_PROGRESS && p->status != CL_BUILD_ERROR && p->binary != NULL &&
        p->binary->kind != TC_OBJECT && p->binary->executors == NULL) {
        rt_object_hold(p->binary);
        *out = p->binary;
        error = CL_SUCCESS;
    }
    pthread_mutex_unlock(&p->lock);
    return error;
}
