/* SPDX-License-Identifier: Apache-2.0 */
/** A device below the scheduler (preempt_rig.h). */
#include "preempt_rig.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "hal/open/open.h"
#include "kmd/regs.h"

/* Physical addresses. From BUFFER on, virtual addresses are the same. */
#define ROOT 0x00001000u
#define TABLES 0x00002000u
#define SAVE 0x00020000u
#define BUFFER 0x00400000u
#define COPY_BUFFER 0x00400800u
#define ARGS 0x00401000u
#define CODE 0x00402000u
#define END 0x04000000u
#define REGION (TERN_PAGE * TERN_PAGES_LARGE)

#define LINE 64u
#define LONG 100000000u /* Cycles that exceed every run here. */
#define SLICE 1000000u
#define POLLS 100000u

const char *rig_suite = "preempt";

static int fail(int r, const char *what)
{
    fprintf(stderr, "tern bench %s: %s (%s)\n", rig_suite, what, strerror(-r));
    return r;
}

/** Maps every page of [BUFFER, END) to its own address. */
static int map_all(struct rig *r)
{
    uint32_t root[TERN_PAGES_LARGE] = {0}, table[TERN_PAGES_LARGE];
    const uint32_t flags = TERN_PTE_VALID_MASK | TERN_PTE_READ_MASK | TERN_PTE_WRITE_MASK | TERN_PTE_EXEC_MASK;
    int e = 0;
    for (uint32_t region = BUFFER / REGION; !e && region < END / REGION; region++) {
        const uint32_t at = TABLES + region * TERN_PAGE;
        root[region] = at / TERN_PAGE << TERN_PTE_PPN_SHIFT | TERN_PTE_VALID_MASK;
        for (uint32_t i = 0; i < TERN_PAGES_LARGE; i++) {
            table[i] = (region * TERN_PAGES_LARGE + i) << TERN_PTE_PPN_SHIFT | flags;
        }
        e = rig_write(r, at, table, sizeof table);
    }
    return e ? e : rig_write(r, ROOT, root, sizeof root);
}

static int build(const struct rig_source *sources, unsigned n, struct tc_image *out)
{
    struct tc_blob modules[4] = {0}, object = {0};
    char *log = NULL;
    int r = n > 4 ? -EINVAL : 0;
    for (unsigned i = 0; !r && i < n; i++) {
        free(log);
        log = NULL;
        r = tc_compile(sources[i].text, (size_t)(sources[i].end - sources[i].text), "", NULL, 0, &modules[i], &log);
    }
    if (!r) {
        free(log);
        log = NULL;
        r = tc_link(modules, n, "", 0, &object, &log);
    }
    if (!r) {
        free(log);
        log = NULL;
        r = tc_load(&object, CODE, 16, out, &log);
    }
    if (r) {
        fprintf(stderr, "tern bench %s: the kernels do not build: %s\n", rig_suite, log ? log : strerror(-r));
    }
    for (unsigned i = 0; i < n && i < 4; i++) {
        free(modules[i].data);
    }
    free(object.data);
    free(log);
    return r;
}

/** Returns the k-th page of the context-save area. The pages are every second one after the first, in descending
 * order. */
static uint32_t save_page(const struct rig *r, uint32_t k)
{
    return SAVE / TERN_PAGE + (k ? 2 * (r->kmd.save_pages - k) : 0);
}

/** Returns the address of a line of the saved state; 0 is the header. */
static uint32_t save_line(const struct rig *r, uint32_t line)
{
    const uint32_t at = line ? line + (r->kmd.save_pages + 14) / 16 : 0;
    return save_page(r, at / (TERN_PAGE / LINE)) * TERN_PAGE + at % (TERN_PAGE / LINE) * LINE;
}

static int write_list(struct rig *r)
{
    uint32_t list[TERN_PAGES_LARGE] = {0};
    for (uint32_t k = 1; k < r->kmd.save_pages; k++) {
        list[k - 1] = save_page(r, k) << TERN_PTE_PPN_SHIFT | TERN_PTE_VALID_MASK | TERN_PTE_READ_MASK |
                      TERN_PTE_WRITE_MASK;
    }
    return rig_write(r, SAVE + LINE, list, (r->kmd.save_pages + 14) / 16 * (size_t)LINE);
}

int rig_open(const struct tern_config *config, const struct rig_source *sources, unsigned n, struct rig *out)
{
    struct rig r = {0};
    int e = tern_hal_open(config, &r.hal);
    if (e == 0) {
        e = tern_kmd_probe(r.hal, &r.kmd);
    }
    if (e) {
        fail(e, tern_last_error());
        goto close;
    }
    if (r.kmd.granularity < TERN_ENGINE_COMMAND_GRANULARITY_INSTRUCTION) {
        e = fail(-ENOTSUP, "this device does not stop in the middle of a kernel");
        goto close;
    }
    if (2 * r.kmd.save_pages * TERN_PAGE > BUFFER - SAVE || r.kmd.mem_pages < END / TERN_PAGE) {
        e = fail(-ENOSPC, "this device has too little memory, or too large contexts");
        goto close;
    }
    e = build(sources, n, &r.image);
    if (e) {
        goto close;
    }
    e = map_all(&r);
    if (e == 0) {
        e = write_list(&r);
    }
    if (e == 0) {
        e = rig_write(&r, CODE, r.image.data, r.image.filled);
    }
    if (e) {
        goto image;
    }
    r.data = (CODE + r.image.size + REGION - 1) / REGION * REGION;
    *out = r;
    return 0;
image:
    tc_image_free(&r.image);
close:
    if (r.hal) {
        r.hal->ops->close(r.hal);
    }
    return e;
}

void rig_close(struct rig *r)
{
    tc_image_free(&r->image);
    r->hal->ops->close(r->hal);
}

const struct tc_kernel *rig_kernel(const struct rig *r, const char *name)
{
    for (size_t i = 0; i < r->image.kernels.n; i++) {
        if (strcmp(r->image.kernels.kernels[i].name, name) == 0) {
            return &r->image.kernels.kernels[i];
        }
    }
    return NULL;
}

int rig_write(struct rig *r, uint32_t address, const void *data, size_t bytes)
{
    int e = address >= END || bytes > END - address ? -EFAULT : tern_hal_mem_write(r->hal, address, data, bytes);
    return e ? fail(e, "writing device memory") : 0;
}

int rig_read(struct rig *r, uint32_t address, void *data, size_t bytes)
{
    int e = address >= END || bytes > END - address ? -EFAULT : r->hal->ops->mem_read(r->hal, address, data, bytes);
    return e ? fail(e, "reading device memory") : 0;
}

int rig_pack(const struct rig *r, const struct tc_kernel *kernel, const struct rig_range *range, uint32_t args,
             uint32_t stack, uint32_t *packet)
{
    uint32_t groups[3] = {1, 1, 1}, edge[3] = {1, 1, 1}, global[3] = {1, 1, 1}, local[3] = {1, 1, 1}, stack_log2 = 6;
    for (uint32_t i = 0; i < range->dims; i++) {
        global[i] = range->global[i];
        local[i] = range->local[i];
        groups[i] = (global[i] + local[i] - 1) / local[i];
        edge[i] = global[i] - (groups[i] - 1) * local[i];
    }
    while (kernel->stack > 1u << stack_log2) {
        stack_log2++;
    }
    const uint32_t warps = (local[0] * local[1] * local[2] + r->kmd.lanes - 1) / r->kmd.lanes;
    uint32_t slots = r->kmd.warps / warps;
    if (range->local_bytes && r->kmd.local_bytes / range->local_bytes < slots) {
        slots = r->kmd.local_bytes / range->local_bytes;
    }
    const struct tern_pkt_dispatch d = {
        .entry = kernel->entry, .args = args, .work_dim = range->dims, .group_warps = warps, .group_slots = slots,
        .stack_log2 = stack_log2, .local_bytes = range->local_bytes, .stack = stack,
        .global_x = global[0], .global_y = global[1], .global_z = global[2],
        .local_x = local[0], .local_y = local[1], .local_z = local[2],
        .groups_x = groups[0], .groups_y = groups[1], .groups_z = groups[2],
        .edge_x = edge[0], .edge_y = edge[1], .edge_z = edge[2],
    };
    if (!slots || stack >= END || r->kmd.warps * r->kmd.lanes << stack_log2 > END - stack ||
        tern_pkt_dispatch_pack(&d, packet)) {
        return fail(-EINVAL, "a dispatch that does not fit the device");
    }
    return 0;
}

int rig_dispatch(struct rig *r, const struct tc_kernel *kernel, const struct rig_range *range, const void *args,
                 uint32_t stack)
{
    uint32_t packet[TERN_PKT_DISPATCH_LINES * LINE / 4];
    int e = rig_pack(r, kernel, range, ARGS, stack, packet);
    if (e) {
        return e;
    }
    r->size = sizeof packet;
    e = rig_write(r, ARGS, args, kernel->args_size);
    return e ? e : rig_write(r, BUFFER, packet, sizeof packet);
}

/* ---------------------------------------------------------------- registers */

static int get(struct rig *r, uint32_t offset, uint32_t *value)
{
    int e = r->hal->ops->read32(r->hal, offset, value);
    return e ? fail(e, "reading a register") : 0;
}

static int put(struct rig *r, uint32_t offset, uint32_t value)
{
    int e = tern_hal_write32(r->hal, offset, value);
    return e ? fail(e, "writing a register") : 0;
}

int rig_now(struct rig *r, uint32_t *cycles)
{
    return get(r, TERN_REG_DEV_TIME_LO, cycles);
}

int rig_pass(struct rig *r, uint32_t cycles)
{
    int e = r->hal->ops->wait(r->hal, cycles);
    return e < 0 ? fail(e, "letting the device run") : 0;
}

static int submit(struct rig *r, uint32_t engine, uint32_t buffer, uint32_t size, bool resume, uint32_t *at)
{
    const struct tern_hal_write writes[] = {
        {TERN_REG_ENGINE_SUB_FENCE_LO(engine), 1},
        {TERN_REG_ENGINE_SUB_FENCE_HI(engine), 0},
        {TERN_REG_ENGINE_SUB_BUFFER_LO(engine), buffer},
        {TERN_REG_ENGINE_SUB_BUFFER_HI(engine), 0},
        {TERN_REG_ENGINE_SUB_SIZE(engine), size},
        {TERN_REG_ENGINE_SUB_ROOT(engine), ROOT / TERN_PAGE},
        {TERN_REG_ENGINE_SUB_CONTEXT(engine), 1},
        {TERN_REG_ENGINE_SUB_SAVE(engine), SAVE / TERN_PAGE},
        {TERN_REG_ENGINE_SUB_FLAGS(engine), resume ? TERN_ENGINE_SUB_FLAGS_RESUME_MASK : 0},
    };
    int e = get(r, TERN_REG_ENGINE_CNT_ISSUE(engine), &r->issued[engine]);
    if (!e && (r->hal->ops->write32(r->hal, writes, sizeof writes / sizeof *writes) || r->hal->ops->flush(r->hal))) {
        e = fail(-EIO, "preparing a submission");
    }
    if (e == 0) {
        e = rig_now(r, at);
    }
    return e ? e : put(r, TERN_REG_ENGINE_SUB_DOORBELL(engine), 1);
}

int rig_submit(struct rig *r, uint32_t engine, bool resume, uint32_t *at)
{
    return submit(r, engine, BUFFER, r->size, resume, at);
}

int rig_copy(struct rig *r, uint32_t dst, uint32_t src, uint32_t bytes)
{
    const struct tern_pkt_copy p = {.src_lo = src, .dst_lo = dst, .width = bytes, .rows = 1, .slices = 1};
    uint32_t packet[TERN_PKT_COPY_LINES * LINE / 4], at;
    struct tern_indication i;
    int e = tern_pkt_copy_pack(&p, packet) ? fail(-EINVAL, "a copy that cannot be packed") : 0;
    if (e == 0) {
        e = rig_write(r, COPY_BUFFER, packet, sizeof packet);
    }
    if (e == 0) {
        e = submit(r, 0, COPY_BUFFER, sizeof packet, false, &at);
    }
    return e ? e : rig_wait(r, 0, &i);
}

/** Reports an engine that hangs, with its registers. */
static int hung(struct rig *r, uint32_t engine, const char *what)
{
    struct tern_kmd_running running;
    tern_kmd_dump(&r->kmd, engine, stderr, &running);
    return fail(-ETIMEDOUT, what);
}

int rig_running(struct rig *r, uint32_t engine, uint32_t *at, bool *ended)
{
    for (uint32_t i = 0; i < POLLS; i++) {
        uint32_t issued = 0, status = 0;
        int e = get(r, TERN_REG_ENGINE_CNT_ISSUE(engine), &issued);
        if (!e && issued != r->issued[engine]) {
            *ended = false;
            return rig_now(r, at);
        }
        if (!e && i % 8 == 7) { /* The status is read seldom, since the counter is what is timed. */
            e = get(r, TERN_REG_DEV_IRQ_STATUS, &status);
        }
        if (e || status >> engine & 1) {
            *ended = true;
            return e;
        }
    }
    return hung(r, engine, "the kernel does not begin to run");
}

int rig_preempt(struct rig *r, uint32_t engine, uint32_t *at)
{
    int e = rig_now(r, at);
    return e ? e : put(r, TERN_REG_ENGINE_COMMAND(engine), TERN_ENGINE_COMMAND_PREEMPT_MASK |
                                                               TERN_ENGINE_COMMAND_GRANULARITY_INSTRUCTION
                                                                   << TERN_ENGINE_COMMAND_GRANULARITY_SHIFT);
}

int rig_wait(struct rig *r, uint32_t engine, struct tern_indication *out)
{
    int got = 0;
    for (uint32_t passed = 0; passed < LONG; passed += SLICE) {
        int e = rig_pass(r, SLICE);
        got = e ? e : tern_kmd_take(&r->kmd, engine, out);
        if (got) {
            break;
        }
    }
    if (got <= 0) {
        return got ? got : hung(r, engine, "the engine neither ends nor stops");
    }
    if (out->kind == TERN_ENGINE_IND_INFO_KIND_FAULTED) {
        fprintf(stderr, "tern bench %s: fault %u at address 0x%08x, pc 0x%08x\n", rig_suite, out->fault, out->va,
                out->pc);
        return -EIO;
    }
    return 0;
}

/** Computes the bytes of a dispatch's live registers, each counted in all lanes. A work-item's pc and flags count as
 *  two more registers. A register that is zero in all lanes does not count, since nobody can tell whether it was
 *  written. */
static int register_bytes(struct rig *r, const struct tern_ctx_simt_head *head, const uint32_t *masks, uint32_t line,
                          uint32_t *out)
{
    const uint32_t vector = (r->kmd.lanes * 4 + LINE - 1) / LINE;
    const uint32_t scalars[] = {head->scalars_0, head->scalars_1, head->scalars_2, head->scalars_3};
    uint32_t word[32], registers = 0;
    int e = 0;
    for (uint32_t w = 0; !e && w < r->kmd.warps; w++) {
        if (!(head->live >> w & 1)) {
            continue;
        }
        line += 2 * vector;
        for (uint32_t k = 0; !e && k < 4; k++) {
            if (scalars[k] >> w & 1) {
                e = rig_read(r, save_line(r, line), word, r->kmd.lanes * 4);
                for (uint32_t i = 0; i < r->kmd.lanes; i++) {
                    registers += word[i] != 0;
                }
                line += vector;
            }
        }
        registers += 2 + (uint32_t)__builtin_popcount(masks[w]);
        line += (uint32_t)__builtin_popcount(masks[w]) * vector;
    }
    *out = registers * vector * LINE;
    return e;
}

int rig_saved(struct rig *r, struct rig_saved *out)
{
    uint32_t line[4][LINE / 4], packet[TERN_PKT_DISPATCH_LINES * LINE / 4];
    struct tern_ctx c;
    struct tern_ctx_simt_head head;
    struct tern_pkt_dispatch d;
    int e = 0;
    for (uint32_t i = 0; !e && i < 4; i++) {
        e = rig_read(r, save_line(r, i), line[i], LINE);
    }
    if (e == 0) {
        e = rig_read(r, BUFFER, packet, sizeof packet);
    }
    if (e) {
        return e;
    }
    if (tern_ctx_unpack(&c, line[0]) || c.magic != TERN_CTX_MAGIC_VALUE || c.state != TERN_CTX_STATE_SAVED ||
        tern_pkt_dispatch_unpack(&d, packet)) {
        return fail(-EBADMSG, "what was saved is no context");
    }
    *out = (struct rig_saved){.bytes = (1 + c.lines) * LINE};
    uint32_t allowed = 0;
    if (c.executor == TERN_CTX_EXECUTOR_SIMT) {
        if (tern_ctx_simt_head_unpack(&head, line[1])) {
            return fail(-EBADMSG, "what was saved is no state of a dispatch");
        }
        out->local = (uint32_t)__builtin_popcount(head.slots) * d.local_bytes;
        const uint32_t slots = (uint32_t)__builtin_popcount(head.slots);
        e = register_bytes(r, &head, line[2], 2 + (r->kmd.warps + 15) / 16 + slots + out->local / LINE, &allowed);
        allowed += out->local;
    }
    out->extra = out->bytes > allowed ? out->bytes - allowed : 0;
    return e;
}
