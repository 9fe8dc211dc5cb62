/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Local memory of the functions of work-groups (collectives.cl): a value of each work-item of the largest group. The
 * source is C, because OpenCL C has local variables in kernels only. A kernel has the memory if it calls such a
 * function.
 */
#define MOST_ITEMS 1024
#define LOCAL __attribute__((address_space(3)))
#define FIND __attribute__((const, nothrow, always_inline))

FIND LOCAL unsigned *__tern_words(void)
{
    static LOCAL unsigned words[MOST_ITEMS];
    return words;
}

FIND LOCAL unsigned long long *__tern_double_words(void)
{
    static LOCAL unsigned long long words[MOST_ITEMS];
    return words;
}
