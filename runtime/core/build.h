/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Building: compile, link, both. With a notify function the work is done by a thread of its own and the call returns at
 * once, else before the call returns; the outcome is in the program in either case.
 */
#ifndef RT_BUILD_H
#define RT_BUILD_H

#include "runtime/core/program.h"

enum rt_build_step { RT_BUILD, RT_COMPILE, RT_LINK };

struct rt_build_request {
    enum rt_build_step step;
    const char *options;  /**< May be NULL. */
    cl_uint n_inputs;     /**< RT_LINK: programs; RT_COMPILE: headers. */
    const cl_program *inputs;
    const char **names;   /**< RT_COMPILE: of the headers. */
    rt_build_notify notify;
    void *data;
};

/** CL_INVALID_OPERATION: a build is under way, or kernels exist, or are built-in, or an input of a link is not
 * compiled; CL_BUILD/COMPILE/LINK_..._FAILURE, CL_INVALID_..._OPTIONS. */
cl_int rt_build(cl_program p, const struct rt_build_request *request);

#endif
