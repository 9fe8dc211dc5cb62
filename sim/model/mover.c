/* SPDX-License-Identifier: Apache-2.0 */
/** Copy, fill and the privileged packets. */
#include "model.h"

static uint64_t wide(uint32_t lo, uint32_t hi)
{
    return lo | (uint64_t)hi << 32;
}

static bool refuse(struct fault *f, uint32_t code, uint32_t access, uint64_t va)
{
    *f = (struct fault){.code = code, .access = access, .va = (uint32_t)va};
    return false;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/** Copies bytes in pieces that leave neither page. A destination line is written when its bytes have been read: so of a fault
 *  on each side the read counts, if its byte belongs to the first line that cannot be written. */
static bool copy_bytes(struct engine *e, uint64_t dst, uint64_t src, uint64_t n, struct fault *f)
{
    struct memory *m = &e->dev->mem;
    while (n) {
        dst &= ADDRESS_MASK;
        src &= ADDRESS_MASK;
        uint64_t part = least(n, least(PAGE - src % PAGE, PAGE - dst % PAGE));
        uint32_t code = 0;
        const struct tlb_entry *from = memory_page(m, &e->space, src, ACCESS_READ, &code);
        if (!from) {
            return refuse(f, code, ACCESS_READ, src);
        }
        const uint8_t *bytes = from->host + src % PAGE;
        const struct tlb_entry *to = memory_page(m, &e->space, dst, ACCESS_WRITE, &code);
        if (!to) {
            uint64_t over = (src + PAGE - src % PAGE) & ADDRESS_MASK, line = least(n, LINE - dst % LINE);
            uint32_t read_code = 0;
            if (src % PAGE + line > PAGE && !memory_page(m, &e->space, over, ACCESS_READ, &read_code)) {
                return refuse(f, read_code, ACCESS_READ, over);
            }
            return refuse(f, code, ACCESS_WRITE, dst);
        }
        memmove(to->host + dst % PAGE, bytes, part);
        memory_written(m, to->page * PAGE + dst % PAGE, (uint32_t)part);
        dst += part;
        src += part;
        n -= part;
    }
    return true;
}

static uint64_t copy(struct engine *e, const uint32_t *w, struct fault *f)
{
    struct tern_pkt_copy p;
    if (tern_pkt_copy_unpack(&p, w)) {
        f->code = TERN_FAULT_PACKET_RESERVED;
        return 0;
    }
    if ((p.src_hi || p.dst_hi) && !e->space.physical) {
        f->code = TERN_FAULT_PACKET_BOUNDS;
        return 0;
    }
    uint64_t lines = 0;
    for (uint32_t z = 0; p.width && p.rows && z < p.slices; z++) {
        for (uint32_t y = 0; y < p.rows; y++) {
            uint64_t src = wide(p.src_lo, p.src_hi) + (uint64_t)z * p.src_slice + (uint64_t)y * p.src_row;
            uint64_t dst = wide(p.dst_lo, p.dst_hi) + (uint64_t)z * p.dst_slice + (uint64_t)y * p.dst_row;
            if (!copy_bytes(e, dst, src, p.width, f)) {
                return lines;
            }
            lines += p.width / LINE + 1;
        }
    }
    e->count.rd_lines += lines;
    e->count.wr_lines += lines;
    return lines;
}

static uint64_t fill(struct engine *e, const uint32_t *w, struct fault *f)
{
    struct tern_pkt_fill p;
    uint8_t row[PAGE];
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
    uint64_t lines = 0;
    for (uint32_t z = 0; p.width && p.rows && z < p.slices; z++) {
        for (uint32_t y = 0; y < p.rows; y++) {
            uint64_t dst = wide(p.dst_lo, p.dst_hi) + (uint64_t)z * p.dst_slice + (uint64_t)y * p.dst_row;
            for (uint64_t x = 0; x < p.width; x += sizeof row) {
                uint64_t n = p.width - x < sizeof row ? p.width - x : sizeof row;
                if (!memory_write(&e->dev->mem, &e->space, dst + x, row, n, f)) {
                    return lines;
                }
                lines += n / LINE + 1;
            }
        }
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
    copy_bytes(e, dst, src, 4ull * p.count, f);
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

uint64_t mover_run(struct engine *e, const uint32_t *w, struct fault *f)
{
    switch (w[0] & 0xffu) {
    case TERN_PKT_COPY:
        return copy(e, w, f);
    case TERN_PKT_FILL:
        return fill(e, w, f);
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
