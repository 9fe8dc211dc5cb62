/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The example of docs/scheduling.md with its numbers, and its invariants of single steps (I5 to I7). os/sched/fair.c is
 * called directly: there are no engines, only the cycles that they would have run.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fair_check.h"
#include "os/sched/sched_internal.h"
#include "tern/tern.h"

#define BAND TERN_BAND_NORMAL
#define ENGINES 3
#define CONTEXTS 8

static struct tern_sched s;
static struct tern_sched_process p, q; /* contexts 0 to 5, and 6 and 7 */
static struct tern_sched_context c[CONTEXTS];
static struct fair_seen seen;
static int64_t contexts_min[2 * ENGINES];

static void begin(uint64_t quantum)
{
    struct tern_sched_config config;
    tern_sched_config_default(&config);
    config.band[BAND].quantum = quantum;
    tern_sched_init(&s, NULL, NULL, ENGINES, &config);
    tern_sched_process_init(&s, &p, false);
    tern_sched_process_init(&s, &q, false);
    memset(&seen, 0, sizeof seen);
    memset(contexts_min, 0, sizeof contexts_min);
    for (int i = 0; i < CONTEXTS; i++) {
        tern_sched_context_init(&s, &c[i], i < 6 ? &p : &q, TERN_ENGINE_ANY, BAND, 100);
        tern_list_append(&c[i].process->contexts, &c[i].node);
    }
}

static void check(void)
{
    const char *broken = fair_check(&s, &seen);
    if (broken) {
        fail_msg("%s", broken);
    }
    for (int i = 0; i < 2 * ENGINES; i++) { /* I2 also of the queues of contexts */
        const int64_t now = (i % 2 ? &p : &q)->group[BAND][i / 2].queue.min_vruntime;
        assert_true(now >= contexts_min[i]);
        contexts_min[i] = now;
    }
}

static void become(struct tern_sched_context *x, enum tern_sched_state state)
{
    tern_fair_dequeue(&s, x);
    x->state = state;
    tern_fair_enqueue(&s, x);
    check();
}

/** Runs the context that the engine's queue picks for so many cycles. Returns it. */
static struct tern_sched_context *run(uint32_t engine, int64_t cycles)
{
    struct tern_sched_context *x = tern_fair_pick(&s.main.on[engine].band[BAND]);
    if (x) {
        tern_fair_dispatched(&s, x, cycles);
        tern_fair_returned(&s, x);
        check();
    }
    return x;
}

static struct tern_fair_group *group(const struct tern_sched_process *of, uint32_t engine)
{
    return &((struct tern_sched_process *)(uintptr_t)of)->group[BAND][engine];
}

/** Checks a virtual time, in cycles of weight 1. */
static void expect(int64_t time, int64_t cycles)
{
    assert_int_equal(time, cycles * TERN_FAIR_SCALE);
}

static void test_the_example(void **state)
{
    struct tern_sched_context *A = &c[0], *B = &c[1], *C = &c[2], *D = &c[6];
    (void)state;
    begin(10000);
    tern_fair_set_weight(&s, C, 400);
    D->engine = 1;
    struct tern_sched_context *first[] = {A, B, C, C, C, C}, *second[] = {A, C, C, C, C};
    become(A, TERN_SCHED_READY);
    become(B, TERN_SCHED_READY);
    become(C, TERN_SCHED_READY);
    become(D, TERN_SCHED_READY);
    for (int i = 0; i < 6; i++) { /* row 1 */
        assert_ptr_equal(run(0, 400), first[i]);
        assert_ptr_equal(run(1, 400), D);
    }
    expect(A->entity.vruntime, 400);
    expect(B->entity.vruntime, 400);
    expect(C->entity.vruntime, 400);
    expect(group(&p, 0)->queue.min_vruntime, 300);
    expect(group(&p, 0)->entity.vruntime, 2400);
    become(B, TERN_SCHED_EMPTY);
    for (int i = 0; i < 5; i++) { /* row 2 */
        assert_ptr_equal(run(0, 400), second[i]);
        assert_ptr_equal(run(1, 400), D);
    }
    expect(A->entity.vruntime, 800);
    expect(B->entity.vruntime, 400);
    expect(C->entity.vruntime, 800);
    expect(group(&p, 0)->queue.min_vruntime, 700);
    expect(group(&p, 0)->entity.vruntime, 4400);
    become(B, TERN_SCHED_READY); /* row 3 */
    expect(B->entity.vruntime, 700);
    assert_ptr_equal(run(0, 400), B);
    assert_ptr_equal(run(1, 400), D);
    expect(B->entity.vruntime, 1100);
    expect(group(&p, 0)->entity.vruntime, 4800);
    expect(group(&q, 1)->entity.vruntime, 4800);
    tern_fair_migrate(&s, C, 1); /* row 4 */
    check();
    expect(group(&p, 0)->entity.vruntime, 5400);
    expect(group(&p, 1)->entity.vruntime, 4500);
    assert_ptr_equal(run(1, 400), C); /* row 5 */
    expect(group(&p, 1)->entity.vruntime, 5100);
    assert_ptr_equal(run(1, 400), D);
}

static uint32_t pick(uint32_t n)
{
    return (uint32_t)rand() % n;
}

/** Returns the cycles that an entity is ahead of min_vruntime. */
static double ahead(const struct tern_fair_queue *in, const struct tern_fair_entity *e, double weight)
{
    return (double)(e->vruntime - in->min_vruntime) * weight / TERN_FAIR_SCALE;
}

static double weight_of(const struct tern_sched_process *of, uint32_t engine)
{
    return group(of, engine)->queue.load ? (double)group(of, engine)->queue.load / (double)of->weight[BAND] : 1;
}

/** Returns the sum of the process's vruntimes, each weighted and on the clock of its engine, in cycles. */
static double service(const struct tern_sched_process *of)
{
    double sum = 0;
    for (uint32_t e = 0; e < ENGINES; e++) {
        const struct tern_fair_group *g = group(of, e);
        sum += g->queue.load ? weight_of(of, e) * (double)(g->entity.vruntime - s.main.on[e].band[BAND].offset) : 0;
    }
    return sum / TERN_FAIR_SCALE;
}

static void random_run(uint64_t quantum)
{
    begin(quantum);
    for (int i = 0; i < CONTEXTS; i++) {
        tern_fair_set_weight(&s, &c[i], 1 + pick(1000));
        c[i].engine = (uint32_t)i % 2;
    }
}

/** I5: a context that wakes up is not behind min_vruntime. One that moves or changes weight is ahead or behind by at
 * most 16 quanta. */
static void test_lag_where_it_is_placed(void **state)
{
    const double most = 1000.0 * TERN_FAIR_LAG_MAX + 1;
    int far = 0;
    (void)state;
    random_run(1000);
    for (int i = 0; i < 50000; i++) {
        struct tern_sched_context *x = &c[pick(CONTEXTS)];
        const uint32_t what = pick(4);
        run(pick(2), 1 + (int64_t)pick(20) * (pick(50) ? 100 : 10000));
        if (what == 0 && !x->live) {
            become(x, TERN_SCHED_READY);
            assert_true(x->entity.vruntime >= group(x->process, x->engine)->queue.min_vruntime);
            if (group(x->process, x->engine)->queue.live == 1) {
                const struct tern_fair_queue *processes = &s.main.on[x->engine].band[BAND].queue;
                assert_true(ahead(processes, &group(x->process, x->engine)->entity, 1) >= 0);
            }
        } else if (what == 0) {
            become(x, TERN_SCHED_EMPTY);
        } else {
            const bool moves = what == 1 && x->live;
            if (moves) {
                tern_fair_migrate(&s, x, 1 - x->engine);
            } else {
                tern_fair_set_weight(&s, x, 1 + pick(1000));
            }
            check();
            const struct tern_fair_group *g = group(x->process, x->engine);
            const double mine = ahead(&g->queue, &x->entity, x->weight / 100.0);
            const double weight = weight_of(x->process, x->engine);
            const double its = ahead(&s.main.on[x->engine].band[BAND].queue, &g->entity, weight);
            far += fabs(mine) > most / 2 || fabs(its) > most / 2;
            if (moves && (fabs(mine) > most || fabs(its) > most)) {
                fail_msg("step %d: a context that moved is %.0f ahead, its process %.0f", i, mine, its);
            }
        }
    }
    assert_true(far > 10); /* the bound is nearly reached */
}

/** I5: a change of weight keeps lags in cycles: the context's, and its process's on every engine. */
static void test_weights_keep_lags(void **state)
{
    int owed = 0;
    (void)state;
    random_run(1ull << 40); /* every lag is below 16 of these */
    for (int i = 0; i < CONTEXTS; i++) {
        become(&c[i], TERN_SCHED_READY);
    }
    for (int i = 0; i < 20000; i++) {
        struct tern_sched_context *x = &c[pick(CONTEXTS)];
        const struct tern_fair_queue *mine = &group(x->process, x->engine)->queue;
        double before[ENGINES];
        run(pick(2), 1 + pick(5000));
        const double was = ahead(mine, &x->entity, x->weight / 100.0);
        for (uint32_t e = 0; e < 2; e++) {
            before[e] = ahead(&s.main.on[e].band[BAND].queue, &group(x->process, e)->entity, weight_of(x->process, e));
        }
        tern_fair_set_weight(&s, x, 1 + pick(1000));
        check();
        assert_true(fabs(ahead(mine, &x->entity, x->weight / 100.0) - was) <= 1);
        for (uint32_t e = 0; e < 2; e++) {
            const struct tern_fair_queue *in = &s.main.on[e].band[BAND].queue;
            assert_true(fabs(ahead(in, &group(x->process, e)->entity, weight_of(x->process, e)) - before[e]) <= 1);
        }
        owed += fabs(was) > 100;
    }
    assert_true(owed > 1000);
}

/** I6: an engine that gets its first context takes the clock of the fastest other engine. No clock leads by more than 8
 * quanta. */
static void test_clocks_of_engines(void **state)
{
    (void)state;
    begin(1000);
    c[6].engine = 1;
    c[7].engine = 2;
    become(&c[0], TERN_SCHED_READY);
    become(&c[6], TERN_SCHED_READY);
    for (int i = 0; i < 100; i++) {
        run(0, 1000);
    }
    become(&c[6], TERN_SCHED_EMPTY);
    become(&c[6], TERN_SCHED_READY);
    assert_int_equal(tern_fair_clock(&s.main.on[1].band[BAND]), tern_fair_clock(&s.main.on[0].band[BAND]));
    run(0, 5000);
    run(0, 5000);
    become(&c[7], TERN_SCHED_READY);
    assert_true(tern_fair_clock(&s.main.on[1].band[BAND]) < tern_fair_clock(&s.main.on[0].band[BAND]));
    assert_int_equal(tern_fair_clock(&s.main.on[2].band[BAND]), tern_fair_clock(&s.main.on[0].band[BAND]));
    for (int i = 0; i < 100; i++) {
        run(1, 1000);
        tern_sched_balance(&s, 1);
        const int64_t lead = tern_fair_clock(&s.main.on[1].band[BAND]) - tern_fair_clock(&s.main.on[0].band[BAND]);
        assert_true(lead <= 8 * 1000 * TERN_FAIR_SCALE);
        assert_true(i < 20 || lead == 8 * 1000 * TERN_FAIR_SCALE);
    }
}

/** I7: a move keeps the service of the process. */
static void test_moves_keep_service(void **state)
{
    int moves = 0;
    (void)state;
    random_run(1ull << 40); /* every lag is below 16 of these */
    for (int i = 0; i < CONTEXTS; i++) {
        become(&c[i], TERN_SCHED_READY);
    }
    s.main.on[1].band[BAND].offset = 987654 * TERN_FAIR_SCALE;
    for (int i = 0; i < 20000; i++) {
        struct tern_sched_context *x = &c[pick(CONTEXTS)];
        run(pick(2), 1 + pick(5000));
        const uint32_t there = 1 - x->engine;
        if (pick(4) || !s.main.on[there].band[BAND].queue.live || s.main.on[x->engine].band[BAND].queue.live < 2) {
            continue;
        }
        const double before = service(x->process);
        tern_fair_migrate(&s, x, there);
        check();
        if (fabs(service(x->process) - before) > 1) {
            fail_msg("step %d: %.2f cycles became %.2f", i, before, service(x->process));
        }
        moves++;
    }
    assert_true(moves > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_example),
        cmocka_unit_test(test_lag_where_it_is_placed),
        cmocka_unit_test(test_weights_keep_lags),
        cmocka_unit_test(test_clocks_of_engines),
        cmocka_unit_test(test_moves_keep_service),
    };
    srand(1);
    return cmocka_run_group_tests_name("sched_clocks", tests, NULL, NULL);
}
