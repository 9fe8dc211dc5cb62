/* SPDX-License-Identifier: Apache-2.0 */
/** Sweeps of fabs with one wrong result each, for check-ranges: a sweep must fail at that argument and at no other. */
#include "sweep.h"

#include <math.h>

static double check(const struct sweep_case *c, unsigned width, const union sweep_value in[3],
                    const union sweep_value got[2], union sweep_value expected[2])
{
    (void)width;
    expected[0].f = fabsf(in[0].f);
    return sweep_exact(c, got, expected);
}

#define WRONG_AT(NAME, BITS) \
    {NAME, "r = as_uint(a) == " #BITS "u ? 0.5f : fabs(a);", {SWEEP_FLOAT}, {SWEEP_FLOAT}, .check = check}

static const struct sweep_case cases[] = {
    WRONG_AT("first", 0x00000000),
    WRONG_AT("middle", 0x12345678),
    WRONG_AT("last", 0xffffffff),
};

static void test_wrong(void **state)
{
    (void)state;
    sweep_run(cases, LENGTH(cases), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_wrong)};
    return cmocka_run_group_tests(tests, clt_open, clt_close);
}
