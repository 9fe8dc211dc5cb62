/* SPDX-License-Identifier: Apache-2.0 */
/** Copy, fill and the privileged packets. */
#include "model.h"

static uint64_t wide(uint32_t lo, uint32_t hi)
{
    return lo | (uint64_t)hi << 32;
}

static uint32_t least(uint64_t a, uint64_t b)
{
    return (uint32_t)(a < b ? a : b);
}

/* A box may be larger than anyone can wait for: it is done in pieces, and e->at says how far it is. */

static bool box_ends(const struct engine *e, uint32_t width, uint32_t rows, uint32_t slices)
{
    return !width || !rows || e->at.z == slices;
}

/** Address of the byte where a box is. */
static uint64_t box_address(const struct engine *e, uint32_t lo, uint32_t hi, uint32_t row, uint32_t slice)
{
    return space_wrap(&e->space, wide(lo, hi) + (uint64_t)e->at.z * slice + (uint64_t)e->at.y * row + e->at.x);
}

static void box_advance(struct engine *e, uint32_t bytes, uint32_t width, uint32_t rows)
{
    e->at.x += bytes;
    if (e->at.x == width) {
        e->at.x = 0;
        e->at.y++;
    }
    if (e->at.y == rows) {
        e->at.y = 0;
        e->at.z++;
    }
}

/** Copies bytes of a row that leave neither page; how many. A destination line is written when its bytes have been read: so of
 *  a fault on each side the read counts, if its byte belongs to the first line that cannot be written. */
static uint32_t copy_piece(struct engine *e, uint64_t dst, uint64_t src, uint64_t left, struct fault *f)
{
    struct memory *m = &e->dev->mem;
    uint32_t code = 0, part = least(left, least(PAGE - src % PAGE, PAGE - dst % PAGE));
    const struct tlb_entry *from = memory_page(m, &e->space, src, ACCESS_READ, &code);
    if (!from) {
        *f = (struct fault){.code = code, .access = ACCESS_READ, .va = (uint32_t)src};
        return 0;
    }
    const uint8_t *bytes = from->host + src % PAGE;
    const struct tlb_entry *to = memory_page(m, &e->space, dst, ACCESS_WRITE, &code);
    if (!to) {
        uint64_t over = space_wrap(&e->space, src + PAGE - src % PAGE);
        uint32_t read_code = 0;
        *f = (struct fault){.code = code, .access = ACCESS_WRITE, .va = (uint32_t)dst};
        if (src % PAGE + least(left, LINE - dst % LINE) > PAGE && !memory_page(m, &e->space, over, ACCESS_READ, &read_code)) {
            *f = (struct fault){.code = read_code, .access = ACCESS_READ, .va = (uint32_t)over};
        }
        return 0;
    }
    memmove(to->host + dst % PAGE, bytes, part);
    memory_written(m, to->page * PAGE + dst % PAGE, part);
    return part;
}

static uint64_t copy(struct engine *e, const uint32_t *w, uint64_t budget, bool *done, struct fault *f)
{
    struct tern_pkt_copy p;
    uint64_t lines = 0;
    if (tern_pkt_copy_unpack(&p, w)) {
        f->code = TERN_FAULT_PACKET_RESERVED;
        return 0;
    }
    if ((p.src_hi || p.dst_hi) && !e->space.physical) {
        f->code = TERN_FAULT_PACKET_BOUNDS;
        return 0;
    }
    while (!(*done = box_ends(e, p.width, p.rows, p.slices)) && lines < budget && !f->code) {
        uint64_t src = box_address(e, p.src_lo, p.src_hi, p.src_row, p.src_slice);
        uint64_t dst = box_address(e, p.dst_lo, p.dst_hi, p.dst_row, p.dst_slice);
        uint32_t part = copy_piece(e, dst, src, p.width - e->at.x, f);
        box_advance(e, part, p.width, p.rows);
        lines += part / LINE + 1;
    }
    e->count.rd_lines += lines;
    e->count.wr_lines += lines;
    return lines;
}

static uint64_t fill(struct engine *e, const uint32_t *w, uint64_t budget, bool *done, struct fault *f)
{
    struct tern_pkt_fill p;
    uint8_t row[PAGE + LINE];
    uint64_t lines = 0;
    if (tern_pkt_fill_unpack(&p, w)) {
        f->code = TERN_FAULT_PACKET_RESERVED;
        return 0;
    }
    if (p.dst_hi && !e->space.physical) {
        f->code = TERN_FAULT_PACKET_BOUNDS;
        return 0;
    }
    for (uint32_t i = 0; i < sizeof row; i += LINE) {
        memcpy(row + i, p.pattern, LINE);
    }
    while (!(*done = box_ends(e, p.width, p.rows, p.slices)) && lines < budget && !f->code) {
        uint64_t dst = box_address(e, p.dst_lo, p.dst_hi, p.dst_row, p.dst_slice);
        uint32_t part = least(p.width - e->at.x, PAGE - dst % PAGE);
        memory_write(&e->dev->mem, &e->space, dst, row + e->at.x % LINE, part, f);
        box_advance(e, part, p.width, p.rows);
        lines += part / LINE + 1;
    }
    e->count.wr_lines += lines;
    return lines;
}

static bool in_table(uint64_t pa, uint32_t count)
{
    return count >= 1 && count <= 1024 && pa % 4 == 0 && pa % PAGE + 4ull * count <= PAGE;
}

static uint64_t pte_update(struct engine *e, const uint32_t *w, struct fault *f)
{
    struct tern_pkt_pte_update p;
    uint32_t entries[1024];
    if (tern_pkt_pte_update_unpack(&p, w)) {
        f->code = TERN_FAULT_PACKET_RESERVED;
        return 0;
    }
    uint64_t pa = wide(p.table_lo, p.table_hi);
    if (!in_table(pa, p.count)) {
        f->code = TERN_FAULT_PACKET_BOUNDS;
        return 0;
    }
    for (uint32_t i = 0; i < p.count; i++) {
        entries[i] = p.pte + i * p.step;
    }
    memory_write(&e->dev->mem, &e->space, pa, entries, 4ull * p.count, f);
    return p.count / 16 + 1;
}

static uint64_t pte_copy(struct engine *e, const uint32_t *w, struct fault *f)
{
    struct tern_pkt_pte_copy p;
    if (tern_pkt_pte_copy_unpack(&p, w)) {
        f->code = TERN_FAULT_PACKET_RESERVED;
        return 0;
    }
    uint64_t src = wide(p.src_lo, p.src_hi), dst = wide(p.dst_lo, p.dst_hi);
    if (!in_table(src, p.count) || !in_table(dst, p.count)) {
        f->code = TERN_FAULT_PACKET_BOUNDS;
        return 0;
    }
    for (uint64_t n = 4ull * p.count, part; n && (part = copy_piece(e, dst, src, n, f)); n -= part) {
        dst += part;
        src += part;
    }
    return p.count / 8 + 1;
}

static void tlb_flush(struct engine *e, const uint32_t *w, struct fault *f)
{
    struct tern_pkt_tlb_flush p;
    if (tern_pkt_tlb_flush_unpack(&p, w)) {
        f->code = TERN_FAULT_PACKET_RESERVED;
    } else if (p.all && (p.root || p.first || p.count)) {
        f->code = TERN_FAULT_PACKET_BOUNDS;
    } else {
        space_flush(&e->space);
    }
}

static void context_init(struct engine *e, const uint32_t *w, struct fault *f)
{
    struct tern_pkt_context_init p;
    struct tern_ctx c = {.magic = TERN_CTX_MAGIC_VALUE, .state = TERN_CTX_STATE_EMPTY};
    uint32_t line[16] = {0};
    if (tern_pkt_context_init_unpack(&p, w) || tern_ctx_pack(&c, line)) {
        f->code = TERN_FAULT_PACKET_RESERVED;
        return;
    }
    memory_write(&e->dev->mem, &e->space, (uint64_t)p.save * PAGE, line, sizeof line, f);
}

uint64_t mover_run(struct engine *e, const uint32_t *w, uint64_t budget, bool *done, struct fault *f)
{
    *done = true;
    switch (w[0] & 0xffu) {
    case TERN_PKT_COPY:
        return copy(e, w, budget, done, f);
    case TERN_PKT_FILL:
        return fill(e, w, budget, done, f);
    case TERN_PKT_PTE_UPDATE:
        return pte_update(e, w, f);
    case TERN_PKT_PTE_COPY:
        return pte_copy(e, w, f);
    case TERN_PKT_TLB_FLUSH:
        tlb_flush(e, w, f);
        return 1;
    default:
        context_init(e, w, f);
        return 1;
    }
}
