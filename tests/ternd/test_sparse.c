/* SPDX-License-Identifier: Apache-2.0 */
/** Sparse memory through ternd: committed memory counts for its user, and only the program of a user without room
 * ends. */
#include <sys/mman.h>

#include "children.h"
#include "tests/lib/submit.h"

#define MIB (1u << 20)
#define BLOCK (4 * MIB)
#define RW (TERN_MEM_READ | TERN_MEM_WRITE)
#define TABLES 8192 /* Bytes that sparse memory counts while nothing is committed. */
#define GREEDY 70001
#define MODEST 70002

/** Shared with the clients. */
static struct {
    atomic_uint step;
    atomic_int modest;
} *table;

static uid_t uid_of(pid_t pid)
{
    return pid == table->modest ? MODEST : GREEDY;
}

static int fill(struct tern_allocation *a, uint32_t offset, uint8_t value)
{
    uint64_t fence;
    b.size = 0;
    work_fill(&b, tern_allocation_address(a) + offset, 4096, value);
    const int r = submit_packets(ctx, b.w, b.size, "fill", &fence);
    return r ? r : tern_wait(ctx, fence, -1);
}

/** Maps 512 MiB of addresses with a limit of 23 MiB: three blocks are committed by work, two by the host. The next
 * block is one too many. */
static void greedy(void)
{
    struct tern_allocation *s, *t;
    struct tern_process *other;
    struct tern_fault f = {.size = sizeof f};
    uint8_t got[4096], value = 9;
    client_open(0, NULL);
    must(tern_process_create(dev, "other", &other) == 0);
    must(tern_allocation_create(other, 16 * MIB, RW | TERN_MEM_SPARSE, 0, &t) == 0);
    must(tern_allocation_create(p, 512 * MIB, RW | TERN_MEM_SPARSE, 0, &s) == 0);
    say('s');
    until_step(&table->step, 1);
    for (uint32_t i = 0; i < 3; i++) {
        must(fill(s, 100 * i * MIB, (uint8_t)(i + 1)) == 0);
    }
    must(tern_allocation_write(s, 400 * MIB, &value, 1) == 0);
    must(tern_allocation_write(t, 0, &value, 1) == 0);
    say('f');
    until_step(&table->step, 2);
    must(tern_allocation_write(s, 500 * MIB, &value, 1) == -ENOSPC);
    must(strstr(tern_last_error(), "would be more than user 70001 may have"));
    must(tern_process_status(p, &f) == 0);
    must(fill(s, 500 * MIB, 1) == -EIO);
    must(tern_process_status(p, &f) == -EIO && f.code == TERN_FAULT_MEMORY);
    must(strstr(f.message, "4096 KiB of sparse memory at 0x"));
    must(strstr(f.message, "would be more than user 70001 may have"));
    must(strstr(f.message, "touch less of this one"));
    for (uint32_t i = 0; i < 3; i++) {
        must(tern_allocation_read(s, 100 * i * MIB, got, sizeof got) == 0 && got[4095] == i + 1);
    }
    must(tern_process_status(other, &f) == 0);
    must(tern_allocation_write(t, 4096, &value, 1) == 0);
    tern_allocation_destroy(s);
    say('e');
    until_step(&table->step, 3);
    tern_context_destroy(ctx);
    must(tern_process_destroy(p) == 0);
    tern_allocation_destroy(t);
    must(tern_process_destroy(other) == 0);
    must(tern_device_close(dev) == 0);
}

/** Works with its own memory all the time. */
static void modest(void)
{
    struct tern_allocation *s;
    uint8_t got[4096];
    table->modest = getpid();
    client_open(1, NULL);
    must(tern_allocation_create(p, 256 * MIB, RW | TERN_MEM_SPARSE, 0, &s) == 0);
    say('m');
    for (uint32_t i = 0; table->step < 3; i++) {
        must(fill(s, i % 2 * 200 * MIB, (uint8_t)i) == 0);
        must(tern_allocation_read(s, i % 2 * 200 * MIB, got, sizeof got) == 0);
        must(got[0] == (uint8_t)i && got[4095] == (uint8_t)i);
    }
    tern_allocation_destroy(s);
    client_close();
}

static void test_limit(void **state)
{
    (void)state;
    struct client m = start(modest);
    heard(&m, 'm');
    struct client g = start(greedy);
    heard(&g, 's');
    assert_int_equal(account(GREEDY), 2 * TABLES);
    table->step = 1;
    heard(&g, 'f');
    assert_int_equal(account(GREEDY), 2 * TABLES + 5 * BLOCK);
    table->step = 2;
    heard(&g, 'e');
    while (account(GREEDY) != TABLES + BLOCK) {
        nap(); /* The memory is freed in the background. */
    }
    table->step = 3;
    ended(&g, 0);
    ended(&m, 0);
    nothing_left();
}

/** Committed memory of a killed client no longer counts. */
static void test_killed(void **state)
{
    (void)state;
    struct client g = start(greedy);
    heard(&g, 's');
    table->step = 1;
    heard(&g, 'f');
    assert_int_equal(kill(g.pid, SIGKILL), 0);
    ended(&g, SIGKILL);
    nothing_left();
    assert_int_equal(account(GREEDY), 0);
}

static int serve_users(void **state)
{
    (void)state;
    char path[] = "/tmp/ternd-limits-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    dprintf(fd, "[user %d]\nmemory = 23M\n", GREEDY);
    close(fd);
    table = mmap(NULL, sizeof *table, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(table, MAP_FAILED);
    served_uid = uid_of;
    served_config = "small,mem=64M,timeout=200000";
    const int r = serve_with(path);
    unlink(path);
    return r;
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
        cmocka_unit_test_setup_teardown(test_limit, serve_users, serve_users_end),
        cmocka_unit_test_setup_teardown(test_killed, serve_users, serve_users_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
