// SPDX-License-Identifier: Apache-2.0
// The Mandelbrot set in single precision, a work-item a pixel, with the grain of a film. Each operation is rounded by
// itself, so that any other program that computes in IEEE 754 single precision gets the same picture.
#pragma OPENCL FP_CONTRACT OFF

kernel void mandelbrot(global uchar4 *pixels, int width, float left, float top, float step, int most,
                       global const uint *film, uint film_size)
{
    int px = get_global_id(0), py = get_global_id(1), n = 0;
    float cx = left + (float)px * step, cy = top + (float)py * step, x = 0, y = 0;
    for (; n < most; n++) {
        float xx = x * x, yy = y * y;
        if (xx + yy > 4.0f)
            break;
        y = 2.0f * (x * y) + cy;
        x = (xx - yy) + cx;
    }
    int c = n == most ? 0 : 256 + n;
    uint at = py * width + px, grain = film[at * 2654435761u % film_size];
    pixels[at] = (uchar4)(c * 7, c * 5, c * 11, 255) ^ (uchar4)(grain >> 5 & 7, grain >> 13 & 7, grain >> 21 & 7, 0);
}
