/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Copies and fills (mover.h). A fill packet repeats 64 bytes, so a pattern of up to 64 bytes needs one packet. A
 * pattern of 128 bytes needs two packets, which fill alternate blocks of 64 bytes.
 */
#include "runtime/core/mover.h"

#include <string.h>
#include <tern/tern_spec.h>

#include "runtime/core/queue.h"

#define FILL_BYTES 64u

struct copy {
    struct rt_command base;
    cl_mem src;
    cl_mem dst;
    size_t region[3];
    struct rt_side from;
    struct rt_side to;
};

struct fill {
    struct rt_command base;
    cl_mem mem;
    size_t region[3];
    struct rt_side at;
    size_t pattern_size;
    uint8_t pattern[2 * FILL_BYTES];
};

static cl_int copy_build(struct rt_command *c, struct rt_packets *out)
{
    tern_assert_held(&c->queue->memory_lock);
    const struct copy *k = (struct copy *)c;
    const struct tern_pkt_copy packet = {
        .src_lo = rt_mem_address(k->src) + (uint32_t)k->from.start,
        .dst_lo = rt_mem_address(k->dst) + (uint32_t)k->to.start,
        .width = (uint32_t)k->region[0],
        .rows = (uint32_t)k->region[1],
        .slices = (uint32_t)k->region[2],
        .src_row = (uint32_t)k->from.row,
        .src_slice = (uint32_t)k->from.slice,
        .dst_row = (uint32_t)k->to.row,
        .dst_slice = (uint32_t)k->to.slice,
    };
    out->size = TERN_PKT_COPY_LINES * TERN_PKT_LINE_BYTES;
    return tern_pkt_copy_pack(&packet, out->words) == 0 ? CL_SUCCESS : CL_OUT_OF_RESOURCES;
}

static const struct rt_command_ops copy_ops = {.build = copy_build};

cl_int rt_copy_create(cl_command_queue queue, cl_command_type type, cl_mem src, cl_mem dst, const size_t region[3],
                      const struct rt_side *from, const struct rt_side *to, cl_uint n_waits, const cl_event *waits,
                      struct rt_command **out)
{
    struct copy *k;
    cl_int error = rt_command_create(sizeof(struct copy), &copy_ops, queue, type, n_waits, waits, &k);
    if (error != CL_SUCCESS) {
        return error;
    }
    error = rt_command_use(&k->base, src);
    if (error == CL_SUCCESS) {
        error = rt_command_use(&k->base, dst);
    }
    if (error != CL_SUCCESS) {
        rt_command_free(&k->base);
        return error;
    }
    k->base.label = "copy";
    k->base.quick = true;
    k->src = src;
    k->dst = dst;
    memcpy(k->region, region, sizeof k->region);
    k->from = *from;
    k->to = *to;
    *out = &k->base;
    return CL_SUCCESS;
}

static cl_int fill_build(struct rt_command *c, struct rt_packets *out)
{
    tern_assert_held(&c->queue->memory_lock);
    const struct fill *f = (struct fill *)c;
    const bool halves = f->pattern_size == 2 * FILL_BYTES;
    const unsigned n = halves ? 2 : 1;
    for (unsigned i = 0; i < n; i++) {
        struct tern_pkt_fill packet = {
            .dst_lo = rt_mem_address(f->mem) + (uint32_t)f->at.start + i * FILL_BYTES,
            .width = halves ? FILL_BYTES : (uint32_t)f->region[0],
            .rows = halves ? (uint32_t)(f->region[0] / f->pattern_size) : (uint32_t)f->region[1],
            .slices = (uint32_t)f->region[2],
            .dst_row = halves ? 2 * FILL_BYTES : (uint32_t)f->at.row,
            .dst_slice = (uint32_t)f->at.slice,
        };
        memcpy(packet.pattern, f->pattern + i * FILL_BYTES, FILL_BYTES);
        if (tern_pkt_fill_pack(&packet, out->words + i * TERN_PKT_FILL_LINES * TERN_PKT_LINE_BYTES / 4) != 0) {
            return CL_OUT_OF_RESOURCES;
        }
    }
    out->size = n * TERN_PKT_FILL_LINES * TERN_PKT_LINE_BYTES;
    return CL_SUCCESS;
}

static const struct rt_command_ops fill_ops = {.build = fill_build};

cl_int rt_fill_create(cl_command_queue queue, cl_command_type type, cl_mem mem, const void *pattern,
                      size_t pattern_size, const size_t region[3], const struct rt_side *at, cl_uint n_waits,
                      const cl_event *waits, struct rt_command **out)
{
    struct fill *f;
    cl_int error = rt_command_create(sizeof(struct fill), &fill_ops, queue, type, n_waits, waits, &f);
    if (error != CL_SUCCESS) {
        return error;
    }
    error = rt_command_use(&f->base, mem);
    if (error != CL_SUCCESS) {
        rt_command_free(&f->base);
        return error;
    }
    f->base.label = "fill";
    f->base.quick = true;
    f->mem = mem;
    memcpy(f->region, region, sizeof f->region);
    f->at = *at;
    f->pattern_size = pattern_size;
    for (size_t i = 0; i < sizeof f->pattern; i += pattern_size) {
        memcpy(f->pattern + i, pattern, pattern_size);
    }
    *out = &f->base;
    return CL_SUCCESS;
}
