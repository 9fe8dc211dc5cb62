/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Each allocation of host memory and each access to the device fails once. A scenario that uses the whole library is
 * repeated with the n-th malloc (or access) failing, n = 1, 2, ... until it succeeds. Every call must return a proper
 * error, and all objects must be destroyed; a sanitized build also checks for leaks. A lost device must not leave
 * anybody waiting.
 */
#include <stdatomic.h>

#include "check.h"
#include "hal/open/open.h"
#include "open_device.h"
#include "os/device/device.h"
#include "tests/lib/submit.h"
#include "work.h"

/* ---------------------------------------------------- the failing allocator (linked with --wrap) */

static atomic_long malloc_budget = -1; /* < 0: never fails */

static bool fails(void)
{
    return atomic_load(&malloc_budget) >= 0 && atomic_fetch_sub(&malloc_budget, 1) == 0;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
char *__real_strdup(const char *s);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
char *__wrap_strdup(const char *s);

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
    return fails() ? NULL : __real_realloc(p, size);
}

char *__wrap_strdup(const char *s)
{
    return fails() ? NULL : __real_strdup(s);
}

/* ------------------------------------------------ the failing hal: a real one that fails from some access on */

struct flaky {
    struct tern_hal hal, *real;
    atomic_long budget;
};

static bool broken(struct tern_hal *hal)
{
    struct flaky *f = (struct flaky *)(void *)hal;
    return atomic_load(&f->budget) <= 0 || atomic_fetch_sub(&f->budget, 1) <= 0;
}

#define REAL(hal) (((struct flaky *)(void *)(hal))->real)

static int flaky_read32(struct tern_hal *h, uint32_t offset, uint32_t *value)
{
    return broken(h) ? -EIO : REAL(h)->ops->read32(REAL(h), offset, value);
}

/** Only the first ones of several writes may reach the device. */
static int flaky_write32(struct tern_hal *h, const struct tern_hal_write *writes, size_t n)
{
    size_t good = 0;
    while (good < n && !broken(h)) {
        good++;
    }
    int r = good ? REAL(h)->ops->write32(REAL(h), writes, good) : 0;
    return r ? r : good < n ? -EIO : 0;
}

static int flaky_mem_read(struct tern_hal *h, uint64_t address, void *data, size_t size)
{
    return broken(h) ? -EIO : REAL(h)->ops->mem_read(REAL(h), address, data, size);
}

static int flaky_mem_write(struct tern_hal *h, const struct tern_iovec *pieces, size_t n)
{
    size_t good = 0;
    while (good < n && !broken(h)) {
        good++;
    }
    int r = good ? REAL(h)->ops->mem_write(REAL(h), pieces, good) : 0;
    return r ? r : good < n ? -EIO : 0;
}

static int flaky_flush(struct tern_hal *h)
{
    return broken(h) ? -EIO : REAL(h)->ops->flush(REAL(h));
}

static int flaky_wait(struct tern_hal *h, uint64_t cycles)
{
    return broken(h) ? -EIO : REAL(h)->ops->wait(REAL(h), cycles);
}

static void flaky_wake(struct tern_hal *h)
{
    REAL(h)->ops->wake(REAL(h));
}

static void flaky_close(struct tern_hal *h)
{
    REAL(h)->ops->close(REAL(h));
}

static const struct tern_hal_ops flaky_ops = {
    .read32 = flaky_read32, .write32 = flaky_write32, .mem_read = flaky_mem_read, .mem_write = flaky_mem_write,
    .flush = flaky_flush, .wait = flaky_wait, .wake = flaky_wake, .close = flaky_close};

/* ---------------------------------------------------------------- scenario */

static const char *const config = "small,mem=32M";
static struct work b;

static int use_context(struct tern_process *p, struct tern_context *c, struct tern_allocation *a, struct tern_fence *f)
{
    uint8_t back[8192];
    uint64_t fence;
    b.size = 0;
    work_fill(&b, tern_allocation_address(a), sizeof back, 0x3c);
    work_wait(&b, tern_fence_address(f), 5);
    work_signal(&b, tern_fence_address(f), 6);
    int r = submit_packets(c, b.w, b.size, "label", &fence);
    if (r == 0) {
        r = tern_fence_signal(f, 5);
    }
    if (r == 0) {
        r = tern_fence_wait(f, 6, -1);
    }
    if (r == 0) {
        r = tern_wait(c, fence, -1);
    }
    if (r == 0) {
        r = tern_allocation_read(a, 0, back, sizeof back);
    }
    for (size_t i = 0; !r && i < sizeof back; i++) {
        assert_int_equal(back[i], 0x3c);
    }
    return r ? r : tern_process_status(p, NULL);
}

static int use_process(struct tern_device *dev)
{
    struct tern_process *p = NULL;
    struct tern_context *c = NULL;
    struct tern_allocation *a = NULL, *large = NULL;
    struct tern_fence *f = NULL;
    struct tern_completion_queue *q = NULL;
    struct tern_completion done = {.size = sizeof done};
    int r = tern_completion_queue_create(dev, &q);
    if (r == 0) {
        r = tern_process_create(dev, "inject", &p);
    }
    if (r) {
        ok(tern_completion_queue_destroy(q));
        return r;
    }
    const struct tern_context_desc d = {.size = sizeof d, .engine = -1, .completions = q};
    r = tern_allocation_create(p, 3 * 4096, TERN_MEM_WRITE, 0, &a);
    if (r == 0) {
        r = tern_allocation_create(p, 9u << 20, TERN_MEM_WRITE, 0, &large);
    }
    if (r == 0) {
        r = tern_fence_create(p, 1, &f);
    }
    if (r == 0) {
        r = tern_context_create(p, &d, &c);
    }
    if (r == 0) {
        r = use_context(p, c, a, f);
    }
    assert_true(r || tern_completion_queue_take(q, &done, 1) == 1);
    tern_context_destroy(c);
    tern_fence_destroy(f);
    tern_allocation_destroy(large);
    tern_allocation_destroy(a);
    ok(tern_process_destroy(p));
    ok(tern_completion_queue_destroy(q));
    return r;
}

static void test_no_memory(void **state)
{
    (void)state;
    setenv("TERN_STATS", "0", 1); /* an observer without memory is no error */
    struct tern_device *dev = open_or_skip(config);
    ok(tern_device_close(dev));
    int failed = 0, r = -1;
    for (long n = 0; r; n++) {
        assert_true(n < 2000);
        atomic_store(&malloc_budget, n);
        r = tern_device_open(NULL, config, &dev);
        if (!r) {
            r = use_process(dev);
            bool used = atomic_load(&malloc_budget) < 0;
            atomic_store(&malloc_budget, -1);
            if (r) {
                ok(use_process(dev)); /* the device still works */
            }
            ok(tern_device_close(dev));
            assert_true(r || !used); /* each failure is reported */
        }
        atomic_store(&malloc_budget, -1);
        if (r) {
            failed++;
            assert_int_equal(r, -ENOMEM);
            assert_non_null(strstr(tern_last_error(), "memory"));
        }
    }
    assert_true(failed > 20);
    print_message("%d allocations failed in turn\n", failed);
}

static void test_hal(void **state)
{
    (void)state;
    int failed = 0, lost = 0, r = -1;
    for (long n = 0; r; n += n < 300 ? 1 : 7) { /* each access of opening, then every seventh */
        struct tern_config *c;
        struct tern_policy policy;
        struct flaky *f = calloc(1, sizeof *f);
        struct tern_device *dev;
        assert_non_null(f);
        assert_true(n < 100000);
        ok(tern_policy_parse(NULL, config, &policy, &c));
        ok_or_skip(tern_hal_open(c, &f->real));
        free(c);
        f->hal = *f->real;
        f->hal.ops = &flaky_ops;
        f->budget = n;
        r = tern_device_open_hal(&f->hal, &policy, &dev);
        if (r) {
            flaky_close(&f->hal);
        } else {
            r = use_process(dev);
            if (r) {
                struct tern_process *p;
                lost++;
                assert_int_equal(tern_process_create(dev, "late", &p), -EIO);
                assert_non_null(strstr(tern_last_error(), "lost"));
            }
            ok(tern_device_close(dev));
        }
        free(f);
        assert_true(r == 0 || r == -EIO);
        failed += r != 0;
    }
    assert_true(lost > 20);
    print_message("the device failed %d times, %d of them in use\n", failed, lost);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_memory), cmocka_unit_test(test_hal)};
    return cmocka_run_group_tests_name("inject", tests, NULL, NULL);
}
