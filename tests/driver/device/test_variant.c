/* SPDX-License-Identifier: Apache-2.0 */
/** Devices that differ from the simulators: a single address space (A2), memory with old contents (A7), another
 * interface, and extreme configurations. */
#include "check.h"
#include "hal/open/open.h"
#include "open_device.h"
#include "os/device/device.h"
#include "work.h"

/** A real hal, of which one register reads differently. */
struct variant {
    struct tern_hal hal, *real;
    uint32_t offset, clear, set;
};

#define REAL(h) (((struct variant *)(void *)(h))->real)

static int variant_read32(struct tern_hal *h, uint32_t offset, uint32_t *value)
{
    struct variant *v = (struct variant *)(void *)h;
    int r = v->real->ops->read32(v->real, offset, value);
    if (!r && offset == v->offset) {
        *value = (*value & ~v->clear) | v->set;
    }
    return r;
}

static int variant_write32(struct tern_hal *h, const struct tern_hal_write *writes, size_t n)
{
    return REAL(h)->ops->write32(REAL(h), writes, n);
}

static int variant_mem_read(struct tern_hal *h, uint64_t address, void *data, size_t size)
{
    return REAL(h)->ops->mem_read(REAL(h), address, data, size);
}

static int variant_mem_write(struct tern_hal *h, const struct tern_iovec *pieces, size_t n)
{
    return REAL(h)->ops->mem_write(REAL(h), pieces, n);
}

static int variant_flush(struct tern_hal *h)
{
    return REAL(h)->ops->flush(REAL(h));
}

static int variant_wait(struct tern_hal *h, uint64_t cycles)
{
    return REAL(h)->ops->wait(REAL(h), cycles);
}

static void variant_close(struct tern_hal *h)
{
    REAL(h)->ops->close(REAL(h));
}

static const struct tern_hal_ops ops = {
    .read32 = variant_read32, .write32 = variant_write32, .mem_read = variant_mem_read, .mem_write = variant_mem_write,
    .flush = variant_flush, .wait = variant_wait, .close = variant_close};
static struct variant v;
static struct tern_policy policy;

static void make(uint32_t offset, uint32_t clear, uint32_t set)
{
    struct tern_config *config;
    v = (struct variant){.hal = {.ops = &ops}, .offset = offset, .clear = clear, .set = set};
    ok(tern_policy_parse(NULL, "small,mem=16M", &policy, &config));
    ok_or_skip(tern_hal_open(config, &v.real));
    free(config);
}

static void test_single_use(void **state)
{
    (void)state;
    struct tern_device *dev;
    struct tern_process *p, *q = NULL;
    struct tern_device_info info = {.size = sizeof info};
    make(TERN_REG_DEV_CONFIG1, 0, TERN_DEV_CONFIG1_SINGLE_USE_MASK);
    ok(tern_device_open_hal(&v.hal, &policy, &dev));
    tern_device_query(dev, &info);
    assert_true(info.single_use);
    ok(tern_process_create(dev, "first", &p));
    assert_int_equal(tern_process_create(dev, "second", &q), -EBUSY);
    assert_non_null(strstr(tern_last_error(), "one address space"));
    assert_null(q);
    ok(tern_process_destroy(p));
    ok(tern_process_create(dev, "second", &q)); /* the address space is free again */
    ok(tern_process_destroy(q));
    ok(tern_device_close(dev));
}

static void test_memory_with_old_contents(void **state)
{
    (void)state;
    struct tern_device *dev;
    struct tern_process *p;
    struct tern_context *c;
    struct tern_allocation *a, *small;
    struct tern_context_desc d = {.size = sizeof d, .engine = -1};
    static uint8_t old[65536], got[65536], zero[65536];
    static struct work b;
    make(TERN_REG_DEV_CONFIG1, TERN_DEV_CONFIG1_MEM_CLEAR_MASK, 0);
    memset(old, 0x0f, sizeof old); /* read as page-table entries: valid, with all rights */
    for (uint64_t at = 0; at < 16u << 20; at += sizeof old) {
        ok(tern_hal_mem_write(v.real, at, old, sizeof old));
    }
    ok(tern_device_open_hal(&v.hal, &policy, &dev));
    ok(tern_process_create(dev, "archaeologist", &p));
    ok(tern_allocation_create(p, 10u << 20, TERN_MEM_WRITE, 0, &a));
    ok(tern_allocation_create(p, 3 * 4096, TERN_MEM_WRITE, 0, &small));
    for (uint64_t at = 0; at < 10u << 20; at += sizeof got) {
        ok(tern_allocation_read(a, at, got, sizeof got));
        assert_memory_equal(got, zero, sizeof got);
    }
    ok(tern_allocation_read(small, 0, got, 3 * 4096));
    assert_memory_equal(got, zero, 3 * 4096);
    ok(tern_context_create(p, &d, &c));
    work_copy(&b, tern_allocation_address(small), tern_allocation_address(a) + 4096, 4096);
    work_run(&b, c, "copy");
    work_fill(&b, 0x90000000, 64, 0); /* not mapped by accident */
    uint64_t fence = work_submit(&b, c, "dig");
    struct tern_fault f = {.size = sizeof f};
    assert_int_equal(tern_wait(c, fence, -1), -EIO);
    assert_int_equal(tern_process_status(p, &f), -EIO);
    assert_int_equal(f.code, TERN_FAULT_PAGE);
    tern_context_destroy(c);
    tern_allocation_destroy(a);
    tern_allocation_destroy(small);
    ok(tern_process_destroy(p));
    ok(tern_device_close(dev));
}

static void test_other_interface(void **state)
{
    (void)state;
    struct tern_device *dev = NULL;
    make(TERN_REG_DEV_SPEC_HASH, 0xff, TERN_SPEC_HASH & 0xff ? 0 : 1);
    assert_int_equal(tern_device_open_hal(&v.hal, &policy, &dev), -EPROTO);
    assert_non_null(strstr(tern_last_error(), "rebuild"));
    assert_null(dev);
    variant_close(&v.hal);
}

/** A capability with a value that no device or not this device has. */
struct claim {
    const char *name;
    uint32_t offset, mask;
    bool zero, one, most; /* the device may report 0; 1; the largest value of the field */
};

#define CLAIM(reg, field, ...) {#field, TERN_REG_DEV_##reg, TERN_DEV_##reg##_##field##_MASK, __VA_ARGS__}
static const struct claim claims[] = {
    CLAIM(CONFIG0, LANES, false, true, false),
    CLAIM(CONFIG0, WARPS, false, true, false),
    CLAIM(CONFIG0, ENGINES, false, true, false),
    CLAIM(CONFIG0, LMEM_KIB, true, true, true),
    CLAIM(CONFIG1, DIRTY_PAGE_LOG2, false, false, false),
    CLAIM(CONFIG1, PA_BITS, false, false, false),
    CLAIM(CONFIG1, SINGLE_USE, true, true, true),
    CLAIM(CONFIG1, MEM_CLEAR, true, true, true),
    CLAIM(CONFIG1, PREEMPT_GRAN, true, true, true),
    CLAIM(CONFIG1, EXECUTORS, true, true, false),
    CLAIM(CONFIG1, PAGE_REQUESTS, true, true, true),
    CLAIM(CONFIG1, PORTS, false, true, false),
    {"VERSION", TERN_REG_DEV_VERSION, UINT32_MAX, true, true, true},
    {"CLOCK_HZ", TERN_REG_DEV_CLOCK_HZ, UINT32_MAX, false, true, true},
    {"MEM_PAGES", TERN_REG_DEV_MEM_PAGES, UINT32_MAX, false, false, false},
    {"SAVE_LINES", TERN_REG_DEV_SAVE_LINES, UINT32_MAX, true, true, false},
};

/** Uses an opened device in ways that depend on every capability it has reported. */
static void use(struct tern_device *dev, const char *name)
{
    static struct work b;
    struct tern_process *p;
    struct tern_context *c;
    struct tern_allocation *a;
    struct tern_engine_counters counters = {.size = sizeof counters};
    const struct tern_context_desc d = {.size = sizeof d, .engine = -1};
    uint8_t got[4096], want[4096];
    ok(tern_process_create(dev, name, &p));
    ok(tern_context_create(p, &d, &c));
    ok(tern_allocation_create(p, sizeof got, TERN_MEM_WRITE, 0, &a));
    work_fill(&b, tern_allocation_address(a), sizeof got, 0x5a);
    work_run(&b, c, "fill");
    ok(tern_allocation_read(a, 0, got, sizeof got));
    memset(want, 0x5a, sizeof want);
    assert_memory_equal(got, want, sizeof got);
    ok(tern_device_counters(dev, 0, &counters));
    work_dispatch(&b, 0x40000000, 0x50000000); /* a fault, whose report has warp and lane */
    assert_int_equal(tern_wait(c, work_submit(&b, c, "nowhere"), -1), -EIO);
    tern_context_destroy(c);
    tern_allocation_destroy(a);
    ok(tern_process_destroy(p));
}

static void test_capabilities(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
        const struct claim *k = &claims[i];
        const uint32_t lowest = k->mask & -k->mask;
        const uint32_t values[] = {0, lowest, k->mask};
        const bool possible[] = {k->zero, k->one, k->most};
        for (int j = 0; j < 3; j++) {
            struct tern_device *dev = NULL;
            make(k->offset, k->mask, values[j]);
            const int r = tern_device_open_hal(&v.hal, &policy, &dev);
            if ((r == 0) != possible[j]) {
                fail_msg("%s 0x%x: %d, %s", k->name, values[j], r, r ? tern_last_error() : "taken");
            }
            if (r == 0) {
                use(dev, k->name);
                ok(tern_device_close(dev));
                continue;
            }
            assert_true(r == -EPROTO || r == -EINVAL);
            assert_non_null(strstr(tern_last_error(), "the device "));
            assert_null(dev);
            variant_close(&v.hal);
        }
    }
}

/** Each number of the configuration at both ends of its range. The device works. */
static void test_settings(void **state)
{
    (void)state;
    const char *const settings[] = {
        "mem=1M", "mem=16G", "dram_latency=1", "dram_latency=100000", "dram_bandwidth=1", "dram_bandwidth=64",
        "timeout=1000", "timeout=4611686018427387904", "limit=1000000", "limit=4611686018427387904", "quantum=100",
        "quantum=4611686018427387904", "grace=1", "grace=4611686018427387904", "preempt=100",
        "preempt=4611686018427387904", "depth=1", "depth=2", "realtime=0", "realtime=1"};
    struct tern_device *dev;
    char text[64];
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        snprintf(text, sizeof text, "small,%s", settings[i]);
        ok(tern_device_open("model", text, &dev));
        use(dev, settings[i]);
        ok(tern_device_close(dev));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_capabilities),
        cmocka_unit_test(test_settings),
        cmocka_unit_test(test_single_use),
        cmocka_unit_test(test_memory_with_old_contents),
        cmocka_unit_test(test_other_interface),
    };
    return cmocka_run_group_tests_name("variant", tests, NULL, NULL);
}
