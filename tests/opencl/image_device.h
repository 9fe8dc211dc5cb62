/* SPDX-License-Identifier: Apache-2.0 */
/** Images and samplers of the reference on the device. */
#ifndef IMAGE_DEVICE_H
#define IMAGE_DEVICE_H

#include "image_reference.h"

/** The kernel `name` of a program in OpenCL C 3.0. */
cl_kernel image_kernel(const char *text, const char *name);
/** Creates an image of this size, whose pixels are zeros. */
struct image image_make(enum image_kind kind, cl_image_format format, unsigned width, unsigned height, unsigned depth,
                        cl_mem_flags flags);
void image_free(struct image *i);
/** Copies the pixels to the device, or from there. */
void image_write(const struct image *i);
void image_fetch(const struct image *i, void *pixels);
void image_arg(cl_kernel k, cl_uint index, const struct image *i);
void sampler_arg(cl_kernel k, cl_uint index, const struct image_sampler *s);

#endif
