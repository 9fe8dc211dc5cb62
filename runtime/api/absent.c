/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Calls of absent features (images, samplers, pipes) that do not return CL_INVALID_OPERATION, which icd/generate gives
 * to every call without an implementation. Either the object's handle is invalid, because no object of this kind
 * exists, or the query has a valid answer.
 */
#include "runtime/core/context.h"

CL_API_ENTRY cl_int CL_API_CALL clGetSupportedImageFormats(cl_context context, cl_mem_flags flags,
                                                           cl_mem_object_type type, cl_uint num_entries,
                                                           cl_image_format *formats, cl_uint *num_formats)
{
    (void)flags;
    (void)type;
    if (!rt_object_is(context, RT_CONTEXT)) {
        return CL_INVALID_CONTEXT;
    }
    if (formats != NULL && num_entries == 0) {
        return CL_INVALID_VALUE;
    }
    if (num_formats != NULL) {
        *num_formats = 0;
    }
    return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clGetImageInfo(cl_mem image, cl_image_info name, size_t cap, void *dst, size_t *size)
{
    (void)image;
    (void)name;
    (void)cap;
    (void)dst;
    (void)size;
    return CL_INVALID_MEM_OBJECT;
}

CL_API_ENTRY cl_int CL_API_CALL clGetPipeInfo(cl_mem pipe, cl_pipe_info name, size_t cap, void *dst, size_t *size)
{
    (void)pipe;
    (void)name;
    (void)cap;
    (void)dst;
    (void)size;
    return CL_INVALID_MEM_OBJECT;
}

CL_API_ENTRY cl_int CL_API_CALL clRetainSampler(cl_sampler sampler)
{
    (void)sampler;
    return CL_INVALID_SAMPLER;
}

CL_API_ENTRY cl_int CL_API_CALL clReleaseSampler(cl_sampler sampler)
{
    (void)sampler;
    return CL_INVALID_SAMPLER;
}

CL_API_ENTRY cl_int CL_API_CALL clGetSamplerInfo(cl_sampler sampler, cl_sampler_info name, size_t cap, void *dst,
                                                 size_t *size)
{
    (void)sampler;
    (void)name;
    (void)cap;
    (void)dst;
    (void)size;
    return CL_INVALID_SAMPLER;
}
