// SPDX-License-Identifier: Apache-2.0
// The kernels that `tern bench` measures: plain OpenCL C, as a user would write them.

kernel void vecadd(global const float *a, global const float *b, global float *c)
{
    size_t i = get_global_id(0);
    c[i] = a[i] + b[i];
}

kernel void saxpy(global const float *x, global float *y, float a)
{
    size_t i = get_global_id(0);
    y[i] = a * x[i] + y[i];
}

kernel void sgemm(global const float *a, global const float *b, global float *c, int n)
{
    int col = get_global_id(0), row = get_global_id(1);
    float sum = 0.0f;
    for (int k = 0; k < n; k++)
        sum = fma(a[row * n + k], b[k * n + col], sum);
    c[row * n + col] = sum;
}

#define TILE 8

kernel void sgemm_tiled(global const float *a, global const float *b, global float *c, int n)
{
    local float as[TILE][TILE], bs[TILE][TILE];
    int x = get_local_id(0), y = get_local_id(1), col = get_global_id(0), row = get_global_id(1);
    float sum = 0.0f;
    for (int t = 0; t < n; t += TILE) {
        as[y][x] = a[row * n + t + x];
        bs[y][x] = b[(t + y) * n + col];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < TILE; k++)
            sum = fma(as[y][k], bs[k][x], sum);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * n + col] = sum;
}

kernel void transpose(global const float *in, global float *out, int n)
{
    local float tile[TILE][TILE + 1];
    int x = get_local_id(0), y = get_local_id(1), bx = get_group_id(0) * TILE, by = get_group_id(1) * TILE;
    tile[y][x] = in[(by + y) * n + bx + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[(bx + y) * n + by + x] = tile[x][y];
}

kernel void reduce(global const uint *in, global uint *out, local uint *part, uint n)
{
    uint sum = 0;
    for (uint i = get_global_id(0); i < n; i += get_global_size(0))
        sum += in[i];
    uint l = get_local_id(0);
    part[l] = sum;
    for (uint s = get_local_size(0) / 2; s; s /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < s)
            part[l] += part[l + s];
    }
    if (l == 0)
        atomic_add(out, part[0]);
}

kernel void histogram(global const uchar *in, global uint *bins, uint n)
{
    local uint mine[256];
    for (uint i = get_local_id(0); i < 256; i += get_local_size(0))
        mine[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_global_id(0); i < n; i += get_global_size(0))
        atomic_inc(&mine[in[i]]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_local_id(0); i < 256; i += get_local_size(0))
        atomic_add(&bins[i], mine[i]);
}

kernel void mandelbrot(global uint *out, float x0, float y0, float step, uint limit)
{
    uint px = get_global_id(0), py = get_global_id(1), n = 0;
    float cx = x0 + px * step, cy = y0 + py * step, x = 0, y = 0;
    while (n < limit && x * x + y * y < 4.0f) {
        float t = fma(x, x, fma(-y, y, cx));
        y = fma(2.0f * x, y, cy);
        x = t;
        n++;
    }
    out[py * get_global_size(0) + px] = n;
}
