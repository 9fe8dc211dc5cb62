/* SPDX-License-Identifier: Apache-2.0 */
/** Creation and queries of samplers: every combination of values, and each refusal with its error and text. */
#include "refused.h"

/** Every combination of the three values of a sampler, from both calls. */
static void test_samplers(void **state)
{
    (void)state;
    for (cl_uint n = 0; n < 20; n++) {
        const cl_bool normalized = n % 2;
        const cl_addressing_mode mode = CL_ADDRESS_NONE + n / 2 % 5;
        const cl_filter_mode filter = n < 10 ? CL_FILTER_NEAREST : CL_FILTER_LINEAR;
        const cl_sampler_properties list[] = {CL_SAMPLER_FILTER_MODE, filter, CL_SAMPLER_NORMALIZED_COORDS, normalized,
                                              CL_SAMPLER_ADDRESSING_MODE, mode, 0};
        cl_sampler s[2] = {clCreateSampler(context, normalized, mode, filter, &clt_error), NULL};
        if (!normalized && mode >= CL_ADDRESS_REPEAT) {
            refused(s[0], CL_INVALID_VALUE, "needs normalized coordinates");
            refused(clCreateSamplerWithProperties(context, list, &clt_error), CL_INVALID_VALUE, "REPEAT needs");
            continue;
        }
        MADE(s[0]);
        s[1] = clCreateSamplerWithProperties(context, list, &clt_error);
        MADE(s[1]);
        for (int i = 0; i < 2; i++) {
            cl_uint refs = 0, u[3] = {9, 9, 9};
            cl_context owner = NULL;
            cl_sampler_properties back[7];
            size_t size = 99;
            OK(clRetainSampler(s[i]));
            OK(clGetSamplerInfo(s[i], CL_SAMPLER_REFERENCE_COUNT, sizeof refs, &refs, NULL));
            OK(clGetSamplerInfo(s[i], CL_SAMPLER_CONTEXT, sizeof owner, &owner, NULL));
            OK(clGetSamplerInfo(s[i], CL_SAMPLER_NORMALIZED_COORDS, sizeof u[0], &u[0], NULL));
            OK(clGetSamplerInfo(s[i], CL_SAMPLER_ADDRESSING_MODE, sizeof u[1], &u[1], NULL));
            OK(clGetSamplerInfo(s[i], CL_SAMPLER_FILTER_MODE, sizeof u[2], &u[2], NULL));
            OK(clGetSamplerInfo(s[i], CL_SAMPLER_PROPERTIES, sizeof back, back, &size));
            assert_true(refs == 2 && owner == context && u[0] == normalized && u[1] == mode && u[2] == filter);
            assert_int_equal(size, i == 0 ? 0 : sizeof list);
            assert_true(i == 0 || memcmp(back, list, sizeof list) == 0);
            FAILS(clGetSamplerInfo(s[i], CL_SAMPLER_CONTEXT, 4, &owner, NULL), CL_INVALID_VALUE);
            FAILS(clGetSamplerInfo(s[i], CL_MEM_SIZE, sizeof back, back, NULL), CL_INVALID_VALUE);
            OK(clReleaseSampler(s[i]));
            OK(clReleaseSampler(s[i]));
        }
    }
    cl_uint u[3] = {9, 9, 9};
    cl_sampler s = clCreateSamplerWithProperties(context, NULL, &clt_error);
    MADE(s);
    OK(clGetSamplerInfo(s, CL_SAMPLER_NORMALIZED_COORDS, sizeof u[0], &u[0], NULL));
    OK(clGetSamplerInfo(s, CL_SAMPLER_ADDRESSING_MODE, sizeof u[1], &u[1], NULL));
    OK(clGetSamplerInfo(s, CL_SAMPLER_FILTER_MODE, sizeof u[2], &u[2], NULL));
    assert_true(u[0] == CL_TRUE && u[1] == CL_ADDRESS_CLAMP && u[2] == CL_FILTER_NEAREST);
    OK(clReleaseSampler(s));
}

static void test_refused_samplers(void **state)
{
    (void)state;
    const cl_sampler_properties unknown[] = {CL_SAMPLER_CONTEXT, 1, 0};
    const cl_sampler_properties twice[] = {CL_SAMPLER_FILTER_MODE, CL_FILTER_LINEAR, CL_SAMPLER_FILTER_MODE,
                                           CL_FILTER_LINEAR, 0};
    const cl_sampler_properties high[] = {CL_SAMPLER_NORMALIZED_COORDS, (cl_ulong)1 << 32, 0};
    refused(clCreateSampler(context, 2, CL_ADDRESS_NONE, CL_FILTER_NEAREST, &clt_error), CL_INVALID_VALUE,
            "a sampler cannot have normalized coordinates 0x2");
    refused(clCreateSampler(context, CL_TRUE, CL_ADDRESS_NONE - 1, CL_FILTER_NEAREST, &clt_error), CL_INVALID_VALUE,
            "the addressing mode 0x112f");
    refused(clCreateSampler(context, CL_TRUE, CL_ADDRESS_MIRRORED_REPEAT + 1, CL_FILTER_NEAREST, &clt_error),
            CL_INVALID_VALUE, "the addressing mode 0x1135");
    refused(clCreateSampler(context, CL_TRUE, CL_ADDRESS_NONE, CL_FILTER_LINEAR + 1, &clt_error), CL_INVALID_VALUE,
            "the filter mode 0x1142");
    refused(clCreateSamplerWithProperties(context, unknown, &clt_error), CL_INVALID_VALUE, "the property 0x1151");
    refused(clCreateSamplerWithProperties(context, twice, &clt_error), CL_INVALID_VALUE, "twice the property 0x1154");
    refused(clCreateSamplerWithProperties(context, high, &clt_error), CL_INVALID_VALUE, "coordinates 0x100000000");
    refused(clCreateSampler(NULL, CL_TRUE, CL_ADDRESS_NONE, CL_FILTER_NEAREST, &clt_error), CL_INVALID_CONTEXT, NULL);
    refused(clCreateSamplerWithProperties(NULL, NULL, &clt_error), CL_INVALID_CONTEXT, NULL);
    cl_mem b = clCreateBuffer(context, 0, 4, NULL, &clt_error);
    cl_uint u;
    FAILS(clRetainSampler((cl_sampler)b), CL_INVALID_SAMPLER);
    FAILS(clReleaseSampler((cl_sampler)b), CL_INVALID_SAMPLER);
    FAILS(clReleaseSampler(NULL), CL_INVALID_SAMPLER);
    FAILS(clGetSamplerInfo((cl_sampler)b, CL_SAMPLER_FILTER_MODE, sizeof u, &u, NULL), CL_INVALID_SAMPLER);
    OK(clReleaseMemObject(b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_samplers), cmocka_unit_test(test_refused_samplers)};
    return cmocka_run_group_tests(tests, open_context, close_context);
}
