/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Atomic functions on 32 bits, each one AMO. Compare-and-swap is amocas.w, so there is no loop in which lanes could
 * starve each other. The functions of OpenCL C 1.x are relaxed. The functions of OpenCL C 3.0 add fences, as the RISC-V
 * ISA manual maps the memory orders of C11. A float is exchanged, loaded and stored as its bits.
 */
#include "base.h"

#define RELAXED(op, p, v) __atomic_##op(p, v, __ATOMIC_RELAXED)

/* ---------------------------------------------------------------- OpenCL C 1.x */

#define LEGACY_OP(name, builtin, SPACE, TYPE)                            \
    INLINE TYPE atomic_##name(volatile SPACE TYPE *p, TYPE v)            \
    {                                                                    \
        return RELAXED(builtin, p, v);                                   \
    }                                                                    \
    INLINE TYPE atom_##name(volatile SPACE TYPE *p, TYPE v)              \
    {                                                                    \
        return RELAXED(builtin, p, v);                                   \
    }

#define LEGACY_ONE(name, builtin, SPACE, TYPE)                           \
    INLINE TYPE atomic_##name(volatile SPACE TYPE *p)                    \
    {                                                                    \
        return RELAXED(builtin, p, (TYPE)1);                             \
    }                                                                    \
    INLINE TYPE atom_##name(volatile SPACE TYPE *p)                      \
    {                                                                    \
        return RELAXED(builtin, p, (TYPE)1);                             \
    }

#define SWAP(SPACE, TYPE)                                                                                             \
    static inline __attribute__((overloadable, always_inline)) TYPE swap(volatile SPACE TYPE *p, \
                                                                         TYPE expected, TYPE v) \
    {                                                                                                                 \
        __asm__ volatile(".insn r 0x2f, 2, 0x14, %0, %1, %2" : "+r"(expected) : "r"(p), "r"(v) : "memory");           \
        return expected;                                                                                              \
    }

#define LEGACY(SPACE, TYPE)                                                      \
    LEGACY_OP(add, fetch_add, SPACE, TYPE)                                       \
    LEGACY_OP(sub, fetch_sub, SPACE, TYPE)                                       \
    LEGACY_OP(and, fetch_and, SPACE, TYPE)                                       \
    LEGACY_OP(or, fetch_or, SPACE, TYPE)                                         \
    LEGACY_OP(xor, fetch_xor, SPACE, TYPE)                                       \
    LEGACY_OP(min, fetch_min, SPACE, TYPE)                                       \
    LEGACY_OP(max, fetch_max, SPACE, TYPE)                                       \
    LEGACY_OP(xchg, exchange_n, SPACE, TYPE)                                     \
    LEGACY_ONE(inc, fetch_add, SPACE, TYPE)                                      \
    LEGACY_ONE(dec, fetch_sub, SPACE, TYPE)                                      \
    SWAP(SPACE, TYPE)                                                            \
    INLINE TYPE atomic_cmpxchg(volatile SPACE TYPE *p, TYPE expected, TYPE v)    \
    {                                                                            \
        return swap(p, expected, v);                                             \
    }                                                                            \
    INLINE TYPE atom_cmpxchg(volatile SPACE TYPE *p, TYPE expected, TYPE v)      \
    {                                                                            \
        return swap(p, expected, v);                                             \
    }

#define LEGACY_FLOAT(SPACE)                                                      \
    INLINE float atomic_xchg(volatile SPACE float *p, float v)                   \
    {                                                                            \
        return as_float(RELAXED(exchange_n, (volatile SPACE uint *)p, as_uint(v))); \
    }

LEGACY(__global, int)
LEGACY(__global, uint)
LEGACY(__local, int)
LEGACY(__local, uint)
LEGACY_FLOAT(__global)
LEGACY_FLOAT(__local)

/* ---------------------------------------------------------------- OpenCL C 3.0, on generic pointers */

#define FENCE(kind) __asm__ volatile("fence " kind ::: "memory")

static inline __attribute__((always_inline)) void before(memory_order order)
{
    if (order == memory_order_release || order == memory_order_acq_rel || order == memory_order_seq_cst) {
        FENCE("rw, w");
    }
}

static inline __attribute__((always_inline)) void after(memory_order order)
{
    if (order == memory_order_acquire || order == memory_order_acq_rel) {
        FENCE("r, rw");
    }
    if (order == memory_order_seq_cst) {
        FENCE("rw, rw");
    }
}

/* Each operation has three forms: sequentially consistent; with an order; with an order and a scope. */
#define READ_MODIFY_WRITE(name, builtin, ATOMIC, TYPE)                                                              \
    INLINE TYPE atomic_##name##_explicit(volatile ATOMIC *p, TYPE v, memory_order order, memory_scope scope)        \
    {                                                                                                               \
        (void)scope;                                                                                                \
        before(order);                                                                                              \
        TYPE old = RELAXED(builtin, (volatile TYPE *)p, v);                                                         \
        after(order);                                                                                               \
        return old;                                                                                                 \
    }                                                                                                               \
    INLINE TYPE atomic_##name##_explicit(volatile ATOMIC *p, TYPE v, memory_order order)                            \
    {                                                                                                               \
        return atomic_##name##_explicit(p, v, order, memory_scope_device);                                          \
    }                                                                                                               \
    INLINE TYPE atomic_##name(volatile ATOMIC *p, TYPE v)                                                           \
    {                                                                                                               \
        return atomic_##name##_explicit(p, v, memory_order_seq_cst, memory_scope_device);                           \
    }

SWAP(, int)
SWAP(, uint)

/* Strong and weak are the same, because amocas.w does not fail spuriously. */
#define COMPARE_EXCHANGE(name, ATOMIC, TYPE, WORD)                                                                  \
    INLINE bool atomic_compare_exchange_##name##_explicit(volatile ATOMIC *p, TYPE *expected, TYPE v,               \
                                                          memory_order success, memory_order failure,               \
                                                          memory_scope scope)                                       \
    {                                                                                                               \
        (void)failure;                                                                                              \
        (void)scope;                                                                                                \
        WORD want = __builtin_astype(*expected, WORD);                                                              \
        before(success);                                                                                            \
        WORD old = swap((volatile WORD *)p, want, __builtin_astype(v, WORD));                                       \
        after(success);                                                                                             \
        if (old != want) {                                                                                          \
            *expected = __builtin_astype(old, TYPE);                                                                \
        }                                                                                                           \
        return old == want;                                                                                         \
    }                                                                                                               \
    INLINE bool atomic_compare_exchange_##name##_explicit(volatile ATOMIC *p, TYPE *expected, TYPE v,               \
                                                          memory_order success, memory_order failure)               \
    {                                                                                                               \
        return atomic_compare_exchange_##name##_explicit(p, expected, v, success, failure, memory_scope_device);    \
    }                                                                                                               \
    INLINE bool atomic_compare_exchange_##name(volatile ATOMIC *p, TYPE *expected, TYPE v)                          \
    {                                                                                                               \
        return atomic_compare_exchange_##name##_explicit(p, expected, v, memory_order_seq_cst, memory_order_seq_cst, \
                                                         memory_scope_device);                                      \
    }

#define ACCESS(ATOMIC, TYPE, WORD)                                                                                  \
    INLINE void atomic_init(volatile ATOMIC *p, TYPE v)                                                             \
    {                                                                                                               \
        *(volatile TYPE *)p = v;                                                                                    \
    }                                                                                                               \
    INLINE void atomic_store_explicit(volatile ATOMIC *p, TYPE v, memory_order order, memory_scope scope)           \
    {                                                                                                               \
        (void)scope;                                                                                                \
        before(order);                                                                                              \
        __atomic_store_n((volatile WORD *)p, __builtin_astype(v, WORD), __ATOMIC_RELAXED);                          \
        after(order);                                                                                               \
    }                                                                                                               \
    INLINE void atomic_store_explicit(volatile ATOMIC *p, TYPE v, memory_order order)                               \
    {                                                                                                               \
        atomic_store_explicit(p, v, order, memory_scope_device);                                                    \
    }                                                                                                               \
    INLINE void atomic_store(volatile ATOMIC *p, TYPE v)                                                            \
    {                                                                                                               \
        atomic_store_explicit(p, v, memory_order_seq_cst, memory_scope_device);                                     \
    }                                                                                                               \
    INLINE TYPE atomic_load_explicit(volatile ATOMIC *p, memory_order order, memory_scope scope)                    \
    {                                                                                                               \
        (void)scope;                                                                                                \
        if (order == memory_order_seq_cst) {                                                                        \
            FENCE("rw, rw");                                                                                        \
        }                                                                                                           \
        WORD v = __atomic_load_n((volatile WORD *)p, __ATOMIC_RELAXED);                                             \
        after(order);                                                                                               \
        return __builtin_astype(v, TYPE);                                                                           \
    }                                                                                                               \
    INLINE TYPE atomic_load_explicit(volatile ATOMIC *p, memory_order order)                                        \
    {                                                                                                               \
        return atomic_load_explicit(p, order, memory_scope_device);                                                 \
    }                                                                                                               \
    INLINE TYPE atomic_load(volatile ATOMIC *p)                                                                     \
    {                                                                                                               \
        return atomic_load_explicit(p, memory_order_seq_cst, memory_scope_device);                                  \
    }                                                                                                               \
    INLINE TYPE atomic_exchange_explicit(volatile ATOMIC *p, TYPE v, memory_order order, memory_scope scope)        \
    {                                                                                                               \
        (void)scope;                                                                                                \
        before(order);                                                                                              \
        WORD old = RELAXED(exchange_n, (volatile WORD *)p, __builtin_astype(v, WORD));                              \
        after(order);                                                                                               \
        return __builtin_astype(old, TYPE);                                                                         \
    }                                                                                                               \
    INLINE TYPE atomic_exchange_explicit(volatile ATOMIC *p, TYPE v, memory_order order)                            \
    {                                                                                                               \
        return atomic_exchange_explicit(p, v, order, memory_scope_device);                                          \
    }                                                                                                               \
    INLINE TYPE atomic_exchange(volatile ATOMIC *p, TYPE v)                                                         \
    {                                                                                                               \
        return atomic_exchange_explicit(p, v, memory_order_seq_cst, memory_scope_device);                           \
    }                                                                                                               \
    COMPARE_EXCHANGE(strong, ATOMIC, TYPE, WORD)                                                                    \
    COMPARE_EXCHANGE(weak, ATOMIC, TYPE, WORD)

#define ARITHMETIC(ATOMIC, TYPE)                                \
    READ_MODIFY_WRITE(fetch_add, fetch_add, ATOMIC, TYPE)       \
    READ_MODIFY_WRITE(fetch_sub, fetch_sub, ATOMIC, TYPE)       \
    READ_MODIFY_WRITE(fetch_and, fetch_and, ATOMIC, TYPE)       \
    READ_MODIFY_WRITE(fetch_or, fetch_or, ATOMIC, TYPE)         \
    READ_MODIFY_WRITE(fetch_xor, fetch_xor, ATOMIC, TYPE)       \
    READ_MODIFY_WRITE(fetch_min, fetch_min, ATOMIC, TYPE)       \
    READ_MODIFY_WRITE(fetch_max, fetch_max, ATOMIC, TYPE)

ACCESS(atomic_int, int, int)
ACCESS(atomic_uint, uint, uint)
ACCESS(atomic_float, float, uint)
ARITHMETIC(atomic_int, int)
ARITHMETIC(atomic_uint, uint)

/* ---------------------------------------------------------------- flags: an atomic_int that is 0 or 1 */

INLINE bool atomic_flag_test_and_set_explicit(volatile atomic_flag *p, memory_order order, memory_scope scope)
{
    return atomic_exchange_explicit((volatile atomic_int *)p, 1, order, scope) != 0;
}

INLINE bool atomic_flag_test_and_set_explicit(volatile atomic_flag *p, memory_order order)
{
    return atomic_flag_test_and_set_explicit(p, order, memory_scope_device);
}

INLINE bool atomic_flag_test_and_set(volatile atomic_flag *p)
{
    return atomic_flag_test_and_set_explicit(p, memory_order_seq_cst, memory_scope_device);
}

INLINE void atomic_flag_clear_explicit(volatile atomic_flag *p, memory_order order, memory_scope scope)
{
    atomic_store_explicit((volatile atomic_int *)p, 0, order, scope);
}

INLINE void atomic_flag_clear_explicit(volatile atomic_flag *p, memory_order order)
{
    atomic_flag_clear_explicit(p, order, memory_scope_device);
}

INLINE void atomic_flag_clear(volatile atomic_flag *p)
{
    atomic_flag_clear_explicit(p, memory_order_seq_cst, memory_scope_device);
}

INLINE void atomic_work_item_fence(cl_mem_fence_flags flags, memory_order order, memory_scope scope)
{
    (void)flags;
    (void)scope;
    if (order != memory_order_relaxed) {
        FENCE("rw, rw");
    }
}
