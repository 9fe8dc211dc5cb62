/* SPDX-License-Identifier: Apache-2.0 */
/** What comes while state is saved or restored: another request to stop, or a reset of the engine. On a
 *  simulated device, RTL or model: test_streams LIBRARY. The moments are STRIDE cycles apart, from the request
 *  on to behind the answer, so that they fall into all that a stop consists of. The model moves state in no
 *  time: there, they fall before and behind. */
#include <stdlib.h>

#include "victim.h"

#define AREA_MAX (1024u * LINE) /* more than the kernel's state */
#define QUIET 3000u            /* cycles: what has not come by then does not come */
enum { STRIDE = 7, LATE = 3 /* rounds behind the end */ };

static bool takes_time; /* moving state does, on this device */

struct area {
    uint8_t bytes[AREA_MAX];
};

static uint32_t lines_of(const struct device *d)
{
    const uint32_t most = d->save_lines - PAGE / LINE; /* less than its list */
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

/** Lines of state have been written, the header has not. */
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

/** The kernel in its middle on engine 0, with an empty area, a null buffer behind it, and a request to stop. */
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

/** Nothing is in the queue of the engine, it has nothing to say, and it stays so. */
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

/** Goes on with what was cut, to its end. */
static void finish(struct device *d, uint32_t engine, struct submission s)
{
    submit(d, engine, s, BASE);
    expect_completed(d, engine, s.fence);
    check_kernel(d);
    expect_silence(d, engine);
}

/** Something new, to its end. */
static void run_new(struct device *d, uint32_t engine)
{
    build_kernel(d);
    finish(d, engine, of_kernel(d, 9));
}

/* P4, P5: a request to stop while another one is answered is no second one, whatever its granularity; and it does not
 * stop what comes next, on this engine or on the other one. */
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

/* F3: a reset then takes the buffers with it, or it comes too late and the state is whole. The engine works on. */
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

/** A resume on engine 1 of a state that is in `saved`, met by the event after so many cycles. */
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

/* A request to stop during a restore: the state stays what it is, and is good for another one. Then resets, of the same
 * moments: the area is not written, and the engine works on. */
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
