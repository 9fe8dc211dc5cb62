/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Requests to stop and resets of the engine while state is saved or restored, on a simulated device, RTL or model:
 * test_streams LIBRARY. A round is made for each STRIDE cycles from the first request to behind its answer, so that the
 * events fall into each phase of a stop. The model moves state in no time, so there they fall before and after it.
 */
#include <stdlib.h>

#include "victim.h"

#define AREA_MAX (1024u * LINE) /* larger than the kernel's state */
#define QUIET 3000u            /* cycles without an indication after which none is expected any more */
enum { STRIDE = 7, LATE = 3 /* number of rounds after the end */ };

static bool takes_time; /* moving state takes device time */

struct area {
    uint8_t bytes[AREA_MAX];
};

static uint32_t lines_of(const struct device *d)
{
    const uint32_t most = d->save_lines - PAGE / LINE; /* leaves out the list */
    return most < AREA_MAX / LINE ? most : AREA_MAX / LINE;
}

static void read_area(struct device *d, struct area *a)
{
    for (uint32_t i = 0; i < lines_of(d); i++) {
        assert_int_equal(api->mem_read(d->sim, save_line(d, SAVE, i), a->bytes + i * LINE, LINE), 0);
    }
}

static bool empty_line(const struct area *a, uint32_t line)
{
    static const uint8_t zero[LINE];
    return memcmp(a->bytes + line * LINE, zero, LINE) == 0;
}

/** True: lines of state have been written, and the header has not. */
static bool half_saved(struct device *d)
{
    static struct area a;
    read_area(d, &a);
    return !empty_line(&a, 1) && empty_line(&a, 0);
}

static struct submission of_kernel(struct device *d, uint64_t fence)
{
    return (struct submission){.buffer = VA, .fence = fence, .root = ROOT, .save = SAVE / PAGE, .size = d->used * 4};
}

/** Runs half of the kernel on engine 0, with an empty area and a null buffer behind it, and requests a stop. */
static struct submission stop_kernel(struct device *d)
{
    static const uint8_t none[LINE];
    for (uint32_t i = 0; i < lines_of(d); i++) {
        assert_int_equal(api->mem_write(d->sim, save_line(d, SAVE, i), none, LINE), 0);
    }
    build_kernel(d);
    struct submission s = of_kernel(d, 1);
    submit(d, 0, s, BASE);
    submit(d, 0, (struct submission){.fence = 2, .size = LINE, .flags = TERN_ENGINE_SUB_FLAGS_NULL_MASK}, 0);
    assert_int_equal(api->step(d->sim, 1000, NULL), 0);
    preempt(d, 0, INSTRUCTION);
    s.flags = TERN_ENGINE_SUB_FLAGS_RESUME_MASK;
    return s;
}

static void reset(struct device *d, uint32_t engine)
{
    reg_write(d, TERN_REG_ENGINE_COMMAND(engine), TERN_ENGINE_COMMAND_RESET_MASK);
    for (int i = 0; reg_read(d, TERN_REG_ENGINE_STATUS(engine)) & TERN_ENGINE_STATUS_RESET_MASK; i++) {
        assert_true(i < 10000);
    }
}

/** Expects that the engine has no buffer and no indication, and that none comes. */
static void expect_silence(struct device *d, uint32_t engine)
{
    assert_int_equal(api->step(d->sim, QUIET, NULL), 0);
    assert_int_equal(reg_read(d, TERN_REG_ENGINE_STATUS(engine)), 0);
}

static void expect_preempted(struct device *d, uint32_t engine, uint64_t fence, bool began)
{
    struct indication i = indication(d, engine, SOON);
    expect(i, TERN_ENGINE_IND_INFO_KIND_PREEMPTED, TERN_FAULT_NONE, fence);
    assert_int_equal(i.begin != 0, began);
}

/** Resumes the buffer that was cut, and runs it to its end. */
static void finish(struct device *d, uint32_t engine, struct submission s)
{
    submit(d, engine, s, BASE);
    expect_completed(d, engine, s.fence);
    check_kernel(d);
    expect_silence(d, engine);
}

/** Runs a new buffer to its end. */
static void run_new(struct device *d, uint32_t engine)
{
    build_kernel(d);
    finish(d, engine, of_kernel(d, 9));
}

/* P4, P5: a request to stop while another one is being answered has no answer of its own, whatever its granularity, and
 * does not stop the next buffer of this engine or of the other one. */
static void test_preempt_in_save(void **state)
{
    struct device *d = *state;
    uint32_t hits = 0, late = 0;
    for (uint32_t k = 0; late < LATE; k++) {
        bool irq;
        struct submission s = stop_kernel(d);
        assert_int_equal(api->step(d->sim, 1 + k * STRIDE, &irq), 0);
        late += irq;
        hits += half_saved(d);
        preempt(d, 0, k % 3 == 2 ? GROUP : INSTRUCTION);
        expect_preempted(d, 0, 1, true);
        expect_preempted(d, 0, 2, false);
        expect_silence(d, 0);
        finish(d, k % 2, s);
        assert_true(k < 1000);
    }
    print_message("%u requests while state was written\n", hits);
    assert_true(hits > LATE || !takes_time);
}

/* F3: a reset during a save aborts the buffers, or comes too late, and then the state is whole. The engine goes on. */
static void test_reset_in_save(void **state)
{
    struct device *d = *state;
    uint32_t hits = 0, late = 0;
    for (uint32_t k = 0; late < LATE; k++) {
        bool irq;
        struct submission s = stop_kernel(d);
        assert_int_equal(api->step(d->sim, 1 + k * STRIDE, &irq), 0);
        late += irq;
        hits += half_saved(d);
        reset(d, 0);
        const uint32_t told = reg_read(d, TERN_REG_ENGINE_STATUS(0)) >> TERN_ENGINE_STATUS_INDICATIONS_SHIFT;
        assert_true(told <= 2 && (told || !irq));
        for (uint32_t fence = 1; fence <= told; fence++) {
            expect_preempted(d, 0, fence, fence == 1);
        }
        expect_silence(d, 0);
        if (told) {
            finish(d, 1, s);
        }
        run_new(d, 0);
        assert_true(k < 1000);
    }
    print_message("%u resets while state was written\n", hits);
    assert_true(hits > LATE || !takes_time);
}

/** Resumes the state in `saved` on engine 1, and runs so many cycles, after which the event comes. */
static struct submission resume_kernel(struct device *d, struct area *saved, uint32_t cycles)
{
    struct submission s = stop_kernel(d);
    expect_preempted(d, 0, 1, true);
    expect_preempted(d, 0, 2, false);
    read_area(d, saved);
    struct tern_ctx c;
    uint32_t header[16];
    memcpy(header, saved->bytes, sizeof header);
    assert_int_equal(tern_ctx_unpack(&c, header), 0);
    assert_in_range(c.lines, 1, sizeof *saved / LINE - 1);
    submit(d, 1, s, BASE);
    assert_int_equal(api->step(d->sim, cycles, NULL), 0);
    return s;
}

static bool as_it_was(struct device *d, const struct area *saved)
{
    static struct area now;
    read_area(d, &now);
    return memcmp(&now, saved, sizeof now) == 0;
}

/* After a request to stop during a restore, the state is unchanged and can be restored again. After a reset at the same
 * times, the area was not written, and the engine goes on. */
static void test_restore(void **state)
{
    struct device *d = *state;
    static struct area saved;
    uint32_t hits = 0, late = 0, k;
    for (k = 0; late < LATE; k++) {
        struct submission s = resume_kernel(d, &saved, 1 + k * STRIDE);
        preempt(d, 1, INSTRUCTION);
        struct indication i = indication(d, 1, SOON);
        expect(i, TERN_ENGINE_IND_INFO_KIND_PREEMPTED, TERN_FAULT_NONE, 1);
        const bool same = as_it_was(d, &saved);
        late += !same;
        hits += same && i.begin;
        assert_true(i.begin || same);
        expect_silence(d, 1);
        finish(d, k % 2, s);
        assert_true(k < 1000);
    }
    print_message("%u requests before anything else ran\n", hits);
    assert_true(hits > LATE || !takes_time);
    for (uint32_t r = 0; r < k; r++) {
        resume_kernel(d, &saved, 1 + r * STRIDE);
        reset(d, 1);
        expect_silence(d, 1);
        assert_true(as_it_was(d, &saved));
        run_new(d, 1);
    }
}

int main(int argc, char **argv)
{
    int refused = library_load(argc, argv);
    if (refused) {
        return refused;
    }
    if (!stops()) {
        print_message("this device stops between packets only\n");
        return 77;
    }
    takes_time = strstr(argv[1], "_rtl_");
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_preempt_in_save, save_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_reset_in_save, save_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_restore, save_setup, device_teardown),
    };
    return cmocka_run_group_tests_name("streams", tests, NULL, NULL) ? 1 : 0;
}
