/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel.h"

uint32_t lanes(struct device *d)
{
    return reg_read(d, TERN_REG_DEV_CONFIG0) & TERN_DEV_CONFIG0_LANES_MASK;
}

void packet_dispatch(struct device *d, struct range r)
{
    struct tern_pkt_dispatch p = {
        .entry = VA + CODE, .args = VA + ARGS, .work_dim = 3, .group_slots = 1, .stack_log2 = 8, .stack = VA + STACK,
        .global_x = r.global[0], .global_y = r.global[1], .global_z = r.global[2],
        .local_x = r.local[0], .local_y = r.local[1], .local_z = r.local[2], .local_bytes = r.local_bytes,
    };
    uint32_t groups[3], edge[3];
    for (int i = 0; i < 3; i++) {
        groups[i] = (r.global[i] + r.local[i] - 1) / r.local[i];
        edge[i] = r.global[i] - (groups[i] - 1) * r.local[i];
    }
    p.groups_x = groups[0], p.groups_y = groups[1], p.groups_z = groups[2];
    p.edge_x = edge[0], p.edge_y = edge[1], p.edge_z = edge[2];
    p.group_warps = (r.local[0] * r.local[1] * r.local[2] + lanes(d) - 1) / lanes(d);
    uint32_t warps = (reg_read(d, TERN_REG_DEV_CONFIG0) & TERN_DEV_CONFIG0_WARPS_MASK) >> TERN_DEV_CONFIG0_WARPS_SHIFT;
    p.group_slots = warps / p.group_warps;
    assert_int_equal(tern_pkt_dispatch_pack(&p, packet(d, 2)), 0);
}

void poke(struct device *d, uint32_t offset, const void *data, size_t size)
{
    assert_int_equal(api->mem_write(d->sim, BASE + offset, data, size), 0);
}

void peek(struct device *d, uint32_t offset, void *data, size_t size)
{
    assert_int_equal(api->mem_read(d->sim, BASE + offset, data, size), 0);
}

void launch_mapped(struct device *d, uint32_t root, const uint32_t *code, size_t size, struct range r)
{
    const uint32_t args[] = {VA + IN, VA + OUT};
    poke(d, ARGS, args, sizeof args);
    poke(d, CODE, code, size);
    packet_dispatch(d, r);
    submit(d, 0, (struct submission){.buffer = VA, .fence = 1, .root = root}, BASE);
}

void launch(struct device *d, uint32_t root, const uint32_t *code, size_t size, struct range r)
{
    map(d, root, VA, BASE, PAGES, RWX);
    launch_mapped(d, root, code, size, r);
}
