/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Copies through one or several memory ports: test_ports LIBRARY PORTS. With two ports two engines copy at least 1.9
 * times as fast as one; with one port they are not faster than one. Both hold for any addresses. The time of a copy
 * does not depend on its distance. dev.config1 has the number of ports.
 */
#include <stdio.h>
#include <stdlib.h>

#include "device.h"

#define BYTES (256u * 1024u)
#define BUFFER(engine) (0x10000u + (engine) * 0x1000u)
#define FROM(engine) (0x1000000u + (engine) * 0x810000u)
#define TO(engine) (0x1408000u + (engine) * 0x810000u)

static unsigned ports;

/** Offsets of an engine's copy from FROM and TO, with which the engines' streams meet at the ports in all ways. */
struct offsets {
    uint32_t from[2], to[2];
};

static void write_sources(struct device *d)
{
    uint32_t random = 1;
    static uint32_t data[BYTES / 4 + PAGE];
    for (uint32_t engine = 0; engine < 2; engine++) {
        for (uint32_t i = 0; i < sizeof data / 4; i++) {
            data[i] = next_random(&random);
        }
        assert_int_equal(api->mem_write(d->sim, FROM(engine), data, sizeof data), 0);
    }
}

static void check_copy(struct device *d, uint32_t engine, const struct offsets *o)
{
    static uint8_t from[BYTES], to[BYTES];
    assert_int_equal(api->mem_read(d->sim, FROM(engine) + o->from[engine], from, BYTES), 0);
    assert_int_equal(api->mem_read(d->sim, TO(engine) + o->to[engine], to, BYTES), 0);
    assert_memory_equal(from, to, BYTES);
}

/** Cycles until `engines` engines have copied BYTES each, at the same time. */
static uint64_t copy(struct device *d, uint32_t engines, const struct offsets *o)
{
    static uint64_t fence = 0;
    uint64_t begin = UINT64_MAX, end = 0;
    fence++;
    for (uint32_t e = 0; e < engines; e++) {
        clear(d, TO(e) + o->to[e], BYTES);
        packet_copy(d, TO(e) + o->to[e], FROM(e) + o->from[e], BYTES);
        const struct submission s = {.buffer = BUFFER(e), .fence = fence, .flags = TERN_ENGINE_SUB_FLAGS_PAGING_MASK};
        submit(d, e, s, BUFFER(e));
    }
    for (uint32_t e = 0; e < engines; e++) {
        struct indication i = indication(d, e, SOON);
        expect(i, TERN_ENGINE_IND_INFO_KIND_COMPLETED, TERN_FAULT_NONE, fence);
        begin = i.begin < begin ? i.begin : begin;
        end = i.end > end ? i.end : end;
        check_copy(d, e, o);
    }
    return end - begin;
}

/** dev.config1 has the number of ports. */
static void test_said(void **state)
{
    const uint32_t config = reg_read(*state, TERN_REG_DEV_CONFIG1);
    assert_int_equal((config & TERN_DEV_CONFIG1_PORTS_MASK) >> TERN_DEV_CONFIG1_PORTS_SHIFT, ports);
}

static void test_two_engines(void **state)
{
    struct device *d = *state;
    const struct offsets all[] = {
        {{0, 0}, {0, 0}}, {{0, 0}, {1024, 1024}}, {{0, 1024}, {0, 1024}}, {{0, 1024}, {0, 0}}, {{0, 4096}, {2048, 512}},
        {{0, 1984}, {64, 3072}},
    };
    write_sources(d);
    copy(d, 1, &all[0]); /* after a reset the first copy waits until memory is ready */
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        const struct offsets *o = &all[i];
        const uint64_t one = copy(d, 1, o), two = copy(d, 2, o);
        const double more = 2.0 * (double)one / (double)two;
        print_message("from +%u, +%u to +%u, +%u: one engine %llu cycles, two %llu: %.2f times as much a cycle\n",
                      o->from[0], o->from[1], o->to[0], o->to[1], (unsigned long long)one, (unsigned long long)two,
                      more);
        assert_true(ports > 1 ? more >= 1.9 : more <= 1.1);
    }
}

/** The time of a copy at distances at which lines of source and destination have the same low bits while both are in
 *  flight (mem_gate). */
static void test_distances(void **state)
{
    struct device *d = *state;
    /* beyond a multiple of 4 MiB, which is a multiple of the sizes of all tables of mem_gate */
    const uint32_t beyond[] = {0, 64, 512, 1024, 2048, 4096, 16384, 33792, 66560, 67584, 131008};
    uint64_t least = UINT64_MAX, most = 0;
    write_sources(d);
    copy(d, 1, &(struct offsets){{0}, {0}});
    for (size_t i = 0; i < sizeof beyond / sizeof beyond[0]; i++) {
        const uint32_t to = FROM(0) + 0x400000u - TO(0) + beyond[i];
        const uint64_t cycles = copy(d, 1, &(struct offsets){{0}, {to, 0}});
        print_message("%u bytes beyond a multiple of 4 MiB: %llu cycles\n", beyond[i], (unsigned long long)cycles);
        least = cycles < least ? cycles : least;
        most = cycles > most ? cycles : most;
    }
    assert_true(most <= least + least / 50);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: test_ports LIBRARY PORTS\n");
        return 2;
    }
    ports = (unsigned)strtoul(argv[2], NULL, 10);
    int refused = library_load(2, argv);
    if (refused) {
        return refused;
    }
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_said, device_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_two_engines, device_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_distances, device_setup, device_teardown),
    };
    return cmocka_run_group_tests_name("ports", tests, NULL, NULL) ? 1 : 0;
}
