/* SPDX-License-Identifier: Apache-2.0 */
/** An engine's registers as text, for crash dumps. A dump is written before the reset that clears the registers. */
#include <string.h>

#include "hal/hal.h"
#include "kmd/kmd.h"
#include "kmd/regs.h"

struct named {
    const char *name;
    uint32_t offset;
};

static int show(struct tern_kmd *k, FILE *out, const struct named *n)
{
    uint32_t v = 0;
    int r = k->hal->ops->read32(k->hal, n->offset, &v);
    if (r) {
        fprintf(out, "  %-15s cannot be read: %s\n", n->name, strerror(-r));
    } else {
        fprintf(out, "  %-15s 0x%08x\n", n->name, (unsigned)v);
    }
    return r;
}

/** Writes the pc of each warp. A warp without lanes that can run waits, or does not exist. */
static int show_warps(struct tern_kmd *k, uint32_t e, FILE *out)
{
    int r = 0;
    fprintf(out, "warps:\n");
    for (uint32_t w = 0; !r && w < k->warps; w++) {
        uint32_t pc = 0, lanes = 0;
        r = tern_hal_write32(k->hal, TERN_REG_ENGINE_DBG_WARP(e), w);
        if (r == 0) {
            r = k->hal->ops->read32(k->hal, TERN_REG_ENGINE_DBG_PC(e), &pc);
        }
        if (r == 0) {
            r = k->hal->ops->read32(k->hal, TERN_REG_ENGINE_DBG_LANES(e), &lanes);
        }
        if (!r && lanes) {
            fprintf(out, "  warp %-2u pc 0x%08x lanes 0x%08x\n", (unsigned)w, (unsigned)pc, (unsigned)lanes);
        } else if (!r) {
            fprintf(out, "  warp %-2u no lane that can run\n", (unsigned)w);
        }
    }
    return r;
}

int tern_kmd_dump(struct tern_kmd *kmd, uint32_t e, FILE *out, struct tern_kmd_running *running)
{
    tern_hal_assert_held(kmd->hal);
    const struct named regs[] = {
        {"irq_status", TERN_REG_DEV_IRQ_STATUS},
        {"irq_enable", TERN_REG_DEV_IRQ_ENABLE},
        {"status", TERN_REG_ENGINE_STATUS(e)},
        {"run_fence_lo", TERN_REG_ENGINE_RUN_FENCE_LO(e)},
        {"run_fence_hi", TERN_REG_ENGINE_RUN_FENCE_HI(e)},
        {"run_offset", TERN_REG_ENGINE_RUN_OFFSET(e)},
        {"run_packet", TERN_REG_ENGINE_RUN_PACKET(e)},
        {"next_fence_lo", TERN_REG_ENGINE_NEXT_FENCE_LO(e)},
        {"next_fence_hi", TERN_REG_ENGINE_NEXT_FENCE_HI(e)},
        {"sub_fence_lo", TERN_REG_ENGINE_SUB_FENCE_LO(e)},
        {"sub_fence_hi", TERN_REG_ENGINE_SUB_FENCE_HI(e)},
        {"sub_buffer_lo", TERN_REG_ENGINE_SUB_BUFFER_LO(e)},
        {"sub_buffer_hi", TERN_REG_ENGINE_SUB_BUFFER_HI(e)},
        {"sub_size", TERN_REG_ENGINE_SUB_SIZE(e)},
        {"sub_root", TERN_REG_ENGINE_SUB_ROOT(e)},
        {"sub_context", TERN_REG_ENGINE_SUB_CONTEXT(e)},
        {"sub_save", TERN_REG_ENGINE_SUB_SAVE(e)},
        {"sub_flags", TERN_REG_ENGINE_SUB_FLAGS(e)},
        {"ind_info", TERN_REG_ENGINE_IND_INFO(e)},
        {"ind_fence_lo", TERN_REG_ENGINE_IND_FENCE_LO(e)},
        {"ind_fence_hi", TERN_REG_ENGINE_IND_FENCE_HI(e)},
        {"ind_offset", TERN_REG_ENGINE_IND_OFFSET(e)},
        {"cnt_busy", TERN_REG_ENGINE_CNT_BUSY(e)},
        {"cnt_issue", TERN_REG_ENGINE_CNT_ISSUE(e)},
        {"cnt_stall_use", TERN_REG_ENGINE_CNT_STALL_USE(e)},
        {"cnt_stall_unit", TERN_REG_ENGINE_CNT_STALL_UNIT(e)},
        {"cnt_stall_idle", TERN_REG_ENGINE_CNT_STALL_IDLE(e)},
        {"cnt_rd_lines", TERN_REG_ENGINE_CNT_RD_LINES(e)},
        {"cnt_wr_lines", TERN_REG_ENGINE_CNT_WR_LINES(e)},
    };
    uint32_t lo = 0, hi = 0, offset = 0;
    int r = 0;
    fprintf(out, "registers of engine %u:\n", (unsigned)e);
    for (size_t i = 0; !r && i < sizeof regs / sizeof *regs; i++) {
        r = show(kmd, out, &regs[i]);
    }
    if (r == 0) {
        r = show_warps(kmd, e, out);
    }
    if (r == 0) {
        r = kmd->hal->ops->read32(kmd->hal, TERN_REG_ENGINE_RUN_FENCE_LO(e), &lo);
    }
    if (r == 0) {
        r = kmd->hal->ops->read32(kmd->hal, TERN_REG_ENGINE_RUN_FENCE_HI(e), &hi);
    }
    if (r == 0) {
        r = kmd->hal->ops->read32(kmd->hal, TERN_REG_ENGINE_RUN_OFFSET(e), &offset);
    }
    if (!r) {
        *running = (struct tern_kmd_running){.fence = lo | (uint64_t)hi << 32, .offset = offset};
    }
    return r;
}
