/* SPDX-License-Identifier: Apache-2.0 */
/** Processes that map memory, also each other's, on a device with little memory. */
#ifndef USERS_H
#define USERS_H

#include "free_pages.h"
#include "rig.h"

#define MIB (1u << 20)
#define RW (TERN_MEM_READ | TERN_MEM_WRITE)

static const char *const small = "small,mem=16M,quantum=20000,timeout=200000";

struct user {
    struct tern_process *p;
    struct tern_context *c;
};

static inline struct user user(const char *name)
{
    const struct tern_context_desc d = {.size = sizeof d, .name = name, .engine = -1};
    struct user u;
    ok(tern_process_create(dev, name, &u.p));
    ok(tern_context_create(u.p, &d, &u.c));
    return u;
}

static inline void leave(struct user *u)
{
    tern_context_destroy(u->c);
    ok(tern_process_destroy(u->p));
}

static inline struct tern_allocation *memory(const struct user *u, uint32_t bytes, uint32_t flags)
{
    struct tern_allocation *a;
    ok(tern_allocation_create(u->p, bytes, flags, 0, &a));
    return a;
}

static inline struct tern_allocation *import(const struct user *u, const uint8_t *handle, uint32_t flags)
{
    struct tern_allocation *a;
    ok(tern_allocation_import(u->p, handle, flags, 0, &a));
    return a;
}

/** Runs work that names the allocation and sets bytes of it. Returns its result. */
static inline int fill(const struct user *u, struct tern_allocation *a, uint32_t from, uint32_t bytes, uint8_t value)
{
    const uint32_t at = tern_allocation_address(a);
    uint64_t fence = 0;
    ok(tern_context_set_residency(u->c, &at, 1));
    work_fill(&b, at + from, bytes, value);
    ok(tern_submit(u->c, b.w, b.size, "fill", &fence));
    b.size = 0;
    return tern_wait(u->c, fence, PATIENCE);
}

static inline void expect(struct tern_allocation *a, uint64_t offset, uint32_t size, uint8_t value)
{
    uint8_t *got = malloc(size);
    assert_non_null(got);
    ok(tern_allocation_read(a, offset, got, size));
    for (size_t i = 0; i < size; i++) {
        if (got[i] != value) {
            fail_msg("byte %zu is %u and not %u", (size_t)offset + i, got[i], value);
        }
    }
    free(got);
}

static inline void expect_nothing_left(uint32_t pages)
{
    assert_int_equal(free_pages(dev), pages);
    pthread_mutex_lock(&dev->lock);
    assert_int_equal(dev->partition.committed, 0);
    assert_int_equal(dev->partition.movable, 0);
    assert_true(tern_list_empty(&dev->partition.shared));
    for (uint32_t i = 0; i < TERN_EXPORT_BUCKETS; i++) {
        assert_true(tern_list_empty(&dev->exports[i]));
    }
    pthread_mutex_unlock(&dev->lock);
}

#endif
