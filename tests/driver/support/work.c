/* SPDX-License-Identifier: Apache-2.0 */
#include "work.h"

#include "check.h"
#include "tern/tern_spec.h"
#include "tests/lib/submit.h"

uint32_t *work_add(struct work *b, size_t lines)
{
    uint32_t *at = b->w + b->size / 4;
    b->size += lines * 64;
    assert_true(b->size <= sizeof b->w);
    return at;
}

void work_fill(struct work *b, uint32_t address, uint32_t bytes, uint8_t value)
{
    const uint32_t most = 512u << 10; /* bytes; a packet is not split, and must end within the grace of the timeout */
    for (uint32_t n; bytes; address += n, bytes -= n) {
        n = bytes < most ? bytes : most;
        struct tern_pkt_fill f = {.dst_lo = address, .width = n, .rows = 1, .slices = 1};
        memset(f.pattern, value, sizeof f.pattern);
        assert_int_equal(tern_pkt_fill_pack(&f, work_add(b, 2)), 0);
    }
}

void work_copy(struct work *b, uint32_t to, uint32_t from, uint32_t bytes)
{
    struct tern_pkt_copy c = {.src_lo = from, .dst_lo = to, .width = bytes, .rows = 1, .slices = 1};
    assert_int_equal(tern_pkt_copy_pack(&c, work_add(b, 1)), 0);
}

void work_signal(struct work *b, uint32_t address, uint64_t value)
{
    struct tern_pkt_fence_signal s = {.address_lo = address, .value_lo = (uint32_t)value,
                                      .value_hi = (uint32_t)(value >> 32)};
    assert_int_equal(tern_pkt_fence_signal_pack(&s, work_add(b, 1)), 0);
}

void work_wait(struct work *b, uint32_t address, uint64_t value)
{
    struct tern_pkt_fence_wait s = {.address_lo = address, .value_lo = (uint32_t)value,
                                    .value_hi = (uint32_t)(value >> 32)};
    assert_int_equal(tern_pkt_fence_wait_pack(&s, work_add(b, 1)), 0);
}

void work_dispatch(struct work *b, uint32_t entry, uint32_t stack)
{
    struct tern_pkt_dispatch d = {
        .entry = entry, .work_dim = 1, .group_warps = 1, .group_slots = 1, .stack_log2 = 6, .stack = stack,
        .global_x = 1, .global_y = 1, .global_z = 1, .local_x = 1, .local_y = 1, .local_z = 1,
        .groups_x = 1, .groups_y = 1, .groups_z = 1, .edge_x = 1, .edge_y = 1, .edge_z = 1};
    assert_int_equal(tern_pkt_dispatch_pack(&d, work_add(b, 2)), 0);
}

uint64_t work_submit(struct work *b, struct tern_context *c, const char *label)
{
    uint64_t fence = 0;
    ok(submit_packets(c, b->w, b->size, label, &fence));
    b->size = 0;
    return fence;
}

void work_run(struct work *b, struct tern_context *c, const char *label)
{
    ok(tern_wait(c, work_submit(b, c, label), -1));
}
