// SPDX-License-Identifier: Apache-2.0
// Edges of a photograph: brightness (Rec. 601, in 1/256), then the Sobel gradient |gx| + |gy|, both in integers.

kernel void brightness(global const uchar4 *pixels, global int *grey, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height)
        return;
    uchar4 p = pixels[y * width + x];
    grey[y * width + x] = (77 * p.x + 150 * p.y + 29 * p.z) >> 8;
}

kernel void sobel(global const int *grey, global uchar *edges, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height)
        return;
    int l = max(x - 1, 0), r = min(x + 1, width - 1);
    global const int *up = grey + max(y - 1, 0) * width, *mid = grey + y * width;
    global const int *down = grey + min(y + 1, height - 1) * width;
    int gx = up[r] + 2 * mid[r] + down[r] - up[l] - 2 * mid[l] - down[l];
    int gy = down[l] + 2 * down[x] + down[r] - up[l] - 2 * up[x] - up[r];
    edges[y * width + x] = convert_uchar_sat(abs(gx) + abs(gy));
}
