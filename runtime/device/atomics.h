/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Declarations of the atomic functions, included before every program (tc_compile.c) instead of the front end's. With
 * 32-bit pointers the front end declares some functions of C11 twice, with operands of two types, so a call with a
 * third type, as long, is ambiguous.
 *
 * In C a call may also pass a pointer to ulong, with a warning, and 32 bits of it would change. Therefore each function
 * has an overload for any pointer, which is unavailable: the call is an error. The operands of that overload are
 * vectors. Every number converts to a vector, but conversions to a number are preferred, so a correct call never
 * matches both overloads equally well.
 */
#include <opencl-c-base.h>

#define __tern_good __attribute__((overloadable))
#define __tern_bad(types) __attribute__((overloadable, unavailable("atomic operations have 32 bits here: on " types)))

/* ---------------------------------------------------------------- OpenCL C 1.x */

#define __tern_legacy_types(name, SPACE, ONE, TWO)               \
    int __tern_good name(volatile SPACE int * ONE(int) TWO(int)); \
    uint __tern_good name(volatile SPACE uint * ONE(uint) TWO(uint)); \
    void __tern_bad("int and uint") name(volatile SPACE void * ONE(uint16) TWO(uint16));
#define __tern_none(TYPE)
#define __tern_one(TYPE) , TYPE
#define __tern_legacy(name, ONE, TWO)                \
    __tern_legacy_types(name, __global, ONE, TWO)    \
    __tern_legacy_types(name, __local, ONE, TWO)
#define __tern_legacy_all(prefix)                            \
    __tern_legacy(prefix##add, __tern_one, __tern_none)      \
    __tern_legacy(prefix##sub, __tern_one, __tern_none)      \
    __tern_legacy(prefix##xchg, __tern_one, __tern_none)     \
    __tern_legacy(prefix##min, __tern_one, __tern_none)      \
    __tern_legacy(prefix##max, __tern_one, __tern_none)      \
    __tern_legacy(prefix##and, __tern_one, __tern_none)      \
    __tern_legacy(prefix##or, __tern_one, __tern_none)       \
    __tern_legacy(prefix##xor, __tern_one, __tern_none)      \
    __tern_legacy(prefix##inc, __tern_none, __tern_none)     \
    __tern_legacy(prefix##dec, __tern_none, __tern_none)     \
    __tern_legacy(prefix##cmpxchg, __tern_one, __tern_one)

__tern_legacy_all(atom_)
#if __OPENCL_C_VERSION__ >= 110
__tern_legacy_all(atomic_)
float __tern_good atomic_xchg(volatile __global float *, float);
float __tern_good atomic_xchg(volatile __local float *, float);
#endif

/* ---------------------------------------------------------------- OpenCL C 2.0 and 3.0, on generic pointers */

#if __OPENCL_C_VERSION__ >= 200

#define __tern_atomic "atomic_int and atomic_uint"
#define __tern_access __tern_atomic ", and to load, store or exchange on atomic_float"

/* The three forms of a function: sequentially consistent; with an order; with an order and a scope. */
#define __tern_forms(attributes, RESULT, name, ...)                                          \
    RESULT attributes name(volatile __VA_ARGS__);                                            \
    RESULT attributes name##_explicit(volatile __VA_ARGS__, memory_order);                   \
    RESULT attributes name##_explicit(volatile __VA_ARGS__, memory_order, memory_scope);
#define __tern_exchange_forms(attributes, name, ...)                                                   \
    bool attributes name(volatile __VA_ARGS__);                                                        \
    bool attributes name##_explicit(volatile __VA_ARGS__, memory_order, memory_order);                 \
    bool attributes name##_explicit(volatile __VA_ARGS__, memory_order, memory_order, memory_scope);

#define __tern_modify(name)                                                          \
    __tern_forms(__tern_good, int, name, atomic_int *, int)                          \
    __tern_forms(__tern_good, uint, name, atomic_uint *, uint)                       \
    __tern_forms(__tern_bad(__tern_atomic), void, name, void *, uint16)
__tern_modify(atomic_fetch_add)
__tern_modify(atomic_fetch_sub)
__tern_modify(atomic_fetch_or)
__tern_modify(atomic_fetch_xor)
__tern_modify(atomic_fetch_and)
__tern_modify(atomic_fetch_min)
__tern_modify(atomic_fetch_max)

#define __tern_types(ATOMIC, TYPE)                                                                      \
    void __tern_good atomic_init(volatile ATOMIC *, TYPE);                                              \
    __tern_forms(__tern_good, void, atomic_store, ATOMIC *, TYPE)                                       \
    __tern_forms(__tern_good, TYPE, atomic_load, ATOMIC *)                                              \
    __tern_forms(__tern_good, TYPE, atomic_exchange, ATOMIC *, TYPE)                                    \
    __tern_exchange_forms(__tern_good, atomic_compare_exchange_strong, ATOMIC *, TYPE *, TYPE)          \
    __tern_exchange_forms(__tern_good, atomic_compare_exchange_weak, ATOMIC *, TYPE *, TYPE)
__tern_types(atomic_int, int)
__tern_types(atomic_uint, uint)
__tern_types(atomic_float, float)

void __tern_bad(__tern_access) atomic_init(volatile void *, uint16);
__tern_forms(__tern_bad(__tern_access), void, atomic_store, void *, uint16)
__tern_forms(__tern_bad(__tern_access), void, atomic_load, void *)
__tern_forms(__tern_bad(__tern_access), void, atomic_exchange, void *, uint16)
__tern_exchange_forms(__tern_bad(__tern_access), atomic_compare_exchange_strong, void *, void *, uint16)
__tern_exchange_forms(__tern_bad(__tern_access), atomic_compare_exchange_weak, void *, void *, uint16)

#undef __tern_atomic
#undef __tern_access
#undef __tern_forms
#undef __tern_exchange_forms
#undef __tern_modify
#undef __tern_types
#endif

#undef __tern_good
#undef __tern_bad
#undef __tern_legacy_types
#undef __tern_none
#undef __tern_one
#undef __tern_legacy
#undef __tern_legacy_all
