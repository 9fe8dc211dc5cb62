/* SPDX-License-Identifier: Apache-2.0 */
/** Partitions through ternd: which user may do what, requests that no library would send, and what remains when clients
 * go. */
#include "raw.h"

#define MIB (1u << 20)

static _Atomic uid_t said_to_be;

static uid_t pretend(pid_t pid)
{
    (void)pid;
    return said_to_be;
}

enum { ROOT = 0, NOBODY = 61000, MAKER = 61001, TENANT = 61002 };

static int serve_tenants(void **state)
{
    (void)state;
    char path[] = "/tmp/ternd-limits-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    dprintf(fd, "[user %d]\npartitions = yes\n[user %d]\npartition = a\n", MAKER, TENANT);
    close(fd);
    const int r = serve_with(path);
    unlink(path);
    served_uid = pretend;
    said_to_be = ROOT;
    return r;
}

/** Sends a hello of this user that names a partition. Returns the welcome's status. On 0, *out receives the device
 * information. */
static int hello_of(uid_t uid, const char *partition, struct tern_device_info *out)
{
    struct tern_wire_hello h = good_hello(TERN_WIRE_SESSION);
    struct tern_wire_welcome w;
    int memory = -1;
    said_to_be = uid;
    memcpy(h.partition, partition, strnlen(partition, sizeof h.partition));
    close(reach(&h, sizeof h, &w, &memory));
    close(memory);
    if (w.status == 0 && out) {
        *out = w.info;
    }
    return w.status;
}

static struct raw as(uid_t uid)
{
    said_to_be = uid;
    return raw_open();
}

/** Sends a request with a text, and returns the reply's status. */
static int call(struct raw *r, uint32_t op, const char *text, uint64_t v0, uint64_t v1, uint64_t v2,
                struct tern_wire_reply *reply)
{
    struct tern_wire_reply own;
    struct tern_wire_request q = {.op = op, .value = {v0, v1, v2}};
    const size_t n = strnlen(text, sizeof q.text); /* A text that fills the whole field has no terminating zero. */
    memcpy(q.text, text, n);
    q.length = (uint32_t)(offsetof(struct tern_wire_request, text) + n);
    reply = reply ? reply : &own;
    if (tern_socket_send(r->calls, &q, q.length, -1, true)) {
        return -ECONNRESET;
    }
    return tern_socket_receive(r->calls, reply, sizeof *reply, NULL) > 0 ? reply->status : -ECONNRESET;
}

static int create(struct raw *r, const char *name, uint64_t memory, uint64_t host, uint64_t share)
{
    return call(r, TERN_WIRE_PARTITION_CREATE, name, memory, host, share, NULL);
}

/** Creates a process in a partition. Returns the process's number, or -errno. */
static int process_in(struct raw *r, const char *partition)
{
    uint64_t where[3] = {0};
    struct tern_wire_reply reply;
    memcpy(where, partition, strnlen(partition, sizeof where));
    const int e = call(r, TERN_WIRE_PROCESS_CREATE, "p", where[0], where[1], where[2], &reply);
    return e ? e : (int)reply.object;
}

static int end(struct raw *r, int process)
{
    return raw_call(r, TERN_WIRE_PROCESS_DESTROY, (uint32_t)process, 0, 0, 0, NULL);
}

static struct tern_partition_info info(struct raw *r, const char *name)
{
    struct tern_partition_info all[8] = {{0}};
    struct tern_wire_reply reply;
    assert_int_equal(call(r, TERN_WIRE_PARTITION_LIST, "", 8, 0, 0, &reply), 0);
    assert_in_range(reply.value[0], 1, 8);
    memcpy(all, raw_slot(r), reply.value[0] * sizeof *all);
    for (uint64_t i = 0; i < reply.value[0]; i++) {
        if (!strcmp(all[i].name, name)) {
            return all[i];
        }
    }
    return (struct tern_partition_info){0};
}

static void test_rights(void **state)
{
    (void)state;
    struct raw root = as(ROOT), nobody = as(NOBODY), maker = as(MAKER);
    assert_int_equal(hello_of(TENANT, "", NULL), -EINVAL); /* The user's own partition does not exist yet. */
    assert_int_equal(create(&root, "a", 4 * MIB, 0, 300), 0);
    assert_int_equal(create(&root, "a", 4 * MIB, 0, 300), -EEXIST);
    assert_true(info(&nobody, "a").share == 300 && info(&nobody, "a").owner == ROOT);
    struct raw tenant = as(TENANT);

    assert_int_equal(create(&nobody, "b", MIB, 0, 0), -EACCES);
    assert_int_equal(call(&nobody, TERN_WIRE_PARTITION_DESTROY, "a", 0, 0, 0, NULL), -EACCES);
    assert_int_equal(call(&nobody, TERN_WIRE_PARTITION_RESIZE, "a", MIB, 0, 0, NULL), -EACCES);
    assert_int_equal(call(&nobody, TERN_WIRE_PARTITION_SHARE, "a", 1, 0, 0, NULL), -EACCES);
    assert_int_equal(call(&nobody, TERN_WIRE_PARTITION_SHARE, "default", 1, 0, 0, NULL), -EACCES);
    assert_int_equal(process_in(&nobody, "a"), -EACCES);
    const int own = process_in(&nobody, "default");
    assert_true(own > 0);
    assert_int_equal(end(&nobody, own), 0);

    assert_int_equal(create(&maker, "mine", 2 * MIB, MIB, 50), 0);
    assert_int_equal(info(&maker, "mine").owner, MAKER);
    assert_int_equal(process_in(&nobody, "mine"), -EACCES);
    assert_int_equal(process_in(&maker, "a"), -EACCES);
    assert_int_equal(call(&maker, TERN_WIRE_PARTITION_DESTROY, "a", 0, 0, 0, NULL), -EACCES);
    assert_int_equal(call(&maker, TERN_WIRE_PARTITION_SHARE, "default", 1, 0, 0, NULL), -EACCES);
    assert_int_equal(call(&maker, TERN_WIRE_PARTITION_SHARE, "mine", 1000, 0, 0, NULL), 0);
    assert_int_equal(call(&maker, TERN_WIRE_PARTITION_RESIZE, "mine", MIB, 0, 0, NULL), 0);
    const int in = process_in(&maker, "mine");
    assert_true(in > 0 && info(&root, "mine").processes == 1);
    assert_int_equal(call(&maker, TERN_WIRE_PARTITION_DESTROY, "mine", 0, 0, 0, NULL), -EBUSY);
    assert_int_equal(call(&root, TERN_WIRE_PARTITION_RESIZE, "mine", 2 * MIB, 0, 0, NULL), -EBUSY);

    const int t = process_in(&tenant, "");
    assert_true(t > 0 && info(&root, "a").processes == 1);
    assert_int_equal(process_in(&tenant, "default"), -EACCES);
    assert_int_equal(process_in(&tenant, "mine"), -EACCES);
    assert_int_equal(process_in(&root, "nowhere"), -ENOENT);

    raw_close(&maker); /* The client's processes end, and its partition remains. */
    raw_close(&tenant);
    while (info(&root, "mine").processes || info(&root, "a").processes) {
        nap();
    }
    assert_int_equal(call(&root, TERN_WIRE_PARTITION_DESTROY, "mine", 0, 0, 0, NULL), 0);
    assert_int_equal(call(&root, TERN_WIRE_PARTITION_DESTROY, "a", 0, 0, 0, NULL), 0);
    raw_close(&root);
    raw_close(&nobody);
    nothing_left();
}

/** A program's memory is taken from its partition, and returns to it when the program ends. */
static void test_memory(void **state)
{
    (void)state;
    const uint32_t rw = TERN_MEM_READ | TERN_MEM_WRITE;
    struct raw root = as(ROOT);
    uint8_t handle[TERN_HANDLE_BYTES];
    struct tern_wire_reply reply;
    assert_int_equal(create(&root, "a", 4 * MIB, 0, 100), 0);
    struct raw tenant = as(TENANT);
    const int t = process_in(&tenant, ""), other = process_in(&root, "default");
    assert_true(t > 0 && other > 0);
    assert_int_equal(raw_call(&tenant, TERN_WIRE_ALLOCATION_CREATE, (uint32_t)t, 4 * MIB, rw, 0, NULL), -ENOSPC);
    const uint32_t m = raw_make(&tenant, TERN_WIRE_ALLOCATION_CREATE, (uint32_t)t, 2 * MIB, rw, 0);
    assert_int_equal(raw_call(&tenant, TERN_WIRE_ALLOCATION_EXPORT, m, rw, 0, 0, &reply), 0);
    memcpy(handle, reply.value, sizeof handle);
    assert_int_equal(raw_call(&root, TERN_WIRE_ALLOCATION_IMPORT, (uint32_t)other, rw, reply.value[0], reply.value[1],
                              NULL), -EXDEV);
    raw_close(&tenant);
    while (info(&root, "a").free_bytes != 4 * MIB) {
        nap();
    }
    assert_int_equal(end(&root, other), 0);
    assert_int_equal(call(&root, TERN_WIRE_PARTITION_DESTROY, "a", 0, 0, 0, NULL), 0);
    raw_close(&root);
    nothing_left();
}

/** A program sees the memory of its partition, which it names or which is its user's. */
static void test_hello(void **state)
{
    (void)state;
    struct tern_device_info whole, part, left;
    char longest[64];
    memset(longest, 'x', sizeof longest);
    struct raw root = as(ROOT), maker = as(MAKER);
    assert_int_equal(hello_of(ROOT, "", &whole), 0);
    assert_int_equal(whole.memory_bytes, 64 * MIB);
    assert_int_equal(create(&root, "a", 8 * MIB, 2 * MIB, 0), 0);
    assert_int_equal(create(&maker, "mine", 16 * MIB, 0, 0), 0);
    const struct {
        uid_t uid;
        const char *name;
        uint64_t bytes; /* 0 if the hello is refused. */
        int error;
    } who[] = {
        {ROOT, "a", 8 * MIB, 0}, {ROOT, "mine", 16 * MIB, 0}, {TENANT, "", 8 * MIB, 0}, {TENANT, "a", 8 * MIB, 0},
        {MAKER, "mine", 16 * MIB, 0}, {MAKER, "a", 0, -EPERM}, {NOBODY, "mine", 0, -EPERM},
        {TENANT, "default", 0, -EPERM}, {ROOT, "none", 0, -EINVAL}, {NOBODY, "none", 0, -EPERM},
        {ROOT, longest, 0, -EINVAL},
    };
    for (size_t i = 0; i < sizeof who / sizeof *who; i++) {
        assert_int_equal(hello_of(who[i].uid, who[i].name, &part), who[i].error);
        assert_true(!who[i].bytes || (part.memory_bytes == who[i].bytes && part.resident_bytes < who[i].bytes));
    }
    assert_int_equal(hello_of(TENANT, "", &part), 0);
    assert_int_equal(part.allocatable_bytes - part.resident_bytes, 2 * MIB);
    assert_int_equal(hello_of(NOBODY, "", &left), 0);
    assert_int_equal(left.memory_bytes, 40 * MIB);
    assert_true(left.resident_bytes < whole.resident_bytes - 23 * MIB);
    assert_int_equal(call(&root, TERN_WIRE_PARTITION_DESTROY, "a", 0, 0, 0, NULL), 0);
    assert_int_equal(call(&root, TERN_WIRE_PARTITION_DESTROY, "mine", 0, 0, 0, NULL), 0);
    raw_close(&root);
    raw_close(&maker);
    nothing_left();
}

/** Names and values that no library would send. */
static void test_hostile(void **state)
{
    (void)state;
    struct raw root = as(ROOT);
    char longest[256];
    struct tern_wire_reply reply;
    memset(longest, 'x', sizeof longest);
    const char *const names[] = {"", "\xff\xfe", "a b", "../a", "%s%n", longest, "default"};
    const uint64_t values[] = {0, 1, 4095, 4097, UINT32_MAX, 1ull << 40, UINT64_MAX, UINT64_MAX - 4095};
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
            assert_true(create(&root, names[n], values[i], values[i], values[i]) < 0);
            assert_true(call(&root, TERN_WIRE_PARTITION_RESIZE, names[n], values[i], 0, 0, NULL) < 0);
        }
        assert_true(call(&root, TERN_WIRE_PARTITION_DESTROY, names[n], 0, 0, 0, NULL) < 0);
    }
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        assert_true(create(&root, "a", values[i], 0, 100) < 0);
        assert_true(create(&root, "a", MIB, values[i] ? values[i] : 1, 100) < 0 ||
                    values[i] == UINT64_MAX); /* UINT64_MAX is TERN_PARTITION_HOST. */
        call(&root, TERN_WIRE_PARTITION_DESTROY, "a", 0, 0, 0, NULL);
        assert_true(create(&root, "a", MIB, 0, values[i] < 2 ? 1001 : values[i]) < 0);
        assert_int_equal(call(&root, TERN_WIRE_PARTITION_SHARE, "default", values[i] == 1 ? 0 : values[i], 0, 0, NULL),
                         -EINVAL);
    }
    assert_int_equal(process_in(&root, longest), -ENOENT); /* 24 bytes without a terminating zero. */
    assert_int_equal(process_in(&root, "\x01"), -ENOENT);
    assert_int_equal(call(&root, TERN_WIRE_PARTITION_LIST, "", UINT64_MAX, 0, 0, &reply), 0);
    assert_int_equal(reply.value[0], 1);
    assert_int_equal(call(&root, TERN_WIRE_PARTITION_LIST, "", 0, 0, 0, &reply), 0);
    assert_int_equal(reply.value[0], 1);
    raw_close(&root);
    nothing_left();
}

/** Only root may move programs, since a migration moves the programs of all users. */
static void test_moves(void **state)
{
    (void)state;
    static const uid_t users[] = {NOBODY, MAKER, TENANT, ROOT};
    for (size_t i = 0; i < sizeof users / sizeof *users; i++) {
        for (uint32_t kind = TERN_WIRE_SEND; kind <= TERN_WIRE_RECEIVE; kind++) {
            struct tern_wire_hello h = good_hello(kind);
            struct tern_wire_welcome w;
            said_to_be = users[i];
            strcpy(h.partition, TERN_PARTITION_DEFAULT);
            close(reach(&h, sizeof h, &w, NULL));
            assert_int_equal(w.status, users[i] == ROOT ? 0 : -EPERM);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_rights, serve_tenants, serve_end),
        cmocka_unit_test_setup_teardown(test_memory, serve_tenants, serve_end),
        cmocka_unit_test_setup_teardown(test_hello, serve_tenants, serve_end),
        cmocka_unit_test_setup_teardown(test_hostile, serve_tenants, serve_end),
        cmocka_unit_test_setup_teardown(test_moves, serve_tenants, serve_end),
    };
    return cmocka_run_group_tests_name("partitions", tests, NULL, NULL);
}
