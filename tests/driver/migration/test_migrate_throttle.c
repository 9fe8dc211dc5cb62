/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A process that writes faster than its memory can be sent gets a smaller part of its engine, step by step, even if no
 * other work wants the engine (M5). The process gets all of the engine back when the migration ends, fails or is
 * cancelled, or when it is killed. Other work is not affected.
 */
#include "migration.h"

#define CONFIG "small,mem=64M,timeout=200000"
#define PAGES 2048u
#define TIME 2097152u /* cycles of a measurement: 8 times those of a slice at the smallest part */
#define SLACK (3 * TERN_CAP_SLICE)

/** A kernel that writes a word of each page of PAGES in turn, one every few thousand cycles, until word 0 is not 0. */
static const uint32_t code_write[] = {
    0x00452383, 0x00000293,             /* lw t2, 4(a0); li t0, 0 */
    0x00c29e93, 0x007e8eb3, 0x005ea023, /* loop: slli t4, t0, 12; add t4, t4, t2; sw t0, 0(t4) */
    0x00128293, 0x7ff2f293, 0x7d000e13, /* addi t0, t0, 1; andi t0, t0, PAGES - 1; li t3, 2000 */
    0xfffe0e13, 0xfe0e1ee3,             /* delay: addi t3, t3, -1; bnez t3, delay */
    0x1005232f, 0xfc030ee3,             /* lr.w t1, (a0); beqz t1, loop */
    0x0000100b,                         /* exit */
};

static struct actor writer, other;
static struct tern_allocation *written;

struct seen {
    struct tern_migrate_round round[64];
    uint64_t ran[64]; /* engine cycles of TIME, measured after the round */
    uint32_t n;
    uint32_t cancel_at; /* throttle at which the migration is cancelled; 0: never */
    int cancel;         /* how it is cancelled: 0: the stream fails; else the result of the callback `stopping` */
    uint32_t kill_at;   /* throttle at which the process is killed; 0: never */
    bool killed;
    pthread_t killer;
};
static bool broken, together; /* the stream fails; `other` runs too */

int __real_tern_put_pages(struct tern_stream *s, uint64_t memory, uint64_t first, uint64_t count, const void *data);
int __wrap_tern_put_pages(struct tern_stream *s, uint64_t memory, uint64_t first, uint64_t count, const void *data);

int __wrap_tern_put_pages(struct tern_stream *s, uint64_t memory, uint64_t first, uint64_t count, const void *data)
{
    static uint32_t number;
    if (!writer.p->suspended) {
        actor_set(&writer, 7, ++number); /* leaves a dirty page after each round, however short */
    }
    return broken ? -EPIPE : __real_tern_put_pages(s, memory, first, count, data);
}

struct moment {
    uint64_t now, writer, other; /* device time; engine cycles of both until then */
};

/** Engine cycles of the context until the scheduler's time, including the running chunk. */
static uint64_t cycles_of(const struct actor *a)
{
    const struct tern_sched *s = &dev->sched;
    const struct tern_sched_context *c = &a->c->sched;
    const struct tern_sched_engine *e = &s->engine[c->engine];
    const bool runs = e->n && e->inflight[0].context == c && s->now > e->front_since;
    return c->stats.cycles + (runs ? s->now - e->front_since : 0);
}

/** Reads all three under one lock, since the host may delay this thread between reads. */
static struct moment look(void)
{
    pthread_mutex_lock(&dev->lock);
    const struct moment m = {dev->sched.now, cycles_of(&writer), cycles_of(&other)};
    pthread_mutex_unlock(&dev->lock);
    return m;
}

/** Returns the engine cycles that the writer gets of TIME. The other actor, if it runs, must get all of its engine. */
static uint64_t measure(void)
{
    const struct moment before = look();
    struct moment m;
    until((m = look(), m.writer && m.now - before.now >= TIME));
    const uint64_t passed = m.now - before.now;
    assert_true(m.other - before.other + SLACK / 8 > passed || !together);
    return (m.writer - before.writer) * TIME / passed;
}

static void expect_part(uint64_t ran, uint32_t eighths)
{
    const uint64_t want = TIME / TERN_CAP_WHOLE * eighths;
    if (ran + SLACK < want || ran > want + SLACK) {
        fail_msg("it ran %llu of %u cycles, not %u eighths", (unsigned long long)ran, TIME, eighths);
    }
}

static void *kill_writer(void *user)
{
    (void)user;
    ok(tern_process_kill(writer.p));
    return NULL;
}

static void note(void *user, const struct tern_migrate_round *r)
{
    struct seen *s = user;
    assert_true(s->n < 64);
    s->round[s->n] = *r;
    if (s->killed) {
        s->n++;
        return;
    }
    measure(); /* work of the time before the new cap ends within this */
    s->ran[s->n++] = measure();
    broken = s->cancel_at && r->throttle >= s->cancel_at && !s->cancel;
    if (s->kill_at && r->throttle >= s->kill_at) {
        s->killed = true;
        assert_int_equal(pthread_create(&s->killer, NULL, kill_writer, NULL), 0);
        until(tern_process_status(writer.p, NULL));
    }
}

static int stopping(void *user)
{
    const struct seen *s = user;
    return s->cancel_at ? s->cancel : 0;
}

static void begin(uint64_t *fence, bool with_other)
{
    together = with_other;
    open_both(CONFIG);
    actor_open(&writer, "writes", 0, code_write, sizeof code_write);
    open_spin(&other, "other", 1);
    ok(tern_allocation_create(writer.p, PAGES * 4096, TERN_MEM_READ | TERN_MEM_WRITE, 0, &written));
    actor_set(&writer, 1, tern_allocation_address(written));
    actor_dispatch(&writer, 1);
    *fence = work_submit(&dma, writer.c, "writes");
    if (together) {
        actor_spin(&other);
        spins(&other);
    }
    measure();
}

static void end(uint64_t fence)
{
    actor_set(&writer, 0, 1);
    ok(tern_wait(writer.c, fence, PATIENCE));
    tern_allocation_destroy(written);
    actor_close(&writer);
    actor_set(&other, 0, 1); /* nothing is submitted unless it runs */
    ok(tern_wait(other.c, other.c->submitted, PATIENCE));
    actor_close(&other);
    close_both();
}

/** Checks that no cap is in force. */
static void expect_free(const struct tern_process *p)
{
    pthread_mutex_lock(&dev->lock);
    assert_true(tern_list_empty(&dev->sched.caps) && !p->sched.cap);
    pthread_mutex_unlock(&dev->lock);
}

/** With each step the process's share of the engine falls, and so do the pages that it writes in a round. At the end
 * the process is stopped. */
static void test_step_by_step(void **state)
{
    (void)state;
    static const uint32_t steps[] = {0, 2, 4, 6, 7};
    struct seen seen = {.n = 0};
    const struct tern_migrate_limits limits = {.downtime_ns = 1, .rounds = 4, .policy = TERN_MIGRATE_THROTTLE,
                                               .progress = note, .stopping = stopping, .user = &seen};
    struct tern_migrate_round first = {.number = 0}, last;
    struct journey j;
    uint64_t fence;
    begin(&fence, true);
    ok(tern_stream_write_memory(&j.stream));
    ok(tern_migrate_live(&writer.p, 1, j.stream, &limits, &j.saving));
    uint32_t step = 0;
    for (uint32_t i = 0; i < seen.n; i++) {
        step += step < 4 && seen.round[i].throttle == steps[step + 1];
        assert_int_equal(seen.round[i].throttle, steps[step]);
        expect_part(seen.ran[i], TERN_CAP_WHOLE - steps[step]);
        first = step == 0 ? seen.round[i] : first;
    }
    last = seen.round[seen.n - 1];
    assert_int_equal(step, 4);
    assert_true(seen.n <= 2 * limits.rounds);
    print_message("pages of a round: %llu, and %llu when it has an eighth\n", (unsigned long long)first.pages,
                  (unsigned long long)last.pages);
    assert_true(last.pages * 3 < first.pages); /* a quarter: pages are written in the round before they are sent */
    expect_free(writer.p);
    struct tern_process *before = writer.p;
    j.loading = loaded(there, j.stream, NULL);
    actor_follow(&writer, j.loading, 0);
    written = tern_loading_allocation(j.loading, 0, tern_allocation_address(written));
    arrive(&j);
    forget(before);
    end(fence);
}

static void note_only(void *user, const struct tern_migrate_round *r)
{
    struct seen *s = user;
    assert_true(s->n < 64);
    s->round[s->n++] = *r;
}

/** Within the allowed rounds, a step is taken after three rounds that gained little. The work therefore has three
 *  rounds under each cap. */
static void test_steps_take_rounds(void **state)
{
    (void)state;
    enum { ROUNDS = 16, STALLED = 3 };
    struct seen seen = {.n = 0};
    const struct tern_migrate_limits limits = {.downtime_ns = 1, .rounds = ROUNDS, .policy = TERN_MIGRATE_THROTTLE,
                                               .progress = note_only, .stopping = stopping, .user = &seen};
    struct journey j;
    uint64_t fence;
    begin(&fence, false);
    ok(tern_stream_write_memory(&j.stream));
    ok(tern_migrate_live(&writer.p, 1, j.stream, &limits, &j.saving));
    uint32_t steps = 0, since = 0;
    for (uint32_t i = 1; i < seen.n && i < ROUNDS; i++) {
        if (seen.round[i].throttle != seen.round[i - 1].throttle) {
            assert_true(i - since >= STALLED);
            since = i;
            steps++;
        }
    }
    assert_true(steps >= 2);
    struct tern_process *before = writer.p;
    j.loading = loaded(there, j.stream, NULL);
    actor_follow(&writer, j.loading, 0);
    written = tern_loading_allocation(j.loading, 0, tern_allocation_address(written));
    arrive(&j);
    forget(before);
    end(fence);
}

/** The stream fails, or the callback `stopping` does. The process goes on at the source with all of its engine. No
 *  other work is on the device, so its time must also pass while the process may not run. */
static void test_cancelled(void **state)
{
    (void)state;
    static const int how[] = {0, -EBUSY};
    uint64_t fence;
    begin(&fence, false);
    for (int k = 0; k < 2; k++) {
        struct seen seen = {.cancel_at = 4, .cancel = how[k]};
        const struct tern_migrate_limits limits = {.downtime_ns = 1, .rounds = 3, .policy = TERN_MIGRATE_THROTTLE,
                                                   .progress = note, .stopping = stopping, .user = &seen};
        struct tern_saving *m;
        struct tern_stream *s;
        ok(tern_stream_write_memory(&s));
        assert_int_equal(tern_migrate_live(&writer.p, 1, s, &limits, &m), how[k] ? how[k] : -EPIPE);
        broken = false;
        assert_true(seen.round[seen.n - 1].throttle >= 4);
        tern_stream_close(s);
        expect_free(writer.p);
        measure();
        expect_part(measure(), TERN_CAP_WHOLE);
    }
    end(fence);
}

/** A process that is killed while its cap holds it ends, and the migration fails. */
static void test_killed(void **state)
{
    (void)state;
    struct seen seen = {.kill_at = 7};
    const struct tern_migrate_limits limits = {.downtime_ns = 1, .rounds = 4, .policy = TERN_MIGRATE_THROTTLE,
                                               .progress = note, .stopping = stopping, .user = &seen};
    struct tern_saving *m;
    struct tern_stream *s;
    uint64_t fence;
    begin(&fence, false);
    ok(tern_stream_write_memory(&s));
    assert_int_equal(tern_migrate_live(&writer.p, 1, s, &limits, &m), -EIO);
    assert_true(seen.killed);
    pthread_join(seen.killer, NULL);
    tern_stream_close(s);
    expect_free(writer.p);
    assert_int_equal(tern_wait(writer.c, fence, PATIENCE), -EIO);
    tern_allocation_destroy(written);
    actor_close(&writer);
    actor_close(&other);
    close_both();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_step_by_step), cmocka_unit_test(test_steps_take_rounds),
        cmocka_unit_test(test_cancelled), cmocka_unit_test(test_killed),
    };
    return cmocka_run_group_tests_name("migrate_throttle", tests, NULL, NULL);
}
