/* SPDX-License-Identifier: Apache-2.0 */
/** The common end of every clGet...Info: hand a value out under the rules for size, destination and size_ret. */
#ifndef RT_INFO_H
#define RT_INFO_H

#include "runtime/core/object.h"

/** Where the answer goes, as the caller of the API said. */
struct rt_answer {
    size_t cap;
    void *dst;
    size_t *size;
};

/** CL_SUCCESS, or CL_INVALID_VALUE if there is a destination and it is too small. */
cl_int rt_answer_bytes(const struct rt_answer *a, const void *data, size_t size);
cl_int rt_answer_string(const struct rt_answer *a, const char *s); /**< NULL is "". */
cl_int rt_answer_uint(const struct rt_answer *a, cl_uint v);
cl_int rt_answer_ulong(const struct rt_answer *a, cl_ulong v);
cl_int rt_answer_size(const struct rt_answer *a, size_t v);
cl_int rt_answer_pointer(const struct rt_answer *a, const void *p);

/** A version as CL_..._NUMERIC_VERSION: one name of a cl_name_version. */
cl_name_version rt_name_version(const char *name, unsigned major, unsigned minor, unsigned patch);

/** Words of a string as an array of names with versions, all of one: major.0.0. */
cl_int rt_answer_names(const struct rt_answer *a, const char *words, unsigned major);

/** Stores an errcode_ret, which may be NULL. */
void rt_error_set(cl_int *errcode_ret, cl_int error);

/** Copies a zero-terminated property list of pairs; *out is malloc'ed, NULL for NULL; *n
 * counts elements with the zero. */
cl_int rt_properties_copy(const cl_ulong *list, cl_ulong **out, size_t *n);

#endif
