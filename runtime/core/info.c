/* SPDX-License-Identifier: Apache-2.0 */
/** Answers to queries (info.h). */
#include "runtime/core/info.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

cl_int rt_answer_bytes(const struct rt_answer *a, const void *data, size_t size)
{
    if (a->dst != NULL) {
        if (a->cap < size) {
            return CL_INVALID_VALUE;
        }
        if (size != 0) {
            memcpy(a->dst, data, size);
        }
    }
    if (a->size != NULL) {
        *a->size = size;
    }
    return CL_SUCCESS;
}

cl_int rt_answer_string(const struct rt_answer *a, const char *s)
{
    return s == NULL ? rt_answer_bytes(a, "", 1) : rt_answer_bytes(a, s, strlen(s) + 1);
}

cl_int rt_answer_uint(const struct rt_answer *a, cl_uint v)
{
    return rt_answer_bytes(a, &v, sizeof v);
}

cl_int rt_answer_ulong(const struct rt_answer *a, cl_ulong v)
{
    return rt_answer_bytes(a, &v, sizeof v);
}

cl_int rt_answer_size(const struct rt_answer *a, size_t v)
{
    return rt_answer_bytes(a, &v, sizeof v);
}

cl_int rt_answer_pointer(const struct rt_answer *a, const void *p)
{
    return rt_answer_bytes(a, &p, sizeof p);
}

cl_name_version rt_name_version(const char *name, unsigned major, unsigned minor, unsigned patch)
{
    cl_name_version v = {.version = CL_MAKE_VERSION(major, minor, patch)};
    strncpy(v.name, name, sizeof v.name - 1);
    return v;
}

cl_int rt_answer_names(const struct rt_answer *a, const char *words, unsigned major)
{
    char text[1024];
    cl_name_version v[64];
    size_t n = 0;
    char *rest;
    snprintf(text, sizeof text, "%s", words);
    for (char *word = strtok_r(text, " ", &rest); word != NULL && n < sizeof v / sizeof v[0];
         word = strtok_r(NULL, " ", &rest)) {
        v[n++] = rt_name_version(word, major, 0, 0);
    }
    return rt_answer_bytes(a, v, n * sizeof v[0]);
}

void rt_error_set(cl_int *errcode_ret, cl_int error)
{
    if (errcode_ret != NULL) {
        *errcode_ret = error;
    }
}

cl_int rt_properties_copy(const cl_ulong *list, cl_ulong **out, size_t *n)
{
    if (list == NULL) {
        *out = NULL;
        *n = 0;
        return CL_SUCCESS;
    }
    size_t count = 1;
    while (list[count - 1] != 0) {
        count += 2;
    }
    cl_ulong *copy = malloc(count * sizeof *copy);
    if (copy == NULL) {
        return CL_OUT_OF_HOST_MEMORY;
    }
    memcpy(copy, list, count * sizeof *copy);
    *out = copy;
    *n = count;
    return CL_SUCCESS;
}
