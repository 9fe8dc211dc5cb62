/* SPDX-License-Identifier: Apache-2.0 */
/** Creation and queries of samplers. */
#include "runtime/core/sampler.h"

static cl_int refuse(cl_context context, const char *what, cl_ulong value)
{
    rt_context_refuse(context, RT_REFUSED_SAMPLER, "a sampler cannot have %s 0x%llx", what, (unsigned long long)value);
    return CL_INVALID_VALUE;
}

/** Checks values that have 64 bits, and makes the sampler. */
static cl_int create(cl_context context, const cl_sampler_properties *properties, cl_ulong normalized,
                     cl_ulong addressing, cl_ulong filter, cl_sampler *out)
{
    if (normalized != CL_TRUE && normalized != CL_FALSE) {
        return refuse(context, "normalized coordinates", normalized);
    }
    if (addressing < CL_ADDRESS_NONE || addressing > CL_ADDRESS_MIRRORED_REPEAT) {
        return refuse(context, "the addressing mode", addressing);
    }
    if (filter != CL_FILTER_NEAREST && filter != CL_FILTER_LINEAR) {
        return refuse(context, "the filter mode", filter);
    }
    if (normalized == CL_FALSE && (addressing == CL_ADDRESS_REPEAT || addressing == CL_ADDRESS_MIRRORED_REPEAT)) {
        rt_context_refuse(context, RT_REFUSED_SAMPLER, "a sampler with the addressing mode %s needs normalized "
                          "coordinates: images are repeated in units of their size",
                          addressing == CL_ADDRESS_REPEAT ? "CL_ADDRESS_REPEAT" : "CL_ADDRESS_MIRRORED_REPEAT");
        return CL_INVALID_VALUE;
    }
    return rt_sampler_create(context, properties, (cl_bool)normalized, (cl_addressing_mode)addressing,
                             (cl_filter_mode)filter, out);
}

/** Reads a list of properties over the defaults. A property that is unknown or there twice is refused. */
static cl_int take(cl_context context, const cl_sampler_properties *list, cl_ulong values[3])
{
    static const cl_sampler_properties names[3] = {CL_SAMPLER_NORMALIZED_COORDS, CL_SAMPLER_ADDRESSING_MODE,
                                                   CL_SAMPLER_FILTER_MODE};
    unsigned seen = 0;
    for (; list != NULL && list[0] != 0; list += 2) {
        unsigned i = 0;
        while (i < 3 && names[i] != list[0]) {
            i++;
        }
        if (i == 3) {
            return refuse(context, "the property", list[0]);
        }
        if ((seen >> i & 1) != 0) {
            return refuse(context, "twice the property", list[0]);
        }
        seen |= 1u << i;
        values[i] = list[1];
    }
    return CL_SUCCESS;
}

CL_API_ENTRY cl_sampler CL_API_CALL clCreateSamplerWithProperties(cl_context context,
                                                                  const cl_sampler_properties *properties,
                                                                  cl_int *errcode_ret)
{
    cl_sampler s = NULL;
    cl_ulong values[3] = {CL_TRUE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST};
    cl_int error = rt_object_is(context, RT_CONTEXT) ? take(context, properties, values) : CL_INVALID_CONTEXT;
    if (error == CL_SUCCESS) {
        error = create(context, properties, values[0], values[1], values[2], &s);
    }
    rt_error_set(errcode_ret, error);
    return s;
}

CL_API_ENTRY cl_sampler CL_API_CALL clCreateSampler(cl_context context, cl_bool normalized,
                                                    cl_addressing_mode addressing, cl_filter_mode filter,
                                                    cl_int *errcode_ret)
{
    cl_sampler s = NULL;
    rt_error_set(errcode_ret, rt_object_is(context, RT_CONTEXT)
                                  ? create(context, NULL, normalized, addressing, filter, &s)
                                  : CL_INVALID_CONTEXT);
    return s;
}

CL_API_ENTRY cl_int CL_API_CALL clRetainSampler(cl_sampler sampler)
{
    if (!rt_object_is(sampler, RT_SAMPLER)) {
        return CL_INVALID_SAMPLER;
    }
    rt_object_retain(sampler);
    return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clReleaseSampler(cl_sampler sampler)
{
    return rt_object_end(sampler, RT_SAMPLER) ? CL_SUCCESS : CL_INVALID_SAMPLER;
}

CL_API_ENTRY cl_int CL_API_CALL clGetSamplerInfo(cl_sampler sampler, cl_sampler_info name, size_t cap, void *dst,
                                                 size_t *size)
{
    if (!rt_object_is(sampler, RT_SAMPLER)) {
        return CL_INVALID_SAMPLER;
    }
    return rt_sampler_query(sampler, name, &(struct rt_answer){cap, dst, size});
}
