/* SPDX-License-Identifier: Apache-2.0 */
/** Privileged packets, each done at once. */
#include "model.h"

static uint64_t wide(uint32_t lo, uint32_t hi)
{
    return lo | (uint64_t)hi << 32;
}

bool table_holds(uint64_t pa, uint32_t count)
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
    if (!table_holds(pa, p.count)) {
        f->code = TERN_FAULT_PACKET_BOUNDS;
        return 0;
    }
    for (uint32_t i = 0; i < p.count; i++) {
        entries[i] = p.pte + i * p.step;
    }
    memory_write(&e->dev->mem, &e->space, pa, entries, 4ull * p.count, f);
    return p.count / 16 + 1;
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
        e->simt.clean = e->simt.clean && !p.all && p.count; /* the root may belong to another process next */
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

uint64_t paging_run(struct engine *e, struct fault *f)
{
    switch (e->packet[0] & 0xffu) {
    case TERN_PKT_PTE_UPDATE:
        return pte_update(e, e->packet, f);
    case TERN_PKT_TLB_FLUSH:
        tlb_flush(e, e->packet, f);
        return 1;
    default:
        context_init(e, e->packet, f);
        return 1;
    }
}
