/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels with images that are built from this source and from SPIR-V that another compiler made of it
 * (run_image_il.c). */
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_3d_image_writes : enable

constant sampler_t edge = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

/* Reads of images of every type, with samplers of every kind and without, and queries. */
kernel void reads(read_only image1d_t a, read_only image1d_array_t b, read_only image1d_buffer_t c,
                  read_only image2d_t d, read_only image2d_array_t e, read_only image3d_t f, sampler_t s,
                  global float4 *out)
{
    const sampler_t repeat = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_REPEAT | CLK_FILTER_LINEAR;
    const int n = (int)get_global_id(0), size = (int)get_global_size(0);
    const float2 at = (float2)(n, n / 2) * 0.37f - 1.5f;
    float4 sum = read_imagef(a, s, at.x) + read_imagef(b, s, at) * 2 + read_imagef(c, n % get_image_width(c)) * 3;
    sum += read_imagef(d, s, at) * 5 + read_imagef(d, repeat, at) * 7 + read_imagef(d, edge, (int2)(n, 2)) * 11;
    sum += read_imagef(f, s, at.xyxy) * 13 + read_imagef(f, repeat, at.xyxy) * 17;
    const int4 i = read_imagei(e, edge, (int4)(n, 1, n / 3, 0));
    const uint4 u = read_imageui(e, s, at.xyyx);
    out[n] = sum;
    out[size + n] = convert_float4(i);
    out[2 * size + n] = convert_float4(u);
    out[3 * size + n] = (float4)(get_image_width(d), get_image_height(d), get_image_depth(f), get_image_array_size(e));
    out[4 * size + n] = (float4)(get_image_channel_order(d), get_image_channel_data_type(d), get_image_dim(d).y,
                                 get_image_dim(f).z);
}

kernel void writes(write_only image2d_t a, write_only image2d_t b, write_only image2d_t c, write_only image3d_t d,
                   write_only image2d_array_t e)
{
    const int2 at = (int2)(get_global_id(0), get_global_id(1));
    const int4 v = (int4)(at.x * 9 - 40, at.y * 60 - 150, 30000 * at.x, at.x * 9 - 30);
    write_imagef(a, at, convert_float4(v) * 0.01f);
    write_imagei(b, at, v);
    write_imageui(c, at, as_uint4(v));
    write_imagef(d, (int4)(at, at.y & 1, 0), convert_float4(v) * 0.02f);
    write_imagef(e, (int4)(at, at.x & 1, 0), convert_float4(v) * 0.03f);
}
