/* SPDX-License-Identifier: Apache-2.0 */
#include "actor.h"

#include "os/device/device.h"

void actor_open(struct actor *a, const char *name, int32_t engine, const uint32_t *code, size_t size)
{
    const struct tern_context_desc d = {.size = sizeof d, .name = name, .engine = engine};
    *a = (struct actor){0};
    ok(tern_process_create(dev, name, &a->p));
    ok(tern_context_create(a->p, &d, &a->c));
    ok(tern_allocation_create(a->p, 4096, TERN_MEM_READ | TERN_MEM_EXEC, 0, &a->code));
    ok(tern_allocation_create(a->p, 4096, TERN_MEM_WRITE, 0, &a->args));
    ok(tern_allocation_create(a->p, 1u << 18, TERN_MEM_WRITE, 0, &a->stack));
    ok(tern_allocation_create(a->p, 4 * MIX_ITEMS, TERN_MEM_WRITE, 0, &a->data));
    ok(tern_allocation_write(a->code, 0, code, size));
}

void actor_close(struct actor *a)
{
    tern_context_destroy(a->c);
    tern_allocation_destroy(a->code);
    tern_allocation_destroy(a->args);
    tern_allocation_destroy(a->stack);
    tern_allocation_destroy(a->data);
    ok(tern_process_destroy(a->p));
}

void actor_set(struct actor *a, uint32_t word, uint32_t value)
{
    ok(tern_allocation_write(a->args, 4 * word, &value, sizeof value));
}

uint32_t actor_get(struct actor *a, uint32_t word)
{
    uint32_t v;
    ok(tern_allocation_read(a->args, 4 * word, &v, sizeof v));
    return v;
}

void actor_dispatch(struct actor *a, uint32_t items)
{
    const uint32_t fits = dev->info.lanes * dev->info.warps, most = fits < 64 ? fits : 64;
    const uint32_t local = items < most ? items : most, groups = (items + local - 1) / local;
    struct tern_pkt_dispatch d = {
        .entry = tern_allocation_address(a->code), .args = tern_allocation_address(a->args), .work_dim = 1,
        .stack_log2 = 6, .local_bytes = a->local_bytes, .group_warps = (local + dev->info.lanes - 1) / dev->info.lanes,
        .group_slots = 1, .stack = tern_allocation_address(a->stack), .global_x = items, .global_y = 1, .global_z = 1,
        .local_x = local, .local_y = 1, .local_z = 1, .groups_x = groups, .groups_y = 1, .groups_z = 1,
        .edge_x = items - (groups - 1) * local, .edge_y = 1, .edge_z = 1};
    ok(tern_pkt_dispatch_pack(&d, work_add(&dma, 2)));
}

uint64_t actor_spin(struct actor *a)
{
    actor_dispatch(a, 1);
    return work_submit(&dma, a->c, "spin");
}

uint64_t actor_mix(struct actor *a, uint32_t n)
{
    a->n = n;
    actor_set(a, 0, n);
    actor_set(a, 1, tern_allocation_address(a->data));
    actor_dispatch(a, MIX_ITEMS);
    return work_submit(&dma, a->c, "mix");
}

void expect_mixed(struct actor *a)
{
    uint32_t v[MIX_ITEMS];
    ok(tern_allocation_read(a->data, 0, v, sizeof v));
    for (uint32_t i = 0; i < MIX_ITEMS; i++) {
        assert_int_equal(v[i], mixed(a->n, i));
    }
}

void open_spin(struct actor *a, const char *name, int32_t engine)
{
    actor_open(a, name, engine, code_spin, sizeof code_spin);
}

void open_mix(struct actor *a, const char *name, int32_t engine)
{
    actor_open(a, name, engine, code_mix, sizeof code_mix);
}

void spins(struct actor *a)
{
    const uint32_t before = actor_get(a, 2);
    until(actor_get(a, 2) != before);
}

uint64_t actor_suspend(struct actor *a)
{
    pthread_mutex_lock(&dev->lock);
    const uint64_t hold = tern_sched_context_suspend(&dev->sched, &a->c->sched);
    tern_device_kick(dev);
    bool out = false;
    while (!out) {
        out = tern_sched_context_suspended(&a->c->sched, hold);
        pthread_mutex_unlock(&dev->lock);
        nap();
        pthread_mutex_lock(&dev->lock);
    }
    pthread_mutex_unlock(&dev->lock);
    return hold;
}

void actor_resume(struct actor *a, uint64_t hold)
{
    pthread_mutex_lock(&dev->lock);
    assert_true(tern_sched_context_resume(&dev->sched, &a->c->sched, hold));
    tern_device_kick(dev);
    pthread_mutex_unlock(&dev->lock);
}

void expect_mix(struct actor *a, uint64_t fence)
{
    ok(tern_wait(a->c, fence, PATIENCE));
    expect_mixed(a);
}

void run_mix(struct actor *a, uint32_t n)
{
    expect_mix(a, actor_mix(a, n));
}

struct tern_context_stats stats(struct actor *a)
{
    struct tern_context_stats s = {.size = sizeof s};
    tern_context_query(a->c, &s);
    return s;
}

struct tern_fault fault_of(struct actor *a)
{
    struct tern_fault f = {.size = sizeof f};
    assert_int_equal(tern_process_status(a->p, &f), -EIO);
    return f;
}
