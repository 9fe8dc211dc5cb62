/* SPDX-License-Identifier: Apache-2.0 */
/** Edges of a photograph (JPEG): before.png and after.png. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <png.h>

#include "demo.h"

struct jump {
    struct jpeg_error_mgr base;
    jmp_buf back;
    char text[JMSG_LENGTH_MAX];
};

static void jpeg_failed(j_common_ptr c)
{
    struct jump *j = (struct jump *)(void *)c->err;
    c->err->format_message(c, j->text);
    longjmp(j->back, 1);
}

/** RGBA pixels of a JPEG file, malloc'ed, or NULL with a sentence said. */
static uint8_t *load_jpeg(struct demo *d, size_t *width, size_t *height)
{
    struct jpeg_decompress_struct c;
    struct jump j;
    uint8_t *volatile pixels = NULL;
    FILE *f = fopen(d->input, "rb");
    if (!f) {
        demo_fail(d, "cannot open the photograph %s; name another JPEG file with --photo", d->input);
        return NULL;
    }
    c.err = jpeg_std_error(&j.base);
    j.base.error_exit = jpeg_failed;
    if (setjmp(j.back)) {
        demo_fail(d, "%s is no JPEG file that can be read: %s", d->input, j.text);
        free(pixels);
        pixels = NULL;
    } else {
        jpeg_create_decompress(&c);
        jpeg_stdio_src(&c, f);
        jpeg_read_header(&c, TRUE);
        c.out_color_space = JCS_EXT_RGBA;
        jpeg_start_decompress(&c);
        *width = c.output_width;
        *height = c.output_height;
        pixels = malloc(*width * *height * 4);
        while (pixels && c.output_scanline < c.output_height) {
            JSAMPROW row = pixels + c.output_scanline * *width * 4;
            jpeg_read_scanlines(&c, &row, 1);
        }
    }
    jpeg_destroy_decompress(&c);
    fclose(f);
    return pixels;
}

static void save_png(struct demo *d, const char *name, const uint8_t *pixels, size_t width, size_t height,
                     uint32_t format)
{
    char path[4096];
    png_image image = {.version = PNG_IMAGE_VERSION, .width = (uint32_t)width, .height = (uint32_t)height,
                       .format = format};
    snprintf(path, sizeof path, "%s/%s", d->output, name);
    if (d->ok && !png_image_write_to_file(&image, path, 0, pixels, 0, NULL)) {
        demo_fail(d, "cannot write %s: %s", path, image.message);
    }
}

void demo_edges(struct demo *d)
{
    size_t width = 0, height = 0;
    uint8_t *pixels = load_jpeg(d, &width, &height);
    const size_t n = width * height;
    const cl_int w = (cl_int)width, h = (cl_int)height;
    uint8_t *edges = calloc(n + 1, 1);
    cl_kernel grey_kernel = demo_kernel(d, "brightness"), sobel = demo_kernel(d, "sobel");
    cl_mem in = demo_buffer(d, n * 4, pixels), grey = demo_buffer(d, n * 4, NULL), out = demo_buffer(d, n, NULL);
    const size_t local[2] = {64, 4}, global[2] = {(width + 63) / 64 * 64, (height + 3) / 4 * 4};
    demo_args(d, grey_kernel, sizeof in, &in, sizeof grey, &grey, sizeof w, &w, sizeof h, &h, (size_t)0);
    demo_args(d, sobel, sizeof grey, &grey, sizeof out, &out, sizeof w, &w, sizeof h, &h, (size_t)0);
    demo_run(d, grey_kernel, 2, global, local);
    demo_run(d, sobel, 2, global, local);
    demo_read(d, out, n, edges);
    save_png(d, "before.png", pixels, width, height, PNG_FORMAT_RGBA);
    save_png(d, "after.png", edges, width, height, PNG_FORMAT_GRAY);
    if (d->ok) {
        snprintf(d->result, sizeof d->result, "%zu x %zu pixels", width, height);
    }
    free(pixels);
    free(edges);
}
