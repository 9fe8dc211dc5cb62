/* SPDX-License-Identifier: Apache-2.0 */
/** Work that does not belong to the scene: a nop, and a kernel of another context that runs between two parts of a
 *  buffer. The kernel has physical addresses and does not write to memory, but changes registers, flags, call depth,
 *  local memory, caches and TLBs. */
#include "asm.h"
#include "verify.h"

#define NOP (LINE * 4u)
#define CODE (LINE * 8u)
#define FOREIGN_LOCAL 2048u

int scene_foreign(struct scene *s, const struct geometry *g, uint64_t physical)
{
    const uint32_t items = g->lanes * g->warps;
    uint32_t code[256], n = 0, words[32];
    struct tern_pkt_dispatch p = {
        .entry = (uint32_t)physical + CODE, .work_dim = 1, .group_warps = g->warps, .group_slots = 1, .stack_log2 = 6,
        .global_x = items, .global_y = 1, .global_z = 1, .local_x = items, .local_y = 1, .local_z = 1,
        .local_bytes = FOREIGN_LOCAL, .groups_x = 1, .groups_y = 1, .groups_z = 1, .edge_x = items, .edge_y = 1,
        .edge_z = 1};
    code[n++] = asm_csrr(X4, TERN_CSR_LOCAL_ID_X);
    code[n++] = asm_lui(X5, TERN_WIN_LOCAL_BASE);
    code[n++] = asm_addi(X6, X0, FOREIGN_LOCAL / 4 - 1);
    /* x7: address of a word; the index wraps at the end of local memory */
    for (uint32_t i = 0; i < (FOREIGN_LOCAL / 4 + items - 1) / items; i++) {
        code[n++] = asm_addi(X7, X4, i * items);
        code[n++] = asm_r(0x33, 7, 0, X7, X7, X6);
        code[n++] = asm_shadd(2, X7, X7, X5);
        code[n++] = asm_sw(X6, 0, X7);
    }
    code[n++] = asm_jal(RA, 4);
    code[n++] = asm_i(0x73, 5, X0, 31, TERN_CSR_FFLAGS);
    code[n++] = asm_i(0x73, 5, X0, 3, TERN_CSR_FRM);
    for (uint32_t r = 1; r < 32; r++) {
        code[n++] = asm_addi(r, X0, 0x700u + r);
    }
    code[n++] = ASM_BARRIER;
    code[n++] = ASM_EXIT;
    if (tern_pkt_dispatch_pack(&p, words)) {
        return -1;
    }
    scene_put(s, physical, words, sizeof words);
    if (tern_pkt_nop_pack(&(struct tern_pkt_nop){0}, words)) {
        return -1;
    }
    s->nop = physical + NOP;
    scene_put(s, s->nop, words, LINE);
    scene_put(s, physical + CODE, code, 4ull * n);
    s->foreign = (struct submit){.buffer = physical, .size = 2 * LINE, .flags = TERN_ENGINE_SUB_FLAGS_PAGING_MASK};
    return 0;
}
