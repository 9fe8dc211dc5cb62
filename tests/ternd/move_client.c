/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A program whose ternd changes beneath it (test_migrate.py): for each line that it reads it has moved once more. While
 * it moves, a thread of it waits for a fence, and work of it for another; after it, all must go on: values of fences,
 * completions in order and once each, times that never go back, memory, new objects, and calls of several threads at a
 * time, for which new connections are made where it is now. "ready" when it may move; exit status 0: all was right.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

#include "tests/driver/support/check.h"
#include "tests/driver/support/descriptors.h"
#include "tests/driver/support/work.h"
#include "tests/lib/submit.h"

#define THREADS 4
#define BURST 6000

static struct work b;
static struct tern_device *dev;
static struct tern_process *p;
static struct tern_context *c;
static struct tern_fence *gate, *last;
static struct tern_allocation *a;
static uint64_t round_number, told, latest;
static bool more_completions;

static void completed(void *user, const struct tern_completion *t)
{
    (void)user;
    assert_int_equal(t->fence, ++told);
    assert_int_equal(t->result, TERN_COMPLETED);
    assert_true(t->submitted <= t->begin && t->begin <= t->end && latest <= t->end);
    latest = t->end;
}

static void *wait_for_gate(void *user)
{
    (void)user;
    ok(tern_fence_wait(gate, round_number, -1));
    return NULL;
}

/** Waits for its fence, with a call under way at the same time as the other threads. */
static void *wait_and_work(void *user)
{
    struct tern_fence *own = user;
    uint64_t value = 0;
    ok(tern_fence_wait(own, 8, -1));
    ok(tern_fence_value(own, &value));
    assert_int_equal(value, 8);
    return NULL;
}

/** Returns when the threads and the one that waits for the gate have had a call under way at the same time, however
 *  late they came to run: a connection for each, and the session. */
static void all_wait(void)
{
    while (open_descriptors("socket:") < THREADS + 2) {
        usleep(1000);
    }
}

/** More completions at a time than their ring has room for, and more submissions than theirs. */
static void burst(void)
{
    struct tern_fence *start;
    uint64_t fence = 0;
    ok(tern_fence_create(p, 0, &start));
    work_wait(&b, tern_fence_address(start), 1);
    work_submit(&b, c, "burst");
    for (int i = 0; i < BURST; i++) {
        ok(submit_null(c, "a label that makes the entry of the ring longer than it would be without", &fence));
    }
    ok(tern_fence_signal(start, 1));
    ok(tern_wait(c, fence, -1));
    assert_int_equal(told, fence);
    tern_fence_destroy(start);
}

static void one_move(void)
{
    pthread_t waits, more[THREADS];
    struct tern_fence *own[THREADS];
    struct tern_process *q;
    char line[16];
    uint8_t data[64];
    const uint64_t before = tern_device_time(dev);
    round_number++;
    assert_true(latest <= before);
    latest = before;
    work_wait(&b, tern_fence_address(gate), round_number);
    work_fill(&b, tern_allocation_address(a), 8192, (uint8_t)round_number);
    work_signal(&b, tern_fence_address(last), round_number);
    const uint64_t fence = work_submit(&b, c, "behind the gate");
    assert_int_equal(pthread_create(&waits, NULL, wait_for_gate, NULL), 0);
    puts("ready");
    fflush(stdout);
    assert_non_null(fgets(line, sizeof line, stdin));
    for (int i = 0; i < THREADS; i++) {
        ok(tern_fence_create(p, 7, &own[i]));
        assert_int_equal(pthread_create(&more[i], NULL, wait_and_work, own[i]), 0);
    }
    all_wait();
    const uint64_t after = tern_device_time(dev);
    assert_true(before <= after);
    assert_true(tern_device_time_seen(dev) >= before);
    assert_int_equal(tern_wait(c, fence, 0), -ETIMEDOUT);
    ok(tern_fence_signal(gate, round_number));
    ok(tern_wait(c, fence, -1));
    ok(tern_fence_wait(last, round_number, -1));
    ok(tern_allocation_read(a, 8192 - sizeof data, data, sizeof data));
    for (size_t i = 0; i < sizeof data; i++) {
        assert_int_equal(data[i], (uint8_t)round_number);
    }
    pthread_join(waits, NULL);
    for (int i = 0; i < THREADS; i++) {
        ok(tern_fence_signal(own[i], 8));
        pthread_join(more[i], NULL);
        tern_fence_destroy(own[i]);
    }
    if (more_completions) {
        burst();
    }
    ok(tern_process_create(dev, "another", &q)); /* it has the partition's name, and the session's limits, still */
    ok(tern_process_destroy(q));
    assert_true(told >= fence);
}

#define LARGE (32u << 20)

/** Memory that takes a while to be sent: filled with what cannot be compressed, or compared with it. */
static void large(struct tern_allocation *to, bool compare)
{
    static uint64_t want[1u << 17], got[1u << 17]; /* 1 MiB */
    uint64_t x = 88172645463325252u;
    for (uint64_t at = 0; at < LARGE; at += sizeof want) {
        for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            want[i] = x;
        }
        if (compare) {
            ok(tern_allocation_read(to, at, got, sizeof got));
            assert_memory_equal(got, want, sizeof want);
        } else {
            ok(tern_allocation_write(to, at, want, sizeof want));
        }
    }
}

/** May it keep more on the device? */
static bool pins_more(void)
{
    struct tern_allocation *more;
    ok(tern_allocation_create(p, 4096, TERN_MEM_READ, 0, &more));
    const int r = tern_allocation_make_resident(more);
    tern_allocation_destroy(more);
    return r == 0;
}

int main(int argc, char **argv)
{
    struct tern_allocation *much = NULL;
    const struct tern_context_desc d = {.size = sizeof d, .name = "moves", .engine = -1, .weight = 100,
                                        .completed = completed};
    char line[16];
    ok(tern_device_open(NULL, NULL, &dev));
    ok(tern_process_create(dev, "moves", &p));
    ok(tern_allocation_create(p, 8192, TERN_MEM_READ | TERN_MEM_WRITE, 0, &a));
    ok(tern_fence_create(p, 0, &gate));
    ok(tern_fence_create(p, 0, &last));
    ok(tern_context_create(p, &d, &c));
    more_completions = argc > 1 && !strcmp(argv[1], "burst");
    if (argc > 1 && (!strcmp(argv[1], "focus") || !strcmp(argv[1], "realtime"))) {
        ok(tern_context_set_priority(c, *argv[1] == 'f' ? TERN_BAND_FOCUS : TERN_BAND_REALTIME, 100));
        ok(tern_allocation_make_resident(a));
    }
    if (argc > 1 && !strcmp(argv[1], "large")) {
        ok(tern_allocation_create(p, LARGE, TERN_MEM_READ | TERN_MEM_WRITE, 0, &much));
        large(much, false);
    }
    puts("begins");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin) && (*line == 'm' || *line == 'p')) {
        if (*line == 'm') {
            one_move();
            puts("done");
        } else {
            puts(pins_more() ? "pins" : "pins no more");
        }
        fflush(stdout);
    }
    if (much) {
        large(much, true);
        tern_allocation_destroy(much);
    }
    tern_context_destroy(c);
    tern_fence_destroy(last);
    tern_fence_destroy(gate);
    tern_allocation_destroy(a);
    ok(tern_process_destroy(p));
    ok(tern_device_close(dev));
    return 0;
}
