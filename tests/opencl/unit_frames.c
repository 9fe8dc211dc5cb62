/* SPDX-License-Identifier: Apache-2.0 */
/** Places of the frames of work-items in local memory, and the dispatches that have them there: frames neither overlap
 * nor leave the memory of the group, the lanes of a warp use different banks, and no fewer groups are resident. */
#include "clt.h"

#include <stdbool.h>
#include <tern/tern_spec.h>

#include "runtime/core/frames.h"

enum { LANES = 16, WARPS = 16, LOCAL = 65536, SPILLS = 64 };

static const struct tern_device_info info = {.lanes = LANES, .warps = WARPS, .local_bytes = LOCAL};

static void test_places(void **state)
{
    (void)state;
    uint32_t seed = 7;
    unsigned chosen = 0;
    for (int n = 0; n < 2000; n++) {
        const uint32_t items = clt_random(&seed) % 256 + 1, stack = clt_random(&seed) % 600, own =
            clt_random(&seed) % 64 * 64;
        struct rt_use use = rt_use_of(&info, items, own);
        const struct rt_use before = use;
        uint32_t words[TC_FRAMES_WORDS];
        const uint64_t groups = clt_random(&seed) % 20 + 1;
        if (!rt_frames_choose(&info, SPILLS, stack, items, groups, &use, words)) {
            assert_memory_equal(&use, &before, sizeof use);
            continue;
        }
        chosen++;
        assert_int_equal(use.local_bytes % 64, 0);
        assert_true(use.slots * use.local_bytes <= LOCAL && use.slots * use.warps <= WARPS);
        assert_true(use.slots == before.slots || use.slots >= groups);
        assert_int_equal(use.warps, before.warps);
        assert_int_equal(words[1] % 8, 4); /* an odd number of words */
        for (uint32_t i = 0; i < items; i++) {
            /* As __tern_frames computes sp, in any slot of the group. */
            const uint32_t thread = (uint32_t)n % use.slots * use.warps * LANES + i;
            const uint32_t top = (thread & words[0]) * words[1] + words[2];
            assert_int_equal(top, words[2] + i * words[1]);
            assert_true(top - stack >= TERN_WIN_LOCAL_BASE + own && top <= TERN_WIN_LOCAL_BASE + use.local_bytes);
        }
        assert_true(words[1] >= stack);
    }
    assert_in_range(chosen, 200, 1600);
}

static void test_which(void **state)
{
    (void)state;
    static const struct {
        uint32_t spills, stack, items, own;
        uint64_t groups;
        bool chosen;
    } cases[] = {
        {SPILLS, 208, 64, 0, 100, true},
        {SPILLS - 1, 208, 64, 0, 100, false}, /* Too few accesses. */
        {0, 208, 64, 0, 100, false},
        {SPILLS, 208, 48, 0, 100, false},     /* 3 warps are no power of two. */
        {SPILLS, 208, 49, 0, 100, true},
        {SPILLS, 208, 5, 0, 100, true},
        {SPILLS, 252, 64, 0, 100, true},      /* 16,128 bytes: 4 groups. */
        {SPILLS, 256, 64, 0, 100, false},     /* 16,640 bytes: 3 groups instead of 4. */
        {SPILLS, 256, 64, 0, 3, true},        /* There are no more. */
        {SPILLS, 256, 64, 0, 4, false},
        {SPILLS, 252, 64, 16384 - 16128, 100, true},
        {SPILLS, 252, 64, 16384 - 16128 + 64, 100, false},
        {SPILLS, 252, 64, 20480, 100, false},
        {SPILLS, 16, 64, 16384 + 64, 100, true}, /* 3 groups by its own memory. */
        {SPILLS, 1020, 64, 0, 1, true},       /* 65,280 bytes. */
        {SPILLS, 1024, 64, 0, 1, false},      /* 65,792 bytes. */
        {SPILLS, 1u << 31, 256, 0, 1, false},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct rt_use use = rt_use_of(&info, cases[i].items, cases[i].own);
        uint32_t words[TC_FRAMES_WORDS];
        const bool chosen = rt_frames_choose(&info, cases[i].spills, cases[i].stack, cases[i].items, cases[i].groups,
                                             &use, words);
        if (chosen != cases[i].chosen) {
            fail_msg("case %zu: %d", i, chosen);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_which),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
