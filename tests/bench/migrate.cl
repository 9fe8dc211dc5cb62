// SPDX-License-Identifier: Apache-2.0
// Kernels that run while `tern bench migrate` moves processes.

// Reads much and writes little, until a word of the host ends it: in each step `reads` words of data at random, then
// one word of a hot page, at random too, as all words read so far have it. state: the host's word; steps; the sum.
kernel void serve(global const uint *data, global uint *hot, global uint *state, uint mask, uint pages, uint reads)
{
    uint x = 1, sum = 0, step = 0;
    while (!atomic_or((volatile global uint *)state, 0)) {
        for (uint k = 0; k < reads; k++) {
            x = x * 1664525u + 1013904223u;
            sum += data[x >> 4 & mask];
        }
        hot[(x >> 8) % pages * 1024 + step % 1024] = sum ^ step;
        step++;
        state[1] = step;
    }
    state[2] = sum;
}

// 16 words of each work-item become others: memory tells how often it has run.
kernel void stay(global uint *data)
{
    size_t i = get_global_id(0), n = get_global_size(0);
    uint carry = 0;
    for (uint k = 0; k < 16; k++) {
        uint x = data[k * n + i] + carry;
        data[k * n + i] = x * 2654435761u;
        carry = x >> 16;
    }
}
