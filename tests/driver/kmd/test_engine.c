/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The kmd's contract of an engine (C5, P3-P5, F3) under any order of events. A toy engine behind the registers
 * completes, faults and stops at random, also between the two indications of one stop. The test submits, requests to
 * stop, repeats requests, resets and polls at random. Each buffer must end exactly once.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hal/hal.h"
#include "kmd/kmd.h"

/* ---------------------------------------------------------------- the toy engine */

struct told {
    uint32_t kind;
    uint64_t fence, begin;
    uint32_t fault;
};

static struct toy {
    struct tern_hal hal;
    uint64_t queue[2], begin, now, submitted;
    uint32_t n, inds, granularity, commands;
    bool stopping, cut, gone, stuck, pages;
    struct told ind[4];
} toy;

static void indicate(uint32_t kind)
{
    toy.ind[toy.inds++] = (struct told){kind, toy.queue[0], toy.begin, 0};
    toy.queue[0] = toy.queue[1];
    toy.n--;
    toy.begin = 0;
}

/** The running buffer asks for a page: it is preempted, and the next steps cancel those behind it. */
static void toy_page(void)
{
    toy.now++;
    toy.ind[toy.inds] = (struct told){0};
    indicate(TERN_ENGINE_IND_INFO_KIND_PREEMPTED);
    toy.ind[toy.inds - 1].fault = TERN_FAULT_PAGE_ABSENT;
    toy.stopping = toy.cut = toy.n != 0;
}

/** Does one step of the engine: the front buffer begins, ends, faults, is stopped, or asks for a page. */
static void toy_step(int chance)
{
    if (toy.pages && toy.n && toy.begin && chance % 5 == 0) {
        toy_page();
        return;
    }
    toy.now++;
    if (!toy.n) {
        toy.stopping = false;
        return;
    }
    if (toy.stopping && (toy.cut || toy.granularity > 0 || !toy.begin)) {
        indicate(TERN_ENGINE_IND_INFO_KIND_PREEMPTED);
        toy.cut = toy.n != 0;
        toy.stopping = toy.cut;
    } else if (!toy.begin) {
        toy.begin = toy.now;
    } else {
        indicate(chance % 8 ? TERN_ENGINE_IND_INFO_KIND_COMPLETED : TERN_ENGINE_IND_INFO_KIND_FAULTED);
        toy.cut = toy.stopping;
        toy.stopping = toy.stopping && toy.n;
    }
}

static int toy_read(struct tern_hal *hal, uint32_t offset, uint32_t *value)
{
    (void)hal;
    const struct told *t = &toy.ind[0];
    *value = 0;
    if (toy.gone) {
        *value = UINT32_MAX;
    } else if (offset == TERN_REG_ENGINE_STATUS(0)) {
        *value = toy.n | (toy.begin ? TERN_ENGINE_STATUS_BUSY_MASK : 0) |
            (toy.stuck ? TERN_ENGINE_STATUS_RESET_MASK : 0) |
                 toy.inds << TERN_ENGINE_STATUS_INDICATIONS_SHIFT;
    } else if (offset == TERN_REG_ENGINE_IND_INFO(0)) {
        *value = t->kind | t->fault << TERN_ENGINE_IND_INFO_FAULT_SHIFT;
    } else if (offset == TERN_REG_ENGINE_IND_FENCE_LO(0)) {
        *value = (uint32_t)t->fence;
    } else if (offset == TERN_REG_ENGINE_IND_BEGIN_LO(0)) {
        *value = (uint32_t)t->begin;
    }
    return 0;
}

static void toy_write(uint32_t offset, uint32_t value)
{
    if (offset == TERN_REG_ENGINE_SUB_FENCE_LO(0)) {
        toy.submitted = value;
    } else if (offset == TERN_REG_ENGINE_SUB_DOORBELL(0)) {
        assert_true(toy.n < 2 && toy.n + toy.inds < 4);
        toy.queue[toy.n++] = toy.submitted;
    } else if (offset == TERN_REG_ENGINE_IND_POP(0)) {
        memmove(&toy.ind[0], &toy.ind[1], --toy.inds * sizeof toy.ind[0]);
    } else if (offset == TERN_REG_ENGINE_COMMAND(0) && value & TERN_ENGINE_COMMAND_RESET_MASK) {
        toy.n = 0;
        toy.begin = 0;
        toy.stopping = toy.cut = false;
    } else if (offset == TERN_REG_ENGINE_COMMAND(0)) {
        uint32_t g = value >> TERN_ENGINE_COMMAND_GRANULARITY_SHIFT & 3;
        toy.commands++;
        toy.granularity = toy.stopping && g < toy.granularity ? toy.granularity : g;
        toy.stopping = toy.n != 0; /* a request to an empty queue is ignored */
    }
}

static int toy_writes(struct tern_hal *hal, const struct tern_hal_write *writes, size_t n)
{
    (void)hal;
    for (size_t i = 0; i < n; i++) {
        toy_write(writes[i].offset, writes[i].value);
    }
    return 0;
}

static int toy_flush(struct tern_hal *hal)
{
    (void)hal;
    return 0;
}

static int toy_wait(struct tern_hal *hal, uint64_t cycles)
{
    (void)hal;
    (void)cycles;
    return toy.inds != 0;
}

static const struct tern_hal_ops ops = {
    .read32 = toy_read, .write32 = toy_writes, .flush = toy_flush, .wait = toy_wait};
static struct tern_kmd kmd;

static int setup(void **state)
{
    (void)state;
    memset(&toy, 0, sizeof toy);
    memset(&kmd, 0, sizeof kmd);
    toy.hal.ops = &ops;
    kmd = (struct tern_kmd){.hal = &toy.hal, .engines = 1, .granularity = TERN_ENGINE_COMMAND_GRANULARITY_INSTRUCTION};
    return 0;
}

static int submit(uint64_t fence)
{
    return tern_kmd_submit(&kmd, 0, &(struct tern_hw_entry){.fence = fence});
}

static struct tern_indication next(void)
{
    struct tern_indication i;
    assert_int_equal(tern_kmd_poll(&kmd, 0, &i), 1);
    return i;
}

static void expect_none(void)
{
    struct tern_indication i;
    assert_int_equal(tern_kmd_poll(&kmd, 0, &i), 0);
}

/* ---------------------------------------------------------- directed cases */

/** P4: the queue is empty, so the driver answers without the hardware. */
static void test_answers_itself(void **state)
{
    (void)state;
    assert_int_equal(submit(1), 0);
    toy_step(1);
    toy_step(1);
    struct tern_indication i = next();
    assert_true(i.kind == TERN_KMD_COMPLETED && i.fence == 1);
    assert_int_equal(tern_kmd_preempt(&kmd, 0, 100, 3), 0);
    assert_int_equal(toy.commands, 0);
    assert_int_equal(submit(2), -EAGAIN); /* the answer has not been taken yet */
    i = next();
    assert_true(i.kind == TERN_KMD_PREEMPTED && i.fence == 100 && i.last_completed == 1 && i.cut == 0 && !i.began);
    expect_none();
    assert_int_equal(submit(2), 0);
}

/** P4: all buffers have completed and are not reported yet. The hardware ignores the request, and the driver answers
 * it. */
static void test_completion_on_the_way(void **state)
{
    (void)state;
    assert_int_equal(submit(1), 0);
    assert_int_equal(submit(2), 0);
    for (int k = 0; k < 4; k++) {
        toy_step(1);
    }
    assert_true(toy.n == 0 && toy.inds == 2);
    assert_int_equal(tern_kmd_preempt(&kmd, 0, 100, 3), 0);
    assert_int_equal(next().fence, 1);
    assert_int_equal(next().fence, 2);
    struct tern_indication i = next();
    assert_true(i.kind == TERN_KMD_PREEMPTED && i.fence == 100 && i.last_completed == 2 && i.cut == 0);
    expect_none();
}

static void test_cut_and_cancelled(void **state)
{
    (void)state;
    assert_int_equal(submit(1), 0);
    assert_int_equal(submit(2), 0);
    assert_int_equal(submit(3), -EAGAIN); /* C6 */
    toy_step(1);
    assert_int_equal(tern_kmd_preempt(&kmd, 0, 100, 0), 0);
    assert_int_equal(tern_kmd_preempt(&kmd, 0, 101, 3), -EBUSY); /* one request at a time */
    assert_int_equal(tern_kmd_preempt(&kmd, 0, 100, 3), 0);      /* the same request, at a finer granularity */
    assert_int_equal(toy.granularity, 3);
    toy_step(1);
    expect_none(); /* the first half of a stop is no answer */
    toy_step(1);
    struct tern_indication i = next();
    assert_true(i.kind == TERN_KMD_PREEMPTED && i.fence == 100 && i.last_completed == 0 && i.cut == 1 && i.began);
    expect_none();
}

/** P9: a request is no finer than the device's granularity. */
static void test_granularity_of_the_device(void **state)
{
    (void)state;
    kmd.granularity = TERN_ENGINE_COMMAND_GRANULARITY_PACKET;
    assert_int_equal(submit(1), 0);
    assert_int_equal(tern_kmd_preempt(&kmd, 0, 100, 3), 0);
    assert_int_equal(toy.granularity, TERN_ENGINE_COMMAND_GRANULARITY_PACKET);
}

/** A reset in the middle of a stop. The preempted buffer's state has been saved, the waiting one has not begun, and
 * none is lost. */
static void test_reset_within_a_stop(void **state)
{
    (void)state;
    uint64_t last = 99;
    assert_int_equal(submit(1), 0);
    assert_int_equal(submit(2), 0);
    toy_step(1);
    assert_int_equal(tern_kmd_preempt(&kmd, 0, 100, 3), 0);
    toy_step(1);
    assert_true(toy.n == 1 && toy.inds == 1);
    assert_int_equal(tern_kmd_reset(&kmd, 0, true, &last), 0);
    assert_int_equal(last, 0);
    struct tern_indication i = next();
    assert_true(i.kind == TERN_KMD_PREEMPTED && i.fence == 100 && i.cut == 1 && i.began);
    expect_none();
    assert_int_equal(submit(1), 0);
}

/** F3: completed buffers are reported. The lost ones lie between last completed and last submitted. The reset also
 * answers the request to stop. */
static void test_reset(void **state)
{
    (void)state;
    uint64_t last = 99;
    struct tern_kmd_status s;
    assert_int_equal(submit(1), 0);
    assert_int_equal(submit(2), 0);
    toy_step(1);
    toy_step(1);
    assert_int_equal(tern_kmd_preempt(&kmd, 0, 100, 0), 0);
    assert_int_equal(tern_kmd_status(&kmd, 0, &s), 0);
    assert_true(s.queued == 2 && s.stopping && s.last_submitted == 2 && s.last_completed == 0);
    assert_int_equal(tern_kmd_reset(&kmd, 0, true, &last), 0);
    assert_int_equal(last, 2);
    assert_int_equal(submit(3), -EAGAIN);
    struct tern_indication i = next();
    assert_true(i.kind == TERN_KMD_COMPLETED && i.fence == 1);
    expect_none();
    assert_int_equal(tern_kmd_status(&kmd, 0, &s), 0);
    /* P5: the reset advances last_completed */
    assert_true(s.queued == 0 && !s.stopping && s.last_completed == 2 && s.last_aborted == 2);
    assert_int_equal(submit(3), 0);
    assert_int_equal(tern_kmd_dependent(&kmd, 0), 1);
}

static void test_reset_fails(void **state)
{
    (void)state;
    uint64_t last = 99;
    toy.stuck = true;
    assert_int_equal(tern_kmd_reset(&kmd, 0, true, &last), 1);
    assert_int_equal(tern_kmd_reset(&kmd, 0, false, &last), 1);
    assert_int_equal(last, 99);
}

/** A device that is gone from the bus reads all ones, which is no valid state of an engine. */
static void test_all_ones(void **state)
{
    (void)state;
    struct tern_indication i;
    struct tern_kmd_status s;
    uint64_t last, now;
    toy.gone = true;
    assert_int_equal(tern_kmd_poll(&kmd, 0, &i), -EIO);
    assert_non_null(strstr(tern_last_error(), "all ones"));
    assert_int_equal(submit(1), -EIO);
    assert_int_equal(tern_kmd_status(&kmd, 0, &s), -EIO);
    assert_int_equal(tern_kmd_reset(&kmd, 0, true, &last), -EIO);
    assert_int_equal(tern_kmd_time(&kmd, &now), -EIO);
}

/** Indications that are out of order, or of a stop that was not requested, are refused. */
static void test_lies(void **state)
{
    (void)state;
    struct tern_indication i;
    assert_int_equal(submit(1), 0);
    toy.ind[toy.inds++] = (struct told){TERN_ENGINE_IND_INFO_KIND_COMPLETED, 7, 1, 0};
    assert_int_equal(tern_kmd_poll(&kmd, 0, &i), -EPROTO);
    assert_non_null(strstr(tern_last_error(), "indicates fence 7, but 1 is the oldest"));
    toy.ind[toy.inds++] = (struct told){TERN_ENGINE_IND_INFO_KIND_PREEMPTED, 1, 1, 0};
    assert_int_equal(tern_kmd_poll(&kmd, 0, &i), -EPROTO);
}

/** A kernel's page request is indicated at once, and the buffers behind it are returned. No answer is expected. */
static void test_page_request(void **state)
{
    (void)state;
    kmd.page_requests = true;
    assert_int_equal(submit(1), 0);
    assert_int_equal(submit(2), 0);
    toy_step(1);
    toy_page();
    struct tern_indication i = next();
    assert_true(i.kind == TERN_KMD_RETURNED && i.fence == 1 && i.began && i.fault == TERN_FAULT_PAGE_ABSENT);
    expect_none();
    assert_int_equal(submit(3), 0); /* submitted before the stop has ended, so it is cancelled too */
    toy_step(1);
    toy_step(1);
    i = next();
    assert_true(i.kind == TERN_KMD_RETURNED && i.fence == 2 && !i.began && !i.fault);
    i = next();
    assert_true(i.kind == TERN_KMD_RETURNED && i.fence == 3 && !i.began && !i.fault);
    expect_none();
    assert_int_equal(submit(4), 0);
    toy_step(1);
    toy_step(1);
    i = next();
    assert_true(i.kind == TERN_KMD_COMPLETED && i.fence == 4);
}

/** A request to stop that crosses a page request is answered once. The answer is for the buffers that were queued when
 * the request came. */
static void test_page_request_and_stop(void **state)
{
    (void)state;
    struct tern_indication i;
    kmd.page_requests = true;
    for (int late = 0; late < 2; late++) {
        const uint64_t f = 1 + 10 * (uint64_t)late;
        assert_int_equal(submit(f), 0);
        toy_step(1);
        if (late) {
            toy_page();
            assert_int_equal(submit(f + 1), 0); /* the stop has ended and is not indicated yet: this one runs */
            toy_step(1);
        }
        assert_int_equal(tern_kmd_preempt(&kmd, 0, 100 + f, 3), 0);
        if (late) {
            toy_step(1);
        } else {
            toy_page();
        }
        i = next();
        assert_true(i.kind == TERN_KMD_RETURNED && i.fence == f && i.began && i.fault == TERN_FAULT_PAGE_ABSENT);
        i = next();
        assert_true(i.kind == TERN_KMD_PREEMPTED && i.fence == 100 + f && !i.fault);
        assert_true(i.cut == (late ? f + 1 : 0) && i.began == (late == 1));
        expect_none();
    }
}

/** Page requests are refused from a device without them, and cancelled buffers without a stop are refused. */
static void test_page_request_lies(void **state)
{
    (void)state;
    struct tern_indication i;
    const struct told lies[] = {{TERN_ENGINE_IND_INFO_KIND_PREEMPTED, 1, 1, TERN_FAULT_PAGE_ABSENT},
                                {TERN_ENGINE_IND_INFO_KIND_PREEMPTED, 1, 0, 0},
                                {TERN_ENGINE_IND_INFO_KIND_PREEMPTED, 1, 0, TERN_FAULT_PAGE_ABSENT},
                                {TERN_ENGINE_IND_INFO_KIND_PREEMPTED, 1, 1, TERN_FAULT_PAGE}};
    for (uint32_t k = 0; k < sizeof lies / sizeof *lies; k++) {
        setup(NULL);
        kmd.page_requests = k != 0;
        assert_int_equal(submit(1), 0);
        toy.ind[toy.inds++] = lies[k];
        assert_int_equal(tern_kmd_poll(&kmd, 0, &i), -EPROTO);
    }
}

/* ------------------------------------------------------------------ random */

#define BUFFERS 100000u

enum end { OPEN, COMPLETED, FAULTED, BACK, LOST, ASKED };

static struct driver {
    enum end end[BUFFERS];
    uint64_t next, oldest, completed, request, requests, answers, excused;
} d;

static void ends(uint64_t fence, enum end end)
{
    assert_true(fence < d.next && fence == d.oldest); /* in order, once each */
    assert_int_equal(d.end[fence], OPEN);
    d.end[fence] = end;
    d.oldest++;
}

static bool poll_one(void)
{
    struct tern_indication i;
    int r = tern_kmd_poll(&kmd, 0, &i);
    assert_true(r >= 0);
    if (r == 0) {
        return false;
    }
    switch (i.kind) {
    case TERN_KMD_COMPLETED:
        d.completed = i.fence;
        ends(i.fence, COMPLETED);
        break;
    case TERN_KMD_FAULTED:
        ends(i.fence, FAULTED);
        break;
    case TERN_KMD_RETURNED:
        assert_int_equal(i.began, i.fault == TERN_FAULT_PAGE_ABSENT);
        ends(i.fence, i.began ? ASKED : BACK);
        break;
    default:
        assert_true(d.request && i.fence == d.request && i.last_completed == d.completed);
        assert_true(!i.cut || i.cut == d.oldest);
        assert_true(i.cut || d.oldest == d.next); /* nothing was cut: all had ended */
        while (i.cut && d.oldest < d.next) {
            ends(d.oldest, BACK);
        }
        d.request = 0;
        d.answers++;
    }
    return true;
}

static void reset_one(void)
{
    uint64_t last = 0;
    assert_int_equal(tern_kmd_reset(&kmd, 0, true, &last), 0);
    while (poll_one()) {
    }
    assert_true(last >= d.completed || d.oldest == d.next);
    if (d.oldest < d.next) {
        assert_int_equal(last, d.next - 1); /* the reset has ended all that were left */
    }
    while (d.oldest < d.next) {
        ends(d.oldest, LOST);
    }
    d.completed = last;
    d.excused += d.request != 0;
    d.request = 0;
}

/** *state is not NULL if the engine has page requests. */
static void test_random(void **state)
{
    const char *given = getenv("TERN_TEST_SEED");
    unsigned seed = given ? (unsigned)strtoul(given, NULL, 0) : 1;
    uint32_t count[6] = {0};
    printf("seed %u (rerun: TERN_TEST_SEED=%u)\n", seed, seed);
    srand(seed);
    memset(&d, 0, sizeof d);
    toy.pages = kmd.page_requests = *state != NULL;
    d.next = d.oldest = 1;
    while (d.next < BUFFERS) {
        switch (rand() % 16) {
        case 0:
            if (!d.request) {
                d.request = 1000000 + ++d.requests;
            }
            assert_int_equal(tern_kmd_preempt(&kmd, 0, d.request, (uint32_t)rand() % 4), 0);
            break;
        case 1:
            if (rand() % 8 == 0) {
                reset_one();
            }
            break;
        case 2:
        case 3:
        case 4:
            poll_one();
            break;
        case 5:
        case 6:
        case 7:
        case 8: {
            bool room = d.next - d.oldest < 2 && !d.request;
            assert_int_equal(submit(d.next), room ? 0 : -EAGAIN);
            d.next += room;
            break;
        }
        default:
            toy_step(rand());
        }
    }
    for (int i = 0; i < 100; i++) {
        toy_step(1);
        poll_one();
    }
    assert_true(d.oldest == d.next && !d.request);
    assert_int_equal(d.requests, d.answers + d.excused);
    for (uint64_t f = 1; f < d.next; f++) {
        count[d.end[f]]++;
    }
    assert_true(count[COMPLETED] > 1000 && count[FAULTED] > 1000 && count[BACK] > 1000 && count[LOST] > 100 &&
                d.excused > 100 && (count[ASKED] > 1000 || !toy.pages));
    printf("%u completed, %u faulted, %u came back, %u asked for pages, %u lost to resets; %llu answers\n",
           count[COMPLETED], count[FAULTED], count[BACK], count[ASKED], count[LOST], (unsigned long long)d.answers);
}

static void test_random_pages(void **state)
{
    (void)state;
    test_random((void *[]){&toy});
}

int main(void)
{
#define T(name) cmocka_unit_test_setup(name, setup)
    const struct CMUnitTest tests[] = {
        T(test_answers_itself), T(test_completion_on_the_way), T(test_cut_and_cancelled),
            T(test_granularity_of_the_device),
        T(test_reset_within_a_stop), T(test_reset), T(test_reset_fails), T(test_all_ones), T(test_lies), T(test_random),
        T(test_page_request), T(test_page_request_and_stop), T(test_page_request_lies),
        cmocka_unit_test_setup(test_random_pages, setup),
    };
    return cmocka_run_group_tests_name("engine", tests, NULL, NULL);
}
