/* SPDX-License-Identifier: Apache-2.0 */
/** What can be opened, and how precisely a wrong request is told. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hal/config.h"
#include "tern/tern.h"
#include "tern_sim/tern_sim.h"

static int clean(void **state)
{
    (void)state;
    unsetenv("TERN_BACKEND");
    unsetenv("TERN_CONFIG");
    unsetenv("TERN_TIMEOUT_CYCLES");
    unsetenv("TERN_LIMIT_CYCLES");
    return 0;
}

static void test_defaults(void **state)
{
    (void)state;
    struct tern_config c;
    assert_int_equal(tern_config_parse(NULL, NULL, &c), 0);
    assert_string_equal(c.backend, "rtl");
    assert_string_equal(c.geometry, "default");
    assert_string_equal(c.text, "default");
    assert_true(c.timeout == 0 && c.slow);
    assert_true(c.quantum == 0 && c.grace == 0 && c.preempt == 0 && c.depth == 2 && !c.realtime);
    assert_true(c.mem_bytes == 0 && c.dram_latency == 0 && c.dram_bandwidth == 0 && !c.trace[0]);
    assert_int_equal(tern_config_parse("model", NULL, &c), 0);
    assert_true(c.timeout == 0 && !c.slow);
}

static void test_all_keys(void **state)
{
    (void)state;
    struct tern_config c;
    const char *text = "small,mem=64M,dram_latency=100,dram_bandwidth=16,timeout=1M,trace=/tmp/a.fst";
    assert_int_equal(tern_config_parse("model", text, &c), 0);
    assert_string_equal(c.backend, "model");
    assert_string_equal(c.geometry, "small");
    assert_true(c.mem_bytes == 64u << 20 && c.dram_latency == 100 && c.dram_bandwidth == 16 && c.timeout == 1u << 20);
    assert_string_equal(c.trace, "/tmp/a.fst");
    assert_int_equal(tern_config_parse("model", "default,quantum=2M,grace=1000,preempt=10K,depth=1,realtime=1", &c), 0);
    assert_true(c.quantum == 2u << 20 && c.grace == 1000 && c.preempt == 10240 && c.depth == 1 && c.realtime);
    assert_int_equal(tern_config_parse("rtl", "small,memory=hbm", &c), 0);
    assert_true(c.memory == TERN_SIM_MEMORY_HBM && !c.dram_latency && !c.dram_refresh);
    assert_int_equal(tern_config_parse("rtl", "small,dram_reads=256,dram_writes=8,memory=ddr4,dram_refresh=5000,"
                                              "dram_refresh_cycles=7,dram_stall=128", &c), 0);
    assert_true(c.memory == TERN_SIM_MEMORY_DDR4 && c.dram_reads == 256 && c.dram_writes == 8 &&
                c.dram_refresh == 5000 && c.dram_refresh_cycles == 7 && c.dram_stall == 128);
    assert_int_equal(tern_config_parse("rtl", "small,memory=hbm,dram_refresh=5000", &c), 0); /* its own cycles */
    assert_int_equal(tern_config_parse("model", text, &c), 0);
    assert_int_equal(strlen(c.text), strlen(text) < sizeof c.text ? strlen(text) : sizeof c.text - 1);
}

static void test_environment(void **state)
{
    (void)state;
    struct tern_config c;
    setenv("TERN_BACKEND", "model", 1);
    setenv("TERN_CONFIG", "small,mem=1G", 1);
    setenv("TERN_TIMEOUT_CYCLES", "5000", 1);
    setenv("TERN_LIMIT_CYCLES", "2M", 1);
    assert_int_equal(tern_config_parse(NULL, NULL, &c), 0);
    assert_string_equal(c.backend, "model");
    assert_true(c.mem_bytes == 1u << 30 && c.timeout == 5000 && c.limit == 2u << 20);
    assert_int_equal(tern_config_parse("rtl", "default,timeout=6000,limit=7000", &c), 0); /* arguments and keys win */
    assert_string_equal(c.backend, "rtl");
    assert_true(c.timeout == 6000 && c.limit == 7000);
}

static void test_errors(void **state)
{
    (void)state;
    const struct {
        const char *backend, *config, *says;
    } bad[] = {
        {"fpga", NULL, "'fpga'"},
        {"rtl", "big", "'big'"},
        {"rtl", "default,memories=1", "'memories'"},
        {"rtl", "default,memory=1", "'1' is none of ideal, hbm and ddr4"},
        {"rtl", "default,memory=", "ideal, hbm and ddr4"},
        {"rtl", "default,memory=HBM", "'HBM'"},
        {"rtl", "default,dram_reads=0", "1 to 256"},
        {"rtl", "default,dram_writes=257", "1 to 256"},
        {"rtl", "default,dram_refresh=999", "'dram_refresh'"},
        {"rtl", "default,dram_refresh=2000", "belong together"},
        {"rtl", "default,dram_refresh_cycles=100", "belong together"},
        {"rtl", "default,dram_refresh_cycles=1000", "1 to 999"},
        {"rtl", "default,dram_stall=256", "0 to 255"},
        {"rtl", "default,mem", "key=value"},
        {"rtl", "default,mem=", "not a number"},
        {"rtl", "default,mem=12x", "'12x'"},
        {"rtl", "default,mem=-5", "'-5'"},
        {"rtl", "default,mem=1048577", "4096"},
        {"rtl", "default,mem=32G", "out of range"},
        {"rtl", "default,mem=99999999999999999999", "out of range"},
        {"rtl", "default,mem=18014398509481985K", "out of range"},
        {"rtl", "default,dram_latency=0", "dram_latency"},
        {"rtl", "default,dram_latency=1K", "'1K'"},
        {"rtl", "default,dram_bandwidth=65", "1 to 64"},
        {"rtl", "default,timeout=10", "out of range"},
        {"rtl", "default,trace=", "file name"},
        {"rtl", "default,quantum=99", "'quantum'"},
        {"rtl", "default,grace=0", "'grace'"},
        {"rtl", "default,preempt=soon", "'preempt'"},
        {"rtl", "default,depth=3", "1 to 2"},
        {"rtl", "default,depth=1K", "'1K'"},
        {"rtl", "default,realtime=yes", "'realtime'"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct tern_config c = {.timeout = 42};
        assert_int_equal(tern_config_parse(bad[i].backend, bad[i].config, &c), -EINVAL);
        if (!strstr(tern_last_error(), bad[i].says)) {
            fail_msg("'%s' does not say %s", tern_last_error(), bad[i].says);
        }
        assert_true(c.timeout == 42); /* untouched */
    }
    setenv("TERN_TIMEOUT_CYCLES", "soon", 1);
    struct tern_config c;
    assert_int_equal(tern_config_parse(NULL, NULL, &c), -EINVAL);
    assert_non_null(strstr(tern_last_error(), "TERN_TIMEOUT_CYCLES"));
}

/** Each number, at both ends of its range, is taken as it is, and refused one beyond; what it means then
 * works (driver.sched_limits). */
static void test_ranges(void **state)
{
    (void)state;
    const struct {
        const char *key;
        uint64_t low, high;
        size_t offset, size;
    } keys[] = {
#define RANGE(name, low, high) {#name, low, high, offsetof(struct tern_config, name), \
                                sizeof((struct tern_config *)0)->name}
        RANGE(timeout, 1000, 1ull << 62), RANGE(limit, 1000, 1ull << 62), RANGE(quantum, 100, 1ull << 62),
        RANGE(grace, 1, 1ull << 62),      RANGE(preempt, 100, 1ull << 62), RANGE(depth, 1, 2),
        RANGE(realtime, 0, 1),            RANGE(dram_latency, 1, 100000),  RANGE(dram_bandwidth, 1, 64),
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const uint64_t values[] = {keys[i].low, keys[i].high, keys[i].low - 1, keys[i].high + 1, UINT64_MAX};
        for (int j = 0; j < 5; j++) {
            struct tern_config c = {0};
            char text[80];
            uint64_t got = 0;
            if (j == 2 && !keys[i].low) {
                continue;
            }
            snprintf(text, sizeof text, "small,%s=%llu", keys[i].key, (unsigned long long)values[j]);
            assert_int_equal(tern_config_parse("model", text, &c), j < 2 ? 0 : -EINVAL);
            memcpy(&got, (const char *)&c + keys[i].offset, keys[i].size);
            assert_true(j >= 2 || got == values[j]);
        }
    }
}

static void test_missing_library(void **state)
{
    (void)state;
    struct tern_device *dev = (void *)1;
    setenv("TERN_LIB_DIR", "/nonexistent", 1);
    assert_int_equal(tern_device_open("model", "default", &dev), -ENOENT);
    assert_non_null(strstr(tern_last_error(), "libtern_sim_model_default.so"));
    assert_non_null(strstr(tern_last_error(), "/nonexistent"));
    assert_ptr_equal(dev, (void *)1);
    unsetenv("TERN_LIB_DIR");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_defaults, clean), cmocka_unit_test_setup(test_all_keys, clean),
        cmocka_unit_test_setup(test_environment, clean), cmocka_unit_test_setup(test_errors, clean),
        cmocka_unit_test_setup(test_ranges, clean), cmocka_unit_test_setup(test_missing_library, clean),
    };
    return cmocka_run_group_tests_name("config", tests, NULL, NULL);
}
