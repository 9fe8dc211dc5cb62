/* SPDX-License-Identifier: Apache-2.0 */
#include "image_device.h"

#include <string.h>

static const size_t origin[3] = {0};

cl_kernel image_kernel(const char *text, const char *name)
{
    cl_program p = clt_build(text, "-cl-std=CL3.0");
    cl_kernel k = clCreateKernel(p, name, &clt_error);
    MADE(k);
    OK(clReleaseProgram(p));
    return k;
}

struct image image_make(enum image_kind kind, cl_image_format format, unsigned width, unsigned height, unsigned depth,
                        cl_mem_flags flags)
{
    const struct image_kind_info *info = &image_kinds[kind];
    struct image i = {.kind = kind, .format = format, .size = {width, height, depth}};
    cl_image_desc d = {.image_type = info->object, .image_width = width};
    i.bytes = image_pixel_size(&format) * width * height * depth;
    i.data = calloc(i.bytes, 1);
    assert_non_null(i.data);
    d.image_height = info->dims >= 2 ? height : 0;
    d.image_depth = info->dims == 3 ? depth : 0;
    d.image_array_size = info->array ? depth : 0;
    if (kind == IMAGE_1D_BUFFER) {
        i.buffer = clt_buffer(i.bytes, i.data);
        d.mem_object = i.buffer;
    }
    i.mem = clCreateImage(clt_context, flags, &format, &d, NULL, &clt_error);
    MADE(i.mem);
    image_write(&i);
    return i;
}

void image_free(struct image *i)
{
    OK(clReleaseMemObject(i->mem));
    if (i->buffer != NULL) {
        OK(clReleaseMemObject(i->buffer));
    }
    free(i->data);
}

/** The image's size in the API's order: the layers of a 1-D array are its second dimension. */
static void region_of(const struct image *i, size_t region[3])
{
    const struct image_kind_info *info = &image_kinds[i->kind];
    region[0] = i->size[0];
    region[1] = info->dims == 1 ? i->size[2] : i->size[1];
    region[2] = info->dims == 1 ? 1 : i->size[2];
}

void image_write(const struct image *i)
{
    size_t region[3];
    region_of(i, region);
    OK(clEnqueueWriteImage(clt_queue, i->mem, CL_TRUE, origin, region, 0, 0, i->data, 0, NULL, NULL));
}

void image_fetch(const struct image *i, void *pixels)
{
    size_t region[3];
    region_of(i, region);
    OK(clEnqueueReadImage(clt_queue, i->mem, CL_TRUE, origin, region, 0, 0, pixels, 0, NULL, NULL));
}

void image_arg(cl_kernel k, cl_uint index, const struct image *i)
{
    OK(clSetKernelArg(k, index, sizeof i->mem, &i->mem));
}

void sampler_arg(cl_kernel k, cl_uint index, const struct image_sampler *s)
{
    cl_sampler made = clCreateSampler(clt_context, s->normalized, s->address, s->filter, &clt_error);
    MADE(made);
    OK(clSetKernelArg(k, index, sizeof made, &made));
    OK(clReleaseSampler(made)); /* the kernel keeps its bits */
}
