// SPDX-License-Identifier: Apache-2.0
// Kernels of the contexts of `tern bench sched`. Each kernel changes `data` in place, `turns` times over, in a way
// that depends on nothing else: so a context's memory tells how many of its buffers ran, and that none was
// harmed by what ran in between.

// Arithmetic only.
kernel void arithmetic(global uint *data, uint turns)
{
    size_t i = get_global_id(0);
    uint x = data[i], y = x ^ 0x9e3779b9u;
    for (uint t = 0; t < turns; t++) {
        x = x * 1664525u + 1013904223u;
        y = (y << 5 | y >> 27) + x;
    }
    data[i] = x ^ y;
}

// Memory: each turn reads and writes 16 words that only this work-item touches.
kernel void memory(global uint *data, uint turns)
{
    size_t i = get_global_id(0), n = get_global_size(0);
    for (uint t = 0; t < turns; t++) {
        uint carry = t;
        for (uint k = 0; k < 16; k++) {
            uint x = data[k * n + i] + carry;
            data[k * n + i] = x * 2654435761u;
            carry = x >> 16;
        }
    }
}

// Local memory and barriers: neighbours exchange in each turn.
kernel void exchange(global uint *data, uint turns)
{
    local uint row[64];
    size_t l = get_local_id(0), i = get_global_id(0);
    uint x = data[i];
    for (uint t = 0; t < turns; t++) {
        row[l] = x;
        barrier(CLK_LOCAL_MEM_FENCE);
        x = x * 747796405u + row[(l + 1 + t % 63) % 64];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    data[i] = x;
}

// Divergence: lanes leave their loops at different times.
kernel void branches(global uint *data, uint turns)
{
    size_t i = get_global_id(0);
    uint x = data[i];
    for (uint t = 0; t < turns; t++) {
        uint n = (x >> 7) % 12;
        while (n--)
            x = x & 1 ? x * 3 + 1 : (x >> 1) + 0x10001u * n;
        x += t;
    }
    data[i] = x;
}
