/* SPDX-License-Identifier: Apache-2.0 */
/** Samplers (sampler.h). */
#include "runtime/core/sampler.h"

#include <stdlib.h>

#include "runtime/device/image.h"

static void sampler_destroy(void *object)
{
    cl_sampler s = object;
    rt_object_drop(s->context);
    free(s->properties);
    free(s);
}

static uint32_t word_of(cl_bool normalized, cl_addressing_mode addressing, cl_filter_mode filter)
{
    static const uint32_t modes[] = {
        [CL_ADDRESS_NONE - CL_ADDRESS_NONE] = TERN_SAMPLER_NONE,
        [CL_ADDRESS_CLAMP_TO_EDGE - CL_ADDRESS_NONE] = TERN_SAMPLER_EDGE,
        [CL_ADDRESS_CLAMP - CL_ADDRESS_NONE] = TERN_SAMPLER_CLAMP,
        [CL_ADDRESS_REPEAT - CL_ADDRESS_NONE] = TERN_SAMPLER_REPEAT,
        [CL_ADDRESS_MIRRORED_REPEAT - CL_ADDRESS_NONE] = TERN_SAMPLER_MIRROR,
    };
    return (normalized ? TERN_SAMPLER_NORMALIZED : 0) | modes[addressing - CL_ADDRESS_NONE] |
        (filter == CL_FILTER_LINEAR ? TERN_SAMPLER_LINEAR : TERN_SAMPLER_NEAREST);
}

cl_int rt_sampler_create(cl_context ctx, const cl_sampler_properties *properties, cl_bool normalized,
                         cl_addressing_mode addressing, cl_filter_mode filter, cl_sampler *out)
{
    cl_sampler s = rt_object_create(sizeof *s, RT_SAMPLER, sampler_destroy);
    if (s == NULL) {
        return CL_OUT_OF_HOST_MEMORY;
    }
    rt_object_hold(ctx);
    s->context = ctx;
    s->normalized = normalized;
    s->addressing = addressing;
    s->filter = filter;
    s->word = word_of(normalized, addressing, filter);
    const cl_int error = rt_properties_copy(properties, &s->properties, &s->n_properties);
    if (error != CL_SUCCESS) {
        rt_object_release(s);
        return error;
    }
    *out = s;
    return CL_SUCCESS;
}

cl_int rt_sampler_query(cl_sampler s, cl_sampler_info name, const struct rt_answer *a)
{
    switch (name) {
    case CL_SAMPLER_REFERENCE_COUNT:
        return rt_answer_uint(a, rt_object_refs(s));
    case CL_SAMPLER_CONTEXT:
        return rt_answer_pointer(a, s->context);
    case CL_SAMPLER_NORMALIZED_COORDS:
        return rt_answer_uint(a, s->normalized);
    case CL_SAMPLER_ADDRESSING_MODE:
        return rt_answer_uint(a, s->addressing);
    case CL_SAMPLER_FILTER_MODE:
        return rt_answer_uint(a, s->filter);
    case CL_SAMPLER_PROPERTIES:
        return rt_answer_bytes(a, s->properties, s->n_properties * sizeof *s->properties);
    default:
        return CL_INVALID_VALUE;
    }
}
