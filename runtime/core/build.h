/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Builds: compile, link, or both. With a notify function a thread does the work and the call returns at once. Without
 * one the call returns when the work is done. In both cases the program has the result.
 */
#ifndef RT_BUILD_H
#define RT_BUILD_H

#include "runtime/core/program.h"

enum rt_build_step { RT_BUILD, RT_COMPILE, RT_LINK };

struct rt_build_request {
    enum rt_build_step step;
    const char *options;  /**< Options of the build; may be NULL. */
    cl_uint n_inputs;     /**< Number of inputs. RT_LINK: programs; RT_COMPILE: headers. */
    const cl_program *inputs;
    const char **names;   /**< RT_COMPILE: names of the headers. */
    rt_build_notify notify;
    void *data;
};

/** Begins a build. The request may be freed when the call returns. CL_INVALID_OPERATION: a build is under way,
 *  kernel objects exist, the kernels are built-in, or an input of a link is not compiled; CL_BUILD_PROGRAM_FAILURE,
 *  CL_COMPILE_PROGRAM_FAILURE, CL_LINK_PROGRAM_FAILURE; CL_INVALID_..._OPTIONS. */
cl_int rt_build(cl_program p, const struct rt_build_request *request);

#endif
