/* SPDX-License-Identifier: Apache-2.0 */
/** Samplers. A kernel gets a sampler as one word (runtime/device/image.h), so a sampler has nothing on the device. */
#ifndef RT_SAMPLER_H
#define RT_SAMPLER_H

#include "runtime/core/context.h"

/** A sampler. The fields are constant. */
struct _cl_sampler {
    struct rt_object base;
    cl_context context; /**< Held. */
    cl_bool normalized;
    cl_addressing_mode addressing;
    cl_filter_mode filter;
    uint32_t word; /**< The sampler in an argument block: bits of device/image.h. */
    cl_sampler_properties *properties; /**< A copy of the application's list with its final 0; NULL: there was none. */
    size_t n_properties;               /**< Elements of the list. */
};

/** Makes a sampler from valid arguments. properties (may be NULL) are copied. CL_OUT_OF_HOST_MEMORY. */
cl_int rt_sampler_create(cl_context ctx, const cl_sampler_properties *properties, cl_bool normalized,
                         cl_addressing_mode addressing, cl_filter_mode filter, cl_sampler *out);
cl_int rt_sampler_query(cl_sampler s, cl_sampler_info name, const struct rt_answer *a);

#endif
