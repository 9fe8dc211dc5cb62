/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "hal/hal.h"
#include "kmd/kmd.h"
#include "kmd/regs.h"

#define DEVICE_ID 0x5445524eu
#define LINES_PER_PAGE (TERN_PAGE / TERN_PKT_LINE_BYTES)
#define SAVE_PAGES_MAX (TERN_PAGES_LARGE - 15u) /* the first page has a header of 16 words and the list of the others */

static int read_all(struct tern_hal *hal, const uint32_t *offset, uint32_t *value, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int r = hal->ops->read32(hal, offset[i], &value[i]);
        if (r) {
            return tern_error(r, "the device does not answer: register 0x%04x cannot be read (%s)", offset[i],
                              strerror(-r));
        }
    }
    return 0;
}

/* the largest numbers that an indication can name */
#define LANES_MAX ((TERN_ENGINE_IND_INFO_LANE_MASK >> TERN_ENGINE_IND_INFO_LANE_SHIFT) + 1)
#define WARPS_MAX ((TERN_ENGINE_IND_INFO_WARP_MASK >> TERN_ENGINE_IND_INFO_WARP_SHIFT) + 1)
#define PORTS_MAX 4u
#define PAGES_MAX ((TERN_PTE_PPN_MASK >> TERN_PTE_PPN_SHIFT) + 1) /* that an entry of a page table can name */

/** Refuses impossible numbers, with a sentence that names them. Later code divides by these numbers and indexes with
 *  them without a check. lanes and warps may be 0, on a device without a SIMT executor; no dispatch ends there. */
static int plausible(const struct tern_kmd *k)
{
    const struct {
        const char *what;
        uint32_t value, low, high;
    } all[] = {
        {"engines", k->engines, 1, TERN_ENGINES_MAX},
        {"lanes of a warp", k->lanes, 0, LANES_MAX},
        {"warps of an engine", k->warps, k->lanes ? 1 : 0, k->lanes ? WARPS_MAX : 0}, /* no lanes: no SIMT executor */
        {"bytes of local memory", k->local_bytes, 0, k->lanes ? UINT32_MAX : 0},
        {"Hz of its clock", k->clock_hz, 1, UINT32_MAX},
        {"pages of memory", k->mem_pages, 1, PAGES_MAX},
        {"bits of a physical address", k->pa_bits, 13, 34},
        {"as log2 of the bytes of a dirty page", k->dirty_page_log2, 12, 34},
        {"pages to save a context", k->save_pages, 1, SAVE_PAGES_MAX},
        {"user executors", k->executors, 0, TERN_EXECUTORS},
        {"memory ports", k->ports, 1, PORTS_MAX},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (all[i].value < all[i].low || all[i].value > all[i].high) {
            return tern_error(-EPROTO, "the device describes itself impossibly: %u %s; %u to %u are possible",
                              all[i].value, all[i].what, all[i].low, all[i].high);
        }
    }
    if (k->mem_pages > 1ull << (k->pa_bits - 12)) {
        return tern_error(-EPROTO, "the device describes itself impossibly: %u pages of memory, but %u bits of a "
                          "physical address", k->mem_pages, k->pa_bits);
    }
    return 0;
}

int tern_kmd_interrupts(struct tern_kmd *kmd, bool on)
{
    tern_hal_assert_held(kmd->hal);
    int r = tern_hal_write32(kmd->hal, TERN_REG_DEV_IRQ_ENABLE, on ? (1u << kmd->engines) - 1u : 0);
    return r ? tern_error(r, "the interrupts cannot be switched: %s", strerror(-r)) : 0;
}

int tern_kmd_probe(struct tern_hal *hal, struct tern_kmd *out)
{
    static const uint32_t regs[] = {TERN_REG_DEV_ID,      TERN_REG_DEV_VERSION, TERN_REG_DEV_SPEC_HASH,
                                    TERN_REG_DEV_CONFIG0, TERN_REG_DEV_CONFIG1, TERN_REG_DEV_CLOCK_HZ,
                                    TERN_REG_DEV_MEM_PAGES, TERN_REG_DEV_SAVE_LINES};
    uint32_t v[8] = {0};
    int r = read_all(hal, regs, v, 8);
    if (r) {
        return r;
    }
    if (v[0] != DEVICE_ID) {
        return tern_error(-EPROTO, "there is no Tern: the id register reads 0x%08x, not 0x%08x", v[0], DEVICE_ID);
    }
    if (v[2] != TERN_SPEC_HASH) {
        return tern_error(-EPROTO,
                          "the device was built from interface description 0x%08x, this driver from 0x%08x: "
                          "rebuild both from the same docs/spec",
                          v[2], TERN_SPEC_HASH);
    }
    struct tern_kmd k = {
        .hal = hal,
        .version = v[1],
        .lanes = FIELD(v[3], TERN_DEV_CONFIG0_LANES),
        .warps = FIELD(v[3], TERN_DEV_CONFIG0_WARPS),
        .engines = FIELD(v[3], TERN_DEV_CONFIG0_ENGINES),
        .local_bytes = FIELD(v[3], TERN_DEV_CONFIG0_LMEM_KIB) * 1024u,
        .dirty_page_log2 = FIELD(v[4], TERN_DEV_CONFIG1_DIRTY_PAGE_LOG2),
        .pa_bits = FIELD(v[4], TERN_DEV_CONFIG1_PA_BITS),
        .single_use = FIELD(v[4], TERN_DEV_CONFIG1_SINGLE_USE),
        .mem_clear = FIELD(v[4], TERN_DEV_CONFIG1_MEM_CLEAR),
        .clock_hz = v[5],
        .mem_pages = v[6],
        .granularity = FIELD(v[4], TERN_DEV_CONFIG1_PREEMPT_GRAN),
        .executors = FIELD(v[4], TERN_DEV_CONFIG1_EXECUTORS),
        .page_requests = FIELD(v[4], TERN_DEV_CONFIG1_PAGE_REQUESTS),
        .ports = FIELD(v[4], TERN_DEV_CONFIG1_PORTS),
        .save_pages = v[7] / LINES_PER_PAGE + (v[7] % LINES_PER_PAGE || !v[7]), /* at least the header's */
    };
    r = plausible(&k);
    if (r == 0) {
        r = tern_kmd_take_over(&k);
    }
    for (uint32_t e = 0; !r && e < k.engines; e++) {
        r = tern_kmd_counters(&k, e, &k.base[e]);
    }
    if (!r) {
        r = tern_kmd_interrupts(&k, true);
    }
    if (!r) {
        *out = k;
    }
    return r;
}

int tern_kmd_time(struct tern_kmd *kmd, uint64_t *cycles)
{
    tern_hal_assert_held(kmd->hal);
    uint32_t lo = 0, hi = 0;
    int r = kmd->hal->ops->read32(kmd->hal, TERN_REG_DEV_TIME_LO, &lo);
    if (r == 0) {
        r = kmd->hal->ops->read32(kmd->hal, TERN_REG_DEV_TIME_HI, &hi);
    }
    if (!r && lo == UINT32_MAX && hi == UINT32_MAX) {
        return tern_error(-EIO, "the clock of the device reads all ones");
    }
    if (r) {
        return tern_error(r, "the clock of the device cannot be read: %s", strerror(-r));
    }
    *cycles = lo | (uint64_t)hi << 32;
    return 0;
}

/** Reads a counter that counts while its halves are read: the high half must be the same before and after. */
static int wide(struct tern_hal *hal, uint32_t lo, uint64_t *out)
{
    uint32_t high = 0, low = 0, again = 0;
    int r = hal->ops->read32(hal, lo + 4, &high);
    for (int tries = 0; !r && tries < 4; tries++) {
        r = hal->ops->read32(hal, lo, &low);
        if (r == 0) {
            r = hal->ops->read32(hal, lo + 4, &again);
        }
        if (!r && again == high) {
            *out = low | (uint64_t)high << 32;
            return 0;
        }
        high = again;
    }
    return r ? r : tern_error(-EIO, "counter register 0x%04x does not hold still", lo);
}

int tern_kmd_counters(struct tern_kmd *kmd, uint32_t engine, struct tern_engine_counters *out)
{
    tern_hal_assert_held(kmd->hal);
    const struct tern_engine_counters *b = &kmd->base[engine];
    struct tern_engine_counters c = *out;
    const struct {
        uint32_t offset;
        uint64_t *value;
        uint64_t base;
    } all[] = {
        {TERN_REG_ENGINE_CNT_BUSY(engine), &c.busy, b->busy},
        {TERN_REG_ENGINE_CNT_ISSUE(engine), &c.issue, b->issue},
        {TERN_REG_ENGINE_CNT_LANES(engine), &c.lanes, b->lanes},
        {TERN_REG_ENGINE_CNT_STALL_USE(engine), &c.stall_use, b->stall_use},
        {TERN_REG_ENGINE_CNT_STALL_UNIT(engine), &c.stall_unit, b->stall_unit},
        {TERN_REG_ENGINE_CNT_STALL_IDLE(engine), &c.stall_idle, b->stall_idle},
        {TERN_REG_ENGINE_CNT_FMA(engine), &c.fma, b->fma},
        {TERN_REG_ENGINE_CNT_L1_HIT(engine), &c.l1_hit, b->l1_hit},
        {TERN_REG_ENGINE_CNT_L1_MISS(engine), &c.l1_miss, b->l1_miss},
        {TERN_REG_ENGINE_CNT_IC_MISS(engine), &c.ic_miss, b->ic_miss},
        {TERN_REG_ENGINE_CNT_TLB_HIT(engine), &c.tlb_hit, b->tlb_hit},
        {TERN_REG_ENGINE_CNT_TLB_MISS(engine), &c.tlb_miss, b->tlb_miss},
        {TERN_REG_ENGINE_CNT_RD_LINES(engine), &c.rd_lines, b->rd_lines},
        {TERN_REG_ENGINE_CNT_WR_LINES(engine), &c.wr_lines, b->wr_lines},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        uint64_t v = 0;
        int r = wide(kmd->hal, all[i].offset, &v);
        if (r) {
            return r;
        }
        *all[i].value = v - all[i].base;
    }
    *out = c;
    return 0;
}
