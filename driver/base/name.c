/* SPDX-License-Identifier: Apache-2.0 */
#include "base/name.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"

int tern_name_check(const char *name, size_t size)
{
    const char *known = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    const size_t n = strnlen(name, size);
    return n && n < size && strspn(name, known) == n
        ? 0
        : tern_error(-EINVAL, "a partition's name has 1 to %zu characters: letters, digits, '.', '_', '-'", size - 1);
}
