/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

void ok_at(int r, const char *what, const char *file, int line)
{
    if (r) {
        print_error("%s: %d, %s\n", what, r, tern_last_error());
        _fail(file, line);
    }
}

void expect_says(const char *text, const char *part)
{
    if (!strstr(text, part)) {
        fail_msg("'%s' does not say '%s'", text, part);
    }
}

void expect_bytes(struct tern_allocation *a, uint64_t offset, size_t size, uint8_t value)
{
    uint8_t *got = malloc(size);
    assert_non_null(got);
    ok(tern_allocation_read(a, offset, got, size));
    for (size_t i = 0; i < size; i++) {
        if (got[i] != value) {
            fail_msg("byte %zu is %u and not %u", (size_t)offset + i, got[i], value);
        }
    }
    free(got);
}

void expect_filled(struct tern_allocation *a, uint8_t value)
{
    expect_bytes(a, 0, tern_allocation_size(a), value);
}
