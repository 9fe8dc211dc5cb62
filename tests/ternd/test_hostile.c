/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A client that sends hellos, requests, entries and ring positions that no library would send gets an error or is
 * disconnected, and ternd keeps nothing of it.
 */
#include "raw.h"

/** Checks that the client has been disconnected. One request may still be answered, a second not. */
static void cut_off(struct raw *r)
{
    raw_call(r, TERN_WIRE_NOP, 0, 0, 0, 0, NULL);
    assert_int_equal(raw_call(r, TERN_WIRE_NOP, 0, 0, 0, 0, NULL), -ECONNRESET);
    disconnected(r);
}

/* ------------------------------------------------------------------ hello */

static void refused(const void *hello, size_t size, const char *why)
{
    struct tern_wire_welcome w;
    const int fd = reach(hello, size, &w, NULL);
    assert_true(w.status < 0);
    assert_int_equal(w.magic, TERN_WIRE_MAGIC);
    assert_int_equal(w.version, TERN_WIRE_VERSION);
    if (!strstr(w.text, why)) {
        print_error("'%s' lacks '%s'\n", w.text, why);
        fail();
    }
    char byte;
    assert_int_equal(recv(fd, &byte, 1, 0), 0); /* ternd has closed the connection. */
    close(fd);
}

static void test_hello(void **state)
{
    (void)state;
    const struct tern_wire_hello good = good_hello(TERN_WIRE_SESSION);
    struct tern_wire_hello h = good;
    char text[128];
    h.magic ^= 1;
    refused(&h, sizeof h, "no hello");
    refused(&good, 3, "no hello");
    refused("", 1, "no hello");
    h = good;
    h.version = TERN_WIRE_VERSION + 1;
    snprintf(text, sizeof text, "version %u of the protocol is needed, not %u", TERN_WIRE_VERSION, h.version);
    refused(&h, sizeof h, text);
    refused(&h, 12, text); /* A hello of another version may be shorter. */
    h = good;
    h.spec ^= 1;
    refused(&h, sizeof h, "interface description");
    h = good;
    h.kind = TERN_WIRE_RECEIVE + 1;
    refused(&h, sizeof h, "not as this version has it");
    refused(&good, sizeof good - 4, "not as this version has it");
    char longer[sizeof good + 8] = {0};
    memcpy(longer, &good, sizeof good);
    refused(longer, sizeof longer, "not as this version has it");
    h = good_hello(TERN_WIRE_CALLS);
    refused(&h, sizeof h, "session has ended");
    const int silent = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(silent, (struct sockaddr *)&served_at, sizeof served_at), 0);
    close(silent);
    nothing_left();
}

/* ------------------------------------------------------------------ requests */

static void test_requests_of_wrong_form(void **state)
{
    (void)state;
    const struct {
        uint32_t length, op;
        size_t size;
    } forms[] = {
        {39, 1, 39}, {40, 1, 8}, {39, 1, 40}, {0, 1, 40}, {UINT32_MAX, 1, 40}, {40, 0, 40}, {40, TERN_WIRE_OPS, 40},
        {40, UINT32_MAX, 40}, {sizeof(struct tern_wire_request) + 8, 1, sizeof(struct tern_wire_request) + 8},
    };
    assert_int_equal(offsetof(struct tern_wire_request, text), 40); /* The shortest valid request. */
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct raw r = raw_open();
        char message[sizeof(struct tern_wire_request) + 8] = {0};
        raw_make(&r, TERN_WIRE_PROCESS_CREATE, 0, 0, 0, 0);
        memcpy(message, &forms[i].length, 4);
        memcpy(message + 4, &forms[i].op, 4);
        assert_int_equal(tern_socket_send(r.calls, message, forms[i].size, -1, true), 0);
        cut_off(&r);
    }
}

/** Object numbers that the client does not have, for every operation. */
static void test_objects_of_others(void **state)
{
    (void)state;
    struct raw a = raw_open(), other = raw_open();
    const uint32_t p = raw_make(&a, TERN_WIRE_PROCESS_CREATE, 0, 0, 0, 0);
    const uint32_t m = raw_make(&a, TERN_WIRE_ALLOCATION_CREATE, p, 4096, TERN_MEM_READ | TERN_MEM_WRITE, 0);
    const uint32_t c = raw_make(&a, TERN_WIRE_CONTEXT_CREATE, p, (uint64_t)-1, 0, 1);
    const uint32_t f = raw_make(&a, TERN_WIRE_FENCE_CREATE, p, 5, 0, 0);
    const uint32_t all[] = {p, m, c, f, 0, 77, UINT32_MAX};
    for (uint32_t op = TERN_WIRE_PROCESS_DESTROY; op < TERN_WIRE_OPS; op++) {
        if (op == TERN_WIRE_CONTEXT_SUBMIT || op >= TERN_WIRE_PARTITION_CREATE) {
            continue; /* These name their object in the ring's entry, or a partition by name. */
        }
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
            assert_int_equal(raw_call(&other, op, all[i], 1, 0, 0, NULL), -EINVAL);
        }
    }
    struct tern_wire_reply reply;
    assert_int_equal(raw_call(&a, TERN_WIRE_FENCE_VALUE, f, 0, 0, 0, &reply), 0);
    assert_int_equal(reply.value[0], 5);
    const uint32_t wrong[][2] = {{TERN_WIRE_ALLOCATION_READ, p}, {TERN_WIRE_PROCESS_KILL, m},
                                 {TERN_WIRE_CONTEXT_DESTROY, f}, {TERN_WIRE_FENCE_SIGNAL, c},
                                 {TERN_WIRE_ALLOCATION_CREATE, c}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(raw_call(&a, wrong[i][0], wrong[i][1], 1, 0, 0, NULL), -EINVAL);
    }
    raw_close(&a);
    raw_close(&other);
    nothing_left();
}

static uid_t said_to_be;

static uid_t pretend(pid_t pid)
{
    (void)pid;
    return said_to_be;
}

/** A connection for calls, and so a slot, of another user's session, or with an unknown token. */
static void test_slots_of_others(void **state)
{
    (void)state;
    struct tern_wire_hello h = good_hello(TERN_WIRE_CALLS);
    struct tern_wire_welcome w;
    served_uid = pretend;
    said_to_be = 1000;
    struct raw victim = raw_open();
    for (unsigned bit = 0; bit <= 8 * sizeof h.token; bit++) {
        const bool knows = bit == 8 * sizeof h.token;
        memcpy(h.token, victim.welcome.token, sizeof h.token);
        h.token[knows ? 0 : bit / 8] ^= (uint8_t)(knows ? 0 : 1u << bit % 8);
        said_to_be = knows ? 1001 : 1000;
        const int fd = reach(&h, sizeof h, &w, NULL);
        assert_int_equal(w.status, -EAGAIN);
        close(fd);
    }
    raw_close(&victim);
    nothing_left();
    served_uid = NULL;
}

static void test_values_out_of_range(void **state)
{
    (void)state;
    struct raw r = raw_open();
    const uint32_t p = raw_make(&r, TERN_WIRE_PROCESS_CREATE, 0, 0, 0, 0);
    const uint32_t m = raw_make(&r, TERN_WIRE_ALLOCATION_CREATE, p, 8192, TERN_MEM_READ | TERN_MEM_WRITE, 0);
    const uint32_t c = raw_make(&r, TERN_WIRE_CONTEXT_CREATE, p, (uint64_t)-1, 0, 1);
    const uint64_t big = UINT64_MAX;
    const struct {
        uint32_t op, object;
        uint64_t v[3];
        int status;
    } calls[] = {
        {TERN_WIRE_COUNTERS, 0, {big}, -EINVAL},
        {TERN_WIRE_ALLOCATION_READ, m, {8192, 1}, -EFAULT},
        {TERN_WIRE_ALLOCATION_READ, m, {big, 2}, -EFAULT},
        {TERN_WIRE_ALLOCATION_WRITE, m, {1, 8192}, -EFAULT},
        {TERN_WIRE_ALLOCATION_READ, m, {0, TERN_WIRE_COPY + 1}, -EINVAL},
        {TERN_WIRE_ALLOCATION_WRITE, m, {0, big}, -EINVAL},
        {TERN_WIRE_ALLOCATION_CREATE, p, {0, 1, 0}, -EINVAL},
        {TERN_WIRE_ALLOCATION_CREATE, p, {4096, 8, 0}, -EINVAL},
        {TERN_WIRE_ALLOCATION_CREATE, p, {4096, 1ull << 32 | 1, 0}, -EINVAL},
        {TERN_WIRE_ALLOCATION_CREATE, p, {4096, 1, 1ull << 32}, -EINVAL},
        {TERN_WIRE_ALLOCATION_CREATE, p, {big, 1, 0}, -ENOSPC},
        {TERN_WIRE_ALLOCATION_EXPORT, m, {0}, -EINVAL},
        {TERN_WIRE_ALLOCATION_EXPORT, m, {1ull << 32 | 1}, -EINVAL},
        {TERN_WIRE_ALLOCATION_EXPORT, m, {TERN_MEM_EXEC}, -EACCES},
        {TERN_WIRE_ALLOCATION_EXPORT, p, {1}, -EINVAL},
        {TERN_WIRE_ALLOCATION_IMPORT, m, {1}, -EINVAL},
        {TERN_WIRE_ALLOCATION_IMPORT, p, {0}, -EINVAL},
        {TERN_WIRE_ALLOCATION_IMPORT, p, {1ull << 32 | 1}, -EINVAL},
        {TERN_WIRE_ALLOCATION_IMPORT, p, {1}, -ENOENT},
        {TERN_WIRE_ALLOCATION_IMPORT, p, {1, big, big}, -ENOENT},
        {TERN_WIRE_PROCESS_DIRTY, p, {1ull << 32, 4096, 0}, -EINVAL},
        {TERN_WIRE_PROCESS_DIRTY, p, {0x10000, big, 0}, -EINVAL},
        {TERN_WIRE_PROCESS_DIRTY, p, {0x10000, 4u << 20, 0}, -EFAULT},
        {TERN_WIRE_CONTEXT_CREATE, p, {1000, 0, 0}, -EINVAL},
        {TERN_WIRE_CONTEXT_CREATE, p, {1ull << 32, 0, 0}, -EINVAL},
        {TERN_WIRE_CONTEXT_CREATE, p, {0, 1ull << 32 | 1, 0}, -EINVAL},
        {TERN_WIRE_CONTEXT_PRIORITY, c, {4, 0}, -EINVAL},
        {TERN_WIRE_CONTEXT_PRIORITY, c, {1ull << 32, 0}, -EINVAL},
        {TERN_WIRE_CONTEXT_PRIORITY, c, {1, 1001}, -EINVAL},
        {TERN_WIRE_CONTEXT_SUBMIT, 0, {TERN_WIRE_SLOT + 1}, -EINVAL},
        {TERN_WIRE_PROCESS_ALLOCATIONS, p, {big}, 0},
        {TERN_WIRE_PROCESS_DESTROY, p, {0}, -EBUSY},
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        const int s = raw_call(&r, calls[i].op, calls[i].object, calls[i].v[0], calls[i].v[1], calls[i].v[2], NULL);
        if (s != calls[i].status) {
            print_error("call %zu (%u): %d\n", i, calls[i].op, s);
        }
        assert_int_equal(s, calls[i].status);
    }
    raw_close(&r);
    nothing_left();
}

/** The client goes while one of its calls would wait for weeks. */
static void test_gone_in_a_call(void **state)
{
    (void)state;
    struct raw r = raw_open();
    const uint32_t p = raw_make(&r, TERN_WIRE_PROCESS_CREATE, 0, 0, 0, 0);
    const struct tern_wire_request q = {
        .length = offsetof(struct tern_wire_request, text), .op = TERN_WIRE_FENCE_WAIT,
        .object = raw_make(&r, TERN_WIRE_FENCE_CREATE, p, 0, 0, 0), .value = {1, INT32_MAX}};
    assert_int_equal(tern_socket_send(r.calls, &q, q.length, -1, true), 0);
    raw_close(&r);
    nothing_left();
}

/* ------------------------------------------------------------------ rings */

static void test_tail_that_is_impossible(void **state)
{
    (void)state;
    const uint64_t tails[] = {8, TERN_WIRE_SUBMISSION_BYTES + 8, 1ull << 40, UINT64_MAX};
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
        struct raw r = raw_open();
        raw_make(&r, TERN_WIRE_PROCESS_CREATE, 0, 0, 0, 0);
        /* The client cannot shrink or grow the memory that ternd has mapped. */
        assert_int_equal(ftruncate(r.memory, 0), -1);
        assert_int_equal(ftruncate(r.memory, 1ll << 40), -1);
        atomic_store(&r.shared->submissions.tail, tails[i]);
        tern_socket_wake(r.session);
        cut_off(&r);
    }
}

/** ternd continues although the pipe of its messages is full and is not read. */
static void test_nobody_reads_messages(void **state)
{
    (void)state;
    int ends[2];
    const int before = dup(STDERR_FILENO);
    char dots[4096];
    assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
    memset(dots, '.', sizeof dots);
    while (write(ends[1], dots, sizeof dots) > 0) {
    }
    assert_int_equal(fcntl(ends[1], F_SETFL, 0), 0);
    dup2(ends[1], STDERR_FILENO);
    struct raw r = raw_open();
    atomic_store(&r.shared->submissions.tail, UINT64_MAX);
    tern_socket_wake(r.session);
    char byte[8];
    while (recv(r.session, byte, sizeof byte, 0) > 0) {
    }
    raw_close(&r);
    while (served_connections()) {
        nap();
    }
    dup2(before, STDERR_FILENO);
    close(before);
    close(ends[0]);
    close(ends[1]);
    nothing_left();
}

static void test_entries_that_are_wrong(void **state)
{
    (void)state;
    uint32_t nop[16];
    assert_int_equal(tern_pkt_nop_pack(&(struct tern_pkt_nop){0}, nop), 0);
    const uint32_t head = sizeof(struct tern_wire_entry), whole = head + 64;
    const struct tern_wire_entry good = {
        .length = whole, .op = TERN_WIRE_ENTRY_SUBMIT, .object = 2, .size = 64, .fence = 1};
    const struct {
        const char *what;
        struct tern_wire_entry e;
    } entries[] = {
        {"no length", {0}},
        {"shorter than its header", {.length = 8, .op = TERN_WIRE_ENTRY_SUBMIT, .object = 2}},
        {"no multiple of 8", {.length = whole - 4, .op = TERN_WIRE_ENTRY_SUBMIT, .object = 2, .size = 60, .fence = 1}},
        {"longer than what is there", {.length = whole + 8, .op = TERN_WIRE_ENTRY_SUBMIT, .object = 2, .size = 72}},
        {"longer than any", {.length = TERN_WIRE_ENTRY_MAX + 8, .op = TERN_WIRE_ENTRY_SUBMIT, .object = 2}},
        {"parts beyond it", {.length = whole, .op = TERN_WIRE_ENTRY_SUBMIT, .object = 2, .size = 128, .fence = 1}},
        {"parts that overflow", {.length = whole, .op = TERN_WIRE_ENTRY_SUBMIT, .object = 2, .size = 0xfffffff8u,
                                 .data = 72, .fence = 1}},
        {"data beyond the most", {.length = whole, .op = TERN_WIRE_ENTRY_SUBMIT, .object = 2, .size = 0x80000040u,
                                  .data = 0x80000000u, .fence = 1}},
        {"a label beyond the most", {.length = whole, .op = TERN_WIRE_ENTRY_NULL, .object = 2, .label = 0xfffffff8u}},
        {"no such kind", {.length = whole, .op = 6, .object = 2, .size = 64, .fence = 1}},
        {"no such context", {.length = whole, .op = TERN_WIRE_ENTRY_SUBMIT, .object = 9, .size = 64, .fence = 1}},
        {"a process for a context", {.length = whole, .op = TERN_WIRE_ENTRY_SUBMIT, .object = 1, .size = 64,
                                     .fence = 1}},
        {"a fence out of turn", {.length = whole, .op = TERN_WIRE_ENTRY_SUBMIT, .object = 2, .size = 64, .fence = 2}},
        {"destroys what there is not", {.length = whole, .op = TERN_WIRE_ENTRY_ALLOCATION_DESTROY, .object = 9,
                                        .size = 64}},
        {"destroys a context", {.length = whole, .op = TERN_WIRE_ENTRY_FENCE_DESTROY, .object = 2, .size = 64}},
        {"aborts a context", {.length = whole, .op = TERN_WIRE_ENTRY_ABORT, .object = 2, .size = 64}},
    };
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        struct raw r = raw_open();
        const uint32_t p = raw_make(&r, TERN_WIRE_PROCESS_CREATE, 0, 0, 0, 0);
        assert_int_equal(p, 1);
        assert_int_equal(raw_make(&r, TERN_WIRE_CONTEXT_CREATE, p, 0, 0, 1), 2);
        print_message("%s\n", entries[i].what);
        raw_put(&r, &entries[i].e, nop, sizeof nop);
        cut_off(&r);
    }
    struct raw r = raw_open(); /* The valid entry is accepted. */
    const uint32_t p = raw_make(&r, TERN_WIRE_PROCESS_CREATE, 0, 0, 0, 0);
    raw_make(&r, TERN_WIRE_CONTEXT_CREATE, p, 0, 0, 1);
    raw_put(&r, &good, nop, sizeof nop);
    while (!atomic_load(&r.shared->completions.tail)) {
        nap();
    }
    memcpy(raw_slot(&r), &good, sizeof good);   /* Sent again through the slot, the entry's fence is out of order. */
    const int status = raw_call(&r, TERN_WIRE_CONTEXT_SUBMIT, 0, whole, 0, 0, NULL);
    assert_true(status == 0 || status == -ECONNRESET); /* The reply, or the end of the session before it. */
    disconnected(&r);
}

/** However the client says that it sleeps, its completions arrive, it is woken once at most, and nothing else
 * happens. */
static void test_sleeps_as_it_likes(void **state)
{
    (void)state;
    const uint32_t how[] = {TERN_WIRE_AWAKE, TERN_WIRE_MESSAGE, TERN_WIRE_FUTEX, 3, UINT32_MAX};
    struct raw r = raw_open();
    const uint32_t p = raw_make(&r, TERN_WIRE_PROCESS_CREATE, 0, 0, 0, 0);
    struct tern_wire_entry e = {.length = sizeof e, .op = TERN_WIRE_ENTRY_NULL,
                                .object = raw_make(&r, TERN_WIRE_CONTEXT_CREATE, p, 0, 0, 1)};
    for (size_t i = 0; i < sizeof how / sizeof *how; i++) {
        char byte[8];
        atomic_store(&r.shared->completions.sleeping, how[i]);
        e.fence = i + 1;
        raw_put(&r, &e, NULL, 0);
        while (atomic_load(&r.shared->completions.tail) != i + 1 || atomic_load(&r.shared->completions.sleeping)) {
            nap();
        }
        const bool message = how[i] != TERN_WIRE_AWAKE && how[i] != TERN_WIRE_FUTEX;
        assert_int_equal(raw_call(&r, TERN_WIRE_TIME, 0, 0, 0, 0, NULL), 0);
        if (message) {
            assert_int_equal(recv(r.session, byte, sizeof byte, 0), 1);
        }
        assert_int_equal(recv(r.session, byte, sizeof byte, MSG_DONTWAIT), -1);
    }
    raw_close(&r);
    nothing_left();
}

/** An object is destroyed twice. */
static void test_destroyed_twice(void **state)
{
    (void)state;
    struct raw r = raw_open();
    const uint32_t p = raw_make(&r, TERN_WIRE_PROCESS_CREATE, 0, 0, 0, 0);
    const uint32_t m = raw_make(&r, TERN_WIRE_ALLOCATION_CREATE, p, 4096, TERN_MEM_READ, 0);
    const struct tern_wire_entry e = {
        .length = sizeof e, .op = TERN_WIRE_ENTRY_ALLOCATION_DESTROY, .object = m};
    raw_put(&r, &e, NULL, 0);
    assert_int_equal(raw_call(&r, TERN_WIRE_ALLOCATION_READ, m, 0, 1, 0, NULL), -EINVAL);
    raw_put(&r, &e, NULL, 0);
    cut_off(&r);
}

/** The client says that it has taken completions that do not exist. */
static void test_head_that_is_impossible(void **state)
{
    (void)state;
    struct raw r = raw_open();
    const uint32_t p = raw_make(&r, TERN_WIRE_PROCESS_CREATE, 0, 0, 0, 0);
    const uint32_t c = raw_make(&r, TERN_WIRE_CONTEXT_CREATE, p, 0, 0, 1);
    const struct tern_wire_entry e = {.length = sizeof e, .op = TERN_WIRE_ENTRY_NULL, .object = c, .fence = 1};
    atomic_store(&r.shared->completions.head, 1ull << 40);
    raw_put(&r, &e, NULL, 0);
    disconnected(&r);
}

/** A client submits without end, takes no completions, and exceeds the limit that it was told. */
static void test_flood(void **state)
{
    (void)state;
    struct raw r = raw_open();
    const uint32_t p = raw_make(&r, TERN_WIRE_PROCESS_CREATE, 0, 0, 0, 0);
    const uint32_t c = raw_make(&r, TERN_WIRE_CONTEXT_CREATE, p, 0, 0, 1);
    const struct tern_wire_entry e = {.length = sizeof e, .op = TERN_WIRE_ENTRY_NULL, .object = c};
    uint8_t *ring = (uint8_t *)r.shared + TERN_WIRE_SUBMISSION_OFFSET;
    uint64_t fence = 0, tail = 0;
    int status = 0;
    while (!status) { /* This ends with the client's session. */
        for (uint64_t n = 0; n < 4096 && TERN_WIRE_SUBMISSION_BYTES % sizeof e == 0; n++) {
            struct tern_wire_entry next = e;
            next.fence = ++fence;
            memcpy(ring + tail % TERN_WIRE_SUBMISSION_BYTES, &next, sizeof next);
            tail += sizeof next;
        }
        atomic_store(&r.shared->submissions.tail, tail);
        status = raw_call(&r, TERN_WIRE_NOP, 0, 0, 0, 0, NULL);
        assert_true(fence < 2 * r.welcome.queue / tern_wire_cost(0, 0) + TERN_WIRE_COMPLETIONS + 8192);
    }
    assert_int_equal(status, -ECONNRESET);
    assert_true(fence >= TERN_WIRE_COMPLETIONS + r.welcome.queue / tern_wire_cost(0, 0));
    disconnected(&r);
}

/* ------------------------------------------------------------------ what a user may have */

/** Statistics and traces show the owner of a process. Offences of one user's program do not count for another user. */
static void test_owners(void **state)
{
    (void)state;
    struct raw r = raw_open();
    char owner[32];
    raw_make(&r, TERN_WIRE_PROCESS_CREATE, 0, 0, 0, 0);
    snprintf(owner, sizeof owner, " (%d ", (int)getpid());
    pthread_mutex_lock(&server.dev->lock);
    const struct tern_process *p = TERN_LIST_ENTRY(server.dev->processes.next, struct tern_process, node);
    assert_non_null(strstr(p->shown, owner));
    assert_int_equal(p->owner, getuid());
    struct tern_offender *o = &server.dev->tdr.offender[0];
    *o = (struct tern_offender){.name = "wild", .partition = "default", .owner = 1000, .n = TERN_OFFENCES};
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    for (uint32_t i = 0; i < TERN_OFFENCES; i++) {
        o->at[i] = (uint64_t)now.tv_sec * 1000000000u;
    }
    pthread_mutex_unlock(&server.dev->lock);
    struct tern_process *made;
    assert_int_equal(tern_os_process_create_for(server.dev, "wild", &(struct tern_owner){.uid = 1000}, &made), -EACCES);
    ok(tern_os_process_create_for(server.dev, "wild", &(struct tern_owner){.uid = 1001}, &made));
    ok(tern_os_process_destroy(made));
    raw_close(&r);
    nothing_left();
}

/** A device with one address space has one session at a time (A2). */
static void test_single_use(void **state)
{
    (void)state;
    server.info.single_use = true;
    struct raw r = raw_open();
    const struct tern_wire_hello h = good_hello(TERN_WIRE_SESSION);
    char text[64];
    snprintf(text, sizeof text, "one address space only, and process %d (raw)", (int)getpid());
    struct tern_wire_welcome w;
    const int fd = reach(&h, sizeof h, &w, NULL);
    assert_int_equal(w.status, -EBUSY);
    assert_non_null(strstr(w.text, text));
    close(fd);
    raw_close(&r);
    nothing_left();
    r = raw_open();
    raw_close(&r);
    nothing_left();
    server.info.single_use = false;
}

static int serve_limited(void **state)
{
    (void)state;
    char path[] = "/tmp/ternd-limits-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    dprintf(fd, "[default]\nmemory = 64K\npinned = 56K\ncontexts = 1\nfocus = no\nrealtime = no\ncalls = 1\n");
    close(fd);
    const int r = serve_with(path);
    unlink(path);
    return r;
}

static void test_limits(void **state)
{
    (void)state;
    const uint32_t rw = TERN_MEM_READ | TERN_MEM_WRITE;
    struct raw r = raw_open(), other = raw_open(); /* Both sessions belong to one user. */
    const uint32_t p = raw_make(&r, TERN_WIRE_PROCESS_CREATE, 0, 0, 0, 0);
    const uint32_t q = raw_make(&other, TERN_WIRE_PROCESS_CREATE, 0, 0, 0, 0);
    assert_int_equal(raw_call(&r, TERN_WIRE_ALLOCATION_CREATE, p, 65537, rw, 0, NULL), -ENOSPC);
    const uint32_t m = raw_make(&r, TERN_WIRE_ALLOCATION_CREATE, p, 61440, rw, 0);
    assert_int_equal(raw_call(&other, TERN_WIRE_ALLOCATION_CREATE, q, 4097, rw, 0, NULL), -ENOSPC);
    struct tern_wire_reply handle; /* Imported memory counts as well. */
    assert_int_equal(raw_call(&r, TERN_WIRE_ALLOCATION_EXPORT, m, rw, 0, 0, &handle), 0);
    assert_int_equal(raw_call(&other, TERN_WIRE_ALLOCATION_IMPORT, q, rw, handle.value[0], handle.value[1], NULL),
                     -ENOSPC);
    raw_make(&other, TERN_WIRE_FENCE_CREATE, q, 0, 0, 0); /* A fence takes a page. */
    assert_int_equal(raw_call(&r, TERN_WIRE_FENCE_CREATE, p, 0, 0, 0, NULL), -ENOSPC);
    const struct tern_wire_entry e = {
        .length = sizeof e, .op = TERN_WIRE_ENTRY_ALLOCATION_DESTROY, .object = m};
    assert_int_equal(raw_call(&r, TERN_WIRE_ALLOCATION_RESIDENT, m, 0, 0, 0, NULL), -ENOSPC);
    raw_put(&r, &e, NULL, 0);
    /* Freed memory can be allocated again. */
    const uint32_t large = raw_make(&r, TERN_WIRE_ALLOCATION_CREATE, p, 57344, rw, 0);
    const uint32_t small = raw_make(&r, TERN_WIRE_ALLOCATION_CREATE, p, 4096, rw, 0);
    for (int i = 0; i < 2; i++) { /* Memory that stays on the device counts once. */
        assert_int_equal(raw_call(&r, TERN_WIRE_ALLOCATION_RESIDENT, large, 0, 0, 0, NULL), 0);
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(raw_call(&r, TERN_WIRE_ALLOCATION_RESIDENT, small, 0, 0, 0, NULL), -ENOSPC);
        assert_int_equal(raw_call(&r, TERN_WIRE_ALLOCATION_EVICT, large, 0, 0, 0, NULL), 0);
    }
    assert_int_equal(raw_call(&r, TERN_WIRE_ALLOCATION_EVICT, large, 0, 0, 0, NULL), -EINVAL);
    assert_int_equal(raw_call(&r, TERN_WIRE_ALLOCATION_RESIDENT, small, 0, 0, 0, NULL), 0);
    const uint32_t c = raw_make(&r, TERN_WIRE_CONTEXT_CREATE, p, 0, 0, 0);
    assert_int_equal(raw_call(&other, TERN_WIRE_CONTEXT_CREATE, q, 0, 0, 0, NULL), -ENOSPC);
    assert_int_equal(raw_call(&r, TERN_WIRE_CONTEXT_PRIORITY, c, TERN_BAND_FOCUS, 0, 0, NULL), -EPERM);
    assert_int_equal(raw_call(&r, TERN_WIRE_CONTEXT_PRIORITY, c, TERN_BAND_REALTIME, 0, 0, NULL), -EPERM);
    assert_int_equal(raw_call(&r, TERN_WIRE_CONTEXT_PRIORITY, c, TERN_BAND_IDLE, 0, 0, NULL), 0);
    assert_int_equal(raw_call(&r, TERN_WIRE_CONTEXT_DESTROY, c, 0, 0, 0, NULL), 0);
    raw_make(&other, TERN_WIRE_CONTEXT_CREATE, q, 0, 0, 0);
    struct tern_wire_hello h = good_hello(TERN_WIRE_CALLS); /* The user may have no more connections for calls. */
    struct tern_wire_welcome w;
    memcpy(h.token, r.welcome.token, sizeof h.token);
    const int fd = reach(&h, sizeof h, &w, NULL);
    assert_int_equal(w.status, -EAGAIN);
    close(fd);
    raw_close(&r);
    raw_close(&other);
    nothing_left();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_hello, serve, serve_end),
        cmocka_unit_test_setup_teardown(test_requests_of_wrong_form, serve, serve_end),
        cmocka_unit_test_setup_teardown(test_objects_of_others, serve, serve_end),
        cmocka_unit_test_setup_teardown(test_slots_of_others, serve, serve_end),
        cmocka_unit_test_setup_teardown(test_values_out_of_range, serve, serve_end),
        cmocka_unit_test_setup_teardown(test_gone_in_a_call, serve, serve_end),
        cmocka_unit_test_setup_teardown(test_tail_that_is_impossible, serve, serve_end),
        cmocka_unit_test_setup_teardown(test_nobody_reads_messages, serve, serve_end),
        cmocka_unit_test_setup_teardown(test_entries_that_are_wrong, serve, serve_end),
        cmocka_unit_test_setup_teardown(test_sleeps_as_it_likes, serve, serve_end),
        cmocka_unit_test_setup_teardown(test_destroyed_twice, serve, serve_end),
        cmocka_unit_test_setup_teardown(test_head_that_is_impossible, serve, serve_end),
        cmocka_unit_test_setup_teardown(test_flood, serve, serve_end),
        cmocka_unit_test_setup_teardown(test_owners, serve, serve_end),
        cmocka_unit_test_setup_teardown(test_single_use, serve, serve_end),
        cmocka_unit_test_setup_teardown(test_limits, serve_limited, serve_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
