/* SPDX-License-Identifier: Apache-2.0 */
/** Kernels (kernel.h). */
#include "runtime/core/kernel.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/core/builtin.h"
#include "runtime/core/sampler.h"
#include "runtime/core/special.h"
#include "runtime/core/svm.h"

/* more than any device has, and so small that the sum of all arguments fits a uint64_t */
#define LOCAL_MAX ((uint64_t)1 << 48)

static void kernel_destroy(void *object)
{
    cl_kernel k = object;
    rt_program_detach(k->program);
    rt_object_drop(k->binary);
    rt_object_drop(k->program);
    free(k->args);
    free(k->values);
    free(k->svm_pointers);
    free(k);
}

/** Makes a kernel from its description, or, if `code` is NULL, finds it by its name. */
static cl_int create(cl_program p, const char *name, const struct tc_kernel *code, cl_kernel *out)
{
    struct rt_binary *b;
    const cl_int error = rt_program_attach(p, &b);
    if (error != CL_SUCCESS) {
        return error;
    }
    for (size_t i = 0; i < b->kernels.n && code == NULL; i++) {
        code = strcmp(b->kernels.kernels[i].name, name) == 0 ? &b->kernels.kernels[i] : NULL;
    }
    cl_kernel k = code == NULL ? NULL : rt_object_create(sizeof *k, RT_KERNEL, kernel_destroy);
    if (k == NULL) {
        rt_program_detach(p);
        rt_object_drop(b);
        return code == NULL ? CL_INVALID_KERNEL_NAME : CL_OUT_OF_HOST_MEMORY;
    }
    rt_object_hold(p);
    k->program = p;
    k->binary = b;
    k->code = code;
    k->args = calloc(code->n_args + (size_t)1, sizeof *k->args);
    k->values = calloc(1, code->args_size + (size_t)1);
    if (k->args == NULL || k->values == NULL) {
        rt_object_release(k);
        return CL_OUT_OF_HOST_MEMORY;
    }
    *out = k;
    return CL_SUCCESS;
}

cl_int rt_kernel_create(cl_program p, const char *name, cl_kernel *out)
{
    return create(p, name, NULL, out);
}

cl_int rt_kernel_create_all(cl_program p, cl_uint cap, cl_kernel *all, cl_uint *count)
{
    struct rt_binary *b;
    cl_int error = rt_program_attach(p, &b); /* until rt_program_detach: the program cannot be built anew */
    if (error != CL_SUCCESS) {
        return error;
    }
    const cl_uint n = (cl_uint)b->kernels.n;
    if (all != NULL && cap < n) {
        error = CL_INVALID_VALUE;
    }
    for (cl_uint i = 0; all != NULL && error == CL_SUCCESS && i < n; i++) {
        error = create(p, NULL, &b->kernels.kernels[i], &all[i]);
        while (error != CL_SUCCESS && i-- > 0) {
            rt_object_release(all[i]);
        }
    }
    if (error == CL_SUCCESS && count != NULL) {
        *count = n;
    }
    rt_program_detach(p);
    rt_object_drop(b);
    return error;
}

static cl_int keep_svm_pointers(cl_kernel k, size_t n, const void *const *pointers)
{
    const void **copy = n == 0 ? NULL : malloc(n * sizeof(void *));
    if (n != 0 && copy == NULL) {
        return CL_OUT_OF_HOST_MEMORY;
    }
    if (n != 0) {
        memcpy(copy, pointers, n * sizeof(void *));
    }
    free(k->svm_pointers);
    k->svm_pointers = copy;
    k->n_svm_pointers = n;
    return CL_SUCCESS;
}

cl_int rt_kernel_clone(cl_kernel from, cl_kernel *out)
{
    cl_kernel k = NULL;
    cl_int error = create(from->program, NULL, from->code, &k);
    if (error == CL_SUCCESS) {
        memcpy(k->args, from->args, from->code->n_args * sizeof *from->args);
        memcpy(k->values, from->values, from->code->args_size);
        error = keep_svm_pointers(k, from->n_svm_pointers, from->svm_pointers);
    }
    if (error == CL_SUCCESS) {
        *out = k;
    } else if (k != NULL) {
        rt_object_release(k);
    }
    return error;
}

static cl_int set_buffer(cl_kernel k, struct rt_arg *arg, size_t size, const void *value)
{
    cl_mem mem = NULL;
    if (size != sizeof mem) {
        return CL_INVALID_ARG_SIZE;
    }
    if (value != NULL) {
        memcpy(&mem, value, sizeof mem);
    }
    if (mem != NULL && (!rt_object_is(mem, RT_MEM) || mem->image != NULL || mem->context != k->program->context)) {
        return CL_INVALID_MEM_OBJECT;
    }
    arg->mem = mem;
    arg->svm = NULL;
    return CL_SUCCESS;
}

/** The type and order that the memory object of an image argument must have. *depth: the order is CL_DEPTH. */
static cl_mem_object_type image_type_of(enum tc_image_type type, bool *depth)
{
    *depth = type == TC_IMAGE_2D_DEPTH || type == TC_IMAGE_2D_ARRAY_DEPTH;
    switch (type) {
    case TC_IMAGE_1D:
        return CL_MEM_OBJECT_IMAGE1D;
    case TC_IMAGE_1D_ARRAY:
        return CL_MEM_OBJECT_IMAGE1D_ARRAY;
    case TC_IMAGE_1D_BUFFER:
        return CL_MEM_OBJECT_IMAGE1D_BUFFER;
    case TC_IMAGE_2D_ARRAY:
    case TC_IMAGE_2D_ARRAY_DEPTH:
        return CL_MEM_OBJECT_IMAGE2D_ARRAY;
    case TC_IMAGE_3D:
        return CL_MEM_OBJECT_IMAGE3D;
    default:
        return CL_MEM_OBJECT_IMAGE2D;
    }
}

static const char *arg_name(const struct tc_arg *t)
{
    return t->name != NULL ? t->name : "?";
}

/** Checks that a kernel may take the memory object as this argument, which is an image. */
static cl_int check_image(cl_kernel k, const struct tc_arg *t, cl_mem mem)
{
    static const char *const qualifiers[] = {"", "read_only ", "write_only ", "read_write "};
    const cl_mem_flags access = mem->flags & (CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY);
    const cl_mem_object_type have = mem->image == NULL ? CL_MEM_OBJECT_BUFFER : mem->image->type;
    bool depth;
    const cl_mem_object_type want = image_type_of(t->image, &depth);
    const bool is_depth = mem->image != NULL && mem->image->format.image_channel_order == CL_DEPTH;
    if (have != want || depth != is_depth) {
        rt_context_refuse(k->program->context, RT_REFUSED_IMAGE, "argument '%s' of kernel %s is %s, and cannot be a "
                          "%s%s", arg_name(t), k->code->name, t->type, rt_image_type_name(have),
                          is_depth ? " of depths" : "");
        return CL_INVALID_MEM_OBJECT;
    }
    const cl_mem_flags needs = t->access_qualifier == 1 ? CL_MEM_READ_ONLY
        : t->access_qualifier == 2                      ? CL_MEM_WRITE_ONLY
                                                        : 0;
    if (access != 0 && access != needs) {
        rt_context_refuse(k->program->context, RT_REFUSED_IMAGE, "argument '%s' of kernel %s is %s%s, and the image "
                          "was made with %s", arg_name(t), k->code->name, qualifiers[t->access_qualifier & 3], t->type,
                          access == CL_MEM_READ_ONLY ? "CL_MEM_READ_ONLY" : "CL_MEM_WRITE_ONLY");
        return CL_INVALID_ARG_VALUE;
    }
    return CL_SUCCESS;
}

static cl_int set_image(cl_kernel k, const struct tc_arg *t, struct rt_arg *arg, size_t size, const void *value)
{
    cl_mem mem = NULL;
    if (size != sizeof mem) {
        return CL_INVALID_ARG_SIZE;
    }
    if (value != NULL) {
        memcpy(&mem, value, sizeof mem);
    }
    if (!rt_object_is(mem, RT_MEM) || mem->context != k->program->context) {
        return CL_INVALID_MEM_OBJECT;
    }
    const cl_int error = check_image(k, t, mem);
    if (error == CL_SUCCESS) {
        arg->mem = mem;
    }
    return error;
}

/** A sampler is a value, so the kernel does not need the object any more. */
static cl_int set_sampler(cl_kernel k, const struct tc_arg *t, size_t size, const void *value)
{
    cl_sampler sampler = NULL;
    if (size != sizeof sampler) {
        return CL_INVALID_ARG_SIZE;
    }
    if (value != NULL) {
        memcpy(&sampler, value, sizeof sampler);
    }
    if (!rt_object_is(sampler, RT_SAMPLER) || sampler->context != k->program->context) {
        return CL_INVALID_SAMPLER;
    }
    memcpy(k->values + t->offset, &sampler->word, sizeof sampler->word);
    return CL_SUCCESS;
}

/** A size beyond the device's local memory is refused when the kernel is enqueued (rt_kernel_fits). */
static cl_int set_local(struct rt_arg *arg, size_t size, const void *value)
{
    if (value != NULL) {
        return CL_INVALID_ARG_VALUE;
    }
    if (size == 0) {
        return CL_INVALID_ARG_SIZE;
    }
    arg->local_size = size < LOCAL_MAX ? size : LOCAL_MAX;
    return CL_SUCCESS;
}

cl_int rt_kernel_set_arg(cl_kernel k, cl_uint index, size_t size, const void *value)
{
    if (index >= k->code->n_args) {
        return CL_INVALID_ARG_INDEX;
    }
    const struct tc_arg *t = &k->code->args[index];
    struct rt_arg *arg = &k->args[index];
    cl_int error = CL_SUCCESS;
    if (t->kind == TC_POINTER && t->space == TC_LOCAL) {
        error = set_local(arg, size, value);
    } else if (t->kind == TC_POINTER) {
        error = set_buffer(k, arg, size, value);
    } else if (t->kind == TC_IMAGE) {
        error = set_image(k, t, arg, size, value);
    } else if (t->kind == TC_SAMPLER) {
        error = set_sampler(k, t, size, value);
    } else if (value == NULL) {
        error = CL_INVALID_ARG_VALUE;
    } else if (size != t->size) {
        error = CL_INVALID_ARG_SIZE;
    } else {
        memcpy(k->values + t->offset, value, size);
    }
    arg->set = arg->set || error == CL_SUCCESS;
    return error;
}

cl_int rt_kernel_set_svm(cl_kernel k, cl_uint index, const void *pointer)
{
    if (index >= k->code->n_args) {
        return CL_INVALID_ARG_INDEX;
    }
    const struct tc_arg *t = &k->code->args[index];
    if (t->kind != TC_POINTER || t->space == TC_LOCAL ||
        (pointer != NULL && !rt_svm_is(k->program->context, pointer))) {
        return CL_INVALID_ARG_VALUE;
    }
    k->args[index] = (struct rt_arg){.set = true, .svm = pointer};
    return CL_SUCCESS;
}

cl_int rt_kernel_set_svm_pointers(cl_kernel k, size_t n, const void *const *pointers)
{
    for (size_t i = 0; i < n; i++) {
        if (!rt_svm_is(k->program->context, pointers[i])) {
            return CL_INVALID_VALUE;
        }
    }
    return keep_svm_pointers(k, n, pointers);
}

bool rt_kernel_complete(cl_kernel k)
{
    for (uint32_t i = 0; i < k->code->n_args; i++) {
        const struct rt_arg *a = &k->args[i];
        if (!a->set || (a->mem != NULL && !rt_object_is(a->mem, RT_MEM)) || /* never set, or released since */
            (a->svm != NULL && !rt_svm_is(k->program->context, a->svm))) {
            return false;
        }
    }
    return true;
}

cl_int rt_kernel_use_arg(cl_kernel k, cl_uint index, struct rt_command *c, uint32_t *address)
{
    const struct rt_arg *a = &k->args[index];
    if (a->svm != NULL) {
        *address = (uint32_t)(uintptr_t)a->svm; /* an SVM pointer is the same on host and device */
        const cl_int error = rt_svm_use(c, a->svm);
        return error == CL_INVALID_VALUE ? CL_INVALID_KERNEL_ARGS : error;
    }
    if (a->mem == NULL) {
        *address = 0;
        return CL_SUCCESS;
    }
    const cl_int error = rt_command_use(c, a->mem);
    if (error == CL_SUCCESS) {
        *address = rt_mem_address(a->mem);
    }
    return error;
}

cl_int rt_kernel_use_image(cl_kernel k, cl_uint index, struct rt_command *c, struct tern_image *out)
{
    const struct rt_arg *a = &k->args[index];
    const cl_int error = rt_command_use(c, a->mem);
    if (error == CL_SUCCESS) {
        rt_image_describe(a->mem, out);
    }
    return error;
}

cl_int rt_kernel_use_svm_pointers(cl_kernel k, struct rt_command *c)
{
    cl_int error = CL_SUCCESS;
    for (size_t i = 0; i < k->n_svm_pointers && error == CL_SUCCESS; i++) {
        error = rt_svm_use(c, k->svm_pointers[i]);
        if (error == CL_INVALID_VALUE) { /* freed memory is not used by the kernel */
            error = CL_SUCCESS;
        }
    }
    return error;
}

uint64_t rt_kernel_local(cl_kernel k, uint32_t items, uint32_t *at)
{
    const uint64_t lanes = k->program->context->device->info.lanes;
    uint64_t size = k->code->local_static + (items + lanes - 1) / lanes * lanes * k->code->sub_bytes;
    for (uint32_t i = 0; i < k->code->n_args; i++) {
        const struct tc_arg *t = &k->code->args[i];
        if (t->kind == TC_POINTER && t->space == TC_LOCAL) {
            size = (size + RT_ALIGN - 1) & ~(uint64_t)(RT_ALIGN - 1);
            if (at != NULL) {
                at[i] = (uint32_t)size;
            }
            size += k->args[i].local_size;
        }
    }
    return (size + 63) & ~63ull; /* the unit of `local_bytes` of a dispatch packet */
}

unsigned rt_kernel_stack_log2(const struct tc_kernel *code)
{
    unsigned log2 = 6;
    while (code->stack > 1ull << log2) {
        log2++;
    }
    return log2;
}

cl_int rt_kernel_fits(cl_kernel k, uint32_t items)
{
    const cl_context ctx = k->program->context;
    const struct tc_kernel *code = k->code;
    const uint64_t local = rt_kernel_local(k, items, NULL);
    if (local > ctx->device->info.local_bytes) {
        rt_context_refuse(ctx, RT_REFUSED_LOCAL, "kernel %s needs %" PRIu64 " bytes of local memory for a work-group "
                          "(%u of its own variables, the rest of its arguments%s), and an engine has %u", code->name,
                          local, code->local_static, code->sub_bytes != 0 ? " and sub-groups" : "",
                          ctx->device->info.local_bytes);
        return CL_OUT_OF_RESOURCES;
    }
    if (rt_kernel_stack_log2(code) > RT_STACK_LOG2_MAX) {
        rt_context_refuse(ctx, RT_REFUSED_PRIVATE, "kernel %s needs %u bytes of private memory for a work-item, and "
                          "%u are the most", code->name, code->stack, 1u << RT_STACK_LOG2_MAX);
        return CL_OUT_OF_RESOURCES;
    }
    uint32_t images[2] = {0};
    for (uint32_t i = 0; i < code->n_args; i++) {
        if (code->args[i].kind == TC_IMAGE) {
            images[code->args[i].access_qualifier != 1]++;
        }
    }
    const uint32_t bytes = code->args_size - (uint32_t)sizeof(struct tern_image) * (images[0] + images[1]);
    if (bytes > RT_MAX_PARAMETERS) {
        rt_context_refuse(ctx, RT_REFUSED_ARGUMENTS, "kernel %s takes %u bytes of arguments, and %u are the most",
                          code->name, bytes, RT_MAX_PARAMETERS);
        return CL_OUT_OF_RESOURCES;
    }
    if (images[0] > RT_IMAGE_READS_MAX || images[1] > RT_IMAGE_WRITES_MAX) {
        rt_context_refuse(ctx, RT_REFUSED_ARGUMENTS, "kernel %s takes %u images that it reads and %u that it writes, "
                          "and %u and %u are the most", code->name, images[0], images[1], RT_IMAGE_READS_MAX,
                          RT_IMAGE_WRITES_MAX);
        return CL_OUT_OF_RESOURCES;
    }
    return CL_SUCCESS;
}

cl_int rt_kernel_query(cl_kernel k, cl_kernel_info name, const struct rt_answer *a)
{
    switch (name) {
    case CL_KERNEL_FUNCTION_NAME:
        return rt_answer_string(a, k->code->name);
    case CL_KERNEL_NUM_ARGS:
        return rt_answer_uint(a, k->code->n_args);
    case CL_KERNEL_REFERENCE_COUNT:
        return rt_answer_uint(a, rt_object_refs(k));
    case CL_KERNEL_CONTEXT:
        return rt_answer_pointer(a, k->program->context);
    case CL_KERNEL_PROGRAM:
        return rt_answer_pointer(a, k->program);
    case CL_KERNEL_ATTRIBUTES:
        return rt_answer_string(a, k->code->attributes);
    default:
        return CL_INVALID_VALUE;
    }
}

cl_int rt_kernel_query_arg(cl_kernel k, cl_uint index, cl_kernel_arg_info name, const struct rt_answer *a)
{
    static const cl_uint spaces[] = {
        [TC_PRIVATE] = CL_KERNEL_ARG_ADDRESS_PRIVATE,
        [TC_GLOBAL] = CL_KERNEL_ARG_ADDRESS_GLOBAL,
        [TC_CONSTANT] = CL_KERNEL_ARG_ADDRESS_CONSTANT,
        [TC_LOCAL] = CL_KERNEL_ARG_ADDRESS_LOCAL,
    };
    static const cl_uint accesses[] = {CL_KERNEL_ARG_ACCESS_NONE, CL_KERNEL_ARG_ACCESS_READ_ONLY,
                                       CL_KERNEL_ARG_ACCESS_WRITE_ONLY, CL_KERNEL_ARG_ACCESS_READ_WRITE};
    if (index >= k->code->n_args) {
        return CL_INVALID_ARG_INDEX;
    }
    const struct tc_arg *t = &k->code->args[index];
    if (!k->code->arg_info || (name == CL_KERNEL_ARG_NAME && t->name == NULL)) {
        return CL_KERNEL_ARG_INFO_NOT_AVAILABLE;
    }
    switch (name) {
    case CL_KERNEL_ARG_ADDRESS_QUALIFIER:
        return rt_answer_uint(a, spaces[t->space]);
    case CL_KERNEL_ARG_ACCESS_QUALIFIER:
        return rt_answer_uint(a, accesses[t->access_qualifier & 3]);
    case CL_KERNEL_ARG_TYPE_NAME:
        return rt_answer_string(a, t->type);
    case CL_KERNEL_ARG_TYPE_QUALIFIER:
        return rt_answer_ulong(a, t->type_qualifier);
    case CL_KERNEL_ARG_NAME:
        return rt_answer_string(a, t->name);
    default:
        return CL_INVALID_VALUE;
    }
}

/** Work-items of the groups whose local memory a query tells: the required size, else that of the largest group. */
static uint32_t local_items(cl_kernel k)
{
    const uint32_t *required = k->code->required_size;
    return required[0] != 0 ? required[0] * required[1] * required[2] : k->program->context->device->engine_items;
}

cl_int rt_kernel_query_group(cl_kernel k, cl_kernel_work_group_info name, const struct rt_answer *a)
{
    cl_device_id d = k->program->context->device;
    const bool builtin = rt_builtin_is(k);
    size_t required[3];
    size_t most[3];
    switch (name) {
    case CL_KERNEL_WORK_GROUP_SIZE:
        return rt_answer_size(a, builtin ? 1 : rt_special_group_max(k));
    case CL_KERNEL_COMPILE_WORK_GROUP_SIZE:
        for (int i = 0; i < 3; i++) {
            required[i] = k->code->required_size[i];
        }
        return rt_answer_bytes(a, required, sizeof required);
    case CL_KERNEL_LOCAL_MEM_SIZE:
        return rt_answer_ulong(a, builtin ? 0 : rt_kernel_local(k, local_items(k), NULL));
    case CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE:
        return rt_answer_size(a, builtin ? 1 : d->info.lanes);
    case CL_KERNEL_PRIVATE_MEM_SIZE:
        return rt_answer_ulong(a, k->code->stack);
    case CL_KERNEL_GLOBAL_WORK_SIZE: /* for custom devices and built-in kernels only */
        if (!builtin) {
            return CL_INVALID_VALUE;
        }
        rt_builtin_most(k, most);
        return rt_answer_bytes(a, most, sizeof most);
    default:
        return CL_INVALID_VALUE;
    }
}
