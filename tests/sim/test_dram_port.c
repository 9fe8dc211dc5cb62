/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Random traffic on all channels of the memory model, each with a pace of its own: addresses and data of writes come
 * apart, answers are accepted late, and limits, refreshes and pauses occur. The results are compared with an array, and
 * AXI's rules are checked. A seed gives the same traffic again; SEED=N runs one.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dram.h"
#include "tern_sim/tern_sim.h"

#define LINE 64u
#define LINES 512u
#define WRITES 1500u
#define READS 1500u
#define LIMIT 400000u /* cycles */
#define IDS 16u

struct rng {
    uint64_t state;
};

static uint32_t below(struct rng *r, uint32_t n)
{
    r->state = r->state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(r->state >> 33) % n;
}

/** The pace of a channel: busy in `busy` of 256 cycles, and at times silent for long. */
struct pace {
    uint32_t busy, silence;
};

static bool go(struct rng *r, struct pace *p)
{
    if (p->silence) {
        p->silence--;
        return false;
    }
    if (!below(r, 200)) {
        p->silence = below(r, 400);
    }
    return below(r, 256) < p->busy;
}

struct bench {
    struct tern_dram *d;
    struct tern_dram_config config;
    struct rng random;
    struct pace ar, aw, w, r, b;
    struct tern_dram_in in;
    struct tern_dram_out before; /* outputs of the last cycle that were not accepted */
    uint32_t rdata_before[16];
    bool r_held, b_held;
    uint32_t wdata[16];
    uint32_t aws, ws, bs, ars, rs;  /* numbers of handshakes */
    uint32_t most_reads, most_writes, most_ahead;
    uint64_t pushed_back;           /* number of cycles with valid and without ready */
    uint32_t line_of[WRITES], id_of[WRITES];
    uint32_t next_b[IDS];           /* by id: index from which the next answered write is searched; they are in order */
    uint32_t value[LINES];          /* by line: the last write that was answered; 0: none */
    uint32_t issued[LINES];         /* by line: the last write whose address was accepted */
    uint32_t read_line[IDS][READS], read_low[IDS][READS], read_in[IDS], read_out[IDS];
};

/** Draws write n, which fills its line with the word n + 1. A line belongs to one id, so that its writes are in
 *  order. */
static void draw_write(struct bench *t, uint32_t n)
{
    t->line_of[n] = below(&t->random, LINES);
    t->id_of[n] = t->line_of[n] % IDS;
}

static void offer(struct bench *t)
{
    struct tern_dram_in *in = &t->in;
    if (!in->arvalid && t->ars < READS && go(&t->random, &t->ar)) {
        in->arvalid = true;
        in->arid = (uint8_t)below(&t->random, IDS);
        in->araddr = (uint64_t)below(&t->random, LINES) * LINE;
    }
    if (!in->awvalid && t->aws < WRITES && go(&t->random, &t->aw)) {
        in->awvalid = true;
        in->awid = (uint8_t)t->id_of[t->aws];
        in->awaddr = (uint64_t)t->line_of[t->aws] * LINE;
    }
    if (!in->wvalid && t->ws < WRITES && go(&t->random, &t->w)) {
        in->wvalid = true;
        in->wstrb = UINT64_MAX;
        for (uint32_t i = 0; i < 16; i++) {
            t->wdata[i] = t->ws + 1;
        }
        in->wdata = t->wdata;
    }
    in->rready = go(&t->random, &t->r);
    in->bready = go(&t->random, &t->b);
}

/** Checks that an answer does not change until it is accepted. */
static void hold(struct bench *t, const struct tern_dram_out *o)
{
    if (t->r_held) {
        assert_true(o->rvalid && o->rid == t->before.rid && o->rresp == t->before.rresp);
        assert_memory_equal(o->rdata, t->rdata_before, LINE);
    }
    if (t->b_held) {
        assert_true(o->bvalid && o->bid == t->before.bid && o->bresp == t->before.bresp);
    }
    t->before = *o;
    t->r_held = o->rvalid && !t->in.rready;
    t->b_held = o->bvalid && !t->in.bready;
    if (o->rvalid) {
        memcpy(t->rdata_before, o->rdata, LINE);
    }
}

static void take_answers(struct bench *t, const struct tern_dram_out *o)
{
    if (o->bvalid && t->in.bready) {
        uint32_t n = t->next_b[o->bid];
        while (n < t->aws && t->id_of[n] != o->bid) {
            n++;
        }
        if (n >= t->aws || n >= t->ws) {
            fail_msg("an answer to a write that was not asked for");
        }
        t->next_b[o->bid] = n + 1;
        t->value[t->line_of[n]] = n + 1;
        t->bs++;
    }
    if (o->rvalid && t->in.rready) {
        uint32_t id = o->rid, k = t->read_out[id];
        if (k >= t->read_in[id]) {
            fail_msg("an answer to a read that was not asked for");
        }
        /* the contents of the line at the request, or a write that was issued by then */
        uint32_t line = t->read_line[id][k];
        assert_in_range(o->rdata[0], t->read_low[id][k], t->issued[line]);
        assert_true(o->rdata[0] == 0 || t->line_of[o->rdata[0] - 1] == line);
        t->read_out[id]++;
        t->rs++;
    }
}

static void take_requests(struct bench *t, const struct tern_dram_out *o)
{
    struct tern_dram_in *in = &t->in;
    t->pushed_back += (in->arvalid && !o->arready) || (in->awvalid && !o->awready) || (in->wvalid && !o->wready);
    if (in->arvalid && o->arready) {
        uint32_t line = (uint32_t)(in->araddr / LINE), k = t->read_in[in->arid]++;
        t->read_line[in->arid][k] = line;
        t->read_low[in->arid][k] = t->value[line];
        t->ars++;
        in->arvalid = false;
    }
    if (in->awvalid && o->awready) {
        t->issued[t->line_of[t->aws]] = t->aws + 1;
        t->aws++;
        in->awvalid = false;
    }
    if (in->wvalid && o->wready) {
        t->ws++;
        in->wvalid = false;
    }
}

static void limits(struct bench *t)
{
    uint32_t reads = t->ars - t->rs, writes = t->aws - t->bs, ahead = t->ws > t->aws ? t->ws - t->aws : 0;
    assert_in_range(reads, 0, t->config.reads);
    assert_in_range(writes, 0, t->config.writes);
    assert_in_range(ahead, 0, t->config.ahead);
    t->most_reads = reads > t->most_reads ? reads : t->most_reads;
    t->most_writes = writes > t->most_writes ? writes : t->most_writes;
    t->most_ahead = ahead > t->most_ahead ? ahead : t->most_ahead;
}

static void run(struct bench *t, uint64_t seed)
{
    assert_int_equal(tern_dram_create(&t->config, &t->d), 0);
    for (uint32_t n = 0; n < WRITES; n++) {
        draw_write(t, n);
    }
    uint32_t cycle = 0;
    for (; t->bs < WRITES || t->rs < READS; cycle++) {
        if (cycle == LIMIT) {
            fail_msg("no end after %u cycles: %u addresses, %u data, %u answers of writes, %u, %u of reads; "
                     "again: SEED=%llu", cycle, t->aws, t->ws, t->bs, t->ars, t->rs, (unsigned long long)seed);
        }
        const struct tern_dram_out o = *tern_dram_out(t->d);
        offer(t);
        hold(t, &o);
        take_answers(t, &o);
        struct tern_dram_in in = t->in;
        take_requests(t, &o);
        limits(t);
        tern_dram_clock(t->d, &in);
    }
    assert_true(tern_dram_idle(t->d));
    for (uint32_t l = 0; l < LINES; l++) {
        uint32_t line[16];
        assert_int_equal(tern_dram_read(t->d, (uint64_t)l * LINE, line, sizeof line), 0);
        if (line[0] != t->issued[l] || line[15] != t->issued[l]) {
            fail_msg("line %u holds write %u, not %u; again: SEED=%llu", l, line[0], t->issued[l],
                     (unsigned long long)seed);
        }
    }
    tern_dram_destroy(t->d);
}

static void random_case(uint64_t seed, struct bench *t)
{
    memset(t, 0, sizeof *t);
    t->random.state = seed * 0x9e3779b97f4a7c15ull + 1;
    struct rng *r = &t->random;
    static const uint32_t outstanding[] = {1, 2, 3, 8, 16, 64, 255, 256};
    static const uint32_t busy[] = {16, 64, 128, 250, 256};
    t->config = (struct tern_dram_config){
        .bytes = LINES * LINE, .latency = 1 + below(r, 90), .bandwidth = 64u >> below(r, 3),
        .reads = outstanding[below(r, 8)], .writes = outstanding[below(r, 8)], .ahead = below(r, TERN_DRAM_AHEAD + 1),
        .stall = below(r, 2) * below(r, 240), .reorder = below(r, 2) * seed};
    if (below(r, 2)) {
        t->config.refresh = 200 + below(r, 1000);
        t->config.refresh_cycles = below(r, 190);
    }
    struct pace *paces[] = {&t->ar, &t->aw, &t->w, &t->r, &t->b};
    for (uint32_t i = 0; i < 5; i++) {
        paces[i]->busy = busy[below(r, 5)];
    }
}

static void test_random(void **state)
{
    (void)state;
    const char *only = getenv("SEED");
    uint64_t first = only ? strtoull(only, NULL, 10) : 1, last = only ? first : 60, pushed_back = 0;
    struct bench *t = malloc(sizeof *t);
    uint32_t full_reads = 0, full_writes = 0, full_ahead = 0;
    assert_non_null(t);
    for (uint64_t seed = first; seed <= last; seed++) {
        random_case(seed, t);
        run(t, seed);
        pushed_back += t->pushed_back;
        full_reads += t->most_reads == t->config.reads;
        full_writes += t->most_writes == t->config.writes;
        full_ahead += t->config.ahead && t->most_ahead == t->config.ahead;
    }
    free(t);
    if (!only) { /* all seeds together must reach back-pressure and the limits */
        assert_true(pushed_back > 10000 && full_reads > 20 && full_writes > 20 && full_ahead > 20);
    }
}

/** While 256 writes wait for their answers, data come before the address of one more. No other write may get the
 *  data. */
static void test_data_first_when_full(void **state)
{
    (void)state;
    struct bench *t = calloc(1, sizeof *t);
    assert_non_null(t);
    t->random.state = 5;
    t->config = (struct tern_dram_config){
        .bytes = LINES * LINE, .latency = 60, .bandwidth = 64, .reads = 256, .writes = 256, .ahead = 1};
    t->aw = (struct pace){.busy = 16};
    t->w = (struct pace){.busy = 256};
    t->b = (struct pace){.busy = 4};
    t->ar = t->r = (struct pace){.busy = 256};
    run(t, 0);
    assert_true(t->most_ahead == 1 && t->most_writes == 256);
    free(t);
}

static struct tern_dram_config setting(const struct tern_sim_config *sim)
{
    struct tern_dram_config c;
    assert_int_equal(tern_dram_configure(sim, &c), 0);
    return c;
}

static void test_settings(void **state)
{
    (void)state;
    struct tern_dram_config ideal = setting(NULL);
    struct tern_dram_config hbm = setting(&(struct tern_sim_config){.memory = TERN_SIM_MEMORY_HBM});
    assert_true(ideal.latency == 60 && ideal.bandwidth == 64 && ideal.reads == 256 && ideal.writes == 256);
    assert_true(!ideal.refresh && !ideal.stall);
    assert_true(hbm.bandwidth < 64 && hbm.reads == 64 && hbm.refresh == 975 && hbm.bytes == ideal.bytes);
    const struct tern_sim_config numbers = {
        .memory = TERN_SIM_MEMORY_DDR4, .mem_bytes = 1u << 20, .dram_latency = 1, .dram_bandwidth = 2, .dram_reads = 3,
        .dram_writes = 4, .dram_refresh = 600, .dram_refresh_cycles = 5, .dram_stall = 7, .dram_reorder_seed = 8};
    struct tern_dram_config c = setting(&numbers);
    assert_true(c.bytes == 1u << 20 && c.latency == 1 && c.bandwidth == 2 && c.reads == 3 && c.writes == 4);
    assert_true(c.refresh == 600 && c.refresh_cycles == 5 && c.stall == 7 && c.reorder == 8);
    assert_int_equal(tern_dram_configure(&(struct tern_sim_config){.memory = TERN_SIM_MEMORIES}, &c), -EINVAL);
    for (uint32_t m = 0; m < TERN_SIM_MEMORIES; m++) {
        struct tern_dram *d = NULL;
        c = setting(&(struct tern_sim_config){.memory = m, .mem_bytes = 1u << 20});
        assert_int_equal(tern_dram_create(&c, &d), 0);
        tern_dram_destroy(d);
    }
}

/** The bandwidth of a stream of reads for each memory, in lines per 1,000 cycles: that of the bus without refreshes. */
static void test_setting_bandwidth(void **state)
{
    (void)state;
    static const uint32_t expected[TERN_SIM_MEMORIES][2] = {{990, 1000}, {770, 790}, {900, 940}};
    for (uint32_t m = 0; m < TERN_SIM_MEMORIES; m++) {
        struct tern_dram *d = NULL;
        struct tern_dram_config c = setting(&(struct tern_sim_config){.memory = m, .mem_bytes = 1u << 20});
        assert_int_equal(tern_dram_create(&c, &d), 0);
        uint32_t answers = 0;
        struct tern_dram_in in = {.arvalid = true, .rready = true};
        for (uint32_t cycle = 0; cycle < 23400; cycle++) {
            answers += tern_dram_out(d)->rvalid;
            tern_dram_clock(d, &in);
        }
        assert_in_range(answers * 1000 / 23400, expected[m][0], expected[m][1]);
        tern_dram_destroy(d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random), cmocka_unit_test(test_data_first_when_full),
        cmocka_unit_test(test_settings), cmocka_unit_test(test_setting_bandwidth),
    };
    return cmocka_run_group_tests_name("dram_port", tests, NULL, NULL) ? 1 : 0;
}
