/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Completion queues. Each completion is taken once and in order, by any of several threads. Also tested: the
 * descriptor, the end of objects that use a queue, and structs of other sizes than those of the library.
 */
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include "dut.h"
#include "open_device.h"
#include "tests/lib/submit.h"

static bool readable(const struct tern_completion_queue *q)
{
    struct pollfd p = {.fd = tern_completion_queue_fd(q), .events = POLLIN};
    return poll(&p, 1, 0) == 1;
}

static struct tern_context *context_on(struct tern_process *p, struct tern_completion_queue *q, void *user)
{
    struct tern_context *c;
    const struct tern_context_desc d = {.size = sizeof d, .engine = -1, .completions = q, .user = user};
    ok(tern_context_create(p, &d, &c));
    return c;
}

static void test_order(void **state)
{
    (void)state;
    enum { N = 20 };
    struct tern_process *p = process("order");
    struct tern_completion_queue *q;
    struct tern_completion got[N + 1];
    int mark;
    ok(tern_completion_queue_create(dev, &q));
    struct tern_context *c = context_on(p, q, &mark);
    got[0].size = sizeof *got;
    assert_int_equal(tern_completion_queue_take(q, got, N + 1), 0);
    assert_false(readable(q));
    for (int i = 0; i < N; i++) {
        ok(submit_null(c, "null", NULL));
    }
    ok(tern_wait(c, N, -1));
    assert_true(readable(q));
    got[0].size = sizeof *got;
    assert_int_equal(tern_completion_queue_take(q, got, 7), 7);
    assert_true(readable(q));
    got[7].size = sizeof *got;
    assert_int_equal(tern_completion_queue_take(q, &got[7], N), N - 7);
    assert_false(readable(q));
    for (uint32_t i = 0; i < N; i++) {
        assert_int_equal(got[i].size, sizeof *got);
        assert_int_equal(got[i].fence, i + 1);
        assert_int_equal(got[i].result, TERN_COMPLETED);
        assert_ptr_equal(got[i].user, &mark);
        assert_true(got[i].begin >= got[i].submitted && got[i].end >= got[i].begin);
    }
    tern_context_destroy(c);
    ok(tern_process_destroy(p));
    ok(tern_completion_queue_destroy(q));
}

/** A thread that takes completions; each completion goes to one such thread. */
struct taker {
    struct tern_completion_queue *q;
    atomic_uint *seen, *left;
};

#define EACH 200u
#define CONTEXTS 3u

static void *take(void *arg)
{
    struct taker *t = arg;
    while (atomic_load(t->left)) {
        struct pollfd p = {.fd = tern_completion_queue_fd(t->q), .events = POLLIN};
        struct tern_completion got[3] = {{.size = sizeof *got}};
        poll(&p, 1, 10);
        const int n = tern_completion_queue_take(t->q, got, 3);
        for (int i = 0; i < n; i++) {
            atomic_fetch_add(&t->seen[(uintptr_t)got[i].user * EACH + got[i].fence - 1], 1);
            atomic_fetch_sub(t->left, 1);
        }
    }
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    static atomic_uint seen[CONTEXTS * EACH];
    atomic_uint left = CONTEXTS * EACH;
    struct tern_process *p = process("threads");
    struct tern_completion_queue *q;
    struct tern_context *c[CONTEXTS];
    pthread_t thread[3];
    ok(tern_completion_queue_create(dev, &q));
    struct taker t = {q, seen, &left};
    for (unsigned i = 0; i < CONTEXTS; i++) {
        c[i] = context_on(p, q, (void *)(uintptr_t)i);
    }
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pthread_create(&thread[i], NULL, take, &t), 0);
    }
    for (unsigned n = 0; n < EACH; n++) {
        for (unsigned i = 0; i < CONTEXTS; i++) {
            ok(submit_null(c[i], "null", NULL));
        }
    }
    for (int i = 0; i < 3; i++) {
        pthread_join(thread[i], NULL);
    }
    for (unsigned i = 0; i < CONTEXTS * EACH; i++) {
        assert_int_equal(seen[i], 1);
    }
    for (unsigned i = 0; i < CONTEXTS; i++) {
        tern_context_destroy(c[i]);
    }
    ok(tern_process_destroy(p));
    ok(tern_completion_queue_destroy(q));
}

/** A queue in use cannot be destroyed. A completion that was not taken outlives its context. */
static void test_ends(void **state)
{
    (void)state;
    struct tern_process *p = process("ends");
    struct tern_completion_queue *q;
    struct tern_completion got = {.size = sizeof got};
    ok(tern_completion_queue_create(dev, &q));
    struct tern_context *c = context_on(p, q, NULL);
    ok(submit_null(c, "null", NULL));
    assert_int_equal(tern_completion_queue_destroy(q), -EBUSY);
    tern_context_destroy(c);
    ok(tern_process_destroy(p));
    assert_int_equal(tern_device_close(dev), -EBUSY);
    assert_non_null(strstr(tern_last_error(), "completion queues left"));
    assert_int_equal(tern_completion_queue_take(q, &got, 1), 1);
    assert_int_equal(got.fence, 1);
    p = process("again");
    c = context_on(p, q, NULL);
    ok(submit_null(c, "null", NULL));
    tern_context_destroy(c);
    ok(tern_process_destroy(p));
    ok(tern_completion_queue_destroy(q)); /* a completion that was not taken is dropped */
}

static void test_refusals(void **state)
{
    (void)state;
    struct tern_process *p = process("refusals");
    struct tern_completion_queue *q;
    struct tern_device *other = open_or_skip("small,mem=32M");
    struct tern_context *c;
    ok(tern_completion_queue_create(other, &q));
    struct tern_context_desc d = {.size = sizeof d, .completions = q};
    assert_int_equal(tern_context_create(p, &d, &c), -EINVAL);
    assert_non_null(strstr(tern_last_error(), "of another device"));
    ok(tern_completion_queue_destroy(q));
    ok(tern_device_close(other));
    struct rlimit before, none;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    assert_int_equal(tern_completion_queue_create(dev, &q), -EMFILE);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    ok(tern_process_destroy(p));
}

/** A program built against another version: a smaller struct, a larger one, and fields that this library does not
 * know. */
static void test_sizes(void **state)
{
    (void)state;
    struct {
        struct tern_device_info info;
        uint8_t more[24];
    } newer;
    struct tern_device_info whole = {.size = sizeof whole}, part;
    struct tern_process *p = process("sizes");
    struct tern_context *c;
    ok(tern_device_query(dev, &whole));
    assert_int_equal(whole.size, sizeof whole);
    memset(&newer, 0xaa, sizeof newer);
    newer.info.size = sizeof newer;
    ok(tern_device_query(dev, &newer.info));
    assert_memory_equal(&newer.info, &whole, sizeof whole);
    for (size_t i = 0; i < sizeof newer.more; i++) {
        assert_int_equal(newer.more[i], 0);
    }
    memset(&part, 0xaa, sizeof part);
    part.size = offsetof(struct tern_device_info, lanes);
    ok(tern_device_query(dev, &part));
    assert_int_equal(part.engines, whole.engines);
    assert_int_equal(part.lanes, 0xaaaaaaaa);
    part.size = 0;
    assert_int_equal(tern_device_query(dev, &part), -EINVAL);
    part.size = 3;
    assert_int_equal(tern_device_query(dev, &part), -EINVAL);
    part.size = 0xaaaaaaaa;
    assert_int_equal(tern_device_query(dev, &part), -EINVAL);
    struct {
        struct tern_context_desc d;
        uint8_t more[8];
    } desc = {.d = {.size = sizeof desc, .engine = -1}};
    ok(tern_context_create(p, &desc.d, &c));
    tern_context_destroy(c);
    desc.more[7] = 1;
    assert_int_equal(tern_context_create(p, &desc.d, &c), -E2BIG);
    assert_non_null(strstr(tern_last_error(), "too old"));
    desc.d = (struct tern_context_desc){.size = offsetof(struct tern_context_desc, weight), .weight = 9999};
    ok(tern_context_create(p, &desc.d, &c)); /* fields beyond `size` are ignored */
    tern_context_destroy(c);
    desc.d.size = 0;
    assert_int_equal(tern_context_create(p, &desc.d, &c), -EINVAL);
    ok(tern_process_destroy(p));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_order, device_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_threads, device_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_ends, device_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_refusals, device_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_sizes, device_setup, device_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
