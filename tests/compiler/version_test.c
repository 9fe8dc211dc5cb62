/* SPDX-License-Identifier: Apache-2.0 */
/** tc_version is a digest of every file that decides what the compiler makes of a program. */
#include "support.h"

#include <stdio.h>

static void test_digest(void **state)
{
    (void)state;
    char expected[9] = "";
    FILE *f = popen("cd '" TERN_SOURCE "' && cat $(find runtime/compiler runtime/device -type f | LC_ALL=C sort) "
                    "docs/spec/c/tern/tern_spec.h | sha256sum", "r");
    assert_non_null(f);
    assert_int_equal(fread(expected, 1, 8, f), 8);
    while (fgetc(f) != EOF) {
    }
    assert_int_equal(pclose(f), 0);
    assert_string_equal(tc_version(), expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_digest)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
