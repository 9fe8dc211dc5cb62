/* SPDX-License-Identifier: Apache-2.0 */
/** The checks of the AXI port: correct traffic breaks no rule, and each broken rule is reported in its cycle. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "port.h"

struct bench {
    struct tern_port port;
    struct tern_dram_out out;
    struct tern_dram_in in;
    struct tern_port_burst ar, aw;
    bool last;
    uint32_t wdata[16];
};

static int setup(void **state)
{
    static struct bench b;
    b = (struct bench){.ar = {0, 6, 1}, .aw = {0, 6, 1}, .last = true};
    b.in.wdata = b.wdata;
    *state = &b;
    return 0;
}

static const char *edge(struct bench *b)
{
    return tern_port_clock(&b->port, &b->out, &b->in, &b->ar, &b->aw, b->last);
}

/** Runs a clock edge, and expects that it breaks this rule; NULL: none. */
static void expect(struct bench *b, const char *rule)
{
    const char *got = edge(b);
    if (rule && got) {
        assert_string_equal(got, rule);
    } else if (rule != got) {
        fail_msg("%s, expected %s", got ? got : "no rule was broken", rule ? rule : "none");
    }
}

static void test_clean(void **state)
{
    struct bench *b = *state;
    b->in = (struct tern_dram_in){.arvalid = true, .awvalid = true, .wvalid = true, .arid = 63, .awid = 15,
                                  .araddr = 4096 - 64,
                                  .awaddr = 64, .wstrb = 3, .wdata = b->wdata, .rready = true, .bready = true};
    expect(b, NULL); /* all channels are stalled */
    expect(b, NULL);
    b->out.arready = b->out.wready = true;
    expect(b, NULL); /* AR and W are accepted */
    b->in.wvalid = false;
    b->in.araddr = 8192; /* the next read */
    b->out.awready = true;
    expect(b, NULL);
    b->in.arvalid = b->in.awvalid = false;
    b->out.rvalid = b->out.bvalid = true;
    b->out.rid = 63;
    b->out.bid = 15;
    expect(b, NULL);
    b->out.bvalid = false;
    expect(b, NULL); /* the second read of this id */
    b->out.rvalid = false;
    expect(b, NULL);
}

static void test_addresses(void **state)
{
    static const struct {
        uint64_t address;
        struct tern_port_burst burst;
        const char *rule;
    } bad[] = {
        {0, {0, 6, 0}, "burst_is_incr"},   {0, {0, 6, 2}, "burst_is_incr"},      {0, {0, 5, 1}, "size_is_full_width"},
        {32, {0, 6, 1}, "address_is_aligned"}, {1, {0, 6, 1}, "address_is_aligned"},
        {4096 - 64, {1, 6, 1}, "within_4_kib"},
        {0, {255, 6, 1}, "within_4_kib"},  {0, {1, 6, 1}, "one_beat"},
    };
    for (unsigned i = 0; i < 2 * sizeof bad / sizeof bad[0]; i++) {
        struct bench *b = *state;
        setup(state);
        unsigned k = i / 2;
        if (i % 2) {
            b->in.arvalid = true;
            b->in.araddr = bad[k].address;
            b->ar = bad[k].burst;
        } else {
            b->in.awvalid = true;
            b->in.awaddr = bad[k].address;
            b->aw = bad[k].burst;
        }
        expect(b, bad[k].rule);
    }
}

/** Changes one signal while all three channels are stalled. */
static void stalled(void **state, unsigned what, const char *rule)
{
    struct bench *b = *state;
    setup(state);
    b->in.arvalid = b->in.awvalid = b->in.wvalid = true;
    expect(b, NULL);
    expect(b, NULL);
    switch (what) {
    case 0: b->in.arvalid = false; break;
    case 1: b->in.arid++; break;
    case 2: b->in.araddr += 64; break;
    case 3: b->in.awvalid = false; break;
    case 4: b->in.awid++; break;
    case 5: b->in.awaddr += 64; break;
    case 6: b->in.wvalid = false; break;
    case 7: b->in.wstrb = 1; break;
    case 8: b->wdata[15] = 1; break;
    default: b->last = false; break;
    }
    b->out.arready = b->out.awready = b->out.wready = true; /* the rule is broken even with a handshake in this cycle */
    expect(b, rule);
}

static void test_stalled(void **state)
{
    static const char *const rules[] = {"arvalid_stays", "ar_payload_stays", "ar_payload_stays", "awvalid_stays",
                                        "aw_payload_stays",
        "aw_payload_stays", "wvalid_stays", "w_payload_stays", "w_payload_stays", "w_payload_stays"};
    for (unsigned i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        stalled(state, i, rules[i]);
    }
}

static void test_last(void **state)
{
    struct bench *b = *state;
    b->in.wvalid = true;
    b->last = false;
    expect(b, "wlast_on_the_last_beat");
}

static void test_answers(void **state)
{
    struct bench *b = *state;
    b->in.arvalid = b->in.awvalid = b->in.rready = b->in.bready = true;
    b->in.arid = 5;
    b->in.awid = 6;
    b->out.arready = b->out.awready = true;
    b->out.rvalid = true;
    b->out.rid = 5;
    expect(b, "answer_to_a_read"); /* in the cycle of its request */
    b->out.rvalid = false;
    expect(b, NULL);
    b->in.arvalid = b->in.awvalid = false;
    b->out.rvalid = true;
    expect(b, NULL);
    expect(b, "answer_to_a_read"); /* a second time */
    b->out.rvalid = false;
    b->out.bvalid = true;
    b->out.bid = 5;
    expect(b, "answer_to_a_write"); /* with another id */
    b->out.bid = 6;
    expect(b, NULL);
    expect(b, "answer_to_a_write");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_clean, setup),   cmocka_unit_test_setup(test_addresses, setup),
        cmocka_unit_test_setup(test_stalled, setup), cmocka_unit_test_setup(test_last, setup),
        cmocka_unit_test_setup(test_answers, setup),
    };
    return cmocka_run_group_tests_name("port", tests, NULL, NULL) ? 1 : 0;
}
