/* SPDX-License-Identifier: Apache-2.0 */
#include "device.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PAGING_BUFFER 0x00800000u
#define PAGING_FENCE 77u

const struct tern_sim_api *api;

int library_load(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s LIBRARY\n", argv[0]);
        return 2;
    }
    if (access(argv[1], F_OK) != 0) {
        fprintf(stderr, "%s is not built\n", argv[1]);
        return 77;
    }
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    api = library ? dlsym(library, TERN_SIM_API_SYMBOL) : NULL;
    if (!api || api->version != TERN_SIM_API_VERSION) {
        fprintf(stderr, "%s: %s\n", argv[1], library ? "not a simulated device" : dlerror());
        return 2;
    }
    return 0;
}

int device_setup(void **state)
{
    struct device *d = malloc(sizeof *d);
    assert_non_null(d);
    device_open(d, &(struct tern_sim_config){.mem_bytes = 64u << 20});
    *state = d;
    return 0;
}

int device_teardown(void **state)
{
    struct device *d = *state;
    device_close(d);
    free(d);
    return 0;
}

/* ---------------------------------------------------------------- save areas */

static uint32_t save_pages(const struct device *d)
{
    return (d->save_lines + PAGE / LINE - 1) / (PAGE / LINE);
}

/** Number of page k of a save area. The pages are every second one, from the highest down: a device that takes them as
 *  adjacent fails. */
static uint64_t page_of_save(uint32_t pages, uint64_t save, uint32_t k)
{
    return save / PAGE + (k ? 2 * (pages - k) : 0);
}

uint32_t save_entry(uint64_t page)
{
    return (uint32_t)page << TERN_PTE_PPN_SHIFT | TERN_PTE_VALID_MASK | TERN_PTE_READ_MASK | TERN_PTE_WRITE_MASK;
}

void save_make(struct device *d, uint64_t save)
{
    uint32_t list[PAGE / 4 - 16] = {0};
    d->save_lines = reg_read(d, TERN_REG_DEV_SAVE_LINES);
    const uint32_t pages = save_pages(d);
    assert_true(pages - 1 <= sizeof list / 4);
    for (uint32_t k = 1; k < pages; k++) {
        list[k - 1] = save_entry(page_of_save(pages, save, k));
    }
    assert_int_equal(api->mem_write(d->sim, save + LINE, list, (pages - 1 + 15) / 16 * (uint64_t)LINE), 0);
}

uint64_t save_line(const struct device *d, uint64_t save, uint32_t line)
{
    const uint32_t pages = save_pages(d), at = line ? line + (pages - 1 + 15) / 16 : 0;
    return page_of_save(pages, save, at / (PAGE / LINE)) * PAGE + (uint64_t)at % (PAGE / LINE) * LINE;
}

int save_setup(void **state)
{
    device_setup(state);
    save_make(*state, SAVE);
    return 0;
}

uint32_t next_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

void expect(struct indication i, uint32_t kind, uint32_t fault, uint64_t fence)
{
    assert_int_equal(i.fault, fault);
    assert_int_equal(i.kind, kind);
    assert_int_equal(i.fence, fence);
}

void expect_completed(struct device *d, uint32_t engine, uint64_t fence)
{
    struct indication i = indication(d, engine, SOON);
    expect(i, TERN_ENGINE_IND_INFO_KIND_COMPLETED, TERN_FAULT_NONE, fence);
    assert_true(i.begin > 0 && i.begin <= i.end);
}

uint64_t load64(struct device *d, uint64_t address)
{
    uint64_t v = 0;
    assert_int_equal(api->mem_read(d->sim, address, &v, sizeof v), 0);
    return v;
}

void store64(struct device *d, uint64_t address, uint64_t v)
{
    assert_int_equal(api->mem_write(d->sim, address, &v, sizeof v), 0);
}

void clear(struct device *d, uint64_t address, size_t size)
{
    void *zeros = calloc(1, size);
    assert_non_null(zeros);
    assert_int_equal(api->mem_write(d->sim, address, zeros, size), 0);
    free(zeros);
}

void device_open(struct device *d, const struct tern_sim_config *config)
{
    assert_int_equal(api->create(config, &d->sim), 0);
    d->used = d->roots = 0;
    reg_write(d, TERN_REG_DEV_IRQ_ENABLE, 0xff);
}

void device_close(struct device *d)
{
    api->destroy(d->sim);
}

uint32_t reg_read(struct device *d, uint32_t offset)
{
    uint32_t v = 0;
    assert_int_equal(api->read32(d->sim, offset, &v), 0);
    return v;
}

bool has_saxpy(struct device *d)
{
    const uint32_t config = reg_read(d, TERN_REG_DEV_CONFIG1);
    return (config & TERN_DEV_CONFIG1_EXECUTORS_MASK) >> TERN_DEV_CONFIG1_EXECUTORS_SHIFT > TERN_EXECUTOR_ID_SAXPY;
}

void need_saxpy(struct device *d)
{
    if (!has_saxpy(d)) {
        skip();
    }
}

void reg_write(struct device *d, uint32_t offset, uint32_t value)
{
    assert_int_equal(api->write32(d->sim, offset, value), 0);
}

uint32_t *packet(struct device *d, uint32_t lines)
{
    uint32_t *w = &d->words[d->used];
    d->used += 16 * lines;
    assert_true(d->used <= sizeof d->words / sizeof d->words[0]);
    memset(w, 0, (size_t)LINE * lines);
    return w;
}

void packet_nop(struct device *d)
{
    assert_int_equal(tern_pkt_nop_pack(&(struct tern_pkt_nop){0}, packet(d, 1)), 0);
}

void packet_copy(struct device *d, uint64_t dst, uint64_t src, uint32_t bytes)
{
    struct tern_pkt_copy p = {.src_lo = (uint32_t)src, .src_hi = (uint32_t)(src >> 32), .dst_lo = (uint32_t)dst,
                              .dst_hi = (uint32_t)(dst >> 32), .width = bytes, .rows = 1, .slices = 1};
    assert_int_equal(tern_pkt_copy_pack(&p, packet(d, 1)), 0);
}

void packet_fill(struct device *d, uint64_t dst, uint32_t bytes, uint8_t value)
{
    struct tern_pkt_fill p = {.dst_lo = (uint32_t)dst, .dst_hi = (uint32_t)(dst >> 32), .width = bytes, .rows = 1,
                              .slices = 1};
    memset(p.pattern, value, sizeof p.pattern);
    assert_int_equal(tern_pkt_fill_pack(&p, packet(d, 2)), 0);
}

void packet_signal(struct device *d, uint64_t address, uint64_t value)
{
    struct tern_pkt_fence_signal p = {.address_lo = (uint32_t)address, .address_hi = (uint32_t)(address >> 32),
                                      .value_lo = (uint32_t)value, .value_hi = (uint32_t)(value >> 32)};
    assert_int_equal(tern_pkt_fence_signal_pack(&p, packet(d, 1)), 0);
}

void packet_wait(struct device *d, uint64_t address, uint64_t value)
{
    struct tern_pkt_fence_wait p = {.address_lo = (uint32_t)address, .address_hi = (uint32_t)(address >> 32),
                                    .value_lo = (uint32_t)value, .value_hi = (uint32_t)(value >> 32)};
    assert_int_equal(tern_pkt_fence_wait_pack(&p, packet(d, 1)), 0);
}

void packet_pte(struct device *d, uint64_t table, uint32_t count, uint32_t pte, uint32_t step)
{
    struct tern_pkt_pte_update p = {.table_lo = (uint32_t)table, .table_hi = (uint32_t)(table >> 32), .count = count,
                                    .pte = pte, .step = step};
    assert_int_equal(tern_pkt_pte_update_pack(&p, packet(d, 1)), 0);
}

void submit(struct device *d, uint32_t e, struct submission s, uint64_t physical)
{
    if (d->used) {
        assert_int_equal(api->mem_write(d->sim, physical, d->words, (size_t)d->used * 4), 0);
    }
    reg_write(d, TERN_REG_ENGINE_SUB_FENCE_LO(e), (uint32_t)s.fence);
    reg_write(d, TERN_REG_ENGINE_SUB_FENCE_HI(e), (uint32_t)(s.fence >> 32));
    reg_write(d, TERN_REG_ENGINE_SUB_BUFFER_LO(e), (uint32_t)s.buffer);
    reg_write(d, TERN_REG_ENGINE_SUB_BUFFER_HI(e), (uint32_t)(s.buffer >> 32));
    reg_write(d, TERN_REG_ENGINE_SUB_SIZE(e), s.size ? s.size : d->used * 4);
    reg_write(d, TERN_REG_ENGINE_SUB_ROOT(e), s.root);
    reg_write(d, TERN_REG_ENGINE_SUB_SAVE(e), s.save);
    reg_write(d, TERN_REG_ENGINE_SUB_FLAGS(e), s.flags);
    reg_write(d, TERN_REG_ENGINE_SUB_DOORBELL(e), 1);
    d->used = 0;
}

static uint64_t reg_read64(struct device *d, uint32_t lo, uint32_t hi)
{
    return reg_read(d, lo) | (uint64_t)reg_read(d, hi) << 32;
}

static uint32_t field(uint32_t v, uint32_t mask, uint32_t shift)
{
    return (v & mask) >> shift;
}

/** Runs cycles. If the device has broken a rule of its own, the test fails and names the rule. */
static void step(struct device *d, uint64_t cycles)
{
    struct tern_sim_violation broken;
    const int r = api->step(d->sim, cycles, NULL);
    if (r && api->violation(d->sim, &broken)) {
        print_error("the device has broken a rule: %s %s, %s, at %llu\n", broken.module, broken.rule, broken.place,
                    (unsigned long long)broken.cycle);
    }
    assert_int_equal(r, 0);
}

struct indication indication(struct device *d, uint32_t e, uint64_t cycles)
{
    uint64_t end = api->cycles(d->sim) + cycles;
    while (!(reg_read(d, TERN_REG_ENGINE_STATUS(e)) & TERN_ENGINE_STATUS_INDICATIONS_MASK)) {
        assert_true(api->cycles(d->sim) < end);
        step(d, 200);
    }
    uint32_t info = reg_read(d, TERN_REG_ENGINE_IND_INFO(e));
    struct indication i = {
        .kind = field(info, TERN_ENGINE_IND_INFO_KIND_MASK, TERN_ENGINE_IND_INFO_KIND_SHIFT),
        .access = field(info, TERN_ENGINE_IND_INFO_ACCESS_MASK, TERN_ENGINE_IND_INFO_ACCESS_SHIFT),
        .fault = field(info, TERN_ENGINE_IND_INFO_FAULT_MASK, TERN_ENGINE_IND_INFO_FAULT_SHIFT),
        .lane = field(info, TERN_ENGINE_IND_INFO_LANE_MASK, TERN_ENGINE_IND_INFO_LANE_SHIFT),
        .warp = field(info, TERN_ENGINE_IND_INFO_WARP_MASK, TERN_ENGINE_IND_INFO_WARP_SHIFT),
        .va = reg_read(d, TERN_REG_ENGINE_IND_VA(e)),
        .pc = reg_read(d, TERN_REG_ENGINE_IND_PC(e)),
        .offset = reg_read(d, TERN_REG_ENGINE_IND_OFFSET(e)),
        .group = {reg_read(d, TERN_REG_ENGINE_IND_GROUP_X(e)), reg_read(d, TERN_REG_ENGINE_IND_GROUP_Y(e)),
                  reg_read(d, TERN_REG_ENGINE_IND_GROUP_Z(e))},
        .fence = reg_read64(d, TERN_REG_ENGINE_IND_FENCE_LO(e), TERN_REG_ENGINE_IND_FENCE_HI(e)),
        .begin = reg_read64(d, TERN_REG_ENGINE_IND_BEGIN_LO(e), TERN_REG_ENGINE_IND_BEGIN_HI(e)),
        .end = reg_read64(d, TERN_REG_ENGINE_IND_END_LO(e), TERN_REG_ENGINE_IND_END_HI(e)),
    };
    reg_write(d, TERN_REG_ENGINE_IND_POP(e), 1);
    return i;
}

void run_paging(struct device *d)
{
    struct submission s = {.buffer = PAGING_BUFFER, .fence = PAGING_FENCE, .flags = TERN_ENGINE_SUB_FLAGS_PAGING_MASK};
    submit(d, 0, s, PAGING_BUFFER);
    struct indication i = indication(d, 0, SOON);
    assert_int_equal(i.fault, TERN_FAULT_NONE);
    assert_int_equal(i.kind, TERN_ENGINE_IND_INFO_KIND_COMPLETED);
    assert_int_equal(i.fence, PAGING_FENCE);
}

/** When a root is first used, clears its table and the second-level table in the next page. */
static void make_tables(struct device *d, uint32_t root)
{
    for (uint32_t i = 0; i < d->roots; i++) {
        if (d->root[i] == root) {
            return;
        }
    }
    assert_true(d->roots < sizeof d->root / sizeof d->root[0]);
    d->root[d->roots++] = root;
    clear(d, (uint64_t)root * PAGE, (size_t)2 * PAGE);
}

void map(struct device *d, uint32_t root, uint32_t va, uint64_t pa, uint32_t pages, uint32_t flags)
{
    uint32_t table = root + 1, first = va / PAGE % 1024; /* the second-level table, for 4 MiB */
    assert_true(first + pages <= 1024);
    make_tables(d, root);
    packet_pte(d, (uint64_t)root * PAGE + va / (PAGE * 1024) * 4, 1, table << TERN_PTE_PPN_SHIFT | TERN_PTE_VALID_MASK,
               0);
    packet_pte(d, (uint64_t)table * PAGE + first * 4, pages,
               (uint32_t)(pa / PAGE) << TERN_PTE_PPN_SHIFT | TERN_PTE_VALID_MASK | flags, 1u << TERN_PTE_PPN_SHIFT);
    struct tern_pkt_tlb_flush flush = {.root = root};
    assert_int_equal(tern_pkt_tlb_flush_pack(&flush, packet(d, 1)), 0);
    run_paging(d);
}
