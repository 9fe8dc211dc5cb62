/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The shares of an engine, in cycles, that processes and users get through ternd. The device is halted while the
 * clients queue all their work, so that all have work from its first cycle until the first client has finished. The
 * work that had ended by then is compared, by the device's clock, so the host's scheduling does not matter.
 */
#include <stdatomic.h>
#include <sys/mman.h>

#include "children.h"
#include "tests/lib/submit.h"

#define CLIENTS_MAX 64u
#define JOBS 240u
#define FILL (16u << 10) /* Bytes that one packet fills. */
#define FILLS 16u
#define QUANTUM 8000u
#define STEP 65536u /* Cycles that a simulated device may run before the scheduler sees a submission. */

/** Shared with the clients. */
static struct {
    atomic_bool go;
    struct {
        atomic_int pid;
        uid_t uid;
        unsigned jobs;
        uint64_t end[JOBS]; /**< The device's time when each job ended. */
    } client[CLIENTS_MAX];
} *table;

static unsigned self; /**< In a client: its own number. */

static uid_t uid_of(pid_t pid)
{
    for (unsigned i = 0; i < CLIENTS_MAX; i++) {
        if (table->client[i].pid == pid) {
            return table->client[i].uid;
        }
    }
    return getuid();
}

static void note(void *user, const struct tern_completion *c)
{
    (void)user;
    must(c->result == TERN_COMPLETED);
    if (c->fence <= JOBS) {
        table->client[self].end[c->fence - 1] = c->end;
    }
}

static void begin(void)
{
    table->client[self].pid = getpid();
    client_open(0, note);
}

static void wait_to_go(void)
{
    say('r');
    while (!table->go) {
        nap();
    }
}

static void flood_engine(void)
{
    struct tern_allocation *a;
    struct tern_context_stats s = {.size = sizeof s};
    uint64_t fence = 0;
    begin();
    must(tern_allocation_create(p, FILL, TERN_MEM_WRITE, 0, &a) == 0);
    b.size = 0;
    for (unsigned i = 0; i < FILLS; i++) {
        work_fill(&b, tern_allocation_address(a), FILL, (uint8_t)i);
    }
    wait_to_go();
    for (unsigned i = 0; i < table->client[self].jobs; i++) {
        must(submit_packets(ctx, b.w, b.size, "work", &fence) == 0);
    }
    must(tern_context_query(ctx, &s) == 0 && s.submitted == fence); /* ternd has taken all submissions. */
    say('s');
    must(tern_wait(ctx, fence, -1) == 0);
    say('d');
    pause();
}

/** Submits small work in the band REALTIME repeatedly while the others flood, and checks how long it waits. */
static void be_urgent(void)
{
    uint64_t fence = 0;
    begin();
    must(tern_context_set_priority(ctx, TERN_BAND_REALTIME, 0) == 0);
    wait_to_go();
    for (int i = 0; i < 20; i++) {
        nap();
        must(submit_null(ctx, "urgent", &fence) == 0);
        must(tern_wait(ctx, fence, -1) == 0);
    }
    struct tern_context_stats s = {.size = sizeof s};
    must(tern_context_query(ctx, &s) == 0);
    print_message("REALTIME: at most %llu cycles from submission to begin\n", (unsigned long long)s.longest_wait);
    must(s.longest_wait <= QUANTUM + STEP);
    say('d');
    pause();
}

/** Runs n clients as the table says. out[i] receives the number of client i's jobs that had ended when the first client
 * was done. */
static void share(unsigned n, struct client *c, unsigned *out)
{
    for (self = 0; self < n; self++) {
        c[self] = start(flood_engine);
    }
    for (unsigned i = 0; i < n; i++) {
        heard(&c[i], 'r');
    }
    tern_ticket_lock(&server.dev->hal_lock); /* The device is halted. */
    table->go = true;
    for (unsigned i = 0; i < n; i++) {
        heard(&c[i], 's');
    }
    tern_ticket_unlock(&server.dev->hal_lock);
    uint64_t first = UINT64_MAX;
    for (unsigned i = 0; i < n; i++) {
        heard(&c[i], 'd');
        const uint64_t end = table->client[i].end[table->client[i].jobs - 1];
        first = end < first ? end : first;
    }
    for (unsigned i = 0; i < n; i++) {
        out[i] = 0;
        while (out[i] < table->client[i].jobs && table->client[i].end[out[i]] <= first) {
            out[i]++;
        }
    }
}

static void end_all(unsigned n, struct client *c)
{
    for (unsigned i = 0; i < n; i++) {
        kill(c[i].pid, SIGKILL);
        ended(&c[i], SIGKILL);
        table->client[i].pid = 0;
    }
    nothing_left();
}

static void near(unsigned a, unsigned of, double ratio)
{
    const double r = (double)a / of;
    if (r < ratio * 0.9 || r > ratio * 1.1) {
        fail_msg("%u : %u are %.3f, not %.3f", a, of, r, ratio);
    }
}

static int serve_users(void **state)
{
    (void)state;
    char path[] = "/tmp/ternd-limits-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    dprintf(fd, "[user 70001]\nshare = 300\n[user 70002]\nshare = 100\n[user 70003]\nrealtime = yes\n");
    close(fd);
    table = mmap(NULL, sizeof *table, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(table != MAP_FAILED);
    served_uid = uid_of;
    served_config = "small,mem=64M,timeout=200000,quantum=8000";
    const int r = serve_with(path);
    unlink(path);
    return r;
}

static int serve_users_end(void **state)
{
    for (unsigned i = 0; i < CLIENTS_MAX; i++) { /* A test that failed may have left clients. */
        if (table->client[i].pid) {
            kill(table->client[i].pid, SIGKILL);
        }
    }
    const int r = serve_end(state);
    munmap(table, sizeof *table);
    return r;
}

/** A user with three times the share and one process, against a user with four processes. */
static void test_shares(void **state)
{
    (void)state;
    struct client c[5];
    unsigned got[5], rest = 0;
    for (unsigned i = 0; i < 5; i++) {
        table->client[i].uid = i ? 70002 : 70001;
        table->client[i].jobs = i ? 60 : 180;
    }
    share(5, c, got);
    for (unsigned i = 1; i < 5; i++) {
        near(got[i], got[1], 1);
        rest += got[i];
    }
    print_message("%u jobs of one process, %u of four\n", got[0], rest);
    near(got[0], rest, 3);
    end_all(5, c);
}

/** Jain's fairness index of 64 processes of one user is at least 0.99. */
static void test_many_processes(void **state)
{
    (void)state;
    struct client c[CLIENTS_MAX];
    unsigned got[CLIENTS_MAX];
    double sum = 0, squares = 0;
    for (unsigned i = 0; i < CLIENTS_MAX; i++) {
        table->client[i].uid = 70002;
        table->client[i].jobs = 40;
    }
    share(CLIENTS_MAX, c, got);
    for (unsigned i = 0; i < CLIENTS_MAX; i++) {
        sum += got[i];
        squares += (double)got[i] * got[i];
    }
    const double index = sum * sum / (CLIENTS_MAX * squares);
    print_message("64 processes, %.0f jobs: Jain's index %.4f\n", sum, index);
    assert_true(index >= 0.99);
    end_all(CLIENTS_MAX, c);
}

static void test_realtime(void **state)
{
    (void)state;
    enum { FLOODS = 6 };
    struct client c[FLOODS + 1];
    for (self = 0; self <= FLOODS; self++) {
        table->client[self].uid = self < FLOODS ? 70002 : 70003;
        table->client[self].jobs = JOBS;
        c[self] = start(self < FLOODS ? flood_engine : be_urgent);
    }
    for (unsigned i = 0; i <= FLOODS; i++) {
        heard(&c[i], 'r');
    }
    table->go = true;
    heard(&c[FLOODS], 'd');
    end_all(FLOODS + 1, c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_shares, serve_users, serve_users_end),
        cmocka_unit_test_setup_teardown(test_many_processes, serve_users, serve_users_end),
        cmocka_unit_test_setup_teardown(test_realtime, serve_users, serve_users_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
