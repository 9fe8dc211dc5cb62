/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Calls of absent features that do not return CL_INVALID_OPERATION, which icd/generate gives to every call without an
 * implementation: the handle of a pipe is invalid, because no pipe exists.
 */
#include "runtime/core/context.h"

CL_API_ENTRY cl_int CL_API_CALL clGetPipeInfo(cl_mem pipe, cl_pipe_info name, size_t cap, void *dst, size_t *size)
{
    (void)pipe;
    (void)name;
    (void)cap;
    (void)dst;
    (void)size;
    return CL_INVALID_MEM_OBJECT;
}
