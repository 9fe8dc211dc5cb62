/* SPDX-License-Identifier: Apache-2.0 */
/**
 * C7 with memory that accepts few writes: an endless kernel on one engine beside a kernel on the other. Measured are
 * the run time of the second kernel, and the time of a request to stop it. test_share LIBRARY.
 */

#include "victim.h"

#define OTHER 0x00400000u /* offset from BASE of the memory of the endless kernel */
#define OTHER_ROOT (ROOT + 8)
#define J_BACK 0xffdff06fu /* j -4; 12 << 20 less: j -16 */
#define THREADS 512u

/** Makes an address space for the memory at BASE + offset, and writes code and arguments. */
static void prepare(struct device *d, uint32_t root, uint32_t offset, const uint32_t *code, size_t size)
{
    const uint32_t args[] = {VA + IN, VA + OUT};
    poke(d, offset + ARGS, args, sizeof args);
    poke(d, offset + CODE, code, size);
    map(d, root, VA, BASE + offset, PAGES, RWX);
}

static void start(struct device *d, uint32_t engine, uint32_t root, uint32_t offset)
{
    packet_dispatch(d, (struct range){{THREADS, 1, 1}, {32, 1, 1}, 0});
    submit(d, engine, (struct submission){.buffer = VA, .fence = 1, .root = root, .save = SAVE / PAGE}, BASE + offset);
}

/** Cycles of a kernel that loads and stores on engine 1, beside an endless one on engine 0 (NULL: alone). */
static uint64_t cycles_beside(const uint32_t *loop, size_t size)
{
    static struct device d;
    device_open(&d, &(struct tern_sim_config){.mem_bytes = 64u << 20, .dram_writes = 8});
    save_make(&d, SAVE);
    const uint32_t code[] = {
        csrr(T0, 0xcd0), lw(T1, 0, A0), lw(T2, 4, A0), sh2add(T1, T0, T1), sh2add(T2, T0, T2), lw(T3, 0, T1),
        sw(T0, 0, T2), addi(T2, T2, 2047), sw(T3, 1, T2), lw(T4, 1024, T1), sw(T4, 2045, T2), EXIT,
    };
    prepare(&d, ROOT, 0, code, sizeof code);
    if (loop) {
        prepare(&d, OTHER_ROOT, OTHER, loop, size);
        start(&d, 0, OTHER_ROOT, OTHER);
        assert_int_equal(api->step(d.sim, 5000, NULL), 0);
    }
    start(&d, 1, ROOT, 0);
    struct indication i = indication(&d, 1, SOON);
    expect(i, TERN_ENGINE_IND_INFO_KIND_COMPLETED, 0, 1);
    uint32_t out[THREADS];
    peek(&d, OUT, out, sizeof out);
    for (uint32_t k = 0; k < THREADS; k++) {
        assert_int_equal(out[k], k);
    }
    device_close(&d);
    return i.end - i.begin;
}

/** Cycles until an endless kernel that stores is stopped on engine 1, beside another on engine 0 (NULL: alone). */
static uint64_t stop_beside(const uint32_t *loop, size_t size)
{
    static struct device d;
    device_open(&d, &(struct tern_sim_config){.mem_bytes = 64u << 20, .dram_writes = 8});
    save_make(&d, SAVE);
    const uint32_t code[] = {csrr(T2, 0xcd0), lw(T0, 4, A0), sh2add(T0, T2, T0), sw(T2, 0, T0), J_BACK};
    prepare(&d, ROOT, 0, code, sizeof code);
    if (loop) {
        prepare(&d, OTHER_ROOT, OTHER, loop, size);
        start(&d, 0, OTHER_ROOT, OTHER);
    }
    start(&d, 1, ROOT, 0);
    assert_int_equal(api->step(d.sim, 5000, NULL), 0);
    uint64_t asked = api->cycles(d.sim);
    preempt(&d, 1, INSTRUCTION);
    struct indication i = indication(&d, 1, SOON);
    expect(i, TERN_ENGINE_IND_INFO_KIND_PREEMPTED, 0, 1);
    uint64_t cycles = api->cycles(d.sim) - asked;
    device_close(&d);
    return cycles;
}

/* Two engines that write get about half of the writes that memory accepts. An engine that only does atomic adds must
 * not get all of them. */
static void test_endless_neighbours(void **state)
{
    (void)state;
    const uint32_t one_word[] = {lw(T0, 4, A0), addi(T1, ZERO, 1), amoadd(T2, T1, T0), amoadd(T3, T1, T0),
                                 amoadd(T4, T1, T0), amoadd(ZERO, T1, T0), J_BACK - (12u << 20)};
    const uint32_t own_words[] = {csrr(T1, 0xcd0), lw(T0, 4, A0), sh2add(T0, T1, T0), amoadd(T2, T1, T0),
                                  amoadd(T3, T1, T0), amoadd(T4, T1, T0), amoadd(ZERO, T1, T0), J_BACK - (12u << 20)};
    const uint32_t stores[] = {csrr(T2, 0xcd0), lw(T0, 4, A0), sh2add(T0, T2, T0), sw(T2, 0, T0), J_BACK};
    const struct {
        const char *name;
        const uint32_t *code;
        size_t size;
    } loops[] = {
        {"atomics on one word", one_word, sizeof one_word},
        {"atomics on words of their own", own_words, sizeof own_words},
        {"stores", stores, sizeof stores},
    };
    uint64_t alone = cycles_beside(NULL, 0);
    for (size_t i = 0; i < sizeof loops / sizeof loops[0]; i++) {
        uint64_t beside = cycles_beside(loops[i].code, loops[i].size);
        print_message("%s: %llu cycles, alone %llu\n", loops[i].name, (unsigned long long)beside,
                      (unsigned long long)alone);
        assert_true(beside <= 3 * alone);
    }
    if (stops()) {
        alone = stop_beside(NULL, 0);
        for (size_t i = 0; i < sizeof loops / sizeof loops[0]; i++) {
            uint64_t beside = stop_beside(loops[i].code, loops[i].size);
            print_message("%s: stopped in %llu cycles, alone %llu\n", loops[i].name, (unsigned long long)beside,
                          (unsigned long long)alone);
            assert_true(beside <= 3 * alone);
        }
    }
}

int main(int argc, char **argv)
{
    int refused = library_load(argc, argv);
    if (refused) {
        return refused;
    }
    static const struct CMUnitTest tests[] = {cmocka_unit_test(test_endless_neighbours)};
    return cmocka_run_group_tests_name("share", tests, NULL, NULL) ? 1 : 0;
}
