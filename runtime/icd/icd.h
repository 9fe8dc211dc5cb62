/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The OpenCL headers, as this library sees them, and the dispatch table that the loader calls through.
 *
 * The functions of api/ bear the names of the API itself, so that the compiler checks them against CL/cl.h; they are
 * hidden, and reached only through the table. icd/generate makes the table from CL/cl_icd.h together with a weak
 * function for every entry, which refuses; a definition in api/ takes its place. So no slot is ever NULL, whatever
 * the installed header has: a NULL slot crashes the caller in both common loaders.
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

/** The few symbols that the library exports: said before any definition, since a hidden one anywhere would win. */
#define RT_EXPORT __attribute__((visibility("default")))
RT_EXPORT extern __typeof__(clGetPlatformInfo) clGetPlatformInfo;
RT_EXPORT extern __typeof__(clGetExtensionFunctionAddress) clGetExtensionFunctionAddress;
RT_EXPORT extern __typeof__(clGetPlatformIDs) clIcdGetPlatformIDsKHR;

#endif
