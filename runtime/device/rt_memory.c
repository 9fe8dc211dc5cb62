/* SPDX-License-Identifier: Apache-2.0 */
/** Run-time library: the block functions that the code generator calls for large copies. */
typedef __SIZE_TYPE__ size_t;
typedef unsigned char byte;

void *memcpy(void *restrict to, const void *restrict from, size_t n);
void *memmove(void *to, const void *from, size_t n);
void *memset(void *to, int c, size_t n);

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
    size_t i = 0;
    if ((((size_t)to | (size_t)from) & 3) == 0) {
        for (; i + 4 <= n; i += 4) {
            *(unsigned *)((byte *)to + i) = *(const unsigned *)((const byte *)from + i);
        }
    }
    for (; i < n; i++) {
        ((byte *)to)[i] = ((const byte *)from)[i];
    }
    return to;
}

void *memmove(void *to, const void *from, size_t n)
{
    if ((size_t)to - (size_t)from >= n) {
        return memcpy(to, from, n);
    }
    while (n-- > 0) {
        ((byte *)to)[n] = ((const byte *)from)[n];
    }
    return to;
}

void *memset(void *to, int c, size_t n)
{
    size_t i = 0;
    if (((size_t)to & 3) == 0) {
        for (; i + 4 <= n; i += 4) {
            *(unsigned *)((byte *)to + i) = (byte)c * 0x01010101u;
        }
    }
    for (; i < n; i++) {
        ((byte *)to)[i] = (byte)c;
    }
    return to;
}
