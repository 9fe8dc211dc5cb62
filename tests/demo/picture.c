/* SPDX-License-Identifier: Apache-2.0 */
/**
 * An ordinary OpenCL program that computes a picture, a band of rows after the other, and prints its progress. While it
 * runs, scripts/demo migrates it to another device, with its 64 MiB of device memory. The program has no code for that.
 *
 *     tern-picture FOLDER-OF-KERNELS WIDTH HEIGHT ITERATIONS FILE.png
 *
 * Prints "row N of HEIGHT" when the rows before N are there. Exit: 0 done; 1 a call failed, and stderr says which;
 * 2 wrong usage.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <CL/cl.h>
#include <png.h>

#define BANDS 16u
#define NOISE_WORDS (1u << 24) /* 64 MiB */

static void check(cl_int error, const char *what)
{
    if (error != CL_SUCCESS) {
        fprintf(stderr, "tern-picture: %s: OpenCL error %d\n", what, error);
        exit(1);
    }
}

static cl_program build(cl_context context, cl_device_id device, const char *folder)
{
    char path[4096];
    static char text[65536];
    const char *source = text;
    snprintf(path, sizeof path, "%s/picture.cl", folder);
    FILE *f = fopen(path, "rb");
    if (!f || !fread(text, 1, sizeof text - 1, f)) {
        fprintf(stderr, "tern-picture: cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
    cl_int error;
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
    check(error, "clCreateProgramWithSource");
    error = clBuildProgram(program, 1, &device, "", NULL, NULL);
    if (error) {
        static char log[65536];
        clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
        fprintf(stderr, "%s\n", log);
    }
    check(error, "clBuildProgram");
    return program;
}

/** Random words, with which the kernel changes the colours as the grain of a film does. No two pages are the same. */
static cl_mem make_noise(cl_context context)
{
    cl_int error;
    cl_uint *word = malloc(NOISE_WORDS * sizeof *word), x = 1;
    check(word ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY, "the noise");
    for (size_t i = 0; i < NOISE_WORDS; i++) {
        word[i] = x = x * 1664525u + 1013904223u;
    }
    cl_mem noise = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, NOISE_WORDS * sizeof *word, word,
                                  &error);
    check(error, "clCreateBuffer");
    free(word);
    return noise;
}

int main(int argc, char **argv)
{
    const cl_int width = argc == 6 ? atoi(argv[2]) : 0, height = argc == 6 ? atoi(argv[3]) : 0;
    const cl_int iterations = argc == 6 ? atoi(argv[4]) : 0;
    if (width < 1 || height < 1 || width > 8192 || height > 8192 || iterations < 1) {
        fprintf(stderr, "usage: tern-picture FOLDER-OF-KERNELS WIDTH HEIGHT ITERATIONS FILE.png (at most 8192 pixels a "
                        "side)\n");
        return 2;
    }
    cl_platform_id platform;
    cl_device_id device;
    cl_int error;
    check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    check(error, "clCreateContext");
    cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, NULL, &error);
    check(error, "clCreateCommandQueueWithProperties");
    cl_program program = build(context, device, argv[1]);
    cl_kernel kernel = clCreateKernel(program, "mandelbrot", &error);
    check(error, "clCreateKernel");
    const size_t bytes = (size_t)width * (size_t)height * 4;
    cl_mem pixels = clCreateBuffer(context, CL_MEM_WRITE_ONLY, bytes, NULL, &error);
    check(error, "clCreateBuffer");
    cl_mem noise = make_noise(context);

    const cl_uint noise_words = NOISE_WORDS;
    const cl_float step = 3.0f / (cl_float)width, left = -2.25f, top = -0.5f * step * (cl_float)height;
    check(clSetKernelArg(kernel, 0, sizeof pixels, &pixels) | clSetKernelArg(kernel, 1, sizeof width, &width) |
          clSetKernelArg(kernel, 2, sizeof left, &left) | clSetKernelArg(kernel, 3, sizeof top, &top) |
          clSetKernelArg(kernel, 4, sizeof step, &step) | clSetKernelArg(kernel, 5, sizeof iterations, &iterations) |
          clSetKernelArg(kernel, 6, sizeof noise, &noise) | clSetKernelArg(kernel, 7, sizeof noise_words, &noise_words),
          "clSetKernelArg");
    cl_event band[BANDS];
    for (size_t i = 0; i < BANDS; i++) { /* all are queued, and migrate with the program */
        const size_t at[2] = {0, (size_t)height * i / BANDS};
        const size_t size[2] = {(size_t)width, (size_t)height * (i + 1) / BANDS - at[1]};
        band[i] = NULL;
        if (size[1]) {
            check(clEnqueueNDRangeKernel(queue, kernel, 2, at, size, NULL, 0, NULL, &band[i]),
                  "clEnqueueNDRangeKernel");
        }
    }
    check(clFlush(queue), "clFlush");
    for (size_t i = 0; i < BANDS; i++) {
        if (band[i]) {
            check(clWaitForEvents(1, &band[i]), "clWaitForEvents");
            check(clReleaseEvent(band[i]), "clReleaseEvent");
        }
        printf("row %zu of %d\n", (size_t)height * (i + 1) / BANDS, height);
        fflush(stdout);
    }
    unsigned char *data = malloc(bytes);
    check(data ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY, "the picture");
    check(clEnqueueReadBuffer(queue, pixels, CL_TRUE, 0, bytes, data, 0, NULL, NULL), "clEnqueueReadBuffer");
    png_image image = {.version = PNG_IMAGE_VERSION, .width = (png_uint_32)width, .height = (png_uint_32)height,
                       .format = PNG_FORMAT_RGBA};
    if (!png_image_write_to_file(&image, argv[5], 0, data, 0, NULL)) {
        fprintf(stderr, "tern-picture: %s: %s\n", argv[5], image.message);
        return 1;
    }
    free(data);
    clReleaseMemObject(pixels);
    clReleaseMemObject(noise);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return 0;
}
