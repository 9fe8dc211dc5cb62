/* SPDX-License-Identifier: Apache-2.0 */
/** Structs that begin with their size (sized.h). */
#include "base/sized.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"

#define STRUCT_BYTES_MAX 65536u /* a larger size was never set */

static int size_of(const void *from, uint32_t *size)
{
    memcpy(size, from, sizeof *size);
    return *size >= sizeof *size && *size <= STRUCT_BYTES_MAX
        ? 0
        : tern_error(-EINVAL, "the field size of a struct is %u: set it to sizeof the struct before the call", *size);
}

int tern_sized_give(void *out, const void *own, size_t own_size)
{
    uint32_t size;
    const int r = size_of(out, &size);
    if (!r) {
        const uint32_t n = size < own_size ? size : (uint32_t)own_size;
        memcpy(out, own, n);
        memset((char *)out + n, 0, size - n);
        memcpy(out, &n, sizeof n);
    }
    return r;
}

int tern_sized_give_at(void *out, uint32_t stride, size_t i, const void *own, size_t own_size)
{
    char *to = (char *)out + i * stride;
    memcpy(to, &stride, sizeof stride);
    return tern_sized_give(to, own, own_size);
}

int tern_sized_take(void *own, size_t own_size, const void *in)
{
    uint32_t size;
    const int r = size_of(in, &size);
    if (r) {
        return r;
    }
    for (size_t i = own_size; i < size; i++) {
        if (((const char *)in)[i]) {
            return tern_error(-E2BIG, "byte %zu of a struct is set, and this library knows %zu: it is too old for "
                              "the program", i, own_size);
        }
    }
    const size_t n = size < own_size ? size : own_size;
    memset(own, 0, own_size);
    memcpy(own, in, n);
    return 0;
}
