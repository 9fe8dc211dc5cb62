/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Feeds the trace writer with events that a scheduler could report: random submissions, chunks that are preempted and
 * resumed on another engine, waits, faults, resets, aborted jobs, late events. test_trace.py checks the file.
 *
 * usage: trace_events SEED [kill | exit | slow]
 *
 * kill: dies in the middle, as by a signal. exit: ends without closing the trace. slow: reports more than the trace can
 * hold, says so, and goes on when a line comes on stdin.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/sched/sched.h"
#include "os/observe/trace.h"

#define CONTEXTS 12u
#define ENGINES 2u

struct actor {
    struct tern_trace_ctx who;
    uint64_t submitted, ended;
    bool cut, waits;
};

static struct tern_trace *t;
static struct actor actor[CONTEXTS];
static uint64_t now = 1000, engine_free[ENGINES];
static uint32_t seed;

static uint32_t roll(uint32_t n)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % n;
}

static void tell(enum tern_sched_event_kind kind, struct actor *a, uint32_t engine, uint64_t time, uint64_t job,
                 bool last)
{
    const struct tern_sched_event e = {.kind = kind, .engine = engine, .time = time, .job = job, .band = 1 + roll(3),
                                       .last = last, .address = 0x00405000};
    tern_trace_event(t, &e, a ? &a->who : NULL, roll(5) ? "a \"kernel\"\n" : NULL);
}

static void submit(struct actor *a)
{
    tell(TERN_EV_SUBMIT, a, 0, now - roll(20), ++a->submitted, false);
}

static void run(struct actor *a)
{
    const uint32_t engine = roll(ENGINES);
    uint64_t begin = engine_free[engine] + roll(50), end;
    if (a->ended == a->submitted || a->waits) {
        return;
    }
    begin = begin < now ? now + roll(30) : begin;
    end = begin + roll(4000);
    now = (end > now ? end : now) + roll(100); /* The events are reported late, and both at once. */
    if (roll(4) == 0) {
        tell(TERN_EV_PREEMPT_REQUEST, a, engine, begin, a->ended + 1, false);
    }
    tell(a->cut ? TERN_EV_RESUMED : TERN_EV_START, a, engine, begin, a->ended + 1, false);
    engine_free[engine] = end;
    switch (roll(8)) {
    case 0:
        tell(TERN_EV_FAULTED, a, engine, end, a->ended + 1, true);
        tern_trace_ended(t, &a->who, ++a->ended, TERN_FAULTED, now);
        a->cut = false;
        break;
    case 1:
    case 2:
        tell(roll(2) ? TERN_EV_PREEMPTED : TERN_EV_PAGE_REQUEST, a, engine, end, a->ended + 1, false);
        a->cut = true;
        break;
    case 3:
        tell(TERN_EV_COMPLETED, a, engine, end, a->ended + 1, false); /* The chunk completed, not the job. */
        a->cut = false;
        break;
    default:
        tell(TERN_EV_COMPLETED, a, engine, end, a->ended + 1, true);
        tern_trace_ended(t, &a->who, ++a->ended, TERN_COMPLETED, now);
        a->cut = false;
    }
}

static void step(void)
{
    struct actor *a = &actor[roll(CONTEXTS)];
    now += roll(200);
    switch (roll(12)) {
    case 0:
    case 1:
    case 2:
    case 3:
        submit(a);
        break;
    case 4:
        a->waits = !a->waits;
        tell(a->waits ? TERN_EV_WAIT : TERN_EV_WAKE, a, 0, now, a->ended + 1, false);
        break;
    case 5:
        if (roll(10) == 0) {
            tell(TERN_EV_RESET, NULL, roll(ENGINES), now, 0, false);
        } else if (a->ended < a->submitted && roll(6) == 0) {
            tern_trace_ended(t, &a->who, ++a->ended, TERN_ABORTED, now);
            a->cut = false;
        }
        break;
    default:
        run(a);
    }
}

/** Dies as by a signal, after its trace has been written in part. */
static void die(void)
{
    struct stat s;
    for (int i = 0; i < 30000 && (stat(getenv("TERN_TRACE"), &s) || s.st_size < 120000); i++) {
        poll(NULL, 0, 10);
    }
    _exit(0);
}

int main(int argc, char **argv)
{
    const struct tern_trace_device device = {"engines: \"model\"", ENGINES, 250000000};
    seed = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 0) : 1;
    t = tern_trace_open(&device);
    if (!t) {
        return 1;
    }
    for (uint32_t i = 0; i < CONTEXTS; i++) {
        const bool system = i < ENGINES;
        actor[i].who = (struct tern_trace_ctx){.process = i % 3 ? "first" : "sec\xc3\xb6nd \\", .context = "a name",
                                               .system = system,
                                               .process_id = i % 3 ? 1 : 2, .context_id = system ? i : i * 7,
                                               .weight = 100};
    }
    for (int i = 0; i < 3000; i++) {
        step();
    }
    if (argc > 2 && strcmp(argv[2], "kill") == 0) {
        die();
    }
    if (argc > 2 && strcmp(argv[2], "slow") == 0) {
        char line[8];
        for (int i = 0; i < 60000; i++) {
            step();
        }
        puts("told");
        fflush(stdout);
        if (!fgets(line, sizeof line, stdin)) {
            return 1;
        }
        for (int i = 0; i < 3000; i++) {
            step();
        }
    }
    for (uint32_t i = 0; i < CONTEXTS; i++) {
        while (actor[i].ended < actor[i].submitted) {
            tern_trace_ended(t, &actor[i].who, ++actor[i].ended, TERN_ABORTED, now);
        }
    }
    if (argc > 2 && strcmp(argv[2], "exit") == 0) {
        return 0; /* The trace is not closed. */
    }
    tern_trace_close(t);
    return 0;
}
