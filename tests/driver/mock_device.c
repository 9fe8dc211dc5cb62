/* SPDX-License-Identifier: Apache-2.0 */
#include "mock_device.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

struct access {
    char kind; /* r, w, t (time passes) */
    uint32_t offset, value;
    int error;
};

static struct access script[65536];
static uint32_t length, at;

static struct access *next(char kind, uint32_t offset)
{
    if (at == length) {
        fail_msg("unexpected %c 0x%04x after the end of the script", kind, offset);
    }
    struct access *a = &script[at];
    if ((a->kind != kind && a->error == 0) || a->offset != offset) {
        fail_msg("access %u is %c 0x%04x, expected %c 0x%04x", at, kind, offset, a->kind, a->offset);
    }
    at++;
    return a;
}

static int mock_read32(struct tern_hal *hal, uint32_t offset, uint32_t *value)
{
    (void)hal;
    struct access *a = next('r', offset);
    *value = a->error ? *value : a->value;
    return a->error;
}

static int mock_write32(struct tern_hal *hal, uint32_t offset, uint32_t value)
{
    (void)hal;
    struct access *a = next('w', offset);
    if (!a->error && a->value != value) {
        fail_msg("write 0x%04x of 0x%08x, expected 0x%08x", offset, value, a->value);
    }
    return a->error;
}

static int mock_wait(struct tern_hal *hal, uint64_t cycles)
{
    (void)hal;
    assert_true(cycles > 0);
    return next('t', 0)->error;
}

static int no_memory(struct tern_hal *hal, uint64_t address, void *data, size_t size)
{
    (void)hal;
    (void)data;
    (void)size;
    fail_msg("the kmd touched device memory at 0x%llx", (unsigned long long)address);
    return -1;
}

static int no_memory_write(struct tern_hal *hal, uint64_t address, const void *data, size_t size)
{
    (void)data;
    return no_memory(hal, address, NULL, size);
}

static void mock_close(struct tern_hal *hal)
{
    (void)hal;
}

struct tern_hal *mock_device(void)
{
    static const struct tern_hal_ops ops = {mock_read32, mock_write32, no_memory, no_memory_write, mock_wait,
                                            mock_close};
    static struct tern_hal hal = {.ops = &ops};
    length = at = 0;
    return &hal;
}

static void add(struct access a)
{
    assert_true(length < sizeof script / sizeof *script);
    script[length++] = a;
}

void expect_read(uint32_t offset, uint32_t value)
{
    add((struct access){'r', offset, value, 0});
}

void expect_write(uint32_t offset, uint32_t value)
{
    add((struct access){'w', offset, value, 0});
}

void expect_wait(void)
{
    add((struct access){'t', 0, 0, 0});
}

void expect_failure(uint32_t offset, int error)
{
    add((struct access){'x', offset, 0, error});
}

void expect_nothing_more(void)
{
    assert_int_equal(at, length);
}
