/* SPDX-License-Identifier: Apache-2.0 */
/** The result of a clGet...Info call, under the rules for size, destination and size_ret. */
#ifndef RT_INFO_H
#define RT_INFO_H

#include "runtime/core/object.h"

/** Destination of an answer, as the application gave it. */
struct rt_answer {
    size_t cap;   /**< Bytes at dst. */
    void *dst;    /**< May be NULL. */
    size_t *size; /**< Gets the bytes of the answer; may be NULL. */
};

/** Store an answer. CL_INVALID_VALUE: the destination is not NULL and too small. */
cl_int rt_answer_bytes(const struct rt_answer *a, const void *data, size_t size);
cl_int rt_answer_string(const struct rt_answer *a, const char *s); /**< NULL stands for "". */
cl_int rt_answer_uint(const struct rt_answer *a, cl_uint v);
cl_int rt_answer_ulong(const struct rt_answer *a, cl_ulong v);
cl_int rt_answer_size(const struct rt_answer *a, size_t v);
cl_int rt_answer_pointer(const struct rt_answer *a, const void *p);

/** A cl_name_version with a version of CL_..._NUMERIC_VERSION. */
cl_name_version rt_name_version(const char *name, unsigned major, unsigned minor, unsigned patch);

/** Stores the words of a string as an array of cl_name_version, all with version major.0.0. */
cl_int rt_answer_names(const struct rt_answer *a, const char *words, unsigned major);

/** Stores an errcode_ret, which may be NULL. */
void rt_error_set(cl_int *errcode_ret, cl_int error);

/** Copies a zero-terminated list of property pairs. *out is malloc'ed, or NULL if list is NULL; *n counts the
 *  elements including the zero. */
cl_int rt_properties_copy(const cl_ulong *list, cl_ulong **out, size_t *n);

#endif
