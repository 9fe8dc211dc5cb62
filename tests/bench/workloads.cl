// SPDX-License-Identifier: Apache-2.0
// Further kernels that `tern bench` measures: plain OpenCL C, as a user would write them.

kernel void empty(void)
{
}

kernel void copy4(global const float4 *in, global float4 *out)
{
    size_t i = get_global_id(0);
    out[i] = in[i];
}

kernel void saxpy4(global const float4 *x, global float4 *y, float a)
{
    size_t i = get_global_id(0);
    y[i] = a * x[i] + y[i];
}

#define SIDE 32
#define DEPTH 16

// C = A B in tiles of 32 x 32 by groups of 8 x 8 work-items, 4 x 4 elements each.
kernel void sgemm_4x4(global const float *a, global const float *b, global float *c, int n)
{
    local float as[DEPTH][SIDE + 1], bs[DEPTH][SIDE];
    int x = get_local_id(0), y = get_local_id(1), l = y * 8 + x;
    int row = get_group_id(1) * SIDE, col = get_group_id(0) * SIDE;
    float sum[4][4] = {{0}};
    for (int t = 0; t < n; t += DEPTH) {
        for (int i = l; i < SIDE * DEPTH; i += 64) {
            as[i % DEPTH][i / DEPTH] = a[(row + i / DEPTH) * n + t + i % DEPTH];
            bs[i / SIDE][i % SIDE] = b[(t + i / SIDE) * n + col + i % SIDE];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < DEPTH; k++)
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++)
                    sum[i][j] = fma(as[k][y * 4 + i], bs[k][x + j * 8], sum[i][j]);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            c[(row + y * 4 + i) * n + col + x + j * 8] = sum[i][j];
}

// y = A x, a row a work-item.
kernel void sgemv(global const float *a, global const float *x, global float *y, int n)
{
    int row = get_global_id(0);
    float sum = 0.0f;
    for (int k = 0; k < n; k++)
        sum = fma(a[row * n + k], x[k], sum);
    y[row] = sum;
}

// y = A x of a sparse matrix in compressed rows, a row a work-item: row r has elements start[r] to start[r + 1] - 1.
kernel void spmv(global const uint *start, global const uint *column, global const float *value, global const float *x,
                 global float *y)
{
    uint row = get_global_id(0), end = start[row + 1];
    float sum = 0.0f;
    for (uint i = start[row]; i < end; i++)
        sum = fma(value[i], x[column[i]], sum);
    y[row] = sum;
}

// A row a work-group; part has a float for each work-item.
kernel void softmax(global const float *in, global float *out, int n, local float *part)
{
    int l = get_local_id(0), size = get_local_size(0), row = get_group_id(0) * n;
    float most = -INFINITY, sum = 0.0f;
    for (int i = l; i < n; i += size)
        most = fmax(most, in[row + i]);
    part[l] = most;
    for (int s = size / 2; s; s /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < s)
            part[l] = fmax(part[l], part[l + s]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    most = part[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = l; i < n; i += size) {
        float e = exp(in[row + i] - most);
        out[row + i] = e;
        sum += e;
    }
    part[l] = sum;
    for (int s = size / 2; s; s /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < s)
            part[l] += part[l + s];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    float scale = 1.0f / part[0];
    for (int i = l; i < n; i += size)
        out[row + i] *= scale;
}

// One step of heat on a plate of n x n, whose border stays.
kernel void stencil(global const float *in, global float *out, int n, float keep, float take)
{
    int x = get_global_id(0), y = get_global_id(1), i = y * n + x;
    float here = in[i];
    if (x > 0 && y > 0 && x < n - 1 && y < n - 1)
        here = fma(take, (in[i - n] + in[i + n]) + (in[i - 1] + in[i + 1]), keep * here);
    out[i] = here;
}

// The mean of the 27 cells around each of n x n x n; beyond the border its cells are repeated.
kernel void stencil3d(global const float *in, global float *out, int n)
{
    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    float sum = 0.0f;
    for (int dz = -1; dz <= 1; dz++)
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++)
                sum += in[(clamp(z + dz, 0, n - 1) * n + clamp(y + dy, 0, n - 1)) * n + clamp(x + dx, 0, n - 1)];
    out[(z * n + y) * n + x] = sum * (1.0f / 27.0f);
}

// Gravity between n bodies: place and mass in, force for each unit of mass out.
kernel void nbody(global const float4 *body, global float4 *force, int n)
{
    int i = get_global_id(0);
    float3 me = body[i].xyz, sum = 0.0f;
    for (int k = 0; k < n; k++) {
        float4 other = body[k];
        float3 d = other.xyz - me;
        float near = rsqrt(fma(d.x, d.x, fma(d.y, d.y, fma(d.z, d.z, 0.01f))));
        float pull = other.w * near * near * near;
        sum = fma(d, pull, sum);
    }
    force[i] = (float4)(sum, 0.0f);
}

// Prefix sums in blocks of four words a work-item: what is before each word in its block, and each block's sum. part
// has a word for each work-item.
kernel void scan_blocks(global const uint *in, global uint *out, global uint *sums, local uint *part)
{
    uint l = get_local_id(0), i = get_global_id(0);
    uint4 v = vload4(i, in);
    v.y += v.x;
    v.z += v.y;
    v.w += v.z;
    uint sum = v.w;
    part[l] = sum;
    for (uint s = 1; s < get_local_size(0); s *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        uint other = l >= s ? part[l - s] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += other;
        part[l] = sum;
    }
    vstore4((uint4)(0, v.xyz) + (sum - v.w), i, out);
    if (l == get_local_size(0) - 1)
        sums[get_group_id(0)] = sum;
}

// Adds to each block what is before it.
kernel void scan_add(global const uint *before, global uint *out)
{
    uint i = get_global_id(0);
    vstore4(vload4(i, out) + before[get_group_id(0)], i, out);
}

// Bitonic sort: the merges of sequences of `first` to `last` keys, as far as they stay within a block of two keys a
// work-item. part has two words for each work-item.
kernel void bitonic_local(global uint *keys, uint first, uint last, local uint *part)
{
    uint l = get_local_id(0), size = get_local_size(0), base = get_group_id(0) * 2 * size;
    part[l] = keys[base + l];
    part[l + size] = keys[base + l + size];
    for (uint k = first; k <= last; k *= 2) {
        for (uint j = min(k / 2, size); j; j /= 2) {
            barrier(CLK_LOCAL_MEM_FENCE);
            uint i = 2 * l - (l & (j - 1)), a = part[i], b = part[i + j];
            bool up = ((base + i) & k) == 0;
            part[i] = up ? min(a, b) : max(a, b);
            part[i + j] = up ? max(a, b) : min(a, b);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    keys[base + l] = part[l];
    keys[base + l + size] = part[l + size];
}

// One step of a merge of k keys, with a distance of j, a power of two.
kernel void bitonic_step(global uint *keys, uint k, uint j)
{
    uint l = get_global_id(0), i = 2 * l - (l & (j - 1)), a = keys[i], b = keys[i + j];
    bool up = (i & k) == 0;
    keys[i] = up ? min(a, b) : max(a, b);
    keys[i + j] = up ? max(a, b) : min(a, b);
}
