/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Kernels for `tern verify --kind preempt`. Each depends on another part of the state that a stop saves. The memory
 * that they leave must not depend on the order of work-items. All have the same arguments: words to read, words to
 * write (zero at first), and a number.
 */
#define MOST 64 /* work-items of a group, at most */

__kernel void divergence(__global const uint *in, __global uint *out, uint turns)
{
    size_t i = get_global_id(0);
    uint v = in[i];
    for (uint k = 0; k < (v & 7) + turns; k++) {
        if (v >> k & 1) {
            v = v * 5 + k;
        } else if (v & 64) {
            v ^= v << 3;
        } else {
            v += 7;
        }
    }
    out[i] = v;
}

__kernel void barriers(__global const uint *in, __global uint *out, uint unused)
{
    __local uint tile[MOST];
    uint l = get_local_id(0);
    tile[l] = in[get_global_id(0)];
    for (uint k = get_local_size(0) / 2; k; k /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < k) {
            tile[l] += tile[l + k];
        }
    }
    if (l == 0) {
        out[get_group_id(0)] = tile[0];
    }
}

__kernel void locals(__global const uint *in, __global uint *out, uint turns)
{
    __local uchar bytes[8 * MOST];
    __local uint words[MOST];
    uint l = get_local_id(0), n = get_local_size(0), v = in[get_global_id(0)];
    for (uint k = 0; k < 8; k++) {
        bytes[l + k * n] = (uchar)(l + k);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < turns; k++) {
        bytes[(l * 5 + k * n) % (8 * n)] = (uchar)(v >> k * 8 % 32);
        words[(l + k) % n] = v + k;
        barrier(CLK_LOCAL_MEM_FENCE);
        v = v * 3 + words[n - 1 - l] + bytes[(n - l) * 5 % (8 * n)] + bytes[l];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[get_global_id(0)] = v;
}

__kernel void atomics(__global const uint *in, volatile __global uint *out, uint unused)
{
    volatile __local uint count[8];
    uint v = in[get_global_id(0)], l = get_local_id(0);
    if (l < 8) {
        count[l] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&count[v & 7], v >> 4);
    atomic_max(&out[8 + (v & 3)], v);
    atomic_xor(&out[16 + (v & 15)], v);
    uint old, seen = out[40];
    do {
        old = seen;
        seen = atomic_cmpxchg(&out[40], old, old + (v & 0xff));
    } while (seen != old);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 8) {
        atomic_add(&out[l], count[l]);
    }
}

/** Compare-and-swap on words that each work-item has alone, four at a time of which none waits for another, in global
 *  and in local memory. Each lane compares with the word's value, or with that value with one bit changed; the bit's
 *  position differs by lane and round. If there are few work-items, each word has a line of memory of its own, so that
 *  there are many requests, and some still wait when a stop ends. */
__kernel void swaps(__global const uint *in, volatile __global uint *out, uint turns)
{
    volatile __local uint words[4 * MOST];
    size_t i = get_global_id(0), n = get_global_size(0), apart = n <= 128 ? 16 : 1;
    uint l = get_local_id(0), size = get_local_size(0), v = in[i], sum = 0, there[8], expect[8], old[8];
    for (uint k = 0; k < 4; k++) {
        there[k] = 0;
        there[4 + k] = words[k * size + l] = v ^ k;
    }
    for (uint turn = 0; turn < turns; turn++) {
        for (uint k = 0; k < 8; k++) {
            uint one = 1u << (l * 5 + k * 4 + turn * 13) % 32;
            expect[k] = there[k] ^ (l + k + turn & 1 ? one : 0);
        }
        for (uint k = 0; k < 4; k++) {
            old[k] = atomic_cmpxchg(&out[((1 + k) * n + i) * apart], expect[k], v + k);
        }
        for (uint k = 4; k < 8; k++) {
            old[k] = atomic_cmpxchg(&words[(k - 4) * size + l], expect[k], v + k);
        }
        for (uint k = 0; k < 8; k++) {
            sum = sum * 3 + old[k];
            there[k] = old[k] == expect[k] ? v + k : old[k];
        }
        v = v * 5 + turn;
    }
    for (uint k = 4; k < 8; k++) {
        sum = sum * 3 + words[(k - 4) * size + l];
    }
    out[i] = sum;
}

__kernel void floats(__global const uint *in, __global uint *out, uint turns)
{
    size_t i = get_global_id(0);
    float x = (float)(in[i] & 0xffff) * 0.37f, y = 1.5f;
    for (uint k = 0; k < turns; k++) {
        y = fma(x, 1.0001f, y);
        x = x / (y + 3.0f) + sqrt(y);
    }
    out[2 * i] = as_uint(x);
    out[2 * i + 1] = (uint)(int)y;
}

/** A recursion to a depth that each work-item's data gives, in assembly, because the compiler would inline any call
 *  that is short enough for a test. A level takes 16 bytes of stack. */
__kernel void calls(__global const uint *in, __global uint *out, uint unused)
{
    size_t i = get_global_id(0);
    uint v = in[i], level = 1 + (v & 3), saved, link;
    __asm__ volatile("    mv %3, ra\n"
                     "    jal ra, 1f\n"
                     "    j 3f\n"
                     "1:  addi sp, sp, -16\n"
                     "    sw ra, 0(sp)\n"
                     "    sw %0, 4(sp)\n"
                     "    addi %1, %1, -1\n"
                     "    beqz %1, 2f\n"
                     "    slli %0, %0, 1\n"
                     "    jal ra, 1b\n"
                     "2:  lw %2, 4(sp)\n"
                     "    add %0, %0, %2\n"
                     "    lw ra, 0(sp)\n"
                     "    addi sp, sp, 16\n"
                     "    ret\n"
                     "3:  mv ra, %3\n"
                     : "+r"(v), "+r"(level), "=&r"(saved), "=&r"(link) : : "memory");
    out[i] = v;
}

__kernel void stack(__global const uint *in, __global uint *out, uint turns)
{
    size_t i = get_global_id(0);
    uint a[16], v = in[i];
    for (uint k = 0; k < 16; k++) {
        a[k] = v ^ k * 0x01010101u;
    }
    for (uint k = 0; k < turns; k++) {
        a[v & 15] += a[(v >> 4) & 15] + k;
        v = v * 13 + a[k & 15];
    }
    out[i] = v;
}

/** A lock by lr and sc around a sum that is not atomic. */
__kernel void lock(__global const uint *in, volatile __global uint *out, uint unused)
{
    uint v = in[get_global_id(0)] & 0xff;
    for (bool done = false; !done;) {
        uint old, failed = 1;
        __asm__ volatile("lr.w %0, (%1)" : "=r"(old) : "r"(&out[0]) : "memory");
        if (old == 0) {
            __asm__ volatile("sc.w %0, %1, (%2)" : "=&r"(failed) : "r"(1u), "r"(&out[0]) : "memory");
        }
        if (!failed) {
            out[16] += v;
            out[32] ^= v;
            atomic_xchg(&out[0], 0);
            done = true;
        }
    }
}

__kernel void bytes(__global const uint *in, __global uint *out, uint turns)
{
    size_t i = get_global_id(0);
    __global const uchar *from = (__global const uchar *)in;
    __global const short *halves = (__global const short *)in;
    __global uchar *to = (__global uchar *)out;
    for (uint k = 0; k < turns; k++) {
        to[i * turns + k] = from[i * 3 + k] + (uchar)halves[i * 5 + k];
    }
}

__kernel void partial(__global const uint *in, __global uint *out, uint unused)
{
    size_t x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    size_t i = (z * get_global_size(1) + y) * get_global_size(0) + x;
    out[i] = in[i] * (uint)get_local_size(0) +
             (uint)(get_local_size(1) * 100 + get_local_size(2) * 10000 + get_group_id(0));
}

__kernel void many(__global const uint *in, __global uint *out, uint unused)
{
    __local uint tile[MOST];
    uint l = get_local_id(0);
    tile[l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = tile[get_local_size(0) - 1 - l] + (uint)get_group_id(0);
}

/** Dependent reads all over the input, then so many independent reads that some have not begun when a stop ends. The
 *  number of words is a power of two. */
__kernel void gather(__global const uint *in, __global uint *out, uint words)
{
    __global const uchar *bytes = (__global const uchar *)in;
    __global const short *halves = (__global const short *)in;
    size_t i = get_global_id(0);
    uint v = i * 2654435761u, sum = 0;
    for (uint k = 0; k < 2; k++) {
        v = in[v % words] + k;
        sum += v + bytes[v % (words * 4)] - halves[v % (words * 2)];
    }
#pragma unroll
    for (uint k = 0; k < 4; k++) {
        v = v * 1664525u + 1013904223u;
        sum = sum * 3 + bytes[v & (words * 4 - 1)] - halves[v >> 3 & (words * 2 - 1)];
    }
    out[i] = sum;
}

/** Rounding modes and flags, different ones for each work-item. */
__kernel void flags(__global const uint *in, __global uint *out, uint turns)
{
    size_t i = get_global_id(0);
    uint v = in[i], mode = v % 5, seen;
    float x = as_float(0x3f800000u | (v & 0x7fffffu)), y;
    __asm__ volatile("csrw frm, %0" : : "r"(mode));
    for (uint k = 0; k < turns; k++) {
        __asm__ volatile("fmul.s %0, %1, %1" : "=r"(y) : "r"(x));
        __asm__ volatile("fadd.s %0, %1, %2" : "=r"(x) : "r"(y), "r"(x));
    }
    if (v & 8) {
        __asm__ volatile("fdiv.s %0, %1, x0" : "=r"(y) : "r"(x));
    }
    __asm__ volatile("csrr %0, fcsr" : "=r"(seen));
    out[2 * i] = as_uint(x);
    out[2 * i + 1] = seen;
}

/** Each work-item waits for the one before it, in its own warp or another. */
__kernel void chain(__global const uint *in, volatile __global uint *out, uint unused)
{
    size_t i = get_global_id(0);
    uint v = in[i], before = 1;
    while (i && (before = atomic_or(&out[i - 1], 0)) == 0) {
    }
    atomic_xchg(&out[i], (before * 5 + v) | 1);
}

/** Each lane stores to a line of its own. All loads are in flight before the first result is used. */
__kernel void scatter(__global const uint *in, __global uint *out, uint step)
{
    size_t i = get_global_id(0);
    uint a = in[i * step], b = in[i * step + 16], c = in[i * step + 33], d = in[i * step + 50];
    out[i * step] = a + b;
    out[i * step + 1] = c ^ d;
    out[i * step + 17] = a - d;
    out[i * step + 34] = b | c;
}

/** Some work-items wait at a barrier while others are late, and different ones in each round. Values cross the
 * barrier. */
__kernel void late(__global const uint *in, __global uint *out, uint turns)
{
    __local uint word[MOST];
    uint l = get_local_id(0), n = get_local_size(0), v = in[get_global_id(0)];
    for (uint k = 0; k < turns; k++) {
        for (uint spin = (l + k * 9) % n * 4; spin; spin--) {
            v = v * 5 + spin;
        }
        word[l] = v;
        barrier(CLK_LOCAL_MEM_FENCE);
        v ^= word[n - 1 - l] >> 3;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[get_global_id(0)] = v;
}

/** Diverged barriers: all work-items but one come to a barrier, each later than the one before. A work-item of the
 *  first warp waits at another barrier behind it. When the last one has come, the first work-item of the first barrier
 *  is reported as faulting. */
__kernel void parted(__global const uint *in, __global uint *out, uint turns)
{
    size_t l = get_local_id(0);
    uint elsewhere = l == 3, spin = l * turns + 1;
    __asm__ volatile("    bnez %1, 2f\n"
                     "1:  addi %0, %0, -1\n"
                     "    bnez %0, 1b\n"
                     "    .word 0x0000000b\n" /* tern.barrier */
                     "    j 3f\n"
                     "2:  .word 0x0000000b\n"
                     "3:\n"
                     : "+r"(spin) : "r"(elsewhere) : "memory");
    out[get_global_id(0)] = in[l];
}
