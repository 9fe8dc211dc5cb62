/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The OpenCL headers as this library includes them, and the dispatch table of the ICD loader.
 *
 * The functions of api/ have the names of the API, so that the compiler checks them against CL/cl.h. These functions
 * are hidden, and reached through the table only. icd/generate makes the table from CL/cl_icd.h, and for every entry a
 * weak function that refuses; a definition in api/ replaces it. Therefore no entry is NULL with any version of the
 * header; a NULL entry crashes the caller in both common loaders.
 */
#ifndef RT_ICD_H
#define RT_ICD_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl_icd.h>

extern const cl_icd_dispatch rt_icd_dispatch;

/** The exported symbols. Declared before their definitions, because one hidden declaration would hide them. */
#define RT_EXPORT __attribute__((visibility("default")))
RT_EXPORT extern __typeof__(clGetPlatformInfo) clGetPlatformInfo;
RT_EXPORT extern __typeof__(clGetExtensionFunctionAddress) clGetExtensionFunctionAddress;
RT_EXPORT extern __typeof__(clGetPlatformIDs) clIcdGetPlatformIDsKHR;

#endif
