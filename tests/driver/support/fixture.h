/* SPDX-License-Identifier: Apache-2.0 */
/** The device of the end-to-end tests, opened and closed around each test, and objects on it in a line each. */
#ifndef FIXTURE_H
#define FIXTURE_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "os/state/state.h"
#include "work.h"

static struct tern_device *dev;
static struct work b;

static inline struct tern_process *process(const char *name)
{
    struct tern_process *p;
    ok(tern_process_create(dev, name, &p));
    return p;
}

static inline struct tern_context *context(struct tern_process *p, int32_t engine)
{
    struct tern_context *c;
    struct tern_context_desc d = {.size = sizeof d, .name = "test", .engine = engine};
    ok(tern_context_create(p, &d, &c));
    return c;
}

static inline struct tern_allocation *memory(struct tern_process *p, uint64_t size, uint32_t flags)
{
    struct tern_allocation *a;
    ok(tern_allocation_create(p, size, flags, 0, &a));
    return a;
}

static inline void expect_bytes(struct tern_allocation *a, uint64_t offset, size_t size, uint8_t value)
{
    uint8_t *got = malloc(size), *want = malloc(size);
    assert_true(got && want);
    memset(want, value, size);
    ok(tern_allocation_read(a, offset, got, size));
    assert_memory_equal(got, want, size);
    free(got);
    free(want);
}

static inline int setup(void **state)
{
    (void)state;
    dev = open_or_skip("small,mem=64M,timeout=200000");
    b.size = 0;
    return 0;
}

static inline int teardown(void **state)
{
    (void)state;
    ok(tern_device_close(dev));
    return 0;
}

#endif
