/* SPDX-License-Identifier: Apache-2.0 */
/** A context that notes what the runtime reports, and a check of refused calls with their texts. */
#ifndef REFUSED_H
#define REFUSED_H

#include "clt.h"

#include <stdio.h>
#include <string.h>

static char told[1024]; /**< The last text that the runtime has reported. */
static cl_context context;
static cl_command_queue queue;

static void CL_CALLBACK tell(const char *text, const void *info, size_t size, void *data)
{
    (void)info;
    (void)size;
    (void)data;
    snprintf(told, sizeof told, "%s", text);
}

static int open_context(void **state)
{
    clt_open(state);
    context = clCreateContext(NULL, 1, &clt_device, tell, NULL, &clt_error);
    MADE(context);
    queue = clCreateCommandQueue(context, clt_device, 0, &clt_error);
    MADE(queue);
    return 0;
}

static int close_context(void **state)
{
    OK(clReleaseCommandQueue(queue));
    OK(clReleaseContext(context));
    return clt_close(state);
}

/** The error is the expected one, and the text contains this part, or there is no text if `part` is NULL. */
static inline void told_is(cl_int got, cl_int want, const char *part)
{
    FAILS(got, want);
    if (part == NULL ? told[0] != '\0' : strstr(told, part) == NULL) {
        fail_msg("told '%s', expected '%s'", told, part == NULL ? "nothing" : part);
    }
    told[0] = '\0';
}

/** The call that makes an object has failed with this error and text. */
static inline void refused(const void *object, cl_int error, const char *part)
{
    assert_null(object);
    told_is(clt_error, error, part);
}

#endif
