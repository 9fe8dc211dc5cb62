/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Atomic functions on 32 bits, each one AMO. Compare-and-swap is amocas.w, so there is no loop in which lanes could
 * starve each other. Sums, minima and maxima of floats do loop: an exchange fails only if another one has succeeded.
 * The functions of OpenCL C 1.x are relaxed.
 */
#include "atomic_forms.h"

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

#define RELAXED_OP(name, TYPE)                                                        \
    static INLINE TYPE relaxed_##name(volatile TYPE *p, TYPE v)                       \
    {                                                                                 \
        return RELAXED(name, p, v);                                                   \
    }

#define RELAXED_OPS(TYPE)                                                             \
    SWAP(, TYPE)                                                                      \
    static INLINE TYPE relaxed_load(volatile TYPE *p)                                 \
    {                                                                                 \
        return __atomic_load_n(p, __ATOMIC_RELAXED);                                  \
    }                                                                                 \
    static INLINE void relaxed_store(volatile TYPE *p, TYPE v)                        \
    {                                                                                 \
        __atomic_store_n(p, v, __ATOMIC_RELAXED);                                     \
    }                                                                                 \
    static INLINE TYPE relaxed_exchange(volatile TYPE *p, TYPE v)                     \
    {                                                                                 \
        return RELAXED(exchange_n, p, v);                                             \
    }                                                                                 \
    RELAXED_OP(fetch_add, TYPE)                                                       \
    RELAXED_OP(fetch_sub, TYPE)                                                       \
    RELAXED_OP(fetch_and, TYPE)                                                       \
    RELAXED_OP(fetch_or, TYPE)                                                        \
    RELAXED_OP(fetch_xor, TYPE)                                                       \
    RELAXED_OP(fetch_min, TYPE)                                                       \
    RELAXED_OP(fetch_max, TYPE)

RELAXED_OPS(int)
RELAXED_OPS(uint)

/* The new value is computed from the old one until no other work-item has changed the word in between. Words are
 * compared as bits, because a NaN equals nothing. The loop is one statement, so that no pass of the compiler changes
 * it. */
#define FLOAT_OP(name, operation)                                                     \
    static INLINE float relaxed_##name(volatile float *p, float v)                    \
    {                                                                                 \
        float old, expected, new;                                                     \
        __asm__ volatile("lw %0, (%3)\n"                                              \
                         "1: mv %1, %0\n"                                             \
                         operation " %2, %0, %4\n"                                    \
                         ".insn r 0x2f, 2, 0x14, %0, %3, %2\n"                        \
                         "bne %0, %1, 1b"                                             \
                         : "=&r"(old), "=&r"(expected), "=&r"(new)                    \
                         : "r"(p), "r"(v)                                             \
                         : "memory");                                                 \
        return old;                                                                   \
    }

FLOAT_OP(fetch_add, "fadd.s")
FLOAT_OP(fetch_sub, "fsub.s")
FLOAT_OP(fetch_min, "fmin.s")
FLOAT_OP(fetch_max, "fmax.s")

ACCESS(atomic_int, int, int)
ACCESS(atomic_uint, uint, uint)
ACCESS(atomic_float, float, uint)
ARITHMETIC(atomic_int, int)
ARITHMETIC(atomic_uint, uint)
READ_MODIFY_WRITE(fetch_add, atomic_float, float)
READ_MODIFY_WRITE(fetch_sub, atomic_float, float)
READ_MODIFY_WRITE(fetch_min, atomic_float, float)
READ_MODIFY_WRITE(fetch_max, atomic_float, float)

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
