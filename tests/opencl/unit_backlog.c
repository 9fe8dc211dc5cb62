/* SPDX-License-Identifier: Apache-2.0 */
/** The choice of the next command of a queue, compared with a search of all commands. The steps of the choice are
 *  counted. */
#include "clt.h"

#include <string.h>

#include "runtime/core/backlog.h"
#include "runtime/core/command.h"

enum { MANY = 40000, FEW = 60, ROUNDS = 400 };

static struct rt_command commands[2 * MANY];

/** Returns the command that may start next, found by a search of all. `started` is 1 for a command that has started, 2
 * for one that has ended. */
static struct rt_command *next_by_rules(bool in_order, const unsigned char *started, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        struct rt_command *c = &commands[i];
        if (started[i]) {
            continue;
        }
        bool oldest = true, nothing_older = true;
        for (unsigned k = 0; k < i; k++) {
            oldest = oldest && started[k] != 0;
            nothing_older = nothing_older && started[k] == 2;
        }
        if (c->pending == 0 && (!c->after_all || (oldest && nothing_older))) {
            return c;
        }
        if (in_order || c->fence) {
            return NULL;
        }
    }
    return NULL;
}

/** Appends commands and ends events in random order, and starts and ends commands, until all have ended. */
static void one_run(uint32_t seed, bool in_order)
{
    const uint32_t first_seed = seed;
    unsigned char started[FEW] = {0};
    struct rt_command *flight = NULL;
    struct rt_backlog b = {.in_order = in_order};
    unsigned n = 0, ended = 0;
    memset(commands, 0, FEW * sizeof commands[0]);
    while (ended < FEW) {
        const uint32_t what = clt_random(&seed) % 8;
        if (what < 3 && n < FEW) {
            struct rt_command *c = &commands[n++];
            c->pending = clt_random(&seed) % 2;
            c->fence = clt_random(&seed) % 8 == 0;
            c->after_all = clt_random(&seed) % 5 == 0;
            rt_backlog_append(&b, c);
        } else if (what < 5 && n != 0) {
            struct rt_command *c = &commands[clt_random(&seed) % n];
            if (c->pending != 0) {
                c->pending = 0;
                rt_backlog_ready(&b, c);
            }
        } else if (what < 7) {
            struct rt_command *want = next_by_rules(in_order, started, n);
            if (flight == NULL && rt_backlog_free(&b) != (want != NULL)) {
                fail_msg("seed %u, in order %d: is one free to start?", first_seed, in_order);
            }
            struct rt_command *got = rt_backlog_take(&b, flight);
            if (got != want) {
                fail_msg("seed %u, in order %d: command %td instead of %td (-1: none)", first_seed, in_order,
                         got == NULL ? -1 : got - commands, want == NULL ? -1 : want - commands);
            }
            if (got != NULL && !got->fence && !got->after_all && clt_random(&seed) % 4 == 0) {
                rt_backlog_put_back(&b, got); /* The command is put back, as if the device had no room. */
                got = rt_backlog_take(&b, flight);
                assert_ptr_equal(got, want);
            }
            if (got != NULL && (got->fence || got->after_all)) { /* A command that the host does ends when it starts. */
                started[got - commands] = 2;
                ended++;
            } else if (got != NULL) {
                started[got - commands] = 1;
                got->next = flight;
                flight = got;
            }
        } else if (flight != NULL) {
            started[flight - commands] = 2;
            flight = flight->next;
            ended++;
        }
    }
    assert_null(rt_backlog_take(&b, flight));
}

static void test_order(void **state)
{
    (void)state;
    for (uint32_t i = 1; i <= ROUNDS; i++) {
        one_run(i * 2654435761u, i % 4 == 0);
    }
}

/** MANY commands wait for an event, and as many that wait for nothing pass them until the event ends. */
static void test_steps(void **state)
{
    (void)state;
    struct rt_backlog b = {.in_order = false};
    memset(commands, 0, sizeof commands);
    for (unsigned i = 0; i < MANY; i++) {
        commands[i].pending = 1;
        rt_backlog_append(&b, &commands[i]);
        assert_null(rt_backlog_take(&b, NULL));
    }
    for (unsigned i = MANY; i < 2 * MANY; i++) {
        rt_backlog_append(&b, &commands[i]);
        assert_ptr_equal(rt_backlog_take(&b, NULL), &commands[i]);
    }
    assert_true(b.steps <= 10ull * 2 * MANY);
    for (unsigned i = MANY; i-- > 0;) { /* The events end in a mixed order. */
        const unsigned k = (unsigned)(i * 7919ull % MANY);
        commands[k].pending = 0;
        rt_backlog_ready(&b, &commands[k]);
    }
    for (unsigned i = 0; i < MANY; i++) {
        assert_ptr_equal(rt_backlog_take(&b, NULL), &commands[i]);
    }
    assert_true(b.steps <= 40ull * 2 * MANY); /* 2 log2 MANY is 31. */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
