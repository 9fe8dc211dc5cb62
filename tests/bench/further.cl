// SPDX-License-Identifier: Apache-2.0
// The further kernels that `tern bench` measures: plain OpenCL C of other kinds of programs, as textbooks and common
// suites write it. They show what the compiler does to programs that were not at hand when it was made.

// The sum of `mine` over a work-group. part has a word for each work-item; the size is a power of two.
float group_sum(float mine, local float *part)
{
    int l = get_local_id(0);
    part[l] = mine;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = get_local_size(0) / 2; s > 0; s /= 2) {
        if (l < s)
            part[l] += part[l + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    float sum = part[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    return sum;
}

float group_max(float mine, local float *part)
{
    int l = get_local_id(0);
    part[l] = mine;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = get_local_size(0) / 2; s > 0; s /= 2) {
        if (l < s)
            part[l] = fmax(part[l], part[l + s]);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    float most = part[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    return most;
}

// A convolution with 3 x 3 weights. Beyond the border the picture is zero.
kernel void conv2d(global const float *in, constant float *weight, global float *out, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1);
    float sum = 0.0f;
    for (int dy = -1; dy <= 1; dy++) {
        for (int dx = -1; dx <= 1; dx++) {
            int sx = x + dx, sy = y + dy;
            if (sx >= 0 && sx < width && sy >= 0 && sy < height)
                sum += in[sy * width + sx] * weight[(dy + 1) * 3 + dx + 1];
        }
    }
    out[y * width + x] = sum;
}

// Each row gets the mean 0 and the variance 1, then a gain and a bias for each column. A row a work-group.
kernel void layernorm(global const float *in, global const float *gain, global const float *bias, global float *out,
                      int n, float epsilon, local float *part)
{
    int l = get_local_id(0), size = get_local_size(0), row = get_group_id(0) * n;
    float sum = 0.0f, squares = 0.0f;
    for (int i = l; i < n; i += size)
        sum += in[row + i];
    float mean = group_sum(sum, part) / n;
    for (int i = l; i < n; i += size) {
        float d = in[row + i] - mean;
        squares += d * d;
    }
    float scale = rsqrt(group_sum(squares, part) / n + epsilon);
    for (int i = l; i < n; i += size)
        out[row + i] = (in[row + i] - mean) * scale * gain[i] + bias[i];
}

// Attention of one head: softmax(q k^T / sqrt(width)) v, a query a work-group. weight has a float for each key.
kernel void attention(global const float *q, global const float *k, global const float *v, global float *out, int keys,
                      int width, local float *weight, local float *part)
{
    int l = get_local_id(0), size = get_local_size(0), query = get_group_id(0);
    float scale = rsqrt((float)width), most = -INFINITY, sum = 0.0f;
    for (int j = l; j < keys; j += size) {
        float dot = 0.0f;
        for (int i = 0; i < width; i++)
            dot += q[query * width + i] * k[j * width + i];
        weight[j] = dot * scale;
        most = fmax(most, weight[j]);
    }
    most = group_max(most, part);
    for (int j = l; j < keys; j += size) {
        weight[j] = exp(weight[j] - most);
        sum += weight[j];
    }
    sum = group_sum(sum, part);
    for (int i = l; i < width; i += size) {
        float value = 0.0f;
        for (int j = 0; j < keys; j++)
            value += weight[j] * v[j * width + i];
        out[query * width + i] = value / sum;
    }
}

// The first half of a step of k-means: the nearest centre of each point. Feature f of point i is points[f * n + i].
kernel void kmeans_assign(global const float *points, global const float *centres, global int *nearest, int n,
                          int clusters, int features)
{
    int i = get_global_id(0), index = 0;
    float least = FLT_MAX;
    for (int c = 0; c < clusters; c++) {
        float distance = 0.0f;
        for (int f = 0; f < features; f++) {
            float d = points[f * n + i] - centres[c * features + f];
            distance += d * d;
        }
        if (distance < least) {
            least = distance;
            index = c;
        }
    }
    nearest[i] = index;
}

// The second half: each centre becomes the mean of its points. A centre a work-group.
kernel void kmeans_centres(global const float *points, global float *centres, global const int *nearest, int n,
                           int features, local float *part)
{
    int l = get_local_id(0), size = get_local_size(0), c = get_group_id(0);
    float mine = 0.0f;
    for (int i = l; i < n; i += size)
        if (nearest[i] == c)
            mine += 1.0f;
    float count = group_sum(mine, part);
    for (int f = 0; f < features; f++) {
        mine = 0.0f;
        for (int i = l; i < n; i += size)
            if (nearest[i] == c)
                mine += points[f * n + i];
        float sum = group_sum(mine, part);
        if (l == 0 && count > 0.0f)
            centres[c * features + f] = sum / count;
    }
}

float2 complex_mul(float2 a, float2 b)
{
    return (float2)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

// A pass of an FFT of radix 4 (Stockham), for transforms of p elements that are done already. turn[m] is
// exp(-2 pi i m / n), where n is four times the number of work-items.
kernel void fft4(global const float2 *in, global float2 *out, global const float2 *turn, int p)
{
    int i = get_global_id(0), quarter = get_global_size(0), k = i & (p - 1), j = 4 * (i - k) + k;
    float2 w1 = turn[k * (quarter / p)], w2 = complex_mul(w1, w1), w3 = complex_mul(w1, w2);
    float2 a = in[i], b = complex_mul(in[i + quarter], w1);
    float2 c = complex_mul(in[i + 2 * quarter], w2), d = complex_mul(in[i + 3 * quarter], w3);
    float2 even = a + c, odd = a - c, sum = b + d, difference = b - d, turned = (float2)(difference.y, -difference.x);
    out[j] = even + sum;
    out[j + p] = odd + turned;
    out[j + 2 * p] = even - sum;
    out[j + 3 * p] = odd - turned;
}

// One round of Floyd and Warshall: the shortest paths between n nodes that pass only nodes up to k. via has the last
// such node of each path.
kernel void floyd_warshall(global int *distance, global int *via, int n, int k)
{
    int x = get_global_id(0), y = get_global_id(1);
    int way = distance[y * n + k] + distance[k * n + x];
    if (way < distance[y * n + x]) {
        distance[y * n + x] = way;
        via[y * n + x] = k;
    }
}

float relax(float f, float omega, float weight, float still, float speed)
{
    return f + omega * (weight * (still + speed * (3.0f + 4.5f * speed)) - f);
}

// One step of a lattice Boltzmann fluid, D2Q9, on n x n cells whose opposite borders meet: each cell takes what flows
// in from its neighbours, and relaxes it. The nine densities are nine planes: at rest; to the east, north, west, south;
// to the north-east, north-west, south-west, south-east.
kernel void lbm(global const float *in, global float *out, int n, float omega)
{
    int x = get_global_id(0), y = get_global_id(1), at = y * n + x, plane = n * n;
    int west = x > 0 ? x - 1 : n - 1, east = x < n - 1 ? x + 1 : 0;
    int south = (y > 0 ? y - 1 : n - 1) * n, north = (y < n - 1 ? y + 1 : 0) * n, here = y * n;
    float f0 = in[at];
    float f1 = in[plane + here + west], f2 = in[2 * plane + south + x];
    float f3 = in[3 * plane + here + east], f4 = in[4 * plane + north + x];
    float f5 = in[5 * plane + south + west], f6 = in[6 * plane + south + east];
    float f7 = in[7 * plane + north + east], f8 = in[8 * plane + north + west];
    float rho = f0 + f1 + f2 + f3 + f4 + f5 + f6 + f7 + f8;
    float ux = (f1 + f5 + f8 - f3 - f6 - f7) / rho, uy = (f2 + f5 + f6 - f4 - f7 - f8) / rho;
    float still = 1.0f - 1.5f * (ux * ux + uy * uy);
    float straight = rho * (1.0f / 9.0f), oblique = rho * (1.0f / 36.0f);
    out[at] = f0 + omega * (rho * (4.0f / 9.0f) * still - f0);
    out[plane + at] = relax(f1, omega, straight, still, ux);
    out[2 * plane + at] = relax(f2, omega, straight, still, uy);
    out[3 * plane + at] = relax(f3, omega, straight, still, -ux);
    out[4 * plane + at] = relax(f4, omega, straight, still, -uy);
    out[5 * plane + at] = relax(f5, omega, oblique, still, ux + uy);
    out[6 * plane + at] = relax(f6, omega, oblique, still, uy - ux);
    out[7 * plane + at] = relax(f7, omega, oblique, still, -ux - uy);
    out[8 * plane + at] = relax(f8, omega, oblique, still, ux - uy);
}

kernel void gather(global const float *table, global const int *index, global float *out)
{
    int i = get_global_id(0);
    out[i] = table[index[i]];
}

constant ulong keccak_constant[12] = {
    0x000000008000808b, 0x800000000000008b, 0x8000000000008089, 0x8000000000008003, 0x8000000000008002,
    0x8000000000000080, 0x000000000000800a, 0x800000008000000a, 0x8000000080008081, 0x8000000000008080,
    0x0000000080000001, 0x8000000080008008};
constant int keccak_turn[24] = {1,  3,  6,  10, 15, 21, 28, 36, 45, 55, 2,  14,
                                27, 41, 56, 8,  25, 43, 62, 18, 39, 61, 20, 44};
constant int keccak_lane[24] = {10, 7,  11, 17, 18, 3, 5,  16, 8,  21, 24, 4,
                                15, 23, 19, 13, 12, 2, 20, 14, 22, 9,  6,  1};

// A level of a Merkle tree: the hash of each pair of hashes by TurboSHAKE128 (RFC 9861), 64 bytes to 32. This takes one
// Keccak-p[1600, 12] a pair.
kernel void keccak_pairs(global const ulong *in, global ulong *hash)
{
    int pair = get_global_id(0);
    ulong s[25], c[5];
    for (int i = 0; i < 25; i++)
        s[i] = i < 8 ? in[8 * pair + i] : 0;
    s[8] = 0x1f;
    s[20] = 1ul << 63;
    for (int round = 0; round < 12; round++) {
        for (int i = 0; i < 5; i++)
            c[i] = s[i] ^ s[i + 5] ^ s[i + 10] ^ s[i + 15] ^ s[i + 20];
        for (int i = 0; i < 5; i++) {
            ulong t = c[(i + 4) % 5] ^ rotate(c[(i + 1) % 5], 1ul);
            for (int j = 0; j < 25; j += 5)
                s[i + j] ^= t;
        }
        ulong moved = s[1];
        for (int i = 0; i < 24; i++) {
            ulong t = s[keccak_lane[i]];
            s[keccak_lane[i]] = rotate(moved, (ulong)keccak_turn[i]);
            moved = t;
        }
        for (int j = 0; j < 25; j += 5) {
            for (int i = 0; i < 5; i++)
                c[i] = s[i + j];
            for (int i = 0; i < 5; i++)
                s[i + j] ^= ~c[(i + 1) % 5] & c[(i + 2) % 5];
        }
        s[0] ^= keccak_constant[round];
    }
    for (int i = 0; i < 4; i++)
        hash[4 * pair + i] = s[i];
}

#define DIGITS 16

// A pass of a radix sort, by the 4 bits from `shift` on. Each work-item has `each` keys in a row. First it counts their
// digits; mine has a word for each digit and work-item of a group.
kernel void radix_count(global const uint *keys, global uint *counts, uint shift, uint each, local uint *mine)
{
    uint i = get_global_id(0), items = get_global_size(0), l = get_local_id(0), size = get_local_size(0);
    for (uint d = 0; d < DIGITS; d++)
        mine[d * size + l] = 0;
    for (uint k = 0; k < each; k++) {
        uint digit = keys[i * each + k] >> shift & (DIGITS - 1);
        mine[digit * size + l]++;
    }
    for (uint d = 0; d < DIGITS; d++)
        counts[d * items + i] = mine[d * size + l];
}

// Then one work-group replaces each of n counts by the sum of all before it. part has a word for each work-item.
kernel void radix_scan(global uint *counts, uint n, local uint *part)
{
    uint l = get_local_id(0), size = get_local_size(0), each = n / size, first = l * each, sum = 0;
    for (uint i = 0; i < each; i++)
        sum += counts[first + i];
    part[l] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint s = 1; s < size; s *= 2) {
        uint other = l >= s ? part[l - s] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        part[l] += other;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    sum = part[l] - sum;
    for (uint i = 0; i < each; i++) {
        uint count = counts[first + i];
        counts[first + i] = sum;
        sum += count;
    }
}

// At last each work-item moves its keys to their places.
kernel void radix_move(global const uint *keys, global uint *sorted, global const uint *counts, uint shift, uint each,
                       local uint *place)
{
    uint i = get_global_id(0), items = get_global_size(0), l = get_local_id(0), size = get_local_size(0);
    for (uint d = 0; d < DIGITS; d++)
        place[d * size + l] = counts[d * items + i];
    for (uint k = 0; k < each; k++) {
        uint key = keys[i * each + k], digit = key >> shift & (DIGITS - 1);
        sorted[place[digit * size + l]++] = key;
    }
}
