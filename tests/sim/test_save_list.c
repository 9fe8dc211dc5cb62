/* SPDX-License-Identifier: Apache-2.0 */
/** Damaged lists of a context-save area's pages (docs/spec/context.yaml), on a simulated device, RTL or model:
 *  test_save_list LIBRARY. test_preempt and test_streams test valid lists: the pages of their areas are scattered. */
#include <stdlib.h>

#include "victim.h"

static uint32_t lines_saved(struct device *d)
{
    uint32_t line[16];
    struct tern_ctx c;
    assert_int_equal(api->mem_read(d->sim, SAVE, line, sizeof line), 0);
    assert_int_equal(tern_ctx_unpack(&c, line), 0);
    return c.lines;
}

/** Runs the kernel for some cycles, and requests a stop. */
static struct submission begin_kernel(struct device *d, uint64_t fence)
{
    build_kernel(d);
    struct submission s = {.buffer = VA, .root = ROOT, .fence = fence, .save = SAVE / PAGE, .size = d->used * 4};
    submit(d, 0, s, BASE);
    assert_int_equal(api->step(d->sim, 1000, NULL), 0);
    preempt(d, 0, INSTRUCTION);
    return s;
}

/* If the first entry is damaged when state is written or read, the buffer faults and the next one runs. Pages that the
 * list does not name do not change. */
static void test_bad_list(void **state)
{
    struct device *d = *state;
    /* page 0x700 exists; an entry must be valid, readable and writable, and nothing else */
    static const struct {
        uint32_t entry, fault;
    } cases[] = {
        {0, TERN_FAULT_CONTEXT_INVALID},
        {~0u, TERN_FAULT_CONTEXT_INVALID},
        {0x700u << TERN_PTE_PPN_SHIFT, TERN_FAULT_CONTEXT_INVALID},
        {0x700u << TERN_PTE_PPN_SHIFT | TERN_PTE_VALID_MASK | TERN_PTE_READ_MASK, TERN_FAULT_CONTEXT_INVALID},
        {0x700u << TERN_PTE_PPN_SHIFT | 0x8fu, TERN_FAULT_CONTEXT_INVALID},
        {0x4000u << TERN_PTE_PPN_SHIFT | 7u, TERN_FAULT_BUS_ERROR}, /* behind 64 MiB */
        {0x3fffffu << TERN_PTE_PPN_SHIFT | 7u, TERN_FAULT_BUS_ERROR},
    };
    static const uint8_t none[PAGE];
    static uint8_t seen[PAGE];
    for (uint32_t i = 0; i < 2 * sizeof cases / sizeof cases[0]; i++) {
        const bool at_restore = i & 1;
        assert_int_equal(api->mem_write(d->sim, 0x700u * PAGE, none, PAGE), 0);
        assert_int_equal(api->mem_write(d->sim, 0, none, PAGE), 0);
        save_make(d, SAVE);
        if (!at_restore) {
            assert_int_equal(api->mem_write(d->sim, SAVE + LINE, &cases[i / 2].entry, 4), 0);
        }
        struct submission s = begin_kernel(d, i);
        if (at_restore) {
            expect(indication(d, 0, SOON), TERN_ENGINE_IND_INFO_KIND_PREEMPTED, 0, i);
            assert_in_range(lines_saved(d), PAGE / LINE, 10000); /* the state needs the second page */
            assert_int_equal(api->mem_write(d->sim, SAVE + LINE, &cases[i / 2].entry, 4), 0);
            s.flags = TERN_ENGINE_SUB_FLAGS_RESUME_MASK;
            submit(d, 0, s, BASE);
        }
        struct indication f = indication(d, 0, SOON);
        expect(f, TERN_ENGINE_IND_INFO_KIND_FAULTED, cases[i / 2].fault, i);
        assert_int_equal(f.va, SAVE);
        assert_int_equal(f.access, at_restore ? 0 : 1);
        assert_int_equal(api->mem_read(d->sim, 0x700u * PAGE, seen, PAGE), 0);
        assert_memory_equal(seen, none, PAGE);
        assert_int_equal(api->mem_read(d->sim, 0, seen, PAGE), 0);
        assert_memory_equal(seen, none, PAGE);
        build_kernel(d);
        submit(d, 0, (struct submission){.buffer = VA, .root = ROOT, .fence = 99}, BASE);
        expect_completed(d, 0, 99);
        check_kernel(d);
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
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_bad_list, save_setup, device_teardown),
    };
    return cmocka_run_group_tests_name("save_list", tests, NULL, NULL) ? 1 : 0;
}
