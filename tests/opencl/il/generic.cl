/* SPDX-License-Identifier: Apache-2.0 */
/* As plain.cl, with what OpenCL C has from 2.0 on: pointers to any address space, and atomics with order and scope. */
#define ARGS (global const uint *in, global uint *out, uint n, uint m)

global uint calls = 17;

uint sum(const uint *p, uint n)
{
    uint s = 0;
    for (uint k = 0; k < n; k++) {
        s = s * 31 + p[k];
    }
    return s;
}

kernel void pointers ARGS
{
    local uint shared[16];
    uint own[4] = {1, m, 3, 4}, i = get_global_id(0), l = get_local_id(0);
    shared[l % 16] = in[i % n];
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    const uint *p = m % 3 == 0 ? in : m % 3 == 1 ? (const uint *)shared : own;
    float f;
    float *q = m % 2 ? &f : (float *)&shared[l % 16];
    const float rest = fract((float)i * 0.75f, q);
    out[i] = sum(p, 4) + sum(own, 3) + as_uint(rest) + (uint)get_global_linear_id() + (uint)get_local_linear_id() +
        (uint)get_enqueued_local_size(0) + calls;
}

kernel void ordered ARGS
{
    uint i = get_global_id(0);
    global atomic_uint *a = (global atomic_uint *)(out + i);
    uint expected = 3;
    atomic_store_explicit(a, in[i % n], memory_order_release, memory_scope_device);
    atomic_fetch_add_explicit(a, m, memory_order_relaxed, memory_scope_work_group);
    atomic_fetch_max(a, 2u);
    atomic_fetch_xor_explicit(a, 0xffu, memory_order_acq_rel, memory_scope_device);
    atomic_compare_exchange_strong(a, &expected, 7u);
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);
    const uint last = atomic_exchange(a, 0u);
    atomic_store(a, last + expected + atomic_load_explicit(a, memory_order_acquire, memory_scope_device));
}
