/* SPDX-License-Identifier: Apache-2.0 */
/** Tests of the memory model alone: data, timing, order and errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dram.h"

#define LINE 64u
#define MANY 10000u

static struct tern_dram *create(struct tern_dram_config c)
{
    struct tern_dram *d = NULL;
    c.reads = c.reads ? c.reads : 256;
    c.writes = c.writes ? c.writes : 256;
    c.ahead = 1;
    assert_int_equal(tern_dram_create(&c, &d), 0);
    return d;
}

/** Writes a line and waits for its answer. Returns the cycles taken. */
static unsigned write_line(struct tern_dram *d, uint64_t address, uint64_t strobe, uint8_t value, uint8_t *resp)
{
    uint32_t data[16];
    memset(data, value, sizeof data);
    struct tern_dram_in in = {.awvalid = true, .wvalid = true, .bready = true, .awid = 3, .awaddr = address,
                              .wstrb = strobe, .wdata = data};
    for (unsigned n = 1; n < MANY; n++) {
        const struct tern_dram_out *o = tern_dram_out(d);
        bool aw = in.awvalid && o->awready, w = in.wvalid && o->wready, b = o->bvalid;
        if (b) {
            assert_int_equal(o->bid, 3);
            *resp = o->bresp;
        }
        tern_dram_clock(d, &in);
        in.awvalid = in.awvalid && !aw;
        in.wvalid = in.wvalid && !w;
        if (b) {
            return n;
        }
    }
    fail_msg("no answer to a write");
    return 0;
}

/** Reads n lines from address on, line i with id i % ids, as fast as the memory accepts them. Returns the cycles from
 *  the first request to the last answer. order[i] is the line of the i-th answer, which its first byte names. */
static unsigned read_lines(struct tern_dram *d, uint64_t address, unsigned n, unsigned ids, uint8_t *order,
                           uint8_t *resp)
{
    unsigned asked = 0, got = 0;
    uint8_t next_of_id[64] = {0};
    for (unsigned cycle = 1; cycle < MANY; cycle++) {
        const struct tern_dram_out *o = tern_dram_out(d);
        struct tern_dram_in in = {.arvalid = asked < n, .rready = true, .arid = (uint8_t)(asked % ids),
                                  .araddr = address + (uint64_t)asked * LINE};
        asked += in.arvalid && o->arready;
        if (o->rvalid) {
            order[got] = (uint8_t)o->rdata[0];
            *resp |= o->rresp;
            assert_true(order[got] >= next_of_id[o->rid]); /* answers of an id keep their order */
            next_of_id[o->rid] = order[got++];
        }
        tern_dram_clock(d, &in);
        if (got == n) {
            assert_true(tern_dram_idle(d));
            return cycle;
        }
    }
    fail_msg("no answer to a read");
    return 0;
}

static void number_lines(struct tern_dram *d, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        uint8_t line[LINE];
        memset(line, (int)i, sizeof line);
        assert_int_equal(tern_dram_write(d, (uint64_t)i * LINE, line, sizeof line), 0);
    }
}

static void test_write_and_read(void **state)
{
    (void)state;
    struct tern_dram *d = create((struct tern_dram_config){.bytes = 1u << 20, .latency = 60, .bandwidth = 64});
    uint8_t resp = 9, got = 0, line[LINE];
    write_line(d, 4096, UINT64_MAX, 0x11, &resp);
    assert_int_equal(resp, 0);
    write_line(d, 4096, 0xff00, 0x22, &resp); /* bytes 8 to 15 */
    assert_int_equal(tern_dram_read(d, 4096, line, sizeof line), 0);
    for (unsigned i = 0; i < LINE; i++) {
        assert_int_equal(line[i], i >= 8 && i < 16 ? 0x22 : 0x11);
    }
    resp = 0;
    unsigned cycles = read_lines(d, 4096, 1, 1, &got, &resp);
    assert_int_equal(got, 0x11);
    assert_in_range(cycles, 60, 64);
    assert_int_equal(tern_dram_read(d, (1u << 20) - 8, line, 16), -14); /* -EFAULT */
    tern_dram_destroy(d);
}

static void test_bandwidth(void **state)
{
    (void)state;
    uint8_t order[200], resp = 0;
    static const uint32_t bandwidth[] = {64, 32, 16};
    for (unsigned i = 0; i < 3; i++) {
        struct tern_dram *d = create((struct tern_dram_config){.bytes = 1u << 20, .latency = 60,
                                                               .bandwidth = bandwidth[i]});
        number_lines(d, 200);
        unsigned cycles = read_lines(d, 0, 200, 1, order, &resp);
        unsigned bus = 200 * LINE / bandwidth[i];
        assert_in_range(cycles, bus + 55, bus + 70);
        for (unsigned k = 0; k < 200; k++) {
            assert_int_equal(order[k], k);
        }
        tern_dram_destroy(d);
    }
}

static void test_reorder(void **state)
{
    (void)state;
    uint8_t order[200], again[200], resp = 0;
    struct tern_dram_config c = {.bytes = 1u << 20, .latency = 60, .bandwidth = 64, .reorder = 7};
    unsigned moved = 0;
    for (int round = 0; round < 2; round++) {
        struct tern_dram *d = create(c);
        number_lines(d, 200);
        read_lines(d, 0, 200, 16, round ? again : order, &resp);
        tern_dram_destroy(d);
    }
    assert_memory_equal(order, again, sizeof order); /* the same seed gives the same order */
    for (unsigned k = 0; k < 200; k++) {
        moved += order[k] != k;
    }
    assert_true(moved > 20);
}

static void test_errors(void **state)
{
    (void)state;
    struct tern_dram *d = create((struct tern_dram_config){
        .bytes = 1u << 20, .latency = 10, .bandwidth = 64, .error_base = 8192, .error_bytes = 4096});
    uint8_t resp = 0, order[2], before[LINE] = {0}, after[LINE];
    write_line(d, 8192, UINT64_MAX, 0x55, &resp);
    assert_int_equal(resp, 2);
    assert_int_equal(tern_dram_read(d, 8192, after, sizeof after), 0);
    assert_memory_equal(before, after, sizeof after); /* a refused write has no effect */
    resp = 0;
    read_lines(d, 8192, 1, 1, order, &resp);
    assert_int_equal(resp, 2);
    resp = 0;
    read_lines(d, 8192 + 4096, 1, 1, order, &resp);
    assert_int_equal(resp, 0);
    tern_dram_destroy(d);
}

/** The first contents of each page are noise. A write changes its own bytes and no others. */
static void test_old_contents(void **state)
{
    (void)state;
    struct tern_dram *d = create((struct tern_dram_config){.bytes = 40u << 20, .latency = 1, .bandwidth = 64,
                                                           .old_contents = true});
    uint8_t a[LINE], b[LINE], none[LINE] = {0};
    assert_int_equal(tern_dram_read(d, (40u << 20) - LINE, a, LINE), 0);
    assert_memory_not_equal(a, none, LINE);
    assert_int_equal(tern_dram_read(d, 0, a, LINE), 0);
    assert_int_equal(tern_dram_write(d, 16u << 20, none, LINE), 0);
    assert_int_equal(tern_dram_read(d, 0, b, LINE), 0);
    assert_memory_equal(a, b, LINE);
    assert_int_equal(tern_dram_read(d, 16u << 20, b, LINE), 0);
    assert_memory_equal(b, none, LINE);
    tern_dram_destroy(d);
}

/* Ports of one memory see each other's writes. Each port has transfers of its own, at the rate of a single port. */
static void test_ports(void **state)
{
    (void)state;
    const struct tern_dram_config c = {.bytes = 1u << 20, .latency = 60, .bandwidth = 16};
    struct tern_dram *port[3] = {create(c)};
    for (unsigned i = 1; i < 3; i++) {
        assert_int_equal(tern_dram_join(port[0], &port[i]), 0);
    }
    number_lines(port[2], 100);
    uint8_t order[3][100], resp = 0;
    const unsigned cycles = read_lines(port[0], 0, 100, 64, order[0], &resp);
    for (unsigned i = 1; i < 3; i++) {
        assert_int_equal(read_lines(port[i], 0, 100, 64, order[i], &resp), cycles);
        assert_memory_equal(order[i], order[0], sizeof order[0]);
        assert_true(tern_dram_idle(port[0]));
    }
    write_line(port[1], 4096, UINT64_MAX, 0x77, &resp);
    assert_int_equal(resp, 0);
    read_lines(port[2], 4096, 1, 1, order[0], &resp);
    assert_int_equal(order[0][0], 0x77);
    for (unsigned i = 3; i-- > 0;) { /* the port that the others have joined is destroyed last */
        tern_dram_destroy(port[i]);
    }
}

static void test_bad_configuration(void **state)
{
    (void)state;
    struct tern_dram *d = NULL;
    static const struct tern_dram_config bad[] = {
        {.bytes = 100, .latency = 60, .bandwidth = 64, .reads = 1, .writes = 1},
        {.bytes = 4096, .latency = 60, .bandwidth = 0, .reads = 1, .writes = 1},
        {.bytes = 4096, .latency = 60, .bandwidth = 65, .reads = 1, .writes = 1},
        {.bytes = 4096, .latency = 60, .bandwidth = 64, .reads = 0, .writes = 1},
        {.bytes = 4096, .latency = 60, .bandwidth = 64, .reads = 1, .writes = 257},
        {.bytes = 4096, .latency = 60, .bandwidth = 64, .reads = 1, .writes = 1, .ahead = 17},
        {.bytes = 4096, .latency = 60, .bandwidth = 64, .reads = 1, .writes = 1, .stall = 256},
        {.bytes = 4096, .latency = 60, .bandwidth = 64, .reads = 1, .writes = 1, .refresh = 100, .refresh_cycles = 100},
        {.bytes = 4096, .latency = 60, .bandwidth = 64, .reads = 1, .writes = 1, .refresh_cycles = 100},
    };
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(tern_dram_create(&bad[i], &d), -22); /* -EINVAL */
        assert_null(d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_write_and_read), cmocka_unit_test(test_bandwidth),        cmocka_unit_test(test_reorder),
        cmocka_unit_test(test_errors),         cmocka_unit_test(test_bad_configuration),
        cmocka_unit_test(test_old_contents),   cmocka_unit_test(test_ports),
    };
    return cmocka_run_group_tests_name("dram", tests, NULL, NULL) ? 1 : 0;
}
