/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Memory bases (D1, D3 to D7) on an array in place of the dirty plane: capabilities, every error, the order of bits,
 * buffers that are not aligned, a hal that fails, and random sets of overlapping bases against an oracle. Pages have 4
 * KiB to 2 MiB.
 */
#include "basis_oracle.h"
#include "check.h"
#include "hal/hal.h"

#define GIB (1ull << 30)

/* ------------------------------------------------------------------ the device */

static struct {
    uint8_t *dirty; /* the dirty plane, a byte for each page */
    uint32_t pages, commands;
    int fail; /* the fail-th command from now fails after half of its pages; 0: none fails */
    bool bad_memory;
} plane;

/** Replaces the hardware below os and kmd/dirty.c: a query of the plane, perhaps with clear. */
int __wrap_tern_kmd_dirty(struct tern_kmd *kmd, uint32_t first, uint32_t count, bool clear, uint32_t *bits);
int __wrap_tern_kmd_dirty(struct tern_kmd *kmd, uint32_t first, uint32_t count, bool clear, uint32_t *bits)
{
    (void)kmd;
    assert_true(count && first < plane.pages && count <= plane.pages - first);
    plane.commands++;
    const bool fails = plane.fail && --plane.fail == 0;
    memset(bits, 0xa5, (count + 31) / 32 * 4); /* bits beyond count are undefined */
    for (uint32_t i = 0; i < (fails ? count / 2 : count); i++) {
        bits[i / 32] &= ~(1u << i % 32);
        bits[i / 32] |= (uint32_t)plane.dirty[first + i] << i % 32;
        plane.dirty[first + i] = clear ? 0 : plane.dirty[first + i];
    }
    if (fails) { /* the caller does not learn which bits were cleared */
        memset(bits, 0, (count + 31) / 32 * 4);
    }
    return fails ? -EIO : 0;
}

static uint8_t window[8192]; /* mapped, at its own physical address */
#define WINDOW 0x20000u

static int memory_write(struct tern_hal *hal, const struct tern_iovec *pieces, size_t n)
{
    (void)hal;
    (void)pieces;
    (void)n;
    return plane.bad_memory ? -EIO : 0;
}

static void *memory_map(struct tern_hal *hal, uint64_t address, size_t size)
{
    (void)hal;
    return address >= WINDOW && address + size <= WINDOW + sizeof window ? window + (address - WINDOW) : NULL;
}

static struct tern_kmd kmd;

static void open_device(uint32_t mem_pages, uint32_t page_log2)
{
    static const struct tern_hal_ops ops = {.mem_write = memory_write, .map = memory_map};
    static struct tern_hal hal = {.ops = &ops};
    kmd = (struct tern_kmd){.hal = &hal, .mem_pages = mem_pages, .dirty_page_log2 = page_log2};
    plane.pages = (uint32_t)(((uint64_t)mem_pages * 4096 + (1ull << page_log2) - 1) >> page_log2);
    plane.dirty = calloc(plane.pages, 1);
    assert_non_null(plane.dirty);
    plane.commands = 0;
    plane.fail = 0;
    plane.bad_memory = false;
}

static void close_device(void)
{
    tern_bases_free(&kmd);
    free(plane.dirty);
}

static void host_writes(uint64_t address, size_t size)
{
    static const uint8_t data[1 << 17];
    assert_true(size <= sizeof data);
    ok(tern_kmd_write(&kmd, &(struct tern_iovec){address, data, size}, 1));
}

#define refused(call, error, sentence) refused_at((call), error, sentence, #call, __LINE__)
static void refused_at(int r, int error, const char *sentence, const char *what, int line)
{
    if (r != error || !strstr(tern_last_error(), sentence)) {
        fail_msg("line %d: %s: %d, '%s', not %d and '%s'", line, what, r, tern_last_error(), error, sentence);
    }
}

static uint64_t make(uint64_t address, uint64_t bytes)
{
    uint64_t id = 0;
    ok(tern_basis_create(&kmd, &(struct tern_basis_range){address, bytes}, 1, &id));
    return id;
}

static uint64_t made_and_started(uint64_t address, uint64_t bytes)
{
    const uint64_t id = make(address, bytes);
    ok(tern_basis_start(&kmd, id));
    return id;
}

static const struct tern_basis_part all = {.range = TERN_BASIS_ALL};

static uint64_t count(uint64_t id)
{
    uint64_t n = UINT64_MAX;
    ok(tern_basis_count(&kmd, id, &all, &n));
    return n;
}

static uint64_t take(uint64_t id) /* queries and clears all bits of a basis of at most 64 pages */
{
    uint64_t bits = 0;
    ok(tern_basis_query(&kmd, id, &all, true, &bits, 0));
    return bits;
}

/* --------------------------------------------------------------------- errors */

static void test_caps(void **state)
{
    (void)state;
    struct tern_dirty_caps caps;
    open_device(1000, 16); /* memory that is not a multiple of the page */
    tern_kmd_dirty_caps(&kmd, &caps);
    assert_true(caps.supported && caps.performant);
    assert_int_equal(caps.segments, 1);
    assert_int_equal(caps.segment[0].address, 0);
    assert_int_equal(caps.segment[0].page_bytes, 65536);
    assert_int_equal(caps.segment[0].bytes, 63 * 65536);
    const uint64_t id = made_and_started(0, caps.segment[0].bytes);
    host_writes(999 * 4096 + 4095, 1);
    assert_int_equal(take(id), 1ull << 62);
    close_device();
}

static void test_create_errors(void **state)
{
    (void)state;
    const uint64_t end = 1024 * 4096;
    uint64_t id = 77;
    open_device(1024, 12);
    refused(tern_basis_create(&kmd, NULL, 0, &id), -EINVAL, "at least one range");
    const struct {
        struct tern_basis_range range[3];
        int error;
        const char *sentence;
    } bad[] = {
        {{{0, 4096}, {8192, 0}, {4096, 4096}}, -EINVAL, "range 1 of a memory basis is empty"},
        {{{0, 4096}, {4096, 4096}, {8193, 4096}}, -EDOM, "range 2"},
        {{{0, 4097}, {8192, 4096}, {16384, 4096}}, -EDOM, "range 0"},
        {{{0, 4096}, {end, 4096}, {4096, 4096}}, -ERANGE, "range 1"},
        {{{0, 4096}, {end - 4096, 8192}, {4096, 4096}}, -ERANGE, "range 1"},
        {{{0, 4096}, {8192, UINT64_MAX - 4095}, {4096, 4096}}, -ERANGE, "range 1"},
        {{{UINT64_MAX - 4095, 4096}, {0, 4096}, {4096, 4096}}, -ERANGE, "range 0"},
        {{{40960, 8192}, {0, 4096}, {45056, 4096}}, -EEXIST, "pages 10 to 11, and page 11"},
        {{{0, end}, {8192, 4096}, {4096, 4096}}, -EEXIST, "overlap"},
        {{{4096, 4096}, {0, 4096}, {4096, 4096}}, -EEXIST, "overlap"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        refused(tern_basis_create(&kmd, bad[i].range, 3, &id), bad[i].error, bad[i].sentence);
    }
    assert_int_equal(id, 77);
    assert_null(kmd.bases.first);
    assert_int_equal(make(0, end), 1); /* ranges may touch: */
    const struct tern_basis_range touch[] = {{8192, 4096}, {0, 4096}, {4096, 4096}};
    ok(tern_basis_create(&kmd, touch, 3, &id));
    assert_int_equal(id, 2);
    assert_int_equal(plane.commands, 0);
    close_device();
}

static void test_life_errors(void **state)
{
    (void)state;
    uint64_t n = 5;
    uint8_t bits = 0xa5;
    open_device(1024, 12);
    refused(tern_basis_destroy(&kmd, 0), -EBADF, "basis 0 was never made");
    refused(tern_basis_start(&kmd, 1), -EBADF, "basis 1 was never made");
    const uint64_t id = make(0, 8192), other = make(0, 8192);
    refused(tern_basis_stop(&kmd, id), -ENOENT, "is not started");
    refused(tern_basis_query(&kmd, id, &all, true, &bits, 0), -ENOENT, "is not started");
    refused(tern_basis_count(&kmd, id, &all, &n), -ENOENT, "is not started");
    ok(tern_basis_start(&kmd, id));
    refused(tern_basis_start_late(&kmd, id), -EALREADY, "is started already");
    refused(tern_basis_destroy(&kmd, id), -EBUSY, "stop it before");
    ok(tern_basis_stop(&kmd, id));
    refused(tern_basis_stop(&kmd, id), -ENOENT, "is not started");
    refused(tern_basis_query(&kmd, id, &all, true, &bits, 0), -ENOENT, "is not started");
    ok(tern_basis_destroy(&kmd, id));
    refused(tern_basis_destroy(&kmd, id), -EBADF, "was destroyed");
    refused(tern_basis_start(&kmd, id), -EBADF, "was destroyed");
    refused(tern_basis_start_late(&kmd, id), -EBADF, "was destroyed");
    refused(tern_basis_stop(&kmd, id), -EBADF, "was destroyed");
    refused(tern_basis_query(&kmd, id, &all, true, &bits, 0), -EBADF, "was destroyed");
    refused(tern_basis_count(&kmd, id, &all, &n), -EBADF, "was destroyed");
    ok(tern_basis_destroy(&kmd, other));
    assert_int_equal(make(0, 8192), other + 1); /* a number is never used again */
    assert_int_equal(bits, 0xa5);
    assert_int_equal(n, 5);
    close_device();
}

static void test_query_errors(void **state)
{
    (void)state;
    const struct tern_basis_range ranges[] = {{40960, 8192}, {0, 16384}};
    const struct {
        struct tern_basis_part part;
        int error;
    } bad[] = {
        {{2, 0, 0}, -ENXIO},          {{TERN_BASIS_ALL - 1, 0, 4096}, -ENXIO}, {{0, 1, 0}, -EDOM},
        {{0, 0, 4095}, -EDOM},        {{TERN_BASIS_ALL, 2048, 4096}, -EDOM},   {{0, 0, 12288}, -ERANGE},
        {{0, 8192, 0}, -ERANGE},      {{0, 12288, 0}, -ERANGE},               {{0, 4096, 8192}, -ERANGE},
        {{1, 4096, UINT64_MAX - 4095}, -ERANGE}, {{TERN_BASIS_ALL, 24576, 0}, -ERANGE},
        {{TERN_BASIS_ALL, 4096, 24576}, -ERANGE}, {{1, UINT64_MAX - 4095, 4096}, -ERANGE},
    };
    uint64_t id, n = 5;
    uint8_t bits[4] = {1, 2, 3, 4};
    open_device(1024, 12);
    ok(tern_basis_create(&kmd, ranges, 2, &id));
    ok(tern_basis_start(&kmd, id));
    host_writes(0, 65536);
    plane.commands = 0;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (tern_basis_query(&kmd, id, &bad[i].part, true, bits, 0) != bad[i].error ||
            tern_basis_count(&kmd, id, &bad[i].part, &n) != bad[i].error) {
            fail_msg("case %zu: %s", i, tern_last_error());
        }
    }
    refused(tern_basis_query(&kmd, id, &(struct tern_basis_part){9, 0, 0}, true, bits, 0), -ENXIO, "range 9 of memory");
    refused(tern_basis_query(&kmd, id, &(struct tern_basis_part){0, 3, 0}, true, bits, 0), -EDOM,
            "whole pages of 4096");
    refused(tern_basis_query(&kmd, id, &(struct tern_basis_part){0, 8192, 0}, true, bits, 0), -ERANGE,
            "the 8192 bytes");
    assert_memory_equal(bits, "\1\2\3\4", 4);
    assert_int_equal(n, 5);
    assert_int_equal(plane.commands, 0);
    assert_int_equal(count(id), 6);
    close_device();
}

/* ----------------------------------------------------------------- what bits say */

static void test_starts(void **state)
{
    (void)state;
    open_device(64, 12);
    plane.dirty[3] = 1; /* written before the start */
    host_writes(5 * 4096, 1);
    const uint64_t late = make(0, 64 * 4096);
    ok(tern_basis_start_late(&kmd, late));
    host_writes(6 * 4096, 1);
    const uint64_t id = made_and_started(0, 64 * 4096);
    assert_int_equal(take(id), 0);
    assert_int_equal(take(late), 1 << 3 | 1 << 6); /* the start of `id` lost no bit of `late` */
    plane.dirty[7] = 1;
    host_writes(11 * 4096, 1);
    ok(tern_basis_start(&kmd, id)); /* nested start: the outer one loses no bit */
    assert_int_equal(count(id), 2);
    ok(tern_basis_stop(&kmd, id));
    ok(tern_basis_stop(&kmd, late)); /* the stop of another basis loses none either */
    plane.dirty[8] = 1;
    host_writes(9 * 4096, 1);
    assert_int_equal(take(id), 1 << 7 | 1 << 8 | 1 << 9 | 1 << 11);
    host_writes(10 * 4096, 1);
    ok(tern_basis_stop(&kmd, id));
    ok(tern_basis_start(&kmd, id)); /* starts with all bits zero */
    assert_int_equal(take(id), 0);
    close_device();
}

/** The ranges of a basis, in any order, are concatenated without gaps, from any bit of the buffer on (D6). */
static void test_order(void **state)
{
    (void)state;
    const struct tern_basis_range ranges[] = {{40 * 4096, 3 * 4096}, {0, 13 * 4096}, {32 * 4096, 4096}};
    uint64_t id;
    open_device(64, 12);
    ok(tern_basis_create(&kmd, ranges, 3, &id));
    ok(tern_basis_start(&kmd, id));
    plane.dirty[40] = plane.dirty[42] = plane.dirty[0] = plane.dirty[12] = plane.dirty[13] = plane.dirty[43] = 1;
    host_writes(33 * 4096 - 1, 1);
    const uint32_t want = 1u << 0 | 1u << 2 | 1u << 3 | 1u << 15 | 1u << 16; /* 17 bits */
    for (uint32_t at = 0; at < 40; at++) {
        for (int background = 0; background < 2; background++) {
            uint8_t raw[11];
            memset(raw, background ? 0xff : 0, sizeof raw);
            ok(tern_basis_query(&kmd, id, &all, false, raw + 1, at));
            for (uint32_t i = 0; i < sizeof raw * 8; i++) {
                const bool bit = raw[i / 8] >> i % 8 & 1, mine = i >= at + 8 && i < at + 8 + 17;
                assert_int_equal(bit, mine ? want >> (i - at - 8) & 1 : (uint32_t)background);
            }
        }
    }
    assert_int_equal(plane.dirty[13] && plane.dirty[43], true); /* in no range */
    close_device();
}

/** Host writes set bits, through the hal and through the mapping, of any length and in several pieces, also one that
 * fails. */
static void test_host_writes(void **state)
{
    (void)state;
    static const uint8_t data[3 * 4096];
    open_device(64, 12);
    const uint64_t id = made_and_started(0, 64 * 4096), part = made_and_started(2 * 4096, 4096);
    const struct tern_iovec pieces[] = {{4095, data, 1},
                                        {2 * 4096 - 1, data, 2},
                                        {5 * 4096, data, 0},
                                        {WINDOW + 4090, data, 12},
                                        {60 * 4096, data, 8192}};
    ok(tern_kmd_write(&kmd, pieces, 5));
    assert_int_equal(take(id), 1 | 1 << 1 | 1 << 2 | 3ull << 32 | 3ull << 60);
    assert_int_equal(take(part), 1);
    plane.bad_memory = true;
    assert_int_equal(tern_kmd_write(&kmd, pieces, 1), -EIO);
    assert_int_equal(take(id), 1);
    host_writes(WINDOW, 1); /* mapped memory is written without the hal */
    assert_int_equal(take(id), 1ull << 32);
    close_device();
}

/** The cases of Linux's iommufd tests: sizes, buffers that are not aligned, queries without clear, and repeated
 * queries. */
static void test_sizes(void **state)
{
    (void)state;
    open_device(GIB / 4096, 12);
    for (uint32_t size = 8192; size <= 256u << 20; size *= 2) {
        const uint32_t pages = size / 4096;
        struct basis_oracle random = {.random = size};
        const uint32_t first = oracle_random(&random, 65536);
        uint8_t *const got = calloc(pages / 8 + 9, 1), *const want = calloc(pages / 8 + 9, 1);
        const uint64_t id = made_and_started(first * 4096ull, size);
        for (uint32_t at = 0; at < 17; at += size > 1u << 24 ? 13 : 1) {
            memset(got, 0xff, pages / 8 + 9);
            memset(want, 0xff, pages / 8 + 9);
            for (uint32_t i = 0; i < pages; i++) {
                const bool dirty = i % 8 < 2 || oracle_random(&random, 16) == 0;
                plane.dirty[first + i] = dirty;
                want[(at + i) / 8] &= (uint8_t)~(!dirty << (at + i) % 8);
            }
            for (int again = 0; again < 2; again++) { /* a query without clear changes nothing */
                ok(tern_basis_query(&kmd, id, &all, again, got, at));
                assert_memory_equal(got, want, pages / 8 + 9);
            }
            memset(got, 0, pages / 8 + 9);
            memset(want, 0, pages / 8 + 9);
            ok(tern_basis_query(&kmd, id, &all, true, got, at));
            assert_memory_equal(got, want, pages / 8 + 9);
        }
        ok(tern_basis_stop(&kmd, id));
        ok(tern_basis_destroy(&kmd, id));
        free(got);
        free(want);
    }
    close_device();
}

/** A device of 8 GiB is split in four bases of 2 GiB. The same four ranges are also the parts of one basis (D3). */
static void test_four_ways(void **state)
{
    (void)state;
    static uint8_t bits[2 * GIB / 4096 / 8];
    struct tern_basis_range ranges[4];
    uint64_t id[4], one;
    open_device(8 * GIB / 4096, 12);
    for (uint32_t i = 0; i < 4; i++) {
        ranges[i] = (struct tern_basis_range){i * 2 * GIB, 2 * GIB};
        id[i] = made_and_started(ranges[i].address, ranges[i].bytes);
    }
    ok(tern_basis_create(&kmd, ranges, 4, &one));
    ok(tern_basis_start(&kmd, one));
    for (uint32_t turn = 0; turn < 4; turn++) {
        for (uint32_t i = 0; i < 4; i++) { /* at the borders and inside */
            const uint64_t first = i * 2 * GIB / 4096;
            plane.dirty[first] = plane.dirty[first + 100 + i] = 1;
            host_writes((i + 1) * 2 * GIB - 1, 1);
        }
        const struct tern_basis_part part = {turn, 0, 0};
        for (uint32_t i = 0; i < 4; i++) {
            assert_int_equal(count(id[i]), 3); /* only its own query has cleared its earlier bits */
        }
        ok(tern_basis_query(&kmd, id[turn], &all, true, bits, 0));
        assert_true(bits[0] == 1 && bits[(100 + turn) / 8] == 1 << (100 + turn) % 8 && bits[sizeof bits - 1] == 0x80);
        assert_int_equal(count(id[turn]), 0);
        memset(bits, 0xff, sizeof bits);
        ok(tern_basis_query(&kmd, one, &part, true, bits, 0));
        assert_true(bits[0] == 1 && bits[(100 + turn) / 8] == 1 << (100 + turn) % 8 && bits[sizeof bits - 1] == 0x80);
        assert_int_equal(count(one), 9);
        for (uint32_t i = 0; i < 4; i++) {
            ok(tern_basis_query(&kmd, one, &(struct tern_basis_part){i, 0, 0}, true, bits, 0));
            assert_int_equal(count(one), 9 - 3 * (i < turn ? i + 1 : i));
        }
    }
    close_device();
}

/** The hal fails in the middle of a query. No basis loses a bit, and the caller's buffer is unchanged. */
static void test_failures(void **state)
{
    (void)state;
    const struct tern_basis_range ranges[] = {{0, 16 * 4096}, {32 * 4096, 16 * 4096}};
    for (int at = 1; at <= 2; at++) {
        for (int start = 0; start < 2; start++) {
            uint64_t id, bits = 0x1234;
            open_device(64, 12);
            const uint64_t other = made_and_started(0, 64 * 4096);
            ok(tern_basis_create(&kmd, ranges, 2, &id));
            if (!start) {
                ok(tern_basis_start(&kmd, id));
            }
            plane.dirty[0] = plane.dirty[5] = plane.dirty[33] = plane.dirty[40] = 1;
            plane.fail = at;
            assert_int_equal(start ? tern_basis_start(&kmd, id) : tern_basis_query(&kmd, id, &all, true, &bits, 0),
                             -EIO);
            assert_int_equal(bits, 0x1234);
            const uint64_t dirty = 1ull | 1ull << 5 | 1ull << 33 | 1ull << 40;
            assert_int_equal(take(other) & dirty, dirty);
            if (start) {
                refused(tern_basis_stop(&kmd, id), -ENOENT, "is not started");
            } else {
                const uint64_t mine = 1ull | 1ull << 5 | 1ull << 17 | 1ull << 24;
                assert_int_equal(take(id) & mine, mine);
            }
            close_device();
        }
    }
}

/** Random sets of overlapping bases beside writes of all kinds, for several page sizes. */
static void test_random(void **state)
{
    (void)state;
    static const struct {
        uint32_t mem_pages, page_log2, steps;
    } devices[] = {{300, 12, 20000}, {5000, 12, 10000}, {3003, 13, 5000}, {4096, 16, 5000}, {65536, 21, 5000}};
    for (uint32_t d = 0; d < sizeof devices / sizeof *devices; d++) {
        struct basis_oracle s;
        open_device(devices[d].mem_pages, devices[d].page_log2);
        oracle_open(&s, &kmd, 0, plane.pages, 1 + d);
        for (uint32_t i = 0; i < devices[d].steps; i++) {
            const uint32_t page = oracle_random(&s, plane.pages), most = plane.pages - page;
            const uint32_t n = 1 + oracle_random(&s, oracle_random(&s, 8) || most < 9 ? (most < 9 ? most : 9) : most);
            if (oracle_random(&s, 2)) {
                memset(plane.dirty + page, 1, n);
                oracle_wrote(&s, page, n);
            } else {
                const uint64_t at = page * s.page + oracle_random(&s, (uint32_t)s.page);
                const size_t size = 1 + oracle_random(&s, 1 << 16);
                const uint64_t last = (at + size - 1) / s.page;
                host_writes(at, size); /* may reach beyond the end, which the hal refuses */
                oracle_wrote(&s, page, (uint32_t)((last < plane.pages ? last : plane.pages - 1) - page + 1));
            }
            oracle_step(&s);
        }
        oracle_close(&s);
        close_device();
    }
}

/** Writes do not access the plane while no basis is started. A query reads only the pages of its own basis. */
static void test_cost(void **state)
{
    (void)state;
    open_device(GIB / 4096, 12);
    const uint64_t id = make(0, 1 << 20);
    plane.dirty[3] = 1;
    host_writes(0, 65536);
    assert_int_equal(plane.commands, 0);
    ok(tern_basis_start(&kmd, id));
    assert_int_equal(plane.commands, 1);
    host_writes(4096, 1);
    plane.dirty[GIB / 4096 - 1] = 1;
    assert_int_equal(count(id), 1);
    assert_int_equal(plane.commands, 2); /* one command a range, whatever its length */
    assert_int_equal(plane.dirty[GIB / 4096 - 1], 1);
    close_device();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_caps),         cmocka_unit_test(test_create_errors), cmocka_unit_test(test_life_errors),
        cmocka_unit_test(test_query_errors), cmocka_unit_test(test_starts),        cmocka_unit_test(test_order),
        cmocka_unit_test(test_host_writes),  cmocka_unit_test(test_sizes),         cmocka_unit_test(test_four_ways),
        cmocka_unit_test(test_failures),     cmocka_unit_test(test_random),        cmocka_unit_test(test_cost),
    };
    return cmocka_run_group_tests_name("bases", tests, NULL, NULL);
}
