/* SPDX-License-Identifier: Apache-2.0 */
/** Kernels directly on the driver (direct.h). */
#include "direct.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BASE 0xd0000000u

static int fail(int r, const char *what, const char *why)
{
    fprintf(stderr, "tern bench: %s: %s\n", what, why);
    return r;
}

int direct_build(const char *source, size_t size, struct direct_program *out)
{
    struct tc_blob module = {0}, object = {0};
    char *log = NULL;
    int r = tc_compile(source, size, "", NULL, 0, &module, &log);
    if (r == 0) {
        free(log);
        log = NULL;
        r = tc_link(&module, 1, "", 0, &object, &log);
    }
    if (r == 0) {
        free(log);
        log = NULL;
        r = tc_load(&object, BASE, 16, &out->image, &log);
    }
    if (r) {
        fail(r, "the kernels do not build", log ? log : strerror(-r));
    }
    free(log);
    free(module.data);
    free(object.data);
    return r;
}

void direct_free(struct direct_program *program)
{
    tc_image_free(&program->image);
}

static int take(void *user, uint64_t size, uint32_t flags, uint32_t address, struct tern_allocation **out)
{
    return tern_allocation_create(user, size, flags, address, out);
}

int direct_process_create(struct tern_device *dev, const char *partition, const char *name,
                          const struct direct_program *program, struct direct_process *out)
{
    *out = (struct direct_process){.program = program};
    out->info.size = sizeof out->info;
    tern_device_query(dev, &out->info);
    int r = tern_process_create_in(dev, partition, name, &out->proc);
    if (r) {
        return fail(r, "no process", tern_last_error());
    }
    r = rt_place_image(&program->image, take, out->proc, &out->parts);
    if (r) {
        fail(r, "no place for the kernels", tern_last_error());
        direct_process_destroy(out);
    }
    return r;
}

void direct_process_destroy(struct direct_process *p)
{
    rt_place_end(&p->parts);
    if (p->proc && tern_process_destroy(p->proc)) {
        fail(-EBUSY, "a process does not end", tern_last_error());
    }
    *p = (struct direct_process){0};
}

static const struct tc_kernel *find(const struct tc_kernels *k, const char *name)
{
    for (size_t i = 0; i < k->n; i++) {
        if (strcmp(k->kernels[i].name, name) == 0) {
            return &k->kernels[i];
        }
    }
    return NULL;
}

static int pack(const struct direct_process *p, const struct direct_range *r, uint32_t stack_log2,
                struct direct_call *c)
{
    uint32_t groups[3] = {1, 1, 1}, edge[3], global[3] = {1, 1, 1}, local[3] = {1, 1, 1};
    for (uint32_t i = 0; i < 3; i++) {
        if (i < r->dims) {
            global[i] = r->global[i];
            local[i] = r->local[i];
        }
        groups[i] = (global[i] + local[i] - 1) / local[i];
        edge[i] = global[i] - (groups[i] - 1) * local[i];
    }
    const uint32_t warps = (local[0] * local[1] * local[2] + p->info.lanes - 1) / p->info.lanes;
    const uint32_t local_bytes = (c->kernel->local_static + r->local_bytes + 63) & ~63u;
    uint32_t slots = p->info.warps / warps;
    if (local_bytes && p->info.local_bytes / local_bytes < slots) {
        slots = p->info.local_bytes / local_bytes;
    }
    const uint32_t block = tern_allocation_address(c->block);
    const struct tern_pkt_dispatch d = {
        .entry = c->kernel->entry, .args = block, .work_dim = r->dims, .group_warps = warps, .group_slots = slots,
        .stack_log2 = stack_log2, .local_bytes = local_bytes, .stack = block + DIRECT_ARGS_BYTES,
        .global_x = global[0], .global_y = global[1], .global_z = global[2],
        .local_x = local[0], .local_y = local[1], .local_z = local[2],
        .groups_x = groups[0], .groups_y = groups[1], .groups_z = groups[2],
        .edge_x = edge[0], .edge_y = edge[1], .edge_z = edge[2],
    };
    return tern_pkt_dispatch_pack(&d, c->packet);
}

int direct_call_create(const struct direct_process *p, const char *kernel, const struct direct_range *range,
                       const void *args, size_t size, struct direct_call *out)
{
    struct direct_call c = {.kernel = find(&p->program->image.kernels, kernel)};
    uint32_t stack_log2 = 6;
    if (!c.kernel || size > DIRECT_ARGS_BYTES) {
        return fail(-EINVAL, kernel, "no such kernel, or too many arguments");
    }
    while (c.kernel->stack > 1u << stack_log2) {
        stack_log2++;
    }
    const uint64_t bytes = DIRECT_ARGS_BYTES + ((uint64_t)p->info.warps * p->info.lanes << stack_log2);
    int r = tern_allocation_create(p->proc, bytes, TERN_MEM_READ | TERN_MEM_WRITE, 0, &c.block);
    if (r) {
        return fail(r, kernel, tern_last_error());
    }
    r = tern_allocation_write(c.block, 0, args, size);
    if (r == 0) {
        r = pack(p, range, stack_log2, &c);
    }
    if (r) {
        tern_allocation_destroy(c.block);
        return fail(r, kernel, "its dispatch cannot be packed");
    }
    *out = c;
    return 0;
}

void direct_call_destroy(struct direct_call *call)
{
    if (call->block) {
        tern_allocation_destroy(call->block);
    }
    *call = (struct direct_call){0};
}
