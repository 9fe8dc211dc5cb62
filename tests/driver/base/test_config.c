/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Configurations of a device: each key at both ends of its range, keys without a geometry, the message for each wrong
 * one, libraries that are missing, and backends that a program registers.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "hal/open/open.h"
#include "os/state/policy.h"
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

struct both {
    struct tern_config device;
    struct tern_policy policy;
};

/** Parses a configuration as tern_device_open does. */
static int parse(const char *backend, const char *config, struct both *out)
{
    struct tern_config *device;
    const int r = tern_policy_parse(backend, config, &out->policy, &device);
    if (!r) {
        out->device = *device;
        free(device);
    }
    return r;
}

static void test_defaults(void **state)
{
    (void)state;
    struct both c;
    assert_int_equal(parse(NULL, NULL, &c), 0);
    assert_string_equal(c.device.backend, "rtl");
    assert_string_equal(c.device.geometry, "default");
    assert_string_equal(c.device.text, "default");
    const struct tern_policy *p = &c.policy;
    assert_true(!p->timeout && !p->limit && !p->quantum && !p->grace && !p->preempt && p->depth == 2 && !p->realtime);
    const struct tern_config *d = &c.device;
    assert_true(!d->mem_bytes && !d->memory && !d->dram_latency && !d->dram_bandwidth && !d->trace[0]);
    assert_int_equal(parse("model", NULL, &c), 0);
    assert_true(c.policy.timeout == 0);
}

static void test_all_keys(void **state)
{
    (void)state;
    struct both c;
    const char *text = "small,mem=64M,dram_latency=100,dram_bandwidth=16,timeout=1M,trace=/tmp/a.fst";
    assert_int_equal(parse("model", text, &c), 0);
    assert_string_equal(c.device.backend, "model");
    assert_string_equal(c.device.geometry, "small");
    assert_true(c.device.mem_bytes == 64u << 20 && c.device.dram_latency == 100 && c.device.dram_bandwidth == 16 &&
                c.policy.timeout == 1u << 20);
    assert_string_equal(c.device.trace, "/tmp/a.fst");
    assert_int_equal(parse("model", "default,quantum=2M,grace=1000,preempt=10K,depth=1,realtime=1", &c), 0);
    assert_true(c.policy.quantum == 2u << 20 && c.policy.grace == 1000 && c.policy.preempt == 10240 &&
                c.policy.depth == 1 && c.policy.realtime);
    assert_int_equal(parse("rtl", "trace=a,b=c.fst", &c), -EINVAL); /* a comma ends a name */
    assert_int_equal(parse("rtl", "trace=a=b.fst", &c), 0); /* keys alone: the geometry is `default` */
    assert_string_equal(c.device.trace, "a=b.fst");
    assert_string_equal(c.device.geometry, "default");
    assert_string_equal(c.device.text, "default,trace=a=b.fst");
    assert_int_equal(parse("model", "depth=1,mem=2M", &c), 0);
    assert_true(c.policy.depth == 1 && c.device.mem_bytes == 2u << 20);
    assert_string_equal(c.device.text, "default,depth=1,mem=2M");
    assert_int_equal(parse("rtl", "small,memory=hbm", &c), 0);
    assert_true(c.device.memory == TERN_SIM_MEMORY_HBM && !c.device.dram_latency && !c.device.dram_refresh);
    assert_int_equal(parse("rtl", "small,dram_reads=256,dram_writes=8,memory=ddr4,dram_refresh=5000,"
                                  "dram_refresh_cycles=7,dram_stall=128", &c), 0);
    assert_true(c.device.memory == TERN_SIM_MEMORY_DDR4 && c.device.dram_reads == 256 && c.device.dram_writes == 8 &&
                c.device.dram_refresh == 5000 && c.device.dram_refresh_cycles == 7 && c.device.dram_stall == 128);
    assert_int_equal(parse("rtl", "small,memory=hbm,dram_refresh=5000", &c), 0); /* with its own refresh period */
    assert_int_equal(parse("model", text, &c), 0);
    const size_t most = sizeof c.device.text - 1, length = strlen(text);
    assert_int_equal(strlen(c.device.text), length < most ? length : most);
}

static void test_environment(void **state)
{
    (void)state;
    struct both c;
    setenv("TERN_BACKEND", "model", 1);
    setenv("TERN_CONFIG", "small,mem=1G", 1);
    setenv("TERN_TIMEOUT_CYCLES", "5000", 1);
    setenv("TERN_LIMIT_CYCLES", "2M", 1);
    assert_int_equal(parse(NULL, NULL, &c), 0);
    assert_string_equal(c.device.backend, "model");
    assert_true(c.device.mem_bytes == 1u << 30 && c.policy.timeout == 5000 && c.policy.limit == 2u << 20);
    assert_int_equal(parse("rtl", "default,timeout=6000,limit=7000", &c), 0); /* override the environment */
    assert_string_equal(c.device.backend, "rtl");
    assert_true(c.policy.timeout == 6000 && c.policy.limit == 7000);
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
        {"rtl", "mem=2M,small", "'small' must stand once, before all keys"},
        {"rtl", "small,default", "'default' must stand once, before all keys"},
        {"rtl", ",mem=2M", "unknown configuration ''; it is default, small, tiny, shell, or"},
        {"rtl", "=2M", "unknown key ''"},
        {"rtl", "speed=1", "unknown key 'speed'"},
        {"rtl", "mem=12x", "'12x'"},
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
        {"rtl", "small,mem=16M,mem=32M", "the key 'mem' is there twice"},
        {"rtl", "mem=16M,mem=16M", "the key 'mem' is there twice"},
        {"rtl", "small,depth=1,,mem=2M,depth=1", "the key 'depth' is there twice"},
        {"rtl", "trace=a,timeout=5000,trace=b", "the key 'trace' is there twice"},
        {"rtl", "memory=hbm,mem=2M,memory=hbm", "the key 'memory' is there twice"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct both c = {.device.memory = 42};
        assert_int_equal(parse(bad[i].backend, bad[i].config, &c), -EINVAL);
        if (!strstr(tern_last_error(), bad[i].says)) {
            fail_msg("'%s' does not say %s", tern_last_error(), bad[i].says);
        }
        assert_true(c.device.memory == 42); /* unchanged */
    }
    static const char *const cycles[] = {"-1", "+1", "1e6", " 5000", "0x1000", "5000 "};
    for (size_t i = 0; i < 2 * sizeof cycles / sizeof *cycles; i++) {
        struct both c;
        char says[80];
        const char *name = i % 2 ? "TERN_LIMIT_CYCLES" : "TERN_TIMEOUT_CYCLES";
        setenv(name, cycles[i / 2], 1);
        snprintf(says, sizeof says, "%s, cycles: '%s' is not a number from 1000 to ", name, cycles[i / 2]);
        assert_int_equal(parse("rtl", NULL, &c), -EINVAL);
        if (!strstr(tern_last_error(), says) || strstr(tern_last_error(), "bytes")) {
            fail_msg("'%s' does not say %s", tern_last_error(), says);
        }
        unsetenv(name);
    }
    setenv("TERN_TIMEOUT_CYCLES", "soon", 1);
    struct both c;
    assert_int_equal(parse(NULL, NULL, &c), -EINVAL);
    assert_non_null(strstr(tern_last_error(), "TERN_TIMEOUT_CYCLES"));
}

/** Both ends of each number's range are accepted with that value, and the values beyond are refused.
 * driver.sched_limits tests what the values do. */
static void test_ranges(void **state)
{
    (void)state;
    const struct {
        const char *key;
        uint64_t low, high;
        size_t offset, size;
    } keys[] = {
#define RANGE(part, name, low, high) {#name, low, high, offsetof(struct both, part.name), \
                                      sizeof((struct both *)0)->part.name}
        RANGE(policy, timeout, 1000, 1ull << 62), RANGE(policy, limit, 1000, 1ull << 62),
        RANGE(policy, quantum, 100, 1ull << 62),  RANGE(policy, grace, 1, 1ull << 62),
        RANGE(policy, preempt, 100, 1ull << 62),  RANGE(policy, depth, 1, 2),
        RANGE(policy, realtime, 0, 1),            RANGE(device, dram_latency, 1, 100000),
        RANGE(device, dram_bandwidth, 1, 64),
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const uint64_t values[] = {keys[i].low, keys[i].high, keys[i].low - 1, keys[i].high + 1, UINT64_MAX};
        for (int j = 0; j < 5; j++) {
            struct both c = {0};
            char text[80];
            uint64_t got = 0;
            if (j == 2 && !keys[i].low) {
                continue;
            }
            snprintf(text, sizeof text, "small,%s=%llu", keys[i].key, (unsigned long long)values[j]);
            assert_int_equal(parse("model", text, &c), j < 2 ? 0 : -EINVAL);
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

/** A hal says whether its device is slow. The driver's time limits follow from that. */
static void test_slow(void **state)
{
    (void)state;
    static const char *const backends[] = {"model", "rtl"};
    unsigned opened = 0;
    for (unsigned i = 0; i < 2; i++) {
        struct both c;
        struct tern_hal *hal;
        assert_int_equal(parse(backends[i], "small", &c), 0);
        const int r = tern_hal_open(&c.device, &hal);
        if (r == -ENOENT) {
            continue; /* not built */
        }
        assert_int_equal(r, 0);
        assert_string_equal(hal->backend, backends[i]);
        assert_string_equal(hal->config, "small");
        assert_int_equal(hal->slow, i == 1);
        hal->ops->close(hal);
        opened++;
    }
    assert_true(opened > 0);
}

#define KNOWN "rtl, model, uart and xrt"
#define KNOWN_TOO "rtl, model, uart, xrt and card"
#define BUILT_IN 4u

static int open_nothing(const struct tern_config *config, struct tern_hal **out)
{
    (void)out;
    return tern_error(-ENODEV, "no card of %u bytes here: %s", (uint32_t)config->mem_bytes, config->text);
}

/** A program's own backend is opened by its name and gets the configuration, without a change of tern.h. */
static void test_backends(void **state)
{
    (void)state;
    static const struct tern_hal_backend card = {"card", open_nothing}, again = {"rtl", open_nothing},
                                         nameless = {"", open_nothing}, endless = {"sixteen_letters_", open_nothing};
    static struct tern_hal_backend more[TERN_HAL_BACKENDS];
    static char names[TERN_HAL_BACKENDS][8];
    struct tern_device *dev = NULL;
    assert_int_equal(tern_device_open("card", "small", &dev), -EINVAL);
    assert_non_null(strstr(tern_last_error(), "'card'; known are " KNOWN));
    assert_int_equal(tern_hal_register(&card), 0);
    assert_int_equal(tern_device_open("card", "small,mem=1M,quantum=200", &dev), -ENODEV);
    assert_string_equal(tern_last_error(), "no card of 1048576 bytes here: small,mem=1M,quantum=200");
    assert_int_equal(tern_device_open("card", "small,quantum=2", &dev), -EINVAL);
    assert_int_equal(tern_hal_register(&again), -EEXIST);
    assert_int_equal(tern_hal_register(&nameless), -EINVAL);
    assert_int_equal(tern_hal_register(&endless), -EINVAL);
    assert_int_equal(tern_device_open("bus", NULL, &dev), -EINVAL);
    assert_non_null(strstr(tern_last_error(), "known are " KNOWN_TOO));
    int r = 0;
    for (unsigned i = 0; !r && i < TERN_HAL_BACKENDS; i++) {
        snprintf(names[i], sizeof names[i], "b%u", i);
        more[i] = (struct tern_hal_backend){names[i], open_nothing};
        r = tern_hal_register(&more[i]);
        assert_int_equal(r, i < TERN_HAL_BACKENDS - BUILT_IN - 1 ? 0 : -ENOSPC);
    }
    assert_int_equal(r, -ENOSPC);
    assert_null(dev);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_defaults, clean), cmocka_unit_test_setup(test_all_keys, clean),
        cmocka_unit_test_setup(test_environment, clean), cmocka_unit_test_setup(test_errors, clean),
        cmocka_unit_test_setup(test_ranges, clean), cmocka_unit_test_setup(test_missing_library, clean),
        cmocka_unit_test_setup(test_slow, clean), cmocka_unit_test_setup(test_backends, clean),
    };
    return cmocka_run_group_tests_name("config", tests, NULL, NULL);
}
