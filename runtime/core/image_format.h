/* SPDX-License-Identifier: Apache-2.0 */
/** Formats of images: which there are, and what kernels can do with them. runtime/device/image.h has how their pixels
 *  are stored. */
#ifndef RT_IMAGE_FORMAT_H
#define RT_IMAGE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

#include "runtime/icd/icd.h"

#define RT_FORMATS_MAX 128u     /**< More than the number of formats. */
#define RT_FORMAT_NAME_BYTES 64u /**< Bytes of the longest name of a format, with its end. */

/** True: the specification allows these two values together, whether the device has the format or not. */
bool rt_image_format_valid(const cl_image_format *f);
/** True: images of this type can have the format if the application creates them with these flags. Flags without a kind
 *  of access stand for CL_MEM_READ_WRITE. CL_MEM_KERNEL_READ_AND_WRITE: one kernel may do both. */
bool rt_image_format_has(const cl_image_format *f, cl_mem_object_type type, cl_mem_flags flags);
/** Stores all formats for which rt_image_format_has is true, and returns their number. */
size_t rt_image_format_list(cl_mem_object_type type, cl_mem_flags flags, cl_image_format out[RT_FORMATS_MAX]);
/** Writes "CL_RGBA of CL_UNORM_INT8", with numbers in place of unknown values. Returns text. */
const char *rt_image_format_name(const cl_image_format *f, char text[RT_FORMAT_NAME_BYTES]);
/** True: the value is the type of an image. */
bool rt_image_type_is(cl_mem_object_type type);

#endif
