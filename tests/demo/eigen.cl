// SPDX-License-Identifier: Apache-2.0
// Power iteration on a sparse symmetric matrix in CSR form: y = A x, then x = y / |y| and the
// Rayleigh quotient x.Ax / x.x.

kernel void spmv(global const int *row, global const int *col, global const float *value, global const float *x,
                 global float *y, int n)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    float sum = 0.0f;
    for (int j = row[i]; j < row[i + 1]; j++)
        sum = fma(value[j], x[col[j]], sum);
    y[i] = sum;
}

kernel void normalise(global float *x, global const float *y, global float *lambda, int n)
{
    local float xy[256], xx[256], yy[256];
    int l = get_local_id(0);
    xy[l] = xx[l] = yy[l] = 0.0f;
    for (int i = l; i < n; i += 256) {
        xy[l] += x[i] * y[i];
        xx[l] += x[i] * x[i];
        yy[l] += y[i] * y[i];
    }
    for (int s = 128; s; s /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < s) {
            xy[l] += xy[l + s];
            xx[l] += xx[l + s];
            yy[l] += yy[l + s];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    float scale = rsqrt(yy[0]);
    for (int i = l; i < n; i += 256)
        x[i] = y[i] * scale;
    if (l == 0)
        *lambda = xy[0] / xx[0];
}
