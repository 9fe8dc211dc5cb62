/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Declarations of the atomic functions, included before every program (tc_compile.c) instead of the front end's.
 * The front end declares some functions of C11 twice, with operands of two types, so a call with a third type, as int,
 * is ambiguous.
 *
 * In C a call may also pass a pointer to another type, as short, with a warning, and more than the object would change.
 * Therefore each function has an overload for any pointer, which is unavailable: the call is an error. The operands of
 * that overload are vectors. Every number converts to a vector, but conversions to a number are preferred, so a correct
 * call never matches both overloads equally well.
 */
#include <opencl-c-base.h>

#define __tern_good __attribute__((overloadable))
#define __tern_bad(types) __attribute__((overloadable, unavailable("this atomic operation is on " types " only")))

/* ---------------------------------------------------------------- OpenCL C 1.x */

#define __tern_legacy_types(name, SPACE, types, ONE, TWO)             \
    int __tern_good name(volatile SPACE int * ONE(int) TWO(int));     \
    uint __tern_good name(volatile SPACE uint * ONE(uint) TWO(uint)); \
    void __tern_bad(types) name(volatile SPACE void * ONE(uint16) TWO(uint16));
#define __tern_legacy_long(name, SPACE, ONE, TWO)                        \
    long __tern_good name(volatile SPACE long * ONE(long) TWO(long));    \
    ulong __tern_good name(volatile SPACE ulong * ONE(ulong) TWO(ulong));
#define __tern_none(TYPE)
#define __tern_one(TYPE) , TYPE
#define __tern_atomic_(name, ONE, TWO)                                    \
    __tern_legacy_types(atomic_##name, __global, "int and uint", ONE, TWO) \
    __tern_legacy_types(atomic_##name, __local, "int and uint", ONE, TWO)
#define __tern_atom_(name, ONE, TWO)                                                   \
    __tern_legacy_types(atom_##name, __global, "int, uint, long and ulong", ONE, TWO)  \
    __tern_legacy_types(atom_##name, __local, "int, uint, long and ulong", ONE, TWO)   \
    __tern_legacy_long(atom_##name, __global, ONE, TWO)                                \
    __tern_legacy_long(atom_##name, __local, ONE, TWO)
#define __tern_legacy_all(prefix)                            \
    prefix(add, __tern_one, __tern_none)      \
    prefix(sub, __tern_one, __tern_none)      \
    prefix(xchg, __tern_one, __tern_none)     \
    prefix(min, __tern_one, __tern_none)      \
    prefix(max, __tern_one, __tern_none)      \
    prefix(and, __tern_one, __tern_none)      \
    prefix(or, __tern_one, __tern_none)       \
    prefix(xor, __tern_one, __tern_none)      \
    prefix(inc, __tern_none, __tern_none)     \
    prefix(dec, __tern_none, __tern_none)     \
    prefix(cmpxchg, __tern_one, __tern_one)

__tern_legacy_all(__tern_atom_)
#if __OPENCL_C_VERSION__ >= 110
__tern_legacy_all(__tern_atomic_)
float __tern_good atomic_xchg(volatile __global float *, float);
float __tern_good atomic_xchg(volatile __local float *, float);
#endif

/* ---------------------------------------------------------------- OpenCL C 2.0 and 3.0, on generic pointers */

#if __OPENCL_C_VERSION__ >= 200

#define __tern_integers "atomic_int, atomic_uint, atomic_long and atomic_ulong"
#define __tern_numbers "atomic_int, atomic_uint, atomic_long, atomic_ulong, atomic_float and atomic_double"

/* The three forms of a function: sequentially consistent; with an order; with an order and a scope. */
#define __tern_forms(attributes, RESULT, name, ...)                                          \
    RESULT attributes name(volatile __VA_ARGS__);                                            \
    RESULT attributes name##_explicit(volatile __VA_ARGS__, memory_order);                   \
    RESULT attributes name##_explicit(volatile __VA_ARGS__, memory_order, memory_scope);
#define __tern_exchange_forms(attributes, name, ...)                                                   \
    bool attributes name(volatile __VA_ARGS__);                                                        \
    bool attributes name##_explicit(volatile __VA_ARGS__, memory_order, memory_order);                 \
    bool attributes name##_explicit(volatile __VA_ARGS__, memory_order, memory_order, memory_scope);

#define __tern_modify(name, types)                                                   \
    __tern_forms(__tern_good, int, name, atomic_int *, int)                          \
    __tern_forms(__tern_good, uint, name, atomic_uint *, uint)                       \
    __tern_forms(__tern_good, long, name, atomic_long *, long)                       \
    __tern_forms(__tern_good, ulong, name, atomic_ulong *, ulong)                    \
    __tern_forms(__tern_bad(types), void, name, void *, uint16)
#ifdef __opencl_c_ext_fp32_global_atomic_add /* cl_ext_float_atomics, in OpenCL C 3.0 */
#define __tern_modify_number(name)                                                   \
    __tern_modify(name, __tern_numbers)                                              \
    __tern_forms(__tern_good, float, name, atomic_float *, float)                    \
    __tern_forms(__tern_good, double, name, atomic_double *, double)
#else
#define __tern_modify_number(name) __tern_modify(name, __tern_integers)
#endif
__tern_modify_number(atomic_fetch_add)
__tern_modify_number(atomic_fetch_sub)
__tern_modify(atomic_fetch_or, __tern_integers)
__tern_modify(atomic_fetch_xor, __tern_integers)
__tern_modify(atomic_fetch_and, __tern_integers)
__tern_modify_number(atomic_fetch_min)
__tern_modify_number(atomic_fetch_max)

#define __tern_types(ATOMIC, TYPE)                                                                      \
    void __tern_good atomic_init(volatile ATOMIC *, TYPE);                                              \
    __tern_forms(__tern_good, void, atomic_store, ATOMIC *, TYPE)                                       \
    __tern_forms(__tern_good, TYPE, atomic_load, ATOMIC *)                                              \
    __tern_forms(__tern_good, TYPE, atomic_exchange, ATOMIC *, TYPE)                                    \
    __tern_exchange_forms(__tern_good, atomic_compare_exchange_strong, ATOMIC *, TYPE *, TYPE)          \
    __tern_exchange_forms(__tern_good, atomic_compare_exchange_weak, ATOMIC *, TYPE *, TYPE)
__tern_types(atomic_int, int)
__tern_types(atomic_uint, uint)
__tern_types(atomic_long, long)
__tern_types(atomic_ulong, ulong)
__tern_types(atomic_float, float)
__tern_types(atomic_double, double)

void __tern_bad(__tern_numbers) atomic_init(volatile void *, uint16);
__tern_forms(__tern_bad(__tern_numbers), void, atomic_store, void *, uint16)
__tern_forms(__tern_bad(__tern_numbers), void, atomic_load, void *)
__tern_forms(__tern_bad(__tern_numbers), void, atomic_exchange, void *, uint16)
__tern_exchange_forms(__tern_bad(__tern_numbers), atomic_compare_exchange_strong, void *, void *, uint16)
__tern_exchange_forms(__tern_bad(__tern_numbers), atomic_compare_exchange_weak, void *, void *, uint16)

#undef __tern_integers
#undef __tern_numbers
#undef __tern_forms
#undef __tern_exchange_forms
#undef __tern_modify
#undef __tern_modify_number
#undef __tern_types
#endif

#undef __tern_good
#undef __tern_bad
#undef __tern_legacy_types
#undef __tern_legacy_long
#undef __tern_none
#undef __tern_one
#undef __tern_atomic_
#undef __tern_atom_
#undef __tern_legacy_all
