/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that are built from this source and from SPIR-V that another compiler made of it (run_il.c). */
#pragma OPENCL FP_CONTRACT OFF
#define ARGS (global const uint *in, global uint *out, uint n, uint m)

typedef struct {
    short a;
    float4 b;
    uchar c[3];
} pair;

constant int table[5] = {3, 1, 4, 1, 5};
constant float4 tables[2] = {(float4)(1, 2, 3, 4), (float4)(5, 6, 7, 8)};

uint mixed(uint a, uint b)
{
    return rotate(a * 2654435761u, b & 31) ^ (b >> 3);
}

kernel void numbers ARGS
{
    uint i = get_global_id(0), s = in[i % n];
    for (uint k = 0; k < (m & 7) + 3; k++) {
        const uint which = (s + k) % 100;
        if (which < 20) {
            s = mixed(s, k) + popcount(s);
        } else if (which < 40) {
            s = add_sat(s, in[k]) + clz(s);
        } else if (which < 60) {
            s = mul_hi(s, in[k]) ^ (uint)hadd((int)s, (int)k) ^ abs_diff(s, k);
        } else if (which < 80) {
            s -= (uint)table[s % 5] + (uint)sub_sat((int)s, (int)in[k]);
        } else {
            s = mad24((int)(s & 0xffff), (int)k, 7) + upsample((ushort)s, (ushort)k);
        }
        switch (s) {
        case 7:
            s = 1;
            break;
        case 70000:
            s += 2;
            break;
        default:
            s ^= s >> 5;
        }
    }
    long l = (long)s * (long)(int)in[i % n], q = l / (long)(m + 3);
    out[i] = s + (uint)(l >> 32) + (uint)q + (uint)(l % 7) + (uint)get_global_size(0) + get_work_dim() +
        (uint)get_group_id(0) + (uint)get_num_groups(0) + (uint)get_local_size(0) + (uint)get_global_offset(0);
}

kernel void floats ARGS
{
    uint i = get_global_id(0);
    float a = (float)(in[i % n] & 0xfff) / 64 - 20, b = (float)(in[(i + 1) % n] & 0xff) + 0.5f, f = 0, g, h;
    int e, e2, e3;
    f += sin(a) + cos(a) + exp(a / 8) + log(b) + pow(b, 0.25f) + sqrt(b) + rsqrt(b) + floor(a) + ceil(a) + trunc(a);
    f += fmin(a, b) + fmax(a, b) + fabs(a) + clamp(a, -3.0f, 4.0f) + mix(a, b, 0.25f) + step(a, b) + sign(a);
    f += fract(a, &g) + g + modf(a, &h) + h + frexp(b, &e) + (float)e + lgamma_r(b, &e2) + (float)e2;
    f += remquo(a, b, &e3) + (float)e3 + fma(a, b, 1.0f) + ldexp(a, 2) + (float)ilogb(b) + atan2(a, b) + hypot(a, b);
    f += native_sin(a) + half_exp(a / 16) + nextafter(b, 0.0f) + fmod(a, b) + cbrt(b) + erf(a) + tanh(a / 4);
    double d = (double)a * 3 + sqrt((double)b);
    f += (float)d + (float)convert_int_sat_rte(a) + (float)convert_uchar_sat(b) + (float)(isnan(a) + isfinite(b));
    out[i] = as_uint(f);
}

kernel void vectors ARGS
{
    uint i = get_global_id(0);
    uint4 a = vload4(i % (n / 4), in), b = a.wzyx + (uint4)(m, 1, 2, 3);
    float4 f = convert_float4(a & 0xffu) / 16, g = tables[i & 1];
    float3 c = cross(f.xyz, g.xyz);
    short8 s = (short8)(convert_short4(a & 0x7fffu), convert_short4(b & 0x7fffu));
    uchar16 u = as_uchar16(shuffle(b, (uint4)(2, 0, 3, 1)));
    a.even = select(a.odd, b.lo, a.hi > b.hi);
    s.s0246 += (short4)1;
    uint3 t = max(a.xyz, b.yzx) - min(a.xyz, (uint3)5);
    out[i] = a.x + a.y * 3 + t.z + as_uint(dot(f, g)) + as_uint(length(c)) + as_uint(normalize(g).y) + (uint)s.s5 +
        u.sb + (uint)any(a.xy > b.xy) + (uint)all(as_int4(a) > 0) + (uint)distance(f.xy, g.xy);
}

/* A struct, vectors of three and bytes by value, and local memory as an argument and as a variable. */
kernel void groups ARGS
{
    local uint part[64];
    local pair shared;
    uint l = get_local_id(0), size = get_local_size(0);
    part[l] = in[get_global_id(0) % n];
    if (l == 0) {
        shared.a = (short)m;
        shared.b = (float4)(1, 2, 3, (float)m);
        shared.c[2] = 9;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = size / 2; k > 0; k /= 2) {
        if (l < k) {
            part[l] += part[l + k];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[get_global_id(0)] = part[0] + (uint)shared.a + (uint)shared.b.w + shared.c[2];
}

#define PASS_ON(places) { part[(l + places) % size] = *word; barrier(CLK_LOCAL_MEM_FENCE);                             \
        *word = part[l] + places; barrier(CLK_LOCAL_MEM_FENCE); }
/* Gives the word to other work-items of the group. The other compiler does not inline a function of this size. */
void pass_on(local uint *part, global uint *word)
{
    uint l = get_local_id(0), size = get_local_size(0);
    PASS_ON(1) PASS_ON(2) PASS_ON(3) PASS_ON(5) PASS_ON(7) PASS_ON(11)
}

/* The call stands between two branches on the same condition. The translator does not mark it as convergent. A compiler
   that inlines it once for either case makes the work-items of a group wait at different barriers. */
kernel void meets ARGS
{
    local uint part[64];
    uint i = get_global_id(0);
    out[i] = in[i % n];
    if (i & 1) {
        atomic_add(out + i, m);
    }
    pass_on(part, out + i);
    if (i & 1) {
        atomic_xor(out + i, 0x700u);
    }
}

kernel void copies ARGS
{
    local uint part[64];
    uint size = get_local_size(0), first = get_group_id(0) * size;
    event_t e = async_work_group_copy(part, in + first % (n - size), size, 0);
    wait_group_events(1, &e);
    uint keep[8];
    for (uint k = 0; k < 8; k++) {
        keep[k] = part[(get_local_id(0) + k) % size];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    part[get_local_id(0)] = keep[m & 7];
    barrier(CLK_LOCAL_MEM_FENCE);
    e = async_work_group_copy(out + first, part, size, 0);
    wait_group_events(1, &e);
}

#pragma OPENCL EXTENSION cl_khr_fp16 : enable
kernel void halves ARGS
{
    uint i = get_global_id(0);
    half a = as_half((ushort)in[i % n]), b = as_half((ushort)(in[(i + 1) % n] >> 17));
    half4 v = (half4)(a, b, a * b, a - 1.5h);
    global half *bytes = (global half *)(out + i);
    if (m == 0) {
        v = fmin(v, v.wzyx) / (half4)(b);
        vstore2(v.xy, 0, bytes);
    } else if (m == 1) {
        bytes[0] = fma(a, b, v.w);
        bytes[1] = isless(a, b) ? sin(a) : convert_half_rtz(in[i % n]);
    } else if (m == 2) {
        out[i] = as_uint(convert_float(length(v) + dot(v, v.yxwz)));
    } else {
        out[i] = (uint)convert_int_sat_rte(b) + (uint)any(v < v.wxyz) + as_ushort(select(a, b, (short)(i & 1)));
    }
}
#pragma OPENCL EXTENSION cl_khr_fp16 : disable

kernel void counters ARGS
{
    local int sum;
    uint i = get_global_id(0);
    if (get_local_id(0) == 0) {
        sum = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&sum, (int)(in[i % n] & 15));
    atomic_sub(&sum, 2);
    atomic_inc(&sum);
    atomic_max(&sum, -100000);
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_xchg(out + i, (uint)sum);
    atomic_or(out + i, 0x10000u);
    atomic_xor(out + i, 0x30000u);
    atomic_and(out + i, ~0x10000u);
    atomic_min(out + i, 0xfffffff0u);
    atomic_dec(out + i);
    atomic_cmpxchg(out + i, 5u, 6u);
    mem_fence(CLK_GLOBAL_MEM_FENCE);
}

kernel __attribute__((reqd_work_group_size(8, 1, 1))) void required(global uchar *bytes, pair by_value, float3 three,
                                                                    uchar small, local ushort *own,
                                                                    constant uint *numbers)
{
    uint l = get_local_id(0);
    own[l] = (ushort)(by_value.a + small);
    barrier(CLK_LOCAL_MEM_FENCE);
    bytes[get_global_id(0)] =
        (uchar)(own[7 - l] + (uint)by_value.b.z + by_value.c[1] + (uint)three.z + vload2(l & 1, numbers).y);
}

kernel void prints(int a, float b)
{
    printf("%d %.2f %v4d %s\n", a, b, (int4)(a, 2, 3, 4), "text");
}
