// SPDX-License-Identifier: Apache-2.0
// Sums of the rows of a matrix with n rows and n columns; and of its columns. docs/kernels.md explains them.

kernel void rows(global const float *restrict a, global float *restrict sum, int n)
{
    int i = get_global_id(0);
    float s = 0;
    for (int k = 0; k < n; k++)
        s += a[i * n + k];
    sum[i] = s;
}

kernel void columns(global const float *restrict a, global float *restrict sum, int n)
{
    int i = get_global_id(0);
    float s = 0;
    for (int k = 0; k < n; k++)
        s += a[k * n + i];
    sum[i] = s;
}
