/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The forms of the atomic functions of OpenCL C 2.0 and 3.0, on generic pointers. A file that includes this header
 * defines the relaxed operations first, for each TYPE or WORD: swap, relaxed_load, relaxed_store, relaxed_exchange and
 * relaxed_fetch_NAME. A form adds fences, as the RISC-V ISA manual maps the memory orders of C11. An object of
 * another type than its WORD is exchanged, loaded and stored as its bits.
 */
#ifndef TERN_DEVICE_ATOMIC_FORMS_H
#define TERN_DEVICE_ATOMIC_FORMS_H

#include "base.h"

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
#define READ_MODIFY_WRITE(name, ATOMIC, TYPE)                                                                       \
    INLINE TYPE atomic_##name##_explicit(volatile ATOMIC *p, TYPE v, memory_order order, memory_scope scope)        \
    {                                                                                                               \
        (void)scope;                                                                                                \
        before(order);                                                                                              \
        TYPE old = relaxed_##name((volatile TYPE *)p, v);                                                           \
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

/* Strong and weak are the same, because swap does not fail spuriously. */
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
        relaxed_store((volatile WORD *)p, __builtin_astype(v, WORD));                                               \
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
        WORD v = relaxed_load((volatile WORD *)p);                                                                  \
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
        WORD old = relaxed_exchange((volatile WORD *)p, __builtin_astype(v, WORD));                                 \
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

#define ARITHMETIC(ATOMIC, TYPE)               \
    READ_MODIFY_WRITE(fetch_add, ATOMIC, TYPE) \
    READ_MODIFY_WRITE(fetch_sub, ATOMIC, TYPE) \
    READ_MODIFY_WRITE(fetch_and, ATOMIC, TYPE) \
    READ_MODIFY_WRITE(fetch_or, ATOMIC, TYPE)  \
    READ_MODIFY_WRITE(fetch_xor, ATOMIC, TYPE) \
    READ_MODIFY_WRITE(fetch_min, ATOMIC, TYPE) \
    READ_MODIFY_WRITE(fetch_max, ATOMIC, TYPE)

#endif
