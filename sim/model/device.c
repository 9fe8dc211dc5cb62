/* SPDX-License-Identifier: Apache-2.0 */
/** The functions of the device's API: registers, time and the dirty plane. */
#include <errno.h>
#include <sys/mman.h>

#include "model.h"

#define SLICE 256u
#define ACCESS_CYCLES 4u
#define CLOCK_HZ 250000000u
#define VERSION 0x000100u
#define LINE_PAGES 512u /* pages whose dirty bits are a line */

static uint32_t dev_read(struct tern_sim *d, uint32_t off)
{
    switch (off) {
    case TERN_REG_DEV_ID:
        return 0x5445524eu;
    case TERN_REG_DEV_VERSION:
        return VERSION;
    case TERN_REG_DEV_SPEC_HASH:
        return TERN_SPEC_HASH;
    case TERN_REG_DEV_CONFIG0:
        return MODEL_LANES << TERN_DEV_CONFIG0_LANES_SHIFT | MODEL_WARPS << TERN_DEV_CONFIG0_WARPS_SHIFT |
               ENGINES << TERN_DEV_CONFIG0_ENGINES_SHIFT | (LMEM_BYTES / 1024u) << TERN_DEV_CONFIG0_LMEM_KIB_SHIFT;
    case TERN_REG_DEV_CONFIG1:
        return 12u << TERN_DEV_CONFIG1_DIRTY_PAGE_LOG2_SHIFT | 34u << TERN_DEV_CONFIG1_PA_BITS_SHIFT |
               TERN_DEV_CONFIG1_MEM_CLEAR_MASK | TERN_ENGINE_COMMAND_GRANULARITY_INSTRUCTION <<
               TERN_DEV_CONFIG1_PREEMPT_GRAN_SHIFT | executor_count() << TERN_DEV_CONFIG1_EXECUTORS_SHIFT |
               TERN_DEV_CONFIG1_PAGE_REQUESTS_MASK | 1u << TERN_DEV_CONFIG1_PORTS_SHIFT;
    case TERN_REG_DEV_CLOCK_HZ:
        return CLOCK_HZ;
    case TERN_REG_DEV_MEM_PAGES:
        return (uint32_t)(d->mem.bytes / PAGE);
    case TERN_REG_DEV_SAVE_LINES:
        return SAVE_LINES;
    case TERN_REG_DEV_IRQ_STATUS: {
        uint32_t s = 0;
        for (uint32_t i = 0; i < ENGINES; i++) {
            s |= (d->engine[i].n_ind ? 1u : 0u) << i;
        }
        return s;
    }
    case TERN_REG_DEV_IRQ_ENABLE:
        return d->irq_enable;
    case TERN_REG_DEV_TIME_LO:
        d->time_hi = (uint32_t)(d->time >> 32);
        return (uint32_t)d->time;
    case TERN_REG_DEV_TIME_HI:
        return d->time_hi;
    case TERN_REG_DIRTY_FIRST:
        return d->dirty_first;
    case TERN_REG_DIRTY_COUNT:
        return d->dirty_count;
    case TERN_REG_DIRTY_STATUS:
        return d->dirty_error ? TERN_DIRTY_STATUS_ERROR_MASK : 0;
    case TERN_REG_DIRTY_TARGET_LO:
        return (uint32_t)d->dirty_target;
    case TERN_REG_DIRTY_TARGET_HI:
        return (uint32_t)(d->dirty_target >> 32);
    case TERN_REG_DIRTY_FOUND:
        return d->dirty_found;
    default:
        return 0;
    }
}

/** Writes a line of a result. Other writes make their pages dirty; this one does not. */
static void dirty_put(struct tern_sim *d, uint64_t at, const uint8_t *line)
{
    memcpy(d->mem.data + at, line, LINE);
    memory_unreserve(&d->mem, at, LINE);
}

static void dirty_command(struct tern_sim *d, uint32_t op)
{
    const uint64_t first = d->dirty_first, end = first + d->dirty_count, target = d->dirty_target;
    const uint64_t from = first / LINE_PAGES, blocks = end == first ? 0 : (end - 1) / LINE_PAGES - from + 1;
    const uint64_t names = (blocks + LINE_PAGES - 1) / LINE_PAGES, bytes = (names + blocks) * LINE;
    const bool writes = op != TERN_DIRTY_COMMAND_OP_COUNT;
    d->dirty_found = 0;
    d->dirty_error = op < 1 || end > d->mem.bytes / PAGE ||
                     (writes && (target % LINE || target > d->mem.bytes || bytes > d->mem.bytes - target));
    uint8_t name[LINE] = {0};
    for (uint64_t b = 0; b < blocks && !d->dirty_error; b++) {
        const uint64_t start = (from + b) * LINE_PAGES;
        const uint32_t before = d->dirty_found;
        uint8_t line[LINE] = {0};
        for (uint64_t p = start < first ? first : start; p < end && p < start + LINE_PAGES; p++) {
            line[(p - start) / 8] |= (uint8_t)(d->mem.dirty[p] << (p - start) % 8);
            d->dirty_found += d->mem.dirty[p];
            d->mem.dirty[p] = op == TERN_DIRTY_COMMAND_OP_QUERY_CLEAR ? 0 : d->mem.dirty[p];
        }
        if (d->dirty_found != before) {
            name[b % LINE_PAGES / 8] |= (uint8_t)(1u << b % 8);
            if (writes) {
                dirty_put(d, target + (names + b) * LINE, line);
            }
        }
        if (writes && (b + 1 == blocks || (b + 1) % LINE_PAGES == 0)) {
            dirty_put(d, target + b / LINE_PAGES * LINE, name);
            memset(name, 0, sizeof name);
        }
    }
}

static void dev_write(struct tern_sim *d, uint32_t off, uint32_t v)
{
    switch (off) {
    case TERN_REG_DEV_IRQ_ENABLE:
        d->irq_enable = v & ((1u << ENGINES) - 1);
        break;
    case TERN_REG_DIRTY_FIRST:
        d->dirty_first = v;
        break;
    case TERN_REG_DIRTY_COUNT:
        d->dirty_count = v;
        break;
    case TERN_REG_DIRTY_TARGET_LO:
        d->dirty_target = (d->dirty_target & ~(uint64_t)UINT32_MAX) | v;
        break;
    case TERN_REG_DIRTY_TARGET_HI:
        d->dirty_target = (uint64_t)v << 32 | (uint32_t)d->dirty_target;
        break;
    case TERN_REG_DIRTY_COMMAND:
        dirty_command(d, v & TERN_DIRTY_COMMAND_OP_MASK);
        break;
    default:
        break;
    }
}

#define REG(name) (TERN_REG_ENGINE_##name(0) - 0x1000u)
#define LO(x) (uint32_t)(x)
#define HI(x) (uint32_t)((x) >> 32)

static uint32_t *submission_register(struct engine *e, uint32_t off)
{
    switch (off) {
    case REG(SUB_SIZE):
        return &e->regs.size;
    case REG(SUB_ROOT):
        return &e->regs.root;
    case REG(SUB_CONTEXT):
        return &e->regs.context;
    case REG(SUB_SAVE):
        return &e->regs.save;
    case REG(SUB_FLAGS):
        return &e->regs.flags;
    default:
        return NULL;
    }
}

static uint32_t counter_read(const struct counters *c, uint32_t off)
{
    const uint64_t v[] = {c->busy,   c->issue,   c->lanes,   c->stall_use, c->stall_unit, c->stall_idle, c->fma,
                          c->l1_hit, c->l1_miss, c->ic_miss, c->tlb_hit,   c->tlb_miss,   c->rd_lines,   c->wr_lines};
    uint32_t i = (off - REG(CNT_BUSY)) / 8;
    if (i >= sizeof v / sizeof v[0]) {
        return 0;
    }
    return off & 4 ? HI(v[i]) : LO(v[i]);
}

/** Reads the registers that crash dumps use. */
static uint32_t dump_read(const struct engine *e, uint32_t off)
{
    const struct warp *w = &e->simt.warp[e->dbg_warp % WARPS];
    bool runs = e->phase == PHASE_RUN, kernel = runs && (e->packet[0] & 0xffu) == TERN_PKT_DISPATCH;
    switch (off) {
    case REG(RUN_FENCE_LO):
        return e->queued ? LO(e->queue[0].fence) : 0;
    case REG(RUN_FENCE_HI):
        return e->queued ? HI(e->queue[0].fence) : 0;
    case REG(RUN_OFFSET):
        return e->phase != PHASE_IDLE ? e->offset : 0;
    case REG(RUN_PACKET):
        return runs ? e->packet[0] : 0;
    case REG(NEXT_FENCE_LO):
        return e->queued > 1 ? LO(e->queue[1].fence) : 0;
    case REG(NEXT_FENCE_HI):
        return e->queued > 1 ? HI(e->queue[1].fence) : 0;
    case REG(DBG_WARP):
        return e->dbg_warp;
    case REG(DBG_PC):
        return kernel && w->active ? w->at : 0;
    case REG(DBG_LANES):
        return kernel ? w->active : 0;
    default:
        return 0;
    }
}

static uint32_t engine_read(struct engine *e, uint32_t off)
{
    static const struct indication none;
    const struct indication *i = e->n_ind ? &e->ind[0] : &none;
    uint32_t *r = submission_register(e, off);
    if (r) {
        return *r;
    }
    switch (off) {
    case REG(STATUS):
        return e->queued | (e->phase != PHASE_IDLE ? TERN_ENGINE_STATUS_BUSY_MASK : 0) |
               (e->stopping ? TERN_ENGINE_STATUS_STOPPING_MASK : 0) |
               (e->refused ? TERN_ENGINE_STATUS_REFUSED_MASK : 0) | e->n_ind << TERN_ENGINE_STATUS_INDICATIONS_SHIFT;
    case REG(SUB_FENCE_LO):
        return LO(e->regs.fence);
    case REG(SUB_FENCE_HI):
        return HI(e->regs.fence);
    case REG(SUB_BUFFER_LO):
        return LO(e->regs.buffer);
    case REG(SUB_BUFFER_HI):
        return HI(e->regs.buffer);
    case REG(IND_INFO):
        return i->kind | i->fault.access << TERN_ENGINE_IND_INFO_ACCESS_SHIFT |
               i->fault.code << TERN_ENGINE_IND_INFO_FAULT_SHIFT | i->fault.lane << TERN_ENGINE_IND_INFO_LANE_SHIFT |
               i->fault.warp << TERN_ENGINE_IND_INFO_WARP_SHIFT;
    case REG(IND_FENCE_LO):
        return LO(i->fence);
    case REG(IND_FENCE_HI):
        return HI(i->fence);
    case REG(IND_VA):
        return i->fault.va;
    case REG(IND_PC):
        return i->fault.pc;
    case REG(IND_OFFSET):
        return i->offset;
    case REG(IND_BEGIN_LO):
        return LO(i->begin);
    case REG(IND_BEGIN_HI):
        return HI(i->begin);
    case REG(IND_END_LO):
        return LO(i->end);
    case REG(IND_END_HI):
        return HI(i->end);
    case REG(IND_GROUP_X):
        return i->fault.group[0];
    case REG(IND_GROUP_Y):
        return i->fault.group[1];
    case REG(IND_GROUP_Z):
        return i->fault.group[2];
    default:
        return off >= REG(CNT_BUSY) ? counter_read(&e->count, off) : dump_read(e, off);
    }
}

static void set_half(uint64_t *v, uint32_t half, uint32_t x)
{
    *v = half ? (*v & 0xffffffffull) | (uint64_t)x << 32 : (*v & ~0xffffffffull) | x;
}

static void engine_write(struct engine *e, uint32_t off, uint32_t v)
{
    uint32_t *r = submission_register(e, off);
    if (r) {
        *r = v;
        return;
    }
    switch (off) {
    case REG(SUB_FENCE_LO):
    case REG(SUB_FENCE_HI):
        set_half(&e->regs.fence, off == REG(SUB_FENCE_HI), v);
        break;
    case REG(SUB_BUFFER_LO):
    case REG(SUB_BUFFER_HI):
        set_half(&e->regs.buffer, off == REG(SUB_BUFFER_HI), v);
        break;
    case REG(SUB_DOORBELL):
        engine_doorbell(e);
        break;
    case REG(IND_POP):
        engine_pop(e);
        break;
    case REG(DBG_WARP):
        e->dbg_warp = v & 31u;
        break;
    case REG(COMMAND):
        if (v & TERN_ENGINE_COMMAND_RESET_MASK) {
            engine_reset(e);
        } else if (v & TERN_ENGINE_COMMAND_PREEMPT_MASK) {
            engine_preempt(e, v >> TERN_ENGINE_COMMAND_GRANULARITY_SHIFT & 3u);
        }
        break;
    default:
        break;
    }
}

static bool irq(const struct tern_sim *d)
{
    for (uint32_t i = 0; i < ENGINES; i++) {
        if (d->engine[i].n_ind && d->irq_enable >> i & 1) {
            return true;
        }
    }
    return false;
}

static void advance(struct tern_sim *d, uint64_t cycles)
{
    d->time += cycles;
    for (uint32_t i = 0; i < ENGINES; i++) {
        engine_run(&d->engine[i], d->time);
    }
}

void device_arithmetic(struct tern_sim *d)
{
    if (!d->arithmetic) {
        fegetenv(&d->callers);
        fesetenv(FE_DFL_ENV);
        d->arithmetic = true;
    }
}

static void arithmetic_end(struct tern_sim *d)
{
    if (d->arithmetic) {
        fesetenv(&d->callers);
        d->arithmetic = false;
    }
}

static void access_time(struct tern_sim *d)
{
    advance(d, ACCESS_CYCLES);
    arithmetic_end(d);
}

static struct engine *engine_at(struct tern_sim *d, uint32_t *off)
{
    uint32_t i = (*off - 0x1000u) / 0x400u;
    if (*off < 0x1000u || i >= ENGINES) {
        return NULL;
    }
    *off = (*off - 0x1000u) % 0x400u;
    return &d->engine[i];
}

static int model_read32(struct tern_sim *d, uint32_t off, uint32_t *value)
{
    struct engine *e = engine_at(d, &off);
    access_time(d);
    *value = e ? engine_read(e, off) : dev_read(d, off);
    return 0;
}

static int model_write32(struct tern_sim *d, uint32_t off, uint32_t value)
{
    struct engine *e = engine_at(d, &off);
    if (e) {
        engine_write(e, off, value);
    } else {
        dev_write(d, off, value);
    }
    access_time(d);
    return 0;
}

static int model_mem_read(struct tern_sim *d, uint64_t address, void *data, size_t size)
{
    if (address > d->mem.bytes || size > d->mem.bytes - address) {
        return -EFAULT;
    }
    memcpy(data, d->mem.data + address, size);
    return 0;
}

static int model_mem_write(struct tern_sim *d, uint64_t address, const void *data, size_t size)
{
    if (address > d->mem.bytes || size > d->mem.bytes - address) {
        return -EFAULT;
    }
    memcpy(d->mem.data + address, data, size);
    return 0;
}

static int model_step(struct tern_sim *d, uint64_t max_cycles, bool *line)
{
    bool busy = true;
    while (max_cycles && busy && !irq(d)) {
        uint64_t n = max_cycles < SLICE ? max_cycles : SLICE;
        advance(d, n);
        max_cycles -= n;
        busy = false;
        for (uint32_t i = 0; i < ENGINES; i++) {
            busy |= d->engine[i].queued != 0;
        }
    }
    if (!busy && !irq(d)) {
        advance(d, max_cycles);
    }
    arithmetic_end(d);
    if (line) {
        *line = irq(d);
    }
    return 0;
}

static uint64_t model_cycles(const struct tern_sim *d)
{
    return d->time;
}

static int model_trace(struct tern_sim *d, const char *path)
{
    (void)d;
    (void)path;
    return -ENOTSUP;
}

static void model_destroy(struct tern_sim *d)
{
    if (d) {
        memory_free(&d->mem);
        munmap(d, sizeof *d);
    }
}

static int model_create(const struct tern_sim_config *config, struct tern_sim **out)
{
    uint64_t bytes = config && config->mem_bytes ? config->mem_bytes : 2ull << 30;
    if (bytes % PAGE || bytes > 16ull << 30) {
        return -EINVAL;
    }
    if (config && config->mutant) {
        return -ENOTSUP; /* the model has no seeded bugs */
    }
    /* mmap, because the struct is large and most of it is never touched */
    struct tern_sim *d = mmap(NULL, sizeof *d, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (d == MAP_FAILED) {
        return -ENOMEM;
    }
    int r = memory_init(&d->mem, bytes);
    if (r) {
        munmap(d, sizeof *d);
        return r;
    }
    if (config) { /* the range of errors becomes one of whole pages */
        d->mem.error_first = config->dram_error_base / PAGE;
        d->mem.error_end = (config->dram_error_base + config->dram_error_bytes + PAGE - 1) / PAGE;
    }
    for (uint32_t i = 0; i < ENGINES; i++) {
        d->engine[i].index = i;
        d->engine[i].dev = d;
        d->engine[i].physical.physical = true;
    }
    *out = d;
    return 0;
}

static int model_observe(struct tern_sim *d, tern_sim_observer f, void *user)
{
    d->observer = f;
    d->observer_user = user;
    return 0;
}

static int model_coverage(struct tern_sim *d, const char *path)
{
    (void)d;
    (void)path;
    return -ENOTSUP;
}

static int model_dram(const struct tern_sim *sim, struct tern_sim_dram *out)
{
    (void)sim;
    (void)out;
    return -ENOTSUP;
}

/** The model has no rules to check: it has no handshakes. */
static int model_violation(const struct tern_sim *sim, struct tern_sim_violation *out)
{
    (void)sim;
    (void)out;
    return 0;
}

__attribute__((visibility("default"))) const struct tern_sim_api tern_sim_api = {
    .version = TERN_SIM_API_VERSION,
    .create = model_create,
    .destroy = model_destroy,
    .read32 = model_read32,
    .write32 = model_write32,
    .mem_read = model_mem_read,
    .mem_write = model_mem_write,
    .step = model_step,
    .cycles = model_cycles,
    .trace = model_trace,
    .observe = model_observe,
    .coverage = model_coverage,
    .dram = model_dram,
    .violation = model_violation,
};
