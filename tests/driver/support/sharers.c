/* SPDX-License-Identifier: Apache-2.0 */
#include "sharers.h"

#include "dut.h"
#include "tests/lib/submit.h"
#include "waiting.h"

struct sharer sharer_open(const char *name)
{
    const struct tern_context_desc d = {.size = sizeof d, .name = name, .engine = -1};
    struct sharer u;
    ok(tern_process_create(dev, name, &u.p));
    ok(tern_context_create(u.p, &d, &u.c));
    return u;
}

void sharer_close(struct sharer *u)
{
    tern_context_destroy(u->c);
    ok(tern_process_destroy(u->p));
}

struct tern_allocation *sharer_import(const struct sharer *u, const uint8_t *handle, uint32_t flags)
{
    struct tern_allocation *a;
    ok(tern_allocation_import(u->p, handle, flags, 0, &a));
    return a;
}

int sharer_fill(const struct sharer *u, struct tern_allocation *a, uint32_t from, uint32_t bytes, uint8_t value)
{
    const uint32_t at = tern_allocation_address(a);
    uint64_t fence = 0;
    ok(tern_context_set_residency(u->c, &at, 1));
    work_fill(&dma, at + from, bytes, value);
    ok(submit_packets(u->c, dma.w, dma.size, "fill", &fence));
    dma.size = 0;
    return tern_wait(u->c, fence, PATIENCE);
}
