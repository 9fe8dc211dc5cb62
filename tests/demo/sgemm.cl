// SPDX-License-Identifier: Apache-2.0
// C = A B for n x n matrices of any n, in tiles of local memory.

#define TILE 16

kernel void sgemm(global const float *a, global const float *b, global float *c, int n)
{
    local float as[TILE][TILE], bs[TILE][TILE];
    int x = get_local_id(0), y = get_local_id(1), col = get_global_id(0), row = get_global_id(1);
    float sum = 0.0f;
    for (int t = 0; t < n; t += TILE) {
        as[y][x] = row < n && t + x < n ? a[row * n + t + x] : 0.0f;
        bs[y][x] = t + y < n && col < n ? b[(t + y) * n + col] : 0.0f;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < TILE; k++)
            sum = fma(as[y][k], bs[k][x], sum);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (row < n && col < n)
        c[row * n + col] = sum;
}
