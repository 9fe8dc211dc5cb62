/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Clients of a ternd that die in a kernel or at any moment, are stopped, or flood it, while others work. The others are
 * not affected, and nothing of these clients is left. Each client is a child of this process and uses libtern.
 *
 * test_flood: only memory limits what a client has submitted (C2). test_saves: checkpoints are refused.
 * test_call_that_breaks: if the connection of a call breaks, all of the program's work ends. test_no_more_connections:
 * if no more connections can be made, threads share the existing ones.
 */
#include <fcntl.h>

#include "children.h"
#include "tern/tern_checkpoint.h"
#include "tests/lib/submit.h"

/* ------------------------------------------------------------------ what clients do */

/** Does work whose results it checks, and ends. */
static void work(void)
{
    uint8_t got[8192];
    client_open(-1, NULL);
    struct tern_allocation *m;
    must(tern_allocation_create(p, sizeof got, TERN_MEM_READ | TERN_MEM_WRITE, 0, &m) == 0);
    for (unsigned i = 1; i <= 50; i++) {
        uint64_t fence;
        b.size = 0;
        work_fill(&b, tern_allocation_address(m), 4096, (uint8_t)i);
        work_copy(&b, tern_allocation_address(m) + 4096, tern_allocation_address(m), 4096);
        must(submit_packets(ctx, b.w, b.size, "work", &fence) == 0);
        must(tern_wait(ctx, fence, -1) == 0);
        must(tern_allocation_read(m, 0, got, sizeof got) == 0);
        for (size_t k = 0; k < sizeof got; k++) {
            must(got[k] == (uint8_t)i);
        }
    }
    tern_allocation_destroy(m);
    client_close();
}

static void *wait_for_fence(void *fence)
{
    tern_fence_wait(fence, 1, -1);
    return NULL;
}

/** Runs a kernel that never ends, with more work queued, memory in use and a thread that waits. */
static void spin(void)
{
    const uint32_t loop = 0x0000006f; /* The instruction `j .`. */
    struct tern_allocation *code, *stack, *more;
    struct tern_fence *fence;
    pthread_t t;
    client_open(0, NULL);
    must(tern_allocation_create(p, 4096, TERN_MEM_READ | TERN_MEM_EXEC, 0, &code) == 0);
    must(tern_allocation_create(p, 65536, TERN_MEM_READ | TERN_MEM_WRITE, 0, &stack) == 0);
    must(tern_allocation_create(p, 8u << 20, TERN_MEM_READ | TERN_MEM_WRITE, 0, &more) == 0);
    must(tern_fence_create(p, 0, &fence) == 0);
    must(tern_allocation_write(code, 0, &loop, sizeof loop) == 0);
    must(pthread_create(&t, NULL, wait_for_fence, fence) == 0);
    for (int i = 0; i < 3; i++) {
        b.size = 0;
        work_dispatch(&b, tern_allocation_address(code), tern_allocation_address(stack));
        must(submit_packets(ctx, b.w, b.size, "spin", NULL) == 0);
    }
    struct tern_context_stats s = {.size = sizeof s};
    struct tern_engine_counters c = {.size = sizeof c};
    do {
        must(tern_device_counters(dev, 0, &c) == 0);
        must(tern_context_query(ctx, &s) == 0);
    } while (c.issue < 1000); /* The engine is in the middle of the kernel. */
    must(s.submitted == 3 && s.completed == 0);
    say('r');
    pause();
}

static uint64_t told;

static void count(void *user, const struct tern_completion *c)
{
    (void)user;
    must(c->fence == ++told && c->result == TERN_COMPLETED);
}

/** Gets more completions than the ring has room for while the process is stopped. */
static void sleep_over_completions(void)
{
    const unsigned n = 3 * TERN_WIRE_COMPLETIONS;
    uint64_t fence = 0;
    struct tern_fence *gate;
    client_open(0, count);
    must(tern_fence_create(p, 0, &gate) == 0);
    b.size = 0;
    work_wait(&b, tern_fence_address(gate), 1); /* All submissions end while the process is stopped. */
    must(submit_packets(ctx, b.w, b.size, "gate", NULL) == 0);
    for (unsigned i = 1; i < n; i++) {
        must(submit_null(ctx, "null", &fence) == 0);
    }
    must(tern_fence_signal(gate, 1) == 0);
    say('s');
    raise(SIGSTOP);
    must(tern_wait(ctx, fence, -1) == 0);
    must(told == n && tern_context_ended(ctx) == n);
    tern_fence_destroy(gate);
    client_close();
}

/** Submits until its limit, where it is refused. When its work has ended, it may submit again. */
static void flood(void)
{
    uint64_t fence = 0;
    struct tern_fence *gate;
    int r = 0;
    client_open(1, NULL);
    must(tern_fence_create(p, 0, &gate) == 0);
    b.size = 0;
    work_wait(&b, tern_fence_address(gate), 1);
    must(submit_packets(ctx, b.w, b.size, "gate", NULL) == 0);
    /* Each submission has 1 MiB and goes through the slot of a connection. */
    for (unsigned n = 0; !r && n < 1000; n++) {
        for (b.size = 0; b.size < 1u << 20;) {
            assert_int_equal(tern_pkt_nop_pack(&(struct tern_pkt_nop){0}, work_add(&b, 1)), 0);
        }
        r = submit_packets(ctx, b.w, b.size, "flood", &fence);
    }
    must(r == -ENOMEM && strstr(tern_last_error(), "are queued in ternd"));
    say('f');
    must(tern_fence_signal(gate, 1) == 0);
    must(tern_wait(ctx, fence, -1) == 0);
    must(submit_packets(ctx, b.w, 64, "again", &fence) == 0);
    must(tern_wait(ctx, fence, -1) == 0);
    tern_fence_destroy(gate);
    client_close();
}

/* ------------------------------------------------------------------ tests */

static void test_killed_in_the_middle_of_a_kernel(void **state)
{
    (void)state;
    struct client works = start(work), spins = start(spin);
    heard(&spins, 'r');
    assert_int_equal(kill(spins.pid, SIGKILL), 0);
    ended(&spins, SIGKILL);
    ended(&works, 0);
    nothing_left();
    works = start(work); /* The engines are free for others again. */
    ended(&works, 0);
    nothing_left();
}

static void test_killed_at_any_moment(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 20; i++) {
        struct client c = start(i % 2 ? work : flood);
        nanosleep(&(struct timespec){.tv_nsec = 1000000 * (1 + 3 * i % 40)}, NULL);
        assert_int_equal(kill(c.pid, SIGKILL), 0);
        assert_int_equal(waitpid(c.pid, NULL, 0), c.pid);
        close(c.says);
        nothing_left();
    }
}

static void test_stopped(void **state)
{
    (void)state;
    struct client stops = start(sleep_over_completions);
    int status;
    heard(&stops, 's');
    assert_int_equal(waitpid(stops.pid, &status, WUNTRACED), stops.pid);
    assert_true(WIFSTOPPED(status));
    struct client works = start(work);
    ended(&works, 0);
    assert_int_equal(kill(stops.pid, SIGCONT), 0);
    ended(&stops, 0);
    nothing_left();
}

static void test_flood(void **state)
{
    (void)state;
    struct client floods = start(flood);
    heard(&floods, 'f');
    struct client works = start(work);
    ended(&works, 0);
    ended(&floods, 0);
    nothing_left();
}

static void test_many(void **state)
{
    (void)state;
    struct client all[8];
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        all[i] = start(work);
    }
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        ended(&all[i], 0);
    }
    nothing_left();
}

static void *kill_process(void *proc)
{
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    must(tern_process_kill(proc) == 0);
    return NULL;
}

/** Kills its own process in one thread while others are in calls for it, and destroys what is left at once. */
static void kill_own(void)
{
    struct tern_fence *fence;
    struct tern_allocation *m;
    struct tern_fault f = {.size = sizeof f};
    pthread_t t;
    client_open(0, NULL);
    must(tern_fence_create(p, 0, &fence) == 0);
    must(tern_allocation_create(p, 4096, TERN_MEM_READ, 0, &m) == 0);
    b.size = 0;
    work_wait(&b, tern_fence_address(fence), 1);
    uint64_t last = 0;
    must(submit_packets(ctx, b.w, b.size, "waits", &last) == 0);
    must(pthread_create(&t, NULL, kill_process, p) == 0);
    must(tern_fence_wait(fence, 1, -1) == -EIO);
    must(tern_wait(ctx, last, -1) == -EIO);
    must(pthread_join(t, NULL) == 0);
    must(tern_process_status(p, &f) == -EIO && f.code == TERN_FAULT_KILLED);
    must(submit_null(ctx, "late", NULL) == -EIO);
    must(tern_process_destroy(p) == 0); /* This destroys all objects of the process. */
    must(tern_device_close(dev) == 0);
}

static void test_kills_its_own_process(void **state)
{
    (void)state;
    struct client c = start(kill_own);
    ended(&c, 0);
    nothing_left();
}

/** ternd refuses to save a checkpoint, which exists only for a program's own device. The message names `tern migrate`.
 */
static void save(void)
{
    struct tern_checkpoint *k = NULL;
    client_open(-1, NULL);
    must(tern_checkpoint_save(dev, "/nowhere/file") == -ENOTSUP && strstr(tern_last_error(), "tern migrate"));
    must(tern_checkpoint_load(dev, "/nowhere/file", &k) == -ENOTSUP && !k);
    client_close();
}

static void test_saves(void **state)
{
    (void)state;
    struct client c = start(save);
    ended(&c, 0);
    nothing_left();
}

/** Returns this process's nth connection to the test's ternd, or -1. The session's connection is the first; those for
 * calls follow. */
static int connection_to_ternd(int nth)
{
    for (int fd = 3; fd < 1024; fd++) {
        struct sockaddr_un peer = {0};
        socklen_t size = sizeof peer;
        if (!getpeername(fd, (struct sockaddr *)&peer, &size) && size > sizeof peer.sun_family &&
            !strcmp(peer.sun_path, served_at.sun_path) && nth-- == 0) {
            return fd;
        }
    }
    return -1;
}

/** The connection of a call breaks during a submission. No thread may wait for the submission's end for ever. */
static void lose_a_call(void)
{
    const size_t size = 96u << 10; /* Too large for the ring, so the submission is a call. */
    uint8_t *packets = calloc(1, size);
    uint64_t fence;
    client_open(-1, NULL);
    const int call = connection_to_ternd(1);
    must(packets && call >= 0 && connection_to_ternd(2) < 0 && !shutdown(call, SHUT_RDWR));
    must(submit_packets(ctx, packets, size, "large", &fence) == 0);
    must(tern_wait(ctx, fence, -1) == -EIO && strstr(tern_last_error(), "is gone"));
    must(submit_null(ctx, "late", NULL) == -EIO);
    client_close();
    free(packets);
}

static void test_call_that_breaks(void **state)
{
    (void)state;
    struct client c = start(lose_a_call);
    ended(&c, 0);
    nothing_left();
}

static void *query(void *failed)
{
    struct tern_context_stats s = {.size = sizeof s};
    for (int i = 0; i < 300; i++) {
        *(bool *)failed |= tern_context_query(ctx, &s) != 0;
    }
    return NULL;
}

/** With no more connections possible, the existing ones serve the calls of all threads. */
static void share_connections(void)
{
    char aside[sizeof served_at.sun_path + 8];
    bool failed[4] = {false};
    pthread_t t[4];
    client_open(-1, NULL);
    snprintf(aside, sizeof aside, "%s.aside", served_at.sun_path);
    must(rename(served_at.sun_path, aside) == 0);
    for (int i = 0; i < 4; i++) {
        must(pthread_create(&t[i], NULL, query, &failed[i]) == 0);
    }
    for (int i = 0; i < 4; i++) {
        must(pthread_join(t[i], NULL) == 0 && !failed[i]);
    }
    must(rename(aside, served_at.sun_path) == 0);
    client_close();
}

static void test_no_more_connections(void **state)
{
    (void)state;
    struct client c = start(share_connections);
    ended(&c, 0);
    nothing_left();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_killed_in_the_middle_of_a_kernel, serve, serve_end),
        cmocka_unit_test_setup_teardown(test_killed_at_any_moment, serve, serve_end),
        cmocka_unit_test_setup_teardown(test_stopped, serve, serve_end),
        cmocka_unit_test_setup_teardown(test_flood, serve, serve_end),
        cmocka_unit_test_setup_teardown(test_many, serve, serve_end),
        cmocka_unit_test_setup_teardown(test_kills_its_own_process, serve, serve_end),
        cmocka_unit_test_setup_teardown(test_saves, serve, serve_end),
        cmocka_unit_test_setup_teardown(test_call_that_breaks, serve, serve_end),
        cmocka_unit_test_setup_teardown(test_no_more_connections, serve, serve_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
