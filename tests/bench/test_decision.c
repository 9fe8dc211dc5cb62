/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A decision of the scheduler among 10,000 contexts takes little more work than one among 10. Work is counted, not
 * timed: the scheduler is compiled with -fsanitize-coverage=trace-pc, so that each basic block calls a function here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "sched_decision.h"

/* The measured ratio is 1.5. Most of a decision does not depend on the number of contexts, and the rest on its
 * logarithm. */
#define GROWTH 2

static unsigned long blocks;

/** The compiler defines this name and declares no function. */
void __sanitizer_cov_trace_pc(void);
__attribute__((visibility("default"))) void __sanitizer_cov_trace_pc(void)
{
    blocks++;
}

static double counted(void)
{
    return (double)blocks;
}

static void test_work_among_many(void **state)
{
    double few, many, again;
    (void)state;
    assert_int_equal(sched_decision(10, counted, &few), 0);
    assert_int_equal(sched_decision(10000, counted, &many), 0);
    assert_int_equal(sched_decision(10000, counted, &again), 0);
    printf("a decision runs %.1f basic blocks among 10 contexts, %.1f among 10,000: %.2f times as many\n", few, many,
           many / few);
    assert_true(few > 0);
    assert_true(again == many); /* The same decisions take the same number of basic blocks. */
    assert_true(many <= GROWTH * few);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_work_among_many)};
    return cmocka_run_group_tests_name("decision", tests, NULL, NULL);
}
