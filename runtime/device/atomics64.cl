/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Atomic functions on 64 bits, by locks (docs/decisions/wide-atomics.md). The device has atomics of 32 bits only.
 *
 * Locks. Each OpenCL context has one table of locks, a page at the address of the symbol __tern_locks (tc_load). A word
 * of the table is 0 if the lock is free. All accesses to one address take the same lock; addresses share locks. A
 * work-item holds at most one lock, and waits for nothing but memory while it does.
 *
 * An operation is one statement of assembly that takes the lock, accesses the two words, and releases the lock. So no
 * pass of the compiler can move anything into it, split it, or interleave it with that of another work-item.
 *
 * - The lock is taken by amoswap.w. A lane that has failed jumps forward to 2, over the accesses. Lanes with the lowest
 *   pc run first, so the others of its warp wait there until the holder has released the lock.
 * - The words are read and written by AMOs, because the L1 may have old lines, and a plain store is not known to have
 *   been done without a fence, which would empty the L1.
 * - The release depends on the results of these AMOs, so that it is not executed before them. Its operand, c, is 0.
 *
 * Waiting. A lane writes its own number into the lock, and so learns who tried before it. If that was another lane of
 * its warp, the two want the same lock, and this one tries only every 16th time, each lane at another time. Otherwise
 * all lanes of a warp would try each time, and the holder's AMOs would wait behind theirs.
 */
#include "atomic_forms.h"
#include "spec.h"

#define LOCKS 1024u /* words of a page */

uint __tern_locks_at(void); /* workitem.c */

#define STRING_(x) #x
#define STRING(x) STRING_(x)

/* Address of the lock of an address in global or private memory. */
static INLINE uint global_lock(uint p)
{
    return __tern_locks_at() + ((p >> 3 ^ p >> 12) % LOCKS) * 4;
}

/* Address of the lock of an address in local memory, which is another place in each group. The ids of the group are
 * read without the knowledge of the compiler, because a kernel without local memory may run in other groups. */
static INLINE uint local_lock(uint p)
{
    uint x, y, z;
    __asm__ volatile("csrr %0, " STRING(TERN_CSR_GROUP_ID_X) "\n"
                     "csrr %1, " STRING(TERN_CSR_GROUP_ID_Y) "\n"
                     "csrr %2, " STRING(TERN_CSR_GROUP_ID_Z)
                     : "=r"(x), "=r"(y), "=r"(z));
    return __tern_locks_at() + ((p >> 3 ^ (x * 37 + y * 149 + z * 601)) % LOCKS) * 4;
}

static INLINE uint lock_of(const volatile global void *p)
{
    return global_lock((uint)(size_t)p);
}

static INLINE uint lock_of(const volatile local void *p)
{
    return local_lock((uint)(size_t)p);
}

static INLINE uint lock_of(const volatile void *p)
{
    const uint at = (uint)(size_t)p;
    return at - TERN_WIN_LOCAL_BASE < TERN_WIN_LOCAL_SIZE ? local_lock(at) : global_lock(at);
}

/* The instructions before and behind the accesses. Registers: p, q: addresses of the two words; l: the lock; lo, hi:
 * the old words; t: the old word of the lock; c: scratch, and 0 at the release; me: the word that takes the lock;
 * d: counts the tries; f: not 0 if another lane of the warp wants the lock; both are free during the accesses.
 * p % 8 = 4 must fault as misaligned, which no access to the two words does: so the first four bytes of the value are
 * accessed from its third byte on. */
#define TAKE                                     \
    "csrr %[me], " STRING(TERN_CSR_THREAD) "\n"  \
    "lui %[t], 0x80000\n"                        \
    "or %[me], %[me], %[t]\n"                    \
    "mv %[d], %[me]\n"                           \
    "andi %[c], %[p], 4\n"                       \
    "beqz %[c], 5f\n"                            \
    "addi %[c], %[p], 2\n"                       \
    "amoor.w %[f], x0, (%[c])\n"                 \
    "1: beqz %[f], 5f\n"                         \
    "addi %[d], %[d], 1\n"                       \
    "andi %[c], %[d], 15\n"                      \
    "bnez %[c], 2f\n"                            \
    "5: amoswap.w %[t], %[me], (%[l])\n"         \
    "bnez %[t], 3f\n"
#define RELEASE                                  \
    "amoswap.w x0, %[c], (%[l])\n"               \
    "j 2f\n"                                     \
    "3: xor %[c], %[t], %[me]\n"                 \
    "addi %[c], %[c], -1\n"                      \
    "sltiu %[f], %[c], 15\n"                     \
    "2: bnez %[t], 1b"

/* c = 0 when both results have come */
#define WAIT(a, b) "or %[c], %[" a "], %[" b "]\n" "and %[c], %[c], x0\n"

#define READ                                     \
    "amoor.w %[lo], x0, (%[p])\n"                \
    "amoor.w %[hi], x0, (%[q])\n"
#define WRITE                                    \
    "amoswap.w %[c], %[xl], (%[p])\n"            \
    "amoswap.w %[d], %[xh], (%[q])\n" WAIT("c", "d")

/* One operation on both words, which needs no carry. */
#define BOTH(amo)                                \
    amo " %[lo], %[xl], (%[p])\n"                \
    amo " %[hi], %[xh], (%[q])\n" WAIT("lo", "hi")
#define ADD                                      \
    "amoadd.w %[lo], %[xl], (%[p])\n"            \
    "add %[c], %[lo], %[xl]\n"                   \
    "sltu %[c], %[c], %[lo]\n"                   \
    "add %[c], %[c], %[xh]\n"                    \
    "amoadd.w %[hi], %[c], (%[q])\n"             \
    "and %[c], %[hi], x0\n"
#define COMPARE                                  \
    READ                                         \
    "xor %[c], %[lo], %[el]\n"                   \
    "xor %[d], %[hi], %[eh]\n"                   \
    "or %[d], %[d], %[c]\n"                      \
    "mv %[c], x0\n"                              \
    "bnez %[d], 4f\n" WRITE "4:\n"
/* d: the new value is to be written; `less` compares the high words. */
#define EXTREME(less, xl, lo, xh, hi)            \
    READ                                         \
    less " %[d], %[" xh "], %[" hi "]\n"         \
    "bne %[xh], %[hi], 6f\n"                     \
    "sltu %[d], %[" xl "], %[" lo "]\n"          \
    "6: mv %[c], x0\n"                           \
    "beqz %[d], 4f\n" WRITE "4:\n"
#define MIN(less) EXTREME(less, "xl", "lo", "xh", "hi")
#define MAX(less) EXTREME(less, "lo", "xl", "hi", "xh")

/* The statement; more inputs follow. */
#define LOCKED(accesses, ...)                                                                                  \
    __asm__ volatile(TAKE accesses RELEASE                                                                     \
                     : [lo] "=&r"(lo), [hi] "=&r"(hi), [t] "=&r"(t), [c] "=&r"(c), [d] "=&r"(d), [f] "=&r"(f), \
                       [me] "=&r"(me)                                                                          \
                     : [p] "r"(p), [q] "r"((uint)(size_t)p + 4), [l] "r"(l), [xl] "r"((uint)v),                \
                       [xh] "r"((uint)(v >> 32))                                                               \
                       __VA_ARGS__                                                                             \
                     : "memory")

#define OPERATION(name, accesses, SPACE)                                                  \
    static INLINE ulong name(volatile SPACE ulong *p, ulong v)                            \
    {                                                                                     \
        const uint l = lock_of(p);                                                        \
        uint lo, hi, t, c, d, f, me;                                                      \
        LOCKED(accesses);                                                                 \
        return (ulong)hi << 32 | lo;                                                      \
    }

#define OPERATIONS(SPACE)                                                                 \
    OPERATION(locked_add, ADD, SPACE)                                                     \
    OPERATION(locked_and, BOTH("amoand.w"), SPACE)                                        \
    OPERATION(locked_or, BOTH("amoor.w"), SPACE)                                          \
    OPERATION(locked_xor, BOTH("amoxor.w"), SPACE)                                        \
    OPERATION(locked_exchange, BOTH("amoswap.w"), SPACE)                                  \
    OPERATION(locked_min_signed, MIN("slt"), SPACE)                                       \
    OPERATION(locked_max_signed, MAX("slt"), SPACE)                                       \
    OPERATION(locked_min_unsigned, MIN("sltu"), SPACE)                                    \
    OPERATION(locked_max_unsigned, MAX("sltu"), SPACE)                                    \
    static INLINE ulong locked_swap(volatile SPACE ulong *p, ulong e, ulong v)            \
    {                                                                                     \
        const uint l = lock_of(p);                                                        \
        uint lo, hi, t, c, d, f, me;                                                      \
        LOCKED(COMPARE, , [el] "r"((uint)e), [eh] "r"((uint)(e >> 32)));                  \
        return (ulong)hi << 32 | lo;                                                      \
    }

OPERATIONS(__global)
OPERATIONS(__local)
OPERATIONS()

/* ---------------------------------------------------------------- cl_khr_int64_base_atomics, ..extended */

#define LEGACY_OP(name, OP, SPACE, TYPE)                                                  \
    INLINE TYPE atom_##name(volatile SPACE TYPE *p, TYPE v)                               \
    {                                                                                     \
        return (TYPE)locked_##OP((volatile SPACE ulong *)p, (ulong)v);                    \
    }
#define LEGACY(SPACE, TYPE, sign)                                                         \
    LEGACY_OP(add, add, SPACE, TYPE)                                                      \
    LEGACY_OP(xchg, exchange, SPACE, TYPE)                                                \
    LEGACY_OP(and, and, SPACE, TYPE)                                                      \
    LEGACY_OP(or, or, SPACE, TYPE)                                                        \
    LEGACY_OP(xor, xor, SPACE, TYPE)                                                      \
    LEGACY_OP(min, min_##sign, SPACE, TYPE)                                               \
    LEGACY_OP(max, max_##sign, SPACE, TYPE)                                               \
    INLINE TYPE atom_sub(volatile SPACE TYPE *p, TYPE v)                                  \
    {                                                                                     \
        return (TYPE)locked_add((volatile SPACE ulong *)p, 0 - (ulong)v);                 \
    }                                                                                     \
    INLINE TYPE atom_inc(volatile SPACE TYPE *p)                                          \
    {                                                                                     \
        return (TYPE)locked_add((volatile SPACE ulong *)p, 1);                            \
    }                                                                                     \
    INLINE TYPE atom_dec(volatile SPACE TYPE *p)                                          \
    {                                                                                     \
        return (TYPE)locked_add((volatile SPACE ulong *)p, ~(ulong)0);                    \
    }                                                                                     \
    INLINE TYPE atom_cmpxchg(volatile SPACE TYPE *p, TYPE expected, TYPE v)               \
    {                                                                                     \
        return (TYPE)locked_swap((volatile SPACE ulong *)p, (ulong)expected, (ulong)v);   \
    }

LEGACY(__global, long, signed)
LEGACY(__global, ulong, unsigned)
LEGACY(__local, long, signed)
LEGACY(__local, ulong, unsigned)

/* ---------------------------------------------------------------- OpenCL C 3.0, on generic pointers */

#define RELAXED_OP(name, OP, TYPE)                                                        \
    static INLINE TYPE relaxed_##name(volatile TYPE *p, TYPE v)                           \
    {                                                                                     \
        return (TYPE)locked_##OP((volatile ulong *)p, (ulong)v);                          \
    }
#define RELAXED_OPS(TYPE, sign)                                                           \
    RELAXED_OP(exchange, exchange, TYPE)                                                  \
    RELAXED_OP(fetch_add, add, TYPE)                                                      \
    RELAXED_OP(fetch_and, and, TYPE)                                                      \
    RELAXED_OP(fetch_or, or, TYPE)                                                        \
    RELAXED_OP(fetch_xor, xor, TYPE)                                                      \
    RELAXED_OP(fetch_min, min_##sign, TYPE)                                               \
    RELAXED_OP(fetch_max, max_##sign, TYPE)                                               \
    static INLINE TYPE relaxed_fetch_sub(volatile TYPE *p, TYPE v)                        \
    {                                                                                     \
        return (TYPE)locked_add((volatile ulong *)p, 0 - (ulong)v);                       \
    }                                                                                     \
    static INLINE TYPE relaxed_load(volatile TYPE *p)                                     \
    {                                                                                     \
        return (TYPE)locked_or((volatile ulong *)p, 0);                                   \
    }                                                                                     \
    static INLINE void relaxed_store(volatile TYPE *p, TYPE v)                            \
    {                                                                                     \
        locked_exchange((volatile ulong *)p, (ulong)v);                                   \
    }                                                                                     \
    static INLINE TYPE swap(volatile TYPE *p, TYPE expected, TYPE v)                      \
    {                                                                                     \
        return (TYPE)locked_swap((volatile ulong *)p, (ulong)expected, (ulong)v);         \
    }

RELAXED_OPS(long, signed)
RELAXED_OPS(ulong, unsigned)

/* The new value is computed without the lock, which others wait for, until no other work-item has changed the object
 * in between. */
#define DOUBLE_OP(name, expression)                                                       \
    static INLINE double relaxed_##name(volatile double *p, double v)                     \
    {                                                                                     \
        ulong expected, bits = relaxed_load((volatile ulong *)p);                         \
        double old;                                                                       \
        do {                                                                              \
            expected = bits;                                                              \
            old = as_double(expected);                                                    \
            bits = swap((volatile ulong *)p, expected, as_ulong(expression));             \
        } while (bits != expected);                                                       \
        return old;                                                                       \
    }

DOUBLE_OP(fetch_add, old + v)
DOUBLE_OP(fetch_sub, old - v)
DOUBLE_OP(fetch_min, old <= v || v != v ? old : v)
DOUBLE_OP(fetch_max, old >= v || v != v ? old : v)

ACCESS(atomic_long, long, long)
ACCESS(atomic_ulong, ulong, ulong)
ACCESS(atomic_double, double, ulong)
ARITHMETIC(atomic_long, long)
ARITHMETIC(atomic_ulong, ulong)
READ_MODIFY_WRITE(fetch_add, atomic_double, double)
READ_MODIFY_WRITE(fetch_sub, atomic_double, double)
READ_MODIFY_WRITE(fetch_min, atomic_double, double)
READ_MODIFY_WRITE(fetch_max, atomic_double, double)
