/* SPDX-License-Identifier: Apache-2.0 */
#include "mock_device.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

struct access {
    char kind; /* r, w: register; f: flush of memory; m, M: read and write of memory; t: wait */
    uint32_t offset, value;
    int error;
};

static struct access script[65536];
static uint32_t length, at, calls;
uint64_t mock_window[MOCK_WINDOW_BYTES / 8];

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
    calls++;
    struct access *a = next('r', offset);
    *value = a->error ? *value : a->value;
    return a->error;
}

static int mock_write32(struct tern_hal *hal, const struct tern_hal_write *writes, size_t n)
{
    (void)hal;
    calls++;
    for (size_t i = 0; i < n; i++) {
        struct access *a = next('w', writes[i].offset);
        if (a->error) {
            return a->error;
        }
        if (a->value != writes[i].value) {
            fail_msg("write 0x%04x of 0x%08x, expected 0x%08x", writes[i].offset, writes[i].value, a->value);
        }
    }
    return 0;
}

static int mock_flush(struct tern_hal *hal)
{
    (void)hal;
    calls++;
    return next('f', 0)->error;
}

static int mock_wait(struct tern_hal *hal, uint64_t cycles)
{
    (void)hal;
    assert_true(cycles > 0);
    return next('t', 0)->error;
}

static int mock_mem_read(struct tern_hal *hal, uint64_t address, void *data, size_t size)
{
    (void)hal;
    calls++;
    const struct access *a = next('m', (uint32_t)address);
    memset(data, (int)a->value, size);
    return a->error;
}

static int mock_mem_write(struct tern_hal *hal, const struct tern_iovec *pieces, size_t n)
{
    (void)hal;
    calls++;
    for (size_t i = 0; i < n; i++) {
        const struct access *a = next('M', (uint32_t)pieces[i].address);
        if (a->error) {
            return a->error;
        }
        assert_int_equal(pieces[i].size, a->value);
    }
    return 0;
}

static void *mock_map(struct tern_hal *hal, uint64_t address, size_t size)
{
    (void)hal;
    const bool in = address >= MOCK_WINDOW && address - MOCK_WINDOW + size <= MOCK_WINDOW_BYTES;
    return in ? (uint8_t *)mock_window + (address - MOCK_WINDOW) : NULL;
}

static void mock_close(struct tern_hal *hal)
{
    (void)hal;
}

struct tern_hal *mock_device(void)
{
    static const struct tern_hal_ops ops = {
        .read32 = mock_read32, .write32 = mock_write32, .mem_read = mock_mem_read, .mem_write = mock_mem_write,
        .map = mock_map, .flush = mock_flush, .wait = mock_wait, .close = mock_close};
    static struct tern_hal hal = {.ops = &ops};
    length = at = calls = 0;
    memset(mock_window, 0, sizeof mock_window);
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

void expect_flush(void)
{
    add((struct access){'f', 0, 0, 0});
}

void expect_mem_read(uint32_t address, uint8_t fill)
{
    add((struct access){'m', address, fill, 0});
}

void expect_mem_write(uint32_t address, uint32_t size)
{
    add((struct access){'M', address, size, 0});
}

void expect_calls(uint32_t n)
{
    assert_int_equal(calls, n);
    calls = 0;
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
