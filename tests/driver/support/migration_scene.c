/* SPDX-License-Identifier: Apache-2.0 */
#include "migration_scene.h"

#include "device_memory.h"
#include "migration.h"
#include "tests/lib/submit.h"

struct scene scene;

void scene_open(void)
{
    struct scene *s = &scene;
    uint8_t handle[TERN_HANDLE_BYTES];
    uint32_t at;
    dma.size = 0;
    here = breakpoint_open(NULL, SCENE_CONFIG, &dev);
    s->pages = free_pages(dev);
    open_spin(&s->counts, "counts", 0);
    open_mix(&s->waits, "waits", -1);
    s->procs[0] = s->counts.p;
    s->procs[1] = s->waits.p;
    ok(tern_allocation_export(s->counts.args, RW, handle));
    ok(tern_allocation_import(s->waits.p, handle, TERN_MEM_READ, 0, &s->shared));
    ok(tern_allocation_create(s->waits.p, 8 << 20, RW | TERN_MEM_SPARSE, 0x40000000, &s->sparse));
    ok(tern_allocation_write(s->sparse, 5 << 20, "here", 4));
    ok(tern_allocation_make_resident(s->waits.data));
    ok(tern_allocation_create(s->waits.p, 4096, RW, 0, &s->gone));
    ok(tern_fence_create(s->waits.p, 0, &s->gate));
    ok(tern_context_take_data(s->waits.c));
    at = tern_allocation_address(s->sparse);
    ok(tern_context_set_residency(s->waits.c, &at, 1));
    work_wait(&dma, tern_fence_address(s->gate), 1);
    work_fill(&dma, at, 4096, 7);
    work_signal(&dma, tern_fence_address(s->gate), 2);
    work_submit(&dma, s->waits.c, "fills");
    ok(tern_context_set_residency(s->waits.c, NULL, 0));
    ok(submit_null(s->waits.c, NULL, NULL));
    s->last = actor_mix(&s->waits, 20);
    tern_allocation_destroy(s->gone);
    s->spin = actor_spin(&s->counts);
    spins(&s->counts);
}

void scene_ends_right(void)
{
    struct scene *s = &scene;
    uint64_t value;
    spins(&s->counts);
    actor_set(&s->counts, 0, 1);
    ok(tern_wait(s->counts.c, s->spin, PATIENCE));
    ok(tern_fence_signal(s->gate, 1));
    expect_mix(&s->waits, s->last);
    ok(tern_fence_value(s->gate, &value));
    assert_int_equal(value, 2);
    uint8_t got[4];
    ok(tern_allocation_read(s->sparse, 4095, got, 2));
    assert_true(got[0] == 7 && got[1] == 0);
    ok(tern_allocation_read(s->sparse, 5 << 20, got, 4));
    assert_memory_equal(got, "here", 4);
    ok(tern_allocation_read(s->shared, 4, got, 4));
    assert_int_equal(got[0], 1);
}

void scene_close(void)
{
    struct scene *s = &scene;
    tern_allocation_destroy(s->shared);
    tern_allocation_destroy(s->sparse);
    tern_fence_destroy(s->gate);
    ok(tern_allocation_evict(s->waits.data));
    actor_close(&s->waits);
    actor_close(&s->counts);
    assert_int_equal(free_pages(dev), s->pages);
    ok(tern_device_close(dev));
}
