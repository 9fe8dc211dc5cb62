/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Random work for all engines at once, cut, resumed and reset at random times: test_random LIBRARY.
 *
 * Each engine has memory of its own: a part that is only read, and a part that is written. Buffers run in order. A
 * preempted buffer is submitted again, and resumed if it had begun. A reset drops the queued buffers, which are
 * submitted again from their beginnings; in rounds with resets no packet writes memory that packets read, so the result
 * is the same.
 *
 * At the end memory must be as after all packets in order, and each submission must have been indicated once, in order
 * (C5, P3). TERN_TEST_SEED and TERN_TEST_ROUNDS choose other rounds. A failure prints its seed.
 */
#include <stdlib.h>

#include "device.h"

#define ENGINES 2u
#define REGION 0x01000000u /* mapped at its own address */
#define ROOT 0x00b00u
#define SHARE 0x00200000u  /* bytes of an engine's memory; offsets in it: */
#define SOURCE 0x00000u    /* part that is only read */
#define TARGET 0x20000u    /* part that is read and written */
#define PART 0x10000u
#define BUFFERS 0x80000u   /* DMA buffers, 4 KiB each */
#define SAVES 0x180000u
#define COUNT 24u          /* number of buffers of a round */
#define PACKETS 6u
#define PAGING TERN_ENGINE_SUB_FLAGS_PAGING_MASK

struct step {
    bool fill;
    uint32_t src, dst, width, rows, pitch;
    uint8_t value;
};

struct buffer {
    struct step step[PACKETS];
    uint32_t steps, size, flags, fault, fault_offset;
    bool begun;
};

struct lane_of_work {
    struct buffer buffer[COUNT];
    uint32_t ended, submitted; /* [ended, submitted) are in the HW queue */
    bool stopping;   /* a preemption was requested */
    uint64_t limit;
    uint8_t mirror[PART];
};

static uint32_t seed;

static uint32_t draw(uint32_t below)
{
    return next_random(&seed) % below;
}

static uint32_t base(uint32_t engine)
{
    return REGION + engine * SHARE;
}

/** Makes a packet that must fault. Returns the fault code. */
static uint32_t spoil(uint32_t *w, uint32_t flags)
{
    static const struct {
        uint32_t word0, index, value, fault;
    } bad[] = {
        {0x0177, 0, 0, TERN_FAULT_PACKET_UNKNOWN},          {0x0300, 0, 0, TERN_FAULT_PACKET_RESERVED},
        {0x0100, 7, 0x10, TERN_FAULT_PACKET_RESERVED},      {0x0102, 15, 1, TERN_FAULT_PACKET_RESERVED},
        {0x0104, 1, 0x01000001, TERN_FAULT_PACKET_BOUNDS},  {0x0142, 1, 1, TERN_FAULT_PACKET_PRIVILEGED},
        {0x0105, 8, 0x80000000, TERN_FAULT_PACKET_RESERVED},
    };
    uint32_t i = draw(sizeof bad / sizeof bad[0]);
    w[bad[i].index] = bad[i].value;
    w[0] = bad[i].word0;
    return bad[i].fault == TERN_FAULT_PACKET_PRIVILEGED && flags & PAGING ? TERN_FAULT_NONE : bad[i].fault;
}

static void plan(struct device *d, uint32_t engine, uint32_t n, struct buffer *b, bool idempotent)
{
    memset(b, 0, sizeof *b);
    b->flags = draw(2) ? PAGING : 0;
    uint32_t packets = 1 + draw(PACKETS);
    for (uint32_t i = 0; i < packets && !b->fault; i++) {
        struct step s = {.fill = draw(2), .width = draw(draw(4) ? 150 : 1500), .rows = draw(4),
                         .value = (uint8_t)draw(256)};
        s.pitch = s.width + draw(80);
        s.dst = PART / 2 * draw(2) + draw(PART / 2 - 6400);
        s.src = !idempotent && draw(2) ? TARGET + (s.dst < PART / 2 ? PART / 2 : 0) + draw(PART / 2 - 6400)
                                       : SOURCE + draw(PART - 6400);
        uint32_t kind = draw(10), at = d->used * 4;
        struct tern_pkt_copy c = {.src_lo = base(engine) + s.src, .dst_lo = base(engine) + TARGET + s.dst,
                                  .width = s.width,
                                  .rows = s.rows, .slices = 1, .src_row = s.pitch, .dst_row = s.pitch};
        struct tern_pkt_fill f = {.dst_lo = c.dst_lo, .width = s.width, .rows = s.rows, .slices = 1,
                                  .dst_row = s.pitch};
        memset(f.pattern, s.value, sizeof f.pattern);
        if (kind == 0) {
            packet_nop(d);
        } else if (kind == 1 && n % 3 == 0) {
            b->fault = spoil(packet(d, 1), b->flags);
            b->fault_offset = at;
        } else {
            assert_int_equal(s.fill ? tern_pkt_fill_pack(&f, packet(d, 2)) : tern_pkt_copy_pack(&c, packet(d, 1)), 0);
            b->step[b->steps++] = s;
        }
    }
    if (b->fault) {
        packet_nop(d); /* is never run */
    }
    b->size = d->used * 4;
    assert_int_equal(api->mem_write(d->sim, base(engine) + BUFFERS + n * PAGE, d->words, b->size), 0);
    d->used = 0;
}

/** Applies the effect of the buffer to the mirror of the target part. */
static void apply(struct device *d, uint32_t engine, struct lane_of_work *w, const struct buffer *b)
{
    uint8_t row[2000];
    for (uint32_t i = 0; i < b->steps; i++) {
        const struct step *s = &b->step[i];
        for (uint32_t y = 0; y < s->rows; y++) {
            if (s->fill) {
                memset(row, s->value, s->width);
            } else if (s->src >= TARGET) {
                memcpy(row, &w->mirror[s->src - TARGET + y * s->pitch], s->width);
            } else {
                assert_int_equal(api->mem_read(d->sim, base(engine) + s->src + y * s->pitch, row, s->width), 0);
            }
            memcpy(&w->mirror[s->dst + y * s->pitch], row, s->width);
        }
    }
}

static void submit_next(struct device *d, uint32_t engine, struct lane_of_work *w)
{
    struct buffer *b = &w->buffer[w->submitted];
    submit(d, engine, (struct submission){
        .buffer = base(engine) + BUFFERS + w->submitted * PAGE, .fence = 1000 * engine + w->submitted, .root = ROOT,
        .save = (base(engine) + SAVES) / PAGE + w->submitted, .size = b->size,
        .flags = b->flags | (b->begun ? TERN_ENGINE_SUB_FLAGS_RESUME_MASK : 0)}, 0);
    if (!(reg_read(d, TERN_REG_ENGINE_STATUS(engine)) & TERN_ENGINE_STATUS_REFUSED_MASK)) {
        w->submitted++;
    }
}

static void take(struct device *d, uint32_t engine, struct lane_of_work *w, uint32_t *again)
{
    struct indication i = indication(d, engine, SOON);
    uint32_t n = w->ended + *again;
    struct buffer *b = &w->buffer[n];
    assert_true(n < w->submitted);
    assert_int_equal(i.fence, 1000 * engine + n);
    if (i.kind == TERN_ENGINE_IND_INFO_KIND_PREEMPTED) {
        assert_true(i.offset % LINE == 0 && i.offset < b->size);
        assert_true(i.begin != 0 || i.offset == 0);
        b->begun = b->begun || i.begin != 0;
        ++*again;
        return;
    }
    assert_int_equal(*again, 0); /* buffers behind a preempted one are preempted as well */
    assert_int_equal(i.fault, b->fault);
    assert_int_equal(i.kind, b->fault ? TERN_ENGINE_IND_INFO_KIND_FAULTED : TERN_ENGINE_IND_INFO_KIND_COMPLETED);
    if (b->fault) {
        assert_int_equal(i.offset, b->fault_offset);
    }
    apply(d, engine, w, b);
    w->ended++;
}

static uint32_t pending(struct device *d, uint32_t engine)
{
    return (reg_read(d, TERN_REG_ENGINE_STATUS(engine)) & TERN_ENGINE_STATUS_INDICATIONS_MASK) >>
           TERN_ENGINE_STATUS_INDICATIONS_SHIFT;
}

/** Takes all indications. After a request to stop it first waits for the answer: a buffer submitted before that would
 *  run. */
static void collect(struct device *d, uint32_t engine, struct lane_of_work *w)
{
    uint32_t again = 0;
    while (w->stopping && reg_read(d, TERN_REG_ENGINE_STATUS(engine)) & TERN_ENGINE_STATUS_QUEUED_MASK) {
        assert_int_equal(api->step(d->sim, 50, NULL), 0);
        assert_true(api->cycles(d->sim) < w->limit);
    }
    while (pending(d, engine)) {
        take(d, engine, w, &again);
    }
    if (again) {
        assert_true(!w->stopping || w->ended + again == w->submitted);
        w->submitted = w->ended;
    }
    w->stopping = false;
}

static void restart(struct device *d, uint32_t engine, struct lane_of_work *w)
{
    reg_write(d, TERN_REG_ENGINE_COMMAND(engine), TERN_ENGINE_COMMAND_RESET_MASK);
    for (int i = 0; reg_read(d, TERN_REG_ENGINE_STATUS(engine)) & TERN_ENGINE_STATUS_RESET_MASK; i++) {
        assert_true(i < 10000);
    }
    uint32_t status = reg_read(d, TERN_REG_ENGINE_STATUS(engine));
    assert_int_equal(status & (TERN_ENGINE_STATUS_QUEUED_MASK | TERN_ENGINE_STATUS_BUSY_MASK), 0);
    w->stopping = false; /* the reset may have dropped buffers that were to be preempted */
    collect(d, engine, w);
    for (uint32_t n = w->ended; n < COUNT; n++) {
        w->buffer[n].begun = false;
    }
    w->submitted = w->ended;
}

static void run_round(struct device *d, bool resets)
{
    static struct lane_of_work work[ENGINES];
    static uint8_t seen[PART], junk[PART];
    for (uint32_t e = 0; e < ENGINES; e++) {
        struct lane_of_work *w = &work[e];
        memset(w, 0, sizeof *w);
        for (uint32_t i = 0; i < PART; i++) {
            junk[i] = (uint8_t)draw(256);
        }
        assert_int_equal(api->mem_write(d->sim, base(e) + SOURCE, junk, PART), 0);
        assert_int_equal(api->mem_write(d->sim, base(e) + TARGET, w->mirror, PART), 0);
        for (uint32_t n = 0; n < COUNT; n++) {
            plan(d, e, n, &w->buffer[n], resets);
        }
    }
    uint64_t limit = api->cycles(d->sim) + 10 * SOON;
    work[0].limit = work[1].limit = limit;
    while (work[0].ended < COUNT || work[1].ended < COUNT) {
        assert_true(api->cycles(d->sim) < limit);
        uint32_t e = draw(ENGINES), what = draw(100);
        struct lane_of_work *w = &work[e];
        if (what < 50 && w->submitted < COUNT && !w->stopping) {
            submit_next(d, e, w);
        } else if (what < 56) {
            reg_write(d, TERN_REG_ENGINE_COMMAND(e), TERN_ENGINE_COMMAND_PREEMPT_MASK |
                      (1 + draw(3)) << TERN_ENGINE_COMMAND_GRANULARITY_SHIFT);
            w->stopping = true;
        } else if (what < 58 && resets) {
            restart(d, e, w);
        } else {
            assert_int_equal(api->step(d->sim, draw(draw(3) ? 40 : 600), NULL), 0);
            if (w->stopping ? draw(4) == 0 : draw(3)) {
                collect(d, e, w);
            }
        }
    }
    for (uint32_t e = 0; e < ENGINES; e++) {
        assert_int_equal(pending(d, e), 0);
        assert_int_equal(api->mem_read(d->sim, base(e) + TARGET, seen, PART), 0);
        assert_memory_equal(seen, work[e].mirror, PART);
    }
}

static uint32_t number(const char *name, uint32_t otherwise)
{
    const char *s = getenv(name);
    return s ? (uint32_t)strtoul(s, NULL, 0) : otherwise;
}

static void rounds(struct device *d, bool resets)
{
    map(d, ROOT, REGION, REGION, ENGINES * SHARE / PAGE, TERN_PTE_READ_MASK | TERN_PTE_WRITE_MASK);
    uint32_t first = number("TERN_TEST_SEED", 1), n = number("TERN_TEST_ROUNDS", 8);
    for (uint32_t i = first; i < first + n; i++) {
        print_message("TERN_TEST_SEED=%u TERN_TEST_ROUNDS=1\n", i);
        seed = i * 2654435761u | 1;
        run_round(d, resets);
    }
}

static void test_preemption(void **state)
{
    rounds(*state, false);
}

static void test_resets(void **state)
{
    rounds(*state, true);
}

static int setup(void **state, const struct tern_sim_config *config)
{
    struct device *d = malloc(sizeof *d);
    assert_non_null(d);
    device_open(d, config);
    *state = d;
    return 0;
}

/* Memory that answers slowly and out of order. */
static int setup_reorder(void **state)
{
    return setup(state, &(struct tern_sim_config){.mem_bytes = 64u << 20, .dram_latency = 25, .dram_bandwidth = 48,
                                                  .dram_reorder_seed = 4711});
}

/* Memory with back-pressure: in most cycles a channel accepts nothing, and one write and two reads may be
 * outstanding. */
static int setup_stall(void **state)
{
    return setup(state, &(struct tern_sim_config){.mem_bytes = 64u << 20, .dram_stall = 160, .dram_reads = 2,
                                                  .dram_writes = 1,
                                                  .dram_latency = 10, .dram_refresh = 2000,
                                                  .dram_refresh_cycles = 500});
}

static int setup_hbm(void **state)
{
    return setup(state, &(struct tern_sim_config){.mem_bytes = 64u << 20, .memory = TERN_SIM_MEMORY_HBM});
}

int main(int argc, char **argv)
{
    int refused = library_load(argc, argv);
    if (refused) {
        return refused;
    }
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_preemption, device_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_resets, device_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_preemption, setup_reorder, device_teardown),
        cmocka_unit_test_setup_teardown(test_preemption, setup_stall, device_teardown),
        cmocka_unit_test_setup_teardown(test_preemption, setup_hbm, device_teardown),
    };
    return cmocka_run_group_tests_name("random", tests, NULL, NULL) ? 1 : 0;
}
