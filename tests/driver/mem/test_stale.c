/* SPDX-License-Identifier: Apache-2.0 */
/** After an eviction no engine reaches the old pages by a cached translation (A3, A6, A7). */
#include "device_memory.h"
#include "rig.h"

#define SIZE 4096u /* the model's TLB has one entry */

static void fill(struct tern_context *c, struct tern_allocation *a, uint8_t value)
{
    work_fill(&dma, tern_allocation_address(a), SIZE, value);
    work_run(&dma, c, "fill");
}

/** Memory is evicted and brought back to other pages, while another allocation has the old ones. */
static void test_moved(void **state)
{
    (void)state;
    struct tern_process *p;
    struct tern_context *c[2];
    struct tern_allocation *a, *others[256];
    uint32_t n = 0;
    uint64_t contiguous;
    rig_open("small,mem=16M,timeout=200000", NULL);
    ok(tern_process_create(dev, "moves", &p));
    ok(tern_allocation_create(p, SIZE, TERN_MEM_WRITE, 0, &a));
    for (int e = 0; e < 2; e++) {
        const struct tern_context_desc d = {.size = sizeof d, .engine = e};
        ok(tern_context_create(p, &d, &c[e]));
        fill(c[e], a, 1);
    }
    const uint64_t before = physical_of(a, 0, &contiguous);
    pthread_mutex_lock(&dev->lock);
    ok(tern_move_out(&a->mem->blocks[0])); /* the pager has not started */
    pthread_mutex_unlock(&dev->lock);
    do { /* until one of them has its old page */
        assert_true(n < sizeof others / sizeof *others);
        ok(tern_allocation_create(p, SIZE, TERN_MEM_WRITE, 0, &others[n]));
    } while (physical_of(others[n++], 0, &contiguous) != before);
    pthread_mutex_lock(&dev->lock);
    ok(tern_move_in(&a->mem->blocks[0]));
    pthread_mutex_unlock(&dev->lock);
    expect_filled(a, 1);
    for (uint8_t e = 0; e < 2; e++) {
        fill(c[e], a, e + 2);
        expect_filled(a, e + 2);
        expect_filled(others[n - 1], 0);
        tern_context_destroy(c[e]);
    }
    while (n) {
        tern_allocation_destroy(others[--n]);
    }
    tern_allocation_destroy(a);
    ok(tern_process_destroy(p));
    rig_done();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moved),
    };
    return cmocka_run_group_tests_name("stale", tests, NULL, NULL);
}
