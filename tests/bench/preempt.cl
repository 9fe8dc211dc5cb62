// SPDX-License-Identifier: Apache-2.0
// Kernels that `tern bench preempt` stops, besides those of kernels.cl: each has something in the middle that must
// survive. What they leave in memory does not depend on the order in which work-items run.

// Lanes that part at every step, and come together late.
kernel void collatz(global uint *out, uint limit)
{
    uint i = get_global_id(0), n = i + 1, steps = 0;
    while (n != 1 && steps < limit) {
        if (n & 1)
            n = 3 * n + 1;
        else
            do {
                n >>= 1;
                steps++;
            } while (!(n & 1) && n);
        steps++;
    }
    out[i] = steps;
}

__attribute__((noinline)) uint mix(uint a, uint b)
{
    return (a ^ b >> 15) * 0x2c1b3c6du + b;
}

__attribute__((noinline)) uint stir(uint a, uint rounds)
{
    for (uint r = 0; r < rounds; r++)
        a = a & 1 ? mix(a, r) : mix(r, a) + 1;
    return a;
}

// Calls in calls, to different depths at a time.
kernel void calls(global uint *out, uint rounds)
{
    uint i = get_global_id(0), a = i;
    for (uint r = 0; r < rounds; r++)
        a = (a >> 3) % 3 == 0 ? mix(a, i) : stir(a, 1 + a % 5);
    out[i] = a;
}

// Private memory: an insertion sort on the stack.
kernel void sort_private(global const uint *in, global uint *out)
{
    uint i = get_global_id(0), v[24];
    for (uint k = 0; k < 24; k++) {
        uint x = in[(i * 24 + k) & 4095], at = k;
        for (; at > 0 && v[at - 1] > x; at--)
            v[at] = v[at - 1];
        v[at] = x;
    }
    for (uint k = 0; k < 24; k++)
        out[i * 24 + k] = v[k];
}

// Atomics in memory, of all kinds, contended; the loop of compare-and-swap as well.
kernel void atomics(global uint *word, uint rounds)
{
    uint i = get_global_id(0);
    for (uint r = 0; r < rounds; r++) {
        uint x = (i + r) * 2654435761u, w = (i * 7 + r) & 63;
        atomic_add(&word[w], x);
        atomic_xor(&word[64 + w], x);
        atomic_max(&word[128 + (x >> 28)], x);
        global uint *hot = &word[192 + (r & 3) * 16];
        uint old = *hot, seen;
        while ((seen = atomic_cmpxchg(hot, old, old * 1u + (i & 3))) != old)
            old = seen;
    }
}

// Groups that wait for each other in a loop, again and again: all of them are resident.
kernel void spin(volatile global uint *gate, global uint *out, uint rounds)
{
    uint groups = get_num_groups(0), sum = 0;
    for (uint r = 1; r <= rounds; r++) {
        if (get_local_id(0) == 0) {
            atomic_inc(gate);
            while (atomic_add(gate, 0) < r * groups)
                sum += 0;
        }
        barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
        sum += r * get_global_id(0);
    }
    out[get_global_id(0)] = sum;
}

// Barriers and local memory: prefix sums.
kernel void scan(global const uint *in, global uint *out, uint rounds)
{
    local uint part[2][64];
    uint l = get_local_id(0), i = get_global_id(0), x = in[i];
    for (uint r = 0; r < rounds; r++) {
        uint from = 0;
        part[0][l] = x;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint s = 1; s < 64; s *= 2) {
            part[!from][l] = part[from][l] + (l >= s ? part[from][l - s] : 0);
            from = !from;
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        x = part[from][63 - l] ^ r;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[i] = x;
}

// A group with half of the local memory.
kernel void shuffle_local(global uint *out, uint rounds)
{
    local uint v[8192];
    uint l = get_local_id(0), n = get_local_size(0), sum = 0;
    for (uint k = l; k < 8192; k += n)
        v[k] = k * 2654435761u + get_group_id(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint r = 0; r < rounds; r++) {
        for (uint k = l; k < 4096; k += n) {
            uint a = v[k], b = v[8191 - k];
            v[k] = b + r;
            v[8191 - k] = a;
            sum += a ^ b;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[get_global_id(0)] = sum + v[l];
}

// Divisions and square roots.
kernel void nbody(global const float4 *at, global float4 *force, uint n)
{
    uint i = get_global_id(0);
    float4 me = at[i], sum = 0;
    for (uint k = 0; k < n; k++) {
        float4 d = at[k] - me;
        float r2 = d.x * d.x + d.y * d.y + d.z * d.z + 0.01f;
        d.w = 0;
        sum += d * (at[k].w / (r2 * sqrt(r2)));
    }
    force[i] = sum;
}

#define QUARTER(a, b, c, d)      \
    a += b, d = rotate(d ^ a, 16u); \
    c += d, b = rotate(b ^ c, 12u); \
    a += b, d = rotate(d ^ a, 8u);  \
    c += d, b = rotate(b ^ c, 7u)

// Nearly all registers in use.
kernel void chacha(global uint *out, uint rounds)
{
    uint i = get_global_id(0);
    uint a = i, b = 1, c = 2, d = 3, e = 4, f = 5, g = 6, h = 7, k = 8, l = 9, m = 10, n = 11, o = 12, p = 13,
        q = 14, r = 15;
    for (uint s = 0; s < rounds; s++) {
        QUARTER(a, e, k, o);
        QUARTER(b, f, l, p);
        QUARTER(c, g, m, q);
        QUARTER(d, h, n, r);
        QUARTER(a, f, m, r);
        QUARTER(b, g, n, o);
        QUARTER(c, h, k, p);
        QUARTER(d, e, l, q);
    }
    out[i] = a + b + c + d + e + f + g + h + k + l + m + n + o + p + q + r;
}

// Loads and stores all over 8 MiB: hardly a translation is found, and a warp has a line for each lane under way.
kernel void gather(global const uint *in, global uint *out, uint rounds)
{
    uint i = get_global_id(0), at = i * 2654435761u, sum = 0;
    for (uint r = 0; r < rounds; r++) {
        at = at * 1664525u + 1013904223u;
        sum += in[at >> 12 & 0xfffff];
        out[i * 512 + r] = sum;
    }
}

// Loads that wait for loads: binary searches.
kernel void search(global const uint *in, global uint *out, uint n, uint rounds)
{
    uint i = get_global_id(0), x = i * 2654435761u, found = 0;
    for (uint r = 0; r < rounds; r++) {
        uint low = 0, high = n;
        while (low < high) {
            uint mid = (low + high) / 2;
            if (in[mid] < x)
                low = mid + 1;
            else
                high = mid;
        }
        found += low;
        x = x * 1664525u + 1013904223u;
    }
    out[i] = found;
}
