/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Memory that programs of two users share through ternd. Each user has the rights of its handle and pays for what it
 * maps. One program may exceed its rights, end, be killed, or be stopped while its work uses the memory, and the other
 * goes on.
 */
#include <stdatomic.h>
#include <sys/mman.h>

#include "children.h"
#include "tests/lib/submit.h"

#define SIZE (6u << 20)
#define RW (TERN_MEM_READ | TERN_MEM_WRITE)
#define MAKER 4001u
#define IMPORTER 4002u

/** Shared with the clients. */
static struct {
    uint8_t rw[TERN_HANDLE_BYTES], ro[TERN_HANDLE_BYTES];
    atomic_int maker;
    atomic_uint step; /**< The test's step, which the clients follow. */
    uint32_t more;    /**< Bytes that fit on the device only if other memory is evicted. */
} *table;

static uid_t uid_of(pid_t pid)
{
    return pid == table->maker ? MAKER : IMPORTER;
}

static int fill(struct tern_context *c, struct tern_allocation *a, uint32_t from, uint32_t bytes, uint8_t value)
{
    uint64_t fence = 0;
    b.size = 0;
    work_fill(&b, tern_allocation_address(a) + from, bytes, value);
    must(submit_packets(c, b.w, b.size, "fill", &fence) == 0);
    return tern_wait(c, fence, -1);
}

static void must_be(struct tern_allocation *a, uint32_t from, uint8_t value)
{
    uint8_t got[4096];
    must(tern_allocation_read(a, from, got, sizeof got) == 0);
    for (size_t i = 0; i < sizeof got; i++) {
        must(got[i] == value);
    }
}

static void make(void)
{
    struct tern_allocation *a;
    table->maker = getpid();
    client_open(0, NULL);
    must(tern_allocation_create(p, SIZE, RW, 0, &a) == 0);
    must(tern_allocation_export(a, RW, table->rw) == 0);
    must(tern_allocation_export(a, TERN_MEM_READ, table->ro) == 0);
    must(fill(ctx, a, 0, SIZE, 1) == 0);
    say('m');
    until_step(&table->step, 2);
    must_be(a, 4096, 2); /* The importer wrote this page. */
    must_be(a, 8192, 1); /* The importer had no right to write this page. */
    must(fill(ctx, a, 8192, 4096, 3) == 0); /* The maker's work goes on. */
    say('c');
    pause();
}

static void import(void)
{
    struct tern_allocation *w, *r, *own;
    struct tern_process *wild;
    struct tern_context *c;
    const struct tern_context_desc d = {.size = sizeof d, .engine = 1};
    struct tern_fault f = {.size = sizeof f};
    uint8_t wrong[TERN_HANDLE_BYTES];
    client_open(1, NULL);
    must(tern_allocation_import(p, table->rw, RW, 0, &w) == 0);
    must(tern_allocation_size(w) == SIZE);
    must_be(w, SIZE - 4096, 1);
    must(fill(ctx, w, 4096, 4096, 2) == 0);
    must(tern_process_create(dev, "wild", &wild) == 0);
    must(tern_context_create(wild, &d, &c) == 0);
    must(tern_allocation_import(wild, table->ro, RW, 0, &r) == -EACCES);
    must(tern_allocation_import(wild, table->ro, TERN_MEM_READ, 0, &r) == 0);
    must(tern_allocation_write(r, 8192, "x", 1) == -EACCES);
    must(fill(c, r, 8192, 64, 9) == -EIO);
    must(tern_process_status(wild, &f) == -EIO && f.code == TERN_FAULT_PROTECTION);
    must(tern_allocation_export(w, RW, wrong) == -EACCES);
    memcpy(wrong, table->rw, sizeof wrong);
    wrong[7] ^= 1;
    must(tern_allocation_import(p, wrong, RW, 0, &own) == -ENOENT);
    say('i');
    until_step(&table->step, 4); /* The maker is dead. */
    must_be(w, 8192, 3);
    must_be(w, 4096, 2);
    must(fill(ctx, w, 0, SIZE, 4) == 0);
    must_be(r, SIZE - 4096, 4); /* Memory of a process in error can be read. */
    must(tern_allocation_import(p, table->rw, RW, 0, &own) == -ENOENT);
    tern_allocation_destroy(r);
    tern_context_destroy(c);
    must(tern_process_destroy(wild) == 0);
    say('e');
    until_step(&table->step, 5);
    must_be(w, 0, 4);
    tern_allocation_destroy(w);
    client_close();
}

static void test_shared(void **state)
{
    (void)state;
    struct client maker = start(make);
    heard(&maker, 'm');
    struct client importer = start(import);
    heard(&importer, 'i');
    assert_int_equal(account(MAKER), SIZE);
    assert_int_equal(account(IMPORTER), 2 * SIZE);
    table->step = 2;
    heard(&maker, 'c');
    assert_int_equal(kill(maker.pid, SIGKILL), 0);
    ended(&maker, SIGKILL);
    while (account(MAKER)) { /* The maker does not pay for memory that others still map. */
        nap();
    }
    assert_true(free_pages(server.dev) < pages_before - SIZE / 4096);
    table->step = 4;
    heard(&importer, 'e');
    while (account(IMPORTER) != SIZE) {
        nap();
    }
    table->step = 5;
    ended(&importer, 0);
    nothing_left();
}

/** The importer dies first, in the middle of its work, and another one takes its place, repeatedly. */
static void hold(void)
{
    struct tern_allocation *w;
    client_open(1, NULL);
    must(tern_allocation_import(p, table->rw, RW, 0, &w) == 0);
    say('h');
    for (;;) {
        must(fill(ctx, w, 4096, SIZE - 4096, 7) == 0);
    }
}

static void keep(void)
{
    struct tern_allocation *a;
    table->maker = getpid();
    client_open(0, NULL);
    must(tern_allocation_create(p, SIZE, RW, 0, &a) == 0);
    must(tern_allocation_export(a, RW, table->rw) == 0);
    say('m');
    for (unsigned i = 1; table->step == 0; i++) {
        must(fill(ctx, a, 0, 4096, (uint8_t)i) == 0);
        must_be(a, 0, (uint8_t)i);
    }
    tern_allocation_destroy(a);
    client_close();
}

static void test_importers_die(void **state)
{
    (void)state;
    struct client maker = start(keep);
    heard(&maker, 'm');
    for (unsigned i = 0; i < 8; i++) {
        struct client c = start(hold);
        heard(&c, 'h');
        nanosleep(&(struct timespec){.tv_nsec = 1000000 * i}, NULL);
        assert_int_equal(kill(c.pid, SIGKILL), 0);
        ended(&c, SIGKILL);
    }
    table->step = 1;
    ended(&maker, 0);
    nothing_left();
}

/** Fills an allocation with work that names it alone. */
static void fill_all(struct tern_allocation *a, uint8_t value)
{
    const uint32_t at = tern_allocation_address(a);
    must(tern_context_set_residency(ctx, &at, 1) == 0);
    must(fill(ctx, a, 0, (uint32_t)tern_allocation_size(a), value) == 0);
    must_be(a, 0, value);
    must_be(a, (uint32_t)tern_allocation_size(a) - 4096, value);
}

/** Uses the memory without end: its job on the engine is a kernel that loops. */
static void hold_on(void)
{
    static const uint32_t loop[] = {0x0000006f};
    struct tern_allocation *w, *code, *stack;
    uint64_t fence = 0;
    uint8_t got = 0;
    client_open(1, NULL);
    must(tern_allocation_import(p, table->rw, RW, 0, &w) == 0);
    must(tern_allocation_create(p, 4096, TERN_MEM_READ | TERN_MEM_EXEC, 0, &code) == 0);
    must(tern_allocation_create(p, 4096, RW, 0, &stack) == 0);
    must(tern_allocation_write(code, 0, loop, sizeof loop) == 0);
    b.size = 0;
    work_fill(&b, tern_allocation_address(w), 4096, 5);
    work_dispatch(&b, tern_allocation_address(code), tern_allocation_address(stack));
    must(submit_packets(ctx, b.w, b.size, "holds", &fence) == 0);
    while (got != 5) {
        must(tern_allocation_read(w, 0, &got, 1) == 0);
    }
    say('h');
    pause();
}

static void need_room(void)
{
    struct tern_allocation *a, *more;
    table->maker = getpid();
    client_open(0, NULL);
    must(tern_allocation_create(p, SIZE, RW, 0, &a) == 0);
    must(tern_allocation_export(a, RW, table->rw) == 0);
    fill_all(a, 1);
    say('m');
    until_step(&table->step, 1);
    must(tern_allocation_create(p, table->more, RW, 0, &more) == 0);
    fill_all(more, 7); /* The shared memory is evicted to the host. */
    fill_all(a, 8);    /* The shared memory returns. */
    must_be(more, 0, 7);
    say('c');
    until_step(&table->step, 2);
    tern_allocation_destroy(more);
    tern_allocation_destroy(a);
    client_close();
}

/** A stopped program maps memory, and its work uses the memory. The program delays nobody: the memory is evicted and
 * returns. */
static void test_importer_is_stopped(void **state)
{
    (void)state;
    int status;
    struct client maker = start(need_room);
    heard(&maker, 'm');
    struct client importer = start(hold_on);
    heard(&importer, 'h');
    assert_int_equal(kill(importer.pid, SIGSTOP), 0);
    assert_int_equal(waitpid(importer.pid, &status, WUNTRACED), importer.pid);
    table->more = (free_pages(server.dev) + 512) * 4096;
    table->step = 1;
    heard(&maker, 'c');
    assert_true(server.dev->pager.evicted > 0);
    table->step = 2;
    ended(&maker, 0);
    assert_int_equal(kill(importer.pid, SIGKILL), 0);
    ended(&importer, SIGKILL);
    nothing_left();
}

static int serve_users(void **state)
{
    table = mmap(NULL, sizeof *table, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(table, MAP_FAILED);
    served_uid = uid_of;
    return serve(state);
}

static int serve_users_end(void **state)
{
    const int r = serve_end(state);
    munmap(table, sizeof *table);
    return r;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_shared, serve_users, serve_users_end),
        cmocka_unit_test_setup_teardown(test_importers_die, serve_users, serve_users_end),
        cmocka_unit_test_setup_teardown(test_importer_is_stopped, serve_users, serve_users_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
